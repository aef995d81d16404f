"""Parallel algorithms for unsupervised tagging (Ravi, Vassilvitskii & Rastogi, TACL 2014).

A tagger from raw text and a tag dictionary: greedy minimum label cover (DMLC) approximates the smallest set of tag
pairs that explains the text, then alternating EM fits a hidden Markov model to it. It is compared with EM alone, the
smallest set itself (integer programming) and a two-stage greedy search, on English newspaper text with a complete
dictionary and with half of one, on other languages, on large tag sets in place of supertags, and on Malagasy with a
dictionary that took four hours of work.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from weft.errors import WeftError
from weft.evaluate.labels.tagging import TagReport, evaluate_labels
from weft.evaluate.significance import confidence_interval, mcnemar
from weft.infer.chains.label_lists import LabelLists
from weft.learn.generative.alternating_em import alternate
from weft.learn.generative.hmm import observed_transitions
from weft.learn.label_cover.cluster import cover_labels_in_shards
from weft.learn.label_cover.cover import cover_labels
from weft.learn.label_cover.references import exact_cover
from weft.lexical.dictionary import TagDictionary
from weft.lexical.dictionary_growth import grow_dictionary
from weft.ragged import States
from weft.recipes.claims import gain, measured, of_scores
from weft.recipes.corpora.weak_tags import Sentences, dictionary, tagged
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.sequences.dmlc_unsupervised_tagging import data as material
from weft.tasks.tagging.induce_tags import InducedTaggerSettings, TagInducer, induce, label_weights, lattice
from weft.text.doc import Doc

SLUG = "dmlc-unsupervised-tagging"
SMALL = 24_000
SEEDS = 3
#: The paper's accuracies: English 24k and 973k with a complete dictionary, and with an incomplete one.
PAPER = {
    "random": (None, None, 63.53),
    "EM": (81.7, 82.3, 69.20),
    "ILP + EM": (91.6, None, None),
    "min-greedy + EM": (91.6, 87.1, None),
    "DMLC + EM": (91.4, 87.5, 88.11),
    "grown dictionary, EM": (None, None, None),
    "grown dictionary, DMLC + EM": (None, None, None),
}
#: Shares of the text that a dictionary does not know; the second is the paper's (2.2 tags per word).
UNKNOWN = (0.0, 0.016, 0.04, 0.08, 0.12)
METHODS = {"EM": "em", "ILP + EM": "ilp", "min-greedy + EM": "min-greedy", "DMLC + EM": "dmlc"}


@dataclass
class Problem:
    """A text to tag: its lattice, its gold tags, and the dictionary."""

    text: Sentences
    dictionary: TagDictionary
    lists: LabelLists

    @classmethod
    def of(cls, text: Sentences, dictionary: TagDictionary) -> Problem:
        offsets = np.concatenate([[0], np.cumsum([len(sentence) for sentence in text.words])])
        return cls(text, dictionary, lattice(text.flat_words, offsets, dictionary)[1])

    def grown(self) -> LabelLists:
        """The lattice after unknown words got the tags of words with similar forms and contexts."""
        wider = grow_dictionary(self.text.words, self.dictionary)
        return Problem.of(self.text, wider).lists

    def report(self, tags: States) -> TagReport:
        """Accuracy on all words, on those in the dictionary and others, and on ambiguous ones."""
        names = iter([self.dictionary.tags[t] for t in tags.tolist()])
        system = [[next(names) for _ in sentence] for sentence in self.text.words]
        words = sorted(set(self.text.flat_words))
        known = {word: self.dictionary.tags_of(word) or self.dictionary.tags for word in words}
        covered = {word for word in words if self.dictionary.tags_of(word)}
        return evaluate_labels(self.text.tags, system, self.text.words, covered, known)

    def random(self, seed: int) -> States:
        """A random one of each word's tags, all equally likely."""
        sizes = np.diff(self.lists.begin)[self.lists.types]
        drawn = np.random.default_rng(seed).random(len(sizes))
        return self.lists.listed[self.lists.begin[self.lists.types] + (drawn * sizes).astype(np.int64)]


