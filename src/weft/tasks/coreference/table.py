"""Mentions of a document as arrays of numbers, from which the kernels compute the features of pairs.

Strings are numbers within the document where they are only compared, and 64-bit hashes where they become part of a
feature: the type of a mention, its article, the role of its head.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.arrays import Ints, Keys
from weft.hashing import hash_strings
from weft.tasks.coreference.mentions import PRONOUN, PROPER, Mention, Trees, kind_of, sentence_numbers
from weft.text.doc import Doc

#: Columns of numbers.
(
    KIND, START, END, HEAD, SENTENCE, HEAD_FORM, STRING, INITIALS, ACRONYM, ENTER, LEAVE, UP_ENTER, UP_LEAVE, GOVERNOR,
    APPOSED, PREDICATE, RELATIVE, SPEAKER, TALK, QUOTED, GENDER, NUMBER, ANIMACY, NAME,
) = range(24)  # fmt: skip
COLUMNS = 24
#: Columns of hashes.
TYPE, ARTICLE, ROLE = range(3)
_CONTENT = ("NOUN", "PROPN", "ADJ", "NUM", "VERB")
_SUBJECTS, _OBJECTS = ("nsubj", "csubj"), ("obj", "iobj")
_OPEN, _CLOSE, _BOTH = "“«„", "”»", '"'
#: A quotation that does not end within so many words is taken to have ended.
_LONGEST_QUOTE = 400


@dataclass(frozen=True)
class MentionTable:
    """`numbers` and `keys` have a row per mention; the words of mention i are `words[offsets[i]:offsets[i + 1]]`.

    `content` marks the words that carry meaning. `lexical` holds hashes of words in and around the mention.
    """

    mentions: list[Mention]
    numbers: Ints
    keys: Keys
    words: Ints
    content: Ints
    offsets: Ints
    lexical: Keys

    def __len__(self) -> int:
        return len(self.mentions)


def table_of(doc: Doc, mentions: Sequence[Mention], trees: Trees, values: Ints) -> MentionTable:
    """The table of a document's mentions; `values` are those of `weft.tasks.coreference.properties.values_of`."""
    tags, feats, forms = doc.column("upos"), doc.column("feats"), doc.column("form")
    lemmas, relations = doc.column("lemma"), doc.column("deprel")
    lower = [form.lower() for form in forms]
    sentences = sentence_numbers(doc)
    speakers, talk = _speakers(doc)
    quoted = _quotes(forms)
    ids: dict[str, int] = {}
    n = len(mentions)
    numbers = np.full((n, COLUMNS), -1, dtype=np.int64)
    names: list[tuple[str, str, str]] = []
    lexical: list[str] = []
    words: list[int] = []
    content: list[int] = []
    offsets = [0]
    for row, mention in enumerate(mentions):
        start, end, head = mention
        kind = kind_of(tags[head])
        own = [word for word in range(start, end) if tags[word] != "PUNCT"] or [head]
        bare = own[1:] if len(own) > 1 and tags[own[0]] in ("DET", "PRON") else own
        string = " ".join(lower[word] for word in bare)
        initials = "".join(forms[word][0] for word in own if forms[word][:1].isupper()).lower()
        above = int(trees.governor[head])
        up = above if above >= 0 else head
        numbers[row] = (
            kind, start, end, head, sentences[head], ids.setdefault(lower[head], len(ids)),
            ids.setdefault(string, len(ids)),
            ids.setdefault("I " + initials, len(ids)) if len(initials) > 1 and len(own) > 1 else -1,
            ids.setdefault("I " + lower[head].replace(".", ""), len(ids)) if len(own) == 1 and kind == PROPER else -1,
            trees.enter[head], trees.leave[head], trees.enter[up], trees.leave[up], above,
            int(relations[head].startswith(("appos", "nmod:desc"))), _predicate_subject(head, trees, relations),
            _relative_head(head, trees, relations, feats), speakers[sentences[head]], talk, quoted[head], *values[row],
        )  # fmt: skip
        names.append((
            type_name(kind, lower[head], lemmas[head], feats[head]), _article(own[0], head, tags, feats, lower),
            _role(relations[head]),
        ))  # fmt: skip
        first, last = int(doc.sentence_offsets[sentences[head]]), int(doc.sentence_offsets[sentences[head] + 1])
        lexical += [
            f"head {lower[head] if kind != PRONOUN else ''}", f"first {lower[own[0]]}", f"last {lower[own[-1]]}",
            f"before {lower[start - 1] if start > first else ''}", f"after {lower[end] if end < last else ''}",
            f"length {min(len(own), 8)}",
            f"role {relations[head]} {lemmas[above] if above >= 0 else ''}",
        ]  # fmt: skip
        words += [ids.setdefault(lower[word], len(ids)) for word in bare[:40]]
        content += [int(tags[word] in _CONTENT) for word in bare[:40]]
        offsets.append(len(words))
    flat = [name for row in names for name in row]
    return MentionTable(
        list(mentions), numbers, hash_strings(flat).reshape(n, 3), np.array(words, dtype=np.int64),
        np.array(content, dtype=np.int64), np.array(offsets, dtype=np.int64), hash_strings(lexical).reshape(n, 7),
    )  # fmt: skip


