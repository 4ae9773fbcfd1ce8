"""Directions: what is remembered of curvature, what they cost in products, and when a Hessian is built or renewed."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from linrank import RankingData
from linrank.engines import LocalEngine
from linrank.losses import Hinge, Logistic, SquaredHinge
from linrank.objective import Objective
from linrank.penalties import Ridge
from linrank.solvers import Newton, Solution, Status
from linrank.solvers.newton import directions
from linrank.solvers.newton.directions import TUNING, CurvatureMemory, Directions
from linrank.solvers.newton.method import WarmStart
from linrank.testing import make_ranking
from products import ProductsEngine


class CountingEngine(LocalEngine):
    """Says what an exact Hessian costs, and counts Hessians and Hessian products."""

    cost: float | None = 6.0
    hessians = 0
    hessian_products = 0

    def hessian_cost(self, loss):
        return self.cost

    def evaluate(self, *arguments, **named):
        return Counting(super().evaluate(*arguments, **named), self)


class Counting:
    def __init__(self, inner, engine):
        self.inner, self.engine = inner, engine

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def hessian(self, scale=None):
        self.engine.hessians += 1
        return self.inner.hessian(scale)

    def hessian_product(self, v, exact=True, scale=None):
        self.engine.hessian_products += 1
        return self.inner.hessian_product(v, exact, scale)


@pytest.fixture
def objective():
    X, y, qid = make_ranking(3000, 8, 30, 4)
    with ProductsEngine(RankingData(X, y, qid)) as engine:
        yield Objective(engine, SquaredHinge(), Ridge(1e-3))


@pytest.fixture
def counted():
    """Features of different sizes, mixed: conjugate gradients need some products."""
    X, y, qid = make_ranking(1000, 8, 30, 4)
    mixed = np.linalg.qr(np.random.default_rng(1).normal(size=(8, 8)))[0]
    with CountingEngine(RankingData(X * 10.0 ** np.linspace(-0.5, 0.5, 8) @ mixed, y, qid)) as engine:
        yield Objective(engine, SquaredHinge(), Ridge(1e-3))


def walk(objective, n=6):
    """Points of one objective."""
    rng = np.random.default_rng(0)
    return [objective.at(w) for w in 0.05 * rng.normal(size=(n, objective.n_features)).cumsum(axis=0)]


def assert_newton(point, d, rtol=1e-9):
    np.testing.assert_allclose(point.hessian() @ d, -point.gradient, rtol=rtol, atol=rtol * abs(point.gradient).max())


def soft(**more):
    """The factor of a Hessian that is far too small."""
    return CurvatureMemory(1e-9 * np.eye(8), **more)


# What is remembered.


def test_a_step_is_noted_as_what_it_did_to_the_mean_loss(objective):
    points, memory = walk(objective), CurvatureMemory()
    for n, point in enumerate(points):
        memory = memory.noted(point, 3)
        assert len(memory.secants) == min(n, 3)
    for secant, before, after in zip(memory.secants, points[-4:-1], points[-3:], strict=True):
        np.testing.assert_array_equal(secant.s, after.w - before.w)
        np.testing.assert_array_equal(secant.y, after.risk_gradient - before.risk_gradient)


def test_no_step_is_no_secant(objective):
    point = objective.at(np.ones(8))
    assert not CurvatureMemory().noted(point, 3).noted(point, 3).secants


def test_no_step_leads_to_another_objective(objective):
    here, there = walk(objective, 2)
    memory = CurvatureMemory().noted(here, 3).elsewhere()
    assert memory.last is None
    assert not memory.noted(there, 3).secants


def test_noting_leaves_the_memory_as_it_was(objective):
    memory = CurvatureMemory().noted(objective.at(np.zeros(8)), 3)
    later = memory.noted(objective.at(np.ones(8)), 3)
    assert (len(memory.secants), len(later.secants)) == (0, 1)
    np.testing.assert_array_equal(memory.last[0], 0.0)


@pytest.mark.parametrize("c", [1e-3, 10.0])
def test_factorised_for_any_penalty(objective, c):
    H = objective.at(np.full(8, 0.1)).risk_hessian()
    memory = CurvatureMemory(H.copy()).factorised(2.0).factorised(c)
    assert memory.c == c
    np.testing.assert_array_equal(memory.H, H)  # the mean loss's alone
    r = np.arange(8.0)
    np.testing.assert_allclose((H + c * np.eye(8)) @ memory.precondition(r), r, rtol=1e-9, atol=1e-9)
    columns = np.column_stack([r, r[::-1]])
    np.testing.assert_allclose(memory.precondition(columns)[:, 0], memory.precondition(r), rtol=1e-12)


def test_a_factor_is_made_once_a_penalty(objective, monkeypatch):
    made, dpotrf = [], directions.dpotrf
    monkeypatch.setattr(directions, "dpotrf", lambda *a, **b: (made.append(1), dpotrf(*a, **b))[1])
    memory = CurvatureMemory(np.eye(8))
    for c in (1.0, 1.0, 2.0, 2.0):
        memory = memory.factorised(c)
    assert len(made) == 2


def test_an_indefinite_hessian_is_forgotten():
    memory = CurvatureMemory(np.diag([1.0, -2.0])).factorised(1.0)
    assert memory.H is None
    assert memory.factor is None
    r = np.array([3.0, 4.0])
    np.testing.assert_array_equal(memory.precondition(r), r)
    assert memory.factorised(5.0).factor is None
    fine = CurvatureMemory(np.diag([1.0, -2.0])).factorised(3.0)
    np.testing.assert_allclose(fine.precondition(r), [0.75, 4.0])
    assert fine.factorised(1.0).factor is None  # that of another penalty would be wrong


def test_a_hessian_that_rounding_made_indefinite_leaves_conjugate_gradients(counted, monkeypatch):
    point = counted.at(np.full(8, 0.1))
    monkeypatch.setattr(type(point), "risk_hessian", lambda self: -np.eye(8))
    direction, memory = Directions("exact", False).next(point, CurvatureMemory())
    assert memory.factor is memory.H is None
    assert counted.engine.hessian_products > 0
    residual = np.linalg.norm(point.hessian_product(direction.d) + point.gradient)
    assert residual <= TUNING.forcing * np.linalg.norm(point.gradient)


def test_what_is_left_to_the_next_fit_and_to_other_rows(objective):
    memory = replace(soft(products=3, earlier=4, steps=5).factorised(1.0), last=(np.ones(8), np.ones(8)))
    memory = memory.noted(objective.at(np.zeros(8)), 3)
    assert memory.secants
    again, others = memory.for_next_fit(), memory.on_other_rows()
    assert (again.products, again.earlier, again.steps) == (0, 7, 5)
    assert (others.products, others.earlier, others.steps) == (0, 0, 0)
    for left in (again, others):
        assert left.last is None
        assert left.secants == memory.secants
        assert left.H is memory.H
        assert left.factor is memory.factor
    assert again.for_next_fit() == again  # nothing is counted twice


# Which directions cost what.


def test_a_factor_makes_directions_without_products(objective):
    point = objective.at(np.zeros(8))
    memory = CurvatureMemory(point.risk_hessian())
    assert point.gradient.size == 8
    objective.engine.products = 0
    direction, memory = Directions().next(point, memory)
    assert objective.engine.products == 0
    assert memory.steps == 1
    assert_newton(point, direction.d)


def test_a_factor_serves_for_another_penalty(objective):
    point = objective.at(np.full(8, 0.1))
    _, memory = Directions().next(point, CurvatureMemory(point.risk_hessian()))
    other = replace(objective, penalty=Ridge(10.0)).at(point.w)
    objective.engine.products = 0
    direction, _ = Directions().next(other, memory)
    assert objective.engine.products == 1  # its gradient
    assert_newton(other, direction.d)


def test_steps_with_a_factor_correct_it(objective):
    """The secants of the steps taken since are part of the direction."""
    memory, ways = soft(), Directions()
    for point in walk(objective, 2):
        direction, memory = ways.next(point, memory)
    assert len(memory.secants) == 1
    s, y = memory.secants[0]
    rest = replace(point, w=point.w)
    rest.__dict__["gradient"] = -(y + 1e-3 * s)
    np.testing.assert_allclose(ways.next(rest, memory)[0].d, s, rtol=1e-6)
    assert np.linalg.norm(direction.d) < 1e-3 * np.linalg.norm(point.gradient / (1e-9 + 1e-3))


@pytest.mark.parametrize("hessian", ["exact", "auto"])
def test_an_exact_hessian_solves_newtons_equation(counted, hessian):
    point = counted.at(np.full(8, 0.1))
    direction, memory = Directions(hessian).next(point, CurvatureMemory(), sample=True)
    assert (counted.engine.hessians, counted.engine.hessian_products) == (1, 0)
    assert_newton(point, direction.d)
    np.testing.assert_allclose(memory.H, point.risk_hessian())
    assert memory.last[0] is point.w


def test_exact_is_exact_at_every_point(counted):
    memory = CurvatureMemory()
    for n, point in enumerate(walk(counted, 3), 1):
        direction, memory = Directions("exact").next(point, memory)
        assert_newton(point, direction.d)
        assert counted.engine.hessians == 2 * n  # ours is the other


@pytest.mark.parametrize(("hessian", "cost"), [("products", 6.0), ("auto", None), ("exact", None)])
def test_without_a_hessian_conjugate_gradients_go_on_to_their_goal(counted, hessian, cost):
    counted.engine.cost = cost
    point = counted.at(np.full(8, 0.1))
    direction, memory = Directions(hessian, float32=False).next(point, CurvatureMemory())
    assert not direction.given_up
    assert counted.engine.hessians == 0
    assert counted.engine.hessian_products > 1
    assert memory == CurvatureMemory(products=counted.engine.hessian_products)
    residual = np.linalg.norm(point.hessian_product(direction.d) + point.gradient)
    assert residual <= TUNING.forcing * np.linalg.norm(point.gradient)


@pytest.mark.parametrize("earlier", [0, 2, 100])
@pytest.mark.parametrize("cost", [1.0, 4.0, 1e9])
def test_a_hessian_is_bought_when_as_much_rent_was_paid(counted, cost, earlier):
    """Products of earlier fits count; at least one is tried."""
    counted.engine.cost = cost
    point = counted.at(np.full(8, 0.1))
    Directions("products", False).next(point, CurvatureMemory())
    needed, counted.engine.hessian_products = counted.engine.hessian_products, 0
    assert needed > 1
    limit = max(1, cost - earlier)
    direction, memory = Directions("auto", False).next(point, CurvatureMemory(earlier=earlier))
    assert not direction.given_up
    assert counted.engine.hessian_products == min(needed, limit)
    assert counted.engine.hessians == (0 if needed <= limit else 1)
    assert (memory.products, memory.earlier) == ((needed, earlier) if needed <= limit else (0, 0))
    assert (memory.factor is None) == (needed <= limit)


@pytest.mark.parametrize("cost", [None, 1e9])
def test_conjugate_gradients_give_up(counted, cost):
    """They keep what they have found; a Hessian that costs less is bought instead."""
    counted.engine.cost = cost
    point = counted.at(np.full(8, 0.1))
    ways = Directions("auto", False, max_products=1)
    direction, memory = ways.next(point, CurvatureMemory())
    assert direction.given_up
    assert (counted.engine.hessian_products, counted.engine.hessians, memory.products) == (1, 0, 1)
    assert direction.d @ point.gradient < 0
    counted.engine.cost = 1.0
    other = replace(counted, loss=SquaredHinge())
    direction, memory = ways.next(other.at(point.w), CurvatureMemory())
    assert not direction.given_up
    assert memory.factor is not None


def test_conjugate_gradients_end_where_the_gap_foretold_is_small(counted):
    """The gradient at the point that a quadratic would lead to tells the gap there."""
    counted.engine.cost = None
    point = counted.at(np.full(8, 0.1))
    _, goal = Directions("auto", False).next(point, CurvatureMemory())
    gap = point.objective.penalty.conjugate(point.gradient)
    direction, memory = Directions("auto", False, target=0.9 * gap / TUNING.enough).next(point, CurvatureMemory())
    assert memory.products < goal.products
    foretold = point.hessian_product(direction.d) + point.gradient
    assert point.objective.penalty.conjugate(foretold) <= 0.9 * gap


def test_features_of_different_sizes_take_few_products_where_no_hessian_is_to_be_had(monkeypatch):
    """The columns' variances precondition: a fit takes about as many products as one to columns of one size."""
    X, y, qid = make_ranking(1000, 30, 30, 4)

    def products(size):
        with CountingEngine(RankingData(X * size, y, qid)) as engine:
            engine.cost = None
            Newton(tol=1e-6, float32=False, samples=False).minimise(Objective(engine, SquaredHinge(), Ridge(1e-9)))
            return engine.hessian_products

    sizes = 10.0 ** np.linspace(-2, 0, 30)
    monkeypatch.setattr(directions, "TUNING", replace(TUNING, entries=np.inf))  # secants alone take none
    even, uneven = products(1.0), products(sizes)
    assert uneven <= 2 * even
    monkeypatch.setattr(directions, "_diagonal", lambda objective: np.ones(30))
    assert products(sizes) > 5 * uneven


