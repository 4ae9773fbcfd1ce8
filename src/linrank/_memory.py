"""How much memory this process may still take, within its control group and its own limits; and giving some back."""

from __future__ import annotations

import mmap
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")
#: Of a control group: its limit, what it uses, and the name of the cached pages of files among that.
LIMITS = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)

#: Bytes that Python needs to begin a thread beside its stack: frames, and the C library's own.
THREAD_BYTES = 4 << 20
USUAL_STACK = 8 << 20


def available(groups: Path = GROUPS, process: Path = Path("/proc/self"), system: Path = Path("/proc/meminfo")) -> int:
    """Bytes that can be had without pushing anything out; pages of files in the system's cache count as free."""
    found = [*_of_groups(groups, process), *_of_limits(process)]
    free = _field(system, "MemAvailable")
    if free is not None:
        found.append(1024 * free)
    elif hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2)
    return max(0, min(found, default=4 << 30))


def check_room_for(n_threads: int) -> None:
    """Raise MemoryError unless so many threads can begin.

    A thread that begins where memory has run out dies before it says so, and `Thread.start` waits for it for ever. The
    memory is asked for as threads' stacks are, one by one, so that the same limits count, and given back at once.
    """
    if not hasattr(mmap, "MAP_PRIVATE"):
        return
    size, flags, held = _stack() + THREAD_BYTES, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, []
    try:
        for _ in range(n_threads):
            held.append(mmap.mmap(-1, size, flags=flags))
    except OSError:
        raise MemoryError(f"There is no room for {n_threads} threads.") from None
    finally:
        for room in held:
            room.close()


def _stack() -> int:
    """Bytes of a new thread's stack."""
    import resource

    most = resource.getrlimit(resource.RLIMIT_STACK)[0]
    return threading.stack_size() or (USUAL_STACK if most == resource.RLIM_INFINITY else most)


def give_back() -> None:
    """Have the C library return memory that was freed: arrays of some megabytes would leave holes in what it keeps."""
    import ctypes

    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):  # not glibc
        pass


def _of_groups(groups: Path, process: Path) -> Iterator[int]:
    """What is left in each control group that the process is in."""
    folders = {groups, groups / "memory"}
    try:
        for line in (process / "cgroup").read_text().splitlines():
            _, kinds, path = line.split(":", 2)
            base = groups if not kinds else groups / "memory" if "memory" in kinds.split(",") else None
            if base is not None:
                here = base / path.lstrip("/")
                folders |= {here, *(parent for parent in here.parents if parent.is_relative_to(base))}
    except (OSError, ValueError):
        pass
    for folder in folders:
        for limit, used, cached in LIMITS:
            most, now = _number(folder / limit), _number(folder / used)
            if most is not None and now is not None and most < 1 << 60:
                yield most - now + (_field(folder / "memory.stat", cached) or 0)


def _of_limits(process: Path) -> Iterator[int]:
    """What is left of this process's own limits, as ulimit sets them."""
    if sys.platform == "win32":
        return
    import resource

    for name, field in (("RLIMIT_DATA", "VmData"), ("RLIMIT_AS", "VmSize")):
        most = resource.getrlimit(getattr(resource, name))[0]
        if most != resource.RLIM_INFINITY:
            yield most - 1024 * (_field(process / "status", field) or 0)


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):  # "max" is none
        return None


def _field(path: Path, name: str) -> int | None:
    """The number after a name in a file of lines."""
    try:
        for line in path.read_text().splitlines():
            words = line.replace(":", " ").split()
            if words and words[0] == name:
                return int(words[1])
    except (OSError, ValueError, IndexError):
        pass
    return None
