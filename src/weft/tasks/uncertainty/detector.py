"""Hedge detection: uncertain sentences, cues of uncertainty, and the scope of each cue (Täckström et al. 2010).

    sentence:  uncertain if w . f(sentence) > 0                       a linear support vector machine, L1 or L2
    cues:      argmax over labels B, I, O of the sentence             max margin, beam search
    scopes:    argmax over labels B, I, O, one sequence per cue       the same, with the cue and its syntax marked

The scopes of a sentence are then adjusted to nest (`weft.text.conventions.hedges.assemble`). The same code learns
negation or any other layer of cues and scopes. Lemmas, tags and trees are used if documents have them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from weft.deadline import check
from weft.declared import Stored
from weft.errors import ConfigError
from weft.evaluate.labels.hedges import score_hedges
from weft.features.templates import Templates
from weft.headers import Many, Record, Row, Table, Text
from weft.pipeline.component import Asked, State, Stopwatch, Trainable, training_docs
from weft.pipeline.settings import Settings, option
from weft.storage import Arrays
from weft.tasks.uncertainty.data import look
from weft.tasks.uncertainty.features import (
    BIO_SENTENCES,
    CUES,
    LAYERS,
    SCOPES,
    merged_units,
    observe,
    trees_of,
    with_cues,
)
from weft.tasks.uncertainty.models import SENTENCE_LEARNERS, LabelModel, Margin, SentenceModel, label_numbers
from weft.tasks.uncertainty.syntax import Tree
from weft.text.conventions.hedges import (
    LAYER,
    Hedge,
    assemble,
    hedges_of,
    proposed_scope,
    scope_labels,
    set_hedges,
    uncertain_of,
)
from weft.text.doc import Doc
from weft.text.split import with_words

Pair = tuple[tuple[str, ...], tuple[str, ...]]
#: Longer sentences are annotated in windows: the scope of every cue is looked for in its whole sentence.
LONGEST = 500
#: Words around cues whose scopes are looked for at once.
BATCH = 20_000

HEADER = Record(columns=Many(Text()), pairs=Many(Row((Many(Text()), Many(Text())))), sentences=Table()).with_optional(
    cues=Table(), scopes=Table()
)


@dataclass
class HedgeSettings(Settings):
    """Options of a hedge detector."""

    layer: str = option(LAYER, "Span layer to learn and to write, with the labels cue, scope and uncertain.")
    sentence_learner: str = option(
        "l1",
        "How sentences are classified: support vector machine with an L1 or L2 penalty, or margin.",
        choices=SENTENCE_LEARNERS,
    )
    sentence_templates: str = option(BIO_SENTENCES, "Feature templates of sentences.", show_default=False)
    cue_templates: str = option(CUES, "Feature templates of cues.", show_default=False)
    scope_templates: str = option(SCOPES, "Feature templates of scopes.", show_default=False)
    c: float = option(0.1, "Weight of the loss of the support vector machine.")
    class_weights: bool = option(True, "Weight sentences by the inverse frequency of their class.")
    l2: float = option(1.0, "L2 penalty of the max-margin learner of cues.")
    scope_l2: float = option(100.0, "L2 penalty of the max-margin learner of scopes.")
    sentence_l2: float = option(30.0, "L2 penalty of the max-margin learner of sentences.")
    rate: float = option(1.0, "Initial learning rate.")
    epochs: int = option(20, "Passes over the data of the max-margin learner.")
    width: int = option(8, "Width of the beam.")
    hash_bits: int = option(18, "Hash features into 2^N rows instead of indexing them; 0 indexes them.", metavar="N")
    seed: int = option(0, "Random seed.")
    workers: int = option(1, "Number of threads; training uses one.", hidden=True)

    def check(self) -> None:
        if self.sentence_learner not in SENTENCE_LEARNERS:
            known = ", ".join(SENTENCE_LEARNERS)
            raise ConfigError(f"sentence_learner must be one of {known}, got {self.sentence_learner!r}")
        for name in ("c", "rate", "epochs", "width"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name} must be above 0, got {getattr(self, name)}")
        for name in ("l2", "scope_l2", "sentence_l2", "hash_bits"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must be at least 0, got {getattr(self, name)}")

    def margin(self, l2: float) -> Margin:
        """The options of the max-margin learner with a given penalty."""
        return Margin(l2, self.rate, self.epochs, self.width, self.seed)


class HedgeDetector(Trainable):
    """Predicts uncertain sentences, cues and scopes.

    >>> doc = Doc.from_words([["It", "may", "rain", "."], ["It", "rains", "."], ["We", "may", "go", "."], ["We", "go"]])
    >>> set_hedges(doc, [[Hedge((1,), (1, 3))], [], [Hedge((1,), (1, 3))], []])
    >>> detector = HedgeDetector(HedgeSettings(c=10.0))
    >>> report = detector.fit([doc])
    >>> new = Doc.from_words([["They", "may", "sing", "."]])
    >>> detector([new])
    >>> new.span_views("speculation")
    [Span('They may sing .', 'uncertain'), Span('may', 'cue'), Span('may sing', 'scope')]
    """

    task = "hedge"
    settings_class = HedgeSettings
    settings: HedgeSettings

    def __init__(self, settings: HedgeSettings | None = None) -> None:
        super().__init__(settings)
        self.provides = (f"spans/{self.settings.layer}", f"relations/{self.settings.layer}")
        self.sentence_model: SentenceModel | None = None
        self.cue_model: LabelModel | None = None
        self.scope_model: LabelModel | None = None
        self.pairs: set[Pair] = set()
        self.columns: tuple[str, ...] = ()

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Train on documents with the layer; dev data is only used for scoring. Without cues, only sentences are
        learned."""
        watch = Stopwatch()
        settings = self.settings
        docs = training_docs(train)
        hedges = [each for doc in docs for each in hedges_of(doc, settings.layer)]
        uncertain = np.array([each for doc in docs for each in uncertain_of(doc, settings.layer)])
        self.columns = tuple(layer for layer in LAYERS if all(doc.has(layer) for doc in docs))
        self.requires = ("tokens", *self.columns)
        seen = observe(docs)
        trees = [tree for doc in docs for tree in trees_of(doc)]
        templates = Templates(settings.sentence_templates)
        self.sentence_model = SentenceModel.fit(
            templates, look(merged_units(seen), templates), uncertain, settings.sentence_learner, settings.c,
            settings.class_weights, settings.margin(settings.sentence_l2), settings.hash_bits,
        )  # fmt: skip
        self.cue_model = self._fit_cues(seen, hedges, [len(tree) for tree in trees])
        self.scope_model = self._fit_scopes(seen, trees, hedges)
        self.pairs = seen_pairs(trees, hedges)
        report: dict[str, Any] = {
            "training": {
                "sentences": len(hedges),
                "uncertain": int(uncertain.sum()),
                "cues": sum(map(len, hedges)),
                "scopes": sum(hedge.scope is not None for each in hedges for hedge in each),
                "trees": "head" in self.columns,
                "sentence_weights": int(np.count_nonzero(self.sentence_model.weights)),
                **watch.seconds(),
            }
        }
        if dev is not None:
            held_out = with_words(dev)
            gold = [each for doc in held_out for each in hedges_of(doc, settings.layer)]
            marked = [each for doc in held_out for each in uncertain_of(doc, settings.layer)]
            predicted, judged = self.find(held_out)
            report["scores"] = {
                f"dev {k}": v for k, v in score_hedges(gold, predicted, marked, judged).as_dict().items()
            }
        return report

    def _fit_cues(self, seen: Doc, hedges: Sequence[Sequence[Hedge]], lengths: Sequence[int]) -> LabelModel | None:
        if not any(hedges):
            return None
        labels = list(chain.from_iterable(cue_labels(each, n) for each, n in zip(hedges, lengths, strict=True)))
        templates = Templates(self.settings.cue_templates)
        return LabelModel.fit(
            templates,
            look(seen, templates),
            label_numbers(labels),
            self.settings.margin(self.settings.l2),
            self.settings.hash_bits,
        )

    def _fit_scopes(self, seen: Doc, trees: Sequence[Tree], hedges: Sequence[Sequence[Hedge]]) -> LabelModel | None:
        items = [
            (number, each)
            for number, in_sentence in enumerate(hedges)
            for each in in_sentence
            if each.scope is not None
        ]
        if not items:
            return None
        around = with_cues(seen, trees, [(number, hedge.cue) for number, hedge in items])
        labels = chain.from_iterable(scope_labels(hedge.scope, len(trees[number])) for number, hedge in items)
        templates = Templates(self.settings.scope_templates)
        return LabelModel.fit(
            templates, look(around, templates), label_numbers(list(labels)),
            self.settings.margin(self.settings.scope_l2), self.settings.hash_bits,
        )  # fmt: skip

    def find(
        self, docs: Sequence[Doc], cues: Sequence[Sequence[Hedge]] | None = None
    ) -> tuple[list[list[Hedge]], list[bool]]:
        """The predicted hedges of every sentence, and whether each sentence is uncertain; gold cues may be given."""
        sentence_model = self.trained(self.sentence_model)
        seen = observe(docs)
        trees = [tree for doc in docs for tree in trees_of(doc)]
        judged = sentence_model.judge(merged_units(seen))
        if cues is None and self.cue_model is not None:
            cues = [
                joined_cues(labels, tree, self.pairs)
                for labels, tree in zip(self.cue_model.label(seen), trees, strict=True)
            ]
        hedges = [list(each) for each in cues] if cues is not None else [[] for _ in trees]
        if self.scope_model is None:
            return hedges, judged
        items = [(number, hedge.cue) for number, in_sentence in enumerate(hedges) for hedge in in_sentence]
        labels = self._scopes(self.scope_model, seen, trees, items)
        for number, in_sentence in enumerate(hedges):
            if in_sentence:
                words = [hedge.cue for hedge in in_sentence]
                scopes = assemble(words, [proposed_scope(next(labels), cue) for cue in words], len(trees[number]))
                hedges[number] = [Hedge(cue, scope) for cue, scope in zip(words, scopes, strict=True)]
        return hedges, judged

    @staticmethod
    def _scopes(
        model: LabelModel, seen: Doc, trees: Sequence[Tree], items: Sequence[tuple[int, tuple[int, ...]]]
    ) -> Iterator[list[str]]:
        """The labels of the words around every cue, computed for some cues at a time: each takes a whole sentence."""
        ends = np.cumsum([len(trees[number]) for number, _ in items])
        first = 0
        while first < len(items):
            check()
            before = int(ends[first - 1]) if first else 0
            end = max(first + 1, int(np.searchsorted(ends, before + BATCH, side="right")))
            yield from model.label(with_cues(seen, trees, items[first:end]))
            first = end

    def longest(self, asked: Asked) -> int:
        return LONGEST

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        hedges, judged = self.find(docs)
        at = 0
        for doc in docs:
            rows = slice(at, at + doc.n_sentences)
            set_hedges(doc, hedges[rows], self.settings.layer, judged[rows])
            at += doc.n_sentences
            if self.settings.layer == LAYER:
                doc.meta["certainty"] = True

    def state(self) -> State:
        header: dict[str, Any] = {
            "settings": self.saved_settings(),
            "columns": self.columns,
            "pairs": sorted(self.pairs),
        }
        arrays: Arrays = {}
        models = {"sentences": self.trained(self.sentence_model), "cues": self.cue_model, "scopes": self.scope_model}
        for name, model in models.items():
            if model is not None:
                header[name], model_arrays = model.state()
                arrays.update({f"{name}/{key}": array for key, array in model_arrays.items()})
        return header, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> HedgeDetector:
        detector = cls(HedgeSettings.from_saved(header["settings"]))
        HEADER.check(header)
        settings, stored = detector.settings, Stored.of(arrays)
        detector.columns = tuple(header["columns"])
        detector.requires = ("tokens", *detector.columns)
        detector.pairs = {(tuple(first), tuple(second)) for first, second in header["pairs"]}
        detector.sentence_model = SentenceModel.from_state(
            Templates(settings.sentence_templates), header["sentences"], stored.under("sentences/")
        )
        if "cues" in header:
            detector.cue_model = LabelModel.from_state(
                Templates(settings.cue_templates), header["cues"], stored.under("cues/")
            )
        if "scopes" in header:
            detector.scope_model = LabelModel.from_state(
                Templates(settings.scope_templates), header["scopes"], stored.under("scopes/")
            )
        return detector


