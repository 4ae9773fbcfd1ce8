"""Tables of text out."""

from __future__ import annotations

import csv
import io
from typing import Any

import scipy.sparse as sp

from .._errors import ParameterError
from .._files import PathLike, replacing
from ..data.dataset import Dataset, utf8
from .write import ROWS, _packed, _short, _texts


def write_csv(path: PathLike, data: Dataset, *, separator: str = ",") -> None:
    """Write ranking data as a table of text: columns label, qid, id and weight where known, then the features by name.

    Features without names are ``f1``, ``f2``, ...; a missing value is an empty cell; numbers are written with the
    shortest digits that read back as the same number. Packed if the name ends in ``.gz`` or ``.zst``.
    """
    names = data.feature_names or [f"f{j + 1}" for j in range(data.n_features)]
    known: dict[str, Any] = {"label": data.y, "qid": data.qid, "id": data.comments, "weight": data.sample_weight}
    known = {name: values for name, values in known.items() if values is not None}
    if len({*names, *known}) < len(names) + len(known):
        raise ParameterError(f"The features need different names, none of them {', '.join(known)}.")
    with replacing(path) as file, _packed(file, path) as out:
        text = io.StringIO()
        writer = csv.writer(text, delimiter=separator, lineterminator="\n")
        writer.writerow([*known, *names])
        for start in range(0, data.n_rows, ROWS):
            part = data.rows(start, start + ROWS)
            columns = [_cells(part, name) for name in known]
            X = part.X.toarray() if sp.issparse(part.X) else part.X
            for k, row in enumerate(X):
                cells = ["" if cell == "nan" else cell for cell in _texts(row)]
                writer.writerow([*(column[k] for column in columns), *cells])
            out.write(utf8(text.getvalue(), "name, query id or comment"))
            text.seek(0)
            text.truncate()


def _cells(part: Dataset, name: str) -> list[str]:
    if name == "qid":
        assert part.qid is not None
        return [str(value) for value in part.qid.tolist()]
    if name == "id":
        assert part.comments is not None
        return [text.strip() for text in part.comments]
    numbers = part.y if name == "label" else part.sample_weight
    assert numbers is not None
    return _short(numbers)
