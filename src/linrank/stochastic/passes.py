"""A stream from its first chunk to its last, with a checkpoint after each."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from typing import Any, NamedTuple

from .._errors import DataError, ParameterError
from ..data.labelled import LabelledRows
from .checkpoint import ANEW, Keeper, Saved
from .reservoir import MEMORY
from .rows import as_rows
from .stream import Chunks, Stream, fingerprint, numbered_chunks

logger = logging.getLogger("linrank")

#: A share of lost pairs that is told.
TOLD_SHARE = 0.001


class Follower(NamedTuple):
    """What a stream is to do with its chunks."""

    check: Callable[..., LabelledRows]  # a stream and a chunk as it is given -> the chunk, validated
    learn: Callable[[Stream | None, LabelledRows], Stream]  # a stream and its next chunk -> the stream after it
    take_up: Callable[[Saved], None]  # go on from a checkpoint
    names: Callable[[], list[str]]  # of the features


def follow(follower: Follower, stream: Stream | None, chunks: Chunks, passes: int, keeper: Keeper | None) -> Stream:
    """Go on with a stream, None being one that begins, and keep its checkpoint, if there is to be one, to the end."""
    saved, path = (None, None) if keeper is None else (keeper.load(), keeper.path)
    if saved is not None and saved.done[0] >= passes:
        raise ParameterError(f"The checkpoint {path} is of pass {saved.done[0] + 1}, not {passes}: raise passes.")
    first, last_pass, here, n_bytes = None, 0, None, 0.0
    for here, given in numbered_chunks(chunks, passes):
        if saved is not None and first is None:
            first, last_pass, stream = saved.first, saved.done[0], saved.stream
            _take_up(follower, saved, given, path)
        if saved is not None and here <= saved.done:
            continue
        if here[0] > last_pass and stream is not None:
            stream = stream.reread()
        last_pass = here[0]
        chunk = follower.check(stream, *given)
        stream = follower.learn(stream, chunk)
        n_bytes += as_rows(chunk.X).bytes_a_row * chunk.n_rows / passes
        if keeper is not None:
            first = first or fingerprint(chunk)
            keeper.save(stream, here, first, follower.names())
        if stream.watch.is_over:
            break
    if here is None or stream is None:
        raise DataError("The stream holds no row: give at least one chunk of (X, y, qid), from its beginning.")
    if saved is not None and here < saved.done:
        raise DataError(f"The stream ends before the checkpoint {path} does: give the same data, or {ANEW}.")
    tell_lost(stream)
    tell_exact(n_bytes)
    return stream


def _take_up(follower: Follower, saved: Saved, given: tuple[Any, ...], path: Any) -> None:
    """Take up everything from a checkpoint, if the stream begins as its own did."""
    try:
        same = fingerprint(follower.check(saved.stream, *given)) == saved.first
    except ValueError:  # a chunk that cannot be read is another one
        same = False
    if not same:
        raise DataError(
            f"The checkpoint {path} is of another stream, whose first chunk is not that of this one: give the same "
            f"data in the same chunks, or {ANEW}."
        )
    follower.take_up(saved)
    logger.warning("resuming at step %s from the checkpoint %s", f"{saved.stream.descent.t:,}", path)


def tell_exact(n_bytes: float) -> None:
    """Hint at exact training where the stream's rows would fit into a half of the machine's memory."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not every system tells
        return
    if n_bytes <= memory / 2:
        logger.info(
            "the rows of this stream take %.0f MB, which this machine holds: LinearRanker ends with a certified "
            "optimum",
            n_bytes / 2**20,
        )


def tell_lost(stream: Stream) -> None:
    """Warn of pairs that could not be drawn: their earlier row had been forgotten when the later one came."""
    queries = stream.queries
    if stream.share_lost <= TOLD_SHARE:
        return
    bounded = queries.most < queries.closed.key.size + queries.key.size and queries.limit == queries.size
    cure = "raise open_queries" if bounded else f"more queries are open than {MEMORY >> 20} MB of rows have room for"
    logger.warning(
        "%.1f %% of the pairs of rows of one query were lost, as their query came again after it had been closed: %s, "
        "or sort the stream by query",
        100 * stream.share_lost, cure,
    )  # fmt: skip
