"""Scans: files that are not read yet, alone and together, give the rows, the fits and the scores of memory."""

import gzip
import itertools
import os
import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import linrank
from linrank import AUCClassifier, DataError, LinearRanker, LinearRankerCV, ParameterError, SGDRanker, metrics
from linrank.data import mapped
from linrank.data.dataset import Comments, Dataset
from linrank.data.joining import joined
from linrank.io import _store, read, write_csv, write_parquet
from linrank.model_selection import cross_validate
from linrank.published import TreeRSVM
from linrank.testing import make_ranking


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LINRANK_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def rows(m=300, d=4, queries=15, seed=0):
    X, y, qid = make_ranking(m, d, queries, 4, seed=seed)
    order = np.argsort(qid, kind="stable")
    return X[order], y[order], qid[order]


def write(path, X, y, qid):
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".csv":
        write_csv(path, Dataset(X, y, qid, feature_names=[f"f{j}" for j in range(X.shape[1])]))
    elif path.suffix == ".parquet":
        write_parquet(path, X, y, qid)
    elif path.suffix == ".arrow":
        frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])]).assign(label=y, qid=qid)
        pa.feather.write_feather(pa.Table.from_pandas(frame), path)
    else:
        linrank.write_svmlight(path, X, y, qid)


def split(folder, names, data, cuts):
    for name, first, last in zip(names, cuts[:-1], cuts[1:], strict=True):
        write(folder / name, *(column[first:last] for column in data))


