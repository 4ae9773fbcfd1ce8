"""Stochastic Pairwise Descent to the letter: Sculley, Large Scale Learning to Rank, 2009. Lists and loops, no tricks.

D is a list of examples (x, y, q). `spd` is Algorithm 1; `rejected_pair` and `indexed_pair` are the two GetRandomPairs
of section 3.1, the rest are the StochasticGradientSteps of section 3.2, in the paper's words and its symbols: lam is
its lambda, y the sign of a pair. `linrank.stochastic` makes the same steps; where it means something else, its docs say
so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._typing import FloatArray

Example = tuple[FloatArray, float, Any]
Pair = tuple[Example, Example]
Step = Callable[[FloatArray, FloatArray, float, int], FloatArray]


def spd(get_random_pair: Callable[[], Pair], step: Step, t: int, n_features: int) -> list[FloatArray]:
    """Algorithm 1: the weights w_0, w_1, ..., w_t."""
    w = [np.zeros(n_features)]
    for i in range(1, t + 1):
        (a, y_a, _), (b, y_b, _) = get_random_pair()
        x = a - b
        y = sign(y_a - y_b)
        w.append(step(w[i - 1], x, y, i))
    return w


def sign(p: float) -> float:
    """+1 for p > 0, -1 for p < 0."""
    return 1.0 if p > 0 else -1.0


def hinge_loss(x: FloatArray, y: float, w: FloatArray) -> float:
    """max(0, 1 - <w, y x>)."""
    return max(0.0, 1.0 - float(w @ (y * x)))


class Index(NamedTuple):
    """Nested hash tables: Q, Y[q] and P[q][y]."""

    Q: list[Any]
    Y: dict[Any, list[float]]
    P: dict[Any, dict[float, list[Example]]]


def create_index(D: list[Example]) -> Index:
    """CreateIndex, in linear time. A query without two values of y is left out: no y_b could be selected from it."""
    P: dict[Any, dict[float, list[Example]]] = {}
    for x, y, q in D:
        P.setdefault(q, {}).setdefault(y, []).append((x, y, q))
    Y = {q: list(levels) for q, levels in P.items() if len(levels) > 1}
    return Index(list(Y), Y, P)


def rejected_pair(D: list[Example], rng: np.random.Generator) -> Pair:
    """Sampling without an index: select two examples until y_a != y_b and q_a = q_b."""
    while True:
        a, b = D[rng.integers(len(D))], D[rng.integers(len(D))]
        if a[1] != b[1] and a[2] == b[2]:
            return a, b


def indexed_pair(index: Index, rng: np.random.Generator) -> Pair:
    """Indexed sampling: q from Q, y_a from Y[q], y_b from Y[q] - y_a, then an example of each, all uniformly."""
    q = index.Q[rng.integers(len(index.Q))]
    y_a = index.Y[q][rng.integers(len(index.Y[q]))]
    others = [y for y in index.Y[q] if y != y_a]
    y_b = others[rng.integers(len(others))]
    at_a, at_b = index.P[q][y_a], index.P[q][y_b]
    return at_a[rng.integers(len(at_a))], at_b[rng.integers(len(at_b))]


def sgd_svm(lam: float) -> Step:
    """SGD SVM: updates only when the hinge loss is non-zero; eta_i = 1/(lam i)."""

    def step(w: FloatArray, x: FloatArray, y: float, i: int) -> FloatArray:
        if hinge_loss(x, y, w) == 0:
            return w
        eta = 1 / (lam * i)
        return w + eta * y * x - eta * lam * w

    return step


def pegasos(lam: float) -> Step:
    """The same step, then w is projected back into the ball of radius 1/sqrt(lam)."""
    sub_gradient_step = sgd_svm(lam)

    def step(w: FloatArray, x: FloatArray, y: float, i: int) -> FloatArray:
        w = sub_gradient_step(w, x, y, i)
        length = math.sqrt(w @ w)
        return w if length <= 1 / math.sqrt(lam) else w / (length * math.sqrt(lam))

    return step


def passive_aggressive(C: float) -> Step:
    """PA-I: w + tau y x, tau = min(C, loss / |x|^2)."""

    def step(w: FloatArray, x: FloatArray, y: float, i: int) -> FloatArray:
        loss = hinge_loss(x, y, w)
        return w if loss == 0 else w + min(C, loss / float(x @ x)) * y * x

    return step


def romma() -> Step:
    """Aggressive ROMMA: c w + d x, on any example with positive hinge loss.

    The formula needs a w that is not 0; the first is x / |x|^2 with the sign of y, as in Li and Long, 2002.
    """

    def step(w: FloatArray, x: FloatArray, y: float, i: int) -> FloatArray:
        if hinge_loss(x, y, w) == 0:
            return w
        xx, ww, xw = float(x @ x), float(w @ w), float(x @ w)
        if ww == 0:
            return y * x / xx
        c = (xx * ww - y * xw) / (xx * ww - xw**2)
        d = ww * (y - xw) / (xx * ww - xw**2)
        return c * w + d * x

    return step


def perceptron(margin: float = 0.0) -> Step:
    """Section 3.4: w + y x on an example within the margin; 0 is the plain Perceptron."""

    def step(w: FloatArray, x: FloatArray, y: float, i: int) -> FloatArray:
        return w + y * x if y * float(w @ x) <= margin else w

    return step
