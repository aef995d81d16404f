"""McDonald et al. (2005): naive enumeration, maximal cliques and probable cliques on tuples of many slots.

The paper's corpus is not available. CASIE stands in: three in four of its tuples have more than two slots. Every row is
run with the features of the paper, and with features of the other mentions of the sentence besides.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weft.arrays import Floats
from weft.evaluate.calibration import calibration
from weft.evaluate.counts import Counts
from weft.evaluate.semantics.tuples import LARGEST, Tuple, score_tuples
from weft.evaluate.significance import approximate_randomization
from weft.recipes.claims import compared, measured
from weft.recipes.extraction.complex_relations import corpora
from weft.recipes.extraction.complex_relations.generated import SCHEMA, generated_graphs, generated_sentences
from weft.recipes.framework import Curve, RecipeOptions, RecipeResult, Table
from weft.recipes.variation import Variation
from weft.tasks.relations.enumeration import EnumerationModel
from weft.tasks.relations.pairs import PairModel, PairTable
from weft.tasks.relations.samples import Reading, Sample, samples_of
from weft.tasks.relations.schema import Schema, learn_schemas
from weft.tasks.relations.tuples import build_tuples
from weft.text.conventions.tuples import TupleRow
from weft.text.doc import Doc

#: The paper's figures: tuples, and gold:predicted:correct by arity.
PAPER = {
    "NE": {"P": 45.88, "R": 69.95, "F": 55.41},
    "MC": {"P": 58.12, "R": 73.15, "F": 64.80},
    "PC 0.5": {"P": 63.03, "R": 77.26, "F": 69.42},
}
PAPER_PAIRS = {"P": 77.19, "R": 81.53, "F": 79.30}
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7)
ARITIES = (2, 3, 4, 5, LARGEST)
FEATURES = {"features of the paper": False, "with other mentions": True}
COLUMNS = ["P", "R", "F", "predicted", "mean arity", *(f"{n}-ary" if n < LARGEST else f"{n}+" for n in ARITIES)]


@dataclass(frozen=True)
class Size:
    """Numbers of folds, of mentions that are read per sentence, and of generated sentences."""

    folds: int = 10
    mentions: int = 10
    documents: int = 350
    sentences: int = 10_000
    graphs: int = 2_000
    texts: int = 300
    samples: int = 5_000


VARIATION = Variation((Size,), ("casie", "drugs", "generated"))
QUICK = Size(folds=2, documents=60, sentences=400, graphs=200, texts=60, samples=500)
System = Callable[[Sequence[Sample], Sequence[Sample]], dict[str, list[list[TupleRow]]]]


@dataclass
class Run:
    """What all systems predict for the same sentences, and what the classifier of pairs says."""

    gold: list[set[Tuple]]
    found: dict[str, list[set[Tuple]]]
    probabilities: Floats
    related: Floats
    seconds: dict[str, float]

    def counts(self, system: str, arity: int = 0) -> Counts:
        return score_tuples(self.gold, self.found[system], arity)

    @classmethod
    def joined(cls, runs: Sequence[Run]) -> Run:
        """The runs of several folds as one."""
        return cls(
            [each for run in runs for each in run.gold],
            {name: [each for run in runs for each in run.found[name]] for name in runs[0].found},
            np.concatenate([run.probabilities for run in runs]),
            np.concatenate([run.related for run in runs]),
            {name: sum(run.seconds[name] for run in runs) for name in runs[0].seconds},
        )


def run(options: RecipeOptions) -> RecipeResult:
    """All tables of the system page."""
    size = options.varied(QUICK if options.quick else Size())
    result = RecipeResult("complex-relations")
    pairs = Table("Pairs of mentions", ["pairs", "unrelated %", "P", "R", "F", "calibration error"],
                  digits={"pairs": 0, "unrelated %": 1, "calibration error": 3})  # fmt: skip
    result.tables.append(pairs)
    if options.wants("casie"):
        _casie(result, pairs, options, size)
    if options.wants("drugs"):
        _drugs(result, pairs, options, size)
    if options.wants("generated"):
        _generated(result, size, options.seed)
    return result


def sentences(docs: Sequence[Doc], context: bool) -> list[Sample]:
    """The sentences of documents that have two or more mentions."""
    reading = Reading("entities", "relations", context=context)
    return [sample for doc in docs for sample in samples_of(doc, reading, gold=True)[0] if len(sample.mentions) > 1]


def schema_of(samples: Sequence[Sample], arity: str) -> Schema:
    """The one schema of training sentences."""
    rows = [
        (label, [(slot, sample.mentions[mention].type) for slot, mention in sorted(members)])
        for sample in samples
        for label, members in sample.tuples
    ]
    [schema] = learn_schemas(rows, arity)
    return schema


def experiment(train: Sequence[Sample], test: Sequence[Sample], arity: str, mentions: int) -> Run:
    """Train on some sentences and predict the tuples of others by all systems."""
    gold: list[set[Tuple]] = [set(sample.tuples) for sample in test]
    train, test = ([sample.first(mentions) for sample in part] for part in (train, test))
    schema = schema_of(train, arity)
    start = time.process_time()
    model = PairModel.fit(PairTable.of(train, [schema]), [schema])
    middle = time.process_time()
    whole = EnumerationModel.fit(train, schema)
    seconds = {"pairs": middle - start, "NE": time.process_time() - middle}
    table = PairTable.of(test, [schema])
    edges, nodes = table.edges(schema)
    p, related = model.probabilities(table, schema, edges), table.labels(schema, edges).astype(np.float64)
    found = {"NE": whole.predict(test), "MC": build_tuples(schema, nodes, edges, p, 0.5, "maximal")}
    for threshold in THRESHOLDS:
        found[f"PC {threshold}"] = build_tuples(schema, nodes, edges, p, threshold)
    found["MC, gold pairs"] = build_tuples(schema, nodes, edges, related, 0.5, "maximal")
    return Run(gold, {name: _as_sets(rows) for name, rows in found.items()}, p, related, seconds)


def _as_sets(found: Sequence[Sequence[TupleRow]]) -> list[set[Tuple]]:
    return [{(row.label, frozenset(row.members)) for row in rows} for rows in found]


def _casie(result: RecipeResult, pairs: Table, options: RecipeOptions, size: Size) -> None:
    docs = corpora.casie(options.find(corpora.CASIE))[: size.documents]
    runs = {}
    for name, context in FEATURES.items():
        folds = []
        for fold in range(size.folds):
            train = sentences([doc for number, doc in enumerate(docs) if number % size.folds != fold], context)
            test = sentences(docs[fold :: size.folds], context)
            folds.append(experiment(train, test, "schema", size.mentions))
        runs[name] = Run.joined(folds)
    _tell(result, pairs, "CASIE", runs, size, options.seed)
    plain = runs["features of the paper"]
    result.claim(
        "maximal cliques are above naive enumeration in tuple F",
        *(_over(run, "MC", "NE", size, f"CASIE, {name}") for name, run in runs.items()), required=True,
    )  # fmt: skip
    result.claim(
        "probable cliques are above maximal cliques in tuple F",
        *(_over(run, "PC 0.5", "MC", size, f"CASIE, {name}") for name, run in runs.items()),
    )
    result.own(
        "the gain of probable cliques is in the largest tuples: more correct ones of five slots or more",
        *(
            measured(sum(run.counts("PC 0.5", n).total().correct - run.counts("MC", n).total().correct
                         for n in ARITIES[-2:]), ">", 0, f"CASIE, {name}", 0)
            for name, run in runs.items()
        ),
    )  # fmt: skip
    result.own(
        "maximal cliques of gold pairs recover gold tuples: F of at least {bar}",
        measured(100 * plain.counts("MC, gold pairs").total().f1, ">=", 98, "CASIE"),
    )
    result.own(
        "features of other mentions raise the F of probable cliques",
        compared(approximate_randomization(
            runs["with other mentions"].counts("PC 0.5"), plain.counts("PC 0.5"), samples=size.samples,
            seed=options.seed), "CASIE"),
    )  # fmt: skip


def _drugs(result: RecipeResult, pairs: Table, options: RecipeOptions, size: Size) -> None:
    parts = {part: corpora.drugs(options.find(corpora.DRUGS.format(part))) for part in ("train", "test")}
    if options.quick:
        parts = {"train": parts["train"][:300], "test": parts["test"][:100]}
    runs = {
        name: experiment(sentences(parts["train"], context), sentences(parts["test"], context), "any", size.mentions)
        for name, context in FEATURES.items()
    }
    _tell(result, pairs, "Drugs", runs, size, options.seed)
    result.claim(
        "maximal cliques are above naive enumeration in tuple F",
        *(_over(run, "MC", "NE", size, f"drugs, {name}") for name, run in runs.items()), required=True,
    )  # fmt: skip
    result.claim(
        "probable cliques are above maximal cliques in tuple F",
        *(_over(run, "PC 0.5", "MC", size, f"drugs, {name}") for name, run in runs.items()),
    )
    whole = runs["features of the paper"].counts("MC, gold pairs").total().f1
    result.own(
        "maximal cliques of gold pairs recover gold combinations of drugs: F of at least {bar}",
        measured(100 * whole, ">=", 99, "drugs"),
    )


def _over(run: Run, better: str, worse: str, size: Size, where: str) -> Any:
    found = approximate_randomization(run.counts(better), run.counts(worse), samples=size.samples)
    return compared(found, where)


def _tell(result: RecipeResult, pairs: Table, corpus: str, runs: Mapping[str, Run], size: Size, seed: int) -> None:
    """The tables of one corpus."""
    for name, run in runs.items():
        chosen, true = run.probabilities >= 0.5, run.related > 0
        both = int((chosen & true).sum())
        precision, recall = both / max(1, int(chosen.sum())), both / max(1, int(true.sum()))
        right = np.where(chosen, run.related, 1 - run.related)
        pairs.add(
            f"{corpus}, {name}",
            {
                "pairs": len(true), "unrelated %": 100 * (1 - float(true.mean())), "P": 100 * precision,
                "R": 100 * recall, "F": 200 * precision * recall / max(1e-9, precision + recall),
                "calibration error": calibration(np.maximum(run.probabilities, 1 - run.probabilities), right).error,
            },
            PAPER_PAIRS if corpus == "CASIE" and not FEATURES[name] else None,
        )  # fmt: skip
        table = Table(f"{corpus}: tuples, {name}", COLUMNS, digits={"predicted": 0})
        for system in run.found:
            total = run.counts(system).total()
            sizes = [len(members) for tuples in run.found[system] for _, members in tuples]
            row: dict[str, Any] = {
                "P": 100 * total.precision, "R": 100 * total.recall, "F": 100 * total.f1, "predicted": total.system,
                "mean arity": float(np.mean(sizes)) if sizes else 0.0,
            }  # fmt: skip
            for column, arity in zip(COLUMNS[5:], ARITIES, strict=True):
                score = run.counts(system, arity).total()
                row[column] = f"{score.gold}:{score.system}:{score.correct}"
            paper = PAPER.get(system) if corpus == "CASIE" and not FEATURES[name] else None
            table.add(system, row, paper)
        table.note = (
            "By arity: gold:predicted:correct. NE enumerates tuples of up to 4 slots. PC: with its threshold. "
            f"Sentences with more than {size.mentions} mentions are read up to there; the rest counts as missed."
        )
        result.tables.append(table)
    first = next(iter(runs.values()))
    sizes_of = [float(np.mean([len(m) for own in first.found[f"PC {t}"] for _, m in own] or [0])) for t in THRESHOLDS]
    result.claim(
        "a lower threshold makes larger tuples: mean arity rises at every step",
        *(measured(low - high, ">", 0, f"{corpus}, {t}", 3)
          for t, low, high in zip(THRESHOLDS, sizes_of, sizes_of[1:], strict=False)),
    )  # fmt: skip
    most, least = (first.counts(f"PC {t}").total().system for t in (0.3, 0.7))
    result.claim(
        "a lower threshold makes fewer tuples", measured(least - most, ">", 0, f"{corpus}, 0.7 against 0.3", 0),
        note="The paper says \"roughly\" of its corpus, in which few sentences have no relation.",
    )  # fmt: skip


def _generated(result: RecipeResult, size: Size, seed: int) -> None:
    table = Table("Generated graphs", ["P", "R", "F", "predicted", "mean arity", "CPU s"], digits={"predicted": 0})
    graphs = generated_graphs(size.graphs, seed + 1)
    lines: dict[str, list[tuple[float, float]]] = {"several tuples per sentence": [], "one tuple of four slots": []}
    gold = [set(sample.tuples) for sample in graphs.samples]
    rows = [("gold pairs, MC", graphs.related, 0.5, "maximal"), ("MC", graphs.probabilities, 0.5, "maximal")]
    rows += [(f"PC {threshold}", graphs.probabilities, threshold, "probable") for threshold in THRESHOLDS]
    for name, p, threshold, search in rows:
        start = time.process_time()
        found = _as_sets(build_tuples(SCHEMA, graphs.nodes, graphs.edges, p, threshold, search))
        seconds = time.process_time() - start
        score = score_tuples(gold, found).total()
        sizes = [len(members) for tuples in found for _, members in tuples]
        table.add(name, {
            "P": 100 * score.precision, "R": 100 * score.recall, "F": 100 * score.f1, "predicted": score.system,
            "mean arity": float(np.mean(sizes)), "CPU s": seconds,
        })  # fmt: skip
        if search == "probable":
            lines["several tuples per sentence"].append((threshold, score.system))
    single = generated_graphs(size.graphs, seed + 2, low=4, high=4, shares=(0.0, 0.0, 1.0))
    for threshold in THRESHOLDS:
        found = _as_sets(build_tuples(SCHEMA, single.nodes, single.edges, single.probabilities, threshold))
        lines["one tuple of four slots"].append((threshold, sum(map(len, found))))
    table.note = f"{size.graphs:,} sentences of 3 to 12 mentions; probabilities of pairs are drawn, no text is read."
    result.tables.append(table)
    result.curves.append(Curve("Tuples by threshold, generated graphs", "threshold", "tuples", lines))
    big = generated_graphs(size.sentences, seed + 3, low=12, high=12)
    start = time.process_time()
    build_tuples(SCHEMA, big.nodes, big.edges, big.probabilities, 0.5)
    speed = time.process_time() - start
    training = _training_times(size, seed)
    times = Table("Time, CPU seconds", ["seconds", "mentions per sentence"])
    mentions = float(np.mean([len(sample.mentions) for sample in big.samples]))
    times.add(
        f"probable cliques of {size.sentences:,} sentences", {"seconds": speed, "mentions per sentence": mentions}
    )
    for name, (seconds, count) in training.items():
        times.add(name, {"seconds": seconds, "mentions per sentence": count})
    times.note = "Training on generated sentences with four slots; features are extracted in both."
    result.tables.append(times)
    result.own(
        "probable cliques of 10,000 sentences of 12 mentions take less than {bar} seconds",
        measured(speed, "<", 10, f"{size.sentences:,} sentences", unit="s"),
    )
    pair, whole = (training[name][0] for name in ("training, pairs", "training, naive enumeration"))
    result.claim(
        "naive enumeration takes at least {bar} times as long to train as the classifier of pairs",
        measured(whole / pair, ">=", 3, "generated, arity 4"), note="The paper: about 26 minutes against less than 5.",
    )  # fmt: skip
    counts = [y for _, y in lines["one tuple of four slots"]]
    result.own(
        "where the mentions of a sentence are one tuple of four slots, a lower threshold never makes more tuples",
        *(
            measured(high - low, ">=", 0, f"{threshold}", 0)
            for threshold, low, high in zip(THRESHOLDS, counts, counts[1:], strict=False)
        ),
        required=False,
    )  # fmt: skip


def _training_times(size: Size, seed: int) -> dict[str, tuple[float, float]]:
    """CPU seconds of training on the same sentences, after everything that is loaded once."""
    samples = generated_sentences(size.texts, seed + 4, clauses=(2, 4))
    mentions = float(np.mean([len(sample.mentions) for sample in samples]))
    PairModel.fit(PairTable.of(samples[:20], [SCHEMA]), [SCHEMA])
    start = time.process_time()
    PairModel.fit(PairTable.of(samples, [SCHEMA]), [SCHEMA])
    middle = time.process_time()
    EnumerationModel.fit([replace(sample) for sample in samples], SCHEMA)
    end = time.process_time()
    return {
        "training, pairs": (middle - start, mentions),
        "training, naive enumeration": (end - middle, mentions),
    }
