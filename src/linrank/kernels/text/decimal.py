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

from .._jit import inlined, inner

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
FAR = 10**12  # an exponent as good as any larger one
#: The digit that each byte stands for; 10 where it is none.
DIGIT = np.full(256, 10)
DIGIT[48:58] = range(10)


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


@inner
def scaled(m: Any, q: int) -> tuple[float, int]:
    """Return m * 10^q for an integer 0 < m < 2^64, correctly rounded; FLOAT, HUGE, or HARD where it is not decided."""
    if q > LARGEST_Q or q < SMALLEST_Q:
        return 0.0, HUGE if q > 0 else HARD
    shift, step = 0, 32
    while step > 0:  # until the top bit is set
        if m >> U(64 - step) == U(0):
            m = m << U(step)
            shift += step
        step >>= 1
    high, low = _high_product(m, HIGH[q - SMALLEST_Q]), m * HIGH[q - SMALLEST_Q]
    if high & U(0x1FF) == U(0x1FF):  # the lower half of the power may matter
        extra = _high_product(m, LOW[q - SMALLEST_Q])
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
    if low <= ONE and -4 <= q <= 23 and bits & U(3) == ONE and bits << U(upper + 9) == high:
        bits = bits - ONE  # halfway: to even
    bits = (bits + (bits & ONE)) >> ONE
    exponent += 1
    if exponent > 971 or (exponent == 971 and bits == EXACT):
        return 0.0, HUGE
    return math.ldexp(np.float64(bits), int(exponent)), FLOAT


@inner
def _leading(text: Any, i: int, q: int) -> tuple[Any, int, bool]:
    """The leading 19 digits of a number from its first digit on, what power of ten they stand for, and if more matter.

    That of all its digits is q.
    """
    m, seen, more = U(0), 0, False
    while text[i] == POINT or DIGIT[text[i]] < 10:
        digit = DIGIT[text[i]]
        if digit < 10 and seen < MOST_DIGITS:
            m = m * TEN + U(digit)
            seen += bool(m > U(0))
        elif digit < 10:
            q += 1
            more |= digit > 0
        i += 1
    return m, q, more


@inner
def _unusual(text: Any, first: int, i: int, m: Any, q: int, n_digits: int) -> tuple[float, int, int]:
    """A number with an exponent or many digits, or none: its digits are text[first:i], which stand for m * 10^q."""
    if n_digits == 0:
        if i == first and text[i] | 32 == 110 and text[i + 1] | 32 == 97 and text[i + 2] | 32 == 110:
            return np.nan, i + 3, NAN
        return 0.0, i, NONE
    if text[i] | 32 == 101:
        i += 1
        sign = text[i]
        i += sign == MINUS or sign == PLUS
        start, power = i, 0
        while DIGIT[text[i]] < 10:
            power = 10 * power + DIGIT[text[i]] if power < FAR else FAR
            i += 1
        if i == start:
            return 0.0, i, NONE
        q += -power if sign == MINUS else power
    more = False
    if n_digits > MOST_DIGITS:
        m, q, more = _leading(text, first, q)
    if m == U(0):
        return 0.0, i, FLOAT
    value, kind = scaled(m, q)
    if more:
        above, kind_above = scaled(m + ONE, q)
        if kind != kind_above or above != value:
            return 0.0, i, HARD
    return value, i, kind


@inlined
def number(text: Any, i: int) -> tuple[float, int, int]:
    """Read [+-]digits[.digits][e[+-]digits] or nan at text[i]; the text must go on with a byte that is none of these.

    Returns the float, the position after it, and what it is: NONE, FLOAT, HARD, NAN or HUGE.
    """
    sign = text[i]
    i += sign == MINUS or sign == PLUS
    first, m, q = i, U(0), 0
    digit = U(text[i]) - ZERO
    while digit <= NINE:
        m = m * TEN + digit
        i += 1
        digit = U(text[i]) - ZERO
    n_digits = i - first
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
    kind = FLOAT
    if n_digits == 0 or n_digits > MOST_DIGITS or m > EXACT or q < -LARGEST_POWER or text[i] | 32 == 101:
        value, i, kind = _unusual(text, first, i, m, q, n_digits)
    else:
        value = np.float64(np.int64(m)) / POWERS[-q]
    return -value if sign == MINUS and kind != NAN else value, i, kind
