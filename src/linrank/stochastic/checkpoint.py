"""Checkpoints of a stream: one file without pickled objects, replaced whole or not at all.

A line that says what it is, the SHA-256 of all that follows, the length of a header, the header (JSON), and the arrays
that it lists, byte after byte. Whatever is read is checked before anything is done with it: a file may be damaged, cut
off, or made up by somebody who knows the format, and kernels look at no bounds.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import os
import stat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._errors import DataError, LinrankError, ParameterError
from .._files import replacing
from .._typing import FloatArray
from ..data.checks import check_features
from ..kernels.stochastic import FACTOR
from .descent import Descent
from .held_out import Held
from .reservoir import Closed, Kept, OpenQueries
from .rows import Rows, from_arrays
from .run import Watch
from .stream import Stream

MAGIC = b"linrank checkpoint 4\n"
DTYPES = ("float64", "float32", "int64", "int32", "uint64")
LARGEST = 2**62  # of what is counted: sums of two stay within 64 bits
ANEW = "begin anew with resume=False (--restart), or delete it"

Arrays = dict[str, NDArray[Any]]


class Saved(NamedTuple):
    """A stream as far as it had come, and what it belongs to."""

    stream: Stream
    done: tuple[int, int]  # the last pass and chunk that it has seen
    first: str  # fingerprint of the first chunk
    names: list[str]  # of the features, if they have any


class Keeper(NamedTuple):
    """A checkpoint file, and the parameters that it belongs to."""

    path: Path
    parameters: dict[str, Any]
    resume: bool = False

    def load(self) -> Saved | None:
        """What it holds, if it is there and wanted."""
        return load_checkpoint(self.path, self.parameters) if self.resume and self.path.exists() else None

    def save(self, stream: Stream, done: tuple[int, int], first: str, names: list[str]) -> None:
        """Replace it."""
        save_checkpoint(self.path, Saved(stream, done, first, names), self.parameters)


def save_checkpoint(path: Path, saved: Saved, parameters: dict[str, Any]) -> None:
    """Replace the checkpoint: a reader sees the old one or the new one."""
    stream, queries, watch, held = saved.stream, saved.stream.queries, saved.stream.watch, saved.stream.held
    arrays: dict[str, NDArray[Any] | None] = _descent_arrays("", stream.descent)
    arrays |= {} if watch.best is None else _descent_arrays("best ", watch.best)
    arrays |= {"scale": stream.scale, "means": stream.means, "open key": queries.key, "open seen": queries.seen}
    arrays |= {"closed key": queries.closed.key, "closed seen": queries.closed.seen}
    if (kept := queries.kept) is not None:
        arrays |= {"kept y": kept.y, "kept v": kept.v, "kept owner": kept.owner, "kept place": kept.place}
        arrays |= _rows_arrays("kept ", kept.rows)
    if held is not None and held.rows is not None:
        arrays |= {"held y": held.y, "held v": held.v, "held key": held.key, **_rows_arrays("held ", held.rows)}
    given = {name: array for name, array in arrays.items() if array is not None}
    header = {
        "arrays": [[name, array.dtype.name, _order(array), array.shape] for name, array in given.items()],
        "descent": _numbers(stream.descent),
        "watch": [watch.score, watch.fails, None if watch.best is None else _numbers(watch.best)],
        "queries": [int(queries.seed), int(queries.counter), queries.limit, queries.met, queries.lost],
        "held": None if held is None else [int(held.seed), int(held.counter), float(held.next_at), held.full],
        "stream": [
            stream.n_pairs,
            stream.n_steps,
            stream.with_qid,
            stream.alpha,
            float(stream.n_rows),
            stream.strength,
            stream.again,
        ],
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


def _descent_arrays(name: str, descent: Descent) -> dict[str, NDArray[Any] | None]:
    return {f"{name}v": descent.v, f"{name}b": descent.b, f"{name}state": descent.state}


def _numbers(descent: Descent) -> list[int]:
    return [descent.t, descent.averaged, int(descent.seed), int(descent.counter)]


def _rows_arrays(name: str, rows: Rows) -> dict[str, NDArray[Any]]:
    return {f"{name}{part}": _contiguous(array) for part, array in rows.arrays().items()}


def _contiguous(array: NDArray[Any]) -> NDArray[Any]:
    return array if array.flags.c_contiguous or array.flags.f_contiguous else np.ascontiguousarray(array)


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


def _stream(header: dict[str, Any], arrays: Arrays, parameters: dict[str, Any]) -> Stream:
    """The stream, if its parts fit together."""
    descent = _descent(header["descent"], "", arrays)
    n_features = descent.v.size
    _demand((descent.b is not None) == parameters["average"], "its average is missing")
    scale, means = (_vector(arrays, name, n_features) if name in arrays else None for name in ("scale", "means"))
    _demand(scale is None or bool(np.all(scale > 0)), "its scale is not above 0")
    n_pairs, n_steps, with_qid, alpha, n_rows, strength, again = header["stream"]
    _demand(
        type(n_pairs) is int and n_pairs >= 0 and type(with_qid) is type(again) is bool, "its counts are not understood"
    )
    for number in (alpha, n_rows, strength):
        _demand(type(number) is float and 0 <= number < math.inf, "its alpha or counts are not numbers from 0 on")
    _demand(alpha > 0, "its alpha is not above 0")
    return Stream(
        descent,
        _queries(header["queries"], arrays, n_features, parameters),
        scale,
        alpha,
        with_qid,
        n_rows,
        n_pairs,
        _whole(n_steps),
        strength,
        means,
        _watch(header["watch"], arrays, descent),
        _held(header["held"], arrays, n_features, with_qid, parameters),
        again,
    )


def _descent(numbers: Any, name: str, arrays: Arrays) -> Descent:
    t, averaged, seed, counter = numbers
    _demand(arrays[f"{name}v"].size > 0 and _whole(averaged) <= _whole(t), "its counts are not understood")
    v = _vector(arrays, f"{name}v", arrays[f"{name}v"].size)
    b = _vector(arrays, f"{name}b", v.size) if f"{name}b" in arrays else None
    state = _vector(arrays, f"{name}state", 4, finite=False)  # a square may have overflown
    _demand(bool(np.isfinite(state[FACTOR]) and state[FACTOR] > 0), "its weights have no length")
    return Descent(v, b, *_random(seed, counter), t, averaged, state)


def _watch(given: Any, arrays: Arrays, descent: Descent) -> Watch:
    score, fails, numbers = given
    best = None if numbers is None else _descent(numbers, "best ", arrays)
    _demand(best is None or best.v.shape == descent.v.shape, "its best weights have another shape")
    _demand(type(score) is float and -1 <= score <= 1, "its score is not one")
    return Watch(best, score, _whole(fails))


def _random(seed: Any, counter: Any) -> tuple[np.uint64, np.uint64]:
    return np.uint64(_whole(seed, 2**64 - 1)), np.uint64(_whole(counter))


def _queries(given: Any, arrays: Arrays, n_features: int, parameters: dict[str, Any]) -> OpenQueries:
    """The open queries, their rows as good as if a user gave them now."""
    seed, counter, limit, met, lost = given
    key, seen = (arrays.pop(f"open {part}") for part in ("key", "seen"))
    closed = Closed(*(arrays.pop(f"closed {part}") for part in ("key", "seen")))
    for keys, counts in ((key, seen), (closed.key, closed.seen)):
        _demand(keys.ndim == counts.ndim == 1 and keys.size == counts.size, "its queries are not counted")
        _demand(keys.dtype == np.uint64 and counts.dtype == np.int64, "its queries are not understood")
        _demand(keys.size == 0 or bool(0 < counts.min() and counts.max() <= LARGEST), "its queries are not counted")
    _demand(np.unique(key).size == key.size, "it holds a query twice")
    _demand(bool(np.all(closed.key[1:] > closed.key[:-1])), "its queries are not sorted")
    size, most = int(parameters["reservoir"]), int(parameters["open_queries"] or LARGEST)
    _demand(key.size <= most and _whole(limit) <= size, "it keeps more queries than it should")
    kept = _kept(arrays, key.size, limit, n_features) if key.size else None
    if kept is not None:
        held = np.bincount(kept.owner, minlength=key.size)
        _demand(bool(np.all(held == np.minimum(seen, limit))), "a query has too few or too many rows")
    return OpenQueries(size, most, *_random(seed, counter), limit, key, seen, kept, closed, _whole(met), _whole(lost))


def _kept(arrays: Arrays, n_queries: int, limit: int, n_features: int) -> Kept:
    n = arrays["kept y"].size
    y, v = (_vector(arrays, f"kept {part}", n) for part in ("y", "v"))
    owner, place = (arrays.pop(f"kept {part}") for part in ("owner", "place"))
    for numbers, most in ((owner, n_queries), (place, limit)):
        _demand(numbers.shape == (n,) and numbers.dtype == np.int64, "its rows belong to no query")
        _demand(n > 0 and bool(0 <= numbers.min() and numbers.max() < most), "its rows belong to no query")
    _demand(np.unique(owner * limit + place).size == n, "two of its rows have one place")
    _demand(bool(np.all(v >= 0)), "a row weighs less than nothing")
    return Kept(_rows(arrays, "kept ", (n, n_features)), y, v, owner, place)


def _held(given: Any, arrays: Arrays, n_features: int, with_qid: bool, parameters: dict[str, Any]) -> Held | None:
    if given is None:
        return None
    seed, counter, next_at, full = given
    _demand(
        type(full) is bool and type(next_at) is float and 0 <= next_at < math.inf, "its next score is due at no time"
    )
    held = Held(float(parameters["validation_fraction"]), *_random(seed, counter), with_qid, next_at=next_at, full=full)
    if "held y" not in arrays:
        return held
    n = arrays["held y"].size
    y, v = (_vector(arrays, f"held {part}", n) for part in ("y", "v"))
    key = arrays.pop("held key")
    _demand(key.shape == (n,) and key.dtype == np.uint64 and bool(np.all(v >= 0)), "its held-out rows do not fit")
    return dataclasses.replace(held, rows=_rows(arrays, "held ", (n, n_features)), y=y, v=v, key=key)


def _rows(arrays: Arrays, name: str, shape: tuple[int, int]) -> Rows:
    parts = ("X",) if f"{name}X" in arrays else ("data", "indices", "indptr")
    rows = from_arrays({part: arrays.pop(f"{name}{part}") for part in parts}, shape)
    return type(rows)(check_features(rows.X))  # type: ignore[call-arg]


def _vector(arrays: Arrays, name: str, size: int, finite: bool = True) -> FloatArray:
    array = arrays.pop(name)
    _demand(array.shape == (size,) and array.dtype == np.float64, f"array {name!r} has another shape")
    _demand(not finite or bool(np.all(np.isfinite(array))), f"array {name!r} is not finite")
    return array


def _order(array: NDArray[Any]) -> str:
    return "C" if array.flags.c_contiguous else "F"
