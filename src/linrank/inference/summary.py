"""The table of an inference: text, HTML, a dataframe, and plain values."""

from __future__ import annotations

import html
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._errors import ParameterError
from .._text import printable
from ..rankers.explanation import shortened

if TYPE_CHECKING:
    from .result import Inference

WIDTH = 80
#: Characters of a name, and of each column: together WIDTH.
NAME, WIDTHS = 16, (9, 9, 8, 7, 7, 9, 9, 6)
#: Heads of the columns in text, and names in frames and JSON.
COLUMNS = {
    "weight": "weight",
    "w x dev": "weight_times_deviation",
    "std err": "standard_error",
    "z": "z",
    "P>|z|": "p",
    "low": "low",
    "high": "high",
    "data": "information",
}
PENALISED = (
    "The intervals are of the penalised optimum, what this alpha would give on all the data there could be. data: the "
    "part of a weight's information that is the data's; the rest is the penalty's, which shrinks towards 0."
)


@dataclass(frozen=True)
class Summary:
    """Facts, a row for each feature, and what to distrust."""

    facts: tuple[tuple[str, str], ...]
    names: tuple[str, ...]
    cells: tuple[tuple[float, ...], ...]
    reasons: tuple[str, ...]
    notes: tuple[str, ...]
    level: float

    @classmethod
    def of(cls, found: Inference, level: float) -> Summary:
        """The summary of an inference."""
        low, high = found.interval(level).T
        columns = (
            *(found.coef, found.coef * found.deviations, found.standard_errors, found.z, found.p),
            *(low, high, found.information),
        )
        f = found.facts
        quantiles = "normal" if np.isinf(found.df) else f"t({found.df:.0f})"
        facts = (
            *((name, f"{f[name]:,}") for name in ("rows", "queries", "pairs")),
            ("loss", str(f["loss"])),
            *((name, f"{f[name]:.6g}") for name in ("alpha", "objective", "gap")),
            ("status", str(f["status"])),
            ("independent", f"{found.n_units:,} {found.units}"),
            ("method", found.method),
            ("quantiles", quantiles),
        )
        cells = tuple(tuple(float(x) for x in row) for row in np.column_stack(columns))
        return cls(facts, found.names, cells, found.reasons, found.notes, level)

    @property
    def heads(self) -> list[str]:
        """Of the columns."""
        span = f"{100 * self.level:g} %"
        return [{"low": f"[{span}", "high": f"{span}]"}.get(head, head) for head in COLUMNS]

    def __str__(self) -> str:
        lines = ["Weights of a linear ranker".center(WIDTH).rstrip(), "=" * WIDTH]
        for k in range(0, len(self.facts), 2):
            lines.append("".join(f"{name + ':':<13}{value:<27}" for name, value in self.facts[k : k + 2]).rstrip())
        heads = (f"{head:>{width}}" for head, width in zip(self.heads, WIDTHS, strict=True))
        lines += ["-" * WIDTH, " " * NAME + "".join(heads), "-" * WIDTH]
        for name, row in zip(self.names, self.cells, strict=True):
            cells = (f"{_cell(x, width - 1):>{width}}" for x, width in zip(row, WIDTHS, strict=True))
            lines.append(f"{shortened(printable(name), NAME - 1):<{NAME}}" + "".join(cells))
        lines.append("=" * WIDTH)
        for text in (PENALISED, *self.all_notes):
            lines += textwrap.wrap(text, WIDTH, initial_indent="- ", subsequent_indent="  ")
        return "\n".join(lines)

    @property
    def all_notes(self) -> list[str]:
        """What to distrust, and why weights have no standard error."""
        without: dict[str, list[str]] = {}
        for name, reason in zip(self.names, self.reasons, strict=True):
            if reason:
                without.setdefault(reason, []).append(name)
        return [*self.notes, *(f"No standard error of {listed(names)}: {reason}." for reason, names in without.items())]

    def _repr_html_(self) -> str:
        def text(value: str) -> str:
            return html.escape(printable(value))

        facts = "".join(f"<tr><th>{text(name)}</th><td>{text(value)}</td></tr>" for name, value in self.facts)
        head = "".join(f"<th>{text(name)}</th>" for name in ("", *self.heads))
        rows = "".join(
            f"<tr><th>{text(name)}</th>" + "".join(f"<td>{text(_cell(x))}</td>" for x in row) + "</tr>"
            for name, row in zip(self.names, self.cells, strict=True)
        )
        notes = "".join(f"<li>{text(note)}</li>" for note in (PENALISED, *self.all_notes))
        return (
            f"<table>{facts}</table><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table><ul>{notes}</ul>"
        )

    def to_frame(self) -> Any:
        """A pandas dataframe, a row for each feature."""
        try:
            import pandas
        except ImportError:
            raise ParameterError("to_frame needs pandas: install pandas, or take the attributes.") from None
        frame = pandas.DataFrame(list(self.cells), index=list(self.names), columns=list(COLUMNS.values()))
        frame["reason"] = list(self.reasons)
        return frame

    def rows(self) -> list[dict[str, Any]]:
        """The table as plain values."""
        return [
            {"feature": name, **dict(zip(COLUMNS.values(), row, strict=True)), "reason": reason or None}
            for name, row, reason in zip(self.names, self.cells, self.reasons, strict=True)
        ]


def _cell(x: float, most: int = 9) -> str:
    """Four digits, or as many as fit into so many characters."""
    for text in (f"{x:.{n}g}" for n in (4, 3, 2, 1)):
        short = text.replace("e-0", "e-").replace("e+0", "e+")
        if len(short) <= most:
            return short
    return short


def listed(names: list[str], most: int = 5) -> str:
    """Some names in a sentence."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(shortened(printable(name), 32) for name in names[:most]) + more
