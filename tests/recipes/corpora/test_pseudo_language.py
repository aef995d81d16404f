from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.recipes.corpora.pseudo_language import Noise, PseudoLanguage, pseudo_bitext

WORDS = st.text(alphabet="abDe-1é", min_size=1, max_size=6)


@given(words=st.lists(WORDS, max_size=60), seed=st.integers(0, 5))
@settings(max_examples=30, deadline=None)
def test_two_words_never_become_one(words, seed):
    language = PseudoLanguage(seed)
    assert len({language.word(word) for word in words}) == len(set(words))


def test_short_words_do_not_run_out():
    language = PseudoLanguage(0)
    words = ["".join(letters) for letters in product("abcdefghijklmnopqrstuvwxyz", "ab", "e")]
    words += [word + "." for word in words] + ["é" + word[1:] for word in words[:40:2]]
    assert len({language.word(word) for word in words}) == len(set(words))


def test_capitals_figures_and_common_endings_stay():
    language = PseudoLanguage(3)
    assert language.word("Paris") == language.word("paris").capitalize()
    assert language.word("NATO") == language.word("nato").upper()
    assert language.word("1998-99") == "1998-99"
    endings = {language.word(word)[-2:] for word in ("walking", "singing", "ring")}
    assert len(endings) == 1


def test_the_same_seed_gives_the_same_language_in_any_order():
    one, other = PseudoLanguage(4), PseudoLanguage(4)
    words = ["harbour", "lighthouse", "Ferry"]
    assert [one.word(word) for word in words] == [other.word(word) for word in reversed(words)][::-1]


@pytest.mark.parametrize("seed", [0, 1])
def test_links_without_noise_tell_the_origin_of_every_word(seed):
    random = np.random.default_rng(seed)
    sentences = [[f"word{'abcdefgh'[i]}" for i in random.integers(8, size=n)] for n in (1, 2, 9, 30)]
    bitext = pseudo_bitext(sentences, PseudoLanguage(1), seed, Noise(wrong=0.0))
    for links, origin, words in zip(bitext.links, bitext.origin, bitext.words, strict=True):
        assert sorted(links) == sorted((i, j) for j, i in enumerate(origin))
        assert len(words) == len(origin) > 0
    assert bitext.carried(sentences)[2] == [sentences[2][i] for i in bitext.origin[2]]


def test_noise_comes_in_the_amounts_asked_for():
    sentences = [[f"{letter}ower" for letter in "abcdefghijklmnopqrst"] for _ in range(300)]
    bitext = pseudo_bitext(sentences, PseudoLanguage(1), 0, Noise(swap=0.0, delete=0.1, split=0.2, wrong=0.3))
    sources = 300 * 20
    origins = [(s, i) for s, origin in enumerate(bitext.origin) for i in origin]
    kept = len(set(origins))
    assert kept / sources == pytest.approx(0.9, abs=0.02)
    assert (len(origins) - kept) / kept == pytest.approx(0.2, abs=0.02)
    wrong = sum(bitext.origin[s][j] != i for s, links in enumerate(bitext.links) for i, j in links)
    assert wrong / len(bitext.links) == pytest.approx(0.3 * 0.95, abs=0.03)


def test_grouped_words_keep_together():
    sentences = [["in", "New", "York", "City", "today"]] * 50
    bitext = pseudo_bitext(sentences, PseudoLanguage(1), 0, Noise(0.5, 0.0, 0.0, 0.0), [[0, 1, 1, 1, 2]] * 50)
    for origin in bitext.origin:
        at = origin.index(1)
        assert origin[at : at + 3] == [1, 2, 3]
    assert len({tuple(origin) for origin in bitext.origin}) > 1