@pytest.mark.parametrize("cost", [None, 6.0])
def test_columns_are_not_measured_where_a_hessian_is_to_be_had(counted, cost):
    counted.engine.cost = cost
    point = counted.at(np.full(8, 0.1))
    Directions("auto", False).next(point, CurvatureMemory())
    assert ("variances" in vars(counted)) == (cost is None)


# Directions from secants alone.


@contextmanager
def many_entries(size, d=40, alpha=1e-4, loss=None):
    """Rows of many entries whose columns differ in size, and no Hessian to be had."""
    X, y, qid = make_ranking(2000, d, 40, 4, seed=3)
    with CountingEngine(RankingData(X * size, y, qid)) as engine:
        engine.cost = None
        yield Objective(engine, loss or SquaredHinge(), Ridge(alpha))


UNEVEN = 10.0 ** np.linspace(-2, 0, 40)


@pytest.mark.parametrize(
    ("size", "d", "products"), [(UNEVEN, 40, False), (1.0, 40, True), (UNEVEN[:15], 15, True)],
    ids=["uneven", "columns of one size", "rows of few entries"],
)  # fmt: skip
def test_secants_alone_where_rows_are_long_and_columns_differ(size, d, products):
    with many_entries(size, d) as objective:
        found = Newton(samples=False).minimise(objective)
        assert found.status == "converged"
        assert (objective.engine.hessian_products > 0) == products


