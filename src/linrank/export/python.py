"""Python: a file with one function of a mapping from names to values, which needs nothing but Python itself.

Every name is possible. A value that is absent, None or NaN is missing: an error that names it, or what the ranker
puts in its place.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._typing import FloatArray
from ._function import LinearFunction, number
from ._options import Options
from ._target import Target

PLAIN = """\
        if value is None or value != value:
            raise ValueError(f"The feature {name!r} is missing.")
        total += weight * value
"""
FILLED = """\
        total += weight * (FILL[name] if value is None or value != value else value)
"""
FILE = '''\
"""A linear ranking function, exported by linrank: larger scores are better."""

WEIGHTS = {{
{weights}
}}
{fill}

def score(features):
    """The score of a mapping from the names of features to their values."""
    total = {offset}
    for name, weight in WEIGHTS.items():
        value = features.get(name)
{body}    return total
'''


def write(function: LinearFunction, options: Options) -> bytes:
    """The file's text, in ASCII."""
    fill = "" if function.fill is None else f"FILL = {{\n{_entries(function.names, function.fill)}\n}}\n"
    text = FILE.format(
        weights=_entries(function.names, function.weights),
        fill=fill,
        offset=number(function.offset),
        body=PLAIN if function.fill is None else FILLED,
    )
    return text.encode("ascii")


def _entries(names: Sequence[str], values: FloatArray) -> str:
    return "\n".join(f"    {name!a}: {number(value)}," for name, value in zip(names, values, strict=True))


def score(text: bytes, names: Sequence[str], X: FloatArray) -> FloatArray:
    """Scores by running the function on each row."""
    space: dict[str, object] = {}
    exec(compile(text, "<exported function>", "exec"), space)
    run = space["score"]
    assert callable(run)
    return np.array([run(dict(zip(names, row, strict=True))) for row in X.tolist()], dtype=np.float64)


TARGET: Target = Target(write, score, fills=True)
