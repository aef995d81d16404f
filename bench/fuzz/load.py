"""The service under mixed load for an hour, and whether its memory stays flat.

Four clients take turns to send requests at a fixed rate, so that the results do not depend on what else the machine
does: short texts and long ones, new words in each, probabilities, alternatives, pictures, files in several formats, and
requests that must be refused. A service that falls behind is sent less, never more to make up for it. The resident
memory of the service is sampled every ten seconds. An attack is a request; it fails if the answer is not what its kind
expects.

Before the hour begins, all clients send the most expensive texts at the same time, so that caches are full and the heap
has its size. Caches start again whenever they are full, so that memory rises and falls. What must not grow is the
height of its peaks: the time after the warm-up is cut into four parts, and the trend of their highest samples recorded,
in MB per hour and as a share of the memory. A run of half an hour or more fails if the peaks grow by more than 3 % per
hour.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, NamedTuple

from weft.pipeline import models

from .outcome import Outcome, attack_seed

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
#: Requests, no more than an hour allows.
COUNT = 10_000_000
MINUTES = 60.0
BESIDE = True
CLIENTS = 4
#: Requests per second, of all clients together.
RATE = 8.0
EVERY = 10.0
#: The samples of this first part of the run show how caches fill; the rest is cut into parts.
WARM_UP, PARTS = 1 / 3, 4
#: The most that peaks of memory may grow per hour after the warm-up, as a share, in runs of this many seconds or more.
GROWTH, LONG = 0.03, 1800
#: The most samples that are recorded.
RECORDED = 60
#: The most expensive texts that each client sends before the hour begins.
FILL = 12
#: Answers that every request may get from a service that is busy.
BUSY = (429, 503)
#: In place of the status of an answer for which the client did not wait.
LEFT = 0


class Ask(NamedTuple):
    """A request: its kind, what it sends, and the answers that hold; none if the client leaves before its answer."""

    kind: str
    body: bytes
    statuses: tuple[int, ...]


def run(count: int, seed: int, minutes: float | None = None) -> Outcome:
    """Load a service in a process of its own for some minutes, an hour if none are given."""
    outcome = Outcome("load")
    lasting = 60 * (MINUTES if minutes is None else minutes)
    with tempfile.TemporaryDirectory() as folder, service(a_model(Path(folder))) as (port, process, _):
        _fill(port, seed, FILL if lasting >= LONG else 1)
        started = time.monotonic()
        load = Load(port, seed, count, started + lasting, outcome, RATE)
        clients = [threading.Thread(target=load.client, args=(number,), daemon=True) for number in range(CLIENTS)]
        for client in clients:
            client.start()
        samples = [rss_mb(process.pid)]
        while any(client.is_alive() for client in clients):
            clients[0].join(max(started + EVERY * len(samples) - time.monotonic(), 0.05))
            if time.monotonic() >= started + EVERY * len(samples) and process.poll() is None:
                samples.append(rss_mb(process.pid))
        taken = time.monotonic() - started
        if process.poll() is not None:
            outcome.fail("service", seed, f"the service ended with code {process.returncode}")
    outcome.figures |= described(samples, taken) | {"requests": load.sent, "busy": load.busy, "per_second": RATE}
    if lasting >= LONG and outcome.figures["growth_per_hour"] > GROWTH:
        outcome.fail("memory", seed, f"grows by {outcome.figures['mb_per_hour']} MB per hour")
    return outcome


def described(samples: list[float], seconds: float) -> dict[str, Any]:
    """Facts about samples of memory, taken every ten seconds.

    >>> facts = described([500.0, 560.0] + [600.0 + i / 10 for i in range(28)], 300.0)
    >>> facts["start_mb"], facts["minutes"], facts["mb_per_hour"], facts["growth_per_hour"]
    (500.0, [500.0, 600.4, 601.0, 601.6, 602.2], 36.0, 0.0598)
    >>> described([600.0 + i % 40 for i in range(300)], 3000.0)["mb_per_hour"]  # sawtooth
    0.0
    """
    kept = samples[int(len(samples) * WARM_UP) :]
    size = max(len(kept) // PARTS, 1)
    peaks = [max(kept[first : first + size]) for first in range(0, size * min(PARTS, len(kept)), size)]
    hours = [EVERY * size * i / 3600 for i in range(len(peaks))]
    slope = statistics.linear_regression(hours, peaks).slope if len(peaks) > 1 else 0.0
    step = -(-len(samples) // RECORDED)
    return {
        "start_mb": samples[0],
        "most_mb": max(samples),
        "end_mb": samples[-1],
        "minutes": samples[:: round(60 / EVERY)],
        "rss_mb": samples[::step],
        "mb_per_hour": round(slope, 1),
        "growth_per_hour": round(slope / statistics.fmean(peaks), 4),
        "seconds": round(seconds),
    }


class Load:
    """Clients that send requests until the time is up, at most `rate` per second together."""

    def __init__(self, port: int, seed: int, count: int, end: float, outcome: Outcome, rate: float = math.inf) -> None:
        self.port, self.seed, self.count, self.end, self.outcome = port, seed, count, end, outcome
        self.pace = CLIENTS / rate  # seconds between two requests of a client
        self.sent, self.busy = 0, 0
        self._lock = threading.Lock()

    def client(self, number: int) -> None:
        """Send requests one after the other, through connections that are kept for a while."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=120)
        own = 0
        turn = time.monotonic() + self.pace * number / CLIENTS
        while time.monotonic() < self.end and self.sent < self.count:
            time.sleep(max(turn - time.monotonic(), 0.0))
            turn = max(turn, time.monotonic()) + self.pace
            seed = attack_seed(self.seed, number + CLIENTS * own)
            own += 1
            ask = an_ask(random.Random(seed))
            try:
                status: object = _answered(connection, ask)
            except (OSError, HTTPException) as error:
                status = repr(error)
                connection.close()
            with self._lock:
                self.sent += 1
                self.busy += status in BUSY
                if status in (*ask.statuses, *BUSY, LEFT):
                    self.outcome.hold(ask.kind)
                else:
                    self.outcome.fail(ask.kind, seed, f"answered {status}", ask.body)
            if own % 100 == 0 or status in BUSY:
                connection.close()
        connection.close()


