"""Reviews in four domains for adapting classifiers, deduplicated, in folds, and each system's correct decisions.

Of five folds per domain the first is for development; the others are tested one by one, with the rest as labelled text
of the source and raw text of the target. A test fold is never used in training, not even as raw text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from weft.arrays import Bools, Floats
from weft.features.document_terms import Terms, document_counts, unit_rows
from weft.formats.reviews import Review, read_reviews, without_duplicates
from weft.learn.protocol import Indices
from weft.tasks.sentiment.polarity_model import (
    PolarityModel,
    choose_pivots,
    correct_polarity,
    fit_polarity,
    project_documents,
)

DOMAINS = ("books", "dvd", "electronics", "kitchen")
FILES = {name: f"sentiment/blitzer-raw/{name}.tsv.gz" for name in DOMAINS}
FOLDS = 5
SYSTEMS = ("base", "base+50", "SCL", "SCL-MI", "SCL-MI+50")


@dataclass(frozen=True)
class Sizes:
    """Data sizes: documents per domain, pivots, dimensions, draws of labelled target documents."""

    documents: int | None = None
    pivots: int = 500
    dimensions: int = 50
    labelled: int = 50
    draws: int = 3
    mu: float = 1e-3


@dataclass(frozen=True)
class Domains:
    """The documents of all domains as binary rows, with polarities, domains and folds."""

    names: tuple[str, ...]  # of terms
    ones: csr_matrix
    y: Floats
    domain: Indices
    fold: Indices

    def where(self, domain: int, fold: int, inside: bool) -> Indices:
        """The documents of a domain inside or outside a fold."""
        return np.flatnonzero((self.domain == domain) & ((self.fold == fold) == inside))

    def rows(self, terms: Indices) -> csr_matrix:
        """All documents as rows of some terms, normalized to length one."""
        return unit_rows(self.ones[:, terms])

    def terms(self, documents: Indices, least: int = 3) -> Indices:
        """The terms that occur in at least `least` of some documents."""
        return np.flatnonzero(document_counts(self.ones[documents]) >= least)


def load_domains(find: Callable[[str], Path], documents: int | None = None, seed: int = 0) -> Domains:
    """The four domains, deduplicated before any split; `documents` limits every domain."""
    reviews: list[Review] = []
    for name in DOMAINS:
        reviews += [review for review in read_reviews(find(FILES[name])) if review.polarity in ("pos", "neg")]
    kept = without_duplicates(reviews)
    rng = np.random.default_rng(seed)
    chosen, fold = [], []
    for name in DOMAINS:
        own = rng.permutation([i for i, review in enumerate(kept) if review.domain == name])[:documents]
        chosen += own.tolist()
        fold += [k % FOLDS for k in range(len(own))]
    texts = [f"{kept[i].title}\n{kept[i].text}" for i in chosen]
    terms = Terms.of(texts, least=3)
    return Domains(
        terms.names,
        terms.rows(texts, unit=False),
        np.array([1.0 if kept[i].polarity == "pos" else -1.0 for i in chosen]),
        np.array([DOMAINS.index(kept[i].domain) for i in chosen]),
        np.array(fold),
    )


@dataclass(frozen=True)
class Outcome:
    """The systems' correct decisions on the test documents of one pair and fold; +50 systems have one row per draw."""

    source: int
    target: int
    fold: int
    right: dict[str, Bools]

    def accuracy(self, system: str) -> float:
        return 100.0 * float(self.right[system].mean())

    def first(self, system: str) -> Bools:
        """One decision per document: those of the first draw."""
        return np.atleast_2d(self.right[system])[0]


def in_domain(data: Domains, target: int, fold: int) -> Bools:
    """The correct decisions of a classifier trained on labelled target documents."""
    train, test = data.where(target, fold, False), data.where(target, fold, True)
    rows = data.rows(data.terms(train))
    return fit_polarity(rows[train], data.y[train]).labels(rows[test]) == data.y[test]


def pair_outcomes(
    data: Domains, one: int, other: int, fold: int, sizes: Sizes, seed: int = 0, intercept: bool = False
) -> Iterator[Outcome]:
    """Both directions of a domain pair: they share raw text and, for SCL, pivots and projection."""
    train = {each: data.where(each, fold, False) for each in (one, other)}
    rows = data.rows(data.terms(np.concatenate(list(train.values()))))
    raw = [rows[train[one]], rows[train[other]]]
    shared = None
    for source, target in ((one, other), (other, one)):
        labelled, y = rows[train[source]], data.y[train[source]]
        test = data.where(target, fold, True)
        draws = _draws(train[target], sizes, seed)
        models = {"base": fit_polarity(labelled, y)}
        for system, method in (("SCL", "scl"), ("SCL-MI", "scl-mi")):
            theta = shared if method == "scl" else None
            if theta is None:
                pivots = choose_pivots(method, labelled, y, raw, sizes.pivots)
                theta = project_documents(raw, pivots, sizes.dimensions, seed=seed)
                shared = theta if method == "scl" else shared
            models[system] = fit_polarity(labelled, y, theta, mu=sizes.mu)
        right = {system: _right(model, rows, data.y, test) for system, model in models.items()}
        for system in ("base", "SCL-MI"):
            corrected = [correct_polarity(models[system], rows[few], data.y[few], intercept=intercept) for few in draws]
            right[f"{system}+50"] = np.stack([_right(model, rows, data.y, test) for model in corrected])
        yield Outcome(source, target, fold, right)


def with_more_text(data: Domains, source: int, target: int, fold: int, sizes: Sizes, seed: int = 0) -> float:
    """Accuracy of SCL-MI with additional raw text from the two other domains."""
    others = [each for each in range(len(DOMAINS)) if each not in (source, target)]
    train = [data.where(each, fold, False) for each in (source, target, *others)]
    test = data.where(target, fold, True)
    rows = data.rows(data.terms(np.concatenate(train)))
    labelled, y = rows[train[0]], data.y[train[0]]
    raw = [rows[each] for each in train]
    pivots = choose_pivots("scl-mi", labelled, y, raw[:2], sizes.pivots)
    theta = project_documents(raw, pivots, sizes.dimensions, seed=seed)
    return 100.0 * float(_right(fit_polarity(labelled, y, theta, mu=sizes.mu), rows, data.y, test).mean())


def _right(model: PolarityModel, rows: Any, y: Floats, test: Indices) -> Bools:
    return model.labels(rows[test]) == y[test]


def _draws(documents: Indices, sizes: Sizes, seed: int) -> Sequence[Indices]:
    return [np.random.default_rng([seed, draw]).permutation(documents)[: sizes.labelled] for draw in range(sizes.draws)]
