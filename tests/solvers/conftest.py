"""Problems on which every solver is tried, as engines that count products with X."""

import pytest

from linrank import RankingData
from linrank.testing import make_ranking
from products import ProductsEngine

#: Rows, features, queries and levels (None: real utilities).
PROBLEMS = {
    "one query, real": (400, 6, 1, None),
    "one long query": (1500, 4, 1, None),
    "queries, levels": (400, 6, 20, 4),
    "two levels": (300, 3, 1, 2),
    "more features than rows": (30, 60, 2, None),
}


@pytest.fixture(params=PROBLEMS)
def engine(request):
    X, y, qid = make_ranking(*PROBLEMS[request.param])
    with ProductsEngine(RankingData(X, y, qid)) as engine:
        yield engine
