"""Li, Ji and Huang (2013): staged classifiers, joint search with local features, and with global ones.

ACE 2005 needs a licence. BioNLP-ST 2009 stands in (proteins are the candidates; a third of them take part in nothing),
CASIE second (all fillers, and noun chunks that overlap none), and generated sentences that no local feature decides.
Every choice on BioNLP is made on the last 80 training abstracts; its dev part is the test part and is scored once.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from weft.evaluate.counts import Counts
from weft.evaluate.significance import approximate_randomization
from weft.infer.slots.beam import best
from weft.recipes.claims import Figure, compared, mean_of, measured
from weft.recipes.extraction.joint_event_extraction import corpora
from weft.recipes.extraction.joint_event_extraction.generated import generated
from weft.recipes.extraction.joint_event_extraction.parses import add_chunks, parse
from weft.recipes.extraction.joint_event_extraction.systems import Choice, Fitted, Task, cells, choose, fit
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.variation import Variation
from weft.tasks.events.encode import Atoms, Reading
from weft.tasks.events.model import encode_docs
from weft.text.doc import Doc

#: The paper's figures on ACE 2005 with gold mentions.
PAPER = {
    "staged": {"trigger id F": 67.4, "trigger P": 74.5, "trigger R": 59.1, "trigger F": 65.9, "argument id F": 49.7,
               "argument P": 65.4, "argument R": 33.1, "argument F": 43.9},
    "joint, local": {"trigger id F": 69.0, "trigger P": 73.7, "trigger R": 59.3, "trigger F": 65.7,
                     "argument id F": 50.5, "argument P": 64.1, "argument R": 36.5, "argument F": 46.5},
    "joint, local and global": {"trigger id F": 70.4, "trigger P": 73.7, "trigger R": 62.3, "trigger F": 67.5,
                                "argument id F": 56.8, "argument P": 64.7, "argument R": 44.4, "argument F": 52.7},
}  # fmt: skip
#: Training seconds of the paper by width of the beam.
PAPER_SECONDS = {1: 993, 2: 2034, 4: 3982, 8: 8036}
STAGED, LOCAL, GLOBAL = PAPER
COLUMNS = list(PAPER[STAGED])
WIDTHS = (1, 2, 4, 8)
UPDATES = ("early", "standard", "violation")
#: The abstracts at the end of the training part on which everything is chosen.
OWN_DEV = 80


@dataclass(frozen=True)
class Size:
    """Sizes of the experiment."""

    train: int = 2_000
    test: int = 500
    seeds: int = 5
    generated_epochs: int = 8
    documents: int = 800
    test_documents: int = 150
    epochs: int = 12
    slice: int = 150
    slice_epochs: int = 6
    casie: int = 350
    casie_epochs: int = 12
    timed: int = 300
    samples: int = 5_000


VARIATION = Variation((Size,), ("generated", "bionlp", "updates", "casie", "time"))
QUICK = Size(train=300, test=150, seeds=2, generated_epochs=4, documents=150, test_documents=50, epochs=4, slice=40,
             slice_epochs=2, casie=60, casie_epochs=3, timed=100, samples=500)  # fmt: skip


def run(options: RecipeOptions) -> RecipeResult:
    """All tables of the system page."""
    size = options.varied(QUICK if options.quick else Size())
    result = RecipeResult("joint-event-extraction")
    if options.wants("generated"):
        _generated(result, size)
    if options.wants("bionlp") or options.wants("updates") or options.wants("time"):
        train = corpora.bionlp(options.find(corpora.BIONLP.format("train")))[-size.documents :]
        if options.wants("updates"):
            _updates(result, train[: size.slice], train[-OWN_DEV // 2 :], size)
        if options.wants("time"):
            _times(result, train, size)
        if options.wants("bionlp"):
            test = corpora.bionlp(options.find(corpora.BIONLP.format("dev")))[: size.test_documents]
            _bionlp(result, train, test, size, options)
    if options.wants("casie"):
        _casie(result, corpora.casie(options.find(corpora.CASIE))[: size.casie], size, options)
    return result


def _generated(result: RecipeResult, size: Size) -> None:
    table = Table(f"Generated sentences, mean of {size.seeds} seeds", COLUMNS)
    rates = Table("Invalid updates, generated sentences, %",
                  [f"K = {k}" for k in WIDTHS], digits={f"K = {k}": 1 for k in WIDTHS})  # fmt: skip
    rows: dict[str, list[dict[str, float]]] = {STAGED: [], LOCAL: [], GLOBAL: []}
    invalid: dict[str, dict[int, list[float]]] = {}
    reading = Reading(tags="upos", trees=True)
    violations = 0
    for seed in range(1, size.seeds + 1):
        task = Task.of(generated(size.train, 2 * seed), generated(size.test, 2 * seed + 1), reading)
        rows[STAGED].append(cells(task.scored(task.staged())))
        for name, whole in ((LOCAL, False), (GLOBAL, True)):
            fitted = fit(task, 4, "early", whole, size.generated_epochs, seed)
            predicted = task.joint(fitted.weights)
            violations += outside(task, fitted)
            rows[name].append(cells(task.scored(predicted)))
            for update in ("early", "standard"):
                for width in WIDTHS:
                    other = fit(task, width, update, whole, max(1, size.generated_epochs // 4), seed)
                    kind = f"{update}, {'global' if whole else 'local'}"
                    invalid.setdefault(kind, {}).setdefault(width, []).append(other.invalid)
    for name, found in rows.items():
        table.add(name, {column: float(np.mean([row[column] for row in found])) for column in COLUMNS})
    for kind, own in invalid.items():
        rates.add(kind, {f"K = {width}": float(np.mean(values)) for width, values in own.items()})
    rates.note = f"Share of updates whose gold beginning scored higher already; {size.generated_epochs // 4} epochs."
    result.tables += [table, rates]

    def over(better: str, worse: str, column: str) -> dict[str, float]:
        pairs = zip(rows[better], rows[worse], strict=True)
        return {f"seed {n}": one[column] - two[column] for n, (one, two) in enumerate(pairs, 1)}

    result.claim("joint search with local features finds arguments at least as well as staged classifiers",
                 mean_of(over(LOCAL, STAGED, "argument F"), "generated"))  # fmt: skip
    result.claim("global features raise the F of arguments",
                 mean_of(over(GLOBAL, LOCAL, "argument F"), "generated"))  # fmt: skip
    result.claim("global features raise the F of triggers", mean_of(over(GLOBAL, LOCAL, "trigger F"), "generated"))
    result.own("on generated sentences the order in the F of arguments is staged, joint local, joint global",
               mean_of(over(LOCAL, STAGED, "argument F"), "local over staged"),
               mean_of(over(GLOBAL, LOCAL, "argument F"), "global over local"))  # fmt: skip
    early = max(value for kind, own in invalid.items() if kind.startswith("early") for v in own.values() for value in v)
    result.claim("early update never makes an invalid update", measured(early, "<=", 0, "generated, % of updates"),
                 required=True)  # fmt: skip
    _tell_rates(result, {kind: {k: float(np.mean(v)) for k, v in own.items()} for kind, own in invalid.items()},
                "generated")  # fmt: skip
    result.own("no argument is outside the role table", measured(violations, "<=", 0, "generated, arguments", 0))


def _tell_rates(result: RecipeResult, rates: dict[str, dict[int, float]], where: str) -> None:
    whole, local = rates["standard, global"], rates["standard, local"]
    result.claim(
        "standard update makes invalid updates, fewer with a wider beam",
        measured(whole[1], ">", 0, f"{where}, K = 1, %"),
        measured(whole[1] - whole[8], ">", 0, f"{where}, K = 1 over K = 8"),
    )
    result.claim(
        "standard update makes more invalid updates with global features than with local ones",
        *(measured(whole[k] - local[k], ">", 0, f"{where}, K = {k}") for k in WIDTHS[:2]),
    )


def outside(task: Task, fitted: Fitted) -> int:
    """Predicted arguments that the role table forbids or whose trigger has no label."""
    batch, table = task.test.batch, task.schema.table
    labels, roles, _ = best(batch, table, fitted.weights, 4)
    count = 0
    for number, candidates in enumerate(task.test.places.candidates):
        first = int(batch.positions[number])
        words = int(batch.positions[number + 1]) - first
        matrix = roles[int(batch.cells[number]) : int(batch.cells[number + 1])].reshape(words, -1)
        for at, k in zip(*(matrix[:, : len(candidates)] > 0).nonzero(), strict=True):
            label, kind = int(labels[first + at]), int(batch.types[int(batch.candidates[number]) + int(k)])
            count += label <= 0 or table.columns[label, kind, int(matrix[at, k])] < 0
    return count


def _updates(result: RecipeResult, train: Sequence[Doc], dev: Sequence[Doc], size: Size) -> None:
    """Update rules by width of the beam, on a slice of the training part of BioNLP."""
    task = Task.of(train, dev, Reading())
    table = Table(f"Update rules on {len(train)} training abstracts of BioNLP, own dev part",
                  ["K", "trigger F", "argument F", "invalid %"], digits={"K": 0, "invalid %": 1})  # fmt: skip
    rates: dict[str, dict[int, float]] = {}
    for update in UPDATES:
        for whole in (True, False) if update == "standard" else (True,):
            for width in WIDTHS:
                fitted = fit(task, width, update, whole, size.slice_epochs)
                own = cells(task.scored(task.joint(fitted.weights, width)))
                kind = f"{update}, {'global' if whole else 'local'}"
                rates.setdefault(kind, {})[width] = fitted.invalid
                table.add(f"{kind}, K = {width}", {
                    "K": width, "trigger F": own["trigger F"], "argument F": own["argument F"],
                    "invalid %": fitted.invalid,
                })  # fmt: skip
    result.tables.append(table)
    result.claim("early update never makes an invalid update",
                 measured(max(rates["early, global"].values()), "<=", 0, "BioNLP, % of updates"))  # fmt: skip
    result.own("the largest violation never makes an invalid update",
               measured(max(rates["violation, global"].values()), "<=", 0, "BioNLP, % of updates"))  # fmt: skip
    _tell_rates(result, rates, "BioNLP")


def _bionlp(
    result: RecipeResult, train: Sequence[Doc], test: Sequence[Doc], size: Size, options: RecipeOptions
) -> None:
    table = Table(f"BioNLP-ST 2009, {len(test)} abstracts of its dev part", [*COLUMNS, "epochs", "balance"],
                  digits={"epochs": 0})  # fmt: skip
    settings = {
        STAGED: (Reading(), False), LOCAL: (Reading(), False), GLOBAL: (Reading(), True),
        "joint, events as arguments": (Reading(nested=True), True),
    }  # fmt: skip
    counts: dict[str, dict[str, Counts]] = {}
    task = None
    for name, (reading, whole) in settings.items():
        task = Task.of(train, test, reading)
        counts[name] = _row(table, name, task, train, reading, whole, size)
    assert task is not None
    parse([*train, *test])
    trees = Reading(tags="upos", lemmas=True, trees=True)
    name = "joint, local and global, trees"
    counts[name] = _row(table, name, Task.of(train, test, trees), train, trees, True, size)
    table.note = (
        "Arguments are proteins; the trigger is compared by its last word (with trees: its head). Epochs and balance, "
        f"what triggers and arguments get besides, are chosen on the last {OWN_DEV} training abstracts."
    )
    result.tables.append(table)

    def over(better: str, worse: str, what: str) -> Figure:
        return compared(approximate_randomization(
            counts[better][what], counts[worse][what], samples=size.samples, seed=options.seed), "BioNLP")  # fmt: skip

    result.claim("joint search with local features finds arguments at least as well as staged classifiers",
                 over(LOCAL, STAGED, "arguments"))  # fmt: skip
    result.claim("global features raise the F of arguments",
                 over(GLOBAL, LOCAL, "arguments"))  # fmt: skip
    result.claim("global features raise the F of triggers", over(GLOBAL, LOCAL, "triggers"))
    result.own("joint search with global features finds more arguments than staged classifiers",
               over(GLOBAL, STAGED, "arguments"), required=False)  # fmt: skip
    for what, bar, aim in (("triggers", 65, 68), ("arguments", 56, 60)):
        found = 100 * counts[GLOBAL][what].total().f1
        result.own(f"F of {what} on BioNLP is at least {{bar}}", measured(found, ">=", bar, GLOBAL))
        result.own(f"F of {what} on BioNLP reaches {{bar}}", measured(found, ">=", aim, GLOBAL), required=False)


def _row(
    table: Table, name: str, task: Task, train: Sequence[Doc], reading: Reading, whole: bool, size: Size
) -> dict[str, Counts]:
    """Choose on the end of the training part, train on all of it, score the test part."""
    choice = Choice(0)
    if name == STAGED:
        predicted = task.staged()
    else:
        choice = choose(Task.of(train[:-OWN_DEV], train[-OWN_DEV:], reading), whole, size.epochs)
        fitted = fit(task, 4, "early", whole, choice.epochs)
        fitted.weights.bonus[:] = choice.balance
        predicted = task.joint(fitted.weights)
    counts = task.scored(predicted)
    shown: dict[str, float | str] = dict(cells(counts))
    shown |= {"epochs": choice.epochs, "balance": f"{choice.balance[0]:g}, {choice.balance[1]:g}"}
    table.add(name, shown)
    return counts


def _casie(result: RecipeResult, docs: Sequence[Doc], size: Size, options: RecipeOptions) -> None:
    parse(docs)
    for doc in docs:
        add_chunks(doc)
    end, middle = len(docs) * 60 // 350, len(docs) * 40 // 350
    train, dev, test = docs[: -end - middle], docs[-end - middle : -end], docs[-end:]
    reading = Reading(tags="upos", lemmas=True, trees=True)
    table = Table(f"CASIE, {len(test)} articles, gold mentions and noun chunks", COLUMNS)
    task, tuned = Task.of(train, test, reading), Task.of(train, dev, reading)
    counts = {STAGED: task.scored(task.staged())}
    for name, whole in ((LOCAL, False), (GLOBAL, True)):
        choice = choose(tuned, whole, size.casie_epochs)
        fitted = fit(task, 4, "early", whole, choice.epochs)
        fitted.weights.bonus[:] = choice.balance
        counts[name] = task.scored(task.joint(fitted.weights))
    for name, own in counts.items():
        table.add(name, cells(own), PAPER[name])
    table.note = "The paper's figures are those of ACE 2005, another corpus."
    result.tables.append(table)
    for text, better, worse, what in (
        ("joint search with local features finds arguments at least as well as staged classifiers", LOCAL, STAGED,
         "arguments"),
        ("global features raise the F of arguments", GLOBAL, LOCAL, "arguments"),
        ("global features raise the F of triggers", GLOBAL, LOCAL, "triggers"),
    ):  # fmt: skip
        found = approximate_randomization(
            counts[better][what], counts[worse][what], samples=size.samples, seed=options.seed
        )
        result.claim(text, compared(found, "CASIE"))


def _times(result: RecipeResult, docs: Sequence[Doc], size: Size) -> None:
    """Training time by width of the beam on some sentences, and the speed of prediction."""
    table = Table(f"Training time, {size.timed} sentences of BioNLP, 3 epochs", ["ours, s", "paper, s"])
    chosen, count = [], 0
    for doc in docs:
        if count < size.timed:
            chosen.append(doc)
            count += doc.n_sentences
    task = Task.of(chosen, chosen[:1], Reading())
    fit(task, 2, "early", True, 1)
    seconds: dict[int, float] = {}
    for width in WIDTHS:
        runs = []
        for _ in range(3):
            start = time.process_time()
            fit(task, width, "standard", True, 3)
            runs.append(time.process_time() - start)
        seconds[width] = float(np.median(runs))
        table.add(f"K = {width}", {"ours, s": seconds[width], "paper, s": PAPER_SECONDS[width]})
    fitted = fit(task, 4, "early", True, 3)
    test = docs[-OWN_DEV:]
    atoms = Atoms()
    encode_docs(test[:2], task.schema, task.reading, atoms)
    start = time.process_time()
    again = replace(task, test=encode_docs(test, task.schema, task.reading, atoms), gold=[])
    again.joint(fitted.weights)
    speed = sum(doc.n_sentences for doc in test) / (time.process_time() - start)
    table.note = "Median of three runs; standard update, so that every sentence is searched to its end."
    result.tables.append(table)
    ratio = seconds[8] / seconds[4]
    result.claim(
        "training with K = 8 takes twice as long as with K = 4: the ratio is within {bar} of 2",
        measured(abs(ratio - 2), "<=", 0.3, f"ratio {ratio:.2f}"),
    )
    result.own("events are extracted from at least {bar} sentences per second of CPU at K = 4, features included",
               measured(speed, ">=", 2_000, "BioNLP, words given", 0))  # fmt: skip
