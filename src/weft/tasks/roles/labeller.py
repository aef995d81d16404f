"""Semantic roles with a pipeline of linear classifiers (Täckström 2009): sense, arguments, labels, constraints.

Documents need lemmas, tags and trees. Where they mark predicates (the layer `frames`), senses and arguments are given
to these; elsewhere the model first finds predicates, by one more binary machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.arrays import Ints
from weft.declared import Stored
from weft.errors import ConfigError, DataError, ModelError
from weft.features.predicates import PairTemplates, TreeWords
from weft.features.weights import PRECISIONS, FrozenTable
from weft.headers import Many, Record, Table, Text
from weft.learn.linear.dual import fit_binary
from weft.pipeline.component import Asked, State, Stopwatch, Trainable, training_docs
from weft.pipeline.settings import Settings, checked_settings, option
from weft.storage import Arrays
from weft.tasks.roles.arguments import ArgumentModel, Choices, fit_arguments, sense_keys
from weft.tasks.roles.constraints import CORE, constrained
from weft.tasks.roles.data import JOINT, Groups, Predicates, tags_of
from weft.tasks.roles.senses import SenseModel
from weft.tasks.roles.tables import Instances, frozen, scored
from weft.tasks.roles.templates import ARGUMENT_TEMPLATES, PREDICATE_TEMPLATES, SENSE_TEMPLATES, without
from weft.text.doc import Doc
from weft.text.frames import LAYER, FrameRow, Role, frame_rows, set_frames

HEADER = Record(
    settings=Table(), tags=Many(Text(("upos", "xpos")), least=1, distinct=True), predicate_tags=Many(Text()),
    senses=Table(), arguments=Table(),
)  # fmt: skip
#: Words of a batch while training.
_BATCH = 20_000
_RARE_TAG = 0.0005
#: Longer sentences are labelled in windows: candidates grow with the product of predicates and words.
LONGEST = 500


@dataclass
class RoleSettings(Settings):
    """Options of a role labeller."""

    layer: str = option(LAYER, "Layer of frames to learn and to write.")
    groups: str = option("V AUX MD,*", "Groups of predicates with models of their own, by prefixes of tags.")
    c_senses: float = option(0.0, "C of the sense classifiers; 0 searches it by cross-validation.", flag="--c-senses")
    c_arguments: float = option(0.0, "C of the machines that find arguments; 0 searches it.", flag="--c-arguments")
    c_labels: float = option(0.0, "C of the machines that label arguments; 0 searches it.", flag="--c-labels")
    sense_count: int = option(7, "Lemmas that occur less often get their most frequent sense.")
    sample: int = option(2000, "Sentences for the search of C.", flag="--search-sentences")
    prune_tree: bool = option(True, "Leave out candidates that the tree rules out.")
    rare: float = option(0.0005, "Leave out candidates whose tags are arguments less often than this.")
    more: str = option(
        "", "Further templates for arguments, such as 'sense+path'.", flag="--more-templates", metavar="TEMPLATES"
    )
    leave_out: str = option("", "Templates or fields to leave out, such as 'trigrams feats'.", metavar="NAMES")
    constraints: bool = option(
        True, "Keep core labels unique, and continuations with what they continue.", flag="--frame-constraints"
    )
    core: str = option(CORE, "Core labels, as a regular expression.", metavar="REGEX")
    min_count: int = option(2, "Leave out features that occur less often.")
    precision: str = option("int16", "Type of the weights in the model.", choices=PRECISIONS)
    prune: float = option(0.0, "Leave out weights of at most this size, but for senses.")
    prune_senses: float = option(0.0, "Leave out weights of sense classifiers of at most this size.")

    def check(self) -> None:
        if min(self.c_senses, self.c_arguments, self.c_labels, self.rare, self.prune, self.prune_senses) < 0:
            raise ConfigError("c_senses, c_arguments, c_labels, rare, prune and prune_senses must be at least 0")
        if self.sample < 3 or self.min_count < 1 or self.sense_count < 1:
            raise ConfigError("sample must be at least 3, min_count and sense_count at least 1")
        try:
            re.compile(self.core)
        except re.error as error:
            raise ConfigError(f"core={self.core!r} is not a regular expression: {error}") from None


class RoleLabeller(Trainable):
    """Finds predicates, their senses and their arguments.

    >>> doc = Doc.from_words(
    ...     [["She", "gave", "him", "books"], ["Dogs", "bark"]],
    ...     upos=[["PRON", "VERB", "PRON", "NOUN"], ["NOUN", "VERB"]],
    ...     head=[[2, 0, 2, 2], [2, 0]], deprel=[["nsubj", "root", "iobj", "obj"], ["nsubj", "root"]],
    ... )
    >>> set_frames(doc, [FrameRow(1, "give.01", (Role("A0", 0, 1), Role("A2", 2, 3), Role("A1", 3, 4))),
    ...                  FrameRow(5, "bark.01", (Role("A0", 4, 5),))])
    >>> labeller = RoleLabeller(RoleSettings(min_count=1, c_arguments=1.0, c_labels=1.0))
    >>> report = labeller.fit([doc])
    >>> new = Doc.from_words([["Cats", "gave", "dogs", "books"]], upos=[["NOUN", "VERB", "NOUN", "NOUN"]],
    ...                      head=[[2, 0, 2, 2]], deprel=[["nsubj", "root", "iobj", "obj"]])
    >>> labeller([new])
    >>> [(frame.sense, frame.arguments) for frame in new.frames]
    [('give.01', [Argument('Cats', 'A0'), Argument('dogs', 'A2'), Argument('books', 'A1')])]
    """

    task = "roles"
    settings_class = RoleSettings
    settings: RoleSettings
    requires = ("tokens", "sentences", "head", "deprel")

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__(settings)
        self.provides = (f"spans/{self.settings.layer}", f"relations/{self.settings.layer}")
        self.tags: list[str] = ["upos"]
        self.predicate_tags: list[str] = []
        self.senses: SenseModel | None = None
        self.arguments: ArgumentModel | None = None
        self.finder: FrozenTable | None = None
        self._compile()

    def _compile(self) -> None:
        gone = self.settings.leave_out
        self._sense_templates = PairTemplates(without(SENSE_TEMPLATES, gone), self.tags)
        more = self.settings.more.replace(",", " ").split()
        self._argument_templates = PairTemplates([*without(ARGUMENT_TEMPLATES, gone), *more], self.tags)
        self._predicate_templates = PairTemplates(without(PREDICATE_TEMPLATES, gone), self.tags)
        self._groups = Groups(self.settings.groups)
        self._core = re.compile(self.settings.core)

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        watch = Stopwatch()
        settings = self.settings
        docs = [doc for doc in training_docs(train) if settings.layer in doc.spans]
        if not any(frame_rows(doc, settings.layer) for doc in docs):
            raise DataError(
                f"there are no predicates to train on: documents need the layer {settings.layer!r}, from a file with "
                "the columns of Universal Propositions, CoNLL-2008, CoNLL-2009 or PropBank"
            )
        missing = next((doc for doc in docs if doc.head is None), None)
        if missing is not None:
            raise DataError(f"{missing!r} has no trees, which role labelling needs: parse it first")
        self.tags = _tag_columns(docs)
        self._compile()
        batches = [Predicates.of(batch, settings.layer) for batch in _batches(docs)]
        batches = [batch for batch in batches if len(batch)]
        together = Predicates.of(docs, settings.layer)
        self.senses, report = SenseModel.fit(
            together, self._sense_templates, min_count=settings.sense_count, c=settings.c_senses,
            precision=settings.precision, prune=settings.prune_senses,
        )  # fmt: skip
        choices = Choices(
            settings.prune_tree, settings.rare, settings.c_arguments, settings.c_labels, settings.sample,
            settings.min_count, settings.precision, settings.prune,
        )  # fmt: skip
        self.arguments, more = fit_arguments(batches, self._groups, self._argument_templates, choices)
        self._fit_finder(docs, together)
        report |= more
        scores: dict[str, float] = {}
        if dev is not None:
            scores = self.score(list(dev))
        search = {name: value for name, value in report.items() if isinstance(value, dict)}
        facts = {name: value for name, value in report.items() if name not in search}
        return {
            "scores": scores, "training": {"predicates": len(together), **facts, **watch.seconds()}, "search": search,
        }  # fmt: skip

    def score(self, docs: Sequence[Doc]) -> dict[str, float]:
        """Scores with gold predicates, on documents with frames."""
        from weft.evaluate.semantics.frames import evaluate_frames

        system = [doc.subset(range(doc.n_sentences)) for doc in docs if doc.n_words]
        self(system)
        report = evaluate_frames([doc for doc in docs if doc.n_words], system, self.settings.layer)
        return {f"dev {name}": report[name].f1 for name in report.counts}

    def _fit_finder(self, docs: Sequence[Doc], predicates: Predicates) -> None:
        """The machine that finds predicates, on words whose tags predicates have."""
        tags = [tag for doc in docs for tag in tags_of(doc)]
        known = sorted(set(tags))
        all_of, own = np.zeros(len(known)), np.zeros(len(known))
        number = {tag: place for place, tag in enumerate(known)}
        np.add.at(all_of, [number[tag] for tag in tags], 1)
        np.add.at(own, [number[tag] for tag in predicates.tags], 1)
        self.predicate_tags = [tag for tag, place in number.items() if own[place] > _RARE_TAG * all_of[place]]
        words = predicates.words
        places = self._possible(docs)
        marked = np.zeros(len(words), dtype=np.int64)
        marked[predicates.places] = 1
        instances = Instances()
        folds = words.sentence_of[places]
        nothing = np.zeros(len(places), dtype=np.uint64)
        offsets, keys = self._predicate_templates.extract(words, places, places, nothing, nothing)
        instances.add(offsets, keys, marked[places], np.zeros(len(places), dtype=np.int64), folds)
        rows = instances.rows(self.settings.min_count)
        weights = fit_binary(rows, marked[places] > 0, 0.1, max_passes=100)
        self.finder = frozen(instances.index, weights, self.settings.precision, self.settings.prune)

    def _possible(self, docs: Sequence[Doc]) -> Ints:
        """The words of documents that may be predicates, numbered over all of them."""
        allowed = set(self.predicate_tags)
        return np.flatnonzero(np.array([tag in allowed for doc in docs for tag in tags_of(doc)], dtype=np.bool_))

    def _found(self, docs: Sequence[Doc]) -> list[Ints]:
        """The predicates of documents that mark none."""
        words = TreeWords.of(docs)
        places = self._possible(docs)
        nothing = np.zeros(len(places), dtype=np.uint64)
        offsets, keys = self._predicate_templates.extract(words, places, places, nothing, nothing)
        found = places[scored(self.trained(self.finder), offsets, keys)[:, 0] > 0]
        bounds = np.searchsorted(found, words.firsts)
        return [found[low:high] - first for low, high, first in zip(bounds, bounds[1:], words.firsts, strict=False)]

    def longest(self, asked: Asked) -> int:
        return LONGEST

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        model, senses = self.trained(self.arguments), self.trained(self.senses)
        layer = self.settings.layer
        unmarked = [doc for doc in docs if layer not in doc.spans]
        found = dict(zip(map(id, unmarked), self._found(unmarked), strict=True)) if unmarked else {}
        predicates = Predicates.of(docs, layer, [found.get(id(doc)) for doc in docs])
        names = senses.predict(predicates, self._sense_templates)
        groups = self._groups.numbers(predicates.tags)
        keys = sense_keys(predicates.lemmas, names)
        pairs, labels, scores = model.predict(predicates, keys, groups, self._argument_templates)
        frames: list[list[FrameRow]] = [[] for _ in docs]
        bounds = np.searchsorted(pairs.predicate, np.arange(len(predicates) + 1)).tolist()
        words, values = pairs.word.tolist(), scores.tolist()
        texts = [model.labels[label] for label in labels.tolist()]
        firsts = predicates.words.firsts
        places = predicates.places.tolist()
        for number, document in enumerate(predicates.documents):
            low, high = bounds[number], bounds[number + 1]
            first = firsts[document]
            chosen = range(low, high)
            if self.settings.constraints and high - low > 0:
                stays = constrained(texts[low:high], values[low:high], self._core)
                chosen = [place for place, stay in zip(chosen, stays, strict=True) if stay]  # type: ignore[assignment]
            roles = tuple(
                Role(label, words[place] - first, words[place] - first + 1)
                for place in chosen
                for label in texts[place].split(JOINT)
            )
            frames[document].append(FrameRow(places[number] - first, names[number], roles))
        for doc, own in zip(docs, frames, strict=True):
            set_frames(doc, own, layer)

    def state(self) -> State:
        senses, sense_arrays = self.trained(self.senses).state()
        arguments, argument_arrays = self.trained(self.arguments).state()
        header = {
            "settings": self.saved_settings(), "tags": self.tags, "predicate_tags": self.predicate_tags,
            "senses": senses, "arguments": arguments,
        }  # fmt: skip
        arrays = {f"senses/{name}": array for name, array in sense_arrays.items()}
        arrays |= {f"arguments/{name}": array for name, array in argument_arrays.items()}
        arrays |= {f"predicates/{name}": array for name, array in self.trained(self.finder).arrays.items()}
        return header, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> RoleLabeller:
        HEADER.check(header)
        try:
            labeller = cls(RoleSettings(**checked_settings(RoleSettings, header["settings"])))
        except ConfigError as error:
            raise ModelError(f"the settings of the role labeller are damaged: {error}") from None
        labeller.tags, labeller.predicate_tags = header["tags"], header["predicate_tags"]
        labeller._compile()
        stored = Stored.of(arrays)
        labeller.senses = SenseModel.from_state(header["senses"], stored.under("senses/"))
        prune = labeller.settings.prune_tree
        labeller.arguments = ArgumentModel.from_state(header["arguments"], stored.under("arguments/"), prune)
        labeller.finder = FrozenTable(stored.under("predicates/"), 1)
        return labeller


def _tag_columns(docs: Sequence[Doc]) -> list[str]:
    """The tag columns that the data has; one that repeats the other is left out."""
    present = [name for name in ("upos", "xpos") if any(doc.has(name) for doc in docs)]
    if len(present) == 2 and all(doc.column("upos") == doc.column("xpos") for doc in docs):
        return ["upos"]
    return present or ["upos"]


def _batches(docs: Sequence[Doc]) -> list[list[Doc]]:
    """Documents in batches of about so many words."""
    batches: list[list[Doc]] = [[]]
    size = 0
    for doc in docs:
        if size > _BATCH:
            batches.append([])
            size = 0
        batches[-1].append(doc)
        size += doc.n_words
    return batches
