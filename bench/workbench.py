"""The workbench: twenty people, five kills, a new user's hundred sentences, and the time to the next item.

Twenty simulated annotators give 10,000 answers through the API at once, while the server is killed (SIGKILL) five
times; every answer whose reply arrived has to be in the database, and none twice. A hundred generated sentences are
then labelled in Chromium by keys alone, as a new user would: project, server, answers, a model trained meanwhile, its
score on sentences that it has never seen. `key to next item` is the time from the key that sends an answer to the frame
that shows the next item with its proposal, while models are trained in the background.
"""

from __future__ import annotations

import importlib.util
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import weft
from weft.evaluate import evaluate_spans
from weft.text import SpanLayer
from weft.workbench.items import add_texts
from weft.workbench.project import Project, Settings, create

ROOT = Path(__file__).resolve().parent.parent
ANSWERS, PEOPLE, KILLS, SENTENCES = 10_000, 20, 5, 100
_FIRST = ["Marta", "Ilse", "Greta", "Jonas", "Piet", "Anouk", "Lars", "Edda", "Tilda", "Henrik", "Solveig", "Bram"]
_LAST = ["Lindqvist", "Holm", "Berge", "Vos", "Nyland", "Falk", "Moen", "Dekker", "Strand", "Aas"]
_TOWNS = ["Bergen", "Alta", "Molde", "Narvik", "Bodø", "Florø", "Hamar", "Skien", "Larvik", "Moss"]
_FIRMS = ["Polar", "Nordic", "Harbour", "Coastal", "Fjord", "Arctic"]
_KINDS = ["Lines", "Ferries", "Shipping", "Works"]
#: Sentences with names to fill in.
_PATTERNS = (
    "{p} opened the office of {f} in {t} last spring .", "The ferry from {t} to {t} was late again .",
    "{f} sold two boats to {p} .", "Nobody in {t} had seen {p} for years .", "{p} and {p} work for {f} now .",
    "The harbour was closed because of the fog .", "In {t} the price of fish has doubled , said {p} .",
    "{f} wants to build a new pier near {t} .", "She wrote to {f} , but no answer came .",
)  # fmt: skip


def run() -> dict[str, Any]:
    """All three parts; each row is a figure with what it has to be."""
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    with tempfile.TemporaryDirectory() as folder:
        crash = crashes(Path(folder) / "crash")
        user = new_user(Path(folder) / "user")
    slow = sorted(crash.latencies)
    rows = [
        _row("answers acknowledged", crash.acknowledged, f"{ANSWERS:,}"),
        _row("server killed", crash.kills, str(KILLS)),
        _row("acknowledged and lost", crash.lost, "0"),
        _row("stored twice", crash.twice, "0"),
        _row("stored with another value", crash.wrong, "0"),
        _row("answers per second, 20 people", round(crash.acknowledged / crash.seconds), ""),
        _row("reply to an answer, 20 people, median, ms", round(1000 * statistics.median(slow), 1), ""),
        _row("reply to an answer, 20 people, 95 %, ms", round(1000 * slow[int(0.95 * len(slow))], 1), ""),
        *user,
    ]
    return {"title": "The workbench under load and under a new user", "rows": rows}


def _row(what: str, value: Any, wanted: str) -> dict[str, Any]:
    return {"figure": what, "value": value, "has to be": wanted}


