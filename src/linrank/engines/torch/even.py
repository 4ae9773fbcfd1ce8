"""Losses phi(z) = -z/2 + psi(z), psi even and smooth, on a device: sums over all pairs, less those within levels.

As on the CPU (`losses/_even.py`), the linear part has coefficients that never change, and psi does not ask who wins.
Its sums over all partners are taken by cells of a grid, CELL wide, of each segment (a ranking, or a level of one): psi
is analytic, so between two cells delta apart it is a polynomial in both places,

    psi(s_i - s_j) = sum over k, l of T_k(x_i) C_delta[k, l] T_l(x_j),      T Chebyshev's polynomials, x in [-1, 1],

to rounding. So cells are summed into TERMS moments, moments of the cells within reach are turned by fixed matrices, and
places evaluate what has come to their cell. Beyond the reach psi is |z|/2 to rounding: whole-number sums of weights and
scores. The launches depend neither on rankings nor on their lengths. (The CPU's recurrence over exponentials goes from
row to row.)

How many cells hold a place is not read back. A segment has at most as many as places, and as many as lie within the
width of its scores, which a host bounds by w and the columns' ranges: so many are laid out, the last ones empty.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from ..._typing import FloatArray
from ...losses import Loss, Sums
from .layout import Layout, Segments
from .ops import Tensor, permuted, prefix, segment_sums
from .point import SmoothDeviceLoss, SmoothPoint
from .windows import Sorted

CELL, TERMS = 2.0, 24
EPS = 2.0**-52
#: Key of a cell that holds no place: beyond those of all others.
EMPTY = 1 << 62


class Kernel:
    """psi, psi' and psi'', and how far apart scores are beyond which they are |z|/2, +-1/2 and 0."""

    def __init__(self, value: Any, slope: Any, second: Any, reach: float) -> None:
        self.value, self.slope, self.second = value, slope, second
        self.cells = int(np.ceil(reach / CELL))
        self.at_zero, self.curved_at_zero = (float(f(np.zeros(1))[0]) for f in (value, second))

    @lru_cache  # noqa: B019  kernels are constants
    def tables(self, device: str) -> tuple[Tensor, Tensor]:
        """Matrices for all distances of cells: of psi and psi', side by side, and of psi''."""
        first = np.concatenate([_tables(f, self.cells) for f in (self.value, self.slope)], axis=2)
        second = _tables(self.second, self.cells)
        return torch.from_dlpack(first).to(device), torch.from_dlpack(second).to(device)


def _tables(f: Any, cells: int) -> FloatArray:
    """C_delta transposed, [l, k], for each delta from -cells to cells: coefficients by interpolation."""
    n = 2 * TERMS  # more points than terms: what is left out is small, and does not fold back
    at = np.cos((np.arange(n) + 0.5) * np.pi / n)
    to_coefficients = 2.0 / n * np.cos(np.outer(np.arange(TERMS), (np.arange(n) + 0.5) * np.pi / n))
    to_coefficients[0] *= 0.5
    tables = []
    for delta in range(-cells, cells + 1):
        z = 0.5 * CELL * (at[:, None] - at) - CELL * delta  # of a place less that of a partner, delta cells higher
        tables.append((to_coefficients @ f(z) @ to_coefficients.T).T)
    return np.ascontiguousarray(tables)


