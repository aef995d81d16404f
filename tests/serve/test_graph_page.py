"""The page for questions in a real browser, by keys: suggestions, answer, picture, query; no text is ever code."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from browser import screenshots
from places import ROOT

from weft.graph.store import Builder
from weft.pipeline.pipeline import Pipeline
from weft.serve import Limits, Service, running
from weft.serve.graphs import GraphDesk
from weft.tasks.questions.asking import Questions
from weft.tasks.questions.place import load_questions
from weft.tasks.questions.schema import inferred
from weft.tasks.questions.view import Store

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.skipif(bool(screenshots.missing()), reason=screenshots.missing() or "there is a browser")
ASKED = "people who studed in bergen and work for a shipping company"
UNDERSTOOD = "people who studied in Bergen and who work for shipping companies"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with screenshots.chromium() as found:
        yield found


@pytest.fixture(scope="module")
def town() -> Iterator[str]:
    """Where a service with the example graph answers; Mara Lind asks."""
    questions = load_questions("examples/graph/town.tsv", "examples/graph/town.toml")
    with running(Service({}, Limits(), GraphDesk(questions, questions.user("Mara Lind")))) as url:
        yield url


@pytest.fixture(scope="module")
def tab(chromium: Browser) -> Iterator[Page]:
    tab = chromium.new_page()
    yield tab
    tab.close()


@pytest.fixture
def page(tab: Page, town: str) -> Iterator[Page]:
    yield from opened(tab, town)


def opened(page: Page, address: str) -> Iterator[Page]:
    """The page; nothing may be asked of other hosts, no script may fail, and the policy must not be broken."""
    faults: list[str] = []
    listeners: dict[Any, Any] = {
        "pageerror": lambda error: faults.append(str(error)),
        "console": lambda message: faults.append(message.text) if message.type == "error" else None,
        "request": lambda request: None if request.url.startswith((address, "blob:")) else faults.append(request.url),
    }
    for event, listener in listeners.items():
        page.on(event, listener)
    page.goto("about:blank")
    page.goto(address)
    until(page, "document.activeElement?.id === 'question'")
    yield page
    for event, listener in listeners.items():
        page.remove_listener(event, listener)
    assert not faults


def until(page: Page, condition: str) -> None:
    """Wait for a condition; the page's policy forbids the browser's own way to do so."""
    end = time.monotonic() + 20
    while not page.evaluate(condition):
        assert time.monotonic() < end, condition
        page.wait_for_timeout(20)


def typed(page: Page, text: str) -> None:
    """Type a text by keys and wait for what is suggested for all of it."""
    page.keyboard.type(text[:-1])
    with page.expect_response(lambda response: f'{text}"' in (response.request.post_data or "")):
        page.keyboard.type(text[-1])
    page.wait_for_selector("#suggestions li")


def test_a_question_is_asked_and_its_query_taken_with_keys_alone(page: Page) -> None:
    page.keyboard.type(ASKED)
    page.keyboard.press("Enter")
    page.wait_for_selector("#results:not([hidden])")
    assert page.inner_text("#understood") == UNDERSTOOD
    rows = {row.split("\t")[0] for row in page.locator("#table tbody tr").all_inner_texts()}
    assert rows == {"Mara Lind", "Tor Vik"}
    drawn = page.locator("#picture g.node text").all_text_contents()
    assert {"Mara Lind", "Tor Vik", "Bergen", "shipping company"} <= set(drawn)
    assert "Ole Berg" not in drawn
    page.keyboard.press("Tab")  # to the button
    page.keyboard.press("2")
    assert page.inner_text("#written").startswith("SELECT DISTINCT")
    page.keyboard.press("3")
    assert page.inner_text("#written").startswith("MATCH")
    page.keyboard.press("1")
    assert "FROM edges" in page.inner_text("#written")
    page.keyboard.press("c")
    until(page, "document.getElementById('copy').textContent === 'Copied'")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "question"


def test_suggestions_are_sentences_that_arrows_choose(page: Page) -> None:
    typed(page, "people who li")
    found = page.locator("#suggestions li").all_inner_texts()
    assert len(found) > 3
    assert all(each.startswith("people who live in") for each in found[:2])
    assert page.get_attribute("#question", "aria-expanded") == "true"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.get_attribute("#question", "aria-activedescendant") == "suggestion-1"
    assert page.locator("#suggestions li[aria-selected=true]").all_inner_texts() == [found[1]]
    page.keyboard.press("Enter")
    page.wait_for_selector("#results:not([hidden])")
    until(page, f"document.getElementById('understood').textContent === {found[1]!r}")
    assert page.is_hidden("#suggestions")
    assert page.input_value("#question") == found[1]


def test_a_suggestion_is_taken_over_to_go_on_typing(page: Page) -> None:
    typed(page, "people who li")
    page.keyboard.press("ArrowDown")
    chosen = page.inner_text("#suggestions li[aria-selected=true]")
    page.keyboard.press("ArrowRight")
    assert page.input_value("#question") == f"{chosen} "
    until(page, "[...document.querySelectorAll('#suggestions li')].some(e => e.textContent.split(' ').length > 7)")
    page.keyboard.press("Escape")
    assert page.is_hidden("#suggestions")


def test_what_was_typed_stands_out_from_what_was_filled_in(page: Page) -> None:
    typed(page, "bergn resid")
    assert page.inner_text("#suggestions li >> nth=0") == "Bergen's residents"
    typed(page, " who stud")
    sentence = page.locator("#suggestions li >> nth=0")
    assert sentence.inner_text().endswith("who studied in Bergen")
    assert "in" not in sentence.locator("b").all_inner_texts()
    assert "studied" in sentence.locator("b").all_inner_texts()


def test_the_one_who_asks_has_friends(page: Page) -> None:
    assert "asked as Mara Lind" in page.inner_text("#about")
    page.keyboard.type("my friends")
    page.keyboard.press("Enter")
    page.wait_for_selector("#table tbody tr")
    assert page.inner_text("#table tbody tr >> nth=0").split("\t")[0] == "Ina Dahl"


def test_a_number_is_shown_large_and_nonsense_is_told_plainly(page: Page) -> None:
    page.keyboard.type("how many people live in bergen")
    page.keyboard.press("Enter")
    page.wait_for_selector("#table .value")
    assert page.inner_text("#table .value") == "2"
    assert page.is_hidden("#graph")
    page.fill("#question", "")
    page.keyboard.type("what is the weather tomorrow")
    page.keyboard.press("Enter")
    until(page, "document.getElementById('understood').textContent.includes('means nothing')")
    assert page.is_hidden("#query")
    assert page.is_hidden("#answer")
    page.locator("#others button").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#table tbody tr")


def test_keys_are_listed_and_every_control_has_a_name(page: Page) -> None:
    page.keyboard.type("people")
    page.keyboard.press("Enter")
    page.wait_for_selector("#results:not([hidden])")
    page.keyboard.press("Tab")
    page.keyboard.press("?")
    assert page.is_visible("#help")
    page.keyboard.press("Escape")
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll("button, input, a, [role=tab], [role=listbox]")].filter(e =>
            !e.textContent.trim() && !e.getAttribute("aria-label") && !e.labels?.length).length"""
    )
    assert unnamed == 0
    assert page.locator("#picture svg > title").text_content() == "people"