def cue_labels(hedges: Sequence[Hedge], length: int) -> list[str]:
    """Encode cues as labels B, I, O; every piece of a cue begins with B.

    >>> cue_labels([Hedge((0, 1)), Hedge((3,))], 5)
    ['B', 'I', 'O', 'B', 'O']
    """
    labels = ["O"] * length
    for hedge in hedges:
        for start, end in hedge.pieces:
            labels[start:end] = ["B"] + ["I"] * (end - start - 1)
    return labels


def joined_cues(labels: Sequence[str], tree: Tree, pairs: set[Pair]) -> list[Hedge]:
    """Decode cues from labels; two pieces that form one cue in the training data (either ... or) are joined.

    >>> tree = Tree(["either", "a", "or", "b"], [""] * 4, [""] * 4, [-1] * 4, [""] * 4)
    >>> joined_cues(["B", "O", "B", "O"], tree, {(("either",), ("or",))})
    [Hedge(cue=(0, 2), scope=None)]
    """
    pieces: list[tuple[int, ...]] = []
    for word, label in enumerate(labels):
        if label == "B" or (label == "I" and (not word or labels[word - 1] == "O")):
            pieces.append((word,))
        elif label == "I":
            pieces[-1] = (*pieces[-1], word)
    hedges: list[Hedge] = []
    while pieces:
        first = pieces.pop(0)
        text = _text(tree, first)
        second = next((each for each in pieces if (text, _text(tree, each)) in pairs), None)
        if second is not None:
            pieces.remove(second)
            first = (*first, *second)
        hedges.append(Hedge(first))
    return hedges


def seen_pairs(trees: Sequence[Tree], hedges: Sequence[Sequence[Hedge]]) -> set[Pair]:
    """Pairs of pieces that are one cue at least as often as two cues in a sentence."""
    one: Counter[Pair] = Counter()
    two: Counter[Pair] = Counter()
    for tree, in_sentence in zip(trees, hedges, strict=True):
        for hedge in in_sentence:
            if len(hedge.pieces) == 2:
                first, second = (_text(tree, range(*piece)) for piece in hedge.pieces)
                one[first, second] += 1
        single = [hedge for hedge in in_sentence if len(hedge.pieces) == 1]
        for i, hedge in enumerate(single):
            two.update((_text(tree, hedge.cue), _text(tree, other.cue)) for other in single[i + 1 :])
    return {pair for pair, count in one.items() if count >= max(2, two[pair])}


def _text(tree: Tree, words: Iterable[int]) -> tuple[str, ...]:
    return tuple(tree.forms[word] for word in words)
