"""Patterns become paragraphs with known words and sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.errors import DataError
from weft.training import PipelineConfig
from weft.training.config import CorpusSpec
from weft.training.corpora import CorpusReader
from weft.training.patterns import read_patterns


def test_slots_are_filled_in_and_marks_give_tokens_and_sentences(tmp_path: Path) -> None:
    path = tmp_path / "edges.txt"
    path.write_text("# Citations\n= name: Ada Lee\n\n{name} left|.|[|{99}|] // In {year} {A}{9}{aa} fell|.\n")
    docs = read_patterns(path, copies=20)
    assert len({doc.text for doc in docs}) > 10
    for doc in docs:
        first, second = ([word.form for word in sentence.words] for sentence in doc.sentences)
        assert first[:5] == ["Ada", "Lee", "left", ".", "["]
        assert 10 <= int(first[5]) <= 99
        assert 1850 <= int(second[1]) < 2030
        code = second[2]
        assert (code[0].isupper(), code[1].isdigit(), code[2:].islower(), len(code)) == (True, True, True, 4)
        assert doc.text.startswith("Ada Lee left.[")


def test_a_seed_gives_the_same_text_and_another_seed_other_text(tmp_path: Path) -> None:
    path = tmp_path / "edges.txt"
    path.write_text("Code {AAA}{99}\n")
    texts = [[doc.text for doc in read_patterns(path, seed)] for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]


def test_an_unknown_list_is_an_error_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "edges.txt"
    path.write_text("# a comment\nDear {nmae}\n")
    with pytest.raises(DataError, match=r"edges\.txt, line 2: there is no list 'nmae' above it; add a line `= nmae: "):
        read_patterns(path)


def test_a_configuration_trains_on_patterns_beside_it(tmp_path: Path) -> None:
    (tmp_path / "edges.txt").write_text("See p. {9}|.\n")
    corpus = CorpusSpec("Edges", "CC0", ["edges.txt"], read={"format": "patterns"})
    config = PipelineConfig("x", "X", "MIT", [], {"edges": corpus}, path=tmp_path / "x.toml")
    docs = CorpusReader(config).docs(["edges"])
    assert {len(doc.token_start) for doc in docs} == {4}
