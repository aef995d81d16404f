"""Biographies, Bollywood, boom-boxes and blenders (Blitzer, Dredze and Pereira, ACL 2007).

Reviews of books, films, electronics and kitchenware: a classifier is trained on one domain and applied to another.
Adaptation loss is the accuracy it loses against one trained in the target domain. Compared over all twelve pairs: no
adaptation, structural correspondence with frequent pivots (SCL) and with pivots that are informative about the label
(SCL-MI), and the correction with 50 labelled target reviews. The proxy A-distance should predict the loss.

The available corpus has only labelled reviews, so raw text means labelled reviews with hidden labels.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from weft.evaluate.domains.distance import DomainDistances, domain_distances, proxy_distance
from weft.evaluate.significance import mcnemar, signed_rank
from weft.lexical.polarity_lexicon import PolarityLexicon
from weft.progress import progress
from weft.recipes.claims import gain, measured
from weft.recipes.extraction.scl_sentiment.data import (
    DOMAINS,
    SYSTEMS,
    Domains,
    Outcome,
    Sizes,
    in_domain,
    load_domains,
    pair_outcomes,
    with_more_text,
)
from weft.recipes.framework import Curve, RecipeOptions, RecipeResult, Table
from weft.tasks.sentiment.domain_choice import project_domains
from weft.tasks.sentiment.polarity_model import choose_pivots, fit_polarity, project_documents
from weft.tasks.sentiment.polarity_report import agreement, shared_terms, specific

POSITIVE = "sentiment/opinion_lexicon/positive-words.txt"
NEGATIVE = "sentiment/opinion_lexicon/negative-words.txt"
#: The paper's accuracies: source, target -> base, SCL, SCL-MI.
PAPER = {
    ("dvd", "books"): (72.8, 76.8, 79.7), ("electronics", "books"): (70.7, 75.4, 75.4),
    ("kitchen", "books"): (70.9, 66.1, 68.6), ("books", "dvd"): (77.2, 74.0, 75.8),
    ("electronics", "dvd"): (70.6, 74.3, 76.2), ("kitchen", "dvd"): (72.7, 75.4, 76.9),
    ("books", "electronics"): (70.8, 77.5, 75.9), ("dvd", "electronics"): (73.0, 74.1, 74.1),
    ("kitchen", "electronics"): (82.7, 83.7, 86.8), ("books", "kitchen"): (74.5, 78.7, 78.9),
    ("dvd", "kitchen"): (74.0, 79.4, 81.4), ("electronics", "kitchen"): (84.0, 84.4, 85.9),
}  # fmt: skip
PAPER_IN_DOMAIN = {"books": 80.4, "dvd": 82.4, "electronics": 84.4, "kitchen": 87.7}
#: Its adaptation losses, in the order of SYSTEMS.
PAPER_LOSS = {
    "books": (8.9, 9.0, 7.4, 5.8, 4.4), "dvd": (8.9, 8.9, 7.8, 6.1, 5.3), "electronics": (8.3, 8.5, 6.0, 5.5, 4.8),
    "kitchen": (10.2, 9.9, 7.0, 5.6, 5.1), "average": (9.1, 9.1, 7.1, 5.8, 4.9),
}  # fmt: skip
#: Fold 0 was used for development.
TEST_FOLDS = (1, 2)
QUICK_PAIRS = ((0, 3), (1, 2))


def run(options: RecipeOptions) -> RecipeResult:
    """All tables; `quick` uses two domain pairs (four directions), one fold and fewer pivots."""
    result = RecipeResult("scl-sentiment")
    sizes = Sizes(pivots=200, dimensions=25, draws=1) if options.quick else Sizes()
    data = load_domains(options.find, sizes.documents, options.seed)
    lexicon = PolarityLexicon.read([options.find(POSITIVE)], [options.find(NEGATIVE)])
    folds = TEST_FOLDS[:1] if options.quick else TEST_FOLDS
    pairs = QUICK_PAIRS if options.quick else tuple(combinations(range(len(DOMAINS)), 2))
    outcomes: list[Outcome] = []
    with progress("pairs of domains", len(pairs) * len(folds), unit="pairs") as bar:
        for fold in folds:
            for one, other in pairs:
                outcomes += pair_outcomes(data, one, other, fold, sizes, options.seed)
                bar.advance()
    own = {target: 100 * _mean([in_domain(data, target, fold) for fold in folds]) for target in range(len(DOMAINS))}
    _accuracies(result, outcomes, own, options.quick)
    _losses(result, outcomes, own, options.quick)
    if not options.quick:
        _more_text(result, data, outcomes, sizes, options.seed)
        _distances(result, data, outcomes, own, sizes, options.seed)
    _pivots(result, data, sizes, lexicon, options.seed)
    return result


def _accuracies(result: RecipeResult, outcomes: list[Outcome], own: dict[int, float], quick: bool) -> None:
    """The paper's figure: accuracies for all pairs, with McNemar's test of SCL-MI against no adaptation."""
    columns = [*SYSTEMS, "in-domain", "p, SCL-MI", "p, SCL-MI+50"]
    table = Table("Accuracy by source and target", columns, digits=dict.fromkeys(columns, 1) | {
        "p, SCL-MI": 4, "p, SCL-MI+50": 4})  # fmt: skip
    for source, target in _pairs(outcomes):
        mine = [each for each in outcomes if (each.source, each.target) == (source, target)]
        ours: dict[str, float] = {system: _mean([each.accuracy(system) for each in mine]) for system in SYSTEMS}
        ours["in-domain"] = own[target]
        base = np.concatenate([each.first("base") for each in mine])
        for system in ("SCL-MI", "SCL-MI+50"):
            ours[f"p, {system}"] = mcnemar(np.concatenate([each.first(system) for each in mine]), base).p
        names = DOMAINS[source], DOMAINS[target]
        paper = dict(zip(("base", "SCL", "SCL-MI"), PAPER[names], strict=True))
        paper["in-domain"] = PAPER_IN_DOMAIN[names[1]]
        table.add(f"{names[0]} to {names[1]}", ours, {} if quick else paper)
    table.note = (
        "Accuracies with 50 labelled target reviews are means of their draws. p: McNemar's test against base, over all "
        "test reviews of the pair, for the first draw."
    )
    result.tables.append(table)


def _losses(result: RecipeResult, outcomes: list[Outcome], own: dict[int, float], quick: bool) -> None:
    """Adaptation losses by target, and how much of the paper's order holds."""
    table = Table("Adaptation loss", list(SYSTEMS), digits=dict.fromkeys(SYSTEMS, 1))
    lost = {
        system: {
            pair: own[pair[1]]
            - _mean([each.accuracy(system) for each in outcomes if (each.source, each.target) == pair])
            for pair in _pairs(outcomes)
        }
        for system in SYSTEMS
    }
    for target, name in enumerate(DOMAINS):
        ours = {s: _mean([loss for pair, loss in lost[s].items() if pair[1] == target]) for s in SYSTEMS}
        table.add(name, ours, {} if quick else dict(zip(SYSTEMS, PAPER_LOSS[name], strict=True)))
    mean = {system: _mean(list(lost[system].values())) for system in SYSTEMS}
    interval = {system: _interval(list(lost[system].values())) for system in SYSTEMS}
    table.add("average", mean, {} if quick else dict(zip(SYSTEMS, PAPER_LOSS["average"], strict=True)), interval)
    table.note = "Intervals: bootstrap over the pairs of domains."
    result.tables.append(table)
    gains = {system: [lost["base"][pair] - lost[system][pair] for pair in _pairs(outcomes)] for system in SYSTEMS[1:]}
    for system in ("SCL", "SCL-MI", "SCL-MI+50"):
        less = gain(mean["base"] - mean[system], p=signed_rank(gains[system]), where=system)
        result.claim("adaptation loses less than none, on average", less)
    better = sum(each > 0 for each in gains["SCL-MI"])
    result.claim("SCL-MI improves at least {bar} % of the pairs of domains",
                 measured(100 * better / len(gains["SCL-MI"]), ">=", 75, f"{better} pairs", 0, "%"))  # fmt: skip
    for less_lost, more_lost in (("SCL-MI", "SCL"), ("SCL-MI+50", "SCL-MI"), ("SCL-MI+50", "base+50")):
        p = signed_rank([lost[more_lost][pair] - lost[less_lost][pair] for pair in _pairs(outcomes)])
        ahead = gain(mean[more_lost] - mean[less_lost], p=p)
        result.claim(f"{less_lost} loses less than {more_lost}, on average", ahead)
    cut = 100 * (mean["base"] - mean["SCL-MI"]) / mean["base"]
    result.notes.append(f"SCL-MI takes {cut:.0f} % of the loss away (the paper: 36 %).")


