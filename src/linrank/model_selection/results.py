"""Results: what the folds say of each alpha, as columns of one length."""

from __future__ import annotations

from typing import Any

import numpy as np


class Results(dict[str, Any]):
    """`cv_results_`: a dictionary that ``pandas.DataFrame`` takes as it is, one row an alpha.

    "scores" and "n_iter", asked for by name, are the folds' columns side by side: alphas by folds.
    """

    def __missing__(self, key: str) -> Any:
        endings = {"scores": "_score", "n_iter": "_n_iter"}
        if key not in endings:
            raise KeyError(key)
        folds = [name for name in self if name.startswith("split") and name.endswith(endings[key])]
        return np.column_stack([self[name] for name in folds])
