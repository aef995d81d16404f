"""The service by itself: what it refuses, and that its models are told apart."""

from __future__ import annotations

import pytest

from weft.errors import ConfigError, WeftError
from weft.pipeline.pipeline import Pipeline
from weft.serve.service import Limits, Service, TooLong, UnknownModel


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
