"""linrank: linear learning to rank at the cost of a sort."""

import importlib
import re
from typing import Any

__version__ = "0.1.0"

# The stub beside this file is the one list of public names and where they live; type checkers read it as well. Nothing
# is imported before it is asked for: `linrank --help` answers at once.
with open(f"{__file__}i", encoding="utf-8") as _stub:
    _HOMES = {name: home for home, name in re.findall(r"from (\.[\w.]*) import (\w+) as", _stub.read())}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES[name]
    if home == ".":
        return importlib.import_module(f".{name}", __name__)
    value = globals()[name] = getattr(importlib.import_module(home, __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
