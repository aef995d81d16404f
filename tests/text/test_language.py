"""Languages of texts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import weft
from weft import storage
from weft.errors import ModelError
from weft.text import language
from weft.text.language import (
    MODEL,
    NONE,
    SCRIPTS,
    LanguageModel,
    foreign_language,
    language_of,
    languages_of,
    letters_of,
    ngrams,
    normalized,
    probabilities_of,
)

TEXTS = {
    "en": "The old lighthouse stood on a black rock. Nobody had lived there for many years.",
    "de": "Der alte Leuchtturm stand auf einem schwarzen Felsen. Seit vielen Jahren wohnte niemand mehr dort.",
    "fr": "Le vieux phare se dressait sur un rocher noir. Personne n'y avait vécu depuis de longues années.",
    "es": "El viejo faro se alzaba sobre una roca negra. Nadie había vivido allí desde hacía muchos años.",
    "it": "Il vecchio faro sorgeva su una roccia nera. Da molti anni nessuno ci aveva più abitato.",
    "pt": "O velho farol ficava sobre uma rocha negra. Ninguém morava ali havia muitos anos.",
    "nl": "De oude vuurtoren stond op een zwarte rots. Er had al vele jaren niemand meer gewoond.",
    "sv": "Den gamla fyren stod på en svart klippa. Ingen hade bott där på många år.",
    "fi": "Vanha majakka seisoi mustalla kalliolla. Siellä ei ollut asunut ketään moniin vuosiin.",
    "pl": "Stara latarnia morska stała na czarnej skale. Od wielu lat nikt tam nie mieszkał.",
    "ru": "Старый маяк стоял на чёрной скале. Уже много лет там никто не жил.",
    "uk": "Старий маяк стояв на чорній скелі. Вже багато років там ніхто не жив.",
    "tr": "Eski deniz feneri siyah bir kayanın üzerinde duruyordu. Orada uzun yıllardır kimse yaşamamıştı.",
    "hu": "A régi világítótorony egy fekete sziklán állt. Sok éve nem lakott ott senki.",
    "ar": "كانت المنارة القديمة تقف على صخرة سوداء ولم يسكن فيها أحد منذ سنوات طويلة",
    "el": "Ο παλιός φάρος στεκόταν πάνω σε έναν μαύρο βράχο. Κανείς δεν είχε ζήσει εκεί για πολλά χρόνια.",
    "zh": "古老的灯塔矗立在一块黑色的岩石上。那里已经很多年没有人住了。",
    "ja": "古い灯台は黒い岩の上に立っていた。何年もの間、そこには誰も住んでいなかった。",
    "ko": "오래된 등대는 검은 바위 위에 서 있었다. 그곳에는 여러 해 동안 아무도 살지 않았다.",
    "hi": "पुराना प्रकाशस्तंभ एक काली चट्टान पर खड़ा था।",
    "ka": "ძველი შუქურა შავ კლდეზე იდგა.",
    "sr": "Стари светионик стајао је на црној стени. Тамо већ много година нико није живео.",
}


@pytest.mark.parametrize("code", TEXTS)
def test_the_language_of_plain_sentences_is_told(code: str) -> None:
    assert weft.language_of(TEXTS[code]).code == code


def test_a_batch_gives_what_single_texts_give() -> None:
    assert languages_of(list(TEXTS.values())) == [language_of(text) for text in TEXTS.values()]


@pytest.mark.parametrize("text", ["", " ", "12:45", "...", "https://example.org/der-alte-leuchtturm", "@anna #berlin"])
def test_a_text_without_letters_has_no_language(text: str) -> None:
    assert language_of(text) == NONE
    assert probabilities_of(text) == {}
    assert foreign_language(text, "English") is None


def test_case_digits_addresses_and_the_form_of_letters_do_not_matter() -> None:
    plain = language_of("Élan vital et liberté")
    assert language_of("  ÉLAN vital 12, et «liberté» www.example.org!") == plain
    assert language_of("E\u0301lan vital et liberte\u0301") == plain
    assert normalized("l\u2019eau") == " l'eau "


@given(st.text(max_size=200))
def test_any_text_has_a_language_with_a_probability(text: str) -> None:
    found = language_of(text)
    assert 0.0 <= found.probability <= 1.0
    assert (found == NONE) == (not len(letters_of(text)))
    foreign_language(text, "English")


def test_lone_surrogates_and_long_words_are_read() -> None:
    assert language_of("\ud800 the old lighthouse stood on a black rock").code == "en"
    assert language_of("ab://" * 1_000_000) == NONE


@given(st.text(alphabet="ab ", max_size=30))
def test_ngrams_are_those_within_words(text: str) -> None:
    codes = letters_of(text)
    words = [f" {word} " for word in normalized(text).split()]
    expected = sum(len(word) - 2 for word in words)
    expected += sum(max(0, len(word) - n + 1) for word in words for n in (2, 3, 4))
    assert len(ngrams(codes, 1000) if len(codes) else []) == expected


# Notices.


def test_another_language_is_told_if_it_is_sure() -> None:
    found = foreign_language(TEXTS["de"], "English")
    assert found is not None
    assert (found.code, found.name) == ("de", "German")
    assert foreign_language(TEXTS["hi"] * 2, "English").name == "Hindi"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TEXTS["de"], "German"),
        (TEXTS["de"][:50], "English"),
        (TEXTS["de"], "Klingon"),
        (TEXTS["de"], ""),
        (TEXTS["pt"], "Galician"),
        (TEXTS["en"], "English"),
        (
            "x = [f(y) for y in range(10)]; print(x); import os, sys; def main(argv): return os.path.join(*argv)",
            "English",
        ),
        ("GTCACCGTAGGGCTAAATGCTAGCTAGGATCGATTACGATCGATCGGGATATCGCGCGATATAGCTAGCATCGAGAGGCTA", "English"),
        (
            "Angela Merkel, François Hollande, Silvio Berlusconi met Donald Tusk and Mariano Rajoy in Brussels.",
            "English",
        ),
    ],
)
def test_nothing_is_told_in_doubt(text: str, expected: str) -> None:
    assert foreign_language(text, expected) is None


# The model.


def test_the_model_is_small_and_tells_what_it_learned_from() -> None:
    header, arrays = storage.load(MODEL)
    assert MODEL.stat().st_size <= 400_000
    assert len(header["languages"]) + len(SCRIPTS) >= 60
    assert header["licence"].startswith("CC BY-SA 4.0")
    assert len(header["corpora"]) > 50
    assert not [name for name, licence in header["corpora"].items() if "NC" in licence or "restricted" in licence]
    assert header["settings"]["seed"] == 0
    assert arrays["embeddings"].dtype == np.int8


def test_a_file_that_is_no_model_of_languages_is_refused() -> None:
    header, arrays = storage.load(MODEL)
    for wrong in ({}, {**arrays, "weights": arrays["weights"][:, 1:]}):
        with pytest.raises(ModelError, match="not a model of languages"):
            LanguageModel(header, wrong)


def test_the_scripts_are_in_order_and_apart() -> None:
    bounds = [bound for first, last, *_ in SCRIPTS for bound in (first, last)]
    assert bounds == sorted(bounds)
    assert not {row[2] for row in SCRIPTS} & set(language.model().codes)
