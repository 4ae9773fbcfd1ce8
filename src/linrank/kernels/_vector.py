"""Vector instructions that LLVM does not find by itself, each with its meaning in plain Python.

LLVM unrolls a loop of 32 fixed trips into scalars; these intrinsics state the vector operation instead. They
are plain LLVM vectors, not instructions of one processor. Uncompiled (``NUMBA_DISABLE_JIT=1``), the Python
twins run.
"""

from __future__ import annotations

import os
from typing import Any

from numba import types
from numba.extending import intrinsic

LANES = 32


def _add_after_intrinsic() -> Any:
    from llvmlite import ir

    @intrinsic
    def add_after(typingctx: Any, array: Any, node: Any, child: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            array_type = signature.args[0]
            data = context.make_array(array_type)(context, builder, args[0]).data
            width = array_type.dtype.bitwidth
            element = ir.IntType(width)
            vector = ir.VectorType(element, LANES)
            start = builder.gep(data, [builder.mul(args[1], ir.Constant(args[1].type, LANES))])
            pointer = builder.bitcast(start, vector.as_pointer())
            lane = builder.trunc(args[2], element) if width < 64 else args[2]
            first = builder.insert_element(ir.Constant(vector, ir.Undefined), lane, ir.IntType(32)(0))
            zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
            spread = builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), zeros)
            numbers = ir.Constant(vector, list(range(LANES)))
            after = builder.zext(builder.icmp_unsigned(">", numbers, spread), vector)
            loaded = builder.load(pointer, align=width // 8)
            builder.store(builder.add(loaded, after), pointer, align=width // 8)
            return context.get_dummy_value()

        return types.void(array, types.int64, types.int64), codegen

    return add_after


def _add_after_plain(array: Any, node: int, child: int) -> None:
    array[LANES * node + child + 1 : LANES * (node + 1)] += 1


#: add_after(array, node, child): add 1 to the cells of node `node` (LANES wide) that lie after `child`.
add_after = _add_after_plain if os.environ.get("NUMBA_DISABLE_JIT") == "1" else _add_after_intrinsic()
