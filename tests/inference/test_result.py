"""What an inference tells, and what it refuses."""

import json

import numpy as np
import pandas
import pytest
from scipy import stats

from linrank import AUCClassifier, DataError, LinearRanker, LinearRankerCV, SGDRanker, labels, load, save, scan
from linrank.data.dataset import Dataset
from linrank.inference import infer
from linrank.penalties import Ridge
from linrank.published import OSTRankSVM

HOSTILE = '<script>alert("1")</script>\x1b[31m & co'


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 4)) * [1.0, 10.0, 0.1, 1.0]
    y = X @ [1.0, -0.05, 0.0, 0.3] + rng.logistic(size=1500)
    return X, np.round(y).clip(-1, 2), np.repeat(np.arange(250), 6)


@pytest.fixture(scope="module")
def ranker(rows):
    return LinearRanker("logistic", alpha=0.01).fit(*rows)


@pytest.fixture(scope="module")
def found(ranker, rows):
    return ranker.inference(*rows)


def test_intervals_z_and_p(found):
    assert found.df == np.inf
    ends = found.interval(0.9)
    np.testing.assert_allclose(ends[:, 1] - ends[:, 0], 2 * stats.norm.ppf(0.95) * found.standard_errors)
    np.testing.assert_allclose(found.p, 2 * stats.norm.sf(np.abs(found.z)))
    assert found.p[0] < 1e-6 < 0.01 < found.p[2]
    assert np.all((0.5 < found.information) & (found.information < 1))
    with pytest.raises(ValueError, match="level=95 must lie between 0 and 1"):
        found.interval(95)
    with pytest.raises(AttributeError):
        found.coef = 0


def test_units_of_columns_do_not_matter(rows, found):
    X, y, qid = rows
    other = LinearRanker("logistic", alpha=0.01).fit(1000 * X, y, qid).inference(1000 * X, y, qid)
    np.testing.assert_allclose(1000 * other.standard_errors, found.standard_errors, rtol=1e-4)
    np.testing.assert_allclose(other.information, found.information, rtol=1e-4)


def test_few_units_take_students_t(rows):
    X, y, qid = (part[:300] for part in rows)
    few = LinearRanker(alpha=0.01).fit(X, y, qid).inference(X, y, qid)
    assert few.df == few.n_units - 1 == 49
    np.testing.assert_allclose(few.quantile(0.95), stats.t.ppf(0.975, 49))
    assert "Only 50 queries are independent" in str(few.summary())
    X, y, qid = (part[:120] for part in rows)
    ranker = LinearRanker(alpha=0.01).fit(X, y, qid)
    with pytest.warns(UserWarning, match="Only 20 queries are independent"):
        ranker.inference(X, y, qid)


def test_the_difference_of_two_scores(found, ranker, rows):
    X = rows[0]
    pair = found.compare(X[0], X[1])
    d = X[0] - X[1]
    assert pair.difference == pytest.approx(d @ found.coef)
    assert pair.standard_error == pytest.approx(np.sqrt(d @ found.covariance @ d))
    assert pair.low < pair.difference < pair.high
    assert 0 < pair.probability_low < pair.probability < pair.probability_high < 1
    assert pair.probability == pytest.approx(ranker.predict_pair(X[0], X[1])[0], abs=0.01)
    assert "P(a over b)" in str(pair)
    back = found.compare(X[1], X[0])
    assert (back.low, back.high) == pytest.approx((-pair.high, -pair.low))
    assert found.compare(X[0], X[0]).standard_error == 0


def test_walds_test(found, rows):
    one = found.test("feature 1")
    assert one.statistic == pytest.approx(found.z[0] ** 2)
    assert one.p == pytest.approx(found.p[0], rel=1e-6)
    both = found.test([0, 3])
    assert (both.df, both.features) == (2, ("feature 1", "feature 4"))
    assert both.p < 1e-6 < found.test([2]).p
    for wrong, text in ((9, "no feature 9"), ("x", "no feature 'x'"), ([0, 0], "twice"), ([], "names no feature")):
        with pytest.raises(ValueError, match=text):
            found.test(wrong)


