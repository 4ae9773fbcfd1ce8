"""Work ahead of whoever asks for its answers, by a bounded number of steps and in order."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from .._threads import raise_interrupt

Item = TypeVar("Item")
Answer = TypeVar("Answer")

DEPTH = 2  # items made ahead
PATIENCE = 0.1  # seconds until a thread that waits looks whether it is still wanted


def in_order(function: Callable[[Item], Answer], items: Iterable[Item], n_threads: int) -> Iterator[Answer]:
    """The function's answers, computed by threads; no more items are taken than threads can work on, and one.

    One thread is not the caller's either: that one stays free to take Ctrl-C.
    """
    waiting: deque[Future[Answer]] = deque()
    pool = ThreadPoolExecutor(n_threads, thread_name_prefix="linrank-read")
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except RuntimeError as error:
        raise_interrupt(error)
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def ahead(items: Iterator[Item], depth: int = DEPTH) -> Iterator[Iterator[Item]]:
    """The items, made by a thread of their own up to `depth` ahead. The thread has ended when the context is left."""
    made: queue.Queue[tuple[Item | None, BaseException | None] | None] = queue.Queue(depth)
    unwanted = threading.Event()

    def put(item: tuple[Item | None, BaseException | None] | None) -> bool:
        while not unwanted.is_set():
            try:
                made.put(item, timeout=PATIENCE)
                return True
            except queue.Full:
                pass
        return False

    def make() -> None:
        try:
            for item in items:
                if not put((item, None)):
                    return
        except BaseException as error:  # raised where the items are wanted
            put((None, error))
        else:
            put(None)

    thread = threading.Thread(target=make, name="linrank-ahead", daemon=True)
    try:
        thread.start()
        yield _taken(made)
    except RuntimeError as error:
        raise_interrupt(error)
        raise
    finally:
        unwanted.set()
        while not made.empty():  # so that the thread need not wait for room
            made.get_nowait()
        if thread.ident is not None:
            thread.join()


def _taken(made: queue.Queue[tuple[Item | None, BaseException | None] | None]) -> Iterator[Item]:
    while (found := made.get()) is not None:
        item, error = found
        if error is not None:
            raise error
        assert item is not None
        yield item
