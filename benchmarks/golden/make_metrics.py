"""Golden values of XGBoost's and LightGBM's ranking metrics, for the tests: neither is a dependency of ours.

In an environment of its own:  pip install xgboost lightgbm && python benchmarks/golden/make_metrics.py
writes tests/metrics/golden/tools.json.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import xgboost

TARGET = Path(__file__).parents[2] / "tests" / "metrics" / "golden" / "tools.json"
CUTS = (None, 1, 2, 3, 10)


def cases() -> dict[str, dict[str, Any]]:
    """Grades, scores and query lengths. Scores are multiples of 1/64: no tool's precision ties what differs."""
    rng = np.random.default_rng(7)
    found = {}
    for name, lengths, grades, spread in (
        ("plain", [5, 8, 12, 20], 5, 400),
        ("ties", [6, 9, 15], 4, 4),
        ("all tied", [4, 7], 3, 1),
        ("binary", [5, 11, 30], 2, 400),
        ("binary ties", [5, 11, 30], 2, 5),
        ("one row", [1, 1, 6], 3, 50),
        ("high grades", [10, 10], 12, 100),
    ):
        n = sum(lengths)
        found[name] = {"y": rng.integers(0, grades, n), "scores": rng.integers(0, spread, n) / 64, "lengths": lengths}
    found["empty queries"] = {**found["binary"], "y": np.r_[np.zeros(5), np.ones(11), np.zeros(29), 1]}
    found["nothing relevant"] = {**found["binary"], "y": np.zeros(46)}
    found["negative"] = {**found["plain"], "y": found["plain"]["y"] - 1}
    return found


def xgboost_value(metric: str, k: int | None, case: dict[str, Any]) -> float | None:
    """XGBoost's value of a metric; None where it refuses the labels."""
    qid = np.repeat(np.arange(len(case["lengths"])), case["lengths"])
    data = xgboost.DMatrix(np.zeros((qid.size, 1)), case["y"], qid=qid, base_margin=case["scores"])
    name = metric if k is None else f"{metric}@{k}"
    try:
        model = xgboost.train({"objective": "rank:pairwise", "eval_metric": name, "base_score": 0.0}, data, 0)
        return float(model.eval(data).split(":")[-1])
    except xgboost.core.XGBoostError:
        return None


def lightgbm_value(metric: str, k: int | None, case: dict[str, Any]) -> float | None:
    """LightGBM's value of a metric, of a model that cannot split; None where it refuses the labels."""
    X = np.zeros((len(case["y"]), 1))
    quiet = {"verbose": -1, "feature_pre_filter": False}
    data = lightgbm.Dataset(X, case["y"], group=case["lengths"], init_score=case["scores"], params=quiet)
    found: dict[str, Any] = {}
    parameters = {"objective": "lambdarank", "metric": metric, "eval_at": [k or 10**6], **quiet}
    try:
        lightgbm.train(
            parameters, data, 1, valid_sets=[data], valid_names=["it"], callbacks=[lightgbm.record_evaluation(found)]
        )
    except lightgbm.basic.LightGBMError:
        return None
    return float(found["it"][f"{metric}@{k or 10**6}"][0])


def main() -> None:
    golden = []
    for name, case in cases().items():
        entry = {key: np.asarray(value).tolist() for key, value in case.items()}
        values = []
        for k in CUTS:
            for metric, theirs in (("ndcg", "ndcg"), ("map", "map"), ("precision", "pre")):
                values.append(["xgboost", metric, k, xgboost_value(theirs, k, case)])
            for metric in ("ndcg", "map"):
                values.append(["lightgbm", metric, k, lightgbm_value(metric, k, case)])
        golden.append({"case": name, **entry, "values": values})
    made_by = {"xgboost": xgboost.__version__, "lightgbm": lightgbm.__version__}
    lines = ",\n".join(json.dumps(entry) for entry in golden)
    TARGET.write_text(f'{{"made by": {json.dumps(made_by)}, "cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
