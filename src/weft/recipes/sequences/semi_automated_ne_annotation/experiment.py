"""Semi-automated named entity annotation (Ganchev, Pereira, Mandel, Carroll and White, LAW 2007).

A recall-oriented tagger trained on the first half of a corpus proposes mentions in the second half; an annotator who
only accepts or rejects turns them into training data. Training is by k-best MIRA with the loss  a * false alarms + b *
misses  over mentions with alternative boundaries. Arms: (A) the first half alone, (B) with m sentences of the second
half annotated manually with alternatives, (C) the same without alternatives, (D) with all of it filtered by accepting
or rejecting.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.annotate.mentions import Mention, Proposal, references_of, score_mentions
from weft.annotate.proposer import Proposer, ProposerSettings, propose
from weft.annotate.simulate import break_even, effort, filtered_f1, simulate
from weft.evaluate.counts import Counts
from weft.evaluate.significance import confidence_interval, paired_bootstrap
from weft.recipes.claims import compared, measured, of_scores
from weft.recipes.corpora.segment_samples import stand_off
from weft.recipes.framework import Curve, RecipeOptions, RecipeResult, Table
from weft.recipes.sequences.semi_automated_ne_annotation.data import (
    ALTERNATIVES,
    LABEL,
    LAYER,
    Sentence,
    gene_document,
    gene_sentences,
)
from weft.recipes.variation import Variation

SLUG = "semi-automated-ne-annotation"
OTHER = "ner/jnlpba/train-800-abstracts.standoff.tar.gz"
GENES = {"protein", "DNA", "RNA"}  # the second corpus's labels for genes
RATIOS = (1.0, 2.0, 5.0, 10.0, 20.0)
WANTED = 0.88  # recall that a proposer should reach
ONE, TWO = "one labelling", "two labellings"  # whose mentions are proposed
PLAIN = "by hand, without"  # alternatives


@dataclass(frozen=True)
class Sizes:
    """How much of the corpus is used."""

    half: int = 6000
    tuning: int = 3000
    test: int = 5000
    steps: tuple[float, ...] = (1 / 3, 2 / 3, 1.0)
    subsets: int = 3
    epochs: int = 6


QUICK = Sizes(half=600, tuning=300, test=400, steps=(0.5, 1.0), subsets=1, epochs=3)


@dataclass
class Halves:
    """The parts of the corpus."""

    first: list[Sentence]
    second: list[Sentence]
    tuning: list[Sentence]
    test: list[Sentence]


def load(options: RecipeOptions, sizes: Sizes) -> Halves:
    """6,000 sentences of the training part, 6,000 more, the rest with the development part, and the test part."""
    train, test = gene_sentences(options, "train"), gene_sentences(options, "test")
    half = sizes.half
    rest = train[12_000:] + gene_sentences(options, "dev")
    return Halves(train[:half], train[half : 2 * half], rest[: sizes.tuning], test[: sizes.test])


def train(sentences: list[Sentence], miss: float = 1.0, epochs: int = 5, seed: int = 0) -> Proposer:
    """A tagger for which a miss costs `miss` times a false alarm.

    It learns the best-scoring correct labelling: on held-out sentences this misses less than learning the one that
    annotators chose. Labels are BIOES, which has higher recall than the paper's B, I and O.
    """
    settings = ProposerSettings(
        layer=LAYER, alternatives=ALTERNATIVES, miss=miss, target="best", scheme="BIOES", epochs=epochs, seed=seed
    )  # fmt: skip
    proposer = Proposer(settings)
    proposer.fit([gene_document(sentences)])
    return proposer


def ask(taggers: Sequence[Proposer], sentences: list[Sentence], top: int = 1) -> list[list[Proposal]]:
    """The taggers' proposals for sentences."""
    return propose(taggers, gene_document(sentences), top)


def scored(proposals: Sequence[Sequence[Proposal]], sentences: list[Sentence]) -> Counts:
    """Score proposals against mentions and alternatives."""
    references = references_of(gene_document(sentences), LAYER, ALTERNATIVES)
    return score_mentions(references, [[(p.start, p.end, p.label) for p in found] for found in proposals])


def filtered(sentences: list[Sentence], proposals: Sequence[Sequence[Proposal]]) -> tuple[list[Sentence], int, Counts]:
    """The sentences after a simulated annotator, the number of questions, and the quality of the result."""
    references = references_of(gene_document(sentences), LAYER, ALTERNATIVES)
    answered = simulate(references, proposals)
    left = [
        Sentence(sentence.words, tuple((start, end) for start, end, _ in mentions), ())
        for sentence, mentions in zip(sentences, answered.mentions, strict=True)
    ]
    return left, answered.decisions, score_mentions(references, answered.mentions)


def other_corpus(options: RecipeOptions, limit: int | None = None) -> list[Sentence]:
    """The second proposer's training data: another corpus, with a different definition of a gene."""
    found: list[Sentence] = []
    for sample in stand_off(options.find(OTHER))[:limit]:
        runs: list[Mention] = sorted({(*parts[0], LABEL) for parts, label in sample.segments if label in GENES})
        flat: list[tuple[int, int]] = []
        for start, end, _ in runs:
            if not flat or flat[-1][1] <= start:
                flat.append((start, end))
        found.append(Sentence(sample.words, tuple(flat), ()))
    return found


