"""Run benchmarks: python benchmarks/run.py [--data FOLDER] NAME ...  (no name: list them)."""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))


def names() -> dict[str, str]:
    """Each benchmark and the first line of its description."""
    found = {}
    for module in pkgutil.iter_modules([str(HERE / "tasks")]):
        description = importlib.import_module(f"tasks.{module.name}").__doc__ or ""
        found[module.name] = description.splitlines()[0]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="benchmarks to run")
    parser.add_argument("--data", help="folder of the real data (default: $LINRANK_DATA)")
    options = parser.parse_args()
    if options.data:
        os.environ["LINRANK_DATA"] = options.data
    if not options.names:
        for name, description in names().items():
            print(f"{name:12} {description}")
    for name in options.names:
        importlib.import_module(f"tasks.{name}").main()


if __name__ == "__main__":
    main()
