"""The paper's section 3.4 on MQ2008: perceptron with margin, pairs with ties, products of features."""

from __future__ import annotations

import numpy as np
from sklearn.preprocessing import PolynomialFeatures

from linrank import SGDRanker
from questions._letor import ALPHAS
from questions.sgd_letor import Make, compare
from results import STOCHASTIC, report

SOURCES = STOCHASTIC

MARGINS = [1.0, 10.0, 100.0, 1e3, 1e4, 1e5]


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


def perceptron(average: bool, margin: float | None = None) -> SGDRanker:
    """With a margin or without."""
    rule = {"rule": "perceptron"} if margin is None else {"rule": "perceptron_margin", "margin": margin}
    return SGDRanker(alpha=1e-4, scale=True, average=average, random_state=0, **rule)


PLAIN = {"scale": True, "average": False, "random_state": 0}


def main() -> None:
    contestants: dict[str, tuple[Make, list[float]]] = {
        "pegasos": (lambda alpha: SGDRanker(alpha=alpha, **PLAIN), ALPHAS),
        "perceptron": (lambda _: perceptron(False), [0.0]),
        "perceptron with margin": (lambda margin: perceptron(False, margin), MARGINS),
        "perceptron, averaged": (lambda _: perceptron(True), [0.0]),
        "perceptron with margin, averaged": (lambda margin: perceptron(True, margin), MARGINS),
        "pegasos with ties": (lambda alpha: WithTies(alpha=alpha, **PLAIN), ALPHAS),
        "pegasos with products": (lambda alpha: WithProducts(alpha=alpha, **PLAIN), ALPHAS),
    }
    report("sgd_claims", compare(contestants))
