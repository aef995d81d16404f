"""Small random texts for label covers and HMMs, and what enumeration says of them."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
from hypothesis import strategies as st

from weft.infer.chains.label_lists import LabelLists


@st.composite
def texts(draw, tags=4, types=6, sentences=6, words=5, empty=False):
    """Sentences over types of words with random sets of tags, one of which may be all tags."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return random_text(rng, tags, types, sentences, words, empty)


def random_text(rng, tags=4, types=6, sentences=6, words=5, empty=False):
    n_tags, n_types = int(rng.integers(2, tags + 1)), int(rng.integers(1, types + 1))
    mask = rng.random((n_types, n_tags)) < 0.5
    mask[np.arange(n_types), rng.integers(0, n_tags, n_types)] = True
    sizes = rng.integers(0 if empty else 1, words + 1, int(rng.integers(1, sentences + 1)))
    return LabelLists.from_types(mask, rng.integers(0, n_types, sizes.sum()), np.concatenate([[0], np.cumsum(sizes)]))


def long_text(seed, tags, types, sentences):
    """A longer text; one type of words in ten may have all tags."""
    rng = np.random.default_rng(seed)
    mask = rng.random((types, tags)) < 2.5 / tags
    mask[np.arange(types), rng.integers(0, tags, types)] = True
    mask[: types // 10] = True
    offsets = np.concatenate([[0], np.cumsum(rng.integers(3, 12, sentences))])
    return LabelLists.from_types(mask, rng.integers(0, types, offsets[-1]), offsets)


def taggings(lists, sentence):
    """All taggings of a sentence."""
    first, end = lists.offsets[sentence], lists.offsets[sentence + 1]
    own = [lists.listed[lists.begin[k] : lists.begin[k + 1]].tolist() for k in lists.types[first:end]]
    return list(product(*own))


def fewest_labels(lists):
    """The size of the smallest label cover, by trying all of them."""
    n = lists.n_labels
    sentences = []
    for s in range(len(lists.offsets) - 1):
        if lists.offsets[s] < lists.offsets[s + 1]:
            own = {frozenset(pairwise((n, *tags, n + 1))) for tags in taggings(lists, s)}
            sentences.append([one for one in own if not any(other < one for other in own)])
    best = 10**9

    def go(s, labels):
        nonlocal best
        if len(labels) >= best:
            return
        if s == len(sentences):
            best = len(labels)
            return
        for own in sorted(sentences[s], key=lambda own: len(own - labels)):
            go(s + 1, labels | own)

    go(0, frozenset())
    return best
