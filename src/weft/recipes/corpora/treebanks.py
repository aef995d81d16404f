"""Treebanks of nine languages as sources and targets of transfer, and round trips of converted trees.

sources   treebanks of Universal Dependencies (training files, or development files if there are none)
targets   the thousand sentences of PUD; for Korean and Turkish the test file of the source treebank
Cast3LB   the Spanish treebank of CoNLL 2007 with its own heads, and tags and relations by table
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from weft.formats import read
from weft.infer.trees.projectivity import is_projective
from weft.lexical.universal_tags import read_map
from weft.recipes.framework import RecipeOptions
from weft.text.doc import Doc
from weft.treebanks import convert_docs
from weft.treebanks.rewriting import Log

#: More sentences than any file has.
ALL = 10**6
UD, PUD = "treebanks/ud", "treebanks/pud"
#: Sources and targets by language; most targets are the same thousand sentences, translated (PUD).
SOURCES: dict[str, tuple[str, ...]] = {
    "de": (f"{UD}/German-GSD/dev",),
    "en": (f"{UD}/English-EWT/train",),
    "sv": (f"{UD}/Swedish-LinES/dev", f"{UD}/Swedish-Talbanken/dev"),
    "es": (f"{UD}/Spanish-GSD/dev",),
    "fr": (f"{UD}/French-Sequoia/train",),
    "it": (f"{UD}/Italian-ParTUT/train",),
    "pt": (f"{UD}/Portuguese-Bosque/train",),
    "ko": (f"{UD}/Korean-GSD/train",),
    "tr": (f"{UD}/Turkish-IMST/train",),
}
NAMES = {"de": "German", "en": "English", "sv": "Swedish", "es": "Spanish", "fr": "French", "it": "Italian",
         "pt": "Portuguese"}  # fmt: skip
#: Korean-PUD is annotated differently from Korean-GSD (names and compounds are headed on the other side).
TARGETS = {
    **{code: f"{PUD}/{name}-PUD/test" for code, name in NAMES.items()},
    "ko": f"{UD}/Korean-GSD/test",
    "tr": f"{UD}/Turkish-IMST/test",
    "ko-PUD": f"{PUD}/Korean-PUD/test",
}
CAST3LB = "treebanks/other/conll2007-es/train.conll.gz"
CAST3LB_FIELDS = "id form lemma upos xpos feats head deprel _ _"
CAST3LB_TAGS = "lexicons/universal_tagset/es-cast3lb.map"


def source_docs(options: RecipeOptions, language: str, limit: int = ALL) -> list[Doc]:
    """Training documents of a language; sentences in its test file are removed."""
    docs = [
        doc
        for path in SOURCES[language]
        for doc in read(options.find(f"{path}.conllu.gz"), skip_bad=True).take_sentences(limit)
    ]
    return without_repeated(docs, target_docs(options, language)) if language == "ko" else docs


def target_docs(options: RecipeOptions, target: str, limit: int = ALL) -> list[Doc]:
    """The first sentences of a target."""
    return list(read(options.find(f"{TARGETS[target]}.conllu.gz"), skip_bad=True).take_sentences(limit))


def without_repeated(docs: Sequence[Doc], others: Sequence[Doc], least: int = 6) -> list[Doc]:
    """Documents without the sentences of at least `least` words that also occur in others.

    >>> doc, other = Doc.from_words([["a", "b"], ["c", "d"]]), Doc.from_words([["c", "d"]])
    >>> [each.text for each in without_repeated([doc], [other], 2)]
    ['a b']
    """
    known = {tuple(words) for doc in others for words in _sentences(doc) if len(words) >= least}
    kept = [(doc, [s for s, words in enumerate(_sentences(doc)) if tuple(words) not in known]) for doc in docs]
    return [doc.subset(numbers) for doc, numbers in kept if numbers]


def _sentences(doc: Doc) -> list[list[str]]:
    forms = doc.column("form")
    return [forms[first:end] for first, end in pairwise(doc.sentence_offsets.tolist())]


def cast3lb(options: RecipeOptions) -> list[Doc]:
    """The Spanish treebank of CoNLL 2007 with universal tags and relations by table; heads are unchanged."""
    docs = list(read(options.find(CAST3LB), format="columns", fields=CAST3LB_FIELDS))
    tags = read_map(options.find(CAST3LB_TAGS))
    # The fine tags of single letters (dates, numbers, interjections) are not all in the map.
    tags = {"w": "NOUN", "z": "NUM", "i": "X", "sn": "ADP", **tags}
    return list(convert_docs(docs, "cast3lb", "universal", tags=tags))


@dataclass
class RoundTrip:
    """The result of converting trees and back."""

    log: Log
    words: int
    heads: int  # restored
    relations: int  # up to the colon
    projective_lost: int  # trees that lose projectivity in the universal scheme


def round_trip(docs: Sequence[Doc]) -> RoundTrip:
    """Convert UD trees to the universal scheme and back.

    >>> doc = Doc.from_words([["in", "spring"]], upos=[["ADP", "NOUN"]], head=[[2, 0]], deprel=[["case", "root"]])
    >>> (found := round_trip([doc])).heads, found.relations, found.words
    (2, 2, 2)
    """
    found = RoundTrip(Log(), 0, 0, 0, 0)
    for doc in docs:
        (new,) = convert_docs([doc], log=found.log)
        (back,) = convert_docs([new], "universal", "ud")
        assert doc.head is not None
        assert new.head is not None
        assert back.head is not None
        found.words += doc.n_words
        found.heads += int((doc.head == back.head).sum())
        pairs = zip(doc.column("deprel"), back.column("deprel"), strict=True)
        found.relations += sum(one.partition(":")[0] == two.partition(":")[0] for one, two in pairs)
        for first, end in pairwise(doc.sentence_offsets.tolist()):
            lost = is_projective(doc.head[first:end]) and not is_projective(new.head[first:end])
            found.projective_lost += lost
    return found
