"""ONNX: input ``X`` (rows, features), output ``scores`` (rows, 1).

In float32 it is one ``ai.onnx.ml.LinearRegressor`` node, in float64 a matrix product and a sum. Where the ranker
replaces missing values, NaN is replaced within the graph. Features go by position; their names are kept in the
metadata.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import __version__
from .._errors import LinrankError
from .._typing import FloatArray
from ._function import LinearFunction
from ._options import Options
from ._target import SINGLE, Target

OPSET, ML_OPSET, IR_VERSION = 13, 3, 8  # old enough for every runtime in use


def _onnx() -> Any:
    try:
        import onnx
    except ImportError:
        raise LinrankError("ONNX needs an extra package: pip install 'linrank[onnx]'.") from None
    return onnx


def write(function: LinearFunction, options: Options) -> bytes:
    """The serialised model."""
    onnx = _onnx()
    helper, numpy_helper = onnx.helper, onnx.numpy_helper
    kind = np.dtype(options.dtype)
    number = getattr(onnx.TensorProto, {"float32": "FLOAT", "float64": "DOUBLE"}[options.dtype])
    d = function.weights.size
    nodes, constants, current = [], [], "X"
    if function.fill is not None:
        constants.append(numpy_helper.from_array(function.fill.astype(kind)[None], "fill"))
        nodes += [helper.make_node("IsNaN", ["X"], ["missing"])]
        nodes += [helper.make_node("Where", ["missing", "fill", "X"], ["complete"])]
        current = "complete"
    if options.dtype == "float32":
        attributes = {"coefficients": function.weights.tolist(), "intercepts": [function.offset], "targets": 1}
        nodes += [helper.make_node("LinearRegressor", [current], ["scores"], domain="ai.onnx.ml", **attributes)]
    else:
        constants.append(numpy_helper.from_array(function.weights[:, None], "weights"))
        constants.append(numpy_helper.from_array(np.array([function.offset]), "offset"))
        nodes += [helper.make_node("MatMul", [current, "weights"], ["product"])]
        nodes += [helper.make_node("Add", ["product", "offset"], ["scores"])]
    rows = helper.make_tensor_value_info("X", number, [None, d])
    scores = helper.make_tensor_value_info("scores", number, [None, 1])
    graph = helper.make_graph(nodes, options.model, [rows], [scores], constants)
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
    model.producer_name, model.producer_version = "linrank", __version__
    helper.set_model_props(model, {"feature_names": json.dumps(function.names)})
    onnx.checker.check_model(model)
    serialised: bytes = model.SerializeToString()
    return serialised


def score(text: bytes, names: Sequence[str], X: FloatArray) -> FloatArray:
    """Scores by ONNX's own reference evaluator."""
    onnx = _onnx()
    from onnx.reference import ReferenceEvaluator

    model = onnx.load_from_string(text)
    double = model.graph.input[0].type.tensor_type.elem_type == onnx.TensorProto.DOUBLE
    (scores,) = ReferenceEvaluator(model).run(None, {"X": X.astype(np.float64 if double else np.float32)})
    return np.asarray(scores, dtype=np.float64).ravel()


TARGET: Target = Target(write, score, SINGLE, fills=True)
