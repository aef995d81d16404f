"""`weft ask KG/ "QUESTION"`: answers of a knowledge graph to questions in plain words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import DATA, JsonFlag, counted, option, print_json, print_table

if TYPE_CHECKING:
    from weft.tasks.questions.asking import Questions, Suggestion

Graph = Annotated[Path, typer.Argument(metavar="GRAPH", help="Folder of a graph, or a file of edges.")]
Question = Annotated[str, typer.Argument(metavar="QUESTION", help="What to ask, in plain words.")]
SchemaFile = Annotated[
    Path | None,
    option(
        "--schema", metavar="FILE", panel=DATA, help="TOML file of names and synonyms.", shown="schema.toml in GRAPH"
    ),
]
Attributes = Annotated[
    Path | None, option("--attributes", metavar="FILE", panel=DATA, help="Lines of node, attribute and value.")
]
Hidden = Annotated[
    Path | None,
    option(
        "--hidden", metavar="FILE", panel=DATA, help="Edges that only their two nodes see.", shown="hidden.tsv in GRAPH"
    ),
]
Me = Annotated[str | None, option("--me", metavar="NAME", help="The node of the one who asks.", shown="nobody")]
Language = Annotated[
    str | None, option("--as", metavar="LANGUAGE", help="Print the query as sql, sparql or cypher instead.")
]
Suggest = Annotated[bool, option("--suggest", help="Read the question as unfinished and print suggestions.")]
Limit = Annotated[int, option("--limit", min=1, help="Rows of the answer to print.")]


def ask(
    graph: Graph,
    question: Question,
    schema: SchemaFile = None,
    attributes: Attributes = None,
    hidden: Hidden = None,
    me: Me = None,
    language: Language = None,
    suggest: Suggest = False,
    limit: Limit = 20,
    as_json: JsonFlag = False,
) -> None:
    """Ask a knowledge graph in plain words; typos and the order of keywords matter little."""
    from weft.errors import ConfigError
    from weft.tasks.questions.place import load_questions
    from weft.tasks.questions.queries import LANGUAGES, query

    if language is not None and language not in LANGUAGES:
        raise ConfigError(f"there is no language {language!r}; queries are written as {', '.join(LANGUAGES)}")
    questions = load_questions(graph, schema, attributes, hidden)
    user = questions.user(me)
    if suggest:
        _print_suggestions(questions.suggest(question, user, 8, complete=True), as_json)
        return
    best, others = questions.understand(question, user)
    if best is None:
        if as_json:
            print_json({"understood": None, "suggestions": [each.text for each in others]})
            return
        print("This question means nothing in the graph.")
        if others:
            print("It can be asked:")
            for each in others:
                print(f"  {each.text}")
        return
    names = questions.store.graph.names
    if language is not None:
        text = query(best.term, language, questions.store.schema, lambda node: names[node], me)
        if as_json:
            print_json({"understood": best.text, "query": text, "language": language})
        else:
            print(text)
        return
    _print_answer(questions, best, others, user, limit, as_json)


def _print_suggestions(found: list[Suggestion], as_json: bool) -> None:
    if as_json:
        print_json([{"text": each.text, "cost": round(each.cost, 3)} for each in found])
        return
    for each in found:
        print(each.text)
    if not found:
        print("Nothing in the graph begins like this.")


def _print_answer(
    questions: Questions, best: Suggestion, others: list[Suggestion], user: int | None, limit: int, as_json: bool
) -> None:
    answer = questions.answer(best.term, user, limit)
    names = questions.store.graph.names
    rows: list[dict[str, Any]] = []
    if answer.values:
        rows = [{"name": names[node] if node is not None else "", "value": text} for node, text in answer.values]
    else:
        rows = [{"name": names[node], **questions.facts(node, user)} for node in answer.nodes]
    if as_json:
        print_json({
            "understood": best.text, "ignored": list(best.ignored), "total": answer.total, "answer": rows,
            "others": [each.text for each in others],
        })  # fmt: skip
        return
    print(f"Understood: {best.text}")
    if best.ignored:
        print(f"Left out: {', '.join(best.ignored)}")
    if not rows:
        print("The graph has no answer.")
    elif len(rows) == 1 and not rows[0]["name"]:
        print(rows[0]["value"])
    else:
        columns = list(dict.fromkeys(key for row in rows for key in row))
        print_table("", columns, [[row.get(column, "") for column in columns] for row in rows])
        if answer.total > len(rows):
            print(f"{counted(answer.total, 'row')}, of which {len(rows)} are shown")
    if others:
        print("Or:")
        for each in others[:3]:
            print(f"  {each.text}")
