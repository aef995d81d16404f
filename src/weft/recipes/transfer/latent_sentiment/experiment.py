"""Sentence-level sentiment from ratings of documents and few labelled sentences (Täckström & McDonald, ACL 2011).

One model of the polarities of a review and its sentences, trained in four ways: on labelled sentences (FineToCoarse),
on ratings with latent sentences (Coarse), on labelled sentences with features from the latter (Cascaded), and on both
at once (Interpolated), compared with lexicon votes, the document's own polarity and a document classifier applied to
sentences. Five folds of the paper's own 294 reviews; the rated reviews are different and fewer, so claims that need
140,000 of them are measured on generated documents with known latent labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from weft.evaluate.labels.sentiment import precision_at, precision_recall
from weft.lexical.polarity_lexicon import PolarityLexicon
from weft.recipes.claims import compared, gain, measured
from weft.recipes.framework import Curve, RecipeOptions, RecipeResult, Table
from weft.recipes.transfer.latent_sentiment import data as material
from weft.recipes.transfer.latent_sentiment.data import (
    COARSE_EPOCHS,
    COARSE_RATE,
    FINE_EPOCHS,
    FINE_RATE,
    INTERPOLATED_RATE,
)
from weft.recipes.transfer.latent_sentiment.scores import Found, Runs, Scorer
from weft.recipes.transfer.latent_sentiment.simulation import Simulated, simulate
from weft.tasks.sentiment.sentences import METHODS, SentimentAnalyser, SentimentSettings, vote_polarities
from weft.text.conventions.polarity import POLARITIES, document_polarity
from weft.text.doc import Doc

SLUG = "latent-sentiment"
#: Rated documents: their number (including synthetic neutral ones) and the interpolated model's passes over them.
SIZES = {"1k": (1000, 30), "4k": (4000, 20), "12k": (12_000, 8)}
#: Labelled documents, and seeds of folds, document samples, synthetic documents and training.
LABELLED = {60: 1, 120: 1, 240: 3}
SEEDS = max(LABELLED.values())
NAMES = dict(zip(METHODS, ("FineToCoarse", "Coarse", "Cascaded", "Interpolated"), strict=True))
PAPER = {  # sentence accuracy with 15,000 and with 143,580 rated reviews, for 60, 120 and 240 labelled ones
    "fine": ((49.3, 53.4, 54.6), (49.3, 53.4, 54.6)),
    "coarse": ((49.6, 49.6, 49.6), (53.5, 53.5, 53.5)),
    "cascaded": ((39.7, 45.4, 42.6), (55.6, 55.0, 56.8)),
    "interpolated": ((54.3, 55.0, 57.5), (56.0, 54.5, 59.1)),
}
PAPER_F1 = {  # of positive, negative and neutral sentences in positive, negative and neutral documents
    "fine": ((35, 11, 59), (33, 76, 42), (29, 63, 55)),
    "coarse": ((70, 14, 43), (11, 71, 34), (43, 47, 53)),
    "cascaded": ((43, 17, 61), (0, 75, 49), (10, 64, 50)),
    "interpolated": ((73, 16, 51), (42, 72, 48), (54, 52, 57)),
}
RECALL = tuple(round(0.1 * i, 1) for i in range(1, 11))


def train(
    method: str,
    labelled: Sequence[Doc],
    rated: Sequence[Doc],
    lexicon: PolarityLexicon,
    epochs: int = 8,
    seed: int = 0,
    coarse: SentimentAnalyser | None = None,
) -> SentimentAnalyser:
    """An analyser with the experiment's settings; `epochs` applies to the interpolated model, and a cascade takes a
    trained coarse model."""
    options = {
        "coarse": {"rate": COARSE_RATE, "epochs": COARSE_EPOCHS},
        "interpolated": {"rate": INTERPOLATED_RATE, "epochs": epochs},
    }.get(method, {"rate": FINE_RATE, "epochs": FINE_EPOCHS})
    analyser = SentimentAnalyser(SentimentSettings.from_options({"learning": method, "seed": seed, **options}), lexicon)
    analyser.coarse = coarse
    analyser.fit([*([] if method == "coarse" else labelled), *([] if method in ("fine", "cascaded") else rated)])
    return analyser


def run(options: RecipeOptions) -> RecipeResult:
    """Run all measurements."""
    result = RecipeResult(SLUG)
    lexicon = material.lexicon(options)
    docs = material.labelled(options)
    stars = material.rated(options, 1200 if options.quick else None, options.seed)
    seeds = range(options.seed, options.seed + (1 if options.quick else SEEDS))
    made = {seed: material.neutral(stars, seed=seed) for seed in seeds}
    rated = {seed: [*stars, *each] for seed, each in made.items()}
    result.notes.append(
        f"Labelled sentences are the paper's. Rated reviews are {len(stars):,} of the multi-domain sentiment corpus, "
        f"which has no three stars, and {len(made[options.seed]):,} neutral documents made of halves of a positive "
        "and a negative one. Its domains are books, films, electronics and kitchen; test reviews are also of music "
        f"and video games. Seeds: {len(seeds)}, of folds, samples, made documents and training."
    )
    if options.quick:
        _folds(result, docs, rated, lexicon, {"1k": (1000, 10)}, {60: 1}, folds=2)
    else:
        _folds(result, docs, rated, lexicon, SIZES, LABELLED, folds=5)
        _without_neutral(result, docs, stars, lexicon, seeds)
    _generated(result, (1000, 4000) if options.quick else (1000, 4000, 15_000, 50_000, 150_000), seeds)
    return result


Key = tuple[str, str, int]


def _folds(
    result: RecipeResult,
    docs: Sequence[Doc],
    rated: Mapping[int, Sequence[Doc]],
    lexicon: PolarityLexicon,
    sizes: Mapping[str, tuple[int, int]],
    labelled: Mapping[int, int],
    folds: int,
) -> None:
    """Cross-validation: every system, number of labelled and rated documents, with every seed."""
    by_seed = []
    for k, (seed, own) in enumerate(rated.items()):
        chosen = [n for n, seeds in labelled.items() if k < seeds]
        by_seed.append(_of_seed(docs, own, lexicon, sizes, chosen, folds, seed))
    test = by_seed[0][0]
    found = {key: [own[key] for _, own in by_seed if key in own] for key in by_seed[0][1]}
    scorer = Scorer(test)
    first = next(iter(rated))
    baselines = _baselines(test, rated[first], lexicon, first)
    _accuracies(result, scorer, found, baselines, sizes, labelled)
    if len(by_seed) > 1:
        _spreads(result, scorer, found, sizes, labelled)
    largest, most = list(sizes)[-1], max(labelled)
    systems = {method: found[key] for method, key in _keys(largest, most).items()}
    _by_document(result, scorer, systems, largest, most)
    _test_modes(result, scorer, systems, largest, most)
    _curves(result, scorer, systems)
    result.curves.append(
        Curve("Coarse by rated documents", "rated documents", "sentence accuracy",
              {"Coarse": [(float(sizes[s][0]), scorer.accuracy(found["coarse", s, 0])[0]) for s in sizes]})
    )  # fmt: skip
    _claims(result, scorer, found, systems, sizes, labelled)


def _of_seed(
    docs: Sequence[Doc],
    rated: Sequence[Doc],
    lexicon: PolarityLexicon,
    sizes: Mapping[str, tuple[int, int]],
    labelled: Sequence[int],
    folds: int,
    seed: int,
) -> tuple[list[Doc], dict[Key, Found]]:
    """The test documents in order, and every system's predictions for them with one seed."""
    parts = material.folds(docs, 5, seed)[:folds]
    tested = sorted(int(i) for part in parts for i in part)
    place = {number: k for k, number in enumerate(tested)}
    test = [docs[i] for i in tested]
    found: dict[Key, Found] = {}
    samples = {
        (k, n): material.stratified([doc for i, doc in enumerate(docs) if i not in set(part.tolist())], n, seed)
        for k, part in enumerate(parts)
        for n in labelled
    }
    for size, (count, epochs) in sizes.items():
        chosen = material.stratified(rated, count, seed)
        coarse = train("coarse", [], chosen, lexicon, seed=seed)
        for k, part in enumerate(parts):
            numbers = [place[int(i)] for i in part]
            found.setdefault(("coarse", size, 0), Found()).add(coarse, test, numbers)
            for n in labelled:
                fit = partial(train, labelled=samples[k, n], rated=chosen, lexicon=lexicon, seed=seed)
                if size == next(iter(sizes)):
                    found.setdefault(("fine", "", n), Found()).add(fit("fine"), test, numbers)
                found.setdefault(("cascaded", size, n), Found()).add(fit("cascaded", coarse=coarse), test, numbers)
                interpolated = fit("interpolated", epochs=epochs)
                found.setdefault(("interpolated", size, n), Found()).add(interpolated, test, numbers)
    return test, found


