"""The API of the workbench: who gets in, what is stored, what is refused."""

from __future__ import annotations

import time
import urllib.request
from itertools import count
from typing import Any

import pytest
from workbench_help import Client, Make, at_work, document

from weft.workbench.store import ADJUDICATOR

_numbers = count()
NOTHING: dict[str, Any] = {"spans": []}
ADA = {"spans": [{"pieces": [[0, 2]], "label": "PER"}]}


def answer(item: Any, value: Any = NOTHING, **more: Any) -> dict[str, Any]:
    return {"id": f"answer-{next(_numbers):06}", "item": item["id"], "value": value, "seconds": 2.5, **more}


def test_an_answer_brings_the_next_item(make: Make) -> None:
    project = make()
    with at_work(project) as url:
        client = Client(url, name="ada")
        first = client.ask("/api/next")
        assert (first["done"], first["wanted"], len(first["items"])) == (0, 3, 2)
        assert first["items"][0]["words"][:2] == [["Marta", " "], ["Lindqvist", " "]]
        told = client.ask("/api/answer", answer(first["items"][0], ADA, note="sure"))
        assert (told["done"], told["items"][0]["id"]) == (1, first["items"][1]["id"])
    (row,) = project.store.history()
    assert (row.person, row.value, row.seconds, row.note) == ("ada", ADA, 2.5, "sure")


def test_an_answer_sent_again_is_stored_once(make: Make) -> None:
    project = make()
    with at_work(project) as url:
        client = Client(url, name="ada")
        sent = answer(client.ask("/api/next")["items"][0])
        assert client.ask("/api/answer", sent)["seq"] == client.ask("/api/answer", sent)["seq"]
    assert len(project.store.history()) == 1


def test_undo_shows_the_item_with_its_answer(make: Make) -> None:
    with at_work(make()) as url:
        client = Client(url, name="ada")
        item = client.ask("/api/next")["items"][0]
        client.ask("/api/answer", answer(item, ADA))
        told = client.ask("/api/undo", {"id": "undo-0001"})
        assert (told["item"]["id"], told["value"]) == (item["id"], ADA)
        assert client.ask("/api/next")["items"][0]["id"] == item["id"]
        assert client.ask("/api/undo", {"id": "undo-0002"})["item"] is None


@pytest.mark.parametrize("path", ["/api/next", "/api/board", "/api/disputes"])
def test_without_a_session_nothing_is_told(make: Make, path: str) -> None:
    with at_work(make(), tokens=True) as url:
        assert Client(url).status(path) == 401
        assert Client(url).status("/api/answer", {}) == 401
        assert Client(url).ask("/api/door") == {"person": None, "tokens": True, "people": []}


def test_a_wrong_token_gets_401_and_a_right_one_a_cookie_that_scripts_cannot_read(make: Make) -> None:
    project = make()
    token = project.store.add_person("ada")
    with at_work(project, tokens=True) as url:
        for wrong in ({"token": token[:-1]}, {"token": ""}, {"token": None}, {"name": "ada"}, {}):
            assert Client(url).status("/api/enter", wrong) == 401
        client = Client(url, token=token)
        for part in ("HttpOnly", "SameSite=strict"):
            assert part in client.sent[0]
        assert "Secure" not in client.sent[0]
        assert token not in client.sent[0]
        assert client.ask("/api/door")["person"] == "ada"
        stranger = Client(url)
        stranger.cookie = client.cookie[:-1]
        assert stranger.status("/api/next") == 401
        project.store.remove_person("ada")
        assert client.status("/api/next") == 401
        assert client.status("/api/enter", {"token": token}) == 401


def test_leaving_ends_the_session(make: Make) -> None:
    with at_work(make()) as url:
        client = Client(url, name="ada")
        old = client.cookie
        client.ask("/api/leave", {})
        client.cookie = old
        assert client.status("/api/next") == 401


def test_pages_of_other_sites_and_other_hosts_are_refused(make: Make) -> None:
    with at_work(make()) as url:
        client = Client(url, name="ada")
        assert client.status("/api/answer", {}, Origin="https://evil.example.com") == 403
        assert client.status("/api/next", Host="evil.example.com") == 421
        # A form of another site can send text without asking, but not JSON.
        assert client.status("/api/undo", b'{"id": "undo-0001"}', **{"Content-Type": "text/plain"}) == 415


