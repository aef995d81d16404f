"""IsA pairs of WordNet, for texts that are too small to say what is a kind of what.

A noun gets the hypernyms of its first senses, near and far, named by the first word of their synsets. WordNet lists
senses by their frequency in text, so earlier ones and nearer hypernyms count more:

    count = (senses - rank) * (levels - distance),   rank and distance from 0
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from weft.lexical.harvest.counts import Row
from weft.lexical.resources.synsets import Database, Synset

SENSES, LEVELS = 3, 4
#: Hypernyms so general that they hold everything.
TOP = frozenset(("entity", "abstraction", "physical entity", "abstract entity", "object", "whole", "thing", "matter"))


def wordnet_isa(database: Database, nouns: Iterable[str], senses: int = SENSES, levels: int = LEVELS) -> Iterator[Row]:
    """The pairs of nouns and their hypernyms, with counts."""
    for noun in nouns:
        for rank, synset in enumerate(database.synsets(noun, "n")[:senses]):
            for distance, hypernym in _above(database, synset, levels):
                name = hypernym.lemmas[0].lower()
                if name != noun and name not in TOP:
                    yield noun, name, (senses - rank) * (levels - distance)


def is_hypernym(database: Database, noun: str, other: str) -> bool | None:
    """Whether another noun names a hypernym of some sense of a noun, or the same; None if WordNet lacks either."""
    own, wanted = database.synsets(noun, "n"), {each.offset for each in database.synsets(other, "n")}
    if not own or not wanted:
        return None
    return any(each.offset in wanted for synset in own for each in (synset, *database.above(synset)))


def _above(database: Database, synset: Synset, levels: int) -> Iterator[tuple[int, Synset]]:
    level, seen = [synset], {synset.offset}
    for distance in range(levels):
        level = [each for below in level for each in database.related(below) if each.offset not in seen]
        seen.update(each.offset for each in level)
        for each in level:
            yield distance, each
