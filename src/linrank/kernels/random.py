"""Random numbers by counting: number k of a stream is a hash of (seed, k), so a stream can be resumed anywhere.

The hash is SplitMix64's: its state after k steps is seed + k * GOLDEN, and a finaliser scrambles it. Every kernel
that draws from a stream takes the counter of its first number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._jit import inlined, kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
S11, S27, S30, S31, S32 = (np.uint64(shift) for shift in (11, 27, 30, 31, 32))
LOW = np.uint64(0xFFFFFFFF)
ONE = np.uint64(1)
TWO_32 = np.uint64(1 << 32)


@inlined
def scramble(x: Any) -> Any:
    """SplitMix64's finaliser: every bit of x changes half of the result's."""
    x = (x ^ (x >> S30)) * MIX_1
    x = (x ^ (x >> S27)) * MIX_2
    return x ^ (x >> S31)


@inlined
def random_bits(seed: Any, counter: Any) -> Any:
    """64 random bits, number `counter` of the stream."""
    return scramble(seed + (counter + ONE) * GOLDEN)


@inlined
def unit(bits: Any) -> Any:
    """64 random bits as a multiple of 2^-53 from [0, 1)."""
    return np.float64(bits >> S11) * (1.0 / 9007199254740992.0)


@inlined
def below(bits: Any, n: Any) -> Any:
    """64 random bits as an integer from 0 ... n - 1, 0 < n < 2^32, without bias: Lemire, 2019.

    The upper half of 32 bits times n; the few products whose lower half falls short would favour some values, so those
    bits are scrambled anew.
    """
    bound = np.uint64(n)
    product = (bits >> S32) * bound
    if (product & LOW) < bound:
        short = (TWO_32 - bound) % bound
        while (product & LOW) < short:
            bits = scramble(bits + GOLDEN)
            product = (bits >> S32) * bound
    return np.int64(product >> S32)


@kernel
def fill_units(seed: Any, counter: Any, out: Any) -> None:
    """Fill `out` with the stream's numbers from `counter` on, as numbers from [0, 1). O(size)."""
    for n in range(out.size):
        out[n] = unit(random_bits(seed, counter + np.uint64(n)))
