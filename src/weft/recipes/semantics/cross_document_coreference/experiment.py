"""Singh, Subramanya, Pereira and McCallum (2011): coreference across documents, on links and on generated mentions.

The paper's corpus of links to Wikipedia is not at hand; links of entity-linking data sets stand for it (`links`), with
entities of ECB+ (`ecb`) beside them, and generated mentions where size and speed count (`generated`). Settings are
chosen on a quarter of the entities, the development part of ECB+, and generated mentions of another seed.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from weft import storage
from weft.arrays import Ints
from weft.errors import DataError
from weft.evaluate.clusters import Overlaps, b_cubed
from weft.infer.sampling.levels import Annealing, Level, Search, spread
from weft.recipes.claims import gain, mean_of, measured, student_interval
from weft.recipes.framework import Curve, RecipeOptions, RecipeResult, Table
from weft.recipes.semantics.cross_document_coreference import baselines, ecb, links
from weft.recipes.semantics.cross_document_coreference.generated import Generated, generated
from weft.recipes.variation import Variation
from weft.tasks.coreference.across.entities import EntityClusterer, EntitySettings
from weft.tasks.coreference.across.mentions import Mentions
from weft.tasks.coreference.across.vectors import MentionVectors, Similarity

PAPER = {
    "string match": {"B3 P": 82.7, "B3 R": 43.8, "B3 F": 57.3, "pair P": 30.0, "pair R": 66.7, "pair F": 41.5},
    "SubSquare": {"B3 P": 87.6, "B3 R": 51.4, "B3 F": 64.8, "pair P": 38.2, "pair R": 49.1, "pair F": 43.0},
    "sampler, equal names": {"B3 P": 89.4, "B3 R": 62.5, "B3 F": 73.7, "pair P": 44.2, "pair R": 61.4, "pair F": 51.4},
}
SCORES = ["B3 P", "B3 R", "B3 F", "pair P", "pair R", "pair F"]
GRADED, EQUAL = "sampler, similar names", "sampler, equal names"
#: Weights of names beside contexts, and thresholds, among which the development part chooses.
WEIGHTS, THRESHOLDS = (0.5, 0.6, 0.7), (0.35, 0.4, 0.45, 0.5, 0.55)
#: The paper's model: weights of equal names beside a weight 1 of contexts, and biases.
EQUALS, BIASES = (0.4, 0.8), (1e-4, 0.1, 0.3, 0.5, 0.7, 0.79)
OVERLAPS = (0.1, 0.3, 0.5)
#: Generated mentions: contexts say more than names, which many entities share.
MADE = Similarity(context_weight=0.9, name_weight=0.1)
MADE_THRESHOLDS = (0.12, 0.15, 0.18)
#: Person-X: biases of sub-entities, entities and super-entities, the temperature, and the score to be reached.
SUB, ENTITY, SUPER, COLD, REACHED = 0.1, 0.04, 0.02, 0.005, 0.9


@dataclass(frozen=True)
class Size:
    """Sizes of the generated sets, and numbers of seeds and of rounds."""

    seeds: int = 5
    masked: int = 2000
    masked_rounds: int = 400
    made: int = 100_000
    made_dev: int = 20_000
    rounds: int = 10
    million: int = 1_000_000
    million_rounds: int = 6
    million_reach: int = 10
    draws: int = 200


VARIATION = Variation((Size,), ("links", "ecb", "masked", "generated", "million"))
QUICK = Size(1, 800, 100, 3000, 2000, 6, 5000, 4, 5, 50)


def run(options: RecipeOptions) -> RecipeResult:
    """All tables of the system page."""
    size = options.varied(QUICK if options.quick else Size())
    result = RecipeResult("cross-document-coreference")
    if options.wants("links"):
        _links(result, options, size)
    if options.wants("ecb"):
        _ecb(result, options)
    if options.wants("masked"):
        _masked(result, size, options.seed)
    if options.wants("generated"):
        _generated(result, size, options.seed)
    if options.wants("million"):
        _million(result, size, options.seed)
    return result


def scores_of(gold: Sequence[str] | Ints, labels: Ints) -> dict[str, float]:
    """B-cubed and pairwise scores in percent."""
    overlaps = Overlaps.of(gold, labels)
    b3, pairs = overlaps.b_cubed(), overlaps.pairwise()
    values = (b3.precision, b3.recall, b3.f1, pairs.precision, pairs.recall, pairs.f1)
    return {name: 100 * value for name, value in zip(SCORES, values, strict=True)}


def best_of(choices: Iterable[Any], score: Callable[[Any], float]) -> Any:
    """The choice with the highest score, the first of equal ones."""
    return max(choices, key=score)


def sampled(mentions: Mentions, settings: EntitySettings) -> Ints:
    """The clustering that the sampler finds."""
    return EntityClusterer(settings).cluster(mentions).labels[-1]


def systems(dev: Mentions, test: Mentions, rounds: int, seed: int) -> dict[str, tuple[Ints, float, str]]:
    """Every system's clusters of the test mentions, its CPU seconds, and the settings chosen on dev."""
    gold = dev.gold or []
    found: dict[str, tuple[Ints, float, str]] = {}

    def add(name: str, cluster: Callable[[], Ints], chosen: str = "") -> None:
        began = time.process_time()
        labels = cluster()
        found[name] = labels, time.process_time() - began, chosen

    add("string match", lambda: baselines.string_match(test.names))
    add("last word", lambda: baselines.string_match([name.lower().split()[-1] for name in test.names]))
    graded = EntitySettings(rounds=rounds, seed=seed)
    choices = [
        replace(graded, similarity=Similarity(round(1 - weight, 2), weight), thresholds=(threshold,))
        for weight in WEIGHTS
        for threshold in THRESHOLDS
    ]
    chosen = best_of(choices, lambda each: b_cubed(gold, sampled(dev, each)).f1)
    similarity = chosen.similarity
    tables = [baselines.similarities(MentionVectors.of(each, similarity).items) for each in (dev, test)]
    tree = baselines.average_linkage(tables[0])
    cut = best_of(THRESHOLDS, lambda each: b_cubed(gold, baselines.cut(tree, each)).f1)
    add("average linkage (all pairs)", lambda: baselines.cut(baselines.average_linkage(tables[1]), cut), f"{cut:g}")
    join = best_of(THRESHOLDS, lambda each: b_cubed(gold, baselines.streaming(tables[0], each)).f1)
    add("streaming (all pairs)", lambda: baselines.streaming(tables[1], join), f"{join:g}")
    square = baselines.SubSquare(MentionVectors.of(dev, similarity).items)
    pair = best_of(
        [(a, b) for a in THRESHOLDS for b in OVERLAPS],
        lambda each: b_cubed(gold, square.clusters(each[0], each[1], seed)).f1,
    )
    test_items = MentionVectors.of(test, similarity).items
    add(
        "SubSquare",
        lambda: baselines.SubSquare(test_items).clusters(pair[0], pair[1], seed),
        f"{pair[0]:g}, {pair[1]:g}",
    )
    printed = best_of(
        [
            replace(graded, similarity=Similarity(1.0, 0.0, equal), thresholds=(bias,))
            for equal in EQUALS
            for bias in BIASES
        ],
        lambda each: b_cubed(gold, sampled(dev, each)).f1,
    )
    add(EQUAL, lambda: sampled(test, printed), f"w {printed.similarity.equal_weight:g}, b {printed.thresholds[0]:g}")
    add(GRADED, lambda: sampled(test, chosen), f"name {similarity.name_weight:g}, b {chosen.thresholds[0]:g}")
    add(f"{GRADED}, no blocks", lambda: sampled(test, replace(chosen, blocks=0.0)))
    above = replace(chosen, thresholds=(*chosen.thresholds, round(chosen.thresholds[0] - 0.15, 2)))
    add(f"{GRADED}, super-entities", lambda: EntityClusterer(above).cluster(test).labels[0])
    return found


