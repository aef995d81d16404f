"""Shared by recipes of transition-based parsers: treebanks, predicted tags, scores, single-question sentences.

    UAS, LAS = words with the correct head (and relation) / words counted
    UEM = sentences in which all heads are correct / sentences

Punctuation is counted on UD treebanks and excluded on the newspaper sample, as in the papers.
"""

from __future__ import annotations

import gzip
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.evaluate.counts import Counts
from weft.formats import read
from weft.hashing import hash_string
from weft.infer.transitions import systems
from weft.infer.trees.projectivity import is_projective, is_tree
from weft.recipes.framework import RecipeOptions
from weft.tasks.parsing.transitions.features import FIELDS
from weft.tasks.parsing.transitions.parser import Parser, ParserSettings
from weft.tasks.tagging.tagger import Tagger, TaggerSettings
from weft.text.doc import Doc

WSJ = "treebanks/other/wsj-dependency-sample/wsj.dp.gz"
WSJ_FIELDS = "form xpos head"
#: The newspaper sample has only one kind of tag, which replaces UPOS in templates.
XPOS_FIELDS = {**FIELDS, "t": "xpos"}
#: Tags of punctuation in the newspaper sample.
PUNCTUATION = {"''", "``", ",", ".", ":"}
PP = "pp-attachment/ratnaparkhi"
#: The constant words in the sentences about prepositional phrases, and the position of the preposition.
_PRONOUN, _DETERMINER, _ADJECTIVES, _STOP = "they", "the", ("new", "large"), "."
PREPOSITION = 5


@dataclass
class Treebank:
    """Training, held-out and test documents, the fields that templates read, and whether punctuation counts."""

    name: str
    train: list[Doc]
    dev: list[Doc]
    test: list[Doc]
    fields: dict[str, str]
    punctuation: bool = True
    labelled: bool = True

    @property
    def column(self) -> str:
        """The tag column that templates read."""
        return self.fields["t"]


def wsj(options: RecipeOptions, train: int = 3000, dev: int = 400, test: int = 514) -> Treebank:
    """The newspaper sample, split in order at 3,000 and 3,400; the first sentences of each part."""
    corpus = read(options.find(WSJ), format="columns", fields=WSJ_FIELDS)
    learned, held_out, asked = (
        list(corpus.slice_sentences(begin, min(begin + size, end)))
        for begin, size, end in ((0, train, 3000), (3000, dev, 3400), (3400, test, 3914))
    )
    return Treebank("wsj", learned, held_out, asked, XPOS_FIELDS, punctuation=False, labelled=False)


def ud(options: RecipeOptions, name: str, train: int, dev: int, test: int) -> Treebank:
    """A UD treebank: the first sentences of its parts."""
    learned, held_out, asked = (
        list(read(options.find(f"treebanks/ud/{name}/{part}.conllu.gz")).take_sentences(size))
        for part, size in (("train", train), ("dev", dev), ("test", test))
    )
    return Treebank(name, learned, held_out, asked, dict(FIELDS))


def small_ud(options: RecipeOptions, name: str, train: int, test: int, learned_from: str = "dev") -> Treebank:
    """A UD treebank with only two parts available: the first sentences of dev, or of train, are used for training."""
    learned, asked = (
        list(read(options.find(f"treebanks/ud/{name}/{part}.conllu.gz")).take_sentences(size))
        for part, size in ((learned_from, train), ("test", test))
    )
    return Treebank(name, learned, [], asked, dict(FIELDS))


def without_punctuation(treebank: Treebank) -> Treebank:
    """The treebank without words tagged PUNCT; their dependents attach to their heads instead."""
    train, dev, test = ([unpunctuated(doc) for doc in docs] for docs in (treebank.train, treebank.dev, treebank.test))
    return replace(treebank, name=f"{treebank.name} without punctuation", train=train, dev=dev, test=test)


def unpunctuated(doc: Doc) -> Doc:
    """A document of the same sentences without punctuation; sentences of nothing else are dropped.

    >>> doc = Doc.from_words([["(", "a", ")"], ["b", "!"]], upos=[["PUNCT", "X", "PUNCT"], ["X", "PUNCT"]],
    ...                    head=[[0, 1, 2], [0, 1]])
    >>> new = unpunctuated(doc)
    >>> new.column("form"), new.head.tolist()
    (['a', 'b'], [0, 0])
    """
    assert doc.head is not None
    forms, tags = doc.column("form"), doc.column("upos")
    words: list[int] = []  # words that are kept
    heads: list[list[int]] = []
    for first, end in pairwise(doc.sentence_offsets.tolist()):
        above = [0, *doc.head[first:end].tolist()]
        kept = [word for word in range(1, end - first + 1) if tags[first + word - 1] != "PUNCT"]
        place = {word: number for number, word in enumerate(kept, start=1)} | {0: 0}
        own = []
        for word in kept:
            head = above[word]
            while head not in place:
                head = above[head]
            own.append(place[head])
        heads += [own] if own else []
        words += [first + word - 1 for word in kept]
    rows = iter(words)
    new = Doc.from_words([[forms[next(rows)] for _ in own] for own in heads], strings=doc.strings, head=heads)
    for name in ("lemma", "upos", "xpos", "feats", "deprel"):
        if name in doc.columns:
            new.set_column(name, doc.columns[name][words])
    return new


