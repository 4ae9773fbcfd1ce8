"""A pipeline of affine steps and a ranker is one model: saved, exported, or refused with the reason."""

import numpy as np
import pandas
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, VarianceThreshold, f_regression
from sklearn.linear_model import Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from linrank import (
    AUCClassifier,
    DataError,
    LinearRanker,
    ModelFileError,
    ParameterError,
    QueryScaler,
    labels,
    load,
    save,
)
from linrank.export import TARGETS, LinearFunction, Options
from linrank.testing import make_ranking

pytestmark = pytest.mark.smoke


@pytest.fixture(scope="module")
def problem():
    X, y, _ = make_ranking(80, 5, 1, 4, seed=3)
    return pandas.DataFrame(X * [1, 10, 100, 1, 5] + [0, 3, -50, 2, 0], columns=list("abcde")), y


STEPS = {
    "standard": [StandardScaler()],
    "no mean": [StandardScaler(with_mean=False)],
    "no deviation": [StandardScaler(with_std=False)],
    "minmax": [MinMaxScaler((-1, 2))],
    "maxabs": [MaxAbsScaler()],
    "robust": [RobustScaler()],
    "not centred": [RobustScaler(with_centering=False)],
    "query": [QueryScaler(one_query=True)],
    "query deviation": [QueryScaler("standard", shift=False, one_query=True)],
    "selection": [VarianceThreshold(), SelectKBest(f_regression, k=3)],
    "several": [StandardScaler(), SelectKBest(f_regression, k=4), MinMaxScaler(), "passthrough"],
    "nothing": [FunctionTransformer()],
    "nested": [make_pipeline(RobustScaler(), MaxAbsScaler())],
    "columns": [
        ColumnTransformer(
            [("s", StandardScaler(), ["c", "a"]), ("m", make_pipeline(MinMaxScaler()), ["e"]), ("d", "drop", ["b"])],
            remainder="passthrough",
        )
    ],
    "columns by number": [ColumnTransformer([("s", StandardScaler(), slice(1, 3)), ("r", RobustScaler(), [0])])],
    "columns by mask": [ColumnTransformer([("s", StandardScaler(), [True, False, True, False, False])])],
    "columns by slice": [ColumnTransformer([("s", StandardScaler(), slice("b", "d"))])],
}


@pytest.mark.parametrize("name", STEPS)
def test_a_pipeline_of_affine_steps_is_exported_and_saved_as_one_model(problem, name, tmp_path):
    X, y = problem
    pipeline = make_pipeline(*STEPS[name], LinearRanker()).fit(X, y)
    scores = pipeline.predict(X)
    function = LinearFunction.of(pipeline)
    assert function.names == tuple("abcde")
    np.testing.assert_allclose(function(X.to_numpy()), scores, rtol=1e-9, atol=1e-9 * np.abs(scores).max())
    text = TARGETS["python"].write(function, Options())
    np.testing.assert_allclose(TARGETS["python"].score(text, function.names, X.to_numpy()), scores, atol=1e-9)
    save(pipeline, tmp_path / "m.json")
    found = load(tmp_path / "m.json").predict(X) - scores
    np.testing.assert_allclose(found, found[0], atol=1e-9)  # a constant: no comparison sees it


@pytest.mark.parametrize("name", ["standard", "robust", "columns", "several"])
@pytest.mark.parametrize("kind", [LinearRanker, AUCClassifier])
def test_signs_and_bounds_are_saved_in_the_units_that_come_in(problem, name, kind, tmp_path):
    X, y = problem
    y = y if kind is LinearRanker else y > y.mean()
    d = make_pipeline(*STEPS[name]).fit_transform(X, y).shape[1]
    ranker = kind(alpha=0.01, monotonic_cst=[1] + [0] * (d - 1), bounds=[(-0.05, 0.05)] * d)
    pipeline = make_pipeline(*STEPS[name], ranker).fit(X, y)
    save(pipeline, tmp_path / "m.json")
    found = load(tmp_path / "m.json")
    lower, upper = (np.array([end[k] for end in found.bounds], dtype=float) for k in range(2))
    coef, before = np.ravel(found.coef_), np.ravel(pipeline[-1].coef_)
    assert not np.any(coef < lower)  # NaN: no bound, of columns left out
    assert not np.any(coef > upper)
    reached = np.count_nonzero((before == -0.05) | (before == 0.05) | ((before == 0.0) & (np.arange(d) == 0)))
    assert np.count_nonzero((coef == lower) | (coef == upper)) == reached > 0
    assert np.count_nonzero(np.isfinite(lower)) == d
    assert found.monotonic_cst is None


