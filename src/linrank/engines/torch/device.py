"""Which device is meant, whether it is there, and whether it has room: each refusal a sentence that names the cure."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp
import torch

from ..._errors import DataError, ParameterError
from ...data.ranking_data import RankingData
from .layout import MEMBER_BYTES


def find_device(name: str) -> Any:
    """The torch device that a name of ours stands for."""
    if name == "torch:cpu":
        return torch.device("cpu")
    kind = name.split(":")[0]
    if kind == "mps":
        raise ParameterError("device='mps' has no float64, in which losses are summed: use 'cuda', or leave it out.")
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or device.type != "cuda":
        raise ParameterError(
            f"device={name!r} is not known: use 'cuda', 'cuda:1', ..., 'torch:cpu', a list of them, or leave it out."
        )
    if not torch.backends.cuda.is_built():
        raise ParameterError(
            f"device={name!r} needs a build of torch with CUDA, and this one has none: install one, or leave it out."
        )
    if not torch.cuda.is_available() or (device.index or 0) >= torch.cuda.device_count():
        n = torch.cuda.device_count() if torch.cuda.is_available() else 0
        raise ParameterError(
            f"device={name!r} is not there, torch sees {n} CUDA devices: name another, or leave it out."
        )
    return device


def bytes_needed(data: RankingData) -> int:
    """Of X, where it does not lie there already, of rankings, and of an evaluation at its peak."""
    X = data.X
    if sp.issparse(X):  # twice, and an entry's product in float64
        entries = 2 * (X.data.nbytes + X.indices.nbytes) + 16 * X.data.size
    else:
        entries = 0 if torch.is_tensor(X) and X.device.type != "cpu" else X.shape[0] * X.shape[1] * X.itemsize
    return int(entries + MEMBER_BYTES * data.preferences.n_members)


def free_bytes(device: Any) -> int | None:
    """What is free on a device; None on the CPU, where the system decides."""
    return None if device.type == "cpu" else int(torch.cuda.mem_get_info(device)[0])


def check_memory(data: RankingData, device: Any) -> None:
    """Refuse data that will not fit, before any work begins."""
    free, needed = free_bytes(device), bytes_needed(data)
    if free is not None and needed > free:
        raise DataError(
            f"The data needs about {needed / 1e9:.2f} GB on the device, where {free / 1e9:.2f} GB are free: give "
            "float32 features, several devices, or a part of the data."
        )
