"""`weft ask KG/ "QUESTION"`: answers of a knowledge graph to questions in plain words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.cli.common import DATA, JsonFlag, counted, option, print_json, print_table

if TYPE_CHECKING:
    from weft.tasks.questions.asking import Suggestion
    from weft.tasks.questions.reply import Reply

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
    from weft.tasks.questions.queries import LANGUAGES
    from weft.tasks.questions.reply import reply, written

    if language is not None and language not in LANGUAGES:
        raise ConfigError(f"there is no language {language!r}; queries are written as {', '.join(LANGUAGES)}")
    questions = load_questions(graph, schema, attributes, hidden)
    user = questions.user(me)
    if suggest:
        _print_suggestions(questions.suggest(question, user, 8, complete=True), as_json)
        return
    found = reply(questions, question, user, limit)
    if found.understood is None:
        if as_json:
            print_json({"understood": None, "suggestions": [each.text for each in found.others]})
            return
        print("This question means nothing in the graph.")
        if found.others:
            print("It can be asked:")
            for each in found.others:
                print(f"  {each.text}")
    elif language is not None:
        text = written(questions, found.understood.term, user, [language])[language]
        if as_json:
            print_json({"understood": found.understood.text, "query": text, "language": language})
        else:
            print(text)
    else:
        _print_answer(found, found.understood, as_json)


def _print_suggestions(found: list[Suggestion], as_json: bool) -> None:
    if as_json:
        print_json([{"text": each.text, "cost": round(each.cost, 3)} for each in found])
        return
    for each in found:
        print(each.text)
    if not found:
        print("Nothing in the graph begins like this.")


def _print_answer(found: Reply, best: Suggestion, as_json: bool) -> None:
    if as_json:
        print_json({
            "understood": best.text, "ignored": list(best.ignored), "total": found.total, "answer": found.rows,
            "others": [each.text for each in found.others],
        })  # fmt: skip
        return
    print(f"Understood: {best.text}")
    if best.ignored:
        print(f"Left out: {', '.join(best.ignored)}")
    columns = found.columns
    if not found.rows:
        print("The graph has no answer.")
    elif columns == ["value"]:
        print(found.rows[0]["value"])
    else:
        print_table("", columns, [[row.get(column, "") for column in columns] for row in found.rows])
        if found.total > len(found.rows):
            print(f"{counted(found.total, 'row')}, of which {len(found.rows)} are shown")
    if found.others:
        print("Or:")
        for each in found.others[:3]:
            print(f"  {each.text}")
