"""Kernels and soft targets, which the papers leave to others: each against a direct solution on listed pairs."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline

from linrank import LinearRanker, ModelFileError, ParameterError, save
from linrank.export import LinearFunction
from linrank.testing import enumerate_pairs


def circles(n, seed=0):
    """Utility by the distance from the centre: no linear function of x orders it."""
    X = np.random.default_rng(seed).uniform(-1, 1, (n, 2))
    return X, -np.round(4 * np.hypot(*X.T))


def squared_hinge_minimum(features, y, penalty, alpha):
    """The b that minimises alpha/2 b.P b + mean max(0, 1 - z)^2, z the differences of features.b over listed pairs."""
    pairs = enumerate_pairs(y)
    D = features[pairs.winner] - features[pairs.loser]

    def f(b):
        z = np.maximum(0.0, 1.0 - D @ b)
        return 0.5 * alpha * b @ penalty @ b + np.mean(z * z), alpha * penalty @ b - 2.0 * D.T @ z / len(z)

    return minimize(f, np.zeros(features.shape[1]), jac=True, method="L-BFGS-B", options=dict(ftol=1e-15, gtol=1e-9))


def test_nystroem_and_a_ranker_are_the_reduced_set_rank_svm_with_the_penalty_of_its_space():
    """f = sum over the basis of b_j k(., x_j), alpha/2 |f|^2 with |f|^2 = b.K b in the kernel's space."""
    X, y = circles(60)
    alpha, basis = 0.02, 12
    model = make_pipeline(
        Nystroem(gamma=1.0, n_components=basis, random_state=0), LinearRanker(alpha=alpha, scale=False, tol=1e-10)
    ).fit(X, y)
    chosen = X[model[0].component_indices_]
    K, K_basis = rbf_kernel(X, chosen, gamma=1.0), rbf_kernel(chosen, gamma=1.0)
    direct = squared_hinge_minimum(K, y, K_basis, alpha)
    assert model[1].objective_ == pytest.approx(direct.fun, abs=1e-6)
    scores = model.predict(X)
    np.testing.assert_allclose(scores - scores[0], K @ direct.x - (K @ direct.x)[0], atol=5e-3)


def test_a_kernel_matrix_as_features_is_equation_43():
    """RankNCG's: f = K a with the penalty lambda/2 |a|^2 on the coefficients."""
    X, y = circles(40)
    K, pairs = rbf_kernel(X, gamma=1.0), enumerate_pairs(y)
    D, lambda_ = K[pairs.winner] - K[pairs.loser], 0.5

    def minus_likelihood(a):
        z = D @ a
        return 0.5 * lambda_ * a @ a + np.logaddexp(0.0, -z).sum(), lambda_ * a - D.T @ expit(-z)

    direct = minimize(minus_likelihood, np.zeros(40), jac=True, method="L-BFGS-B", options=dict(ftol=1e-15, gtol=1e-9))
    ranker = LinearRanker("logistic", lambda_ / len(D), scale=False, tol=1e-10).fit(K, y)
    assert len(D) * ranker.objective_ == pytest.approx(direct.fun, rel=1e-7)
    np.testing.assert_allclose(ranker.coef_, direct.x, atol=1e-3)


def test_kernels_order_what_a_linear_function_cannot():
    (X, y), (X_test, y_test) = circles(400), circles(400, seed=1)
    model = make_pipeline(Nystroem(gamma=1.0, n_components=40, random_state=0), LinearRanker(alpha=1e-4, scale=False))
    assert model.fit(X, y).score(X_test, y_test) > 0.95
    assert LinearRanker().fit(X, y).score(X_test, y_test) < 0.6


def test_pipelines_are_neither_exported_nor_saved():
    X, y = circles(60)
    model = make_pipeline(Nystroem(n_components=5, random_state=0), LinearRanker()).fit(X, y)
    with pytest.raises(ParameterError, match="Pipeline is not exported, only linear"):
        LinearFunction.of(model)
    with pytest.raises(ModelFileError, match="Pipeline cannot be saved"):
        save(model, "model.json")


def test_pairs_both_ways_are_soft_targets():
    """RankNet's cross-entropy: each pair has a target posterior p; p one way, 1 - p the other way."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3))
    a, b = rng.integers(0, 30, (2, 80))
    a, b = a[a != b], b[a != b]
    p, alpha = rng.uniform(0, 1, a.size), 0.05
    D = X[a] - X[b]

    def cross_entropy(w):
        s = D @ w
        value = np.mean(p * np.logaddexp(0, -s) + (1 - p) * np.logaddexp(0, s))
        return 0.5 * alpha * w @ w + value, alpha * w + D.T @ (expit(s) - p) / p.size

    direct = minimize(cross_entropy, np.zeros(3), jac=True, method="BFGS", options=dict(gtol=1e-10))
    pairs = np.vstack([np.column_stack([a, b, p]), np.column_stack([b, a, 1 - p])])
    ranker = LinearRanker("logistic", alpha, scale=False, tol=1e-10).fit(X, pairs=pairs)
    np.testing.assert_allclose(ranker.coef_, direct.x, atol=1e-5)
    assert ranker.objective_ == pytest.approx(direct.fun, rel=1e-8)
