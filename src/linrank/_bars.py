"""Progress of work on standard error: one live line on a terminal, a line a while elsewhere.

A `Bar` is work of some size. Bars are pushed onto one screen, and the last one is shown. A thread paints it: work that
is in a kernel, or in somebody else's library, cannot.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import TextIO

from ._memory import check_room_for
from ._text import printable

AFTER = 1.0  # seconds before a bar is shown on a terminal
WHILE = 10.0  # seconds before the first line elsewhere; the next ones come ever more slowly, up to
MOST_WHILE = 160.0
TICK = 0.1  # seconds between two paintings
WIDEST = 24  # cells of a bar
ERASE = "\r\x1b[2K"


class Bar:
    """Work of `total` units (None: nobody knows), as a context manager.

    `after`: seconds before it is shown. `retires`: it is gone for good once anything else is shown.
    """

    def __init__(
        self,
        what: str,
        total: float | None = None,
        unit: str = "",
        *,
        after: float | None = None,
        retires: bool = False,
    ) -> None:
        self.what, self.total, self.unit = printable(what), total, unit
        self.after, self.retires = AFTER if after is None else after, retires
        self.done, self.note, self.brief = 0.0, "", ""  # what else to tell, and what of it where room is short
        self.seconds_left: float | None = None  # where somebody knows better than by proportion
        self._begin = time.perf_counter()

    def __enter__(self) -> Bar:
        screen.push(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        screen.pop(self)

    def anew(self) -> Bar:
        """The same from now on: it may have been made long before the work begins."""
        self._begin = time.perf_counter()
        return self

    def advance(self, units: float = 1.0) -> None:
        """So many units more are done."""
        self.done += units

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.perf_counter() - self._begin

    @property
    def share(self) -> float | None:
        """Of the work that is done; None where the total is not known."""
        return None if not self.total else min(1.0, max(0.0, self.done / self.total))

    def text(self, width: int, mark: str = "#") -> str:
        """One line of at most `width` cells: the bar becomes shorter, then what matters least is left out."""
        what, amount = _shortened(self.what, max(20, width // 3)), self._amount()
        rate, left, brief = self._rate(), remaining(self._left()), self.brief or self.note or amount
        for cells, facts in (
            (WIDEST, (amount, self.note, rate, left)),
            (12, (amount, self.note, rate, left)),
            (12, (brief, rate, left)),
            (12, (brief, left)),
            (8, (brief, left)),
            (0, (left or brief,)),
            (0, ()),
        ):
            line = "  ".join([what, *self._drawn(cells, mark), *(fact for fact in facts if fact)])
            if len(line) <= width:
                return line
        return line[: max(0, width)]

    def _drawn(self, cells: int, mark: str) -> list[str]:
        if self.share is None:
            return []
        full = round(cells * self.share)
        percent = f"{100 * self.share:3.0f} %"
        return [f"{mark * full}{'-' * (cells - full)} {percent}" if cells else percent]

    def _amount(self) -> str:
        if not self.unit:
            return ""
        of = "" if self.total is None else f" of {self._units(self.total)}"
        return f"{self._units(self.done)}{of} {self._word()}".rstrip()

    def _word(self) -> str:
        return "" if self.unit == "bytes" else self.unit

    def _units(self, number: float) -> str:
        return size(number) if self.unit == "bytes" else f"{number:,.0f}"

    def _rate(self) -> str:
        seconds = self.seconds
        if not self.unit or self.done <= 0 or seconds <= 0:
            return f"{seconds:.0f} s" if seconds >= 1 else ""
        rate = self.done / seconds
        if self.unit == "bytes":
            return f"{size(rate)}/s"
        return f"{rate:,.0f} {self.unit}/s" if rate >= 10 else f"{rate:.2g} {self.unit}/s"

    def _left(self) -> float | None:
        share = self.share
        if self.seconds_left is not None or not share:
            return self.seconds_left
        return self.seconds * (1.0 - share) / share


def _shortened(text: str, cells: int) -> str:
    """The text without its middle, where it is long: a file's ending tells most."""
    first = cells // 2
    return text if len(text) <= cells else f"{text[:first]}...{text[len(text) + first + 3 - cells :]}"


