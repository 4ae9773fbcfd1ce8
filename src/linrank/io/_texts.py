"""Blocks of whole lines, cut by the bytes alone: where a file can be read from any place, each by whoever needs it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, BinaryIO, NamedTuple

from .._errors import FileFormatError
from .._progress import ByteProgress
from ._ahead import ahead
from ._streams import Source, is_file, is_packed, name_of, opened, unpacked, unpacking

#: Bytes in a block of work: long enough to keep a thread busy, short enough that Ctrl-C is answered at once.
BLOCK_BYTES = 1 << 20
LONGEST_LINE = 2**31 - 2  # positions within a block are 32 bits wide
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
NEWLINE = b"\n"


class Text(NamedTuple):
    """Whole lines, the last one ended: buffer[start:end]. `reached` is how many bytes of the source lie behind."""

    buffer: bytearray
    start: int
    end: int
    reached: int


#: Gives a block of text; the buffer may be used for it.
Load = Callable[[bytearray], Text]


@contextmanager
def texts(source: Source, progress: ByteProgress) -> Iterator[Iterator[Load]]:
    """The blocks of a source, in order, each of about BLOCK_BYTES and still to be loaded.

    A plain file is read where a block is loaded. A packed one is unpacked by a thread ahead of whoever loads. What can
    be read only once, and may keep its reader waiting, is read here.
    """
    name, size = name_of(source), BLOCK_BYTES
    with opened(source) as file, unpacking(source):
        progress.begin(os.fstat(file.fileno()).st_size if is_file(source) else None)
        if not is_file(source):
            yield (_ready(text) for text in _streamed(unpacked(file), name, size))
        elif is_packed(file):
            with ahead(_streamed(unpacked(file), name, size, file.raw.tell)) as pieces:
                yield (_ready(text) for text in pieces)
        elif hasattr(os, "preadv") and os.fstat(file.fileno()).st_size:
            yield _ranges(file.fileno(), name, size)
        else:
            yield (_ready(text) for text in _streamed(file, name, size, file.tell))


@contextmanager
def chunks(source: Source, progress: ByteProgress) -> Iterator[Iterator[bytes]]:
    """The bytes of a source, unpacked, BLOCK_BYTES at a time; a packed file is unpacked by a thread ahead."""
    with opened(source) as file, unpacking(source):
        progress.begin(os.fstat(file.fileno()).st_size if is_file(source) else None)
        stream = unpacked(file)
        pieces = _pieces(stream, file.raw.tell if is_file(source) else None)
        if is_file(source) and stream is not file:
            with ahead(pieces) as made:
                yield _reported(made, progress)
        else:
            yield _reported(pieces, progress)


def _pieces(stream: BinaryIO, position: Callable[[], int] | None) -> Iterator[tuple[bytes, int]]:
    done = 0
    while text := stream.read(BLOCK_BYTES):
        done += len(text)
        yield text, done if position is None else position()


def _reported(pieces: Iterator[tuple[bytes, int]], progress: ByteProgress) -> Iterator[bytes]:
    for text, reached in pieces:
        progress.reached(reached)
        yield text


def _ready(text: Text) -> Load:
    return lambda _: text


def _ranges(file: int, name: str, size: int) -> Iterator[Load]:
    for start in range(0, os.fstat(file).st_size, size):
        yield partial(_range, file, name, start, start + size)


def _range(file: int, name: str, first: int, last: int, buffer: bytearray) -> Text:
    """The lines of a file that begin from byte `first` up to `last`."""
    before = 1 if first else 0  # whether a line begins at `first` is told by the byte before
    buffer, end = _filled(file, first - before, buffer, 0, last - first + before)
    start = 0
    if before:
        start = buffer.find(NEWLINE, 0, end) + 1 or end
    elif buffer.startswith(BYTE_ORDER_MARK):
        start = len(BYTE_ORDER_MARK)
    if start >= end or end < last - first + before:  # no line begins here; or the file ends
        return _ended(buffer, start, end, first - before + end)
    step, searched = 1 << 16, end - 1
    while True:
        found = buffer.find(NEWLINE, searched, end)
        if found >= 0:
            return Text(buffer, start, found + 1, last)
        if end - start > LONGEST_LINE:
            raise _too_long(name)
        searched = end
        buffer, end = _filled(file, first - before, buffer, end, end + step)
        if end == searched:
            return _ended(buffer, start, end, last)
        step *= 2


def _filled(file: int, offset: int, buffer: bytearray, start: int, stop: int) -> tuple[bytearray, int]:
    """Read bytes start to stop of those from `offset` on; the buffer, or a larger one, and where they end."""
    if len(buffer) <= stop:
        larger = bytearray(stop + stop // 8 + 1)
        larger[:start] = memoryview(buffer)[:start]
        buffer = larger
    with memoryview(buffer) as room:
        while start < stop:
            n = os.preadv(file, [room[start:stop]], offset + start)
            if n == 0:
                break
            start += n
    return buffer, start


def _ended(buffer: bytearray, start: int, end: int, reached: int) -> Text:
    """The last lines, whose last one may lack its line feed; a buffer has room for it."""
    if end > start and buffer[end - 1] != NEWLINE[0]:
        buffer[end : end + 1] = NEWLINE
        end += 1
    return Text(buffer, min(start, end), end, reached)


def _streamed(stream: BinaryIO, name: str, size: int, position: Callable[[], int] | None = None) -> Iterator[Text]:
    """The blocks of a stream; `position` tells how much of a file lies behind."""
    carry, reached, done = b"", position, 0
    while True:
        buffer = bytearray(max(size, len(carry) + 1) + 1)
        end = _fill(stream, buffer, carry)
        start = len(BYTE_ORDER_MARK) if done == 0 and buffer.startswith(BYTE_ORDER_MARK) else 0
        done += end - len(carry)
        here = done if reached is None else reached()
        if end < len(buffer) - 1:
            yield _ended(buffer, start, end, here)
            return
        cut = buffer.rfind(NEWLINE, start, end) + 1
        if cut:
            yield Text(buffer, start, cut, here)
        elif end > LONGEST_LINE:
            raise _too_long(name)
        carry = bytes(memoryview(buffer)[cut or start : end])
        size = max(size, min(2 * len(carry), LONGEST_LINE))  # a line longer than a block


def _fill(stream: Any, buffer: bytearray, carry: bytes) -> int:
    """Fill a buffer but for its last byte with the bytes carried over and those that follow; where they end."""
    n = len(carry)
    buffer[:n] = carry
    with memoryview(buffer) as room:
        while n < len(buffer) - 1:
            size = stream.readinto(room[n:-1])
            if size is None:
                raise BlockingIOError("the stream has nothing to read yet: open it in blocking mode")
            if size == 0:
                break
            n += size
    return n


def _too_long(name: str) -> FileFormatError:
    return FileFormatError(f"{name} has a line of more than 2 GB: is it a text file?", name)
