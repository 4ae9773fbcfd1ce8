"""Splitters and cross-validation that never split a query, and folds of explicit pairs."""

from .cross_validation import cross_validate
from .pair_folds import PairKFold
from .splitters import QueryKFold, QueryShuffleSplit

__all__ = ["PairKFold", "QueryKFold", "QueryShuffleSplit", "cross_validate"]
