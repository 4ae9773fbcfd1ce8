"""How a file is to be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import DTypeLike

from .._progress import ByteProgress
from ._columns import Columns
from ._streams import Source, name_of


@dataclass(frozen=True)
class ReadOptions:
    """What may be said about reading; each format takes what it needs. See `read` for the meaning."""

    columns: Columns
    missing: str = "error"
    dtype: DTypeLike = np.float64
    n_features: int | None = None
    dense: bool | Literal["auto"] = "auto"
    zero_based: bool = False
    on_error: str = "raise"
    n_jobs: int | None = None
    verbose: int = 0
    groups: tuple[int, int] | None = None  # of rows, from and up to these numbers; None: all

    def progress(self, source: Source) -> ByteProgress:
        """What shows how much of the source has been read."""
        return ByteProgress(self.verbose, name_of(source))
