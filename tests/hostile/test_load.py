"""The mixed load of `bench/fuzz`: its requests get the answers that they expect, and growth of memory is recognized."""

from __future__ import annotations

import importlib
import random
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from types import ModuleType

import pytest
from places import ROOT

from weft.memory import return_free_memory
from weft.pipeline.pipeline import Pipeline
from weft.serve import Service, memory, running


@pytest.fixture(scope="module")
def load() -> Iterator[ModuleType]:
    sys.path.insert(0, str(ROOT / "bench"))
    try:
        yield importlib.import_module("fuzz.load")
    finally:
        sys.path.remove(str(ROOT / "bench"))


def test_requests_of_the_load_are_answered_as_expected(load: ModuleType) -> None:
    outcome = importlib.import_module("fuzz.outcome").Outcome("load")
    with running(Service({"none": Pipeline([])})) as address:
        clients = load.Load(int(address.rsplit(":", 1)[1]), 0, 60, time.monotonic() + 60, outcome)
        clients.client(0)
    # A model without trees has no pictures.
    assert [failure for failure in outcome.failures if b'"format": "svg"' not in failure.case] == []
    assert outcome.attempts == clients.sent == 60
    assert len(outcome.kinds) >= 6


def test_clients_keep_the_rate_and_do_not_make_up_for_lost_time(
    load: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, sent = [0.0], list[float]()

    def answered(connection: object, ask: object) -> int:
        sent.append(now[0])
        now[0] += 10.0 if len(sent) == 5 else 0.01  # one answer takes long
        return 200

    monkeypatch.setattr(load.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(load.time, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    monkeypatch.setattr(load, "_answered", answered)
    outcome = importlib.import_module("fuzz.outcome").Outcome("load")
    load.Load(0, 0, 1_000, 30.0, outcome, rate=load.CLIENTS / 2).client(1)  # two seconds between requests
    pauses = [after - before for before, after in pairwise(sent)]
    assert sent[0] == pytest.approx(0.5)  # clients take turns
    assert pauses == pytest.approx([2.0, 2.0, 2.0, 2.0, 10.0, *[2.0] * (len(pauses) - 5)], abs=0.02)
    assert len(sent) == 12


def test_the_same_seed_makes_the_same_requests(load: ModuleType) -> None:
    asks = [load.an_ask(random.Random(seed)) for seed in range(200)]
    assert asks == [load.an_ask(random.Random(seed)) for seed in range(200)]
    assert {ask.kind for ask in asks} == {
        "short", "long", "probabilities", "alternatives", "page", "file", "refused", "left",
    }  # fmt: skip


def test_growth_is_told_from_caches_that_fill_and_start_again(load: ModuleType) -> None:
    hour = 360
    filling = [300 + min(i, 60) for i in range(hour)]
    caches = [one + i % 40 for i, one in enumerate(filling)]
    leak = [one + i / 20 for i, one in enumerate(caches)]
    assert abs(load.described(caches, 3600.0)["growth_per_hour"]) < load.GROWTH
    assert load.described(leak, 3600.0)["growth_per_hour"] > load.GROWTH


def test_memory_is_left_alone_where_the_c_library_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class Library:
        def __getattr__(self, name: str) -> object:
            asked.append(name)
            return lambda *given: 1

    monkeypatch.delenv("MALLOC_ARENA_MAX", raising=False)
    monkeypatch.setattr("ctypes.CDLL", lambda name: Library())
    for version in (("", ""), ("glibc", "2.36")):
        monkeypatch.setattr("platform.libc_ver", lambda version=version: version)
        memory.use_few_pools()
        return_free_memory()
    assert asked == ["mallopt", "malloc_trim"]