def crashes(folder: Path) -> Any:
    """Twenty people answer at once, with kills."""
    from simulated_annotators import simulate

    docs = [weft.Doc.from_words([["item", str(number)]]) for number in range(ANSWERS // 2)]
    with create(folder, Settings("labels", ["a", "b"], per_item=2, retrain=0)) as project:
        add_texts(project, docs)
    return simulate(folder, free_port(), PEOPLE, ["a", "b"], KILLS, ANSWERS, wait=1200)


def new_user(folder: Path) -> list[dict[str, Any]]:
    """Label a hundred sentences with keys and see what the model that was trained meanwhile is worth."""
    folder.mkdir()
    rng = random.Random(1)
    docs = [sentence(rng) for _ in range(SENTENCES)]
    corpus, project = folder / "mine.txt", folder / "project"
    corpus.write_text("\n\n".join(doc.text for doc in docs), encoding="utf-8")
    start = time.perf_counter()
    weft_ = [sys.executable, "-m", "weft", "label"]
    told = ["--task", "entities", "--labels", "PER,ORG,LOC"]
    subprocess.run([*weft_, "new", str(project), str(corpus), *told], check=True, capture_output=True)
    port = free_port()
    server = subprocess.Popen([*weft_, "open", str(project), "--port", str(port)], stderr=subprocess.DEVNULL)
    try:
        latencies, keys, edited = label(f"http://127.0.0.1:{port}", {doc.text: doc for doc in docs})
    finally:
        server.terminate()
        server.wait(20)
    seconds = time.perf_counter() - start
    model = folder / "mine.weft"
    subprocess.run([*weft_, "export", str(project), "--model-out", str(model)], check=True, capture_output=True)
    unseen = [sentence(rng) for _ in range(200)]
    found = list(weft.load(model).pipe(doc.text for doc in unseen))
    score = evaluate_spans(unseen, found, "entities").score
    with Project(project) as labelled:
        rounds = labelled.store.rounds()
    ordered = sorted(latencies)
    return [
        _row("sentences labelled by a new user", len(latencies), str(SENTENCES)),
        _row("key to next item, median, ms", round(statistics.median(ordered), 1), ""),
        _row("key to next item, 95 %, ms", round(ordered[int(0.95 * len(ordered))], 1), "at most 200"),
        _row("key to next item, slowest, ms", round(ordered[-1], 1), ""),
        _row("keys per sentence, first 25", round(statistics.mean(keys[:25]), 1), ""),
        _row("keys per sentence, last 25", round(statistics.mean(keys[-25:]), 1), ""),
        _row("proposals changed, last 25", sum(edited[-25:]), ""),
        _row("rounds of training", len(rounds), "at least 1"),
        _row("F1 on held-out answers, last round", rounds[-1].get("score") if rounds else None, ""),
        _row("F1 of the trained model on 200 new sentences", round(score.f1, 3), ""),
        _row("seconds from the corpus to the model, without thinking", round(seconds), ""),
    ]


def sentence(rng: random.Random) -> weft.Doc:
    """A sentence with its names."""
    words: list[str] = []
    spans: list[tuple[int, int, str]] = []
    makers = {
        "{p}": ("PER", lambda: [rng.choice(_FIRST), rng.choice(_LAST)]), "{t}": ("LOC", lambda: [rng.choice(_TOWNS)]),
        "{f}": ("ORG", lambda: [rng.choice(_FIRMS), rng.choice(_KINDS)]),
    }  # fmt: skip
    for word in rng.choice(_PATTERNS).split():
        if word in makers:
            label, make = makers[word]
            name = make()
            spans.append((len(words), len(words) + len(name), label))
            words += name
        else:
            words.append(word)
    spaces = [place + 1 < len(words) and words[place + 1] not in (".", ",") for place in range(len(words))]
    doc = weft.Doc.from_words([words], spaces=[spaces])
    doc.spans["entities"] = SpanLayer.of(doc.strings, spans)
    return doc


#: Notes the time from a key that sends to the frame that shows another item.
_WATCH = """() => {
    window.times = []; let since = 0, item = null;
    document.addEventListener("keydown", (event) => {
        if (event.key === "Enter") { since = event.timeStamp; item = editor.item; }
    }, true);
    const look = () => {
        if (since && (editor.item !== item || !document.getElementById("done").hidden)) {
            const begun = since; since = 0;
            requestAnimationFrame(() => window.times.push(performance.now() - begun));
        }
        requestAnimationFrame(look);
    };
    look();
}"""
#: The text of the item on the page, and the spans that are marked.
_SHOWN = """[
    editor.item.words.map((word) => word.join("")).join(""),
    editor.value.spans.map((span) => [...span.pieces[0], span.label]),
]"""


def label(url: str, gold: dict[str, weft.Doc]) -> tuple[list[float], list[int], list[bool]]:
    """Label all sentences in a browser; times to the next item in ms, keys per sentence, and which were changed."""
    with screenshots().chromium() as browser:
        page = browser.new_page()
        for _ in range(100):
            try:
                page.goto(url)
                break
            except Exception:  # the server is not up yet
                time.sleep(0.1)
        page.wait_for_selector("#door:not([hidden])")
        page.keyboard.type("newcomer")
        page.keyboard.press("Enter")
        page.wait_for_selector("#work:not([hidden])")
        page.evaluate(_WATCH)
        keys, edited = [], []
        while page.is_hidden("#done"):
            text, marks = page.evaluate(_SHOWN)
            wanted = sorted(gold[text].spans["entities"].flat())
            pressed = mark(page, sorted(map(tuple, marks)), wanted)
            done = page.evaluate("window.times.length")
            page.keyboard.press("Enter")
            while page.evaluate("window.times.length") == done:
                time.sleep(0.01)
            keys.append(pressed + 1)
            edited.append(pressed > 0)
        page.wait_for_timeout(3000)
        page.click("#show-board")
        while "being trained" in page.inner_text("#board"):
            page.wait_for_timeout(500)
        return page.evaluate("window.times"), keys, edited


def mark(page: Any, has: list[Any], wanted: list[Any]) -> int:
    """Press what turns the proposed spans into those wanted; the number of keys."""
    pressed = cursor = 0

    def press(key: str, times: int = 1) -> None:
        nonlocal pressed
        for _ in range(times):
            page.keyboard.press(key)
        pressed += times

    def go(word: int) -> None:
        nonlocal cursor
        press("ArrowRight" if word > cursor else "ArrowLeft", abs(word - cursor))
        cursor = word

    for start, _, _ in [span for span in has if span not in wanted]:
        go(start)
        press("Delete")
    for start, end, name in [span for span in wanted if span not in has]:
        go(start)
        press("Shift+ArrowRight", end - start - 1)
        cursor = end - 1
        press({"PER": "1", "ORG": "2", "LOC": "3"}[name])
    return pressed


def screenshots() -> Any:
    """The module that starts the browser."""
    spec = importlib.util.spec_from_file_location("screenshots", ROOT / "docs" / "screenshots.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
