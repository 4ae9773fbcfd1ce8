"""What a step does, as values: w <- c w + d x by two compiled functions; `kernels/rules.py` has the formulas.

name                              after
sgd, pegasos                      a subgradient step at every draw; Pegasos then brings w back to its ball
sgd_svm                           the paper's SGD SVM, which shrinks w only where the pair has loss
passive_aggressive                PA-I
romma                             aggressive ROMMA
perceptron, perceptron_margin     section 3.4
passive_aggressive_then_pegasos   what the paper leaves to future work
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .._errors import ParameterError
from ..data.checks import Missing, check_choice
from ..kernels import rules as kernels
from ..kernels._jit import PROJECTION, STEP, address_of, is_compiled
from ..kernels.stochastic import Rule as Compiled

#: Losses that gradient rules descend; the other rules are made for the hinge.
LOSS_NAMES = ("hinge", "squared_hinge", "logistic")

SIGNATURES = {
    "step": (STEP, "step(i, z, xx, ww, alpha, p) -> (c, d)"),
    "projection": (PROJECTION, "projection(ww, alpha, p) -> factor"),
}


@dataclass(frozen=True)
class Rule:
    """w <- c w + d x on a drawn pair's difference x, then, if there is a projection, w <- factor w.

    Attributes
    ----------
    name : str
        What it is called in a model file.
    step : function compiled by numba
        ``step(i, z, xx, ww, alpha, p) -> (c, d)``: i is the step's number, from 1, z = w.x the margin, xx = |x|^2,
        ww = |w|^2, and p an array of the rule's parameters.
    projection : function compiled by numba, optional
        ``projection(ww, alpha, p) -> factor``, ww being |w|^2 after the step; asked where the step lengthened w.
    parameters : tuple of floats
        What p holds.
    length_below : float
        xx is measured where z is below this, and 0 elsewhere; a step on sparse rows that need not measure it is faster.
    """

    name: str
    step: Any = field(repr=False)
    projection: Any = field(default=None, repr=False)
    parameters: tuple[float, ...] = ()
    length_below: float = -math.inf

    def __post_init__(self) -> None:
        for what, (_, form) in SIGNATURES.items():
            function = getattr(self, what)
            if function is not None and not is_compiled(function):
                raise ParameterError(
                    f"The rule {self.name!r} has a {what} that is plain Python, which would run once a step: compile "
                    f"it by numba, @numba.njit above def {form.split(' ->')[0]}."
                )

    def __deepcopy__(self, memo: dict[int, Any]) -> Rule:
        """Itself: nothing in it changes."""
        return self

    def compiled(self, alpha: float) -> Compiled:
        """The rule as kernels take it."""
        return Compiled(
            _address(self.step, "step", self.name),
            _address(self.projection or kernels.no_projection, "projection", self.name),
            float(self.length_below),
            float(alpha),
            np.array([*self.parameters, 0.0]),  # never empty
        )

    def phase(self, t: int) -> tuple[Rule, float]:
        """The rule of step t + 1, and the last step that it makes."""
        return self, math.inf


@dataclass(frozen=True)
class Switched:
    """One rule up to a step, another one from there on, which counts on."""

    first: Rule
    then: Rule
    switch: int

    def phase(self, t: int) -> tuple[Rule, float]:
        """The rule of step t + 1, and the last step that it makes."""
        return (self.first, self.switch) if t < self.switch else (self.then, math.inf)


AnyRule = Rule | Switched


@lru_cache(maxsize=64)
def _address(function: Any, what: str, name: str) -> Any:
    """A compiled function by its address: made once in a process, and kept as long as it may be called."""
    signature, form = SIGNATURES[what]
    try:
        return address_of(function, signature)
    except ValueError as error:
        raise ParameterError(
            f"numba cannot compile the {what} of the rule {name!r} as {form}, numbers all and p an array of them: "
            f"{error}"
        ) from None


class Numbers(NamedTuple):
    """Parameters of SGDRanker that its own rules take."""

    loss: str = "hinge"
    C: float = 1.0
    decay: float | None = None
    switch: int = 10_000
    margin: float = 1.0


GRADIENT_STEPS = {
    "hinge": (kernels.hinge_step, -math.inf),
    "squared_hinge": (kernels.squared_hinge_step, 1.0),
    "logistic": (kernels.logistic_step, -math.inf),
}


def _gradient(name: str, given: Numbers, projection: Any = None) -> Rule:
    step, below = GRADIENT_STEPS[given.loss]
    return Rule(name, step, projection, (given.decay or 0.0,), below)


def _passive_aggressive(given: Numbers) -> Rule:
    return Rule("passive_aggressive", kernels.passive_aggressive_step, None, (given.C,), 1.0)


def _pegasos(given: Numbers) -> Rule:
    return _gradient("pegasos", given, kernels.ball)


RULES: dict[str, Callable[[Numbers], AnyRule]] = {
    "sgd": lambda given: _gradient("sgd", given),
    "pegasos": _pegasos,
    "passive_aggressive": _passive_aggressive,
    "romma": lambda given: Rule("romma", kernels.romma_step, kernels.shortening, (), 1.0),
    "passive_aggressive_then_pegasos": lambda given: Switched(
        _passive_aggressive(given), _pegasos(given), given.switch
    ),
    "sgd_svm": lambda given: Rule("sgd_svm", kernels.sgd_svm_step, None, (given.decay or 0.0,)),
    "perceptron": lambda given: Rule("perceptron", kernels.perceptron_step, None, (0.0,)),
    "perceptron_margin": lambda given: Rule("perceptron_margin", kernels.perceptron_step, None, (given.margin,)),
}
ANY_LOSS = ("sgd", "pegasos")


def as_rule(rule: Any, given: Numbers) -> AnyRule:
    """The rule of that name, with these parameters; or the rule given."""
    if isinstance(rule, Missing):
        raise ParameterError(rule.cure)
    if isinstance(rule, (Rule, Switched)):
        return rule
    if callable(rule):
        raise ParameterError(f"rule={rule!r} is a function: give Rule(name, step), a value that holds it.")
    check_choice("rule", rule, tuple(RULES))
    if given.loss != "hinge" and rule not in ANY_LOSS:
        raise ParameterError(
            f"rule={rule!r} is made for the hinge: use loss='hinge', or rule='pegasos' or 'sgd' with "
            f"loss={given.loss!r}."
        )
    return RULES[rule](given)


def named(name: str, **given: Any) -> AnyRule:
    """A rule by name, with its parameters: `named("passive_aggressive", C=0.1)`."""
    return as_rule(name, Numbers(**given))
