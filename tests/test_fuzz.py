"""Bad input: whatever the text is, nothing breaks and a document comes out; `make fuzz` does it for longer."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from places import ROOT

import weft as package
from weft.pipeline.pipeline import Pipeline
from weft.text.validity import check_doc

sys.path.append(str(ROOT / "bench"))
from fuzz import kinds
from fuzz import pipelines as parts

Weft = Callable[..., "subprocess.CompletedProcess[str]"]


controls = st.sampled_from(
    [*kinds.CONTROLS, *kinds.INVISIBLE, *kinds.BIDI, *kinds.COMBINING, *kinds.BLANKS, *kinds.QUOTES]
)
texts = st.one_of(
    st.text(max_size=200),
    st.text(controls, max_size=60),
    st.text(st.one_of(controls, st.sampled_from("abc. 'ABC123"), st.characters(min_codepoint=0x10000)), max_size=120),
)


@pytest.fixture(scope="module")
def pipelines(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Pipeline]:
    """A pipeline trained on the examples, and the English one where it is at hand."""
    return parts.named_pipelines(tmp_path_factory.mktemp("models"))


@pytest.mark.parametrize("model", ["small", "en"])
def test_any_text_becomes_a_document_and_survives_files(
    model: str, pipelines: dict[str, Pipeline], tmp_path: Path
) -> None:
    if model not in pipelines:
        pytest.skip("the English model is not at hand")

    @settings(max_examples=60, deadline=None)
    @given(st.lists(texts, min_size=1, max_size=4))
    def check(some: list[str]) -> None:
        parts.check(pipelines[model], some, tmp_path)

    check()


@pytest.mark.parametrize("kind", list(kinds.KINDS))
def test_text_of_every_bad_kind_becomes_documents(kind: str, pipelines: dict[str, Pipeline], tmp_path: Path) -> None:
    source = random.Random(7)
    made = [kinds.KINDS[kind](source) for _ in range(20)]
    for nlp in pipelines.values():
        parts.check(nlp, made, tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        "The ferry left the harbour at nine, and the fog came. ",
        "no end in sight ",
        "abcdefghij",
        "语",
        "(\"'",
        "\u0301",
        "\x00",
        " ",
    ],
    ids=["sentences", "no stop", "one word", "one script", "quotes", "marks", "NUL", "blanks"],
)
def test_a_line_of_a_million_characters_is_annotated(line: str, pipelines: dict[str, Pipeline]) -> None:
    text = (line * (1_000_000 // len(line) + 1))[:1_000_000]
    doc = pipelines["small"](text)
    assert doc.text == text
    check_doc(doc)


def test_words_and_documents_that_are_empty_pass(pipelines: dict[str, Pipeline]) -> None:
    docs = list(pipelines["small"].pipe(["", " ", "\n", "\u200b", "Fine.", ""]))
    assert [doc.n_words > 0 for doc in docs if doc.text != "\u200b"] == [False, False, False, True, False]
    for doc in docs:
        check_doc(doc)


@pytest.fixture(scope="module")
def tagger(tmp_path_factory: pytest.TempPathFactory, examples: Path) -> Path:
    from weft.pipeline.registry import train

    path = tmp_path_factory.mktemp("models") / "tagger.weft"
    train("tagger", package.read(examples / "story.conllu"), None, path, {"epochs": 2})
    return path


@pytest.mark.parametrize("format", ["plain", "conllu", "jsonl", "columns", "penn", "mst", "bioscope", "streusle"])
def test_bytes_that_are_no_text_end_in_one_plain_line(format: str, weft: Weft, tagger: Path, tmp_path: Path) -> None:
    source = random.Random(11)
    (tmp_path / "noise.bin").write_bytes(bytes(source.randrange(256) for _ in range(3000)) + b"\xff\n")
    failed = weft("annotate", "noise.bin", "--from", format, "--model", tagger, "--to", "jsonl")
    assert failed.returncode == 1
    assert failed.stderr.startswith("weft: noise.bin")
    assert "Traceback" not in failed.stderr
    assert len(failed.stderr.strip().splitlines()) == 1


def test_text_in_another_encoding_is_told_with_its_line(weft: Weft, tagger: Path, tmp_path: Path) -> None:
    (tmp_path / "latin.txt").write_bytes("Fine.\n\nUn café.\n".encode("latin-1"))
    failed = weft("annotate", "latin.txt", "--model", tagger, "--to", "jsonl")
    assert failed.returncode == 1
    assert "latin.txt, line 3: expected UTF-8 text, found the byte 0xe9" in failed.stderr
    done = weft("annotate", "latin.txt", "--model", tagger, "--to", "jsonl", "--encoding", "latin-1")
    assert json.loads(done.stdout)["text"] == "Fine.\n\nUn café.\n"


@settings(max_examples=150, deadline=None)
@given(
    st.binary(max_size=300),
    st.sampled_from(["plain", "conllu", "jsonl", "columns", "penn", "mst", "bioscope", "streusle"]),
)
def test_no_bytes_break_a_reader(tmp_path_factory: pytest.TempPathFactory, data: bytes, format: str) -> None:
    path = tmp_path_factory.mktemp("noise") / "noise"
    path.write_bytes(data)
    for skip_bad in (False, True):
        with suppress(package.WeftError):
            for doc in package.read(path, format, skip_bad=skip_bad):
                check_doc(doc)
