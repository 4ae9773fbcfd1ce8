"""Planes below the mean loss, and the model that they make with the penalty.

Every subgradient a at w gives a plane below the mean loss, R(w') >= a.w' + b. For any x in the simplex the combination
of planes is one as well, so b.x - P*(-A^T x) is below the minimum of f. We compute that value from the planes
ourselves, so the bound is right even where the quadratic programme's answer is not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._typing import FloatArray
from ...objective import EPS, Objective, Point
from ...penalties import Penalty
from .simplex import maximise_over_simplex

FIRST_ROOM = 16  # planes


class PlaneError(NamedTuple):
    """How far planes may be off because the loss's sums are approximate: mostly 0."""

    value: float = 0.0
    gradient: float = 0.0
    farthest: float = 0.0  # |w| of the points where they touch the risk

    def joined(self, point: Point) -> PlaneError:
        """With one more plane, at a point."""
        value, gradient = max(self.value, point.error), max(self.gradient, point.gradient_error)
        return PlaneError(value, gradient, max(self.farthest, math.sqrt(float(point.w @ point.w))))

    def at_minimiser(self, objective: Objective) -> float:
        """How far a plane may lie above the risk at the minimiser, where the penalty is at most f(0)."""
        away = self.farthest + objective.penalty.radius(objective.value_at_zero)
        return self.value + (self.gradient * away if self.gradient > 0.0 else 0.0)


class Planes(NamedTuple):
    """Planes a.w + b below the mean loss: they hold for every penalty."""

    a: FloatArray  # (n, d)
    b: FloatArray  # (n,)
    error: PlaneError


class Minimum(NamedTuple):
    """The minimum of a model: its place, its value, and the planes' maximum there."""

    w: FloatArray
    value: float
    risk: float


@dataclass(frozen=True)
class Model:
    """Planes, their Gram matrix and their multipliers, which lie in the simplex.

    A model is a value. Those that grow out of it by one plane share its room, which is filled from the front: so only
    the newest of them may grow further.
    """

    a: FloatArray  # (room, d)
    b: FloatArray  # (room,)
    G: FloatArray  # (room, room)
    x: FloatArray  # (n,)
    idle: NDArray[np.int64]  # (n,) minimisations since a plane had weight
    most: int  # planes kept
    max_idle: int  # minimisations a plane is kept without weight, once room is short
    error: PlaneError

    @staticmethod
    def empty(n_features: int, most: int, max_idle: int) -> Model:
        """No plane."""
        a, G = np.empty((FIRST_ROOM, n_features)), np.empty((FIRST_ROOM, FIRST_ROOM))
        return Model(a, np.empty(FIRST_ROOM), G, np.empty(0), np.empty(0, dtype=np.int64), most, max_idle, PlaneError())

    @property
    def n(self) -> int:
        """Number of planes."""
        return self.x.size

    def planes(self) -> Planes:
        """The planes held, without spare room."""
        return Planes(self.a[: self.n].copy(), self.b[: self.n].copy(), self.error)

    def with_all(self, planes: Planes) -> Model:
        """With planes found earlier."""
        model = replace(self, error=planes.error)
        for a, b in zip(planes.a, planes.b, strict=True):
            model = model.with_plane(a, float(b))
        return model

    def with_plane(self, a: FloatArray, b: float) -> Model:
        """With one plane more; it starts without weight, but the first has all."""
        model = self
        if model.n == model.b.size:
            model = model._keeping(np.flatnonzero(model.idle <= model.max_idle))
        if model.n >= model.most:
            model = model._merged()
        if model.n == model.b.size:
            model = model._roomier()
        k = model.n
        model.a[k], model.b[k] = a, b
        model.G[k, : k + 1] = model.a[: k + 1] @ a
        model.G[: k + 1, k] = model.G[k, : k + 1]
        return replace(model, x=np.append(model.x, 1.0 if k == 0 else 0.0), idle=np.append(model.idle, 0))

    def touching(self, point: Point) -> Model | None:
        """With the plane that touches the risk at a point; None where it overflows.

        It is lowered by what rounding may have done to it: far away, where scores are large, that is much.
        """
        a = point.risk_gradient
        rounding = point.risk_rounding + 4.0 * EPS * float(np.abs(point.w) @ np.abs(a))
        b = point.risk - float(point.w @ a) - rounding
        if not np.isfinite(b) or not np.isfinite(float(a @ a)):
            return None
        return replace(self.with_plane(a, b), error=self.error.joined(point))

    def minimised(self, penalty: Penalty) -> tuple[Model, Minimum]:
        """With the multipliers at which planes and penalty have their minimum, and that minimum."""
        n, c = self.n, penalty.curvature
        x = np.maximum(maximise_over_simplex(self.G[:n, :n], self.b[:n], c, self.x), 0.0)
        x /= x.sum()
        support = np.flatnonzero(x)
        v = -(x[support] @ self.a[support])
        value = float(x @ self.b[:n]) - penalty.conjugate(v)
        risk = float(np.max(self.b[:n] - self.G[:n, :n] @ x / c))  # A w = -G x / c
        model = replace(self, x=x, idle=np.where(x > 0, 0, self.idle + 1))
        return model, Minimum(penalty.minimiser(v), value, risk)

    def _merged(self) -> Model:
        """The oldest planes replaced by the model's own combination of all: a plane, too, and with the same bound."""
        n = self.n
        a, b = self.x @ self.a[:n], float(self.x @ self.b[:n])
        kept = self._keeping(np.arange(n - self.most // 2, n))
        model = replace(kept, x=np.zeros(kept.n)).with_plane(a, b)
        model.x[-1] = 1.0
        return model

    def _keeping(self, keep: NDArray[np.intp]) -> Model:
        """Without all other planes: if those have no weight, the bound stands without them."""
        k, a, b, G = keep.size, np.empty_like(self.a), np.empty_like(self.b), np.empty_like(self.G)
        a[:k], b[:k], G[:k, :k] = self.a[keep], self.b[keep], self.G[np.ix_(keep, keep)]
        return replace(self, a=a, b=b, G=G, x=self.x[keep], idle=self.idle[keep])

    def _roomier(self) -> Model:
        """In twice the room."""
        n, room = self.n, 2 * self.b.size
        a, b, G = np.empty((room, self.a.shape[1])), np.empty(room), np.empty((room, room))
        a[:n], b[:n], G[:n, :n] = self.a[:n], self.b[:n], self.G[:n, :n]
        return replace(self, a=a, b=b, G=G)
