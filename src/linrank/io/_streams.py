"""Bytes from wherever they come, unpacked, and cut into blocks of whole lines."""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from .._errors import FileFormatError, LinrankError, ParameterError
from .._files import PathLike
from ..kernels.text.blocks import last_line_end

Source = PathLike | BinaryIO
Text = NDArray[np.uint8]

#: Bytes in a block of work: long enough to keep a thread busy, short enough that Ctrl-C is answered at once.
BLOCK_BYTES = 1 << 20
LONGEST_LINE = 2**31 - 2  # positions within a block are 32 bits wide
#: Bytes of zstd unpacked at a time: 4 of them can stand for 128 kB, all of which comes at once.
ZSTD_BYTES = 1 << 11
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def name_of(source: Source) -> str:
    """What to call the source in messages."""
    if isinstance(source, (str, os.PathLike)):
        return "standard input" if os.fspath(source) == "-" else os.fspath(source)
    return str(getattr(source, "name", "the stream"))


def expected_blocks(source: Source) -> int:
    """About how many blocks a file will be read in: a guess for the room to make, right if it is not packed."""
    try:
        return 1 + os.stat(source).st_size // BLOCK_BYTES  # type: ignore[arg-type]
    except (OSError, TypeError):
        return 1


@contextmanager
def reading(source: Source) -> Iterator[BinaryIO]:
    """The bytes of a path, of "-" (standard input) or of a binary file object; gzip and zstd are unpacked.

    A packed file is recognised by its first bytes, not by its name. A damaged archive is a FileFormatError.
    """
    with _opened(source) as file:
        try:
            yield _unpacked(file)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise _damaged(source, error) from None
        except Exception as error:
            if type(error).__name__ == "ZstdError":
                raise _damaged(source, error) from None
            raise


@contextmanager
def _opened(source: Source) -> Iterator[io.BufferedReader]:
    if isinstance(source, (str, os.PathLike)) and os.fspath(source) != "-":
        with open(source, "rb") as file:
            yield file
        return
    stream: Any = sys.stdin.buffer if isinstance(source, (str, os.PathLike)) else source
    if isinstance(stream, io.TextIOBase) or not hasattr(stream, "read"):
        raise ParameterError(f"{source!r} is not a path or a binary file: open it with mode 'rb'.")
    yield stream if hasattr(stream, "peek") else io.BufferedReader(_Raw(stream))


def text_lines(source: Source) -> Iterator[tuple[int, str]]:
    """The lines of a file of UTF-8 text, each with its number from 1 on."""
    name, number = name_of(source), 0
    with reading(source) as stream:
        for line in stream:
            for piece in line.rstrip(b"\r\n").split(b"\r"):
                number += 1
                try:
                    yield number, piece.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError:
                    sentence = f"{name}, line {number}: this is not text in UTF-8: convert it first."
                    raise FileFormatError(sentence, name, number) from None


class _Raw(io.RawIOBase):
    """Any object with `read` as a raw stream, which is left open."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer, at least in part."""
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _unpacked(file: io.BufferedReader) -> BinaryIO:
    first = file.peek(4)[:4]
    if first[:2] == b"\x1f\x8b":
        return gzip.GzipFile(fileobj=file)  # type: ignore[return-value]
    if first == b"\x28\xb5\x2f\xfd":
        return io.BufferedReader(_Zstd(file))
    return file


def zstd() -> Any:
    """The package that packs and unpacks zstd, an extra."""
    try:
        import zstandard
    except ImportError:
        raise LinrankError("Files packed with zstd need an extra package: pip install 'linrank[zstd]'.") from None
    return zstandard


class _Zstd(io.RawIOBase):
    """Frames of zstd unpacked; a frame that is cut off is an EOFError, which the package's own reader passes over."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._unpacker = file, zstd().ZstdDecompressor()
        self._frame: Any = None
        self._packed, self._ready = memoryview(b""), memoryview(b"")

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer, at least in part; 0 at the end of the last frame."""
        while not self._ready:
            if not self._packed:
                self._packed = memoryview(self._file.read(1 << 17))
            if not self._packed:
                if self._frame is not None:
                    raise EOFError("the last frame is cut off")
                return 0
            self._frame = self._frame or self._unpacker.decompressobj()
            piece = self._packed[:ZSTD_BYTES]
            self._ready = memoryview(self._frame.decompress(piece))
            self._packed = self._packed[len(piece) - len(self._frame.unused_data) :]
            if self._frame.eof:
                self._frame = None
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size


def _damaged(source: Source, error: Exception) -> FileFormatError:
    name = name_of(source)
    return FileFormatError(f"{name} cannot be unpacked ({error}): it is cut off or damaged; get it again.", name)


def blocks(stream: BinaryIO, name: str, size: int = BLOCK_BYTES) -> Iterator[Text]:
    """The stream in pieces of whole lines of about `size` bytes, cut by the bytes alone; the last one ends its line."""
    carry = np.empty(0, dtype=np.uint8)
    first = True
    while True:
        text, ended = _filled(stream, carry, size)
        if first and text[:3].tobytes() == BYTE_ORDER_MARK:
            text = text[3:].copy()
        first = False
        if ended:
            if text.size:
                yield text if text[-1] == 10 else np.append(text, np.uint8(10))
            return
        end = last_line_end(text, text.size)
        if end:
            yield text[:end]
        elif text.size >= LONGEST_LINE:
            raise FileFormatError(f"{name} has a line of more than 2 GB: is it a text file?", name)
        carry = text[end:].copy()
        size = max(size, min(2 * carry.size, LONGEST_LINE))  # a line longer than a block


def _filled(stream: BinaryIO, carry: Text, size: int) -> tuple[Text, bool]:
    """The bytes carried over and what follows, `size` in all, and whether the stream has ended."""
    text = np.empty(max(size, carry.size + 1), dtype=np.uint8)
    text[: carry.size] = carry
    n, room = carry.size, text.data
    while n < text.size:
        size_read = stream.readinto(room[n:])  # type: ignore[attr-defined]
        if size_read is None:
            raise BlockingIOError("the stream has nothing to read yet: open it in blocking mode")
        if size_read == 0:
            return text[:n], True
        n += size_read
    return text, False
