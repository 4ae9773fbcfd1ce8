"""What goes wrong: exit code and one sentence with the cure."""

import errno
import os
from pathlib import Path

import pytest

from linrank.cli import COMMANDS, _files, cli
from linrank.cli._failures import sentence


def one_sentence(result):
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert result.stderr.rstrip().endswith(".")
    return result.stderr


def test_missing_files_and_folders(run, files):
    for words in (
        ["predict", "none.json", files.test],
        ["predict", files.model, "none.txt"],
        ["train", "none.txt", "-o", "m.json"],
        ["train", "none.txt", "-o", "m.json", "--stream"],
        ["train", files.train, "-o", "none/m.json"],
        ["inspect", "none"],
        ["export", "none", "--to", "sql"],
        ["evaluate", files.model, files.test, "--per-query", "none/x.csv"],
        ["convert", files.test, "none/x.csv"],
        ["tune", "none"],
        ["compare", files.model, "none", files.test],
        ["explain", files.model, "none"],
    ):
        assert "none" in one_sentence(run(*words, code=1))
        assert os.listdir() == []
    assert "is a folder" in one_sentence(run("train", files.train, "-o", files.folder, code=1))
    assert "is a folder" in one_sentence(run("predict", files.folder, files.test, code=1))


@pytest.mark.parametrize(
    "damage", [lambda b: b[: len(b) // 2], lambda b: b.replace(b"0.", b"1.", 1), lambda b: b"\0" + b]
)
def test_damaged_models(run, files, tmp_path, damage):
    with open(files.model, "rb") as file:
        (tmp_path / "bad.json").write_bytes(damage(file.read()))
    for words in (["predict", "bad.json", files.test], ["evaluate", "bad.json", files.test]):
        assert "bad.json" in one_sentence(run(*words, code=1))
    assert "bad.json" in one_sentence(run("export", "bad.json", "--to", "solr", code=1))


def test_malformed_data(run, files, tmp_path):
    (tmp_path / "bad.txt").write_text("1 qid:1 1:0.5\n0 qid:1 1:x\n")
    for words in (["train", "bad.txt", "-o", "m"], ["predict", files.model, "bad.txt"], ["inspect", "bad.txt"]):
        assert "bad.txt, line 2" in one_sentence(run(*words, code=1))
    (tmp_path / "wide.txt").write_text("1 qid:1 9:0.5\n")
    assert "wide.txt, line 1" in one_sentence(run("predict", files.model, "wide.txt", code=1))
    (tmp_path / "flat.txt").write_text("1 qid:1 1:1\n1 qid:1 1:2\n")
    assert "pair" in one_sentence(run("train", "flat.txt", "-o", "m", code=1))
    (tmp_path / "nolabel.csv").write_text("a,b\n1,2\n3,4\n")
    assert "--label" in one_sentence(run("train", "nolabel.csv", "-o", "m", code=1))
    (tmp_path / "nolabel4.csv").write_text("f1,f2,f3,f4\n1,2,3,4\n")
    assert "--label" in one_sentence(run("evaluate", files.model, "nolabel4.csv", code=1))
    assert "--metric x" in one_sentence(run("evaluate", files.model, files.test, "-m", "x", code=1))


def test_failures_leave_files_as_they_were(run, files, tmp_path, monkeypatch):
    (tmp_path / "out").write_text("before")
    (tmp_path / "bad.txt").write_text("1 qid:1 1:0.5\n" * 50 + "0 qid:1 1:x\n")
    monkeypatch.setattr(_files, "CHUNK_BYTES", 100)
    run("predict", files.model, "bad.txt", "-o", "out", code=1)
    assert (tmp_path / "out").read_text() == "before"
    assert sorted(os.listdir()) == ["bad.txt", "out"]


def test_interruptions(run, files, tmp_path, monkeypatch):
    def interrupt(self, X):
        raise KeyboardInterrupt

    (tmp_path / "out").write_text("before")
    monkeypatch.setattr(_files.Loaded, "score", interrupt)
    result = run("predict", files.model, files.test, "-o", "out", code=130)
    assert result.stderr == "Interrupted: files are as they were before.\n"
    assert (tmp_path / "out").read_text() == "before"
    assert os.listdir() == ["out"]


def test_an_interruption_after_the_model_was_written_says_so(run, files, tmp_path, monkeypatch):
    def interrupt(self, X):
        raise KeyboardInterrupt

    monkeypatch.setattr(_files.Loaded, "score", interrupt)
    result = run("train", files.train, "-o", "m.json", "--valid", files.vali, code=130)
    assert result.stderr == "Interrupted: m.json was written before that.\n"
    assert "linrank" in (tmp_path / "m.json").read_text()


@pytest.mark.parametrize("when", ["before", "after"])
def test_an_interruption_of_tune_says_what_it_left(run, files, tmp_path, monkeypatch, when):
    """Ctrl-C just before, or just after, the model takes its place."""
    (tmp_path / "m.json").write_text("old")
    move = os.replace

    def replace(*names):
        model = os.path.basename(names[1]) == "m.json"
        if when == "after" or not model:  # compiled kernels are moved into their cache as well
            move(*names)
        if model:
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", replace)
    result = run("tune", files.train, "-o", "m.json", "--alphas", "2", "--cv", "2", code=130)
    said = {"before": "files are as they were before", "after": "m.json was written before that"}
    assert result.stderr == f"Interrupted: {said[when]}.\n"
    assert ((tmp_path / "m.json").read_text() == "old") == (when == "before")
    assert os.listdir() == ["m.json"]


FULL = "cannot be written, as the disk is full: free some space and try again.\n"


@pytest.mark.parametrize(
    "words",
    [
        ["convert", "TRAIN", "out"], ["convert", "TRAIN", "out.csv"], ["convert", "TRAIN", "out.parquet"],
        ["convert", "TRAIN", "out.gz"], ["convert", "MODEL", "out"], ["predict", "MODEL", "TRAIN", "-o", "out"],
        ["train", "TRAIN", "-o", "m.json", "--stream", "--checkpoint", "out"], ["tune", "TRAIN", "-o", "out"],
        ["evaluate", "MODEL", "TRAIN", "--per-query", "out"], ["export", "MODEL", "--to", "sql", "-o", "out"],
    ],
)  # fmt: skip
def test_a_full_disk_below_a_file_names_the_file(run, files, monkeypatch, words):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    given = [{"TRAIN": files.train, "MODEL": files.model}.get(word, word) for word in words]
    name = next(word for word in given if word.startswith("out"))
    assert run(*given, code=1).stderr == f"Error: {name} {FULL}"
    assert os.listdir() == []


def test_a_full_device_is_not_standard_output(run, files):
    assert run("convert", files.train, "/dev/full", code=1).stderr == f"Error: /dev/full {FULL}"


def test_surprises_are_sentences_too(run, files, monkeypatch):
    def surprise(self, X):
        raise ZeroDivisionError("by\n zero")

    monkeypatch.setattr(_files.Loaded, "score", surprise)
    text = one_sentence(run("predict", files.model, files.test, code=1))
    assert "ZeroDivisionError: by zero (--debug shows where" in text
    with pytest.raises(ZeroDivisionError):
        cli.main(["predict", files.model, files.test, "--debug"])
    assert "memory" in sentence(MemoryError())


def test_errors_of_the_system_in_words():
    assert sentence(OSError(errno.ENOSPC, "", "out")) == (
        "out cannot be written, as the disk is full: free some space and try again."
    )
    assert "permissions" in sentence(PermissionError(errno.EACCES, "", "out"))
    assert sentence(OSError(errno.EIO, "")).startswith("Standard output cannot be used (Input/output error)")


def test_help_of_every_command_has_examples(run):
    overview = run("--help").stdout
    for name in COMMANDS:
        text = run(name, "--help").stdout
        assert f"\n  {name} " in overview
        assert f"linrank {name} " in text or name == "demo"
        assert max(map(len, text.splitlines())) <= 80
    assert run("-h").stdout == overview
    assert "No such command" in run("nonsense", code=2).stderr
    assert "Usage" in run("train", code=2).stderr


def test_commands_have_files_of_their_own():
    folder = Path(_files.__file__).parent
    assert {path.stem for path in folder.glob("[a-z]*.py")} == set(COMMANDS)
