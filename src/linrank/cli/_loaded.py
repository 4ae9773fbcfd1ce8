"""A model as commands use it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._typing import FloatArray
from ..engines.matrix import predict
from ..io import Dataset, Model, read_model


@dataclass(frozen=True, eq=False)
class Loaded:
    """A model and the file it came from. It scores without scikit-learn, which takes a second to import."""

    path: str
    model: Model

    @classmethod
    def of(cls, path: str) -> Loaded:
        """Read a model file."""
        return cls(path, read_model(path))

    @property
    def names(self) -> list[str] | None:
        """Names of the features; they are matched when data is read."""
        return self.model.names

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.model.weights.size

    @property
    def fill(self) -> FloatArray | None:
        """What takes the place of missing values."""
        return self.model.fill

    def ranker(self) -> Any:
        """The fitted ranker (or classifier), with the names of its features."""
        return self.model.ranker()

    @property
    def preferences(self) -> Any:
        """Those that it was trained on."""
        return self.model.parameters.get("preferences", "full")

    @property
    def why(self) -> str:
        """Why these."""
        return "the default" if self.model.by_hand else "as trained"

    @property
    def fitted_with_qid(self) -> bool:
        """Whether it was trained with queries."""
        return bool(self.model.training.get("fitted_with_qid"))

    def score(self, X: Any) -> FloatArray:
        """Scores of rows as a reader gives them: `predict` of a ranker, `decision_function` of a classifier."""
        if self.model.by_hand and X.shape[1] > self.n_features:
            X = X[:, : self.n_features]
        return predict(X, self.model.weights, self.model.fill, self.model.intercept)

    def scores_of(self, chunk: Dataset, first: int) -> FloatArray:
        """Scores of the rows of a chunk."""
        return self.score(chunk.X)

    def check_all_used(self, n_rows: int, data: str) -> None:
        """A model scores any number of rows."""
