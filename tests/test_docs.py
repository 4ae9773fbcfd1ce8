"""Everything that README, docs and examples show is run."""

import csv
import re
import runpy
from pathlib import Path

import pytest
from click.testing import CliRunner

import linrank
from linrank.cli import cli
from linrank.testing import make_ranking

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


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
    import doctest

    from linrank import _classifier, _labels, _scaling, _sgd, rankers

    for module in (rankers, _classifier, _labels, _scaling, _sgd):
        assert doctest.testmod(module).failed == 0


def results(name: str) -> list[dict[str, str]]:
    lines = (ROOT / "benchmarks" / "results" / f"{name}.csv").read_text().splitlines()
    return list(csv.DictReader(lines[1:]))


def test_figures_in_the_readme_are_those_of_the_benchmarks():
    readme = (ROOT / "README.md").read_text()
    shapes = {"all utilities different": "1 query, all levels distinct", "5 grades |": "1 query, 5 levels"}
    shapes["8,000 queries"] = "queries of 125 rows, 5 levels"
    for text, shape in shapes.items():
        (row,) = [r for r in results("evaluation") if r["shape"] == shape and r["rows"] == "1000000"]
        line = next(line for line in readme.splitlines() if text in line and line.startswith("|"))
        assert line.rstrip(" |").endswith(f"{float(row['argsorts']):.1f}"), line
    rows = {(r["data"], r["alpha"]): r for r in results("hinge") if r["tol"] == "0.001"}
    for text, key in {"housing": ("cadata", "0.01"), "Webis": ("webis", "0.0001"), "IMDb": ("imdb", "0.0001")}.items():
        cells = next(line for line in readme.splitlines() if line.startswith("|") and text in line).split("|")
        assert cells[5].strip() == f"{float(rows[key]['auto s']):.2f}"
        assert cells[6].strip() == f"{float(rows[key]['algorithm 1 s']):.2f} s"
    documents = next(r for r in results("documents") if r["rows"] == "512000" and r["threads"] == "1")
    assert f"| {float(documents['seconds']):.2f} |" in readme
    web = next(r for r in results("web30k") if r["loss"] == "squared_hinge" and r["threads"] == "1")
    text = " ".join(readme.split())
    assert f"{float(web['seconds']):.0f} s to that gap" in text
    assert f"{float(web['memory grown by MB']):.0f} MB beyond the data" in text
    survival = next(r for r in results("survival") if r["rows"] == "20000")
    assert f"{float(survival['ratio']):.0f} times faster" in text
    ratios = {r["data"]: r["liblinear / auto"] for r in results("squared_hinge") if r["alpha"] == "0.0001"}
    for data, place in {"webis": "Webis", "cadata": "California housing", "imdb": "IMDb"}.items():
        assert re.search(rf"{float(ratios[data]):.0f} (times as long )?on {place}", text), data


def test_figures_on_metrics_and_classification_are_those_of_the_benchmarks():
    page = (ROOT / "docs" / "metrics.md").read_text()
    letor = {(row["fold"], row["metric"]): row for row in results("letor")}
    fold = {name: letor["1", name] for name in ("map", "precision@1", "mean_ndcg", "ndcg@10")}
    for text in (f"MAP {fold['map']['letor']}", f"P@1 {fold['precision@1']['letor']}", fold["mean_ndcg"]["letor"]):
        assert text in page
    for tool in ("letor", "trec", "xgboost"):
        assert fold["ndcg@10"][tool] in page
    costs = {(row["metric"], row["shape"]): float(row["argsorts"]) for row in results("metrics")}
    shapes = sorted({shape for _, shape in costs})  # "1 query" first
    for name in {name for name, _ in costs}:
        assert f"| `{name}` | {costs[name, shapes[0]]:.1f} | {costs[name, shapes[1]]:.1f} |" in page, name
    page = (ROOT / "docs" / "classification.md").read_text()
    for row in results("auc_classifier"):
        start = f"| {row['data']} | {row['model']} | {float(row['s']):.1f} | {row['test AUC']} |"
        assert f"{start} {row['mean probability']} ({row['positive']}) | {row['calibration error']} |" in page


def test_figures_on_stochastic_descent_are_those_of_the_benchmarks():
    page = (ROOT / "docs" / "stochastic.md").read_text()
    for name in ("sgd_letor", "sgd_claims"):
        for row in results(name):
            assert f"| {row['ranker']} | {row['MAP']} |" in page
            assert f"| {row['accuracy']} |" in page
    for row in results("sgd_rcv"):
        assert f"| {row['learner']} | {row['ROC area']} | {float(row['CPU seconds']):.2f} |" in page
    for row in results("sgd_speed"):
        assert f"| {row['data']} | {float(row['pegasos us']):.2f} |" in page
    for row in results("sgd_rows"):
        assert f"| {int(row['rows']):,} | {float(row['uniform us a step']):.2f} |" in page
    (stream,) = results("sgd_stream")
    assert f"grows by {float(stream['memory grown by MB']):.0f} MB" in page


def test_figures_on_the_logistic_loss_are_those_of_the_benchmarks():
    page = (ROOT / "docs" / "logistic.md").read_text()
    for row in results("logistic_growth"):
        if row["rows"] == "1000000":
            ours, fourier = (row[f"{name}, value and gradient, argsorts"] for name in ("exponentials", "Fourier 1e-06"))
            assert f"| {float(ours):.1f} | {float(fourier):.1f} |" in page
    (full,) = [row for row in results("logistic_crossing") if row["rows"] == "20640"]
    assert f"{float(full['direct / sorted']):.0f} times faster at all 20,640" in page
    shown = {line.split(" | ")[0].strip("| "): line for line in page.splitlines() if line.startswith("| ")}
    for row in results("rankncg"):
        if ", " in row["data"] and row["data"] in shown:
            wmw, seconds = row["exact newton WMW"], (float(row["exact newton s"]), float(row["fast s"]))
            paper = " / ".join(row[f"paper's {method} WMW"] for method in ("direct", "fast"))
            assert f"| {wmw} | {paper} | {seconds[0]:.3f} | {seconds[1]:.3f} |" in shown[row["data"]]
    (poly,) = [row for row in results("rankncg_nonlinear") if row["features"] == "PolynomialFeatures(2)"]
    assert f"gives {poly['WMW']}" in page
