"""Entity recognizers for a language without labelled text, trained over a bitext with a source-language recognizer.

The alignment links project the source model's probability of every label (Wang and Manning 2014). With A(i) the source
words linked to target word i, and E the probabilities of the trained model,

    soft    t_i = mean over a in A(i) of p_source(y_a | x)
    hard    the same with all of p_source(y_a | x) on its best label
    ptt     project, then train: best labels are projected and treated as gold, unlinked words as O

    L = sum over labelled sentences of log p(y | x) - strength * sum over linked words of distance(t_i, E_i)
        - |w|^2 / (2 sigma^2)

with `weft.learn.chains.label_targets` for the second term. Words without a link are unconstrained. Labels follow the
scheme IO, because links do not preserve the beginnings of phrases. Errors of the source model can be corrected on
average (`weft.learn.bitext.source_noise`). The second term is not convex and keeps improving after the model has
stopped improving: give dev data, which is scored after every iteration.

The trained component is an ordinary entity recognizer and is saved as one.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Bools, Floats
from weft.errors import ConfigError, DataError
from weft.evaluate.labels.weak_report import weak_report
from weft.features.extract import sentence_offsets
from weft.learn.bitext.projection import project_labels, project_posteriors
from weft.learn.bitext.source_noise import Confusion, read_confusion
from weft.learn.chains.label_targets import LabelExpectations, LabelTargets
from weft.learn.chains.labels import LabelSpace
from weft.learn.training import Checkpoint, EarlyStopping, Result
from weft.pipeline.component import State
from weft.pipeline.pipeline import Pipeline
from weft.pipeline.settings import option
from weft.tasks.entities.recognizer import EntityRecognizer, EntitySettings
from weft.tasks.labelling.chain_data import ChainData
from weft.tasks.spans.chunker import Chunker
from weft.text.bitext import Links
from weft.text.doc import Doc
from weft.text.schemes import split_label

PROJECTIONS = ("soft", "hard", "ptt")


@dataclass(frozen=True)
class Bitext:
    """Parallel documents in two languages, with the same number of sentences, and the links between their words."""

    source: Sequence[Doc]
    target: Sequence[Doc]
    links: Links


@dataclass(frozen=True)
class Projected:
    """Projected labels of target words, `values[word, label]`; zeros where nothing is projected."""

    labels: list[str]
    values: Floats
    constrained: Bools
    pairs: int  # sentences


@dataclass
class ProjectionSettings(EntitySettings):
    """Options of a recognizer trained over a bitext."""

    scheme: str | None = option("IO", "Labels of words for spans; only IO.", metavar="SCHEME")
    learner: str = option("crf", "Learning algorithm; only crf.", choices=("crf",))
    features: str = option(
        "all", "Weights for all labels, as a bitext does not show which labels a feature occurs with.", choices=("all",)
    )
    iterations: int = 100
    patience: int = 20
    window: int = option(
        0,
        "Look for other occurrences of a word in this many words around it; 0 does not look.",
    )
    project: str = option(
        "soft", "What crosses the links: probabilities, labels, or labels of confident sentences.", choices=PROJECTIONS
    )
    distance: str = option(
        "squared", "Distance between projected and predicted probabilities.", choices=("squared", "kl")
    )
    strength: float = option(1.0, "Weight of the bitext beside labelled sentences.")
    threshold: float = option(0.0, "Leave out links with a lower score.")
    start: str = option(
        "zeros", "Initial weights: zeros, or those of labelled sentences alone.", choices=("zeros", "labelled")
    )
    source_text: str = option("", "File of the bitext's sentences in the source language.", hidden=True)
    target_text: str = option("", "File of the bitext's sentences in the language to learn.", hidden=True)
    links: str = option(
        "", "File of word links i-j, a line per sentence pair, as `weft align` writes it.", metavar="FILE"
    )
    source_model: str = option("", "Model that recognizes entities in the source language.", metavar="MODEL")
    confusion: str = option(
        "", "File of the source model's confusions: a row per true label, a column per answer.", metavar="FILE",
        flag="--confusion-table",
    )  # fmt: skip

    def check(self) -> None:
        super().check()
        choices = {
            "project": PROJECTIONS,
            "distance": ("squared", "kl"),
            "start": ("zeros", "labelled"),
            "scheme": ("IO",),
            "learner": ("crf",),
        }
        for name, known in choices.items():
            if getattr(self, name) not in known:
                raise ConfigError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        if self.strength <= 0:
            raise ConfigError(f"strength must be above 0, got {self.strength}")
        if not 0 <= self.threshold <= 1:
            raise ConfigError(f"threshold must be from 0 to 1, got {self.threshold}")
        if self.nested:
            raise ConfigError("nested names cannot be learned from a bitext; leave out nested")


class ProjectedRecognizer(EntityRecognizer):
    """An entity recognizer supervised through the links of a bitext.

    `fit_bitext` trains it. `fit` does so if the settings name the files of a bitext; otherwise it is the ordinary
    training on labelled text.
    """

    settings_class = ProjectionSettings
    settings: ProjectionSettings
    look_every = 1

    def __init__(self, settings: ProjectionSettings | None = None) -> None:
        super().__init__(settings)
        self._evidence: Projected | None = None

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        settings = self.settings
        if self._evidence is not None or not settings.links:
            return super().fit(train, dev)
        from weft.formats.bitext import read_side
        from weft.formats.pharaoh import read_links
        from weft.pipeline import models

        missing = [name for name in ("source_text", "target_text", "source_model") if not getattr(settings, name)]
        if missing:
            raise ConfigError(
                f"a bitext needs the files source_text, target_text, links and source_model; set {missing[0]}"
            )
        bitext = Bitext(read_side(settings.source_text), read_side(settings.target_text), read_links(settings.links))
        confusion = read_confusion(settings.confusion) if settings.confusion else None
        return self.fit_bitext(bitext, Pipeline.load(models.find(settings.source_model)), train, dev, confusion)

    def fit_bitext(
        self,
        bitext: Bitext,
        source_model: Pipeline | Chunker,
        labelled: Iterable[Doc] = (),
        dev: Iterable[Doc] | None = None,
        confusion: Confusion | None = None,
    ) -> dict[str, Any]:
        """Train on a bitext, a model of its source language, and optional labelled sentences."""
        settings = self.settings
        links = bitext.links.above(settings.threshold)
        evidence = project(replace(bitext, links=links), source_model, settings.project, confusion)
        if not evidence.constrained.any():
            raise DataError(
                "no target word is linked to a source word; align the bitext (`weft align`), or lower the threshold"
            )
        gold = [self._in_words(doc) for doc in labelled]
        best = np.where(evidence.constrained, evidence.values.argmax(axis=1), evidence.labels.index("O"))
        target = [_own_spans(doc) for doc in bitext.target]
        self.write_all(target, evidence.labels, best, None)
        self._evidence = evidence
        try:
            report = self.fit([*gold, *target], dev)
        finally:
            self._evidence = None
        words = len(evidence.constrained)
        report["training"] |= {
            "labelled_sentences": sum(doc.n_sentences for doc in gold),
            "pairs": links.n_pairs,
            "links": len(links),
            "projection": settings.project,
        }
        labels, posteriors = self.posteriors(bitext.target)
        weak = weak_report(np.full(words, float(len(labels))), evidence.constrained, confidence=posteriors.max(axis=1))
        report["bitext"] = {"linked_words": weak.coverage, "confidence": [list(row) for row in weak.histogram]}
        return report

    def label_space(self, labels: Iterable[str], order: int) -> LabelSpace:
        projected = [] if self._evidence is None else self._evidence.labels
        return super().label_space([*labels, *projected], order)

    def learn(self, data: ChainData, docs: Sequence[Doc], early: EarlyStopping | None) -> Result:
        evidence = self._evidence
        if evidence is None or self.settings.project == "ptt":
            return super().learn(data, docs, early)
        from weft.learn import LBFGS, Gold, Objective, TotalObjective, minimize

        settings, model, batch = self.settings, data.model, data.batch
        first = len(batch) - evidence.pairs  # labelled sentences come before those of the bitext
        bitext = batch.cut(first, len(batch))
        columns = [evidence.labels.index(label) if label in evidence.labels else -1 for label in model.space.labels]
        values = np.hstack([evidence.values, np.zeros((len(evidence.values), 1))])[:, columns]
        targets = LabelTargets.of(values, evidence.constrained, model.space, bitext.sentences)
        bitext = replace(bitext, gold=None, constraints=targets)
        objectives = [
            Objective(
                model, list(bitext.batches()), LabelExpectations(settings.distance, settings.strength),
                sigma=settings.sigma, workers=settings.workers,
            )
        ]  # fmt: skip
        start = np.zeros(model.size)
        if first:
            gold = list(batch.cut(0, first).batches())
            if settings.start == "labelled":
                alone = Objective(model, gold, Gold(), sigma=settings.sigma, workers=settings.workers)
                start = minimize(alone, start, max_iterations=settings.iterations, describe="labelled").weights
            objectives.append(Objective(model, gold, Gold(), workers=settings.workers))
        return minimize(
            TotalObjective(objectives) if first else objectives[0],
            start,
            LBFGS(settings.memory),
            max_iterations=settings.iterations,
            early=early,
            checkpoint=Checkpoint(settings.checkpoint) if settings.checkpoint else None,
            describe=settings.project,
        )

    def state(self) -> State:
        header, arrays = super().state()
        kept = {each.name for each in fields(EntitySettings)}
        header["settings"] = {name: value for name, value in header["settings"].items() if name in kept}
        return header, arrays


def project(
    bitext: Bitext, source_model: Pipeline | Chunker, how: str = "soft", confusion: Confusion | None = None
) -> Projected:
    """Project the labels of the source side of a bitext onto its target words.

    `confusion`, over IO labels (`I-PER`, `O`), corrects errors of the source model.

    >>> from weft.text.layers import SpanLayer
    >>> english = Doc.from_words([["Ada", "left", "Rome"], ["Rome", "fell"]])
    >>> english.spans["entities"] = SpanLayer.of(english.strings, [(0, 1, "PER"), (2, 3, "LOC"), (3, 4, "LOC")])
    >>> recognizer = EntityRecognizer()
    >>> report = recognizer.fit([english])
    >>> bitext = Bitext([Doc.from_words([["Rome", "fell"]])], [Doc.from_words([["Rom", "ist", "gefallen"]])],
    ...                 Links.of([[(0, 0), (1, 2)]]))
    >>> found = project(bitext, recognizer, "hard")
    >>> found.labels, found.values.tolist(), found.constrained.tolist()
    (['I-LOC', 'I-PER', 'O'], [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]], [True, False, True])
    """
    if how not in PROJECTIONS:
        raise ConfigError(f"project must be one of {', '.join(PROJECTIONS)}, got {how!r}")
    offsets = sentence_offsets(bitext.source), sentence_offsets(bitext.target)
    labels, values, best = source_posteriors(source_model, bitext.source)
    if how == "ptt":
        projected_labels = project_labels(bitext.links, best, *offsets)
        return Projected(
            labels,
            np.eye(len(labels))[projected_labels] * (projected_labels >= 0)[:, None],
            projected_labels >= 0,
            bitext.links.n_pairs,
        )
    if how == "hard":
        values = np.eye(len(labels))[values.argmax(axis=1)]
    if confusion is not None:
        values = confusion.over(labels).correct(values)
    return Projected(labels, *project_posteriors(bitext.links, values, *offsets), bitext.links.n_pairs)


def source_posteriors(model: Pipeline | Chunker, docs: Sequence[Doc]) -> tuple[list[str], Floats, NDArray[np.int64]]:
    """The IO labels, their probabilities at every word under a span model, and the labels of its best prediction."""
    pipeline = model if isinstance(model, Pipeline) else Pipeline([model])
    at = next((i for i in reversed(range(len(pipeline.components))) if _finds_spans(pipeline.components[i])), None)
    if at is None:
        tasks = ", ".join(component.task for component in pipeline.components) or "nothing"
        raise ConfigError(f"the source model does {tasks}; expected one that recognizes entities (`weft train ner`)")
    finder = pipeline.components[at]
    assert isinstance(finder, Chunker)
    copies = [_own_spans(doc) for doc in docs]
    Pipeline(pipeline.components[: at + 1]).annotate(copies)
    names, values = finder.posteriors(copies)
    plain = [_plain(name) for name in names]
    labels = sorted(set(plain))
    number = {label: i for i, label in enumerate(labels)}
    collapse = np.array([[label == name for label in labels] for name in plain], dtype=np.float64)
    best = [number[_plain(label)] for doc in copies for label in finder.gold(doc)]
    return labels, values @ collapse, np.array(best, dtype=np.int64)


def count_confusions(model: Pipeline | Chunker, docs: Sequence[Doc], layer: str = "entities") -> Confusion:
    """Count how often a model assigns each label to words of each gold label, on documents it was not trained on."""
    gold = EntityRecognizer(EntitySettings(layer=layer, scheme="IO"))
    truth = [label for doc in docs for label in gold.gold(doc)]
    labels, _, best = source_posteriors(model, docs)
    return Confusion.from_labels(truth, [labels[label] for label in best.tolist()], sorted({*labels, *truth}))


def _finds_spans(component: Any) -> bool:
    return isinstance(component, Chunker)


def _plain(label: str) -> str:
    """Convert a label of any scheme to IO."""
    return "O" if label == "O" else f"I-{split_label(label)[1]}"


def _own_spans(doc: Doc) -> Doc:
    """A copy of the document whose columns and layers can be written."""
    copied = copy.copy(doc)
    copied.columns, copied.spans = dict(doc.columns), dict(doc.spans)
    return copied
