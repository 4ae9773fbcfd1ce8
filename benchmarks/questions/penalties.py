"""Elastic nets: paths of 50 alphas in ridge fits, warm against cold, against saga on sampled pairs; features kept.

A path goes from the alpha at which all weights are zero to a thousandth of it, each alpha to a certified gap of 1e-3 of
R(0). scikit-learn's LogisticRegression (elastic net, saga) sees the differences of the same sampled pairs, and counts
from when its objective on them is within that gap of the minimum.
"""

from __future__ import annotations

import logging
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from linrank import LinearRanker, LinearRankerCV, RankingData, metrics
from linrank._errors import overflow_ignored
from linrank.engines import open_engine
from linrank.model_selection import QueryShuffleSplit
from linrank.rankers.training import Trained, Training
from linrank.solvers.choose import choose
from measure import best_times, exponent, few, quick
from problems import Problem, load
from results import FIT, fault, report

SOURCES = (*FIT, "rankers/limits.py", "rankers/cv.py", "model_selection/path.py", "defaults.py")

DATA = ("webis", "lightgbm_example", "imdb", "newsgroups")
L1_RATIO, ALPHAS, REACH = 0.9, 50, 1e3
PAIRS, MANY = 20_000, 1_000
FIGURE = Path(__file__).parents[2] / "docs" / "figures" / "penalties_path.png"
WIDTHS = (25, 50, 100, 200, 400, 800)


def main() -> None:
    logging.getLogger("linrank").setLevel(logging.ERROR)
    report("penalties_paths", [row for name in few(DATA, 1) for row in paths(name)])
    if not quick():
        draw()
    report("penalties_saga", [against_saga(name) for name in few(DATA, 1)])
    report("penalties_growth", growth())
    report("penalties_quality", [row for name in few(("mq2008", "webis", "imdb"), 1) for row in quality(name)])


