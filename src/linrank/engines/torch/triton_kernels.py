"""P-SWX's kernel in Triton: all pairs of a tile of rows in registers, no sort, no atomics (section 3.1, Algorithm 2).

A program has BLOCK rows of one ranking and goes over all its rows by BLOCK. Sums of h itself are added up, so nothing
cancels. Accumulators are (BLOCK, BLOCK) and are reduced once, after the loop. KIND is 0 for the hinge, 1 squared, 2
Huberised, 3 logistic. Margins come in a tensor: a Python float would be rounded to float32 when compiled.
"""

# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False
# Triton reads annotations as part of the kernel: none but constexpr.
from __future__ import annotations

import triton
import triton.language as tl

HINGE, SQUARED, HUBER, LOGISTIC = range(4)


@triton.jit
def evaluate(
    s, level, v, tile_first, tile_begin, tile_end, margins, pull, value,
    hinge, slope, KIND: tl.constexpr, BLOCK: tl.constexpr,
) -> None:  # fmt: skip
    """Of each row sums over its partners j: of v_j (-phi') with its sign, and where it wins of v_j phi, h and -phi'."""
    tile = tl.program_id(0)
    end = tl.load(tile_end + tile)
    i = tl.load(tile_first + tile) + tl.arange(0, BLOCK)
    real_i = i < end
    s_i = tl.load(s + i, mask=real_i, other=0.0)[:, None]
    level_i = tl.load(level + i, mask=real_i, other=0)[:, None]
    m = tl.load(margins)
    inside = tl.load(margins + 1)
    pulls = tl.zeros((BLOCK, BLOCK), dtype=s.dtype.element_ty)
    values = tl.zeros((BLOCK, BLOCK), dtype=s.dtype.element_ty)
    hinges = tl.zeros((BLOCK, BLOCK), dtype=s.dtype.element_ty)
    slopes = tl.zeros((BLOCK, BLOCK), dtype=s.dtype.element_ty)
    for at in range(tl.load(tile_begin + tile), end, BLOCK):
        j = at + tl.arange(0, BLOCK)
        real_j = j < end
        s_j = tl.load(s + j, mask=real_j, other=0.0)[None, :]
        v_j = tl.load(v + j, mask=real_j, other=0.0)[None, :]  # rows beyond the end weigh 0
        level_j = tl.load(level + j, mask=real_j, other=0)[None, :]
        loses = level_j > level_i
        wins = level_j < level_i
        weight = tl.where(loses | wins, v_j, 0.0)
        z = tl.where(loses, s_j - s_i, s_i - s_j)
        h = tl.where(z < m, m - z, 0.0)
        if KIND == 0:
            k = tl.where(z < m, 1.0, 0.0).to(h.dtype)
            phi = h
        elif KIND == 1:
            k = 2.0 * h
            phi = h * h
        elif KIND == 2:
            width = m - inside
            short = tl.minimum(h, width)
            k = short / width
            phi = 0.5 * k * (2.0 * h - short)
        else:
            x = tl.exp(-tl.abs(z))
            more = 1.0 + x
            log = tl.where(more == 1.0, x, tl.log(more) * x / tl.where(more == 1.0, 1.0, more - 1.0))
            k = tl.where(z > 0, x, 1.0) / more
            phi = log + tl.where(z > 0, 0.0, -z)
        pulls += tl.where(loses, weight * k, -weight * k)
        won = tl.where(wins, weight, 0.0)
        values += won * phi
        hinges += won * h
        slopes += won * k
    tl.store(pull + i, tl.sum(pulls, 1), mask=real_i)
    tl.store(value + i, tl.sum(values, 1), mask=real_i)
    tl.store(hinge + i, tl.sum(hinges, 1), mask=real_i)
    tl.store(slope + i, tl.sum(slopes, 1), mask=real_i)


@triton.jit
def multiply(
    s, level, v, tile_first, tile_begin, tile_end, margins, x, out,
    KIND: tl.constexpr, BLOCK: tl.constexpr,
) -> None:  # fmt: skip
    """Of each row the sum over its partners of v_j phi'' (x_i - x_j)."""
    tile = tl.program_id(0)
    end = tl.load(tile_end + tile)
    i = tl.load(tile_first + tile) + tl.arange(0, BLOCK)
    real_i = i < end
    s_i = tl.load(s + i, mask=real_i, other=0.0)[:, None]
    x_i = tl.load(x + i, mask=real_i, other=0.0)[:, None]
    level_i = tl.load(level + i, mask=real_i, other=0)[:, None]
    m = tl.load(margins)
    inside = tl.load(margins + 1)
    flows = tl.zeros((BLOCK, BLOCK), dtype=s.dtype.element_ty)
    for at in range(tl.load(tile_begin + tile), end, BLOCK):
        j = at + tl.arange(0, BLOCK)
        real_j = j < end
        s_j = tl.load(s + j, mask=real_j, other=0.0)[None, :]
        x_j = tl.load(x + j, mask=real_j, other=0.0)[None, :]
        v_j = tl.load(v + j, mask=real_j, other=0.0)[None, :]  # rows beyond the end weigh 0
        level_j = tl.load(level + j, mask=real_j, other=0)[None, :]
        loses = level_j > level_i
        weight = tl.where(loses | (level_j < level_i), v_j, 0.0)
        z = tl.where(loses, s_j - s_i, s_i - s_j)
        if KIND == 1:
            second = tl.where(z < m, 2.0, 0.0).to(z.dtype)
        elif KIND == 2:
            second = tl.where((z < m) & (z >= inside), 1.0, 0.0).to(z.dtype) / (m - inside)
        else:
            fall = tl.exp(-tl.abs(z))
            second = fall / ((1.0 + fall) * (1.0 + fall))
        flows += weight * second * (x_i - x_j)
    tl.store(out + i, tl.sum(flows, 1), mask=real_i)
