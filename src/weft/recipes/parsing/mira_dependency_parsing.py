"""Online large-margin training of dependency parsers (McDonald, Crammer and Pereira, ACL 2005).

    y* = argmax over projective trees y of  sum over arcs (h, m) of y of  w . f(h, m)
    w <- the nearest weights with  s(x, y) - s(x, y') >= loss(y, y')  for the k best y'

with the paper's features: words and tags of head and modifier, tags between and around them, five-character prefixes,
all also combined with direction and distance. Rows: the averaged perceptron, MIRA with k = 1 and 5, constraints on
single heads (factored), final instead of averaged weights, feature ablations, and a parser that also sees the heads of
a transition-based one (stacked). The Penn and Prague treebanks are not available: the newspaper sample has the same
kind of trees at a thirteenth of the size, and Czech comes from the dev file of FicTree.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.evaluate.significance import mcnemar
from weft.evaluate.trees.attachment import TreeReport, evaluate_trees
from weft.infer.trees.arcs import all_arcs
from weft.infer.trees.projective import ProjectiveTrees
from weft.learn.trees.features import TreeWords
from weft.recipes.claims import gain, measured
from weft.recipes.corpora.parsing import PUNCTUATION, Treebank, copy_of, small_ud, ud, with_predicted_tags, wsj
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.record import Cost, cpu_seconds
from weft.recipes.variation import Rows, Variation, changed, where_run
from weft.tasks.parsing.guides import KEY, jackknife_guide, note_guide
from weft.tasks.parsing.mst.features import AROUND, BETWEEN, GUIDED, WORDS
from weft.tasks.parsing.mst.parser import MSTParser
from weft.tasks.parsing.mst.settings import MSTSettings
from weft.tasks.parsing.transitions.parser import Parser, ParserSettings
from weft.text.doc import Doc

SLUG = "mira-dependency-parsing"
#: All word templates repeated with the first five characters.
PREFIXES = WORDS.replace("w", "p")
#: Parts of the feature set that rows omit.
PARTS = {"between": BETWEEN, "around": AROUND}
#: Rows: parser settings, omitted templates, and the paper's results for English and Czech.
ROWS: dict[str, tuple[dict[str, Any], tuple[str, ...], tuple[float, ...]]] = {
    "averaged perceptron": ({"learner": "perceptron"}, (), (90.6, 94.0, 36.5, 82.9, 88.0, 30.3)),
    "MIRA k = 1": ({"k": 1}, (), (90.73,)),
    "MIRA k = 5": ({"k": 5}, (), (90.9, 94.2, 37.5, 83.3, 88.6, 31.3)),
    "MIRA factored": ({"constraints": "heads", "k": 2, "cap": 0.1}, (), ()),
    "last weights": ({"k": 5, "average": False}, (), ()),
    "without in-between": ({"k": 5}, ("between",), ()),
    "without surrounding": ({"k": 5}, ("around",), ()),
    "without both": ({"k": 5}, ("between", "around"), ()),
}
PERCEPTRON, SINGLE, FIVE = list(ROWS)[:3]
GUIDE, STACKED = "arc-eager, dynamic oracle", "stacked on it"
#: The paper's parser was stacked on the Collins parser: 91.4 alone, 92.2 together.
STACKED_PAPER = {GUIDE: (91.4, 95.1, 42.6), STACKED: (92.2, 95.8, 42.9)}
#: Parts of the experiment beside the rows.
PARTS_OF_IT = BY_K, BY_CROSSINGS, BY_LENGTH = "MIRA by k", "crossing trees", "time by length"
MEASURES = ["UAS", "Root", "Complete"]
TREEBANKS = {"wsj": "newspaper sample", "eng": "English-EWT", "cze": "Czech-FicTree", "por": "Portuguese-Bosque"}
CROSSING = {"got": "Gothic-PROIEL", "bas": "Basque-BDT"}
PAPER_K = {1: (90.73, 183.0), 2: (90.82, 235.0), 5: (90.88, 627.0), 10: (90.92, 1372.0), 20: (90.91, 2491.0)}


@dataclass(frozen=True)
class Size:
    """The size of the experiment, in sentences; the paper uses 39,832 for English, and 10 epochs."""

    treebanks: tuple[str, ...] = ("wsj", "cze", "por")
    sentences: int = 1000  # of every training part at most
    test_sentences: int = 500
    epochs: int = 5
    seeds: int = 1
    folds: int = 3  # of tags and guides
    ks: tuple[int, ...] = (1, 2, 5, 10, 20)
    crossing: tuple[str, ...] = tuple(CROSSING)
    crossing_sentences: int = 1500
    lengths: tuple[int, ...] = (50, 100, 200, 400)


FULL = Size(
    tuple(TREEBANKS), sentences=3000, test_sentences=1300, epochs=10, seeds=3, folds=10, crossing_sentences=3000
)
QUICK = Size(("wsj",), 150, 100, 2, 1, 2, (1, 5), (), 100, (50, 100))
VARIATION = Variation((MSTSettings, Size), (*ROWS, GUIDE, STACKED, *PARTS_OF_IT))


@dataclass
class Row:
    """Reports of one row on one treebank, one per seed, and the training cost."""

    reports: list[TreeReport] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def mean(self, measure: str) -> float:
        return float(np.mean([report.scores[measure] for report in self.reports]))

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether heads are correct, all seeds one after the other."""
        return np.concatenate([report.right for report in self.reports])