def draw() -> None:
    """The weights of webis along a path, and how many are not 0."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    data = RankingData(*load("webis"))
    training = Training.of(LinearRanker(l1_ratio=L1_RATIO)).over(data.n_features)
    alphas = np.geomspace(1.0, 1.0 / REACH, ALPHAS) * 20 * training.default_alpha(data)
    w = np.array([fit.solution.w for fit in path_of(data, training, alphas)])
    figure, (above, below) = plt.subplots(2, 1, figsize=(7, 5.5), sharex=True, height_ratios=(3, 1), layout="tight")
    above.semilogx(alphas, w, linewidth=1)
    above.axhline(0.0, color="black", linewidth=0.5)
    above.set_ylabel("weight, in scaled units")
    below.step(alphas, np.count_nonzero(w, axis=1), where="mid", color="black")
    below.set_ylabel("not zero")
    below.set_xlabel("alpha, from where all weights are zero")
    below.invert_xaxis()
    figure.savefig(FIGURE, dpi=110)
    plt.close(figure)


def path_of(data: RankingData, training: Training, alphas: np.ndarray) -> list[Trained]:
    fits = training.path(data, alphas, lambda _: None)
    for fit in fits:
        if fit.solution.status != "converged":
            fault(f"alpha {fit.alpha:.3g} ended as {fit.solution.status}")
    return fits


def cold(data: RankingData, training: Training, alphas: np.ndarray) -> None:
    """The same fits, each from zero; the data are prepared once."""
    with open_engine(data) as engine, overflow_ignored():
        scale, _ = training.from_data(engine)
        for alpha in alphas.tolist():
            objective = training.objective(engine, alpha, scale)
            if choose(objective, training.tol, training.max_iter).minimise(objective).status != "converged":
                fault(f"alpha {alpha:.3g} did not converge from zero")


def paths(name: str) -> list[dict[str, Any]]:
    """A path in multiples of one ridge fit, and of the same path solved cold."""
    problem = load(name)
    data, rows = RankingData(*problem), []
    for loss in ("squared_hinge", "hinge", "logistic") if data.n_features < MANY else ("squared_hinge", "hinge"):
        training = Training.of(LinearRanker(loss, l1_ratio=L1_RATIO)).over(data.n_features)
        alphas = np.geomspace(1.0, 1.0 / REACH, few(range(ALPHAS), 5)[-1] + 1) * 20 * training.default_alpha(data)
        fits = path_of(data, training, alphas)
        times = best_times(
            {
                "ridge": lambda loss=loss: LinearRanker(loss).fit(*problem),
                "warm": lambda training=training, alphas=alphas: path_of(data, training, alphas),
                "cold": lambda training=training, alphas=alphas: cold(data, training, alphas),
            },
            3 if data.n_features < MANY else 1,
        )
        rows.append(
            {
                "data": name,
                "loss": loss,
                "features": data.n_features,
                "alphas": alphas.size,
                "ridge fit s": times["ridge"],
                "path s": times["warm"],
                "path in ridge fits": times["warm"] / times["ridge"],
                "cold / warm": times["cold"] / times["warm"],
                "iterations": sum(fit.solution.n_iter for fit in fits),
                "weights at the end": int(np.count_nonzero(fits[-1].solution.w)),
            }
        )
        print(rows[-1], flush=True)
    return rows


def sampled(problem: Problem, n: int) -> np.ndarray:
    """Pairs of rows of one query with different utilities, drawn evenly over the rows."""
    rng = np.random.default_rng(0)
    query = np.zeros(problem.y.size) if problem.qid is None else np.unique(problem.qid, return_inverse=True)[1]
    order = np.argsort(query, kind="stable")
    start = np.searchsorted(query[order], query)
    size = np.searchsorted(query[order], query, side="right") - start
    i = rng.integers(problem.y.size, size=8 * n)
    j = order[start[i] + (rng.random(8 * n) * size[i]).astype(int)]
    unequal = problem.y[i] != problem.y[j]
    i, j = i[unequal][:n], j[unequal][:n]
    better = problem.y[i] > problem.y[j]
    return np.column_stack([np.where(better, i, j), np.where(better, j, i)])


def against_saga(name: str) -> dict[str, Any]:
    """The logistic loss on sampled pairs, at a twentieth of the alpha at which all weights are zero."""
    problem = load(name)
    scale = LinearRanker().fit(*problem).scale_
    X = problem.X @ sp.diags_array(1.0 / scale) if sp.issparse(problem.X) else problem.X / scale
    X = sp.csr_matrix(X) if sp.issparse(X) else X
    pairs = sampled(problem, 300 if quick() else PAIRS)
    ranker = LinearRanker("logistic", l1_ratio=L1_RATIO, scale=False)
    begin = time.process_time()
    ranker.fit(X, pairs=pairs)
    ours = time.process_time() - begin
    D, n = X[pairs[:, 0]] - X[pairs[:, 1]], len(pairs)

    def objective(w: np.ndarray) -> float:
        size = 0.5 * (1 - L1_RATIO) * float(w @ w) + L1_RATIO * float(np.abs(w).sum())
        return float(np.logaddexp(0.0, -(D @ w)).mean()) + ranker.alpha_ * size

    goal = ranker.objective_ - ranker.gap_ + 1e-3 * np.log(2.0)
    if abs(objective(ranker.coef_) - ranker.objective_) > 1e-9:
        fault("the objective on sampled pairs is not that of the fit")
    theirs, reached = saga(D, ranker.alpha_, n, objective, goal)
    return {
        "data": name,
        "pairs": n,
        "features": D.shape[1],
        "weights": int(np.count_nonzero(ranker.coef_)),
        "linrank s": ours,
        "saga s": theirs,
        "saga / linrank": theirs / ours,
        "saga is at equal objective": "yes" if reached <= goal else f"no: {reached - goal:.1e} above",
    }


def saga(D: Any, alpha: float, n: int, objective: Any, goal: float) -> tuple[float, float]:
    """CPU seconds until its objective is low enough: epochs double; only the last run counts."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    sign = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)  # two classes: half of the differences the other way round
    D = sp.csr_matrix(sp.diags_array(sign) @ D) if sp.issparse(D) else D * sign[:, None]
    epochs = 1
    while True:
        told = {"C": 1.0 / (alpha * n), "l1_ratio": L1_RATIO, "fit_intercept": False, "tol": 1e-12, "random_state": 0}
        model = LogisticRegression(penalty="elasticnet", solver="saga", max_iter=epochs, **told)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", FutureWarning)
            begin = time.process_time()
            model.fit(D, sign)
            seconds = time.process_time() - begin
        reached = objective(model.coef_[0])
        if reached <= goal or seconds > (1.0 if quick() else 10.0):
            return seconds, reached
        epochs *= 2


