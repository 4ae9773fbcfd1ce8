"""The cache: what was read of a source, as arrays to be mapped; written once, whole or not at all, and found again.

An entry is a folder named by a digest of its key: for each file its path, size, time of change and a hash of its first
and last megabyte, beside the parse options and the version of this layout. It is written under another name, beside,
and renamed at the end; a lock lets one process write while others wait for it.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._bars import size
from .._errors import DataError, LinrankError
from .._files import PathLike, sync_folder
from ..data.dataset import Dataset
from . import _store
from ._beside import SIZES, WEIGHTS, side_path
from ._chunks import blocks
from ._locate import Located
from ._lock import is_held, locked
from ._npy import writing_to
from ._options import ReadOptions

logger = logging.getLogger("linrank")

#: Of the layout of an entry and of what readers make of a file: entries of another version are not used.
VERSION = 1
HASHED = 1 << 20  # bytes at either end of a file
UNFINISHED = ".part"
ENTRY = r".+-[0-9a-f]{24}"
#: How a reader goes, but not what it gives.
NOT_IN_KEY = ("n_jobs", "verbose", "groups")

Tell = Callable[[str], None]


def cache_folder(given: PathLike | None = None) -> Path:
    """The folder named, or by $LINRANK_CACHE, or the user's own for caches."""
    if given is not None:
        return Path(given)
    if named := os.environ.get("LINRANK_CACHE"):
        return Path(named)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "linrank"


def stamp(path: str) -> list[Any]:
    """What tells a file from what it was before: its size, time of change, and a hash of both of its ends."""
    with open(path, "rb") as file:
        found = os.fstat(file.fileno())
        digest = hashlib.blake2b(file.read(HASHED), digest_size=16)
        if found.st_size > HASHED:
            file.seek(max(HASHED, found.st_size - HASHED))
            digest.update(file.read(HASHED))
    return [found.st_size, found.st_mtime_ns, digest.hexdigest()]


def files_of(located: Located) -> list[str]:
    """The files of a source, and those beside them."""
    beside = [side_path(path, ends) for path in located.paths for ends in (SIZES, WEIGHTS)]
    return [*located.paths, *(str(path) for path in beside if path is not None)]


def state_of(located: Located) -> dict[str, tuple[int, int]]:
    """Size and time of change of each file that is there: less than a stamp, at less cost."""
    found = {}
    for path in files_of(located):
        with suppress(OSError):
            known = os.stat(path)
            found[path] = known.st_size, known.st_mtime_ns
    return found


@dataclass(frozen=True)
class Key:
    """What an entry is of."""

    asked: dict[str, Any]  # files, by their names, and options
    stamps: dict[str, list[Any]]  # what the files were

    @classmethod
    def of(cls, located: Located, options: ReadOptions) -> Key:
        """As the files are now."""
        told = {name: value for name, value in asdict(options).items() if name not in NOT_IN_KEY}
        told["dtype"] = np.dtype(options.dtype).name
        pieces = [[os.path.realpath(piece.path), *map(list, piece.partition)] for piece in located.pieces]
        asked: dict[str, Any] = {"files": pieces, "format": located.format, "options": told}
        if any(piece.groups for piece in located.pieces):
            asked["groups"] = [piece.groups for piece in located.pieces]
        if located.first_query:
            asked["first_query"] = located.first_query
        return cls(json.loads(json.dumps(asked)), {os.path.realpath(p): stamp(p) for p in files_of(located)})

    @property
    def name(self) -> str:
        """Of its folder: something to recognise, and a digest."""
        text = json.dumps([VERSION, self.asked, self.stamps], sort_keys=True)
        stem = re.sub(r"[^\w.-]", "_", os.path.basename(self.asked["files"][0][0]), flags=re.ASCII)[:40].lstrip(".")
        return f"{stem}-{hashlib.blake2b(text.encode(), digest_size=12).hexdigest()}"

    def check(self) -> None:
        """Refuse to go on where a file is not what it was when it began to be read."""
        for path, before in self.stamps.items():
            try:
                now = stamp(path)
            except FileNotFoundError:
                raise DataError(f"{path} vanished while it was read: bring it back and try again.") from None
            if now != before:
                raise DataError(f"{path} changed while it was read: try again when it is complete.")


def find(located: Located, options: ReadOptions, folder: Path) -> Dataset | None:
    """The data, if it is in the cache."""
    return _opened(folder / Key.of(located, options).name)


