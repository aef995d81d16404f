"""Features of pairs of nodes (Manshadi, Gildea and Allen 2013), as strings.

| set | two noun phrases |
|---|---|
| `rich` | heads, determiners, constants, plurals; the phrases between them; typed dependencies |
| `joint` | the same, and both quantifiers together with their configuration |
| `ma11` | head, tags of head and determiner, untyped dependencies (Manshadi and Allen 2011) |
| `ma11+det` | the same and the determiners themselves |

For a negation and a noun phrase, `rich` has determiner, constant and plural of the noun phrase, c-command, and how the
verb of the negation governs the noun; `ma11` has a mark for the negation, and the features of the noun phrase.
The paper has `ma11` and `rich`. Pairs are presented in text order, except that a negation always comes first. The
implicit universal of a plural has the features of its chunk and one of its own.
"""

from __future__ import annotations

from typing import NamedTuple

from weft.tasks.scope.nodes import _PLURAL_TAGS
from weft.tasks.scope.syntax import Syntax
from weft.text.conventions.scope import COLLECTION, DISTRIBUTIVE, NEGATION, Node

SETS = ("rich", "joint", "ma11", "ma11+det")
_QUOTES = frozenset("\"'`“”‘’«»")
_DETERMINERS = ("det", "nummod")
_DETERMINER_TAGS = ("DT", "CD", "PRP$", "WDT", "PDT")
_PREDETERMINERS = ("all", "both", "half", "such", "exactly")


class Chunk(NamedTuple):
    """What is known of the chunk of a node."""

    node: Node
    phrase: int
    noun: int
    head: str
    tag: str
    determiner: str
    determiner_tag: str
    predeterminer: str
    constant: bool
    plural: bool


def chunk_of(syntax: Syntax, node: Node) -> Chunk:
    """The chunk of a node: its deepest phrase, its head, its determiner and what it holds."""
    tree = syntax.tree
    noun = syntax.noun(node.start, node.end)
    words = range(node.start, node.end)
    before = [
        word for word in words
        if word != noun and (tree.tags[word] in _DETERMINER_TAGS or tree.relation(word) in _DETERMINERS)
    ]  # fmt: skip
    own = [word for word in before if tree.relations[word] != "det:predet" and tree.tags[word] != "PDT"]
    pre = [word for word in before if word not in own] or [
        word for word in words if word < (own or [noun])[0] and tree.forms[word].lower() in _PREDETERMINERS
    ]
    constant = any(
        tree.forms[word] in _QUOTES or tree.forms[word] in ("``", "''") or tree.tags[word] in ("SYM", "``", "''")
        for word in words
    )
    return Chunk(
        node, syntax.phrase(node.start, node.end), noun, tree.lemmas[noun].lower(), tree.tags[noun] or tree.upos[noun],
        tree.lemmas[own[0]].lower() if own else "", (tree.tags[own[0]] or tree.upos[own[0]]) if own else "",
        tree.forms[pre[0]].lower() if pre else "", constant,
        node.kind in (COLLECTION, DISTRIBUTIVE) or tree.tags[noun] in _PLURAL_TAGS,
    )  # fmt: skip


def pair_features(syntax: Syntax, first: Chunk, second: Chunk, features: str = "rich") -> list[str]:
    """The features of a pair of nodes in text order.

    >>> from weft.tasks.scope.phrases import Dependencies
    >>> tree = Dependencies(["Mark", "lines", "in", "a", "file"], ["mark", "line", "in", "a", "file"],
    ...     ["VERB", "NOUN", "ADP", "DET", "NOUN"], ["VB", "NNS", "IN", "DT", "NN"], [-1, 0, 4, 4, 1],
    ...     ["root", "obj", "case", "det", "nmod"])
    >>> syntax = Syntax(tree)
    >>> lines, file = (chunk_of(syntax, node) for node in (Node(1, 2, "collection"), Node(3, 5)))
    >>> pair_features(syntax, lines, file, "ma11")[:4]
    ['1 tag NNS', '1 head line', '1 determiner tag ', '2 tag NN']
    >>> [name for name in pair_features(syntax, lines, file) if "command" in name or "relation" in name]
    ['1 relation obj', '2 relation nmod:in', '1 commands 2']
    """
    if features.startswith("ma11"):
        return _plain(syntax, first, second, features == "ma11+det")
    if second.node.kind == NEGATION:  # two negations: not in the paper's corpus
        return ["bias", "two negations"]
    found = _with_negation(syntax, first, second) if first.node.kind == NEGATION else _rich(syntax, first, second)
    return [*found, *_conjunctions(syntax, first, second)] if features == "joint" else found


def in_order(first: Node, second: Node) -> bool:
    """Whether a pair is presented in this order: negations first, then by the first word, collections first."""
    return _rank(first) <= _rank(second)


def _rank(node: Node) -> tuple[bool, int, int, bool]:
    return node.kind != NEGATION, node.start, node.end, node.kind == DISTRIBUTIVE