def _more_text(result: RecipeResult, data: Domains, outcomes: list[Outcome], sizes: Sizes, seed: int) -> None:
    """The second setting: additional raw text from the two other domains; six pairs that cover every target."""
    fold = TEST_FOLDS[0]
    chosen = {(0, 3), (1, 0), (2, 0), (3, 1), (2, 3), (1, 2)}
    mine = [each for each in outcomes if each.fold == fold and (each.source, each.target) in chosen]
    more = [with_more_text(data, each.source, each.target, fold, sizes, seed) for each in mine]
    plain = [each.accuracy("SCL-MI") for each in mine]
    table = Table("SCL-MI with more raw text, six pairs, one fold", ["accuracy"])
    table.add("raw text of source and target", {"accuracy": _mean(plain)})
    table.add("raw text of all four domains", {"accuracy": _mean(more)})
    p = signed_rank([a - b for a, b in zip(more, plain, strict=True)])
    table.note = f"Mean of {len(mine)} pairs; signed-rank p {p:.3f}."
    result.tables.append(table)


def distances_of(data: Domains, sizes: Sizes, seed: int) -> tuple[DomainDistances, float]:
    """Proxy A-distances between the domains, and between two halves of books in the same space."""
    rows = data.rows(np.arange(data.ones.shape[1]))
    projected = project_domains(
        [rows[data.domain == number] for number in range(len(DOMAINS))], sizes.pivots, 5, sizes.dimensions, seed
    )
    halves = proxy_distance(projected[0][::2], projected[0][1::2], seed=seed)
    return domain_distances(dict(zip(DOMAINS, projected, strict=True)), seed=seed), halves


