"""How a device is asked for, what is refused and how, and that it plays no part afterwards."""

import itertools
import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import linrank
from linrank import DataError, LinearRanker, ParameterError, RankingData
from linrank.data import device as data_device
from linrank.data import missing as data_missing
from linrank.data.parts import split_queries
from linrank.engines import LocalEngine, SumEngine, Torch
from linrank.engines.open import open_engine
from linrank.losses import LOSSES, Hinge
from linrank.losses.wrong_pairs import WrongPairs
from linrank.published import PSWXRankSVM
from linrank.testing import make_ranking

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'linrank[torch]'")
pytestmark = pytest.mark.torch

from linrank.engines.torch import device as torch_device  # noqa: E402
from linrank.engines.torch import pairs  # noqa: E402
from linrank.engines.torch.cost import query_costs  # noqa: E402
from linrank.engines.torch.engine import TorchEngine  # noqa: E402
from linrank.engines.torch.losses import on_device  # noqa: E402


class Exporting:
    """Has `__dlpack__` alone: neither a shape nor an array."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **how):
        return self.values.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


class Managed(Exporting):
    """The same, of memory that a device and its host share: none that numpy reads."""

    def __dlpack_device__(self):
        return (13, 0)


class FarTensor(torch.Tensor):
    """A tensor that says it lies on a device."""

    def __dlpack_device__(self):
        return (2, 0)


def far(X):
    return torch.from_numpy(X.copy()).as_subclass(FarTensor)


def one_sentence(error):
    text = str(error.value)
    assert text.endswith(".")
    assert "\n" not in text
    assert ". " not in text


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "logistic", "logistic_erfc"])
@pytest.mark.parametrize("device", ["torch:cpu", ["torch:cpu", "torch:cpu"]], ids=["one", "two"])
@pytest.mark.parametrize("options", [{}, {"preferences": "chain", "query_weighting": "queries"}], ids=["full", "chain"])
def test_fits_end_within_their_gaps(loss, device, options):
    X, y, qid = make_ranking(600, 5, 12, 4)
    here = LinearRanker(loss, tol=1e-6, **options).fit(X, y, qid)
    there = LinearRanker(loss, tol=1e-6, device=device, **options).fit(X, y, qid)
    assert there.status_ == "converged"
    assert abs(here.objective_ - there.objective_) <= here.gap_ + there.gap_
    assert there.n_pairs_ == here.n_pairs_


@pytest.mark.parametrize("solver", ["newton", "bundle", "cg", "tron"])
def test_solvers(solver):
    X, y, qid = make_ranking(300, 4, 6, 3)
    here = LinearRanker(solver=solver, tol=1e-5).fit(X, y, qid)
    there = LinearRanker(solver=solver, tol=1e-5, device="torch:cpu").fit(X, y, qid)
    assert abs(here.objective_ - there.objective_) <= here.gap_ + there.gap_


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_lies_on_a_device_is_used_there(dtype):
    X, y, qid = make_ranking(300, 4, 6, 3)
    X = X.astype(dtype)
    data = RankingData(far(X), y, qid)
    assert isinstance(open_engine(RankingData(X, y, qid)), LocalEngine)
    engine = TorchEngine(data, "torch:cpu")
    with engine:
        assert engine.matrix.X.data_ptr() == data.X.data_ptr()
        assert engine.sample(90).facts.rows > 0
        assert engine.fingerprint() == RankingData(X, y, qid).fingerprint()
    here = LinearRanker(tol=1e-6).fit(X, y, qid)
    there = LinearRanker(tol=1e-6, device=["torch:cpu", "torch:cpu"]).fit(far(X), y, qid)
    assert abs(here.objective_ - there.objective_) <= here.gap_ + there.gap_
    np.testing.assert_array_equal(there.predict(far(X)), there.predict(X))
    np.testing.assert_array_equal(there.rank(far(X), qid), there.rank(X, qid))


def test_without_a_device_the_engine_is_where_x_lies(monkeypatch):
    X, y, qid = make_ranking(60, 3, 3, 3)
    asked = []
    monkeypatch.setattr(torch_device, "find_device", lambda name: asked.append(name) or torch.device("cpu"))
    monkeypatch.setattr("linrank.engines.torch.engine.find_device", torch_device.find_device)
    data = RankingData(far(X), y, qid)
    monkeypatch.setattr(FarTensor, "device", torch.device("cuda:1"), raising=False)
    assert isinstance(open_engine(data), TorchEngine)
    assert asked == ["cuda:1"]  # what the tensor says


def test_without_a_device_features_elsewhere_are_refused():
    X, y, qid = make_ranking(60, 3, 3, 3)
    with pytest.raises(DataError, match=r"X lies on the device 'cpu'.*X\.cpu\(\)") as error:  # it says it is far
        LinearRanker().fit(far(X), y, qid)
    assert str(error.value).count(":") == 1


def test_whatever_exports_its_memory_is_taken():
    X, y, qid = make_ranking(60, 3, 3, 3)
    here = LinearRanker().fit(X, y, qid)
    for given in (Exporting(X), Exporting(torch.from_numpy(X)), torch.tensor(X, requires_grad=True)):
        for device in (None, "torch:cpu"):
            found = LinearRanker(device=device).fit(given, y, qid)
            np.testing.assert_array_equal(found.coef_, LinearRanker(device=device).fit(X, y, qid).coef_)
            assert found.n_features_in_ == 3
        np.testing.assert_array_equal(here.predict(given), here.predict(X))
        np.testing.assert_array_equal(here.rank(given, qid), here.rank(X, qid))
        assert here.score(given, y, qid) == here.score(X, y, qid)
    with pytest.raises(ValueError, match="2 features"):
        here.predict(Exporting(X[:, :2].copy()))


def test_what_exports_memory_of_a_device_is_taken_by_torch():
    X, y, qid = make_ranking(300, 4, 6, 3)
    here = LinearRanker(device="torch:cpu").fit(X, y, qid)
    given = Managed(X)
    assert data_device.is_far(given)
    found = LinearRanker(device="torch:cpu").fit(given, y, qid)
    np.testing.assert_array_equal(found.coef_, here.coef_)
    assert found.n_features_in_ == 4
    np.testing.assert_array_equal(here.predict(given), here.predict(X))
    np.testing.assert_array_equal(here.rank(given, qid), here.rank(X, qid))


@pytest.mark.skipif(torch.backends.cuda.is_built(), reason="this build of torch reads such memory")
def test_memory_that_this_torch_cannot_read_is_refused():
    X, y, qid = make_ranking(60, 3, 3, 3)
    here, given = LinearRanker().fit(X, y, qid), Exporting(far(X))
    for ask in (lambda: LinearRanker().fit(given, y, qid), lambda: here.predict(given), lambda: here.rank(given, qid)):
        with pytest.raises(DataError, match=r"on a device that this torch cannot read.*install a build") as error:
            ask()
        one_sentence(error)


def test_numbers_that_numpy_does_not_know():
    X, y, qid = make_ranking(60, 3, 3, 3)
    half = torch.from_numpy(X).bfloat16()
    found, wanted = (LinearRanker().fit(x, y, qid) for x in (half, half.float()))
    np.testing.assert_array_equal(found.coef_, wanted.coef_)
    np.testing.assert_array_equal(found.predict(half), found.predict(half.float()))


@pytest.mark.parametrize("ask", ["fit", "fit there", "predict", "rank", "score"])
@pytest.mark.parametrize("kind", ["meta", "sparse"])
@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")
def test_tensors_that_cannot_be_read_are_refused(kind, ask):
    X, y, qid = make_ranking(60, 3, 3, 3)
    ranker = LinearRanker(device="torch:cpu" if ask == "fit there" else None).fit(X, y, qid)
    wrong = torch.empty(60, 3, device="meta") if kind == "meta" else torch.from_numpy(X).to_sparse_csr()
    told = {"fit": (y, qid), "fit there": (y, qid), "score": (y, qid), "predict": (), "rank": (qid,)}[ask]
    with pytest.raises(DataError, match=r"cannot be read where it lies|is a sparse tensor") as error:
        getattr(ranker, ask.split()[0])(wrong, *told)
    one_sentence(error)


def test_tensors_in_this_process_are_arrays():
    X, y, qid = make_ranking(60, 3, 3, 3)
    tensor = torch.from_numpy(X)
    assert not data_device.is_far(tensor)
    np.testing.assert_array_equal(LinearRanker().fit(tensor, y, qid).coef_, LinearRanker().fit(X, y, qid).coef_)


def test_features_on_a_device_are_checked_there():
    X, y, qid = make_ranking(60, 3, 3, 3)
    X[3, 1] = np.nan
    with pytest.raises(DataError, match="NaN or infinity") as error:
        LinearRanker().fit(far(X), y, qid)
    one_sentence(error)
    with pytest.raises(DataError, match="shape") as error:
        LinearRanker().fit(far(X[0]), y, qid)
    one_sentence(error)


@pytest.mark.parametrize("missing", ["zero", "mean"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_missing_values_are_filled_where_features_lie(missing, dtype, monkeypatch):
    X, y, qid = make_ranking(60, 3, 3, 3)
    X = X.astype(dtype)
    X[::7, 1], X[:, 2] = np.nan, np.nan
    monkeypatch.setattr(data_device, "on_host", None)  # nothing is brought here to be filled
    filled, fill = data_missing.learn_missing(far(X), missing)
    assert torch.is_tensor(filled)
    wanted, own = data_missing.learn_missing(X, missing)
    np.testing.assert_allclose(fill, own, rtol=1e-6)
    np.testing.assert_allclose(filled.numpy(), wanted, rtol=1e-6)
    assert filled.numpy().dtype == dtype
    monkeypatch.undo()
    here, there = (LinearRanker(missing=missing, device="torch:cpu", tol=1e-6).fit(x, y, qid) for x in (X, far(X)))
    assert abs(here.objective_ - there.objective_) <= here.gap_ + there.gap_
    np.testing.assert_allclose(there.predict(far(X)), there.predict(X))


def test_features_on_a_device_that_are_infinite():
    X, y, qid = make_ranking(60, 3, 3, 3)
    X[0, 0] = np.inf
    with pytest.raises(DataError, match="infinity"):
        LinearRanker(missing="mean", device="torch:cpu").fit(far(X), y, qid)


@pytest.mark.parametrize(
    ("device", "message"),
    [
        ("cuda:7", "build of torch with CUDA|is not there"),
        ("mps", "no float64"),
        ("tpu", "is not known"),
        ("cpu", "is not known"),
        (3, "is not known"),
        ([], "names no device"),
        (["torch:cpu", "cuda:9"], "build of torch with CUDA|is not there"),
    ],
)
def test_devices_that_are_not_there_are_refused_before_work_begins(device, message):
    with pytest.raises(ParameterError, match=message) as error:
        LinearRanker(device=device).fit(None)  # X is not looked at
    one_sentence(error)


def test_a_cuda_device_that_is_not_there(monkeypatch):
    monkeypatch.setattr(torch.backends.cuda, "is_built", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    assert torch_device.find_device("cuda:0") == torch.device("cuda:0")
    with pytest.raises(ParameterError, match="torch sees 1 CUDA devices") as error:
        torch_device.find_device("cuda:1")
    one_sentence(error)


def test_too_little_memory_is_said_before_work_begins(monkeypatch):
    X, y, qid = make_ranking(1000, 4, 6, 3)
    monkeypatch.setattr(torch_device, "free_bytes", lambda device: 10_000)
    with pytest.raises(DataError, match=r"needs about .* GB on the device, where 0.00 GB are free") as error:
        LinearRanker(device="torch:cpu").fit(X, y, qid)
    assert str(error.value).count(":") == 1


def test_without_torch_the_extra_is_named():
    code = (
        "import sys\nclass NoTorch:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'torch': raise ModuleNotFoundError('no torch', name=name)\n"
        "sys.meta_path.insert(0, NoTorch())\n"
        "from linrank import LinearRanker, ParameterError\n"
        "try: LinearRanker(device='cuda').fit([[1.0], [2.0]], [0, 1])\n"
        "except ParameterError as error: print(error)\n"
        "print(LinearRanker().fit([[1.0], [2.0]], [0, 1]).n_pairs_)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["device='cuda' needs torch: install \"linrank[torch]\", or leave it out.", "1"]


def test_importing_linrank_imports_no_torch():
    code = (
        "import sys, linrank\nfor name in linrank.__all__: getattr(linrank, name)\n"
        "linrank.LinearRanker().fit([[1.0], [2.0]], [0, 1]).predict([[1.0]])\nassert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_device_is_neither_saved_nor_loaded(tmp_path):
    X, y, qid = make_ranking(60, 3, 3, 3)
    ranker = LinearRanker(device="torch:cpu").fit(X, y, qid)
    linrank.save(ranker, tmp_path / "model.json")
    assert "torch" not in (tmp_path / "model.json").read_text()
    loaded = linrank.load(tmp_path / "model.json")
    assert loaded.device is None
    np.testing.assert_array_equal(loaded.predict(X), ranker.predict(X))
    assert clone(ranker).device == "torch:cpu"


class Stranger(Hinge):
    """A loss that does something of its own."""


def test_a_strangers_loss_is_refused():
    X, y, qid = make_ranking(60, 3, 3, 3)
    with pytest.raises(ParameterError, match="cannot run on a torch device") as error:
        LinearRanker(Stranger(), device="torch:cpu").fit(X, y, qid)
    one_sentence(error)


def test_pairs_in_the_wrong_order_are_counted():
    X, y, qid = make_ranking(200, 3, 4, 4)
    X = np.round(X)
    w = np.array([1.0, 0.0, 2.0])
    found = []
    for engine in (LocalEngine(RankingData(X, y, qid)), TorchEngine(RankingData(X, y, qid), "torch:cpu")):
        with engine:
            found.append(engine.evaluate(WrongPairs(), engine.scores(w)).sums.value)
    assert found[0] == found[1] > 0


def test_the_papers_system_runs_on_devices():
    X, y, qid = make_ranking(200, 5, 10, 4)
    here = PSWXRankSVM(1e-2).fit(X, y, qid)
    for device in ("torch:cpu", ["torch:cpu", "torch:cpu"], Torch("torch:cpu", scores="float32")):
        there = PSWXRankSVM(1e-2, device=device).fit(X, y, qid)
        assert there.status_ == "converged"
        assert there.n_iter_ == here.n_iter_
        np.testing.assert_allclose(there.coef_, here.coef_, atol=1e-4)
        assert clone(there).device == device
    np.testing.assert_allclose(PSWXRankSVM(1e-2, device="torch:cpu").fit(far(X), y, qid).coef_, here.coef_, atol=1e-8)
    with pytest.raises(ParameterError, match="no float64"):
        PSWXRankSVM(device="mps").fit(None)
    with pytest.raises(ParameterError, match="eps_s=1e-08 is less than scores in float32 can certify"):
        PSWXRankSVM(eps_s=1e-8, device=Torch("torch:cpu", scores="float32")).fit(None)


def test_triton_launches_on_the_device_of_its_tensors(monkeypatch):
    """On its own it takes the current device: with several, a wrong one."""
    entered = []
    monkeypatch.setattr(torch.cuda, "device", lambda device: entered.append(device) or nullcontext())
    with pairs.on(torch.device("cuda:1")), pairs.on(torch.device("cpu")):
        pass
    assert entered == [torch.device("cuda:1")]


def test_features_on_another_device_count_as_bytes_that_are_needed():
    X, y, qid = make_ranking(3000, 4, 6, 3)
    data, there = RankingData(far(X), y, qid), torch.device("cuda:1")
    assert torch_device.bytes_of_data(data, there) - torch_device.bytes_of_data(data, torch.device("cpu")) == X.nbytes


def test_a_loss_that_takes_more_memory_is_refused_before_it_is_evaluated(monkeypatch):
    X, y, qid = make_ranking(20_000, 4, 6, 3)
    data = RankingData(X, y, qid)
    hinge, logistic = (torch_device.bytes_of_loss(data, on_device(LOSSES[name])) for name in ("hinge", "logistic"))
    assert 2 * hinge < logistic
    monkeypatch.setattr(torch_device, "free_bytes", lambda device: torch_device.bytes_of_data(data, device) + hinge)
    with TorchEngine(data, "torch:cpu") as engine:
        engine.at_zero(LOSSES["hinge"])
        monkeypatch.setattr(torch_device, "free_bytes", lambda device: hinge)
        with pytest.raises(DataError, match="A fit needs about"):
            engine.at_zero(LOSSES["logistic"])


@pytest.mark.parametrize("long", [0, 7, 39])
def test_devices_share_work_and_not_rows(long):
    """One long query costs as much as many short ones with as many rows: pairs count as well."""
    sizes = np.full(40, 40)
    sizes[long] = 800
    qid = np.repeat(np.arange(40), sizes)
    y = np.random.default_rng(0).integers(0, 3, qid.size)
    data = RankingData(np.zeros((qid.size, 2)), y, qid)
    cost = query_costs(data)
    assert cost[long] == pytest.approx(800 * (2 * 16 + 4.4 * 800))
    engine = open_engine(data, device=["torch:cpu"] * 3)
    assert sum(part.facts.queries for part in engine.engines) == 40
    shares = [query_costs(part.data).sum() for part in engine.engines]
    assert sum(shares) == pytest.approx(cost.sum())
    assert max(shares) == pytest.approx(least_most(cost.tolist(), 3))
    by_rows = max(cost[part.query_ids].sum() for part in split_queries(data, 3))
    assert max(shares) < by_rows or long in (0, 39)


def least_most(cost, n_parts):
    """The least cost of the dearest run of a list that is cut into so many: by trying all cuts."""
    cuts = itertools.combinations(range(1, len(cost)), n_parts - 1)
    return min(max(sum(cost[a:b]) for a, b in itertools.pairwise((0, *cut, len(cost)))) for cut in cuts)


def test_shares_cost_as_little_as_can_be():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 12))
        sizes, parts = rng.integers(1, 30, n), int(rng.integers(1, 5))
        data = RankingData(np.zeros((sizes.sum(), 1)), np.arange(sizes.sum()), np.repeat(np.arange(n), sizes))
        cost = rng.choice([rng.random(n), rng.random(n) ** 8, np.ones(n)], axis=0)
        shares = split_queries(data, parts, cost)
        assert np.concatenate([part.query_ids for part in shares]).tolist() == list(range(n))
        assert 1 <= len(shares) <= parts
        most = max(cost[part.query_ids].sum() for part in shares)
        assert most <= least_most(cost.tolist(), min(parts, n)) * (1 + 1e-9)


def test_graphs_and_sparse_features_have_costs():
    X, y, qid = make_ranking(300, 20, 6, 4)
    X[np.abs(X) < 1] = 0
    dense, sparse = (RankingData(x, y, qid, preferences="chain") for x in (X, sp.csr_array(X)))
    p = dense.preferences
    sizes = np.diff(p.ranking_ptr)
    assert query_costs(dense).sum() == pytest.approx(2 * X.nbytes + 4.4 * float(sizes @ sizes))
    assert query_costs(sparse).sum() == pytest.approx(2 * 12 * np.count_nonzero(X) + 4.4 * float(sizes @ sizes))


def test_several_devices_hold_whole_queries():
    X, y, qid = make_ranking(900, 3, 30, 4)
    engine = open_engine(RankingData(X, y, qid), device=["torch:cpu"] * 3)
    assert isinstance(engine, SumEngine)
    rows = [part.facts.rows for part in engine.engines]
    assert sum(rows) == 900
    assert sum(part.facts.queries for part in engine.engines) == 30
    assert max(rows) <= 1.5 * min(rows)


def test_an_engine_that_is_not_entered_says_so():
    X, y, qid = make_ranking(60, 3, 3, 3)
    engine = TorchEngine(RankingData(X, y, qid), "torch:cpu")
    with pytest.raises(linrank.LinrankError, match="enter it"):
        engine.scores(np.ones(3))
    with engine, TorchEngine(RankingData(X, y, qid), "torch:cpu") as other, pytest.raises(DataError, match="another"):
        engine.evaluate(LOSSES["hinge"], other.scores(np.ones(3)))


def test_the_cost_of_a_hessian_is_a_devices_own():
    sizes = np.random.default_rng(0).lognormal(np.log(105), 0.53, 400).astype(int) + 2  # as MSLR-WEB30K's queries
    qid = np.repeat(np.arange(sizes.size), sizes)
    y = np.random.default_rng(1).integers(0, 5, qid.size)
    data = RankingData(np.zeros((qid.size, 136)), y, qid)
    engine = TorchEngine(data, "torch:cpu")
    assert 9 < engine.hessian_cost(LOSSES["squared_hinge"]) < 15
    assert engine.hessian_cost(LOSSES["hinge"]) is None
    long = RankingData(np.zeros((3000, 7)), np.arange(3000))
    assert TorchEngine(long, "torch:cpu").hessian_cost(LOSSES["logistic"]) == 7  # a product a column
