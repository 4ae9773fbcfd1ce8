"""`linrank train` and `tune`."""

import errno
import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

import linrank
from linrank import LinearRanker, LinearRankerCV, SGDRanker, published
from linrank.cli import _files
from linrank.cli._parameters import parse_preferences, read_pairs, read_query_weights
from linrank.export import TARGETS
from linrank.io import Dataset, read
from linrank.io.formats import FORMATS
from linrank.losses import LOSSES, LogisticErfc
from linrank.metrics._conventions import PRESETS, TIES
from linrank.metrics._pairs import TIE_VALUE
from linrank.solvers import SOLVERS, ConjugateGradients
from linrank.stochastic.rules import LOSS_NAMES, RULES
from linrank.stochastic.samplers import SAMPLINGS

pytestmark = pytest.mark.smoke


def test_choices_are_those_of_the_library():
    from linrank.cli import _options as options

    assert set(options.LOSSES) == set(LOSSES) | set(LOSS_NAMES)
    assert set(options.SOLVERS) == set(SOLVERS)
    assert options.RULES == tuple(RULES)
    assert options.SAMPLINGS == SAMPLINGS
    assert options.PRESETS == tuple(PRESETS)
    assert options.TIES == (*TIE_VALUE, *TIES)


def test_names_of_formats_and_targets_are_asked_for(run):
    for words, table in ((["export", "m.json", "--to", "?"], TARGETS), (["inspect", "x", "--format", "?"], FORMATS)):
        told = run(*words, code=2).stderr
        assert all(repr(name) in told for name in table)
        text = " ".join(run(words[0], "--help").stdout.split())
        assert f"{', '.join(table)}." in text
    assert "solr" in run("export", "m.json", code=2).stderr  # what --to may be, where it is not given


def test_every_parameter_is_reachable():
    from linrank.cli.train import train

    names = {parameter.name for parameter in train.params}
    elsewhere = {"warm_start", "verbose", "n_jobs"}  # --start, -v and -q, --jobs
    for ranker in (LinearRanker(), SGDRanker()):
        assert set(ranker.get_params()) - elsewhere <= names


def test_train_is_what_the_library_does(run, files):
    text = run("train", files.train, "-o", "model.json", "--valid", files.vali).stdout
    assert np.array_equal(linrank.load("model.json").coef_, files.ranker.coef_)
    X, y, qid = files.data["vali"]
    assert f"{files.ranker.score(X, y, qid):.4f}" in text
    for words in ("rows", "queries", "levels", "pairs", "certified gap", "memory"):
        assert words in text


def test_report_of_training(run, files):
    result = run("train", files.train, "-o", "model.json", "--valid", files.vali, "-m", "ndcg@3", "--json")
    found = json.loads(result.stdout)
    assert result.stderr == ""
    _, y, qid = files.data["train"]
    assert (found["data"]["rows"], found["data"]["queries"], found["data"]["pairs"]) == (
        len(y), len(np.unique(qid)), files.ranker.n_pairs_,
    )  # fmt: skip
    assert found["data"]["levels"] == {str(k): int(np.sum(y == k)) for k in range(4)}
    assert found["data"]["queries_without_pairs"] == 0
    assert found["model"]["gap"] == files.ranker.gap_
    assert list(found["validation"]["metrics"]) == ["ndcg@3"]


@pytest.mark.parametrize("solver", ["auto", "sgd"])
def test_pairs_are_counted_by_the_fit_alone(run, tmp_path, monkeypatch, solver):
    built = []
    build = linrank.data.ranking_data.build
    monkeypatch.setattr("linrank.data.ranking_data.build", lambda *a, **k: built.append(1) or build(*a, **k))
    (tmp_path / "x.txt").write_text("1 qid:1 1:1\n0 qid:1 1:2\n2 qid:2 1:3\n2 qid:2 1:1\n1 qid:3 1:1\n0 qid:3 1:0\n")
    (tmp_path / "pairs").write_text("3 4\n")
    found = json.loads(run("train", "x.txt", "-o", "m.json", "--solver", solver, "--json").stdout)["data"]
    assert (found["pairs"], found["queries_without_pairs"], len(built)) == (2, 1, 1)
    text = run("train", "x.txt", "-o", "m.json", "--solver", solver).stdout
    assert "2, none in 1 of the queries" in text
    words = ["train", "x.txt", "-o", "m.json", "--solver", solver, "--pairs", "pairs", "--json"]
    found = json.loads(run(*words).stdout)["data"]
    assert (found["pairs"], found["queries_without_pairs"]) == (3, 0)  # those of --pairs count as well


