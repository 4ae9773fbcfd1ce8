"""Which device is meant, whether it is there, and whether it has room: each refusal a sentence that names the cure."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from ..._errors import DataError, ParameterError
from ...data.ranking_data import RankingData
from .hessian import LONGEST, MAX_HESSIAN
from .matrix import BLOCK_ENTRIES
from .point import DeviceLoss
from .sums import FEW_LEVELS

#: Bytes, as `tests/engines/device/test_torch_memory.py` counts them: of a member in the layout, of an entry of a CSR
#: beyond its two copies, of a member in a fit by sorting, and of it for each level, or for each bit of many levels.
LAYOUT_BYTES, ENTRY_BYTES, STEP_BYTES, LEVEL_BYTES, BIT_BYTES = 96, 56, 900, 30, 100
#: Copies of a block in float64 that exist at once.
COPIES = 9


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


def bytes_of_data(data: RankingData, device: Any) -> int:
    """Of X, where it does not lie there already, of rankings, and of what is worked out block by block."""
    X, p = data.X, data.preferences
    if sp.issparse(X):  # twice; and, of each entry, some numbers and where it stands
        features = 2 * (X.data.nbytes + X.indices.nbytes) + ENTRY_BYTES * X.data.size
    else:
        there = torch.is_tensor(X) and X.device == device
        features = (0 if there else X.shape[0] * X.shape[1] * X.itemsize) + COPIES * 8 * _block_entries(data)
    return int(features + LAYOUT_BYTES * p.n_members)


def bytes_of_loss(data: RankingData, how: DeviceLoss[Any]) -> int:
    """Of a loss while a solver searches a line: three evaluations are kept, and a fourth is made."""
    p = data.preferences
    levels = int(np.diff(p.ranking_levels).max(initial=1))
    tables = LEVEL_BYTES * levels if levels <= FEW_LEVELS else BIT_BYTES * levels.bit_length()
    return int((how.member_bytes or STEP_BYTES + tables) * p.n_members)


def _block_entries(data: RankingData) -> int:
    """Most entries of X, or of a Hessian's batch, that are worked on at a time."""
    p, d = data.preferences, data.n_features
    batch = p.n_members * max(d, min(p.longest, LONGEST)) if d <= MAX_HESSIAN else 0
    return min(max(data.n_rows * d, batch), BLOCK_ENTRIES)


def free_bytes(device: Any) -> int | None:
    """What is free on a device; None on the CPU, where the system decides."""
    return None if device.type == "cpu" else int(torch.cuda.mem_get_info(device)[0])


def check_memory(needed: int, device: Any) -> None:
    """Refuse what will not fit, before work begins."""
    free = free_bytes(device)
    if free is not None and needed > free:
        raise DataError(
            f"A fit needs about {needed / 1e9:.2f} GB on the device, where {free / 1e9:.2f} GB are free: give "
            "float32 features, several devices, or a part of the data."
        )