def bootstrap(gold: Sequence[str], one: Ints, other: Ints, draws: int) -> tuple[float, float]:
    """The 95 % interval of the difference of B-cubed F1, in points, entities drawn anew."""
    entities = np.unique(np.asarray(gold), return_inverse=True)[1]
    overlaps = Overlaps.of(entities, one), Overlaps.of(entities, other)
    random = np.random.default_rng(0)
    differences = []
    for _ in range(draws):
        times = np.bincount(random.integers(0, entities.max() + 1, entities.max() + 1), minlength=entities.max() + 1)
        weights = times[entities]
        differences.append(100 * (overlaps[0].b_cubed(weights).f1 - overlaps[1].b_cubed(weights).f1))
    low, high = np.percentile(differences, [2.5, 97.5])
    return float(low), float(high)


def pair_recall(gold: Sequence[str], labels: Ints, documents: Sequence[str]) -> dict[str, float]:
    """Recall of pairs of mentions within documents and across them, in percent."""
    both = {"all": (np.asarray(gold), labels.astype(str))}
    both["within"] = tuple(np.char.add(np.char.add(np.asarray(documents), "\t"), each) for each in both["all"])  # type: ignore[assignment]
    pairs = {}
    for name, (one, other) in both.items():
        overlaps = Overlaps.of(one, other)
        pairs[name] = (overlaps.both - 1).sum(), (overlaps.gold - 1).sum()
    across = pairs["all"][0] - pairs["within"][0], pairs["all"][1] - pairs["within"][1]
    return {
        "within documents": 100 * float(pairs["within"][0] / max(pairs["within"][1], 1)),
        "across documents": 100 * float(across[0] / max(across[1], 1)),
    }