def _fill(port: int, seed: int, count: int) -> None:
    """Have all clients send long texts of new words at the same time, with everything that can be requested."""

    def send(number: int) -> None:
        source = random.Random(attack_seed(seed, number))
        for _ in range(count):
            connection = HTTPConnection("127.0.0.1", port, timeout=300)
            text = " ".join(a_new_word(source) for _ in range(4_000))[:30_000]
            fields = {"text": text, "probabilities": True, "pictures": True, "alternatives": 10}
            with contextlib.suppress(OSError, HTTPException):
                _answered(connection, Ask("fill", json.dumps(fields).encode(), (200,)))
            connection.close()

    clients = [threading.Thread(target=send, args=(number,), daemon=True) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()


def _answered(connection: HTTPConnection, ask: Ask) -> int:
    connection.request("POST", "/annotate", ask.body, {"Content-Type": "application/json"})
    if not ask.statuses:
        connection.close()
        return LEFT
    response = connection.getresponse()
    response.read()
    return response.status


def an_ask(source: random.Random) -> Ask:
    """A random request."""
    kind = source.choices(
        ["short", "long", "probabilities", "alternatives", "page", "file", "refused", "left"],
        [50, 3, 12, 8, 10, 7, 9, 1],
    )[0]
    if kind == "refused":
        body, statuses = source.choice(_REFUSED)
        return Ask(kind, body, statuses)
    fields: dict[str, Any] = {"text": a_text(source, 30_000 if kind == "long" else 600)}
    options: dict[str, dict[str, Any]] = {
        "probabilities": {"probabilities": True},
        "alternatives": {"alternatives": source.randint(1, 10)},
        "page": {"probabilities": True, "pictures": True, "alternatives": 10},
        "file": {"format": source.choice(["conllu", "jsonl", "parquet", "columns", "plain", "html", "svg", "brat"])},
    }
    body = json.dumps(fields | options.get(kind, {})).encode()
    return Ask(kind, body, () if kind == "left" else (200,))


_REFUSED: list[tuple[bytes, tuple[int, ...]]] = [
    (b"", (422,)),
    (b"{", (400,)),
    (b"[1, 2]", (422,)),
    (b'{"text": 7}', (422,)),
    (b'{"text": "\xff"}', (400,)),
    (b'{"text": "\\ud800"}', (422,)),
    (b'{"text": "a", "model": "unknown"}', (404,)),
    (b'{"text": "a", "alternatives": 1e99}', (422,)),
    (b"[" * 50_000, (400,)),
    (b'{"text": "' + b"a" * 50_001 + b'"}', (413,)),
    (b'{"text": "' + b"a" * 2_000_000 + b'"}', (413,)),
]


def a_text(source: random.Random, most: int) -> str:
    """A passage of the examples in which some words are new."""
    words = _passage()
    start, length = source.randrange(len(words)), source.randint(1, most // 6)
    chosen = [words[(start + i) % len(words)] for i in range(length)]
    for place in range(0, length, 10):
        chosen[place] = a_new_word(source)
    return " ".join(chosen)[:most]


def a_new_word(source: random.Random) -> str:
    """Some letters."""
    return "".join(source.choices("abcdefghijklmnopqrstuvwxyzéøλж", k=source.randint(2, 12)))


def _passage() -> list[str]:
    return (EXAMPLES / "port.txt").read_text(encoding="utf-8").split()


def a_model(folder: Path) -> str:
    """A model to serve: the English one or, where there is none, one trained on the examples."""
    if models.DEFAULT in models.available():
        return models.DEFAULT
    from .pipelines import small_pipeline

    small_pipeline(folder).save(folder / "small.weft")
    return str(folder / "small.weft")


class Served(NamedTuple):
    """A service at work: its port, its process and what it logs."""

    port: int
    process: subprocess.Popen[bytes]
    log: Path


@contextlib.contextmanager
def service(model: str, *options: str, files: int = 0) -> Iterator[Served]:
    """`weft serve` in a process of its own, which may open a number of files."""
    words = [sys.executable, "-m", "weft", "serve", "--model", model, "--port", "0", *options]
    command = ["sh", "-c", f'ulimit -n {files}; exec "$@"', "sh", *words] if files else words
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        with log.open("ab") as file:
            process = subprocess.Popen(command, stderr=file, env={**os.environ, "WEFT_QUIET": "1"})
        try:
            yield Served(_port(process, log), process, log)
        finally:
            process.terminate()
            process.wait(30)


def _port(process: subprocess.Popen[bytes], log: Path) -> int:
    end = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < end:
        said = log.read_text(encoding="utf-8", errors="replace")
        if "Weft is at http" in said:
            return int(said.split("Weft is at ")[1].split()[0].rsplit(":", 1)[1])
        time.sleep(0.1)
    process.kill()
    raise RuntimeError(f"the service did not start: {log.read_text(encoding='utf-8', errors='replace')[-500:]}")


def rss_mb(pid: int) -> float:
    """The resident memory of a process, in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, 1)
