"""P-SWX, DCM and OST RankSVM to the letter.

Jin and Lin, "Efficient parallel algorithms for linear RankSVM on GPU", 2014: in plain numpy, without a GPU.

    f(w) = w.w / 2 + C sum over (i, j) in P of max(0, 1 - w.(x_i - x_j))^2                            (1)

P holds the pairs of one query with y_i > y_j. (The "min" within the paper's (1) belongs before it.) The fast routines
that do the same are `losses.SquaredHinge` and `solvers.Tron`, with alpha = 1 / (C |P|) and f divided by C |P|.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .order_statistics_tree import OrderStatisticsTree
from .treersvm import ascending, descending

FloatArray = NDArray[np.float64]


# ---- the parameters of each row --------------------------------------------------------------------------------------


class Parameters(NamedTuple):
    """Equations (5) and (10), for the rows of one query.

    SV+ of a row (9): the rows above it, y_j > y_i, with 1 - w.(x_j - x_i) > 0; SV- of a row: those below it, y_j < y_i,
    with 1 - w.(x_i - x_j) > 0.
    """

    beta_plus: FloatArray  # |SV+|
    beta_minus: FloatArray  # |SV-|
    alpha_plus: FloatArray  # sum over SV+ of x_j.v
    alpha_minus: FloatArray
    gamma_plus: FloatArray  # sum over SV+ of w.x_j
    gamma_minus: FloatArray


#: From w.x_i, y_i and x_i.v of one query to its parameters.
Counting = Callable[[FloatArray, FloatArray, FloatArray], Parameters]


def p_swx(wX: FloatArray, y: FloatArray, Xv: FloatArray) -> Parameters:
    """P-SWX, Algorithm 2: one thread block, whose threads i each go over j = 1 ... |X_t|. O(|X_t|) steps a thread.

    The threads go in step, as the entries of a vector. Two readings. The printed loops end at the first j outside SV+
    or SV-, and so at the first one whose label is on the wrong side; meant is the end of the window, scores being
    sorted, with the label asked for inside of it. Definition 1's SV_t leaves the labels out, but p_t, its size, is
    said to be the sum of beta+: equation (9), which asks for them, is taken.
    """
    pi = np.argsort(wX, kind="stable")  # the sort of section 3.2, by which the inputs are w.X'_t, Y'_t and X'_t.v
    s, label, xv = wX[pi], y[pi], Xv[pi]
    beta_plus, beta_minus, alpha_plus, alpha_minus, gamma_plus, gamma_minus = np.zeros((6, pi.size))  # line 1
    for j in range(pi.size):  # lines 2, 3 and 7
        in_sv = (label[j] > label) & (1.0 - (s[j] - s) > 0)
        alpha_plus[in_sv] += xv[j]  # line 4
        beta_plus[in_sv] += 1  # line 5
        gamma_plus[in_sv] += s[j]  # line 6
    for j in reversed(range(pi.size)):  # lines 9, 10 and 14
        in_sv = (label[j] < label) & (1.0 - (s - s[j]) > 0)
        alpha_minus[in_sv] += xv[j]  # line 11
        beta_minus[in_sv] += 1  # line 12
        gamma_minus[in_sv] += s[j]  # line 13
    back = np.argsort(pi)
    sums = (beta_plus, beta_minus, alpha_plus, alpha_minus, gamma_plus, gamma_minus)
    return Parameters(*(each[back] for each in sums))


def dcm(wX: FloatArray, y: FloatArray, Xv: FloatArray) -> Parameters:
    """The direct counting method (section 2.1): a pass over the sorted scores for each of k levels. O(l k)."""
    (beta_plus, beta_minus), (plus, minus) = np.zeros((2, y.size)), np.zeros((2, y.size), dtype=complex)
    both, label = _both(wX, Xv), y.tolist()
    for level in np.unique(y).tolist():
        count, total = 0, 0j
        for i, entering in ascending(wX):
            here = [both[j] for j in entering if label[j] == level]
            count, total = count + len(here), total + sum(here)
            if label[i] < level:
                beta_plus[i], plus[i] = beta_plus[i] + count, plus[i] + total
        count, total = 0, 0j
        for i, entering in descending(wX):
            here = [both[j] for j in entering if label[j] == level]
            count, total = count + len(here), total + sum(here)
            if label[i] > level:
                beta_minus[i], minus[i] = beta_minus[i] + count, minus[i] + total
    return Parameters(beta_plus, beta_minus, plus.imag, minus.imag, plus.real, minus.real)


def ost(wX: FloatArray, y: FloatArray, Xv: FloatArray) -> Parameters:
    """By an order-statistic tree over labels (section 2.1): TreeRSVM's sweeps, with sums in the nodes. O(l log k)."""
    (beta_plus, beta_minus), (plus, minus) = np.zeros((2, y.size)), np.zeros((2, y.size), dtype=complex)
    both, label = _both(wX, Xv), y.tolist()
    tree = OrderStatisticsTree()
    for i, entering in ascending(wX):
        for j in entering:
            tree.insert(label[j], both[j])
        beta_plus[i], plus[i] = tree.larger(label[i])
    tree = OrderStatisticsTree()
    for i, entering in descending(wX):
        for j in entering:
            tree.insert(label[j], both[j])
        beta_minus[i], minus[i] = tree.smaller(label[i])
    return Parameters(beta_plus, beta_minus, plus.imag, minus.imag, plus.real, minus.real)


