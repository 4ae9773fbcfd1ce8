"""The page for those who come from other tools: its commands run, its alphas give the tools' objectives, and where a
tool is installed, its numbers are ours."""

import re
import shlex
import shutil
import subprocess
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from linrank import LinearRanker, io, metrics, write_svmlight
from linrank.cli import cli
from linrank.published import SPD, OSTRankSVM
from linrank.testing import make_ranking

PAGE = (Path(__file__).parent.parent / "docs" / "coming-from.md").read_text()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """train.dat and test.dat, here."""
    monkeypatch.chdir(tmp_path)
    for name, seed in (("train.dat", 0), ("test.dat", 1)):
        X, y, qid = make_ranking(120, 5, 8, 3, seed=seed)
        write_svmlight(name, X, y, qid)
    return tmp_path


def test_our_commands_of_the_page_run(folder):
    (block,) = re.findall(r"```bash\n(.*?)```", PAGE, re.DOTALL)
    for command in block.splitlines():
        result = CliRunner().invoke(cli, shlex.split(command)[1:])
        assert result.exit_code == 0, (command, result.stderr)


def pairs_of(y, qid):
    """Winner and loser of each pair."""
    found = [(i, j) if y[i] > y[j] else (j, i) for i, j in combinations(range(y.size), 2) if qid[i] == qid[j]]
    found = [(i, j) for i, j in found if y[i] != y[j]]
    return np.array(found).T


def margins(X, y, qid, w):
    winner, loser = pairs_of(y, qid)
    s = X @ w
    return s[winner] - s[loser]


@pytest.mark.parametrize("C", [0.1, 20.0])
def test_alpha_for_svmrank_gives_its_objective(C):
    X, y, qid = make_ranking(80, 4, 6, 3)
    y[qid == 0] = 1.0  # a query without a pair counts as well
    n_queries, n_pairs = np.unique(qid).size, pairs_of(y, qid).shape[1]
    alpha = n_queries / (C * n_pairs)
    ranker = LinearRanker("hinge", alpha, scale=False, tol=1e-6).fit(X, y, qid)
    hinge = np.maximum(0.0, 1.0 - margins(X, y, qid, ranker.coef_)).sum()
    theirs = 0.5 * ranker.coef_ @ ranker.coef_ + C / n_queries * hinge
    assert theirs / (C / n_queries * n_pairs) == pytest.approx(ranker.objective_, rel=1e-10)


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_alpha_for_liblinear_ranksvm_gives_its_objective(C):
    X, y, qid = make_ranking(80, 4, 6, 3)
    n_pairs = pairs_of(y, qid).shape[1]
    ours = LinearRanker("squared_hinge", 1 / (C * n_pairs), scale=False, tol=1e-8).fit(X, y, qid)
    theirs = OSTRankSVM(C).fit(X, y, qid)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-3)
    loss = (np.maximum(0.0, 1.0 - margins(X, y, qid, ours.coef_)) ** 2).sum()
    assert (0.5 * ours.coef_ @ ours.coef_ + C * loss) / (C * n_pairs) == pytest.approx(ours.objective_, rel=1e-10)


def test_alpha_for_sofia_ml_is_its_lambda():
    X, y, qid = make_ranking(80, 4, 6, 3)
    exact = LinearRanker("hinge", 0.1, scale=False, tol=1e-6).fit(X, y, qid)
    drawn = SPD("pegasos", lambda_=0.1, iterations=200_000, random_state=0).fit(X, y, qid)
    hinge = np.maximum(0.0, 1.0 - margins(X, y, qid, exact.coef_)).mean()
    assert 0.05 * exact.coef_ @ exact.coef_ + hinge == pytest.approx(exact.objective_, rel=1e-10)
    assert exact.objective_ <= drawn.objective_ + 1e-9
    assert drawn.objective_ == pytest.approx(exact.objective_, rel=0.01)


