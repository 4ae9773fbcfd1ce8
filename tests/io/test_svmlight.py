"""SVMlight / LETOR files: read as a slow twin reads them, and every malformed line is named."""

import gzip
import io
import logging
import re
import struct

import numpy as np
import pytest
import scipy.sparse as sp
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

import linrank
from linrank import DataError, FileFormatError, ParameterError, read_svmlight
from linrank.io import _block, _texts
from linrank.testing import naive_svmlight

pytestmark = pytest.mark.kernels


def same_bits(a, b):
    return struct.pack("d", a) == struct.pack("d", b) or (a != a and b != b)


def assert_same(data, rows):
    assert data.X.shape[0] == len(rows)
    X = sp.csr_matrix(data.X)
    for k, (label, qid, cost, features, comment) in enumerate(rows):
        assert same_bits(data.y[k], label)
        assert (None if data.qid is None else str(data.qid[k])) == (
            None if qid is None else qid.encode("latin-1").decode("utf-8", "surrogateescape")
        )
        assert same_bits(1.0 if data.cost is None else data.cost[k], cost)
        columns = X.indices[X.indptr[k] : X.indptr[k + 1]]
        values = X.data[X.indptr[k] : X.indptr[k + 1]]
        assert columns.tolist() == sorted(features)
        assert all(same_bits(value, features[column]) for column, value in zip(columns, values, strict=True))
        text = "" if data.comments is None else data.comments[k]
        assert text.encode("utf-8", "surrogateescape").decode("latin-1") == comment


LARGEST, LARGEST_SINGLE = 2**1024 - 2**970, 2**128 - 2**103  # from here on numbers round to infinity
BEYOND = [
    f"{limit + off}{rest}" for limit in (LARGEST, LARGEST_SINGLE) for off in (-1, 0, 1) for rest in ("", ".00001")
]
BLANKS = st.sampled_from([" ", " ", " ", "\t", "  ", " \t"])
VALUES = st.one_of(
    st.sampled_from(["0", "1", "-1", "+1", ".5", "5.", "1e3", "1E-7", "0.000000", "123456789012345678901234567890"]),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(allow_nan=False, allow_infinity=False, width=32).map(repr),
    st.sampled_from(["16777217", "1.00000005960464477539062500000000000000000001", "5e-324", "1e-46", "3.4028235e38"]),
    st.sampled_from(BEYOND),
)
COMMENTS = st.text(st.characters(blacklist_characters="\r\n", blacklist_categories=("Cs",)), max_size=12)


@st.composite
def lines(draw, qids):
    parts = [draw(VALUES)]
    if qids is not None:
        parts.append("qid:" + draw(qids))
    if draw(st.integers(0, 5)) == 0:
        parts.append("cost:" + draw(VALUES))
    ids = draw(st.lists(st.integers(1, 40), unique=True, max_size=6))
    ids = ids if draw(st.integers(0, 4)) == 0 else sorted(ids)
    parts += [f"{i}:{draw(VALUES)}" for i in ids]
    line = "".join(part + draw(BLANKS) for part in parts)
    line = draw(st.sampled_from(["", "", " "])) + line
    if draw(st.booleans()):
        line += "#" + draw(COMMENTS)
    return draw(st.sampled_from(["", "", "", "\n", "# only a comment: 1:2\n", " \r\n"])) + line


@st.composite
def files(draw):
    qids = draw(
        st.sampled_from(
            [
                None,
                st.integers(-3, 10**6).map(str),
                st.integers(-(2**63), 2**63 - 1).map(str),
                st.sampled_from(["a", "7", "007", "+7", "-0", "ü:1", "9223372036854775808", "x" * 70]),
            ]
        )
    )
    end = draw(st.sampled_from(["\n", "\r\n"]))
    rows = draw(st.lists(lines(qids), min_size=1, max_size=8))
    return (end.join(rows) + draw(st.sampled_from(["", end, end + end]))).encode()


@given(text=files(), single=st.booleans(), threads=st.sampled_from([1, 2]), block=st.sampled_from([16, 64, 1 << 22]))
@settings(max_examples=250)
def test_reads_as_the_slow_twin_does(text, single, threads, block):
    dtype = np.float32 if single else np.float64
    rows, bad = naive_svmlight(text, _block.nearest_single if single else float)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_texts, "BLOCK_BYTES", block)
        if bad:  # a value that float32 does not hold
            with pytest.raises(FileFormatError) as caught:
                read_svmlight(io.BytesIO(text), dtype=dtype, n_jobs=threads)
            assert caught.value.line == bad[0]
        if not rows:
            return
        data = read_svmlight(io.BytesIO(text), dtype=dtype, n_jobs=threads, on_error="skip")
    assert data.X.dtype == dtype
    assert data.skipped == len(bad)
    assert_same(data, rows)


