"""An engine that counts products with X, whatever they are asked for."""

from linrank.engines import LocalEngine


class ProductsEngine(LocalEngine):
    """Counts products with X and with X^T."""

    products = 0

    def to_members(self, matrix, w):
        self.products += 1
        return super().to_members(matrix, w)

    def to_features(self, matrix, parts):
        self.products += 1
        return super().to_features(matrix, parts)