@pytest.mark.parametrize("reg_lambda", [5.0, 500.0])
def test_a_linear_booster_of_xgboost_finds_our_weights(reg_lambda):
    """Its penalty is reg_lambda times the rows; all pairs, where nothing is normalised, and enough rounds."""
    xgboost = pytest.importorskip("xgboost", reason="XGBoost is not installed")
    X, y, qid = make_ranking(300, 4, 10, 3)
    parameters = {
        "booster": "gblinear", "objective": "rank:pairwise", "lambda": reg_lambda, "updater": "coord_descent",
        "lambdarank_pair_method": "topk", "lambdarank_num_pair_per_sample": 1000, "lambdarank_normalization": False,
        "lambdarank_score_normalization": False, "base_score": 0.0,
    }  # fmt: skip
    booster = xgboost.train(parameters, xgboost.DMatrix(X, y, qid=qid), 500)
    theirs = [float(line) for line in booster.get_dump()[0].split("weight:")[1].split()]
    alpha = reg_lambda * y.size / pairs_of(y, qid).shape[1]
    ours = LinearRanker("logistic", alpha, scale=False, tol=1e-8).fit(X, y, qid)
    np.testing.assert_allclose(ours.coef_, theirs, rtol=3e-3)


def test_alpha_for_xgboost_gives_its_objective():
    """Sum of log(1 + e^-z) over pairs, and reg_lambda/2 times the rows times w.w."""
    X, y, qid = make_ranking(100, 4, 5, 3)
    n_pairs, reg_lambda = pairs_of(y, qid).shape[1], 2.0
    ranker = LinearRanker("logistic", reg_lambda * y.size / n_pairs, scale=False).fit(X, y, qid)
    loss = np.log1p(np.exp(-margins(X, y, qid, ranker.coef_))).sum()
    theirs = 0.5 * reg_lambda * y.size * ranker.coef_ @ ranker.coef_ + loss
    assert theirs / n_pairs == pytest.approx(ranker.objective_, rel=1e-6)


@pytest.mark.parametrize("tool", ["xgboost", "lightgbm"])
def test_ndcg_as_the_tool_prints_it(tool, folder):
    module = pytest.importorskip(tool, reason=f"{tool} is not installed")
    X, y, qid = make_ranking(300, 4, 30, 4, seed=3)
    order = np.argsort(qid, kind="stable")
    X, y, qid = X[order], y[order], qid[order]
    if tool == "xgboost":
        data, told = module.DMatrix(X, y, qid=qid), {}
        parameters = {"objective": "rank:ndcg", "eval_metric": ["ndcg@1", "ndcg@3", "ndcg@5"]}
        model = module.train(parameters, data, 5, evals=[(data, "test")], evals_result=told, verbose_eval=False)
        theirs = {name: values[-1] for name, values in told["test"].items()}
        scores = model.predict(data)
    else:
        sizes = np.unique(qid, return_counts=True)[1]
        data, told = module.Dataset(X, y, group=sizes), {}
        parameters = {"objective": "lambdarank", "eval_at": [1, 3, 5], "min_data_in_leaf": 2, "verbose": -1}
        record = module.record_evaluation(told)
        model = module.train(parameters, data, 5, valid_sets=[data], valid_names=["test"], callbacks=[record])
        theirs = {name: values[-1] for name, values in told["test"].items()}
        scores = model.predict(X)
    for name, value in theirs.items():
        ours = metrics.parse(name, tool)(y, scores, qid)
        assert ours == pytest.approx(value, abs=1e-6), name


@pytest.mark.parametrize("C", [1, 20])
def test_svmrank_itself(folder, C):
    if shutil.which("svm_rank_learn") is None:
        pytest.skip("svm_rank_learn is not installed")
    subprocess.run(["svm_rank_learn", "-c", str(C), "-e", "1e-5", "train.dat", "theirs.dat"], check=True)
    data = io.read("train.dat")
    n_queries, n_pairs = np.unique(data.qid).size, pairs_of(data.y, data.qid).shape[1]
    ours = LinearRanker("hinge", n_queries / (C * n_pairs), scale=False, tol=1e-6).fit(data)
    theirs = io.load("theirs.dat", n_features=data.n_features)
    np.testing.assert_allclose(theirs.coef_, ours.coef_, atol=1e-2 * np.abs(ours.coef_).max())


def test_liblinear_ranksvm_itself(folder):
    if shutil.which("ranksvm-train") is None:
        pytest.skip("liblinear-ranksvm's train is not installed as ranksvm-train")
    subprocess.run(["ranksvm-train", "-s", "8", "-c", "1", "-e", "1e-6", "train.dat", "theirs"], check=True)
    ours = OSTRankSVM(1.0, 1e-6).fit(*(lambda data: (data.X, data.y, data.qid))(io.read("train.dat")))
    np.testing.assert_allclose(io.load("theirs").coef_, ours.coef_, rtol=1e-3)
