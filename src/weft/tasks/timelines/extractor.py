"""From text to a timeline: events and times, their attributes, and links that do not contradict each other.

    spans        EVENT and TIMEX3 as labels of words, a linear chain
    attributes   Class of times; DocTimeRel, modality, aspect, polarity, degree and type of events: linear machines
    links        narrative containers, or all relations, between mentions near by (`weft.tasks.timelines.links`)

The baseline of Styler et al. (2014) is a cascade of this kind. A document whose layer has events and times keeps them
and gets what they lack. Time expressions of the layer `times` are used instead of predicted ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from weft.deadline import check
from weft.declared import Stored
from weft.errors import ConfigError, DataError
from weft.evaluate.semantics.timelines import evaluate_timelines
from weft.headers import Many, Record, Table, Text
from weft.infer.orders.intervals import THYME
from weft.pipeline.component import Asked, State, Stopwatch, Trainable, training_docs
from weft.pipeline.settings import Settings, option
from weft.storage import Arrays
from weft.tasks.spans.chunker import Chunker, ChunkerSettings
from weft.tasks.timelines.features import Context, mention_features, time_word
from weft.tasks.timelines.links import (
    Scored,
    assemble,
    candidates,
    closed,
    labels_of,
    local_links,
    propose,
    rows_of,
    sampled,
)
from weft.tasks.timelines.model import FeatureClassifier
from weft.text.conventions.timeline import (
    ATTRIBUTES,
    CLASSES,
    EVENT,
    LAYER,
    TIMEX3,
    Mention,
    document_date,
    mentions_of,
    new_layers,
    spans_of,
    temporal_links,
)
from weft.text.doc import Doc
from weft.text.layers import RelationLayer, SpanLayer
from weft.text.split import with_words

#: Tags and trees are used if all training documents have them.
COLUMNS = ("upos", "head")
LINKS = ("containers", "all", "none")
_SPANS = "mentions"
_WORDS = (
    "true w[-3..3].lower w[0].prefix1..4 w[0].suffix1..4 w[-1..1].suffix3 w[-1..1].shape w[-1].lower|w[0].lower "
    "w[0].lower|w[1].lower z[-3..3] z[-1]|z[0] z[0]|z[1] z[-1]|z[0]|z[1]"
)
_TAGS = "t[-2..2] t[-1]|t[0] t[0]|t[1] t[0]|w[0].suffix3"
HEADER = Record(settings=Table(), columns=Many(Text(COLUMNS)), spans=Table(), names=Many(Text())).with_optional(
    links=Table()
)


@dataclass
class TimelineSettings(Settings):
    """Options of an extractor of timelines."""

    layer: str = option(LAYER, "Span and relation layer of events, times and links.")
    times: str = option("times", "Span layer of time expressions to use, if documents have it.")
    links: str = option("containers", "Links to learn: narrative containers, all relations, or none.", choices=LINKS)
    window: int = option(1, "Sentences before an event in which what it is linked to may stand.")
    negatives: float = option(0.2, "Share of the unlinked pairs to train on.")
    inferred: bool = option(False, "Train on links that follow from others, too.")
    anchored: bool = option(True, "Give up links that contradict the relation of events to the document's time.")
    c: float = option(0.05, "Weight of the loss of the machines of attributes.")
    link_c: float = option(0.1, "Weight of the loss of the machine of links.")
    sigma: float = option(1.0, "Standard deviation of the Gaussian prior of the spans.")
    iterations: int = option(80, "Maximum number of iterations for the spans.")
    seed: int = option(0, "Random seed.")
    workers: int = option(1, "Number of threads; training uses one.", hidden=True)

    def check(self) -> None:
        if self.links not in LINKS:
            raise ConfigError(f"links must be one of {', '.join(LINKS)}, got {self.links!r}")
        for name in ("c", "link_c", "sigma", "iterations"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name} must be above 0, got {getattr(self, name)}")
        if not 0 <= self.negatives <= 1 or self.window < 0:
            raise ConfigError("negatives must be between 0 and 1, and window at least 0")

    @property
    def relations(self) -> tuple[str, ...]:
        """The relations of links to learn."""
        return {"containers": ("CONTAINS",), "all": (*THYME, "SIMULTANEOUS"), "none": ()}[self.links]


class TimelineExtractor(Trainable):
    """Predicts events, times and links.

    >>> def note(day, event):
    ...     doc = Doc.from_words([["On", day, "she", "had", event, "."]])
    ...     spans, links = new_layers(doc)
    ...     _ = spans.add([(1, 2)], "TIMEX3", Class="DATE"), spans.add([(4, 5)], "EVENT", DocTimeRel="BEFORE")
    ...     _ = links.add(0, 1, "CONTAINS")
    ...     return doc
    >>> extractor = TimelineExtractor(TimelineSettings(c=1.0, link_c=1.0))
    >>> days = ("Monday", "Tuesday", "Friday", "Sunday")
    >>> report = extractor.fit([note(day, event) for day in days for event in ("surgery", "fever", "pain")])
    >>> new = Doc.from_words([["On", "Friday", "she", "had", "nausea", "."]])
    >>> extractor([new])
    >>> print(new.timeline())
    Friday
      nausea
    DOCTIME
    """

    task = "timeline"
    settings_class = TimelineSettings
    settings: TimelineSettings
    requires: tuple[str, ...] = ("tokens",)

    def __init__(self, settings: TimelineSettings | None = None) -> None:
        super().__init__(settings)
        self.provides = (f"spans/{self.settings.layer}", f"relations/{self.settings.layer}")
        self.columns: tuple[str, ...] = ()
        self.spans: Chunker | None = None
        self.attributes: dict[str, FeatureClassifier] = {}
        self.linker: FeatureClassifier | None = None

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Train on documents with the layer; dev data is only used for scoring."""
        watch = Stopwatch()
        docs = training_docs(train)
        for doc in docs:
            spans_of(doc, self.settings.layer)
        self.columns = tuple(name for name in COLUMNS if all(doc.has(name) for doc in docs))
        self.requires = ("tokens", *self.columns)
        gold = [self._mentions(doc) for doc in docs]
        if not any(mention.kind == EVENT for mentions in gold for mention in mentions):
            raise DataError(f"there is nothing to train on: the layer {self.settings.layer!r} has no EVENT with words")
        contexts = [Context.of(doc, self.columns) for doc in docs]
        self.spans = self._fit_spans(docs, gold)
        self.attributes = self._fit_attributes(contexts, gold)
        pairs = self._fit_links(docs, contexts, gold)
        kinds = [mention.kind for mentions in gold for mention in mentions]
        report: dict[str, Any] = {
            "training": {
                "documents": len(docs),
                "events": kinds.count(EVENT),
                "times": kinds.count(TIMEX3),
                "pairs": pairs,
                **watch.seconds(),
            }
        }
        if dev is not None:
            report["scores"] = {f"dev {name}": value for name, value in self.scores(with_words(dev)).items()}
        return report

    def scores(self, docs: Sequence[Doc]) -> dict[str, float]:
        """F1 of events, times, DocTimeRel and links that are predicted from the words of annotated documents."""
        system = [self.bare(doc) for doc in docs]
        self(system)
        counts = evaluate_timelines(docs, system, self.settings.layer)
        shown = (EVENT, TIMEX3, "DocTimeRel", "links" if self.settings.links == "all" else "CONTAINS")
        return {f"{name} f1": counts[name].total().f1 for name in shown}

    def bare(self, doc: Doc) -> Doc:
        """A document with the words, tags and trees of another, and nothing else."""
        copy = Doc(doc.text, doc.strings, {name: value for name, value in doc.meta.items() if name in ("id", "date")})
        copy.token_start, copy.token_end, copy.word_token = doc.token_start, doc.token_end, doc.word_token
        copy.sentence_offsets, copy.head = doc.sentence_offsets, doc.head
        copy.columns = {name: ids for name, ids in doc.columns.items() if name in ("form", "upos", "xpos")}
        copy.multiwords, copy.comments = doc.multiwords, doc.comments
        return copy

    def _mentions(self, doc: Doc) -> list[Mention]:
        """Events, times and whatever is linked to them, with words, in the order of the text."""
        found = [mention for mention in mentions_of(doc, self.settings.layer) if mention.start < mention.end]
        return sorted(found, key=lambda mention: (mention.start, mention.end, mention.number))

    def _seen(self, doc: Doc) -> Doc:
        """A document as the chain of spans sees it: with the types of time words as a column."""
        copy = self.bare(doc)
        types = doc.strings.ids([time_word(form) for form in doc.column("form")])
        copy.columns["timeword"] = types
        return copy

    def _fit_spans(self, docs: Sequence[Doc], gold: Sequence[Sequence[Mention]]) -> Chunker:
        settings = self.settings
        tags = "upos" in self.columns
        fields = {"w": "form", "z": "timeword", **({"t": "upos"} if tags else {})}
        templates = f"{_WORDS} {_TAGS if tags else ''} y[-1]"
        chunker = Chunker(
            ChunkerSettings(
                layer=_SPANS, templates=templates, fields=fields, sigma=settings.sigma, iterations=settings.iterations,
                min_count=1, seed=settings.seed,
            )
        )  # fmt: skip
        seen = []
        for doc, mentions in zip(docs, gold, strict=True):
            seen.append(self._seen(doc))
            seen[-1].spans[_SPANS] = SpanLayer.of(doc.strings, flat_spans(doc, mentions))
        chunker.fit(seen)
        return chunker

    def _fit_attributes(
        self, contexts: Sequence[Context], gold: Sequence[Sequence[Mention]]
    ) -> dict[str, FeatureClassifier]:
        """A machine for each attribute that some mentions have."""
        rows: dict[str, list[list[str]]] = {}
        labels: dict[str, list[str]] = {}
        for context, mentions in zip(contexts, gold, strict=True):
            nearby = by_sentence(context, mentions)
            for mention in mentions:
                names = ("Class",) if mention.kind == TIMEX3 else tuple(ATTRIBUTES) if mention.kind == EVENT else ()
                known = [name for name in names if mention.get(name)]
                if known:
                    features = mention_features(context, mention, nearby[context.sentence(mention.start)])
                    for name in known:
                        rows.setdefault(name, []).append(features)
                        labels.setdefault(name, []).append(mention.get(name))
        return {
            name: FeatureClassifier.fit(rows[name], labels[name], self.settings.c, self.settings.seed) for name in rows
        }

    def _fit_links(self, docs: Sequence[Doc], contexts: Sequence[Context], gold: Sequence[Sequence[Mention]]) -> int:
        settings = self.settings
        if not settings.relations:
            return 0
        rows: list[list[str]] = []
        labels: list[str] = []
        for doc, context, mentions in zip(docs, contexts, gold, strict=True):
            links = local_links(mentions, temporal_links(doc, settings.layer))
            if settings.inferred:
                links = closed(links, len(mentions), settings.relations)
            pairs = candidates(context, mentions, settings.window)
            known = labels_of(pairs, links, settings.relations)
            kept = sampled(known, settings.negatives, settings.seed + len(labels))
            rows += rows_of(context, mentions, [pairs[k] for k in kept])
            labels += [known[k] for k in kept]
        if len(set(labels)) > 1:
            self.linker = FeatureClassifier.fit(rows, labels, settings.link_c, settings.seed)
        return len(rows)

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        chunker = self.trained(self.spans)
        seen = [self._seen(doc) for doc in docs if self.settings.layer not in doc.spans]
        if seen:
            chunker(seen)
        predicted = iter(seen)
        for doc in docs:
            check()
            if self.settings.layer not in doc.spans:
                self._set_mentions(doc, next(predicted).spans[_SPANS])
            context = Context.of(doc, self.columns)
            mentions = self._mentions(doc)
            self._set_attributes(doc, context, mentions)
            self._set_links(doc, context, self._mentions(doc))

    def _set_mentions(self, doc: Doc, found: SpanLayer) -> None:
        """Predicted events and times; those of a layer of times go before predicted ones."""
        spans, _ = new_layers(doc, self.settings.layer)
        rows = [(*row.pieces[0], row.label, {}) for row in found]  # type: list[tuple[int, int, str, dict[str, Any]]]
        if self.settings.times in doc.spans:
            probe = Doc(doc.text, doc.strings)
            probe.token_start, probe.token_end, probe.word_token = doc.token_start, doc.token_end, doc.word_token
            probe.sentence_offsets, probe.columns, probe.multiwords = doc.sentence_offsets, doc.columns, doc.multiwords
            probe.spans[self.settings.times] = doc.spans[self.settings.times]
            times = [m for m in mentions_of(probe, self.settings.times) if m.start < m.end]
            taken = {word for mention in times for word in range(mention.start, mention.end)}
            rows = [row for row in rows if row[2] == EVENT and not taken.intersection(range(row[0], row[1]))]
            rows += [
                (m.start, m.end, TIMEX3, {**({"Class": m.kind} if m.kind in CLASSES else {}), **m.attributes})
                for m in times
            ]
        for start, end, label, attributes in sorted(rows, key=lambda row: row[:2]):
            spans.add([(start, end)], label, **attributes)

    def _set_attributes(self, doc: Doc, context: Context, mentions: Sequence[Mention]) -> None:
        """Fill in the attributes that mentions lack."""
        spans = doc.spans[self.settings.layer]
        nearby = by_sentence(context, mentions)
        rows: list[list[str]] | None = None
        for name, model in self.attributes.items():
            kind = TIMEX3 if name == "Class" else EVENT
            lacking = [k for k, mention in enumerate(mentions) if mention.kind == kind and not mention.get(name)]
            if lacking and rows is None:
                rows = [mention_features(context, m, nearby[context.sentence(m.start)]) for m in mentions]
            for k, value in zip(lacking, model.predict([rows[k] for k in lacking] if rows else []), strict=True):
                spans.attributes.setdefault(mentions[k].number, {})[name] = value

    def propose(self, doc: Doc) -> tuple[list[Mention], list[Scored]]:
        """The mentions of a document and the links that the classifier proposes, before they are assembled."""
        context, mentions = Context.of(doc, self.columns), self._mentions(doc)
        return mentions, self._proposed(context, mentions)

    def _proposed(self, context: Context, mentions: Sequence[Mention]) -> list[Scored]:
        if self.linker is None:
            return []
        pairs = candidates(context, mentions, self.settings.window)
        return propose(self.linker, rows_of(context, mentions, pairs), pairs)

    def _set_links(self, doc: Doc, context: Context, mentions: Sequence[Mention]) -> None:
        relations = doc.relations[self.settings.layer] = RelationLayer(doc.strings, self.settings.layer)
        proposed = self._proposed(context, mentions)
        for link, margin in assemble(mentions, proposed, self.settings.anchored, document_date(doc)):
            first, second = mentions[link.first].number, mentions[link.second].number
            relations.add(first, second, link.relation, score=round(margin, 3))

    def state(self) -> State:
        header, arrays = self.trained(self.spans).state()
        headers: dict[str, Any] = {
            "settings": self.saved_settings(), "columns": list(self.columns), "spans": header,
            "names": list(self.attributes),
        }  # fmt: skip
        kept: Arrays = {f"spans/{key}": array for key, array in arrays.items()}
        parts = {f"attribute/{name}": model for name, model in self.attributes.items()}
        if self.linker is not None:
            parts["links"] = self.linker
        for name, model in parts.items():
            headers[name], own = model.state()
            kept |= {f"{name}/{key}": array for key, array in own.items()}
        return headers, kept

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> TimelineExtractor:
        extractor = cls(TimelineSettings.from_saved(header["settings"]))
        HEADER.check(header)
        stored = Stored.of(arrays)
        extractor.columns = tuple(header["columns"])
        extractor.requires = ("tokens", *extractor.columns)
        extractor.spans = Chunker.from_state(header["spans"], stored.under("spans/"))
        for name in header["names"]:
            part = f"attribute/{name}"
            Record(**{part: Table()}).check(header)
            extractor.attributes[name] = FeatureClassifier.from_state(header[part], stored.under(f"{part}/"))
        if "links" in header:
            extractor.linker = FeatureClassifier.from_state(header["links"], stored.under("links/"))
        return extractor


def by_sentence(context: Context, mentions: Sequence[Mention]) -> dict[int, list[Mention]]:
    """The mentions of every sentence that has some."""
    found: dict[int, list[Mention]] = {}
    for mention in mentions:
        found.setdefault(context.sentence(mention.start), []).append(mention)
    return found


def flat_spans(doc: Doc, mentions: Sequence[Mention]) -> list[tuple[int, int, str]]:
    """Events and times without overlaps, within their sentences: of two that overlap, the first."""
    bounds = doc.sentence_offsets.tolist()
    spans: list[tuple[int, int, str]] = []
    sentence = reached = 0
    for mention in mentions:
        while mention.start >= bounds[sentence + 1]:
            sentence += 1
        if mention.kind in (EVENT, TIMEX3) and mention.start >= reached and mention.end <= bounds[sentence + 1]:
            spans.append((mention.start, mention.end, mention.kind))
            reached = mention.end
    return spans