VARIATION = Variation((Sizes,))


def run(options: RecipeOptions) -> RecipeResult:
    """The sweep of b / a, the proposers, the arms, and the effort."""
    result = RecipeResult(SLUG)
    sizes = options.varied(QUICK if options.quick else Sizes())
    halves = load(options, sizes)
    balanced, (ratio, recall_tagger) = _sweep(options, result, sizes, halves)
    proposals = _proposers(options, result, sizes, halves, ratio, recall_tagger)
    _arms(options, result, sizes, halves, balanced, proposals)
    result.notes.append(
        "Sentences of BioCreative II: 6,000 + 6,000 of its training part (paper 5,992 + 5,982), its own test part. No "
        "part-of-speech tags. The timing study (40 s and 10 s a sentence, one expert) cannot be repeated; `weft "
        "review` logs the time of every answer so that a user can."
    )
    return result


def _sweep(
    options: RecipeOptions, result: RecipeResult, sizes: Sizes, halves: Halves
) -> tuple[Proposer, tuple[float, Proposer]]:
    """Precision, recall and questions by the cost of a miss, on tuning sentences: the balanced tagger, the chosen."""
    columns = ["P", "R", "F", "questions a sentence", "top-2 P", "top-2 R", "top-2 questions", "CPU s"]
    table = Table("The cost of a miss, tuning sentences", columns, digits={"CPU s": 0})
    recalls: list[float] = []
    taggers: list[tuple[float, Proposer]] = []
    for ratio in (1.0, 5.0, 20.0) if options.quick else RATIOS:
        started = time.process_time()
        taggers.append((ratio, train(halves.first, ratio, sizes.epochs, options.seed)))
        seconds = time.process_time() - started
        counts, double = (scored(ask([taggers[-1][1]], halves.tuning, top), halves.tuning) for top in (1, 2))
        one, two = counts.total(), double.total()
        ours = {
            **_percent(counts),
            "questions a sentence": one.system / len(halves.tuning),
            "top-2 P": 100 * two.precision,
            "top-2 R": 100 * two.recall,
            "top-2 questions": two.system / len(halves.tuning),
            "CPU s": seconds,
        }
        table.add(f"b / a = {ratio:g}", ours, None, {"F": _interval(counts)})
        recalls.append(one.recall)
    table.note = "Top 2: the mentions of the two best labellings. The paper's tagger has a recall of 89.6."
    result.tables.append(table)
    sweep_claims(result, table, int(one.gold), options.quick)
    reached = [number for number, recall in enumerate(recalls) if recall >= WANTED]
    return taggers[0][1], taggers[reached[0] if reached else int(np.argmax(recalls))]


def sweep_claims(result: RecipeResult, table: Table, mentions: int, quick: bool) -> None:
    """Claims about the cost of a miss, given the number of mentions to find."""
    first, last = (table.rows[number].ours for number in (0, -1))
    recall, precision = ((float(first[each] or 0), float(last[each] or 0)) for each in ("R", "P"))
    result.claim("recall rises and precision falls with the cost of a miss",
                 of_scores(recall[1], recall[0], mentions, "recall"),
                 of_scores(precision[0], precision[1], mentions, "precision, lost"), required=not quick)  # fmt: skip
    best = max(float(row.ours["R"] or 0) for row in table.rows)
    result.claim("a recall of {bar} % is within reach", measured(best, ">=", 88, digits=1), required=not quick)
    away = measured(abs(recall[0] - 80), "<=", 5, f"{recall[0]:.1f} %, off by", 1)
    result.claim("the recall of the balanced tagger is within {bar} points of 80 %", away, required=not quick)


def _proposers(
    options: RecipeOptions, result: RecipeResult, sizes: Sizes, halves: Halves, ratio: float, single: Proposer
) -> dict[str, list[list[Proposal]]]:
    """One tagger, its two best labellings, two taggers: recall, questions, and the corpus after filtering."""
    second = train(other_corpus(options, 600 if options.quick else None), ratio, sizes.epochs, options.seed)
    kinds = {
        "one tagger": ([single], 1),
        "one tagger, top 2": ([single], 2),
        "another corpus's tagger": ([second], 1),
        "two taggers, top 2": ([single, second], 2),
    }
    columns = ["P", "R", "questions a sentence", "questions", "F filtered", "2R/(1+R)"]
    table = Table("Proposers on the second half", columns, digits={"questions": 0})
    recalls: dict[str, float] = {}
    asked: dict[str, list[list[Proposal]]] = {}
    for name, (taggers, top) in kinds.items():
        asked[name] = ask(taggers, halves.second, top)
        counts = scored(asked[name], halves.second)
        _, decisions, after = filtered(halves.second, asked[name])
        recalls[name] = counts.total().recall
        ours = {
            "P": 100 * counts.total().precision,
            "R": 100 * counts.total().recall,
            "questions a sentence": decisions / len(halves.second),
            "questions": decisions,
            "F filtered": 100 * after.total().f1,
            "2R/(1+R)": 100 * filtered_f1(counts.total().recall),
        }
        paper = {"R": 89.6, "questions": 9981, "questions a sentence": 1.67, "F filtered": 94.7}
        table.add(name, ours, paper if name == "one tagger" else None)
    result.tables.append(table)
    union = recalls["two taggers, top 2"]
    least = 100 * (union - max(recalls.values()))
    result.own("the union of two taggers finds at least what each finds", measured(least, ">=", 0))
    return {ONE: asked["one tagger"], TWO: asked["one tagger, top 2"]}


