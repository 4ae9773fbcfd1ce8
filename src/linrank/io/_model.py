"""Model: what a model file holds, between the fitted ranker and the bytes."""

from __future__ import annotations

import importlib
import logging
import math
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from .._errors import ModelFileError
from .._typing import FloatArray

if TYPE_CHECKING:
    from ..rankers.predictor import LinearPredictor

logger = logging.getLogger("linrank")

#: The estimators that can be saved, public names of linrank or of linrank.published, and the attributes that only they
#: have.
ESTIMATORS: dict[str, tuple[str, ...]] = {
    "LinearRanker": (),
    "LinearRankerCV": ("alpha_",),
    "SGDRanker": ("t_",),
    "AUCClassifier": ("classes_", "intercept_", "slope_"),
    **dict.fromkeys(("TreeRSVM", "PairRSVM", "OSTRankSVM", "DCMRankSVM", "PSWXRankSVM", "SPD", "RankNCG"), ()),
}
#: Training facts and the attributes of a fitted ranker that they come from and go back to.
FACTS = {
    "rows": "n_rows_",
    "queries": "n_queries_",
    "pairs": "n_pairs_",
    "objective": "objective_",
    "gap": "gap_",
    "iterations": "n_iter_",
    "status": "status_",
    "fitted_with_qid": "fitted_with_qid_",
    "alpha": "alpha_",
}


@dataclass(frozen=True, eq=False)
class Model:
    """All that a model file holds.

    Attributes
    ----------
    estimator : str
        Class of the ranker.
    parameters : dict
        Its constructor's parameters.
    weights : (d,)
        `coef_`.
    names : list of str or None
        `feature_names_in_`.
    scale : (d,) or None
        `scale_`, None where all of it is 1.
    missing : str
        What happens to missing values: "error", "zero" or "mean".
    fill : (d,) or None
        What they are replaced by.
    state : dict
        Attributes that only its class has, by ESTIMATORS.
    training : dict
        Facts: rows, queries, pairs, features, loss, alpha, objective, gap, iterations, status, fitted_with_qid, the
        version of linrank and the date (UTC). None where not known.
    by_hand : bool
        Whether somebody wrote the weights, as {"bm25": 0.7}: features that are not named weigh 0.
    """

    estimator: str
    parameters: dict[str, Any]
    weights: FloatArray
    names: list[str] | None = None
    scale: FloatArray | None = None
    missing: str = "error"
    fill: FloatArray | None = None
    state: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)
    by_hand: bool = False

    @property
    def intercept(self) -> float | None:
        """What a classifier adds to every score; None of a ranker."""
        return float(self.state["intercept_"][0]) if "intercept_" in self.state else None

    @classmethod
    def of(cls, estimator: Any) -> Model:
        """The model of a fitted ranker, or of a classifier made of one."""
        from sklearn.utils.validation import check_is_fitted  # not at the top: reading a model needs no scikit-learn

        check_is_fitted(estimator)
        name = type(estimator).__name__
        if name not in ESTIMATORS:
            kinds = ", ".join(ESTIMATORS)
            raise ModelFileError(f"{name} cannot be saved: model files hold {kinds}. joblib.dump keeps any estimator.")
        ranker: LinearPredictor = getattr(estimator, "ranker_", estimator)
        names = getattr(estimator, "feature_names_in_", None)
        scale = getattr(ranker, "scale_", None)
        return cls(
            estimator=name,
            parameters={key: value for key, value in estimator.get_params(deep=False).items() if key != "device"},
            weights=np.asarray(ranker.coef_, dtype=np.float64),
            names=None if names is None else [str(feature) for feature in names],
            scale=None if scale is None or np.all(scale == 1) else np.asarray(scale, dtype=np.float64),
            missing=ranker.missing,
            fill=ranker.fill_,
            state={attribute: getattr(estimator, attribute) for attribute in ESTIMATORS[name]},
            training=_facts(ranker),
        )

    def ranker(self) -> Any:
        """The fitted ranker (or classifier): it predicts as the one that was saved, to the last bit."""
        linrank = importlib.import_module("linrank")
        kind = getattr(linrank if self.estimator in linrank.__all__ else linrank.published, self.estimator)
        known = kind._get_param_names()
        unknown = sorted(set(self.parameters) - set(known))
        if unknown:
            logger.warning("The model's parameter %s is not known to this linrank: it is left out", unknown[0])
        for name in getattr(kind, "_required_parameters", ()):
            if name not in self.parameters:
                raise ModelFileError(f"The model of a {self.estimator} has no parameter {name}: save the model again.")
        estimator = kind(**{name: value for name, value in self.parameters.items() if name in known})
        if self.estimator == "AUCClassifier":
            inner = replace(self, estimator="LinearRanker", names=None, state={})
            theirs = linrank.LinearRanker().get_params(deep=False)
            inner = replace(inner, parameters={k: v for k, v in self.parameters.items() if k in theirs})
            fitted = {"ranker_": inner.ranker(), "coef_": self.weights[None, :]}
            if self.training.get("iterations") is not None:
                fitted["n_iter_"] = self.training["iterations"]
        else:
            fitted = self._attributes()
        fitted |= {"n_features_in_": self.weights.size, **self.state}
        if self.names is not None:
            fitted["feature_names_in_"] = np.array(self.names, dtype=object)
        for attribute, value in fitted.items():
            setattr(estimator, attribute, value)
        return estimator

    def _attributes(self) -> dict[str, Any]:
        """What every fitted linear ranker has; facts that are not known are left out, or NaN where they are floats."""
        facts = {attribute: self.training.get(fact) for fact, attribute in FACTS.items()}
        facts |= {name: np.nan for name in ("objective_", "gap_") if facts[name] is None}
        return {
            "coef_": self.weights,
            "scale_": np.ones(self.weights.size) if self.scale is None else self.scale,
            "fill_": self.fill,
            **{attribute: value for attribute, value in facts.items() if value is not None},
        }


def _facts(ranker: LinearPredictor) -> dict[str, Any]:
    facts: dict[str, Any] = {fact: getattr(ranker, attribute, None) for fact, attribute in FACTS.items()}
    if facts["alpha"] is None and not isinstance(getattr(ranker, "alpha", ""), str):
        facts["alpha"] = ranker.alpha  # fitted by a linrank that knew no other
    for fact, value in facts.items():
        if isinstance(value, float) and not math.isfinite(value):
            facts[fact] = None  # JSON has no NaN, and that of a stochastic solver's gap means that it is not known
    return {
        **facts,
        "features": int(ranker.coef_.size),
        "loss": getattr(ranker.loss, "name", ranker.loss),
        "linrank": __version__,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }
