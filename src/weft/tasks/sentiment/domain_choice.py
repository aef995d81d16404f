"""Distances between domains from raw documents, to choose the domains that are worth labelling.

Documents are represented by words and word bigrams and projected by structural correspondence, with the most frequent
terms that all domains share as pivots. `weft.evaluate.domains.distance` measures how well a linear classifier
distinguishes the projected documents of two domains. This emphasizes what all domains share; topical words, which are
irrelevant to polarity, have little weight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from weft.errors import DataError
from weft.evaluate.domains.distance import DomainDistances, domain_distances, proxy_distance
from weft.features.document_terms import Terms
from weft.tasks.sentiment.polarity_model import choose_pivots, project_documents

#: Distances below the first are near; above the second, far.
_NEAR, _FAR = 10.0, 50.0


def document_distances(
    domains: Mapping[str, Sequence[str]],
    pivots: int = 500,
    pivot_documents: int = 5,
    dimensions: int = 50,
    documents: int = 3,
    seed: int = 0,
) -> DomainDistances:
    """The proxy A-distances of domains, each given by its texts.

    >>> talk = ["it is fine", "it is dull", "fine it is"] * 4
    >>> domains = {"films": talk, "plays": talk, "pans": [f"{text} to cook in" for text in talk]}
    >>> distances = document_distances(domains, dimensions=5)
    >>> distances.of("films", "plays") < distances.of("films", "pans")
    True
    """
    if len(domains) < 2:
        raise DataError(f"distances need at least two domains, got {len(domains)}")
    terms = Terms.of([text for texts in domains.values() for text in texts], documents)
    rows = {name: terms.rows(texts) for name, texts in domains.items()}
    return row_distances(rows, pivots, pivot_documents, dimensions, seed)


def hidden_differences(
    domains: Mapping[str, Sequence[str]], distances: DomainDistances, documents: int = 3, seed: int = 0
) -> list[tuple[str, str, float]]:
    """Pairs of domains that look alike in the terms they share although all of their words tell them apart.

    With each comes its distance in the space of all words. Topics differ there; how opinions are worded may, too, which
    a few shared terms cannot show.

    >>> talk = ["it is fine", "it is dull", "fine it is"] * 4
    >>> domains = {"films": talk, "pans": [f"{text} a pan" for text in talk]}
    >>> distances = DomainDistances(("films", "pans"), np.zeros((2, 2)))
    >>> [pair[:2] for pair in hidden_differences(domains, distances)]
    [('films', 'pans')]
    """
    terms = Terms.of([text for texts in domains.values() for text in texts], documents)
    found = []
    for one, other in combinations(domains, 2):
        if distances.of(one, other) < _NEAR:
            by_words = proxy_distance(terms.rows(domains[one]), terms.rows(domains[other]), seed=seed)
            if by_words > _FAR:
                found.append((one, other, by_words))
    return found


def row_distances(
    rows: Mapping[str, csr_matrix], pivots: int = 500, pivot_documents: int = 5, dimensions: int = 50, seed: int = 0
) -> DomainDistances:
    """The same for documents given as term vectors."""
    projected = project_domains(list(rows.values()), pivots, pivot_documents, dimensions, seed)
    return domain_distances(dict(zip(rows, projected, strict=True)), seed=seed)


def project_domains(
    rows: Sequence[csr_matrix], pivots: int = 500, pivot_documents: int = 5, dimensions: int = 50, seed: int = 0
) -> list[Any]:
    """Project documents of several domains into the space of their shared terms."""
    chosen = choose_pivots("scl", rows[0], np.zeros(rows[0].shape[0]), rows, pivots, pivot_documents)
    theta = project_documents(rows, chosen, dimensions, seed=seed)
    return [theta.project(each).astype(np.float64) for each in rows]
