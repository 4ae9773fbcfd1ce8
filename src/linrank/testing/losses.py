"""What every loss must keep, asserted property by property.

A loss may claim two errors of its sums, and is then believed up to them: `Sums.error`, how far the value may be off,
and `Sums.gradient_error`, how far the entries of the gradient may be off, summed up. Certificates add both, so a claim
costs: at most 1e-6 of `weight` times 1 + the largest difference of scores is accepted, for each of them. All else is
held to `rtol`, relative to the weight for values and to the sum of absolute values for gradients and products.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import FloatArray
from .._work import Work
from ..data.ranking_data import RankingData
from ..data.rankings import Rankings
from ..losses import Curvature, Loss, LossPoint, Sums, as_loss
from ..losses._base import AnyLoss, Steps
from .problems import make_ranking

#: The largest error that a loss may claim, relative to its weight.
LARGEST_CLAIM = 1e-6
#: Scores on a grid of this width differ from 1 and from 1/2 by a tenth at least, and steps so small cross no kink.
GRID, STEP = 0.37, 1e-4
#: Accuracy of a derivative by differences over STEP.
DIFFERENCE = 1e-6


class SpoiltWork(Work):
    """Memory whose contents are rubbish whenever it is lent, and again at will."""

    def take(self, name: str, size: int, dtype: Any) -> Any:
        """An array full of rubbish."""
        array = super().take(name, size, dtype)
        _spoil(array)
        return array

    def spoil(self) -> None:
        """Overwrite all that was ever lent."""
        for array in self._arrays.values():
            _spoil(array)


def _spoil(array: NDArray[Any]) -> None:
    array.fill(np.nan if array.dtype.kind == "f" else 77 if array.dtype.kind in "iu" else 1)


def check_loss(
    loss: Loss | AnyLoss, seed: int = 0, *, rtol: float = 1e-9, weights: bool = True, longest: int = 60
) -> None:
    """Assert what every loss must keep; raises AssertionError with the property that fails.

    The value is convex and not negative, and the gradient is that of the value; it sums to 0 within each ranking, and
    an offset per ranking changes nothing. The curvature, where the loss is smooth, is symmetric, positive semidefinite,
    annihilates constants and is the derivative of the gradient (differences are taken where pairs differ by multiples
    of 0.37: a loss whose second derivative jumps may do so elsewhere), and that of `steps`, if there are any. The loss
    `smoothed`, if there is one, is within mu/2, and tells the value of this one. Sums and gradients of several blocks
    are those of one. `at_zero` is `at` equal scores. Nothing is captured: scratch memory may be overwritten after each
    call, and scores and rankings are left alone.

    Parameters
    ----------
    loss : Loss
        The loss.
    seed : int
        Of the scores and weights at which it is tried.
    rtol : float
        Relative accuracy, beyond the errors that the loss claims of itself.
    weights : bool
        Whether rows and queries are weighted; False for a loss that knows unit weights alone.
    longest : int
        Members of the longest ranking; try 1500 for a loss that sums long rankings in a way of its own.
    """
    checked = loss if isinstance(loss, Loss) else as_loss(loss)
    rng = np.random.default_rng(seed)
    for rankings in _blocks(rng, weights, longest):
        _check_block(checked, rng, rankings, rtol)


def _check_block(loss: Loss, rng: np.random.Generator, rankings: Rankings, rtol: float) -> None:
    for spread in (0.1, 1.0, 10.0):
        s = spread * rng.standard_normal(rankings.n_members)
        _check_point(loss, s, rankings)
        _check_memory(loss, s, rankings)
        _check_invariance(loss, s, rankings, rtol)
        g = loss.at(s, rankings, Work()).gradient
        for direction in (rng.standard_normal(s.size), g / max(np.abs(g).max(), 1e-300)):
            _check_line(loss, s, direction, rankings, rtol)
        _check_additivity(loss, s, rankings, rtol)
        value = loss.at(s, rankings, Work()).sums.value
        assert value >= -rtol * rankings.weight, "the value is negative, and certificates take 0 for a bound"
        _check_smoothed(loss, s, rankings, rtol)
    _check_curvature(loss, rng, rankings, rtol)
    _check_zero(loss, rankings, rtol)


def _blocks(rng: np.random.Generator, weights: bool, longest: int) -> list[Rankings]:
    """Rankings of several lengths, one of them of two rows; with few levels and with many."""
    qid = np.repeat([0, 1, 2, 3, 4], [8, 15, longest, 2, 20])
    blocks = []
    for n_levels in (4, None):
        _, y, _ = make_ranking(qid.size, 1, 1, n_levels, seed=int(rng.integers(99)))
        y[qid == 3] = [0.0, 1.0]
        options: dict[str, Any] = {}
        if weights:
            options["sample_weight"] = rng.uniform(0.5, 2.0, y.size)
            options["query_weight"] = dict(enumerate(rng.uniform(0.5, 2.0, 5)))
        p = RankingData(np.zeros((y.size, 1)), y, qid, **options).preferences
        blocks.append(replace(p, blocks=np.array([0, p.n_rankings])).block(0))
    return blocks


def _check_point(loss: Loss, s: FloatArray, rankings: Rankings) -> None:
    """A point has the shape that it must have, and claims no more than it may."""
    point = loss.at(s, rankings, Work())
    assert point.gradient.shape == s.shape, "the gradient has not one entry for each member"
    assert np.isclose(point.sums.weight, rankings.weight, rtol=1e-12), "weight is not the sum of all c_ij"
    assert (point.curvature is not None) == loss.smooth, "smooth losses have a curvature, and others have none"
    most = LARGEST_CLAIM * rankings.weight * (1.0 + np.ptp(s))
    assert 0.0 <= point.sums.error <= most, "Sums.error claims too much"
    assert 0.0 <= point.sums.gradient_error <= most, "Sums.gradient_error claims too much"


def _check_invariance(loss: Loss, s: FloatArray, rankings: Rankings, rtol: float) -> None:
    here = loss.at(s, rankings, Work())
    room = rtol * np.abs(here.gradient).sum() + here.sums.gradient_error
    sums = np.add.reduceat(here.gradient, rankings.ranking_ptr[:-1])
    assert np.all(np.abs(sums) <= room), "the gradient does not sum to 0 within each ranking"
    offset = 2.0**10 * np.repeat(np.arange(rankings.n_rankings), np.diff(rankings.ranking_ptr))
    moved = loss.at(s + offset, rankings, Work())
    room = 1e-7 * (rankings.weight + abs(here.sums.value)) + _errors(here.sums, moved.sums)
    assert abs(moved.sums.value - here.sums.value) <= room, "an offset of a ranking's scores changes the value"


def _check_line(loss: Loss, s: FloatArray, direction: FloatArray, rankings: Rankings, rtol: float) -> None:
    here = loss.at(s, rankings, Work())
    for t in (1e-6, 1e-4, 1e-2, 1.0):
        there = loss.at(s + t * direction, rankings, Work())
        slack = rtol * (rankings.weight + abs(here.sums.value)) + _errors(here.sums, there.sums)
        slack += t * np.abs(direction).max() * (here.sums.gradient_error + there.sums.gradient_error)
        middle = loss.at(s + 0.5 * t * direction, rankings, Work()).sums
        room = slack + middle.error
        assert middle.value <= 0.5 * (here.sums.value + there.sums.value) + room, "the value is not convex"
        rise = there.sums.value - here.sums.value
        assert rise >= t * here.gradient @ direction - slack, "the gradient is not that of the value"
        assert rise <= t * there.gradient @ direction + slack, "the gradient is not that of the value"


def _errors(*sums: Sums) -> float:
    return sum(each.error for each in sums)


def _check_additivity(loss: Loss, s: FloatArray, rankings: Rankings, rtol: float) -> None:
    """All rankings as one block, and each as a block of its own."""
    whole, sums, gradients = loss.at(s, rankings, Work()), Sums(), []
    for r in range(rankings.n_rankings):
        point = loss.at(s[rankings.members(r)], _ranking(rankings, r), Work())
        sums = sums + point.sums
        gradients.append(point.gradient)
    room = rtol * abs(whole.sums.value) + _errors(whole.sums, sums)
    assert abs(sums.value - whole.sums.value) <= room, "the values of several blocks do not add up to that of one"
    room = rtol * np.abs(whole.gradient).sum() + whole.sums.gradient_error + sums.gradient_error
    apart = np.abs(np.concatenate(gradients) - whole.gradient)
    assert np.all(apart <= room), "the gradients of several blocks are not that of one"
    for name in ("weight", "error", "gradient_error"):
        one, several = getattr(whole.sums, name), getattr(sums, name)
        assert np.isclose(one, several, rtol=rtol), f"Sums.{name} does not add up over blocks"
    _check_hinge_sums(whole.sums, sums, rtol)


def _check_hinge_sums(whole: Sums, sums: Sums, rtol: float) -> None:
    assert (whole.hinge is None) == (sums.hinge is None), "Sums.hinge is told of some blocks alone"
    if whole.hinge is not None and sums.hinge is not None:
        room = rtol * (whole.weight + whole.hinge.hinge) + whole.hinge.slope_error + sums.hinge.slope_error
        assert np.allclose(whole.hinge[:2], sums.hinge[:2], rtol=0, atol=room), "Sums.hinge does not add up over blocks"


def _ranking(rankings: Rankings, r: int) -> Rankings:
    """One ranking as a block."""
    here = rankings.members(r)
    levels = rankings.levels(r) - here.start
    ptr = np.array([0, here.stop - here.start])
    v = None if rankings.v is None else rankings.v[here]
    numbers = np.array([0, levels.size - 1])
    return Rankings(rankings.row[here], ptr, levels, numbers, rankings.pairs[r : r + 1], rankings.u[r : r + 1], v)


def _check_memory(loss: Loss, s: FloatArray, rankings: Rankings) -> None:
    """Nothing depends on what scratch memory holds, before or after."""
    given = [s, *(array for array in vars(rankings).values() if isinstance(array, np.ndarray))]
    kept = [array.copy() for array in given]
    clean, work, other = loss.at(s, rankings, Work()), SpoiltWork(), SpoiltWork()
    _assert_unchanged(given, kept)
    point = loss.at(s, rankings, work)
    _assert_same(clean, point, "the answer depends on what scratch memory held before")
    work.spoil()
    _assert_same(clean, point, "the gradient lies in scratch memory, which is lent")
    if clean.curvature is not None and point.curvature is not None:
        v = np.cos(np.arange(s.size))
        wanted, found = clean.curvature.product(v, Work()), point.curvature.product(v, other)
        other.spoil()
        assert np.array_equal(wanted, found), "the curvature keeps scratch memory, which is lent"
        assert np.array_equal(wanted, point.curvature.product(v, work)), "products of the curvature are not repeatable"
    _assert_unchanged(given, kept)


def _assert_unchanged(given: list[NDArray[Any]], kept: list[NDArray[Any]]) -> None:
    for array, before in zip(given, kept, strict=True):
        assert np.array_equal(array, before), "the scores or the rankings given were changed"


def _assert_same(one: LossPoint, other: LossPoint, message: str) -> None:
    assert one.sums == other.sums, message
    assert np.array_equal(one.gradient, other.gradient), message


def _check_curvature(loss: Loss, rng: np.random.Generator, rankings: Rankings, rtol: float) -> None:
    if not loss.smooth:
        return
    s: FloatArray = GRID * rng.integers(-8, 9, rankings.n_members).astype(np.float64)
    curvature = loss.at(s, rankings, Work()).curvature
    assert curvature is not None
    a, b = rng.uniform(-1.0, 1.0, (2, s.size))
    La, Lb = curvature.product(a, Work()), curvature.product(b, Work())
    size = float(np.abs(La).sum() + np.abs(Lb).sum())
    # The curvature of a loss that claims an error of its value may be off by as much.
    room = rtol * size + loss.at(s, rankings, Work()).sums.error
    assert abs(a @ Lb - b @ La) <= room, "the curvature is not symmetric"
    assert a @ La >= -room, "the curvature is not positive semidefinite"
    for r in range(rankings.n_rankings):
        one = np.zeros(s.size)
        one[rankings.members(r)] = 1.0
        left = np.abs(curvature.product(one, Work())).sum()
        assert left <= room, "the curvature does not annihilate the constants of each ranking"
    _check_derivative(loss, s, a, curvature, rankings, rtol)
    if loss.steps is not None:
        off = np.abs(La - _product_by_steps(loss.steps, s, a, rankings)).sum()
        assert off <= room, "the curvature is not that of `steps`, from which exact Hessians are built"


def _check_derivative(
    loss: Loss, s: FloatArray, a: FloatArray, curvature: Curvature, rankings: Rankings, rtol: float
) -> None:
    ahead, back = (loss.at(s + t * a, rankings, Work()) for t in (STEP, -STEP))
    difference = (ahead.gradient - back.gradient) / (2.0 * STEP)
    La = curvature.product(a, Work())
    off = sum(rtol * np.abs(point.gradient).sum() + point.sums.gradient_error for point in (ahead, back))
    room = DIFFERENCE * np.abs(La).sum() + off / (2.0 * STEP)
    assert np.abs(difference - La).sum() <= room, "the curvature is not the derivative of the gradient"


def _product_by_steps(steps: Steps, s: FloatArray, x: FloatArray, rankings: Rankings) -> FloatArray:
    """Laplacian with weights c_ij phi''(s_i - s_j) times x, pair by pair."""
    out, level = np.empty(s.size), rankings.level_numbers()
    for r in range(rankings.n_rankings):
        here = rankings.members(r)
        v, z = rankings.member_weights[here], s[here, None] - s[here]
        second = sum(2.0 * a * (z < m) for a, m in zip(*steps, strict=True))
        W = rankings.u[r] * np.outer(v, v) * (level[here, None] > level[here]) * second
        W = W + W.T
        out[here] = W.sum(axis=1) * x[here] - W @ x[here]
    return out


def _check_smoothed(loss: Loss, s: FloatArray, rankings: Rankings, rtol: float) -> None:
    """What stands for the loss in Newton's method is as near as it must be, and tells of this loss, not of another."""
    here = loss.at(s, rankings, Work()).sums
    for mu in (1.0, 0.1):
        smooth = None if loss.smooth else loss.smoothed(mu)
        if smooth is None:
            return
        assert smooth.smooth, "the loss `smoothed` is not smooth"
        there = smooth.at(s, rankings, Work()).sums
        room = rtol * (rankings.weight + abs(here.value)) + _errors(here, there)
        off = abs(there.value - here.value)
        assert off <= 0.5 * mu * rankings.weight + room, "the loss `smoothed` is not within mu/2 of the loss"
        assert there.hinge is not None, "the loss `smoothed` does not tell Sums.hinge"
        assert abs(there.hinge.hinge - here.value) <= room, "Sums.hinge of the loss `smoothed` is not the loss's value"


def _check_zero(loss: Loss, rankings: Rankings, rtol: float) -> None:
    known, summed = loss.at_zero(rankings, Work()), loss.at(np.zeros(rankings.n_members), rankings, Work()).sums
    room = rtol * abs(summed.value) + _errors(summed)
    assert abs(known.value - summed.value) <= room, "at_zero is not the value at equal scores"
    assert np.isclose(known.weight, summed.weight, rtol=1e-12), "at_zero has another weight"
