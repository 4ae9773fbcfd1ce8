"""Vector instructions that LLVM does not find by itself, each with its meaning in plain Python.

LLVM unrolls a loop of 32 fixed trips into scalars; these intrinsics state the vector operation instead. They
are plain LLVM vectors, not instructions of one processor. Uncompiled (``NUMBA_DISABLE_JIT=1``), the Python
twins run.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 32  # of integer counts
FLOAT_LANES = 16  # of float sums, and of terms of an exponential sum
ROW_LANES = 8  # of feature vectors, which are padded to a multiple of it


INDEX = ir.IntType(32)


def _floats(lanes: int) -> Any:
    return ir.VectorType(ir.DoubleType(), lanes)


def _pick(numbers: Iterable[int]) -> Any:
    """Constant lane numbers, for a shuffle."""
    lanes = list(numbers)
    return ir.Constant(ir.VectorType(INDEX, len(lanes)), lanes)


def _pointer(context: Any, builder: Any, kind: Any, array: Any, vector: Any, node: Any = None) -> Any:
    """Where the node's lanes begin in an array."""
    data = context.make_array(kind)(context, builder, array).data
    if node is not None:
        data = builder.gep(data, [builder.mul(node, ir.Constant(node.type, vector.count))])
    return builder.bitcast(data, vector.as_pointer())


def _spread(builder: Any, value: Any, lanes: int) -> Any:
    """The same value in all lanes."""
    empty = ir.Constant(ir.VectorType(value.type, lanes), ir.Undefined)
    return builder.shuffle_vector(builder.insert_element(empty, value, INDEX(0)), empty, _pick([0] * lanes))


def _lanes_after(builder: Any, child: Any, lanes: int) -> Any:
    """Which lanes come after `child`, an integer as wide as a lane: the comparison then needs no conversion."""
    numbers = ir.Constant(ir.VectorType(child.type, lanes), list(range(lanes)))
    return builder.icmp_signed(">", numbers, _spread(builder, child, lanes))


def _powers(builder: Any, x: Any) -> Any:
    """x, x^2, ..., x^16."""
    x2 = builder.fmul(x, x)
    last = builder.fmul(x2, x2)
    powers: Any = ir.Constant(_floats(4), ir.Undefined)
    for k, power in enumerate((x, x2, builder.fmul(x2, x), last)):
        powers = builder.insert_element(powers, power, INDEX(k))
    while powers.type.count < FLOAT_LANES:
        lanes = powers.type.count
        higher = builder.fmul(powers, _spread(builder, last, lanes))
        powers = builder.shuffle_vector(powers, higher, _pick(range(2 * lanes)))
        last = builder.fmul(last, last)
    return powers


def _total(builder: Any, vector: Any) -> Any:
    """Sum of the lanes, by halves."""
    while vector.type.count > 1:
        half = vector.type.count // 2
        low, high = (builder.shuffle_vector(vector, vector, _pick(range(k, k + half))) for k in (0, half))
        vector = builder.fadd(low, high)
    return builder.extract_element(vector, INDEX(0))


def _decay(context: Any, builder: Any, signature: Any, args: Any) -> list[Any]:
    """Code of a decay step; its answers, one for each array of coefficients after the third argument."""
    vector = _floats(FLOAT_LANES)
    state = _pointer(context, builder, signature.args[0], args[0], vector)
    decayed = builder.fmul(builder.load(state, align=8), _powers(builder, args[1]))
    builder.store(builder.fadd(decayed, _spread(builder, args[2], FLOAT_LANES)), state, align=8)
    arrays = zip(signature.args[3:], args[3:], strict=True)
    loaded = [builder.load(_pointer(context, builder, kind, array, vector), align=8) for kind, array in arrays]
    return [_total(builder, builder.fmul(decayed, coefficients)) for coefficients in loaded]


