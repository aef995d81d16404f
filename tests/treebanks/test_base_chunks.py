"""Base chunks of dependency trees."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import DataError
from weft.text.doc import Doc
from weft.treebanks.base_chunks import Tree, base_chunks, set_base_chunks


def chunks(text: str) -> list[str]:
    """The chunks of a sentence whose words are written form/UPOS/head/relation."""
    rows = [word.rsplit("/", 3) for word in text.split()]
    tree = Tree([row[0] for row in rows], [row[1] for row in rows], [int(row[2]) - 1 for row in rows], [
        row[3] for row in rows
    ])  # fmt: skip
    return [f"{kind} {' '.join(tree.forms[start:end])}" for start, end, kind in base_chunks(tree)]


def test_a_noun_phrase_ends_with_its_head_and_what_hangs_behind_it_is_apart() -> None:
    found = chunks("the/DET/3/det old/ADJ/3/amod dog/NOUN/7/nsubj of/ADP/6/case my/PRON/6/nmod:poss aunt/NOUN/3/nmod "
                   "slept/VERB/0/root")  # fmt: skip
    assert found == ["NP the old dog", "PP of", "NP my aunt", "VP slept"]


def test_auxiliaries_and_adverbs_between_them_belong_to_the_verb_and_adverbs_before_them_do_not() -> None:
    found = chunks(
        "she/PRON/5/nsubj often/ADV/5/advmod has/AUX/5/aux never/ADV/5/advmod seen/VERB/0/root it/PRON/5/obj"
    )
    assert found == ["NP she", "ADVP often", "VP has never seen", "NP it"]


def test_a_verb_joins_the_verb_that_governs_it() -> None:
    assert chunks("I/PRON/2/nsubj want/VERB/0/root to/PART/4/mark go/VERB/2/xcomp") == ["NP I", "VP want to go"]


def test_an_object_between_two_verbs_parts_their_chunks() -> None:
    found = chunks("I/PRON/2/nsubj asked/VERB/0/root them/PRON/2/obj to/PART/5/mark go/VERB/2/xcomp")
    assert found == ["NP I", "VP asked", "NP them", "VP to go"]


def test_a_copula_is_a_chunk_with_its_auxiliaries_and_negation() -> None:
    found = chunks("he/PRON/6/nsubj may/AUX/6/aux be/AUX/6/cop not/PART/6/advmod so/ADV/6/advmod old/ADJ/0/root")
    assert found == ["NP he", "VP may be not", "ADJP so old"]


def test_a_possessive_mark_belongs_to_what_is_possessed() -> None:
    found = chunks("the/DET/2/det dog/NOUN/4/nmod:poss 's/PART/2/case tail/NOUN/0/root")
    assert found == ["NP the dog", "NP 's tail"]


def test_coordinated_adjectives_stay_inside_and_coordinated_nouns_do_not() -> None:
    found = chunks("big/ADJ/4/amod and/CCONJ/3/cc small/ADJ/1/conj dogs/NOUN/0/root and/CCONJ/6/cc cats/NOUN/4/conj")
    assert found == ["NP big and small dogs", "NP cats"]


def test_a_question_keeps_adverb_and_auxiliary_apart() -> None:
    found = chunks("how/ADV/4/advmod do/AUX/4/aux I/PRON/4/nsubj go/VERB/0/root ?/PUNCT/4/punct")
    assert found == ["ADVP how", "VP do", "NP I", "VP go"]


def test_names_numbers_and_hyphens_stay_together() -> None:
    found = chunks("Ada/PROPN/0/root Byron/PROPN/1/flat -/PUNCT/4/punct King/PROPN/1/flat took/VERB/1/acl "
                   "part/NOUN/5/obj 3/NUM/6/nummod")  # fmt: skip
    assert found == ["NP Ada Byron - King", "VP took", "NP part 3"]


def test_particles_prepositions_conjunctions_and_interjections_have_kinds_of_their_own() -> None:
    found = chunks("oh/INTJ/2/discourse give/VERB/0/root up/ADP/2/compound:prt because/SCONJ/6/mark it/PRON/6/nsubj "
                   "rains/VERB/2/advcl on/ADP/8/case us/PRON/6/obl")  # fmt: skip
    assert found == ["INTJ oh", "VP give", "PRT up", "SBAR because", "NP it", "VP rains", "PP on", "NP us"]


def test_documents_without_trees_are_refused() -> None:
    with pytest.raises(DataError, match="no heads"):
        set_base_chunks(Doc.from_words([["dogs", "bark"]], upos=[["NOUN", "VERB"]]))


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_chunks_of_any_tree_or_broken_tree_are_flat_and_inside_the_sentence(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 8))
    words = [
        (
            data.draw(st.sampled_from(["a", "-", "to", "'s"])),
            data.draw(st.sampled_from(["NOUN", "VERB", "AUX", "ADJ", "ADV", "PART", "CCONJ", "PUNCT", "ADP"])),
            data.draw(st.integers(-1, n - 1)),
            data.draw(
                st.sampled_from(["flat", "conj", "cc", "aux", "cop", "advmod", "xcomp", "amod", "nmod:poss", "case"])
            ),
        )
        for _ in range(n)
    ]
    reached = 0
    for start, end, kind in base_chunks(Tree(*zip(*words, strict=True))):
        assert reached <= start < end <= n
        assert kind
        reached = end
