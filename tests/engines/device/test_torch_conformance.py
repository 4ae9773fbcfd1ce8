"""The torch engine keeps the contract of engines, unchanged, and so do two of them."""

import pytest

from linrank.data.parts import split_queries
from linrank.engines import SumEngine
from linrank.engines.open import open_engine
from linrank.testing import check_engine, engine_cases

pytestmark = pytest.mark.torch
LARGE = [name for name in engine_cases() if "giant" in name or "more than" in name]


def on_cpu(data):
    return open_engine(data, device="torch:cpu")


def test_small_cases():
    check_engine(on_cpu, cases=[name for name in engine_cases() if name not in LARGE])


@pytest.mark.parametrize("name", LARGE)
def test_large_cases(name):
    check_engine(on_cpu, cases=[name])


def test_two_devices():
    check_engine(lambda data: open_engine(data, device=["torch:cpu", "torch:cpu"]), cases=4)


def test_parts_without_pairs():
    def one_by_one(data):
        return SumEngine([on_cpu(part) for part in split_queries(data, 4)])

    check_engine(one_by_one, cases=["queries without pairs", "queries of one row", "one pair"])
