"""Reductions of captions: the paper's examples word by word, through the parser of the shipped model."""

from __future__ import annotations

import pytest

from weft.tasks.denotations.captions import CaptionParser, normal_spelling
from weft.tasks.denotations.phrases import Heads, analysed
from weft.tasks.denotations.rules import KINDS, units_of

LEXICON = {
    "man": ["adult"],
    "woman": ["adult"],
    "adult": ["person"],
    "boy": ["child"],
    "toddler": ["child"],
    "poodle": ["dog"],
    "dog": ["animal"],
    "mouse": ["animal"],
    "shirt": ["clothing"],
    "hat": ["clothing"],
    "shoe": ["clothing"],
    "hockey player": ["player"],
    "mug": ["cup"],
}


@pytest.fixture(scope="module")
def parser():
    return CaptionParser()


@pytest.fixture(scope="module")
def reduce(parser):
    """All strings of a caption, and its edges by kind."""

    def strings(text, attested=lambda modifier, head: True, lexicon=LEXICON):
        numbers: dict[str, int] = {}
        heads = Heads(lexicon)
        units = units_of(
            analysed(parser([text])[0], heads), heads, lambda w: numbers.setdefault(w, len(numbers)), attested
        )
        words, found, edges = list(numbers), set(), set()

        def written(unit, state):
            return " ".join(words[symbol] for symbol in unit.string(state))

        for unit in units:
            states, work = set(unit.roots), list(unit.roots)
            while work:
                state = work.pop()
                for rule in unit.rules:
                    child = rule.applied(state)
                    if child >= 0:
                        edges.add((written(unit, state), KINDS[rule.kind], written(unit, child)))
                        if child not in states:
                            states.add(child)
                            work.append(child)
            found |= {written(unit, state) for state in states}
        return found, edges

    return strings


check = pytest.mark.must_show("visual-denotations", 3)


@check
def test_an_ice_hockey_player_is_a_hockey_player_and_no_ice_player(reduce):
    found, _ = reduce("An ice hockey player.", lambda modifier, head: (modifier, head) == ("hockey", "player"), {})
    assert found == {"ice hockey player", "hockey player", "player"}
    listed, edges = reduce("An ice hockey player.", lambda modifier, head: False)
    assert listed == {"ice hockey player", "hockey player", "player"}
    assert ("player", "NPHEAD", "hockey player") in edges


@check
def test_a_white_stone_building_is_white_and_of_stone(reduce):
    found, _ = reduce("A white stone building.")
    assert found == {"white stone building", "white building", "stone building", "building"}


@check
def test_an_older_toddler_is_no_older_child_and_a_large_mouse_no_large_animal(reduce):
    found, _ = reduce("An older toddler.")
    assert found == {"older toddler", "toddler", "child"}
    found, _ = reduce("A large white mouse.")
    assert {"large mouse", "white mouse", "white animal"} <= found
    assert not {"large animal", "large white animal"} & found


@check
def test_a_cup_of_tea_is_a_cup_and_tea_and_a_body_of_water_is_neither(reduce):
    assert reduce("A cup of tea.")[0] == {"cup of tea", "cup", "tea"}
    assert reduce("A body of water.")[0] == {"body of water"}
    assert reduce("A kind of bread.")[0] == {"bread"}
    found, edges = reduce("A group of men run.")
    assert {"group run", "man run", "person run", "group of man run"} <= found
    assert {("man", "Xof", "group of man"), ("group", "ofY", "group of person")} <= edges


@check
def test_verbs_before_to_are_true_both_or_first_or_second(reduce):
    both, _ = reduce("A boy jumps to catch a ball.")
    assert {"boy jump", "boy catch ball", "boy jump to catch ball"} <= both
    first, _ = reduce("A boy waits to jump.")
    assert "boy wait" in first
    assert not {"jump", "boy jump"} & first
    second, _ = reduce("A boy seems to jump.")
    assert "boy jump" in second
    assert not {"seem", "boy seem"} & second


@check
def test_walk_down_a_street_is_walk_and_climb_up_a_mountain_is_climb_a_mountain(reduce):
    walk, _ = reduce("A woman walks down a street.")
    assert "woman walk" in walk
    assert not {"walk street", "walk down"} & walk
    climb, _ = reduce("A man climbs up a mountain.")
    assert {"man climb mountain", "man climb up mountain"} <= climb


@check
def test_a_man_who_laughs_while_drinking_laughs_and_drinks(reduce):
    found, _ = reduce("A man laughs while drinking.", lexicon={})
    assert found == {
        "man laugh while drink", "man laugh", "man drink", "laugh while drink", "man", "laugh", "drink"
    }  # fmt: skip


@check
def test_light_verbs_keep_their_objects(reduce):
    found, _ = reduce("A man plays baseball.", lexicon={})
    assert found == {"man", "baseball", "play baseball", "man play baseball"}


def test_in_and_dressed_in_clothing_is_wear(reduce):
    for text in ("A man in a red hat stands.", "A man dressed in a red hat stands."):
        found, edges = reduce(text, lexicon={"hat": ["clothing"]})
        assert {"man wear red hat standing", "wear red hat", "man standing", "wear red clothing"} <= found
        assert any(kind == "WEAR" for _, kind, _ in edges)
        assert not any(" in " in f" {phrase} " for phrase in found)


def test_nouns_of_two_classes_are_not_coordinated(reduce):
    found, _ = reduce("A man with red shoes and a white-haired woman are walking.")
    assert {"man and woman walk", "man with shoe walk", "white-haired woman"} <= found
    assert not {"shoe and woman", "red shoe and woman", "with shoe and woman"} & found


def test_numbers_become_two_three_or_some_and_no_stays(reduce):
    assert "two man" in reduce("Two men run.")[0]
    assert "some man" in reduce("Several men run.")[0]
    assert "some man" in reduce("A couple of men run.")[0]
    assert "no shirt" in reduce("A man with no shirt.")[0]
    assert reduce("The man.", lexicon={})[0] == {"man"}


def test_phrases_of_prepositions_that_change_the_sense_stay(reduce):
    found, _ = reduce("A picture of a dog in a park.", lexicon={})
    assert {"picture of dog", "picture of dog in park", "dog"} <= found
    assert "picture" not in found


def test_spellings_are_one():
    assert normal_spelling("A grey BBQ &amp; a T shirt") == "A gray barbecue and a t-shirt."
    assert normal_spelling("brown haired men water skiing") == "brown-haired men waterskiing."
    assert normal_spelling("  ") == "."


def test_a_noun_in_s_after_a_person_is_a_verb(parser):
    assert [token.tag for token in parser(["A man picks up a ball."])[0]][:3] == ["DT", "NN", "VBZ"]


def test_a_caption_with_more_parts_than_atoms_is_split(reduce, parser):
    text = " and ".join(f"a man in a red hat with {k} small dogs on a green field near a tall tree" for k in range(9))
    numbers: dict[str, int] = {}
    heads = Heads(LEXICON)
    units = units_of(
        analysed(parser([text])[0], heads), heads, lambda w: numbers.setdefault(w, len(numbers)), lambda m, h: True
    )
    assert len(units) > 1
    assert all(atom < 63 for unit in units for _, atom in unit.slots)
