"""Losses and solvers of one's own: with and without inheritance, wherever rankers take one."""

import pickle
import warnings
from dataclasses import dataclass, replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from linrank import AUCClassifier, DataError, LinearRanker, LinearRankerCV, ParameterError, labels
from linrank.losses import Hinge, HuberHinge, Logistic, Loss, LossPoint, SquaredHinge, Sums
from linrank.model_selection import QueryKFold
from linrank.solvers import Bundle, ConjugateGradients, Iteration, Newton, Solution, Status
from linrank.testing import make_ranking


class Square(Loss):
    """(margin - z)^2, all pairs of a ranking as a matrix; may be changed after it was made."""

    name = "square"

    def __init__(self, margin=1.0):
        self.margin = margin

    def at(self, scores, rankings, work):
        level, value, gradient, kept = rankings.level_numbers(), 0.0, np.zeros(scores.size), []
        for r in range(rankings.n_rankings):
            here = rankings.members(r)
            v, s, at = rankings.member_weights[here], scores[here], level[here]
            c = rankings.u[r] * np.outer(v, v) * (at[:, None] > at)
            slack = self.margin - (s[:, None] - s)
            value += float((c * slack**2).sum())
            g = -2.0 * c * slack
            gradient[here] = g.sum(axis=1) - g.sum(axis=0)
            kept.append((here, 2.0 * (c + c.T)))
        return LossPoint(Sums(value, rankings.weight), gradient, Laplacian(kept))


@dataclass(frozen=True)
class Laplacian:
    kept: list

    def product(self, v, work):
        out = np.empty(v.size)
        for here, W in self.kept:
            out[here] = W.sum(axis=1) * v[here] - W @ v[here]
        return out


@dataclass(frozen=True)
class Plain:
    """No more than name, smooth and at."""

    smooth: bool = False
    name = "plain"

    def at(self, scores, rankings, work):
        return (Logistic() if self.smooth else Hinge()).at(scores, rankings, work)


class Likely(Plain):
    def probability(self, z):
        return 1.0 / (1.0 + np.exp(-z))


@dataclass(frozen=True)
class Descent:
    """Steepest descent; its certificate is that of the gradient."""

    tol: float = 1e-3
    max_iter: int = 1000

    def minimise(self, objective, start=None, callback=None):
        w = start.w if isinstance(start, Solution) else start
        point, history, step = objective.at(np.zeros(objective.n_features) if w is None else w), [], 1.0
        while True:
            g = point.gradient
            gap = objective.penalty.gap(point.w, point.risk_gradient) + point.rounding
            history.append(Iteration(len(history) + 1, point.value, gap, 0.0))
            if callback is not None:
                callback(history[-1])
            converged = gap <= self.tol * objective.value_at_zero
            if converged or len(history) == self.max_iter:
                status = Status.CONVERGED if converged else Status.MAX_ITER
                return Solution(point.w, point.value, gap, status, history)
            line, step = point.along(-g), 2.0 * step
            while line.at(step).value > point.value - 0.5 * step * float(g @ g):
                step /= 2.0
            point = line.point(step)


@pytest.fixture(scope="module")
def problem():
    return make_ranking(200, 4, 8, 4, seed=1)


def same_minimum(one, other):
    assert one.status_ == other.status_ == "converged"
    assert abs(one.objective_ - other.objective_) <= one.gap_ + other.gap_


@pytest.mark.parametrize(
    ("own", "known", "solver"),
    [(Plain(), "hinge", "bundle"), (Plain(smooth=True), "logistic", "newton"), (Likely(smooth=True), "logistic", "cg")],
)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_without_inheritance(problem, own, known, solver, n_jobs):
    ranker = LinearRanker(own, 0.01, n_jobs=n_jobs, solver="auto" if solver == "bundle" else solver).fit(*problem)
    same_minimum(ranker, LinearRanker(known, 0.01, solver=solver).fit(*problem))


def test_a_loss_that_is_not_smooth_goes_to_the_bundle_method(problem):
    auto = LinearRanker(Plain(), 0.01).fit(*problem)
    assert auto.coef_.tobytes() == LinearRanker(Plain(), 0.01, solver="bundle").fit(*problem).coef_.tobytes()


