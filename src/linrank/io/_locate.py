"""Which files a source is: a file, a glob, a folder (partitioned or not), or several of them, in a fixed order."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .._errors import DataError, ParameterError
from .._files import PathLike
from ..data.checks import check_choice
from ._beside import SIZES, WEIGHTS
from .formats import FORMATS, format_of

Sources = PathLike | Sequence[PathLike]

#: How Hive and Spark write a missing value into a folder's name.
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
#: Files that other programs leave beside data begin so.
HIDDEN = (".", "_")


@dataclass(frozen=True)
class Piece:
    """A file, and the columns that the names of its folders tell: ``year=2024/`` is a column "year"."""

    path: str
    partition: tuple[tuple[str, str], ...] = ()
    groups: tuple[int, int] | None = None  # of its rows, from and up to these numbers; None: all


@dataclass(frozen=True)
class Located:
    """The files of a source, all of one format."""

    pieces: tuple[Piece, ...]
    format: str
    first_query: int = 0  # number of its first query, where files beside tell sizes alone: a part goes on counting

    @property
    def name(self) -> str:
        """What to call all of them in messages."""
        first = self.pieces[0].path
        more = len(self.pieces) - 1
        return f"{first} and {more:,} more" if more else first

    @property
    def paths(self) -> tuple[str, ...]:
        """The files."""
        return tuple(piece.path for piece in self.pieces)

    @property
    def n_bytes(self) -> int:
        """Of all files, as they lie there."""
        return sum(os.stat(path).st_size for path in self.paths)


def locate(source: Sources, format: str | None = None) -> Located:
    """The files of a source, those of a folder and of a glob sorted by name.

    In a folder, what begins with a dot or an underscore is passed over, and so are LightGBM's files beside SVMlight.
    """
    if format is not None:
        check_choice("format", format, tuple(FORMATS))
    names = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    if not names:
        raise ParameterError("There is no file to read: name one.")
    pieces = [piece for name in names for piece in _pieces(os.fspath(name))]
    kinds = {piece.path: format or format_of(piece.path) for piece in pieces}
    first = next((path for path, kind in kinds.items() if FORMATS[kind].table), pieces[0].path)
    other = next((path for path, kind in kinds.items() if kind != kinds[first]), None)
    if other is not None:
        raise DataError(
            f"{other} is read as {kinds[other]}, {first} as {kinds[first]}: name the files that belong together, as in "
            f"'{os.path.join(os.path.dirname(first) or '.', '*' + os.path.splitext(first)[1])}', or give format=."
        )
    return Located(_agreeing(pieces), kinds[first])


def is_plain(source: Sources) -> bool:
    """Whether a source is the name of one file (or standard input), as it stands."""
    return isinstance(source, (str, os.PathLike)) and (
        os.fspath(source) == "-"
        or os.path.isfile(source)
        or not (_is_pattern(os.fspath(source)) or os.path.isdir(source))
    )


def _pieces(name: str) -> list[Piece]:
    if name == "-":
        raise ParameterError("Standard input is read once, and alone: write it to a file first.")
    if os.path.isdir(name):
        found = list(_walk(name))
        if not found:
            raise DataError(f"{name} holds no file of data: check the folder.")
        return [Piece(path, _partition(os.path.relpath(path, name))) for path in found]
    if os.path.exists(name) or not _is_pattern(name):
        open(name, "rb").close()  # says what is wrong with it
        return [Piece(name)]
    matched = [path for path in sorted(glob.glob(name, recursive=True)) if not _is_hidden(path)]
    if not matched:
        raise DataError(f"No file is named like {name!r}: check the pattern.")
    root = name[: min(k for k in (name.find(sign) for sign in "*?[") if k >= 0)].rpartition(os.sep)[0]
    files = [(path, os.path.relpath(path, root or ".")) for path in matched if os.path.isfile(path)]
    for folder in (path for path in matched if os.path.isdir(path)):
        files += [(path, os.path.relpath(path, root or ".")) for path in _walk(folder)]
    if not files:
        raise DataError(f"{name!r} names folders without a file of data: check the pattern.")
    return [Piece(path, _partition(below)) for path, below in dict(files).items()]


def _is_pattern(name: str) -> bool:
    return any(sign in name for sign in "*?[")


def _walk(folder: str) -> Iterable[str]:
    """The files of a folder and of those in it."""
    found = []
    for here, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(HIDDEN)]
        beside = {name + ending for name in files for ending in (*SIZES, *WEIGHTS)}
        found += [os.path.join(here, name) for name in files if not name.startswith(HIDDEN) and name not in beside]
    return sorted(found)


def _is_hidden(path: str) -> bool:
    return os.path.basename(path).startswith(HIDDEN)


def _partition(path: str) -> tuple[tuple[str, str], ...]:
    """The columns in the names of the folders that lead to a file."""
    parts = [part.partition("=") for part in path.split(os.sep)[:-1]]
    return tuple((name, value) for name, sign, value in parts if name and sign)


def _agreeing(pieces: list[Piece]) -> tuple[Piece, ...]:
    """The pieces, if all of them tell the same columns."""
    first = pieces[0]
    names = [name for name, _ in first.partition]
    for piece in pieces[1:]:
        here = [name for name, _ in piece.partition]
        differ = [name for name in (*names, *here) if (name in names) != (name in here)]
        if differ:
            have, lack = (first, piece) if differ[0] in names else (piece, first)
            raise DataError(
                f"{lack.path} lies in no folder named {differ[0]}=..., as {have.path} does: column {differ[0]!r} "
                "would be missing there."
            )
    return tuple(pieces)
