"""Models for other systems: each target is a function of the weights to text, and an independent reader of it."""

from __future__ import annotations

from . import solr
from ._function import LinearFunction
from ._options import Options
from ._targets import TARGETS, Target
from ._verify import Verification, lowest_score, verify

__all__ = ["TARGETS", "LinearFunction", "Options", "Target", "Verification", "lowest_score", "solr", "verify"]
