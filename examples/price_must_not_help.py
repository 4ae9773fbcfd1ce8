"""Price must not help: signs of weights that the log would get wrong, and a model of few features.

In the log of a shop, dear offers stand on top because the shop put them there, and are bought more often. A ranker that
may do as it likes learns that a higher price is better. One that is told otherwise loses little.
"""

import logging

import numpy as np
import pandas as pd

from linrank import LinearRanker, LinearRankerCV


def offers(seed: int, searches: int = 120) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Ten offers a search: their match, price and sales, twenty columns of no use, and whether they were bought."""
    rng = np.random.default_rng(seed)
    n = 10 * searches
    X = pd.DataFrame({"match": rng.random(n), "price": rng.gamma(2.0, 20.0, n), "sales": rng.poisson(5.0, n)})
    for j in range(20):
        X[f"other {j}"] = rng.standard_normal(n)
    worth = 2.5 * X["match"] + 0.004 * X["price"] + 0.15 * X["sales"] + rng.normal(0.0, 0.6, n)
    qid = np.repeat(np.arange(searches), 10)
    bought = np.asarray(worth - worth.groupby(qid).transform("mean") > 0.6, dtype=int)
    return X, bought, qid


def main() -> float:
    logging.getLogger("linrank").setLevel(logging.ERROR)
    train, test = offers(0), offers(1)
    free = LinearRanker().fit(*train)
    monotone = LinearRanker(monotonic_cst={"price": -1, "sales": 1}).fit(*train)
    small = LinearRankerCV(l1_ratio=0.9, monotonic_cst={"price": -1, "sales": 1}, one_standard_error=True).fit(*train)
    for name, ranker in (("free", free), ("monotone", monotone), ("small", small)):
        used, price = np.count_nonzero(ranker.coef_), ranker.coef_[1]
        print(f"{name:9} held-out accuracy {ranker.score(*test):.3f}   weight of price {price:+.4f}   {used} features")
    assert free.coef_[1] > 0 == monotone.coef_[1] == small.coef_[1]
    print(monotone.to_sql(table="offers").splitlines()[1])
    return small.score(*test)


if __name__ == "__main__":
    main()
