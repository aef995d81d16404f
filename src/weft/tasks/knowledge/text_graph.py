"""Parsed text as a graph beside a knowledge graph: mentions, dependencies, words, and paths between mentions.

    concept --mention--> token        the head word of what names the concept; steps along it do not count
    token --nsubj--> token            from a dependent to its head, labelled with the relation
    token --word--> word:form         content words
    concept --name word--> word:form  the words of a concept's names
    token --path--> token             between heads of mentions of one sentence, the earlier one first

A path is labelled with the dependency relations on both sides of the word where they meet, `nsubj|marry|obj`, with
that word and without it; labels that occur fewer than `least` times are left out. The plain relation `same sentence`
joins all mentions of a sentence. Names of tokens and words have a prefix that no concept begins with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from weft.errors import ConfigError
from weft.graph.store import Builder, TypedGraph
from weft.tasks.knowledge.mentions import Mention, mentions_of
from weft.text.doc import Doc

MENTION, WORD, NAME_WORD, SAME = "mention", "word", "name word", "same sentence"
#: Relations whose steps do not count towards the length of a path.
FREE = (MENTION,)
TOKEN, FORM = "\x02", "\x03"
CONTENT = frozenset({"NOUN", "VERB", "ADJ", "PROPN"})
KINDS = ("dependencies", "words", "paths")
#: Sentences with more mentions than this have no paths for those beyond.
MOST_MENTIONS = 40


@dataclass
class TextGraph:
    """Collects documents; `graph` gives their text as a graph.

    >>> from weft.text.layers import SpanLayer
    >>> doc = Doc.from_words([["Mara", "married", "Ole"]], deprel=[["nsubj", "root", "obj"]], head=[[2, 0, 2]])
    >>> doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "PER"), (2, 3, "PER")])
    >>> text = TextGraph(kinds=("paths",), least=1)
    >>> text.add(doc)
    >>> text.graph().relations
    ['mention', 'nsubj|married|obj', 'nsubj||obj', 'same sentence']
    """

    kinds: Sequence[str] = ("paths", "words")
    least: int = 3
    documents: int = 0
    _builder: Builder = field(default_factory=Builder)
    _paths: list[tuple[str, str, str]] = field(default_factory=list)
    _counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        unknown = sorted(set(self.kinds) - set(KINDS))
        if unknown or not self.kinds:
            raise ConfigError(f"a text graph is made of {', '.join(KINDS)}, not {', '.join(unknown) or 'nothing'}")

    def add(self, doc: Doc, mentions: Iterable[Mention] | None = None) -> None:
        """Add a document, with its mentions or those given; its trees are needed for dependencies and paths."""
        own = list(mentions_of(doc) if mentions is None else mentions)
        number, self.documents = self.documents, self.documents + 1
        if not doc.n_words:
            return
        tree = _Tree(doc)

        def token(word: int) -> str:
            return f"{TOKEN}{number}.{word}"

        heads: dict[int, list[int]] = {}
        for each in own:
            word = tree.top(each.start, each.end)
            self._builder.add(each.name, MENTION, token(word))
            heads.setdefault(tree.sentence[word], []).append(word)
            if "words" in self.kinds and each.named:
                for form in tree.forms[each.start : each.end]:
                    self._builder.add(each.name, NAME_WORD, FORM + form.lower())
        if "dependencies" in self.kinds and tree.parsed:
            for word in range(doc.n_words):
                if tree.head[word] >= 0 and tree.relation[word] != "punct":
                    self._builder.add(token(word), tree.relation[word], token(tree.head[word]))
        if "words" in self.kinds:
            for word in range(doc.n_words) if "dependencies" in self.kinds else _near(tree, heads):
                if tree.upos[word] in CONTENT:
                    self._builder.add(token(word), WORD, FORM + tree.forms[word].lower())
        if "paths" in self.kinds:
            for words in heads.values():
                places = sorted(set(words))[:MOST_MENTIONS]
                for k, first in enumerate(places):
                    for second in places[k + 1 :]:
                        for label in (*tree.labels(first, second), SAME):
                            self._paths.append((token(first), label, token(second)))
                            self._counts[label] += 1

    def graph(self) -> TypedGraph:
        """The graph of all documents."""
        for source, label, target in self._paths:
            if label == SAME or self._counts[label] >= self.least:
                self._builder.add(source, label, target)
        self._paths.clear()
        return self._builder.graph()


def is_text(name: str) -> bool:
    """Whether a node is a token or a word of a text graph rather than a concept.

    >>> is_text("Bergen"), is_text(TOKEN + "3.14")
    (False, True)
    """
    return name.startswith((TOKEN, FORM))


def token_place(name: str) -> tuple[int, int] | None:
    """The document and the word that a token stands for.

    >>> token_place(TOKEN + "3.14"), token_place("Bergen")
    ((3, 14), None)
    """
    if not name.startswith(TOKEN):
        return None
    document, _, word = name.removeprefix(TOKEN).partition(".")
    return int(document), int(word)


class _Tree:
    """The words, heads and relations of a document, heads counted within it."""

    def __init__(self, doc: Doc) -> None:
        n = doc.n_words
        self.forms = doc.column("form")
        self.upos = doc.column("upos") if doc.has("upos") else ["NOUN"] * n
        self.sentence, self.head = [0] * n, [-1] * n
        self.parsed = doc.head is not None and doc.has("deprel")
        self.relation = [name.split(":")[0] for name in doc.column("deprel")] if self.parsed else [""] * n
        given = doc.head.tolist() if doc.head is not None else [0] * n
        bounds = doc.sentence_offsets.tolist()
        for s, (low, high) in enumerate(pairwise(bounds)):
            for word in range(low, high):
                self.sentence[word] = s
                if given[word] > 0:
                    self.head[word] = low + given[word] - 1

    def top(self, start: int, end: int) -> int:
        """The word of a span that governs the others."""
        return next((word for word in range(start, end) if not start <= self.head[word] < end), start)

    def _up(self, word: int) -> list[int]:
        found = [word]
        while self.head[found[-1]] >= 0 and len(found) <= len(self.head):
            found.append(self.head[found[-1]])
        return found

    def labels(self, first: int, second: int) -> Iterator[str]:
        """The dependency path between two words, with the word where its sides meet and without it."""
        if not self.parsed:
            return
        one, other = self._up(first), self._up(second)
        common = set(other)
        top = next((word for word in one if word in common), None)
        if top is None:
            return
        left = "<".join(self.relation[word] for word in one[: one.index(top)])
        right = ">".join(self.relation[word] for word in reversed(other[: other.index(top)]))
        yield f"{left}||{right}"
        if top not in (first, second):
            yield f"{left}|{self.forms[top].lower()}|{right}"


def _near(tree: _Tree, heads: dict[int, list[int]]) -> Iterator[int]:
    """The words that paths without dependency edges can reach: heads of mentions and what they attach to."""
    words = {word for own in heads.values() for word in own}
    yield from sorted(words)
