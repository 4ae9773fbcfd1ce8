"""LinearRanker as a user meets it."""

import os
import signal
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from linrank import ConvergenceWarning, DataError, LinearRanker, LinrankError, ParameterError
from linrank.metrics import pairwise_accuracy
from linrank.solvers import Bundle, Newton
from linrank.testing import make_ranking

pytestmark = pytest.mark.smoke


@parametrize_with_checks(
    [
        LinearRanker(),
        LinearRanker(tol=1e-8),
        LinearRanker("hinge"),
        LinearRanker("hinge", tol=1e-8, solver="bundle"),
        LinearRanker("hinge", solver="newton"),
    ]
)
def test_scikit_learn(estimator, check):
    check(estimator)


LOSSES = ["hinge", "squared_hinge"]


@pytest.fixture(scope="module")
def problem():
    return make_ranking(600, 5, 12, 5, seed=3)


def fit(problem, **parameters):
    X, y, qid = problem
    return LinearRanker(**{"loss": "hinge", **parameters}).fit(X, y, qid)


def test_learns_and_certifies(problem):
    X, y, qid = problem
    ranker = fit(problem)
    assert ranker.status_ == "converged"
    assert 0 <= ranker.gap_ <= 1e-3
    assert ranker.score(X, y, qid) > 0.85
    assert ranker.n_pairs_ == sum(int((y[qid == q][:, None] > y[qid == q]).sum()) for q in np.unique(qid))
    assert ranker.history_[-1][1] == ranker.objective_
    assert ranker.n_iter_ == len(ranker.history_)


