"""Options that commands share, gathered into values; nothing here imports more than click before it is needed."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click

from ._help import DATA, JUDGING, OUTPUT, Decorator, hush, in_group

# The names that parameters take, spelled out so that help needs no kernels; a test compares them with the library's.
LOSSES = ("hinge", "squared_hinge", "logistic", "logistic_erfc")
SOLVERS = ("bundle", "newton", "cg", "tron")
RULES = (
    *("sgd", "pegasos", "passive_aggressive", "romma", "passive_aggressive_then_pegasos"),
    *("sgd_svm", "perceptron", "perceptron_margin"),
)
SAMPLINGS = ("uniform", "balanced", "rejection")
#: The papers' systems, and the parameters that each has under their names here.
METHODS = {
    "treersvm": ("lambda_", "eps"),
    "pairrsvm": ("lambda_", "eps"),
    "ostranksvm": ("C", "eps_s"),
    "dcmranksvm": ("C", "eps_s"),
    "pswxranksvm": ("C", "eps_s"),
    "spd": ("rule", "lambda_", "C", "iterations", "sampling", "random_state"),
    "rankncg": ("lambda_", "eps", "tol", "start", "random_state"),
}
MISSING = ("error", "zero", "mean")
PRESETS = ("trec", "sklearn", "xgboost", "lightgbm", "letor")
TIES = ("half", "correct", "wrong", "average", "input", "docid", "threshold")  # of pairs, then of lists


class OneOf(click.ParamType):  # type: ignore[type-arg]
    """One of the names in a table of the library, which is imported when help or a value asks for it."""

    name = "choice"

    def __init__(self, module: str, table: str) -> None:
        self._module, self._table = module, table

    @property
    def choice(self) -> click.Choice[str]:
        """The names, in the table's order."""
        return click.Choice(tuple(getattr(importlib.import_module(self._module, "linrank"), self._table)))

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        """The names, for help."""
        return self.choice.get_metavar(param, ctx)

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:
        """The names, where none was given."""
        return self.choice.get_missing_message(param, ctx)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name itself, if it is known."""
        return self.choice.convert(value, param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        """Names that begin so."""
        return self.choice.shell_complete(ctx, param, incomplete)


class Listed(click.Option):
    """An option whose help lists the names that it takes, where these are too many for a line."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The option, what it is for, and the names."""
        assert isinstance(self.type, OneOf)
        option, _ = super().get_help_record(ctx) or ("", "")
        names = ", ".join(self.type.choice.choices)
        more = "  [required]" if self.required else ""
        return option, f"{self.help or 'One of'} {names}.{more}"


