"""Dependency graphs: every word has one or more heads, as in the column DEPS of CoNLL-U.

    graph = an acyclic graph that neither changing a head nor adding one improves under
            sum over edges (h, m) of  w . f(h, m) + w . f(h, m, s)

with s the child of h next to m (McDonald & Pereira 2006; `weft.infer.trees.rearrange`). Training uses the tree of
every sentence and those heads in DEPS that close no cycle. A second stage predicts relations: any choice of one head
per word is a tree, and a graph is covered by as many trees as the word with the most heads has heads.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Ints
from weft.errors import ConfigError, DataError
from weft.evaluate.trees.dependency_graphs import evaluate_graphs
from weft.features.morphology import Morphology
from weft.features.tree_templates import compile_tree_templates
from weft.infer.trees.arcs import all_arcs
from weft.infer.trees.projectivity import is_tree
from weft.infer.trees.rearrange import DependencyGraphs
from weft.learn.online.mira import MIRA
from weft.learn.training import EarlyStopping
from weft.learn.trees.arc_pruning import prune_folds, train_pruner
from weft.learn.trees.dependency_graphs import DependencyGraphModel, GraphBatch, arcs_of_edges
from weft.learn.trees.features import TreeWords
from weft.learn.trees.model import TreeBatch, TreeModel
from weft.pipeline.component import Asked, Stopwatch
from weft.pipeline.settings import Settings, clusters_option, option, template_fields_option
from weft.storage import Arrays
from weft.tasks.parsing.mst.features import FIELDS, FILTER, TreeReader, check_clusters, templates_of
from weft.tasks.parsing.mst.parser import BATCH, PRUNER_EPOCHS
from weft.tasks.parsing.relations import RelationLabeller, RelationSettings
from weft.tasks.parsing.weighted_arcs import WeightedArcs
from weft.text.doc import Doc
from weft.text.edges import Edges, acyclic_edges, note_edges


@dataclass
class DependencyGraphSettings(Settings):
    """Options of a parser of dependency graphs."""

    cap: float = option(0.01, "Largest step of mira; 0 sets no limit.")
    epochs: int = option(8, "Passes over the graphs.")
    threshold: float = option(0.0, "Prune arcs whose probability is below this share of the best; 0 prunes none.")
    most: int = option(20, "Maximum number of candidate heads per word.")
    relations: str = option(
        "sequence",
        "How relations are labelled: in sequence, one by one, or not at all.",
        choices=("sequence", "atomic", "none"),
    )
    subtypes: bool = option(False, "Keep the subtypes of relations, after their first colon.")
    morphology: bool = option(True, "Use morphological features and their pairs.")
    single_root: bool = option(True, "Give every sentence exactly one root.")
    average: bool = option(True, "Average the weights over all steps.")
    bits: int = option(22, "Hash weights into 2^N places.", metavar="N")
    clusters: str = clusters_option()
    templates: str = option("", "Feature templates; without any, those of mst2.")
    fields: dict[str, str] = template_fields_option(FIELDS)
    seed: int = option(0, "Random seed.")
    workers: int = option(1, "Number of threads; training uses one.", hidden=True)

    def check(self) -> None:
        check_clusters(self.clusters, self.fields)
        if self.relations not in ("sequence", "atomic", "none"):
            raise ConfigError(f"relations must be one of sequence, atomic, none, got {self.relations!r}")
        for name in ("epochs", "most"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        if not 0 <= self.threshold <= 1:
            raise ConfigError(f"threshold, a share of a probability, must be from 0 to 1, got {self.threshold}")


class DependencyGraphParser(WeightedArcs):
    """Predicts one or more heads per word, and their relations.

    >>> doc = Doc.from_words([["dogs", "bark", "and", "howl"]] * 2, upos=[["NOUN", "VERB", "CCONJ", "VERB"]] * 2,
    ...                    head=[[2, 0, 4, 2]] * 2, deprel=[["nsubj", "root", "cc", "conj"]] * 2,
    ...                    deps=[["2:nsubj|4:nsubj", "0:root", "4:cc", "2:conj"]] * 2)
    >>> parser = DependencyGraphParser(DependencyGraphSettings(epochs=4, bits=16))
    >>> report = parser.fit([doc])
    >>> new = Doc.from_words([["cats", "mew", "and", "purr"]], upos=[["NOUN", "VERB", "CCONJ", "VERB"]])
    >>> parser([new])
    >>> new.column("deps")
    ['2:nsubj|4:nsubj', '0:root', '4:cc', '2:conj']
    """

    task = "graphs"
    settings_class = DependencyGraphSettings
    settings: DependencyGraphSettings
    weights_name = "graphs"
    provides = ("deps",)

    def __init__(
        self, settings: DependencyGraphSettings | None = None, clusters: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(settings, clusters)
        self._reader = TreeReader(self.settings.fields, self.clusters)

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Train on documents with trees and DEPS; with dev data, keep the epoch with the best edge F1."""
        watch = Stopwatch()
        docs, counts = self._usable([doc for doc in train if doc.n_words])
        graphs = [acyclic_edges(doc) for doc in docs]
        edges = joined([own for own, _ in graphs], docs)
        words, _, sentences = self._reader.read(docs)
        counts["edges"] = len(edges.word)
        counts["edges of cycles left out"] = sum(dropped.cycles for _, dropped in graphs)
        counts["edges of empty nodes left out"] = sum(dropped.empty_nodes for _, dropped in graphs)
        heads = np.concatenate([doc.head for doc in docs if doc.head is not None]).astype(np.int32)
        held_out = None if dev is None else gold_graphs(dev)
        batch = TreeBatch(sentences, words, heads, np.ones(len(sentences) - 1))
        report = self._learn(batch, edges, held_out)
        if self.settings.relations != "none":
            self._learn_relations(docs, edges)
        tags = [name for name in ("upos", "xpos") if any(doc.has(name) for doc in docs)]
        self.requires = ("tokens", *tags[:1])
        result: dict[str, Any] = {
            "training": {
                **counts,
                **report,
                "words": int(sentences[-1]),
                "relations": len(self.labels),
                **watch.seconds(),
            }
        }
        if held_out:
            result["scores"] = {f"dev {name}": value for name, value in self.scores(held_out).items()}
        return result

    def _usable(self, docs: Sequence[Doc]) -> tuple[list[Doc], dict[str, int]]:
        """The documents reduced to sentences with complete trees, and counts of the sentences left out."""
        counts = {"sentences": 0, "broken trees": 0, "several roots": 0}
        kept: list[Doc] = []
        for doc in docs:
            bounds = list(pairwise(doc.sentence_offsets.tolist()))
            counts["sentences"] += len(bounds)
            good = []
            for s, (first, end) in enumerate(bounds):
                if first == end:
                    continue
                if doc.head is None or not is_tree(doc.head[first:end]):
                    counts["broken trees"] += 1
                elif self.settings.single_root and int((doc.head[first:end] == 0).sum()) > 1:
                    counts["several roots"] += 1
                else:
                    good.append(s)
            if good:
                kept.append(doc.subset(good))
        if not kept:
            raise DataError(
                f"none of the {counts['sentences']:,} training sentences is usable: graphs need complete trees "
                "in the columns HEAD and DEPREL of CoNLL-U, and further heads in DEPS"
            )
        return kept, counts

    def _learn(self, batch: TreeBatch, edges: Edges, held_out: Sequence[Doc] | None) -> dict[str, Any]:
        settings = self.settings
        self.model = self._new_model()
        gold, heads = arcs_of_edges(all_arcs(batch.offsets), edges.word, edges.head), batch.gold
        assert heads is not None
        report: dict[str, Any] = {}
        if settings.threshold:
            options = settings.threshold, settings.most, PRUNER_EPOCHS, settings.seed
            self.pruner = train_pruner(self._filter_model(), batch, *options)
            batch, report["arcs kept"], report["arcs of trees kept"] = prune_folds(
                self._filter_model(), batch, *options
            )
            assert batch.arcs is not None
            further = gold.copy()
            further[all_arcs(batch.offsets).arcs_of(heads)] = False
            report["further heads kept"] = float(batch.arcs[further].mean()) if further.any() else 1.0
            batch = replace(batch, arcs=batch.arcs | gold)
        early = None
        if held_out:
            early = EarlyStopping(lambda weights: self._f1(weights, held_out), patience=settings.epochs)
        alone = [
            GraphBatch(own, arcs_of_edges(own.arc_space, *edges_between(edges, *batch.offsets[s : s + 2].tolist())))
            for s, own in enumerate(batch.cut(s, s + 1) for s in range(len(batch)))
        ]
        learner = MIRA(settings.epochs, seed=settings.seed, k=1, cap=settings.cap or math.inf, average=settings.average)
        result = learner.fit(self.model, alone, early=early, describe="graphs")
        self.weights = result.weights.astype(np.float32)
        report["epochs"] = result.iterations
        return report

    def _learn_relations(self, docs: Sequence[Doc], edges: Edges) -> None:
        """Train relations on the first heads of words, then again on sentences with further heads."""
        names = edges.relation if self.settings.subtypes else [name.split(":")[0] for name in edges.relation]
        self.labels = [name for name, _ in Counter(names).most_common() if name and name != "_"]
        number = {name: i for i, name in enumerate(self.labels)}
        numbers = np.array([number.get(name, -1) for name in names], dtype=np.int32)
        sentence = np.concatenate(
            [np.repeat(np.arange(doc.n_sentences), np.diff(doc.sentence_offsets)) for doc in docs]
        )
        starts = np.cumsum([0] + [doc.n_words for doc in docs])
        all_docs, heads, labels = [], [], []
        for place, own in layers(edges, int(starts[-1])):
            for doc, (first, end) in zip(docs, pairwise(starts.tolist()), strict=True):
                chosen = np.unique(sentence[first:end][own[first:end]])
                words = first + np.flatnonzero(np.isin(sentence[first:end], chosen))
                if len(words):
                    all_docs.append(doc.subset(chosen.tolist()))
                    heads.append(edges.head[place[words]])
                    labels.append(np.where(own[words], numbers[place[words]], -1))
        values, feats, sentences = self._reader.read(all_docs)
        options = RelationSettings(
            self.settings.relations == "sequence", self.settings.morphology, seed=self.settings.seed
        )
        self.labeller = RelationLabeller(self.settings.fields, options)
        self.labeller.fit(
            values.values, feats, sentences, np.concatenate(heads), np.concatenate(labels).astype(np.int32),
            len(self.labels),
        )  # fmt: skip

    def _new_model(self) -> DependencyGraphModel:
        settings = self.settings
        templates = settings.templates or templates_of(2, settings.morphology)
        program = compile_tree_templates(templates, list(settings.fields))
        return DependencyGraphModel(program, settings.single_root, settings.bits)

    def _filter_model(self) -> TreeModel:
        program = compile_tree_templates(FILTER, list(self.settings.fields))
        return TreeModel(program, 1, "nonprojective", self.settings.single_root, self.settings.bits)

    def _f1(self, weights: NDArray[Any], docs: Sequence[Doc]) -> float:
        before, self.weights = self.weights, weights
        score = self.scores(docs)["edge F1"]
        self.weights = before
        return score

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        words, feats, sentences = self._reader.read(docs)
        edges = self._find(words, feats, sentences)
        first = 0
        for doc in docs:
            end = first + doc.n_words
            low, high = np.searchsorted(edges.word, (first, end)).tolist()
            note_edges(doc, Edges(edges.head[low:high], edges.word[low:high] - first, edges.relation[low:high]))
            first = end

    def graphs(self, docs: Sequence[Doc]) -> Iterator[DependencyGraphs]:
        """Predict the graphs of documents as structures of `weft.infer`, batch by batch."""
        words, _, sentences = self._reader.read(docs)
        return self._graphs_of(words, sentences)

    def _graphs_of(self, words: TreeWords, sentences: Ints) -> Iterator[DependencyGraphs]:
        model = self.trained(self.model)
        whole = TreeBatch(sentences, words, None, np.ones(len(sentences) - 1))
        for batch in whole.batches(BATCH):
            space = all_arcs(batch.offsets)
            if self.pruner is not None:
                space = space.keep(self.pruner.keep(space, batch.words))
            yield model.trees(space, batch.words, self.weights)

    def _find(self, words: TreeWords, feats: Morphology, sentences: Ints) -> Edges:
        heads, modifiers, first = [], [], 0
        for graphs in self._graphs_of(words, sentences):
            arcs = np.flatnonzero(graphs.best())
            heads.append(graphs.space.head[arcs])
            modifiers.append(graphs.space.word[arcs] + first)
            first += graphs.space.n_words
        head, word = (
            np.concatenate([np.zeros(0, np.int32), *heads]),
            np.concatenate([np.zeros(0, np.int64), *modifiers]),
        )
        order = np.lexsort((head, word))
        edges = Edges(head[order], word[order], [""] * len(order))
        if self.labeller is None:
            return edges
        names = np.empty(len(order), dtype=object)
        for place, own in layers(edges, len(words.values) - 1):
            found = self.labeller.label(words.values, feats, sentences, edges.head[place])
            names[place[own]] = np.array(self.labels, dtype=object)[found[own]]
        return edges._replace(relation=names.tolist())

    def scores(self, docs: Sequence[Doc]) -> dict[str, float]:
        """Edge precision, recall and F1 on documents with gold words and graphs, and labelled edge F1."""
        gold = gold_graphs(docs)
        if not gold:
            raise DataError(
                "the documents to score have no heads; expected them in the columns HEAD and DEPS of CoNLL-U"
            )
        system = [doc.subset(range(doc.n_sentences)) for doc in gold]
        self(system)
        counts = evaluate_graphs(gold, system)
        edges, labelled = counts["edges"].total(), counts["labelled edges"].total()
        return {
            "edge precision": edges.precision,
            "edge recall": edges.recall,
            "edge F1": edges.f1,
            "labelled edge F1": labelled.f1,
        }

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> DependencyGraphParser:
        parser = cls(DependencyGraphSettings.from_saved(header["settings"]), header["clusters"])
        parser._restore(header, arrays)
        return parser


