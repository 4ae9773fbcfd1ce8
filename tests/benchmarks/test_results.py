"""What results say of themselves, and when they are old."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import figures
import results

ROOT = Path(__file__).parents[2]
QUESTIONS = sorted(path.stem for path in (ROOT / "benchmarks" / "questions").glob("[!_]*.py"))


def copied(folder: Path) -> Path:
    """A copy of what a release holds, with one result, measured just now."""
    for name in ("benchmarks", "src", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.png"))
    shutil.copy(ROOT / "README.md", folder)
    here = folder / "benchmarks" / "results"
    for path in here.glob("*.csv"):
        head, rows = results.read(path)
        if path.stem != results.ELSEWHERE:
            head = {"date": "today", "sources": " ".join(results.ALL), **head}
            head["hash"] = results.digest(tuple(head["sources"].split()), folder / "src" / "linrank")
        results.write(path, rows, head)
    return folder


def stale(folder: Path) -> tuple[int, str]:
    command = [sys.executable, "benchmarks/run.py", "--stale"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def test_an_edited_kernel_makes_results_old_and_leaves_the_docs_right(tmp_path):
    folder = copied(tmp_path)
    assert stale(folder) == (0, f"0 of {len(list((folder / 'benchmarks/results').glob('*.csv')))} results are old.\n")
    kernel = folder / "src" / "linrank" / "kernels" / "erfc.py"
    kernel.write_text(kernel.read_text() + "\n")
    code, printed = stale(folder)
    assert code == 1
    assert "erfc_growth" in printed
    assert "\nletor " not in printed  # which does not speak of that kernel
    given = figures.Tables(folder / "benchmarks" / "results")
    for page in figures.PAGES:
        text = page.read_text(encoding="utf-8")
        assert figures.fill(text, given) == text


def test_a_result_from_before_hashes_is_old(tmp_path):
    (tmp_path / "b.csv").write_text("# AMD EPYC, Python 3.11.7\nx\n1\n")
    results.write(tmp_path / "a.csv", [{"x": "1"}], {"machine": "some", "date": "unknown", "hash": "unknown"})
    results.write(tmp_path / "elsewhere.csv", [{"x": "1"}], {"about": "measured on another machine"})
    assert list(results.stale(tmp_path)) == ["a", "b"]


def test_sources_that_are_gone_make_a_result_old(tmp_path):
    library = tmp_path / "linrank"
    library.mkdir()
    (library / "kernel.py").write_text("x")
    sources = ("kernel.py",)
    head = {"date": "today", "sources": "kernel.py", "hash": results.digest(sources, library)}
    results.write(tmp_path / "a.csv", [{"x": "1"}], head)
    assert not results.stale(tmp_path, library)
    (library / "kernel.py").rename(library / "moved.py")
    assert list(results.stale(tmp_path, library)) == ["a"]


QUOTED = [
    ("README.md", "hinge", {"data": "webis", "alpha": "0.0001", "tol": "0.001"}, "auto s"),
    ("README.md", "web30k", {"loss": "squared_hinge", "threads": "1"}, "memory grown by MB"),
    ("README.md", "elsewhere", {"opponent": "SVMrank", "data": "imdb"}, "value"),
    ("docs/stochastic.md", "sgd_speed", {"data": "imdb"}, "romma us"),
    ("docs/metrics.md", "letor", {"fold": "1", "metric": "map"}, "letor"),
    ("docs/logistic.md", "rankncg", {"data": "Abalone, sex"}, "exact newton s"),
    ("docs/classification.md", "auc_classifier", {"model": "LogisticRegression"}, "test AUC"),
]


@pytest.mark.parametrize(("page", "name", "where", "column"), QUOTED)
def test_an_edited_digit_in_a_result_makes_the_docs_wrong(page, name, where, column, tmp_path):
    folder = tmp_path / "results"
    shutil.copytree(results.RESULTS, folder)
    text = (ROOT / page).read_text(encoding="utf-8")
    assert figures.fill(text, figures.Tables(folder)) == text
    head, rows = results.read(folder / f"{name}.csv")
    row = next(row for row in rows if where.items() <= row.items())
    row[column] = re.sub(r"[1-9]", lambda digit: str(int(digit[0]) % 9 + 1), row[column], count=1)
    results.write(folder / f"{name}.csv", rows, head)
    assert figures.fill(text, figures.Tables(folder)) != text


def test_a_result_says_where_when_and_from_what_it_comes(tmp_path, capsys):
    sources = ("kernels/**/*.py",)
    with results.answering(sources, tmp_path):
        results.report("speed", [{"data": "a, b", "s": 0.123456, "none": None, "nan": float("nan"), "n": 3}])
    head, rows = results.read(tmp_path / "speed.csv")
    assert list(head) == ["machine", "versions", "date", "sources", "hash"]
    assert all(head.values())
    assert "numba" in head["versions"]
    assert head["hash"] == results.digest(sources)
    assert rows == [{"data": "a, b", "s": "0.1235", "none": "", "nan": "", "n": "3"}]
    assert "| a, b | 0.1235 |  |  | 3 |" in capsys.readouterr().out


def test_every_result_is_reported_by_one_question():
    reported: list[str] = []
    for name in QUESTIONS:
        text = (ROOT / "benchmarks" / "questions" / f"{name}.py").read_text()
        reported += set(re.findall(r'report\(\s*"(\w+)"', text))
    assert len(reported) == len(set(reported))
    kept = {path.stem for path in results.RESULTS.glob("*.csv")} - {results.ELSEWHERE}
    assert kept <= set(reported)


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_names_sources_that_exist(name):
    import importlib

    module = importlib.import_module(f"questions.{name}")
    for pattern in getattr(module, "SOURCES", results.ALL):
        assert list(results.LIBRARY.glob(pattern)), pattern


def test_figures_from_elsewhere_say_so_and_are_in_no_other_result():
    head, rows = results.read(results.RESULTS / "elsewhere.csv")
    assert "none of these figures was measured in a run of this project" in head["about"]
    assert all(row["where"] for row in rows)
    for name in ("svmrank", "liblinear_ranksvm", "sofia_ml"):
        text = (ROOT / "benchmarks" / "opponents" / f"{name}.py").read_text()
        assert "elsewhere" not in text
    assert results.elsewhere("SVMrank", "cadata", "hinge, alpha 0.01, seconds") == "41.0"
    assert results.elsewhere("SVMrank", "cadata", "hinge, alpha 1, seconds") == ""
