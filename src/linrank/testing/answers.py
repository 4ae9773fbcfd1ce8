"""All that an engine is asked at a problem's w and d, what the answers should be, and how far they may be off.

Two engines agree to 1e-12 of the natural size of an answer, the sum of the absolute values of what is added up:

    value, weight      themselves: their terms are not negative
    slope g.d          |g|.|X d|
    gradient           |X|^T |g|, entry by entry
    X^T L X v          c |X|^T b max(|X| |v|), b_i the weight of the pairs of row i, c the largest phi''
    X^T L X            c |X|^T diag(b) max |X|, entry by entry
    sum of outer(a_q)  that of |a_q|, a_q = |X|^T |g| over the rows of query q

times the largest sum of |a| where phi'' is a sum of steps 2 a [z < m]: 1/mu for the hinge rounded over a width mu, 1 for
the squared hinge. Errors that a loss states are added: `Sums.error` to values, and, as a share of the weight, to 1e-12
for curvatures; `Sums.gradient_error` times the largest |X| to gradients.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._once import cached_property
from .._preferences import FloatArray, Rankings
from .._work import Work
from ..engines.base import Engine
from ..losses import Loss, Sums
from .cases import STEP, Problem
from .naive import Pairs, Phi, naive_hessian, naive_loss
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
    answers |= {"gradient": point.gradient(), "gradient on the line": line.gradient(), "outer": point.outer("queries")}
    if loss.smooth:
        answers["Hessian product"] = point.hessian_product(problem.d)
        answers["rounded Hessian product"] = point.hessian_product(problem.d, exact=False)
        answers["Hessian product on the line"] = line.hessian_product(problem.d)
    if engine.hessian_cost(loss) is not None:
        answers["Hessian"] = point.hessian(None)
        answers["scaled Hessian"] = point.hessian(scales(problem))
    return answers


def _sums(where: str, sums: Sums) -> Answers:
    answers = {f"value{where}": sums.value, f"weight{where}": sums.weight, f"size{where}": sums.size}
    if sums.hinge is not None:
        answers |= {f"sum of slopes{where}": sums.hinge.slope, f"sum of hinges{where}": sums.hinge.hinge}
    return answers


def scales(problem: Problem) -> FloatArray:
    """Some scale for each column."""
    return np.linspace(0.5, 2.0, problem.w.size)


def naive_answers(problem: Problem, pairs: Pairs, phi: Phi) -> Answers:
    """The answers by the definition, pair by pair, as far as they are worth it."""
    X, N = problem.dense, float(pairs.c.sum())
    s, d = X @ problem.w, X @ problem.d
    here, there = (naive_loss(phi.value, phi.slope, at, pairs) for at in (s, s + STEP * d))
    zero = naive_loss(phi.value, phi.slope, 0.0 * s, pairs)
    answers: Answers = {"value at zero": N * zero.value, "value": N * here.value, "value on the line": N * there.value}
    answers |= {"weight": N, "slope on the line": N * float(there.gradient @ d)}
    answers |= {"gradient": N * here.gradient @ X, "gradient on the line": N * there.gradient @ X}
    if phi.curvature is not None:
        H, unit = N * naive_hessian(phi.curvature, X, s, pairs), scales(problem)
        answers |= {"Hessian": H, "scaled Hessian": H / np.outer(unit, unit), "Hessian product": H @ problem.d}
    return answers


def rooms(loss: Loss, problem: Problem) -> Answers:
    """How far each answer may be off."""
    here, there = Sizes(loss, problem, 0.0), Sizes(loss, problem, STEP)
    answers: Answers = {"value at zero": here.value_at_zero, "outer": here.outer, "scaled Hessian": here.scaled_hessian}
    for size, where in ((here, ""), (there, " on the line")):
        answers |= {f"value{where}": size.value, f"weight{where}": size.weight, f"size{where}": size.size}
        answers |= {f"sum of slopes{where}": size.slopes, f"sum of hinges{where}": size.hinges}
        answers |= {f"gradient{where}": size.gradient, f"Hessian product{where}": size.product}
    for name in ("value", "slope"):
        answers[f"{name} at the line's scores"] = answers[f"{name} on the line"] = getattr(there, name)
    return answers | {"rounded Hessian product": ROUNDED / EXACT * here.product, "Hessian": here.hessian}


@dataclass(frozen=True)
class Sizes:
    """How far the answers at w + t d may be off."""

    loss: Loss
    problem: Problem
    t: float

    @cached_property
    def point(self) -> RowPoint:
        """The loss over rows."""
        return loss_at(self.loss, self.scores, self.problem.data)

    @cached_property
    def scores(self) -> FloatArray:
        """The scores."""
        return self.problem.dense @ self.problem.w + self.t * (self.problem.dense @ self.problem.d)

    @cached_property
    def g(self) -> FloatArray:
        """|g| over rows."""
        return np.abs(self.point.gradient) * self.point.sums.weight

    @cached_property
    def X(self) -> FloatArray:
        """|X|."""
        return np.abs(self.problem.dense)

    @property
    def share(self) -> float:
        """1e-12, or more for a loss whose phi'' has steps of more than 2."""
        steps = self.loss.steps
        return EXACT * (1.0 if steps is None else max(1.0, float(np.abs(steps[0]).sum())))

    @property
    def value_at_zero(self) -> float:
        return EXACT * self.loss_at_zero.value + 2.0 * self.loss_at_zero.error

    @property
    def loss_at_zero(self) -> Sums:
        return loss_at(self.loss, 0.0 * self.scores, self.problem.data).sums

    @property
    def value(self) -> float:
        return self.share * abs(self.point.sums.value) + 2.0 * self.point.sums.error

    @property
    def weight(self) -> float:
        return EXACT * self.point.sums.weight

    @property
    def slope(self) -> float:
        d = np.abs(self.problem.dense @ self.problem.d)
        return float(self.share * (self.g @ d) + self._gradient_error * d.max())

    @property
    def size(self) -> float:
        s = np.abs(self.scores)
        return float(self.share * (self.g @ s) + self._gradient_error * s.max())

    @property
    def slopes(self) -> float:
        hinge = self.point.sums.hinge
        return 0.0 if hinge is None else EXACT * abs(hinge.slope) + 2.0 * hinge.slope_error

    @property
    def hinges(self) -> float:
        hinge = self.point.sums.hinge
        return 0.0 if hinge is None else EXACT * hinge.hinge

    @property
    def gradient(self) -> FloatArray:
        return self.share * (self.g @ self.X) + self._gradient_error * self.X.max(axis=0)

    @property
    def product(self) -> FloatArray:
        return self._curvature * float((self.X @ np.abs(self.problem.d)).max()) * (self.rows @ self.X)

    @property
    def hessian(self) -> FloatArray:
        return self._curvature * np.outer(self.rows @ self.X, self.X.max(axis=0))

    @property
    def scaled_hessian(self) -> FloatArray:
        unit = scales(self.problem)
        return self.hessian / np.outer(unit, unit)

    @property
    def outer(self) -> FloatArray:
        data = self.problem.data
        a = np.zeros((data.n_queries, data.n_features))
        np.add.at(a, data.query, self.g[:, None] * self.X)
        unit = np.zeros(a.shape) + self._gradient_error * self.X.max(axis=0)
        return self.share * (a.T @ a) + unit.T @ a + a.T @ unit

    @property
    def rows(self) -> FloatArray:
        """Weight of the pairs of each row."""
        p, total = self.problem.data.preferences, np.zeros(self.problem.data.n_rows)
        for block in map(p.block, range(p.n_blocks)):
            np.add.at(total, block.row, pair_weight(block))
        return total

    @property
    def _gradient_error(self) -> float:
        return 2.0 * self.point.sums.gradient_error

    @property
    def _curvature(self) -> float:
        """The largest phi'' times how far it may be off; a loss off by a share of its weight is so in its curvature."""
        sums = self.point.sums
        return largest_curvature(self.loss) * (self.share + 2.0 * sums.error / sums.weight)


def pair_weight(block: Rankings) -> FloatArray:
    """Sum of c_ij over the pairs of each member."""
    v = block.member_weights
    levels = np.add.reduceat(v, block.level_ptr[:-1])
    rankings = np.repeat(np.add.reduceat(v, block.ranking_ptr[:-1]), np.diff(block.ranking_ptr))
    others = rankings - np.repeat(levels, np.diff(block.level_ptr))
    return np.repeat(block.u, np.diff(block.ranking_ptr)) * v * others


def largest_curvature(loss: Loss) -> float:
    """The largest phi'', found by trying one pair; 1 for losses without."""
    if not loss.smooth:
        return 1.0
    one = np.ones(1, dtype=np.int64)
    two = np.array([0, 2])
    pair = Rankings(np.arange(2, dtype=np.int32), two, np.arange(3), two, one, np.ones(1), None)
    found = []
    for z in (*np.linspace(-8.0, 8.0, 65), 0.999999):
        curvature = loss.at(np.array([0.0, z]), pair, Work()).curvature
        found.append(0.0 if curvature is None else float(curvature.product(np.array([0.0, 1.0]), Work())[1]))
    return max(found)