def test_an_address_with_a_question_asks_it(tab: Page, town: str) -> None:
    tab.goto("about:blank")
    tab.goto(f"{town}/ask#companies%20based%20in%20bergen")
    tab.wait_for_selector("#results:not([hidden])")
    assert tab.inner_text("#understood") == "companies that are based in Bergen"


def test_the_picture_can_be_kept(page: Page, tmp_path: Any) -> None:
    page.keyboard.type("friends of ina dahl")
    page.keyboard.press("Enter")
    page.wait_for_selector("#picture svg")
    with page.expect_download() as kept:
        page.click("#keep")
    kept.value.save_as(tmp_path / "answer.svg")
    assert "Tor Vik" in (tmp_path / "answer.svg").read_text(encoding="utf-8")


def test_names_of_the_graph_are_never_code(chromium: Browser) -> None:
    evil = "<img src=x onerror=document.title='broken'>"
    builder = Builder()
    builder.add_all([(f"Ada {evil}", "likes", f"Bo {evil}"), (f"Cy {evil}", "likes", f"Bo {evil}")])
    graph = builder.graph()
    with running(Service({}, Limits(), GraphDesk(Questions(Store(graph, inferred(graph)))))) as address:
        for page in opened(chromium.new_page(), address):
            typed(page, "people who like bo")
            page.keyboard.press("ArrowDown")
            page.keyboard.press("Enter")
            page.wait_for_selector("#table tbody tr")
            assert "onerror" in page.inner_text("#table")
            assert page.locator("main img, main script").count() == 0
            assert page.title() == "Weft: questions"


def test_a_phone_shows_it_all_without_scrolling_sideways(chromium: Browser, town: str) -> None:
    phone = chromium.new_page(viewport={"width": 390, "height": 844}, color_scheme="dark", has_touch=True)
    phone.goto(f"{town}#{ASKED}")
    phone.wait_for_selector("#results:not([hidden])")
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    phone.close()


def test_the_pictures_of_the_documentation_can_be_taken(chromium: Browser, town: str, tmp_path: Any) -> None:
    shown = {path.name for path in (ROOT / "docs" / "images").glob("questions*.png")}
    assert {path.name for path in screenshots.take_questions(town, tmp_path, chromium)} == shown


def test_texts_and_questions_lead_to_each_other(chromium: Browser) -> None:
    desk = GraphDesk(load_questions("examples/graph/town.tsv", "examples/graph/town.toml"))
    with running(Service({"words": Pipeline([])}, Limits(), desk)) as address:
        page = chromium.new_page()
        page.goto(address)
        page.wait_for_selector("#results:not([hidden])")
        page.click("#questions")
        until(page, "document.activeElement?.id === 'question'")
        until(page, "!document.getElementById('texts').hidden")
        page.click("#texts")
        page.wait_for_selector("#results:not([hidden])")
        page.close()
