"""Fast erfc summation against direct summation: RankNCG's figures 4 and 5."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import erfc

from linrank.kernels.erfc import direct_erfc
from linrank.summation import erfc_sums, parameters
from measure import best_times, exponent, few, quick
from results import report

SOURCES = ("kernels/erfc.py", "summation.py")

#: Targets at which the direct method is timed beyond 3,200 points, and scaled up, as in the paper.
PART = 100


def main() -> None:
    report("erfc_series", [series_error(p) for p in (4, 6, 8, 10, 12, 16, 20)])
    report("erfc_accuracy", [accuracy(eps) for eps in few((1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12))])
    sizes = few([100, 800, 3_200, 12_800, 51_200, 204_800, 1_000_000, 10_000_000], 3)
    rows = [growth(n) for n in sizes]
    report("erfc_growth", rows)
    large = [(n, row) for n, row in zip(sizes, rows, strict=True) if quick() or n >= 12_800]
    fast = exponent([n for n, _ in large], [row["fast s"] for _, row in large])
    direct = exponent([n for n, _ in large], [row["direct s"] for _, row in large])
    report("erfc_exponents", [{"fast": fast, "direct": direct}])


def series_error(p: int) -> dict[str, Any]:
    """Figure 4: the truncated series for |z| <= 4, with the best of the h that its bound allows."""
    z = np.linspace(-4, 4, 4001)
    n = np.arange(1, 2 * p, 2)
    error = min(
        np.abs(
            1 - 4 / np.pi * (np.exp(-((n * h) ** 2)) / n * np.sin(2 * h * np.outer(z, n))).sum(axis=1) - erfc(z)
        ).max()
        for h in np.linspace(0.08, 0.35, 60)
    )
    return {"p": p, "largest error": float(error)}


def problem(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.standard_normal(n), rng.standard_normal(n), np.ones(n)


def accuracy(eps: float) -> dict[str, Any]:
    """Figure 5 (c) and (d): 3,000 points."""
    y, z, q = problem(3_000)
    out = np.empty(y.size)
    times = best_times({"fast": lambda: erfc_sums(y, z, q, eps), "direct": lambda: direct_erfc(y, z, q, out)}, 3)
    error = np.abs(erfc_sums(y, z, q, eps) - out).max() / q.sum()
    return {"eps": eps, "p": parameters(eps).p, "error": float(error), "direct / fast": times["direct"] / times["fast"]}


def growth(n: int) -> dict[str, Any]:
    """Figure 5 (a) and (b): eps = 1e-6."""
    y, z, q = problem(n)
    part = y if n <= 3_200 else y[:PART]
    out = np.empty(part.size)
    runs = {"fast": lambda: erfc_sums(y, z, q, 1e-6), "direct": lambda: direct_erfc(part, z, q, out)}
    times = best_times(runs, 5 if n < 10**6 else 2)
    direct = times["direct"] * n / part.size
    error = np.abs(erfc_sums(part, z, q, 1e-6) - out).max() / q.sum()
    return {
        "points": n,
        "fast s": times["fast"],
        "direct s": direct,
        "direct / fast": direct / times["fast"],
        "error": float(error),
    }
