"""Entities across documents: proposals per second, and average linkage of scikit-learn on links.

Proposals per second of CPU time are those of whole rounds on generated mentions, sums and groups included, at a high
and at a low temperature. On links both cluster the same vectors at the same threshold; scikit-learn gets the table of
all pairs, whose computation counts. Memory is what the peer's table takes, and what the vectors take. Kernels are
compiled before the clock starts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

MENTIONS, THRESHOLD = 100_000, 0.45


def run() -> dict[str, Any]:
    """Measure both."""
    rows = [*speed(), *peers()]
    return {"title": "Entities across documents: Weft and scikit-learn", "rows": rows}


def speed() -> list[dict[str, Any]]:
    """Proposals per second on generated mentions."""
    import numpy as np

    from weft.infer.sampling.items import canonical
    from weft.infer.sampling.rounds import sample_round
    from weft.recipes.semantics.cross_document_coreference.experiment import MADE, mentions_of
    from weft.recipes.semantics.cross_document_coreference.generated import generated
    from weft.tasks.coreference.across.vectors import MentionVectors

    vectors = MentionVectors.of(mentions_of(generated(MENTIONS, 0)), MADE)
    start, keys = canonical(vectors.types), vectors.keys("name", 0, 500)
    sample_round(vectors.items, start, keys, 0.15, 0.01, reach=1)
    found = []
    for tau in (0.1, 0.01):
        done, seconds = timed(lambda tau=tau: sample_round(vectors.items, start, keys, 0.15, tau, reach=20))  # type: ignore[misc]
        share = 100 * done.accepted / done.proposals
        found.append(
            row(
                f"{MENTIONS:,} mentions at temperature {tau}, proposals/CPU s", done.proposals / seconds, None, "higher"
            )
        )
        found.append(row(f"accepted at temperature {tau}, %", share, None, ""))
    assert np.isfinite([each["Weft"] for each in found]).all()
    return found


def peers() -> list[dict[str, Any]]:
    """The links of the test part: time and B-cubed F1."""
    from sklearn.cluster import AgglomerativeClustering

    from weft import data
    from weft.evaluate.clusters import b_cubed
    from weft.recipes.semantics.cross_document_coreference import baselines, links
    from weft.tasks.coreference.across.entities import EntityClusterer, EntitySettings
    from weft.tasks.coreference.across.vectors import MentionVectors

    read = links.read_links([data.find(name) for name in links.FILES])
    mentions = links.mentions_of([read[k] for k in links.split_entities(read)[1]])
    gold = mentions.gold or []
    items = MentionVectors.of(mentions).items
    settings = EntitySettings((THRESHOLD,))
    EntityClusterer(EntitySettings((THRESHOLD,), rounds=1)).cluster(mentions)
    ours, mine = timed(lambda: EntityClusterer(settings).cluster(mentions).labels[0])

    def linkage() -> Any:
        peer = AgglomerativeClustering(
            n_clusters=None, metric="precomputed", linkage="average", distance_threshold=1 - THRESHOLD
        )
        return peer.fit_predict(1 - baselines.similarities(items))

    theirs, peer = timed(linkage)
    table = len(items) ** 2 * 4 / 1e6
    vectors = (items.values.nbytes + items.columns.nbytes + items.offsets.nbytes) / 1e6
    return [
        row(f"{len(mentions):,} links, CPU s", mine, peer, "lower"),
        row("links, B3 F1 %", 100 * b_cubed(gold, ours).f1, 100 * b_cubed(gold, theirs).f1, "higher"),
        row("links, MB of vectors or of the table of pairs", vectors, table, "lower"),
    ]


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """The result of some work, and its CPU time."""
    began = time.process_time()
    found = work()
    return found, time.process_time() - began


def row(measured: str, ours: float, theirs: float | None, better: str) -> dict[str, Any]:
    ratio = None if theirs is None else ours / theirs
    note = f"{better} is better" if better else ""
    return {"measured": measured, "Weft": ours, "scikit-learn": theirs, "ratio": ratio, "": note}
