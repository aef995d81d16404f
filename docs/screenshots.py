"""Take the screenshots of the web pages for the documentation: `make screenshots` writes `docs/images/*.png`.

Playwright drives the system's Chromium; the tests of the page use the same browser.
"""

from __future__ import annotations

import contextlib
import importlib.util
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
DESKTOP, WIDE, PHONE = {"width": 1120, "height": 860}, {"width": 1120, "height": 600}, {"width": 390, "height": 780}


def main() -> None:
    from weft.serve import Service, running

    fault = missing()
    if fault:
        sys.exit(fault)
    service = Service(_models())
    service.warm()
    with running(service) as address:
        for path in [*take(address, IMAGES), *take_comparison(address, IMAGES)]:
            print(f"wrote {path.relative_to(ROOT)}")
    with running(_town()) as address:
        for path in take_questions(address, IMAGES):
            print(f"wrote {path.relative_to(ROOT)}")
    for path in take_workbench(IMAGES):
        print(f"wrote {path.relative_to(ROOT)}")


def missing() -> str:
    """What is missing for a browser, in plain words; nothing if all is there."""
    if _chromium() is None:
        return "there is no Chromium on this machine: install the package chromium"
    if importlib.util.find_spec("playwright") is None:
        return "Playwright is missing: pip install 'weft[dev]'"
    return ""


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """The browser while the block runs."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_chromium(), args=ARGUMENTS)
        yield browser
        browser.close()


def take(address: str, folder: Path, browser: Browser | None = None) -> list[Path]:
    """Write all screenshots of a service into a folder."""
    if browser is None:
        with chromium() as found:
            return take(address, folder, found)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, options in {
        "page": {"viewport": DESKTOP, "color_scheme": "light"},
        "page-word": {"viewport": DESKTOP, "color_scheme": "dark"},
        "page-phone": {"viewport": PHONE, "color_scheme": "light"},
    }.items():
        page = browser.new_page(**options)  # type: ignore[arg-type]
        page.goto(address)
        page.wait_for_selector("#results:not([hidden])")
        _prepare(page, name)
        paths.append(folder / f"{name}.png")
        page.screenshot(path=paths[-1])
        page.close()
    return paths


def take_questions(address: str, folder: Path, browser: Browser | None = None) -> list[Path]:
    """Write the screenshots of the page for questions."""
    if browser is None:
        with chromium() as found:
            return take_questions(address, folder, found)
    page = browser.new_page(viewport=DESKTOP, color_scheme="light")
    page.goto(address)
    page.keyboard.type("people who studed in bergen and work for a shipping company")
    page.keyboard.press("Enter")
    page.wait_for_selector("#results:not([hidden])")
    answered, typing = folder / "questions.png", folder / "questions-typing.png"
    page.screenshot(path=answered)
    page.fill("#question", "")
    page.keyboard.type("my friends who li")
    page.wait_for_selector("#suggestions li >> nth=4")
    page.keyboard.press("ArrowDown")
    page.screenshot(path=typing, clip={"x": 0, "y": 0, "width": DESKTOP["width"], "height": 520})
    page.close()
    return [answered, typing]


def take_comparison(address: str, folder: Path, browser: Browser | None = None) -> list[Path]:
    """Write the screenshot of the page that compares texts."""
    if browser is None:
        with chromium() as found:
            return take_comparison(address, folder, found)
    page = browser.new_page(viewport=WIDE, color_scheme="light")
    page.goto(f"{address}/compare")
    page.wait_for_selector("#model option", state="attached")
    page.fill("#text", "The ferry to Bergen was cancelled on Monday because of the storm.")
    page.fill("#other", "Because of a storm, Monday's ferry to Bergen did not sail.")
    page.click("#go")
    page.wait_for_selector("#picture svg")
    page.screenshot(path=folder / "compare.png")
    page.close()
    return [folder / "compare.png"]


def _town() -> Any:
    """The example graph, asked by one of its people."""
    from weft.serve import Service
    from weft.serve.graphs import GraphDesk
    from weft.tasks.questions.place import load_questions

    folder = ROOT / "examples" / "graph"
    questions = load_questions(folder / "town.tsv", folder / "town.toml", folder / "town-attributes.tsv")
    return Service({}, graph=GraphDesk(questions, questions.user("Mara Lind")))


def take_workbench(folder: Path, browser: Browser | None = None) -> list[Path]:
    """Write the screenshots of a workbench with a few answers of two people into a folder."""
    from weft.serve.hosts import Hosts
    from weft.serve.server import app_running
    from weft.workbench.app import create_app
    from weft.workbench.service import Workbench

    if browser is None:
        with chromium() as found:
            return take_workbench(folder, found)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    with tempfile.TemporaryDirectory() as place, _project(Path(place) / "harbour-names") as project:
        bench = Workbench(project)
        with app_running(create_app(bench, Hosts("127.0.0.1"))) as url:
            for name, viewport in {"workbench": WIDE, "workbench-decide": WIDE, "workbench-phone": PHONE}.items():
                page = browser.new_page(viewport=viewport, color_scheme="light")  # type: ignore[arg-type]
                page.goto(url)
                page.fill("#door-field", "cleo")
                page.keyboard.press("Enter")
                page.wait_for_selector("#work:not([hidden])")
                if name == "workbench-decide":
                    page.click("#show-disputes")
                    page.wait_for_selector("#said .one")
                    page.keyboard.press("1")
                else:
                    page.keyboard.press("ArrowDown")
                paths.append(folder / f"{name}.png")
                page.screenshot(path=paths[-1])
                page.close()
        bench.close()
    return paths


@contextlib.contextmanager
def _project(folder: Path) -> Iterator[Any]:
    """A project in which two people have answered, and differ once."""
    import weft
    from weft.workbench.items import add_texts
    from weft.workbench.project import Settings, create
    from weft.workbench.store import ADJUDICATOR, ANSWER, Answer

    labels = ["PER", "ORG", "LOC"]
    settings = Settings(
        "spans", labels, layer="entities", per_item=2, retrain=0, held_out=0.0, model=next(iter(_models()))
    )
    guidelines = (ROOT / "examples" / "guidelines.md").read_text(encoding="utf-8")
    with create(folder, settings, guidelines) as project:
        (ferries,) = weft.read(ROOT / "examples" / "ferries.conll")
        add_texts(project, [weft.Doc(ferries.text)])
        for name in ("ada", "bea"):
            project.store.add_person(name)
        project.store.add_person("cleo", ADJUDICATOR)
        for item in project.store.items()[:12]:
            for name in ("ada", "bea"):
                spans = [{"pieces": [[0, 2]], "label": "PER"}]
                spans += [{"pieces": [[6, 7]], "label": "LOC"}] if name == "ada" else []
                value = {"spans": spans if item.id == 1 else []}
                project.store.add(Answer(f"{name}-{item.id:06}", item.id, name, ANSWER, value, 6.0 + item.words / 3))
        yield project


def _prepare(page: Page, name: str) -> None:
    """Navigate to what a screenshot shows."""
    if name == "page-word":
        _sample(page)
        page.click("#tab-words")
        page.click("#view-words tbody tr >> nth=2")
        page.wait_for_selector("#readings details")
        page.evaluate("document.querySelector('.bar').scrollIntoView()")
    elif name == "page-phone":
        _sample(page)
        page.evaluate("document.querySelector('.bar').scrollIntoView()")


def _sample(page: Page) -> None:
    with page.expect_response("**/annotate"):
        page.select_option("#sample", "An office by the sea")
    page.wait_for_selector("#go:not([disabled])")


def _models() -> dict[str, Any]:
    """The English model or, if it is missing, the one that the benchmark trains on the examples."""
    import weft
    from weft.errors import ModelError

    try:
        return {"en": weft.load("en")}
    except ModelError:
        sys.path.insert(0, str(ROOT / "bench"))
        import serve

        return {"small": serve.small_pipeline()}


def _chromium() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return next((path for path in map(shutil.which, names) if path), None)


if __name__ == "__main__":
    main()
