"""Files that are almost right: the right answer, or a LinrankError that says what is wrong."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import linrank
from linrank import AUCClassifier, DataError, FileFormatError, LinearRanker, ModelFileError, ParameterError, RankingData
from linrank.cli._parameters import parse_preferences, read_pairs, read_query_weights
from linrank.io import Dataset, Model, read, write_svmlight
from linrank.io._document import dumps, loads
from linrank.testing import make_ranking

X, Y, QID = make_ranking(60, 3, 4, 3, seed=0)


@pytest.fixture(scope="module")
def classifier():
    document = json.loads(dumps(Model.of(AUCClassifier().fit(X, (Y > 1).astype(int)))))
    document.pop("checksum")
    return document


@pytest.fixture(scope="module")
def ranker():
    document = json.loads(dumps(Model.of(LinearRanker(preferences=[(0, 1), (1, 2)]).fit(X, Y, QID))))
    document.pop("checksum")
    return document


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("intercept_", []),
        ("intercept_", [1.0, 2.0]),
        ("intercept_", ["x"]),
        ("intercept_", "x"),
        ("intercept_", None),
        ("intercept_", [None]),
        ("intercept_", [True]),
        ("intercept_", [[1.0]]),
        ("intercept_", {"repr": "x"}),
        ("intercept_", [10**400]),
        ("slope_", "x"),
        ("slope_", -1.0),
        ("slope_", []),
        ("slope_", None),
        ("slope_", True),
        ("classes_", []),
        ("classes_", [1]),
        ("classes_", [1, 1]),
        ("classes_", [[1, 2], [3, 4]]),
        ("classes_", {"solver": "Newton"}),
    ],
)
def test_a_classifier_with_an_empty_or_text_intercept_is_named(classifier, name, value):
    document = {**classifier, "state": {**classifier["state"], name: value}}
    with pytest.raises(ModelFileError, match=r"state|_|too large"):
        loads(json.dumps(document).encode(), "m.json")


@pytest.mark.parametrize("missing", [None, [], "mean", {"solver": "Newton"}])
def test_a_model_that_says_two_things_about_missing_values_is_named(ranker, missing):
    document = {**ranker, "parameters": {**ranker["parameters"], "missing": missing}}
    with pytest.raises(ModelFileError, match="missing"):
        loads(json.dumps(document).encode(), "m.json")


def test_a_classifier_without_training_facts_is_read(classifier):
    loaded = loads(json.dumps({**classifier, "training": {}}).encode(), "m.json").ranker()
    assert loaded.predict(X).shape == (60,)
    assert not hasattr(loaded, "n_iter_")


@pytest.mark.parametrize(("estimator", "state"), [("LinearRankerCV", {"alpha_": "x"}), ("SGDRanker", {"t_": -1})])
def test_other_state_that_is_wrong_is_named(ranker, estimator, state):
    document = {**ranker, "estimator": estimator, "state": state}
    with pytest.raises(ModelFileError, match="_"):
        loads(json.dumps(document).encode(), "m.json")


@pytest.mark.parametrize("value", [[[0, 1, 10**400]], [[10**400, 1]], [10**400]])
def test_an_edge_of_weight_10_to_the_400_in_a_model_is_named(ranker, value):
    document = {**ranker, "parameters": {**ranker["parameters"], "preferences": value}}
    with pytest.raises(ModelFileError, match="too large"):
        loads(json.dumps(document).encode(), "m.json")


def test_half_a_surrogate_in_a_name_of_a_model_is_kept_and_exports_name_it(ranker, tmp_path):
    document = {**ranker, "weights": [["price \ud800", 1.0], ["b", 2.0], ["c", 3.0]]}
    model = loads(json.dumps(document).encode(), "m.json")
    linrank.save(model.ranker(), tmp_path / "m.json")
    assert linrank.load(tmp_path / "m.json").feature_names_in_.tolist() == ["price \ud800", "b", "c"]
    with pytest.raises(ParameterError, match=r"'price \\ud800'.*rename"):
        model.ranker().to_solr()


def test_numbers_that_no_float_holds_are_named_wherever_they_are_given():
    huge = 10**400
    with pytest.raises(ParameterError, match="preferences"):
        RankingData(X, Y, QID, preferences=[(0, 1, huge)])
    with pytest.raises(ParameterError, match="preferences"):
        RankingData(X, Y, QID, preferences=np.array([[0, 1, huge]], dtype=object))
    for given, name in (
        ({"pairs": [(1, huge)]}, "pairs"),
        ({"pairs": [(1, 2, huge)]}, "pairs"),
        ({"sample_weight": [huge] * 60}, "sample_weight"),
        ({"query_weight": dict.fromkeys(range(4), huge)}, "query_weight"),
    ):
        with pytest.raises(DataError, match=name):
            RankingData(X, Y, QID, **given)
    with pytest.raises(DataError, match="y must"):
        RankingData(X, [huge] * 60, QID)
    with pytest.raises(DataError, match="too large"):
        RankingData([[huge]] * 60, Y, QID)


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
@pytest.mark.parametrize("kind", [pa.int64(), pa.uint64()])
@pytest.mark.parametrize("missing", [False, True])
def test_whole_numbers_above_2_to_the_53_are_the_nearest_float(tmp_path, ending, kind, missing):
    values = [2**53 + 1, 2**53 + 3, 2**63 - 1, None if missing else 5]
    table = pa.table({"label": [1, 0, 1, 0], "qid": [1, 1, 1, 1], "a": pa.array(values, kind)})
    path = tmp_path / f"x.{ending}"
    pq.write_table(table, path) if ending == "parquet" else pa.feather.write_feather(table, path)
    expected = [np.nan if value is None else float(value) for value in values]
    np.testing.assert_array_equal(read(path, missing="keep").X[:, 0], expected)


@pytest.mark.parametrize(
    "metadata", [b"[" * 100_000, b'{"a":' * 100_000, b'{"label": ["a"]}', b'{"label": 1}', b"\xff", b'"x"', b"[1]"]
)
def test_nested_metadata_of_a_parquet_file_is_no_metadata(tmp_path, metadata):
    path = tmp_path / "x.parquet"
    table = pa.table({"label": [1, 0], "qid": [1, 1], "a": [1.0, 2.0]})
    pq.write_table(table.replace_schema_metadata({b"linrank": metadata}), path)
    data = read(path)
    assert data.y.tolist() == [1, 0]
    assert data.feature_names == ["a"]


DATA = Dataset(X, Y, QID)


@pytest.mark.parametrize(
    "load", [lambda path: read_pairs(path, 5), parse_preferences, lambda path: read_query_weights(path, DATA)]
)
def test_a_file_that_is_not_utf8_is_named(load, tmp_path):
    path = tmp_path / "x.txt"
    path.write_bytes(b"1 2\n2 3 # caf\xe9\n")
    with pytest.raises(FileFormatError, match=r"x\.txt, line 2.*UTF-8"):
        load(str(path))
    path.write_bytes("\ufeff1 2\n2 3\n".encode("utf-16"))
    with pytest.raises(FileFormatError, match=r"x\.txt, line 1.*UTF-8"):
        load(str(path))
    path.write_bytes("1 2\n2 3\n".encode("utf-8-sig"))
    load(str(path))


@pytest.mark.parametrize("number", ["1_0", "nan", "inf", "-inf", "1e999", "\u0663", "x", "1 2"])
def test_what_is_no_number_in_a_weight_file_is_named(number, tmp_path):
    (tmp_path / "x.txt").write_text("1 1:1\n0 1:2\n")
    (tmp_path / "x.txt.weight").write_text(f"1\n{number}\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"x\.txt\.weight, line 2"):
        read(tmp_path / "x.txt")
    (tmp_path / "x.txt.weight").unlink()
    (tmp_path / "x.txt.query").write_text(f"1\n{number}\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"x\.txt\.query, line 2"):
        read(tmp_path / "x.txt")


@pytest.mark.parametrize("number", ["1_0", "nan", "inf", "1e999", "\u0663", "x"])
def test_what_is_no_number_in_a_file_of_pairs_weights_or_edges_is_named(number, tmp_path):
    path = tmp_path / "x.txt"
    path.write_text(f"1 2 1\n2 3 {number}\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"x\.txt, line 2"):
        read_pairs(str(path), 5)
    with pytest.raises(ParameterError, match="not an edge"):
        parse_preferences(str(path))
    with pytest.raises(ParameterError, match="not an edge"):
        parse_preferences(f"0<1:{number}")
    path.write_text(f"1 2\n2 {number}\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"x\.txt, line 2"):
        read_query_weights(str(path), DATA)


def test_queries_that_the_data_does_not_hold_are_told(tmp_path, caplog):
    path = tmp_path / "weights.txt"
    path.write_text("0 2.5\n1 0\nunknown 7\nother 7\n")
    assert read_query_weights(str(path), DATA) == {0: 2.5, 1: 0.0, 2: 1.0, 3: 1.0}
    assert "2 queries that the data does not hold" in caplog.text
    assert "'unknown' on line 3" in caplog.text
    caplog.clear()
    path.write_text("0 2.5\n1 0\n")
    read_query_weights(str(path), DATA)
    assert caplog.text == ""
    path.write_text("00 2.5\nq1 0\n")
    with pytest.raises(DataError, match="none of its queries"):
        read_query_weights(str(path), DATA)
    path.write_text("0 2.5\n1 1\n0 3\n")
    with pytest.raises(DataError, match=r"line 3: query '0' .* line 1"):
        read_query_weights(str(path), DATA)
    path.write_text("0 -1\n")
    with pytest.raises(DataError, match="line 1"):
        read_query_weights(str(path), DATA)


def test_every_flipped_bit_of_an_archive_that_was_written_is_noticed(tmp_path):
    path = tmp_path / "x.zst"
    write_svmlight(path, X[:9], Y[:9], QID[:9])
    whole = path.read_bytes()
    expected = read(path)
    for position in range(5, len(whole)):  # before that, it is another format
        for bit in range(8):
            damaged = bytearray(whole)
            damaged[position] ^= 1 << bit
            path.write_bytes(damaged)
            try:
                data = read(path)
            except FileFormatError:
                continue
            assert np.array_equal(data.X, expected.X)


def test_a_table_that_asks_for_more_memory_than_there_is_is_named(tmp_path, monkeypatch):
    path = tmp_path / "x.arrow"
    pa.feather.write_feather(pa.table({"label": [1, 0], "a": [1, 2]}), path)

    def fail(*_):
        raise MemoryError

    monkeypatch.setattr("pyarrow.ipc.open_file", fail)
    with pytest.raises(FileFormatError, match="not enough memory"):
        read(path)


@pytest.mark.parametrize("sizes", ["1\n11e22\n", "4\n9007199254740993\n"])
def test_sizes_of_queries_beyond_all_rows_are_refused(tmp_path, sizes):
    path = tmp_path / "x.txt"
    path.write_text("1 1:0.5\n0 1:0.25\n")
    (tmp_path / "x.txt.query").write_text(sizes)
    with pytest.raises(DataError, match="more than there can be"):
        read(path)


def test_lists_of_different_lengths_are_named_beside_suspicious_columns(tmp_path):
    pd = pytest.importorskip("pandas")
    path = tmp_path / "x.parquet"
    rows = {"y": [1.0, 0.0, 2.0], "e": [[1.0, 2.0], [], [3.0, 4.0]]}
    pd.DataFrame(rows).to_parquet(path)
    with pytest.raises(DataError, match="make them equally long"):
        read(path, label="y")
