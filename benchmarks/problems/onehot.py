"""Users as queries, items and their tags as 0/1 columns: what a recommender has. Made from a seed."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from problems import About, Problem

ABOUT = About("synthetic, seed 1", rows=6000, features=440, queries=300, levels=5, pairs=43_296)


def make(seed: int = 1, users: int = 300, items: int = 400, per_user: int = 20, noise: float = 1.0) -> Problem:
    """Each user grades some items by their popularity, their tags and a taste of the moment."""
    rng = np.random.default_rng(seed)
    user = np.repeat(np.arange(users), per_user)
    item = np.concatenate([rng.choice(items, per_user, replace=False) for _ in range(users)])
    popularity = rng.normal(size=items)
    tags = rng.random((items, 40)) < 0.1
    utility = popularity[item] + (tags @ (0.7 * rng.normal(size=40)))[item] + noise * rng.normal(size=user.size)
    grade = np.digitize(utility, np.quantile(utility, [0.2, 0.5, 0.8, 0.93])).astype(float)
    one = sp.csr_matrix((np.ones(user.size), (np.arange(user.size), item)), shape=(user.size, items))
    return Problem(sp.csr_matrix(sp.hstack([one, sp.csr_matrix(tags[item].astype(float))])), grade, user)


def small(*given: object) -> Problem:
    """Fewer users."""
    return make(1, 30, 40, 8)
