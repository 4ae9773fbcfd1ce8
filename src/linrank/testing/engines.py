"""The conformance suite of engines: whatever a fit asks of one, tried on all kinds of data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._errors import LinrankError
from .._typing import FloatArray
from .._work import Work
from ..data import parts
from ..data.ranking_data import RankingData
from ..data.rankings import Rankings
from ..engines import LocalEngine
from ..engines.base import Columns, Engine, Facts
from ..losses import LOSSES, Hinge, HuberHinge, Loss, LossPoint
from .answers import EXACT, Answers, ask, naive_answers, rooms, scales
from .cases import CASES, Problem
from .counting import CountingEngine
from .naive import naive_phi
from .rounded import RoundedEngine

MakeEngine = Callable[[RankingData], Engine]

#: Losses with which every case is tried.
TRIED: tuple[Loss, ...] = (*LOSSES.values(), HuberHinge(0.5), HuberHinge(1e-3))


def engine_cases() -> list[str]:
    """Names of the cases of `check_engine`."""
    return list(CASES)


def check_engine(make_engine: MakeEngine, *, cases: int | Iterable[str] | None = None, scores: str = "float64") -> None:
    """Assert that an engine keeps its contract; raises AssertionError with the case, the loss and what is off.

    At given w and d, values, slopes on a line, gradients, Hessian products and Hessians, with a scale and without, sums
    of outer products, columns, the largest row and samples are those of the naive twin, where pairs are few enough to
    be listed, and those of the local engine: to 1e-12 of the natural size, or to the larger error that the loss states
    of itself (`testing/answers.py` has both). Asked twice, and of a second engine for the same data, the bits are the
    same. No array over rows comes out. Errors are a LinrankError of one sentence. An engine is left cleanly by an
    interrupt.

    Parameters
    ----------
    make_engine : callable
        From a RankingData to an Engine, which is then entered.
    cases : int, iterable of names or None
        Thins the suite for slow engines: every k-th case, or those named; None: all. `engine_cases()` lists them.
    scores : {"float64", "float32"}, default="float64"
        Precision in which the engine compares scores. With "float32" answers are held against those of the local
        engine at rounded scores (`testing/rounded.py`), and values at the scores themselves are within `Sums.error`.
    """
    for name in _chosen(cases):
        problem = CASES[name]()
        try:
            _check_case(make_engine, problem, scores == "float32")
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error
    _check_errors(make_engine, CASES["stored as float64 C"]())
    _check_interrupts(make_engine, CASES["thousands of queries"]())


def _chosen(cases: int | Iterable[str] | None) -> list[str]:
    if cases is None or isinstance(cases, int):
        return engine_cases()[:: cases or 1]
    names = list(cases)
    unknown = set(names) - set(CASES)
    assert not unknown, f"there is no case {sorted(unknown)}: engine_cases() lists them"
    return names


def _check_case(make_engine: MakeEngine, problem: Problem, rounded: bool = False) -> None:
    data = problem.data
    local = RoundedEngine(data) if rounded else LocalEngine(data)
    with CountingEngine(make_engine(data)) as engine, CountingEngine(make_engine(data)) as second, local:
        _check_facts(engine.facts, Facts.of(data))
        _check_columns(engine.columns(), local.columns(), problem)
        _check_rows(engine, local, problem)
        _check_fingerprint(engine, second, make_engine, problem)
        for n_rows in (1, data.n_rows // 20, data.n_rows // 4, data.n_rows):
            _check_sample(engine, problem, max(1, n_rows))
        for loss in TRIED:
            try:
                _check_answers(engine, second, local, loss, problem, rounded)
            except AssertionError as error:
                raise AssertionError(f"{loss}: {error}") from error


def _check_answers(engine: Engine, second: Engine, local: Engine, loss: Loss, problem: Problem, rounded: bool) -> None:
    answers, room = ask(engine, loss, problem), rooms(loss, problem)
    _assert_same_bits(answers, ask(engine, loss, problem), "asked twice")
    _assert_same_bits(answers, ask(second, loss, problem), "asked of a second engine")
    if rounded:
        _check_stated_error(engine, loss, problem)
        answers = {name: answer for name, answer in answers.items() if not name.startswith("size")}
    phi = None if rounded else naive_phi(loss)
    if problem.pairs is not None and phi is not None:
        _assert_close(answers, naive_answers(problem, problem.pairs, phi), room, "the sum over all pairs")
    wanted = ask(local, loss, problem)
    if loss.smooth:
        wanted["rounded Hessian product"] = wanted["Hessian product"]
    _assert_close(answers, wanted, room, "the local engine's")


def _check_stated_error(engine: Engine, loss: Loss, problem: Problem) -> None:
    """Rounding the scores moves values by no more than half of what is stated: the other half is for their bounds."""
    room = rooms(loss, problem)["value"]
    with LocalEngine(problem.data) as local:
        one, other = (each.evaluate(loss, each.scores(problem.w)).sums for each in (engine, local))
    stated = one.error - other.error
    assert abs(one.value - other.value) <= 0.5 * stated + room, "the value is off by more than the error stated"
    size = max(1.0, other.value / other.weight) * max(1.0, float(np.abs(problem.dense @ problem.w).max()))
    assert stated <= 1e-5 * size * other.weight, "the error stated is out of all proportion"


def _assert_same_bits(one: Answers, other: Answers, when: str) -> None:
    for name, answer in one.items():
        assert np.array_equal(answer, other[name]), f"the {name} has other bits, {when}"


def _assert_close(answers: Answers, wanted: Answers, room: Answers, whose: str) -> None:
    """Answers that the other one has not (a Hessian, which an engine may do without) are not compared."""
    for name in (name for name in answers if name in wanted):
        off = np.abs(answers[name] - wanted[name])
        share = np.max(off / np.maximum(room[name], np.finfo(float).tiny), initial=0.0)
        assert share <= 1.0, f"the {name} is not {whose}: off by {share:.3g} times what it may be"


def _check_facts(found: Facts, wanted: Facts) -> None:
    for field in fields(wanted):
        if field.name != "row_weights":
            a, b = getattr(found, field.name), getattr(wanted, field.name)
            assert a == b, f"facts.{field.name} is {a}, and should be {b}"
    assert np.allclose(found.row_weights, wanted.row_weights, rtol=EXACT, atol=0), "facts.row_weights are off"


def _check_columns(found: Columns, wanted: Columns, problem: Problem) -> None:
    """Against the local engine's, and against the weighted means."""
    v, X = problem.data.sample_weight, problem.dense
    v = np.ones(X.shape[0]) if v is None else v
    assert found.rows == X.shape[0], "columns().rows is off"
    size = v @ np.abs(X) / v.sum()
    root = np.sqrt(v @ X**2 / v.sum())
    naive = {"weight": v.sum(), "mean": v @ X / v.sum(), "nonzero": v @ (X != 0)}
    naive["deviation"] = np.sqrt(v @ (X - naive["mean"]) ** 2 / v.sum())
    room = {"weight": v.sum(), "mean": size, "nonzero": naive["nonzero"], "deviation": root}
    for name, exact in naive.items():
        for other in (exact, getattr(wanted, name)):
            off = np.abs(getattr(found, name) - other)
            assert np.all(off <= EXACT * room[name]), f"columns().{name} is off"
    assert np.array_equal(found.deviation == 0, wanted.deviation == 0), "other columns are constant"


