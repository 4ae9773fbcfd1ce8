"""Metrics by name, "ndcg@10" or "map": the one place where names are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from numpy.typing import ArrayLike

from .._errors import ParameterError
from ._listwise import (
    average_precision,
    dcg,
    err,
    hit,
    mean_ndcg,
    ndcg,
    precision,
    recall,
    reciprocal_rank,
)
from ._pairs import auc, c_index, kendall_tau, pairwise_accuracy, pairwise_error, wmw
from ._rows import Value

#: Metrics of ranked lists: they take a cut, "@10", and a preset.
LISTWISE: dict[str, Callable[..., Value]] = {
    "ndcg": ndcg,
    "dcg": dcg,
    "mean_ndcg": mean_ndcg,
    "map": average_precision,
    "mrr": reciprocal_rank,
    "precision": precision,
    "recall": recall,
    "hit": hit,
    "err": err,
}
PAIRWISE: dict[str, Callable[..., Value]] = {
    "pairwise_accuracy": pairwise_accuracy,
    "pairwise_error": pairwise_error,
    "wmw": wmw,
    "auc": auc,
    "kendall_tau": kendall_tau,
    "c_index": c_index,
}
ALIASES = {
    "ap": "map",
    "average_precision": "map",
    "rr": "mrr",
    "reciprocal_rank": "mrr",
    "p": "precision",
    "r": "recall",
    "success": "hit",
    "tau": "kendall_tau",
    "accuracy": "pairwise_accuracy",
    "error": "pairwise_error",
}
SMALLER_IS_BETTER = frozenset({"pairwise_error"})
#: Metrics that are taken over preferences, whichever these are.
OVER_PREFERENCES = frozenset({"pairwise_accuracy", "pairwise_error", "wmw"})


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
        return self.family not in SMALLER_IS_BETTER

    @property
    def pairwise(self) -> bool:
        """Whether it is a metric of pairs, to which presets and cuts do not apply."""
        return self.family in PAIRWISE

    @property
    def takes_preferences(self) -> bool:
        """Whether it is taken over preferences, and not told over which."""
        return self.family in OVER_PREFERENCES and "preferences" not in self.options

    def over(self, preferences: Any) -> Metric:
        """The metric over these preferences (those of a model, say), unless it was told others or takes none."""
        return replace(self, options={**self.options, "preferences": preferences}) if self.takes_preferences else self

    def __call__(self, y: ArrayLike, scores: ArrayLike, qid: ArrayLike | None = None, **options: Any) -> Value:
        """The metric's value; `options` are further keywords of its function."""
        function = PAIRWISE.get(self.family) or LISTWISE[self.family]
        return function(y, scores, qid, **{**self.options, **options})

    def score(self, value: float) -> float:
        """The value with the sign that makes greater better."""
        return value if self.greater_is_better else -value


def parse(name: str | Metric, preset: str | None = None, **options: Any) -> Metric:
    """Read a metric's name; `preset` and `options` are kept for its function (a preset does not touch pairs).

    To a Metric they are added. Known are ndcg, dcg, mean_ndcg, map, mrr, precision (p), recall (r), hit, err, each with
    or without a cut as in "ndcg@10", and pairwise_accuracy, pairwise_error, wmw, auc, kendall_tau, c_index.
    """
    if isinstance(name, Metric):
        told = {"preset": preset, **options} if preset is not None and not name.pairwise else options
        return replace(name, options={**name.options, **told}) if told else name
    match = re.fullmatch(r"([a-z_]+)(?:@(\d+))?", name.strip().lower()) if isinstance(name, str) else None
    family = match and ALIASES.get(match[1], match[1])
    if match is None or not (family in LISTWISE or family in PAIRWISE):
        known = ", ".join([f"{n}[@k]" for n in LISTWISE] + list(PAIRWISE))
        raise ParameterError(f"metric={name!r} is not known: use one of {known}.")
    cut = match[2]
    if family in PAIRWISE and cut is not None:
        raise ParameterError(f"metric={name!r}: {family} takes no cut, leave out '@{cut}'.")
    if cut is not None and int(cut) < 1:
        raise ParameterError(f"metric={name!r}: the cut must be at least 1.")
    if cut is not None:
        options = {"k": int(cut), **options}
    if preset is not None and family in LISTWISE:
        options = {"preset": preset, **options}
    return Metric(family if cut is None else f"{family}@{int(cut)}", family, options)
