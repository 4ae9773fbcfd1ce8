"""Every engine of the library keeps the contract, and the suite that says so notices engines that do not."""

from dataclasses import replace

import numpy as np
import pytest

from linrank import RankingData
from linrank.data import parts
from linrank.data.parts import split_queries
from linrank.engines import LocalEngine, SumEngine
from linrank.losses import LOSSES
from linrank.testing import CountingEngine, check_engine, engine_cases, make_ranking

SMALL = "stored as float64 C"


def sum_of(n_parts):
    return lambda data: SumEngine([LocalEngine(part) for part in split_queries(data, n_parts)])


def sum_of_sums(data):
    return SumEngine([sum_of(3)(part) for part in split_queries(data, 2)])


#: Cases of many rows, or of many pairs that are listed: 19/20 of the time of all cases.
LARGE = [name for name in engine_cases() if name.startswith(("a long", "a giant", "more than", "thousands"))]
LARGEST = ["a giant sparse query", "more than a cache holds"]
QUICK = [name for name in engine_cases() if name not in LARGE]


def at_once(data):
    return SumEngine(sum_of(3)(data).engines, at_once=True)


ENGINES = {
    "local": LocalEngine,
    **{f"{n} threads": lambda data, n=n: LocalEngine(data, n) for n in (2, 3)},
    **{f"{n} parts": sum_of(n) for n in (1, 2, 7)},
    "parts at once": at_once,
}


def test_local():
    check_engine(LocalEngine, cases=[name for name in engine_cases() if name not in LARGEST])


@pytest.mark.parametrize("engine", [name for name in ENGINES if name != "local"])
def test_quick_cases(engine):
    check_engine(ENGINES[engine], cases=QUICK)


@pytest.mark.parametrize(
    ("engine", "case"),
    [("2 threads", "a giant query of two levels"), ("2 parts", "a giant query of real utilities"),
     ("3 threads", "thousands of queries, sparse"), ("7 parts", "thousands of queries, a chain"),
     ("parts at once", "thousands of queries, real utilities"),
     *(pytest.param(engine, case, marks=pytest.mark.slow) for engine in ENGINES
       for case in (LARGE if "threads" in engine else LARGEST if engine == "local" else LARGE[1::2]))],
)  # fmt: skip
def test_large_cases(engine, case):
    check_engine(ENGINES[engine], cases=[case])


@pytest.mark.parametrize("n_bytes", [2000, *(pytest.param(size, marks=pytest.mark.slow) for size in (500, 7000))])
@pytest.mark.parametrize(
    "make", [LocalEngine, sum_of(2), sum_of(7), sum_of_sums], ids=["local", "2 parts", "7 parts", "sums"]
)
def test_samples_are_the_same_where_they_would_be_too_large(make, n_bytes, monkeypatch):
    monkeypatch.setattr(parts, "MAX_BYTES", n_bytes)
    check_engine(make, cases=["thousands of queries", "stored as CSR with long indices", "row weights"])


def test_unknown_cases_are_refused():
    with pytest.raises(AssertionError, match="there is no case"):
        check_engine(LocalEngine, cases=["no such case"])


class DividesByN(LocalEngine):
    def evaluate(self, *args, **kwargs):
        point = super().evaluate(*args, **kwargs)
        point.sums = point.sums._replace(value=point.sums.value / point.sums.weight)
        return point


class LosesTheSlope(LocalEngine):
    def evaluate(self, *args, **kwargs):
        point = super().evaluate(*args, **kwargs)
        point.sums = point.sums._replace(slope=0.0)
        return point


class LetsRowsOut(LocalEngine):
    def evaluate(self, *args, **kwargs):
        point = super().evaluate(*args, **kwargs)
        point.gradient = lambda scale=None: np.concatenate([each.gradient for each in point.points])
        return point


class NeverTheSame(LocalEngine):
    rng = np.random.default_rng(0)

    def evaluate(self, *args, **kwargs):
        point = super().evaluate(*args, **kwargs)
        exact = point.gradient
        point.gradient = lambda scale=None: exact(scale) * (1 + 1e-15 * self.rng.standard_normal(self.data.n_features))
        return point


class HalfTheHessian(LocalEngine):
    def evaluate(self, *args, **kwargs):
        point = super().evaluate(*args, **kwargs)
        whole = point.hessian
        point.hessian = lambda scale: np.triu(whole(scale))
        return point


class ForgetsTheShift(LocalEngine):
    def evaluate(self, *args, **kwargs):
        point = super().evaluate(*args, **kwargs)
        point.outer = lambda units, scale=None, shift=None, along=None, outer=point.outer: outer(
            units, scale, None, along
        )
        return point


class TakesQueriesForClusters(LocalEngine):
    def evaluate(self, *args, **kwargs):
        point = super().evaluate(*args, **kwargs)
        point.outer = lambda units, *given, outer=point.outer: outer(
            "queries" if units == "clusters" else units, *given
        )
        return point


class CountsPairsOfRowsTwice(LocalEngine):
    def evaluate(self, *args, **kwargs):
        point = super().evaluate(*args, **kwargs)
        point.turn = lambda x, turn=point.turn: 2.0 * turn(x)
        return point


class ProductsInFloat32(LocalEngine):
    def evaluate(self, *args, **kwargs):
        point = super().evaluate(*args, **kwargs)
        point.hessian_product = lambda v, exact=True, scale=None, product=point.hessian_product: (
            product(v).astype(np.float32).astype(np.float64)
        )
        return point


