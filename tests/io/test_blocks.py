"""Files block by block: together they are the file, in every format, packed or not."""

import gzip
import itertools
import random
import signal
import threading
import time

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
import zstandard

from linrank import DataError, FileFormatError, ParameterError, read_svmlight
from linrank.io import _ahead, _csv, _parquet, _texts, from_frame, read, write_csv, write_svmlight
from linrank.io._blocks import blocks
from linrank.io._columns import Columns
from linrank.io._options import ReadOptions
from linrank.testing import make_ranking

X, Y, QID = make_ranking(500, 4, 25, 3, seed=0)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The same rows in every format, in files of several blocks."""
    monkeypatch.setattr(_texts, "BLOCK_BYTES", 2000)
    monkeypatch.setattr(_parquet, "FEWEST_ROWS", 64)
    monkeypatch.setattr(_parquet, "BATCH_BYTES", 1)
    comments = [f"d{k}" for k in range(Y.size)]
    write_svmlight(tmp_path / "x.txt", X, Y, QID, comments=comments)
    data = read_svmlight(tmp_path / "x.txt", dense=True)
    write_csv(tmp_path / "x.csv", data)
    write_csv(tmp_path / "x.tsv", data, separator="\t")
    names = {f"f{j + 1}": X[:, j] for j in range(4)}
    table = pa.table({"label": Y, "qid": QID, "id": comments, **names})
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=130)
    pa.feather.write_feather(table, tmp_path / "x.arrow", chunksize=90)
    for name in ("x.txt", "x.csv"):
        text = (tmp_path / name).read_bytes()
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text[:5000]) + gzip.compress(text[5000:]) + b"\0" * 9)
        (tmp_path / f"{name}.zst").write_bytes(zstandard.compress(text))
    return tmp_path


ENDINGS = ("txt", "csv", "tsv", "parquet", "arrow", "txt.gz", "txt.zst", "csv.gz", "csv.zst")


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_blocks_are_the_file(files, ending, n_jobs):
    path = files / f"x.{ending}"
    parts = list(blocks(path, None, ReadOptions(Columns(), dense=True, n_jobs=n_jobs)))
    assert len(parts) > 2
    assert max(part.n_rows for part in parts) < 200
    whole = read(path, n_jobs=n_jobs)
    for data in (whole, *parts):
        assert data.X.flags.c_contiguous
        assert data.X.shape[1] == 4
    np.testing.assert_array_equal(np.vstack([part.X for part in parts]), X)
    np.testing.assert_array_equal(whole.X, X)
    for name, expected in (("y", Y), ("qid", QID)):
        np.testing.assert_array_equal(np.concatenate([getattr(part, name) for part in parts]), expected)
        np.testing.assert_array_equal(getattr(whole, name), expected)
    texts = [text.strip() for part in parts for text in part.comments]
    assert texts == [text.strip() for text in whole.comments] == [f"d{k}" for k in range(Y.size)]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_reader_that_is_left_early_ends_its_threads(files, ending):
    before = set(threading.enumerate())
    some = blocks(files / f"x.{ending}", None, ReadOptions(Columns(), n_jobs=2))
    assert len(list(itertools.islice(some, 2))) == 2
    some.close()
    for thread in set(threading.enumerate()) - before:
        thread.join(5)
        assert not thread.is_alive()


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_that_is_cut_off_is_named(files, ending):
    path = files / f"x.{ending}"
    path.write_bytes(path.read_bytes()[:-1500])
    if ending in ("txt", "csv", "tsv"):
        path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(FileFormatError, match=r"x\."):
        list(blocks(path, None, ReadOptions(Columns())))


def test_widths_of_blocks_and_policies(files):
    (files / "y.txt").write_bytes(b"1 1:1\n" * 400 + b"1 7:1\n" * 400)
    widths = [part.n_features for part in blocks(files / "y.txt", None, ReadOptions(Columns(), dense=False))]
    assert widths[0] == 1
    assert widths[-1] == 7
    fixed = blocks(files / "y.txt", None, ReadOptions(Columns(), n_features=9, dense=False))
    assert {(part.n_features, sp.issparse(part.X)) for part in fixed} == {(9, True)}
    for name in ("x.csv", "y.txt"):
        with pytest.raises(ParameterError, match="missing='keep'"):
            list(blocks(files / name, None, ReadOptions(Columns(), missing="mean")))


@pytest.mark.parametrize("arrow", [True, False])
def test_what_is_wrong_in_a_later_block_is_told_with_its_row(files, arrow, monkeypatch):
    monkeypatch.setattr(_csv, "has_pyarrow", lambda: arrow)
    lines = (files / "x.csv").read_text().splitlines()
    lines[400] = ",".join([*lines[400].split(",")[:-1], ""])
    (files / "x.csv").write_text("\n".join(lines))
    with pytest.raises(DataError, match="'f4' is missing in row 400"):
        list(blocks(files / "x.csv", None, ReadOptions(Columns())))
    with pytest.raises(DataError, match="'f4' is missing in row 400"):
        read(files / "x.csv")
    filled = read(files / "x.csv", missing="zero").X
    assert filled[399, 3] == 0


def test_a_query_column_that_nobody_named_is_found_over_blocks(files):
    text = (files / "x.csv").read_text().replace("qid", "grp", 1)
    (files / "x.csv").write_text(text)
    with pytest.raises(DataError, match="'grp' is the same over runs of rows"):
        read(files / "x.csv")
    with pytest.raises(DataError, match="'grp' is the same over runs of rows"):
        list(blocks(files / "x.csv", None, ReadOptions(Columns())))


LISTS = {
    "fixed": pa.array([[1.0, 2.0], [3.0, None], [5.0, 6.0]], pa.list_(pa.float32(), 2)),
    "variable": pa.array([[1.0, 2.0], [3.0, None], [5.0, 6.0]]),
    "integers": pa.array([[1, 2], [3, None], [5, 6]], pa.large_list(pa.int16())),
}


@pytest.mark.parametrize("kind", LISTS)
@pytest.mark.parametrize("home", ["parquet", "arrow", "pyarrow", "polars", "pandas"])
def test_a_column_of_lists_is_as_many_columns(kind, home, tmp_path):
    table = pa.table({"label": [1, 0, 2], "emb": LISTS[kind], "price": [1.0, 2.0, 3.0]})
    path = tmp_path / f"x.{home}"
    if home == "parquet":
        pq.write_table(table, path)
    elif home == "arrow":
        pa.feather.write_feather(table, path)
    frame = table if home == "pyarrow" else table.to_pandas() if home == "pandas" else None
    if home == "polars":
        frame = pytest.importorskip("polars").from_arrow(table)

    def load(**options):
        return read(path, query="", **options) if frame is None else from_frame(frame, query="", **options)

    data = load(missing="keep")
    assert data.feature_names == ["emb_0", "emb_1", "price"]
    np.testing.assert_array_equal(data.X, [[1, 2, 1], [3, np.nan, 2], [5, 6, 3]])
    assert load(drop=["emb"]).feature_names == ["price"]
    assert load(features=["price", "emb"], missing="zero").feature_names == ["price", "emb_0", "emb_1"]
    with pytest.raises(DataError, match="'emb_1' is missing in row 2"):
        load()


def test_lists_of_other_lengths_and_missing_lists():
    table = pa.table({"label": [1, 0, 2], "emb": pa.array([[1.0, 2.0], None, [3.0, 4.0]])})
    np.testing.assert_array_equal(from_frame(table, missing="keep", query="").X, [[1, 2], [np.nan, np.nan], [3, 4]])
    with pytest.raises(DataError, match="'emb' holds lists of 2 numbers, but one of 1 in row 3"):
        from_frame(pa.table({"label": [1, 0, 2], "emb": pa.array([[1.0, 2.0], None, [3.0]])}), query="")
    with pytest.raises(DataError, match="'emb' holds lists of something else"):
        from_frame(pa.table({"label": [1, 0], "emb": pa.array([["a"], ["b"]])}), query="")


def test_work_ahead_is_bounded_and_in_order():
    made = []

    def items():
        for k in range(100):
            made.append(k)
            yield k

    with _ahead.ahead(items(), 3) as taken:
        assert next(taken) == 0
        threading.Event().wait(0.3)
        assert len(made) <= 6
        assert list(taken) == list(range(1, 100))
    made.clear()
    answers = _ahead.in_order(lambda k: -k, items(), 2)
    assert next(answers) == 0
    assert len(made) == 3
    assert list(answers) == [-k for k in range(1, 100)]


@pytest.mark.parametrize("ending", ["txt", "txt.gz", "csv", "csv.zst", "parquet"])
def test_an_interrupt_at_any_moment_of_reading_ends_it_at_once(files, ending, monkeypatch):
    """Ctrl-C, or what the whole file gives; no thread goes on."""
    monkeypatch.setattr(_texts, "BLOCK_BYTES", 500)
    path, chance = files / f"x.{ending}", random.Random(0)
    expected = read(path, n_jobs=2).X  # compiled and imported
    begin = time.perf_counter()
    read(path, n_jobs=2)
    usual = time.perf_counter() - begin

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    ended = 0
    try:
        for _ in range(12):
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-4 + 0.7 * usual * chance.random())
                found = read(path, n_jobs=2).X
                signal.setitimer(signal.ITIMER_REAL, 0)
                np.testing.assert_array_equal(found, expected)
            except KeyboardInterrupt:
                ended += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert ended
    deadline = time.monotonic() + 10
    while alive := [thread for thread in threading.enumerate() if thread.name[:7] == "linrank" and thread.is_alive()]:
        assert time.monotonic() < deadline, alive
        time.sleep(0.01)
