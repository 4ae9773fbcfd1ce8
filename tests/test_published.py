"""The papers' systems by their names: the steps and the stop of their transcriptions, scikit-learn's checks, files."""

import json
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import linrank
from linrank import ConvergenceWarning, LinearRanker, ModelFileError, ParameterError, SGDRanker
from linrank.published import KNOWN, SPD, DCMRankSVM, OSTRankSVM, PairRSVM, PSWXRankSVM, RankNCG, TreeRSVM
from linrank.stochastic.rules import RULES
from linrank.testing import enumerate_pairs, make_ranking
from linrank.testing.pswx import RankSVM, dcm, ost, p_swx, tron
from linrank.testing.rankncg import preference_graph, rankncg
from linrank.testing.treersvm import bmrm, empirical_risk, pair_frequencies, tree_frequencies

#: One ranking of real utilities, and queries of grades: few features, well conditioned.
CASES = [(80, 5, 1, None), (200, 5, 10, 4)]
#: One of each, with parameters that end soon.
ALL = [
    TreeRSVM(0.1),
    PairRSVM(0.1),
    OSTRankSVM(1e-3),
    DCMRankSVM(1e-3),
    PSWXRankSVM(1e-3),
    SPD(lambda_=0.1, iterations=2000, random_state=0),
    RankNCG(1.0, random_state=0),
]


def weights_after(ranker, k, *data):
    """Those of k iterations."""
    ranker.max_iter = k
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return ranker.fit(*data).coef_


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("lambda_", [0.1, 1e-3])
@pytest.mark.parametrize(("kind", "frequencies"), [(TreeRSVM, tree_frequencies), (PairRSVM, pair_frequencies)])
def test_tree_and_pair_rsvm_are_algorithm_1(case, lambda_, kind, frequencies):
    X, y, qid = make_ranking(*case)
    slow = bmrm(empirical_risk(X, y, qid, frequencies), np.zeros(X.shape[1]), lambda_)
    fast = kind(lambda_).fit(X, y, qid)
    assert abs(len(slow.iterations) - fast.n_iter_) <= 1
    assert fast.status_ == "converged"
    assert fast.gap_ <= 1e-3
    assert fast.alpha_ == 2 * lambda_
    assert slow.objective == pytest.approx(fast.objective_, abs=1e-9)
    bests = [it.best for it in slow.iterations]
    for k in (1, 3, 6, 8, 10):
        if k < len(bests):
            t = bests.index(bests[k - 1])  # the iteration that w_b is of
            expected = slow.iterations[t].w if bests[t] < 1.0 else np.zeros(X.shape[1])
            np.testing.assert_allclose(weights_after(kind(lambda_), k + 1, X, y, qid), expected, atol=1e-9)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("C", [1.0, 1e-3])
