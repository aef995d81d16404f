"""Chinese parsing exploiting characters (Zhang, Zhang, Che & Liu, ACL 2013).

From a string of characters, one shift-reduce search predicts words, tags, the phrase-structure tree and word-internal
structure. It is compared with the same search with flat words, one without head-character features, and a pipeline: a
joint segmenter and tagger, then a parser over words trained on jackknifed tags.

The paper trains on 18,000 sentences of the Chinese Treebank 5. Available are the 1,000 training sentences (and 100 each
of dev and test) of version 6 that its authors released with the word structures, so scores are lower and differences
less certain. Epochs are chosen on dev; each system uses the test file once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from weft.evaluate.significance import confidence_interval, paired_bootstrap
from weft.evaluate.trees.parseval import ParsevalReport, evaluate_constituents
from weft.evaluate.trees.word_structures import StructureReport, evaluate_structures
from weft.recipes.claims import compared, measured
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.parsing.chinese_character_parser.data import Material, load
from weft.recipes.variation import Variation
from weft.tasks.constituents.parser import ConstituentParser, ConstituentSettings, Sentence, document_of
from weft.text.trees import Tree, rebuild

SLUG = "chinese-character-parser"
PAPER: dict[str, dict[str, float]] = {
    "pipeline": {"Seg F": 97.69, "Tag F": 93.83, "Parse P": 81.58, "Parse R": 82.95, "Parse F": 82.26},
    "joint, flat words": {"Seg F": 97.73, "Tag F": 94.48, "Parse P": 83.39, "Parse R": 83.84, "Parse F": 83.61},
    "joint, annotated words": {
        "Seg F": 97.84, "Tag F": 94.80, "Parse P": 84.42, "Parse R": 84.43, "Parse F": 84.43, "WS F": 94.35,
    },
}  # fmt: skip
PAPER_SPEED = {1: 318.2, 4: 98.0, 16: 30.3}
COLUMNS = ["Seg F", "Tag F", "Parse P", "Parse R", "Parse F", "WS F", "epoch"]


@dataclass(frozen=True)
class Sizes:
    """The size of the experiment. The paper: beam 64 (16 for the segmenter), 20 to 50 epochs, 10 parts."""

    sentences: int = 1000
    beam: int = 4
    beams: tuple[int, ...] = (1, 4, 16)
    epochs: int = 25
    tagger_beam: int = 8
    tagger_epochs: int = 15
    parts: int = 4
    curve: tuple[int, ...] = (250,)  # sentences of the comparison on dev
    curve_beams: tuple[int, ...] = (4, 16)
    curve_epochs: int = 12
    widest: int = 64  # with the fewest sentences only


FULL = Sizes()
QUICK = Sizes(sentences=150, beams=(1, 4), epochs=4, tagger_epochs=4, parts=2, curve=())


@dataclass
class Outcome:
    """A system's predictions and scores."""

    sentences: list[Sentence]
    scores: ParsevalReport
    structures: StructureReport
    epoch: int


def score(gold: Sequence[Sentence], found: list[Sentence], known: set[str], epoch: int = 0) -> Outcome:
    """Words, tags, brackets and word structures."""
    ours, theirs = document_of(gold), document_of(found)
    return Outcome(found, evaluate_constituents([ours], [theirs]), evaluate_structures(ours, theirs, known), epoch)


def vocabulary(sentences: Sequence[Sentence]) -> set[str]:
    """The words of sentences."""
    return {word for sentence in sentences for word, _ in sentence.words()}


def train_joint(
    train: Sequence[Sentence], dev: Sequence[Sentence], beam: int, epochs: int, seed: int = 0, **settings: object
) -> tuple[ConstituentParser, int]:
    """A parser over characters, and the epoch that was best on dev."""
    parser = ConstituentParser(ConstituentSettings(beam=beam, epochs=epochs, seed=seed, **settings))  # type: ignore[arg-type]
    return parser, int(parser.learn(train, dev)["training"]["epoch"])


@dataclass
class PipelineParser:
    """A segmenter and tagger, followed by a parser over words."""

    tagger: ConstituentParser
    parser: ConstituentParser

    def parse_like(self, gold: Sequence[Sentence]) -> list[Sentence]:
        """The sentences predicted from the characters of given ones."""
        return self.parser.parse_like(self.tagger.parse_like(gold))


