"""Checkpoints of a stream: one file without pickled objects, replaced whole or not at all.

A line that says what it is, the SHA-256 of all that follows, the length of a header, the header (JSON), and the arrays
that it lists, byte after byte. Whatever is read is checked before anything is done with it: a file may be damaged, cut
off, or made up by somebody who knows the format, and kernels look at no bounds.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._errors import DataError, LinrankError, ParameterError
from .._files import replacing
from .._typing import FloatArray
from ..kernels.stochastic import FACTOR
from .descent import Descent
from .stream import Kept, OpenQueries, Stream, check_chunk

MAGIC = b"linrank checkpoint 3\n"
DTYPES = ("float64", "float32", "int64", "int32")
LARGEST = 2**62  # of what is counted: sums of two stay within 64 bits
ANEW = "begin anew with resume=False (--restart), or delete it"


class Saved(NamedTuple):
    """A stream as far as it had come, and what it belongs to."""

    stream: Stream
    done: tuple[int, int]  # the last pass and chunk that it has seen
    first: str  # fingerprint of the first chunk
    names: list[str]  # of the features, if they have any


def save_checkpoint(path: Path, saved: Saved, parameters: dict[str, Any]) -> None:
    """Replace the checkpoint: a reader sees the old one or the new one."""
    stream, queries = saved.stream, saved.stream.queries
    descent = stream.descent
    arrays = {"v": descent.v, "b": descent.b, "state": descent.state, "scale": stream.scale, "means": stream.means}
    for k, kept in enumerate(queries.kept.values()):
        arrays |= {f"kept {k} y": kept.y, f"kept {k} v": kept.v, **_matrix_arrays(f"kept {k}", kept.X)}
    given = {name: array for name, array in arrays.items() if array is not None}
    header = {
        "arrays": [[name, array.dtype.name, _order(array), array.shape] for name, array in given.items()],
        "descent": [descent.t, descent.averaged, int(descent.seed), int(descent.counter)],
        "queries": [int(queries.seed), int(queries.counter)],
        "kept": [[name, kept.seen, kept.X.shape[0]] for name, kept in queries.kept.items()],
        "stream": [stream.n_pairs, stream.n_steps, stream.with_qid, stream.alpha],
        "about": [saved.done, saved.first, saved.names, parameters],
    }
    text = json.dumps(header).encode()
    parts = [len(text).to_bytes(8, "little"), text, *(array.tobytes("A") for array in given.values())]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    with replacing(path) as file:
        for part in (MAGIC, digest.digest(), *parts):
            file.write(part)


def load_checkpoint(path: Path, parameters: dict[str, Any]) -> Saved:
    """What was saved, if it was with these parameters."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise DataError(f"The checkpoint {path} is not a file: name another one.")
    try:
        header, arrays = _unpacked(path.read_bytes())
        done, first, names, written = header["about"]
        _demand(isinstance(written, dict), "its parameters are not understood")
        for name, value in parameters.items():
            if written.get(name) != value:
                raise ParameterError(
                    f"The checkpoint {path} was written with {name}={written.get(name)!r}, not {value!r}: use the same "
                    f"parameters, or {ANEW}."
                )
        stream = _stream(header, arrays, parameters)
        _demand(isinstance(first, str) and _texts(names, (0, stream.descent.v.size)), "its names are not understood")
        _demand(not arrays, "it holds more than it should")
        return Saved(stream, (_whole(done[0]), _whole(done[1])), first, names)
    except ParameterError:
        raise
    except (ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError, LinrankError) as error:
        why = str(error).rstrip(".") or type(error).__name__
        raise DataError(f"The checkpoint {path} cannot be read ({why}): {ANEW}.") from None


def plain(value: Any) -> Any:
    """The value as JSON gives it back; of long arrays a digest, of unknown objects a text."""
    return json.loads(json.dumps(value, default=_described))