def _keys(size: str, n: int) -> dict[str, Key]:
    """The keys of the systems in one column."""
    return {
        "fine": ("fine", "", n), "coarse": ("coarse", size, 0),
        "cascaded": ("cascaded", size, n), "interpolated": ("interpolated", size, n),
    }  # fmt: skip


def _baselines(test: Sequence[Doc], rated: Sequence[Doc], lexicon: PolarityLexicon, seed: int) -> dict[str, Runs]:
    """Baselines without a sentence model."""
    votes = vote_polarities(test, lexicon)
    copied = [[document_polarity(doc)] * doc.n_sentences for doc in test]
    sentences = material.document_classifier(rated, lexicon, seed, test)
    named = {"lexicon vote": votes, "document's polarity copied": copied, "document classifier": sentences}
    return {name: [Found(dict(enumerate(labels)))] for name, labels in named.items()}


def _accuracies(
    result: RecipeResult,
    scorer: Scorer,
    found: Mapping[Key, Runs],
    baselines: Mapping[str, Runs],
    sizes: Mapping[str, tuple[int, int]],
    labelled: Mapping[int, int],
) -> None:
    table = Table("Sentence accuracy by labelled (F) and rated (C) documents",
                  [f"C={size} F={n}" for size in sizes for n in labelled])  # fmt: skip
    for name, runs in baselines.items():
        value, interval = scorer.accuracy(runs)
        table.add(name, dict.fromkeys(table.columns[:1], value), interval=dict.fromkeys(table.columns[:1], interval))
    papers = dict(zip(list(sizes)[-2:], (0, 1), strict=True)) if len(sizes) > 1 else {}
    for method, name in NAMES.items():
        ours, paper, intervals = {}, {}, {}
        for size in sizes:
            for k, n in enumerate(labelled):
                column = f"C={size} F={n}"
                ours[column], intervals[column] = scorer.accuracy(found[_keys(size, n)[method]])
                if size in papers:
                    paper[column] = PAPER[method][papers[size]][k]
        table.add(name, ours, paper, intervals)
    table.note = (
        "The paper's figures are for 15,000 and 143,580 rated reviews; they stand beside ours for the two larger "
        "numbers. Baselines and Coarse do not hang on F, FineToCoarse not on C. 95 % intervals by hierarchical "
        "bootstrap: seeds and documents drawn anew, then the sentences of documents. Seeds: "
        + ", ".join(f"{seeds} with F={n}" for n, seeds in labelled.items())
        + "."
    )
    result.tables.append(table)


