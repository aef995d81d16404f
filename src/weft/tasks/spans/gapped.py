"""Spans that may have gaps, overlap and nest: multilabel classification over all spans of a sentence.

    predicted(x) = { y in the k best segments of x : w . f(x, y) > threshold, no conflict with a better one }

Training moves the weights as little as needed per sentence for gold segments to score at least +1 and for wrong
segments among the k best to score at most -1 (McDonald, Crammer and Pereira 2005). `restrictions` exclude
configurations that do not occur in the data (gaps, overlap, embedding), both in training and in prediction.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from weft.arrays import Floats
from weft.errors import ConfigError, DataError
from weft.evaluate.counts import Score
from weft.features.templates import Templates
from weft.infer.chains.multilabel import Restrictions, Segment, pieces, positions
from weft.learn.online.demands import Demands, Pairwise, Separate
from weft.learn.training import Checkpoint, EarlyStopping, Result
from weft.pipeline.component import Asked, State, Stopwatch, Trainable, training_docs
from weft.pipeline.settings import Settings, option, template_fields_option
from weft.storage import Arrays
from weft.tasks.spans.gapped_data import SegmentData, SegmentReader, SegmentScorer
from weft.text.doc import Doc
from weft.text.layers import Pieces, SpanLayer, words_of_chars
from weft.text.split import with_words

#: Templates for selected words, for both words of an edge, and for skipped words; tags are added if available.
NODE = "true w[-1..1] w[-1..1].lower w[-1..1].shape w[-1..1].prefix2..4 w[-1..1].suffix2..4"
PAIR = "w[-1] w[0] w[1] w[0].shape w[0].brief w[0].suffix3"
BETWEEN = "w[0].lower w[0].brief w[0].suffix3 w[-1].lower|w[0].lower"
DEMANDS: dict[str, Demands] = {"separate": Separate(), "pairwise": Pairwise()}


class Found(NamedTuple):
    """A predicted segment of a sentence with its score; its pieces are half-open ranges of words."""

    pieces: Pieces
    label: str
    score: float


@dataclass
class GappedSpanSettings(Settings):
    """Options of a segment finder."""

    layer: str = option("entities", "Span layer to learn and to write.")
    templates: str = option("", "Feature templates in the blocks node, pair and between; without any, the task's own.")
    fields: dict[str, str] = template_fields_option({})
    restrictions: str = option("none", "What never occurs: contiguous, no-overlap, no-embedding, or none.")
    gap: int = option(10, "Largest distance between consecutive words of a span; 0 allows any.")
    k: int = option(0, "Best spans considered per sentence; 0 considers one per word.")
    threshold: float = option(0.0, "Score that spans must exceed.")
    tune: bool = option(True, "Tune the threshold for F1 on the dev data.")
    learner: str = option("mira", "Learning algorithm.", choices=("mira", "perceptron"))
    form: str = option(
        "separate",
        "Constraints of mira: a margin for each span, or for each correct and wrong pair.",
        choices=tuple(DEMANDS),
    )
    cap: float = option(0.0, "Largest step of mira; 0 sets no limit.")
    epochs: int = option(10, "Passes over the data.")
    average: bool = option(True, "Average the weights over all steps.")
    patience: int = option(3, "Stop after this many scores on the dev data without an improvement.")
    min_count: int = option(1, "Leave out features that occur less often.")
    hash_bits: int = option(0, "Hash features into 2^N rows instead of indexing them; 0 indexes them.", metavar="N")
    precision: str = option("float32", "Precision of the saved weights.", choices=("float32", "int16", "int8"))
    prune: float = option(0.0, "Drop weights of at most this size from the saved model.")
    seed: int = option(0, "Random seed.")
    workers: int = option(1, "Number of threads; training uses one.", hidden=True)
    checkpoint: str = option("", "File that keeps the state of training, to resume an interrupted run.", metavar="FILE")

    def check(self) -> None:
        for name, known in (("learner", ("mira", "perceptron")), ("form", tuple(DEMANDS))):
            if getattr(self, name) not in known:
                raise ConfigError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        for name in ("epochs", "patience", "min_count"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name} must be above 0, got {getattr(self, name)}")
        for name in ("gap", "k", "cap"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must be at least 0, got {getattr(self, name)}")
        Restrictions.read(self.restrictions, self.gap)


class GappedSpanFinder(Trainable):
    """Predicts segments that may have gaps, overlap and nest.

    >>> doc = Doc.from_words([["Tom", "and", "Ann", "Lee", "left"], ["Bob", "and", "Ann", "Lee", "sang"]])
    >>> doc.spans["entities"] = SpanLayer(doc.strings)
    >>> for start in (0, 5):
    ...     _ = doc.spans["entities"].add([(start, start + 1), (start + 3, start + 4)], "PER")
    ...     _ = doc.spans["entities"].add([(start + 2, start + 4)], "PER")
    >>> finder = GappedSpanFinder()
    >>> report = finder.fit([doc])
    >>> new = Doc.from_words([["Jim", "and", "Ann", "Lee", "slept"]])
    >>> finder([new])
    >>> sorted(row.pieces for row in new.spans["entities"])
    [((0, 1), (3, 4)), ((2, 4),)]
    """

    task = "segments"
    settings_class = GappedSpanSettings
    settings: GappedSpanSettings
    unsaved = ("workers", "checkpoint")

    def __init__(self, settings: GappedSpanSettings | None = None) -> None:
        super().__init__(settings)
        self.restrictions = Restrictions.read(self.settings.restrictions, self.settings.gap)
        self.scorer: SegmentScorer | None = None
        self.provides = (f"spans/{self.settings.layer}",)

    def gold(self, doc: Doc) -> list[list[tuple[Pieces, str]]]:
        """The gold segments of every sentence, in its word indices."""
        return sentence_segments(doc, self.settings.layer)

    def default_features(self, docs: Sequence[Doc]) -> tuple[str, dict[str, str]]:
        """Default templates and fields for the layers of the training data."""
        tags = next((column for column in ("xpos", "upos") if all(doc.has(column) for doc in docs)), None)
        if tags is None:
            return f"{NODE}\npair: {PAIR}\nbetween: {BETWEEN}", {"w": "form"}
        return f"{NODE} t[-1..1]\npair: {PAIR} t[0]\nbetween: {BETWEEN} t[0]", {"w": "form", "t": tags}

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Train on annotated documents; with dev data, stop when its F1 no longer improves and tune the threshold."""
        watch = Stopwatch()
        settings = self.settings
        docs = training_docs(train)
        if not settings.templates:
            settings.templates, bound = self.default_features(docs)
            settings.fields = {**bound, **settings.fields}
        gold = [sentence for doc in docs for sentence in self.gold(doc)]
        data = self.encode(docs, gold)
        early = None
        held_out: list[Doc] = []
        held_out_gold: list[list[tuple[Pieces, str]]] = []
        if dev is not None:
            held_out = with_words(dev)
            held_out_gold = [sentence for doc in held_out for sentence in self.gold(doc)]
            batches = [batch for doc in held_out for batch in data.encode(doc)]
            if not batches:
                raise DataError("the dev set has no words")

            def score(weights: Floats) -> float:
                rankings = (data.model.score(batch, weights).ranked(settings.k)[0] for batch in batches)
                ranked = [_found(ranking, data.types) for ranking in rankings]
                return threshold_curve(ranked, held_out_gold, [settings.threshold])[0][1].f1

            early = EarlyStopping(score, settings.patience)
        result = learn(data, settings, early)
        self.scorer = data.freeze(result.weights, settings.precision, settings.prune)
        self.requires = self._required()
        learned = sum(self.restrictions.reach(segment) for batch in data.batches for segment in (batch.gold or [[]])[0])
        report: dict[str, Any] = {
            "training": {
                "sentences": len(data.batches),
                "segments": sum(map(len, gold)),
                "beyond_restrictions": sum(map(len, gold)) - learned,
                "types": len(data.types),
                "features": sum(map(len, data.indexes)),
                "weights": data.model.size,
                "learner": settings.learner,
                "iterations": result.iterations,
                "loss": result.loss,
                "stopped": result.why,
                **watch.seconds(),
            }
        }
        if early is not None:
            curve = threshold_curve(self.ranked(held_out), held_out_gold)
            if settings.tune:
                settings.threshold = max(curve, key=lambda point: (point[1].f1, -abs(point[0])))[0]
            report["scores"] = {
                "dev": next(score.f1 for theta, score in curve if theta == settings.threshold)
                if settings.tune
                else early.best_score,
                "threshold": settings.threshold,
                "best_iteration": early.best_iteration,
            }
        return report

    def encode(self, docs: Sequence[Doc], gold: Sequence[Sequence[tuple[Pieces, str]]]) -> SegmentData:
        """Encode documents and their segments as a training set with these settings."""
        settings = self.settings
        types = sorted({label for sentence in gold for _, label in sentence})
        if not types:
            raise DataError(f"the training data has no spans in the layer {settings.layer!r}; set layer=NAME")
        number = {label: i for i, label in enumerate(types)}
        numbered = [
            list(dict.fromkeys(Segment(number[label], positions(each)) for each, label in sentence))
            for sentence in gold
        ]
        reader = SegmentReader(Templates(settings.templates), settings.fields, self.restrictions.gap)
        return SegmentData.build(
            reader,
            docs,
            numbered,
            types,
            self.restrictions,
            settings.threshold,
            settings.k,
            settings.min_count,
            settings.hash_bits,
        )

    def ranked(self, docs: Iterable[Doc]) -> list[list[Found]]:
        """The best segments of every sentence that satisfy the restrictions, best first, regardless of the
        threshold."""
        scorer = self._trained()
        rankings: list[list[Found]] = []
        for doc in docs:
            segments = scorer.segments(doc, self.restrictions)
            rankings += [_found(ranking, scorer.types) for ranking in segments.ranked(self.settings.k)]
        return rankings

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        for doc in docs:
            layer = SpanLayer(doc.strings)
            offsets = doc.sentence_offsets.tolist()
            for first, sentence in zip(offsets, self.ranked([doc]), strict=False):
                kept = [segment for segment in sentence if segment.score > self.settings.threshold]
                for segment in sorted(kept):
                    moved = [(first + start, first + end) for start, end in segment.pieces]
                    layer.add(moved, segment.label, score=round(segment.score, 4))
            doc.spans[self.settings.layer] = layer

    def _trained(self) -> SegmentScorer:
        return self.trained(self.scorer)

    def _required(self) -> tuple[str, ...]:
        columns = (binding.partition(":")[0] for binding in self.settings.fields.values())
        return ("tokens", *dict.fromkeys(column for column in columns if column != "form"))

    def state(self) -> State:
        header, arrays = self._trained().state()
        return {"settings": self.saved_settings(), "segments": header}, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> GappedSpanFinder:
        settings = GappedSpanSettings.from_saved(header["settings"])
        finder = cls(settings)
        reader = SegmentReader(Templates(settings.templates), settings.fields, finder.restrictions.gap)
        finder.scorer = SegmentScorer.from_state(reader, header["segments"], arrays)
        finder.requires = finder._required()
        return finder


