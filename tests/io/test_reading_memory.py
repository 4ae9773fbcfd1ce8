"""Memory that readers take, compiled code that they need."""

import gzip
import io
import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import linrank
from linrank.io import Comments, Dataset, _parquet, _tables, _texts, read, read_svmlight, write_csv, write_parquet
from linrank.io._growing import Growing, GrowingIds

N_ROWS, N_FEATURES = 6000, 40


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Dense rows in several formats, and sparse ones."""
    folder = tmp_path_factory.mktemp("memory")
    rng = np.random.default_rng(0)
    X = rng.random((N_ROWS, N_FEATURES)).round(4)
    form = "%d qid:%d " + " ".join(f"{j + 1}:%.4f" for j in range(N_FEATURES)) + "\n"
    text = "".join(form % (k % 3, k // 20, *X[k]) for k in range(N_ROWS)).encode()
    (folder / "dense.txt").write_bytes(text)
    (folder / "dense.txt.gz").write_bytes(gzip.compress(text, 1))
    columns = np.sort(rng.integers(1, 200, (N_ROWS, 20)) + 200 * np.arange(20), axis=1)
    lines = (" ".join(f"{j}:0.25" for j in columns[k]) for k in range(N_ROWS))
    (folder / "sparse.txt").write_text("".join(f"{k % 2} qid:{k // 9} {line}\n" for k, line in enumerate(lines)))
    write_csv(folder / "dense.csv", Dataset(X, np.arange(N_ROWS) % 3.0, np.arange(N_ROWS) // 20))
    write_parquet(folder / "dense.parquet", X, np.arange(N_ROWS) % 3.0, np.arange(N_ROWS) // 20)
    return folder


def size_of(data):
    X = data.X
    arrays = [X.data, X.indices, X.indptr] if sp.issparse(X) else [X]
    arrays += [data.comments.text, data.comments.ends] if isinstance(data.comments, Comments) else []
    return sum(array.nbytes for array in (*arrays, data.y, data.qid))


@pytest.mark.parametrize("name", ["dense.txt", "dense.txt.gz", "sparse.txt", "dense.csv"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_file_is_read_in_the_memory_of_the_result_and_a_few_blocks(files, name, dtype, monkeypatch):
    monkeypatch.setattr(_texts, "BLOCK_BYTES", 1 << 14)
    read(files / name, dtype=dtype)  # compiled and imported
    tracemalloc.start()
    data = read(files / name, dtype=dtype)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert data.X.dtype == dtype
    few = 64 * (1 << 14)  # blocks, what is found in them, and packed bytes
    assert peak < 1.2 * size_of(data) + few, (peak, size_of(data))


def test_rows_that_grow_wider_or_sparser_take_their_form_in_the_end(monkeypatch):
    monkeypatch.setattr(_texts, "BLOCK_BYTES", 256)
    dense = b"".join(b"1 1:1 2:0 3:%d\n" % k for k in range(200))
    some = b"".join(b"1 1:1 3:%d\n" % k for k in range(200))
    for text in (dense, some, dense + b"1 4:1\n", some + b"1 90:1\n", b"1 900:1\n" + dense, dense + b"1 900:0\n"):
        data = read_svmlight(io.BytesIO(text))
        for dtype in (np.float64, np.float32):
            full = read_svmlight(io.BytesIO(text), dense=True, dtype=dtype).X
            np.testing.assert_array_equal(full, data.X.toarray().astype(dtype), strict=True)
            auto = read_svmlight(io.BytesIO(text), dense="auto", dtype=dtype).X
            if sp.issparse(auto):
                assert auto.nnz == data.X.nnz  # zeros that are spelled out are kept
                assert (auto != data.X).nnz == 0
            else:
                np.testing.assert_array_equal(auto, full)
    assert sp.issparse(read_svmlight(io.BytesIO(some + b"1 90:1\n"), dense="auto").X)


def test_arrays_that_grow():
    grown = Growing(np.float32, 3)
    for k in range(50):
        grown.append(np.full((k, 3), k), (k + 1) / 50)
    assert grown.size == 1225
    np.testing.assert_array_equal(grown.done(), np.repeat(np.arange(50), np.arange(50))[:, None] * np.ones((1, 3)))
    ids = GrowingIds()
    ids.append(np.array([1, 2]))
    assert ids.done().tolist() == [1, 2]
    ids.append(np.array(["a", "3"], dtype=object))
    ids.append(np.array([-4]))
    assert ids.done().tolist() == ["1", "2", "a", "3", "-4"]
    assert GrowingIds().done() is None


COLD = """
import sys
import numpy as np
from linrank import read_svmlight
from linrank.io import iter_svmlight
for name in ("dense.txt", "dense.txt.gz", "sparse.txt"):
    for dtype in (np.float64, np.float32):
        read_svmlight(sys.argv[1] + name, dtype=dtype)
        next(iter_svmlight(open(sys.argv[1] + name, "rb"), dtype=dtype, n_features=9000, on_error="skip"))
from linrank.kernels.text import decimal, svmlight
kernels = {id(k): k for m in (decimal, svmlight) for k in vars(m).values() if hasattr(k, "signatures")}
print(len(kernels), sum(len(k.signatures) for k in kernels.values()))
"""


def test_each_kernel_of_the_reader_is_compiled_once(files, tmp_path):
    """Whatever is read, and from wherever: a second signature would take as long to compile as the first."""
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_DISABLE_JIT"}
    environment["NUMBA_CACHE_DIR"] = str(tmp_path)
    command = [sys.executable, "-c", COLD, f"{files}{os.sep}"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
    kernels, compiled = map(int, done.stdout.split())
    assert kernels == compiled == 16


def test_parquet_is_read_by_batches_of_a_few_columns(files, monkeypatch):
    seen = []
    iterate = pq.ParquetFile.iter_batches

    def watched(self, *arguments, **options):
        for batch in iterate(self, *arguments, **options):
            seen.append(batch.shape)
            yield batch

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", watched)
    monkeypatch.setattr(_parquet, "BATCH_BYTES", 8 * 500 * _parquet.FEW_COLUMNS)
    monkeypatch.setattr(_parquet, "FEWEST_ROWS", 10)
    data = read(files / "dense.parquet")
    assert data.n_rows == N_ROWS
    assert max(rows for rows, _ in seen) <= 500
    assert max(columns for _, columns in seen) <= _tables.COLUMNS_AT_ONCE
    scanned = linrank.scan(files / "dense.parquet").source.chunks(1 << 20)  # rows of all columns at a time
    np.testing.assert_array_equal(np.concatenate([chunk.X for chunk in scanned]), data.X, strict=True)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_parquet_takes_the_memory_of_the_result_and_of_a_few_columns(tmp_path, dtype):
    """All columns at once would hold their pages: more than the result."""
    m, d = 40_000, 64
    X = np.random.default_rng(0).random((m, d)).round(5)
    write_parquet(tmp_path / "wide.parquet", X, np.arange(m) % 3.0, np.arange(m) // 20)
    read(tmp_path / "wide.parquet")  # imported
    pool, before = pa.proxy_memory_pool(pa.default_memory_pool()), pa.default_memory_pool()
    pa.set_memory_pool(pool)
    try:
        tracemalloc.start()
        data = read(tmp_path / "wide.parquet", dtype=dtype)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(before)
    np.testing.assert_array_equal(data.X, X.astype(dtype), strict=True)
    assert 0 < pool.max_memory() < X.nbytes / 4
    assert peak + pool.max_memory() < 1.2 * size_of(data) + (6 << 20), (peak, pool.max_memory(), size_of(data))
