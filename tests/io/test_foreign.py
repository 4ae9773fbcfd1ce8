"""Models of SVMrank and LIBLINEAR."""

import numpy as np
import pytest

import linrank
from linrank import ModelFileError

pytestmark = pytest.mark.smoke

SVMRANK = """SVM-light Version V6.20
0 # kernel type
3 # kernel parameter -d 
1 # kernel parameter -g 
1 # kernel parameter -s 
1 # kernel parameter -r 
empty# kernel parameter -u 
5 # highest feature index 
61 # number of training documents 
3 # number of support vectors plus 1 
0 # threshold b, each following line is a SV (starting with alpha*y)
1 1:-0.5 3:0.25 #
0.5 2:2 3:1 #
"""  # noqa: W291
LIBLINEAR = "solver_type {}\nnr_class 2\n{}nr_feature 3\nbias {}\nw\n0.5 \n-0.25000000000000001 \n1e-300 \n{}"


def load(tmp_path, text, **options):
    (tmp_path / "m").write_text(text, newline="")
    return linrank.load(tmp_path / "m", **options)


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_svmrank(tmp_path, ends):
    ranker = load(tmp_path, SVMRANK.replace("\n", ends))
    assert ranker.coef_.tolist() == [-0.5, 1.0, 0.75, 0.0]
    assert ranker.loss == "hinge"
    np.testing.assert_array_equal(ranker.predict(np.eye(4)), ranker.coef_)
    with pytest.raises(linrank.DataError, match="pass qid"):
        ranker.score(np.eye(4), [1, 2, 3, 4])


def test_svmrank_with_features_beyond_the_last_weight(tmp_path):
    assert load(tmp_path, SVMRANK, n_features=7).coef_.tolist() == [-0.5, 1.0, 0.75, 0.0, 0.0, 0.0, 0.0]
    with pytest.raises(ModelFileError, match="weight for feature 3"):
        load(tmp_path, SVMRANK, n_features=2)


@pytest.mark.parametrize(
    ("solver", "label", "bias", "rest", "sign", "loss"),
    [
        ("L2R_L2LOSS_RANKSVM", "", -1, "", 1, "squared_hinge"),
        ("L2R_L2LOSS_SVR", "", 1, "9.5\n", 1, "squared_hinge"),
        ("L2R_L1LOSS_SVC_DUAL", "label 1 -1\n", -1, "", 1, "hinge"),
        ("L2R_L2LOSS_SVC_DUAL", "label -1 1\n", -1, "", -1, "squared_hinge"),
    ],
)
def test_liblinear(tmp_path, solver, label, bias, rest, sign, loss):
    ranker = load(tmp_path, LIBLINEAR.format(solver, label, bias, rest))
    assert ranker.coef_.tolist() == [sign * 0.5, sign * -0.25, sign * 1e-300]
    assert ranker.loss == loss


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("0 # kernel type", "2 # kernel type", "kernel is not linear"),
        ("5 # highest", "x # highest", "whole number"),
        ("3 # number of support", "4 # number of support", "2 support vectors, not 3"),
        ("0.5 2:2 3:1 #\n", "", "1 support vectors, not 2"),
        ("3:0.25", "3:nan", "not a number"),
        ("3:0.25", "3:1_0", "not a number"),
        ("3:0.25", "0:1", "increase"),
        ("3:0.25", "3", "not a number"),
        ("0.5 2:2", "1e308 2:1e308", "overflows"),
        ("3:0.25", "3:\N{LATIN SMALL LETTER E WITH ACUTE}", "not text"),
        ("3:0.25", "9999999999:0.25", "features"),
    ],
)
def test_damaged_svmrank(tmp_path, old, new, words):
    with pytest.raises(ModelFileError, match=words):
        load(tmp_path, SVMRANK.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("nr_class 2", "nr_class 3", "two classes"),
        ("nr_class 2", "nr_class 2\nrho 1", "two classes"),
        ("bias -1", "bias 1", "does not hold 4"),
        ("nr_feature 3", "nr_feature 2", "does not hold 2"),
        ("nr_feature 3", "nr_feature -3", "whole number"),
        ("0.5 \n", "0.5 0.5\n", "one per line"),
        ("0.5 \n", "inf \n", "not a number"),
        ("\nw\n", "\n", "cut off"),
        ("bias -1\n", "", "cut off"),
    ],
)
def test_damaged_liblinear(tmp_path, old, new, words):
    with pytest.raises(ModelFileError, match=words):
        load(tmp_path, LIBLINEAR.format("L2R_L2LOSS_SVR", "", -1, "").replace(old, new))
