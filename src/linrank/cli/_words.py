"""Messages of the library in the words of the command line: --label, not label=."""

from __future__ import annotations

import re

import click

#: Parameters of the library that are options, by other names than their own.
FLAGS = {
    "n_jobs": "--jobs", "n_steps": "--steps", "random_state": "--seed", "lambda_": "--lambda", "qid": "--query",
    "n_resamples": "--resamples", "open_queries": "--open-queries", "docid": "--id", "sample_weight": "--weight",
    "query_weight": "--query-weights", "features": "--feature",
    "monotonic_cst": "--monotonic",
}  # fmt: skip
#: Those that go by their own names.
SAME = (
    "label", "query", "id", "weight", "drop", "format", "n_features", "missing", "alpha", "alphas", "loss", "scale",
    "preferences", "query_weighting", "solver", "tol", "max_iter", "gradient_tol", "device", "eps", "eps_s", "rule",
    "sampling", "margin", "decay", "switch", "validation_fraction", "early_stopping", "average", "steps_per_row",
    "reservoir", "passes", "checkpoint", "start", "metric", "preset", "threshold", "ties", "confidence", "offset", "C",
    "l1_ratio", "bounds", "pairs", "cv", "iterations", "method",
)  # fmt: skip
#: Whole phrases, the longer ones first.
PHRASES = {
    "on_error='skip'": "--skip-bad-lines",
    "zero_based=True": "--zero-based",
    "resume=False (--restart)": "--restart",
    "scale=True": "--scale",
    "scale=False": "--no-scale",
    "or set warm_start=False": "or leave out --start",
    "missing='keep', 'zero' or 'mean'": "--missing zero or mean",
    "missing='zero' or 'mean'": "--missing zero or mean",
    "must differ in y, at levels that preferences joins. Check y, qid and the weights": (
        "must differ in their label, at levels that --preferences joins. Check --label, --query and --weight"
    ),
    "weight=, features= and": "weight= and",
    "monotonic_cst and bounds": "--monotonic and --bounds",
    "bounds names": "--bounds names",
    "solver='auto' or 'newton'": "--solver auto or newton",
    "but X has no names: give a frame, or an array": "but on a cluster features go by names, and the files have none",
    ", or None.": ".",
    "n_samples=": "rows: ",
    "alpha=auto": "--alpha auto",
}
_VALUE = r"(?:'[^']*'|\[[^\]]*\]|[-+\w.]*)"
_GIVEN = re.compile(rf"(?<![\w'-])({'|'.join([*FLAGS, *SAME])})=({_VALUE})")
_BARE = re.compile(rf"(?<![\w'/.-])({'|'.join(name for name in (*FLAGS, *SAME) if '_' in name)})(?![\w'/=]|\.\w)")

#: Options of the command that runs; None: of none.
_options: set[str] | None = None


def speak_as(command: click.Command) -> None:
    """From here on in the words of this command."""
    global _options
    _options = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}


def in_options(text: str) -> str:
    """The text with the library's parameters as options, and their values as one types them."""
    for phrase, words in PHRASES.items():
        text = text.replace(phrase, _known(words) if words.startswith("--") else words)
    text = _GIVEN.sub(lambda match: f"{_flag(match[1])} {_typed(match[2])}".rstrip(), text)
    return _BARE.sub(lambda match: _flag(match[1]), text)


def _flag(name: str) -> str:
    return _known(FLAGS.get(name, "--" + name.replace("_", "-")))


def _known(flag: str) -> str:
    """The option, with the command that has it where this one has not."""
    has = _options is None or flag.split()[0] in _options
    return flag if has else f"linrank train {flag}"


def _typed(value: str) -> str:
    """A value as one types it: without Python's quotes, unless it is empty."""
    if value == "''":
        return value
    return value[1:-1].replace("'", "") if value[:1] in ("'", "[") else value