@pytest.mark.parametrize("kind", ["csr", "F", "float32", "list", "readonly", "permuted", "qid text"])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_answer_does_not_depend_on_how_data_is_given(problem, kind, loss):
    X, y, qid = problem
    if kind == "float32":
        X = X.astype(np.float32)
    exact = LinearRanker(loss, tol=1e-6).fit(X.astype(np.float64), y, qid)
    given = {
        "csr": (sp.csr_array(X), y, qid),
        "F": (np.asfortranarray(X), y, qid),
        "float32": (X, y, qid),
        "list": (X.tolist(), y.tolist(), qid.tolist()),
        "qid text": (X, y, [f"query {q}" for q in qid]),
    }
    if kind == "permuted":
        order = np.random.default_rng(0).permutation(y.size)
        given[kind] = (X[order], y[order], qid[order])
    if kind == "readonly":
        X = X.copy()
        X.flags.writeable = False
        given[kind] = (X, y, qid)
    ranker = LinearRanker(loss, tol=1e-6).fit(*given[kind])
    assert ranker.objective_ == pytest.approx(exact.objective_, abs=2e-6)
    np.testing.assert_allclose(ranker.coef_, exact.coef_, rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_bits_do_not_depend_on_threads(sparse, loss):
    X, y, qid = make_ranking(60_000, 30, 700, 4, noise=2.0)
    X = sp.csr_array(np.where(np.abs(X) > 1, X, 0)) if sparse else X
    weights = [LinearRanker(loss, n_jobs=n).fit(X, y, qid).coef_.tobytes() for n in (1, 2, 4, None)]
    assert len(set(weights)) == 1


def test_scaling_is_folded_back(problem):
    X, y, qid = problem
    factors = 10.0 ** np.arange(-4, 6, 2)
    plain, stretched = fit(problem, tol=1e-7), LinearRanker("hinge", tol=1e-7).fit(X * factors, y, qid)
    assert stretched.objective_ == pytest.approx(plain.objective_, abs=2e-7)
    np.testing.assert_allclose(stretched.coef_ * factors, plain.coef_, rtol=1e-2, atol=1e-4)
    by_hand = LinearRanker("hinge", tol=1e-7, scale=False).fit(X / X.std(axis=0), y, qid)
    assert by_hand.objective_ == pytest.approx(plain.objective_, abs=2e-7)
    np.testing.assert_allclose(plain.scale_, X.std(axis=0))


def test_weights_mean_repetition(problem):
    X, y, qid = problem
    times = np.random.default_rng(0).integers(0, 4, y.size)
    weighted = LinearRanker(tol=1e-7).fit(X, y, qid, sample_weight=times)
    repeated = LinearRanker(tol=1e-7).fit(*(np.repeat(a, times, axis=0) for a in problem))
    assert weighted.objective_ == pytest.approx(repeated.objective_, abs=2e-7)
    assert weighted.score(X, y, qid, sample_weight=times) == pytest.approx(
        pairwise_accuracy(np.repeat(y, times), np.repeat(weighted.predict(X), times), np.repeat(qid, times))
    )


def test_query_weight_by_row_and_by_name(problem):
    X, y, qid = problem
    named = {int(q): 1.0 + q for q in np.unique(qid)}
    one = LinearRanker().fit(X, y, qid, query_weight=named)
    other = LinearRanker().fit(X, y, qid, query_weight=1.0 + qid)
    np.testing.assert_array_equal(one.coef_, other.coef_)


def test_explicit_pairs_alone_and_the_graded_ones_agree(problem):
    X, y, qid = problem
    win, lose = np.nonzero((y[:, None] > y) & (qid[:, None] == qid))
    graded = fit(problem, tol=1e-6)
    explicit = LinearRanker("hinge", tol=1e-6).fit(X, None, qid, pairs=np.column_stack([win, lose]))
    assert explicit.n_pairs_ == graded.n_pairs_
    assert explicit.objective_ == pytest.approx(graded.objective_, abs=2e-6)


def test_alpha_of_other_systems(problem):
    """TreeRSVM's lambda w.w + mean hinge, and SVMrank's 1/2 w.w + C/#queries * sum hinge."""
    X, y, qid = problem
    win, lose = np.nonzero((y[:, None] > y) & (qid[:, None] == qid))
    N, n_queries, C, lam = win.size, np.unique(qid).size, 5.0, 0.01

    def hinge(w):
        return np.maximum(0, 1 - (X[win] - X[lose]) @ w)

    tree = fit(problem, alpha=2 * lam, scale=False, tol=1e-7)
    w = tree.coef_
    assert tree.objective_ == pytest.approx(lam * w @ w + hinge(w).mean(), rel=1e-10)
    rank = fit(problem, alpha=n_queries / (C * N), scale=False, tol=1e-7)
    w = rank.coef_
    theirs = 0.5 * w @ w + C / n_queries * hinge(w).sum()
    assert rank.objective_ * C * N / n_queries == pytest.approx(theirs, rel=1e-10)


def test_max_iter_warns_in_words(problem):
    with pytest.warns(ConvergenceWarning, match="max_iter was reached: raise max_iter"):
        ranker = fit(problem, max_iter=2, tol=1e-9)
    assert ranker.status_ == "max_iter"
    assert ranker.gap_ > 1e-9


def test_warm_start_keeps_planes_on_the_same_data_only(problem):
    X, y, qid = problem
    ranker = fit(problem, warm_start=True, tol=1e-5)
    cold = ranker.n_iter_
    ranker.fit(X, y, qid)
    assert ranker.n_iter_ <= 2 < cold
    ranker.set_params(alpha=5e-4).fit(X, y, qid)
    fresh = fit(problem, alpha=5e-4, tol=1e-5)
    assert ranker.n_iter_ < fresh.n_iter_
    assert ranker.objective_ == pytest.approx(fresh.objective_, abs=1e-5)
    ranker.fit(X, -y, qid)  # other data: old planes would lie
    other = LinearRanker("hinge", alpha=5e-4, tol=1e-5).fit(X, -y, qid)
    assert ranker.objective_ == pytest.approx(other.objective_, abs=1e-5)
    with pytest.raises(DataError, match="warm_start"):
        ranker.fit(X[:, :3], y, qid)


def test_rank_positions(problem):
    X, _, qid = problem
    ranker = fit(problem)
    positions = ranker.rank(X, qid)
    scores = ranker.predict(X)
    for q in np.unique(qid):
        here = np.flatnonzero(qid == q)
        np.testing.assert_array_equal(here[np.argsort(-scores[here], kind="stable")], here[np.argsort(positions[here])])
    np.testing.assert_array_equal(ranker.rank(np.zeros((4, 5))), [1, 2, 3, 4])


def test_score_without_qid_is_refused_where_it_would_lie(problem):
    X, y, _ = problem
    with pytest.raises(DataError, match="fitted with qid"):
        fit(problem).score(X, y)


BAD = {"loss": "nonsense", "alpha": 0.0, "tol": -1.0, "max_iter": 0, "solver": "simplex", "n_jobs": 0}
BAD |= {"scale": "no", "verbose": "x"}


@pytest.mark.parametrize("name", BAD)
def test_bad_parameters_are_named(problem, name):
    with pytest.raises(ParameterError, match=name):
        fit(problem, **{name: BAD[name]})


def test_not_fitted():
    with pytest.raises(NotFittedError):
        LinearRanker().predict([[1.0]])


def test_a_solver_can_be_given(problem):
    plain = fit(problem, solver=Bundle(tol=1e-4, max_iter=5000, line_search=False))
    assert plain.gap_ <= 1e-4
    assert plain.objective_ == pytest.approx(fit(problem, tol=1e-4).objective_, abs=1e-4)


def test_verbose_goes_to_standard_error(problem, capsys):
    fit(problem, verbose=1)
    out, err = capsys.readouterr()
    assert out == ""
    assert "600 rows x 5 features, 12 queries" in err
    assert "gap" in err


def test_grid_search_with_routing_gives_the_right_number(problem):
    X, y, qid = problem
    folds = GroupKFold(3)
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(LinearRanker(), {"alpha": [1e-2, 1e-4]}, cv=folds).fit(X, y, qid=qid, groups=qid)
        pipeline = make_pipeline(StandardScaler(), LinearRanker())
        pipeline.fit(X, y, qid=qid)
        assert pipeline.score(X, y, qid=qid) > 0.85
    by_hand = [
        LinearRanker(alpha=1e-2).fit(X[a], y[a], qid[a]).score(X[b], y[b], qid[b]) for a, b in folds.split(X, y, qid)
    ]
    assert search.cv_results_["mean_test_score"][0] == pytest.approx(np.mean(by_hand))


def test_ctrl_c_stops_at_once_and_leaves_nothing_half_done():
    X, y, _ = make_ranking(400_000, 20, 1, None, noise=5.0)
    ranker = LinearRanker("hinge", alpha=1e-7, tol=1e-12, max_iter=10**6, solver="bundle")
    few = clone(ranker).set_params(max_iter=2)
    with pytest.warns(ConvergenceWarning):
        few.fit(X[:5000], y[:5000])  # compiles what the long fit needs: the clock is not to wait for that
    sent = []

    def interrupt():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(1.0, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(X, y)
    assert time.perf_counter() - sent[0] < 1.0
    assert not hasattr(ranker, "coef_")
    with pytest.warns(ConvergenceWarning):
        assert few.fit(X[:1000], y[:1000]).n_iter_ == 2


@pytest.mark.parametrize("factor", [1e160, 1e-200])
def test_scaling_survives_the_ends_of_the_range(problem, factor):
    X, y, qid = problem
    plain, extreme = (LinearRanker(tol=1e-6).fit(Z, y, qid) for Z in (X, X * factor))
    assert extreme.objective_ == pytest.approx(plain.objective_, rel=1e-6)
    np.testing.assert_allclose(extreme.coef_ * factor, plain.coef_, rtol=1e-3)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("solver", ["auto", "bundle"])
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "logistic"])
@pytest.mark.parametrize("factor", [1e160, 1e200])
def test_overflow_without_scaling_is_told_with_its_cure(problem, loss, solver, kind, factor):
    X, y, qid = problem
    errors = np.geterr()
    with pytest.warns(ConvergenceWarning, match="scale=True") as caught:
        ranker = LinearRanker(loss, 1e-3, scale=False, solver=solver, n_jobs=2).fit(kind(X * factor), y, qid)
    assert len(caught) == 1
    assert np.geterr() == errors
    assert ranker.status_ == "stalled"
    assert np.isfinite(ranker.gap_)
    assert np.all(np.isfinite(ranker.coef_))