def _spreads(
    result: RecipeResult,
    scorer: Scorer,
    found: Mapping[Key, Runs],
    sizes: Mapping[str, tuple[int, int]],
    labelled: Mapping[int, int],
) -> None:
    several = [n for n, seeds in labelled.items() if seeds > 1]
    table = Table("Standard deviation of sentence accuracy over seeds, points",
                  [f"C={size} F={n}" for size in sizes for n in several])  # fmt: skip
    for method, name in NAMES.items():
        table.add(name, {
            f"C={size} F={n}": scorer.spread(found[_keys(size, n)[method]]) for size in sizes for n in several
        })  # fmt: skip
    result.tables.append(table)


def _by_document(result: RecipeResult, scorer: Scorer, systems: Mapping[str, Runs], size: str, labelled: int) -> None:
    columns = [f"{name} in {document}" for document in POLARITIES for name in POLARITIES]
    table = Table(f"F1 of sentences by polarity of the document, C={size} F={labelled}", columns,
                  digits=dict.fromkeys(columns, 0))  # fmt: skip
    for method, runs in systems.items():
        report = scorer.report(runs)
        ours = {
            f"{name} in {document}": 100 * report.by_document[document][name].f1
            for document in POLARITIES
            for name in POLARITIES
        }
        values = [value for row in PAPER_F1[method] for value in row]
        table.add(NAMES[method], ours, dict(zip(columns, values, strict=True)))
    table.note = "The paper's figures are for 143,580 rated reviews and F=240."
    result.tables.append(table)