def _check_rows(engine: Engine, local: Engine, problem: Problem) -> None:
    unit = scales(problem)
    for scale, given in ((np.ones(unit.size), None), (unit, unit)):
        wanted = np.sqrt(np.square(problem.dense / scale).sum(axis=1).max())
        for exact in (wanted, local.largest_row(given)):
            assert abs(engine.largest_row(given) - exact) <= EXACT * exact, "the largest row is off"


def _check_fingerprint(engine: Engine, second: Engine, make_engine: MakeEngine, problem: Problem) -> None:
    own = engine.fingerprint()
    assert own == engine.fingerprint() == second.fingerprint(), "the fingerprint of the same data differs"
    if problem.data.n_rows > 100 or not problem.dense.any():
        return
    X = problem.X * 2
    with make_engine(RankingData(X, problem.y, problem.qid, **problem.options)) as other:
        assert other.fingerprint() != own, "the fingerprint of other data is the same"


def _check_sample(engine: Engine, problem: Problem, n_rows: int) -> None:
    """The same rows in the same order, and an engine for them."""
    found, wanted = engine.draw(n_rows), parts.draw(problem.data, n_rows)
    if wanted is None or wanted.n_rows == 0:
        assert found is None or found.n_rows == 0, f"draw({n_rows}) has rows, and should have none"
        assert engine.sample(n_rows) is None, f"sample({n_rows}) has no rows, so it should be None"
        return
    assert found is not None, f"draw({n_rows}) is None"
    assert _bytes(found) <= parts.MAX_BYTES, f"draw({n_rows}) has more than 64 MB"
    for name, a, b in _compared(found, wanted):
        assert np.array_equal(a, b), f"draw({n_rows}) differs from the local engine's in its {name}"
    _check_sample_engine(engine.sample(n_rows), wanted, problem)
    place = n_rows, 1000, 3 * (problem.data.n_rows + 1000)  # as a part of more
    part, there = engine.draw(*place), parts.draw(problem.data, *place)
    assert (part is None or part.n_rows == 0) == (there is None or there.n_rows == 0), f"draw{place} is off"
    if part is not None and there is not None and part.n_rows:
        assert part.X.shape == there.X.shape, f"draw{place} has another number of rows than the local engine's"
        for name, a, b in _compared(part, there):
            assert np.array_equal(a, b), f"draw{place} differs from the local engine's in its {name}"


