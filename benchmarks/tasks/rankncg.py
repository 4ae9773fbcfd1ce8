"""RankNCG's tables 2 and 3: training time and test WMW, its direct and fast methods beside the exact logistic loss."""

from __future__ import annotations

import gzip
import time
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from linrank import ConvergenceWarning, LinearRanker, LinearRankerCV, RankingData, metrics
from linrank._objective import Objective
from linrank.engines import LocalEngine
from linrank.kernels import active
from linrank.losses import Logistic, LogisticErfc
from linrank.solvers import ConjugateGradients, Newton
from measure import report
from problems import folder

ALPHAS = np.geomspace(1.0, 1e-6, 7)
#: Rows above which the direct method is left out, as in the paper.
DIRECT = 6_000


class Set(NamedTuple):
    """A data set of table 1, with the paper's figures: M, seconds direct and fast, WMW direct and fast."""

    file: str
    bins: int
    target: str | None  # None: the last attribute, the natural one
    M: int
    seconds: tuple[str, str]
    wmw: tuple[str, str]


SETS = {
    "Diabetes": Set("diabetes.numeric", 2, None, 272, ("0.11", "0.06"), ("0.677", "0.650")),
    "Pyrimidines": Set("pyrim", 3, None, 1113, ("0.63", "0.12"), ("0.987", "0.948")),
    "Triazines": Set("triazines", 4, None, 7674, ("17.63", "0.70"), ("0.942", "0.914")),
    "Wisconsin": Set("wisconsin", 4, None, 8162, ("13.41", "0.33"), ("0.764", "0.771")),
    "Machine-CPU": Set("machine.cpu", 4, None, 9820, ("20.38", "0.97"), ("0.920", "0.938")),
    "Auto-MPG": Set("autompg", 3, None, 30057, ("28.05", "0.40"), ("0.999", "0.998")),
    "Auto-MPG, cylinders": Set("autompg", 3, "cylinders", 30057, ("28.05", "0.40"), ("0.999", "0.998")),
    "Boston Housing": Set("housing", 2, None, 33693, ("18.92", "0.16"), ("1.000", "1.000")),
    "Airplane Companies": Set("stock", 5, None, 217301, ("332.88", "3.29"), ("0.984", "0.984")),
    "Airplane Companies, company1": Set("stock", 5, "company1", 217301, ("332.88", "3.29"), ("0.984", "0.984")),
    "RandNet 1000": Set("randnet", 6, None, 195907, ("250.37", "5.08"), ("0.944", "0.944")),
    "RandPoly 1000": Set("randpoly", 6, None, 225131, ("102.48", "0.78"), ("0.625", "0.625")),
    "Abalone": Set("abalone", 3, None, 3713729, ("1736.47", "1.47"), ("0.536", "0.534")),
    "Abalone, sex": Set("abalone", 3, "sex", 3713729, ("1736.47", "1.47"), ("0.536", "0.534")),
    "RandNet 5000": Set("randnet", 6, None, 6269910, ("6731.09", "19.10"), ("0.917", "0.917")),
    "RandPoly 5000": Set("randpoly", 6, None, 5367241, ("2556.93", "3.59"), ("0.623", "0.623")),
    "California": Set("cal.housing", 3, None, 82420255, ("*", "46.86"), ("*", "0.979")),
    "California, longitude": Set("cal.housing", 3, "longitude", 82420255, ("*", "46.86"), ("*", "0.979")),
}


def read_arff(name: str) -> tuple[list[str], np.ndarray]:
    """Names and values of the attributes; rows with a missing one are left out."""
    with gzip.open(folder() / "torgo" / f"{name}.arff.gz", "rt") as lines:
        head, body = lines.read().lower().split("@data")
    declared = [line.split(None, 2) for line in head.splitlines() if line.startswith("@attribute")]
    codes = [_codes(kind) for _, _, kind in declared]
    rows = [line.replace(" ", "").split(",") for line in body.splitlines() if line.strip() and "?" not in line]
    values = [[float(v) if code is None else code[v] for v, code in zip(row, codes, strict=True)] for row in rows]
    return [name.strip("'\"") for _, name, _ in declared], np.array(values)


def _codes(kind: str) -> dict[str, float] | None:
    """Numbers of nominal values: their own where they are numbers, else by the alphabet (which fits the paper best)."""
    if not kind.startswith("{"):
        return None
    values = [value.strip() for value in kind.strip(" {}\t").split(",")]
    try:
        return {value: float(value) for value in values}
    except ValueError:
        return {value: float(i) for i, value in enumerate(sorted(values))}


