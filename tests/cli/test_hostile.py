"""Names, ids and facts that would steer a terminal, forge a line, or are no UTF-8."""

import json
import os
import pty
import subprocess
import sys
import unicodedata

import ir_measures
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import linrank
from linrank import LinearRanker, LinrankError, read_svmlight, save, write_svmlight
from linrank.cli._loaded import Loaded
from linrank.cli.predict import run_lines
from linrank.io import Comments, Dataset, from_frame

SEVERAL = """
import json, sys
from linrank.cli import cli
for words in json.loads(sys.argv[1]):
    try:
        cli.main(words)
    except SystemExit as done:
        assert not done.code
    print("--- end", flush=True)
"""
HOSTILE = ["\x1b[31mred", "\x9b31m", "\u202eevil", "a\nb", "\x07\r\x00", "[bold]x[/]", "\u2028", "\x1b]0;title\x07"]


def several(commands):
    """The words of a process that runs these commands, one after the other, and marks their ends."""
    return [sys.executable, "-c", SEVERAL, json.dumps(commands)]


def assert_harmless(text):
    """Nothing but printable characters and line feeds."""
    assert not [c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")], repr(text)


@pytest.fixture
def hostile(tmp_path, files):
    """A model with such names, and a table with such names, queries and ids; facts of training too."""
    rng = np.random.default_rng(0)
    n = 48
    frame = pd.DataFrame(rng.normal(size=(n, len(HOSTILE))), columns=HOSTILE)
    frame["label"] = rng.integers(0, 3, n)
    frame["qid"] = [HOSTILE[k // 6] for k in range(n)]
    frame["id"] = [f"{HOSTILE[k % 8]}{k}" for k in range(n)]
    frame.to_parquet(tmp_path / "data.parquet")
    data = from_frame(frame)
    ranker = LinearRanker().fit(data.X, data.y, data.qid)
    ranker.feature_names_in_ = np.array(HOSTILE, dtype=object)
    save(ranker, tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    document["training"]["status"] = "\x1b[2Jforged\x9b"
    del document["checksum"]
    (tmp_path / "model.json").write_text(json.dumps(document))
    return frame


@pytest.mark.parametrize(
    "words",
    [
        ["inspect", "model.json"],
        ["inspect", "model.json", "--json"],
        ["inspect", "data.parquet"],
        ["inspect", "data.parquet", "--json"],
        ["inspect", "data.parquet", "--query", ""],
        ["explain", "model.json", "data.parquet"],
        ["explain", "model.json", "data.parquet", "--json"],
        ["explain", "model.json", "data.parquet", "--query", "nothing\x1b"],
        ["explain", "model.json", "data.parquet", "--above", "no\x1b[0m"],
        ["predict", "model.json", "data.parquet", "--rank"],
        ["train", "data.parquet", "-o", "m.json"],
        ["train", "data.parquet", "-o", "m.json", "--json"],
        ["train", "data.parquet", "-o", "m.json", "--query", "x\x1b"],
        ["train", "no\x1b[31mfile", "-o", "m.json"],
        ["evaluate", "model.json", "data.parquet"],
        ["compare", "model.json", "model.json", "data.parquet", "--json"],
        ["convert", "data.parquet", "\x1b[31m.arrow"],
        ["export", "model.json", "--to", "vespa"],
        ["export", "model.json", "--to", "solr"],
    ],
    ids=lambda words: " ".join(words).replace("\x1b", "ESC"),
)
def test_nothing_that_data_holds_steers_the_terminal(run, hostile, words):
    from click.testing import CliRunner

    from linrank.cli import cli

    result = CliRunner().invoke(cli, words)
    assert not isinstance(result.exception, UnicodeError)
    assert result.stdout or result.stderr
    assert "Traceback" not in result.stderr
    assert_harmless(result.stdout)
    assert_harmless(result.stderr)
    if "--json" in words:
        json.loads(result.stdout)


def test_json_keeps_the_names_themselves(run, hostile):
    found = json.loads(run("inspect", "model.json", "--json").stdout)
    assert {entry["feature"] for entry in found["weights"]} == set(HOSTILE)


def test_data_on_a_terminal_is_spelled_out_and_in_a_pipe_kept(run, tmp_path):
    lines = [f"{k % 3} qid:q\x1b[31m{k // 4} 1:{k} 2:{k * k % 7} # \x9b\u202e{k}\n" for k in range(12)]
    (tmp_path / "data.txt").write_text("".join(lines))
    data = read_svmlight(tmp_path / "data.txt")
    ranker = LinearRanker().fit(data.X, data.y, data.qid)
    save(ranker, tmp_path / "m.json")
    ranker.feature_names_in_ = np.array(["\x1b[31mred", "\x9b"], dtype=object)
    save(ranker, tmp_path / "named.json")
    commands = [["convert", "data.txt", "-"], ["evaluate", "m.json", "data.txt", "--per-query", "-"],
                ["export", "named.json", "--to", "sql"]]  # fmt: skip
    for words in commands:
        assert "\x1b[31m" in run(*words).stdout
    main, side = pty.openpty()
    with subprocess.Popen(several(commands), cwd=tmp_path, stdout=side, stderr=subprocess.DEVNULL) as process:
        os.close(side)
        shown = b""
        while True:
            try:
                part = os.read(main, 1 << 16)
            except OSError:
                break
            if not part:
                break
            shown += part
    os.close(main)
    assert process.returncode == 0
    text = shown.decode().replace("\r\n", "\n").replace("\t", " ")
    assert_harmless(text)
    assert ["x1b[31m" in part for part in text.split("--- end\n")] == [True, True, True, False]


def test_explanations_and_errors_print_harmless_names(hostile):
    X = hostile[HOSTILE]
    found = LinearRanker().fit(X, hostile["label"], hostile["qid"]).explain(X.iloc[[0]], X.iloc[[1]])
    assert set(found.names) == set(HOSTILE)  # as they are: only what is shown is spelled out
    assert_harmless(str(found))
    assert len(str(found).split("\n")) == 2 + len(HOSTILE)
    assert_harmless(str(LinrankError("no query \x1b[31m\n")))


def test_what_is_logged_is_harmless(hostile, tmp_path, caplog):
    (tmp_path / "x.txt").write_text("1 qid:\x1b[31m 1:1\n" * 9)
    chunks = list(linrank.io.iter_svmlight(tmp_path / "x.txt", chunk_rows=2, n_features=1))
    assert chunks[0].qid[0] == "\x1b[31m"
    assert "it is split" in caplog.text
    for record in caplog.records:
        assert_harmless(record.getMessage())


def test_a_terminal_without_umlauts_shows_names_all_the_same(hostile, tmp_path):
    frame = hostile[["label", "qid"]].assign(größe=np.arange(len(hostile)) % 7, 日本=1.0)
    frame["qid"] = np.arange(len(frame)) // 6
    frame.to_csv(tmp_path / "data.csv", index=False)
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    commands = [["inspect", "data.csv"], ["train", "data.csv", "-o", "m.json", "--json"], ["inspect", "m.json"],
                ["explain", "m.json", "data.csv", "--json"], ["explain", "m.json", "data.csv"]]  # fmt: skip
    done = subprocess.run(several(commands), cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    *texts, rest = done.stdout.decode("latin-1").split("--- end\n")
    assert rest == ""
    for words, text in zip(commands, texts, strict=True):
        if "--json" in words:
            assert "日本" in json.dumps(json.loads(text), ensure_ascii=False)
        else:
            assert "größe" in text


def read_back(text, folder):
    (folder / "run.txt").write_bytes(text.encode() if isinstance(text, str) else text)
    return list(ir_measures.read_trec_run(str(folder / "run.txt")))


def test_a_run_with_blanks_and_line_breaks_in_its_ids_is_read_by_ir_measures(run, hostile, tmp_path):
    frame = hostile.assign(
        qid=[["red shoes", "a\nQ0 forged 1 9.9 x", "tab\there", "nb\xa0sp"][k // 12] for k in range(48)]
    )
    frame["id"] = [f"doc {k}\nx Q0 y 1 9 t" for k in range(48)]
    frame.to_parquet("data.parquet")
    result = run("predict", "model.json", "data.parquet", "--rank")
    back = read_back(result.stdout, tmp_path)
    assert len(back) == 48
    assert len({row.query_id for row in back}) == 4
    assert len({row.doc_id for row in back}) == 48
    assert "red_shoes" in {row.query_id for row in back}


def test_ids_that_a_run_cannot_tell_apart_are_refused(run, hostile):
    hostile.assign(qid=["a b" if k < 24 else "a_b" for k in range(48)]).to_parquet("data.parquet")
    assert "'a b' and 'a_b'" in run("predict", "model.json", "data.parquet", "--rank", code=1).stderr
    hostile.assign(qid="q", id=["x y", "x_y"] * 24).to_parquet("data.parquet")
    assert "'x y' and 'x_y'" in run("predict", "model.json", "data.parquet", "--rank", code=1).stderr
    hostile.assign(qid=" ").to_parquet("data.parquet")
    assert "query id ' '" in run("predict", "model.json", "data.parquet", "--rank", code=1).stderr


@given(
    qids=st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=4, unique=True),
    ids=st.lists(st.text(max_size=5), min_size=1, max_size=4, unique=True),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
def test_every_run_that_is_written_is_read_by_ir_measures(files, tmp_path, qids, ids):
    loaded = Loaded.of(files.model)
    n = len(qids) * len(ids)
    qid = np.empty(n, dtype=object)
    qid[:] = np.repeat(np.array(qids, dtype=object), len(ids))
    try:
        data = Dataset(np.ones((n, 4)), None, qid, Comments.of(ids * len(qids)))
        text = "".join(run_lines(loaded, [data], "x", "tag"))
    except LinrankError:
        return
    assert_harmless(text)
    back = read_back(text, tmp_path)
    assert len(back) == n
    assert len({row.query_id for row in back}) == len(qids)


LATIN = "1 qid:caf\xe9 1:2 2:1 3:0 4:1 # docid = na\xefve\n0 qid:caf\xe9 1:1 2:0 3:1 4:0 # \xff\xfe\n".encode("latin-1")


@pytest.mark.parametrize(
    "words",
    [
        ["predict", "MODEL", "latin.txt", "--rank"],
        ["evaluate", "MODEL", "latin.txt", "--per-query", "values.csv"],
        ["evaluate", "MODEL", "latin.txt", "--per-query", "-"],
        ["explain", "MODEL", "latin.txt"],
        ["explain", "MODEL", "latin.txt", "--json"],
        ["explain", "MODEL", "latin.txt", "--above", "x"],
        ["convert", "latin.txt", "latin.csv"],
        ["convert", "latin.txt", "-"],
        ["convert", "latin.txt", "latin.parquet"],
        ["inspect", "latin.txt", "--json"],
        ["train", "latin.txt", "-o", "m.json"],
    ],
    ids=lambda words: " ".join(words),
)
def test_ids_and_comments_that_are_not_utf8(files, tmp_path, monkeypatch, words):
    from click.testing import CliRunner

    from linrank.cli import cli

    monkeypatch.chdir(tmp_path)
    (tmp_path / "latin.txt").write_bytes(LATIN)
    result = CliRunner().invoke(cli, [files.model if word == "MODEL" else word for word in words])
    refused = words[-1].endswith("parquet") or "--above" in words
    assert result.exit_code == (1 if refused else 0), result.stderr
    assert "Unicode" not in result.stderr
    if words[0] == "predict":
        assert {row.query_id for row in read_back(result.stdout, tmp_path)} == {"caf\\xe9"}
    if words[-1] == "values.csv":
        assert b"caf\xe9," in (tmp_path / "values.csv").read_bytes()  # as the data has it
    if words[:1] == ["convert"] and words[-1] == "-":
        assert result.stdout_bytes.count(b"qid:caf\xe9 ") == 2


def test_query_ids_of_bytes_are_written_as_they_are(tmp_path):
    write_svmlight(tmp_path / "x.txt", np.ones((2, 1)), [1, 0], np.array([b"caf\xe9", b"caf\xe9"]))
    assert (tmp_path / "x.txt").read_bytes().count(b"qid:caf\xe9 ") == 2


def test_half_a_surrogate_is_named(tmp_path):
    frame = pd.DataFrame(
        {"label": [1, 0], "qid": [1, 1], "x": [1.0, 2.0], "id": pd.Series(["\ud800", "b"], dtype=object)}
    )
    with pytest.raises(LinrankError, match=r"ud800"):
        from_frame(frame)
    with pytest.raises(LinrankError, match=r"ud800"):
        write_svmlight(tmp_path / "x.txt", np.ones((2, 1)), [1, 0], ["\ud800", "b"])
    with pytest.raises(LinrankError, match=r"ud800"):
        linrank.io.write_csv(
            tmp_path / "x.csv", Dataset(np.ones((2, 1)), None, np.array(["\ud800", "b"], dtype=object))
        )
