"""Multi-task processes: gradients by differences, limits, dense references, complete blocks, inducing points."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, DataError
from weft.learn.gaussian import blocks, exact, inducing
from weft.learn.gaussian.blocks import BlockPosterior, Blocks
from weft.learn.gaussian.exact import Exact, Fit
from weft.learn.gaussian.inducing import Inducing
from weft.learn.gaussian.kernels import KERNELS
from weft.learn.gaussian.multitask import Covariance, Design, Noise
from weft.learn.gaussian.regression import Form, MultiTaskProcess
from weft.learn.gaussian.tasks import SHARES, Share


def drawn(covariance: Covariance, rng: np.random.Generator) -> Covariance:
    """The same form at random parameters."""
    return covariance.with_parameters(rng.normal(-0.2, 0.4, len(covariance.parameters)))


def check_gradient(evaluate: Callable[[Covariance], Fit], covariance: Covariance) -> None:
    at, step = covariance.parameters, 1e-5
    found = evaluate(covariance).gradient
    assert found.shape == at.shape
    for k in range(len(at)):
        move = np.eye(len(at))[k] * step
        high, low = (evaluate(covariance.with_parameters(at + sign * move)).value for sign in (1, -1))
        assert found[k] == pytest.approx((high - low) / (2 * step), rel=1e-5, abs=1e-5)


@pytest.mark.must_show("annotator-gaussian-processes", 1)
@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10_000), st.sampled_from(sorted(KERNELS)), st.booleans(),
    st.lists(st.sampled_from(SHARES), min_size=2, max_size=2), st.sampled_from([(), (0,), (1,), (0, 1)]),
)  # fmt: skip
def test_gradients_by_all_parameters_are_those_of_differences(
    seed: int, kernel: str, isotropic: bool, kinds: list[str], noise: tuple[int, ...]
) -> None:
    rng = np.random.default_rng(seed)
    rows = Design(rng.normal(size=(14, 3)), rng.integers(0, 3, (14, 2)))
    covariance = drawn(Covariance.of(kernel, 1 if isotropic else 3, kinds, (3, 3), noise), rng)
    y = rng.normal(size=14)
    check_gradient(lambda own: exact.likelihood(own, rows, y), covariance)


@pytest.mark.must_show("annotator-gaussian-processes", 1)
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(SHARES), st.booleans())
def test_complete_blocks_have_the_likelihood_gradient_and_posterior_of_all_rows(
    seed: int, kind: str, noisy: bool
) -> None:
    rng = np.random.default_rng(seed)
    items, system = rng.normal(size=(6, 2)), rng.integers(0, 2, 6)
    who, item = (axis.ravel() for axis in np.meshgrid(np.arange(3), np.arange(6)))
    mixed = rng.permutation(18)
    rows = Design(items[item], np.stack([system[item], who], axis=1)).rows(mixed)
    sizes = (2, 3)
    covariance = drawn(Covariance.of("squared-exponential", 2, ["combined+", kind], sizes, (1,) if noisy else ()), rng)
    y = rng.normal(size=18)
    found = Blocks.of(rows, covariance.noise, sizes)
    assert found is not None
    assert found.descriptor == 1
    short, full = blocks.likelihood(covariance, found, rows, y), exact.likelihood(covariance, rows, y)
    assert short.value == pytest.approx(full.value, abs=1e-6)
    np.testing.assert_allclose(short.gradient, full.gradient, atol=1e-6)
    new = Design(rng.normal(size=(4, 2)), np.array([[0, 0], [1, 2], [-1, 1], [0, -1]]))
    across = covariance.matrix(new, rows)
    one, other = BlockPosterior(covariance, found, rows, y), Exact(covariance, rows, y)
    np.testing.assert_allclose(one.mean(across), other.mean(across), atol=1e-7)
    np.testing.assert_allclose(one.explained(across), other.explained(across), atol=1e-7)
    check_gradient(lambda own: blocks.likelihood(own, found, rows, y), covariance)


def test_rows_are_blocks_only_if_nothing_is_missing_or_double_and_noise_is_by_annotator() -> None:
    x, who = np.repeat(np.arange(4.0), 3)[:, None], np.tile(np.arange(3), 4)[:, None]
    whole = Design(x, who)
    assert Blocks.of(whole, Noise.by((), (3,)), (3,)) is not None
    assert Blocks.of(whole.rows(np.arange(11)), Noise.by((), (3,)), (3,)) is None
    double = np.arange(12)
    double[0] = 1
    assert Blocks.of(whole.rows(double), Noise.by((), (3,)), (3,)) is None
    both = Design(x, np.concatenate([who, np.repeat(np.arange(2), 6)[:, None]], axis=1))
    assert Blocks.of(both, Noise.by((0,), (3, 2)), (3, 2)) is not None
    assert Blocks.of(both, Noise.by((0, 1), (3, 2)), (3, 2)) is None


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(sorted(KERNELS)), st.sampled_from(SHARES))
def test_the_bound_of_inducing_points_has_the_gradient_of_differences(seed: int, kernel: str, kind: str) -> None:
    rng = np.random.default_rng(seed)
    rows = Design(rng.normal(size=(14, 2)), rng.integers(0, 3, (14, 1)))
    covariance = drawn(Covariance.of(kernel, 2, [kind], (3,), (0,)), rng)
    y = rng.normal(size=14)
    points = rows.rows(inducing.chosen(covariance, rows, 2))
    check_gradient(lambda own: inducing.bound(own, points, rows, y), covariance)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_the_bound_rises_with_points_to_the_likelihood_of_all_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = Design(rng.normal(size=(20, 2)), rng.integers(0, 3, (20, 1)))
    covariance = drawn(Covariance.of("squared-exponential", 2, ["combined"], (3,), (0,)), rng)
    y = rng.normal(size=20)
    order = inducing.chosen(covariance, rows, 20)
    values = [inducing.bound(covariance, rows.rows(order[:k]), rows, y).value for k in (3, 8, len(order))]
    full = exact.likelihood(covariance, rows, y).value
    assert values[0] <= values[1] + 1e-6
    assert values[1] <= values[2] + 1e-6
    assert values[2] <= full + 1e-4
    assert values[2] == pytest.approx(full, abs=1e-2)
    new = Design(rng.normal(size=(5, 2)), rng.integers(-1, 3, (5, 1)))
    short = Inducing(covariance, rows.rows(order), rows, y)
    known = Exact(covariance, rows, y)
    few, all_rows = covariance.matrix(new, rows.rows(order)), covariance.matrix(new, rows)
    np.testing.assert_allclose(short.mean(few), known.mean(all_rows), atol=1e-3)
    np.testing.assert_allclose(short.explained(few), known.explained(all_rows), atol=1e-3)


@pytest.mark.must_show("annotator-gaussian-processes", 2)
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_combined_is_pooled_without_a_and_independent_where_a_is_large(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = Design(rng.normal(size=(12, 2)), rng.integers(0, 3, (12, 1)))
    new = Design(rng.normal(size=(6, 2)), rng.integers(0, 3, (6, 1)))
    y = rng.normal(size=12)

    def means(kind: str, a: float = 1.0) -> np.ndarray:
        own = Covariance.of("squared-exponential", 2, [kind], (3,))
        if kind == "combined":
            own = Covariance(own.kernel, (Share.of(kind, 3, a),), own.noise).scaled(1 / (1 + a))
        known = Exact(own, rows, y)
        across = own.matrix(new, rows)
        return np.concatenate([known.mean(across), own.diagonal(new) - known.explained(across)])

    np.testing.assert_allclose(means("combined", 1e-9), means("pooled"), atol=1e-6)
    np.testing.assert_allclose(means("combined", 1e9), means("independent"), atol=1e-6)
    assert np.abs(means("combined", 1.0) - means("pooled")).max() > 1e-3
    assert np.abs(means("combined", 1.0) - means("independent")).max() > 1e-3


@pytest.mark.must_show("annotator-gaussian-processes", 2)
def test_one_value_of_a_descriptor_is_the_single_task_kernel() -> None:
    rng = np.random.default_rng(4)
    rows = Design(rng.normal(size=(9, 2)), np.zeros((9, 2), dtype=int))
    for kinds in (["pooled", "independent"], ["pooled", "pooled"]):
        covariance = Covariance.of("matern", 2, kinds, (1, 1))
        np.testing.assert_allclose(covariance.matrix(rows, rows), covariance.kernel.matrix(rows.x, rows.x))


@pytest.mark.must_show("annotator-gaussian-processes", 2)
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(SHARES), st.sampled_from(sorted(KERNELS)))
def test_predictions_are_those_of_explicit_inverses_and_sums(seed: int, kind: str, kernel: str) -> None:
    """The reference multiplies covariances entry by entry and inverts the matrix."""
    rng = np.random.default_rng(seed)
    rows = Design(rng.normal(size=(10, 2)), rng.integers(0, 3, (10, 2)))
    new = Design(rng.normal(size=(5, 2)), rng.integers(0, 3, (5, 2)))
    covariance = drawn(Covariance.of(kernel, 2, [kind, "combined+"], (3, 3), (0, 1)), rng)
    y = rng.normal(size=10)
    tables = [share.matrix() for share in covariance.shares]

    def dense(one: Design, other: Design) -> np.ndarray:
        return np.array([
            [
                covariance.kernel.matrix(one.x[i : i + 1], other.x[j : j + 1])[0, 0]
                * tables[0][one.tasks[i, 0], other.tasks[j, 0]] * tables[1][one.tasks[i, 1], other.tasks[j, 1]]
                for j in range(len(other))
            ]
            for i in range(len(one))
        ])  # fmt: skip

    logs = covariance.noise.values.reshape(2, 3)
    noise = np.exp(2 * (logs[0][rows.tasks[:, 0]] + logs[1][rows.tasks[:, 1]]))
    inverse = np.linalg.inv(dense(rows, rows) + np.diag(noise + exact.JITTER))
    across = dense(new, rows)
    known = Exact(covariance, rows, y)
    found = covariance.matrix(new, rows)
    np.testing.assert_allclose(known.mean(found), across @ inverse @ y, atol=1e-8)
    np.testing.assert_allclose(known.explained(found), np.einsum("ij,jk,ik->i", across, inverse, across), atol=1e-8)
    np.testing.assert_allclose(covariance.diagonal(new), np.diag(dense(new, new)), atol=1e-8)


def test_likelihood_and_predictions_are_those_of_scikit_learn() -> None:
    """Scikit-learn has no covariances of tasks, but its kernels of indicators make combined with one descriptor."""
    gaussian = pytest.importorskip("sklearn.gaussian_process")
    peer_kernels = gaussian.kernels
    rng = np.random.default_rng(1)
    x, who, y = rng.normal(size=(30, 2)), rng.integers(0, 3, (30, 1)), rng.normal(size=30)
    covariance = drawn(Covariance.of("squared-exponential", 2, ["combined"], (3,)), rng)
    scale, one, other = np.exp(covariance.kernel.logs).tolist()
    a = float(covariance.shares[0].own[0])
    far = 1e-3  # indicators at distance 1/far are independent
    together = np.concatenate([x, np.eye(3)[who[:, 0]]], axis=1)
    same = peer_kernels.RBF([one, other, far, far, far], "fixed")
    pooled = peer_kernels.RBF([one, other, 1e8, 1e8, 1e8], "fixed")
    noise = peer_kernels.WhiteKernel(float(np.exp(2 * covariance.noise.values[0])))
    kernel = peer_kernels.ConstantKernel(scale**2) * (pooled + peer_kernels.ConstantKernel(a) * same) + noise
    peer = gaussian.GaussianProcessRegressor(kernel, optimizer=None, alpha=exact.JITTER).fit(together, y)
    rows = Design(x, who)
    assert exact.likelihood(covariance, rows, y).value == pytest.approx(peer.log_marginal_likelihood_value_, abs=1e-6)
    mean, spread = peer.predict(together[:6] + 0.0, return_std=True)
    known, across = Exact(covariance, rows, y), covariance.matrix(rows.rows(np.arange(6)), rows)
    np.testing.assert_allclose(known.mean(across), mean, atol=1e-6)
    variance = covariance.diagonal(rows.rows(np.arange(6))) - known.explained(across)
    np.testing.assert_allclose(np.sqrt(variance + np.exp(2 * covariance.noise.values[0])), spread, atol=1e-6)


@pytest.mark.must_show("annotator-gaussian-processes", 2)
def test_an_unseen_value_shares_what_is_common_and_has_a_mean_own_variance() -> None:
    share = Share("combined+", 2, np.log([0.5, 1.5]))
    assert share.extended()[-1].tolist() == pytest.approx([1.0, 1.0, 2.0])
    noise = Noise.by((0,), (2,)).with_values(np.log([1.0, 4.0]))
    assert noise.variances(np.array([[-1]]))[0] == pytest.approx(4.0)
    independent = Share.of("independent", 2)
    assert independent.extended()[-1].tolist() == [0.0, 0.0, 1.0]


def simulated(a: np.ndarray, noise: np.ndarray, rng: np.random.Generator, per_task: int = 60, features: int = 5):
    """Rows of tasks that share as `a` says, drawn from the model."""
    tasks = len(a)
    x = rng.normal(size=(tasks * per_task, features))
    who = np.repeat(np.arange(tasks), per_task)
    distances = ((x[:, None] - x[None]) ** 2).sum(axis=2) / 4.0
    shared = 1.0 + np.diag(a)
    covariance = np.exp(-0.5 * distances) * shared[who][:, who] + 1e-8 * np.eye(len(x))
    f = np.linalg.cholesky(covariance) @ rng.normal(size=len(x))
    return x, who[:, None], f + noise[who] * rng.normal(size=len(x))


def test_a_chain_starts_where_the_simpler_solution_ended_and_never_falls_below_it() -> None:
    rng = np.random.default_rng(2)
    x, who, y = simulated(np.full(4, 0.3), np.full(4, 0.3), rng, 30, 2)
    forms = [Form(("pooled",)), Form(("combined",)), Form(("combined+",)), Form(("combined+",), noise=(0,))]
    fitted = [MultiTaskProcess.fit(x, who, y, forms[0])]
    for form in forms[1:]:
        fitted.append(MultiTaskProcess.fit(x, who, y, form, start=fitted[-1]))
    values = [each.likelihood for each in fitted]
    assert all(later >= before - 0.05 for before, later in pairwise(values))
    assert values[1] > values[0] + 1
    alone = MultiTaskProcess.fit(x, who, y, forms[-1])
    assert alone.likelihood == pytest.approx(values[-1], abs=0.5)
    assert [form.isotropic for form in forms[-1].steps()] == [True, False, False, False, False]


def test_inducing_points_predict_nearly_as_all_rows_do() -> None:
    rng = np.random.default_rng(3)
    x, who, y = simulated(np.full(4, 0.2), np.full(4, 0.3), rng, 60, 2)
    form = Form(("combined",), iterations=30)
    full = MultiTaskProcess.fit(x[:200], who[:200], y[:200], form, sizes=(4,))
    few = MultiTaskProcess.fit(x[:200], who[:200], y[:200], Form(("combined",), iterations=30, inducing=60), sizes=(4,))
    one, other = full.predict(x[200:], who[200:]), few.predict(x[200:], who[200:])
    assert np.abs(one.mean - other.mean).mean() < 0.1 * y.std()
    assert few.likelihood <= full.likelihood + 0.5


def test_wrong_forms_and_rows_are_told() -> None:
    with pytest.raises(ConfigError, match="unknown covariance of tasks 'mixed'"):
        MultiTaskProcess.fit([[0.0]] * 3, [[0]] * 3, [1.0, 2.0, 3.0], Form(("mixed",)))
    with pytest.raises(ConfigError, match="unknown kernel"):
        MultiTaskProcess.fit([[0.0]] * 3, [[0]] * 3, [1.0, 2.0, 3.0], Form(("pooled",), kernel="cosine"))
    with pytest.raises(ConfigError, match="noise is by descriptors"):
        MultiTaskProcess.fit([[0.0]] * 3, [[0]] * 3, [1.0, 2.0, 3.0], Form(("pooled",), noise=(1,)))
    with pytest.raises(DataError, match="1 descriptors per row"):
        MultiTaskProcess.fit([[0.0]] * 3, [[0, 1]] * 3, [1.0, 2.0, 3.0], Form(("pooled",)))
    with pytest.raises(DataError, match="at least two observations"):
        MultiTaskProcess.fit([[0.0]] * 2, [[0]] * 2, [1.0, np.nan], Form(("pooled",)))
    process = MultiTaskProcess.fit([[0.0], [1.0], [2.0]], [[0]] * 3, [1.0, 2.0, 3.0], Form(("pooled",)))
    with pytest.raises(DataError, match="expected 1 features"):
        process.predict([[0.0, 1.0]], [[0]])
    with pytest.raises(DataError, match="known values or -1"):
        process.predict([[0.0]], [[1]])
    assert process.predict(np.zeros((0, 1)), np.zeros((0, 1), int)).mean.tolist() == []
