"""What a loss is: a convex function of scores, as sums over rankings. It knows nothing of X, w, N, threads or devices.

A loss evaluates one block of rankings at a time: `at(scores, rankings, work)`. It never maps; whoever holds the blocks
evaluates them where they lie and adds up their sums.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

from .._errors import ParameterError
from .._typing import FloatArray
from .._work import Work
from ..data.rankings import Rankings

#: A mean loss below minus this is negative by more than rounding.
LEAST = 1e-9
#: A sum of steps, each a pair of 2 a and m: phi''(z) = sum of 2 a [z < m]. Given as all a, then all m.
Steps = tuple[tuple[float, ...], tuple[float, ...]]


class HingeSums(NamedTuple):
    """What the Huberised hinge tells of the hinge: sums over pairs, each weighted by c_ij."""

    slope: float  # of -phi': the pairs' weights in the hinge's dual, whose mean bounds its minimum from below
    hinge: float  # of max(0, 1 - z)
    slope_error: float  # how far rounding may have moved the first

    def __add__(self, other: tuple[float, ...]) -> HingeSums:  # type: ignore[override]
        return HingeSums(*(a + b for a, b in zip(self, other, strict=True)))


class Sums(NamedTuple):
    """Numbers that add up: over the rankings of a block, blocks, threads, devices and machines.

    Attributes
    ----------
    value : float
        Sum of c_ij phi(s_i - s_j): the loss.
    weight : float
        Sum of c_ij: N. The mean loss is value / weight.
    error : float
        Of the value, beyond what rounding does to hinge-like sums: certificates add it.
    gradient_error : float
        Of the gradient's entries, beyond rounding, summed up: certificates add it.
    hinge : HingeSums or None
        Told by the Huberised hinge alone.
    slope : float
        g.d, where the loss was evaluated on a line s + t d. An engine's part, as is
    size : float
        |g|.|s|, the size of the terms that cancel in g.s: it tells how much rounding there is.
    """

    value: float = 0.0
    weight: float = 0.0
    error: float = 0.0
    gradient_error: float = 0.0
    hinge: HingeSums | None = None
    slope: float = 0.0
    size: float = 0.0

    def __add__(self, other: Sums) -> Sums:  # type: ignore[override]
        hinge = self.hinge or other.hinge if self.hinge is None or other.hinge is None else self.hinge + other.hinge
        return Sums(
            self.value + other.value,
            self.weight + other.weight,
            self.error + other.error,
            self.gradient_error + other.gradient_error,
            hinge,
            self.slope + other.slope,
            self.size + other.size,
        )


def add_sums(parts: list[Sums]) -> Sums:
    """The sums of all parts, added in their order; there may be none."""
    return reduce(Sums.__add__, parts) if parts else Sums()


@runtime_checkable
class Curvature(Protocol):
    """The Hessian of a block's loss at given scores, a matrix over its members."""

    def product(self, v: FloatArray, work: Work) -> FloatArray:
        """Hessian times a vector over the members, in an array of its own."""


@dataclass(frozen=True)
class LossPoint:
    """What is known of a block's loss at given scores: sums, a (sub)gradient over the members, and its curvature."""

    sums: Sums
    gradient: FloatArray
    curvature: Curvature | None = None  # None: the loss is not smooth


class Loss(ABC):
    """A convex function of the scores: the sum of c_ij phi(s_i - s_j) over the preferences, or any that adds up.

    It is nowhere negative: certificates take 0 for a bound. One instance serves several threads and folds at once, so
    it keeps nothing of a call.
    """

    name: ClassVar[str] = "own"
    smooth: ClassVar[bool] = True  # whether its points have a curvature
    strength: ClassVar[float] = 1.0  # the factor of alpha="auto", which evens out that losses differ in steepness
    steps: Steps | None = None  # phi'' where it is a sum of steps: an exact Hessian then takes one sweep

    @abstractmethod
    def at(self, scores: FloatArray, rankings: Rankings, work: Work) -> LossPoint:
        """Evaluate one block at its members' scores.

        The scores may be kept, as they are not changed any more. Memory that `work` lends may not: the answer's arrays
        are its own. `work` is lent to one task at a time.
        """

    def at_zero(self, rankings: Rankings, work: Work) -> Sums:
        """The sums where all scores are equal; a loss may know them without adding up."""
        return self.at(np.zeros(rankings.n_members), rankings, work).sums

    def probability(self, z: FloatArray) -> FloatArray | None:
        """Probability of i over j by z = s_i - s_j, for losses that are a likelihood; else None."""
        return None

    def smoothed(self, mu: float) -> Loss | None:
        """A smooth loss within mu/2 of this one that tells `Sums.hinge`; None where there is none."""
        return None


