"""The expansions of a caption: what its most generic strings are, and which rules lead from them to the caption.

Atoms are the parts of entities, events and phrases that appear together; `weft.graph.denotations.units` says what the
rules do with them. Kinds of rules, as the released graphs name them:

    NPHEAD  a hypernym becomes its hyponym           person -> man
    NPMOD   a modifier; NPART a number               shirt -> red shirt; man -> two man
    PP      a prepositional phrase                   walk -> walk in park
    SENT    a preposition before a noun phrase; PP-SENT what the phrase is attached to
    VERB    a verb after its subject; SUBJ the subject before its verb; WEAR, DRESS the same for clothing
    DOBJ    an object; TVERB the verb of an object
    ADVP    an adverb or a particle
    Xof     "X of" before Y; ofY "of Y" after X; Xor, orY; Xto "X to" before a verb
    COMPLEX what is coordinated; COMPLEX-VERB a second verb
    ORIG    the caption itself, below what it reduces to
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product

from weft.graph.denotations.units import ATOMS, Rule, Unit
from weft.tasks.denotations.phrases import Content, Entity, Event, Heads, Phrase, Placed, droppable

KINDS = (
    "NPHEAD", "NPMOD", "NPART", "PP", "SENT", "PP-SENT", "VERB", "SUBJ", "WEAR", "DRESS", "DOBJ", "TVERB", "ADVP",
    "Xof", "ofY", "Xor", "orY", "Xto", "COMPLEX", "COMPLEX-VERB", "ORIG",
)  # fmt: skip
KIND = {name: k for k, name in enumerate(KINDS)}
#: The most ways to write what a rule adds.
_WAYS = 4
_MOST_VARIANTS = 8
#: Whether "modifier head" occurs in the corpus.
Attested = Callable[[str, str], bool]


def units_of(content: Content, heads: Heads, number: Callable[[str], int], attested: Attested) -> list[Unit]:
    """The units of a caption: one, or more if it has too many parts for one.

    `number` gives the number of a word, `attested` whether a modifier is seen with a head.
    """
    found = []
    entities, events = list(content.entities), list(content.events)
    while entities or events:
        builder = _Builder(content, heads, attested)
        builder.take(entities, events)
        found.append(builder.unit(number))
        if not builder.masks and not builder.verbs:  # a single part that fits into no unit
            break
        entities = [entity for entity in entities if entity not in builder.masks]
        events = [event for event in events if event not in builder.verbs]
        if entities and all(entity.head < 0 for entity in entities):
            break
    return [unit for unit in found if unit.roots]


class _Full(Exception):
    """No atom is left."""


class _Builder:
    """Hands out atoms and writes rules."""

    def __init__(self, content: Content, heads: Heads, attested: Attested) -> None:
        self.content, self.heads, self.attested = content, heads, attested
        self.atoms = 0
        self.words: list[tuple[float, int, str, int]] = []  # place, number at this place, word, atom
        self.rules: list[Rule] = []
        self.roots: list[int] = []
        self.masks: dict[Entity, _Noun] = {}
        self.verbs: dict[Event, _Verb] = {}

    def unit(self, number: Callable[[str], int]) -> Unit:
        """What was built, with words as numbers."""
        slots = [
            (number(part), atom)
            for place, k, word, atom in sorted(self.words, key=lambda w: w[:2])
            for part in word.split()
        ]
        return Unit(slots, list(dict.fromkeys(self.roots)), list(dict.fromkeys(self.rules)))

    def take(self, entities: Iterable[Entity], events: Iterable[Event]) -> None:
        """Parts in the order of the caption, as many as fit; then the rules between them."""
        parts: list[tuple[float, Entity | Event]] = [(entity.place, entity) for entity in entities]
        parts += [(event.words[0][0], event) for event in events]
        full = False
        for _, part in sorted(parts, key=lambda pair: pair[0]):
            state = self.atoms, len(self.words), len(self.rules)
            try:
                if full:
                    break
                if isinstance(part, Entity):
                    self.masks[part] = self._noun(part)
                else:
                    self.verbs[part] = self._verb(part)
            except _Full:
                self.atoms = state[0]
                del self.words[state[1] :], self.rules[state[2] :]
                full = True
        for step in (self._part, self._whole):
            for entity in list(self.masks):
                self._tried(step, entity)
        for entity in list(self.masks):
            self._tried(self._others, entity)
        for event in list(self.verbs):
            self._tried(self._prefix, event)
        for phrase in self.content.phrases:
            self._tried(self._phrase, phrase)
        for event in list(self.verbs):
            self._tried(self._event, event)
        for noun in self.masks.values():
            self.roots += noun.entries()
        for verb in self.verbs.values():
            if not verb.needs_objects and verb.only_after is None:
                self.roots += verb.entries()

    def _tried(self, step: Callable[..., None], part: object) -> None:
        """Apply a step if it has atoms enough; otherwise the part stands alone."""
        if ATOMS - self.atoms > 4:
            step(part)

    def _atom(self, words: Iterable[Placed] = ()) -> int:
        """A new atom for words, as a bit."""
        if self.atoms >= ATOMS:
            raise _Full
        atom = self.atoms
        self.atoms += 1
        for k, (place, word) in enumerate(words):
            self.words.append((place, k, word, atom))
        return 1 << atom

    def _rule(self, kind: str, need: int, forbid: int, on: int, off: int = 0) -> None:
        self.rules.append(Rule(need, forbid, off, on, KIND[kind]))

    # Parts

    def _noun(self, entity: Entity) -> _Noun:
        there = self._atom()
        names = [entity.name, *self.heads.above(entity.name)][:_MOST_VARIANTS]
        bits = {name: self._atom([(entity.place, name)]) for name in names}
        above = {name: [up for up in self.heads.hypernyms.get(name, ()) if up in bits and up != name] for name in names}
        for name in names:
            for up in above[name]:
                self._rule("NPHEAD", bits[up], 0, bits[name], bits[up])
        if entity.count is not None:
            count = self._atom([entity.count])
            self._rule("NPART", there, count, count)
        later = 0
        for modifier in reversed(entity.modifiers):
            bit = self._atom(modifier.words)
            alone = not later or self.attested(modifier.text, entity.name)
            need = there | (0 if alone else later)
            self._rule("NPMOD", need | (bits[entity.name] if modifier.original_only else 0), bit, bit)
            later = bit
        tops = [bits[name] for name in names if not above[name]] or [bits[names[-1]]]
        return _Noun(there, tops)

    def _verb(self, event: Event) -> _Verb:
        verb = _Verb(self._atom(event.words))
        for adverb in event.adverbs:
            bit = self._atom(adverb)
            self._rule("ADVP", verb.bit, bit, bit)
        return verb

    # Rules between parts

    def _part(self, entity: Entity) -> None:
        """A partitive: the whole, or either part."""
        if entity.part is None or entity.part[1] not in self.masks:
            return
        noun, of, inner = self.masks[entity], entity.part[0], self.masks[entity.part[1]]
        slot, link = self._atom(), self._atom(of)
        noun.slot, noun.inner = slot, inner
        for top in noun.tops:
            self._rule("Xof", inner.there | slot, noun.there, noun.there | top | link)
        for entry in inner.own():
            self._rule("ofY", noun.there | slot, inner.there, link | entry)

    def _whole(self, entity: Entity) -> None:
        """ "of" phrases that stay: the entity never appears without them, but what follows "of" does."""
        for of, other in entity.whole:
            if other not in self.masks or other is entity:
                continue
            noun, inner = self.masks[entity], self.masks[other]
            if noun is inner or inner.reaches(noun):
                continue
            link = self._atom(of)
            noun.with_.append((link, inner))
            for entry in noun.own():
                self._rule("SENT", inner.there, noun.there, entry)

    def _others(self, entity: Entity) -> None:
        """Coordination: either alone, or both."""
        for words, other in entity.others:
            if other not in self.masks:
                continue
            one, two = self.masks[entity], self.masks[other]
            link = self._atom(words)
            either = bool(words) and words[0][1] == "or"
            one.others.append((link, two))
            for entry in two.entries():
                self._rule("orY" if either else "COMPLEX", one.there, two.there, link | entry)
            for entry in one.entries():
                self._rule("Xor" if either else "COMPLEX", two.there, one.there, link | entry)

    def _prefix(self, event: Event) -> None:
        """ "try to" before a verb."""
        if event.prefix:
            bit = self._atom(event.prefix)
            self._rule("Xto", self.verbs[event].bit, bit, bit)
        objects = [self.masks[o] for o in self._with_others(event.objects) if o in self.masks]
        self.verbs[event].objects = objects
        self.verbs[event].needs_objects = event.light and bool(objects)

    def _with_others(self, entities: Iterable[Entity]) -> list[Entity]:
        found: list[Entity] = []
        for entity in entities:
            found += [entity, *(other for _, other in entity.others)]
        return list(dict.fromkeys(found))

    def _phrase(self, phrase: Phrase) -> None:
        """A prepositional phrase, and what leads to it from its noun phrase."""
        if phrase.entity not in self.masks:
            return
        noun = self.masks[phrase.entity]
        if isinstance(phrase.host, Entity):
            if phrase.host not in self.masks or self.masks[phrase.host] is noun:
                return
            host_bit, hosts = self.masks[phrase.host].there, self.masks[phrase.host].entries()
        else:
            if phrase.host not in self.verbs:
                return
            host_bit, hosts = self.verbs[phrase.host].bit, self.verbs[phrase.host].entries()
        bit = self._atom(phrase.words)
        kind = "PP" if phrase.words else "ADVP"
        for entry in noun.joined():
            self._rule(kind, host_bit, bit, bit | entry)
        if droppable(phrase):
            if phrase.words:
                self._rule("SENT", noun.all_there(), bit | host_bit, bit)
            for entry in hosts:
                self._rule("PP-SENT", bit, host_bit, entry)

    def _event(self, event: Event) -> None:
        """Subjects, objects and other verbs."""
        verb = self.verbs[event]
        same = [self.verbs[o] for o in self._linked(event) if o in self.verbs]
        if event.after is not None and event.after[2] in self.verbs:
            kind, to, first = event.after
            before, link = self.verbs[first], self._atom(to)
            for entry in verb.entries():
                self._rule("COMPLEX-VERB", before.bit, verb.bit, link | entry)
            if kind == "both":
                for entry in before.entries():
                    self._rule("Xto", verb.bit, before.bit, link | entry)
                same.append(before)
            else:
                verb.only_after = link | before.bit
        apart = 0
        for other in same:
            apart |= other.bit
        for noun in verb.objects:
            rest = 0
            for other_noun in verb.objects:
                rest |= 0 if other_noun is noun else other_noun.there
            if not verb.needs_objects:
                for entry in noun.entries():
                    self._rule("DOBJ", verb.bit, noun.there | rest, entry)
            for entry in [verb.only_after | verb.bit] if verb.only_after else [verb.bit]:
                self._rule("TVERB", noun.there | noun.slot, verb.bit, entry)
        if verb.only_after is None:
            self._subject(event, verb, apart)
        for words, other_event in event.linked:
            if other_event in self.verbs and other_event is not event:
                self._link(event, other_event, words)

    def _linked(self, event: Event) -> list[Event]:
        """Verbs of the same subject that are coordinated with a verb, on either side."""
        found = [other for _, other in event.linked if other.subjects == event.subjects]
        for other in self.content.events:
            if any(linked is event for _, linked in other.linked) and other.subjects == event.subjects:
                found.append(other)
            if other.after is not None and other.after[2] is event and other.after[0] == "both":
                found.append(other)
        return found

    def _subject(self, event: Event, verb: _Verb, apart: int) -> None:
        nouns = [self.masks[s] for s in self._with_others(event.subjects) if s in self.masks]
        everyone = 0
        for noun in nouns:
            everyone |= noun.there | noun.slot
            if noun.inner is not None:
                everyone |= noun.inner.there
        for noun in nouns:
            for entry in verb.entries():
                self._rule(event.label, noun.slot or noun.there, verb.bit | apart, entry)
            for entry in noun.entries():
                self._rule("SUBJ", verb.bit, everyone, entry)

    def _link(self, event: Event, other: Event, words: list[Placed]) -> None:
        """A coordinated verb, or a clause with "while"."""
        one, two = self.verbs[event], self.verbs[other]
        link = self._atom(words)
        same = other.subjects == event.subjects or not other.subjects
        subjects = [self.masks[s] for s in other.subjects if s in self.masks]
        ways = [0] if same or not subjects else subjects[0].entries()
        for entry, way in list(product(two.entries(), ways))[:_WAYS]:
            self._rule("COMPLEX-VERB", one.bit, two.bit, link | entry | way)
        if same:
            for entry in one.entries():
                self._rule("COMPLEX-VERB", two.bit, one.bit, link | entry)


class _Noun:
    """The atoms of an entity, and the sets that write it in its most generic forms."""

    def __init__(self, there: int, tops: list[int]) -> None:
        self.there, self.tops = there, tops
        self.slot = 0  # set if either part of "X of Y" may stand here
        self.inner: _Noun | None = None
        self.with_: list[tuple[int, _Noun]] = []
        self.others: list[tuple[int, _Noun]] = []

    def own(self) -> list[int]:
        """The entity itself, with what stays."""
        ways = [self.there | top for top in self.tops]
        for link, inner in self.with_:
            ways = [way | link | entry for way, entry in product(ways, inner.own())][:_WAYS]
        return ways

    def entries(self) -> list[int]:
        """The entity, or either part of a partitive."""
        found = [self.slot | way for way in self.own()]
        if self.inner is not None:
            found += [self.slot | way for way in self.inner.own()]
        return found[:_WAYS]

    def joined(self) -> list[int]:
        """The entity with everything that is coordinated with it."""
        ways = self.entries()
        for link, other in self.others:
            ways = [way | link | entry for way, entry in product(ways, other.entries())][:_WAYS]
        return ways

    def all_there(self) -> int:
        """What must be there for all of it to be there."""
        found = self.slot or self.there
        for link, other in self.others:
            found |= link | (other.slot or other.there)
        return found

    def reaches(self, noun: _Noun) -> bool:
        return any(inner is noun or inner.reaches(noun) for _, inner in self.with_)


class _Verb:
    """The atoms of an event."""

    def __init__(self, bit: int) -> None:
        self.bit = bit
        self.objects: list[_Noun] = []
        self.needs_objects = False
        self.only_after: int | None = None

    def entries(self) -> list[int]:
        """The verb, with an object if it says little without one."""
        if not self.needs_objects:
            return [self.bit | (self.only_after or 0)]
        return [self.bit | (self.only_after or 0) | entry for noun in self.objects[:1] for entry in noun.entries()]