@pytest.mark.parametrize("solver", ["auto", "newton", "bundle", "cg", "tron", Newton(hessian="exact"), Descent()])
def test_a_subclass_with_every_solver(problem, solver):
    X, y, qid = problem
    ranker = LinearRanker(Square(), 0.1, scale=False, solver=solver).fit(X, y, qid)
    i, j = np.nonzero((y[:, None] > y) & (qid[:, None] == qid))
    Z = X[i] - X[j]
    w = np.linalg.solve(0.1 * np.eye(4) + 2.0 * Z.T @ Z / len(Z), 2.0 * Z.mean(axis=0))
    f = 0.05 * w @ w + np.mean((1.0 - Z @ w) ** 2)
    assert -1e-12 <= ranker.objective_ - f <= ranker.gap_ <= 1e-3  # f(0) is 1


def test_squared_hinge_by_a_subclass_has_its_exact_hessian(problem):
    class Mine(SquaredHinge):
        name = "mine"

    one, other = (
        LinearRanker(loss, 0.01, solver=Newton(hessian="exact")).fit(*problem) for loss in (Mine(), "squared_hinge")
    )
    assert one.coef_.tobytes() == other.coef_.tobytes()


def test_a_hinge_of_ones_own_that_can_be_smoothed(problem):
    class Mine(Plain):
        def smoothed(self, mu):
            return HuberHinge(mu)

    same_minimum(LinearRanker(Mine(), 0.01, solver="newton").fit(*problem), LinearRanker("hinge", 0.01).fit(*problem))


@pytest.mark.parametrize("make", [LinearRanker, LinearRankerCV, AUCClassifier])
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"loss": Square}, r"loss=Square is a class: give an instance, Square\(\)\."),
        ({"loss": "hinje"}, "loss='hinje' is not known: choose one of 'hinge'"),
        ({"loss": None}, "loss=None is not known: choose one of"),
        ({"loss": object()}, "has no 'name': choose one of .* or give an object with name, smooth, at"),
        ({"loss": Laplacian([])}, "has no 'name'"),
        ({"loss": Bundle()}, "has no 'name'"),
        ({"solver": Descent}, r"solver=Descent is a class: give an instance, Descent\(\)\."),
        ({"solver": "adam"}, "solver='adam' is not known: choose one of 'auto'"),
        ({"solver": Hinge()}, "has no 'minimise'"),
        ({"loss": Plain(), "solver": "newton"}, "loss='plain' is not: use solver='auto' or 'bundle',"),
        ({"loss": Plain(), "solver": "cg"}, "needs a smooth loss"),
        ({"loss": Plain(), "solver": "tron"}, "needs a smooth loss"),
        ({"loss": Plain(), "solver": Newton()}, "needs a smooth loss"),
        ({"loss": "hinge", "solver": ConjugateGradients()}, "use solver='auto', 'newton' or 'bundle',"),
    ],
)  # fmt: skip
def test_refused_before_work_begins(make, given, words):
    X = np.zeros((4, 1))  # nothing can be learnt from it, which would take longer to find out
    with pytest.raises(ParameterError, match=words) as caught:
        make(**given).fit(X, [0, 1, 0, 1])
    assert "\n" not in str(caught.value)
    assert ". " not in str(caught.value)


@pytest.mark.parametrize(("name", "smooth"), [(3, True), ("x", "yes"), (None, False)])
def test_names_are_texts_and_smooth_is_a_truth(problem, name, smooth):
    own = type("Odd", (), {"name": name, "smooth": smooth, "at": Plain.at})()
    with pytest.raises(ParameterError, match="name must be a text, and its smooth True or False"):
        LinearRanker(own).fit(*problem)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda p: (p.sums.value, p.gradient), "does not answer by a LossPoint"),
        (lambda p: replace(p, sums=(1.0, 2.0)), "does not tell its sums"),
        (lambda p: replace(p, gradient=p.gradient[:-1]), r"gradient of shape \(\d+,\) for \d+ members"),
        (lambda p: replace(p, gradient=np.r_[p.gradient, 0.0]), r"gradient of shape \(\d+,\) for \d+ members"),
        (lambda p: replace(p, gradient=p.gradient[:, None]), "gradient of shape"),
        (lambda p: replace(p, sums=Sums(p.sums.value)), "without a weight"),
        (lambda p: replace(p, sums=Sums(-1.0, p.sums.weight)), "is negative"),
        (lambda p: replace(p, curvature=None), "says that it is smooth, but has no curvature"),
        (lambda p: replace(p, curvature=Laplacian([])), None),
    ],
)
def test_wrong_answers_never_reach_a_kernel(problem, change, words):
    class Wrong(Square):
        name = "wrong"

        def at(self, scores, rankings, work):
            return change(super().at(scores, rankings, work))

    class Short(Laplacian):
        def product(self, v, work):
            return v[:-1]

    if words is None:
        change, words = (lambda p: replace(p, curvature=Short([]))), "product of shape"
    with pytest.raises(ParameterError, match=f"^The loss 'wrong' .*{words}"):
        LinearRanker(Wrong(), 0.01, solver=Newton(hessian="products")).fit(*problem)


