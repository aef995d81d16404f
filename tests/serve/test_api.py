"""The API: annotated text in every format, limits, and plain words for what cannot be answered."""

from __future__ import annotations

import io
import json
import re
import socket
import zipfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any
from xml.etree import ElementTree

import httpx
import pyarrow.parquet
import pytest
from json_schema import faults

import weft
from weft.pipeline.component import Asked, Component, State
from weft.pipeline.pipeline import Pipeline
from weft.serve import Limits, Service, running
from weft.serve.answers import formats_of
from weft.storage import Arrays
from weft.text import Doc
from weft.text.records import record_schema

TEXT = "Marta Lindqvist opened the office in Bergen. Nobody had lived there for many years."


@pytest.fixture
def client(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, timeout=60) as client:
        yield client


def annotate(client: httpx.Client, **fields: Any) -> httpx.Response:
    return client.post("/annotate", json={"text": TEXT, **fields})


def told(response: httpx.Response, status: int) -> str:
    """The one sentence of an error, which never shows the inside of the service."""
    assert response.status_code == status, response.text
    assert set(response.json()) == {"error"}
    assert "Traceback" not in response.text
    assert "input_value" not in response.text
    return str(response.json()["error"])


def test_words_have_all_columns_and_their_place_in_the_text(client: httpx.Client) -> None:
    answer = annotate(client).json()
    assert answer["model"] == "small"
    assert [sentence["text"] for sentence in answer["sentences"]] == TEXT.replace(". ", ".\n").split("\n")
    for sentence in answer["sentences"]:
        first, end = sentence["first_word"], sentence["end_word"]
        for word in answer["words"][first:end]:
            assert TEXT[word["start"] : word["end"]] == word["form"]
            assert word["head"] == -1 or first <= word["head"] < end
            assert {"lemma", "upos", "xpos", "deprel"} <= set(word)
            assert "confidence" not in word


def test_an_answer_is_the_record_that_a_file_holds(client: httpx.Client) -> None:
    answer = annotate(client, probabilities=True).json()
    record = json.loads(annotate(client, format="records", probabilities=True).text)
    assert {name: answer[name] for name in record} == record
    assert set(answer) - set(record) == {"model", "seconds"}
    assert faults(record, record_schema()) == []


def test_entities_have_labels_and_places(client: httpx.Client) -> None:
    found = annotate(client, probabilities=True).json()["spans"]["entities"]
    assert [(span["label"], span["text"]) for span in found] == [("PER", "Marta Lindqvist"), ("LOC", "Bergen")]
    for span in found:
        assert TEXT[span["start"] : span["end"]] == span["text"]
        assert 0 < span["probability"] <= 1


def test_probabilities_and_alternatives_are_given_where_asked_for(client: httpx.Client) -> None:
    answer = annotate(client, probabilities=True, alternatives=3).json()
    first = answer["sentences"][0]
    assert all(0 <= p <= 1 for word in answer["words"] for p in word["confidence"].values())
    assert {"upos", "lemma", "form"} <= set(answer["words"][0]["confidence"])
    assert set(first["alternatives"]) == {"ner", "tagger"}
    for readings in first["alternatives"].values():
        assert len(readings) == 3
        assert [len(reading["labels"]) for reading in readings] == [first["end_word"]] * 3
        assert readings == sorted(readings, key=lambda reading: -reading["probability"])
    assert "alternatives" not in annotate(client).json()["sentences"][0]


def test_pictures_are_well_formed_and_without_a_style_of_their_own(client: httpx.Client) -> None:
    for sentence in annotate(client, pictures=True).json()["sentences"]:
        tree = ElementTree.fromstring(sentence["pictures"]["tree"])
        assert not list(tree.iter("{http://www.w3.org/2000/svg}style"))
        ElementTree.fromstring(sentence["pictures"]["spans"]["entities"])


@pytest.mark.parametrize("format", ["conllu", "jsonl", "columns", "parquet", "plain", "html", "svg", "brat"])
def test_every_format_is_a_file_that_can_be_read_back(client: httpx.Client, tmp_path: Path, format: str) -> None:
    response = annotate(client, format=format, probabilities=True)
    assert response.status_code == 200
    name = re.fullmatch(r'attachment; filename="(weft\.\w+)"', response.headers["content-disposition"])
    assert name
    path = tmp_path / name[1]
    path.write_bytes(response.content)
    if format == "svg":
        assert len(ElementTree.parse(path).findall("{http://www.w3.org/2000/svg}svg")) == 4
    elif format == "html":
        assert response.text.count("<figure>") == 3  # two trees, and the one sentence with entities
    elif format == "brat":
        with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
            assert {Path(name).suffix for name in archive.namelist()} == {".txt", ".ann"}
    elif format == "plain":
        assert response.text.strip() == TEXT
    else:
        if format == "parquet":
            assert pyarrow.parquet.read_table(path).num_rows == 1
        (doc,) = weft.read(path, format)
        assert doc.column("form")[:2] == ["Marta", "Lindqvist"]
        if format == "conllu":
            assert doc.words[0].misc["NER"] == "B-PER"