def test_a_saved_pipeline_with_bounds_can_be_asked_for_standard_errors(problem, tmp_path):
    X, y = problem
    pipeline = make_pipeline(StandardScaler(), LinearRanker(alpha=0.01, bounds=(-0.05, 0.05))).fit(X, y)
    save(pipeline, tmp_path / "m.json")
    found = load(tmp_path / "m.json").inference(X, y).standard_errors * pipeline[0].scale_
    np.testing.assert_allclose(found, pipeline[-1].inference(pipeline[0].transform(X), y).standard_errors, rtol=1e-6)


def test_missing_values_are_replaced_in_the_units_that_come_in(problem, tmp_path):
    X, y = problem
    X = X.mask(np.random.default_rng(0).random(X.shape) < 0.1)
    pipeline = make_pipeline(StandardScaler(), LinearRanker(missing="mean")).fit(X, y)
    save(pipeline, tmp_path / "m.json")
    found = load(tmp_path / "m.json").predict(X) - pipeline.predict(X)
    np.testing.assert_allclose(found, found[0], atol=1e-9)


def test_a_classifier_at_the_end_keeps_its_probabilities(problem, tmp_path):
    X, y = problem
    pipeline = make_pipeline(StandardScaler(), AUCClassifier()).fit(X, y > y.mean())
    save(pipeline, tmp_path / "m.json")
    np.testing.assert_allclose(load(tmp_path / "m.json").predict_proba(X), pipeline.predict_proba(X), rtol=1e-9)
    np.testing.assert_allclose(LinearFunction.of(pipeline)(X.to_numpy()), pipeline.decision_function(X), atol=1e-9)


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (PCA(2), "no scaler and no choice of columns"),
        (MinMaxScaler(clip=True), "clip=True is not linear"),
        (FunctionTransformer(np.abs), "its function"),
        (ColumnTransformer([("p", PCA(1), ["a", "b"])]), "'columntransformer/p' .*no scaler"),
    ],
)
def test_any_other_step_says_why_it_is_not_exported_and_names_joblib(problem, step, why, tmp_path):
    X, y = problem
    pipeline = make_pipeline(step, LinearRanker()).fit(X, y)
    with pytest.raises(ParameterError, match=f"{why}.*joblib"):
        LinearFunction.of(pipeline)
    with pytest.raises(ModelFileError, match=f"{why}.*joblib"):
        save(pipeline, tmp_path / "m.json")
    assert not (tmp_path / "m.json").exists()


def test_scaling_by_query_says_why_it_is_not_exported(tmp_path):
    import sklearn

    X, y, qid = make_ranking(60, 3, 5, 3, seed=1)
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(QueryScaler(), LinearRanker()).fit(X, y, qid=qid)
    with pytest.raises(ParameterError, match="each query by its own rows"):
        LinearFunction.of(pipeline)


def test_what_is_no_ranker_is_told_of_joblib(problem, tmp_path):
    X, y = problem
    with pytest.raises(ModelFileError, match="joblib"):
        save(Ridge().fit(X, y), tmp_path / "m.json")
    with pytest.raises(ModelFileError, match=r"transformer|linear ranker.*joblib|joblib"):
        save(make_pipeline(StandardScaler(), StandardScaler()).fit(X), tmp_path / "m.json")


def test_a_pipeline_that_drops_qid_from_score_is_told_of_routing_and_labels():
    X, y, qid = make_ranking(60, 3, 5, 3, seed=1)
    pipeline = Pipeline([("scale", StandardScaler()), ("rank", LinearRanker())]).fit(X, y, rank__qid=qid)
    with pytest.raises(DataError, match=r"Pipeline.*drops it.*enable_metadata_routing=True.*labels\(y, qid\)"):
        pipeline.score(X, y, qid=qid)
    assert pipeline.score(X, labels(y, qid)) == pipeline[-1].score(pipeline[0].transform(X), y, qid)
