"""cached_property without a lock.

Up to Python 3.11 functools' holds one lock for all instances of a class while it computes: folds in threads would wait
for each other, and the child of a process that forks meanwhile for ever. Here two threads may compute the same value.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property:  # noqa: N801
        """A property computed at first use and kept in the instance."""

        def __init__(self, function):
            self.function, self.__doc__ = function, function.__doc__

        def __set_name__(self, owner, name):
            self.name = name

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            value = instance.__dict__[self.name] = self.function(instance)
            return value


__all__ = ["cached_property"]