class Cells:
    """Places by segment and score, cut into the cells of a grid: those that hold a place, and some empty ones."""

    def __init__(self, segment: Tensor, centred: Tensor, reach: int, n_cells: int) -> None:
        self.centred, self.reach = centred, reach
        grid = torch.floor(centred / CELL)
        self.x = (2.0 / CELL * (centred - (grid + 0.5) * CELL)).clamp(-1.0, 1.0)
        other = torch.ones_like(segment, dtype=torch.bool)
        other[1:] = segment[1:] != segment[:-1]
        step = torch.full_like(centred, reach + 1.0)  # from one segment to the next: out of reach
        step[1:] = torch.where(other[1:], step[1:], (grid[1:] - grid[:-1]).clamp(max=reach + 1.0))
        cell = torch.cumsum((step > 0).to(torch.int64), 0) - 1
        self.cell, self.beyond = cell.clamp(max=n_cells - 1), (cell >= n_cells).to(torch.float64)
        self._lay_out(torch.cumsum(step.to(torch.int64), 0), n_cells)
        self.polynomials = _polynomials(self.x)

    def _lay_out(self, keys: Tensor, n_cells: int) -> None:
        """Where each cell begins, and which ones are within its reach."""
        device, n = self.cell.device, self.cell.shape[0]
        self.first = torch.searchsorted(self.cell, torch.arange(n_cells + 1, device=device))
        begin = self.first[:-1]
        key = torch.where(begin < n, keys[begin.clamp(max=n - 1)], EMPTY)
        away = torch.arange(-self.reach, self.reach + 1, device=device)[:, None]
        wanted = key + away
        partner = torch.searchsorted(key, wanted, out_int32=True)
        there = torch.nn.functional.pad(key, (0, 1), value=-1)[partner] == wanted
        self.partner = torch.where(there, partner, n_cells)  # n_cells: a cell of zeros
        # Beyond the reach: places before the first cell within it, and from the end of the last one on.
        self.far_left = self.first[partner[0]][self.cell]
        self.far_right = self.first[torch.searchsorted(key, wanted[-1], right=True)][self.cell]

    def near(self, q: Tensor, tables: Tensor) -> Tensor:
        """Sums of q_j f(s_i - s_j) over the places within reach of each, one column for each f of the tables."""
        moments = segment_sums(q[:, None] * self.polynomials, self.first)
        moments = torch.nn.functional.pad(moments, (0, 0, 0, 1))
        local = torch.zeros(moments.shape[0] - 1, tables.shape[2], dtype=torch.float64, device=q.device)
        for partner, table in zip(self.partner, tables, strict=True):
            local.addmm_(moments[partner], table)
        series = local[self.cell].view(q.shape[0], -1, TERMS)
        return (series * self.polynomials[:, None]).sum(2)


def _polynomials(x: Tensor) -> Tensor:
    """Chebyshev's of each place, by their recurrence."""
    found = torch.empty(TERMS, x.shape[0], dtype=torch.float64, device=x.device)
    found[0], found[1] = 1.0, x
    for k in range(2, TERMS):
        torch.mul(x, found[k - 1], out=found[k]).mul_(2.0).sub_(found[k - 2])
    return found.t().contiguous()