def type_name(kind: int, form: str, lemma: str, feats: str) -> str:
    """NOMINAL, PROPER, or which pronoun it is, regardless of case: person, number, gender, or else its lemma.

    >>> type_name(2, "him", "he", "Case=Acc|Gender=Masc|Number=Sing|Person=3|PronType=Prs")
    'pronoun Masc Sing 3'
    """
    if kind != PRONOUN:
        return "PROPER" if kind == PROPER else "NOMINAL"
    items = dict(item.partition("=")[::2] for item in feats.split("|") if item)
    if "Person" in items:
        reflexive = " self" if items.get("Reflex") == "Yes" else ""
        told = [items[key] for key in ("Gender", "Number", "Person") if key in items]
        return f"pronoun {' '.join(told)}{reflexive}"
    return f"pronoun {lemma.lower() or form}"


def _article(first: int, head: int, tags: list[str], feats: list[str], lower: list[str]) -> str:
    """How a noun phrase begins: a definite or indefinite article, a demonstrative, a possessive, or nothing."""
    if first == head:
        return "bare"
    if "Definite=" in feats[first]:
        return "definite" if "Definite=Def" in feats[first] else "indefinite"
    if "PronType=Dem" in feats[first]:
        return "demonstrative"
    if "Poss=Yes" in feats[first]:
        return "possessive"
    return f"determiner {lower[first]}" if tags[first] == "DET" else "bare"


def _role(relation: str) -> str:
    plain = relation.partition(":")[0]
    return "subject" if plain in _SUBJECTS else "object" if plain in _OBJECTS else "possessor" if (
        relation == "nmod:poss") else "other"  # fmt: skip


def _predicate_subject(head: int, trees: Trees, relations: list[str]) -> int:
    """The head of the subject of a nominal predicate with a copula, -1 if the word is none."""
    children = trees.children[head]
    if not any(relations[child] == "cop" for child in children):
        return -1
    return next((child for child in children if relations[child].startswith("nsubj")), -1)


def _relative_head(head: int, trees: Trees, relations: list[str], feats: list[str]) -> int:
    """The noun that a relative pronoun stands for, -1 if the word is none."""
    if "PronType=Rel" not in feats[head]:
        return -1
    word = head
    for _ in range(4):
        above = int(trees.governor[word])
        if above < 0:
            return -1
        if relations[word].startswith("acl"):
            return above
        word = above
    return -1


def _speakers(doc: Doc) -> tuple[Ints, int]:
    """A number for the speaker of every sentence, -1 if there is none; and whether several people talk."""
    numbers = np.full(max(doc.n_sentences, 1), -1, dtype=np.int64)
    names: dict[str, int] = {}
    for number, lines in enumerate(doc.comments):
        for line in lines:
            key, _, value = line.partition("=")
            if key.strip("# ") == "speaker" and value.strip():
                numbers[number] = names.setdefault(value.strip(), len(names))
    return numbers, int(len(names) > 1)


def _quotes(forms: Sequence[str]) -> Ints:
    """Whether every word stands in a quotation: 1 if it does."""
    inside, since = False, 0
    marks = np.zeros(len(forms), dtype=np.int64)
    for place, form in enumerate(forms):
        if form in _OPEN or form == "``":
            inside, since = True, place
        elif form in _CLOSE or form == "''":
            inside = False
        elif form == _BOTH:
            inside, since = not inside, place
        if inside and place - since > _LONGEST_QUOTE:
            inside = False
        marks[place] = inside
    return marks
