"""Tables: columns named, guessed or refused."""

import contextlib
import csv
import gzip
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linrank
from linrank import DataError, FileFormatError, LinearRanker, LinrankError, ParameterError
from linrank.io import format_of, from_frame, iter_svmlight, read, read_svmlight
from linrank.testing import make_ranking

pytestmark = pytest.mark.smoke

FRAME = pd.DataFrame(
    {
        "rel": [2, 0, 1],
        "Query_ID": ["a", "a", "b"],
        "bm25": [0.1, 0.25, 3.0],
        "docid": ["x", "y", "z"],
        "pages": [1, 2, 3],
    }
)


def assert_is_the_frame(data):
    np.testing.assert_array_equal(data.X, FRAME[["bm25", "pages"]].to_numpy(dtype=float), strict=True)
    assert data.y.tolist() == [2, 0, 1]
    assert data.qid.tolist() == ["a", "a", "b"]
    assert list(data.comments) == ["x", "y", "z"]
    assert data.document_ids() == ["x", "y", "z"]
    assert data.feature_names == ["bm25", "pages"]
    assert data.description[:3] == (
        "label: column 'rel' (guessed)", "query: column 'Query_ID' (guessed)", "id: column 'docid' (guessed)",
    )  # fmt: skip


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "tsv", "parquet", "pq", "arrow", "feather", "stream.ipc"])
def test_files(tmp_path, ending):
    path = tmp_path / f"data.{ending}"
    if ending == "csv.gz":
        path.write_bytes(gzip.compress(FRAME.to_csv(index=False).encode()))
    elif ending in ("csv", "tsv"):
        FRAME.to_csv(path, index=False, sep="," if ending == "csv" else "\t")
    elif ending in ("parquet", "pq"):
        pa.parquet.write_table(pa.Table.from_pandas(FRAME), path)
    elif ending == "stream.ipc":
        table = pa.Table.from_pandas(FRAME)
        with pa.ipc.new_stream(path, table.schema) as out:
            out.write_table(table)
    else:
        pa.feather.write_feather(FRAME, path)
    assert_is_the_frame(read(path))


@pytest.mark.parametrize("kind", ["pandas", "pyarrow"])
def test_frames(kind):
    assert_is_the_frame(from_frame(FRAME if kind == "pandas" else pa.Table.from_pandas(FRAME)))


def test_a_ranker_learns_the_same_from_every_format(tmp_path):
    X, y, qid = make_ranking(200, 3, 8, 3, seed=1)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(label=y, qid=qid)
    frame.to_csv(tmp_path / "x.csv", index=False)
    frame.to_parquet(tmp_path / "x.parquet")
    linrank.write_svmlight(tmp_path / "x.txt", X, y, qid)
    expected = LinearRanker().fit(X, y, qid).coef_
    for name in ("x.csv", "x.parquet", "x.txt"):
        data = read(tmp_path / name)
        np.testing.assert_array_equal(LinearRanker().fit(data.X, data.y, data.qid).coef_, expected)


def test_columns_by_name():
    frame = FRAME.assign(price=[1.0, 2.0, 3.0], wt=[1, 2, 3])
    data = from_frame(frame, label="price", query="", id="docid", weight="wt", features=["pages", "bm25"])
    assert data.y.tolist() == [1, 2, 3]
    assert data.qid is None
    assert data.sample_weight.tolist() == [1, 2, 3]
    assert data.feature_names == ["pages", "bm25"]
    np.testing.assert_array_equal(data.X[:, 1], FRAME["bm25"])
    assert from_frame(FRAME[["bm25"]]).y is None


