"""Threads: forks and Ctrl-C while others work leave neither a lock nor a limit behind."""

import io
import linecache
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from linrank import LinearRanker, ParameterError, RankingData, _threads, read_svmlight
from linrank._once import cached_property
from linrank._threads import Crew, Stopped, count_threads, give_up_if_stopped, map_in_threads
from linrank.engines import LocalEngine, SumEngine, local
from linrank.testing import make_ranking

HANG = 60  # seconds until a test says that something hangs


def blas_threads():
    return [library.get_num_threads() for library in ThreadpoolController().select(user_api="blas").lib_controllers]


@pytest.fixture
def two_blas_threads():
    """BLAS on two threads, whatever the machine has, so that a limit of one can be told."""
    with ThreadpoolController().limit(limits=2, user_api="blas"):
        assert blas_threads()
        assert set(blas_threads()) == {2}
        yield


def test_numbers_of_threads():
    assert count_threads(None) == 1
    assert count_threads(3) == 3
    assert count_threads(np.int64(2)) == 2
    assert count_threads(-1) >= 1
    for wrong in (0, True, 1.5, "2"):
        with pytest.raises(ParameterError, match="n_jobs"):
            count_threads(wrong)


# --- fork


def waited(child):
    """The exit code of a child; killed if it hangs."""
    alarm = threading.Timer(HANG, os.kill, (child, signal.SIGKILL))
    alarm.start()
    try:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    finally:
        alarm.cancel()


