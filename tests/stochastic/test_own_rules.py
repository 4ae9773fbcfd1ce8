"""Rules and samplers of one's own: values that SGDRanker takes, and what is refused in a sentence."""

import pickle
from dataclasses import dataclass

import numba
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import linrank
from linrank import ParameterError, SGDRanker
from linrank.stochastic import Draws, Rule, Switched, named, units
from linrank.stochastic.samplers import Uniform
from linrank.testing import make_ranking


@numba.njit
def own_pegasos(i, z, xx, ww, alpha, p):
    return 1 - 1 / i, 1 / (alpha * i) if z < 1 else 0.0


@numba.njit
def own_ball(ww, alpha, p):
    return 1 / np.sqrt(alpha * ww) if alpha * ww > 1 else 1.0


@numba.njit
def normed(i, z, xx, ww, alpha, p):
    """A perceptron with unit steps: depends on |x|^2 and on two parameters."""
    return (1, p[0] / np.sqrt(xx)) if z < p[1] and xx > 0 else (1, 0)


@pytest.fixture(scope="module")
def problem():
    return make_ranking(400, 5, 8, 4, seed=3)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_a_rule_of_ones_own_makes_the_steps_of_a_built_in_one(problem, kind):
    X, y, qid = problem
    rule = Rule("own", own_pegasos, own_ball)
    own, pegasos = (SGDRanker(alpha=1e-2, rule=r, random_state=0).fit(kind(X), y, qid) for r in (rule, "pegasos"))
    assert own.coef_.tobytes() == pegasos.coef_.tobytes()
    assert own.objective_ == pegasos.objective_


def test_a_rule_may_ask_for_lengths(problem):
    X, y, qid = problem
    rule = Rule("normed", normed, parameters=(0.1, 1.0), length_below=1.0)
    dense, sparse = (SGDRanker(alpha=1e-2, rule=rule, random_state=0).fit(kind(X), y, qid)
                     for kind in (np.asarray, sp.csr_matrix))  # fmt: skip
    np.testing.assert_allclose(dense.coef_, sparse.coef_, rtol=1e-9)
    assert dense.score(X, y, qid) > 0.9
    blind = SGDRanker(alpha=1e-2, rule=Rule("blind", normed, parameters=(0.1, 1.0)), random_state=0).fit(X, y, qid)
    assert not blind.coef_.any()  # |x|^2 is 0 where a rule has not said that it needs it


def test_rules_may_follow_one_another(problem):
    first, then = named("passive_aggressive", C=0.1), named("pegasos")
    by_name = SGDRanker(alpha=1e-2, rule="passive_aggressive_then_pegasos", C=0.1, switch=500, random_state=0)
    by_value = SGDRanker(alpha=1e-2, rule=Switched(first, then, 500), random_state=0)
    assert by_value.fit(*problem).coef_.tobytes() == by_name.fit(*problem).coef_.tobytes()


def test_a_rule_in_streams_clones_pickles_and_files(problem, tmp_path):
    ranker = SGDRanker(alpha=1e-2, rule=Rule("own", own_pegasos, own_ball), random_state=0)
    chunks = [tuple(part[k : k + 100] for part in problem) for k in range(0, 400, 100)]
    path = tmp_path / "state"

    def torn():
        yield from chunks[:2]
        raise KeyError

    with pytest.raises(KeyError):
        clone(ranker).fit_stream(torn(), checkpoint=path)
    resumed, whole = clone(ranker).fit_stream(chunks, checkpoint=path), clone(ranker).fit_stream(chunks)
    assert resumed.coef_.tobytes() == whole.coef_.tobytes()
    again = pickle.loads(pickle.dumps(whole))
    assert again.partial_fit(*chunks[0]).coef_.tobytes() == whole.partial_fit(*chunks[0]).coef_.tobytes()
    linrank.save(whole, tmp_path / "model.json")
    loaded = linrank.load(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict(problem[0]), whole.predict(problem[0]))
    with pytest.raises(ParameterError, match=r"rule 'own'.*set rule="):
        loaded.fit(*problem)
    with pytest.raises(KeyError):
        clone(ranker).fit_stream(torn(), checkpoint=path)
    with pytest.raises(ParameterError, match="rule"):  # a checkpoint knows the rule by its name and parameters
        clone(ranker).set_params(rule=Rule("other", own_pegasos)).fit_stream(chunks, checkpoint=path)


