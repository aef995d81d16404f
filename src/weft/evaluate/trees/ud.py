"""Universal Dependencies metrics as defined by the CoNLL 2018 shared task.

Gold and system must have the same characters apart from whitespace; character offsets locate everything.

    Tokens, Sentences   a system item is correct if gold has one with the same first and last character
    Words               a system word is correct if it is aligned to a gold word
    UPOS ... LAS        an aligned word is correct if the column(s) agree; heads agree if they are aligned
    CLAS, MLAS, BLEX    the same for content words only: head and relation, with tags, features and function words
                        (MLAS) or with lemmas (BLEX)

Precision counts all system items, recall all gold items, aligned accuracy the aligned ones. Relations are compared up
to the colon; only universal features are compared; and a gold lemma `_` accepts any lemma.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from weft.arrays import Ints, Mask
from weft.errors import WeftError
from weft.evaluate.counts import Counts, Score, sum_by_unit
from weft.evaluate.trees.tokenizations import Words, align_words
from weft.text import Doc

METRICS = (
    "Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "AllTags", "Lemmas", "UAS", "LAS", "CLAS", "MLAS", "BLEX",
)  # fmt: skip

CONTENT_RELATIONS = frozenset((
    "nsubj", "obj", "iobj", "csubj", "ccomp", "xcomp", "obl", "vocative", "expl", "dislocated", "advcl", "advmod",
    "discourse", "nmod", "appos", "nummod", "acl", "amod", "conj", "fixed", "flat", "compound", "list", "parataxis",
    "orphan", "goeswith", "reparandum", "root", "dep",
))  # fmt: skip
FUNCTION_RELATIONS = frozenset(("aux", "cop", "mark", "det", "clf", "case", "cc"))
UNIVERSAL_FEATURES = frozenset((
    "PronType", "NumType", "Poss", "Reflex", "Foreign", "Abbr", "Gender", "Animacy", "Number", "Case", "Definite",
    "Degree", "VerbForm", "Mood", "Tense", "Aspect", "Voice", "Evident", "Polarity", "Person", "Polite",
))  # fmt: skip

_ROOT, _NOT_SET, _NOT_ALIGNED = -1, -2, -3


@dataclass(frozen=True)
class UDReport:
    """Counts of every metric per gold sentence; `right` says for every gold word whether a metric counts it as correct.

    A system item counts in the gold sentence that contains its first character. `right` covers the words that the
    metric considers: all of them, or the content words. Tree metrics are included if the gold standard has heads.
    """

    counts: dict[str, Counts]
    right: dict[str, Mask]

    @property
    def scores(self) -> dict[str, Score]:
        """The totals of every metric."""
        return {name: counts.total() for name, counts in self.counts.items()}

    def __str__(self) -> str:
        lines = ["Metric     | Precision |    Recall |  F1 Score | AligndAcc"]
        for name, score in self.scores.items():
            aligned = "" if score.aligned_accuracy is None else f"{100 * score.aligned_accuracy:.2f}"
            values = (f"{100 * value:9.2f}" for value in (score.precision, score.recall, score.f1))
            lines.append(f"{name:<10} | {' | '.join(values)} | {aligned:>9}")
        return "\n".join(lines)


def evaluate_ud(gold: Iterable[Doc] | Doc, system: Iterable[Doc] | Doc) -> UDReport:
    """Score system documents against gold documents with all metrics of the CoNLL 2018 shared task.

    Only the order of the text matters: the system may split it into documents, sentences and words differently.

    >>> gold = Doc.from_words([["Dogs", "bark"]], upos=[["NOUN", "VERB"]], head=[[2, 0]], deprel=[["nsubj", "root"]])
    >>> system = Doc.from_words([["Dogs", "bark"]], upos=[["NOUN", "NOUN"]], head=[[0, 1]], deprel=[["root", "dep"]])
    >>> scores = evaluate_ud(gold, system).scores
    >>> scores["UPOS"].f1, scores["LAS"].f1, scores["Words"].f1
    (0.5, 0.0, 1.0)
    """
    one, other = _sides(gold, system)
    gold_word, system_word = align_words(one.words, other.words)
    return _Comparison(one, other, gold_word, system_word).report()


def words_in_common(gold: Iterable[Doc] | Doc, system: Iterable[Doc] | Doc) -> tuple[Ints, Ints]:
    """The aligned words of documents with the same text, numbered over all documents of a side.

    >>> gold, system = Doc.from_words([["can", "not", "go"]]), Doc.from_words([["cannot"], ["go"]])
    >>> [words.tolist() for words in words_in_common(gold, system)]
    [[2], [1]]
    """
    one, other = _sides(gold, system)
    return align_words(one.words, other.words)


def _sides(gold: Iterable[Doc] | Doc, system: Iterable[Doc] | Doc) -> tuple[_Side, _Side]:
    numbers = _Numbers()
    one, other = _read_side(gold, numbers), _read_side(system, numbers)
    _check_same_text(one, other)
    return one, other


class _Column(dict[str, int]):
    """Numbers for the strings of a column, equal for all strings that the definition treats as equal."""

    def __init__(self, canonical: Callable[[str], str]) -> None:
        super().__init__()
        self.canonical = canonical
        self.names: dict[str, int] = {}

    def __missing__(self, string: str) -> int:
        name = self.canonical(string) or "_"
        self[string] = number = self.names.setdefault(name, len(self.names))
        return number


class _Numbers:
    """The columns' numbers, common to both sides, and forms without whitespace."""

    def __init__(self) -> None:
        self.columns = {name: _Column(str) for name in ("upos", "xpos", "lemma")}
        self.columns["feats"] = _Column(_universal_features)
        self.columns["deprel"] = _Column(lambda relation: relation.split(":")[0])
        self._bare: dict[str, str] = {}

    def bare(self, form: str) -> str:
        """A form without whitespace."""
        if form not in self._bare:
            self._bare[form] = "".join(c for c in form if c != " " and unicodedata.category(c) != "Zs")
        return self._bare[form]


