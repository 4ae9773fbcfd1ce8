"""A Model as JSON: to bytes, and back with every check."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._errors import ModelFileError
from .._typing import FloatArray
from ..data.weights import named_weights
from ._json import parse
from ._model import ESTIMATORS, FACTS, Model
from ._values import decode, encode

VERSION = 1
#: What the training facts are that are not whole numbers.
KINDS: dict[str, type | tuple[type, ...]] = {
    "status": str,
    "fitted_with_qid": bool,
    **dict.fromkeys(("objective", "gap", "alpha"), float),
}


def dumps(model: Model) -> bytes:
    """The bytes of a model file."""
    document = {
        "format": "linrank",
        "version": VERSION,
        "estimator": model.estimator,
        "training": encode(model.training),
        "parameters": encode(model.parameters),
        "state": encode(model.state),
        "missing": model.missing,
        "fill": _numbers(model.fill),
        "scale": _numbers(model.scale),
        "weights": _weights(model),
    }
    head = {
        "format": "linrank",
        "version": VERSION,
        "checksum": _checksum(document),
    }  # on a line of its own: it may be deleted
    document = {**head, **document}
    lines = [f"{json.dumps(key)}: {_lines(key, value)}" for key, value in document.items()]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:  # a feature's name holds half of a surrogate pair: only an escape can spell it
        return (json.dumps(document, indent=1) + "\n").encode("ascii")


def loads(text: bytes, name: str) -> Model:
    """The model that the bytes of a file named `name` hold."""
    if not text.lstrip()[:1] == b"{":
        raise ModelFileError(
            f"{name} is not a model file: it must be one of linrank (JSON), SVMrank or LIBLINEAR; name another file."
        )
    document = parse(text, name)
    if document.get("format") != "linrank":
        return _by_hand(document, name)
    version = document.get("version")
    if not _is(version, int) or version < 1:
        raise _damaged(name, "its version is not a whole number")
    if version > VERSION:
        raise ModelFileError(f"{name} has format version {version}, newer than this linrank reads: upgrade linrank.")
    try:
        return _checked(document)
    except ValueError as error:
        raise _damaged(name, str(error)) from None


def _by_hand(document: dict[str, Any], name: str) -> Model:
    """The model that a flat object of names and weights describes."""
    if not document or not all(_is(value, float) for value in document.values()):
        raise ModelFileError(
            f"{name} is JSON, but not a model of linrank, nor weights by name such as "
            '{"bm25": 0.7}: name a file written by linrank.save.'
        )
    names, weights = named_weights(document)
    return Model("LinearRanker", {}, weights, names, by_hand=True)


def _checked(document: dict[str, Any]) -> Model:
    """The model that a parsed document describes; a ValueError says what is wrong with it."""
    given = dict(document)
    checksum = given.pop("checksum", None)
    expected = {"format", "version", "estimator", "training", "parameters", "state", "missing"}
    expected |= {"fill", "scale", "weights"}
    for key in sorted(set(given) ^ expected):
        raise ValueError(f"the key {key!r} is {'not known' if key in given else 'not there'}")
    if checksum is not None and checksum != _checksum(given):
        raise ValueError("it was changed after it was written; to load it as it is, delete the line 'checksum'")
    for key, kind in {"training": dict, "parameters": dict, "state": dict, "weights": list}.items():
        if not isinstance(given[key], kind):
            raise ValueError(f"{key!r} is not {'a list' if kind is list else 'an object'}")
    name = given["estimator"]
    if not isinstance(name, str) or name not in ESTIMATORS:
        raise ValueError(f"its estimator {name!r} is not known to this linrank")
    if given["missing"] not in ("error", "zero", "mean"):
        raise ValueError(f"'missing' is {given['missing']!r}, not 'error', 'zero' or 'mean'")
    if given["parameters"].get("missing", given["missing"]) != given["missing"]:
        raise ValueError("its parameter 'missing' is another one than 'missing' itself")
    names, weights = _named(given["weights"])
    return Model(
        estimator=name,
        parameters=decode(given["parameters"]),
        weights=weights,
        names=names,
        scale=_vector("scale", given["scale"], weights.size),
        missing=given["missing"],
        fill=_vector("fill", given["fill"], weights.size),
        state=_check_state(name, decode(given["state"])),
        training=_check_facts(decode(given["training"])),
    )


def _named(entries: list[Any]) -> tuple[list[str] | None, FloatArray]:
    """Names and weights from a list of numbers or of [name, number]."""
    if not any(isinstance(entry, list) for entry in entries):
        return None, _floats("weights", entries)
    if not all(isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], str) for entry in entries):
        raise ValueError("'weights' must hold numbers, or a [name, number] for each feature")
    return [entry[0] for entry in entries], _floats("weights", [entry[1] for entry in entries])


def _vector(key: str, values: Any, size: int) -> FloatArray | None:
    if values is None:
        return None
    if not isinstance(values, list) or len(values) != size:
        raise ValueError(f"{key!r} must be null or hold {size} numbers, one per weight")
    return _floats(key, values)


def _floats(key: str, values: list[Any]) -> FloatArray:
    if not values:
        raise ValueError(f"{key!r} is empty")
    if not all(_is(value, float) for value in values):
        raise ValueError(f"{key!r} holds something that is not a number")
    try:
        return np.array(values, dtype=np.float64)
    except OverflowError:
        raise ValueError(f"{key!r} holds a number that is too large") from None


def _check_state(estimator: str, state: dict[str, Any]) -> dict[str, Any]:
    """The attributes that only some estimators have, each as these need it."""
    needed = ESTIMATORS[estimator]
    if set(state) != set(needed):
        raise ValueError(f"'state' does not hold what {estimator} needs: {', '.join(needed) or 'nothing'}")
    for name in ("alpha_", "slope_"):
        if name in state and not (_is(state[name], float) and state[name] > 0):
            raise ValueError(f"{name!r} is not a number above 0")
    if "t_" in state and not (_is(state["t_"], int) and state["t_"] >= 0):
        raise ValueError("'t_' is not a whole number from 0 on")
    if "intercept_" in state and not _is_vector(state["intercept_"], 1, "iuf"):
        raise ValueError("'intercept_' is not a list of one number")
    if "classes_" in state and not (_is_vector(state["classes_"], 2, "iufbU") and len(set(state["classes_"])) == 2):
        raise ValueError("'classes_' is not a list of two numbers or texts")
    return state


def _is_vector(values: Any, size: int, kinds: str) -> bool:
    """Whether this was a list of so many entries, all of one of numpy's kinds."""
    return isinstance(values, np.ndarray) and values.shape == (size,) and values.dtype.kind in kinds


