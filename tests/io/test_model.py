"""The model file: exact, whole or not there, and damage has a name."""

import errno
import json
import os
import signal
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GroupKFold

import linrank
from linrank import LinearRanker, LinearRankerCV, LinrankError, ModelFileError
from linrank.io import Model, read_model
from linrank.io._document import dumps, loads
from linrank.solvers import Bundle, Newton
from linrank.testing import make_ranking

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(scope="module")
def problem():
    return make_ranking(300, 4, 10, 4, seed=3)


@pytest.fixture(scope="module")
def ranker(problem):
    return LinearRanker(alpha=0.01).fit(*problem)


@pytest.mark.parametrize(
    "estimator",
    [
        LinearRanker(preferences=[(0, 1, 1.0), (1, 2, 0.5)]),
        LinearRanker("hinge", 0.1, preferences="chain", query_weighting="queries", scale=False, n_jobs=2),
        LinearRanker(solver=Newton(tol=1e-5, max_iter=7), warm_start=True),
        LinearRanker("hinge", np.float64(0.1), solver=Bundle(line_search=False)),
        LinearRankerCV([0.1, 1.0], cv=3),
        LinearRankerCV(3, cv=3, one_standard_error=True),
    ],
    ids=["graph", "parameters", "newton", "bundle", "alphas", "number"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_comes_back_to_the_last_bit(problem, estimator, tmp_path):
    X, y, qid = problem
    saved = estimator.fit(X, y, qid)
    linrank.save(saved, tmp_path / "model.json")
    loaded = linrank.load(tmp_path / "model.json")
    assert type(loaded) is type(saved)
    assert loaded.predict(X).tobytes() == saved.predict(X).tobytes()
    assert loaded.score(X, y, qid) == saved.score(X, y, qid)
    for name, value in saved.get_params().items():
        np.testing.assert_array_equal(getattr(loaded, name), value)
    lost = {"history_", "cv_results_", "_solution", "_key", "_rows_seen", "_queries_without_pairs"}
    lost |= {"_aside", "_pending", "_deviation"}
    assert set(vars(saved)) - set(vars(loaded)) <= lost
    for name in ("scale_", "objective_", "gap_", "n_iter_", "n_pairs_", "n_rows_", "n_queries_", "status_"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(saved, name), strict=True)
    with pytest.raises(linrank.DataError, match="pass qid"):
        loaded.score(X, y)
    np.testing.assert_allclose(loaded.fit(X, y, qid).predict(X), saved.predict(X), rtol=0.1, atol=0.1)


def test_names_come_back_and_are_checked(problem, tmp_path):
    X, y, qid = problem
    frame = pd.DataFrame(X, columns=["title", "größe", 'a "quote"', "δ"])
    saved = LinearRanker().fit(frame, y, qid)
    linrank.save(saved, tmp_path / "model")
    loaded = linrank.load(tmp_path / "model")
    assert loaded.predict(frame).tobytes() == saved.predict(frame).tobytes()
    assert loaded.feature_names_in_.tolist() == frame.columns.tolist()
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[frame.columns[::-1]])
    text = (tmp_path / "model").read_text()
    assert f'\n  ["größe", {float(saved.coef_[1])!r}],\n' in text  # readable: a line for each weight


def test_facts(ranker):
    model = loads(dumps(Model.of(ranker)), "m")
    facts = model.training
    assert facts["rows"] == 300
    assert facts["queries"] == 10
    assert facts["pairs"] == ranker.n_pairs_
    assert facts["features"] == 4
    assert facts["loss"] == "squared_hinge"
    assert facts["alpha"] == 0.01
    assert facts["gap"] == ranker.gap_
    assert facts["linrank"] == linrank.__version__
    assert facts["date"].endswith("+00:00")


FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@given(
    weights=st.lists(st.tuples(st.text(st.characters(codec=None)), FLOATS, FLOATS, FLOATS), min_size=1, max_size=8),
    named=st.booleans(),
    alpha=FLOATS,
    objective=st.one_of(FLOATS, st.none()),
)
@settings(max_examples=300)
def test_any_model_round_trips(weights, named, alpha, objective):
    names, *columns = zip(*weights, strict=True)
    coef, scale, fill = (np.array(column) for column in columns)
    model = Model(
        "LinearRanker",
        {"alpha": alpha},
        coef,
        list(names) if named else None,
        scale,
        "mean",
        fill,
        training={"objective": objective},
    )
    back = loads(dumps(model), "m")
    for name in ("weights", "scale", "fill"):
        assert getattr(back, name).tobytes() == getattr(model, name).tobytes()
    assert back.names == model.names
    assert repr(back.parameters["alpha"]) == repr(alpha)
    assert back.training["objective"] == objective


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def test_golden_files_stay_readable(path):
    """Files of version 1 as they were written; each names its scores of the rows (1, 0, ...), (0, 1, 0, ...), ..."""
    loaded = linrank.load(path)
    expected = json.loads(path.with_suffix(".scores").read_text())
    X = np.eye(loaded.n_features_in_)
    if hasattr(loaded, "feature_names_in_"):
        X = pd.DataFrame(X, columns=loaded.feature_names_in_)
    assert loaded.predict(X).tolist() == expected
    assert loaded.gap_ > 0
    if loaded.missing != "error":
        empty = np.full((1, X.shape[1]), np.nan)
        np.testing.assert_allclose(loaded.predict(empty), [loaded.fill_ @ loaded.coef_])


def test_there_are_golden_files():
    assert {path.stem for path in GOLDEN.glob("*.json")} >= {"v1-unnamed", "v1-named", "v1-cv", "v1-missing"}


@pytest.mark.parametrize(
    "cv",
    [GroupKFold(3), [(np.arange(200), np.arange(200, 300)), (np.arange(100, 300), np.arange(100))]],
    ids=["splitter", "rows"],
)
def test_parameters_that_json_cannot_hold(problem, tmp_path, caplog, cv):
    saved = LinearRankerCV(2, cv=cv).fit(*problem)
    linrank.save(saved, tmp_path / "m")
    assert len((tmp_path / "m").read_text()) < 3000
    with caplog.at_level("INFO", "linrank"):
        loaded = linrank.load(tmp_path / "m")
    assert f"cv was {repr(cv)[:20]}" in caplog.text
    assert loaded.cv == 5
    assert loaded.alpha_ == saved.alpha_


def test_what_is_not_known(ranker, tmp_path):
    odd = LinearRanker(alpha=0.01).fit(np.eye(3), [1, 2, 3]).set_params(tol=np.inf)
    odd.gap_ = np.nan
    linrank.save(odd, tmp_path / "m")
    assert read_model(tmp_path / "m").training["gap"] is None
    assert np.isnan(linrank.load(tmp_path / "m").gap_)
    assert linrank.load(tmp_path / "m").tol == 1e-3


def test_a_parameter_of_a_later_linrank_is_left_out(ranker, caplog):
    text = _edited(dumps(Model.of(ranker)), lambda d: d["parameters"].update(device="cuda:7", sparkle=1))
    loads(text, "m").ranker()
    assert "sparkle" in caplog.text or "device" in caplog.text


def test_what_cannot_be_saved(tmp_path, ranker):
    with pytest.raises(NotFittedError):
        linrank.save(LinearRanker(), tmp_path / "m")

    class Mine(LinearRanker):
        pass

    mine = Mine().fit(np.eye(3), [1, 2, 3])
    with pytest.raises(ModelFileError, match="Mine cannot be saved"):
        linrank.save(mine, tmp_path / "m")
    broken = LinearRanker().fit(np.eye(3), [1, 2, 3])
    broken.coef_ = np.array([1.0, np.nan, 0.0])
    with pytest.raises(ModelFileError, match="NaN"):
        linrank.save(broken, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def _edited(text, change, keep_checksum=False):
    document = json.loads(text)
    if not keep_checksum:
        del document["checksum"]
    change(document)
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d.update(format="other"), "not a model of linrank"),
        (lambda d: d.update(version=2), "upgrade linrank"),
        (lambda d: d.update(version=True), "version"),
        (lambda d: d.update(version=0), "version"),
        (lambda d: d.update(version="1"), "version"),
        (lambda d: d.pop("version"), "version"),
        (lambda d: d.pop("weights"), "'weights' is not there"),
        (lambda d: d.pop("scale"), "'scale' is not there"),
        (lambda d: d.update(weihgts=[]), "'weihgts' is not known"),
        (lambda d: d.update(weights=[]), "empty"),
        (lambda d: d.update(weights={"a": 1}), "not a list"),
        (lambda d: d.update(weights=[1, "2", 3, 4]), "not a number"),
        (lambda d: d.update(weights=[1, True, 3, 4]), "not a number"),
        (lambda d: d.update(weights=[1, None, 3, 4]), "not a number"),
        (lambda d: d.update(weights=[1, 10**400, 3, 4]), "too large"),
        (lambda d: d.update(weights=[["a", 1], 2, 3, 4]), "name, number"),
        (lambda d: d.update(weights=[["a", 1], ["b"], 3, 4]), "name, number"),
        (lambda d: d.update(weights=[[1, 1]] * 4), "name, number"),
        (lambda d: d.update(scale=[1.0]), "one per weight"),
        (lambda d: d.update(scale={"a": 1}), "one per weight"),
        (lambda d: d.update(fill=[1.0] * 5), "one per weight"),
        (lambda d: d.update(missing="median"), "missing"),
        (lambda d: d.update(estimator="os.system"), "estimator"),
        (lambda d: d.update(estimator=["LinearRanker"]), "estimator"),
        (lambda d: d.update(estimator="LinearRankerCV"), "alpha_"),
        (lambda d: d.update(state={"alpha_": 1}), "nothing"),
        (lambda d: d.update(parameters=[]), "'parameters' is not an object"),
        (lambda d: d.update(training=None), "'training' is not an object"),
        (lambda d: d["training"].update(rows="many"), "rows"),
        (lambda d: d["training"].update(gap="small"), "gap"),
        (lambda d: d["parameters"].update(solver={"solver": "Status"}), "does not know"),
        (lambda d: d["parameters"].update(solver={"solver": "Newton", "speed": 3}), "does not have"),
        (lambda d: d["parameters"].update(alphas=[[1], "x"]), "list of something else"),
        (lambda d: d["parameters"].update(alphas=[[1], ["x"]]), "list of something else"),
        (lambda d: d["parameters"].update(alphas=[[1], [1, 2]]), "list of something else"),
        (lambda d: d["parameters"].update(alphas=[{"a": 1}]), "list of something else"),
    ],
)
def test_wrong_contents_are_named(ranker, change, words):
    with pytest.raises(ModelFileError, match=words) as caught:
        loads(_edited(dumps(Model.of(ranker)), change), "some.json")
    assert isinstance(caught.value, LinrankError)
    assert isinstance(caught.value, ValueError)
    assert str(caught.value).startswith("some.json")
    assert "\n" not in str(caught.value)


