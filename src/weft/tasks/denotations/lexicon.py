"""The hypernym lexicon of a collection of captions: which nouns may stand for which, from WordNet and from coreference.

    chain of an image       heads of different captions that are the same noun, or stand under one another in WordNet
    sense of a noun         the synset that stands under or above another head in most of its chains; the chosen senses
                            of other nouns count from then on; most frequent nouns first
    hypernyms of a noun     the nearest synsets above its sense that a noun names which captions use, in that sense

Captions never call children people, so people is a small table: boy and girl are children, man and woman adults, and
only adults and teenagers are persons. Without a WordNet on the machine, the table is all there is.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from weft.lexical.resources.synsets import HYPERNYM, INSTANCE, Database, open_wordnet
from weft.lexical.wordnet import find_wordnet
from weft.progress import progress
from weft.tasks.denotations.captions import Parses
from weft.tasks.denotations.phrases import Heads, analysed

#: People by what captions call them.
PEOPLE: dict[str, list[str]] = {
    "man": ["adult", "male"], "woman": ["adult", "female"], "adult": ["person"], "guy": ["man"], "gentleman": ["man"],
    "lady": ["woman"], "boy": ["child", "male"], "girl": ["child", "female"], "girl_woman": ["woman"],
    "kid": ["child"], "toddler": ["child"], "infant": ["baby"], "baby": ["child"], "teenager": ["person"],
    "teen": ["teenager"], "youth": ["person"], "someone": ["person"], "somebody": ["person"], "individual": ["person"],
    "little girl": ["girl"], "little boy": ["boy"], "young man": ["man"], "young woman": ["woman"],
    "old man": ["man"], "old woman": ["woman"], "young girl": ["girl"], "young boy": ["boy"], "bride": ["woman"],
    "businessman": ["man"], "policeman": ["police officer", "man"], "fisherman": ["man"], "cowboy": ["man"],
    "mother": ["woman"], "father": ["man"], "grandmother": ["woman"], "grandfather": ["man"],
}  # fmt: skip
_CHILDREN = {"child", "baby", "infant", "kid", "toddler", "boy", "girl", "juvenile", "youngster"}
#: A hypernym occurs in so many captions: this many, and this share.
LEAST, SHARE = 5, 0.0002
#: Synsets that say nothing about pictures.
_VAGUE = frozenset(
    """entity object whole thing artifact unit matter substance abstraction attribute relation causal_agent
    instrumentality part group organism being cause location point content event act activity state form quality way
    device system structure material covering item article set work place line body end side space""".split()  # noqa: SIM905
)
_PERSON = "person"
#: Senses of a noun that are considered, and the share of its captions that speak for another than the first.
_SENSES, _CLEAR = 4, 0.1


def learned(parses: Parses, images: Sequence[str], database: Database | None = None) -> dict[str, list[str]]:
    """Hypernyms of the nouns of parsed captions, one image per caption.

    >>> from weft.tasks.denotations.captions import Token
    >>> parses = Parses()
    >>> parses.add([Token("dog", "dog", "NN", "root", -1)])
    >>> learned(parses, ["a"])["man"]
    ['adult', 'male']
    """
    if database is None:
        if find_wordnet() is None:
            return {noun: list(above) for noun, above in PEOPLE.items()}
        database = open_wordnet()
    net = _Net(database)
    heads, counts = _heads(parses, images, net)
    return hypernyms_of(counts, choose_senses(chains_of(heads, net), counts, net), net, len(parses))


class _Net:
    """Nouns of WordNet with their synsets and everything above these, remembered."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._senses: dict[str, list[int]] = {}
        self._above: dict[int, list[int]] = {}
        self._names: dict[int, list[str]] = {}
        self._direct: dict[int, list[int]] = {}

    def senses(self, noun: str) -> list[int]:
        """The synsets of a noun, most frequent first."""
        if noun not in self._senses:
            found = self.database.synsets(noun, "n")
            own = [synset for synset in found if not any(p.symbol == INSTANCE for p in synset.pointers)]
            self._senses[noun] = [synset.offset for synset in own[:_SENSES]]
        return self._senses[noun]

    def above(self, synset: int) -> list[int]:
        """All hypernyms of a synset, nearest first."""
        if synset not in self._above:
            found, waiting = dict.fromkeys(self.direct(synset)), list(self.direct(synset))
            while waiting:
                for up in self.direct(waiting.pop(0)):
                    if up not in found:
                        found[up] = None
                        waiting.append(up)
            self._above[synset] = list(found)
        return self._above[synset]

    def direct(self, synset: int) -> list[int]:
        """The hypernyms right above a synset."""
        if synset not in self._direct:
            own = self.database.synset("n", synset)
            self._direct[synset] = [each.offset for each in self.database.related(own, HYPERNYM)]
        return self._direct[synset]

    def names(self, synset: int) -> list[str]:
        """The words of a synset, lower-case."""
        if synset not in self._names:
            self._names[synset] = [lemma.lower() for lemma in self.database.synset("n", synset).lemmas]
        return self._names[synset]

    def linked(self, a: int, b: int) -> bool:
        """Whether one synset is the other or stands above it."""
        return a == b or b in self.above(a) or a in self.above(b)

    def under_last(self, words: str) -> bool:
        """Whether a noun of several words names a kind of what its last word names."""
        last = set(self.senses(words.split()[-1]))
        return any(last & set(self.above(sense)) for sense in self.senses(words))


