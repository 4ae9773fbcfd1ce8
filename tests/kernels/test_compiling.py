"""Kernels on disk: processes that start at once share them."""

import os
import subprocess
import sys

from numba.core.caching import IndexDataCacheFile

from linrank.kernels._compiling import SharedFile

TWO_FORMS = """
import sys, numpy as np
from linrank.kernels._compiling import compiled
from linrank.kernels.pairs import pair_weights
kinds = {"whole": np.int64, "float": np.float64}
for kind in sys.argv[1:]:
    out = np.zeros(1, kinds[kind])
    pair_weights(np.array([2, 3, 4], dtype=kinds[kind]), np.array([0, 3]), out)
    assert out[0] == 26, out
print(len(compiled.names))
"""


def saved_at_once(kind, folder):
    """What a third process loads for each key, where b saves its form while a is about to write its own."""
    a, b = (kind(str(folder), "kernel", "stamp") for _ in range(2))
    write = a._save_data

    def late(name, data):
        a._save_data = write
        os.unlink(a._index_path) if os.path.exists(a._index_path) else None  # b has looked before a wrote it
        b.save("float64", "code of b")
        write(name, data)

    a._save_data = late
    a.save("int64", "code of a")
    third = kind(str(folder), "kernel", "stamp")
    return third.load("int64"), third.load("float64")


def test_two_processes_that_save_at_once_do_not_mix_their_forms(tmp_path):
    (tmp_path / "ours").mkdir()
    (tmp_path / "numbas").mkdir()
    assert saved_at_once(SharedFile, tmp_path / "ours") == ("code of a", "code of b")
    assert saved_at_once(IndexDataCacheFile, tmp_path / "numbas") == (None, "code of a")  # the wrong code


def test_a_changed_file_of_kernels_makes_all_of_them_anew(tmp_path):
    SharedFile(str(tmp_path), "kernel", "one stamp").save("int64", "old code")
    assert SharedFile(str(tmp_path), "kernel", "another stamp").load("int64") is None


def test_cold_starts_at_once_leave_a_cache_that_serves_both(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", TWO_FORMS]
    both = [subprocess.Popen([*command, kind], env=environment, stdout=subprocess.PIPE) for kind in ("whole", "float")]
    assert [process.communicate()[0] for process in both] == [b"1\n", b"1\n"]
    later = subprocess.run([*command, "whole", "float"], env=environment, capture_output=True, check=True)
    assert later.stdout == b"0\n"
