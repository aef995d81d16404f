"""Domain adaptation of a graph-based parser: source trees, target text, and a choice of methods.

    source trees + target sentences with tags  --methods of `weft.tasks.parsing_transfer.adaptation`-->  parser

Without methods the model is bit for bit the `MSTParser` of the same settings. The same holds for the weighting
methods (T1, T3, T4, T5) if the target is the source itself. No method is sure to help: run `weft.evaluate.diagnose`
first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Heads
from weft.declared import Stored
from weft.errors import ConfigError, DataError
from weft.features.morphology import Morphology
from weft.features.tree_templates import TreeProgram, compile_tree_templates
from weft.formats import read
from weft.headers import Named, Record, Whole
from weft.infer.trees.arcs import all_arcs
from weft.learn.online.demands import BeatGold
from weft.learn.online.loop import OnlineLearner
from weft.learn.online.mira import MIRA
from weft.learn.trees import arc_marks
from weft.learn.trees.features import TreeWords
from weft.learn.trees.model import TreeBatch, TreeModel
from weft.learn.trees.target_weights import WeighWords, feature_counts, frequency_factors, seen_factors
from weft.lexical.clusters.monolingual import cluster_words
from weft.pipeline.component import State
from weft.pipeline.settings import option
from weft.storage import Arrays
from weft.tasks.parsing.guides import guide_heads, guide_marks, jackknife_guide
from weft.tasks.parsing.mst.features import TreeReader, templates_of
from weft.tasks.parsing.mst.parser import MSTParser
from weft.tasks.parsing.mst.settings import MSTSettings
from weft.tasks.parsing.transitions.features import CLUSTER_FIELDS
from weft.tasks.parsing.transitions.features import FIELDS as GREEDY_FIELDS
from weft.tasks.parsing.transitions.parser import Parser, ParserSettings
from weft.tasks.parsing_transfer import adaptation, noun_phrases
from weft.text.doc import Doc

WEIGH = ("loss", "cap")
#: Arc marks that methods use.
MARKS = {"F1": ("other",), "F2": ("same",), "D1": ("guide", "crosses"), "oracle": ("right",)}


@dataclass
class AdaptSettings(MSTSettings):
    """Options of a domain-adapted parser, in addition to those of `MSTSettings`."""

    methods: str = option("", "Adaptations to combine: F1 F2 F3 D1 D2 D3 T1 T2 T3 T4 T5.", metavar="NAMES")
    target: str = option("", "Tagged sentences of the target domain, without trees.", metavar="FILE")
    weigh: str = option("loss", "Whether sentence weights scale the loss or the cap of steps.", choices=WEIGH)
    classes: int = option(64, "Number of word clusters (F3).", flag="--cluster-number")
    least: int = option(2, "Cluster words that occur at least this often (F3).")
    folds: int = option(4, "Folds to jackknife the guide over (D1).")
    bags: int = option(3, "Parsers trained on samples (D2, D3).")
    bag: int = option(2000, "Sentences per sample, at most half of all (D2, D3).")
    slack: float = option(0.001, "Cap of steps, below that of the other methods (D3).")

    def check(self) -> None:
        super().check()
        for name in self.chosen:
            if name not in adaptation.METHODS:
                raise ConfigError(f"methods must be among {', '.join(adaptation.METHODS)}, got {name!r}")
        if self.weigh not in WEIGH:
            raise ConfigError(f"weigh must be one of {', '.join(WEIGH)}, got {self.weigh!r}")
        if self.learner != "mira" and {"T1", "T2", "T3", "D3"} & set(self.chosen):
            raise ConfigError(f"weights of sentences and words, and slack, need the learner mira, got {self.learner}")
        if "D3" in self.chosen and (self.slack <= 0 or 0 < self.cap <= self.slack):
            raise ConfigError(
                f"D3 is D2 with smaller steps: its slack must be above 0 and below the cap, got slack {self.slack:g} "
                f"and cap {self.cap:g}; lower slack, or set cap to 0 for no limit"
            )
        if self.constraints == "heads" and {"T1", "T2", "T3"} & set(self.chosen):
            raise ConfigError(
                "weights of sentences and words scale the loss of whole trees; they do not work with constraints=heads"
            )
        if self.guide:
            raise ConfigError("D1 trains its own guide: leave the setting guide empty, or train a graph-parser")

    @property
    def chosen(self) -> tuple[str, ...]:
        """The methods, in the order of `METHODS`."""
        named = self.methods.replace(",", " ").split()
        return tuple(sorted(named, key=lambda name: (*adaptation.METHODS, name).index(name)))


class AdaptedParser(MSTParser):
    """Predicts heads and relations in a domain other than that of its training trees.

    >>> source = Doc.from_words([["dogs", "bark"], ["cats", "sleep"]], upos=[["NOUN", "VERB"]] * 2, head=[[2, 0]] * 2,
    ...                       deprel=[["nsubj", "root"]] * 2)
    >>> target = Doc.from_words([["cells", "divide"]], upos=[["NOUN", "VERB"]])
    >>> parser = AdaptedParser(AdaptSettings(system="mst1", epochs=2, bits=16, methods="F2 T3"), target=[target])
    >>> report = parser.fit([source])
    >>> parser([target])
    >>> target.head.tolist()
    [2, 0]
    """

    task = "adapted-parser"
    settings_class = AdaptSettings
    settings: AdaptSettings

    def __init__(
        self,
        settings: AdaptSettings | None = None,
        clusters: Mapping[str, str] | None = None,
        target: Sequence[Doc] = (),
        text: Sequence[Doc] = (),
    ) -> None:
        """`target` are tagged target sentences; `text` are more sentences of both domains to count words in."""
        settings = settings if settings is not None else AdaptSettings()
        settings.check()
        self.methods = settings.chosen
        self.target = list(target) or (list(read(settings.target)) if settings.target else [])
        self.text = list(text)
        extra = (noun_phrases.FIELDS if "F2" in self.methods else {}) | (CLUSTER_FIELDS if "F3" in self.methods else {})
        settings = replace(settings, fields={**settings.fields, **extra})
        self.counts: Counter[str] = Counter()
        self.guide: Parser | None = None
        self._factors: Floats | None = None
        super().__init__(settings, clusters)

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Train on source trees; `dev` are target trees if there are any, otherwise source trees."""
        docs = [doc for doc in train if doc.n_words]
        if set(self.methods) - {"D1", "D2", "D3", "F1", "oracle"} and not self.target:
            raise DataError(
                "the methods need sentences of the target: set target=FILE, or pass target to AdaptedParser"
            )
        settings = self.settings
        notes: dict[str, float] = {}
        everything = [*docs, *self.target, *self.text]
        if "F3" in self.methods and not self.clusters:
            words = (sentence for doc in everything for sentence in _sentences(doc))
            self.clusters = cluster_words(words, settings.classes, settings.least, lower=True).paths()
        if "F2" in self.methods:
            self.counts = noun_phrases.count_words(everything)
        self._new_reader()
        if {"D2", "D3"} & set(self.methods):
            size = sum(doc.n_sentences for doc in docs)
            bags = adaptation.draw_bags(size, settings.bags, settings.bag, settings.seed)
            docs, notes = adaptation.bagged(docs, bags, self._fit_plain, settings.seed)
        if "D1" in self.methods:
            self.guide = self._fit_guide(docs)
            docs = jackknife_guide(docs, self._fit_guide, settings.folds)
        if {"T4", "T5"} & set(self.methods):
            self._factors = self._count_features(docs)
        result = super().fit(docs, dev)
        if self._factors is not None:
            # From here on the factors are part of the weights; scores do not change.
            self.weights = (self.weights * self._factors).astype(np.float32)
            self._factors, self.model = None, self._new_model_without_factors()
        result["training"] |= {f"bag {name}": round(value, 4) for name, value in notes.items()}
        return result

    def _new_reader(self) -> None:
        self._reader = TreeReader(self.settings.fields, self.clusters)
        if "F2" in self.methods:
            self._reader = _NounReader(self._reader, self._column, self.counts)

    @property
    def _column(self) -> str:
        """The column of tags that templates read."""
        return self.settings.fields["t"].partition(".")[0]

    def _plain_settings(self, **changes: Any) -> MSTSettings:
        names = MSTSettings.__dataclass_fields__
        values = {name: getattr(self.settings, name) for name in names}
        return replace(MSTSettings(**values), **changes)

    def _fit_plain(self, docs: list[Doc], number: int) -> MSTParser:
        parser = MSTParser(self._plain_settings(seed=self.settings.seed + number), self.clusters)
        parser.fit(docs)
        return parser

    def _fit_guide(self, docs: Sequence[Doc]) -> Parser:
        fields = {**GREEDY_FIELDS, "t": self.settings.fields["t"]}
        parser = Parser(ParserSettings(system="arc-eager", epochs=5, seed=self.settings.seed, fields=fields))
        parser.fit(docs)
        return parser

    def _count_features(self, docs: Sequence[Doc]) -> Floats:
        model = self._new_model_without_factors()
        counts = []
        for part in (docs, self.target):
            words, _, sentences = self._reader.read(part)
            counts.append(feature_counts(model, self._batch(part, words, sentences)))
        source, target = counts
        found = target.times_of(source.features)
        factors = np.ones(len(source.features))
        if "T4" in self.methods:
            factors *= seen_factors(found)
        if "T5" in self.methods:
            factors *= frequency_factors(source.times, found, target.total)
        return source.by_slot(factors, model.size)

    def _new_model_without_factors(self) -> TreeModel:
        return super()._new_model()

    def _new_model(self) -> TreeModel:
        model = super()._new_model()
        if self._factors is not None:
            model.factors = self._factors
        return model

    def _learner(self) -> OnlineLearner:
        learner = super()._learner()
        if isinstance(learner, MIRA):
            if "D3" in self.methods:
                learner = replace(learner, cap=self.settings.slack)
            if {"T1", "T2", "T3"} & set(self.methods) and isinstance(learner.demands, BeatGold):
                learner = replace(learner, demands=WeighWords(learner.demands.worst))
        return learner

    def _program(self) -> TreeProgram:
        settings = self.settings
        templates = settings.templates or templates_of(settings.order, settings.morphology)
        if "F1" in self.methods:
            templates = adaptation.without_nouns(templates, "other")
        added = {"F2": adaptation.NOUN_PHRASES, "F3": adaptation.CLUSTERS, "D1": adaptation.STACKED,
                 "oracle": adaptation.ORACLE}  # fmt: skip
        for name in self.methods:
            if name in added:
                templates += f" arc: {added[name]}"
        return compile_tree_templates(adaptation.marked(templates, self._marks), list(settings.fields))

    @property
    def _has_marks(self) -> bool:
        return bool(self._marks) or super()._has_marks

    @property
    def _marks(self) -> list[str]:
        return [mark for name in self.methods for mark in MARKS.get(name, ())]

    def _batch(
        self, docs: Sequence[Doc], words: TreeWords, sentences: NDArray[np.int64], heads: Heads | None = None
    ) -> TreeBatch:
        batch = super()._batch(docs, words, sentences, heads)
        if self._marks:
            batch = replace(batch, marks=self._mark_arcs(docs, sentences, heads is not None))
        if heads is None or not {"T1", "T2", "T3"} & set(self.methods):
            return batch
        costs, weight = np.ones(int(sentences[-1])), batch.weight
        for name in ("T1", "T2"):
            if name in self.methods:
                own = adaptation.sentence_weights(name, docs, self.target, self._column)
                if self.settings.weigh == "cap":
                    weight = weight * own
                else:
                    costs = costs * np.repeat(own, np.diff(sentences))
        if "T3" in self.methods:
            costs = costs * adaptation.word_costs(docs, self.target)
        return replace(batch, weight=weight, costs=costs)

    def _mark_arcs(self, docs: Sequence[Doc], sentences: NDArray[np.int64], training: bool) -> NDArray[np.uint64]:
        space = all_arcs(sentences)
        columns = []
        nouns = arc_marks.both(space, self._nouns(docs)) if {"F1", "oracle"} & set(self.methods) else None
        if "F1" in self.methods and nouns is not None:
            columns.append(~nouns)
        if "F2" in self.methods:
            columns.append(arc_marks.same_stretch(space, noun_phrases.chunk_numbers(docs, self._column)))
        if "D1" in self.methods:
            guided = guide_marks(sentences, guide_heads(docs) if training else self._ask_guide(docs))
            columns += [guided[:, 0] > 0, guided[:, 1] > 0]
        if "oracle" in self.methods and nouns is not None:
            if any(doc.head is None for doc in docs):
                raise DataError("the oracle marks gold arcs: give it documents with gold heads")
            heads = np.concatenate([doc.head for doc in docs if doc.head is not None]).astype(np.int32)
            columns.append(nouns & arc_marks.has_arc(space, heads))
        return arc_marks.marks_of(*columns)

    def _nouns(self, docs: Sequence[Doc]) -> NDArray[np.bool_]:
        return np.array([tag in noun_phrases.NOUNS for doc in docs for tag in doc.column(self._column)], dtype=np.bool_)

    def _ask_guide(self, docs: Sequence[Doc]) -> Heads:
        if self.guide is None:
            raise DataError("this parser has no guide yet: call fit first")
        guided = [doc.subset(range(doc.n_sentences)) for doc in docs]
        self.guide(guided)
        return np.concatenate([np.asarray(doc.head, np.int32) for doc in guided])

    def state(self) -> State:
        header, arrays = super().state()
        header["counts"] = dict(self.counts)
        if self.guide is not None:
            header["guide"], guide_arrays = self.guide.state()
            arrays |= {f"guide.{name}": array for name, array in guide_arrays.items()}
        return header, arrays

    @classmethod
    def _of_settings(cls, header: dict[str, Any]) -> AdaptedParser:
        parser = cls(AdaptSettings.from_saved(header["settings"] | {"target": ""}), header["clusters"])
        Record(counts=Named(Whole())).check(header)
        parser.counts = Counter(header["counts"])
        parser._new_reader()
        return parser

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> MSTParser:
        arrays = Stored.of(arrays)
        parser = super().from_state(header, arrays)
        if "guide" in header and isinstance(parser, AdaptedParser):
            parser.guide = Parser.from_state(header["guide"], Stored.of(arrays).under("guide."))
        return parser


class _NounReader(TreeReader):
    """A reader that adds noun-phrase columns to copies of documents."""

    def __init__(self, reader: TreeReader, column: str, counts: Counter[str]) -> None:
        self._inner, self._column, self._counts = reader, column, counts

    def read(self, docs: Sequence[Doc]) -> tuple[TreeWords, Morphology, NDArray[np.int64]]:
        return self._inner.read([noun_phrases.with_columns(doc, self._column, self._counts) for doc in docs])


def _sentences(doc: Doc) -> Iterable[list[str]]:
    forms, offsets = doc.column("form"), doc.sentence_offsets.tolist()
    return (forms[first:end] for first, end in pairwise(offsets))
