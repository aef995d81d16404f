"""A small pipeline with all that the page shows, trained on the examples in a few seconds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import weft
from weft.pipeline import Pipeline
from weft.serve import Limits, Service, running
from weft.tasks.registry import component_class


@pytest.fixture(scope="session")
def nlp(examples: Path) -> Pipeline:
    """Words, entities, tags, lemmas and trees."""
    story = list(weft.read(examples / "story.conllu"))
    sources = {
        "segmenter": [*weft.read(examples / "letters.conllu"), *story],
        "ner": list(weft.read(examples / "ferries.conll", fields="form entities")),
        "tagger": story,
        "lemmatizer": story,
        "parser": story,
    }
    components = []
    for task, docs in sources.items():
        component = component_class(task).of_options({})
        component.fit(docs)
        components.append(component)
    return Pipeline(components, {"name": "small", "corpora": ["examples"], "licence": "MIT"})


@pytest.fixture(scope="session")
def address(nlp: Pipeline) -> Iterator[str]:
    """Where a service with that pipeline answers."""
    service = Service({"small": nlp}, Limits(max_chars=20_000))
    service.warm()
    with running(service) as url:
        yield url