def _universal_features(feats: str) -> str:
    return "|".join(sorted(feat for feat in feats.split("|") if feat.split("=", 1)[0] in UNIVERSAL_FEATURES))


@dataclass
class _Side:
    """All documents of one side as one text without whitespace."""

    text: str
    numbers: _Numbers
    words: Words
    token_start: Ints
    token_end: Ints
    sentence_start: Ints
    sentence_end: Ints
    word_sentence: Ints
    parent: Ints  # index of the head among all words
    columns: dict[str, Ints]
    has_heads: bool

    def is_relation(self, relations: frozenset[str]) -> Mask:
        column = self.numbers.columns["deprel"]
        return np.isin(self.columns["deprel"], [column.names[name] for name in relations if name in column.names])


def _read_side(docs: Iterable[Doc] | Doc, numbers: _Numbers) -> _Side:
    pieces: list[str] = []
    word_starts: list[Ints] = []
    word_ends: list[Ints] = []
    multiword: list[Mask] = []
    forms: list[str] = []
    token_ends: list[Ints] = []
    sentence_lengths: list[Ints] = []
    parents: list[Ints] = []
    columns: dict[str, list[int]] = {name: [] for name in numbers.columns}
    position, has_heads = 0, False
    for doc in [docs] if isinstance(docs, Doc) else docs:
        words_before = len(forms)
        if doc.n_words and doc.n_sentences == 0:
            raise WeftError(f"document {doc.id!r} has words but no sentences; UD metrics need both")
        text, bare = doc.text, numbers.bare
        bounds = zip(doc.token_start.tolist(), doc.token_end.tolist(), strict=True)
        tokens = [bare(text[start:end]) for start, end in bounds]
        pieces.extend(tokens)
        ends = position + np.cumsum([len(token) for token in tokens], dtype=np.int64)
        starts = np.concatenate([[position], ends[:-1]]) if tokens else ends
        position = int(ends[-1]) if tokens else position
        token_ends.append(ends)
        word_starts.append(starts[doc.word_token])
        word_ends.append(ends[doc.word_token])
        multiword.append(_in_multiword(doc))
        forms.extend(map(bare, doc.column("form")))
        lengths = np.diff(doc.sentence_offsets).astype(np.int64)
        sentence_lengths.append(lengths)
        parents.append(_parents(doc, lengths, words_before))
        has_heads |= doc.head is not None and bool((doc.head >= 0).any())
        for name, values in columns.items():
            values.extend(map(numbers.columns[name].__getitem__, doc.column(name)))
    nothing = np.zeros(0, dtype=np.int64)
    ends = np.concatenate([nothing, *token_ends])
    lengths = np.concatenate([nothing, *sentence_lengths])
    lengths = lengths[lengths > 0]
    last = np.cumsum(lengths) - 1
    words = Words(
        np.concatenate([nothing, *word_starts]),
        np.concatenate([nothing, *word_ends]),
        np.concatenate([np.zeros(0, dtype=np.bool_), *multiword]),
        forms,
    )
    return _Side(
        text="".join(pieces),
        numbers=numbers,
        words=words,
        token_start=np.concatenate([np.zeros(min(1, len(ends)), np.int64), ends[:-1]]),
        token_end=ends,
        sentence_start=words.start[last - lengths + 1],
        sentence_end=words.end[last],
        word_sentence=np.repeat(np.arange(len(lengths)), lengths),
        parent=np.concatenate([nothing, *parents]),
        columns={name: np.array(values, dtype=np.int64) for name, values in columns.items()},
        has_heads=has_heads,
    )


