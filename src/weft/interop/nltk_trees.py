"""NLTK trees: a sentence as a `DependencyGraph`, its phrases as a `Tree`, and back.

| Weft | DependencyGraph | Tree |
|---|---|---|
| form, lemma | `word`, `lemma` | leaves |
| upos, xpos, feats | `ctag`, `tag`, `feats` | the label above a leaf is xpos, or upos if there is none |
| head, deprel | `head`, `rel` | |
| phrases | | labels and children |

Not preserved: whitespace (words come back with one space between them), multiword tokens, spans and other layers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.errors import WeftError
from weft.packages import needed
from weft.text.constituents import doc_of_trees, tree_of
from weft.text.doc import Doc
from weft.text.trees import Tree
from weft.text.views import Sentence

_COLUMNS = {"lemma": "lemma", "upos": "ctag", "xpos": "tag", "feats": "feats", "deprel": "rel"}


def to_dependency_graph(sentence: Sentence) -> Any:
    """The dependency tree of a sentence as an NLTK graph.

    >>> doc = Doc.from_words([["Dogs", "bark"]], head=[[2, 0]], deprel=[["nsubj", "root"]])
    >>> print(to_dependency_graph(doc.sentences[0]).tree())
    (bark Dogs)
    """
    graph = needed("nltk.parse.dependencygraph", "to_dependency_graph").DependencyGraph(top_relation_label="root")
    heads = sentence.doc.head
    if heads is None:
        raise WeftError(f"{sentence!r} has no tree; parse it first")
    for word in sentence:
        values = {name: word.get(column) for column, name in _COLUMNS.items()}
        head = int(heads[word.index])
        graph.nodes[word.number].update(address=word.number, word=word.form, head=head if head >= 0 else None, **values)
    for word in sentence:
        head = int(heads[word.index])
        if head >= 0:
            graph.nodes[head]["deps"][word.deprel].append(word.number)
        if head == 0 and graph.root is None:
            graph.root = graph.nodes[word.number]
    return graph


def from_dependency_graphs(graphs: Sequence[Any]) -> Doc:
    """A document with one sentence per graph.

    >>> from weft.packages import needed
    >>> kind = needed("nltk.parse.dependencygraph", "the example").DependencyGraph
    >>> doc = from_dependency_graphs([kind("Dogs N 2 nsubj\\nbark V 0 ROOT")])
    >>> [(word.form, word.xpos, word.deprel) for word in doc], doc.head.tolist()
    ([('Dogs', 'N', 'nsubj'), ('bark', 'V', 'ROOT')], [2, 0])
    """
    sentences = [[graph.nodes[i] for i in range(1, len(graph.nodes))] for graph in graphs]
    missing = [node for nodes in sentences for node in nodes if node["word"] is None]
    if missing:
        raise WeftError("a graph has a node without a word, or its nodes are not numbered from 1")
    columns: dict[str, Any] = {
        column: [[str(node[name] or "") for node in nodes] for nodes in sentences] for column, name in _COLUMNS.items()
    }
    heads = [[-1 if node["head"] is None else int(node["head"]) for node in nodes] for nodes in sentences]
    forms = [[str(node["word"]) for node in nodes] for nodes in sentences]
    return Doc.from_words(forms, head=heads, **columns)


def to_tree(doc: Doc, sentence: int) -> Any:
    """The phrases of a sentence as an NLTK tree.

    >>> from weft.text.trees import parse_tree
    >>> print(to_tree(doc_of_trees([parse_tree("(S (NP (NNS Dogs)) (VP (VBP bark)))")]), 0))
    (S (NP (NNS Dogs)) (VP (VBP bark)))
    """
    kind = needed("nltk.tree", "to_tree").Tree

    def made(tree: Tree) -> Any:
        return kind(tree.label, [tree.word] if tree.is_leaf else [made(child) for child in tree.children])

    return made(tree_of(doc, sentence))


def from_trees(trees: Sequence[Any]) -> Doc:
    """A document with one sentence per tree; every word must be the only child of its tag.

    >>> from weft.packages import needed
    >>> tree = needed("nltk.tree", "the example").Tree.fromstring("(S (NP (NNS Dogs)) (VP (VBP bark)))")
    >>> doc = from_trees([tree])
    >>> doc.text, doc.column("xpos"), [phrase.label for phrase in doc.constituents]
    ('Dogs bark', ['NNS', 'VBP'], ['S', 'NP', 'VP'])
    """

    def made(tree: Any) -> Tree:
        if len(tree) == 1 and isinstance(tree[0], str):
            return Tree(str(tree.label()), (), tree[0])
        if any(isinstance(child, str) for child in tree) or not len(tree):
            raise WeftError(f"expected every word to be the only child of its tag, found {str(tree)[:80]!r}")
        return Tree(str(tree.label()), tuple(made(child) for child in tree))

    return doc_of_trees([made(tree) for tree in trees])
