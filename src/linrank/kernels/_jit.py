"""The one place where numba's options are chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba import types
from numba.core import config
from numba.core.errors import NumbaError

from ._compiling import share

F = TypeVar("F", bound=Callable[..., Any])


def _compile(function: F, **options: Any) -> F:
    options = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **options}  # nobody calls it from C
    try:
        compiled: Any = numba.njit(cache=True, **options)(function)
        share(compiled)
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
    return _uncounted(function)


def uncounted_summing(function: F) -> F:
    """The same for a kernel whose sums may be taken in another order."""
    return _uncounted(function, fastmath={"reassoc", "contract"})


def inner(function: F) -> F:
    """The same for a helper that only kernels call: without what Python would need to call it, it compiles sooner.

    Nor is it rewritten first: it has no arithmetic on whole arrays.
    """
    return _uncounted(function, no_cpython_wrapper=True, no_rewrites=True)


def _uncounted(function: F, **options: Any) -> F:
    try:
        return _compile(function, _nrt=False, **options)
    except KeyError:  # numba's own switch, without a promise to keep it: the same code, counting
        return _compile(function, **options)


def inlined(function: F) -> F:
    """Compile a scalar helper of kernels, inlined by LLVM. Array arguments would be counted at each call."""
    compiled: Any = numba.njit(nogil=True, error_model="numpy", forceinline=True)(function)
    return compiled


def inlined_fused(function: F) -> F:
    """The same for sums of products, each product and its sum rounded once where the processor has that instruction."""
    compiled: Any = numba.njit(nogil=True, error_model="numpy", forceinline=True, fastmath={"contract"})(function)
    return compiled


#: Functions that kernels call by their address, as `kernels/rules.py` describes them.
STEP = types.UniTuple(types.float64, 2)(types.int64, *(types.float64,) * 4, types.float64[::1])
PROJECTION = types.float64(types.float64, types.float64, types.float64[::1])


def _is_off() -> bool:
    """Whether numba compiles nothing at all, as NUMBA_DISABLE_JIT asks for."""
    return bool(getattr(config, "DISABLE_JIT", False))


def is_compiled(function: Any) -> bool:
    """Whether numba compiles this function; where it compiles nothing at all, any function will do."""
    return callable(function) and (hasattr(function, "py_func") or _is_off())


def address_of(function: Any, signature: Any) -> Any:
    """The function as an argument of kernels, which do not depend on what it does: they are compiled once for all.

    It is kept on disk where its owner had it so (`kernel` has). Raises a ValueError where it does not compile.
    """
    if _is_off():
        return function
    kept = function.stats.cache_path is not None
    try:
        return numba.cfunc(signature, cache=kept, error_model="numpy")(function.py_func)
    except (NumbaError, TypeError) as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise ValueError(next((line for line in lines if "pipeline" not in line), "no reason given")) from None
