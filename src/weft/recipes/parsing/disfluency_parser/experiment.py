"""Joint incremental disfluency detection and dependency parsing (Honnibal & Johnson, TACL 2014).

    score(computation) = mean over its moves t of w . f(c, t),     moves: SHIFT, LEFT_l, RIGHT_l, REDUCE, EDIT

The systems of `weft.recipes.parsing.disfluency_parser.systems` on spoken English, French and Norwegian (UD treebanks
with reparanda) and on English sentences with generated repairs, with word clusters. Tags are predicted by a tagger
trained on the same data, jackknifed; in one row by a tagger that learns beside the parser, as in the paper.
Switchboard, on which the paper reports, is available without trees: only detectors are compared on it. The paper's
numbers are for its treebank of 619,000 words, twenty times the size of those here; the claim is the order of the
systems.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from weft.evaluate.labels.disfluency import Analysis, DisfluencyReport, analyses_of, score_analyses
from weft.evaluate.significance import rank_sum
from weft.recipes.claims import Figure, gain, mean_of, measured
from weft.recipes.corpora.parsing import copy_of
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.parsing.disfluency_parser.data import (
    ENGLISH,
    FRENCH,
    NORWEGIAN,
    SWITCHBOARD,
    clusters_of,
    note_clusters,
    retag,
    spoken_english,
    transcripts,
)
from weft.recipes.parsing.disfluency_parser.systems import (
    DETECTOR,
    PLAIN_DETECTOR,
    cleaned,
    detect,
    parse_jointly,
    parse_rest,
    struck_in,
    train_detector,
    train_joint,
    train_plain,
)
from weft.recipes.variation import Variation
from weft.tasks.speech.features import PLAIN, WITH_EDIT, WITH_LABELS
from weft.tasks.speech.generated import with_repairs
from weft.tasks.speech.switchboard import read_switchboard
from weft.text.conventions.repairs import LAYER
from weft.text.conventions.repairs import runs as runs_of
from weft.text.doc import Doc

SLUG = "disfluency-parser"
COLUMNS = ["P", "R", "F", "UAS", "LAS"]
REPAIRS = ["words", "reparanda", "words in them", "% of words", "% said again"]
BASELINE, FEATURES, EDIT, BY_SUM = "baseline joint", "+ features", "+ edit", "+ edit, ranked by sums"
TAGGER = "+ edit, tagger beside it"
PIPELINE, ORACLE = "pipeline (CRF)", "oracle pipeline"
#: Joint systems: templates, whether they have Edit, whether the beam ranks by mean score.
JOINT = {
    BASELINE: (PLAIN, False, True),
    FEATURES: (WITH_LABELS, False, True),
    EDIT: (WITH_EDIT, True, True),
    BY_SUM: (WITH_EDIT, True, False),
}
#: The paper's figures, on the development part of the Switchboard treebank.
PAPER = {
    BASELINE: (79.4, 70.1, 74.5, 89.9, 86.9),
    FEATURES: (86.0, 77.2, 81.3, 90.5, 87.5),
    EDIT: (92.2, 80.2, 85.8, 90.9, 87.9),
    ORACLE: (100.0, 100.0, 100.0, 91.7, 88.6),
}
TREEBANKS = {"French": FRENCH, "Norwegian": NORWEGIAN}


@dataclass(frozen=True)
class Size:
    """The size of the experiment; the paper uses beam 32, 15 epochs, 20 seeds."""

    data: tuple[str, ...] = ("English", "French", "Norwegian", "generated")
    sentences: int = 1000  # of every training set at most; 0: all
    test_sentences: int = 600
    longest: int = 14  # longer sentences (in words) are excluded from generated data
    beam: int = 8
    epochs: int = 3
    seeds: int = 5
    folds: int = 2  # of the tagger
    clusters: int = 100  # of words; none for 0


FULL = Size(sentences=0, test_sentences=0, longest=1000, beam=32, epochs=15, folds=5)
QUICK = Size(
    ("generated",), sentences=250, test_sentences=120, longest=15, beam=4, epochs=3, seeds=1, folds=2, clusters=0
)


@dataclass
class Runs:
    """Reports of one system on one data set, one per seed, its words per CPU second, and the tags that it predicts."""

    reports: list[DisfluencyReport] = field(default_factory=list)
    speed: list[float] = field(default_factory=list)
    tags: list[list[str]] = field(default_factory=list)  # of a tagger beside the parser

    def values(self, column: str) -> list[float]:
        return [100 * report.as_dict()[column] for report in self.reports]

    def mean(self, column: str) -> float:
        return float(np.mean(self.values(column)))


VARIATION = Variation((Size,))


def run(options: RecipeOptions) -> RecipeResult:
    """The experiment in its reduced form: see `Size`. `FULL` is the paper's."""
    return run_size(options, options.varied(QUICK if options.quick else Size()))


