"""Distances of domains by their raw documents: which of them are worth labelling?

Documents become words and word pairs, these are projected by structural correspondence (pivots: terms of more than so
many documents of every domain, the most frequent ones), and `weft.evaluate.domains.distance` asks how well a linear
classifier tells the projected documents of two domains apart. What all domains share counts, topical words that a
classifier of opinions need not know count little.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from weft.errors import DataError
from weft.evaluate.domains.distance import DomainDistances, domain_distances
from weft.features.document_terms import Terms
from weft.tasks.sentiment.polarity_model import choose_pivots, project_documents


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
        raise DataError(f"distances need two domains or more, got {len(domains)}")
    terms = Terms.of([text for texts in domains.values() for text in texts], documents)
    rows = {name: terms.rows(texts) for name, texts in domains.items()}
    return row_distances(rows, pivots, pivot_documents, dimensions, seed)


def row_distances(
    rows: Mapping[str, csr_matrix], pivots: int = 500, pivot_documents: int = 5, dimensions: int = 50, seed: int = 0
) -> DomainDistances:
    """The same for documents that are rows of terms already."""
    projected = project_domains(list(rows.values()), pivots, pivot_documents, dimensions, seed)
    return domain_distances(dict(zip(rows, projected, strict=True)), seed=seed)


def project_domains(
    rows: Sequence[csr_matrix], pivots: int = 500, pivot_documents: int = 5, dimensions: int = 50, seed: int = 0
) -> list[Any]:
    """Documents of several domains in the space that their shared terms span."""
    found = choose_pivots("scl", rows[0], np.zeros(rows[0].shape[0]), rows, pivots, pivot_documents)
    theta = project_documents(rows, found, dimensions, seed=seed)
    return [theta.project(each).astype(np.float64) for each in rows]
