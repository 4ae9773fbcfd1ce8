"""Sums over active pairs for losses made of squared hinges, phi(z) = sum_k a_k max(0, m_k - z)^2.

The squared hinge is one term (a, m) = (1, 1); the Huberised hinge of width mu is two, (1/(2 mu), 1) and
(-1/(2 mu), 1 - mu). With e = c - d, n = c + d (the weights of a member's active partners at margin m) and S the sum of
its active partners' scores, a term's sum over pairs is m (m N + s.e) + s.G with gradient 2 G, where
G = m e + n s - S (P-SWX, equations (4)-(8), with any margin).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._jit import inlined, kernel, summing_kernel
from ._vector import add_row, prefetch

AHEAD = 6  # members
LINE = 8  # entries asked for at a time: a cache line of float64


@summing_kernel
def smooth_direct(
    s: Any, v: Any, u: Any, level_ptr: Any, ranking_levels: Any, rankings: Any, a: float, m: float, inside: Any, g: Any
) -> tuple[float, float, float]:
    """Sums over the short rankings listed, pair by pair: of c phi(z), of c (-phi'(z)), and of c max(0, m - z).

    phi(z) = a h^2 with h = max(0, m - z), less a max(0, inside - z)^2 where `inside` is not None: then -phi' is
    2 a min(h, m - inside), which is never rounded to more than its largest value. g becomes the gradient of the first
    sum; v is None for unit weights.
    """
    value, pulls, hinges = 0.0, 0.0, 0.0
    for t in range(rankings.size):
        r = rankings[t]
        first_level, last_level = ranking_levels[r], ranking_levels[r + 1]
        start = level_ptr[first_level]
        for i in range(start, level_ptr[last_level]):
            g[i] = 0.0
        for level in range(first_level + 1, last_level):
            here = level_ptr[level]
            losers, push, weight = s[start:here], g[start:here], s if v is None else v[start:here]
            for i in range(here, level_ptr[level + 1]):
                s_i, factor, sum0, sum1, sum2 = s[i], u[r] if v is None else u[r] * v[i], 0.0, 0.0, 0.0
                for j in range(losers.size):
                    z = s_i - losers[j]
                    h = m - z if z < m else 0.0
                    k = h if inside is None else min(h, m - inside)
                    v_j = 1.0 if v is None else weight[j]
                    push[j] += 2.0 * a * factor * v_j * k
                    sum0 += v_j * h
                    sum1 += v_j * k
                    sum2 += v_j * k * (2.0 * h - k)
                g[i] -= 2.0 * a * factor * sum1
                hinges += factor * sum0
                pulls += 2.0 * a * factor * sum1
                value += a * factor * sum2
    return value, pulls, hinges


@summing_kernel
def laplacian_direct(
    s: Any, v: Any, u: Any, level_ptr: Any, ranking_levels: Any, rankings: Any, a: float, m: float, inside: Any, V: Any,
    out: Any,
) -> None:  # fmt: skip
    """Out = L V for the short rankings listed; L = sum over pairs of u v_i v_j phi''(z) (1_i - 1_j)(1_i - 1_j)^T.

    phi'' is 2 a where z < m and not z < inside; v is None for unit weights.
    """
    for t in range(rankings.size):
        r = rankings[t]
        first_level, last_level = ranking_levels[r], ranking_levels[r + 1]
        start = level_ptr[first_level]
        for i in range(start, level_ptr[last_level]):
            out[i] = 0.0
        for level in range(first_level + 1, last_level):
            here = level_ptr[level]
            losers, push, values = s[start:here], out[start:here], V[start:here]
            weight = s if v is None else v[start:here]
            for i in range(here, level_ptr[level + 1]):
                s_i, factor, V_i, total = s[i], 2.0 * a * (u[r] if v is None else u[r] * v[i]), V[i], 0.0
                for j in range(losers.size):
                    z = s_i - losers[j]
                    second = 1.0 if z < m else 0.0
                    if inside is not None:
                        second -= 1.0 if z < inside else 0.0
                    flow = (1.0 if v is None else weight[j]) * second * (V_i - values[j])
                    push[j] -= factor * flow
                    total += flow
                out[i] += factor * total


@kernel
def squared_sums(
    s: Any, centre: float, v: Any, u: float, a: float, m: float, first: int, last: int, c: Any, d: Any, n: Any, g: Any
) -> tuple[float, float]:
    """Gradient g of one sorted ranking; the sums of a h^2 and of h = max(0, m - z), by the formulas above. O(n).

    Members first ... last - 1; s are taken as differences to the ranking's median, `centre`. c and d hold the weights
    of active partners, n becomes their sum; g holds S, and becomes the gradient. v is None for unit weights.
    """
    value, hinge = 0.0, 0.0
    for i in range(np.uint64(first), np.uint64(last)):
        s_i, weight = s[i] - centre, 1.0 if v is None else v[i]
        e = c[i] - d[i]
        n[i] = c[i] + d[i]
        G = m * e + n[i] * s_i - g[i]
        h = weight * (m * c[i] + s_i * e)
        hinge += h
        value += m * h + weight * s_i * G
        g[i] = 2.0 * u * a * weight * G
    return u * a * value, u * hinge


@kernel
def largest_moment(s: Any, centre: float, v: Any, first: int, last: int) -> float:
    """The largest v |s - centre| of members first ... last - 1; v is None for unit weights, s for v alone. O(n)."""
    largest = 0.0
    for i in range(np.uint64(first), np.uint64(last)):
        x = 1.0 if v is None else v[i]
        if s is not None:
            x *= s[i] - centre
        largest = max(largest, abs(x))
    return largest


@kernel
def leading_bits(s: Any, centre: float, v: Any, unit: float, rest: bool, first: int, last: int, out: Any) -> None:
    """Out = v (s - centre) in whole multiples of 1 / unit, or exactly the rest of it. O(n).

    v is None for unit weights; of the weights themselves, s is None.
    """
    for i in range(np.uint64(first), np.uint64(last)):
        x = 1.0 if v is None else v[i]
        if s is not None:
            x *= s[i] - centre
        high = np.rint(x * unit) / unit
        out[i] = x - high if rest else high


@kernel
def band_sums(
    s: Any, centre: float, v: Any, u: float, steps: Any, first: int, last: int, band: Any, inner: Any, g: Any
) -> tuple[float, float, float]:  # fmt: skip
    """Sums of c phi, of c (-phi') and of c h of the Huberised hinge in one sorted ranking; g becomes the gradient.

    Members first ... last - 1; steps are (a, m, width). With h = m - z, phi is a h^2 in the band m - width <= z < m,
    and h - width/2 inside of it: as the difference of two squared hinges it would lose as many digits as a has. `band`
    holds c and d of the partners in the band, `inner` of those inside of it; g holds S of the band. s is taken as in
    `squared_sums`. O(n).
    """
    (a, m, width), (c1, d1), (c0, d0) = steps, band, inner
    square, hinge, linear, count = 0.0, 0.0, 0.0, 0.0
    for i in range(np.uint64(first), np.uint64(last)):
        s_i, c, d = s[i] - centre, c1[i], d1[i]
        e = c - d
        G = m * e + (c + d) * s_i - g[i]
        weight = 1.0 if v is None else v[i]
        h = weight * (m * c + s_i * e)
        hinge += h
        square += m * h + weight * s_i * G
        c, e = c0[i], c0[i] - d0[i]
        count += weight * c
        linear += weight * (m * c + s_i * e)
        g[i] = u * weight * (e + 2.0 * a * G)
    return u * (a * square + linear - 0.5 * width * count), u * (count + 2.0 * a * hinge), u * (linear + hinge)


@kernel
def laplacian_sums(v: Any, u: float, a: float, n: Any, V: Any, S: Any, add: bool, out: Any, part: Any) -> None:
    """One term of one sorted ranking, to out or added to it: 2 u a v (n V - S), S the sum of v V over active partners.

    Members part[0] ... part[1] - 1. O(n).
    """
    for i in range(np.uint64(part[0]), np.uint64(part[1])):
        weight = 1.0 if v is None else v[i]
        before = out[i] if add else 0.0
        out[i] = before + 2.0 * u * a * weight * (n[i] * V[i] - S[i])


@kernel
def half_hessian(
    X: Any, root: Any, sweep: Any, members: Any, rankings: Any, terms: Any, first: int, last: int, tree: Any,
    state: Any, rows: Any, E: Any,
) -> int:  # fmt: skip
    """Fill rows and E, whose T = rows^T E gives the Hessian of some rankings as T + T^T. O(d log k) a member.

    Returns how many rows they have: a member without active partners needs none.

    The sweep goes ranking by ranking and by falling score, so that the active losers of a member are those before a
    place that only moves on, one for each term: they enter a Fenwick tree over levels whose nodes are feature vectors,
    with the weight 2 a v_j. Places first ... last - 1 of the sweep are done; `state` keeps the ranking and each term's
    place from one call to the next, zeros at first. With D the sum of 2 a v_j x_j over the active losers and n that of
    2 a v_j over all active partners, E = u v (n/2 x - D).

    sweep = (s, member), members = (row, level, v, n), rankings = (ptr, n_levels, u). Features are multiplied twice by
    `root` = 1/sqrt(scale), because features and scale may lie near the ends of the range.
    """
    (s, member), (row, level, v, n), (ptr, n_levels, u), (a, m) = sweep, members, rankings, terms
    loser, at = rows.shape[0] - 1, 0  # the last row holds the loser that enters
    for p in range(first, last):
        if p == ptr[state[0]]:  # a ranking begins
            state[1:] = p
            tree[: n_levels[state[0]] + 1] = 0.0
            state[0] += 1
        end, top, weight = ptr[state[0]], n_levels[state[0] - 1], u[state[0] - 1]
        i = member[p]
        if n[i] == 0.0:
            continue
        prefetch_row(X, row[member[min(p + AHEAD, member.size - 1)]])
        read_row(X, root, row[i], rows, at)
        for f in range(rows.shape[1]):
            E[at, f] = 0.5 * n[i] * rows[at, f]
        for k in range(len(a)):
            q = state[k + 1]
            while q < end and s[p] - s[q] < m[k]:
                j = member[q]
                prefetch_row(X, row[member[min(q + AHEAD, member.size - 1)]])
                read_row(X, root, row[j], rows, loser)
                node = np.int64(level[j]) + 1
                while node <= top:
                    add_row(tree, node, rows, loser, 2.0 * a[k] * v[j])
                    node += node & -node
                q += 1
            state[k + 1] = q
        node = np.int64(level[i])
        while node > 0:
            add_row(E, at, tree, node, -1.0)
            node &= node - 1
        for f in range(rows.shape[1]):
            E[at, f] *= weight * v[i]
        at += 1
    return at


@inlined
def prefetch_row(X: Any, i: int) -> None:
    """Ask for a row before it is needed: rows lie anywhere in memory. In C order; harmless in any other."""
    for f in range(0, X.shape[1], LINE):
        prefetch(X, i * X.shape[1] + f)


@inlined
def read_row(X: Any, root: Any, i: int, rows: Any, at: int) -> None:
    """rows[at] = X[i] root^2, then zeros."""
    for f in range(X.shape[1]):
        rows[at, f] = X[i, f] * root[f] * root[f]
    for f in range(X.shape[1], rows.shape[1]):
        rows[at, f] = 0.0
