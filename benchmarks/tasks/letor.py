"""LETOR's metrics of SVMrank's own test scores on MQ2008 against the published ones, and the same by other presets."""

from __future__ import annotations

import numpy as np

from linrank import metrics
from measure import report
from problems import Problem, folder, mq2008

#: Fold: the part it tests on, and what is known. Fold 2's vector is that of C = 1, the published figures are of C = 2.
FOLDS = {1: (5, {"map": "0.4502", "precision@1": "0.4167", "mean_ndcg": "0.4577"}), 2: (1, {"map": "0.4258"})}


def main() -> None:
    rows = []
    for fold, (part, known) in FOLDS.items():
        test = mq2008(part)
        scores = np.loadtxt(folder() / "reference" / f"svmrank-mq2008-fold{fold}" / "test_score")
        for name in ("map", "precision@1", "mean_ndcg", "ndcg@10"):
            ours = f"{metrics.parse(name, 'letor')(test.y, scores, test.qid):.4f}"
            if ours != known.get(name, ours):
                raise SystemExit(f"{name} of fold {fold} is {ours}, not {known[name]}")
            row = {"fold": fold, "metric": name, "known": known.get(name, ""), "letor": ours}
            rows.append(row | {tool: f"{by(tool, name, test, scores):.4f}" for tool in ("trec", "xgboost", "sklearn")})
    report("letor", rows)


def by(preset: str, name: str, test: Problem, scores: np.ndarray) -> float:
    """The metric by another tool's conventions; document ids are made up from the row's number."""
    docid = np.char.zfill(np.arange(test.y.size).astype(str), 6)
    return float(metrics.parse(name, preset, docid=docid)(test.y, scores, test.qid))
