"""MQ2008 fold 1 against SVMrank's own weight vector: objective on the training parts, MAP on the test part."""

from __future__ import annotations

import re

import numpy as np

from linrank import LinearRanker, RankingData, metrics
from linrank.losses import Hinge
from measure import report
from problems import Problem, folder, mq2008


def svmrank_vector(n_features: int) -> np.ndarray:
    """The weights in SVMrank's model file."""
    text = (folder() / "reference" / "svmrank-mq2008-fold1" / "final_model").read_text()
    w = np.zeros(n_features)
    for feature, value in re.findall(r"(\d+):([-+.\deE]+)", text.splitlines()[-1]):
        w[int(feature) - 1] = float(value)
    return w


def main() -> None:
    train, test = mq2008(1, 2, 3), mq2008(5)
    n_queries, C = np.unique(train.qid).size, 10
    data = RankingData(*train)
    alpha = n_queries / (C * data.preferences.n_pairs)
    ranker = LinearRanker("hinge", alpha, scale=False, tol=1e-5).fit(*train)
    theirs = svmrank_vector(data.n_features)
    rows = []
    for name, w, gap in (("linrank", ranker.coef_, ranker.gap_), ("SVMrank", theirs, float("nan"))):
        objective = Hinge().at(data.X @ w, data).value + alpha / 2 * float(w @ w)
        rows.append(
            {
                "system": name,
                "objective": f"{objective:.6f}",
                "certified gap": gap,
                "test MAP": f"{metrics.average_precision(test.y, test.X @ w, test.qid, preset='letor'):.4f}",
            }
        )
    rows.append({"system": "published (LETOR 4.0)", "objective": "", "certified gap": "", "test MAP": "0.4502"})
    report("mq2008", rows)
    report("mq2008_squared", [training_accuracy(train, data.preferences.n_pairs)])


def training_accuracy(train: Problem, n_pairs: int) -> dict[str, object]:
    """Squared hinge at liblinear-ranksvm's C = 1, beside table 3 of P-SWX."""
    ranker = LinearRanker(alpha=1 / n_pairs, scale=False, tol=1e-8).fit(*train)
    return {
        "C": 1,
        "objective": f"{ranker.objective_:.8f}",
        "certified gap": ranker.gap_,
        "training pairwise accuracy %": f"{100 * ranker.score(*train):.2f}",
        "paper %": "80.24",
    }
