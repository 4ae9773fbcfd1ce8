"""Whose time counts: weights are judged by our objective, programs are found in a folder, quick checks find faults."""

import sys

import numpy as np
import pytest

import contest
import opponents
import problems
import quick
import results
from opponents import Fit, UnfinishedError, liblinear_ranksvm, linrank, sofia_ml, svmrank
from problems import graded


@pytest.fixture
def problem():
    return graded.make(120, 4, 6, 3)


@pytest.fixture
def given(monkeypatch):
    monkeypatch.setenv("LINRANK_QUICK", "1")
    with results.answering((), None) as answering:
        yield answering


def test_the_objective_is_that_of_the_fit(problem):
    from linrank import LinearRanker

    for loss in ("hinge", "squared_hinge", "logistic"):
        ranker = LinearRanker(loss, 1e-2, scale=False).fit(*problem)
        for way in (contest.objective, contest.slow_objective):
            assert way(problem, loss, 1e-2, ranker.coef_) == pytest.approx(ranker.objective_, rel=1e-11)


def test_an_objective_that_is_not_what_pairs_say_is_a_fault(problem, given, monkeypatch):
    contest.contest(problem, "hinge", 1e-2, {"ours": linrank.fit})
    assert not given.faults
    right = contest.objective
    monkeypatch.setattr(contest, "objective", lambda *given: right(*given) * 1.002)
    contest.contest(problem, "hinge", 1e-2, {"ours": linrank.fit})
    assert len(given.faults) == 1
    assert "pair by pair" in given.faults[0]


def test_time_counts_only_with_weights_as_good_as_the_others(problem, given):
    def wrong(problem, loss, alpha):
        fit = linrank.fit(problem, loss, alpha)
        return fit._replace(weights=0.5 * fit.weights, seconds=0.0)

    judged = contest.contest(problem, "hinge", 1e-2, {"ours": linrank.fit, "theirs": wrong, "none": None})
    assert judged["ours"].seconds > 0
    assert judged["ours"].status == "converged"
    assert judged["theirs"].seconds is None
    assert judged["theirs"].objective > judged["ours"].objective + 1e-3
    assert judged["none"] == contest.Judged()
    assert contest.ratio(judged, "theirs", "ours") is None
    (fault,) = given.faults
    assert "theirs" in fault
    assert "is possible" in fault


def test_an_objective_a_little_off_is_a_fault_from_a_thousandth_on(problem, given):
    def moved(by):
        best = linrank.fit(problem, "squared_hinge", 1e-2, tol=1e-10).weights
        value = contest.objective(problem, "squared_hinge", 1e-2, best)
        low, high = 0.0, 1.0
        for _ in range(60):  # the step along ones at which the objective has risen by so much
            middle = (low + high) / 2
            risen = contest.objective(problem, "squared_hinge", 1e-2, best + middle) - value
            low, high = (middle, high) if risen < by else (low, middle)
        return lambda *_: Fit(best + low, 1.0)

    exact = lambda *given: linrank.fit(*given, tol=1e-10)  # noqa: E731
    contest.contest(problem, "squared_hinge", 1e-2, {"ours": exact, "near": moved(0.9e-3)})
    assert not given.faults
    contest.contest(problem, "squared_hinge", 1e-2, {"ours": exact, "far": moved(1.1e-3)})
    assert len(given.faults) == 1


def test_a_solver_that_does_not_converge_is_a_fault_unless_expected(problem, given):
    def stalled(*_):
        raise UnfinishedError("stalled after 3 iterations")

    run = {"ours": linrank.fit, "theirs": stalled}
    judged = contest.contest(problem, "hinge", 1e-2, run, may_fail=("theirs",))
    assert judged["theirs"].seconds is None
    assert judged["theirs"].status.startswith("stalled")
    assert not given.faults
    contest.contest(problem, "hinge", 1e-2, run)
    assert given.faults == ["theirs, hinge, alpha 0.01: stalled after 3 iterations"]


def test_our_own_unfinished_fit_has_no_time(problem):
    from linrank.solvers import Bundle

    with pytest.raises(UnfinishedError, match="max_iter after 1 iterations"):
        linrank.fit(problem, "hinge", 1e-6, solver=Bundle(tol=1e-9, max_iter=1))


def test_a_fit_that_does_not_converge_anywhere_in_a_question_is_a_fault(problem, monkeypatch):
    import types

    import run

    def main():
        from linrank import LinearRanker

        LinearRanker("hinge", 1e-6, scale=False, tol=1e-9, max_iter=1).fit(*problem)
        results.report("some", [{"a": 1}])

    monkeypatch.setitem(sys.modules, "questions.some", types.SimpleNamespace(SOURCES=(), main=main))
    answer = run.answer("some", None)
    assert len(answer.faults) == 1
    assert "max_iter" in answer.faults[0]


