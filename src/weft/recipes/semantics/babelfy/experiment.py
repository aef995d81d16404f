"""Moro, Raganato and Navigli (2014): word senses and entities linked jointly, by a dense subgraph of a network.

BabelNet needs a licence. Concepts come from WordNet 3.0 with its glosses, entities from the graph of Freebase entities
behind FB15k; an entity whose label names one instance of WordNet is joined to it. What is open was chosen on SemCor.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weft.arrays import Bools
from weft.evaluate.semantics.links import LinkReport, score_links
from weft.evaluate.significance import mcnemar
from weft.graph.store import Rows
from weft.graph.triangles import transitions, triangle_weights
from weft.graph.walks import pagerank
from weft.lexical.network.network import Network, NetworkBuilder
from weft.lexical.network.wordnet import add_wordnet
from weft.recipes.claims import Figure, gain, mean_of, measured
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.semantics.babelfy import data
from weft.recipes.semantics.babelfy.world import World, large, long_text, planted, texts
from weft.tasks.linking.candidates import Fragment, Search, mention
from weft.tasks.linking.linker import Linker, LinkSettings
from weft.text.conventions.links import LAYER, right_ids
from weft.text.doc import Doc
from weft.text.layers import words_of_chars

SETS = ("senseval2", "senseval3", "semeval2007", "semeval2013")
LINKED = {"KORE50": "kore50", "MSNBC": "msnbc-updated", "AIDA dev": "aida-conll-dev"}
#: The paper's settings for senses and for entities.
SENSES = LinkSettings(kinds="senses", loose="none", ambiguity=10, threshold=0.8, entity_threshold=0.8)
ENTITIES = LinkSettings(
    kinds="entities", context="all", loose="names", ambiguity=5, threshold=0.0, entity_threshold=0.0
)
PAPER = {
    "Babelfy": {"senseval3": 68.3, "semeval2007": 62.7, "semeval2013": 65.9},
    "uniform weights": {"senseval3": 67.0, "semeval2007": 65.2, "semeval2013": 65.0},
    "no dense subgraph": {"senseval3": 68.3, "semeval2007": 63.3, "semeval2013": 65.4},
    "only concepts": {"senseval3": 68.2, "semeval2007": 62.7, "semeval2013": 65.5},
    "per sentence": {"senseval3": 66.0, "semeval2007": 65.2, "semeval2013": 63.5},
    "first sense": {"senseval3": 70.3, "semeval2007": 65.8, "semeval2013": 63.0},
}
PAPER_ENTITIES = {
    "Babelfy": {"KORE50": 71.5}, "uniform weights": {"KORE50": 69.4}, "no dense subgraph": {"KORE50": 62.5},
    "only entities": {"KORE50": 68.1},
}  # fmt: skip


@dataclass(frozen=True)
class Size:
    """How much is run."""

    sets: int = 4
    linked: int = 3
    development: int = 12
    seeds: int = 5
    texts: int = 200
    vertices: int = 1_000_000
    walks: int = 10


QUICK = Size(sets=1, linked=1, development=1, seeds=1, texts=30, vertices=20_000, walks=2)


@dataclass
class Networks:
    """The networks of the experiment, built once."""

    full: Network
    uniform: Network
    wordnet: Network
    rows: Rows  #: the graph of WordNet alone
    ids: frozenset[str]
    seconds: float
    joined: int


def run(options: RecipeOptions) -> RecipeResult:
    """All tables of the system page."""
    size = options.varied(QUICK if options.quick else Size())
    result = RecipeResult("babelfy")
    if options.wants("generated"):
        _generated(result, size, options.seed)
    if options.wants("time"):
        _time(result, size, options.seed)
    if any(map(options.wants, ("development", "walks", "senses", "entities"))):
        _real(result, size, options)
    return result


def _real(result: RecipeResult, size: Size, options: RecipeOptions) -> None:
    if options.wants("development"):
        _development(result, size, options)
    networks = build(options)
    if options.wants("walks"):
        _walks(result, size, options, networks.rows)
    if options.wants("senses"):
        _senses(result, size, options, networks)
    if options.wants("entities"):
        _entities(result, size, options, networks)


def build(options: RecipeOptions) -> Networks:
    """WordNet and Freebase together, the same with uniform weights, and WordNet alone."""
    builder = NetworkBuilder()
    added = add_wordnet(builder, workers=options.workers)
    rows = builder.typed_graph().rows()
    began = time.perf_counter()
    wordnet = builder.network(workers=options.workers)
    seconds = time.perf_counter() - began
    found = data.add_freebase(builder, added.instances, options.find)
    full = builder.network(workers=options.workers)
    uniform = builder.network(workers=options.workers, triangles=False)
    ids = frozenset(builder.same.get(id, id) for id in found.ids)
    _SAME.clear()
    _SAME.update(builder.same)
    return Networks(full, uniform, wordnet, rows, ids, seconds, found.joined)


#: Wikidata ids of entities that were joined to WordNet, and the ids of their synsets.
_SAME: dict[str, str] = {}


def linked(network: Network, settings: LinkSettings, docs: Sequence[Doc]) -> list[Doc]:
    """Copies of documents with the mentions linked."""
    linker = Linker(settings, network)
    copies = [Doc.from_bytes(doc.to_bytes()) for doc in docs]
    for copy in copies:
        linker([copy])
    return copies


def scored(network: Network, settings: LinkSettings, docs: Sequence[Doc]) -> LinkReport:
    """The scores of a linker on gold mentions."""
    return score_links(docs, linked(network, settings, docs))


def candidates(network: Network, search: Search, docs: Sequence[Doc]) -> list[tuple[set[str], Fragment]]:
    """The right ids of every gold mention, and its candidates."""
    found = []
    for doc in docs:
        layer = words_of_chars(doc, doc.spans[LAYER])
        forms, lemmas = doc.column("form"), doc.column("lemma")
        for row, (pieces, label) in enumerate(layer):
            first, end = pieces[0][0], pieces[-1][1]
            lemma = " ".join(lemmas[first:end]).strip()
            names = network.names["en"]
            fragment = mention(forms[first:end], lemma, network, names, search, (first, end))
            found.append((right_ids(label, layer.attributes.get(row, {})), fragment))
    return found


def _answers(network: Network, fragment: Fragment, place: int) -> set[str]:
    return {network.ids[fragment.vertices[place]], fragment.keys[place]} - {""}


def first_right(network: Network, found: Sequence[tuple[set[str], Fragment]]) -> Bools:
    """Whether the first candidate of every mention is right."""
    return np.array([bool(f.vertices) and bool(right & _answers(network, f, 0)) for right, f in found], dtype=np.bool_)


def chance(network: Network, found: Sequence[tuple[set[str], Fragment]]) -> float:
    """The expected share of right answers if candidates are drawn at random."""
    shares = [
        sum(bool(right & _answers(network, f, k)) for k in range(len(f.vertices))) / max(1, len(f.vertices))
        for right, f in found
    ]
    return float(np.mean(shares))


def recall(network: Network, found: Sequence[tuple[set[str], Fragment]]) -> float:
    """The share of mentions with a right candidate."""
    return float(np.mean([
        any(right & _answers(network, f, k) for k in range(len(f.vertices))) for right, f in found
    ]))  # fmt: skip


def _f1(report: LinkReport) -> float:
    return 100 * report.links.total().f1


def _development(result: RecipeResult, size: Size, options: RecipeOptions) -> None:
    """What was chosen on SemCor: the edges of glosses, and fragments by type or by occurrence."""
    docs = data.semcor_documents(size.development, options.find)
    table = Table(f"SemCor, first {len(docs)} documents, nouns, no back-off", ["P", "R", "F", "F at 0"])
    bare = replace(SENSES, first_sense=False)
    for glosses in ("none", "monosemous", "linked"):
        builder = NetworkBuilder()
        add_wordnet(builder, glosses=glosses, workers=options.workers)
        network = builder.network(workers=options.workers)
        rows = {glosses: bare}
        if glosses == "linked":
            rows |= {
                "linked, every occurrence": replace(bare, occurrences=True),
                "linked, mentions alone": replace(bare, context="none"),
                "linked, no dense subgraph": replace(bare, dense=False),
            }
        for name, settings in rows.items():
            total = scored(network, settings, docs).links.total()
            lowest = replace(settings, threshold=0.0, entity_threshold=0.0)
            table.add(f"glosses {name}", {
                "P": 100 * total.precision, "R": 100 * total.recall, "F": 100 * total.f1,
                "F at 0": _f1(scored(network, lowest, docs)),
            })  # fmt: skip
    table.note = (
        "Threshold 0.8, and 0 in the last column. The senses of WordNet are ordered by SemCor: no back-off here."
    )
    result.tables.append(table)


def _walks(result: RecipeResult, size: Size, options: RecipeOptions, rows: Rows) -> None:
    """The printed random walks against push, on vertices of WordNet."""
    shares = transitions(rows, triangle_weights(rows, options.workers))
    random = np.random.default_rng(options.seed)
    chosen = random.choice(rows.n_nodes, size.walks, replace=False).tolist()
    outside = differing = members = 0
    for vertex in chosen:
        exact = pagerank(rows, shares, vertex)
        exact[vertex] -= 0.85
        pushed = set(np.flatnonzero(exact >= 1e-4).tolist())
        drawn = _drawn(rows, shares, vertex, options.seed)
        members += len(pushed)
        for x in pushed ^ drawn:
            differing += 1
            outside += abs(1e6 * exact[x] - 100) > 3 * np.sqrt(1.2e6 * exact[x])
    table = Table("Drawn signatures against exact ones, WordNet", ["vertices", "members", "differ", "beyond 3 sd"])
    for column in table.columns:
        table.digits[column] = 0
    table.add("1,000,000 steps each", {
        "vertices": len(chosen), "members": members, "differ": differing, "beyond 3 sd": int(outside),
    })  # fmt: skip
    result.tables.append(table)
    result.own("drawn and exact signatures differ only within three standard deviations", measured(outside, "<=", 0))


def _drawn(rows: Any, shares: Any, vertex: int, seed: int) -> set[int]:
    from weft.graph.walks import _of_span

    _, members = _of_span(rows, shares, vertex, vertex + 1, ("walks", 0.85, 1_000_000, 100, 1e-6, seed))
    return set(members.tolist())


def _senses(result: RecipeResult, size: Size, options: RecipeOptions, networks: Networks) -> None:
    """Nouns of the four test sets, with and without back-off to the first sense."""
    chosen = SETS[-size.sets :]
    gold = {name: data.sense_documents(name, options.find) for name in chosen}
    rows: dict[str, tuple[Network, LinkSettings]] = {
        "Babelfy": (networks.full, SENSES),
        "uniform weights": (networks.uniform, SENSES),
        "no dense subgraph": (networks.full, replace(SENSES, dense=False)),
        "only concepts": (networks.wordnet, SENSES),
        "per sentence": (networks.full, replace(SENSES, unit="sentence")),
    }
    backed = Table("Word senses, nouns, back-off to the first sense (F1)", list(chosen))
    plain = Table("Word senses, nouns, no back-off (F1)", list(chosen))
    linked_share = Table("Share of nouns that are linked without back-off", list(chosen))
    right: dict[str, dict[str, Bools]] = {}
    scores: dict[str, dict[str, float]] = {}
    for name, (network, settings) in rows.items():
        bare = replace(settings, first_sense=False)
        full = {each: scored(network, settings, docs) for each, docs in gold.items()}
        alone = {each: scored(network, bare, docs) for each, docs in gold.items()}
        right[name] = {each: report.right for each, report in full.items()}
        right[f"{name}, no back-off"] = {each: report.right for each, report in alone.items()}
        scores[name] = {each: _f1(report) for each, report in full.items()}
        scores[f"{name}, no back-off"] = {each: _f1(report) for each, report in alone.items()}
        paper = {key: value for key, value in PAPER.get(name, {}).items() if key in chosen}
        backed.add(name, scores[name], paper=paper)
        plain.add(name, scores[f"{name}, no back-off"], paper=paper)
        share = {each: report.links.total() for each, report in alone.items()}
        linked_share.add(name, {each: 100 * total.system / max(1, total.gold) for each, total in share.items()})
    found = {each: candidates(networks.wordnet, Search("none"), docs) for each, docs in gold.items()}
    first = {each: first_right(networks.wordnet, own) for each, own in found.items()}
    paper = {key: value for key, value in PAPER["first sense"].items() if key in chosen}
    scores["first sense"] = {each: 100 * float(own.mean()) for each, own in first.items()}
    backed.add("first sense", scores["first sense"], paper=paper)
    scores["chance"] = {each: 100 * chance(networks.wordnet, own) for each, own in found.items()}
    backed.add("chance", scores["chance"])
    backed.note = (
        f"Threshold 0.8, at most 10 candidates. {networks.joined:,} Freebase entities joined to instances of WordNet; "
        f"signatures of WordNet in {networks.seconds:.0f} s with {options.workers} thread(s)."
    )
    plain.note = "What is not linked lowers recall."
    result.tables += [backed, plain, linked_share]
    _sense_claims(result, chosen, right, first, scores)
    result.own(
        "the signatures of WordNet take at most {bar} seconds",
        measured(networks.seconds, "<=", 180, digits=0, unit="s"),
    )


def _compared(one: Mapping[str, Bools], other: Mapping[str, Bools], names: Sequence[str]) -> list[Figure]:
    figures = []
    for name in names:
        test = mcnemar(one[name], other[name])
        figures.append(gain(100 * float(one[name].mean() - other[name].mean()), p=test.p, where=name))
    return figures


def _sense_claims(
    result: RecipeResult, chosen: Sequence[str], right: Mapping[str, Mapping[str, Bools]],
    first: Mapping[str, Bools], scores: Mapping[str, Mapping[str, float]],
) -> None:  # fmt: skip
    ours = right["Babelfy"]
    result.claim(
        "without back-off, documents are better than sentences (paper: 2.4 on SemEval-2013)",
        *_compared(right["Babelfy, no back-off"], right["per sentence, no back-off"], chosen),
    )
    result.claim("triangle weights are better than uniform ones", *_compared(ours, right["uniform weights"], chosen))
    result.claim("the dense subgraph helps on senses", *_compared(ours, right["no dense subgraph"], chosen))
    result.claim("entities help on senses", *_compared(ours, right["only concepts"], chosen))
    if "semeval2013" in chosen:
        result.claim(
            "on SemEval-2013 it is above the first sense (paper: 2.9)", *_compared(ours, first, ["semeval2013"])
        )
        result.own(
            "nouns of SemEval-2013 reach F1 {bar}", measured(scores["Babelfy"]["semeval2013"], ">=", 64.5),
            required=False,
        )  # fmt: skip
    above = [measured(scores["Babelfy"][name] - scores["chance"][name], ">", 0, name) for name in chosen]
    result.own("it is above chance on every set", *above)


def _entities(result: RecipeResult, size: Size, options: RecipeOptions, networks: Networks) -> None:
    """Mentions of entities of the graph, on three sets."""
    chosen = dict(list(LINKED.items())[: size.linked])
    gold = {name: entity_documents(file, options, networks) for name, file in chosen.items()}
    exact = replace(ENTITIES, loose="none")
    rows: dict[str, tuple[Network, LinkSettings]] = {
        "Babelfy": (networks.full, ENTITIES),
        "uniform weights": (networks.uniform, ENTITIES),
        "no dense subgraph": (networks.full, replace(ENTITIES, dense=False)),
        "only entities": (networks.full, replace(ENTITIES, context="entities")),
        "mentions alone": (networks.full, replace(ENTITIES, context="none")),
        "mentions alone, no dense subgraph": (networks.full, replace(ENTITIES, context="none", dense=False)),
        "exact names": (networks.full, exact),
    }
    table = Table("Entities, accuracy on covered mentions", list(chosen))
    right: dict[str, dict[str, Bools]] = {}
    for name, (network, settings) in rows.items():
        reports = {each: scored(network, settings, docs) for each, docs in gold.items()}
        right[name] = {each: report.right for each, report in reports.items()}
        own = {each: 100 * float(report.right.mean()) for each, report in reports.items()}
        paper = {key: value for key, value in PAPER_ENTITIES.get(name, {}).items() if key in chosen}
        table.add(name, own, paper=paper)
    searches = {loose: replace(ENTITIES, loose=loose).search for loose in ("names", "none")}
    found = {
        loose: {each: candidates(networks.full, search, docs) for each, docs in gold.items()}
        for loose, search in searches.items()
    }
    connected = {each: _most_connected(networks.full, own) for each, own in found["names"].items()}
    table.add("most connected candidate", {each: 100 * float(own.mean()) for each, own in connected.items()})
    table.add("chance", {each: 100 * chance(networks.full, own) for each, own in found["names"].items()})
    counts = ", ".join(f"{name} {len(own):,}" for name, own in found["names"].items())
    table.note = f"Mentions whose entity is in the graph: {counts}. At most 5 candidates, no threshold."
    recalls = Table("Right entity among the candidates", list(chosen))
    values = {
        name: {each: 100 * recall(networks.full, own) for each, own in found[loose].items()}
        for name, loose in (("longer names too", "names"), ("exact names", "none"))
    }
    recalls.add("longer names too", values["longer names too"], paper={"KORE50": 98.6})
    recalls.add("exact names", values["exact names"], paper={"KORE50": 42.4})
    sizes = {e: float(np.mean([len(f.vertices) for _, f in own])) for e, own in found["names"].items()}
    recalls.add("candidates per mention", sizes)
    result.tables += [table, recalls]
    ours, names = right["Babelfy"], list(chosen)
    kore = values["longer names too"]["KORE50"], values["exact names"]["KORE50"]
    result.claim("longer names find {bar} % of the entities of KORE50 (paper: 98.6)", measured(kore[0], ">=", 95),
                 required=True)  # fmt: skip
    result.claim("exact names find less than {bar} % (paper: 42.4)", measured(kore[1], "<", 60), required=True)
    result.claim(
        "the dense subgraph is better than the whole graph (paper: 9.0 on KORE50)",
        *_compared(ours, right["no dense subgraph"], names),
    )
    result.claim(
        "concepts help to link entities (paper: 3.4 on KORE50)", *_compared(ours, right["only entities"], names)
    )
    result.claim("triangle weights are better than uniform ones", *_compared(ours, right["uniform weights"], names))
    result.own(
        "coherence is better than the most connected candidate", *_compared(ours, connected, names), required=False
    )


def _most_connected(network: Network, found: Sequence[tuple[set[str], Fragment]]) -> Bools:
    best = [max(range(len(f.vertices)), key=lambda k: int(network.degree[f.vertices[k]]), default=-1) for _, f in found]
    return np.array(
        [k >= 0 and bool(right & _answers(network, f, k)) for k, (right, f) in zip(best, found, strict=True)],
        dtype=np.bool_,
    )


def entity_documents(file: str, options: RecipeOptions, networks: Networks) -> list[Doc]:
    """A set of links, tagged by the English model; joined entities have the ids of their synsets."""
    from weft import load

    docs = data.link_documents(file, frozenset(_SAME) | networks.ids, options.find)
    nlp = load("en")
    tagged = []
    for doc in docs:
        [copy] = nlp.pipe([Doc(doc.text)])
        copy.spans = {LAYER: type(doc.spans[LAYER])(copy.strings, "chars")}
        for row, (pieces, label) in enumerate(doc.spans[LAYER]):
            attributes = doc.spans[LAYER].attributes.get(row, {})
            copy.spans[LAYER].add(pieces, _SAME.get(label, label), **attributes)
        copy.id = doc.id
        tagged.append(copy)
    return tagged


def _generated(result: RecipeResult, size: Size, first: int) -> None:
    """Planted topics: coherence must find the readings that texts were made of."""
    world = World()
    settings = replace(ENTITIES, context="none", loose="none")
    variants = {
        "Babelfy": settings,
        "at most 1 candidate": replace(settings, ambiguity=1),
        "at most 10 candidates": replace(settings, ambiguity=10),
        "no dense subgraph": replace(settings, dense=False),
        "with the other words": replace(settings, context="all"),
        "with the other words, no dense subgraph": replace(settings, context="all", dense=False),
    }
    rows: dict[str, list[float]] = {}
    for seed in range(first, first + size.seeds):
        builder = planted(world, seed)
        network, flat = builder.network(), builder.network(triangles=False)
        docs = texts(world, builder, size.texts, seed)
        for name, own in variants.items():
            rows.setdefault(name, []).append(100 * float(scored(network, own, docs).right.mean()))
        rows.setdefault("uniform weights", []).append(100 * float(scored(flat, settings, docs).right.mean()))
        found = candidates(network, Search("none"), docs)
        rows.setdefault("chance", []).append(100 * chance(network, found))
    table = Table(f"Planted topics, accuracy, {size.seeds} seeds", ["mean", "lowest", "highest"])
    for name, values in rows.items():
        table.add(name, {"mean": float(np.mean(values)), "lowest": min(values), "highest": max(values)})
    table.note = (
        f"{world.topics} topics of {world.size} vertices, names shared by {world.readings} topics, "
        f"{100 * world.astray:.0f} % of the edges between topics."
    )
    result.tables.append(table)

    def gains(a: str, b: str) -> dict[str, float]:
        return {f"seed {k}": x - y for k, (x, y) in enumerate(zip(rows[a], rows[b], strict=True))}

    result.own("coherence finds planted readings far above chance", mean_of(gains("Babelfy", "chance")))
    result.own(
        "the dense subgraph is better than the whole graph on planted topics",
        mean_of(gains("Babelfy", "no dense subgraph"), "mentions alone"),
        mean_of(gains("with the other words", "with the other words, no dense subgraph"), "with the other words"),
        required=False,
    )
    result.own(
        "triangle weights are better than uniform ones on planted topics",
        mean_of(gains("Babelfy", "uniform weights")), required=False,
    )  # fmt: skip


def _time(result: RecipeResult, size: Size, seed: int) -> None:
    """A document of 500 words on a large network."""
    network = large(size.vertices, 50, seed)
    table = Table("Seconds per document of 500 words", ["vertices", "fragments", "candidates", "seconds"])
    table.digits |= {"vertices": 0, "fragments": 0, "candidates": 0, "seconds": 3}
    taken = []
    linker = Linker(replace(ENTITIES, loose="names"), network)
    linker([long_text(network, 50, seed)])
    for number in range(5):
        doc = long_text(network, 500, seed + number)
        began = time.perf_counter()
        linker([doc])
        taken.append(time.perf_counter() - began)
    from weft.tasks.linking.candidates import fragments

    found = fragments(doc, network, network.names["en"], linker.settings.search)
    table.add("median of 5", {
        "vertices": len(network), "fragments": len(found), "candidates": sum(len(f.vertices) for f in found),
        "seconds": float(np.median(taken)),
    })  # fmt: skip
    table.note = "Signatures of 50 vertices, in memory; names of two words that share their first with 50 others."
    result.tables.append(table)
    result.own(
        f"a document of 500 words takes at most {{bar}} s on {size.vertices:,} vertices",
        measured(float(np.median(taken)), "<=", 0.5, digits=3, unit="s"),
    )