def _test_modes(result: RecipeResult, scorer: Scorer, systems: Mapping[str, Runs], size: str, labelled: int) -> None:
    table = Table(f"Document's polarity unknown or given, C={size} F={labelled}",
                  ["unknown", "given", "gain", "documents right"])  # fmt: skip
    for method, runs in systems.items():
        values = {"unknown": scorer.accuracy(runs), "given": scorer.accuracy(runs, given=True)}
        helped = compared(scorer.difference(scorer.right(runs, given=True), scorer.right(runs)), NAMES[method])
        result.claim("a given polarity of the document helps every model", helped)
        right = np.mean([run.documents[i] == gold for run in runs for i, gold in enumerate(scorer.documents)])
        ours = {name: value for name, (value, _) in values.items()}
        gained = replace(helped, where="", digits=1).text()
        table.add(NAMES[method], ours | {"gain": gained, "documents right": 100 * float(right)},
                  interval={name: interval for name, (_, interval) in values.items()})  # fmt: skip
    result.tables.append(table)


def _curves(result: RecipeResult, scorer: Scorer, systems: Mapping[str, Runs]) -> None:
    gold = np.array([label for labels in scorer.gold for label in labels])
    areas: dict[str, list[str]] = {}
    for number, polarity in enumerate(POLARITIES[:2]):
        lines = {}
        for method, runs in systems.items():
            chance = np.concatenate([run.probabilities[i][:, number] for run in runs for i in range(len(scorer.gold))])
            recall, precision = precision_recall(chance, np.tile(gold == polarity, len(runs)))
            lines[NAMES[method]] = list(zip(RECALL, precision_at(recall, precision, RECALL), strict=True))
            area = float(np.sum(np.diff(np.append(0.0, recall)) * precision))
            areas.setdefault(polarity, []).append(f"{NAMES[method]} {100 * area:.1f}")
        result.curves.append(Curve(f"Precision and recall of {polarity} sentences", "recall", "precision", lines))
    result.notes.append(
        "Average precision: " + "; ".join(f"{polarity} {', '.join(each)}" for polarity, each in areas.items()) + "."
    )


def _claims(
    result: RecipeResult,
    scorer: Scorer,
    found: Mapping[Key, Runs],
    systems: Mapping[str, Runs],
    sizes: Mapping[str, tuple[int, int]],
    labelled: Mapping[int, int],
) -> None:
    for method, name in (("coarse", "Coarse"), ("fine", "FineToCoarse"), ("cascaded", "Cascaded")):
        for size in sizes:
            for n in labelled:
                own = scorer.right(found["interpolated", size, n])
                other = scorer.right(found[_keys(size, n)[method]])
                difference = compared(scorer.difference(own, other), f"C={size} F={n}")
                result.claim(f"Interpolated is above {name} everywhere", difference, required=method == "coarse")
    first, last = next(iter(sizes)), list(sizes)[-1]
    if first != last:
        most, least = (scorer.right(found["coarse", size, 0]) for size in (last, first))
        rise = compared(scorer.difference(most, least), f"from {first} to {last}")
        result.claim("Coarse rises with rated documents", rise)
    f1 = {method: scorer.report(runs).by_document for method, runs in systems.items()}
    inside, outside = (100 * f1["coarse"][name]["pos"].f1 for name in ("pos", "neg"))
    mixed = 100 * f1["interpolated"]["neg"]["pos"].f1
    result.claim("Coarse follows the document: F1 of pos is more than {bar} higher in pos than in neg documents",
                 measured(inside - outside, ">", 20, digits=0), required=True)  # fmt: skip
    result.claim("F1 of pos sentences in neg documents: Interpolated is more than {bar} above Coarse",
                 gain(mixed - outside, bar=10))  # fmt: skip