def _links(result: RecipeResult, options: RecipeOptions, size: Size) -> None:
    """Links: every system, its settings chosen on a quarter of the entities."""
    read = links.read_links([options.find(name) for name in links.FILES])
    dev, test = links.split_entities(read)
    if options.quick:
        dev, test = dev[:800], test[:1500]
    mentions = links.mentions_of([read[k] for k in test])
    gold = mentions.gold or []
    found = systems(links.mentions_of([read[k] for k in dev]), mentions, 20, options.seed)
    table = Table("Links to Wikidata", [*SCORES, "CPU s", "settings"])
    for name, (labels, seconds, chosen) in found.items():
        table.add(name, {**scores_of(gold, labels), "CPU s": seconds, "settings": chosen}, paper=PAPER.get(name, {}))
    table.note = (
        f"{len(mentions):,} test mentions of {len(set(gold)):,} entities; settings from {len(dev):,} mentions of other "
        "entities. The paper's figures are for its own links, whose names are more ambiguous."
    )
    result.tables.append(table)
    documents = [read[k].document for k in test]
    recalls = Table("Recall of pairs of mentions, links", ["within documents", "across documents"])
    for name in ("string match", EQUAL, GRADED):
        recalls.add(name, pair_recall(gold, found[name][0], documents))
    result.tables.append(recalls)

    def better(one: str, other: str) -> Any:
        a, b = found[one][0], found[other][0]
        value = 100 * (b_cubed(gold, a).f1 - b_cubed(gold, b).f1)
        return gain(value, interval=bootstrap(gold, a, b, size.draws), where=f"{one} - {other}")

    result.claim("the sampler is above SubSquare in B3 F1 (paper: 8.9 points)", better(GRADED, "SubSquare"))
    result.claim("SubSquare is above string match in B3 F1 (paper: 7.5 points)", better("SubSquare", "string match"))
    result.claim(
        "the paper's model, equal names and contexts, is above string match in B3 F1 (paper: 16.4 points)",
        better(EQUAL, "string match"),
    )
    result.own(
        "with similar names, B3 F1 is at least {bar}, that of average linkage over all pairs in the plan",
        measured(100 * b_cubed(gold, found[GRADED][0]).f1, ">=", 86.4),
        required=not options.quick,
    )
    result.own(
        "the sampler does not lose to average linkage over all pairs in B3 F1",
        gain(
            100 * (b_cubed(gold, found[GRADED][0]).f1 - b_cubed(gold, found["average linkage (all pairs)"][0]).f1),
            interval=bootstrap(gold, found[GRADED][0], found["average linkage (all pairs)"][0], size.draws),
            sense=">=",
        ),
        required=False,
    )


