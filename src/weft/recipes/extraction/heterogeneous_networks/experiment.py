"""King, Jha and Radev (2014): rankings, people of one name, and topics from one network of papers, authors and terms.

The paper's network is AAN of 2009 with institutions. Here the ACL Anthology and AAN's citations stand in; there are no
institutions, except in generated networks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from weft.evaluate.significance import signed_rank
from weft.graph.network import network
from weft.graph.rankings.pagerank import pagerank
from weft.graph.rankings.years import best_of_type, yearly_ranks
from weft.recipes.claims import Figure, gain, mean_of, measured
from weft.recipes.extraction.heterogeneous_networks.anthology import LINKS, PAPERS, read_anthology
from weft.recipes.extraction.heterogeneous_networks.generated import generate
from weft.recipes.extraction.heterogeneous_networks.impact import (
    COUNT,
    FACTOR,
    I10,
    SINGLE,
    WHOLE,
    H,
    agreements,
    coauthors,
    properties,
    real_counts,
)
from weft.recipes.extraction.heterogeneous_networks.names import NUMBERS, POOLED, ROWS, SCORES, Names, told_apart
from weft.recipes.extraction.heterogeneous_networks.titles import Titles
from weft.recipes.framework import Curve, RecipeOptions, RecipeResult, Table
from weft.recipes.variation import Variation
from weft.tasks.bibliographies.papers import Paper
from weft.tasks.bibliographies.schema import Bibliography, bibliography
from weft.tasks.bibliographies.terms import single_terms, title_terms

PAPER_TAU = {
    "paper": {WHOLE: 0.773, SINGLE: 0.558, COUNT: 0.642},
    "author": {WHOLE: 0.461, SINGLE: 0.244, H: 0.292, COUNT: 0.236, I10: 0.235},
    "institution": {WHOLE: 0.373, H: 0.334, COUNT: 0.327},
    "venue": {WHOLE: 0.449, H: 0.425, COUNT: 0.370, FACTOR: 0.092, SINGLE: 0.366},
}
PAPER_NAMES = {
    "heterogeneous, commute time": (0.59, 0.78, 0.63, 0.63, 0.71, 0.43),
    "heterogeneous, shortest path": (0.90, 0.79, 0.83, 0.87, 0.94, 0.76),
    "heterogeneous, PropFlow": (0.89, 0.83, 0.84, 0.87, 0.93, 0.77),
    "co-authorship, commute time": (0.47, 0.80, 0.54, 0.47, 0.60, 0.18),
    "co-authorship, shortest path": (0.54, 0.73, 0.60, 0.61, 0.67, 0.31),
    "co-authorship, PropFlow": (0.57, 0.76, 0.64, 0.66, 0.71, 0.43),
    "GHOST": (0.89, 0.60, 0.69, 0.81, 0.94, 0.63),
}
PAPER_PROPERTIES = {
    "real": {"exponent": 1.82, "diameter": 9, "mean path": 4.27, "clustering": 0.34},
    "generated": {"exponent": 2.12, "diameter": 8, "mean path": 4.05, "clustering": 0.26},
}
CONFERENCES = ("ACL", "EMNLP", "COLING", "NAACL")
HET, CO = "heterogeneous, PropFlow", "co-authorship, PropFlow"
HET_PATH, CO_PATH = "heterogeneous, shortest path", "co-authorship, shortest path"


@dataclass(frozen=True)
class Size:
    """Generated networks; sets of merged authors of each size, draws per null distribution; topics and queries."""

    networks: int = 5
    sets: int = 60
    draws: int = 20
    topics: int = 100
    rounds: int = 200
    queries: int = 200


VARIATION = Variation((Size,), ("impact", "names", "topics"))
QUICK = Size(networks=2, sets=4, draws=5, topics=20, rounds=30, queries=40)


def run(options: RecipeOptions) -> RecipeResult:
    """All tables of the system page."""
    size = options.varied(QUICK if options.quick else Size())
    result = RecipeResult("heterogeneous-networks")
    papers = read_anthology(options.find(PAPERS), options.find(LINKS)).papers
    phrases = title_terms([paper.title for paper in papers])
    if options.wants("impact"):
        _impact(result, bibliography(papers, phrases), size, options.seed)
    if options.wants("names"):
        words = single_terms([paper.title for paper in papers])
        _names(result, Names.of(papers, {"phrases": phrases, "words": words, "none": None}), size, options)
    if options.wants("topics"):
        _topics(result, papers, size, options)
    return result


def _impact(result: RecipeResult, found: Bibliography, size: Size, seed: int) -> None:
    counts = real_counts(found)
    drawn = [generate(counts, seed + number) for number in range(size.networks)]
    one = drawn[0]
    graph = found.graph
    cites = graph.relations.index("cites")
    received = np.bincount(graph.targets[int(graph.slices[cites]) : int(graph.slices[cites + 1])])
    wrote = graph.relations.index("writes")
    part = slice(int(graph.slices[wrote]), int(graph.slices[wrote + 1]))
    writers = coauthors(
        graph.targets[part].astype(np.int64), graph.sources[part].astype(np.int64), graph.n_nodes, graph.n_nodes
    )
    sizes = len(one.impact["paper"]), len(one.impact["author"])
    authors = one.links["writes"]
    rows = {
        "real": properties(network(graph), received.astype(float), writers, seed),
        "generated": properties(
            one.network(), np.bincount(one.cited, minlength=sizes[0]).astype(float),
            coauthors(authors[1], authors[0], *sizes), seed,
        ),
    }  # fmt: skip
    table = Table("Networks", ["nodes", "exponent", "diameter", "mean path", "clustering"],
                  digits={"nodes": 0, "diameter": 0})  # fmt: skip
    nodes = {"real": graph.n_nodes, "generated": one.n_nodes}
    for name, values in rows.items():
        table.add(name, {"nodes": nodes[name], **values}, PAPER_PROPERTIES[name])
    table.note = (
        "Exponent of the power law of papers' citations, by maximum likelihood from 1 citation on. Paths from samples, "
        "in the largest part. Clustering of co-authors. The generated network has the real one's numbers of papers, "
        "authors, venues, terms and links; institutions are added."
    )
    result.tables.append(table)
    result.own("the generated network has a diameter below {bar}",
               measured(rows["generated"]["diameter"], "<", 12, "diameter", 0))  # fmt: skip
    result.own("its exponent of citations differs from the real one by less than {bar}",
               measured(abs(rows["generated"]["exponent"] - rows["real"]["exponent"]), "<", 0.3))  # fmt: skip
    plain = [agreements(each, seed) for each in drawn]
    ties = [agreements(each, seed, ties=True) for each in drawn]
    table = Table("Agreement with known impact", ["tau", "tau, ties corrected"],
                  digits={"tau": 3, "tau, ties corrected": 3})  # fmt: skip
    claim = "PageRank of the heterogeneous network agrees better with impact than every other measure, in tau"
    corrected = "it does so too if tau is corrected for ties"
    for type, own in plain[0].items():
        for name in own:
            mean, mean_ties = (float(np.mean([run[type][name] for run in runs])) for runs in (plain, ties))
            table.add(f"{type}: {name}", {"tau": mean, "tau, ties corrected": mean_ties},
                      {"tau": PAPER_TAU[type][name]})  # fmt: skip
            if name != WHOLE:
                for text, runs in ((claim, plain), (corrected, ties)):
                    differences = {str(n): 100 * (run[type][WHOLE] - run[type][name]) for n, run in enumerate(runs)}
                    result.claim(text, mean_of(differences, f"{type}, {name}"))
    table.note = f"Kendall's tau, mean over {size.networks} generated networks; differences below are in points."
    result.tables.append(table)
    years = list(range(1985, 2013))
    ranks = yearly_ranks(graph, found.years(), years)
    lines = {
        name: [(float(year), float(ranks[year][graph.names.find(name)])) for year in years] for name in CONFERENCES
    }
    result.curves.append(Curve("PageRank of conferences over the mean of venues", "year", "relative PageRank", lines))
    rise = {name: dict(points)[2012.0] - dict(points)[2005.0] for name, points in lines.items()}
    result.claim("all four major conferences have gained impact since 2005",
                 *(measured(value, ">", 0, name) for name, value in rise.items()))  # fmt: skip
    whole = pagerank(network(graph))
    best = Table("Highest PageRank by type", ["relative PageRank", "citations"],
                 digits={"relative PageRank": 1, "citations": 0})  # fmt: skip
    total = np.bincount(graph.targets[int(graph.slices[cites]) : int(graph.slices[cites + 1])], minlength=graph.n_nodes)
    for type in ("paper", "venue", "term"):
        for row in best_of_type(graph, whole, type, 5):
            received_by = int(total[row.node]) if type == "paper" else None
            best.add(f"{type} {row.rank}: {graph.names[row.node]}",
                     {"relative PageRank": row.relative, "citations": received_by})  # fmt: skip
    result.tables.append(best)


def _names(result: RecipeResult, names: Names, size: Size, options: RecipeOptions) -> None:
    rows = [*ROWS, POOLED]
    found = told_apart(names, rows, size.sets, size.draws, options.seed, options)
    table = Table("Authors told apart", [*SCORES, "F, true k", "right k %"], digits={"right k %": 1})
    for row in rows:
        ours: dict[str, float | None] = {column: found.mean(row, column) for column in SCORES}
        if found.given[row]:
            ours["F, true k"] = found.mean(row, "F", given=True)
            ours["right k %"] = 100 * float(found.right(row).mean())
        paper = PAPER_NAMES.get(row)
        table.add(row, ours, dict(zip(SCORES, paper, strict=True)) if paper else None)
    table.note = (
        f"{size.sets} sets each of {', '.join(map(str, NUMBERS))} authors with 8 papers or more; k by the gap "
        f"statistic with {size.draws} draws, unless it is given. Terms are TextRank phrases, unless a row says so."
    )
    result.tables.append(table)

    def over(
        better: str, worse: str, column: str = "F", given: bool = False, bar: float = 0.0, where: str = ""
    ) -> Figure:
        differences = 100 * (found.values(better, column, given) - found.values(worse, column, given))
        return gain(float(differences.mean()), p=signed_rank(differences - bar), bar=bar, where=where or column)

    pairs = {"PropFlow": (HET, CO), "shortest path": (HET_PATH, CO_PATH)}
    result.claim(
        "the heterogeneous network is above that of co-authors by {bar} points of F",
        *(over(*pair, bar=15, where=name) for name, pair in pairs.items()),
        note="The paper's heterogeneous network has institutions, of which there are none here.",
    )
    for name, pair in pairs.items():
        result.claim(f"{name}: the heterogeneous network is above that of co-authors in F",
                     over(*pair, where="k by the gap statistic"), over(*pair, given=True, where="true k"))  # fmt: skip
    result.claim("PropFlow in the heterogeneous network gains precision over that of co-authors", over(HET, CO, "P"))
    result.claim("PropFlow in the heterogeneous network is above GHOST in F", over(HET, "GHOST"))
    result.claim("truncated commute times are the worst distance in either network, in F",
                 over(HET, "heterogeneous, commute time", where="heterogeneous"),
                 over(CO, "co-authorship, commute time", where="co-authorship"))  # fmt: skip
    result.own("PropFlow in the heterogeneous network is above shortest paths of co-authors in F, true k",
               over(HET, CO_PATH, given=True))  # fmt: skip
    result.own("PropFlow is above walks that may come back, true k",
               over(HET, "heterogeneous, walks with revisits", given=True))  # fmt: skip
    right = found.right(HET)
    result.own(
        "the gap statistic chooses the right k more often than chance, one in three",
        gain(100 * float(right.mean()) - 100 / 3, p=_above_chance(right), where=HET), required=False,
    )  # fmt: skip


def _above_chance(right: Sequence[float] | np.ndarray) -> float:
    from scipy.stats import binomtest

    return float(binomtest(int(np.sum(right)), len(right), 1 / len(NUMBERS)).pvalue)


def _topics(result: RecipeResult, papers: Sequence[Paper], size: Size, options: RecipeOptions) -> None:
    titles = Titles.of(papers, 2000, 2012)
    related = titles.related()
    some = [place for place, paper in enumerate(titles.papers) if len(paper.cites) >= 2]
    rng = np.random.default_rng(options.seed)
    queries = rng.choice(some, min(size.queries, len(some)), replace=False).tolist()
    cooc, losses = titles.by_walks("cooc", size.topics, options.seed, options.workers)
    walks, more = titles.by_walks("walks", size.topics, options.seed, options.workers)
    models = {
        "walks, words that occur together": cooc, "walks, words that PropFlow joins": walks,
        "LDA (tomotopy)": titles.by_lda(size.topics, size.rounds, options.seed), "words, no topics": titles.by_words(),
    }  # fmt: skip
    paper = {
        "walks, words that PropFlow joins": {"coherence": -122.2, "DCG": 2.761},
        "walks, words that occur together": {"DCG": 3.295}, "LDA (tomotopy)": {"DCG": 3.302},
        "words, no topics": {"DCG": 1.345},
    }  # fmt: skip
    table = Table("Topics of titles", ["coherence", "DCG"], digits={"coherence": 1, "DCG": 3})
    gains = {name: titles.gains(model, related, queries) for name, model in models.items()}
    coherences = {name: titles.coherences(model) for name, model in models.items() if model.words}
    for name in models:
        ours: dict[str, float | None] = {"DCG": float(gains[name].mean())}
        if name in coherences:
            ours["coherence"] = float(coherences[name].mean())
        table.add(name, ours, paper[name])
    table.note = (
        f"{size.topics} topics of {len(titles.papers):,} titles of 2000 to 2012, {len(titles.vocabulary):,} words; "
        f"{len(queries)} queries. Papers with two citations in common, or of one volume, count as related. PropFlow "
        "sees citations and volumes, so its DCG is no fair comparison."
    )
    result.tables.append(table)
    first, second, lda = list(models)[:3]
    differences = gains[first] - gains[lda]
    result.claim("walks over words that occur together are level with LDA, or above, in DCG",
                 gain(float(differences.mean()), p=signed_rank(differences), where="DCG", digits=3),
                 rule="unopposed")  # fmt: skip
    from scipy.stats import mannwhitneyu

    for name in (lda, first):
        test = mannwhitneyu(coherences[second], coherences[name])
        difference = float(coherences[second].mean() - coherences[name].mean())
        result.claim("topics of words that PropFlow joins are the most coherent",
                     gain(difference, p=float(test.pvalue), where=f"over {name}", digits=1))  # fmt: skip
    rises = sum(b > a * (1 + 1e-12) for runs in (losses, more) for a, b in pairwise(runs))
    result.own("factorization never increases its divergence",
               measured(rises, "<=", 0, f"rounds that do, of {len(losses) + len(more)}", 0))  # fmt: skip
