"""Online learning of approximate dependency parsing algorithms (McDonald and Pereira, EACL 2006).

    score(y) = sum over arcs (h, m) of y of  arc(h, m) + sibling(h, m, s)

Pairs of adjacent children besides single arcs: exact over projective trees, by hill climbing from the best of them over
all trees, and over graphs in which words have several heads. All are trained by MIRA on the tree or graph that the same
search returns: by the package's MIRA, whose search adds the loss to the scores and whose steps are capped; if asked,
trees also by the paper's, which learns from the best tree as it is, without a cap. The Danish treebank with several
heads is not available: graphs come from the column DEPS of English and Czech.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.evaluate.counts import Counts
from weft.evaluate.significance import mcnemar, paired_bootstrap
from weft.evaluate.trees.crossings import CrossingReport, evaluate_crossings
from weft.evaluate.trees.dependency_graphs import evaluate_graphs
from weft.infer.trees.rearrange import rearrange
from weft.recipes.claims import compared, gain, measured
from weft.recipes.corpora.parsing import PUNCTUATION, Treebank, copy_of, small_ud, ud, without_punctuation, wsj
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.variation import Rows, Variation, changed, where_run
from weft.tasks.parsing.dependency_graphs import DependencyGraphParser, DependencyGraphSettings, gold_graphs
from weft.tasks.parsing.mst.features import FIELDS
from weft.tasks.parsing.mst.parser import MSTParser
from weft.tasks.parsing.mst.settings import MSTSettings
from weft.text.doc import Doc

SLUG = "second-order-mst"
#: Rows of trees: system, shape, and the paper's accuracy and complete sentences for English and Czech.
ROWS: dict[str, tuple[str, str, tuple[float, ...]]] = {
    "1st order, projective": ("mst1", "projective", (90.7, 36.7, 83.0, 30.6)),
    "2nd order, projective": ("mst2", "projective", (91.5, 42.1, 84.2, 33.1)),
    "1st order, non-projective": ("mst1", "nonprojective", (84.1, 32.2)),
    "2nd order, non-projective": ("mst2", "nonprojective", (85.2, 35.9)),
}
FIRST, SECOND, FIRST_ANY, SECOND_ANY = ROWS
#: What the learner of the paper has in place of the package's own, and the name of rows with it.
PAPER_MIRA: dict[str, Any] = {"constraints": "trees", "cap": 0.0}
BY_PAPER_MIRA = "{}, the paper's MIRA"
#: Rows of graphs and the paper's precision, recall and F1 on Danish.
GRAPH_ROWS = {SECOND: (86.4, 81.7, 83.9), SECOND_ANY: (86.9, 82.2, 84.4), "several heads": (86.2, 84.9, 85.6)}
SEVERAL = "several heads"
COLUMNS = ["Acc", "Complete", "Acc (crossing)", "training s", "moves a sentence", "rearranging, % of parsing"]


@dataclass(frozen=True)
class Size:
    """The size of the experiment: training sentences per treebank, and epochs."""

    trees: tuple[tuple[str, int], ...] = (
        ("Gothic", 1500), ("Basque without punctuation", 1000), ("Czech", 600), ("wsj", 400),
    )  # fmt: skip
    graphs: tuple[tuple[str, int], ...] = (("English-EWT", 1000), ("Czech", 600))
    test: int = 800
    epochs: int = 3
    paper_mira: bool = True  # train trees by the paper's MIRA, too


QUICK = Size((("Gothic", 200), ("wsj", 100)), (("English-EWT", 200),), test=100, epochs=2)
VARIATION = Variation((MSTSettings, Size), (*ROWS, SEVERAL))


def treebank_of(options: RecipeOptions, name: str, train: int, test: int) -> Treebank:
    """A treebank by its name in the tables."""
    if name == "wsj":
        return replace(wsj(options, train, 0, min(test, 514)), fields={**FIELDS, "t": "xpos"})
    if name == "Czech":
        found = small_ud(options, "Czech-FicTree", train, test)
        return replace(found, fields={**FIELDS, "t": "xpos.poscase"})
    folder = {"Gothic": "Gothic-PROIEL", "Basque without punctuation": "Basque-BDT"}.get(name, name)
    found = replace(ud(options, folder, train, 0, test), fields=dict(FIELDS))
    return without_punctuation(found) if "without" in name else found


def train_trees(
    docs: Sequence[Doc],
    row: str,
    epochs: int,
    seed: int = 0,
    fields: dict[str, str] | None = None,
    changes: Mapping[str, Any] | None = None,
) -> MSTParser:
    """The parser of a row: heads only, no arc pruning, one tree per update."""
    system, shape, _ = ROWS[row]
    options: dict[str, Any] = {"threshold": 0.0, "relations": "none", "fields": fields or dict(FIELDS)}
    settings = MSTSettings(system=system, shape=shape, epochs=epochs, seed=seed, **options)
    parser = MSTParser(replace(settings, **(changes or {})))
    parser.fit(docs)
    return parser


def train_graphs(
    docs: Sequence[Doc], epochs: int, seed: int = 0, fields: dict[str, str] | None = None
) -> DependencyGraphParser:
    """A graph parser with several heads per word, without relations."""
    settings = DependencyGraphSettings(epochs=epochs, seed=seed, relations="none", fields=fields or dict(FIELDS))
    parser = DependencyGraphParser(settings)
    parser.fit(docs)
    return parser


def score_trees(parser: MSTParser, treebank: Treebank) -> CrossingReport:
    """Heads of the test documents; the treebank decides whether punctuation counts."""

    def counted(doc: Doc) -> NDArray[np.bool_]:
        return np.array([treebank.punctuation or tag not in PUNCTUATION for tag in doc.column("xpos")], dtype=np.bool_)

    system = [copy_of(doc) for doc in treebank.test]
    parser(system)
    return evaluate_crossings(treebank.test, system, counted)


def score_graphs(parser: MSTParser | DependencyGraphParser, gold: Sequence[Doc]) -> dict[str, Counts]:
    """Edges of documents with gold graphs in DEPS, compared with those that a tree or graph parser predicts."""
    system = [copy_of(doc) for doc in gold]
    for doc in system:
        doc.columns.pop("deps")
    parser(system)
    return evaluate_graphs(gold, system)


@dataclass
class Moves:
    """The cost of rearranging: moves per sentence, and its share of the parsing time in percent."""

    a_sentence: float
    percent: float


def moves_of(parser: MSTParser, docs: Sequence[Doc]) -> Moves:
    """Count and time the moves of a second-order non-projective tree parser."""
    moves = sentences = 0
    spent, started = 0.0, time.process_time()
    for trees in parser.trees(docs):
        own = trees.projective
        best = own.best()
        before = time.process_time()
        moves += int(rearrange(own.space, own.arc, own.sibling, best, single_root=own.single_root).moves.sum())
        spent += time.process_time() - before
        sentences += len(own.space)
    return Moves(moves / sentences, 100 * spent / (time.process_time() - started - spent))


def run(options: RecipeOptions) -> RecipeResult:
    """Run the experiment."""
    size = options.varied(QUICK if options.quick else Size())
    result = RecipeResult(SLUG)
    for name, sentences in size.trees:
        _trees(options, result, size, name, sentences)
    for name, sentences in size.graphs:
        _graphs(options, result, size, name, sentences)
    result.notes.append(
        f"One shuffle, {size.epochs} epochs, the first sentences of training files ("
        + ", ".join(f"{name} {count:,}" for name, count in (*size.trees, *size.graphs))
        + f") and of test files (at most {size.test}); the paper trains on 40,000 sentences and more."
    )
    return result


def _trees(options: RecipeOptions, result: RecipeResult, size: Size, name: str, sentences: int) -> None:
    treebank = treebank_of(options, name, sentences, size.test)
    reports: dict[str, CrossingReport] = {}
    table = Table(f"Trees of {name}", COLUMNS, digits={"training s": 0})
    changes = changed(MSTSettings, options.vary)
    learners: list[tuple[str, Mapping[str, Any]]] = [("{}", {})]
    if size.paper_mira:
        learners.append((BY_PAPER_MIRA, PAPER_MIRA))
    for name_of, learner, row in ((*each, row) for each in learners for row in options.chosen(ROWS)):
        paper = ROWS[row][2]
        started = time.process_time()
        parser = train_trees(treebank.train, row, size.epochs, options.seed, treebank.fields, {**learner, **changes})
        seconds = time.process_time() - started
        report = reports[name_of.format(row)] = score_trees(parser, treebank)
        counts = report.counts
        names = {"Acc": "UAS", "Complete": "complete", "Acc (crossing)": "UAS (crossing)"}
        ours: dict[str, float] = {column: 100 * counts[own].total().recall for column, own in names.items()}
        ours["training s"] = seconds
        if row == SECOND_ANY and not learner:
            moves = moves_of(parser, treebank.test)
            ours |= {COLUMNS[4]: moves.a_sentence, COLUMNS[5]: moves.percent}
            result.own("rearranging takes less than {bar} % of the time of parsing",
                       measured(moves.percent, "<", 10, name, 1, "%"))  # fmt: skip
            result.own("rearranging makes fewer than {bar} moves per sentence",
                       measured(moves.a_sentence, "<", 1, name))  # fmt: skip
        figures = {"wsj": paper[:2] if len(paper) > 2 else (), "Czech": paper[-2:]}.get(name, ())
        table.add(name_of.format(row), ours, dict(zip(COLUMNS, figures, strict=False)))
    result.tables.append(table)
    for better, worse in ((SECOND, FIRST), (SECOND_ANY, FIRST_ANY), (SECOND_ANY, SECOND), (SECOND_ANY, FIRST)):
        for name_of, _ in learners:
            if (name == "wsj" and "non" in better) or name_of.format(better) not in reports:
                continue
            if name_of.format(worse) not in reports:
                continue
            one, other = reports[name_of.format(better)], reports[name_of.format(worse)]
            test = mcnemar(one.right, other.right)
            difference = 100 * (float(one.right.mean()) - float(other.right.mean()))
            where = name_of.format(name)
            result.claim(f"{better} is above {worse}", gain(difference, p=test.p, where=where))


def _graphs(options: RecipeOptions, result: RecipeResult, size: Size, name: str, sentences: int) -> None:
    treebank = treebank_of(options, name, sentences, size.test)
    gold = gold_graphs(treebank.test)
    table = Table(f"Graphs of {name}", ["P", "R", "F", "R of words with several heads"])
    rows = options.chosen(GRAPH_ROWS)
    found: Rows[Counts] = Rows({}, rows.left_out)
    changes = changed(MSTSettings, options.vary)
    for row, paper in rows.items():
        parser: MSTParser | DependencyGraphParser
        if row == SEVERAL:
            parser = train_graphs(treebank.train, size.epochs, options.seed, treebank.fields)
        else:
            parser = train_trees(treebank.train, row, size.epochs, options.seed, treebank.fields, changes)
        counts = score_graphs(parser, gold)
        found[row] = counts["edges"]
        total = counts["edges"].total()
        figures = {"P": 100 * total.precision, "R": 100 * total.recall, "F": 100 * total.f1}
        several = 100 * counts["further heads"].total().recall
        table.add(row, {**figures, table.columns[3]: several}, dict(zip("PRF", paper, strict=True)))
    table.note = "The paper's figures are for Danish."
    result.tables.append(table)
    with where_run():
        test = paired_bootstrap(found[SEVERAL], found[SECOND_ANY], "f1", 2000, options.seed)
        result.claim("several heads per word raise F1 of edges", compared(test, name))
