"""Everything that README, docs and examples show is run."""

import doctest
import importlib
import logging
import re
import runpy
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import linrank
from linrank.cli import cli
from linrank.testing import make_ranking

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

import figures  # noqa: E402
import quoted  # noqa: E402

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.fixture(autouse=True)
def loudness():
    """A page or an example may silence the library's log: for itself alone."""
    log = logging.getLogger("linrank")
    before = log.level
    yield
    log.setLevel(before)


def python_blocks(page: Path) -> str:
    return "\n".join(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))


@pytest.mark.parametrize("page", [page for page in PAGES if python_blocks(page)], ids=lambda page: page.stem)
def test_python_blocks_run_in_order(page, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    exec(compile(python_blocks(page), str(page), "exec"), {"__name__": "page"})
    assert "nan" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "benchmarks" / "README.md"], ids=lambda p: p.stem
)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_commands_of_the_readme_run(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for k, name in enumerate(("train", "vali", "test")):
        X, y, qid = make_ranking(120, 4, 6, 4, seed=k)
        linrank.write_svmlight(tmp_path / f"{name}.txt", X, y - y.min(), qid)
    commands = re.findall(r"^\$ linrank (.*)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert len(commands) == 4
    for command in commands:
        answer = CliRunner().invoke(cli, command.split(" > ")[0].split())
        assert answer.exit_code == 0, answer.output
        assert answer.stdout or "-o" in command


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_examples_run(example):
    assert runpy.run_path(str(example))["main"]() > 0.6


def test_docstring_examples():
    source, tried = Path(linrank.__file__).parent, 0
    for path in source.rglob("*.py"):
        if ">>> " in path.read_text(encoding="utf-8"):
            name = ".".join(path.relative_to(source.parent).with_suffix("").parts)
            found = doctest.testmod(importlib.import_module(name))
            assert (found.failed, found.attempted > 0) == (0, True), name
            tried += 1
    assert tried >= 5


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_figures_are_those_of_the_results(page):
    text = page.read_text(encoding="utf-8")
    assert figures.fill(text) == text, f"{page.name}: python benchmarks/run.py --write-docs"


def test_every_figure_that_has_a_name_is_quoted():
    shown = [name for page in PAGES for name in figures.markers(page.read_text(encoding="utf-8"))]
    assert sorted(shown) == sorted([*quoted.FIGURES, *quoted.TABLES])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_figure_begins_a_line(page):
    """There Markdown would take the rest of the line for HTML."""
    assert not re.findall(r"^ {0,3}<!--\w", page.read_text(encoding="utf-8"), re.MULTILINE)


def test_every_row_of_the_papers_is_linked_to_a_test_that_exists():
    page = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    tables = page.split("| what | how to call it")[1:]
    assert len(tables) == 4
    for table in tables:
        rows = table.split("\n\n")[0].splitlines()[2:]
        assert len(rows) > 8
        for row in rows:
            named = re.findall(r"`([\w/]+\.py)::(test_\w+)`", row.split(" | ")[-1])
            assert named, row
            for file, name in named:
                assert f"def {name}(" in (ROOT / "tests" / file).read_text(encoding="utf-8"), f"{file}::{name}"


def test_examples_import_public_names_alone():
    for example in (ROOT / "examples").glob("*.py"):
        for home, names in re.findall(r"^from (linrank[\w.]*) import (.*)$", example.read_text(), re.MULTILINE):
            assert not any(part.startswith("_") for part in [*home.split("."), *names.split(", ")]), example.name
