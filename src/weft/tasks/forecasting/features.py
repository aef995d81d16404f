"""What a day's news is represented by: words, words beside an entity, or dependency paths around an entity.

| kind | a feature is | from |
|---|---|---|
| mentions | an entity | every mention |
| words | a word that is no stop word | every sentence |
| entity | entity-word | sentences that mention exactly one entity |
| dependency | entity, its label, a relation, the nodes of that relation | every mention in a parsed sentence |

A dependency feature is written `kerry/nsubj parent defeated/VERB/root`. With h the head of the entity, g the head of h:

    parent h          child c            sibling h s (a child of h)
    grandparent h g   aunt g a (of g)    niece h n (a child of a sibling)

Nodes are word, tag and label; back-offs leave out the label, the tag or the word of all nodes but the entity.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from weft.errors import WeftError
from weft.tasks.forecasting.entities import Entities, Mention
from weft.text.doc import Doc

KINDS = ("mentions", "words", "entity", "dependency")
_FUNCTION_WORDS = (
    "a about above after again against all am an and any are as at be because been before being below between both "
    "but by can cannot ca could did do does doing down during each few for from further had has have having he her "
    "here hers herself him himself his how i if in into is it its itself just me more most must my myself no nor "
    "not n't now of off on once only or other our ours ourselves out over own rt same she should so some such than "
    "that the their theirs them themselves then there these they this those through to too under until up very "
    "was we were what when where which while who whom why will with would you your yours yourself yourselves 's "
    "'re 've 'll 'd 'm s t"
)
#: Function words of English, as tokens have them.
STOP_WORDS = frozenset(_FUNCTION_WORDS.split())
#: Which of word, tag and label every node keeps.
_BACK_OFFS = ((True, True, True), (True, True, False), (True, False, True), (False, True, True))


class Sentence(NamedTuple):
    """Words with tags, heads (0 is the root, words count from 1) and labels; the last three are empty if not parsed."""

    words: Sequence[str]
    tags: Sequence[str] = ()
    heads: Sequence[int] = ()
    labels: Sequence[str] = ()


def sentences_of(doc: Doc) -> Iterator[Sentence]:
    """The sentences of a document with words.

    >>> doc = Doc.from_words([["Bush", "won"]], upos=[["PROPN", "VERB"]], head=[[2, 0]], deprel=[["nsubj", "root"]])
    >>> list(sentences_of(doc))
    [Sentence(words=['Bush', 'won'], tags=['PROPN', 'VERB'], heads=[2, 0], labels=['nsubj', 'root'])]
    """
    words, parsed = doc.column("form"), doc.head is not None and doc.has("deprel")
    tagged = next((name for name in ("upos", "xpos") if doc.has(name)), "")
    tags = doc.column(tagged) if tagged else [""] * len(words)
    heads, labels = (doc.head.tolist(), doc.column("deprel")) if doc.head is not None and parsed else ([], [])
    bounds = doc.sentence_offsets.tolist()
    for start, end in pairwise(bounds):
        if parsed:
            yield Sentence(words[start:end], tags[start:end], heads[start:end], labels[start:end])
        else:
            yield Sentence(words[start:end])


def features_of(sentence: Sentence, kind: str, entities: Entities) -> list[str]:
    """The features of a sentence.

    >>> bush = Entities.parse("bush, kerry")
    >>> features_of(Sentence("Bush is facing another scandal".split()), "entity", bush)
    ['bush-facing', 'bush-another', 'bush-scandal']
    >>> tree = Sentence("Bush won".split(), ["PROPN", "VERB"], [2, 0], ["nsubj", "root"])
    >>> features_of(tree, "dependency", bush)[:2]
    ['bush/nsubj parent won/VERB/root', 'bush/nsubj parent won/VERB/_']
    """
    if kind == "words":
        return _content(sentence.words)
    found = entities.find(sentence.words)
    if kind == "mentions":
        return [each.entity for each in found]
    if kind == "entity":
        if len({each.entity for each in found}) != 1:
            return []
        named = {place for each in found for place in range(each.start, each.end)}
        rest = [word for place, word in enumerate(sentence.words) if place not in named]
        return [f"{found[0].entity}-{word}" for word in _content(rest)]
    if kind == "dependency":
        return _around(sentence, found) if found else []
    raise WeftError(f"unknown features {kind!r}; choose from {', '.join(KINDS)}")


def count_features(sentences: Iterable[Sentence], kind: str, entities: Entities) -> Counter[str]:
    """How often every feature occurs.

    >>> count_features([Sentence(["Oil", "is", "oil"])], "words", Entities.parse("bush"))
    Counter({'oil': 2})
    """
    counts: Counter[str] = Counter()
    for sentence in sentences:
        counts.update(features_of(sentence, kind, entities))
    return counts


def _content(words: Iterable[str]) -> list[str]:
    """The words that are no stop words and have a letter, in lower case."""
    lower = (word.lower() for word in words)
    return [word for word in lower if word not in STOP_WORDS and any(map(str.isalpha, word))]


def _around(sentence: Sentence, mentions: Sequence[Mention]) -> list[str]:
    if not sentence.heads:
        raise WeftError("dependency features need parsed sentences; annotate the text with a parser first")
    children: list[list[int]] = [[] for _ in range(len(sentence.words) + 1)]
    for word, head in enumerate(sentence.heads, start=1):
        children[max(head, 0)].append(word)
    nodes = [_backed_off(sentence, word) for word in range(len(sentence.words))]
    found: list[str] = []
    for mention in mentions:
        inside = range(mention.start + 1, mention.end + 1)
        top = next((word for word in inside if sentence.heads[word - 1] not in inside), inside[0])
        begin = f"{mention.entity}/{sentence.labels[top - 1]}"
        for relation, *path in _relations(sentence.heads, children, top, set(inside)):
            of_path = [nodes[word - 1] for word in path]
            found += [f"{begin} {relation} " + " ".join(level) for level in zip(*of_path, strict=True)]
    return found


def _relations(
    heads: Sequence[int], children: Sequence[Sequence[int]], top: int, inside: set[int]
) -> Iterator[tuple[str, *tuple[int, ...]]]:
    """Relations of the entity whose head is `top`, each with its nodes."""
    for child in children[top]:
        if child not in inside:
            yield "child", child
    parent = max(heads[top - 1], 0)
    if not parent:
        return
    yield "parent", parent
    for sibling in children[parent]:
        if sibling != top:
            yield "sibling", parent, sibling
            for niece in children[sibling]:
                yield "niece", parent, niece
    grandparent = max(heads[parent - 1], 0)
    if not grandparent:
        return
    yield "grandparent", parent, grandparent
    for aunt in children[grandparent]:
        if aunt != parent:
            yield "aunt", grandparent, aunt


def _backed_off(sentence: Sentence, word: int) -> list[str]:
    """A node at every level of back-off."""
    parts = sentence.words[word].lower(), sentence.tags[word], sentence.labels[word]
    return ["/".join(part if keep else "_" for part, keep in zip(parts, kept, strict=True)) for kept in _BACK_OFFS]