@pytest.mark.parametrize("loss", [SquaredHinge(), Logistic(), Hinge()], ids=lambda loss: loss.name)
def test_secants_alone_find_the_minimum(loss):
    with many_entries(UNEVEN, loss=loss) as objective:
        quick = Newton(1e-6, samples=False).minimise(objective)
        objective.engine.cost = 1.0
        exact = Newton(1e-9, samples=False).minimise(replace(objective))
        assert quick.status == exact.status == "converged"
        assert -exact.gap <= quick.value - exact.value <= quick.gap


def test_the_first_step_is_along_the_diagonal_and_the_next_knows_the_last():
    with many_entries(UNEVEN) as objective:
        ways, first = Directions(), objective.at(np.zeros(40))
        direction, memory = ways.next(first, CurvatureMemory())
        np.testing.assert_allclose(direction.d, -first.gradient / (1e-4 + TUNING.spread * objective.variances))
        second = objective.at(0.01 * direction.d)
        _, memory = ways.next(second, memory)
        s, y = memory.secants[-1]
        at = replace(second, w=second.w)
        at.__dict__["gradient"] = -(y + 1e-4 * s)
        np.testing.assert_allclose(ways.next(at, memory)[0].d, s, rtol=1e-6)


def test_conjugate_gradients_take_over_where_the_gap_no_longer_halves():
    with many_entries(UNEVEN) as objective:
        point, memory, ways = objective.at(np.zeros(40)), CurvatureMemory(), Directions("auto", False)
        for _ in range(TUNING.patience + 2):  # the same point: no gap falls
            _, memory = ways.next(point, memory)
        assert objective.engine.hessian_products == 0
        _, memory = ways.next(point, memory)
        assert objective.engine.hessian_products == memory.products > 0
        again = memory.for_next_fit()
        assert (again.slow, again.halved) == (0, np.inf)