def _in_multiword(doc: Doc) -> Mask:
    inside = np.bincount(doc.word_token, minlength=len(doc.token_start))[doc.word_token] > 1
    for multiword in doc.multiwords:
        inside[multiword.first : multiword.end] = True
    return inside


def _parents(doc: Doc, lengths: Ints, before: int) -> Ints:
    if doc.head is None:
        return np.full(doc.n_words, _NOT_SET, dtype=np.int64)
    head = doc.head.astype(np.int64)
    beyond = head > np.repeat(lengths, lengths)
    if beyond.any():
        word = doc[int(np.argmax(beyond))]
        raise WeftError(
            f"word {word.number} ({word.form!r}) of sentence {word.sentence.index + 1} of document {doc.id!r} has head "
            f"{head[word.index]}, but the sentence has {len(word.sentence)} words; heads count from 1 inside a sentence"
        )
    first = np.repeat(doc.sentence_offsets[:-1].astype(np.int64), lengths)
    return np.where(head > 0, before + first + head - 1, np.where(head == 0, _ROOT, _NOT_SET))


def _check_same_text(gold: _Side, system: _Side) -> None:
    if gold.text == system.text:
        return
    shorter = min(len(gold.text), len(system.text))
    codes = [
        np.frombuffer(side.text[:shorter].encode("utf-32-le", "surrogatepass"), np.uint32) for side in (gold, system)
    ]
    differs = codes[0] != codes[1]
    place = int(np.argmax(differs)) if differs.any() else shorter
    sentence = int(np.searchsorted(gold.sentence_start, place, side="right"))
    shown = [side.text[max(0, place - 10) : place] + ">" + side.text[place : place + 10] for side in (gold, system)]
    raise WeftError(
        f"gold and system texts differ at character {place + 1}, whitespace not counted (gold sentence {sentence}): "
        f"gold has {shown[0]!r}, system has {shown[1]!r}. Both must annotate the same text"
    )


