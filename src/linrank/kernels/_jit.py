"""The one place where numba's options are chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])


def _compile(function: F, **options: Any) -> F:
    options = {"nogil": True, "error_model": "numpy", **options}
    try:
        compiled: Any = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # numba finds no writable cache folder: compile anew in each process
        compiled = numba.njit(**options)(function)
    return compiled


def kernel(function: F) -> F:
    """Compile a kernel: GIL released, IEEE arithmetic, cached on disk where a folder can be written."""
    return _compile(function)


def summing_kernel(function: F) -> F:
    """Compile a kernel whose sums may be taken in another order, the same on every run: that makes them vectors."""
    return _compile(function, fastmath={"reassoc", "contract"})


def uncounted(function: F) -> F:
    """Compile a kernel without reference counting, so that its helpers may take arrays. It must not make any."""
    try:
        return _compile(function, _nrt=False)
    except KeyError:  # numba's own switch, without a promise to keep it: the same code, counting
        return _compile(function)


def inlined(function: F) -> F:
    """Compile a scalar helper of kernels, inlined by LLVM. Array arguments would be counted at each call."""
    compiled: Any = numba.njit(nogil=True, error_model="numpy", forceinline=True)(function)
    return compiled


def inlined_fused(function: F) -> F:
    """The same for sums of products, each product and its sum rounded once where the processor has that instruction."""
    compiled: Any = numba.njit(nogil=True, error_model="numpy", forceinline=True, fastmath={"contract"})(function)
    return compiled
