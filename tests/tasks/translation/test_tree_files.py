"""Trees from files and parsers, and translators' files that hold what was learned from them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from shift_reduce_twins import TEXTS

from weft import storage
from weft.errors import ConfigError, DataError, ModelError
from weft.tasks.translation import translation
from weft.tasks.translation.translator import Translator
from weft.tasks.translation.tree_files import read_trees

SLUG = "shift-reduce-string-to-dependency"


def conllu(path: Path) -> Path:
    """The trees of the small bitext as a file."""
    lines = []
    for english, heads, tags, *_ in TEXTS:
        for k, (word, head, tag) in enumerate(zip(english.split(), heads, tags.split(), strict=True), start=1):
            lines.append("\t".join([str(k), word, "_", tag, "_", "_", str(head), "dep" if head else "root", "_", "_"]))
        lines.append("")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def sides() -> tuple[list[str], list[str]]:
    return [row[3] for row in TEXTS], [row[0] for row in TEXTS]


def trained(folder: Path) -> Translator:
    return translation.train(*sides(), trees=conllu(folder / "trees.conllu"))[0]


def test_a_file_keeps_what_was_learned_from_trees(tmp_path: Path) -> None:
    before = trained(tmp_path)
    before.weights["dependency model"] = 0.7
    before.save(tmp_path / "model.weft")
    after = Translator.load(tmp_path / "model.weft")
    assert after.weights == before.weights
    for source in ("d man e hund s", "e hund p", "d Oslo w e man s"):
        one, other = before.translate(source), after.translate(source)
        assert (one.words, one.heads) == (other.words, other.heads)
        assert one.score == pytest.approx(other.score, abs=1e-4)


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.weft"
    trained(tmp_path).save(path)
    header, arrays = storage.load(path)
    heads = arrays["trees/heads"].copy()
    heads[0] = 99
    storage.save(path, header, {**arrays, "trees/heads": heads})
    with pytest.raises(ModelError, match="not within its piece"):
        Translator.load(path)
    storage.save(path, header, {**arrays, "trees/tokens": arrays["trees/tokens"] + np.int32(10**6)})
    with pytest.raises(ModelError, match="damaged"):
        Translator.load(path)
    del arrays["trees/slots"]
    storage.save(path, header, arrays)
    with pytest.raises(ModelError, match="missing"):
        Translator.load(path)


def test_trees_are_those_of_the_sentences(tmp_path: Path) -> None:
    path = conllu(tmp_path / "trees.conllu")
    words = [row[0].split() for row in TEXTS]
    heads, tags = read_trees(path, [[], *words])
    assert heads == [[], *(row[1] for row in TEXTS)]
    assert tags[1] == ["D", "N", "V", "D", "N"]
    with pytest.raises(DataError, match="trees of 5 sentences, but 4 target lines"):
        read_trees(path, words[1:])
    with pytest.raises(DataError, match="target line 1 has 5 words, but the line has 4"):
        read_trees(path, [words[0][1:], *words[1:]])


def test_a_pipeline_parses_the_target_side() -> None:
    heads, tags = read_trees("en", [["the", "dog", "sleeps"], ["a", "man", "sees", "it"]])
    assert heads == [[2, 3, 0], [2, 3, 0, 3]]
    assert tags[0] == ["DET", "NOUN", "VERB"]


def test_held_out_line_search_has_no_trees(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="has no trees for its folds"):
        translation.train(*sides(), dev=sides(), tune="hols", trees=conllu(tmp_path / "trees.conllu"))


def test_the_command_builds_trees(weft, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    for name, side in zip(("a", "b"), sides(), strict=True):
        (tmp_path / name).write_text("\n".join(side) + "\n", encoding="utf-8")
    model, trees = str(tmp_path / "m.weft"), str(conllu(tmp_path / "t.conllu"))
    weft("train", "translation", str(tmp_path / "a"), str(tmp_path / "b"), "--trees", trees, "--out", model)
    shown = weft("translate", str(tmp_path / "a"), "--model", model, "--trace").stdout
    assert "heads: 2 3 0 5 3" in shown
