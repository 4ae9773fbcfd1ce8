"""Checkpoints of a stream: one file without pickled objects, replaced whole or not at all."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ._errors import DataError
from ._stream import Kept, OpenQueries, Stream
from .solvers.stochastic import Descent

VERSION = 1


def save_checkpoint(path: Path, stream: Stream, about: dict[str, Any]) -> None:
    """Write everything to a file beside, then rename it: a reader sees the old checkpoint or the new one."""
    descent, queries = stream.descent, stream.queries
    arrays: dict[str, Any] = {"v": descent.v, "state": descent.state, "random": _random(descent, queries)}
    arrays |= {name: array for name, array in _optional(stream) if array is not None}
    for k, kept in enumerate(queries.kept.values()):
        arrays |= {f"kept {k} y": kept.y, f"kept {k} v": kept.v, **_matrix_arrays(f"kept {k}", kept.X)}
    meta = {
        "version": VERSION,
        "descent": [descent.t, descent.averaged],
        "stream": [stream.n_pairs, stream.n_steps, stream.with_qid],
        "queries": [[name, kept.seen, list(kept.X.shape)] for name, kept in queries.kept.items()],
        "about": about,
    }
    arrays["meta"] = np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)
    beside = path.with_name(path.name + ".part")
    with beside.open("wb") as file:
        np.savez(file, **arrays)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def load_checkpoint(path: Path, reservoir: int, open_queries: int) -> tuple[Stream, dict[str, Any]]:
    """The stream as it was saved, and what was said about it."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
        meta = json.loads(arrays["meta"].tobytes())
        if meta["version"] != VERSION:
            raise ValueError(f"it is of version {meta['version']}, not {VERSION}")
        seed, counter, own_seed, own_counter = arrays["random"]
        t, averaged = meta["descent"]
        descent = Descent(arrays["v"], arrays.get("b"), seed, counter, t, averaged, arrays["state"])
        kept = {
            name: Kept(_matrix(f"kept {k}", arrays, shape), arrays[f"kept {k} y"], arrays[f"kept {k} v"], seen)
            for k, (name, seen, shape) in enumerate(meta["queries"])
        }
        queries = OpenQueries(reservoir, open_queries, own_seed, own_counter, kept)
        counts = *meta["stream"], arrays.get("means")
        return Stream(descent, queries, arrays.get("scale"), *counts), meta["about"]
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise DataError(f"The checkpoint {path} cannot be read ({error}): delete it to begin anew.") from None


def _optional(stream: Stream) -> tuple[tuple[str, Any], ...]:
    return ("b", stream.descent.b), ("scale", stream.scale), ("means", stream.means)


def plain(value: Any) -> Any:
    """The value as JSON gives it back: arrays as lists, unknown objects as text."""
    return json.loads(json.dumps(value, default=lambda x: x.tolist() if hasattr(x, "tolist") else repr(x)))


def _random(descent: Descent, queries: OpenQueries) -> NDArray[np.uint64]:
    return np.array([descent.seed, descent.counter, queries.seed, queries.counter], dtype=np.uint64)


def _matrix_arrays(name: str, X: Any) -> dict[str, NDArray[Any]]:
    if sp.issparse(X):
        return {f"{name} data": X.data, f"{name} indices": X.indices, f"{name} indptr": X.indptr}
    return {f"{name} X": X}


def _matrix(name: str, arrays: dict[str, NDArray[Any]], shape: list[int]) -> Any:
    if f"{name} X" in arrays:
        return arrays[f"{name} X"]
    parts = arrays[f"{name} data"], arrays[f"{name} indices"], arrays[f"{name} indptr"]
    return sp.csr_matrix(parts, shape=tuple(shape))
