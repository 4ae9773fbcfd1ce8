"""Weights from the model files of SVMrank (and SVM-light) and of LIBLINEAR."""

from __future__ import annotations

import numpy as np

from .._errors import ModelFileError
from .._typing import FloatArray
from ._numbers import number

#: More features than any file of text can hold weights for: a guard against absurd numbers.
MOST_FEATURES = 2**31 - 1


def is_svmrank(text: bytes) -> bool:
    """Whether the bytes look like a model of SVMrank or SVM-light."""
    return text.startswith((b"SVM-light Version", b"SVM-multiclass Version", b"SVM-struct"))


def is_liblinear(text: bytes) -> bool:
    """Whether the bytes look like a model of LIBLINEAR."""
    return text.startswith(b"solver_type ")


def svmrank_weights(text: bytes, name: str, n_features: int | None = None) -> FloatArray:
    """Weights of a linear model of SVMrank: the sum of alpha_i * x_i over its support vectors.

    The file's "highest feature index" is one too large where SVMrank wrote it; it is lowered by one unless that index
    has a weight.
    """
    header: dict[str, str] = {}
    vectors: list[str] = []
    for line in _text(text, name).splitlines()[1:]:
        value, _, what = line.partition("#")
        if len(vectors) or "threshold b" in header:
            vectors.append(value)
        else:
            header[what.split(",")[0].strip()] = value.strip()
    if header.get("kernel type") != "0":
        raise _damaged(name, "its kernel is not linear, or its header is cut off")
    highest = _whole(header.get("highest feature index", ""), name)
    expected = _whole(header.get("number of support vectors plus 1", ""), name) - 1
    vectors = [vector for vector in vectors if vector.strip()]
    if len(vectors) != expected:
        raise _damaged(name, f"it has {len(vectors)} support vectors, not {expected}")
    entries = [entry for vector in vectors for entry in _support_vector(vector, name)]
    largest = max((index for index, _ in entries), default=0)
    size = n_features if n_features is not None else max(largest, highest - 1)
    if largest > size or not 0 < size < MOST_FEATURES:
        raise _damaged(name, f"it has a weight for feature {largest}, but {size} features")
    weights = np.zeros(size)
    for index, weight in entries:
        weights[index - 1] += weight
    return _finite(weights, name)


def _support_vector(vector: str, name: str) -> list[tuple[int, float]]:
    """(index, alpha * value) of each entry of one line."""
    alpha, *entries = vector.split()
    factor = _number(alpha, name)
    pairs = [entry.partition(":") for entry in entries]
    indices = [_whole(index, name) for index, _, _ in pairs]
    if any(a >= b for a, b in zip([0, *indices], indices, strict=False)):
        raise _damaged(name, "its feature indices do not increase from 1")
    return [(index, factor * _number(value, name)) for index, (_, _, value) in zip(indices, pairs, strict=True)]


def liblinear_weights(text: bytes, name: str) -> tuple[FloatArray, str]:
    """Weights of a model of LIBLINEAR (ranking, regression or two classes), and the loss it was trained with.

    A bias is left out, as it cancels within queries. With two classes, larger scores are given to the larger label.
    """
    head, found, tail = _text(text, name).partition("\nw\n")
    fields = {key: value for key, _, value in (line.partition(" ") for line in head.splitlines())}
    if not found or not {"solver_type", "nr_class", "nr_feature", "bias"} <= set(fields):
        raise _damaged(name, "its header is cut off")
    if "rho" in fields or fields["nr_class"] != "2" or fields["solver_type"] == "MCSVM_CS":
        raise ModelFileError(f"{name} has several weights per feature or is of one class: train on two classes.")
    rows = [line.split() for line in tail.splitlines()]
    size = _whole(fields["nr_feature"], name)
    expected = size + (1 if _number(fields["bias"], name) >= 0 else 0)
    if len(rows) != expected or any(len(row) != 1 for row in rows) or size < 1:
        raise _damaged(name, f"it does not hold {expected} weights, one per line")
    weights = np.array([_number(row[0], name) for row in rows[:size]])
    labels = [_number(label, name) for label in fields.get("label", "").split()]
    if len(labels) == 2 and labels[0] < labels[1]:
        weights = -weights  # LIBLINEAR's scores are those of the first label
    return _finite(weights, name), "hinge" if "L1LOSS" in fields["solver_type"] else "squared_hinge"


def _text(text: bytes, name: str) -> str:
    try:
        return text.decode("ascii").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise _damaged(name, f"byte {error.start} is not text") from None


def _whole(token: str, name: str) -> int:
    if not token.isdigit() or len(token) > 10:
        raise _damaged(name, f"{token[:20]!r} is not a whole number")
    return int(token)


def _number(token: str, name: str) -> float:
    try:
        return number(token)
    except ValueError:
        raise _damaged(name, f"{token[:20]!r} is not a number") from None


def _finite(weights: FloatArray, name: str) -> FloatArray:
    if not np.all(np.isfinite(weights)):
        raise _damaged(name, "a sum of its support vectors overflows")
    return weights


def _damaged(name: str, reason: str) -> ModelFileError:
    return ModelFileError(f"{name} is not a whole model of SVMrank or LIBLINEAR ({reason}): write the model again.")
