"""Damaged files through every loader: each a right answer or a LinrankError; all else is counted, and printed.

A million inputs in all, LINRANK_FUZZ_INPUTS says otherwise; a few thousand in a quick check. Kernels run with
bounds checks, compiled anew. The seed is the date unless LINRANK_FUZZ_SEED; LINRANK_FUZZ_ONLY names some loaders.
"""

from __future__ import annotations

import copy
import csv
import gzip
import hashlib
import io
import json
import logging
import math
import mmap
import multiprocessing
import os
import re
import signal
import tempfile
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import scipy.sparse as sp

from evaluate import evaluate_all
from linrank import AUCClassifier, LinearRanker, LinearRankerCV, LinrankError, RankingData, SGDRanker
from linrank.cli._parameters import parse_preferences, read_pairs, read_query_weights
from linrank.io import (
    Dataset,
    Model,
    iter_svmlight,
    read,
    read_model,
    read_svmlight,
    write_csv,
    write_parquet,
)
from linrank.io import write_svmlight as write_lines
from linrank.io._cells import EMPTY
from linrank.io._document import dumps, loads
from linrank.losses import Hinge
from linrank.stochastic.checkpoint import MAGIC
from linrank.testing import enumerate_pairs, make_ranking, naive_hinge, naive_svmlight
from measure import quick, report

