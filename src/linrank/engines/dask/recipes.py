"""Recipes: how scores and evaluations that a worker has lost are made again, to the same bits.

Workers keep what they have computed under a key. A message names the key alone; only where a worker no longer has it,
the recipe follows: the weights w of a product X w, and the evaluations that stepped on from there, in their order.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

from ..._typing import FloatArray
from ...losses import Loss

#: After so many steps along lines scores are made from w anew: a recipe is no longer than that.
REFRESH = 16


class Known(NamedTuple):
    """What a worker should have under this key."""

    key: int


class Product(NamedTuple):
    """X w."""

    key: int
    w: FloatArray


class Evaluated(NamedTuple):
    """A loss at s + t d, or, where w is given, at X w on a line along d; it stands for these scores as well."""

    key: int
    loss: Loss
    s: Recipe | None
    d: Recipe | None
    t: float
    w: FloatArray | None


Recipe = Known | Product | Evaluated


def products(recipe: Recipe | None) -> Iterator[Product]:
    """The products X w that a recipe asks for; that of a refreshed evaluation has its key, negative."""
    if isinstance(recipe, Product):
        yield recipe
    elif isinstance(recipe, Evaluated):
        yield from products(recipe.s)
        yield from products(recipe.d)
        if recipe.w is not None:
            yield Product(-recipe.key, recipe.w)


class Keys:
    """Numbers for what workers hold, and those that nobody here needs any more."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._freed: list[int] = []

    def new(self) -> int:
        """A number that was not used before."""
        return next(self._numbers)

    def free(self, key: int) -> None:
        """Nobody needs it any more."""
        self._freed.append(key)

    def freed(self) -> list[int]:
        """Those that workers have not been told of yet."""
        return [self._freed.pop() for _ in range(len(self._freed))]


class Step:
    """What a handle stands for: a product, or an evaluation. It outlives its handle as a part of later recipes."""

    def __init__(
        self,
        key: int,
        w: FloatArray | None = None,
        loss: Loss | None = None,
        s: Step | None = None,
        d: Step | None = None,
        t: float = 0.0,
    ) -> None:
        self.key, self.w, self.loss, self.s, self.d, self.t = key, w, loss, s, d, t
        self.held = False  # whether workers have it, as far as is known here
        self.depth: int = 0 if s is None else s.depth + (d is not None)
        if self.depth > REFRESH:
            self.w, self.s, self.depth = self.weights(), None, 0

    def weights(self) -> FloatArray:
        """The weights of which these are the scores."""
        if self.w is not None:
            return self.w
        assert self.s is not None
        return self.s.weights() if self.d is None else self.s.weights() + self.t * self.d.weights()

    def recipe(self, whole: bool = False) -> Recipe:
        """For workers: by its key where they have it; `whole`: from the beginning."""
        if self.held and not whole:
            return Known(self.key)
        if self.loss is None:
            assert self.w is not None
            return Product(self.key, self.w)
        s, d = (None if step is None else step.recipe(whole) for step in (self.s, self.d))
        return Evaluated(self.key, self.loss, s, d, self.t, self.w)

    def sent(self) -> None:
        """Workers have it now, and all that it is made of."""
        for step in (self, self.s, self.d):
            if step is not None and not step.held:
                step.held = True
                if step is not self:
                    step.sent()


class Handle:
    """Stands for scores, or for an evaluation and its scores; when it dies, workers may forget them."""

    def __init__(self, step: Step, keys: Keys) -> None:
        self.step, self.keys = step, keys

    def __del__(self) -> None:
        self.step.held = False
        self.keys.free(self.step.key)