class ForgetsTheScale(LocalEngine):
    def evaluate(self, *args, **kwargs):
        point = super().evaluate(*args, **kwargs)
        point.gradient = lambda scale=None, gradient=point.gradient: gradient()
        return point


class DividesOnce(LocalEngine):
    def evaluate(self, *args, **kwargs):
        point = super().evaluate(*args, **kwargs)
        point.hessian_product = lambda v, exact=True, scale=None, product=point.hessian_product: (
            product(v, exact) / (1.0 if scale is None else scale)
        )
        return point


class WeightsInFloat32(LocalEngine):
    def scores(self, w):
        return super().scores(w.astype(np.float32).astype(np.float64))


class ForgetsWeights(LocalEngine):
    def columns(self):
        X = self.data.X
        found = super().columns()
        return replace(found, mean=np.asarray(X.mean(axis=0)).ravel())


class DrawsTheFirstRows(LocalEngine):
    def draw(self, n_rows, first=0, of=None):
        drawn = super().draw(n_rows, first, of)
        return None if drawn is None else self.data.part(np.arange(drawn.n_rows))


class DrawsForItself(LocalEngine):
    def draw(self, n_rows, first=0, of=None):
        return super().draw(n_rows)


class SwallowsInterrupts(LocalEngine):
    def __exit__(self, *args):
        super().__exit__(*args)
        return True


class ErrorsOfNumpy(LocalEngine):
    def checked(self, w):
        return w


class CountsQueriesWrong(LocalEngine):
    @property
    def facts(self):
        return replace(super().facts, queries=1)


def drops_a_part(data):
    engine = sum_of(3)(data)
    engine.engines = engine.engines[:-1]
    return engine


@pytest.mark.parametrize(
    ("make", "case", "message"),
    [
        (DividesByN, SMALL, "the value is not the sum over all pairs"),
        (LosesTheSlope, SMALL, "the slope on the line"),
        (LetsRowsOut, SMALL, r"gradient lets out an array of shape \(90,\)"),
        (NeverTheSame, SMALL, "the gradient.* has other bits, asked twice"),
        (HalfTheHessian, SMALL, "Hessian is not the sum over all pairs"),
        (ForgetsTheShift, SMALL, "the shifted outer over queries is not the sum over all pairs"),
        (TakesQueriesForClusters, SMALL, "the outer over clusters is not the sum over all pairs"),
        (CountsPairsOfRowsTwice, SMALL, "the outer over rows is not the sum over all pairs"),
        (ProductsInFloat32, SMALL, "the Hessian product is not the sum over all pairs"),
        (ProductsInFloat32, "a giant query of two levels", "the Hessian product is not the local engine's"),
        (ForgetsTheScale, SMALL, "the scaled gradient is not the sum over all pairs"),
        (ForgetsTheScale, "thousands of queries", "the scaled gradient is not the local engine's"),
        (DividesOnce, SMALL, "the scaled Hessian product is not the sum over all pairs"),
        (WeightsInFloat32, SMALL, "is not the sum over all pairs"),
        (WeightsInFloat32, "thousands of queries", "is not the local engine's"),
        (ForgetsWeights, "row weights", r"columns\(\).mean is off"),
        (DrawsTheFirstRows, "thousands of queries", "differs from the local engine's in its X"),
        (DrawsForItself, "thousands of queries", r"draw\(\d+, 1000, \d+\)"),
        (SwallowsInterrupts, SMALL, "an interrupt does not come out"),
        (ErrorsOfNumpy, SMALL, "a w with an entry too many .*not a LinrankError"),
        (CountsQueriesWrong, SMALL, "facts.queries is 1"),
        (drops_a_part, SMALL, "facts.rows"),
    ],
)
def test_engines_that_do_not_keep_the_contract_are_noticed(make, case, message):
    with pytest.raises(AssertionError, match=message):
        check_engine(make, cases=[case])


def test_trips_are_counted():
    X, y, qid = make_ranking(60, 4, 5, 3)
    loss = LOSSES["squared_hinge"]
    with CountingEngine(LocalEngine(RankingData(X, y, qid))) as engine:
        s, d = engine.scores(np.ones(4)), engine.scores(np.arange(4.0))
        point = engine.evaluate(loss, s, gradient=True)
        point.gradient()
        line = engine.evaluate(loss, s, d, 0.5)
        line.gradient()
        line.gradient()
        line.hessian_product(np.ones(4))
        assert engine.evaluate(loss, line.scores).sums.value == line.sums.value
        assert engine.facts.rows == 60
        assert engine.trips == {"scores": 2, "evaluate": 3, "gradient": 1, "hessian_product": 1}
        assert engine.total == 7
        assert engine.sample(15) is not None
        assert engine.trips["sample"] == 1
        assert not vars(s)


def test_scores_of_another_engine_are_refused():
    X, y, qid = make_ranking(60, 4, 5, 3)
    data = RankingData(X, y, qid)
    with CountingEngine(LocalEngine(data)) as one, CountingEngine(LocalEngine(data)) as other:
        with pytest.raises(AssertionError, match="another engine's"):
            one.evaluate(LOSSES["hinge"], other.scores(np.ones(4)))
        with pytest.raises(AssertionError, match="scores are handles"):
            one.evaluate(LOSSES["hinge"], np.zeros(60))