def test_the_summary_as_text_html_and_frame(found):
    text = str(found.summary())
    for word in ("250 queries", "logistic", "[95 %", "feature 4", "std err", "penalised optimum", "converged"):
        assert word in text
    assert max(map(len, text.split("\n"))) <= 80
    frame = found.to_frame()
    np.testing.assert_allclose(frame["standard_error"], found.standard_errors)
    np.testing.assert_allclose(frame["weight_times_deviation"], found.coef * found.deviations)
    assert list(frame.index) == list(found.names)
    assert json.loads(json.dumps(found.to_dict()))["weights"][0]["p"] == found.p[0]
    assert str(found) == text
    assert found._repr_html_().count("<tr>") == 11 + 1 + 4
    assert all(len(line.split()) == 10 for line in text.split("\n") if line.startswith("feature"))  # none run together


def test_hostile_names_stay_text(rows):
    X, y, qid = rows
    X = pandas.DataFrame(X, columns=[HOSTILE, "b", "c", "d"])
    X["b"] = X["c"] = 1.0  # so that names stand in the notes as well
    found = LinearRanker(alpha=0.01).fit(X, y, qid).inference(X, y, qid)
    page = found._repr_html_()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "\x1b" not in page + str(found)


def test_what_the_data_say_nothing_of_is_nan_with_a_reason(rows):
    X, y, qid = rows
    X = np.column_stack([X, np.arange(250.0)[qid]])  # constant within queries
    found = LinearRanker(alpha=0.01).fit(X, y, qid).inference(X, y, qid)
    assert np.isnan(found.standard_errors[4])
    assert not np.isnan(found.standard_errors[:4]).any()
    assert "constant within every query" in found.reasons[4]
    assert "No standard error of feature 5" in str(found)
    with pytest.raises(ValueError, match="feature 5 has no standard error"):
        found.test([0, 4])
    assert np.isnan(found.compare(X[0], X[10]).standard_error)
    assert np.isfinite(found.compare(X[0], X[1]).standard_error)


def test_weights_that_are_not_free_are_nan(rows, monkeypatch):
    monkeypatch.setattr(Ridge, "free", lambda self, w: np.arange(w.size) != 1)
    found = LinearRanker(alpha=0.01).fit(*rows).inference(*rows)
    assert np.isnan(found.standard_errors).tolist() == [False, True, False, False]
    assert "at a bound" in found.reasons[1]


def test_what_to_distrust_is_said(rows):
    X, y, qid = rows
    close = np.column_stack([X, X[:, 0] + 1e-3 * np.random.default_rng(1).standard_normal(len(y))])
    said = LinearRanker(alpha=1e-8).fit(close, y, qid).inference(close, y, qid).notes
    assert any("Nearly collinear: feature 1, feature 5" in note for note in said)
    weight = {q: 1.0 for q in range(250)} | {3: 100.0}
    heavy = LinearRanker(alpha=0.01).fit(X, y, qid, query_weight=weight)
    assert any("One query has" in note for note in heavy.inference(X, y, qid, query_weight=weight).notes)
    strong = LinearRanker(alpha=100.0).fit(X, y, qid).inference(X, y, qid)
    assert any("penalty's" in note for note in strong.notes)


