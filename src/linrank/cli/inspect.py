"""`linrank inspect`."""

from __future__ import annotations

from typing import Any

import click

from ._help import OUTPUT, command, in_group
from ._intervals import Intervals, intervals_options
from ._options import Reading, data_argument, json_option, quiet_option, reading_options


@command()
@data_argument("file")
@in_group(
    OUTPUT,
    click.option(
        "--top", default=20, show_default=True, type=click.IntRange(0), metavar="N", help="How many weights to show."
    ),
)
@intervals_options
@json_option
@quiet_option
@reading_options
def inspect(file: str, top: int, asked: Intervals, as_json: bool, reading: Reading) -> None:
    """Show what a file holds: data or a model.

    Of data: rows, queries, levels, pairs, missing values, constant columns, memory. Of a model (of linrank, SVMrank or
    LIBLINEAR): how it was trained, and its largest weights, times what the column was divided by in training where that
    is known. With --data and --intervals: how sure its weights are.

    \b
      linrank inspect train.txt
      linrank inspect model.json --top 5
      linrank inspect model.json --json
      linrank inspect model.json --data train.txt --intervals
    """
    from ._files import is_model

    asked.check()
    if asked.intervals:
        asked.show(file, reading, as_json)
    elif is_model(file):
        _inspect_model(file, top, as_json)
    else:
        _inspect_data(file, as_json, reading)


def _inspect_data(file: str, as_json: bool, reading: Reading) -> None:
    from . import _report
    from ._describe import describe
    from ._files import read_data

    data = read_data(file, reading)
    facts = describe(data)
    if as_json:
        _report.print_json({"path": file, "kind": "data", "read_as": list(data.description), **_report.plain(facts)})
        return
    _report.show_facts(_report.console(), file, [*_report.understood(data.description), *facts.lines()])


def _inspect_model(file: str, top: int, as_json: bool) -> None:
    import numpy as np

    from ..io import read_model
    from . import _report

    model = read_model(file)
    names = model.names or [f"feature {j + 1}" for j in range(model.weights.size)]
    effect = model.weights * (1.0 if model.scale is None else model.scale)
    order = np.argsort(-np.abs(effect), kind="stable")
    if as_json:
        weights = [{"feature": names[j], "weight": model.weights[j], "scaled": effect[j]} for j in order]
        about = {"estimator": model.estimator, "parameters": model.parameters, "training": model.training}
        _report.print_json({"path": file, "kind": "model", **about, "missing": model.missing, "weights": weights})
        return
    out = _report.console()
    known = {name: value for name, value in model.training.items() if value is not None}
    facts = ((name.replace("_", " "), _fact(name, value, model)) for name, value in known.items())
    lines = [("estimator", model.estimator), *facts]
    told = [*_preferences(model), *_scaling(model), *_penalty(model, names), ("missing values", model.missing)]
    _report.show_facts(out, file, [*lines, *told])
    _show_weights(out, names, model.weights, effect, order[:top], model.scale is not None)
    if top < order.size:
        out.print(f"and {order.size - top:,} more")


def _show_weights(out: Any, names: list[str], weights: Any, effect: Any, order: Any, scaled: bool) -> None:
    import numpy as np

    from .._text import printable
    from ..rankers.explanation import shortened
    from . import _report

    largest = np.abs(effect).max(initial=0.0) or 1.0
    rows: list[tuple[Any, ...]] = []
    for j in order:
        drawn = _report.bar(out, abs(effect[j]) / largest, "green" if effect[j] > 0 else "red")
        numbers = [f"{weights[j]:+.4g}", *([f"{effect[j]:+.4g}"] if scaled else [])]
        rows.append((shortened(printable(names[j]), 24), *numbers, drawn))
    _report.show_table(out, ("feature", "weight", *(["times scale"] if scaled else []), ""), rows)


def _fact(name: str, value: Any, model: Any) -> str:
    auto = name == "alpha" and model.parameters.get("alpha") == "auto"
    return _text(value) + (" (auto)" if auto else "")


def _preferences(model: Any) -> list[tuple[str, str]]:
    """Which levels were compared, if not all."""
    from ._judge import Compared

    given = model.parameters.get("preferences", "full")
    return [] if isinstance(given, str) and given == "full" else [("preferences", Compared(given).text())]


def _penalty(model: Any, names: list[str]) -> list[tuple[str, str]]:
    """The l1 part, signs and bounds that were asked for, and how many weights stand on 0 or on a bound."""
    import numpy as np

    from ..rankers.limits import described

    ratio, weights = model.parameters.get("l1_ratio") or 0.0, model.weights
    signs, bounds = (model.parameters.get(name) for name in ("monotonic_cst", "bounds"))
    found = []
    if ratio > 0.0:
        found.append(
            ("l1 ratio", f"{ratio:g}: {np.count_nonzero(weights):,} of {weights.size:,} features have a weight")
        )
    if signs is not None or bounds is not None:
        found.append(("bounds", described(signs, bounds, weights, names)))
    return found


def _scaling(model: Any) -> list[tuple[str, str]]:
    """What columns were divided by, in words, where that is known."""
    import numpy as np

    if "scale" not in model.parameters:
        return []
    given, how = model.parameters["scale"], "no"
    if model.scale is not None and isinstance(given, str):
        reach = f"{np.min(model.scale):.3g} to {np.max(model.scale):.3g}"
        how = f"by {reach}: dense ones by their deviation, sparse ones by their typical size (auto)"
    elif model.scale is not None:
        how = "by their standard deviation" if given is True else "by numbers that were given"
    return [("columns divided", how)]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}" if isinstance(value, float) else str(value)
