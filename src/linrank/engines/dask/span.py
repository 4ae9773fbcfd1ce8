"""Rankings over rows of several workers: scores travel to where they are counted, 8 bytes a row, and gradients back.

The parts are shards without preferences. The counter has all preferences over their rows and no features: its matrix
is the number of each row. Scores that it has been told it keeps, so that steps along a line need none.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..._errors import ParameterError
from ..._typing import FloatArray, IntArray
from ...data.checks import check_choice
from ...data.ranking_data import RankingData
from ...kernels.hinge import scatter_add
from ..evaluation import LocalEvaluation, LocalScores
from ..local import LocalEngine
from ..outer import UNITS, unit_weights
from .recipes import Product, Recipe
from .shard import Failure, LostError, Missing, Request, Shard, guarded


class Told(NamedTuple):
    """What a counter answers: numbers for the client, and values of the rows for the parts."""

    answer: Any
    rows: FloatArray | None = None

    def __sizeof__(self) -> int:
        return 0 if self.rows is None else int(self.rows.nbytes)


class Counter(Shard):
    """The preferences over rows that lie elsewhere."""

    def __init__(self, data: RankingData, ends: Sequence[int]) -> None:
        super().__init__(data)
        self.ends = list(ends)  # the last row of each part, and one more
        self._given: dict[int, FloatArray] = {}

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"ends": self.ends, "_given": {}}

    @property
    def local(self) -> LocalEngine:
        """The engine over the members."""
        engine = self.engine()
        assert isinstance(engine, LocalEngine)
        return engine

    def product(self, recipe: Product) -> LocalScores:
        """X w, as the parts told it."""
        if recipe.key not in self._given:
            raise LostError(recipe.key)
        return LocalScores(self.local.to_members(self._given[recipe.key], self.local.exact))

    def count(self, request: Request, products: dict[int, FloatArray]) -> Told | Missing:
        """Answer, given products X w of all rows by their keys."""
        with self._lock:
            self.engine(request.n_jobs)
            self._given = products
            try:
                found = self.answer(request, 0)
            finally:
                self._given = {}
        return found if isinstance(found, (Told, Missing)) else Told(found)

    def _answer_draw(self, number: int, n_rows: int, before: Sequence[int], of: int) -> Any:
        return self.local.draw(n_rows, int(before[0]), of)

    def _answer_evaluate(self, number: int, recipe: Recipe, gradient: bool) -> Told:
        found = self.evaluation(recipe)
        return Told((found.sums, self.local._unit), self._gradient(recipe) if gradient else None)

    def _answer_gradient(self, number: int, recipe: Recipe) -> Told:
        return Told(self.local._unit, self._gradient(recipe))

    def _answer_hessian_product(self, number: int, recipe: Recipe) -> Told:
        """L X v: X v is product number 0."""
        found = self._counted(recipe)
        V = self.product(Product(0, np.empty(0))).values
        return Told(self.local._unit, self._to_rows(found.curvature_products(V)))

    def _answer_units(self, number: int, recipe: Recipe, units: str) -> Told:
        """The gradient, and the weight of each unit's pairs; units share none."""
        check_choice("units", units, UNITS)
        if units == "clusters" and self.data.cluster is None:
            raise ParameterError("units='clusters' needs a cluster for each row: give them to RankingData.clustered.")
        if units == "rows" or (units == "clusters" and not self.data.clusters_are_whole):
            raise ParameterError(
                f"units={units!r} cut a ranking that spans workers, which takes all its rows in one place: use "
                "units='queries'."
            )
        c = unit_weights(self.data, units == "clusters")[1]
        return Told((self.local._unit, c), self._gradient(recipe))

    def _counted(self, recipe: Recipe) -> LocalEvaluation:
        found = self.evaluation(recipe)
        assert isinstance(found, LocalEvaluation)
        return found

    def _gradient(self, recipe: Recipe) -> FloatArray:
        return self._to_rows([point.gradient for point in self._counted(recipe).points])

    def _to_rows(self, parts: list[FloatArray]) -> FloatArray:
        """Values of the members, block by block, added up over rows and divided by the engine's unit."""
        rows, blocks = np.zeros(self.data.n_rows), self.local.blocks
        for part, block in zip(parts, blocks, strict=True):
            scatter_add(block.rankings.row, part, 1.0 / self.local._unit, 0, part.size, rows)
        return rows


