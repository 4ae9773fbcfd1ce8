"""JSON read strictly: what is ambiguous or not a finite number is refused, and every failure is a ModelFileError."""

from __future__ import annotations

import json
import math
from typing import Any

from .._errors import ModelFileError
from .._text import repeated


def parse(text: bytes, name: str) -> Any:
    """The value that the bytes spell; `name` is the file's, for messages."""
    try:
        return json.loads(
            text.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_constant=_refuse,
            parse_float=_finite,
            parse_int=_whole,
        )
    except UnicodeDecodeError as error:
        reason = f"byte {error.start} is not UTF-8"
    except json.JSONDecodeError as error:
        reason = f"line {error.lineno}, column {error.colno}: {error.msg}"
    except RecursionError:
        reason = "it is nested too deeply"
    except ValueError as error:  # from the hooks, and of integers with thousands of digits
        reason = str(error)
    raise ModelFileError(f"{name} is damaged ({reason}): save the model again or restore a copy.") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    twice = repeated(key for key, _ in pairs)
    if twice is not None:
        raise ValueError(f"the key {twice!r} occurs twice")
    return dict(pairs)


def _refuse(token: str) -> float:
    raise ValueError(f"{token} is not a number")


def _finite(token: str) -> float:
    value = float(token)
    if math.isinf(value):
        raise ValueError(f"{token[:20]} is too large a number")
    return value


def _whole(token: str) -> int:
    """A whole number that a float can hold: whoever computes with it makes it one."""
    _finite(token)
    return int(token)
