"""The service under load: 200 requests at once, then requests that are too long or malformed, then 200 at once again.

The service runs in a separate process, as `weft serve` starts it; the 200 clients run in another process on the same
machine, so that both share its cores. Each client sends its requests one after the other: a passage of a few
sentences, with new words in every request. Times are measured by the clients, from sending a request to the last byte
of its answer; the processor time of the service depends less on the load of the machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import weft
from weft.errors import ModelError
from weft.pipeline.pipeline import Pipeline

CLIENTS, EACH = 200, 10
EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
#: Request options of the clients.
ASKED: dict[str, dict[str, Any]] = {
    "JSON": {},
    "with probabilities": {"probabilities": True},
    "as the page asks": {"probabilities": True, "pictures": True},
}
#: Requests that must be refused: the expected status and the body.
BAD: list[tuple[int, bytes]] = [
    (413, b'{"text": "' + b"a" * 60_000 + b'"}'),
    (413, b'{"text": "' + b"a" * 5_000_000 + b'"}'),
    (400, b'{"text": '),
    (400, b'{"text": "\xff"}'),
    (422, b"{}"),
    (422, b'{"text": 7}'),
    (422, b'{"text": "a", "alternatives": 1000000}'),
    (422, b'{"text": "\\ud800"}'),
    (422, b"[1, 2, 3]"),
    (404, b'{"text": "a", "model": "no such"}'),
]


def run() -> dict[str, Any]:
    """Measure the service with the English model or, where there is none, one trained on the examples."""
    with tempfile.TemporaryDirectory() as folder:
        model, named = a_model(Path(folder))
        with service(model) as (address, process):
            figures = asyncio.run(measure(address, process.pid, CLIENTS, EACH))
    return {"title": f"The service under load, model: {named}", "rows": rows(figures), "model": named, **figures}


def rows(figures: dict[str, Any]) -> list[dict[str, Any]]:
    """The results as a table, one row per load."""
    clients = figures["clients"]
    loads = {"one client": figures["alone"]}
    loads |= {f"{clients} clients, {name}": load for name, load in figures["loads"].items()}
    loads[f"{clients} clients, after bad requests"] = figures["after"]
    names = {
        "requests": "requests",
        "errors": "errors",
        "p50": "p50, ms",
        "p95": "p95, ms",
        "requests_per_second": "requests/s",
        "words_per_second": "words/s",
        "cpu_ms": "CPU ms a request",
    }
    table = [{"load": name, **{title: load[key] for key, title in names.items()}} for name, load in loads.items()]
    bad = {
        "load": "bad requests; errors: not refused",
        "requests": figures["bad"],
        "errors": figures["bad_not_refused"],
    }
    return [*table, bad]


def a_model(folder: Path) -> tuple[str, str]:
    """A model to serve, as an argument of `--model`, and its description."""
    try:
        weft.load("en")
        return "en", "en"
    except ModelError:
        small_pipeline().save(folder / "small.weft")
        return str(folder / "small.weft"), "trained on the examples"


def small_pipeline() -> Pipeline:
    """A pipeline for words, entities, tags, lemmas and trees, trained on the examples in a few seconds."""
    from weft.pipeline.registry import component_class

    story = list(weft.read(EXAMPLES / "story.conllu"))
    sources = {
        "segmenter": [*weft.read(EXAMPLES / "letters.conllu"), *story],
        "ner": list(weft.read(EXAMPLES / "ferries.conll", fields="form entities")),
        "tagger": story,
        "lemmatizer": story,
        "parser": story,
    }
    components = []
    for task, docs in sources.items():
        component = component_class(task).from_options({})
        component.fit(docs)
        components.append(component)
    return Pipeline(components, {"name": "small", "corpora": ["examples"], "licence": "MIT"})


@contextlib.contextmanager
def service(model: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """`weft serve` in a separate process, and its address."""
    command = [sys.executable, "-m", "weft", "serve", "--model", model, "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "WEFT_QUIET": "1"})
    assert process.stderr is not None
    try:
        address = ""
        for line in process.stderr:
            if line.startswith("Weft is at "):
                address = line.split()[3]
                break
        if not address:
            raise RuntimeError("the service did not start")
        yield address, process
    finally:
        process.terminate()
        process.wait(20)


class Client:
    """One persistent connection, a thin layer over the socket, so that the service itself is measured."""

    def __init__(self, address: str) -> None:
        self.host, _, port = address.removeprefix("http://").partition(":")
        self.port = int(port)
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, body: bytes) -> tuple[int, bytes]:
        """Status and body of the answer to a request for annotation."""
        if self.streams is None:
            self.streams = await asyncio.open_connection(self.host, self.port)
        reader, writer = self.streams
        head = f"POST /annotate HTTP/1.1\r\nHost: {self.host}\r\nContent-Type: application/json\r\n"
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()
        status = int((await reader.readline()).split()[1])
        length, closes = 0, False
        while line := (await reader.readline()).strip().lower():
            length = int(line.split(b":")[1]) if line.startswith(b"content-length:") else length
            closes = closes or line == b"connection: close"
        answer = await reader.readexactly(length)
        if closes:
            self.close()
        return status, answer

    def close(self) -> None:
        if self.streams is not None:
            self.streams[1].close()
            self.streams = None


async def measure(address: str, pid: int, clients: int, each: int) -> dict[str, Any]:
    """All measurements of a service."""
    texts = passages(clients)
    await load(address, pid, texts[:8], 1, {"probabilities": True, "pictures": True})
    first = resident(pid)
    alone = await load(address, pid, texts[:1], 30, {})
    loads = {name: await load(address, pid, texts, each, asked) for name, asked in ASKED.items()}
    refused = await refusals(address, pid, texts)
    after = await load(address, pid, texts, each, {})
    return {
        "clients": clients,
        "passage_words": round(statistics.mean(len(text.split()) for text in texts)),
        "alone": alone,
        "loads": loads,
        "bad": len(refused),
        "bad_not_refused": sum(not right for right in refused),
        "after": after,
        "rss_mb_first": first,
        "rss_mb_last": resident(pid),
    }


async def load(address: str, pid: int, texts: list[str], each: int, asked: dict[str, Any]) -> dict[str, Any]:
    """One concurrent client per text, each with a number of successive requests."""
    seconds: list[float] = []
    errors: list[str] = []
    words = 0

    async def one(number: int) -> None:
        nonlocal words
        client = Client(address)
        for turn in range(each):
            text = texts[number].replace("Ilse", f"Ilse{number}x{turn}")
            start = time.perf_counter()
            try:
                status, body = await client.post(json.dumps({"text": text, **asked}).encode())
            except (OSError, EOFError, ValueError, IndexError) as error:
                errors.append(repr(error))
                client.close()
                continue
            seconds.append(time.perf_counter() - start)
            answer = json.loads(body)
            if status == 200 and answer["text"] == text:
                words += len(answer["words"])
            else:
                errors.append(body[:200].decode("utf-8", "replace"))
        client.close()

    start, cpu = time.perf_counter(), cpu_seconds(pid)
    await asyncio.gather(*(one(number) for number in range(len(texts))))
    total = time.perf_counter() - start
    ranked = sorted(seconds)
    return {
        "requests": each * len(texts),
        "errors": len(errors),
        "first_errors": errors[:3],
        "p50": round(1000 * ranked[len(ranked) // 2], 1) if ranked else None,
        "p95": round(1000 * ranked[int(0.95 * len(ranked))], 1) if ranked else None,
        "requests_per_second": round(each * len(texts) / total),
        "words_per_second": round(words / total),
        "cpu_ms": round(1000 * (cpu_seconds(pid) - cpu) / (each * len(texts)), 2),
    }


async def refusals(address: str, pid: int, texts: list[str], times: int = 10) -> list[bool]:
    """Whether bad requests, mixed with good ones, are refused with a message and without a traceback."""

    async def bad(status: int, body: bytes) -> bool:
        client = Client(address)
        found, answer = await client.post(body)
        client.close()
        return found == status and set(json.loads(answer)) == {"error"} and b"Traceback" not in answer

    good = load(address, pid, texts[:20], times, {})
    results = await asyncio.gather(good, *(bad(*each) for each in BAD * times))
    return [results[0]["errors"] == 0, *results[1:]]


def passages(count: int) -> list[str]:
    """Passages of five sentences of the story, each with a different start."""
    sentences = [sentence.text for sentence in weft.read(EXAMPLES / "story.conllu").sentences()]
    return [" ".join(sentences[(i + j) % len(sentences)] for j in range(5)) for i in range(count)]


def cpu_seconds(pid: int) -> float:
    """Seconds of processor time that a process has used."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> float:
    """Megabytes of memory that a process holds now."""
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return round(int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6, 1)
