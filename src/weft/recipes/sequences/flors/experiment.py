"""FLORS: fast and simple domain adaptation for part-of-speech tagging (Schnabel and Schütze, TACL 2014).

A tagger is trained on newspaper text and applied to the web. Word identity is not a feature: a word is represented only
by the distribution of its neighbours, its suffixes and its shapes in all available text, including raw target text;
every tag is a linear support vector machine over a window of five words. It is compared with taggers that use word
identity: a trigram HMM, a left-to-right support vector machine, a perceptron and Weft's own tagger.

    newspaper -> genres of the web     accuracy on all words, on unknown words, on known words with an unseen tag
    genres -> another genre            the same within one treebank
    ablations                          every switch of the paper, on dev text
    words under new names              what remains when a third of the words are renamed
    streaming                          raw text before training, while tagging, or never
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from weft.evaluate.counts import Counts
from weft.evaluate.domains.tag_shift import DomainReport
from weft.evaluate.significance import confidence_interval, mcnemar
from weft.pipeline.component import Component
from weft.recipes.claims import gain, measured, of_scores
from weft.recipes.corpora import adaptation as material
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.sequences.flors.systems import (
    ABLATIONS,
    BASELINES,
    ENDING,
    Texts,
    baseline,
    flors,
    renamed_types,
    tried,
    with_names,
)
from weft.text.doc import Doc
from weft.training.scores import bare

SLUG = "flors"
GENRES = material.GENRES
COLUMNS = [*GENRES, "newspaper"]
#: Labelled newspaper sentences in the main table.
LEARN = 3_500
#: The paper's test accuracy: all words, unknown ones; newsgroups, reviews, weblogs, answers, emails, newspaper.
PAPER: dict[str, tuple[Sequence[float], Sequence[float]]] = {
    "TnT": ((90.85, 89.67, 91.37, 89.36, 87.38, 96.57), (56.60, 50.98, 62.65, 51.82, 55.12, 86.27)),
    "Stanford": ((91.25, 90.30, 92.32, 89.74, 87.77, 97.43), (57.96, 51.87, 67.85, 53.41, 57.10, 88.71)),
    "SVMTool": ((91.21, 90.01, 92.05, 89.90, 87.74, 97.26), (54.40, 45.05, 63.59, 51.07, 53.23, 86.47)),
    "C&P": ((91.68, 90.42, 92.22, 89.90, 87.91, 97.44), (60.58, 51.12, 66.91, 53.31, 54.47, 88.20)),
    "FLORS": ((92.41, 92.25, 93.14, 91.17, 88.67, 97.11), (66.91, 70.87, 75.32, 67.93, 61.09, 87.79)),
}
#: Prefixes of open-class tags: nouns, verbs, adjectives and adverbs.
OPEN = ("NN", "VB", "JJ", "RB")
MEASURES = {"all": "all words", "unknown": "unknown words", "unseen": "known words with a tag that they never had"}


def run(options: RecipeOptions) -> RecipeResult:
    """Run all measurements."""
    result = RecipeResult(SLUG)
    result.notes.append(
        f"The source is {LEARN:,} sentences of the Wall Street Journal (the paper has 39,000), its raw text the "
        "words of CoNLL-2000 and agency news of CoNLL-2003 (258,000 and 204,000; the paper has 100,000 sentences). "
        "Raw text of the web is the words of the training file of English-EWT (200,000, all genres) and Blitzer's "
        "product reviews (1.2 million): one tagger serves all genres. Tests are the genres of English-EWT, 3,800 to "
        "6,100 words each, and 414 sentences of news. The perceptron and Weft's own tagger stand where the paper has "
        "Stanford's and Choi and Palmer's taggers."
    )
    _newspaper_to_web(options, result)
    _genres(options, result)
    _ablations(options, result)
    _names(options, result)
    _streaming(options, result)
    if not options.quick:
        _other_targets(options, result)
    return result


def texts_of(options: RecipeOptions, source: Doc, targets: Sequence[str], raw_words: int | None) -> Texts:
    """The training data of a tagger for some genres; Blitzer's reviews if reviews are among them.

    Agency news is raw source text: the paper counts ten times as much newspaper text as CoNLL-2000 has.
    """
    raw = [words for genre in targets for words in material.sentences_of(material.web(options, genre, "train"))]
    if "reviews" in targets:
        raw += material.review_words(options, raw_words)
    return Texts(source, raw, material.newspaper_words(options) + material.agency_words(options))


def _newspaper_to_web(options: RecipeOptions, result: RecipeResult) -> None:
    genres = ("reviews",) if options.quick else GENRES
    source = material.newspaper(options, 0, 300 if options.quick else LEARN)
    tests = {genre: material.web(options, genre, "test") for genre in genres}
    tests["newspaper"] = material.newspaper(options, material.LEARN)
    systems = {name: baseline(name, source) for name in BASELINES}
    reports: dict[str, dict[str, DomainReport]] = {
        name: {column: tried(tagger, source, test) for column, test in tests.items()}
        for name, tagger in systems.items()
    }
    tagger = flors(texts_of(options, source, GENRES, 60_000 if options.quick else None))
    reports["FLORS"] = {column: tried(tagger, source, test) for column, test in tests.items()}
    speed = min(_speed(tagger, test) for test in tests.values())
    columns = list(tests)
    for measure, what in MEASURES.items():
        table = Table(f"Newspaper to the web, {what}", columns)
        for name, own in reports.items():
            counts = {column: _counts(own[column], measure) for column in columns}
            ours = {column: 100 * each.total().accuracy for column, each in counts.items()}
            paper = _paper(BASELINES.get(name, name), measure, columns)
            table.add(name, ours, paper, {column: _interval(each) for column, each in counts.items()})
        result.tables.append(table)
    _compare(result, "newspaper to the web", reports, genres)
    _shift(result, reports["FLORS"])
    unseen = [_counts(reports["FLORS"][genre], "unseen").total().accuracy for genre in genres]
    closed = [_counts(reports["trigram HMM"][genre], "unseen").total().correct for genre in genres]
    result.claim("of unseen pairs of word and tag, FLORS gets more than {bar} % right in every genre",
                 measured(100 * min(unseen), ">", 10, "least", 1, "%"), required=True)  # fmt: skip
    result.own("of unseen pairs of word and tag, the HMM gets none right", measured(sum(closed), "<=", 0, digits=0))
    result.own("tagging: {bar} words per second or more", measured(speed, ">=", 10_000, digits=0))
    home = {name: own["newspaper"].tags for name, own in reports.items()}
    best = max((name for name in home if name != "FLORS"), key=lambda name: home[name].accuracy)
    less = 100 * (home["FLORS"].accuracy - home[best].accuracy)
    p = mcnemar(home["FLORS"].right, home[best].right).p
    result.claim("in its own domain FLORS is not above the best of the others (paper: -0.33)",
                 gain(less, p=p, where=best, sense="<="), rule="unopposed")  # fmt: skip


def _genres(options: RecipeOptions, result: RecipeResult) -> None:
    """Within English-EWT: four genres with tags, the fifth without."""
    genres = ("reviews",) if options.quick else GENRES
    each = 100 if options.quick else 200
    reports: dict[str, dict[str, DomainReport]] = {name: {} for name in ("perceptron", "own tagger", "FLORS")}
    for genre in genres:
        others = [material.web(options, other, "train", each) for other in GENRES if other != genre]
        columns = [[row for doc in others for row in material.sentences_of(doc, name)] for name in ("form", "xpos")]
        source, test = Doc.from_words(columns[0], xpos=columns[1]), material.web(options, genre, "test")
        texts = texts_of(options, source, GENRES, 60_000 if options.quick else None)
        for name in reports:
            if name == "FLORS":
                tagger: Component = flors(texts)
            else:
                tagger = baseline(name, source)
            reports[name][genre] = tried(tagger, source, test)
    for measure in ("all", "unknown"):
        table = Table(f"Four genres to the fifth, {MEASURES[measure]}", list(genres))
        for name, own in reports.items():
            counts = {genre: _counts(own[genre], measure) for genre in genres}
            table.add(name, {genre: 100 * each.total().accuracy for genre, each in counts.items()},
                      interval={genre: _interval(each) for genre, each in counts.items()})  # fmt: skip
        table.note = (
            f"Labelled: {4 * each:,} sentences of the other four genres. Raw text: that of newspaper to the web."
        )
        result.tables.append(table)
    _compare(result, "four genres to the fifth", reports, genres)


def _compare(
    result: RecipeResult, what: str, reports: Mapping[str, Mapping[str, DomainReport]], genres: Sequence[str]
) -> None:
    """McNemar's test of FLORS against the others, genre by genre, on all and on unknown words."""
    table = Table(f"FLORS against the others, {what}: points, and p of McNemar's test",
                  ["all", "p", "unknown", "p unknown"], digits={"p": 4, "p unknown": 4})  # fmt: skip
    for name in reports:
        if name == "FLORS":
            continue
        for genre in [*genres, "all genres"]:
            own = genres if genre == "all genres" else [genre]
            one, other = (np.concatenate([reports[each][own_genre].tags.right for own_genre in own])
                          for each in ("FLORS", name))  # fmt: skip
            unknown = np.concatenate([reports[name][own_genre].unknown for own_genre in own])
            table.add(f"{name}, {genre}", {
                "all": 100 * float(one.mean() - other.mean()), "p": mcnemar(one, other).p,
                "unknown": 100 * float(one[unknown].mean() - other[unknown].mean()),
                "p unknown": mcnemar(one[unknown], other[unknown]).p,
            })  # fmt: skip
    result.tables.append(table)
    compared_claims(result, what, table)