def test_a_changed_weight_is_noticed_and_the_cure_works(ranker):
    text = dumps(Model.of(ranker))
    changed = _edited(text, lambda d: d["weights"].__setitem__(0, 0.5), keep_checksum=True)
    with pytest.raises(ModelFileError, match="delete the line 'checksum'"):
        loads(changed, "m")
    by_hand = text.replace(repr(float(ranker.coef_[0])).encode(), b"0.5", 1)
    with pytest.raises(ModelFileError, match="delete the line 'checksum'"):
        loads(by_hand, "m")
    without = b"".join(line for line in by_hand.splitlines(keepends=True) if not line.startswith(b'"checksum"'))
    assert loads(without, "m").weights[0] == 0.5
    loads(json.dumps(json.loads(text), indent=4).replace("\n", "\r\n").encode(), "m")  # layout does not matter


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "not a model file"),
        (b"PK\x03\x04 a zip", "not a model file"),
        (b"[1, 2]", "not a model file"),
        (b"{", "damaged"),
        (b'{"format": "linrank"} x', "damaged"),
        (b'{"format": "linrank", "format": "linrank"}', "occurs twice"),
        (b'{"format": NaN}', "NaN is not a number"),
        (b'{"format": -Infinity}', "not a number"),
        (b'{"format": 1e999}', "too large"),
        (b'{"format": ' + b"9" * 5000 + b"}", "damaged"),
        (b'{"format": "\xff"}', "not UTF-8"),
        (b'{"a": ' * 100_000, "nested too deeply"),
        (b'{"a": ' + b"[" * 100_000, "nested too deeply"),
        (b'{"format": "\x01"}', "damaged"),
        (b'\xef\xbb\xbf{"format": "linrank"}', "not a model file"),
    ],
)
def test_damaged_bytes_are_named(tmp_path, text, words):
    (tmp_path / "m").write_bytes(text)
    with pytest.raises(ModelFileError, match=words):
        linrank.load(tmp_path / "m")


