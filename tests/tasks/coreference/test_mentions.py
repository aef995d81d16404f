"""Mentions in trees, properties of mentions, and what features tell of a pair."""

from __future__ import annotations

import numpy as np
import pytest

from weft.tasks.coreference.features import LEXICAL, MOST, PHI, features_of
from weft.tasks.coreference.mentions import Mention, detect, given, marks_possessors, trees_of
from weft.tasks.coreference.properties import Genders, gender_counts, prior_of, values_of
from weft.tasks.coreference.table import QUOTED, SPEAKER, table_of, type_name
from weft.text.doc import Doc
from weft.text.layers import SpanLayer


def parsed(*rows: str) -> Doc:
    """A document from sentences of `form/UPOS/head/relation[/feats]`."""
    cells = [[word.split("/") for word in row.split()] for row in rows]
    return Doc.from_words(
        [[cell[0] for cell in row] for row in cells],
        upos=[[cell[1] for cell in row] for row in cells],
        head=[[int(cell[2]) for cell in row] for row in cells],
        deprel=[[cell[3] for cell in row] for row in cells],
        feats=[[cell[4] if len(cell) > 4 else "" for cell in row] for row in cells],
        lemma=[[cell[0].lower() for cell in row] for row in cells],
    )


def texts(doc: Doc, **options) -> list[str]:
    forms = doc.column("form")
    return [" ".join(forms[start:end]) for start, end, _ in detect(doc, trees_of(doc), **options)]


def test_phrases_have_all_that_belongs_to_them():
    doc = parsed(
        "The/DET/3/det old/ADJ/3/amod queen/NOUN/8/nsubj of/ADP/5/case Spain/PROPN/3/nmod "
        "who/PRON/7/nsubj/PronType=Rel slept/VERB/3/acl:relcl saw/VERB/0/root him/PRON/8/obj ./PUNCT/8/punct"
    )
    assert texts(doc) == ["The old queen of Spain who slept", "Spain", "him"]


def test_coordinations_are_mentions_of_their_own():
    doc = parsed("Ada/PROPN/4/nsubj and/CCONJ/3/cc Bo/PROPN/1/conj sang/VERB/0/root ./PUNCT/4/punct")
    assert texts(doc) == ["Ada and Bo", "Ada", "Bo"]


def test_subjects_and_copulas_are_no_part_of_a_predicate():
    doc = parsed("Ada/PROPN/4/nsubj is/AUX/4/cop a/DET/4/det cook/NOUN/0/root ./PUNCT/4/punct")
    assert texts(doc) == ["Ada", "a cook"]
    table = table_of(doc, detect(doc, trees_of(doc)), trees_of(doc), np.full((2, 4), -1))
    told = set(features_of(table, 1, 0, np.zeros(0, dtype=np.int64), 0).tolist())
    apart = parsed("Ada/PROPN/2/nsubj saw/VERB/0/root a/DET/4/det cook/NOUN/2/obj ./PUNCT/2/punct")
    other = table_of(apart, detect(apart, trees_of(apart)), trees_of(apart), np.full((2, 4), -1))
    assert told - set(features_of(other, 1, 0, np.zeros(0, dtype=np.int64), 0).tolist())


def test_expletives_quantities_and_modifiers_are_no_mentions():
    rain = parsed("It/PRON/2/expl rained/VERB/0/root on/ADP/4/case Monday/PROPN/2/obl")
    assert texts(rain) == ["Monday"]
    money = parsed("He/PRON/2/nsubj paid/VERB/0/root ten/NUM/4/nummod dollars/NOUN/2/obj")
    money.spans["entities"] = SpanLayer.of(money.strings, [(2, 4, "MONEY")])
    assert texts(money) == ["He"]
    steel = parsed("A/DET/3/det steel/NOUN/3/compound bridge/NOUN/0/root")
    assert texts(steel) == ["A steel bridge"]


def test_possessors_have_their_mark_if_training_data_do():
    doc = parsed("the/DET/2/det queen/NOUN/4/nmod:poss 's/PART/2/case hat/NOUN/0/root")
    assert texts(doc) == ["the queen 's hat", "the queen"]
    assert texts(doc, possessive=True) == ["the queen 's hat", "the queen 's"]
    assert marks_possessors(doc, [(0, 3), (0, 4)], trees_of(doc)) == 1
    assert marks_possessors(doc, [(0, 2), (0, 4)], trees_of(doc)) == -1


def test_the_head_of_a_given_mention_is_the_word_whose_governor_is_outside():
    doc = parsed("the/DET/2/det queen/NOUN/5/nsubj of/ADP/4/case Spain/PROPN/2/nmod slept/VERB/0/root")
    assert given(doc, [(0, 4), (3, 4)], trees_of(doc)) == [Mention(0, 4, 1), Mention(3, 4, 3)]


def test_walks_through_trees_tell_what_is_below_what():
    doc = parsed("a/DET/2/det b/NOUN/3/nsubj c/VERB/0/root d/NOUN/3/obj", "e/VERB/0/root")
    trees = trees_of(doc)
    below = [(u, v) for v in range(5) for u in range(5) if trees.enter[v] <= trees.enter[u] < trees.leave[v] and u != v]
    assert sorted(below) == [(0, 1), (0, 2), (1, 2), (3, 2)]
    assert trees.low.tolist() == [0, 0, 0, 3, 4]
    assert trees.high.tolist() == [1, 2, 4, 4, 5]


def test_pronouns_have_one_type_in_all_cases():
    he = "Case=Nom|Gender=Masc|Number=Sing|Person=3|PronType=Prs"
    assert type_name(2, "he", "he", he) == type_name(2, "his", "his", he.replace("Nom", "Gen") + "|Poss=Yes")
    assert type_name(2, "himself", "himself", he + "|Reflex=Yes") != type_name(2, "he", "he", he)
    assert type_name(1, "Ada", "Ada", "") == "PROPER"