def run_size(options: RecipeOptions, size: Size) -> RecipeResult:
    """The experiment at a given size."""
    result = RecipeResult(SLUG)
    repairs = Table("Repairs of the training data", REPAIRS, digits=dict.fromkeys(REPAIRS[:3], 0))
    for name in size.data:
        train, test = material(options, name, size)
        repairs.add(name, repairs_of(train, struck_in(train)))
        paths: dict[str, str] = {}
        if size.clusters:
            paths = clusters_of(options, name, size.clusters)
            note_clusters([*train, *test], paths)
        gold = [[copy_of(doc) for doc in docs] for docs in (train, test)]
        retag(train, [test], size.folds)
        found = compare(train, test, size, options.seed, paths, gold[0])
        _tags(result, name, gold[1], test, found)
        _report(result, name, found, size, sum(doc.n_words for doc in train))
    _detection(options, result, size, repairs)
    result.tables.append(repairs)
    result.notes.append(
        f"At most {size.sentences or 'all'} training sentences a data set, beam {size.beam}, {size.epochs} epochs, "
        f"{size.seeds} seeds; the paper: 619,236 words, beam 32, 15 epochs, 20 seeds. Predicted tags (perceptron, "
        f"{size.folds} folds). "
        + (f"With {size.clusters} word clusters of training files." if size.clusters else "Without word clusters.")
    )
    return result


