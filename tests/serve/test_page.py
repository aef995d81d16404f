"""The page in a real browser: what one types is seen as trees, spans and tables, with mouse, keys and thumbs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest
from browser import screenshots
from places import ROOT

import weft
from weft.pipeline.component import Asked, Component
from weft.pipeline.pipeline import Pipeline
from weft.serve import Limits, Service, running
from weft.tasks.opinions.analyser import OpinionAnalyser
from weft.text import Doc, SpanLayer
from weft.text.conventions.coreference import set_entities
from weft.text.conventions.events import EventRow, Filler, set_events

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.skipif(bool(screenshots.missing()), reason=screenshots.missing() or "there is a browser")
TEXT = "Marta Lindqvist opened the office in Bergen. Nobody had lived there for many years."


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with screenshots.chromium() as found:
        yield found


@pytest.fixture(scope="module")
def window(chromium: Browser) -> Iterator[Page]:
    """One window for all tests that need no other: a new one would be a process of its own."""
    window = chromium.new_page()
    yield window
    window.close()


@pytest.fixture
def page(window: Page, address: str) -> Iterator[Page]:
    """The page with a text annotated; nothing may be asked of other hosts, and no script may fail."""
    yield from _opened(window, address)
    window.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
    window.goto("about:blank")


@pytest.fixture
def phone(chromium: Browser, address: str) -> Iterator[Page]:
    page = chromium.new_page(viewport={"width": 390, "height": 844}, color_scheme="dark", has_touch=True)
    yield from _opened(page, address)
    page.close()


def _opened(page: Page, address: str) -> Iterator[Page]:
    faults: list[str] = []
    listeners: dict[Any, Any] = {
        "pageerror": lambda error: faults.append(str(error)),
        "console": lambda message: faults.append(message.text) if "Content Security" in message.text else None,
        "request": lambda request: None if request.url.startswith((address, "blob:")) else faults.append(request.url),
    }
    for event, listener in listeners.items():
        page.on(event, listener)
    page.goto(address)
    page.wait_for_selector("#results:not([hidden])")
    annotate(page, TEXT)
    yield page
    for event, listener in listeners.items():
        page.remove_listener(event, listener)
    assert not faults


def annotate(page: Page, text: str) -> None:
    page.fill("#text", text)
    with page.expect_response("**/annotate"):
        page.keyboard.press("Control+Enter")
    page.wait_for_selector("#go:not([disabled])")


def test_a_text_is_seen_as_trees_with_its_entities(page: Page) -> None:
    assert page.inner_text("#summary").startswith("2 sentences, 16 words")
    assert page.locator("#view-trees svg.tree").count() == 2
    assert page.locator("#view-trees mark small").all_inner_texts() == ["PER", "LOC"]
    assert page.locator("#view-trees svg.tree >> nth=0").locator("g.word").count() == 8


def test_spans_are_listed_below_the_text(page: Page) -> None:
    page.click("#tab-spans")
    assert page.locator("#view-spans mark").count() == 2
    rows = [row.split("\t")[:3] for row in page.locator(".found tbody tr").all_inner_texts()]
    assert rows == [["Marta Lindqvist", "PER", "1"], ["Bergen", "LOC", "1"]]


def test_the_table_has_a_row_a_word_and_a_column_for_all_that_was_found(page: Page) -> None:
    page.click("#tab-words")
    assert page.locator("#view-words tbody tr").count() == 16
    heads = page.locator("#view-words table >> nth=0").locator("th").all_inner_texts()
    assert heads == ["#", "Form", "Lemma", "UPOS", "XPOS", "Features", "Head", "Relation"]


def test_what_is_unsure_is_shaded_until_switched_off(page: Page) -> None:
    colours = "es => es.map(e => getComputedStyle(e.querySelector('.back')).fill).filter(c => c !== 'none').length"
    shaded = page.locator("#view-trees g.word").evaluate_all(colours)
    assert shaded > 0
    page.uncheck("#shading")
    assert page.locator("#view-trees g.word").evaluate_all(colours) == 0


def test_a_click_on_a_word_tells_all_about_it_and_its_alternatives(page: Page) -> None:
    page.click("#view-trees g.word >> nth=2")
    assert page.inner_text("#detail h2") == "opened"
    assert "Part of speech" in page.inner_text("#detail dl")
    page.wait_for_selector("#readings details")
    page.click("#readings details >> nth=-1")
    assert page.locator("#readings details[open] li").count() == 10
    assert "as shown" in page.inner_text("#readings details[open] li >> nth=0")
    page.click("#detail [aria-label=Close]")
    assert page.is_hidden("#detail")


def test_everything_can_be_done_with_keys(page: Page) -> None:
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("2")
    assert page.is_visible("#view-spans")
    page.keyboard.press("ArrowRight")
    assert page.is_visible("#view-words")
    page.keyboard.press("1")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.word") == "1"
    page.keyboard.press("Enter")
    assert page.inner_text("#detail h2") == "Lindqvist"
    page.keyboard.press("Escape")
    assert page.is_hidden("#detail")
    assert page.evaluate("document.activeElement.dataset.word") == "1"
    page.keyboard.press("s")
    assert not page.is_checked("#shading")
    page.keyboard.press("?")
    assert page.is_visible("#help")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "text"


def test_the_card_of_the_model_can_be_read(page: Page) -> None:
    page.click("#about summary")
    card = page.inner_text("#about dl")
    for told in ("segmenter, ner, tagger, lemmatizer, parser", "examples", "MIT", "gold words", "80.1", "poems"):
        assert told in card


def test_every_control_has_a_name_and_every_picture_a_title(page: Page) -> None:
    page.click("#view-trees g.word >> nth=0")
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll("button, select, textarea, input, a, [role=button]")].filter(e =>
            !e.textContent.trim() && !e.getAttribute("aria-label") && !e.labels?.length).length"""
    )
    assert unnamed == 0
    titles = page.locator("svg.tree > title").evaluate_all("es => es.map(e => e.textContent)")
    assert titles[0] == "Dependency tree of: Marta Lindqvist opened the office in Bergen."


