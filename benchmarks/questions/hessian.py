"""What an exact Hessian costs in Hessian products, beside the model of it that Newton's method goes by.

The constants of engines/_cost.py were fitted to the rows of which `half` says so, by benchmarks/fit_cost.py. Columns
that compare across machines: cost, modelled and their ratio; and of the two ways to an exact Hessian of short rankings,
where one overtakes the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from linrank import RankingData
from linrank._work import Work
from linrank.engines import LocalEngine, hessian
from linrank.losses import HuberHinge, Logistic, Loss, SquaredHinge
from measure import best_times, quick
from results import LOSS, report

SOURCES = (*LOSS, "engines/**/*.py")

LOSSES: dict[str, Loss] = {
    "squared_hinge": SquaredHinge(),
    "hinge, width 0.02": HuberHinge(0.02),
    "logistic": Logistic(),
}
FEATURES = (5, 20, 46, 136, 300, 700, 1000)
LENGTHS = (2, 10, 100, 1000, 100_000, 1_000_000)
ENTRIES, LARGEST = (1_000_000, 25_000_000), 31_000_000  # X in the cache, and in memory
IN_A_ROW = 4
LAYOUTS = (("f8", "C"), ("f4", "C"), ("f8", "F"), ("f4", "F"))


@dataclass(frozen=True)
class Shape:
    """Rankings of one length; explicit pairs where that is 2."""

    length: int
    levels: str  # "5" or "all"
    rows: int
    features: int
    dtype: str
    order: str

    def make(self, fill: Callable[[tuple[int, int]], np.ndarray] | None = None) -> RankingData:
        rng = np.random.default_rng(0)
        m, fill = self.rows, fill or rng.standard_normal
        X = np.asarray(fill((m, self.features)), dtype=self.dtype, order=self.order)
        if self.length == 2:
            winner = rng.permutation(m)
            return RankingData(X, pairs=np.column_stack([winner, (winner + rng.integers(1, m, m)) % m]))
        y = rng.integers(0, 5, m) if self.levels == "5" else rng.random(m)
        return RankingData(X, y, np.arange(m) // self.length)


def shapes() -> Iterator[Shape]:
    """The grid, without what is too large or too much alike."""
    if quick():
        yield from (Shape(n, "5", 200, d, "f8", "C") for n, d in ((2, 5), (10, 20), (100, 5)))
        return
    for n, levels, entries, d, layout in product(LENGTHS, ("5", "all"), ENTRIES, FEATURES, LAYOUTS):
        alike = (n == 2 and levels == "all") or (layout[1] == "F" and (d not in (20, 300) or n > 1000))
        if not alike and n * d <= (LARGEST if entries > 10_000_000 else 2_000_000):
            m = max(n, 2000 if n == 2 else 0, min(entries // d, 300_000))
            yield Shape(n, levels, m // n * n, d, *layout)


def fits(loss: str, shape: Shape) -> bool:
    """Whether a Hessian of it takes no more than a second or so."""
    if loss == "squared_hinge" or (shape.order == "C" and loss != "logistic"):
        return True
    by_columns = shape.length > 2 and shape.rows * shape.features**2 > 2e8
    return shape.order == "C" and shape.length <= 1000 and not by_columns


def measured(data: RankingData, loss: Loss) -> tuple[dict[str, float], float | None]:
    """Seconds of a product and of a Hessian, and the model's ratio of them."""
    w = np.random.default_rng(1).standard_normal(data.n_features) / np.sqrt(data.n_features)
    with LocalEngine(data) as engine:
        at = engine.evaluate(loss, engine.scores(w))
        at.hessian_product(w)
        products = lambda: [at.hessian_product(w) for _ in range(IN_A_ROW)]  # as conjugate gradients ask for them
        times = best_times({"product": products, "hessian": lambda: at.hessian(None)}, 3)
        return times | {"product": times["product"] / IN_A_ROW}, engine.hessian_cost(loss)


def costs() -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    coin = np.random.default_rng(0)  # by turns, one half would be float32
    for shape in shapes():
        data = shape.make()
        for name, loss in LOSSES.items():
            if not fits(name, shape):
                continue
            times, model = measured(data, loss)
            cost = times["hessian"] / times["product"]
            rows.append(
                {
                    "loss": name,
                    "rows a ranking": shape.length,
                    "levels": shape.levels,
                    "rows": shape.rows,
                    "features": shape.features,
                    "X": f"{shape.dtype} {shape.order}",
                    "half": ("fitted", "other")[coin.integers(2)],
                    "product ms": 1e3 * times["product"],
                    "cost": cost,
                    "modelled": model,
                    "modelled / cost": None if model is None else model / cost,
                }
            )
    return rows


def summary(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """How far the model is off, on the half it was fitted to and on the other."""
    found = []
    for half in ("fitted", "other"):
        ratio = np.array(
            [row["modelled / cost"] for row in rows if row["half"] == half and row["modelled"] is not None]
        )
        off = np.exp(np.abs(np.log(ratio)))
        found.append(
            {
                "half": half,
                "shapes": off.size,
                "share within 1.5": float(np.mean(off <= 1.5)),
                "typically off by": float(np.exp(np.sqrt(np.mean(np.log(off) ** 2)))),
                "at most by": float(off.max()),
            }
        )
    return found


def ways() -> list[dict[str, object]]:
    """Differences of active pairs against a sweep, a member; they take as long where so many pairs are active."""
    rows, kept = [], hessian.TUNING
    for n, d, width in product((10, 50), (5, 20, 46, 136, 300, 700), (None, 1.0, 0.3)):
        if quick() and (d > 20 or n > 10):
            continue
        data = Shape(n, "5", 200 if quick() else 2_000_000 // d // n * n, d, "f8", "C").make()
        steps = (SquaredHinge() if width is None else HuberHinge(width)).steps
        block, work = data.preferences.block(0), Work()
        s = data.X[block.row] @ (np.random.default_rng(1).standard_normal(d) / np.sqrt(d))
        try:
            hessian.TUNING = hessian.Tuning(1e9, 1e9)
            by_pairs = lambda: hessian.half_hessian(data.X, np.ones(d), s, block, steps, work)
            by_sweep = lambda: hessian.by_sweep(data.X, np.ones(d), s, block, steps, work)
            found = hessian.active_pairs(s, d, block, steps, work).h.size / block.n_members
            times = best_times({"pairs": by_pairs, "sweep": by_sweep}, 5)
        finally:
            hessian.TUNING = kept
        rows.append(
            {
                "rows a ranking": n,
                "features": d,
                "width": "" if width is None else width,
                "active pairs a member": found,
                **{f"{way} ns a member": 1e9 * t / block.n_members for way, t in times.items()},
                "sweep / pairs": times["sweep"] / times["pairs"],
                "they would cross at": found * times["sweep"] / times["pairs"],
                "chosen up to": kept.room(10**6, d) / 1e6,
            }
        )
    return rows


def main() -> None:
    rows = costs()
    report("hessian", rows)
    report("hessian_model", summary(rows))
    report("hessian_ways", ways())