def learn(data: SegmentData, settings: GappedSpanSettings, early: EarlyStopping | None = None) -> Result:
    """Run the learner that the settings name."""
    from weft import learn as room

    checkpoint = Checkpoint(settings.checkpoint) if settings.checkpoint else None
    learner: Any
    if settings.learner == "perceptron":
        learner = room.Perceptron(epochs=settings.epochs, average=settings.average, seed=settings.seed)
    else:
        learner = room.MIRA(
            epochs=settings.epochs,
            k=settings.k,
            cap=settings.cap or math.inf,
            average=settings.average,
            seed=settings.seed,
            demands=DEMANDS[settings.form],
        )
    result: Result = learner.fit(data.model, data.batches, early=early, checkpoint=checkpoint)
    return result


def sentence_segments(doc: Doc, layer: str) -> list[list[tuple[Pieces, str]]]:
    """The spans of a layer, per sentence and in its word indices; spans that cross a sentence boundary are left out.

    >>> doc = Doc.from_words([["a", "b"], ["c", "d", "e"]])
    >>> doc.spans["x"] = SpanLayer(doc.strings)
    >>> doc.spans["x"].add([(2, 3), (4, 5)], "X")
    0
    >>> sentence_segments(doc, "x")
    [[], [(((0, 1), (2, 3)), 'X')]]
    """
    spans = doc.spans.get(layer)
    if spans is None:
        known = ", ".join(doc.spans) or "none"
        raise DataError(f"the data has no span layer {layer!r} (it has: {known}); set layer=NAME")
    offsets = doc.sentence_offsets
    segments: list[list[tuple[Pieces, str]]] = [[] for _ in range(doc.n_sentences)]
    for row in words_of_chars(doc, spans):
        first, end = min(start for start, _ in row.pieces), max(end for _, end in row.pieces)
        sentence = int(np.searchsorted(offsets, first, side="right")) - 1
        if end <= offsets[sentence + 1]:
            begin = int(offsets[sentence])
            words = positions((start - begin, stop - begin) for start, stop in row.pieces)
            segments[sentence].append((pieces(words), row.label))
    return segments