@intrinsic
def _add_after(typingctx: Any, array: Any, node: Any, child: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        width = signature.args[0].dtype.bitwidth
        vector = ir.VectorType(ir.IntType(width), LANES)
        pointer = _pointer(context, builder, signature.args[0], args[0], vector, args[1])
        after = _lanes_after(builder, builder.trunc(args[2], vector.element), LANES)
        loaded = builder.load(pointer, align=width // 8)
        builder.store(builder.add(loaded, builder.zext(after, vector)), pointer, align=width // 8)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64), codegen


@intrinsic
def _add_value_after(typingctx: Any, array: Any, node: Any, child: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = _floats(FLOAT_LANES)
        pointer = _pointer(context, builder, signature.args[0], args[0], vector, args[1])
        after = _lanes_after(builder, args[2], FLOAT_LANES)
        added = builder.select(after, _spread(builder, args[3], FLOAT_LANES), ir.Constant(vector, None))
        builder.store(builder.fadd(builder.load(pointer, align=8), added), pointer, align=8)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64, types.float64), codegen


@intrinsic
def _next_after(typingctx: Any, array: Any, node: Any, child: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = _floats(FLOAT_LANES)
        following = builder.add(args[1], ir.Constant(args[1].type, 1))
        here, there = (_pointer(context, builder, signature.args[0], args[0], vector, n) for n in (args[1], following))
        after = _lanes_after(builder, args[2], FLOAT_LANES)
        added = builder.select(after, _spread(builder, args[3], FLOAT_LANES), ir.Constant(vector, None))
        builder.store(builder.fadd(builder.load(here, align=8), added), there, align=8)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64, types.float64), codegen


@intrinsic
def _add_row(typingctx: Any, out: Any, to: Any, rows: Any, at: Any, factor: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = _floats(ROW_LANES)
        target, source = (context.make_array(signature.args[k])(context, builder, args[k]) for k in (0, 2))
        width = builder.extract_value(source.shape, 1)
        many = _spread(builder, args[4], ROW_LANES)
        start = [builder.gep(a.data, [builder.mul(row, width)]) for a, row in ((target, args[1]), (source, args[3]))]
        with cgutils.for_range(builder, builder.lshr(width, ir.Constant(width.type, 3))) as loop:
            step = builder.mul(loop.index, ir.Constant(width.type, ROW_LANES))
            into, given = (builder.bitcast(builder.gep(data, [step]), vector.as_pointer()) for data in start)
            added = builder.fmul(many, builder.load(given, align=8))
            builder.store(builder.fadd(builder.load(into, align=8), added), into, align=8)
        return context.get_dummy_value()

    return types.void(out, types.int64, rows, types.int64, types.float64), codegen


@intrinsic
def _lane_dot(typingctx: Any, rows: Any, at: Any, w: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = _floats(ROW_LANES)
        matrix, weights = (context.make_array(signature.args[k])(context, builder, args[k]) for k in (0, 2))
        size = builder.extract_value(weights.shape, 0)
        row = builder.gep(matrix.data, [builder.mul(args[1], size)])
        given = ir.VectorType(row.type.pointee, ROW_LANES)
        lanes = cgutils.alloca_once_value(builder, ir.Constant(vector, None))
        eighth = ir.Constant(size.type, ROW_LANES.bit_length() - 1)
        whole = builder.lshr(size, eighth)

        def widened(values: Any, kind: Any) -> Any:
            return values if values.type == kind else builder.fpext(values, kind)

        def add(x: Any, y: Any) -> None:
            builder.store(builder.fadd(builder.load(lanes), builder.fmul(x, y)), lanes)

        with cgutils.for_range(builder, whole) as loop:
            place = [builder.shl(loop.index, eighth)]
            x = builder.load(builder.bitcast(builder.gep(row, place), given.as_pointer()), align=4)
            y = builder.load(builder.bitcast(builder.gep(weights.data, place), vector.as_pointer()), align=8)
            add(widened(x, vector), y)
        start = builder.shl(whole, eighth)
        with cgutils.for_range(builder, builder.sub(size, start)) as loop:
            place = [builder.add(start, loop.index)]
            x = widened(builder.load(builder.gep(row, place)), vector.element)
            product = builder.fmul(x, builder.load(builder.gep(weights.data, place)))
            current = builder.load(lanes)
            lane = builder.trunc(loop.index, INDEX)
            added = builder.fadd(builder.extract_element(current, lane), product)
            builder.store(builder.insert_element(current, added, lane), lanes)
        return _total(builder, builder.load(lanes))

    return types.float64(rows, types.int64, w), codegen


@intrinsic
def _decay_step(typingctx: Any, state: Any, x: Any, q: Any, a: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _decay(context, builder, signature, args)[0]

    return types.float64(state, types.float64, types.float64, a), codegen


@intrinsic
def _decay_step_two(typingctx: Any, state: Any, x: Any, q: Any, a: Any, b: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return context.make_tuple(builder, signature.return_type, _decay(context, builder, signature, args))

    return types.UniTuple(types.float64, 2)(state, types.float64, types.float64, a, b), codegen


@intrinsic
def _prefetch(typingctx: Any, array: Any, position: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, INDEX, INDEX, INDEX])
        call = builder.module.declare_intrinsic("llvm.prefetch", (byte,), fnty=kind)
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        place = builder.bitcast(builder.gep(data, [args[1]]), byte)
        builder.call(call, [place, INDEX(0), INDEX(2), INDEX(1)])  # to be read, into the second cache, data
        return context.get_dummy_value()

    return types.void(array, types.int64), codegen


def _add_after_plain(array: Any, node: int, child: int) -> None:
    array[LANES * node + child + 1 : LANES * (node + 1)] += 1


def _add_value_after_plain(array: Any, node: int, child: int, value: float) -> None:
    array[FLOAT_LANES * node + child + 1 : FLOAT_LANES * (node + 1)] += value


def _next_after_plain(array: Any, node: int, child: int, value: float) -> None:
    array[FLOAT_LANES * (node + 1) : FLOAT_LANES * (node + 2)] = array[FLOAT_LANES * node : FLOAT_LANES * (node + 1)]
    _add_value_after_plain(array, node + 1, child, value)


def _add_row_plain(out: Any, to: int, rows: Any, at: int, factor: float) -> None:
    out[to] += factor * rows[at]


def _lane_dot_plain(rows: Any, at: int, w: Any) -> float:
    lanes = [0.0] * ROW_LANES
    for j in range(w.size):
        lanes[j % ROW_LANES] += float(rows[at, j]) * float(w[j])
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = [lanes[k] + lanes[half + k] for k in range(half)]
    return lanes[0]


def _decay_step_plain(state: Any, x: float, q: float, a: Any) -> float:
    state *= x ** np.arange(1, FLOAT_LANES + 1)
    answer = float(state @ a)
    state += q
    return answer


def _decay_step_two_plain(state: Any, x: float, q: float, a: Any, b: Any) -> tuple[float, float]:
    before = state.copy()
    return _decay_step_plain(state, x, q, a), _decay_step_plain(before, x, q, b)


def _prefetch_plain(array: Any, position: int) -> None:
    pass


_PLAIN = os.environ.get("NUMBA_DISABLE_JIT") == "1"


def _choose(compiled: Any, plain: Any) -> Any:
    return plain if _PLAIN else compiled


#: add_after(array, node, child): add 1 to the cells of node `node` (LANES wide) that lie after `child`.
add_after = _choose(_add_after, _add_after_plain)
#: add_value_after(array, node, child, value): the same with a float, for nodes FLOAT_LANES wide.
add_value_after = _choose(_add_value_after, _add_value_after_plain)
#: next_after(array, node, child, value): node + 1 becomes what add_value_after would make of `node`, which stays.
next_after = _choose(_next_after, _next_after_plain)
#: add_row(out, to, rows, at, factor): out[to] += factor * rows[at], both in C order and of one width, a multiple of 8.
add_row = _choose(_add_row, _add_row_plain)
#: lane_dot(rows, at, w): rows[at] . w, added up in ROW_LANES lanes and those by halves; `rows` in C order.
lane_dot = _choose(_lane_dot, _lane_dot_plain)
#: decay_step(state, x, q, a): state_k <- state_k x^k, the answer a . state, then state_k <- state_k + q; k = 1 ... 16.
decay_step = _choose(_decay_step, _decay_step_plain)
#: decay_step_two(state, x, q, a, b): the same with the two answers a . state and b . state.
decay_step_two = _choose(_decay_step_two, _decay_step_two_plain)
#: prefetch(array, position): ask for the cache line of array.flat[position], and do not wait for it. It goes to the
#: second cache: the first is small, and holds what is in use.
prefetch = _choose(_prefetch, _prefetch_plain)
