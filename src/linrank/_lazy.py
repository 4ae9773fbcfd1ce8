"""Packages whose public names are imported when they are asked for: `linrank --help` answers at once."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from typing import Any


def from_stub(package: str, file: str) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """`__all__`, `__getattr__` and `__dir__` of a package, from the stub beside its `file`.

    The stub is the one list of public names and of the modules that they live in; type checkers read it as well.
    """
    with open(f"{file}i", encoding="utf-8") as stub:
        homes = {name: home for home, name in re.findall(r"from (\.[\w.]*) import (\w+) as", stub.read())}
    names = sorted(homes)

    def getattr_(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if homes[name] == ".":
            return importlib.import_module(f".{name}", package)
        value = getattr(importlib.import_module(homes[name], package), name)
        setattr(sys.modules[package], name, value)
        return value

    def dir_() -> list[str]:
        special = [name for name in vars(sys.modules[package]) if name.startswith("__")]
        return sorted({*special, *names})

    return names, getattr_, dir_