@dataclass
class Tagging:
    """The first stage of the pipeline: a segmenter and tagger, and the tags of training words by jackknifing."""

    tagger: ConstituentParser
    tags: list[list[str]]


def train_tagging(train: Sequence[Sentence], dev: Sequence[Sentence], sizes: Sizes, seed: int = 0) -> Tagging:
    """The first stage, which is the same whatever the beam of the parser."""

    def tagger_of(sentences: Sequence[Sentence], held: Sequence[Sentence] = ()) -> ConstituentParser:
        settings = ConstituentSettings(phrases=False, beam=sizes.tagger_beam, epochs=sizes.tagger_epochs, seed=seed)
        tagger = ConstituentParser(settings)
        tagger.learn(sentences, held)
        return tagger

    tags: list[list[str]] = [[] for _ in train]
    for part in range(sizes.parts):
        inside = range(part, len(train), sizes.parts)
        outside = [sentence for number, sentence in enumerate(train) if number % sizes.parts != part]
        found = tagger_of(outside).tag([[word for word, _ in train[number].words()] for number in inside])
        for number, own in zip(inside, found, strict=True):
            tags[number] = own
    return Tagging(tagger_of(train, dev), tags)


def train_pipeline(
    train: Sequence[Sentence], dev: Sequence[Sentence], sizes: Sizes, seed: int = 0, tagging: Tagging | None = None
) -> tuple[PipelineParser, int]:
    """The baseline; its word parser is trained on tags predicted for unseen sentences."""
    first = tagging or train_tagging(train, dev, sizes, seed)
    settings = ConstituentSettings(units="words", beam=sizes.beam, epochs=sizes.epochs, seed=seed)
    parser = ConstituentParser(settings)
    held = _like(dev, first.tagger.tag([[word for word, _ in sentence.words()] for sentence in dev]))
    epoch = int(parser.learn(train, held, tags=first.tags)["training"]["epoch"])
    return PipelineParser(first.tagger, parser), epoch


def _like(sentences: Sequence[Sentence], tags: Sequence[Sequence[str]]) -> list[Sentence]:
    """The sentences with other tags."""
    found = []
    for sentence, own in zip(sentences, tags, strict=True):
        given = iter(own)
        tree = rebuild(sentence.tree, lambda leaf, given=given: leaf._replace(label=next(given)), Tree)  # type: ignore[misc]
        assert tree is not None
        found.append(Sentence(tree, sentence.structures))
    return found


def speed(parser: ConstituentParser, sentences: Sequence[Sentence], beam: int) -> float:
    """Sentences parsed per second of CPU time."""
    texts = ["".join(word for word, _ in sentence.words()) for sentence in sentences]
    parser.parse(texts[:2], beam=beam)
    started = time.process_time()
    parser.actions(texts, beam=beam)
    return len(texts) / (time.process_time() - started)


VARIATION = Variation((Sizes,))


def run(options: RecipeOptions) -> RecipeResult:
    """The systems, the beams, unknown words."""
    result = RecipeResult(SLUG)
    sizes = options.varied(QUICK if options.quick else FULL)
    material = load(options)
    material.train = material.train[: sizes.sentences]
    known = vocabulary(material.train)
    jobs = _jobs(material, sizes, options.seed)
    with ThreadPoolExecutor(options.workers) as threads:
        trained = dict(zip(jobs, threads.map(lambda job: job(), jobs.values()), strict=True))
    found = {
        name: score(material.test, parser.parse_like(material.test), known, epoch)
        for name, (parser, epoch) in trained.items()
    }
    _systems(options, result, sizes, found)
    _beams(options, result, material, sizes, trained, found)
    _unknown_words(result, found["joint, annotated words"])
    if sizes.curve:
        _leads(options, result, material, sizes, trained)
    result.notes.append(
        f"{len(material.train):,} training sentences, {len(material.test)} test sentences; beam {sizes.beam} for "
        f"parsers (paper 64) and {sizes.tagger_beam} for the segmenter (paper 16), up to {sizes.epochs} epochs, tags "
        f"of the pipeline's training sentences by {sizes.parts}-fold jackknifing (paper 10)."
    )
    return result


Trained = tuple["ConstituentParser | PipelineParser", int]


