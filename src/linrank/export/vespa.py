"""Vespa: a rank profile whose first phase is the weighted sum.

A feature's name must be what Vespa calls a rank feature, such as ``bm25(title)``, ``attribute(price)`` or
``fieldMatch(title).proximity``, or the name of a function of the schema. Features of weight 0 are left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from .._errors import DataError
from .._typing import FloatArray
from ._function import LinearFunction, check_name, number
from ._options import Options
from ._target import Target

WORD = r"[A-Za-z_][A-Za-z0-9_]*"
FEATURE = rf"{WORD}(?:\([A-Za-z0-9_.,@$ ]*\))?(?:\.{WORD}(?:\.{WORD})*)?"
RESERVED = r"(?!(?:if|in|f|map|reduce|sum|max|min|rank|true|false)$)"  # words of the expression language


def write(function: LinearFunction, options: Options) -> bytes:
    """The rank profile; a missing value (NaN) is replaced within the expression where the ranker replaces it."""
    cure = "name it after a rank feature, such as bm25(title) or attribute(price), or a function of the schema."
    profile = check_name(options.model, WORD, "Vespa", "a rank profile's name has letters, digits and _ alone.")
    terms = []
    for j, name in enumerate(function.names):
        check_name(name, RESERVED + FEATURE, "Vespa", cure)
        if function.weights[j] == 0:
            continue
        value = name if function.fill is None else f"if (isNan({name}) == 1, {number(function.fill[j])}, {name})"
        terms.append(f"{number(function.weights[j])} * {value}")
    if function.offset != 0 or not terms:
        terms.append(number(function.offset))
    expression = " +\n                ".join(terms)
    return f"""\
rank-profile {profile} {{
    first-phase {{
        expression {{
                {expression}
        }}
    }}
}}
""".encode()


TERM = re.compile(
    rf"(?P<weight>-?[\d.]+(?:e[+-]?\d+)?)"
    rf"(?: \* (?:(?P<plain>{FEATURE})|if \(isNan\((?P<name>{FEATURE})\) == 1, (?P<fill>-?[\d.e+-]+), (?P<again>.+)\)))?"
)


def score(text: bytes, names: Sequence[str], X: FloatArray) -> FloatArray:
    """Scores by evaluating the expression, term by term."""
    found = re.search(r"expression \{\s*(.*?)\s*\}", text.decode(), re.DOTALL)
    if found is None:
        raise DataError("The text holds no expression.")
    values = dict(zip(names, X.T, strict=True))
    scores = np.zeros(len(X))
    for part in re.split(r" \+\n\s+", found[1]):
        term = TERM.fullmatch(part)
        if term is None:
            raise DataError(f"Not a term of a weighted sum: {part!r}.")
        value: FloatArray | float = 1.0
        if term["plain"] is not None:
            value = values[term["plain"]]
        elif term["name"] is not None:
            assert term["name"] == term["again"]
            value = np.where(np.isnan(values[term["name"]]), float(term["fill"]), values[term["name"]])
        scores += float(term["weight"]) * value
    return scores


TARGET: Target = Target(write, score, fills=True)
