"""Decimal numbers: the float that Python reads, to the last bit."""

import math
import re
import struct
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linrank.io._block import nearest_single
from linrank.io._numbers import shortened
from linrank.kernels._jit import uncounted
from linrank.kernels.text.decimal import (
    FLOAT,
    HARD,
    HUGE,
    NAN,
    NONE,
    SMALLEST_Q,
    _leading_bits,
    number,
    scaled,
)

pytestmark = pytest.mark.kernels


@uncounted
def number_at(text, i):
    """`number`, which only kernels can call."""
    return number(text, i)


@uncounted
def called(m, q):
    """`scaled`, which only kernels can call."""
    return scaled(m, q)


NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def read(token: str) -> tuple[float, int, int]:
    return number_at(np.frombuffer(bytearray(token.encode() + b" \n\n\n"), dtype=np.uint8), 0)


def assert_read(token: str) -> int:
    """The number is Python's, or hard where it may be."""
    value, end, kind = read(token)
    expected = float(token)
    assert end == len(token)
    if kind == HARD:
        digits = re.sub(r"\D", "", token.lower().split("e")[0]).lstrip("0")
        assert len(digits) > 19 or abs(expected) < 1e-300, token
    elif kind == HUGE:
        assert math.isinf(expected), token
    else:
        assert kind == FLOAT
        assert struct.pack("d", value) == struct.pack("d", expected), token
    return kind


DIGITS = st.text("0123456789", min_size=1, max_size=25)
TOKENS = st.builds(
    lambda sign, a, b, e: f"{sign}{a}{b}{e}",
    st.sampled_from(["", "+", "-"]),
    DIGITS,
    st.one_of(st.just(""), st.just("."), DIGITS.map(".{}".format)),
    st.one_of(st.just(""), st.integers(-400, 400).map("e{}".format), st.integers(0, 330).map("E+{}".format)),
)


@given(TOKENS)
@settings(max_examples=500)
def test_any_number(token):
    assert_read(token)


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["{!r}", "{:.17g}", "{:.15e}", "{:.25f}"]))
@settings(max_examples=500)
def test_every_float_comes_back(value, form):
    assert_read(form.format(value))


@given(st.integers(0, 2**53 - 1), st.integers(-30, 25), st.integers(-3, 3))
@settings(max_examples=300)
def test_numbers_midway_between_two_floats(m, exponent, off):
    """m + 1/2 in units of 2^exponent, spelled out, and a last digit more or less."""
    middle = Fraction(2 * (m | 1 << 52) + 1) * Fraction(2) ** exponent
    digits = 40 if exponent < 0 else 0
    token = str(middle.numerator * 10**digits // middle.denominator + off)
    assert_read(f"{token[:-digits]}.{token[-digits:]}" if digits else token)


@pytest.mark.parametrize(
    ("token", "kind"),
    [
        *[
            (token, FLOAT)
            for token in ("0", "-0", "0.0", ".5", "5.", "1e0", "1E+2", "0e999", "0.000000000000000000001")
        ],
        *[
            (token, FLOAT)
            for token in ("9007199254740993", "18446744073709551615", "9999999999999999999", "1e22", "1e23")
        ],
        *[(token, FLOAT) for token in ("1.7976931348623157e308", "2.2250738585072014e-308", "0" * 50 + "1.5")],
        *[(token, HUGE) for token in ("1e309", "1.8e308", "1e999999999999999999", "-1e400", "1.7976931348623159e308")],
        *[(token, HARD) for token in ("5e-324", "1e-400", "2.2250738585072011e-308")],
        *[(token, NAN) for token in ("nan", "NaN", "NAN", "-nan", "+nAn")],
        *[(token, NONE) for token in ("", ".", "+", "-", "e5", "+.", "inf", "-inf", "infinity", "na", "n", "x", "--1")],
        *[(token, NONE) for token in ("1e", "1e+", "1.5e-", "\N{ARABIC-INDIC DIGIT ONE}", "_1")],
    ],
)
def test_kinds(token, kind):
    value, _, found = read(token)
    assert found == kind
    if kind == FLOAT:
        assert struct.pack("d", value) == struct.pack("d", float(token))


def test_ends_where_python_would_not_go_on():
    for token, used in (("1.5.5", 3), ("1e5e5", 3), ("12abc", 2), ("1_000", 1), ("0x10", 1), ("1.5f", 3), ("nanx", 3)):
        assert read(token)[1] == used


def test_the_table_of_powers_is_what_the_proof_needs():
    """128 bits with the top one set: at most the power, by less than one unit, or just above it for negative q."""
    for q in range(SMALLEST_Q, 309):
        bits, exponent = _leading_bits(q), ((217706 * q) >> 16) - 127
        power = Fraction(10) ** q / Fraction(2) ** exponent
        assert 2**127 <= bits < 2**128
        assert bits <= power < bits + 1 if q >= 0 else bits - 1 <= power < bits


@given(st.integers(1, 2**64 - 1), st.integers(-350, 315))
@settings(max_examples=500)
def test_scaled_integers(m, q):
    value, kind = called(np.uint64(m), q)
    expected = float(f"{m}e{q}")
    if kind == FLOAT:
        assert value == expected
    else:
        assert math.isinf(expected) if kind == HUGE else expected < 1e-300


@given(st.floats(width=32, allow_nan=False, allow_infinity=False), st.integers(-2, 2), st.integers(17, 60))
@settings(max_examples=300)
def test_nearest_single(value, off, digits):
    """Numbers midway between two float32, with a digit far behind that decides; compared with exact arithmetic."""
    above = float(np.nextafter(np.float32(value), np.float32(3e38)))
    middle = (Fraction(value) + Fraction(above)) / 2 * (1 + Fraction(off, 10**digits))
    token = f"{middle.numerator * 10**160 // middle.denominator}e-160"
    exact = Fraction(token)
    low, high = sorted([value, above])
    near = nearest_single(token)
    if exact == (Fraction(low) + Fraction(high)) / 2:
        assert near == float(np.float32(float(token)))
    else:
        assert abs(exact - Fraction(near)) == min(abs(exact - Fraction(low)), abs(exact - Fraction(high)))


@pytest.mark.parametrize("zeros", [0, 900, 200_000])
@pytest.mark.parametrize("end", ["", "1", "e3", "1e-3", "e-" + "0" * 5000 + "7", "e" + "9" * 5000, "e-" + "9" * 5000])
def test_a_number_of_hundreds_of_thousands_of_digits_rounds_as_its_first_eight_hundred_say(zeros, end):
    for start in (
        "1.000000059604644775390625",
        "-1.000000178813934326171875",
        "000.0",
        "7" * 300 + ".5",
        "." + "0" * 99,
    ):
        token = f"{start}{'0' * zeros}{end}"
        short = shortened(token)
        assert len(short) < 1000 or token == short
        assert float(short) == float(token)
        if zeros == 200_000:  # the digits themselves cost O(n^2) to be made one whole number
            continue
        exact = Fraction(Decimal(token)) if "9" * 99 not in end else None
        if exact is not None and abs(exact) < 2**127:
            near = Fraction(nearest_single(token))
            step = Fraction(float(np.spacing(np.float32(near))))
            assert abs(exact - near) <= abs(step) / 2
