"""How two revisions are timed and judged: in turns, the best counts, and what is far off is measured again.

Nothing here knows what is timed: `measure(row, turns)` gives the best seconds of the old and of the new revision.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

#: A row that is off by more is measured again with so many times the turns before it counts. It is less than what is
#: allowed, so that noise in the first measurement does not hide a row that is slower.
OFF, AGAIN = 0.07, 3
#: The new revision may be slower by so much in the geometric mean, and in a row.
MEAN, ROW = 0.03, 0.10

Measure = Callable[[str, int], tuple[float, float]]


@dataclass(frozen=True)
class Timed:
    """A row's best seconds by each revision."""

    row: str
    old: float
    new: float
    again: bool = False  # whether it was measured again

    @property
    def ratio(self) -> float:
        """New over old: above 1 is slower."""
        return self.new / self.old


def in_turns(old: Callable[[], float], new: Callable[[], float], turns: int) -> tuple[float, float]:
    """Best of so many turns of each, in the order old new new old: neither always follows the other."""
    best_old = best_new = np.inf
    for turn in range(turns):
        if turn % 2 == 0:
            best_old = min(best_old, old())
            best_new = min(best_new, new())
        else:
            best_new = min(best_new, new())
            best_old = min(best_old, old())
    return best_old, best_new


def time_row(row: str, measure: Measure, turns: int) -> Timed:
    """Measure a row, and once more with more turns if it is far off."""
    first = Timed(row, *measure(row, turns))
    if abs(first.ratio - 1.0) <= OFF:
        return first
    return Timed(row, *measure(row, AGAIN * turns), again=True)


def geometric_mean(timed: list[Timed]) -> float:
    """Of the ratios new over old; 1 without any."""
    return float(np.exp(np.mean([np.log(one.ratio) for one in timed]))) if timed else 1.0


def slower(timed: list[Timed]) -> list[str]:
    """Why the new revision is too slow; nothing if it is not."""
    reasons = [f"{one.row}: {one.ratio - 1:+.1%}" for one in timed if one.ratio > 1 + ROW]
    mean = geometric_mean(timed)
    return reasons + ([f"geometric mean: {mean - 1:+.1%}"] if mean > 1 + MEAN else [])
