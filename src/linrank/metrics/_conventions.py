"""Conventions on which ranking tools differ, and the presets that reproduce each tool: one place for both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._errors import DataError, ParameterError
from .._typing import FloatArray
from ..data.checks import check_choice

GAINS = ("exponential", "linear", "signed")
DISCOUNTS = ("log2", "letor")
TIES = ("average", "input", "docid", "threshold")
EMPTY: dict[str, float] = {"skip": np.nan, "zero": 0.0, "one": 1.0}
OVER = ("all", "cut")


class Options(TypedDict, total=False):
    """What a caller may say about conventions; see `Conventions`."""

    gain: str | Mapping[float, float] | Sequence[float]
    discount: str
    ties: str
    empty: str | float
    threshold: float
    max_grade: float | None
    precision_over: str
    map_over: str
    single_precision: bool
    docid: ArrayLike | None


@dataclass(frozen=True)
class Conventions:
    """How a ranked list is judged.

    Attributes
    ----------
    gain : {"exponential", "linear", "signed"}, mapping or sequence
        Of a grade y in DCG: 2^y - 1, y, both 0 for negative grades; "signed" is y as it is; or a table: grade -> gain.
    discount : {"log2", "letor"}
        At position n: 1 / log2(n + 1), or LETOR's, which leaves position 2 undiscounted: 1, 1, 1 / log2(n).
    ties : {"average", "input", "docid", "threshold"}
        Equal scores: the mean over all their orders; the order of the rows given; falling order of `docid` as text, as
        trec_eval does; or, for average precision alone, all retrieved at once, as scikit-learn does.
    empty : {"skip", "zero", "one"}, 0 or 1
        What a query without relevant rows (without a positive gain) counts: nothing, 0 or 1.
    threshold : float
        Rows with y >= threshold are relevant.
    max_grade : float or None
        The largest grade of the scale, for ERR; None: the largest in y.
    precision_over : {"all", "cut"}
        precision@k divides by k, or by the number of rows where that is smaller.
    map_over : {"all", "cut"}
        Average precision at k divides by all relevant rows, or by at most k of them.
    single_precision : bool
        Scores are compared as 32-bit numbers.
    """

    gain: str | Mapping[float, float] | Sequence[float] = "exponential"
    discount: str = "log2"
    ties: str = "average"
    empty: str | float = "skip"
    threshold: float = 1.0
    max_grade: float | None = None
    precision_over: str = "all"
    map_over: str = "all"
    single_precision: bool = False

    def gains(self, y: FloatArray) -> FloatArray:
        """Gain of each grade."""
        if not isinstance(self.gain, str):
            return _from_table(self.gain, y)
        if self.gain == "signed":
            return y
        with np.errstate(over="ignore"):
            found = np.maximum(y, 0.0) if self.gain == "linear" else np.exp2(np.maximum(y, 0.0)) - 1.0
        if not np.all(np.isfinite(found)):
            raise DataError(f"The gain 2^y - 1 overflows at y = {y.max():g}: use gain='linear' or a table of gains.")
        return found

    def discounts(self, n: int) -> FloatArray:
        """Discounts of the first n positions."""
        out = np.arange(1.0, n + 1.0)  # in place from here on: fresh pages cost more than logarithms
        if self.discount == "log2":
            out += 1.0
        else:
            np.maximum(out, 2.0, out=out)
        np.log2(out, out=out)
        return np.divide(1.0, out, out=out)

    def relevant(self, y: FloatArray) -> NDArray[np.bool_]:
        """Which rows are relevant."""
        return y >= self.threshold


DEFAULTS = Conventions()
PRESETS: dict[str, Conventions] = {
    "trec": Conventions(gain="linear", ties="docid", empty="zero", single_precision=True),
    "sklearn": Conventions(gain="signed", empty="zero"),
    "xgboost": Conventions(ties="input", empty="one", precision_over="cut", map_over="cut", single_precision=True),
    "lightgbm": Conventions(ties="input", empty="one", threshold=0.5, map_over="cut"),
    "letor": Conventions(discount="letor", ties="input", empty="zero"),
}
#: Where a tool treats one metric differently from its others.
EXCEPTIONS: dict[tuple[str, str], dict[str, Any]] = {
    ("sklearn", "average_precision"): {"ties": "threshold"},
    ("xgboost", "precision"): {"empty": "zero"},
}


def conventions(metric: str, preset: str | None, options: Mapping[str, Any]) -> Conventions:
    """The conventions of a metric under a preset, overruled by the caller's own options."""
    base = DEFAULTS
    if preset is not None:
        check_choice("preset", preset, tuple(PRESETS))
        base = replace(PRESETS[preset], **EXCEPTIONS.get((preset, metric), {}))
    known = [field.name for field in fields(Conventions)]
    unknown = [name for name in options if name not in known]
    if unknown:
        raise ParameterError(f"{metric} does not know {unknown[0]!r}: conventions are {', '.join(known)}.")
    chosen = replace(base, **options)
    if not isinstance(chosen.empty, str) and chosen.empty in (0, 1):
        chosen = replace(chosen, empty="one" if chosen.empty else "zero")
    if isinstance(chosen.gain, str):
        check_choice("gain", chosen.gain, GAINS)
    check_choice("discount", chosen.discount, DISCOUNTS)
    check_choice("ties", chosen.ties, TIES if metric == "average_precision" else TIES[:-1])
    check_choice("empty", chosen.empty, tuple(EMPTY))
    check_choice("precision_over", chosen.precision_over, OVER)
    check_choice("map_over", chosen.map_over, OVER)
    return chosen


def _from_table(table: Mapping[float, float] | Sequence[float], y: FloatArray) -> FloatArray:
    pairs: Mapping[float, float] = table if isinstance(table, Mapping) else dict(enumerate(table))
    grades = np.array(sorted(pairs), dtype=np.float64)
    gains = np.array([pairs[grade] for grade in sorted(pairs)], dtype=np.float64)
    place = np.minimum(np.searchsorted(grades, y), max(grades.size - 1, 0))
    missing = y != grades[place] if grades.size else np.ones(y.size, dtype=bool)
    if np.any(missing):
        raise DataError(f"The table of gains has no entry for grade {y[np.argmax(missing)]:g}: add one.")
    if not np.all(np.isfinite(gains)):
        raise ParameterError("The table of gains holds NaN or infinity: give finite gains.")
    found: FloatArray = gains[place]
    return found