def with_predicted_tags(treebank: Treebank, folds: int = 4, seed: int = 0) -> tuple[Treebank, float]:
    """The treebank with predicted tags, jackknifed for training; and the accuracy of the test tags.

    Fold k of the training sentences is tagged by a tagger trained on the other folds. Lemmas, features and other tags,
    which are not predicted here, are removed.
    """
    column = treebank.column
    settings = TaggerSettings(column=column, seed=seed)
    sentences = [doc.subset([i]) for doc in treebank.train for i in range(doc.n_sentences)]
    tagged: list[Doc] = list(sentences)
    for fold in range(folds):
        tagger = Tagger(settings)
        tagger.fit([doc for i, doc in enumerate(sentences) if i % folds != fold])
        own = [copy_of(doc) for doc in sentences[fold::folds]]
        tagger(own)
        tagged[fold::folds] = own
    tagger = Tagger(settings)
    tagger.fit(treebank.train)
    dev, test = ([copy_of(doc) for doc in docs] for docs in (treebank.dev, treebank.test))
    tagger(dev)
    tagger(test)
    pairs = [
        one == other
        for gold, own in zip(treebank.test, test, strict=True)
        for one, other in zip(gold.column(column), own.column(column), strict=True)
    ]
    for doc in (*tagged, *dev, *test):
        for name in {"lemma", "upos", "xpos", "feats"} - {column}:
            doc.columns.pop(name, None)
    return replace(treebank, train=tagged, dev=dev, test=test), float(np.mean(pairs))


def copy_of(doc: Doc) -> Doc:
    """A copy of a document with the same layers."""
    return doc.subset(range(doc.n_sentences))


@dataclass
class Scores:
    """A parser's results on test documents."""

    head_right: NDArray[np.bool_]  # of the counted words
    label_right: NDArray[np.bool_]
    sentence: NDArray[np.int64]  # of these words
    sentences: int

    @property
    def uas(self) -> float:
        """Percentage of words with the correct head."""
        return 100 * float(self.head_right.mean())

    @property
    def las(self) -> float:
        """Percentage of words with the correct head and relation."""
        return 100 * float((self.head_right & self.label_right).mean())

    @property
    def uem(self) -> float:
        """Percentage of sentences without a wrong head."""
        wrong = np.unique(self.sentence[~self.head_right])
        return 100 * (1 - len(wrong) / self.sentences)

    @property
    def counts(self) -> Counts:
        """Correct heads and words per sentence, for significance tests."""
        right = np.bincount(self.sentence, self.head_right, self.sentences).astype(np.int64)
        words = np.bincount(self.sentence, minlength=self.sentences)
        return Counts.of(words, words, right)


def score(parser: Parser, gold: Sequence[Doc], treebank: Treebank) -> Scores:
    """Parse documents and compare them with their trees, relations up to the colon."""
    system = [copy_of(doc) for doc in gold]
    parser(system)
    counted, heads, labels, sentence = [], [], [], []
    done = 0
    for own, doc in zip(system, gold, strict=True):
        assert own.head is not None
        assert doc.head is not None
        tags = doc.column(treebank.column)
        counted.append(np.array([treebank.punctuation or tag not in PUNCTUATION for tag in tags], dtype=np.bool_))
        heads.append(own.head == doc.head)
        pairs = zip(own.column("deprel"), doc.column("deprel"), strict=True)
        labels.append(np.array([one.split(":")[0] == other.split(":")[0] for one, other in pairs], dtype=np.bool_))
        sentence.append(done + np.repeat(np.arange(doc.n_sentences), np.diff(doc.sentence_offsets)))
        done += doc.n_sentences
    kept = np.concatenate(counted)
    return Scores(np.concatenate(heads)[kept], np.concatenate(labels)[kept], np.concatenate(sentence)[kept], done)


@dataclass
class Run:
    """A trained parser, its training cost, and its scores on the test documents."""

    parser: Parser
    scores: Scores
    best_epoch: int
    cpu_seconds: float  # of training, without parsing dev data


