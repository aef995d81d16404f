"""The recipe of senti-lssvm: its corpora, and the generated sentences."""

from __future__ import annotations

from collections import Counter

import pytest

from weft.errors import DataError
from weft.recipes.extraction.senti_lssvm import corpora
from weft.recipes.extraction.senti_lssvm.generated import COMPARATIVES, generate, lexicon
from weft.recipes.framework import RecipeOptions
from weft.tasks.opinions.sentences import BETTER, LABELS, NEGATIVE, OTHER, POSITIVE, WORSE


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "judged"),
    [("products", {POSITIVE: 3097, NEGATIVE: 1584}), ("camera_comparisons", {BETTER: 521, WORSE: 263})],
)
def test_the_corpora_have_as_many_opinions_as_were_counted(name, judged):
    try:
        found = getattr(corpora, name)(RecipeOptions())
    except DataError as missing:
        pytest.skip(str(missing))
    assert Counter(label for raw in found for label in raw.gold.values()) == judged


def test_generated_sentences_mix_polarities_and_comparisons_and_name_what_carries_them():
    kinds = Counter()
    for each in generate(300, 7):
        gold = each.sentence.gold
        kinds[any(edge.compares for edge in gold), len(set(gold.values())) > 1] += 1
        assert set(gold) == set(each.carriers)
        assert OTHER not in gold.values()
        for edge, word in each.carriers.items():
            assert LABELS[gold[edge]] in LABELS
            assert 0 <= word < len(each.sentence.words)
            assert edge in each.sentence.edges()
            assert each.rests_well(edge, (word, word + 1))
            assert not each.rests_well(edge, None)
    assert kinds[False, True] > 50
    assert kinds[True, True] > 50


def test_half_of_the_opinion_words_are_unknown_and_some_comparatives_turn():
    words = {each.sentence.words[word] for each in generate(600, 8) for word in each.carriers.values()}
    plain = words - set(COMPARATIVES)
    known = sum(lexicon().sign(word) != 0 for word in plain)
    assert 0.4 < known / len(plain) < 0.6
    assert sum(not turn for turn in COMPARATIVES.values()) == 6
    turned = {(each.sentence.words[word], gold) for each in generate(600, 9, mixed=True)
              for edge, gold in each.sentence.gold.items() if edge.is_ternary
              for word in [each.carriers[edge]]}  # fmt: skip
    assert {("higher", BETTER), ("higher", WORSE)} <= turned


def test_generated_trees_have_one_root_and_constituents_within_the_sentence():
    for each in generate(60, 10):
        heads = each.sentence.heads
        assert sum(head < 0 for head in heads) == 1
        assert all(-1 <= head < len(heads) for head in heads)
        assert all(0 <= low < high <= len(heads) for low, high in each.sentence.brackets)
        for word in range(len(heads)):
            up, steps = word, 0
            while heads[up] >= 0:
                up, steps = heads[up], steps + 1
                assert steps <= len(heads)
