"""Questions to a graph behind the HTTP API: one thread that suggests and answers, for one user.

Who asks is said when the service starts, not by a request: everybody whom the service answers sees what this user
sees, and nobody can ask as somebody else. What was read of earlier words is kept for the last few pages that typed.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from weft.errors import WeftError
from weft.pictures.networks import Node, draw_network
from weft.serve.batches import Answer, BatchQueue, Full, Job
from weft.serve.service import TooBusy, TooLong, answer_job
from weft.tasks.questions.asking import Questions, Typing
from weft.tasks.questions.evidence import evidence
from weft.tasks.questions.reply import Reply, reply, written

#: Characters of a question, rows of an answer, suggestions, nodes that are drawn, pages that are remembered.
LONGEST, ROWS, SUGGESTED, DRAWN, PAGES = 1_000, 100, 8, 10, 32


class GraphDesk:
    """A graph that can be asked, and the thread that does it.

    >>> from weft.tasks.questions.place import load_questions
    >>> desk = GraphDesk(load_questions("examples/graph/town.tsv", "examples/graph/town.toml"))
    >>> desk.submit(desk.suggest, "firms based in sta", 30.0).result()["suggestions"][0]
    'companies that are based in Stavanger'
    >>> desk.close()
    """

    def __init__(self, questions: Questions, me: int | None = None, queue: int = 512) -> None:
        self.questions, self.me = questions, me
        self._pages: OrderedDict[str, Typing] = OrderedDict()
        # One thread, so that nothing of the questions is used by two at a time.
        self._queue = BatchQueue(_work, 1, queue)

    def submit(self, what: Callable[[str], dict[str, Any]], text: str, seconds: float) -> Answer:
        """What a method makes of a text, in the thread, when its turn comes."""
        if len(text) > LONGEST:
            raise TooLong(f"the question has {len(text):,} characters; at most {LONGEST:,} are allowed")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise WeftError(f"character {error.start + 1} of the question is an unpaired surrogate") from None
        job = Job(object(), text, what, time.monotonic() + seconds)
        try:
            self._queue.put(job)
        except Full:
            raise TooBusy("too many questions are already waiting; try again in a moment") from None
        return job.future

    def about(self) -> dict[str, Any]:
        """What the graph holds, as everybody sees it."""
        store = self.questions.store
        kinds = [kind.plural for name, kind in store.schema.types.items() if len(store.members.get(name, ()))]
        return {
            "nodes": store.public.n_nodes, "edges": store.public.n_edges, "types": kinds,
            "relations": list(store.schema.relations), "me": self._name(),
        }  # fmt: skip

    def suggest(self, text: str, session: str = "") -> dict[str, Any]:
        """Whole sentences that begin so."""
        started = time.perf_counter()
        typing = self._page(session) if session else None
        found = self.questions.suggest(text, self.me, SUGGESTED, complete=True, typing=typing)
        return {"suggestions": [each.text for each in found], "seconds": round(time.perf_counter() - started, 4)}

    def ask(self, text: str) -> dict[str, Any]:
        """The answer to a question, with its query and picture."""
        started = time.perf_counter()
        found = reply(self.questions, text, self.me, ROWS)
        best, columns = found.understood, found.columns
        picture, drawn = self._picture(found)
        return {
            "understood": None if best is None else best.text,
            "ignored": [] if best is None else list(best.ignored),
            "total": found.total,
            "columns": columns,
            "rows": [[row.get(column, "") for column in columns] for row in found.rows],
            "others": [each.text for each in found.others],
            "queries": None if best is None else written(self.questions, best.term, self.me),
            "picture": picture,
            "drawn": drawn,
            "seconds": round(time.perf_counter() - started, 4),
        }

    def warm(self) -> None:
        """Ask once, so that the first page finds compiled kernels and rows."""
        for begin in ("", "a"):
            self.suggest(begin)

    def close(self) -> None:
        """Stop the thread."""
        self._queue.close()

    def _name(self) -> str | None:
        return None if self.me is None else self.questions.store.graph.names[self.me]

    def _page(self, session: str) -> Typing:
        typing = self._pages.pop(session, None) or Typing()
        self._pages[session] = typing
        if len(self._pages) > PAGES:
            self._pages.popitem(last=False)
        return typing

    def _picture(self, found: Reply) -> tuple[str | None, int]:
        """The first nodes of an answer and the edges that put them there; nothing if there are none."""
        shown = found.nodes[:DRAWN]
        if found.understood is None or not shown:
            return None, 0
        graph = evidence(found.understood.term, shown, self.questions.view(self.me))
        names, schema = self.questions.store.graph.names, self.questions.store.schema
        number = {node: place for place, node in enumerate(graph.depth)}
        nodes = [Node(names[node], schema.type_of_node(node), depth) for node, depth in graph.depth.items()]
        edges = [(relation, number[source], number[target]) for relation, source, target in graph.edges]
        return draw_network(nodes, edges, found.understood.text, styled=False), len(shown)


def _work(jobs: list[Job]) -> None:
    for job in jobs:
        answer_job(job, job.text)
