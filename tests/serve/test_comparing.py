"""Texts compared over HTTP and on the page: links of two texts, of the sentences of one, and plain refusals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from browser import screenshots

from weft.pipeline.pipeline import Pipeline
from weft.serve import Service, running
from weft.serve.comparing import LONGEST

if TYPE_CHECKING:
    from playwright.sync_api import Page

ONE, OTHER = "Nobody had lived in the old tower.", "Nobody had lived in the lighthouse."
TEXT = "The boat came to the island. The boat left the island. The boat was old. Nobody sleeps."


@pytest.fixture
def client(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, timeout=60) as client:
        yield client


def compared(client: httpx.Client, status: int = 200, **fields: Any) -> Any:
    response = client.post("/compare", json=fields)
    assert response.status_code == status, response.text
    return response.json()


def test_equal_words_of_two_texts_are_linked_and_the_others_told(client: httpx.Client) -> None:
    found = compared(client, text=ONE, other=OTHER)
    assert found["differs"] == [["old", "tower"], ["lighthouse"]]
    assert [0, 0] in [link[:2] for link in found["links"]]
    assert 0.5 < found["similarity"] < 1
    assert found["picture"].count('class="line"') == len(found["links"])
    assert found["coherence"] is None
    assert compared(client, text=ONE, other=ONE)["similarity"] == 1


def test_the_sentences_of_one_text_are_linked(client: httpx.Client) -> None:
    found = compared(client, text=TEXT)
    assert found["sentences"] == 4
    assert found["coherence"] > 0
    assert 3 in found["weakest"]
    assert ">4  Nobody sleeps.<" in found["picture"]
    assert "style" not in found["picture"]  # the page's policy forbids inline styles
    assert found["similarity"] is found["links"] is None
    for text in ("", "One sentence."):
        alone = compared(client, text=text)
        assert alone["picture"] is None
        assert alone["coherence"] == 0


def test_what_cannot_be_compared_is_refused_in_words(client: httpx.Client, nlp: Pipeline) -> None:
    long = "word " * (LONGEST // 5 + 1)
    for fields in ({"text": long, "other": "word"}, {"text": "word", "other": long}):
        assert f"at most {LONGEST:,} are allowed" in compared(client, 413, **fields)["error"]
    assert "did you mean other?" in compared(client, 422, text="a", others="b")["error"]
    assert "'text' is missing" in compared(client, 422, other="b")["error"]
    assert "there is no model 'none'" in compared(client, 404, text="a", model="none")["error"]
    words_alone = Service({"words": Pipeline(list(nlp.components[:1]))})
    with running(words_alone) as url, httpx.Client(base_url=url, timeout=60) as bare:
        assert compared(bare, text=ONE, other=OTHER)["similarity"] > 0
        assert "tag" in compared(bare, 422, text=TEXT)["error"]


@pytest.fixture(scope="module")
def page(address: str) -> Iterator[Page]:
    """The page; no script may fail, and nothing may be asked of other hosts."""
    if screenshots.missing():
        pytest.skip(screenshots.missing())
    faults: list[str] = []
    with screenshots.chromium() as chromium:
        tab = chromium.new_page()
        tab.on("pageerror", lambda error: faults.append(str(error)))
        tab.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        tab.on("request", lambda request: None if request.url.startswith(address) else faults.append(request.url))
        tab.goto(address)
        tab.get_by_role("link", name="Compare").click()
        tab.wait_for_selector("#model option", state="attached")
        yield tab
        tab.close()
    assert not faults


def test_two_texts_are_compared_by_keys_alone(page: Page) -> None:
    page.focus("#text")
    page.keyboard.type(ONE)
    page.keyboard.press("Tab")
    page.keyboard.type(OTHER)
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("#picture svg.pair")
    assert page.inner_text("#summary").startswith("Similarity 0.")
    assert page.inner_text("#differs") == "Only in the first text: old tower. Only in the other: lighthouse."


def test_text_is_never_code_and_one_text_is_drawn_by_its_sentences(page: Page) -> None:
    page.fill("#text", "<img src=x onerror=alert(1)> The boat came. The boat left.")
    page.fill("#other", "")
    page.click("#go")
    page.wait_for_selector("#picture svg.sentences")
    assert page.inner_text("#summary").startswith("Coherence ")
    assert page.locator("#results img").count() == 0
    page.fill("#text", "")
    page.click("#go")
    assert "nothing to compare" in page.inner_text("#problem")
