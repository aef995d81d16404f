"""Matches of a memory, and translators that consult it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from weft.errors import ConfigError
from weft.infer.decoding.options import Options
from weft.tasks.language_models import lm
from weft.tasks.memory.counterparts import MatchedSentence
from weft.tasks.memory.extension import MemoryExtension
from weft.tasks.memory.memory import TranslationMemory
from weft.tasks.memory.pasting import differences, frame, frame_options, inlay, inlay_options
from weft.tasks.memory.samples import samples_of
from weft.tasks.memory.tables import FEATURES, MODELS, MemoryTables
from weft.tasks.translation.phrases import extract
from weft.tasks.translation.sentences import OPTION_SCORES
from weft.tasks.translation.table import PhraseTable
from weft.tasks.translation.translator import Translator
from weft.text.bitext import Links

SOURCE = [
    "save the file", "close the file", "save the page", "open the old file", "the old page", "print it",
    "print the page",
]  # fmt: skip
TARGET = [
    "guarde el archivo", "cierre el archivo", "guarde la página", "abra el archivo antiguo", "la página antigua",
    "imprímalo", "imprima la página",
]  # fmt: skip
LINKS = Links.of([
    [(0, 0), (1, 1), (2, 2)], [(0, 0), (1, 1), (2, 2)], [(0, 0), (1, 1), (2, 2)], [(0, 0), (1, 1), (2, 3), (3, 2)],
    [(0, 0), (1, 2), (2, 1)], [(0, 0)], [(0, 0), (1, 1), (2, 2)],
])  # fmt: skip


@pytest.fixture(scope="module")
def memory() -> TranslationMemory:
    made = TranslationMemory.of_words([line.split() for line in SOURCE], [line.split() for line in TARGET])
    made.links = LINKS
    return made


@pytest.fixture(scope="module")
def translator() -> Translator:
    sides = [line.split() for line in SOURCE], [line.split() for line in TARGET]
    extraction = extract(*sides, LINKS)
    return Translator.of(extraction, PhraseTable.of(extraction), lm.train(sides[1], 2, "witten-bell"))


@pytest.fixture(scope="module")
def tables() -> MemoryTables:
    match = MatchedSentence([1, 2, 3], [1, 2, 9], [11, 12, 19], [(0, 0), (1, 1), (2, 2)], 2 / 3)
    phrases = [[(0, 2, [11, 12]), (2, 3, [13])], [(0, 1, [11]), (1, 2, [12]), (2, 3, [13])]]
    return MemoryTables.learn([row for each in phrases for row in samples_of(each, match)] * 40)


def test_matches_ignore_case_and_group_equal_segments() -> None:
    memory = TranslationMemory.of(
        [("Save it.", "Guárdelo."), ("save it.", "Sálvelo."), ("Save it.", "Sálvelo."), ("Save :file:`a b`.", "x")]
    )
    best = memory.matches("SAVE it.", k=3)
    assert [round(each.score, 3) for each in best] == [1.0, 0.667]
    assert best[0].unit.target == "Sálvelo."  # the translation that is most frequent
    assert memory.matches("Save :file:`c d`.")[0].score == pytest.approx(2 / 3)  # markup is one word
    assert [each.score for each in memory.matches("save it.", k=1, unlike=True)] == [pytest.approx(2 / 3)]
    assert memory.matches("nothing else", least=0.5) == []


def test_leaving_out_equal_segments_leaves_out_all_copies(memory: TranslationMemory) -> None:
    found = memory.matches(["save", "the", "file"], unlike=True)
    assert found[0].score == pytest.approx(2 / 3)


def test_a_memory_is_read_from_several_files(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("Save it.\tGuárdelo.\n")
    (tmp_path / "b.po").write_text('msgid ""\nmsgstr ""\n\nmsgid "Close it."\nmsgstr "Ciérrelo."\n')
    memory = TranslationMemory.read([tmp_path / "a.tsv", tmp_path / "b.po"])
    assert len(memory) == 2
    assert [each.origin for each in memory.matches("Close it.")] == ["b.po"]
    with pytest.raises(ConfigError, match="align"):
        memory.links_of(0)
    with pytest.raises(ConfigError):
        TranslationMemory.read([])


def test_without_weight_the_memory_changes_nothing(
    memory: TranslationMemory, translator: Translator, tables: MemoryTables
) -> None:
    for model in MODELS:
        zero = MemoryExtension(memory, tables, model, weights=dict.fromkeys(FEATURES[model], 0.0))
        own = Translator(
            translator.table, translator.lm, translator.source_words, translator.target_words,
            translator.weights, extensions=[zero],
        )  # fmt: skip
        for line in ("save the old page", "close it", "print the old file", "unknown words"):
            assert own.translate(line).text == translator.translate(line).text


@pytest.mark.must_show("translation-memory-smt", 3)
def test_forced_decoding_gives_the_reference_and_the_score_of_the_free_search(
    memory: TranslationMemory, translator: Translator, tables: MemoryTables
) -> None:
    extension = MemoryExtension(memory, tables, "III", unlike=True)
    own = Translator(
        translator.table, translator.lm, translator.source_words, translator.target_words, translator.weights,
        extensions=[extension],
    )  # fmt: skip
    reached = 0
    for model in (translator, own):
        for source, target in zip(SOURCE, TARGET, strict=True):
            sentence = model.sentence(source)
            graph = model.force(sentence, target)
            assert not graph.is_empty
            reached += 1
            found = model.told(sentence, graph, graph.best())
            assert found.text == target
            free = model.search(model.sentence(source))
            same = [each for each in free.kbest(2000) if free.words(each) == graph.words(graph.best())]
            assert max(each.score for each in same) == pytest.approx(graph.best().score, abs=1e-9)
        sentence = model.sentence(SOURCE[0])
        assert model.force(sentence, "cierre el archivo").is_empty
    assert reached == 2 * len(SOURCE)


def test_frames_keep_insertions_and_translate_what_differs() -> None:
    # "save the page" with the match "close the file", whose translation begins with an unaligned word
    match = MatchedSentence([1, 2, 3], [4, 2, 5], [20, 14, 12, 15], [(0, 1), (1, 2), (2, 3)], 1 / 3)
    assert differences(match) == [([0], [0]), (None, [1]), ([2], [2])]
    assert frame(match) == [(0, 1), 0, (2, 3), 2]
    inserted = MatchedSentence([1, 7, 2], [1, 2], [11, 12], [(0, 0), (1, 1)], 2 / 3)
    assert frame(inserted) == [(0, 1), 1, (1, 2)]
    deleted = MatchedSentence([1, 3], [1, 2, 3], [11, 12, 13], [(0, 0), (1, 1), (2, 2)], 2 / 3)
    assert frame(deleted) == [(0, 1), (2, 3)]


def options_of(rows: list[tuple[int, int, list[int]]], n: int) -> Options:
    return Options.of(n, rows, np.zeros((len(rows), len(OPTION_SCORES))), OPTION_SCORES)


def test_options_of_frames_and_inlays_cover_the_rest_only() -> None:
    match = MatchedSentence([1, 7, 2], [1, 2], [11, 12], [(0, 0), (1, 1)], 2 / 3)
    options = options_of([(0, 1, [30]), (1, 2, [31]), (2, 3, [32]), (0, 2, [33])], 3)
    framed = frame_options(options, match)
    rows = list(zip(framed.start.tolist(), framed.end.tolist(), map(framed.target, range(len(framed))), strict=True))
    assert framed.length == 3
    assert rows == [(1, 2, [31]), (0, 1, [11]), (2, 3, [12])]
    assert inlay(match) == [((0, 1), (0, 1)), ((2, 3), (1, 2))]
    laid = inlay_options(options, match)
    rows = list(zip(laid.start.tolist(), laid.end.tolist(), map(laid.target, range(len(laid))), strict=True))
    assert rows == [(1, 2, [31]), (0, 1, [11]), (2, 3, [12])]


def test_statistics_count_segments_and_words_by_range(memory: TranslationMemory) -> None:
    found = memory.statistics(["save the file", "save the new file", "nothing"])
    assert found["100 %"] == (1, 3)
    assert found["75-84 %"] == (1, 4)
    assert found["no match"] == (1, 1)