class EvenSums:
    """Sums over the partners of one kind, those of all the ranking or of the own level, in an order of their own."""

    def __init__(self, places: Sorted, segments: Segments, kernel: Kernel, width: float) -> None:
        layout, self.places, self.kernel, self.again = places.layout, places, kernel, None
        centred, v = places.centred, places.weighted(torch.ones_like(places.centred))
        if segments.member is not None:
            _, order = torch.sort(places.keys(layout.segment)[segments.member])
            place = permuted(torch.arange(layout.n_members, device=layout.device), places.order)
            self.again = place[segments.member[order]]
            centred, v = centred[self.again], v[self.again]
        self.v, self.first, self.end = v, segments.start, segments.end
        most = width / CELL + 2.0  # an interval of this width lies in so many cells at most
        self.cells = Cells(segments.segment, centred, kernel.cells, segments.sizes.at_most(most))

    def _here(self, x: Tensor) -> Tensor:
        return x if self.again is None else x[self.again]

    def _back(self, x: Tensor, alone: Tensor | float) -> Tensor:
        """In the order of the places; those that are not among these have themselves for a partner, and no other."""
        if self.again is None:
            return x
        out = torch.zeros_like(self.places.centred) + alone
        out[self.again] = x
        return out

    def first_sums(self) -> tuple[Tensor, Tensor]:
        """Sums of v_j psi(s_i - s_j) and of v_j psi'(s_i - s_j), in the order of the places."""
        c, s = self.cells, self.cells.centred
        tables, _ = self.kernel.tables(str(s.device))
        value, slope = c.near(self.v, tables).unbind(1)
        left, right = (self._far(c.far_left, c.far_right, whole) for whole in ("weights", "moments"))
        (w_left, w_right), (m_left, m_right) = left, right
        value = value + 0.5 * ((w_left * s - m_left) + (m_right - w_right * s))
        own = self.places.weighted(torch.full_like(self.places.centred, self.kernel.at_zero))
        return self._back(value, own), self._back(slope + 0.5 * (w_left - w_right), 0.0)

    def beyond(self) -> Tensor:
        """1 for each place that has no cell."""
        return self._back(self.cells.beyond, 0.0)

    def _far(self, left: Tensor, right: Tensor, name: str) -> tuple[Tensor, Tensor]:
        """Sums beyond the reach, on either side."""
        whole = getattr(self.places, name)()
        running = prefix(self._here(whole.numbers))
        unit = 1.0 if whole.unit is None else self._here(whole.unit)
        sums = running[left] - running[self.first], running[self.end] - running[right]
        return sums[0].to(torch.float64) * unit, sums[1].to(torch.float64) * unit

    def second_sums(self, q: Tensor) -> Tensor:
        """Sums of q_j psi''(s_i - s_j)."""
        _, tables = self.kernel.tables(str(q.device))
        return self._back(self.cells.near(self._here(q), tables)[:, 0], self.kernel.curved_at_zero * q)


class EvenPoint(SmoothPoint):
    """Sum of c phi."""

    def __init__(self, layout: Layout, scores: Tensor, kernel: Kernel, width: float) -> None:
        self.layout, self.places = layout, Sorted(layout, scores)
        self.all = EvenSums(self.places, layout.all_members, kernel, width)
        self.within = EvenSums(self.places, layout.repeated, kernel, width)
        (psi, slope), (less, less_slope) = self.all.first_sums(), self.within.first_sums()
        balance = layout.balance[self.places.order]
        uv, linear = self.places.weighted(layout.u), self.places.centred * balance
        self._columns = [uv * x for x in (linear + 0.5 * (psi - less), linear.abs() + 0.5 * (psi + less))]
        self._columns.append(self.all.beyond() + self.within.beyond())
        self.gradient = self.places.to_members(uv * (balance + (slope - less_slope)))
        self._n: Tensor | None = None

    def columns(self) -> list[Tensor]:
        """The value, the size of all that is added up, and how many places have no cell."""
        return self._columns

    def sums(self, numbers: list[float], weight: float) -> Sums:
        """Value and errors: sums of n numbers err by about sqrt(n) units of their size."""
        unit = 4.0 * EPS * math.sqrt(self.layout.longest)
        value = numbers[0] if numbers[2] == 0 else math.nan  # scores farther apart than they were said to be
        return Sums(value, weight, unit * numbers[1], unit * self.layout.square_weight)

    def _second(self, q: Tensor) -> Tensor:
        return self.all.second_sums(q) - self.within.second_sums(q)

    def product(self, x: Tensor) -> Tensor:
        """U v (n x - sum of v x psi'')."""
        x = x[self.places.order]
        x = x - x[self.layout.start]
        if self._n is None:
            self._n = self._second(self.places.weighted(torch.ones_like(x)))
        flow = self._n * x - self._second(self.places.weighted(x))
        return self.places.to_members(self.places.weighted(self.layout.u) * flow)


class EvenDeviceLoss(SmoothDeviceLoss[Loss]):
    """A loss by its kernel."""

    asks_width = True
    member_bytes = 4900  # polynomials and coefficients of each place, where each has a cell of its own

    @property
    @abstractmethod
    def kernel(self) -> Kernel:
        """Psi and its derivatives."""

    def at(self, layout: Layout, scores: Tensor, width: float = math.inf) -> EvenPoint:
        """Value, gradient and curvature."""
        return EvenPoint(layout, scores, self.kernel, width)