def test_variances_that_overflow_give_no_alpha(problem):
    X, y, qid = problem
    with pytest.raises(DataError, match="scale=True"):
        LinearRanker(scale=False).fit(X * 1e160, y, qid)


def test_a_failed_fit_leaves_the_fitted_ranker_alone(problem):
    X, y, qid = problem
    ranker = fit(problem, warm_start=True)
    before = ranker.predict(X)
    with pytest.raises(DataError):
        ranker.fit(np.c_[X, X], y, qid)
    with pytest.raises(ParameterError):
        ranker.set_params(n_jobs=0).fit(np.c_[X, X], y, qid)
    np.testing.assert_array_equal(ranker.predict(X), before)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("loss", LOSSES)
def test_tiny_alpha_on_few_rows_converges(seed, loss):
    X, y, _ = make_ranking(30, 25, 1, None, seed=seed)
    for alpha in (1e-5, 1e-9):
        assert LinearRanker(loss, alpha).fit(X, y).status_ == "converged"


def test_directions_that_are_good_for_a_very_short_step_only():
    """With few bent pairs and a tiny alpha, a Newton step of length 1 leads far beyond where its model holds."""
    X, y, _ = make_ranking(30, 25, 1, None, seed=5, noise=3.0)
    ranker = LinearRanker("hinge", 1e-9, solver="newton").fit(X, y)
    bundle = LinearRanker("hinge", 1e-9, solver="bundle", tol=1e-6).fit(X, y)
    assert ranker.status_ == "converged"
    assert ranker.objective_ == pytest.approx(bundle.objective_, abs=1e-3)


