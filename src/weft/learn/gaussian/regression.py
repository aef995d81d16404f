"""Multi-task regression with a Gaussian process, learned step by step from simpler solutions.

Hyper-parameters maximize the marginal likelihood (L-BFGS). Complex models start where simpler ones ended, which is more
reliable than random starts (Cohn and Specia 2013):

    isotropic, pooled  ->  length-scale per feature  ->  a per descriptor  ->  a_d per value  ->  noise per value

Features and targets are standardized first. The likelihood is that of complete blocks where every annotator labels
every item, a bound from inducing points where these are asked for, and that of all rows otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Floats, Ints
from weft.errors import ConfigError, DataError, WeftError
from weft.learn.gaussian import blocks, exact, inducing
from weft.learn.gaussian.blocks import BlockPosterior, Blocks
from weft.learn.gaussian.exact import Exact, Fit, Posterior
from weft.learn.gaussian.inducing import Inducing
from weft.learn.gaussian.kernels import kernel_class
from weft.learn.gaussian.multitask import Covariance, Design, Noise
from weft.learn.gaussian.tasks import SHARES, Share

#: Values of a that the first covariance of tasks is tried with.
_STARTS = (0.01, 0.1, 0.5, 2.0, 10.0)
#: An a that is nearly nothing, and one of an outlier; of more values than this none is tried as the outlier.
_SMALL, _LARGE, _MOST_TRIED = 0.1, 5.0, 24
#: Rows on which a model of many rows takes its first steps.
_SAMPLE = 800


class TaskPrediction(NamedTuple):
    """The mean at every row, and the variance of a new observation there; `latent` is without noise."""

    mean: Floats
    variance: Floats
    latent: Floats

    def interval(self, share: float = 0.95) -> tuple[Floats, Floats]:
        """Between which numbers that share of new observations lies."""
        from scipy.stats import norm

        wide = float(norm.ppf(0.5 + share / 2)) * np.sqrt(self.variance)
        return self.mean - wide, self.mean + wide


@dataclass(frozen=True)
class Form:
    """What is learned: the kernel, how the values of each descriptor share, and which descriptors have their noise."""

    shares: tuple[str, ...]
    kernel: str = "squared-exponential"
    isotropic: bool = False
    noise: tuple[int, ...] = ()
    iterations: int = 60
    inducing: int = 0  #: points; 0 is none
    blocks: bool = True  #: use that all annotators label the same items, where they do

    def check(self) -> None:
        """Raise an error for what cannot be learned."""
        kernel_class(self.kernel)
        strange = [kind for kind in self.shares if kind not in SHARES]
        if strange:
            raise ConfigError(f"unknown covariance of tasks {strange[0]!r}; it is one of {', '.join(SHARES)}")
        if any(not 0 <= k < len(self.shares) for k in self.noise) or len(set(self.noise)) < len(self.noise):
            raise ConfigError(f"noise is by descriptors 0 to {len(self.shares) - 1}, got {self.noise}")
        if self.iterations < 1 or self.inducing < 0:
            raise ConfigError("iterations must be at least 1, and inducing points at least 0")

    def steps(self) -> list[Form]:
        """This form and those before it, the simplest first.

        >>> [form.shares[0] for form in Form(("combined+",)).steps()]
        ['pooled', 'pooled', 'combined', 'combined+']
        """
        few = min(25, self.iterations)
        plain = tuple("independent" if kind == "independent" else "pooled" for kind in self.shares)
        middle = tuple("combined" if kind in ("combined+", "dense") else kind for kind in self.shares)
        forms = [replace(self, shares=plain, isotropic=True, noise=(), iterations=few)]
        for shares, isotropic, noise in (
            (plain, self.isotropic, ()), (middle, self.isotropic, ()), (self.shares, self.isotropic, ()),
            (self.shares, self.isotropic, self.noise),
        ):  # fmt: skip
            step = replace(self, shares=shares, isotropic=isotropic, noise=noise, iterations=few)
            if step != forms[-1]:
                forms.append(step)
        forms[-1] = self
        return forms


@dataclass
class MultiTaskProcess:
    """A fitted process; `tasks` are the numbers of the values of descriptors, -1 for one that was never seen.

    >>> rng = np.random.default_rng(0)
    >>> x, who = rng.normal(size=(80, 1)), rng.integers(0, 2, (80, 1))
    >>> process = MultiTaskProcess.fit(x, who, np.sin(x[:, 0]) + who[:, 0], Form(("combined",)), sizes=(2,))
    >>> one, other = process.predict([[0.0], [0.0]], [[0], [1]]).mean
    >>> bool(0.7 < other - one < 1.3)
    True
    """

    form: Form
    covariance: Covariance
    rows: Design
    y: Floats
    centre: Floats
    spread: Floats
    level: float
    unit: float
    likelihood: float
    points: Design | None
    posterior: Posterior

    @classmethod
    def fit(
        cls, x: ArrayLike, tasks: ArrayLike, y: ArrayLike, form: Form, *, sizes: Sequence[int] | None = None,
        start: MultiTaskProcess | None = None, progress: Callable[[int, int], None] | None = None, seed: int = 0,
    ) -> Self:  # fmt: skip
        """Learn from rows of features, their values of descriptors, and targets; `start` is a simpler solution."""
        form.check()
        given, values, targets = _checked(x, tasks, y, form)
        sizes = tuple(sizes) if sizes is not None else tuple(int(k) + 1 for k in values.max(axis=0, initial=0))
        centre, spread = given.mean(axis=0), given.std(axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        level, unit = float(targets.mean()), float(targets.std()) or 1.0
        rows, t = Design((given - centre) / spread, values), (targets - level) / unit
        steps = form.steps()
        covariance = _first(steps[0], given.shape[1], sizes)
        if start is not None:
            covariance = start.covariance
            steps = [step for step in steps[:-1] if _richer(step, start.form)] + [form]
        points, value = None, 0.0
        in_blocks = form.blocks and Blocks.of(rows, Noise.by(form.noise, sizes), sizes) is not None
        for number, step in enumerate(steps):
            covariance = _grown(covariance, step, rows, t, sizes, seed)
            last = number == len(steps) - 1
            own, own_t = rows, t
            if not last and len(rows) > 1.5 * _SAMPLE and (form.inducing or not in_blocks):
                some = np.random.default_rng(seed).permutation(len(rows))[:_SAMPLE]
                own, own_t = rows.rows(some), t[some]
            if form.inducing and last:
                points = rows.rows(inducing.chosen(covariance, rows, form.inducing))
            covariance, value = _learned(covariance, step, own, own_t, sizes, points)
            if progress is not None:
                progress(number + 1, len(steps))
        if form.inducing:
            points = rows.rows(inducing.chosen(covariance, rows, form.inducing))
        return cls(form, covariance, rows, t, centre, spread, level, unit, value, points,
                   _posterior(covariance, form, rows, t, sizes, points))  # fmt: skip

    def predict(self, x: ArrayLike, tasks: ArrayLike) -> TaskPrediction:
        """What to expect at new rows."""
        given, values = np.asarray(x, dtype=np.float64), np.asarray(tasks, dtype=np.int64)
        if given.ndim != 2 or given.shape[1] != len(self.centre) or values.shape != (len(given), len(self.form.shares)):
            raise DataError(
                f"expected {len(self.centre)} features and {len(self.form.shares)} descriptors per row, got "
                f"{given.shape} and {values.shape}"
            )
        sizes = np.array([share.size for share in self.covariance.shares])
        if not np.isfinite(given).all() or (values < -1).any() or (values >= sizes).any():
            raise DataError("features must be finite, and descriptors known values or -1")
        parts = []
        known = self.points if self.points is not None else self.rows
        for begin in range(0, len(given), 1000):
            own = Design((given[begin : begin + 1000] - self.centre) / self.spread, values[begin : begin + 1000])
            across = self.covariance.matrix(own, known)
            latent = self.covariance.diagonal(own) - self.posterior.explained(across)
            noise = self.covariance.noise.variances(own.tasks)
            parts.append((self.posterior.mean(across), np.maximum(latent, 0.0), noise))
        mean, latent, noise = (
            (np.concatenate(part) for part in zip(*parts, strict=True)) if parts else (np.zeros(0),) * 3
        )
        scale = self.unit**2
        return TaskPrediction(self.level + self.unit * mean, scale * (latent + noise), scale * latent)

    @property
    def length_scales(self) -> Floats:
        """The length-scales of the features, in their own units; of an isotropic kernel in standard deviations."""
        scales = self.covariance.kernel.length_scales
        return scales * self.spread if len(scales) == len(self.spread) else scales

    @classmethod
    def restored(cls, form: Form, covariance: Covariance, rows: Design, y: Floats, centre: Floats, spread: Floats,
                 level: float, unit: float, likelihood: float) -> Self:  # fmt: skip
        """A process of which the rows and parameters are known."""
        sizes = tuple(share.size for share in covariance.shares)
        points = rows.rows(inducing.chosen(covariance, rows, form.inducing)) if form.inducing else None
        return cls(form, covariance, rows, y, centre, spread, level, unit, likelihood, points,
                   _posterior(covariance, form, rows, y, sizes, points))  # fmt: skip


def _checked(x: ArrayLike, tasks: ArrayLike, y: ArrayLike, form: Form) -> tuple[Floats, Ints, Floats]:
    rows, targets = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    values = np.asarray(tasks, dtype=np.int64)
    if rows.ndim != 2 or not rows.shape[1] or targets.shape != (len(rows),):
        raise DataError(f"expected rows of features and a target each, got shapes {rows.shape} and {targets.shape}")
    if values.shape != (len(rows), len(form.shares)):
        raise DataError(f"expected {len(form.shares)} descriptors per row, got shape {values.shape}")
    if len(rows) < 2 or not np.isfinite(rows).all() or not np.isfinite(targets).all():
        raise DataError("a Gaussian process needs at least two observations, all of them finite")
    if values.size and values.min() < 0:
        raise DataError("the descriptors of training rows are all known: numbers from 0")
    return rows, values, targets


def _first(form: Form, features: int, sizes: Sequence[int]) -> Covariance:
    """Hyper-parameters of 1, but lengths at which rows of many standardized features are not all far apart."""
    covariance = Covariance.of(form.kernel, 1 if form.isotropic else features, form.shares, sizes, form.noise)
    logs = covariance.kernel.logs.copy()
    logs[covariance.kernel.extra :] = 0.5 * np.log(features)
    return replace(covariance, kernel=covariance.kernel.with_logs(logs))


def _richer(step: Form, start: Form) -> bool:
    """Whether a step of the chain is beyond a given start."""
    done = {form.shares: form.isotropic for form in start.steps()}
    return step.shares not in done or (done[step.shares] and not step.isotropic)


def _grown(covariance: Covariance, step: Form, rows: Design, t: Floats, sizes: Sequence[int], seed: int) -> Covariance:
    """A covariance in the form of the next step, at values that change little."""
    if not step.isotropic:
        covariance = replace(covariance, kernel=covariance.kernel.spread(rows.x))
    for k, kind in enumerate(step.shares):
        share = covariance.shares[k]
        if kind == share.kind:
            continue
        if kind in ("combined", "combined+", "dense") and share.kind in ("pooled", "independent"):
            starts = [covariance, _apart(covariance, k, step, rows, t, sizes)]
            covariance = max(
                (_with_share(own, k, kind, a, seed) for own in starts for a in _STARTS),
                key=lambda own: _value(own, step, rows, t, sizes),
            )
        else:
            covariance = max(_refined(covariance, k, kind, seed), key=lambda own: _value(own, step, rows, t, sizes))
    if step.noise != covariance.noise.descriptors:
        covariance = replace(covariance, noise=Noise.by(step.noise, sizes, covariance.noise.level()))
    return covariance


def _apart(covariance: Covariance, k: int, step: Form, rows: Design, t: Floats, sizes: Sequence[int]) -> Covariance:
    """A solution in which the values of a descriptor share nothing.

    Where opinions cancel out, the pooled solution is that all is noise, from which no slope leads away.
    """
    if len(rows) > _SAMPLE:
        some = np.random.default_rng(0).permutation(len(rows))[:_SAMPLE]
        rows, t = rows.rows(some), t[some]
    features = rows.x.shape[1]
    own = _first(replace(step, isotropic=True, noise=covariance.noise.descriptors), features, sizes)
    shares = [*covariance.shares]
    shares[k] = Share.of("independent", sizes[k])
    few = replace(step, iterations=min(25, step.iterations))
    own, _ = _learned(replace(own, shares=tuple(shares)), few, rows, t, sizes, None)
    return own if step.isotropic else replace(own, kernel=own.kernel.spread(rows.x))


def _refined(covariance: Covariance, k: int, kind: str, seed: int) -> list[Covariance]:
    """Starts of a richer form: as before, and with one value unlike all others, or opposed to them.

    Where opinions differ by much, one a for all ends where nobody shares, from which no slope leads to an outlier.
    """
    share = covariance.shares[k].refined(kind, seed)
    found = [_set_share(covariance, k, share)]
    if kind in ("combined+", "dense") and share.size <= _MOST_TRIED:
        before = float(np.median(covariance.shares[k].own))
        plain = Share.of(kind, share.size, _SMALL, seed)
        for d in range(share.size):
            values = plain.values.copy()
            if kind == "combined+":
                values[d] = np.log(_LARGE)
            else:
                width = (len(values) - share.size) // share.size
                values[d * width : (d + 1) * width] *= -1
            changed = _set_share(covariance, k, plain.with_values(values))
            found.append(changed.scaled((1 + before) / (1 + _SMALL)))
    return found


def _with_share(covariance: Covariance, k: int, kind: str, a: float, seed: int) -> Covariance:
    """A covariance of tasks with a, and the variance of f kept."""
    share = covariance.shares[k].refined("pooled").refined(kind, seed)
    fresh = type(share).of(kind, share.size, a, seed)
    return _set_share(covariance, k, fresh).scaled(1 / (1 + a))


def _set_share(covariance: Covariance, k: int, share: Share) -> Covariance:
    shares = [*covariance.shares]
    shares[k] = share
    return replace(covariance, shares=tuple(shares))


def _evaluated(
    covariance: Covariance, form: Form, rows: Design, t: Floats, sizes: Sequence[int], points: Design | None
) -> Callable[[Covariance], Fit]:
    """The likelihood to use, as a function of the covariance."""
    if points is not None:
        return lambda own: inducing.bound(own, points, rows, t)
    found = Blocks.of(rows, covariance.noise, tuple(sizes)) if form.blocks else None
    if found is not None:
        return lambda own: blocks.likelihood(own, found, rows, t)
    return lambda own: exact.likelihood(own, rows, t)


def _value(covariance: Covariance, form: Form, rows: Design, t: Floats, sizes: Sequence[int]) -> float:
    """The likelihood of a start; of many rows, that of some."""
    in_blocks = form.blocks and Blocks.of(rows, covariance.noise, tuple(sizes)) is not None
    if len(rows) > _SAMPLE and not in_blocks:
        some = np.random.default_rng(0).permutation(len(rows))[:_SAMPLE]
        rows, t = rows.rows(some), t[some]
    return _evaluated(covariance, form, rows, t, sizes, None)(covariance).value


def _learned(
    covariance: Covariance, step: Form, rows: Design, t: Floats, sizes: Sequence[int], points: Design | None
) -> tuple[Covariance, float]:
    """The parameters of highest likelihood near those given."""
    from scipy.optimize import minimize

    evaluate = _evaluated(covariance, step, rows, t, sizes, points)

    def loss(parameters: Floats) -> tuple[float, Floats]:
        try:
            found = evaluate(covariance.with_parameters(parameters))
        except (WeftError, np.linalg.LinAlgError):
            return 1e10, np.zeros(len(parameters))
        return -found.value, -found.gradient

    limits = covariance.bounds
    low, high = np.array(limits).T
    found = minimize(
        loss, np.clip(covariance.parameters, low, high), jac=True, method="L-BFGS-B", bounds=limits,
        options={"maxiter": step.iterations, "ftol": 1e-7},
    )  # fmt: skip
    return covariance.with_parameters(found.x), -float(found.fun)


def _posterior(
    covariance: Covariance, form: Form, rows: Design, t: Floats, sizes: Sequence[int], points: Design | None
) -> Posterior:
    if points is not None:
        return Inducing(covariance, points, rows, t)
    found = Blocks.of(rows, covariance.noise, tuple(sizes)) if form.blocks else None
    return Exact(covariance, rows, t) if found is None else BlockPosterior(covariance, found, rows, t)