def compared_claims(result: RecipeResult, what: str, table: Table) -> None:
    """Claims about FLORS and the other taggers, from the table that compares them."""
    for measure, p_column, bar in (("all", "p", 0.8), ("unknown", "p unknown", 5.0)):
        words = MEASURES[measure]
        for row in table.rows:
            value, p = float(row.ours[measure] or 0), float(row.ours[p_column] or 0)
            where, cells = f"{what}, {row.name}", ((table.title, row.name, measure),)
            difference = replace(gain(value, p=p, where=where), cells=cells)
            if row.name.endswith("all genres"):
                result.claim(f"FLORS is above every other tagger, {words}", difference, required=True)
            else:
                result.claim(f"FLORS is above every other tagger in every genre, {words}", difference)
                result.claim(f"FLORS is {{bar}} points or more above every other tagger in every genre, {words}",
                             replace(difference, sense=">=", bar=bar))  # fmt: skip


def _shift(result: RecipeResult, reports: Mapping[str, DomainReport]) -> None:
    columns = ["unknown words", "unseen tags", "unknown tags", "divergence", "accuracy", "names as nouns"]
    table = Table("How far the tags of a target are from newspaper text (shares in %, divergence in bits)", columns,
                  digits={"divergence": 3})  # fmt: skip
    for name, report in reports.items():
        shift = report.shift.as_dict()
        rates = {column: 100 * shift[column.replace(" ", "_")] for column in columns[:3]}
        table.add(name, rates | {"divergence": shift["divergence"], "accuracy": 100 * report.tags.accuracy,
                                 "names as nouns": 100 * report.joined.accuracy})  # fmt: skip
    table.note = "Unknown tags (HYPH, NFP, ADD, GW, AFX) are wrong whatever a tagger does. Accuracy is that of FLORS."
    result.tables.append(table)


