"""Stochastic pairwise descent: draws pairs instead of summing over them.

`rules` (what a step does) and `samplers` (how pairs are drawn, by `draws`) are values; `descent` makes the steps on
rows (`matrix`). `fit` trains on rows in memory (`training`, `measure`); `follow` on a `stream` of chunks, which keeps
rows of open queries (`reservoir`), draws pairs with a new row (`fresh`) and may hold some out (`held`); `checkpoint` is
the file of either. `settings` are the parameters of SGDRanker, checked.
"""

from .draws import Draws, units
from .rules import Rule, Switched, named
from .samplers import Sampler

__all__ = ["Draws", "Rule", "Sampler", "Switched", "named", "units"]
