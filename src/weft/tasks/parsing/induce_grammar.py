"""Unsupervised dependency parsing: train on tags alone, without any trees.

A dependency model with valence is trained on the tags of short sentences (`weft.learn.generative.grammar_induction`)
with EM, a Dirichlet prior, or a penalty on the number of distinct tag pairs; new sentences of any length get their
most probable trees. Punctuation is excluded from training and parsing: it attaches to the root of its sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.deadline import check
from weft.declared import PROBABILITIES, Array, Stored
from weft.errors import ConfigError, DataError
from weft.evaluate.trees.attachment import not_punctuation
from weft.headers import Many, Record, Text
from weft.learn.generative.dmv_model import TagBatch, ValenceModel, harmonic_start, random_start
from weft.learn.generative.grammar_induction import METHODS, Induced, induce
from weft.pipeline.component import Asked, State, Stopwatch, Trainable
from weft.pipeline.settings import Settings, option
from weft.storage import Arrays
from weft.tasks.parsing.tree_columns import write_trees
from weft.text.doc import Doc

#: Models by name: valences of children and stops, as in the literature (V_c-V_s); all but the first use back-off.
MODELS = {"dmv": (1, 2), "2-1": (2, 1), "2-2": (2, 2), "3-3": (3, 3), "4-4": (4, 4)}
STARTS = ("harmonic", "random")
#: The number of sentences that `strength` refers to: the strength of sparse posteriors grows with the text.
SCALE = 7000
#: Number of words per search batch.
BATCH = 2000
#: Longer sentences are parsed in windows: charts grow with the square of length, and time with its cube.
LONGEST = 300
_RELATIONS = ["root", "dep", "punct"]
_ROOT, _DEPENDENT, _PUNCTUATION = range(3)


@dataclass
class GrammarSettings(Settings):
    """Options of a parser trained on tags."""

    column: str = option("upos", "Column of the tags: upos or xpos.")
    objective: str = option(
        "pr-as",
        "Objective: likelihood (em), with a Dirichlet prior (dd), or with sparse tag pairs (pr-s, pr-as).",
        choices=METHODS,
    )
    valence: str = option("dmv", "Valences of children and stops: dmv, or with back-off.", choices=tuple(MODELS))
    strength: float = option(140.0, "Strength of the sparsity of pr-s and pr-as, for 7,000 sentences.")
    root: bool = option(True, "Count the children of the root as tag pairs.")
    alpha: float = option(0.25, "Parameter of the Dirichlet prior of dd.")
    iterations: int = option(100, "Number of EM iterations.")
    steps: int = option(10, "Steps per projection of pr-s and pr-as.", flag="--projection-steps")
    max_words: int = option(10, "Leave out longer sentences; punctuation does not count.")
    start: str = option("harmonic", "Where EM starts.", choices=STARTS)
    seed: int = option(0, "Random seed.")
    workers: int = option(1, "Number of threads; training uses one.", hidden=True)

    def check(self) -> None:
        choices = {"objective": METHODS, "valence": tuple(MODELS), "start": STARTS}
        for name, known in choices.items():
            if getattr(self, name) not in known:
                raise ConfigError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        for name in ("iterations", "steps", "max_words"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.strength < 0 or self.alpha <= 0:
            raise ConfigError(f"strength must be at least 0 and alpha above 0, got {self.strength} and {self.alpha}")


class GrammarInducer(Trainable):
    """Predicts heads after training on tags alone.

    >>> tags = [["DET", "NOUN", "VERB"], ["NOUN", "VERB"], ["NOUN", "VERB", "DET", "NOUN"], ["DET", "NOUN", "VERB"]] * 5
    >>> doc = Doc.from_words(tags, upos=tags)
    >>> parser = GrammarInducer(GrammarSettings(strength=2000, iterations=20))
    >>> _ = parser.fit([doc])
    >>> new = Doc.from_words([["cats", "see", "a", "bird", "."]], upos=[["NOUN", "VERB", "DET", "NOUN", "PUNCT"]])
    >>> parser([new])
    >>> new.head.tolist()
    [2, 0, 4, 2, 2]
    """

    task = "induced-parser"
    settings_class = GrammarSettings
    settings: GrammarSettings
    provides = ("head", "deprel")

    def __init__(self, settings: GrammarSettings | None = None) -> None:
        super().__init__(settings)
        self.requires: tuple[str, ...] = ("tokens", self.settings.column)
        self.tags: list[str] = []
        self.model: ValenceModel | None = None
        self._search: ValenceModel | None = None  # the same model, smoothed so that nothing is impossible

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Train on the tags of documents; trees of dev data, never of training data, are used for scoring."""
        watch = Stopwatch()
        settings = self.settings
        docs = [doc for doc in train if doc.n_words]
        if not docs:
            raise DataError("the training data is empty: it has no words; give sentences of words with tags")
        sentences = [tags for doc in docs for tags in self._sentences(doc)]
        short = [tags for tags in sentences if 0 < len(tags) <= settings.max_words]
        if not short:
            raise DataError(
                f"none of the {len(sentences):,} sentences has 1 to {settings.max_words} words without punctuation; "
                "give more text, or a larger max_words"
            )
        induced = self.learn(short)
        report: dict[str, Any] = {
            "training": {
                "sentences": len(sentences),
                "short sentences": len(short),
                "words": sum(map(len, short)),
                "tags": len(self.tags),
                "method": settings.objective,
                "valences": settings.valence,
                "iterations": len(induced.objective),
                "passes": induced.passes,
                "objective": induced.objective[-1],
                "stopped": induced.why,
            }
        }
        if induced.projection is not None:
            strength = self._strength(len(short))
            report["training"] |= {"strength": strength, "pairs in use": induced.projection.penalty / strength}
        report["training"] |= {
            **watch.seconds(),
        }
        held_out = [doc for doc in dev or () if doc.n_words]
        if held_out:
            report["scores"] = {f"dev {name}": value for name, value in self.scores(held_out).items()}
        return report

    def learn(self, sentences: Sequence[Sequence[str]]) -> Induced:
        """Train on sentences of tags."""
        settings = self.settings
        self.tags = sorted({tag for tags in sentences for tag in tags})
        batch = self._batch(sentences)
        children, stops = MODELS[settings.valence]
        mixed = settings.valence != "dmv"
        if settings.start == "harmonic":
            start = harmonic_start(batch, stops, children, mixed)
        else:
            start = random_start(batch, settings.seed, stops, children, mixed)
        induced = induce(
            batch, start, settings.objective, strength=self._strength(len(sentences)), alpha=settings.alpha,
            root=settings.root, iterations=settings.iterations, steps=settings.steps,
        )  # fmt: skip
        self._set(induced.model)
        return induced

    def parse(self, sentences: Sequence[Sequence[str]]) -> NDArray[np.int32]:
        """Predict the heads of all words in sentences of tags, concatenated."""
        model, heads = self.trained(self._search), [np.zeros(0, np.int32)]
        offsets = np.cumsum([0, *map(len, sentences)])
        first = 0
        while first < len(sentences):
            check()
            end = int(np.searchsorted(offsets, offsets[first] + BATCH, side="right")) - 1
            end = min(max(end, first + 1), len(sentences))
            heads.append(self._batch(sentences[first:end], unknown=1).trees(model).best())
            first = end
        return np.concatenate(heads)

    def longest(self, asked: Asked) -> int:
        return LONGEST

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        kept = [self._kept(doc) for doc in docs]
        heads = self.parse([tags for doc in docs for tags in self._sentences(doc)])
        all_heads, labels = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
        done = 0
        for doc, keep in zip(docs, kept, strict=True):
            for first, end in pairwise(doc.sentence_offsets.tolist()):
                words = np.flatnonzero(keep[first:end])
                found = heads[done : done + len(words)]
                done += len(words)
                all_heads.append(_with_punctuation(words, found, end - first))
                own = np.where(keep[first:end], _DEPENDENT, _PUNCTUATION)
                labels.append(np.where(all_heads[-1] == 0, _ROOT, own).astype(np.int32))
        write_trees(docs, np.concatenate(all_heads), np.concatenate(labels), _RELATIONS)

    def scores(self, docs: Sequence[Doc]) -> dict[str, float]:
        """The share of correct heads without punctuation (UAS), and the same ignoring arc direction (undirected)."""
        right, joined, total = 0, 0, 0
        for doc in docs:
            if doc.head is None:
                raise DataError("the documents to score have no heads; expected them in the column HEAD of CoNLL-U")
            system = doc.subset(range(doc.n_sentences))
            self([system])
            assert system.head is not None
            keep = self._kept(doc)
            for first, end in pairwise(doc.sentence_offsets.tolist()):
                gold, predicted = doc.head[first:end], system.head[first:end]
                arcs = {(min(m, h), max(m, h)) for m, h in enumerate(gold.tolist(), start=1)}
                for m, (h, true) in enumerate(zip(predicted.tolist(), gold.tolist(), strict=True), start=1):
                    if keep[first + m - 1]:
                        total += 1
                        right += h == true
                        joined += (min(m, h), max(m, h)) in arcs
        return {"UAS": right / max(1, total), "undirected": joined / max(1, total)}

    def _strength(self, n_sentences: int) -> float:
        return self.settings.strength * n_sentences / SCALE

    def _kept(self, doc: Doc) -> NDArray[np.bool_]:
        """The words that are not punctuation, by their universal tags or, if there are none, by their characters."""
        if doc.has("upos"):
            return np.array([tag not in ("PUNCT", ".") for tag in doc.column("upos")], dtype=np.bool_)
        return not_punctuation(doc)

    def _sentences(self, doc: Doc) -> list[list[str]]:
        """The tags of every sentence without punctuation."""
        if not doc.has(self.settings.column):
            raise DataError(
                f"the text has no tags in the column {self.settings.column}: tag it first (`weft annotate`), or name "
                "another column"
            )
        tags, keep = doc.column(self.settings.column), self._kept(doc)
        return [
            [tags[i] for i in range(first, end) if keep[i]] for first, end in pairwise(doc.sentence_offsets.tolist())
        ]

    def _batch(self, sentences: Sequence[Sequence[str]], unknown: int = 0) -> TagBatch:
        number = {tag: i for i, tag in enumerate(self.tags)}
        tags = np.array([number.get(tag, len(number)) for sentence in sentences for tag in sentence], dtype=np.int32)
        offsets = np.concatenate([[0], np.cumsum([len(sentence) for sentence in sentences])]).astype(np.int64)
        return TagBatch(tags, offsets, len(number) + unknown)

    def _set(self, model: ValenceModel) -> None:
        self.model, self._search = model, model.smoothed(unknown=1)

    def state(self) -> State:
        model = self.trained(self.model)
        arrays = {"root": model.root, "stop": model.stop, "child": model.child}
        if model.backed_off is not None:
            arrays["backed_off"] = model.backed_off
        return {"settings": self.saved_settings(), "tags": self.tags}, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> GrammarInducer:
        component = cls(GrammarSettings.from_saved(header["settings"]))
        Record(tags=Many(Text(), least=1, distinct=True)).check(header)
        component.tags = header["tags"]
        n, valence = len(component.tags), component.settings.valence
        children, stops = MODELS[valence]
        tables = Stored.of(arrays).take(
            Array("root", "float64", (n,), within=PROBABILITIES),
            Array("stop", "float64", (n, 2, stops, 2), within=PROBABILITIES),
            Array("child", "float64", (n, 2, children, n), within=PROBABILITIES),
            Array("backed_off", "float64", (2, children, n), within=PROBABILITIES, optional=valence == "dmv"),
        )
        root, stop, child, *backed_off = map(np.array, tables.values())
        component._set(ValenceModel(root, stop, child, backed_off[0] if backed_off else None))
        return component


def _with_punctuation(words: NDArray[np.int64], heads: NDArray[np.int32], n: int) -> NDArray[np.int32]:
    """Heads of all n words of a sentence, given those of some; the rest attach to the root, or to the first word.

    >>> _with_punctuation(np.array([0, 2]), np.array([2, 0], np.int32), 4).tolist()
    [3, 3, 0, 3]
    >>> _with_punctuation(np.zeros(0, np.int64), np.zeros(0, np.int32), 2).tolist()
    [0, 1]
    """
    if not len(words):
        return np.minimum(np.arange(n), 1).astype(np.int32)
    place = np.concatenate([[0], words + 1])
    all_heads = np.full(n, place[1 + int((heads == 0).argmax())], dtype=np.int32)
    all_heads[words] = place[heads]
    return all_heads