def run(options: RecipeOptions) -> RecipeResult:
    """Run all measurements."""
    result = RecipeResult(SLUG)
    result.notes.append(
        "English is the sample of the Wall Street Journal that NLTK has, 94,084 words; the paper has the whole of it. "
        "Dictionaries list the tags of words in the sample and nothing else, so they are smaller and cleaner than the "
        "paper's, and EM alone is far better than there. Text that is tagged is text that is learned from, as in the "
        "paper; but Malagasy is tested on text that is not."
    )
    _english(options, result)
    _languages(options, result)
    _large_tag_sets(options, result)
    _malagasy(options, result)
    return result


def _english(options: RecipeOptions, result: RecipeResult) -> None:
    whole = material.newspaper(options, 12_000 if options.quick else None)
    small = material.first_words(zip(whole.words, whole.tags, strict=True), 6_000 if options.quick else SMALL)
    half, rest = material.halves(whole)
    full = material.dictionary_of(whole)
    problems = {"small": Problem.of(small, full), "whole": Problem.of(whole, full),
                "half dictionary": Problem.of(rest, material.dictionary_of(half))}  # fmt: skip
    names = {key: f"{problem.text.n_words:,} words" for key, problem in problems.items()}
    names["half dictionary"] = f"half dictionary, {names['half dictionary']}"
    columns = [*names.values(), *(f"labels, {name}" for name in names.values())]
    table = Table("English newspaper, Penn tags: accuracy, and distinct labels in the tagging", columns,
                  digits=dict.fromkeys(columns[3:], 0))  # fmt: skip
    parts = Table("Half dictionary: words that it has, words that it has not, words with several tags",
                  ["known", "unknown", "ambiguous"])  # fmt: skip
    tests = Table("DMLC + EM against EM: McNemar's test over words",
                  ["only DMLC + EM right", "only EM right", "difference", "p"],
                  digits={"only DMLC + EM right": 0, "only EM right": 0, "p": 4})  # fmt: skip
    reports: dict[tuple[str, str], TagReport] = {}
    means: dict[tuple[str, str], float] = {}
    for name in PAPER:
        ours: dict[str, float] = {}
        interval: dict[str, tuple[float, float]] = {}
        for key, problem in problems.items():
            found = _taggings(name, key, problem, options)
            if not found:
                continue
            each = [problem.report(tags) for tags in found]
            reports[name, key] = each[0]
            means[name, key] = ours[names[key]] = 100 * float(np.mean([report.accuracy for report in each]))
            ours[f"labels, {names[key]}"] = float(
                np.mean([observed_transitions(problem.lists, tags).sum() for tags in found])
            )
            low_high = confidence_interval(each[0].counts, samples=1000, seed=options.seed)
            interval[names[key]] = (100 * low_high.low, 100 * low_high.high)
        paper = {column: value for column, value in zip(names.values(), PAPER[name], strict=True) if value is not None}
        table.add(name, ours, paper, interval)
        if (name, "half dictionary") in reports:
            groups = reports[name, "half dictionary"].groups
            parts.add(name, {group: 100 * groups[group].total().accuracy for group in parts.columns})
    gold = {f"labels, {names[key]}": _gold_labels(problem) for key, problem in problems.items()}
    table.add("gold tags", gold)
    tags_a_word = ", ".join(f"{ambiguity(problem):.2f}" for problem in problems.values())
    table.note = (
        f"Tags a word: {tags_a_word}. DMLC: mean of {_seeds(options)} seeds. Intervals: bootstrap over sentences, "
        "95 %. The paper's texts have 24,000 and 973,000 words; its incomplete dictionary is of sections 00 to 15, "
        "its text of 48,000 words."
    )
    for key in problems:
        test = mcnemar(reports["DMLC + EM", key].right, reports["EM", key].right)
        tests.add(names[key], {"only DMLC + EM right": test.only_a, "only EM right": test.only_b,
                               "difference": means["DMLC + EM", key] - means["EM", key], "p": test.p})  # fmt: skip
    result.tables += [table, parts, tests]
    if not options.quick:
        for key in ("small", "whole"):
            p = mcnemar(reports["DMLC + EM", key].right, reports["EM", key].right).p
            better = gain(means["DMLC + EM", key] - means["EM", key], p=p, where=names[key])
            result.claim("DMLC + EM is above EM with a complete dictionary", better, required=True)
            result.claim("DMLC + EM is at least {bar} points above EM with a complete dictionary",
                         replace(better, sense=">=", bar=5.0))  # fmt: skip
        complete = means["DMLC + EM", "small"] - means["EM", "small"]
        for prefix, where in (("", "as it is"), ("grown dictionary, ", "grown over the text, for both")):
            halved = means[f"{prefix}DMLC + EM", "half dictionary"] - means[f"{prefix}EM", "half dictionary"]
            result.claim("the gain over EM is larger with half of the dictionary", gain(halved - complete, where=where))
    _unknown_words(options, result, rest, full)
    _covers(options, result, problems, names)


