"""How sure a model's weights are: `linrank inspect MODEL --data FILE --intervals`."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import click

from ._help import OUTPUT, in_group
from ._options import Reading, gathered


@dataclass(frozen=True)
class Intervals:
    """What was asked for."""

    data: str | None = None
    intervals: bool = False
    method: str = "sandwich"
    feature: tuple[str, ...] = ()
    pairs: str | None = None
    query_weights: str | None = None

    def check(self) -> None:
        """Data is for intervals, and intervals need data."""
        if self.intervals != (self.data is not None):
            raise click.UsageError("--intervals and --data go together: name the data that the model was trained on.")

    def show(self, file: str, reading: Reading, as_json: bool) -> None:
        """Print the summary; progress goes to standard error."""
        from ..inference import infer
        from . import _report
        from ._files import read_data
        from ._loaded import Loaded
        from ._pairs import pairs_of
        from ._parameters import read_query_weights
        from ._terminal import echo

        assert self.data is not None
        model = Loaded.of(file)
        features: dict[str, Any] = {"names": model.names, "n_features": model.n_features}
        data = read_data(self.data, reading, labelled=self.pairs is None, **features)
        more: dict[str, Any] = {"sample_weight": data.sample_weight, "method": self.method}
        if self.pairs is not None:
            more["pairs"] = pairs_of(self.pairs, data, self.data, reading)
        if self.query_weights is not None:
            more["query_weight"] = read_query_weights(self.query_weights, data)
        if self.feature:
            more["features"] = list(dict.fromkeys(self.feature))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X does not have valid feature names")  # they were matched by the reader
            found = infer(model.ranker(), data.X, data.y, data.qid, **more)
        if as_json:
            _report.print_json({"path": file, "kind": "intervals", "data": self.data, **found.to_dict()})
            return
        for line in str(found.summary()).split("\n"):
            echo(line)


intervals_options = gathered(
    "asked",
    Intervals,
    in_group(
        OUTPUT,
        click.option("--data", metavar="FILE", help="The data that a model was trained on, for --intervals."),
        click.option("--intervals", is_flag=True, help="Of a model: errors and 95 % intervals of its weights."),
        click.option("--method", default="sandwich", show_default=True, type=click.Choice(("sandwich", "bootstrap")),
                     help="How intervals are found; the hinge needs the bootstrap."),
        click.option("--feature", multiple=True, metavar="NAME", help="Intervals of this one; may be repeated."),
        click.option("--pairs", metavar="FILE", help="The explicit preferences that it was trained on."),
        click.option("--query-weights", metavar="FILE", help="The weights of queries that it was trained with."),
    ),
)  # fmt: skip
