"""What kernels give back: scalars and plain tuples of them.

numba makes anything else (a named tuple, an array) by unpickling its class on the way out of the kernel, and does not
look whether that failed: where Ctrl-C is pending then, the process dies of a segmentation fault.
"""

import ast
import importlib
import pkgutil
from pathlib import Path

import numba
import pytest

from linrank import LinearRanker, kernels
from linrank.io import read_svmlight
from linrank.testing import make_ranking

pytestmark = pytest.mark.kernels

FOLDER = Path(kernels.__file__).parent
CALLED_FROM_PYTHON = {"kernel", "summing_kernel", "uncounted"}
SCALARS = {"None", "float", "int", "bool"}


def plain(annotation: ast.expr | None) -> bool:
    """Whether it is a scalar's annotation, or that of a tuple of scalars."""
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) == "tuple":
        entries = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
        return all(ast.unparse(entry) in SCALARS - {"None"} for entry in entries)
    return annotation is not None and ast.unparse(annotation) in SCALARS


def test_no_kernel_says_that_it_returns_a_class_or_an_array():
    for path in FOLDER.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            decorators = {ast.unparse(name) for name in getattr(node, "decorator_list", [])}
            if isinstance(node, ast.FunctionDef) and decorators & CALLED_FROM_PYTHON:
                assert plain(node.returns), f"{path.name}, {node.name}: {ast.unparse(node.returns)}"


def returned(kind) -> bool:
    """Whether numba makes a type without unpickling its class."""
    if isinstance(kind, numba.types.BaseNamedTuple):
        return False
    if isinstance(kind, numba.types.BaseTuple):
        return all(map(returned, kind))
    return isinstance(kind, (numba.types.Number, numba.types.Boolean, numba.types.NoneType))


def test_no_compiled_kernel_returns_a_class_or_an_array(tmp_path):
    X, y, qid = make_ranking(60, 3, 4, 3, seed=0)
    for loss in ("hinge", "squared_hinge", "logistic"):
        LinearRanker(loss).fit(X, y, qid).score(X, y, qid)
    (tmp_path / "x.txt").write_text("1 qid:1 1:2 2:1\n0 qid:1 1:1\n")
    read_svmlight(tmp_path / "x.txt", dense=True)
    seen = set()
    for module in pkgutil.walk_packages([str(FOLDER)], "linrank.kernels."):
        for name, function in vars(importlib.import_module(module.name)).items():
            for signature in getattr(function, "nopython_signatures", ()):
                inlined = function.targetoptions.get("forceinline")
                assert inlined or returned(signature.return_type), f"{name} returns {signature.return_type}"
                seen.add(name)
    assert numba.config.DISABLE_JIT or {"parse", "scatter"} <= seen