def _ablations(options: RecipeOptions, result: RecipeResult) -> None:
    genres = ("reviews", "email")
    sentences, raw_words = (200, 40_000) if options.quick else (1_000, 300_000)
    source = material.newspaper(options, 0, sentences)
    texts = texts_of(options, source, genres, raw_words)
    tests = {genre: material.web(options, genre, "dev") for genre in genres}
    columns = [f"{genre} {measure}" for genre in genres for measure in MEASURES]
    table = Table("Ablations, dev text", columns)
    chosen = ("FLORS", "n = 250", "n = 0") if options.quick else tuple(ABLATIONS)
    found: dict[str, dict[str, float]] = {}
    for name in chosen:
        settings, paper = ABLATIONS[name]
        tagger = flors(texts, **settings)
        reports = {genre: tried(tagger, source, test) for genre, test in tests.items()}
        found[name] = {f"{genre} {measure}": 100 * _counts(reports[genre], measure).total().accuracy
                       for genre in genres for measure in MEASURES}  # fmt: skip
        table.add(name, found[name], dict(zip(("reviews all", "reviews unknown"), paper or (), strict=False)))
    table.note = (
        f"{sentences:,} labelled sentences; raw text of both genres and {raw_words:,} words of Blitzer's reviews. "
        "Dense vectors are singular vectors of the counts of all text, classes are 200 learned from it."
    )
    result.tables.append(table)
    ablation_claims(result, table, {genre: int(reports[genre].unknown.sum()) for genre in genres})


