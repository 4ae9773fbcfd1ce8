"""LightGBM's files beside an SVMlight file: where they lie, and who does not take them."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from ..data.dataset import Dataset
from ._streams import Source

logger = logging.getLogger("linrank")

PACKED = (".gz", ".zst")
SIZES, WEIGHTS = (".query", ".group"), (".weight",)  # endings of the sizes of queries, and of the weights of rows


def unpacked(path: Path) -> Path:
    """The file's name without the ending of a packer."""
    return path.with_suffix("") if path.suffix.lower() in PACKED else path


def side_path(path: Source, endings: tuple[str, ...]) -> Path | None:
    """The file beside `path` with one of the endings, if there is one."""
    if not isinstance(path, (str, os.PathLike)) or os.fspath(path) == "-":
        return None
    bases = dict.fromkeys([Path(path), unpacked(Path(path))])
    beside = [base.with_name(base.name + ending) for base in bases for ending in endings]
    return next((file for file in beside if file.is_file()), None)


def has_side_files(path: Source) -> bool:
    """Whether LightGBM's files lie beside an SVMlight file, so that it must be read with `read`."""
    return any(side_path(path, endings) is not None for endings in (SIZES, WEIGHTS))


def tell_of_side_files(path: Source, data: Dataset) -> None:
    """Say that files beside were not read, where the data lacks what they hold."""
    for have, endings, what in (
        (data.qid is not None, SIZES, "all rows are one query"),
        (data.sample_weight is not None, WEIGHTS, "all rows weigh the same"),
    ):
        file = None if have else side_path(path, endings)
        if file is not None:
            logger.warning("%s is not read here, so %s: linrank.io.read takes it along", file, what)
