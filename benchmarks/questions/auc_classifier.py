"""AUCClassifier against LogisticRegression(class_weight="balanced"): AUC, time and calibration on rare classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from linrank import AUCClassifier
from measure import best_times, quick
from problems import load
from results import FIT, report

SOURCES = (*FIT, "rankers/classifier.py", "model_selection/calibration.py")


def problems() -> Iterator[tuple[str, Any, np.ndarray, np.ndarray]]:
    """Name, features, classes and the rows to train on (half of them)."""
    rng, n = np.random.default_rng(0), 4000 if quick() else 200_000
    for share in (0.1, 0.01):
        X = rng.standard_normal((n, 20)) * rng.lognormal(0, 1, 20) + rng.normal(0, 5, 20)
        z = (X - X.mean(0)) / X.std(0) @ rng.standard_normal(20) / 2 + rng.standard_t(3, n)
        yield f"synthetic, {share:.0%} positive", X, z > np.quantile(z, 1 - share), np.arange(n) % 2 == 0
    web = load("webis")
    assert web.qid is not None
    train = np.isin(web.qid, np.unique(web.qid)[::2])
    yield "webis, grade >= 3, other queries to test", web.X, web.y >= 3, train


def contestants() -> dict[str, Any]:
    logistic = {"C": 1.0, "max_iter": 1000}
    return {
        "AUCClassifier": AUCClassifier(),
        "AUCClassifier, cv=None": AUCClassifier(cv=None),
        "LogisticRegression, balanced": make_pipeline(
            StandardScaler(), LogisticRegression(class_weight="balanced", **logistic)
        ),
        "LogisticRegression": make_pipeline(StandardScaler(), LogisticRegression(**logistic)),
    }


def main() -> None:
    rows, curves = [], []
    for name, X, y, train in problems():
        models = contestants()
        times = best_times({who: (lambda m=model: m.fit(X[train], y[train])) for who, model in models.items()}, 3)
        truth = y[~train]
        for who, model in models.items():
            p = model.predict_proba(X[~train])[:, 1]
            observed, predicted = calibration_curve(truth, p, n_bins=10, strategy="quantile")
            rows.append(
                {
                    "data": name,
                    "model": who,
                    "s": times[who],
                    "test AUC": f"{roc_auc_score(truth, p):.4f}",
                    "positive": f"{truth.mean():.4f}",
                    "mean probability": f"{p.mean():.4f}",
                    "Brier score": f"{brier_score_loss(truth, p):.5f}",
                    "calibration error": f"{np.abs(observed - predicted).mean():.4f}",
                }
            )
            for said, seen in zip(predicted, observed, strict=True):
                curves.append({"data": name, "model": who, "predicted": f"{said:.4f}", "observed": f"{seen:.4f}"})
    report("auc_classifier", rows)
    report("auc_classifier_curves", curves)
