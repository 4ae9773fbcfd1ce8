"""Ctrl-C at a known moment."""

import os
import signal
import threading
import time
from types import SimpleNamespace

LONG = 3000  # times the work is repeated after Ctrl-C: more than enough to be stopped in


def interrupting(monkeypatch, owner, name, after=0):
    """Let the method send Ctrl-C to this process after so many calls, then work for long; returns what was done."""
    original, done = getattr(owner, name), SimpleNamespace(begun=0, ended=0)

    def slow(*arguments, **options):
        done.begun += 1
        number = done.begun
        if number == after + 1:
            time.sleep(0.1)  # the main thread waits for the folds by now
            os.kill(os.getpid(), signal.SIGINT)  # the main thread gets it
        for _ in range(LONG if number > after else 1):
            answer = original(*arguments, **options)
        done.ended += 1
        return answer

    monkeypatch.setattr(owner, name, slow)
    return done


def wait_for_threads(seconds=60):
    """Wait for the threads of linrank, which give up by themselves."""
    for thread in threading.enumerate():
        if thread.name.startswith(("linrank", "ThreadPoolExecutor")):
            thread.join(seconds)
            assert not thread.is_alive()
