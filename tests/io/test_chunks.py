"""Files in chunks of whole queries."""

import io
import itertools
import logging
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from linrank import FileFormatError, ParameterError, read_svmlight
from linrank.io import _texts, count_features, iter_svmlight


def text_of(lengths, qid="{}"):
    row, lines = 0, []
    for q, length in enumerate(lengths):
        for _ in range(length):
            lines.append(f"{row % 3} qid:{qid.format(q)} {1 + row % 4}:{row + 1} # d{row}\n")
            row += 1
    return "".join(lines).encode()


@given(
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=12),
    chunk_rows=st.integers(1, 9),
    block=st.sampled_from([32, 100, 1 << 20]),
    qid=st.sampled_from(["{}", "q{}"]),
    threads=st.sampled_from([1, 2]),
)
@settings(max_examples=200)
def test_chunks_are_the_file_and_keep_queries_whole(lengths, chunk_rows, block, qid, threads):
    text = text_of(lengths, qid)
    whole = read_svmlight(io.BytesIO(text), n_features=4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_texts, "BLOCK_BYTES", block)
        chunks = list(iter_svmlight(io.BytesIO(text), chunk_rows=chunk_rows, n_features=4, n_jobs=threads))
    assert (sp.vstack([chunk.X for chunk in chunks]) != whole.X).nnz == 0
    for name in ("y", "qid"):
        np.testing.assert_array_equal(np.concatenate([getattr(c, name) for c in chunks]), getattr(whole, name))
    assert [text for chunk in chunks for text in chunk.comments] == list(whole.comments)
    assert all(chunk.n_rows <= chunk_rows for chunk in chunks)
    for before, after in itertools.pairwise(chunks):
        if before.qid[-1] == after.qid[0]:  # split: only because it is longer than a chunk, and fills it
            assert (whole.qid == after.qid[0]).sum() > chunk_rows
            assert before.n_rows == chunk_rows
            assert len(set(before.qid)) == 1
        if before.qid[-1] != after.qid[0]:  # no chunk could have taken the next query as well
            assert before.n_rows + (whole.qid == after.qid[0]).sum() > chunk_rows


def test_by_bytes_and_with_a_first_pass(tmp_path):
    path = tmp_path / "x.txt"
    path.write_bytes(text_of([3] * 400) + b"1 qid:400 9:1\n")
    assert count_features(path) == 9
    chunks = list(iter_svmlight(path, chunk_bytes=1200))
    assert {chunk.X.shape[1] for chunk in chunks} == {9}
    assert max(chunk.X.nnz for chunk in chunks) <= 100
    assert sum(chunk.n_rows for chunk in chunks) == 1201
    dense = list(iter_svmlight(path, chunk_rows=500, dense=True, dtype=np.float32))
    assert all(chunk.X.dtype == np.float32 and isinstance(chunk.X, np.ndarray) for chunk in dense)


def test_a_long_query_is_split_with_a_message(caplog):
    with caplog.at_level(logging.WARNING, "linrank"):
        chunks = list(iter_svmlight(io.BytesIO(text_of([2, 7, 2])), chunk_rows=4, n_features=4))
    assert [chunk.n_rows for chunk in chunks] == [2, 4, 3, 2]
    assert "Query 1 has more rows than a chunk" in caplog.text


def test_without_qid_any_row_may_end_a_chunk():
    text = b"1 1:1\n" * 10
    assert [c.n_rows for c in iter_svmlight(io.BytesIO(text), chunk_rows=4, n_features=1)] == [4, 4, 2]


def test_errors_come_where_they_are(tmp_path):
    path = tmp_path / "x.txt"
    path.write_bytes(text_of([3] * 5) + b"x\n" + text_of([3] * 5))
    chunks = iter_svmlight(path, chunk_rows=3)
    with pytest.raises(FileFormatError, match="line 16"):
        list(chunks)
    chunks = list(iter_svmlight(path, chunk_rows=6, on_error="skip"))
    assert chunks[-1].skipped == 1
    assert sum(chunk.n_rows for chunk in chunks) == 30


def test_options():
    with pytest.raises(ParameterError, match="only once"):
        iter_svmlight(io.BytesIO(b"1 1:1\n"))
    with pytest.raises(ParameterError, match="missing='keep'"):
        iter_svmlight(io.BytesIO(b"1 1:1\n"), missing="mean", n_features=1)
    with pytest.raises(ParameterError, match="chunk_rows"):
        iter_svmlight(io.BytesIO(b"1 1:1\n"), chunk_rows=0, n_features=1)
    assert list(iter_svmlight(io.BytesIO(b""), n_features=1)) == []


def test_a_small_archive_of_endless_blank_lines_is_iterated_in_bounded_memory(tmp_path):
    path = tmp_path / "x.zst"
    path.write_bytes(zstandard.compress((b"1 qid:1 1:1\n" + b"\n" * (1 << 20)) * 300))
    assert path.stat().st_size < 1 << 18
    read_svmlight(io.BytesIO(text_of([1])))  # compiled and loaded
    tracemalloc.start()
    try:
        (chunk,) = iter_svmlight(path, n_features=1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert chunk.X.toarray().ravel().tolist() == [1] * 300
    assert peak < 250e6  # of 315e6; it does not grow with the file