def test_all_options_of_the_exact_ranker(run, files):
    options = ["--loss", "hinge", "--alpha", "0.01", "--solver", "bundle", "--preferences", "chain", "--no-scale"]
    options += ["--query-weighting", "queries", "--tol", "1e-2", "--max-iter", "500", "--missing", "mean", "-j", "2"]
    run("train", files.train, "-o", "model.json", *options)
    expected = LinearRanker("hinge", 0.01, solver="bundle", preferences="chain", scale=False, n_jobs=2,
                            query_weighting="queries", tol=1e-2, max_iter=500, missing="mean")  # fmt: skip
    data = read(files.train)
    expected.fit(data.X, data.y, data.qid)
    loaded = linrank.load("model.json")
    assert np.array_equal(loaded.coef_, expected.coef_)
    assert loaded.get_params() == expected.get_params()


def test_all_options_of_stochastic_descent(run, files):
    options = ["--solver", "sgd", "--alpha", "0.01", "--rule", "sgd", "--sampling", "balanced", "--steps", "3000"]
    options += ["--average", "--early-stopping", "--validation-fraction", "0.3", "--seed", "5", "--decay", "10"]
    options += ["--C", "0.5", "--switch", "100", "--loss", "logistic", "--preferences", "chain", "--no-scale"]
    run("train", files.train, "-o", "model.json", *options)
    data = read(files.train)
    expected = SGDRanker("logistic", 0.01, rule="sgd", sampling="balanced", n_steps=3000, average=True, C=0.5,
                         switch=100, early_stopping=True, validation_fraction=0.3, random_state=5, decay=10.0,
                         preferences="chain", scale=False).fit(data.X, data.y, data.qid)  # fmt: skip
    loaded = linrank.load("model.json")
    assert np.array_equal(loaded.coef_, expected.coef_)
    assert loaded.get_params() == expected.get_params()


def test_pairs_weights_and_starts(run, files, tmp_path):
    data = read(files.train)
    (tmp_path / "pairs.txt").write_text("# winner loser weight\n1 2 3\n2,3,0.5\n")
    (tmp_path / "weights.txt").write_text("0 2.5\n1 0\nunknown 7\n")
    run("train", files.train, "-o", "m.json", "--pairs", "pairs.txt", "--query-weights", "weights.txt")
    weights = {q: {0: 2.5, 1: 0.0}.get(q, 1.0) for q in np.unique(data.qid).tolist()}
    expected = LinearRanker().fit(data.X, data.y, data.qid, pairs=[(0, 1, 3), (1, 2, 0.5)], query_weight=weights)
    assert np.array_equal(linrank.load("m.json").coef_, expected.coef_)
    for more in ([], ["--solver", "sgd", "--steps", "100", "--seed", "0"]):
        run("train", files.train, "-o", "again.json", "--start", files.model, *more)
        again = linrank.load("again.json")
        assert again.warm_start is False
        assert again.n_iter_ < files.ranker.n_iter_ or more  # it was there already
    assert linrank.load("m.json").get_params()["verbose"] == 0
    start = SGDRanker(n_steps=100, random_state=0).fit(data.X, data.y, data.qid, start=files.ranker)
    assert np.array_equal(again.coef_, start.coef_)


def test_files_of_pairs_and_weights_that_are_wrong(run, files, tmp_path):
    (tmp_path / "bad.txt").write_text("1 2\n1 x\n")
    assert "bad.txt, line 2" in run("train", files.train, "-o", "m", "--pairs", "bad.txt", code=1).stderr
    assert "bad.txt, line 2" in run("train", files.train, "-o", "m", "--query-weights", "bad.txt", code=1).stderr
    (tmp_path / "empty.txt").write_text("\n")
    with pytest.raises(linrank.DataError, match="empty"):
        read_pairs("empty.txt", 5)
    (tmp_path / "far.txt").write_text("1 999\n")
    assert "rows outside 1 ... " in run("train", files.train, "-o", "m", "--pairs", "far.txt", code=1).stderr
    with pytest.raises(linrank.DataError, match="has none"):
        read_query_weights("empty.txt", Dataset(np.ones((2, 1)), np.ones(2)))


