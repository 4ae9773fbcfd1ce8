"""The architecture, read off the imports: arrows go one way, and the public names are these."""

import ast
import importlib
import re
import sys
import tomllib
from pathlib import Path

import pytest

import linrank

SOURCE = Path(linrank.__file__).parent

#: From the bottom up; a module imports from its own layer or from those before it. `docs/architecture.md` draws them.
LAYERS = [
    ["_bars", "_errors", "_files", "_lazy", "_memory", "_once", "_progress", "_text", "_threads", "_typing", "_work"],
    ["kernels"],
    ["data"],
    ["losses", "metrics", "penalties", "summation"],
    ["engines"],
    ["defaults", "objective"],
    ["solvers", "stochastic"],
    ["export", "inference", "model_selection", "published", "rankers"],
    ["cli", "io", "testing"],
]
HEIGHT = {name: height for height, names in enumerate(LAYERS) for name in names}


def imports(path: Path) -> set[str]:
    """First component, below linrank, of everything imported at run time."""
    package = path.relative_to(SOURCE).parent.parts
    found = set()
    tree = ast.parse(path.read_text())
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level and id(node) not in typing_only:
            base = package[: len(package) - node.level + 1]
            names = [node.module.split(".")] if node.module else [[alias.name] for alias in node.names]
            found |= {(*base, *name)[0] for name in names}
    return found


def test_imports_go_one_way():
    for path in SOURCE.rglob("*.py"):
        home = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if home == "__init__":
            continue
        for target in imports(path) - {"__version__"}:
            assert HEIGHT[target] <= HEIGHT[home], f"{path.name} ({home}) imports {target}"


def test_every_module_has_a_layer_and_every_layer_its_modules():
    there = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in SOURCE.rglob("*.py")}
    assert there - {"__init__"} == set(HEIGHT)
    assert len(LAYERS) == 9


def test_the_page_on_architecture_draws_these_layers_and_names_files_that_exist():
    page = (Path(__file__).parent.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    drawn = re.findall(r"^\| \d \| (.*?) \|", page, re.MULTILINE)
    rooms = [[name.strip("`/") for name in re.findall(r"`\w+/?`", row.split("(")[0])] for row in drawn]
    assert [sorted(row) for row in rooms] == LAYERS
    named = {name for name in re.findall(r"`([\w/]+\.py)`", page) if "NAME" not in name}
    named = {name for name in named if not name.startswith(("tests/", "benchmarks/"))}
    assert len(named) > 20
    for name in named:
        assert (SOURCE / name).exists() or any(SOURCE.rglob(name)), name


def test_kernels_are_compiled_functions_alone():
    """No Python that allocates: what is not compiled names types, builds intrinsics or computes constants."""
    plain = {"_jit.py", "_vector.py"}  # the decorator, and the intrinsics with their twins
    for path in (SOURCE / "kernels").rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and path.name not in plain and not node.decorator_list:
                calls = "".join(ast.unparse(inner) for inner in ast.walk(node) if isinstance(inner, ast.Call))
                assert not re.search(r"np\.(empty|zeros|ones|full)", calls), f"{path.name}: {node.name} allocates"


def test_solvers_never_see_data_or_engines():
    for path in (SOURCE / "solvers").rglob("*.py"):
        assert imports(path) <= {"solvers", "penalties", "_errors", "_once", "_typing", "objective"}, path.name


def test_the_objective_and_the_exact_solvers_see_vectors_alone():
    """Neither kernels nor kinds of matrices, and of scipy only lapack and blas: rows stay in their engine."""
    exact = list((SOURCE / "solvers").rglob("*.py"))
    assert len(exact) >= 15
    for path in (SOURCE / "objective.py", SOURCE / "penalties.py", *exact):
        for line in path.read_text().splitlines():
            if re.search(r"scipy|issparse|kernels|\bdata\.X\b", line):
                assert re.match(r"from scipy\.linalg\.(lapack|blas) import ", line), f"{path.name}: {line}"
    assert imports(SOURCE / "objective.py") <= {"_once", "_typing", "engines", "losses", "penalties"}
    assert imports(SOURCE / "penalties.py") <= {"_errors", "_typing"}


def test_the_objective_knows_the_contract_of_engines_alone():
    names = {
        (node.module, alias.name)
        for node in ast.walk(ast.parse((SOURCE / "objective.py").read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("engines")
        for alias in node.names
    }
    assert names <= {("engines.base", name) for name in ("Engine", "Evaluation", "Scores")}


def test_nothing_reaches_around_the_engine():
    """Losses, solvers and rankers never read rows: what they ask of data is in the engine's contract."""
    homes = [*(SOURCE / "losses").glob("*.py"), *(SOURCE / "rankers").glob("*.py"), SOURCE / "defaults.py"]
    for path in homes:
        assert not re.search(r"\bdata\.X\b", path.read_text()), path.name


def test_public_names():
    assert linrank.__all__ == [
        "AUCClassifier", "ConvergenceWarning", "DataError", "FileFormatError", "LinearRanker", "LinearRankerCV",
        "LinrankError", "ModelFileError", "NoPairsError", "ParameterError", "QueryScaler", "RankingData",
        "SGDRanker", "UndefinedMetricWarning", "compare", "engines", "export", "inference", "io", "labels", "load",
        "losses", "metrics", "model_selection", "penalties", "published", "read_svmlight", "save", "scan", "solvers",
        "summation", "testing", "write_svmlight",
    ]  # fmt: skip
    for name in linrank.__all__:
        assert getattr(linrank, name) is not None
        assert name in dir(linrank)


@pytest.mark.parametrize("package", ["linrank", "linrank.io", "linrank.export"])
def test_names_that_are_imported_when_asked_for(package):
    """Each answers, whatever was imported before: no module of the package has the name of something else in it."""
    module = importlib.import_module(package)
    folder = Path(module.__file__).parent
    stub = (folder / "__init__.pyi").read_text()
    for name in module.__all__:
        assert getattr(module, name) is not None
        there = (folder / f"{name}.py").exists() or (folder / name).is_dir()
        assert there == (f"from . import {name} as" in stub), name
    assert set(module.__all__) <= set(dir(module))
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nothing'"):
        _ = module.nothing


def test_public_metrics():
    assert sorted(linrank.metrics.__all__) == [
        "Comparison", "Conventions", "Metric", "auc", "average_precision", "c_index", "compare", "dcg", "err", "hit",
        "kendall_tau", "log_loss", "mean_ndcg", "ndcg", "pairwise_accuracy", "pairwise_error", "parse", "precision",
        "recall", "reciprocal_rank", "scorer", "wmw",
    ]  # fmt: skip
    assert linrank.model_selection.__all__ == ["PairKFold", "QueryKFold", "QueryShuffleSplit", "cross_validate"]


def test_every_package_that_is_imported_is_declared():
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
    needs = [*project["dependencies"], *(need for extra in project["optional-dependencies"].values() for need in extra)]
    declared = {re.split(r"[\[>=<]", need)[0].replace("-", "_").lower() for need in needs}
    called = {"sklearn": "scikit_learn"}  # what a package is called where it is imported
    found = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add(node.module.split(".")[0])
    others = {called.get(name, name) for name in found - set(sys.stdlib_module_names) - {"linrank"}}
    assert "llvmlite" in others
    assert others <= declared
