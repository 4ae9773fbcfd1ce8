"""Features that lie on a device: arrays with `__dlpack__` whose memory this process cannot read.

They are used where they lie. Torch is imported here for such arrays alone, and whoever has one has it.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._errors import DataError

#: The kinds of memory, by DLPack, that numpy reads: the CPU's own, and the CPU's that a device reads as well.
HOST = (1, 3)


def is_far(X: Any) -> bool:
    """Whether features lie on a device."""
    where = None if isinstance(X, np.ndarray) else getattr(X, "__dlpack_device__", None)
    if where is None:
        return False
    try:
        return int(where()[0]) not in HOST
    except (ValueError, BufferError) as error:  # a tensor of a kind that DLPack does not know
        raise DataError(f"X cannot be read where it lies ({error}): give it in this process's memory.") from None


def as_array(X: Any) -> Any:
    """Features in this process's memory as numpy takes them: tensors, and what has `__dlpack__` alone, made so.

    A tensor may ask for gradients, or hold numbers that numpy does not know.
    """
    if isinstance(X, np.ndarray) or not hasattr(X, "__dlpack__"):
        return X
    torch = sys.modules.get("torch")
    if torch is not None and torch.is_tensor(X):
        _refuse_sparse(X, torch)
        return (X.float() if X.dtype == torch.bfloat16 else X).detach().numpy()
    return X if hasattr(X, "__array__") else np.from_dlpack(X)


def with_shape(X: Any) -> Any:
    """X, or the array or tensor of it where it has `__dlpack__` and no shape: scikit-learn counts features by that."""
    if hasattr(X, "shape") or not hasattr(X, "__dlpack__"):
        return X
    return _tensor(X) if is_far(X) else np.from_dlpack(X)


def _refuse_sparse(tensor: Any, torch: Any) -> None:
    if tensor.layout != torch.strided:
        raise DataError("X is a sparse tensor: give it as a scipy CSR matrix, and name the device.")


def check_far(X: Any, *, allow_nan: bool = False) -> Any:
    """Features on a device as a torch tensor, checked there: one number comes back."""
    tensor = _tensor(X)
    import torch

    if tensor.ndim != 2 or tensor.shape[0] == 0 or tensor.shape[1] == 0:
        raise DataError(f"X has shape {tuple(tensor.shape)}: give rows and columns, at least one of each.")
    _refuse_sparse(tensor, torch)
    if tensor.dtype not in (torch.float32, torch.float64):
        tensor = tensor.to(torch.float64)
    if not allow_nan and not bool(torch.isfinite(tensor).all()):
        raise DataError("Input X contains NaN or infinity: drop those rows, or fill the gaps.")
    return tensor


def _tensor(X: Any) -> Any:
    """Features on a device as a torch tensor of the same memory."""
    try:
        import torch
    except ImportError:
        raise DataError(
            'X lies on a device, which needs torch: install "linrank[torch]", or give X in this process\'s memory.'
        ) from None
    if torch.is_tensor(X):
        return X.detach()
    try:
        return torch.from_dlpack(X)
    except (AssertionError, BufferError, RuntimeError, TypeError, ValueError) as error:
        told = str(error).splitlines()[0].rstrip(".")
        raise DataError(
            f"X lies on a device that this torch cannot read ({told}): install a build of torch for it, or give X in "
            "this process's memory."
        ) from None


def fill_far(X: Any, by_mean: bool) -> tuple[Any, NDArray[np.float64]]:
    """Features on a device without NaN, there, and what it was replaced by: the mean of the column's others, or 0."""
    tensor = check_far(X, allow_nan=True)
    import torch

    missing = torch.isnan(tensor)
    fill = torch.zeros(tensor.shape[1], dtype=torch.float64, device=tensor.device)
    if by_mean:
        others = tensor.shape[0] - missing.sum(0)
        fill = tensor.nansum(0, dtype=torch.float64) / others.clamp(min=1)
    return torch.where(missing, fill.to(tensor.dtype), tensor), np.asarray(fill.cpu())


def on_host(X: Any) -> Any:
    """Features in this process's memory; those that are there already are returned as they are."""
    return np.asarray(check_far(X, allow_nan=True).cpu()) if is_far(X) else as_array(X)


def take_rows(X: Any, rows: NDArray[np.int64] | slice) -> Any:
    """Some rows of features on a device, there."""
    import torch

    return X[rows] if isinstance(rows, slice) else X[torch.from_numpy(rows).to(X.device)]
