"""The k best derivations of a sentence under a typed grammar, by CKY with cube pruning.

    score(leaf)           = given
    score(rule(l, r))     = score(l) + score(r) + rules[rule] + pairs[function, top(l), top(r)]
                            + rows[row(l), top(r)] + rows[row(r), top(l)]

Every item of the chart has a type, which rules see, and a *top*: the leaf's own symbol or the outermost function
applied so far. A rule gives its parent the top of a child or one of its own. Items also carry a set of bits; an
exclusive rule refuses children that share one. A leaf may have a row of scores for the tops that it is combined with
and another for their types. A unary rule turns an item of one type into an item of another over the same words.

Every cell keeps the k best items of each type. The pairs of two lists are visited best first, each once: (0, b) leads
to (0, b + 1), and (a, b) to (a + 1, b). Scores of pairs are no sums of scores of their children, so the lists are
approximate unless k is as large as the number of derivations; then they are complete.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Ints
from weft.errors import InferenceError
from weft.kernel import kernel

#: Where a rule's parent takes its top from.
OWN, LEFT, RIGHT = 0, 1, 2
#: The most derivations that a list may hold.
MOST = 100_000


@dataclass(frozen=True)
class TypedGrammar:
    """Binary rules (left type, right type, parent type, function, origin of the top, top, exclusive) and unary ones.

    Unary rules are (child type, parent type, top); a parent type is never a child type. Functions number the tables of
    `pairs`.
    """

    types: int
    tops: int
    functions: int
    binary: Ints
    unary: Ints
    roots: Ints

    @classmethod
    def of(
        cls,
        types: int,
        tops: int,
        binary: list[tuple[int, int, int, int, int, int, int]],
        unary: list[tuple[int, int, int]],
        roots: list[int],
    ) -> TypedGrammar:
        """Check and store rules.

        >>> TypedGrammar.of(2, 3, [(0, 0, 1, 0, OWN, 2, 0)], [], [1]).functions
        1
        """
        rules = np.array(binary, dtype=np.int64).reshape(-1, 7)
        ones = np.array(unary, dtype=np.int64).reshape(-1, 3)
        if set(ones[:, 0].tolist()) & set(ones[:, 1].tolist()):
            raise InferenceError("a unary rule must not feed another unary rule")
        if rules.size and (rules[:, :3].max() >= types or rules[:, 5].max() >= tops):
            raise InferenceError("a rule names a type or top that the grammar does not have")
        functions = int(rules[:, 3].max(initial=-1)) + 1
        return cls(types, tops, functions, rules, ones, np.array(roots, dtype=np.int64))


@dataclass(frozen=True)
class Leaves:
    """Leaves of a chart: words [start, end), type, top, bits, row of scores or -1, and score; one array each."""

    start: Ints
    end: Ints
    type: Ints
    top: Ints
    bits: Ints
    row: Ints
    score: Floats


@dataclass(frozen=True)
class Scores:
    """Scores of combinations: per rule, per function and two tops, and rows per top and per type of the other child."""

    rules: Floats
    pairs: NDArray[np.float64]
    rows: NDArray[np.float64]
    types: NDArray[np.float64]


@dataclass(frozen=True)
class Derivations:
    """A packed list of derivations: items in an order in which children come first, and the items of its roots.

    `rule` is the number of a binary rule, -1 for a leaf, -2 - u for the unary rule u; `left` is the leaf's number or
    the left child, `right` the right child or -1. `score` is that of the whole item.
    """

    rule: Ints
    left: Ints
    right: Ints
    type: Ints
    top: Ints
    row: Ints
    score: Floats
    roots: Ints

    def __len__(self) -> int:
        return len(self.roots)

    def scores(self) -> Floats:
        """Scores of the derivations, best first."""
        found: Floats = self.score[self.roots]
        return found

    def spread(self, coefficients: Floats) -> Floats:
        """What each item gets if every derivation gives its coefficient to all its items."""
        out = np.zeros(len(self.rule))
        out[self.roots] = coefficients
        _spread(self.rule, self.left, self.right, out)
        return out

    def tree(self, root: int) -> object:
        """A derivation as nested tuples: (rule, left, right), leaves as their numbers."""
        rule, left, right = int(self.rule[root]), int(self.left[root]), int(self.right[root])
        if rule == -1:
            return left
        if rule < -1:
            return (rule, self.tree(left))
        return (rule, self.tree(left), self.tree(right))


def kbest(
    grammar: TypedGrammar, length: int, leaves: Leaves, scores: Scores, k: int, roots: int | None = None
) -> Derivations:
    """The k best derivations of a sentence, best first; cells keep k items of each type.

    `roots` is how many derivations to return, if not k.

    >>> grammar = TypedGrammar.of(2, 3, [(0, 0, 1, 0, OWN, 2, 0)], [], [1])
    >>> ints = lambda *values: np.array(values, dtype=np.int64)
    >>> leaves = Leaves(ints(0, 0, 1), ints(1, 1, 2), ints(0, 0, 0), ints(0, 1, 0), ints(0, 0, 0), ints(-1, -1, -1),
    ...                 np.array([0.0, 1.0, 0.0]))
    >>> scores = Scores(np.zeros(1), np.zeros((1, 3, 3)), np.zeros((0, 3)), np.zeros((0, 2)))
    >>> best = kbest(grammar, 2, leaves, scores, k=5)
    >>> best.scores().tolist(), best.tree(best.roots[0])
    ([1.0, 0.0], (0, 1, 2))
    """
    if not 1 <= k <= MOST:
        raise InferenceError(f"k must be between 1 and {MOST}, got {k}")
    order = np.lexsort((leaves.end, leaves.start))
    cells = length * (length + 1) // 2 * grammar.types
    room = cells * k if k <= 512 else 0
    while True:
        size = room or 4096
        items = np.empty((7, size), dtype=np.int64)
        item_scores = np.empty(size)
        spans = np.zeros((length, length + 1, grammar.types, 2), dtype=np.int64)
        heap = np.empty((max(64, size), 4), dtype=np.int64)
        keys = np.empty(len(heap))
        used = _search(
            length, k, grammar.binary, grammar.unary, order, leaves.start, leaves.end, leaves.type, leaves.top,
            leaves.bits, leaves.row, leaves.score, scores.rules, scores.pairs, scores.rows, scores.types, items,
            item_scores, spans, heap, keys,
        )  # fmt: skip
        if used >= 0:
            break
        room = size * 4
    best = _roots(spans, length, grammar.roots, item_scores, k if roots is None else roots)
    numbers = np.full(used, -1, dtype=np.int64)
    count = _reach(items, best, numbers)
    kept = np.flatnonzero(numbers >= 0)
    assert len(kept) == count
    rule = items[0, kept]
    left, right = items[1, kept], items[2, kept]
    inner = rule != -1
    left = np.where(inner, numbers[np.where(inner, left, 0)] if used else left, left)
    right = np.where(rule >= 0, numbers[np.where(rule >= 0, right, 0)] if used else right, -1)
    return Derivations(
        rule, left, right, items[3, kept], items[4, kept], items[6, kept], item_scores[kept], numbers[best]
    )


def _roots(spans: Ints, length: int, types: Ints, scores: Floats, k: int) -> Ints:
    found = np.concatenate([np.arange(*spans[0, length, t]) for t in types]) if length else np.zeros(0, dtype=np.int64)
    best: Ints = found[np.argsort(-scores[found], kind="stable")[:k]].astype(np.int64)
    return best


@kernel
def _sift_up(heap: Ints, keys: Floats, i: int) -> None:
    while i > 0:
        parent = (i - 1) // 2
        if keys[parent] >= keys[i]:
            return
        keys[parent], keys[i] = keys[i], keys[parent]
        for c in range(4):
            heap[parent, c], heap[i, c] = heap[i, c], heap[parent, c]
        i = parent


@kernel
def _sift_down(heap: Ints, keys: Floats, count: int) -> None:
    i = 0
    while True:
        child = 2 * i + 1
        if child >= count:
            return
        if child + 1 < count and keys[child + 1] > keys[child]:
            child += 1
        if keys[i] >= keys[child]:
            return
        keys[child], keys[i] = keys[i], keys[child]
        for c in range(4):
            heap[child, c], heap[i, c] = heap[i, c], heap[child, c]
        i = child


@kernel
def _joined(
    left: int, right: int, rule: int, binary: Ints, items: Ints, item_scores: Floats, rules: Floats,
    pairs: NDArray[np.float64], rows: NDArray[np.float64], types: NDArray[np.float64],
) -> float:  # fmt: skip
    """The score of two items under a rule."""
    top_left, top_right = items[4, left], items[4, right]
    score = item_scores[left] + item_scores[right] + rules[rule] + pairs[binary[rule, 3], top_left, top_right]
    if items[6, left] >= 0:
        score += rows[items[6, left], top_right] + types[items[6, left], items[3, right]]
    if items[6, right] >= 0:
        score += rows[items[6, right], top_left] + types[items[6, right], items[3, left]]
    return score


@kernel
def _search(
    length: int, k: int, binary: Ints, unary: Ints, order: Ints, leaf_start: Ints, leaf_end: Ints, leaf_type: Ints,
    leaf_top: Ints, leaf_bits: Ints, leaf_row: Ints, leaf_score: Floats, rules: Floats, pairs: NDArray[np.float64],
    rows: NDArray[np.float64], types: NDArray[np.float64], items: Ints, item_scores: Floats, spans: Ints, heap: Ints,
    keys: Floats,
) -> int:  # fmt: skip
    """Fill the chart; returns the number of items, or -1 if the arrays are too short.

    Rows of `items`: rule, left, right, type, top, bits, row. Heap entries: rule (-1 leaf, -2 - u unary), split, a, b.
    """
    n_types = spans.shape[2]
    used = 0
    for width in range(1, length + 1):
        for i in range(length - width + 1):
            j = i + width
            # Leaves are sorted by start and end: find the first of this span.
            low, high = 0, len(order)
            while low < high:
                middle = (low + high) // 2
                at = order[middle]
                if leaf_start[at] < i or (leaf_start[at] == i and leaf_end[at] < j):
                    low = middle + 1
                else:
                    high = middle
            for turn in range(2):
                for parent in range(n_types):
                    fed = False
                    for u in range(len(unary)):
                        fed = fed or unary[u, 1] == parent
                    if fed != (turn == 1):
                        continue
                    spans[i, j, parent, 0] = used
                    spans[i, j, parent, 1] = used
                    count = 0
                    at_leaf = low
                    while at_leaf < len(order) and leaf_start[order[at_leaf]] == i and leaf_end[order[at_leaf]] == j:
                        leaf = order[at_leaf]
                        if leaf_type[leaf] == parent:
                            if count >= len(keys):
                                return -1
                            keys[count] = leaf_score[leaf]
                            heap[count, 0], heap[count, 1], heap[count, 2], heap[count, 3] = -1, leaf, 0, 0
                            _sift_up(heap, keys, count)
                            count += 1
                        at_leaf += 1
                    for u in range(len(unary)):
                        if unary[u, 1] != parent:
                            continue
                        for child in range(spans[i, j, unary[u, 0], 0], spans[i, j, unary[u, 0], 1]):
                            if count >= len(keys):
                                return -1
                            keys[count] = item_scores[child]
                            heap[count, 0], heap[count, 1], heap[count, 2], heap[count, 3] = -2 - u, child, 0, 0
                            _sift_up(heap, keys, count)
                            count += 1
                    for rule in range(len(binary)):
                        if binary[rule, 2] != parent:
                            continue
                        for split in range(i + 1, j):
                            lefts = spans[i, split, binary[rule, 0], 0]
                            rights = spans[split, j, binary[rule, 1], 0]
                            if lefts == spans[i, split, binary[rule, 0], 1]:
                                continue
                            if rights == spans[split, j, binary[rule, 1], 1]:
                                continue
                            if count >= len(keys):
                                return -1
                            keys[count] = _joined(
                                lefts, rights, rule, binary, items, item_scores, rules, pairs, rows, types
                            )
                            heap[count, 0], heap[count, 1], heap[count, 2], heap[count, 3] = rule, split, 0, 0
                            _sift_up(heap, keys, count)
                            count += 1
                    while count > 0 and used - spans[i, j, parent, 0] < k:
                        score = keys[0]
                        rule, place, a, b = heap[0, 0], heap[0, 1], heap[0, 2], heap[0, 3]
                        count -= 1
                        keys[0] = keys[count]
                        for c in range(4):
                            heap[0, c] = heap[count, c]
                        _sift_down(heap, keys, count)
                        if used >= len(item_scores):
                            return -1
                        if rule == -1:
                            items[0, used], items[1, used], items[2, used] = -1, place, -1
                            items[3, used], items[4, used] = parent, leaf_top[place]
                            items[5, used], items[6, used] = leaf_bits[place], leaf_row[place]
                            item_scores[used] = score
                            used += 1
                            continue
                        if rule < -1:
                            items[0, used], items[1, used], items[2, used] = rule, place, -1
                            items[3, used], items[4, used] = parent, unary[-2 - rule, 2]
                            items[5, used], items[6, used] = items[5, place], -1
                            item_scores[used] = score
                            used += 1
                            continue
                        left = spans[i, place, binary[rule, 0], 0] + a
                        right = spans[place, j, binary[rule, 1], 0] + b
                        for step in range(2):
                            if step == 1 and a > 0:
                                continue
                            next_left, next_right = left + (step == 0), right + (step == 1)
                            if next_left >= spans[i, place, binary[rule, 0], 1]:
                                continue
                            if next_right >= spans[place, j, binary[rule, 1], 1]:
                                continue
                            if count >= len(keys):
                                return -1
                            keys[count] = _joined(
                                next_left, next_right, rule, binary, items, item_scores, rules, pairs, rows, types
                            )
                            heap[count, 0], heap[count, 1] = rule, place
                            heap[count, 2], heap[count, 3] = a + (step == 0), b + (step == 1)
                            _sift_up(heap, keys, count)
                            count += 1
                        if binary[rule, 6] == 1 and (items[5, left] & items[5, right]) != 0:
                            continue
                        items[0, used], items[1, used], items[2, used] = rule, left, right
                        items[3, used] = parent
                        top = binary[rule, 5]
                        if binary[rule, 4] == 1:
                            top = items[4, left]
                        elif binary[rule, 4] == 2:
                            top = items[4, right]
                        items[4, used] = top
                        items[5, used] = items[5, left] | items[5, right]
                        items[6, used] = -1
                        item_scores[used] = score
                        used += 1
                    spans[i, j, parent, 1] = used
    return used


@kernel
def _reach(items: Ints, roots: Ints, numbers: Ints) -> int:
    """Number the items that roots reach, children first."""
    for root in roots:
        numbers[root] = 0
    for i in range(len(numbers) - 1, -1, -1):
        if numbers[i] == 0 and items[0, i] != -1:
            numbers[items[1, i]] = 0
            if items[0, i] >= 0:
                numbers[items[2, i]] = 0
    count = 0
    for i in range(len(numbers)):
        if numbers[i] == 0:
            numbers[i] = count
            count += 1
    return count


@kernel
def _spread(rule: Ints, left: Ints, right: Ints, out: Floats) -> None:
    for i in range(len(rule) - 1, -1, -1):
        if rule[i] != -1:
            out[left[i]] += out[i]
            if rule[i] >= 0:
                out[right[i]] += out[i]
