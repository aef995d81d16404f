from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.tasks.segmentation.multiwords import Multiwords, Script, Split, lower, scripts_of

SPANISH = [
    ("dámelo", ("da", "me", "lo")),
    ("tómalo", ("toma", "lo")),
    ("verlo", ("ver", "lo")),
    ("hacerlo", ("hacer", "lo")),
    ("decirlo", ("decir", "lo")),
    ("tenerlo", ("tener", "lo")),
    ("del", ("de", "el")),
    ("suelo", None),
    ("abuelo", None),
    ("cielo", None),
    ("pelo", None),
    ("casa", None),
]  # fmt: skip


def learn(pairs: list[tuple[str, Split]], times: int = 3) -> Multiwords:
    return Multiwords.learn([([token for token, _ in pairs], [split for _, split in pairs])] * times)


@settings(deadline=None)
@given(st.text(alphabet="abcAé'", min_size=1, max_size=8), st.lists(st.text(alphabet="abcé'", min_size=1), min_size=2))
def test_a_script_makes_the_words_it_was_made_of(token: str, words: list[str]) -> None:
    small = [lower(word) for word in words]
    for script in scripts_of(token, words):
        assert script.fits(lower(token))
        assert list(script.apply(lower(token))) == small


@settings(deadline=None)
@given(st.text())
def test_lower_case_keeps_the_length(text: str) -> None:
    assert len(lower(text)) == len(text)


def test_known_tokens_are_split_as_they_were() -> None:
    found = learn(SPANISH)
    assert found.split(["dámelo", "casa", "del"]) == {0: ("da", "me", "lo"), 2: ("de", "el")}


def test_tokens_never_met_are_split_by_their_letters() -> None:
    found = learn(SPANISH)
    assert found.split(["la", "comerlo", "duelo", "mesa"]) == {1: ("comer", "lo")}


def test_neighbours_decide_about_tokens_that_were_met_in_two_ways() -> None:
    runs: list[tuple[list[str], list[Split]]] = [
        (["il", "parle", "des", "gens"], [None, None, ("de", "les"), None]),
        (["il", "a", "des", "gens"], [None] * 4),
    ]
    found = Multiwords.learn(runs * 8)
    assert found.split(["elle", "parle", "des", "chats"]) == {2: ("de", "les")}
    assert found.split(["elle", "a", "des", "chats"]) == {}


@pytest.mark.parametrize(
    ("token", "words"),
    [("del", ("de", "el")), ("Del", ("De", "el")), ("DEL", ("DE", "EL")), ("Verlo", ("Ver", "lo")),
     ("VERLO", ("VER", "LO")), ("Dámelo", ("Da", "me", "lo"))],
)  # fmt: skip
def test_words_follow_the_casing_of_the_token(token: str, words: tuple[str, ...]) -> None:
    assert learn(SPANISH).split([token]) == {0: words}


def test_words_that_spell_the_token_keep_its_letters() -> None:
    found = learn([("didn't", ("did", "n't")), ("isn't", ("is", "n't")), ("it", None)])
    assert found.split(["DiDN't"]) == {0: ("DiD", "N't")}


def test_prefixes_are_taken_off_too() -> None:
    pairs: list[tuple[str, Split]] = [(f"ba{stem}", ("b", "ha", stem)) for stem in ("yit", "sefer", "kol", "gan")]
    found = learn([*pairs, ("kol", None), ("yit", None), ("sefer", None)])
    assert found.split(["balul"]) == {0: ("b", "ha", "lul")}


def test_a_slip_in_the_data_is_not_followed() -> None:
    runs: list[tuple[list[str], list[Split]]] = [(["du"], [("de", "le")])] * 199 + [(["du"], [None])]
    assert Multiwords.learn(runs).split(["du"]) == {0: ("de", "le")}


def test_without_splits_there_is_nothing_to_learn() -> None:
    found = learn([("a", None), ("b", None)])
    assert found.empty
    assert found.split(["a", "b", "ab"]) == {}


def test_what_is_saved_splits_alike() -> None:
    found = learn(SPANISH)
    header, arrays = found.state()
    again = Multiwords.from_state(json.loads(json.dumps(header)), arrays)
    tokens = ["dámelo", "comerlo", "duelo", "DEL", "casa"]
    assert again.split(tokens) == found.split(tokens)
    assert not again.empty


def test_a_script_needs_a_stem() -> None:
    assert not Script("", "lo", ("*", "lo"), 0).fits("lo")
    assert Script("", "lo", ("*", "lo"), 0).fits("alo")