def artificial(kind: str, n_rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """50 normal features; the utility a random net of 10 hidden units, or a random quadratic polynomial."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n_rows, 50))
    if kind == "randnet":
        return X, np.tanh(X @ rng.standard_normal((50, 10)) / 3 + rng.standard_normal(10)) @ rng.standard_normal(10)
    return X, np.einsum("ij,jk,ik->i", X, rng.standard_normal((50, 50)), X) + X @ rng.standard_normal(50)


def load(name: str, about: Set) -> tuple[np.ndarray, np.ndarray]:
    """Standardised features, and the target in bins of equal width."""
    if about.file.startswith("rand"):
        X, target = artificial(about.file, int(name.split()[-1]))
    else:
        names, table = read_arff(about.file)
        k = len(names) - 1 if about.target is None else names.index(about.target)
        X, target = np.delete(table, k, axis=1), table[:, k]
    low, high = target.min(), target.max()
    y = np.minimum(np.floor((target - low) / (high - low) * about.bins), about.bins - 1)
    return StandardScaler().fit_transform(X), y


def main() -> None:
    measure("Pyrimidines", SETS["Pyrimidines"])  # compiled and loaded
    rows = []
    for name, about in SETS.items():
        rows.append(measure(name, about))
        print(rows[-1], flush=True)
    report("rankncg", rows)
    report("rankncg_nonlinear", nonlinear())


def folds(X: np.ndarray, y: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    return KFold(5, shuffle=True, random_state=0).split(X, y)


def measure(name: str, about: Set) -> dict[str, Any]:
    X, y = load(name, about)
    methods = {
        "direct": (LogisticErfc(), ConjugateGradients(), 10**9),
        "fast": (LogisticErfc(1e-6), ConjugateGradients(), 0),
        "exact cg": (Logistic(), ConjugateGradients(), active.SHORT_LOGISTIC),
        "exact newton": (Logistic(), Newton(), active.SHORT_LOGISTIC),
    }
    if len(y) > DIRECT:
        del methods["direct"]
    seconds: dict[str, list[float]] = {method: [] for method in methods}
    wmw: dict[str, list[float]] = {method: [] for method in methods}
    pairs = []
    for train, test in folds(X, y):
        if np.unique(y[test]).size < 2:
            continue
        alpha = choose(X[train], y[train])
        data = RankingData(X[train], y[train])
        pairs.append(data.preferences.n_pairs)
        for method, (loss, solver, limit) in methods.items():
            t, w = solve(data, loss, solver, alpha, limit)
            seconds[method].append(t)
            wmw[method].append(metrics.wmw(y[test], X[test] @ w, ties="correct"))
    time_of = {m: float(np.mean(seconds[m])) if m in methods else np.nan for m in ("direct", "fast")}
    return {
        "data": name,
        "rows": len(y),
        "pairs": round(float(np.mean(pairs))),
        "paper's pairs": about.M,
        **{f"{m} WMW": f"{np.mean(wmw[m]):.3f} ± {np.std(wmw[m]):.3f}" for m in methods if m != "direct"},
        "direct WMW": f"{np.mean(wmw['direct']):.3f}" if "direct" in methods else "*",
        "paper's direct WMW": about.wmw[0],
        "paper's fast WMW": about.wmw[1],
        **{f"{m} s": float(np.mean(seconds[m])) for m in methods if m != "direct"},
        "direct s": time_of["direct"],
        "direct / fast": time_of["direct"] / time_of["fast"],
        "paper's direct / fast": "*" if "*" in about.seconds else float(about.seconds[0]) / float(about.seconds[1]),
    }


def choose(X: np.ndarray, y: np.ndarray) -> float:
    """The alpha of the best inner five-fold score, by the exact loss."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ranker = LinearRankerCV(ALPHAS, loss="logistic", scale=False, cv=KFold(5, shuffle=True, random_state=1))
        return ranker.fit(X, y).alpha_


def solve(data: RankingData, loss: Any, solver: Any, alpha: float, limit: int) -> tuple[float, np.ndarray]:
    kept, active.SHORT_LOGISTIC = active.SHORT_LOGISTIC, limit
    try:
        with LocalEngine(data) as engine:
            objective = Objective(engine, loss, alpha, data.n_features)
            begin = time.perf_counter()
            solution = solver.minimise(objective)
            return time.perf_counter() - begin, solution.w
    finally:
        active.SHORT_LOGISTIC = kept


def nonlinear() -> list[dict[str, Any]]:
    """RandPoly with non-linear features in a pipeline, beside the paper's quadratic RankSVM."""
    X, y = load("RandPoly 1000", SETS["RandPoly 1000"])
    models = {
        "linear": lambda alpha: make_pipeline(StandardScaler(), LinearRanker("logistic", alpha)),
        "PolynomialFeatures(2)": lambda alpha: make_pipeline(PolynomialFeatures(2), LinearRanker("logistic", alpha)),
        "Nystroem, quadratic": lambda alpha: make_pipeline(
            Nystroem("poly", degree=2, coef0=1.0, gamma=0.02, n_components=600, random_state=0),
            LinearRanker("logistic", alpha),
        ),
    }
    rows = []
    for name, make in models.items():
        best = {
            alpha: np.mean(
                [
                    metrics.wmw(y[test], make(alpha).fit(X[train], y[train]).predict(X[test]), ties="correct")
                    for train, test in folds(X, y)
                ]
            )
            for alpha in (1e-1, 1e-2, 1e-3)
        }
        alpha = max(best, key=best.__getitem__)
        paper = "0.625" if name == "linear" else "0.823 (quadratic RankSVM)"
        rows.append({"features": name, "alpha": alpha, "WMW": f"{best[alpha]:.3f}", "paper": paper})
    return rows