@pytest.mark.parametrize(("kind", "counting"), [(OSTRankSVM, ost), (DCMRankSVM, dcm), (PSWXRankSVM, p_swx)])
def test_the_three_rank_svms_are_tron(case, C, kind, counting):
    """To 1e-9: rounding is amplified by inner conjugate gradients where the problem is ill conditioned."""
    X, y, qid = make_ranking(*case)
    slow = tron(RankSVM(X, y, qid, C, counting))
    fast = kind(C).fit(X, y, qid)
    N = enumerate_pairs(y, qid).c.sum()
    assert fast.status_ == "converged"
    assert len(slow.iterations) == fast.n_iter_
    assert fast.alpha_ == pytest.approx(1 / (C * N))
    assert slow.value == pytest.approx(C * N * fast.objective_, rel=1e-9)
    for k, iterate in enumerate(slow.iterations[:10], 1):
        np.testing.assert_allclose(weights_after(kind(C), k, X, y, qid), iterate.w, atol=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_rankncg_takes_the_steps_of_its_transcription(case):
    X, y, qid = make_ranking(*case)
    N = enumerate_pairs(y, qid).c.sum()
    lambda_, w_0 = 1e-4 * N, np.random.default_rng(3).standard_normal(X.shape[1])
    slow = rankncg(X, preference_graph(y, qid), lambda_, eps=None, start=w_0)
    fast = RankNCG(lambda_, eps=1e-12, start=w_0).fit(X, y, qid)
    assert fast.status_ == "converged"
    assert len(slow.iterates) == fast.n_iter_
    assert fast.alpha_ == pytest.approx(1e-4)
    for k, w in enumerate(slow.iterates[:10], 1):
        np.testing.assert_allclose(weights_after(RankNCG(lambda_, eps=1e-12, start=w_0), k, X, y, qid), w, atol=1e-9)


@pytest.mark.parametrize("eps", [1e-6, 1e-4, 1e-2])
def test_rankncg_at_its_own_accuracy_ends_at_the_same_step_within_one(eps):
    X, y, _ = make_ranking(400, 6, 1, 4)
    lambda_, w_0 = 1e-4 * enumerate_pairs(y).c.sum(), np.random.default_rng(3).standard_normal(6)
    slow = rankncg(X, preference_graph(y), lambda_, eps=eps, start=w_0)
    fast = RankNCG(lambda_, eps=eps, start=w_0).fit(X, y)
    if eps < 1e-2:  # coarser sums are not those of the transcription, which errs as much in its own way
        assert abs(len(slow.iterates) - fast.n_iter_) <= 1
    exact = RankNCG(lambda_, eps=1e-12, start=w_0).fit(X, y)
    assert fast.score(X, y) == pytest.approx(exact.score(X, y), abs=2e-3)


def test_the_start_of_rankncg_is_drawn_given_or_zero():
    X, y, _ = make_ranking(100, 3, 1, 3)

    def first(**given):
        return weights_after(RankNCG(1.0, **given), 1, X, y)

    np.testing.assert_array_equal(first(random_state=1), first(random_state=1))
    assert not np.array_equal(first(random_state=1), first(random_state=2))
    np.testing.assert_array_equal(first(start=[1.0, 2.0, 3.0]), [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(first(start="zero"), np.zeros(3))
    drawn = np.array([first(random_state=seed) for seed in range(300)])
    np.testing.assert_allclose(drawn.mean(axis=0), 0.0, atol=0.25)
    np.testing.assert_allclose(drawn.std(axis=0), 1.0, atol=0.2)
    begun = RankNCG(1.0)
    begun.max_iter = 1
    with pytest.warns(ConvergenceWarning):
        begun.fit(X, y, start=np.ones(3))
    np.testing.assert_array_equal(begun.coef_, np.ones(3))
    with pytest.raises(ParameterError, match="start="):
        RankNCG(1.0, start="there").fit(X, y)


@pytest.mark.parametrize("rule", KNOWN)
@pytest.mark.parametrize("sampling", ["uniform", "balanced", "rejection"])
def test_spd_is_the_last_weights_of_stochastic_descent(rule, sampling):
    X, y, qid = make_ranking(200, 4, 5, 3)
    lambda_, C = (number if name in KNOWN[rule] else None for name, number in (("lambda_", 0.01), ("C", 0.5)))
    found = SPD(rule, lambda_=lambda_, C=C, iterations=500, sampling=sampling, random_state=3).fit(X, y, qid)
    given = {} if lambda_ is None else {"alpha": lambda_}
    given |= {} if C is None else {"C": C}
    steps = {"n_steps": 500, "average": False, "scale": False, "random_state": 3}
    same = SGDRanker(rule=rule, sampling=sampling, **steps, **given).fit(X, y, qid)
    np.testing.assert_array_equal(found.coef_, same.coef_)
    assert (found.n_iter_, found.status_, found.objective_) == (500, "finished", same.objective_)


def test_the_rules_of_spd_are_those_of_stochastic_descent():
    assert set(KNOWN) == set(RULES)


def test_spd_refuses_what_its_rule_does_not_have():
    X, y, _ = make_ranking(50, 3)
    for given, told in [
        (dict(rule="pegasos"), "needs lambda_"),
        (dict(rule="passive_aggressive"), "needs C"),
        (dict(rule="romma", lambda_=0.1), "has no lambda_"),
        (dict(rule="pegasos", lambda_=0.1, C=1.0), "has no C"),
        (dict(rule="perceptron", C=1.0), "has no C"),
        (dict(rule="nonsense"), "rule="),
        (dict(rule="sgd", lambda_=-1.0), "lambda_"),
    ]:
        with pytest.raises(ParameterError, match=told):
            SPD(**given).fit(X, y)


@pytest.mark.parametrize("ranker", [TreeRSVM(0.0), TreeRSVM(1, eps=-1), OSTRankSVM(0), RankNCG(1, tol=0)], ids=repr)
def test_parameters_must_be_positive(ranker):
    X, y, _ = make_ranking(50, 3)
    with pytest.raises(ParameterError, match="must be"):
        ranker.fit(X, y)


def test_weights_count_as_pairs_given_again():
    """C is the weight of a pair, so N is the sum of their weights: a row of weight 2 is one given twice."""
    X, y, _ = make_ranking(60, 3, 1, 3)
    v = 1.0 + (np.arange(60) % 3 == 0)
    twice = np.repeat(np.arange(60), v.astype(int))
    weighted, repeated = OSTRankSVM(0.01).fit(X, y, sample_weight=v), OSTRankSVM(0.01).fit(X[twice], y[twice])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)
    assert weighted.alpha_ == pytest.approx(repeated.alpha_)


@pytest.mark.parametrize("ranker", ALL, ids=lambda ranker: type(ranker).__name__)
def test_clones_and_files_predict_the_same(ranker, tmp_path):
    X, y, qid = make_ranking(100, 3, 5, 3)
    fitted = clone(ranker).fit(X, y, qid)
    linrank.save(fitted, tmp_path / "model.json")
    loaded = linrank.load(tmp_path / "model.json")
    assert type(loaded) is type(fitted)
    assert loaded.get_params() == fitted.get_params()
    np.testing.assert_array_equal(loaded.predict(X), fitted.predict(X))
    for name in ("alpha_", "objective_", "status_", "n_iter_", "n_pairs_"):
        assert getattr(loaded, name) == getattr(fitted, name)
    assert fitted.score(X, y, qid) > 0.6


def test_a_file_without_lambda_is_refused(tmp_path):
    X, y, _ = make_ranking(50, 3)
    linrank.save(TreeRSVM(0.1).fit(X, y), tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    del document["checksum"], document["parameters"]["lambda_"]
    (tmp_path / "cut.json").write_text(json.dumps(document))
    with pytest.raises(ModelFileError, match="no parameter lambda_"):
        linrank.load(tmp_path / "cut.json")


def test_probabilities_are_those_of_the_surrogate():
    X, y, _ = make_ranking(100, 3, 1, 3)
    ranker = RankNCG(1.0, random_state=0).fit(X, y)
    same = LinearRanker("logistic_erfc", alpha=ranker.alpha_, scale=False).fit(X, y)
    np.testing.assert_allclose(ranker.predict_pair(X[:5], X[5:10]), same.predict_pair(X[:5], X[5:10]), atol=0.02)


#: A random draw cannot be the same for a row of weight 2 and for two rows: scikit-learn's own SGD expects this, too.
RANDOM = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"), "random pairs"
)


@parametrize_with_checks(
    [ranker for ranker in ALL if type(ranker) in (TreeRSVM, RankNCG, SPD)],
    expected_failed_checks=lambda ranker: RANDOM if isinstance(ranker, SPD) else {},
)
def test_checks_of_scikit_learn(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)


def test_what_is_set_beside_the_parameters_is_cloned():
    ranker = TreeRSVM(0.1)
    ranker.max_iter, ranker.n_jobs = 3, 2
    assert (clone(ranker).max_iter, clone(ranker).n_jobs, clone(ranker).lambda_) == (3, 2, 0.1)
    assert not hasattr(clone(ranker), "coef_")


def test_spd_names_its_own_parameters():
    with pytest.raises(ParameterError, match="iterations=0"):
        SPD(lambda_=0.1, iterations=0).fit(*make_ranking(50, 3)[:2])
