"""Training deterministic parsers with non-deterministic oracles (Goldberg and Nivre, TACL 2013).

Greedy parsers with three transition systems, trained with a static oracle (for easy-first: its incomplete
non-deterministic one) and with the dynamic oracle, which also says how to continue after a mistake:

    cost(t; c, T) = min over A reachable from t(c) of loss(A, T)  -  min over A reachable from c of loss(A, T)

on UD treebanks of the paper's ten languages, with gold tags. The annotation differs from that of CoNLL 2007, so the
paper's numbers are only for orientation; the claim is the difference between static and dynamic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from weft.evaluate.counts import Counts
from weft.evaluate.significance import paired_bootstrap, signed_rank
from weft.evaluate.trees.ud import evaluate_ud
from weft.formats import read
from weft.recipes.claims import gain, mean_of
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.variation import Rows, Variation, changed, where_run
from weft.tasks.parsing.transitions.parser import Parser, ParserSettings
from weft.text.corpus import Corpus
from weft.text.doc import Doc

SLUG = "dynamic-oracles"
FOLDER = "treebanks/ud"
#: The treebank of each of the paper's languages: its training and test file.
TREEBANKS = {
    "hun": ("Hungarian-Szeged/train", "Hungarian-Szeged/dev"),
    "chi": ("Chinese-GSD/train", "Chinese-GSD/test"),
    "gre": ("Greek-GDT/train", "Greek-GDT/dev"),
    "cze": ("Czech-FicTree/dev", "Czech-FicTree/test"),
    "bas": ("Basque-BDT/train", "Basque-BDT/test"),
    "cat": ("Catalan-AnCora/dev", "Catalan-AnCora/test"),
    "eng": ("English-EWT/train", "English-EWT/test"),
    "tur": ("Turkish-IMST/train", "Turkish-IMST/test"),
    "ara": ("Arabic-PADT/dev", "Arabic-PADT/test"),
    "ita": ("Italian-ParTUT/train", "Italian-ParTUT/test"),
}
#: Rows: system, oracle, and UAS of the paper in the order of the treebanks.
ROWS: dict[str, tuple[str, str, tuple[float, ...]]] = {
    "eager static": ("arc-eager", "static", (76.42, 85.01, 79.53, 78.70, 75.14, 91.30, 86.10, 77.38, 81.59, 84.40)),
    "eager dynamic": ("arc-eager", "dynamic", (77.48, 85.89, 80.98, 80.25, 75.97, 92.02, 88.69, 77.39, 83.62, 84.30)),
    "hybrid static": ("arc-hybrid", "static", (76.39, 84.96, 79.40, 79.71, 73.18, 91.30, 86.43, 75.91, 83.43, 83.43)),
    "hybrid dynamic": ("arc-hybrid", "dynamic", (77.54, 85.10, 80.49, 80.07, 73.70, 91.06, 87.62, 76.90, 84.04, 83.83)),
    "easyfirst static": (
        "easy-first", "static", (81.27, 87.01, 81.28, 82.00, 75.01, 92.50, 88.57, 78.92, 82.73, 85.31),
    ),
    "easyfirst dynamic": (
        "easy-first", "dynamic", (81.52, 87.48, 82.25, 82.39, 75.87, 92.85, 89.41, 79.29, 83.70, 85.11),
    ),
    "standard static": ("arc-standard", "static", ()),
}  # fmt: skip
HEAT_MAP = "heat map"
HEAT_K, HEAT_P = (0, 1, 2, 5), (0.0, 0.3, 0.6, 0.9, 1.0)


@dataclass(frozen=True)
class Size:
    """The size of the experiment; the paper uses all sentences, 5 seeds, 15 epochs (easy-first 20)."""

    treebanks: tuple[str, ...] = tuple(TREEBANKS)
    sentences: int = 1000  # of every training file at most; 0: all
    test_sentences: int = 1000
    seeds: int = 5
    epochs: int = 8
    heat: str = "tur"  # the treebank of the heat map


FULL = Size(sentences=0, test_sentences=0, seeds=5, epochs=15)
QUICK = Size(("eng", "tur"), sentences=400, test_sentences=200, seeds=2, epochs=4)
VARIATION = Variation((ParserSettings, Size), (*ROWS, HEAT_MAP))


@dataclass
class Runs:
    """Parsers of one row on one treebank, one per seed, with their scores."""

    uas: list[float] = field(default_factory=list)
    las: list[float] = field(default_factory=list)
    counts: list[Counts] = field(default_factory=list)  # of UAS, per sentence

    @property
    def median(self) -> Counts:
        """The counts of the median seed."""
        return self.counts[int(np.argsort(self.uas)[len(self.uas) // 2])]


def sentences_of(path: Path, limit: int = 0) -> list[Doc]:
    """The first sentences of a file, all for 0."""
    corpus = read(path)
    return list(corpus.take_sentences(limit)) if limit else list(corpus)


def train(
    docs: list[Doc],
    system: str,
    oracle: str,
    epochs: int,
    seed: int = 0,
    k: int = 1,
    p: float = 0.9,
    changes: Mapping[str, Any] | None = None,
) -> Parser:
    """A greedy parser as in the paper: crossing trees are skipped, errors explored from epoch k + 1 on."""
    settings = ParserSettings(system=system, oracle=oracle, epochs=epochs, seed=seed, k=k, p=p, nonprojective="skip")
    parser = Parser(replace(settings, **(changes or {})))
    parser.fit(docs)
    return parser


def score(parser: Parser, gold: list[Doc], path: Path, limit: int = 0) -> tuple[float, float, Counts]:
    """UAS and LAS of a parser in percent, and the UAS counts per sentence."""
    system = sentences_of(path, limit)
    parser(system)
    report = evaluate_ud(gold, system)
    return 100 * report.scores["UAS"].f1, 100 * report.scores["LAS"].f1, report.counts["UAS"]


def run(options: RecipeOptions) -> RecipeResult:
    """The experiment in its reduced form: see `Size`. `FULL` is the paper's."""
    return run_size(options, options.varied(QUICK if options.quick else Size()))


