"""A stochastic descent on data in memory: scaling, watching, stopping early."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from .._errors import DataError, ParameterError
from .._progress import Progress
from .._typing import FloatArray
from ..data.ranking_data import RankingData
from ..engines import Engine, open_engine
from ..engines.matrix import predict
from ..losses import LOSSES
from ..metrics._pairs import accuracy_of
from ..objective import Objective
from ..penalties import Ridge
from ..solvers import Iteration, Status
from .descent import LARGEST_SCALE, SMALLEST_SCALE, Descent, StepRule
from .samplers import make_sampler

#: How often the objective is shown and the held-out queries are scored, and how many times in a row those may fail to
#: gain before the descent ends.
CHECKS, PATIENCE = 20, 5
#: Seeds the random stream of reservoirs: it must not be that of the pairs.
OTHER_STREAM = np.uint64(0x5851F42D4C957F2D)


def make_seed(random_state: Any) -> int:
    """64 bits from an int, a Generator, a RandomState, or (None) numpy's global state."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**64, dtype=np.uint64))
    try:
        source = check_random_state(random_state)
    except ValueError:
        raise ParameterError(f"random_state={random_state!r} is no seed: give an int, a Generator or None.") from None
    high, low = source.randint(0, 2**32, 2, dtype=np.uint64)
    return int(high) << 32 | int(low)


def describe_seed(random_state: Any) -> Any:
    """The seed as text or a number: of a generator a hash of its state, in which the next seed lies."""
    if random_state is None or isinstance(random_state, (int, np.integer)):
        return random_state
    if isinstance(random_state, np.random.Generator):
        state = random_state.bit_generator.state
    elif isinstance(random_state, np.random.RandomState):
        state = random_state.get_state(legacy=False)
    else:
        return repr(random_state)  # `make_seed` will say what is wrong with it
    digest = hashlib.sha256(json.dumps(state, default=lambda value: value.tolist(), sort_keys=True).encode())
    return f"a {type(random_state).__name__} in state {digest.hexdigest()[:16]}"


def hold_out(data: RankingData, fraction: float, seed: int) -> tuple[RankingData, RankingData]:
    """Training and held-out data: whole queries, or rows if only one query has pairs."""
    rng = np.random.default_rng(seed)
    used = np.unique(data.query[data.preferences.row])
    n = data.n_rows if used.size == 1 else used.size
    chosen = rng.permutation(n)[: min(n - 1, max(1, round(fraction * n)))]
    out: NDArray[np.bool_] = np.zeros(data.n_rows, dtype=bool)
    if used.size == 1:
        out[chosen] = True
    else:
        out = np.isin(data.query, used[chosen])
    train, held_out = data.part(np.flatnonzero(~out)), data.part(np.flatnonzero(out))
    if not (train.preferences.n_rankings and held_out.preferences.n_rankings):
        raise DataError(
            "early_stopping leaves no pair to train on, or none to score: set it to False, or give more data."
        )
    return train, held_out


def check_finite(descent: Descent) -> None:
    """Refuse weights that have overflowed."""
    if not np.all(np.isfinite(descent.coef)):
        raise DataError("The weights overflow: scale the features to sizes around 1, use scale=True, or raise alpha.")


class Run:
    """Steps on one data set. Columns are divided by `scale` as they are read, so X is not copied."""

    def __init__(
        self,
        rule: StepRule,
        data: RankingData,
        scale: FloatArray | None,
        sampling: str,
        engine: Engine | None = None,
    ) -> None:
        self.rule, self.data, self.scale, self.engine = rule, data, scale, engine
        self.sampler = make_sampler(sampling, data.preferences, data.query)
        self.X, self.metric, self.unit = data.X, None, None
        if scale is not None and not np.all(scale == 1):
            if SMALLEST_SCALE < scale.min() and scale.max() < LARGEST_SCALE:
                self.metric = 1.0 / (scale * scale)
            else:  # squares would leave the range of numbers: the one case that takes a copy
                self.X, self.unit = _divided(data.X, scale), scale

    def begin(self, w: FloatArray, seed: int, t: int, average: bool) -> Descent:
        """Start at weights in the units of the data, as if after t steps."""
        return Descent.begin(w if self.unit is None else w * self.unit, self.metric, seed, t, average)

    def adopt(self, descent: Descent, average: bool) -> Descent:
        """Go on with a descent that was made on other data, perhaps in another scale."""
        if self.unit is not None:
            descent.divide(1.0 / self.unit)
        return descent.remeasured(self.metric, average)

    def steps(self, descent: Descent, n_steps: int) -> None:
        """Make steps; the result does not depend on how they are cut."""
        descent.run(self.rule, self.X, self.metric, self.sampler, n_steps)

    def coef(self, descent: Descent) -> FloatArray:
        """The weights in the units of the data."""
        return descent.coef if self.unit is None else descent.coef / self.unit

    def objective(self, descent: Descent) -> float:
        """The exact objective over all pairs; NaN for a loss that cannot be summed."""
        loss = LOSSES.get(self.rule.loss)
        if loss is None:
            return float("nan")
        engine = open_engine(self.data) if self.engine is None else self.engine
        objective = Objective(engine, loss, Ridge(float(self.rule.alpha)), self.scale)
        coef = self.coef(descent)
        return objective.at(coef if self.scale is None else coef * self.scale).value

    def fit(
        self, descent: Descent, n_steps: int, held_out: RankingData | None, progress: Progress
    ) -> tuple[Descent, Status, list[Iteration]]:
        """Make n_steps steps, looking twenty times at what is to be shown or to be scored."""
        first, looks = descent.t, CHECKS if held_out is not None or progress.verbose > 0 else 1
        history: list[Iteration] = []
        best, best_score, fails, status = descent, -1.0, 0, Status.FINISHED
        for mark in np.unique(np.ceil(np.arange(1, looks + 1) * n_steps / looks).astype(np.int64)).tolist():
            self.steps(descent, first + mark - descent.t)
            if progress.verbose > 0 or (held_out is None and mark == n_steps):
                self._look(descent, mark, history, progress)
            if held_out is not None:
                score = accuracy_of(predict(held_out.X, self.coef(descent)), held_out.preferences)
                fails = 0 if score > best_score else fails + 1
                if fails == 0:
                    best, best_score = descent.copy(), score
                elif fails == PATIENCE:
                    status = Status.STOPPED
                    break
        if held_out is not None:
            made = descent.t - first
            descent = best
            self._look(descent, made, history, progress)
        if self.unit is not None:
            descent.divide(self.unit)
        return descent, status, history

    def _look(self, descent: Descent, made: int, history: list[Iteration], progress: Progress) -> None:
        check_finite(descent)
        history.append(Iteration(made, self.objective(descent), float("nan"), progress.seconds))
        progress(history[-1])


def _divided(X: Any, scale: FloatArray) -> Any:
    """X with its columns divided."""
    if not sp.issparse(X):
        return X / scale
    divided = X.copy()
    divided.data = X.data / scale[X.indices]
    return divided
