"""How pairs are drawn, as values: a sampler looks at rows once, and draws pair after pair from them.

uniform      in proportion to c_ij, exactly
balanced     a query, two of its levels, a row of each, all alike: the paper's index
rejection    as uniform, by trial, on labels and queries as they are given: no index
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from .._errors import ParameterError
from ..data.checks import Missing, check_own
from ..data.labelled import LabelledRows
from .draws import PROPOSALS, BalancedDraws, CheckedDraws, Draws, IndexedDraws, RankedTrials, Trials

#: Rejection sampling is refused where a pair would take more tries than this on average.
MOST_TRIES = 10_000
#: With fewer tries a pair than this the uniform sampler does without an index: building one takes longer,
FEW_TRIES = 4.0
#: but for so few rows: an index of them is ready sooner than as many pairs are drawn by trial.
FEW_ROWS = 100_000


class Sampler(ABC):
    """A law by which pairs are drawn; a value. Inheriting is not needed: `name` and `over` are."""

    name: str

    @abstractmethod
    def over(self, rows: LabelledRows) -> Draws:
        """Look at the rows, once; NoPairsError where there is none."""


@dataclass(frozen=True)
class Uniform(Sampler):
    """Pairs in proportion to c_ij: the objective of LinearRanker is what is descended.

    Many rows that mostly differ in y within their query are drawn by trial, which needs no index. Else the rows are
    ranked, by counting or hashing their labels, and the index is an alias table over the levels that have others below
    them: linear time and 20 bytes for each; row weights take 8 bytes a row more.
    """

    name: str = "uniform"

    def over(self, rows: LabelledRows) -> Draws:
        """By trial or by an index, whichever is ready sooner."""
        bare = _bare(rows) if rows.sample_weight is None and rows.n_rows > FEW_ROWS else None
        if bare is not None and bare.estimated_tries() <= FEW_TRIES:
            return bare
        return IndexedDraws(rows.ranked.preferences)


@dataclass(frozen=True)
class Balanced(Sampler):
    """A query with pairs, then two of its levels, then a row of each: every query and every two levels count the same.

    A ranking is drawn in proportion to u_r / (rankings of its query): with grades, that is the query's weight; where a
    query has several rankings (a chain, a graph, explicit pairs) its weight is the mean of theirs, and they share it in
    proportion to their own. Two levels of the ranking are then drawn alike, and in each a row in proportion to v.
    """

    name: str = "balanced"

    def over(self, rows: LabelledRows) -> Draws:
        """12 bytes a query."""
        return BalancedDraws(rows.ranked.preferences, rows.grades.query)


@dataclass(frozen=True)
class Rejection(Sampler):
    """Pairs in proportion to c_ij without any index: rows are drawn until two of them are a pair.

    With grades compared in full they are drawn from y and qid as they are given: about m max(m_q) / (2 N) tries, m_q
    being the rows of query q, where the rows of a query stand together, and m^2 / (2 N) where they do not. Chains,
    graphs, explicit pairs and query weights are drawn from rankings.
    """

    name: str = "rejection"

    def over(self, rows: LabelledRows) -> Draws:
        """No index, no bytes; refused where it would take too long."""
        bare = _bare(rows)
        if bare is None:
            ranked = RankedTrials(rows.ranked.preferences)
            return _not_too_many(ranked, ranked.tries)
        tries = bare.estimated_tries()
        if tries > PROPOSALS / 16:  # few were accepted, perhaps because there is no pair at all: count
            tries = bare.tries(rows.ranked.preferences)
        return _not_too_many(bare, tries)


def _not_too_many(draws: Draws, tries: float) -> Draws:
    if not tries <= MOST_TRIES:
        raise ParameterError(
            f"sampling='rejection' would take about {tries:.0f} tries a pair on these queries, levels and weights: use "
            "sampling='uniform', which draws from the same distribution."
        )
    return draws


SAMPLERS: dict[str, Sampler] = {sampler.name: sampler for sampler in (Uniform(), Balanced(), Rejection())}
SAMPLINGS = tuple(SAMPLERS)


def as_sampler(sampling: Any) -> Sampler:
    """The sampler of that name, or the one given."""
    if isinstance(sampling, Missing):
        raise ParameterError(sampling.cure)
    check_own("sampling", sampling, SAMPLINGS, ("name", "over"))
    if isinstance(sampling, str):
        return SAMPLERS[sampling]
    return sampling if type(sampling) in (Uniform, Balanced, Rejection) else Checked(sampling)


@dataclass(frozen=True)
class Checked(Sampler):
    """Somebody's own sampler: the rows it draws are looked at, as kernels look at no bounds."""

    given: Any

    @property
    def name(self) -> str:  # type: ignore[override]
        """Its own."""
        return str(self.given.name)

    def over(self, rows: LabelledRows) -> Draws:
        """What it draws, checked."""
        return CheckedDraws(self.given.over(rows), rows.n_rows, self.name)


def _bare(rows: LabelledRows) -> Trials | None:
    """Trials on labels and queries as they are given; None where weights or preferences need more."""
    if not rows.compared_in_full or rows.weighs_queries:
        return None
    return Trials(rows)
