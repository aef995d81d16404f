"""Graph-based dependency parsing: exact search for the best tree under a model that scores parts of trees.

    tree = argmax over trees y of  sum over parts r of y of  w . f(r)

Parts are arcs (`mst1`), plus pairs of adjacent children (`mst2`), plus grandparents (`mst3`). Trees are projective,
unrestricted (`shape = nonprojective`: exact for arcs alone; with siblings, rearranged from the best projective tree),
or 1-endpoint-crossing (`crossing`: exact, with grandparents and siblings wherever no arcs cross). A second stage
labels relations as a sequence over the children of every head.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Heads
from weft.errors import ConfigError, DataError
from weft.features.morphology import Morphology
from weft.features.tree_templates import TreeProgram, compile_tree_templates
from weft.headers import TEMPERATURE, Record
from weft.infer.crossing.trees import is_one_endpoint_crossing, nearest
from weft.infer.trees.projectivity import is_projective, is_tree, lift, projective_order
from weft.learn.online.adagrad import AdaGrad
from weft.learn.online.demands import BeatGold, HeadByHead
from weft.learn.online.loop import OnlineLearner
from weft.learn.online.mira import MIRA
from weft.learn.online.perceptron import Perceptron
from weft.learn.temperature import fit_temperature, loss_of_marginals
from weft.learn.training import EarlyStopping
from weft.learn.trees.arc_pruning import prune_folds, train_pruner
from weft.learn.trees.features import TreeWords
from weft.learn.trees.model import TreeBatch, TreeModel
from weft.pipeline.component import Asked, State, Stopwatch
from weft.pipeline.explanation import Explanation
from weft.storage import Arrays
from weft.tasks.parsing.guides import guide_heads, guide_marks
from weft.tasks.parsing.mst.features import FILTER, TreeReader, has_clusters, templates_of
from weft.tasks.parsing.mst.settings import AUTO, MSTSettings
from weft.tasks.parsing.relations import RelationLabeller, RelationSettings
from weft.tasks.parsing.transitions.features import CLUSTER_FIELDS
from weft.tasks.parsing.tree_columns import check_trees, tree_scores, write_trees
from weft.tasks.parsing.weighted_arcs import MARKED_ARCS, WeightedArcs
from weft.text.conventions.alternatives import note_alternatives
from weft.text.doc import Doc

#: Number of epochs to train the arc filter.
PRUNER_EPOCHS = 2
#: Maximum number of searches per sentence for heads that violate the margin to the gold heads.
ROUNDS = 10
#: Learning rate of the likelihood: arcs have many features, and the learner's default rate overfits.
RATE = 0.1
#: Longest sentence for which the nearest 1-endpoint-crossing tree is computed.
LONGEST = 60
#: Number of documents to fit the temperature of probabilities on.
HELD_OUT = 100


class MSTParser(WeightedArcs):
    """Predicts heads and relations.

    >>> doc = Doc.from_words([["dogs", "bark"], ["cats", "sleep"]], upos=[["NOUN", "VERB"]] * 2, head=[[2, 0]] * 2,
    ...                    deprel=[["nsubj", "root"]] * 2)
    >>> parser = MSTParser(MSTSettings(system="mst1", epochs=2, bits=16))
    >>> report = parser.fit([doc])
    >>> new = Doc.from_words([["birds", "sing"]], upos=[["NOUN", "VERB"]])
    >>> parser([new])
    >>> print(new.sentences[0].tree())
    sing VERB root
    └─ birds NOUN nsubj
    """

    task = "graph-parser"
    settings_class = MSTSettings
    settings: MSTSettings
    weights_name = "parser"
    gives_probabilities = True
    gives_kbest = True
    explains = True
    provides: tuple[str, ...] = ("head", "deprel")

    def __init__(self, settings: MSTSettings | None = None, clusters: Mapping[str, str] | None = None) -> None:
        super().__init__(settings, clusters)
        if self.clusters and not self.settings.templates:
            self.settings = replace(self.settings, fields={**self.settings.fields, **CLUSTER_FIELDS})
        self.temperature = 1.0  # divides scores before they become probabilities
        self._reader = TreeReader(self.settings.columns, self.clusters)

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Train on documents with trees; with dev data, keep the epoch with the best UAS.

        If `shape` or `words` is `auto`, it is chosen first: see `weft.tasks.parsing.mst.configure`.
        """
        watch = Stopwatch()
        docs = [doc for doc in train if doc.n_words]
        if not any(doc.head is not None for doc in docs):
            raise DataError("the training data has no heads; expected them in the columns HEAD and DEPREL of CoNLL-U")
        tried = self._choose(docs) if AUTO in (self.settings.shape, self.settings.words) else {}
        settings = self.settings
        words, feats, sentences = self._reader.read(docs)
        heads, gold, keep, counts = self._trees(docs, sentences)
        if not len(keep):
            raise DataError(
                f"none of the {counts['sentences']:,} training sentences is usable: their heads are missing "
                "or form cycles"
            )
        batch = self._batch(docs, words, sentences, heads).select(keep)
        if settings.crossings == "reorder" and settings.search == "projective":
            batch = batch.reorder(_projective_orders(batch))
        held_out = None if dev is None else [doc for doc in dev if doc.n_words]
        report = self._learn(batch, held_out)
        if settings.relations != "none":
            self._learn_relations(docs, words, feats, sentences, gold, keep)
        tags = [name for name in ("upos", "xpos") if any(doc.has(name) for doc in docs)]
        self.requires = ("tokens", *tags[:1])
        result: dict[str, Any] = {
            "training": {
                **counts,
                **tried,
                **report,
                "words": int(batch.offsets[-1]),
                "relations": len(self.labels),
                **watch.seconds(),
            }
        }
        if held_out:
            result["scores"] = {f"dev {name}": value for name, value in self.scores(held_out).items()}
        return result

    def _choose(self, docs: Sequence[Doc]) -> dict[str, Any]:
        """Choose the settings that are `auto`; returns the choice and the results of the trials."""
        from weft.tasks.parsing.mst.configure import configure  # it imports this module

        self.settings, trials = configure(docs, self.settings)
        self._reader = TreeReader(self.settings.columns, self.clusters)
        names = {trial.name: round(trial.uas, 4) for trial in trials}
        return {"chosen": f"{self.settings.shape}, {self.settings.words}", "tried": names}

    def _trees(
        self, docs: Sequence[Doc], sentences: NDArray[np.int64]
    ) -> tuple[Heads, Heads, list[int], dict[str, int]]:
        """Training heads, original heads, the training sentences, and counts of the sentences left out."""
        gold = np.concatenate([doc.head if doc.head is not None else np.full(doc.n_words, -1) for doc in docs])
        gold = gold.astype(np.int32)
        heads = gold.copy()
        counts = {"sentences": len(sentences) - 1, "broken trees": 0, "non-projective trees": 0, "several roots": 0}
        keep: list[int] = []
        for s, (first, end) in enumerate(pairwise(sentences.tolist())):
            own = heads[first:end]
            if first == end:
                continue
            if not is_tree(own):
                counts["broken trees"] += 1
                continue
            if self.settings.single_root and int((own == 0).sum()) > 1:
                counts["several roots"] += 1
                roots = np.flatnonzero(own == 0)
                own[roots[1:]] = roots[0] + 1
            if not is_projective(own):
                counts["non-projective trees"] += 1
                if self.settings.search == "projective":
                    if self.settings.crossings == "skip":
                        continue
                    if self.settings.crossings == "lift":
                        heads[first:end] = lift(own)
                elif self.settings.search == "crossing" and not is_one_endpoint_crossing(own):
                    heads[first:end] = nearest(own) if end - first <= LONGEST else lift(own)
            keep.append(s)
        return heads, gold, keep, counts

    def _learn(self, batch: TreeBatch, held_out: Sequence[Doc] | None) -> dict[str, Any]:
        settings = self.settings
        self.model = self._new_model()
        report: dict[str, Any] = {}
        if settings.threshold:
            options = (settings.threshold, settings.most, PRUNER_EPOCHS, settings.seed)
            self.pruner = train_pruner(self._filter_model(), batch, *options)
            batch, report["arcs kept"], report["gold arcs kept"] = prune_folds(self._filter_model(), batch, *options)
        early = None
        if held_out:
            early = EarlyStopping(lambda weights: self._uas(weights, held_out), patience=settings.epochs)
        alone = [batch.cut(s, s + 1) for s in range(len(batch))]
        result = self._learner().fit(self.model, alone, early=early, describe="parser")
        self.weights = result.weights.astype(np.float32)
        if held_out and settings.learner != "crf" and settings.sums:
            self._fit_temperature(held_out[:HELD_OUT])
        report["epochs"] = result.iterations
        return report

    def _learn_relations(
        self,
        docs: Sequence[Doc],
        words: TreeWords,
        feats: Morphology,
        sentences: NDArray[np.int64],
        heads: Heads,
        keep: Sequence[int],
    ) -> None:
        """Train relations on the original trees, or on predicted ones; sentences that were left out are not used."""
        if self.settings.jackknife:
            from weft.tasks.parsing.mst.jackknife import jackknifed  # it imports this module

            found = jackknifed(docs, self.settings, self.settings.jackknife)
            heads = np.concatenate([doc.head for doc in found if doc.head is not None])
        used = np.repeat(np.isin(np.arange(len(sentences) - 1), keep), np.diff(sentences))
        names = [name for doc in docs for name in doc.column("deprel")]
        self.labels = [name for name, _ in Counter(np.array(names)[used].tolist()).most_common() if name]
        number = {name: i for i, name in enumerate(self.labels)}
        labels = np.array([number.get(name, -1) for name in names], dtype=np.int32)
        labels[~used] = -1
        settings = self.settings
        options = RelationSettings(settings.relations == "sequence", settings.morphology, seed=settings.seed)
        self.labeller = RelationLabeller(settings.fields, options)
        self.labeller.fit(words.values, feats, sentences, np.where(used, heads, 0), labels, len(self.labels))

    def _learner(self) -> OnlineLearner:
        settings = self.settings
        epochs, seed, average = settings.epochs, settings.seed, settings.average
        if settings.learner == "mira":
            cap = settings.cap or math.inf
            if settings.constraints == "heads":
                demands = HeadByHead()
                return MIRA(epochs, seed=seed, k=settings.k, cap=cap, average=average, demands=demands, rounds=ROUNDS)
            worst = settings.constraints == "worst" or (settings.constraints == "auto" and settings.k == 1)
            return MIRA(epochs, seed=seed, k=settings.k, cap=cap, average=average, demands=BeatGold(worst=worst))
        if settings.learner == "perceptron":
            return Perceptron(epochs, seed=seed, average=average)
        return AdaGrad(epochs, seed=seed, average=average, rate=RATE)

    def _batch(
        self, docs: Sequence[Doc], words: TreeWords, sentences: NDArray[np.int64], heads: Heads | None = None
    ) -> TreeBatch:
        """The sentences of documents as input of the model, for training if heads are given."""
        marks = guide_marks(sentences, guide_heads(docs, self.settings.guide)) if self.settings.guide else None
        return TreeBatch(sentences, words, heads, np.ones(len(sentences) - 1), marks=marks)

    def batch_of(self, docs: Sequence[Doc]) -> TreeBatch:
        """The sentences of documents as input of the model."""
        words, _, sentences = self._reader.read(docs)
        return self._batch(docs, words, sentences)

    def _explain(self, doc: Doc, word: int) -> Explanation:
        from weft.tasks.parsing.mst.explain import explain_head

        return explain_head(self, self.trained(self.model), doc, word)

    def _new_model(self) -> TreeModel:
        settings = self.settings
        return TreeModel(self._program(), settings.order, settings.search, settings.single_root, settings.bits)

    @property
    def templates(self) -> str:
        """The templates of the model: those of the settings, else those of its order."""
        settings = self.settings
        return settings.templates or templates_of(
            settings.order, settings.morphology, bool(settings.guide), has_clusters(settings.fields)
        )

    def _program(self) -> TreeProgram:
        return compile_tree_templates(self.templates, list(self.settings.fields))

    def _filter_model(self) -> TreeModel:
        program = compile_tree_templates(FILTER, list(self.settings.fields))
        return TreeModel(program, 1, "nonprojective", self.settings.single_root, self.settings.bits)

    def _uas(self, weights: NDArray[Any], docs: Sequence[Doc]) -> float:
        before, self.weights = self.weights, weights
        words, _, sentences = self._reader.read(docs)
        heads = self._heads(self._batch(docs, words, sentences))
        self.weights = before
        return float((heads == np.concatenate([doc.head for doc in docs if doc.head is not None])).mean())

    @property
    def head_key(self) -> str:  # type: ignore[override]
        return self.settings.guide

    @property
    def _has_marks(self) -> bool:
        return bool(self.settings.guide)

    def _pieces(self, docs: Sequence[Doc]) -> Sequence[Sequence[Doc]]:
        """The documents, in pieces if the marks of all their arcs at once would take much memory."""
        sizes = [np.diff(doc.sentence_offsets).astype(np.int64) for doc in docs]
        if not self._has_marks or sum(int((own**2).sum()) for own in sizes) <= MARKED_ARCS:
            return [docs]
        pieces: list[list[Doc]] = []
        for doc, own in zip(docs, sizes, strict=True):
            part = np.cumsum(own**2) // MARKED_ARCS
            pieces += [[doc.subset(np.flatnonzero(part == number).tolist())] for number in np.unique(part)]
        return pieces

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        heads, labels = self._find(docs)
        p = self.head_probabilities(docs, heads) if asked.probabilities else None
        write_trees(docs, heads, labels, self.labels)
        first = 0
        for doc in docs:
            end = first + doc.n_words
            if p is not None:
                doc.confidence["head"] = p[first:end].astype(np.float32)
            if asked.kbest:
                note_alternatives(doc, self.task, self.kbest(doc, asked.kbest))
            first = end

    def head_probabilities(self, docs: Sequence[Doc], heads: Heads) -> NDArray[np.float64]:
        """The probability of every head among all trees."""
        self._check_sums("probabilities")
        probabilities, first = [], 0
        for trees in self.trees(docs):
            end = first + trees.space.n_words
            arcs = trees.space.arcs_of(heads[first:end])
            probabilities.append(np.where(arcs >= 0, trees.marginals().arc[arcs], 0.0))
            first = end
        return np.concatenate(probabilities) if probabilities else np.zeros(0)

    def kbest(self, doc: Doc, k: int) -> list[list[tuple[list[str], float]]]:
        """The k most probable trees of every sentence, one `HEAD RELATION` per word, with their probabilities."""
        self._check_sums("k best trees")
        words, feats, _ = self._reader.read([doc])
        ranked: list[list[tuple[Heads, float]]] = []
        for trees in self.trees([doc]):
            log_z = trees.log_partition()
            for s, found in enumerate(trees.kbest_scored(k)):
                ranked.append([(heads, float(np.exp(score - log_z[s]))) for heads, score in found])
        offsets = doc.sentence_offsets.astype(np.int64)
        names = [*self.labels, "_"]
        answer: list[list[tuple[list[str], float]]] = [[] for _ in ranked]
        for rank in range(k):
            # A sentence with fewer trees is padded with its last one, which is then left out.
            heads = np.concatenate([found[min(rank, len(found) - 1)][0] for found in ranked])
            labels = self._label(words, feats, offsets, heads)
            for s, found in enumerate(ranked):
                if rank < len(found):
                    own = slice(int(offsets[s]), int(offsets[s + 1]))
                    pairs = zip(heads[own].tolist(), labels[own].tolist(), strict=True)
                    answer[s].append(([f"{head} {names[label]}" for head, label in pairs], found[rank][1]))
        return answer

    def _check_sums(self, what: str) -> None:
        if not self.settings.sums:
            raise ConfigError(
                f"{self.settings.named} gives no {what}; use mst1 of either shape, or projective mst2 or mst3"
            )

    def trees(self, docs: Sequence[Doc]) -> Iterator[Any]:
        """The trees of documents as structures of `weft.infer`, batch by batch, at the temperature of the model."""
        for piece in self._pieces(docs):
            words, _, sentences = self._reader.read(piece)
            yield from self._trees_of(self._batch(piece, words, sentences), self.temperature)

    def _trees_of(self, whole: TreeBatch, temperature: float = 1.0) -> Iterator[Any]:
        model = self.trained(self.model)
        for batch, space in self.searches(whole):
            yield model.trees(space, batch.words, self.weights, batch.arc_marks, temperature)

    def _heads(self, batch: TreeBatch) -> Heads:
        heads = [trees.best() for trees in self._trees_of(batch)]
        return np.concatenate(heads) if heads else np.zeros(0, np.int32)

    def _label(self, words: TreeWords, feats: Morphology, sentences: NDArray[np.int64], heads: Heads) -> Heads:
        if self.labeller is None:
            return np.full(len(heads), -1, np.int32)
        return self.labeller.label(words.values, feats, sentences, heads)

    def _find(self, docs: Sequence[Doc]) -> tuple[Heads, Heads]:
        words, feats, sentences = self._reader.read(docs)
        pieces = self._pieces(docs)
        if len(pieces) == 1:
            heads = self._heads(self._batch(docs, words, sentences))
        else:
            read = ((piece, self._reader.read(piece)) for piece in pieces)
            heads = np.concatenate([self._heads(self._batch(piece, own, at)) for piece, (own, _, at) in read])
        return heads, self._label(words, feats, sentences, heads)

    def _fit_temperature(self, docs: Sequence[Doc]) -> None:
        """Fit the temperature that maximizes the probability of held-out heads."""
        gold = np.concatenate([doc.head for doc in docs if doc.head is not None]).astype(np.int32)

        def loss(temperature: float) -> float:
            self.temperature = temperature
            return loss_of_marginals(self.head_probabilities(docs, gold))

        self.temperature = fit_temperature(loss, 0.01, 1000.0)

    def scores(self, docs: Sequence[Doc]) -> dict[str, float]:
        """UAS and LAS on documents with gold words and trees; subtypes of relations are ignored."""
        check_trees(docs)
        return tree_scores(docs, *self._find(docs), self.labels)

    def state(self) -> State:
        header, arrays = super().state()
        return {**header, "temperature": self.temperature}, arrays

    @classmethod
    def _of_settings(cls, header: dict[str, Any]) -> MSTParser:
        return cls(MSTSettings.from_saved(header["settings"]), header["clusters"])

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> MSTParser:
        parser = cls._of_settings(header)
        parser._restore(header, arrays)
        Record(temperature=TEMPERATURE).check(header)
        parser.temperature = header["temperature"]
        return parser


def _projective_orders(batch: TreeBatch) -> NDArray[np.int64]:
    """The words of a batch, reordered so that the trees of its sentences are projective."""
    assert batch.gold is not None
    return np.concatenate(
        [first + projective_order(batch.gold[first:end]) for first, end in pairwise(batch.offsets.tolist())]
    )