def test_preferences(run, files, tmp_path):
    assert parse_preferences("full") == "full"
    assert parse_preferences("0<1, 3>2:0.5") == [(0.0, 1.0, 1.0), (2.0, 3.0, 0.5)]
    (tmp_path / "edges.txt").write_text("0 1 # neighbours\n2<3:0.5\n\n1,2,4\n")
    run("train", files.train, "-o", "a.json", "--preferences", "edges.txt")
    run("train", files.train, "-o", "b.json", "--preferences", "0<1,2<3:0.5,1<2:4")
    a, b = linrank.load("a.json"), linrank.load("b.json")
    X, y, qid = files.data["train"]
    expected = LinearRanker(preferences=[(0, 1, 1), (2, 3, 0.5), (1, 2, 4)]).fit(X, y, qid)
    assert np.array_equal(a.coef_, expected.coef_)
    assert np.array_equal(a.coef_, b.coef_)
    assert a.score(X, y, qid) == expected.score(X, y, qid)
    for bad in ("nonsense", "0<1<2", "a<b", "0<"):
        assert "edge" in run("train", files.train, "-o", "m", "--preferences", bad, code=1).stderr


def test_streams(run, files, monkeypatch):
    monkeypatch.setattr(_files, "CHUNK_BYTES", 3000)
    options = ["--stream", "--passes", "3", "--seed", "2", "--steps-per-row", "4", "--reservoir", "5"]
    options += ["--open-queries", "2", "--alpha", "0.01", "--valid", files.vali, "--checkpoint", "state"]
    found = json.loads(run("train", files.train, "-o", "m.json", *options, "--json").stdout)
    _, y, qid = files.data["train"]
    assert (found["data"]["rows"], found["data"]["queries"]) == (len(y), len(np.unique(qid)))
    expected = SGDRanker(alpha=0.01, random_state=2, steps_per_row=4.0, reservoir=5, open_queries=2)
    expected.fit_stream(lambda: linrank.io.iter_svmlight(files.train, chunk_bytes=3000), passes=3)
    assert np.array_equal(linrank.load("m.json").coef_, expected.coef_)
    assert found["validation"]["metrics"]["pairwise_accuracy"] > 0.6
    scaled = ["--stream", "--seed", "2", "--scale-from", files.model]
    run("train", files.train, "-o", "scaled.json", *scaled)
    expected = SGDRanker(random_state=2, scale=files.ranker.scale_)
    expected.fit_stream(lambda: linrank.io.iter_svmlight(files.train, chunk_bytes=3000))
    assert np.array_equal(linrank.load("scaled.json").coef_, expected.coef_)
    with open(files.train, "rb") as file:
        text = file.read()
    run("train", "-", "-o", "piped.json", "--stream", "--n-features", "4", "--seed", "2", stdin=text)
    assert "--n-features" in run("train", "-", "-o", "piped.json", "--stream", stdin=text, code=1).stderr
    assert (
        "leave out --passes"
        in run("train", "-", "-o", "m", "--stream", "--passes", "2", "--n-features", "4", stdin=text, code=2).stderr
    )
    run("convert", files.train, "t.csv")
    assert "exact training would do" in run("train", "t.csv", "-o", "m", "--stream", "--seed", "1").stderr
    csv = Path("t.csv").read_text()
    refused = run("train", "-", "-o", "m", "--stream", "--format", "csv", stdin=csv, code=1)
    assert "cannot be streamed" in refused.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--steps", "10"], "--steps is for stochastic descent"),
        (["--solver", "sgd", "--tol", "1"], "--tol is for the exact solvers"),
        (["--stream", "--missing", "mean"], "--missing mean needs all data at once"),
        (["--stream", "--solver", "newton"], "leave out --solver"),
        (["--stream", "--pairs", "x"], "cannot be had with --stream"),
        (["--passes", "2"], "add --stream"),
        (["--scale-from", "x"], "--scale-from is for stochastic descent"),
        (["--loss", "absolute"], "--loss"),
        (["--metric"], "--metric"),
        ([], "--output"),
        (["--json", "-o", "-"], "both go to standard output"),
    ],
)
def test_options_that_contradict_each_other(run, files, options, words):
    output = ["-o", "m.json"] if options else []
    assert words in run("train", files.train, *output, *options, code=2).stderr


def test_what_would_fail_at_the_end_fails_at_once(run, files, monkeypatch):
    monkeypatch.setattr(LinearRanker, "fit", None)  # never reached
    for words in (["-o", "m", "--valid", "none"], ["-o", "none/m"], ["-o", "m", "-m", "none"]):
        assert "none" in run("train", files.train, *words, code=1).stderr