def _ecb(result: RecipeResult, options: RecipeOptions) -> None:
    """ECB+ entities: the threshold from the development part, everything else as chosen for links by default."""
    parts = {}
    for part in ("dev", "test"):
        parts[part] = ecb.read_ecb(options.find(ecb.WORDS.format(part)), options.find(ecb.MENTIONS.format(part)))
    dev, test = parts["dev"][0], parts["test"][0]
    table = Table("Entities of ECB+, test", [*SCORES, "settings"])
    table.add("string match", scores_of(test.gold or [], baselines.string_match(test.names)))
    choices = [
        EntitySettings(similarity=Similarity(round(1 - weight, 2), weight), thresholds=(threshold,), seed=options.seed)
        for weight in (0.6, 0.8)
        for threshold in (0.2, 0.3, 0.4, 0.5)
    ]
    chosen = best_of(
        choices[:2] if options.quick else choices, lambda each: b_cubed(dev.gold or [], sampled(dev, each)).f1
    )
    shown = f"name {chosen.similarity.name_weight:g}, b {chosen.thresholds[0]:g}"
    labels = sampled(test, chosen)
    table.add(GRADED, {**scores_of(test.gold or [], labels), "settings": shown})
    table.note = f"{len(test):,} mentions; sub-topics on purpose share names and verbs."
    result.tables.append(table)


def mentions_of(data: Generated) -> Mentions:
    """Generated mentions as those of files."""
    words = {f"w{k}": k for k in range(int(data.words.max(initial=0)) + 1)}
    ids = [str(k) for k in range(len(data))]
    return Mentions(ids, data.names, [str(each) for each in data.entities], words, data.words, data.offsets)


MODELS: dict[str, tuple[float, ...]] = {
    "flat": (ENTITY,), "sub-entities": (SUB, ENTITY), "super-entities": (ENTITY, SUPER),
    "combined": (SUB, ENTITY, SUPER),
}  # fmt: skip


def masked_curves(
    n: int, entities: int, rounds: int, seed: int, reach: int = 10
) -> dict[str, list[tuple[float, float]]]:
    """Masked names (Person-X): proposals and B-cubed F1 of the entities, by model, until the score is reached."""
    data = generated(n, seed, entities=entities, names=False)
    items = MentionVectors.of(mentions_of(data), Similarity(1.0, 0.0)).items
    curves: dict[str, list[tuple[float, float]]] = {}
    for name, biases in MODELS.items():
        levels = [Level(bias, "cosine") for bias in biases]
        search = Search(items, levels, Annealing(rounds, COLD, COLD), spread(n, 4), seed=seed, reach=reach)
        points: list[tuple[float, float]] = []
        while search.round < rounds and (not points or points[-1][1] < REACHED):
            search.step()
            f1 = b_cubed(data.entities, search.labels[biases.index(ENTITY)]).f1
            points.append((float(search.proposals), f1))
        curves[name] = points
    return curves


def reached(points: Sequence[tuple[float, float]]) -> float:
    """The proposals after which a curve reaches the score; infinite if it never does."""
    return next((x for x, y in points if y >= REACHED), float("inf"))


