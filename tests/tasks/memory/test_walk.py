"""The translator's walk: matches with differences, translation with the memory, catalogues with suggestions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.formats.memories.doors import read_units
from weft.formats.memories.units import TranslationUnit
from weft.formats.memories.words import Spelling, marked_words
from weft.infer.decoding.options import Options
from weft.tasks.memory.counterparts import MatchedSentence
from weft.tasks.memory.differences import html, pieces, shown
from weft.tasks.memory.extension import with_phrases
from weft.tasks.memory.memory import TranslationMemory
from weft.tasks.memory.tables import CONTENT
from weft.tasks.memory.walk import EXACT, MATCH, NOTHING, TRANSLATED, MemoryTranslator, learn_tables
from weft.tasks.translation import translation
from weft.tasks.translation.sentences import OPTION_SCORES
from weft.tasks.translation.translator import Translator

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"
PARTS = ["Use", ":ref:`a b`", "``x y``", ",", ".", "it", "{n}", "%(x)s", "(", ")"]


@pytest.fixture(scope="module")
def translator() -> Translator:
    made, _ = translation.train(
        EXAMPLES / "translation" / "boats.en", EXAMPLES / "translation" / "boats.es", lower=True
    )  # fmt: skip
    return made


@pytest.fixture(scope="module")
def memory() -> TranslationMemory:
    return TranslationMemory.read(EXAMPLES / "memory" / "harbour.tmx", "en", "es")


def test_differences_are_edits_that_give_both_sides_again() -> None:
    found = pieces(["a", "b", "X", "d"], ["a", "c", "d", "e"])
    assert shown(found) == "a [-c-] {+b X+} d [-e-]"
    assert html(found) == "a <del>c</del> <ins>b X</ins> d <del>e</del>"


@settings(deadline=None)
@given(st.lists(st.sampled_from("abc"), max_size=7), st.lists(st.sampled_from("abc"), max_size=7))
def test_pieces_spell_out_segment_and_match(segment: list[str], match: list[str]) -> None:
    found = pieces(segment, match)
    assert [word for piece in found if piece.kind != "removed" for word in piece.words] == segment
    assert [word for piece in found if piece.kind != "added" for word in piece.words] == match


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["Use", ":ref:`a b`", "``x y``", ",", ".", "it", "{n}", "%(x)s", "(", ")"]), max_size=8)
)
def test_markup_stays_whole_and_comes_back_as_it_was(parts: list[str]) -> None:
    words = marked_words(" ".join(parts))
    assert [word for word in words if word not in ",.()"] == [
        part.replace(" ", "_") for part in parts if part not in ",.()"
    ]
    text = Spelling().text([word.lower() for word in words], " ".join(parts))
    for part in parts:
        if part[0] in ":`{%":
            assert part in text


def test_exact_matches_are_taken_over_and_others_are_fuzzy(memory: TranslationMemory) -> None:
    suggests = MemoryTranslator(memory)
    exact = suggests.propose(TranslationUnit("He sells the old door."))
    assert (exact.kind, exact.target) == (EXACT, "Él vende la puerta vieja.")
    assert exact.suggestion() is not None
    assert not exact.suggestion().fuzzy  # type: ignore[union-attr]
    near = suggests.propose(TranslationUnit("She sells the old door."))
    assert (near.kind, near.suggestion().fuzzy) == (MATCH, True)  # type: ignore[union-attr]
    assert shown(near.differences) == "[-He-] {+She+} sells the old door ."
    assert near.origin == "harbour.tmx, 83 %"
    same = suggests.propose(TranslationUnit("HE sells the old door."))
    assert same.kind != EXACT  # another spelling: somebody should look
    assert suggests.propose(TranslationUnit("Quite another thing")).kind == NOTHING


def test_a_translator_consults_the_match_for_every_phrase(memory: TranslationMemory, translator: Translator) -> None:
    suggests = MemoryTranslator(memory, translator)
    found = suggests.propose(TranslationUnit("The captain paints the old ferry."))
    assert (found.kind, found.target) == (TRANSLATED, "El capitán pinta el transbordador viejo.")
    assert found.translation is not None
    assert len(found.evidence) == len(found.translation.steps)
    assert any(each.content == "same" for each in found.evidence)
    assert ", same)" in found.trace()
    assert json.loads(json.dumps(found.record()))["match"]["score"] == pytest.approx(6 / 7)
    placeholder = suggests.propose(TranslationUnit("Save the old list in :file:`Ferries.txt`."))
    assert placeholder.target.startswith("Guarde")  # the phrase table does not have it, the memory does
    assert placeholder.target.endswith("en :file:`Ferries.txt`.")


def test_phrases_of_the_match_are_added_once(memory: TranslationMemory, translator: Translator) -> None:

    match = MatchedSentence([1, 2, 9], [1, 2, 3], [11, 12, 13], [(0, 0), (1, 1), (2, 2)], 2 / 3)
    rows = [(0, 1, [11]), (1, 2, [30]), (2, 3, [31])]
    options = Options.of(3, rows, np.zeros((3, len(OPTION_SCORES))), OPTION_SCORES)
    grown = with_phrases(options, match)
    rows = [(int(grown.start[o]), int(grown.end[o]), grown.target(o)) for o in range(3, len(grown))]
    assert rows == [(0, 2, [11, 12]), (1, 2, [12])]
    assert grown.scores[3, OPTION_SCORES.index("words")] == 2


def test_factors_learned_from_a_memory_prefer_what_it_says(memory: TranslationMemory, translator: Translator) -> None:
    if memory.links is None:
        memory.align()
    table = learn_tables(translator, memory).of[CONTENT].probabilities
    same, low = table[0, :, :, 0, 5:, 0], table[2, :, :, 0, 5:, 0]
    assert same.mean() > 0.5 > low.mean() + 0.2  # the source phrase is the same: so is the target phrase
    np.testing.assert_allclose(table.sum(axis=-1), 1.0)


def test_a_catalogue_gets_suggestions_from_the_command_line(tmp_path: Path, weft) -> None:
    tmx, po, out = EXAMPLES / "memory" / "harbour.tmx", EXAMPLES / "memory" / "harbour-2.po", tmp_path / "out.po"
    done = weft("translate", str(po), "--memory", str(tmx), "--out", str(out))
    assert done.returncode == 0
    assert [unit.state for unit in read_units(out)] == ["translated", *["fuzzy"] * 4, "translated"]
    assert 'msgstr "La lámpara es antigua."' in out.read_text()  # what was there stays
    done = weft("translate", str(po), "--memory", str(tmx), "--json")
    assert [json.loads(line)["kind"] for line in done.stdout.splitlines()] == [EXACT, *[MATCH] * 4]
    done = weft("translate", str(po))
    assert done.returncode != 0
    assert "--model" in done.stderr
    done = weft("translate", str(po), "--memory", str(tmx), "--out", str(tmp_path / "out.xlf"))
    assert "same format" in done.stderr


def test_lines_of_text_keep_their_places(tmp_path: Path, weft, translator: Translator) -> None:
    model, text = tmp_path / "boats.weft", tmp_path / "new.txt"
    translator.save(model)
    text.write_text("He sells the old door.\n\nShe sees the red island.\n")
    done = weft("translate", str(text), "--memory", str(EXAMPLES / "memory" / "harbour.tmx"), "--model", str(model))
    assert done.stdout.split("\n") == ["Él vende la puerta vieja.", "", "Ella ve la isla roja.", ""]
