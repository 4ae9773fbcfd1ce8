"""Elasticsearch LTR plugin and OpenSearch LTR: the body of a POST to ``_ltr/_featureset/<set>/_createmodel``.

Its model is a ``model/linear``. A feature that does not match counts 0, and a weight is a float32 there. There is no
place for an offset, which becomes the weight of a feature ``linrank_offset``: define it as a constant_score query
that matches everything.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from .._typing import FloatArray
from ._function import LinearFunction, check_name
from ._options import OFFSET, Options
from ._target import SINGLE, Target


def write(function: LinearFunction, options: Options) -> bytes:
    """The request's body as JSON; the definition within is JSON as a string."""
    function.warn_of_fill("Elasticsearch", "make each feature's query give the mean where a document has none")
    function = function.with_constant(OFFSET, "Elasticsearch")
    for name in function.names:
        check_name(name, r"(?s).+", "Elasticsearch", "give the feature a name.")
    weights = {name: float(weight) for name, weight in zip(function.names, function.weights, strict=True)}
    definition = json.dumps(weights, ensure_ascii=False)
    body = {"model": {"name": options.model, "model": {"type": "model/linear", "definition": definition}}}
    return (json.dumps(body, indent=2, ensure_ascii=False) + "\n").encode()


def score(text: bytes, names: Sequence[str], X: FloatArray) -> FloatArray:
    """Scores as the plugin computes them: weights and values float32, an absent feature 0."""
    weights = json.loads(json.loads(text)["model"]["model"]["definition"])
    values = {OFFSET: np.ones(len(X)), **dict(zip(names, X.T, strict=True))}
    unknown = set(weights) - set(values)
    if unknown:
        raise ValueError(f"unknown features: {unknown}")
    scores = np.zeros(len(X), dtype=np.float32)
    for name, weight in weights.items():
        scores += np.nan_to_num(values[name], nan=0.0).astype(np.float32) * np.float32(weight)
    return scores.astype(np.float64)


TARGET: Target = Target(write, score, SINGLE, refuses_negative=True)
