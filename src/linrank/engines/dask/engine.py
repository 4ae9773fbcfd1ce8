"""The Dask engine: shards of whole queries on workers, and rankings that span them; what they answer adds up."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from types import TracebackType
from typing import Any

import numpy as np

from ..._errors import ClusterError, DataError, NoPairsError
from ..._threads import one_blas_thread
from ..._typing import FloatArray
from ...data.parts import MAX_BYTES
from ...data.ranking_data import RankingData
from ...losses import Loss, Sums
from ...losses._base import add_sums
from .._facts import Columns, Facts
from ..local import LocalEngine
from ..outer import Outer
from ..sum import join_drawn, mean_cost
from .cluster import Cluster
from .evaluation import DaskEvaluation
from .recipes import Handle, Keys, Product, Recipe, Step, products
from .shard import Request, size_of, touch
from .trips import Asked, Holders, LackingError, Span, ask_shards, found_all


class DaskEngine:
    """A sum over workers.

    Parameters
    ----------
    cluster : Cluster
        Where tasks go.
    shards : sequence of futures
        Of `Shard`: whole queries each, in the order in which they are added up.
    spans : sequence of Span
        Rankings over rows of several workers, after them.
    n_jobs : int or None
        Threads of a task; None: as many as its worker has.
    """

    def __init__(
        self, cluster: Cluster, shards: Sequence[Any], spans: Sequence[Span] = (), n_jobs: int | None = None
    ) -> None:
        self.cluster, self.shards, self.spans, self.n_jobs = cluster, list(shards), list(spans), n_jobs
        self.keys = Keys()
        self._costs: list[tuple[Loss, float | None]] = []
        self._columns: Columns | None = None
        told = self._trip("facts")
        self.parts: list[Facts] = [facts for facts, _ in told[: len(self.shards)]]
        self.bytes: list[int] = [size for _, size in told[: len(self.shards)]]
        self._describe_spans(told[len(self.shards) :])
        self.facts: Facts = reduce(Facts.joined, self.parts)
        if len({facts.features for facts in self.parts}) > 1:
            raise DataError("Partitions have different numbers of features: give all of them the same columns.")
        if self.facts.pairs == 0:
            raise NoPairsError(
                f"There is no pair to learn from (n_samples={self.facts.rows}, {self.facts.queries} queries): within "
                "at least one query, two rows of positive weight must differ in y. Check y, qid and the weights."
            )

    def _describe_spans(self, told: list[Any]) -> None:
        """A counter knows all but the features and their entries, and a part all but the preferences."""
        for span, (facts, size) in zip(self.spans, told, strict=True):
            of_parts = self._of_parts(span, "facts")
            features = {part.features for part, _ in of_parts}
            if len(features) > 1:
                raise DataError("Partitions have different numbers of features: give all of them the same columns.")
            entries = sum(part.entries for part, _ in of_parts)
            self.parts.append(replace(facts, features=features.pop(), entries=entries))
            self.bytes.append(size + sum(size for _, size in of_parts))

    def __enter__(self) -> DaskEngine:
        one_blas_thread.enter(self)  # samples work here
        try:
            self.spread()
        except BaseException:
            one_blas_thread.leave(self)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        one_blas_thread.leave(self)
        if kind is not None:  # the error holds this engine, and this the rows: let them go
            self.close()

    def close(self) -> None:
        """Let the rows go: workers forget them."""
        self.cluster.let_go([])
        for future in self.futures:
            future.release()
        self.shards, self.spans = [], []

    @property
    def futures(self) -> list[Any]:
        """All that workers hold for this engine."""
        return [*self.shards, *(future for span in self.spans for future in span.futures)]

    def spread(self) -> None:
        """Copy shards to workers that have few: after a death those that are left may have them all."""
        workers = self.cluster.check_workers()
        load: dict[str, list[Any]] = {address: [] for address in workers}
        for future, there in zip(self.futures, self.cluster.holders(self.futures), strict=True):
            if there:
                home = min(there, key=lambda address: len(load.setdefault(address, [])))
                load[home].append(future)
        moves = []
        while True:
            full, idle = max(load, key=lambda a: len(load[a])), min(load, key=lambda a: len(load[a]))
            if len(load[full]) <= len(load[idle]) + 1:
                break
            load[idle].append(load[full].pop())
            moves.append(self.cluster.submit(touch, load[idle][-1], on=[idle]))
        if moves:
            self._answers([Asked(moves, lambda answers: None)])

    def _holders(self) -> Holders:
        futures = self.futures
        return dict(zip([future.key for future in futures], self.cluster.holders(futures), strict=True))

    def _request(self, method: str, *arguments: Any) -> Request:
        return Request(self.cluster.name, self.keys.freed(), method, arguments, self.n_jobs)

    def _answers(self, asked: Sequence[Asked]) -> list[Any]:
        """The answers of all that was asked, in that order; whatever ends the waiting early ends the work as well."""
        futures = [future for one in asked for future in one.futures]
        try:
            answers = iter(self.cluster.gather(futures))
        except BaseException as error:
            if isinstance(error, ClusterError) or not isinstance(error, Exception):
                self.cluster.stop(futures)
            raise
        finally:
            self.cluster.let_go(self.futures)
        return [one.then([next(answers) for _ in one.futures]) for one in asked]

    def _trip(self, method: str, *arguments: Any) -> list[Any]:
        """One trip: an answer a shard, then one a counter."""
        request, holders = self._request(method, *arguments), self._holders()
        asked = [ask_shards(self.cluster, self.shards, request, holders)] if self.shards else []
        asked += [span.ask(self.cluster, request, holders) for span in self.spans]
        answers = self._answers(asked)
        return [*answers.pop(0), *answers] if self.shards else answers

    def _of_parts(self, span: Span, method: str, *arguments: Any) -> list[Any]:
        """An answer of each part of a ranking that spans workers."""
        request = self._request(method, *arguments)
        found: list[Any] = self._answers([ask_shards(self.cluster, span.parts, request, self._holders())])[0]
        return found

    def _of_rows(self, method: str, *arguments: Any) -> list[Any]:
        """An answer of every engine that has rows."""
        found = []
        if self.shards:
            asked = ask_shards(
                self.cluster, self.shards, self._request("of_engine", method, *arguments), self._holders()
            )
            found += self._answers([asked])[0]
        for span in self.spans:
            found += self._of_parts(span, "of_engine", method, *arguments)
        return found

    def columns(self) -> Columns:
        """The columns over the rows of all shards: one trip, remembered."""
        if self._columns is None:
            self._columns = Columns.joined(self._of_rows("columns"))
        return self._columns

    def largest_row(self, scale: FloatArray | None) -> float:
        """The largest of the shards'."""
        return float(max(self._of_rows("largest_row", scale)))

    def fingerprint(self) -> str:
        """A digest of all that shards and counters have."""
        told = self._of_rows("fingerprint") + (self._trip("of_engine", "fingerprint") if self.spans else [])
        return hashlib.blake2b("+".join(told).encode(), digest_size=16).hexdigest()

    def hessian_cost(self, loss: Loss) -> float | None:
        """The mean over shards; None where a ranking spans workers, as its Hessian would need rows of two at once."""
        if self.spans:
            return None
        for known, cost in self._costs:
            if known == loss:
                return cost
        costs = self._of_rows("hessian_cost", loss)
        used = [(cost, facts.rows) for cost, facts in zip(costs, self.parts, strict=True) if facts.pairs]
        found = mean_cost([cost for cost, _ in used], [rows for _, rows in used])
        self._costs.append((loss, found))
        return found

    def scores(self, w: FloatArray) -> Handle:
        """X w: made when it is first used, in the same trip."""
        return Handle(Step(self.keys.new(), self.checked(w)), self.keys)

    def checked(self, w: FloatArray) -> FloatArray:
        """A vector over the features."""
        if np.shape(w) != (self.facts.features,):
            raise DataError(
                f"There are weights of shape {np.shape(w)} for {self.facts.features} features: give one each."
            )
        return np.array(w, dtype=np.float64)

    def at_zero(self, loss: Loss) -> Sums:
        """The loss where all scores are equal."""
        return add_sums(self._trip("of_engine", "at_zero", loss))

    def evaluate(
        self, loss: Loss, s: Handle, d: Handle | None = None, t: float = 0.0, gradient: bool = False
    ) -> DaskEvaluation:
        """The loss at s + t d: one trip, with products X w that were not made before and with the gradient."""
        for handle in (s,) if d is None else (s, d):
            if not isinstance(handle, Handle) or handle.keys is not self.keys:
                raise DataError("These scores are another engine's: take them from `scores`, or from an evaluation.")
        step = Step(self.keys.new(), None, loss, s.step, None if d is None else d.step, float(t))
        handle = Handle(step, self.keys)
        sums, product = self.about(step, lambda recipe: self._ask_evaluate(recipe, gradient))
        return DaskEvaluation(self, handle, sums, product)

    def about(self, step: Step, ask: Callable[[Recipe], Any]) -> Any:
        """Ask by a key; where a worker has lost what it stands for, again by the whole recipe."""
        try:
            found = ask(step.recipe())
        except LackingError:
            found = ask(step.recipe(whole=True))
        step.sent()
        return found

    def _ask_evaluate(self, recipe: Recipe, gradient: bool) -> tuple[Sums, FloatArray | None]:
        request, holders = self._request("evaluate", recipe, gradient), self._holders()
        asked = [ask_shards(self.cluster, self.shards, request, holders)] if self.shards else []
        wanted = list(products(recipe))
        asked += [span.ask(self.cluster, request, holders, wanted, gradient) for span in self.spans]
        answers = self._answers(asked)
        of_shards = found_all(answers.pop(0)) if self.shards else []
        of_spans = found_all(answers)
        sums, gradients = [told for told, _ in of_shards], [g for _, g in of_shards]
        for answer in of_spans:
            (told, unit), product = answer if gradient else (answer, None)
            sums.append(told)
            gradients.append(None if product is None else unit * product)
        return add_sums(sums), sum(gradients[1:], gradients[0]) if gradient else None

    def ask_product(
        self, recipe: Recipe, method: str, wanted: Sequence[Product], scale: FloatArray | None, *arguments: Any
    ) -> FloatArray:
        """A gradient, or a Hessian product with the one product that is wanted beyond the recipe's."""
        holders = self._holders()
        request = self._request("of_evaluation", recipe, method, *arguments)
        asked = [ask_shards(self.cluster, self.shards, request, holders)] if self.shards else []
        counting = self._request(method, recipe)
        needed = [*products(recipe), *wanted]
        asked += [span.ask(self.cluster, counting, holders, needed, True, scale) for span in self.spans]
        answers = self._answers(asked)
        of_shards = found_all(answers.pop(0)) if self.shards else []
        parts = [*of_shards, *(unit * product for unit, product in found_all(answers))]
        return sum(parts[1:], parts[0])

    def ask_matrix(self, recipe: Recipe, method: str, *arguments: Any) -> FloatArray:
        """A symmetric d x d matrix, of which half travels: a Hessian."""
        request = self._request("matrix", recipe, method, *arguments)
        halves = found_all(self._answers([ask_shards(self.cluster, self.shards, request, self._holders())])[0])
        total = np.zeros((self.facts.features, self.facts.features))
        upper = np.triu_indices(len(total))
        total[upper] = sum(halves[1:], halves[0])
        total.T[upper] = total[upper]
        return total

    def ask_outer(self, recipe: Recipe, units: str, *given: FloatArray | None) -> Outer:
        """Sums over units; `given` are scale, shift and along."""
        holders = self._holders()
        request = self._request("of_evaluation", recipe, "outer", units, *given)
        asked = [ask_shards(self.cluster, self.shards, request, holders)] if self.shards else []
        counting = self._request("units", recipe, units)
        asked += [span.outer(self.cluster, counting, holders, recipe, units, *given) for span in self.spans]
        answers = self._answers(asked)
        of_shards = found_all(answers.pop(0)) if self.shards else []
        return Outer.of_parts([*of_shards, *found_all(answers)])

    def draw(self, n_rows: int, first: int = 0, of: int | None = None) -> RankingData | None:
        """The rows that the shards draw, one after the other: those that one engine would draw from all of them.

        Shards are asked in their order, as many at once as 64 MB may come from, until these are there.
        """
        total = self.facts.rows if of is None else of
        before = (first + np.r_[0, np.cumsum([facts.rows for facts in self.parts])]).tolist()
        expected = [size * min(1.0, n_rows / total) for size in self.bytes]
        drawn: list[RankingData | None] = []
        come = 0.0
        while len(drawn) < len(self.parts) and come <= MAX_BYTES:
            start = stop = len(drawn)
            while stop < len(self.parts) and (stop == start or come + sum(expected[start:stop]) < 1.25 * MAX_BYTES):
                stop += 1
            drawn += self._draw(n_rows, total, before, start, stop)
            come += sum(size_of(part) for part in drawn[start:] if part is not None)
        return join_drawn(drawn, whole=of is None)

    def _draw(self, n_rows: int, total: int, before: list[int], start: int, stop: int) -> list[RankingData | None]:
        """What some shards and rankings draw; `before` are the rows before each."""
        shards, spans = self.shards[start:stop], self.spans[max(0, start - len(self.shards)) : stop - len(self.shards)]
        drawn: list[RankingData | None] = []
        if shards:
            request = self._request("draw", n_rows, before[start:], total)
            drawn = self._answers([ask_shards(self.cluster, shards, request, self._holders())])[0]
        for number, span in enumerate(spans if stop > len(self.shards) else (), max(start, len(self.shards))):
            request = self._request("draw", n_rows, [before[number]], total)
            found = self._answers([span.ask(self.cluster, request, self._holders())])[0]
            most = int(1.25 * MAX_BYTES * self.parts[number].rows / max(1, self.bytes[number])) + 1
            drawn.append(span.draw(self.cluster, found, most))
        return drawn

    def sample(self, n_rows: int) -> LocalEngine | None:
        """A local engine for the rows drawn."""
        data = self.draw(n_rows)
        return None if data is None or data.preferences.n_rankings == 0 else LocalEngine(data)
