"""Languages other than German in the token-type-constraints recipe: little bitext, none, or known tags.

Spanish, Portuguese and Swedish have a thousand translated sentences; Danish, Greek and Dutch only a dictionary. On
Portuguese, gold tags in place of projected ones show the value of either source.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.evaluate.significance import confidence_interval, paired_bootstrap
from weft.lexical.dictionary import TagDictionary
from weft.recipes.claims import compared, gain, of_scores
from weft.recipes.corpora import weak_tags as material
from weft.recipes.corpora.weak_tags import Sentences
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.transfer.token_type_constraints.systems import TALBANKEN, TREEBANKS, evaluate, train
from weft.tasks.bitext.align import APART, align

PARALLEL = {"es": "Spanish", "pt": "Portuguese", "sv": "Swedish"}
#: Swedish has a second bitext: files whose sentences are translations, as far as the shorter one goes.
LINES = "treebanks/ud/{}-LinES/dev.conllu.gz"
#: Text in languages with a dictionary and no bitext (Swedish: besides its bitext), and the content of its columns.
RAW = {
    "da": ("ner/uner-Danish-DDT/train.iob2.gz", "id form entities _ _"),
    "el": ("treebanks/ud/Greek-GDT/train.conllu.gz", ""),
    "nl": ("ner/conll2002-nl/train.txt.gz", "form xpos entities"),
    "sv": ("ner/uner-Swedish-Talbanken/train.iob2.gz", "id form entities _ _"),
}


def second_languages(options: RecipeOptions, result: RecipeResult) -> None:
    """Spanish, Portuguese and Swedish from a thousand translated sentences; gold tags on both sides."""
    table = Table(
        "Other languages, PUD as bitext", ["projected", "projected right", "type HMM", "token HMM", "token CRF",
                                           "coupled HMM", "coupled CRF"],
    )  # fmt: skip
    pairs = {
        code: (
            material.tagged(options, material.PUD.format("English")),
            material.tagged(options, material.PUD.format(name)),
        )
        for code, name in PARALLEL.items()
    }
    english, swedish = (material.tagged(options, LINES.format(name)) for name in ("English", "Swedish"))
    pairs["sv, with LinES"] = (
        _joined(pairs["sv"][0], english.select(range(len(swedish)))),
        _joined(pairs["sv"][1], swedish),
    )
    for name, (source, gold) in pairs.items():
        code = name[:2]
        links = align(source.words, gold.words, "intersection", settings=APART, threshold=material.CONFIDENCE)
        text = material.project(source, gold.words, links)
        there = [(ours, truth) for ours, truth in zip(text.flat_tags, gold.flat_tags, strict=True) if ours]
        wik = material.dictionary(options, code)
        test = material.tagged(options, TALBANKEN if code == "sv" else TREEBANKS[code])
        kinds = {"type HMM": ("hmm", wik, text.untagged()), "token HMM": ("hmm", None, text),
                 "token CRF": ("crf", None, text), "coupled HMM": ("hmm", wik, text),
                 "coupled CRF": ("crf", wik, text)}  # fmt: skip
        counts = {column: evaluate(train(own, dictionary, model, options.seed), test).counts
                  for column, (model, dictionary, own) in kinds.items()}  # fmt: skip
        found = {column: 100 * own.total().accuracy for column, own in counts.items()}
        intervals = {}
        for column, own in counts.items():
            bounds = confidence_interval(own, samples=1000)
            intervals[column] = (100 * bounds.low, 100 * bounds.high)
        found["projected"] = 100 * len(there) / text.n_words
        found["projected right"] = 100 * float(np.mean([ours == truth for ours, truth in there]))
        paper = {"coupled CRF": {"es": 87.1, "pt": 91.0, "sv": 88.9}[code]}
        table.add(name, found, paper, intervals)
        other = max(("type HMM", "token HMM", "token CRF"), key=lambda column: found[column])
        test_of = paired_bootstrap(counts["coupled CRF"], counts[other], samples=1000, seed=options.seed)
        result.claim("other languages: the coupled CRF is above type-only and token-only models",
                     compared(test_of, f"{name}, over {other}"), required=True)  # fmt: skip
    table.note = (
        "Tests: Spanish-GSD, Portuguese-Bosque, Swedish-Talbanken. English tags are gold here. Intervals: bootstrap "
        "over sentences, 95 %."
    )
    result.tables.append(table)


def _joined(one: Sentences, other: Sentences) -> Sentences:
    return Sentences([*one.words, *other.words], [*one.tags, *other.tags])


def without_bitext(options: RecipeOptions, result: RecipeResult, words: int) -> None:
    """Languages with only a dictionary: type constraints."""
    table = Table("Type constraints alone: type HMM, wik", ["words", "accuracy"], digits={"words": 0})
    for code, (path, fields) in RAW.items():
        text = material.raw_words(options, path, fields, words)
        test = material.tagged(options, TALBANKEN if code == "sv" else TREEBANKS[code])
        report = evaluate(train(text, material.dictionary(options, code), "hmm", options.seed), test)
        bounds = confidence_interval(report.counts, samples=1000)
        table.add(code, {"words": text.n_words, "accuracy": 100 * report.accuracy}, None,
                  {"accuracy": (100 * bounds.low, 100 * bounds.high)})  # fmt: skip
    table.note = (
        "Tests: Danish-DDT, Greek-GDT (dev), Dutch-Alpino, Swedish-Talbanken; there is no bitext for the first three."
    )
    result.tables.append(table)


def influence(options: RecipeOptions, result: RecipeResult, words: int) -> None:
    """Portuguese with gold tags in place of projections, with fewer and fewer of them and of dictionary entries."""
    gold = material.tagged(options, material.PORTUGUESE.format("train"), words)
    test = material.tagged(options, material.PORTUGUESE.format("test"), words)
    wik = material.dictionary(options, "pt")
    dropped: Sequence[float] = (0.0, 0.8) if options.quick else (0.0, 0.5, 0.8, 0.95)
    table = Table("Portuguese-Bosque, coupled CRF: known tags kept and dictionary types kept",
                  [f"{round(100 * (1 - drop))} % of tags" for drop in dropped])  # fmt: skip
    scores = np.zeros((3, len(dropped)))
    for i, share in enumerate((0.0, 0.4, 0.8)):
        fewer = material.without_types(wik, share, options.seed)
        for j, drop in enumerate(dropped):
            text = material.corrupted(gold, drop, 0.1, options.seed)
            scores[i, j] = 100 * evaluate(train(text, fewer, seed=options.seed), test).accuracy
        table.add(f"{round(100 * (1 - share))} % of types", dict(zip(table.columns, scores[i].tolist(), strict=True)))
    table.note = f"{gold.n_words:,} words to learn from; one word type in ten is always projected wrongly."
    result.tables.append(table)
    if not options.quick:
        _corruption(options, result, gold, test, wik)
    for row, cells in zip(table.rows, scores.tolist(), strict=True):
        result.claim("more projected tags help with every dictionary",
                     of_scores(cells[0], cells[-1], test.n_words, row.name), required=not options.quick)  # fmt: skip


def _corruption(
    options: RecipeOptions, result: RecipeResult, gold: Sentences, test: Sentences, wik: TagDictionary
) -> None:
    """The same with more and more types projected wrongly, with and without a dictionary."""
    wrong = (0.0, 0.1, 0.2, 0.3)
    table = Table("Portuguese-Bosque, CRF: half of the tags, types projected wrongly",
                  [f"{round(100 * share)} % wrong" for share in wrong])  # fmt: skip
    scores: dict[str, list[float]] = {}
    for name, own in (("coupled", wik), ("token only", None)):
        texts = [material.corrupted(gold, 0.5, share, options.seed) for share in wrong]
        scores[name] = [100 * evaluate(train(text, own, seed=options.seed), test).accuracy for text in texts]
        table.add(name, dict(zip(table.columns, scores[name], strict=True)))
    result.tables.append(table)
    lost = {name: values[0] - values[-1] for name, values in scores.items()}
    result.claim("wrong tags cost less with a dictionary than without", gain(lost["token only"] - lost["coupled"]))
