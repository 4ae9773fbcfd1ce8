"""A place to train that is named: a torch device, and the precision of its scores. Nothing is imported for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._errors import ParameterError

#: The precisions of scores, and the least tol that each can certify: rounding moves values by more than a smaller one.
SCORES: dict[str, float] = {"float64": 0.0, "float32": 1e-5}


@dataclass(frozen=True)
class Torch:
    """A torch device.

    Parameters
    ----------
    device : str
        "cuda", "cuda:1", ..., or "torch:cpu", which is for tests.
    scores : {"float64", "float32"}, default="float64"
        Precision to which scores are rounded before they are sorted and compared. In float32 there is one sort in the
        place of two. What rounding may do to the objective is part of `gap_`, and tol must be 1e-5 at least.
    """

    device: str
    scores: str = "float64"

    def __post_init__(self) -> None:
        if not isinstance(self.device, str):
            raise ParameterError(f"device={self.device!r} is not known: use 'cuda', 'cuda:1', ... or 'torch:cpu'.")
        if self.scores not in SCORES:
            raise ParameterError(f"scores={self.scores!r} is not known: use 'float64' or 'float32'.")


def places(device: Any) -> list[Torch]:
    """The devices that are meant, of which there may be none; they are not looked for."""
    given = [] if device is None else [device] if isinstance(device, (str, Torch)) else device
    if not isinstance(given, (list, tuple)) or not all(isinstance(one, (str, Torch)) for one in given):
        raise ParameterError(
            f"device={device!r} is not known: use 'cuda', 'cuda:1', ..., 'torch:cpu', a list of them, or None."
        )
    if device is not None and not given:
        raise ParameterError("device=[] names no device: name one, or use None.")
    return [Torch(one) if isinstance(one, str) else one for one in given]


def check_tolerance(device: Any, name: str, tol: float) -> None:
    """Refuse a tolerance that the scores of a device cannot certify."""
    for place in places(device):
        if tol < SCORES[place.scores]:
            raise ParameterError(
                f"{name}={tol:g} is less than scores in {place.scores} can certify: use {SCORES[place.scores]:g} or "
                "more, or scores='float64'."
            )
