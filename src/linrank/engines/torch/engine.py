"""The torch engine: X, layout and losses on one device; d-vectors go in, floats and d-vectors come out."""

from __future__ import annotations

import math
from types import TracebackType
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from ..._errors import DataError, LinrankError
from ..._once import cached_property
from ..._threads import give_up_if_stopped, one_blas_thread
from ..._typing import FloatArray
from ..._work import Work
from ...data.parts import draw
from ...data.ranking_data import RankingData
from ...losses import Hinge, Loss, Sums
from .._facts import Columns, Facts, without_rounding
from ..local import LocalEngine
from ..place import Torch
from . import hessian
from .device import bytes_of_data, bytes_of_loss, check_memory, find_device
from .evaluation import TorchEvaluation, TorchScores
from .layout import Layout
from .losses import on_device as loss_on_device
from .matrix import DeviceMatrix
from .matrix import on_device as matrix_on_device
from .ops import Tensor

#: What scores may be farther apart than w and the columns' ranges say: by rounding to float32, and of many steps.
ROUNDED, DRIFT = 1e-6, 1e-9


class TorchEngine:
    """Products with X and losses of its scores on a torch device; a context manager.

    Parameters
    ----------
    data : RankingData
        X may be a tensor that lies on the device.
    device : Torch or str
        `Torch("cuda", scores="float32")`, or the name of a device: "cuda", "cuda:1", ..., "torch:cpu".

    One transfer an evaluation, with or without its gradient, one a Hessian product and one a Hessian; the logistic
    losses ask once for the ranges of the columns. What is said of X and of rankings lies on the device while the engine
    is entered.

    Scores in float32 are those in float64 less that of their ranking's first member, rounded when a loss is evaluated.
    Products with X, sums, gradients and curvatures are float64 in either case. What rounding does to the value is told
    as `Sums.error`, twice: once for the value, and once for the bound that its gradient gives.
    """

    def __init__(self, data: RankingData, device: Torch | str = "cuda") -> None:
        place = Torch(device) if isinstance(device, str) else device
        self.data, self.device, self.single = data, find_device(place.device), place.scores == "float32"
        self._layout: Layout | None = None
        self._matrix: DeviceMatrix | None = None

    def __enter__(self) -> TorchEngine:
        try:
            one_blas_thread.enter(self)  # samples work here
            self._check_memory(Hinge())
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

    def _check_memory(self, loss: Loss) -> None:
        """Refuse to begin where a fit will not fit."""
        data = 0 if self._matrix is not None else bytes_of_data(self.data, self.device)
        check_memory(data + bytes_of_loss(self.data, loss_on_device(loss)), self.device)

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
        values = self.layout.members(self.matrix.dot(self.up(w)))
        return TorchScores(values, np.array(w, dtype=np.float64), self.layout)

    def at_zero(self, loss: Loss) -> Sums:
        """The loss where all scores are equal: known without adding up."""
        self._check_memory(loss)
        return loss.at_zero(self.data.preferences, Work())

    def evaluate(
        self, loss: Loss, s: TorchScores, d: TorchScores | None = None, t: float = 0.0, gradient: bool = False
    ) -> TorchEvaluation:
        """The loss at s, or at s + t d: one transfer."""
        for handle in (s,) if d is None else (s, d):
            if not isinstance(handle, TorchScores) or handle.layout is not self.layout:
                raise DataError("These scores are another engine's: take them from `scores`, or from an evaluation.")
        return TorchEvaluation(self, loss, s, d, t, gradient)

    @cached_property
    def _extent(self) -> tuple[FloatArray, FloatArray, float]:
        """Of each column how far its values are apart, and the largest of them; of rows the largest norm, by those."""
        ranges = self.matrix.ranges()
        square = self.matrix.largest_square(torch.where(ranges[1] > 0, ranges[1], 1.0))
        found: FloatArray = torch.cat([ranges.view(-1), square[None]]).cpu().numpy()
        apart, largest = found[:-1].reshape(2, -1)
        return apart, largest, math.sqrt(float(found[-1]))

    def width(self, s: TorchScores) -> float:
        """How far apart two scores may be: by the columns' ranges, or by Cauchy's inequality for two rows."""
        apart, largest, norm = self._extent
        sizes = np.abs(s.w) * largest
        width = min(float(apart @ np.abs(s.w)), 2.0 * norm * float(np.linalg.norm(sizes)))
        return (1.0 + ROUNDED) * width + DRIFT * float(sizes.sum())

    def rounded(self, s: TorchScores) -> Tensor:
        """The scores at which losses are evaluated: only differences within a ranking count."""
        values = s.values
        return (values - values[self.layout.start]).to(torch.float32) if self.single else values

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
        return self._columns

    @cached_property
    def _columns(self) -> Columns:
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
