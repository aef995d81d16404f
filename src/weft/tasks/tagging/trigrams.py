"""A tagger by a second-order hidden Markov model, with suffixes for unknown words (TnT, Brants 2000).

    tags = argmax  prod_i  p(t_i | t_i-2, t_i-1) p(w_i | t_i)
    p(t_3 | t_1, t_2) = l_1 f(t_3) + l_2 f(t_3 | t_2) + l_3 f(t_3 | t_1, t_2)        f: relative frequencies

The weights l come from deleted interpolation: every trigram votes for the order that predicts it best when it is left
out. A known word may have the tags it was seen with. The tags of an unknown word come from words with the same suffix,
with longer suffixes smoothed by shorter ones,

    p(t | suffix of m letters) = (f(t | suffix of m letters) + theta p(t | suffix of m - 1 letters)) / (1 + theta)

where theta is the standard deviation of the tag probabilities. Suffixes are counted on rare words, separately for
capitalized and other words.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np

from weft.arrays import Floats, Ints
from weft.declared import Array, Stored
from weft.errors import ConfigError, DataError, ModelError
from weft.features.extract import sentence_offsets
from weft.features.representations.counts import strings_of_bytes, strings_to_bytes
from weft.headers import Many, Record, Text
from weft.infer.chains.trigrams import best_trigrams
from weft.pipeline.component import Asked, State, Stopwatch, Trainable
from weft.pipeline.settings import Settings, option
from weft.storage import Arrays
from weft.text.doc import Doc

_NEVER = -1e30  # log probability of impossible events; finite, so that decoding always finds a path
#: Tags of an unknown word less probable than this share of its best tag are pruned.
_WORTH = 1e-3
HEADER = Record(tags=Many(Text(), least=1, distinct=True))
ARRAYS = (
    Array("pairs", "int32", ("pairs", 3)),
    Array("trigrams", "int64", ("seen",), below="trigrams", rising=True),
    Array("counts", "int64", ("seen",), below=2**40),
)
#: Most tags: their trigrams are counted in a table.
MOST_TAGS = 700


@dataclass
class TrigramSettings(Settings):
    """Options of the tagger."""

    column: str = option("upos", "Column to learn and to write.")
    suffix: int = option(10, "Longest suffix that predicts the tags of an unknown word.")
    rare: int = option(10, "Learn suffixes from words that occur at most this often.")
    seed: int = option(0, "Random seed; training draws nothing at random.", hidden=True)
    workers: int = option(1, "Number of threads; training uses one.", hidden=True)

    def check(self) -> None:
        """Check the values."""
        for name in ("suffix", "rare"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")


class TrigramTagger(Trainable):
    """A trigram tagger.

    >>> doc = Doc.from_words([["dogs", "bark"], ["cats", "bark"]], upos=[["NOUN", "VERB"], ["NOUN", "VERB"]])
    >>> tagger = TrigramTagger()
    >>> _ = tagger.fit([doc])
    >>> new = Doc.from_words([["hats", "bark"]])
    >>> tagger([new])
    >>> new.column("upos")
    ['NOUN', 'VERB']
    """

    task = "trigram-tagger"
    settings_class = TrigramSettings
    settings: TrigramSettings
    requires = ("tokens",)

    def __init__(self, settings: TrigramSettings | None = None) -> None:
        super().__init__(settings)
        self.provides = (self.settings.column,)
        self.tags: list[str] = []
        self._words: dict[str, dict[int, int]] = {}  # word: tag -> how often
        self._trigrams: Ints = np.zeros((0, 0, 0), dtype=np.int64)

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        watch = Stopwatch()
        docs = [doc for doc in train if doc.n_words]
        column = self.settings.column
        if not docs or not all(doc.has(column) for doc in docs):
            raise DataError(
                f"the training data has no {column}; set column=NAME" if docs else "the documents have no words"
            )
        tags = [tag for doc in docs for tag in doc.column(column)]
        self.tags = sorted(set(tags))
        number = {tag: i for i, tag in enumerate(self.tags)}
        labels = [number[tag] for tag in tags]
        seen: defaultdict[str, Counter[int]] = defaultdict(Counter)
        for form, label in zip((form for doc in docs for form in doc.column("form")), labels, strict=True):
            seen[form][label] += 1
        self._words = {form: dict(counts) for form, counts in seen.items()}
        edge = len(self.tags)
        self._trigrams = np.zeros((edge + 1,) * 3, dtype=np.int64)
        for first, end in pairwise(sentence_offsets(docs).tolist()):
            row = np.array([edge, edge, *labels[first:end], edge])
            np.add.at(self._trigrams, (row[:-2], row[1:-1], row[2:]), 1)
        self._derive()
        report: dict[str, Any] = {
            "training": {
                "sentences": sum(doc.n_sentences for doc in docs), "words": len(tags), "tags": edge,
                "weights_of_orders": [round(float(each), 4) for each in self.orders],
                **watch.seconds(),
            }
        }  # fmt: skip
        if dev is not None:
            held_out = [doc for doc in dev if doc.n_words]
            gold = [tag for doc in held_out for tag in doc.column(column)]
            right = [self.tags[i] == tag for i, tag in zip(self._best(held_out).tolist(), gold, strict=True)]
            report["scores"] = {"dev accuracy": float(np.mean(right))}
        return report

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        predicted = self._best(docs).tolist()
        first = 0
        for doc in docs:
            doc.set_column(self.settings.column, [self.tags[i] for i in predicted[first : first + doc.n_words]])
            first += doc.n_words

    def candidates(self, form: str) -> tuple[Ints, Floats]:
        """The tags that a word may have, and log p(word | tag) up to a constant per word."""
        known = self._words.get(form)
        if known is not None:
            tags = np.array(sorted(known), dtype=np.int64)
            return tags, np.log([known[tag] for tag in tags.tolist()]) - np.log(self._frequency[tags])
        p = self._share
        for length in range(1, self.settings.suffix + 1):
            counts = self._suffixes.get((form[:1].isupper(), form[-length:])) if length <= len(form) else None
            if counts is None:
                break
            p = (counts / counts.sum() + self._theta * p) / (1 + self._theta)
        tags = np.flatnonzero(p >= _WORTH * p.max())
        return tags, np.log(p[tags]) - np.log(self._share[tags])

    def state(self) -> State:
        self.trained(self.tags or None)
        words = sorted(self._words)
        pairs = [(i, tag, count) for i, word in enumerate(words) for tag, count in sorted(self._words[word].items())]
        places = np.flatnonzero(self._trigrams)
        arrays: Arrays = {
            "words": strings_to_bytes(words), "pairs": np.array(pairs, dtype=np.int32),
            "trigrams": places.astype(np.int64), "counts": self._trigrams.ravel()[places],
        }  # fmt: skip
        return {"settings": self.saved_settings(), "tags": self.tags}, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> Self:
        tagger = cls(TrigramSettings.from_saved(header["settings"]))
        HEADER.check(header)
        tagger.tags = header["tags"]
        n = len(tagger.tags)
        if n > MOST_TAGS:
            raise ModelError(f"the model has {n} tags, a trigram tagger at most {MOST_TAGS}: the model file is damaged")
        stored = Stored.of(arrays)
        words = strings_of_bytes(stored.take(Array("words", "uint8", ("*",)))["words"])
        arrays = stored.take(*ARRAYS, trigrams=(n + 1) ** 3)
        seen = arrays["pairs"].max(axis=0, initial=-1)
        if seen[0] >= len(words) or seen[1] >= n or set(arrays["pairs"][:, 0].tolist()) != set(range(len(words))):
            raise ModelError("the tags of words do not fit the words and the tags: the model file is damaged")
        tagger._words = {word: {} for word in words}
        for word, tag, count in arrays["pairs"].tolist():
            tagger._words[words[word]][tag] = count
        tagger._trigrams = np.zeros((len(tagger.tags) + 1,) * 3, dtype=np.int64)
        tagger._trigrams.ravel()[arrays["trigrams"]] = arrays["counts"]
        tagger._derive()
        return tagger

    def _best(self, docs: Sequence[Doc]) -> Ints:
        self.trained(self.tags or None)
        known: dict[str, tuple[Ints, Floats]] = {}
        forms = [form for doc in docs for form in doc.column("form")]
        for form in dict.fromkeys(forms):
            known[form] = self.candidates(form)
        lists = [known[form] for form in forms]
        slots = np.concatenate([[0], np.cumsum([len(tags) for tags, _ in lists], dtype=np.int64)])
        empty: list[Any] = [np.zeros(0, dtype=np.int64)]
        labels = np.concatenate(empty + [tags for tags, _ in lists]).astype(np.int64)
        node = np.concatenate([np.zeros(0), *(scores for _, scores in lists)])
        offsets = sentence_offsets(docs)
        offsets = offsets if int(offsets[-1]) == len(forms) else np.array([0, len(forms)])
        return best_trigrams(labels, node, slots, offsets, self._transitions)[0]

    def _derive(self) -> None:
        """Compute probabilities from counts."""
        counts = self._trigrams.astype(np.float64)
        self.orders = deleted_interpolation(counts)
        unigrams, bigrams = counts.sum(axis=(0, 1)), counts.sum(axis=0)
        p = self.orders[0] * _shares(unigrams)[None, None, :]
        p = p + self.orders[1] * _shares(bigrams)[None, :, :] + self.orders[2] * _shares(counts)
        self._transitions = np.where(p > 0, np.log(np.where(p > 0, p, 1.0)), _NEVER)
        n = len(self.tags)
        self._frequency = np.zeros(n)
        for tags in self._words.values():
            for tag, count in tags.items():
                self._frequency[tag] += count
        self._share = self._frequency / self._frequency.sum()
        self._theta = float(np.std(self._share, ddof=1)) if n > 1 else 1.0
        self._suffixes: dict[tuple[bool, str], Floats] = {}
        for word, tags in self._words.items():
            if sum(tags.values()) <= self.settings.rare:
                for length in range(1, min(self.settings.suffix, len(word)) + 1):
                    suffix_counts = self._suffixes.setdefault((word[:1].isupper(), word[-length:]), np.zeros(n))
                    for tag, count in tags.items():
                        suffix_counts[tag] += count


def deleted_interpolation(counts: Floats) -> Floats:
    """Weights of unigrams, bigrams and trigrams from counts `[t_1, t_2, t_3]`, leaving out each trigram in turn.

    >>> counts = np.zeros((2, 2, 2))
    >>> counts[0, 1, 0], counts[1, 1, 1] = 5, 5  # two tags back tells all, one tag back nothing
    >>> deleted_interpolation(counts).tolist()
    [0.0, 0.0, 1.0]
    """
    bigrams = counts.sum(axis=0)
    context_2, context_1 = counts.sum(axis=2, keepdims=True), bigrams.sum(axis=1)[None, :, None]
    unigrams, total = bigrams.sum(axis=0)[None, None, :], counts.sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        votes = np.stack([
            np.broadcast_to((unigrams - 1) / (total - 1), counts.shape),
            np.broadcast_to((bigrams[None] - 1) / (context_1 - 1), counts.shape),
            (counts - 1) / (context_2 - 1),
        ])  # fmt: skip
    votes = np.where(np.isfinite(votes), votes, 0.0)
    # The longest history wins ties.
    winner = 2 - np.argmax(votes[::-1], axis=0)
    weights = np.array([counts[winner == order].sum() for order in range(3)])
    normalized: Floats = weights / max(1.0, weights.sum())
    return normalized


def _shares(counts: Floats) -> Floats:
    total = counts.sum(axis=-1, keepdims=True)
    found: Floats = counts / np.where(total > 0, total, 1.0)
    return found
