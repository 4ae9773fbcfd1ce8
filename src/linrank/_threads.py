"""Threads: how many, work in several of them that can be interrupted, and BLAS kept to one."""

from __future__ import annotations

import itertools
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from ._errors import ParameterError, overflow_ignored
from ._memory import check_room_for

Item = TypeVar("Item")
Answer = TypeVar("Answer")


def count_threads(n_jobs: int | None) -> int:
    """Number of threads meant by n_jobs: None is 1, negative numbers count from all cores down."""
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0:
        raise ParameterError(f"n_jobs={n_jobs!r} is not a number of threads: use None, 1, 2, ... or -1 for all.")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


class Stopped(BaseException):
    """Raised in a thread whose answer nobody waits for any more; no `except Exception` must go on in spite of it."""


class Stop:
    """Whether a thread is to give up: where its own pool, or one that this pool works for, was told so."""

    def __init__(self, outer: Stop | None = None) -> None:
        self._outer, self._event = outer, threading.Event()

    def set(self) -> None:
        """Tell it."""
        self._event.set()

    def is_set(self) -> bool:
        """Whether it was told."""
        return self._event.is_set() or (self._outer is not None and self._outer.is_set())


class _Here(threading.local):
    stop: Stop | None = None


_here = _Here()


@contextmanager
def stopped_by(stop: Stop) -> Iterator[None]:
    """Within, this thread's work gives up when it is told so."""
    before, _here.stop = _here.stop, stop
    try:
        yield
    finally:
        _here.stop = before


def stop_of_this_thread() -> Stop | None:
    """What tells this thread to give up, for threads that work for it to look at."""
    return _here.stop


def give_up_if_stopped() -> None:
    """End this thread's work if nobody waits for it; long work asks now and then."""
    if _here.stop is not None and _here.stop.is_set():
        raise Stopped


def raise_interrupt(error: RuntimeError) -> None:
    """Raise Ctrl-C again where Python took it for another error.

    Who starts a thread or waits for its answer gives a lock back and takes it again (`threading.Condition.wait`). Cut
    off in between, Python releases a lock that it does not hold, and says so instead of KeyboardInterrupt.
    """
    if isinstance(error.__context__, KeyboardInterrupt):
        raise error.__context__ from None


def map_in_threads(function: Callable[[Item], Answer], items: Iterable[Item], n_jobs: int | None) -> list[Answer]:
    """The function's answers, in order. Ctrl-C, and an error in one of the threads, are raised at once.

    What has not begun is then left out, and what runs ends when it next asks `give_up_if_stopped`. Even one item is
    worked on in a thread: this one stays free to be interrupted.
    """
    stop = Stop(_here.stop)

    def work(item: Item) -> Answer:
        _here.stop = stop
        give_up_if_stopped()
        return function(item)

    check_room_for(count_threads(n_jobs))
    pool = ThreadPoolExecutor(count_threads(n_jobs), thread_name_prefix="linrank-map")
    try:
        return [job.result() for job in [pool.submit(work, item) for item in items]]
    except BaseException as error:
        stop.set()
        if isinstance(error, RuntimeError):
            raise_interrupt(error)
        raise
    finally:
        pool.shutdown(wait=not stop.is_set(), cancel_futures=True)


class Crew:
    """Threads of a pool that help with the parts of one task, which itself runs on one of them.

    Who asks works too, and waits for those alone who have begun: so it does not matter whether any thread is idle.
    `open` is cleared where nobody waits for the answer any more.
    """

    def __init__(self, pool: ThreadPoolExecutor, n_threads: int, open: threading.Event) -> None:
        self.n_threads, self._pool, self._open = n_threads, pool, open

    def share(self, function: Callable[[Item], object], parts: Sequence[Item]) -> None:
        """Call the function with each part."""
        numbers, done = itertools.count(), [False] * len(parts)

        def work() -> None:
            with overflow_ignored():  # a thread does not inherit it
                while self._open.is_set() and (k := next(numbers)) < len(parts):
                    function(parts[k])
                    done[k] = True

        if not self._open.is_set():
            raise Stopped
        helpers = [self._pool.submit(work) for _ in range(min(self.n_threads, len(parts)) - 1)]
        try:
            work()
        finally:
            begun = [helper for helper in helpers if not helper.cancel()]
            for helper in begun:
                helper.result()
        if not all(done):  # what comes next would read memory that nobody has filled
            raise Stopped


class OneBlasThread:
    """Keeps BLAS on one thread while anybody holds it; the last one to leave restores what was before.

    Ctrl-C may strike anywhere, also in `enter` and `leave`. So `leave` may follow wherever either was cut off: its
    steps can be repeated, and what was before is noted before it is changed. A holder that is garbage has left.
    """

    def __init__(self) -> None:
        self._controller: Any = None  # made once: finding the libraries takes longer than a small fit
        self._before: list[tuple[Any, int]] | None = None  # each library's threads, while they are limited
        self._limited = False  # whether all of them are on one thread
        self._holders: dict[int, tuple[int, weakref.finalize[..., Any]]] = {}  # the thread of each, by its id
        self._lock = threading.RLock()  # taken again by the same thread: garbage is collected anywhere
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=lambda: self._lock.acquire(),
                after_in_parent=lambda: self._lock.release(),
                after_in_child=self._forked,
            )

    def enter(self, holder: Any) -> None:
        """Limit BLAS, until the holder leaves."""
        with self._lock:
            gone = weakref.finalize(holder, self._drop, id(holder))
            gone.atexit = False
            self._holders[id(holder)] = threading.get_ident(), gone
            self._limit()

    def leave(self, holder: Any) -> None:
        """Restore what was before, unless somebody else holds it; leaving twice does nothing."""
        self._drop(id(holder))

    def _drop(self, key: int) -> None:
        with self._lock:
            held = self._holders.pop(key, None)
            if not self._holders:
                self._restore()
            if held is not None:
                held[1].detach()

    def _limit(self) -> None:
        if self._limited:
            return
        if self._before is None:
            self._controller = self._controller or ThreadpoolController()
            found = self._controller.select(user_api="blas").lib_controllers
            self._before = [(library, library.get_num_threads()) for library in found]
        for library, _ in self._before:
            library.set_num_threads(1)
        self._limited = True

    def _restore(self) -> None:
        self._limited = False
        for library, n_threads in self._before or ():
            library.set_num_threads(n_threads)
        self._before = None

    def _forked(self) -> None:
        """In the child of a fork only this thread lives on: nobody else leaves, and no lock is ever released."""
        self._lock = threading.RLock()
        own = threading.get_ident()
        self._holders = {key: held for key, held in self._holders.items() if held[0] == own}
        if not self._holders:
            self._restore()


one_blas_thread = OneBlasThread()