def open_cached(located: Located, options: ReadOptions, folder: Path, tell: Tell = logger.info) -> Dataset:
    """The data, mapped from its entry, which is written first if need be. `tell` is told what takes time."""
    key = Key.of(located, options)
    target = folder / key.name
    found = _opened(target)
    if found is not None:
        tell(f"{located.name} is in the cache: {target}, {_size(target)}")
        return found
    with writing_to(folder / "entry" / "file"):
        folder.mkdir(parents=True, exist_ok=True)
        lock = folder / f"{key.name}.lock"
        lock.touch()
    with locked(lock, lambda: tell(f"Another process reads {located.name} into the cache: waiting for it")):
        found = _opened(target)
        if found is None:
            _write(located, options, key, target, tell)
            found = _opened(target)
    if found is None:
        key.check()  # another process may have read the file as it is now, and deleted what it was
        raise LinrankError(f"The cache {target} vanished as soon as it was written: is another program clearing it?")
    return found


def _write(located: Located, options: ReadOptions, key: Key, target: Path, tell: Tell) -> None:
    """A new entry; this process holds its lock, so what others left unfinished will never be finished."""
    for left in (*target.parent.glob(f".{target.name}.*{UNFINISHED}"), *([target] if target.exists() else [])):
        remove(left)
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}{UNFINISHED}")
    tell(f"{located.name} is read into the cache {target.parent}, once")
    with writing_to(part / "file"):
        part.mkdir()
    writer = None
    try:
        writer = _store.Writer(part, options.dense, options.dtype, options.n_features)
        for block in blocks(located, options):
            writer.add(block)
        key.check()
        writer.finish({"version": VERSION, "asked": key.asked, "stamps": key.stamps})
        with writing_to(target / "file"):
            os.rename(part, target)
            sync_folder(target.parent)
    except BaseException:  # Ctrl-C as well
        if writer is not None:
            writer.abandon()
        shutil.rmtree(part, ignore_errors=True)
        raise
    for before in _of_the_same(key, target):
        remove(before)
    tell(f"The cache {target} takes {_size(target)}")


def _of_the_same(key: Key, target: Path) -> Iterator[Path]:
    """Entries of the same files as they were before; sources of others are not looked at."""
    for path in sorted(target.parent.iterdir()):
        if path != target and re.fullmatch(ENTRY, path.name):
            about = _store.read_about(path)
            if about is not None and about.get("asked") == key.asked and _state(about) != "current":
                yield path


def _opened(target: Path) -> Dataset | None:
    about = _store.read_about(target) if target.exists() else None
    if about is None or about.get("version") != VERSION:
        return None
    try:
        return _store.opened(target, about)
    except (OSError, ValueError, KeyError):  # damaged, or cleared just now
        return None


@dataclass(frozen=True)
class Entry:
    """A folder of the cache."""

    path: Path
    n_bytes: int
    about: dict[str, Any]
    state: str  # "current", "changed" or "gone" (of its source), "unfinished", "damaged", "being written", "version 0"

    @property
    def source(self) -> str:
        """The files that it was read from."""
        files = [piece[0] for piece in self.about.get("asked", {}).get("files", [])]
        return (files[0] + (f" and {len(files) - 1:,} more" if len(files) > 1 else "")) if files else ""


def entries(folder: Path) -> Iterator[Entry]:
    """What the cache holds."""
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        if not path.is_dir():
            continue
        if path.name.endswith(UNFINISHED):
            target = path.name[1:].rsplit(".", 2)[0]
            state = "being written" if is_held(folder / f"{target}.lock") else "unfinished"
            yield Entry(path, _bytes(path), {}, state)
        elif re.fullmatch(ENTRY, path.name):
            about = _store.read_about(path)
            yield Entry(path, _bytes(path), about or {}, "damaged" if about is None else _state(about))


def _state(about: dict[str, Any]) -> str:
    if about.get("version") != VERSION:
        return f"version {about.get('version')}"
    for path, before in about["stamps"].items():
        try:
            if stamp(path) != before:
                return "changed"
        except OSError:
            return "gone"
    return "current"


def remove(path: Path) -> None:
    """Delete an entry: its name goes first, so that nobody opens half of it. Who has it mapped keeps it."""
    gone = path.with_name(f".{secrets.token_hex(8)}{UNFINISHED}")
    try:
        os.rename(path, gone)
    except FileNotFoundError:  # another process did so
        return
    shutil.rmtree(gone, ignore_errors=True)


def _bytes(folder: Path) -> int:
    total = 0
    try:
        for file in folder.iterdir():
            total += file.stat().st_size
    except FileNotFoundError:  # deleted, or finished and renamed, meanwhile
        pass
    return total


def _size(folder: Path) -> str:
    return size(_bytes(folder))
