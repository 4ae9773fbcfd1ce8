"""Work ahead of whoever asks for its answers, by a bounded number of steps and in order."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Generic, TypeVar

from .._memory import check_room_for
from .._threads import raise_interrupt

Item = TypeVar("Item")
Answer = TypeVar("Answer")

DEPTH = 2  # items made ahead


def in_order(function: Callable[[Item], Answer], items: Iterable[Item], n_threads: int) -> Iterator[Answer]:
    """The function's answers, computed by threads; no more items are taken than threads can work on, and one.

    One thread is not the caller's either: that one stays free to take Ctrl-C.
    """
    workers = _Workers(function, n_threads)
    waiting: deque[_Answers] = deque()
    try:
        workers.start()
        for item in items:
            waiting.append(workers.submit(item))
            if len(waiting) > n_threads:
                yield _answer(waiting.popleft())
        while waiting:
            yield _answer(waiting.popleft())
    except RuntimeError as error:
        raise_interrupt(error)
        raise
    finally:
        workers.stop()


_Answers = queue.SimpleQueue[Any]  # of one answer: (answer,), or an error


def _answer(answers: _Answers) -> Any:
    found = answers.get()
    if isinstance(found, BaseException):
        raise found
    return found[0]


class _Workers:
    """Threads that answer. Only simple queues, as in `_Maker`: `concurrent.futures` waits for locks of Python's own."""

    def __init__(self, function: Callable[[Any], Any], n_threads: int) -> None:
        self._function, self._wanted = function, True
        self._work: queue.SimpleQueue[tuple[Any, _Answers] | None] = queue.SimpleQueue()
        names = [f"linrank-read_{k}" for k in range(n_threads)]
        self._threads = [threading.Thread(target=self._run, name=name, daemon=True) for name in names]

    def start(self) -> None:
        """Start the threads."""
        check_room_for(len(self._threads))
        for thread in self._threads:
            thread.start()

    def submit(self, item: Any) -> _Answers:
        """Have an item worked on."""
        answers: _Answers = queue.SimpleQueue()
        self._work.put((item, answers))
        return answers

    def _run(self) -> None:
        while (work := self._work.get()) is not None and self._wanted:
            item, answers = work
            try:
                answers.put((self._function(item),))
            except BaseException as error:
                answers.put(error)

    def stop(self) -> None:
        """Let the threads end after what they are doing; nobody waits for that."""
        self._wanted = False
        for _ in self._threads:
            self._work.put(None)


@contextmanager
def ahead(items: Iterator[Item], depth: int = DEPTH) -> Iterator[Iterator[Item]]:
    """The items, made by a thread of their own up to `depth` ahead. The thread has ended when the context is left."""
    maker = _Maker(items, depth)
    check_room_for(1)
    try:
        maker.thread.start()
        yield maker.taken()
    except RuntimeError as error:
        raise_interrupt(error)
        raise
    finally:
        maker.stop()


class _Maker(Generic[Item]):
    """A thread that makes items, and what it has made: items, an error to raise where they are wanted, None at last.

    Only simple queues, which are not written in Python: Ctrl-C in the midst of a `queue.Queue` may leave it locked.
    """

    def __init__(self, items: Iterator[Item], depth: int) -> None:
        self._items, self._wanted = items, True
        self._made: queue.SimpleQueue[tuple[Item] | BaseException | None] = queue.SimpleQueue()
        self._room: queue.SimpleQueue[None] = queue.SimpleQueue()
        for _ in range(depth):
            self._room.put(None)
        self.thread = threading.Thread(target=self._make, name="linrank-ahead", daemon=True)

    def _make(self) -> None:
        try:
            for item in self._items:
                self._room.get()
                if not self._wanted:
                    return
                self._made.put((item,))
        except BaseException as error:
            self._made.put(error)
        else:
            self._made.put(None)

    def taken(self) -> Iterator[Item]:
        """The items in order."""
        while (made := self._made.get()) is not None:
            if isinstance(made, BaseException):
                raise made
            self._room.put(None)
            yield made[0]

    def stop(self) -> None:
        """End the thread, whatever it is doing."""
        self._wanted = False
        self._room.put(None)
        with suppress(RuntimeError):  # Ctrl-C may have come before the thread
            self.thread.join()
