"""One pass of stochastic steps over files, or an exact fit from disk: seconds, and how well unseen queries are ranked.

Each runs in a process of its own that begins with the files alone. The exact fit reads them into the cache first;
`SGDRanker.fit_stream` needs none. ``LINRANK_BIG`` names a folder with 10 GB of room; about three minutes.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measure import quick
from questions._disk import forget, in_process
from questions.disk import TEMPLATE, write_parquet
from results import FIT, STOCHASTIC, report

SOURCES = (*FIT, *STOCHASTIC, "io/**/*.py", "data/mapped.py", "data/scan.py")

ROWS, FEATURES = (600_000, 6_000_000), 200
WAYS = {"exact": 0, "stochastic, 1 pass": 1, "stochastic, 3 passes": 3}

CHILD = """
import json, sys, time
import linrank

train, test, cache, passes = *sys.argv[1:4], int(sys.argv[4])
small = linrank.scan(test, dtype="float32", cache=cache + "-test", n_jobs=2)
held = small.load()
few = held.rows(0, 2000)
linrank.LinearRanker(n_jobs=2).fit(few)  # compiled and loaded
linrank.SGDRanker(random_state=0).fit_stream(few)
scan = linrank.scan(train, dtype="float32", cache=cache, n_jobs=2)
begin = time.perf_counter()
if passes:
    reading = 0.0
    ranker = linrank.SGDRanker(random_state=0).fit_stream(scan, passes=passes)
else:
    rows = scan.X.shape[0]
    reading = time.perf_counter() - begin
    ranker = linrank.LinearRanker(n_jobs=2).fit(scan)
seconds = time.perf_counter() - begin
scores = ranker.predict(held.X)
print(json.dumps({
    "s to the cache": reading,
    "seconds": seconds,
    "pairwise accuracy": linrank.metrics.pairwise_accuracy(held.y, scores, held.qid),
    "ndcg@10": linrank.metrics.ndcg(held.y - held.y.min(), scores, held.qid, k=10),
}))
"""


def answers(m: int) -> Iterator[dict[str, Any]]:
    """Rows to train on in files of Parquet, and one file more to judge by."""
    with tempfile.TemporaryDirectory(prefix="linrank-stream-", dir=os.environ.get("LINRANK_BIG")) as place:
        train, test = Path(place) / "train", Path(place) / "test"
        for folder in (train, test):
            folder.mkdir()
        write_parquet(train, m + 10 * TEMPLATE, FEATURES)
        shutil.move(sorted(train.iterdir())[-1], test)
        for way, passes in list(WAYS.items())[: 2 if quick() else None]:
            forget(sorted(train.iterdir()))
            cache = Path(place) / f"cache-{passes}"  # of its own: a stream would read from one that is there
            found = in_process(CHILD, train, test, cache, passes)
            shutil.rmtree(cache, ignore_errors=True)
            yield {"rows": m, "features": FEATURES, "way": way, **found}


def main() -> None:
    report("disk_stream", [row for m in ((20_000,) if quick() else ROWS) for row in answers(m)])
