"""The one loop, by a method made up for it; and that the states of all methods are values."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from linrank import ParameterError, RankingData
from linrank.engines import LocalEngine
from linrank.losses import Hinge, Logistic, SquaredHinge
from linrank.objective import Objective
from linrank.penalties import Ridge
from linrank.solvers import Bundle, ConjugateGradients, Iteration, Newton, Solution, Status, Tron
from linrank.solvers.certificate import Bounds, Certificate
from linrank.solvers.iterate import State, check_limits, drive, iterate, start_point
from linrank.testing import make_ranking


@dataclass(frozen=True)
class Count(State):
    steps: int


@dataclass(frozen=True)
class Halving:
    """A method that halves its gap by each step, but for those after which it stands still, or is stuck."""

    target: float = 0.0
    max_iter: int = 10
    stall: int = 3
    still: tuple[int, ...] = ()
    stuck: tuple[int, ...] = ()

    def begin(self, objective, start):
        return Count(Certificate(np.zeros(1)).joined(Bounds(np.zeros(1), 1.0, 0.0, 0.0)), True, False, 0)

    def step(self, state):
        n = state.steps + 1
        if n in self.still:
            return replace(state, gained=False, steps=n)
        value = 0.5 * state.best.value
        best = state.best.joined(Bounds(np.full(1, float(n)), value, 0.0, 0.0))
        return Count(best, True, n in self.stuck, n)

    def ends(self, state):
        return Status.CONVERGED if state.best.gap <= self.target else None

    def result(self, state):
        return state.best

    def left(self, state):
        return f"left after {state.steps}"


def ended(method, callback=None):
    run = drive(method, method.begin(None, None), callback)
    return run.status, run.state.steps, len(run.history)


def test_convergence():
    assert ended(Halving(target=0.25)) == (Status.CONVERGED, 2, 3)


def test_one_that_has_converged_at_its_start_takes_no_step():
    assert ended(Halving(target=1.0)) == (Status.CONVERGED, 0, 1)


def test_the_limit_of_iterations_counts_the_first_point():
    assert ended(Halving()) == (Status.MAX_ITER, 9, 10)
    assert ended(Halving(max_iter=1)) == (Status.MAX_ITER, 0, 1)


def test_a_stall_is_several_steps_in_a_row_without_gain():
    assert ended(Halving(still=(2, 3, 5, 6, 7))) == (Status.STALLED, 7, 8)
    assert ended(Halving(still=(2, 3, 5, 6, 8, 9))) == (Status.MAX_ITER, 9, 10)


def test_one_that_is_stuck_ends_at_once():
    assert ended(Halving(stuck=(4,))) == (Status.STALLED, 4, 5)


def test_convergence_goes_before_all_else():
    assert ended(Halving(target=2.0**-4, stuck=(4,))) == (Status.CONVERGED, 4, 5)
    assert ended(Halving(target=2.0**-4, max_iter=5)) == (Status.CONVERGED, 4, 5)


def test_history_and_callback_tell_of_each_iteration_once():
    seen = []
    solution = iterate(Halving(max_iter=5, still=(2,)), None, None, seen.append)
    assert seen == solution.history
    assert [step.iteration for step in seen] == [1, 2, 3, 4, 5]
    assert [step.objective for step in seen] == [step.gap for step in seen] == [1.0, 0.5, 0.5, 0.25, 0.125]
    assert np.all(np.diff([step.seconds for step in seen]) >= 0)
    assert seen[0].seconds >= 0


def test_the_solution_is_the_best_point_with_what_the_method_leaves():
    solution = iterate(Halving(max_iter=4), None, None, None)
    assert (solution.w[0], solution.value, solution.gap, solution.n_iter) == (3.0, 0.125, 0.125, 4)
    assert solution.state == "left after 3"
    assert solution.status is Status.MAX_ITER


def test_an_exception_of_the_callback_passes_through():
    seen = []

    def interrupt(step):
        seen.append(step)
        if step.iteration == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        drive(Halving(), Halving().begin(None, None), interrupt)
    assert len(seen) == 3


@pytest.mark.parametrize(("tol", "max_iter"), [(0.0, 5), (-1.0, 5), (np.nan, 5), (1e-3, 0), (1e-3, -1)])
def test_limits_that_nobody_can_keep_are_refused(tol, max_iter):
    with pytest.raises(ParameterError, match=r"tol=|max_iter="):
        check_limits(tol, max_iter)
    for solver in (Bundle, Newton, ConjugateGradients, Tron):
        with pytest.raises(ParameterError, match=r"tol=|max_iter="):
            solver(tol=tol, max_iter=max_iter)


# The methods.

METHODS = {
    "bundle": (Bundle(tol=1e-9), Hinge()),
    "algorithm 1": (Bundle(tol=1e-9, line_search=False), Hinge()),
    "few planes": (Bundle(tol=1e-9, max_planes=4), Logistic()),
    "newton": (Newton(tol=1e-9), SquaredHinge()),
    "newton, exact": (Newton(tol=1e-9, hessian="exact"), Logistic()),
    "newton, products": (Newton(tol=1e-9, hessian="products"), Logistic()),
    "newton, hinge": (Newton(tol=1e-9), Hinge()),
    "cg": (ConjugateGradients(tol=1e-9), Logistic()),
    "tron": (Tron(tol=1e-9), SquaredHinge()),
}


@pytest.fixture(scope="module")
def engine():
    X, y, qid = make_ranking(150, 6, 5, 4)
    with LocalEngine(RankingData(X, y, qid)) as engine:
        yield engine


@pytest.fixture(params=METHODS)
def setting(request, engine):
    method, loss = METHODS[request.param]
    return method, Objective(engine, loss, Ridge(1e-3))


def told(state):
    """What a state says, bit by bit."""
    best = state.best
    return best.w.tobytes(), best.value, best.lower, state.gained, state.stuck, state.point.w.tobytes()


def test_the_start_is_weights_a_solution_or_zero(setting):
    method, objective = setting
    w = np.linspace(-1, 1, 6)
    for start, expected in ((None, np.zeros(6)), (w, w), (Solution(w, 0.0, 0.0, Status.CONVERGED, []), w)):
        np.testing.assert_array_equal(start_point(objective, start).w, expected)
        np.testing.assert_array_equal(method.begin(objective, start).point.w, expected)


def test_states_are_values(setting):
    """A step leaves the state it starts from as it was, and taken again it ends at the same bits.

    A bundle's model shares its room with those that grow out of it, so that only the newest state may be stepped from.
    """
    method, objective = setting
    state = method.begin(objective, None)
    for _ in range(12):
        before = told(state)
        after, again = method.step(state), method.step(state)
        assert told(state) == before
        assert told(after) == told(again)
        state = again
    assert state.best.gap < method.begin(objective, None).best.gap


def test_a_method_keeps_nothing_of_a_fit(setting):
    method, objective = setting
    first, second = (method.minimise(objective) for _ in range(2))
    np.testing.assert_array_equal(first.w, second.w)
    assert [step[:3] for step in first.history] == [step[:3] for step in second.history]


def test_a_fit_is_its_steps(setting):
    """The loop adds nothing to the method's states."""
    method, objective = setting
    solution = replace(method, max_iter=6).minimise(objective)
    state = method.begin(objective, None)
    for step in solution.history:
        assert isinstance(step, Iteration)
        assert (step.objective, step.gap) == (state.best.value, state.best.gap)
        state = method.step(state)
    assert solution.n_iter == 6


def test_every_method_is_interrupted_by_its_callback(setting):
    method, objective = setting

    def interrupt(step):
        raise KeyError(step.iteration)

    with pytest.raises(KeyError, match="1"):
        method.minimise(objective, callback=interrupt)


def test_gaps_never_widen_and_bound_what_is_left(setting):
    method, objective = setting
    least = Newton(tol=1e-11).minimise(objective)
    history = method.minimise(objective).history
    gaps, values = np.array([step.gap for step in history]), np.array([step.objective for step in history])
    assert np.all(np.diff(values) <= 0)
    assert np.all(np.diff(gaps) <= 1e-12)
    assert np.all(values - gaps <= least.value)
