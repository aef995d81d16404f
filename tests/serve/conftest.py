"""A small pipeline with all that the page shows, trained on the examples in a few seconds, and a service with it."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from types import ModuleType

import pytest
from places import ROOT

from weft.pipeline.pipeline import Pipeline
from weft.serve import Limits, Service, running


@pytest.fixture(scope="session")
def bench() -> ModuleType:
    """The benchmark of the service."""
    path = ROOT / "bench" / "serve.py"
    spec = importlib.util.spec_from_file_location("bench_serve", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def nlp(bench: ModuleType) -> Pipeline:
    """Words, entities, tags, lemmas and trees."""
    found: Pipeline = bench.small_pipeline()
    found.card |= {"scores": {"story, gold words": {"LAS": 80.12, "UPOS": 90.0}}, "weaknesses": ["poems"]}
    found.card["language"] = "English"
    return found


@pytest.fixture(scope="session")
def address(nlp: Pipeline) -> Iterator[str]:
    """Where a service with that pipeline answers."""
    service = Service({"small": nlp}, Limits(max_chars=20_000))
    service.warm()
    with running(service) as url:
        yield url