def test_blas_threads_are_given_back_when_fits_overlap():
    from threadpoolctl import threadpool_info

    from linrank import RankingData
    from linrank.engines import LocalEngine

    def threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    before, data = threads(), RankingData([[0.0], [1.0]], [0, 1])
    one, two = LocalEngine(data), LocalEngine(data)
    one.__enter__()
    two.__enter__()
    one.__exit__(None, None, None)
    assert set(threads()) == {1}
    two.__exit__(None, None, None)
    assert threads() == before


@pytest.mark.parametrize("make", [lambda: Newton(hessian="none"), lambda: Newton(tol=0), lambda: Bundle(max_iter=0)])
def test_solvers_check_their_own_parameters(make):
    with pytest.raises(ParameterError):
        make()


def test_probabilities_of_pairs():
    X, y, qid = make_ranking(300, 4, 6, 4)
    ranker = LinearRanker("logistic", 1e-2).fit(X, y, qid)
    z = ranker.predict(X[:20]) - ranker.predict(X[20:40])
    np.testing.assert_allclose(ranker.predict_pair(X[:20], X[20:40]), 1 / (1 + np.exp(-z)))
    np.testing.assert_allclose(ranker.predict_pair(X[:20], X[20:40]) + ranker.predict_pair(X[20:40], X[:20]), 1.0)
    assert ranker.predict_pair(X[0], X[20]) == pytest.approx(1 / (1 + np.exp(-z[0])))  # single rows
    erfc = LinearRanker("logistic_erfc", 1e-2).fit(X, y, qid)
    assert np.abs(erfc.predict_pair(X[:20], X[20:40]) - ranker.predict_pair(X[:20], X[20:40])).max() < 0.05
    with pytest.raises(DataError, match="as many rows"):
        ranker.predict_pair(X[:2], X[:3])
    with pytest.raises(ParameterError, match="loss='logistic'"):
        LinearRanker().fit(X, y, qid).predict_pair(X, X)


def test_verbose_shows_the_bound_of_the_statistic(capsys):
    X, y, qid = make_ranking(300, 4, 6, 4)
    ranker = LinearRanker("logistic", 1e-4, verbose=2).fit(X, y, qid)
    shown = [float(part.split()[0]) for part in capsys.readouterr().err.split("WMW > ")[1:]]
    assert shown
    assert shown[-1] <= ranker.score(X, y, qid)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic", "logistic_erfc"])
def test_graphs_for_every_loss(loss):
    """A graph of all edges is the full order; one of consecutive levels is the chain; directions may contradict."""
    X, y, qid = make_ranking(200, 3, 4, 3)
    y = y - y.min()

    def fit(preferences):
        return LinearRanker(loss, 1e-2, preferences=preferences, tol=1e-8).fit(X, y, qid)

    full, chain = fit("full"), fit("chain")
    every = fit([(a, b) for a in range(3) for b in range(a + 1, 3)])
    assert every.objective_ == pytest.approx(full.objective_, rel=1e-7)
    assert every.n_pairs_ == full.n_pairs_
    assert every.score(X, y, qid) == pytest.approx(full.score(X, y, qid))
    steps = fit(np.array([[0.0, 1.0, 2.0], [1.0, 2.0, 2.0]]))
    assert steps.objective_ == pytest.approx(chain.objective_, rel=1e-7)
    both = fit([(0, 1), (1, 0, 1.0), (7, 9)])
    np.testing.assert_allclose(both.coef_, 0.0, atol=1e-4)