def test_a_model_on_standard_output(run, files):
    result = run("train", files.train, "-o", "-")
    assert json.loads(result.stdout)["format"] == "linrank"
    assert "certified gap" in result.stderr
    with open("m.json", "w") as file:
        file.write(result.stdout)
    assert np.array_equal(linrank.load("m.json").coef_, files.ranker.coef_)


def test_missing_values_and_weights_of_rows(run, tmp_path):
    (tmp_path / "holes.txt").write_text("1 qid:1 cost:2 1:nan 2:1\n0 qid:1 1:2 2:1\n2 qid:1 1:4 2:1\n")
    assert "line 1" in run("train", "holes.txt", "-o", "m.json", code=1).stderr
    result = run("train", "holes.txt", "-o", "m.json", "--missing", "mean")
    for words in ("missing values", "row weights", "constant columns"):
        assert words in result.stdout
    assert linrank.load("m.json").fill_.tolist() == [3.0, 1.0]
    assert len(run("predict", "m.json", "holes.txt").stdout.splitlines()) == 3
    for how in (["--solver", "sgd", "--missing", "mean"], ["--stream", "--missing", "zero"]):
        run("train", "holes.txt", "-o", "m.json", *how)
        assert linrank.load("m.json").fill_.tolist() == ([3.0, 1.0] if "mean" in how else [0.0, 0.0])
        assert len(run("predict", "m.json", "holes.txt").stdout.splitlines()) == 3
    assert "line 1" in run("train", "holes.txt", "-o", "m.json", "--stream", code=1).stderr
    (tmp_path / "bad.txt").write_text("1 qid:1 1:1\n0 qid:1 1:0\nnonsense\n")
    result = run("train", "bad.txt", "-o", "m.json", "--skip-bad-lines")
    assert "1 lines skipped" in result.stdout
    assert "Warning: 1 lines left out" in result.stderr


def test_warnings_are_lines(run, files):
    result = run("train", files.train, "-o", "m.json", "--max-iter", "1", "--tol", "1e-9", "--solver", "bundle")
    assert result.stderr.startswith("Warning: The solver ended as 'max_iter'")
    assert result.stderr.count("\n") == 1


def test_verbose_shows_iterations_off_a_terminal(run, files):
    assert "iteration" not in run("train", files.train, "-o", "m.json").stderr
    assert "iteration" in run("train", files.train, "-o", "m.json", "-v").stderr


def test_tune(run, files):
    text = run("tune", files.train, "-o", "m.json", "--alphas", "1,0.1,1e-3", "--cv", "3", "-m", "ndcg@5").stdout
    X, y, qid = files.data["train"]
    expected = LinearRankerCV([1, 0.1, 1e-3], cv=3, metric="ndcg@5").fit(X, y, qid)
    *rows, last = text.splitlines()[1:]
    assert last == f"the default, alpha=auto, would have been {expected.cv_results_['default_alpha']:.3g}"
    assert [line.split()[0] for line in rows] == ["1", "0.1", "0.001"]
    assert [float(line.split()[1]) for line in rows] == pytest.approx(expected.cv_results_["mean_score"], abs=6e-5)
    assert [line.split()[0] for line in rows if "chosen" in line] == [f"{expected.alpha_:g}"]
    assert linrank.load("m.json").alpha_ == expected.alpha_
    found = json.loads(run("tune", files.train, "--alphas", "3", "--one-standard-error", "--json").stdout)
    assert found["model"] is None
    assert len(found["path"]["alpha"]) >= 3  # more where the best is at an end
    assert found["default"] == expected.cv_results_["default_alpha"]
    assert found["chosen"] in found["path"]["alpha"]
    assert "--alphas" in run("tune", files.train, "--alphas", "x", code=2).stderr


