"""Distances between domains from raw documents, to choose the domains that are worth labelling.

Documents are represented by words and word bigrams and projected by structural correspondence, with the most frequent
terms that all domains share as pivots. `weft.evaluate.domains.distance` measures how well a linear classifier
distinguishes the projected documents of two domains. This emphasizes what all domains share; topical words, which are
irrelevant to polarity, have little weight.
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
        raise DataError(f"distances need at least two domains, got {len(domains)}")
    terms = Terms.of([text for texts in domains.values() for text in texts], documents)
    rows = {name: terms.rows(texts) for name, texts in domains.items()}
    return row_distances(rows, pivots, pivot_documents, dimensions, seed)


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
