"""Mixing and blending syntactic and semantic dependencies (Samuelsson et al., CoNLL shared task 2008).

    tree = maximum spanning tree of the votes of eight parsers, weighed by tag;  frames = majority of three labellers

Eight deterministic parsers (arc-standard, arc-eager and Covington's two systems, in both directions) are blended into
one tree per sentence; three role labellers, two pipelines and a joint one, vote on the frames in these trees. Parsers
are trained by the averaged perceptron of the package, not by support vector machines, and tags and lemmas are gold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weft.evaluate.counts import Counts
from weft.evaluate.semantics.frames import FrameReport
from weft.evaluate.significance import paired_bootstrap
from weft.formats import read
from weft.recipes.claims import compared, gain, measured
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.semantics.blended_srl.labellers import (
    FEW,
    JOINT,
    MANY,
    VOTE,
    Labellers,
    repaired,
    repeated,
    rows_of,
    scored,
)
from weft.recipes.semantics.blended_srl.parsers import PARSERS, Blends, las, majority, parsed, train_parser
from weft.recipes.variation import Variation
from weft.tasks.roles.votes import repeated_labels
from weft.text.doc import Doc
from weft.treebanks.join_roles import join_roles

SLUG = "blended-srl"
TREES = "treebanks/ud/English-EWT/{}.conllu.gz"
ROLES = "srl/propbank-ewt/{}.tsv.gz"
FRAMES = "srl/propbank-frames/frames.tsv.gz"
SOURCE, OTHER = ("newsgroup", "weblog", "email"), ("reviews", "answers")
INSIDE, OUTSIDE = "in domain", "out of domain"
#: Labelled attachment in the paper: newspaper and Brown corpus.
PAPER = {"arc-eager, left to right": (85.22, 78.37), "LAS weights": (87.00, 80.60), "learned weights": (87.36, 80.77)}
LAS_TITLE, ROLE_TITLE = "Labelled attachment", "Semantic dependencies, {}"


@dataclass(frozen=True)
class Size:
    """Training sentences, sentences of dev and test at most, and epochs."""

    train: int = 4000
    asked: int = 1500
    portuguese: int = 2000
    epochs: int = 8
    joint_epochs: int = 5
    samples: int = 1000


QUICK = Size(300, 100, 0, 2, 2, 200)
VARIATION = Variation((Size,), tuple(PARSERS))


def web(options: RecipeOptions, part: str, genres: Sequence[str], most: int) -> list[Doc]:
    """Documents of genres of the English Web Treebank with trees and frames, up to so many sentences."""
    trees = (doc for doc in read(options.find(TREES.format(part))) if (doc.id or "").startswith(tuple(genres)))
    found, left = [], most
    for doc in join_roles(trees, read(options.find(ROLES.format(part)), "roles")).docs:
        if left > 0:
            found.append(doc.subset(range(min(left, doc.n_sentences))))
            left -= found[-1].n_sentences
    return found


def lexicon(options: RecipeOptions) -> list[tuple[str, str]]:
    """Lemmas of the rolesets of PropBank, each with `v` or `n`."""
    import gzip

    found = set()
    with gzip.open(options.find(FRAMES), "rt", encoding="utf-8") as file:
        for line in file:
            for alias in line.rstrip("\n").split("\t"):
                for each in alias.replace(",", " ").replace(";", " ").split():
                    lemma, slash, kind = each.rpartition("/")
                    if slash and kind in ("v", "n", "j", "l"):
                        found.add((lemma.replace("_", " ").lower(), "v" if kind == "v" else "n"))
    return sorted(found)


def run(options: RecipeOptions) -> RecipeResult:
    """Run the experiment."""
    size = options.varied(QUICK if options.quick else Size())
    result = RecipeResult(SLUG)
    train = web(options, "train", SOURCE, size.train)
    dev = web(options, "dev", SOURCE, size.asked)
    tests = {INSIDE: web(options, "test", SOURCE, size.asked), OUTSIDE: web(options, "test", OTHER, size.asked)}
    committee = _blends(options, result, size, train, dev, tests)
    _roles(options, result, size, train, committee, tests)
    if size.portuguese:
        _portuguese(options, result, size)
    result.notes.append(
        f"English: {sum(doc.n_sentences for doc in train):,} training sentences of newsgroups, weblogs and mail; "
        "tested on the same genres, and on reviews and answers in the part of the Brown corpus; weights from the dev "
        "file; gold tags and lemmas. Labellers learn from gold trees and read blended ones."
    )
    return result


@dataclass
class _Committee:
    """The blends, and for every test set the single parses and the blended trees."""

    blends: Blends
    parses: dict[str, list[list[Doc]]]
    trees: dict[str, dict[str, list[Doc]]]
    table: Table


def _blends(
    options: RecipeOptions, result: RecipeResult, size: Size, train: list[Doc], dev: list[Doc],
    tests: dict[str, list[Doc]],
) -> _Committee:  # fmt: skip
    table = Table(LAS_TITLE, [*tests, "sentences that are no tree"], digits={"sentences that are no tree": 0})
    names = list(options.chosen(PARSERS))
    parses: dict[str, list[list[Doc]]] = {name: [] for name in (*tests, "dev")}
    for name in names:
        parser = train_parser(train, name, size.epochs, options.seed)
        for part, docs in (*tests.items(), ("dev", dev)):
            parses[part].append(parsed(parser, docs))
    scores = {name: {part: las(tests[part], parses[part][k]) for part in tests} for k, name in enumerate(names)}
    for name, own in scores.items():
        table.add(name, _points(own), _paper(name))
    counted = {part: majority(tests[part], parses[part]) for part in tests}
    table.add("majority by word", {part: 100 * one.accuracy for part, one in counted.items()}
              | {"sentences that are no tree": sum(one.broken for one in counted.values())})  # fmt: skip
    blends = Blends.learn(dev, parses["dev"])
    trees = {part: blends.blend(parses[part]) for part in tests}
    blended = {name: {part: las(tests[part], trees[part][name]) for part in tests} for name in blends.weights}
    for name, own in blended.items():
        table.add(name, _points(own), _paper(name))
    result.tables.append(table)
    dev_scores = {name: las(dev, parses["dev"][k]).total().f1 for k, name in enumerate(names)}
    best = max(dev_scores, key=lambda name: dev_scores[name])
    gains = {}
    for part in tests:
        found = paired_bootstrap(blended["learned weights"][part], scores[best][part], samples=size.samples, seed=1)
        gains[part] = 100 * found.difference
        result.claim("the blend with learned weights is more than {bar} point above the best single parser",
                     compared(found, f"{part}, {best}", bar=1.0))  # fmt: skip
        weighed = paired_bootstrap(
            blended["learned weights"][part], blended["LAS weights"][part], samples=size.samples, seed=1
        )
        result.claim("learned weights are above LAS weights", compared(weighed, part))
    if len(gains) == 2:
        result.claim("the blend gains at least as much out of domain",
                     gain(gains[OUTSIDE] - gains[INSIDE], sense=">="))  # fmt: skip
    broken = sum(one.broken for one in counted.values())
    result.own("heads by majority of words are no tree in some sentences", measured(broken, ">", 0, digits=0))
    return _Committee(blends, parses, trees, table)


def _roles(
    options: RecipeOptions, result: RecipeResult, size: Size, train: list[Doc], committee: _Committee,
    tests: dict[str, list[Doc]],
) -> None:  # fmt: skip
    labellers = Labellers.train(train, lexicon(options), size.joint_epochs, options.seed)
    nine: dict[str, float] = {}
    for part, gold in tests.items():
        trees = committee.trees[part]["learned weights"]
        found = labellers.label(trees)
        joint, sure = labellers.joint_parses(found[JOINT])
        with_joint = las(gold, committee.blends.with_joint(committee.parses[part], joint, sure))
        nine[part] = 100 * with_joint.total().f1
        found["vote, repetitions repaired"] = repaired(found[VOTE])
        columns = ["P", "R", "F", "unlabelled F", "predicates F", "repeated labels, %", "macro F"]
        table = Table(ROLE_TITLE.format(part), columns)
        reports = {name: scored(gold, docs) for name, docs in found.items()}
        attachment = las(gold, trees).total().f1
        for name, report in reports.items():
            table.add(name, _row(report, repeated(found[name]), attachment), _paper_roles(name, part))
        twice, frames = repeated_labels(rows_of(gold))
        table.add("gold", {"repeated labels, %": 100 * twice / max(frames, 1)})
        result.tables.append(table)
        _role_claims(result, size, part, reports, repeated(found["vote, repetitions repaired"]))
    committee.table.add("learned weights, with the joint parse", nine)


def _row(report: FrameReport, twice: float, attachment: float) -> dict[str, float]:
    score = report["labelled"]
    p, r = (attachment + score.precision) / 2, (attachment + score.recall) / 2
    return {
        "P": 100 * score.precision, "R": 100 * score.recall, "F": 100 * score.f1,
        "unlabelled F": 100 * report["unlabelled"].f1, "predicates F": 100 * report["senses"].f1,
        "repeated labels, %": twice, "macro F": 100 * 2 * p * r / max(p + r, 1e-9),
    }  # fmt: skip


def _role_claims(result: RecipeResult, size: Size, part: str, reports: dict[str, FrameReport], twice: float) -> None:
    single = max((MANY, FEW, JOINT), key=lambda name: reports[name]["labelled"].f1)
    found = paired_bootstrap(
        reports[VOTE].counts["labelled"], reports[single].counts["labelled"], samples=size.samples, seed=1
    )
    result.claim("the vote is at least {bar} points of F above the best single labeller",
                 compared(found, f"{part}, {single}", sense=">=", bar=2.0))  # fmt: skip
    more = {
        name: 100 * (getattr(reports[VOTE]["labelled"], name) - getattr(reports[single]["labelled"], name))
        for name in ("precision", "recall")
    }
    result.claim("the vote raises precision more than recall",
                 measured(more["precision"] - more["recall"], ">", 0, part, unit="points"))  # fmt: skip
    result.own("no frame repeats a core label after the repair", measured(twice, "<=", 0, part, unit="%"))


def _portuguese(options: RecipeOptions, result: RecipeResult, size: Size) -> None:
    folder = "treebanks/ud/Portuguese-Bosque/{}.conllu.gz"
    train, dev, test = (
        list(read(options.find(folder.format(part))).slice_sentences(0, most))
        for part, most in (("train", size.portuguese), ("dev", size.asked), ("test", size.asked))
    )
    parsers = {name: train_parser(train, name, size.epochs, options.seed) for name in options.chosen(PARSERS)}
    on_dev = [parsed(parser, dev) for parser in parsers.values()]
    on_test = [parsed(parser, test) for parser in parsers.values()]
    table = Table("Labelled attachment, Portuguese", ["LAS"])
    scores = {name: las(test, own) for name, own in zip(parsers, on_test, strict=True)}
    blended = {name: las(test, docs) for name, docs in Blends.learn(dev, on_dev).blend(on_test).items()}
    for name, own in {**scores, **blended}.items():
        table.add(name, {"LAS": 100 * own.total().f1})
    result.tables.append(table)
    dev_scores = {name: las(dev, own).total().f1 for name, own in zip(parsers, on_dev, strict=True)}
    best = max(dev_scores, key=lambda name: dev_scores[name])
    found = paired_bootstrap(blended["learned weights"], scores[best], samples=size.samples, seed=1)
    result.claim("the blend with learned weights is more than {bar} point above the best single parser",
                 compared(found, f"Portuguese, {best}", bar=1.0))  # fmt: skip


def _points(scores: dict[str, Counts]) -> dict[str, float]:
    return {part: 100 * counts.total().f1 for part, counts in scores.items()}


def _paper(name: str) -> dict[str, float]:
    return dict(zip((INSIDE, OUTSIDE), PAPER.get(name, ()), strict=False))


def _paper_roles(name: str, part: str) -> dict[str, float]:
    figures = {(VOTE, INSIDE): 74.47, (VOTE, OUTSIDE): 60.18}
    return {"F": figures[name, part]} if (name, part) in figures else {}