def in_a_child(check):
    """Fork, and tell whether `check` holds in the child."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if check() else 2
        finally:
            os._exit(code)
    return waited(child) == 0


FORKS = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


@FORKS
def test_a_fork_while_another_thread_fits_does_not_hang(two_blas_threads):
    """The other thread is in the middle of limiting BLAS when the process forks; the child fits by itself."""
    X, y, qid = make_ranking(60, 3, 4, 3)
    LinearRanker().fit(X, y, qid)  # all compiled: the compiler has locks of its own
    inside, forking = threading.Event(), threading.Event()

    class Slow:
        def get_num_threads(self):
            inside.set()
            forking.wait(1)
            return 2

        def set_num_threads(self, n):
            pass

    controller = _threads.one_blas_thread._controller

    class Controller:
        def select(self, **_):
            found = controller.select(user_api="blas")
            return type("Found", (), {"lib_controllers": [Slow(), *found.lib_controllers]})

    _threads.one_blas_thread._controller = Controller()
    try:
        other = threading.Thread(target=lambda: LinearRanker().fit(X, y, qid))
        other.start()
        assert inside.wait(HANG)
        forking.set()

        def child():
            _threads.one_blas_thread._controller = controller
            restored = set(blas_threads()) == {2}
            LinearRanker().fit(X, y, qid)
            return restored and set(blas_threads()) == {2}

        assert in_a_child(child)
        other.join(HANG)
        assert not other.is_alive()
    finally:
        _threads.one_blas_thread._controller = controller
    assert set(blas_threads()) == {2}


@FORKS
def test_a_fork_within_a_fit_keeps_the_limit_of_the_thread_that_lives_on(two_blas_threads):
    X, y, qid = make_ranking(60, 3, 4, 3)
    engine = LocalEngine(RankingData(X, y, qid))

    def child():
        still = set(blas_threads()) == {1}
        engine.__exit__(None, None, None)
        return still and set(blas_threads()) == {2}

    with engine:
        assert in_a_child(child)
        assert set(blas_threads()) == {1}


# --- Ctrl-C


class Interrupting:
    """Raises KeyboardInterrupt in some functions as they begin, or at one of their lines.

    But not at the end of a ``with``: Python looks for signals before, and after the lock is released, not in between.
    """

    def __init__(self, at, *functions):
        self.left, self.codes, self.seen = at, {function.__code__ for function in functions}, set()

    def __call__(self, frame, event, argument):
        if frame.f_code not in self.codes:
            return None
        here = (id(frame), frame.f_lineno)
        again = (
            here in self.seen and linecache.getline(frame.f_code.co_filename, frame.f_lineno).lstrip()[:5] == "with "
        )
        if event == "call":
            self.seen = {place for place in self.seen if place[0] != id(frame)}
        elif event == "line":
            self.seen.add(here)
        if event in ("call", "line") and not again:
            if self.left == 0:
                sys.settrace(None)
            self.left -= 1
            if self.left < 0:
                raise KeyboardInterrupt
        return self


def is_free(lock):
    """Whether another thread can take it."""
    taken = []

    def take():
        taken.append(lock.acquire(blocking=False))
        if taken[0]:
            lock.release()

    other = threading.Thread(target=take)
    other.start()
    other.join()
    return taken[0]


WHERE = (
    LocalEngine.__enter__,
    LocalEngine.__exit__,
    *(getattr(_threads.OneBlasThread, name) for name in ("enter", "leave", "_drop", "_limit", "_restore")),
)


def test_an_interrupt_anywhere_in_entering_or_leaving_an_engine_leaves_blas_as_it_was(two_blas_threads):
    X, y, qid = make_ranking(60, 3, 4, 3)
    data = RankingData(X, y, qid)
    for at in range(1000):
        trace = Interrupting(at, *WHERE)
        engine, before = LocalEngine(data, 2), sys.gettrace()
        sys.settrace(trace)
        try:
            with engine:
                pass
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(before)
        del engine
        assert set(blas_threads()) == {2}, at
        assert not _threads.one_blas_thread._holders, at
        assert is_free(_threads.one_blas_thread._lock), at
        if trace.left >= 0:
            break
    assert 25 < at < 999  # it has been everywhere


def test_blas_is_limited_while_any_engine_is_open(two_blas_threads):
    X, y, qid = make_ranking(60, 3, 4, 3)
    first, second = (LocalEngine(RankingData(X, y, qid)) for _ in range(2))
    with first:
        with second:
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}
    assert set(blas_threads()) == {2}


def test_answers_come_in_order_and_errors_as_they_are():
    assert map_in_threads(lambda k: 2 * k, range(20), 3) == list(range(0, 40, 2))
    assert map_in_threads(str, [], None) == []
    with pytest.raises(ZeroDivisionError):
        map_in_threads(lambda k: 1 // k, [1, 0, 2], 2)


@pytest.mark.parametrize("nested", [False, True])
def test_an_interrupt_stops_what_runs_and_what_waits(nested):
    """The first item is running when Ctrl-C comes; it gives up, in whatever pool it runs, and no other begins."""
    begun, ended = [], threading.Event()

    def item(k):
        begun.append(k)
        os.kill(os.getpid(), signal.SIGINT)  # taken by the main thread, which waits
        try:
            for _ in range(HANG * 100):
                give_up_if_stopped()
                ended.wait(0.01)
        except Stopped:
            ended.set()
            raise

    def run(k):
        return map_in_threads(item, [k], None) if nested else item(k)

    with pytest.raises(KeyboardInterrupt):
        map_in_threads(run, range(5), None)
    assert ended.wait(HANG)
    assert begun == [0]


def read(data):
    row = b"1 qid:1 " + b" ".join(b"%d:0.5" % j for j in range(1, 40)) + b"\n"
    return read_svmlight(io.BytesIO(row * 8000))  # more than a block: parsed in a thread


def ask_engine(data):
    with LocalEngine(data, 2) as engine:
        return engine.map(str, range(2))


def ask_sum(data):
    with SumEngine([LocalEngine(data)], at_once=True) as engine:
        return engine.each(str)


def run_threads(data):
    return map_in_threads(str, range(2), 2)


@pytest.mark.parametrize("work", [run_threads, read, ask_engine, ask_sum])
def test_an_interrupt_that_python_takes_for_another_error_is_one(work, monkeypatch):
    def cut_off(thread):
        """What Python does where Ctrl-C comes while the starting thread takes its lock back."""
        try:
            raise KeyboardInterrupt
        finally:
            threading.Lock().release()

    data = RankingData(*make_ranking(60, 3, 4, 3))
    monkeypatch.setattr(threading.Thread, "start", cut_off)
    with pytest.raises(RuntimeError, match="release unlocked lock"):
        threading.Thread().start()
    with pytest.raises(KeyboardInterrupt):
        work(data)


def test_an_error_without_an_interrupt_stays_one():
    def fail(item):
        raise RuntimeError("of its own")

    data = RankingData(*make_ranking(60, 3, 4, 3))
    with LocalEngine(data, 2) as engine, SumEngine([LocalEngine(data)], at_once=True) as whole:
        for work in (lambda: map_in_threads(fail, [1], 2), lambda: engine.map(fail, [1, 2]), lambda: whole.each(fail)):
            with pytest.raises(RuntimeError, match="of its own"):
                work()


def test_an_engine_gives_up_in_a_thread_that_nobody_waits_for(monkeypatch):
    X, y, qid = make_ranking(60, 3, 4, 3)

    def stopped():
        raise Stopped

    monkeypatch.setattr(local, "give_up_if_stopped", stopped)
    with pytest.raises(Stopped):
        LinearRanker().fit(X, y, qid)


PROGRAM = """
import os, signal, threading, time
import linrank
from linrank.testing import make_ranking
from threadpoolctl import ThreadpoolController