def train(
    treebank: Treebank,
    system: str,
    oracle: str,
    epochs: int,
    seed: int = 0,
    use_dev: bool = False,
    changes: Mapping[str, Any] | None = None,
) -> Run:
    """A greedy parser as in the papers: crossing trees are skipped; the dynamic oracle always follows the prediction.

    With `use_dev` the epoch with the best attachment on the held-out documents is kept; `changes` are other settings.
    """
    settings = ParserSettings(
        system=system, oracle=oracle, epochs=epochs, k=0, p=1.0, seed=seed, nonprojective="skip", fields=treebank.fields
    )
    parser = Parser(replace(settings, **(changes or {})))
    started = time.process_time()
    report = parser.fit(treebank.train, treebank.dev if use_dev else None)
    seconds = time.process_time() - started
    scores = score(parser, treebank.test, treebank)
    return Run(parser, scores, report["training"].get("best_epoch", epochs), seconds)


def trees(docs: Sequence[Doc], limit: int = 0) -> list[NDArray[np.int32]]:
    """The heads of projective trees in documents, at most `limit` (0: all)."""
    found: list[NDArray[np.int32]] = []
    for doc in docs:
        assert doc.head is not None
        for begin, end in pairwise(doc.sentence_offsets.tolist()):
            heads = np.ascontiguousarray(doc.head[begin:end], dtype=np.int32)
            if end > begin and is_tree(heads) and is_projective(heads):
                found.append(heads)
    return found[:limit] if limit else found


def legal_moves(system: systems.System, state: NDArray[np.int32]) -> list[tuple[int, int]]:
    """The candidates and moves that a configuration allows, with a single root.

    >>> from weft.infer.transitions.state import SHIFT, new_state
    >>> state = new_state(2)
    >>> systems.start(systems.ARC_STANDARD, state, 2)
    >>> legal_moves(systems.ARC_STANDARD, state) == [(0, SHIFT)]
    True
    """
    found = []
    candidate = 0
    while candidate >= 0:
        allowed = systems.legal(system, state, candidate, True)
        found += [(candidate, move) for move in range(allowed.bit_length()) if allowed >> move & 1]
        candidate = systems.following(system, state, candidate)
    return found


@dataclass(frozen=True)
class Attachment:
    """A verb, its object, a preposition and the noun after it."""

    verb: str
    noun: str
    preposition: str
    second: str


def attachments(path: Path) -> list[Attachment]:
    """The quadruples in a file: number, verb, noun, preposition, noun, answer."""
    text = (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).decode("utf-8")
    return [Attachment(*line.split()[1:5]) for line in text.splitlines() if line.strip()]


def frequent(quadruples: Sequence[Attachment], least: int) -> list[Attachment]:
    """The quadruples whose last noun occurs at least `least` times among them.

    >>> one, other = Attachment("eat", "rice", "with", "sticks"), Attachment("eat", "rice", "with", "joy")
    >>> frequent([one, other, one], 2) == [one, one]
    True
    """
    count = Counter(each.second for each in quadruples)
    return [each for each in quadruples if count[each.second] >= least]


def attachment_sentences(quadruples: Sequence[Attachment], seed: int = 0) -> tuple[list[Doc], list[bool]]:
    """Sentences in which only the last noun determines the attachment of the preposition; and whether to the verb.

    A fair coin is thrown once per last noun, so that verb, object and preposition are uninformative. Two adjectives
    hide the noun from a parser that decides as soon as it sees the preposition.

    >>> docs, at_verb = attachment_sentences([Attachment("eat", "rice", "with", "sticks")])
    >>> docs[0].column("form")
    ['they', 'eat', 'the', 'rice', 'with', 'the', 'new', 'large', 'sticks', '.']
    >>> int(docs[0].head[4]) == (2 if at_verb[0] else 4)
    True
    """
    tags = ["PRON", "VERB", "DET", "NOUN", "ADP", "DET", "ADJ", "ADJ", "NOUN", "PUNCT"]
    labels = ["nsubj", "root", "det", "obj", "", "det", "amod", "amod", "pobj", "punct"]
    at_verb = [_coin(each.second, seed) for each in quadruples]
    sentences = [
        [_PRONOUN, q.verb, _DETERMINER, q.noun, q.preposition, _DETERMINER, *_ADJECTIVES, q.second, _STOP]
        for q in quadruples
    ]
    heads = [[2, 0, 4, 2, 2 if verb else 4, 9, 9, 9, PREPOSITION, 2] for verb in at_verb]
    relations = [[label or ("obl" if verb else "nmod") for label in labels] for verb in at_verb]
    return [Doc.from_words(sentences, upos=[tags] * len(sentences), head=heads, deprel=relations)], at_verb


def _coin(word: str, seed: int) -> bool:
    """The same side for the same word."""
    return bool((hash_string(f"{seed} {word}") >> 40) & 1)