@given(
    text=files(),
    edits=st.lists(st.tuples(st.integers(0, 10**6), st.sampled_from([*b"\r\n\t #:.+-e0q9\xff\x00dn"])), max_size=4),
    cut=st.integers(0, 10**6),
    keep=st.booleans(),
)
@settings(max_examples=250)
def test_damaged_files_are_read_as_the_slow_twin_does_or_named(text, edits, cut, keep):
    damaged = bytearray(text)
    for position, byte in edits:
        damaged[position % len(damaged)] = byte
    damaged = bytes(damaged[: 1 + cut % len(damaged)])
    rows, bad = naive_svmlight(damaged, keep_nan=keep)
    missing = "keep" if keep else "error"
    if bad:
        with pytest.raises(FileFormatError) as caught:
            read_svmlight(io.BytesIO(damaged), missing=missing)
        assert caught.value.line == bad[0] or "a qid, as on line" in str(caught.value)
    if not rows or len({row[1] is None for row in rows}) == 2:
        with pytest.raises(DataError, match="a qid, as on line" if rows else "holds no row"):
            read_svmlight(io.BytesIO(damaged), missing=missing, on_error="skip")
        return
    data = read_svmlight(io.BytesIO(damaged), missing=missing, on_error="skip")
    assert data.skipped == len(bad)
    assert_same(data, rows)


@given(st.binary(max_size=300))
@settings(max_examples=300)
def test_random_bytes_are_data_or_a_named_error(text):
    rows, bad = naive_svmlight(text)
    try:
        data = read_svmlight(io.BytesIO(text))
    except DataError:
        assert bad or not rows or len({row[1] is None for row in rows}) == 2 or text[:2] == b"\x1f\x8b"
    else:
        assert not bad
        assert_same(data, rows)


@pytest.mark.parametrize(
    ("line", "column", "expected"),
    [
        ("x 1:2", 1, "a number as the label"),
        ("nan 1:2", 1, "a number as the label"),
        ("inf 1:2", 1, "a number as the label"),
        ("1,2 1:2", 2, "a blank after the number"),
        ("1 a:2", 3, "a feature"),
        ("1 1", 4, "a colon after the feature id"),
        ("1 1:", 5, "a finite number after the colon"),
        ("1 1:x", 5, "a finite number after the colon"),
        ("1 1:-inf", 5, "a finite number after the colon"),
        ("1 1:1e999", 5, "within the range of float64"),
        ("1 1:2,3", 6, "a blank after the number"),
        ("1 1:2 0:3", 7, "feature ids from 1 on"),
        ("1 9:2", 3, "at most 5"),
        ("1 99999999999999999999:2", 3, "at most 5"),
        ("1 00000000001:2", 3, "at most 5"),
        ("1 -1:2", 3, "a feature"),
        ("1 2:1 2:1", 7, "only once"),
        ("  1 2:1 1:1 2:1", 3, "only once"),
        ("1 qid: 1:2", 7, "a query id"),
        ("1 qid:1 qid:2", 9, "only one qid"),
        ("1 qd:1", 3, "a feature"),
        ("1 cost:x 1:2", 8, "after cost:"),
        ("1 cost:nan 1:2", 8, "after cost:"),
        ("1 cost:1 cost:2 1:2", 10, "only one cost:"),
        ("1 cost:1 1:2 cost:1", 14, "only one cost:"),
        ("1 1:nan", 5, "no missing value"),
        ("1 1:2 #a\rb", 9, "a line feed"),
        ("# a\r1 1:2", 4, "a line feed"),
        ("1 1:2 sid:4", 7, "a feature"),
    ],
)
def test_malformed_lines_are_named(line, column, expected, tmp_path, caplog):
    path = tmp_path / "bad.txt"
    path.write_bytes(f"1 1:1\n\n# fine\n{line}\n2 1:3\n".encode())
    with pytest.raises(FileFormatError, match=re.escape(expected)) as caught:
        read_svmlight(path, n_features=5)
    error = caught.value
    assert (error.path, error.line, error.column) == (str(path), 4, column)
    assert f"{path}, line 4, column {column}: expected {error.expected}" in str(error)
    assert "on_error='skip'" in str(error)
    assert isinstance(error, DataError)
    data = read_svmlight(path, n_features=5, on_error="skip")
    assert data.y.tolist() == [1, 2]
    assert data.skipped == 1
    assert "line 4" in data.problems[0]
    assert "1 lines left out" in caplog.text