def files_of(options: RecipeOptions, code: str) -> tuple[Path, Path]:
    """The training and test file of one of the paper's languages, or of any treebank by its name in UD."""
    train, test = TREEBANKS.get(code, (f"{code}/train", f"{code}/test"))
    return options.find(f"{FOLDER}/{train}.conllu.gz"), options.find(f"{FOLDER}/{test}.conllu.gz")


def run_size(options: RecipeOptions, size: Size) -> RecipeResult:
    """The experiment at a given size."""
    result = RecipeResult(SLUG)
    rows, changes = options.chosen(ROWS), changed(ParserSettings, options.vary)
    found: Rows[dict[str, Runs]] = rows.map(lambda _: {})
    for code in size.treebanks:
        train_path, test_path = files_of(options, code)
        docs, gold = sentences_of(train_path, size.sentences), sentences_of(test_path, size.test_sentences)
        for name, (system, oracle, _) in rows.items():
            runs = found[name].setdefault(code, Runs())
            for seed in range(options.seed, options.seed + size.seeds):
                parser = train(docs, system, oracle, size.epochs, seed, changes=changes)
                uas, las, counts = score(parser, gold, test_path, size.test_sentences)
                runs.uas.append(uas)
                runs.las.append(las)
                runs.counts.append(counts)
    _tables(result, size, found)
    _differences(result, size, found)
    if size.heat in size.treebanks and options.wants(HEAT_MAP):
        _heat_map(options, result, size)
    result.notes.append(
        f"At most {size.sentences or 'all'} training sentences a treebank, {size.seeds} seeds, {size.epochs} epochs; "
        "the paper trains on CoNLL 2007 with 5 seeds and 15 to 20 epochs. Trees with crossing arcs are left out."
    )
    return result


