"""Efficient graph-based semi-supervised learning of structured tagging models (Subramanya et al., EMNLP 2010).

A tagger is trained on labelled text of one domain and raw text of another. Supervised training, 1-best self-training,
self-training on posteriors pooled by trigram type, and the full method, which propagates those posteriors over a graph
of trigram types, are compared on web text to airline questions (12 tags), newspaper to reviews and to answers (Penn
tags), and statements to questions; on all words, on words that are not in the labelled text, and on the others.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from weft.arrays import Floats
from weft.evaluate.labels.tagging import TagReport, evaluate_labels
from weft.evaluate.runs import compare_over_runs, interval_over_runs
from weft.evaluate.significance import Comparison, Interval, mcnemar
from weft.recipes.claims import Figure, compared, gain, mean_of
from weft.recipes.corpora import adaptation as material
from weft.recipes.corpora.adaptation import sentences_of
from weft.recipes.framework import Curve, RecipeOptions, RecipeResult, Table
from weft.recipes.transfer.graph_ssl_crf.data import Shift, doc_of, genre, interrogatives, questions
from weft.tasks.tagging.graph_propagation import PropagationTagger
from weft.tasks.tagging.trigram_graph import TypeGraph
from weft.text.doc import Doc

SLUG = "graph-ssl-crf"
SUPERVISED, ONE_BEST, POOLED, GRAPH = "supervised", "1-best self-training", "self-trained (pooled)", "graph"
VARIANTS = {ONE_BEST: "one-best", POOLED: "pooled", GRAPH: "graph"}
#: The paper's test accuracy: questions (QuestionBank) and biomedical text, for which web genres stand in here.
PAPER = {SUPERVISED: (83.8, 86.2), POOLED: (84.0, 87.1), GRAPH: (86.8, 87.6)}
#: Labelled sentences (None: all) and numbers of draws, by shift.
SIZES = {
    "questions": ((500, 3), (2_000, 3), (None, 1)),
    "genres": ((500, 3), (2_000, 3), (None, 1)),
    "interrogatives": ((2_000, 3),),
}
GROUPS = ("all", "OOV", "known")
SHARES = (1.0, 0.75, 0.5, 0.25, 0.0)


@dataclass
class Runs:
    """The systems' results over draws of one setting, the graphs of the runs, and their initial weights."""

    reports: dict[str, list[TagReport]] = field(default_factory=dict)
    graphs: list[TypeGraph] = field(default_factory=list)
    first: list[Floats] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)

    def mean(self, system: str, group: str = "all") -> float:
        """Accuracy in percent over the words of all draws."""
        right, words = self._counts(system, group).sum(axis=(0, 1))
        return 100 * float(right / max(words, 1.0))

    def interval(self, system: str, group: str = "all") -> Interval:
        """Its interval: draws and test sentences are resampled."""
        found = interval_over_runs(self._counts(system, group))
        return Interval(100 * found.value, 100 * found.low, 100 * found.high)

    def compare(self, system: str, other: str, group: str = "all", seed: int = 0) -> Comparison:
        """Two systems by the same bootstrap."""
        return compare_over_runs(self._counts(system, group), self._counts(other, group), seed=seed)

    def spread(self, system: str) -> float:
        """Standard deviation of the accuracy over draws."""
        return float(np.std([accuracy(report) for report in self.reports[system]], ddof=1))

    def p(self, system: str, other: str) -> float:
        """McNemar's test on words, for the least certain draw."""
        pairs = zip(self.reports[system], self.reports[other], strict=True)
        return max(mcnemar(one.right, two.right).p for one, two in pairs)

    def _counts(self, system: str, group: str) -> Floats:
        """Correct words and words by draw and sentence."""
        own = [
            report.counts if group == "all" else report.groups["unknown" if group == "OOV" else "known"]
            for report in self.reports[system]
        ]
        return np.array([np.stack([each.correct, each.gold], axis=1) for each in own], dtype=np.float64)


def accuracy(report: TagReport, group: str = "all") -> float:
    """Accuracy in percent, on all words, on those not in the labelled text (OOV), or on the others."""
    if group == "all":
        return 100 * report.accuracy
    return 100 * report.groups["unknown" if group == "OOV" else "known"].total().accuracy


def type_graph(shift: Shift, labelled: Doc, k: int = 5, workers: int = 1) -> TypeGraph:
    """The graph over the trigram types of labelled and raw text."""
    tags = labelled.column("upos")
    number = {tag: i for i, tag in enumerate(sorted(set(tags)))}
    raw, more = Doc.from_words(shift.raw), [Doc.from_words(shift.counts_only)] if shift.counts_only else []
    return TypeGraph.build(
        [labelled], [number[tag] for tag in tags], [raw], more, n_tags=len(number), k=k, workers=workers
    )


