"""The table of targets, by the names that `linrank export --to` takes."""

from __future__ import annotations

from . import elasticsearch, liblinear, onnx, python, ranklib, solr, sql, svmrank, vespa
from ._target import Target

TARGETS: dict[str, Target] = {
    "solr": solr.TARGET,
    "elasticsearch": elasticsearch.TARGET,
    "opensearch": elasticsearch.TARGET,
    "ranklib": ranklib.TARGET,
    "vespa": vespa.TARGET,
    "onnx": onnx.TARGET,
    "sql": sql.TARGET,
    "svmrank": svmrank.TARGET,
    "liblinear": liblinear.TARGET,
    "python": python.TARGET,
}
