"""Cross-lingual word clusters for direct transfer of linguistic structure (Täckström, McDonald and Uszkoreit 2012).

Clusters of the predictive class bigram model p(w | C(w)) p(C(w) | previous word), as features of

    A   entity recognizers in English, Spanish and Dutch, with more and less annotation
    B   delexicalized English parsers for nine other languages: without clusters, with projected clusters, with
        x-lingual ones
    C   English entity recognizers for German and French

and for English parsers with and without words. Two pseudo-languages, the halves of one treebank with all words renamed,
show whether x-lingual clusters unite translations. The texts are at most a thousandth of the paper's: parts of New
Testaments, captions and 1,000 to 2,000 treebank sentences.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from weft.evaluate.counts import Counts
from weft.evaluate.labels.spans import evaluate_spans
from weft.evaluate.significance import Comparison, confidence_interval, mean_difference, paired_bootstrap
from weft.evaluate.trees.attachment import evaluate_trees, not_punctuation
from weft.formats import read
from weft.lexical.clusters.cross_lingual import Bitext, CrossClusters, cross_clusters
from weft.lexical.clusters.exchange import PredictiveModel, predictive_clusters
from weft.lexical.clusters.monolingual import count_bigrams
from weft.recipes.claims import compared, gain, mean_of, measured
from weft.recipes.corpora.clusters import EWT, LANGUAGES, Sentences, linked, novels, pseudo_languages, words_of
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.transfer.cross_lingual_clusters import entities as ner
from weft.recipes.variation import Variation
from weft.tasks.parsing.transitions.features import ZHANG_NIVRE, ZHANG_NIVRE_CLUSTERS
from weft.tasks.parsing.transitions.parser import Parser, ParserSettings
from weft.text.doc import Doc

SLUG = "cross-lingual-clusters"
EWT_TEST = "treebanks/ud/English-EWT/test.conllu.gz"
SYSTEMS = ("none", "projected", "xlingual")
ARGUMENTS = "UAS of subjects and objects"
PAPER_UAS = {
    "none": {"de": 48.9, "es": 60.2, "fr": 70.0, "it": 64.6, "pt": 66.8, "sv": 55.4},
    "projected": {"de": 50.3, "es": 62.6, "fr": 71.6, "it": 68.6, "pt": 70.7, "sv": 57.0},
    "xlingual": {"de": 50.7, "es": 62.9, "fr": 72.1, "it": 68.8, "pt": 71.0, "sv": 56.9},
}
PAPER_SUPERVISED = {"en": (83.5, 87.8), "es": (78.9, 82.0), "nl": (79.6, 85.7)}
PAPER_TRANSFER = {"de": {"none": 23.5, "projected": 35.2, "xlingual": 40.4}}
FRENCH_TAGS = "treebanks/ud/French-Sequoia/train.conllu.gz"
GERMAN_TAGS = "treebanks/ud/German-GSD/dev.conllu.gz"
LABELS = {"none": "none", "projected": "projected", "xlingual": "x-lingual"}


@dataclass(frozen=True)
class Sizes:
    """The size of the experiment."""

    novels: int = 800_000  # words
    pairs: int = 4000  # of each kind of bitext
    classes: int = 128
    sentences: int = 2000  # of the English treebank
    test: int = 600
    shuffles: int = 3
    beam: int = 8
    epochs: int = 5
    languages: tuple[str, ...] = tuple(LANGUAGES)
    names: tuple[str, ...] = ("en", "es", "nl")
    labelled: Mapping[int, int] = field(default_factory=lambda: {500: 3, 2000: 3})  # sentences: samples
    iterations: int = 30
    transfer: int = 4000  # sentences of names
    threshold: float = 0.9


QUICK = Sizes(200_000, 1500, 48, 600, 200, 1, 1, 3, ("it", "de"), ("es",), {150: 1, 500: 1}, 25, 500)


VARIATION = Variation((Sizes,))


def run(options: RecipeOptions) -> RecipeResult:
    """Run the experiments."""
    sizes = options.varied(QUICK if options.quick else Sizes())
    result = RecipeResult(SLUG)
    text = [*novels(options, sizes.novels), *words_of(options, EWT)]
    _speed(result, text, sizes)
    _pseudo_languages(options, result, sizes.classes)
    _supervised_names(options, result, sizes, text)
    _lexical_gap(options, result, sizes, text)
    bitexts = {code: linked(options, code, sizes.pairs, sizes.threshold) for code in sizes.languages}
    _parsers(options, result, sizes, text, bitexts)
    _transferred_names(options, result, sizes, text, bitexts)
    return result


def _speed(result: RecipeResult, text: Sentences, sizes: Sizes) -> None:
    """How fast pairs are counted and words moved, and what shards lose."""
    started = time.process_time()
    words, counts, bigrams = count_bigrams(text, 3)
    counting = time.process_time() - started
    n_tokens = sum(map(len, text))
    model = PredictiveModel(bigrams, len(words))
    model.exchange(2, sweeps=1)  # compile first
    table = Table("Clustering English text", ["words", "classes", "sweeps", "CPU s a sweep", "F, million"],
                  digits={"words": 0, "classes": 0, "sweeps": 0, "F, million": 3})  # fmt: skip
    reached = []
    for name, shards in {"serial": 1, "two shards": 2, "four shards": 4}.items():
        started = time.process_time()
        found = model.exchange(sizes.classes, shards=shards)
        seconds = (time.process_time() - started) / len(found.sweeps)
        reached.append(found.sweeps[-1].objective)
        table.add(name, {"words": len(words), "classes": sizes.classes, "sweeps": len(found.sweeps),
                         "CPU s a sweep": seconds, "F, million": reached[-1] / 1e6})  # fmt: skip
    table.note = f"{n_tokens:,} running words, of which {int(counts.sum()):,} in the vocabulary"
    result.tables.append(table)
    result.own("pairs of words are counted at {bar} running words per second or more",
               measured(n_tokens / counting, ">=", 1e6, digits=0))  # fmt: skip
    ratio = min(reached[1:]) / reached[0]
    result.own("the objective of shards is at most {bar} of the serial one", measured(ratio, "<=", 1.005, digits=4))


def _pseudo_languages(options: RecipeOptions, result: RecipeResult, in_use: int) -> None:
    table = Table("Two pseudo-languages, 20% of the vocabulary linked: words that share a class with their translation",
                  ["copies, %", "halves, %"])  # fmt: skip
    found = {}
    for n_classes in (16, in_use) if options.quick else (8, 16, 32, in_use):
        found[n_classes] = [100 * pseudo_languages(options, n_classes, halves=halves) for halves in (False, True)]
        table.add(f"{n_classes} classes", dict(zip(table.columns, found[n_classes], strict=True)))
    result.tables.append(table)
    cells = ((table.title, f"{in_use} classes", table.columns[0]),)
    together = measured(found[in_use][0], ">=", 90, f"{in_use} classes, the number in use", 1, "%")
    result.claim("x-lingual clusters bring {bar} % of translations together", replace(together, cells=cells))


def supervised(
    options: RecipeOptions, code: str, sizes: Sizes, more: Sentences
) -> dict[int, list[tuple[Counts, Counts]]]:
    """Counts of names without and with clusters for every number of training sentences and sample."""
    full, test = ner.names(options, code, "train"), ner.names(options, code, "dev" if code == "en" else "test", 1500)
    text = [*ner.words_of(full), *(more if code == "en" else [])]
    paths = predictive_clusters(text, sizes.classes, lower=True).paths()
    found: dict[int, list[tuple[Counts, Counts]]] = {}
    for size, samples in sizes.labelled.items():
        for seed in range(samples):
            train = ner.sample(full, size, options.seed + seed, test)
            reports = (
                ner.score(ner.recognizer(train, own, "xpos", iterations=sizes.iterations), test, own).counts
                for own in (None, paths)
            )
            found.setdefault(size, []).append((next(reports), next(reports)))
    return found


def error_reduction(pair: tuple[float, float]) -> float:
    """The percentage of errors that the second of two scores, in percent, avoids.

    >>> error_reduction((80.0, 85.0))
    25.0
    """
    return 100 * (pair[1] - pair[0]) / (100 - pair[0])


def _supervised_names(options: RecipeOptions, result: RecipeResult, sizes: Sizes, text: Sentences) -> None:
    table = Table("A. Entity recognizers, F1", ["without", "with clusters", "errors less, %", "p"], digits={"p": 4})
    means: dict[int, list[tuple[float, float]]] = {size: [] for size in sizes.labelled}
    for code in sizes.names:
        for size, samples in supervised(options, code, sizes, text).items():
            pair = (100 * float(np.mean([one.total().f1 for one, _ in samples])),
                    100 * float(np.mean([two.total().f1 for _, two in samples])))  # fmt: skip
            means[size].append(pair)
            without, given = (Counts.sum([sample[side] for sample in samples]) for side in (0, 1))
            test = paired_bootstrap(given, without, samples=1000)
            paper = (
                dict(zip(table.columns, PAPER_SUPERVISED[code], strict=False)) if size == max(sizes.labelled) else {}
            )
            table.add(f"{code}, {size:,} sentences", {"without": pair[0], "with clusters": pair[1],
                      "errors less, %": error_reduction(pair), "p": test.p}, paper,
                      {"without": _interval(without), "with clusters": _interval(given)})  # fmt: skip
    table.note = (
        "Means over samples of sentences; p and intervals: bootstrap over test sentences, samples pooled. The paper's: "
        "all sentences."
    )
    result.tables.append(table)
    supervised_claims(result, table, sizes)


def supervised_claims(result: RecipeResult, table: Table, sizes: Sizes) -> None:
    """Claims about entity recognizers with clusters, from their table."""
    rows = {row.name: {column: float(row.ours[column] or 0) for column in table.columns} for row in table.rows}
    for name, row in rows.items():
        better = gain(row["with clusters"] - row["without"], p=row["p"], where=name)
        cells = tuple((table.title, name, column) for column in ("with clusters", "without"))
        result.claim("clusters help in every language and size", replace(better, cells=cells))
    small, large = (
        {code: rows[f"{code}, {size:,} sentences"]["errors less, %"] for code in sizes.names}
        for size in (min(sizes.labelled), max(sizes.labelled))
    )
    more = mean_of({code: small[code] - large[code] for code in sizes.names})
    result.claim("clusters remove a larger share of errors with less annotation", more)


@dataclass(frozen=True)
class English:
    """The English treebank of a seed: training sentences in a new order, and parser settings."""

    train: list[Doc]
    settings: ParserSettings

    @classmethod
    def of(cls, options: RecipeOptions, sizes: Sizes, shuffle: int = 0, **more: object) -> English:
        docs = list(read(options.find(EWT)).take_sentences(sizes.sentences))
        base = {"beam": sizes.beam, "oracle": "static", "update": "early", "epochs": sizes.epochs}
        return cls(docs, ParserSettings(**{**base, "seed": options.seed + shuffle, **more}))  # type: ignore[arg-type]

    def parser(self, clusters: Mapping[str, str] | None = None) -> Parser:
        found = Parser(self.settings, clusters or {})
        found.fit(self.train)
        return found


def parse_scores(
    options: RecipeOptions, parser: Parser, path: str, most: int, clusters: Mapping[str, str] | None = None
) -> dict[str, Counts]:
    """UAS and LAS on a treebank without punctuation, with clusters of its language."""
    if clusters:
        parser.read_clusters(clusters)
    gold, system = (list(read(options.find(path)).take_sentences(most)) for _ in range(2))
    for doc in system:
        doc.head = None
    parser(system)
    return {**evaluate_trees(gold, system, not_punctuation).counts,
            ARGUMENTS: evaluate_trees(gold, system, _is_argument).counts["UAS"]}  # fmt: skip


def _is_argument(doc: Doc) -> NDArray[np.bool_]:
    return np.array([name.split(":")[0] in ("nsubj", "obj", "iobj") for name in doc.column("deprel")], dtype=np.bool_)


def _lexical_gap(options: RecipeOptions, result: RecipeResult, sizes: Sizes, text: Sentences) -> None:
    """Does a parser need words if it has clusters? All rows use universal tags."""
    paths = predictive_clusters(text, sizes.classes, lower=True).paths()
    fields = {"w": "form.lower", "t": "upos"}
    rows = {
        "delexicalized": (English.of(options, sizes, delexicalized=True), None, 83.1),
        "delexicalized, clusters": (English.of(options, sizes, delexicalized=True), paths, 89.5),
        "words": (English.of(options, sizes, templates=ZHANG_NIVRE, fields=fields), None, 90.3),
        "words, clusters": (
            English.of(options, sizes, templates=f"{ZHANG_NIVRE} {ZHANG_NIVRE_CLUSTERS}", fields=fields), paths, 90.7),
    }  # fmt: skip
    table = Table("English parsers on EWT test", ["UAS", "LAS"])
    las: dict[str, Counts] = {}
    for name, (english, own, paper) in rows.items():
        counts = parse_scores(options, english.parser(own), EWT_TEST, sizes.test)
        scores = _percent(counts)
        las[name] = counts["LAS"]
        table.add(name, scores, {"LAS": paper}, {"LAS": _interval(counts["LAS"])})
    result.tables.append(table)
    bare, clustered, words = (100 * counts.total().f1 for counts in list(las.values())[:3])
    result.claim("clusters make up for over {bar} % of what a parser without words loses",
                 gain(100 * (clustered - bare) / (words - bare), bar=50, digits=0))  # fmt: skip
    for name, other in (("delexicalized, clusters", "delexicalized"), ("words, clusters", "words")):
        test = paired_bootstrap(las[name], las[other], samples=1000)
        result.claim("clusters raise LAS of an English parser", compared(test, other))


def transfer_clusters(
    options: RecipeOptions, code: str, sizes: Sizes, text: Sentences, links: Bitext, method: str
) -> CrossClusters:
    """Clusters of English and a language, from texts and both sides of their bitext."""
    own = [sentence for path in LANGUAGES[code].texts for sentence in words_of(options, path)]
    return cross_clusters(
        [*text, *links.source], [*own, *links.target], links, method, sizes.classes, 3, sizes.threshold, lower=True,
        seed=options.seed,
    )  # fmt: skip


def transferred(
    options: RecipeOptions,
    code: str,
    sizes: Sizes,
    text: Sentences,
    links: Bitext,
    plain: Sequence[Parser],
) -> tuple[dict[str, list[dict[str, Counts]]], dict[str, float]]:
    """Scores of every system and shuffle on a language; the fraction of its test words that have a cluster."""
    path = LANGUAGES[code].test
    found = {"none": [parse_scores(options, parser, path, sizes.test) for parser in plain]}
    covered = {}
    test = [word.lower() for doc in read(options.find(path)).take_sentences(sizes.test) for word in doc.column("form")]
    for method in SYSTEMS[1:]:
        clusters = transfer_clusters(options, code, sizes, text, links, method)
        names, others = clusters.source.paths(), clusters.target.paths()
        covered[method] = 100 * float(np.mean([word in others for word in test]))
        found[method] = []
        for shuffle in range(len(plain)):
            parser = English.of(options, sizes, shuffle, delexicalized=True).parser(names)
            found[method].append(parse_scores(options, parser, path, sizes.test, others))
    return found, covered


def _parsers(
    options: RecipeOptions, result: RecipeResult, sizes: Sizes, text: Sentences, bitexts: Mapping[str, Bitext]
) -> None:
    plain = [English.of(options, sizes, shuffle, delexicalized=True).parser() for shuffle in range(sizes.shuffles)]
    tables = {measure: Table(f"B. English parsers on other languages, {measure}",
                             [*sizes.languages, "mean"]) for measure in ("UAS", "LAS", ARGUMENTS)}  # fmt: skip
    cover = Table("B. Test words with a cluster, %, and what clusters bring", ["projected", "x-lingual", "UAS", "p"],
                  digits={"p": 4})  # fmt: skip
    scores = {system: {measure: {} for measure in tables} for system in SYSTEMS}  # type: ignore[var-annotated]
    intervals: dict[str, dict[str, tuple[float, float]]] = {system: {} for system in SYSTEMS}
    counts: dict[str, dict[str, Counts]] = {system: {} for system in SYSTEMS}
    for code in sizes.languages:
        found, covered = transferred(options, code, sizes, text, bitexts[code], plain)
        for system in SYSTEMS:
            for measure in tables:
                values = [100 * own[measure].total().f1 for own in found[system]]
                scores[system][measure][code] = float(np.mean(values))
            counts[system][code] = Counts.sum([own["UAS"] for own in found[system]])
            intervals[system][code] = _interval(counts[system][code])
        test: Comparison = paired_bootstrap(counts["xlingual"][code], counts["none"][code], samples=1000)
        cover.add(code, {"projected": covered["projected"], "x-lingual": covered["xlingual"],
                         "UAS": 100 * test.difference, "p": test.p}, None,
                  {"UAS": (100 * test.low, 100 * test.high)})  # fmt: skip
    for measure, table in tables.items():
        for system in SYSTEMS:
            own = scores[system][measure]
            own["mean"] = float(np.mean([own[code] for code in sizes.languages]))
            known = {c: v for c, v in PAPER_UAS[system].items() if c in sizes.languages} if measure == "UAS" else {}
            table.add(system, own, known, intervals[system] if measure == "UAS" else {})
        result.tables.append(table)
    tables[ARGUMENTS].note = "The paper's, mean of ten languages: 57.1, 62.5 and 63.0."
    cover.note = f"Gain of x-lingual clusters over none: bootstrap over sentences, {sizes.shuffles} shuffles pooled."
    result.tables.append(cover)
    parser_claims(result, cover)
    for one, other in (("projected", "none"), ("xlingual", "none"), ("xlingual", "projected")):
        found_mean = mean_difference([(counts[one][code], counts[other][code]) for code in sizes.languages])
        result.claim(f"parsers: {LABELS[one]} clusters are above {LABELS[other]}, mean of languages",
                     compared(found_mean))  # fmt: skip


def parser_claims(result: RecipeResult, cover: Table) -> None:
    """The claim about German, French and Italian, from the table of what clusters bring."""
    for row in cover.rows:
        if row.name in ("de", "fr", "it"):
            value = gain(float(row.ours["UAS"] or 0), interval=row.interval["UAS"], sense=">=", bar=1.5, where=row.name)
            result.claim("parsers: x-lingual clusters gain at least {bar} UAS in de, fr and it",
                         replace(value, cells=((cover.title, row.name, "UAS"),)))  # fmt: skip


def _transferred_names(
    options: RecipeOptions, result: RecipeResult, sizes: Sizes, text: Sentences, bitexts: Mapping[str, Bitext]
) -> None:
    table = Table("C. English entity recognizers on other languages, F1", [*SYSTEMS, "gain", "p"],
                  digits={"p": 4})  # fmt: skip
    for code, source, target, tags in (
        ("de", "en", "de", GERMAN_TAGS),
        ("de", "wikiann-en", "wikiann-de", GERMAN_TAGS),
        ("fr", "wikiann-en", "wikiann-fr", FRENCH_TAGS),
    ):
        if code not in sizes.languages:
            continue
        counts = transferred_names(options, code, source, target, tags, sizes, text, bitexts[code])
        f1 = {system: 100 * counts[system].total().f1 for system in SYSTEMS}
        edges = {system: 100 * counts[f"{system}, boundaries"].total().f1 for system in SYSTEMS}
        test = paired_bootstrap(counts["xlingual"], counts["none"], samples=2000)
        more = gain(f1["xlingual"] - f1["none"], p=test.p, where=f"{source} to {target}")
        result.claim("names: x-lingual clusters help", more)
        result.claim("names: x-lingual clusters gain at least {bar} F1", replace(more, sense=">=", bar=8.0))
        table.add(f"{source} to {target}", {**f1, "gain": f1["xlingual"] - f1["none"], "p": test.p},
                  PAPER_TRANSFER.get(target), {name: _interval(counts[name]) for name in SYSTEMS})  # fmt: skip
        table.add(f"{source} to {target}, boundaries only", {**edges, "gain": edges["xlingual"] - edges["none"]})
    result.tables.append(table)


def transferred_names(
    options: RecipeOptions, code: str, source: str, target: str, tags: str, sizes: Sizes, text: Sentences, links: Bitext
) -> dict[str, Counts]:
    """Names predicted in another language by an English recognizer with words, universal tags and clusters."""
    train = ner.sample(ner.names(options, source, "train", None, ner.TYPES), sizes.transfer, options.seed, Doc())
    test = ner.names(options, target, "test", 2 * sizes.test, ner.TYPES)
    for doc, path in ((train, EWT), (test, tags)):
        ner.tagger(options, path)([doc])
    found = {}
    for system in SYSTEMS:
        names, others = None, None
        if system != "none":
            clusters = transfer_clusters(options, code, sizes, [*text, *_lower(train)], links, system)
            names, others = clusters.source.paths(), clusters.target.paths()
        # The paper's tighter prior of 0.1 is a variance.
        model = ner.recognizer(train, names, "upos", code != "de", 0.1**0.5, sizes.iterations, "IO")
        named = ner.found_names(model, test, others)
        found[system] = evaluate_spans(test, named).counts
        found[f"{system}, boundaries"] = evaluate_spans(ner.untyped(test), ner.untyped(named)).counts
    return found


def _lower(doc: Doc) -> Sentences:
    forms = [form.lower() for form in doc.column("form")]
    return [forms[first:end] for first, end in pairwise(doc.sentence_offsets.tolist())]


def _percent(counts: Mapping[str, Counts]) -> dict[str, float]:
    return {name: 100 * counts[name].total().f1 for name in ("UAS", "LAS")}


def _interval(counts: Counts) -> tuple[float, float]:
    found = confidence_interval(counts, samples=1000)
    return 100 * found.low, 100 * found.high
