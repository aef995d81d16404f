"""Trees made projective whose labels tell what was lifted, and sentences from right to left."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft import read
from weft.infer.trees.projectivity import decode, encode, is_projective, is_tree, mirror


@st.composite
def trees(draw):
    """Heads of a random tree of up to nine words, and labels."""
    n = draw(st.integers(1, 9))
    order = draw(st.permutations(range(1, n + 1)))
    heads = np.zeros(n, np.int32)
    for k, word in enumerate(order[1:], start=1):
        heads[word - 1] = order[draw(st.integers(0, k - 1))]
    return heads, draw(st.lists(st.sampled_from("abcdefgh"), min_size=n, max_size=n))


@given(trees(), st.booleans())
@settings(deadline=None)
def test_encoded_trees_are_projective_and_decoding_gives_a_tree_with_the_labels_back(tree, path):
    heads, labels = tree
    lifted, marked = encode(heads, labels, path)
    assert is_projective(lifted)
    restored, plain = decode(lifted, marked, path)
    assert is_tree(restored)
    assert plain == labels


@given(trees())
@settings(deadline=None)
def test_labels_that_tell_every_word_apart_restore_all_heads(tree):
    heads, labels = tree
    labels = [f"{label}{i}" for i, label in enumerate(labels)]
    restored, _ = decode(*encode(heads, labels, path=True), path=True)
    assert restored.tolist() == heads.tolist()


@given(st.lists(trees(), min_size=1, max_size=4))
@settings(deadline=None)
@pytest.mark.must_show("blended-srl", 3)
def test_mirroring_twice_gives_the_same_trees(sentences):
    heads = np.concatenate([heads for heads, _ in sentences])
    offsets = np.cumsum([0, *(len(own) for own, _ in sentences)])
    labels = np.arange(len(heads), dtype=np.int32)
    once = mirror(heads, labels, offsets)
    for first, end in pairwise(offsets.tolist()):
        n, own = end - first, heads[first:end].tolist()
        assert once[0][first:end].tolist() == [n + 1 - h if h else 0 for h in reversed(own)]
    twice = mirror(*once, offsets)
    assert twice[0].tolist() == heads.tolist()
    assert twice[1].tolist() == labels.tolist()


@pytest.mark.corpus
@pytest.mark.must_show("blended-srl", 3)
def test_head_and_path_restore_99_percent_of_the_lifted_arcs_of_three_treebanks(corpus_file):
    restored = {False: 0, True: 0}
    lifted_arcs = 0
    for name in ("Basque-BDT", "Turkish-IMST", "Portuguese-Bosque"):
        for doc in read(corpus_file(f"treebanks/ud/{name}/train.conllu.gz")):
            names = doc.column("deprel")
            for first, end in pairwise(doc.sentence_offsets.tolist()):
                heads = doc.head[first:end]
                if is_projective(heads):
                    continue
                for path in restored:
                    lifted, marked = encode(heads, names[first:end], path)
                    back, plain = decode(lifted, marked, path)
                    assert plain == names[first:end]
                    restored[path] += int(((lifted != heads) & (back == heads)).sum())
                lifted_arcs += int((lifted != heads).sum())
    assert lifted_arcs > 4000
    assert restored[True] / lifted_arcs >= 0.99
    assert restored[True] > restored[False] + 0.05 * lifted_arcs  # the path says more than the head alone
