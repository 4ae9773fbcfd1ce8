"""Model files of rankers with a loss or a solver that is given as an object: linrank's come back, others are named."""

import json
import sys
from dataclasses import dataclass, replace

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.base import clone

import linrank
from linrank import AUCClassifier, LinearRanker, LinearRankerCV, ModelFileError, ParameterError
from linrank.cli import cli
from linrank.io._document import dumps, loads
from linrank.io.model import Model
from linrank.losses import Hinge, HuberHinge, Logistic, LogisticErfc, SquaredHinge
from linrank.solvers import Bundle, ConjugateGradients, Newton, Tron
from linrank.testing import make_ranking

NAME = __name__


@dataclass(frozen=True)
class Own:
    """A hinge, or the logistic loss, in somebody's package."""

    name: str = "huber"
    smooth: bool = False

    def at(self, scores, rankings, work):
        return (Logistic() if self.smooth else Hinge()).at(scores, rankings, work)

    def probability(self, z):
        return 1.0 / (1.0 + np.exp(-z))

    class Nested:
        """Of a class in a class."""

        name = "nested"
        smooth = False

        def at(self, scores, rankings, work):
            return Hinge().at(scores, rankings, work)


class OwnSolver:
    def minimise(self, objective, start=None, callback=None):
        return Newton().minimise(objective, start, callback)


@pytest.fixture(scope="module")
def problem():
    return make_ranking(200, 4, 8, 4, seed=2)


def there_and_back(ranker):
    return loads(dumps(Model.of(ranker)), "m").ranker()


def fitted(problem, make=LinearRanker, **given):
    X, y, qid = problem
    return make(**given).fit(X, y > 1) if make is AUCClassifier else make(**given).fit(X, y, qid)


@pytest.mark.parametrize(
    "given",
    [
        {"loss": LogisticErfc(eps=1e-6)},
        {"loss": Hinge()},
        {"loss": Hinge(margin=2.0)},
        {"loss": HuberHinge(0.1)},
        {"loss": SquaredHinge()},
        {"loss": SquaredHinge(counting="tree")},
        {"loss": Hinge(counting="pairs")},
        {"loss": Logistic()},
        {"loss": Hinge(), "solver": Bundle(line_search=False, tol=0.01)},
        {"solver": Newton(tol=1e-5, hessian="products", samples=False)},
        {"solver": ConjugateGradients()},
        {"solver": Tron(tol=0.01)},
    ],
    ids=str,
)
@pytest.mark.parametrize("make", [LinearRanker, AUCClassifier])
def test_objects_of_linrank_come_back_as_themselves(problem, given, make):
    back = there_and_back(fitted(problem, make, **given))
    for name, value in given.items():
        assert getattr(back, name) == value
        assert type(getattr(back, name)) is type(value)
    fitted_again = back.fit(problem[0], problem[1] > 1)
    assert there_and_back(fitted_again).get_params() == back.get_params()


@pytest.mark.parametrize("make", [LinearRanker, LinearRankerCV, AUCClassifier])
def test_an_own_loss_is_named(problem, make):
    X, y, _ = problem
    saved = fitted(problem, make, loss=Own())
    back = there_and_back(saved)
    assert back.predict(X).tobytes() == saved.predict(X).tobytes()
    assert repr(back).startswith(f"{make.__name__}(loss=<loss 'huber' ({NAME}.Own), not in the model file>")
    cure = rf"^The loss 'huber' \({NAME}\.Own\) is not part of linrank: set loss= to fit again or to predict pairs\.$"
    with pytest.raises(ParameterError, match=cure):
        back.fit(X, y > 1)
    with pytest.raises(ParameterError, match=cure):
        clone(back).fit(X, y > 1)
    again = there_and_back(back)
    assert again.loss == back.loss
    assert again.get_params(deep=False) == back.get_params(deep=False)


def test_what_a_loaded_ranker_does_without_its_loss(problem):
    X, y, qid = problem
    saved = fitted(problem, loss=Own(smooth=True))
    back = there_and_back(saved)
    assert back.rank(X, qid).tolist() == saved.rank(X, qid).tolist()
    assert back.score(X, y, qid) == saved.score(X, y, qid)
    assert back.to_sql() == saved.to_sql()
    assert str(back.explain(X[0], X[1])) == str(saved.explain(X[0], X[1]))
    assert back.gap_ == saved.gap_
    with pytest.raises(ParameterError, match="set loss= to fit again or to predict pairs"):
        back.predict_pair(X[:3], X[3:6])
    back.set_params(loss=Own(smooth=True))
    assert back.predict_pair(X[:3], X[3:6]).tolist() == saved.predict_pair(X[:3], X[3:6]).tolist()
    assert back.fit(X, y, qid).coef_.tobytes() == saved.coef_.tobytes()


def test_an_own_solver_is_named(problem):
    X, y, qid = problem
    saved = fitted(problem, solver=OwnSolver())
    back = there_and_back(saved)
    assert back.predict(X).tobytes() == saved.predict(X).tobytes()
    with pytest.raises(
        ParameterError,
        match=rf"^The solver 'OwnSolver' \({NAME}\.OwnSolver\) is not part of linrank: set solver= to fit",
    ):
        back.fit(X, y, qid)
    assert there_and_back(back).solver == back.solver
    assert back.set_params(solver="auto").fit(X, y, qid).status_ == "converged"


