"""Token and type constraints for cross-lingual part-of-speech tagging (Täckström et al., TACL 2013).

A German tagger without tagged German text: a Wiktionary dictionary lists the possible tags of a word type, tags
projected from English over word links give the tag of a token, and a model is trained on the lattice of both:

    crf    sum log [ Z(coupled lattice) / Z(dictionary lattice) ] - g ||w||^2        g = 1, 100 iterations of L-BFGS
    hmm    sum log   Z(coupled lattice)                           - g ||w||^2        with features, by direct gradient

compared with type constraints alone, token constraints alone, three dictionaries, and three ways to resolve conflicts;
with the value of the dictionaries in seven languages, and the influence of both sources on a treebank with known tags.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from weft.evaluate.counts import Counts
from weft.evaluate.labels.dictionaries import correction_curve, dictionary_report
from weft.evaluate.labels.tagging import TagReport
from weft.evaluate.significance import confidence_interval, paired_bootstrap
from weft.infer.chains.chain import Chain
from weft.infer.chains.label_lists import LabelLists
from weft.lexical.dictionary import TagDictionary
from weft.recipes.claims import Figure, compared, measured
from weft.recipes.corpora import weak_tags as material
from weft.recipes.corpora.weak_tags import Sentences
from weft.recipes.framework import Curve, RecipeOptions, RecipeResult, Table
from weft.recipes.record import Cost, cpu_seconds
from weft.recipes.transfer.token_type_constraints.languages import influence, second_languages, without_bitext
from weft.recipes.transfer.token_type_constraints.systems import TREEBANKS, evaluate, train
from weft.recipes.variation import Variation
from weft.tasks.tagging.weak import WeakTagger
from weft.text.doc import Doc

SLUG = "token-type-constraints"
CLASSES = 256
MOST_FREQUENT = (0, 10, 25, 50, 100, 250, 500, 1000)


@dataclass(frozen=True)
class System:
    """A row in the paper's tables: its model and constraints, and the paper's accuracy, German and mean of eight."""

    model: str
    dictionary: str | None  # wik, proj, union
    tokens: bool
    clusters: bool = False
    paper: tuple[float, float] | None = None


SYSTEMS = {
    "type HMM, proj": System("hmm", "proj", False, paper=(86.6, 84.9)),
    "type HMM, wik": System("hmm", "wik", False, paper=(85.1, 83.0)),
    "type HMM, union": System("hmm", "union", False, paper=(80.0, 84.5)),
    "type HMM, union + C": System("hmm", "union", False, True, (87.7, 87.2)),
    "type CRF, wik": System("crf", "wik", False),
    "token HMM": System("hmm", None, True),
    "token HMM + C": System("hmm", None, True, True, (81.4, 82.0)),
    "token CRF": System("crf", None, True),
    "token CRF + C": System("crf", None, True, True, (83.3, 84.2)),
    "coupled HMM, proj + C": System("hmm", "proj", True, True, (85.0, 84.5)),
    "coupled HMM, wik": System("hmm", "wik", True),
    "coupled HMM, wik + C": System("hmm", "wik", True, True, (89.3, 87.0)),
    "coupled HMM, union + C": System("hmm", "union", True, True, (86.7, 86.8)),
    "coupled CRF, proj + C": System("crf", "proj", True, True, (84.4, 84.9)),
    "coupled CRF, wik": System("crf", "wik", True),
    "coupled CRF, wik + C": System("crf", "wik", True, True, (90.5, 88.8)),
    "coupled CRF, union + C": System("crf", "union", True, True, (85.5, 85.4)),
}
QUICK = ("type HMM, wik", "token HMM", "coupled HMM, wik", "coupled CRF, wik")
BEST = "coupled CRF, wik"


@dataclass(frozen=True)
class Size:
    """The size of the experiment; the paper has 1 to 5 million sentence pairs and samples 500,000 words of them."""

    verses: int = 7_956
    captions: int = 29_000
    words: int = 100_000  # of German training text
    tagger_words: int = 200_000  # of English training text for the source tagger
    samples: int = 3
    test_words: int | None = None
    raw_words: int = 40_000  # of languages without bitext
    influence_words: int = 8_000


SMALL = Size(300, 900, 8_000, 12_000, 1, 4_000, influence_words=4_000)


VARIATION = Variation((Size,))


def run(options: RecipeOptions) -> RecipeResult:
    """Run all measurements."""
    result = RecipeResult(SLUG)
    result.notes.append(
        "German learns from the first verses of the New Testament and the first captions of Multi30k, tagged by a "
        "tagger of English-EWT; the paper has 1 to 5 million sentence pairs and samples 500,000 tokens. Second "
        "languages have the thousand sentence pairs of PUD. Every HMM is the most probable of four random starts."
    )
    size = options.varied(SMALL if options.quick else Size())
    bitext = material.german_bitext(options, size.verses, size.captions, size.tagger_words)
    result.notes.append(
        f"{size.verses:,} verses and {size.captions:,} captions, {sum(map(len, bitext.german)):,} German words; the "
        f"tagger of English learns from {size.tagger_words:,} words."
    )
    test = material.tagged(options, material.GERMAN_TEST, size.test_words)
    _dictionaries(options, result)
    with tempfile.TemporaryDirectory() as folder:
        _german(options, result, bitext, test, size, Path(folder, "clusters"))
    if not options.quick:
        second_languages(options, result)
        without_bitext(options, result, size.raw_words)
    influence(options, result, size.influence_words)
    return result


def _dictionaries(options: RecipeOptions, result: RecipeResult) -> None:
    """Coverage, ambiguity and pruning accuracy of the Wiktionary dictionaries, and the value of correcting them."""
    table = Table("Wiktionary dictionaries", ["words", "coverage", "tags a covered word", "gold tag survives",
                  "survives, 250 corrected", "most pruned tag"], digits={"words": 0})  # fmt: skip
    lines: dict[str, list[tuple[float, float]]] = {}
    corrected = []
    for code in ("de", "nl") if options.quick else TREEBANKS:
        text = material.tagged(options, TREEBANKS[code])
        dictionary = material.dictionary(options, code)
        report = dictionary_report(dictionary, text.flat_words, text.flat_tags)
        curve = correction_curve(dictionary, text.flat_words, text.flat_tags, MOST_FREQUENT)
        lines[code] = [(float(k), 100 * value) for k, value in curve]
        corrected.append(100 * dict(curve)[250])
        tag, count = report.pruned_tags[0]
        assert report.pruning_accuracy is not None
        lost = round((1 - report.pruning_accuracy) * report.words)
        table.add(code, {"words": report.words, "coverage": 100 * report.coverage,
                         "tags a covered word": report.ambiguity, "gold tag survives": 100 * report.pruning_accuracy,
                         "survives, 250 corrected": corrected[-1],
                         "most pruned tag": f"{tag} ({100 * count / lost:.0f} %)"})  # fmt: skip
    survives = [float(row.ours["gold tag survives"] or 0) for row in table.rows]
    table.add("mean", {"gold tag survives": float(np.mean(survives)),
                       "survives, 250 corrected": float(np.mean(corrected))},
              {"gold tag survives": 95.0, "survives, 250 corrected": 97.0})  # fmt: skip
    table.note = (
        "Test text of a treebank each (el: dev). The paper's means are read off its figures, over 15 languages."
    )
    result.tables.append(table)
    result.curves.append(Curve("Pruning accuracy once the k most frequent words are corrected", "k", "%", lines))
    least = min(after - before for line in lines.values() for (_, before), (_, after) in pairwise(line))
    result.own("the correction curve never falls", measured(least, ">=", 0, f"{len(lines)} languages, least step"))
    result.claim("correcting 250 words lifts the mean above {bar}",
                 measured(float(np.mean(corrected)), ">", 97, f"from {np.mean(survives):.2f} to"))  # fmt: skip


def _german(
    options: RecipeOptions, result: RecipeResult, bitext: material.GermanBitext, test: Sentences, size: Size, path: Path
) -> None:
    projected = bitext.projected()
    dictionaries: dict[str | None, TagDictionary | None] = {None: None, "wik": material.dictionary(options, "de")}
    proj = TagDictionary.from_occurrences(projected.flat_words, projected.flat_tags)
    wik = dictionaries["wik"]
    assert wik is not None
    dictionaries |= {"proj": proj, "union": wik | proj}
    clustered = 0 if options.quick else material.german_clusters(options, bitext, CLASSES, path)
    texts = [projected.sample(size.words, options.seed + number) for number in range(size.samples)]
    table = Table(
        f"German-GSD test, {size.words:,} words of bitext to learn from",
        ["de", "sd", "de, unknown words", "mean of 8", "CPU s"], digits={"CPU s": 0},
    )  # fmt: skip
    parts = Table("Words of German-GSD test that the dictionary lists, and others", ["listed", "right", "others right"])
    reports: dict[str, list[TagReport]] = {}
    tagger = None
    for name in QUICK if options.quick else SYSTEMS:
        system = SYSTEMS[name]
        started = time.process_time()
        known = dictionaries[system.dictionary]
        for text in texts:
            trained = train(text if system.tokens else text.untagged(), known, system.model, options.seed,
                            clusters=str(path) if system.clusters else "", workers=options.workers)  # fmt: skip
            reports.setdefault(name, []).append(evaluate(trained, test, set(text.flat_words)))
            tagger = trained if name == BEST else tagger
        own = reports[name]
        seconds = (time.process_time() - started) / len(own)
        scores = [100 * report.accuracy for report in own]
        interval = confidence_interval(pooled(own), samples=1000)
        unknown = float(np.mean([report.groups["unknown"].total().accuracy for report in own]))
        table.add(
            name,
            {"de": float(np.mean(scores)), "de, unknown words": 100 * unknown,
             "sd": float(np.std(scores, ddof=1)) if len(own) > 1 else None, "CPU s": seconds},
            {} if system.paper is None else {"de": system.paper[0], "mean of 8": system.paper[1]},
            {"de": (100 * interval.low, 100 * interval.high)},
        )  # fmt: skip
        if known is not None:
            _by_listing(parts, name, trained, known, test)
    share = float(np.mean([tag != "" for tag in projected.flat_tags]))
    table.note = (
        f"Intervals: bootstrap over sentences, 95 %. {100 * share:.0f} % of German words carry a projected tag. The "
        "paper's type-only rows learn from the treebank's words, here all rows learn from the same text. Unknown words "
        f"are not in that text. C: {CLASSES} classes of words, from {clustered:,} words. Means and standard "
        f"deviations (sd) of {size.samples} samples of the text."
    )
    parts.note = "By the systems that have learned from the last sample."
    result.tables += [table, parts]
    _compare(options, result, reports)
    _conflicts(options, result, reports[BEST], texts, wik, test)
    _by_evidence(result, reports[BEST][0], projected, wik, test)
    assert tagger is not None
    _speed(result, tagger, test)


def _by_listing(table: Table, name: str, tagger: WeakTagger, known: TagDictionary, test: Sentences) -> None:
    """The accuracy on words that the dictionary lists, and on words that it does not."""
    listed = {word for word in set(test.flat_words) if known.tags_of(word)}
    groups = evaluate(tagger, test, listed).groups
    right = {key: 100 * groups[key].total().accuracy for key in ("known", "unknown")}
    share = 100 * float(np.mean([word in listed for word in test.flat_words]))
    table.add(name, {"listed": share, "right": right["known"], "others right": right["unknown"]})


def pooled(reports: Sequence[TagReport]) -> Counts:
    """The counts on the test sentences over several samples, added up."""
    return Counts.sum([report.counts for report in reports])


def _compare(options: RecipeOptions, result: RecipeResult, reports: dict[str, list[TagReport]]) -> None:
    """The paper's order of systems, and which differences are significant."""
    best = BEST
    table = Table(f"{best} against the others: paired bootstrap over sentences", ["difference", "p"], digits={"p": 4})
    for name, own in reports.items():
        if name != best:
            found = paired_bootstrap(pooled(reports[best]), pooled(own), samples=1000, seed=options.seed)
            table.add(name, {"difference": 100 * found.difference, "p": found.p}, None,
                      {"difference": (100 * found.low, 100 * found.high)})  # fmt: skip
    result.tables.append(table)
    order_claims(
        result,
        set(reports),
        lambda one, other: compared(
            paired_bootstrap(pooled(reports[one]), pooled(reports[other]), samples=1000, seed=options.seed),
            f"{one} less {other}",
        ),
    )