@pytest.mark.parametrize("ending", ["txt", "txt.gz", "csv", "parquet", "arrow"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_fit_from_disk_has_the_bits_of_memory(tmp_path, ending, dtype):
    """Of one file, and of several that cut a query in two."""
    data = rows()
    path = tmp_path / f"all.{ending}"
    if ending == "txt.gz":
        write(tmp_path / "plain.txt", *data)
        path.write_bytes(gzip.compress((tmp_path / "plain.txt").read_bytes()))
    else:
        write(path, *data)
    whole = read(path, dtype=dtype)
    scan = linrank.scan(path, dtype=dtype)
    assert "not counted yet" in repr(scan)
    assert isinstance(scan.X, np.memmap)
    assert "300 rows, 4 features" in repr(linrank.scan(path, dtype=dtype))
    expected = LinearRanker().fit(whole)
    assert LinearRanker().fit(scan).coef_.tobytes() == expected.coef_.tobytes()
    assert LinearRanker().fit(whole.X, whole.y, whole.qid).coef_.tobytes() == expected.coef_.tobytes()
    if ending != "txt.gz":
        names = [f"a/part-{k}.{ending}" for k in range(3)]
        split(tmp_path, names, data, [0, 110, 111, 300])
        for source in (tmp_path / "a", str(tmp_path / "a" / f"*.{ending}"), [tmp_path / name for name in names]):
            together = linrank.scan(source, dtype=dtype)
            assert np.array_equal(together.qid, data[2])
            assert LinearRanker().fit(together).coef_.tobytes() == expected.coef_.tobytes()
            assert np.array_equal(read(source, dtype=dtype).X, whole.X)


@pytest.mark.parametrize("one_query", [False, True])
def test_sparse_features_stay_sparse(tmp_path, one_query):
    rng = np.random.default_rng(0)
    X = sp.random(400, 50, 0.05, format="csr", random_state=0)
    y, qid = rng.integers(0, 3, 400), None if one_query else np.arange(400) // 10
    linrank.write_svmlight(tmp_path / "sparse.txt", X, y, qid)
    scan, whole = linrank.scan(tmp_path / "sparse.txt"), read(tmp_path / "sparse.txt", query=None)
    assert sp.issparse(scan.X)
    assert isinstance(scan.X.data, np.memmap)
    assert LinearRanker().fit(scan).coef_.tobytes() == LinearRanker().fit(whole).coef_.tobytes()


def test_everything_takes_a_dataset(tmp_path, cache):
    data = rows()
    split(tmp_path, [f"d/{k}.txt" for k in range(3)], data, [0, 100, 205, 300])
    X, y, qid = data
    ranker = LinearRanker().fit(X, y, qid)
    for given_ in (linrank.scan(tmp_path / "d"), linrank.scan(tmp_path / "d").load(), Dataset(X, y, qid)):
        assert np.array_equal(ranker.predict(given_), ranker.predict(X))
        assert np.array_equal(ranker.rank(given_), ranker.rank(X, qid))
        assert ranker.score(given_) == ranker.score(X, y, qid)
        assert metrics.ndcg(given_, ranker.predict(X), k=5) == metrics.ndcg(y, ranker.predict(X), qid, k=5)
        assert linrank.compare(given_, ranker.predict(X), X[:, 0]).p_value == (
            linrank.compare(y, ranker.predict(X), X[:, 0], qid).p_value
        )
        SGDRanker(random_state=0).fit_stream(given_)
    assert not cache.exists()  # none of this needs it
    scan = linrank.scan(tmp_path / "d")
    cv = LinearRankerCV(3, cv=3)
    assert np.array_equal(cv.fit(scan).coef_, cv.fit(X, y, qid).coef_)
    sgd = SGDRanker(random_state=0, n_steps=500)
    assert np.array_equal(sgd.fit(scan).coef_, sgd.fit(X, y, qid).coef_)
    partial = SGDRanker(random_state=0)
    assert np.array_equal(clone(partial).partial_fit(scan).coef_, clone(partial).partial_fit(X, y, qid).coef_)
    paper = TreeRSVM(0.1)
    assert np.array_equal(paper.fit(scan).coef_, paper.fit(X, y, qid).coef_)
    scores = [cross_validate(LinearRanker(), *given_, cv=3)["test_score"] for given_ in ((scan,), (X, y, qid))]
    assert np.array_equal(*scores)
    with pytest.raises(DataError, match=r"not a Dataset: give data\.X"):
        AUCClassifier().fit(scan, scan.y > 0)
    with pytest.raises(DataError, match="nothing to judge by: give y"):
        ranker.score(X)


def test_names_of_features_come_along(tmp_path):
    X, y, qid = rows()
    write(tmp_path / "a.csv", X, y, qid)
    ranker = LinearRanker().fit(linrank.scan(tmp_path / "a.csv"))
    assert ranker.feature_names_in_.tolist() == ["f0", "f1", "f2", "f3"]
    stream = SGDRanker(random_state=0).partial_fit(linrank.scan(tmp_path / "a.csv"))
    assert stream.feature_names_in_.tolist() == ["f0", "f1", "f2", "f3"]
    with pytest.raises(DataError, match="A chunk has 3 features, those before had 4"):
        stream.partial_fit(linrank.scan(tmp_path / "a.csv", drop=["f3"]))
    with pytest.raises(DataError, match="column 'f3' that the data lacks"):
        ranker.predict(linrank.scan(tmp_path / "a.csv", drop=["f3"]))
    with pytest.raises(DataError, match="another order"):
        ranker.predict(linrank.scan(tmp_path / "a.csv", features=["f1", "f0", "f2", "f3"]))


def test_names_of_folders_become_columns(tmp_path):
    X, y, qid = rows()
    split(tmp_path, [f"t/year={2020 + k}/lang=en/p.parquet" for k in range(3)], (X, y, qid), [0, 100, 200, 300])
    scan = linrank.scan(tmp_path / "t", drop=["lang"])
    assert scan.feature_names == ["1", "2", "3", "4", "year"]
    assert np.array_equal(scan.X[:, 4], np.repeat([2020, 2021, 2022], 100))
    by_year = linrank.scan(tmp_path / "t", drop=["lang", "qid"], query="year")
    assert np.array_equal(by_year.qid, np.repeat([2020, 2021, 2022], 100))
    assert linrank.scan(tmp_path / "t" / "*", query="lang", drop=["qid"]).qid[0] == "en"
    with pytest.raises(DataError, match="'lang', from the names of folders, holds texts"):
        _ = linrank.scan(tmp_path / "t").X


def test_queries_by_sizes_are_numbered_on_from_file_to_file(tmp_path):
    for k in (1, 2):
        (tmp_path / f"{k}.txt").write_text("1 1:1\n0 1:2\n1 1:3\n")
        (tmp_path / f"{k}.txt.query").write_text("1\n2\n")
        (tmp_path / f"{k}.txt.weight").write_text("1\n2\n3\n")
    scan = linrank.scan(tmp_path)
    assert scan.qid.tolist() == [1, 2, 2, 3, 4, 4]
    assert scan.sample_weight.tolist() == [1, 2, 3, 1, 2, 3]
    alone = linrank.scan(tmp_path / "2.txt")
    parts = scan.parts(2)
    for _ in range(2):  # read, and from the cache
        assert [part.load().qid.tolist() for part in parts] == [[1, 2, 2], [3, 4, 4]]
        assert [part.qid.tolist() for part in (*parts, alone)] == [[1, 2, 2], [3, 4, 4], [1, 2, 2]]
    (tmp_path / "2.txt.query").write_text("1\n1\n")
    with pytest.raises(DataError, match=r"2\.txt\.query tells of 2 rows, but 3 were read"):
        _ = linrank.scan(tmp_path).X


def test_parts_are_whole_files_and_pickle_small(tmp_path):
    data = rows()
    split(tmp_path, [f"{k}.txt" for k in range(6)], data, [0, 50, 100, 150, 200, 250, 300])
    scan = linrank.scan(tmp_path)
    assert len(pickle.dumps(scan)) < 2000
    for n, found in ((1, 1), (4, 4), (6, 6), (100, 6)):
        parts = scan.parts(n)
        assert len(parts) == found
        assert np.array_equal(np.concatenate([pickle.loads(pickle.dumps(part)).load().X for part in parts]), data[0])


def in_groups(path, data, size):
    """A Parquet file of row groups of so many rows."""
    X, y, qid = data
    columns = {"label": y, "qid": qid} | {f"f{j}": X[:, j] for j in range(X.shape[1])}
    pa.parquet.write_table(pa.table(columns), path, row_group_size=size)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 100])