def gold_graphs(docs: Iterable[Doc]) -> list[Doc]:
    """Copies of documents whose DEPS holds the training target: the tree and further heads that close no cycle.

    >>> doc = Doc.from_words([["a", "b"]], head=[[2, 0]], deprel=[["x", "root"]], deps=[["2:x", "0:root|1:y"]])
    >>> gold_graphs([doc])[0].column("deps")
    ['2:x', '0:root']
    """
    copies = [doc.subset(range(doc.n_sentences)) for doc in docs if doc.n_words and doc.head is not None]
    for doc in copies:
        note_edges(doc, acyclic_edges(doc)[0])
    return copies


def joined(graphs: Sequence[Edges], docs: Sequence[Doc]) -> Edges:
    """The edges of several documents, concatenated as if they were one document."""
    starts = np.cumsum([0] + [doc.n_words for doc in docs])
    return Edges(
        np.concatenate([edges.head for edges in graphs]),
        np.concatenate([edges.word + start for edges, start in zip(graphs, starts[:-1], strict=True)]),
        [relation for edges in graphs for relation in edges.relation],
    )


def edges_between(edges: Edges, first: int, end: int) -> tuple[Ints, NDArray[np.int32]]:
    """Dependents, counted from `first`, and heads of the edges of the words `first:end`."""
    low, high = np.searchsorted(edges.word, (first, end)).tolist()
    return edges.word[low:high] - first, edges.head[low:high]


def layers(edges: Edges, n_words: int) -> Iterator[tuple[Ints, NDArray[np.bool_]]]:
    """Trees that together cover all edges of a graph: indices of their edges, and which edges are in no earlier tree.

    Tree r takes head r of every word that has that many heads, and the first head of the others.

    >>> edges = Edges.of([(0, 2, "a"), (0, 3, "b"), (1, 0, "c"), (2, 2, "d")])
    >>> [(place.tolist(), new.tolist()) for place, new in layers(edges, 3)]
    [([0, 2, 3], [True, True, True]), ([1, 2, 3], [True, False, False])]
    """
    count = np.bincount(edges.word, minlength=n_words)
    first = np.cumsum(count) - count
    for rank in range(int(count.max(initial=0))):
        own = count > rank
        yield np.where(own, first + rank, first), own
