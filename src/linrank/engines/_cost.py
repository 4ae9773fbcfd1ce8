"""What an exact Hessian costs in Hessian products, before any evaluation: two sums of times, divided.

A product reads X twice and multiplies by the Laplacian, which takes some time a member. A Hessian of steps goes by
pairs or by a sweep (`hessian.py`), one of another loss column by column. Only ratios of the times count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from .._once import cached_property
from ..data import active
from ..data.ranking_data import RankingData
from ..kernels.pairs import work_sums
from ..losses import Loss
from ..losses._base import Steps
from .hessian import TUNING as WAYS

SECOND_CACHE = 1 << 20  # bytes


@dataclass(frozen=True)
class Tuning:
    """Nanoseconds on one machine, fitted to one half of what ``benchmarks/run.py hessian`` measures.

    It prints measured and modelled costs of both halves.
    """

    call: float = 19_000.0  # whatever is asked, before it begins: all that a small fit takes
    entry: float = 0.041  # of X, multiplied twice,
    held_byte: float = 0.016  # and a byte of it that is read from a cache,
    byte: float = 0.051  # or from memory: all of an X larger than
    cache: float = 75e6  # so many bytes
    member: float = 8.9  # of a product: gathered, scattered
    pair: float = 0.12  # of short rankings, in a product
    long: float = 9.3  # a member of a long ranking of few levels and a term, in a product,
    long_tree: float = 19.0  # or of many levels
    exponential: float = 6.2  # what a member takes longer with a loss that is not made of steps
    listed: float = 4.6  # a member, for the list of active pairs,
    looked_at: float = 0.46  # and a pair
    active_pair: float = 16.0
    pair_entry: float = 0.86  # a feature of an active pair: its difference,
    apart: float = (
        2.9  # a row of an active pair that stands anywhere in an X larger than a cache, or in F order a feature
    )
    pair_square: float = 0.018  # a product of two features, of an active pair,
    square: float = 0.032  # and of a member in a sweep
    swept_term: float = 43.0  # a member and a term: counted
    swept_double: float = 5.8  # a member, for every doubling of its ranking
    swept_entry: float = 0.18  # a feature of a member and a level of the tree
    missed: float = 56.0  # a member and a level of the tree that is not in the cache,
    missed_entry: float = 0.26  # and a feature
    matrix: float = 1.8  # an entry of the Hessian, added up and transposed


class WorkSums(NamedTuple):
    """Sums over rankings, as `kernels/pairs.work_sums` gives them."""

    short: float
    few: float
    many: float
    counted: float
    doubled: float
    asked: float
    missed: float


@dataclass(frozen=True)
class Shape:
    """What the cost depends on."""

    data: RankingData
    tuning: Tuning

    @property
    def d(self) -> int:
        """Features."""
        return self.data.n_features

    @property
    def members(self) -> int:
        """Members of rankings: a row may be several."""
        return self.data.preferences.n_members

    @cached_property
    def reading(self) -> float:
        """Both products with X."""
        X, t = self.data.X, self.tuning
        beyond = min(max(2.0 * X.nbytes / t.cache - 1.0, 0.0), 1.0)
        read = 8 * X.size if X.flags.f_contiguous else X.nbytes  # by columns, the rows' sums are read as well
        return t.entry * X.size + (1.0 - beyond) * t.held_byte * X.nbytes + beyond * t.byte * read

    @cached_property
    def apart(self) -> float:
        """Far places that the rows of an explicit pair are read from: one a row, or, in F order, a feature."""
        X = self.data.X
        explicit = self.data.preferences.longest == 2
        places = self.d if X.flags.f_contiguous else 1
        return 2 * places * max(0.0, 1.0 - SECOND_CACHE / max(X.nbytes, 1)) if explicit else 0.0

    def sums(self, steps: bool) -> WorkSums:
        """Sums over the rankings, for losses made of steps or for others."""
        p, t = self.data.preferences, active.TUNING
        limit, held = t.short_to_sum if steps else t.short_logistic, SECOND_CACHE / (8.0 * self.d)
        shape = p.ranking_ptr, p.ranking_levels, p.pairs
        return WorkSums(*work_sums(*shape, limit, t.short, t.few_levels_to_sum, held))

    def product(self, steps: Steps | None) -> float:
        """A Hessian product."""
        t, sums = self.tuning, self.sums(steps is not None)
        terms = 1 if steps is None else len(steps[0])
        laplacian = t.pair * sums.short + terms * (t.long * sums.few + t.long_tree * sums.many)
        more = t.exponential * self.members if steps is None else 0.0
        return t.call + self.reading + t.member * self.members + laplacian + more

    def by_columns(self) -> float:
        """A Hessian by a product a column, which is read and not multiplied."""
        return self.d * (self.product(None) - 0.5 * self.reading)

    def by_pairs(self, active_pairs: float, looked_at: float) -> float:
        """A Hessian by the differences of pairs."""
        t, d = self.tuning, self.d
        listed = t.listed * self.members + t.looked_at * looked_at
        pair = t.active_pair + t.pair_entry * d + t.pair_square * d * d + t.apart * self.apart
        return t.call + listed + active_pairs * pair + t.matrix * d * d

    def by_sweep(self, terms: int) -> float:
        """A Hessian by a sweep: each member is read twice, asks the tree once, and enters it for each term."""
        t, d, sums = self.tuning, self.d, self.sums(True)
        sorted_ = t.swept_double * sums.doubled
        counted = terms * (t.swept_term * self.members + t.pair * sums.counted)
        node = t.swept_entry * d * sums.asked + (t.missed + t.missed_entry * d) * sums.missed
        tree = 0.5 * (1 + terms) * node
        return t.call + sorted_ + counted + tree + (self.members * t.square + t.matrix) * d * d


def hessian_cost(data: RankingData, loss: Loss, tuning: Tuning = Tuning()) -> float:
    """Cost of an exact Hessian in Hessian products, for dense features."""
    shape, steps, p = Shape(data, tuning), loss.steps, data.preferences
    n_pairs, product = float(p.pairs.sum()), shape.product(steps)
    if steps is None and p.longest > 2:
        return shape.by_columns() / product
    expected = n_pairs * share_active(steps)
    looked_at = n_pairs <= WAYS.looked_at * p.n_members
    if p.longest == 2 or (looked_at and expected <= WAYS.room(p.n_members, data.n_features)):
        return shape.by_pairs(expected, n_pairs) / product
    assert steps is not None
    return shape.by_sweep(len(steps[0])) / product


def product_time(data: RankingData, loss: Loss, tuning: Tuning = Tuning()) -> float:
    """Nanoseconds of a Hessian product."""
    return Shape(data, tuning).product(loss.steps)


def share_active(steps: Steps | None) -> float:
    """About which share of the pairs has curvature: most below a margin, few within a narrow band."""
    if steps is None:
        return 1.0
    _, m = steps
    return 0.75 if len(m) == 1 else min(0.75, 0.22 * (max(m) - min(m)))
