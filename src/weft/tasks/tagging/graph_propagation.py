"""A tagger for an unannotated domain, trained by propagation over trigrams (Subramanya, Petrov and Pereira 2010).

    theta <- argmax sum_labelled log p(y | x; theta) - gamma ||theta||^2
    repeat
        p <- posteriors of all words under theta
        q* <- p pooled by trigram type and spread over the graph of types           (`weft.tasks.tagging.trigram_graph`)
        y* <- best tags under alpha p + (1 - alpha) q* and the transitions of p
        theta <- argmax sum_labelled log p(y | x) + eta sum_unlabelled log p(y* | x) - gamma ||theta||^2

The unlabelled text adds features, so words of the target domain get their own weights. The result is an ordinary
conditional random field: only training uses the graph. Variants for comparison:

| variant | y* of unlabelled sentences |
|---|---|
| `graph` | as above |
| `pooled` | without propagation: q* = q, posteriors pooled by type |
| `one-best` | the best tags under theta |
| `supervised` | none |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats
from weft.errors import ConfigError, DataError
from weft.features.templates import Templates
from weft.features.weights import Layout
from weft.infer.chains.chain import Chain
from weft.learn import LBFGS, Objective, minimize
from weft.learn.chains.labels import LabelSpace
from weft.learn.chains.model import ChainModel
from weft.learn.training import Result
from weft.pipeline.component import Stopwatch
from weft.pipeline.settings import option
from weft.tasks.labelling.chain_data import ChainData, ChainReader
from weft.tasks.labelling.column_labeller import ColumnLabeller, ColumnSettings
from weft.tasks.labelling.labeller import LabellerSettings
from weft.tasks.tagging.trigram_graph import POOLING, TypeGraph, interpolated, interpolated_tags
from weft.text.doc import Doc

Tags = NDArray[np.int32]
#: The word, its affixes, capitals, digits, hyphens and other marks (shape); transitions are tag bigrams alone.
TEMPLATES = "true y[-1] w[0] w[0].prefix1..4 w[0].suffix1..4 w[0].capital w[0].hyphen w[0].digit w[0].kind"
TRANSITIONS = ("ratios", "potentials")
VARIANTS = ("graph", "pooled", "one-best", "supervised")


@dataclass
class PropagationTaggerSettings(ColumnSettings):
    """Options of a tagger trained with a similarity graph."""

    variant: str = option(
        "graph", "What propagates: the graph, pooled posteriors, the best labels, or nothing.", choices=VARIANTS
    )
    neighbours: int = option(5, "Nearest neighbours per type.")
    mu: float = option(0.5, "Weight of neighbours in propagation.")
    nu: float = option(0.01, "Weight of the uniform distribution in propagation.")
    propagation_iterations: int = option(10, "Iterations of propagation.")
    alpha: float = option(0.6, "Share of the tagger's own posterior in the labels of unlabelled words.")
    transitions: str = option(
        "ratios", "Scores of tag bigrams: ratios of marginals, or the tagger's potentials.", choices=TRANSITIONS
    )
    strength: float = option(0.5, "Factor of the scores of tag bigrams.")
    eta: float = option(0.1, "Weight of an unlabelled sentence.")
    self_train: int = option(3, "Iterations of labelling and retraining.", metavar="N")
    settled: float = option(0.001, "Stop when a smaller share of the unlabelled words changes its tag.")
    pooling: str = option("mean", "How posteriors are pooled: their mean, or weighted by certainty.", choices=POOLING)
    sentences: int = option(
        100_000, "Target sentences to learn from; more of them only enter the graph.", flag="--target-sentences"
    )
    exact: bool = option(True, "Compare all types that share a feature, not just those that share rare ones.")
    max_df: int = option(0, "Ignore features of more types than this when searching for neighbours; 0 keeps all.")
    sigma: float = option(7.0, "Standard deviation of the Gaussian prior.")
    retrain_iterations: int = option(40, "Maximum number of training iterations after the first labelling.")

    def check(self) -> None:
        super().check()
        for name, known in (("variant", VARIANTS), ("pooling", POOLING), ("transitions", TRANSITIONS)):
            if getattr(self, name) not in known:
                raise ConfigError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        if self.learner != "crf" or self.scheme is not None or self.hash_bits or self.min_count != 1:
            raise ConfigError("a graph tagger is a crf over all features without a scheme; do not set learner, scheme, "
                              "hash_bits and min_count")  # fmt: skip
        if not 0.0 <= self.alpha <= 1.0:
            raise ConfigError(f"alpha must lie between 0 and 1, got {self.alpha}")
        for name in ("neighbours", "self_train", "sentences", "retrain_iterations"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        for name in ("mu", "nu", "propagation_iterations", "strength", "eta", "settled", "max_df"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must be at least 0, got {getattr(self, name)}")


class PropagationTagger(ColumnLabeller):
    """Tags words of a domain of which only raw text is available.

    >>> source = Doc.from_words([["you", "rent", "a", "car"], ["to", "run", "a", "mile"], ["a", "mile"]],
    ...                       upos=[["PRON", "VERB", "DET", "NOUN"], ["PART", "VERB", "DET", "NOUN"], ["DET", "NOUN"]])
    >>> raw = Doc.from_words([["you", "unrar", "a", "file"], ["to", "unrar", "a", "car"]])
    >>> tagger = PropagationTagger.from_options({"eta": 1.0})
    >>> report = tagger.adapt([source], [raw])
    >>> new = Doc.from_words([["unrar", "a", "file"]])
    >>> tagger([new])
    >>> new.column("upos")
    ['VERB', 'DET', 'NOUN']
    """

    task = "graph-tagger"
    settings_class = PropagationTaggerSettings
    settings: PropagationTaggerSettings

    def __init__(self, settings: LabellerSettings | None = None) -> None:
        super().__init__(settings)
        self.provides = (self.settings.column,)
        self.first: Floats | None = None  # weights before the first round, set by `adapt`

    def gold(self, doc: Doc) -> list[str]:
        column = self.settings.column
        tags = doc.column(column) if doc.has(column) else []
        if not any(tags):
            known = ", ".join(name for name in doc.columns if doc.has(name))
            raise DataError(f"the source text has no {column} (it has: {known}); name another column")
        return [tag or "_" for tag in tags]

    def write(self, doc: Doc, labels: list[str], confidence: NDArray[np.float32] | None) -> None:
        super().write(doc, ["" if label == "_" else label for label in labels], confidence)

    def default_features(self, docs: Sequence[Doc]) -> tuple[str, dict[str, str]]:
        return TEMPLATES, {"w": "form"}

    def adapt(
        self,
        source: Iterable[Doc],
        target_raw: Iterable[Doc],
        source_raw: Iterable[Doc] = (),
        dev: Iterable[Doc] | None = None,
        graph: TypeGraph | None = None,
        after: Callable[[int, PropagationTagger], None] | None = None,
        first: Floats | None = None,
    ) -> dict[str, Any]:
        """Train on tagged source text and raw target text; raw source text only adds to the counts of the graph.

        Given tagged `dev` text, keep the round with the best accuracy on it, which may be the one before any
        propagation. `graph` replaces building a new graph, and `first`, the weights of a tagger trained on the same
        source text, replaces supervised training. `after(round, tagger)` is called after each round.
        """
        watch = Stopwatch()
        settings = self.settings
        labelled = self.begin(source)
        target = [doc for doc in target_raw if doc.n_words]
        unlabelled, rest = _first_sentences(target, settings.sentences)
        if settings.variant == "supervised":
            unlabelled, rest = [], []
        elif not unlabelled:
            raise DataError("there is no text of the target domain: the documents have no words")
        loop = _Loop(self, labelled, unlabelled, [*rest, *source_raw], graph)
        held_out = [doc for doc in dev or () if doc.n_words]
        history: list[dict[str, Any]] = []
        best: tuple[float, ChainData, Floats] | None = None
        for number in range(1 if settings.variant == "supervised" else settings.self_train + 1):
            changed = loop.label() if number else 1.0
            if number or first is None:
                loop.train()
            elif len(first) != loop.data.model.size:
                raise DataError(f"there are {len(first):,} initial weights, but the source text has "
                                f"{loop.data.model.size:,}; take them from a run on the same source text")  # fmt: skip
            else:
                loop.weights = first
            if number == 0:
                self.first = loop.weights
            self.scorer = loop.data.freeze(loop.weights, settings.precision, settings.prune)
            self.requires = self._required()
            row: dict[str, Any] = {"round": number} | ({"changed": round(changed, 5)} if number else {})
            row |= {f"spread of {name}": round(value, 3) for name, value in loop.spreads.items()}
            if held_out:
                row["dev accuracy"] = self._accuracy(held_out)
                if best is None or row["dev accuracy"] > best[0]:
                    best = row["dev accuracy"], loop.data, loop.weights
            history.append(row)
            if after is not None:
                after(number, self)
            if changed < settings.settled:
                break
        if best is not None:
            self.scorer = best[1].freeze(best[2], settings.precision, settings.prune)
        report: dict[str, Any] = {
            "training": {
                "sentences": sum(doc.n_sentences for doc in labelled),
                "unlabelled_sentences": sum(doc.n_sentences for doc in unlabelled),
                "labels": len(loop.space.labels),
                "features": len(loop.data.node_index),
                "weights": loop.data.model.size,
                "variant": settings.variant,
                "rounds": history[-1]["round"],
                "changed": history[-1].get("changed", 0.0),
                **watch.seconds(),
            },
            "rounds": history,
        }
        if loop.types is not None and settings.variant == "graph":
            report["graph"] = asdict(loop.types.diagnostics())
        if best is not None:
            report["scores"] = {"dev accuracy": best[0]}
        return report

    def _accuracy(self, docs: Sequence[Doc]) -> float:
        space, chain = self._trained().space, self._trained().chain(docs)
        predicted = [space.labels[tag] for tag in space.tags(chain.best()).tolist()]
        gold = [tag for doc in docs for tag in self.gold(doc)]
        return sum(a == b for a, b in zip(predicted, gold, strict=True)) / max(1, len(gold))


class _Loop:
    """The training data of all rounds; labelled sentences come first, so their features keep their rows."""

    def __init__(
        self,
        tagger: PropagationTagger,
        labelled: Sequence[Doc],
        unlabelled: Sequence[Doc],
        raw: Sequence[Doc],
        types: TypeGraph | None,
    ) -> None:
        self.settings = settings = tagger.settings
        self.reader = ChainReader(Templates(settings.templates), tagger.bindings())
        if self.reader.order != 1 or self.reader.edge_templates or not self.reader.transitions:
            raise ConfigError("a graph tagger is a first-order chain whose transitions ignore words: its templates "
                              "need y[-1] by itself, and y[-1] in no other")  # fmt: skip
        self.labelled, self.unlabelled = list(labelled), list(unlabelled)
        names = [tag for doc in labelled for tag in tagger.gold(doc)]
        self.space = LabelSpace(sorted(set(names)))
        self.gold = self.space.ids(names)
        self.tags: Tags | None = None  # of unlabelled words
        self.spreads: dict[str, float] = {}  # standard deviations over tags of what the last search added up
        self.types = types
        n_tags = len(self.space.labels)
        if types is None and settings.variant in ("graph", "pooled"):
            self.types = TypeGraph.build(
                labelled, self.gold, unlabelled, raw,
                n_tags=n_tags, k=settings.neighbours, exact=settings.exact,
                max_df=settings.max_df or None, workers=settings.workers,
            )  # fmt: skip
        words = sum(doc.n_words for doc in (*labelled, *unlabelled))
        if self.types is not None and (len(self.types.of_token), self.types.targets.shape[1]) != (words, n_tags):
            raise DataError(
                f"the graph has {len(self.types.of_token):,} words and {self.types.targets.shape[1]} tags, but the "
                f"text has {words:,} and {n_tags}; build it from the same documents"
            )
        self.data = self._index()
        self.weights: Floats = np.zeros(0)

    def _index(self) -> ChainData:
        """Index the features of labelled text and, once it has tags, of unlabelled text, with weights for the tags
        seen."""
        docs, tags, weight = self.labelled, self.gold, np.ones(sum(doc.n_sentences for doc in self.labelled))
        if self.tags is not None:
            docs, tags = [*docs, *self.unlabelled], np.concatenate([tags, self.tags])
            more = sum(doc.n_sentences for doc in self.unlabelled)
            weight = np.concatenate([weight, np.full(more, self.settings.eta)])
        seen_only = self.settings.features == "seen"
        data = ChainData.build(self.reader, docs, tags, self.space, seen_only, weight=weight)
        # All tag bigrams have weights, so that unseen ones can score below the others.
        n = len(self.space.labels)
        numbers = np.arange(n * n, dtype=np.int32).reshape(n, n)
        return replace(data, model=ChainModel(self.space, data.model.node, numbers))

    def train(self) -> Result:
        """Train on labelled sentences and, with weight eta, on those labelled in this round."""
        start = np.zeros(self.data.model.size)
        if self.tags is not None:
            before, self.data = self.data, self._index()
            start = carry(before, self.weights, self.data)
        objective = Objective(self.data.model, list(self.data.batch.batches()), sigma=self.settings.sigma,
                              workers=self.settings.workers)  # fmt: skip
        limit = self.settings.iterations if self.tags is None else self.settings.retrain_iterations
        result = minimize(objective, start, LBFGS(self.settings.memory), max_iterations=limit, change=1e-5,
                          describe="crf")  # fmt: skip
        self.weights = result.weights
        return result

    def label(self) -> float:
        """Retag the unlabelled sentences and return the share of words whose tag changed."""
        settings = self.settings
        model = self.data.model
        batch = self.data.encode(self.unlabelled)
        chain = model.score(batch, self.weights)
        if settings.variant == "one-best" or self.types is None:
            tags = self.space.tags(chain.best())
        else:
            there = model.score(self.data.encode(self.labelled), self.weights).node_marginals()
            here = chain.node_marginals()
            iterations = settings.propagation_iterations if settings.variant == "graph" else 0
            spread = self.types.spread(
                np.concatenate([there, here]), settings.mu, settings.nu, iterations, settings.pooling, settings.workers
            )
            from_types = spread[self.types.of_token[len(there) :]]
            transitions = self._transitions(chain)
            mixed = np.log(np.maximum(interpolated(here, from_types, settings.alpha), 1e-300))
            self.spreads = {
                "emissions": float(chain.node.std(axis=1).mean()),
                "interpolated": float(mixed.std(axis=1).mean()),
                "bigrams": float(transitions.std()),
            }
            tags = interpolated_tags(here, from_types, settings.alpha, transitions, batch.sentences)
        changed = 1.0 if self.tags is None else float((tags != self.tags).mean())
        self.tags = tags.astype(np.int32)
        return changed

    def _transitions(self, chain: Chain) -> Floats:
        """Scores of tag bigrams for decoding.

        The CRF's weights of tag bigrams do harm for two reasons. The marginals already include them, and the best tag
        of every word under its marginal maximizes the expected number of correct tags: nothing added can raise it. And
        the share of the types puts a floor under every tag, so the logarithms of interpolated marginals are spread far
        less than the emission scores that the bigrams were trained beside (`spreads`), and the bigrams outweigh them.
        The ratios

            log p(y', y) / (p(y') p(y))        p: means over all bigrams of the unlabelled text

        turn marginals back into the distribution over sequences that they come from.
        """
        if self.settings.transitions == "potentials":
            ratios = chain.edge
        else:
            pairs = chain.marginals().edge
            pairs = np.maximum(pairs / max(pairs.sum(), 1e-300), 1e-12)
            ratios = np.log(pairs) - np.log(pairs.sum(axis=1))[:, None] - np.log(pairs.sum(axis=0))
        return self.settings.strength * ratios


def carry(before: ChainData, weights: Floats, data: ChainData) -> Floats:
    """Carry weights over to another training set that starts with the same features; new features get 0."""
    node = before.model.node.size
    carried = np.zeros(data.model.size)
    carried[: data.model.node.size] = _in_layout(before.model.node, weights[:node], data.model.node)
    carried[data.model.node.size :] = weights[node:]
    return carried


def _in_layout(before: Layout, weights: Floats, layout: Layout) -> Floats:
    """Weights of the rows and columns that two layouts share, in the order of the second."""
    codes = [
        np.repeat(np.arange(len(each.starts) - 1), np.diff(each.starts)) * each.n_columns + each.columns
        for each in (before, layout)
    ]
    place = np.searchsorted(codes[0], codes[1])
    place[place == len(codes[0])] = 0
    carried: Floats = (
        np.where(codes[0][place] == codes[1], weights[place], 0.0) if len(codes[0]) else np.zeros(layout.size)
    )
    return carried


def _first_sentences(docs: Sequence[Doc], most: int) -> tuple[list[Doc], list[Doc]]:
    """Split documents after the first sentences: these, and the rest."""
    first: list[Doc] = []
    rest = iter(docs)
    for doc in rest:
        if most <= 0:
            return first, [doc, *rest]
        if doc.n_sentences <= most:
            first.append(doc)
        else:
            first.append(doc.subset(list(range(most))))
            return first, [doc.subset(list(range(most, doc.n_sentences))), *rest]
        most -= doc.n_sentences
    return first, []