class Rows(Shard):
    """A part: rows without preferences."""

    @property
    def local(self) -> LocalEngine:
        """The engine over the rows."""
        engine = self.engine()
        assert isinstance(engine, LocalEngine)
        return engine

    def dot(self, w: FloatArray) -> FloatArray:
        """X w."""
        engine, out = self.local, np.empty(self.data.n_rows)
        w = engine.checked(w)
        engine.over_rows(lambda block: engine.matrix.dot(w, block, out))
        return out

    def transpose_dot(self, g: FloatArray, scale: FloatArray | None) -> FloatArray:
        """X^T g over `scale`."""
        engine = self.local
        parts = engine.over_rows(lambda block: engine.matrix.transpose_dot(g, block))
        total = sum(parts[1:], parts[0])
        return total if scale is None else total / engine.checked(scale)


def part_scores(part: Rows, engine: str, message: bytes) -> Any:
    """A part's task: its rows of some products, by their keys."""

    def work() -> dict[int, FloatArray]:
        part.engine(None)
        wanted: list[Product] = pickle.loads(message)
        return {product.key: part.dot(product.w) for product in wanted}

    return guarded(engine, work)


def count(counter: Counter, engine: str, message: bytes, scores: list[Any]) -> Any:
    """The counter's task."""

    def work() -> Any:
        for told in scores:
            if isinstance(told, Failure):
                return told
        keys = scores[0].keys() if scores else ()
        products = {key: np.concatenate([told[key] for told in scores]) for key in keys}
        return counter.count(pickle.loads(message), products)

    return guarded(engine, work)


def told(answer: Any) -> bytes:
    """For the client: the numbers of what a counter tells."""
    return pickle.dumps(answer.answer if isinstance(answer, Told) else answer)


def rows_of(answer: Any, first: int, last: int) -> Any:
    """For a part: its rows of what a counter tells."""
    return answer.rows[first:last] if isinstance(answer, Told) and answer.rows is not None else None


def part_back(part: Rows, engine: str, g: Any, scale: FloatArray | None) -> bytes:
    """A part's task: X^T g."""

    def work() -> Any:
        part.engine(None)
        return None if g is None else part.transpose_dot(g, scale)

    return pickle.dumps(guarded(engine, work))


def part_outer(part: Rows, engine: str, g: Any, unit: Any) -> bytes:
    """A part's task: X^T g of each unit, (units, d)."""

    def work() -> Any:
        return None if g is None or isinstance(unit, Failure) else unit_products(part.data.X, g, unit)

    return pickle.dumps(guarded(engine, work))


def unit_products(X: Any, g: FloatArray, unit: IntArray) -> FloatArray:
    """The sum of g_i x_i over the rows of each unit."""
    pick = sp.csr_array((g, (unit, np.arange(g.size))), shape=(int(unit.max(initial=0)) + 1, g.size))
    found = pick @ (X if sp.issparse(X) else np.asarray(X, dtype=np.float64))
    return np.asarray(found.toarray() if sp.issparse(found) else found)


def units_of(counter: Counter, units: str, first: int, last: int) -> Any:
    """For a part: the units of its rows."""
    cluster = counter.data.cluster
    return (counter.data.query if units == "queries" or cluster is None else cluster)[first:last]


def take_rows(part: Rows, rows: Any) -> Any:
    """Some rows of a part."""
    return part.data.X[rows]
