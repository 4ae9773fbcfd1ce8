"""How much memory is free: by the system, by control groups of both versions, by limits of the process."""

import resource

import pytest

from linrank import _memory


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
