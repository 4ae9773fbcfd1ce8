"""Vector instructions that LLVM does not find by itself, each with its meaning in plain Python.

LLVM unrolls a loop of 32 fixed trips into scalars; these intrinsics state the vector operation instead. They
are plain LLVM vectors, not instructions of one processor. Uncompiled (``NUMBA_DISABLE_JIT=1``), the Python
twins run.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

LANES = 32  # of integer counts
FLOAT_LANES = 16  # of float sums, and of terms of an exponential sum


def _intrinsics() -> tuple[Any, Any, Any, Any]:
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

    def pointer(context: Any, builder: Any, array_type: Any, array: Any, vector: Any) -> Any:
        return builder.bitcast(context.make_array(array_type)(context, builder, array).data, vector.as_pointer())

    def joined(builder: Any, low: Any, high: Any) -> Any:
        lanes = 2 * low.type.count
        return builder.shuffle_vector(low, high, ir.Constant(ir.VectorType(index, lanes), list(range(lanes))))

    def powers(builder: Any, x: Any) -> Any:
        """x, x^2, ..., x^16."""
        x2 = builder.fmul(x, x)
        first: Any = ir.Constant(ir.VectorType(ir.DoubleType(), 4), ir.Undefined)
        for k, power in enumerate((x, x2, builder.fmul(x2, x), builder.fmul(x2, x2))):
            first = builder.insert_element(first, power, index(k))
            last = power
        while first.type.count < FLOAT_LANES:
            first = joined(builder, first, builder.fmul(first, spread(builder, last, first.type.count)))
            last = builder.fmul(last, last)
        return first

    def total(builder: Any, vector: Any) -> Any:
        """Sum of the lanes, by halves."""
        while vector.type.count > 1:
            half = vector.type.count // 2
            low, high = (
                builder.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(index, half), list(range(k, k + half))))
                for k in (0, half)
            )
            vector = builder.fadd(low, high)
        return builder.extract_element(vector, index(0))

    def step(context: Any, builder: Any, signature: Any, args: Any) -> list[Any]:
        vector = ir.VectorType(ir.DoubleType(), FLOAT_LANES)
        state = pointer(context, builder, signature.args[0], args[0], vector)
        decayed = builder.fmul(builder.load(state, align=8), powers(builder, args[1]))
        builder.store(builder.fadd(decayed, spread(builder, args[2], FLOAT_LANES)), state, align=8)
        loaded = [
            builder.load(pointer(context, builder, kind, array, vector), align=8)
            for kind, array in zip(signature.args[3:], args[3:], strict=True)
        ]
        return [total(builder, builder.fmul(decayed, coefficients)) for coefficients in loaded]

    @intrinsic
    def decay_step(typingctx: Any, state: Any, x: Any, q: Any, a: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return step(context, builder, signature, args)[0]

        return types.float64(state, types.float64, types.float64, a), codegen

    @intrinsic
    def decay_step_two(typingctx: Any, state: Any, x: Any, q: Any, a: Any, b: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return context.make_tuple(builder, signature.return_type, step(context, builder, signature, args))

        return types.UniTuple(types.float64, 2)(state, types.float64, types.float64, a, b), codegen

    return add_after, add_value_after, decay_step, decay_step_two


def _add_after_plain(array: Any, node: int, child: int) -> None:
    array[LANES * node + child + 1 : LANES * (node + 1)] += 1


def _add_value_after_plain(array: Any, node: int, child: int, value: float) -> None:
    array[FLOAT_LANES * node + child + 1 : FLOAT_LANES * (node + 1)] += value


def _decay_step_plain(state: Any, x: float, q: float, a: Any) -> float:
    state *= x ** np.arange(1, FLOAT_LANES + 1)
    answer = float(state @ a)
    state += q
    return answer


def _decay_step_two_plain(state: Any, x: float, q: float, a: Any, b: Any) -> tuple[float, float]:
    before = state.copy()
    return _decay_step_plain(state, x, q, a), _decay_step_plain(before, x, q, b)


_PLAIN = os.environ.get("NUMBA_DISABLE_JIT") == "1"

#: add_after(array, node, child): add 1 to the cells of node `node` (LANES wide) that lie after `child`.
#: add_value_after(array, node, child, value): the same with a float, for nodes FLOAT_LANES wide.
#: decay_step(state, x, q, a): state_k <- state_k x^k, the answer a . state, then state_k <- state_k + q; k = 1 ... 16.
#: decay_step_two(state, x, q, a, b): the same with the two answers a . state and b . state.
add_after, add_value_after, decay_step, decay_step_two = (
    (_add_after_plain, _add_value_after_plain, _decay_step_plain, _decay_step_two_plain) if _PLAIN else _intrinsics()
)
