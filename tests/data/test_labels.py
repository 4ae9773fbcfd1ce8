"""Labels that carry their queries: put together, taken apart, refused where they contradict."""

import numpy as np
import pytest

from linrank import DataError, labels
from linrank.data.labels import split_labels


@pytest.mark.parametrize("qid", [[3, 3, -1, 3], ["b", "b", "a", "b"], np.array([2**70, 2**70, 1, 2**70], dtype=object)])
def test_labels_come_apart_as_they_were_put_together(qid):
    both = labels([2.0, 0.0, 1.0, 0.5], qid)
    y, again = split_labels(both, None)
    assert y.tolist() == [2.0, 0.0, 1.0, 0.5]
    assert again.tolist() == list(qid)
    assert both["rows"].tolist() == [3, 3, 1, 3]
    assert split_labels(both, qid)[0] is not None  # the same queries may be given twice
    assert split_labels(both[2:], None)[1].tolist() == list(qid)[2:]


def test_what_is_no_labels_stays_as_it_is():
    y, qid = [1.0, 2.0], [0, 0]
    assert split_labels(y, qid) == (y, qid)
    assert split_labels(y, qid)[0] is y


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: split_labels(labels([1, 2], [0, 0]), [0, 1]), "contradicts"),
        (lambda: labels(labels([1, 2], [0, 0]), [0, 0]), "holds labels already"),
        (lambda: labels([1, 2], [0]), "one utility and one query id per row"),
        (lambda: split_labels(np.zeros(2, dtype=[("a", float)]), None), "make it with linrank.labels"),
    ],
)
def test_labels_that_are_refused(make, message):
    with pytest.raises(DataError, match=message):
        make()


def test_labels_of_nothing():
    assert labels([], []).size == 0
