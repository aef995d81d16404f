"""Quantifier scope: nodes are found, pairs of them judged, and the judgements assembled into a partial order.

The method is that of Manshadi, Gildea and Allen (2013); see `weft.tasks.scope.model`. A document whose layer has nodes
keeps them and gets their order; in others nodes are detected (`weft.tasks.scope.nodes`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from weft.deadline import check
from weft.declared import Stored
from weft.errors import ConfigError, DataError
from weft.evaluate.semantics.scope import score_scopings
from weft.headers import Record, Table
from weft.pipeline.component import Asked, State, Stopwatch, Trainable, training_docs
from weft.pipeline.settings import Settings, option
from weft.storage import Arrays
from weft.tasks.scope.features import SETS
from weft.tasks.scope.model import SEARCHES, PairModel, ScopeModel
from weft.tasks.scope.nodes import detect
from weft.tasks.scope.syntax import Syntax, syntaxes
from weft.text.conventions.scope import LAYER, Scoping, scopings_of, set_scopings
from weft.text.doc import Doc
from weft.text.split import with_words

#: Longer sentences are scoped in windows: the number of pairs grows with the square of the number of nodes.
LONGEST = 100
#: Values that are tried if C is to be chosen on dev data.
GRID = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
HEADER = Record(settings=Table()).with_optional(nouns=Table(), negations=Table())


@dataclass
class ScopeSettings(Settings):
    """Options of a scope resolver."""

    layer: str = option(LAYER, "Span and relation layer of nodes and their order.")
    features: str = option(
        "joint", "Features of pairs: joint, rich (the paper's), ma11 or ma11+det (baselines).", choices=SETS
    )
    search: str = option(
        "closure", "How the order is assembled: greedy by closure or all or none, or exact.", choices=SEARCHES
    )
    c: float = option(0.1, "Weight of the loss of the support vector machine; 0 chooses it on dev data.")
    chunks: str = option("chunks", "Span layer of flat noun phrases to use as nodes, if documents have it.")
    constituents: bool = option(True, "Use the phrase-structure trees of documents that have them.")
    seed: int = option(0, "Random seed.")
    workers: int = option(1, "Number of threads; training uses one.", hidden=True)

    def check(self) -> None:
        for name, known in (("features", SETS), ("search", SEARCHES)):
            if getattr(self, name) not in known:
                raise ConfigError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        if self.c < 0:
            raise ConfigError(f"c must be at least 0, got {self.c}")


class ScopeResolver(Trainable):
    """Orders the scope-bearing nodes of sentences.

    >>> from weft.text.conventions.scope import Node
    >>> def command(first, second, pairs=()):
    ...     doc = Doc.from_words([["Mark", first, "line", "with", second, "word"]], head=[[0, 3, 1, 6, 6, 1]],
    ...         upos=[["VERB", "DET", "NOUN", "ADP", "DET", "NOUN"]], xpos=[["VB", "DT", "NN", "IN", "DT", "NN"]],
    ...         deprel=[["root", "det", "obj", "case", "det", "obl"]])
    ...     if pairs is not None:
    ...         set_scopings(doc, [Scoping.of([Node(1, 3), Node(4, 6)], pairs)])
    ...     return doc
    >>> resolver = ScopeResolver(ScopeSettings(c=10.0))
    >>> report = resolver.fit([command("every", "a", [(0, 1)]), command("a", "every", [(1, 0)]), command("a", "a")])
    >>> new = command("every", "a", None)
    >>> resolver([new])
    >>> new.scope
    [Scope('Mark every line with a word', '1>2')]
    """

    task = "scope"
    settings_class = ScopeSettings
    settings: ScopeSettings
    requires = ("tokens", "upos", "head")

    def __init__(self, settings: ScopeSettings | None = None) -> None:
        super().__init__(settings)
        self.provides = (f"spans/{self.settings.layer}", f"relations/{self.settings.layer}")
        self.model: ScopeModel | None = None

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Train on documents with trees, nodes and their orders; dev data chooses C if it is 0, and is scored."""
        watch, settings = Stopwatch(), self.settings
        trees, gold = self._samples(training_docs(train))
        if not any(len(scoping) > 1 for scoping in gold):
            raise DataError("there is nothing to train on: no sentence has two scope-bearing nodes")
        held_out = self._samples(with_words(dev)) if dev is not None else None
        c = settings.c
        if not c:
            if held_out is None:
                raise ConfigError("c = 0 chooses C on dev data, but there is none; give --dev, or a value of C")
            models = ScopeModel.fit_each(trees, gold, settings.features, GRID, settings.seed)
            c = max(GRID, key=lambda each: self._f1(models[each], *held_out))
            self.model = models[c]
        else:
            self.model = ScopeModel.fit(trees, gold, settings.features, c, settings.seed)
        report: dict[str, Any] = {
            "training": {
                "sentences": len(gold),
                "nodes": sum(map(len, gold)),
                "pairs": sum(len(scoping) * (len(scoping) - 1) // 2 for scoping in gold),
                "c": c,
                **watch.seconds(),
            }
        }
        if held_out is not None:
            found = [self._order(self.model, tree, scoping) for tree, scoping in zip(*held_out, strict=True)]
            scores = score_scopings(held_out[1], found).as_dict()
            report["scores"] = {f"dev {name}": value for name, value in scores.items()}
        return report

    def _samples(self, docs: Sequence[Doc]) -> tuple[list[Syntax], list[Scoping]]:
        for doc in docs:
            missing = [layer for layer in self.requires if not doc.has(layer)]
            if missing:
                raise DataError(f"{doc.id or 'a document'} has no {', '.join(missing)}; annotate it before training")
        trees = [tree for doc in docs for tree in syntaxes(doc, self.settings.constituents)]
        return trees, [each for doc in docs for each in scopings_of(doc, self.settings.layer)]

    def _order(self, model: ScopeModel, tree: Syntax, scoping: Scoping) -> Scoping:
        return model.scope(tree, scoping.nodes, self.settings.search)

    def _f1(self, model: ScopeModel, trees: Sequence[Syntax], gold: Sequence[Scoping]) -> float:
        found = [self._order(model, tree, scoping) for tree, scoping in zip(trees, gold, strict=True)]
        return score_scopings(gold, found).ordered.total().f1

    def longest(self, asked: Asked) -> int:
        return LONGEST

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        model, settings = self.trained(self.model), self.settings
        for doc in docs:
            check()
            trees = syntaxes(doc, settings.constituents)
            if settings.layer in doc.spans:
                nodes = [scoping.nodes for scoping in _nodes(doc, settings.layer)]
            else:
                nodes = [tuple(found) for found in detect(doc, trees, settings.chunks)]
            orders = []
            for tree, found in zip(trees, nodes, strict=True):
                check()
                orders.append(model.scope(tree, found, settings.search))
            set_scopings(doc, orders, settings.layer)

    def state(self) -> State:
        model = self.trained(self.model)
        header: dict[str, Any] = {"settings": self.saved_settings()}
        arrays: Arrays = {}
        for name, pairs in (("nouns", model.nouns), ("negations", model.negations)):
            if pairs is not None:
                header[name], own = pairs.state()
                arrays |= {f"{name}/{key}": array for key, array in own.items()}
        return header, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> ScopeResolver:
        resolver = cls(ScopeSettings.from_saved(header["settings"]))
        HEADER.check(header)
        stored = Stored.of(arrays)
        models = [
            PairModel.from_state(header[name], stored.under(f"{name}/")) if name in header else None
            for name in ("nouns", "negations")
        ]
        resolver.model = ScopeModel(resolver.settings.features, *models)
        return resolver


def _nodes(doc: Doc, layer: str) -> list[Scoping]:
    """The nodes that a document gives, without an order of their own."""
    bare = Doc(doc.text, doc.strings)
    bare.word_token, bare.sentence_offsets = doc.word_token, doc.sentence_offsets
    bare.spans[layer] = doc.spans[layer]
    return scopings_of(bare, layer)
