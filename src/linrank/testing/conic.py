"""Minima with an elastic net and bounds, found by solvers that know nothing of rankings: pairs are listed one by one.

The hinge, the squared hinge and the logistic loss are conic programmes, which clarabel solves (``linrank[test]``); the
logistic's stand-in by erfc goes to scipy's L-BFGS-B, with w = p - n for p, n >= 0. Any w bounds the minimum from above,
so a certificate that contradicts `minimum` is false, whatever may be wrong here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize

from .._typing import FloatArray
from ..losses import Loss
from ..penalties import ElasticNet
from .naive import Pairs
from .optimum import NaiveObjective, Optimum


def random_penalty(rng: np.random.Generator, d: int) -> ElasticNet:
    """An l1 part, bounds, both, an l1 part alone, bounds that exclude 0, or the same ones for every weight."""
    alpha, l1_ratio, kind = 10.0 ** rng.uniform(-3, 1), rng.uniform(0.05, 0.95), rng.integers(7)
    lower = np.where(rng.random(d) < 0.5, -rng.uniform(0, 1, d) * (rng.random(d) < 0.6), -np.inf)
    upper = np.where(rng.random(d) < 0.5, rng.uniform(0, 1, d) * (rng.random(d) < 0.6), np.inf)
    apart = rng.uniform(-1, 1, d)
    width = rng.uniform(0, 1, d) * (rng.random(d) < 0.9)
    kinds = (
        ElasticNet(alpha, l1_ratio),
        ElasticNet(alpha, 0.0, lower, upper),
        ElasticNet(alpha, l1_ratio, lower, upper),
        ElasticNet(alpha, 1.0),
        ElasticNet(alpha, 1.0, lower, upper),
        ElasticNet(alpha, l1_ratio * rng.integers(2), apart, apart + width),
        ElasticNet(alpha, l1_ratio * rng.integers(2), 0.05, 0.5),
    )
    return kinds[kind]


class PenalisedObjective(NaiveObjective):
    """P(w) + the mean of c phi(D w), P an elastic net with bounds."""

    def __init__(
        self, loss: Loss, X: FloatArray, pairs: Pairs, penalty: ElasticNet, scale: FloatArray | None = None
    ) -> None:
        super().__init__(loss, X, pairs, penalty.curvature, scale)
        d = self.D.shape[1]
        self.name, self.beta = loss.name, np.longdouble(penalty.beta)
        self.lower, self.upper = (np.broadcast_to(bound, d) for bound in (penalty.lower, penalty.upper))

    def value(self, w: FloatArray) -> float:
        """f(w), infinite outside of the bounds."""
        if np.any(w < self.lower) or np.any(w > self.upper):
            return np.inf
        return super().value(w) + self.beta * np.abs(w.astype(np.longdouble)).sum()

    def minimum(self) -> Optimum:
        """About the minimum, and what the solver says bounds it from below (without proof)."""
        w, lower = self._by_descent() if self.name == "logistic_erfc" else self._conic()
        w = np.clip(w, self.lower, self.upper)
        return Optimum(w, self.value(w), lower)

    def _by_descent(self) -> tuple[FloatArray, float]:
        """Where w = p - n: bounds of p and n together are those of w."""
        d, beta = self.D.shape[1], float(self.beta)
        most, least = np.maximum(self.upper, 0.0), np.maximum(-self.lower, 0.0)
        ends = [
            *zip(np.maximum(self.lower, 0.0), most, strict=True),
            *zip(np.maximum(-self.upper, 0.0), least, strict=True),
        ]

        def both(x: FloatArray) -> tuple[float, FloatArray]:
            w = x[:d] - x[d:]
            g = self.gradient(w).astype(float)
            smooth = super(PenalisedObjective, self).value(w)
            return float(smooth) + beta * float(x.sum()), np.r_[g + beta, beta - g]

        start = np.array([np.clip(0.0, *end) for end in ends])
        options = {"ftol": 1e-16, "gtol": 1e-11, "maxiter": 100_000, "maxfun": 100_000}
        found = minimize(both, start, jac=True, method="L-BFGS-B", bounds=ends, options=options)
        return found.x[:d] - found.x[d:], np.nan

    def _conic(self) -> tuple[FloatArray, float]:
        import clarabel

        programme = self._programme()
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
        found = clarabel.DefaultSolver(*programme, settings).solve()
        return np.array(found.x)[: self.D.shape[1]], float(found.obj_val_dual)

    def _programme(self) -> tuple[Any, ...]:
        """Variables w, a >= |w|, t >= phi of each pair, and for the logistic loss u >= e^(-z - t), v >= e^-t.

        Minimise x Q x/2 + q.x with A x + s = b, s in the cones.
        """
        import clarabel

        D, c, (n, d) = self.D.astype(float), self.c.astype(float), self.D.shape
        logistic = self.name == "logistic"
        width = 2 * d + (3 if logistic else 1) * n
        at = {"w": 0, "a": d, "t": 2 * d, "u": 2 * d + n, "v": 2 * d + 2 * n}

        def part(**blocks: Any) -> Any:
            """Rows with these blocks in the columns of their variables."""
            rows = next(iter(blocks.values())).shape[0]
            out = sp.lil_array((rows, width))
            for name, block in blocks.items():
                out[:, at[name] : at[name] + block.shape[1]] = block
            return out.tocsc()

        J, E, q = sp.eye_array(d), sp.eye_array(n), np.zeros(width)
        q[d : 2 * d] = float(self.beta)
        diagonal = np.zeros(width)
        diagonal[:d] = float(self.alpha)
        if self.name == "squared_hinge":
            diagonal[2 * d : 2 * d + n] = 2.0 * c
        else:
            q[2 * d : 2 * d + n] = c
        low, high = np.isfinite(self.lower), np.isfinite(self.upper)
        blocks = [(part(w=J, a=-J), np.zeros(d)), (part(w=-J, a=-J), np.zeros(d))]
        blocks += [(part(w=-J.tocsr()[low]), -self.lower[low]), (part(w=J.tocsr()[high]), self.upper[high])]
        blocks = [block for block in blocks if block[1].size]
        if not logistic:
            blocks += [(part(t=-E), np.zeros(n)), (part(w=-D, t=-E), -np.ones(n))]
        else:
            blocks += [(part(u=E, v=E), np.ones(n))]
        cones: list[Any] = [clarabel.NonnegativeConeT(sum(block[1].size for block in blocks))]
        if logistic:  # (x, y, z) with y e^(x/y) <= z, pair by pair
            none, one = sp.csc_array((n, width)), np.ones(n)
            for x, z in ((part(w=D, t=E), part(u=-E)), (part(t=E), part(v=-E))):
                order = np.arange(3 * n).reshape(3, n).T.ravel()
                rows = sp.vstack([x, none, z]).tocsr()[order]
                blocks.append((rows, np.r_[np.zeros(n), one, np.zeros(n)][order]))
                cones += [clarabel.ExponentialConeT()] * n
        A, b = sp.vstack([rows for rows, _ in blocks]).tocsc(), np.concatenate([right for _, right in blocks])
        return sp.diags_array(diagonal).tocsc(), q, sp.csc_matrix(A), b, cones
