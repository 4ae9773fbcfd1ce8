"""Scores of a file's rows, and metrics of them. Features pass by in chunks; 24 bytes a row are kept."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from .._errors import DataError, NoPairsError
from .._typing import FloatArray
from ..data.ranking_data import check_preferences
from ..io import Dataset
from ..metrics import Metric, parse
from ..metrics._families import FAMILIES
from ..metrics._names import OVER_PREFERENCES, WITH_TIES, each
from ..metrics._pairs import TIE_VALUE
from ..metrics._rows import are_grades
from ..metrics._runs import of_run
from ._contestants import Contestant, RunFile, is_qrels, read_qrels
from ._files import read_chunks
from ._loaded import Loaded
from ._options import Judging, Reading
from ._parameters import parse_preferences
from ._report import decimals

logger = logging.getLogger("linrank")

OF_GRADES, OF_UTILITIES = ("pairwise_accuracy", "ndcg@10", "map", "mrr"), ("pairwise_accuracy", "kendall_tau")


@dataclass(frozen=True, eq=False)
class Scored:
    """Rows of a file with their scores by one or more models."""

    y: FloatArray
    scores: list[FloatArray]
    query: NDArray[np.int64] | None  # numbers from 0, in the order of the file
    ids: list[str]  # of the queries
    docid: list[str] | None
    retrieved: list[NDArray[np.bool_]] | None = None  # by each, where these are runs that need not hold all rows

    @property
    def n_queries(self) -> int:
        """Number of queries; rows without are one."""
        return max(1, len(self.ids))


@dataclass(frozen=True)
class Compared:
    """Which preferences metrics of pairs are taken over."""

    preferences: Any
    why: str = "as told"

    def text(self) -> str:
        """For people."""
        if isinstance(self.preferences, str):
            return self.preferences
        return ", ".join(f"{low:g}<{high:g}" + (f":{c:g}" if c != 1 else "") for low, high, c in self.plain())

    def plain(self) -> Any:
        """For programs: a word, or edges (lower, higher, weight)."""
        edges = check_preferences(self.preferences)
        return self.preferences if edges is None else edges.tolist()

    def line(self) -> tuple[str, str]:
        """A line of a table."""
        return "preferences", f"{self.text()} ({self.why})"


@dataclass(frozen=True, eq=False)
class Judged:
    """Rows with their scores, the metrics they were judged by, and the metrics' values by name."""

    scored: Scored
    metrics: list[Metric]
    values: dict[str, float]
    compared: Compared | None  # None: no metric asks
    n_pairs: int | None = None  # explicit ones, where the labels play no part

    def facts(self) -> dict[str, Any]:
        """For programs."""
        rows = {"rows": self.scored.y.size, "queries": self.scored.n_queries}
        if self.n_pairs is not None:
            return {"rows": self.scored.y.size, "pairs": self.n_pairs, "metrics": self.values}
        return {**rows, "preferences": self.compared and self.compared.plain(), "metrics": self.values}

    def title(self, path: str) -> str:
        """What was judged."""
        what = f"{self.scored.n_queries:,} queries" if self.n_pairs is None else f"{self.n_pairs:,} pairs"
        return f"{path}: {self.scored.y.size:,} rows, {what}"

    def lines(self) -> list[tuple[str, str]]:
        """For people."""
        lines = [(name, decimals(value)) for name, value in self.values.items()]
        return lines if self.compared is None else [*lines, self.compared.line()]


def judge(judged: Contestant, path: str, reading: Reading, judging: Judging, preferences: str | None = None) -> Judged:
    """Judge a file's rows by their labels, and pairs by the preferences of the model if no others are named."""
    compared = comparison(checked(judging.metric or OF_GRADES, judging), preferences, [judged])
    scored = score_file([judged], path, reading, needs_docid(judging))
    refuse_without_queries([judged], scored, path, reading)
    found = checked(judging.metric or (OF_GRADES if are_grades(scored.y) else OF_UTILITIES), judging)
    if compared is not None:
        found = [metric.over(compared.preferences) for metric in found]
    values = {metric.name: float(value_of(metric, scored)) for metric in found}
    return Judged(scored, found, values, compared)


