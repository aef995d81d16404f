"""`weft graph complete KG --relation NAME`: new facts of a relation, ranked, with reasons."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.cli.common import MODEL, RUNNING, SETTINGS, JsonFlag, Seed, Workers, counted, option, print_json, short_path

if TYPE_CHECKING:
    from weft.tasks.knowledge.completion import NewFact

EXAMPLE = 'weft graph complete examples/graph/coast.tsv --relation "citizen of"'

Graph = Annotated[Path, typer.Argument(metavar="GRAPH", help="Folder of a graph, or a file of edges.")]
Relation = Annotated[str, option("--relation", "-r", metavar="NAME", help="Relation to find new facts of.")]
Of = Annotated[
    list[str] | None,
    option("--of", metavar="NODE", help="Only facts of this node; repeat.", shown="all that lack the relation"),
]
Top = Annotated[int, option("--top", min=1, help="How many facts to show.")]
Least = Annotated[float, option("--least", min=0.0, max=1.0, help="Leave out facts of a lower probability.")]
Reasons = Annotated[int, option("--reasons", min=0, help="How many paths to show per fact.")]
Candidates = Annotated[
    str, option("--candidates", metavar="known|typed|all", panel=SETTINGS,
                help="What may be an answer: known targets, nodes of their types, or all nodes."),
]  # fmt: skip
Length = Annotated[int, option("--length", min=1, panel=SETTINGS, help="Longest path, in steps.")]
Cap = Annotated[int, option("--cap", min=0, panel=SETTINGS, help="Most edges followed from a node; 0: all.")]
Binary = Annotated[
    bool, option("--binary", panel=SETTINGS, help="Ask only whether a path leads there, not how surely.")
]
Sampling = Annotated[
    str, option("--sampling", metavar="stratified|random|all", panel=SETTINGS, help="Known facts to learn from.")
]
Model = Annotated[
    Path | None,
    option("--model", metavar="FILE", panel=MODEL, help="Model to use, as --save writes it.", shown="learned"),
]
Save = Annotated[Path | None, option("--save", metavar="FILE", panel=MODEL, help="File to keep the model in.")]
Out = Annotated[
    Path | None, option("--out", "-o", metavar="FILE", panel=RUNNING, help="File of new facts: .tsv, .csv or .jsonl.")
]


def complete(
    graph: Graph,
    relation: Relation,
    of: Of = None,
    top: Top = 20,
    least: Least = 0.5,
    reasons: Reasons = 3,
    candidates: Candidates = "known",
    length: Length = 3,
    cap: Cap = 100,
    binary: Binary = False,
    sampling: Sampling = "stratified",
    model: Model = None,
    save: Save = None,
    out: Out = None,
    seed: Seed = 0,
    workers: Workers = 1,
    as_json: JsonFlag = False,
) -> None:
    """Rank new facts of a relation by the paths that lead to them, and say which paths those are.

    Known facts teach which paths are worth how much; text that was kept by `weft graph build --text` is walked too.
    """
    from weft.tasks.knowledge.folder import KnowledgeGraph
    from weft.tasks.knowledge.ranker import RankerSettings
    from weft.tasks.knowledge.writing import write_facts

    settings = RankerSettings(length=length, cap=cap, binary=binary, sampling=sampling, seed=seed)
    settings.check()
    kg = KnowledgeGraph.open(graph)
    found = kg.complete(
        relation, of=of or (), top=top, reasons=reasons, settings=settings, candidates=candidates, model=model,
        workers=workers, least=least,
    )  # fmt: skip
    if save is not None:
        kg.save_model(found, save)
    if out is not None:
        write_facts(found.facts, out)
    if as_json:
        print_json({"facts": [fact.to_dict() for fact in found.facts], "model": found.ranker.report})
        return
    _show(found.facts)
    for path, what in ((out, "the facts"), (save, "the model")):
        if path is not None:
            print(f"wrote {what} to {short_path(path)}")


def _show(facts: Sequence[NewFact]) -> None:
    if not facts:
        print("no new facts: no path leads to one of so high a probability; a lower --least shows more")
    for fact in facts:
        print(f"{fact.probability:.2f}  {fact.source} — {fact.relation} — {fact.target}")
        for reason in fact.reasons:
            print(f"      {reason.weight:+.2f}  {reason.told}")
    if facts:
        print(counted(len(facts), "new fact"))