def test_tuning_a_stochastic_descent(run, files):
    words = ["tune", files.train, "--solver", "sgd", "--alphas", "0.1,0.001", "--cv", "3", "-o", "m.json"]
    more = ["--rule", "pegasos,passive_aggressive,romma", "--C", "1,0.01", "--query-weighting", "queries"]
    found = json.loads(run(*words, *more, "--json").stdout)
    tried = found["tried"]
    assert {(one["rule"], one["value"]) for one in tried} == {
        ("pegasos", 0.1), ("pegasos", 0.001), ("passive_aggressive", 1.0), ("passive_aggressive", 0.01), ("romma", 0.0)
    }  # fmt: skip
    assert tried[0]["mean_score"] == max(one["mean_score"] for one in tried)
    model = linrank.load("m.json")
    assert {name: getattr(model, name) for name in found["chosen"]} == found["chosen"]
    assert model.query_weighting == "queries"
    X, y, qid = files.data["train"]
    expected = SGDRanker(random_state=0, query_weighting="queries", **found["chosen"]).fit(X, y, qid)
    assert np.array_equal(model.coef_, expected.coef_)
    path = json.loads(run("tune", files.train, "--solver", "sgd", "--alphas", "3", "--json").stdout)["tried"]
    assert len({one["value"] for one in path}) == 3
    assert "<- chosen" in run("tune", files.train, "--solver", "sgd", "--alphas", "0.1,0.01").stdout
    for bad in (["--rule", "adam", "--solver", "sgd"], ["--C", "x", "--solver", "sgd"], ["--rule", "sgd"],
                ["--solver", "sgd", "--tol", "1"], ["--solver", "sgd", "--one-standard-error"]):  # fmt: skip
        assert "Error" in run("tune", files.train, *bad, code=2).stderr


def test_a_stream_resumes_aloud_refuses_other_data_and_restarts(run, files, tmp_path, monkeypatch):
    monkeypatch.setattr(_files, "CHUNK_BYTES", 3000)
    words = ["--stream", "--seed", "2", "--alpha", "0.01", "--checkpoint", "state"]
    run("train", files.train, "-o", "whole.json", *words)
    learn, calls = SGDRanker._learn, []

    def interrupted(self, *arguments):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return learn(self, *arguments)

    monkeypatch.setattr(SGDRanker, "_learn", interrupted)
    result = run("train", files.train, "-o", "m.json", *words, code=130)
    assert result.stderr == "Interrupted: state was written before that.\n"
    assert sorted(os.listdir()) == ["state", "whole.json"]
    state = (tmp_path / "state").read_bytes()
    assert "another stream" in run("train", files.vali, "-o", "m.json", *words, code=1).stderr
    assert "--seed 2, not 3" in run("train", files.train, "-o", "m.json", *words, "--seed", "3", code=1).stderr
    assert (tmp_path / "state").read_bytes() == state
    result = run("train", files.train, "-o", "m.json", *words)
    assert re.match(r"Warning: resuming at step \d+ from the checkpoint state\.\n", result.stderr)
    assert sorted(os.listdir()) == ["m.json", "whole.json"]
    assert np.array_equal(linrank.load("m.json").coef_, linrank.load("whole.json").coef_)
    (tmp_path / "state").write_bytes(state)
    result = run("train", files.vali, "-o", "vali.json", *words, "--restart")
    assert "resuming" not in result.stderr
    assert "exact training would do" in result.stderr
    assert "state" not in os.listdir()


def test_a_checkpoint_outlives_a_model_that_cannot_be_written(run, files, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    words = ["train", files.train, "-o", "m.json", "--stream", "--seed", "2", "--checkpoint", "state"]
    monkeypatch.setattr("linrank.cli._trainer.dumps", full)
    run(*words, code=1)
    assert os.listdir() == ["state"]
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert "resuming at step" in run(*words).stderr
    assert os.listdir() == ["m.json"]


def test_options_of_checkpoints(run, files):
    stream = ["train", files.train, "-o", "m.json", "--stream"]
    assert "name it with --checkpoint" in run(*stream, "--restart", code=2).stderr
    assert "same file" in run(*stream, "--checkpoint", "./m.json", code=2).stderr
    assert "add --stream" in run(*stream[:-1], "--solver", "sgd", "--passes", "2", code=2).stderr
    assert "add --solver sgd" in run(*stream[:-1], "--checkpoint", "s", code=2).stderr
    assert "none" in run(*stream, "--checkpoint", "none/state", code=1).stderr
    assert os.listdir() == []


def test_methods_are_the_published_ones_and_all_of_their_parameters_have_flags():
    from linrank.cli import _options as options
    from linrank.cli.train import train

    kinds = {name.lower(): getattr(published, name) for name in published.__all__}
    assert set(options.METHODS) == set(kinds)
    flags = {parameter.name for parameter in train.params}
    for method, names in options.METHODS.items():
        assert set(names) == set(kinds[method]._get_param_names()) - {"device"}  # --device is for all
        assert set(names) <= flags


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("treersvm --lambda 0.1", published.TreeRSVM(0.1)),
        ("pairrsvm --lambda 0.1 --eps 0.01", published.PairRSVM(0.1, eps=0.01)),
        ("ostranksvm -C 0.5", published.OSTRankSVM(0.5)),
        ("dcmranksvm --C 0.5 --eps-s 1e-3", published.DCMRankSVM(0.5, eps_s=1e-3)),
        ("pswxranksvm", published.PSWXRankSVM()),
        ("spd --lambda 0.1 --iterations 500 --seed 3", published.SPD(lambda_=0.1, iterations=500, random_state=3)),
        ("rankncg --lambda 2 --tol 0.01 --seed 1", published.RankNCG(2.0, tol=0.01, random_state=1)),
    ],
    ids=lambda given: given.split()[0] if isinstance(given, str) else "",
)
def test_a_papers_system_by_its_name(run, files, options, expected):
    text = run("train", files.train, "-o", "model.json", "--method", *options.split()).stdout
    loaded = linrank.load("model.json")
    assert type(loaded) is type(expected)
    data = read(files.train)
    np.testing.assert_array_equal(loaded.coef_, expected.fit(data.X, data.y, data.qid).coef_)
    assert loaded.get_params() == expected.get_params()
    assert f"{loaded.n_iter_:,} " in text


