"""Generated mentions: entities with topics, words and names of their own, and names that several entities share.

Words follow Zipf's law; 200 topics have 200 of them each. An entity mixes two topics and has 30 words of its own. A
context has 20 to 60 words, two fifths of them drawn from all words. Numbers of mentions per entity follow k^-1.6 up to
6,000. Entities have a full name; some of their mentions have the surname alone, few a misspelt name.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Ints

WORDS, TOPICS, TOPIC_WORDS, OWN_WORDS = 20_000, 200, 200, 30
SURNAMES, FIRST_NAMES = 2000, 200
BACKGROUND, TOPICAL = 0.4, 0.2  # the rest are words of the entity's own
MISSPELT = 0.02


@dataclass(frozen=True)
class Generated:
    """Mentions: the words of mention m are `words[offsets[m]:offsets[m + 1]]`."""

    entities: Ints
    names: list[str]
    words: NDArray[np.int32]
    offsets: Ints

    def __len__(self) -> int:
        return len(self.entities)

    def context(self, mention: int) -> list[str]:
        return [f"w{word}" for word in self.words[self.offsets[mention] : self.offsets[mention + 1]]]


def generated(n: int, seed: int, entities: int | None = None, names: bool = True) -> Generated:
    """So many mentions, shuffled; of a given number of entities, or of as many as the sizes ask for.

    >>> data = generated(50, seed=0)
    >>> len(data.names), int(data.offsets[-1]) == len(data.words)
    (50, True)
    """
    random = np.random.default_rng(seed)
    sizes = _sizes(n, random) if entities is None else random.multinomial(n, random.dirichlet(np.full(entities, 2.0)))
    owner = random.permutation(np.repeat(np.arange(len(sizes)), sizes))
    lengths = random.integers(20, 61, n)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    words = _words(np.repeat(owner, lengths), len(sizes), random)
    return Generated(owner, _names(owner, len(sizes), random) if names else ["X"] * n, words, offsets)


def _sizes(n: int, random: np.random.Generator) -> Ints:
    """Numbers of mentions that add up to n."""
    weights = np.arange(1, 6001) ** -1.6
    drawn = random.choice(6000, size=n, p=weights / weights.sum()) + 1
    ends = np.cumsum(drawn)
    last = int(np.searchsorted(ends, n))
    kept = drawn[: last + 1]
    kept[-1] -= ends[last] - n
    return kept


def _words(owner: Ints, entities: int, random: np.random.Generator) -> NDArray[np.int32]:
    """One word per place, for the entity that owns it."""
    zipf = np.cumsum(1 / np.arange(1, WORDS + 1))
    topics = random.integers(0, WORDS, (TOPICS, TOPIC_WORDS), dtype=np.int32)
    own = random.integers(0, WORDS, (entities, OWN_WORDS), dtype=np.int32)
    mixed = random.integers(0, TOPICS, (entities, 2), dtype=np.int32)
    kind = random.random(len(owner), dtype=np.float32)
    words = np.empty(len(owner), dtype=np.int32)
    for lo in range(0, len(owner), 1 << 22):
        part = slice(lo, lo + (1 << 22))
        who, what = owner[part], kind[part]
        general = np.searchsorted(zipf, random.random(len(who)) * zipf[-1]).astype(np.int32)
        topic = topics[mixed[who, random.integers(0, 2, len(who))], random.integers(0, TOPIC_WORDS, len(who))]
        special = own[who, random.integers(0, OWN_WORDS, len(who))]
        words[part] = np.where(what < BACKGROUND, general, np.where(what < BACKGROUND + TOPICAL, topic, special))
    return words


def _names(owner: Ints, entities: int, random: np.random.Generator) -> list[str]:
    """A name per mention: the full one, the surname alone for half of the entities, sometimes misspelt."""
    surnames, firsts = _made_up(SURNAMES, 3, random), _made_up(FIRST_NAMES, 2, random)
    full: list[tuple[str, str]] = []
    while len(full) < entities:
        pair = firsts[random.integers(FIRST_NAMES)], surnames[random.integers(SURNAMES)]
        full += [pair] * (int(random.integers(2, 21)) if random.random() < 0.1 else 1)
    has_short = random.random(entities) < 0.5
    short = has_short[owner] & (random.random(len(owner)) < 0.3)
    misspelt = random.random(len(owner)) < MISSPELT
    place = random.integers(0, 1 << 30, len(owner))
    names = []
    for m, who in enumerate(owner.tolist()):
        first, last = full[who]
        name = last if short[m] else f"{first} {last}"
        if misspelt[m]:
            at = 1 + int(place[m]) % (len(name) - 2)
            name = name[:at] + name[at + 1 :]
        names.append(name)
    return names


def _made_up(count: int, syllables: int, random: np.random.Generator) -> list[str]:
    """Different names of so many syllables."""
    parts = [c + v for c in "bdfghjklmnprstvwz" for v in ("a", "e", "i", "o", "u", "ar", "en", "il")]
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(parts[k] for k in random.integers(0, len(parts), syllables)).capitalize()] = None
    return list(found)