def test_quick_fails_on_an_empty_column_but_for_absent_opponents():
    answer = results.Answering(())
    answer.tables["t"] = [{"a s": "1", "SVMrank s": "", "b": ""}, {"a s": "", "SVMrank s": "", "b": "nan"}]
    assert quick.faults_of("q", answer, ["SVMrank"]) == ["q: column 'b' of t is empty"]
    assert len(quick.faults_of("q", answer, [])) == 2
    assert quick.faults_of("q", results.Answering(()), []) == ["q: no table"]


def fake(folder, name, body):
    """A program that does what its lines of Python say with `argument` and `lines`."""
    path = folder / name
    head = (
        f"#!{sys.executable}\nimport sys\n"
        "argument = lambda name: sys.argv[sys.argv.index(name) + 1]\n"
        "lines = lambda file: [line for line in open(file) if line.strip()]\n"
    )
    path.write_text(head + body)
    path.chmod(0o755)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("LINRANK_OPPONENTS", str(tmp_path))
    return tmp_path


def test_programs_are_absent_without_a_folder_or_a_file(monkeypatch, tmp_path):
    monkeypatch.delenv("LINRANK_OPPONENTS", raising=False)
    assert {"liblinear-ranksvm", "SVMrank", "sofia-ml"} <= set(opponents.absent())
    monkeypatch.setenv("LINRANK_OPPONENTS", str(tmp_path))
    assert not svmrank.available()
    (tmp_path / "svm_rank_learn").write_text("no program")
    assert not svmrank.available()


def test_liblinear_is_timed_without_its_parsing(problem, folder, monkeypatch):
    fake(
        folder,
        "train",
        "assert argument('-s') == '8'\n"
        "assert all('qid:' in line for line in lines(sys.argv[-2]))\n"
        "open(sys.argv[-1], 'w').write('nr_feature 3\\nw\\n' + argument('-c') + '\\n-2 \\n3 \\n')\n",
    )
    seconds = {"1e-06": 5.0, "1000000000.0": 1.5}
    run = opponents._program.run
    monkeypatch.setattr(opponents._program, "run", lambda *c: (seconds[c[6]], run(*c)[1]))
    fit = liblinear_ranksvm.fit(problem, "squared_hinge", 1e-2, tol=1e-6)
    assert fit.seconds == 3.5
    assert fit.weights.tolist() == [1 / (1e-2 * problems.facts(problem).pairs), -2, 3, 0]  # it knows no feature 4


def test_svmrank_says_its_own_seconds(problem, folder):
    fake(
        folder,
        "svm_rank_learn",
        "open(sys.argv[-1], 'w').write('...\\n1 1:' + argument('-c') + ' 3:-2.5 #\\n')\n"
        "print('Runtime in cpu-seconds: 1.25 (50% for QP)')\n",
    )
    fit = svmrank.fit(problem, "hinge", 1e-2)
    assert fit.seconds == 1.25
    np.testing.assert_allclose(fit.weights, [6 / (1e-2 * problems.facts(problem).pairs), 0, -2.5, 0])


def test_sofia_ml_says_its_own_seconds(problem, folder):
    fake(
        folder,
        "sofia-ml",
        "assert argument('--dimensionality') == '5' and argument('--lambda') == '0.01'\n"
        "assert all(line.endswith(' \\n') for line in lines(argument('--training_file')))\n"
        "open(argument('--model_out'), 'w').write('9 1 -2 3 4')\n"
        "print('Time to complete training: 0.5')\n",
    )
    fit = sofia_ml.fit(problem, "hinge", 1e-2, steps=1000)
    assert (fit.seconds, fit.iterations) == (0.5, 1000)
    assert fit.weights.tolist() == [1, -2, 3, 4]


def test_a_program_that_fails_has_no_time(problem, folder):
    fake(folder, "sofia-ml", "sys.exit('no memory')\n")
    with pytest.raises(UnfinishedError, match="no memory"):
        sofia_ml.fit(problem, "hinge", 1e-2)


def test_rows_of_a_problem_for_programs_are_grouped_by_query(folder, monkeypatch):
    from linrank import read_svmlight

    X, y, qid = graded.make(60, 3, 5, 3)
    order = np.random.default_rng(0).permutation(60)
    shuffled = problems.Problem(X[order], y[order], qid[order].astype(str))
    back = read_svmlight(opponents._program.files(shuffled).data, dense=True)
    assert np.all(np.diff(back.qid) >= 0)
    assert problems.facts(problems.Problem(back.X, back.y, back.qid)).pairs == problems.facts(shuffled).pairs
