"""What a lexical network says of lemmas that recognizers of events use: synonyms, and the verbs behind nouns.

    demolition -> verb: demolish;  synset of its first sense: that of demolish, raze, ...

The class of a lemma is the first synset of its verb, or of the lemma itself: words of one class are synonyms.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from weft.lexical.resources.synsets import Database

DERIVED = "+"


@dataclass(frozen=True)
class Relatives:
    """The synset and the verb of lemmas, by lower-cased lemma.

    >>> relatives = Relatives({"raze": "v1", "demolition": "v1"}, {"raze": "raze", "demolition": "demolish"})
    >>> relatives.synset["raze"] == relatives.synset["demolition"], relatives.verb["demolition"]
    (True, 'demolish')
    """

    synset: Mapping[str, str] = field(default_factory=dict)
    verb: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.synset)

    @classmethod
    def of(cls, net: Database, lemmas: Collection[str]) -> Relatives:
        """What a network says of lemmas, and of all single words that share a synset or verb with one of them."""
        synset, verb = {}, {}
        for pos in "vn":
            for entry, offsets in net.entries(pos):
                if "_" in entry or entry in synset:
                    continue
                base = entry if pos == "v" else _base_verb(net, entry, offsets)
                if base:
                    verb[entry] = base
                senses = net.synsets(base, "v") if base and pos == "n" else []
                first = senses[0].offset if senses else offsets[0]
                synset[entry] = f"{'v' if base else 'n'}{first}"
        known = {lemma.lower() for lemma in lemmas}
        synsets = {synset[each] for each in known if each in synset}
        verbs = {verb[each] for each in known if each in verb}
        return cls(
            {each: value for each, value in synset.items() if value in synsets},
            {each: value for each, value in verb.items() if value in verbs},
        )

    def lines(self) -> Iterator[str]:
        """The lines of a file, from which `from_lines` makes the same again."""
        for lemma in sorted({*self.synset, *self.verb}):
            yield f"{lemma}\t{self.synset.get(lemma, '')}\t{self.verb.get(lemma, '')}"

    @classmethod
    def from_lines(cls, lines: Collection[str]) -> Relatives:
        """Read what `lines` wrote.

        >>> Relatives.from_lines(["demolition\\tv1\\tdemolish", "sea\\tn2\\t"])
        Relatives(synset={'demolition': 'v1', 'sea': 'n2'}, verb={'demolition': 'demolish'})
        """
        rows = [[*line.split("\t"), "", ""][:3] for line in lines]
        return cls({row[0]: row[1] for row in rows if row[1]}, {row[0]: row[2] for row in rows if row[2]})


def _base_verb(net: Database, noun: str, offsets: list[int]) -> str:
    """The verb that a noun is derived from: that of the first of its senses that has one; "" if none has."""
    for offset in offsets:
        synset = net.synset("n", offset)
        numbers = [at for at, (word, _) in enumerate(synset.words, 1) if word.lower() == noun]
        found = [
            net.synset("v", each.offset).words[each.target - 1][0].lower()
            for each in synset.pointers
            if each.symbol == DERIVED and each.pos == "v" and each.source in numbers and each.target
        ]
        if found:  # the verb that looks most like the noun, as destroy does for destruction
            return max(found, key=lambda verb: (_shared(verb, noun), -len(verb), verb))
    return ""


def _shared(one: str, other: str) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