def _arms(
    options: RecipeOptions,
    result: RecipeResult,
    sizes: Sizes,
    halves: Halves,
    balanced: Proposer,
    proposals: dict[str, list[list[Proposal]]],
) -> None:
    """Learning curves of manual annotation, with and without alternatives, against accepting or rejecting."""
    needed, half = not options.quick, len(halves.second)
    arm_a = scored(ask([balanced], halves.test), halves.test)
    curves, full = _by_hand(options, sizes, halves, arm_a)
    by_hand = dict(curves)
    table = Table("Test F, alternatives count as right", ["P", "R", "F", "questions"], digits={"questions": 0})
    table.add("first half", _percent(arm_a), {"F": 81.0}, {"F": _interval(arm_a)})
    told = []
    for name, asked in proposals.items():
        left, decisions, quality = filtered(halves.second, asked)
        arm_d = scored(ask([train(halves.first + left, 1.0, sizes.epochs, options.seed)], halves.test), halves.test)
        level = 100 * arm_d.total().f1
        curves[f"yes and no, {name}"] = [(0.0, level), (float(half), level)]
        paper = {"F": 82.8, "questions": 9981.0} if name == ONE else None
        row = {**_percent(arm_d), "questions": float(decisions)}
        table.add(f"first half + second by yes and no, {name}", row, paper, {"F": _interval(arm_d)})
        gain = paired_bootstrap(arm_d, arm_a, samples=2000)
        even = {by: break_even(points, level) for by, points in by_hand.items()}
        shares = {by: "more than all" if m is None else f"{m / half:.2f}" for by, m in even.items()}
        told.append(
            f"Yes and no, {name}: filtered corpus F {100 * quality.total().f1:.2f}; gain {100 * gain.difference:.2f} "
            f"[{100 * gain.low:.2f}, {100 * gain.high:.2f}], p {gain.p:.3f}; as good is this share of the half "
            + "; ".join(f"{by}, {share}" for by, share in shares.items())
        )
        result.claim("yes and no on the second half raise F over the first half", compared(gain, name), required=needed)
        below = paired_bootstrap(arm_d, full, samples=2000)
        result.claim("yes and no on the second half are below annotating it by hand", compared(below, name, "<"))
        m = even[PLAIN]
        worth = measured(100 if m is None else 100 * m / half, ">=", 50, f"{name}, at least" if m is None else name, 0)
        result.claim("yes and no are worth at least {bar} % of the sentences annotated by hand", worth, required=needed)
    table.add("both halves by hand", _percent(full), None, {"F": _interval(full)})
    table.note = ". ".join(told) + " (paper, one labelling: about 1/3 and 2/3)."
    result.tables.append(table)
    result.curves.append(Curve("Test F by sentences of the second half", "sentences", "F", curves))
    work = effort(1.67, 10 / 40)
    result.own("the effort of the paper, 1.67 x 0.25, differs from 0.42 by less than {bar}",
               measured(abs(work - 0.42), "<", 0.005, digits=4))  # fmt: skip


def _by_hand(
    options: RecipeOptions, sizes: Sizes, halves: Halves, arm_a: Counts
) -> tuple[dict[str, list[tuple[float, float]]], Counts]:
    """Test F by manually annotated sentences of the second half, and the counts with all of them."""
    curves: dict[str, list[tuple[float, float]]] = {}
    full = arm_a
    for name, hints in (("by hand, with alternatives", True), (PLAIN, False)):
        points = [(0.0, 100 * arm_a.total().f1)]
        for share in sizes.steps:
            m = round(share * len(halves.second))
            scores = []
            for subset in range(1 if share == 1.0 else sizes.subsets):
                order = np.random.default_rng(options.seed + subset).permutation(len(halves.second))[:m]
                extra = [halves.second[i] for i in sorted(order.tolist())]
                kept = extra if hints else [each._replace(alternatives=()) for each in extra]
                tagger = train(halves.first + kept, 1.0, sizes.epochs, options.seed)
                counts = scored(ask([tagger], halves.test), halves.test)
                scores.append(100 * counts.total().f1)
                full = counts if hints and share == 1.0 else full
            points.append((float(m), float(np.mean(scores))))
        curves[name] = points
    return curves, full


def _percent(counts: Counts) -> dict[str, float]:
    score = counts.total()
    return {"P": 100 * score.precision, "R": 100 * score.recall, "F": 100 * score.f1}


def _interval(counts: Counts) -> tuple[float, float]:
    interval = confidence_interval(counts, samples=1000)
    return 100 * interval.low, 100 * interval.high
