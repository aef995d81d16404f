"""Features of sentences for polarity classification.

| feature | |
|---|---|
| words and word pairs | in lower case, each once; marked if they are in the scope of a negator |
| votes | the numbers of positive and negative words (0, 1, 2, more), reversed if negated; which is larger |
| marks | whether there is an exclamation mark, a question mark, a word in capitals |
| one | a constant |

The cascade adds the predictions of another model: p(d, y), p(d) and p(y) in ten bins each, the most probable value of
each of the three, and all pairs of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Keys
from weft.features.index import FeatureIndex
from weft.hashing import hash_string, hash_strings, join
from weft.kernel import kernel
from weft.learn.chains.model import FeatureRows
from weft.learn.protocol import Indices
from weft.lexical.polarity_lexicon import NEGATORS, PolarityLexicon, ends_scope, is_negator
from weft.text.conventions.polarity import POLARITIES
from weft.text.doc import Doc

MOST = 3  # votes that are counted separately
BUCKETS = 10
_MARKS = ("one", "exclamation", "question", "capitals")
_VOTES = ("vote none", "vote pos", "vote neg", "vote tie")
_NAMES = (*_MARKS, *(f"{sign} {count}" for sign in ("positive", "negative") for count in range(MOST + 1)), *_VOTES)
_WORD, _PAIR = (np.uint64(hash_string(name)) for name in ("sentiment word", "sentiment pair"))
_DERIVED = np.uint64(0xCA5CADE) << np.uint64(32)
_VOTE = np.array([(0, 0, 0.5), (1, 0, 0), (0, 1, 0), (0, 0, 0)], dtype=np.float64)  # of POLARITIES for each of _VOTES


class SentenceFeatures:
    """Features of sentences as rows of weights; only features that occur at least `least` times in training have rows.

    >>> features = SentenceFeatures(PolarityLexicon({"slow": -1}))
    >>> doc = Doc.from_words([["Not", "slow", "!"]])
    >>> known = features.learn([doc], least=1)
    >>> len(features), features.rows([doc]).rows.tolist()
    (10, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """

    def __init__(
        self, lexicon: PolarityLexicon | None = None, pairs: bool = True, negators: Iterable[str] = NEGATORS
    ) -> None:
        self.lexicon = lexicon if lexicon is not None else PolarityLexicon()
        self.pairs, self.negators = pairs, tuple(negators)
        self.index = FeatureIndex()
        self._names = hash_strings([f"sentiment {name}" for name in _NAMES])

    def __len__(self) -> int:
        return len(self.index)

    def learn(self, docs: Sequence[Doc], least: int = 2, extra: Keys | None = None) -> tuple[Keys, Indices]:
        """Index the features of documents; rare words are dropped, votes, marks and `extra` keys are always kept.

        Returns the documents' keys, which can be passed to `rows` to avoid computing them twice.
        """
        index, known = FeatureIndex(), self.keys(docs)
        index.add(known[0])
        kept = (index.counts >= least) | np.isin(index.keys(), self._names)
        self.index = index.select(kept)
        if extra is not None:
            self.index.add(np.unique(extra))
        return known

    def rows(
        self, docs: Sequence[Doc], extra: Keys | None = None, known: tuple[Keys, Indices] | None = None
    ) -> FeatureRows:
        """The features of all sentences of documents; `extra[sentence, k]` are additional keys."""
        keys, offsets = self.keys(docs) if known is None else known
        if extra is not None and extra.size:
            sentence = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
            places = np.concatenate([sentence, np.repeat(np.arange(len(extra)), extra.shape[1])])
            order = np.argsort(places, kind="stable")
            keys = np.concatenate([keys, extra.ravel()])[order]
            offsets = offsets + extra.shape[1] * np.arange(len(offsets))
        return FeatureRows(self.index.rows(keys), offsets, np.zeros(0))

    def signs(self, strength: float) -> Floats:
        """Initial weights [feature, polarity] from votes and words of that polarity."""
        weights = np.zeros((len(self.index), len(POLARITIES)))
        rows = self.index.rows(self._names[-len(_VOTES) :])
        for row, votes in zip(rows.tolist(), _VOTE, strict=True):
            if row >= 0:
                weights[row] = strength * votes
        return weights

    def votes(self, docs: Sequence[Doc]) -> NDArray[np.int64]:
        """The sum of the signs of each sentence's words."""
        types, kinds, _ = self._types(docs)
        offsets = sentence_offsets(docs)
        out = np.zeros((len(offsets) - 1, 2), dtype=np.int64)
        _count_votes(types, offsets, kinds[0], kinds[1], kinds[2], out)
        return np.asarray(out[:, 0] - out[:, 1])

    def keys(self, docs: Sequence[Doc]) -> tuple[Keys, Indices]:
        """The feature keys of all sentences, and the offsets of sentences."""
        types, kinds, hashes = self._types(docs)
        offsets = sentence_offsets(docs)
        n, words = len(offsets) - 1, len(types)
        keys = np.empty((2 if self.pairs else 1) * words + 7 * n, dtype=np.uint64)
        starts = np.zeros(n + 1, dtype=np.int64)
        votes = np.zeros((n, 2), dtype=np.int64)
        _count_votes(types, offsets, kinds[0], kinds[1], kinds[2], votes)
        _write_keys(types, offsets, kinds[1], kinds[2], kinds[3], hashes, self._names, votes, self.pairs, keys, starts)
        return keys[: starts[-1]], starts

    def _types(self, docs: Sequence[Doc]) -> tuple[Indices, NDArray[np.int8], Keys]:
        """The type of every word; the sign of every type, whether it negates, ends a scope or is a mark; and its
        key."""
        numbers: dict[str, int] = {}
        forms = [doc.column("form") for doc in docs]
        size = sum(map(len, forms))
        flat = chain.from_iterable(forms)
        types = np.fromiter((numbers.setdefault(form, len(numbers)) for form in flat), dtype=np.int64, count=size)
        kinds = np.zeros((4, len(numbers)), dtype=np.int8)
        negators = frozenset(self.negators)
        for form, i in numbers.items():
            mark = 1 if "!" in form else 2 if "?" in form else 3 if len(form) > 1 and form.isupper() else 0
            kinds[:, i] = self.lexicon.sign(form), is_negator(form, negators), ends_scope(form), mark
        return types, kinds, hash_strings([form.lower() for form in numbers])


def sentence_offsets(docs: Sequence[Doc]) -> Indices:
    """Word offsets of the sentences of all documents."""
    sizes = [np.diff(doc.sentence_offsets).astype(np.int64) for doc in docs]
    return np.concatenate([[0], np.cumsum(np.concatenate(sizes) if sizes else np.zeros(0, dtype=np.int64))])


def document_offsets(docs: Sequence[Doc]) -> Indices:
    """Sentence offsets of the documents."""
    return np.concatenate([[0], np.cumsum([doc.n_sentences for doc in docs], dtype=np.int64)])


def derived_keys(label: Floats, document: Floats) -> Keys:
    """Keys of a model's predictions for sentences: `label[N, D, L]` is p(d, y_i), `document[N, D]` p(d) of their
    document.

    >>> derived_keys(np.full((1, 3, 3), 1 / 9), np.full((1, 3), 1 / 3)).shape
    (1, 171)
    """
    n, of_documents, from_labels = label.shape
    sentence = label.sum(axis=1)
    joint = label.reshape(n, -1)
    probabilities = np.concatenate([joint, document, sentence], axis=1)
    buckets = np.minimum((probabilities * BUCKETS).astype(np.int64), BUCKETS - 1)
    winners = np.stack([joint.argmax(axis=1), document.argmax(axis=1), sentence.argmax(axis=1)], axis=1)
    values = np.concatenate([buckets, winners], axis=1)
    base = max(BUCKETS, of_documents * from_labels)
    single = np.arange(values.shape[1]) * base + values + 1
    one, two = np.triu_indices(values.shape[1], k=1)
    everything = np.concatenate([single, single[:, one] * (base * values.shape[1] + 1) + single[:, two]], axis=1)
    return np.asarray(everything.astype(np.uint64) | _DERIVED)


@kernel
def _count_votes(
    types: Indices,
    offsets: Indices,
    sign: NDArray[np.int8],
    negates: NDArray[np.int8],
    ends: NDArray[np.int8],
    votes: Indices,
) -> None:
    for s in range(len(offsets) - 1):
        inside = False
        for i in range(offsets[s], offsets[s + 1]):
            word = types[i]
            if ends[word]:
                inside = False
            value = -sign[word] if inside else sign[word]
            if value > 0:
                votes[s, 0] += 1
            elif value < 0:
                votes[s, 1] += 1
            inside = inside or negates[word] != 0


@kernel
def _write_keys(
    types: Indices,
    offsets: Indices,
    negates: NDArray[np.int8],
    ends: NDArray[np.int8],
    marks: NDArray[np.int8],
    hashes: Keys,
    names: Keys,
    votes: Indices,
    pairs: bool,
    keys: Keys,
    starts: Indices,
) -> None:
    at = 0
    for s in range(len(offsets) - 1):
        first = at
        keys[at] = names[0]
        at += 1
        seen = np.zeros(4, dtype=np.bool_)
        inside = False
        before = np.uint64(0)
        for i in range(offsets[s], offsets[s + 1]):
            word = types[i]
            if ends[word]:
                inside = False
            flag = np.uint64(1) if inside else np.uint64(0)
            here = hashes[word]
            at = _add_once(join(join(_WORD, here), flag), keys, first, at)
            if pairs and i > offsets[s]:
                at = _add_once(join(join(join(_PAIR, before), here), flag), keys, first, at)
            before = here
            seen[marks[word]] = True
            inside = inside or negates[word] != 0
        for mark in range(1, 4):
            if seen[mark]:
                keys[at] = names[mark]
                at += 1
        good, bad = votes[s, 0], votes[s, 1]
        keys[at] = names[4 + min(good, MOST)]
        keys[at + 1] = names[4 + MOST + 1 + min(bad, MOST)]
        kind = 1 if good > bad else 2 if bad > good else 3 if good else 0
        keys[at + 2] = names[4 + 2 * (MOST + 1) + kind]
        at += 3
        starts[s + 1] = at


@kernel
def _add_once(key: np.uint64, keys: Keys, first: int, at: int) -> int:
    """Add a key unless the sentence already has it."""
    for k in range(first, at):
        if keys[k] == key:
            return at
    keys[at] = key
    return at + 1
