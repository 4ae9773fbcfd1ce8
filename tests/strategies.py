"""Generated ranking problems: ties, scores one margin apart within a few ulp, offsets, empty and one-row queries."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st


@dataclass
class Problem:
    y: np.ndarray
    qid: np.ndarray
    scores: np.ndarray
    options: dict[str, Any] = field(default_factory=dict)  # of RankingData and enumerate_pairs alike


def near_margin(rng: np.random.Generator, n: int) -> np.ndarray:
    """Scores that are multiples of 1, moved by at most two ulp."""
    s = rng.integers(-2, 3, n).astype(float) + rng.choice([0.0, 0.1, 1 / 3])
    for _ in range(2):
        s = np.where(rng.random(n) < 0.5, np.nextafter(s, rng.choice([-np.inf, np.inf])), s)
    return s


SCORES = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "wide": lambda rng, n: 10 * rng.standard_normal(n),
    "tied": lambda rng, n: rng.integers(0, 3, n) / 2.0,
    "equal": lambda rng, n: np.zeros(n),
    "margin": near_margin,
    "offset": lambda rng, n: 1e6 + rng.standard_normal(n),
    "tiny": lambda rng, n: 1e-300 * rng.standard_normal(n),
    "float32": lambda rng, n: rng.standard_normal(n).astype(np.float32).astype(np.float64),
}
LABELS = {
    "real": lambda rng, n: rng.standard_normal(n),
    "few": lambda rng, n: rng.integers(0, 4, n).astype(float),
    "two": lambda rng, n: rng.integers(0, 2, n).astype(float),
    "negative": lambda rng, n: -rng.integers(0, 3, n) / 7.0,
    "one": lambda rng, n: np.ones(n),
}


@st.composite
def problems(draw: st.DrawFn, max_rows: int = 40, options: bool = True) -> Problem:
    """A third has a handful of rows: of integers from 1 up hypothesis draws 1 so often that half would have no pair."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.sampled_from([1, 2, 3, 4, 5]) | st.integers(6, max_rows) | st.integers(7, max_rows))
    y = LABELS[draw(st.sampled_from(sorted(LABELS)))](rng, n)
    qid = rng.integers(0, draw(st.integers(1, 6)), n)
    problem = Problem(y, qid, SCORES[draw(st.sampled_from(sorted(SCORES)))](rng, n))
    if options:
        _add_options(draw, rng, problem)
    return problem


def graph(rng: np.random.Generator, y: np.ndarray) -> list[tuple[float, ...]]:
    """Edges between levels of y, and to one that does not occur: cycles, repetitions, weights of 0."""
    levels = [*np.unique(y).tolist(), 1e9]
    ends = rng.integers(0, len(levels), (8, 2))
    weights = rng.choice([0.0, 0.5, 1.0, 2.0], 8)
    edges = [(levels[a], levels[b], w) for (a, b), w in zip(ends.tolist(), weights.tolist(), strict=True) if a != b]
    return edges or [(levels[0], 1e9, 1.0)]


def _add_options(draw: st.DrawFn, rng: np.random.Generator, problem: Problem) -> None:
    n, options = problem.y.size, problem.options
    options["preferences"] = draw(st.sampled_from(["full", "chain", "graph"]))
    if options["preferences"] == "graph":
        options["preferences"] = graph(rng, problem.y)
    options["query_weighting"] = draw(st.sampled_from(["pairs", "queries"]))
    if draw(st.booleans()):
        options["sample_weight"] = rng.choice([0.0, 0.5, 1.0, 3.0], n)
    if draw(st.booleans()):
        weights = rng.choice([0.0, 0.25, 1.0, 2.0], 6)
        options["query_weight"] = {q: weights[q] for q in range(6)}
    if draw(st.booleans()):
        a, b = rng.integers(0, n, (2, 12))
        fits = (a != b) & (problem.qid[a] == problem.qid[b])
        options["pairs"] = np.column_stack([a, b, rng.choice([0.0, 0.5, 1.0], 12)])[fits]