def adapt(
    shift: Shift,
    labelled: Doc,
    variant: str,
    types: TypeGraph | None = None,
    first: Floats | None = None,
    **settings: Any,
) -> tuple[TagReport, TagReport, Floats]:
    """The reports of a run's initial supervised tagger and of its final one; the weights of the former.

    Runs on the same labelled text start alike: `first` are the initial weights of one of them.
    """
    tagger = PropagationTagger.from_options({"variant": variant, **settings})
    found: dict[int, TagReport] = {}
    known = set(labelled.column("form"))

    def look(number: int, tagger: PropagationTagger) -> None:
        if number == 0:
            found[0] = evaluate(tagger, shift, known)

    more = [Doc.from_words(shift.counts_only)] if shift.counts_only else []
    tagger.adapt([labelled], [Doc.from_words(shift.raw)], more, graph=types, after=look, first=first)
    assert tagger.first is not None
    return found[0], evaluate(tagger, shift, known), tagger.first


def evaluate(tagger: PropagationTagger, shift: Shift, known: set[str]) -> TagReport:
    """Score a tagger on the shift's test sentences; `known` are the words of its labelled text."""
    words = [sentence for sentence, _ in shift.test]
    doc = Doc.from_words(words)
    tagger([doc])
    return evaluate_labels([tags for _, tags in shift.test], sentences_of(doc, "upos"), words, known)


def compare(
    shift: Shift, sentences: int | None, seeds: Sequence[int], systems: Sequence[str] = tuple(VARIANTS), **settings: Any
) -> Runs:
    """All systems on the same draws of labelled sentences."""
    runs = Runs()
    for seed in seeds:
        labelled = shift.draw(sentences, seed)
        started = time.process_time()
        types = type_graph(shift, labelled)
        runs.graphs.append(types)
        runs.seconds["making the graph"] = time.process_time() - started
        first: Floats | None = None
        for system in systems:
            started = time.process_time()
            plain, last, first = adapt(shift, labelled, VARIANTS[system], types, first, **settings)
            runs.seconds[system] = time.process_time() - started
            if system == systems[0]:
                runs.reports.setdefault(SUPERVISED, []).append(plain)
                runs.first.append(first)
            runs.reports.setdefault(system, []).append(last)
    return runs


def run(options: RecipeOptions) -> RecipeResult:
    """Run all measurements."""
    result = RecipeResult(SLUG)
    result.notes.append(
        "The paper's texts are not free: questions are airline questions, and newspaper to the web stands for "
        "biomedical text, of which there are no free tags. Its raw text (10 million queries) is here some thousand "
        "sentences, fewer than are labelled; the weight of an unlabelled sentence (0.1, in the paper 0.001) and the "
        "factor of transitions (0.5) were chosen on the questions' dev file with 500 labelled sentences. All other "
        "settings are the paper's."
    )
    shifts = [(questions(options), SIZES["questions"])]
    if options.quick:
        shifts = [(shifts[0][0], ((500, 1),))]
    else:
        genres = [genre(options, "reviews", count_words=1_500_000), genre(options, "answers")]
        shifts += [(each, SIZES["genres"]) for each in genres] + [(interrogatives(options), SIZES["interrogatives"])]
    diagnostics: list[tuple[str, TypeGraph]] = []
    first: Runs | None = None
    for shift, sizes in shifts:
        for sentences, seeds in sizes:
            draws = range(options.seed, options.seed + seeds)
            runs = compare(shift, sentences, draws, workers=options.workers)
            count = len(shift.source) if sentences is None else sentences
            _rows(result, shift, count, runs, paper=int(shift.name.startswith("newspaper")))
            diagnostics.append((f"{shift.name}, {count:,} labelled", runs.graphs[0]))
            first = first or runs
            where = f"{shift.name}, {count:,} labelled"
            setting_claims(result, where, result.tables[-1])
            pooled = compared(runs.compare(GRAPH, POOLED, seed=options.seed), where)
            result.claim("the graph is above pooled self-training", pooled)
    result.claim("the gain of the graph is larger on OOV words than on known ones", known_and_unknown(result.tables))
    assert first is not None
    _ablation(options, result, shifts[0][0], first)
    if not options.quick:
        _parts(options, result, shifts[0][0], first)
        diagnostics.append(("newspaper to biomedical abstracts, 3,500 labelled", _biomedical(options)))
    _diagnostics(result, diagnostics)
    return result


