from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from weft.tasks.roles.node_features import Sentences
from weft.text.doc import Doc


@st.composite
def sentences(draw: st.DrawFn) -> Sentences:
    """Two sentences with trees of any shape."""
    trees = []
    for _ in range(2):
        order = draw(st.permutations(range(draw(st.integers(1, 6)))))
        heads = [0] * len(order)
        for place, word in enumerate(order[1:], 1):
            heads[word] = order[draw(st.integers(0, place - 1))] + 1
        trees.append(heads)
    words = [["a"] * len(heads) for heads in trees]
    return Sentences([Doc.from_words(words, upos=words, head=trees, deprel=words)])


def upwards(given: Sentences, word: int) -> list[int]:
    """A word and all words above it."""
    return [] if word < 0 else [word, *upwards(given, given.parents[word])]


@given(sentences())
def test_paths_depths_and_subtrees_agree_with_climbing(given: Sentences) -> None:
    every = range(len(given))
    above = [upwards(given, word) for word in every]
    assert given.depths[:-1] == [len(path) - 1 for path in above]
    assert given.subtrees() == [[word for word in every if top in above[word]] for top in every]
    for word in every:
        for other in every:
            rising = [at for at in above[word] if at not in above[other]]
            falling = [at for at in above[other] if at not in above[word]]
            assert given.between(word, other) == (rising, falling)