def _both(wX: FloatArray, Xv: FloatArray) -> list[complex]:
    """Two sums at once: gamma by real parts, alpha by imaginary ones."""
    return (wX + 1j * Xv).tolist()


# ---- objective, gradient, Hessian-vector product ---------------------------------------------------------------------


class RankSVM:
    """Equation (1) and its derivatives, query by query: equations (11) to (13), or (6) to (8) for one query.

    Parameters
    ----------
    X, y, qid : rows, labels, and the query of each row; None: one query.
    C : float
        1 in section 4.
    counting : `p_swx`, `dcm` or `ost`
        P-SWXRankSVM, DCMRankSVM or OSTRankSVM.
    """

    def __init__(
        self, X: Any, y: ArrayLike, qid: ArrayLike | None = None, C: float = 1.0, counting: Counting = p_swx
    ) -> None:
        self.X, self.y, self.C, self.counting = X, np.asarray(y, dtype=np.float64), C, counting
        query = np.zeros(self.y.size) if qid is None else np.asarray(qid)
        order = np.argsort(query, kind="stable")
        ends = np.flatnonzero(np.diff(np.unique(query[order], return_inverse=True)[1])) + 1
        self.blocks = np.split(order, ends)  # the rows of each query: worksets (14)

    def parameters(self, wX: FloatArray, Xv: FloatArray) -> Parameters:
        """Theorem 1: a row's parameters depend on the rows of its query alone, so that each query is one block."""
        found = Parameters(*np.zeros((6, self.y.size)))
        for rows in self.blocks:
            for whole, part in zip(found, self.counting(wX[rows], self.y[rows], Xv[rows]), strict=True):
                whole[rows] = part
        return found

    def value_and_gradient(self, w: FloatArray) -> tuple[float, FloatArray]:
        """Equations (11) and (12), p_t = sum of beta+ over the rows of a query. O(l n) beside the counting."""
        s = self.X @ w
        q = self.parameters(s, s)
        AAs = (q.beta_plus + q.beta_minus) * s - (q.gamma_plus + q.gamma_minus)  # A_w^T A_w X w
        Ae = q.beta_minus - q.beta_plus  # A_w^T e_w; e_w has p_w entries, not p_w x l
        p = float(q.beta_plus.sum())
        value = 0.5 * float(w @ w) + self.C * (float(s @ (AAs - 2.0 * Ae)) + p)
        return value, w + 2.0 * self.C * (self.X.T @ (AAs - Ae))

    def product(self, w: FloatArray, v: FloatArray) -> FloatArray:
        """Equation (13), the generalised Hessian times v. O(l n) beside the counting."""
        Xv = self.X @ v
        q = self.parameters(self.X @ w, Xv)
        AAv = (q.beta_plus + q.beta_minus) * Xv - (q.alpha_plus + q.alpha_minus)  # A_w^T A_w X v
        return v + 2.0 * self.C * (self.X.T @ AAv)


