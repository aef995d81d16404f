"""The service by itself: what it refuses, and that its models are told apart."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from threading import Semaphore
from time import monotonic, sleep
from typing import Any

import pytest

from weft.deadline import check
from weft.errors import ConfigError, WeftError
from weft.pipeline.component import Asked, Component, State
from weft.pipeline.pipeline import Pipeline
from weft.serve.batches import Job
from weft.serve.service import Limits, Service, TooLong, TooSlow, UnknownModel
from weft.storage import Arrays
from weft.text.doc import Doc


@pytest.fixture
def service():
    service = Service({"one": Pipeline([]), "two": Pipeline([])}, Limits(max_chars=10))
    yield service
    service.close()


def test_texts_that_are_too_long_or_hold_half_a_character_are_refused(service: Service) -> None:
    with pytest.raises(TooLong, match="11 characters, but at most 10"):
        service.annotate("a" * 11)
    with pytest.raises(WeftError, match="character 2 of the text is an unpaired surrogate"):
        service.annotate("a\ud800")
    assert service.annotate("dogs bark").result(10).column("form") == ["dogs", "bark"]


def test_the_first_model_is_the_default_and_unknown_ones_are_named(service: Service) -> None:
    assert service.default == "one"
    with pytest.raises(UnknownModel, match="there is no model 'twoo'; did you mean two"):
        service.annotate("a", "twoo")


def test_warming_needs_no_components(service: Service) -> None:
    service.warm()
    assert service.waiting == 0


def test_limits_above_nothing_are_asked_for() -> None:
    with pytest.raises(ConfigError, match="timeout must be above 0, got 0"):
        Limits(timeout=0)
    with pytest.raises(ConfigError, match="no model to serve"):
        Service({})


class Endless(Component):
    """Works on a text that says so in blocks, until it is stopped."""

    task = "endless"

    def __init__(self) -> None:
        self.blocks = 0
        self.begun = Semaphore(0)

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        if any("endless" in doc.text for doc in docs):
            self.begun.release()
            while True:
                check()
                self.blocks += 1
                sleep(0.001)

    def state(self) -> State:
        return {}, {}

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> Endless:
        return cls()


@pytest.fixture
def endless():
    component = Endless()
    service = Service({"model": Pipeline([component])}, Limits(timeout=0.5, workers=2))
    yield component, service
    service.close()


def is_free(service: Service) -> bool:
    """Whether all threads are free again, soon."""
    for _ in range(10_000):
        if not service.waiting:
            return True
        sleep(0.001)
    return False


def test_work_that_takes_too_long_is_stopped(endless: tuple[Endless, Service]) -> None:
    component, service = endless
    with pytest.raises(TooSlow, match=r"longer than 0\.5 seconds"):
        asyncio.run(service.within_time(service.annotate("endless")))
    assert is_free(service)
    assert component.blocks > 0
    before = component.blocks
    assert service.annotate("dogs bark").result(10).n_words == 2
    assert component.blocks == before


def test_a_text_that_takes_long_does_not_hold_up_its_batch(
    endless: tuple[Endless, Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, service = endless
    monkeypatch.setattr("weft.serve.service.TOGETHER", 0.01)
    texts = ["dogs bark", "endless", "cats"]
    jobs = [Job(("model", Asked()), text, lambda doc: doc.n_words, monotonic() + 0.2) for text in texts]
    for job in jobs:
        job.future.set_running_or_notify_cancel()
    service._work(jobs)
    assert [jobs[0].future.result(0), jobs[2].future.result(0)] == [2, 1]
    assert isinstance(jobs[1].future.exception(0), TimeoutError)


def test_work_for_a_client_that_has_gone_is_stopped(
    endless: tuple[Endless, Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    component, service = endless
    monkeypatch.setattr("weft.serve.service.LOOK", 0.01)
    service.limits = Limits(timeout=600.0)

    async def gone() -> bool:
        return component.blocks > 3

    with pytest.raises(TooSlow):
        asyncio.run(service.within_time(service.annotate("endless"), gone))
    assert is_free(service)


def test_two_texts_that_take_long_do_not_keep_others_waiting(endless: tuple[Endless, Service]) -> None:
    component, service = endless
    service.limits = Limits(timeout=600.0)
    bad = [service.annotate("endless " * 2000 + str(i)) for i in range(2)]
    assert all(component.begun.acquire(timeout=10) for _ in bad)
    assert service.annotate("dogs bark").result(10).n_words == 2
    assert not any(answer.done() for answer in bad)
    for answer in bad:
        answer.stop()
    assert is_free(service)