def score_file(judged: Sequence[Contestant], path: str, reading: Reading, keep_docid: bool) -> Scored:
    """Rows of a file, or judgements of TREC, with their scores by each."""
    if any(isinstance(one, RunFile) for one in judged) and is_qrels(path):
        return score_runs(judged, path)
    models = [one for one in judged if isinstance(one, Loaded)]
    like = models[0] if models else None
    if all(model.n_features == like.n_features and model.names == like.names for model in models if like is not None):
        return score_all(judged, read_chunks(path, reading, like), path, keep_docid)
    if path == "-":
        raise DataError("The models have different features, so standard input would be read twice: give a file.")
    parts = [score_file([one], path, reading, keep_docid) for one in judged]
    return replace(parts[0], scores=[part.scores[0] for part in parts])


def score_runs(judged: Sequence[Contestant], path: str) -> Scored:
    """The documents of runs, and those that were judged but not retrieved; queries that were not judged are left out.

    Documents that were not judged have grade 0, as trec_eval has it.
    """
    runs = [one for one in judged if isinstance(one, RunFile)]
    if len(runs) < len(judged):
        raise DataError(f"{path} holds TREC's judgements, which are for runs: name runs alone, or give data.")
    grades = read_qrels(path)
    ids = [qid for qid in grades if all(qid in run.scores for run in runs)]
    if not ids:
        raise DataError(f"{path} judges no query of {runs[0].path}: check their ids.")
    if len(ids) < len(grades):
        logger.warning("%d of %d judged queries are not in the run: they are left out, as trec_eval does",
                       len(grades) - len(ids), len(grades))  # fmt: skip
    rows = [(k, docid) for k, qid in enumerate(ids) for docid in _documents(qid, grades, runs)]
    query = np.array([k for k, _ in rows])
    y = np.array([grades[ids[k]].get(docid, 0.0) for k, docid in rows])
    found = [[run.scores[ids[k]].get(docid) for k, docid in rows] for run in runs]
    scores = [np.array([0.0 if score is None else score for score in of_run]) for of_run in found]
    retrieved = [np.array([score is not None for score in of_run]) for of_run in found]
    return Scored(y, scores, query, ids, [docid for _, docid in rows], retrieved)


def _documents(qid: str, grades: dict[str, dict[str, float]], runs: list[RunFile]) -> list[str]:
    return list(dict.fromkeys([*(docid for run in runs for docid in run.scores[qid]), *grades[qid]]))


def refuse_without_queries(models: Sequence[Contestant], scored: Scored, path: str, reading: Reading) -> None:
    """A model of queries is not judged on rows without them: pairs and lists would cross queries."""
    trained = any(model.fitted_with_qid for model in models)
    if trained and scored.query is None and reading.query != "":
        raise DataError(
            f"The model was trained with queries, and {path} has none: name their column with --query, or say "
            "--query '' if all rows are one query."
        )


def comparison(metrics: list[Metric], preferences: str | None, models: Sequence[Contestant]) -> Compared | None:
    """The preferences that metrics are taken over: those named, or else those of the models; None if no metric asks."""
    if not any(metric.takes_preferences for metric in metrics):
        if preferences is not None:
            raise click.UsageError(f"--preferences is for {', '.join(sorted(OVER_PREFERENCES))}: leave it out.")
        return None
    if preferences is not None:
        return Compared(parse_preferences(preferences))
    own = [Compared(model.preferences, model.why) for model in models]
    if any(other.plain() != own[0].plain() for other in own):
        raise DataError(
            f"The models were trained on different preferences, {' and '.join(other.text() for other in own)}: name "
            "those to compare by with --preferences."
        )
    return own[0]