def test_models_tell_what_they_find_and_what_the_limits_are(client: httpx.Client) -> None:
    facts = client.get("/models").json()
    (model,) = facts["models"]
    assert (facts["default"], model["name"], facts["max_chars"]) == ("small", "small", 20_000)
    assert {"head", "upos", "spans/entities"} <= set(model["provides"])
    assert model["probabilities"]
    assert model["alternatives"]
    assert model["card"]["licence"] == "MIT"
    assert "brat" in model["formats"]


def test_health_tells_that_the_service_is_there(client: httpx.Client) -> None:
    health = client.get("/health").json()
    assert health["status"] == "ok"
    assert health["version"] == weft.__version__


def test_the_api_describes_itself(client: httpx.Client) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    assert set(paths) == {"/annotate", "/compare", "/models", "/health"}
    assert {"200", "400", "413", "422", "429", "503"} <= set(paths["/annotate"]["post"]["responses"])


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_pages_load_nothing_from_other_hosts(client: httpx.Client, path: str) -> None:
    page = client.get(path)
    assert "default-src 'self'" in page.headers["content-security-policy"]
    linked = re.findall(r'(?:src|href)="([^"#]+)"', page.text)
    assert linked
    for link in linked:
        assert link.startswith("/")
        part = client.get(link)
        assert part.status_code == 200
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", part.text)


def test_an_empty_text_has_no_sentences(client: httpx.Client) -> None:
    for text in ("", "  \n "):
        answer = annotate(client, text=text, probabilities=True, alternatives=2, pictures=True)
        assert answer.status_code == 200
        assert answer.json()["sentences"] == []


@pytest.mark.parametrize("text", ["\x00\x01", "a\u202eb", "👩‍👩‍👧 و 木", "(" * 500, "é" * 3000, "\n".join("ab" * 400)])
def test_odd_texts_are_answered(client: httpx.Client, text: str) -> None:
    answer = annotate(client, text=text, probabilities=True, alternatives=2, pictures=True)
    assert answer.status_code == 200
    for word in answer.json()["words"]:
        assert 0 <= word["start"] < word["end"] <= len(text)


def test_texts_that_are_too_long_are_refused_with_413(client: httpx.Client) -> None:
    assert "at most 20,000 are allowed" in told(annotate(client, text="a" * 20_001), 413)
    assert "longer than 244,096 bytes" in told(annotate(client, text="a" * 1_000_000), 413)


def test_malformed_requests_are_told_what_is_wrong(client: httpx.Client) -> None:
    post = {"url": "/annotate", "headers": {"Content-Type": "application/json"}}
    assert "not JSON" in told(client.post(content=b'{"text": ', **post), 400)
    assert "JSON in UTF-8" in told(client.post(content=b'{"text": "\xff\xfe"}', **post), 400)
    told(client.post(content=b"[" * 100_000, **post), 400)
    assert "JSON object" in told(client.post(content=b"[1, 2]", **post), 422)
    assert "an unpaired surrogate" in told(client.post(content=b'{"text": "\\ud800"}', **post), 422)
    assert "'text' is missing" in told(client.post("/annotate", json={}), 422)
    assert "did you mean text?" in told(client.post("/annotate", json={"txt": "a"}), 422)
    assert "'text' is invalid" in told(annotate(client, text=7), 422)
    assert "'alternatives' is invalid" in told(annotate(client, alternatives=1000), 422)
    assert "'format' is invalid" in told(annotate(client, format="docx"), 422)
    assert "sent as application/json" in told(client.post("/annotate", content=b"text=hello"), 422)
    assert "there is no model 'smal'; did you mean small?" in told(annotate(client, model="smal"), 404)
    told(client.get("/nowhere"), 404)
    told(client.get("/page/../app.py"), 404)
    told(client.get("/annotate"), 405)
    assert annotate(client).status_code == 200


def test_bytes_that_are_no_http_are_refused_and_the_service_goes_on(client: httpx.Client, address: str) -> None:
    url = httpx.URL(address)
    with socket.create_connection((url.host, url.port or 80), timeout=10) as raw:
        raw.sendall(b"\x16\x03\x01 nonsense\r\n\r\n")
        assert b" 400 " in raw.recv(1000)
    assert client.get("/health").status_code == 200


