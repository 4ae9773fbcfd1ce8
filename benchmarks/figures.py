"""The figures that README and docs quote: each has a name here, and a marker with that name where it stands.

    trains in <!--web30k_seconds-->2<!--/--> s             a figure within a sentence, never first in its line
    <!-- table hinge -->                                   a whole table, up to
    <!-- end -->

`run.py --write-docs` fills them in from results/; pytest says whether they are what results/ say. Nothing else does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import results

ROOT = results.ROOT
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
INLINE = re.compile(r"<!--(\w+)-->(.*?)<!--/-->", re.DOTALL)
TABLE = re.compile(r"(<!-- table (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
ELSEWHERE = "\\*"


@dataclass
class Tables:
    """Results by name, and which of them were asked for."""

    folder: Path = results.RESULTS
    asked: set[str] = field(default_factory=set)

    def rows(self, name: str, **where: str) -> list[dict[str, str]]:
        """Rows of a table; columns are named with _ for a space."""
        self.asked.add(name)
        return results.table(name, self.folder, **{column.replace("_", " "): text for column, text in where.items()})

    def cell(self, name: str, column: str, **where: str) -> str:
        """The entry of the one row there is."""
        (row,) = self.rows(name, **where)
        return row[column]

    def elsewhere(self, opponent: str, data: str, figure: str) -> str:
        """A figure measured elsewhere."""
        return results.elsewhere(opponent, data, figure, self.folder)


def digits(text: str, n: int = 2) -> str:
    """A number with n digits; 0.01 rather than 1e-02; nothing stays nothing."""
    if not text:
        return ""
    value = float(text)
    return f"{value:.0f}" if abs(value) >= 10**n else f"{float(f'{value:.{n}g}'):g}"


def fixed(text: str, places: int) -> str:
    """A number with so many places; nothing stays nothing."""
    return f"{float(text):.{places}f}" if text else ""


def p_value(text: str) -> str:
    """To two places; what is smaller than the smallest of them is said to be."""
    return "< 0.01" if text and float(text) < 0.005 else fixed(text, 2)


def markdown(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table."""
    head = list(head)
    lines = [" | ".join(row) for row in (head, ["---"] * len(head), *rows)]
    lines[1] = "|".join(["---"] * len(head))
    return "".join(f"|{line}|\n" if k == 1 else f"| {line} |\n" for k, line in enumerate(lines))


# Figures within sentences.


def _one(name: str, column: str, form: Callable[[str], str] = digits, **where: str) -> Callable[[Tables], str]:
    return lambda given: form(given.cell(name, column, **where))


def _same(text: str) -> str:
    return text


def _web(column: str, form: Callable[[str], str] = digits) -> Callable[[Tables], str]:
    return _one("web30k", column, form, loss="squared_hinge", threads="1")


def _other(opponent: str, data: str, figure: str) -> Callable[[Tables], str]:
    return lambda given: given.elsewhere(opponent, data, figure)


def _newton(data: str) -> Callable[[Tables], str]:
    return _one("squared_hinge", "auto s", data=data, alpha="0.0001")


def _letor(metric: str, tool: str) -> Callable[[Tables], str]:
    return _one("letor", tool, _same, fold="1", metric=metric)


SQUARED = "squared hinge, alpha 0.0001, seconds"
FIGURES: dict[str, Callable[[Tables], str]] = {
    "web30k_seconds": _web("seconds"),
    "web30k_memory": _web("memory grown by MB", lambda text: fixed(text, 0)),
    "survival_ratio": _one("survival", "scikit-survival / ours", lambda text: fixed(text, 0), rows="20000"),
    **{f"squared_{data}": _newton(data) for data in ("webis", "cadata", "imdb")},
    **{f"liblinear_{data}": _other("liblinear-ranksvm", data, SQUARED) for data in ("webis", "cadata", "imdb")},
    "letor_map": _letor("map", "letor"),
    "letor_precision": _letor("precision@1", "letor"),
    "letor_mean_ndcg": _letor("mean_ndcg", "letor"),
    **{f"ndcg_{tool}": _letor("ndcg@10", tool) for tool in ("letor", "trec", "xgboost")},
    "stream_memory": _one("sgd_stream", "memory grown by MB", lambda text: fixed(text, 0)),
    "stream_seconds": _one("sgd_stream", "seconds"),
    "stream_reading": _one("sgd_stream", "reading alone s"),
    "hundred_passive": _one("sgd_path", "training", rule="passive_aggressive", steps="100"),
    "hundred_sgd": _one("sgd_path", "training", rule="sgd", steps="100"),
    "sgd_path_alpha": _one("sgd_path", "alpha", _same, rule="exact"),
    "crossing": _one("logistic_crossing", "direct / sorted", lambda text: fixed(text, 0), rows="20640"),
    "randnet": _one("rankncg", "exact newton WMW", lambda text: text.split()[0], data="RandNet 1000"),
    "randpoly": _one("rankncg", "exact newton WMW", lambda text: text.split()[0], data="RandPoly 1000"),
    "polynomial": _one("rankncg_nonlinear", "WMW", _same, features="PolynomialFeatures(2)"),
}


