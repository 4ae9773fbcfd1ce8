"""Products with X: an engine that counts them, and what they give row by row."""

import numpy as np

from linrank.engines import LocalEngine


class ProductsEngine(LocalEngine):
    """Counts products with X and with X^T."""

    products = 0

    def dot(self, reading, w):
        self.products += 1
        return super().dot(reading, w)

    def transpose_dot(self, reading, parts, scale=None):
        self.products += 1
        return super().transpose_dot(reading, parts, scale)


def dot(engine: LocalEngine, w: np.ndarray, reading=None) -> np.ndarray:
    """X w row by row, of data whose rows are all in one ranking each."""
    scores = np.full(engine.data.n_rows, np.nan)
    scores[engine.data.preferences.row] = engine.dot(reading or engine.exact, w)
    return scores


def transpose_dot(engine: LocalEngine, g: np.ndarray, reading=None) -> np.ndarray:
    """X^T g, of data whose rows are all in one ranking each."""
    return engine.transpose_dot(reading or engine.exact, [g[block.rankings.row] for block in engine.blocks])
