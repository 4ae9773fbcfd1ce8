"""The one place that chooses an engine."""

from __future__ import annotations

from typing import Any

from .._errors import ParameterError
from ..data.device import is_far
from ..data.parts import split_queries
from ..data.ranking_data import RankingData
from .base import Engine
from .local import LocalEngine
from .sum import SumEngine


def open_engine(data: RankingData, n_jobs: int | None = None, device: Any = None) -> Engine:
    """An engine for the data: on a device that is named, on several, where X lies, or in this process on threads."""
    names = device_names(device)
    if not names and is_far(data.X):
        names = [str(data.X.device)]
    if not names:
        return LocalEngine(data, n_jobs)
    make = _torch_engine(names)
    if len(names) == 1:
        return make(data, names[0])
    parts = split_queries(data, len(names))
    return SumEngine([make(part, name) for part, name in zip(parts, names, strict=False)], at_once=True)


def device_names(device: Any) -> list[str]:
    """The devices that are meant, of which there may be none; they are not looked for."""
    names = [] if device is None else [device] if isinstance(device, str) else device
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise ParameterError(
            f"device={device!r} is not known: use 'cuda', 'cuda:1', ..., 'torch:cpu', a list of them, or None."
        )
    if device is not None and not names:
        raise ParameterError("device=[] names no device: name one, or use None.")
    return list(names)


def check_device(device: Any) -> None:
    """Refuse devices that are not there, before any work begins."""
    if names := device_names(device):
        _torch_engine(names)
        from .torch.device import find_device

        for name in names:
            find_device(name)


def _torch_engine(names: list[str]) -> Any:
    """The engine's class; torch is imported here, and nowhere before."""
    try:
        from .torch.engine import TorchEngine
    except ImportError as error:
        if (error.name or "").split(".")[0] != "torch":
            raise
        raise ParameterError(f'device={names[0]!r} needs torch: install "linrank[torch]", or leave it out.') from None
    return TorchEngine