def templates(without: Sequence[str] = (), guided: bool = False) -> str:
    """The paper's templates, without some parts.

    >>> "b.t" in templates(["between"]), "a.1" in templates(guided=True)
    (False, True)
    """
    kept = [text for name, text in PARTS.items() if name not in without]
    return "arc: " + WORDS + PREFIXES + "".join(kept) + (GUIDED if guided else "")


def learn(
    treebank: Treebank,
    epochs: int,
    seed: int = 0,
    without: Sequence[str] = (),
    changes: Mapping[str, Any] | None = None,
    **options: Any,
) -> MSTParser:
    """A first-order parser with the paper's features, several roots allowed, no arc pruning."""
    options = {"constraints": "trees", "cap": 0.0, **options}
    settings = MSTSettings(
        system="mst1", epochs=epochs, seed=seed, threshold=0.0, relations="none", morphology=False, single_root=False,
        templates=templates(without, bool(options.get("guide"))),
        fields={"w": "form.lower", "t": treebank.column, "p": "form.prefix5"}, **options,
    )  # fmt: skip
    parser = MSTParser(replace(settings, **(changes or {})))
    parser.fit(treebank.train)
    return parser


def report_on(parser: Any, treebank: Treebank) -> TreeReport:
    """A parser's results on the test documents; the treebank decides whether punctuation counts."""
    system = [copy_of(doc) for doc in treebank.test]
    parser(system)
    return evaluate_trees(treebank.test, system, None if treebank.punctuation else counted)


def counted(doc: Doc) -> NDArray[np.bool_]:
    """The words of the newspaper sample that their tags do not mark as punctuation."""
    return np.array([tag not in PUNCTUATION for tag in doc.column("xpos")], dtype=np.bool_)


def guide_of(treebank: Treebank, epochs: int, seed: int = 0) -> Any:
    """A function that trains a greedy parser with the dynamic oracle on documents."""

    def train(docs: list[Doc]) -> Parser:
        fields = dict(treebank.fields)
        parser = Parser(ParserSettings(system="arc-eager", epochs=epochs, seed=seed, fields=fields))
        parser.fit(docs)
        return parser

    return train


def with_guide(treebank: Treebank, epochs: int, folds: int, seed: int = 0) -> tuple[Treebank, Parser]:
    """The treebank with a greedy parser's heads in MISC, jackknifed for training; and that parser."""
    train = guide_of(treebank, epochs, seed)
    learned = jackknife_guide(treebank.train, train, folds)
    guide = train(treebank.train)
    asked = [copy_of(doc) for doc in treebank.test]
    note_guide(asked, guide)
    return replace(treebank, train=learned, test=asked), guide


def treebank_of(options: RecipeOptions, code: str, size: Size) -> Treebank:
    """The treebank of a column: predicted tags on the newspaper sample, gold tags elsewhere, Czech ones reduced."""
    if code == "wsj":
        whole = wsj(options, size.sentences, 1, size.test_sentences)
        return with_predicted_tags(whole, size.folds, options.seed)[0]
    if code == "cze":
        found = small_ud(options, TREEBANKS[code], min(size.sentences, 1178), size.test_sentences)
        return replace(found, fields={**found.fields, "t": "xpos.poscase"})
    name = {**TREEBANKS, **CROSSING}.get(code, code)
    return ud(options, name, size.crossing_sentences if code in CROSSING else size.sentences, 1, size.test_sentences)


def run(options: RecipeOptions) -> RecipeResult:
    """The experiment in its reduced form: see `Size`. `FULL` is closer to the paper's."""
    return run_size(options, options.varied(QUICK if options.quick else Size()))


