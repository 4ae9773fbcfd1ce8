"""Counts of words, weighed."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def weighed(counts: sp.csr_matrix, kind: str) -> sp.csr_matrix:
    """tf-idf of counts, the counts, or 1 for each that there is."""
    if kind == "tf-idf":
        from sklearn.feature_extraction.text import TfidfTransformer

        return sp.csr_matrix(TfidfTransformer(sublinear_tf=True).fit_transform(counts))
    if kind == "binary":
        return sp.csr_matrix((np.ones_like(counts.data), counts.indices, counts.indptr), shape=counts.shape)
    return counts