def growth() -> list[dict[str, Any]]:
    """Seconds of a path as features are added, a tenth of them with a weight."""
    rng, rows = np.random.default_rng(1), []
    m, widths = (500, 4_000)[not quick()], few(WIDTHS)
    for d in widths:
        X = rng.standard_normal((m, d))
        w = np.where(np.arange(d) % 10 == 0, rng.standard_normal(d), 0.0)
        s = X @ w
        y = np.digitize(s + s.std() * rng.standard_normal(m), np.quantile(s, [0.5, 0.8, 0.95]))
        data = RankingData(X, y, np.arange(m) // 40)
        training = Training.of(LinearRanker(l1_ratio=L1_RATIO)).over(d)
        alphas = np.geomspace(1.0, 1.0 / REACH, ALPHAS if not quick() else 5) * 20 * training.default_alpha(data)
        times = best_times(
            {
                "ridge": lambda X=X, y=y: LinearRanker().fit(X, y, np.arange(m) // 40),
                "path": lambda data=data, training=training, alphas=alphas: path_of(data, training, alphas),
            },
            3,
        )
        rows.append({"rows": m, "features": d, "ridge fit s": times["ridge"], "path s": times["path"]})
    for row in rows:
        row["path in ridge fits"] = row["path s"] / row["ridge fit s"]
        row["growth of a path"] = exponent(list(widths), [one["path s"] for one in rows])
    return rows


def quality(name: str) -> list[dict[str, Any]]:
    """The ridge, and the sparsest model within one standard error, both by five folds; judged on other queries."""
    rows = []
    for part, train, test in splits(name):
        metric = "ndcg@10" if train.qid is not None else "pairwise_accuracy"
        for kind, told in (("ridge", {}), ("elastic net", {"l1_ratio": L1_RATIO, "one_standard_error": True})):
            ranker = LinearRankerCV(4 if quick() else 20, metric=metric, **told).fit(*train)
            scores = ranker.predict(test.X)
            ndcg = metrics.ndcg(test.y, scores, test.qid, k=10) if test.qid is not None else None
            rows.append(
                {
                    "data": name,
                    "part": part,
                    "model": kind,
                    "chosen by": metric,
                    "features": int(np.count_nonzero(ranker.coef_)),
                    "of": train.X.shape[1],
                    "NDCG@10": ndcg,
                    "pairwise accuracy": metrics.pairwise_accuracy(test.y, scores, test.qid),
                }
            )
            print(rows[-1], flush=True)
    return rows


def splits(name: str) -> list[tuple[str, Problem, Problem]]:
    """MQ2008's own folds; two thirds of webis's queries; four fifths of imdb's reviews."""
    if name == "mq2008":
        part = lambda *numbers: load("mq2008", *((number - 1) % 5 + 1 for number in numbers))
        return [(f"fold {k}", part(k, k + 1, k + 2), part(k + 4)) for k in few(range(1, 6), 1)]
    problem = load(name)
    if problem.qid is None:
        test = np.random.default_rng(0).random(problem.y.size) < 0.2
        cut = ~test, test
    else:
        cut = next(QueryShuffleSplit(1, 1 / 3, random_state=0).split(problem.X, problem.y, problem.qid))
    halves = [
        Problem(problem.X[rows], problem.y[rows], None if problem.qid is None else problem.qid[rows]) for rows in cut
    ]
    return [("held out", *halves)]
