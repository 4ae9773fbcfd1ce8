"""MQ2008 fold 1 against SVMrank's own weight vector: objective on the training parts, MAP on the test part."""

from __future__ import annotations

import re

import numpy as np

from contest import objective
from linrank import LinearRanker, metrics
from measure import quick
from opponents import count_pairs
from problems import Problem, folder, load
from results import FIT, elsewhere, fault, report

SOURCES = FIT


def svmrank_vector(n_features: int, ours: np.ndarray) -> np.ndarray:
    """The weights in SVMrank's model file; ours, a little moved, in a quick check."""
    if quick():
        return ours * 1.001
    text = (folder() / "reference" / "svmrank-mq2008-fold1" / "final_model").read_text()
    w = np.zeros(n_features)
    for feature, value in re.findall(r"(\d+):([-+.\deE]+)", text.splitlines()[-1]):
        w[int(feature) - 1] = float(value)
    return w


def main() -> None:
    train, test = load("mq2008", 1, 2, 3), load("mq2008", 5)
    n_queries, C = np.unique(train.qid).size, 10
    alpha = n_queries / (C * count_pairs(train))
    ranker = LinearRanker("hinge", alpha, scale=False, tol=1e-5).fit(*train)
    theirs = svmrank_vector(train.X.shape[1], ranker.coef_)
    rows = []
    for name, w, gap in (("linrank", ranker.coef_, ranker.gap_), ("SVMrank", theirs, None)):
        value = objective(train, "hinge", alpha, w)
        if abs(value - ranker.objective_) > 1e-3:
            fault(f"the objective of {name} is {value:.6f}, that of the fit {ranker.objective_:.6f}")
        rows.append(
            {
                "system": name,
                "objective": f"{value:.6f}",
                "certified gap": gap,
                "test MAP": f"{metrics.average_precision(test.y, test.X @ w, test.qid, preset='letor'):.4f}",
                "published test MAP": elsewhere("SVMrank", "MQ2008 fold 1", "map") if name == "SVMrank" else "",
            }
        )
    report("mq2008", rows)
    report("mq2008_squared", [training_accuracy(train, count_pairs(train))])


def training_accuracy(train: Problem, n_pairs: int) -> dict[str, object]:
    """Squared hinge at liblinear-ranksvm's C = 1, beside table 3 of P-SWX."""
    ranker = LinearRanker(alpha=1 / n_pairs, scale=False, tol=1e-8).fit(*train)
    return {
        "C": 1,
        "objective": f"{ranker.objective_:.8f}",
        "certified gap": ranker.gap_,
        "training pairwise accuracy %": f"{100 * ranker.score(*train):.2f}",
        "paper %": elsewhere("P-SWX (paper)", "MQ2008 fold 1", "training pairwise accuracy %"),
    }
