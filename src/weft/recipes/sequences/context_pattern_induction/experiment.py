"""Context patterns for named entities (Talukdar, Brants, Liberman and Pereira, CoNLL-X 2006).

`weft.lexical.growth.grow` grows name lists from raw text; then "this word is inside a name in list L" becomes a feature
of a CRF entity tagger, compared with the same tagger without lists and with the list of seeds:

    A  half of two lists of first names and places, grown on 100 novels; scored by the other half and by gold names
    B  F on LOC, ORG and PER over the size of the labelled part, English and Spanish

The seeds of B are the names in the labelled part; raw text is the rest of the training file without its labels, or news
if all of it is labelled. Settings were chosen on the last 150 training documents.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from weft.evaluate.counts import Counts
from weft.evaluate.labels.spans import SpanReport
from weft.evaluate.significance import paired_bootstrap
from weft.features.gazetteer import Gazetteer
from weft.features.templates import Templates
from weft.formats import read
from weft.learn.chains.labels import LabelSpace
from weft.lexical.growth.grow import Growth, GrowthSettings, grow_from
from weft.lexical.growth.token_store import TokenStore
from weft.recipes.claims import gain, measured, of_scores
from weft.recipes.framework import Curve, RecipeOptions, RecipeResult, Table
from weft.recipes.sequences.context_pattern_induction.data import name_lists, news, novel_names, novels, planted
from weft.recipes.sequences.crf_shallow_parsing import Sentences, Trained, fit
from weft.tasks.labelling.chain_data import ChainData, ChainReader
from weft.text.corpus import Corpus
from weft.text.doc import Doc
from weft.text.schemes import encode

SLUG = "context-pattern-induction"
TYPES = ("LOC", "ORG", "PER")
ENGLISH = ("ner/conll2003-en/train.txt.gz", "ner/conll2003-en/dev.txt.gz", "form xpos chunk entities:IOB1")
SPANISH = ("ner/conll2002-es/train.txt.gz", "ner/conll2002-es/test.txt.gz", "form xpos entities:IOB2")
SPANISH_DOCUMENT = 15  # sentences: the Spanish files do not mark document boundaries
SIZES = (9268, 23385, 203621)  # words of labelled parts; the paper also has 46,816 and 92,921

#: Orthography, character n-grams, neighbours, tags; chunk tags if available; name lists.
WORDS = (
    "true y[-1] w[-2..2] w[-1]|w[0] w[0]|w[1] w[-1..1].lower w[-1..1].shape w[0].prefix1..4 w[0].suffix1..4 "
    "w[-1..1].kind w[-1].kind|w[0].kind|w[1].kind t[-2..2] t[-1]|t[0] t[0]|t[1]"
)
CHUNKS, LISTS = "c[-1..1]", "g[-1..1]"
ITERATIONS = 60  # of L-BFGS
#: Small corpora need short contexts on both sides, and patterns that extract fewer seeds.
ON_LITTLE_TEXT = GrowthSettings(window=3, triggers=200, k=0.1, min_seeds=3, side="both")
ON_NEWS = replace(ON_LITTLE_TEXT, min_seeds=5)
ON_NOVELS = GrowthSettings(window=10, triggers=200, k=0.3, min_seeds=5)
PAPER = {
    9268: {"no list": 68.16, "seed list": 70.91, "induced list": 72.82},
    23385: {"no list": 78.36, "seed list": 79.21, "induced list": 81.36},
    203621: {"no list": 89.71, "seed list": 84.50, "induced list": 91.01},
}
PAPER_LISTS = {
    "LOC": {"seeds": 379, "patterns": 29, "new": 3001},
    "PER": {"seeds": 3616, "patterns": 265, "new": 86265},
}


def labelled(options: RecipeOptions, path: str, fields: str, sentences_per_document: int = 0) -> list[Doc]:
    """Documents of a CoNLL file with entities; files without document marks are split into runs of sentences."""
    strict: dict[str, Any] = {} if "IOB1" in fields else {"strict": False}
    docs = [doc for doc in read(options.find(path), format="columns", fields=fields, **strict) if doc.n_words]
    return cut(docs, sentences_per_document) if sentences_per_document else docs


def cut(docs: Iterable[Doc], sentences: int) -> list[Doc]:
    """Documents split into runs of a fixed number of sentences.

    >>> [doc.text for doc in cut([Doc.from_words([["a"], ["b"], ["c"]])], 2)]
    ['a b', 'c']
    """
    return [
        doc.subset(range(first, min(first + sentences, doc.n_sentences)))
        for doc in docs
        for first in range(0, doc.n_sentences, sentences)
    ]


def share_out(docs: Sequence[Doc], words: int, seed: int) -> tuple[list[Doc], list[Doc]]:
    """Documents sampled until they have the given number of words, and the others."""
    order = list(range(len(docs)))
    random.Random(seed).shuffle(order)
    drawn: set[int] = set()
    count = 0
    for i in order:
        if count >= words:
            break
        drawn.add(i)
        count += docs[i].n_words
    return [doc for i, doc in enumerate(docs) if i in drawn], [doc for i, doc in enumerate(docs) if i not in drawn]


def names_in(docs: Iterable[Doc], least_words: int = 1) -> dict[str, list[str]]:
    """The annotated names of every class."""
    found: dict[str, set[str]] = {label: set() for label in TYPES}
    for doc in docs:
        forms = doc.column("form")
        for pieces, label in doc.spans["entities"]:
            first, end = pieces[0]
            if label in found and end - first >= least_words:
                found[label].add(" ".join(forms[first:end]))
    return {label: sorted(names) for label, names in found.items() if names}


def sentences(docs: Sequence[Doc]) -> Sentences:
    """Sentences with the entities of the three classes in IOB2, the others outside."""
    labels: list[list[str]] = []
    for doc in docs:
        spans = [(*pieces[0], label) for pieces, label in doc.spans["entities"] if label in TYPES]
        flat = encode(spans, doc.n_words, "IOB2")
        labels += [flat[first:end] for first, end in pairwise(doc.sentence_offsets.tolist())]
    return Sentences(list(docs), labels)


def train(
    docs: Sequence[Doc],
    lists: Mapping[str, Sequence[str]] | None = None,
    iterations: int = ITERATIONS,
    workers: int = 1,
) -> Trained:
    """A CRF entity tagger, optionally with name lists as features; lists ignore case."""
    data = sentences(docs)
    with_chunks = docs[0].has("chunk")
    templates = Templates(" ".join([WORDS, *([CHUNKS] if with_chunks else []), *([LISTS] if lists else [])]))
    fields = {"w": "form", "t": "xpos", **({"c": "chunk"} if with_chunks else {})}
    reader = ChainReader(templates, {**fields, **({"g": Gazetteer(lists, lower=True)} if lists else {})})
    space = LabelSpace(sorted(set(data.flat)), templates.order, "IOB2")
    indexed = ChainData.build(reader, data.docs, space.ids(data.flat), space)
    return fit(indexed, sigma=1.0, iterations=iterations, workers=workers)


def features_of(growth: Growth) -> dict[str, list[str]]:
    """The tagger's lists: what any pattern extracted, and what at least two did, without the seeds as such.

    Seeds are in the list only if patterns extract them from the raw text: otherwise the tagger would see every name in
    its training data in the list, and no other.
    """
    once, twice = growth.lists(1, seeds=False), growth.lists(2, seeds=False)
    return {**once, **{f"{label}2": names for label, names in twice.items()}}


def conditions(
    docs: Sequence[Doc], raw: TokenStore, test: Sentences, settings: GrowthSettings, iterations: int, workers: int,
    seeds: Mapping[str, Sequence[str]] | None = None,
) -> tuple[dict[str, SpanReport], Growth]:  # fmt: skip
    """The tagger without lists, with the seeds and with the grown lists, on one labelled part."""
    seeds = seeds or names_in(docs)
    growth = grow_from(raw, seeds, replace(settings, workers=workers))
    lists = {"no list": None, "seed list": seeds, "induced list": features_of(growth)}
    return {name: train(docs, each, iterations, workers).evaluate(test) for name, each in lists.items()}, growth


def precision_of(
    growth: Growth, names: Mapping[str, Iterable[str]], seeds: Mapping[str, Iterable[str]]
) -> tuple[float, float]:
    """Given the names known to be in the text: precision of new names, and recall of those that were not seeds."""
    known = {label: set(each) - set(seeds[label]) for label, each in names.items()}
    new = [entity for entity in growth.entities if not entity.seed]
    right = sum(entity.text in known[entity.label] for entity in new)
    return right / max(1, len(new)), right / max(1, sum(map(len, known.values())))


def run(options: RecipeOptions) -> RecipeResult:
    """The whole experiment: planted text, lists on novels, the tagger's learning curve."""
    result = RecipeResult(SLUG)
    _planted(options, result)
    _novels(options, result)
    _english(options, result)
    _spanish(options, result)
    return result