@pytest.mark.parametrize("where", ["{} 1:1", "1 cost:{} 1:1", "1 1:{}", "1 2:1 1:-{}"])
@pytest.mark.parametrize(("limit", "dtype"), [(LARGEST, np.float64), (LARGEST_SINGLE, np.float32)])
def test_a_number_of_many_digits_beyond_all_floats_is_named_not_infinite(where, limit, dtype):
    if dtype == np.float32 and not where.endswith("{}"):
        return  # labels and costs are float64
    largest = float(np.finfo(dtype).max)
    for digits, fits in ((limit - 1, True), (f"{limit - 1}.9", True), (limit, False), (f"{limit}.0000001", False)):
        line = where.format(digits)
        text = f"0 1:0\n{line}\n2 1:2\n".encode()
        if fits:
            data = read_svmlight(io.BytesIO(text), dtype=dtype)
            assert largest in np.abs([*data.X.data, *data.y, *(data.cost if data.cost is not None else ())])
            continue
        with pytest.raises(FileFormatError, match=f"within the range of {np.dtype(dtype)}") as caught:
            read_svmlight(io.BytesIO(text), dtype=dtype)
        assert (caught.value.line, caught.value.column) == (2, line.index(str(limit)) + (0 if ":-" in line else 1))
        assert str(limit)[:10] in str(caught.value)
        left = read_svmlight(io.BytesIO(text), dtype=dtype, on_error="skip")
        assert left.y.tolist() == [0, 2]
        assert left.skipped == 1
        assert np.isfinite(left.X.data).all()


def test_a_query_id_on_some_lines_only():
    with pytest.raises(FileFormatError, match="line 3, column 1: expected a qid, as on line 1") as caught:
        read_svmlight(io.BytesIO(b"1 qid:1 1:1\n\n2 1:1\n"))
    assert caught.value.line == 3


def test_line_numbers_go_on_from_block_to_block(monkeypatch):
    text = b"".join(b"1 qid:%d 1:%d # d%d\n" % (k // 3, k, k) for k in range(2000))
    monkeypatch.setattr(_texts, "BLOCK_BYTES", 100)
    for threads in (1, 3):
        data = read_svmlight(io.BytesIO(text), n_jobs=threads)
        assert data.X.toarray().ravel().tolist() == list(range(2000))
        assert data.qid.tolist() == [k // 3 for k in range(2000)]
        assert data.comments[1999] == " d1999"
        with pytest.raises(FileFormatError, match="line 1500,"):
            read_svmlight(io.BytesIO(text.replace(b" 1:1499 ", b" 1:x ")), n_jobs=threads)


LETOR = b"""2 qid:10032 1:0.056537 2:0.000000 3:0.666667 #docid = GX029-35-5894638 inc = 0.0119 prob = 0.139842
0 qid:10032 1:0.279152 2:0.000000 3:0.000000 #docid = GX030-77-6315042 inc = 1 prob = 0.341364
1 qid:7968 1:0.130742 3:0.333333
"""


@pytest.mark.parametrize("how", ["path", "text path", "gz", "zst", "gz in parts", "file", "object", "stdin"])
def test_sources(how, tmp_path, monkeypatch):
    path = tmp_path / "data.txt"
    path.write_bytes(LETOR)
    source = path
    if how == "text path":
        source = str(path)
    elif how == "gz":
        path.write_bytes(gzip.compress(LETOR))
    elif how == "gz in parts":
        path.write_bytes(gzip.compress(LETOR[:100]) + gzip.compress(LETOR[100:]))
    elif how == "zst":
        path.write_bytes(zstandard.compress(LETOR[:100]) + zstandard.compress(LETOR[100:]))
    elif how == "file":
        source = io.BytesIO(LETOR)
    elif how == "object":

        class Trickle:
            def __init__(self):
                self.rest = LETOR

            def read(self, size):
                piece, self.rest = self.rest[:7], self.rest[7:]
                return piece

        source = Trickle()
    elif how == "stdin":
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(LETOR))))
        source = "-"
    data = read_svmlight(source)
    np.testing.assert_array_equal(
        data.X.toarray(), [[0.056537, 0, 0.666667], [0.279152, 0, 0], [0.130742, 0, 0.333333]]
    )
    assert data.X.nnz == 8  # zeros that are spelled out are kept
    assert data.qid.dtype == np.int64
    assert data.document_ids() == ["GX029-35-5894638", "GX030-77-6315042", "3"]
    assert data.comments[0] == "docid = GX029-35-5894638 inc = 0.0119 prob = 0.139842"