def _distances(
    result: RecipeResult, data: Domains, outcomes: list[Outcome], own: dict[int, float], sizes: Sizes, seed: int
) -> None:
    distances, halves = distances_of(data, sizes, seed)
    table = Table(
        "Proxy A-distance and loss without adaptation", ["distance", "loss"], digits={"distance": 1, "loss": 1}
    )
    points = []
    for one, other in combinations(range(len(DOMAINS)), 2):
        mine = [each for each in outcomes if {each.source, each.target} == {one, other}]
        loss = _mean([own[each.target] - each.accuracy("base") for each in mine])
        distance = distances.of(DOMAINS[one], DOMAINS[other])
        points.append((distance, loss))
        table.add(f"{DOMAINS[one]}, {DOMAINS[other]}", {"distance": distance, "loss": loss})
    table.add("two halves of books", {"distance": halves, "loss": None})
    chosen = distances.sources(2)
    table.note = f"Loss: mean of both directions. Of two domains to label, {' and '.join(chosen)} are nearest to all."
    result.tables.append(table)
    result.curves.append(Curve("Distance and loss", "proxy A-distance", "adaptation loss", {"pairs": sorted(points)}))
    rho = spearman([distance for distance, _ in points], [loss for _, loss in points])
    linear = float(np.corrcoef(np.array(points).T)[0, 1])
    result.own("two halves of one domain are at a distance below {bar}", measured(halves, "<", 5, digits=1))
    by_pair = {pair: distances.of(*pair) for pair in combinations(DOMAINS, 2)}
    for pair, text in ((("electronics", "kitchen"), "electronics and kitchen are nearest"),
                       (("books", "dvd"), "books and dvd come next")):  # fmt: skip
        own_distance = by_pair.pop(pair)
        result.claim(text, measured(min(by_pair.values()) - own_distance, ">", 0, "nearer than the next by", 1))
    result.claim("Spearman's correlation of distance and loss is above {bar}",
                 measured(rho, ">", 0.6), note=f"Pearson's {linear:.2f}")  # fmt: skip
    off = abs(len({"books", "dvd"} & set(chosen)) - 1)
    result.claim("one of books and dvd, one of electronics and kitchen are worth labelling",
                 measured(off, "<=", 0, f"{' and '.join(chosen)}, off by", 0))  # fmt: skip