def test_a_subclass_of_a_loss_of_linrank_is_an_own_one(problem):
    class Mine(SquaredHinge):
        """Anything may be different in it."""

    back = there_and_back(fitted(problem, loss=Mine()))
    assert back.loss.name == "squared_hinge"
    assert back.loss.origin.endswith("<locals>.Mine")
    nested = there_and_back(fitted(problem, loss=Own.Nested()))
    assert nested.loss.origin == f"{NAME}.Own.Nested"


def test_the_file_says_both(problem, tmp_path):
    path = tmp_path / "m.json"
    linrank.save(fitted(problem, loss=Own(smooth=True), solver=OwnSolver()), path)
    document = json.loads(path.read_text())
    assert document["parameters"]["loss"] == {"loss": "huber", "class": f"{NAME}.Own"}
    assert document["parameters"]["solver"] == {"solver": "OwnSolver", "class": f"{NAME}.OwnSolver"}
    assert document["training"]["loss"] == "huber"
    shown = CliRunner().invoke(cli, ["inspect", str(path)])
    assert shown.exit_code == 0
    assert ["loss", "huber"] in [line.split() for line in shown.output.splitlines()]
    as_json = json.loads(CliRunner().invoke(cli, ["inspect", str(path), "--json"]).stdout)
    assert as_json["training"]["loss"] == "huber"
    assert as_json["parameters"]["loss"] == {"what": "loss", "name": "huber", "origin": f"{NAME}.Own"}


def test_names_of_losses_of_linrank_are_facts(problem):
    assert Model.of(fitted(problem, loss=LogisticErfc(eps=1e-6))).training["loss"] == "logistic_erfc"
    assert Model.of(fitted(problem, AUCClassifier, loss=Hinge())).training["loss"] == "hinge"


@pytest.mark.parametrize(
    ("parameter", "value", "words"),
    [
        ("loss", {"loss": "OwnLoss", "given": 3}, "does not know"),
        ("loss", {"loss": "Loss"}, "does not know"),
        ("loss", {"loss": "Sums"}, "does not know"),
        ("loss", {"loss": "Newton"}, "does not know"),
        ("loss", {"solver": "Newton"}, "does not know"),
        ("solver", {"loss": "Hinge"}, "does not know"),
        ("solver", {"solver": "Hinge"}, "does not know"),
        ("loss", {"loss": 3}, "does not know"),
        ("loss", {}, "does not know"),
        ("loss", {"loss": 3, "class": "a.B"}, "does not know"),
        ("loss", {"loss": "x", "class": 3}, "does not know"),
        ("loss", {"loss": "x", "class": "a.B", "more": 1}, "does not know"),
        ("alpha", {"alpha": "x", "class": "a.B"}, "does not know"),
        ("loss", {"loss": "Hinge", "speed": 1}, "fields that Hinge does not have"),
        ("loss", {"loss": "LogisticErfc", "eps": 2.0}, "fields that LogisticErfc does not have"),
        ("loss", {"loss": "LogisticErfc", "eps": "small"}, "fields that LogisticErfc does not have"),
        ("loss", {"loss": "SquaredHinge", "a": ["x"]}, "fields that SquaredHinge does not have"),
        ("loss", {"loss": "SquaredHinge", "a": [[1.0]]}, "fields that SquaredHinge does not have"),
        ("loss", {"loss": "SquaredHinge", "a": {"a": 1}}, "fields that SquaredHinge does not have"),
    ],
)
def test_damage_is_named(problem, parameter, value, words):
    document = json.loads(dumps(Model.of(fitted(problem))))
    del document["checksum"]
    document["parameters"][parameter] = value
    with pytest.raises(ModelFileError, match=words):
        loads(json.dumps(document).encode(), "m")


def test_nothing_is_imported(problem, monkeypatch):
    model = replace(Model.of(fitted(problem)), parameters={"loss": Own()})
    text = dumps(model).replace(f"{NAME}.Own".encode(), b"antigravity.Own")
    document = json.loads(text)
    del document["checksum"]
    monkeypatch.setitem(sys.modules, "antigravity", None)  # an import would fail
    assert loads(json.dumps(document).encode(), "m").ranker().loss.origin == "antigravity.Own"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ({"loss": "SquaredHinge", "a": [1.0], "m": [1.0]}, SquaredHinge()),
        ({"loss": "HuberHinge", "a": [2.0, -2.0], "m": [1.0, 0.75]}, HuberHinge(0.25)),
        ({"loss": "Hinge", "margin": 1.0}, Hinge()),
    ],
    ids=lambda value: value["loss"] if isinstance(value, dict) else "",
)
def test_losses_in_files_of_the_first_release(problem, written, meant, tmp_path):
    path = tmp_path / "model.json"
    linrank.save(fitted(problem, loss=meant), path)
    model = json.loads(path.read_text())
    assert model["parameters"]["loss"] != written or written["loss"] == "Hinge"
    model["parameters"]["loss"] = written
    del model["checksum"]
    path.write_text(json.dumps(model))
    assert linrank.load(path).loss == meant


def test_newton_in_files_of_the_first_release(problem, tmp_path):
    path, meant = tmp_path / "model.json", Newton(tol=1e-5, float32=False)
    linrank.save(fitted(problem, solver=meant), path)
    model = json.loads(path.read_text())
    model["parameters"]["solver"] = {
        "solver": "Newton", "tol": 1e-5, "max_iter": 1000, "hessian": "auto", "samples": True, "rounded": False,
    }  # fmt: skip
    del model["checksum"]
    path.write_text(json.dumps(model))
    assert linrank.load(path).solver == meant
