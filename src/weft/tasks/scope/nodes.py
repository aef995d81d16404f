"""Find the scope-bearing nodes of a sentence: noun phrases, the implicit universals of plurals, negations.

Noun phrases are the flat chunks `NP` of the layer `chunks` if a document has it, else base chunks of the dependency
tree. Pronouns that refer (`it`, `which`) bear no scope and are left out; those that quantify (`everything`, `nobody`)
stay. A chunk is plural if its head is, by its tag or its features. Negations are `not`, `n't` and `never`; a determiner
such as `no` is part of its noun phrase.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from weft.tasks.scope.phrases import Dependencies
from weft.tasks.scope.syntax import Syntax
from weft.text.conventions.scope import COLLECTION, DISTRIBUTIVE, NEGATION, NP, Node
from weft.text.doc import Doc
from weft.treebanks.base_chunks import Tree, base_chunks

NEGATIONS = frozenset(("not", "n't", "n’t", "never"))
#: Pronouns that quantify.
QUANTIFIED = frozenset(
    f"{kind}{what}" for kind in ("every", "some", "any", "no") for what in ("one", "body", "thing")
) | frozenset(
    ("each", "all", "both", "none", "many", "few", "several", "most", "one", "some", "any", "either", "neither")
)
_PLURAL_TAGS = ("NNS", "NNPS")


def detect(doc: Doc, syntaxes: Sequence[Syntax], chunks: str = "chunks") -> list[list[Node]]:
    """The nodes of every sentence of a document.

    >>> doc = Doc.from_words([["Do", "not", "mark", "the", "lines", "with", "it"]], head=[[3, 3, 0, 5, 3, 7, 3]],
    ...     upos=[["AUX", "PART", "VERB", "DET", "NOUN", "ADP", "PRON"]],
    ...     xpos=[["VB", "RB", "VB", "DT", "NNS", "IN", "PRP"]],
    ...     deprel=[["aux", "advmod", "root", "det", "obj", "case", "obl"]])
    >>> from weft.tasks.scope.syntax import syntaxes
    >>> [(node.start, node.end, node.kind) for node in detect(doc, syntaxes(doc))[0]]
    [(1, 2, 'negation'), (3, 5, 'collection'), (3, 5, 'distributive')]
    """
    number = [_is_plural(tag, feats) for tag, feats in zip(doc.column("xpos"), doc.column("feats"), strict=True)]
    found = []
    for first, syntax, spans in zip(
        doc.sentence_offsets.tolist(), syntaxes, _noun_phrases(doc, syntaxes, chunks), strict=False
    ):
        nodes = [Node(word, word + 1, NEGATION) for word in negations(syntax.tree)]
        taken = {node.start for node in nodes}
        for start, end in spans:
            start = next((word for word in range(start, end) if word not in taken), end)
            if start < end and _bears_scope(syntax, start, end):
                plural = number[first + syntax.noun(start, end)]
                nodes += [Node(start, end, kind) for kind in ((COLLECTION, DISTRIBUTIVE) if plural else (NP,))]
        found.append(sorted(set(nodes)))
    return found


def negations(tree: Dependencies) -> list[int]:
    """The words of a sentence that negate.

    >>> negations(Dependencies(["Never", "say", "never"], [], ["ADV", "VERB", "ADV"], [], [], []))
    [0, 2]
    """
    return [word for word, form in enumerate(tree.forms) if form.lower() in NEGATIONS]


def is_plural(doc: Doc, word: int) -> bool:
    """Whether a word of a document is plural, by its tag or its features."""
    return _is_plural(doc[word].xpos, doc[word].get("feats"))


def _is_plural(tag: str, feats: str) -> bool:
    return tag in _PLURAL_TAGS or ("Number=Plur" in feats and not tag.startswith(("V", "PRP", "WP")))


def _bears_scope(syntax: Syntax, start: int, end: int) -> bool:
    """Whether a noun phrase is more than a pronoun that refers."""
    head = syntax.noun(start, end)
    return syntax.tree.upos[head] != "PRON" or syntax.tree.forms[head].lower() in QUANTIFIED


def _noun_phrases(doc: Doc, syntaxes: Sequence[Syntax], chunks: str) -> Iterator[list[tuple[int, int]]]:
    """The flat noun phrases of every sentence."""
    if chunks not in doc.spans or doc.spans[chunks].unit != "words":
        for syntax in syntaxes:
            tree = syntax.tree
            spans = base_chunks(Tree(tree.forms, tree.upos, tree.heads, tree.relations))
            yield [(start, end) for start, end, kind in spans if kind == "NP"]
        return
    bounds = doc.sentence_offsets.tolist()
    found: list[list[tuple[int, int]]] = [[] for _ in bounds[1:]]
    for pieces, label in doc.spans[chunks]:
        start, end = pieces[0][0], pieces[-1][1]
        sentence = bisect_right(bounds, start) - 1
        if label == "NP" and end <= bounds[sentence + 1]:
            found[sentence].append((start - bounds[sentence], end - bounds[sentence]))
    yield from found
