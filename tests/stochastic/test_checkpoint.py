"""Checkpoints that are damaged, cut off or made up: refused in a sentence, before any kernel sees them."""

import hashlib
import json

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from linrank import DataError, LinrankError, SGDRanker
from linrank.stochastic.checkpoint import MAGIC, load_checkpoint
from linrank.testing import make_ranking

START = len(MAGIC) + 32


class EndedError(Exception):
    pass


def ranker(**options):
    return SGDRanker(
        **{"alpha": 1e-2, "random_state": 0, "reservoir": 9, "open_queries": 2, "average": True, **options}
    )


def chunks(sparse):
    X, y, qid = make_ranking(120, 4, 3, 3)
    X[np.abs(X) < 0.7] = 0.0
    return [
        (sp.csr_matrix(X[k : k + 40]) if sparse else X[k : k + 40], y[k : k + 40], qid[k : k + 40]) for k in (0, 40, 80)
    ]


def torn(stream):
    yield from stream[:2]
    raise EndedError


@pytest.fixture(params=["dense", "csr"])
def stream(request):
    return chunks(request.param == "csr")


@pytest.fixture
def path(stream, tmp_path):
    """A checkpoint after the second of three chunks."""
    path = tmp_path / "state"
    with pytest.raises(EndedError):
        ranker(scale=np.ones(4)).fit_stream(torn(stream), checkpoint=path)
    return path


def taken_apart(raw):
    """The header, and the bytes of each array by name."""
    end = START + 8 + int.from_bytes(raw[START : START + 8], "little")
    header = json.loads(raw[START + 8 : end])
    arrays = {}
    for name, dtype, _, shape in header["arrays"]:
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        arrays[name] = np.frombuffer(raw[end : end + size], dtype).reshape(shape)
        end += size
    return header, arrays


def put_together(header, arrays):
    """A file whose checksum is right, whatever it holds."""
    listed = [[name, a.dtype.name, "C", a.shape] for name, a in arrays.items()]
    text = json.dumps({"arrays": listed} | {k: v for k, v in header.items() if k != "arrays"}).encode()
    return signed(len(text).to_bytes(8, "little") + text + b"".join(a.tobytes() for a in arrays.values()))


def signed(body):
    return MAGIC + hashlib.sha256(body).digest() + body


def refused(path, stream, match="cannot be read"):
    before = path.read_bytes()
    with pytest.raises(DataError, match=match) as caught:
        ranker(scale=np.ones(4)).fit_stream(stream, checkpoint=path)
    assert "resume=False (--restart)" in str(caught.value)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == before


def test_a_whole_one_is_read(path, stream):
    header, arrays = taken_apart(path.read_bytes())
    assert put_together(header, arrays) == path.read_bytes()
    resumed = ranker(scale=np.ones(4)).fit_stream(stream, checkpoint=path)
    assert resumed.coef_.tobytes() == ranker(scale=np.ones(4)).fit_stream(stream).coef_.tobytes()


@pytest.mark.parametrize("raw", [b"", b"PK\x03\x04", b"nonsense", MAGIC, MAGIC + b"\0" * 40])
def test_an_empty_or_foreign_file(path, stream, raw):
    path.write_bytes(raw)
    refused(path, stream)


def test_what_is_not_a_file(tmp_path, stream):
    for where in (tmp_path, "/dev/null"):
        with pytest.raises(DataError, match="is not a file"):
            ranker().fit_stream(stream, checkpoint=where)


def test_a_column_beyond_the_last_one(tmp_path):
    """Its number was 50,000,000 of 4: the kernels would write there."""
    stream = chunks(sparse=True)
    for wrong in (50_000_000, -1, 4):
        file = tmp_path / "state"
        with pytest.raises(EndedError):
            ranker(scale=np.ones(4)).fit_stream(torn(stream), checkpoint=file, resume=False)
        header, arrays = taken_apart(file.read_bytes())
        indices = arrays["kept indices"].copy()
        indices[-1] = wrong
        file.write_bytes(put_together(header, arrays | {"kept indices": indices}))
        refused(file, stream)


@pytest.mark.parametrize(("place", "value"), [(-1, -419430378), (-1, 10**6), (0, 1), (1, 10**6), (1, -5), (2, 0)])
def test_rows_that_begin_or_end_elsewhere(tmp_path, place, value):
    stream, file = chunks(sparse=True), tmp_path / "state"
    with pytest.raises(EndedError):
        ranker(scale=np.ones(4)).fit_stream(torn(stream), checkpoint=file)
    header, arrays = taken_apart(file.read_bytes())
    indptr = arrays["kept indptr"].copy()
    indptr[place] = value
    file.write_bytes(put_together(header, arrays | {"kept indptr": indptr}))
    refused(file, stream)