def test_many_requests_at_once_are_all_answered_alike(client: httpx.Client) -> None:
    texts = [TEXT * (1 + i % 3) for i in range(60)]
    alone = {text: annotate(client, text=text).json()["sentences"] for text in set(texts)}
    with ThreadPoolExecutor(60) as pool:
        answers = list(pool.map(lambda text: annotate(client, text=text).json()["sentences"], texts))
    assert answers == [alone[text] for text in texts]


class Slow(Pipeline):
    """A pipeline that waits until it may go on."""

    def __init__(self) -> None:
        super().__init__([])
        self.go = Event()

    def annotate(self, docs: Sequence[Doc], *, probabilities: bool = False, kbest: int = 0) -> None:
        self.go.wait(20)
        if any("boom" in doc.text for doc in docs):
            raise ZeroDivisionError("secret")


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Slow, str]]:
    model = Slow()
    limits = Limits(max_chars=100, timeout=2.0, workers=1, queue=4)
    service = Service({"slow": Pipeline([])}, limits)
    monkeypatch.setattr(service, "pipeline", lambda *key: model)
    with running(service) as address:
        yield model, address
        model.go.set()


def test_what_takes_too_long_is_told_and_a_full_queue_refuses(slow: tuple[Slow, str]) -> None:
    model, address = slow
    with httpx.Client(base_url=address, timeout=30) as client, ThreadPoolExecutor(12) as pool:
        answers = [pool.submit(annotate, client, text=str(i)) for i in range(12)]
        results = [answer.result() for answer in answers]
        assert {result.status_code for result in results} == {429, 503}
        for result in results:
            assert result.headers["retry-after"] == "1"
            assert ("longer than 2 seconds" if result.status_code == 503 else "already waiting") in result.json()[
                "error"
            ]
        model.go.set()
        # What is too late is taken from the queue first.
        later = (annotate(client, text="now") for _ in range(200))
        assert next(answer for answer in later if answer.status_code != 429).status_code == 200


def test_defects_show_nothing_of_their_inside_and_spoil_no_other_answer(slow: tuple[Slow, str]) -> None:
    model, address = slow
    with httpx.Client(base_url=address, timeout=30) as client, ThreadPoolExecutor(3) as pool:
        answers = {text: pool.submit(annotate, client, text=text) for text in ("first", "boom", "last")}
        model.go.set()
        assert "secret" not in told(answers.pop("boom").result(), 500)
        assert [answer.result().status_code for answer in answers.values()] == [200, 200]


def test_a_body_that_never_ends_is_given_up(slow: tuple[Slow, str]) -> None:
    url = httpx.URL(slow[1])
    with socket.create_connection((url.host, url.port or 80), timeout=10) as raw:
        raw.sendall(b"POST /annotate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{")
        assert b" 408 " in raw.recv(1000)


def test_formats_are_those_that_hold_something() -> None:
    assert formats_of(["tokens"]) == ["conllu", "records", "jsonl", "parquet", "columns", "plain"]
    assert {"penn", "svg"} <= set(formats_of(["constituents"]))
    assert {"streusle", "brat"} <= set(formats_of(["spans/mwe"]))
    assert "bioscope" in formats_of(["relations/hedge"])


def test_what_one_request_asks_for_does_not_show_in_the_next(nlp: Pipeline) -> None:
    service = Service({"small": nlp})
    before = [dict(vars(component)) for component in nlp.components]
    sure = service.annotate("Ada lives in Oslo.", "small", probabilities=True, alternatives=2).result()
    assert sure.confidence
    assert {len(ranked) for rows in sure.meta["alternatives"].values() for ranked in rows} == {2}
    plain = service.annotate("Ada lives in Oslo.", "small").result()
    assert not plain.confidence
    assert not plain.meta
    for component, attributes in zip(nlp.components, before, strict=True):
        assert vars(component).keys() == attributes.keys()
        assert vars(component)["settings"] is attributes["settings"]
    assert service.pipeline("small") is nlp
    service.close()


def test_a_model_without_probabilities_answers_without_them() -> None:
    class Silent(Component):
        """Adds nothing and gives nothing."""

        task = "silent"

        def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
            assert asked == Asked()

        def state(self) -> State:
            return {}, {}

        @classmethod
        def from_state(cls, header: dict[str, Any], arrays: Arrays) -> Silent:
            return cls()

    service = Service({"silent": Pipeline([Silent()])})
    doc = service.annotate("Ada lives.", probabilities=True, alternatives=2).result()
    assert doc.n_words == 3
    assert not doc.confidence
    service.close()


def test_answers_are_json_that_anyone_can_read(client: httpx.Client) -> None:
    assert json.loads(annotate(client, text="naïve ☃").content.decode("utf-8"))["text"] == "naïve ☃"
