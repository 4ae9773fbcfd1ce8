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

LANES = 32  # of integer counts
FLOAT_LANES = 16  # of float sums


def _intrinsics() -> tuple[Any, Any, Any]:
    from llvmlite import ir

    index = ir.IntType(32)

    def node_pointer(context: Any, builder: Any, array_type: Any, array: Any, node: Any, vector: Any) -> Any:
        data = context.make_array(array_type)(context, builder, array).data
        start = builder.gep(data, [builder.mul(node, ir.Constant(node.type, vector.count))])
        return builder.bitcast(start, vector.as_pointer())

    def spread(builder: Any, value: Any, lanes: int) -> Any:
        """The same value in all lanes."""
        empty = ir.Constant(ir.VectorType(value.type, lanes), ir.Undefined)
        zeros = ir.Constant(ir.VectorType(index, lanes), [0] * lanes)
        return builder.shuffle_vector(builder.insert_element(empty, value, index(0)), empty, zeros)

    def lanes_after(builder: Any, child: Any, lanes: int) -> Any:
        """Which lanes come after `child`, an integer as wide as a lane: the comparison then needs no conversion."""
        numbers = ir.Constant(ir.VectorType(child.type, lanes), list(range(lanes)))
        return builder.icmp_signed(">", numbers, spread(builder, child, lanes))

    @intrinsic
    def add_after(typingctx: Any, array: Any, node: Any, child: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            width = signature.args[0].dtype.bitwidth
            vector = ir.VectorType(ir.IntType(width), LANES)
            pointer = node_pointer(context, builder, signature.args[0], args[0], args[1], vector)
            after = lanes_after(builder, builder.trunc(args[2], vector.element), LANES)
            loaded = builder.load(pointer, align=width // 8)
            builder.store(builder.add(loaded, builder.zext(after, vector)), pointer, align=width // 8)
            return context.get_dummy_value()

        return types.void(array, types.int64, types.int64), codegen

    @intrinsic
    def add_value_after(typingctx: Any, array: Any, node: Any, child: Any, value: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            vector = ir.VectorType(ir.DoubleType(), FLOAT_LANES)
            pointer = node_pointer(context, builder, signature.args[0], args[0], args[1], vector)
            after = lanes_after(builder, args[2], FLOAT_LANES)
            added = builder.select(after, spread(builder, args[3], FLOAT_LANES), ir.Constant(vector, None))
            builder.store(builder.fadd(builder.load(pointer, align=8), added), pointer, align=8)
            return context.get_dummy_value()

        return types.void(array, types.int64, types.int64, types.float64), codegen

    @intrinsic
    def prefetch(typingctx: Any, array: Any, position: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            byte = ir.IntType(8).as_pointer()
            kind = ir.FunctionType(ir.VoidType(), [byte, index, index, index])
            call = builder.module.declare_intrinsic("llvm.prefetch", (byte,), fnty=kind)
            data = context.make_array(signature.args[0])(context, builder, args[0]).data
            place = builder.bitcast(builder.gep(data, [args[1]]), byte)
            builder.call(call, [place, index(0), index(3), index(1)])  # to be read, kept in all caches, data
            return context.get_dummy_value()

        return types.void(array, types.int64), codegen

    return add_after, add_value_after, prefetch


def _add_after_plain(array: Any, node: int, child: int) -> None:
    array[LANES * node + child + 1 : LANES * (node + 1)] += 1


def _add_value_after_plain(array: Any, node: int, child: int, value: float) -> None:
    array[FLOAT_LANES * node + child + 1 : FLOAT_LANES * (node + 1)] += value


def _prefetch_plain(array: Any, position: int) -> None:
    pass


_PLAIN = os.environ.get("NUMBA_DISABLE_JIT") == "1"

#: add_after(array, node, child): add 1 to the cells of node `node` (LANES wide) that lie after `child`.
#: add_value_after(array, node, child, value): the same with a float, for nodes FLOAT_LANES wide.
#: prefetch(array, position): ask for the cache line of array.flat[position], and do not wait for it.
_TWINS = _add_after_plain, _add_value_after_plain, _prefetch_plain
add_after, add_value_after, prefetch = _TWINS if _PLAIN else _intrinsics()
