"""Generated commands to a text editor, with trees and the scopes that their grammar gives them.

    Do not replace every line in the file that contains "x" with a blank line.

A command is a verb, a noun phrase with up to two modifiers (attached to any earlier one), perhaps an instrument, and
perhaps a negation. The first rule that applies orders a pair:

1. a collection outscopes its implicit universal
2. a definite or a constant outscopes what it c-commands, its modifiers included
3. the definite noun of a prepositional phrase outscopes the noun that it modifies: *every line in the file*
4. a universal (every, each, implicit) outscopes indefinites, numbers and mass nouns in its modifiers, and in the
   instrument if it is the object
5. a negation outscopes indefinites and mass nouns of its clause; definites of its clause, and those that its clause
   modifies, outscope it
6. of two numbers, the one that c-commands the other outscopes it

Orders are closed transitively; then one pair of every tenth sentence is reversed, as annotators disagree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weft.text.constituents import doc_of_trees
from weft.text.conventions.scope import (
    COLLECTION,
    DISTRIBUTIVE,
    NEGATION,
    NP,
    Node,
    Scoping,
    set_scopings,
)
from weft.text.doc import Doc
from weft.text.trees import Tree

VERBS = ("delete", "replace", "merge", "move", "copy", "print", "mark", "sort", "join", "swap", "highlight", "indent")
NOUNS = (
    "line", "word", "file", "paragraph", "character", "comma", "column", "heading", "sentence", "table", "page", "tab",
)  # fmt: skip
MASS = ("punctuation", "whitespace", "text", "markup")
CONSTANTS = ("x", "foo", "do", "end", "42", "TODO")
NUMBERS = ("two", "three", "five")
ADJECTIVES = ("blank", "long", "empty", "new")
#: Kinds of noun phrases and how often they are drawn.
KINDS = {
    "every": 0.09, "each": 0.06, "a": 0.2, "the": 0.2, "mass": 0.08, "bare": 0.07, "the plural": 0.1, "all the": 0.05,
    "number": 0.07, "constant": 0.08,
}  # fmt: skip
MODIFIERS = ("in", "of", "with", "ending", "that")
N_MODIFIERS = (0.1, 0.35, 0.55)
INSTRUMENT, NEGATED, NOISE, ADJECTIVE = 0.8, 0.25, 0.1, 0.2
_PLURAL = ("bare", "the plural", "all the", "number")
_DEFINITE = ("the", "the plural", "all the", "constant")


@dataclass
class NounPhrase:
    """A noun phrase: its kind, its words, what modifies it, and the words of its chunk once it is written."""

    kind: str
    noun: str
    adjective: str = ""
    number: str = ""
    modifiers: list[tuple[str, bool, NounPhrase]] = field(default_factory=list)  # kind, negated, complement
    chunk: tuple[int, int] = (0, 0)

    @property
    def plural(self) -> bool:
        return self.kind in _PLURAL

    def inside(self) -> Iterator[NounPhrase]:
        """All noun phrases that modify this one, directly or not."""
        for _, _, other in self.modifiers:
            yield other
            yield from other.inside()


class _Writer:
    """Collects the words of a sentence with tags and heads while the tree is built."""

    def __init__(self) -> None:
        self.rows: list[list[str]] = []  # form, lemma, upos, xpos, relation
        self.heads: list[int] = []
        self.glued: list[bool] = []  # no space after the word
        self.negations: list[int] = []

    def word(self, form: str, lemma: str, upos: str, xpos: str, relation: str) -> tuple[int, Tree]:
        self.rows.append([form, lemma, upos, xpos, relation])
        self.heads.append(-1)
        self.glued.append(False)
        return len(self.rows) - 1, Tree(xpos, word=form)

    def noun_phrase(self, phrase: NounPhrase, relation: str) -> tuple[int, Tree]:
        """Write a noun phrase with its modifiers; the number of its head, and its tree."""
        start, leaves, dependents = len(self.rows), [], []

        def add(form: str, upos: str, xpos: str, own: str) -> None:
            vowel = form == "a" and (phrase.adjective or phrase.noun)[0] in "aeiou"
            number, leaf = self.word("an" if vowel else form, form, upos, xpos, own)
            dependents.append(number)
            leaves.append(leaf)

        kind = phrase.kind
        if kind == "all the":
            add("all", "DET", "PDT", "det:predet")
        if kind in ("every", "each", "a", "the"):
            add(kind, "DET", "DT", "det")
        elif kind in ("the plural", "all the"):
            add("the", "DET", "DT", "det")
        elif kind == "number":
            add(phrase.number, "NUM", "CD", "nummod")
        elif kind == "constant":
            add('"', "PUNCT", "``", "punct")
            self.glued[-1] = True
        if phrase.adjective:
            add(phrase.adjective, "ADJ", "JJ", "amod")
        form = f"{phrase.noun}s" if phrase.plural else phrase.noun
        head, leaf = self.word(form, phrase.noun, "NOUN", "NNS" if phrase.plural else "NN", relation)
        leaves.append(leaf)
        if kind == "constant":
            self.glued[-1] = True
            add('"', "PUNCT", "''", "punct")
        for number in dependents:
            self.heads[number] = head
        phrase.chunk = (start, len(self.rows))
        tree = Tree("NP", tuple(leaves))
        parts = [self.modifier(head, *modifier) for modifier in phrase.modifiers]
        return head, Tree("NP", (tree, *parts)) if parts else tree

    def prepositional(self, preposition: str, phrase: NounPhrase, relation: str, governor: int) -> Tree:
        case, leaf = self.word(preposition, preposition, "ADP", "IN", "case")
        head, tree = self.noun_phrase(phrase, relation)
        self.heads[case], self.heads[head] = head, governor
        return Tree("PP", (leaf, tree))

    def modifier(self, noun: int, kind: str, negated: bool, phrase: NounPhrase) -> Tree:
        if kind == "ending":
            verb, leaf = self.word("ending", "end", "VERB", "VBG", "acl")
            self.heads[verb] = noun
            return Tree("VP", (leaf, self.prepositional("in", phrase, "obl", verb)))
        if kind != "that":
            return self.prepositional(kind, phrase, "nmod", noun)
        plural = self.rows[noun][3] == "NNS"
        pronoun, that = self.word("that", "that", "PRON", "WDT", "nsubj")
        auxiliaries, around = [], []
        if negated:
            auxiliary, leaf = self.word("do" if plural else "does", "do", "AUX", "VBP" if plural else "VBZ", "aux")
            negation, no = self.word("not", "not", "PART", "RB", "advmod")
            self.negations.append(negation)
            auxiliaries, around = [auxiliary, negation], [leaf, no]
        base = plural or negated
        verb, leaf = self.word(
            "contain" if base else "contains", "contain", "VERB", "VB" if base else "VBZ", "acl:relcl"
        )
        head, tree = self.noun_phrase(phrase, "obj")
        self.heads[verb], self.heads[head], self.heads[pronoun] = noun, verb, verb
        for auxiliary in auxiliaries:
            self.heads[auxiliary] = verb
        inner = Tree("VP", (leaf, tree))
        clause = Tree("VP", (*around, inner)) if around else inner
        return Tree("SBAR", (Tree("WHNP", (that,)), Tree("S", (clause,))))


@dataclass
class Command:
    """A command: its verb, object, instrument, and whether it is negated."""

    verb: str
    object: NounPhrase
    instrument: NounPhrase | None = None
    negated: bool = False

    def phrases(self) -> list[NounPhrase]:
        """All noun phrases."""
        top = [self.object, *([self.instrument] if self.instrument else [])]
        return [phrase for each in top for phrase in (each, *each.inside())]

    def write(self) -> tuple[_Writer, Tree]:
        """The words with their dependency tree, and the phrase-structure tree."""
        out, around = _Writer(), []
        before = []
        if self.negated:
            auxiliary, leaf = out.word("do", "do", "AUX", "VB", "aux")
            negation, no = out.word("not", "not", "PART", "RB", "advmod")
            out.negations.append(negation)
            before, around = [auxiliary, negation], [leaf, no]
        verb, leaf = out.word(self.verb, self.verb, "VERB", "VB", "root")
        head, tree = out.noun_phrase(self.object, "obj")
        out.heads[head] = verb
        parts = [leaf, tree]
        if self.instrument is not None:
            parts.append(out.prepositional("with", self.instrument, "obl", verb))
        out.glued[-1] = True
        stop, dot = out.word(".", ".", "PUNCT", ".", "punct")
        for number in (*before, stop):
            out.heads[number] = verb
        inner = Tree("VP", tuple(parts))
        clause = Tree("VP", (*around, inner)) if around else inner
        return out, Tree("S", (clause, dot))


def draw(random: np.random.Generator) -> Command:
    """A random command."""
    top = _noun_phrase(random)
    earlier = [top]
    for _ in range(int(random.choice(3, p=N_MODIFIERS))):
        target = earlier[int(random.integers(len(earlier)))]
        kind = MODIFIERS[int(random.integers(len(MODIFIERS)))]
        other = _noun_phrase(random)
        target.modifiers.append((kind, False, other))
        earlier.append(other)
    command = Command(VERBS[int(random.integers(len(VERBS)))], top)
    if random.random() < INSTRUMENT:
        command.instrument = _noun_phrase(random)
    if random.random() < NEGATED:
        clauses = [phrase for phrase in earlier if any(kind == "that" for kind, _, _ in phrase.modifiers)]
        if clauses and random.random() < 0.5:
            phrase = clauses[int(random.integers(len(clauses)))]
            place = next(k for k, modifier in enumerate(phrase.modifiers) if modifier[0] == "that")
            phrase.modifiers[place] = ("that", True, phrase.modifiers[place][2])
        else:
            command.negated = True
    return command


def _noun_phrase(random: np.random.Generator) -> NounPhrase:
    def one(values: tuple[str, ...]) -> str:
        return values[int(random.integers(len(values)))]

    kind = list(KINDS)[int(random.choice(len(KINDS), p=list(KINDS.values())))]
    noun = one(MASS) if kind == "mass" else one(CONSTANTS) if kind == "constant" else one(NOUNS)
    adjective = one(ADJECTIVES) if kind != "constant" and random.random() < ADJECTIVE else ""
    return NounPhrase(kind, noun, adjective, one(NUMBERS) if kind == "number" else "")


def scoping_of(command: Command, out: _Writer) -> Scoping:
    """The order that the rules give to a command that was written."""
    nodes: list[Node] = []
    number: dict[tuple[int, str], int] = {}
    phrases = command.phrases()
    for phrase in phrases:
        for kind in (COLLECTION, DISTRIBUTIVE) if phrase.plural else (NP,):
            number[id(phrase), kind] = len(nodes)
            nodes.append(Node(*phrase.chunk, kind))
    pairs: dict[frozenset[int], tuple[int, int]] = {}

    def outscope(u: int, v: int) -> None:
        pairs.setdefault(frozenset((u, v)), (u, v))

    def own(phrase: NounPhrase) -> int:
        return number[id(phrase), COLLECTION if phrase.plural else NP]

    def commanded(phrase: NounPhrase) -> list[NounPhrase]:
        right = [command.instrument] if phrase is command.object and command.instrument is not None else []
        return [*phrase.inside(), *right]

    for phrase in phrases:
        if phrase.kind in _DEFINITE:
            for other in commanded(phrase):
                outscope(own(phrase), own(other))
    for phrase in phrases:
        for kind, _, other in phrase.modifiers:
            if kind in ("in", "of", "with") and other.kind in ("the", "the plural", "all the"):
                outscope(own(other), own(phrase))
    for phrase in phrases:
        universal = number[id(phrase), DISTRIBUTIVE] if phrase.plural else own(phrase)
        if phrase.plural or phrase.kind in ("every", "each"):
            for other in commanded(phrase):
                if other.kind in ("a", "bare", "number", "mass"):
                    outscope(universal, own(other))
    for place, clause, above in _negations(command, out):
        negation = len(nodes)
        nodes.append(Node(place, place + 1, NEGATION))
        for phrase in clause:
            if phrase.kind in ("a", "bare", "mass"):
                outscope(negation, own(phrase))
        for phrase in (*clause, *above):
            if phrase.kind in _DEFINITE:
                outscope(own(phrase), negation)
    for phrase in phrases:
        for other in commanded(phrase):
            if phrase.kind == other.kind == "number":
                outscope(own(phrase), own(other))
    return Scoping.of(nodes, pairs.values())


def _negations(command: Command, out: _Writer) -> Iterator[tuple[int, list[NounPhrase], list[NounPhrase]]]:
    """Every negation: its word, the noun phrases of its clause, and those that the clause modifies."""
    places = iter(out.negations)
    if command.negated:
        top = [command.object, *([command.instrument] if command.instrument else [])]
        yield next(places), [phrase for each in top for phrase in _same_clause(each)], []
    waiting = [(command.object, [command.object])]
    while waiting:
        phrase, above = waiting.pop(0)
        for _, negated, other in phrase.modifiers:
            if negated:
                yield next(places), list(_same_clause(other)), above
            waiting.append((other, [other, *above]))


def _same_clause(phrase: NounPhrase) -> Iterator[NounPhrase]:
    yield phrase
    for kind, _, other in phrase.modifiers:
        if kind in ("in", "of", "with"):
            yield from _same_clause(other)


def with_noise(scoping: Scoping, random: np.random.Generator) -> Scoping:
    """The scoping with one pair reversed; collections keep their universals."""
    numbers = scoping.order.astype(np.int64)
    direct = np.argwhere(scoping.order & ~(numbers @ numbers > 0)).tolist()
    nodes = scoping.nodes
    loose = [(u, v) for u, v in direct if nodes[u][:2] != nodes[v][:2]]
    if not loose:
        return scoping
    u, v = loose[int(random.integers(len(loose)))]
    return Scoping.of(nodes, [*(pair for pair in scoping.pairs() if pair != (u, v)), (v, u)])


def commands(n: int, seed: int, noise: float = NOISE) -> Doc:
    """A document of n commands with dependency trees, constituents and scopes.

    >>> doc = commands(200, seed=0)
    >>> doc.sentences[1].text
    'Print the table ending in five new lines in three lines with each comma.'
    >>> str(doc.scope[1])
    '1>2c; 1>4; 2c>2d; 2d>3c; 3c>3d'
    """
    random = np.random.default_rng(seed)
    trees, rows, heads, spaces, scopings = [], [], [], [], []
    for _ in range(n):
        command = draw(random)
        out, tree = command.write()
        scoping = scoping_of(command, out)
        scopings.append(with_noise(scoping, random) if random.random() < noise else scoping)
        out.rows[0][0] = out.rows[0][0].capitalize()
        trees.append(tree)
        rows.append(out.rows)
        heads.append([head + 1 for head in out.heads])
        spaces.append([not glued for glued in out.glued])
    columns: dict[str, Any] = {
        name: [[row[k] for row in sentence] for sentence in rows]
        for k, name in enumerate(("form", "lemma", "upos", "xpos", "deprel"))
    }
    doc = Doc.from_words(columns.pop("form"), spaces, head=heads, **columns)
    layer = doc_of_trees(trees, doc.strings).constituents
    doc.constituents = layer
    set_scopings(doc, scopings)
    return doc
