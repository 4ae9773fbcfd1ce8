"""What the questions on data that lies on disk share."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any


def forget(files: list[Path]) -> None:
    """Have the system drop what it holds of files."""
    for path in files:
        with open(path, "rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def seconds_of_cat(files: list[Path]) -> float:
    """Reading files once, from disk."""
    forget(files)
    begin = time.perf_counter()
    with open(os.devnull, "wb") as nowhere:
        subprocess.run(["cat", *map(str, files)], stdout=nowhere, check=True)
    return time.perf_counter() - begin


def in_process(program: str, *arguments: object) -> Any:
    """What a Python program prints last, as JSON; it runs in a process of its own."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode:
        raise RuntimeError(found.stderr[-2000:])
    return json.loads(found.stdout.splitlines()[-1])
