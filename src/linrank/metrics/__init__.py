"""Metrics of rankings: pure functions of labels, scores and queries.

Each is ``NAME(y, scores, qid=None, *, ...)`` and costs one or two sorts, however many queries there are. `y` may be
`linrank.labels(y, qid)`. Metrics of ranked lists take `preset="trec"` (or "sklearn", "xgboost", "lightgbm", "letor") to
reproduce a tool, or single conventions by name: see `Conventions` and the documentation's page on metrics.
"""

from __future__ import annotations

from . import _listwise, _log_loss, _pairs
from ._compare import Comparison, compare
from ._conventions import Conventions
from ._listwise import *  # noqa: F403
from ._log_loss import *  # noqa: F403
from ._names import Metric, parse
from ._pairs import *  # noqa: F403
from ._scorer import scorer

__all__ = ["Comparison", "Conventions", "Metric", "compare", "parse", "scorer"]
__all__ += _listwise.__all__
__all__ += _pairs.__all__
__all__ += _log_loss.__all__
