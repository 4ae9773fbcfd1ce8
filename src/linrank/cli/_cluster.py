"""`linrank train --scheduler`: on a Dask cluster, or on one of this machine's processes."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from .._errors import ClusterError, ParameterError
from .._threads import count_threads
from ..rankers.linear import LinearRanker
from ._files import names_of, source_of
from ._loaded import Loaded
from ._options import Sources
from ._scheduler import LOCAL, OPTION
from ._trainer import Trainer, reading_policy

#: Seconds for a scheduler to answer.
SOON = 30


def fit_on(trainer: Trainer, data: str, scheduler: str) -> tuple[Any, dict[str, Any]]:
    """The ranker fitted on a cluster, and what was counted."""
    _refuse(trainer, data)
    from ..data.scan import Scan

    files = Sources.of(tuple(name if "://" in name else os.path.abspath(name) for name in names_of(data)))
    scan = Scan(source_of(files, trainer.reading, reading_policy(trainer.parameters)))
    more = {} if trainer.source.start is None else {"start": Loaded.of(trainer.source.start).ranker()}
    with _client(scheduler, trainer.reading.jobs) as client:
        ranker = trainer.ranker().set_params(n_jobs=None).fit(scan, client=client, **more)
    trainer.names = None if not hasattr(ranker, "feature_names_in_") else ranker.feature_names_in_.tolist()
    facts = {"rows": ranker.n_rows_, "features": ranker.n_features_in_, "queries": ranker.n_queries_}
    return ranker, {**facts, "pairs": ranker.n_pairs_, "queries_without_pairs": ranker._queries_without_pairs}


def _refuse(trainer: Trainer, data: str) -> None:
    source = trainer.source
    for given, name in ((source.pairs, "--pairs"), (source.query_weights, "--query-weights")):
        if given is not None:
            raise click.UsageError(f"{name} is for data in memory: leave it out, or leave out {OPTION}.")
    if trainer.sgd:
        raise click.UsageError(f"{OPTION} is for the exact solvers: leave it out, or choose another --solver.")
    if not isinstance(trainer.ranker(), LinearRanker):
        raise click.UsageError(f"{OPTION} is not for the papers' systems: leave it out, or leave out --method.")
    if data == "-":
        raise click.UsageError(f"Standard input cannot be read on workers: write it to a file, or leave out {OPTION}.")


@contextmanager
def _client(scheduler: str, jobs: int | None) -> Iterator[Any]:
    """A client of the cluster; one of this machine ends with it."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ParameterError(f'{OPTION} needs dask: install "linrank[dask]".') from None
    if scheduler != LOCAL:
        try:
            client = Client(scheduler, timeout=SOON)
        except (OSError, TimeoutError, ValueError) as error:
            text = " ".join(str(error).split())
            raise ClusterError(f"There is no scheduler at {scheduler} ({text}): check its address.") from None
        with client:
            yield client
        return
    n = count_threads(-1 if jobs is None else jobs)
    with (
        LocalCluster(n_workers=n, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        client.register_plugin(_shield())
        yield client


def _shield() -> Any:
    """Workers of this machine do not hear the terminal's Ctrl-C: it is for this process to end them."""
    from distributed import WorkerPlugin

    class Shield(WorkerPlugin):
        name = "linrank-shield"

        def setup(self, worker: Any) -> None:
            signal.signal(signal.SIGINT, signal.SIG_IGN)

    return Shield()
