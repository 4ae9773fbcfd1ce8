"""liblinear-ranksvm as the library that its `make lib` builds: training is timed alone, without reading a file.

Beside the program, of which reading is taken off: for a short fit to a large file that difference is mostly noise, and
a run without an iteration, by which reading is known, evaluates the loss twice.
"""

from __future__ import annotations

import ctypes
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from problems import Problem

RANKSVM = 8
NODE = np.dtype([("index", np.int32), ("value", np.float64)], align=True)
Print = ctypes.CFUNCTYPE(None, ctypes.c_char_p)
SILENT = Print(lambda _: None)


class _Given(ctypes.Structure):
    _fields_ = (
        *(("l", ctypes.c_int), ("n", ctypes.c_int), ("y", ctypes.c_void_p)),
        *(("x", ctypes.c_void_p), ("bias", ctypes.c_double), ("query", ctypes.c_void_p)),
    )


class _Parameter(ctypes.Structure):
    _fields_ = (
        *(("solver_type", ctypes.c_int), ("eps", ctypes.c_double), ("C", ctypes.c_double)),
        *(("nr_weight", ctypes.c_int), ("weight_label", ctypes.c_void_p), ("weight", ctypes.c_void_p)),
        *(("p", ctypes.c_double), ("init_sol", ctypes.c_void_p)),
    )


class _Model(ctypes.Structure):
    _fields_ = (
        *(("param", _Parameter), ("nr_class", ctypes.c_int), ("nr_feature", ctypes.c_int)),
        *(("w", ctypes.POINTER(ctypes.c_double)), ("label", ctypes.c_void_p), ("bias", ctypes.c_double)),
    )


class Rows:
    """A problem as the library reads it, rows grouped by query."""

    def __init__(self, problem: Problem) -> None:
        self.problem, (m, d) = problem, problem.X.shape
        query = np.zeros(m, np.int64) if problem.qid is None else np.unique(problem.qid, return_inverse=True)[1]
        order = np.argsort(query, kind="stable")
        X = sp.csr_array(problem.X)[order]
        X.sort_indices()
        row = np.repeat(np.arange(m), np.diff(X.indptr))
        nodes = np.empty(X.nnz + m, dtype=NODE)
        nodes["index"], nodes["value"] = -1, 0.0  # a row ends with -1
        at = np.arange(X.nnz) + row
        nodes["index"][at], nodes["value"][at] = X.indices + 1, X.data
        first = nodes.ctypes.data + NODE.itemsize * (X.indptr[:-1].astype(np.uint64) + np.arange(m, dtype=np.uint64))
        y, number = problem.y[order].astype(np.float64), (query[order] + 1).astype(np.int32)
        self._kept = nodes, first, y, number
        self.given = _Given(m, d, y.ctypes.data, first.ctypes.data, -1.0, number.ctypes.data)


_last: list[Rows] = []


def train(path: Path, problem: Problem, C: float, tol: float) -> tuple[np.ndarray, float]:
    """Weights, and the CPU seconds of training."""
    if not _last or _last[0].problem.X is not problem.X or _last[0].problem.y is not problem.y:
        _last[:] = [Rows(problem)]
    library: Any = ctypes.CDLL(str(path))
    library.set_print_string_function(SILENT)
    library.train.restype = ctypes.POINTER(_Model)
    parameter = _Parameter(RANKSVM, tol, C, 0, None, None, 0.1, None)
    begin = time.process_time()
    model = library.train(ctypes.byref(_last[0].given), ctypes.byref(parameter))
    seconds = time.process_time() - begin
    weights = np.array(model.contents.w[: problem.X.shape[1]])
    library.free_and_destroy_model(ctypes.byref(model))
    return weights, seconds