def material(options: RecipeOptions, name: str, size: Size) -> tuple[list[Doc], list[Doc]]:
    """Training and test transcripts of a data set."""
    if name == "English":
        # The test file has 34 reparanda; nothing is chosen on the dev file.
        asked = [doc for part in ("dev", "test") for doc in spoken_english(options, part, size.test_sentences)]
        return spoken_english(options, "train", size.sentences), asked
    if name in TREEBANKS:
        files = TREEBANKS[name]
        train = transcripts(options, files, "train", size.sentences // len(files))
        return train, transcripts(options, files, "test", size.test_sentences // len(files))
    made = []
    for part, limit in (("train", size.sentences), ("test", size.test_sentences)):
        docs = [_between(doc, 3, size.longest, limit) for doc in transcripts(options, ENGLISH, part)]
        made.append([with_repairs(doc, seed=options.seed + (part == "test")) for doc in docs])
    return made[0], made[1]


def _between(doc: Doc, fewest: int, most: int, limit: int) -> Doc:
    """The first sentences up to a length, all for 0."""
    lengths = [end - first for first, end in pairwise(doc.sentence_offsets.tolist())]
    chosen = [number for number, length in enumerate(lengths) if fewest <= length <= most]
    return doc.subset(chosen[:limit] if limit else chosen)


def repairs_of(docs: Sequence[Doc], struck: Sequence[Sequence[bool]]) -> dict[str, float]:
    """How many reparanda there are, and how many begin with the word that follows them or the one after it.

    >>> doc = Doc.from_words([["the", "red", "the", "blue", "square"], ["go", "stop"]])
    >>> list(repairs_of([doc], [[True, True, False, False, False, True, False]]).values())
    [7, 2, 3, 42.857142857142854, 50.0]
    """
    words = sum(doc.n_words for doc in docs)
    reparanda, again, inside = 0, 0, 0
    for doc, out in zip(docs, struck, strict=True):
        forms = doc.column("form")
        for first, end in pairwise(doc.sentence_offsets.tolist()):
            for start, stop, _ in runs_of(out[first:end], first):
                reparanda, inside = reparanda + 1, inside + stop - start
                again += forms[start] in forms[stop : min(stop + 2, end)]
    shares = 100 * inside / max(1, words), 100 * again / max(1, reparanda)
    return dict(zip(REPAIRS, (words, reparanda, inside, *shares), strict=True))


def compare(
    train: Sequence[Doc],
    test: Sequence[Doc],
    size: Size,
    first_seed: int,
    clusters: Mapping[str, str],
    tagged: Sequence[Doc],
) -> dict[str, Runs]:
    """All systems on one data set; `tagged` are the training sentences with gold tags."""
    gold = analyses_of(test)
    words = sum(doc.n_words for doc in test)
    found = {name: Runs() for name in (*JOINT, TAGGER, PIPELINE, ORACLE)}

    def note(name: str, analyses: Sequence[Analysis], started: float) -> None:
        found[name].speed.append(words / (time.process_time() - started))
        found[name].reports.append(score_analyses(gold, analyses))

    clean, struck = cleaned(train), struck_in(train)
    detector = train_detector(train, struck)
    for seed in range(first_seed, first_seed + size.seeds):
        for name, (templates, edit, by_mean) in JOINT.items():
            joint = train_joint(train, templates, size.beam, size.epochs, seed, edit, by_mean, clusters)
            started = time.process_time()
            note(name, parse_jointly(joint, test), started)
        joint = train_joint(tagged, WITH_EDIT, size.beam, size.epochs, seed, clusters=clusters, tagger=True)
        started = time.process_time()
        note(TAGGER, parse_jointly(joint, test), started)
        assert joint.tagger is not None
        found[TAGGER].tags.append([tag for doc in test for tag in joint.tagger.tagged(doc).column("upos")])
        parser = train_plain(clean, PLAIN, size.beam, size.epochs, seed)
        for name in (PIPELINE, ORACLE):
            started = time.process_time()
            out = detect(detector, test) if name == PIPELINE else struck_in(test)
            note(name, parse_rest(parser, test, out), started)
    return found


def _report(result: RecipeResult, name: str, found: dict[str, Runs], size: Size, words: int) -> None:
    table = Table(f"{name}, {words:,} training words, mean of {size.seeds} seeds", [*COLUMNS, "words/s"])
    table.digits = {"words/s": 0}
    for system, runs in found.items():
        ours = {column: runs.mean(column) for column in COLUMNS}
        paper = dict(zip(COLUMNS, PAPER.get(system, ()), strict=False))
        table.add(system, {**ours, "words/s": float(np.mean(runs.speed))}, paper)
    table.note = "The paper's figures are for the Switchboard treebank, which is not at hand."
    result.tables.append(table)

    def more(better: str, worse: str, column: str, **options: Any) -> Figure:
        values = [found[system].values(column) for system in (better, worse)]
        p = rank_sum(*values) if size.seeds > 1 else None
        return gain(float(np.mean(values[0]) - np.mean(values[1])), p=p, where=f"{name}, {better}", **options)

    result.claim("F rises from the baseline to + features to + edit", more(FEATURES, BASELINE, "F"),
                 more(EDIT, FEATURES, "F"))  # fmt: skip
    result.claim("F of + edit is at least {bar} above that of the baseline", more(EDIT, BASELINE, "F", bar=5))
    result.claim("UAS of + edit is above that of the pipeline", more(EDIT, PIPELINE, "UAS"))
    result.claim("UAS of + edit is below that of the oracle pipeline", more(EDIT, ORACLE, "UAS", sense="<"))
    result.claim("ranking by means is above ranking by sums in F", more(EDIT, BY_SUM, "F"))
    if size.seeds > 1:
        uas = zip(found[EDIT].values("UAS"), found[TAGGER].values("UAS"), strict=True)
        lost = {f"seed {seed}": edit - tagger for seed, (edit, tagger) in enumerate(uas)}
        result.claim("a tagger that learns beside the parser costs less than {bar} UAS against jackknifed tags",
                     mean_of(lost, name, "<", 0.5))  # fmt: skip
    if size.seeds > 1:
        tests = Table(f"{name}, Wilcoxon rank-sum test over seeds, p", ["F", "UAS"], digits={"F": 4, "UAS": 4})
        for better, worse in (
            (FEATURES, BASELINE), (EDIT, FEATURES), (EDIT, PIPELINE), (EDIT, BY_SUM), (TAGGER, EDIT),
        ):  # fmt: skip
            pairs = {column: (found[better].values(column), found[worse].values(column)) for column in ("F", "UAS")}
            tests.add(f"{better} against {worse}", {column: rank_sum(*pair) for column, pair in pairs.items()})
        least = 2 / _ways(size.seeds)
        tests.note = f"Two-sided and exact; {size.seeds} seeds against {size.seeds} cannot give less than {least:.3f}."
        result.tables.append(tests)


def _tags(result: RecipeResult, name: str, gold: Sequence[Doc], test: Sequence[Doc], found: dict[str, Runs]) -> None:
    """Add the accuracy of both taggers on a data set."""
    title = "Tags of the test sentences that are right"
    table = next((each for each in result.tables if each.title == title), None)
    if table is None:
        table = Table(title, ["jackknifed tagger", "tagger beside the parser"])
        result.tables.append(table)
    right, guess = ([tag for doc in docs for tag in doc.column("upos")] for docs in (gold, test))
    beside = [100 * float(np.mean(np.array(tags) == np.array(right))) for tags in found[TAGGER].tags]
    apart = 100 * float(np.mean(np.array(guess) == np.array(right)))
    table.add(name, {"jackknifed tagger": apart, "tagger beside the parser": float(np.mean(beside))})


def _ways(seeds: int) -> int:
    from math import comb

    return comb(2 * seeds, seeds)


def _detection(options: RecipeOptions, result: RecipeResult, size: Size, repairs: Table) -> None:
    """The pipelines' detectors on Switchboard, with its own tags."""
    train, test = (read_switchboard(options.find(path)) for path in SWITCHBOARD)
    repairs.add("Switchboard", repairs_of([train], [spoken(train)]))
    if size.sentences:
        train = train.subset(list(range(min(train.n_sentences, 4 * size.sentences))))
    table = Table(f"Switchboard, words struck out by detectors, {train.n_words:,} training words", ["P", "R", "F"])
    scores = {}
    for name, templates in (("CRF, words and tags", PLAIN_DETECTOR), ("CRF with rough copies", DETECTOR)):
        detector = train_detector([train], [spoken(train)], templates)
        guess = np.array(detect(detector, [test])[0])
        gold = np.array(spoken(test))
        right = int((guess & gold).sum())
        precision, recall = right / max(1, int(guess.sum())), right / int(gold.sum())
        scores[name] = 200 * precision * recall / max(1e-9, precision + recall)
        table.add(name, {"P": 100 * precision, "R": 100 * recall, "F": scores[name]})
    table.note = (
        "In the paper, with 1,482,845 training words and other test files, a noisy channel (Johnson & Charniak 2004) "
        "has 82.1 and cascaded taggers (Qian & Liu 2013) 83.9."
    )
    result.tables.append(table)
    plain, copies = scores.values()
    result.own("Switchboard: rough copies raise F of the detector", measured(copies - plain, ">", 0))


def spoken(doc: Doc) -> list[bool]:
    """For every word, whether it is in a reparandum span."""
    out = [False] * doc.n_words
    for pieces, _ in doc.spans[LAYER]:
        for word in range(*pieces[0]):
            out[word] = True
    return out
