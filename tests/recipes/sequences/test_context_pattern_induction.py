"""Checks of the sheet of context-pattern-induction (1 to 3: tests/infer/test_automata.py, 4: tests/lexical)."""

from __future__ import annotations

import random
import time

import pytest

from weft.data import have
from weft.lexical.growth.files import write_growth
from weft.lexical.growth.grow import GrowthSettings, grow, grow_from
from weft.lexical.growth.token_store import TokenStore
from weft.recipes.framework import RecipeOptions
from weft.recipes.sequences.context_pattern_induction import data as material
from weft.recipes.sequences.context_pattern_induction import experiment as recipe
from weft.text import Corpus, Doc


def on_planted(sentences: int, negatives: bool) -> tuple[float, float]:
    corpus = material.planted(sentences, seed=3)
    seeds = {label: random.Random(3).sample(names, 30) for label, names in corpus.names.items()}
    growth = grow(Corpus(corpus.docs), seeds, GrowthSettings(window=5, triggers=60, negatives=negatives))
    return recipe.precision_of(growth, corpus.names, seeds)


@pytest.mark.must_show("context-pattern-induction", 5)
def test_negative_seeds_keep_planted_lists_clean_and_more_text_finds_more():
    with_them = [on_planted(size, negatives=True) for size in (500, 1500, 4500)]
    without = [on_planted(size, negatives=False) for size in (500, 1500, 4500)]
    assert min(precision for precision, _ in with_them) >= 0.9
    assert without[-1][0] < with_them[-1][0] - 0.2
    recalls = [recall for _, recall in with_them]
    assert recalls == sorted(recalls)
    assert recalls[0] + 0.2 < recalls[-1]


def test_planted_text_is_the_same_for_the_same_seed():
    first, second, other = (material.planted(100, seed) for seed in (1, 1, 2))
    assert [doc.text for doc in first.docs] == [doc.text for doc in second.docs]
    assert first.docs[0].text != other.docs[0].text


def test_a_labelled_part_and_the_rest_share_no_document():
    docs = [Doc.from_words([[str(i)] * 10]) for i in range(20)]
    own, rest = recipe.share_out(docs, 50, seed=0)
    assert sum(doc.n_words for doc in own) == 50
    assert sorted(doc.text for doc in [*own, *rest]) == sorted(doc.text for doc in docs)


@pytest.mark.corpus
@pytest.mark.skipif(not have(recipe.SPANISH[0]), reason="CoNLL-2002 is not at hand: set WEFT_DATA")
@pytest.mark.parametrize(("language", "cut"), [(recipe.ENGLISH, 0), (recipe.SPANISH, recipe.SPANISH_DOCUMENT)])
def test_labelled_parts_are_as_large_as_their_rows_say(language, cut):
    docs = recipe.labelled(RecipeOptions(), language[0], language[2], cut)
    sizes = [sum(doc.n_words for doc in recipe.share_out(docs, size, seed=0)[0]) for size in recipe.SIZES[:2]]
    assert sizes == pytest.approx(recipe.SIZES[:2], rel=0.05)


@pytest.mark.corpus
@pytest.mark.must_show(
    "context-pattern-induction",
    6,
    weaker="every third document and 30 iterations in place of all; the recorded run has all",
)
@pytest.mark.skipif(not have(recipe.ENGLISH[0]), reason="CoNLL-2003 is not at hand: set WEFT_DATA")
def test_a_grown_list_helps_a_small_tagger_and_a_list_of_its_own_training_names_hurts():
    docs = recipe.labelled(RecipeOptions(), recipe.ENGLISH[0], recipe.ENGLISH[2])
    test = recipe.sentences(recipe.labelled(RecipeOptions(), *recipe.ENGLISH[1:]))
    own, rest = recipe.share_out(docs, recipe.SIZES[0], seed=0)
    reports, growth = recipe.conditions(own, TokenStore.of(Corpus(rest)), test, recipe.ON_LITTLE_TEXT, 60, 1)
    f = {name: 100 * report.score.f1 for name, report in reports.items()}
    assert f["induced list"] >= f["no list"] + 1.5, f
    assert f["seed list"] < f["induced list"], f
    gold = recipe.names_in(rest)
    people = [entity.text for entity in growth.entities if entity.label == "PER" and not entity.seed]
    assert sum(name in set(gold["PER"]) for name in people) >= 0.8 * len(people) > 0
    # All documents labelled, in a form that takes seconds: fewer iterations on every third document.
    more = docs[::3]
    plain, with_seeds = (
        recipe.train(more, lists, 30).evaluate(test).score.f1 for lists in (None, recipe.names_in(more))
    )
    assert with_seeds < plain


def parts_of_novels(novels):
    """Novels in parts, so that there is something to share out."""
    docs = material.novels(RecipeOptions(), novels)
    return [doc.text[i : i + 100_000] for doc in docs for i in range(0, len(doc.text), 100_000)]


@pytest.mark.corpus
@pytest.mark.must_show("context-pattern-induction", 7)
@pytest.mark.skipif(not have(material.NOVELS), reason="the novels of LitBank are not at hand: set WEFT_DATA")
@pytest.mark.timing
def test_a_million_tokens_a_minute():
    parts, seeds = parts_of_novels(6), material.name_lists(RecipeOptions())
    grow(Corpus([Doc(parts[0])]), seeds, recipe.ON_NOVELS)  # kernels are compiled
    started = time.process_time()
    store = TokenStore.of(Corpus([Doc(part) for part in parts]))
    grow_from(store, seeds, recipe.ON_NOVELS)
    seconds = time.process_time() - started
    assert store.n_tokens > 500_000
    assert store.n_tokens / seconds * 60 >= 1e6


@pytest.mark.corpus
@pytest.mark.must_show("context-pattern-induction", 7)
@pytest.mark.skipif(not have(material.NOVELS), reason="the novels of LitBank are not at hand: set WEFT_DATA")
def test_the_same_bytes_come_from_1_and_8_shards(tmp_path):
    parts, seeds = parts_of_novels(2), material.name_lists(RecipeOptions())
    growth = grow_from(TokenStore.of(Corpus([Doc(part) for part in parts])), seeds, recipe.ON_NOVELS)
    shards = grow(Corpus([Doc(part) for part in parts]).shards(8), seeds, recipe.ON_NOVELS)
    one, eight = (write_growth(each, tmp_path / name) for each, name in ((growth, "1"), (shards, "8")))
    assert len(growth.kept) > 10
    for a, b in zip(one, eight, strict=True):
        assert a.read_bytes() == b.read_bytes(), a.name