# Tables.


def _evaluation(given: Tables) -> str:
    shapes = {
        "one query, all utilities different (5·10¹¹ pairs)": "1 query, all levels distinct",
        "one query, 5 grades": "1 query, 5 levels",
        "8,000 queries of 125 rows, 5 grades": "queries of 125 rows, 5 levels",
    }
    rows = ((text, digits(given.cell("evaluation", "argsorts", shape=s, rows="1000000"))) for text, s in shapes.items())
    return markdown(["shape, 1,000,000 rows", "time in argsorts"], rows)


def _hinge(given: Tables) -> str:
    head = ["data", "rows x features", "pairs", "alpha", "seconds", "Algorithm 1 of the paper", "SVMrank"]
    rows = []
    for title, size, data, alpha, shown in (
        ("California housing", "20,640 x 8 | 2.1·10⁸", "cadata", "0.01", "10⁻²"),
        ("Webis ClueWeb09", "26,646 x 42 | 1.6·10⁶", "webis", "0.0001", "10⁻⁴"),
        ("IMDb reviews", "25,000 x 44,798, sparse | 2.7·10⁸", "imdb", "0.0001", "10⁻⁴"),
    ):
        (row,) = given.rows("hinge", data=data, alpha=alpha, tol="0.001")
        first = digits(row["algorithm 1 s"])
        svmrank = row.get("SVMrank s") or f"{given.elsewhere('SVMrank', data, f'hinge, alpha {alpha}, seconds')} s"
        mark = "" if row.get("SVMrank s") else f" {ELSEWHERE}"
        rows.append([title, size, shown, digits(row["auto s"]), f"{first} s" if first else "", svmrank + mark])
    seconds = digits(given.cell("documents", "seconds", rows="512000", threads="1"))
    rows.append(["documents by similarity", "512,000 x 50,000, sparse | 1.3·10¹¹", "2·10⁻⁵", seconds, "", ""])
    return markdown(head, rows)


def _metrics(given: Tables) -> str:
    first, second = "1 query", "100,000 queries of 100 rows"
    rows = [
        [f"`{row['metric']}`", *(fixed(given.cell("metrics", "argsorts", metric=row["metric"], shape=s), 1) for s in (first, second))]
        for row in given.rows("metrics", shape=first)
    ]  # fmt: skip
    return markdown(["metric, five grades", "one query", second], rows)


def _auc_classifier(given: Tables) -> str:
    head = ["data", "model", "seconds", "test AUC", "mean probability (positive rows)", "calibration error"]
    rows = []
    for row in given.rows("auc_classifier"):
        share = f"{row['mean probability']} ({row['positive']})"
        rows.append([row["data"], row["model"], fixed(row["s"], 1), row["test AUC"], share, row["calibration error"]])
    return markdown(head, rows)


def _mq2008(name: str) -> Callable[[Tables], str]:
    def table(given: Tables) -> str:
        rows = []
        for row in given.rows(name):
            values = row["MAP"], p_value(row["p (MAP)"]), row["accuracy"], p_value(row["p (accuracy)"])
            rows.append([row["ranker"], *values, fixed(row["seconds a fit"], 2)])
        return markdown(["ranker", "MAP", "p", "accuracy", "p", "seconds a fit"], rows)

    return table


