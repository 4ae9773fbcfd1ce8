"""Shared setup: numba's cache must be chosen before numba is imported."""

import hashlib
import os
import signal
import tempfile
from pathlib import Path

import pytest

KERNELS = Path(__file__).parent.parent / "src" / "linrank" / "kernels"

# An edited helper does not invalidate the cached kernels that call it from other files, so the cache of the tests
# lives in a folder named by the kernels' contents.
os.environ.setdefault("SCIPY_ARRAY_API", "1")  # or scikit-learn leaves out one of its checks
if "NUMBA_CACHE_DIR" not in os.environ:
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(KERNELS.rglob("*.py")))).hexdigest()
    os.environ["NUMBA_CACHE_DIR"] = str(Path(tempfile.gettempdir()) / f"linrank-numba-{digest[:16]}")

from hypothesis import settings  # noqa: E402

settings.register_profile("linrank", deadline=None, print_blob=True)
settings.load_profile("linrank")

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background

UNCOMPILED = os.environ.get("NUMBA_DISABLE_JIT") == "1"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if UNCOMPILED:  # integers wrap silently in compiled code; numpy's scalars warn about it
        for item in items:
            item.add_marker(pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning"))
