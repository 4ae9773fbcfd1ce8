"""Sums over active pairs for losses made of squared hinges, phi(z) = sum_k a_k max(0, m_k - z)^2.

The squared hinge is one term (a, m) = (1, 1); the Huberised hinge of width mu is two, (1/(2 mu), 1) and
(-1/(2 mu), 1 - mu). With e = c - d, n = c + d (the weights of a member's active partners at margin m) and S the sum of
its active partners' scores, a term's sum over pairs is m (m N + s.e) + s.G with gradient 2 G, where
G = m e + n s - S (P-SWX, equations (4)-(8), with any margin).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._jit import kernel, summing_kernel


@summing_kernel
def smooth_direct(
    s: Any, v: Any, u: Any, level_ptr: Any, ranking_levels: Any, rankings: Any, a: Any, m: Any, g: Any
) -> float:
    """Sum of u v_i v_j phi(s_i - s_j) over the short rankings listed, pair by pair; g becomes its gradient.

    a and m are tuples: their length is known to the compiler, which unrolls the loop over terms.
    """
    value = 0.0
    for t in range(rankings.size):
        r = rankings[t]
        first_level, last_level = ranking_levels[r], ranking_levels[r + 1]
        end = level_ptr[last_level]
        for i in range(level_ptr[first_level], end):
            g[i] = 0.0
        total = 0.0
        for level in range(first_level, last_level):
            above = level_ptr[level + 1]
            winners, pull, weight = s[above:end], g[above:end], v[above:end]
            for i in range(level_ptr[level], above):
                s_i, factor, sum1, sum2 = s[i], u[r] * v[i], 0.0, 0.0
                for j in range(winners.size):
                    z = winners[j] - s_i
                    slope, phi = 0.0, 0.0
                    for k in range(len(a)):
                        h = m[k] - z if z < m[k] else 0.0
                        slope += 2.0 * a[k] * h
                        phi += a[k] * h * h
                    pull[j] -= factor * weight[j] * slope
                    sum1 += weight[j] * slope
                    sum2 += weight[j] * phi
                g[i] += factor * sum1
                total += factor * sum2
        value += total
    return value


@summing_kernel
def laplacian_direct(
    s: Any, v: Any, u: Any, level_ptr: Any, ranking_levels: Any, rankings: Any, a: Any, m: Any, V: Any, out: Any
) -> None:
    """Out = L V for the short rankings listed; L = sum over pairs of u v_i v_j phi''(z) (1_i - 1_j)(1_i - 1_j)^T."""
    for t in range(rankings.size):
        r = rankings[t]
        first_level, last_level = ranking_levels[r], ranking_levels[r + 1]
        end = level_ptr[last_level]
        for i in range(level_ptr[first_level], end):
            out[i] = 0.0
        for level in range(first_level, last_level):
            above = level_ptr[level + 1]
            winners, pull, weight, values = s[above:end], out[above:end], v[above:end], V[above:end]
            for i in range(level_ptr[level], above):
                s_i, factor, V_i, total = s[i], 2.0 * u[r] * v[i], V[i], 0.0
                for j in range(winners.size):
                    second = 0.0
                    for k in range(len(a)):
                        second += a[k] if winners[j] - s_i < m[k] else 0.0
                    flow = weight[j] * second * (V_i - values[j])
                    pull[j] -= factor * flow
                    total += flow
                out[i] += factor * total


@kernel
def squared_sums(s: Any, v: Any, u: float, a: float, m: float, c: Any, d: Any, S: Any, g: Any) -> float:
    """Add one term of one sorted ranking to g, and return its sum: the formula at the top of this file. O(n).

    s are differences to the ranking's median; c, d and S hold the sums over active partners.
    """
    value = 0.0
    for i in range(s.size):
        e, n = c[i] - d[i], c[i] + d[i]
        G = m * e + n * s[i] - S[i]
        value += v[i] * (m * (m * c[i] + s[i] * e) + s[i] * G)
        g[i] += 2.0 * u * a * v[i] * G
    return u * a * value


@kernel
def laplacian_sums(v: Any, u: float, a: float, n: Any, V: Any, S: Any, out: Any) -> None:
    """Add one term of one sorted ranking to out: 2 u a v (n V - S), S the sum of v V over active partners. O(n)."""
    for i in range(V.size):
        out[i] += 2.0 * u * a * v[i] * (n[i] * V[i] - S[i])


@kernel
def loser_sums(
    X: Any, row: Any, s: Any, v: Any, level_ptr: Any, ranking_levels: Any, terms: Any, tree: Any, D: Any
) -> None:
    """D_i = sum of 2 a v_j x_j over the active losers of each member of some rankings. O(n d log k).

    With n_i the sum of 2 a v_j over all active partners, the rankings' Hessian is T + T^T with
    T = X^T diag(u v) (n/2 X - D): one matrix product. Members are swept from the highest score down; losers enter a
    Fenwick tree over levels whose nodes are feature vectors (`tree`, one row per level and one more). D has a row for
    each member, from the first ranking's first; `ranking_levels` are those of the rankings given.
    """
    D[:] = 0.0
    first = level_ptr[ranking_levels[0]]
    for r in range(ranking_levels.size - 1):
        levels = level_ptr[ranking_levels[r] : ranking_levels[r + 1] + 1]
        start, end = levels[0], levels[-1]
        order = np.argsort(s[start:end])
        level_of = np.searchsorted(levels, np.arange(start, end), side="right") - 1
        for k in range(len(terms[0])):
            tree[: levels.size] = 0.0
            _sweep_losers(
                X, row[start:end], s[start:end], v[start:end], level_of, order, terms[0][k], terms[1][k],
                tree[: levels.size], D[start - first : end - first],
            )  # fmt: skip


@kernel
def _sweep_losers(
    X: Any, row: Any, s: Any, v: Any, level_of: Any, order: Any, a: float, m: float, tree: Any, D: Any
) -> None:
    """Add one term of one ranking to D."""
    n_rows, n_levels = row.size, tree.shape[0] - 1
    q = n_rows
    for p in range(n_rows - 1, -1, -1):
        i = order[p]
        while q > 0 and s[i] - s[order[q - 1]] < m:
            q -= 1
            j = order[q]
            node = level_of[j] + 1
            while node <= n_levels:
                for f in range(X.shape[1]):
                    tree[node, f] += v[j] * X[row[j], f]
                node += node & -node
        node = level_of[i]
        while node > 0:
            for f in range(X.shape[1]):
                D[i, f] += 2.0 * a * tree[node, f]
            node &= node - 1
