"""The one place that chooses an engine."""

from __future__ import annotations

from typing import Any

from .._errors import DataError, ParameterError
from ..data.device import is_far
from ..data.parts import split_queries
from ..data.ranking_data import RankingData
from .base import Engine
from .local import LocalEngine
from .place import Torch, places
from .sum import SumEngine
from .torch.cost import query_costs


def open_engine(data: RankingData, n_jobs: int | None = None, device: Any = None) -> Engine:
    """An engine for the data: on a device that is named, on several, where X lies, or in this process on threads."""
    named = places(device)
    if not named and is_far(data.X):
        named = [_where(data.X)]
    if not named:
        return LocalEngine(data, n_jobs)
    make = _torch_engine(named[0])
    if len(named) == 1:
        return make(data, named[0])
    parts = split_queries(data, len(named), query_costs(data))
    return SumEngine([make(part, place) for part, place in zip(parts, named, strict=False)], at_once=True)


def check_device(device: Any) -> None:
    """Refuse devices that are not there, before any work begins."""
    if named := places(device):
        _torch_engine(named[0])
        from .torch.device import find_device

        for place in named:
            find_device(place.device)


def _where(X: Any) -> Torch:
    """The device that features lie on."""
    if X.device.type != "cuda":
        raise DataError(f"X lies on the device '{X.device}', where nothing can be trained: give it as X.cpu().")
    return Torch(str(X.device))


def _torch_engine(place: Torch) -> Any:
    """The engine's class; torch is imported here, and nowhere before."""
    try:
        from .torch.engine import TorchEngine
    except ImportError as error:
        if (error.name or "").split(".")[0] != "torch":
            raise
        told = f'device={place.device!r} needs torch: install "linrank[torch]", or leave it out.'
        raise ParameterError(told) from None
    return TorchEngine
