"""Generated reviews: clauses about products and their aspects, with trees, and the words that carry every opinion.

A sentence has two judgements (40 %), most of them opposite, a polarity and a comparison (30 %), or one opinion (30 %).
Half of the opinion words are not in the lexicon; some comparatives turn with the aspect: a higher price is worse, a
higher speed better. Remarks stand between an aspect and what is said of it, so that the nearest word is often the
wrong one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from weft.lexical.polarity_lexicon import PolarityLexicon
from weft.tasks.opinions.sentences import (
    ASPECT,
    BETTER,
    ENTITY,
    NEGATIVE,
    POSITIVE,
    WORSE,
    Edge,
    Mention,
    OpinionSentence,
)

PRODUCTS = ["orla", "vexo", "quint", "brava", "solus", "tarn", "milo", "kestrel", "dune", "fjord"]
ASPECTS = [
    "lens",
    "zoom",
    "screen",
    "battery",
    "menu",
    "strap",
    "flash",
    "sensor",
    "grip",
    "cover",
    "speed",
    "resolution",
    "price",
    "noise",
    "weight",
]
#: Aspects of which more is worse.
COSTS = frozenset(["price", "noise", "weight"])
_POSITIVE = [
    "great",
    "superb",
    "sharp",
    "bright",
    "handy",
    "crisp",
    "solid",
    "smooth",
    "elegant",
    "reliable",
    "neat",
    "lovely",
    "brilliant",
    "fine",
    "sturdy",
    "clever",
    "fast",
    "clean",
    "rich",
    "vivid",
    "stellar",
    "nifty",
    "ace",
    "slick",
    "dandy",
    "primo",
    "topnotch",
    "flawless",
    "spotless",
    "peachy",
    "snappy",
    "zippy",
    "comfy",
    "cushy",
    "plush",
    "silky",
    "punchy",
    "tidy",
    "spiffy",
    "classy",
]
_NEGATIVE = [
    "awful",
    "poor",
    "dull",
    "weak",
    "clumsy",
    "shaky",
    "noisy",
    "blurry",
    "ugly",
    "flimsy",
    "faulty",
    "lousy",
    "bad",
    "cheap",
    "slow",
    "dirty",
    "rough",
    "vague",
    "harsh",
    "sloppy",
    "janky",
    "meh",
    "subpar",
    "laggy",
    "crummy",
    "icky",
    "yucky",
    "wonky",
    "creaky",
    "grainy",
    "fiddly",
    "murky",
    "stodgy",
    "gritty",
    "wobbly",
    "clunky",
    "tinny",
    "soggy",
    "naff",
    "duff",
]
#: Comparatives and their directions; 0: they turn with the aspect.
COMPARATIVES = {
    "better": 1, "worse": -1, "nicer": 1, "sturdier": 1, "weaker": -1, "sharper": 1, "smoother": 1, "duller": -1,
    "cleverer": 1, "clumsier": -1, "neater": 1, "shakier": -1, "tougher": 1, "uglier": -1, "higher": 0, "lower": 0,
    "bigger": 0, "smaller": 0, "greater": 0, "lesser": 0,
}  # fmt: skip
_UP = frozenset(["higher", "bigger", "greater"])
_REMARKS = ("to my eyes", "after a week of daily use", "for all of us here", "in this class", "as my friend says")
_JOINS = ("and", "but", "while")


@dataclass
class _Builder:
    """A sentence that grows: words, tags, heads, constituents and mentions."""

    words: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    relations: list[str] = field(default_factory=list)
    brackets: list[tuple[int, int]] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    gold: dict[Edge, int] = field(default_factory=dict)
    carriers: dict[Edge, int] = field(default_factory=dict)
    roots: list[int] = field(default_factory=list)

    def add(self, text: str, tags: str) -> int:
        """Append words; returns the place of the first one."""
        start = len(self.words)
        self.words += text.split()
        self.tags += tags.split()
        self.heads += [-1] * (len(self.words) - start)
        self.relations += ["dep"] * (len(self.words) - start)
        return start

    def mention(self, word: int, kind: str) -> int:
        self.mentions.append(Mention(word, word + 1, kind))
        return len(self.mentions) - 1

    def attach(self, head: int, *children: tuple[int, str]) -> None:
        for child, relation in children:
            self.heads[child], self.relations[child] = head, relation

    def noun(self, name: str, kind: str, determiner: str = "the") -> tuple[int, int]:
        """A noun phrase that is a mention: the place of the noun, and the number of the mention."""
        start = self.add(f"{determiner} {name}", f"DET {'PROPN' if kind == ENTITY else 'NOUN'}")
        self.attach(start + 1, (start, "det"))
        self.brackets.append((start, start + 2))
        return start + 1, self.mention(start + 1, kind)

    def remark(self, head: int, text: str) -> None:
        words = text.split()
        start = self.add(text, " ".join(["ADP", *["NOUN"] * (len(words) - 1)]))
        last = len(self.words) - 1
        self.attach(last, *((k, "dep") for k in range(start, last)))
        self.heads[last], self.relations[last] = head, "obl"
        self.brackets.append((start, last + 1))


@dataclass(frozen=True)
class Generated:
    """A sentence, and the word that carries each of its opinions."""

    sentence: OpinionSentence
    carriers: dict[Edge, int]

    def rests_well(self, edge: Edge, evidence: tuple[int, int] | None) -> bool:
        """Whether evidence holds the word that carries an opinion, and none that carries another one."""
        if evidence is None or edge not in self.carriers:
            return False
        inside = {word for word in self.carriers.values() if evidence[0] <= word < evidence[1]}
        return inside == {self.carriers[edge]}


def lexicon() -> PolarityLexicon:
    """Every second opinion word, and *good* and *nice*-like stems of half of the comparatives."""
    signs = dict.fromkeys(_POSITIVE[::2], 1) | dict.fromkeys(_NEGATIVE[::2], -1)
    return PolarityLexicon(signs | {"nice": 1, "sturdy": 1, "dull": -1, "clumsy": -1})


def generate(count: int, seed: int, mixed: bool = False) -> list[Generated]:
    """Sentences; with `mixed` all of them have a polarity and a comparison."""
    draw = np.random.default_rng(seed)
    return [_generate(draw, mixed) for _ in range(count)]


def _generate(draw: np.random.Generator, mixed: bool) -> Generated:
    form = 1 if mixed else int(draw.choice(3, p=[0.4, 0.3, 0.3]))
    aspects = draw.permutation(ASPECTS).tolist()
    one, other = draw.choice(PRODUCTS, 2, replace=False).tolist()
    out = _Builder()
    entity = -1
    named = form == 1 or draw.random() < 0.5
    if named:
        start = out.add("on", "ADP")
        place, entity = out.noun(one, ENTITY)
        out.attach(place, (start, "case"))
        out.brackets.append((start, place + 1))
        out.add(",", "PUNCT")
    first = 1 if draw.random() < 0.5 else -1
    signs = (first, -first if draw.random() < 0.7 else first)
    clauses: list[tuple[str, int]] = {
        0: [("polarity", signs[0]), ("polarity", signs[1])],
        1: [("polarity", signs[0]), ("comparison", signs[1])],
        2: [("polarity", signs[0]) if draw.random() < 0.6 or not named else ("comparison", signs[0])],
    }[form]
    if form == 1 and draw.random() < 0.5:
        clauses.reverse()
    pending: list[tuple[int, int, int, str]] = []
    for number, (kind, sign) in enumerate(clauses):
        if number:
            out.add(str(draw.choice(_JOINS)), "CCONJ")
        start = len(out.words)
        if kind == "polarity":
            _polarity(out, draw, aspects, sign, pending)
        else:
            _comparison(out, draw, aspects.pop(), other, entity, sign)
        out.brackets.append((start, len(out.words)))
    out.add(".", "PUNCT")
    if entity < 0:
        entity = len(out.mentions)  # the sentence adds an entity of its context
    for aspect, word, sign, _ in pending:
        edge = Edge(entity, aspect=aspect)
        out.gold[edge], out.carriers[edge] = (POSITIVE if sign > 0 else NEGATIVE), word
    root = out.roots[0]
    for later in out.roots[1:]:
        out.attach(root, (later, "conj"))
    for k, head in enumerate(out.heads):
        if head < 0 and k != root:
            out.attach(root, (k, "dep"))
    sentence = OpinionSentence(
        out.words, out.mentions, out.gold, tags=out.tags, heads=out.heads, relations=out.relations,
        brackets=sorted(set(out.brackets)), spans=list(range(len(out.mentions))),
    )  # fmt: skip
    return Generated(sentence, out.carriers)


def _polarity(
    out: _Builder, draw: np.random.Generator, aspects: list[str], sign: int, pending: list[tuple[int, int, int, str]]
) -> None:
    word = str(draw.choice(_POSITIVE if sign > 0 else _NEGATIVE))
    form = int(draw.choice(4, p=[0.45, 0.2, 0.2, 0.15]))
    remark = str(draw.choice(_REMARKS)) if draw.random() < 0.5 else ""
    start = len(out.words)
    if form == 3:  # "superb is what I call the lens"
        place = out.add(f"{word} is what i call", "ADJ AUX PRON PRON VERB")
        noun, mention = out.noun(aspects.pop(), ASPECT)
        out.attach(place, (place + 1, "cop"), (place + 4, "csubj"))
        out.attach(place + 4, (place + 2, "obj"), (place + 3, "nsubj"), (noun, "xcomp"))
        out.brackets += [(start + 2, len(out.words)), (start + 3, len(out.words))]
        out.roots.append(place)
        pending.append((mention, place, sign, word))
        return
    if form == 2:  # "it has a superb lens"
        place = out.add(f"it has a {word}", "PRON VERB DET ADJ")
        noun = out.add(aspects.pop(), "NOUN")
        mention = out.mention(noun, ASPECT)
        out.attach(noun, (place + 2, "det"), (place + 3, "amod"))
        out.attach(place + 1, (place, "nsubj"), (noun, "obj"))
        out.brackets += [(place + 2, noun + 1), (place + 1, noun + 1)]
        out.roots.append(place + 1)
        pending.append((mention, place + 3, sign, word))
        return
    nouns = [out.noun(aspects.pop(), ASPECT)]
    if form == 1:  # "the lens and the zoom are superb"
        joint = out.add("and", "CCONJ")
        nouns.append(out.noun(aspects.pop(), ASPECT))
        out.attach(nouns[0][0], (nouns[1][0], "conj"), (joint, "cc"))
        out.brackets.append((start, len(out.words)))
    verb = out.add("are" if form == 1 else "is", "AUX")
    if remark:
        out.remark(nouns[0][0], remark)
    place = out.add(word, "ADJ")
    out.attach(place, (nouns[0][0], "nsubj"), (verb, "cop"))
    if remark:
        out.attach(place, (out.brackets[-1][1] - 1, "obl"))
    out.brackets.append((verb, place + 1))
    out.roots.append(place)
    pending.extend((mention, place, sign, word) for _, mention in nouns)


def _comparison(
    out: _Builder, draw: np.random.Generator, aspect: str, other: str, entity: int, sign: int
) -> None:  # fmt: skip
    """ "the price is higher than that of the vexo"."""
    noun, mention = out.noun(aspect, ASPECT)
    fitting = [word for word, own in COMPARATIVES.items() if (own or _direction(word, aspect)) == sign]
    word = str(draw.choice(fitting))
    verb = out.add("is", "AUX")
    place = out.add(word, "ADJ")
    start = out.add("than that of", "ADP PRON ADP")
    product, second = out.noun(other, ENTITY)
    out.attach(place, (noun, "nsubj"), (verb, "cop"), (start + 1, "obl"))
    out.attach(start + 1, (start, "case"), (product, "nmod"))
    out.attach(product, (start + 2, "case"))
    out.brackets += [(verb, len(out.words)), (verb, place + 1), (start, len(out.words)), (place, len(out.words))]
    out.brackets.append((start + 2, len(out.words)))
    out.roots.append(place)
    edge = Edge(entity, second, mention)
    out.gold[edge], out.carriers[edge] = (BETTER if sign > 0 else WORSE), place


def _direction(word: str, aspect: str) -> int:
    more = 1 if word in _UP else -1
    return -more if aspect in COSTS else more
