"""`linrank predict`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from ._help import OUTPUT, command, in_group
from ._options import Reading, data_argument, quiet_option, reading_options

if TYPE_CHECKING:
    from ..io import Dataset
    from ._loaded import Loaded


@command(short_help="Score or rank the rows of a file.")
@click.argument("model")
@data_argument()
@in_group(
    OUTPUT,
    click.option("-o", "--output", metavar="FILE", help="Where to write.  [default: standard output]"),
    click.option(
        "--rank", is_flag=True, help="Write a TREC run, each query's best row first: qid Q0 docid rank score tag."
    ),
    click.option("--tag", default="linrank", show_default=True, metavar="WORD", help="Last column of the run."),
)
@quiet_option
@reading_options
def predict(model: str, data: str, output: str | None, rank: bool, tag: str, reading: Reading) -> None:
    """Score the rows of a file: one number a line, in the file's order.

    DATA may be several files, globs and folders. It is read in chunks, so it may be larger than memory. With --rank the
    rows of a query must be next to each other, but for tables of up to an eighth of the free memory; document ids come
    from the comments ("docid = X", or all of the comment), or are row numbers, and blanks in ids become _.

    \b
      linrank predict model.json test.txt -o scores.txt
      linrank predict model.json test.txt --rank > run.txt
      zcat test.txt.gz | linrank predict model.json - | head
    """
    from .._memory import available
    from .._text import one_word
    from ._files import CHUNK_BYTES, read_chunks, writing
    from ._loaded import Loaded

    if rank and (not tag or one_word(tag) != tag):
        raise click.UsageError(f"--tag {tag!r} is a word of a line: it must be printable, without blanks.")
    loaded = Loaded.of(model)
    room = max(CHUNK_BYTES, available() // 8) if rank else CHUNK_BYTES  # of a table not by query, all that fits
    chunks = read_chunks(data, reading, loaded, by_query=rank, chunk_bytes=room)
    with writing(output) as out:
        for text in run_lines(loaded, chunks, data, tag) if rank else score_lines(loaded, chunks):
            out.write(text.encode())


def score_lines(loaded: Loaded, chunks: Iterable[Dataset]) -> Iterator[str]:
    """Scores with the shortest digits that read back as the same number."""
    for chunk in chunks:
        yield "".join(f"{score!r}\n" for score in loaded.score(chunk.X).tolist())


def run_lines(loaded: Loaded, chunks: Iterable[Dataset], path: str, tag: str) -> Iterator[str]:
    """A TREC run, query by query. Kept in memory: a chunk, the ids and scores of one query, and the queries' names."""
    from .._errors import DataError

    words: dict[str, str] = {}
    current: str | None = None
    rows: list[tuple[str, float]] = []
    for qid, docid, score in _rows(loaded, chunks):
        if qid != current:
            yield _ranked(current, rows, tag)
            current, rows = qid, []
            word = _word(qid, "query", words)
            if word in words:
                raise DataError(f"The rows of query {qid} are not next to each other: sort {path} by its queries.")
            words[word] = qid
        rows.append((docid, score))
    yield _ranked(current, rows, tag)


def _word(text: str, what: str, taken: dict[str, str]) -> str:
    """An id as a word of a run's line; refused where there is none, or where another id has `taken` it."""
    from .._errors import DataError
    from .._text import one_word

    word = one_word(text)
    if not word:
        raise DataError(f"The {what} id {text!r} is no word, which a run needs: give it another id.")
    if taken.get(word, text) != text:
        raise DataError(f"The {what} ids {taken[word]!r} and {text!r} are both {word} in a run: rename one of them.")
    return word


def _rows(loaded: Loaded, chunks: Iterable[Dataset]) -> Iterator[tuple[str, str, float]]:
    """Query, document and score of each row; a table's rows are brought into the order of its queries first."""
    import numpy as np

    before = 0
    for chunk in chunks:
        scores = loaded.score(chunk.X).tolist()
        docids = chunk.document_ids(before + 1)
        qids = ["0"] * len(scores) if chunk.qid is None else [str(qid) for qid in chunk.qid.tolist()]
        order: Any = range(len(scores))
        if chunk.feature_names is not None and chunk.qid is not None:
            _, first, query = np.unique(chunk.qid, return_index=True, return_inverse=True)
            order = np.argsort(first[query], kind="stable").tolist()
        for k in order:
            yield qids[k], docids[k], scores[k]
        before += len(scores)


def _ranked(qid: str | None, rows: list[tuple[str, float]], tag: str) -> str:
    """The lines of a query, the best first; equal scores in the file's order."""
    if qid is None:
        return ""
    query, documents, lines = _word(qid, "query", {}), dict[str, str](), []
    for k, (docid, score) in enumerate(sorted(rows, key=lambda row: -row[1]), 1):
        word = _word(docid, "document", documents)
        documents[word] = docid
        lines.append(f"{query} Q0 {word} {k} {score!r} {tag}\n")
    return "".join(lines)
