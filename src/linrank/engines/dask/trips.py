"""Trips: what is asked of all shards at once, and of rankings that span workers."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import FloatArray
from ...data.parts import within_limit
from ...data.ranking_data import RankingData
from ..outer import Ask, Outer, known_clusters
from .cluster import Cluster
from .recipes import Product, Recipe, products
from .shard import Missing, Request, serve
from .span import count, part_back, part_outer, part_scores, rows_of, take_rows, told, units_of

#: The workers that hold each of some futures, by key.
Holders = dict[str, tuple[str, ...]]


class LackingError(Exception):
    """Some worker has lost what was asked for by its key."""


def found_all(answers: list[Any]) -> list[Any]:
    """The answers, if all of them are there."""
    if any(isinstance(answer, Missing) for answer in answers):
        raise LackingError
    return answers


@dataclass
class Asked:
    """Tasks under way, and what becomes of their answers."""

    futures: list[Any]
    then: Callable[[list[Any]], Any]


def by_holder(futures: Sequence[Any], holders: Holders) -> list[tuple[list[str], list[int]]]:
    """Numbers of futures by the worker that holds them; one that nobody holds, as it is made again, stands alone."""
    groups: dict[str, list[int]] = {}
    alone: list[tuple[list[str], list[int]]] = []
    for number, future in enumerate(futures):
        there = holders.get(future.key, ())
        if there:
            home = min(there, key=lambda address: (len(groups.get(address, ())), address))
            groups.setdefault(home, []).append(number)
        else:
            alone.append(([], [number]))
    return [([home], own) for home, own in groups.items()] + alone


def in_order(groups: Sequence[list[int]], answers: Sequence[list[Any]]) -> list[Any]:
    """Answers of groups of numbers, by number."""
    found = {n: one for own, told_ in zip(groups, answers, strict=True) for n, one in zip(own, told_, strict=True)}
    return [found[n] for n in range(len(found))]


def ask_shards(cluster: Cluster, shards: Sequence[Any], request: Request, holders: Holders) -> Asked:
    """One task a worker with the list of its shards; the answers come in the shards' order."""
    message, groups = request.packed(), by_holder(shards, holders)
    futures = [cluster.submit(serve, [shards[n] for n in own], own, message, on=home) for home, own in groups]
    return Asked(futures, lambda answers: in_order([own for _, own in groups], answers))


def on_holders(cluster: Cluster, function: Callable[[list[Any]], list[Any]], futures: Sequence[Any]) -> list[Any]:
    """A function of what workers hold, one task a worker: its answers, in the futures' order."""
    holders = dict(zip([future.key for future in futures], cluster.holders(futures), strict=True))
    groups = by_holder(futures, holders)
    asked = [cluster.submit(function, [futures[n] for n in own], on=home) for home, own in groups]
    return in_order([own for _, own in groups], cluster.gather(asked))


@dataclass
class Span:
    """Rows on several workers, in their order, and where they are counted."""

    parts: list[Any]
    counter: Any
    ends: list[int]  # of the parts' rows, counted through

    @property
    def futures(self) -> list[Any]:
        """All that it holds."""
        return [*self.parts, self.counter]

    @property
    def bounds(self) -> list[tuple[int, int]]:
        """First row of each part, and the one after its last."""
        return list(zip([0, *self.ends[:-1]], self.ends, strict=True))

    def ask(
        self,
        cluster: Cluster,
        request: Request,
        holders: Holders,
        wanted: Sequence[Product] = (),
        back: bool = False,
        scale: FloatArray | None = None,
    ) -> Asked:
        """Products X w to the counter, its numbers to the client, and, with `back`, X^T of its rows from the parts."""
        counted = self._count(cluster, request, holders, wanted)
        at_counter = holders.get(self.counter.key, ())
        futures = [cluster.submit(told, counted, on=at_counter)]
        if back:
            for part, (first, last) in zip(self.parts, self.bounds, strict=True):
                g = cluster.submit(rows_of, counted, first, last, on=at_counter)
                futures.append(cluster.submit(part_back, part, cluster.name, g, scale, on=holders.get(part.key, ())))

        def then(answers: list[Any]) -> Any:
            answer, *parts = answers
            if isinstance(answer, Missing) or not back:
                return answer
            return answer, sum(parts[1:], parts[0])

        return Asked(futures, then)

    def _count(self, cluster: Cluster, request: Request, holders: Holders, wanted: Sequence[Product]) -> Any:
        message, name = pickle.dumps(list(wanted)), cluster.name
        scores = []
        if wanted:
            scores = [
                cluster.submit(part_scores, part, name, message, on=holders.get(part.key, ())) for part in self.parts
            ]
        at_counter = holders.get(self.counter.key, ())
        return cluster.submit(count, self.counter, name, request.packed(), scores, on=at_counter)

    def outer(
        self,
        cluster: Cluster,
        request: Request,
        holders: Holders,
        recipe: Recipe,
        units: str,
        scale: FloatArray | None,
        shift: FloatArray | None,
        along: FloatArray | None,
    ) -> Asked:
        """Sums over units that share no pair: the parts' X^T g of each, (units, d), come here; mostly there is one."""
        counted = self._count(cluster, request, holders, list(products(recipe)))
        at_counter = holders.get(self.counter.key, ())
        futures = [cluster.submit(told, counted, on=at_counter)]
        for part, (first, last) in zip(self.parts, self.bounds, strict=True):
            g = cluster.submit(rows_of, counted, first, last, on=at_counter)
            unit = cluster.submit(units_of, self.counter, units, first, last, on=at_counter)
            where = holders.get(part.key, ())
            futures.append(cluster.submit(part_outer, part, cluster.name, g, unit, on=where))

        def then(answers: list[Any]) -> Any:
            answer, *parts = answers
            if isinstance(answer, Missing):
                return answer
            factor, c = answer
            A = np.zeros((c.size, parts[0].shape[1]))
            for part in parts:
                A[: len(part)] += factor * part
            ones, zeros = np.ones(A.shape[1]), np.zeros(A.shape[1])
            ask = Ask(units, ones if scale is None else scale, zeros if shift is None else shift, along)
            psi = ask.projected(A / ask.scale + np.multiply.outer(c, ask.shift))
            largest = float(np.einsum("ij,ij->i", psi, psi).max(initial=0.0))
            return Outer(int(np.count_nonzero(c > 0)), psi.T @ psi, largest, known_clusters(ask, c))

        return Asked(futures, then)

    def draw(self, cluster: Cluster, drawn: RankingData | None, most: int) -> RankingData | None:
        """What the counter drew, whose features are numbers of rows, with the features of the first `most` of them."""
        if drawn is None or drawn.n_rows == 0:
            return drawn
        drawn = drawn if drawn.n_rows <= most else drawn.part(np.arange(most))
        rows = drawn.X[:, 0].astype(np.int64)
        holders = dict(zip([part.key for part in self.parts], cluster.holders(self.parts), strict=True))
        futures, places = [], []
        for part, (first, last) in zip(self.parts, self.bounds, strict=True):
            here = np.flatnonzero((rows >= first) & (rows < last))
            if here.size:
                futures.append(cluster.submit(take_rows, part, rows[here] - first, on=holders[part.key]))
                places.append(here)
        data = drawn.with_features(cluster.gather(futures), np.concatenate(places))
        kept = within_limit(data.X, data.query, np.arange(data.n_rows), one_more=True)
        return data if kept.size == data.n_rows else data.part(kept)