@pytest.mark.parametrize("format", ["CoNLL-U", "JSON Lines", "Parquet", "Columns", "brat", "Pictures"])
def test_every_format_can_be_kept(page: Page, tmp_path: Path, format: str) -> None:
    page.click("#downloads summary")
    with page.expect_download() as kept:
        page.click(f"#formats button:has-text('{format}')")
    path = tmp_path / kept.value.suggested_filename
    kept.value.save_as(path)
    if path.suffix in (".conllu", ".jsonl", ".parquet", ".conll"):
        (doc,) = weft.read(path)
        assert doc.column("form")[0] == "Marta"
    else:
        assert path.stat().st_size > 100


def test_the_picture_of_a_sentence_can_be_kept_with_its_style(page: Page, tmp_path: Path) -> None:
    with page.expect_download() as kept:
        page.click("#view-trees .sentence >> nth=1 >> text=SVG")
    kept.value.save_as(tmp_path / "tree.svg")
    root = ElementTree.parse(tmp_path / "tree.svg").getroot()
    assert root.find("{http://www.w3.org/2000/svg}style") is not None
    assert "Nobody" in "".join(root.itertext())


def test_what_cannot_be_annotated_is_told_in_plain_words(page: Page) -> None:
    page.fill("#text", "   ")
    page.click("#go")
    assert "nothing to annotate" in page.inner_text("#problem")
    page.fill("#text", "long " * 5000)
    assert "over" in (page.get_attribute("#count", "class") or "")
    page.click("#go")
    page.wait_for_selector("#problem:not([hidden])")
    assert "at most 20,000 are allowed" in page.inner_text("#problem")
    annotate(page, "All is well.")
    assert page.is_hidden("#problem")


def test_a_text_in_another_language_is_told_and_shown_all_the_same(page: Page) -> None:
    annotate(page, "Der alte Leuchtturm stand auf einem schwarzen Felsen. Seit Jahren wohnte dort niemand mehr.")
    assert page.inner_text("#problem") == "The text looks like German; the model small is English."
    assert page.is_visible("#results")
    annotate(page, "All is well.")
    assert page.is_hidden("#problem")


def test_text_is_never_read_as_markup(page: Page) -> None:
    annotate(page, "<img src=x onerror=document.title='broken'> & <b>bold</b>")
    for tab in ("spans", "words", "trees"):
        page.click(f"#tab-{tab}")
        assert page.locator("#results img, #results b").count() == 0
    page.click("#view-trees g.word >> nth=0")
    assert page.title() == "Weft"


def test_long_texts_are_shown_piece_by_piece(page: Page) -> None:
    annotate(page, "\n\n".join(["Nobody had lived there."] * 45))
    assert page.locator("#view-trees .sentence").count() == 20
    page.click("#view-trees .more")
    assert page.locator("#view-trees .sentence").count() == 40
    page.click("#view-trees .more")
    assert page.locator("#view-trees .sentence").count() == 45
    assert page.is_hidden("#view-trees .more")