class Screen:
    """The bars that are under way, and what standard error shows of them.

    Nothing waits for a lock for ever: Ctrl-C may strike while it is held.
    """

    def __init__(self) -> None:
        self._bars: list[Bar] = []
        self._painted = ""  # what is on the live line
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._wanted = 0
        self._said = -MOST_WHILE

    @property
    def wanted(self) -> bool:
        """Whether anybody wants to see bars."""
        return self._wanted > 0

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show bars from here on."""
        self._wanted += 1
        try:
            yield
        finally:
            self._wanted -= 1
            self.clear()

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Show none from here on."""
        before, self._wanted = self._wanted, 0
        try:
            yield
        finally:
            self._wanted = before

    def push(self, bar: Bar) -> None:
        """Show this bar, unless a later one comes."""
        self.clear()
        self._bars.append(bar)
        if not self.wanted:
            return
        if bar.after <= 0:
            self._paint()
        if self._thread is None or not self._thread.is_alive():
            check_room_for(1)
            self._thread = threading.Thread(target=self._keep_painting, name="linrank-progress", daemon=True)
            self._thread.start()

    def pop(self, bar: Bar) -> None:
        """Forget this bar."""
        with suppress(ValueError):
            self._bars.remove(bar)
        self.clear()

    def clear(self) -> None:
        """Take the live line away, as something else is to be written there."""
        if self._bars and self._bars[0].retires:
            del self._bars[0]
        if self._painted:
            self._write(ERASE, "")

    def refresh(self) -> None:
        """Paint the live line anew, if there is one: it may tell more by now."""
        if self._painted:
            self._paint()

    def say(self, text: str) -> None:
        """A line that stays."""
        self.clear()
        print(printable(text), file=sys.stderr, flush=True)

    def _keep_painting(self) -> None:
        while self._bars and self.wanted:
            time.sleep(TICK)
            self._paint()

    def _paint(self) -> None:
        try:
            bar = self._bars[-1]
        except IndexError:
            return
        if not self.wanted:
            return
        if is_live(sys.stderr):
            if bar.seconds >= bar.after:
                text = bar.text(columns(sys.stderr) - 1, mark_of(sys.stderr))
                if text != self._painted:
                    self._write(ERASE + text, text, of=bar)
        elif self._is_due(bar):
            self._said = time.perf_counter()
            self._write(bar.text(100) + "\n", "")

    def _is_due(self, bar: Bar) -> bool:
        """Whether it is time for a line of a stream that is no terminal: the longer the work takes, the fewer."""
        since = time.perf_counter() - self._said
        return not bar.retires and bar.seconds >= WHILE and since >= min(MOST_WHILE, max(WHILE, bar.seconds / 2))

    def _write(self, text: str, painted: str, of: Bar | None = None) -> None:
        held = self._lock.acquire(timeout=1.0)
        try:
            if of is not None and of not in self._bars:  # it ended meanwhile, and its line was taken away
                return
            self._painted = painted
            with suppress(OSError, ValueError):
                sys.stderr.write(text)
                sys.stderr.flush()
        finally:
            if held:
                self._lock.release()


screen = Screen()


def is_live(stream: TextIO) -> bool:
    """Whether a line can be painted over."""
    try:
        return stream.isatty() and os.environ.get("TERM", "") != "dumb"
    except ValueError:  # closed
        return False


def columns(stream: TextIO) -> int:
    """Cells of a line."""
    told = os.environ.get("COLUMNS", "")
    if told.isdigit() and int(told) > 0:
        return int(told)
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def mark_of(stream: TextIO) -> str:
    """What a bar is made of."""
    try:
        "█".encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return "#"
    return "█"


def size(n_bytes: float) -> str:
    """Bytes for people."""
    for unit in ("bytes", "kB", "MB"):
        if n_bytes < 1000:
            return f"{n_bytes:.0f} {unit}" if unit == "bytes" else f"{n_bytes:.1f} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.1f} GB"


def remaining(seconds: float | None) -> str:
    """Time left as text."""
    if seconds is None:
        return ""
    return f"about {seconds:.0f} s left" if seconds < 120 else f"about {seconds / 60:.0f} min left"