def _check_sample_engine(sample: Engine | None, wanted: RankingData, problem: Problem) -> None:
    if wanted.preferences.n_rankings == 0:
        assert sample is None, "a sample without pairs should be None"
        return
    assert sample is not None, "a sample with pairs is None"
    _check_facts(sample.facts, Facts.of(wanted))
    with LocalEngine(wanted) as local:
        one, other = (each.evaluate(LOSSES["squared_hinge"], each.scores(problem.w)) for each in (sample, local))
        assert np.isclose(one.sums.value, other.sums.value, rtol=EXACT, atol=0), "the value of a sample is off"


def _bytes(data: RankingData) -> int:
    X = data.X
    return int(X.data.nbytes + X.indices.nbytes if sp.issparse(X) else X.nbytes)


def _compared(a: RankingData, b: RankingData) -> list[tuple[str, Any, Any]]:
    """What two data sets are compared by."""
    dense = [data.X.toarray() if sp.issparse(data.X) else data.X for data in (a, b)]
    found: list[tuple[str, Any, Any]] = [("X", *dense), ("type", a.X.dtype, b.X.dtype)]
    for name in ("y", "query", "query_ids", "sample_weight"):
        found.append((name, getattr(a, name), getattr(b, name)))
    for name in ("row", "ranking_ptr", "level_ptr", "ranking_levels", "u", "v", "n_pairs"):
        found.append((f"preferences' {name}", getattr(a.preferences, name), getattr(b.preferences, name)))
    return found


def _check_errors(make_engine: MakeEngine, problem: Problem) -> None:
    d, hinge, smooth = problem.w.size, LOSSES["hinge"], LOSSES["squared_hinge"]
    with make_engine(problem.data) as engine:
        s = engine.scores(problem.w)
        _assert_sentence("a w with an entry too many", lambda: engine.scores(np.ones(d + 1)))
        _assert_sentence("a w that is a matrix", lambda: engine.scores(np.ones((d, 1))))
        point = engine.evaluate(smooth, s)
        _assert_sentence("a Hessian product with a short vector", lambda: point.hessian_product(np.ones(d - 1)))
        _assert_sentence("a short scale of rows", lambda: engine.largest_row(np.ones(d - 1)))
        if engine.hessian_cost(smooth) is not None:
            _assert_sentence("a Hessian with a short scale", lambda: point.hessian(np.ones(d - 1)))
        _assert_sentence("a Hessian product of the hinge", lambda: engine.evaluate(hinge, s).hessian_product(problem.d))
        assert engine.hessian_cost(hinge) is None, "the hinge has no Hessian, but hessian_cost is a number"
        value = engine.evaluate(smooth, s).sums.value
        assert value == point.sums.value, "after an error the engine gives other answers"


def _assert_sentence(what: str, call: Callable[[], object]) -> None:
    try:
        call()
    except LinrankError as error:
        text = str(error)
        one = text.endswith(".") and "\n" not in text and ". " not in text
        assert one, f"{what} is refused, but not in one sentence: {text!r}"
        return
    except Exception as error:
        raise AssertionError(f"{what} raises {type(error).__name__}, not a LinrankError") from error
    raise AssertionError(f"{what} is not refused")


class InterruptedLoss(Hinge):
    """A loss in the middle of which Ctrl-C is pressed."""

    def at(self, scores: FloatArray, rankings: Rankings, work: Work) -> LossPoint:
        """Press it."""
        _press()
        return super().at(scores, rankings, work)


def _check_interrupts(make_engine: MakeEngine, problem: Problem) -> None:
    """Ctrl-C between two calls comes out as it is; within a loss, perhaps in another process, as some error."""
    loss = LOSSES["hinge"]

    def value() -> float:
        with make_engine(problem.data) as engine:
            return engine.evaluate(loss, engine.scores(problem.w)).sums.value

    before = value()
    answered, error = _interrupted(make_engine, problem, loss)
    assert answered, f"the engine fails: {error!r}"
    assert isinstance(error, KeyboardInterrupt), "an interrupt does not come out of the engine"
    assert value() == before, "after an interrupt a new engine gives other answers"
    answered, error = _interrupted(make_engine, problem, InterruptedLoss())
    assert not answered, "a loss was interrupted, but the engine gives an answer"
    assert error is not None, "an interrupt within a loss does not come out of the engine"
    assert value() == before, "after an interrupt within a loss a new engine gives other answers"


def _interrupted(make_engine: MakeEngine, problem: Problem, loss: Loss) -> tuple[bool, BaseException | None]:
    """Whether the engine answered before it was interrupted, and what came out of it."""
    answered, came = False, None
    try:
        with make_engine(problem.data) as engine:
            engine.evaluate(loss, engine.scores(problem.w), gradient=True).gradient()
            answered = True
            _press()
    except BaseException as error:
        came = error
    return answered, came


def _press() -> None:
    raise KeyboardInterrupt
