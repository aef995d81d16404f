"""The reply to one question, for the terminal, the page and programs: what was understood, and a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from weft.tasks.questions.asking import Questions, Suggestion
from weft.tasks.questions.queries import LANGUAGES, query
from weft.tasks.questions.terms import Term


@dataclass(frozen=True)
class Reply:
    """What was understood, if anything, the rows of the answer with their nodes, and what else could be meant."""

    understood: Suggestion | None
    others: list[Suggestion]
    rows: list[dict[str, str]] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    total: int = 0

    @property
    def columns(self) -> list[str]:
        """The columns of the rows; not every row has all."""
        return list(dict.fromkeys(key for row in self.rows for key in row))


def reply(questions: Questions, text: str, me: int | None = None, limit: int = 100) -> Reply:
    """Understand a question and answer it with at most `limit` rows.

    >>> from weft.tasks.questions.place import load_questions
    >>> town = load_questions("examples/graph/town.tsv", "examples/graph/town.toml")
    >>> found = reply(town, "companies based in stavanger")
    >>> found.understood.text
    'companies that are based in Stavanger'
    >>> found.rows
    [{'name': 'Fjord Lines', 'is a': 'shipping company', 'based in': 'Stavanger'}]
    """
    best, others = questions.understand(text, me)
    if best is None:
        return Reply(None, others)
    found = questions.answer(best.term, me, limit)
    names = questions.store.graph.names
    if found.values:
        named = any(node is not None for node, _ in found.values)
        rows = [
            {**({"name": names[node] if node is not None else ""} if named else {}), "value": value}
            for node, value in found.values
        ]
    else:
        rows = [{"name": names[node], **questions.facts(node, me)} for node in found.nodes]
    return Reply(best, others, rows, found.nodes, found.total)


def written(questions: Questions, term: Term, me: int | None = None, only: Sequence[str] = LANGUAGES) -> dict[str, str]:
    """A meaning as a query in every language."""
    names = questions.store.graph.names
    user = None if me is None else names[me]
    return {each: query(term, each, questions.store.schema, lambda node: names[node], user) for each in only}
