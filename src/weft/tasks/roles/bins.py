"""Predicates and roles by linear machines in bins (Samuelsson et al. 2008): the members of a committee of labellers.

    predicates (yes or no)  ->  arguments (yes or no)  ->  labels  ->  the most frequent sense of the lemma

Words whose tag is very rare among predicates (or arguments) are left out, and so are words without a letter or digit
and the tags HYPH, SYM and LS. Machines are trained apart for bins of words: few bins, one per tag, are more accurate;
many, one per tag and frequency of the lemma, are faster and make other mistakes. A lexicon of rolesets takes back
predicates whose lemma is neither in it nor in the training data. There are no constraints: the vote has none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.arrays import Bools, Floats, Ints, Keys
from weft.deadline import check
from weft.declared import Array, Stored
from weft.errors import ConfigError, DataError
from weft.features.predicates import PairTemplates
from weft.features.weights import PRECISIONS, FrozenTable
from weft.hashing import hash_strings
from weft.headers import Many, Named, Record, Table, Text, Whole
from weft.learn.linear.dual import fit_binary, fit_crammer_singer
from weft.pipeline.component import Asked, State, Stopwatch, Trainable, training_docs
from weft.pipeline.settings import Settings, checked_settings, option
from weft.storage import Arrays
from weft.tasks.roles.data import Predicates
from weft.tasks.roles.node_features import (
    NODE,
    PAIR,
    Sentences,
    Values,
    information_gain,
    node_values,
    pair_keys,
    rows_of,
)
from weft.tasks.roles.senses import LEMMA, SenseModel
from weft.tasks.roles.tables import Instances, frozen, scored
from weft.text.doc import Doc
from weft.text.frames import LAYER, FrameRow, Role, frame_rows, set_frames

HEADER = Record(
    settings=Table(), predicate_tags=Many(Text()), argument_tags=Many(Text()), labels=Many(Text(), distinct=True),
    counts=Named(Whole(1, 2**40)), lexicon=Many(Text()), senses=Table(),
)  # fmt: skip
KNOWN = Array("known", "uint64", ("*",), rising=True)
KEPT = Array("kept", "uint8", (2 * len(NODE) + len(PAIR),), below=2)
NEVER = frozenset({"HYPH", "SYM", "LS"})
BINS = ("few", "many")
_VERBAL = ("V", "AUX", "MD")
#: Longer sentences are labelled in windows: candidates grow with the product of predicates and words.
LONGEST = 300
#: Candidates whose features are in memory at once.
_BLOCK = 20_000


@dataclass
class BinSettings(Settings):
    """Options of a role labeller in bins."""

    layer: str = option(LAYER, "Layer of frames to learn and to write.")
    bins: str = option("few", "One bin per tag, or many by tag and frequency of the lemma.", choices=BINS)
    c: float = option(0.1, "C of the machines.", flag="--svm-c")
    rare_values: int = option(20, "Values of features that occur less often become one value.")
    rare_tag: float = option(0.0005, "Leave out tags whose share of predicates or arguments is smaller.")
    gain: float = option(0.0005, "Leave out features that tell fewer bits about arguments.")
    min_count: int = option(2, "Leave out features that occur less often.")
    precision: str = option("int16", "Type of the weights in the model.", choices=PRECISIONS)

    def check(self) -> None:
        if self.bins not in BINS:
            raise ConfigError(f"bins must be one of {', '.join(BINS)}, got {self.bins!r}")
        if self.c <= 0 or min(self.rare_values, self.min_count) < 1 or min(self.rare_tag, self.gain) < 0:
            raise ConfigError("c must be above 0, rare_values and min_count at least 1, rare_tag and gain at least 0")


class BinnedLabeller(Trainable):
    """Finds predicates and labels their arguments, by one machine per bin and step.

    >>> doc = Doc.from_words([["Dogs", "bark"]] * 3, upos=[["NOUN", "VERB"]] * 3, head=[[2, 0]] * 3,
    ...                      deprel=[["nsubj", "root"]] * 3)
    >>> set_frames(doc, [FrameRow(2 * k + 1, "bark.01", (Role("A0", 2 * k, 2 * k + 1),)) for k in range(3)])
    >>> labeller = BinnedLabeller(BinSettings(rare_values=1, gain=0.0))
    >>> report = labeller.fit([doc])
    >>> new = Doc.from_words([["Cats", "bark"]], upos=[["NOUN", "VERB"]], head=[[2, 0]], deprel=[["nsubj", "root"]])
    >>> labeller([new])
    >>> [(frame.sense, frame.arguments) for frame in new.frames]
    [('bark.01', [Argument('Cats', 'A0')])]
    """

    task = "roles-bins"
    settings_class = BinSettings
    settings: BinSettings
    requires = ("tokens", "sentences", "head", "deprel")

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__(settings)
        self.provides = (f"spans/{self.settings.layer}", f"relations/{self.settings.layer}")
        self.predicate_tags: list[str] = []
        self.argument_tags: list[str] = []
        self.labels: list[str] = []
        self.counts: dict[str, int] = {}
        self.lexicon: list[str] = []
        self.values: Values | None = None
        self.kept: Bools = np.ones(2 * len(NODE) + len(PAIR), dtype=np.bool_)
        self.senses: SenseModel | None = None
        self.tables: dict[str, FrozenTable] = {}

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        watch = Stopwatch()
        layer = self.settings.layer
        docs = [doc for doc in training_docs(train) if layer in doc.spans and doc.head is not None]
        gold = Predicates.of(docs, layer)
        if not len(gold):
            raise DataError(f"there are no predicates to train on: documents need trees and the layer {layer!r}")
        sentences = Sentences(docs)
        self.counts = dict(Counter(sentences.lemmas))
        self.senses, _ = SenseModel.fit(gold, PairTemplates(["constant"]), min_count=1 << 40, c=1.0)
        nodes = node_values(sentences)
        self.values = Values.learn(nodes, self.settings.rare_values)
        keys = self.values.of_nodes(nodes)
        roles = [(place, word, label) for place, own in zip(gold.places.tolist(), gold.arguments, strict=True)
                 for word, label in own.items()]  # fmt: skip
        self.predicate_tags = self._frequent(sentences, gold.places.tolist())
        self.argument_tags = self._frequent(sentences, [word for _, word, _ in roles])
        self.labels = sorted({label for _, _, label in roles})
        self._fit_predicates(sentences, keys, gold.places)
        self._fit_arguments(sentences, keys, gold.places, {(place, word): label for place, word, label in roles})
        facts = {"predicates": len(gold), "arguments": len(roles), "features": int(self.kept.sum())}
        scores = {} if dev is None else self._scores(list(dev))
        return {"scores": scores, "training": {**facts, **watch.seconds()}}

    def _scores(self, docs: list[Doc]) -> dict[str, float]:
        from weft.evaluate.semantics.frames import evaluate_frames

        system = [without_frames(doc, self.settings.layer) for doc in docs]
        self(system)
        report = evaluate_frames(docs, system, self.settings.layer)
        return {f"dev {name}": report[name].f1 for name in report.counts}

    def _frequent(self, sentences: Sentences, places: Sequence[int]) -> list[str]:
        """The tags of words that are not too rare among some words."""
        tags = Counter(sentences.tags[place] for place in places)
        return sorted(tag for tag, count in tags.items() if count > self.settings.rare_tag * len(places))

    def _possible(self, sentences: Sentences, tags: Sequence[str]) -> Bools:
        """Which words have one of some tags, a letter or digit, and no tag that is never one."""
        allowed = set(tags)
        return np.array(
            [
                tag in allowed and fine not in NEVER and any(letter.isalnum() for letter in form)
                for tag, fine, form in zip(sentences.tags, sentences.fine, sentences.forms, strict=True)
            ],
            dtype=np.bool_,
        )

    def _salts(self, sentences: Sentences, places: Ints) -> Keys:
        """The bin of every word."""
        names = []
        for place in places.tolist():
            count = self.counts.get(sentences.lemmas[place], 0)
            frequency = f" {min(len(str(count)), 4)}" if self.settings.bins == "many" else ""
            names.append(sentences.tags[place] + frequency)
        return hash_strings(names)

    def _pairs(self, sentences: Sentences, predicates: Ints) -> tuple[Ints, Ints]:
        """Predicates with every word of their sentence that may be an argument."""
        possible = np.flatnonzero(self._possible(sentences, self.argument_tags))
        offsets = np.array(sentences.offsets)
        own = sentences.sentence[predicates]
        low, high = np.searchsorted(possible, offsets[own]), np.searchsorted(possible, offsets[own + 1])
        sizes = high - low
        shift = np.repeat(low - np.concatenate([[0], np.cumsum(sizes)])[:-1], sizes)
        return np.repeat(predicates, sizes), possible[shift + np.arange(int(sizes.sum()))]

    def _fit_predicates(self, sentences: Sentences, keys: Keys, gold: Ints) -> None:
        places = np.flatnonzero(self._possible(sentences, self.predicate_tags))
        rows = rows_of(keys, None, places, places, self._salts(sentences, places), self.kept)
        self.tables["predicates"] = self._machine(rows, np.isin(places, gold))

    def _fit_arguments(self, sentences: Sentences, keys: Keys, gold: Ints, roles: dict[tuple[int, int], str]) -> None:
        heads, words = self._pairs(sentences, gold)
        pairs = pair_keys(sentences, heads, words)
        names = [roles.get(pair, "") for pair in zip(heads.tolist(), words.tolist(), strict=True)]
        positive = np.array([bool(name) for name in names])
        columns = [keys[heads, k] for k in range(keys.shape[1])]
        columns += [keys[words, k] for k in range(keys.shape[1])] + list(pairs.T)
        gains = np.array([information_gain(column, positive) for column in columns])
        self.kept = gains >= self.settings.gain
        salts = self._salts(sentences, heads)
        rows = rows_of(keys, pairs, heads, words, salts, self.kept)
        self.tables["arguments"] = self._machine(rows, positive)
        number = {label: k for k, label in enumerate(self.labels)}
        labels = np.array([number[name] for name in names if name], dtype=np.int64)
        self.tables["labels"] = self._machine(rows[positive], labels, len(self.labels))

    def _machine(self, rows: Keys, gold: Bools | Ints, n_labels: int = 0) -> FrozenTable:
        """A table of weights: of one yes-or-no machine, or of a machine over labels."""
        instances = Instances()
        none = np.zeros(len(rows), dtype=np.int64)
        offsets = np.arange(len(rows) + 1, dtype=np.int64) * rows.shape[1]
        instances.add(offsets, rows.ravel(), none, none, none)
        data = instances.rows(self.settings.min_count)
        c = self.settings.c
        weights = fit_crammer_singer(data, gold, n_labels, c, max_passes=60) if n_labels else fit_binary(
            data, gold, c, max_passes=60
        )  # fmt: skip
        return frozen(instances.index, weights, self.settings.precision, 0.0)

    def _scored(self, table: str, rows: Keys) -> Floats:
        offsets = np.arange(len(rows) + 1, dtype=np.int64) * rows.shape[1]
        return scored(self.tables[table], offsets, rows.ravel())

    def longest(self, asked: Asked) -> int:
        return LONGEST

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        values, senses = self.trained(self.values), self.trained(self.senses)
        sentences = Sentences(docs)
        keys = values.of_nodes(node_values(sentences))
        marked = [frame_rows(doc, self.settings.layer) if self.settings.layer in doc.spans else None for doc in docs]
        predicates = self._predicates(sentences, keys, marked)
        heads, words = self._pairs(sentences, predicates)
        roles: dict[int, list[Role]] = {place: [] for place in predicates.tolist()}
        first_of = np.array(sentences.firsts)[np.searchsorted(sentences.firsts, predicates, side="right") - 1]
        first = dict(zip(predicates.tolist(), first_of.tolist(), strict=True))
        for low in range(0, len(heads), _BLOCK):
            check()
            ours, theirs = heads[low : low + _BLOCK], words[low : low + _BLOCK]
            pairs = pair_keys(sentences, ours, theirs)
            rows = rows_of(keys, pairs, ours, theirs, self._salts(sentences, ours), self.kept)
            chosen = np.flatnonzero(self._scored("arguments", rows)[:, 0] > 0)
            labels = self._scored("labels", rows[chosen]).argmax(axis=1)
            for row, label in zip(chosen.tolist(), labels.tolist(), strict=True):
                head, word = int(ours[row]), int(theirs[row]) - first[int(ours[row])]
                roles[head] += [Role(name, word, word + 1) for name in self.labels[label].split("|")]
        names = self._names(senses, sentences, predicates)
        bounds = np.searchsorted(predicates, sentences.firsts)
        for number, doc in enumerate(docs):
            own = range(bounds[number], bounds[number + 1])
            places = [(k, int(predicates[k])) for k in own]
            set_frames(
                doc,
                [FrameRow(p - sentences.firsts[number], names[k], tuple(roles[p])) for k, p in places],
                self.settings.layer,
            )

    def _predicates(self, sentences: Sentences, keys: Keys, marked: Sequence[list[FrameRow] | None]) -> Ints:
        """The predicates of documents: those that are marked, else those that are found."""
        places = np.flatnonzero(self._possible(sentences, self.predicate_tags))
        rows = rows_of(keys, None, places, places, self._salts(sentences, places), self.kept)
        found = places[self._scored("predicates", rows)[:, 0] > 0] if len(places) else places
        listed = set(self.lexicon)
        chosen = [
            int(place) for place in found
            if not listed or f"{sentences.lemmas[place]} {_kind(sentences.tags[place])}" in listed
        ]  # fmt: skip
        kept: list[int] = []
        for number, own in enumerate(marked):
            low, high = sentences.firsts[number], sentences.firsts[number + 1]
            kept += [p for p in chosen if low <= p < high] if own is None else [low + frame.predicate for frame in own]
        return np.array(sorted(set(kept)), dtype=np.int64)

    def _names(self, senses: SenseModel, sentences: Sentences, predicates: Ints) -> list[str]:
        names = []
        for place in predicates.tolist():
            lemma = sentences.lemmas[place]
            names.append(senses.senses[lemma][0] if lemma in senses.senses else senses.unseen.replace(LEMMA, lemma))
        return names

    def restrict(self, lemmas: Iterable[tuple[str, str]], train: Sequence[Doc]) -> None:
        """From now on, take back verbal (`v`) and nominal (`n`) predicates whose lemma is not in a lexicon.

        The lexicon is extended by the lemmas of predicates in training data.
        """
        gold = Predicates.of(train, self.settings.layer)
        seen = {f"{lemma} {_kind(tag)}" for lemma, tag in zip(gold.lemmas, gold.tags, strict=True)}
        self.lexicon = sorted(seen | {f"{lemma} {kind}" for lemma, kind in lemmas})

    def state(self) -> State:
        senses, _ = self.trained(self.senses).state()
        header = {
            "settings": self.saved_settings(), "predicate_tags": self.predicate_tags,
            "argument_tags": self.argument_tags, "labels": self.labels, "counts": self.counts,
            "lexicon": self.lexicon, "senses": senses,
        }  # fmt: skip
        arrays: Arrays = {"known": self.trained(self.values).known, "kept": self.kept.astype(np.uint8)}
        for name, table in self.tables.items():
            arrays |= {f"{name}/{key}": array for key, array in table.arrays.items()}
        return header, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> BinnedLabeller:
        HEADER.check(header)
        labeller = cls(BinSettings(**checked_settings(BinSettings, header["settings"])))
        for name in ("predicate_tags", "argument_tags", "labels", "counts", "lexicon"):
            setattr(labeller, name, header[name])
        stored = Stored.of(arrays)
        own = stored.take(KNOWN, KEPT)
        labeller.values, labeller.kept = Values(own["known"]), own["kept"].astype(np.bool_)
        labeller.senses = SenseModel.from_state(header["senses"], stored.under("senses/"))
        for name, width in (("predicates", 1), ("arguments", 1), ("labels", max(len(labeller.labels), 1))):
            labeller.tables[name] = FrozenTable(stored.under(f"{name}/"), width)
        return labeller


def _kind(tag: str) -> str:
    return "v" if tag.startswith(_VERBAL) else "n"


def without_frames(doc: Doc, layer: str = LAYER) -> Doc:
    """A copy of a document without its frames.

    >>> doc = Doc.from_words([["Dogs", "bark"]])
    >>> set_frames(doc, [FrameRow(1, "bark.01")])
    >>> without_frames(doc).frames, len(doc.frames)
    ([], 1)
    """
    copy = doc.subset(range(doc.n_sentences))
    copy.spans.pop(layer, None)
    copy.relations.pop(layer, None)
    return copy


__all__ = ["BinSettings", "BinnedLabeller", "without_frames"]