def test_parts_of_parquet_are_row_groups_where_files_are_few(tmp_path, n):
    """Together they are the whole, in its order; queries of 10 rows cross groups of 48."""
    X, y, qid = rows()
    in_groups(tmp_path / "a.parquet", (X[:200], y[:200], qid[:200]), 48)  # 5 groups
    in_groups(tmp_path / "b.parquet", (X[200:], y[200:], qid[200:]), 1000)
    scan = linrank.scan(tmp_path)
    parts = [pickle.loads(pickle.dumps(part)) for part in scan.parts(n)]
    assert len(parts) == {1: 1, 2: 2, 3: 3, 4: 4}.get(n, 6 if n > 6 else len(parts))
    for _ in range(2):  # from the files, and from the cache
        loaded = [part.load() for part in parts]
        for name, expected in (("X", X), ("y", y), ("qid", qid)):
            assert np.array_equal(np.concatenate([getattr(part, name) for part in loaded]), expected)
        assert [part.n_rows for part in parts] == [part.n_rows for part in loaded]  # written to the cache
    again = [part.load().X for part in parts[0].parts(3)]  # parts of a part
    assert np.array_equal(np.concatenate(again), loaded[0].X)
    assert sum(len(part.parts(100)) for part in parts) == 6


def test_what_is_wrong_with_a_part_is_told_by_its_row_in_the_file(tmp_path):
    X, y, qid = rows()
    X[170, 2] = np.nan
    in_groups(tmp_path / "a.parquet", (X, y, qid), 50)
    for part in linrank.scan(tmp_path / "a.parquet").parts(6)[3:4]:
        with pytest.raises(DataError, match=r"a\.parquet.*'f2'.*row 171"):
            part.load()
    pa.parquet.write_table(pa.table({"label": y[:0], "qid": qid[:0], "f0": X[:0, 0]}), tmp_path / "empty.parquet")
    assert len(linrank.scan(tmp_path / "empty.parquet").parts(3)) == 1
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "a.parquet").read_bytes()[:-100])
    with pytest.raises(DataError, match=r"cut\.parquet cannot be read"):
        linrank.scan(tmp_path / "cut.parquet").parts(3)


def test_chunks_end_where_a_query_does(tmp_path):
    X, y, qid = rows()
    write(tmp_path / "a.parquet", X, y, qid)
    scan = linrank.scan(tmp_path / "a.parquet")
    for _ in range(2):  # from the file, then from the cache
        chunks = list(scan.chunks(2000))
        assert len(chunks) > 3
        assert np.array_equal(np.concatenate([chunk.X for chunk in chunks]), X)
        for before, after in itertools.pairwise(chunks):
            assert before.qid[-1] != after.qid[0]
        _ = scan.X


@st.composite
def blocks(draw):
    """Blocks as a reader gives them: widths, ids, weights and comments differ."""
    parts = []
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    texts = draw(st.sampled_from([None, "all", "late"]))
    for k in range(draw(st.integers(1, 4))):
        m, d = draw(st.integers(1, 6)), draw(st.integers(1, 8))
        X = sp.random(m, d, draw(st.sampled_from([0.1, 0.5, 1.0])), format="csr", rng=rng, dtype=np.float64)
        X.sort_indices()
        X.has_canonical_format = True
        qid = rng.integers(0, 3, m)
        if texts == "all" or (texts == "late" and k > 0):
            qid = np.array([f"q{q}" * draw(st.sampled_from([1, 40])) for q in qid], dtype=object)
        weight = rng.random(m) if draw(st.booleans()) else None
        comments = Comments.of([f"é{j}" * j for j in range(m)]) if draw(st.booleans()) else None
        parts.append(Dataset(X, rng.random(m), qid, comments, weight))
    return parts


