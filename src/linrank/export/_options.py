"""What may be said about an export beside the function itself."""

from __future__ import annotations

from dataclasses import dataclass

from .._errors import ParameterError

#: The feature that holds the offset where a target has no place for it.
OFFSET = "linrank_offset"
DTYPES = ("float32", "float64")


@dataclass(frozen=True)
class Options:
    """Options of exports; each target takes what it needs.

    Attributes
    ----------
    model : str
        Name of the model (Solr, Elasticsearch, ONNX) or of the rank profile (Vespa).
    store : str
        Solr's feature store.
    defaults : bool
        Whether Solr's feature store is as `solr.write_features` writes it, with default values and the offset's
        feature: then no warning asks for them.
    table, column : str
        The table that SQL selects from, and the name it gives to the scores.
    dtype : {"float32", "float64"}
        Type of numbers in ONNX: one LinearRegressor node, or a matrix product in double precision.
    """

    model: str = "linrank"
    store: str = "_DEFAULT_"
    table: str = "documents"
    column: str = "score"
    dtype: str = "float32"
    defaults: bool = False

    def __post_init__(self) -> None:
        from ..data.checks import check_choice  # not at the top: `linrank export --help` needs the targets' names alone

        for name in ("model", "store", "table", "column"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value or "\0" in value:
                raise ParameterError(f"{name}={value!r} must be a name: some text.")
        check_choice("dtype", self.dtype, DTYPES)