def _masked(result: RecipeResult, size: Size, first: int) -> None:
    """Proposals until 50 masked entities are found, flat and in levels."""
    needed: dict[str, list[float]] = {name: [] for name in MODELS}
    for seed in range(first, first + size.seeds):
        curves = masked_curves(size.masked, 50, size.masked_rounds, seed)
        for name, points in curves.items():
            needed[name].append(reached(points))
        if seed == first:
            every = {name: points[:: max(1, len(points) // 40)] for name, points in curves.items()}
            result.curves.append(Curve("Masked names: B3 F1 by proposals", "proposals", "B3 F1", every))
    table = Table(
        f"Masked names: proposals until B3 F1 is {REACHED}", ["thousand proposals", "share of flat"],
        digits={"thousand proposals": 0, "share of flat": 3},
    )  # fmt: skip
    for name, values in needed.items():
        thousands = [value / 1000 for value in values]
        shares = [value / flat for value, flat in zip(values, needed["flat"], strict=True)]
        interval = {"thousand proposals": student_interval(thousands)} if size.seeds > 1 else {}
        table.add(
            name, {"thousand proposals": float(np.mean(thousands)), "share of flat": float(np.mean(shares))},
            interval=interval,
        )  # fmt: skip
    table.note = f"{size.masked:,} mentions of 50 entities without names, {size.seeds} seeds; four groups per round."
    result.tables.append(table)

    def saved(less: str, more: str) -> Any:
        pairs = zip(needed[less], needed[more], strict=True)
        return mean_of({f"seed {k}": (b - a) / 1000 for k, (a, b) in enumerate(pairs)}, f"{less} before {more}")

    result.claim(
        "levels need fewer proposals than the flat model, and both levels together fewest (thousands)",
        saved("sub-entities", "flat"), saved("super-entities", "flat"),
        saved("combined", "sub-entities"), saved("combined", "super-entities"),
    )  # fmt: skip
    for name in ("sub-entities", "super-entities"):
        shares = [a / b for a, b in zip(needed[name], needed["flat"], strict=True)]
        result.claim(
            "one level takes at most {bar} of the flat model's proposals (paper: about 10 % of its time)",
            mean_of({f"seed {k}": share for k, share in enumerate(shares)}, name, "<=", 0.15),
        )


def _generated(result: RecipeResult, size: Size, seed: int) -> None:
    """Generated names and contexts: scores, speed, and workers."""
    dev = mentions_of(generated(size.made_dev, seed + 100))
    base = EntitySettings(similarity=MADE, rounds=size.rounds, seed=seed, blocks=0.0)
    threshold = best_of(
        MADE_THRESHOLDS, lambda each: b_cubed(dev.gold or [], sampled(dev, replace(base, thresholds=(each,)))).f1
    )
    chosen = replace(base, thresholds=(threshold,))
    mentions = mentions_of(generated(size.made, seed))
    gold = mentions.gold or []
    vectors = MentionVectors.of(mentions, MADE)
    table = Table(
        f"{size.made:,} generated mentions",
        [*SCORES, "entities", "million proposals", "proposals/s", "CPU s", "wall s"],
        digits={"proposals/s": 0, "entities": 0},
    )  # fmt: skip
    string = baselines.string_match(mentions.names)
    table.add("string match", {**scores_of(gold, string), "entities": len(set(string.tolist()))})
    walls, final = {}, {}
    for name, workers, settings in (
        ("flat, 1 worker", 1, chosen), ("flat, 2 workers", 2, chosen),
        ("blocks, 1 worker", 1, replace(chosen, blocks=0.04)),
    ):  # fmt: skip
        search = EntityClusterer(settings, workers).search(vectors, mentions.names)
        cpu, wall = time.process_time(), time.perf_counter()
        search.run()
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        walls[name], final[name] = wall, search.labels[-1]
        table.add(name, {
            **scores_of(gold, search.best[-1]), "entities": len(set(search.best[-1].tolist())),
            "million proposals": search.proposals / 1e6, "proposals/s": search.proposals / cpu, "CPU s": cpu,
            "wall s": wall,
        })  # fmt: skip
    table.note = (
        f"Threshold {threshold:g} from {size.made_dev:,} mentions of another seed. {len(set(gold)):,} entities."
    )
    result.tables.append(table)
    result.own(
        "one core makes at least {bar} proposals per second of its time",
        measured(result.cell(table.title, "flat, 1 worker", "proposals/s"), ">=", 1e6, digits=0),
        required=size.made >= 50_000,
    )
    other = int(np.count_nonzero(final["flat, 1 worker"] != final["flat, 2 workers"]))
    result.own("two workers leave no mention in another entity than one does", measured(other, "<=", 0, digits=0))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    result.own(
        "two workers are at least {bar} times as fast as one, on a machine with at least two free cores",
        measured(walls["flat, 1 worker"] / walls["flat, 2 workers"], ">=", 1.2),
        required=False,
        note=f"{cores} cores, which other work shared",
    )
    labels = final["flat, 1 worker"]
    result.own(
        "generated mentions: the sampler is above string match in B3 F1",
        gain(
            100 * (b_cubed(gold, labels).f1 - b_cubed(gold, string).f1),
            interval=bootstrap(gold, labels, string, min(size.draws, 100)),
        ),
    )


def write_made(n: int, seed: int, path: Path) -> None:
    """Generated mentions as JSON Lines with gold entities."""
    data = generated(n, seed)
    words = [f"w{k}" for k in range(int(data.words.max(initial=0)) + 1)]
    with path.open("w", encoding="utf-8") as file:
        for m, (name, entity) in enumerate(zip(data.names, data.entities.tolist(), strict=True)):
            context = " ".join([words[k] for k in data.words[data.offsets[m] : data.offsets[m + 1]].tolist()])
            file.write(json.dumps({"id": f"m{m}", "name": name, "context": context, "entity": str(entity)}) + "\n")


def rounds_done(checkpoint: Path) -> int:
    """The rounds that a checkpoint has behind it, 0 if there is none."""
    return int(storage.read_header(checkpoint)["round"]) if checkpoint.exists() else 0


def killed_and_resumed(command: Sequence[str], checkpoint: Path, after: int) -> tuple[int, dict[str, Any]]:
    """Run a command, kill it once it has made some rounds, run it again: the rounds that were saved, and its JSON."""
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while first.poll() is None and rounds_done(checkpoint) < after:
        time.sleep(0.2)
    first.send_signal(signal.SIGKILL)
    if first.wait() != -signal.SIGKILL:
        raise DataError(f"the run ended by itself before round {after}; it was to be killed")
    saved = rounds_done(checkpoint)
    again = subprocess.run(command, capture_output=True, text=True)
    if again.returncode:
        raise DataError(f"the run that resumes failed: {again.stderr[-300:]}")
    return saved, json.loads(again.stdout)


def _million(result: RecipeResult, size: Size, seed: int) -> None:
    """The command on a million mentions, killed in the middle and resumed: time, memory, scores."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder, "mentions.jsonl"), Path(folder, "entities")
        write_made(size.million, seed, path)
        command = [
            sys.executable, "-m", "weft", "lexicon", "entities", str(path), "--out", str(out), "--thresholds", "0.15",
            "--context-weight", str(MADE.context_weight), "--name-weight", str(MADE.name_weight), "--iterations",
            str(size.million_rounds), "--blocks", "0", "--reach", str(size.million_reach),
            "--format", "parquet", "--seed", str(seed), "--json",
        ]  # fmt: skip
        before, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        saved, found = killed_and_resumed(command, out / "checkpoint.weft", max(1, size.million_rounds // 3))
        wall = time.perf_counter() - wall
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    [row], trace = found["thresholds"], found["trace"]
    columns = ["B3 P", "B3 R", "B3 F", "entities", "rounds", "saved at the kill", "CPU min", "wall min", "peak MB"]
    whole = ("entities", "rounds", "saved at the kill", "peak MB")
    table = Table(
        f"{size.million:,} generated mentions by `weft lexicon entities`", columns, digits=dict.fromkeys(whole, 0)
    )
    peak = used.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    table.add("killed once and resumed", {
        "B3 P": 100 * row["B3 precision"], "B3 R": 100 * row["B3 recall"], "B3 F": 100 * row["B3 F1"],
        "entities": row["entities"], "rounds": len(trace), "saved at the kill": saved, "CPU min": cpu / 60,
        "wall min": wall / 60, "peak MB": peak,
    })  # fmt: skip
    table.note = "Reading, both runs, evidence and Parquet tables included."
    result.tables.append(table)
    lines = {name: [(each["round"], each[name]) for each in trace] for name in ("score", "best")}
    result.curves.append(Curve("Score by round, a million mentions", "round", "score", lines))
    result.own("a million mentions take at most {bar} MB", measured(peak, "<=", 4096, digits=0, unit="MB"))
    result.own("a million mentions take at most {bar} minutes", measured(wall / 60, "<=", 60, digits=1, unit="min"))
    falls = sum(b["best"] < a["best"] for a, b in pairwise(trace))
    result.own("the best score never falls from round to round", measured(falls, "<=", 0, digits=0))
