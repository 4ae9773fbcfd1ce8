"""The paper's kernels: by numba's simulator against their plain twins, and compiled; each in a process of its own."""

import os
import subprocess
import sys

import pytest

SIMULATED = """
import numpy as np
from linrank.testing import pswx, pswx_cuda
rng = np.random.default_rng(0)
sizes = np.array([1, 70, 3, 200, 64])
n = sizes.sum()
for kind in range(3):
    s, Xv = rng.standard_normal((2, n))
    if kind == 1:
        s = np.round(2 * s)  # ties, and distances of 1
    y = rng.integers(0, 4, n).astype(float) if kind < 2 else rng.standard_normal(n)
    found = pswx_cuda.parameters(s, y, Xv, sizes)
    at = 0
    for size in sizes:
        here = slice(at, at + size)
        for one, other in zip(found, pswx.p_swx(s[here], y[here], Xv[here]), strict=True):
            np.testing.assert_allclose(one[here], other, rtol=0, atol=1e-11)
        at += size
    assert found.beta_plus.sum() == found.beta_minus.sum() > 1000
print("as their twins")
"""

COMPILED = """
from numba.cuda.cudadrv.error import NvvmSupportError
from linrank.testing import pswx_cuda
try:
    texts = pswx_cuda.ptx()
except NvvmSupportError as error:
    print("libnvvm is missing")
else:
    for name, text in zip(("gpu_quicksort", "p_swx"), texts, strict=True):
        assert ".target sm_80" in text, name
        assert ".entry" in text, name
    assert "bar.sync" in texts[0], "threads wait for each other"
    print("compiled")
"""


def run(code, simulated):
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1" if simulated else "0"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_kernels_do_what_their_twins_do():
    assert run(SIMULATED, simulated=True) == "as their twins"


def test_the_kernels_compile():
    if run(COMPILED, simulated=False) == "libnvvm is missing":
        pytest.skip("libnvvm, by which numba compiles for CUDA, is not installed")
