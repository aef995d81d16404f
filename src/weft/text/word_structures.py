"""The inside of words: binary trees over characters (Zhang et al. 2013), and trees of sentences down to them.

    建筑业   ((建 c 筑) r 业)   written  ..c.r

A structure is written from the inside out: a point for the next character, then `l`, `r` or `c` to join the last two
parts with the head left, right, or as a coordination (whose head is the left part). In trees the part has the label
TAG#l, TAG#r or TAG#c, a character TAG#b (the first of its word) or TAG#i, and the whole word TAG#t:

    (NN#t (NN#r (NN#c (NN#b 建) (NN#i 筑)) (NN#i 业)))

In documents the structure is the column `structure` of words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from weft.errors import WeftError
from weft.text.binarize import mark
from weft.text.trees import Tree, rebuild

COLUMN = "structure"


def flat(length: int) -> str:
    """The structure of a word whose inside is not known: characters are joined from the left.

    >>> flat(1), flat(3)
    ('.', '..c.c')
    """
    if length < 1:
        raise WeftError("a word needs one character at least")
    return "." + ".c" * (length - 1)


def structure_tree(word: str, tag: str, structure: str) -> Tree:
    """The tree of a word, from TAG#t down to its characters.

    >>> str(structure_tree("建筑业", "NN", "..c.r"))
    '(NN#t (NN#r (NN#c (NN#b 建) (NN#i 筑)) (NN#i 业)))'
    """
    parts: list[Tree] = []
    at = 0
    for step in structure:
        if step == "." and at < len(word):
            parts.append(Tree(f"{tag}#{'i' if at else 'b'}", (), word[at]))
            at += 1
        elif step in "lrc" and len(parts) > 1:
            right, left = parts.pop(), parts.pop()
            parts.append(Tree(f"{tag}#{step}", (left, right)))
        else:
            parts = []
            break
    if len(parts) != 1 or at != len(word):
        raise WeftError(f"{structure!r} is no structure of the word {word!r} with its {len(word)} characters")
    return Tree(f"{tag}#t", tuple(parts))


def structure_of(tree: Tree) -> str:
    """The structure of a word's tree, written from the inside out.

    >>> structure_of(structure_tree("建筑业", "NN", "..c.r"))
    '..c.r'
    """
    steps: list[str] = []
    waiting: list[tuple[Tree, bool]] = [(tree, False)]
    while waiting:
        node, closing = waiting.pop()
        if node.is_leaf:
            steps.append(".")
        elif closing:
            steps.append(mark(node.label))
        else:
            if mark(node.label) != "t":
                waiting.append((node, True))
            waiting.extend((child, False) for child in reversed(node.children))
    return "".join(steps)


def expand(tree: Tree, structures: Iterable[str]) -> Tree:
    """A tree over words as a tree over characters, with the structures of its words in order.

    >>> from weft.text.trees import parse_tree
    >>> str(expand(parse_tree("(NP (JJ 新) (NN 格局))"), [".", "..c"]))
    '(NP (JJ#t (JJ#b 新)) (NN#t (NN#c (NN#b 格) (NN#i 局))))'
    """
    given = iter(structures)
    made = rebuild(tree, lambda leaf: structure_tree(leaf.word, leaf.label, next(given)), Tree)
    assert made is not None
    return made


def collapse(tree: Tree) -> tuple[Tree, list[str]]:
    """A tree over characters as a tree over words, and the structures of the words.

    >>> from weft.text.trees import parse_tree
    >>> tree, structures = collapse(parse_tree("(NP (JJ#t (JJ#b 新)) (NN#t (NN#c (NN#b 格) (NN#i 局))))"))
    >>> str(tree), structures
    ('(NP (JJ 新) (NN 格局))', ['.', '..c'])
    """
    structures: list[str] = []

    def word_of(node: Tree) -> Tree:
        if node.is_leaf:
            raise WeftError(f"the character {node.word!r} stands outside a word; words are labelled TAG#t")
        structures.append(structure_of(node))
        return Tree(node.label.rpartition("#")[0], (), "".join(leaf.word for leaf in node.leaves()))

    made = rebuild(tree, word_of, Tree, lambda node: node.is_leaf or mark(node.label) == "t")
    assert made is not None
    return made, structures


class StructureLexicon:
    """Structures of words by word and tag; of words it does not know, the flat one.

    >>> lexicon = StructureLexicon({("制服", "VV"): "..l", ("制服", "NN"): "..r"})
    >>> lexicon.of("制服", "NN"), lexicon.of("衣服", "NN")
    ('..r', '..c')
    """

    def __init__(self, structures: Mapping[tuple[str, str], str]) -> None:
        self.structures = dict(structures)

    def __len__(self) -> int:
        return len(self.structures)

    def __contains__(self, word: object) -> bool:
        return word in self.structures

    def of(self, word: str, tag: str) -> str:
        """The structure of a word with a tag."""
        return self.structures.get((word, tag)) or flat(len(word))

    def only(self, words: Iterable[tuple[str, str]]) -> StructureLexicon:
        """The part of the lexicon for some words with their tags."""
        chosen = set(words)
        return StructureLexicon({word: each for word, each in self.structures.items() if word in chosen})

    @classmethod
    def from_trees(cls, trees: Iterable[Tree]) -> StructureLexicon:
        """The lexicon of words' trees; of several structures of a word with its tag the first one holds."""
        found: dict[tuple[str, str], str] = {}
        for tree in trees:
            word = "".join(leaf.word for leaf in tree.leaves())
            found.setdefault((word, tree.label.rpartition("#")[0]), structure_of(tree))
        return cls(found)


def structures_of(words: Sequence[str], tags: Sequence[str], lexicon: StructureLexicon | None) -> list[str]:
    """The structures of the words of a sentence; without a lexicon all are flat."""
    if lexicon is None:
        return [flat(len(word)) for word in words]
    return [lexicon.of(word, tag) for word, tag in zip(words, tags, strict=True)]
