"""The one place that chooses an engine."""

from __future__ import annotations

from ..data.ranking_data import RankingData
from .local import LocalEngine


def open_engine(data: RankingData, n_jobs: int | None = None) -> LocalEngine:
    """An engine for the data: this process, on so many threads."""
    return LocalEngine(data, n_jobs)
