"""Numbers as files of text spell them."""

from __future__ import annotations

import math


def number(token: str) -> float:
    """The finite number that a text spells, blanks around it or not; a ValueError where it spells none.

    Python's `float` takes ``1_0``, ``nan``, ``inf``, digits of other scripts, and ``1e999`` for infinity as well.
    """
    value = float(token)
    if not math.isfinite(value) or "_" in token or not token.isascii():
        raise ValueError(token)
    return value


#: No float needs more significant digits to be told from its neighbours and the middles between them.
MOST_DIGITS = 800


def shortened(token: str) -> str:
    """A decimal number with at most some 800 digits that rounds to the same float64 and float32 as this one. O(n).

    Of the digits left out it only matters whether one of them is not 0: a 1 stands for that.
    """
    mantissa, _, exponent = token.lower().partition("e")
    if len(mantissa) <= MOST_DIGITS:
        return token
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, part = mantissa.lstrip("+-").partition(".")
    digits = (whole + part).lstrip("0")
    kept, rest = digits[:MOST_DIGITS], digits[MOST_DIGITS:]
    return f"{sign}{kept or '0'}{'1' if rest.strip('0') else '0'}e{_power(exponent) - len(part) + len(rest) - 1}"


def _power(exponent: str) -> int:
    """An exponent, or one that is as good: Python refuses whole numbers of more than 4300 digits."""
    size = exponent.lstrip("+-").lstrip("0")
    value = int(size or "0") if len(size) <= 12 else 10**12
    return -value if exponent.startswith("-") else value
