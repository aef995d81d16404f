"""Taggers that the recipe of flors compares: FLORS with its switches, and taggers that know words by their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weft.evaluate.domains.tag_shift import DomainReport, evaluate_domain
from weft.features.representations.counts import BOUNDARY, NeighbourCounts
from weft.features.representations.words import PADDING, UNKNOWN, DenseVectors
from weft.lexical.clusters.monolingual import cluster_words
from weft.pipeline.component import Component
from weft.recipes.corpora.adaptation import Sentences, sentences_of
from weft.tasks.tagging.flors import Flors, FlorsSettings
from weft.tasks.tagging.tagger import Tagger, TaggerSettings
from weft.tasks.tagging.trigrams import TrigramSettings, TrigramTagger
from weft.text.doc import Doc
from weft.training.scores import bare

COLUMN = "xpos"
#: Letters that a new name keeps: as many as the longest endings that a signature knows have (-ing, -ion, -est, -ity).
ENDING = 3
#: Taggers of the main table, with the row of the paper that each stands for.
BASELINES = {
    "trigram HMM": "TnT",
    "left-to-right SVM": "SVMTool",
    "perceptron": "Stanford",
    "own tagger": "C&P",
}
#: Switches of the paper's ablations: settings, and the paper's accuracy on reviews (all, unknown), dev.
ABLATIONS: dict[str, tuple[dict[str, Any], tuple[float, float] | None]] = {
    "FLORS": ({}, (92.95, 75.29)),
    "n = 250": ({"indicators": 250}, (92.93, 75.45)),
    "n = 0": ({"indicators": 0}, (91.80, 66.31)),
    "no contexts of neighbours": ({"neighbours": "suffixes,shape"}, None),
    "no suffixes": ({"centre": "contexts,shape", "neighbours": "contexts,shape"}, (92.74, 71.94)),
    "no suffixes of neighbours": ({"neighbours": "contexts,shape"}, None),
    "no shapes": ({"centre": "contexts,suffixes", "neighbours": "contexts,suffixes"}, (92.24, 68.70)),
    "no shapes of neighbours": ({"neighbours": "contexts,suffixes"}, None),
    "l = 1": ({"window": 1}, (92.69, 75.72)),
    "left to right": ({"left_to_right": True}, (92.97, 75.40)),
    "with vocabulary": (
        {"centre": "contexts,suffixes,shape,identity", "neighbours": "contexts,suffixes,shape,identity"},
        (92.91, 75.03),
    ),
    "suffixes of _w": ({"mark_words": True}, None),
    "classes of words": ({"contexts": "clusters"}, (92.23, 71.47)),
    "dense vectors": ({"contexts": "embeddings"}, (92.54, 72.48)),
}


@dataclass
class Texts:
    """What taggers of one target domain learn from."""

    source: Doc
    target_raw: Sentences
    source_raw: Sentences
    _raw: dict[str, Doc] = field(default_factory=dict)

    def raw(self) -> tuple[list[Doc], list[Doc]]:
        """Raw text of target and source as documents."""
        if not self._raw:
            self._raw = {"target": Doc.from_words(self.target_raw), "source": Doc.from_words(self.source_raw)}
        return [self._raw["target"]], [self._raw["source"]]

    def all(self) -> Sentences:
        """All text, labelled or not."""
        return sentences_of(self.source) + self.source_raw + self.target_raw


def flors(texts: Texts, **settings: Any) -> Flors:
    """FLORS with some settings changed; classes and dense vectors are made from all text."""
    tagger = Flors(FlorsSettings.from_options({"column": COLUMN, **settings}))
    more: dict[str, Any] = {}
    if settings.get("contexts") == "clusters":
        more["classes"] = cluster_words(texts.all(), 200, 5, rounds=5, lower=True).paths()
    if settings.get("contexts") == "embeddings":
        more["dense"] = dense_vectors(texts.all())
    tagger.adapt([texts.source], *texts.raw(), **more)
    return tagger


def baseline(name: str, source: Doc) -> Component:
    """A tagger that knows words by their names, learned from labelled text alone."""
    if name == "left-to-right SVM":
        settings = {"centre": "identity,suffixes,shape", "neighbours": "identity", "left_to_right": True}
        found: Component = Flors(FlorsSettings.from_options({"column": COLUMN, **settings}))
    elif name == "trigram HMM":
        found = TrigramTagger(TrigramSettings(column=COLUMN))
    else:
        found = Tagger(TaggerSettings(column=COLUMN, learner="perceptron" if name == "perceptron" else "adagrad"))
    found.fit([source])
    return found


def tried(tagger: Component, source: Doc, gold: Doc) -> DomainReport:
    """What a tagger gets right in a text."""
    system = bare(gold)
    tagger([system])
    return evaluate_domain([source], [gold], [system], COLUMN)


def dense_vectors(sentences: Sentences, size: int = 50, least: int = 3) -> DenseVectors:
    """Dense vectors of the words of a text: counts of neighbours cut to their first singular vectors.

    The vector of unknown words is the mean of those of the rarest words, digits are read as 0. They stand in for
    vectors learned from more text than is at hand.
    """
    from scipy.sparse.linalg import svds

    counts = NeighbourCounts()
    counts.add([["".join("0" if letter.isdigit() else letter for letter in word) for word in row] for row in sentences])
    words = [word for word in counts.most_frequent(len(counts) + 1) if counts.frequency(word) >= least]
    counts.freeze(500)
    left, values, _ = svds(counts.vectors(words), k=size, random_state=0)
    table = left * values
    rare = np.array([counts.frequency(word) <= least for word in words])
    unknown = table[rare].mean(axis=0) if rare.any() else table.mean(axis=0)
    edge = table[words.index(BOUNDARY)]
    return DenseVectors([*words, UNKNOWN, PADDING], np.vstack([table, unknown, edge]))


def renamed_types(
    texts: Texts, test: Doc, share: float, seed: int, draws: int = 1, keep: int = ENDING, least: int = 20
) -> list[dict[str, str]]:
    """New names for word types of the test text that labelled text has, and raw text often.

    Each draw names a share of them anew, and no type is in two draws. A name keeps the last letters and the case.
    """
    raw = NeighbourCounts()
    raw.add(texts.target_raw)
    known = {form.lower() for form in texts.source.column("form")}
    types = sorted({form.lower() for form in test.column("form") if form.isalpha() and len(form) > 3})
    common = [form for form in types if form in known and raw.frequency(form) >= least]
    order, size = np.random.default_rng(seed).permutation(len(common)), round(share * len(common))
    chosen = [[common[i] for i in sorted(order[draw * size : (draw + 1) * size])] for draw in range(draws)]
    return [{form: f"q{_letters(k)}{form[len(form) - keep :]}" for k, form in enumerate(own)} for own in chosen]


def with_names(sentences: Sequence[Sequence[str]], names: dict[str, str]) -> Sentences:
    """Sentences with some word types under new names.

    >>> with_names([["Love", "it"]], {"love": "qaxve"})
    [['Qaxve', 'it']]
    """
    found: Sentences = []
    for words in sentences:
        row = []
        for word in words:
            new = names.get(word.lower(), word)
            row.append(new.capitalize() if new != word and word[:1].isupper() else new)
        found.append(row)
    return found


def _letters(number: int) -> str:
    """A number as syllables."""
    return "".join("bdfgklmnprstvzhjc"[number // 5**k % 17] + "aeiou"[number // 5**k % 5] for k in range(3))