def _without_neutral(
    result: RecipeResult, docs: Sequence[Doc], stars: Sequence[Doc], lexicon: PolarityLexicon, seeds: Sequence[int]
) -> None:
    """The same without the synthetic neutral documents."""
    scorer = Scorer(docs)
    found: dict[str, list[Found]] = {"coarse": [], "interpolated": []}
    for seed in seeds:
        coarse = train("coarse", [], stars, lexicon, seed=seed)
        both = Found(), Found()
        for part in material.folds(docs, 5, seed):
            held = set(part.tolist())
            sample = material.stratified([doc for i, doc in enumerate(docs) if i not in held], 240, seed)
            both[0].add(coarse, docs, part.tolist())
            both[1].add(train("interpolated", sample, stars, lexicon, 8, seed), docs, part.tolist())
        for method, each in zip(found, both, strict=True):
            found[method].append(each)
    table = Table(f"Without made neutral documents, C={len(stars):,} F=240", ["accuracy", "F1 of neu"])
    for method, runs in found.items():
        value, interval = scorer.accuracy(runs)
        neutral = 100 * scorer.report(runs).scores["neu"].f1
        table.add(NAMES[method], {"accuracy": value, "F1 of neu": neutral}, interval={"accuracy": interval})
    result.tables.append(table)


def _generated(result: RecipeResult, sizes: Sequence[int], seeds: Sequence[int]) -> None:
    table = Table("Generated documents, F=60: sentence accuracy by rated documents",
                  [f"C={size:,}" for size in sizes])  # fmt: skip
    scores: dict[int, dict[str, Simulated]] = {}
    runs: dict[int, list[dict[str, Simulated]]] = {}
    for size in sizes:
        # Texts of one seed are generated with the seeds after it.
        runs[size] = [simulate(size, epochs=max(4, 30_000 // size), seed=100 * seed) for seed in seeds]
        scores[size] = {
            method: Simulated(
                float(np.mean([run[method].accuracy for run in runs[size]])),
                float(np.mean([run[method].positive_in_negative for run in runs[size]])),
            )
            for method in NAMES
        }
    for method, name in NAMES.items():
        own = {f"C={size:,}": [run[method].accuracy for run in runs[size]] for size in sizes}
        limits = {column: (min(each), max(each)) for column, each in own.items() if len(each) > 1}
        table.add(name, {column: float(np.mean(each)) for column, each in own.items()}, interval=limits)
    table.note = (
        "Ten sentences of ten words a document, 20 % of the words of the sentence's polarity; the chain of polarities "
        "hangs on the document's. Intervals: the lowest and highest seed."
    )
    result.tables.append(table)
    least, most = scores[sizes[0]], scores[sizes[-1]]
    fewest, largest = (scores["cascaded"].accuracy - scores["fine"].accuracy for scores in (least, most))
    result.own("generated: Cascaded is below FineToCoarse with few rated documents", measured(fewest, "<", 0))
    result.own("generated: Cascaded is above FineToCoarse with many rated documents", measured(largest, ">", 0))
    for size, each in scores.items():
        ahead = each["interpolated"].accuracy - max(each["fine"].accuracy, each["coarse"].accuracy)
        # With very many documents the latent labels are recovered without labelled sentences.
        result.own("generated: Interpolated is above FineToCoarse and Coarse",
                   measured(ahead, ">", 0, f"C={size:,}"), required=False)  # fmt: skip
    more = least["interpolated"].positive_in_negative - least["coarse"].positive_in_negative
    result.own("generated: F1 of pos sentences in neg documents, Interpolated is more than {bar} above Coarse",
               measured(more, ">", 10, f"{sizes[0]:,} rated documents", 0))  # fmt: skip
    rise = most["coarse"].accuracy - least["coarse"].accuracy
    result.own("generated: Coarse rises with rated documents",
               measured(rise, ">", 0, f"from {sizes[0]:,} to {sizes[-1]:,}", 1))  # fmt: skip
