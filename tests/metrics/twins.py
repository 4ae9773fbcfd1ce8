"""Metrics of one ranked list by their definitions; ties averaged by walking through every order of the rows."""

from itertools import pairwise, permutations

import numpy as np


def orders(scores, ties):
    """All orders of the rows that the scores allow; with ties "input" the one that keeps equal scores in order."""
    best_first = sorted(range(len(scores)), key=lambda i: -scores[i])
    if ties == "input":
        return [best_first]
    return [p for p in permutations(best_first) if all(scores[a] >= scores[b] for a, b in pairwise(p))]


def gain(grade):
    return 2.0 ** max(grade, 0) - 1


def dcg(grades, k):
    return sum(gain(g) / np.log2(n + 1) for n, g in enumerate(grades[:k], 1))


def ndcg(grades, k):
    best = dcg(sorted(grades, reverse=True), k)
    return dcg(grades, k) / best if best > 0 else np.nan


def mean_ndcg(grades, k):
    return np.mean([ndcg(grades, n) for n in range(1, min(k, len(grades)) + 1)])


def average_precision(grades, k):
    relevant = [g >= 1 for g in grades]
    found = [sum(relevant[:n]) / n for n in range(1, min(k, len(grades)) + 1) if relevant[n - 1]]
    return sum(found) / sum(relevant) if any(relevant) else np.nan


def reciprocal_rank(grades, k):
    places = [n for n, g in enumerate(grades, 1) if g >= 1]
    return np.nan if not places else 1 / places[0] if places[0] <= k else 0.0


def precision(grades, k):
    return sum(g >= 1 for g in grades[:k]) / k if max(grades) >= 1 else np.nan


def recall(grades, k):
    return sum(g >= 1 for g in grades[:k]) / sum(g >= 1 for g in grades) if max(grades) >= 1 else np.nan


def hit(grades, k):
    return float(any(g >= 1 for g in grades[:k])) if max(grades) >= 1 else np.nan


def err(grades, k, max_grade):
    going, total = 1.0, 0.0
    for n, g in enumerate(grades[:k], 1):
        stop = gain(g) / 2.0**max_grade
        total += going * stop / n
        going *= 1 - stop
    return total if max(grades) > 0 else np.nan


TWINS = {
    "ndcg": ndcg, "dcg": lambda grades, k: dcg(grades, k) if max(grades) > 0 else np.nan, "mean_ndcg": mean_ndcg,
    "map": average_precision, "mrr": reciprocal_rank, "precision": precision, "recall": recall, "hit": hit,
}  # fmt: skip


def per_query(metric, y, scores, qid, k, ties):
    """One value per query, in the order of np.unique(qid): the mean over the orders that the scores allow."""
    values = []
    for q in np.unique(qid):
        here = np.flatnonzero(qid == q)
        lists = [[y[here][i] for i in order] for order in orders(scores[here], ties)]
        values.append(np.mean([metric(grades, k) for grades in lists]))
    return np.array(values)
