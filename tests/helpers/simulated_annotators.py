"""Annotators who answer at once through the API of a workbench that is killed again and again.

Each of them works as the page does: it asks for an item, sends the answer with an id of its own, and sends the same
again until the service acknowledges it. An answer counts as acknowledged when the reply has arrived.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from weft.workbench.store import Store

_RETRY = 0.05


class Outcome(NamedTuple):
    """What annotators saw and what the database holds."""

    acknowledged: int
    lost: int  # acknowledged answers that are not in the database
    twice: int  # answers that are in it more than once
    wrong: int  # answers whose value is another one than was sent
    kills: int
    seconds: float
    latencies: list[float]  # seconds from sending an answer to the reply with the next item, without retries


class Server:
    """The process of a workbench, which can be killed and started again at the same port."""

    def __init__(self, folder: Path, port: int) -> None:
        self.command = [sys.executable, "-m", "weft", "label", "open", str(folder), "--port", str(port)]
        self.process: subprocess.Popen[bytes] | None = None
        self.port = port

    def start(self) -> None:
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(self.command, start_new_session=True, **quiet)  # type: ignore[call-overload]

    def kill(self) -> None:
        """End the process, and a training that it may have started, without a chance to write anything."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Annotator(threading.Thread):
    """Answers items until there are none left."""

    def __init__(self, port: int, name: str, stop: threading.Event, kinds: list[str], seed: int) -> None:
        super().__init__(daemon=True)
        self.port, self.who, self.stop, self.kinds = port, name, stop, kinds
        self.random = random.Random(seed)
        self.acknowledged: dict[str, tuple[int, Any]] = {}
        self.latencies: list[float] = []
        self.link: http.client.HTTPConnection | None = None
        self.cookie = ""

    def ask(self, path: str, body: Any = None) -> Any:
        """One request; an error if it fails or is refused."""
        if self.link is None:
            self.link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        headers = {"Content-Type": "application/json", "Cookie": self.cookie}
        try:
            method, sent = ("GET", None) if body is None else ("POST", json.dumps(body))
            self.link.request(method, path, sent, headers)
            response = self.link.getresponse()
            told = response.read()
        except (OSError, http.client.HTTPException):
            self.link.close()
            self.link = None
            raise
        if response.status != 200:
            raise OSError(told.decode())
        if cookie := response.headers.get("Set-Cookie"):
            self.cookie = cookie.partition(";")[0]
        return json.loads(told)

    def insist(self, path: str, body: Any = None) -> tuple[Any, float]:
        """Ask until there is a reply, with the time of the first try, or 0 if it failed."""
        first = True
        while not self.stop.is_set():
            start = time.perf_counter()
            with suppress(OSError, http.client.HTTPException, ValueError):
                return self.ask(path, body), time.perf_counter() - start if first else 0.0
            first = False
            time.sleep(_RETRY)
        return None, 0.0

    def run(self) -> None:
        self.insist("/api/enter", {"name": self.who})
        told, _ = self.insist("/api/next")
        number = 0
        while told and told["items"] and not self.stop.is_set():
            item = told["items"][0]
            value = {"labels": [self.random.choice(self.kinds)]}
            name = f"{self.who}-{number:06}"
            body = {"id": name, "item": item["id"], "value": value, "seconds": 1.0}
            told, seconds = self.insist("/api/answer", body)
            if told is None:
                return
            self.acknowledged[name] = (item["id"], value)
            if seconds:
                self.latencies.append(seconds)
            if self.random.random() < 0.1:  # a reply that got lost: the page sends the answer again
                self.insist("/api/answer", body)
            number += 1


def simulate(folder: Path, port: int, people: int, kinds: list[str], kills: int, answers: int, wait: float) -> Outcome:
    """Let people answer at once until `answers` are acknowledged in all, and kill the server so often meanwhile."""
    server, stop = Server(folder, port), threading.Event()
    start = time.perf_counter()
    server.start()
    workers = [Annotator(port, f"person{number}", stop, kinds, number) for number in range(people)]
    for worker in workers:
        worker.start()
    done = 0
    while any(worker.is_alive() for worker in workers) and time.perf_counter() - start < wait:
        total = sum(len(worker.acknowledged) for worker in workers)
        if done < kills and total >= (done + 1) * answers // (kills + 1):
            server.kill()
            server.start()
            done += 1
        time.sleep(0.01)
    stop.set()
    for worker in workers:
        worker.join(30)
    seconds = time.perf_counter() - start
    server.kill()
    return _compared(folder, workers, done, seconds)


def _compared(folder: Path, workers: list[Annotator], kills: int, seconds: float) -> Outcome:
    with Store(folder / "answers.db") as store:
        rows = store.history()
        standing = {(each.item, each.person): each.value for each in store.standing()}
    stored: dict[str, list[Any]] = {}
    for row in rows:
        stored.setdefault(row.id, []).append((row.item, row.value))
    sent = {name: what for worker in workers for name, what in worker.acknowledged.items()}
    return Outcome(
        acknowledged=len(sent),
        lost=sum(name not in stored for name in sent),
        twice=sum(len(each) > 1 for each in stored.values()) + len(rows) - len(standing),
        wrong=sum(stored[name][0] != what for name, what in sent.items() if name in stored),
        kills=kills,
        seconds=seconds,
        latencies=[each for worker in workers for each in worker.latencies],
    )
