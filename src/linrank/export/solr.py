"""Solr: a LinearModel of its learning-to-rank module, to be PUT to ``schema/model-store``.

Solr keeps weights as float32, computes in float32 and takes a missing feature for the default value of the feature
store, 0 if there is none: `write_features` writes a store that has them. It has no place for an offset, which becomes
the weight of a feature ``linrank_offset``: define it as a ValueFeature with the value 1.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._errors import ParameterError
from .._typing import FloatArray
from ._function import LinearFunction, check_name
from ._options import OFFSET, Options
from ._target import SINGLE, Target

CLASS = "org.apache.solr.ltr.model.LinearModel"
FIELD, CONSTANT = "org.apache.solr.ltr.feature.FieldValueFeature", "org.apache.solr.ltr.feature.ValueFeature"
NAME = r"[^\s=,{}\[\]\"\\]+"  # what Solr's own output of features, name=value,name=value, keeps apart


def write(function: LinearFunction, options: Options) -> bytes:
    """The model as JSON."""
    if not options.defaults:
        function.warn_of_fill(
            "Solr", "give each feature its mean as defaultValue, as --features or to_solr_features write"
        )
    function = function.with_constant(OFFSET, "Solr", defined=options.defaults)
    names = _names(function)
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


def write_features(function: LinearFunction, options: Options) -> bytes:
    """The features as JSON for ``schema/feature-store``: fields of the same names, means as their default values.

    What a feature is computed from is not known here: class and field are to be adapted, defaultValue stays.
    """
    names = _names(function)
    if function.fill is not None and np.any(np.abs(function.fill) > np.finfo(np.float32).max):
        raise ParameterError("A mean is too large for Solr's float32: divide the feature by its standard deviation.")
    features: list[dict[str, Any]] = []
    for j, name in enumerate(names):
        default = {} if function.fill is None else {"defaultValue": float(function.fill[j])}
        features.append({"name": name, "class": FIELD, "params": {"field": name, **default}})
    if function.offset != 0:
        features.append({"name": OFFSET, "class": CONSTANT, "params": {"value": 1}})
    stored = [{"store": options.store, **feature} for feature in features]
    return (json.dumps(stored, indent=2, ensure_ascii=False) + "\n").encode()


def default_values(text: bytes, names: Sequence[str]) -> FloatArray:
    """What takes the place of missing values by such a file; 0 where it says nothing."""
    params = {feature["name"]: feature["params"] for feature in json.loads(text)}
    return np.array([float(params.get(name, {}).get("defaultValue", 0.0)) for name in names])


def _names(function: LinearFunction) -> list[str]:
    cure = "rename the feature without blanks, quotes, brackets, commas and equal signs."
    return [check_name(name, NAME, "Solr", cure) for name in function.names]


def score(text: bytes, names: Sequence[str], X: FloatArray) -> FloatArray:
    """Scores as Solr computes them: float32, feature by feature, in the model's order."""
    model = json.loads(text)
    values = {OFFSET: np.ones(len(X)), **dict(zip(names, X.T, strict=True))}
    scores = np.zeros(len(X), dtype=np.float32)
    for feature in model["features"]:
        weight = np.float32(model["params"]["weights"][feature["name"]])
        scores += np.nan_to_num(values[feature["name"]], nan=0.0).astype(np.float32) * weight
    return scores.astype(np.float64)


TARGET: Target = Target(write, score, SINGLE, refuses_negative=True)