@pytest.mark.parametrize("change", ["short", "long", "float32", "nan", "gone", "more"])
def test_arrays_that_do_not_fit(path, stream, change):
    header, arrays = taken_apart(path.read_bytes())
    for name in arrays:
        if change in ("nan", "float32") and (name == "state" or arrays[name].dtype != np.float64):
            continue
        if change == "float32" and name.endswith((" X", " data")):
            continue  # the values of a chunk may be so
        given = dict(arrays)
        if change == "short":
            given[name] = arrays[name][:-1]
        elif change == "long":
            given[name] = np.concatenate([arrays[name], arrays[name][-1:]])
        elif change == "float32":
            given[name] = arrays[name].astype(np.float32)
        elif change == "nan":
            given[name] = np.full_like(arrays[name], np.nan)
        elif change == "gone":
            if name == "scale":
                continue  # a stream may have none
            del given[name]
        else:
            given[f"{name} more"] = arrays[name]
        path.write_bytes(put_together(header, given))
        refused(path, stream)


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("descent", [-1, 0, 0, 0]), ("descent", [5, 6, 0, 0]), ("descent", [5, 5, -1, 0]),
        ("descent", [5, 5, 0, 2**64]),
        ("descent", [1e9, 0, 0, 0]), ("descent", [True, 0, 0, 0]), ("descent", []), ("descent", None),
        ("queries", [0, 2**63, 9, 0, 0]), ("queries", ["0", 0, 9, 0, 0]), ("queries", [0, 0, 10, 0, 0]),
        ("queries", [0, 0, 8, 0, 0]), ("queries", [0, 0, 9, -1, 0]), ("queries", 7), ("watch", [0.5, 0, [1, 1, 0, 0]]),
        ("watch", ["0.5", 0, None]), ("watch", [0.5, -1, None]), ("held", [0, 0, -1.0, False]),
        ("held", [0, 2**63, 1.0, False]),
        ("stream", [-1, 0, True]), ("stream", [0, 0, 1]), ("stream", [0, -1, True]), ("stream", {}),
        ("about", []), ("about", [[0, -1], "x", [], {}]), ("about", [[0, 0], 5, [], {}]), ("about", [0, 0, 0, 0]),
    ],
)  # fmt: skip
def test_headers_that_say_nonsense(path, stream, part, value):
    header, arrays = taken_apart(path.read_bytes())
    if part == "about" and len(value) == 4 and value[3] == {}:
        value = [*value[:3], header["about"][3]]
    path.write_bytes(put_together(header | {part: value}, arrays))
    refused(path, stream)


@pytest.mark.parametrize(
    ("name", "value"), [("kept owner", 2), ("kept owner", -1), ("kept place", 9), ("kept place", 1), ("kept v", -1.0),
                        ("open seen", 0), ("open seen", 3)]
)  # fmt: skip
def test_rows_that_belong_to_no_query(path, stream, name, value):
    header, arrays = taken_apart(path.read_bytes())
    array = arrays[name].copy() if arrays[name].size else np.array([0], dtype=arrays[name].dtype)
    array[0] = value
    path.write_bytes(put_together(header, arrays | {name: array}))
    refused(path, stream)


@pytest.mark.parametrize(
    "text", [b"[" * 100_000, b"1" * 10_000, b"\xff", b"null", b"[]", b'{"arrays": [[1, 2, 3, 4]]}']
)
def test_headers_that_are_none(path, stream, text):
    path.write_bytes(signed(len(text).to_bytes(8, "little") + text))
    refused(path, stream)


@pytest.mark.parametrize("size", [2**60, 2**63, 2**200])
def test_an_array_larger_than_the_file(path, stream, size):
    header, _ = taken_apart(path.read_bytes())
    text = json.dumps(header | {"arrays": [["v", "float64", "C", [size]]]}).encode()
    path.write_bytes(signed(len(text).to_bytes(8, "little") + text))
    refused(path, stream)


SAMPLES = {}


def sample(sparse, folder):
    """The bytes of a checkpoint, made once."""
    if sparse not in SAMPLES:
        with pytest.raises(EndedError):
            ranker().fit_stream(torn(chunks(sparse)), checkpoint=folder / "sample", resume=False)
        SAMPLES[sparse] = (folder / "sample").read_bytes()
    return SAMPLES[sparse]


@settings(max_examples=300)
@given(data=st.data(), sparse=st.booleans(), checksum=st.booleans())
def test_any_change_of_bytes_is_refused_or_harmless(tmp_path_factory, data, sparse, checksum):
    """With the checksum made right again too, whatever is taken is as good as a user's own data."""
    folder = tmp_path_factory.getbasetemp()
    raw = bytearray(sample(sparse, folder))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0 if not checksum else START, len(raw) - 1))
        raw[place] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        raw = raw[: data.draw(st.integers(START, len(raw)))]
    changed = signed(bytes(raw[START:])) if checksum else bytes(raw)
    (folder / "changed").write_bytes(changed)
    try:
        saved = load_checkpoint(folder / "changed", ranker()._described())
    except LinrankError:
        return
    if not checksum:
        assert changed == sample(sparse, folder)
    queries = saved.stream.queries
    X, kept = queries.kept.rows.X, queries.kept
    assert X.shape == (kept.y.size, 4)
    assert not sp.issparse(X) or X.nnz == 0 or 0 <= X.indices.min() <= X.indices.max() < 4
    assert 0 <= kept.owner.min() <= kept.owner.max() < queries.key.size
    assert saved.stream.descent.v.shape == saved.stream.descent.b.shape == (4,)