def ablation_claims(result: RecipeResult, table: Table, unknown: Mapping[str, int]) -> None:
    """Claims about the ablations, given the number of unknown words of each genre."""
    found = {row.name: row.ours for row in table.rows}
    for genre, words in unknown.items():
        with_all, without = (float(found[name][f"{genre} unknown"] or 0) for name in ("FLORS", "n = 0"))
        result.claim("without counts of neighbours (n = 0), unknown words lose {bar} points or more",
                     of_scores(with_all, without, words, genre, ">=", 3), required=True)  # fmt: skip
        apart = float(found["FLORS"][f"{genre} all"] or 0) - float(found["n = 250"][f"{genre} all"] or 0)
        result.claim("250 and 500 indicators are within {bar} points", measured(abs(apart), "<=", 0.3, genre))


def _names(options: RecipeOptions, result: RecipeResult) -> None:
    """Reviews in which a third of the word types are renamed, in raw and test text alike.

    No type is in two draws, so together they rename nearly all types and no single word decides.
    """
    sentences, raw_words, draws = (200, 40_000, 1) if options.quick else (LEARN, None, 3)
    source = material.newspaper(options, 0, sentences)
    texts = texts_of(options, source, ["reviews"], raw_words)
    test = material.web(options, "reviews", "dev")
    words, tags = material.sentences_of(test), material.sentences_of(test, "xpos")
    is_open = np.array([tag.startswith(OPEN) for tag in test.column("xpos")])
    by_name = {name: baseline(name, source) for name in ("left-to-right SVM", "perceptron")}
    before = {name: tried(tagger, source, test).tags.right
              for name, tagger in {"FLORS": flors(texts), **by_name}.items()}  # fmt: skip
    rows: dict[str, list[NDArray[np.bool_]]] = {name: [] for name in before}
    for names in renamed_types(texts, test, 0.3, options.seed, draws):
        which = np.array([form.lower() in names for form in test.column("form")])
        other = Doc.from_words(with_names(words, names), xpos=tags)
        adapted = flors(Texts(source, with_names(texts.target_raw, names), texts.source_raw))
        for name, tagger in {"FLORS": adapted, **by_name}.items():
            after = tried(tagger, source, other).tags.right
            rows[name].append(np.stack([before[name][which], after[which], is_open[which]]))
    table = Table("Reviews, words that get another name: accuracy before and after",
                  ["before", "after", "open before", "open after"])  # fmt: skip
    loss: dict[str, float] = {}
    for name, own in rows.items():
        found = np.concatenate(own, axis=1)
        every, some = 100 * found[:2].mean(axis=1), 100 * found[:2, found[2]].mean(axis=1)
        table.add(name, dict(zip(table.columns, [*every.tolist(), *some.tolist()], strict=True)))
        loss[name], loss[f"{name}, open classes"] = float(every[0] - every[1]), float(some[0] - some[1])
    table.note = (
        f"Draws: {draws}, {len(names)} types each, that labelled text has, and raw text 20 times or more; "
        f"{sum(own.shape[1] for own in rows['FLORS']):,} words. A new name keeps the last {ENDING} letters and the "
        "case. Open: nouns, verbs, adjectives and adverbs."
    )
    result.tables.append(table)
    share = 100 * loss["FLORS"] / min(loss[name] for name in by_name)
    result.own("new names cost FLORS less than {bar} % of what they cost taggers that know words by name",
               measured(share, "<", 50, digits=1, unit="%"))  # fmt: skip
    for what, name in (("all words", "FLORS"), ("open classes", "FLORS, open classes")):
        result.own("new names cost FLORS at most {bar} points", measured(loss[name], "<=", 3, what, 1), required=False)