def _check_facts(training: dict[str, Any]) -> dict[str, Any]:
    for fact in FACTS:
        value = training.get(fact)
        if value is not None and not _is(value, KINDS.get(fact, int)):
            raise ValueError(f"the training fact {fact!r} is {value!r}")
    return training


def _is(value: Any, kind: type | tuple[type, ...]) -> bool:
    """Whether a parsed value is of a kind: whole numbers are numbers, true and false are not."""
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, (int, float) if kind is float else kind)


def _numbers(values: NDArray[Any] | None) -> list[float] | None:
    if values is None:
        return None
    if not np.all(np.isfinite(values)):
        raise ModelFileError("The ranker holds NaN or infinity, so it is not saved: fit it again with scale=True.")
    return [float(value) for value in values]


def _weights(model: Model) -> list[Any]:
    numbers = _numbers(model.weights) or []
    return numbers if model.names is None else [list(pair) for pair in zip(model.names, numbers, strict=True)]


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _lines(key: str, value: Any) -> str:
    """JSON with each fact, parameter and weight on a line of its own."""
    if isinstance(value, dict) and value:
        return "{\n" + ",\n".join(f"  {_text(name)}: {_text(entry)}" for name, entry in value.items()) + "\n}"
    if key == "weights":
        return "[\n" + ",\n".join(f"  {_text(entry)}" for entry in value) + "\n]"
    return _text(value)


def _checksum(document: dict[str, Any]) -> str:
    """Of the values, whatever their layout: a repr of a float is read back to the same float."""
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(canonical.encode("ascii")).hexdigest()


def _damaged(name: str, reason: str) -> ModelFileError:
    return ModelFileError(f"{name} is not a whole model of linrank ({reason}): save the model again.")