blas = ThreadpoolController().select(user_api="blas").lib_controllers
for library in blas:
    library.set_num_threads(2)
X, y, qid = make_ranking(3000, 20, 30, 4)
linrank.LinearRanker(tol=1e-9).fit({data})  # compiled: a signal within the compiler's finalisers would be lost
{model}.set_params(max_iter=1, tol=1.0).fit({data})


def strike(delay, taken):
    while not taken.wait(delay):  # once more if Python drops it, as it does within any finaliser
        os.kill(os.getpid(), signal.SIGINT)
        delay = 5.0


for delay in (0.0, 0.01, 0.03, 0.1, 0.3):
    taken = threading.Event()
    try:
        threading.Thread(target=strike, args=(delay, taken)).start()
        while True:
            {model}.fit({data})
    except KeyboardInterrupt:
        taken.set()
    for _ in range(100 * {hang}):  # folds that ran give up by themselves
        if all(library.get_num_threads() == 2 for library in blas):
            break
        time.sleep(0.01)
    assert all(library.get_num_threads() == 2 for library in blas), delay
print("fine")
"""


@pytest.mark.parametrize(
    ("model", "data"),
    [
        ("linrank.LinearRanker(tol=1e-9)", "X, y, qid"),
        pytest.param("linrank.LinearRankerCV(2000, tol=1e-9, n_jobs=2)", "X, y, qid", marks=pytest.mark.slow),
        pytest.param("linrank.AUCClassifier(tol=1e-9)", "X, y > 1", marks=pytest.mark.slow),
    ],
)
def test_control_c_ends_a_fit_at_any_moment(model, data):
    code = PROGRAM.format(model=model, data=data, hang=HANG)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=99,
                          preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "fine\n"), done.stderr


def test_nothing_that_is_computed_once_holds_a_lock():
    """One that a fork finds taken would never be released in the child (functools' own has one up to Python 3.11)."""
    for path in Path(local.__file__).parent.parent.rglob("*.py"):
        assert path.name == "_once.py" or "from functools import cached_property" not in path.read_text(), path

    class Point:
        n = 0

        @cached_property
        def value(self):
            """Some value."""
            self.n += 1
            return self.n

    point = Point()
    assert (point.value, point.value, Point.value.__doc__) == (1, 1, "Some value.")
    assert not hasattr(Point.value, "lock")


@pytest.fixture
def wanted():
    """Somebody waits for the answer."""
    event = threading.Event()
    event.set()
    return event


def test_a_crew_does_each_part_once(wanted):
    with ThreadPoolExecutor(3) as pool:
        done = []
        Crew(pool, 3, wanted).share(done.append, range(50))
    assert sorted(done) == list(range(50))


def test_a_crew_without_an_idle_thread_does_not_wait_for_one(wanted):
    """Tasks that share their parts may be as many as there are threads: none is idle, and none must wait for ever."""
    with ThreadPoolExecutor(2) as pool:
        all_begun, done = threading.Barrier(2), []

        def task(number):
            all_begun.wait(HANG)
            Crew(pool, 2, wanted).share(lambda part: done.append((number, part)), range(8))

        for job in [pool.submit(task, number) for number in range(2)]:
            job.result(HANG)
    assert sorted(done) == [(number, part) for number in range(2) for part in range(8)]


def test_an_error_in_a_part_is_raised(wanted):
    def part(number):
        if number == 5:
            raise ValueError("five")

    with ThreadPoolExecutor(2) as pool, pytest.raises(ValueError, match="five"):
        Crew(pool, 2, wanted).share(part, range(8))


def test_nobody_goes_on_with_what_a_crew_left_undone(wanted):
    """After an interrupt, the next kernel would read memory that no one has filled."""
    done = []

    def part(number):
        done.append(number)
        wanted.clear()

    with ThreadPoolExecutor(2) as pool, pytest.raises(Stopped):
        Crew(pool, 2, wanted).share(part, range(8))
    assert len(done) < 8
