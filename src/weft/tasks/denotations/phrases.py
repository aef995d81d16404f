"""What a parsed caption is about: entities (noun phrases), events (verbs), and what links them.

    two young men in red hats are playing guitar while a dog sleeps
    [some|two  young  man]  PP in [red hat] -> clothing: wear      play(subject man, object guitar)   while sleep(dog)

Noun phrases are the words before a noun that depend on it; heads may have several words if the lexicon lists them.
Events get their subjects from the tree: a participle from the noun that it modifies, a coordinated verb or a participle
after `while` from the verb before it. Coordinated nouns belong to one class (people, clothing, body, food ...), or the
second one is attached to a noun of its class further up.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from weft.tasks.denotations.captions import Token
from weft.tasks.denotations.words import (
    BOTH_TO,
    CLASSES,
    COLOURS,
    COUNTS,
    DROPPED,
    KEPT_FORMS,
    KEPT_PREPOSITIONS,
    LEMMAS,
    LIGHT_VERBS,
    MOVEMENTS,
    PARTICLES,
    PARTITIVES,
    PRONOUN_SUBJECTS,
    QUANTITIES,
    RELATIVES,
    SECOND_TO,
    SIZES_AND_AGES,
    WHOLE_OF,
)

#: A word at a place; places order the words of a string.
Placed = tuple[float, str]
_BEFORE = {"det", "det:predet", "amod", "compound", "nummod", "nmod:poss", "advmod", "flat", "obl:npmod"}
_PREPOSITIONS = {"IN", "RP", "TO", "RB", "JJ", "VBG"}  # tags of them
_LONGEST_HEAD = 3
_COMPOUND_PREPOSITIONS = {"front", "top", "back"}  # in front of, on top of


@dataclass
class Modifier:
    """A word or words before a noun that are dropped together."""

    words: list[Placed]
    original_only: bool = False  # a size or an age: of this noun, not of its hypernyms

    @property
    def text(self) -> str:
        return " ".join(word for _, word in self.words)


@dataclass(eq=False)
class Entity:
    """A noun phrase."""

    head: int
    name: str  # the head, lemmatized: "little girl"
    place: float
    count: Placed | None = None
    modifiers: list[Modifier] = field(default_factory=list)
    kind: str = ""  # its class
    start: int = 0
    whole: list[tuple[list[Placed], Entity]] = field(default_factory=list)  # "of" phrases that stay
    part: tuple[list[Placed], Entity] | None = None  # "of" of a partitive
    others: list[tuple[list[Placed], Entity]] = field(default_factory=list)  # coordinated with it


@dataclass(eq=False)
class Phrase:
    """A preposition with its noun phrase, attached to an entity or event."""

    words: list[Placed]
    entity: Entity
    host: Entity | Event


@dataclass(eq=False)
class Event:
    """A verb, or a copula with an adjective."""

    head: int
    words: list[Placed]
    name: str
    subjects: list[Entity] = field(default_factory=list)
    objects: list[Entity] = field(default_factory=list)
    adverbs: list[list[Placed]] = field(default_factory=list)
    light: bool = False
    prefix: list[Placed] = field(default_factory=list)  # "try to"
    after: tuple[str, list[Placed], Event] | None = None  # "first" or "both", "to", the verb before it
    linked: list[tuple[list[Placed], Event]] = field(default_factory=list)  # and, while
    label: str = "VERB"


@dataclass
class Content:
    """Entities, events and phrases of a caption."""

    entities: list[Entity] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    phrases: list[Phrase] = field(default_factory=list)


class Heads:
    """Hypernyms of nouns, and the nouns of several words among them.

    >>> heads = Heads({"poodle": ["dog"], "dog": ["animal"], "man": ["adult", "male"], "soccer player": ["player"]})
    >>> heads.above("poodle"), heads.longest, heads.kind("poodle")
    (['dog', 'animal'], 2, 'animal')
    """

    def __init__(self, hypernyms: Mapping[str, Collection[str]]) -> None:
        self.hypernyms = {noun: list(above) for noun, above in hypernyms.items()}
        self.known = {*self.hypernyms, *(noun for above in self.hypernyms.values() for noun in above)}
        self.longest = min(_LONGEST_HEAD, max((len(noun.split()) for noun in self.known), default=1))
        self._above: dict[str, list[str]] = {}
        self._kinds: dict[str, str] = {}

    def above(self, noun: str) -> list[str]:
        """All hypernyms, the nearest first."""
        if noun not in self._above:
            found: list[str] = []
            level = [noun]
            while level:
                level = [up for low in level for up in self.hypernyms.get(low, ()) if up != noun and up not in found]
                level = list(dict.fromkeys(level))
                found += level
            self._above[noun] = found
        return self._above[noun]

    def kind(self, noun: str) -> str:
        """The class of a noun, by itself, its last word or its hypernyms; empty if it has none."""
        if noun not in self._kinds:
            names = [noun, noun.split()[-1], *self.above(noun), *self.above(noun.split()[-1])]
            of = (kind for name in names for kind, words in CLASSES.items() if name in words)
            self._kinds[noun] = next(of, "")
        return self._kinds[noun]


def noun_lemma(token: Token) -> str:
    """The lemma of a noun as graphs write it."""
    lemma = token.form if token.tag in ("PRP", "DT", "WP") else token.lemma
    return LEMMAS.get(lemma, lemma)


def verb_lemma(token: Token, passive: bool = False) -> str:
    """The lemma of a verb, kept apart from nouns; a passive keeps its participle."""
    if token.lemma in KEPT_FORMS:
        return KEPT_FORMS[token.lemma]
    return token.form if passive else token.lemma


class Analysis:
    """One caption being taken apart; `content` is the result."""

    def __init__(self, tokens: list[Token], heads: Heads) -> None:
        self.tokens, self.heads = tokens, heads
        self.children: list[list[int]] = [[] for _ in tokens]
        for k, token in enumerate(tokens):
            if token.head >= 0:
                self.children[token.head].append(k)
        self.entity: dict[int, Entity] = {}
        self.event: dict[int, Event] = {}
        self.phrases: list[Phrase] = []
        self.inside: set[int] = set()  # words of noun phrases but heads
        self._nouns()
        self._verbs()
        self._of_phrases()
        self._arguments()
        self._coordination()
        self._links()
        self._clothing()
        self.content = Content(
            sorted(set(self.entity.values()), key=lambda e: e.place),
            sorted(set(self.event.values()), key=lambda e: e.head), self.phrases,
        )  # fmt: skip

    def _cased(self, k: int) -> list[Placed]:
        """The prepositions of a word."""
        return [
            (float(c), self.tokens[c].lemma)
            for c in self.children[k]
            if c < k and self.tokens[c].rel in ("case", "mark") and self.tokens[c].tag in _PREPOSITIONS
        ]

    def _nouns(self) -> None:
        for k in range(len(self.tokens) - 1, -1, -1):
            if k in self.inside:
                continue
            token = self.tokens[k]
            noun = token.tag.startswith("NN") or token.tag == "PRP"
            other = token.tag in ("JJ", "CD", "DT") and token.rel in ("nsubj", "obj", "obl", "nmod", "nsubj:pass")
            if not (noun or other) or token.form in RELATIVES or (token.tag == "DT" and token.form in ("this", "that")):
                continue
            self._noun_phrase(k)

    def _start(self, k: int) -> int:
        """The first word of the noun phrase of a head."""
        start, tokens = k, self.tokens
        for t in range(k - 1, -1, -1):
            top, steps = t, 0
            while tokens[top].head != k and 0 <= tokens[top].head < k and steps < 12:
                top, steps = tokens[top].head, steps + 1
            if tokens[top].head != k or tokens[t].tag in ("EX", "TO", "MD"):
                break
            comma = tokens[top].rel == "punct" and (tokens[t].tag == "HYPH" or (t > 0 and tokens[t - 1].head == k))
            if tokens[top].rel not in _BEFORE and not comma:
                break
            if tokens[top].rel == "advmod" and tokens[t].form in ("just", "only", "as", "while", "outside", "inside"):
                break
            start = t
        while start < k and tokens[start].tag in (",", "HYPH", "CC", "RB", "IN", ":"):
            start += 1
        return start

    def _noun_phrase(self, k: int) -> None:
        tokens, start = self.tokens, self._start(k)
        words = self._joined(start, k)
        name, width = noun_lemma(tokens[k]), 1
        for size in range(min(self.heads.longest, len(words) + 1), 1, -1):
            longer = " ".join([*(w[0][1] for w in words[len(words) - size + 1 :] if len(w) == 1), name])
            if longer.count(" ") == size - 1 and longer in self.heads.known:
                name, width = longer, size
                break
        place = words[len(words) - width + 1][0][0] if width > 1 else float(k)
        words = words[: len(words) - width + 1]
        found = Entity(k, name, place, start=start, kind=self.heads.kind(name))
        plural = tokens[k].tag in ("NNS", "NNPS") or name == "person"
        for word in words:
            text = " ".join(part for _, part in word)
            lone = len(word) == 1
            if lone and text in COUNTS and (plural or text == "no"):
                if COUNTS[text] and (found.count is None or found.count[1] == "some"):
                    found.count = (word[0][0], COUNTS[text])
            elif not (lone and (text in DROPPED or text in COUNTS)):
                noun = tokens[int(word[-1][0])].tag.startswith("NN")  # a hockey player is no hockey person
                found.modifiers.append(Modifier(word, noun or word[-1][1] in SIZES_AND_AGES))
        self.entity[k] = found
        self.inside.update(range(start, k))

    def _joined(self, start: int, k: int) -> list[list[Placed]]:
        """The modifiers of a noun phrase, each one or several words that are dropped together."""
        tokens = self.tokens
        found: list[list[Placed]] = []
        join = False
        for t in range(start, k):
            token = tokens[t]
            if token.tag in (",", "``", "''", ":"):
                continue
            if token.tag == "HYPH" or (token.form == "-" and found):
                if found and t + 1 < k:
                    place, word = found[-1].pop()
                    found[-1].append((place, f"{word}-"))
                continue
            if token.tag == "POS":
                if found:
                    found[-1].append((float(t), "'s"))
                continue
            if token.tag == "CC":
                if found:
                    found[-1].append((float(t), token.form))
                    join = True
                continue
            word = token.lemma if token.tag in ("NN", "NNS", "VBG", "VBN") else token.form
            if found and found[-1][-1][1].endswith("-"):
                place, first = found[-1].pop()
                found[-1].append((place, f"{first}{token.form}"))
            elif found and (join or (tokens[t - 1].tag == "RB" and token.tag in ("JJ", "VBN", "VBG", "CD"))):
                found[-1].append((float(t), word))
            else:
                found.append([(float(t), word)])
            join = False
        return found

    def _verbs(self) -> None:
        for k, token in enumerate(self.tokens):
            if k in self.inside or k in self.entity:
                continue
            rel = token.rel.split(":")[0]
            copula = [c for c in self.children[k] if self.tokens[c].rel == "cop"]
            if token.tag.startswith("VB") and rel not in ("aux", "cop", "case", "mark", "amod", "compound", "det"):
                if token.lemma == "be" and not any(self.tokens[c].rel == "obj" for c in self.children[k]):
                    continue
                passive = any(self.tokens[c].rel == "aux:pass" for c in self.children[k]) or (
                    token.tag == "VBN" and token.rel == "acl"
                )
                name = verb_lemma(token, passive and token.tag == "VBN")
                event = Event(k, [(float(k), name)], name, light=name in LIGHT_VERBS)
                if token.rel == "acl" and name in ("wear", "dressed"):
                    event.label = "WEAR" if name == "wear" else "DRESS"
            elif token.tag in ("JJ", "JJR") and copula:
                name = f"be {token.form}"
                event = Event(k, [(k - 0.5, "be"), (float(k), token.form)], name)
            else:
                continue
            self._adverbs(event)
            self.event[k] = event

    def _adverbs(self, event: Event) -> None:
        for c in self.children[event.head]:
            token = self.tokens[c]
            if token.rel == "compound:prt":
                objects = [o for o in self.children[event.head] if self.tokens[o].rel == "obj" and o > c]
                if (event.name, token.form) in PARTICLES or event.name in KEPT_FORMS.values():
                    event.adverbs.append([(float(c), token.form)])
                elif not (event.name in MOVEMENTS and objects):
                    event.words.append((float(c), token.form))
            elif (
                token.rel == "advmod"
                and token.tag in ("RB", "RBR", "IN", "RP")
                and token.form not in ("while", "as", "when", "n't", "not")
            ):
                event.adverbs.append([(float(c), token.form)])
            elif token.rel == "xcomp" and token.tag.startswith("JJ"):
                event.words.append((float(c), token.form))
            elif token.rel == "advmod" and token.form in ("not", "n't"):
                event.words.append((c, "not"))

    def _of_phrases(self) -> None:
        """Partitives, determiners like "a couple of", compound prepositions, and "of" phrases that stay."""
        for k, entity in list(self.entity.items()):
            token = self.tokens[k]
            case = self._cased(k)
            if token.rel not in ("nmod",) or [word for _, word in case] != ["of"] or token.head not in self.entity:
                continue
            above = self.entity[token.head]
            if above is entity:
                continue
            if f"{above.name} of {entity.name}" in WHOLE_OF:
                above.name = f"{above.name} of {entity.name}"
                del self.entity[k]
            elif above.name in QUANTITIES and not above.others and above.part is None:
                if QUANTITIES[above.name] and entity.count is None:
                    entity.count = (above.place, QUANTITIES[above.name])
                entity.place, above_head = float(k), above.head
                self._stand_for(above_head, entity)
            elif above.name in _COMPOUND_PREPOSITIONS and self._cased(above.head) and not above.modifiers:
                words = [*self._cased(above.head), (above.place, above.name), *case]
                governor = self.tokens[above.head].head
                self.entity[above.head] = entity
                self._compound(words, entity, governor)
            elif above.name in PARTITIVES:
                if above.part is None:
                    above.part = (case, entity)
            else:
                above.whole.append((case, entity))

    def _stand_for(self, head: int, entity: Entity) -> None:
        """What was said of a word is said of an entity from now on."""
        self.entity[head] = entity

    def _compound(self, words: list[Placed], entity: Entity, governor: int) -> None:
        host = self.entity.get(governor) or self.event.get(governor)
        self._done.add(entity)
        if host is not None and host is not entity:
            self.phrases.append(Phrase(words, entity, host))

    @property
    def _done(self) -> set[Entity]:
        """Entities whose place in the caption is known."""
        if not hasattr(self, "_known"):
            self._known: set[Entity] = set()
        return self._known

    def _arguments(self) -> None:
        """Subjects, objects and prepositional phrases."""
        for k in sorted(self.entity):
            entity, token = self.entity[k], self.tokens[k]
            if entity in self._done and entity.head != k:
                continue
            rel, governor = token.rel.split(":")[0], token.head
            event, host = self.event.get(governor), self.entity.get(governor)
            if rel == "nsubj" and token.form not in PRONOUN_SUBJECTS:
                if event is not None:
                    event.subjects.append(entity)
                elif host is not None and host is not entity:
                    self._predicate(entity, host, governor)
            elif rel == "obj" and event is not None:
                event.objects.append(entity)
            elif rel in ("obl", "nmod", "iobj", "obj") and token.rel != "nmod:poss":
                words = self._cased(k)
                if [word for _, word in words] == ["of"] and host is not None:
                    continue
                if (
                    rel == "obl"
                    and event is not None
                    and len(words) == 1
                    and (event.name, words[0][1]) in PARTICLES
                    and not event.objects
                ):
                    event.adverbs.append(words)
                    event.objects.append(entity)
                    continue
                target: Entity | Event | None = event or host
                if not words and (event is None or token.rel == "obj"):
                    continue
                if target is not None and target is not entity and entity not in self._done:
                    self.phrases.append(Phrase(words, entity, target))
            for event in self.event.values():
                if event.name in MOVEMENTS and entity in event.objects:
                    self._particle(event, entity)

    def _particle(self, event: Event, entity: Entity) -> None:
        """ "walk down a street": the particle is a preposition."""
        particles = [
            c
            for c in self.children[event.head]
            if self.tokens[c].rel == "compound:prt" and event.head < c < entity.start
        ]
        if particles and (event.name, self.tokens[particles[0]].form) not in PARTICLES:
            event.objects.remove(entity)
            self.phrases.append(Phrase([(float(particles[0]), self.tokens[particles[0]].form)], entity, event))

    def _predicate(self, subject: Entity, predicate: Entity, k: int) -> None:
        """ "a man is in a park", "a man is a cook"."""
        words = self._cased(k)
        if words:
            if predicate not in self._done:
                self.phrases.append(Phrase(words, predicate, subject))
        else:
            cop = next((c for c in self.children[k] if self.tokens[c].rel == "cop"), None)
            if cop is not None:
                self.event[cop] = Event(cop, [(float(cop), "be")], "be", [subject], [predicate], light=True)

    def _coordination(self) -> None:
        for k in sorted(self.entity):
            entity, token = self.entity[k], self.tokens[k]
            if token.rel != "conj" or token.head not in self.entity or entity.head != k:
                continue
            first, head = self.entity[token.head], token.head
            while first.kind != entity.kind and first.kind and entity.kind:
                # "a man with red shoes and a white-haired woman": the man and the woman, not the shoes
                up = self.tokens[head].head
                if up < 0 or up not in self.entity or self.entity[up].kind == "":
                    break
                first, head = self.entity[up], up
            if first is entity or (first.kind and entity.kind and first.kind != entity.kind):
                continue
            links = [
                (float(c), self.tokens[c].form)
                for c in range(first.head + 1, k)
                if self.tokens[c].rel == "cc" and self.tokens[c].head in (k, entity.start) and c < k
            ]
            first.others.append((links[-1:], entity))

    def _links(self) -> None:
        """Participles of nouns, coordinated verbs, "while", "to"."""
        for k in sorted(self.event):
            event, token = self.event[k], self.tokens[k]
            rel, governor = token.rel.split(":")[0], token.head
            before, noun = self.event.get(governor), self.entity.get(governor)
            marks = [
                (float(c), self.tokens[c].form)
                for c in self.children[k]
                if (self.tokens[c].rel in ("mark", "cc") or self.tokens[c].form in ("while", "as", "when")) and c < k
            ]
            to = [mark for mark in marks if mark[1] == "to"]
            own = [s for s in event.subjects if s.name not in RELATIVES]
            if rel in ("acl", "conj", "advcl", "parataxis") and noun is not None and not own:
                if not (to and rel == "acl"):
                    event.subjects = [noun]
            elif rel in ("xcomp", "advcl", "ccomp") and before is not None and (to or rel == "xcomp") and not own:
                self._to(before, event, to)
            elif rel in ("conj", "advcl") and before is not None:
                if not own:
                    event.subjects = list(before.subjects)
                before.linked.append((marks[-1:], event))
        for event in self.event.values():
            if event.prefix:
                continue
            for other in self.event.values():
                if not other.subjects and any(linked is other for _, linked in event.linked):
                    other.subjects = list(event.subjects)

    def _to(self, before: Event, event: Event, to: list[Placed]) -> None:
        kind = "both" if before.name in BOTH_TO and to else "second" if before.name in SECOND_TO else "first"
        event.subjects = list(before.subjects)
        if kind == "second" and not before.objects:
            event.prefix = [*before.prefix, *before.words, *to]
            event.after, event.linked = before.after, [*before.linked, *event.linked]
            event.label = before.label
            for phrase in self.phrases:
                if phrase.host is before:
                    phrase.host = event
            event.adverbs += before.adverbs
            for other in self.event.values():
                other.linked = [(words, event if linked is before else linked) for words, linked in other.linked]
            self.event = {k: event if value is before else value for k, value in self.event.items()}
        else:
            event.after = ("both" if kind == "both" else "first", to, before)

    def _clothing(self) -> None:
        """ "in a red shirt" and "dressed in red" are "wear red shirt"."""
        for phrase in list(self.phrases):
            entity, host = phrase.entity, phrase.host
            worn = entity.kind == "clothing" or entity.name in COLOURS
            if [word for _, word in phrase.words] != ["in"] or not worn:
                continue
            if isinstance(host, Event) and host.name == "dressed":
                host.words, host.name, host.adverbs, host.label = [(float(host.head), "wear")], "wear", [], "WEAR"
                host.objects.append(entity)
            else:
                person = host if isinstance(host, Entity) else (host.subjects[0] if host.subjects else None)
                if person is None or person.kind not in ("person", "animal", ""):
                    continue
                place = phrase.words[0][0]
                wear = Event(-1, [(place, "wear")], "wear", [person], [entity], label="WEAR")
                self.event[-1 - int(place)] = wear
            self.phrases.remove(phrase)


def analysed(tokens: list[Token], heads: Heads) -> Content:
    """The entities, events and phrases of a parsed caption.

    >>> words = [("a", "a", "DT", "det", 1), ("dog", "dog", "NN", "nsubj", 2), ("runs", "run", "VBZ", "root", -1)]
    >>> content = analysed([Token(*word) for word in words], Heads({}))
    >>> [entity.name for entity in content.entities], [(event.name, event.subjects[0].name) for event in content.events]
    (['dog'], [('run', 'dog')])
    """
    return Analysis(tokens, heads).content


def droppable(phrase: Phrase) -> bool:
    """Whether a phrase may go without saying something else."""
    return not (phrase.words and phrase.words[-1][1] in KEPT_PREPOSITIONS)