def run_size(options: RecipeOptions, size: Size) -> RecipeResult:
    """The experiment at a given size."""
    result = RecipeResult(SLUG)
    found: dict[str, Rows[Row]] = {}
    changes = changed(MSTSettings, options.vary)
    seeds = range(options.seed, options.seed + size.seeds)
    for code in size.treebanks:
        treebank = treebank_of(options, code, size)
        rows = found[code] = options.chosen(dict.fromkeys((*ROWS, GUIDE, STACKED))).map(lambda _: Row())
        for seed in seeds:
            for name, (settings, without, _) in options.chosen(ROWS).items():
                _add(rows[name], treebank, size.epochs, seed, without, changes, **settings)
            if options.wants(GUIDE) or options.wants(STACKED):
                guided, guide = with_guide(treebank, size.epochs, size.folds, seed)
                with where_run():
                    rows[GUIDE].reports.append(report_on(guide, treebank))
                with where_run():
                    _add(rows[STACKED], guided, size.epochs, seed, (), changes, k=5, guide=KEY)
        if code == "wsj" and options.wants(BY_K):
            known = {k: rows[name] for k, name in ((1, SINGLE), (5, FIVE)) if name in rows}
            _table_of_k(result, treebank, size, known, options.seed, changes)
    _tables(result, size, found)
    _claims(result, size, found)
    if size.crossing and options.wants(BY_CROSSINGS):
        _table_of_crossings(options, result, size)
    if options.wants(BY_LENGTH):
        _table_of_growth(result, size)
    result.notes.append(
        f"At most {size.sentences} training and {size.test_sentences} test sentences a treebank (the paper: 39,832), "
        f"{size.epochs} epochs, {size.seeds} seed(s). Tags of a jackknifed tagger and no punctuation on the newspaper "
        "sample; gold tags and all words elsewhere."
    )
    return result


def _add(
    row: Row,
    treebank: Treebank,
    epochs: int,
    seed: int,
    without: Sequence[str] = (),
    changes: Mapping[str, Any] | None = None,
    **options: Any,
) -> None:
    started = time.process_time()
    parser = learn(treebank, epochs, seed, without, changes, **options)
    row.seconds.append(time.process_time() - started)
    row.reports.append(report_on(parser, treebank))


def _tables(result: RecipeResult, size: Size, found: dict[str, Rows[Row]]) -> None:
    columns = [f"{code} {measure}" for code in size.treebanks for measure in MEASURES]
    table = Table(f"Heads, roots and complete sentences, mean of {size.seeds} seed(s)", columns)
    for name in next(iter(found.values())):
        paper = ROWS[name][2] if name in ROWS else STACKED_PAPER[name]
        published = dict(
            zip((f"{code} {measure}" for code in ("wsj", "cze") for measure in MEASURES), paper, strict=False)
        )
        table.add(
            name,
            {f"{code} {measure}": found[code][name].mean(measure) for code in size.treebanks for measure in MEASURES},
            {column: figure for column, figure in published.items() if column in columns},
        )
    table.note = (
        "UAS without punctuation on wsj, with it elsewhere. The paper's figures are those of the Penn and Prague "
        "treebanks; it stacks on the Collins parser."
    )
    result.tables.append(table)


def _claims(result: RecipeResult, size: Size, found: dict[str, Rows[Row]]) -> None:
    large = size.sentences >= 300

    def claim(text: str, one: str, other: str, required: bool = False, bar: float = 0.0) -> None:
        if any(not {one, other} <= rows.keys() for rows in found.values()):
            return
        gains = {code: found[code][one].mean("UAS") - found[code][other].mean("UAS") for code in size.treebanks}
        words = [np.concatenate([found[code][name].right for code in size.treebanks]) for name in (one, other)]
        each = ", ".join(f"{code} {value:+.2f}" for code, value in gains.items())
        difference = gain(float(np.mean(list(gains.values()))), p=mcnemar(*words).p, bar=bar)
        result.claim(text, difference, required=required, note=f"{each}; McNemar on all heads")

    claim("MIRA with k = 5 is above k = 1", FIVE, SINGLE)
    claim("MIRA with k = 5 is above the perceptron", FIVE, PERCEPTRON)
    claim("factored MIRA is above k = 5", "MIRA factored", FIVE)
    claim("averaged weights are better than the last ones", FIVE, "last weights", large)
    claim("in-between features help", FIVE, "without in-between")
    claim("surrounding features help", FIVE, "without surrounding")
    claim("without both kinds of features more than {bar} point is lost", FIVE, "without both", large, 1.0)
    claim("the stacked parser is above the same parser alone", STACKED, FIVE, large)
    claim("the stacked parser is above its guide", STACKED, GUIDE, large)


