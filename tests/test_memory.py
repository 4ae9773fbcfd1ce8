"""How much memory is free: by the system, by control groups of both versions, by limits of the process."""

import resource
import subprocess
import sys

import numpy as np
import pytest

from linrank import LinrankError, _memory
from linrank._errors import OutOfMemoryError, memory_in_words
from linrank._memory import check_room_for


def tree(tmp_path, files):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "self").mkdir(exist_ok=True)
    return _memory.available(tmp_path / "cgroup", tmp_path / "self", tmp_path / "meminfo")


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"meminfo": "MemTotal: 9 kB\nMemAvailable:    1000 kB\n"}, 1_024_000),
        (
            {
                "meminfo": "MemAvailable: 1000 kB\n",
                "self/cgroup": "0::/jobs/mine\n",
                "cgroup/jobs/memory.max": "500000\n",
                "cgroup/jobs/memory.current": "300000\n",
                "cgroup/jobs/memory.stat": "anon 1\ninactive_file 100000\n",
                "cgroup/jobs/mine/memory.max": "max\n",
                "cgroup/jobs/mine/memory.current": "300000\n",
            },
            300_000,
        ),
        (
            {
                "meminfo": "MemAvailable: 1000 kB\n",
                "self/cgroup": "4:memory:/box\n1:cpu:/\n",
                "cgroup/memory/box/memory.limit_in_bytes": "700000\n",
                "cgroup/memory/box/memory.usage_in_bytes": "600000\n",
            },
            100_000,
        ),
        (
            {
                "meminfo": "MemAvailable: 1 kB\n",
                "cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
                "cgroup/memory/memory.usage_in_bytes": "600000\n",
            },
            1024,
        ),
    ],
)
def test_what_is_free(tmp_path, monkeypatch, files, expected):
    monkeypatch.setattr(resource, "getrlimit", lambda which: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert tree(tmp_path, files) == expected


def test_limits_of_the_process(tmp_path, monkeypatch):
    limits = {resource.RLIMIT_DATA: 900_000, resource.RLIMIT_AS: resource.RLIM_INFINITY}
    monkeypatch.setattr(resource, "getrlimit", lambda which: (limits[which], limits[which]))
    files = {"meminfo": "MemAvailable: 1000 kB\n", "self/status": "VmSize:\t  500 kB\nVmData:\t  500 kB\n"}
    assert tree(tmp_path, files) == 900_000 - 512_000


def test_here():
    assert _memory.available() > 1 << 20


TIGHT = """
import os, resource, signal
import numpy as np
from linrank import LinearRanker
from linrank._errors import OutOfMemoryError
from linrank.testing import make_ranking

X, y, qid = make_ranking(20_000, 4, 500, 3, seed=0)
LinearRanker(n_jobs=2).fit(X, y, qid)
for room in (1, 6, 9, 10, 11, 12, 14, 18, 26, 60):  # a thread's stack takes 8
    child = os.fork()
    if not child:
        signal.alarm(20)  # ends what hangs
        with open("/proc/self/status") as lines:
            used = next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmData"))
        resource.setrlimit(resource.RLIMIT_DATA, (used + (room << 20),) * 2)
        try:
            LinearRanker(n_jobs=2).fit(X, y, qid)
        except OutOfMemoryError as error:
            os._exit(2 if "not enough memory" in str(error) else 3)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere RLIMIT_DATA counts other memory")
def test_memory_that_runs_out_is_a_sentence_and_no_thread_is_waited_for_in_vain():
    """Python waits for ever for a thread that dies while it begins."""
    done = subprocess.run([sys.executable, "-c", TIGHT], capture_output=True, text=True, timeout=120, check=True)
    codes = [int(line) for line in done.stdout.split()]
    assert set(codes) == {0, 2}, (codes, done.stderr)
    assert (codes[0], codes[-1]) == (2, 0)


def test_room_for_threads(monkeypatch):
    check_room_for(1)
    monkeypatch.setattr(_memory, "_stack", lambda: 1 << 60)
    with pytest.raises(MemoryError, match="no room for 2 threads"):
        check_room_for(2)


def test_memory_in_words():
    words = r"not enough memory \(.* more were asked for\): give X as float32"
    with pytest.raises(OutOfMemoryError, match=words) as told, memory_in_words():
        np.empty(1 << 60, dtype=np.uint8)
    assert isinstance(told.value, LinrankError)
    with pytest.raises(OutOfMemoryError, match="once"), memory_in_words():
        raise OutOfMemoryError("once")


def test_large_stacks_are_asked_for_one_by_one(monkeypatch):
    """As threads ask for them: the system refuses one mapping that is larger than its memory, not many."""
    monkeypatch.setattr(_memory, "_stack", lambda: 4 << 30)
    _memory.check_room_for(16)
