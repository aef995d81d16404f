"""The chain over candidate boundaries: training, decoding and storage.

    score(y, x) = sum over candidates i of ( sum_f W[f, y_i] + T[y_{i-1}, y_i] + b [y_i = SENTENCE] )

Like the labels B, M, E and S of word segmentation, the states distinguish the first candidate inside a token from later
ones (BEGUN, ON), and the ends of tokens with candidates inside from those without (END, SINGLE). A chain runs from one
boundary that is known to end a token to the next. W and T maximize the likelihood of the training text under a Gaussian
prior. If sentence ends are rarely marked, the most probable labels miss most of them; b is therefore tuned for the best
sentence F1 on held-out text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Bools, Floats, Ints, Keys
from weft.declared import Array, Stored
from weft.features.characters import CharacterTable
from weft.features.index import FeatureIndex
from weft.features.weights import FrozenTable, Layout
from weft.headers import Flag, Real, Record
from weft.infer.chains.chain import Chain
from weft.kernel import kernel
from weft.learn.chains.labels import LabelSpace
from weft.learn.chains.model import ChainBatch, ChainModel, FeatureRows
from weft.learn.training import Result
from weft.storage import Arrays
from weft.tasks.segmentation.boundaries import (
    BLANK,
    FEW_LINES,
    INSIDE,
    LINE,
    SENTENCE,
    TOKEN,
    Candidates,
    Labels,
    Masks,
    Squeezed,
    allowed_labels,
    count_labels,
    find_candidates,
    labels_at,
    new_counts,
    squeeze,
)
from weft.tasks.segmentation.boundary_features import REACH, entry_key, feature_keys
from weft.text.doc import Doc

STATES = ("BEGUN", "ON", "END", "SINGLE", "SENTENCE")
_BEGUN, _ON, _END, _SINGLE, _FINAL = range(5)
_LABEL_OF = np.array([INSIDE, INSIDE, TOKEN, TOKEN, SENTENCE], dtype=np.int8)
_ALLOWED = np.array([[bool(mask >> label & 1) for label in _LABEL_OF] for mask in range(8)])
_OPEN = np.array([True, True, False, False, False])  # states after which the token continues
_CONTINUES = np.array([False, True, True, False, True])  # states of a token that has started
_STARTS = np.array([True, False, False, True, True])  # states of a token that has not
_LEGAL = np.where(_OPEN[:, None], _CONTINUES[None, :], _STARTS[None, :])
_NO_VALUES = np.zeros(0)
HEADER = Record(spaced=Flag(), lines=Flag(), bias=Real())
ARRAYS = (
    Array("allowed", "uint8", new_counts().shape[:3], low=1, below=1 << 3),
    Array("entries", "uint64", ("entries",), rising=True),
    Array("transitions", "float64", _LEGAL.shape),
)
#: Chains per training batch; most chains have few candidates.
CHAINS = 8192
#: Values of b to try.
BIASES = tuple(np.arange(-1.0, 4.01, 0.25).tolist())


class Marked(NamedTuple):
    """A training text: `ends[i]` tells whether a token ends before character i, `sentence_ends[i]` whether a sentence
    does."""

    text: Squeezed
    ends: Bools
    sentence_ends: Bools

    @classmethod
    def from_doc(cls, doc: Doc, table: CharacterTable, lines: bool = True) -> Marked:
        ends = np.zeros(len(doc.text) + 1, dtype=np.bool_)
        sentence_ends = np.zeros(len(doc.text) + 1, dtype=np.bool_)
        ends[doc.token_end] = True
        lasts = doc.sentence_offsets[1:][np.diff(doc.sentence_offsets) > 0] - 1
        sentence_ends[doc.word_end[lasts]] = True
        return cls(squeeze(doc.text, table, lines), ends, sentence_ends)


class Scored(NamedTuple):
    """A text's decided labels, its candidates and their scores."""

    text: Squeezed
    labels: Labels
    candidates: Candidates
    scores: Floats


@dataclass
class Trained:
    """The result of training."""

    candidates: int
    features: int
    result: Result | None


