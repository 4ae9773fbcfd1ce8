"""Splitters and cross-validation that never split a query."""

from .cross_validation import cross_validate
from .splitters import QueryKFold, QueryShuffleSplit

__all__ = ["QueryKFold", "QueryShuffleSplit", "cross_validate"]