def test_a_gap_that_halves_is_noted():
    memory = CurvatureMemory().watched(8.0).watched(5.0).watched(6.0)
    assert (memory.halved, memory.slow) == (8.0, 2)
    assert (memory.watched(4.0).halved, memory.watched(4.0).slow) == (4.0, 0)
    assert CurvatureMemory().watched(np.inf).slow == 1


# When a factor is given up.


@pytest.mark.parametrize("cost", [0.5, 2.0])
def test_a_factor_is_renewed_after_eight_times_its_cost_in_steps(counted, cost):
    counted.engine.cost = cost
    memory, ways, renewals = soft(), Directions(), []
    for n, point in enumerate(walk(counted, int(2 * TUNING.renewal * cost) + 3)):
        before = counted.engine.hessians
        _, memory = ways.next(point, memory)
        renewals += [n] * (counted.engine.hessians - before)
    assert TUNING.renewal == 8.0
    assert renewals[0] == 8 * cost
    np.testing.assert_array_equal(np.diff(renewals), 8 * cost + 1)
    assert counted.engine.hessian_products == 0


def test_where_no_hessian_can_be_had_a_factor_is_kept(counted):
    counted.engine.cost, point = None, counted.at(np.full(8, 0.1))
    _, memory = Directions().next(point, soft(steps=10**6))
    assert memory.factor is not None
    assert (counted.engine.hessians, counted.engine.hessian_products) == (0, 0)