def _planted(options: RecipeOptions, result: RecipeResult) -> None:
    """Known classes: the effect of negative seeds and of more text."""
    table = Table(
        "Planted corpus, 30 seeds a class", ["patterns", "new", "precision", "recall"], digits={"patterns": 0, "new": 0}
    )
    found: dict[tuple[int, bool], tuple[float, float]] = {}
    for size in (1000, 3000, 6000):
        corpus = planted(size, options.seed)
        seeds = {label: random.Random(options.seed).sample(names, 30) for label, names in corpus.names.items()}
        store = TokenStore.of(Corpus(corpus.docs))
        for negatives in (True, False):
            growth = grow_from(store, seeds, GrowthSettings(window=5, triggers=60, negatives=negatives))
            precision, recall = found[size, negatives] = precision_of(growth, corpus.names, seeds)
            ours = {"patterns": len(growth.kept), "new": sum(not e.seed for e in growth.entities),
                    "precision": 100 * precision, "recall": 100 * recall}  # fmt: skip
            table.add(f"{size:,} sentences, {'with' if negatives else 'without'} negative seeds", ours)
    result.tables.append(table)
    with_them, without = (
        np.array([found[size, negatives] for size in (1000, 3000, 6000)]) for negatives in (True, False)
    )
    least, lost = 100 * with_them[:, 0].min(), 100 * (with_them - without)[1:, 0].min()
    result.own("planted names: precision with negative seeds is at least {bar} %", measured(least, ">=", 90))
    result.own("planted names: without negative seeds at least {bar} points are lost from 3,000 sentences on",
               measured(lost, ">=", 10))  # fmt: skip
    result.own("planted names: recall grows with the text", measured(100 * np.diff(with_them[:, 1]).min(), ">", 0))


