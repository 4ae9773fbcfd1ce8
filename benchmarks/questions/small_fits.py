"""Small fits, as of one model a user or a thousand bootstraps: 50 rows of 10 features, beside scikit-learn's Ridge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas
import scipy.sparse
from sklearn.linear_model import Ridge

from linrank import LinearRanker
from linrank.testing import make_ranking
from measure import best_times, quick
from results import report

TIMES = 10 if quick() else 200


def main() -> None:
    X, y, qid = make_ranking(50, 10, 5, 4)
    ranker, ridge, few = LinearRanker().fit(X, y, qid), Ridge().fit(X, y), X[:10].copy()
    frame, sparse = pandas.DataFrame(X, columns=[f"c{j}" for j in range(10)]), scipy.sparse.csr_array(X * (X > 0.0))
    named, ridge_named = LinearRanker().fit(frame, y, qid), Ridge().fit(frame, y)
    few_named, few_sparse = frame.iloc[:10], sparse[:10]
    contests: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "50 x 10 fit, 5 queries": (lambda: LinearRanker().fit(X, y, qid), lambda: Ridge().fit(X, y)),
        "50 x 10 fit, one query": (lambda: LinearRanker().fit(X, y), lambda: Ridge().fit(X, y)),
        "50 x 10 fit, a dataframe": (lambda: LinearRanker().fit(frame, y, qid), lambda: Ridge().fit(frame, y)),
        "predict ten rows": (lambda: ranker.predict(few), lambda: ridge.predict(few)),
        "predict ten rows, a dataframe": (lambda: named.predict(few_named), lambda: ridge_named.predict(few_named)),
        "predict ten rows, CSR": (lambda: ranker.predict(few_sparse), lambda: ridge.predict(few_sparse)),
    }
    rows = []
    for what, (ours, theirs) in contests.items():
        times = best_times({"linrank": _many(ours), "Ridge": _many(theirs)}, 15)
        micro = {f"{who} us": 1e6 * t / TIMES for who, t in times.items()}
        rows.append({"what": what, **micro, "linrank / Ridge": times["linrank"] / times["Ridge"]})
    report("small_fits", rows)


def _many(run: Callable[[], Any]) -> Callable[[], None]:
    """The same some times over: one alone is shorter than the clock is fine."""

    def repeated() -> None:
        for _ in range(TIMES):
            run()

    return repeated
