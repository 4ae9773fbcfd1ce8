"""What is written is read back, to the last bit, in every format."""

import errno
import io

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from linrank import DataError, ParameterError, read_svmlight, write_svmlight
from linrank.io import Dataset, read, write_parquet

pytestmark = pytest.mark.smoke

FLOATS = st.floats(allow_infinity=False)
FINITE = st.floats(allow_infinity=False, allow_nan=False)
WORDS = st.text(st.characters(blacklist_characters=" \t\r\n#", blacklist_categories=("Cs",)), min_size=1, max_size=9)
TEXTS = st.text(st.characters(blacklist_characters="\r\n", blacklist_categories=("Cs",)), max_size=9)


@st.composite
def datasets(draw, sparse=True, words=WORDS):
    m, d = draw(st.integers(1, 5)), draw(st.integers(1, 4))

    def column(values, dtype):
        return np.array(draw(st.lists(values, min_size=m, max_size=m)), dtype=dtype)

    dtype = draw(st.sampled_from([np.float64, np.float32]))
    width = 64 if dtype == np.float64 else 32
    X = np.array(draw(st.lists(st.floats(allow_infinity=False, width=width), min_size=m * d, max_size=m * d)), dtype)
    X = X.reshape(m, d)
    if sparse and draw(st.booleans()):
        X = sp.csr_matrix(X)
    qid = draw(st.sampled_from([None, "int", "text"]))
    if qid is not None:
        qid = column(st.integers(-(2**63), 2**63 - 1), np.int64) if qid == "int" else column(words, object)
    return Dataset(
        X,
        column(FINITE, np.float64),
        qid,
        column(TEXTS, object).tolist() if draw(st.booleans()) else None,
        column(FINITE, np.float64) if draw(st.booleans()) else None,
    )


def bits(values):
    values = np.asarray(values)
    return np.where(np.isnan(values), values.dtype.type(np.nan), values).tobytes()


def assert_same(data, back):
    dense = [sp.csr_matrix(each.X).toarray() if sp.issparse(each.X) else each.X for each in (data, back)]
    assert bits(dense[0]) == bits(dense[1]) or np.array_equal(*dense, equal_nan=True)
    assert bits(data.y) == bits(back.y)
    if data.qid is None:
        assert back.qid is None
    else:
        assert [str(q) for q in back.qid] == [str(q) for q in data.qid]
        assert (back.qid.dtype == np.int64) == all(_is_shortest_integer(str(q)) for q in data.qid)
    assert list(back.comments or [""] * data.n_rows) == list(data.comments or [""] * data.n_rows)
    weight = np.ones(data.n_rows) if back.sample_weight is None else back.sample_weight
    assert bits(weight) == bits(np.ones(data.n_rows) if data.sample_weight is None else data.sample_weight)


def _is_shortest_integer(text):
    try:
        return str(int(text)) == text and -(2**63) <= int(text) < 2**63
    except ValueError:
        return False


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("round-trips")


@given(data=datasets(), ending=st.sampled_from(["txt", "txt.gz", "txt.zst"]), zero_based=st.booleans())
@settings(max_examples=120)
def test_svmlight(folder, data, ending, zero_based):
    path = folder / f"data.{ending}"
    write_svmlight(path, data, zero_based=zero_based)
    back = read(
        path, missing="keep", dtype=data.X.dtype, n_features=data.n_features, zero_based=zero_based,
        dense=not sp.issparse(data.X),
    )  # fmt: skip
    assert back.X.dtype == data.X.dtype
    assert_same(data, back)


@given(data=datasets(), named=st.booleans())
@settings(max_examples=60)
def test_parquet(folder, data, named):
    path = folder / "data.parquet"
    names = [f"rel {j}" for j in range(data.n_features)] if named else None
    if data.qid is not None and data.qid.dtype == object:  # texts that spell integers stay texts here
        qid = np.array([f"q{q}" for q in data.qid], dtype=object)
        data = Dataset(data.X, data.y, qid, data.comments, data.sample_weight)
    write_parquet(
        path, data.X, data.y, data.qid, comments=data.comments, sample_weight=data.sample_weight, feature_names=names
    )
    back = read(path, missing="keep", dtype=data.X.dtype)
    assert back.feature_names == (names or [str(j + 1) for j in range(data.n_features)])
    assert_same(data, back)


def test_svmlight_text_is_what_people_expect(tmp_path):
    path = tmp_path / "x.txt"
    X = sp.csr_matrix(np.array([[0, 0.1], [3, 0]]))
    write_svmlight(path, X, [2, 0.5], [7, 7], comments=["doc a", ""], sample_weight=[1, 2])
    assert path.read_text() == "2 qid:7 cost:1 2:0.1 #doc a\n0.5 qid:7 cost:2 1:3.0\n"
    write_svmlight(path, np.array([[0, 1.5]], dtype=np.float32))
    assert path.read_text() == "0 1:0.0 2:1.5\n"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"qid": ["a b", "c"]}, "no blank"),
        ({"qid": ["a#", "c"]}, "no blank"),
        ({"qid": [1, 2, 3]}, "one query id per row"),
        ({"comments": ["a\nb", "c"]}, "line break"),
        ({"comments": ["a"]}, "one for each"),
        ({"y": [1, np.nan]}, "finite"),
        ({"y": [1]}, "one finite number"),
        ({"y": ["x", "y"]}, "not a number"),
        ({"sample_weight": [1, np.inf]}, "finite"),
    ],
)
def test_what_cannot_be_written(tmp_path, given, words):
    with pytest.raises(DataError, match=words):
        write_svmlight(tmp_path / "x", np.eye(2), **given)
    assert list(tmp_path.iterdir()) == []


def test_a_dataset_is_given_alone(tmp_path):
    data = read_svmlight(io.BytesIO(b"1 1:1\n"))
    for write in (write_svmlight, write_parquet):
        with pytest.raises(ParameterError, match="give it alone"):
            write(tmp_path / "x", data, [1])
    with pytest.raises(ParameterError, match="different names"):
        write_parquet(tmp_path / "x", np.eye(2), [1, 2], feature_names=["label", "b"])


def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "x.txt"
    path.write_text("old")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    for write in (write_svmlight, write_parquet):
        with pytest.raises(OSError, match="No space"):
            write(path, np.eye(2))
        assert path.read_text() == "old"
        assert list(tmp_path.iterdir()) == [path]
