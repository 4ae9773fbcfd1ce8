"""The Dask engine: a sum engine whose parts live on workers. Only `Dask` is imported before a cluster is asked for."""

from .config import Dask

__all__ = ["Dask"]