def _rows(result: RecipeResult, shift: Shift, sentences: int, runs: Runs, paper: int) -> None:
    """A table of one setting, with the paper's numbers on questions (0) or biomedical text (1)."""
    draws = len(runs.graphs)
    table = Table(f"{shift.name}, {sentences:,} labelled sentences",
                  [*GROUPS, *(["sd of draws"] if draws > 1 else []), "gain", "gain, OOV", "p"],
                  digits={"p": 4})  # fmt: skip
    for system in runs.reports:
        figures: dict[str, Any] = {group: runs.mean(system, group) for group in GROUPS}
        intervals = {group: runs.interval(system, group) for group in GROUPS}
        limits = {group: (each.low, each.high) for group, each in intervals.items()}
        if draws > 1:
            figures["sd of draws"] = runs.spread(system)
        if system != SUPERVISED:
            for column, group in (("gain", "all"), ("gain, OOV", "OOV")):
                found = runs.compare(system, SUPERVISED, group)
                figures[column], limits[column] = 100 * found.difference, (100 * found.low, 100 * found.high)
            figures["p"] = runs.p(system, SUPERVISED)
        given = PAPER.get(system)
        table.add(system, figures, {} if given is None else {"all": given[paper]}, limits)
    first = runs.reports[SUPERVISED][0]
    table.note = (
        f"Accuracy in %, {'one draw' if draws == 1 else f'{draws} draws'} of labelled sentences. Intervals, 95 %: "
        + ("bootstrap over sentences" if draws == 1 else "draws and test sentences are drawn anew")
        + "; gain: over supervised. p: McNemar's test on words against supervised"
        + ("" if draws == 1 else ", the largest of the draws")
        + f". {first.groups['unknown'].total().gold:,} of {len(first.right):,} words are OOV in the first draw. The "
        + f"paper's figures: newspaper to {('questions', 'biomedical abstracts')[paper]}, 38,219 labelled sentences. "
        + "CPU s of the last draw: "
        + ", ".join(f"{name} {seconds:.0f}" for name, seconds in runs.seconds.items())
        + "."
    )
    result.tables.append(table)


def setting_claims(result: RecipeResult, where: str, table: Table) -> None:
    """Claims about one setting, from its table of systems."""
    rows = {row.name: row for row in table.rows}

    def over_supervised(system: str) -> Figure:
        value = gain(float(rows[system].ours["gain"] or 0), interval=rows[system].interval["gain"], where=where)
        return replace(value, cells=((table.title, system, "gain"),))

    result.claim(
        "pooled self-training is at least as good as supervised training", replace(over_supervised(POOLED), sense=">=")
    )
    result.claim("the graph is above supervised training", over_supervised(GRAPH))


def known_and_unknown(tables: Sequence[Table]) -> Figure:
    """By how much the gain of the graph over supervised training is larger on OOV words, over all settings."""
    gaps = {}
    for table in tables:
        rows = {row.name: {group: float(row.ours[group] or 0) for group in GROUPS} for row in table.rows}
        gains = {group: rows[GRAPH][group] - rows[SUPERVISED][group] for group in ("OOV", "known")}
        gaps[table.title.removesuffix(" labelled sentences")] = gains["OOV"] - gains["known"]
    return mean_of(gaps)


def ablation(
    shift: Shift,
    labelled: Doc,
    types: TypeGraph,
    shares: Sequence[float],
    first: Floats | None = None,
    **settings: Any,
) -> list[TagReport]:
    """The graph tagger with each of these fractions of the edges."""
    return [adapt(shift, labelled, "graph", types.thin(share), first, **settings)[1] for share in shares]