class BoundaryModel:
    """A trained chain, which assigns a label after every character of the squeezed text."""

    def __init__(
        self,
        allowed: Masks,
        entries: Keys,
        spaced: bool,
        lines: bool,
        weights: FrozenTable | None,
        transitions: Floats,
        bias: float = 0.0,
    ) -> None:
        self.table = CharacterTable()
        self.allowed, self.entries = allowed, entries
        self.spaced, self.lines = spaced, lines  # whether tokens contain spaces, whether line ends are informative
        self.weights, self.transitions, self.bias = weights, transitions, bias

    def scored(self, text: str) -> Scored:
        """The candidates of a text with their scores, without b."""
        squeezed = squeeze(text, self.table, self.lines)
        labels = np.zeros(len(squeezed.codes), dtype=np.int8)
        candidates = find_candidates(squeezed, self.allowed, labels)
        if self.weights is None or not len(candidates.left):
            return Scored(squeezed, labels, candidates, np.zeros((len(candidates.left), len(STATES))))
        keys, offsets = feature_keys(squeezed, candidates, self.table, self.entries, self.spaced)
        return Scored(squeezed, labels, candidates, self.weights.score(keys, offsets, _NO_VALUES))

    def decode(self, scored: Scored, bias: float | None = None) -> Labels:
        """The best labels of a whole text."""
        candidates = scored.candidates
        labels = scored.labels.copy()
        if len(candidates.left):
            labels[candidates.left] = _LABEL_OF[self._chain(scored, self.bias if bias is None else bias).best()]
        return labels

    def confidence(self, scored: Scored, labels: Labels) -> Floats:
        """The probability of every label; 1 if the classes decide it."""
        out = np.ones(len(labels))
        if len(scored.candidates.left):
            marginals = self._chain(scored, 0.0).marginals().node
            chosen = labels[scored.candidates.left]
            out[scored.candidates.left] = np.where(chosen[:, None] == _LABEL_OF, marginals, 0.0).sum(axis=1)
        return out

    def _chain(self, scored: Scored, bias: float) -> Chain:
        scores = scored.scores
        if bias:
            scores = scores + bias * (_LABEL_OF == SENTENCE)
        offsets = chains(scored.candidates, scored.labels)
        return Chain(scores, self.transitions, offsets, _allowed(scored.candidates.mask, offsets), _LEGAL)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """The contents of a model file."""
        arrays: Arrays = {"allowed": self.allowed, "entries": self.entries, "transitions": self.transitions}
        if self.weights is not None:
            arrays |= {f"weights/{name}": array for name, array in self.weights.arrays.items()}
        return {"spaced": self.spaced, "lines": self.lines, "bias": self.bias}, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> BoundaryModel:
        HEADER.check(header, "boundaries")
        stored = Stored.of(arrays)
        table = stored.under("weights/")
        weights = FrozenTable(table, len(STATES)) if table else None
        allowed, entries, transitions = map(np.array, stored.take(*ARRAYS).values())
        return cls(allowed, entries, header["spaced"], header["lines"], weights, transitions, float(header["bias"]))


def chains(candidates: Candidates, decided: Labels) -> Ints:
    """Offsets of chains: a chain ends where a token is known to end between two candidates."""
    ends = np.cumsum(decided != INSIDE)[candidates.left]
    cuts = np.flatnonzero(np.diff(ends)) + 1
    return np.concatenate([[0], cuts, [len(candidates.left)]]).astype(np.int64)


def _allowed(mask: Masks, offsets: Ints) -> Bools:
    """The states allowed by character classes and by the start of chains."""
    allowed: Bools = _ALLOWED[mask]
    allowed[offsets[:-1]] &= _STARTS
    return allowed


@kernel
def _states(labels: NDArray[np.int32], offsets: Ints, out: NDArray[np.int32]) -> None:
    for chain in range(len(offsets) - 1):
        begun = False
        for i in range(offsets[chain], offsets[chain + 1]):
            if labels[i] == INSIDE:
                out[i] = _ON if begun else _BEGUN
            elif labels[i] == TOKEN:
                out[i] = _END if begun else _SINGLE
            else:
                out[i] = _FINAL
            begun = labels[i] == INSIDE


def train(
    docs: Sequence[Doc], *, sigma: float, iterations: int, min_count: int, precision: str, prune: float, workers: int
) -> tuple[BoundaryModel, Trained]:
    """Train on the boundaries of documents."""
    from weft import learn

    counts = new_counts()
    none = np.zeros(0, dtype=np.uint64)
    model = BoundaryModel(allowed_labels(counts), none, False, True, None, np.zeros(_LEGAL.shape))
    marked = [Marked.from_doc(doc, model.table) for doc in docs]
    for each in marked:
        count_labels(each.text, each.ends, each.sentence_ends, counts)
    if counts[:, LINE].sum() < FEW_LINES:
        model.lines = False
        counts[:, BLANK] += counts[:, LINE]
        marked = [Marked.from_doc(doc, model.table, lines=False) for doc in docs]
    model.allowed = allowed_labels(counts)
    model.spaced = bool(counts[:, 1:, :, INSIDE].any())
    # Tokens that occur once would always be known in training, unlike in new text: use them for new text only.
    known, often = _entries(docs, model)
    model.entries = often
    index, features, gold, mask, offsets = _collect(marked, model)
    model.entries = known
    if not len(gold):
        return model, Trained(0, 0, None)
    keep = index.counts >= min_count
    rows = np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int32)[features.rows]
    index = index.select(keep)
    layout = Layout.from_mask(np.ones((len(index), len(STATES)), dtype=np.bool_))
    space = LabelSpace(STATES, 1)
    space.legal = _LEGAL
    transitions = np.full(_LEGAL.shape, -1, dtype=np.int32)
    transitions[_LEGAL] = np.arange(int(_LEGAL.sum()))
    chain_model = ChainModel(space, layout, transitions)
    allowed = _allowed(mask, offsets)
    allowed[np.arange(len(gold)), gold] = True
    node = FeatureRows(rows, features.offsets, _NO_VALUES)
    batch = ChainBatch(offsets, node, None, gold, np.ones(len(offsets) - 1), allowed)
    objective = learn.Objective(chain_model, list(batch.batches(CHAINS)), learn.Gold(), sigma=sigma, workers=workers)
    result = learn.minimize(
        objective, np.zeros(chain_model.size), learn.LBFGS(), max_iterations=iterations, describe="boundaries"
    )
    model.weights = FrozenTable.freeze(index, layout, result.weights[: layout.size], precision, prune)
    model.transitions = np.zeros(_LEGAL.shape)
    model.transitions[_LEGAL] = result.weights[layout.size :]
    return model, Trained(len(gold), len(index), result)


