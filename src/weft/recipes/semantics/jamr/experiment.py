"""A graph-based parser for the Abstract Meaning Representation (Flanigan et al., ACL 2014).

The parser of the paper, and ours with further features and candidates, on the Little Prince (A) and on Bio AMR (B):
Smatch with gold and with system concepts on training and test data; what each constraint and the rules for names and
dates contribute; which share of graphs is certified to be the best, by size; time per sentence by its length. The
paper's LDC newswire is licensed, so its figures are for orientation. Smatch is exact.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from weft.evaluate.counts import Counts
from weft.evaluate.semantics.smatch import evaluate_amrs
from weft.evaluate.significance import paired_bootstrap
from weft.recipes.claims import compared, measured
from weft.recipes.framework import Curve, RecipeOptions, RecipeResult, Table
from weft.recipes.semantics.jamr.data import BIO, Parsed, agreement, bio, little_prince, load, tied
from weft.recipes.variation import Variation
from weft.tasks.amr.aligner import Aligner
from weft.tasks.amr.concepts import ConceptModel
from weft.tasks.amr.data import Example, example_of, finished
from weft.tasks.amr.parser import AmrParser, AmrSettings
from weft.tasks.amr.relations import DETERMINISTIC, Found, Problem, RelationModel
from weft.text.conventions.amr import Amr

SLUG = "jamr"
#: Settings of the two systems.
SYSTEMS = {
    "paper": {"features": "paper", "backoff": False, "learn_links": False},
    "ours": {"features": "rich", "backoff": True, "learn_links": True},
}
#: Figures of the paper: precision, recall and F1 of Smatch on newswire.
PAPER = {
    ("gold", "train"): (85.0, 95.0, 90.0), ("gold", "test"): (76.0, 84.0, 80.0),
    ("system", "train"): (69.0, 78.0, 73.0), ("system", "test"): (52.0, 66.0, 58.0),
}  # fmt: skip
PAPER_SPANS = {"train": (92.0, 90.0, 91.0), "test": (90.0, 79.0, 84.0)}
#: Bins of the number of nodes of a graph, and of the number of words of a sentence.
NODE_BINS = ((1, 5), (6, 10), (11, 20), (21, 40), (41, 1000))
WORD_BINS = ((5, 10), (11, 20), (21, 30), (31, 45), (46, 100))
ABLATIONS = ("all", "without determinism", "greedy", "without simplicity", "constant step", "without rules")


@dataclass(frozen=True)
class Size:
    """The size of the experiment: sentences of both corpora (0: all) and passes."""

    train: int = 0
    test: int = 0
    bio_train: int = 0
    bio_test: int = 0
    concept_passes: int = 10
    relation_passes: int = 5
    train_scored: int = 200  # training sentences that are scored
    links: int = 0  # sentences on which alignments are compared


QUICK = Size(200, 50, 30, 15, 2, 2, 30, 30)
VARIATION = Variation((Size, AmrSettings), ("paper", "ours", "bio", "ablations"))


class Output(NamedTuple):
    """Graphs, whether the search of each was certified, seconds of CPU, and whether all conditions hold."""

    amrs: list[Amr]
    found: list[Found]
    seconds: list[float]
    nodes: list[int]
    broken: int

    def counts(self, rows: Sequence[Parsed]) -> Counts:
        return evaluate_amrs([row.amr for row in rows], list(self.amrs))


class Kept(NamedTuple):
    """A trained parser, the aligner of its training data, and its output on test data."""

    parser: AmrParser
    aligner: Aligner
    output: Output


def run(options: RecipeOptions) -> RecipeResult:
    """The experiment in full, or a slice of it."""
    size = options.varied(QUICK if options.quick else Size())
    result = RecipeResult(SLUG)
    parts = options.chosen({name: name for name in ("paper", "ours", "bio", "ablations")})
    smatch = Table("Smatch", ["P", "R", "F"], note="The paper's figures are for newswire, with three times the data.")
    spans = Table("Concept spans", ["P", "R", "F"])
    search = Table("Relaxation, test data, system concepts", ["graphs", "certified", "steps"], digits={"graphs": 0})
    reach = Table("Nodes of gold graphs that the aligner ties, and edges between them, per cent", ["nodes", "edges"])
    reach.note = "Gold concepts are the tied nodes alone, so no parse with gold concepts can have a higher recall."
    pairs = little_prince(options, size.train, size.test)
    kept: dict[str, Kept] = {}
    for name in ("paper", "ours"):
        if name in parts:
            parser, examples, aligner = _trained(pairs[0], name, size, options)
            kept[name] = _scored(result, smatch, spans, search, f"A {name}", parser, pairs, examples, aligner, size)
            _reach(reach, f"A {name}", pairs, aligner)
    if "bio" in parts:
        other = bio(options, size.bio_train, size.bio_test)
        parser, examples, aligner = _trained(other[0], "ours", size, options)
        output = _scored(result, smatch, spans, search, "B ours", parser, other, examples, aligner, size).output
        _times(result, other[1], output)
        _reach(reach, "B ours", other, aligner)
        links = agreement(load(options.find(BIO[1]), size.links), Aligner())
        table = Table("Aligner against the links of ISI, Bio dev", ["P", "R", "F"])
        shares = (
            links.correct / links.system,
            links.correct / links.gold,
            2 * links.correct / (links.gold + links.system),
        )
        table.add(
            "node links",
            dict(zip("PRF", (100 * share for share in shares), strict=True)),
            {"P": 92.0, "R": 89.0, "F": 90.0},
        )
        table.note = "The links are automatic and include function words; the paper's are 200 sentences by hand."
        result.tables.append(table)
    result.tables = [smatch, spans, reach, search, *result.tables]
    if "ablations" in parts and "ours" in kept:
        _ablations(result, pairs[1], kept["ours"])
    result.notes.append(
        "Tags, lemmas, trees and entities are predicted by the English model. Gold concepts are those that the aligner "
        "ties to words, as in the paper: concepts that it misses are missing from the graphs."
    )
    return result


def _trained(
    rows: Sequence[Parsed], name: str, size: Size, options: RecipeOptions
) -> tuple[AmrParser, list[Example], Aligner]:
    settings = AmrSettings.from_options(SYSTEMS[name])
    settings = replace(settings, concept_passes=size.concept_passes, relation_passes=size.relation_passes)
    settings = options.varied(settings)
    aligner = Aligner()
    if settings.learn_links:
        aligner.learn([(row.amr, row.sentence.words, row.sentence.lemmas) for row in rows])
    examples = [example_of(row.sentence, row.amr, aligner) for row in rows]
    parser = AmrParser(settings)
    parser.concepts = ConceptModel.fit(
        [one.sentence for one in examples], [one.choices for one in examples], settings.concepts()
    )
    problems = [Problem(one.sentence, one.choices) for one in examples]
    parser.relations = RelationModel.fit(problems, [one.edges for one in examples], settings.relations())
    return parser, examples, aligner


def _reach(table: Table, name: str, pairs: tuple[list[Parsed], list[Parsed]], aligner: Aligner) -> None:
    for part, rows in zip(("train", "test"), pairs, strict=True):
        table.add(f"{name}, {part}", tied(rows, aligner)._asdict())


def parse_all(parser: AmrParser, examples: Sequence[Example], gold: bool) -> Output:
    """Parse sentences with gold or with system concepts; conditions that a graph breaks are counted."""
    concepts, relations = parser.trained(parser.concepts), parser.trained(parser.relations)
    output = Output([], [], [], [], 0)
    broken = 0
    for example in examples:
        begun = time.process_time()
        choices = example.choices if gold else concepts.decode(example.sentence)
        problem = Problem(example.sentence, choices)
        found = relations.decode(problem)
        amr = finished(problem, found.edges)
        output.seconds.append(time.process_time() - begun)
        output.amrs.append(amr)
        output.found.append(found)
        output.nodes.append(len(problem))
        broken += not holds(problem, amr)
    return output._replace(broken=broken)


def holds(problem: Problem, amr: Amr) -> bool:
    """Whether a graph is connected, deterministic and simple, with the edges of all pieces, and can be written."""
    from weft.formats.penman import lay_out, parse_amr

    edges = [(edge.source, edge.role) for edge in amr.edges if edge.role in DETERMINISTIC]
    pieces = [
        [(source, role) for source, _, role in choice.piece.edges if role in DETERMINISTIC]
        for choice in problem.choices
    ]
    own = sum(len(rows) - len(set(rows)) for rows in pieces)  # a piece may repeat a label itself
    pairs = [frozenset(edge[:2]) for edge in amr.edges]
    kept = len(problem.fixed) <= len(amr.edges) or amr.labels == ["amr-empty"]
    back = parse_amr(lay_out(amr)[0])
    same = sorted(amr.labels) == sorted(back.labels) and len(back.edges) == len(amr.edges)
    return (
        amr.connected() and len(edges) - len(set(edges)) <= own and kept and same
        and (len(pairs) == len(set(pairs)) or _repeats(problem))
    )  # fmt: skip


def _repeats(problem: Problem) -> bool:
    pairs = [frozenset(edge[:2]) for edge in problem.fixed]
    return len(pairs) > len(set(pairs))


def _scored(
    result: RecipeResult, smatch: Table, spans: Table, search: Table, name: str, parser: AmrParser,
    pairs: tuple[list[Parsed], list[Parsed]], examples: list[Example], aligner: Aligner, size: Size,
) -> Kept:  # fmt: skip
    held_out = [example_of(row.sentence, row.amr, aligner) for row in pairs[1]]
    figures: dict[tuple[str, str], Counts] = {}
    seen = size.train_scored or len(examples)
    outputs: dict[tuple[str, str], Output] = {}
    for part, rows, given in (("train", pairs[0][:seen], examples[:seen]), ("test", pairs[1], held_out)):
        for kind in ("gold", "system"):
            output = outputs[kind, part] = parse_all(parser, given, kind == "gold")
            counts = figures[kind, part] = output.counts(rows)
            total = counts.total()
            ours = {"P": 100 * total.precision, "R": 100 * total.recall, "F": 100 * total.f1}
            smatch.add(f"{name}, {kind} concepts, {part}", ours, dict(zip("PRF", PAPER[kind, part], strict=True)))
        p, r, f = span_scores(parser, given)
        spans.add(f"{name}, {part}", {"P": p, "R": r, "F": f}, dict(zip("PRF", PAPER_SPANS[part], strict=True)))
    output, counts = outputs["system", "test"], figures["system", "test"]
    for low, high in NODE_BINS:
        inside = [i for i, n in enumerate(output.nodes) if low <= n <= high]
        if inside:
            share = 100 * float(np.mean([output.found[i].certified for i in inside]))
            steps = float(np.mean([output.found[i].steps for i in inside]))
            label = f"{low} to {high}" if high < 1000 else f"{low} or more"
            search.add(f"{name}, {label} nodes", {"graphs": len(inside), "certified": share, "steps": steps})
    compare = paired_bootstrap(figures["gold", "test"], counts, samples=2000)
    result.claim(
        "gold concepts beat system concepts by {bar} points of Smatch or more", compared(compare, name, ">=", 15.0)
    )
    cells = {row.name: row.ours for row in spans.rows}
    gaps = {
        column: float(cells[f"{name}, train"][column] or 0) - float(cells[f"{name}, test"][column] or 0)
        for column in ("P", "R")
    }
    result.claim(
        "training data score above test data mainly in the recall of concept spans",
        measured(gaps["R"] - gaps["P"], ">", 0.0, name),
    )
    result.own(
        "every graph is connected, simple, deterministic, keeps the edges of its pieces and can be read back",
        measured(sum(each.broken for each in outputs.values()), "<=", 0, name, 0, "broken"),
    )
    if name.startswith("A"):
        bar = 45.0 if name == "A ours" else 0.0
        if bar:
            result.own(
                "system concepts reach {bar} Smatch on the Little Prince",
                measured(100 * counts.total().f1, ">=", bar, name),
            )
        small = [i for i, n in enumerate(output.nodes) if n <= 10]
        share = 100 * float(np.mean([output.found[i].certified for i in small]))
        result.own("{bar} % of graphs of up to 10 nodes are certified", measured(share, ">=", 99.0, name, 1, "%"))
    return Kept(parser, aligner, output)


def span_scores(parser: AmrParser, examples: Sequence[Example]) -> tuple[float, float, float]:
    """Precision, recall and F1 of spans with their pieces, in percent."""
    concepts = parser.trained(parser.concepts)
    gold = system = both = 0
    for example in examples:
        found = concepts.decode(example.sentence)
        gold, system, both = (
            gold + len(example.choices),
            system + len(found),
            both + len(set(found) & set(example.choices)),
        )
    return 100 * both / max(system, 1), 100 * both / max(gold, 1), 200 * both / max(gold + system, 1)


def _ablations(result: RecipeResult, rows: Sequence[Parsed], kept: Kept) -> None:
    """Search without one of its parts, with the weights of the full system."""
    parser, aligner = kept.parser, kept.aligner
    examples = [example_of(row.sentence, row.amr, aligner) for row in rows]
    concepts, relations = parser.trained(parser.concepts), parser.trained(parser.relations)
    table = Table("Ablations, A ours, test", ["gold concepts", "system concepts", "certified"])
    counts: dict[str, tuple[Counts, Counts]] = {}
    full, rules = relations.options, concepts.options

    def changed(name: str) -> None:
        relations.options, concepts.options = full, rules
        changes: dict[str, Callable[[], None]] = {
            "without determinism": lambda: setattr(relations, "options", replace(full, search="none")),
            "greedy": lambda: setattr(relations, "options", replace(full, search="greedy")),
            "without simplicity": lambda: setattr(relations, "options", replace(full, simple=False)),
            "constant step": lambda: setattr(relations, "options", replace(full, step="constant")),
            "without rules": lambda: setattr(concepts, "options", replace(rules, rules=False)),
        }
        changes.get(name, lambda: None)()

    for name in ABLATIONS:
        changed(name)
        gold, system = (parse_all(parser, examples, kind) for kind in (True, False))
        counts[name] = gold.counts(rows), system.counts(rows)
        share = 100 * float(np.mean([found.certified for found in (*gold.found, *system.found)]))
        f = [100 * each.total().f1 for each in counts[name]]
        table.add(name, {"gold concepts": f[0], "system concepts": f[1], "certified": share})
    changed("all")
    result.tables.append(table)
    for name in ("without determinism", "without simplicity"):
        for kind, where in enumerate(("gold concepts", "system concepts")):
            test = paired_bootstrap(counts["all"][kind], counts[name][kind], samples=2000)
            result.claim("each constraint raises Smatch", compared(test, f"{name}, {where}"))


def _times(result: RecipeResult, rows: Sequence[Parsed], output: Output) -> None:
    """Seconds per sentence by its length, and the slope of their logarithms."""
    lengths = np.array([len(row.sentence.words) for row in rows])
    seconds = np.array(output.seconds)
    table = Table(
        "CPU seconds per sentence, B ours", ["sentences", "nodes", "seconds"], digits={"sentences": 0, "seconds": 4}
    )
    points = []
    for low, high in WORD_BINS:
        inside = (lengths >= low) & (lengths <= high)
        if inside.any():
            nodes = float(np.mean(np.array(output.nodes)[inside]))
            table.add(
                f"{low} to {high} words",
                {"sentences": int(inside.sum()), "nodes": nodes, "seconds": float(seconds[inside].mean())},
            )
            points.append((float(lengths[inside].mean()), float(seconds[inside].mean())))
    result.tables.append(table)
    result.curves.append(Curve("Time per sentence", "words", "CPU seconds", {"B ours": points}))
    if len(points) > 2:
        slope = float(np.polyfit(np.log([x for x, _ in points]), np.log([y for _, y in points]), 1)[0])
        result.claim(
            "time grows at most with the length to the power of {bar}",
            measured(slope, "<=", 2.5, "slope of logarithms"),
        )
    near = seconds[(lengths >= 35) & (lengths <= 45)]
    if len(near):
        result.own(
            "a sentence of 40 words takes at most {bar} s of CPU",
            measured(float(near.mean()), "<=", 0.1, "35 to 45 words", 3, "s"),
        )