def test_a_phone_shows_it_all_without_scrolling_sideways(phone: Page) -> None:
    for tab in ("trees", "spans", "words"):
        phone.tap(f"#tab-{tab}")
        assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    phone.tap("#view-words tbody tr >> nth=1")
    assert phone.inner_text("#detail h2") == "Lindqvist"
    sizes = phone.locator("button:visible, select:visible").evaluate_all("es => es.map(e => e.offsetHeight)")
    assert min(sizes) >= 28


def test_light_and_dark_differ_and_can_be_chosen(page: Page, phone: Page) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) != phone.evaluate(ground)
    before = page.evaluate(ground)
    page.click("#theme")
    assert page.evaluate(ground) == before
    page.click("#theme")
    assert page.evaluate(ground) == phone.evaluate(ground)


def test_text_has_enough_contrast_in_light_and_dark(page: Page, phone: Page) -> None:
    ratio = """e => {
        const light = c => { const v = c.match(/[\\d.]+/g).slice(0, 3).map(x => x / 255)
            .map(x => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
            return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
        const ground = getComputedStyle(document.querySelector(".card")).backgroundColor;
        const [a, b] = [light(getComputedStyle(e).color), light(ground)].sort((x, y) => y - x);
        return (a + 0.05) / (b + 0.05); }"""
    for each in (page, phone):
        for name in ("#summary", "#tab-trees", "#tab-spans", ".sentence h2", "mark small"):
            assert each.locator(name).first.evaluate(ratio) >= 4.5, name


def test_the_description_of_the_api_names_every_field(page: Page, address: str) -> None:
    page.goto(f"{address}/docs")
    page.wait_for_selector("#paths section")
    told = page.inner_text("#paths")
    for name in (
        "/annotate",
        "/models",
        "/health",
        "probabilities",
        "alternatives",
        "deprel",
        "413: The text is too long",
    ):
        assert name in told


def test_a_model_without_trees_or_probabilities_is_shown_as_well(chromium: Browser, nlp: Pipeline) -> None:
    models = {"words": Pipeline([]), "small": nlp}
    with running(Service(models, Limits(max_chars=1000))) as address:
        for page in _opened(chromium.new_page(), address):
            assert page.locator("#view-trees .sentence").count() == 2
            assert page.locator("#view-trees svg").count() == 0
            assert page.is_hidden("#shading-label")
            page.click("#tab-spans")
            assert "does not predict spans" in page.inner_text("#view-spans")
            with page.expect_response("**/annotate"):
                page.select_option("#model", "small")
            page.wait_for_selector("svg.tree", state="attached")


class Stories(Component):
    """Takes the first two words and the first of the second sentence for one person, the last two for a date."""

    task = "stories"
    provides = ("spans/coref", "clusters/coref", "spans/times", "spans/timeline", "spans/metaphor", "spans/links")

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        for doc in docs:
            last = doc.n_words - 1
            if last > 8:
                set_entities(doc, [(0, 2), (8, 9)], [0, 0])
                for layer, first, label in (("times", last - 2, "DATE"), ("timeline", 2, "EVENT")):
                    doc.spans[layer] = SpanLayer(doc.strings)
                    doc.spans[layer].add([(first, last if layer == "times" else 3)], label, value="2026")
                doc.spans["metaphor"] = SpanLayer(doc.strings)
                told = {"target": "name", "source": "coat", "concept": "sign", "verb": "wear", "probability": 0.9}
                doc.spans["metaphor"].add([(1, 2)], "target", **told)
                doc.spans["links"] = SpanLayer(doc.strings)
                doc.spans["links"].add(
                    [(0, 2)], "Q7", title="Marta of Bergen", kind="entity", description="a sailor", score=0.75,
                    alternatives=[{"id": "Q8", "title": "Marta of Oslo", "score": 0.25}],
                    because=[{"phrase": "ferry", "id": "Q9", "title": "Northern Ferry"}],
                )  # fmt: skip

    def state(self) -> Any:
        raise AssertionError

    @classmethod
    def from_state(cls, header: Any, arrays: Any) -> Any:
        raise AssertionError


