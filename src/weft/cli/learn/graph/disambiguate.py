"""`weft graph disambiguate GRAPH NAME`: which of several people with one name wrote what."""

from __future__ import annotations

from typing import Annotated

import typer

from weft.cli.common import JsonFlag, Seed, Workers, counted, option, print_json, print_table, short_path
from weft.cli.learn.graph.sources import Source, Table, read_source, write_rows
from weft.errors import ConfigError

EXAMPLE = "weft graph disambiguate examples/graph/papers.csv 'M. Lind'"

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name that several people may share.")]
People = Annotated[
    str, option("--people", metavar="N or LOW-HIGH", help="Number of people, or numbers to choose from.")
]
Distance = Annotated[
    str, option("--distance", help="How papers are compared: propflow, shortest, commute or ghost (by co-authors).")
]
Steps = Annotated[int, option("--length", min=1, help="Steps of walks between papers.")]
Relation = Annotated[
    str | None, option("--relation", help="Relation between the name and what it is told apart by.", shown="all")
]


def disambiguate(
    graph: Source, name: Name, people: People = "2-4", distance: Distance = "propflow", steps: Steps = 10,
    relation: Relation = None, out: Table = None, as_json: JsonFlag = False, seed: Seed = 0, workers: Workers = 1,
) -> None:  # fmt: skip
    """Tell the people of one name apart by what their papers, or the documents that name them, have in common."""
    from weft.tasks.bibliographies.people import people_of_name
    from weft.tasks.knowledge.contents import MENTIONED

    found, _ = read_source(graph, contents=True)
    if relation is None and MENTIONED in found.relations:
        relation = MENTIONED
    persons = people_of_name(found, name, distance, _numbers(people), steps, relation, seed, workers)
    if out is not None:
        write_rows([
            {"name": name, "person": number, "paper": paper}
            for number, person in enumerate(persons, 1) for paper in person.papers
        ], out)  # fmt: skip
    if as_json:
        print_json([{"person": n, "papers": p.papers, "shared": p.shared} for n, p in enumerate(persons, 1)])
    elif out is not None:
        print(f"wrote {counted(sum(len(each.papers) for each in persons), 'paper')} to {short_path(out)}")
    else:
        rows = [[n, ", ".join(p.papers), ", ".join(p.shared)] for n, p in enumerate(persons, 1)]
        what = "documents" if relation == MENTIONED else "papers"
        print_table("", ["person", what, "have in common"], rows)


def _numbers(text: str) -> list[int]:
    low, sign, high = text.partition("-")
    if not low.isdigit() or (sign and not high.isdigit()) or not 1 <= int(low) <= int(high or low) <= 1000:
        raise ConfigError(f"--people is a number, or two as in 2-4, not {text!r}")
    return list(range(int(low), int(high or low) + 1))
