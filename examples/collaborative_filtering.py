"""Collaborative filtering as in section 7 of RankNCG: a user's films are ranked by what d other users say of them.

Of each user's films 70 % are trained on and 30 % are judged by. The features of a film are the ratings of d other
users; where one has not rated it, a number is drawn from a Gaussian with the mean and the deviation of the other users'
ratings of that film, by a seed. The regulariser is one number for all users.

    python examples/collaborative_filtering.py                    made data, few users
    python examples/collaborative_filtering.py 100                made data, 100 users, d = 50 ... 1600
    python examples/collaborative_filtering.py 100 ratings.dat    MovieLens' own file: user::film::rating::time a line

The made data: 1,000 films with a quality and ten factors, users with ten factors, all drawn from N(0, 1); a user rates
about 150 films, film f with probability proportional to exp(g_f), g ~ N(0, 1); the rating is 3 + 0.6 quality + the
product of factors / 6 + N(0, 0.5), rounded to 1 ... 5.
"""

import sys
import time
from collections.abc import Iterator

import numpy as np

from linrank import metrics
from linrank.published import RankNCG

Ratings = np.ndarray  # users x films, NaN where there is none


def made_ratings(n_users: int, n_films: int, seed: int = 0) -> Ratings:
    """By the recipe above."""
    rng = np.random.default_rng(seed)
    users, films = rng.standard_normal((n_users, 10)), rng.standard_normal((n_films, 10))
    quality = rng.standard_normal(n_films)
    liked = 3 + 0.6 * quality + users @ films.T / 6 + 0.5 * rng.standard_normal((n_users, n_films))
    known = np.exp(rng.standard_normal(n_films))
    rated = rng.uniform(size=liked.shape) < np.minimum(150 * known / known.sum(), 1)
    return np.where(rated, np.clip(np.round(liked), 1, 5), np.nan)


def read_ratings(path: str) -> Ratings:
    """MovieLens' ratings.dat (::) or u.data (tabs)."""
    with open(path, encoding="latin-1") as lines:
        table = np.array([line.replace("::", "\t").split("\t")[:3] for line in lines], dtype=float)
    user, film = (np.unique(table[:, k], return_inverse=True)[1] for k in (0, 1))
    ratings = np.full((user.max() + 1, film.max() + 1), np.nan)
    ratings[user, film] = table[:, 2]
    return ratings


def features(ratings: Ratings, films: np.ndarray, others: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Films x other users, gaps filled by draws."""
    theirs = ratings[np.ix_(others, films)].T
    there = ~np.isnan(theirs)
    count = np.maximum(there.sum(axis=1, keepdims=True), 1)
    mean = np.where(there, theirs, 0).sum(axis=1, keepdims=True) / count
    deviation = np.sqrt(np.where(there, (theirs - mean) ** 2, 0).sum(axis=1, keepdims=True) / count)
    nobody = ~there.any(axis=1, keepdims=True)
    mean, deviation = np.where(nobody, 3.0, mean), np.where(nobody, 1.0, deviation)
    return np.where(there, theirs, mean + deviation * rng.standard_normal(theirs.shape))


def judged(ratings: Ratings, n_users: int, d: int, lambda_: float = 1e3) -> Iterator[tuple[float, float]]:
    """Seconds and WMW of each user."""
    rng = np.random.default_rng(d)
    for user in range(n_users):
        films = rng.permutation(np.flatnonzero(~np.isnan(ratings[user])))
        others = rng.choice(np.delete(np.arange(len(ratings)), user), d, replace=False)
        X, y, cut = features(ratings, films, others, rng), ratings[user, films], len(films) * 7 // 10
        if np.unique(y[:cut]).size < 2 or np.unique(y[cut:]).size < 2:
            continue
        begin = time.perf_counter()
        ranker = RankNCG(lambda_, random_state=user).fit(X[:cut], y[:cut])
        yield time.perf_counter() - begin, metrics.wmw(y[cut:], ranker.predict(X[cut:]))


def main(n_users: int = 5, path: str | None = None) -> float:
    sizes = [50, 100] if n_users < 20 else [50, 100, 200, 400, 800, 1600]
    ratings = made_ratings(max(sizes) + n_users + 1, 1000) if path is None else read_ratings(path)
    for d in sizes:
        seconds, wmw = np.array(list(judged(ratings, n_users, d))).T
        print(f"d {d:5}   {seconds.mean():.3f} s   WMW {wmw.mean():.3f} ± {wmw.std():.3f}")
    return float(wmw.mean())


if __name__ == "__main__":
    main(*(kind(text) for kind, text in zip((int, str), sys.argv[1:], strict=False)))
