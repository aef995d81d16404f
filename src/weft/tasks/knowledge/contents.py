"""What documents are about, as a graph beside a knowledge graph: for topics, and for people of one name.

    name -[mentioned in]-> document -[contains]-> term

Terms are the nouns of the text, or its longer words where nothing is tagged, that two documents have and not most. A
name that two of the three share says for the later one what it is: "ferry (term)".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from weft.graph.store import Builder, TypedGraph
from weft.tasks.knowledge.mentions import Mention
from weft.text.doc import Doc

MENTIONED, CONTAINS, DOCUMENT, TERM = "mentioned in", "contains", "document", "term"
#: The file of a graph's folder.
CONTENTS = "contents.weft"
#: A term stands in so many documents at least, and in this share of them at most.
LEAST, MOST = 2, 0.5
_SHORTEST = 5  # letters of a word that counts without tags


@dataclass
class Contents:
    """Collects documents with their mentions.

    >>> from weft.text.layers import SpanLayer
    >>> contents = Contents()
    >>> for number, word in enumerate(["ferry", "ferry", "moss", "oak", "snow"]):
    ...     doc = Doc.from_words([["Mara", "saw", word]], upos=[["PROPN", "VERB", "NOUN"]])
    ...     contents.add(doc, f"letter {number}", [Mention(0, 1, "Mara", "PER")])
    >>> contents.graph().relations, contents.graph().n_nodes
    (['contains', 'mentioned in'], 7)
    """

    _documents: list[tuple[str, list[Mention], frozenset[str]]] = field(default_factory=list)

    def add(self, doc: Doc, name: str, mentions: Iterable[Mention]) -> None:
        """Add a document with a name."""
        self._documents.append((name, list(mentions), frozenset(_terms(doc))))

    def graph(self) -> TypedGraph:
        """The graph of all documents."""
        builder = Builder()
        counts = Counter(term for _, _, terms in self._documents for term in terms)
        most = max(LEAST, MOST * len(self._documents))
        names = {each.name for _, mentions, _ in self._documents for each in mentions}
        documents: dict[str, str] = {}
        for name, _, _ in self._documents:
            documents[name] = f"{name} ({DOCUMENT})" if name in names else name
        taken = names | set(documents.values())
        for name, mentions, terms in self._documents:
            document = documents[name]
            builder.type(document, DOCUMENT)
            for each in mentions:
                builder.add(each.name, MENTIONED, document)
                if each.type:
                    builder.type(each.name, each.type)
            for term in sorted(terms):
                if LEAST <= counts[term] <= most:
                    shown = f"{term} ({TERM})" if term in taken else term
                    builder.add(document, CONTAINS, shown)
                    builder.type(shown, TERM)
        return builder.graph()


def _terms(doc: Doc) -> list[str]:
    forms = doc.column("form")
    if not doc.has("upos"):
        return [form.lower() for form in forms if len(form) >= _SHORTEST and form.isalpha() and form.islower()]
    lemmas = doc.column("lemma") if doc.has("lemma") else forms
    return [
        (lemma or form).lower() for form, lemma, upos in zip(forms, lemmas, doc.column("upos"), strict=True)
        if upos == "NOUN" and len(form) > 2 and form.isalpha()
    ]  # fmt: skip
