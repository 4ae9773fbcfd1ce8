"""A reader of SVMlight text that splits each line: the twin of the compiled one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class NaiveRow(NamedTuple):
    """A line of SVMlight: `features` by column from 0; texts as Latin-1, one character per byte."""

    y: float
    qid: str | None
    cost: float
    features: dict[int, float]
    comment: str


_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"


def naive_svmlight(
    text: bytes, round_value: Callable[[str], float] = float, keep_nan: bool = False
) -> tuple[list[NaiveRow], list[int]]:
    """The rows of SVMlight text, by splitting each line, and the numbers of malformed lines."""
    rows, bad = [], []
    for number, line in enumerate(text.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        try:
            row = _naive_line(line.decode("latin-1"), round_value, keep_nan)
        except ValueError:
            bad.append(number)
        else:
            rows += [] if row is None else [row]
    return rows, bad


def _naive_line(line: str, round_value: Callable[[str], float], keep_nan: bool) -> NaiveRow | None:
    body, mark, comment = line.partition("#")
    if "\r" in comment.removesuffix("\r"):
        raise ValueError(comment)
    fields = re.split(r"[ \t\r]+", body.strip(" \t\r"))
    if fields == [""]:
        return None
    qid, cost, features = None, None, dict[int, float]()
    for field in fields[1:]:
        key, _, value = field.partition(":")
        if key == "qid" and value and qid is None:
            qid = value
        elif key == "cost" and value and cost is None:
            cost = _naive_number(value, float)
        elif re.fullmatch("[0-9]{1,10}", key) and 0 < int(key) < 2**31 - 1 and int(key) - 1 not in features:
            nan = keep_nan and re.fullmatch("[+-]?nan", value, re.IGNORECASE)
            features[int(key) - 1] = np.nan if nan else _naive_number(value, round_value)
        else:
            raise ValueError(field)
    label, cost = _naive_number(fields[0], float), 1.0 if cost is None else cost
    return NaiveRow(label, qid, cost, features, comment.removesuffix("\r") if mark else "")


def _naive_number(token: str, round_value: Callable[[str], float]) -> float:
    if not re.fullmatch(_NUMBER, token) or not np.isfinite(round_value(token)):
        raise ValueError(token)
    return round_value(token)
