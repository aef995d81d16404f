"""`weft lexicon network --wordnet installed --entities KG.tsv --out NET.weft`: a model that links words and names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from weft.cli.common import DATA, SETTINGS, JsonFlag, Scheduler, Seed, Workers, option, print_json, short_path
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.lexical.network.network import Network, NetworkBuilder

#: Stands for the WordNet of this machine.
INSTALLED = "installed"
EXAMPLE = "weft lexicon network --entities examples/links/football.tsv --out net.weft"

Wordnet = Annotated[
    str,
    option(
        "--wordnet", metavar="FOLDER", panel=DATA,
        help="Add a WordNet: `installed` (or $WNHOME), a folder, or a file in WN-LMF.",
    ),
]  # fmt: skip
Entities = Annotated[
    list[Path] | None,
    option("--entities", metavar="FILE", panel=DATA, help="Graph of entities: TSV, JSON Lines, N-Triples; repeat."),
]
Names = Annotated[
    list[Path] | None,
    option("--names", metavar="FILE", panel=DATA, help="Open Multilingual WordNet: names in a language; repeat."),
]
Language = Annotated[str, option("--language", metavar="CODE", panel=DATA, help="Language of names without one.")]
Glosses = Annotated[
    str, option("--glosses", metavar="none|monosemous|linked", panel=SETTINGS, help="Words of glosses that are edges.")
]
Method = Annotated[
    str, option("--method", metavar="push|walks", panel=SETTINGS, help="Signatures by PageRank, or by drawing walks.")
]
Uniform = Annotated[bool, option("--uniform", panel=SETTINGS, help="Ignore triangles: all edges weigh the same.")]
Restart = Annotated[float, option("--restart", panel=SETTINGS, help="Probability that a walk restarts.")]
Steps = Annotated[int, option("--walk-steps", min=1, panel=SETTINGS, help="Steps of a walk.")]
Least = Annotated[int, option("--least", min=1, panel=SETTINGS, help="Visits that a signature asks for.")]
Kinds = Annotated[
    str, option("--kinds", metavar="all|concepts|entities|senses", panel=SETTINGS, help="What phrases are linked to.")
]
Loose = Annotated[
    str, option("--loose", metavar="names|all|none", panel=SETTINGS, help="Phrases that longer names match.")
]
Unit = Annotated[str, option("--unit", metavar="document|sentence", panel=SETTINGS, help="What is linked jointly.")]
Ambiguity = Annotated[int, option("--ambiguity", min=1, panel=SETTINGS, help="Most candidates of a phrase.")]
Threshold = Annotated[float, option("--threshold", panel=SETTINGS, help="Least score of a link to a concept.")]
EntityThreshold = Annotated[
    float, option("--entity-threshold", panel=SETTINGS, help="Least score of a link to an entity.")
]
NoFirst = Annotated[
    bool,
    option("--no-first-sense", panel=SETTINGS, help="Below the threshold, link nothing instead of the first sense."),
]
Graph = Annotated[Path | None, option("--graph", metavar="FILE", help="Also write the graph, with its relations.")]
Out = Annotated[Path, option("--out", "-o", metavar="MODEL", help="Model file to write.")]


def network(
    out: Out,
    wordnet: Wordnet = "",
    entities: Entities = None,
    names: Names = None,
    language: Language = "en",
    glosses: Glosses = "linked",
    method: Method = "push",
    uniform: Uniform = False,
    restart: Restart = 0.85,
    steps: Steps = 1_000_000,
    least: Least = 100,
    kinds: Kinds = "all",
    loose: Loose = "names",
    unit: Unit = "document",
    ambiguity: Ambiguity = 10,
    threshold: Threshold = 0.8,
    entity_threshold: EntityThreshold = 0.0,
    no_first_sense: NoFirst = False,
    graph: Graph = None,
    seed: Seed = 0,
    workers: Workers = 1,
    scheduler: Scheduler = None,
    as_json: JsonFlag = False,
) -> None:
    """Build a network of concepts and entities, and save it as a model that links every noun and name of a text.

    WordNet is not part of Weft: install Debian's packages wordnet-base and wordnet-sense-index, or name a folder.
    """
    from weft.lexical.network.network import NetworkBuilder
    from weft.pipeline.registry import check_place, keep
    from weft.tasks.linking.linker import Linker, LinkSettings

    settings = LinkSettings(
        kinds=kinds, loose=loose, unit=unit, ambiguity=ambiguity, threshold=threshold,
        entity_threshold=entity_threshold, first_sense=not no_first_sense,
    )  # fmt: skip
    settings.check()
    check_place(out)
    builder = NetworkBuilder()
    report = _add(builder, wordnet, entities or [], names or [], language, glosses, workers)
    made = _computed(
        builder, scheduler, triangles=not uniform, method=method, restart=restart, steps=steps, least=least, seed=seed,
        workers=workers,
    )  # fmt: skip
    if graph is not None:
        builder.typed_graph().save(graph)
    result: dict[str, Any] = {"training": {**report, **made.counts()}}
    keep(Linker(settings, made), result, out, corpora=report["sources"])
    _tell(result, out, as_json)


def _computed(builder: NetworkBuilder, scheduler: str | None, **options: Any) -> Network:
    """The network, on this machine or on a cluster."""
    from weft.scale.cluster import connected_client

    client = connected_client(scheduler) if scheduler else None
    try:
        return builder.network(client=client, **options)
    finally:
        if client is not None:
            client.close()


def _tell(result: dict[str, Any], out: Path, as_json: bool) -> None:
    """Print what was built."""
    report = result["training"]
    if as_json:
        print_json({**report, "model": str(short_path(out)), "bytes": result["bytes"]})
        return
    sizes = ", ".join(f"{count:,} names ({code})" for code, count in report["names"].items())
    print(f"{report['concepts']:,} concepts, {report['entities']:,} entities, {sizes}")
    joined = f"{report['joined']:,} entities joined to WordNet, " if report.get("joined") else ""
    print(f"{joined}{report['signatures']:,} vertices in signatures")
    print(f"model: {short_path(out)} ({result['bytes'] / 1e6:,.1f} MB)")


def _add(
    builder: NetworkBuilder, wordnet: str, entities: list[Path], names: list[Path], language: str, glosses: str,
    workers: int,
) -> dict[str, Any]:  # fmt: skip
    """Add what was asked for, and say what."""
    from weft.lexical.network.entities import add_entities
    from weft.lexical.network.wordnet import Added, add_names, add_wordnet

    if not wordnet and not entities:
        raise ConfigError("a network is made of WordNet (--wordnet installed), of entities (--entities), or of both")
    report: dict[str, Any] = {"sources": []}
    added = Added({}, set())
    if wordnet:
        added = add_wordnet(builder, None if wordnet == INSTALLED else wordnet, glosses, workers)
        report["sources"].append("WordNet")
    if names and not added.vertices:
        raise ConfigError("--names adds names to the synsets of WordNet 3.0; add them by --wordnet")
    for path in names:
        add_names(builder, path, added)
        report["sources"].append(path.name)
    if entities:
        found = add_entities(builder, entities, added.instances, language)
        report |= {"joined": found.joined, "links": found.links}
        report["sources"] += [path.name for path in entities]
    return report
