"""The component that finds rare phenomena in conversations, and shows what it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.arrays import Floats
from weft.declared import Array, Stored
from weft.errors import ConfigError, DataError, ModelError
from weft.evaluate.kappa import cohen_kappa
from weft.evaluate.labels.ranking import precision_at_recall, threshold_at_recall
from weft.headers import DAMAGED, Many, Maybe, Named, Real, Record, Row, Text, Whole
from weft.lexical.categories import CLOSED, read_categories
from weft.pipeline.component import Asked, State, Stopwatch, Trainable
from weft.pipeline.settings import Settings, option
from weft.progress import progress
from weft.storage import Arrays
from weft.tasks.phenomena.committee import VOTES, Gained, Member, Search, grouped_folds
from weft.tasks.phenomena.instances import (
    WINDOWS,
    Instance,
    Lines,
    instances_of,
    rarest_first,
    vocabulary_of,
)
from weft.tasks.phenomena.model import PhenomenaModel, Split, fit_model, splits_of
from weft.tasks.phenomena.rules import KIND_NAMES, KINDS, Rule, extract
from weft.text.conventions.conversations import LAYER, chars_of_turns, turns_of
from weft.text.doc import Doc
from weft.text.layers import SpanLayer, words_of_chars

HEADER = Record(
    labels=Many(Text(), least=2),
    ranks=Many(Whole(), least=2),
    majority=Whole(),
    split=Maybe(Record(lines=Whole(high=1000), category=Text())),
    sides=Many(Many(Many(Row((Whole(), Text(tuple(KINDS)), Real())))), least=1),
    thresholds=Named(Real()),
)
#: Words that an answer names as its reasons.
_REASONS = 4


@dataclass
class PhenomenaSettings(Settings):
    """Options of a detector of rare phenomena."""

    rules: bool = option(True, "Learn rules that select content.")
    stump: bool = option(False, "Split instances once, with a model for each side.")
    voting: str = option("minority", "How the members of the committee vote.", choices=VOTES)
    members: int = option(3, "Members of the committee.")
    majority: str = option("", "The label that says nothing was found; by default the most frequent one.")
    block: int = option(0, "Cut what a speaker says in a thread into instances of this many lines; 0 does not.")
    window: str = option("instance", "Where the lines next to a cue are counted.", choices=WINDOWS, flag="--counted-in")
    recall: float = option(0.0, "Say a rare label only as often as this recall asks for, as precisely as possible.")
    frequency: float = option(0.05, "Cues are words of at least this share of the instances.")
    threshold: float = option(0.03, "Least gain of a rule, in probability of rare labels.")
    width: int = option(50, "Rules scored after the first round.")
    most_rules: int = option(20, "Most rules of a member.")
    c: float = option(1.0, "Inverse strength of the penalty.")
    categories: str = option("", "Categories of words to split by, a .dic file.", metavar="FILE")
    seed: int = option(0, "Random seed.")
    workers: int = option(1, "Number of threads.", hidden=True)

    def check(self) -> None:
        if self.voting not in VOTES:
            raise ConfigError(f"voting must be one of {', '.join(VOTES)}, got {self.voting!r}")
        if self.window not in WINDOWS:
            raise ConfigError(f"window must be one of {', '.join(WINDOWS)}, got {self.window!r}")
        for name in ("members", "width", "workers"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        for name in ("block", "most_rules"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must be at least 0, got {getattr(self, name)}")
        if not 0 < self.frequency <= 1:
            raise ConfigError(f"frequency must be above 0 and at most 1, got {self.frequency}")
        if not 0 <= self.recall < 1:
            raise ConfigError(f"recall must be at least 0 and below 1, got {self.recall}")
        if self.threshold <= 0:
            raise ConfigError(f"threshold must be above 0, got {self.threshold}: a rule that does nothing gains 0")
        if self.c <= 0:
            raise ConfigError(f"c must be above 0, got {self.c}")


class PhenomenaDetector(Trainable):
    """Labels what every speaker does in a conversation: the layer `phenomena`.

    >>> from weft.text.conventions.conversations import Turn, set_turns
    >>> def chat(*turns):
    ...     doc = Doc()
    ...     set_turns(doc, [Turn(*turn) for turn in turns])
    ...     return doc
    >>> chats = [chat(("Ann", "i am scared", "", "FEAR"), ("Bob", "the bus is late", "", "NA"),
    ...               ("Cid", "see the bus", "", "NA")) for _ in range(4)]
    >>> detector = PhenomenaDetector(PhenomenaSettings(rules=False))
    >>> report = detector.fit(chats)
    >>> new = chat(("Dan", "so scared"), ("Eva", "the late bus"))
    >>> detector([new])
    >>> [(span.text, span.label) for span in new.span_views("phenomena")]
    [('so scared', 'FEAR'), ('the late bus', 'NA')]
    """

    task = "phenomena"
    provides = (f"spans/{LAYER}",)
    gives_probabilities = True
    settings_class = PhenomenaSettings
    settings: PhenomenaSettings

    def __init__(self, settings: PhenomenaSettings | None = None) -> None:
        super().__init__(settings)
        self.labels: list[str] = []
        self.ranks: list[int] = []
        self.vocabulary: dict[str, int] = {}
        self.words: list[str] = []  # of the vocabulary, by number
        self.model: PhenomenaModel | None = None
        self.thresholds: dict[str, float] = {}

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Train on conversations with labelled lines; return a report with the rules that were learned."""
        settings, watch = self.settings, Stopwatch()
        docs = list(train)
        order = rarest_first(turn.label for doc in docs for turn in turns_of(doc))
        if len(order) < 2:
            found = f"one label only, {next(iter(order))}" if order else "no labels"
            raise DataError(
                f"there is nothing to tell apart: the lines of the training data have {found}; give a column `label` "
                "with at least two"
            )
        self.labels, self.ranks = sorted(order), [order[name] for name in sorted(order)]
        known = [each for each in instances_of(docs, settings.block, order) if each.label]
        majority = settings.majority or max(order, key=lambda name: sum(each.label == name for each in known))
        if majority not in self.labels:
            raise ConfigError(f"the data have no label {majority!r}; choose from {', '.join(self.labels)}")
        self.vocabulary = vocabulary_of(known)
        self.words = list(self.vocabulary)
        labels = np.array([self.labels.index(each.label) for each in known], dtype=np.int64)
        groups = [each.conversation for each in known]
        if settings.rules and len(set(groups)) < max(settings.members, 2):
            raise DataError(
                f"{settings.members} members learn from different conversations, and there are {len(set(groups))}; "
                "give more, or train without rules"
            )
        lines = Lines.of(known, self.vocabulary, settings.window)
        with progress("rules", None, "rules") as bar:
            fit = self._fitter(bar)
            self.model = fit(lines, labels, groups, self.labels.index(majority))
            held = None
            if settings.recall:
                held = self._held_out(fit, known, labels, groups, self.labels.index(majority))
        report: dict[str, Any] = {
            "training": {
                "instances": len(known),
                "conversations": len(set(groups)),
                "labels": {name: sum(each.label == name for each in known) for name in self.labels},
                "words": len(self.vocabulary),
                "split": self.model.split.name if self.model.split else "",
                "rules": sum(len(member.rules) for side in self.model.sides for member in side),
                **watch.seconds(),
            },
            "rules": self.rules(),
        }
        if held is not None:
            report["scores"] = self._choose_thresholds(held, labels, self.labels.index(majority))
        if dev is not None:
            report["scores"] = report.get("scores", {}) | {
                f"dev {name}": value for name, value in self.evaluate(dev).items()
            }
        return report

    def _fitter(self, bar: Any) -> Any:
        settings = self.settings
        search = Search(settings.frequency, settings.threshold, settings.width, settings.most_rules, settings.c)
        categories = read_categories(settings.categories) if settings.categories else CLOSED
        splits = splits_of(self.vocabulary, categories) if settings.stump else ()

        def fit(lines: Lines, labels: Any, groups: Sequence[str], majority: int) -> PhenomenaModel:
            return fit_model(
                lines, labels, len(self.labels), majority, groups, members=settings.members, rules=settings.rules,
                splits=splits, voting=settings.voting, search=search, seed=settings.seed, workers=settings.workers,
                bar=bar,
            )  # fmt: skip

        return fit

    def _held_out(self, fit: Any, known: list[Instance], labels: Any, groups: list[str], majority: int) -> Floats:
        """Confidences of models that did not see the conversation."""
        folds = min(3, len(set(groups)))
        fold = grouped_folds(groups, folds, self.settings.seed + 1)
        lines, found = Lines.of(known, self.vocabulary, self.settings.window), np.zeros((len(known), len(self.labels)))
        for number in range(folds):
            train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            model = fit(lines.subset(train), labels[train], [groups[i] for i in train], majority)
            found[test] = model.predict(lines.subset(test))[1]
        return found

    def _choose_thresholds(self, held: Floats, labels: Any, majority: int) -> dict[str, float]:
        """Set the least confidence in every rare label; returns the precision that it had on held-out training data."""
        scores: dict[str, float] = {}
        for number, name in enumerate(self.labels):
            if number != majority and (labels == number).any():
                least = threshold_at_recall(held[:, number], labels == number, self.settings.recall)
                self.thresholds[name] = least
                taken = held[:, number] >= least
                scores[f"{name} held-out precision"] = float(np.mean(labels[taken] == number))
                scores[f"{name} held-out recall"] = float(np.mean(taken[labels == number]))
        return scores

    def rules(self) -> list[dict[str, Any]]:
        """The rules that were learned, with how often and how much they gained."""
        found: dict[tuple[str, str], list[float]] = {}
        for side in self.trained(self.model).sides:
            for member in side:
                for rule, gain in member.rules:
                    found.setdefault((self.words[rule.cue], rule.kind), []).append(gain)
        rows = [
            {
                "cue": cue,
                "rule": f"{kind}: {KIND_NAMES[kind]}",
                "members": len(gains),
                "gain": round(float(np.mean(gains)), 4),
            }
            for (cue, kind), gains in found.items()
        ]
        return sorted(rows, key=lambda row: (-row["members"], -row["gain"], row["cue"]))

    def confidences(self, docs: Sequence[Doc]) -> tuple[list[list[Instance]], list[Any], list[Floats]]:
        """The instances of every document, their labels as numbers, and the confidence in every label."""
        model = self.trained(self.model)
        order = dict(zip(self.labels, self.ranks, strict=True))
        per_doc = [instances_of([doc], self.settings.block, order) for doc in docs]
        flat = [each for own in per_doc for each in own]
        found, sure = model.predict(Lines.of(flat, self.vocabulary, self.settings.window))
        for number, name in enumerate(self.labels):
            if name in self.thresholds:
                weak = (found == number) & (sure[:, number] < self.thresholds[name])
                found = np.where(weak, model.majority, found)
        ends = np.cumsum([len(own) for own in per_doc])[:-1]
        return per_doc, np.split(found, ends), np.split(sure, ends)

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        per_doc, labels, sure = self.confidences(docs)
        for doc, own, found, confidence in zip(docs, per_doc, labels, sure, strict=True):
            self._write(doc, own, found.tolist(), confidence, asked.probabilities)

    def _write(self, doc: Doc, own: list[Instance], found: list[int], sure: Floats, all_labels: bool) -> None:
        """Write the layer: a span per line, in words if the document has words."""
        places = [(start, end) for start, end, _ in chars_of_turns(doc)]
        rows: list[tuple[int, str, dict[str, Any]]] = []
        for number, (instance, label, confidence) in enumerate(zip(own, found, sure, strict=True)):
            given: dict[str, Any] = {
                "speaker": instance.speaker, "instance": number, "probability": round(float(confidence[label]), 4),
            }  # fmt: skip
            if instance.thread:
                given["thread"] = instance.thread
            if all_labels:
                pairs = zip(self.labels, confidence.tolist(), strict=True)
                given["probabilities"] = {name: round(p, 4) for name, p in pairs}
            kept: set[int] = set(instance.turns)
            because: list[str] = []
            if label != self.trained(self.model).majority:
                kept, because = self._reasons(instance, label)
            for turn in instance.turns:
                of_line = {"kept": turn in kept, **({"because": because} if because and turn in kept else {})}
                rows.append((turn, self.labels[label], {**given, **of_line}))
        layer = SpanLayer(doc.strings, "chars")
        for turn, name, given in sorted(rows, key=lambda row: row[0]):
            layer.add([places[turn]], name, **given)
        doc.spans[LAYER] = words_of_chars(doc, layer) if doc.n_words else layer

    def _reasons(self, instance: Instance, label: int) -> tuple[set[int], list[str]]:
        """The lines that the member that is surest of a label read, and the words that speak most for it there."""
        model = self.trained(self.model)
        lines = Lines.of([instance], self.vocabulary, self.settings.window)
        side = 0 if model.split is None or bool(model.split.holds(lines)[0]) else 1
        member = max(model.sides[side], key=lambda each: float(each.probabilities(lines)[0, label]))
        left = member.selected(lines)
        row = extract(lines, left).lists()[0]
        weights = member.weights[:, label] - member.weights[:, model.majority]
        best = sorted((column for column in row if weights[column] > 0), key=lambda column: -weights[column])
        because = [f"{self.words[column]} {weights[column]:+.2f}" for column in best[:_REASONS]]
        return {instance.turns[line] for line in np.flatnonzero(left)}, because

    def evaluate(self, docs: Iterable[Doc]) -> dict[str, Any]:
        """Accuracy, kappa, and the precision of every rare label at a tenth and three tenths of its recall."""
        per_doc, found, sure = self.confidences(list(docs))
        flat = [each for own in per_doc for each in own]
        kept = [number for number, each in enumerate(flat) if each.label in self.labels]
        if not kept:
            raise DataError("there is nothing to evaluate: no line has a label that the model knows")
        gold = np.array([self.labels.index(flat[number].label) for number in kept])
        labels, confidence = np.concatenate(found)[kept], np.concatenate(sure)[kept]
        scores = {"accuracy": float(np.mean(labels == gold)), "kappa": cohen_kappa(gold, labels)}
        for number, name in enumerate(self.labels):
            if number != self.trained(self.model).majority and (gold == number).any():
                for level in (0.1, 0.3):
                    precision = precision_at_recall(confidence[:, number], gold == number, level)
                    scores[f"{name} precision at {100 * level:.0f} % recall"] = precision
        return {**scores, "instances": len(kept)}

    def state(self) -> State:
        model = self.trained(self.model)
        names = "\n".join(self.vocabulary).encode()
        header: dict[str, Any] = {
            "settings": {**self.saved_settings(), "categories": ""},
            "labels": self.labels,
            "ranks": self.ranks,
            "majority": model.majority,
            "split": None if model.split is None else {"lines": model.split.lines, "category": model.split.category},
            "sides": [
                [[[rule.cue, rule.kind, gain] for rule, gain in member.rules] for member in side]
                for side in model.sides
            ],
            "thresholds": self.thresholds,
        }
        arrays: Arrays = {"names": np.frombuffer(names, dtype=np.uint8)}
        for s, side in enumerate(model.sides):
            for m, member in enumerate(side):
                arrays[f"weights/{s}/{m}"] = member.weights
        if model.split is not None:
            arrays["category"] = np.array(model.split.words, dtype=np.int32)
        return header, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> PhenomenaDetector:
        detector = cls(PhenomenaSettings.from_saved(header["settings"]))
        HEADER.check(header)
        stored = Stored.of(arrays)
        names = bytes(stored.take(Array("names", "uint8", ("*",)))["names"]).decode().split("\n")
        detector.vocabulary = {name: number for number, name in enumerate(names)}
        detector.words = names
        detector.labels, detector.ranks = list(header["labels"]), list(header["ranks"])
        detector.thresholds = dict(header["thresholds"])
        size, n_labels = len(names), len(detector.labels)
        _check(header, size, n_labels, len(detector.vocabulary))
        sides: list[list[Member]] = []
        for s, members in enumerate(header["sides"]):
            sides.append([])
            for m, rules in enumerate(members):
                name = f"weights/{s}/{m}"
                weights = stored.take(Array(name, "float64", (size + 1, n_labels)))[name]
                learned = [Gained(Rule(cue, kind), gain) for cue, kind, gain in rules]
                sides[-1].append(Member(np.array(weights), learned))
        split = None
        if header["split"] is not None:
            words = stored.take(Array("category", "int32", ("*",), below=size))["category"]
            split = Split(header["split"]["lines"], header["split"]["category"], tuple(words.tolist()))
        detector.model = PhenomenaModel(n_labels, header["majority"], detector.settings.voting, sides, split)
        return detector


def _check(header: dict[str, Any], size: int, n_labels: int, different: int) -> None:
    """Refuse numbers that point nowhere."""
    sides = header["sides"]
    cues = [cue for members in sides for rules in members for cue, _, _ in rules]
    if (
        header["majority"] >= n_labels
        or len(header["ranks"]) != n_labels
        or different != size
        or len(sides) != (1 if header["split"] is None else 2)
        or not all(sides)
        or any(cue >= size for cue in cues)
        or len(set(header["labels"])) != n_labels
    ):
        raise ModelError(f"the parts of a detector of phenomena do not fit together: {DAMAGED}")
