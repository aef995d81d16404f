"""Questions over HTTP: suggestions and answers, plain refusals, and nobody who asks as somebody else."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from weft.graph.triples import read_graph
from weft.serve import Limits, Service, running
from weft.serve.graphs import PAGES, GraphDesk
from weft.tasks.questions.asking import Questions
from weft.tasks.questions.place import load_questions
from weft.tasks.questions.schema import read_schema
from weft.tasks.questions.view import Store

TOWN, SCHEMA = "examples/graph/town.tsv", "examples/graph/town.toml"


def client_of(questions: Questions, me: str | None = None) -> Iterator[httpx.Client]:
    service = Service({}, Limits(), GraphDesk(questions, questions.user(me)))
    with running(service) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    yield from client_of(load_questions(TOWN, SCHEMA))


def test_a_question_with_typos_is_answered_with_its_table_queries_and_picture(client: httpx.Client) -> None:
    found = client.post("/ask", json={"text": "people who studed in bergen and work for a shipping company"}).json()
    assert found["understood"] == "people who studied in Bergen and who work for shipping companies"
    assert [row[0] for row in found["rows"]] == ["Mara Lind", "Tor Vik"]
    assert found["columns"][0] == "name"
    assert found["total"] == found["drawn"] == 2
    assert set(found["queries"]) == {"sql", "sparql", "cypher"}
    for name in ("Mara Lind", "Fjord Lines", "shipping company", "studied in"):
        assert f">{name}<" in found["picture"]
    assert "Ole Berg" not in found["picture"]


def test_keywords_in_any_order_are_understood(client: httpx.Client) -> None:
    found = client.post("/ask", json={"text": "bergen people live"}).json()
    assert found["understood"] == "people who live in Bergen"


def test_a_number_has_no_picture(client: httpx.Client) -> None:
    found = client.post("/ask", json={"text": "how many people live in bergen"}).json()
    assert (found["columns"], found["rows"], found["picture"]) == (["value"], [["2"]], None)


def test_what_means_nothing_is_said_so_with_what_can_be_asked(client: httpx.Client) -> None:
    found = client.post("/ask", json={"text": "what is the weather tomorrow"}).json()
    assert found["understood"] is None
    assert found["queries"] is None
    assert found["rows"] == []
    assert len(found["others"]) >= 3


@pytest.mark.parametrize("session", ["", "page"])
def test_suggestions_are_whole_sentences_with_and_without_memory(client: httpx.Client, session: str) -> None:
    for end in range(1, len("people who li") + 1):
        body = {"text": "people who li"[:end], "session": session}
        found = client.post("/suggest", json=body).json()["suggestions"]
    assert "people who live in Bergen" in found


def test_what_the_graph_holds_is_told(client: httpx.Client) -> None:
    facts = client.get("/graph").json()
    assert (facts["nodes"], facts["edges"], facts["me"], facts["models"]) == (12, 21, None, [])
    assert "companies" in facts["types"]


@pytest.mark.parametrize(
    ("path", "body", "status", "said"),
    [
        ("/ask", {"text": "x" * 1001}, 413, "at most 1,000"),
        ("/ask", {"text": "a", "me": "Mara Lind"}, 422, "there is no field 'me'"),
        ("/suggest", {"text": "a", "me": "Mara Lind"}, 422, "there is no field 'me'"),
        ("/ask", {}, 422, "the field 'text' is missing"),
        ("/suggest", {"text": "a", "session": "s" * 65}, 422, "session"),
        ("/annotate", {"text": "a"}, 404, "no model to annotate with"),
    ],
)
def test_bad_requests_are_refused_in_plain_words(
    client: httpx.Client, path: str, body: dict[str, str], status: int, said: str
) -> None:
    answer = client.post(path, json=body)
    assert answer.status_code == status
    assert said in answer.json()["error"]


def test_half_a_character_is_refused(client: httpx.Client) -> None:
    answer = client.post("/ask", content='{"text": "\\ud800"}', headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert "surrogate" in answer.json()["error"]


def test_nothing_typed_and_odd_text_are_no_errors(client: httpx.Client) -> None:
    for text in ("", "   ", "???", "\x00", "🦑", "木木木", "<script>", "'; DROP TABLE nodes; --", "a " * 500):
        assert client.post("/ask", json={"text": text}).status_code == 200
        assert client.post("/suggest", json={"text": text}).status_code == 200


def test_only_the_last_pages_that_typed_are_remembered() -> None:
    desk = GraphDesk(load_questions(TOWN, SCHEMA))
    for number in range(PAGES + 5):
        desk.suggest("peo", f"page {number}")
    assert len(desk._pages) == PAGES
    desk.close()


def test_hidden_edges_are_seen_by_their_people_alone() -> None:
    graph = read_graph(TOWN)
    secret = [("friend of", graph.names.find("Ina Dahl"), graph.names.find("Tor Vik"))]
    asked = {"text": "people who are friends with Tor Vik"}
    seen = {}
    for me in (None, "Mara Lind", "Tor Vik"):
        store = Store(graph, read_schema(SCHEMA), secret)
        for client in client_of(Questions(store), me):
            found = client.post("/ask", json=asked).json()
            seen[me] = [row[0] for row in found["rows"]]
            assert found["understood"] == asked["text"] if me is None else found["understood"]
            assert ("Ina Dahl" in str(found["rows"])) == (me == "Tor Vik"), me
            suggested = client.post("/suggest", json={"text": "friends of Tor V"}).json()
            assert client.get("/graph").json()["edges"] == 20
            assert suggested["suggestions"]
    assert seen == {None: [], "Mara Lind": [], "Tor Vik": ["Ina Dahl"]}


def test_the_page_stands_at_the_root_without_models(client: httpx.Client) -> None:
    page = client.get("/").text
    assert 'id="question"' in page
    assert client.get("/ask").text == page
    assert "default-src 'self'" in client.get("/").headers["content-security-policy"]
