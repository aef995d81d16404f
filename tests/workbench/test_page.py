"""The page of the workbench in a real browser, by keys alone, with the mouse, and with a thumb."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from workbench_help import Make, at_work, document, screenshots

from weft.workbench.project import Project
from weft.workbench.store import ADJUDICATOR, ANSWER, Answer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.skipif(bool(screenshots.missing()), reason=screenshots.missing() or "there is a browser")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with screenshots.chromium() as found:
        yield found


class Opened:
    """A page that has entered a project; nothing may be asked of other hosts, and no script may fail."""

    def __init__(self, browser: Browser, url: str, **options: Any) -> None:
        self.page: Page = browser.new_page(**options)
        self.faults: list[str] = []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", lambda told: self.faults.append(told.text) if "Content Security" in told.text else None)
        self.page.on("dialog", lambda dialog: self.faults.append(dialog.message))
        self.page.on(
            "request",
            lambda asked: None if asked.url.startswith(url.partition("/#")[0]) else self.faults.append(asked.url),
        )
        self.page.goto(url)

    def enter(self, name: str = "ada") -> Page:
        self.page.wait_for_selector("#door:not([hidden])")
        self.page.keyboard.type(name)
        self.page.keyboard.press("Enter")
        self.page.wait_for_selector("#work:not([hidden]), #done:not([hidden])")
        return self.page

    def close(self) -> None:
        self.page.close()
        assert not self.faults


@pytest.fixture
def opened(chromium: Browser) -> Iterator[Any]:
    pages: list[Opened] = []

    def new(url: str, **options: Any) -> Opened:
        pages.append(Opened(chromium, url, **options))
        return pages[-1]

    yield new
    for each in pages:
        each.close()


def keys(page: Page, *names: str) -> None:
    for name in names:
        page.keyboard.press(name)


def until(page: Page, condition: str) -> None:
    """Wait for a condition; the page's policy forbids Playwright's own way, which evaluates text as a script."""
    for _ in range(300):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"never came true: {condition}")


def sent(page: Page, key: str = "Enter") -> None:
    """Press a key that sends an answer, and wait until it is stored."""
    with page.expect_response("**/api/answer") as told:
        page.keyboard.press(key)
    assert told.value.ok
    until(page, "!state.busy")


def values(project: Project) -> list[Any]:
    return [each.value for each in project.store.standing()]


def span(label: str, *pieces: list[int]) -> dict[str, Any]:
    return {"pieces": list(pieces), "label": label}


def test_spans_are_marked_with_keys_alone(make: Make, opened: Any) -> None:
    """Overlapping ones and one with a gap; nothing is clicked from the door to the last item."""
    project = make()
    with at_work(project) as url:
        page = opened(url).enter()
        keys(page, "Shift+ArrowRight", "1")  # Marta Lindqvist
        keys(page, *["ArrowRight"] * 5, "2")  # Bergen
        keys(page, "ArrowLeft", "ArrowLeft", "+", "ArrowRight", "2")  # office ... Bergen
        assert page.locator("#marks li").all_inner_texts()[0].startswith("PER")
        sent(page)
        assert page.inner_text("#count").startswith("1 of 3 answers")
        sent(page)
        keys(page, "ArrowRight", "1", "1", "2")  # taken off again, then another label
        sent(page)
        assert page.inner_text("#done") == "All is labelled. Thank you."
    assert values(project) == [
        {"spans": [span("PER", [0, 2]), span("LOC", [4, 5], [6, 7]), span("LOC", [6, 7])]},
        {"spans": []},
        {"spans": [span("LOC", [1, 2])]},
    ]
    assert all(0 < each.seconds < 60 for each in project.store.standing())


def test_undo_takes_back_a_change_and_then_the_last_answer(make: Make, opened: Any) -> None:
    project = make()
    with at_work(project) as url:
        page = opened(url).enter()
        keys(page, "1", "u")
        assert page.locator("#marks li").count() == 0
        keys(page, "1")
        sent(page)
        with page.expect_response("**/api/undo"):
            page.keyboard.press("u")
        page.wait_for_selector("#marks li")
        assert "Marta" in page.inner_text("#text")
        assert values(project) == []
        until(page, "!state.busy")
        keys(page, "Delete", "c")
        page.keyboard.type("not a person")
        keys(page, "Escape")
        sent(page)
        keys(page, "s")
    assert [(each.value, each.note) for each in project.store.standing()] == [({"spans": []}, "not a person")]


def test_tags_are_set_word_by_word_and_all_are_needed(make: Make, opened: Any) -> None:
    project = make("tags", ["NOUN", "VERB", "OTHER"])
    with at_work(project) as url:
        page = opened(url).enter()
        keys(page, "s")
        until(page, "document.querySelector('#text').innerText.includes('Nobody')")
        keys(page, "1", "2", "2", "Enter")
        assert page.inner_text("#problem") == "2 words have no tag yet."
        keys(page, "3", "3")
        sent(page)
    assert values(project) == [{"tags": ["NOUN", "VERB", "VERB", "OTHER", "OTHER"]}]


def test_one_key_labels_a_text(make: Make, opened: Any) -> None:
    project = make("labels", ["spam", "ham"], docs=[document(name=f"d{n}") for n in range(3)])
    with at_work(project) as url:
        page = opened(url).enter()
        sent(page, "1")
        sent(page, "2")
        keys(page, "/")
        page.keyboard.type("ha")
        sent(page, "Enter")
    assert values(project) == [{"labels": ["spam"]}, {"labels": ["ham"]}, {"labels": ["ham"]}]


def test_several_labels_are_sent_together(make: Make, opened: Any) -> None:
    project = make("labels", ["sea", "land"], several=True)
    with at_work(project) as url:
        page = opened(url).enter()
        keys(page, "1", "2", "1")
        sent(page)
    assert values(project) == [{"labels": ["land"]}]


def test_relations_join_two_marked_spans(make: Make, opened: Any) -> None:
    project = make("relations", relations=["works-in", "born-in"])
    with at_work(project) as url:
        page = opened(url).enter()
        keys(page, "Shift+ArrowRight", "1", *["ArrowRight"] * 5, "2")
        keys(page, "ArrowUp", "r", "ArrowDown", "1")
        assert "works-in" in page.inner_text("#marks .relation")
        sent(page)
    (value,) = values(project)
    assert value["relations"] == [{"head": 0, "tail": 1, "label": "works-in"}]


def test_trees_are_drawn_with_keys(make: Make, opened: Any) -> None:
    project = make("trees", ["root", "nsubj", "det", "punct"], docs=[document([["The", "ferry", "left", "."]])])
    with at_work(project) as url:
        page = opened(url).enter()
        keys(page, "h", "ArrowRight", "h", "3")  # The <- ferry
        keys(page, "h", "ArrowRight", "h", "2")  # ferry <- left
        keys(page, "r", "ArrowRight")
        keys(page, "h", "ArrowLeft", "h", "4")
        assert page.locator("path.arc").count() == 3
        sent(page)
    assert values(project) == [{"heads": [1, 2, -1, 2], "labels": ["det", "nsubj", "root", "punct"]}]


def test_everything_works_with_a_thumb_on_a_phone(make: Make, opened: Any) -> None:
    project = make()
    with at_work(project) as url:
        opening = opened(url, viewport={"width": 390, "height": 844}, has_touch=True, color_scheme="dark")
        page = opening.enter()
        word = "#text [data-word='{}'] b"
        page.tap(word.format(0))
        page.tap(word.format(1))
        page.tap(".label >> nth=0")
        page.tap(word.format(6))
        page.tap(".label >> nth=1")
        page.tap(word.format(4))
        page.tap("#gap")
        page.tap(word.format(6))
        page.tap(".label >> nth=1")
        page.tap("#marks li >> nth=1 >> button")
        for name in ("#text", "#labels", "#send"):
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        buttons = page.locator(".label:visible, .bar-buttons button:visible")
        sizes = buttons.evaluate_all("es => es.map(e => e.offsetHeight)")
        assert min(sizes) >= 40
        with page.expect_response("**/api/answer"):
            page.tap("#send")
        until(page, "!state.busy")
        page.tap("#show-board")
        page.wait_for_selector(".figure")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert values(project) == [{"spans": [span("PER", [0, 2]), span("LOC", [4, 5], [6, 7])]}]


def test_the_mouse_marks_what_it_drags_over(make: Make, opened: Any) -> None:
    project = make()
    with at_work(project) as url:
        page = opened(url).enter()
        page.hover("#text [data-word='0'] b")
        page.mouse.down()
        page.hover("#text [data-word='1'] b")
        page.mouse.up()
        page.click(".label >> nth=0")
        page.click("#send")
        until(page, "document.querySelector('#count').innerText.startsWith('1 of')")
    assert values(project) == [{"spans": [span("PER", [0, 2])]}]


def test_suggestions_are_judged_with_y_and_n(make: Make, opened: Any) -> None:
    from weft.annotate.mentions import Proposal
    from weft.workbench.items import add_questions
    from weft.workbench.project import Settings, create

    with create(make().folder.with_name("asked"), Settings("questions", layer="entities", retrain=0)) as project:
        asked = [[[Proposal(0, 2, "PER", 1, 1)], [], [Proposal(1, 2, "LOC", 1, 1), Proposal(3, 4, "LOC", 1, 1)]]]
        add_questions(project, [document()], asked, None)
        with at_work(project) as url:
            page = opened(url).enter()
            assert page.inner_text("#ask") == "Is Marta Lindqvist PER?"
            sent(page, "y")
            sent(page, "n")
            page.click(".label >> nth=0")
            page.wait_for_selector("#done:not([hidden])")
        assert values(project) == [{"accept": True}, {"accept": False}, {"accept": True}]


def test_an_adjudicator_sees_answers_side_by_side_and_decides(make: Make, opened: Any) -> None:
    project = make(per_item=2)
    project.store.add_person("cleo", ADJUDICATOR)
    for person, label in (("ada", "PER"), ("bea", "LOC")):
        project.store.add_person(person)
        project.store.add(Answer(f"first-{person}", 1, person, ANSWER, {"spans": [span(label, [0, 2])]}))
    with at_work(project) as url:
        page = opened(url).enter("cleo")
        page.click("#show-disputes")
        page.wait_for_selector("#said .one")
        assert [text.split("\n")[0] for text in page.locator("#said .one").all_inner_texts()] == ["1 ada", "2 bea"]
        keys(page, "2")
        sent(page)
        page.wait_for_selector("#done:not([hidden])")
        page.click("#show-board")
        page.wait_for_selector(".figure")
        assert "ada, bea" in page.inner_text("#board")
    final = [each for each in project.store.standing() if each.kind == "final"]
    assert [each.value for each in final] == [{"spans": [span("LOC", [0, 2])]}]


def test_no_script_of_texts_labels_notes_or_names_runs(make: Make, opened: Any) -> None:
    evil = "<img src=x onerror=alert(1)>"
    script = '"><script>alert(2)</script>'
    doc = document([[evil, script, "javascript:alert(3)", "."]], name=script)
    project = make(labels=[evil, script], docs=[doc], per_item=2)
    (project.folder / "guidelines.md").write_text(f"{evil}{script}")
    for name in ("ada", evil):
        project.store.add_person(name, ADJUDICATOR)
    project.store.add(Answer("first-evil", 1, evil, ANSWER, {"spans": [span(evil, [0, 2])]}, note=script))
    with at_work(project) as url:
        page = opened(url).enter()
        keys(page, "Shift+ArrowRight", "2")
        sent(page)
        page.click("#show-disputes")
        page.wait_for_selector("#said .one")
        assert script in page.inner_text("#said")
        page.click("#show-board")
        page.wait_for_selector(".figure")
        assert evil in page.inner_text("#board")
        assert page.locator("main img, main script").count() == 0


def test_an_answer_that_the_service_did_not_take_is_sent_again_with_its_id(make: Make, opened: Any) -> None:
    """The network fails, then the reply is lost: one answer is stored."""
    project = make()
    with at_work(project) as url:
        page = opened(url).enter()
        tries: list[str] = []

        def fail(route: Any) -> None:
            tries.append(route.request.post_data_json["id"])
            if len(tries) == 1:
                route.abort()
            elif len(tries) == 2:
                route.fetch()  # it is stored, but the page does not hear of it
                route.abort()
            else:
                route.continue_()

        page.route("**/api/answer", fail)
        keys(page, "1", "Enter")
        until(page, "document.querySelector('#count').innerText.startsWith('1 of')")
        assert page.is_hidden("#problem")
        assert len(tries) == 3
        assert len(set(tries)) == 1
    assert len(project.store.history()) == 1


def test_a_wrong_token_is_refused_in_plain_words_and_a_link_enters(make: Make, opened: Any) -> None:
    project = make()
    token = project.store.add_person("ada")
    with at_work(project, tokens=True) as url:
        page = opened(url).page
        page.wait_for_selector("#door:not([hidden])")
        page.keyboard.type("wrong")
        page.keyboard.press("Enter")
        page.wait_for_selector("#problem:not([hidden])")
        assert "token is not known" in page.inner_text("#problem")
        assert page.evaluate("document.cookie") == ""
        page = opened(f"{url}/#token={token}").page
        page.wait_for_selector("#work:not([hidden])")
        assert "token" not in page.url
        assert page.evaluate("document.cookie") == ""


def test_every_control_has_a_name(make: Make, opened: Any) -> None:
    project = make("relations", relations=["x"])
    with at_work(project) as url:
        page = opened(url).enter()
        keys(page, "1", "?")
        unnamed = page.evaluate(
            """() => [...document.querySelectorAll("button, select, textarea, input, a, [role=group]")].filter(e =>
                !e.textContent.trim() && !e.getAttribute("aria-label") && !e.labels?.length).length"""
        )
        assert unnamed == 0
        assert page.is_visible("#help")
