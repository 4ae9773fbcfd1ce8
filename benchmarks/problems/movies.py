"""Users as queries, films and their genres as 0/1 columns, five stars: as MovieLens. Made from a seed."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from problems import About, Problem

ABOUT = About("synthetic, seed 0", rows=300_000, features=3518, queries=2000, levels=5, pairs=16_784_881)


def make(seed: int = 0, ratings: int = 300_000, users: int = 2000, films: int = 3500) -> Problem:
    """Popular films are rated by many users, so that most rows occur many times."""
    rng = np.random.default_rng(seed)
    chance = np.arange(1, films + 1) ** -0.8
    user, film = np.sort(rng.integers(0, users, ratings)), rng.choice(films, size=ratings, p=chance / chance.sum())
    genres = [np.unique(rng.integers(0, 18, size=rng.integers(1, 4))) for _ in range(films)]
    columns = [np.r_[k, films + genre] for k, genre in enumerate(genres)]
    indptr = np.r_[0, np.cumsum([len(one) for one in columns])]
    features = sp.csr_matrix((np.ones(indptr[-1]), np.concatenate(columns), indptr), shape=(films, films + 18))
    utility = rng.normal(size=films)[film] + rng.normal(size=ratings)
    stars = np.digitize(utility, np.quantile(utility, [0.06, 0.17, 0.43, 0.78])).astype(float)
    return Problem(sp.csr_matrix(features[film]), stars, user)


def small(seed: int = 0, *_: object) -> Problem:
    """Fewer of all."""
    return make(seed, 600, 20, 50)