def order_claims(result: RecipeResult, systems: Collection[str], less: Callable[[str, str], Figure]) -> None:
    """Claims about the order of systems; `less` compares two of them."""
    result.claim("the coupled CRF is above the coupled HMM, both with Wiktionary", less(BEST, "coupled HMM, wik"),
                 required=True)  # fmt: skip
    result.claim("the coupled HMM is above the type-only HMM", less("coupled HMM, wik", "type HMM, wik"))
    for name in SYSTEMS:
        if name in systems and "+ C" not in name and name.startswith(("type", "coupled")):
            result.claim("the token-only HMM is below type-only and coupled models", less(name, "token HMM"))
    if "token CRF" not in systems:  # a quick run
        return
    result.claim("the dictionary gains at least {bar} points over the token-only CRF",
                 replace(less(BEST, "token CRF"), sense=">=", bar=3.0), required=True)  # fmt: skip
    result.claim("token-only: the CRF is above the HMM", less("token CRF", "token HMM"))
    result.claim("the type-only HMM is above the token-only CRF", less("type HMM, wik", "token CRF"))
    rows = ("coupled CRF, wik + C", "type HMM, union + C", "token CRF + C", "token HMM + C")
    for one, other in pairwise(rows):
        result.claim("the best of each kind, with clusters: coupled CRF, type-only HMM, token-only CRF, token-only HMM",
                     less(one, other))  # fmt: skip
    result.claim("clusters add at least {bar} points", replace(less(rows[0], BEST), sense=">=", bar=1.5))
    for one, other in pairwise(("wik", "union", "proj")):
        result.claim("in the coupled CRF Wiktionary is above the union, and that above projected types",
                     less(f"coupled CRF, {one} + C", f"coupled CRF, {other} + C"))  # fmt: skip