def _entries(docs: Sequence[Doc], model: BoundaryModel) -> tuple[Keys, Keys]:
    """Keys of the tokens with candidates inside, and of those among them that occur more than once."""
    tokens: Counter[str] = Counter()
    for doc in docs:
        text = doc.text
        bounds = zip(doc.token_start.tolist(), doc.token_end.tolist(), strict=True)
        tokens.update(text[start:end] for start, end in bounds if 1 < end - start <= REACH)
    keys, counts = [], []
    for token, count in tokens.items():
        squeezed = squeeze(token, model.table)
        if len(find_candidates(squeezed, model.allowed, np.zeros(len(squeezed.codes), dtype=np.int8)).left):
            keys.append(entry_key(token, model.table))
            counts.append(count)
    known = np.array(keys, dtype=np.uint64)
    return np.unique(known), np.unique(known[np.array(counts, dtype=np.int64) > 1])


def _collect(
    marked: Sequence[Marked], model: BoundaryModel
) -> tuple[FeatureIndex, FeatureRows, NDArray[np.int32], Masks, Ints]:
    """Features, labels and masks of all candidates, with the offsets of chains."""
    index = FeatureIndex()
    rows, gold, masks = [], [], []
    offsets, bounds = [np.zeros(1, dtype=np.int64)], [np.zeros(1, dtype=np.int64)]
    n_features = n_candidates = 0
    for each in marked:
        decided = np.zeros(len(each.text.codes), dtype=np.int8)
        candidates = find_candidates(each.text, model.allowed, decided)
        if not len(candidates.left):
            continue
        chain_offsets = chains(candidates, decided)
        states = np.empty(len(candidates.left), dtype=np.int32)
        _states(labels_at(each.text, candidates, each.ends, each.sentence_ends), chain_offsets, states)
        keys, ends = feature_keys(each.text, candidates, model.table, model.entries, model.spaced)
        rows.append(index.add(keys))
        gold.append(states)
        masks.append(candidates.mask)
        offsets.append(ends[1:] + n_features)
        bounds.append(chain_offsets[1:] + n_candidates)
        n_features += len(keys)
        n_candidates += len(candidates.left)
    if not gold:
        none = np.zeros(0, dtype=np.int32)
        return index, FeatureRows(none, offsets[0], _NO_VALUES), none, np.zeros(0, dtype=np.uint8), bounds[0]
    features = FeatureRows(np.concatenate(rows), np.concatenate(offsets), _NO_VALUES)
    return index, features, np.concatenate(gold), np.concatenate(masks), np.concatenate(bounds)


def tune_bias(model: BoundaryModel, docs: Sequence[Doc]) -> float:
    """Set b to the value with the best sentence F1 on these documents, and return that F1.

    The value nearest to 0 wins ties.
    """
    scored = [model.scored(doc.text) for doc in docs]
    marks = [Marked.from_doc(doc, model.table, model.lines) for doc in docs]
    gold = [np.flatnonzero(mark.sentence_ends[mark.text.origin + 1]) for mark in marks]
    best = (-1.0, 0.0)
    for bias in sorted(BIASES, key=abs):
        right = predicted = 0
        for each, ends in zip(scored, gold, strict=True):
            system = np.flatnonzero(model.decode(each, bias) == SENTENCE)
            predicted += len(system)
            right += len(np.intersect1d(_spans(ends), _spans(system)))
        f1 = 2 * right / max(1, predicted + sum(map(len, gold)))
        if f1 > best[0]:
            best = (f1, bias)
    model.bias = best[1]
    return best[0]


def _spans(ends: Ints) -> Ints:
    """One number per sentence, computed from its end and the previous end."""
    return ends * (1 << 31) + np.concatenate([[0], ends[:-1] + 1])[: len(ends)]
