"""Kernels: a utility that no linear function orders, by a reduced set of basis points and by a whole kernel matrix.

`make_pipeline(Nystroem(...), LinearRanker())` is the reduced-set RankSVM: f = sum over the basis of b_j k(., x_j), with
the penalty alpha/2 |f|^2 of the kernel's space. `fit(K, y)` on a kernel matrix is RankNCG's equation 43, whose penalty
is on the coefficients themselves.

    python examples/kernels.py [ROWS]        with 1000000 rows the features take ROWS x 100 x 8 bytes, 0.8 GB

The cost is O(rows x basis) for the features, beside that of a linear ranker with as many columns as the basis has
points; the kernel matrix takes O(rows^2), so it is left out beyond 2,000 rows.
"""

import sys
import time

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline

from linrank import LinearRanker

BASIS, GAMMA = 100, 1.0


def circles(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points of a square; the nearer to its centre the better, with noise, in five grades."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n_rows, 2))
    distance = np.hypot(*X.T) + 0.05 * rng.standard_normal(n_rows)
    return X, -np.clip(np.floor(4 * distance), 0, 4)


def main(n_rows: int = 1000) -> float:
    X, y = circles(n_rows, seed=0)
    X_test, y_test = circles(2000, seed=1)
    linear = LinearRanker().fit(X, y)
    print(f"linear           held-out accuracy {linear.score(X_test, y_test):.3f}")

    begin = time.perf_counter()
    reduced = make_pipeline(
        Nystroem(gamma=GAMMA, n_components=BASIS, random_state=0), LinearRanker(alpha=1e-4, scale=False)
    ).fit(X, y)
    seconds = time.perf_counter() - begin
    print(f"reduced set      held-out accuracy {reduced.score(X_test, y_test):.3f}   {seconds:.2f} s, {n_rows:,} rows")

    if n_rows <= 2000:
        K, K_test = rbf_kernel(X, gamma=GAMMA), rbf_kernel(X_test, X, gamma=GAMMA)
        whole = LinearRanker("logistic", alpha=1e-3, scale=False).fit(K, y)
        print(f"kernel matrix    held-out accuracy {whole.score(K_test, y_test):.3f}")
    return reduced.score(X_test, y_test)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