def _conflicts(
    options: RecipeOptions, result: RecipeResult, types: list[TagReport], texts: Sequence[Sentences],
    wik: TagDictionary, test: Sentences,
) -> None:  # fmt: skip
    """Which source wins if a projected tag is not in the dictionary."""
    table = Table("Coupled CRF, wik: where dictionary and projection disagree", ["de"])
    names = {"type": "the dictionary wins", "union": "the union of both", "token": "the projection wins"}
    scores, counts = {}, {}
    for rule, name in names.items():
        own = types if rule == "type" else [
            evaluate(train(text, wik, seed=options.seed, conflict=rule), test) for text in texts
        ]  # fmt: skip
        counts[rule] = pooled(own)
        interval = confidence_interval(counts[rule], samples=1000)
        scores[rule] = float(np.mean([100 * report.accuracy for report in own]))
        table.add(name, {"de": scores[rule]}, None, {"de": (100 * interval.low, 100 * interval.high)})
    result.tables.append(table)
    union, token = (paired_bootstrap(counts["type"], counts[rule], samples=1000) for rule in ("union", "token"))
    text = "where they disagree, the dictionary is at least as good as the union or the projection"
    result.claim(text, compared(union, "dictionary less union", ">="), compared(token, "less projection", ">="))


def _by_evidence(
    result: RecipeResult, report: TagReport, projected: Sentences, wik: TagDictionary, test: Sentences
) -> None:
    """Accuracy on words by how often their type was projected and by how many tags the dictionary allows."""
    seen = Counter(word for word, tag in zip(projected.flat_words, projected.flat_tags, strict=True) if tag)
    times = np.array([seen[word] for word in test.flat_words])
    sizes = wik.mask(test.flat_words).sum(axis=1)
    classes = {"0": times == 0, "1-9": (times > 0) & (times < 10), "10-99": (times >= 10) & (times < 100),
               "100+": times >= 100}  # fmt: skip
    table = Table("Accuracy by projected occurrences of the word's type (coupled CRF, wik)", [*classes])
    for name, own in {"1 tag": sizes == 1, "2 tags": sizes == 2, "3 tags": sizes == 3,
                      "not listed": sizes == len(wik.tags)}.items():  # fmt: skip
        table.add(name, {column: 100 * float(report.right[own & mask].mean()) if (own & mask).sum() >= 20 else None
                         for column, mask in classes.items()})  # fmt: skip
    table.note = "Cells of fewer than 20 words are left out."
    result.tables.append(table)


