"""What other libraries' `fit` takes and ours does not: refused in a sentence that says what to do instead."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

from .._errors import ParameterError, memory_in_words

Fit = TypeVar("Fit", bound=Callable[..., Any])

#: Keywords of XGBoost's, LightGBM's and CatBoost's rankers that speak of a second data set.
OF_EVALUATION = (
    *("eval_set", "eval_qid", "eval_group", "eval_metric", "eval_names", "eval_at", "eval_sample_weight"),
    *("early_stopping_rounds", "use_best_model", "callbacks"),
)
GROUP_IDS = ("group_id", "groups", "query_id")


def refuses(fit: Fit) -> Fit:
    """`fit` as it is, its signature too; keywords that users of other rankers bring along are refused with the cure.

    Where memory runs out, that is a sentence as well.
    """
    taken = inspect.signature(fit).parameters

    @functools.wraps(fit)
    def checked(*args: Any, **given: Any) -> Any:
        for name in given:
            if name in OF_EVALUATION:
                raise ParameterError(
                    f"fit takes no {name}: a linear fit ends by its own certificate, so nothing is watched meanwhile. "
                    "Judge other data by score(X, y, qid) afterwards (linrank train --valid FILE), and choose alpha on "
                    "it by LinearRankerCV(cv=[(train rows, valid rows)], refit=False)."
                )
            if name in GROUP_IDS:
                raise ParameterError(f"fit takes no {name}: give the query of each row as qid=, or sizes as group=.")
            if name == "client" and name not in taken:
                raise ParameterError("fit takes no client: it is LinearRanker that trains on a cluster.")
        with memory_in_words():
            return fit(*args, **given)

    return cast(Fit, checked)
