"""The bytes that are said to be needed before work begins, against those that torch allocates."""

import gc
import weakref

import numpy as np
import pytest
import scipy.sparse as sp

from linrank import LinearRanker, RankingData
from linrank.losses import LOSSES
from linrank.solvers import Newton

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'linrank[torch]'")
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:The solver ended")]

from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from torch.utils._pytree import tree_leaves  # noqa: E402

from linrank.engines.torch.device import COPIES, bytes_of_data, bytes_of_loss  # noqa: E402
from linrank.engines.torch.engine import TorchEngine  # noqa: E402
from linrank.engines.torch.losses import on_device  # noqa: E402

CPU = torch.device("cpu")


class Live(TorchDispatchMode):
    """Bytes of all storages that operations made and somebody still holds; torch's profiler counts the same."""

    def __init__(self):
        super().__init__()
        self.held, self.now, self.peak = {}, 0, 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        answer = function(*args, **(kwargs or {}))
        for tensor in tree_leaves(answer):
            if isinstance(tensor, torch.Tensor) and tensor.untyped_storage().nbytes():
                self.note(tensor)
        return answer

    def note(self, tensor):
        storage = tensor.untyped_storage()
        where = storage.data_ptr()
        if where not in self.held:
            self.held[where] = [0, storage.nbytes()]
            self.now += storage.nbytes()
            self.peak = max(self.peak, self.now)
        self.held[where][0] += 1
        weakref.finalize(tensor, self.drop, where)

    def drop(self, where):
        self.held[where][0] -= 1
        if self.held[where][0] == 0:
            self.now -= self.held.pop(where)[1]


def graded(n, d, queries, levels):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    utility = X @ rng.standard_normal(d) + rng.standard_normal(n)
    y = np.searchsorted(np.quantile(utility, np.linspace(0, 1, levels + 1)[1:-1]), utility).astype(float)
    return X, y, rng.integers(0, queries, n)


def copied(tensor):
    """Bytes of what the CPU's engine shares with numpy, and a device would hold."""
    return tensor.untyped_storage().nbytes()


def peak_of_a_fit(X, y, qid, loss, solver):
    """Bytes that a device would have held at most, X apart where it is dense."""
    with TorchEngine(RankingData(X, y, qid), "torch:cpu") as engine:
        shared = sum(copied(value) for value in vars(engine.layout).values() if torch.is_tensor(value))
        if sp.issparse(X):
            shared += sum(map(copied, (engine.matrix.values, engine.matrix.column, *engine.matrix.by_column)))
    gc.collect()
    with Live() as live:
        LinearRanker(loss, 1e-6, solver=solver, tol=1e-6, max_iter=8, device="torch:cpu").fit(X, y, qid)
    return live.peak + shared


def said(X, y, qid, loss):
    """All of it but X; and but the copies of blocks, which products and Hessians of many features are made of."""
    data = RankingData(X, y, qid)
    needed = bytes_of_data(data, CPU) + bytes_of_loss(data, on_device(LOSSES[loss]))
    if sp.issparse(X):
        return needed, needed
    needed -= X.nbytes
    return needed, needed - COPIES * 8 * min(max(X.size, y.size * min(y.size, 2048)), 1 << 22)


@pytest.mark.parametrize(
    ("loss", "solver", "levels"),
    [
        *(("hinge", "newton", levels) for levels in (2, 16, 17, 2500)),
        *(("squared_hinge", "bundle", levels) for levels in (2, 16, 2500)),
        *(("logistic", "bundle", levels) for levels in (2, 2500)),
        ("logistic", "cg", 16),
        ("logistic_erfc", "cg", 2500),
    ],
)
def test_a_fit_takes_no_more_than_was_said(loss, solver, levels):
    X, y, qid = graded(2500, 2, 1, levels)
    found, (_, needed) = peak_of_a_fit(X, y, qid, loss, solver), said(X, y, qid, loss)
    assert found <= needed <= 4 * found


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_features(dtype):
    _, y, qid = graded(3000, 2, 20, 4)
    X = sp.random_array((3000, 400), density=0.2, format="csr", dtype=dtype, random_state=np.random.default_rng(0))
    found, (needed, _) = peak_of_a_fit(X, y, qid, "squared_hinge", "newton"), said(X, y, qid, "squared_hinge")
    assert found <= needed <= 4 * found


@pytest.mark.parametrize("length", [2, 60, 2000])
def test_exact_hessians_of_any_shape(length):
    n, d = 6000, 60
    X, y, qid = *graded(n, d, 1, 5)[:2], np.arange(n) // length
    y = np.arange(n) % 2.0 if length == 2 else y
    found = peak_of_a_fit(X, y, qid, "squared_hinge", Newton(hessian="exact", samples=False))
    assert found <= said(X, y, qid, "squared_hinge")[0]


def test_many_pairs_have_hessians_in_batches():
    """A batch of short rankings is as large as its rows, not as its pairs."""
    n, d = 60_000, 500
    X = np.zeros((n, d))
    with TorchEngine(RankingData(X, np.arange(n) % 2.0, np.arange(n) // 2), "torch:cpu") as engine:
        point = engine.evaluate(LOSSES["squared_hinge"], engine.scores(np.zeros(d)))
        with Live() as live:
            point.hessian()
    assert live.peak < 9 * 8 * (1 << 22) < 2 * X.nbytes