def _tables(result: RecipeResult, size: Size, found: Rows[dict[str, Runs]]) -> None:
    for metric in ("UAS", "LAS"):
        table = Table(f"{metric}, mean of {size.seeds} seeds", [*size.treebanks, "mean"])
        for name, runs in found.items():
            paper = ROWS[name][2]
            means = {code: float(np.mean(getattr(runs[code], metric.lower()))) for code in size.treebanks}
            published = dict(zip(TREEBANKS, paper, strict=False)) if metric == "UAS" else {}
            beside = {code: value for code, value in published.items() if code in size.treebanks}
            table.add(name, {**means, "mean": float(np.mean(list(means.values())))}, beside)
        table.note = "The paper's figures are for other annotation and other sizes of the same languages."
        result.tables.append(table)


def _differences(result: RecipeResult, size: Size, found: Rows[dict[str, Runs]]) -> None:
    table = Table(
        "UAS, dynamic less static", [*size.treebanks, "mean", "seeds ahead", "Wilcoxon p"],
        digits={"seeds ahead": 0, "Wilcoxon p": 4},
    )  # fmt: skip
    for system in ("eager", "hybrid", "easyfirst"):
        with where_run():
            _difference(result, table, size, system, found[f"{system} static"], found[f"{system} dynamic"])
    table.note = "Intervals: paired bootstrap over sentences, the seed in the middle of each."
    result.tables.append(table)


def _difference(
    result: RecipeResult, table: Table, size: Size, system: str, static: dict[str, Runs], dynamic: dict[str, Runs]
) -> None:
    """One row of the table of differences, and its claim."""
    gains, intervals, ahead = {}, {}, 0
    for code in size.treebanks:
        gains[code] = float(np.mean(dynamic[code].uas) - np.mean(static[code].uas))
        test = paired_bootstrap(dynamic[code].median, static[code].median, "f1", 1000)
        intervals[code] = (100 * test.low, 100 * test.high)
        ahead += sum(a > b for a, b in zip(dynamic[code].uas, static[code].uas, strict=True))
    values = list(gains.values())
    p = signed_rank(values)
    mean, total = float(np.mean(values)), size.seeds * len(values)
    table.add(system, {**gains, "mean": mean, "seeds ahead": f"{ahead} of {total}", "Wilcoxon p": p}, None, intervals)
    result.claim("training with the dynamic oracle raises UAS over the static one",
                 gain(mean, p=p, where=system), required=len(values) > 5)  # fmt: skip


def _heat_map(options: RecipeOptions, result: RecipeResult, size: Size) -> None:
    train_path, test_path = files_of(options, size.heat)
    docs, gold = sentences_of(train_path, size.sentences), sentences_of(test_path, size.test_sentences)
    table = Table(f"UAS of arc-eager by k (rows) and p, {size.heat}", [f"p {p:g}" for p in HEAT_P])
    seeds = range(options.seed, options.seed + min(2, size.seeds))
    cells: dict[tuple[int, float], float] = {}
    changes = changed(ParserSettings, options.vary)
    for k in HEAT_K:
        for p in HEAT_P:
            scores = [
                score(
                    train(docs, "arc-eager", "dynamic", size.epochs, seed, k, p, changes),
                    gold, test_path, size.test_sentences,
                )
                for seed in seeds
            ]  # fmt: skip
            cells[k, p] = float(np.mean([uas for uas, _, _ in scores]))
        table.add(f"k {k}", {f"p {p:g}": cells[k, p] for p in HEAT_P})
    result.tables.append(table)
    gains = {f"k {k}": cells[k, 0.9] - cells[k, 0.0] for k in HEAT_K[:3]}
    result.claim("exploring (p = 0.9) raises UAS over never exploring (p = 0)", mean_of(gains))


def parsing_speed(parser: Parser, corpus: Corpus, rounds: int = 3) -> float:
    """Words per CPU second, the best of several rounds."""
    import time

    docs = list(islice(corpus, 10**6))
    words = sum(doc.n_words for doc in docs)
    parser(docs)
    seconds = []
    for _ in range(rounds):
        started = time.process_time()
        parser(docs)
        seconds.append(time.process_time() - started)
    return words / min(seconds)
