"""Short sentences from twelve treebanks as tags without punctuation, with trees in two head conventions.

    own       the heads of the treebank; in Universal Dependencies content words head function words
    function  adpositions head their nouns and copulas their predicates, as in older treebanks

Tags are the treebank's own if the tag set has a suitable size (en, es, wsj, tr, ko, pl, cs, bg), else those of
Universal Dependencies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from weft.formats import read
from weft.infer.trees.projectivity import is_tree
from weft.recipes.corpora.parsing import PUNCTUATION, WSJ, WSJ_FIELDS, unpunctuated
from weft.recipes.framework import RecipeOptions
from weft.text.corpus import Corpus
from weft.text.doc import Doc
from weft.treebanks.convert import convert_docs

OWN, FUNCTION = "own", "function"
CONLLX_FIELDS = "id form lemma upos xpos feats head deprel _ _"
#: Steps from Universal Dependencies to function-word heads.
FLIPS = ("copula", "adposition")


@dataclass(frozen=True)
class Language:
    """Training and test files (none: the same, since training uses no trees), and their tags."""

    train: str
    test: str
    column: str = "upos"
    tag: Callable[[str], str] = str
    least: int = 2  # words of a sentence


LANGUAGES = {
    "en": Language("treebanks/ud/English-EWT/train", "treebanks/ud/English-EWT/test", "xpos", least=3),
    "es": Language("treebanks/other/conll2007-es/train", "", "xpos"),
    "wsj": Language(WSJ, "", "xpos"),
    "tr": Language("treebanks/ud/Turkish-IMST/train", "treebanks/ud/Turkish-IMST/test", "xpos"),
    "nl": Language("treebanks/ud/Dutch-LassySmall/train", "treebanks/ud/Dutch-LassySmall/dev"),
    "eu": Language("treebanks/ud/Basque-BDT/train", "treebanks/ud/Basque-BDT/test"),
    "ko": Language(
        "treebanks/ud/Korean-GSD/train", "treebanks/ud/Korean-GSD/test", "xpos", lambda tag: tag.split("+")[0]
    ),
    "pt": Language("treebanks/ud/Portuguese-Bosque/train", "treebanks/ud/Portuguese-Bosque/test"),
    "ru": Language("treebanks/ud/Russian-Taiga/train", "treebanks/ud/Russian-Taiga/test"),
    "pl": Language(
        "treebanks/ud/Polish-LFG/dev", "treebanks/ud/Polish-LFG/test", "xpos", lambda tag: tag.split(":")[0]
    ),
    "cs": Language("treebanks/ud/Czech-FicTree/dev", "treebanks/ud/Czech-FicTree/test", "xpos", lambda tag: tag[:2]),
    "bg": Language("treebanks/ud/Bulgarian-BTB/dev", "treebanks/ud/Bulgarian-BTB/test", "xpos", lambda tag: tag[:2]),
}


@dataclass
class Sentences:
    """Tags of sentences, and their heads in both conventions; only in the treebank's own if it is older."""

    tags: list[list[str]]
    heads: dict[str, list[NDArray[np.int32]]]

    def __len__(self) -> int:
        return len(self.tags)

    def take(self, n: int, seed: int = 0) -> Sentences:
        """At most n random sentences, in order."""
        if n >= len(self):
            return self
        chosen = sorted(np.random.default_rng(seed).permutation(len(self))[:n].tolist())
        return Sentences(
            [self.tags[i] for i in chosen], {name: [own[i] for i in chosen] for name, own in self.heads.items()}
        )


def file_of(path: str) -> str:
    """The name of a treebank's file.

    >>> file_of("treebanks/ud/English-EWT/train")
    'treebanks/ud/English-EWT/train.conllu.gz'
    """
    return path if path.endswith(".gz") else f"{path}.conll.gz" if "conll2007" in path else f"{path}.conllu.gz"


def sentences(options: RecipeOptions, code: str, part: str = "train", longest: int = 10) -> Sentences:
    """The sentences of a language with at most the given number of words without punctuation."""
    language = LANGUAGES[code]
    path = language.train if part == "train" or not language.test else language.test
    docs = list(_corpus(options, file_of(path)))
    older = code in ("es", "wsj")
    for doc in docs if older else ():
        _mark_punctuation(doc, code)
    docs = [short for doc in docs if (short := _short(doc, longest)).n_words]
    versions = {OWN: docs} if older else {OWN: docs, FUNCTION: list(convert_docs(docs, steps=FLIPS))}
    plain = {name: [unpunctuated(doc) for doc in own] for name, own in versions.items()}
    found = Sentences([], {name: [] for name in plain})
    for number, doc in enumerate(plain[OWN]):
        tags = [language.tag(tag) for tag in doc.column(language.column)]
        others = {name: own[number].head for name, own in plain.items()}
        for first, end in pairwise(doc.sentence_offsets.tolist()):
            trees = {
                name: np.ascontiguousarray(heads[first:end], dtype=np.int32)
                for name, heads in others.items()
                if heads is not None
            }
            if language.least <= end - first <= longest and all(map(is_tree, trees.values())):
                found.tags.append(tags[first:end])
                for name, heads in trees.items():
                    found.heads[name].append(heads)
    return found


def _corpus(options: RecipeOptions, path: str) -> Corpus:
    if path == WSJ:
        return read(options.find(path), format="columns", fields=WSJ_FIELDS)
    if "conll2007" in path:
        return read(options.find(path), format="columns", fields=CONLLX_FIELDS)
    return read(options.find(path), skip_bad=True)


def _short(doc: Doc, longest: int) -> Doc:
    """The sentences of at most the given number of words without punctuation: only these need conversion."""
    words = np.array([tag != "PUNCT" for tag in doc.column("upos")], dtype=np.int64)
    sums = np.concatenate([[0], np.cumsum(words)])
    lengths = np.diff(sums[doc.sentence_offsets])
    return doc.subset(np.flatnonzero(lengths <= longest).tolist())


def _mark_punctuation(doc: Doc, code: str) -> None:
    """Give punctuation in treebanks with their own tags the UD tag for it."""
    others = {*PUNCTUATION, "-LRB-", "-RRB-", "$", "#"}
    tags = doc.column("xpos")
    marks = [tag[:1] in ("F", "f") if code == "es" else tag in others for tag in tags]
    doc.set_column("upos", ["PUNCT" if mark else "X" for mark in marks])
