"""Attributes of a fitted ranker that are computed when they are first asked for."""

from __future__ import annotations

from typing import Any, Protocol

PENDING = "_pending"


class Unevaluated(Protocol):
    """What knows how to compute them."""

    def evaluated(self) -> dict[str, Any]:
        """All of them, by name."""


class Evaluated:
    """A fact of a fit: it is there already, or all of them are computed at once and what they depend on is let go."""

    def __init__(self, fact: str) -> None:
        self.fact = fact

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self.name = name

    def __get__(self, ranker: Any, owner: type[Any] | None = None) -> Any:
        if ranker is None:
            return self
        if self.name not in ranker.__dict__:
            Evaluated.settle(ranker)
        if self.name not in ranker.__dict__:
            raise AttributeError(f"This {type(ranker).__name__} has no {self.name}: call fit first.")
        return ranker.__dict__[self.name]

    def __set__(self, ranker: Any, value: Any) -> None:
        ranker.__dict__[self.name] = value

    @staticmethod
    def later(ranker: Any, what: Unevaluated) -> None:
        """From now on the facts are those of this fit."""
        for name in _names(ranker):
            ranker.__dict__.pop(name, None)
        ranker.__dict__[PENDING] = what

    @staticmethod
    def now(ranker: Any, **facts: Any) -> None:
        """From now on the facts are these."""
        ranker.__dict__.pop(PENDING, None)
        ranker.__dict__.update({name: facts[fact] for name, fact in _names(ranker).items()})

    @staticmethod
    def settle(ranker: Any) -> None:
        """Compute what is pending."""
        pending = ranker.__dict__.get(PENDING)
        if pending is not None:
            Evaluated.now(ranker, **pending.evaluated())


def _names(ranker: Any) -> dict[str, str]:
    """Attributes of this kind, and the facts they tell."""
    found: dict[str, str] = {}
    for kind in type(ranker).__mro__:
        found |= {name: member.fact for name, member in vars(kind).items() if isinstance(member, Evaluated)}
    return found
