"""Seeds: what random_state comes to."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._errors import ParameterError

#: Seed the random streams of reservoirs and of held-out rows: they must not be that of the pairs.
OTHER_STREAM, THIRD_STREAM = np.uint64(0x5851F42D4C957F2D), np.uint64(0xD1342543DE82EF95)


def make_seed(random_state: Any) -> int:
    """64 bits from an int, a Generator, a RandomState, or (None) numpy's global state."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**64, dtype=np.uint64))
    try:
        source = check_random_state(random_state)
    except ValueError:
        raise ParameterError(f"random_state={random_state!r} is no seed: give an int, a Generator or None.") from None
    high, low = source.randint(0, 2**32, 2, dtype=np.uint64)
    return int(high) << 32 | int(low)


def describe_seed(random_state: Any) -> Any:
    """The seed as text or a number: of a generator a hash of its state, in which the next seed lies."""
    if random_state is None or isinstance(random_state, (int, np.integer)):
        return random_state
    if isinstance(random_state, np.random.Generator):
        state = random_state.bit_generator.state
    elif isinstance(random_state, np.random.RandomState):
        state = random_state.get_state(legacy=False)
    else:
        return repr(random_state)  # `make_seed` will say what is wrong with it
    digest = hashlib.sha256(json.dumps(state, default=lambda value: value.tolist(), sort_keys=True).encode())
    return f"a {type(random_state).__name__} in state {digest.hexdigest()[:16]}"