def test_every_truncation_and_many_bit_flips_are_named_or_harmless(ranker):
    """A flip in the layout, or in the case of a hexadecimal digit, changes nothing; all others are noticed."""
    text = dumps(Model.of(ranker))
    for end in range(len(text.rstrip())):
        with pytest.raises(ModelFileError):
            loads(text[:end], "m")
    rng = np.random.default_rng(0)
    noticed = 0
    for _ in range(1000):
        flipped = bytearray(text)
        flipped[rng.integers(len(text))] ^= 1 << rng.integers(8)
        try:
            model = loads(bytes(flipped), "m")
        except ModelFileError:
            noticed += 1
        else:
            assert model.weights.tobytes() == ranker.coef_.tobytes()
    assert noticed > 900


@given(text=st.binary(max_size=200), prefix=st.sampled_from([b"", b"{", b"SVM-light Version", b"solver_type "]))
@settings(max_examples=300)
def test_random_bytes_are_a_named_error(text, prefix, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "random-model"
    path.write_bytes(prefix + text)
    with pytest.raises(ModelFileError):
        linrank.load(path)


def test_a_missing_file_is_the_systems_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        linrank.load(tmp_path / "nothing")
    with pytest.raises(IsADirectoryError):
        linrank.save(LinearRanker().fit(np.eye(3), [1, 2, 3]), tmp_path)


# --- written whole or not at all


@pytest.mark.parametrize("failing", ["os.fsync", "os.replace"])
def test_a_full_disk_leaves_the_old_file(ranker, tmp_path, monkeypatch, failing):
    path = tmp_path / "m.json"
    path.write_text("old")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(failing, full)
    with pytest.raises(OSError, match="No space"):
        linrank.save(ranker, path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("how", ["killed", "limited"])
def test_a_real_end_in_the_middle_leaves_the_old_file(tmp_path, how):
    """Killed by SIGKILL before the file is moved; a limit on the size of files, at which the kernel refuses bytes."""
    path = tmp_path / "m.json"
    path.write_text("old")
    program = f"""
        import os, resource, signal
        from linrank import _files as files
        if {how!r} == "killed":
            os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)
        else:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        with files.replacing({str(path)!r}) as file:
            file.write(b"new" * 100_000)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True)
    assert done.returncode == (-signal.SIGKILL if how == "killed" else 1)
    assert path.read_text() == "old"
    if how == "limited":
        assert "File too large" in done.stderr
        assert list(tmp_path.iterdir()) == [path]


def test_permissions_links_and_devices(ranker, tmp_path):
    path, link = tmp_path / "m.json", tmp_path / "link.json"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    linrank.save(ranker, link)
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert linrank.load(path).coef_.tobytes() == ranker.coef_.tobytes()
    linrank.save(ranker, os.devnull)
    assert not stat.S_ISREG(os.stat(os.devnull).st_mode)
    fresh = tmp_path / "fresh.json"
    linrank.save(ranker, fresh)
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(fresh.stat().st_mode) == 0o666 & ~mask


def test_read_model_refuses_a_number_of_features_that_the_file_holds(ranker, tmp_path):
    linrank.save(ranker, tmp_path / "m")
    assert read_model(tmp_path / "m").weights.size == 4
    with pytest.raises(ModelFileError, match="leave n_features out"):
        linrank.load(tmp_path / "m", n_features=9)


class AUCClassifier(BaseEstimator):
    """A classifier made of a ranker, as linrank's own is."""

    def __init__(self, alpha=1e-3, cv=5):
        self.alpha, self.cv = alpha, cv

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.ranker_ = LinearRanker(alpha=self.alpha).fit(X, y == self.classes_[1])
        self.coef_, self.intercept_, self.slope_ = self.ranker_.coef_[None, :], np.array([-0.1]), 1 / 3
        self.n_iter_, self.n_features_in_ = self.ranker_.n_iter_, X.shape[1]
        return self


@pytest.mark.parametrize("classes", [["no", "yes"], [3, 7], [False, True]])
def test_a_classifier_made_of_a_ranker(problem, tmp_path, monkeypatch, classes):
    monkeypatch.setattr(linrank, "AUCClassifier", AUCClassifier, raising=False)
    X, y, _ = problem
    saved = AUCClassifier(alpha=0.5, cv=None).fit(X, np.array(classes)[(y > 1).astype(int)])
    linrank.save(saved, tmp_path / "m")
    loaded = linrank.load(tmp_path / "m")
    assert loaded.get_params() == saved.get_params()
    for name in ("classes_", "coef_", "intercept_", "slope_", "n_iter_", "n_features_in_"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(saved, name), strict=True)
    assert loaded.ranker_.predict(X).tobytes() == saved.ranker_.predict(X).tobytes()
    assert loaded.ranker_.alpha == 0.5
    assert loaded.ranker_.gap_ == saved.ranker_.gap_