def threshold_curve(
    ranked: Sequence[Sequence[Found]],
    gold: Sequence[Sequence[tuple[Pieces, str]]],
    thresholds: Sequence[float] | None = None,
) -> list[tuple[float, Score]]:
    """Scores for every threshold from one ranking, as a threshold only truncates the list of a sentence.

    >>> ranked = [[Found(((0, 1),), "X", 0.5), Found(((1, 2),), "X", -0.2)]]
    >>> curve = threshold_curve(ranked, [[(((0, 1),), "X"), (((1, 2),), "X")]], [-1.0, 0.0, 1.0])
    >>> [(theta, score.precision, score.recall) for theta, score in curve]
    [(-1.0, 1.0, 1.0), (0.0, 1.0, 0.5), (1.0, 0.0, 0.0)]
    """
    steps = [round(0.1 * i - 1.0, 1) for i in range(21)] if thresholds is None else list(thresholds)
    total = sum(len(set(sentence)) for sentence in gold)
    scores, right = [], []
    for ranking, sentence in zip(ranked, gold, strict=True):
        wanted = set(sentence)
        scores += [each.score for each in ranking]
        right += [(each.pieces, each.label) in wanted for each in ranking]
    values, correct = np.array(scores, dtype=np.float64), np.array(right, dtype=bool)
    return [
        (theta, Score(total, int((values > theta).sum()), int((correct & (values > theta)).sum()))) for theta in steps
    ]


