"""Settings: what the parameters of SGDRanker come to, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._errors import ParameterError
from ..data.checks import check_choice, check_number
from ..defaults import check_alpha, check_scale
from .descent import LARGEST_SCALE, SMALLEST_SCALE
from .rules import LOSS_NAMES, AnyRule, Numbers, as_rule
from .samplers import Sampler, as_sampler


@dataclass(frozen=True)
class Settings:
    """What the parameters of SGDRanker come to; they are explained there."""

    loss: str
    alpha: float | str
    rule: AnyRule
    sampler: Sampler
    average: bool
    scale: Any
    n_steps: int
    early_stopping: bool
    validation_fraction: float
    steps_per_row: float
    reservoir: int
    open_queries: int | None


WHOLE = (("n_steps", 1), ("switch", 0), ("reservoir", 1), ("verbose", 0))
ABOVE_ZERO = ("C", "steps_per_row", "validation_fraction", "margin")
BOOLEAN = ("average", "early_stopping", "warm_start")


def read_settings(given: dict[str, Any], stream: bool = False) -> Settings:
    """Refuse what cannot be meant; returns what the parameters come to, in a stream or in memory."""
    check_choice("loss", given["loss"], LOSS_NAMES)
    check_alpha(given["alpha"])
    for name in ABOVE_ZERO:
        check_number(name, given[name], above=0.0)
    if given["validation_fraction"] >= 1:
        raise ParameterError(f"validation_fraction={given['validation_fraction']!r} must be below 1.")
    if given["decay"] is not None:
        check_number("decay", given["decay"], above=0.0)
    for name, least in WHOLE:
        check_whole(name, given[name], least)
    if given["open_queries"] is not None:
        check_whole("open_queries", given["open_queries"], 1)
    for name in BOOLEAN:
        if not isinstance(given[name], (bool, np.bool_)):
            raise ParameterError(f"{name}={given[name]!r} must be True or False.")
    check_any_scale(given["scale"])
    numbers = Numbers(given["loss"], given["C"], given["decay"], int(given["switch"]), given["margin"])
    return Settings(
        loss=given["loss"],
        alpha=given["alpha"],
        rule=as_rule(given["rule"], numbers),
        sampler=as_sampler(given["sampling"]),
        average=bool(given["average"]),
        scale=given["scale"],
        n_steps=int(given["n_steps"]),
        early_stopping=bool(given["early_stopping"]),
        validation_fraction=float(given["validation_fraction"]),
        steps_per_row=float(given["steps_per_row"]),
        reservoir=int(given["reservoir"]),
        open_queries=None if given["open_queries"] is None else int(given["open_queries"]),
    )


def check_whole(name: str, value: Any, least: int) -> None:
    """Refuse what is not a whole number from `least` on."""
    number = isinstance(value, (int, float, np.integer, np.floating)) and np.isfinite(value)
    if not number or value < least or value != int(value):
        raise ParameterError(f"{name}={value!r} must be a whole number, at least {least}.")


def check_any_scale(scale: Any) -> None:
    """Refuse a scale that is neither a word nor numbers above 0."""
    if isinstance(scale, (bool, np.bool_, str)):
        check_scale(scale)
        return
    try:
        numbers = np.array(scale, dtype=np.float64)
    except (ValueError, TypeError):
        raise ParameterError(f"scale={scale!r} must be True, False, 'auto' or one number per feature.") from None
    if numbers.ndim != 1 or not np.all((numbers > SMALLEST_SCALE) & (numbers < LARGEST_SCALE)):
        raise ParameterError("scale must be True, False, 'auto' or one number above 0 per feature.")
