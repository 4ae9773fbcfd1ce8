"""Several files, and data larger than memory, on the command line."""

import json
from pathlib import Path

import numpy as np
import pytest

import linrank
from linrank.cli import _plan
from linrank.io import write_parquet
from linrank.io._estimate import estimate
from linrank.io._locate import locate
from linrank.io._scan import FileSource


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LINRANK_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def parts(tmp_path, files):
    """The test data in three files, which cut a query, as text and as Parquet."""
    X, y, qid = files.data["test"]
    for k, rows in enumerate(np.split(np.arange(y.size), [7, 31])):
        for name in ("text", "tables"):
            (tmp_path / name).mkdir(exist_ok=True)
        comments = [f"docid = test-{row} inc = 1" for row in rows]
        linrank.write_svmlight(tmp_path / "text" / f"{k}.txt", X[rows], y[rows], qid[rows], comments=comments)
        ids = [f"test-{row}" for row in rows]
        write_parquet(tmp_path / "tables" / f"{k}.parquet", X[rows], y[rows], qid[rows], comments=ids)
    return tmp_path


SOURCES = {
    "a folder": ["text"],
    "a glob": ["text/*.txt"],
    "files": ["text/0.txt", "text/1.txt", "text/2.txt"],
    "tables": ["tables"],
}


@pytest.mark.parametrize("source", SOURCES)
def test_every_command_takes_several_files(run, files, parts, source):
    """What it prints is what it prints of one file with all rows."""
    names = SOURCES[source]
    for command in (
        ["predict", files.model],
        ["predict", files.model, "--rank"],
        ["evaluate", files.model, "--json"],
        ["compare", files.model, files.model, "--json"],
        ["explain", files.model, "--query", "13", "--json"],
    ):
        whole = run(*command, files.test).stdout.replace(files.test, "DATA")
        several = run(*command, *names).stdout
        for name in (f"{names[0]} and 2 more", *names):
            several = several.replace(f'"{name}"', '"DATA"')
        assert several == whole, command
    for where in ([], ["--in-memory"], ["--from-disk"]):
        run("train", *names, "-o", "m.json", *where, "-q")
        run("train", files.test, "-o", "whole.json", "-q")
        weights = [json.loads((parts / model).read_text())["weights"] for model in ("m.json", "whole.json")]
        values = [[entry[1] if isinstance(entry, list) else entry for entry in model] for model in weights]
        assert values[0] == values[1]
    run("convert", *names, "all.txt")
    assert (
        json.loads(run("inspect", *names, "--json").stdout)["rows"]
        == len((parts / "all.txt").read_text().split("\n")) - 1
    )
    assert "chosen" in run("tune", *names, "--alphas", "2", "--cv", "2", "--from-disk").stdout


def test_training_decides_by_size_and_says_so(run, files, cache, monkeypatch):
    told = run("train", files.train, "-o", "m.json", "-q").stderr
    assert told == ""
    assert not cache.exists()
    monkeypatch.setattr(_plan, "available", lambda: 10_000)
    told = run("train", files.train, "-o", "disk.json", "-q").stderr
    assert "about 178 rows x 4 features, 5.7 kB: trained from disk, as 10.0 kB of memory are free" in told
    assert "It will take about 67.1 MB of memory; --float32 would halve what each pass reads" in told
    assert f"is read into the cache {cache}, once" in told
    assert "takes 15.7 kB" in told
    assert "is in the cache" in run("train", files.train, "-o", "disk.json", "-q").stderr
    models = [json.loads(Path(name).read_text())["weights"] for name in ("m.json", "disk.json")]
    assert models[0] == models[1]
    monkeypatch.setattr(_plan, "available", lambda: 5000)
    told = run("train", files.train, "-o", "m.json", "-q", "--float32").stderr
    assert "2.8 kB: trained from disk" in told
    assert "--float32" not in told
    assert run("train", files.train, "-o", "m.json", "-q", "--in-memory").stderr == ""
    elsewhere = run("train", files.train, "-o", "m.json", "-q", "--cache", "here").stderr
    assert "read into the cache here, once" in elsewhere


def test_a_stream_says_where_exact_training_would_do(run, files, monkeypatch):
    assert "fits into memory: exact training would do" in run("train", files.train, "-o", "m", "--stream").stderr
    monkeypatch.setattr(_plan, "available", lambda: 10_000)
    assert "exact" not in run("train", files.train, "-o", "m", "--stream").stderr
    estimated = estimate(locate(files.train), FileSource(locate(files.train), _options(files)).options)
    monkeypatch.setattr(_plan, "available", lambda: estimated.memory_from_disk() + 1)
    monkeypatch.setattr(_plan, "SHARE", 0.0)
    assert "fits on disk, with 67.1 MB of memory: exact" in run("train", files.train, "-o", "m", "--stream").stderr


def _options(files):
    return linrank.scan(files.train).source.options


def test_a_disk_that_is_too_small_is_refused_at_once(run, files, monkeypatch, cache):
    monkeypatch.setattr(_plan, "_free_on_disk", lambda folder: 1000)
    told = run("train", files.train, "-o", "m.json", "--from-disk", code=1).stderr
    assert f"The cache {cache} has room for 1.0 kB, but about 5.7 kB are needed" in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--in-memory", "--from-disk"], "contradict each other"),
        (["--stream", "--from-disk"], "leave out --in-memory and --from-disk"),
        (["--scheduler", "--from-disk"], "on workers: leave out --in-memory and --from-disk"),
    ],
)
def test_contradictions(run, files, words, told):
    assert told in run("train", files.train, "-o", "m.json", *words, code=2).stderr


def test_standard_input_is_not_trained_on_from_disk(run, files):
    text = Path(files.train).read_text()
    assert "write it to a file" in run("train", "-", "-o", "m", "--from-disk", stdin=text, code=2).stderr


def test_the_cache_is_listed_and_cleared(run, files, cache):
    assert "0 entries" in run("cache").stdout
    run("train", files.train, "-o", "m.json", "--from-disk", "-q")
    run("train", files.vali, "-o", "m.json", "--from-disk", "-q")
    shown = run("cache").stdout
    assert shown.count("current") == 2
    assert f"{cache}: 2 entries" in shown.replace("\n", "")
    assert run("cache", "--old").stdout.count("current") == 0
    assert "1 entry" in run("cache", files.train, "--clear").stdout
    (left,) = json.loads(run("cache", "--json").stdout)["entries"]
    assert left["source"] == files.vali
    assert left["state"] == "current"
    run("cache", "--clear")
    assert json.loads(run("cache", "--json").stdout)["bytes"] == 0


def test_hostile_folders_on_the_command_line(run, parts, files):
    (parts / "text" / "notes.csv").write_text("a,b\n1,2\n")
    told = run("train", "text", "-o", "m.json", code=1).stderr
    assert told.startswith("Error: text/0.txt is read as svmlight, text/notes.csv as csv: name the files")
    assert told.count("\n") == 1
    assert "No file is named like" in run("evaluate", files.model, "no*.txt", code=1).stderr
