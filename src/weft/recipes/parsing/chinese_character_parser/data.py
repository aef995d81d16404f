"""Character-level trees and word structures of Zhang et al. (2013), as released.

The training file is binarized, `( NP r* ( NN t ( NN y ( NN b 银 ) ( NN i 行 ) ) ) ... )`: `l r s` are the side of the
head or a single child, `*` a temporary node, `x y z` coordination, right and left head inside words. Dev and test are
not binarized and use the usual brackets, `(NN#t (NN#y (NN#b 银) (NN#i 行)))`. The lexicon has one word per line in the
first format, without the node of the whole word.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from weft.errors import FormatError
from weft.formats.penn import parse_trees
from weft.formats.streams import Faults, read_text
from weft.recipes.framework import RecipeOptions
from weft.tasks.constituents.parser import Sentence
from weft.text.binarize import unbinarize
from weft.text.trees import Tree, rebuild
from weft.text.word_structures import StructureLexicon, collapse

FOLDER = "chinese/word-structures"
TRAIN = f"{FOLDER}/train.ctb60.chars.zpar.gz"
DEV, TEST = f"{FOLDER}/dev.ctb60.chars.cs", f"{FOLDER}/test.ctb60.chars.cs"
LEXICON = f"{FOLDER}/word.inner.zpar.gz"
_HEADS = str.maketrans("xyz", "crl")


@dataclass
class Material:
    """Training, tuning and test sentences."""

    train: list[Sentence]
    dev: list[Sentence]
    test: list[Sentence]


def load(options: RecipeOptions) -> Material:
    """The three files."""
    train = [sentence_of(unbinarize(tree)) for tree in read_binary(options.find(TRAIN))]
    return Material(train, *(read_sentences(options.find(name)) for name in (DEV, TEST)))


def load_lexicon(options: RecipeOptions) -> StructureLexicon:
    """The structures of words with their tags."""
    trees = read_binary(options.find(LEXICON))
    return StructureLexicon.from_trees(Tree(f"{tree.label.rpartition('#')[0]}#t", (tree,)) for tree in trees)


def sentence_of(tree: Tree) -> Sentence:
    """Convert a tree over characters to one over words with their structures."""
    found, structures = collapse(tree)
    return Sentence(found, tuple(structures))


def read_sentences(path: Path) -> list[Sentence]:
    """The sentences in a bracketed file."""
    found = []
    for tree in parse_trees(str(path), Faults()):
        if isinstance(tree, Tree):
            found.append(sentence_of(_with_heads(tree.children[0] if tree.label == "ROOT" else tree)))
    return found


def _with_heads(tree: Tree) -> Tree:
    """Directions inside words, by the paper's letters."""

    def own(label: str) -> str:
        start, _, kind = label.rpartition("#")
        return f"{start}#{kind.translate(_HEADS)}" if start else label

    made = rebuild(
        tree, lambda leaf: leaf._replace(label=own(leaf.label)), lambda label, children: Tree(own(label), children)
    )
    assert made is not None
    return made


def read_binary(path: Path) -> list[Tree]:
    """The trees in a binarized file, with labels as `weft.text.binarize` writes them."""
    lines = read_text(str(path)).splitlines()
    return [_binary(line, str(path), number) for number, line in enumerate(lines, 1) if line.strip()]


def _binary(line: str, path: str, number: int) -> Tree:
    tokens = line.split()
    children: list[list[Tree]] = [[]]
    labels: list[str] = []
    words: list[str] = []
    at = 0
    try:
        while at < len(tokens):
            if tokens[at] == "(" and len(tokens) > at + 2 and tokens[at + 1] not in "()":
                labels.append(f"{tokens[at + 1]}#{tokens[at + 2].translate(_HEADS)}")
                children.append([])
                words.append("")
                at += 3
                if labels[-1][-2:] in ("#b", "#i"):
                    words[-1] = tokens[at]
                    at += 1
                continue
            if tokens[at] != ")":
                raise IndexError
            own, word = children.pop(), words.pop()
            children[-1].append(Tree(labels.pop(), tuple(own), word))
            at += 1
        ((tree,),) = children
    except (IndexError, ValueError):
        raise FormatError(path, number, "one binary tree in brackets", line[:40]) from None
    return tree