SOURCES = ("io/**/*.py", "kernels/text/**/*.py", "stochastic/checkpoint.py", "stochastic/stream.py", "data/**/*.py")
INPUTS, QUICK_INPUTS = 1_000_000, 4_000
LONGEST_WAIT = 30  # seconds after which an input counts as a hang
ROUND_TRIPS = 16  # one in so many answers is written and read again
X, Y, QID = make_ranking(12, 3, 4, 3, seed=1)
NAMES = ["a", "b", "price in €"]
SCORES = np.random.default_rng(0).standard_normal(12)
WORDS = [
    *(b"nan", b"inf", b"1e999", b"-", b"+", b".", b":", b"#", b"\r", b"\n", b"\r\n", b"\t", b" ", b"\x00", b"\xff"),
    *(b'"', b",", b"9" * 30, b"0" * 400, b"1" + b"7" * 900, b"1e-400", b"5e-324", b"1.7976931348623158079e308"),
    *(b"3.4028235677973366163e38", b"16777217", b"9007199254740993", b"18446744073709551615", b"-9223372036854775808"),
    *(
        b"1_0",
        b"qid:",
        b"cost:1 ",
        b"cost:",
        b"2147483647:1 ",
        b"0:1",
        b"1:1 ",
        b"{",
        b"[",
        b"null",
        b"true",
        b"<",
        b">",
    ),
    *("\u0663".encode(), "\u2028".encode(), b"\\ud800", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\x1b[31m", b"NA", b"''"),
    *(b"0", b"1", b"-1", b"2", b"3", b"7", b"0.5", b"-0.0", b"1e-3", b"+2.", b".5", b"1e22", b"123456.123456789"),
]
TOKEN = re.compile(rb"[^\s,:#\"]+")
#: What takes the place of a value of JSON.
VALUES = [
    *(None, True, False, "", "x", "\ud800", "nan", [], {}, [None], ["x"], [[0, 1, 2]], [[0, 1], [1, 2, 3]], 0, -1, 1.5),
    *(1e308, 5e-324, 10**30, 10**400, 2**63, {"repr": "x"}, {"solver": "Newton"}, {"solver": 1}, [1, "x"], [[[]]]),
]
TYPES = [np.float32, np.float64, np.int64, np.int32, np.int8]
#: Types of columns of a table, and values to draw from.
COLUMNS: list[tuple[Any, list[Any]]] = [
    (pa.int64(), [0, 1, 2, 2**53 + 1, -(2**63)]),
    (pa.uint64(), [0, 1, 2, 2**64 - 1]),
    (pa.int8(), [0, 1, -128]),
    (pa.float64(), [0.5, -0.0, math.nan, math.inf, 1e308, 5e-324, 1.0, 2.0]),
    (pa.float32(), [0.5, 3.4028235e38, math.nan, 1.0]),
    (pa.float16(), [np.float16(0.5), np.float16(60000)]),
    (pa.bool_(), [True, False]),
    (pa.string(), ["a", "", "1", "nan", "\0", "x" * 100, "\n"]),
    (pa.large_string(), ["a", "b", "7"]),
    (pa.binary(), [b"a", b"\xff"]),
    (pa.decimal128(38, 2), [Decimal("1.50"), Decimal("9" * 36)]),
    (pa.timestamp("us"), [0, 10**15]),
    (pa.date32(), [0, 1]),
    (pa.duration("s"), [0, 5]),
    (pa.list_(pa.int64()), [[], [1], [1, 2]]),
    (pa.struct([("a", pa.int64())]), [{"a": 1}]),
    (pa.dictionary(pa.int8(), pa.string()), ["a", "b"]),
    (pa.null(), [None]),
]
LIBLINEAR = b"solver_type L2R_L2LOSS_SVR\nnr_class 2\nnr_feature 3\nbias -1\nw\n0.5 \n-0.25 \n1e-3 \n"
SVMRANK = b"""SVM-light Version V6.20
0 # kernel type
5 # highest feature index
3 # number of support vectors plus 1
0 # threshold b, each following line is a SV (starting with alpha*y)
1 1:-0.5 3:0.25 #
0.5 2:2 3:1 #
"""


class Loader(NamedTuple):
    """What is read: its share of the inputs, whole files, how they are damaged, and whether an answer is right.

    `right` is given the bytes, a path in a folder of its own to write them to, and chance.
    """

    share: float
    whole: Callable[[Path], list[bytes]]
    right: Callable[[bytes, Path, Random], bool]
    damage: Callable[[bytes, Random], bytes] | None = None


def damaged(text: bytes, chance: Random) -> bytes:
    """The text with one to four injuries."""
    data = bytearray(text)
    for _ in range(chance.choice([1, 1, 1, 2, 2, 4])):
        place, kind = chance.randrange(len(data) + 1), chance.randrange(10)
        if kind == 0 and chance.random() < 0.3:
            del data[place:]
        elif kind == 1 and place < len(data):
            data[place] ^= 1 << chance.randrange(8)
        elif kind == 2:
            del data[place : place + chance.randrange(1, 40)]
        elif kind == 3:
            data[place:place] = chance.choice(WORDS)
        elif kind == 4:
            start = chance.randrange(len(data) + 1)
            data[place:place] = data[start : start + chance.randrange(1, 80)]
        elif kind == 5:
            word = chance.choice(WORDS)
            data[place : place + len(word)] = word
        elif kind > 6:
            token = chance.choice(list(TOKEN.finditer(data)) or [None])
            data[slice(*(token.span() if token else (0, 0)))] = chance.choice(WORDS)
        else:
            data[place:place] = chance.randbytes(chance.randrange(1, 20))
    return bytes(data)


def damaged_document(text: bytes, chance: Random) -> bytes:
    """A model whose values, keys or bytes are others than they should be; mostly without the checksum that tells."""
    try:
        document = json.loads(text)
    except ValueError:  # damaged already
        document = None
    if chance.random() < 0.3 or not isinstance(document, dict):
        return damaged(text, chance)
    if chance.random() < 0.95:
        document.pop("checksum", None)
    for _ in range(chance.randrange(1, 4)):
        change_one(document, chance)
    out = json.dumps(document).replace("Infinity", "1e999").encode()
    return damaged(out, chance) if chance.random() < 0.1 else out


def change_one(holder: Any, chance: Random) -> None:
    """Change a value somewhere within a dictionary or list."""
    keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
    if not keys:
        return
    key, kind = chance.choice(keys), chance.randrange(8)
    if isinstance(holder[key], (dict, list)) and chance.random() < 0.8:
        change_one(holder[key], chance)
    elif kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, list):
        holder.append(copy.deepcopy(holder[key]))
    elif kind == 2 and isinstance(holder[key], (int, float)):
        holder[key] = holder[key] * chance.choice([-1, 2, 10**300, 0])
    else:
        holder[key] = copy.deepcopy(chance.choice(VALUES))


def damaged_checkpoint(text: bytes, chance: Random) -> bytes:
    """A checkpoint whose header or arrays are others than they should be, mostly under a digest that fits them."""
    if chance.random() < 0.1:
        return damaged(text, chance)
    start = len(MAGIC) + 32
    end = start + 8 + int.from_bytes(text[start : start + 8], "little")
    header, arrays = json.loads(text[start + 8 : end]), {}
    for name, dtype, order, shape in header["arrays"]:
        array = np.ndarray(tuple(shape), dtype, text, end, order=order)
        arrays[name] = array.copy()
        end += array.nbytes
    for _ in range(chance.choice([0, 1, 1, 2])):
        change_array(arrays, chance)
    header["arrays"] = [[name, array.dtype.name, "C", list(array.shape)] for name, array in arrays.items()]
    for _ in range(chance.choice([0, 0, 1, 2])):
        change_one(header, chance)
    inside = json.dumps(header).replace("Infinity", "1e999").encode()
    inside = len(inside).to_bytes(8, "little") + inside + b"".join(array.tobytes() for array in arrays.values())
    inside = damaged(inside, chance) if chance.random() < 0.1 else inside
    return MAGIC + hashlib.sha256(inside).digest() + inside


def change_array(arrays: dict[str, Any], chance: Random) -> None:
    """Drop an array, or change its size, type, shape or one of its numbers."""
    if not arrays:
        return
    name = chance.choice(list(arrays))
    array, kind = arrays[name], chance.randrange(8)
    if kind == 0:
        del arrays[name]
    elif kind == 1:
        arrays[name] = array[: chance.randrange(len(array) + 1)]
    elif kind == 2:
        arrays[name] = np.concatenate([array, array])
    elif kind == 3:
        arrays[name] = array.astype(chance.choice(TYPES))
    elif kind == 4:
        arrays[name] = array.reshape(chance.choice([(-1,), (1, -1), (-1, 1)]))
    elif array.size:
        value = chance.choice([-1, 0, 1, 2, 3, 2**31 - 1, 50_000_000, np.nan, np.inf, 1e308, 5e-324, -5])
        array.flat[chance.randrange(array.size)] = np.array(value).astype(array.dtype)


# Ranking data: SVMlight and tables.


def text_files(folder: Path) -> list[bytes]:
    write_lines(folder / "x", X, Y, QID, comments=[f"docid = {k}" for k in range(12)], sample_weight=Y + 0.5)
    plain = (folder / "x").read_bytes()
    names = b"".join(b"%d qid:q%d 1:%r 3:-1e-7 # %d\r\n" % (k % 3, k // 4, float(X[k, 0]), k) for k in range(12))
    return [plain, names, b"1 1:0.5 2:nan\n0 2:1 1:7\n\n# nothing\n2\n"]


def nearest_single(token: str) -> float:
    """The float32 nearest to a decimal number, by fractions."""
    if abs(float(token)) > 1e39 or float(token) == 0:
        return math.inf if float(token) else float(token)
    exact, near = Fraction(Decimal(token)), np.float32(min(max(float(token), -3.4028234e38), 3.4028234e38))
    if abs(exact) >= 2**128 - 2**103:
        return math.inf
    some = [float(np.nextafter(near, np.float32(side))) for side in (-np.inf, np.inf)] + [float(near)]
    some = [value for value in some if math.isfinite(value)]
    even = {value: int(np.float32(value).view(np.int32)) & 1 for value in some}
    return min(some, key=lambda value: (abs(Fraction(value) - exact), even[value]))


def svmlight_is_right(text: bytes, path: Path, chance: Random) -> bool:
    single, keep, skip = chance.random() < 0.03, chance.random() < 0.5, chance.random() < 0.5
    rows, bad = naive_svmlight(text, nearest_single if single else float, keep_nan=keep)
    mixed = len({row.qid is None for row in rows}) == 2
    options: dict[str, Any] = {"dtype": np.float32 if single else np.float64, "missing": "keep" if keep else "error"}
    options |= {"on_error": "skip" if skip else "raise", "n_jobs": chance.choice([None, 1, 2])}
    try:
        if chance.random() < 0.2:
            options |= {"chunk_rows": chance.randrange(1, 9), "n_features": 2**31 - 2}
            return same_rows(rows, list(iter_svmlight(io.BytesIO(text), **options))) and (skip or not bad)
        data = read_svmlight(io.BytesIO(text), **options)
    except LinrankError:
        packed = text[:2] == b"\x1f\x8b" or text[:4] == b"\x28\xb5\x2f\xfd"
        if not (not rows or mixed or packed or (bad and not skip)):
            return False  # there is nothing to complain about
        raise
    return same_rows(rows, [data]) and data.skipped == len(bad) and (skip or not bad)


def same_rows(rows: list[Any], parts: list[Dataset]) -> bool:
    found = []
    for data in parts:
        for k in range(data.n_rows):
            entries = slice(data.X.indptr[k], data.X.indptr[k + 1])
            features = dict(zip(data.X.indices[entries].tolist(), data.X.data[entries].tolist(), strict=True))
            qid = None if data.qid is None else bytewise(str(data.qid[k]))
            note = "" if data.comments is None else bytewise(data.comments[k])
            cost = 1.0 if data.cost is None else float(data.cost[k])
            found.append((float(data.y[k]), qid, cost, dict(sorted(features.items())), note))
    expected = [(row.y, row.qid, row.cost, dict(sorted(row.features.items())), row.comment) for row in rows]
    return repr(found) == repr(expected)  # which tells -0.0 from 0.0, and takes nan for nan


def bytewise(text: str) -> str:
    """One character a byte, as the twin has them."""
    return text.encode("utf-8", "surrogateescape").decode("latin-1")


def packed(pack: Callable[[bytes], bytes]) -> Callable[[Path], list[bytes]]:
    return lambda folder: [pack(text_files(folder)[0])]


def zstd(text: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor(write_checksum=True).compress(text)  # as write_svmlight does


def archive_is_right(text: bytes, path: Path, chance: Random) -> bool:
    data = read(io.BytesIO(text), missing="keep", on_error="skip")
    # An archive that still looks like one and is unpacked without complaint holds all its rows.
    unchecked = text[:4] == b"\x28\xb5\x2f\xfd" and not text[4] & 4  # a damaged header says: no checksum
    whole = text[:2] not in (b"\x1f\x8b", b"\x28\xb5") or data.n_rows in (12, 24)
    return consistent(data) and (whole or unchecked)


def table_text(separator: str) -> Callable[[Path], list[bytes]]:
    def whole(folder: Path) -> list[bytes]:
        some = Dataset(X, Y, QID, [f"d {k}" for k in range(12)], Y + 0.5, NAMES)
        write_csv(folder / "x.csv", some, separator=separator)
        rows = ["1,0.5,NA", '0,7,"1e3"', "2,,-1"]
        return [(folder / "x.csv").read_bytes(), "\n".join(rows).replace(",", separator).encode()]

    return whole


def table_is_right(separator: str) -> Callable[[bytes, Path, Random], bool]:
    kind = "csv" if separator == "," else "tsv"

    def right(text: bytes, path: Path, chance: Random) -> bool:
        data = read(io.BytesIO(text), format=kind, missing="keep", query=chance.choice([None, ""]))
        cells = list(csv.reader(io.StringIO(text.decode("utf-8-sig"), newline=""), delimiter=separator, strict=True))
        cells = [row for row in cells if row]
        names, first = cells[0], 1
        if data.feature_names is not None and not set(data.feature_names) <= set(names):
            names, first = [str(k + 1) for k in range(len(names))], 0
        if data.n_rows != len(cells) - first:
            names, first = [str(k + 1) for k in range(len(names))], 0
        same = data.n_rows == len(cells) - first and consistent(data)
        for j, name in enumerate(data.feature_names or []):
            column = [row[names.index(name)] for row in cells[first:]]
            same &= repr([math.nan if cell in EMPTY else float(cell) for cell in column]) == repr(data.X[:, j].tolist())
        back = path.with_name(f"back.{kind}")
        return same and (chance.randrange(ROUND_TRIPS) > 0 or comes_back(data, back, separator))

    return right


def comes_back(data: Dataset, path: Path, separator: str) -> bool:
    """Whether a table is the same after it was written and read again."""
    try:
        write_csv(path, data, separator=separator)
    except LinrankError:
        return True
    written = {"label": data.y, "query": data.qid, "id": data.comments, "weight": data.sample_weight}
    columns = {"label": "label", "query": "qid", "id": "id", "weight": "weight"}
    roles = {role: "" if written[role] is None else column for role, column in columns.items()}
    again = read(path, missing="keep", **roles)
    same = np.array_equal(data.X, again.X, equal_nan=True) and data.feature_names == again.feature_names
    return same and (data.y is None or np.array_equal(data.y, again.y))


def consistent(data: Dataset) -> bool:
    """Whether all parts are of one length, and all numbers are some."""
    values = data.X.data if hasattr(data.X, "indptr") else data.X
    parts = [part for part in (data.y, data.qid, data.comments, data.sample_weight) if part is not None]
    numbers = [part for part in (data.y, data.sample_weight) if part is not None]
    finite = not np.isinf(values).any() and all(np.isfinite(part).all() for part in numbers)
    return finite and all(len(part) == data.n_rows for part in parts) and data.X.ndim == 2


def parquet_files(folder: Path) -> list[bytes]:

    write_parquet(folder / "x.parquet", Dataset(X, Y, QID, [f"d{k}" for k in range(12)], None, NAMES))
    table = pa.table({"y": [1, 0, 1, 2], "qid": ["a", "a", "b", "b"], "n": [2**53 + 1, None, -(2**62), 0],
                      "f": pa.array([1, 2, 3, 4], pa.float32()), "t": [True, False, None, True]})  # fmt: skip
    pyarrow.parquet.write_table(table, folder / "y.parquet", compression="none")
    return [(folder / name).read_bytes() for name in ("x.parquet", "y.parquet")]


def arrow_files(folder: Path) -> list[bytes]:

    parquet_files(folder)
    files = []
    for name in ("x.parquet", "y.parquet"):
        table = pyarrow.parquet.read_table(folder / name)
        out, stream = io.BytesIO(), io.BytesIO()
        pyarrow.feather.write_feather(table, out, compression="uncompressed")
        with pyarrow.ipc.new_stream(stream, table.schema) as writer:
            writer.write_table(table)
        files += [out.getvalue(), stream.getvalue()]
    return files


def odd_table(chance: Random) -> Any:
    """A small table of columns of all kinds, named as some that are looked for."""
    size, columns = chance.randrange(4), []
    names = [*("label", "y", "qid", "query", "docid", "id", "weight", "a", "b", "", "rating", "Label", "\x1b[31m", "€")]
    for _ in range(chance.randrange(1, 6)):
        kind, values = chance.choice(COLUMNS)
        cells = [chance.choice([*values, *([None] if chance.random() < 0.2 else [])]) for _ in range(size)]
        columns.append(pa.array(cells, kind))
    table = pa.table(columns, names=[chance.choice(names) for _ in columns])
    roles = {role: chance.choice([*names, 1, None, ["a"], {}]) for role in ("label", "query", "id", "weight")}
    return table.replace_schema_metadata({"linrank": json.dumps(roles)} if chance.random() < 0.3 else None)


def damaged_table(kind: str) -> Callable[[bytes, Random], bytes]:
    def damage(text: bytes, chance: Random) -> bytes:

        if chance.random() < 0.6:
            return damaged(text, chance)
        out = io.BytesIO()
        if kind == "parquet":
            pyarrow.parquet.write_table(odd_table(chance), out)
        else:
            pyarrow.feather.write_feather(odd_table(chance), out, compression="uncompressed")
        return out.getvalue()

    return damage


def binary_table_is_right(kind: str) -> Callable[[bytes, Path, Random], bool]:
    def right(text: bytes, path: Path, chance: Random) -> bool:
        path.write_bytes(text)
        data = read(path, format=kind, missing="keep")
        if kind == "arrow":
            return consistent(data)
        table = pyarrow.parquet.read_table(pa.BufferReader(text))
        same = consistent(data)
        for j, name in enumerate(data.feature_names or []):
            if name not in table.column_names:  # a part of a column of lists
                continue
            cells = [math.nan if cell is None else float(cell) for cell in table.column(name).to_pylist()]
            same &= repr(cells) == repr(data.X[:, j].tolist())
        return same

    return right


# Models and checkpoints.


def model_files(folder: Path) -> list[bytes]:
    import pandas as pd

    frame = pd.DataFrame(X, columns=NAMES)
    fitted = [
        LinearRanker(missing="mean", preferences=[(0, 1), (1, 2, 0.5)]).fit(frame, Y, QID),
        LinearRankerCV(cv=2, alphas=[0.1, 1.0]).fit(X, Y, QID),
        SGDRanker(n_steps=50, random_state=0).fit(X, Y, QID),
        AUCClassifier().fit(X, Y > 0),
        AUCClassifier(cv=None).fit(X, np.where(Y > 0, "yes", "no")),
    ]
    return [dumps(Model.of(ranker)) for ranker in fitted]


def model_is_right(text: bytes, path: Path, chance: Random) -> bool:
    return survives(loads(text, "fuzzed"))


def foreign_model_is_right(text: bytes, path: Path, chance: Random) -> bool:
    path.write_bytes(text)
    return survives(read_model(path))


def survives(model: Model) -> bool:
    """Whether a model predicts, and comes back from a file as it was."""
    if model.weights.size > 10_000:  # right, but it takes too long to write all its zeros
        return bool(np.isfinite(model.weights).all())
    ranker = model.ranker()
    rows = np.zeros((2, model.weights.size))
    answers = [ranker.predict(rows)]
    if hasattr(ranker, "classes_"):
        answers += [ranker.decision_function(rows), ranker.predict_proba(rows)[:, 1]]
    again = loads(dumps(Model.of(ranker)), "again")
    same = again.weights.tobytes() == model.weights.tobytes() and again.names == model.names
    return same and bool(np.isfinite(model.weights).all()) and all(np.shape(answer) == (2,) for answer in answers)


STREAM = {"random_state": 0, "reservoir": 5, "open_queries": 2, "average": True, "scale": [1.0, 2.0, 0.5]}


def chunks(sparse: bool, stop: bool = False) -> Any:
    rows = sp.csr_matrix(X) if sparse else X
    for k in range(4):
        if stop and k == 2:
            raise InterruptedError
        yield rows[3 * k : 3 * k + 3], Y[3 * k : 3 * k + 3], np.array([k // 2] * 3)


def checkpoint_files(folder: Path) -> list[bytes]:
    files = []
    for sparse in (False, True):
        path = folder / f"checkpoint {sparse}"
        try:
            SGDRanker(**STREAM).fit_stream(chunks(sparse, stop=True), checkpoint=path)
        except InterruptedError:
            files.append(path.read_bytes())
    return files


def checkpoint_is_right(text: bytes, path: Path, chance: Random) -> bool:
    path.write_bytes(text)
    try:
        ranker = SGDRanker(**STREAM).fit_stream(chunks(b"indptr" in text), checkpoint=path)
        return ranker.coef_.shape == (3,) and bool(np.isfinite(ranker.coef_).all())
    finally:
        path.unlink(missing_ok=True)


# Pairs, preferences, weights.


def adds_up(**given: Any) -> bool:
    """Whether the fast sums over all preferences are those of the list of all pairs."""
    data = RankingData(X, Y, QID, **given)
    with np.errstate(all="ignore"):
        pairs = enumerate_pairs(Y, QID, **given)
        slow, fast = naive_hinge(SCORES, pairs), evaluate_all(Hinge(), SCORES, data)
    if not np.isfinite(pairs.c.sum()):
        return False
    close = np.allclose(fast.gradient, slow.gradient, rtol=1e-7, atol=1e-9)
    return close and bool(np.isclose(fast.value, slow.value, rtol=1e-7, atol=1e-12))


def pairs_are_right(text: bytes, path: Path, chance: Random) -> bool:
    path.write_bytes(text)
    return adds_up(pairs=read_pairs(str(path), Y.size))


def preferences_are_right(text: bytes, path: Path, chance: Random) -> bool:
    if chance.random() < 0.5 and (b"<" in text or b">" in text):
        edges = parse_preferences(text.decode("utf-8", "replace").replace("\n", ","))
    else:
        path.write_bytes(text)
        edges = parse_preferences(str(path))
    return adds_up(preferences=edges)


def query_weights_are_right(text: bytes, path: Path, chance: Random) -> bool:
    path.write_bytes(text)
    return adds_up(query_weight=read_query_weights(str(path), Dataset(X, Y, QID)))


def side_files_are_right(text: bytes, path: Path, chance: Random) -> bool:
    rows = path.with_name("rows.txt")
    if not rows.exists():
        rows.write_bytes(b"1 1:1\n" * 12)
    beside = path.with_name(f"rows.txt.{chance.choice(['weight', 'query', 'group'])}")
    beside.write_bytes(text)
    try:
        data = read(rows)
    finally:
        beside.unlink()
    found = (data.sample_weight is not None) if beside.suffix == ".weight" else (data.qid is not None)
    return found and consistent(data)


def edge_files(folder: Path) -> list[bytes]:
    return [b"0 1\n1 2 0.5\n", b"0<1\n2>1:0.25 # twice\n\n0,2,1e-3\n"]


LOADERS = {
    "SVMlight": Loader(0.3, text_files, svmlight_is_right),
    "SVMlight, gzip": Loader(0.03, packed(gzip.compress), archive_is_right),
    "SVMlight, zstd": Loader(0.03, packed(zstd), archive_is_right),
    "CSV": Loader(0.12, table_text(","), table_is_right(",")),
    "TSV": Loader(0.05, table_text("\t"), table_is_right("\t")),
    "Parquet": Loader(0.06, parquet_files, binary_table_is_right("parquet"), damaged_table("parquet")),
    "Arrow": Loader(0.04, arrow_files, binary_table_is_right("arrow"), damaged_table("arrow")),
    "model": Loader(0.1, model_files, model_is_right, damaged_document),
    "SVMrank model": Loader(0.03, lambda _: [SVMRANK], foreign_model_is_right),
    "LIBLINEAR model": Loader(0.03, lambda _: [LIBLINEAR], foreign_model_is_right),
    "checkpoint": Loader(0.03, checkpoint_files, checkpoint_is_right, damaged_checkpoint),
    "pairs": Loader(0.05, lambda _: [b"1 2\n4 3 # x\n", b"1,2,0.5\n5 6 3\n\n"], pairs_are_right),
    "preferences": Loader(0.05, edge_files, preferences_are_right),
    "query weights": Loader(0.04, lambda _: [b"0 2.5\n1,0\n2 1e-3\n"], query_weights_are_right),
    "side files": Loader(0.04, lambda _: [b"1\n" * 12, b"4\n4\n4\n", b"3\n0\n9\n"], side_files_are_right),
}
KINDS = ("right", "named errors", "other errors", "wrong answers", "hangs")


def fuzz(name: str, seed: int, n_inputs: int, folder: str) -> dict[str, Any]:
    """Read damaged files; each is noted before it is read, so that a crash can be told."""
    loader, chance, counts = LOADERS[name], Random(f"{seed} {name}"), dict.fromkeys(KINDS, 0)
    logging.getLogger("linrank").disabled = True  # it would tell of half the inputs
    signal.signal(signal.SIGALRM, _too_long)
    path = Path(folder) / "fuzzed"
    files = loader.whole(Path(folder))
    for whole in files:
        assert loader.right(whole, path, Random(0)), f"{name}: a whole file is not read right"
    damage = loader.damage or damaged
    with (Path(folder) / "last").open("w+b") as file:
        file.truncate(1 << 20)
        last = mmap.mmap(file.fileno(), 1 << 20)
        begin = time.process_time()
        with warnings.catch_warnings(action="ignore"):
            for _ in range(n_inputs):
                text = damage(chance.choice(files), chance)
                last[: len(text) + 4] = len(text).to_bytes(4, "little") + text
                kind, what = outcome(loader, text, path, chance)
                counts[kind] += 1
                if kind not in ("right", "named errors"):
                    print(name, kind, what[:300], text[:2000], flush=True)
    seconds = time.process_time() - begin
    logging.getLogger("linrank").disabled = False
    return {"loader": name, "inputs": n_inputs, **counts, "crashes": 0, "CPU seconds": seconds}


def outcome(loader: Loader, text: bytes, path: Path, chance: Random) -> tuple[str, str]:
    """How the loader answers one input."""
    signal.alarm(LONGEST_WAIT)
    try:
        return ("right", "") if loader.right(text, path, chance) else ("wrong answers", "")
    except LinrankError as error:
        if isinstance(error.__context__, IndexError) and "index is out of bounds" in str(error.__context__):
            return "other errors", "a kernel went out of bounds, and the loader made a sentence of it"
        return "named errors", ""
    except TimeoutError:
        return "hangs", ""
    except Exception as error:
        return "other errors", f"{type(error).__name__}: {error}"
    finally:
        signal.alarm(0)


def _too_long(*_: object) -> None:
    raise TimeoutError


def checked(name: str, seed: int, n_inputs: int, folder: str) -> dict[str, Any]:
    """In a process of its own; where that crashes, the input that it died of is printed."""
    try:
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            return pool.submit(fuzz, name, seed, n_inputs, folder).result()
    except BrokenProcessPool:
        last = (Path(folder) / "last").read_bytes()
        print(name, "crashed by", last[4 : 4 + int.from_bytes(last[:4], "little")], flush=True)
        return {"loader": name, "inputs": n_inputs, **dict.fromkeys(KINDS, 0), "crashes": 1, "CPU seconds": math.nan}


def main() -> None:
    n_inputs = int(os.environ.get("LINRANK_FUZZ_INPUTS", QUICK_INPUTS if quick() else INPUTS))
    seed = int(os.environ.get("LINRANK_FUZZ_SEED", time.strftime("%Y%m%d")))
    only = os.environ.get("LINRANK_FUZZ_ONLY", ",".join(LOADERS)).split(",")
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    rows = []
    with tempfile.TemporaryDirectory(dir=memory) as folder, tempfile.TemporaryDirectory() as cache:
        if not quick():
            os.environ |= {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": cache}  # a warm cache would have no checks
        for name in LOADERS:
            if name in only or name.split(",")[0] in only:
                home = tempfile.mkdtemp(dir=folder)
                rows.append((fuzz if quick() else checked)(name, seed, math.ceil(LOADERS[name].share * n_inputs), home))
    report("fuzz", rows)
    wrong = sum(row[kind] for row in rows for kind in ("other errors", "wrong answers", "hangs", "crashes"))
    if wrong:
        raise RuntimeError(f"{wrong} inputs have neither a right answer nor a LinrankError")
