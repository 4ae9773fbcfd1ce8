"""Line search in score space, shared by the solvers."""

from __future__ import annotations

import math

import numpy as np

from ..objective import LEAST, Line, Segment, Trial

#: The search ends where the slope has fallen to this part of its start, or after so many evaluations.
FLAT = 0.3
MAX_TRIALS = 12
#: The same as long as none of them descends: a direction may be good for a very short step only.
MAX_ASCENTS = 60


def search(line: Line, first: float, flat: float | None = None) -> Trial:
    """Find about where the slope on the line changes sign: secant steps within a bracket, one or two as a rule.

    Starts at `first` and ends where the slope is `flat` (or FLAT) times that at the start; a line that does not
    descend is evaluated at 1.
    """
    flat = FLAT if flat is None else flat
    start, slope_0 = line.start.value, line.slope
    if slope_0 >= 0:
        return line.at(1.0)
    low, slope_low, high, slope_high = 0.0, slope_0, np.inf, np.inf
    t, best, beyond, moved = first, None, None, ""
    for n in range(MAX_ASCENTS):
        if n >= MAX_TRIALS and best is not None and best.value < start:
            break
        trial = line.at(t)
        if not (math.isfinite(trial.value) and math.isfinite(trial.slope) and trial.risk >= -LEAST * start):
            high, slope_high, t = t, np.inf, low + 0.5 * (t - low)  # too far: overflow, or nothing left but rounding
            beyond = trial
            continue
        if best is None or not best.value <= trial.value:
            best = trial
        if best.value < start and abs(best.slope) <= flat * abs(slope_0):
            break
        # An end of the bracket that stays put twice counts half (the Illinois rule), or it would draw all trials to it.
        if trial.slope < 0:
            slope_high *= 0.5 if moved == "low" else 1.0
            low, slope_low, moved = t, trial.slope, "low"
        else:
            slope_low *= 0.5 if moved == "high" else 1.0
            high, slope_high, moved = t, trial.slope, "high"
        if high == np.inf:
            t = 2.0 * t
        elif slope_high == np.inf:
            t = low + 0.5 * (high - low)
        else:
            t = low + (high - low) * min(max(-slope_low / (slope_high - slope_low), 0.05), 0.95)
    found = best or beyond
    assert found is not None
    return found


#: Nocedal and Wright's condition on the slope for conjugate gradients, their chapter 5.
FLAT_SLOPE = 0.1


def search_slopes(line: Line, first: float) -> Trial:
    """Where the slope is FLAT_SLOPE times that at the start: doubling, then secants within a bracket; no values.

    RankNCG's, section 4, whose method does not evaluate its likelihood: the slope increases along the line, so its sign
    says on which side of the minimum a trial is.
    """
    low, slope_low, high, slope_high = 0.0, line.slope, np.inf, np.inf
    t, trial = first, line.at(first)
    for _ in range(MAX_ASCENTS - 1):
        if abs(trial.slope) <= FLAT_SLOPE * abs(line.slope):
            break
        if trial.slope < 0:
            low, slope_low = t, trial.slope
        else:  # or not a number: too far
            high, slope_high = t, trial.slope
        part = -slope_low / (slope_high - slope_low) if np.isfinite(slope_high) else 0.5
        t = 2.0 * t if high == np.inf else low + (high - low) * min(max(part, 0.1), 0.9)
        trial = line.at(t)
    return trial


def search_segment(line: Segment) -> Trial:
    """About where a segment is lowest: its end where it falls as far as there, else by secants on its slopes.

    A convex function falls from its start to wherever its slope is not above 0, so values are compared but to within
    rounding: at the end of a fit that tells no two of them apart, and slopes still do.
    """
    highest = line.start.value + line.start.rounding
    low, slope_low, high, slope_high = 0.0, line.slope, np.inf, np.inf
    t, best, moved = 1.0, None, ""
    for n in range(MAX_ASCENTS):
        trial = line.at(t)
        known = math.isfinite(trial.value) and math.isfinite(trial.slope)
        if known and (best is None or trial.value <= best.value):
            best = trial
        flat = abs(trial.slope) <= FLAT * abs(line.slope) and trial.value <= highest
        if known and (flat or (t == 1.0 and trial.slope < 0.0)):
            return trial
        if n >= MAX_TRIALS and low > 0.0:
            break
        if known and trial.slope < 0.0:
            slope_high *= 0.5 if moved == "low" else 1.0
            low, slope_low, moved = t, trial.slope, "low"
        else:  # or not a number: too far
            slope_low *= 0.5 if moved == "high" else 1.0
            high, slope_high, moved = t, trial.slope if known else np.inf, "high"
        part = -slope_low / (slope_high - slope_low) if np.isfinite(slope_high) else 0.5
        t = low + (high - low) * min(max(part, 0.05), 0.95)
    return best or trial
