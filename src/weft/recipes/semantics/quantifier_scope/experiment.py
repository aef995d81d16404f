"""Manshadi, Gildea and Allen (2013): partial orders of quantifiers, implicit universals and negations.

QuanText is not public. The main experiment runs on generated commands to a text editor (`commands`); beside it stand
what corpora have: negations and noun phrases of the Parallel Meaning Bank (`pmb`), and the preferences of people for
sentences with two operators (`human`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weft.evaluate.counts import Counts
from weft.evaluate.semantics.scope import KINDS, ScopeReport, score_scopings
from weft.evaluate.significance import confidence_interval, mcnemar
from weft.infer.orders.consensus import Preferences
from weft.infer.orders.relations import is_partial_order
from weft.recipes.claims import gain, mean_of, measured, student_interval
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.semantics.quantifier_scope import human, pmb
from weft.recipes.semantics.quantifier_scope.commands import commands
from weft.tasks.scope.model import ScopeModel
from weft.tasks.scope.resolver import GRID
from weft.tasks.scope.syntax import Syntax, syntaxes
from weft.text.conventions.scope import DISTRIBUTIVE, NEGATION, Scoping, own_pairs, scopings_of
from weft.text.doc import Doc

PMB = "scope/pmb/{}.clf.gz"
HUMAN = "scope/scope-ambiguity/exp1b.csv.gz"
FEATURES = ("ma11", "ma11+det", "rich", "joint")
#: All nodes in the paper's table (figure 5 b).
PAPER = {
    "ma11": {"sigma": 78.7, "P": 68.8, "R": 46.9, "F": 55.7, "AR": 59.0, "A": 47.0},
    "rich": {"sigma": 86.3, "P": 78.4, "R": 72.0, "F": 75.1, "AR": 69.0, "A": 55.0},
}
PAPER_KINDS = {
    "ma11": {"explicit": 55.0, "implicit": 57.6, "negation": 53.4},
    "rich": {"explicit": 70.9, "implicit": 78.2, "negation": 62.9},
}
MEASURES = ("sigma", "P", "R", "F", "AR", "A")


@dataclass(frozen=True)
class Size:
    """Sizes of the generated corpora, and numbers of seeds and splits."""

    train: int = 3500
    dev: int = 500
    test: int = 1000
    seeds: int = 5
    small: tuple[int, int, int] = (350, 50, 100)
    splits: int = 10
    tables: int = 300


QUICK = Size(train=350, dev=50, test=100, seeds=1, splits=2, tables=40)


@dataclass
class Corpus:
    """Trees and gold orders of sentences, cut into training, tuning and test."""

    trees: list[Syntax]
    gold: list[Scoping]
    ends: tuple[int, int]

    @classmethod
    def of(cls, doc: Doc, sizes: Sequence[int], use_constituents: bool = True) -> Corpus:
        trees = syntaxes(doc, use_constituents)
        return cls(trees, scopings_of(doc), (sizes[0], sizes[0] + sizes[1]))

    def part(self, name: str) -> tuple[list[Syntax], list[Scoping]]:
        rows = {"train": slice(0, self.ends[0]), "dev": slice(*self.ends), "test": slice(self.ends[1], None)}[name]
        return self.trees[rows], self.gold[rows]

    def explicit(self) -> Corpus:
        """The same with nothing but explicit noun phrases: no implicit universals, no negations."""
        return Corpus(self.trees, [only_explicit(scoping) for scoping in self.gold], self.ends)


@dataclass
class Row:
    """What one system reaches: reports by kind of pairs, its test orders, and its preferences."""

    c: float
    reports: Mapping[str, ScopeReport] = field(default_factory=dict)
    wants: list[Preferences] = field(default_factory=list)
    orders: list[Scoping] = field(default_factory=list)


def only_explicit(scoping: Scoping) -> Scoping:
    """A scoping without implicit universals and negations."""
    kept = [i for i, node in enumerate(scoping.nodes) if node.kind not in (DISTRIBUTIVE, NEGATION)]
    return Scoping(tuple(scoping.nodes[i] for i in kept), scoping.order[np.ix_(kept, kept)])


def train(corpus: Corpus, features: str, seed: int = 0) -> tuple[ScopeModel, float]:
    """A model with the C that is best on the tuning sentences."""
    trees, gold = corpus.part("train")
    models = ScopeModel.fit_each(trees, gold, features, GRID, seed)
    held_out = corpus.part("dev")

    def f1(c: float) -> float:
        found = [models[c].scope(tree, scoping.nodes) for tree, scoping in zip(*held_out, strict=True)]
        return score_scopings(held_out[1], found).ordered.total().f1

    best = max(GRID, key=f1)
    return models[best], best


def evaluate(corpus: Corpus, model: ScopeModel, c: float, search: str = "closure") -> Row:
    """Score a model on the test sentences, with the nodes given."""
    trees, gold = corpus.part("test")
    wants = [model.preferences(tree, scoping.nodes) for tree, scoping in zip(trees, gold, strict=True)]
    return searched(gold, wants, c, search)


def searched(gold: Sequence[Scoping], wants: Sequence[Preferences], c: float, search: str) -> Row:
    """The orders of one search over preferences, scored."""
    orders = [
        Scoping(scoping.nodes, table.best() if search == "exact" else table.greedy(search))  # type: ignore[arg-type]
        for scoping, table in zip(gold, wants, strict=True)
    ]
    reports: dict[str, ScopeReport] = {kind: score_scopings(gold, orders, kind) for kind in KINDS}
    return Row(c, reports, list(wants), orders)


def run(options: RecipeOptions) -> RecipeResult:
    """All tables of the system page."""
    size = options.varied(QUICK if options.quick else Size())
    result = RecipeResult("quantifier-scope")
    if options.wants("commands"):
        _generated(result, size, options.seed)
    if options.wants("search"):
        _search(result, size, options.seed)
    if options.wants("pmb"):
        _negations(result, options)
    if options.wants("human"):
        _preferences(result, options, size)
    return result


def _generated(result: RecipeResult, size: Size, first: int) -> None:
    """Feature sets by searches on generated commands, at two sizes, and on trees of the English model."""
    rows: dict[tuple[str, str], list[Row]] = {}
    small: dict[str, list[Row]] = {}
    explicit: dict[str, list[Row]] = {}
    parsed: dict[str, list[Row]] = {}
    invalid = 0
    for seed in range(first, first + size.seeds):
        doc = commands(size.train + size.dev + size.test, seed)
        corpus = Corpus.of(doc, (size.train, size.dev))
        for features in FEATURES:
            model, c = train(corpus, features, seed)
            row = evaluate(corpus, model, c)
            rows.setdefault((features, "closure"), []).append(row)
            gold = corpus.part("test")[1]
            for search in ("all or none", "exact") if features in ("ma11", "rich") else ():
                rows.setdefault((features, search), []).append(searched(gold, row.wants, c, search))
            invalid += sum(not _valid(scoping) for scoping in row.orders)
        bare = corpus.explicit()
        explicit.setdefault("rich", []).append(evaluate(bare, *train(bare, "rich", seed)))
        tiny = Corpus.of(doc.subset(range(sum(size.small))), size.small)
        for features in FEATURES:
            small.setdefault(features, []).append(evaluate(tiny, *train(tiny, features, seed)))
        again = Corpus.of(_reparsed(doc.subset(range(sum(size.small)))), size.small)
        for features in FEATURES:
            parsed.setdefault(features, []).append(evaluate(again, *train(again, features, seed)))
    title = f"Generated commands, {size.train:,}/{size.dev:,}/{size.test:,} sentences, all nodes"
    _table(result, title, {f"{a}, {b}": each for (a, b), each in rows.items()}, PAPER)
    closure = {features: rows[features, "closure"] for features in FEATURES}
    _kinds(result, closure, explicit)
    _table(result, "Generated commands, 350/50/100 sentences, all nodes", small, PAPER)
    _table(result, "The same, trees of the English model", parsed, {})
    _claims(result, rows, explicit, small, invalid)


def _reparsed(doc: Doc) -> Doc:
    """The commands with the tags and trees that the English model predicts; words and nodes are given."""
    from weft import load
    from weft.training.scores import bare

    [annotated] = load("en").pipe([bare(doc, ())])
    annotated.spans, annotated.relations = {"scope": doc.spans["scope"]}, {"scope": doc.relations["scope"]}
    return annotated


def _valid(scoping: Scoping) -> bool:
    return is_partial_order(scoping.order) and bool(np.all(scoping.order >= own_pairs(scoping.nodes)))


def _f1(rows: Sequence[Row], kind: str = "all") -> list[float]:
    return [100 * row.reports[kind].ordered.total().f1 for row in rows]


def _table(result: RecipeResult, title: str, rows: Mapping[str, Sequence[Row]], paper: Mapping[str, Any]) -> None:
    table = Table(title, [*MEASURES, "C"], digits={"C": 3})
    for name, several in rows.items():
        values = {key: [100 * row.reports["all"].as_dict()[key] for row in several] for key in MEASURES}
        ours: dict[str, Any] = {key: float(np.mean(each)) for key, each in values.items()}
        ours["C"] = float(np.median([row.c for row in several]))
        features, _, search = name.partition(", ")
        known = paper.get(features, {}) if search in ("", "closure") else {}
        interval = {"F": student_interval(values["F"])} if len(several) > 1 else {}
        table.add(name, ours, paper=known, interval=interval)
    table.note = f"Means of {len(next(iter(rows.values())))} seeds; C is chosen on tuning sentences (median)."
    result.tables.append(table)


def _kinds(result: RecipeResult, rows: Mapping[str, Sequence[Row]], explicit: Mapping[str, Sequence[Row]]) -> None:
    table = Table("F by kind of pairs, closure", ["explicit", "implicit", "negation"])
    for name, several in rows.items():
        ours = {kind: float(np.mean(_f1(several, kind))) for kind in table.columns}
        table.add(name, ours, paper=PAPER_KINDS.get(name, {}))
    for name, several in explicit.items():
        table.add(f"{name}, explicit noun phrases alone", {"explicit": float(np.mean(_f1(several, "explicit")))})
    table.note = "Explicit: noun phrases and collections; implicit: pairs with the implicit universal of a plural."
    result.tables.append(table)


def _claims(
    result: RecipeResult, rows: Mapping[tuple[str, str], Sequence[Row]], explicit: Mapping[str, Sequence[Row]],
    small: Mapping[str, Sequence[Row]], invalid: int,
) -> None:  # fmt: skip
    rich, ma11 = rows["rich", "closure"], rows["ma11", "closure"]

    def gains(one: Sequence[Row], other: Sequence[Row], a: str = "all", b: str = "all") -> dict[str, float]:
        pairs = zip(_f1(one, a), _f1(other, b), strict=True)
        return {f"seed {k}": x - y for k, (x, y) in enumerate(pairs)}

    text = "rich features are at least {bar} F above those of MA11 (paper: 19.4)"
    result.claim(text, mean_of(gains(rich, ma11), "large", ">=", 10), required=True)
    result.claim(text, mean_of(gains(small["rich"], small["ma11"]), "paper's size", ">=", 10), required=True)
    result.claim(
        "pairs with an implicit universal are easier than explicit ones (paper: 7.3 F)",
        mean_of(gains(rich, rich, "implicit", "explicit")),
    )
    result.claim(
        "pairs with a negation are the hardest (paper: 8.0 F below explicit ones)",
        mean_of(gains(rich, rich, "explicit", "negation"), "below explicit"),
        mean_of(gains(rich, rich, "implicit", "negation"), "below implicit"),
    )
    same = [_is_best(*pair) for pair in zip(rich, rows["rich", "exact"], strict=True)]
    result.claim(
        "the approximation finds the optimum for at least {bar} % of the sentences (paper: all but one)",
        measured(100 * float(np.mean(np.concatenate(same))), ">=", 99, unit="%"),
    )
    loss = gains(rich, explicit["rich"], "explicit", "explicit")
    result.own(
        "learning implicit universals and negations too does not lower F on explicit noun phrases",
        mean_of(loss, sense=">="),
        required=False,
    )
    result.own(
        "rich features are above MA11 with determiners",
        mean_of(gains(rich, rows["ma11+det", "closure"])),
        required=False,
    )
    result.own(
        "every output is a transitive order with each collection above its universal", measured(invalid, "<=", 0)
    )


def _is_best(row: Row, exact: Row) -> list[bool]:
    """For every sentence, whether the order of a row is worth as much as the exact one."""
    triples = zip(row.wants, row.orders, exact.orders, strict=True)
    return [wants.value(one.order) >= wants.value(best.order) - 1e-9 for wants, one, best in triples]


def random_tables(random: np.random.Generator, n: int, count: int) -> list[Preferences]:
    """Uniform probabilities of the three labels of every pair."""
    found = []
    first, second = np.triu_indices(n, 1)
    for _ in range(count):
        drawn = random.dirichlet([1.0, 1.0, 1.0], size=len(first))
        before, apart = np.zeros((n, n)), np.zeros((n, n))
        before[first, second], before[second, first] = drawn[:, 0], drawn[:, 1]
        apart[first, second] = apart[second, first] = drawn[:, 2]
        found.append(Preferences(before, apart))
    return found


def _search(result: RecipeResult, size: Size, seed: int) -> None:
    """Greedy search against the integer program on random preferences: value, exact answers, time."""
    digits = {
        "all or none / best": 3, "closure / best": 3, "closure exact": 1, "greedy ms": 3, "exact ms": 2,
    }  # fmt: skip
    table = Table("Search on uniform preferences", list(digits), digits=digits)
    random = np.random.default_rng(seed)
    times: dict[int, tuple[float, float]] = {}
    for n in (4, 6, 8, 10):
        tables = random_tables(random, n, max(10, size.tables // n))
        tables[0].greedy()
        began = time.process_time()
        greedy = [wants.value(wants.greedy()) for wants in tables]
        middle = time.process_time()
        best = [wants.value(wants.best()) for wants in tables]
        times[n] = (middle - began) / len(tables), (time.process_time() - middle) / len(tables)
        plain = [wants.value(wants.greedy("all or none")) for wants in tables]
        table.add(f"{n} nodes", {
            "all or none / best": float(np.mean(np.divide(plain, best))),
            "closure / best": float(np.mean(np.divide(greedy, best))),
            "closure exact": 100 * float(np.mean(np.array(greedy) >= np.array(best) - 1e-9)),
            "greedy ms": 1000 * times[n][0], "exact ms": 1000 * times[n][1],
        })  # fmt: skip
    twenty = random_tables(random, 20, 200)
    began = time.process_time()
    for wants in twenty:
        wants.greedy()
    twenty_ms = 1000 * (time.process_time() - began) / len(twenty)
    table.add("20 nodes", {"greedy ms": twenty_ms})
    result.tables.append(table)
    result.own("greedy search takes less than {bar} ms for 20 nodes", measured(twenty_ms, "<", 1, digits=3, unit="ms"))
    result.own(
        "at 10 nodes greedy search is at least {bar} times faster than the integer program",
        measured(times[10][1] / times[10][0], ">=", 100, digits=0),
    )


def negation_samples(options: RecipeOptions, part: str) -> tuple[list[Syntax], list[Scoping]]:
    """Sentences of the Parallel Meaning Bank with one negation and a noun phrase, with trees of the English model."""
    from weft import load

    found = [(each, each.scoping()) for each in pmb.read_clauses(options.find(PMB.format(part)))]
    kept = [(each, scoping) for each, scoping in found if scoping is not None]
    docs = [Doc.from_words([[form.replace("~", "-") for form in each.forms]]) for each, _ in kept]
    trees = [syntaxes(doc)[0] for doc in load("en").pipe(docs)]
    return trees, [scoping for _, scoping in kept]


def _inside(scoping: Scoping) -> list[bool]:
    """For every noun phrase, whether the negation outscopes it."""
    place = next(i for i, node in enumerate(scoping.nodes) if node.kind == NEGATION)
    return [bool(scoping.order[place, i]) for i in range(len(scoping)) if i != place]


def _determiners(trees: Sequence[Syntax], gold: Sequence[Scoping]) -> list[str]:
    return [
        tree.tree.forms[node.start].lower()
        for tree, scoping in zip(trees, gold, strict=True)
        for node in scoping.nodes
        if node.kind != NEGATION
    ]


def _memorized(keys: Sequence[Any], labels: Sequence[bool], asked: Sequence[Any]) -> list[bool]:
    """The more frequent label of every key, of all for an unknown one."""
    counts: dict[Any, list[int]] = {}
    for key, label in zip(keys, labels, strict=True):
        counts.setdefault(key, [0, 0])[label] += 1
    default = sum(labels) * 2 > len(labels)
    return [
        counts[key][1] > counts[key][0] if key in counts and len(set(counts[key])) > 1 else default for key in asked
    ]


def _negations(result: RecipeResult, options: RecipeOptions) -> None:
    """Inside or outside the negated box: majority, the phrase's first word, and the pairwise machine."""
    samples = {part: negation_samples(options, part) for part in ("train", "dev", "test")}
    labels = {part: [each for scoping in gold for each in _inside(scoping)] for part, (_, gold) in samples.items()}
    table = Table("Parallel Meaning Bank, noun phrases and a negation", ["accuracy", "F inside", "C"], digits={"C": 3})
    trees, gold = samples["test"]
    sizes = [len(scoping) - 1 for scoping in gold]
    found = {
        "always outside": [False] * len(labels["test"]),
        "first word of the phrase": _memorized(
            _determiners(*samples["train"]), labels["train"], _determiners(trees, gold)
        ),
    }
    cs: dict[str, float] = {}
    for features in ("ma11", "rich", "joint"):
        models = ScopeModel.fit_each(*samples["train"], features, GRID)

        def judged(model: ScopeModel, part: str) -> list[bool]:
            pairs = zip(*samples[part], strict=True)
            return [each for tree, scoping in pairs for each in _inside(model.scope(tree, scoping.nodes, "exact"))]

        scores = {c: np.mean(np.equal(judged(model, "dev"), labels["dev"])) for c, model in models.items()}
        cs[features] = max(GRID, key=lambda c: scores[c])
        found[features] = judged(models[cs[features]], "test")
    for name, answers in found.items():
        right = Counts.of(*_by_sentence(sizes, [True] * len(answers), np.equal(answers, labels["test"]).tolist()))
        inside = Counts.of(*_f1_by_sentence(sizes, labels["test"], answers))
        table.add(
            name, {"accuracy": 100 * right.total().recall, "F inside": 100 * inside.total().f1, "C": cs.get(name)},
            interval={"accuracy": _points(right), "F inside": _points(inside)},
        )  # fmt: skip
    pairs = {part: len(each) for part, each in labels.items()}
    table.note = (
        f"Test, trees of the English model; {pairs['train']}/{pairs['dev']}/{pairs['test']} pairs, "
        f"{sum(labels['test'])} of the test pairs inside. Bootstrap over sentences. Phrases that contain the negation "
        "(nobody) are left out."
    )
    result.tables.append(table)


