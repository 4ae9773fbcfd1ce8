"""An engine over pipes, as short as the contract allows: the rows in a process of their own, each message pickled.

What the worker holds, scores and evaluations, has a number. Here is a handle to it: when that dies, the next message
says so. Parts of this kind become one engine by `SumEngine(parts, at_once=True)`.
"""

import itertools
import multiprocessing
import pickle
import signal
import threading
from functools import partialmethod

from linrank.engines import LocalEngine

#: Workers are forked from a process that has imported all they need, and none of the tests' threads and memory.
WORKERS = multiprocessing.get_context("forkserver")
WORKERS.set_forkserver_preload(["linrank.testing", "pytest"])


class Worker:
    """Has the rows, and all that is numbered; an evaluation stands for its scores as well."""

    def __init__(self, data):
        self.engine, self.held = LocalEngine(data), {}

    def scores(self, number, w):
        self.held[number] = self.engine.scores(w)

    def evaluate(self, number, loss, s, d, t, gradient):
        s, d = (getattr(self.held.get(k), "scores", self.held.get(k)) for k in (s, d))
        found = self.held[number] = self.engine.evaluate(loss, s, d, t, gradient)
        return found.sums, found.gradient() if gradient else None

    def of_evaluation(self, number, method, *arguments):
        return getattr(self.held[number], method)(*arguments)

    def n_held(self):
        return len(self.held)

    def __getattr__(self, method):  # all others: sums, d-vectors and samples as they are
        return getattr(self.engine, method)


def serve(pipe, data):
    """Answer, until the process is ended; an error is an answer."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group: it is for the parent to end this
    worker = Worker(data)
    with worker.engine:
        while True:
            freed, method, arguments = pickle.loads(pipe.recv_bytes())
            for number in freed:
                worker.held.pop(number, None)
            try:
                answer = getattr(worker, method)(*arguments)
            except BaseException as error:
                answer = error
            pipe.send_bytes(pickle.dumps(answer))


class Handle:
    """Stands for what the worker holds under a number."""

    def __init__(self, engine):
        self.number, self.freed = next(engine.numbers), engine.freed

    def __del__(self):
        self.freed.append(self.number)


class PipeEngine:
    """Rows in another process; `sizes` are the bytes of each message, there and back, by what was asked."""

    def __init__(self, data):
        self.data, self.facts = data, LocalEngine(data).facts
        self.numbers, self.freed, self.sizes = itertools.count(), [], []
        self.turn = threading.Lock()  # after an interrupt a thread of a sum may still be asking

    def __enter__(self):
        self.pipe, theirs = WORKERS.Pipe()
        self.process = WORKERS.Process(target=serve, args=(theirs, self.data), daemon=True)
        self.process.start()
        theirs.close()
        return self

    def __exit__(self, kind, error, trace):
        self.process.terminate()
        self.process.join()
        self.pipe.close()

    def ask(self, method, *arguments):
        with self.turn:
            message = pickle.dumps(([self.freed.pop() for _ in range(len(self.freed))], method, arguments))
            self.pipe.send_bytes(message)
            reply = self.pipe.recv_bytes()
        self.sizes.append((method, len(message), len(reply)))
        answer = pickle.loads(reply)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    columns = partialmethod(ask, "columns")
    largest_row = partialmethod(ask, "largest_row")
    fingerprint = partialmethod(ask, "fingerprint")
    hessian_cost = partialmethod(ask, "hessian_cost")
    at_zero = partialmethod(ask, "at_zero")

    def scores(self, w):
        handle = Handle(self)
        self.ask("scores", handle.number, w)
        return handle

    def evaluate(self, loss, s, d=None, t=0.0, gradient=False):
        handle = Handle(self)
        line = s.number, None if d is None else d.number, t
        return PipeEvaluation(self, handle, *self.ask("evaluate", handle.number, loss, *line, gradient))

    def draw(self, n_rows, first=0, of=None):
        return self.ask("draw", n_rows, first, of)

    def sample(self, n_rows):
        data = self.draw(n_rows)
        return None if data is None or data.preferences.n_rankings == 0 else LocalEngine(data)


class PipeEvaluation:
    """A loss at given scores, in another process; its handle is that of the scores."""

    def __init__(self, engine, handle, sums, gradient):
        self.engine, self.scores, self.sums, self.known = engine, handle, sums, gradient

    def ask(self, method, *arguments):
        return self.engine.ask("of_evaluation", self.scores.number, method, *arguments)

    def gradient(self, scale=None):
        if self.known is None:
            return self.ask("gradient", scale)
        return self.known if scale is None else self.known / scale

    hessian_product = partialmethod(ask, "hessian_product")

    hessian = partialmethod(ask, "hessian")
    outer = partialmethod(ask, "outer")
