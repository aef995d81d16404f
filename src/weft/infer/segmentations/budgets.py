"""Segmentations within bounds: exactly by an integer program or by labels, and by Lagrangian relaxation with its gap.

    integer program   x_ijk = 1 where tokens i to j - 1 are a segment in mode k; a unit flow from first to last gap
    labels            all sums (u_0, u_1) at a gap that no other sum there is below in both; one bound only
    relaxation        max over z >= 0 of  min over segmentations of  u_0 + sum_l z_l (u_l - bound_l)

The flow polytope has whole corners, so the relaxation's limit equals that of the linear program. The segmentations on
both sides of the best multiplier are spliced where they share a gap: the best splice within the bounds is the answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Floats, Ids, Ints
from weft.errors import ConfigError, DataError
from weft.infer.relaxation.programs import Program
from weft.infer.segmentations.problem import SKIP, Segmentation, SegmentationProblem
from weft.kernel import kernel

#: Steps of the search for multipliers.
STEPS = 60
#: Labels at a gap beyond which the exact search gives up.
MOST_LABELS = 200_000


@dataclass(frozen=True)
class Plan:
    """A segmentation within the bounds, and what no segmentation can be below.

    `gap` is the difference, relative to the bound: 0 is proven to be optimal.
    """

    segmentation: Segmentation
    limit: float
    multipliers: Floats

    @property
    def gap(self) -> float:
        return max(0.0, self.segmentation.value - self.limit) / max(abs(self.limit), 1e-12)


def _bounds(problem: SegmentationProblem, bounds: ArrayLike) -> Floats:
    limit = np.atleast_1d(np.asarray(bounds, dtype=np.float64))
    if limit.shape != (problem.n_criteria - 1,):
        raise ConfigError(f"{problem.n_criteria - 1} bounded criteria need as many bounds, got {len(limit)}")
    return limit


def _infeasible(least: Floats, limit: Floats) -> DataError:
    worst = int(np.argmax(least - limit))
    lowest = f"the least is {least[worst]:g}"
    return DataError(f"no segmentation has criterion {worst + 1} at most {limit[worst]:g}: {lowest}")


def solve_exactly(
    problem: SegmentationProblem, bounds: ArrayLike, relaxed: bool = False, seconds: float | None = None
) -> Plan:
    """The optimum by an integer program; with `relaxed`, the limit of its linear program.

    >>> values = np.zeros((2, 1, 3, 1))
    >>> values[:, 0, :, 0] = [[-3.0, -2.0, -2.0], [3.0, 2.0, 2.0]]
    >>> solve_exactly(SegmentationProblem.of(values), [4.0]).segmentation.value
    -4.0
    """
    limit = _bounds(problem, bounds)
    n, program = problem.n_tokens, Program()
    into: list[dict[object, float]] = [{} for _ in range(n + 1)]
    sums: list[dict[object, float]] = [{} for _ in limit]
    for start in range(n):
        edges = [(start + 1, SKIP)]
        edges += [(start + d + 1, k) for d in range(int(problem.longest[start])) for k in range(problem.n_modes)]
        for end, mode in edges:
            name = (start, end, mode)
            own = problem.values[:, mode, start, end - start - 1] if mode != SKIP else np.zeros(problem.n_criteria)
            program.variable(name, -float(own[0]))
            into[end][name] = 1.0
            into[start][name] = -1.0
            for row, value in zip(sums, own[1:].tolist(), strict=True):
                row[name] = value
    for gap, terms in enumerate(into):
        flow = -1.0 if gap == 0 else 1.0 if gap == n else 0.0
        program.row(("gap", gap), terms, flow, flow)
    for number, row in enumerate(sums):
        program.row(("bound", number), row, high=float(limit[number]))
    answer = program.maximize(relaxed=relaxed, seconds=seconds)
    lengths, modes = np.zeros(n + 1, dtype=np.int32), np.full(n + 1, SKIP, dtype=np.int32)
    if not relaxed:
        for start, end, mode in answer.chosen():  # type: ignore[misc]
            lengths[end], modes[end] = end - start, mode
    return Plan(problem.segmentation(lengths, modes), -answer.bound, np.zeros(len(limit)))


def solve_by_labels(problem: SegmentationProblem, bound: float, most: int = MOST_LABELS) -> Plan:
    """The optimum under one bound by label setting with dominance.

    >>> values = np.zeros((2, 1, 3, 1))
    >>> values[:, 0, :, 0] = [[-3.0, -2.0, -2.0], [3.0, 2.0, 2.0]]
    >>> solve_by_labels(SegmentationProblem.of(values), 4.0).segmentation.value
    -4.0
    """
    (limit,) = _bounds(problem, [bound])
    if problem.n_criteria != 2:
        raise ConfigError(f"labels need one objective and one bound, got {problem.n_criteria} criteria")
    n = problem.n_tokens
    rest = _least_to_end(problem.values[1], problem.longest)
    if rest[0] > limit + 1e-9 * max(1.0, abs(limit)):
        raise _infeasible(rest[:1], np.array([limit]))
    sums: list[Floats] = [np.zeros((1, 2))]
    back: list[Ints] = [np.zeros((1, 3), dtype=np.int64)]
    for end in range(1, n + 1):
        pieces, links = [], []
        for start in range(max(0, end - problem.values.shape[3]), end):
            d = end - start - 1
            modes = list(range(problem.n_modes)) if d < problem.longest[start] else []
            for mode in [SKIP, *modes] if d == 0 else modes:
                step = np.zeros(2) if mode == SKIP else problem.values[:, mode, start, d]
                pieces.append(sums[start] + step)
                count = len(sums[start])
                links.append(np.stack([np.full(count, start), np.arange(count), np.full(count, mode)], axis=1))
        candidates, link = np.concatenate(pieces), np.concatenate(links)
        fits = candidates[:, 1] + rest[end] <= limit + 1e-9 * max(1.0, abs(limit))
        candidates, link = candidates[fits], link[fits]
        order = np.lexsort((candidates[:, 0], candidates[:, 1]))
        candidates, link = candidates[order], link[order]
        below = np.minimum.accumulate(candidates[:, 0])
        kept = np.concatenate([[True], candidates[1:, 0] < below[:-1]])
        sums.append(candidates[kept])
        back.append(link[kept])
        if len(sums[-1]) > most:
            raise DataError(
                f"more than {most:,} labels at token {end}; use the Lagrangian search for so long a sequence"
            )
    lengths, modes_of = np.zeros(n + 1, dtype=np.int32), np.full(n + 1, SKIP, dtype=np.int32)
    row, gap = int(np.argmin(sums[n][:, 0])), n
    value = float(sums[n][row, 0])
    while gap > 0:
        start, row, mode = back[gap][row].tolist()
        lengths[gap], modes_of[gap] = gap - start, mode
        gap = start
    return Plan(problem.segmentation(lengths, modes_of), value, np.zeros(1))


def _least_to_end(values: Floats, longest: Ints) -> Floats:
    """The least sum of one criterion from every gap to the end."""
    n = values.shape[1]
    least = np.zeros(n + 1)
    for start in range(n - 1, -1, -1):
        size = int(longest[start])
        segments = values[:, start, :size] + least[start + 1 : start + size + 1]
        least[start] = min(least[start + 1], float(segments.min()))
    return least


def solve(problem: SegmentationProblem, bounds: ArrayLike, steps: int = STEPS) -> Plan:
    """A segmentation within the bounds by Lagrangian relaxation, with the gap to what is possible at best.

    >>> values = np.zeros((2, 1, 3, 1))
    >>> values[:, 0, :, 0] = [[-3.0, -2.0, -2.0], [3.0, 2.0, 2.0]]
    >>> plan = solve(SegmentationProblem.of(values), [4.0])
    >>> plan.segmentation.value, plan.limit
    (-4.0, -4.0)
    """
    limit = _bounds(problem, bounds)
    least = np.array([problem.best(np.eye(problem.n_criteria)[row]).totals[row] for row in range(1, len(limit) + 1)])
    if (least > limit + 1e-9 * np.maximum(1.0, np.abs(limit))).any():
        raise _infeasible(least, limit)
    return _bisect(problem, limit, steps) if len(limit) == 1 else _climb(problem, limit, steps)


Path = tuple[Ids, Ids]


def _evaluate(problem: SegmentationProblem, limit: Floats, z: Floats) -> tuple[Path, Floats, float]:
    """The best path under multipliers, its sums, and the limit that they prove."""
    path = problem.path(np.tensordot(np.concatenate([[1.0], z]), problem.values, axes=1))
    totals = _totals(problem.values, *path)
    return path, totals, float(totals[0] + z @ (totals[1:] - limit))


def _bisect(problem: SegmentationProblem, limit: Floats, steps: int) -> Plan:
    """One multiplier: below it the bound is broken, above it kept; the limit rises towards it from both sides."""
    bound = float(limit[0]) + 1e-9 * max(1.0, abs(float(limit[0])))  # sums of the same numbers in another order
    free, totals, best_limit = _evaluate(problem, limit, np.zeros(1))
    if totals[1] <= bound:
        return Plan(problem.segmentation(*free), best_limit, np.zeros(1))
    low, high = 0.0, 1.0
    within, inside, proven = _evaluate(problem, limit, np.array([high]))
    while inside[1] > bound:
        free, totals, low, best_limit = within, inside, high, max(best_limit, proven)
        high *= 4.0
        if high > 1e30:  # the least sum is the bound itself
            within = problem.path(problem.values[1])
            inside = _totals(problem.values, *within)
            break
        within, inside, proven = _evaluate(problem, limit, np.array([high]))
    best_limit, z = max(best_limit, proven), high
    candidates = [(free, within)]
    for _ in range(steps):
        # Where the two paths are equally good: no other multiplier between them proves more, if no path is below both.
        middle = (inside[0] - totals[0]) / (totals[1] - inside[1])
        if not low < middle < high:
            middle = (low + high) / 2
        path, sums, proven = _evaluate(problem, limit, np.array([middle]))
        if proven > best_limit:
            best_limit, z = proven, middle
        done = abs(sums[0] + middle * sums[1] - (inside[0] + middle * inside[1])) <= 1e-12 * max(1.0, abs(proven))
        if sums[1] <= bound:
            within, inside, high = path, sums, middle
        else:
            free, totals, low = path, sums, middle
        candidates.append((free, within))
        if done:
            break
    best, value = within, float(inside[0])
    for loose, tight in candidates[-8:]:
        for first, second in ((loose, tight), (tight, loose)):
            spliced = _spliced(problem, first, second, tight, bound)
            sums = _totals(problem.values, *spliced)
            if sums[1] <= bound and sums[0] < value:
                best, value = spliced, float(sums[0])
    return Plan(problem.segmentation(*best), best_limit, np.array([z]))


def _spliced(problem: SegmentationProblem, first: Path, second: Path, otherwise: Path, bound: float) -> Path:
    """The first path up to a shared gap and the second from there on, where that is best within the bound."""
    gap = _best_splice(problem.values, *first, *second, bound)
    if gap < 0:
        return otherwise
    lengths, modes = second[0].copy(), second[1].copy()
    lengths[: gap + 1], modes[: gap + 1] = first[0][: gap + 1], first[1][: gap + 1]
    return lengths, modes


def _climb(problem: SegmentationProblem, limit: Floats, steps: int) -> Plan:
    """Several multipliers: subgradient steps whose size shrinks; the best path within all bounds is kept."""
    z = np.zeros(len(limit))
    scale = np.maximum(np.abs(limit), 1e-9)
    best: Path | None = None
    value, best_limit, best_z = np.inf, -np.inf, z
    reference = float(_totals(problem.values, *problem.path(problem.values[0]))[0])
    paths: list[tuple[Path, Floats]] = []
    for step in range(4 * steps):
        path, sums, proven = _evaluate(problem, limit, z)
        if proven > best_limit:
            best_limit, best_z = proven, z
        if (sums[1:] <= limit + 1e-9 * scale).all() and sums[0] < value:
            best, value = path, float(sums[0])
        paths.append((path, sums))
        excess = (sums[1:] - limit) / scale
        norm = float(excess @ excess)
        if norm == 0.0:
            break
        target = value if np.isfinite(value) else reference + abs(reference)
        size = (2.0 / (1 + step / 8)) * max(target - proven, 1e-6 * max(1.0, abs(proven))) / norm
        z = np.maximum(0.0, z + size * excess / scale)
    if best is None:
        best = _any_within(problem, limit)
        value = float(_totals(problem.values, *best)[0])
    for path, _ in paths[-20:]:
        for first, second in ((path, best), (best, path)):
            for gap in np.flatnonzero((first[0] > 0) & (second[0] > 0)).tolist():
                lengths, modes = second[0].copy(), second[1].copy()
                lengths[: gap + 1], modes[: gap + 1] = first[0][: gap + 1], first[1][: gap + 1]
                sums = _totals(problem.values, lengths, modes)
                if (sums[1:] <= limit + 1e-9 * scale).all() and sums[0] < value:
                    best, value = (lengths, modes), float(sums[0])
    return Plan(problem.segmentation(*best), best_limit, best_z)


def _any_within(problem: SegmentationProblem, limit: Floats) -> Path:
    """A path within all bounds: the least relative excess, with weights that grow where it remains."""
    scale = np.maximum(np.abs(limit), 1e-9)
    weights = np.ones(len(limit))
    for _ in range(50):
        path = problem.path(np.tensordot(np.concatenate([[0.0], weights / scale]), problem.values, axes=1))
        sums = _totals(problem.values, *path)
        over = (sums[1:] - limit) / scale
        if (over <= 1e-9).all():
            return path
        weights *= np.exp(np.clip(over, -1.0, 1.0))
    raise DataError("no segmentation within all bounds was found; loosen one of them")


@kernel
def _totals(values: Floats, lengths: Ids, modes: Ids) -> Floats:
    """The sum of every criterion over a path."""
    sums = np.zeros(values.shape[0])
    for end in range(1, len(lengths)):
        if lengths[end] > 0 and modes[end] >= 0:
            for row in range(values.shape[0]):
                sums[row] += values[row, modes[end], end - lengths[end], lengths[end] - 1]
    return sums


@kernel
def _best_splice(
    values: Floats, lengths: Ids, modes: Ids, other_lengths: Ids, other_modes: Ids, bound: float
) -> int:  # fmt: skip
    """The shared gap at which changing from one path to the other is best within the bound; -1 if none is within."""
    n = len(lengths) - 1
    rest = np.zeros((n + 1, 2))
    for end in range(n, 0, -1):
        rest[end - 1, 0] = rest[end, 0]
        rest[end - 1, 1] = rest[end, 1]
        if other_lengths[end] > 0 and other_modes[end] >= 0:
            for row in range(2):
                rest[end - 1, row] += values[row, other_modes[end], end - other_lengths[end], other_lengths[end] - 1]
    best, value = -1, np.inf
    done = np.zeros(2)
    for gap in range(n + 1):
        if gap > 0 and lengths[gap] > 0 and modes[gap] >= 0:
            for row in range(2):
                done[row] += values[row, modes[gap], gap - lengths[gap], lengths[gap] - 1]
        shared = gap == 0 or (lengths[gap] > 0 and other_lengths[gap] > 0)
        if shared and done[1] + rest[gap, 1] <= bound and done[0] + rest[gap, 0] < value:
            best, value = gap, done[0] + rest[gap, 0]
    return best
