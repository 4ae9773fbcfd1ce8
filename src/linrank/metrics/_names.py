"""Metrics by name, "ndcg@10" or "map": the one place where names are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError
from ..data.labels import split_labels
from . import _listwise, _log_loss, _pairs  # noqa: F401  (they fill the table)
from ._families import FAMILIES, NAMES
from ._rows import QueryValues, Value, check_rows

#: Metrics that are taken over preferences, whichever these are.
OVER_PREFERENCES = frozenset(name for name, family in FAMILIES.items() if family.over_preferences)
#: Those of them that say what a pair of equal scores counts.
WITH_TIES = frozenset(name for name, family in FAMILIES.items() if family.ties)


@dataclass(frozen=True)
class Metric:
    """A metric with its cut and conventions: call it with (y, scores, qid).

    Attributes
    ----------
    name : str
        As it is to be shown, "ndcg@10".
    family : str
        The name without the cut.
    options : mapping
        Keywords of the function: k, preset, conventions.
    """

    name: str
    family: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def greater_is_better(self) -> bool:
        """False for errors."""
        return FAMILIES[self.family].greater_is_better

    @property
    def pairwise(self) -> bool:
        """Whether it is a metric of pairs, to which presets and cuts do not apply."""
        return FAMILIES[self.family].pairwise

    @property
    def takes_preferences(self) -> bool:
        """Whether it is taken over preferences, and its options do not say over which."""
        return FAMILIES[self.family].over_preferences and "preferences" not in self.options

    def over(self, preferences: Any) -> Metric:
        """The metric over these preferences (those of a model, say), unless its options name some or it takes none."""
        return replace(self, options={**self.options, "preferences": preferences}) if self.takes_preferences else self

    def __call__(self, y: ArrayLike | None, scores: ArrayLike, qid: ArrayLike | None = None, **options: Any) -> Value:
        """The metric's value; `options` are further keywords of its function."""
        return FAMILIES[self.family].function(y, scores, qid, **{**self.options, **options})

    def score(self, value: float) -> float:
        """The value with the sign that makes greater better."""
        return value if self.greater_is_better else -value


@dataclass(frozen=True)
class OwnMetric(Metric):
    """Somebody's own function (y, scores, qid) -> float; greater is better, unless it says otherwise."""

    function: Callable[..., float] = field(kw_only=True)
    greater: bool = field(default=True, kw_only=True)

    @property
    def greater_is_better(self) -> bool:
        """As it was told."""
        return self.greater

    @property
    def pairwise(self) -> bool:
        """Nothing is known of it."""
        return False

    @property
    def takes_preferences(self) -> bool:
        """It judges by what it is given."""
        return False

    def __call__(self, y: Any, scores: Any, qid: Any = None, *, per_query: bool = False, **options: Any) -> Value:
        """The function's value; with per_query that of each query's rows by themselves."""
        rows = check_rows(y, scores, qid) if per_query else None
        y, qid = split_labels(y, qid)
        if rows is None:
            return float(self.function(y, scores, qid))
        y, ids = np.asarray(y), np.zeros(rows.scores.size, dtype=np.int64) if qid is None else np.asarray(qid)
        order = np.argsort(rows.query, kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(rows.query, minlength=rows.n_queries))[:-1])
        values = [float(self.function(y[part], rows.scores[part], ids[part])) for part in parts]
        return QueryValues.of(np.array(values), rows.ids)


def own_metric(function: Callable[..., float], greater_is_better: bool = True) -> OwnMetric:
    """A metric by a function (y, scores, qid) of one's own."""
    name = str(getattr(function, "__name__", type(function).__name__))
    return OwnMetric(name, name, function=function, greater=bool(greater_is_better))


def each(names: str) -> list[str]:
    """The names in a list of them, cuts after one name being of that metric: "ndcg@1,3,5,map" names four."""
    found: list[str] = []
    for word in names.split(","):
        family, cut, _ = found[-1].partition("@") if found else ("", "", "")
        found.append(f"{family}@{word.strip()}" if cut and word.strip().isdigit() else word.strip())
    return found


def parse(name: str | Metric | Callable[..., float], preset: str | None = None, **options: Any) -> Metric:
    """Read a metric's name; `preset` and `options` are kept for its function (a preset does not touch pairs).

    A function (y, scores, qid) of one's own takes one option, `greater_is_better`, and is called as it is. To a Metric
    preset and options are added. A name is that of a function of `linrank.metrics`, or a shorter one, as map, mrr, p, r
    and tau are; metrics of ranked lists may have a cut, "ndcg@10". For a name that is not known the error lists all.
    """
    if callable(name) and not isinstance(name, Metric):
        unknown = sorted({*options, *(["preset"] if preset is not None else [])} - {"greater_is_better"})
        if unknown:
            raise ParameterError(f"A function of one's own takes no {unknown[0]}=: build it into the function.")
        return own_metric(name, **options)
    if isinstance(name, Metric):
        told = {"preset": preset, **options} if preset is not None and not name.pairwise else options
        return replace(name, options={**name.options, **told}) if told else name
    match = re.fullmatch(r"([a-z_]+)(?:@(\d+))?", name.strip().lower()) if isinstance(name, str) else None
    if match is None or match[1] not in NAMES:
        lists_first = sorted(FAMILIES.values(), key=lambda family: family.pairwise)
        known = ", ".join(family.name if family.pairwise else f"{family.name}[@k]" for family in lists_first)
        raise ParameterError(f"metric={name!r} is not known: use one of {known}.")
    family, cut = FAMILIES[NAMES[match[1]]], match[2]
    if cut is not None:
        if family.pairwise:
            raise ParameterError(f"metric={name!r}: {family.name} takes no cut, leave out '@{cut}'.")
        if int(cut) < 1:
            raise ParameterError(f"metric={name!r}: the cut must be at least 1.")
        options = {"k": int(cut), **options}
    if preset is not None and not family.pairwise:
        options = {"preset": preset, **options}
    return Metric(family.name if cut is None else f"{family.name}@{int(cut)}", family.name, options)
