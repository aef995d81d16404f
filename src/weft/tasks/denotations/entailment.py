"""Approximate entailment: does a short hypothesis describe the image of four captions?

    positive   an image of which exactly one caption generates the hypothesis; the premises are its other captions
    negative   the same hypothesis with four captions of an image that it does not describe

Features of a pair of premises P and hypothesis h, by group:

    BoW       share of h's words in P; freq_h(w) freq_P(w) for every word w          BoW-H  the same with hypernyms
    nPMI, P   sum and max over nodes p of P and constituents x of h, by constituent, over all, and for its phrase;
              for P also  P(h_x | P) = 1 - prod (1 - P(h_x | p))
    cos, ...  sum and max over words of P, for every word of h and over all
    Sigma, Pi one number each

Items are computed from counts over other images: images are in folds, and the features of a fold come from the training
images of the others, for test items too, so that all rest on as many images. Both items of a pair are of one fold: a
count from which only the positive image is missing would give the answer away.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from weft.arrays import Bools, Floats, Ids, Ints
from weft.errors import ConfigError
from weft.graph.denotations.counts import Denotations, Overlaps, npmi
from weft.progress import progress
from weft.tasks.denotations.captions import Token
from weft.tasks.denotations.frames import Frame, frames_of
from weft.tasks.denotations.graph import DenotationGraph
from weft.tasks.denotations.phrases import Heads, noun_lemma, verb_lemma
from weft.tasks.denotations.similarity import STOP_WORDS, WordVectors

#: A pair of nodes counts if both have so many images, and share so many.
LEAST, JOINT = 10, 2


class Item(NamedTuple):
    """Premises (numbers of captions), a hypothesis, the image, and whether it describes it."""

    premises: tuple[int, ...]
    hypothesis: Frame
    image: int
    holds: bool


def words_of(tokens: Iterable[Token]) -> list[str]:
    """The words of a text as graphs write them, without function words.

    >>> words_of([Token("dogs", "dog", "NNS", "nsubj", 1), Token("are", "be", "VBP", "aux", 2)])
    ['dog']
    """
    found = []
    for token in tokens:
        if token.tag.startswith("NN") or token.tag == "PRP":
            word = noun_lemma(token)
        elif token.tag.startswith("VB"):
            word = verb_lemma(token)
        else:
            word = token.lemma
        if word not in STOP_WORDS and any(letter.isalnum() for letter in word):
            found.append(word)
    return found


def with_hypernyms(words: Sequence[str], heads: Heads) -> list[str]:
    """Words and all hypernyms of those that are nouns of the lexicon; of pairs of words too."""
    found = list(words)
    for one, two in pairwise(words):
        if f"{one} {two}" in heads.hypernyms:
            found += [word for up in heads.above(f"{one} {two}") for word in up.split()]
    for word in words:
        found += [part for up in heads.above(word) for part in up.split()]
    return found


def make_items(
    graph: DenotationGraph, images: Ids, kind: str, count: int, seed: int, least: Denotations, most_share: float = 0.2,
    folds: int = 1,
) -> list[Item]:  # fmt: skip
    """Items about images, half of them positive; hypotheses have LEAST images and more in `least`.

    Hypotheses of more than `most_share` of its images say too little. Every positive item has a negative one with the
    same hypothesis and of the same fold: the remainder of its image's number by `folds`.
    """
    random = np.random.default_rng(seed)
    of_image: dict[int, list[int]] = defaultdict(list)
    for caption, image in enumerate(graph.caption_images.tolist()):
        of_image[image].append(caption)
    chosen = set(images.tolist())
    nodes, captions = graph.caption_incidences()
    offsets = np.searchsorted(nodes, np.arange(graph.n_nodes + 1))
    found: dict[tuple[int, int], tuple[Frame, int]] = {}
    girls = graph._girls()
    with progress("hypotheses", len(chosen), "images") as bar:
        for image in sorted(chosen):
            for caption in of_image[image]:
                for frame in frames_of(graph._content(caption, girls), graph.heads):
                    if frame.kind != kind:
                        continue
                    node = graph.find(frame.phrase)
                    size = least.size(node) if node >= 0 else 0
                    if not LEAST <= size <= most_share * least.items:
                        continue
                    own = captions[offsets[node] : offsets[node + 1]]
                    if sum(int(other in own) for other in of_image[image]) == 1 and len(of_image[image]) >= 5:
                        found[node, image] = (frame, caption)
            bar.advance(1)
    pairs = sorted(found)
    picked = random.permutation(len(pairs))[: count // 2]
    pool = np.array(sorted(image for image in chosen if len(of_image[image]) >= 5))
    sets, items = graph.sets, []
    for k in picked.tolist():
        node, image = pairs[k]
        frame, caption = found[node, image]
        rest = [other for other in of_image[image] if other != caption][:4]
        items.append(Item(tuple(rest), frame, image, True))
        there = set(sets[node].tolist())
        while True:
            other = int(random.choice(pool))
            if other not in there and other % folds == image % folds:
                break
        four = random.choice(of_image[other], 4, replace=False)
        items.append(Item(tuple(sorted(four.tolist())), frame, other, False))
    return items


@dataclass
class Table:
    """Sparse features of items, by name; written row by row."""

    names: dict[str, int] = field(default_factory=dict)
    rows: list[dict[int, float]] = field(default_factory=list)

    def add(self, features: Mapping[str, float]) -> None:
        """One more item."""
        self.rows.append(
            {self.names.setdefault(name, len(self.names)): value for name, value in features.items() if value}
        )

    def matrix(self, names: Mapping[str, int] | None = None) -> csr_array:
        """The rows, over these columns; features that have none are left out.

        >>> table = Table()
        >>> table.add({"a": 1.0, "b": 2.0})
        >>> table.matrix({"b": 0}).toarray().tolist()
        [[2.0]]
        """
        columns = self.names if names is None else names
        own = {number: columns[name] for name, number in self.names.items() if name in columns}
        cells = [(r, own[c], v) for r, row in enumerate(self.rows) for c, v in row.items() if c in own]
        r, c, v = zip(*cells, strict=True) if cells else ((), (), ())
        return csr_array((v, (r, c)), shape=(len(self.rows), len(columns)))


@dataclass
class Materials:
    """What features are computed from: a graph, its counts over training images, vectors."""

    graph: DenotationGraph
    sets: Denotations  # over the images that may be counted
    heads: Heads
    vectors: dict[str, WordVectors] = field(default_factory=dict)  # cap, img, img+hyp
    _overlaps: Overlaps | None = None
    _kept: dict[int, Ids] = field(default_factory=dict)
    _nodes: tuple[Ints, Ids] | None = None
    _words: dict[int, list[str]] = field(default_factory=dict)
    _tables: dict[tuple[str, str], tuple[dict[str, int], Floats]] = field(default_factory=dict)

    @property
    def overlaps(self) -> Overlaps:
        if self._overlaps is None:
            self._overlaps = Overlaps(self.sets, LEAST)
        return self._overlaps

    def joint(self, node: int, others: Ids | Ints) -> Ids:
        """The images that a node shares with others, all of them common nodes."""
        found = self._kept.get(node)
        if found is None:
            if len(self._kept) > 2000:
                self._kept.clear()
            found = self._kept[node] = self.overlaps.of(node)[self.overlaps.nodes]
        shared: Ids = found[np.searchsorted(self.overlaps.nodes, others)]
        return shared

    def premise_nodes(self, captions: Sequence[int]) -> Ids:
        """The common nodes that any of the captions reduces to."""
        if self._nodes is None:
            nodes, of = self.graph.caption_incidences()
            common = self.sets.sizes[nodes] >= LEAST
            nodes, of = nodes[common], of[common]
            order = np.argsort(of, kind="stable")
            offsets = np.searchsorted(of[order], np.arange(len(self.graph.captions) + 1))
            self._nodes = offsets.astype(np.int64), nodes[order]
        offsets, nodes = self._nodes
        return np.unique(np.concatenate([nodes[offsets[c] : offsets[c + 1]] for c in captions]))

    def words(self, caption: int) -> list[str]:
        """The words of a caption, without function words."""
        if caption not in self._words:
            self._words[caption] = words_of(self.graph.parses[caption])
        return self._words[caption]

    def word_table(self, name: str, which: str, words: Iterable[str]) -> tuple[dict[str, int], Floats]:
        """Similarities of words of hypotheses with all words."""
        if (name, which) not in self._tables:
            vectors = self.vectors[name]
            known = sorted({word for word in words if word in vectors.number})
            self._tables[name, which] = ({word: k for k, word in enumerate(known)}, vectors.table(known, which))
        return self._tables[name, which]


def count_vectors(graph: DenotationGraph, images: Ids, least: int = 10) -> dict[str, WordVectors]:
    """Vectors counted by caption, by image, and by image with hypernyms, over some images."""
    chosen = set(images.tolist())
    captions: list[list[str]] = []
    by_image: dict[int, list[str]] = defaultdict(list)
    for caption, image in enumerate(graph.caption_images.tolist()):
        if image in chosen:
            words = words_of(graph.parses[caption])
            captions.append(words)
            by_image[image] += words
    return {
        "cap": WordVectors.count(captions, least),
        "img": WordVectors.count(by_image.values(), least),
        "img+hyp": WordVectors.count((with_hypernyms(words, graph.heads) for words in by_image.values()), least),
    }


def bag_features(
    hypothesis: Sequence[str], premises: Sequence[Sequence[str]], heads: Heads | None = None
) -> dict[str, float]:
    """BoW, or BoW-H with the hypernyms of `heads`.

    >>> bag_features(["dog", "run"], [["dog"], ["big", "dog"]])
    {'share': 0.5, 'word dog': 2.0}
    """
    counts: dict[str, int] = defaultdict(int)
    for words in premises:
        for word in words if heads is None else with_hypernyms(words, heads):
            counts[word] += 1
    own = [word for word in hypothesis if word not in STOP_WORDS]
    found = {"share": sum(word in counts for word in own) / max(len(own), 1)}
    for word in own:
        if word in counts:
            found[f"word {word}"] = found.get(f"word {word}", 0.0) + float(counts[word])
    return found


def denotational_features(material: Materials, frame: Frame, premises: Ids | Ints, which: str) -> dict[str, float]:
    """Features of `nPMI` or `P` between the constituents of a hypothesis and nodes of premises."""
    if which not in ("nPMI", "P"):
        raise ConfigError(f"denotational similarities are nPMI and P, got {which!r}")
    graph, sets = material.graph, material.sets
    sizes = sets.sizes[premises]
    found: dict[str, float] = {}
    total, best = 0.0, 0.0
    for name, phrase in frame.constituents().items():
        node = graph.find(phrase)
        if node < 0 or sets.size(node) < LEAST:
            continue
        joint = material.joint(node, premises)
        kept = joint >= JOINT
        if which == "nPMI":
            scores = npmi(joint[kept], np.full(int(kept.sum()), sets.size(node)), sizes[kept], sets.items)
        else:
            scores = joint[kept] / sizes[kept]
        if not len(scores):
            continue
        own_sum, own_max = float(scores.sum()), float(scores.max())
        values = {"sum": own_sum, "max": own_max}
        if which == "P":
            values["P(h|P)"] = float(1 - np.exp(np.log1p(-np.minimum(scores, 1 - 1e-9)).sum()))
        for what, value in values.items():
            found[f"{which} {what} {name}"] = value
            found[f"{which} {what} {name}={phrase}"] = value
        total, best = total + own_sum, max(best, own_max)
    found[f"{which} sum"], found[f"{which} max"] = total, best
    return found


def lexical_features(
    table: tuple[dict[str, int], Floats],
    vectors: WordVectors,
    hypothesis: Sequence[str],
    premises: Sequence[str],
    which: str,
) -> dict[str, float]:
    """Sum and maximum of a similarity of words."""
    numbers, rows = table
    columns = vectors.known(premises)
    found: dict[str, float] = {}
    total, best = 0.0, 0.0
    for word in dict.fromkeys(hypothesis):
        if word not in numbers or not columns:
            continue
        own = rows[numbers[word], columns]
        own_sum, own_max = float(own.sum()), float(own.max())
        found[f"{which} sum {word}"], found[f"{which} max {word}"] = own_sum, own_max
        total, best = total + own_sum, max(best, own_max)
    found[f"{which} sum"], found[f"{which} max"] = total, best
    return found


@dataclass
class Fit:
    """A trained classifier of items."""

    right: Bools  # which test items it gets right
    accuracy: float
    features: int
    c: float


def scale_of(rows: csr_array) -> Floats:
    """Factors that give the values of every feature, where it is there, a mean square of 1: rare ones stay rare.

    >>> scale_of(csr_array([[2.0, 0.0], [0.0, 3.0], [2.0, 0.0]])).round(3).tolist()
    [0.5, 0.333]
    """
    squares = np.asarray(rows.multiply(rows).sum(axis=0)).ravel()
    there = np.maximum(np.asarray((rows != 0).sum(axis=0)).ravel(), 1)
    found: Floats = 1 / np.sqrt(np.where(squares > 0, squares / there, 1.0))
    return found


def fit(
    train: Table,
    test: Table,
    labels: Bools,
    gold: Bools,
    groups: Ints,
    seed: int = 0,
    strengths: Sequence[float] = (0.01, 0.1),
) -> Fit:
    """A MaxEnt classifier; its regularization is chosen on a tenth of the training images."""
    from weft.learn.linear.classifiers import logistic_regression

    x, z = train.matrix(), test.matrix(train.names)
    scale = scale_of(x)
    x, z = csr_array(x.multiply(scale)), csr_array(z.multiply(scale))
    held = np.isin(
        groups, np.random.default_rng(seed).permutation(np.unique(groups))[: max(1, len(np.unique(groups)) // 10)]
    )
    best = (-1.0, strengths[0])
    for c in strengths if len(strengths) > 1 else ():
        machine = logistic_regression(x[~held], labels[~held], c=c)
        best = max(best, (float((machine.predict(x[held]) == labels[held]).mean()), c))
    machine = logistic_regression(x, labels, c=best[1])
    right: Bools = machine.predict(z) == gold
    return Fit(right, float(right.mean()), len(train.names), best[1])
