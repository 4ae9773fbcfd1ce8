"""LETOR's metrics of SVMrank's own test scores on MQ2008 against the published ones, and the same by other presets."""

from __future__ import annotations

import numpy as np

from linrank import metrics
from measure import quick
from problems import Problem, folder, load
from questions._letor import per_query
from results import elsewhere, fault, report

SOURCES = ("kernels/metrics.py", "metrics/**/*.py")
#: Fold and the part it tests on. Fold 2's vector is that of C = 1, the published figures are of C = 2.
FOLDS = {1: 5, 2: 1}


def main() -> None:
    rows = []
    for fold, part in FOLDS.items():
        test = load("mq2008", part)
        scores = svmrank_scores(fold, test)
        for name in ("map", "precision@1", "mean_ndcg", "ndcg@10"):
            ours = f"{metrics.parse(name, 'letor')(test.y, scores, test.qid):.4f}"
            known = known_value(fold, name, test, scores)
            if known not in ("", ours):
                fault(f"{name} of fold {fold} is {ours}, not {known}")
            row = {"fold": fold, "metric": name, "known": known, "letor": ours}
            rows.append(row | {tool: f"{by(tool, name, test, scores):.4f}" for tool in ("trec", "xgboost", "sklearn")})
    report("letor", rows)


def svmrank_scores(fold: int, test: Problem) -> np.ndarray:
    """Scores that SVMrank wrote; any scores in a quick check."""
    if quick():
        return test.X[:, 0]
    return np.loadtxt(folder() / "reference" / f"svmrank-mq2008-fold{fold}" / "test_score")


def known_value(fold: int, name: str, test: Problem, scores: np.ndarray) -> str:
    """What was published of SVMrank's scores; in a quick check, MAP computed the slow way."""
    if quick():
        return f"{per_query(test, scores)[0].mean():.4f}" if name == "map" else ""
    return elsewhere("SVMrank", f"MQ2008 fold {fold}", name)


def by(preset: str, name: str, test: Problem, scores: np.ndarray) -> float:
    """The metric by another tool's conventions; document ids are made up from the row's number."""
    docid = np.char.zfill(np.arange(test.y.size).astype(str), 6)
    return float(metrics.parse(name, preset, docid=docid)(test.y, scores, test.qid))