def _unknown_words(options: RecipeOptions, result: RecipeResult, text: Sentences, full: TagDictionary) -> None:
    """The same text with fewer and fewer of its rare words in the dictionary."""
    names = ("EM", "min-greedy + EM", "DMLC + EM")
    table = Table("Rare words taken out of the dictionary: accuracy by the share of unknown words",
                  ["tags a word", *names, "DMLC + EM - EM", "largest p"], digits={"largest p": 4})  # fmt: skip
    gains = {}
    for share in (0.0, 0.04) if options.quick else UNKNOWN:
        draws = []
        for seed in range(options.seed, options.seed + (_seeds(options) if share else 1)):
            problem = Problem.of(text, material.without_rare_words(full, text, share, seed))
            reports = [
                problem.report(induce(problem.lists, InducedTaggerSettings(objective=METHODS[name], seed=seed)).tags)
                for name in names
            ]
            p = mcnemar(reports[2].right, reports[0].right).p
            draws.append((ambiguity(problem), *(100 * report.accuracy for report in reports), p))
        tags_a_word, em, greedy, dmlc, _ = np.mean(draws, axis=0).tolist()
        gains[share] = dmlc - em
        row = {"tags a word": tags_a_word, **dict(zip(names, (em, greedy, dmlc), strict=True))}
        largest = max(p for *_, p in draws)
        table.add(f"{100 * share:.1f} %", {**row, "DMLC + EM - EM": dmlc - em, "largest p": largest})
    table.note = (
        f"The second half of the sample and the dictionary of the whole; words that the text has {material.RARE} times "
        f"at most are taken out at random, mean of {_seeds(options)} draws. The paper's text has 2.21 tags a word, "
        "which are 1.6 % of unknown words."
    )
    result.tables.append(table)
    if not options.quick:
        result.own("as many unknown words as in the paper leave at least {bar} % of the gain",
                   measured(100 * gains[UNKNOWN[1]] / gains[0.0], ">=", 90, digits=1, unit="%"),
                   required=False)  # fmt: skip


def _seeds(options: RecipeOptions) -> int:
    return 1 if options.quick else SEEDS


def _taggings(name: str, key: str, problem: Problem, options: RecipeOptions) -> list[States]:
    """The taggings of a system: one per seed if it is random; none if it is not tried."""
    if name == "random":
        return [problem.random(options.seed + s) for s in range(_seeds(options))]
    if name == "ILP + EM" and key == "half dictionary":  # unknown words with all tags make too many variables
        return []
    lists = problem.lists
    if name.startswith("grown dictionary"):
        if key != "half dictionary":
            return []
        lists, name = problem.grown(), name.removeprefix("grown dictionary, ")
    seeds = range(options.seed, options.seed + (_seeds(options) if name == "DMLC + EM" else 1))
    return [induce(lists, InducedTaggerSettings(objective=METHODS[name], seed=seed)).tags for seed in seeds]


