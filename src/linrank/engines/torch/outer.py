"""Sums of psi psi^T over units on a device: queries or whole clusters some at a time, rows column by column.

As on the CPU (`engines/outer.py`), a product with A is a gradient of the loss with other row weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from ..._errors import ParameterError
from ..._typing import IntArray
from ...data.ordering import group_rows
from ..outer import Ask, Outer, known_clusters, row_weights, unit_weights
from .ops import Tensor, segment_sums

if TYPE_CHECKING:
    from .evaluation import TorchEvaluation

#: Entries of X, or of the units' psi, at a time.
BATCH_ENTRIES = 1 << 22


def outer(evaluation: TorchEvaluation, ask: Ask) -> Outer:
    """Sums over the units of a device's rows."""
    data = evaluation.engine.data
    if ask.units == "clusters" and not data.clusters_are_whole:
        raise ParameterError("A cluster that cuts a query needs the local engine: leave `device` out.")
    if evaluation.point is None:
        none = np.empty(0, dtype=np.int64) if ask.units == "clusters" else None
        return Outer(0, np.zeros((ask.size, ask.size)), 0.0, none)
    if ask.units == "rows":
        return _of_rows(evaluation, ask)
    unit, c = unit_weights(data, ask.units == "clusters")
    total, largest = _of_whole(evaluation, unit, evaluation.engine.layout.put(c, np.float64), ask)
    return Outer(int(np.count_nonzero(c > 0)), total.cpu().numpy(), float(largest), known_clusters(ask, c))


def _of_whole(evaluation: TorchEvaluation, unit: IntArray, c: Tensor, ask: Ask) -> tuple[Tensor, Tensor]:
    """For units that share no pair: some whole units at a time."""
    engine = evaluation.engine
    assert evaluation.point is not None
    g, layout, matrix = engine.layout.rows(evaluation.point.gradient), engine.layout, engine.matrix
    scale, shift = engine.up(ask.scale), engine.up(ask.shift)
    along = None if ask.along is None else layout.put(ask.along, np.float64)
    row, ptr = group_rows(unit, c.shape[0])
    row = np.arange(unit.size) if row is None else row
    total = torch.zeros(ask.size, ask.size, dtype=torch.float64, device=layout.device)
    largest, step, first = torch.zeros((), dtype=torch.float64, device=layout.device), _step(matrix.shape[1]), 0
    while first < c.shape[0]:
        last = int(np.searchsorted(ptr, ptr[first] + step, side="right")) - 1
        last = min(max(first + 1, last), first + step, c.shape[0])
        psi = torch.zeros(last - first, matrix.shape[1], dtype=torch.float64, device=layout.device)
        for begin in range(ptr[first], ptr[last], step):  # one unit may have more rows than are looked at at once
            end = min(begin + step, ptr[last])
            rows = layout.put(row[begin:end], np.int64)
            offsets = layout.put(np.clip(ptr[first : last + 1], begin, end) - begin, np.int64)
            psi += segment_sums(g[rows][:, None] * matrix.dense(rows), offsets)
        psi = psi / scale + c[first:last, None] * shift
        psi = psi if along is None else psi @ along
        total += psi.t() @ psi
        largest = torch.maximum(largest, psi.square().sum(1).max())
        first = last
    return total, largest


def _of_rows(evaluation: TorchEvaluation, ask: Ask) -> Outer:
    """Row by row, X^T M^T M X: column by column."""
    engine = evaluation.engine
    assert evaluation.point is not None
    weights = row_weights(engine.data)
    c, scale, shift = engine.layout.put(weights, np.float64), engine.up(ask.scale), engine.up(ask.shift)
    along = torch.eye(scale.shape[0], dtype=torch.float64, device=engine.device)
    along = along if ask.along is None else engine.layout.put(ask.along, np.float64)
    g, total, squares = engine.layout.rows(evaluation.point.gradient), [], torch.zeros_like(c)
    for j in range(along.shape[1]):
        x = engine.matrix.dot(along[:, j] / scale)
        y = _over_rankings(evaluation, g, x, -1.0) + c * (shift @ along[:, j])
        z = _over_rankings(evaluation, g, y, 1.0)
        product = engine.matrix.transpose_dot(z) / scale + shift * (c @ y)
        total.append(product if ask.along is None else product @ along)
        squares += y.square()
    whole = torch.stack(total)
    answer = (0.5 * (whole + whole.t())).cpu().numpy()
    return Outer(int(np.count_nonzero(weights > 0)), answer, float(squares.max()))


def _over_rankings(evaluation: TorchEvaluation, g: Tensor, x: Tensor, sign: float) -> Tensor:
    """The products g x - A x (sign -1) or g x + A x for a vector over rows, by z = 1 + (x - low) / r from 1 to 2."""
    low = x.min()
    r = (x.max() - low).clamp(min=torch.finfo(torch.float64).tiny)
    z = 1.0 + (x - low) / r
    layout = evaluation.engine.layout
    found = evaluation.at(layout.reweighted(layout.members(z)))
    return g * (x + sign * (low - r)) + sign * r * layout.rows(found.gradient) / z


def _step(d: int) -> int:
    return max(1, BATCH_ENTRIES // max(1, d))