def test_other_data_is_refused(ranker, rows):
    X, y, qid = rows
    for other in ((X[:-6], y[:-6], qid[:-6]), (X, y, qid // 2)):
        with pytest.raises(ValueError, match="give the data that it was fitted to"):
            ranker.inference(*other)
    swapped = X.copy()
    swapped[:, [0, 3]] = swapped[:, [3, 0]]
    with pytest.raises(ValueError, match="This is not the data that the ranker was fitted to"):
        ranker.inference(swapped, y, qid)
    with pytest.raises(ValueError, match="This is not the data"):
        ranker.inference(X, y, qid, sample_weight=np.linspace(1, 2, len(y)))
    with pytest.raises(ValueError, match="features"):
        ranker.inference(X[:, :3], y, qid)


def test_the_hinge_is_told_of_the_bootstrap(rows):
    X, y, qid = (part[:300] for part in rows)
    hinge = LinearRanker("hinge", alpha=0.01).fit(X, y, qid)
    with pytest.raises(ValueError, match="use method='bootstrap'"):
        hinge.inference(X, y, qid)
    found = hinge.inference(X, y, qid, method="bootstrap", n_resamples=20)
    assert np.all(found.standard_errors > 0)
    assert np.all(np.isnan(found.information))


def test_rankers_that_can_be_asked(rows, tmp_path):
    X, y, qid = rows
    cv = LinearRankerCV(alphas=[0.01, 0.1], cv=2).fit(X, y, qid)
    assert cv.inference(X, y, qid).n_units == 250
    save(cv, tmp_path / "model.json")
    again = load(tmp_path / "model.json").inference(X, labels(y, qid))
    np.testing.assert_allclose(again.covariance, cv.inference(X, y, qid).covariance, rtol=1e-9)
    classes = np.where(y > 0, "yes", "no")
    found = infer(AUCClassifier(cv=None).fit(X, classes), X, classes)
    assert found.units == "rows"
    with pytest.raises(ValueError, match="has no certificate of its weights"):
        SGDRanker(n_steps=100).fit(X, y, qid).inference(X, y, qid)


def test_data_is_given_as_to_fit(rows):
    X, y, qid = (part[:360] for part in rows)
    frame = pandas.DataFrame(X, columns=list("abcd")).assign(query=qid, name=[f"row {k}" for k in range(360)])
    pairs = [[f"row {k}", f"row {k + 1}"] for k in range(0, 360, 2)]
    ranker = LinearRanker("logistic", alpha=0.01).fit(frame, y, "query", pairs=pairs, ids="name")
    found = ranker.inference(frame, y, "query", pairs=pairs, ids="name")
    assert found.names == ("a", "b", "c", "d")
    by_row = np.arange(360).reshape(-1, 2)
    plain = LinearRanker("logistic", alpha=0.01).fit(X, y, group=[6] * 60, pairs=by_row)
    same = plain.inference(X, y, group=[6] * 60, pairs=by_row)
    np.testing.assert_allclose(same.covariance, found.covariance, rtol=1e-9)


def test_one_unit_and_clusters_that_make_no_sense(rows, ranker):
    X, y, qid = rows
    with pytest.raises(ValueError, match="Only one of the clusters has pairs"):
        ranker.inference(X, y, qid, cluster=np.zeros(len(y), dtype=int))
    with pytest.raises(ValueError, match="cluster has shape"):
        ranker.inference(X, y, qid, cluster=[1, 2])
    with pytest.raises(ValueError, match="method='jackknife' is not known"):
        ranker.inference(X, y, qid, method="jackknife")


@pytest.mark.filterwarnings("ignore:Only")
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "logistic_erfc"])
def test_units_that_say_the_same_have_no_standard_errors(rows, loss):
    """Their psi are 0 but for rounding, which gave z of 5e9 for one pair."""
    X = rows[0][:2]
    ranker = LinearRanker(loss).fit(X, [0, 1])
    with pytest.raises(DataError, match="All 2 independent units say the same"):
        ranker.inference(X, [0, 1])
    ranker = LinearRanker(loss).fit(np.r_[X, X, X], [0, 1] * 3, np.repeat(range(3), 2))
    with pytest.raises(DataError, match="All 3 independent units say the same"):
        ranker.inference(np.r_[X, X, X], [0, 1] * 3, np.repeat(range(3), 2))
    wide = np.random.default_rng(0).standard_normal((2, 1001))
    with pytest.raises(DataError, match="say the same"):
        LinearRanker(loss).fit(wide, [0, 1]).inference(wide, [0, 1], features=[0, 1])


