"""Solr: a LinearModel of its learning-to-rank module, to be PUT to ``schema/model-store``.

Solr keeps weights as float32, computes in float32 and takes a missing feature for the default value of the feature
store, 0 if there is none. It has no place for an offset, which becomes the weight of a feature ``linrank_offset``:
define it as a ValueFeature with the value 1.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from .._errors import ParameterError
from .._preferences import FloatArray
from ._function import LinearFunction, check_name
from ._options import OFFSET, Options

CLASS = "org.apache.solr.ltr.model.LinearModel"
NAME = r"[^\s=,{}\[\]\"\\]+"  # what Solr's own output of features, name=value,name=value, keeps apart


def write(function: LinearFunction, options: Options) -> bytes:
    """The model as JSON."""
    function.warn_of_fill("Solr", "give each feature its fill_ as 'defaultValue' in the feature store.")
    function = function.with_constant(OFFSET, "Solr")
    cure = "rename the feature without blanks, quotes, brackets, commas and equal signs."
    names = [check_name(name, NAME, "Solr", cure) for name in function.names]
    if np.any(np.abs(function.weights) > np.finfo(np.float32).max):
        raise ParameterError("A weight is too large for Solr's float32: divide the feature by its standard deviation.")
    weights = {name: float(weight) for name, weight in zip(names, function.weights, strict=True)}
    model = {
        "class": CLASS,
        "store": options.store,
        "name": options.model,
        "features": [{"name": name} for name in names],
        "params": {"weights": weights},
    }
    return (json.dumps(model, indent=2, ensure_ascii=False) + "\n").encode()


def score(text: bytes, names: Sequence[str], X: FloatArray) -> FloatArray:
    """Scores as Solr computes them: float32, feature by feature, in the model's order."""
    model = json.loads(text)
    values = {OFFSET: np.ones(len(X)), **dict(zip(names, X.T, strict=True))}
    scores = np.zeros(len(X), dtype=np.float32)
    for feature in model["features"]:
        weight = np.float32(model["params"]["weights"][feature["name"]])
        scores += np.nan_to_num(values[feature["name"]], nan=0.0).astype(np.float32) * weight
    return scores.astype(np.float64)
