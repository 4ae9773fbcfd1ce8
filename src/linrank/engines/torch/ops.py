"""Small operations that everything else is made of. None of them brings a number to the host."""

from __future__ import annotations

from typing import Any

import torch

#: A torch tensor; torch's own annotations are not read where types are checked.
Tensor = Any

#: Numbers summed by one thread: a fixed shape, so that the bits do not depend on the number of threads.
RUN = 4096
#: Bits that a sum in whole numbers may take, its sign apart, with one to spare.
BITS = 61
#: Largest exponent of a power of 2 that is asked for: its inverse is a normal number as well.
EXPONENT = 1000


def power(exponent: Tensor) -> Tensor:
    """2^exponent for int64 exponents of up to EXPONENT in size, put together from bits: exact on any device."""
    return ((exponent.clamp(-EXPONENT, EXPONENT) + 1023) << 52).view(torch.float64)


def exponent_of(largest: Tensor) -> Tensor:
    """E with |x| < 2^e, int64."""
    return torch.frexp(largest).exponent.to(torch.int64)


def totals(columns: list[Tensor]) -> Tensor:
    """The sum of each of some vectors of equal length: two launches, the same bits on any number of threads."""
    x = torch.stack(columns)
    x = torch.nn.functional.pad(x, (0, -x.shape[1] % RUN))
    return x.view(len(columns), -1, RUN).sum(2).sum(1)


def prefix(x: Tensor) -> Tensor:
    """Sums of all entries before each place, and of all of them, along the last dimension: int64, which may wrap."""
    return torch.nn.functional.pad(torch.cumsum(x, -1), (1, 0))


def segment_sums(x: Tensor, offsets: Tensor) -> Tensor:
    """Sums of the runs of x that begin at `offsets`; each is added up by one thread."""
    return torch.segment_reduce(x, "sum", offsets=offsets)


def permuted(x: Tensor, order: Tensor) -> Tensor:
    """Out with out[order] = x, order a permutation."""
    out = torch.empty_like(x)
    out[order] = x
    return out
