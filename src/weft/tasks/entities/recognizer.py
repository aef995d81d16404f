"""Named entity recognition: flat spans with one label per word, nested spans level by level.

Beyond words, spelling and tags the recognizer reads

    gazetteers      lists of phrases, one file per list (`weft.features.gazetteer`)
    clusters        word clusters learned from raw text (`weft.lexical.clusters.monolingual`), of one or two kinds
    surroundings    the other occurrences of a word in the document (`weft.features.surroundings`)

With `nested`, one recognizer predicts the outermost spans; a second one, which reads its labels, predicts the spans
directly inside them, and so on for as many levels as the training data has (`weft.text.nesting`):

    p(spans) = p(level 0) * p(level 1 | level 0) * ...

With `second_pass`, a second recognizer reads what the first one found in the whole document, and decides
(`weft.tasks.entities.second_pass`).
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from weft.declared import Stored
from weft.errors import ConfigError, DataError
from weft.features.extract import Binding
from weft.features.gazetteer import Gazetteer
from weft.features.lexicon import WordClasses
from weft.features.surroundings import Surroundings
from weft.headers import Many, Named, Record, Table, Text, Whole
from weft.lexical.clusters.monolingual import load_clusters
from weft.pipeline.component import Asked, State
from weft.pipeline.settings import clusters_option, native_clusters_option, option
from weft.storage import Arrays
from weft.tasks.entities.second_pass import hints, labelled_apart
from weft.tasks.labelling.labeller import LabellerSettings
from weft.tasks.spans.chunker import Chunker, ChunkerSettings
from weft.text.conventions.misc_spans import spans_of_misc
from weft.text.doc import Doc
from weft.text.layers import SpanLayer, words_of_chars
from weft.text.nesting import levels_of

WORDS = (
    "true y[-1] w[0] w[-1] w[1] w[-2..2].lower w[-1].lower|w[0].lower w[0].lower|w[1].lower "
    "w[-2..2].brief w[-1..1].shape w[0].prefix1..4 w[0].suffix1..5 w[-1].suffix2..3 w[1].suffix2..3 "
    "w[-1..1].kind w[-1].kind|w[0].kind w[0].kind|w[1].kind w[-1].kind|w[0].kind|w[1].kind"
)
TAGS = "t[-2..2] t[-1]|t[0] t[0]|t[1] t[-1]|t[0]|t[1]"
GAZETTEERS = "g[-1..1]"
CLUSTERS = "c[-1..1] c[-2..2].prefix4 c[0].prefix8 c[-1].prefix8|c[0].prefix8 c[0].prefix8|c[1].prefix8"
NATIVE = CLUSTERS.replace("c[", "n[") + (
    " n[0].prefix6 n[0].prefix10 n[0].prefix12 n[0].prefix8|w[0].kind n[-1].prefix8|w[0].kind n[0].prefix8|w[1].kind"
)
SURROUNDINGS = "e[0]"
#: Features of the outer levels: their labels, combined with words.
OUTER = "l[-2..2] l[-1]|l[0] l[0]|l[1] l[0]|w[0].lower l[-1]|w[0].lower l[1]|w[0].lower"
#: A level with fewer spans than this is not trained.
FEWEST = 5
#: Maximum number of outer labellings that are expanded for the k best answers.
OPENED = 32
_OUTER = "outer labels"
HEADER = Record(level=Whole(0, 100)).with_optional(
    gazetteers=Named(Many(Text())), word_clusters=Named(Text()), native_clusters=Named(Text()), inner=Table()
)


@dataclass
class EntitySettings(ChunkerSettings):
    """Options of an entity recognizer."""

    layer: str = option("entities", "Span layer to learn and to write.")
    scheme: str | None = option("BIOES", "Labels of words for spans: IO, IOB2 or BIOES.", metavar="SCHEME")
    learner: str = "perceptron"
    epochs: int = 10
    gazetteers: dict[str, str] = option(
        {},
        "Gazetteer: its name and a file of phrases, one per line; repeat for several.",
        flag="--gazetteer",
        metavar="NAME=FILE",
        many=True,
    )
    clusters: str = clusters_option()
    native_clusters: str = native_clusters_option()
    window: int = option(
        600,
        "Look for other occurrences of a word in this many words around it; 0 does not look.",
    )
    nested: bool = option(False, "Learn and find entities inside entities.")
    second_pass: bool = option(False, "Let a second recognizer read what the first one found in the whole document.")

    def check(self) -> None:
        super().check()
        if self.second_pass and self.nested:
            raise ConfigError("a second pass finds flat entities only: choose second_pass or nested")
        if self.window < 0:
            raise ConfigError(f"window must be at least 0, got {self.window}")


class EntityRecognizer(Chunker):
    """Recognizes named entities.

    >>> doc = Doc.from_words([["Ada", "Byron", "lived", "in", "London"], ["She", "left", "Paris"]])
    >>> doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 2, "PER"), (4, 5, "LOC"), (7, 8, "LOC")])
    >>> recognizer = EntityRecognizer()
    >>> report = recognizer.fit([doc])
    >>> new = Doc.from_words([["She", "lived", "in", "Paris"]])
    >>> recognizer([new])
    >>> new.span_views("entities")
    [Span('Paris', 'LOC')]
    """

    task = "ner"
    settings_class = EntitySettings
    settings: EntitySettings

    def __init__(self, settings: LabellerSettings | None = None, level: int = 0) -> None:
        super().__init__(settings)
        self.level = level
        self.inner: EntityRecognizer | None = None
        self._gazetteer: Gazetteer | None = None
        self._clusters: WordClasses | None = None
        self._native: WordClasses | None = None

    def default_features(self, docs: Sequence[Doc]) -> tuple[str, dict[str, str]]:
        tags = next((column for column in ("xpos", "upos") if all(doc.has(column) for doc in docs)), None)
        settings = self.settings
        parts = {
            WORDS: True,
            TAGS: tags is not None,
            GAZETTEERS: settings.gazetteers,
            CLUSTERS: settings.clusters,
            NATIVE: settings.native_clusters,
            SURROUNDINGS: settings.window,
            OUTER: self.level,
        }
        observed = " ".join(templates for templates, wanted in parts.items() if wanted)
        if settings.order == 2:
            observed = f"(true y[-1])|({observed.replace(' y[-1]', '', 1)}) y[-2]|y[-1]"
        return observed, {"w": "form", **({"t": tags} if tags else {})}

    def prepare(self, docs: Sequence[Doc]) -> None:
        settings = self.settings
        if settings.gazetteers:
            self._gazetteer = Gazetteer({name: read_phrases(path) for name, path in settings.gazetteers.items()})
        if settings.clusters:
            self._clusters = WordClasses(load_clusters(settings.clusters))
        if settings.native_clusters:
            self._native = WordClasses(load_clusters(settings.native_clusters))

    def bindings(self) -> Mapping[str, Binding]:
        bindings: dict[str, Binding] = {"l": f"{_OUTER}:set"}
        if self._gazetteer is not None:
            bindings["g"] = self._gazetteer
        if self._clusters is not None:
            bindings["c"] = self._clusters
        if self._native is not None:
            bindings["n"] = self._native
        if self.settings.window:
            bindings["e"] = Surroundings(self.settings.window)
        return {**self.settings.fields, **bindings}

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        docs = [self._in_words(doc) for doc in train]
        held_out = None if dev is None else [self._in_words(doc) for doc in dev]
        self.inner = None
        if not self.settings.nested:
            if not all(doc.spans[self.settings.layer].is_flat() for doc in docs if self.settings.layer in doc.spans):
                raise DataError(
                    f"spans of the layer {self.settings.layer!r} overlap or have gaps; train with --nested (in Python "
                    "nested=True) for spans inside spans, `weft train spans` for gaps"
                )
            if self.settings.second_pass:
                return self._fit_twice(docs, held_out)
            return super().fit(docs, held_out)
        outermost, rest = self._split(docs)
        own_dev, rest_dev = (None, None) if held_out is None else self._split(held_out)
        asked = self.settings.templates
        report = super().fit(outermost, own_dev)
        report["training"]["levels"] = 1
        if sum(len(doc.spans[self.settings.layer]) for doc in rest) >= FEWEST:
            settings = replace(self.settings, templates=asked, fields=dict(self.settings.fields))
            self.inner = EntityRecognizer(settings, self.level + 1)
            more = self.inner.fit(rest, rest_dev)["training"]
            for name in ("cpu_seconds", "seconds", "weights", "levels"):
                report["training"][name] += more[name]
        return report

    def _fit_twice(self, docs: list[Doc], held_out: list[Doc] | None) -> dict[str, Any]:
        """Train the first recognizer, and the second one on documents that the first was not trained on."""
        settings = replace(self.settings, second_pass=False, fields=dict(self.settings.fields))

        def label(others: Sequence[Doc], part: Sequence[Doc]) -> list[Doc]:
            first = EntityRecognizer(replace(settings, fields=dict(settings.fields)))
            first.fit(others)
            return first.hinted(part)

        train = labelled_apart([doc for doc in docs if doc.n_words], label)
        report = super().fit(docs, held_out)
        self.inner = EntityRecognizer(settings, self.level + 1)
        dev = None if held_out is None else self.hinted(held_out)
        second = self.inner.fit(train, dev)
        report["training"]["weights"] += second["training"]["weights"]
        return {**report, **({"scores": second["scores"]} if "scores" in second else {})}

    def hinted(self, docs: Sequence[Doc]) -> list[Doc]:
        """Documents with what this recognizer finds in them as a column for a second one; their spans stay."""
        bare = [copy.copy(doc) for doc in docs]
        for doc in bare:
            doc.spans = {}
        super().annotate(bare, Asked())
        return [self._with_hints(doc, new) for doc, new in zip(docs, bare, strict=True)]

    def _with_hints(self, doc: Doc, found: Doc) -> Doc:
        hinted = copy.copy(doc)
        hinted.columns = dict(doc.columns)
        hinted.set_column(_OUTER, hints(doc.column("form"), self.gold(found)))
        return hinted

    def _in_words(self, doc: Doc) -> Doc:
        """The document with entities as word ranges; for CoNLL-U they are read from MISC."""
        name = self.settings.layer
        layer = doc.spans.get(name)
        if layer is not None and layer.unit == "words":
            return doc
        converted = copy.copy(doc)
        read = spans_of_misc(doc) if layer is None else words_of_chars(doc, layer)
        converted.spans = doc.spans if read is None else {**doc.spans, name: read}
        return converted

    def _split(self, docs: Sequence[Doc]) -> tuple[list[Doc], list[Doc]]:
        """Documents with the spans of the outermost level, and documents with its labels and the spans inside."""
        name = self.settings.layer
        outermost, rest = [], []
        for doc in docs:
            layer = doc.spans.get(name)
            if layer is None:
                known = ", ".join(doc.spans) or "none"
                raise DataError(f"the training data has no span layer {name!r} (it has: {known}); set layer=NAME")
            if any(len(pieces) > 1 for pieces, _ in layer):
                raise DataError(f"spans of the layer {name!r} have gaps; train them with `weft train spans`")
            spans = sorted({(*pieces[0], label) for pieces, label in layer})
            level = levels_of(spans)
            level_doc, more = copy.copy(doc), copy.copy(doc)
            for new, wanted in ((level_doc, True), (more, False)):
                kept = [span for span, height in zip(spans, level, strict=True) if (height == 0) == wanted]
                new.spans = {**doc.spans, name: SpanLayer.of(doc.strings, kept)}
            outermost.append(level_doc)
            rest.append(self._with_labels(more, self.gold(level_doc)))
        return outermost, rest

    def _with_labels(self, doc: Doc, labels: list[str]) -> Doc:
        """The document with the labels of this level added to those of the outer levels."""
        labelled = copy.copy(doc)
        labelled.columns = dict(doc.columns)
        current = [f"{self.level}{label}" if label != "O" else "" for label in labels]
        outer = doc.column(_OUTER)
        labelled.set_column(_OUTER, ["|".join(filter(None, pair)) for pair in zip(outer, current, strict=True)])
        return labelled

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        if self.inner is not None and self.settings.second_pass:
            again = self.hinted(docs)
            self.inner.annotate(again, asked)
            for doc, new in zip(docs, again, strict=True):
                doc.spans[self.settings.layer] = new.spans[self.settings.layer]
            return
        super().annotate(docs, asked)
        if self.inner is None:
            return
        name = self.settings.layer
        inside = [self._with_labels(doc, self.gold(doc)) for doc in docs]
        for doc in inside:
            doc.spans = {}
        self.inner(inside, probabilities=asked.probabilities)
        for doc, other in zip(docs, inside, strict=True):
            doc.spans[name] = _joined(doc.spans[name], other.spans[name])

    def kbest(self, doc: Doc, k: int) -> list[list[tuple[list[str], float]]]:
        """The k most probable answers of every sentence; nested levels share a label, `B-ORG B-LOC`, outermost first.

        Labellings of the outer level are expanded, best first, until no further one can improve the k best: an answer
        is never more probable than its outer level. At most `OPENED` are expanded.
        """
        if self.inner is not None and self.settings.second_pass:
            return self.inner.kbest(self.hinted([doc])[0], k)
        if self.inner is None:
            return super().kbest(doc, k)
        best: list[list[tuple[list[str], float]]] = [[] for _ in range(doc.n_sentences)]
        bounds = doc.sentence_offsets.tolist()
        outer = super().kbest(doc, max(k, OPENED))
        for rank in range(max(map(len, outer), default=0)):
            still = [
                rank < len(paths) and (len(answers) < k or paths[rank][1] > answers[-1][1])
                for paths, answers in zip(outer, best, strict=True)
            ]
            if not any(still):
                break
            labels = [label for paths in outer for label in paths[min(rank, len(paths) - 1)][0]]
            inside = self.inner.kbest(self._with_labels(doc, labels), k)
            for s, paths in enumerate(inside):
                if still[s]:
                    outer_labels, p = labels[bounds[s] : bounds[s + 1]], outer[s][rank][1]
                    new = [([f"{a} {b}" for a, b in zip(outer_labels, path, strict=True)], p * q) for path, q in paths]
                    best[s] = sorted([*best[s], *new], key=lambda answer: -answer[1])[:k]
        return best

    def state(self) -> State:
        header, arrays = super().state()
        header["level"] = self.level
        header["settings"].update(
            gazetteers={}, clusters="", native_clusters=""
        )  # paths of the training machine; the model contains the files
        if self._gazetteer is not None:
            header["gazetteers"] = self._gazetteer.lists
        if self._clusters is not None:
            header["word_clusters"] = self._clusters.classes
        if self._native is not None:
            header["native_clusters"] = self._native.classes
        if self.inner is not None:
            header["inner"], inner_arrays = self.inner.state()
            arrays.update({f"inner/{name}": array for name, array in inner_arrays.items()})
        return header, arrays

    def restore(self, header: Mapping[str, Any], arrays: Arrays) -> None:
        HEADER.check(header)
        self.level = header["level"]
        if "gazetteers" in header:
            self._gazetteer = Gazetteer(header["gazetteers"])
        if "word_clusters" in header:
            self._clusters = WordClasses(header["word_clusters"])
        if "native_clusters" in header:
            self._native = WordClasses(header["native_clusters"])
        if "inner" in header:
            self.inner = EntityRecognizer.from_state(header["inner"], Stored.of(arrays).under("inner/"))


def read_phrases(path: str) -> list[str]:
    """The phrases of a file, one per line; empty lines are skipped."""
    from weft.formats.streams import read_text

    return [line for line in map(str.strip, read_text(path).splitlines()) if line]


def _joined(one: SpanLayer, other: SpanLayer) -> SpanLayer:
    """The spans of two levels in text order, longer ones first, without duplicates."""
    rows: dict[Any, dict[str, Any]] = {}
    for layer in (one, other):
        for number, row in enumerate(layer):
            rows.setdefault(row, layer.attributes.get(number, {}))
    joined = SpanLayer(one.strings)
    for row in sorted(rows, key=lambda row: (row.pieces[0][0], -row.pieces[0][1], row.label)):
        joined.add(row.pieces, row.label, **rows[row])
    return joined