@settings(max_examples=60)
@given(parts=blocks(), dense=st.sampled_from([True, False, "auto"]), dtype=st.sampled_from(["float64", "float32"]))
def test_what_is_stored_is_what_is_joined(tmp_path_factory, parts, dense, dtype):
    """The store against the joining of the same blocks in memory, its slow twin."""
    folder = tmp_path_factory.mktemp("store")
    writer = _store.Writer(folder, dense, dtype, None)
    for part in parts:
        writer.add(part)
    writer.finish({})
    found = _store.opened(folder, _store.read_about(folder))
    expected = joined(list(parts))
    X, wanted = (data.X.toarray() if sp.issparse(data.X) else np.asarray(data.X) for data in (found, expected))
    assert np.array_equal(X, wanted.astype(dtype))
    m, d, entry = *wanted.shape, np.dtype(dtype).itemsize
    small = m * d * entry <= expected.X.nnz * (entry + 4) + 8 * m
    assert sp.issparse(found.X) == (dense is False or (dense == "auto" and not small))
    assert found.qid.tolist() == expected.qid.tolist()
    assert np.array_equal(found.y, expected.y)
    assert (found.sample_weight is None) == (expected.sample_weight is None)
    assert found.sample_weight is None or np.array_equal(found.sample_weight, expected.sample_weight)
    assert (found.comments is None) == (expected.comments is None)
    assert found.comments is None or list(found.comments) == list(expected.comments)


@pytest.mark.parametrize("sparse", [False, True])
def test_parts_and_gaps_of_mapped_features_go_to_files(tmp_path, monkeypatch, sparse):
    """Folds, and what takes the place of NaN, take no memory: the same bits, in files without a name."""
    monkeypatch.setattr(mapped, "IN_MEMORY", 0)
    X, y, qid = rows()
    X = np.where(np.random.default_rng(1).random(X.shape) < (0.7 if sparse else 0.0), 0.0, X)
    X[3, 1] = X[50, 2] = np.nan
    linrank.write_svmlight(tmp_path / "a.txt", sp.csr_matrix(X) if sparse else X, y, qid)
    scan = linrank.scan(tmp_path / "a.txt", missing="keep", dense=not sparse)
    given_ = sp.csr_matrix(X) if sparse else X
    for ranker in (LinearRanker(missing="mean"), LinearRankerCV(3, cv=3, missing="mean")):
        assert np.array_equal(ranker.fit(scan).coef_, ranker.fit(given_, y, qid).coef_)
    entry = np.flatnonzero(np.isnan(scan.X.data if sparse else scan.X))
    assert entry.size == 2  # the cache itself is as it was
    part = mapped.rows_of(scan.X, np.arange(0, 300, 2))
    assert mapped.is_mapped(part)
    left = [name for _, _, names in os.walk(tmp_path / "cache") for name in names]
    assert all(name.endswith((".npy", ".json")) for name in left), left


def test_read_only_arrays_compile_nothing_anew():
    """A memory map, or pandas' own arrays, are used as others are."""
    from linrank.kernels import counting, hinge, products, scores, smooth, stochastic

    kernels = [
        kernel
        for module in (counting, hinge, products, scores, smooth, stochastic)
        for kernel in vars(module).values()
        if hasattr(kernel, "signatures")
    ]
    if not kernels:
        pytest.skip("numba compiles nothing here")
    X, y, qid = rows(2000, 5, 20)
    sparse = sp.csr_matrix(X)

    def train(dense, csr):
        for features in (dense, csr):
            LinearRanker().fit(features, y, qid).predict(features)
            LinearRanker(solver="tron").fit(features, y)
            SGDRanker(random_state=0, n_steps=50).fit(features, y, qid)

    train(X, sparse)
    before = [len(kernel.signatures) for kernel in kernels]
    for array in (X, sparse.data, sparse.indices, sparse.indptr):
        array.flags.writeable = False
    train(X, sparse)
    assert [len(kernel.signatures) for kernel in kernels] == before
    assert not X.flags.writeable


