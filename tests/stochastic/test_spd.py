"""Ours against the paper to the letter: the same steps from the same pairs, and the same laws of sampling."""

import os
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import chi2_contingency

from linrank.data.labelled import LabelledRows
from linrank.kernels import rules as kernels
from linrank.stochastic.descent import Descent
from linrank.stochastic.draws import Draws
from linrank.stochastic.rows import as_rows
from linrank.stochastic.rules import Rule, named
from linrank.stochastic.samplers import as_sampler
from linrank.testing import spd

pytestmark = pytest.mark.kernels

UNCOMPILED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
LAM, C, MARGIN = 0.02, 0.3, 2.0
RULES = {
    "sgd_svm": (named("sgd_svm"), spd.sgd_svm(LAM)),
    "pegasos": (Rule("pegasos as printed", kernels.sgd_svm_step, kernels.ball, (0.0,)), spd.pegasos(LAM)),
    "passive_aggressive": (named("passive_aggressive", C=C), spd.passive_aggressive(C)),
    "romma": (named("romma"), spd.romma()),
    "perceptron": (named("perceptron"), spd.perceptron()),
    "perceptron_margin": (named("perceptron_margin", margin=MARGIN), spd.perceptron(MARGIN)),
}


def problem(n=60, d=7, seed=1):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, d)) < 0.7, rng.standard_normal((n, d)), 0.0)
    return X, rng.integers(0, 3, n), np.repeat(np.arange(n // 12), 12)


class Replayed(Draws):
    """The pairs that Algorithm 1 has drawn, the better row first."""

    def __init__(self, pairs):
        self.pairs = pairs

    def draw(self, seed, counter, winner, loser):
        here = self.pairs[int(counter) : int(counter) + winner.size]
        winner[:], loser[:] = np.array(here).T
        return counter + np.uint64(winner.size)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("sampling", ["rejected", "indexed"])
@pytest.mark.parametrize("name", RULES)
def test_the_same_steps_from_the_same_pairs(name, sampling, kind):
    X, y, qid = problem()
    rule, step = RULES[name]
    t = 40 if name == "romma" else 400  # ROMMA's weights grow without bound, and so do differences of rounding
    D, rng, pairs = [(X[k], float(y[k]), int(qid[k])) for k in range(len(y))], np.random.default_rng(2), []
    row = {id(example[0]): k for k, example in enumerate(D)}
    index = spd.create_index(D)

    def get_random_pair():
        a, b = spd.rejected_pair(D, rng) if sampling == "rejected" else spd.indexed_pair(index, rng)
        better = (a, b) if a[1] > b[1] else (b, a)
        pairs.append([row[id(better[0][0])], row[id(better[1][0])]])
        return a, b

    weights = spd.spd(get_random_pair, step, t, X.shape[1])
    descent, rows, draws = Descent.begin(np.zeros(X.shape[1]), None, 0, 0, False), as_rows(kind(X)), Replayed(pairs)
    for i in range(1, t + 1):
        descent.run(rule, LAM, rows, None, draws, 1)
        np.testing.assert_allclose(descent.coef, weights[i], rtol=1e-9, atol=1e-11 * np.abs(weights[i]).max())


LAWS = [("rejection", "in order"), ("rejection", "mixed"), ("balanced", "mixed"), ("uniform", "in order"),
        ("uniform", "mixed")]  # fmt: skip


@pytest.mark.parametrize(("sampling", "order"), LAWS)
def test_pairs_are_drawn_by_the_same_law(sampling, order):
    X, y, qid = problem(36)
    if order == "mixed":
        qid = np.random.default_rng(0).permutation(qid)
    n = 2_000 if UNCOMPILED else 60_000
    D, rng = [(X[k], float(y[k]), int(qid[k])) for k in range(len(y))], np.random.default_rng(3)
    row, index = {id(example[0]): k for k, example in enumerate(D)}, spd.create_index(D)
    theirs: Counter[tuple[int, int]] = Counter()
    for _ in range(n):
        a, b = spd.indexed_pair(index, rng) if sampling == "balanced" else spd.rejected_pair(D, rng)
        better = (a, b) if a[1] > b[1] else (b, a)
        theirs[row[id(better[0][0])], row[id(better[1][0])]] += 1
    winner, loser = np.empty((2, n), dtype=np.int64)
    as_sampler(sampling).over(LabelledRows.of(X, y, qid)).draw(np.uint64(5), np.uint64(0), winner, loser)
    ours = Counter(zip(winner.tolist(), loser.tolist(), strict=True))
    assert set(ours) <= {(i, j) for i in range(36) for j in range(36) if y[i] > y[j] and qid[i] == qid[j]}
    if not UNCOMPILED:
        both = np.array([[theirs[pair], ours[pair]] for pair in set(theirs) | set(ours)])
        assert chi2_contingency(both).pvalue > 1e-3
