"""Working memory: arrays that are used again, lent to one task at a time."""

import numpy as np
import pytest

from linrank._work import Work, WorkPool


def test_arrays_grow_and_are_used_again():
    work = Work()
    first = work.take("a", 10, np.float64)
    assert (first.size, first.dtype) == (10, np.float64)
    assert np.shares_memory(work.take("a", 5, np.float64), first)
    assert work.take("a", 5, np.float64).size == 5
    assert not np.shares_memory(work.take("b", 10, np.float64), first)
    larger = work.take("a", 20, np.float64)
    assert larger.size == 20
    assert np.shares_memory(work.take("a", 10, np.float64), larger)
    assert work.take("a", 10, np.int32).dtype == np.int32


def test_zeros_are_zeros_again():
    work = Work()
    work.zeros("a", 4, np.int64)[:] = 7
    assert not np.any(work.zeros("a", 4, np.int64))


def test_one_task_at_a_time():
    pool = WorkPool()
    with pool.lend() as one, pool.lend() as two:
        assert one is not two
        seen = {id(one), id(two)}
    with pool.lend() as again:
        assert id(again) in seen


def test_what_an_interrupted_task_had_is_not_lent_again():
    """Other threads may still write there."""
    pool = WorkPool()
    with pytest.raises(KeyboardInterrupt), pool.lend() as lost:
        raise KeyboardInterrupt
    with pool.lend() as after:
        assert after is not lost
