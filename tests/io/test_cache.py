"""The cache: found again, written anew where anything changed, and never half of it, whatever happens meanwhile."""

import errno
import multiprocessing
import os
import pickle
import shutil
import signal
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import linrank
from linrank import DataError, LinearRanker, LinrankError
from linrank.engines import LocalEngine
from linrank.io import _cache, _npy, _store
from linrank.io._cache import cache_folder, entries
from linrank.io._lock import is_held, locked

FORK = multiprocessing.get_context("fork")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("LINRANK_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def source(tmp_path) -> Path:
    path = tmp_path / "data.txt"
    write(path, 0)
    return path


def write(path, seed, m=200):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, 3))
    linrank.write_svmlight(path, X, rng.integers(0, 3, m), np.arange(m) // 10, comments=[f"d{k}" for k in range(m)])
    return X


def states(folder) -> list[str]:
    return [entry.state for entry in entries(folder)]


def test_the_folder(monkeypatch, tmp_path):
    assert cache_folder() == tmp_path / "cache"
    assert cache_folder("x") == Path("x")
    monkeypatch.delenv("LINRANK_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder().name == "linrank"


def test_it_is_written_once_and_again_where_anything_changed(source, folder, caplog):
    kept = linrank.scan(source).X
    X = np.array(kept)
    (entry,) = entries(folder)
    written = (entry.path / "X.npy").stat().st_mtime_ns
    assert np.array_equal(linrank.scan(source).X, X)
    (again,) = entries(folder)
    assert (again.path / "X.npy").stat().st_mtime_ns == written
    assert linrank.scan(source, dtype=np.float32).X.dtype == np.float32  # another entry
    assert len(states(folder)) == 2
    other = write(source, 1)
    assert sorted(states(folder)) == ["changed", "changed"]
    assert np.array_equal(linrank.scan(source).X, other)
    assert sorted(states(folder)) == ["changed", "current"]  # what it replaces is gone, what was read otherwise is not
    assert np.array_equal(kept, X)  # who has it mapped keeps it
    source.unlink()
    assert states(folder) == ["gone", "gone"]
    assert list(folder.glob("*.lock")) == []


def test_the_same_size_and_time_do_not_hide_a_change(source):
    before, times = linrank.scan(source), source.stat()
    assert before.y[0] in (0, 1, 2)
    text = source.read_text()
    source.write_text(("9" if text[0] != "9" else "8") + text[1:])
    os.utime(source, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert linrank.scan(source).y[0] == 9


@pytest.mark.parametrize("damage", ["version", "cut", "about", "missing"])
def test_an_entry_of_another_version_or_damaged_is_written_anew(source, folder, damage):
    X = np.array(linrank.scan(source).X)
    (entry,) = entries(folder)
    if damage == "version":
        about = (entry.path / "about.json").read_text()
        (entry.path / "about.json").write_text(about.replace('"version": 1', '"version": 0'))
        assert states(folder) == ["version 0"]
    elif damage == "cut":
        os.truncate(entry.path / "X.npy", 200)
    elif damage == "about":
        (entry.path / "about.json").write_text("{")
    else:
        (entry.path / "y.npy").unlink()
    assert np.array_equal(linrank.scan(source).X, X)
    assert states(folder) == ["current"]


def test_a_source_that_changes_or_vanishes_meanwhile(source, folder, monkeypatch):
    def meddle(what):
        add = _store.Writer.add

        def meddling(self, block):
            add(self, block)
            what()

        monkeypatch.setattr(_store.Writer, "add", meddling)

    scan = linrank.scan(source)
    text = source.read_text()
    meddle(lambda: source.write_text(text + "1 qid:99 1:1\n"))
    with pytest.raises(DataError, match=r"data\.txt changed while it was read"):
        _ = scan.X
    meddle(lambda: source.unlink(missing_ok=True))
    with pytest.raises(DataError, match=r"data\.txt vanished while it was read"):
        _ = scan.X
    assert states(folder) == []
    with pytest.raises(FileNotFoundError, match=r"data\.txt"):
        _ = scan.X
    assert list(folder.iterdir()) == []


def test_a_source_that_changes_after_it_was_opened(source):
    scan = linrank.scan(source)
    ranker = LinearRanker().fit(scan)
    write(source, 1, m=300)
    for use in (lambda: LinearRanker().fit(scan), lambda: ranker.predict(scan), lambda: scan.n_rows, scan.chunks):
        with pytest.raises(DataError, match=r"data\.txt changed since it was opened: scan it again"):
            use()
    assert linrank.scan(source).n_rows == 300
    assert pickle.loads(pickle.dumps(scan)).n_rows == 300  # not opened yet
    write(source, 0)
    scan = linrank.scan(source)
    assert scan.n_rows == 200
    source.unlink()  # what was read is in the cache
    assert np.array_equal(LinearRanker().fit(scan).coef_, ranker.coef_)


@pytest.mark.parametrize("when", [0, 1, 3, 8, 12])
def test_a_full_disk_leaves_nothing_and_is_a_sentence(source, folder, monkeypatch, when):
    """Whichever write fails, that of a header or of `about.json` as well."""
    calls = iter(range(10**6))
    real = os.fsync

    def full(handle):
        if next(calls) == when:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(handle)

    monkeypatch.setattr(os, "fsync", full)
    scan = linrank.scan(source)
    try:
        _ = scan.X
    except LinrankError as error:
        assert f"The cache {folder} cannot be written, as the disk is full: free some space" in str(error)  # noqa: PT017
        assert list(folder.iterdir()) == []
    else:
        assert next(calls) <= when  # fewer writes than that
    monkeypatch.setattr(os, "fsync", real)
    assert scan.X.shape == (200, 3)


def test_a_file_larger_than_allowed_is_the_same_sentence(tmp_path, folder):
    """A real write that fails in the middle: the process may write 20 kB a file."""
    write(tmp_path / "data.txt", 0, m=5000)

    def child(answer):
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        try:
            _ = linrank.scan(tmp_path / "data.txt").X
        except LinrankError as error:
            answer.put(str(error))

    answer = FORK.Queue()
    process = FORK.Process(target=child, args=(answer,))
    process.start()
    assert f"The cache {folder} cannot be written" in answer.get(timeout=60)
    process.join()
    assert list(folder.iterdir()) == []


def test_a_folder_that_cannot_be_written(source, tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(LinrankError, match=r"cannot be written \(.*\): .* name another folder by LINRANK_CACHE"):
        _ = linrank.scan(source, cache=tmp_path / "taken" / "cache").X


def build_slowly(source, pause):
    """As another process would."""
    add = _store.Writer.add

    def slow(self, block):
        Path(f"{source}.begun").touch()
        time.sleep(pause)
        add(self, block)

    _store.Writer.add = slow
    _ = linrank.scan(source).X


def wait_for(path):
    end = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < end
        time.sleep(0.002)


def test_of_two_processes_one_waits(source, folder, caplog):
    process = FORK.Process(target=build_slowly, args=(source, 0.5))
    process.start()
    wait_for(Path(f"{source}.begun"))
    assert states(folder) == ["being written"]
    with caplog.at_level("INFO", "linrank"):
        X = linrank.scan(source).X
    process.join()
    assert process.exitcode == 0
    assert "Another process reads" in caplog.text
    assert "is read into the cache" not in caplog.text  # it found what the other had written
    assert X.shape == (200, 3)
    assert states(folder) == ["current"]


def test_the_lock_of_a_dead_process_is_nobodys(source, folder, caplog):
    process = FORK.Process(target=build_slowly, args=(source, 600))
    process.start()
    wait_for(Path(f"{source}.begun"))
    process.kill()
    process.join()
    assert states(folder) == ["unfinished"]
    with caplog.at_level("INFO", "linrank"):
        assert linrank.scan(source).X.shape == (200, 3)
    assert "Another process" not in caplog.text
    assert states(folder) == ["current"]  # what was left unfinished is gone


def test_locks(tmp_path):
    path, told = tmp_path / "lock", []
    with locked(path, lambda: told.append(1)):
        assert is_held(path)
    assert not is_held(path)
    assert not path.exists()
    assert told == []


@contextmanager
def dying(moment):
    """The process kills itself at that of the events that writing an entry consists of."""
    counted = iter(range(1, 10**6))

    def counting(function):
        def call(*arguments, **named):
            if next(counted) == moment:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments, **named)

        return call

    homes = (_npy.GrowingNpy, "append"), (_npy.GrowingNpy, "close"), (_store.Writer, "finish")
    for home, name in (*homes, (LocalEngine, "scores"), (LocalEngine, "evaluate")):  # the last two: of the fit
        setattr(home, name, counting(getattr(home, name)))
    for name in ("rename", "mkdir", "open", "close", "fsync", "unlink"):
        setattr(os, name, counting(getattr(os, name)))
    shutil.rmtree = counting(shutil.rmtree)
    yield


def killed_at(source, moment):
    with dying(moment):
        scan = linrank.scan(source)
        _ = scan.X
        LinearRanker().fit(scan)
    os._exit(0)


def kill_and_look(source, expected, weights, folder, moment) -> bool:
    """Whether the process was killed there; afterwards all is as it should be."""
    shutil.rmtree(folder, ignore_errors=True)
    process = FORK.Process(target=killed_at, args=(source, moment))
    process.start()
    process.join()
    assert set(states(folder)) <= {"current", "unfinished"}
    scan = linrank.scan(source)
    assert np.array_equal(scan.X, expected)
    assert states(folder) == ["current"]
    assert np.array_equal(LinearRanker().fit(scan).coef_, weights)
    return process.exitcode == -signal.SIGKILL


@pytest.mark.parametrize("moment", [1, 9, 18, 27])
def test_killed_at_any_moment_nothing_half_written_is_used(source, folder, moment):
    scan = linrank.scan(source)
    assert kill_and_look(source, np.array(scan.X), LinearRanker().fit(scan).coef_, folder, moment)


@pytest.mark.slow
def test_killed_at_fifty_moments(tmp_path, folder):
    """At each of the events, those of the fit among them, and by the clock while larger data is read and fitted to."""
    source = tmp_path / "data.txt"
    expected, moment = write(source, 0), 1
    weights = LinearRanker().fit(linrank.scan(source)).coef_
    while kill_and_look(source, expected, weights, folder, moment):
        moment += 1
    assert moment > 35
    large = write(tmp_path / "large.txt", 1, m=60_000)
    weights = LinearRanker().fit(linrank.scan(tmp_path / "large.txt")).coef_
    for delay in np.linspace(0.02, 0.6, max(20, 51 - moment)):
        shutil.rmtree(folder, ignore_errors=True)
        process = FORK.Process(target=killed_at, args=(tmp_path / "large.txt", -1))
        process.start()
        time.sleep(delay)
        process.kill()
        process.join()
        scan = linrank.scan(tmp_path / "large.txt")
        assert np.array_equal(scan.X, large)
        assert np.array_equal(LinearRanker().fit(scan).coef_, weights)
        assert states(folder) == ["current"]


def test_what_is_listed_can_be_removed(source, folder):
    scan = linrank.scan(source)
    X = np.array(scan.X)
    (entry,) = entries(folder)
    assert entry.source == str(source)
    assert entry.n_bytes > X.nbytes
    _cache.remove(entry.path)
    assert states(folder) == []
    assert np.array_equal(scan.X, X)


def test_entries_that_others_delete_meanwhile_are_no_error(source, folder, monkeypatch):
    whole = linrank.scan(source)
    assert whole.n_rows == 200
    (entry,) = entries(folder)
    found = os.listdir(folder)

    def listed(path):
        """As the folder was, before another process deleted all of it."""
        shutil.rmtree(folder / found[0], ignore_errors=True)
        return iter([folder / name for name in found])

    with monkeypatch.context() as patch:
        patch.setattr(Path, "iterdir", lambda path: listed(path) if path == folder else iter(os.listdir(path)))
        patch.setattr(Path, "is_dir", lambda path: True)
        assert [one.n_bytes for one in entries(folder)] == [0]
    _cache.remove(entry.path)  # is gone already
    assert states(folder) == []


def test_old_entries_of_the_same_file_go_and_other_sources_are_not_looked_at(source, folder, tmp_path, monkeypatch):
    other = tmp_path / "other.txt"
    write(other, 5)
    for path in (source, other):
        assert linrank.scan(path).n_rows == 200
    write(source, 1, m=300)
    looked, stamp = [], _cache.stamp
    monkeypatch.setattr(_cache, "stamp", lambda path: looked.append(os.path.basename(path)) or stamp(path))
    assert linrank.scan(source).n_rows == 300
    assert set(looked) == {"data.txt"}
    monkeypatch.undo()
    monkeypatch.setenv("LINRANK_CACHE", str(folder))
    assert states(folder) == ["current", "current"]


def test_an_entry_that_another_process_found_outdated_at_once_is_a_source_that_changed(source, monkeypatch):
    opened = []

    def gone(target):
        """Another process read the file as it is by now, and deleted what it was."""
        opened.append(target)
        if len(opened) == 3:
            write(source, 1, m=300)
        return None

    monkeypatch.setattr(_cache, "_opened", gone)
    with pytest.raises(DataError, match=r"data\.txt changed while it was read"):
        linrank.scan(source).opened()