def test_behind_a_proxy_with_tls_the_cookie_travels_encrypted_only(make: Make) -> None:
    with at_work(make()) as url:
        client = Client(url)
        client.ask("/api/enter", {"name": "ada"}, Origin=url.replace("http", "https"))
        assert "Secure" in client.sent[0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": "short"}, {"id": 7}, {"item": 99}, {"item": True}, {"item": 1 << 80}, {"item": "1"}, {"kind": "undo"},
        {"kind": []}, {"value": None}, {"value": {"spans": 3}},
        {"value": {"spans": [{"pieces": [[0, 9]], "label": "A"}]}},
        {"value": {"spans": [{"pieces": [[0, 1]], "label": "<script>"}]}}, {"note": 5}, {"note": "x" * 5001},
    ],
)  # fmt: skip
def test_what_is_no_answer_is_refused_and_not_stored(make: Make, wrong: dict[str, Any]) -> None:
    project = make()
    with at_work(project) as url:
        client = Client(url, name="ada")
        item = client.ask("/api/next")["items"][0]
        assert client.status("/api/answer", {**answer(item), **wrong}) == 422
        assert project.store.history() == []


@pytest.mark.parametrize("odd", [{"seconds": 1e999}, {"seconds": "x"}, {"seconds": -4}, {"note": "\ud800"},
    {"proposed": {"round": 1 << 90, "confidence": 0}}, {"proposed": {"round": 0, "confidence": 1e999}},
    {"proposed": {"round": 0, "confidence": float("nan")}}, {"proposed": []}])  # fmt: skip
def test_odd_particulars_do_not_cost_an_answer(make: Make, odd: dict[str, Any]) -> None:
    project = make()
    with at_work(project) as url:
        client = Client(url, name="ada")
        item = client.ask("/api/next")["items"][0]
        client.ask("/api/answer", {**answer(item), **odd})
        client.ask("/api/next")
    assert len(project.store.history()) == 1
    assert 0 <= project.store.history()[0].seconds <= 3600


def test_bodies_that_are_not_json_objects_are_refused(make: Make) -> None:
    with at_work(make()) as url:
        client = Client(url, name="ada")
        for body in (b"{", b"[]", b"\xff", b"[" * 100_000):
            assert client.status("/api/answer", body) == 400
        assert client.status("/api/answer", b" " * 2_000_000) == 413
        assert client.status("/nowhere") == 404


def test_people_who_differ_are_decided_between_by_an_adjudicator_alone(make: Make) -> None:
    project = make(per_item=2)
    project.store.add_person("cleo", ADJUDICATOR)
    with at_work(project) as url:
        ada, bea, cleo = (Client(url, name=name) for name in ("ada", "bea", "cleo"))
        item = ada.ask("/api/next")["items"][0]
        ada.ask("/api/answer", answer(item, ADA))
        bea.ask("/api/answer", answer(item, NOTHING))
        assert ada.status("/api/disputes") == 403
        assert ada.status("/api/answer", answer(item, ADA, kind="final")) == 403
        told = cleo.ask("/api/disputes")
        assert [each["person"] for each in told["items"][0]["answers"]] == ["ada", "bea"]
        board = cleo.ask("/api/board")
        assert (board["disputed"], board["agreement"]["f1"]) == (1, 0.0)
        cleo.ask("/api/answer", answer(item, ADA, kind="final"))
        assert cleo.ask("/api/disputes") == {"items": [], "left": 0}


def test_held_out_items_are_answered_without_the_model_that_they_score(make: Make) -> None:
    docs = [document([["Marta", "left", "."]], f"d{n}") for n in range(40)]
    for doc in docs:
        doc.spans.clear()
    project = make(docs=docs, model="en", held_out=0.5)
    with at_work(project) as url:
        items = Client(url, name="ada").ask("/api/next?n=10")["items"]
        assert {item["held"] for item in items} == {True, False}
        assert all((item["proposal"] is None) == item["held"] for item in items)


def test_the_plain_history_is_written_beside_the_database(make: Make) -> None:
    project = make()
    path = project.folder / "answers.jsonl"
    with at_work(project) as url:
        client = Client(url, name="ada")
        client.ask("/api/answer", answer(client.ask("/api/next")["items"][0], ADA))
        for _ in range(100):
            if path.exists() and path.read_text().endswith("\n"):
                break
            time.sleep(0.05)
        assert '"pieces": [[0, 2]]' in path.read_text()
        with path.open("a") as file:
            file.write('{"id": "a line that was being wri')
        client.ask("/api/undo", {"id": "undo-0001"})
    lines = path.read_text().splitlines()
    assert len(lines) == 2
    assert '"kind": "undo"' in lines[1]


def test_headers_forbid_scripts_and_frames_of_others(make: Make) -> None:
    with at_work(make()) as url, urllib.request.urlopen(url) as response:
        policy = response.headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert response.headers["cache-control"] == "no-store"
