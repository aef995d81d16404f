"""Attacks on the service over HTTP are answered in plain words, or closed; `bench/fuzz` runs more of them."""

from __future__ import annotations

import importlib
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType

import pytest
from places import ROOT

from weft.pipeline.pipeline import Pipeline
from weft.serve import Limits, Service, running
from weft.serve.connections import Bounds

#: Seconds after which an attack that is neither answered nor closed fails; nothing takes nearly as long.
PATIENCE = 60.0


@pytest.fixture(scope="module")
def http() -> Iterator[ModuleType]:
    sys.path.insert(0, str(ROOT / "bench"))
    try:
        yield importlib.import_module("fuzz.web")
    finally:
        sys.path.remove(str(ROOT / "bench"))


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, int]]:
    """A service without components: what is attacked comes before them."""
    service = Service({"en": Pipeline([])}, Limits(timeout=2.0))
    with running(service, bounds=Bounds(head=0.5, stalled=0.5, connections=100)) as url:
        yield "127.0.0.1", int(url.rsplit(":", 1)[1])


def test_there_are_hundreds_of_attacks_of_all_kinds(http: ModuleType) -> None:
    attacks = http.attacks()
    counts = Counter(attack.kind for attack in attacks)
    assert len(attacks) >= 400
    assert min(counts.values()) >= 5
    assert len({attack[2:] for attack in attacks}) == len(attacks)
    assert http.attacks() == attacks
    assert http.mutated(7) == http.mutated(7)


def test_attacks_are_answered_in_plain_words_or_closed(http: ModuleType, address: tuple[str, int]) -> None:
    attacks = [attack for attack in http.attacks() if not attack.slow]
    attacks += [attack for attack in http.attacks() if attack.slow][::8]
    with ThreadPoolExecutor(32) as pool:
        faults = list(pool.map(lambda attack: http.fault_of(address, attack, PATIENCE), attacks))
    assert {attack.name: fault for attack, fault in zip(attacks, faults, strict=True) if fault} == {}


def test_mutated_requests_are_answered_in_plain_words_or_closed(http: ModuleType, address: tuple[str, int]) -> None:
    attacks = [http.mutated(seed) for seed in range(60)]
    with ThreadPoolExecutor(32) as pool:
        faults = list(pool.map(lambda attack: http.fault_of(address, attack, PATIENCE), attacks))
    assert {attack.name: fault for attack, fault in zip(attacks, faults, strict=True) if fault} == {}


def test_a_flood_of_idle_connections_does_not_stop_the_service(http: ModuleType, address: tuple[str, int]) -> None:
    assert http.flood(address, 300) == ""


def test_thousands_of_unknown_fields_are_told_in_few_words(http: ModuleType, address: tuple[str, int]) -> None:
    body = ('{"text": "a", ' + ", ".join(f'"f{i}": 1' for i in range(20_000)) + "}").encode()
    attack = http.Attack("field", "many", (http.request(body),), (422,))
    answer = http._send(address, attack, PATIENCE)
    assert answer.startswith(b"HTTP/1.1 422 ")
    assert b"and 14 more faults" in answer
    assert len(answer) < 2_000


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 500 Internal Server Error\r\n\r\noops",
        b'HTTP/1.1 400 Bad Request\r\n\r\nTraceback (most recent call last):\n  File "/usr/lib/x.py"',
        b"HTTP/1.1 200 OK\r\n\r\nroot:x:0:0",
        b"HTTP/1.1 200 OK\r\n\r\nfine",
        b"nonsense",
    ],
)
def test_bad_answers_are_recognized(http: ModuleType, answer: bytes) -> None:
    assert http.wrong(answer, http.REFUSED)
    assert not http.wrong(b"", http.REFUSED)
    assert not http.wrong(b'HTTP/1.1 400 Bad Request\r\n\r\n{"error": "the body is not JSON"}', http.REFUSED)