def test_steps_of_earlier_fits_count(counted):
    point, cost = counted.at(np.zeros(8)), counted.hessian_cost
    late = soft(steps=int(np.ceil(TUNING.renewal * cost)))
    Directions().next(point, soft(steps=1).for_next_fit())
    Directions().next(point, late.on_other_rows())
    assert counted.engine.hessians == 0
    direction, memory = Directions().next(point, late.for_next_fit())
    assert counted.engine.hessians == 1
    assert_newton(point, direction.d)
    assert memory.steps == 0


@pytest.mark.parametrize("factor", [1e-3, 1e3], ids=["far too small", "far too large"])
@pytest.mark.parametrize("loss", [SquaredHinge(), Hinge()], ids=lambda loss: loss.name)
@pytest.mark.parametrize("cost", [6.0, None])
def test_a_wrong_factor_is_mended_or_given_up(counted, factor, loss, cost):
    """A start from a solution whose Hessian is that of other data ends at the same minimum."""
    objective = replace(counted, loss=loss)
    right = Newton(tol=1e-8).minimise(objective)
    wrong = WarmStart(CurvatureMemory(factor * np.diag(10.0 ** np.arange(-4, 4))))
    counted.engine.cost = cost
    again = Newton(tol=1e-8).minimise(objective, Solution(np.ones(8), 0.0, 0.0, right.status, [], wrong))
    assert again.status is Status.CONVERGED
    assert again.value == pytest.approx(right.value, abs=2e-8)


def test_a_start_leaves_the_solution_as_it_was(objective):
    solution = Newton(tol=1e-3, hessian="exact").minimise(objective)
    memory = solution.state.memory
    H, secants = memory.H.copy(), len(memory.secants)
    first, second = (Newton(tol=1e-10).minimise(objective, solution) for _ in range(2))
    assert first.n_iter > 2
    np.testing.assert_array_equal(memory.H, H)
    assert len(memory.secants) == secants
    np.testing.assert_array_equal(first.w, second.w)
