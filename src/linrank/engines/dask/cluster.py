"""A cluster as the engine sees it: tasks, their answers, and a clock of its own that ends waiting in vain."""

from __future__ import annotations

import asyncio
import builtins
import pickle
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from types import FunctionType
from typing import Any

from ..._errors import ClusterError, DataError, LinrankError, ParameterError
from .config import Dask
from .shard import Failure, give_up

#: Seconds between looks at the client, and those that the scheduler has to answer small questions.
LOOK, SOON = 0.5, 5.0


class Cluster:
    """Submits tasks and waits for them, no longer than there is hope."""

    def __init__(self, config: Dask) -> None:

        self.client, self.patience = config.client, float(config.patience)
        self.name = uuid.uuid4().hex
        self._signs: dict[str, tuple[Any, float]] = {}  # of life: what a worker last said, and when that changed
        self._empty: float | None = None  # since when there has been no worker that works
        self._deaf: float | None = None  # since when the scheduler has not answered
        self._checked: set[str] = set()  # workers whose versions are known
        self.under_way: list[Any] = []  # tasks that are waited for
        self._made: list[Any] = []  # tasks that workers may hold the results of
        self.say: Callable[[int, int], None] = lambda done, total: None  # how far tasks have come

    def submit(self, function: Callable[..., Any], *arguments: Any, on: Iterable[str] = ()) -> Any:
        """A task with a key of its own; `on` are the workers that it should run on, if they are still there."""
        key = f"linrank-{function.__name__}-{uuid.uuid4().hex}"
        where = list(on)
        aim: dict[str, Any] = {"workers": where, "allow_other_workers": True} if where else {}
        try:
            self._made.append(self.client.submit(function, *arguments, key=key, pure=False, **aim))
        except Exception as error:
            raise self._named(error) from error
        return self._made[-1]

    def let_go(self, kept: Sequence[Any]) -> None:
        """Tell workers to forget all results but those that are kept; at once, not when garbage is collected."""
        keys = {future.key for future in kept}
        for future in self._made:
            if future.key not in keys:
                future.release()
        self._made = []

    def holders(self, futures: Sequence[Any]) -> list[tuple[str, ...]]:
        """The workers that hold each of these."""
        found = self._ask(lambda: self.client.scheduler.who_has(keys=[future.key for future in futures]))
        return [tuple(found.get(future.key, ())) for future in futures]

    def compute(self, delayed: Sequence[Any]) -> list[Any]:
        """Tasks for delayed values of a collection, whose own tasks go before them."""
        try:
            made = list(self.client.compute(list(delayed)))
        except Exception as error:
            raise self._named(error) from error
        self._made += made
        return made

    def gather(self, futures: Sequence[Any]) -> list[Any]:
        """What the tasks answer; an error of one is raised, and so is the want of a cluster."""
        self.wait(futures)
        return [self._opened(answer) for answer in self._bring(futures)]

    def wait(self, futures: Sequence[Any]) -> None:
        """Until all tasks are done, or there is no more hope."""
        from distributed import wait

        self.under_way = list(futures)
        self._signs.clear()
        self._empty = self._deaf = None
        looked = time.monotonic()
        while True:
            try:
                wait(self.under_way, timeout=LOOK)
                break
            except TimeoutError:
                self.say(sum(future.done() for future in futures), len(futures))
                self._check_client()
                if time.monotonic() - looked >= min(SOON, self.patience / 8):
                    self._look()
                    looked = time.monotonic()
            except Exception as error:
                raise self._named(error) from error
        self.under_way = []
        for future in futures:
            if future.status == "error":
                failed = future.exception(timeout=self.patience)
                raise self._named(failed) from failed

    def _bring(self, futures: Sequence[Any]) -> list[Any]:
        """The results of tasks that are done."""
        coming = asyncio.run_coroutine_threadsafe(self.client._gather(list(futures)), self.client.loop.asyncio_loop)
        try:
            while True:
                try:
                    return list(coming.result(timeout=LOOK))
                except TimeoutError:
                    if coming.done():
                        raise
                    self._look()
        except LinrankError:
            raise
        except Exception as error:
            raise self._named(error) from error
        finally:
            coming.cancel()

    @staticmethod
    def _opened(answer: Any) -> Any:
        opened = pickle.loads(answer) if isinstance(answer, bytes) else answer
        if isinstance(opened, Failure):
            opened.throw()
        return opened

    def _ask(self, question: Callable[[], Any]) -> Any:
        """A small question to the scheduler, which answers soon or not at all."""
        self._check_client()
        try:
            return self.client.sync(question, callback_timeout=max(SOON, self.patience))
        except TimeoutError:
            raise self._no_scheduler() from None
        except Exception as error:
            raise self._named(error) from error

    def workers(self) -> dict[str, Any]:
        """What the scheduler knows of its workers, by address."""
        found: dict[str, Any] = self._ask(lambda: self.client.scheduler.identity(n_workers=-1))["workers"]
        return found

    def _check_client(self) -> None:
        if self.client.status != "running":
            raise self._no_scheduler()

    def _no_scheduler(self) -> ClusterError:
        return ClusterError(
            f"The scheduler of the cluster is gone or does not answer (the client is {self.client.status}): start it, "
            "connect a new Client, and fit again."
        )

    def _look(self) -> None:
        """Whether there is still hope."""
        try:
            workers = self.client.sync(lambda: self.client.scheduler.identity(n_workers=-1), callback_timeout=SOON)[
                "workers"
            ]
        except Exception:
            self._check_client()
            self._deaf = self._deaf or time.monotonic()
            if time.monotonic() - self._deaf + SOON >= self.patience:
                raise self._no_scheduler() from None
            return
        self._deaf, now = None, time.monotonic()
        working = {address: told for address, told in workers.items() if told.get("status") != "paused"}
        self._empty = None if working else self._empty or now
        if self._empty is not None and now - self._empty >= self.patience - LOOK:
            what = "All workers are paused, as their memory is full" if workers else "The cluster has no worker left"
            cure = "give them more memory, or more workers" if workers else "start some"
            raise ClusterError(f"{what}, for {self.patience:g} s by now: {cure}, and fit again.")
        for address, told in workers.items():
            before = self._signs.get(address)
            if before is None or before[0] != told["last_seen"]:
                self._signs[address] = told["last_seen"], now
        silent = [a for a in workers if now - self._signs[a][1] >= self.patience - LOOK]
        if silent and (needed := self._needed(silent)):
            raise ClusterError(
                f"The worker {needed[0]} holds rows, or works on them, and has been silent for {self.patience:g} s: "
                "end it, or restart it, and fit again."
            )

    def _needed(self, silent: list[str]) -> list[str]:
        """Those of some workers that have something to do, or something that others wait for."""
        processing = self._ask(lambda: self.client.scheduler.processing(workers=silent))
        has = self._ask(lambda: self.client.scheduler.has_what(workers=silent))
        return [address for address in silent if processing.get(address) or has.get(address)]

    def _named(self, error: Exception) -> Exception:
        """Dask's errors in a sentence that names the cure."""
        kind = type(error).__name__
        if isinstance(error, LinrankError):
            return error
        if self.client.status != "running" or kind == "CommClosedError":
            return self._no_scheduler()
        if kind == "KilledWorker":
            return ClusterError(
                "Several workers died over the same task, most likely for want of memory: give them more, or split the "
                "data into smaller partitions."
            )
        if "Cancelled" in kind:
            return ClusterError("The tasks of this fit, or what they need, were cancelled by somebody else: fit again.")
        if kind in ("NoValidWorkerError", "NoWorkerError"):
            return ClusterError("The cluster has no worker left: start some, and fit again.")
        text = " ".join(str(error).split())
        return DataError(f"Some rows cannot be read on the cluster ({kind}: {text}): check where they come from.")

    def check_workers(self) -> dict[str, Any]:
        """All workers, each with this linrank: asked before anything is sent that they could not read."""
        began = time.monotonic()
        while not (workers := self.workers()):
            if time.monotonic() - began >= self.patience:
                raise ClusterError(f"The cluster has had no worker for {self.patience:g} s: start some, and fit again.")
            time.sleep(0.1)
        if set(workers) <= self._checked:
            return workers
        try:
            asked = _by_value(_versions)
            told = self.client.sync(lambda: self.client._run(asked, on_error="ignore"), callback_timeout=self.patience)
            scheduler = self.client.sync(lambda: self.client._run_on_scheduler(asked), callback_timeout=self.patience)
        except TimeoutError:
            raise ClusterError(
                f"Some of the {len(workers)} workers have been silent for {self.patience:g} s: end them, or restart "
                "them, and fit again."
            ) from None
        except Exception as error:
            raise self._named(error) from error
        _compare("The scheduler", scheduler)  # it reads tasks as well
        for address, there in told.items():
            _compare(f"The worker {address}", there)
            self._checked.add(address)
        return workers

    def stop(self, futures: Iterable[Any]) -> None:
        """Give up tasks: those that wait are forgotten, and those that run give up between blocks."""
        if self.client.status != "running":
            return
        with suppress(Exception):
            self.client.sync(lambda: self.client._run(give_up, self.name, on_error="ignore"), callback_timeout=SOON)
        with suppress(Exception):
            self.client.sync(lambda: self.client._cancel(list(futures), force=True), callback_timeout=SOON)


def _versions() -> dict[str, str | None]:
    """What must be the same everywhere: linrank, by which messages are read, and numba, by which bits are made."""
    found: dict[str, str | None] = {"linrank": None, "numba": None}
    try:
        import linrank

        found["linrank"] = linrank.__version__
        from importlib.metadata import version

        found["numba"] = version("numba")
    except Exception:
        return found
    return found


def _compare(who: str, there: dict[str, str | None]) -> None:
    """Refuse who has other versions than this process."""
    for package, version in _versions().items():
        if there[package] != version:
            has = f"has {package} {there[package]}" if there[package] else f"has no {package}"
            raise ParameterError(
                f'{who} {has}, and {version} is needed: install the same everywhere, pip install "linrank[dask]".'
            )


def _by_value(function: Any) -> Any:
    """A function that is sent with its code, and not by the name of a module that a worker may lack."""
    free = FunctionType(function.__code__, {"__name__": "__main__", "__builtins__": builtins}, function.__name__)
    free.__module__ = "__main__"
    return free
