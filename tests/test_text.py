"""Text from data as it is shown."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linrank._text import one_word, printable


@given(st.text(st.characters()))
def test_what_is_shown_is_printable_and_shown_again_the_same(text):
    shown = printable(text)
    assert all(c == " " or unicodedata.category(c)[0] not in "CZ" for c in shown)
    assert printable(shown) == shown
    assert shown == text or not text.isprintable()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("price in EUR [bold]", "price in EUR [bold]"),
        ("größe 日本", "größe 日本"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("a\nb\t", "a\\nb\\t"),
        ("\x9b2J\x7f", "\\x9b2J\\x7f"),
        ("\u202eevil\u2066", "\\u202eevil\\u2066"),
        (b"caf\xe9".decode("utf-8", "surrogateescape"), "caf\\xe9"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_is_spelled_out(text, shown):
    assert printable(text) == shown


@given(st.text())
def test_a_word_is_one_word_or_none(text):
    word = one_word(text)
    assert word.split() == ([word] if text.split() else [])
    assert word.isprintable()