def test_a_system_starts_from_a_model(run, files):
    report = run("train", files.train, "-o", "m.json", "--method", "rankncg", "--lambda", 1, "--start", files.model)
    begun = published.RankNCG(1.0, start=files.ranker)
    data = read(files.train)
    np.testing.assert_array_equal(linrank.load("m.json").coef_, begun.fit(data.X, data.y, data.qid).coef_)
    assert "logistic_erfc" in report.stdout


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("--method treersvm", "needs --lambda"),
        ("--method treersvm --lambda 0.1 --alpha 1", "--alpha is no parameter of treersvm"),
        ("--method treersvm --lambda 0.1 -C 1", "--C is no parameter of treersvm"),
        ("--method ostranksvm --loss hinge", "--loss is no parameter of ostranksvm"),
        ("--method ostranksvm --gradient-tol 1", "--gradient-tol is no parameter"),
        ("--method spd --lambda 0.1 --stream", "--stream cannot be had"),
        ("--method spd --lambda 0.1 --start model.json", "--start cannot be had"),
        ("--method rankncg --lambda 1 --passes 2", "--passes cannot be had"),
        ("--lambda 0.1", "--lambda is a parameter of a paper's system"),
        ("--iterations 9", "name it by --method"),
        ("--eps 1e-6", "add --loss logistic_erfc"),
        ("--gradient-tol 1e-3", "add --solver"),
        ("--gradient-tol 1e-3 --solver bundle", "add --solver"),
    ],
)
def test_options_of_papers_that_do_not_fit_are_refused(run, files, options, told):
    assert told in run("train", files.train, "-o", "model.json", *options.split(), code=2).stderr


def test_a_system_without_what_its_rule_needs_is_refused(run, files):
    assert "needs C" in run("train", files.train, "-o", "m.json", *"--method spd --rule passive_aggressive".split(),
                            code=1).stderr  # fmt: skip


def test_rules_of_papers_for_the_exact_solvers(run, files):
    options = "--loss logistic_erfc --eps 1e-6 --solver cg --gradient-tol 1e-2 --alpha 1e-3 --max-iter 50".split()
    found = json.loads(run("train", files.train, "-o", "model.json", "--json", *options).stdout)
    solver = ConjugateGradients(max_iter=50, gradient_tol=1e-2)
    data = read(files.train)
    expected = LinearRanker(LogisticErfc(1e-6), 1e-3, solver=solver).fit(data.X, data.y, data.qid)
    np.testing.assert_array_equal(linrank.load("model.json").coef_, expected.coef_)
    assert found["model"]["loss"] == "logistic_erfc"


@pytest.mark.parametrize(
    ("options", "told", "code"),
    [
        ("--solver sgd --device cuda", "for the exact solvers", 2),
        ("--method treersvm --lambda 1 --device cuda", "leave one of them out", 2),
        ("--method pswxranksvm --device mars", "mars", 1),
        ("--device mars", "mars", 1),
    ],
)
def test_devices_that_cannot_be_had_are_refused(run, files, options, told, code):
    assert told in run("train", files.train, "-o", "m.json", *options.split(), code=code).stderr
    assert not os.path.exists("m.json")