def _covers(options: RecipeOptions, result: RecipeResult, problems: dict[str, Problem], names: dict[str, str]) -> None:
    """Sizes of covers, the weighted variant, and shards."""
    table = Table("Minimum label cover: labels, and what the tagging itself is worth",
                  ["words", "forced", "smallest (ILP)", "DMLC", "DMLC / smallest", "accuracy of DMLC's tagging",
                   "weighted DMLC", "weighted DMLC + EM", "CPU s"],
                  digits=dict.fromkeys(("words", "forced", "smallest (ILP)", "DMLC", "weighted DMLC"), 0))  # fmt: skip
    for key, problem in problems.items():
        started = time.process_time()
        cover = cover_labels(problem.lists, seed=options.seed)
        seconds = time.process_time() - started
        row: dict[str, float] = {
            "words": problem.text.n_words, "forced": cover.forced, "DMLC": len(cover), "CPU s": seconds,
            "accuracy of DMLC's tagging": 100 * problem.report(cover.tags).accuracy,
        }  # fmt: skip
        try:
            exact = exact_cover(problem.lists, seconds=60) if key != "half dictionary" else None
        except WeftError:
            exact = None
        if exact is not None and exact.optimal:
            row |= {"smallest (ILP)": len(exact), "DMLC / smallest": len(cover) / len(exact)}
            if key == "small":
                more = 100 * (len(cover) / len(exact) - 1)
                result.claim("DMLC finds at most {bar} % more labels than the smallest cover",
                             measured(more, "<=", 11, f"{len(cover)} and {len(exact)},", 1, "% more"))  # fmt: skip
        weighted = cover_labels(problem.lists, weights=label_weights(problem.lists, cover.tags), seed=options.seed)
        fitted = alternate(problem.lists, weighted.labels)
        row |= {"weighted DMLC": len(weighted), "weighted DMLC + EM": 100 * problem.report(fitted.tags).accuracy}
        table.add(names[key], row)
    table.note = (
        "Forced: labels of neighbours that have one tag each, which every cover has. Weighted: a label counts 1 + "
        "log(1 + n) times, n being how often it stands in the tagging that the plain search found."
    )
    result.tables.append(table)
    lists = problems["whole"].lists
    whole, shards = cover_labels(lists, seed=options.seed), cover_labels_in_shards(lists, 2, seed=options.seed)
    different = int((whole.tags != shards.tags).sum()) + (whole.chosen != shards.chosen)
    where = f"{len(whole.chosen)} rounds, {len(whole)} labels, differences:"
    result.own("one process and two shards choose the same labels in the same order",
               measured(different, "<=", 0, where, 0))  # fmt: skip


def ambiguity(problem: Problem) -> float:
    """The mean number of tags that a word of the text may have."""
    return float(np.diff(problem.lists.begin)[problem.lists.types].mean())


def _gold_labels(problem: Problem) -> int:
    pairs = {pair for tags in problem.text.tags
             for pair in zip(["<s>", *tags], [*tags, "</s>"], strict=True)}  # fmt: skip
    return len(pairs)


