"""Parameters and attributes as JSON values and back: numbers, texts, lists, and solvers by their fields."""

from __future__ import annotations

import dataclasses
import logging
import math
from typing import Any

import numpy as np

logger = logging.getLogger("linrank")

LONGEST_DESCRIPTION = 200


def _solvers() -> Any:
    from .. import solvers  # few models name one, and it takes a while

    return solvers


def encode(values: dict[str, Any]) -> dict[str, Any]:
    """Each value as JSON can hold it; what cannot be read back is described: {"repr": "..."}."""
    return {name: _encoded(value) for name, value in values.items()}


def _encoded(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int)):
        return value
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
    name = type(value).__name__
    if dataclasses.is_dataclass(value) and getattr(_solvers(), name, None) is type(value):
        return {"solver": name, **encode(dataclasses.asdict(value))}  # type: ignore[arg-type]
    return {"repr": repr(value)[:LONGEST_DESCRIPTION]}


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
    if isinstance(value, list):
        if any(isinstance(entry, list) for entry in value):
            return _table(name, value)
        if any(isinstance(entry, dict) for entry in value):
            raise ValueError(f"{name!r} is a list of something else than numbers or texts")
        return np.array(value)
    if not isinstance(value, dict):
        return value
    kind = getattr(_solvers(), str(value.get("solver")), None)
    if not dataclasses.is_dataclass(kind) or not isinstance(kind, type) or not hasattr(kind, "minimise"):
        raise ValueError(f"{name!r} is an object that this linrank does not know")
    try:
        return kind(**{key: entry for key, entry in value.items() if key != "solver"})
    except (TypeError, ValueError):
        raise ValueError(f"{name!r} has fields that {value['solver']} does not have") from None


def _table(name: str, rows: list[Any]) -> Any:
    """Rows of numbers, all of one length: the edges of a preference graph."""
    sizes = {len(row) if isinstance(row, list) else -1 for row in rows}
    if len(sizes) > 1 or not all(type(entry) in (int, float) for row in rows for entry in row):
        raise ValueError(f"{name!r} is a list of something else than numbers or texts")
    return np.array(rows, dtype=np.float64)