def _table_of_k(
    result: RecipeResult,
    treebank: Treebank,
    size: Size,
    known: dict[int, Row],
    seed: int,
    changes: Mapping[str, Any],
) -> None:
    table = Table("MIRA by k on the newspaper sample", ["UAS", "seconds"], digits={"seconds": 1})
    uas: dict[int, float] = {}
    seconds: dict[int, float] = {}
    rows: dict[int, Row] = {}
    for k in size.ks:
        row = rows[k] = known.get(k, Row())
        if not row.reports:
            _add(row, treebank, size.epochs, seed, (), changes, k=k)
        uas[k], seconds[k] = row.mean("UAS"), float(np.mean(row.seconds))
        paper = {"UAS": PAPER_K[k][0], "seconds": 60 * PAPER_K[k][1]} if k in PAPER_K else {}
        table.add(f"k = {k}", {"UAS": uas[k], "seconds": seconds[k]}, paper)
    table.note = "Seconds of processor time in training; the paper's are those of a machine of 2005 on all sentences."
    result.tables.append(table)
    if {1, 10, 20} <= set(size.ks):
        more = gain(uas[20] - uas[10], p=mcnemar(rows[20].right, rows[10].right).p, where="k = 20 over k = 10")
        result.claim("k above 10 does not help", replace(more, sense="<="), rule="unopposed")
        ratio = (seconds[20] - seconds[10]) / (10 * max(1e-9, (seconds[10] - seconds[1]) / 9))
        where = "cost of a further tree from 10 to 20, times that from 1 to 10"
        result.own("time grows at most linearly with k, to a factor of {bar}", measured(ratio, "<", 2, where),
                   required=False)  # fmt: skip


def crossings(
    options: RecipeOptions, code: str, size: Size, ways: Sequence[str] = ("keep", "lift", "reorder", "skip")
) -> dict[str, TreeReport]:
    """Test a projective parser by the treatment of crossing training trees."""
    treebank = treebank_of(options, code, size)
    return {way: report_on(learn(treebank, size.epochs, options.seed, crossings=way), treebank) for way in ways}


def _table_of_crossings(options: RecipeOptions, result: RecipeResult, size: Size) -> None:
    table = Table("UAS by what is done with training trees that cross (k = 1)", ["keep", "lift", "reorder", "skip"])
    table.note = "keep: learned from as they are, though no projective parser can find them. Paper (Czech): 83.3, 83.6."
    for code in size.crossing:
        reports = crossings(options, code, size)
        found = {way: report.scores["UAS"] for way, report in reports.items()}
        table.add(CROSSING[code], found)
        for way in ("lift", "reorder"):
            p = mcnemar(reports[way].right, reports["keep"].right).p
            better = gain(found[way] - found["keep"], p=p, where=f"{CROSSING[code]}, {way}")
            result.claim("projective training trees are better than crossing ones", better)
    result.tables.append(table)


@dataclass(frozen=True)
class Growth:
    """Seconds per sentence by length, and the slope of their logarithms over the upper half."""

    lengths: tuple[int, ...]
    features: tuple[float, ...]
    chart: tuple[float, ...]

    def slope(self, name: str) -> float:
        half = len(self.lengths) // 2 - 1
        seconds = getattr(self, name)[half:]
        return float(np.polyfit(np.log(self.lengths[half:]), np.log(seconds), 1)[0])


def growth(lengths: Sequence[int], rounds: int = 3, cost: Cost = cpu_seconds) -> Growth:
    """Time (or another cost) of features and of the chart on sentences of random words; the best of several rounds."""
    from weft.features.tree_templates import compile_tree_templates
    from weft.learn.trees.model import TreeModel

    rng = np.random.default_rng(0)
    program = compile_tree_templates(templates(["between"]), ["w", "t", "p"])
    model = TreeModel(program, single_root=False, bits=18)
    weights = rng.normal(size=model.size).astype(np.float32)
    times: dict[str, list[float]] = {"features": [], "chart": []}
    for n in lengths:
        values = rng.integers(1, 50, (n + 1, 3)).astype(np.uint64)
        words = TreeWords(values, np.zeros(n + 2, np.int64), np.zeros(0, np.uint64))
        space = all_arcs([0, n])
        scores = model.scores(space, words, weights).arc
        ProjectiveTrees(space, scores).best()
        for name, work in (
            ("features", lambda: model.scores(space, words, weights)),  # noqa: B023
            ("chart", lambda: ProjectiveTrees(space, scores).best()),  # noqa: B023
        ):
            times[name].append(min(cost(work) for _ in range(rounds)))
    return Growth(tuple(lengths), tuple(times["features"]), tuple(times["chart"]))


def _table_of_growth(result: RecipeResult, size: Size) -> None:
    found = growth(size.lengths)
    columns = [str(n) for n in size.lengths]
    table = Table("Milliseconds a sentence by its length", [*columns, "slope"])
    for name in ("features", "chart"):
        seconds = getattr(found, name)
        cells = {column: 1000 * each for column, each in zip(columns, seconds, strict=True)}
        table.add(name, {**cells, "slope": found.slope(name)})
    table.note = "Slope of the logarithms, from the second quarter of the lengths on: features n^2, chart n^3."
    result.tables.append(table)