class AnyLoss(Protocol):
    """As much of a loss as rankers ask for: anybody's class with these will do; what else `Loss` has is optional."""

    @property
    def name(self) -> str:
        """Its name, for progress, messages and model files."""

    @property
    def smooth(self) -> bool:
        """Whether its points have a curvature."""

    def at(self, scores: FloatArray, rankings: Rankings, work: Work) -> LossPoint:
        """Evaluate one block at its members' scores."""


@dataclass(frozen=True)
class OwnLoss(Loss):
    """Somebody's own loss: what it does not say is as Loss has it, and its answers are looked at before kernels are."""

    given: AnyLoss

    @property
    def name(self) -> str:  # type: ignore[override]
        """Its name."""
        return self.given.name

    @property
    def smooth(self) -> bool:  # type: ignore[override]
        """Whether its points have a curvature."""
        return self.given.smooth

    @property
    def steps(self) -> Steps | None:  # type: ignore[override]
        """Steps whose sum is phi''."""
        return self.given.steps if self._says("steps") else None  # type: ignore[attr-defined]

    def at(self, scores: FloatArray, rankings: Rankings, work: Work) -> LossPoint:
        """Evaluate one block."""
        point = self.given.at(scores, rankings, work)
        if not isinstance(point, LossPoint):
            raise self._wrong("does not answer by a LossPoint", "give LossPoint(Sums(value, weight), gradient)")
        self._check(point.sums, rankings)
        if self.smooth and point.curvature is None:
            raise self._wrong("says that it is smooth, but has no curvature", "set smooth = False, or give one")
        curvature = None if point.curvature is None else OwnCurvature(self, point.curvature)
        return LossPoint(point.sums, self.vector("gradient", point.gradient, rankings.n_members), curvature)

    def at_zero(self, rankings: Rankings, work: Work) -> Sums:
        """The sums where all scores are equal."""
        if not self._says("at_zero"):
            return super().at_zero(rankings, work)
        sums: Sums = self.given.at_zero(rankings, work)  # type: ignore[attr-defined]
        self._check(sums, rankings)
        return sums

    def probability(self, z: FloatArray) -> FloatArray | None:
        """Probability of i over j."""
        answer: FloatArray | None = getattr(self.given, "probability", super().probability)(z)
        return answer

    def smoothed(self, mu: float) -> Loss | None:
        """A smooth loss beside it."""
        smooth = self.given.smoothed(mu) if self._says("smoothed") else None  # type: ignore[attr-defined]
        return None if smooth is None else OwnLoss(smooth)

    def _says(self, name: str) -> bool:
        """Whether the loss says this of itself: what it inherits from a class above that of `at` is another loss's."""
        levels: list[Any] = [getattr(self.given, "__dict__", {}), *map(vars, type(self.given).__mro__)]
        first = next(level for level in levels if name in level or "at" in level)
        return name in first

    def vector(self, what: str, values: FloatArray, size: int) -> FloatArray:
        """An answer as kernels take it: they do not look how long it is."""
        if np.shape(values) != (size,):
            shape = f"shape {np.shape(values)} for {size} members"
            raise self._wrong(f"gives a {what} of {shape}", "give an entry for each member of the block")
        return np.ascontiguousarray(values, dtype=np.float64)

    def _check(self, sums: Sums, rankings: Rankings) -> None:
        if not isinstance(sums, Sums):
            raise self._wrong("does not tell its sums", "give linrank.losses.Sums(value, weight)")
        if not sums.weight > 0 and rankings.weight > 0:
            raise self._wrong("gives sums without a weight", "say what they are divided by, mostly rankings.weight")
        if sums.value < -LEAST * sums.weight - sums.error:
            raise self._wrong("is negative, and solvers take 0 for a bound", "add a constant to it")

    def _wrong(self, what: str, cure: str) -> ParameterError:
        return ParameterError(f"The loss {self.name!r} {what}: {cure}.")


@dataclass(frozen=True)
class OwnCurvature:
    """The curvature of somebody's own loss."""

    loss: OwnLoss
    given: Curvature

    def product(self, v: FloatArray, work: Work) -> FloatArray:
        """Hessian times a vector over the members."""
        return self.loss.vector("product", self.given.product(v, work), v.size)
