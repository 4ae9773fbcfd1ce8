"""Exact Hessians X^T L X by batches of rankings of like length, and what they cost in Hessian products.

A batch of Q rankings padded to L members has W[q, i, j] = c_ij phi''(s_i - s_j) for both directions of its pairs; with
E = W 1 x - W x, the Hessian is the sum of x^T E: three matrix products a batch. Where a ranking is longer than LONGEST,
W does not pay, and it takes a Hessian product a column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch

from ..._typing import IntArray
from ...data.rankings import Preferences
from .layout import Layout
from .matrix import DeviceMatrix
from .ops import Tensor

#: Members of a ranking up to which its pairs are looked at one by one.
LONGEST = 2048
#: Entries of W, and of the rows beside it, at a time: 32 MB a copy.
BATCH_ENTRIES = 1 << 22
#: Most features for which a d x d Hessian is built.
MAX_HESSIAN = 1000
#: Bytes read and written, counted operation by operation: of an entry of W and of x in a batch, and in a Hessian
#: product of an entry of X and of a member. All are limited by bandwidth; for MSLR-WEB30K's shape it is 12 products.
W_BYTES, X_BYTES, PRODUCT_BYTES, MEMBER_BYTES = 180.0, 96.0, 16.0, 1380.0


def cost(preferences: Preferences, n_features: int) -> float:
    """Of an exact Hessian in Hessian products: bytes over bytes."""
    sizes = np.diff(preferences.ranking_ptr).astype(np.float64)
    product = n_features * PRODUCT_BYTES * preferences.n_members + MEMBER_BYTES * preferences.n_members
    if preferences.longest > LONGEST:
        return float(n_features)
    batches = W_BYTES * float(sizes @ sizes) + X_BYTES * n_features * preferences.n_members
    return max(1.0, batches / product)


def batches(preferences: Preferences, n_features: int) -> Iterator[tuple[int, IntArray]]:
    """Lengths, and the rankings of a batch: those of like length together, as many as W and x have room for."""
    sizes = np.diff(preferences.ranking_ptr)
    order = np.argsort(sizes, kind="stable")
    at = 0
    while at < order.size:
        # As many as have at most a quarter more members than the first, and fit.
        longest = int(sizes[order[at]] * 1.25) + 1
        room = max(1, BATCH_ENTRIES // (longest * max(longest, n_features)))
        end = min(int(np.searchsorted(sizes[order], longest, side="right")), at + room)
        yield int(sizes[order[end - 1]]), order[at:end]
        at = end


def by_batches(
    matrix: DeviceMatrix, layout: Layout, preferences: Preferences, s: Tensor, second: Callable[[Tensor], Tensor],
    unit: Tensor,
) -> Tensor:  # fmt: skip
    """X^T L X with the columns of X divided by `unit`."""
    d = matrix.shape[1]
    H = torch.zeros(d, d, dtype=torch.float64, device=layout.device)
    for length, rankings in batches(preferences, d):
        begin, end = (
            layout.put(p[rankings], np.int64) for p in (preferences.ranking_ptr[:-1], preferences.ranking_ptr[1:])
        )
        member = begin[:, None] + torch.arange(length, device=layout.device)
        padded = member >= end[:, None]
        member = torch.where(padded, begin[:, None], member)
        level, at = layout.level[member], s[member]
        v = torch.ones_like(at) if layout.v is None else layout.v[member]
        v = torch.where(padded, 0.0, v)
        z = at[:, :, None] - at[:, None]
        W = torch.where(level[:, :, None] > level[:, None], second(z), 0.0)
        W = (W + W.transpose(1, 2)) * v[:, :, None] * v[:, None] * layout.u[begin][:, None, None]
        x = matrix.dense(layout.row[member].view(-1)).view(*member.shape, d) / unit
        E = W.sum(2)[:, :, None] * x - torch.bmm(W, x)
        H += x.view(-1, d).t() @ E.view(-1, d)
    return 0.5 * (H + H.t())


def by_columns(matrix: DeviceMatrix, layout: Layout, product: Callable[[Tensor], Tensor], unit: Tensor) -> Tensor:
    """X^T L X by a product a column."""
    d = matrix.shape[1]
    H = torch.empty(d, d, dtype=torch.float64, device=layout.device)
    for j in range(d):
        e = torch.zeros(d, dtype=torch.float64, device=layout.device)
        e[j] = 1.0
        column = matrix.dot(e) / unit[j]
        H[j] = matrix.transpose_dot(layout.rows(product(layout.members(column)))) / unit
    return 0.5 * (H + H.t())
