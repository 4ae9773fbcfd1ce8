"""The torch engine: X, layout and losses on one device; d-vectors go in, floats and d-vectors come out."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from ..._errors import DataError, LinrankError, ParameterError
from ..._once import cached_property
from ..._threads import give_up_if_stopped, one_blas_thread
from ..._typing import FloatArray
from ..._work import Work
from ...data.parts import draw
from ...data.ranking_data import RankingData
from ...losses import Loss, Sums
from .._facts import Columns, Facts, without_rounding
from ..local import LocalEngine
from ..outer import Ask, Outer
from . import hessian, pairs
from .device import check_memory, find_device
from .layout import Layout
from .losses import on_device as loss_on_device
from .matrix import DeviceMatrix
from .matrix import on_device as matrix_on_device
from .ops import Tensor, totals
from .outer import outer
from .pairs import PairPoint


@dataclass(frozen=True)
class TorchScores:
    """A score for each member, on the device of the engine that made it."""

    values: Tensor
    layout: Layout


class TorchEngine:
    """Products with X and losses of its scores on a torch device; a context manager.

    Parameters
    ----------
    data : RankingData
        X may be a tensor that lies on the device.
    device : str
        "cuda", "cuda:1", ..., or "torch:cpu".

    One transfer an evaluation, with or without its gradient, one a Hessian product and one a Hessian; the logistic
    losses read one number more an evaluation. What is said of X and of rankings lies on the device while the engine is
    entered.
    """

    def __init__(self, data: RankingData, device: str = "cuda") -> None:
        self.data, self.device = data, find_device(device)
        self._layout: Layout | None = None
        self._matrix: DeviceMatrix | None = None

    def __enter__(self) -> TorchEngine:
        try:
            one_blas_thread.enter(self)  # samples work here
            check_memory(self.data, self.device)
            self._layout = Layout(self.data.preferences, self.data.n_rows, self.device)
            self._matrix = matrix_on_device(self.data.X, self.device)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._layout = self._matrix = None
        one_blas_thread.leave(self)

    @property
    def layout(self) -> Layout:
        """The rankings on the device."""
        give_up_if_stopped()
        if self._layout is None:
            raise LinrankError("This engine was left, or not entered yet: enter it before it is asked anything.")
        return self._layout

    @property
    def matrix(self) -> DeviceMatrix:
        """X on the device."""
        assert self.layout is not None
        assert self._matrix is not None
        return self._matrix

    @cached_property
    def facts(self) -> Facts:
        """Rows, features, queries, pairs and row weights."""
        return Facts.of(self.data)

    def fingerprint(self) -> str:
        """Digest of all that the mean loss depends on."""
        return self.data.fingerprint()

    def hessian_cost(self, loss: Loss) -> float | None:
        """Cost of an exact Hessian in Hessian products by a model of its own; None where it cannot be had."""
        if not loss.smooth or sp.issparse(self.data.X) or self.data.n_features > hessian.MAX_HESSIAN:
            return None
        return hessian.cost(self.data.preferences, self.data.n_features)

    def up(self, w: FloatArray) -> Tensor:
        """A vector over the features, brought to the device."""
        if np.shape(w) != (self.data.n_features,):
            raise DataError(
                f"There are weights of shape {np.shape(w)} for {self.data.n_features} features: give one each."
            )
        return torch.tensor(np.asarray(w, dtype=np.float64), device=self.device)

    def scores(self, w: FloatArray) -> TorchScores:
        """X w."""
        return TorchScores(self.layout.members(self.matrix.dot(self.up(w))), self.layout)

    def at_zero(self, loss: Loss) -> Sums:
        """The loss where all scores are equal: known without adding up."""
        loss_on_device(loss)
        return loss.at_zero(self.data.preferences, Work())

    def evaluate(
        self, loss: Loss, s: TorchScores, d: TorchScores | None = None, t: float = 0.0, gradient: bool = False
    ) -> TorchEvaluation:
        """The loss at s, or at s + t d: one transfer."""
        for handle in (s,) if d is None else (s, d):
            if not isinstance(handle, TorchScores) or handle.layout is not self.layout:
                raise DataError("These scores are another engine's: take them from `scores`, or from an evaluation.")
        return TorchEvaluation(self, loss, s, d, t, gradient)

    def draw(self, n_rows: int, first: int = 0, of: int | None = None) -> RankingData | None:
        """Some whole queries."""
        drawn = draw(self.data, n_rows, first, of)
        return None if drawn is None else drawn.on_host()

    def sample(self, n_rows: int) -> LocalEngine | None:
        """A local engine for a sample of the rows."""
        data = self.draw(n_rows)
        return None if data is None or data.preferences.n_rankings == 0 else LocalEngine(data)

    def largest_row(self, scale: FloatArray | None) -> float:
        """Largest norm of a row of X, its columns divided by `scale`."""
        unit = self.up(np.ones(self.data.n_features) if scale is None else scale)
        return float(np.sqrt(self.matrix.largest_square(unit).item()))

    def columns(self) -> Columns:
        """What is known of each column, rows counting by their weight."""
        n_rows, v = self.data.n_rows, self.data.sample_weight
        weight = float(n_rows) if v is None else float(v.sum())
        if v is None or not weight > 0:  # explicit pairs may stand on rows without weight
            v = np.ones(n_rows)
        given = (self.layout.put(x, np.float64) for x in (v, v / float(v.sum())))
        mean, deviation, nonzero = torch.stack(self.matrix.columns(*given)).cpu().numpy()
        return Columns(n_rows, weight, mean, without_rounding(deviation, mean, n_rows), nonzero)

    @cached_property
    def unit(self) -> float:
        """A power of 2 near N, or 1: sums over pairs are divided by it, exactly, while they are multiplied by X."""
        return float(2.0 ** max(np.frexp(self.data.preferences.total)[1], 0))

    def transpose_dot(self, members: Tensor) -> Tensor:
        """X^T g over `unit`, for a vector over members; it stays on the device."""
        return self.matrix.transpose_dot(self.layout.rows(members / self.unit))

    def down(self, product: Any, scale: FloatArray | None) -> FloatArray:
        """A vector over features as it goes out."""
        found: FloatArray = product
        return self.unit * (found if scale is None else found / self.checked(scale))

    def checked(self, scale: FloatArray) -> FloatArray:
        """What columns are divided by."""
        if np.shape(scale) != (self.data.n_features,):
            raise DataError(
                f"There is a scale of shape {np.shape(scale)} for {self.data.n_features} features: give one each."
            )
        return np.asarray(scale, dtype=np.float64)


class TorchEvaluation:
    """A loss at given scores on a device."""

    def __init__(
        self, engine: TorchEngine, loss: Loss, s: TorchScores, d: TorchScores | None, t: float, gradient: bool
    ) -> None:
        self.engine, self.loss, self.how = engine, loss, loss_on_device(loss)
        self.scores = s if d is None else TorchScores(s.values + t * d.values, s.layout)
        self._gradient: FloatArray | None = None
        weight = engine.data.preferences.total
        if engine.layout.n_members == 0:
            self.point, self.sums, self._gradient = None, Sums(), np.zeros(engine.facts.features)
            return
        here = self.scores.values
        self.point = point = self.point_at(engine.layout)
        size = point.gradient.abs() * here.abs()
        slope = torch.zeros_like(here) if d is None else point.gradient * d.values
        found = totals([*point.columns(), slope, size])
        found = torch.cat([found, 0.0 * here.abs().max()[None]])  # NaN where a score is not finite
        if gradient:
            found = torch.cat([found, engine.transpose_dot(point.gradient)])
        numbers = found.cpu().numpy()
        if gradient:
            numbers, self._gradient = numbers[: -engine.facts.features], numbers[-engine.facts.features :]
        *own, along, large, nothing = numbers.tolist()
        sums = point.sums(own, weight)
        self.sums = sums._replace(value=sums.value + nothing, slope=along, size=large)

    def gradient(self, scale: FloatArray | None = None) -> FloatArray:
        """X^T g; a transfer where it did not come along."""
        if self._gradient is None:
            assert self.point is not None
            self._gradient = self.engine.transpose_dot(self.point.gradient).cpu().numpy()
        return self.engine.down(self._gradient, scale)

    def hessian_product(self, v: FloatArray, exact: bool = True, scale: FloatArray | None = None) -> FloatArray:
        """X^T L X v: one transfer."""
        engine = self.engine
        x = engine.matrix.dot(engine.up(v if scale is None else v / engine.checked(scale)))
        if self._smooth() is None:
            return np.zeros(engine.facts.features)
        return engine.down(engine.transpose_dot(self._smooth().product(engine.layout.members(x))).cpu().numpy(), scale)

    def hessian(self, scale: FloatArray | None = None) -> FloatArray:
        """X^T L X with the columns of X divided by `scale`: one transfer."""
        engine, point = self.engine, self._smooth()
        unit = engine.up(np.ones(engine.facts.features) if scale is None else scale)
        if point is None:
            return np.zeros((engine.facts.features, engine.facts.features))
        if engine.layout.longest > hessian.LONGEST:
            H = hessian.by_columns(engine.matrix, engine.layout, point.product, unit)
        else:
            place = engine.matrix, engine.layout, engine.data.preferences
            H = hessian.by_batches(*place, self.scores.values, self.how.second, unit)
        answer: FloatArray = H.cpu().numpy()
        return answer

    def outer(
        self,
        units: str = "queries",
        scale: FloatArray | None = None,
        shift: FloatArray | None = None,
        along: FloatArray | None = None,
    ) -> Outer:
        """Sum over units of psi psi^T."""
        return outer(self, Ask.of(self.engine.data, self.loss, units, scale, shift, along))

    def point_at(self, layout: Layout) -> Any:
        """The loss of rankings, those of the engine or the same with other weights."""
        here = self.scores.values
        return PairPoint(self.loss, layout, here) if pairs.fits(self.loss, layout) else self.how.at(layout, here)

    def _smooth(self) -> Any:
        if not self.loss.smooth:
            raise ParameterError(f"The loss {self.loss.name!r} is not smooth and has no Hessian: use solver='bundle'.")
        return self.point