def above(ranked: Sequence[Sequence[Found]], threshold: float = 0.0) -> list[list[tuple[Pieces, str]]]:
    """The segments that score above a threshold, in the form used for evaluation."""
    return [[(each.pieces, each.label) for each in ranking if each.score > threshold] for ranking in ranked]


def split_by_shape(
    segments: Sequence[Sequence[tuple[Pieces, str]]],
) -> tuple[list[list[tuple[Pieces, str]]], list[list[tuple[Pieces, str]]]]:
    """Split segments into those that one label per word can represent and the others, which have gaps or overlap.

    >>> flat, other = split_by_shape([[(((0, 1), (2, 3)), "X"), (((1, 3),), "X"), (((4, 5),), "X")]])
    >>> flat, other
    ([[(((4, 5),), 'X')]], [[(((0, 1), (2, 3)), 'X'), (((1, 3),), 'X')]])
    """
    plain, other = [], []
    for sentence in segments:
        uses: dict[int, int] = {}
        for each, _ in sentence:
            for word in positions(each):
                uses[word] = uses.get(word, 0) + 1
        special = [len(each) > 1 or any(uses[word] > 1 for word in positions(each)) for each, _ in sentence]
        plain.append([item for item, odd in zip(sentence, special, strict=True) if not odd])
        other.append([item for item, odd in zip(sentence, special, strict=True) if odd])
    return plain, other


def with_gaps(segments: Sequence[Sequence[tuple[Pieces, str]]]) -> list[list[tuple[Pieces, str]]]:
    """The discontinuous segments of every sentence.

    >>> with_gaps([[(((0, 1), (2, 3)), "X"), (((1, 3),), "X")]])
    [[(((0, 1), (2, 3)), 'X')]]
    """
    return [[item for item in sentence if len(item[0]) > 1] for sentence in segments]


def _found(ranking: Sequence[tuple[Segment, float]], types: Sequence[str]) -> list[Found]:
    return [Found(pieces(segment.words), types[segment.type], score) for segment, score in ranking]
