"""Features that lie on a device: arrays with `__dlpack__` whose memory this process cannot read.

They are used where they lie. Torch is imported here for such arrays alone, and whoever has one has it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._errors import DataError

#: The kinds of memory, by DLPack, that numpy reads: the CPU's own, and the CPU's that a device reads as well.
HOST = (1, 3)


def is_far(X: Any) -> bool:
    """Whether features lie on a device."""
    where = None if isinstance(X, np.ndarray) else getattr(X, "__dlpack_device__", None)
    return where is not None and int(where()[0]) not in HOST


def check_far(X: Any, *, allow_nan: bool = False) -> Any:
    """Features on a device as a torch tensor, checked there: one number comes back."""
    try:
        import torch
    except ImportError:
        raise DataError(
            'X lies on a device, which needs torch: install "linrank[torch]", or give X in this process\'s memory.'
        ) from None
    tensor = (X if torch.is_tensor(X) else torch.from_dlpack(X)).detach()
    if tensor.ndim != 2 or tensor.shape[0] == 0 or tensor.shape[1] == 0:
        raise DataError(f"X has shape {tuple(tensor.shape)}: give rows and columns, at least one of each.")
    if tensor.layout != torch.strided:
        raise DataError("X is a sparse tensor: give it as a scipy CSR matrix, and name the device.")
    if tensor.dtype not in (torch.float32, torch.float64):
        tensor = tensor.to(torch.float64)
    if not allow_nan and not bool(torch.isfinite(tensor).all()):
        raise DataError("Input X contains NaN or infinity: drop those rows, or fill the gaps.")
    return tensor


def on_host(X: Any) -> Any:
    """Features in this process's memory; those that are there already are returned as they are."""
    return np.asarray(check_far(X, allow_nan=True).cpu()) if is_far(X) else X


def take_rows(X: Any, rows: NDArray[np.int64] | slice) -> Any:
    """Some rows of features on a device, there."""
    import torch

    return X[rows] if isinstance(rows, slice) else X[torch.from_numpy(rows).to(X.device)]
