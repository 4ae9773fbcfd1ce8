"""The library's own losses keep the contract, and `check_loss` notices those that do not."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from linrank import ParameterError
from linrank.losses import LOSSES, Hinge, HuberHinge, Logistic, LossPoint, SquaredHinge
from linrank.testing import PairHinge, check_loss

OWN = [*LOSSES.values(), *(HuberHinge(mu) for mu in (0.5, 0.05, 1e-3)), Hinge(margin=0.5)]


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3, 4))])
@pytest.mark.parametrize("loss", OWN, ids=repr)
def test_own_losses_keep_the_contract(loss, seed):
    check_loss(loss, seed)
    check_loss(loss, seed, longest=1300)
    check_loss(loss, seed, longest=1300, weights=False)


def test_pair_rsvm_keeps_the_contract():
    check_loss(PairHinge(), weights=False)


class Duck:
    """A loss that is no subclass of Loss."""

    name, smooth = "duck", False

    def at(self, scores, rankings, work):
        return Hinge().at(scores, rankings, work)


def test_anybodys_class_may_be_a_loss():
    check_loss(Duck())
    with pytest.raises(ParameterError, match="loss=3 is not known"):
        check_loss(3)


@dataclass(frozen=True)
class Changed:
    """A curvature whose products are changed."""

    curvature: object
    change: object

    def product(self, v, work):
        return self.change(self.curvature.product(v, work), v, work)


def curved(change):
    """The squared hinge with products that are changed."""

    class Wrong(SquaredHinge):
        def at(self, scores, rankings, work):
            point = super().at(scores, rankings, work)
            return replace(point, curvature=Changed(point.curvature, change))

    return Wrong()


def answered(change, base=SquaredHinge):
    """A loss whose answers are changed."""

    class Wrong(base):
        def at(self, scores, rankings, work):
            return change(super().at(scores, rankings, work), scores, rankings, work)

    return Wrong()


def in_work(array, work):
    lent = work.take("lent", array.size, np.float64)
    lent[:] = array
    return lent


def more(point, **changes):
    return replace(point, sums=point.sums._replace(**changes))


class KeepsWork:
    """A curvature that keeps what it was lent."""

    def __init__(self, curvature, kept):
        self.curvature, self.kept = curvature, kept

    def product(self, v, work):
        return self.kept * self.curvature.product(v, work)


class WrongAtZero(Hinge):
    def at_zero(self, rankings, work):
        return super().at_zero(rankings, work)._replace(value=0.0)


class Rough(Hinge):
    smooth = True


def changes_scores(point, scores, rankings, work):
    scores[0] += 1.0
    return point


def remembers(point, scores, rankings, work):
    known = work.take("known", 1, np.float64)
    return more(point, value=point.sums.value + (known[0] if np.isfinite(known[0]) else 1.0))


def doubled(point, *_):
    return replace(more(point, value=2.0 * point.sums.value), gradient=2.0 * point.gradient)


class Doubled(answered(doubled, Hinge).__class__):
    """What stands for it in Newton's method is that of the hinge."""

    def at_zero(self, rankings, work):
        return self.at(np.zeros(rankings.n_members), rankings, work).sums


class SmoothedTooFar(Hinge):
    def smoothed(self, mu):
        return HuberHinge(3.0 * mu)


class SmoothedBySomethingElse(Hinge):
    def smoothed(self, mu):
        return Logistic()


class OtherSteps(Logistic):
    steps = (1.0,), (0.5,)


WRONG = {
    "Sums.hinge of the loss `smoothed`|within mu/2 of the loss": Doubled(),
    "not within mu/2 of the loss": SmoothedTooFar(),
    "`smoothed`": SmoothedBySomethingElse(),
    "not that of `steps`": OtherSteps(),
    "not that of the value": answered(lambda point, *_: replace(point, gradient=1.01 * point.gradient)),
    "not convex": answered(
        lambda point, *_: LossPoint(more(point, value=-point.sums.value).sums, -point.gradient, point.curvature)
    ),
    "does not sum to 0": answered(lambda point, *_: replace(point, gradient=point.gradient + 1.0)),
    "offset of a ranking's scores": answered(
        lambda point, s, *_: more(point, value=point.sums.value + np.square(s).sum())
    ),
    "not the derivative": curved(lambda Lv, v, work: 1.01 * Lv),
    "not symmetric": curved(lambda Lv, v, work: Lv + v.sum() * np.r_[1.0, -1.0, np.zeros(v.size - 2)]),
    "not positive semidefinite": curved(lambda Lv, v, work: -Lv),
    "annihilate the constants": curved(lambda Lv, v, work: Lv + v),
    "keeps scratch memory": answered(
        lambda point, s, rankings, work: replace(
            point, curvature=KeepsWork(point.curvature, in_work(np.ones(s.size), work))
        )
    ),
    "the gradient lies in scratch memory": answered(
        lambda point, s, rankings, work: replace(point, gradient=in_work(point.gradient, work))
    ),
    "values of several blocks do not add up": answered(
        lambda point, s, rankings, work: more(point, value=point.sums.value + rankings.weight**0.5)
    ),
    "the value is negative": answered(
        lambda point, s, rankings, work: more(point, value=point.sums.value - 99.0 * rankings.weight)
    ),
    "weight is not the sum": answered(lambda point, *_: more(point, weight=1.0)),
    "Sums.error claims too much": answered(lambda point, *_: more(point, error=1.0 * point.sums.weight)),
    "Sums.gradient_error claims too much": answered(lambda point, *_: more(point, gradient_error=point.sums.weight)),
    "not one entry for each member": answered(lambda point, *_: replace(point, gradient=point.gradient[1:])),
    "Sums.hinge does not add up": answered(
        lambda point, *_: more(point, hinge=point.sums.hinge._replace(hinge=point.sums.hinge.hinge + 9.0))
    ),
    "given were changed": answered(changes_scores, Hinge),
    "what scratch memory held before": answered(remembers, Logistic),
    "at_zero": WrongAtZero(),
    "smooth losses have a curvature": Rough(),
}


@pytest.mark.parametrize("message", WRONG)
def test_losses_that_do_not_keep_the_contract_are_noticed(message):
    with pytest.raises(AssertionError, match=message):
        check_loss(WRONG[message])