def _streaming(options: RecipeOptions, result: RecipeResult) -> None:
    sentences, raw_words = (200, 40_000) if options.quick else (400, 100_000)
    source = material.newspaper(options, 0, sentences)
    texts = texts_of(options, source, ["reviews"], raw_words)
    test = material.web(options, "reviews", "test")
    table = Table("Reviews: when raw text of the target is counted", ["all", "unknown"])
    without = flors(Texts(source, [], texts.source_raw))
    ways = {"never": without, "before training": flors(texts)}
    late = flors(Texts(source, [], texts.source_raw), streaming=True)
    for way, tagger in ways.items():
        _row(table, way, tried(tagger, source, test))
    _row(table, "while tagging, the test text alone", tried(late, source, test))
    late.observe([Doc.from_words(texts.target_raw)])
    _row(table, "while tagging, raw text first", tried(late, source, test))
    result.tables.append(table)
    rows = {row.name: float(row.ours["unknown"] or 0) for row in table.rows}
    unknown = int(tried(without, source, test).unknown.sum())
    result.claim("text counted after training helps with unknown words, too",
                 of_scores(rows["while tagging, raw text first"], rows["never"], unknown))  # fmt: skip


def _other_targets(options: RecipeOptions, result: RecipeResult) -> None:
    """Genres of English-GUM, academic text with biomedical abstracts as raw text (in place of PennBioIE)."""
    source = material.newspaper(options, 0, 1_000)
    own = baseline("own tagger", source)
    table = Table("Other targets: genres of English-GUM", ["FLORS all", "FLORS unknown", "own all", "own unknown"])
    reports = {}
    for genre, more in (("academic", material.gene_words(options, 100_000)), ("conversation", []), ("vlog", [])):
        test = material.web(options, genre, "test", treebank=material.GUM)
        if not test.n_words:
            continue
        raw = material.sentences_of(material.web(options, genre, "train", treebank=material.GUM)) + more
        reports[genre] = tried(flors(Texts(source, raw, material.newspaper_words(options))), source, test)
        other = tried(own, source, test)
        table.add(genre, {
            "FLORS all": 100 * reports[genre].tags.accuracy,
            "FLORS unknown": 100 * _counts(reports[genre], "unknown").total().accuracy,
            "own all": 100 * other.tags.accuracy,
            "own unknown": 100 * _counts(other, "unknown").total().accuracy,
        })  # fmt: skip
    table.note = "1,000 labelled sentences of newspaper text; `own` is Weft's own tagger, learned from the same."
    result.tables.append(table)
    _shift(result, reports)


def _row(table: Table, name: str, report: DomainReport) -> None:
    counts = {"all": report.tags.counts, "unknown": report.tags.groups["unknown"]}
    table.add(name, {column: 100 * each.total().accuracy for column, each in counts.items()},
              interval={column: _interval(each) for column, each in counts.items()})  # fmt: skip


def _counts(report: DomainReport, measure: str) -> Counts:
    return report.tags.counts if measure == "all" else report.tags.groups[measure]


def _interval(counts: Counts) -> tuple[float, float]:
    found = confidence_interval(counts, "recall", 2_000)
    return 100 * found.low, 100 * found.high


def _paper(name: str, measure: str, columns: Sequence[str]) -> dict[str, float]:
    if measure == "unseen":
        return {}
    figures = PAPER[name][0 if measure == "all" else 1]
    return {column: value for column, value in zip(COLUMNS, figures, strict=True) if column in columns}


def _speed(tagger: Component, test: Doc) -> float:
    """Words per CPU second, the best of three."""
    best = float("inf")
    for _ in range(3):
        doc = bare(test)
        started = time.process_time()
        tagger([doc])
        best = min(best, time.process_time() - started)
    return test.n_words / best
