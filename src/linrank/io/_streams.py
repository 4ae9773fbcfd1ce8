"""Bytes from wherever they come, unpacked, and cut into blocks of whole lines."""

from __future__ import annotations

import io
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from .._errors import FileFormatError, LinrankError, ParameterError
from .._files import PathLike

Source = PathLike | BinaryIO
Text = NDArray[np.uint8]

#: Bytes of zstd unpacked at a time: 4 of them can stand for 128 kB, all of which comes at once.
ZSTD_BYTES = 1 << 11
GZIP_BYTES = 1 << 14
PACKED_BYTES = 1 << 16  # read from a packed file at a time
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"  # their first bytes


def name_of(source: Source) -> str:
    """What to call the source in messages."""
    if isinstance(source, (str, os.PathLike)):
        return "standard input" if os.fspath(source) == "-" else os.fspath(source)
    return str(getattr(source, "name", "the stream"))


def is_file(source: Source) -> bool:
    """Whether the source is a path of a plain file, which can be read again and from any place."""
    return isinstance(source, (str, os.PathLike)) and os.fspath(source) != "-" and os.path.isfile(source)


@contextmanager
def reading(source: Source) -> Iterator[BinaryIO]:
    """The bytes of a path, of "-" (standard input) or of a binary file object; gzip and zstd are unpacked.

    A packed file is recognised by its first bytes, not by its name. A damaged archive is a FileFormatError.
    """
    with opened(source) as file, unpacking(source):
        yield unpacked(file)


@contextmanager
def unpacking(source: Source) -> Iterator[None]:
    """Damage that an unpacker finds, as a FileFormatError."""
    try:
        yield
    except (EOFError, zlib.error) as error:
        raise _damaged(source, error) from None
    except Exception as error:
        if type(error).__name__ == "ZstdError":
            raise _damaged(source, error) from None
        raise


@contextmanager
def opened(source: Source) -> Iterator[io.BufferedReader]:
    """The source itself, as it is packed."""
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


def is_packed(file: io.BufferedReader) -> bool:
    """Whether the bytes to come are packed, by the first of them."""
    return file.peek(4)[:4].startswith((GZIP, ZSTD))


def unpacked(file: io.BufferedReader) -> BinaryIO:
    """The bytes of a file, unpacked where need be."""
    first = file.peek(4)[:4]
    if first.startswith(GZIP):
        return io.BufferedReader(_Unpacked(file, _gzip, GZIP_BYTES))
    if first == ZSTD:
        return io.BufferedReader(_Unpacked(file, zstd().ZstdDecompressor().decompressobj, ZSTD_BYTES))
    return file


def _gzip() -> Any:
    return zlib.decompressobj(wbits=31)  # 31: with gzip's header, length and check sum


def zstd() -> Any:
    """The package that packs and unpacks zstd, an extra."""
    try:
        import zstandard
    except ImportError:
        raise LinrankError("Files packed with zstd need an extra package: pip install 'linrank[zstd]'.") from None
    return zstandard


class _Unpacked(io.RawIOBase):
    """Frames of gzip or zstd unpacked, some bytes at a time; one that is cut off is an EOFError.

    The packages' own readers take small steps, or pass over a frame that is cut off. Zeros after a frame are padding.
    """

    def __init__(self, file: BinaryIO, unpacker: Callable[[], Any], step: int) -> None:
        self._file, self._unpacker, self._step = file, unpacker, step
        self._frame: Any = None
        self._packed, self._ready = memoryview(b""), memoryview(b"")

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer, at least in part; 0 at the end of the last frame."""
        while not self._ready:
            if not self._packed:
                self._packed = memoryview(self._file.read(PACKED_BYTES))
            if not self._packed:
                if self._frame is not None:
                    raise EOFError("the last frame is cut off")
                return 0
            if self._frame is None:
                self._packed = memoryview(bytes(self._packed).lstrip(b"\0"))
                self._frame = self._unpacker() if self._packed else None
                continue
            self._unpack()
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size

    def _unpack(self) -> None:
        piece = self._packed[: self._step]
        self._ready = memoryview(self._frame.decompress(piece))
        self._packed = self._packed[len(piece) - len(self._frame.unused_data) :]
        if self._frame.eof:
            self._frame = None


def _damaged(source: Source, error: Exception) -> FileFormatError:
    name = name_of(source)
    return FileFormatError(f"{name} cannot be unpacked ({error}): it is cut off or damaged; get it again.", name)