def test_a_comparison_without_an_interval_still_tells_the_probability(rows):
    ranker = LinearRanker("logistic", alpha=0.01, bounds=(0, 0.1)).fit(*rows)
    X = rows[0]
    found = ranker.inference(*rows).compare(X[0], X[1])
    assert np.isnan(found.probability_low)
    assert found.probability == pytest.approx(ranker.predict_pair(X[:1], X[1:2])[0], abs=1e-3)


@pytest.mark.parametrize("kind", [LinearRanker, AUCClassifier])
def test_names_are_compared_without_a_warning(rows, kind, tmp_path):
    X, y, qid = rows
    y, more = (y, (qid,)) if kind is LinearRanker else (y[:300] > 0, ())
    X = X[: len(y)]
    for frame in (pandas.DataFrame(X, columns=list("abcd")), pandas.DataFrame({"emb": list(X)})):
        found = infer(kind("logistic").fit(frame, y, *more), frame, y, *more)
        assert found.names[0] in ("a", "emb_0")
    ranker = kind("logistic").fit(pandas.DataFrame(X, columns=list("abcd")), y, *more)
    with pytest.raises(ValueError, match="feature names should match"):
        infer(ranker, pandas.DataFrame(X, columns=list("bacd")), y, *more)


def test_a_scan_has_names_too(rows, tmp_path):
    X, y, qid = rows
    pandas.DataFrame({"label": y, "qid": qid, "a": X[:, 0], "b": X[:, 3]}).to_csv(tmp_path / "t.csv", index=False)
    data = scan(tmp_path / "t.csv", label="label", query="qid", cache=tmp_path)
    assert LinearRanker().fit(data).inference(data).names == ("a", "b")


def test_threads_do_not_change_a_bit(rows, found):
    X, y, qid = rows
    again = LinearRanker("logistic", alpha=0.01, n_jobs=2).fit(X, y, qid).inference(X, y, qid)
    assert np.array_equal(again.covariance, found.covariance)


@pytest.mark.parametrize(
    ("given", "held"),
    [
        ({"l1_ratio": 0.9, "alpha": 0.1}, [False, False, True, False]),
        ({"bounds": (-0.5, 0.5)}, [True, False, False, False]),
        ({"monotonic_cst": [0, 1, 0, 0]}, [False, True, False, False]),
    ],
)
def test_weights_at_zero_or_at_a_bound_have_no_standard_error(rows, given, held):
    """Those that are free have that of a fit whose other columns are left out, where these are at 0."""
    X, y, qid = rows
    X = X / [1.0, 10.0, 0.1, 1.0]
    options = {"alpha": 1e-3, "scale": False, "tol": 1e-9} | given
    ranker = LinearRanker("logistic", **options).fit(X, y, qid)
    found = ranker.inference(X, y, qid)
    assert np.isnan(found.standard_errors).tolist() == held
    free = ~np.array(held)
    if np.all(ranker.coef_[held] == 0):
        alone = LinearRanker("logistic", **{**options, "monotonic_cst": None}).fit(X[:, free], y, qid)
        expected = alone.inference(X[:, free], y, qid).standard_errors
        np.testing.assert_allclose(found.standard_errors[free], expected, rtol=1e-4)


def test_the_papers_systems_have_standard_errors_too(rows):
    X, y, qid = rows
    found = OSTRankSVM(C=1e-3).fit(X, y, qid).inference(X, y, qid)
    assert np.all(found.standard_errors > 0)


def test_a_dataset_brings_its_labels_and_queries(rows, ranker):
    found = ranker.inference(Dataset(*rows))
    np.testing.assert_array_equal(found.standard_errors, ranker.inference(*rows).standard_errors)