@pytest.mark.parametrize(
    ("preferences", "message"),
    [
        ([(0, 0)], "to itself"),
        ([(0, 1, -1)], "negative weight"),
        ([(0, np.nan)], "NaN"),
        ([1, 2], "list of edges"),
        ([], "list of edges"),
        ("graph", "choose one of"),
        ([(5, 6)], "No edge of preferences"),
    ],
)
def test_graphs_that_make_no_sense(preferences, message):
    X, y, qid = make_ranking(50, 3, 2, 3)
    with pytest.raises(LinrankError, match=message):
        LinearRanker(preferences=preferences).fit(X, y, qid)


@pytest.mark.parametrize("size", [1e-30, 1e-10, 1e10])
@pytest.mark.parametrize(("loss", "solver"), [("hinge", "bundle"), ("logistic", "newton"), ("logistic", "cg")])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_features_of_any_size_end_with_an_honest_gap(loss, solver, size):
    X, y, qid = make_ranking(80, 3, 4, 3)
    ranker = LinearRanker(loss, solver=solver, scale=False, max_iter=50).fit(size * X, y, qid)
    assert np.isfinite(ranker.gap_)
    assert np.all(np.isfinite(ranker.coef_))
    assert ranker.gap_ <= 1.5 * ranker.objective_


def test_edges_may_come_in_many_shapes():
    X, y, qid = make_ranking(60, 3, 4, 3)
    y = y - y.min()
    expected = LinearRanker(preferences=[(0, 1), (1, 2, 2.0)]).fit(X, y, qid)
    for edges in (((0, 1), (1, 2, 2)), np.array([[0, 1, 1], [1, 2, 2]]), [[0, 1, 1], [1, 2, 1], [1, 2, 1.0]]):
        assert LinearRanker(preferences=edges).fit(X, y, qid).objective_ == expected.objective_
    for wrong in ({(0, 1): 2.0}, iter([(0, 1)]), [(0, 1, 2, 3)], 7):
        with pytest.raises(ParameterError, match="list of edges"):
            LinearRanker(preferences=wrong).fit(X, y, qid)


# --- start


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("solver", ["newton", "bundle", "cg", "tron"])
def test_a_start_at_the_solution_ends_there(solver, scale):
    X, y, qid = make_ranking(400, 5, 20, 4, seed=3)
    exact = LinearRanker(alpha=1e-2, scale=scale, tol=1e-8).fit(X, y, qid)
    again = LinearRanker(alpha=1e-2, scale=scale, tol=1e-6, solver=solver).fit(X, y, qid, start=exact)
    assert again.n_iter_ == 1
    np.testing.assert_allclose(again.coef_, exact.coef_)
    other = LinearRanker(alpha=1e-2, scale=scale, tol=1e-6, solver=solver).fit(X, y, qid, start=exact.coef_.tolist())
    np.testing.assert_array_equal(other.coef_, again.coef_)


def test_a_start_has_precedence_over_a_warm_start():
    X, y, qid = make_ranking(400, 5, 20, 4, seed=3)
    ranker = LinearRanker(alpha=1e-2, warm_start=True, solver="cg").fit(X, y, qid)
    assert ranker.fit(X, y, qid).n_iter_ == 1
    assert ranker.fit(X, y, qid, start=np.zeros(5)).n_iter_ > 1


@pytest.mark.parametrize(
    "start",
    ["nonsense", [np.nan] * 5, [np.inf] * 5, np.zeros(4), np.zeros((5, 1)), object(), np.zeros(5, dtype=complex)],
)
def test_a_start_that_is_none_is_refused(start):
    with pytest.raises((ParameterError, DataError), match="start"):
        LinearRanker().fit(*make_ranking(400, 5, 20, 4, seed=3), start=start)
