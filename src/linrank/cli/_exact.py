"""Options of an exact fit: those that LinearRanker has as parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click

from ._help import MODEL, SOLVER, Decorator, in_group
from ._options import LOSSES, MISSING, SOLVERS, gathered


def alpha_option(**options: Any) -> Decorator:
    """--alpha: a number, or "auto"."""

    def number_or_auto(text: str) -> float | str:
        try:
            return text if text == "auto" else float(text)
        except ValueError:
            raise click.BadParameter(f"{text!r} is neither a number nor 'auto'.") from None

    return in_group(MODEL, click.option("--alpha", type=number_or_auto, metavar="NUMBER|auto", **options))


@dataclass(frozen=True)
class Exact:
    """Parameters of LinearRanker; None is its default."""

    loss: str | None = None
    solver: str | None = None
    preferences: str | None = None
    query_weighting: str | None = None
    scale: bool | None = None
    tol: float | None = None
    max_iter: int | None = None
    missing: str | None = None
    l1_ratio: float | None = None
    monotonic_cst: dict[str, float] | None = None
    bounds: Any = None


def _signs(_: click.Context, __: click.Parameter, texts: tuple[str, ...]) -> dict[str, float] | None:
    """NAME=1 or NAME=-1, several separated by commas or given one by one."""
    return {name: _sign(name, sign) for name, sign in _named("NAME=1 or NAME=-1", texts)} or None


def _sign(name: str, text: str) -> int:
    if text not in ("1", "+1", "-1", "0"):
        raise click.BadParameter(f"{name}={text} is not understood: write {name}=1 or {name}=-1.")
    return int(text)


def _bounds(_: click.Context, __: click.Parameter, texts: tuple[str, ...]) -> Any:
    """NAME=LOWER:UPPER, either of which may be left out; LOWER:UPPER alone is for every weight."""
    if len(texts) == 1 and "=" not in texts[0]:
        return _ends(texts[0])
    return {name: _ends(ends) for name, ends in _named("NAME=LOWER:UPPER, or LOWER:UPPER for all", texts)} or None


def _ends(text: str) -> list[float | None]:
    lower, colon, upper = text.partition(":")
    try:
        if colon:
            return [float(end) if end.strip() else None for end in (lower, upper)]
    except ValueError:
        pass
    raise click.BadParameter(f"{text!r} is not a pair of bounds: write 0:1, or :0 for no lower one.")


def _named(form: str, texts: tuple[str, ...]) -> list[tuple[str, str]]:
    """Names and what is said of each."""
    parts = [part for text in texts for part in (text.split(",") if _is_list(text) else [text])]
    if wrong := [part for part in parts if "=" not in part]:
        raise click.BadParameter(f"{wrong[0]!r} is not understood: write {form}.")
    return [(name.strip(), value.strip()) for name, _, value in (part.rpartition("=") for part in parts)]


def _is_list(text: str) -> bool:
    """Whether all parts between commas say something of a name: a name itself may hold a comma."""
    return all("=" in part for part in text.split(","))


exact_options = gathered(
    "exact",
    Exact,
    in_group(
        MODEL,
        click.option("--loss", type=click.Choice(LOSSES), metavar="NAME",
                     help=f"{', '.join(LOSSES)}.  [default: squared_hinge; hinge with sgd]"),
        click.option("--missing", type=click.Choice(MISSING), metavar="WORD",
                     help="What NaN means: error, zero, or the column's mean.  [default: error]"),
        click.option("--scale/--no-scale", default=None,
                     help="Divide columns by their deviation, or not.  [default: sparse ones by their typical size]"),
        click.option("--preferences", metavar="WORD|FILE",
                     help="Which levels are compared: full (all), chain (neighbours), edges such as '0<1,1<2:0.5' "
                     "(level 2 over level 1 with weight 0.5), or a file of them.  [default: full]"),
        click.option("--query-weighting", type=click.Choice(("pairs", "queries")), metavar="WORD",
                     help="Whether all pairs or all queries count the same.  [default: pairs]"),
        click.option("--l1-ratio", type=float, metavar="SHARE",
                     help="Share of the l1 norm in the penalty, 0 to 1: above 0, features that are not needed get a "
                     "weight of 0.  [default: 0]"),
        click.option("--monotonic", "monotonic_cst", multiple=True, callback=_signs, metavar="NAME=SIGN",
                     help="Sign of a weight: price=-1 is not positive, price=1 not negative; may be repeated. Features "
                     "without names go by their number."),
        click.option("--bounds", multiple=True, callback=_bounds, metavar="NAME=LOWER:UPPER",
                     help="Bounds of a weight, in the units of the data, as in price=:0; may be repeated. 0:1 alone "
                     "is for every weight."),
    ),
    in_group(
        SOLVER,
        click.option("--solver", type=click.Choice(("auto", *SOLVERS, "sgd")), metavar="NAME",
                     help=f"auto, {', '.join(SOLVERS)}, or sgd: stochastic descent on drawn pairs.  [default: auto]"),
        click.option("--tol", type=float, help="Certified gap to reach, relative.  [default: 0.001]"),
        click.option("--max-iter", type=int, metavar="N", help="Most iterations.  [default: 1000]"),
    ),
)  # fmt: skip