def _heads(parses: Parses, images: Sequence[str], net: _Net) -> tuple[dict[str, list[list[str]]], Counter[str]]:
    """The heads of the noun phrases of every caption, by image, and in how many captions they are."""
    by_image: dict[str, list[list[str]]] = defaultdict(list)
    counts: Counter[str] = Counter()
    plain = Heads({})
    compounds: dict[str, bool] = {}
    with progress("nouns", len(parses), "captions") as bar:
        for tokens, image in zip(parses, images, strict=True):
            own = []
            for entity in analysed(tokens, plain).entities:
                name = entity.name
                if entity.modifiers and " " not in entity.modifiers[-1].text:
                    longer = f"{entity.modifiers[-1].text} {name}"
                    if longer not in compounds:
                        compounds[longer] = bool(net.senses(longer)) and net.under_last(longer)
                    if compounds[longer]:
                        own.append(longer)
                own.append(name)
            by_image[image].append(own)
            counts.update(set(own))
            bar.advance(1)
    return by_image, counts


def chains_of(heads: Mapping[str, Sequence[Sequence[str]]], net: _Net) -> list[list[str]]:
    """Sets of different nouns that name one thing in an image: linked by WordNet, across captions."""
    found: dict[tuple[str, ...], int] = {}
    linked: dict[tuple[str, str], bool] = {}

    def are(a: str, b: str) -> bool:
        pair = (a, b) if a < b else (b, a)
        if pair not in linked:
            # a bag may be a person in its fifth sense; nouns for people are linked to first senses only
            most = 1 if a in PEOPLE or b in PEOPLE or _PERSON in pair else _SENSES
            linked[pair] = any(net.linked(x, y) for x in net.senses(a)[:most] for y in net.senses(b)[:most])
        return linked[pair]

    for captions in heads.values():
        nouns = sorted({noun for caption in captions for noun in caption if net.senses(noun)})
        together = {noun: {k for k, caption in enumerate(captions) if noun in caption} for noun in nouns}
        groups: list[list[str]] = []
        for noun in nouns:
            # nouns of one caption name different things
            near = [g for g in groups if any(are(noun, o) and not together[noun] & together[o] for o in g)]
            merged = [noun, *(other for group in near for other in group)]
            groups = [group for group in groups if group not in near] + [merged]
        for group in groups:
            if len(group) > 1:
                found[tuple(sorted(group))] = found.get(tuple(sorted(group)), 0) + 1
    return [list(chain) for chain, count in sorted(found.items()) for _ in range(count)]


def choose_senses(chains: Sequence[Sequence[str]], counts: Mapping[str, int], net: _Net) -> dict[str, int]:
    """One synset per noun: the one that agrees with most chains; ties and nouns without chains take the first sense."""
    weights = Counter(tuple(chain) for chain in chains)
    of: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for chain in weights:
        for noun in chain:
            of[noun].append(chain)
    chosen: dict[str, int] = {}
    for noun in sorted(counts, key=lambda noun: (-counts[noun], noun)):
        senses = net.senses(noun)
        if len(senses) < 2:
            if senses:
                chosen[noun] = senses[0]
            continue
        votes: Counter[int] = Counter()
        for chain in of[noun]:
            others = [[chosen[o]] if o in chosen else net.senses(o) for o in chain if o != noun]
            for sense in senses:
                if any(net.linked(sense, other) and other != sense for group in others for other in group):
                    votes[sense] += weights[chain]
        best = max(senses, key=lambda sense: (votes[sense], -senses.index(sense)))
        # chance links rare senses too: another sense than the first needs twice its votes, and a share of the captions
        clear = votes[best] >= 2 * votes[senses[0]] and votes[best] >= _CLEAR * counts[noun]
        chosen[noun] = best if clear else senses[0]
    return chosen


def hypernyms_of(
    counts: Mapping[str, int], senses: Mapping[str, int], net: _Net, captions: int
) -> dict[str, list[str]]:
    """The nearest frequent hypernyms of every noun, by its chosen sense."""
    least = max(LEAST, SHARE * captions)
    names: dict[int, str] = {}
    for noun in sorted(counts, key=lambda noun: (-counts[noun], noun)):
        if counts[noun] >= least and noun in senses and noun.replace(" ", "_") not in _VAGUE and " " not in noun:
            names.setdefault(senses[noun], noun)
    persons = set(net.senses(_PERSON)[:1])
    found = {noun: list(above) for noun, above in PEOPLE.items()}
    for noun in sorted(counts):
        if noun in found or noun not in senses or noun in _CHILDREN or noun in ("male", "female", _PERSON):
            continue
        above = _nearest(senses[noun], names, net, noun)
        if not above and persons & set(net.above(senses[noun])):
            above = [_PERSON]
        if above:
            found[noun] = above
    return _without_cycles(found)


def _nearest(sense: int, names: Mapping[int, str], net: _Net, noun: str) -> list[str]:
    """The first named synsets on every way up."""
    found: list[str] = []
    waiting, seen = list(net.direct(sense)), set()
    while waiting:
        synset = waiting.pop(0)
        if synset in seen:
            continue
        seen.add(synset)
        name = names.get(synset, "")
        if not name and net.names(synset)[0] in PEOPLE:
            name = net.names(synset)[0]
        if name and name != noun:
            if name not in found:
                found.append(name)
        else:
            waiting += net.direct(synset)
    return found[:1]


def _without_cycles(hypernyms: dict[str, list[str]]) -> dict[str, list[str]]:
    """The same without links that lead back to where they start, or to a longer form of the noun."""
    kept: dict[str, list[str]] = {}

    def reaches(start: str, goal: str) -> bool:
        waiting, seen = [start], set()
        while waiting:
            noun = waiting.pop()
            if noun == goal:
                return True
            if noun not in seen:
                seen.add(noun)
                waiting += kept.get(noun, [])
        return False

    for noun, above in hypernyms.items():
        for up in above:
            if up != noun and not up.endswith(f" {noun}") and not reaches(up, noun):
                kept.setdefault(noun, []).append(up)
    return kept
