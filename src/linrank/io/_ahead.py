"""Work ahead of whoever asks for its answers, by a bounded number of steps and in order."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Generic, TypeVar

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
    maker = _Maker(items, depth)
    try:
        maker.thread.start()
        yield maker.taken()
    except RuntimeError as error:
        raise_interrupt(error)
        raise
    finally:
        maker.stop()


class _Maker(Generic[Item]):
    """A thread that makes items, and what it has made: items, an error to raise where they are wanted, None at last."""

    def __init__(self, items: Iterator[Item], depth: int) -> None:
        self._items, self._unwanted = items, threading.Event()
        self._made: queue.Queue[tuple[Item] | BaseException | None] = queue.Queue(depth)
        self.thread = threading.Thread(target=self._make, name="linrank-ahead", daemon=True)

    def _make(self) -> None:
        try:
            for item in self._items:
                if not self._put((item,)):
                    return
        except BaseException as error:
            self._put(error)
        else:
            self._put(None)

    def _put(self, made: tuple[Item] | BaseException | None) -> bool:
        """Wait until there is room; whether it is still wanted."""
        while not self._unwanted.is_set():
            try:
                self._made.put(made, timeout=PATIENCE)
                return True
            except queue.Full:
                pass
        return False

    def taken(self) -> Iterator[Item]:
        """The items in order."""
        while (made := self._made.get()) is not None:
            if isinstance(made, BaseException):
                raise made
            yield made[0]

    def stop(self) -> None:
        """End the thread, whatever it is doing."""
        self._unwanted.set()
        while not self._made.empty():  # so that it need not wait for room
            self._made.get_nowait()
        if self.thread.ident is not None:
            self.thread.join()
