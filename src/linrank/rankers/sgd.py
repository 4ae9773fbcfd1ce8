"""SGDRanker: pairs drawn at random, a step on each; data in memory or in a stream."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import metadata_routing
from sklearn.utils.validation import validate_data

from .._errors import DataError, ParameterError, overflow_ignored
from .._progress import Progress
from .._typing import FloatArray
from ..data.checks import check_choice, check_number
from ..data.labels import split_labels
from ..data.missing import MISSING, fill_missing, learn_missing
from ..data.ranking_data import RankingData
from ..defaults import check_alpha, check_scale, choose_alpha, choose_scale
from ..engines import Columns, open_engine
from ..solvers import Status
from ..stochastic.checkpoint import ANEW, Saved, load_checkpoint, plain, save_checkpoint
from ..stochastic.descent import LARGEST_SCALE, LOSS_NAMES, RULES, SMALLEST_SCALE, Descent, StepRule
from ..stochastic.run import OTHER_STREAM, Run, describe_seed, hold_out, make_seed
from ..stochastic.samplers import SAMPLINGS
from ..stochastic.stream import Chunks, OpenQueries, Stream, check_chunk, fingerprint, numbered_chunks
from .predictor import LinearPredictor

logger = logging.getLogger("linrank")

#: alpha="auto" where the rows are not known beforehand.
STREAM_ALPHA = 1e-4


class SGDRanker(LinearPredictor):
    """Linear ranking function trained by stochastic pairwise descent: one drawn pair a step.

    Descends ``alpha/2 |w|^2 + (1/N) sum of c_ij phi(w.x_i - w.x_j)``. The number of steps does not depend on the
    number of rows, nor does the cost of a step: O(non-zeros of two rows).

    Parameters
    ----------
    loss : {"hinge", "squared_hinge", "logistic"}, default="hinge"
        phi. All but the hinge need rule "pegasos" or "sgd".
    alpha : float or "auto", default="auto"
        Strength of the regulariser, > 0. "auto" is that of LinearRanker in `fit`. In streams, whose rows are not known
        beforehand, it is 1e-4, or `alpha_` of the `fit` that this object goes on from.
    rule : str, default="pegasos"
        What a step does: "sgd" (a subgradient step), "pegasos" (the same, then a projection onto the ball of radius
        1/sqrt(alpha)), "passive_aggressive" (PA-I), "romma" (aggressive), or "passive_aggressive_then_pegasos".
    sampling : {"uniform", "balanced", "rejection"}, default="uniform"
        How pairs are drawn: in proportion to their weight c_ij; or every query and every two levels of a query alike;
        or as "uniform", but without an index.
    n_steps : int, default=100_000
        Steps of a `fit`.
    C : float, default=1.0
        Longest step of the passive-aggressive rules.
    average : bool, default=True
        `coef_` is the mean of the weights after each step (Polyak and Ruppert), not the last ones, which depend on the
        last pairs drawn.
    preferences : {"full", "chain"} or edges, default="full"
        Which levels are compared within a query: as in LinearRanker.
    scale : bool, "auto" or (d,), default="auto"
        As in LinearRanker, or the numbers to divide by. In streams True and "auto" mean 1 (or `scale_` of the last
        `fit`): nothing is estimated from a chunk.
    early_stopping : bool, default=False
        End `fit` when the accuracy on held-out queries gains nothing in 5 checks of 20; keep the best weights.
    validation_fraction : float, default=0.1
        Part of the queries to hold out (of the rows, if there is one query).
    warm_start : bool, default=False
        `fit` and `fit_stream` go on from the last weights, step count and random numbers.
    random_state : int, Generator, RandomState or None, default=None
        The same seed gives the same weights, to the last bit.
    verbose : int, default=0
        Show steps, time and the exact objective over all pairs (in a stream: over a chunk's pairs before its steps).
    decay : float or None, default=None
        c of the step size c/(c + i) of "sgd" and "pegasos"; None: 1/(alpha i).
    switch : int, default=10_000
        The last passive-aggressive step of "passive_aggressive_then_pegasos".
    steps_per_row : float, default=1.0
        Steps per row of a chunk in streams.
    reservoir : int, default=1000
        Rows of an open query kept for its continuation in later chunks, drawn uniformly from those seen.
    open_queries : int, default=1
        How many queries, the last ones seen, may continue in the next chunk.
    missing : {"error", "zero", "mean"}, default="error"
        As in LinearRanker. In streams "mean" needs the means of an earlier `fit`: nothing is estimated from a chunk.

    Attributes
    ----------
    coef_, alpha_, scale_, fill_, n_pairs_, n_features_in_, feature_names_in_
        As in LinearRanker. After a stream `n_pairs_` is the sum over chunks, kept rows included.
    objective_ : float
        The exact objective over all pairs trained on; NaN after a stream.
    gap_ : float
        NaN: a stochastic solver has no certificate.
    status_ : {"finished", "stopped"}
        All steps were made, or early_stopping ended them.
    n_iter_, t_ : int
        Steps made by the last fit (or since the stream began), and the schedule's step count.
    history_ : list of (step, objective, NaN, seconds)
        What was evaluated: the end, and every twentieth with verbose > 0.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from linrank import SGDRanker
    >>> X, y = load_diabetes(return_X_y=True)
    >>> ranker = SGDRanker(random_state=0).fit(X, y)
    >>> round(ranker.score(X, y), 2)
    0.76
    """

    __metadata_request__fit = {"start": metadata_routing.UNUSED}  # noqa: RUF012
    __metadata_request__partial_fit = {"qid": True}  # noqa: RUF012

    query_weighting = "pairs"
    _stream: Stream | None = None

    def __init__(
        self,
        loss: str = "hinge",
        alpha: float | str = "auto",
        *,
        rule: str = "pegasos",
        sampling: str = "uniform",
        n_steps: int = 100_000,
        C: float = 1.0,
        average: bool = True,
        preferences: str | ArrayLike = "full",
        scale: bool | str | ArrayLike = "auto",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
        decay: float | None = None,
        switch: int = 10_000,
        steps_per_row: float = 1.0,
        reservoir: int = 1000,
        open_queries: int = 1,
        missing: str = "error",
    ) -> None:
        self.loss = loss
        self.alpha = alpha
        self.rule = rule
        self.sampling = sampling
        self.n_steps = n_steps
        self.C = C
        self.average = average
        self.preferences = preferences
        self.scale = scale
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose
        self.decay = decay
        self.switch = switch
        self.steps_per_row = steps_per_row
        self.reservoir = reservoir
        self.open_queries = open_queries
        self.missing = missing

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        query_weight: ArrayLike | Mapping[Any, float] | None = None,
        pairs: ArrayLike | None = None,
        start: Any = None,
    ) -> Self:
        """Train on graded rows, explicit pairs, or both; the arguments are those of LinearRanker.fit.

        `start` is a fitted linear ranker, or weights (d,), to start from. The schedule goes on from the steps that an
        SGDRanker has made; any other start counts as if it had taken `n_steps`.
        """
        rule = self._check_parameters()
        weights: dict[str, Any] = {"sample_weight": sample_weight, "query_weight": query_weight, "pairs": pairs}
        complete, fill = learn_missing(X, self.missing)
        data = RankingData(complete, y, qid, **weights, preferences=self.preferences)
        seed = make_seed(self.random_state)
        train, held_out = hold_out(data, self.validation_fraction, seed) if self.early_stopping else (data, None)
        with open_engine(train) as engine, Progress(self.verbose, engine.facts, n_steps=int(self.n_steps)) as progress:
            with overflow_ignored():
                columns = engine.columns() if self._measures() else None
                scale = self._choose_scale(data.n_features, columns)
                alpha = choose_alpha(self.alpha, rule.loss, columns, scale, engine.facts)
            rule = replace(rule, alpha=alpha)
            run = Run(rule, train, scale, self.sampling, engine)
            begun = self._begin(run, seed, start)
            descent, status, history = run.fit(begun, int(self.n_steps), held_out, progress)
        validate_data(self, X, skip_check_array=True)  # feature names and their number, once nothing can fail any more
        n_steps, n_pairs = history[-1].iteration, data.preferences.n_pairs
        means = fill if self.missing == "mean" else None
        self._keep(
            Stream(descent, self._no_queries(descent), scale, n_pairs, n_steps, data.qid_from is not None, alpha, means)
        )
        self._adopt(data, {})
        self.objective_, self.status_, self.history_ = history[-1].objective, str(status), history
        return self

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        query_weight: ArrayLike | Mapping[Any, float] | None = None,
    ) -> Self:
        """Go on with a chunk of a stream: `steps_per_row` steps a row, on pairs of its rows and of the rows kept.

        Of the last `open_queries` queries, at most `reservoir` rows each are kept for a chunk to come. A chunk without
        any pair makes no step. Columns are divided by `scale` if it is given, by `scale_` after a `fit`, or not at all.
        """
        self._learn(self._check_parameters(), X, y, qid, sample_weight, query_weight)
        return self

    def fit_stream(
        self, chunks: Chunks, *, passes: int = 1, checkpoint: str | Path | None = None, resume: bool = True
    ) -> Self:
        """Train on a stream of chunks, as by `partial_fit` on each.

        Parameters
        ----------
        chunks : iterable, or function that gives one
            Of (X, y), (X, y, qid), or objects with X, y, qid and, if need be, sample_weight.
        passes : int, default=1
            How often to read the stream.
        checkpoint : path, optional
            A file to keep after each chunk, and to delete at the end. It holds everything that the rest depends on.
        resume : bool, default=True
            Go on from the checkpoint if there is one, with a message to the logger "linrank": chunks already seen are
            read but not used again, and the weights end with the same bits as without the interruption. Refused where
            a parameter other than `verbose`, or the first chunk, is not what it was. False begins anew.
        """
        path = None if checkpoint is None else Path(checkpoint)
        self._follow(chunks, passes, path, resume)
        if path is not None:
            path.unlink(missing_ok=True)
        return self

    def _follow(self, chunks: Chunks, passes: int, path: Path | None, resume: bool) -> None:
        """Train on a stream, and keep its checkpoint, if there is to be one, even at the end."""
        rule = self._check_parameters()
        _check_whole("passes", passes, least=1)
        parameters = self._described()
        saved = load_checkpoint(path, parameters) if resume and path is not None and path.exists() else None
        if saved is not None and saved.done[0] >= passes:
            raise ParameterError(f"The checkpoint {path} is of pass {saved.done[0] + 1}, not {passes}: raise passes.")
        if saved is None and not self.warm_start:
            self._stream = None
        first, last_pass, here = None, 0, None
        with Progress(self.verbose, "a stream of chunks") as progress:
            for here, chunk in numbered_chunks(chunks, int(passes)):
                if saved is not None and first is None:
                    first, last_pass = self._resume(saved, chunk, path), saved.done[0]
                if saved is not None and here <= saved.done:
                    continue
                if here[0] > last_pass and self._stream is not None:
                    self._stream = self._stream.closed()  # a query that ends a pass does not go on in the next one
                last_pass = here[0]
                stream = self._learn(rule, *chunk, None, progress)
                if path is not None:
                    first = first or fingerprint(*chunk)
                    save_checkpoint(path, Saved(stream, here, first, self._names()), parameters)
        if here is None:
            raise DataError("The stream holds no row: give at least one chunk of (X, y, qid), from its beginning.")
        if saved is not None and here < saved.done:
            raise DataError(f"The stream ends before the checkpoint {path} does: give the same data, or {ANEW}.")

    def _learn(
        self,
        rule: StepRule,
        X: Any,
        y: Any,
        qid: Any,
        sample_weight: Any,
        query_weight: Any,
        progress: Progress | None = None,
    ) -> Stream:
        """Go on with a chunk; an error leaves everything as it was before."""
        stream = getattr(self, "_stream", None)
        y, qid = split_labels(y, qid)
        chunk = check_chunk(self._completed(X, stream), y, qid, sample_weight, query_weight)
        begun = stream if stream is not None else self._begin_stream(chunk.X.shape[1], with_qid=qid is not None)
        if begun.with_qid != (qid is not None):
            raise DataError("Some chunks have a qid and some have none: give it with all of them, or with none.")
        validate_data(self, X, reset=stream is None, skip_check_array=True)
        n_steps = max(1, round(self.steps_per_row * chunk.y.size))
        if isinstance(self.alpha, str):  # the rows of a stream are not known beforehand
            rule = replace(rule, alpha=begun.alpha)
        learned = begun.learned(chunk, rule, self.sampling, self.preferences, n_steps, progress)
        self._keep(learned)
        self.objective_, self.status_, self.history_ = np.nan, str(Status.FINISHED), []
        return learned

    def _completed(self, X: Any, stream: Stream | None) -> Any:
        """A chunk without NaN, if it may have any."""
        if self.missing != "mean":
            return learn_missing(X, self.missing)[0]
        if stream is None or stream.means is None:
            raise ParameterError(
                "missing='mean' needs the means of a fit before the stream, none is estimated from a chunk: fit a "
                "sample with it and go on by partial_fit (or fit_stream with warm_start=True), or use missing='zero'."
            )
        validate_data(self, X, reset=False, skip_check_array=True)  # a wrong number of features cannot be filled
        return fill_missing(X, stream.means)

    def _begin_stream(self, n_features: int, with_qid: bool) -> Stream:
        descent = Descent.begin(np.zeros(n_features), None, make_seed(self.random_state), 0, bool(self.average))
        scale = self._choose_scale(n_features)
        return Stream(descent, self._no_queries(descent), scale, 0, 0, with_qid, STREAM_ALPHA)

    def _no_queries(self, descent: Descent) -> OpenQueries:
        return OpenQueries(int(self.reservoir), int(self.open_queries), np.uint64(descent.seed ^ OTHER_STREAM))

    def _begin(self, run: Run, seed: int, start: Any) -> Descent:
        """Where a fit starts: at 0, at given weights, or where the last one ended."""
        n_features, average = run.data.n_features, bool(self.average)
        own = getattr(self, "_stream", None) if self.warm_start and start is None else None
        if self.warm_start and start is None and own is None:
            start = getattr(self, "coef_", None)  # set by hand, or loaded
        coef = getattr(start, "coef_", start) if own is None else own.descent.v
        w = np.zeros(n_features) if coef is None else np.asarray(coef, dtype=np.float64)
        if w.shape != (n_features,):
            raise DataError(
                f"X has {n_features} features, the weights to start from have shape {w.shape}: give the same features, "
                "or set warm_start=False."
            )
        if own is not None:
            return run.adopt(own.descent.copy(), average)
        t = 0 if start is None else int(getattr(start, "t_", self.n_steps))
        return run.begin(w, seed, t, average)

    def _keep(self, stream: Stream) -> None:
        self._stream = stream
        self.coef_ = stream.descent.coef
        self.scale_ = np.ones(self.coef_.size) if stream.scale is None else stream.scale
        self.fill_ = {"error": None, "zero": np.zeros(self.coef_.size), "mean": stream.means}[self.missing]
        self.alpha_ = stream.alpha
        self.gap_ = np.nan
        self.t_ = stream.descent.t
        self.n_iter_ = stream.n_steps
        self.n_pairs_ = stream.n_pairs
        self.fitted_with_qid_ = stream.with_qid
        self._rows_seen = None  # a query may go on from chunk to chunk

    def _measures(self) -> bool:
        """Whether alpha or scale come from the columns."""
        return isinstance(self.alpha, str) or (np.ndim(self.scale) == 0 and bool(self.scale))

    def _choose_scale(self, n_features: int, columns: Columns | None = None) -> FloatArray | None:
        """What columns are divided by: numbers given, or by the columns, where these are known."""
        if isinstance(self.scale, (bool, np.bool_, str)):
            return None if columns is None else choose_scale(self.scale, columns)
        scale = np.array(self.scale, dtype=np.float64)
        if scale.shape != (n_features,):
            raise ParameterError(f"scale has shape {scale.shape}, but X has {n_features} features: give one for each.")
        return scale

    def _described(self) -> dict[str, Any]:
        """The parameters as a checkpoint holds them: all but `verbose`."""
        own = {name: value for name, value in self.get_params().items() if name != "verbose"}
        described: dict[str, Any] = plain({**own, "random_state": describe_seed(self.random_state)})
        return described

    def _names(self) -> list[str]:
        return [str(name) for name in getattr(self, "feature_names_in_", [])]

    def _resume(self, saved: Saved, chunk: tuple[Any, Any, Any, Any], path: Path | None) -> str:
        """Take up everything from a checkpoint, if the stream begins as its own did; returns that chunk's hash."""
        if fingerprint(*chunk) != saved.first:
            raise DataError(
                f"The checkpoint {path} is of another stream, whose first chunk is not that of this one: give the same "
                f"data in the same chunks, or {ANEW}."
            )
        self._keep(saved.stream)
        self.objective_, self.status_, self.history_ = np.nan, str(Status.FINISHED), []
        self.n_features_in_ = self.coef_.size
        if saved.names:
            self.feature_names_in_ = np.array(saved.names, dtype=object)
        else:
            self.__dict__.pop("feature_names_in_", None)  # of other data
        logger.warning("resuming at step %s from the checkpoint %s", f"{self.t_:,}", path)
        return saved.first

    def _check_parameters(self) -> StepRule:
        """Refuse what cannot be meant; returns the rule of the steps."""
        for name, choices in (("loss", LOSS_NAMES), ("rule", RULES), ("sampling", SAMPLINGS), ("missing", MISSING)):
            check_choice(name, getattr(self, name), tuple(choices))
        check_alpha(self.alpha)
        for name in ("C", "steps_per_row", "validation_fraction"):
            check_number(name, getattr(self, name), above=0.0)
        if self.validation_fraction >= 1:
            raise ParameterError(f"validation_fraction={self.validation_fraction!r} must be below 1.")
        if self.decay is not None:
            check_number("decay", self.decay, above=0.0)
        for name, least in (("n_steps", 1), ("switch", 0), ("reservoir", 1), ("open_queries", 1), ("verbose", 0)):
            _check_whole(name, getattr(self, name), least)
        for name in ("average", "early_stopping", "warm_start"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise ParameterError(f"{name}={getattr(self, name)!r} must be True or False.")
        _check_scale(self.scale)
        alpha = STREAM_ALPHA if isinstance(self.alpha, str) else self.alpha  # until the data are seen
        return StepRule(self.rule, self.loss, alpha, self.C, self.decay, self.switch)


def _check_whole(name: str, value: Any, least: int) -> None:
    number = isinstance(value, (int, float, np.integer, np.floating)) and np.isfinite(value)
    if not number or value < least or value != int(value):
        raise ParameterError(f"{name}={value!r} must be a whole number, at least {least}.")


def _check_scale(scale: Any) -> None:
    if isinstance(scale, (bool, np.bool_, str)):
        check_scale(scale)
        return
    try:
        numbers = np.array(scale, dtype=np.float64)
    except (ValueError, TypeError):
        raise ParameterError(f"scale={scale!r} must be True, False, 'auto' or one number per feature.") from None
    if numbers.ndim != 1 or not np.all((numbers > SMALLEST_SCALE) & (numbers < LARGEST_SCALE)):
        raise ParameterError("scale must be True, False, 'auto' or one number above 0 per feature.")