HOSTILE = {
    "a folder with other files": (
        {"d/a.csv": "rel,qid,f\n1,1,2\n0,1,3\n", "d/README.md": "words\n"},
        r"README\.md is read as svmlight, .*a\.csv as csv: name the files that belong together",
    ),
    "a missing column": (
        {"d/a.csv": "rel,qid,f,g\n1,1,2,1\n0,1,3,1\n", "d/b.csv": "rel,qid,f\n1,1,2\n"},
        r"b\.csv has no column 'g', which .*a\.csv has",
    ),
    "one column more": (
        {"d/a.csv": "rel,qid,f\n1,1,2\n0,1,3\n", "d/b.csv": "rel,qid,f,g\n1,1,2,1\n"},
        r"b\.csv has a column 'g', which .*a\.csv has not",
    ),
    "an empty table": ({"d/a.csv": "rel,qid,f\n1,1,2\n0,1,3\n", "d/b.csv": ""}, r"b\.csv is empty"),
    "an empty file": ({"d/a.txt": "1 qid:1 1:1\n", "d/b.txt": ""}, r"b\.txt holds no row"),
    "an empty folder": ({"d/_SUCCESS": "", "d/.crc": "x"}, r"d holds no file of data"),
    "queries in one file only": (
        {"d/a.txt": "1 qid:1 1:1\n", "d/b.txt": "1 1:1\n"},
        r"b\.txt has no qid, .*a\.txt has",
    ),
    "a bad line": ({"d/a.txt": "1 qid:1 1:1\n", "d/b.txt": "1 qid:1 1:x\n"}, r"b\.txt, line 1, column 11: expected"),
    "a text among numbers": (
        {"d/a.csv": "rel,qid,f\n1,1,2\n0,1,3\n", "d/b.csv": "rel,qid,f\n1,1,x\n"},
        r"b\.csv, line 2: expected a number in column 'f'",
    ),
    "a missing value": (
        {"d/a.csv": "rel,qid,f\n1,1,2\n0,1,3\n", "d/b.csv": "rel,qid,f\n1,1,\n"},
        r"b\.csv: Column 'f' is missing in row 1",
    ),
    "folders that tell other columns": (
        {"d/year=1/a.csv": "rel,qid,f\n1,1,2\n", "d/b.csv": "rel,qid,f\n1,1,2\n"},
        r"lies in no folder named year=",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_sources_are_one_sentence_that_names_the_file_and_the_column(tmp_path, cache, name):
    texts, words = HOSTILE[name]
    for path, text in texts.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    with pytest.raises(DataError, match=words) as caught:
        _ = linrank.scan(tmp_path / "d").X
    assert str(caught.value).count("\n") == 0
    assert not cache.exists() or not list(cache.iterdir())  # nothing half-written is left


def test_hostile_parquet(tmp_path):
    data = rows()
    split(tmp_path, ["d/a.parquet", "d/b.parquet"], data, [0, 100, 300])
    whole = (tmp_path / "d" / "b.parquet").read_bytes()
    (tmp_path / "d" / "b.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"b\.parquet cannot be read as a table"):
        _ = linrank.scan(tmp_path / "d").X
    X, y, qid = data
    X[150, 2] = np.inf
    columns = {"label": y[100:], "qid": qid[100:], **{str(j + 1): X[100:, j] for j in range(4)}}
    pa.parquet.write_table(pa.table(columns), tmp_path / "d" / "b.parquet")
    with pytest.raises(DataError, match=r"b\.parquet: Column '3' is infinite \(in float64\) in row 51"):
        _ = linrank.scan(tmp_path / "d").X
    pa.parquet.write_table(
        pa.table({"label": pa.array([], pa.float64()), "1": pa.array([], pa.float64())}), "e.parquet"
    )
    with pytest.raises(DataError, match=r"e\.parquet: there is no row"):
        _ = linrank.scan("e.parquet").X
    os.unlink("e.parquet")


def test_what_cannot_be_scanned(tmp_path):
    (tmp_path / "a.txt").write_text("1 qid:1 1:1\n")
    for source, kind, words in (
        (str(tmp_path / "*.csv"), DataError, "No file is named like"),
        (str(tmp_path / "b.txt"), FileNotFoundError, "b.txt"),
        ([], ParameterError, "no file to read"),
        ("-", ParameterError, "Standard input is read once"),
    ):
        with pytest.raises(kind, match=words):
            linrank.scan(source)
    with pytest.raises(ParameterError, match="missing='mean' is not known"):
        linrank.scan(tmp_path / "a.txt", missing="mean")
