"""Universal dependency annotation for multilingual parsing (McDonald et al., ACL 2013).

    cell(s, t) = UAS, LAS on treebank t of a delexicalized parser trained on treebank s

Treebanks in nine languages are converted from Universal Dependencies to the universal scheme (twelve tags, forty
relations, adpositions and copulas as heads); a delexicalized parser is trained on 12,000 words of each, then on whole
treebanks, and tested on all of them. The same experiment with one source in another annotation style measures the value
of harmonization.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weft.evaluate.counts import recall
from weft.evaluate.runs import compare_over_runs
from weft.evaluate.significance import Comparison
from weft.formats import read
from weft.recipes.claims import compared, mean_of, measured
from weft.recipes.corpora.treebanks import ALL, SOURCES, TARGETS, UD, cast3lb, round_trip, source_docs, target_docs
from weft.recipes.framework import RecipeOptions, RecipeResult, Table, Value
from weft.recipes.variation import Variation
from weft.tasks.parsing_transfer.matrix import TransferMatrix, TransferSettings, transfer_matrix
from weft.text.doc import Doc
from weft.treebanks import LabelUsage, convert_docs, label_usage
from weft.treebanks.convert import to_other_style
from weft.treebanks.rewriting import rewrite

SLUG = "universal-treebank"
GERMANIC, ROMANCE, OUTLIERS = ("de", "en", "sv"), ("es", "fr", "it", "pt"), ("ko", "tr")
#: Treebanks that are converted and back.
CONVERTED = ("English-EWT", "French-Sequoia", "Portuguese-Bosque", "Turkish-IMST", "Korean-GSD")
#: Names of the rows of the second experiment.
SAME, RESTYLED, NATIVE = "Spanish-GSD", "Spanish-GSD, other style", "Cast3LB, own heads"

_PAPER_TARGETS = ("de", "en", "sv", "es", "fr", "ko")
PAPER_UAS = {
    "de": (74.86, 55.05, 65.89, 60.65, 62.18, 40.59), "en": (58.50, 83.33, 70.56, 68.07, 70.14, 42.37),
    "sv": (61.25, 61.20, 80.01, 67.50, 67.69, 36.95), "es": (55.39, 58.56, 66.84, 78.46, 75.12, 30.25),
    "fr": (55.05, 59.02, 65.05, 72.30, 81.44, 35.79), "ko": (33.04, 32.20, 27.62, 26.91, 29.35, 71.22),
}  # fmt: skip
PAPER_LAS = {
    "de": (64.84, 47.09, 53.57, 48.14, 49.59, 27.73), "en": (48.11, 78.54, 57.04, 56.86, 58.20, 26.65),
    "sv": (52.19, 49.71, 70.90, 54.72, 54.96, 19.64), "es": (45.52, 47.87, 53.09, 70.29, 63.65, 16.54),
    "fr": (45.96, 47.41, 52.25, 62.56, 73.37, 20.84), "ko": (26.36, 21.81, 18.12, 18.63, 19.52, 55.85),
}  # fmt: skip


@dataclass(frozen=True)
class Size:
    """The size of the experiment."""

    words: int = 12_000  # of every source
    runs: int = 3  # draws and trainings
    whole: int = 0  # words of every source in the grid of whole treebanks, of one run; 0: all
    test: int = ALL  # sentences of every target
    plain_test: int = 300  # and of the grid in Universal Dependencies as they are, of one run
    converted: int = ALL  # sentences converted and back


QUICK = Size(words=2000, runs=1, whole=3000, test=60, plain_test=60, converted=100)


def grid(
    options: RecipeOptions,
    sources: Sequence[str],
    targets: Sequence[str],
    settings: TransferSettings,
    test: int,
    update: Callable[[str], None] = lambda source: None,
) -> TransferMatrix:
    """The transfer table between the languages of this recipe."""
    own = {language: source_docs(options, language) for language in sources}
    other = {target: target_docs(options, target, test) for target in targets}
    return transfer_matrix(own, other, settings, options.workers, update)


def style_sources(options: RecipeOptions) -> dict[str, list[Doc]]:
    """Spanish sources for UD targets: the same style, another, and a native treebank."""
    docs = source_docs(options, "es")
    return {SAME: docs, RESTYLED: [rewrite(doc, to_other_style) for doc in docs], NATIVE: cast3lb(options)}


def style_effect(matrix: TransferMatrix, one: str, other: str, metric: str = "UAS") -> Comparison:
    """The gain of the first source over the other, over all targets together, with draws and sentences resampled."""
    sides = [
        np.concatenate([matrix.by_draw(source, target, metric) for target in matrix.targets], axis=1)
        for source in (one, other)
    ]
    return compare_over_runs(sides[0], sides[1], measure=recall)


VARIATION = Variation((Size,))


def run(options: RecipeOptions) -> RecipeResult:
    """Run the experiment."""
    size = options.varied(QUICK if options.quick else Size())
    result = RecipeResult(SLUG)
    _conversions(result, options, size)
    settings = TransferSettings(size.words, size.runs, scheme="universal", seed=options.seed)
    started = time.process_time()
    matrix = grid(options, list(SOURCES), list(TARGETS), settings, size.test)
    seconds = time.process_time() - started
    _grid_tables(result, matrix)
    _findings(result, matrix)
    _whole_grid(result, options, size, matrix)
    _plain_grid(result, options, size, matrix)
    _styles(result, options, size)
    _usage(result, options, size)
    result.own("a grid of 36 cells takes less than {bar} s on one core",
               measured(seconds * 36 / len(matrix.counts) / size.runs, "<", 1800, digits=0, unit="s"))  # fmt: skip
    words = ", ".join(f"{source} {own['words']:,}" for source, own in matrix.training.items())
    tested = ", ".join(f"{target} {len(matrix.counts['de', target]['UAS']):,}" for target in matrix.targets)
    result.notes.append(
        f"Training words, drawn sentence by sentence: {words}. Beam 8, 5 epochs, averaged perceptron with "
        f"maximum-violation updates, {size.runs} draws. Test sentences: {tested}. Gold tags."
    )
    return result


def _conversions(result: RecipeResult, options: RecipeOptions, size: Size) -> None:
    columns = ["words", "coordination", "copula", "adposition", "relations", "heads back %", "relations back %",
               "no longer projective"]  # fmt: skip
    table = Table("Arcs touched by each step, and the way back", columns, digits=dict.fromkeys(columns[:5], 0))
    table.digits["no longer projective"] = 0
    least = 100.0
    for name in CONVERTED:
        path = options.find(f"{UD}/{name}/test.conllu.gz")
        found = round_trip(list(read(path).take_sentences(size.converted)))
        steps = Counter({rule if "->" not in rule else "relations": 0 for rule in found.log.touched})
        for rule, count in found.log.touched.items():
            steps[rule if "->" not in rule else "relations"] += count
        back = 100 * found.heads / found.words
        least = min(least, back)
        table.add(name, {
            "words": found.words, **{step: steps[step] for step in columns[1:5]}, "heads back %": back,
            "relations back %": 100 * found.relations / found.words, "no longer projective": found.projective_lost,
        })  # fmt: skip
    table.note = "All sentences of the test files, those with ambiguous constructions too; relations up to the colon."
    result.tables.append(table)
    result.own("at least {bar} % of heads come back", measured(least, ">=", 99, f"least of {len(CONVERTED)} treebanks"))


def _grid_tables(result: RecipeResult, matrix: TransferMatrix, which: str = "") -> None:
    """UAS and LAS with and without punctuation; `which` grid is named in the titles."""
    for metric, paper in (("UAS", PAPER_UAS), ("LAS", PAPER_LAS), ("UAS*", None), ("LAS*", None)):
        title = f"{metric.strip('*')}, source by target{which}" + (", punctuation not counted" if "*" in metric else "")
        heat = "*" not in metric and not which
        table = Table(title, matrix.targets, digits=dict.fromkeys(matrix.targets, 1), heat=heat)
        for source, row in zip(matrix.sources, matrix.scores(metric), strict=True):
            theirs: dict[str, Value] = {}
            if paper is not None and source in paper:
                theirs = {t: v for t, v in zip(_PAPER_TARGETS, paper[source], strict=True) if t in matrix.targets}
            table.add(source, dict(zip(matrix.targets, row, strict=True)), theirs)
        result.tables.append(table)


def genus_of(language: str) -> tuple[str, ...]:
    """The languages in the same genus.

    >>> genus_of("sv"), genus_of("ko")
    (('de', 'en', 'sv'), ('ko', 'tr'))
    """
    return next(genus for genus in (GERMANIC, ROMANCE, OUTLIERS) if language in genus)


def _best_sources(matrix: TransferMatrix, which: str = "") -> Table:
    """The two best foreign sources of every column, and the bootstrap between them."""
    table = Table(f"Best foreign source of each target, UAS{which}", ["best", "second", "lead", "p"], digits={"p": 3})
    for target in SOURCES:
        first, second = matrix.ranking(target)[:2]
        lead = matrix.lead(target)
        assert lead is not None
        table.add(
            target,
            {"best": first, "second": second, "lead": 100 * lead.difference, "p": lead.p},
            interval={"lead": (100 * lead.low, 100 * lead.high)},
        )
    return table


def _findings(result: RecipeResult, matrix: TransferMatrix) -> None:
    result.tables.append(_best_sources(matrix))
    grid_claims(result, {cell: matrix.score(*cell) for cell in matrix.counts}, "balanced")
    above = [
        (source, target)
        for source, target in matrix.counts
        for heads, labelled in (("UAS", "LAS"), ("UAS*", "LAS*"))
        if matrix.score(source, target, labelled) > matrix.score(source, target, heads)
    ]
    result.own("LAS is at most UAS in all cells",
               measured(len(above), "<=", 0, digits=0, unit=f"of {len(matrix.counts)} cells above"))  # fmt: skip


def grid_claims(result: RecipeResult, uas: Mapping[tuple[str, str], float], which: str) -> None:
    """Claims about a grid of UAS by source and target: margins by language, and their means."""
    europe = [language for language in SOURCES if language not in OUTLIERS]
    targets = {target for _, target in uas}

    def margin(text: str, margins: dict[str, float]) -> None:
        result.claim(text, mean_of(margins, f"{which} treebanks"))

    margin("the best foreign source is of the same genus, mean margin over targets", {
        target: max(uas[s, target] for s in genus_of(target) if s != target)
        - max(uas[s, target] for s in SOURCES if s not in genus_of(target))
        for target in europe
    })  # fmt: skip
    margin("the language itself is the best source, mean margin over targets", {
        target: uas[target, target] - max(uas[s, target] for s in SOURCES if s != target) for target in SOURCES
    })  # fmt: skip
    margin("Korean or Turkish is the worst source, mean margin over the other targets", {
        target: min(uas[s, target] for s in europe) - min(uas[s, target] for s in OUTLIERS) for target in europe
    })  # fmt: skip
    margin("Korean or Turkish is the worst target, mean margin over the other sources", {
        source: min(uas[source, t] for t in targets if t.partition("-")[0] not in OUTLIERS)
        - min(uas[source, t] for t in targets if t.partition("-")[0] in OUTLIERS)
        for source in europe
    })  # fmt: skip


def _whole_grid(result: RecipeResult, options: RecipeOptions, size: Size, balanced: TransferMatrix) -> None:
    settings = TransferSettings(size.whole, 1, scheme="universal", seed=options.seed)
    matrix = grid(options, list(SOURCES), list(TARGETS), settings, size.test)
    _grid_tables(result, matrix, " (whole treebanks)")
    table = _best_sources(matrix, " (whole treebanks)")
    result.tables.append(table)
    grid_claims(result, {cell: matrix.score(*cell) for cell in matrix.counts}, "whole")
    words = ", ".join(f"{source} {told['words']:,}" for source, told in matrix.training.items())
    (own_12, other_12), (own_all, other_all) = _means(balanced), _means(matrix)
    result.notes.append(
        f"Whole treebanks, one training a source: {words} words. Mean UAS of the diagonal {own_all:.1f} "
        f"(balanced: {own_12:.1f}), of all foreign pairs {other_all:.1f} (balanced: {other_12:.1f})."
    )


def _means(matrix: TransferMatrix) -> tuple[float, float]:
    """Mean UAS of the diagonal, and of all pairs of two languages."""
    cells = {(s, t): matrix.score(s, t) for s, t in matrix.counts if t in SOURCES}
    own, other = ([score for (s, t), score in cells.items() if (s == t) == same] for same in (True, False))
    return float(np.mean(own)), float(np.mean(other))


def _plain_grid(result: RecipeResult, options: RecipeOptions, size: Size, matrix: TransferMatrix) -> None:
    settings = TransferSettings(size.words, 1, seed=options.seed)
    plain = grid(options, list(SOURCES), list(TARGETS), settings, size.plain_test)
    table = Table("UAS in Universal Dependencies as they are", plain.targets, digits=dict.fromkeys(plain.targets, 1))
    for source, row in zip(plain.sources, plain.scores(), strict=True):
        table.add(source, dict(zip(plain.targets, row, strict=True)))
    table.note = (
        f"One draw, the first {size.plain_test} sentences of every target. No figures of the paper: other heads."
    )
    result.tables.append(table)
    means = [_means(each)[1] for each in (matrix, plain)]
    result.own("mean UAS of all pairs is higher in the universal scheme than in UD (other trees: not like for like)",
               measured(means[0] - means[1], ">", 0, digits=1), required=False)  # fmt: skip


def _styles(result: RecipeResult, options: RecipeOptions, size: Size) -> None:
    targets = {target: target_docs(options, target, size.test) for target in ("es", "it", "fr")}
    settings = TransferSettings(size.words, size.runs, seed=options.seed)
    sources = style_sources(options)
    plain = transfer_matrix(sources, targets, settings, options.workers)
    table = Table("UAS of Spanish sources by their style", [*targets, "mean"])
    _style_rows(table, plain, "targets in UD")
    result.tables.append(table)
    for other, what in ((RESTYLED, "Prague coordination and adpositions as heads"), (NATIVE, "a native treebank")):
        effect = style_effect(plain, SAME, other)
        result.claim("another style costs at least {bar} points of UAS", compared(effect, what, ">=", 5), required=True)
    universal = {name: list(convert_docs(docs)) for name, docs in targets.items()}
    own: Mapping[str, Sequence[Doc]] = {
        "Spanish-GSD, converted": list(convert_docs(sources[SAME])), "Spanish-GSD, left in UD": sources[SAME],
        NATIVE: sources[NATIVE],
    }  # fmt: skip
    _style_rows(table, transfer_matrix(own, universal, settings, options.workers), "targets in the universal scheme")
    table.note = (
        "Cast3LB has function words as heads: it is a foreign style to UD and close to the universal scheme. "
        "The paper: the same Swedish test set 58.3 with heterogeneous treebanks, 70.6 with these."
    )


def _style_rows(table: Table, matrix: TransferMatrix, what: str) -> None:
    for source, row in zip(matrix.sources, matrix.scores(), strict=True):
        table.add(f"{source} ({what})", {**dict(zip(matrix.targets, row, strict=True)), "mean": float(np.mean(row))})


def _usage(result: RecipeResult, options: RecipeOptions, size: Size) -> None:
    usage: LabelUsage = label_usage({
        name: convert_docs(target_docs(options, name, size.test)) for name in TARGETS if name != "ko-PUD"
    })  # fmt: skip
    table = Table("Use of relations in the targets, per cent of words", usage.treebanks)
    for relation in usage.relations:
        table.add(relation, {name: 100 * usage.share(relation, name) for name in usage.treebanks})
    rare = ", ".join(f"{relation} ({' '.join(users)})" for relation, users in usage.rare().items())
    table.note = f"Used by at most two treebanks, or by fewer than one word in 10,000: {rare or 'none'}."
    result.tables.append(table)
