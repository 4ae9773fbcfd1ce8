"""The one writer of files: whole or not at all, under a name that nobody can guess, with errors that name the file."""

import errno
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import linrank
from linrank import SGDRanker, write_svmlight
from linrank._files import replacing, watching
from linrank.io import Dataset, write_csv, write_parquet
from linrank.testing import make_ranking

X, Y, QID = make_ranking(40, 3, 4, 3)


class EndedError(Exception):
    pass


def checkpoint(path):
    """Write a stream's checkpoint."""

    def chunks():
        yield X, Y, QID
        raise EndedError

    with pytest.raises(EndedError):
        SGDRanker(random_state=0).fit_stream(chunks, checkpoint=path, resume=False)


WRITERS = {
    "model": lambda path: linrank.save(linrank.LinearRanker().fit(X, Y, QID), path),
    "svmlight": lambda path: write_svmlight(path, X, Y, QID),
    "csv": lambda path: write_csv(path, Dataset(X, Y, QID)),
    "parquet": lambda path: write_parquet(path, X, Y, QID),
    "checkpoint": checkpoint,
}


@pytest.fixture(params=WRITERS)
def write(request):
    return WRITERS[request.param]


def test_a_link_by_a_guessable_name_is_not_followed(write, tmp_path):
    (tmp_path / "mine").write_text("precious")
    for name in ("out.part", ".out.part", "out.tmp"):
        (tmp_path / name).symlink_to("mine")
    write(tmp_path / "out")
    assert (tmp_path / "mine").read_text() == "precious"
    assert (tmp_path / "out").stat().st_size > 8


def test_a_name_that_is_taken_is_never_opened(tmp_path, monkeypatch):
    """Should somebody guess the name after all, neither a file nor a link of that name is written to."""
    monkeypatch.setattr("secrets.token_hex", lambda n: "known")
    for make in (lambda path: path.write_text("other"), lambda path: path.symlink_to("other")):
        taken = tmp_path / ".out.known.part"
        make(taken)
        with pytest.raises(FileExistsError), replacing(tmp_path / "out") as file:
            file.write(b"x")
        assert not (tmp_path / "other").exists()
        assert not (tmp_path / "out").exists()
        taken.unlink(missing_ok=True)


def test_a_file_keeps_its_permissions_and_a_new_one_has_the_usual(write, tmp_path):
    for mask in (0o022, 0o027):
        old, new = tmp_path / f"old{mask}", tmp_path / f"new{mask}"
        old.touch()
        old.chmod(0o600)
        before = os.umask(mask)
        try:
            write(old)
            write(new)
        finally:
            os.umask(before)
        assert stat.S_IMODE(old.stat().st_mode) == 0o600
        assert stat.S_IMODE(new.stat().st_mode) == 0o666 & ~mask


def test_nobody_else_can_open_a_private_file_while_it_is_written(tmp_path):
    (tmp_path / "out").touch(mode=0o600)
    with replacing(tmp_path / "out") as file:
        assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == 0o600


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", ["os.fsync", "os.replace", "os.fstat"])
def test_nothing_is_left_behind(write, tmp_path, monkeypatch, error, step):
    (tmp_path / "out").write_text("old")

    def fail(*_):
        raise error

    monkeypatch.setattr(step, fail)
    with watching() as replaced, pytest.raises(type(error)) as caught:
        write(tmp_path / "out")
    monkeypatch.undo()
    assert os.listdir(tmp_path) == ["out"]
    assert (tmp_path / "out").read_text() == "old"
    assert replaced() == []
    if isinstance(error, OSError):
        assert Path(caught.value.filename) == tmp_path / "out"
        assert str(caught.value).endswith(f"{str(tmp_path / 'out')!r}")


def test_a_full_device_names_itself(tmp_path):
    with pytest.raises(OSError, match="No space") as caught, replacing("/dev/full") as file:
        file.write(b"x" * 100_000)
    assert caught.value.filename == "/dev/full"


def test_errors_of_other_files_keep_their_names(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, replacing(tmp_path / "out"):
        open(tmp_path / "missing", "rb")
    assert caught.value.filename == str(tmp_path / "missing")


def test_a_move_that_fails_speaks_of_one_file(tmp_path, monkeypatch):
    """`os.replace` names two, one of which nobody knows."""
    move = os.replace
    monkeypatch.setattr("os.replace", lambda source, target: move(source, tmp_path / "missing" / "out"))
    with pytest.raises(FileNotFoundError) as caught, replacing(tmp_path / "out"):
        pass
    assert (caught.value.filename, caught.value.filename2) == (str(tmp_path / "out"), None)
    assert "->" not in str(caught.value)


def test_long_names(tmp_path):
    with replacing(tmp_path / ("n" * 255)) as file:
        file.write(b"x")
    assert os.listdir(tmp_path) == ["n" * 255]


def test_what_was_replaced_is_known_even_if_an_interrupt_comes_in_between(tmp_path, monkeypatch):
    move = os.replace

    def moved(*names):
        move(*names)
        raise KeyboardInterrupt

    with watching() as replaced:
        for name in ("a", "b", "a"):
            with replacing(tmp_path / name):
                pass
        assert replaced() == [str(tmp_path / "b"), str(tmp_path / "a")]
        monkeypatch.setattr("os.replace", moved)
        with pytest.raises(KeyboardInterrupt), replacing(tmp_path / "c") as file:
            file.write(b"new")
        assert replaced()[-1] == str(tmp_path / "c")
    assert (tmp_path / "c").read_bytes() == b"new"


PROGRAM = """
import os, sys, time
from linrank._files import replacing
with replacing(sys.argv[1]) as file:
    file.write(b"new")
    file.flush()
    print("writing", flush=True)
    time.sleep(60)
"""


def test_control_c_while_a_file_is_written(tmp_path):
    path = tmp_path / "out"
    path.write_text("old")
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # fmt: skip
    try:
        assert process.stdout.readline() == b"writing\n"
        assert len(os.listdir(tmp_path)) == 2
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    finally:
        process.kill()
    assert os.listdir(tmp_path) == ["out"]
    assert path.read_text() == "old"
