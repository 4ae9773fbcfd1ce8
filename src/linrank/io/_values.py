"""Parameters and attributes as JSON values and back: numbers, texts, lists, and losses, solvers, ... by their fields.

    {"loss": "LogisticErfc", "eps": 1e-06}                          of linrank: comes back as it was
    {"loss": "huber", "class": "mypackage.losses.Huber"}            somebody's own: comes back as a `Missing`

Nothing that a file names is imported.
"""

from __future__ import annotations

import dataclasses
import logging
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..data.checks import Missing

logger = logging.getLogger("linrank")

LONGEST_DESCRIPTION = 200
#: Parameters that take somebody's own objects.
OBJECTS = ("loss", "solver", "rule", "sampling")
#: Parameters that hold numbers for each feature, or by its name: None, or infinity, is no bound.
LIMITS = ("monotonic_cst", "bounds")


def _kinds() -> dict[str, tuple[type, ...]]:
    """The losses, solvers and samplers that a file holds by their fields; a rule of one's own is compiled code."""
    from ..losses import KINDS  # few models name one, and it takes a while
    from ..solvers import SOLVERS
    from ..stochastic.samplers import SAMPLERS

    samplers = tuple(type(sampler) for sampler in SAMPLERS.values())
    return {"loss": KINDS, "solver": tuple(SOLVERS.values()), "sampling": samplers, "rule": ()}


def encode(values: dict[str, Any]) -> dict[str, Any]:
    """Each value as JSON can hold it; what cannot be read back is described: {"repr": "..."}."""
    return {name: _encoded(value, name) for name, value in values.items()}


def _encoded(value: Any, parameter: str = "") -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int)):
        return value
    if parameter in LIMITS:
        return _limits(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, (list, tuple, np.ndarray)):
        entries = [_encoded(entry) for entry in value]
        if not any(isinstance(entry, (list, dict)) for entry in entries):
            return entries
        if all(_is_edge(entry) for entry in entries):
            return [[*entry, 1.0][:3] for entry in entries]  # an edge without a weight weighs 1
    if parameter in OBJECTS:
        return _object(parameter, value)
    return {"repr": repr(value)[:LONGEST_DESCRIPTION]}


def _limits(value: Any) -> Any:
    """Signs or bounds: numbers, in lists or by names."""
    if isinstance(value, Mapping):
        return {str(name): _limits(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)) or hasattr(value, "__array__"):
        return [_limits(entry) for entry in (value if isinstance(value, (list, tuple)) else np.asarray(value).tolist())]
    return value if value is not None and math.isfinite(value) else None


def _read_limits(name: str, value: Any) -> Any:
    """The same again, as it was."""
    if isinstance(value, dict):
        return {feature: _read_limits(name, entry) for feature, entry in value.items()}
    if isinstance(value, list):
        return [_read_limits(name, entry) for entry in value]
    if value is not None and type(value) not in (int, float):
        raise ValueError(f"{name!r} holds something else than numbers")
    return value


def _object(what: str, value: Any) -> dict[str, Any]:
    """A loss, a solver, ...: by its fields, or by its name and class."""
    if isinstance(value, Missing):
        return {what: value.name, "class": value.origin}
    kind = type(value)
    if kind in _kinds()[what]:
        return {what: kind.__name__, **encode(dataclasses.asdict(value))}
    return {what: str(getattr(value, "name", kind.__name__)), "class": f"{kind.__module__}.{kind.__qualname__}"}


def _is_edge(entry: Any) -> bool:
    """Whether this is an edge of a preference graph: (lower, upper[, weight])."""
    return isinstance(entry, list) and len(entry) in (2, 3) and all(type(number) in (int, float) for number in entry)


def decode(values: dict[str, Any]) -> dict[str, Any]:
    """The values again, arrays as numpy's; those that were only described are left out, which is logged."""
    decoded = {}
    for name, value in values.items():
        if isinstance(value, dict) and set(value) == {"repr"}:
            logger.info("%s was %s when the model was saved; its default is used", name, value["repr"])
        else:
            decoded[name] = _decoded(name, value)
    return decoded


def _decoded(name: str, value: Any) -> Any:
    if name in LIMITS:
        return _read_limits(name, value)
    if isinstance(value, list):
        if any(isinstance(entry, list) for entry in value):
            return _table(name, value)
        if any(isinstance(entry, dict) for entry in value):
            raise ValueError(f"{name!r} is a list of something else than numbers or texts")
        return np.array(value)
    if not isinstance(value, dict):
        return value
    return _given(name, value)


def _given(name: str, value: dict[str, Any]) -> Any:
    """The loss or solver that an object describes."""
    named, fields = value.get(name), {key: entry for key, entry in value.items() if key != name}
    if name in OBJECTS and isinstance(named, str) and set(fields) == {"class"}:
        if isinstance(fields["class"], str):
            return Missing(name, named, fields["class"])
    kind = next((kind for kind in _kinds().get(name, ()) if kind.__name__ == named), None)
    if kind is None:
        raise ValueError(f"{name!r} is an object that this linrank does not know")
    try:
        return kind(**_present(named, {key: _field(entry) for key, entry in fields.items()}))
    except (TypeError, ValueError):
        raise ValueError(f"{name!r} has fields that {named} does not have") from None


def _present(named: str | None, fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a loss or solver as they are called today: older files hold steps of hinges, and `rounded`."""
    if named == "SquaredHinge" and fields.get("a") == fields.get("m") == (1.0,):
        return {key: entry for key, entry in fields.items() if key not in ("a", "m")}
    if named == "HuberHinge" and {"a", "m"} <= set(fields):
        return {"mu": fields["m"][0] - fields["m"][1]}
    if named == "Newton" and "rounded" in fields:
        return {"float32" if key == "rounded" else key: entry for key, entry in fields.items()}
    return fields


def _field(value: Any) -> Any:
    """A field of a loss or solver: a number, a text, or a tuple of numbers."""
    if isinstance(value, dict) or (isinstance(value, list) and not all(type(entry) in (int, float) for entry in value)):
        raise ValueError("neither a number, a text nor numbers")
    return tuple(value) if isinstance(value, list) else value


def _table(name: str, rows: list[Any]) -> Any:
    """Rows of numbers, all of one length: the edges of a preference graph."""
    sizes = {len(row) if isinstance(row, list) else -1 for row in rows}
    if len(sizes) > 1 or not all(type(entry) in (int, float) for row in rows for entry in row):
        raise ValueError(f"{name!r} is a list of something else than numbers or texts")
    return np.array(rows, dtype=np.float64)
