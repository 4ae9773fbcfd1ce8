"""SGDRanker: pairs drawn at random, a step on each; data in memory or in a stream."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import metadata_routing
from sklearn.utils.validation import validate_data

from .._errors import DataError, ParameterError
from .._progress import Progress
from ..data.checks import check_choice
from ..data.collections import refuse_collection
from ..data.dataset import Dataset, unpacked
from ..data.frames import check_frame, header_of
from ..data.labelled import LabelledRows
from ..data.missing import MISSING, fill_missing, learn_missing
from ..data.ranking_data import QUERY_WEIGHTINGS
from ..stochastic.checkpoint import Keeper, Saved, load_checkpoint
from ..stochastic.fit import Fit, fit_rows
from ..stochastic.passes import Follower, follow
from ..stochastic.rules import AnyRule
from ..stochastic.samplers import Sampler
from ..stochastic.seeds import describe_seed, make_seed
from ..stochastic.settings import Settings, check_whole, plain, read_settings
from ..stochastic.stream import Chunks, Stream, begin_stream
from .lazy import Evaluated
from .names import check_names, named, take_names
from .predictor import LinearPredictor
from .refusals import refuses

CURE = "train on the cluster with LinearRanker, or give partial_fit one computed partition after the other"


class SGDRanker(LinearPredictor):
    """Linear ranking function trained by stochastic pairwise descent: one drawn pair a step.

    Descends ``alpha/2 |w|^2 + (1/N) sum of c_ij phi(w.x_i - w.x_j)``. The number of steps does not depend on the
    number of rows, nor do the operations of a step: O(non-zeros of two rows). What grows with the rows is one look at
    them, for NaN, and the time to fetch rows that no cache holds.

    Parameters
    ----------
    loss : {"hinge", "squared_hinge", "logistic"}, default="hinge"
        phi. All but the hinge need rule "pegasos" or "sgd".
    alpha : float or "auto", default="auto"
        Strength of the regulariser, > 0. "auto" is that of LinearRanker for the rows; of more than 65,536 dense rows a
        sample is measured. In streams it is that of the rows seen so far.
    rule : str or Rule, default="pegasos"
        What a step does: "sgd" (a subgradient step), "pegasos" (the same, then a projection onto the ball of radius
        1/sqrt(alpha)), "passive_aggressive" (PA-I), "romma" (aggressive), "passive_aggressive_then_pegasos", "sgd_svm"
        (the paper's, which shrinks w only where the pair has loss), "perceptron", "perceptron_margin"; or a
        `linrank.stochastic.Rule` of your own (docs/extending.md).
    sampling : {"uniform", "balanced", "rejection"} or Sampler, default="uniform"
        How pairs are drawn: in proportion to their weight c_ij; or every query and every two levels of a query alike;
        or as "uniform", but by trial, without an index; or by a sampler of your own.
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
        As in LinearRanker, or the numbers to divide by. In streams it is measured on the first chunk, or is `scale_` of
        the `fit` before.
    early_stopping : bool, default=False
        End when the accuracy on held-out queries gains nothing in 5 checks in a row, and keep the best weights. `fit`
        checks 20 times, a stream whenever it has made a tenth more steps.
    validation_fraction : float, default=0.1
        Part of the queries to hold out (of the rows, if there is one query, or a stream without qid).
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
    steps_per_row : float, default=10.0
        Steps per row of a chunk in streams.
    reservoir : int, default=1000
        Rows of an open query kept for its continuation in later chunks, at most, drawn uniformly from those seen.
    open_queries : int or None, default=None
        How many queries, the last ones seen, may go on in later chunks. None: as many as 16 MB of rows have room for;
        fewer rows are kept of each before a query is closed.
    missing : {"error", "zero", "mean"}, default="error"
        As in LinearRanker. In streams "mean" needs the means of an earlier `fit`: nothing is estimated from a chunk.
    query_weighting : {"pairs", "queries"}, default="pairs"
        Whether each pair or each query counts the same. In streams a query counts as it does in its chunk.
    margin : float, default=1.0
        Margin of "perceptron_margin".

    Attributes
    ----------
    coef_, alpha_, scale_, fill_, n_pairs_, n_features_in_, feature_names_in_
        As in LinearRanker. After a stream `n_pairs_` counts the pairs drawn from: those of two rows of a chunk, and of
        a row and one that was kept.
    objective_ : float
        The exact objective over all pairs trained on, computed when it, `n_pairs_` or `history_` is first asked for:
        until then the ranker holds on to the data. NaN after a stream.
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

    __metadata_request__fit = {  # noqa: RUF012
        name: metadata_routing.UNUSED for name in ("start", "checkpoint", "resume")
    }
    __metadata_request__partial_fit = {"qid": True, "checkpoint": metadata_routing.UNUSED}  # noqa: RUF012

    objective_ = Evaluated("objective")
    n_pairs_ = Evaluated("n_pairs")
    history_ = Evaluated("history")
    _queries_without_pairs = Evaluated("queries_without_pairs")
    _deviation = Evaluated("deviation")
    _stream: Stream | None = None

    def __init__(
        self,
        loss: str = "hinge",
        alpha: float | str = "auto",
        *,
        rule: str | AnyRule = "pegasos",
        sampling: str | Sampler = "uniform",
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
        steps_per_row: float = 10.0,
        reservoir: int = 1000,
        open_queries: int | None = None,
        missing: str = "error",
        query_weighting: str = "pairs",
        margin: float = 1.0,
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
        self.query_weighting = query_weighting
        self.margin = margin

    @refuses
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        query_weight: ArrayLike | Mapping[Any, float] | None = None,
        pairs: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        group: ArrayLike | None = None,
        start: Any = None,
        checkpoint: str | Path | None = None,
        resume: bool = True,
    ) -> Self:
        """Train on graded rows, explicit pairs, or both; the arguments are those of LinearRanker.fit.

        `start` is a fitted linear ranker, or weights (d,), to start from. The schedule goes on from the steps that an
        SGDRanker has made; any other start counts as if it had taken `n_steps`. `checkpoint` and `resume` are those of
        `fit_stream`; the file is kept after each twentieth of the steps.
        """
        refuse_collection(X, "SGDRanker", CURE)
        settings = self._settings()
        data_of, (X, y, qid, sample_weight) = X, unpacked(X, y, qid, sample_weight)
        given = self._given(X, qid, group=group, pairs=pairs, ids=ids)
        complete, fill = learn_missing(given.X, self.missing)
        weights: dict[str, Any] = {"sample_weight": sample_weight, "query_weight": query_weight, "pairs": given.pairs}
        rows = LabelledRows.of(complete, y, given.qid, **weights, **self._compared())
        own = self._stream if self.warm_start and start is None else None
        if self.warm_start and start is None and own is None:
            start = getattr(self, "coef_", None)  # set by hand, or loaded
        keeper = None if checkpoint is None else Keeper(Path(checkpoint), self._described(), resume)
        fitted = fit_rows(settings, rows, make_seed(self.random_state), own, start, int(self.verbose), keeper)
        take_names(self, named(data_of, given.X))  # nothing fails later
        self._aside = given.aside
        self._keep(fitted.stream(fill if self.missing == "mean" else None), fitted)
        self._remember(rows)
        if keeper is not None:
            keeper.path.unlink(missing_ok=True)
        return self

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        query_weight: ArrayLike | Mapping[Any, float] | None = None,
        checkpoint: str | Path | None = None,
    ) -> Self:
        """Go on with a chunk of a stream: `steps_per_row` steps a row, on pairs of its rows and of the rows kept.

        X may be a Dataset, with labels, queries and weights.
        Rows are kept of the queries seen last, as `reservoir` and `open_queries` say, for a chunk to come. A chunk
        without any pair makes no step. Columns are divided as the first chunk, or a `fit` before, asks for. With
        early_stopping, chunks that come after it has stopped change nothing: look at `status_`. `checkpoint` is a file
        to keep the state in; a ranker that has not been fitted takes it up first, if it exists.
        """
        if checkpoint is not None and self._stream is None and Path(checkpoint).exists():
            self._take_up(load_checkpoint(Path(checkpoint), self._described()))
        refuse_collection(X, "SGDRanker", CURE)
        settings = self._settings(stream=True)
        data_of, (X, y, qid, sample_weight) = X, unpacked(X, y, qid, sample_weight)
        given = self._given(X, qid)
        chunk = self._check(self._stream, given.X, y, given.qid, sample_weight, query_weight)
        self._aside = given.aside
        stream = self._learn(settings, named(data_of, given.X), chunk, self._stream)
        if checkpoint is not None:
            Keeper(Path(checkpoint), self._described()).save(stream, (0, 0), "", self._names())
        return self

    def fit_stream(
        self, chunks: Chunks, *, passes: int = 1, checkpoint: str | Path | None = None, resume: bool = True
    ) -> Self:
        """Train on a stream of chunks, as by `partial_fit` on each.

        Parameters
        ----------
        chunks : iterable, or function that gives one
            Of (X, y), (X, y, qid), or objects with X, y, qid and, if need be, sample_weight. Or a Dataset, read or
            scanned, which is gone through chunk by chunk.
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
        settings = self._settings(stream=True)
        check_whole("passes", passes, 1)
        given: list[Any] = []  # the features of the chunk at hand, with their names

        def check(stream: Stream | None, *chunk: Any) -> LabelledRows:
            given[:] = [check_frame(chunk[0])]
            return self._check(stream, *given, *chunk[1:])

        def learn(stream: Stream | None, chunk: LabelledRows) -> Stream:
            return self._learn(settings, given[0], chunk, stream, progress)

        with Progress(self.verbose, "a stream of chunks") as progress:
            keeper = None if path is None else Keeper(path, self._described(), resume)
            begun = self._stream if self.warm_start else None
            follow(Follower(check, learn, self._take_up, self._names), begun, chunks, int(passes), keeper)

    def _check(
        self, stream: Stream | None, X: Any, y: Any, qid: Any, sample_weight: Any = None, query_weight: Any = None
    ) -> LabelledRows:
        """A chunk of a stream, validated."""
        if self.missing == "mean" and (stream is None or stream.means is None):
            raise ParameterError(
                "missing='mean' needs the means of a fit before the stream, none is estimated from a chunk: fit a "
                "sample with it and go on by partial_fit (or fit_stream with warm_start=True), or use missing='zero'."
            )
        if self.missing == "mean":
            validate_data(
                self, header_of(X), reset=False, skip_check_array=True
            )  # a wrong number of features cannot be filled
            complete = fill_missing(X, stream.means if stream is not None else None)
        else:
            complete = learn_missing(X, self.missing)[0]
        weights: dict[str, Any] = {"sample_weight": sample_weight, "query_weight": query_weight}
        return LabelledRows.of(complete, y, qid, **weights, **self._compared())

    def _learn(
        self,
        settings: Settings,
        X: Any,
        chunk: LabelledRows,
        stream: Stream | None,
        progress: Progress | None = None,
    ) -> Stream:
        """Go on with a chunk; an error leaves everything as it was before."""
        begun = begin_stream(settings, chunk, make_seed(self.random_state)) if stream is None else stream
        if begun.with_qid != (chunk.ids is not None):
            raise DataError("Some chunks have a qid and some have none: give it with all of them, or with none.")
        self._compare_features(X, first=stream is None)
        learned = begun.under(settings).learned(chunk, settings, progress)
        self._keep(learned)
        return learned

    def _compare_features(self, X: Any, first: bool) -> None:
        """Take number and names of a stream's first chunk; refuse later ones with others."""
        if first:
            take_names(self, X)
        elif isinstance(X, Dataset) and X.n_features != self.n_features_in_:
            raise DataError(f"A chunk has {X.n_features} features, those before had {self.n_features_in_}.")
        else:
            check_names(self, X)

    def _take_up(self, saved: Saved) -> None:
        """Go on from a checkpoint."""
        self._keep(saved.stream)
        self.n_features_in_ = self.coef_.size
        if saved.names:
            self.feature_names_in_ = np.array(saved.names, dtype=object)
        else:
            self.__dict__.pop("feature_names_in_", None)  # of other data

    def _keep(self, stream: Stream, fitted: Fit | None = None) -> None:
        """Attributes of a training as far as it has come; the objective of a fit is computed when it is asked for."""
        self._stream = stream
        self.coef_ = stream.coef
        self.scale_ = np.ones(self.coef_.size) if stream.scale is None else stream.scale
        self.fill_ = {"error": None, "zero": np.zeros(self.coef_.size), "mean": stream.means}[self.missing]
        self.alpha_ = stream.alpha
        self.gap_ = np.nan
        self.t_ = stream.descent.t
        self.n_iter_ = stream.n_steps
        self.status_ = str(stream.status)
        self.fitted_with_qid_ = stream.with_qid
        self._rows_seen = None  # a query may go on from chunk to chunk
        if fitted is not None:
            Evaluated.later(self, fitted)
        else:
            counts: dict[str, Any] = {"n_pairs": stream.n_pairs, "queries_without_pairs": None}
            Evaluated.now(self, objective=np.nan, history=[], deviation=None, **counts)

    def __getstate__(self) -> dict[str, Any]:
        """With an objective that had not been asked for: the rows that it depends on stay behind."""
        Evaluated.settle(self)
        return super().__getstate__()

    def _compared(self) -> dict[str, Any]:
        return {"preferences": self.preferences, "query_weighting": self.query_weighting}

    def _described(self) -> dict[str, Any]:
        """The parameters as a checkpoint holds them: all but `verbose`."""
        own = {name: value for name, value in self.get_params().items() if name != "verbose"}
        described: dict[str, Any] = plain({**own, "random_state": describe_seed(self.random_state)})
        return described

    def _names(self) -> list[str]:
        return [str(name) for name in getattr(self, "feature_names_in_", [])]

    def _settings(self, stream: bool = False) -> Settings:
        """Refuse what cannot be meant; returns what the parameters come to."""
        check_choice("missing", self.missing, MISSING)
        check_choice("query_weighting", self.query_weighting, QUERY_WEIGHTINGS)
        return read_settings(self.get_params(deep=False), stream)
