"""Weights set by hand."""

import numpy as np
import pytest

from linrank import LinearRanker, ParameterError, load, save
from linrank.data.weights import named_weights


def test_a_ranker_of_weights_by_name_scores_judges_saves_and_exports(tmp_path):
    pandas = pytest.importorskip("pandas")
    ranker = LinearRanker.from_weights({"price": -1.0, "clicks": 2.0})
    frame = pandas.DataFrame({"price": [3.0, 1.0], "clicks": [1.0, 1.0]})
    assert ranker.predict(frame).tolist() == [-1.0, 1.0]
    assert ranker.score(frame, [0, 1]) == 1.0
    assert ranker.rank(frame).tolist() == [2, 1]
    save(ranker, tmp_path / "m.json")
    assert load(tmp_path / "m.json").predict(frame).tolist() == [-1.0, 1.0]
    assert "clicks" in ranker.to_solr()


def test_weights_by_number_count_from_one():
    names, coef = named_weights({"1": 0.5, 4: -2})
    assert names is None
    assert coef.tolist() == [0.5, 0.0, 0.0, -2.0]
    assert named_weights([1, 2])[1].tolist() == [1.0, 2.0]
    assert named_weights({"1": 0.5, "bm25": 1})[0] == ["1", "bm25"]


@pytest.mark.parametrize("bad", [{}, [], {"a": "x"}, {"a": np.inf}, [[1.0]], {1: 1.0, "1": 2.0}, [np.nan]])
def test_what_is_no_weight_is_refused(bad):
    with pytest.raises(ParameterError):
        LinearRanker.from_weights(bad)


def test_missing_values_count_zero_where_that_is_asked_for():
    X = np.array([[np.nan, 1.0]])
    assert LinearRanker.from_weights([5, 2], missing="zero").predict(X).tolist() == [2.0]
    with pytest.raises(ParameterError, match="needs rows"):
        LinearRanker.from_weights([5, 2], missing="mean")