def score_all(models: Sequence[Contestant], chunks: Iterable[Dataset], path: str, keep_docid: bool = False) -> Scored:
    """Score a file by each; chunk by chunk."""
    parts: list[tuple[FloatArray, list[FloatArray], Any]] = []
    numbers: dict[str, int] = {}
    docid: list[str] = []
    rows = 0
    for chunk in chunks:
        if chunk.y is None:
            raise DataError(f"{path} has no labels to judge by: name their column with --label.")
        query = None if chunk.qid is None else _number(chunk.qid, numbers)
        parts.append((chunk.y, [model.scores_of(chunk, rows) for model in models], query))
        if keep_docid:
            docid += chunk.document_ids(rows + 1)
        rows += chunk.n_rows
    check_any(rows, path)
    for model in models:
        model.check_all_used(rows, path)
    y = np.concatenate([part[0] for part in parts])
    scores = [np.concatenate([part[1][k] for part in parts]) for k in range(len(models))]
    queries = [part[2] for part in parts if part[2] is not None]
    ids = list(numbers)
    return Scored(y, scores, np.concatenate(queries) if queries else None, ids, docid if keep_docid else None)


def check_any(rows: int, path: str) -> None:
    """Refuse a file without rows."""
    if rows == 0:
        raise DataError(f"{path} holds no row to judge by: check that it is whole.")


def _number(qid: NDArray[Any], numbers: dict[str, int]) -> NDArray[np.int64]:
    """Queries numbered in the order in which they occur; `numbers` goes from chunk to chunk."""
    ids, first, inverse = np.unique(qid, return_index=True, return_inverse=True)
    code = np.empty(ids.size, dtype=np.int64)
    names = ids.tolist()
    for k in np.argsort(first):
        code[k] = numbers.setdefault(str(names[k]), len(numbers))  # 7 and "7" are one query
    return code[inverse]


def checked(names: Iterable[str], judging: Judging) -> list[Metric]:
    """Metrics by their names, with the options that they take; --ties that none takes, or that clash, are refused."""
    found = [metric(name, judging) for listed in names for name in each(listed)]
    lists = {name for name, family in FAMILIES.items() if not family.pairwise}
    for known, of_pairs in ((WITH_TIES, True), (lists, False)):
        words = [word for word in judging.ties if (word in TIE_VALUE) == of_pairs]
        if len(words) > 1:
            raise click.UsageError(f"--ties {words[0]} and --ties {words[1]} contradict each other: leave one out.")
        if words and not any(one.family in known for one in found):
            raise click.UsageError(f"--ties {words[0]} is for {', '.join(sorted(known))}: leave it out.")
    return found


def metric(name: str, judging: Judging) -> Metric:
    """A metric with the options that it takes."""
    found = parse(name, judging.preset)
    family = FAMILIES[found.family]
    options: dict[str, Any] = {}
    if judging.threshold is not None and family.threshold:
        options["threshold"] = judging.threshold
    words = [word for word in judging.ties if (word in TIE_VALUE) == family.pairwise]
    if words and (family.ties or not family.pairwise):
        options["ties"] = words[0]
    return parse(found, **options)


def needs_docid(judging: Judging) -> bool:
    """Whether equal scores are ordered by the document's id."""
    return judging.preset == "trec" or "docid" in judging.ties


def run_values(metric: Metric, scored: Scored, k: int) -> FloatArray:
    """A metric's value for each query of a run."""
    assert scored.retrieved is not None
    assert scored.query is not None
    docid = None if metric.pairwise else np.array(scored.docid)
    return of_run(metric, scored.y, scored.scores[k], scored.query, scored.retrieved[k], docid)


def value_of(metric: Metric, scored: Scored, k: int = 0, **options: Any) -> Any:
    """A metric's value; NaN where there is no pair."""
    if scored.retrieved is not None:
        values = run_values(metric, scored, k)
        known = values[~np.isnan(values)]
        return values if options.get("per_query") else float(known.mean()) if known.size else float("nan")
    if scored.docid is not None and not metric.pairwise:
        options["docid"] = scored.docid
    try:
        return metric(scored.y, scored.scores[k], scored.query, **options)
    except NoPairsError:
        return float("nan")