def test_gradients_of_other_types_are_taken(problem):
    class Lists(Square):
        def at(self, scores, rankings, work):
            point = super().at(scores, rankings, work)
            twice = np.repeat(point.gradient, 2)[::2]
            return replace(point, gradient=twice if rankings.n_rankings % 2 else twice.tolist())

    one, other = (LinearRanker(loss, 0.01).fit(*problem) for loss in (Lists(), Square()))
    assert one.coef_.tobytes() == other.coef_.tobytes()


def test_clones_have_a_copy(problem):
    ranker = LinearRanker(Square(2.0), 0.01, solver=Descent(max_iter=5))
    twin = clone(ranker)
    assert twin.loss is not ranker.loss
    assert twin.loss.margin == 2.0
    twin.loss.margin = 1.0
    assert ranker.loss.margin == 2.0
    assert twin.solver == ranker.solver


def test_pickles(problem):
    ranker = LinearRanker(Square(), 0.01, solver=Descent(), warm_start=True).fit(*problem)
    back = pickle.loads(pickle.dumps(ranker))
    assert back.predict(problem[0]).tobytes() == ranker.predict(problem[0]).tobytes()
    assert back.fit(*problem).n_iter_ == 1


def test_grid_search(problem):
    X, y, qid = problem
    search = GridSearchCV(LinearRanker(), {"loss": [Square(), Plain(), "hinge"], "alpha": [0.01]}, cv=QueryKFold(3))
    found = search.fit(X, labels(y, qid)).cv_results_
    assert np.all(found["mean_test_score"] > 0.6)
    assert found["mean_test_score"][1] == pytest.approx(found["mean_test_score"][2], abs=0.01)


def test_probabilities(problem):
    X, _, _ = problem
    ranker = LinearRanker(Likely(smooth=True), 0.01).fit(*problem)
    known = LinearRanker("logistic", 0.01).fit(*problem)
    np.testing.assert_allclose(ranker.predict_pair(X[:5], X[5:10]), known.predict_pair(X[:5], X[5:10]), atol=1e-2)
    with pytest.raises(ParameterError, match="loss='plain' gives no probabilities: train with loss='logistic'"):
        LinearRanker(Plain(), 0.01).fit(*problem).predict_pair(X[:5], X[5:10])
    with pytest.raises(ParameterError, match="loss='square' gives no probabilities"):
        LinearRanker(Square(), 0.01).fit(*problem).predict_pair(X[:5], X[5:10])


def test_warm_starts_use_planes_of_the_same_loss_alone(problem):
    ranker = LinearRanker(Square(), 0.01, solver="bundle", warm_start=True, tol=1e-5).fit(*problem)
    first = ranker.n_iter_
    assert ranker.fit(*problem).n_iter_ < first / 2  # weights and planes
    ranker.loss.margin = 0.2  # the same object, another loss: planes of before lie above it
    changed = ranker.fit(*problem)
    same_minimum(changed, LinearRanker(Square(0.2), 0.01, tol=1e-5).fit(*problem))

    class Local(Square):  # cannot be pickled
        pass

    ranker = LinearRanker(Local(), 0.01, solver="bundle", warm_start=True).fit(*problem)
    same_minimum(ranker.fit(*problem), LinearRanker(Square(), 0.01).fit(*problem))


def test_alpha_is_said_not_to_be_tuned(problem, caplog):
    with caplog.at_level("INFO", "linrank"):
        own = LinearRanker(Square()).fit(*problem)
    assert "alpha='auto' is not tuned for this loss" in caplog.text
    assert own.alpha_ == pytest.approx(0.5 * LinearRanker().fit(*problem).alpha_)


def test_what_a_loss_inherits_from_another_is_not_its_own(problem):
    class Twice(Hinge):
        def at(self, scores, rankings, work):
            point = super().at(scores, rankings, work)
            return LossPoint(point.sums._replace(value=2.0 * point.sums.value), 2.0 * point.gradient)

    own = LinearRanker(Twice(), 0.2).fit(*problem)
    ours = LinearRanker("hinge", 0.1, tol=1e-5).fit(*problem)
    assert abs(own.objective_ / 2.0 - ours.objective_) <= own.gap_ / 2.0 + ours.gap_


