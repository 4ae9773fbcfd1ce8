"""`ranker.to_solr()` and so on: thin over `linrank.export`, which is imported when one of them is called."""

from __future__ import annotations

from typing import Any


class Exports:
    """Exports of a fitted linear ranker to other systems; see the documentation's page on exports for their limits.

    `offset` is added to every score: it changes no ranking, but Lucene refuses negative scores.
    """

    def to_solr(self, *, model: str = "linrank", store: str = "_DEFAULT_", offset: float = 0.0) -> str:
        """JSON of a LinearModel for Solr's ``schema/model-store``."""
        return _export(self, "solr", offset, model=model, store=store).decode()

    def to_solr_features(self, *, store: str = "_DEFAULT_", offset: float = 0.0) -> str:
        """JSON for Solr's ``schema/feature-store``: a field for each feature, means of missing values as defaultValue.

        What a feature is computed from is not known here: adapt class and field, and keep defaultValue.
        """
        from ..export import LinearFunction, Options, solr

        return solr.write_features(LinearFunction.of(self, offset), Options(store=store)).decode()

    def to_elasticsearch(self, *, model: str = "linrank", offset: float = 0.0) -> str:
        """JSON of a ``model/linear`` for the Elasticsearch LTR plugin's ``_createmodel``."""
        return _export(self, "elasticsearch", offset, model=model).decode()

    def to_opensearch(self, *, model: str = "linrank", offset: float = 0.0) -> str:
        """The same for OpenSearch LTR."""
        return self.to_elasticsearch(model=model, offset=offset)

    def to_ranklib(self, *, offset: float = 0.0) -> str:
        """Text of a linear regression model of RankLib."""
        return _export(self, "ranklib", offset).decode()

    def to_vespa(self, *, model: str = "linrank", offset: float = 0.0) -> str:
        """A rank profile for a Vespa schema, named `model`."""
        return _export(self, "vespa", offset, model=model).decode()

    def to_onnx(self, *, dtype: str = "float32", offset: float = 0.0) -> bytes:
        """A serialised ONNX model in float32 or float64; needs the extra ``linrank[onnx]``."""
        return _export(self, "onnx", offset, dtype=dtype)

    def to_sql(self, *, table: str = "documents", column: str = "score", offset: float = 0.0) -> str:
        """A SELECT of a table's columns and the score, as a further column."""
        return _export(self, "sql", offset, table=table, column=column).decode()

    def to_svmrank(self, *, offset: float = 0.0) -> str:
        """Text of a model of SVMrank."""
        return _export(self, "svmrank", offset).decode()

    def to_liblinear(self, *, offset: float = 0.0) -> str:
        """Text of a regression model of LIBLINEAR."""
        return _export(self, "liblinear", offset).decode()

    def to_python(self, *, offset: float = 0.0) -> str:
        """A Python file with a function `score(features)` that needs nothing else."""
        return _export(self, "python", offset).decode()


def _export(ranker: Any, target: str, offset: float, **options: Any) -> bytes:
    from ..export import TARGETS, LinearFunction, Options

    return TARGETS[target].write(LinearFunction.of(ranker, offset), Options(**options))
