"""Ctrl-C that is not lost.

An extension module that is interrupted while it is imported may say something else (``ImportError: initialization
failed``), and what is raised within a callback of C is printed and forgotten.
"""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from types import FrameType, TracebackType
from typing import Any

AGAIN = 0.05  # seconds after which a lost interrupt is sent again: out of the callback that lost it


def _send() -> None:
    """Interrupt the main thread, also where it waits for the system."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        _thread.interrupt_main()


class Listener:
    """A context manager that remembers whether Ctrl-C was heard, and sends it again where it was lost."""

    def __init__(self) -> None:
        self.heard = False
        self._listens = False

    def __enter__(self) -> Listener:
        main = threading.current_thread() is threading.main_thread()
        self._listens = main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._listens:
            self._hook, sys.unraisablehook = sys.unraisablehook, self._lost
            signal.signal(signal.SIGINT, self._hear)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._listens:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            sys.unraisablehook = self._hook

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self.heard = True
        raise KeyboardInterrupt

    def _lost(self, what: Any) -> None:
        if what.exc_type is not KeyboardInterrupt:
            self._hook(what)
            return
        timer = threading.Timer(AGAIN, _send)
        timer.daemon = True
        timer.start()