def _speed(result: RecipeResult, tagger: WeakTagger, test: Sentences) -> None:
    """Search within the dictionary's lattice compared with search over all tags, on the same scores."""
    full, pruned, mean = decoding_times(tagger, test)
    table = Table("Search on German-GSD test", ["nanoseconds a word", "tags a word"], digits={"nanoseconds a word": 0})
    table.add("12 tags", {"nanoseconds a word": 1e9 * full / test.n_words, "tags a word": 12})
    table.add("dictionary's lattice", {"nanoseconds a word": 1e9 * pruned / test.n_words, "tags a word": mean})
    result.tables.append(table)
    result.own(
        "pruned search is at least {bar} times as fast", measured(full / pruned, ">=", 3, digits=1, unit="times")
    )


def decoding_times(
    tagger: WeakTagger, test: Sentences, repeats: int = 40, cost: Cost = cpu_seconds
) -> tuple[float, float, float]:
    """CPU seconds from what is known of word types to the best tags: from their scores over all tags, and from their
    scores and lists of tags within the lattice; and the mean length of the lists."""
    doc = Doc.from_words(test.words)
    assert tagger.scorer is not None
    chain = tagger.scorer.chain([doc])
    mask, types = tagger.lattice([doc])
    table = np.empty(mask.shape)
    table[types] = chain.node
    transitions, offsets = tagger.scorer.transitions, chain.offsets

    def over_all() -> None:
        Chain(table[types], transitions, offsets).best()

    lists = LabelLists.from_types(mask, types, offsets)

    def within() -> None:
        lists.best_labels(table, transitions)

    # The two alternate, so that both see the same machine load.
    times = [np.inf, np.inf]
    for _ in range(repeats):
        for which, search in enumerate((over_all, within)):
            times[which] = min(times[which], cost(search))
    return times[0], times[1], float(mask.sum(axis=1)[types].mean())