def _pivots(result: RecipeResult, data: Domains, sizes: Sizes, lexicon: PolarityLexicon, seed: int) -> None:
    """Books to kitchen: the pivots, and the terms that the projection aligns."""
    source, target, fold = 0, 3, TEST_FOLDS[0]
    train = [data.where(each, fold, False) for each in (source, target)]
    terms = data.terms(np.concatenate(train))
    rows, names = data.rows(terms), [data.names[i] for i in terms]
    raw = [rows[each] for each in train]
    labelled, y = raw[0], data.y[train[0]]
    chosen = {m: choose_pivots(m, labelled, y, raw, sizes.pivots).tolist() for m in ("scl", "scl-mi")}
    table = Table("Pivots, books to kitchen", ["opinion words among the first 100, %", "only here, first twelve"],
                  digits={"opinion words among the first 100, %": 0})  # fmt: skip
    shares = {}
    for method, other in (("scl", "scl-mi"), ("scl-mi", "scl")):
        shares[method] = 100 * opinion_share([names[i] for i in chosen[method][:100]], lexicon)
        only = [names[i] for i in chosen[method] if i not in set(chosen[other])]
        table.add(method.upper(), {table.columns[0]: shares[method], table.columns[1]: ", ".join(only[:12])})
    table.note = "A pivot tells of opinion if one of its words is in the opinion lexicon of Hu and Liu."
    result.tables.append(table)
    result.claim("pivots by mutual information tell of opinion more than {bar} times as often as frequent ones",
                 measured(shares["scl-mi"] / max(shares["scl"], 1.0), ">", 2, digits=1, unit="times"),
                 required=True)  # fmt: skip
    theta = project_documents(raw, np.array(chosen["scl-mi"]), sizes.dimensions, seed=seed)
    model = fit_polarity(labelled, y, theta, mu=sizes.mu)
    counts = np.stack([np.bincount(each.indices, minlength=len(names)) for each in raw])
    sides = Table("Terms side by side, books to kitchen", ["polarity", "books", "kitchen"])
    for each in shared_terms(model, names, counts, dimensions=3, most=8):
        shown = {"polarity": each.polarity, "books": ", ".join(each.source), "kitchen": ", ".join(each.target)}
        sides.add(f"dimension {each.dimension}" if each.dimension else "all dimensions", shown)
    sides.note = "Terms that (nearly) only one domain has, farthest out on either side of what the classifier uses."
    result.tables.append(sides)
    own = np.flatnonzero(specific(counts, least=10) == 2)
    share = agreement(model, own, raw[1], data.y[train[1]])
    result.claim("more than {bar} % of the terms of kitchen alone lie on the side of their hidden labels",
                 measured(100 * share, ">", 55, digits=0, unit=f"% of {len(own)} terms"), required=True)  # fmt: skip


def opinion_share(terms: list[str], lexicon: PolarityLexicon) -> float:
    """The fraction of terms that contain a lexicon word."""
    return _mean([float(any(lexicon.sign(word) for word in term.split(" "))) for term in terms])


def spearman(a: list[float], b: list[float]) -> float:
    """Spearman's rank correlation.

    >>> spearman([1.0, 2.0, 3.0], [2.0, 5.0, 9.0])
    1.0
    """
    from scipy.stats import spearmanr

    return float(spearmanr(a, b).statistic)


def _pairs(outcomes: list[Outcome]) -> list[tuple[int, int]]:
    return sorted({(each.source, each.target) for each in outcomes}, key=lambda pair: (pair[1], pair[0]))


def _interval(values: list[float], samples: int = 2000) -> tuple[float, float]:
    rng = np.random.default_rng(0)
    drawn = np.asarray(values)[rng.integers(0, len(values), (samples, len(values)))].mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def _mean(values: list[float] | list[np.ndarray]) -> float:
    return float(np.mean([np.mean(each) for each in values]))
