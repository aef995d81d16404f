"""Multiword expressions, with gaps and in two strengths, with one tag per word (Schneider et al. 2014).

    y^ = argmax over legal y of  w . g(x, y),      trained with  argmax  w . g(x, y') + sum_i c(y_i, y'_i)

    c(y, y') = [y != y'] + recall_cost * [y in {B, b} and y' in {O, o}]

The extra cost applies only to missed beginnings: charged on every missed word, it would just lengthen expressions that
are already predicted. `weft.text.conventions.expressions` defines the schemes, `weft.tasks.spans.mwe_features` the
features.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Ints, Keys
from weft.declared import Array, Stored
from weft.errors import ConfigError
from weft.features.extract import Binding, sentence_offsets
from weft.features.lexicon import WordClasses
from weft.headers import Many, Record, Text
from weft.learn.chains.labels import LabelSpace
from weft.learn.cost import ConfusionCost, Cost
from weft.lexical.clusters.monolingual import load_clusters
from weft.lexical.mwe_lexicon import MweLexicon, lexicon_of, read_lexicon
from weft.lexical.wordnet import WordNet
from weft.pipeline.component import Asked, State
from weft.pipeline.settings import clusters_option, option
from weft.storage import Arrays
from weft.tasks.labelling.labeller import LabellerSettings, SequenceLabeller
from weft.tasks.spans.mwe_features import (
    CLUSTER_TEMPLATES,
    FIELDS,
    LEMMA_COLUMN,
    TEMPLATES,
    ExpressionFeatures,
    with_lemmas,
)
from weft.text.conventions.expressions import (
    SCHEMES,
    TOPOLOGIES,
    check_tags,
    decode,
    encode,
    expressions_of,
    pieces_of,
    repaired,
)
from weft.text.doc import Doc
from weft.text.layers import SpanLayer
from weft.text.schemes import numbered

SEEN = "seen"  # name of the lexicon of training expressions
_FOLDS = "sentences before"  # in the meta data of training documents, whose sentences see lexicons without themselves


@dataclass
class MweSettings(LabellerSettings):
    """Options of a multiword expression tagger."""

    learner: str = "perceptron"
    epochs: int = 4
    features: str = "all"
    layer: str = option("mwe", "Span layer to learn and to write.")
    tags: int = option(
        8,
        "Tags of the scheme: 3 or 4 without gaps, 6 or 8 with gaps; 4 and 8 know two strengths.",
        flag="--scheme-tags",
    )
    tag_column: str = option("", "Column of part-of-speech tags; by default xpos, else upos, else none.")
    recall_cost: float = option(50.0, "Extra cost of a missed start of an expression.")
    hamming: bool = option(True, "Charge every wrong tag a cost of 1 while searching.")
    lexicons: str = option(
        "", "File of expressions, one per line; repeat for several.", flag="--lexicon", metavar="FILE", many=True
    )
    wordnet: str = option("", "Folder of a WordNet database.", metavar="FOLDER")
    clusters: str = clusters_option()
    max_gap: int = option(2, "Longest gap in matches of lexicon entries.")
    seen_count: int = option(
        0, "Add expressions of the training data that occur this often to the lexicon; 0 adds none."
    )
    folds: int = option(8, "Folds for --seen-count.")
    threshold: float = option(0.0, "Leave out expressions that are less probable than this.")

    def check(self) -> None:
        super().check()
        check_tags(self.tags)
        if self.recall_cost < 0 or self.max_gap < 0 or self.seen_count < 0 or self.folds < 2:
            raise ConfigError("recall_cost, max_gap and seen_count must be at least 0, folds at least 2")
        if not 0 <= self.threshold <= 1:
            raise ConfigError(f"threshold must be a probability from 0 to 1, got {self.threshold}")


class MweTagger(SequenceLabeller):
    """Predicts multiword expressions.

    >>> from weft.text.conventions.expressions import Expressions, set_expressions
    >>> doc = Doc.from_words([["He", "gave", "it", "up"], ["She", "gave", "hope", "up"], ["They", "sat"]])
    >>> set_expressions(doc, [Expressions.of(strong=[(1, 3)]), Expressions.of(strong=[(1, 3)]), Expressions()])
    >>> tagger = MweTagger(MweSettings(epochs=10))
    >>> report = tagger.fit([doc])
    >>> new = Doc.from_words([["I", "gave", "it", "up"]])
    >>> tagger([new])
    >>> new.span_views("mwe")
    [Span('gave ... up', 'strong')]
    """

    task = "mwe"
    settings_class = MweSettings
    settings: MweSettings

    def __init__(self, settings: LabellerSettings | None = None) -> None:
        super().__init__(settings)
        self.lexicons: list[MweLexicon] = []
        self.wordnet: WordNet | None = None
        self.word_clusters: dict[str, str] = {}
        self.provides = (f"spans/{self.settings.layer}",)
        self._seen: MweLexicon | None = None
        self._folds: list[MweLexicon] = []
        self._features = ExpressionFeatures()

    def gold(self, doc: Doc) -> list[str]:
        labels: list[str] = []
        bounds = pairwise(doc.sentence_offsets.tolist())
        for (first, end), expressions in zip(bounds, expressions_of(doc, self.settings.layer), strict=True):
            labels += encode(repaired(expressions, end - first), end - first, self.settings.tags)
        return labels

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        super().annotate(docs, replace(asked, probabilities=asked.probabilities or self.settings.threshold > 0))
        for doc in docs if not asked.probabilities else ():
            doc.spans[self.settings.layer].attributes.clear()

    def write(self, doc: Doc, labels: list[str], confidence: NDArray[np.float32] | None) -> None:
        self.write_all([doc], *numbered(labels), confidence)

    def write_all(
        self,
        docs: Sequence[Doc],
        names: Sequence[str],
        numbers: NDArray[np.integer],
        confidence: NDArray[np.float32] | None,
    ) -> None:
        """Write the expressions, those that are probable enough if probabilities are given."""
        sentences = sentence_offsets(docs)
        kinds = np.array([name not in ("O", "o") for name in names])
        words = np.flatnonzero(kinds[numbers])
        if confidence is not None:
            # An expression is as probable as its least probable word, rounded, and has at least two words.
            words = words[confidence[words] >= self.settings.threshold - 1e-4]
        places, counts = np.unique(np.searchsorted(sentences, words, side="right") - 1, return_counts=True)
        firsts = np.concatenate([[0], np.cumsum([doc.n_words for doc in docs])])
        owners = np.searchsorted(firsts, sentences[places], side="right") - 1
        for doc in docs:
            doc.spans[self.settings.layer] = SpanLayer(doc.strings)
        promising = counts > 1
        for d, s in zip(owners[promising].tolist(), places[promising].tolist(), strict=True):
            first, end = int(sentences[s]), int(sentences[s + 1])
            labels = [names[number] for number in numbers[first:end].tolist()]
            layer = docs[d].spans[self.settings.layer]
            for pieces, label in pieces_of(decode(labels, self.settings.tags), first - int(firsts[d])):
                least = {}
                if confidence is not None:
                    sure = min(float(confidence[start + firsts[d] : stop + firsts[d]].min()) for start, stop in pieces)
                    if round(sure, 4) < self.settings.threshold:
                        continue
                    least["probability"] = round(sure, 4)
                layer.add(pieces, label, **least)

    def score(self, gold: list[list[str]], system: list[list[str]]) -> dict[str, float]:
        from weft.evaluate.labels.mwe import score_expressions

        tags = self.settings.tags
        report = score_expressions([decode(each, tags) for each in gold], [decode(each, tags) for each in system])
        return {"link f1": report.link.f1, "exact f1": report.exact.f1}

    def default_features(self, docs: Sequence[Doc]) -> tuple[str, dict[str, str]]:
        if not self.settings.tag_column:
            columns = (column for column in ("xpos", "upos") if all(doc.has(column) for doc in docs))
            self.settings.tag_column = next(columns, "")
        clusters = f" {CLUSTER_TEMPLATES}" if self.settings.clusters or self.word_clusters else ""
        return TEMPLATES + clusters, dict(FIELDS)

    def prepare(self, docs: Sequence[Doc]) -> None:
        settings = self.settings
        if settings.wordnet:
            self.wordnet = WordNet.read(settings.wordnet)
            self.lexicons.append(MweLexicon.of("wordnet", self.wordnet.multiwords()))
        for name in filter(None, settings.lexicons.split(",")):
            self.lexicons.append(read_lexicon(name.strip()))
        names = [lexicon.name for lexicon in self.lexicons]
        if len(set(names)) != len(names):
            raise ConfigError(f"lexicons need different names, got {', '.join(names)}; rename the files")
        if settings.clusters:
            self.word_clusters = load_clusters(settings.clusters)
        if settings.seen_count:
            self._seen_lexicons(docs)
        self._collect()

    def _seen_lexicons(self, docs: Sequence[Doc]) -> None:
        """Lexicons of the expressions of all folds but one, for each fold, and of all folds. If the lexicon contained
        its own expressions, a training sentence would teach the model that the lexicon is always right."""
        settings = self.settings
        sentences = []
        for doc in docs:
            lemmas = [
                lemma.lower() or form.lower()
                for lemma, form in zip(doc.column("lemma"), doc.column("form"), strict=True)
            ]
            bounds = pairwise(doc.sentence_offsets.tolist())
            expressions = expressions_of(doc, settings.layer)
            sentences += [(lemmas[first:end], each) for (first, end), each in zip(bounds, expressions, strict=True)]
        self._seen = lexicon_of(SEEN, sentences, settings.seen_count)
        self._folds = [
            lexicon_of(
                SEEN, (each for k, each in enumerate(sentences) if k % settings.folds != fold), settings.seen_count
            )
            for fold in range(settings.folds)
        ]

    def _collect(self) -> None:
        self._features = ExpressionFeatures(self.lexicons, self.wordnet, self.settings.max_gap)

    def bindings(self) -> Mapping[str, Binding]:
        sources: dict[str, Binding] = {
            "lower": "form:lower", "lemma": LEMMA_COLUMN, "tag": self.settings.tag_column, "mwe:set": _Sets(self),
        }  # fmt: skip
        clusters: dict[str, Binding] = {"c": WordClasses(self.word_clusters)} if self.word_clusters else {}
        return {field: sources.get(column, column) for field, column in self.settings.fields.items()} | clusters

    def observed(self, docs: Sequence[Doc], training: bool = False) -> Sequence[Doc]:
        if "l" in self.settings.fields:
            docs = [with_lemmas(doc) for doc in docs]
        if training and self._seen is not None:
            docs = [copy.copy(doc) for doc in docs]
            counts = [0, *accumulate(doc.n_sentences for doc in docs)]
            for doc, before in zip(docs, counts, strict=False):
                doc.meta = {**doc.meta, _FOLDS: before}
        return docs

    def label_space(self, labels: Iterable[str], order: int) -> LabelSpace:
        tags = self.settings.tags
        return LabelSpace(SCHEMES[tags], order, topology=TOPOLOGIES[tags])

    def cost(self, space: LabelSpace) -> float | Cost | None:
        settings = self.settings
        if not settings.hamming and not settings.recall_cost:
            return None
        return recall_cost(space, settings.recall_cost, settings.hamming)

    def _required(self) -> tuple[str, ...]:
        return ("tokens", *([self.settings.tag_column] if self.settings.tag_column else []))

    def state(self) -> State:
        header, arrays = super().state()
        header["settings"].update(
            clusters="", lexicons="", wordnet=""
        )  # paths of the training machine; the model contains the files
        lexicons = [*self.lexicons, *([] if self._seen is None else [self._seen])]
        for lexicon in lexicons:
            arrays[f"lexicon/{lexicon.name}"] = _packed(lexicon.lines())
        if self.wordnet is not None:
            arrays["wordnet"] = _packed(f"{entry}\t{kinds}" for entry, kinds in self.wordnet.entries.items())
        if self.word_clusters:
            arrays["clusters"] = _packed(f"{word}\t{path}" for word, path in self.word_clusters.items())
        return {**header, "lexicons": [lexicon.name for lexicon in lexicons]}, arrays

    def restore(self, header: Mapping[str, Any], arrays: Arrays) -> None:
        Record(lexicons=Many(Text(), distinct=True)).check(header)
        names = [f"lexicon/{name}" for name in header["lexicons"]]
        files = Stored.of(arrays).take(
            *(Array(name, "uint8", ("*",)) for name in names),
            *(Array(name, "uint8", ("*",), optional=True) for name in ("wordnet", "clusters")),
        )
        for name in header["lexicons"]:
            rows = (line.partition("\t") for line in _unpacked(files[f"lexicon/{name}"]))
            lexicon = MweLexicon.of(name, [(entry, category) for entry, _, category in rows])
            if name == SEEN:
                self._seen = lexicon
            else:
                self.lexicons.append(lexicon)
        if "wordnet" in files:
            self.wordnet = WordNet(dict(_pair(line) for line in _unpacked(files["wordnet"])))
        if "clusters" in files:
            self.word_clusters = dict(_pair(line) for line in _unpacked(files["clusters"]))
        self._collect()


class _Sets:
    """The features that a tagger's lexicons give; training documents say how many sentences are before theirs."""

    def __init__(self, tagger: MweTagger) -> None:
        self._tagger = tagger

    def members(self, docs: Sequence[Doc]) -> tuple[Ints, Keys]:
        tagger = self._tagger
        first = docs[0].meta.get(_FOLDS)
        seen = [] if tagger._seen is None else [tagger._seen] if first is None else tagger._folds
        return tagger._features.members(docs, tagger.settings.tag_column, seen, first or 0)

    def names(self, doc: Doc, column: str) -> dict[int, str]:
        tagger = self._tagger
        return tagger._features.names(doc, tagger.settings.tag_column, [] if tagger._seen is None else [tagger._seen])


def recall_cost(space: LabelSpace, extra: float, hamming: bool = True) -> ConfusionCost:
    """The cost of confusing tags: 1 for any error, and more for a beginning that is tagged as outside.

    >>> space = LabelSpace(SCHEMES[3], topology=TOPOLOGIES[3])
    >>> recall_cost(space, 50.0).table
    ((0.0, 1.0, 1.0), (51.0, 0.0, 1.0), (1.0, 1.0, 0.0))
    """
    labels = space.labels
    table = np.zeros((len(labels), len(labels)))
    for i, gold in enumerate(labels):
        for j, guess in enumerate(labels):
            table[i, j] = float(hamming and i != j) + extra * (gold in "Bb" and guess in "Oo")
    return ConfusionCost.of(space.from_labels(table))


def _packed(lines: Iterable[str]) -> NDArray[np.uint8]:
    return np.frombuffer("\n".join(lines).encode(), dtype=np.uint8)


def _unpacked(array: NDArray[Any]) -> list[str]:
    return array.tobytes().decode().split("\n") if array.size else []


def _pair(line: str) -> tuple[str, str]:
    left, _, right = line.partition("\t")
    return left, right
