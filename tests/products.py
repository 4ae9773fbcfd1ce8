"""Products with X: an engine that counts them, and what they give row by row."""

import numpy as np

from linrank.engines import LocalEngine


class ProductsEngine(LocalEngine):
    """Counts products with X and with X^T."""

    products = 0

    def dot(self, matrix, w):
        self.products += 1
        return super().dot(matrix, w)

    def transpose_dot(self, matrix, parts, scale=None):
        self.products += 1
        return super().transpose_dot(matrix, parts, scale)


def dot(engine: LocalEngine, w: np.ndarray, matrix=None) -> np.ndarray:
    """X w row by row, of data whose rows are all in one ranking each."""
    scores = np.full(engine.data.n_rows, np.nan)
    scores[engine.data.preferences.row] = engine.dot(matrix or engine.matrix, w)
    return scores


def transpose_dot(engine: LocalEngine, g: np.ndarray, matrix=None) -> np.ndarray:
    """X^T g, of data whose rows are all in one ranking each."""
    return engine.transpose_dot(matrix or engine.matrix, [g[block.rankings.row] for block in engine.blocks])
