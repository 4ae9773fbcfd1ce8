"""Ctrl-C at any moment of reading: one line, exit code 130, and never a crash."""

import ctypes
import os
import random
import signal
import subprocess
import sys
import time

import click
import pytest

from linrank.cli import cli

COMMAND = [sys.executable, "-c", "from linrank.cli import main; main()"]


def interrupted(words, text, blocks, pause):
    """Exit code and messages of a command that reads text without end, and is interrupted after some blocks of it."""
    process = subprocess.Popen(
        [*COMMAND, *words], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # the tests may run in the background
    )  # fmt: skip
    try:
        for _ in range(blocks):
            process.stdin.write(text)
        time.sleep(pause)
        process.send_signal(signal.SIGINT)
        while process.poll() is None:  # a process that does not hear it reads on
            process.stdin.write(text)
    except BrokenPipeError:
        pass
    finally:
        said = process.stderr.read().decode()
        code = process.wait(60)
        process.stderr.close()
        try:
            process.stdin.close()
        except BrokenPipeError:
            pass
    return code, said


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6))])
def test_an_interrupt_while_a_file_is_read_is_exit_code_130_and_no_crash(files, tmp_path, seed):
    row = b"1 qid:%d " + b" ".join(b"%d:0.%06d" % (j, 7919 * j) for j in range(1, 5)) + b"\n"
    rows = b"".join(row % (k // 4) for k in range(1 << 14))
    chance = random.Random(seed)
    words = ["predict", files.model, "-", "-o", str(tmp_path / "scores")]
    if seed % 2:
        words = ["convert", "-", str(tmp_path / "out.txt")]
    code, said = interrupted(words, rows, chance.randrange(20, 60), chance.random() / 100)
    assert code == 130, said
    assert said == "Interrupted: files are as they were before.\n"
    assert os.listdir(tmp_path) == []


MANY_MOMENTS = """
import os, random, signal, sys
from linrank import read_svmlight

chance, heard = random.Random(0), 0
long, short = sys.argv[1:]
read_svmlight(long)
signal.signal(signal.SIGALRM, signal.default_int_handler)
for _ in range(200):
    try:
        signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-4, 2e-2), 5.0)  # again if a finaliser swallows it
        while True:
            read_svmlight(long)
            read_svmlight(short)
    except KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, 0)
        heard += 1
print(heard, flush=True)
os._exit(0)  # as the command line ends: a lock of Python's own that was cut off would let its thread wait for ever
"""


@pytest.mark.slow
def test_two_hundred_interrupts_of_a_reader_are_two_hundred_exceptions(tmp_path):
    row = b"1 qid:1 " + b" ".join(b"%d:0.%06d" % (j, 7919 * j) for j in range(1, 40)) + b"\n"
    long, short = tmp_path / "long.txt", tmp_path / "short.txt"
    long.write_bytes(row * 4000)  # some blocks, parsed in a thread
    short.write_bytes(row * 1500)  # one block, parsed by the caller
    words = [sys.executable, "-c", MANY_MOMENTS, str(long), str(short)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (done.returncode, done.stderr)
    assert done.stdout == "200\n"


def run_interrupted(monkeypatch, capsys, work):
    """Exit code and messages of a command line that does this work."""
    monkeypatch.setattr(cli, "get_command", lambda context, name: click.Command(name, callback=work))
    with pytest.raises(SystemExit) as done:
        cli.main(["demo"])
    return done.value.code, capsys.readouterr().err


def test_an_interrupt_that_an_import_takes_for_a_failure_is_an_interrupt(monkeypatch, capsys):
    def work():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ImportError("initialization failed") from None

    assert run_interrupted(monkeypatch, capsys, work) == (130, "Interrupted: files are as they were before.\n")


def test_an_interrupt_that_a_callback_swallows_comes_again(monkeypatch, capsys):
    @ctypes.CFUNCTYPE(None)
    def callback():
        signal.raise_signal(signal.SIGINT)

    def work():
        callback()
        time.sleep(60)

    assert run_interrupted(monkeypatch, capsys, work) == (130, "Interrupted: files are as they were before.\n")


def test_a_failure_without_an_interrupt_stays_one(monkeypatch, capsys):
    def work():
        raise ImportError("initialization failed")

    code, said = run_interrupted(monkeypatch, capsys, work)
    assert code == 1
    assert said.startswith("Error: ImportError: initialization failed")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
