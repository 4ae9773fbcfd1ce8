"""The architecture, read off the imports: arrows go one way, and the public names are these."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import linrank

SOURCE = Path(linrank.__file__).parent

#: From the bottom up; a module imports from its own layer or from those before it.
LAYERS = [
    ["_text"],
    ["_errors", "_files", "_once", "_threads", "_work"],
    ["kernels"],
    ["_preferences"],
    ["_checks", "_rankings"],
    ["_labels", "_row_counts"],
    ["_data", "summation"],
    ["_missing", "_parts"],
    ["metrics"],
    ["losses", "penalties"],
    ["engines"],
    ["_objective", "_defaults"],
    ["solvers"],
    ["_progress"],
    ["_explanation", "_exports"],
    ["_predictor"],
    ["_folds"],
    ["model_selection", "_scaling", "_calibration"],
    ["rankers"],
    ["_cv", "_classifier"],
    ["_descend"],
    ["_stream"],
    ["_checkpoint"],
    ["_sgd"],
    ["io", "export"],
    ["testing", "cli"],
]
#: Leaves that a module below them imports when a method is called: `ranker.to_solr()` is sugar over `export`.
ON_CALL = {"_exports": {"export"}}
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
        for target in imports(path) - {"__version__"} - ON_CALL.get(home, set()):
            assert HEIGHT[target] <= HEIGHT[home], f"{path.name} ({home}) imports {target}"


#: Draw pairs instead of summing: they see rows, and are no exact solvers.
STOCHASTIC = {"stochastic.py", "_samplers.py"}


def test_solvers_never_see_data_or_engines():
    for path in (SOURCE / "solvers").rglob("*.py"):
        allowed = {"solvers", "penalties", "_errors", "_objective", "_preferences"}
        assert imports(path) <= allowed | ({"kernels"} if path.name in STOCHASTIC else set()), path.name


def test_the_objective_and_the_exact_solvers_see_vectors_alone():
    """Neither kernels nor kinds of matrices, and of scipy only lapack: rows stay in their engine."""
    exact = {path for path in (SOURCE / "solvers").rglob("*.py") if path.name not in STOCHASTIC}
    assert len(exact) >= 15
    for path in (SOURCE / "_objective.py", SOURCE / "penalties.py", *exact):
        for line in path.read_text().splitlines():
            if re.search(r"scipy|issparse|kernels|\bdata\.X\b", line):
                assert line.startswith("from scipy.linalg.lapack import "), f"{path.name}: {line}"
    assert imports(SOURCE / "_objective.py") <= {"_once", "_preferences", "engines", "losses", "penalties"}
    assert imports(SOURCE / "penalties.py") <= {"_preferences"}


def test_the_objective_knows_the_contract_of_engines_alone():
    names = {
        (node.module, alias.name)
        for node in ast.walk(ast.parse((SOURCE / "_objective.py").read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("engines")
        for alias in node.names
    }
    assert names <= {("engines.base", name) for name in ("Engine", "Evaluation", "Scores")}


def test_nothing_reaches_around_the_engine():
    """Losses, solvers and rankers never read rows: what they ask of data is in the engine's contract."""
    homes = [*(SOURCE / "losses").glob("*.py"), SOURCE / "rankers.py", SOURCE / "_defaults.py", SOURCE / "_cv.py"]
    for path in homes:
        assert not re.search(r"\bdata\.X\b", path.read_text()), path.name


def test_public_names():
    assert linrank.__all__ == [
        "AUCClassifier", "ConvergenceWarning", "DataError", "FileFormatError", "LinearRanker", "LinearRankerCV",
        "LinrankError", "ModelFileError", "NoPairsError", "ParameterError", "QueryScaler", "RankingData",
        "SGDRanker", "UndefinedMetricWarning", "compare", "engines", "io", "labels", "load", "losses", "metrics",
        "model_selection", "penalties", "read_svmlight", "save", "solvers", "summation", "testing", "write_svmlight",
    ]  # fmt: skip
    for name in linrank.__all__:
        assert getattr(linrank, name) is not None
        assert name in dir(linrank)


def test_public_metrics():
    assert linrank.metrics.__all__ == [
        "Comparison", "Conventions", "Metric", "auc", "average_precision", "c_index", "compare", "dcg", "err", "hit",
        "kendall_tau", "mean_ndcg", "ndcg", "pairwise_accuracy", "pairwise_error", "parse", "precision", "recall",
        "reciprocal_rank", "scorer", "wmw",
    ]  # fmt: skip
    assert linrank.model_selection.__all__ == ["QueryKFold", "QueryShuffleSplit", "cross_validate"]


def test_leaves_are_imported_on_call_alone():
    for home, leaves in ON_CALL.items():
        tree = ast.parse((SOURCE / f"{home}.py").read_text())
        at_top = [node.module for node in tree.body if isinstance(node, ast.ImportFrom) and node.level]
        assert not leaves & set(at_top)


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
