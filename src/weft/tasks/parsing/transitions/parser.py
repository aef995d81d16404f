"""Transition-based dependency parsing: predict the head and relation of every word in linear time.

    tree = the arcs of  t1 ... tm,   t_i = argmax over LEGAL(c_i) of w . f(c_i, t),   c_{i+1} = t_i(c_i)

The averaged perceptron trains the parser with a dynamic oracle, which knows the optimal moves in any configuration
(Goldberg & Nivre 2013), so that the parser learns to recover from its own mistakes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Keys
from weft.errors import ConfigError, DataError
from weft.features.extract import sentence_offsets
from weft.headers import Many, Named, Record, Table, Text
from weft.infer.transitions import SYSTEMS, Constraints, TransitionParser, system_named
from weft.infer.transitions.beam import WIDEST_BEAM
from weft.infer.transitions.model import actions_of
from weft.infer.transitions.plain import registered
from weft.infer.trees.projectivity import MARK, PATH, decode, encode, is_projective, is_tree, lift, mirror, mirrored
from weft.learn.transitions.beam import UPDATES
from weft.learn.transitions.learner import TransitionLearner, Treebank, best_epoch
from weft.learn.transitions.training import ORACLES
from weft.lexical.clusters.monolingual import load_clusters
from weft.lexical.universal_tags import tagsets_of
from weft.pipeline.component import Asked, State, Stopwatch, Trainable
from weft.pipeline.explanation import Explanation
from weft.pipeline.settings import Settings, clusters_option, native_clusters_option, option, template_fields_option
from weft.storage import Arrays
from weft.tasks.parsing.transitions.features import (
    CLUSTER_FIELDS,
    CLUSTER_TEMPLATES,
    DELEXICALIZED_CLUSTERS,
    DELEXICALIZED_FIELDS,
    DELEXICALIZED_TEMPLATES,
    FIELDS,
    NATIVE_FIELDS,
    NATIVE_TEMPLATES,
    TEMPLATES,
    WordReader,
)
from weft.tasks.parsing.tree_columns import check_trees, tree_scores, write_trees
from weft.text.doc import Doc

#: Longer sentences are parsed in windows, with a beam or easiest first: time grows with the square of length.
LONGEST = 2000
#: How to handle training trees that projective transition systems cannot build.
NONPROJECTIVE = ("skip", "lift", "encode", "encode-path")

HEADER = Record(labels=Many(Text()), clusters=Named(Text()), requires=Many(Text()), parser=Table()).with_optional(
    tagsets=Many(Text()), native=Named(Text())
)


@dataclass
class ParserSettings(Settings):
    """Options of a parser."""

    system: str = option(
        "arc-eager",
        f"Transition system: {', '.join(SYSTEMS)}, or one that a package registers.",
        metavar="NAME",
        show_default=False,
    )
    oracle: str = option("dynamic", "Oracle to train with.", choices=tuple(ORACLES))
    beam: int = option(1, "Configurations kept per step, in training and parsing; 1 is greedy.")
    update: str = option("max-violation", "With a beam, where to update.", choices=tuple(UPDATES))
    epochs: int = option(10, "Passes over the trees.")
    runs: int = option(1, "Trainings in different orders whose weights are averaged.")
    k: int = option(1, "Epochs before the parser explores its mistakes.")
    p: float = option(0.9, "Probability of following a mistake.")
    margin: int = option(0, "Without a beam, also correct actions whose best rival scores less than this below them.")
    nonprojective: str = option(
        "lift",
        "Training trees with crossing arcs: leave them out, lift the arcs, or encode what was lifted, with or without "
        "its path.",
        choices=NONPROJECTIVE,
    )
    single_root: bool = option(True, "Give every sentence exactly one root.")
    reverse: bool = option(False, "Parse sentences from right to left.")
    delexicalized: bool = option(False, "Use tags and partial trees but no words, to parse other languages.")
    clusters: str = clusters_option()
    native_clusters: str = native_clusters_option()
    target_clusters: str = option(
        "",
        "Word clusters of the language to parse, if --clusters belong to the language of the training data.",
        metavar="FILE",
    )
    templates: str = option("", "Feature templates; without any, the system's own.")
    fields: dict[str, str] = template_fields_option(FIELDS)
    prune: float = option(0.5, "Drop mean weights below this size from the saved model.")
    seed: int = option(0, "Random seed.")
    workers: int = option(1, "Number of threads; training uses one.", hidden=True)

    def check(self) -> None:
        choices = {
            "oracle": tuple(ORACLES),
            "nonprojective": NONPROJECTIVE,
            "update": tuple(UPDATES),
        }
        if self.system not in SYSTEMS and self.system not in registered():
            names = ", ".join((*SYSTEMS, *registered()))
            raise ConfigError(f"system must be one of {names}, got {self.system!r}")
        for name, known in choices.items():
            if getattr(self, name) not in known:
                raise ConfigError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        for name in ("epochs", "runs", "beam"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.margin < 0 or (self.margin and self.beam > 1):
            raise ConfigError(f"margin must be at least 0, and 0 with a beam, got {self.margin}")
        if self.beam > WIDEST_BEAM:
            raise ConfigError(f"beam must be at most {WIDEST_BEAM}, got {self.beam}")
        if self.native_clusters and (self.target_clusters or self.delexicalized):
            raise ConfigError("native_clusters are of no use for a parser of other languages")
        if self.target_clusters and not self.clusters:
            raise ConfigError("target_clusters are the clusters of `clusters` in another language: give both files")
        if self.delexicalized and self.fields != FIELDS:
            raise ConfigError("a delexicalized parser reads tags only: remove `fields` or `delexicalized`")


class Parser(Trainable):
    """Predicts heads and relations.

    >>> doc = Doc.from_words([["dogs", "bark"], ["cats", "sleep"]], upos=[["NOUN", "VERB"]] * 2, head=[[2, 0]] * 2,
    ...                    deprel=[["nsubj", "root"]] * 2)
    >>> parser = Parser()
    >>> report = parser.fit([doc])
    >>> new = Doc.from_words([["birds", "sing"]], upos=[["NOUN", "VERB"]])
    >>> parser([new])
    >>> print(new.sentences[0].tree())
    sing VERB root
    └─ birds NOUN nsubj
    """

    task = "parser"
    settings_class = ParserSettings
    settings: ParserSettings
    unsaved = ("workers", "clusters", "native_clusters", "target_clusters")
    provides = ("head", "deprel")
    explains = True

    def __init__(
        self,
        settings: ParserSettings | None = None,
        clusters: Mapping[str, str] | None = None,
        native: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(settings)
        if clusters is None:
            clusters = load_clusters(self.settings.clusters) if self.settings.clusters else {}
        if native is None:
            native = load_clusters(self.settings.native_clusters) if self.settings.native_clusters else {}
        self.clusters, self.native = clusters, native
        fields = DELEXICALIZED_FIELDS if self.settings.delexicalized else self.settings.fields
        self.fields = {**fields, **(CLUSTER_FIELDS if clusters else {}), **(NATIVE_FIELDS if native else {})}
        self.requires: tuple[str, ...] = ("tokens", "upos")
        self.labels: list[str] = []
        self.tagsets: list[str] = []  # the tagsets that the training data of a delexicalized parser may use
        self.parser: TransitionParser | None = None
        self._reader = WordReader(self.fields, clusters, native)

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Train on documents with trees; with dev data, keep the epoch with the best LAS."""
        watch = Stopwatch()
        settings = self.settings
        docs = [doc for doc in train if doc.n_words]
        if not any(doc.head is not None for doc in docs):
            raise DataError("the training data has no heads; expected them in the columns HEAD and DEPREL of CoNLL-U")
        if settings.delexicalized:
            self.tagsets = tagsets_of(_tags(docs))
        trees, keep, counts = self._trees(docs)
        if not len(keep):
            raise DataError(
                f"none of the {counts['sentences']:,} training sentences is usable: "
                f"{counts['broken trees']:,} have missing heads or cycles, {counts['non-projective trees']:,} cross"
            )
        sets = (
            (DELEXICALIZED_TEMPLATES, DELEXICALIZED_CLUSTERS)
            if settings.delexicalized
            else (TEMPLATES, CLUSTER_TEMPLATES)
        )
        system = system_named(settings.system)
        like = system.like or system.name
        read = {sets[0][like]: True, sets[1][like]: self.clusters, NATIVE_TEMPLATES[like]: self.native}
        own = " ".join(each for each, used in read.items() if used)
        templates = settings.templates or own
        positions = np.concatenate([np.arange(1, n + 1) for n in np.diff(trees.sentences)]).astype(np.int32)
        kept = np.repeat(np.isin(np.arange(len(trees.sentences) - 1), keep), np.diff(trees.sentences))
        actions = actions_of(settings.system, *(part[kept] for part in (trees.heads, trees.labels, positions)))
        blank = TransitionParser(settings.system, templates, list(self.fields), actions)
        learner = TransitionLearner(
            settings.epochs,
            settings.oracle,
            settings.k,
            settings.p,
            settings.seed,
            settings.single_root,
            settings.beam,
            settings.update,
            prune=settings.prune,
            runs=settings.runs,
            margin=settings.margin,
        )
        held_out = None if dev is None else [doc for doc in dev if doc.n_words]

        def las(parser: TransitionParser) -> float:
            self.parser = parser
            return self.scores(held_out or [])["LAS"]

        self.parser, history = learner.fit(blank, trees, keep, las if held_out else None)
        scores = {f"dev {name}": value for name, value in self.scores(held_out).items()} if held_out else {}
        if settings.target_clusters:
            self.read_clusters(load_clusters(settings.target_clusters))
        tags = [name for name in ("upos", "xpos") if any(doc.has(name) for doc in docs)]
        self.requires = ("tokens", *tags[:1])
        report: dict[str, Any] = {
            "training": {
                **counts,
                "words": int(kept.sum()),
                "relations": len(self.labels),
                "templates": len(blank.model.program.seeds),
                "epochs": len(history),
                **watch.seconds(),
            }
        }
        if held_out:
            report["training"]["best_epoch"] = best_epoch(history).number
            report["scores"] = scores
        return report

    def read_clusters(self, clusters: Mapping[str, str]) -> None:
        """From now on, use these clusters: words of another language in the same clusters."""
        if bool(clusters) != bool(self.clusters):
            raise ConfigError("clusters of a second language need a parser that was trained with clusters: give both")
        self.clusters = clusters
        self._reader = WordReader(self.fields, self.clusters)

    def _trees(self, docs: Sequence[Doc]) -> tuple[Treebank, NDArray[np.int64], dict[str, int]]:
        """The training trees, the indices of the training sentences, and counts of the sentences left out."""
        words, sentences = self.words_of(docs)
        heads = np.concatenate([doc.head if doc.head is not None else np.full(doc.n_words, -1) for doc in docs])
        heads = heads.astype(np.int32)
        names = [name for doc in docs for name in doc.column("deprel")]
        counts = {"sentences": len(sentences) - 1, "broken trees": 0, "non-projective trees": 0}
        keep: list[int] = []
        projective = system_named(self.settings.system).projective
        for s, (first, end) in enumerate(pairwise(sentences.tolist())):
            own = heads[first:end]
            if first == end:
                continue
            if not is_tree(own):
                counts["broken trees"] += 1
                continue
            if not is_projective(own):
                counts["non-projective trees"] += 1
                if not projective:
                    keep.append(s)
                    continue
                if self.settings.nonprojective == "skip":
                    continue
                if self._encodes:
                    heads[first:end], names[first:end] = encode(own, names[first:end], self._with_path)
                else:
                    heads[first:end] = lift(own)
            keep.append(s)
        learned = (name for s in keep for name in names[sentences[s] : sentences[s + 1]])
        self.labels = [name for name, _ in Counter(learned).most_common() if name]
        number = {name: i for i, name in enumerate(self.labels)}
        labels = np.array([number.get(name, -1) for name in names], dtype=np.int32)
        if self.settings.reverse:
            heads, labels = mirror(heads, labels, sentences)
        return Treebank(words, sentences, heads, labels), np.array(keep, dtype=np.int64), counts

    def longest(self, asked: Asked) -> int:
        system = system_named(self.settings.system)
        return LONGEST if self.settings.beam > 1 or system.name == "easy-first" or system.quadratic else 0

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        self.parse(docs)

    def parse(self, docs: Sequence[Doc], constraints: Constraints | None = None) -> None:
        """Parse documents in place; `constraints` (from `weft.infer.transitions`) apply to all their sentences."""
        write_trees(docs, *self._trees_of(docs, constraints))

    @property
    def _with_path(self) -> bool:
        return self.settings.nonprojective == "encode-path"

    @property
    def _encodes(self) -> bool:
        """Whether labels tell what was lifted; systems that build crossing arcs need no such labels."""
        return self.settings.nonprojective.startswith("encode") and system_named(self.settings.system).projective

    def words_of(self, docs: Sequence[Doc]) -> tuple[Keys, NDArray[np.int64]]:
        """The rows of values that templates read, ROOT first, and the sentence offsets; from right to left if asked."""
        words, sentences = self._reader.read(docs)
        return (words[np.concatenate([[0], 1 + mirrored(sentences)])] if self.settings.reverse else words), sentences

    def _explain(self, doc: Doc, word: int) -> Explanation:
        from weft.tasks.parsing.transitions.explain import explain_head

        return explain_head(self, self.trained(self.parser), doc, word)

    def _find(
        self, docs: Sequence[Doc], constraints: Constraints | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        parser = self.trained(self.parser)
        if self.settings.delexicalized:
            tagsets_of(_tags(docs), self.tagsets)
        words, sentences = self.words_of(docs)
        if not self.settings.reverse:
            return parser.parse(words, sentences, self.settings.single_root, constraints, self.settings.beam)
        if constraints is not None:
            raise ConfigError("a parser from right to left takes no constraints")
        found = parser.parse(words, sentences, self.settings.single_root, None, self.settings.beam)
        return mirror(*found, sentences)

    def scores(self, docs: Sequence[Doc]) -> dict[str, float]:
        """UAS and LAS on documents with gold words and trees; subtypes of relations are ignored."""
        check_trees(docs)
        return tree_scores(docs, *self._trees_of(docs))

    def _trees_of(
        self, docs: Sequence[Doc], constraints: Constraints | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], list[str]]:
        """Heads, numbers of relations, and the relations, with lifted words attached to their original heads again."""
        heads, labels = self._find(docs, constraints)
        if not self._encodes:
            return heads, labels, self.labels
        names = [self.labels[label] if label >= 0 else "" for label in labels.tolist()]
        for first, end in pairwise(sentence_offsets(docs).tolist()):
            own = slice(first, end)
            if any(MARK in name or name.endswith(PATH) for name in names[own]):
                heads[own], names[own] = decode(heads[own], names[own], self._with_path)
        plain = sorted({name for name in names if name})
        number = {"": -1} | {name: i for i, name in enumerate(plain)}
        return heads, np.array([number[name] for name in names], dtype=np.int32), plain

    def state(self) -> State:
        header, arrays = self.trained(self.parser).state()
        settings = self.saved_settings()
        return {
            "settings": settings,
            "labels": self.labels,
            "tagsets": self.tagsets,
            "clusters": self.clusters,
            **({"native": self.native} if self.native else {}),
            "requires": list(self.requires),
            "parser": header,
        }, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> Parser:
        HEADER.check(header)
        component = cls(ParserSettings.from_saved(header["settings"]), header["clusters"], header.get("native", {}))
        component.labels = header["labels"]
        component.tagsets = header.get("tagsets", [])
        component.requires = tuple(header["requires"])
        component.parser = TransitionParser.from_state(header["parser"], arrays)
        component.parser.check_fits(component.settings.system, component.fields, len(component.labels))
        return component


def _tags(docs: Iterable[Doc]) -> set[str]:
    return {tag for doc in docs for tag in np.unique(np.array(doc.column("upos"))).tolist()}
