"""What happens when a kernel is first used: it is compiled, which is shown, and kept on disk for later processes."""

from __future__ import annotations

import hashlib
import logging
import os
import sys
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba.core import event
from numba.core.caching import IndexDataCacheFile

from .._bars import Bar, is_live, screen

logger = logging.getLogger("linrank")

ONCE = "compiling once"


class Compiled(event.Listener):
    """Listens to numba: which kernels were compiled in this process, those that they call after them, and shows it."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._depth = 0  # numba holds a lock while it compiles: one thread is here at a time
        self.is_shown = True
        self._what = ONCE
        self._bar: Bar | None = None
        self._ended = 0.0

    def on_start(self, event: Any) -> None:
        """A kernel was not found on disk."""
        kernel = event.data["dispatcher"]
        if not str(kernel.py_func.__module__).startswith("linrank."):
            return
        self._depth += 1
        self.names.append(f"{kernel.py_func.__module__.rpartition('.')[2]}.{kernel.py_func.__name__}")
        if self._depth > 1 or not self.is_shown:
            return
        if self._bar is None:
            self._announce(kernel.stats.cache_path)
        if self._bar is None or time.perf_counter() - self._ended > 1.0:  # or what it tells is the time of other work
            self._bar = Bar(self._what, after=0.0)
        self._bar.note = f"kernel {len(self.names)}, {self.names[-1]}"
        screen.push(self._bar)

    def on_end(self, event: Any) -> None:
        """It is compiled now."""
        if str(event.data["dispatcher"].py_func.__module__).startswith("linrank."):
            self._depth -= 1
            if self._depth == 0 and self._bar is not None:
                screen.pop(self._bar)
                self._ended = time.perf_counter()

    def _announce(self, folder: str | None) -> None:
        """A line of its own where none can be painted, and this is the first use."""
        text = "Compiling kernels once: a first run takes some seconds more than later ones"
        if folder is None:
            text = "Compiling kernels in each process: no folder for them can be written, NUMBA_CACHE_DIR may name one"
            self._what = "compiling in each process (NUMBA_CACHE_DIR)"
        elif _holds_kernels(folder):
            text = "Compiling a kernel that was not needed before"
        logger.info(text)
        if screen.wanted and not is_live(sys.stderr) and not (folder is not None and _holds_kernels(folder)):
            screen.say(f"{text}.")


def _holds_kernels(folder: str) -> bool:
    try:
        return any(name.endswith(".nbc") for name in os.listdir(folder))
    except OSError:
        return False


class SharedFile(IndexDataCacheFile):
    """A kernel's files on disk, which processes may write at once.

    numba numbers the compiled forms of a kernel by an index, so that two processes that start together give the same
    number to different forms, and a third one runs the wrong one. Here each form has a file of its own, named by what
    it is a form of, and there is no index.
    """

    def save(self, key: Any, data: Any) -> None:
        """Keep a compiled form under its key; forms of what the sources were before go."""
        name = self._name(key)
        self._save_data(name, (key, data))
        now = name.rpartition("-")[0]
        for other in os.listdir(self._cache_path):
            if other.startswith(f"{self._base}.") and other.endswith((".nbc", ".nbi")) and not other.startswith(now):
                with suppress(OSError):
                    os.unlink(os.path.join(self._cache_path, other))

    def load(self, key: Any) -> Any:
        """The form kept under the key, or None."""
        try:
            known, data = self._load_data(self._name(key))
        except (OSError, ValueError, TypeError):
            return None
        return data if known == key else None

    @property
    def _base(self) -> str:
        return str(self._index_name.removesuffix(".nbi"))

    def _name(self, key: Any) -> str:
        """By the sources' state, then by the key."""
        return f"{self._base}.{_digest((self._version, self._source_stamp), 8)}-{_digest(key, 16)}.nbc"


def _digest(value: Any, size: int) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()[:size]


def share(kernel: Any) -> None:
    """Keep a kernel's forms in a `SharedFile`, and forget them when any file of kernels changes.

    numba itself looks at the kernel's own file alone, not at those of the helpers that it was compiled with.
    """
    try:
        held, impl = kernel._cache, kernel._cache._impl
        held._cache_file = SharedFile(held._cache_path, impl.filename_base, (impl.locator.get_source_stamp(), _stamp()))
    except AttributeError:  # numba keeps kernels in another way than up to now: as it does
        logger.debug("numba's cache has changed: it is used as it is")


def folder() -> str | None:
    """Where kernels are kept; None where no folder can be written."""
    from .pairs import pair_weights

    found: str | None = pair_weights.stats.cache_path  # type: ignore[attr-defined]
    return found


@cache
def _stamp() -> tuple[tuple[str, float, int], ...]:
    """Times and sizes of all files of kernels."""
    files = sorted(Path(__file__).parent.rglob("*.py"))
    return tuple((file.name, file.stat().st_mtime, file.stat().st_size) for file in files)


compiled = Compiled()
event.register("numba:compile", compiled)