def test_damaged_archives_are_named(tmp_path):
    path = tmp_path / "x"
    long = LETOR * 1000
    for packed in (gzip.compress(long), zstandard.compress(long, 1)):
        for damaged in (packed[: len(packed) // 2], packed[:60] + b"\x00" * 40 + packed[100:]):
            path.write_bytes(damaged)
            with pytest.raises(FileFormatError):
                read_svmlight(path)


def test_zstd_is_an_extra(tmp_path, monkeypatch):
    path = tmp_path / "x.zst"
    path.write_bytes(zstandard.compress(LETOR))
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)
    with pytest.raises(linrank.LinrankError, match=r"linrank\[zstd\]"):
        read_svmlight(path)


def test_shapes_and_types():
    text = b"1 1:1 3:0.1\n0 2:5\n"
    assert sp.issparse(read_svmlight(io.BytesIO(text)).X)
    assert read_svmlight(io.BytesIO(text), n_features=7).X.shape == (2, 7)
    single = read_svmlight(io.BytesIO(text), dense=True, dtype=np.float32).X
    np.testing.assert_array_equal(single, np.array([[1, 0, 0.1], [0, 5, 0]], dtype=np.float32), strict=True)
    assert read_svmlight(io.BytesIO(text.replace(b"3:", b"0:")), zero_based=True).X.shape == (2, 3)
    full = b"".join(b"1 1:1 2:2 3:3\n" for _ in range(50))
    assert isinstance(read_svmlight(io.BytesIO(full), dense="auto").X, np.ndarray)
    assert sp.issparse(read_svmlight(io.BytesIO(full + b"1 900:1\n"), dense="auto").X)
    empty = read_svmlight(io.BytesIO(b"1\n2 #x\n"), n_features=2)
    assert empty.X.shape == (2, 2)
    assert empty.comments == ["", "x"]


def test_missing_values(tmp_path):
    text = b"1 1:nan 2:1\n2 1:3 2:NaN\n3 1:5\n"
    with pytest.raises(FileFormatError, match="line 1, column 5"):
        read_svmlight(io.BytesIO(text))
    np.testing.assert_array_equal(
        read_svmlight(io.BytesIO(text), missing="keep").X.toarray(), [[np.nan, 1], [3, np.nan], [5, 0]]
    )
    for dense in (True, False):
        zero = sp.csr_matrix(read_svmlight(io.BytesIO(text), missing="zero", dense=dense).X).toarray()
        np.testing.assert_array_equal(zero, [[0, 1], [3, 0], [5, 0]])
        mean = sp.csr_matrix(read_svmlight(io.BytesIO(text), missing="mean", dense=dense).X).toarray()
        np.testing.assert_array_equal(mean, [[4, 1], [3, 0.5], [5, 0]])


@pytest.mark.parametrize(
    "options",
    [{"missing": "median"}, {"on_error": "ignore"}, {"dense": "yes"}, {"dtype": np.int64}, {"n_features": 0}],
)
def test_unknown_options(options):
    with pytest.raises(ParameterError, match=next(iter(options))):
        read_svmlight(io.BytesIO(LETOR), **options)


def test_no_rows_and_no_file(tmp_path):
    for text in (b"", b"\n\n", b"# nothing\n"):
        with pytest.raises(DataError, match="holds no row"):
            read_svmlight(io.BytesIO(text))
    with pytest.raises(DataError, match="but 1 malformed lines"):
        read_svmlight(io.BytesIO(b"x\n"), on_error="skip")
    with pytest.raises(FileNotFoundError):
        read_svmlight(tmp_path / "nothing")
    with pytest.raises(ParameterError, match="mode 'rb'"):
        read_svmlight(io.StringIO("1 1:1"))


def test_ids_that_fixed_width_strings_would_not_keep():
    data = read_svmlight(io.BytesIO(b"1 qid:a\0 1:1\n1 qid:a 1:1\n"))
    assert data.qid.tolist() == ["a\0", "a"]
    assert read_svmlight(io.BytesIO(b"1 qid:a 1:1\n1 qid:7 1:1\n")).qid.dtype.kind == "U"


def test_a_line_longer_than_a_block(monkeypatch):
    monkeypatch.setattr(_texts, "BLOCK_BYTES", 64)
    text = b"1 " + b" ".join(b"%d:%d" % (k, k) for k in range(1, 5001)) + b"\n2 1:1"
    data = read_svmlight(io.BytesIO(text))
    assert data.X[0].nnz == 5000
    backwards = b"1 " + b" ".join(b"%d:%d" % (k, k) for k in range(5000, 0, -1))
    np.testing.assert_array_equal(read_svmlight(io.BytesIO(backwards)).X.toarray()[0], np.arange(1, 5001))


def test_a_reader_that_is_stopped_early_leaves_no_threads(monkeypatch):
    import threading

    monkeypatch.setattr(_texts, "BLOCK_BYTES", 64)
    with pytest.raises(FileFormatError):
        read_svmlight(io.BytesIO(b"x\n" + LETOR * 100), n_jobs=3)
    for thread in threading.enumerate():
        if thread.name.startswith("linrank-read"):
            thread.join(5)
            assert not thread.is_alive()


def test_an_error_ends_up_in_the_log_only_once_per_dataset(caplog):
    with caplog.at_level(logging.WARNING, "linrank"):
        read_svmlight(io.BytesIO(b"x\ny\n1 1:1\n"), on_error="skip")
    assert len(caplog.records) == 1
