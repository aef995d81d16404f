"""A table of transfer between languages: score a delexicalized parser of every source on every target.

    cell(s, t) = UAS, LAS of t's gold trees by a parser trained on s,   diagonal: s and t the same language

Parsers use universal tags and the partial tree, never words (`delexicalized` in
`weft.tasks.parsing.transitions.parser`). Loading a treebank maps its tags to the same tagset, and unknown tags are an
error. Subtypes of relations are ignored. Scores count all words, or (`UAS*`, `LAS*`) all words except punctuation.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from weft.arrays import Ints
from weft.errors import ConfigError, DataError
from weft.evaluate.counts import Counts, recall
from weft.evaluate.runs import compare_over_runs
from weft.evaluate.significance import Comparison
from weft.evaluate.trees.attachment import evaluate_trees, not_punctuation
from weft.lexical.universal_tags import tagsets_of
from weft.pipeline.settings import Settings, option
from weft.tasks.parsing.transitions.parser import Parser, ParserSettings
from weft.text.doc import Doc
from weft.treebanks import convert_docs

METRICS = ("UAS", "LAS", "UAS*", "LAS*")
SCHEMES = ("as-is", "universal")


@dataclass
class TransferSettings(Settings):
    """Options of a transfer table."""

    words: int = option(0, "Words per source, sampled by sentence; 0 takes all.")
    runs: int = option(1, "Samples and trainings with different seeds, whose scores are averaged.")
    beam: int = option(8, "Configurations kept per step.")
    epochs: int = option(5, "Passes over the trees.")
    update: str = option("max-violation", "Where to update.")
    scheme: str = option(
        "as-is", "Convert trees of Universal Dependencies first, or take them as they are.", choices=SCHEMES
    )
    seed: int = option(0, "Random seed.")

    def check(self) -> None:
        if self.scheme not in SCHEMES:
            raise ConfigError(f"scheme must be one of {', '.join(SCHEMES)}, got {self.scheme!r}")
        for name, least in (("words", 0), ("runs", 1)):
            if getattr(self, name) < least:
                raise ConfigError(f"{name} must be at least {least}, got {getattr(self, name)}")
        self.parser(0).check()

    def parser(self, run: int) -> ParserSettings:
        """The parser settings of a run."""
        return ParserSettings(
            delexicalized=True, oracle="static", beam=self.beam, epochs=self.epochs, update=self.update,
            seed=self.seed + run, prune=0.0,
        )  # fmt: skip


@dataclass
class TransferMatrix:
    """Counts per test sentence by metric, for every source and target; scores are percentages.

    `draws` holds the counts of every sample and training run, `counts` their sums.
    """

    sources: list[str]
    targets: list[str]
    draws: dict[tuple[str, str], list[dict[str, Counts]]] = field(default_factory=dict)
    counts: dict[tuple[str, str], dict[str, Counts]] = field(default_factory=dict)
    training: dict[str, dict[str, Any]] = field(default_factory=dict)

    def score(self, source: str, target: str, metric: str = "UAS") -> float:
        """The score of one cell."""
        return 100 * self.counts[source, target][metric].total().recall

    def scores(self, metric: str = "UAS") -> list[list[float]]:
        """All cells, one list per source."""
        return [[self.score(source, target, metric) for target in self.targets] for source in self.sources]

    def by_draw(self, source: str, target: str, metric: str = "UAS") -> Ints:
        """One row `gold, system, correct` per sample and test sentence of a cell."""
        return np.stack([own[metric].rows for own in self.draws[source, target]])

    def ranking(self, target: str, metric: str = "UAS") -> list[str]:
        """The foreign sources of a target, best first."""
        foreign = [source for source in self.sources if source != target]
        return sorted(foreign, key=lambda source: -self.score(source, target, metric))

    def lead(self, target: str, metric: str = "UAS", samples: int = 1000, seed: int = 0) -> Comparison | None:
        """The best foreign source of a target against the second best: paired bootstrap over samples and sentences."""
        first = self.ranking(target, metric)[:2]
        if len(first) < 2:
            return None
        one, other = (self.by_draw(source, target, metric) for source in first)
        return compare_over_runs(one, other, measure=recall, samples=samples, seed=seed)

    def to_json(self) -> dict[str, Any]:
        """The results as JSON-serializable values."""
        return {
            "sources": self.sources,
            "targets": self.targets,
            **{metric: [[round(score, 3) for score in row] for row in self.scores(metric)] for metric in METRICS},
            "best_source": {target: ranked[0] for target in self.targets if (ranked := self.ranking(target))},
            "training": self.training,
        }


def load_language(name: str, docs: Sequence[Doc], scheme: str = "as-is") -> list[Doc]:
    """Trees of a language with universal tags and relations without subtypes, and no other columns.

    >>> doc = Doc.from_words([["hunde", "bellen"]], upos=[["NOUN", "VERB"]], head=[[2, 0]], deprel=[["nsubj", "root"]])
    >>> load_language("de", [doc])[0].column("upos")
    ['NOUN', 'VERB']
    """
    loaded = []
    for doc in docs:
        if doc.head is None:
            raise DataError(f"{name}: {doc!r} has no heads; expected them in the columns HEAD and DEPREL of CoNLL-U")
        try:
            tagsets = tagsets_of(doc.column("upos"))
        except DataError as error:
            raise DataError(f"{name}: {error}") from None
        if scheme == "universal" and "Universal Dependencies" in tagsets:
            (new,) = convert_docs([doc])
        elif "the twelve universal tags" in tagsets:
            new = doc.subset(range(doc.n_sentences))
        else:
            (new,) = convert_docs([doc], steps=("tags",))
        new.set_column("deprel", [relation.partition(":")[0] for relation in new.column("deprel")])
        new.columns = {column: new.columns[column] for column in ("form", "upos", "deprel")}
        loaded.append(new)
    return loaded


def draw_sentences(docs: Sequence[Doc], words: int, seed: int) -> list[Doc]:
    """Sample sentences until they have this many words, keeping their order; all sentences if there are fewer.

    >>> docs = [Doc.from_words([["a", "b"], ["c"], ["d", "e"]])]
    >>> sum(doc.n_words for doc in draw_sentences(docs, 3, 0)) in (3, 4)
    True
    """
    places = [
        (d, s, b - a) for d, doc in enumerate(docs) for s, (a, b) in enumerate(pairwise(doc.sentence_offsets.tolist()))
    ]
    order = np.random.default_rng(seed).permutation(len(places))
    chosen: dict[int, list[int]] = {}
    total = 0
    for place in order.tolist():
        if total >= words:
            break
        d, s, length = places[place]
        chosen.setdefault(d, []).append(s)
        total += length
    return [docs[d].subset(sorted(chosen[d])) for d in sorted(chosen)]


def transfer_matrix(
    sources: Mapping[str, Sequence[Doc]],
    targets: Mapping[str, Sequence[Doc]],
    settings: TransferSettings | None = None,
    workers: int = 1,
    done: Callable[[str], None] = lambda source: None,
) -> TransferMatrix:
    """Train a parser on every source and score it on every target; both are keyed by the name of the language.

    >>> doc = Doc.from_words([["dogs", "bark"]] * 3, upos=[["NOUN", "VERB"]] * 3, head=[[2, 0]] * 3,
    ...                    deprel=[["nsubj", "root"]] * 3)
    >>> matrix = transfer_matrix({"en": [doc], "de": [doc]}, {"en": [doc], "de": [doc]})
    >>> matrix.scores("LAS")
    [[100.0, 100.0], [100.0, 100.0]]
    """
    settings = settings if settings is not None else TransferSettings()
    settings.check()
    if not sources or not targets:
        raise ConfigError("a transfer table needs at least one source and one target")
    gold = {name: load_language(name, docs, settings.scheme) for name, docs in targets.items()}
    matrix = TransferMatrix(list(sources), list(targets))

    def row(source: str) -> tuple[str, dict[str, list[dict[str, Counts]]], dict[str, Any]]:
        started = time.perf_counter()
        trees = load_language(source, sources[source], settings.scheme)
        found: dict[str, list[dict[str, Counts]]] = {target: [] for target in gold}
        words = 0
        for run in range(settings.runs):
            own = draw_sentences(trees, settings.words, settings.seed + run) if settings.words else trees
            parser = Parser(settings.parser(run))
            words = parser.fit(own)["training"]["words"]
            for target, docs in gold.items():
                found[target].append(_scores(parser, docs))
        done(source)
        return source, found, {"words": words, "seconds": round(time.perf_counter() - started, 2)}

    with ThreadPoolExecutor(max(workers, 1)) as pool:
        for source, found, training in pool.map(row, sources):
            matrix.training[source] = training
            for target, draws in found.items():
                matrix.draws[source, target] = draws
                matrix.counts[source, target] = _sum(draws)
    return matrix


def _scores(parser: Parser, gold: Sequence[Doc]) -> dict[str, Counts]:
    system = [doc.subset(range(doc.n_sentences)) for doc in gold]
    parser(system)
    whole = evaluate_trees(gold, system).counts
    bare = evaluate_trees(gold, system, not_punctuation).counts
    return {"UAS": whole["UAS"], "LAS": whole["LAS"], "UAS*": bare["UAS"], "LAS*": bare["LAS"]}


def _sum(draws: Sequence[Mapping[str, Counts]]) -> dict[str, Counts]:
    """Counts of the same sentences, summed over samples."""
    return {metric: Counts.sum([draw[metric] for draw in draws]) for metric in METRICS}
