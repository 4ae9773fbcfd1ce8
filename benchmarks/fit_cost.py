"""Fit the constants of engines/_cost.py to one half of results/hessian.csv, and print them.

Constants are fitted to the logarithms of measured times, those of the ratio counting most. By how much they are off on
the other half is printed by `run.py hessian`.
"""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
from scipy.optimize import least_squares

import results
from linrank import RankingData
from linrank.engines._cost import Tuning, hessian_cost, product_time
from questions.hessian import LOSSES, Shape


def cases(half: str) -> list[tuple[RankingData, str, float, float]]:
    """Data, loss and measured nanoseconds of a product and of a Hessian."""
    found = []
    for row in results.table("hessian", half=half):
        length, rows, d = (int(row[name]) for name in ("rows a ranking", "rows", "features"))
        shape = Shape(length, row["levels"], rows, d, *row["X"].split())
        product = 1e6 * float(row["product ms"])
        found.append((shape.make(np.zeros), row["loss"], product, product * float(row["cost"])))
    return found


def main() -> None:
    names, start = zip(*asdict(Tuning()).items(), strict=True)
    given = cases("fitted")

    def residuals(x: np.ndarray) -> np.ndarray:
        tuning, off = Tuning(**dict(zip(names, np.exp(x).tolist(), strict=True))), []
        for data, name, product, hessian in given:
            modelled = product_time(data, LOSSES[name], tuning)
            a = np.log(modelled / product)
            b = np.log(modelled * hessian_cost(data, LOSSES[name], tuning) / hessian)
            off += [0.5 * a, 0.5 * b, 2.0 * (b - a)]
        return np.array(off)

    found = least_squares(residuals, np.log(start), loss="soft_l1", max_nfev=40)
    for name, value in zip(names, np.exp(found.x), strict=True):
        print(f"{name}: float = {value:.3g}")


if __name__ == "__main__":
    main()
