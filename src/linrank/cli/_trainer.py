"""Trainer: the ranker that options ask for, fitted to what they name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from ..defaults import ALL_IN_ORDER, ALMOST_ALL
from ..io import Dataset
from ..io._document import dumps
from ..io._model import Model
from ..rankers.linear import LinearRanker
from ..rankers.sgd import SGDRanker
from ._exact import Exact
from ._files import read_data, stream, writing
from ._loaded import Loaded
from ._options import Reading, Where
from ._parameters import Counted, exact_parameters, for_features, given, read_query_weights, refuse
from ._plan import read_from_disk

ONLY_EXACT = ("tol", "max_iter", "l1_ratio", "monotonic_cst", "bounds")
ONLY_STREAM = ("passes", "steps_per_row", "reservoir", "open_queries")
NOT_STREAM = ("n_steps", "pairs", "query_weights", "start")


def reading_policy(parameters: dict[str, Any]) -> str:
    """What a reader does with NaN: it is kept if the ranker replaces it, otherwise an error."""
    return "error" if parameters.get("missing", "error") == "error" else "keep"


def read_training_data(
    path: str, reading: Reading, parameters: dict[str, Any], where: Where, pairs: bool = False
) -> Dataset:
    """All of the data, or mapped from disk; NaN is an error that names its line, unless the ranker replaces it."""
    missing, loss = reading_policy(parameters), parameters.get("loss")
    found = read_from_disk(path, reading, missing, where, loss if isinstance(loss, str) else None)
    return read_data(path, reading, missing=missing, labelled=not pairs, found=found)


def write_model(ranker: Any, names: list[str] | None, output: str) -> Model:
    """Write the model, with the names of its features."""
    ranker.verbose = 0
    if names is not None:
        ranker.feature_names_in_ = np.array(names, dtype=object)
    model = Model.of(ranker)
    with writing(output) as out:
        out.write(dumps(model))
    return model


class Trainer:
    """Options checked against each other; then reads, fits and saves."""

    def __init__(
        self, alpha: float | str | None, exact: Exact, stochastic: Any, source: Any, reading: Reading, verbose: int
    ) -> None:
        self.source, self.reading = source, reading
        self.checkpoint = None if source.checkpoint is None else Path(source.checkpoint)
        if source.restart and self.checkpoint is None:
            raise click.UsageError("--restart leaves a checkpoint aside: name it with --checkpoint.")
        parameters, of_sgd, of_source = exact_parameters(exact), given(stochastic), given(source)
        self.sgd = source.stream or parameters.get("solver") == "sgd"
        if source.stream and parameters.get("solver", "sgd") != "sgd":
            raise click.UsageError("--stream trains by stochastic descent: leave out --solver.")
        if self.sgd:
            refuse(parameters, ONLY_EXACT, "is for the exact solvers: leave it out, or choose another --solver.")
            parameters.pop("solver", None)
        else:
            only = (*of_sgd, "scale_from", "checkpoint", "restart")
            refuse({**of_sgd, **of_source}, only, "is for stochastic descent: add --solver sgd.")
        if source.stream:
            if parameters.get("missing") == "mean":
                raise click.UsageError("--missing mean needs all data at once: say zero, or leave out --stream.")
            refuse({**of_sgd, **of_source}, NOT_STREAM, "cannot be had with --stream: leave one of them out.")
        else:
            refuse({**of_sgd, **of_source}, ONLY_STREAM, "is for streams: add --stream.")
        shared = {"verbose": verbose, **({} if alpha is None else {"alpha": alpha})}
        self.parameters: dict[str, Any] = parameters | of_sgd | shared
        if source.scale_from is not None:
            known = Loaded.of(source.scale_from).model.scale
            self.parameters["scale"] = False if known is None else known
        self.names: list[str] | None = None
        self.path = ""  # of the data

    def read(self, path: str, where: Where) -> Dataset:
        """All of the data; stochastic descent takes rows at random, so it has them in memory unless told otherwise."""
        self.path = path
        if self.sgd and not where.from_disk:
            where = Where(in_memory=True)
        data = read_training_data(path, self.reading, self.parameters, where, self.source.pairs is not None)
        self.names = data.feature_names
        return data

    def fit(self, data: Dataset) -> Any:
        """The ranker fitted to data in memory."""
        source = self.source
        more: dict[str, Any] = {"sample_weight": data.sample_weight}
        if source.pairs is not None:
            from ._pairs import pairs_of

            more["pairs"] = pairs_of(source.pairs, data, self.path, self.reading)
        if source.query_weights is not None:
            more["query_weight"] = read_query_weights(source.query_weights, data)
        if self.checkpoint is not None:
            more |= {"checkpoint": self.checkpoint, "resume": not source.restart}
        if source.start is not None:
            more["start"] = Loaded.of(source.start).ranker()
        return for_features(self.ranker(), data, self.reading).fit(data.X, data.y, data.qid, **more)

    def train_on(self, device: str) -> None:
        """Train on a device, or on several whose names are separated by commas."""
        if self.sgd:
            raise click.UsageError("--device is for the exact solvers: leave it out, or choose another --solver.")
        names = device.split(",")
        self.parameters["device"] = names[0] if len(names) == 1 else names

    def ranker(self) -> Any:
        """What is to be fitted."""
        return SGDRanker(**self.parameters) if self.sgd else LinearRanker(n_jobs=self.reading.jobs, **self.parameters)

    def doubts(self, ranker: Any, data: Dataset) -> str | None:
        """What makes the fit look under-regularised, if anything does and the ranker has not said so itself."""
        said = not self.sgd and self.parameters["verbose"] > 0
        if said or data.y is None or self.source.pairs is not None:
            return None
        right = ranker.score(data.X, data.y, data.qid, sample_weight=data.sample_weight)
        return ALL_IN_ORDER if right > ALMOST_ALL else None

    def stream(self, path: str) -> tuple[Any, dict[str, Any]]:
        """The ranker fitted to a file in chunks, and what was counted on the way."""
        counted, first, options = Counted(), iter([True]), (self.reading.n_features, reading_policy(self.parameters))
        chunks = stream(path, self.reading, *options)  # says at once what cannot be streamed
        passes = self.source.passes or 1
        if passes > 1 and path == "-":
            raise click.UsageError("Standard input is read once: leave out --passes.")

        def open_again() -> Any:
            if next(first, False):
                return counted.through(chunks, first_pass=True)
            return counted.through(stream(path, self.reading, *options), first_pass=False)

        ranker = SGDRanker(**self.parameters)
        ranker._follow(open_again, passes, self.checkpoint, resume=not self.source.restart)
        return ranker, {"rows": counted.rows, "features": counted.features, "queries": counted.queries or 1}

    def drop_checkpoint(self) -> None:
        """Delete a stream's checkpoint: its model is written, so nothing is lost."""
        if self.checkpoint is not None:
            self.checkpoint.unlink(missing_ok=True)

    def lines(self, ranker: Any) -> list[tuple[str, str]]:
        """What is known of the fit, for a table."""
        unit = "steps" if self.sgd else "iterations"
        without = ranker._queries_without_pairs
        alpha = f"{ranker.alpha_:.3g}" + (" (auto)" if getattr(ranker, "alpha", None) == "auto" else "")
        loss = getattr(ranker.loss, "name", ranker.loss)
        found = [
            ("trained", f"{loss} loss, alpha {alpha}, {ranker.n_iter_:,} {unit}: {ranker.status_}"),
            ("pairs", f"{ranker.n_pairs_:,}" + (f", none in {without:,} of the queries" if without else "")),
        ]
        if getattr(ranker, "l1_ratio", 0.0) > 0.0:
            found.append(("features", f"{np.count_nonzero(ranker.coef_):,} of {ranker.coef_.size:,} have a weight"))
        if np.isfinite(ranker.objective_):
            found.append(("objective", f"{ranker.objective_:.6f}"))
        if np.isfinite(ranker.gap_):
            found.append(("certified gap", f"{ranker.gap_:.1e}"))
        return found