def _jobs(material: Material, sizes: Sizes, seed: int) -> dict[str, Callable[[], Trained]]:
    """Train all systems, the largest first."""
    train, dev = material.train, material.dev

    def joint(beam: int, **settings: object) -> Callable[[], Trained]:
        return lambda: train_joint(train, dev, beam, sizes.epochs, seed, **settings)

    jobs: dict[str, Callable[[], Trained]] = {}
    for beam in sorted(sizes.beams, reverse=True):
        jobs["joint, annotated words" if beam == sizes.beam else f"beam {beam}"] = joint(beam)
    jobs["joint, flat words"] = joint(sizes.beam, structures="flat")
    jobs["joint, annotated, no head characters"] = joint(sizes.beam, head_characters=False)
    tagging = train_tagging(train, dev, sizes, seed)
    jobs["pipeline"] = lambda: train_pipeline(train, dev, sizes, seed, tagging)
    widest = replace(sizes, beam=max(sizes.beams))
    if widest != sizes:
        jobs[f"pipeline, beam {widest.beam}"] = lambda: train_pipeline(train, dev, widest, seed, tagging)
    return jobs


def figures(outcome: Outcome) -> dict[str, float]:
    """The values of a row."""
    report = outcome.scores
    brackets = report.brackets.total()
    return {
        "Seg F": 100 * report.words.total().f1, "Tag F": 100 * report.tags.total().f1,
        "Parse P": 100 * brackets.precision, "Parse R": 100 * brackets.recall, "Parse F": 100 * brackets.f1,
    }  # fmt: skip


def _systems(options: RecipeOptions, result: RecipeResult, sizes: Sizes, found: dict[str, Outcome]) -> None:
    """Table 2 of the paper, and the row without head characters."""
    table = Table("Test", COLUMNS, digits={"epoch": 0})
    order = ("pipeline", "joint, flat words", "joint, annotated words", "joint, annotated, no head characters")
    for name in [*order, *(name for name in found if "beam" in name and name.endswith(str(max(sizes.beams))))]:
        outcome = found[name]
        ours = {**figures(outcome), "epoch": outcome.epoch}
        if name.startswith(("joint, annotated", "beam")):
            ours["WS F"] = 100 * outcome.structures.counts.total().f1
        interval = confidence_interval(outcome.scores.brackets, "f1", 2000, options.seed)
        label = name.replace("beam", "joint, annotated words, beam") if name.startswith("beam") else name
        table.add(label, ours, PAPER.get(name), {"Parse F": (100 * interval.low, 100 * interval.high)})
    result.tables.append(table)
    claims = (
        ("the joint parser with annotated words is above the pipeline in Parse F", order[2], order[0], "brackets"),
        ("the joint parser with annotated words is above the pipeline in Tag F", order[2], order[0], "tags"),
        ("the joint parser with flat words is above the pipeline in Parse F", order[1], order[0], "brackets"),
        ("annotated words are better than flat ones in Parse F", order[2], order[1], "brackets"),
        ("head characters raise Parse F (paper: 0.6)", order[2], order[3], "brackets"),
    )

    def add(claim: str, better: str, worse: str, measure: str, where: str = "") -> None:
        a, b = (getattr(found[name].scores, measure) for name in (better, worse))
        result.claim(claim, compared(paired_bootstrap(a, b, "f1", 2000, options.seed), where))

    for claim, better, worse, measure in claims:
        add(claim, better, worse, measure, f"beam {sizes.beam}" if worse == order[0] else "")
    widest = max(sizes.beams)
    if widest != sizes.beam:
        for claim, _, worse, measure in claims[:2]:
            add(claim, f"beam {widest}", f"{worse}, beam {widest}", measure, f"beam {widest}")
    lost = 100 * (found[order[2]].scores.words.total().f1 - found[order[0]].scores.words.total().f1)
    result.own("the pipeline's tagger segments at most {bar} F worse than the joint parser", measured(lost, "<=", 3))


