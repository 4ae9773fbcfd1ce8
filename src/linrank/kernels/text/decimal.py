"""Decimal numbers in bytes to floats, correctly rounded: the float that Python's `float` gives, to the last bit.

A number is m * 10^q with an integer m of up to 19 digits. Where m < 2^53 and |q| <= 22 both are exact floats, and one
operation rounds once (Clinger 1990). Otherwise m times a 128-bit approximation of 10^q decides the rounding (Eisel and
Lemire: Number parsing at a gigabyte per second, 2021) in all but a few cases; those, results below 2^-1022 and numbers
of more than 19 digits whose rest matters are left to the caller, as HARD.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._jit import inlined, uncounted

#: What `number` found: no number, a float, one that the caller must round, NaN, or one beyond all floats.
NONE, FLOAT, HARD, NAN, HUGE = 0, 1, 2, 3, 4

U = np.uint64
ZERO, NINE, TEN = U(48), U(9), U(10)
PLUS, MINUS, POINT = 43, 45, 46
LOW32, BITS32, BITS63, ONE = U(0xFFFFFFFF), U(32), U(63), U(1)
EXACT = U(2**53)
LARGEST_POWER = 22  # of ten that is an exact float
POWERS = np.array([10.0**k for k in range(LARGEST_POWER + 1)])
SMALLEST_Q, LARGEST_Q = -342, 308  # beyond them m * 10^q is no normal float for any m below 2^64
MOST_DIGITS = 19


def _leading_bits(q: int) -> int:
    """The leading 128 bits of 10^q (of 5^q, which has the same): truncated for q >= 0, rounded up below."""
    if q >= 0:
        size = (5**q).bit_length()
        return 5**q << (128 - size) if size <= 128 else 5**q >> (size - 128)
    size = (5**-q).bit_length()
    return (1 << (127 + size)) // 5**-q + 1


_TABLE = [_leading_bits(q) for q in range(SMALLEST_Q, LARGEST_Q + 1)]
HIGH = np.array([bits >> 64 for bits in _TABLE], dtype=np.uint64)
LOW = np.array([bits & (2**64 - 1) for bits in _TABLE], dtype=np.uint64)


@inlined
def _high_product(a: Any, b: Any) -> Any:
    """The upper 64 bits of a * b."""
    a1, a0, b1, b0 = a >> BITS32, a & LOW32, b >> BITS32, b & LOW32
    middle = a1 * b0 + ((a0 * b0) >> BITS32)
    other = a0 * b1 + (middle & LOW32)
    return a1 * b1 + (middle >> BITS32) + (other >> BITS32)


@inlined
def _normalised(m: Any) -> Any:
    """The integer m > 0 shifted until its top bit is set, and by how much."""
    shift = 0
    for step in (32, 16, 8, 4, 2, 1):
        if m >> U(64 - step) == U(0):
            m = m << U(step)
            shift += step
    return m, shift


@uncounted
def scaled(m: Any, q: int) -> tuple[float, int]:
    """Return m * 10^q for an integer 0 < m < 2^64, correctly rounded; FLOAT, HUGE, or HARD where it is not decided."""
    if q > LARGEST_Q:
        return 0.0, HUGE
    if q < SMALLEST_Q:
        return 0.0, HARD
    w, shift = _normalised(m)
    high, low = _high_product(w, HIGH[q - SMALLEST_Q]), w * HIGH[q - SMALLEST_Q]
    if high & U(0x1FF) == U(0x1FF):  # the lower half of the power may matter
        extra = _high_product(w, LOW[q - SMALLEST_Q])
        low = low + extra
        if low < extra:
            high = high + ONE
        if low == U(0xFFFFFFFFFFFFFFFF):
            return 0.0, HARD
    upper = 1 if high >> BITS63 > U(0) else 0
    bits = high >> U(upper + 9)  # 53 bits and one to round by
    exponent = ((217706 * q) >> 16) + upper - shift + 10  # floor(q log2 10) is the power's; bits * 2^exponent, so far
    if exponent < -1075:
        return 0.0, HARD
    halfway = low <= ONE and -4 <= q <= 23 and bits & U(3) == ONE and bits << U(upper + 9) == high
    if halfway:
        bits = bits - ONE  # to even
    bits = (bits + (bits & ONE)) >> ONE
    exponent += 1
    if exponent > 971 or (exponent == 971 and bits == EXACT):
        return 0.0, HUGE
    return math.ldexp(np.float64(bits), exponent), FLOAT


@uncounted
def _long(text: Any, i: int, q: int) -> tuple[float, int]:
    """A number of more than 19 digits, from its first digit on; q is the power of ten that all its digits stand for."""
    m, seen, dropped, rest = U(0), 0, 0, U(0)
    while text[i] == POINT or U(text[i]) - ZERO <= NINE:
        if text[i] != POINT:
            digit = U(text[i]) - ZERO
            if seen < MOST_DIGITS:
                m = m * TEN + digit
                if m > U(0):
                    seen += 1
            else:
                dropped += 1
                rest |= digit
        i += 1
    if m == U(0):
        return 0.0, FLOAT
    value, kind = scaled(m, q + dropped)
    if rest > U(0):
        above, kind_above = scaled(m + ONE, q + dropped)
        if kind != kind_above or above != value:
            return 0.0, HARD
    return value, kind


@inlined
def rounded(m: Any, q: int) -> tuple[float, int]:
    """Return m * 10^q, the short way where it is exact."""
    if m <= EXACT and -LARGEST_POWER <= q <= LARGEST_POWER:
        if q < 0:
            return np.float64(m) / POWERS[-q], FLOAT
        return np.float64(m) * POWERS[q], FLOAT
    if m == U(0):
        return 0.0, FLOAT
    return scaled(m, q)


@uncounted
def _exponent(text: Any, i: int) -> tuple[int, int]:
    """The exponent at text[i] and the position after it, negative where there is none."""
    negative = text[i] == MINUS
    if negative or text[i] == PLUS:
        i += 1
    first, value = i, 0
    while U(text[i]) - ZERO <= NINE:
        value = min(10 * value + int(text[i]) - 48, 10**12)
        i += 1
    if i == first:
        return -i, 0
    return i, -value if negative else value


@uncounted
def number(text: Any, i: int) -> tuple[float, int, int]:
    """Read [+-]digits[.digits][e[+-]digits] or nan at text[i]; the text must go on with a byte that is none of these.

    Returns the float, the position after it, and what it is: NONE, FLOAT, HARD, NAN or HUGE.
    """
    negative = text[i] == MINUS
    if negative or text[i] == PLUS:
        i += 1
    first, m = i, U(0)
    digit = U(text[i]) - ZERO
    while digit <= NINE:
        m = m * TEN + digit
        i += 1
        digit = U(text[i]) - ZERO
    n_digits, q = i - first, 0
    if text[i] == POINT:
        i += 1
        point = i
        digit = U(text[i]) - ZERO
        while digit <= NINE:
            m = m * TEN + digit
            i += 1
            digit = U(text[i]) - ZERO
        q = point - i
        n_digits -= q
    if n_digits == 0:
        if i == first and text[i] | 32 == 110 and text[i + 1] | 32 == 97 and text[i + 2] | 32 == 110:
            return np.nan, i + 3, NAN
        return 0.0, i, NONE
    if text[i] | 32 == 101:
        i, shift = _exponent(text, i + 1)
        if i < 0:
            return 0.0, -i, NONE
        q += shift
    if n_digits > MOST_DIGITS:
        value, kind = _long(text, first, q)
    else:
        value, kind = rounded(m, q)
    return -value if negative else value, i, kind