class _Comparison:
    """Two sides and their aligned words, compared metric by metric."""

    def __init__(self, gold: _Side, system: _Side, gold_word: Ints, system_word: Ints) -> None:
        self.gold, self.system = gold, system
        self.gold_word, self.system_word = gold_word, system_word
        self.n_sentences = len(gold.sentence_start)
        self.counts: dict[str, Counts] = {}
        self.right: dict[str, Mask] = {}

    def report(self) -> UDReport:
        gold, system = self.gold, self.system
        self._spans("Tokens", gold.token_start, gold.token_end, system.token_start, system.token_end)
        self._spans("Sentences", gold.sentence_start, gold.sentence_end, system.sentence_start, system.sentence_end)
        everywhere = np.ones(len(self.gold_word), dtype=np.bool_)
        tags, xpos, feats = (self._equal(name) for name in ("upos", "xpos", "feats"))
        unset = gold.numbers.columns["lemma"]["_"]
        lemmas = self._equal("lemma") | (gold.columns["lemma"][self.gold_word] == unset)
        self._words("Words", everywhere)
        self._words("UPOS", tags)
        self._words("XPOS", xpos)
        self._words("UFeats", feats)
        self._words("AllTags", tags & xpos & feats)
        self._words("Lemmas", lemmas)
        if gold.has_heads:
            heads = self._heads()
            arcs = heads & self._equal("deprel")
            content = gold.is_relation(CONTENT_RELATIONS), system.is_relation(CONTENT_RELATIONS)
            self._words("UAS", heads)
            self._words("LAS", arcs)
            self._words("CLAS", arcs, content)
            self._words("MLAS", arcs & tags & feats & self._function_words(arcs & tags & feats), content)
            self._words("BLEX", arcs & lemmas, content)
        return UDReport({name: self.counts[name] for name in METRICS if name in self.counts}, self.right)

    def _equal(self, column: str) -> Mask:
        return self.gold.columns[column][self.gold_word] == self.system.columns[column][self.system_word]

    def _heads(self) -> Mask:
        """Whether the heads of aligned words are aligned, or both are roots; a missing head is wrong."""
        gold_of = np.full(len(self.system.parent) + 3, _NOT_ALIGNED, dtype=np.int64)
        gold_of[self.system_word] = self.gold_word
        gold_of[_ROOT] = _ROOT
        return self.gold.parent[self.gold_word] == gold_of[self.system.parent[self.system_word]]

    def _function_words(self, equal: Mask) -> Mask:
        """Whether the function words attached to aligned words agree; `equal`: head, relation and tags do.

        Alignment preserves order, so the lists agree if both are as long as the number of equal pairs.
        """
        gold, system = self.gold, self.system
        ours, theirs = gold.is_relation(FUNCTION_RELATIONS), system.is_relation(FUNCTION_RELATIONS)
        pair = equal & ours[self.gold_word] & theirs[self.system_word]
        in_gold = _count_children(gold.parent[ours], len(gold.parent))[self.gold_word]
        in_system = _count_children(system.parent[theirs], len(system.parent))[self.system_word]
        in_both = _count_children(gold.parent[self.gold_word[pair]], len(gold.parent))[self.gold_word]
        return (in_gold == in_both) & (in_system == in_both)

    def _words(self, name: str, correct: Mask, kept: tuple[Mask, Mask] | None = None) -> None:
        gold, system = self.gold, self.system
        ours, theirs = kept or (np.ones(len(gold.words), np.bool_), np.ones(len(system.words), np.bool_))
        system_sentence = self._gold_sentence(system.words.start)
        aligned = self.gold_word[ours[self.gold_word]]
        right = np.zeros(len(gold.words), dtype=np.bool_)
        right[self.gold_word[correct]] = True
        self.counts[name] = Counts(
            sum_by_unit(gold.word_sentence[ours], self.n_sentences),
            sum_by_unit(system_sentence[theirs], self.n_sentences),
            sum_by_unit(gold.word_sentence[right & ours], self.n_sentences),
            sum_by_unit(gold.word_sentence[aligned], self.n_sentences) if name != "Words" else None,
        )
        self.right[name] = right[ours]

    def _spans(self, name: str, start: Ints, end: Ints, their_start: Ints, their_end: Ints) -> None:
        width = len(self.gold.text) + 1
        common = np.intersect1d(start * width + end, their_start * width + their_end) // width
        units = [sum_by_unit(self._gold_sentence(at), self.n_sentences) for at in (start, their_start, common)]
        self.counts[name] = Counts(*units)

    def _gold_sentence(self, character: Ints) -> Ints:
        return np.searchsorted(self.gold.sentence_start, character, side="right").astype(np.int64) - 1


def _count_children(parents: Ints, n_words: int) -> Ints:
    return sum_by_unit(parents[parents >= 0], n_words)