@pytest.mark.parametrize(
    ("change", "options", "words"),
    [
        (lambda f: f.assign(y=1.0), {}, "'rel', 'y' could each be the label"),
        (lambda f: f, {"label": "grade"}, "no column 'grade' for label"),
        (lambda f: f, {"features": ["bm26"]}, "no column 'bm26'"),
        (lambda f: f, {"drop": ["bm26"]}, "no column 'bm26'"),
        (lambda f: f[["rel", "Query_ID"]], {}, "No column is left"),
        (lambda f: f.assign(title="x"), {}, "'title' holds String, not numbers"),
        (lambda f: f.assign(bm25=[0.1, None, 0.2]), {}, "'bm25' is missing in row 2"),
        (lambda f: f.assign(bm25=[0.1, np.inf, 0.2]), {}, "'bm25' is infinite .* in row 2"),
        (lambda f: f.assign(rel=[1, None, 2]), {}, "the label, has no number in row 2"),
        (lambda f: f.assign(Query_ID=[1, None, 2]), {}, "'Query_ID' is missing in 1 rows"),
        (lambda f: f.assign(Query_ID=[1, 1.5, 2]), {}, "fractions"),
        (lambda f: f.set_axis(["rel", "x", "x", "y", "z"], axis=1), {}, "Two columns"),
        (lambda f: f.iloc[:0], {}, "no row"),
        (lambda f: f, {"missing": "median"}, "missing"),
        (lambda f: f, {"dtype": int}, "dtype"),
        (lambda f: f["rel"], {}, "not a dataframe"),
        (lambda f: f.assign(bm25=1e300), {"dtype": np.float32}, "infinite .in float32"),
    ],
)
def test_what_is_refused(change, options, words):
    with pytest.raises(LinrankError, match=words):
        from_frame(change(FRAME), **options)


@pytest.mark.parametrize("kind", ["pandas", "pyarrow"])
def test_missing_values(kind):
    frame = FRAME.assign(bm25=[1.0, None, 3.0], pages=pd.array([1, None, 2], dtype="Int64"))
    frame = frame if kind == "pandas" else pa.Table.from_pandas(frame)
    np.testing.assert_array_equal(from_frame(frame, missing="keep").X, [[1, 1], [np.nan, np.nan], [3, 2]])
    np.testing.assert_array_equal(from_frame(frame, missing="zero").X, [[1, 1], [0, 0], [3, 2]])
    np.testing.assert_array_equal(from_frame(frame, missing="mean").X, [[1, 1], [2, 1.5], [3, 2]])


CELLS = st.one_of(st.floats(allow_infinity=False).map(repr), st.integers(-5, 5).map(str), st.just(""))
NAMES = st.text(max_size=5).map(lambda text: "f " + text.replace("\0", "0"))


@given(
    names=st.lists(NAMES, min_size=1, max_size=4, unique=True),
    rows=st.integers(1, 4),
    data=st.data(),
)
@settings(max_examples=150)
def test_csv_round_trips(names, rows, data):
    cells = data.draw(st.lists(st.lists(CELLS, min_size=len(names), max_size=len(names)), min_size=rows, max_size=rows))
    qids = data.draw(st.lists(st.text(min_size=1).map("q{}".format), min_size=rows, max_size=rows))
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([*names, "label", "qid"])
    writer.writerows([*row, k, q] for k, (row, q) in enumerate(zip(cells, qids, strict=True)))
    try:
        encoded = text.getvalue().encode()
    except UnicodeEncodeError:
        return
    back = read(io.BytesIO(encoded), format="csv", missing="keep")
    expected = np.array([[float(cell) if cell else np.nan for cell in row] for row in cells])
    np.testing.assert_array_equal(back.X, expected)
    assert back.feature_names == names
    assert back.qid.tolist() == qids


def test_csv_without_names():
    data = read(io.BytesIO(b"1,0.5,7\n0,1.5,8\n"), format="csv")
    assert data.y.tolist() == [1, 0]
    assert data.feature_names == ["2", "3"]
    data = read(io.BytesIO(b"1,0.5,7\n0,1.5,8\n"), format="csv", query="3")
    assert data.qid.tolist() == [7, 8]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "is empty"),
        (b"a,b\n1,2,3\n", "line 2: expected 2 cells"),
        (b"a,b\n1,2\n\n1,x\n", "line 4: expected a number in column 'b', found 'x'"),
        (b"a,b\n1,2_0\n", "line 2: expected a number in column 'b'"),
        (b'a,b\n"1,2\n', "not a table of UTF-8 text"),
        (b'a,b\n"1"x,2\n', "not a table of UTF-8 text"),
        (b"a,b\n\xff,2\n", "not a table of UTF-8 text"),
        (b"a,qid\n1,\n", "line 2: expected an id in column 'qid'"),
        (b"a,b\n", "no row"),
        (b"a,a\n1,2\n", "Two columns"),
        (b"a,label\n1,inf\n", "has no number in row 1"),
    ],
)
def test_damaged_csv_is_named(text, words):
    with pytest.raises(DataError, match=words):
        read(io.BytesIO(text), format="csv")


