"""Grow entity lists from raw text through the contexts of known entities (Talukdar et al. 2006).

Contexts of seeds yield trigger words, triggers yield automata, automata extract candidates (`contexts`, `extraction`).
Then patterns are scored by the seeds they extract, and entities by the remaining patterns:

    pos(p), neg(p) = distinct seeds of the class of p, and of other classes, that p extracts
    G              = {p : neg(p) = 0 and pos(p) >= min_seeds}
    S(e)           = |{p in G : p extracts e}|

Entities with S(e) >= min_score may become seeds for another round.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from weft.arrays import Ints
from weft.errors import ConfigError, DataError
from weft.features.gazetteer import Gazetteer
from weft.lexical.growth.contexts import gather, induce
from weft.lexical.growth.extraction import Extractions, Group, droppable, extract, trim
from weft.lexical.growth.token_store import TokenStore, split_possessives
from weft.text.corpus import Corpus
from weft.text.doc import Doc

SIDES = {"left": (False,), "right": (True,), "both": (False, True)}
Seeds = Mapping[str, Iterable[str | Sequence[str]]]


@dataclass
class GrowthSettings:
    """Settings of list growth."""

    window: int = 10  # context words, W
    triggers: int = 500  # trigger words per class, n
    k: float = 0.3  # transitions below this fraction of their state's best are pruned
    min_seeds: int = 3  # seeds that a pattern must extract; 10 in the paper, with 18 billion words
    min_score: int = 2  # patterns that must extract an entity before it becomes a seed
    iterations: int = 1
    side: str = "left"  # context on this side of the slot: left, right, both
    longest: int = 5  # maximum number of words in a slot
    limits: dict[str, int] = field(default_factory=dict)  # the same per class
    negatives: bool = True  # whether to discard patterns that extract seeds of other classes
    containing: dict[str, str] = field(default_factory=dict)  # class: letters that its patterns must contain
    stop_words: int = 150  # the most frequent lower-case words are droppable, as are words seldom capitalized
    more_stop_words: tuple[str, ...] = ()
    capitalized: bool = True  # whether uncapitalized words are droppable
    min_seed_words: int = 1  # shorter seeds are not searched in the text; 2 in the paper
    whole_names: bool = True  # skip seeds next to a capitalized word
    document_words: int = 2000  # longer documents are split for document frequencies
    workers: int = 1

    def check(self, classes: Iterable[str]) -> None:
        """Reject invalid values."""
        for name in (
            "window",
            "triggers",
            "min_seeds",
            "min_score",
            "iterations",
            "longest",
            "min_seed_words",
            "workers",
        ):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, but is {getattr(self, name)}")
        if not 0 < self.k <= 1:
            raise ConfigError(f"k must be above 0 and at most 1, but is {self.k}")
        if self.side not in SIDES:
            raise ConfigError(f"side must be one of {', '.join(SIDES)}, but is {self.side!r}")
        known = list(classes)
        for name in ("limits", "containing"):
            for label in getattr(self, name):
                if label not in known:
                    raise ConfigError(
                        f"{name} names the class {label!r}; the classes of the seeds are {', '.join(known)}"
                    )


@dataclass(frozen=True)
class Pattern:
    """A context, with `-ENT-` for the slot and `-EDGE-` for the end of a sentence."""

    label: str
    text: str
    side: str  # position of its trigger: left or right of the slot
    positive: int  # seeds of its class that it extracts
    negative: int  # seeds of other classes
    entities: int  # distinct entities that it extracts
    kept: bool


@dataclass(frozen=True)
class Entity:
    """A name that patterns extract."""

    label: str
    text: str
    score: int  # patterns that extract it
    count: int  # how often they do
    seed: bool


@dataclass
class Growth:
    """The results: patterns and entities, best first, and statistics of the run."""

    patterns: list[Pattern]
    entities: list[Entity]
    seeds: dict[str, list[str]]
    figures: dict[str, int]

    @property
    def kept(self) -> list[Pattern]:
        """The patterns that support the entities."""
        return [pattern for pattern in self.patterns if pattern.kept]

    def lists(self, min_score: int = 1, seeds: bool = True) -> dict[str, list[str]]:
        """The grown list of every class: entities with at least the given score, with or without the seeds."""
        lists: dict[str, set[str]] = {label: set(known) if seeds else set() for label, known in self.seeds.items()}
        for entity in self.entities:
            if entity.score >= min_score:
                lists[entity.label].add(entity.text)
        return {label: sorted(names) for label, names in lists.items()}

    def gazetteer(self, min_score: int = 1, seeds: bool = True) -> Gazetteer:
        """The grown lists as tagger features."""
        return Gazetteer(self.lists(min_score, seeds))


def grow(
    corpus: Corpus | Sequence[Corpus], seeds: Seeds, settings: GrowthSettings | None = None, spool: bool = False
) -> Growth:
    """Grow lists of seeds, by class, from a corpus or its shards.

    Documents without words are split by rule. With `spool`, the text is kept as numbers in temporary files instead of
    in memory. The result does not depend on workers, shards or the order of documents.

    >>> text = "We met Ann Lee at noon. They met Bo Day at dusk. I met Cy Fox at home. She met Di Ash at sea."
    >>> growth = grow(Corpus([Doc(text)]), {"person": ["Ann Lee", "Bo Day", "Cy Fox"]})
    >>> [(pattern.text, pattern.positive) for pattern in growth.kept]
    [('met -ENT- at', 3)]
    >>> [entity.text for entity in growth.entities if not entity.seed]
    ['Di Ash']
    """
    settings = settings or GrowthSettings()
    settings.check(seeds)
    _spelled(seeds)  # report bad seeds before reading a long text
    if not spool:
        store = TokenStore.of(corpus, settings.document_words, settings.workers)
        return grow_from(store, seeds, settings)
    with TemporaryDirectory(prefix="weft-") as folder:
        store = TokenStore.of(corpus, settings.document_words, settings.workers, Path(folder))
        return grow_from(store, seeds, settings)


def grow_from(store: TokenStore, seeds: Seeds, settings: GrowthSettings) -> Growth:
    """Like `grow`, from a text already stored as numbers, for several runs over one text."""
    settings.check(seeds)
    spelled = _spelled(seeds)
    stop_words = store.stop_words(settings.stop_words) | {word.lower() for word in settings.more_stop_words}
    drop = droppable(store.words, stop_words, settings.capitalized)
    growth: Growth | None = None
    current = {label: list(given) for label, given in spelled.items()}
    for iteration in range(settings.iterations):
        growth = _one_round(store, current, settings, stop_words, drop)
        growth.figures["iterations"] = iteration + 1
        grown = _more_seeds(growth, current, settings.min_score)
        if grown == current or iteration + 1 == settings.iterations:
            break
        current = grown
    assert growth is not None
    first = {label: set(given) for label, given in spelled.items()}
    growth.entities = [Entity(e.label, e.text, e.score, e.count, e.text in first[e.label]) for e in growth.entities]
    growth.seeds = spelled
    return growth


def _one_round(
    store: TokenStore,
    seeds: Mapping[str, Sequence[str]],
    settings: GrowthSettings,
    stop_words: set[str],
    drop: np.ndarray,
) -> Growth:
    labels = list(seeds)
    sides = SIDES[settings.side]
    sought = {
        label: [seed for seed in given if seed.count(" ") + 1 >= settings.min_seed_words]
        for label, given in seeds.items()
    }
    contexts = gather(store, sought, settings.window, settings.whole_names, sides)
    idf = store.idf()
    groups: list[Group] = []
    owners: list[tuple[str, bool]] = []
    n_contexts = n_automata = 0
    for side in sides:
        for label, class_contexts in zip(labels, contexts[side], strict=True):
            automata = list(induce(class_contexts, idf, settings.triggers, settings.k).values())
            groups.append(Group(automata, settings.limits.get(label, settings.longest), side))
            owners.append((label, side))
            n_contexts += len(class_contexts.after)
            n_automata += len(automata)
    extracted = extract(store, groups, drop, settings.workers)
    growth = _judge(store, extracted, owners, seeds, settings, stop_words)
    growth.figures |= {
        "documents": store.n_documents,
        "tokens": store.n_tokens,
        "contexts": n_contexts,
        "automata": n_automata,
        "patterns": len(growth.patterns),
        "kept": len(growth.kept),
    }
    return growth


def _judge(
    store: TokenStore,
    extracted: Extractions,
    owners: Sequence[tuple[str, bool]],
    seeds: Mapping[str, Sequence[str]],
    settings: GrowthSettings,
    stop_words: set[str],
) -> Growth:
    """Filter patterns by the seeds they extract, score entities by the remaining patterns, and rank both."""
    labels = list(seeds)
    names = [store.string(tokens) for tokens in extracted.entities]
    known = {
        label: {
            name for seed in given for name in (seed, " ".join(trim(seed.split(), stop_words, settings.capitalized)))
        }
        for label, given in seeds.items()
    }
    is_seed = np.array([[name in known[label] for label in labels] for name in names], dtype=bool)
    is_seed = is_seed.reshape(len(names), len(labels))
    n = len(extracted.patterns)
    label_of = np.array([labels.index(owners[group][0]) for group, _ in extracted.patterns], dtype=np.int64)
    pattern, entity = extracted.of_pattern, extracted.of_entity
    of_class = is_seed[entity, label_of[pattern]]
    others = is_seed[entity].any(axis=1) & ~of_class
    positive, negative = _tally(pattern[of_class], n), _tally(pattern[others], n)
    sizes = _tally(pattern, n)
    texts = [store.string(tokens[::-1] if owners[group][1] else tokens) for group, tokens in extracted.patterns]
    wanted = np.array(
        [
            settings.containing.get(owners[group][0], "") in text
            for (group, _), text in zip(extracted.patterns, texts, strict=True)
        ],
        dtype=bool,
    )
    kept = (positive >= settings.min_seeds) & wanted & ((negative == 0) | (not settings.negatives))
    patterns = [
        Pattern(
            owners[group][0], texts[i], "right" if owners[group][1] else "left",
            int(positive[i]), int(negative[i]), int(sizes[i]), bool(kept[i]),
        )
        for i, (group, _) in enumerate(extracted.patterns)
        if positive[i] > 0
    ]  # fmt: skip
    patterns.sort(key=lambda p: (p.label, not p.kept, -p.positive, -p.entities, p.text, p.side))
    entities: list[Entity] = []
    for c, label in enumerate(labels):
        used = kept[pattern] & (label_of[pattern] == c)
        scores = _tally(entity[used], len(names))
        counts = np.bincount(entity[used], weights=extracted.counts[used], minlength=len(names)).astype(np.int64)
        for i in np.flatnonzero(scores).tolist():
            entities.append(Entity(label, names[i], int(scores[i]), int(counts[i]), bool(is_seed[i, c])))
    entities.sort(key=lambda e: (e.label, -e.score, -e.count, e.text))
    return Growth(patterns, entities, {}, {})


def _more_seeds(growth: Growth, seeds: Mapping[str, list[str]], min_score: int) -> dict[str, list[str]]:
    """The seeds plus the entities that enough patterns extract; an entity claimed by two classes goes to neither."""
    claims: dict[str, set[str]] = {}
    for entity in growth.entities:
        if entity.score >= min_score:
            claims.setdefault(entity.text, set()).add(entity.label)
    grown = {label: set(given) for label, given in seeds.items()}
    taken = set().union(*grown.values())
    for name, classes in claims.items():
        if len(classes) == 1 and name not in taken:
            grown[next(iter(classes))].add(name)
    return {label: sorted(names) for label, names in grown.items()}


def _spelled(seeds: Seeds) -> dict[str, list[str]]:
    if not seeds:
        raise DataError("there are no seeds; provide at least one class with entities")
    return {label: _seed_texts(label, given) for label, given in seeds.items()}


def _seed_texts(label: str, given: Iterable[str | Sequence[str]]) -> list[str]:
    """Seeds with spaces between their words: as written, and as the tokenizer splits raw text."""
    from weft.text.split import split_by_rule

    spellings: set[str] = set()
    for seed in given:
        text = " ".join(seed.split() if isinstance(seed, str) else seed)
        if text:
            doc = Doc(text)
            split_by_rule(doc)
            words = split_possessives(doc.column("form"))
            spellings |= {text, " ".join(word for parts in words for word in parts)}
    if not spellings:
        raise DataError(f"the class {label!r} has no seeds; add some, or omit the class")
    return sorted(spellings)


def _tally(numbers: Ints, n: int) -> Ints:
    return np.bincount(numbers, minlength=n)