def _novels(options: RecipeOptions, result: RecipeResult) -> None:
    """Part A: half of the word lists as seeds, the other half and the gold names for scoring."""
    docs = list(novels(options, 8 if options.quick else None))
    started = time.process_time()
    store = TokenStore.of(Corpus(docs))
    reading = time.process_time() - started
    lists, gold = name_lists(options), novel_names(options)
    rng = random.Random(options.seed)
    seeds = {label: sorted(rng.sample(names, len(names) // 2)) for label, names in lists.items()}
    known = {label: (set(lists[label]) | gold[label]) - set(seeds[label]) for label in lists}
    table = Table(
        f"Lists grown on {len(docs)} novels, {store.n_tokens:,} tokens",
        ["seeds", "patterns", "new", "in lists", "in lists of the other class", "precision of these", "CPU s"],
        digits=dict.fromkeys(["seeds", "patterns", "new", "in lists", "in lists of the other class"], 0) | {"CPU s": 1},
    )  # fmt: skip
    variants = {
        "left": ON_NOVELS,
        "both sides": replace(ON_NOVELS, side="both"),
        "left, no negative seeds": replace(ON_NOVELS, negatives=False),
    }
    for name, settings in variants.items():
        started = time.process_time()
        growth = grow_from(store, seeds, settings)
        seconds = time.process_time() - started
        for label, other in (("PER", "LOC"), ("LOC", "PER")):
            new = [entity.text for entity in growth.entities if entity.label == label and not entity.seed]
            right, wrong = (
                sum(each in known[label] for each in new),
                sum(each in known[other] - known[label] for each in new),
            )
            ours = {"seeds": len(seeds[label]), "patterns": sum(p.label == label for p in growth.kept), "new": len(new),
                    "in lists": right, "in lists of the other class": wrong,
                    "precision of these": 100 * right / (right + wrong) if right + wrong else None,
                    "CPU s": seconds}  # fmt: skip
            table.add(f"{name}: {label}", ours, PAPER_LISTS[label] if name == "left" else None)
            if name == "left":
                result.notes.append(
                    f"Patterns of {label}: " + " | ".join(p.text for p in growth.kept if p.label == label)[:600]
                )
                sample = rng.sample(new, min(100, len(new)))
                result.notes.append(
                    f"{len(sample)} names drawn at random from the new ones of {label}: " + ", ".join(sorted(sample))
                )
                if label == "PER":
                    precision = right / max(1, right + wrong)
                    result.claim(
                        "at least {bar} % of the new people of novels that lists know are people (paper: 88 of 100)",
                        measured(100 * precision, ">=", 88, digits=1, unit=f"% of {right + wrong}"),
                    )
        if name == "left":
            rate = 60 * store.n_tokens / (reading + seconds)
            result.own("at least {bar} million tokens per minute on one core, splitting included",
                       measured(rate / 1e6, ">=", 1, digits=1, unit="million"))  # fmt: skip
    table.note = (
        "Seeds: half of the lists of first names and of countries, cities, states. 'In lists': in the other half, or "
        "annotated in the openings of the same novels. Most new names are surnames and villages that no list knows, so "
        "precision is that of the new names which some list knows; the paper's is a judgement of 100 names. "
        "The paper's rows: 18 billion tokens of news, at least 10 seeds a pattern; here 5."
    )  # fmt: skip
    result.tables.append(table)


def _english(options: RecipeOptions, result: RecipeResult) -> None:
    """Part B: the learning curve on CoNLL-2003."""
    docs, test = labelled(options, ENGLISH[0], ENGLISH[2]), sentences(labelled(options, *ENGLISH[1:]))
    pool = TokenStore.of(Corpus(list(news(options))))
    columns = ["no list", "seed list", "induced list", "gain", "p", "list", "words", "parts"]
    table = Table(
        "Entities (LOC, ORG, PER), CoNLL-2003 test-a, F", columns, digits={"p": 4, "list": 0, "words": 0, "parts": 0}
    )
    curve: dict[str, list[tuple[float, float]]] = {"no list": [], "seed list": [], "induced list": []}
    sizes = SIZES[:1] if options.quick else SIZES
    total = sum(doc.n_words for doc in docs)
    for size in sizes:
        parts = 3 if size == SIZES[0] and not options.quick else 1
        rows: list[dict[str, SpanReport]] = []
        grown = words = 0
        for part in range(parts):
            own, rest = share_out(docs, size, options.seed + part)
            words += sum(doc.n_words for doc in own)
            full = size >= total
            raw, settings = (pool, ON_NEWS) if full else (TokenStore.of(Corpus(rest)), ON_LITTLE_TEXT)
            reports, growth = conditions(own, raw, test, settings, ITERATIONS, options.workers)
            rows.append(reports)
            grown += sum(map(len, growth.lists(seeds=False).values()))
        means = {name: float(np.mean([100 * row[name].score.f1 for row in rows])) for name in rows[0]}
        both = [Counts.sum([row[name].counts for row in rows]) for name in ("induced list", "no list")]
        bootstrap = paired_bootstrap(both[0], both[1], samples=1000, seed=options.seed)
        ours = {**means, "gain": means["induced list"] - means["no list"], "p": bootstrap.p}
        ours |= {"list": round(grown / parts), "words": round(words / parts), "parts": parts}
        interval = {"gain": (100 * bootstrap.low, 100 * bootstrap.high)}
        paper = {**PAPER[size], "gain": PAPER[size]["induced list"] - PAPER[size]["no list"]}
        table.add(f"{size:,} words labelled", ours, paper, interval)
        for name, points in curve.items():
            points.append((size, means[name]))
    table.note = (
        "Labelled parts are whole documents drawn at random (words: how many they have); means over the draws. "
        "Seeds are the names of the "
        "labelled part, raw text is the rest of the training file; with all of it labelled, 0.7 million words of news. "
        "The paper's seeds come from the whole training file at every size, its raw text has 18 billion tokens. "
        "Gain: induced list over no list, with its 95 % interval and p by paired bootstrap over sentences."
    )  # fmt: skip
    result.tables.append(table)
    result.curves.append(Curve("Entities of CoNLL-2003 test-a", "labelled words", "F", curve))
    list_claims(result, table, int(rows[0]["no list"].counts.total().gold), options.quick)
    _papers_seeds(options, result, docs, test)


def list_claims(result: RecipeResult, table: Table, names: int, quick: bool) -> None:
    """Claims about grown lists and seed lists, given the number of names to find."""
    for row, whole in ((table.rows[0], False), *([] if quick else [(table.rows[-1], True)])):
        f = {name: float(row.ours[name] or 0) for name in ("no list", "seed list", "induced list")}
        grown = gain(f["induced list"] - f["no list"], interval=row.interval["gain"])
        seeds = of_scores(f["seed list"], f["no list"], names, sense="<")
        if whole:
            result.claim("the seed list hurts with all data (paper: -5.2)", seeds)
            result.claim("the grown list helps with all data (paper: +1.3)", grown)
        else:
            result.claim("lists grown from raw text gain at least {bar} F with 9,268 labelled words (paper: 4.7)",
                         replace(grown, sense=">=", bar=1.5))  # fmt: skip
            result.claim("the seed list gains less than the grown list with 9,268 labelled words",
                         of_scores(f["seed list"], f["induced list"], names, sense="<"))  # fmt: skip


def _papers_seeds(options: RecipeOptions, result: RecipeResult, docs: Sequence[Doc], test: Sentences) -> None:
    """The paper's own seeds: names of at least two words in the whole training file, whatever part is labelled."""
    table = Table(
        "The same with the paper's seeds: names of the whole training file", ["no list", "seed list", "induced list"]
    )
    rows = []
    for part in range(1 if options.quick else 2):
        own, rest = share_out(docs, SIZES[0], options.seed + part)
        rows.append(
            conditions(
                own, TokenStore.of(Corpus(rest)), test, ON_LITTLE_TEXT, ITERATIONS, options.workers, names_in(docs, 2)
            )[0]
        )
    means = {name: float(np.mean([100 * row[name].score.f1 for row in rows])) for name in rows[0]}
    table.add(f"{SIZES[0]:,} words labelled", means, PAPER[SIZES[0]])
    table.note = "Only names of at least two words, as in the paper; the labelled part's own are among them."
    result.tables.append(table)


def _spanish(options: RecipeOptions, result: RecipeResult) -> None:
    """The same code on Spanish, with the rest of the training file as raw text."""
    docs = labelled(options, SPANISH[0], SPANISH[2], SPANISH_DOCUMENT)
    tests = labelled(options, *SPANISH[1:])
    seen = {sentence.text for doc in docs for sentence in doc.sentences if len(sentence.words) > 5}
    table = Table(
        "Entities (LOC, ORG, PER), CoNLL-2002 Spanish test, F",
        ["no list", "seed list", "induced list", "gain", "p", "words"],
        digits={"p": 4, "words": 0},
    )
    unseen = [doc.subset([i for i, s in enumerate(doc.sentences) if s.text not in seen]) for doc in tests]
    test = sentences([doc for doc in unseen if doc.n_words])
    for size in SIZES[: 1 if options.quick else 2]:
        own, rest = share_out(docs, size, options.seed)
        reports, _ = conditions(own, TokenStore.of(Corpus(rest)), test, ON_LITTLE_TEXT, ITERATIONS, options.workers)
        means = {name: 100 * report.score.f1 for name, report in reports.items()}
        bootstrap = paired_bootstrap(
            reports["induced list"].counts, reports["no list"].counts, samples=1000, seed=options.seed
        )
        ours = {**means, "gain": means["induced list"] - means["no list"], "p": bootstrap.p}
        ours["words"] = sum(doc.n_words for doc in own)
        table.add(f"{size:,} words labelled", ours, None, {"gain": (100 * bootstrap.low, 100 * bootstrap.high)})
    table.note = "Settings of English, nothing tuned. Test sentences that also stand in the training file are left out."
    result.tables.append(table)
