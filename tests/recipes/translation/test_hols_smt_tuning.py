"""The generated bitext is as it is described; differences of systems are those of their statistics."""

from collections import Counter, defaultdict

import numpy as np

from weft.recipes.translation.hols_smt_tuning.captions import words
from weft.recipes.translation.hols_smt_tuning.experiment import compare
from weft.recipes.translation.hols_smt_tuning.generated import Shape, generate


def test_for_half_of_the_words_the_most_probable_translation_is_wrong_after_rare_keys() -> None:
    bitext = generate(3000, 1)
    senses: dict[str, Counter[str]] = defaultdict(Counter)
    after_rare: dict[str, Counter[str]] = defaultdict(Counter)
    for source, target in zip(bitext.source, bitext.target, strict=True):
        for key, word, said in zip(source[::3], source[1::3], target[1::3], strict=True):
            senses[word][said[-1]] += 1
            if key.startswith("r"):
                after_rare[word][said[-1]] += 1
    assert len(senses) == Shape().words
    for word, counts in senses.items():
        best = counts.most_common(1)[0][0]
        right = after_rare[word][best] / after_rare[word].total()
        assert right < 0.15 if int(word[1:]) % 2 == 0 else right > 0.85


def test_the_bitext_is_drawn_by_its_seed_and_linked_word_by_word() -> None:
    one, same, other = generate(5, 1), generate(5, 1), generate(5, 2)
    assert one.source == same.source != other.source
    for source, target, links in zip(one.source, one.target, one.links.pairs(), strict=True):
        assert links == [(i, i) for i in range(9)]
        assert [word[0] for word in target[::3]] == ["T"] * 3
        assert [int(word[1:]) for word in source[2::3]] == [int(word[1:]) for word in target[2::3]]


def test_marks_are_words_of_their_own() -> None:
    assert words("Ein Mann, 2 Hunde!") == ["ein", "mann", ",", "2", "hunde", "!"]


def test_equal_systems_differ_by_chance_only() -> None:
    rows = np.array([[4, 3, 2, 1, 4, 3, 2, 1, 4, 4], [3, 2, 1, 1, 4, 3, 2, 1, 4, 4]] * 10)
    found = compare(rows, rows, 200)
    assert (found.difference, found.p) == (0.0, 1.0)
    worse = rows.copy()
    worse[:, 0] -= 1
    assert compare(rows, worse, 200).p < 0.01