def test_chains_times_and_timelines_are_seen(chromium: Browser) -> None:
    with running(Service({"stories": Pipeline([Stories()])}, Limits(max_chars=1000))) as address:
        for page in _opened(chromium.new_page(), address):
            assert page.locator("#view-trees .timeline svg").count() == 1
            page.click("#tab-spans")
            assert page.locator(".layers label").all_inner_texts() == [
                "coreference (2)", "times (1)", "timeline (1)", "metaphor (1)", "links (1)",
            ]  # fmt: skip
            for layer, marks, rows in (
                ("coref", 2, [["Marta Lindqvist", "1"], ["Nobody", "1"]]),
                ("times", 1, [["many years", "DATE 2026"]]),
                ("metaphor", 1, [["Lindqvist", "name ~ coat (with wear, as sign)"]]),
                ("links", 1, [["Marta Lindqvist", "Marta of Bergen"]]),
            ):
                page.click(f".layers label:has(input[value={layer}])")
                assert page.locator("#view-spans mark").count() == marks
                assert [row.split("\t")[:2] for row in page.locator(".found tbody tr").all_inner_texts()] == rows
            [card] = page.locator("#view-spans .card.link").all_inner_texts()
            for shown in ("Marta Lindqvist: Marta of Bergen", "a sailor", "Q7", "75%", "Marta of Oslo (25%)", "ferry"):
                assert shown in card


class Happenings(Component):
    """Marks what may be judged and who may act, and one event, whose place is in another sentence."""

    task = "happenings"
    provides = ("graphs/events", "spans/events", "spans/mentions")

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        for doc in docs:
            forms = [word.form for word in doc.words]
            if "shade" in forms:
                places = [forms.index("shade"), forms.index("cord")]
                doc.spans["mentions"] = SpanLayer.of(doc.strings, [(place, place + 1, "aspect") for place in places])
                who, what = Filler("Agent", -1, ((0, 1),), "person"), Filler("Thing", -1, ((3, 4),), "lamp")
                set_events(doc, [EventRow("Test", ((1, 2),), (who, what, Filler("Place", -1, ((8, 9),), "town")))])

    def state(self) -> Any:
        raise AssertionError

    @classmethod
    def from_state(cls, header: Any, arrays: Any) -> Any:
        raise AssertionError


def test_events_are_stars_and_opinions_stand_by_aspect_with_their_reasons(chromium: Browser) -> None:
    analyser = OpinionAnalyser()
    analyser.fit(list(weft.read(ROOT / "examples" / "opinions" / "lamps.opinions.jsonl")))
    with running(Service({"lamps": Pipeline([Happenings(), analyser])}, Limits(max_chars=1000))) as address:
        for page in _opened(chromium.new_page(), address):
            annotate(page, "Ada tested the Halo. The shade is lovely, but the cord is not sturdy.")
            star = page.locator("#view-trees svg.events")
            assert star.count() == 1
            assert star.locator("circle").count() == 3
            assert "Place (other sentence)" in star.text_content()
            assert page.locator("#view-trees svg.opinions rect.bar").count() == 2
            assert page.locator("#view-trees svg.opinions .kind").all_text_contents() == [
                "shade: positive", "cord: negative",
            ]  # fmt: skip
            page.click("#tab-spans")
            page.click(".layers label:has(input[value=opinions])")
            rows = [row.split("\t") for row in page.locator(".aspects tbody tr").all_inner_texts()]
            assert [row[:3] for row in rows] == [["cord", "0", "1"], ["shade", "1", "0"]]
            assert "sturdy" in rows[0][4]
            assert "sturdy" not in rows[1][4]
            page.click("#tab-trees")
            page.locator("#view-trees svg.opinions [data-word] >> nth=1").click()
            with page.expect_response("**/annotate"):
                page.click("#why summary")
            page.wait_for_selector("#why table")
            assert page.inner_text("#why h3").startswith("opinions: positive(it, shade) by")
            assert "lovely" in page.inner_text("#why table")


def test_the_pictures_of_the_documentation_can_be_taken(chromium: Browser, address: str, tmp_path: Path) -> None:
    shown = {path.name for path in (ROOT / "docs" / "images").glob("page*.png")}
    assert {path.name for path in screenshots.take(address, tmp_path, chromium)} == shown
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in tmp_path.iterdir())


PLACES = "es => es.map(e => { const box = e.getBoundingClientRect(); return box.x + box.width / 2; })"
HEBREW = "הילדה הקטנה קראה ספר חדש בגינה."


