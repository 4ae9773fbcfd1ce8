"""Tests on torch's CPU device: skipped, with the reason, where torch is missing."""

import pytest


@pytest.fixture(autouse=True)
def one_thread():
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'linrank[torch]'")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield torch
    torch.set_num_threads(before)
