"""The model file: JSON that a person can read, exact to the bit, written whole or not at all.

The schema is in ``docs/file-formats.md``. Version 1 stays readable: ``tests/io/golden`` holds files of it.
"""

from __future__ import annotations

import os
from typing import Any

from .._errors import ModelFileError, ParameterError
from .._files import PathLike, replacing
from . import _foreign
from ._document import dumps, loads
from ._model import Model

__all__ = ["Model", "load", "read_model", "save"]


def save(ranker: Any, path: PathLike) -> None:
    """Write a fitted ranker (or AUCClassifier) to a model file.

    A Pipeline of affine steps (scalers, choices of columns) and a ranker is written as one ranker on the columns that
    come in. All its scores differ from the pipeline's by one number, which no comparison shows. Any other is refused:
    ``joblib.dump`` keeps it.

    The file is written beside its place and moved there: a crash or a full disk leaves the file that was there before.
    `history_` and `cv_results_` are not kept, nor what `warm_start` keeps of the solver beside the weights.
    """
    text = dumps(Model.of(_folded(ranker)))
    with replacing(path) as file:
        file.write(text)


def _folded(estimator: Any) -> Any:
    """A pipeline as one ranker; others as they are."""
    if not hasattr(estimator, "steps"):
        return estimator
    from ..rankers.pipeline import fold

    try:
        return fold(estimator)[0]
    except ParameterError as error:
        raise ModelFileError(f"The Pipeline cannot be saved: {error}") from None


def load(path: PathLike, *, n_features: int | None = None) -> Any:
    """Read a fitted ranker: a model file of linrank, or one of SVMrank (linear kernel) or LIBLINEAR.

    `n_features` is for SVMrank's files, which do not say how many features there were: those beyond the last weight
    have weight 0. Raises ModelFileError where the file is damaged, foreign or newer than this linrank.
    """
    return read_model(path, n_features=n_features).ranker()


def is_model(text: bytes) -> bool:
    """Whether the first bytes of a file are those of a model (of linrank, SVMrank or LIBLINEAR) rather than of data."""
    text = text.lstrip()
    return text.startswith(b"{") or _foreign.is_svmrank(text) or _foreign.is_liblinear(text)


def read_model(path: PathLike, *, n_features: int | None = None) -> Model:
    """Read a model file with everything that it says; `load` gives the ranker itself."""
    with open(path, "rb") as file:
        text = file.read()
    name = os.fspath(path)
    if _foreign.is_svmrank(text):
        weights = _foreign.svmrank_weights(text, name, n_features)
        return Model("LinearRanker", {"loss": "hinge"}, weights, training={"fitted_with_qid": True})
    if n_features is not None:
        raise ModelFileError(f"{name} says itself how many features it has: leave n_features out.")
    if _foreign.is_liblinear(text):
        weights, loss = _foreign.liblinear_weights(text, name)
        return Model("LinearRanker", {"loss": loss}, weights, training={"fitted_with_qid": True})
    return loads(text, name)
