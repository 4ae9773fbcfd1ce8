"""Messages on the command line speak its language."""

import re
from pathlib import Path

import pytest

from linrank.cli import cli
from linrank.cli._words import FLAGS, SAME, in_options

ROWS = {
    "nan.txt": "1 qid:1 1:nan\n0 qid:1 1:2\n",
    "letters.txt": "1 qid:1 1:x\n0 qid:1 1:2\n",
    "zero.txt": "1 qid:1 0:1\n0 qid:1 1:2\n",
    "flat.txt": "1 qid:1 1:1 2:1\n0 qid:1 1:2 2:1\n",
    "equal.txt": "1 qid:1 1:1\n1 qid:1 1:2\n",
    "holes.csv": "qid,grade,a\n1,0,1\n1,1,\n",
    "texts.csv": "qid,grade,a,b\n1,0,x,2\n1,1,y,3\n",
    "two.csv": "qid,grade,label,a\n1,0,1,2\n1,1,0,3\n",
}
SAID = {
    ("nan.txt",): "--missing zero or mean accepts NaN",
    ("letters.txt",): "leave such lines out with --skip-bad-lines",
    ("zero.txt",): "--zero-based reads ids from 0",
    ("equal.txt",): "Check --label, --query and --weight",
    ("holes.csv",): "--missing zero or mean fills it in",
    ("texts.csv",): "--drop a",
    ("two.csv",): "name it with --label",
    ("zero.txt", "--zero-based", "--label", "y"): "--label, --query, --id, --weight and --drop are for tables",
    ("zero.txt", "--zero-based", "--tol", "0"): "--tol 0.0 must be a finite number above 0",
    ("zero.txt", "--zero-based", "--jobs", "0"): "--jobs 0 is not a number of threads",
    ("zero.txt", "--zero-based", "--loss", "hinge", "--solver", "cg"): "--solver cg needs a smooth loss",
    ("zero.txt", "--zero-based", "--n-features", "1"): "(--n-features)",
    ("zero.txt", "--zero-based", "--monotonic", "9=1"): "--monotonic names '9', which is no feature",
    ("zero.txt", "--zero-based", "--bounds", "9=0:1"): "--bounds names '9', which is no feature",
    ("zero.txt", "--zero-based", "--bounds", "0=1:0"): "both agree with --monotonic",
    ("flat.txt", "--bounds", "2=0:1"): "Feature '2' is constant",
    ("flat.txt", "--monotonic", "2=1"): "or its entry in --monotonic and --bounds",
    ("zero.txt", "--zero-based", "--bounds", "0:1", "--solver", "cg"): "--solver auto or newton",
}


@pytest.mark.parametrize("words", SAID, ids=" ".join)
def test_errors_of_train_name_options(run, words):
    for name, text in ROWS.items():
        Path(name).write_text(text)
    said = run("train", *words, "-o", "m.json", code=1).stderr
    assert SAID[words] in said
    assert not re.search(r"\b[a-z_]+='?\w", said), said


def test_an_option_of_another_command_comes_with_its_name(run, files):
    Path("nan.txt").write_text(ROWS["nan.txt"].replace("1:", "4:"))
    assert "linrank train --missing zero or mean" in run("evaluate", files.model, "nan.txt", code=1).stderr


def test_warnings_name_options(run, files):
    said = run("train", files.train, "-o", "m.json", "--max-iter", "1").stderr
    assert "raise --max-iter" in said
    assert "'max_iter'" in said  # the status is a word of its own


def test_every_parameter_that_is_translated_is_an_option_of_some_command():
    known = {
        name
        for command in cli.list_commands(None)
        for parameter in cli.get_command(None, command).params
        for name in (*parameter.opts, *parameter.secondary_opts)
    }
    wanted = {*FLAGS.values(), *("--" + name.replace("_", "-") for name in SAME)}
    assert wanted <= known


def test_values_come_without_quotes():
    assert in_options("loss='hinge' is not known") == "--loss hinge is not known"
    assert in_options("say query=''") == "say --query ''"
    assert in_options("drop=['a', 'b'] or more") == "--drop a, b or more"
    assert in_options("y=labels(y) stays") == "y=labels(y) stays"
