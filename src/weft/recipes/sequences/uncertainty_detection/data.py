"""The material of the recipe of uncertainty-detection: BioScope with tags, lemmas and trees; noisy sentences.

Abstracts are the training set, papers the test set. Tagger, lemmatizer and parser are those of this package, trained
on the English web and genre treebanks: none of them saw biology.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from weft.formats import read
from weft.formats.streams import read_text
from weft.pipeline.component import Component
from weft.pipeline.pipeline import Pipeline
from weft.pipeline.registry import component_class
from weft.recipes.framework import RecipeOptions
from weft.tasks.uncertainty.features import observe, trees_of
from weft.tasks.uncertainty.syntax import Tree
from weft.text.conventions.hedges import Hedge, hedges_of, set_hedges, uncertain_of
from weft.text.doc import Doc

ABSTRACTS, PAPERS = "uncertainty/bioscope/abstracts.xml.gz", "uncertainty/bioscope/full_papers.xml.gz"
TREEBANKS = ("treebanks/ud/English-GUM/train.conllu.gz", "treebanks/ud/English-EWT/train.conllu.gz")
SUBJECTIVE = "sentiment/subjectivity/quote.tok.gt9.5000.gz"
OBJECTIVE = "sentiment/subjectivity/plot.tok.gt9.5000.gz"
FOLDS = 3


@dataclass
class Sentences:
    """Documents as one observed document, with trees, hedges and classes by sentence."""

    docs: list[Doc]
    seen: Doc
    trees: list[Tree]
    hedges: list[list[Hedge]]
    uncertain: NDArray[np.bool_]
    document: NDArray[np.int64]  # number of each sentence's document

    @classmethod
    def of(cls, docs: Sequence[Doc]) -> Sentences:
        """Everything that experiments ask of documents, worked out once."""
        return cls(
            list(docs),
            observe(docs),
            [tree for doc in docs for tree in trees_of(doc)],
            [each for doc in docs for each in hedges_of(doc)],
            np.array([each for doc in docs for each in uncertain_of(doc)]),
            np.repeat(np.arange(len(docs)), [doc.n_sentences for doc in docs]),
        )

    def __len__(self) -> int:
        return len(self.trees)

    def folds(self, folds: int = FOLDS) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Numbers of sentences outside and inside each fold; a document is in one fold."""
        own = self.document % folds
        return [(np.flatnonzero(own != fold), np.flatnonzero(own == fold)) for fold in range(folds)]


def annotators(
    options: RecipeOptions, tasks: Sequence[str] = ("tagger", "lemmatizer", "parser"), every: int = 1
) -> Pipeline:
    """Tagger, lemmatizer and parser, trained on the treebanks, or on one document in so many; a quick run: in four."""
    docs = [doc for name in TREEBANKS for doc in read(options.find(name))][:: 4 if options.quick else every]
    components: list[Component] = []
    for task in tasks:
        settings = {"epochs": 3} if task != "lemmatizer" else {}
        component = component_class(task).from_options({**settings, "seed": options.seed})
        component.fit(docs)
        components.append(component)
    return Pipeline(components)


def bioscope(options: RecipeOptions, annotate: Callable[[Sequence[Doc]], None]) -> tuple[list[Doc], list[Doc]]:
    """Abstracts and papers, annotated; for a quick run a part of the abstracts."""
    abstracts = list(read(options.find(ABSTRACTS)))
    if options.quick:
        abstracts = abstracts[:300]
    papers = list(read(options.find(PAPERS)))
    for docs in (abstracts, papers):
        annotate(docs)
    return abstracts, papers


def subjectivity(options: RecipeOptions) -> Doc:
    """Subjective sentences, marked as uncertain, and objective ones: evidence that is noisy and spread over words."""
    kinds = [_lines(options.find(name)) for name in (SUBJECTIVE, OBJECTIVE)]
    # By turns, so that folds by sentence have both kinds.
    rows = [(line, kind == 0) for pair in zip(*kinds, strict=False) for kind, line in enumerate(pair)]
    doc = Doc.from_words([line.split() for line, _ in rows])
    set_hedges(doc, [[] for _ in rows], uncertain=[unsure for _, unsure in rows])
    return doc


def flipped(uncertain: NDArray[np.bool_], share: float, seed: int) -> NDArray[np.bool_]:
    """Classes of which some are turned around: annotation as noisy as that of weasels.

    >>> int(flipped(np.zeros(10, dtype=bool), 0.3, seed=0).sum())
    3
    """
    changed = uncertain.copy()
    chosen = np.random.default_rng(seed).choice(len(changed), round(share * len(changed)), replace=False)
    changed[chosen] = ~changed[chosen]
    return changed


def _lines(path: Path) -> list[str]:
    return [line.strip() for line in read_text(str(path), "latin-1").split("\n") if line.strip()]
