"""What commands say of the data they read: queries that are not there, and which columns became features."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from linrank import write_svmlight
from linrank.testing import enumerate_pairs

NONE_FOUND = "query: none found, all rows are compared with each other"


@pytest.fixture
def searches(tmp_path):
    rng = np.random.default_rng(0)
    query = np.repeat(np.arange(100, 130), 8)
    frame = pd.DataFrame({"search_id": query, "grade": rng.integers(0, 4, query.size)})
    frame["bm25_title"] = frame["grade"] + rng.normal(size=query.size)
    frame["clicks"] = rng.poisson(2.0, query.size)
    frame.to_csv(tmp_path / "searches.csv", index=False)
    frame.rename(columns={"search_id": "basket"}).to_csv(tmp_path / "baskets.csv", index=False)
    frame.drop(columns="search_id").to_csv(tmp_path / "flat.csv", index=False)
    write_svmlight(tmp_path / "flat.txt", frame[["bm25_title", "clicks"]].to_numpy(float), frame["grade"])
    return frame


def test_a_search_id_is_the_query_and_gets_no_weight(run, searches):
    found = json.loads(run("train", "searches.csv", "-o", "m.json", "--json").stdout)
    assert found["data"]["pairs"] == len(enumerate_pairs(searches["grade"], searches["search_id"]).c)
    assert "query: column 'search_id' (guessed)" in found["data"]["read_as"]
    weights = json.loads(run("inspect", "m.json", "--json").stdout)["weights"]
    assert {entry["feature"] for entry in weights} == {"bm25_title", "clicks"}


def test_an_unknown_id_of_queries_is_refused_until_told(run, searches):
    refused = run("train", "baskets.csv", "-o", "m.json", code=1).stderr
    assert "Column 'basket' is the same over runs of rows" in refused
    assert "--query" in refused
    assert run("train", "baskets.csv", "-o", "m.json", "--query", "basket").stderr == ""
    told = run("inspect", "baskets.csv", "--query", "")
    assert "none found" not in told.stderr
    assert "'basket'" in told.stdout
    run("train", "baskets.csv", "-o", "m.json", "--query", "")
    assert "basket" in run("inspect", "m.json").stdout


TABLE, LINES = f"Warning: flat.csv: {NONE_FOUND}; name it with --query", f"Warning: flat.txt: {NONE_FOUND}"


@pytest.mark.parametrize(
    "words",
    [
        ["inspect", "DATA"],
        ["inspect", "DATA", "--json"],
        ["train", "DATA", "-o", "m.json"],
        ["train", "DATA", "-o", "m.json", "--json"],
        ["train", "DATA", "-o", "-", "--valid", "DATA"],
        ["tune", "DATA", "--alphas", "2", "--cv", "2"],
        ["predict", "MODEL", "DATA", "--rank"],
        ["evaluate", "MODEL", "DATA"],
        ["compare", "MODEL", "MODEL", "DATA", "-m", "pairwise_accuracy"],
        ["convert", "DATA", "-"],
        ["export", "MODEL", "--to", "sql", "--verify", "DATA"],
        ["export", "MODEL", "--to", "sql", "--offset", "auto", "--verify", "DATA"],
        ["explain", "MODEL", "DATA"],
    ],
    ids=" ".join,
)
def test_every_command_says_once_that_there_are_no_queries(run, searches, words):
    run("train", "flat.csv", "-o", "named.json", "--query", "")
    run("train", "flat.txt", "-o", "numbered.json")
    for data, model, line in (("flat.csv", "named.json", TABLE), ("flat.txt", "numbered.json", LINES)):
        named = [{"DATA": data, "MODEL": model}.get(word, word) for word in words]
        option = "-column" if words[0] == "explain" and data == "flat.csv" else ""
        result = run(*named)
        assert result.stderr.count("none found") == 1, result.stderr
        assert line + option in result.stderr
        if data == "flat.csv":
            assert "'bm25_title', 'clicks'" in result.stderr
        if "--json" in words:
            json.loads(result.stdout)
        else:
            assert "none found" not in result.stdout


def test_files_with_queries_are_read_without_a_word(run, searches):
    run("train", "searches.csv", "-o", "named.json")
    for words in (["predict", "named.json"], ["evaluate", "named.json"], ["inspect"]):
        assert run(*words, "searches.csv").stderr == ""


def test_a_stream_without_queries_says_so(run, searches):
    result = run("train", "flat.txt", "-o", "s.json", "--stream", "--passes", "2", "--seed", "1")
    assert result.stderr.count(LINES) == 1


def write_bare(files):
    """The rows of the test file without their queries."""
    rows = Path(files.test).read_text().splitlines()
    Path("bare.txt").write_text("".join(f"{row.split()[0]} {row.split(' ', 2)[2]}\n" for row in rows))


def test_a_model_of_queries_is_not_judged_on_rows_without_them(run, files):
    write_bare(files)
    for command in (
        ["evaluate", files.model, "bare.txt"],
        ["compare", files.model, files.model, "bare.txt", "-m", "wmw"],
    ):
        assert "was trained with queries, and bare.txt has none" in run(*command, code=1).stderr
        assert "none found" not in run(*command, "--query", "").stderr


def test_scores_alone_ask_for_no_queries(run, files):
    write_bare(files)
    assert "none found" not in run("predict", files.model, "bare.txt").stderr
    assert "none found" in run("predict", files.model, "bare.txt", "--rank").stderr


def test_a_model_does_not_replace_the_data_it_is_trained_on(run, files, tmp_path):
    data = tmp_path / "same.txt"
    data.write_bytes(Path(files.train).read_bytes())
    assert "would replace the data" in run("train", data, "-o", data, code=2).stderr
    assert data.read_bytes() == Path(files.train).read_bytes()


def test_inspect_shows_the_preferences_of_a_model(run, files):
    run("train", files.train, "-o", "graph.json", "--preferences", "0<1,1<2:0.5")
    assert "0<1, 1<2:0.5" in run("inspect", "graph.json").stdout
    assert "preferences" not in run("inspect", files.model).stdout


@pytest.mark.parametrize("name", ["Query ID", "query-id", "Q_ID", "search id", "SessionID"])
def test_names_of_queries_are_guessed_however_they_are_written(run, name, tmp_path):
    Path("x.csv").write_text(f"{name},label,a\n" + "".join(f"{k // 4},{k % 3},{k * 7 % 5}\n" for k in range(40)))
    assert "none found" not in run("inspect", "x.csv").stderr
