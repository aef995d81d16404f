"""Alignment of two texts of one language: symmetry, identity, the paper's examples, equivalences, names, similarity."""

from __future__ import annotations

import random

import numpy as np
import pytest

import weft
from weft.errors import ConfigError, DataError, WeftError
from weft.evaluate.similarity import correlation, read_scores
from weft.lexical.paraphrases import Paraphrases
from weft.tasks.similarity.aligner import SameLanguageAligner, SimilaritySettings, Unit
from weft.tasks.similarity.compare import align_texts, compared
from weft.tasks.similarity.names import name_links
from weft.tasks.similarity.relations import STRAIGHT, TURNED, Relations
from weft.text import Doc, SpanLayer

TAGS = {1: "NN", 2: "VB", 3: "JJ", 4: "RB"}


def links(one: Doc, other: Doc, pairs: Paraphrases | None = None, **settings: object) -> set[tuple[int, int]]:
    return set(SameLanguageAligner(SimilaritySettings(**settings), pairs).align([(one, other)]).pairs()[0])  # type: ignore[arg-type]


def tree(text: str, tags: str, heads: list[int], labels: str) -> Doc:
    return Doc.from_words([text.split()], xpos=[tags.split()], head=[heads], deprel=[labels.split()])


@pytest.fixture(scope="module")
def random_pairs() -> list[tuple[Doc, Doc]]:
    rng = random.Random(0)
    tags = {
        "red": "JJ", "dog": "NN", "chased": "VBD", "cat": "NN", "car": "NN", "auto": "NN", "the": "DT", "a": "DT",
        "of": "IN", "in": "IN", ",": ",", ".": ".", "12": "CD", "13": "CD", "U.N.": "NNP", "bought": "VBD",
        "dogs": "NNS",
    }  # fmt: skip
    words = list(tags)

    def sentence() -> Doc:
        forms = [rng.choice(words) for _ in range(rng.randint(1, 14))]
        heads = [0] + [rng.randint(1, i) for i in range(1, len(forms))]
        labels = [rng.choice(["dobj", "nsubj", "rcmod", "amod", "prep", "pobj", "conj", "nn"]) for _ in forms]
        doc = Doc.from_words([forms], xpos=[[tags[f] for f in forms]], head=[heads], deprel=[labels])
        doc.spans["entities"] = SpanLayer.of(
            doc.strings, [(i, i + 1, "ORG") for i, f in enumerate(forms) if f == "U.N."]
        )
        return doc

    return [(sentence(), sentence()) for _ in range(1000)]


PAIRS = Paraphrases.of([("car", "auto"), ("dog", "hound"), ("a", "of")])


@pytest.mark.must_show("monolingual-aligner", 1)
def test_links_of_swapped_texts_are_the_same_links_and_so_is_their_similarity(
    random_pairs: list[tuple[Doc, Doc]],
) -> None:
    ahead = SameLanguageAligner(paraphrases=PAIRS).align(random_pairs)
    back = SameLanguageAligner(paraphrases=PAIRS).align([(other, one) for one, other in random_pairs])
    assert ahead.pairs() == back.links.flipped().pairs()
    assert np.array_equal(ahead.similarity, back.similarity)
    assert len(ahead.links) > 1500
    assert 0 <= ahead.similarity.min() < ahead.similarity.max() <= 1


@pytest.mark.must_show("monolingual-aligner", 1)
def test_a_text_is_linked_with_itself_word_by_word(random_pairs: list[tuple[Doc, Doc]]) -> None:
    docs = [one for one, _ in random_pairs if one.n_words > 1 and any(tag[0].isalpha() for tag in one.column("xpos"))]
    found = SameLanguageAligner(paraphrases=PAIRS).align([(doc, doc) for doc in docs])
    content = 0
    for doc, own in zip(docs, found.pairs(), strict=True):
        if any(tag[:2] in ("NN", "VB", "JJ", "CD") for tag in doc.column("xpos")):
            content += 1
            assert {(i, i) for i in range(doc.n_words)} <= set(own)
    assert content > 700