def test_text_from_right_to_left_is_shown_and_drawn_so(page: Page) -> None:
    annotate(page, HEBREW)
    assert page.evaluate("getComputedStyle(document.getElementById('text')).direction") == "rtl"
    assert page.locator("#view-trees .text p").first.evaluate("e => getComputedStyle(e).direction") == "rtl"
    assert page.locator("#view-trees .picture").first.get_attribute("dir") == "rtl"
    places = page.locator("#view-trees svg.tree >> nth=0").locator("g.word .back").evaluate_all(PLACES)
    assert len(places) > 1
    assert places == sorted(places, reverse=True)
    annotate(page, "Nobody had lived there.")
    places = page.locator("#view-trees svg.tree >> nth=0").locator("g.word .back").evaluate_all(PLACES)
    assert places == sorted(places)
    assert page.evaluate("getComputedStyle(document.getElementById('text')).direction") == "ltr"


def test_a_long_tree_shows_that_it_continues_and_scrolls_by_keys(page: Page) -> None:
    annotate(page, "All is well.")
    assert page.locator("#view-trees .picture[tabindex]").count() == 0  # what fits needs no stop of the Tab key
    annotate(page, "Nobody had lived there, " + "and nobody had seen the old lighthouse keeper, " * 4 + "she said.")
    picture = page.locator("#view-trees .picture").first
    assert picture.get_attribute("tabindex") == "0"
    assert picture.get_attribute("data-more") == "right"
    assert "gradient" in picture.evaluate("e => getComputedStyle(e).maskImage")
    picture.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#view-trees .picture[data-more='left right']")
    picture.evaluate("e => { e.scrollLeft = e.scrollWidth; }")
    page.wait_for_selector("#view-trees .picture[data-more='left']")


def test_labels_are_told_in_words(page: Page) -> None:
    told = page.evaluate(
        """() => [["B-PER", "I-PER", "O"], ["O", "B", "I_", "i~"], ["NOUN NN _", "O"]].map(labels => {
            const words = inWords([{ labels }]); return labels.map(words); })"""
    )
    assert told == [
        ["begins PER", "continues PER", "outside"],
        ["in no expression", "begins an expression", "continues a strong expression",
         "continues a weak expression inside a gap"],
        ["NOUN NN", "O"],
    ]  # fmt: skip
    page.click("#view-trees g.word >> nth=0")
    page.wait_for_selector("#readings details")
    entities = page.locator("#readings details", has_text="(ner)")
    entities.locator("summary").click()
    shown = entities.inner_text()
    assert "PER" in shown
    assert "B-PER" not in shown
    assert "I-PER" not in shown


def test_the_text_survives_a_reload(page: Page) -> None:
    annotate(page, "Nobody had lived there.")
    page.fill("#text", "Nobody had seen the island.")
    with page.expect_response("**/annotate"):
        page.reload()
    assert page.input_value("#text") == "Nobody had seen the island."
    page.wait_for_selector("#results:not([hidden])")
    assert "island" in page.inner_text("#view-trees")


def test_without_text_the_last_result_is_cleared(page: Page) -> None:
    page.fill("#text", "  ")
    page.click("#go")
    assert page.is_hidden("#results")
    annotate(page, "All is well.")
    assert page.is_visible("#results")


@pytest.mark.parametrize(
    ("text", "language"), [(HEBREW, "Hebrew"), ("老灯塔矗立在黑色的岩石上,多年来没有人住在那里。", "Chinese")]
)
def test_other_scripts_are_hinted_at_too(page: Page, text: str, language: str) -> None:
    annotate(page, text)
    assert page.inner_text("#problem") == f"The text looks like {language}; the model small is English."


def test_a_page_of_trees_can_be_searched(chromium: Browser, tmp_path: Path) -> None:
    weft.show(weft.read(ROOT / "examples" / "story.conllu").sentences(), limit=1000).save(tmp_path / "story.html")
    page = chromium.new_page(viewport={"width": 500, "height": 700})
    page.goto((tmp_path / "story.html").as_uri())
    assert page.locator("section:visible").count() == 40
    assert page.locator("figure[data-more=right][tabindex='0']").count() > 0
    page.fill("input[type=search]", "ilse")
    found = page.locator("section:visible").count()
    assert 0 < found < 40
    assert page.inner_text("output") == f"{found} of 40 sentences"
    page.fill("input[type=search]", "lighthouse-07")
    assert page.locator("section:visible h2").all_inner_texts() == ["7 lighthouse-07"]
    page.close()