def _sgd_speed(given: Tables) -> str:
    shown = {
        "pegasos us": "pegasos",
        "sgd us": "sgd",
        "passive_aggressive us": "passive_aggressive",
        "romma us": "romma",
        "SGDClassifier us": "SGDClassifier",
        "with making differences us": "with differences made",
        "whole fit us": "whole fit",
    }
    rows = []
    for row in given.rows("sgd_speed"):
        sofia = fixed(row.get("sofia-ml us", ""), 2)
        if not sofia:
            sofia = f"{given.elsewhere('sofia-ml', row['data'].split(',')[0], 'microseconds a step')} {ELSEWHERE}"
        rows.append([row["data"], *(fixed(row[column], 2) for column in shown), sofia])
    return markdown(["data", *shown.values(), "sofia-ml"], rows)


def _sgd_rows(given: Tables) -> str:
    head = ["rows", "uniform", "its index, s", "bytes a row", "balanced", "rejection"]
    columns = (
        "uniform us a step",
        "uniform index s",
        "uniform bytes a row",
        "balanced us a step",
        "rejection us a step",
    )
    rows = [[f"{int(row['rows']):,}", *(fixed(row[c], 2) for c in columns)] for row in given.rows("sgd_rows")]
    return markdown(head, rows)


def _sgd_rcv(given: Tables) -> str:
    rows = [
        [row["learner"], row["ROC area"], fixed(row["CPU seconds"], 2), row["chosen"]] for row in given.rows("sgd_rcv")
    ]
    return markdown(["learner", "ROC area", "CPU seconds", "chosen"], rows)


def _logistic_growth(given: Tables) -> str:
    columns = [f"{way}, value and gradient, argsorts" for way in ("exponentials", "Fourier 1e-06")]
    rows = [
        [row["levels"].replace("distinct", "all different"), *(fixed(row[column], 1) for column in columns)]
        for row in given.rows("logistic_growth", rows="1000000")
    ]
    return markdown(["levels", "exponentials, to 3·10⁻¹²", "Fourier series, to 10⁻⁶"], rows)


def _rankncg(given: Tables) -> str:
    head = ["data", "rows", "pairs (the paper's)", "WMW", "the paper's, direct / fast", "seconds, exact by Newton"]
    rows = []
    for row in given.rows("rankncg"):
        paper = " / ".join(row[f"paper's {method} WMW"] for method in ("direct", "fast"))
        pairs = f"{row['pairs']} ({row["paper's pairs"]})"
        seconds = (fixed(row[f"{method} s"], 3) for method in ("exact newton", "fast"))
        theirs = given.elsewhere("RankNCG (paper)", row["data"], "fast seconds")
        rows.append([row["data"], row["rows"], pairs, row["exact newton WMW"], paper, *seconds, theirs])
    return markdown([*head, "seconds, RankNCG fast", "the paper's, fast"], rows)


TABLES: dict[str, Callable[[Tables], str]] = {
    "evaluation": _evaluation,
    "hinge": _hinge,
    "metrics": _metrics,
    "auc_classifier": _auc_classifier,
    "sgd_letor": _mq2008("sgd_letor"),
    "sgd_claims": _mq2008("sgd_claims"),
    "sgd_speed": _sgd_speed,
    "sgd_rows": _sgd_rows,
    "sgd_rcv": _sgd_rcv,
    "logistic_growth": _logistic_growth,
    "rankncg": _rankncg,
}


def fill(text: str, given: Tables | None = None) -> str:
    """A page with its figures as results/ say."""
    known = given or Tables()
    text = INLINE.sub(lambda found: f"<!--{found[1]}-->{FIGURES[found[1]](known)}<!--/-->", text)
    return TABLE.sub(lambda found: found[1] + TABLES[found[2]](known) + found[4], text)


def markers(text: str) -> list[str]:
    """Names of the figures and tables that a page shows."""
    return [found[1] for found in INLINE.finditer(text)] + [found[2] for found in TABLE.finditer(text)]


def write_pages() -> int:
    """Fill all pages."""
    for page in PAGES:
        before = page.read_text(encoding="utf-8")
        after = fill(before)
        if after != before:
            page.write_text(after, encoding="utf-8")
            print(f"{page.relative_to(ROOT)} written")
    return 0


def quoted_questions() -> list[str]:
    """Questions whose tables the pages quote."""
    asked = Tables()
    for page in PAGES:
        fill(page.read_text(encoding="utf-8"), asked)
    found = []
    for path in sorted((ROOT / "benchmarks" / "questions").glob("[!_]*.py")):
        if set(re.findall(r'report\(\s*"(\w+)"', path.read_text(encoding="utf-8"))) & asked.asked:
            found.append(path.stem)
    return found