def _ablation(options: RecipeOptions, result: RecipeResult, shift: Shift, runs: Runs) -> None:
    """Fewer edges, less gain; on the draws of the first table."""
    shares = (1.0, 0.0) if options.quick else SHARES
    table = Table(f"Edges removed at random: {shift.name}, 500 labelled sentences",
                  [*GROUPS, "gain", "edges", "disconnected, %", "mean path"], digits={"edges": 0})  # fmt: skip
    thinned = Runs({SUPERVISED: runs.reports[SUPERVISED]})
    for draw, (types, first) in enumerate(zip(runs.graphs, runs.first, strict=True)):
        labelled = shift.draw(500, options.seed + draw)
        own = ablation(shift, labelled, types, shares[1:], first, workers=options.workers)
        for share, report in zip(shares, [runs.reports[GRAPH][draw], *own], strict=True):
            thinned.reports.setdefault(f"{100 - 100 * share:.0f} % removed", []).append(report)
    gains = []
    for share, name in zip(shares, list(thinned.reports)[1:], strict=True):
        known = [types.thin(share).diagnostics() for types in runs.graphs]
        found = thinned.compare(name, SUPERVISED)
        gains.append(100 * found.difference)
        table.add(name, {
            **{group: thinned.mean(name, group) for group in GROUPS}, "gain": gains[-1],
            "edges": float(np.mean([each.edges for each in known])),
            "disconnected, %": 100 * float(np.mean([each.disconnected for each in known])),
            "mean path": float(np.mean([each.path_length for each in known])),
        }, None, {"gain": (100 * found.low, 100 * found.high)})  # fmt: skip
    table.add(SUPERVISED, {group: thinned.mean(SUPERVISED, group) for group in GROUPS})
    table.note = (
        f"{len(runs.graphs)} draws. Disconnected: unlabelled types without a path to a labelled one; path: of the "
        "others. Gain: over supervised; intervals as above."
    )
    result.tables.append(table)
    points = [(100 * share, value) for share, value in zip(shares, gains, strict=True)]
    title = "Gain over the supervised tagger by the share of edges kept"
    result.curves.append(Curve(title, "edges kept, %", "points", {"graph": points}))
    edge_claims(result, table)


def edge_claims(result: RecipeResult, table: Table) -> None:
    """Claims about removed edges, from their table; an interval of a difference reaches from end to end of two."""
    rows = [(row.name, float(row.ours["gain"] or 0), row.interval["gain"]) for row in table.rows if "gain" in row.ours]
    (_, most, (low, high)), (_, none, (least, last)) = rows[0], rows[-1]
    result.claim(
        "the gain is larger with all edges than with none", gain(most - none, interval=(low - last, high - least))
    )
    for (_, more, _), (name, fewer, _) in pairwise(rows):
        result.claim("each quarter of the edges removed lowers the gain", gain(more - fewer, where=name))


def _parts(options: RecipeOptions, result: RecipeResult, shift: Shift, runs: Runs) -> None:
    """The value of individual parts of the method."""
    labelled = shift.draw(500, options.seed)
    table = Table(f"Parts of the method: {shift.name}, 500 labelled sentences", list(GROUPS))
    table.add("graph", {group: accuracy(runs.reports[GRAPH][0], group) for group in GROUPS})
    others: dict[str, dict[str, Any]] = {
        "weights of tag bigrams in the search, as the paper has it": {"transitions": "potentials", "strength": 1.0},
        "no tag bigrams in the search (best tag of every word)": {"strength": 0.0},
        "unlabelled sentences weigh 0.001, as in the paper": {"eta": 0.001},
        "unlabelled sentences weigh 1": {"eta": 1.0},
        "posteriors pooled by entropy": {"pooling": "entropy"},
        "alpha 0: types alone": {"alpha": 0.0},
    }
    for name, settings in others.items():
        report = adapt(shift, labelled, "graph", runs.graphs[0], runs.first[0], workers=options.workers, **settings)[1]
        table.add(name, {group: accuracy(report, group) for group in GROUPS})
    table.note = "The first draw of the table above; one setting changed at a time."
    result.tables.append(table)


def _biomedical(options: RecipeOptions) -> TypeGraph:
    source = material.newspaper(options, 0, material.LEARN)
    labelled = doc_of(list(zip(sentences_of(source), sentences_of(source, "xpos"), strict=True)))
    return type_graph(Shift("", [], material.gene_words(options, 60_000), []), labelled, workers=options.workers)


def _diagnostics(result: RecipeResult, graphs: Sequence[tuple[str, TypeGraph]]) -> None:
    columns = ["vertices", "labelled", "edges", "disconnected, %", "mean path"]
    table = Table("Graphs: types without a path to a labelled one, and the mean path of the others", columns,
                  digits=dict.fromkeys(columns[:3], 0))  # fmt: skip
    paper = {"questions": (12.4, 9.4), "biomedical": (46.8, 22.4)}
    for name, types in graphs:
        found = types.diagnostics()
        given = next((paper[key] for key in paper if key in name and "statements" not in name), None)
        table.add(
            name,
            {"vertices": found.vertices, "labelled": found.labelled, "edges": found.edges,
             "disconnected, %": 100 * found.disconnected, "mean path": found.path_length},
            {} if given is None else {"disconnected, %": given[0], "mean path": given[1]},
        )  # fmt: skip
    result.tables.append(table)