# ---- trust-region Newton ---------------------------------------------------------------------------------------------

#: Lin, Weng and Keerthi's: least part of the promised decrease that a step must bring, and the bounds of a poor and of
#: a good one; factors of the radius; relative residual at which conjugate gradients end.
ETA, SIGMA, XI = (1e-4, 0.25, 0.75), (0.25, 0.5, 4.0), 0.1


class Iterate(NamedTuple):
    """What an outer iteration begins with."""

    w: FloatArray
    value: float
    gradient_norm: float
    radius: float


class Trained(NamedTuple):
    """The last point, f there, whether (3) was reached, and the iterations."""

    w: FloatArray
    value: float
    converged: bool
    iterations: list[Iterate]


def tron(problem: RankSVM, eps_s: float = 1e-5, max_iter: int = 1000) -> Trained:
    """Trust-region Newton from 0: Algorithm 1, until |grad f(w)| <= eps_s |grad f(0)|, equation (3).

    Readings. Delta_0 = 0 would permit no step: as in LIBLINEAR 1.94, whose method the paper follows, Delta_0 is
    |grad f(0)|. "Update w" is a step only where f falls by enough. The radius is updated by the rules of Lin, Weng and
    Keerthi, which give intervals; the value within is LIBLINEAR's, by a parabola through both values and the slope, and
    so is the cut of the radius to the length of the first step.
    """
    w = np.zeros(problem.X.shape[1])
    value, g = problem.value_and_gradient(w)
    radius = goal = float(np.linalg.norm(g))
    iterations, moved = list[Iterate](), False
    for _ in range(max_iter + 1):  # line 2: while d <= N
        iterations.append(Iterate(w, value, float(np.linalg.norm(g)), radius))
        if iterations[-1].gradient_norm <= eps_s * goal:  # line 4
            return Trained(w, value, True, iterations)
        v, residual = conjugate_gradients(problem, w, g, radius)  # line 7
        there, g_there = problem.value_and_gradient(w + v)
        length, slope = float(np.linalg.norm(v)), float(g @ v)
        promised, fallen = -0.5 * (slope - float(v @ residual)), value - there
        if not moved:
            radius = min(radius, length)
        radius = _next_radius(radius, length, slope, fallen, promised)  # line 8
        if fallen > ETA[0] * promised:
            w, value, g, moved = w + v, there, g_there, True
    return Trained(w, value, False, iterations)


def _next_radius(radius: float, length: float, slope: float, fallen: float, promised: float) -> float:
    beyond = -fallen - slope
    ideal = length * (SIGMA[2] if beyond <= 0 else max(SIGMA[0], -0.5 * slope / beyond))
    if fallen < ETA[0] * promised:
        return min(ideal, SIGMA[1] * radius)
    if fallen < ETA[1] * promised:
        return max(SIGMA[0] * radius, min(ideal, SIGMA[1] * radius))
    if fallen < ETA[2] * promised:
        return max(SIGMA[0] * radius, min(ideal, SIGMA[2] * radius))
    return max(radius, min(ideal, SIGMA[2] * radius))


def conjugate_gradients(problem: RankSVM, w: FloatArray, g: FloatArray, radius: float) -> tuple[FloatArray, FloatArray]:
    """The inner iterations: the subproblem (2), min g.v + v.H v / 2 with |v| <= Delta; v, and the residual -g - H v.

    They end at a residual of XI |g|, or where v reaches the boundary. One product (13) each.
    """
    v, r = np.zeros_like(g), -g
    d, end = r, XI * float(np.linalg.norm(g))
    while np.linalg.norm(r) > end:
        Hd = problem.product(w, d)
        t = float(r @ r) / float(d @ Hd)
        if np.linalg.norm(v + t * d) > radius:
            vd, dd = float(v @ d), float(d @ d)  # |v + t d| = Delta, a quadratic equation for t
            t = (-vd + np.sqrt(vd * vd + dd * (radius**2 - float(v @ v)))) / dd
            return v + t * d, r - t * Hd
        v, r, before = v + t * d, r - t * Hd, float(r @ r)
        d = r + (float(r @ r) / before) * d
    return v, r