def test_genders_come_from_pronouns_of_other_documents():
    doc = parsed("The/DET/2/det cook/NOUN/3/nsubj slept/VERB/0/root", "She/PRON/2/nsubj/Gender=Fem snored/VERB/0/root")
    mentions = given(doc, [(0, 2), (3, 4)], trees_of(doc))
    own = gender_counts(doc, mentions, [0, 0])
    assert own == {"cook": (1, 0, 0)}
    genders = Genders({"cook": (3, 0, 0)})
    assert values_of(doc, mentions, genders)[0].tolist() == [0, -1, 0, -1]
    assert values_of(doc, mentions, Genders({"cook": (2, 0, 0)}), own)[0, 0] == -1  # one other document is too few
    assert genders.of_head("king") == -1
    assert Genders({"cook": (2, 2, 0)}).of_head("cook") == -1


def test_names_have_the_gender_of_their_list():
    doc = parsed("Mary/PROPN/2/flat Reed/PROPN/3/nsubj/Number=Sing slept/VERB/0/root")
    names = {"mary": "fem", "kim": "both"}
    assert values_of(doc, [Mention(0, 2, 1)], Genders({}, names))[0].tolist() == [0, 0, 0, -1]
    assert Genders({}, names).of_name("kim") == -1


def test_priors_give_three_quarters_to_what_is_determined():
    assert prior_of(np.array([2, -1]), 4)[0].tolist() == [0.25 / 3, 0.25 / 3, 0.75, 0.25 / 3]
    assert prior_of(np.array([2, -1]), 4)[1].tolist() == [0.25] * 4


def pair(doc: Doc, groups: int = PHI) -> set[int]:
    """The features of the last mention with the first."""
    trees = trees_of(doc)
    mentions = detect(doc, trees)
    table = table_of(doc, mentions, trees, values_of(doc, mentions, Genders()))
    return set(features_of(table, len(mentions) - 1, 0, np.zeros(0, dtype=np.int64), groups).tolist())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada/PROPN/2/nsubj saw/VERB/0/root Ada/PROPN/2/obj", "Ada/PROPN/2/nsubj saw/VERB/0/root Bo/PROPN/2/obj"),
        ("World/PROPN/2/compound Bank/PROPN/3/nsubj saw/VERB/0/root WB/PROPN/3/obj",
         "World/PROPN/2/compound Bank/PROPN/3/nsubj saw/VERB/0/root WX/PROPN/3/obj"),
        ("Ada/PROPN/3/nsubj Reed/PROPN/1/flat saw/VERB/0/root Reed/PROPN/3/obj",
         "Ada/PROPN/3/nsubj Reed/PROPN/1/flat saw/VERB/0/root Reeds/PROPN/3/obj"),
    ],
)  # fmt: skip
def test_strings_heads_and_acronyms_that_match_are_told(one, other):
    assert pair(parsed(one)) != pair(parsed(other))


def test_every_base_feature_has_two_versions_and_types_separate_them():
    doc = parsed("Ada/PROPN/2/nsubj saw/VERB/0/root him/PRON/2/obj/Gender=Masc|Person=3")
    her = parsed("Ada/PROPN/2/nsubj saw/VERB/0/root her/PRON/2/obj/Gender=Fem|Person=3")
    assert len(pair(doc)) % 2 == 0
    assert not pair(doc) & pair(her)
    noun = parsed("Cooks/NOUN/2/nsubj saw/VERB/0/root him/PRON/2/obj/Gender=Masc|Person=3")
    shared = pair(doc, 0) & pair(noun, 0)
    assert 0 < len(shared) <= len(pair(doc, 0)) // 2  # the versions with the type of one mention only


def test_a_new_entity_competes_with_features_of_its_own():
    doc = parsed("A/DET/2/det cook/NOUN/3/nsubj slept/VERB/0/root")
    trees = trees_of(doc)
    table = table_of(doc, detect(doc, trees), trees, np.full((1, 4), -1))
    none = np.zeros(0, dtype=np.int64)
    new = features_of(table, 0, -1, none, PHI | LEXICAL)
    assert len(new) > len(features_of(table, 0, -1, none, PHI)) > len(features_of(table, 0, -1, none, 0)) > 2


def test_the_buffer_holds_the_most_features_that_a_pair_has():
    doc = parsed("Ada/PROPN/3/nsubj Reed/PROPN/1/flat is/AUX/5/cop Ada/PROPN/5/flat Reed/PROPN/0/root")
    doc.comments = [("# speaker = x",)]
    trees = trees_of(doc)
    mentions = [Mention(0, 2, 0), Mention(3, 5, 4)]
    table = table_of(doc, mentions, trees, np.zeros((2, 4), dtype=np.int64))
    assert len(features_of(table, 1, 0, np.zeros(0, dtype=np.int64), PHI | LEXICAL)) <= MOST - 10


def test_speakers_and_quotations_are_told():
    doc = parsed(
        "“/PUNCT/2/punct I/PRON/3/nsubj left/VERB/0/root ”/PUNCT/3/punct she/PRON/6/nsubj said/VERB/3/parataxis"
    )
    doc.comments = [("# speaker = Ann",)]
    trees = trees_of(doc)
    mentions = detect(doc, trees)
    table = table_of(doc, mentions, trees, np.full((2, 4), -1))
    assert table.numbers[:, QUOTED].tolist() == [1, 0]
    assert table.numbers[:, SPEAKER].tolist() == [0, 0]
