"""Components that are asked for more than they can take, or told to stop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from weft import budget
from weft.budget import TooLarge, afford
from weft.deadline import Stopped, check, deadline, stop_when
from weft.pipeline.component import Asked, Component, State
from weft.pipeline.pipeline import Pipeline
from weft.storage import Arrays
from weft.text.doc import Doc


class Chain(Component):
    """Attaches every word to the one before it; takes a megabyte per pair of words."""

    task = "chain"
    provides = ("head",)

    def __init__(self, longest: int = 0) -> None:
        self.limit, self.seen = longest, list[list[int]]()

    def longest(self, asked: Asked) -> int:
        return self.limit

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        sizes = [np.diff(doc.sentence_offsets).tolist() for doc in docs]
        for n in (n for own in sizes for n in own):
            check()
            afford(n, n * n * 1e6)
        self.seen += sizes
        for doc, own in zip(docs, sizes, strict=True):
            doc.head = np.concatenate([np.arange(n) for n in own]).astype(np.int32)

    def state(self) -> State:
        return {}, {}

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> Chain:
        return cls()


def doc(*sizes: int) -> Doc:
    return Doc.from_words([["a"] * n for n in sizes])


def test_only_sentences_above_the_limit_are_cut() -> None:
    chain, one, other = Chain(longest=10), doc(10, 25), doc(3)
    chain([one, other])
    assert chain.seen == [[3], [10, 10, 10, 5]]
    assert one.n_sentences == 2
    assert one.meta["windows"] == {"chain": "1 sentence of 25 words was annotated in windows of at most 10"}
    assert "windows" not in other.meta


def test_what_is_too_large_is_halved_until_it_fits() -> None:
    chain, one = Chain(), doc(100, 20, 50)
    chain([one])
    assert chain.seen == [[12] * 8 + [4] + [20] + [12] * 4 + [2]]
    assert one.meta["windows"] == {"chain": "2 sentences of up to 100 words were annotated in windows of at most 12"}
    assert one.head is not None
    assert (one.head == 0).sum() == 3


def test_what_never_fits_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "SENTENCE_BYTES", 10)
    with pytest.raises(TooLarge, match="a sentence of 3 words needs 9 MB"):
        Chain()([doc(12)])


def test_work_outside_a_component_has_no_limit() -> None:
    Chain().annotate([doc(1000)], Asked())


def test_a_pipeline_stops_between_components_and_within() -> None:
    chain = Chain()
    with pytest.raises(Stopped), stop_when(deadline(0)):
        Pipeline([chain])(doc(3))
    assert chain.seen == []
    blocks: list[int] = []
    with pytest.raises(Stopped), stop_when(lambda: len(blocks) > 2 or blocks.append(1) is not None):
        Pipeline([chain])(doc(*[3] * 50))
    assert chain.seen == []
    Pipeline([chain])(doc(3))


def test_a_stream_that_is_stopped_blames_no_document() -> None:
    blamed: list[Doc] = []
    with pytest.raises(Stopped), stop_when(lambda: True):
        list(Pipeline([Chain()]).pipe([doc(3)], on_error=lambda item, error: blamed.append(item)))
    assert blamed == []
