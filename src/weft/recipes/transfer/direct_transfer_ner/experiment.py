"""Direct transfer of named entity recognizers to other languages (Täckström, WILS at NAACL 2012).

One CRF on the corpora of several source languages, with clusters that all languages share, then self-training on target
text with native clusters. SINGLE: English alone; EN+X: with one more; MULTI: all but the target. Names are persons,
places and organizations and, in a second run on the corpora that have them, others (MISC).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from weft.evaluate.counts import Counts
from weft.recipes.claims import Figure, compared, mean_of
from weft.recipes.corpora.names import TYPES, names
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.transfer.direct_transfer_ner.labelled import curves, supervised
from weft.recipes.transfer.direct_transfer_ner.setup import QUICK, WITH_MISC, Material, Samples, Sizes, data_of, load
from weft.recipes.variation import Variation
from weft.tasks.entities.transfer_curve import score_labels
from weft.tasks.entities.transfer_data import TransferData
from weft.text.doc import Doc

SLUG = "direct-transfer-ner"
ROWS = ("SINGLE", "MULTI", "SINGLE+SELF", "SINGLE+SELF/NATIVE", "MULTI+SELF", "MULTI+SELF/NATIVE")
PAPER = {
    "SINGLE": {"de": 37.8, "es": 59.1, "nl": 57.2},
    "EN+DE": {"es": 59.4, "nl": 57.9},
    "EN+ES": {"de": 35.9, "nl": 59.1},
    "EN+NL": {"de": 38.1, "es": 59.7},
    "MULTI": {"de": 36.4, "es": 61.9, "nl": 59.9},
    "SINGLE+SELF": {"de": 41.3, "es": 61.0, "nl": 57.8},
    "SINGLE+SELF/NATIVE": {"de": 43.0, "es": 62.5, "nl": 58.9},
    "MULTI+SELF": {"de": 45.3, "es": 62.3, "nl": 61.9},
    "MULTI+SELF/NATIVE": {"de": 47.2, "es": 64.8, "nl": 63.1},
}
FULL_ROW = "MULTI+SELF/NATIVE"
BEST_ROW = "MULTI+SELF/NATIVE is above every other row on average"
FAR_ABOVE = "MULTI+SELF/NATIVE is at least {bar} above SINGLE on average"
SEVERAL = "MULTI is above SINGLE on average"


def transfer_rows(data: TransferData, test: Doc, seed: int, pairs: bool) -> dict[str, Counts]:
    """Every row of the table for one target and seed; plain rows and first rounds of others share a training run."""
    every = list(data.sources)
    found: dict[str, Counts] = {}
    for name, sources in (("SINGLE", ["en"]), ("MULTI", every)):
        first = None
        for native in (False, True):
            # Sources have no native clusters: the first training is the same with and without them.
            outcome = data.train(sources, native=native, seed=seed, first=first)
            first = outcome.first
            row = f"{name}+SELF/NATIVE" if native else f"{name}+SELF"
            found[row] = score_labels(data, outcome.model, [test], native)
            if not native:
                found[name] = score_labels(data, outcome.first, [test], native)
    for code in every[1:] if pairs else ():
        outcome = data.train(["en", code], rounds=0, native=False, seed=seed)
        found[f"EN+{code.upper()}"] = score_labels(data, outcome.model, [test], False)
    return found


VARIATION = Variation((Sizes,))


def run(options: RecipeOptions) -> RecipeResult:
    """Transfer to every target, the same with MISC, clusters in supervised training, and the learning curve."""
    result = RecipeResult(SLUG)
    sizes = options.varied(QUICK if options.quick else Sizes())
    material = load(options, sizes)
    _transfer(options, result, sizes, material)
    _with_misc(options, result, sizes, material)
    supervised(options, result, sizes, material)
    curves(options, result, sizes, material)
    result.notes.append(
        f"Sizes: {sizes.source:,} sentences a source (German has {material.train['de'].n_sentences:,}), {sizes.text:,} "
        f"of the target's text, {'all' if sizes.test is None else f'the first {sizes.test:,}'} test sentences, "
        f"{sizes.rounds} rounds, {sizes.seeds} samples (the paper: all sentences of CoNLL 2002 and "
        "2003, test text among the target's text, 5 rounds). German is GermEval 2014, Portuguese is Universal NER, all "
        "with PER, LOC and ORG alone; the paper has MISC, too, and CoNLL-2003 German. With MISC the sources are "
        "English and the other one of Spanish and Dutch. Dutch has no bitext: its clusters come from words spelt as in "
        f"English. Curves have {sizes.curve_source:,} sentences a source and {sizes.curve_text:,} of the target's "
        "text, the same in all samples; labelled words are drawn anew. Intervals: samples and test sentences anew."
    )
    return result


def _sampled(
    options: RecipeOptions, sizes: Sizes, material: Material, targets: Sequence[str], types: Sequence[str], pairs: bool
) -> tuple[Samples, dict[str, dict[str, float]]]:
    """All rows of a transfer table, sample by sample, and the fractions of test words in clusters."""
    found = Samples(options.seed)
    cover: dict[str, dict[str, float]] = {}
    for target in targets:
        test = names(options, target, "test", types, sizes.test)
        for seed in range(options.seed, options.seed + sizes.seeds):
            data = data_of(material, sizes, target, seed, test)
            for row, counts in transfer_rows(data, test, seed, pairs and seed == options.seed).items():
                found.add(row, target, counts)
            cover[target] = data.coverage([test])
    return found, cover


def _transfer(options: RecipeOptions, result: RecipeResult, sizes: Sizes, material: Material) -> None:
    targets = [*sizes.targets, *sizes.apart]
    found, cover = _sampled(options, sizes, material, targets, TYPES, pairs=True)
    table = Table(
        "Transfer, F1 on test sentences (mean over samples)",
        [*targets, "average"],
        note="average: of all targets; EN+X: one sample",
    )
    spread = Table("Standard deviation of F1 over samples", targets)
    for row in ["SINGLE", *sorted(row for row in found.counts if row.startswith("EN+")), *ROWS[1:]]:
        found.fill(table, row, PAPER.get(row, {}), targets)
        if not row.startswith("EN+"):
            spread.add(row, found.spread(row))
    result.tables += [table, spread]
    transfer_claims(result, table, targets)
    shares = "; ".join(f"{t} {100 * c['shared']:.0f} and {100 * c['native']:.0f} %" for t, c in cover.items())
    words = ", ".join(
        f"{code} {n:,} linked and {material.clusters.alike[code]:,} spelt alike"
        for code, n in material.clusters.linked.items()
    )
    result.notes.append(
        f"Test words in a shared and in a native cluster: {shares}. Words with a shared class from: {words}."
    )


def transfer_claims(result: RecipeResult, table: Table, targets: Sequence[str]) -> None:
    """Claims about the rows of the transfer table, over all of its targets."""
    f1 = {
        row.name: {target: float(row.ours[target] or 0) for target in targets} for row in table.rows if row.name in ROWS
    }

    def gains(one: str, other: str) -> Figure:
        return mean_of({target: f1[one][target] - f1[other][target] for target in targets}, f"{one} less {other}")

    for row in ROWS[:-1]:
        result.claim(BEST_ROW, gains(FULL_ROW, row))
    result.claim(FAR_ABOVE, replace(gains(FULL_ROW, "SINGLE"), sense=">=", bar=4.0))
    result.claim(SEVERAL, gains("MULTI", "SINGLE"))
    result.claim("SINGLE+SELF/NATIVE is at least as good as MULTI", gains("SINGLE+SELF/NATIVE", "MULTI"))


def _with_misc(options: RecipeOptions, result: RecipeResult, sizes: Sizes, material: Material) -> None:
    """The paper's rows with its four name types, for the three corpora that have them."""
    types = (*TYPES, "MISC")
    four = Material({c: names(options, c, "train", types) for c in WITH_MISC}, material.clusters, material.native)
    found, _ = _sampled(options, sizes, four, sizes.misc, types, pairs=False)
    table = Table(
        "Transfer with MISC among en, es and nl, F1 on test sentences (mean over samples)",
        [*sizes.misc, "average"],
    )
    for row in ROWS:
        found.fill(table, row, PAPER[row], sizes.misc)
    result.tables.append(table)
    for one, other, text in (
        (FULL_ROW, "SINGLE", BEST_ROW),
        (FULL_ROW, "MULTI", BEST_ROW),
        ("MULTI", "SINGLE", SEVERAL),
    ):
        difference = compared(found.gain(one, other, sizes.misc), f"with MISC, {one} less {other}")
        result.claim(text, difference)
        if (one, other) == (FULL_ROW, "SINGLE"):
            result.claim(FAR_ABOVE, replace(difference, sense=">=", bar=4.0))
