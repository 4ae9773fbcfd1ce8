"""Memory that a command takes: the peak so far, as the system counts it, and a bound on what training will add."""

from __future__ import annotations

import sys

#: Bytes a row beside X, measured: scores, gradients, sorts and what a smoothed loss keeps; in a long query all of it is
#: worked on at once.
SHORT_QUERY, LONG_QUERY = 150, 500
ROWS_OF_LONG = 20_000
VECTORS = 64  # of d numbers: planes of the bundle, steps
WIDEST_HESSIAN = 2000  # features for which d x d matrices are made; two of them
LARGEST_SAMPLE = 64e6


def peak_bytes() -> int | None:
    """The most memory that this process has held so far; None where the system does not tell."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:  # getrusage would count what was before `exec`
            for line in status:
                if line.startswith("VmHWM:"):
                    return 1024 * int(line.split()[1])
    except (OSError, ValueError):
        pass
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def training_bytes(rows: int, features: int, longest_query: int, bytes_of_features: int, sparse: bool) -> int:
    """At most so much is needed beside X to train on it with one thread."""
    per_row = LONG_QUERY if longest_query >= ROWS_OF_LONG else SHORT_QUERY
    vectors = 8 * features * (VECTORS + (0 if sparse else 2 * min(features, WIDEST_HESSIAN)))
    return int(per_row * rows + vectors + min(LARGEST_SAMPLE, bytes_of_features))