def _rich(syntax: Syntax, first: Chunk, second: Chunk) -> list[str]:
    found = ["bias"]
    for place, chunk in (("1", first), ("2", second)):
        found += [
            f"{place} tag {chunk.tag}", f"{place} head {chunk.head}", f"{place} determiner {chunk.determiner}",
            f"{place} predeterminer {chunk.predeterminer}", f"{place} relation {syntax.relation(chunk.noun)}",
        ]  # fmt: skip
        found += [f"{place} constant"] * chunk.constant + [f"{place} plural"] * chunk.plural
        found += [f"{place} implicit"] * (chunk.node.kind == DISTRIBUTIVE)
    found += _phrase_structure(syntax, first, second)
    found += _domination(syntax, first.noun, second.noun)
    common, length = syntax.common(first.noun, second.noun)
    found.append(f"distance {min(length, 10)}")
    if common >= 0:
        tree = syntax.tree
        found += [f"common tag {tree.tags[common] or tree.upos[common]}", f"common word {tree.lemmas[common].lower()}"]
    return found


def _phrase_structure(syntax: Syntax, first: Chunk, second: Chunk) -> list[str]:
    if first.phrase < 0 or second.phrase < 0:
        return []
    path, labels = syntax.path(first.phrase, second.phrase), syntax.labels_between(first.phrase, second.phrase)
    top = syntax.ancestor(first.phrase, second.phrase)
    found = [f"common phrase {syntax.phrases[top].label if top >= 0 else ''}", f"path {min(len(path), 12)}"]
    found += [f"{a} commands {b}" for a, b in _commands(syntax, first, second)]
    found += [f"on path {label}" for label in dict.fromkeys(labels)]
    found += ["conjoined"] * syntax.conjoined(path)
    return found + [f"punctuation {mark}" for mark in dict.fromkeys(syntax.punctuation(path))]


def _with_negation(syntax: Syntax, negation: Chunk, noun: Chunk) -> list[str]:
    tree = syntax.tree
    parent = tree.heads[negation.noun]
    found = ["bias", f"determiner {noun.determiner}"]
    found += [f"{a} commands {b}" for a, b in _commands(syntax, negation, noun)]
    found += ["constant"] * noun.constant + ["plural"] * noun.plural
    found += ["implicit"] * (noun.node.kind == DISTRIBUTIVE)
    if parent >= 0:
        found.append(f"parent tag {tree.tags[parent] or tree.upos[parent]}")
        found += ["parent dominates"] * syntax.dominates(parent, noun.noun)
        found += ["noun dominates parent"] * syntax.dominates(noun.noun, parent)
        if tree.heads[noun.noun] == parent:
            found += ["parent governs", f"parent governs as {syntax.relation(noun.noun)}"]
        if tree.heads[parent] == noun.noun:
            found += ["noun governs parent", f"noun governs parent as {syntax.relation(parent)}"]
    found.append(f"distance {min(syntax.common(negation.noun, noun.noun)[1], 10)}")
    return found


def _conjunctions(syntax: Syntax, first: Chunk, second: Chunk) -> list[str]:
    """Both quantifiers with how the chunks stand to each other: a linear machine cannot compare them otherwise."""
    pair = f"{_quantifier(first)} {_quantifier(second)}"
    command = "".join(a for a, _ in _commands(syntax, first, second))
    relations = f"{syntax.relation(first.noun)} {syntax.relation(second.noun)}"
    labels = " ".join(syntax.labels_between(first.phrase, second.phrase))
    linked = "; ".join(_domination(syntax, first.noun, second.noun))
    return [
        f"quantifiers {pair}", f"relations {relations}", f"phrases {labels}", f"quantifiers {pair} command {command}",
        f"quantifiers {pair} relations {relations} {linked}", f"quantifiers {pair} phrases {labels}",
    ]  # fmt: skip


def _domination(syntax: Syntax, first: int, second: int) -> list[str]:
    heads = syntax.tree.heads
    found = []
    for a, b, above, below in (("1", "2", first, second), ("2", "1", second, first)):
        found += [f"{a} dominates {b}"] * syntax.dominates(above, below)
        found += [f"{a} governs {b}"] * (heads[below] == above)
    return found


def _commands(syntax: Syntax, first: Chunk, second: Chunk) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    if first.phrase < 0 or second.phrase < 0:
        return found
    for a, b, one, other in (("1", "2", first, second), ("2", "1", second, first)):
        if one.node.kind == NEGATION:
            holds = syntax.word_c_commands(one.node.start, other.phrase)
        elif other.node.kind == NEGATION:
            holds = syntax.phrase_c_commands_word(one.phrase, other.node.start)
        else:
            holds = syntax.c_commands(one.phrase, other.phrase)
        found += [(a, b)] * holds
    return found


def _plain(syntax: Syntax, first: Chunk, second: Chunk, determiners: bool) -> list[str]:
    found = []
    for place, chunk in (("1", first), ("2", second)):
        if chunk.node.kind == NEGATION:
            found.append(f"{place} negation")
            continue
        found += [
            f"{place} tag {chunk.tag}",
            f"{place} head {chunk.head}",
            f"{place} determiner tag {chunk.determiner_tag}",
        ]
        found += [f"{place} determiner {chunk.determiner}"] * determiners
        found += [f"{place} implicit"] * (chunk.node.kind == DISTRIBUTIVE)
    return [*found, *_domination(syntax, first.noun, second.noun)]


def _quantifier(chunk: Chunk) -> str:
    """What quantifies over the chunk: its determiner, and whether the node is the implicit universal of a plural."""
    if chunk.node.kind == NEGATION:
        return NEGATION
    parts = [chunk.predeterminer, chunk.determiner, "constant" * chunk.constant]
    parts += ["each" if chunk.node.kind == DISTRIBUTIVE else "all" if chunk.plural else "one"]
    return "_".join(part for part in parts if part)
