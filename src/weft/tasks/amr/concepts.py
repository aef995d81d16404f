"""Concept identification: a sentence is cut into spans, each of which stands for a piece of the graph or for nothing.

    max over segmentations of  sum over spans of  w . f(span, piece),    f = 0 for nothing

The candidates of a span (`clex`) are the pieces it was aligned with in training, one for a named entity and one for a
date. The features of the paper are p(piece | words), the number of words, whether the span is a named entity, and a
bias. Further features and candidates, which the paper has not, can be switched off (`PAPER`): words, lemmas and tags
around a span together with its piece; for words that were not seen in training, the pieces of their lemma, or the
lemma itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from weft.arrays import Floats
from weft.infer.chains.semimarkov import SemiMarkov
from weft.learn.online.sparse_adagrad import SparseAdaGrad
from weft.tasks.amr.fragments import Piece, date_entity, named_entity

#: Types of named entities where training data do not tell.
ENTITY_TYPES = {"PER": "person", "ORG": "organization", "LOC": "city", "GPE": "country", "MISC": "thing"}
_LONGEST_DATE = 6
_CONTENT = {"NOUN": "{}", "VERB": "{}-01", "ADJ": "{}", "ADV": "{}", "NUM": "{}", "INTJ": "{}", "PRON": "{}"}


class Sentence(NamedTuple):
    """What the parser sees of a sentence; heads count from 1, 0 is the root, -1 not known."""

    words: list[str]
    lemmas: list[str]
    tags: list[str]
    heads: list[int]
    relations: list[str]
    entities: dict[tuple[int, int], str]


class Candidate(NamedTuple):
    """A piece for a span, where it comes from, and its relative frequency."""

    piece: Piece
    source: str  # table, lemma, unseen, entity or date
    frequency: float


class Choice(NamedTuple):
    """A span that stands for a piece."""

    start: int
    end: int
    piece: Piece


@dataclass
class ConceptOptions:
    """What the concept stage uses beyond the paper, and which rules it has."""

    rich: bool = True
    backoff: bool = True
    rules: bool = True
    passes: int = 10
    hash_bits: int = 18


@dataclass
class ConceptModel:
    """Pieces by words, pieces by lemmas, types of entities, and weights."""

    options: ConceptOptions
    table: dict[str, list[tuple[Piece, float]]] = field(default_factory=dict)
    by_lemma: dict[str, list[tuple[Piece, float]]] = field(default_factory=dict)
    entity_types: dict[str, str] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)  # words of the training text
    wiki: bool = False
    longest: int = 1
    weights: Floats = field(default_factory=lambda: np.zeros(1))

    @classmethod
    def fit(
        cls, sentences: Sequence[Sentence], gold: Sequence[Sequence[Choice]], options: ConceptOptions
    ) -> ConceptModel:
        """Count pieces, then learn weights by the perceptron with AdaGrad."""
        model = cls(options)
        model._count(sentences, gold)
        learner = SparseAdaGrad(1 << options.hash_bits)
        model.weights = learner.weights
        for _ in range(options.passes):
            for sentence, choices in zip(sentences, gold, strict=True):
                predicted = model.decode(sentence)
                wrong = [(one, -1.0) for one in choices if one not in predicted]
                wrong += [(one, 1.0) for one in predicted if one not in choices]
                rows: list[int] = []
                values: list[float] = []
                for choice, sign in wrong:
                    for row, value in model._features(
                        sentence, choice.start, choice.end, model._known(sentence, choice)
                    ):
                        rows.append(row)
                        values.append(sign * value)
                if rows:
                    learner.update(rows, values)
                else:
                    learner.skip()
        model.weights = learner.averaged()
        return model

    def _count(self, sentences: Sequence[Sentence], gold: Sequence[Sequence[Choice]]) -> None:
        pieces: dict[str, Counter[Piece]] = {}
        by_lemma: dict[str, Counter[Piece]] = {}
        types: dict[str, Counter[str]] = {}
        named = wiki = 0
        for sentence, choices in zip(sentences, gold, strict=True):
            self.known.update(map(str.lower, sentence.words))
            for start, end, piece in choices:
                pieces.setdefault(_key(sentence.words, start, end), Counter())[piece] += 1
                self.longest = max(self.longest, end - start)
                if end == start + 1:
                    by_lemma.setdefault(_lemma_key(sentence, start), Counter())[piece] += 1
                if "name" in piece.labels[1:]:
                    named += 1
                    wiki += any(edge.role == "wiki" for edge in piece.edges)
                    if (start, end) in sentence.entities:
                        types.setdefault(sentence.entities[start, end], Counter())[piece.labels[0]] += 1
        self.wiki = 2 * wiki > named
        self.entity_types = {kind: counts.most_common(1)[0][0] for kind, counts in types.items()}
        seen: Counter[str] = Counter()
        seen_lemmas: Counter[str] = Counter()
        for sentence in sentences:
            for start in range(len(sentence.words)):
                seen_lemmas[_lemma_key(sentence, start)] += 1
                for end in range(start + 1, min(start + self.longest, len(sentence.words)) + 1):
                    key = _key(sentence.words, start, end)
                    if key in pieces:
                        seen[key] += 1
        self.table = {key: _frequencies(counts, seen[key]) for key, counts in pieces.items()}
        self.by_lemma = {key: _frequencies(counts, seen_lemmas[key]) for key, counts in by_lemma.items()}

    def candidates(self, sentence: Sentence, start: int, end: int) -> Iterator[Candidate]:
        """The pieces that a span may stand for, besides nothing."""
        words = sentence.words[start:end]
        for piece, frequency in self.table.get(_key(sentence.words, start, end), ()):
            yield Candidate(piece, "table", frequency)
        if self.options.rules:
            kind = sentence.entities.get((start, end))
            if kind is not None:
                name = self.entity_types.get(kind, ENTITY_TYPES.get(kind, "thing"))
                yield Candidate(named_entity(_clean(words), name, self.wiki), "entity", 0.0)
            date = date_entity(words)
            if date is not None:
                yield Candidate(date, "date", 0.0)
        if self.options.backoff and end == start + 1 and words[0].lower() not in self.known:
            listed = self.by_lemma.get(_lemma_key(sentence, start), ())
            for piece, frequency in listed:
                yield Candidate(piece, "lemma", frequency)
            shape = _CONTENT.get(sentence.tags[start])
            lemma = sentence.lemmas[start].lower()
            if not listed and shape is not None and lemma.replace("-", "").isalnum():
                if sentence.tags[start] == "NUM":
                    yield Candidate(Piece((lemma,), (True,), ()), "unseen", 0.0)
                else:
                    yield Candidate(Piece.concept(shape.format(lemma)), "unseen", 0.0)

    def decode(self, sentence: Sentence) -> list[Choice]:
        """The best segmentation, without the spans that stand for nothing."""
        n = len(sentence.words)
        if not n:
            return []
        reach = max([self.longest, _LONGEST_DATE, *(end - start for start, end in sentence.entities)])
        depth = min(reach, n)
        scores = np.full((n, depth, 2), -np.inf)
        scores[:, 0, 0] = 0.0
        best: dict[tuple[int, int], Piece] = {}
        for start in range(n):
            for end in range(start + 1, min(start + depth, n) + 1):
                for candidate in self.candidates(sentence, start, end):
                    features = self._features(sentence, start, end, candidate)
                    score = sum(self.weights[row] * value for row, value in features)
                    if score > scores[start, end - start - 1, 1]:
                        scores[start, end - start - 1, 1] = score
                        best[start, end] = candidate.piece
        chain = SemiMarkov(scores, np.zeros((2, 2)), [0, n])
        return [
            Choice(start, end, best[start, end])
            for _, start, end, label in chain.segments(chain.best()).tolist()
            if label == 1
        ]

    def _known(self, sentence: Sentence, choice: Choice) -> Candidate:
        """The candidate that a choice is; of equal pieces the first counts."""
        for candidate in self.candidates(sentence, choice.start, choice.end):
            if candidate.piece == choice.piece:
                return candidate
        return Candidate(choice.piece, "table", 0.0)

    def _features(self, sentence: Sentence, start: int, end: int, candidate: Candidate) -> list[tuple[int, float]]:
        """Rows of weights and values of a span that stands for a piece."""
        ner = (start, end) in sentence.entities
        row = self._row
        found = [(row("p"), candidate.frequency), (row("length"), float(end - start)), (row("bias"), 1.0)]
        if ner:
            found.append((row("ner"), 1.0))
        if not self.options.rich:
            return found
        root, size = candidate.piece.labels[0], len(candidate.piece.labels)
        text = "+".join(candidate.piece.labels) if candidate.source in ("table", "lemma") else candidate.source
        words, tags = sentence.words, sentence.tags
        word = _key(words, start, end)
        tag = "+".join(tags[start:end])
        before, after = (words[start - 1].lower() if start else "<"), (words[end].lower() if end < len(words) else ">")
        tag_before, tag_after = (tags[start - 1] if start else "<"), (tags[end] if end < len(words) else ">")
        relation = sentence.relations[start]
        keys = [
            f"source {candidate.source}", f"source {candidate.source} {tag}", f"source {candidate.source} {size}",
            f"piece {text}", f"word {word} {text}", f"tag {tag} {text}", f"relation {relation} {text}",
            f"before {before} {text}", f"after {after} {text}", f"tags {tag_before} {tag_after} {text}",
            f"word only {word}", f"tag only {tag}", f"relation only {relation}",
            f"tags only {tag_before} {tag} {tag_after}",
            f"before only {before} {tag}", f"after only {after} {tag}", f"word tag {word} {tag}",
            f"word relation {word} {relation}", f"root {root[-3:]} {tag}", f"first {start == 0} {text}",
        ]  # fmt: skip
        found += [(row(key), 1.0) for key in keys]
        if candidate.frequency:
            found.append((row("log p"), float(np.log(candidate.frequency))))
        return found

    def _row(self, key: str) -> int:
        return crc32(key.encode()) & ((1 << self.options.hash_bits) - 1)

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The header and arrays of a model file."""
        pieces: dict[Piece, int] = {}
        for rows in (*self.table.values(), *self.by_lemma.values()):
            for piece, _ in rows:
                pieces.setdefault(piece, len(pieces))
        tables = [
            {key: [[pieces[piece], round(frequency, 6)] for piece, frequency in rows] for key, rows in table.items()}
            for table in (self.table, self.by_lemma)
        ]
        header = {
            "pieces": [piece.row() for piece in pieces], "table": tables[0], "by_lemma": tables[1],
            "entity_types": self.entity_types, "known": sorted(self.known), "wiki": self.wiki, "longest": self.longest,
        }  # fmt: skip
        used = np.flatnonzero(self.weights)
        arrays = {"rows": used.astype(np.uint32), "weights": self.weights[used].astype(np.float32)}
        return header, arrays


def _frequencies(counts: Counter[Piece], total: int) -> list[tuple[Piece, float]]:
    return [(piece, count / max(total, count)) for piece, count in counts.most_common()]


def _key(words: Sequence[str], start: int, end: int) -> str:
    return " ".join(words[start:end]).lower()


def _lemma_key(sentence: Sentence, at: int) -> str:
    return f"{sentence.lemmas[at].lower()} {sentence.tags[at]}"


def _clean(words: Sequence[str]) -> list[str]:
    """Words of a name without what would end a quotation."""
    return [word.replace('"', "").replace("\\", "") or "_" for word in words]