def _compare(problem: Problem, seed: int) -> tuple[dict[str, float], float]:
    """EM and DMLC + EM on a text: accuracies, labels and times; and the p-value of their difference."""
    row: dict[str, float] = {"words": problem.text.n_words, "tags": len(problem.dictionary.tags),
                             "tags a word": ambiguity(problem)}  # fmt: skip
    right = []
    for name, method in (("EM", "em"), ("DMLC + EM", "dmlc")):
        started = time.process_time()
        tags = induce(problem.lists, InducedTaggerSettings(objective=method, seed=seed)).tags
        row[f"{name}, CPU s"] = time.process_time() - started
        report = problem.report(tags)
        row[name] = 100 * report.accuracy
        row[f"{name}, ambiguous"] = 100 * report.groups["ambiguous"].total().accuracy
        row[f"{name}, labels"] = int(observed_transitions(problem.lists, tags).sum())
        right.append(report.right)
    return row, mcnemar(right[1], right[0]).p


def _languages(options: RecipeOptions, result: RecipeResult) -> None:
    words = 4_000 if options.quick else 40_000
    columns = ["words", "tags", "tags a word", "EM", "DMLC + EM", "EM, labels", "DMLC + EM, labels", "p"]
    digits = {"words": 0, "tags": 0, "EM, labels": 0, "DMLC + EM, labels": 0, "p": 4}
    own = Table("Other languages: fine tags, dictionary of the text itself", columns, digits=digits)
    wik = Table("Other languages: universal tags, dictionary of Wiktionary", columns, digits=digits)
    texts = {
        "Greek": material.treebank(options, "Greek-GDT/train", "upos+feats", words),
        "Italian": material.treebank(options, "Italian-ParTUT/train", "xpos", words),
        "Portuguese": material.treebank(options, "Portuguese-Bosque/train", "upos+feats", words),
        "Spanish": material.spanish(options, words),
    }
    for name, text in texts.items():
        row, p = _compare(Problem.of(text, material.dictionary_of(text)), options.seed)
        own.add(name, {**{column: row[column] for column in columns[:-1]}, "p": p})
    universal = {
        "Danish": ("da", material.UD.format("Danish-DDT/dev")),
        "Greek": ("el", material.UD.format("Greek-GDT/train")),
        "Spanish": ("es", material.UD.format("Spanish-GSD/test")),
        "Portuguese": ("pt", material.UD.format("Portuguese-Bosque/train")),
    }
    for name, (code, path) in universal.items():
        problem = Problem.of(tagged(options, path, words), dictionary(options, code))
        row, p = _compare(problem, options.seed)
        wik.add(name, {**{column: row[column] for column in columns[:-1]}, "p": p})
    own.note = "Greek and Portuguese: part of speech and features; Italian and Spanish: their own tags."
    result.tables += [own, wik]
    for table, dictionary_of in ((own, "its own"), (wik, "Wiktionary")):
        language_claims(result, table, dictionary_of)


def language_claims(result: RecipeResult, table: Table, dictionary_of: str) -> None:
    """The claim about other languages, from a table of them."""
    for each in table.rows:
        value, p = float(each.ours["DMLC + EM"] or 0) - float(each.ours["EM"] or 0), float(each.ours["p"] or 0)
        cells = tuple((table.title, each.name, column) for column in ("DMLC + EM", "EM"))
        better = gain(value, p=p, where=f"{each.name}, {dictionary_of} dictionary")
        result.claim("DMLC + EM is above EM in other languages", replace(better, cells=cells))


def _large_tag_sets(options: RecipeOptions, result: RecipeResult) -> None:
    words = 3_000 if options.quick else 25_000
    columns = ["words", "tags", "tags a word", "EM", "EM, ambiguous", "DMLC + EM", "DMLC + EM, ambiguous", "EM, labels",
               "DMLC + EM, labels", "DMLC + EM, CPU s"]  # fmt: skip
    table = Table("Large tag sets, in the place of supertags: part of speech and features", columns,
                  digits={"words": 0, "tags": 0, "EM, labels": 0, "DMLC + EM, labels": 0})  # fmt: skip
    for name in ("Turkish-IMST", "Latin-UDante"):
        text = material.treebank(options, f"{name}/train", "upos+feats", words)
        row, p = _compare(Problem.of(text, material.dictionary_of(text)), options.seed)
        table.add(name, {column: row[column] for column in columns})
        result.claim("DMLC + EM is above EM on large tag sets", gain(row["DMLC + EM"] - row["EM"], p=p, where=name))
    table.add("CCGbank (paper)", {}, {"EM": 45.6, "EM, ambiguous": 38.7, "DMLC + EM": 59.3,
                                      "DMLC + EM, ambiguous": 55.9, "tags": 1_241})  # fmt: skip
    result.tables.append(table)


