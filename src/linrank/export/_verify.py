"""Does the export score as the ranker does? The text is read back independently and compared, row by row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._errors import LinrankError
from .._missing import fill_missing
from .._preferences import FloatArray
from ._function import LinearFunction
from ._targets import Target

PIECE_ENTRIES = 1 << 20  # made dense and looked at in one go


@dataclass(frozen=True)
class Verification:
    """What was compared.

    Attributes
    ----------
    rows : int
        Rows scored both ways.
    largest_difference : float
        Between the two scores of a row.
    allowed : float
        What rounding explains where the difference was nearest to it: (d + 3) roundings of the row's sum of
        |weight * value|, in the numbers that the target computes with.
    lowest : float
        The lowest score, as the target computes it.
    """

    rows: int
    largest_difference: float
    allowed: float
    lowest: float


def verify(target: Target, text: bytes, function: LinearFunction, chunks: Iterable[Any]) -> Verification:
    """Compare the scores of rows; a LinrankError where they differ by more than rounding.

    Rows with a missing value are compared as they are where the export replaces it, and with it replaced where that is
    up to the target.
    """
    rows, worst, largest, allowed, lowest = 0, 0.0, 0.0, 0.0, np.inf
    for piece in (piece for chunk in chunks for piece in _pieces(chunk)):
        complete = fill_missing(piece, function.fill)
        theirs = target.score(text, function.names, piece if target.fills else complete)
        ours = function(complete)
        bound = (function.weights.size + 3) * (target.rounding * function.size(complete) + target.smallest)
        difference = np.abs(theirs - ours)
        if not np.all(difference <= bound):
            row = int(np.argmax(~(difference <= bound)))
            raise LinrankError(
                f"The export does not score as the model does: row {rows + row + 1} scores {theirs[row]!r} instead of "
                f"{ours[row]!r}; do not use it, and report this."
            )
        k = int(np.argmax(difference / bound))
        if difference[k] / bound[k] >= worst:
            worst, allowed = float(difference[k] / bound[k]), float(bound[k])
        largest = max(largest, float(difference.max()))
        rows, lowest = rows + len(ours), min(lowest, float(theirs.min()))
    return Verification(rows, largest, allowed, float(lowest))


def lowest_score(function: LinearFunction, chunks: Iterable[Any], target: Target | None = None) -> float:
    """The lowest score of rows, less what rounding may take from it (and from an offset of that size) in the target.

    0 if there is no row.
    """
    lowest = np.inf
    for chunk in chunks:
        complete = fill_missing(chunk, function.fill)
        slack = 0.0 if target is None else 2 * (function.weights.size + 3) * target.rounding * function.size(complete)
        lowest = min(lowest, float((function(complete) - slack).min(initial=np.inf)))
    return float(lowest) if np.isfinite(lowest) else 0.0


def _pieces(X: Any) -> Iterator[FloatArray]:
    step = max(1, PIECE_ENTRIES // max(1, X.shape[1]))
    for start in range(0, X.shape[0], step):
        piece = X[start : start + step]
        yield np.asarray(piece.toarray() if sp.issparse(piece) else piece, dtype=np.float64)
