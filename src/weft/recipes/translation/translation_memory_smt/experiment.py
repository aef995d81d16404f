"""How much a translation memory helps a translator that consults it for every phrase, by how good its match is.

    BLEU, TER     the best match, translation without memory, models I to III, matches pasted in (Koehn-10, Ma-11),
                  by fuzzy match score; the models' difference to the best match and to translation without memory
    baselines     what a localiser has for nothing: the best match if it is good, else rules (Apertium)
    retrieval     the index beside comparison with every entry

Memory and training data are the manual of Python 3.10 in English and Spanish, the segments to translate those that are
new in 3.12. Factors are learned from forced decoding of training sentences, each with the phrases of other folds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from weft.arrays import Bools, Floats, Ints
from weft.errors import DataError
from weft.evaluate.significance import Comparison
from weft.evaluate.translation.scores import Counts, compare, count
from weft.progress import progress
from weft.recipes.claims import compared, gain, measured
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.translation.translation_memory_smt.manual import Segments, is_dev, read
from weft.recipes.translation.translation_memory_smt.systems import (
    by_rules,
    extended,
    facts_of,
    forced_samples,
    learned_tables,
    pasted,
    translated,
)
from weft.recipes.variation import Variation
from weft.tasks.bitext.align import Aligner
from weft.tasks.memory.extension import MemoryExtension
from weft.tasks.memory.memory import Match, TranslationMemory
from weft.tasks.memory.pasting import frame_options, inlay_options
from weft.tasks.memory.tables import MODELS
from weft.tasks.translation.kbest import pairs_of
from weft.tasks.translation.table import TableSettings
from weft.tasks.translation.training import Material, TrainSettings
from weft.tasks.translation.translator import Translator, TranslatorSettings
from weft.tasks.translation.tuning import TuneSettings, tune

SLUG = "translation-memory-smt"
BLEU, TER, AGAINST, NOTHING, RETRIEVAL, TUNING = (
    "BLEU by fuzzy match score", "TER by fuzzy match score", "Differences in BLEU", "BLEU of all segments",
    "Retrieval", "Tuning and forced decoding",
)  # fmt: skip
BANDS = {
    "[.9, 1]": (0.9, 1.1), "[.8, .9)": (0.8, 0.9), "[.7, .8)": (0.7, 0.8), "[.6, .7)": (0.6, 0.7),
    "[.5, .6)": (0.5, 0.6), "[.4, .5)": (0.4, 0.5), "[.3, .4)": (0.3, 0.4), "[0, .3)": (-1.0, 0.3),
    "[.7, 1]": (0.7, 1.1), "all": (-1.0, 1.1),
}  # fmt: skip
SYSTEMS = ("TM", "SMT", "I", "II", "III", "Koehn-10", "Ma-11", "Ma-11-U")
_PAPER_BLEU = (
    (81.31, 81.38, 85.44, 86.47, 89.41, 82.79, 77.72, 82.78), (73.25, 76.16, 79.97, 80.89, 84.04, 79.74, 73.00, 77.66),
    (63.62, 67.71, 71.65, 72.39, 74.73, 71.02, 66.54, 69.78), (43.64, 54.56, 54.88, 55.88, 57.53, 53.06, 54.00, 56.37),
    (27.37, 46.32, 47.32, 47.45, 47.54, 39.31, 46.06, 47.73), (15.43, 37.18, 37.25, 37.60, 38.18, 28.99, 36.23, 37.93),
    (8.24, 29.27, 29.52, 29.38, 29.15, 23.58, 29.40, 30.20), (4.13, 26.38, 25.61, 25.32, 25.57, 18.56, 26.30, 26.92),
)  # fmt: skip
_PAPER_ALL = (40.17, 53.03, 54.57, 55.10, 56.51, 50.31, 51.98, 54.32)
_PAPER_TER = {
    "[.9, 1]": (9.79, 13.01, 9.22, 8.52, 6.77, 13.01, 18.80, 11.90),
    "all": (50.51, 35.88, 34.34, 34.18, 33.26, 40.75, 38.10, 34.49),
}
PAPER = {**dict(zip(BANDS, _PAPER_BLEU, strict=False)), "all": _PAPER_ALL}
#: What the plan of this experiment measured on all new segments: the best match from .6 on, else Apertium.
FOR_NOTHING = 45.8
LEAST = 0.6
SAMPLES = 1000


@dataclass(frozen=True)
class Size:
    """How much is run; None is everything."""

    train: int | None = None
    longest: int = 60  #: words of training segments
    rounds: int = 2  #: folds of forced decoding
    forced: int = 700  #: sentences of each
    dev: int = 200
    test: int | None = 1200
    k: int = 100
    decodings: int = 4  #: of tuning
    beam: int = 50
    tuned: bool = True
    copies: int = 3  #: of the memory, for retrieval
    queries: int = 1000
    slow: int = 60  #: of them compared with all entries number by number, for the time


QUICK = Size(train=3000, rounds=2, forced=150, dev=30, test=150, tuned=False, copies=1, queries=50)
ROWS = ("translation", "retrieval")
VARIATION = Variation((Size,), ROWS)


@dataclass
class _Work:
    """What the parts share."""

    options: RecipeOptions
    size: Size
    train: Segments
    dev: Segments
    test: Segments
    memory: TranslationMemory
    outputs: dict[str, list[str]] = field(default_factory=dict)
    matches: list[Match | None] = field(default_factory=list)

    @property
    def scores(self) -> Floats:
        return np.array([0.0 if match is None else match.score for match in self.matches])

    def band(self, name: str) -> Bools:
        low, high = BANDS[name]
        found: Bools = (self.scores >= low - 1e-9) & (self.scores < high - 1e-9)
        return found


def run(options: RecipeOptions) -> RecipeResult:
    """All tables."""
    size = options.varied(QUICK if options.quick else Size())
    result = RecipeResult(SLUG)
    train = read(options, "memory-3.10")
    train = train.take([row for row in range(len(train)) if _usable(train, row, size.longest)][: size.train])
    new = read(options, "new-3.12")
    if not len(train) or not len(new):
        raise DataError("the manuals hold no segments with a translation")
    dev = [row for row in range(len(new)) if is_dev(new.source[row])]
    test = [row for row in range(len(new)) if not is_dev(new.source[row])]
    memory = TranslationMemory.of_words(train.source, train.target)
    work = _Work(options, size, train, new.take(dev[: size.dev]), new.take(test[: size.test]), memory)
    for name in options.chosen({row: row for row in ROWS}):
        (_translation if name == "translation" else _retrieval)(result, work)
    result.notes.append(
        f"Words are lower-case, a span of markup is one of them. Memory and training data: {len(train):,} segments of "
        f"3.10 of up to {size.longest} words. Of the new segments of 3.12, {len(work.dev):,} for tuning and "
        f"{len(work.test):,} to test, parted by a hash. The paper has 20 rounds of forced decoding, each without 5 % "
        f"of the data; here {size.rounds} folds by page and {size.forced:,} sentences of each, words aligned once."
    )
    return result


def _usable(segments: Segments, row: int, longest: int) -> bool:
    return len(segments.source[row]) <= longest and len(segments.target[row]) <= longest


def _translation(result: RecipeResult, work: _Work) -> None:
    size, memory = work.size, work.memory
    with progress("systems", len(SYSTEMS) + 3, "systems") as bar:
        aligner = Aligner(lower=False)
        aligner.fit(work.train.source, work.train.target)
        links = memory.align(aligner)
        bar.advance(1)
        settings = TrainSettings(
            longest=7, order=5, table=TableSettings(origins=1), translator=TranslatorSettings(size.beam, 2 * size.beam),
        )  # fmt: skip
        material = Material.of(work.train.source, work.train.target, settings, links)
        pages = {page: number for number, page in enumerate(dict.fromkeys(work.train.pages))}
        fold = np.array([pages[page] % size.rounds for page in work.train.pages])
        samples, facts = forced_samples(material, memory, fold, size.rounds, size.forced, work.options.seed)
        tables = learned_tables(samples)
        bar.advance(1)
        work.matches = [next(iter(memory.matches(words)), None) for words in work.test.source]
        translator = material.translator()
        table = Table(TUNING, ["dev BLEU before", "dev BLEU", "sentences", "reached", "phrases under 5 words"])
        table.add("forced decoding", {name: facts[name] for name in table.columns[2:]}, {"reached": 71.7})
        _tuned(translator, work, "SMT", table)
        work.outputs["TM"] = ["" if match is None else " ".join(match.target) for match in work.matches]
        work.outputs["SMT"] = translated(translator, work.test)
        bar.advance(3)
        for model in MODELS:
            own = extended(translator, MemoryExtension(memory, tables, model, lower=False))
            _tuned(own, work, model, table)
            work.outputs[model] = translated(own, work.test)
            bar.advance(1)
        for name, paste in (("Koehn-10", frame_options), ("Ma-11", inlay_options)):
            work.outputs[name] = pasted(translator, memory, work.test, work.matches, paste)
            bar.advance(1)
        _report(result, work)
        bar.advance(1)
    result.tables.append(table)


def _tuned(translator: Translator, work: _Work, name: str, table: Table) -> None:
    """Tune the weights of a translator on the development part."""
    if not work.size.tuned:
        return
    pairs = pairs_of(work.dev.source, work.dev.target)
    tuned = tune([translator], pairs, _settings(work))
    table.add(name, {"dev BLEU before": 100 * tuned.before, "dev BLEU": 100 * tuned.bleu})


def _settings(work: _Work) -> TuneSettings:
    size = work.size
    return TuneSettings(
        k=size.k, rounds=size.decodings, restarts=3, seed=work.options.seed, workers=work.options.workers
    )


def _report(result: RecipeResult, work: _Work) -> None:
    references = [[" ".join(words)] for words in work.test.target]
    bleu = {name: count(found, references, "BLEU") for name, found in work.outputs.items()}
    ter = {name: count(found, references, "TER") for name, found in work.outputs.items()}
    _add_oracle(work, bleu, ter)
    _score_table(result, work, bleu, BLEU, PAPER)
    _score_table(result, work, ter, TER, _PAPER_TER)
    table = Table(AGAINST, ["III - TM", "III - SMT", "II - I", "III - II", "I - SMT", "III - Koehn-10",
                            "Koehn-10 - SMT"])  # fmt: skip
    found: dict[tuple[str, str], Comparison] = {}
    for band in BANDS:
        rows = np.flatnonzero(work.band(band))
        if not len(rows):
            continue
        ours, ends = {}, {}
        for column in table.columns:
            one, other = column.split(" - ")
            both = (_part(bleu[one], rows), _part(bleu[other], rows))
            found[band, column] = each = compare(*both, SAMPLES, work.options.seed, "bootstrap")
            ours[column], ends[column] = each.difference, (each.low, each.high)
        table.add(band, ours, interval=ends)
    table.note = "Intervals: paired bootstrap over segments, 1,000 samples, as in the paper."
    result.tables.append(table)
    nothing = _for_nothing(result, work, references, bleu)
    _claims(result, work, found, ter, nothing)


def _add_oracle(work: _Work, bleu: dict[str, Counts], ter: dict[str, Counts]) -> None:
    """Ma-11-U: of Ma-11 and SMT the better one of every segment, by smoothed BLEU."""
    better = _smoothed(bleu["Ma-11"]) > _smoothed(bleu["SMT"])
    for counts in (bleu, ter):
        rows = np.where(better[:, None], counts["Ma-11"].rows, counts["SMT"].rows)
        counts["Ma-11-U"] = Counts(counts["SMT"].metric, rows)


def _smoothed(counts: Counts) -> Floats:
    matches, totals = counts.rows[:, :4], counts.rows[:, 4:8]
    precision = np.log((matches + 0.1) / (totals + 0.1)).mean(axis=1)
    lengths = counts.rows[:, 8:10]
    found: Floats = precision + np.minimum(0.0, 1 - lengths[:, 1] / np.maximum(lengths[:, 0], 1))
    return found


def _part(counts: Counts, rows: Ints) -> Counts:
    return Counts(counts.metric, counts.rows[rows])


def _score_table(
    result: RecipeResult, work: _Work, counts: dict[str, Counts], title: str, paper: Mapping[str, tuple[float, ...]]
) -> None:
    table = Table(title, ["segments", *SYSTEMS], digits={"segments": 0, **dict.fromkeys(SYSTEMS, 1)})
    for band in BANDS:
        rows = np.flatnonzero(work.band(band))
        if len(rows):
            ours = {name: _part(counts[name], rows).score() for name in SYSTEMS}
            theirs = dict(zip(SYSTEMS, paper[band], strict=True)) if band in paper else {}
            table.add(band, {"segments": len(rows), **ours}, theirs)
    result.tables.append(table)


def _for_nothing(
    result: RecipeResult, work: _Work, references: list[list[str]], bleu: dict[str, Counts]
) -> Comparison | None:
    """What needs no training: the best match if it is good, else a translator with rules."""
    table = Table(NOTHING, ["BLEU"], digits={"BLEU": 1})
    good = work.scores >= LEAST - 1e-9
    rules = by_rules(work.test.text)
    found = None
    copied = [" ".join(words) for words in work.test.source]
    table.add("the source, copied", {"BLEU": count(copied, references).score()})
    table.add("best match", {"BLEU": bleu["TM"].score()})
    if rules is not None:
        lines = [" ".join(words) for words in rules]
        both = count([tm if use else line for tm, use, line in zip(work.outputs["TM"], good, lines, strict=True)],
                     references)  # fmt: skip
        table.add("Apertium", {"BLEU": count(lines, references).score()})
        table.add(f"best match from {LEAST} on, else Apertium", {"BLEU": both.score()})
        found = compare(bleu["III"], both, SAMPLES, work.options.seed, "bootstrap")
    mixed = [tm if use else smt for tm, use, smt in zip(work.outputs["TM"], good, work.outputs["SMT"], strict=True)]
    table.add(f"best match from {LEAST} on, else SMT", {"BLEU": count(mixed, references).score()})
    for name in ("SMT", "III"):
        table.add(name, {"BLEU": bleu[name].score()})
    table.note = f"The plan of the experiment gives {FOR_NOTHING} for best match, else Apertium, on all new segments."
    result.tables.append(table)
    return found


def _claims(
    result: RecipeResult, work: _Work, found: dict[tuple[str, str], Comparison], ter: dict[str, Counts],
    nothing: Comparison | None,
) -> None:  # fmt: skip
    def of(band: str, column: str) -> Comparison | None:
        return found.get((band, column))

    def say(text: str, bands: list[str], column: str, sense: str = ">", required: bool = False, bar: float = 0.0,
            rule: str = "every") -> None:  # fmt: skip
        figures = [
            gain(each.difference, p=each.p, interval=(each.low, each.high), sense=sense, bar=bar, where=band)  # type: ignore[arg-type]
            for band in bands
            if (each := of(band, column)) is not None
        ]
        if figures:
            result.claim(text, *figures, required=required, rule=rule)  # type: ignore[arg-type]

    full = not work.options.quick
    say("Model III is better than the best match where matches score .7 or more", ["[.7, 1]"], "III - TM",
        required=full)  # fmt: skip
    say("Model III is better than SMT where matches score .7 or more", ["[.7, 1]"], "III - SMT", required=full)
    above = [band for band in BANDS if band not in ("[.3, .4)", "[0, .3)", "[.7, 1]", "all")]
    say("Model III is better than SMT in every interval above .4", above, "III - SMT")
    say("Model III is better than the best match in every interval above .4", above, "III - TM")
    say("Model II is better than model I where matches score .7 or more", ["[.7, 1]"], "II - I")
    say("Model III is better than model II where matches score .7 or more", ["[.7, 1]"], "III - II")
    say("Model I is better than SMT where matches score .7 or more", ["[.7, 1]"], "I - SMT")
    say("Model III loses nothing to SMT where no match scores .3", ["[0, .3)"], "III - SMT", ">=", rule="unopposed")
    say("over all segments, model III gains at least {bar} BLEU on SMT (paper: 3.48)", ["all"], "III - SMT", ">=",
        bar=1.0)  # fmt: skip
    say("Model III is better than Koehn-10 in every interval", [b for b in BANDS if b not in ("[.7, 1]", "all")],
        "III - Koehn-10")  # fmt: skip
    say("Koehn-10 is better than SMT where matches score .8 or more", ["[.9, 1]", "[.8, .9)"], "Koehn-10 - SMT")
    say("Koehn-10 is worse than SMT where matches score less than .6",
        ["[.5, .6)", "[.4, .5)", "[.3, .4)", "[0, .3)"], "Koehn-10 - SMT", "<")  # fmt: skip
    rows = np.flatnonzero(work.band("[.9, 1]"))
    if len(rows):
        each = compare(_part(ter["SMT"], rows), _part(ter["TM"], rows), SAMPLES, work.options.seed, "bootstrap")
        result.claim("the best match has a lower TER than SMT where it scores .9 or more", compared(each, scale=1))
    if nothing is not None:
        result.own(
            "over all segments, model III is better than the best match from .6 on and else Apertium",
            compared(nothing, scale=1), required=full,
        )  # fmt: skip


def _retrieval(result: RecipeResult, work: _Work) -> None:
    size = work.size
    queries = [*work.test.source, *work.dev.source][: size.queries]
    facts = facts_of(work.memory, size.copies, queries, size.slow, work.options.seed)
    table = Table(RETRIEVAL, list(facts), digits={"entries": 0, "queries": 0, "same best score": 0, "index ms": 3,
                                                  "all ms": 1, "times faster": 0})  # fmt: skip
    table.add("index beside comparison with all", facts)
    table.note = (
        f"The memory {size.copies} times, each copy but the first with one word of every segment changed; comparison "
        "with all is compiled code, too, of the whole table of every edit distance; for the time it is done for "
        f"{size.slow} of the queries, and for the equality of scores by bits."
    )
    result.tables.append(table)
    same = facts["same best score"] == facts["queries"]
    result.own("the index finds the best score of every query", measured(float(same), ">", 0, digits=0))
    if not work.options.quick:
        result.own(
            "the index is at least {bar} times faster than comparison with all of 100,000 segments",
            measured(facts["times faster"], ">=", 50, digits=0, unit="times"),
        )  # fmt: skip