def _malagasy(options: RecipeOptions, result: RecipeResult) -> None:
    raw = material.malagasy_raw(options, 5_000 if options.quick else 60_000)
    test = material.malagasy_test(options)
    columns = [f"{what}, {stage}" for stage in ("large", "small") for what in ("all", "known", "unknown")]
    table = Table("Malagasy: words of the test text, those of the dictionary and others", columns)
    paper = {"all": (81.1, 70.8), "unknown": (66.7, 46.5)}
    rows: dict[str, dict[str, float]] = {}
    systems: dict[str, dict[str, object]] = {
        "EM": {"objective": "em"},
        "DMLC + EM": {},
        "grown dictionary, EM": {"objective": "em", "grow": True},
        "grown dictionary, DMLC + EM": {"grow": True},
        "grown dictionary, DMLC, EM from its tagging": {"grow": True, "fitting": "tagging"},
        "the same, tagger": {"grow": True, "fitting": "tagging", "tagger": "adagrad"},
        "the same, tagger, test text in the raw text": {"grow": True, "fitting": "tagging", "tagger": "adagrad"},
    }
    for stage, code in (("large", "lc8"), ("small", "lc1")):
        known = material.malagasy_dictionary(options, code)
        for name, chosen in systems.items():
            text = raw + test.words if name.endswith("test text in the raw text") else raw
            own = {key: value for key, value in chosen.items() if key != "grow"}
            settings = InducedTaggerSettings.from_options(
                {"column": "xpos", "rules": False, "seed": options.seed, **own}
            )
            tagger = TagInducer(settings, grow_dictionary(text, known) if chosen.get("grow") else known)
            tagger.fit([Doc.from_words(text)])
            report = _scored(tagger, test, known)
            rows.setdefault(name, {})[f"all, {stage}"] = 100 * report.accuracy
            for group in ("known", "unknown"):
                rows[name][f"{group}, {stage}"] = 100 * report.groups[group].total().accuracy
    for name, row in rows.items():
        theirs = {
            f"{what}, {stage}": pair[k] for what, pair in paper.items() for k, stage in enumerate(("large", "small"))
        }
        table.add(name, row, theirs if name == "the same, tagger" else None)
    table.note = (
        f"Dictionaries of 2,773 and 329 pairs of word and tag; {sum(map(len, raw)):,} words of raw text, the test text "
        "not among them but in the last row. The paper's figures are those of its pipeline (propagation, DMLC, EM, "
        "MEMM) on 100,000 words."
    )
    result.tables.append(table)
    best, plain = rows["the same, tagger"]["all, large"], rows["DMLC + EM"]["all, large"]
    result.claim("Malagasy: the pipeline is at least {bar} points above DMLC + EM alone",
                 of_scores(best, plain, sum(map(len, test.words)), sense=">=", bar=5))  # fmt: skip
    result.claim("Malagasy: the pipeline reaches {bar} with the large dictionary", measured(best, ">=", 81.1))


def _scored(tagger: TagInducer, test: Sentences, known: TagDictionary) -> TagReport:
    doc = Doc.from_words(test.words)
    tagger([doc])
    tags = iter(doc.column("xpos"))
    system: Sequence[Sequence[str]] = [[next(tags) for _ in sentence] for sentence in test.words]
    covered = {word for word in set(test.flat_words) if known.tags_of(word)}
    return evaluate_labels(test.tags, system, test.words, covered)
