"""All that an engine is asked at a problem's w and d, what the answers should be, and how far they may be off.

Two engines agree to 1e-12 of the natural size of an answer, the sum of the absolute values of what is added up:

    value, weight      themselves: their terms are not negative
    slope g.d          |g|.|X d|
    gradient           |X|^T |g|, entry by entry
    X^T L X v          c |X|^T b max(|X| |v|), b_i the weight of the pairs of row i, c the largest phi''
    X^T L X            c |X|^T diag(b) max |X|, entry by entry
    sum of psi psi^T   that of |a|, a = |X|^T |g| over the rows of a query or cluster; of row i, with b_i max |phi'|
                       in the place of |g_i| and the largest |x_j| added to |x_i|

times the sum of |a| where phi'' is a sum of steps 2 a [z < m]: 1/mu for the hinge rounded over a width mu, 1 for the
squared hinge. Errors that a loss states are added: `Sums.error` to values, and, as a share of the weight, to 1e-12
for curvatures; `Sums.gradient_error` times the largest |X| to gradients.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from .._once import cached_property
from .._typing import FloatArray, IntArray
from .._work import Work
from ..data.ranking_data import RankingData
from ..data.rankings import Rankings
from ..engines.base import Engine, Evaluation
from ..engines.outer import UNITS, row_weights
from ..losses import Loss, Sums
from .cases import FEW_ROWS, STEP, Problem
from .naive import Pairs, Phi, naive_hessian, naive_loss, naive_psi
from .rows import RowPoint, loss_at

#: How far two engines may differ, relative to an answer's natural size; and where digits of float32 are asked for.
EXACT, ROUNDED = 1e-12, 1e-5

#: What was asked, and the answer.
Answers = dict[str, Any]


def ask(engine: Engine, loss: Loss, problem: Problem) -> Answers:
    """All answers of an engine for one loss. Points are made before any of them is asked: their order plays no part."""
    s, d = engine.scores(problem.w), engine.scores(problem.d)
    point = engine.evaluate(loss, s, gradient=True)
    line = engine.evaluate(loss, s, d, STEP)
    again = engine.evaluate(loss, line.scores, d, 0.0)
    answers: Answers = {"value at zero": engine.at_zero(loss).value, **_sums("", point.sums)}
    answers |= _sums(" on the line", line.sums) | {"slope on the line": line.sums.slope}
    answers |= {"value at the line's scores": again.sums.value, "slope at the line's scores": again.sums.slope}
    answers |= {"gradient": point.gradient(), "gradient on the line": line.gradient()}
    for units in units_asked(problem, loss):
        answers |= _outer(point, units, problem)
    answers["scaled gradient"] = point.gradient(scales(problem))
    if loss.smooth:
        answers["Hessian product"] = point.hessian_product(problem.d)
        answers["scaled Hessian product"] = point.hessian_product(problem.d, scale=scales(problem))
        answers["rounded Hessian product"] = point.hessian_product(problem.d, exact=False)
        answers["Hessian product on the line"] = line.hessian_product(problem.d)
    if engine.hessian_cost(loss) is not None:
        answers["Hessian"] = point.hessian(None)
        answers["scaled Hessian"] = point.hessian(scales(problem))
    return answers


def _outer(point: Evaluation, units: str, problem: Problem) -> Answers:
    """Sums over units, with a shift and a scale and without, and projected onto d."""
    plain, moved = point.outer(units), point.outer(units, scales(problem), shifts(problem))
    along = point.outer(units, None, shifts(problem), directions(problem))
    answers: Answers = {f"outer over {units}": plain.total, f"shifted outer over {units}": moved.total}
    answers |= {f"number of {units}": plain.units, f"largest of {units}": moved.largest}
    return answers | {f"outer over {units} along a direction": along.total}


def directions(problem: Problem) -> FloatArray:
    """One direction to project onto, as a column."""
    return problem.d[:, None] / np.abs(problem.d).max()


def _sums(where: str, sums: Sums) -> Answers:
    answers = {f"value{where}": sums.value, f"weight{where}": sums.weight, f"size{where}": sums.size}
    if sums.hinge is not None:
        answers |= {f"sum of slopes{where}": sums.hinge.slope, f"sum of hinges{where}": sums.hinge.hinge}
    return answers


def scales(problem: Problem) -> FloatArray:
    """Some scale for each column."""
    return np.linspace(0.5, 2.0, problem.w.size)


def shifts(problem: Problem) -> FloatArray:
    """Some shift of each entry of psi."""
    return 0.1 * np.cos(np.arange(problem.w.size))


def naive_answers(problem: Problem, pairs: Pairs, phi: Phi) -> Answers:
    """The answers by the definition, pair by pair, as far as they are worth it."""
    X, N = problem.dense, float(pairs.c.sum())
    s, d = X @ problem.w, X @ problem.d
    here, there = (naive_loss(phi.value, phi.slope, at, pairs) for at in (s, s + STEP * d))
    zero = naive_loss(phi.value, phi.slope, 0.0 * s, pairs)
    answers: Answers = {"value at zero": N * zero.value, "value": N * here.value, "value on the line": N * there.value}
    answers |= {"weight": N, "slope on the line": N * float(there.gradient @ d)}
    g, unit = N * here.gradient @ X, scales(problem)
    answers |= {"gradient": g, "scaled gradient": g / unit, "gradient on the line": N * there.gradient @ X}
    for units in UNITS:
        answers |= _naive_outer(problem, pairs, phi, units)
    if phi.curvature is not None:
        H = N * naive_hessian(phi.curvature, X, s, pairs)
        scaled = H / np.outer(unit, unit)
        answers |= {"Hessian": H, "Hessian product": H @ problem.d}
        answers |= {"scaled Hessian": scaled, "scaled Hessian product": scaled @ problem.d}
    return answers


def _naive_outer(problem: Problem, pairs: Pairs, phi: Phi, units: str) -> Answers:
    """Each pair adds its gradient and its weight to the units of its rows, once where both are in the same."""
    unit, scale, shift = units_of(problem.data, units), scales(problem), shifts(problem)
    psi, c = naive_psi(phi.slope, problem.dense, problem.dense @ problem.w, pairs, unit)
    moved = psi / scale + c[:, None] * shift
    along = (psi + c[:, None] * shift) @ directions(problem)
    answers: Answers = {f"outer over {units}": psi.T @ psi, f"shifted outer over {units}": moved.T @ moved}
    answers |= {f"number of {units}": np.count_nonzero(c), f"largest of {units}": np.square(moved).sum(axis=1).max()}
    return answers | {f"outer over {units} along a direction": along.T @ along}


def units_asked(problem: Problem, loss: Loss) -> tuple[str, ...]:
    """Rows are asked for where they are few, as it takes two products a feature, and of smooth losses alone."""
    rows = loss.smooth and problem.data.n_rows <= FEW_ROWS
    return UNITS if rows else tuple(units for units in UNITS if units != "rows")


def units_of(data: RankingData, units: str) -> IntArray:
    """The unit of each row."""
    if units == "rows":
        return np.arange(data.n_rows)
    if units == "queries":
        return data.query
    assert data.cluster is not None
    return data.cluster


def rooms(loss: Loss, problem: Problem) -> Answers:
    """How far each answer may be off."""
    here, there = Sizes(loss, problem, 0.0), Sizes(loss, problem, STEP)
    zero, unit = loss_at(loss, np.zeros(problem.data.n_rows), problem.data).sums, scales(problem)
    answers: Answers = {"value at zero": EXACT * zero.value + 2.0 * zero.error}
    for units in units_asked(problem, loss):
        answers |= here.outer(units)
    for size, where in ((here, ""), (there, " on the line")):
        answers |= {f"{name}{where}": room for name, room in size.of_sums().items()}
        answers |= {f"gradient{where}": size.gradient(), f"Hessian product{where}": size.product()}
    answers["value at the line's scores"] = answers["value on the line"]
    answers["slope at the line's scores"] = answers["slope on the line"]
    answers["rounded Hessian product"] = ROUNDED / EXACT * here.product()
    answers |= {"scaled gradient": here.gradient() / unit, "scaled Hessian product": here.product(unit)}
    return answers | {"Hessian": here.hessian(), "scaled Hessian": here.hessian() / np.outer(unit, unit)}


@dataclass(frozen=True)
class Sizes:
    """How far the answers at w + t d may be off."""

    loss: Loss
    problem: Problem
    t: float

    @cached_property
    def scores(self) -> FloatArray:
        """The scores."""
        return self.problem.dense @ self.problem.w + self.t * (self.problem.dense @ self.problem.d)

    @cached_property
    def point(self) -> RowPoint:
        """The loss over rows."""
        return loss_at(self.loss, self.scores, self.problem.data)

    @cached_property
    def g(self) -> FloatArray:
        """|g| over rows."""
        return np.abs(self.point.gradient) * self.point.sums.weight

    @cached_property
    def features(self) -> FloatArray:
        """|X|."""
        return np.abs(self.problem.dense)

    @cached_property
    def pairs(self) -> FloatArray:
        """|X|^T b, b the weight of the pairs of each row."""
        p, b = self.problem.data.preferences, np.zeros(self.problem.data.n_rows)
        for block in map(p.block, range(p.n_blocks)):
            np.add.at(b, block.row, block.member_pair_weights())
        return b @ self.features

    @property
    def share(self) -> float:
        """1e-12, or more for a loss whose phi'' has steps of more than 2."""
        steps = self.loss.steps
        return EXACT * (1.0 if steps is None else max(1.0, float(np.abs(steps[0]).sum())))

    @property
    def curvature(self) -> float:
        """The largest phi'' times how far it may be off; a loss off by a share of its weight is so in its curvature."""
        sums = self.point.sums
        return largest_curvature(self.loss) * (self.share + 2.0 * sums.error / sums.weight)

    @property
    def gradient_error(self) -> float:
        """What the loss states, for two engines."""
        return 2.0 * self.point.sums.gradient_error

    def of_sums(self) -> Answers:
        """Of the sums."""
        sums, d, s = self.point.sums, np.abs(self.problem.dense @ self.problem.d), np.abs(self.scores)
        rooms = {"value": self.share * abs(sums.value) + 2.0 * sums.error, "weight": EXACT * sums.weight}
        rooms["slope"] = self.share * (self.g @ d) + self.gradient_error * d.max()
        rooms["size"] = self.share * (self.g @ s) + self.gradient_error * s.max()
        if sums.hinge is not None:
            rooms["sum of slopes"] = EXACT * abs(sums.hinge.slope) + 2.0 * sums.hinge.slope_error
            rooms["sum of hinges"] = EXACT * sums.hinge.hinge
        return rooms

    def gradient(self) -> FloatArray:
        """Of X^T g."""
        return self.share * (self.g @ self.features) + self.gradient_error * self.features.max(axis=0)

    def product(self, unit: FloatArray | float = 1.0) -> FloatArray:
        """Of X^T L X d, the columns of X divided by `unit`."""
        return self.curvature * float((self.features @ np.abs(self.problem.d / unit)).max()) * self.pairs / unit

    def hessian(self) -> FloatArray:
        """Of X^T L X."""
        return self.curvature * np.outer(self.pairs, self.features.max(axis=0))

    def outer(self, units: str) -> Answers:
        """Of the sums over units; of rows, x_j of a pair counts as much as x_i."""
        data, scale, shift = self.problem.data, scales(self.problem), np.abs(shifts(self.problem))
        g, b = self.g, row_weights(data)
        if units == "rows":
            most = largest_slope(self.loss, self.scores) * b
            a = most[:, None] * (self.features + self.features.max(axis=0))
            error = 8.0 * (self.share * a + self.gradient_error * self.features.max(axis=0))
        else:
            unit = units_of(data, units)
            a = np.zeros((int(unit.max()) + 1, data.n_features))
            np.add.at(a, unit, g[:, None] * self.features)
            error = self.share * a + self.gradient_error * self.features.max(axis=0)
            b = 0.5 * np.bincount(unit, b, minlength=len(a)).astype(np.float64)
        moved, moved_error = a / scale + b[:, None] * shift, error / scale + self.share * b[:, None] * shift
        d = np.abs(directions(self.problem))
        line, line_error = (a + b[:, None] * shift) @ d, (error + self.share * b[:, None] * shift) @ d
        answers: Answers = {f"outer over {units}": _product(a, error), f"number of {units}": 0.0}
        answers[f"shifted outer over {units}"] = _product(moved, moved_error)
        answers[f"largest of {units}"] = float(np.trace(_product(moved, moved_error)))
        return answers | {f"outer over {units} along a direction": _product(line, line_error)}


def _product(a: FloatArray, error: FloatArray) -> FloatArray:
    """How far a sum of outer products of vectors off by `error` may be off."""
    return 2.0 * (error.T @ a + a.T @ error)


def largest_slope(loss: Loss, scores: FloatArray) -> float:
    """The largest |phi'| that scores so far apart can have."""
    return 1.0 if loss.steps is None else 2.0 * (1.0 + 2.0 * float(np.abs(scores).max(initial=0.0)))


@lru_cache
def largest_curvature(loss: Loss) -> float:
    """The largest phi'', found by trying one pair; 1 for losses without."""
    if not loss.smooth:
        return 1.0
    one = np.ones(1, dtype=np.int64)
    two = np.array([0, 2])
    pair = Rankings(np.arange(2, dtype=np.int32), two, np.arange(3), two, one, np.ones(1), None)
    found = []
    for z in (*np.linspace(-8.0, 8.0, 65).tolist(), 0.999999):
        curvature = loss.at(np.array([0.0, z]), pair, Work()).curvature
        found.append(0.0 if curvature is None else float(curvature.product(np.array([0.0, 1.0]), Work())[1]))
    return max(found)