@pytest.mark.must_show("monolingual-aligner", 2)
def test_an_object_corresponds_to_the_noun_that_a_relative_clause_modifies() -> None:
    one = tree("He wrote a book .", "PRP VBD DT NN .", [2, 0, 4, 2, 2], "nsubj root det dobj punct")
    other = tree("I read the book he wrote .", "PRP VBD DT NN PRP VBD .", [2, 0, 4, 2, 6, 4, 2],
                 "nsubj root det dobj nsubj rcmod punct")  # fmt: skip
    assert {(0, 4), (1, 5), (3, 3)} <= links(one, other)
    why = SameLanguageAligner(SimilaritySettings(neighbours=False)).align([(one, other)]).why()[0]
    assert (1, 5, "edges") in why
    assert (3, 3, "edges") in why


@pytest.mark.must_show("monolingual-aligner", 2)
@pytest.mark.parametrize("universal", [False, True])
def test_competing_equal_words_are_told_apart_by_their_contexts(universal: bool) -> None:
    # Two dogs on both sides, in another order: the one that is red is the one that barked.
    label = "obj" if universal else "dobj"
    one = tree("red dog saw old dog", "JJ NN VBD JJ NN", [2, 3, 0, 5, 3], f"amod nsubj root amod {label}")
    other = tree("old dog was what red dog saw", "JJ NN VBD WP JJ NN VBD", [2, 3, 0, 3, 6, 7, 3],
                 f"amod {label} root nsubj amod nsubj rcmod")  # fmt: skip
    found = links(one, other, neighbours=False)
    assert {(0, 4), (1, 5), (3, 0), (4, 1)} <= found


def unit(classes: tuple[int, int], edges: list[tuple[int, int, int]]) -> Unit:
    return Unit(["uno", "duo"], ["uno", "duo"], list(classes), edges, [])


@pytest.mark.must_show("monolingual-aligner", 2)
@pytest.mark.parametrize("row", range(len(STRAIGHT) + len(TURNED)))
def test_every_row_of_the_table_of_equivalences_is_evidence(row: int) -> None:
    aligner = SameLanguageAligner(SimilaritySettings(neighbours=False))
    number = aligner._relations.number
    if row < len(STRAIGHT):
        head, dependent, names = STRAIGHT[row]
        left = right = names.split()
        ends = (0, 1)
    else:
        head, dependent, *sets = TURNED[row - len(STRAIGHT)]
        left, right = (names.split() for names in sets)
        ends = (1, 0)
    for x in left:
        for y in right:
            pair = unit((head, dependent), [(0, 1, number(x))]), unit((head, dependent), [(*ends, number(y))])
            for one, other in (pair, pair[::-1]):
                assert {why for _, _, why in aligner.align_units([one], [other]).why()[0]} == {"edges"}, (x, y)
            # Not where the classes of words are others.
            wrong = [each._replace(classes=[4, 3]) for each in pair]
            if x != y or ends == (1, 0):
                assert "edges" not in {why for _, _, why in aligner.align_units([wrong[0]], [wrong[1]]).why()[0]}


def test_the_table_is_closed_under_swapping_texts() -> None:
    table = Relations().equivalences()
    assert np.array_equal(table.straight, table.straight.transpose(0, 1, 3, 2))
    assert np.array_equal(table.turned, table.turned.transpose(1, 0, 3, 2))


@pytest.mark.must_show("monolingual-aligner", 2)
def test_acronyms_and_parts_of_names_link_one_word_with_many() -> None:
    one, other = ["The", "UN", "met", "Barack", "Obama"], ["Obama", "told", "the", "United", "Nations"]
    assert set(name_links(one, other, [(1, 2), (3, 5)], [(0, 1), (3, 5)])) == {(1, 3), (1, 4), (3, 0), (4, 0)}
    docs = []
    for words, names in ((one, [(1, 2, "ORG"), (3, 5, "PER")]), (other, [(0, 1, "PER"), (3, 5, "ORG")])):
        docs.append(Doc.from_words([words]))
        docs[-1].spans["entities"] = SpanLayer.of(docs[-1].strings, names)
    assert {(1, 3), (1, 4), (3, 0), (4, 0)} <= links(*docs)
    assert (3, 0) not in links(*docs, names=False)
    # A name that one text has twice needs its contexts.
    assert name_links(["Obama", "saw", "Obama"], ["Barack", "Obama"], [(0, 1), (2, 3)], [(0, 2)]) == []


