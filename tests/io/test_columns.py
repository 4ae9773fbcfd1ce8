"""Tables whose query column is not known: told, guessed or refused, never taken for a feature in silence."""

import io
import logging
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linrank import DataError, LinrankError
from linrank.io import GUESSES, from_frame, read, write_csv, write_parquet

NONE_FOUND = "query: none found, all rows are compared with each other; name it with query="


def log_of_searches(n_queries=40, seed=0, name="search"):
    """A table as a shop's log gives it: rows of a search next to each other."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 12, n_queries)
    n = sizes.sum()
    return pd.DataFrame(
        {
            name: np.repeat(rng.permutation(10 * n_queries)[:n_queries], sizes),
            "grade": rng.integers(0, 4, n),
            "bm25_title": rng.normal(size=n),
            "clicks": rng.poisson(2.0, n),
            "in_stock": rng.integers(0, 2, n),
        }
    )


def read_as(frame, kind, folder, **options):
    if kind == "frame":
        return from_frame(frame, **options)
    if kind == "arrow table":
        return from_frame(pa.Table.from_pandas(frame), **options)
    path = folder / f"table.{kind}"
    (frame.to_csv(path, index=False) if kind == "csv" else getattr(frame, f"to_{KINDS[kind]}")(path))
    return read(path, **options)


KINDS = {"frame": "", "arrow table": "", "csv": "csv", "parquet": "parquet", "feather": "feather"}


@pytest.mark.parametrize("kind", KINDS)
def test_an_unknown_query_column_is_no_feature_until_told(kind, tmp_path):
    frame = log_of_searches(name="basket")
    with pytest.raises(DataError, match=r"'basket' is the same over runs of rows.*query='basket'.*query=''"):
        read_as(frame, kind, tmp_path)
    named = read_as(frame, kind, tmp_path, query="basket")
    assert named.qid.tolist() == frame["basket"].tolist()
    assert named.feature_names == ["bm25_title", "clicks", "in_stock"]
    taken = read_as(frame, kind, tmp_path, query="")
    assert taken.qid is None
    assert taken.feature_names == ["basket", "bm25_title", "clicks", "in_stock"]
    for told in ({"features": ["basket", "clicks"]}, {"drop": ["basket"]}, {"id": "basket"}):
        assert read_as(frame, kind, tmp_path, **told).qid is None


@pytest.mark.parametrize("kind", KINDS)
def test_an_unknown_query_column_of_texts_is_named(kind, tmp_path):
    frame = log_of_searches(name="basket")
    frame["basket"] = "b" + frame["basket"].astype(str)
    with pytest.raises(DataError, match=r"'basket' is the same over runs of rows.*query='basket'"):
        read_as(frame, kind, tmp_path)
    shuffled = frame.sample(frac=1, random_state=0)
    with pytest.raises(DataError, match=r"drop=\['basket'\]"):
        read_as(shuffled, kind, tmp_path)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "name",
    ["search_id", "SearchID", "session_id", "request_id", "user_id", "userId", "query_id", "srch_id", "visitor_id"],
)
def test_more_names_of_queries_are_guessed(kind, name, tmp_path):
    frame = log_of_searches(name=name)
    data = read_as(frame, kind, tmp_path)
    assert data.qid.tolist() == frame[name].tolist()
    assert f"query: column {name!r} (guessed)" in data.description


def test_a_query_goes_before_who_asked_it():
    frame = log_of_searches(name="search_id").assign(user_id=7, session_id=3)
    data = from_frame(frame)
    assert "query: column 'search_id' (guessed)" in data.description
    with pytest.raises(LinrankError, match="'user_id', 'session_id' could each be the query"):
        from_frame(frame.drop(columns="search_id"))
    with pytest.raises(LinrankError, match="'search_id', 'qid' could each be the query"):
        from_frame(frame.assign(qid=1))


def test_a_rating_beside_a_grade_is_a_feature():
    frame = log_of_searches(name="search_id").assign(rating=4.5)
    data = from_frame(frame)
    assert data.y.tolist() == frame["grade"].tolist()
    assert "rating" in data.feature_names
    assert from_frame(frame.drop(columns="grade")).y.tolist() == [4.5] * len(frame)
    assert "label: column 'rating' (guessed)" in from_frame(frame.drop(columns="grade")).description


@pytest.mark.parametrize("kind", KINDS)
def test_every_read_without_queries_says_so_and_lists_the_features(kind, tmp_path, caplog):
    frame = log_of_searches().drop(columns="search")
    with caplog.at_level(logging.WARNING, logger="linrank"):
        data = read_as(frame, kind, tmp_path)
    assert NONE_FOUND in data.description
    assert data.description[-1] == "features: 3 columns: 'bm25_title', 'clicks', 'in_stock'"
    (record,) = caplog.records
    assert NONE_FOUND in record.getMessage()
    assert "'bm25_title', 'clicks', 'in_stock'" in record.getMessage()
    caplog.clear()
    told = read_as(frame, kind, tmp_path, query="")
    assert not caplog.records  # who says it is not told
    assert "query: none, all rows are compared with each other" in told.description


def test_svmlight_without_qid_says_so_in_its_description(tmp_path, caplog):
    assert any(
        text.startswith("query: none found, all rows are compared with each other")
        for text in read(io.BytesIO(b"1 1:2\n0 1:3\n")).description
    )
    assert not any("none found" in text for text in read(io.BytesIO(b"1 qid:1 1:2\n0 qid:1 1:3\n")).description)
    assert not caplog.records


def test_many_features_are_listed_by_their_first_and_counted():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(5, 136)), columns=[f"f{j}" for j in range(136)])
    last = from_frame(frame, query="").description[-1]
    assert last.startswith("features: 136 columns: 'f0', 'f1', ")
    assert last.endswith(" more")
    assert len(last) < 300


RNG = np.random.default_rng(5)
HONEST = {
    "sorted floats": np.sort(RNG.normal(size=200)),
    "sorted floats with ties": np.sort(np.round(RNG.normal(size=200), 1)),
    "a flag that runs": np.repeat([0, 1], 100),
    "a flag in random order": RNG.integers(0, 2, 200),
    "small counts": RNG.poisson(1.0, 200),
    "mostly zero": np.where(RNG.random(200) < 0.02, RNG.integers(1, 90, 200), 0),
    "years in random order": RNG.integers(1970, 1983, 200),
    "seasons over two years": np.tile(np.repeat([1, 2, 3, 4], 25), 2),
    "weekdays by the hour": (np.arange(200) // 24) % 7,
    "row numbers": np.arange(200),
    "sorted times with a few ties": np.sort(RNG.integers(0, 5000, 200)),
    "constant": np.full(200, 3),
    "few rows": np.array([1, 1, 2, 2, 3]),
    "whole numbers with holes": np.where(np.arange(200) % 9, np.arange(200) // 5, np.nan),
}


@pytest.mark.parametrize("what", HONEST)
def test_ordinary_features_are_taken(what):
    frame = pd.DataFrame({"x": HONEST[what], "label": np.arange(len(HONEST[what])) % 3})
    assert from_frame(frame, missing="keep").feature_names == ["x"]


IDS = {
    "numbered": np.repeat(np.arange(20), 5),
    "large ids in any order": np.repeat(RNG.permutation(10**6)[:50], RNG.integers(1, 30, 50)),
    "most queries have one row or two": np.repeat(np.arange(60), [1, 2, 3] * 20),
    "five searches of two rows": np.repeat([8, 3, 9, 1, 4], 2),
    "whole numbers stored as floats": np.repeat(np.arange(20.0), 5),
}


@pytest.mark.parametrize("what", IDS)
def test_ids_of_queries_are_refused(what):
    frame = pd.DataFrame({"x": IDS[what], "label": np.arange(len(IDS[what])) % 3})
    with pytest.raises(DataError, match="'x' is the same over runs of rows"):
        from_frame(frame)
    assert from_frame(frame.assign(qid=np.arange(len(frame)) // 7)).feature_names == ["x"]  # ordinary beside a qid


@given(
    sizes=st.lists(st.integers(2, 9), min_size=6, max_size=30),
    seed=st.integers(0, 2**32 - 1),
)
def test_runs_are_refused_and_the_same_values_shuffled_are_not(sizes, seed):
    rng = np.random.default_rng(seed)
    ids = np.repeat(rng.permutation(10**4)[: len(sizes)], sizes)
    with pytest.raises(DataError, match="the same over runs"):
        from_frame(pd.DataFrame({"x": ids, "z": rng.normal(size=ids.size)}))
    shuffled = ids.copy()
    while np.count_nonzero(np.diff(shuffled)) + 1 == len(sizes):
        rng.shuffle(shuffled)
    assert from_frame(pd.DataFrame({"x": shuffled, "z": rng.normal(size=ids.size)})).n_features == 2


def test_what_was_written_without_queries_is_read_again(tmp_path):
    data = from_frame(log_of_searches(name="basket"), query="")
    write_parquet(tmp_path / "x.parquet", data)  # says itself that there is no query
    assert read(tmp_path / "x.parquet").feature_names == data.feature_names
    write_csv(tmp_path / "x.csv", data)
    with pytest.raises(DataError, match="'basket'"):
        read(tmp_path / "x.csv")
    assert read(tmp_path / "x.csv", query="").feature_names == data.feature_names


def test_the_page_on_formats_lists_the_names_that_are_guessed():
    page = (Path(__file__).parents[2] / "docs" / "file-formats.md").read_text().splitlines()
    for role, names in GUESSES.items():
        (line,) = [line for line in page if line.startswith(f"| {role} | ")]
        assert line.split("`")[1::2] == list(names)
