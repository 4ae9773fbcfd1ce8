"""Does the export score as the ranker does? The text is read back independently and compared, row by row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._errors import LinrankError
from .._typing import FloatArray
from ..data.missing import fill_missing, pieces
from ._function import LinearFunction
from ._target import Target


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
        The lowest score, as the target serves it.
    differing : int
        Rows with missing values that the target serves otherwise than the ranker scores them, by more than rounding.
    served_difference : float
        The largest difference among them.
    """

    rows: int
    largest_difference: float
    allowed: float
    lowest: float
    differing: int = 0
    served_difference: float = 0.0


def verify(
    target: Target, text: bytes, function: LinearFunction, chunks: Iterable[Any], defaults: FloatArray | None = None
) -> Verification:
    """Compare the scores of rows; a LinrankError where they differ by more than rounding.

    Missing values are left to an export that replaces them. To other exports they are given twice: replaced, to see
    that the export is right, and as the target serves them, as `defaults` of its features or 0, to count the rows
    that this changes.
    """
    found = Verification(0, 0.0, 0.0, np.inf)
    worst = 0.0
    for piece in (piece for chunk in chunks for piece in _dense_pieces(chunk)):
        complete = fill_missing(piece, function.fill)
        theirs = target.score(text, function.names, piece if target.fills else complete)
        ours, bound = function(complete), _bound(target, function, complete)
        difference = np.abs(theirs - ours)
        _refuse(difference <= bound, found.rows, theirs, ours)
        k = int(np.argmax(difference / bound))
        if difference[k] / bound[k] >= worst:
            worst, found = float(difference[k] / bound[k]), replace(found, allowed=float(bound[k]))
        served = _served(target, function, piece, defaults)
        shown = theirs if served is None else target.score(text, function.names, served)
        off = np.abs(shown - ours)
        differing = off > (bound if served is None else np.maximum(bound, _bound(target, function, served)))
        found = replace(
            found,
            rows=found.rows + len(ours),
            largest_difference=max(found.largest_difference, float(difference.max())),
            lowest=min(found.lowest, float(shown.min())),
            differing=found.differing + int(differing.sum()),
            served_difference=max(found.served_difference, float(off[differing].max(initial=0.0))),
        )
    return found


def _bound(target: Target, function: LinearFunction, X: Any) -> FloatArray:
    """What rounding explains: (d + 3) roundings of each row's sum of |weight * value|."""
    return (function.weights.size + 3) * (target.rounding * function.size(X) + target.smallest)


def _refuse(alike: NDArray[np.bool_], before: int, theirs: FloatArray, ours: FloatArray) -> None:
    if not alike.all():
        row = int(np.argmin(alike))
        raise LinrankError(
            f"The export does not score as the model does: row {before + row + 1} scores {theirs[row]!r} instead of "
            f"{ours[row]!r}; do not use it, and report this."
        )


def _served(target: Target, function: LinearFunction, X: Any, defaults: FloatArray | None) -> Any:
    """X with the target's own values in the place of missing ones; None where the ranker's are part of the export."""
    if target.fills or function.fill is None:
        return None
    return fill_missing(X, np.zeros(function.weights.size) if defaults is None else defaults)


def lowest_score(
    function: LinearFunction, chunks: Iterable[Any], target: Target | None = None, defaults: FloatArray | None = None
) -> float:
    """The lowest score of rows, less what rounding may take from it (and from an offset of that size) in the target.

    Rows with missing values count twice: as the target serves them now, and as the ranker scores them, which is how the
    target serves them once it has the means. 0 if there is no row.
    """
    lowest = np.inf
    for chunk in chunks:
        served = None if target is None else _served(target, function, chunk, defaults)
        for X in (fill_missing(chunk, function.fill), *(() if served is None else (served,))):
            slack = 0.0 if target is None else 2 * (function.weights.size + 3) * target.rounding * function.size(X)
            lowest = min(lowest, float((function(X) - slack).min(initial=np.inf)))
    return float(lowest) if np.isfinite(lowest) else 0.0


def _dense_pieces(X: Any) -> Iterator[FloatArray]:
    for _, piece in pieces(X):
        yield np.asarray(piece.toarray() if sp.issparse(piece) else piece, dtype=np.float64)
