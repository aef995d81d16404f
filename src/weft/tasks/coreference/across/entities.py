"""Cluster the mentions of a collection into entities, at one threshold or several, in a run that can be resumed.

A threshold is the bias of a level (`weft.infer.sampling.levels`): two clusters gain by merging if the mean similarity
of their pairs of mentions is above it, as in average linkage, without a table of all pairs. Several thresholds are
levels, from the highest to the lowest; each clustering is a coarsening of the one before.

Above the highest threshold lies a level of its own, the sub-entities of Singh et al. (2011): its clusters move as
blocks, which merges what single mentions cannot.

Two of three rounds bring together mentions with similar names, the third those with similar contexts, and every tenth
round spreads clusters at random. A search starts from equal names.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from weft import storage
from weft.arrays import Floats, Ints, Keys
from weft.errors import ConfigError, ModelError, WeftError
from weft.infer.sampling.items import canonical
from weft.infer.sampling.levels import Annealing, Level, Search, spread
from weft.tasks.coreference.across.mentions import Mentions
from weft.tasks.coreference.across.vectors import MentionVectors, Similarity

STARTS = ("names", "alone")


@dataclass(frozen=True)
class EntitySettings:
    """Settings of a clustering of mentions."""

    thresholds: tuple[float, ...] = (0.45,)
    similarity: Similarity = field(default_factory=Similarity)
    rounds: int = 20
    hottest: float = 0.1  #: the first temperature
    coldest: float = 0.01  #: the last one
    reach: int = 20  #: proposals per mention and round
    blocks: float = 0.1  #: clusters of a level so far above the highest threshold move as blocks; 0 for none
    splits: float = 0.0  #: the share of proposals that split or merge clusters
    largest: int = 500  #: mentions that are brought together, about
    start: str = "names"
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.thresholds or len(set(self.thresholds)) < len(self.thresholds):
            raise ConfigError(f"thresholds must be one or more different numbers, got {list(self.thresholds)}")
        if self.start not in STARTS:
            raise ConfigError(f"a search starts from one of {', '.join(STARTS)}, not from {self.start!r}")
        if self.reach < 1 or self.largest < 2 or not 0 <= self.splits <= 1 or self.blocks < 0:
            raise ConfigError(
                "reach must be at least 1, largest at least 2, splits a share and blocks 0 or more, got "
                f"{self.reach}, {self.largest}, {self.splits}, {self.blocks}"
            )
        Annealing(self.rounds, self.hottest, self.coldest)

    @property
    def falling(self) -> tuple[float, ...]:
        """The thresholds from the highest to the lowest."""
        return tuple(sorted(self.thresholds, reverse=True))


@dataclass
class Entities:
    """Clusters of mentions, one clustering per threshold, the highest threshold first."""

    mentions: Mentions
    vectors: MentionVectors
    settings: EntitySettings
    labels: list[Ints]
    trace: list[dict[str, float]]

    def at(self, threshold: float) -> Ints:
        """The clustering at a threshold: for every mention the number of the first mention of its entity."""
        try:
            return self.labels[self.settings.falling.index(threshold)]
        except ValueError:
            known = ", ".join(map(str, self.settings.falling))
            raise ConfigError(f"there is no clustering at {threshold}; the thresholds are {known}") from None

    def clusters(self, threshold: float | None = None) -> list[list[str]]:
        """The ids of mentions by entity, in the order of their first mentions; at the lowest threshold by default."""
        labels = self.labels[-1] if threshold is None else self.at(threshold)
        found: dict[int, list[str]] = {}
        for id, label in zip(self.mentions.ids, labels.tolist(), strict=True):
            found.setdefault(label, []).append(id)
        return list(found.values())

    def scores(self, level: int = -1) -> Floats:
        """The mean similarity of each mention to the others of its entity; not a number for one that is alone."""
        labels = self.labels[level]
        others = np.bincount(labels, minlength=len(labels))[labels] - 1
        return np.divide(
            self.vectors.items.to_others(labels), others, out=np.full(len(labels), np.nan), where=others > 0
        )


class EntityClusterer:
    """Clusters mentions into entities.

    >>> mentions = Mentions.of([
    ...     ("1", "Kevin Smith", "directed the film clerks"), ("2", "Kevin Smith", "wrote and directed the film dogma"),
    ...     ("3", "Kevin Smith", "the back rushed for eighty yards"), ("4", "Smith", "the back rushed for two yards"),
    ... ])
    >>> settings = EntitySettings(thresholds=(0.2,), similarity=Similarity(context_weight=0.9, name_weight=0.1))
    >>> EntityClusterer(settings).cluster(mentions).clusters()
    [['1', '2'], ['3', '4']]
    """

    def __init__(self, settings: EntitySettings | None = None, workers: int = 1, client: Any = None) -> None:
        self.settings, self.workers, self.client = settings or EntitySettings(), workers, client

    def cluster(
        self,
        mentions: Mentions,
        checkpoint: Path | None = None,
        watch: Callable[[Search], None] | None = None,
    ) -> Entities:
        """Cluster mentions; with a `checkpoint` every round is saved, and an interrupted run resumes from there."""
        vectors = MentionVectors.of(mentions, self.settings.similarity)
        search = self.search(vectors, mentions.names)
        about = self._about(mentions)
        if checkpoint is not None and checkpoint.exists():
            _restore(search, checkpoint, about)

        def saved(search: Search) -> None:
            if checkpoint is not None:
                header, arrays = search.state()
                storage.save(checkpoint, {**header, "task": "mention clusters", "about": about}, arrays)
            if watch is not None:
                watch(search)

        search.run(saved)
        labels = search.best[-len(self.settings.thresholds) :]
        return Entities(mentions, vectors, self.settings, labels, search.trace)

    def search(self, vectors: MentionVectors, names: list[str]) -> Search:
        """The search over clusterings of vectors, before its first round."""
        settings = self.settings
        n = len(names)
        random = spread(n, max(1, n // settings.largest))

        def keys(round: int, generator: np.random.Generator) -> Keys:
            if round % 10 == 9:
                return random(round, generator)
            kind = "context" if round % 3 == 2 else "name"
            return vectors.keys(kind, int(generator.integers(1 << 62)), settings.largest)

        levels = [Level(threshold) for threshold in settings.falling]
        if settings.blocks:
            levels.insert(0, Level(levels[0].bias + settings.blocks))
        start = canonical(vectors.types) if settings.start == "names" else np.arange(n)
        return Search(
            vectors.items, levels, Annealing(settings.rounds, settings.hottest, settings.coldest), keys,
            seed=settings.seed, reach=settings.reach, share=settings.splits, workers=self.workers, client=self.client,
            start=[start] * len(levels),
        )  # fmt: skip

    def _about(self, mentions: Mentions) -> dict[str, Any]:
        """What a checkpoint belongs to: settings and mentions."""
        digest = hashlib.sha256()
        for text in (mentions.ids, mentions.names, list(mentions.vocabulary)):
            digest.update("\0".join(text).encode(errors="surrogatepass"))
        digest.update(mentions.words.tobytes())
        digest.update(mentions.offsets.tobytes())
        return {"settings": _plain(self.settings), "mentions": digest.hexdigest()[:16]}


def _plain(settings: EntitySettings) -> dict[str, Any]:
    return {**asdict(replace(settings)), "thresholds": list(settings.falling)}


def _restore(search: Search, path: Path, about: dict[str, Any]) -> None:
    """Go on from a checkpoint, which must be of the same run."""
    header, arrays = storage.load(path)
    if header.get("task") != "mention clusters" or header.get("about") != about:
        raise ConfigError(
            f"{path} is the checkpoint of a run with other mentions or settings; name another folder, or delete it"
        )
    try:
        search.restore(header, arrays)
    except (KeyError, TypeError, ValueError, WeftError) as error:
        raise ModelError(f"{path}: not a checkpoint that can be resumed ({error}); delete it to start anew") from None
