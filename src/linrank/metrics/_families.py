"""The table of metrics: each is entered where its function is defined, by `listwise` or `pairwise`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from .._errors import ParameterError
from ._rows import Value

Function = TypeVar("Function", bound=Callable[..., Value])


@dataclass(frozen=True)
class Family:
    """A metric without its cut.

    Attributes
    ----------
    name : str
        By which it is asked for and shown, "map".
    function : callable
        (y, scores, qid, ...) -> value.
    aliases : tuple of str
        Other names; that of the function is always known.
    pairwise : bool
        Whether it is a metric of pairs, which takes neither a cut nor a preset.
    greater_is_better : bool
        False for errors.
    over_preferences : bool
        Whether it takes `preferences` and `pairs`.
    ties : bool
        Whether it takes the `ties` of pairs.
    threshold : bool
        Whether it takes the `threshold` of relevance.
    """

    name: str
    function: Callable[..., Value]
    aliases: tuple[str, ...]
    pairwise: bool
    greater_is_better: bool = True
    over_preferences: bool = False
    threshold: bool = False
    ties: bool = False


#: Families by name, in the order of their definition.
FAMILIES: dict[str, Family] = {}
#: The name of the family that each name stands for.
NAMES: dict[str, str] = {}


def enter(family: Family) -> None:
    """Enter a family into the table; a name that is taken is refused."""
    for name in dict.fromkeys((family.name, family.function.__name__, *family.aliases)):
        if name in NAMES:
            raise ParameterError(f"The metric {family.name!r} would take the name {name!r} from {NAMES[name]!r}.")
        NAMES[name] = family.name
    FAMILIES[family.name] = family


def pairwise(
    *,
    aliases: Sequence[str] = (),
    greater_is_better: bool = True,
    over_preferences: bool = False,
    threshold: bool = False,
    ties: bool = False,
) -> Callable[[Function], Function]:
    """Enter a function as a metric of pairs, by its own name."""

    def decorate(function: Function) -> Function:
        found = Family(
            function.__name__,
            function,
            tuple(aliases),
            pairwise=True,
            greater_is_better=greater_is_better,
            over_preferences=over_preferences,
            threshold=threshold,
            ties=ties,
        )
        enter(found)
        return function

    return decorate
