"""The table of formats."""

import importlib
from collections import Counter

import numpy as np
import pytest

from linrank.io import Dataset, format_of, formats, read
from linrank.io.formats import FORMATS, Format

pytestmark = pytest.mark.smoke


def test_every_ending_has_one_format():
    endings = Counter(ending for format in FORMATS.values() for ending in format.endings)
    assert set(endings.values()) == {1}
    for name, format in FORMATS.items():
        for ending in format.endings:
            assert format_of(f"a.b{ending.upper()}") == format_of(f"a{ending}.zst") == name
    assert format_of("csv") == format_of("x.unknown") == "svmlight"


@pytest.mark.parametrize("format", FORMATS.values(), ids=FORMATS)
def test_what_is_written_is_read_back(format, tmp_path):
    if format.write is None:
        assert format.name == "arrow"  # which pyarrow and dataframes write
        return
    X, y, qid = np.array([[1.5, 2.0], [0.1, -3.0], [4.0, 1e-300]]), np.array([1.0, 0.0, 2.0]), np.array([3, 3, 8])
    path = tmp_path / f"data{format.endings[0] if format.endings else ''}"
    format.write(path, Dataset(X, y, qid))
    found = read(path)
    for given, back in ((X, found.X), (y, found.y), (qid, found.qid)):
        np.testing.assert_array_equal(given, back)
    assert (found.feature_names is not None) == format.table


def test_a_format_is_a_module_and_a_line(monkeypatch, tmp_path):
    def answer(source, options):
        return Dataset(np.full((2, 1), options.n_features), np.array([0.0, 1.0]))

    own = importlib.import_module("linrank.io._tsv")
    monkeypatch.setattr(own, "read", answer)
    monkeypatch.setitem(formats.FORMATS, "own", Format("own", "_tsv", (".own",)))
    assert format_of("x.own") == "own"
    assert read("x.own", n_features=7).X.tolist() == read("x", format="own", n_features=7).X.tolist() == [[7], [7]]