def _by_sentence(sizes: Sequence[int], gold: Sequence[bool], right: Sequence[bool]) -> tuple[list[int], ...]:
    ends = np.cumsum(sizes)
    total = [int(sum(part)) for part in np.split(np.array(gold, dtype=int), ends[:-1])]
    correct = [int(sum(part)) for part in np.split(np.array(right, dtype=int), ends[:-1])]
    return total, total, correct


def _f1_by_sentence(sizes: Sequence[int], gold: Sequence[bool], found: Sequence[bool]) -> tuple[list[int], ...]:
    ends = np.cumsum(sizes)[:-1]
    both = np.logical_and(gold, found).astype(int)
    columns = [np.split(np.array(column, dtype=int), ends) for column in (gold, found, both)]
    return tuple([int(part.sum()) for part in column] for column in columns)


def _points(counts: Counts) -> tuple[float, float]:
    interval = confidence_interval(counts)
    return 100 * interval.low, 100 * interval.high


def _preferences(result: RecipeResult, options: RecipeOptions, size: Size) -> None:
    """The preferences of people: surface scope, the pair of operator types, and the pairwise machine."""
    from weft import load

    items = human.read_items(options.find(HUMAN))
    trees, gold = human.scopings(items, list(load("en").pipe([item.sentence for item in items])))
    names = ("surface", "pair of types", "ma11", "rich", "joint")
    accuracy: dict[str, list[float]] = {name: [] for name in names}
    once: dict[str, list[bool]] = {}
    for seed in range(size.splits):
        parts = human.split(items, seed)
        truth = [items[i].surface for i in parts[2]]
        found = {"surface": [True] * len(truth)}
        types = [items[i].types for i in parts[0]]
        found["pair of types"] = _memorized(
            types, [items[i].surface for i in parts[0]], [items[i].types for i in parts[2]]
        )
        for features in names[2:]:
            found[features] = _judged(trees, gold, items, parts, features)
        for name in names:
            right = np.equal(found[name], truth)
            accuracy[name].append(100 * float(np.mean(right)))
            once.setdefault(name, right.tolist())
    table = Table("Preferences of people for sentences with two operators (exp1b)", ["accuracy"])
    for name in names:
        table.add(
            name, {"accuracy": float(np.mean(accuracy[name]))}, interval={"accuracy": student_interval(accuracy[name])}
        )
    table.note = (
        f"Means of {size.splits} random splits 60/10/30 of {len(items)} sentences, Student intervals over splits "
        "(which share sentences). Trees of the English model; surface: the first operator always outscopes the second."
    )
    result.tables.append(table)
    first = mcnemar(once["rich"], once["pair of types"])
    difference = {
        f"split {k}": a - b for k, (a, b) in enumerate(zip(accuracy["rich"], accuracy["pair of types"], strict=True))
    }
    result.own(
        "on preferences of people, rich features are above the pair of operator types",
        gain(float(np.mean(list(difference.values()))), p=first.p),
        required=False,
        note="not to be expected: the pair of types alone decides most sentences; McNemar on the first split",
    )


def _judged(
    trees: Sequence[Syntax],
    gold: Sequence[Scoping],
    items: Sequence[human.Item],
    parts: Sequence[Sequence[int]],
    features: str,
) -> list[bool]:
    """Whether the first operator outscopes the second, for the test items; C is chosen on the tuning items."""

    def surface(model: ScopeModel, i: int) -> bool:
        wants = model.preferences(trees[i], gold[i].nodes)
        first = 0 if items[i].surface == bool(gold[i].order[0, 1]) else 1
        return bool(wants.before[first, 1 - first] >= wants.before[1 - first, first])

    models = ScopeModel.fit_each([trees[i] for i in parts[0]], [gold[i] for i in parts[0]], features, GRID)
    best = max(GRID, key=lambda c: sum(surface(models[c], i) == items[i].surface for i in parts[1]))
    return [surface(models[best], i) for i in parts[2]]