@given(st.binary(max_size=200))
@settings(max_examples=200)
def test_random_bytes_as_csv_are_a_table_or_a_named_error(text):
    try:
        data = read(io.BytesIO(text), format="csv")
    except LinrankError:
        return
    assert data.X.shape[0] > 0


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_damaged_tables_are_named(tmp_path, ending):
    path = tmp_path / f"x.{ending}"
    (FRAME.to_parquet if ending == "parquet" else FRAME.to_feather)(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for damaged in [b"", b"PAR1", b"nonsense", *(whole[: len(whole) * k // 8] for k in range(8))]:
        path.write_bytes(damaged)
        with pytest.raises(FileFormatError, match="cannot be read as a table"):
            read(path)
    for _ in range(60):  # a flip may fall into padding or into a value: no crash is all that can be asked for
        flipped = bytearray(whole)
        flipped[rng.integers(len(whole))] ^= 1 << rng.integers(8)
        path.write_bytes(bytes(flipped))
        with contextlib.suppress(LinrankError):
            assert read(path).X.shape[0] > 0


def test_pyarrow_is_an_extra(tmp_path, monkeypatch):
    FRAME.to_parquet(tmp_path / "x.parquet")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    with pytest.raises(LinrankError, match=r"linrank\[parquet\]"):
        read(tmp_path / "x.parquet")


def test_a_reader_that_does_not_take_the_sizes_of_queries_says_so(tmp_path, caplog):
    path = tmp_path / "rank.train.gz"
    path.write_bytes(gzip.compress(b"1 1:2\n0 1:3\n1 1:4\n"))
    (tmp_path / "rank.train.query").write_text("1\n2\n")
    for call in (read_svmlight, lambda path: next(iter_svmlight(path))):
        caplog.clear()
        assert call(path).qid is None
        assert "rank.train.query" in caplog.text
        assert "linrank.io.read" in caplog.text
    caplog.clear()
    assert read(path).qid.tolist() == [1, 2, 2]
    own = tmp_path / "own.txt"
    own.write_text("1 qid:1 1:2\n")
    (tmp_path / "own.txt.query").write_text("1\n")
    assert read_svmlight(own).qid.tolist() == [1]
    assert not caplog.text


def test_lightgbm_side_files(tmp_path):
    path = tmp_path / "rank.train.gz"
    path.write_bytes(gzip.compress(b"1 1:1\n0 1:2\n2 1:3\n"))
    assert read(path).qid is None
    (tmp_path / "rank.train.query").write_text("1\n2\n")
    (tmp_path / "rank.train.weight").write_text("1\n0.5\n2\n")
    data = read(path)
    assert data.qid.tolist() == [1, 2, 2]
    assert data.sample_weight.tolist() == [1, 0.5, 2]
    assert "sizes in" in data.description[1]
    for sizes, words in (
        ("1\n1\n", "add up to 2 rows, but 3"),
        ("1.5\n1.5", "no whole numbers"),
        ("1\nx\n", "line 2: expected a"),
    ):
        (tmp_path / "rank.train.query").write_text(sizes)
        with pytest.raises(DataError, match=words):
            read(path)
    (tmp_path / "rank.train.query").write_text("3\n")
    (tmp_path / "rank.train.weight").write_text("1\n")
    with pytest.raises(DataError, match="1 weights for 3 rows"):
        read(path)
    own = tmp_path / "own.txt"
    own.write_text("1 qid:5 cost:3 1:1\n")
    (tmp_path / "own.txt.query").write_text("1\n")
    (tmp_path / "own.txt.weight").write_text("1\n")
    data = read(own)
    assert data.qid.tolist() == [5]
    assert data.cost.tolist() == [3]
    assert "is not used" in data.description[1]


def test_formats():
    assert format_of("a/b.CSV.gz") == "csv"
    assert format_of("train.txt") == "svmlight"
    assert format_of("-") == "svmlight"
    assert format_of("x.feather") == "arrow"
    with pytest.raises(ParameterError, match="format"):
        read("x", format="xls")
    with pytest.raises(ParameterError, match="for tables"):
        read("x.txt", label="y")
    with pytest.raises(ParameterError, match="give its path"):
        read(io.BytesIO(), format="parquet")


def test_a_name_that_is_not_utf8_is_named(tmp_path):
    path = tmp_path / "x.arrow"
    FRAME.rename(columns={"bm25": "bm25-bm25"}).to_feather(path)
    path.write_bytes(path.read_bytes().replace(b"bm25-bm25", b"bm25-bm2\xff"))
    with pytest.raises(FileFormatError, match="cannot be read as a table"):
        read(path)