def _beams(
    options: RecipeOptions, result: RecipeResult, material: Material, sizes: Sizes, trained: dict[str, Trained],
    found: dict[str, Outcome],
) -> None:  # fmt: skip
    """Figure 6: accuracy and speed by beam width, the same in training and parsing."""
    table = Table("Width of the beam, test", ["Seg F", "Tag F", "Parse F", "sentences/s"], digits={"sentences/s": 1})
    rates, before = [], None
    for beam in sizes.beams:
        name = "joint, annotated words" if beam == sizes.beam else f"beam {beam}"
        own = figures(found[name])
        parser = trained[name][0]
        assert isinstance(parser, ConstituentParser)
        rates.append(speed(parser, material.test, beam))
        brackets = found[name].scores.brackets
        if before is not None:
            wider = paired_bootstrap(brackets, before, "f1", 2000, options.seed)
            result.claim("a wider beam parses better", compared(wider, f"beam {beam}"), required=not options.quick)
        before = brackets
        ours = {key: own[key] for key in ("Seg F", "Tag F", "Parse F")} | {"sentences/s": rates[-1]}
        table.add(str(beam), ours, {"sentences/s": PAPER_SPEED[beam]} if beam in PAPER_SPEED else None)
    result.tables.append(table)
    slower = (rates[0] / rates[-1]) / (sizes.beams[-1] / sizes.beams[0])
    where = f"beam {sizes.beams[-1]} against {sizes.beams[0]}, times the proportion"
    result.own(
        "time grows with the beam in proportion, to a factor of {bar}",
        measured(max(slower, 1 / slower), "<=", 3, where), required=False,
    )  # fmt: skip


def _leads(
    options: RecipeOptions, result: RecipeResult, material: Material, sizes: Sizes, trained: dict[str, Trained]
) -> None:
    """The joint parser and the pipeline on dev, by training sentences and width of the beam."""
    columns = ["Seg F, pipeline", "Seg F, joint", "Parse F, pipeline", "Parse F, joint", "Parse F, joint - pipeline"]
    table = Table("What the joint parser needs, dev", columns)
    short = replace(sizes, epochs=sizes.curve_epochs, tagger_epochs=sizes.curve_epochs, parts=2)
    for n in sizes.curve:
        train = material.train[:n]
        tagging = train_tagging(train, (), short, options.seed)
        for beam in (*sizes.curve_beams, *([sizes.widest] if n == min(sizes.curve) else [])):
            joint = train_joint(train, (), beam, short.epochs, options.seed)[0]
            pipeline = train_pipeline(train, (), replace(short, beam=beam), options.seed, tagging)[0]
            _lead(options, table, f"{n} sentences, beam {beam}", material, joint, pipeline)
    for beam in sizes.curve_beams:
        names = (
            ("joint, annotated words", "pipeline") if beam == sizes.beam else (f"beam {beam}", f"pipeline, beam {beam}")
        )
        if set(names) <= trained.keys():
            systems = [trained[name][0] for name in names]
            _lead(options, table, f"{sizes.sentences} sentences, beam {beam}, systems of the test", material, *systems)
    table.note = (
        f"{sizes.curve_epochs} epochs and 2 parts for jackknifing, but for the systems of the test, whose epochs were "
        "chosen on dev. Intervals: paired bootstrap."
    )
    result.tables.append(table)


def _lead(
    options: RecipeOptions, table: Table, name: str, material: Material, joint: ConstituentParser | PipelineParser,
    pipeline: ConstituentParser | PipelineParser,
) -> None:  # fmt: skip
    ours, theirs = (score(material.dev, system.parse_like(material.dev), set()) for system in (joint, pipeline))
    own, other = figures(ours), figures(theirs)
    lead = paired_bootstrap(ours.scores.brackets, theirs.scores.brackets, "f1", 2000, options.seed)
    values = (other["Seg F"], own["Seg F"], other["Parse F"], own["Parse F"], own["Parse F"] - other["Parse F"])
    table.add(
        name, dict(zip(table.columns, values, strict=True)),
        interval={table.columns[-1]: (100 * lead.low, 100 * lead.high)},
    )  # fmt: skip


def _unknown_words(result: RecipeResult, outcome: Outcome) -> None:
    report = outcome.structures
    table = Table(
        "Structures of words that training data does not have", ["words", "R", "R if tagged"], digits={"words": 0}
    )
    ours = {
        "words": report.unknown,
        "R": 100 * report.unknown_recall,
        "R if tagged": 100 * report.unknown_recall_if_tagged,
    }
    table.add("joint, annotated words", ours, {"R": 60.43, "R if tagged": 87.96})
    result.tables.append(table)
    result.claim(
        "of unknown words with correct boundaries and tag, more than {bar} % have the correct structure (paper: 87.96)",
        measured(100 * report.unknown_recall_if_tagged, ">", 80, unit=f"% of {report.unknown_tagged}"),
    )
