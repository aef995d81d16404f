"""Texts of 50,000 characters without a full stop: every kind of component takes bounded memory in bounded blocks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest
from long_models import MODELS, RAW, long_doc, treebank

from weft.deadline import Stopped, stop_when
from weft.infer.trees.projectivity import is_projective, is_tree
from weft.pipeline.component import Asked
from weft.text.conventions.alternatives import alternatives
from weft.text.doc import Doc
from weft.text.frames import FrameRow, set_frames
from weft.text.layers import SpanLayer
from weft.text.validity import check_doc

CHARS = 50_000
#: What one text may take above what the process has, in bytes: a sentence's budget, and its document.
MOST = 700e6
#: Checks whether to stop until a text is given up: a few blocks show what a block takes.
CHECKS = 3
STATUS = Path("/proc/self/status")
READ_TREES = ("relations", "hedge", "roles", "roles-bins", "amr", "scope", "preferences")


@contextmanager
def stopped_after(checks: int) -> Iterator[list[int]]:
    """Stop the work inside the block after that many checks; gives the list of checks."""
    done: list[int] = []

    def condition() -> bool:
        done.append(1)
        return len(done) > checks

    with stop_when(condition), suppress(Stopped):
        yield done


def memory(key: str) -> float:
    return next(float(line.split()[1]) * 1024 for line in STATUS.read_text().splitlines() if line.startswith(key))


@contextmanager
def limited_memory() -> Iterator[None]:
    """The work inside the block may take `MOST` bytes."""
    Path("/proc/self/clear_refs").write_text("5")
    before = memory("VmRSS")
    yield
    assert memory("VmHWM") - before < MOST


def text_for(name: str) -> Doc:
    """A document of one sentence of 50,000 characters for a model."""
    if name == "constituents":
        return Doc("我喜欢茶学生她在图书馆看书" * (CHARS // 13))
    doc = long_doc(CHARS // 4, parsed=name in READ_TREES)
    if name == "amr":
        doc.spans["entities"] = SpanLayer(doc.strings)
    if name in ("roles-joint", "preferences"):  # predicates are given
        set_frames(doc, [FrameRow(i, "see.01") for i, tag in enumerate(doc.column("upos")) if tag == "VERB"])
    return Doc(doc.text[:CHARS]) if name in RAW else doc


@pytest.mark.skipif(not STATUS.exists(), reason="peaks of memory are read from /proc")
@pytest.mark.parametrize("name", MODELS)
def test_a_long_text_takes_bounded_memory(name: str) -> None:
    model = MODELS[name]()
    first = treebank().subset([0]) if name not in RAW else Doc("新书")
    if name in ("roles-joint", "preferences"):
        set_frames(first, [FrameRow(2, "see.01")])
    model([first])
    doc = text_for(name)
    with limited_memory(), stopped_after(CHECKS):
        model([doc])


@pytest.mark.skipif(not STATUS.exists(), reason="peaks of memory are read from /proc")
@pytest.mark.parametrize("name", ["graph-parser mst1", "graph-parser mst2 all", "transfer-parser"])
def test_probabilities_and_alternatives_take_bounded_memory(name: str) -> None:
    model = MODELS[name]()
    doc = long_doc(510, parsed=False)
    with limited_memory():
        model([doc], probabilities=True, kbest=2)
    check_doc(doc)


@pytest.mark.skipif(not STATUS.exists(), reason="peaks of memory are read from /proc")
@pytest.mark.parametrize("name", ["flors", "tagger", "lemmatizer", "segmenter"])
def test_one_long_word_takes_bounded_memory(name: str) -> None:
    model = MODELS[name]()
    doc = Doc("a" * CHARS)
    if name not in RAW:
        doc = Doc.from_words([["a" * CHARS]], upos=[["NOUN"]], xpos=[["NOUN"]])
    with limited_memory():
        model([doc])
    check_doc(doc)


PARSERS = [
    "graph-parser mst1",
    "graph-parser mst3 all",
    "graph-parser mst2 nonprojective",
    "induced-parser",
    "parser beam",
]


@pytest.mark.parametrize("name", PARSERS)
def test_windows_of_a_long_sentence_form_one_tree(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parser = MODELS[name]()
    monkeypatch.setattr(parser, "longest", lambda asked: 40)
    doc = long_doc(150, parsed=False)
    parser([doc])
    check_doc(doc)
    assert doc.head is not None
    assert is_tree(doc.head)
    assert (doc.head == 0).sum() == 1
    if "nonprojective" not in name:
        assert is_projective(doc.head)
    attached = [i for i in np.flatnonzero(doc.head == int((doc.head == 0).argmax()) + 1).tolist() if i >= 40]
    assert attached
    assert "root" not in [doc.column("deprel")[i] for i in attached]
    assert doc.meta["windows"] == {
        parser.task: "1 sentence of 150 words was annotated in windows of at most 40",
    }


def test_sentences_within_the_limit_are_annotated_as_before() -> None:
    parser = MODELS["graph-parser mst2"]()
    one, other = long_doc(60, parsed=False), long_doc(60, parsed=False)
    parser([one], probabilities=True, kbest=2)
    parser.annotate([other], Asked(True, 2))
    assert one.same(other)
    assert "windows" not in one.meta


def test_graphs_and_phrases_of_windows_are_joined() -> None:
    graphs = MODELS["graphs"]()
    doc = long_doc(1100)
    graphs([doc])
    heads = [int(edge.split(":")[0]) for row in doc.column("deps") for edge in row.split("|")]
    assert max(heads) <= 1100
    assert sum(row.startswith("0:") for row in doc.column("deps")) == 1
    phrases = MODELS["constituents words"]()
    words = long_doc(900, parsed=False)
    phrases([words])
    assert words.constituents is not None
    assert words.constituents[0] == ("TOP", 0, 900, -1)
    assert sum(row.parent < 0 for row in words.constituents) == 1


def test_a_sentence_in_windows_has_probabilities_but_no_alternatives(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = MODELS["graph-parser mst1"]()
    monkeypatch.setattr(parser, "longest", lambda asked: 40)
    doc = Doc.from_words([["dogs"] * 50, ["cats"] * 5], upos=[["NOUN"] * 50, ["NOUN"] * 5])
    parser([doc], probabilities=True, kbest=2)
    assert ((doc.confidence["head"] >= 0) & (doc.confidence["head"] <= 1)).all()
    first, second = alternatives(doc, parser.task)
    assert (first, len(second)) == ([], 2)


def test_a_guide_is_read_in_windows_too(monkeypatch: pytest.MonkeyPatch) -> None:
    gold = treebank()
    guided = gold.subset(range(gold.n_sentences))
    assert gold.head is not None
    guided.set_column("misc", [f"Guide={head}" for head in gold.head.tolist()])
    from weft.tasks.parsing.mst.parser import MSTParser, MSTSettings

    parser = MSTParser(MSTSettings(system="mst1", epochs=1, bits=14, guide="Guide"))
    parser.fit([guided])
    doc, other = (long_doc(250, parsed=False) for _ in range(2))
    for each in (doc, other):
        each.set_column("misc", [f"SpaceAfter=No|Guide={i}" for i in range(250)])
    monkeypatch.setattr(parser, "longest", lambda asked: 50)
    parser([doc])
    monkeypatch.setattr("weft.tasks.parsing.mst.parser.MARKED_ARCS", 5000)
    parser([other], probabilities=True)
    assert doc.head is not None
    assert other.head is not None
    assert doc.head.tolist() == other.head.tolist()
    assert is_tree(doc.head)
    assert doc.column("misc")[200] == "SpaceAfter=No|Guide=200"