def gathered(name: str, kind: type[Any], *options: Decorator) -> Decorator:
    """Options of the fields of a dataclass, given to the command as one argument."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def run(*args: Any, **given: Any) -> Any:
            fields = {field.name: given.pop(field.name) for field in dataclasses.fields(kind)}
            return function(*args, **given, **{name: kind(**fields)})

        decorated: Callable[..., Any] = run
        for option in reversed(options):
            decorated = option(decorated)
        return decorated

    return decorate


@dataclass(frozen=True)
class Reading:
    """How to read data."""

    format: str | None = None
    label: str | None = None
    query: str | None = None
    id: str | None = None
    weight: str | None = None
    drop: tuple[str, ...] = ()
    zero_based: bool = False
    skip_bad_lines: bool = False
    n_features: int | None = None
    float32: bool = False
    cache: str | None = None
    jobs: int | None = None


def reading_options_with(query_option: str) -> Decorator:
    """How to read data; the column of the query goes by a name that the command has free."""
    return gathered("reading", Reading, *_reading_options(query_option))


def _reading_options(query_option: str) -> tuple[Decorator, ...]:
    return (
        in_group(
            DATA,
            click.option("--label", metavar="COLUMN", help="Column of the label (tables); '' for none."),
            click.option(query_option, "query", metavar="COLUMN", help="Column of the query (tables); '' for none."),
            click.option("--id", metavar="COLUMN", help="Column of the document's id (tables); '' for none."),
            click.option("--weight", metavar="COLUMN", help="Column of row weights (tables); '' for none."),
            click.option("--drop", metavar="COLUMN", multiple=True,
                         help="Leave out a column (tables); may be repeated."),
            click.option("--format", type=OneOf(".io.formats", "FORMATS"), cls=Listed, metavar="FORMAT",
                         help="If the file's ending does not say it:"),
            click.option("--zero-based", is_flag=True, help="Feature ids begin at 0 (SVMlight)."),
            click.option("--skip-bad-lines", is_flag=True, help="Leave out malformed lines (SVMlight)."),
            click.option("--n-features", type=click.IntRange(1), metavar="N",
                         help="Number of features, if the data does not show all."),
            click.option("--float32", is_flag=True, help="Keep features in single precision: half the memory."),
            click.option("--cache", metavar="DIR", help="Where data larger than memory is kept.  [default: "
                         "$LINRANK_CACHE, or the user's own]"),
            click.option("-j", "--jobs", type=int, metavar="N", help="Threads; -1 is all of them.  [default: 1]"),
        ),
    )  # fmt: skip


reading_options = reading_options_with("--query")


class Sources(str):
    """Files, globs and folders as one argument: its text is what they are called, `names` are the names given."""

    names: tuple[str, ...]

    @classmethod
    def of(cls, names: tuple[str, ...]) -> Sources:
        """Of what stands on the command line."""
        sources = cls(names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1:,} more")
        sources.names = names
        return sources


def data_argument(name: str = "data") -> Decorator:
    """Data: a file, or several, globs and folders."""

    def several(ctx: click.Context, parameter: click.Parameter, names: tuple[str, ...]) -> Sources:
        return Sources.of(names)

    return click.argument(name, nargs=-1, required=True, callback=several, metavar=f"{name.upper()}...")


@dataclass(frozen=True)
class Where:
    """What the user says of where X is to lie."""

    in_memory: bool = False
    from_disk: bool = False


where_options = gathered(
    "where",
    Where,
    in_group(
        DATA,
        click.option("--in-memory", is_flag=True, help="Read all data into memory, however large."),
        click.option("--from-disk", is_flag=True, help="Train from a cache on disk.  [default: if X would take more "
                     "than half of the free memory]"),
    ),
)  # fmt: skip


def json_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """--json."""
    option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
    return in_group(OUTPUT, option)(function)


#: -q, for commands that have no other word on progress; `Command` obeys it.
quiet_option = in_group(
    OUTPUT,
    click.option("-q", "--quiet", is_flag=True, expose_value=False, callback=lambda ctx, _, value: hush(ctx, value),
                 help="No progress on standard error."),
)  # fmt: skip


@dataclass(frozen=True)
class Judging:
    """What to evaluate by."""

    metric: tuple[str, ...] = ()
    preset: str | None = None
    threshold: float | None = None
    ties: tuple[str, ...] = ()


metric_option = in_group(
    OUTPUT,
    click.option("-m", "--metric", multiple=True, metavar="NAMES",
                 help="ndcg@10, ndcg@1,3,5, map, mrr, precision@5, recall@20, err@20, pairwise_accuracy, auc, "
                 "kendall_tau, ...; may be repeated.  [default: by the labels]"),
)  # fmt: skip
preset_option = in_group(
    JUDGING,
    click.option("--preset", type=click.Choice(PRESETS), metavar="TOOL",
                 help=f"Gains, ties and empty queries as in a tool: {', '.join(PRESETS)}."),
)  # fmt: skip
ties_option = in_group(
    JUDGING,
    click.option(
        "--ties", multiple=True, type=click.Choice(TIES), metavar="WORD",
        help="What equal scores count: in metrics of pairs half, correct (as in the papers) or wrong; in those of "
        "lists average, input, docid or threshold. May be given for both.  [default: half, average]",
    ),
)  # fmt: skip


def pairs_option(more: str) -> Decorator:
    """--pairs."""
    return click.option(
        "--pairs", metavar="FILE",
        help="Explicit preferences: winner, loser[, weight] in each line, by the id column of a table that has one, "
        f"else by row, counted from 1. {more}",
    )  # fmt: skip


preferences_option = in_group(
    JUDGING,
    click.option(
        "--preferences", metavar="WORD|FILE",
        help="Which levels pairwise accuracy, error and wmw compare: full (all), chain (neighbours), edges such as "
        "'0<1,1<2:0.5', or a file of them.  [default: those that the model was trained on]",
    ),
)  # fmt: skip
judging_options = gathered(
    "judging",
    Judging,
    metric_option,
    preset_option,
    in_group(JUDGING, click.option("--threshold", type=float, metavar="GRADE",
                                   help="Rows with a label of at least this are relevant.  [default: 1]")),
    ties_option,
)  # fmt: skip


@dataclass(frozen=True)
class Verbosity:
    """How much to say on standard error."""

    quiet: bool = False
    verbose: bool = False

    def level(self) -> int:
        """The `verbose` of a ranker: progress on a terminal, or where it is asked for."""
        return 1 if self.verbose or (not self.quiet and sys.stderr.isatty()) else 0


verbosity_options = gathered(
    "verbosity",
    Verbosity,
    in_group(
        OUTPUT,
        click.option("-q", "--quiet", is_flag=True, callback=lambda ctx, _, value: hush(ctx, value),
                     help="No progress on standard error."),
        click.option("-v", "--verbose", is_flag=True, help="Each iteration on standard error, also in a pipe."),
    ),
)  # fmt: skip