def plain(i, z, xx, ww, alpha, p):
    return 1.0, 0.0


@numba.njit
def nonsense(i, z, xx, ww, alpha, p):
    return "no number"


@numba.njit
def too_few(i, z):
    return 1.0, 0.0


def test_what_is_no_rule_is_refused_in_a_sentence(problem):
    with pytest.raises(ParameterError, match=r"step that is plain Python.*@numba\.njit"):
        Rule("slow", plain)
    with pytest.raises(ParameterError, match="projection that is plain Python"):
        Rule("slow", own_pegasos, plain)
    for rule in (plain, own_pegasos):
        with pytest.raises(ParameterError, match=r"give Rule\(name, step\)"):
            SGDRanker(rule=rule).fit(*problem)
    for step in (nonsense, too_few):
        with pytest.raises(ParameterError, match=r"cannot compile the step of the rule 'odd' as step\(i, z, xx"):
            SGDRanker(rule=Rule("odd", step)).fit(*problem)


@dataclass(frozen=True)
class TopFirst:
    """A query, a row of its best level, a row of another."""

    name: str = "top_first"

    def over(self, rows):
        return TopDraws(rows.ranked.preferences)


class TopDraws(Draws):
    def __init__(self, p):
        self.p = p
        self.first, self.top, self.end = p.ranking_ptr[:-1], p.level_ptr[p.ranking_levels[1:] - 1], p.ranking_ptr[1:]

    def draw(self, seed, counter, winner, loser):
        u = units(seed, counter, (winner.size, 3))
        r = (u[:, 0] * self.top.size).astype(int)
        winner[:] = self.p.row[(self.top[r] + u[:, 1] * (self.end - self.top)[r]).astype(int)]
        loser[:] = self.p.row[(self.first[r] + u[:, 2] * (self.top - self.first)[r]).astype(int)]
        return counter + np.uint64(u.size)


def test_a_sampler_of_ones_own(problem):
    X, y, qid = problem
    sampler = TopFirst()
    one = SGDRanker(sampling=sampler, random_state=0, n_steps=6000).fit(X, y, qid)
    two = clone(one).set_params(n_steps=3000, warm_start=True).fit(X, y, qid).fit(X, y, qid)
    assert one.coef_.tobytes() == two.coef_.tobytes()  # in however many pieces
    top = np.array([y[i] == y[qid == qid[i]].max() for i in range(len(y))])
    assert one.score(X, top, qid) >= SGDRanker(random_state=0, n_steps=6000).fit(X, y, qid).score(X, top, qid) - 0.01
    streamed = SGDRanker(sampling=sampler, random_state=0).fit_stream(
        [(X[:90], y[:90], qid[:90]), (X[90:], y[90:], qid[90:])]
    )
    assert streamed.score(X, y, qid) > 0.8


def test_samplers_are_values(problem):
    by_value, by_name = (SGDRanker(sampling=s, random_state=0).fit(*problem) for s in (Uniform(), "uniform"))
    assert by_value.coef_.tobytes() == by_name.coef_.tobytes()


class Beyond:
    name = "beyond"

    def over(self, rows):
        return self

    def draw(self, seed, counter, winner, loser):
        winner[:], loser[:] = 10**9, 0
        return counter


def test_what_is_no_sampler_is_refused_in_a_sentence(problem, tmp_path):
    for given in (3, object()):
        with pytest.raises(ParameterError, match="sampling="):
            SGDRanker(sampling=given).fit(*problem)
    with pytest.raises(ParameterError, match=r"drew a row outside 0 \.\.\. 399"):
        SGDRanker(sampling=Beyond()).fit(*problem)
    ranker = SGDRanker(sampling=TopFirst(), random_state=0).fit(*problem)
    linrank.save(ranker, tmp_path / "model.json")
    with pytest.raises(ParameterError, match="sampling 'top_first'"):
        linrank.load(tmp_path / "model.json").fit(*problem)
    kept = SGDRanker(sampling=Uniform(), random_state=0).fit(*problem)
    linrank.save(kept, tmp_path / "model.json")
    assert linrank.load(tmp_path / "model.json").sampling == Uniform()
