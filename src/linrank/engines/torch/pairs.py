"""P-SWX proper: short rankings pair by pair in one launch, where Triton can run; elsewhere `losses` goes by sorting."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any

import torch

from ...losses import Hinge, HingeSums, HuberHinge, Logistic, Loss, SquaredHinge, Sums
from .layout import Layout
from .ops import Tensor
from .point import SmoothPoint
from .sums import FEW_LEVELS

BLOCK = 32
#: Members of a member's ranking, in the mean, up to which all pairs are looked at, with few levels and with many: where
#: the estimates of both ways cross on an A100, with the bytes that ``benchmarks/run.py gpu`` counts; not measured.
CROSSING: dict[type[Loss], tuple[int, int]] = {
    Hinge: (540, 2100),
    SquaredHinge: (800, 3400),
    HuberHinge: (1200, 6200),
    Logistic: (650, 1500),
}
EPS = 2.0**-52

#: Launches by kernel: tests see by it which way was taken.
launches = {"evaluate": 0, "multiply": 0}


@lru_cache
def kernels() -> Any:
    """The compiled kernels' module; None where Triton is missing."""
    try:
        from . import triton_kernels
    except ImportError:
        return None
    return triton_kernels


def fits(loss: Loss, layout: Layout) -> bool:
    """Whether a loss is evaluated in this way: rankings short in the mean, on CUDA or by Triton's interpreter."""
    runs = layout.device.type == "cuda" or os.environ.get("TRITON_INTERPRET") == "1"
    few, many = CROSSING.get(type(loss), (0, 0))
    return runs and layout.mean_length <= (few if layout.n_levels <= FEW_LEVELS else many) and kernels() is not None


def on(device: Any) -> AbstractContextManager[Any]:
    """A context in which Triton launches on a device: on its own it takes the current one, wherever tensors lie."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


class PairPoint(SmoothPoint):
    """A loss by its pairs: nothing is sorted."""

    def __init__(self, loss: Loss, layout: Layout, scores: Tensor) -> None:
        names = kernels()
        kind = {Hinge: names.HINGE, SquaredHinge: names.SQUARED, HuberHinge: names.HUBER, Logistic: names.LOGISTIC}
        self.kind, self.layout, self.scores = kind[type(loss)], layout, scores
        margins = loss.steps[1] if loss.steps is not None else (getattr(loss, "margin", 0.0),)
        self.mu = margins[0] - margins[-1]
        self.margins = torch.tensor([margins[0], margins[-1]], dtype=torch.float64, device=layout.device)
        self.v = torch.ones_like(scores) if layout.v is None else layout.v
        pull, *sums = (torch.empty_like(scores) for _ in range(4))
        self._launch("evaluate", pull, *sums)
        uv = layout.u * self.v
        self.gradient = uv * pull
        self._columns = [uv * x for x in sums]

    def _launch(self, name: str, *arrays: Tensor) -> None:
        launches[name] += 1
        tiles = self.layout.tiles(BLOCK)
        given = self.scores, self.layout.level, self.v, *tiles, self.margins, *arrays
        kernel = getattr(kernels(), name)
        with on(self.layout.device):
            kernel[(tiles[0].shape[0],)](*given, KIND=self.kind, BLOCK=BLOCK, num_warps=4, enable_fp_fusion=False)

    def columns(self) -> list[Tensor]:
        """Value, hinges, slopes."""
        return self._columns

    def sums(self, numbers: list[float], weight: float) -> Sums:
        """Value, and of losses made of squared hinges what is known of the hinge."""
        value, hinge, slope = numbers
        if self.kind in (1, 2):
            return Sums(value, weight, hinge=HingeSums(slope, hinge, 8.0 * EPS * slope))
        return Sums(value, weight, 4.0 * EPS * weight if self.kind == 3 else 0.0)

    def product(self, x: Tensor) -> Tensor:
        """By the pairs again."""
        out = torch.empty_like(x)
        self._launch("multiply", x.contiguous(), out)
        return self.layout.u * self.v * out