def test_an_own_loss_with_a_name_of_ours_is_still_its_own(problem, capsys):
    class Namesake(Square):
        name = "logistic"

    own, other = (LinearRanker(loss, verbose=1).fit(*problem) for loss in (Namesake(), Square()))
    assert own.alpha_ == other.alpha_
    assert "WMW" not in capsys.readouterr().err


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize(("loss", "solver"), [(Square(), Descent()), (Plain(), "auto"), (Square(), "auto")])
def test_where_alpha_is_chosen(problem, loss, solver, n_jobs):
    found = LinearRankerCV(3, cv=3, loss=loss, solver=solver, n_jobs=n_jobs).fit(*problem)
    one = LinearRanker(loss, found.alpha_, solver=solver).fit(*problem)
    assert found.coef_.tobytes() == one.coef_.tobytes()
    assert found.cv_results_["n_iter"].shape == (found.cv_results_["alpha"].size, 3)


def test_a_classifier(problem):
    X, y, _ = problem
    one = AUCClassifier(Plain(), solver=Bundle(), cv=3).fit(X, y > 1)
    assert one.score(X, y > 1) > 0.7
    assert AUCClassifier(Square(), solver=Descent(), cv=3, n_jobs=2).fit(X, y > 1).score(X, y > 1) > 0.7


@dataclass(frozen=True)
class Answers:
    """Gives what it is told to."""

    change: dict

    def minimise(self, objective, start=None, callback=None):
        return replace(Descent().minimise(objective, start, callback), **self.change)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"status": "done"}, "status 'done' is not known: give one of 'converged', 'max_iter'"),
        ({"status": None}, "status None is not known"),
        ({"w": np.zeros(3)}, r"weights have shape \(3,\): give one for each of 4 features"),
        ({"w": np.zeros((4, 1))}, r"weights have shape \(4, 1\)"),
        ({"history": [(1, 2.0)]}, "history is no list of iterations"),
        ({"history": None}, "history is no list of iterations"),
    ],
)
def test_wrong_solutions_are_refused(problem, change, words):
    with pytest.raises(ParameterError, match=words):
        LinearRanker(Square(), solver=Answers(change)).fit(*problem)
    with pytest.raises(ParameterError, match=words):
        LinearRankerCV(2, loss=Square(), solver=Answers(change)).fit(*problem)


def test_a_solver_that_answers_by_something_else(problem):
    class Numbers(Descent):
        def minimise(self, objective, start=None, callback=None):
            return np.zeros(objective.n_features)

    with pytest.raises(ParameterError, match="answers by a ndarray: give a linrank"):
        LinearRanker(solver=Numbers()).fit(*problem)


def test_solutions_that_say_less(problem, tmp_path):
    change = {"status": "finished", "gap": np.nan, "history": [], "w": [1.0, 2.0, 3.0, 4.0]}
    with pytest.warns(ConvergenceWarning, match="'finished' after 0 iterations with no certificate. All steps"):
        ranker = LinearRanker(solver=Answers(change), scale=False).fit(*problem)
    assert ranker.status_ == "finished"
    assert np.isnan(ranker.gap_)
    assert ranker.coef_.tolist() == [1, 2, 3, 4]
    assert ranker.history_ == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain = {"status": "converged", "history": [(7, 0.1, 0.0, 0.0)]}
        assert LinearRanker(solver=Answers(plain)).fit(*problem).n_iter_ == 7
    with pytest.raises(DataError, match="overflows"):
        LinearRanker(solver=Answers({"w": np.full(4, np.nan)})).fit(*problem)


def test_an_own_solver_gets_an_earlier_solution(problem):
    ranker = LinearRanker(solver=Descent(), warm_start=True).fit(*problem)
    assert ranker.n_iter_ > 1
    assert ranker.fit(*problem).n_iter_ == 1
    assert ranker.set_params(solver="bundle").fit(*problem).status_ == "converged"
    assert ranker.set_params(solver="newton").fit(*problem).status_ == "converged"


def test_progress_of_an_own_solver_is_shown(problem, capsys):
    ranker = LinearRanker(Square(), solver=Descent(), verbose=2).fit(*problem)
    assert capsys.readouterr().err.count("objective") == ranker.n_iter_
