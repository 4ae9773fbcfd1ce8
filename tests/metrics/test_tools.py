"""The presets against the tools themselves: trec_eval, scikit-learn; XGBoost and LightGBM by golden values."""

import json
from pathlib import Path

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, dcg_score, ndcg_score, roc_auc_score

from linrank import DataError, metrics

EXACT = {"rtol": 1e-12, "atol": 1e-12}
CUTS = (1, 2, 5, 100)

#: Our name and trec_eval's, without and with a cut.
TREC = {"ndcg": ("ndcg", "ndcg_cut"), "map": ("map", "map_cut"), "mrr": ("recip_rank", None)}
TREC |= {"precision": (None, "P"), "recall": (None, "recall"), "hit": (None, "success")}


@st.composite
def runs(draw, negative=False):
    """Queries of one to nine rows, graded, with ties, close scores and nothing relevant now and then."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    lengths = rng.integers(1, 10, 12)
    qid = rng.permutation(np.repeat(np.arange(12), lengths))
    low = -2 if negative else 0
    y = rng.integers(low, draw(st.sampled_from([1, 2, 5])), qid.size) * rng.integers(0, 2, 12)[qid]
    first = np.unique(qid, return_index=True)[1]
    y[first] = np.abs(y[first])  # trec_eval crashes on queries that hold negative grades only
    scores = rng.choice([rng.integers(0, 4, qid.size) / 2, rng.standard_normal(qid.size), 1e-9 * qid + 1.0])
    return y, np.asarray(scores), qid, rng.permutation(qid.size)


def as_trec(y, scores, qid, docid):
    queries = [f"q{q:02d}" for q in qid]
    qrels, run = {q: {} for q in sorted(queries)}, {q: {} for q in sorted(queries)}
    for q, d, grade, score in zip(queries, docid, y, scores, strict=True):
        qrels[q][f"d{d}"], run[q][f"d{d}"] = int(grade), float(score)
    return qrels, run, [f"d{d}" for d in docid]


@given(problem=runs(negative=True))
@settings(max_examples=100)
def test_trec_eval(problem):
    """1,200 queries: every measure, every cut, ties by document id, scores compared as 32-bit numbers."""
    y, scores, qid, number = problem
    qrels, run, docid = as_trec(y, scores, qid, number)
    cuts = ",".join(map(str, CUTS))
    names = {name for name, _ in TREC.values() if name} | {f"{cut}.{cuts}" for _, cut in TREC.values() if cut}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, names).evaluate(run)
    for ours, (plain, cut) in TREC.items():
        pairs = [(ours, plain)] if plain else []
        pairs += [(f"{ours}@{k}", f"{cut}_{k}") for k in CUTS] if cut else []
        for name, trec in pairs:
            values = metrics.parse(name, "trec")(y, scores, qid, docid=docid, per_query=True)
            np.testing.assert_allclose(values, [theirs[q][trec] for q in qrels], **EXACT, err_msg=name)


@given(problem=runs())
@settings(max_examples=20)
def test_ir_measures(problem):
    y, scores, qid, number = problem
    qrels, run, docid = as_trec(y, scores, qid, number)
    wanted = {"ndcg@5": "nDCG@5", "map": "AP", "mrr": "RR", "p@5": "P@5", "recall@5": "R@5", "hit@2": "Success@2"}
    measures = {ours: ir_measures.parse_measure(theirs) for ours, theirs in wanted.items()}
    theirs = ir_measures.calc_aggregate(list(measures.values()), qrels, run)
    for name, measure in measures.items():
        assert metrics.parse(name, "trec")(y, scores, qid, docid=docid) == pytest.approx(theirs[measure], abs=1e-12)


@given(seed=st.integers(0, 2**32 - 1), k=st.sampled_from([None, 1, 3, 50]))
@settings(max_examples=100)
def test_scikit_learn(seed, k):
    """2,000 lists of 2 to 12 rows; scikit-learn wants lists of one length."""
    rng = np.random.default_rng(seed)
    shape = 20, int(rng.integers(2, 13))
    y = rng.integers(0, rng.integers(2, 6), shape) * rng.integers(0, 2, (20, 1))
    s = rng.choice([rng.integers(0, 4, shape) / 3, rng.standard_normal(shape)])
    given = y.ravel(), s.ravel(), np.repeat(np.arange(20), shape[1])
    assert metrics.ndcg(*given, k=k, preset="sklearn") == pytest.approx(ndcg_score(y, s, k=k), abs=1e-12)
    assert metrics.dcg(*given, k=k, preset="sklearn") == pytest.approx(dcg_score(y, s, k=k), abs=1e-12)
    signed = (y - 1).ravel()
    ours = metrics.dcg(signed, *given[1:], k=k, preset="sklearn")
    assert ours == pytest.approx(dcg_score(y - 1, s, k=k), abs=1e-12)
    weight = rng.random(20)
    ours = metrics.ndcg(*given, k=k, preset="sklearn", query_weight=np.repeat(weight, shape[1]))
    assert ours == pytest.approx(ndcg_score(y, s, k=k, sample_weight=weight), abs=1e-12)
    for row in range(2):
        one, scores = y[row] > 0, s[row]
        if one.any() and not one.all():
            theirs = average_precision_score(one, scores)
            assert metrics.average_precision(one, scores, preset="sklearn") == pytest.approx(theirs, abs=1e-12)
            assert metrics.auc(one, scores) == pytest.approx(roc_auc_score(one, scores), abs=1e-12)


def test_where_scikit_learn_refuses():
    with pytest.raises(DataError, match="negative"):
        metrics.ndcg([-1, 2], [1, 2], preset="sklearn")
    assert metrics.ndcg([2.0], [0.3], preset="sklearn") == 1.0  # scikit-learn raises for a list of one row


GOLDEN = json.loads((Path(__file__).parent / "golden" / "tools.json").read_text())["cases"]


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden["case"])
def test_xgboost_and_lightgbm(golden):
    y, scores = np.array(golden["y"]), np.array(golden["scores"])
    qid = np.repeat(np.arange(len(golden["lengths"])), golden["lengths"])
    compared = 0
    for tool, name, k, theirs in golden["values"]:
        if theirs is not None:  # None: the tool refuses the labels (negative; not binary for XGBoost's map and pre)
            ours = metrics.parse(name if k is None else f"{name}@{k}", tool)(y, scores, qid)
            assert ours == pytest.approx(theirs, abs=1e-12), (tool, name, k)
            compared += 1
    assert compared >= 15 or golden["case"] == "negative"


def test_the_same_scores_in_five_tools():
    """One list, five answers: what the presets are for."""
    y, s, qid = [0, 2, 1, 0, 0], [3, 2, 1, 2, 1], [0, 0, 0, 1, 1]
    values = {tool: metrics.ndcg(y, s, qid, preset=tool) for tool in ("sklearn", "xgboost", "lightgbm", "letor")}
    values["trec"] = metrics.ndcg(y, s, qid, preset="trec", docid=list("abcab"))
    assert values["xgboost"] == pytest.approx(values["lightgbm"], abs=1e-12)
    assert len({round(value, 6) for value in values.values()}) == 3
    assert values["sklearn"] == pytest.approx(values["trec"], abs=1e-12)