def test_content_words_without_any_context_are_linked_if_nobody_competes() -> None:
    one, other = Doc.from_words([["harbour", "closed"]]), Doc.from_words([["nobody", "liked", "our", "harbour"]])
    assert links(one, other) == {(0, 3)}


def test_function_words_need_something_linked_beside_them() -> None:
    one, other = Doc.from_words([["xx", "the", "harbour"]]), Doc.from_words([["yy", "zz", "vv", "ww", "the", "hill"]])
    assert links(one, other) == set()
    assert (1, 4) in links(one, Doc.from_words([["yy", "zz", "vv", "ww", "the", "big", "harbour"]]))


def test_context_pairs_of_a_link_are_linked_with_it() -> None:
    one = tree("cat saw", "NN VBD", [2, 0], "nsubj root")
    other = tree("saw cat cat", "VBD NN NN", [0, 3, 1], "root nn nsubj")
    # Both links of `cat` are possible; the one that is the subject of `saw` comes with it.
    assert links(one, other, neighbours=False) == {(0, 2), (1, 0)}


def test_words_are_alike_by_lemma_stem_or_paraphrase_but_numbers_are_not() -> None:
    aligner = SameLanguageAligner(paraphrases=Paraphrases.of([("car", "auto"), ("12", "13"), ("the", "car")]))

    def sim(a: str, b: str, lemma: str = "") -> float:
        numbers = aligner.words.numbers([a, b], [lemma or a, lemma or b])
        return float(aligner.words.similarities(numbers[:1], numbers[1:], np.array([0, 1]), np.array([0, 1]), 0.9)[0])

    assert [sim("Car", "auto"), sim("U.S.", "US"), sim("reports", "reporting"), sim("went", "go", "go")] == [
        0.9,
        1,
        1,
        1,
    ]
    assert [sim("12", "13"), sim("the", "car"), sim(",", "-"), sim("dog", "cat")] == [0, 0, 0, 0]


def test_similarity_is_the_mean_share_of_linked_content_words() -> None:
    found = align_texts(["red cars stop"], ["the cars stop here today"], model=None)
    assert found.similarity.tolist() == [pytest.approx((2 / 3 + 2 / 3) / 2)]
    (pair,) = compared(found)
    assert pair.differs == (["red"], ["the", "here", "today"])


def test_the_front_door_compares_documents_texts_and_files(tmp_path) -> None:  # type: ignore[no-untyped-def]
    one, other = Doc.from_words([["dogs", "bark"]]), Doc.from_words([["dogs", "do", "bark"]])
    assert weft.align(one, other).pairs() == [[(0, 0), (1, 2)]]
    (tmp_path / "a").write_text("dogs bark\n\n", encoding="utf-8")
    (tmp_path / "b").write_text("dogs do bark\nyes\n", encoding="utf-8")
    found = weft.align(tmp_path / "a", tmp_path / "b", same_language=True, model=None)
    assert found.pairs() == [[(0, 0), (1, 2)], []]
    with pytest.raises(ConfigError, match="two documents"):
        weft.align(one, ["dogs"])
    (tmp_path / "b").write_text("dogs do bark\n", encoding="utf-8")
    with pytest.raises(DataError, match="ends after 1 texts"):
        weft.align(tmp_path / "a", tmp_path / "b", same_language=True, model=None)
    with pytest.raises(WeftError, match="ppdb"):
        SameLanguageAligner(SimilaritySettings(ppdb=1.5))


def test_correlations_of_similarities(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "g.tsv").write_text("1\ta\tb\n\tc\td\n2\te\tf\n4\tg\th\n", encoding="utf-8")
    gold = read_scores(tmp_path / "g.tsv")
    found = correlation(gold, np.array([1.0, 9.0, 2.0, 4.0]))
    assert (round(found.pearson, 6), found.spearman, found.pairs) == (1.0, 1.0, 3)
    (tmp_path / "g.tsv").write_text("1\ta\tb\nhigh\tc\td\n", encoding="utf-8")
    with pytest.raises(WeftError, match=r"g.tsv, line 2"):
        read_scores(tmp_path / "g.tsv")
    with pytest.raises(DataError, match="3 pairs and the system 2"):
        correlation(np.ones(3), np.ones(2))
