"""How sure the weights are: standard errors, intervals and tests of a fitted ranker's weights."""

from .estimate import infer
from .result import Comparison, Inference, WaldTest
from .summary import Summary

__all__ = ["Comparison", "Inference", "Summary", "WaldTest", "infer"]