def _described(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.size > 100:
        return f"{value.size} numbers, {hashlib.sha256(np.ascontiguousarray(value).data).hexdigest()[:16]}"
    return value.tolist() if hasattr(value, "tolist") else repr(value)


def _demand(right: bool, why: str) -> None:
    if not right:
        raise ValueError(why)


def _whole(value: Any, most: int = LARGEST) -> int:
    """A whole number from 0 on."""
    _demand(type(value) is int and 0 <= value <= most, f"{str(value)[:40]!r} is not a number that it could hold")
    return int(value)


def _texts(values: Any, sizes: tuple[int, ...]) -> bool:
    return isinstance(values, list) and len(values) in sizes and all(isinstance(value, str) for value in values)


def _unpacked(raw: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header, and copies of the arrays, if they take the file's bytes and no others."""
    _demand(bool(raw), "it is empty")
    _demand(raw.startswith(MAGIC), "it is not one, or of another version of linrank")
    start = len(MAGIC) + 32
    _demand(hashlib.sha256(raw[start:]).digest() == raw[len(MAGIC) : start], "it is damaged or cut off")
    end = start + 8 + int.from_bytes(raw[start : start + 8], "little")
    _demand(end <= len(raw), "its header is cut off")
    header = json.loads(raw[start + 8 : end])
    arrays = {}
    for name, dtype, order, shape in header["arrays"]:
        _demand(dtype in DTYPES and order in ("C", "F") and len(shape) in (1, 2), f"array {name!r} is not understood")
        kind, n = np.dtype(dtype), math.prod(_whole(size) for size in shape)
        _demand(n * kind.itemsize <= len(raw) - end, f"array {name!r} is cut off")
        array = np.ndarray(tuple(shape), kind, raw, end, order=order)
        arrays[name] = array.copy("K")
        end += array.nbytes
    _demand(end == len(raw), "it is longer than it should be")
    return header, arrays


def _stream(header: dict[str, Any], arrays: dict[str, NDArray[Any]], parameters: dict[str, Any]) -> Stream:
    """The stream, if its parts fit together."""
    descent = _descent(header["descent"], arrays)
    n_features = descent.v.size
    _demand((descent.b is not None) == parameters["average"], "its average is missing")
    scale, means = (_vector(arrays, name, n_features) if name in arrays else None for name in ("scale", "means"))
    _demand(scale is None or bool(np.all(scale > 0)), "its scale is not above 0")
    size, most = int(parameters["reservoir"]), int(parameters["open_queries"])
    kept = _kept(header["kept"], arrays, n_features, size)
    _demand(len(kept) == len(header["kept"]) <= most, "it keeps more queries than it should")
    queries = OpenQueries(size, most, *_random(*header["queries"]), kept)
    n_pairs, n_steps, with_qid, alpha = header["stream"]
    _demand(type(n_pairs) is int and n_pairs >= 0 and isinstance(with_qid, bool), "its counts are not understood")
    _demand(type(alpha) is float and 0 < alpha < math.inf, "its alpha is not a number above 0")
    return Stream(descent, queries, scale, n_pairs, _whole(n_steps), with_qid, alpha, means)


def _descent(numbers: Any, arrays: dict[str, NDArray[Any]]) -> Descent:
    t, averaged, seed, counter = numbers
    _demand(arrays["v"].size > 0 and _whole(averaged) <= _whole(t), "its counts are not understood")
    v = _vector(arrays, "v", arrays["v"].size)
    b = _vector(arrays, "b", v.size) if "b" in arrays else None
    state = _vector(arrays, "state", 4, finite=False)  # a square may have overflown
    _demand(bool(np.isfinite(state[FACTOR]) and state[FACTOR] > 0), "its weights have no length")
    return Descent(v, b, *_random(seed, counter), t, averaged, state)


def _random(seed: Any, counter: Any) -> tuple[np.uint64, np.uint64]:
    return np.uint64(_whole(seed, 2**64 - 1)), np.uint64(_whole(counter))


def _kept(queries: Any, arrays: dict[str, NDArray[Any]], n_features: int, size: int) -> dict[str, Kept]:
    """The rows kept of each query, as good as if a user gave them now."""
    kept = {}
    for k, (name, seen, n_rows) in enumerate(queries):
        _demand(isinstance(name, str), "a query has no name")
        _demand(_whole(n_rows) == min(size, _whole(seen)), f"query {name!r} has too few or too many rows")
        X = _matrix(f"kept {k}", arrays, (n_rows, n_features))
        y, v = (_vector(arrays, f"kept {k} {part}", n_rows) for part in "yv")
        chunk = check_chunk(X, y, None, v)
        kept[name] = Kept(chunk.X, chunk.y, chunk.v, seen)
    return kept


def _vector(arrays: dict[str, NDArray[Any]], name: str, size: int, finite: bool = True) -> FloatArray:
    array = arrays.pop(name)
    _demand(array.shape == (size,) and array.dtype == np.float64, f"array {name!r} has another shape")
    _demand(not finite or bool(np.all(np.isfinite(array))), f"array {name!r} is not finite")
    return array


def _order(array: NDArray[Any]) -> str:
    return "C" if array.flags.c_contiguous else "F"


def _matrix_arrays(name: str, X: Any) -> dict[str, NDArray[Any]]:
    if sp.issparse(X):
        return {f"{name} data": X.data, f"{name} indices": X.indices, f"{name} indptr": X.indptr}
    return {f"{name} X": X if X.flags.c_contiguous or X.flags.f_contiguous else np.ascontiguousarray(X)}


def _matrix(name: str, arrays: dict[str, NDArray[Any]], shape: tuple[int, int]) -> Any:
    """Rows of X, dense or CSR, of that shape and with no entry outside of it."""
    if f"{name} X" in arrays:
        X = arrays.pop(f"{name} X")
        _demand(X.shape == shape and X.dtype.kind == "f", f"array '{name} X' has another shape")
        return X
    data, indices, indptr = (arrays.pop(f"{name} {part}") for part in ("data", "indices", "indptr"))
    sizes = data.ndim == indices.ndim == 1 and data.size == indices.size and indptr.shape == (shape[0] + 1,)
    _demand(sizes and data.dtype.kind == "f", f"array '{name} data' has another shape")
    _demand(indices.dtype.kind == indptr.dtype.kind == "i", f"array '{name} indices' holds no whole numbers")
    rows = indptr[0] == 0 and indptr[-1] == indices.size and bool(np.all(indptr[1:] >= indptr[:-1]))
    columns = indices.size == 0 or 0 <= indices.min() <= indices.max() < shape[1]
    _demand(rows and columns, f"array '{name} indices' leads out of the rows")  # scipy misses what ends below 0
    return sp.csr_matrix((data, indices, indptr), shape=shape)
