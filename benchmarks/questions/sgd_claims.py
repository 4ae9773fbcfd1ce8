"""The paper's section 3.4 on MQ2008: perceptron with margin, pairs with ties, products of features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from sklearn.preprocessing import PolynomialFeatures

from linrank import RankingData, SGDRanker
from linrank.stochastic.samplers import make_sampler
from questions._letor import ALPHAS
from questions.sgd_letor import Make, compare
from results import STOCHASTIC, report

SOURCES = STOCHASTIC

MARGINS = [1.0, 10.0, 100.0, 1e3, 1e4, 1e5]


@njit
def _perceptron(X: Any, winner: Any, loser: Any, margin: float, w: Any, total: Any) -> None:
    for n in range(winner.size):
        x = X[winner[n]] - X[loser[n]]
        if np.dot(w, x) <= margin:
            w += x
        total += w


class Perceptron:
    """w <- w + x where w.x <= margin, on 100,000 uniformly drawn pairs; margin 0 is the plain perceptron."""

    def __init__(self, margin: float, average: bool) -> None:
        self.margin, self.average = margin, average

    def fit(self, X: np.ndarray, y: np.ndarray, qid: np.ndarray) -> Perceptron:
        deviation = X.std(axis=0)
        self.scale = np.where(deviation > 0, deviation, 1.0)
        data = RankingData(X / self.scale, y, qid)
        winner, loser = np.empty((2, 100_000), dtype=np.int64)
        make_sampler("uniform", data.preferences, data.query).draw(np.uint64(1), np.uint64(0), winner, loser)
        w, total = np.zeros((2, X.shape[1]))
        _perceptron(data.X, winner, loser, self.margin, w, total)
        self.w = total if self.average else w
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return X @ (self.w / self.scale)


class WithTies(SGDRanker):
    """Pairs of equal grade count in both directions, so that their scores are drawn together within the margin."""

    def fit(self, X: np.ndarray, y: np.ndarray, qid: np.ndarray) -> WithTies:
        rng, tied = np.random.default_rng(0), []
        for query in np.unique(qid):
            here = np.flatnonzero(qid == query)
            i, j = rng.choice(here, (2, 4 * here.size))
            same = (y[i] == y[j]) & (i != j) & (y[i] > 0)
            tied += [np.column_stack([i[same], j[same]]), np.column_stack([j[same], i[same]])]
        return super().fit(X, y, qid, pairs=np.concatenate(tied))


class WithProducts(SGDRanker):
    """All products of two features beside the features: 1127 columns for 46."""

    def fit(self, X: np.ndarray, y: np.ndarray, qid: np.ndarray) -> WithProducts:
        return super().fit(_products(X), y, qid)

    def predict(self, X: np.ndarray) -> np.ndarray:
        return super().predict(_products(X))


def _products(X: np.ndarray) -> np.ndarray:
    return PolynomialFeatures(2, include_bias=False).fit_transform(X)


PLAIN = {"scale": True, "average": False, "random_state": 0}


def main() -> None:
    contestants: dict[str, tuple[Make, list[float]]] = {
        "pegasos": (lambda alpha: SGDRanker(alpha=alpha, **PLAIN), ALPHAS),
        "perceptron": (lambda _: Perceptron(0.0, False), [0.0]),
        "perceptron with margin": (lambda margin: Perceptron(margin, False), MARGINS),
        "perceptron, averaged": (lambda _: Perceptron(0.0, True), [0.0]),
        "perceptron with margin, averaged": (lambda margin: Perceptron(margin, True), MARGINS),
        "pegasos with ties": (lambda alpha: WithTies(alpha=alpha, **PLAIN), ALPHAS),
        "pegasos with products": (lambda alpha: WithProducts(alpha=alpha, **PLAIN), ALPHAS),
    }
    report("sgd_claims", compare(contestants))
