"""Texts and bitexts for word clusters: English novels and news, and eight languages with the available bitexts.

    de, fr          New Testament and image captions (Multi30k)
    bg, et, uk      New Testament
    it              ParTUT, sentences with the same number
    sv              LinES, dev file, line by line
    es, pt          PUD

All words are in lower case. Contractions that treebanks split (im, du, della) are also split in raw text, using the
multiword ranges in a treebank's training file.
"""

from __future__ import annotations

import gzip
import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice, pairwise
from pathlib import Path

import numpy as np

from weft.formats import read
from weft.lexical.clusters.cross_lingual import Bitext, cross_clusters
from weft.recipes.framework import RecipeOptions
from weft.tasks.bitext.align import APART, align
from weft.text.bitext import Links
from weft.text.doc import Doc
from weft.text.split import split_by_rule
from weft.text.words import word_spans

Sentences = list[list[str]]
NOVELS = "raw/litbank-novels.txt.tar.gz"
EWT = "treebanks/ud/English-EWT/train.conllu.gz"
TESTAMENT = "parallel/new-testament/{}.tsv.gz"
CAPTIONS = "parallel/multi30k/task1/train.{}.gz"
CONLL03 = "ner/conll2003-en/train.txt.gz"


@dataclass(frozen=True)
class Language:
    """A target language: its test treebank, text files, the file whose ranges define contractions, its bitext."""

    test: str
    texts: tuple[str, ...]
    contractions: str = ""
    bitext: str = "testament"


LANGUAGES = {
    "de": Language("treebanks/pud/German-PUD/test.conllu.gz", ("ner/wikiann-de/train.txt.gz",
                   "ner/germeval2014-de/dev.tsv.gz"), "treebanks/ud/German-GSD/dev.conllu.gz", "testament, captions"),
    "fr": Language("treebanks/pud/French-PUD/test.conllu.gz", ("ner/wikiann-fr/train.txt.gz",
                   "treebanks/ud/French-Sequoia/train.conllu.gz"), "treebanks/ud/French-Sequoia/train.conllu.gz",
                   "testament, captions"),
    "it": Language("treebanks/pud/Italian-PUD/test.conllu.gz", ("treebanks/ud/Italian-ParTUT/train.conllu.gz",),
                   bitext="ParTUT"),
    "sv": Language("treebanks/pud/Swedish-PUD/test.conllu.gz", ("ner/uner-Swedish-Talbanken/train.iob2.gz",
                   "treebanks/ud/Swedish-LinES/dev.conllu.gz"), bitext="LinES"),
    "es": Language("treebanks/ud/Spanish-GSD/test.conllu.gz", ("ner/conll2002-es/train.txt.gz",),
                   "treebanks/pud/Spanish-PUD/test.conllu.gz", "PUD"),
    "pt": Language("treebanks/ud/Portuguese-Bosque/test.conllu.gz",
                   ("treebanks/ud/Portuguese-Bosque/train.conllu.gz",), bitext="PUD"),
    "bg": Language("treebanks/ud/Bulgarian-BTB/test.conllu.gz", ("treebanks/ud/Bulgarian-BTB/dev.conllu.gz",)),
    "et": Language("treebanks/ud/Estonian-EWT/test.conllu.gz", ("treebanks/ud/Estonian-EWT/train.conllu.gz",)),
    "uk": Language("treebanks/ud/Ukrainian-IU/test.conllu.gz", ("treebanks/ud/Ukrainian-IU/dev.conllu.gz",)),
}  # fmt: skip
NAMES = {"es": "Spanish", "pt": "Portuguese"}


def novels(options: RecipeOptions, n_words: int) -> Iterator[list[str]]:
    """Sentences from the novels, about `n_words` words; words are split by rule."""
    total = 0
    with tarfile.open(options.find(NOVELS)) as folder:
        for member in folder:
            file = folder.extractfile(member)
            if file is None:
                continue
            doc = Doc(file.read().decode("utf-8", "replace"))
            split_by_rule(doc)
            forms = doc.column("form")
            for first, end in pairwise(doc.sentence_offsets.tolist()):
                total += end - first
                if total > n_words:
                    return
                yield lowered(forms[first:end])


def lowered(words: list[str]) -> list[str]:
    return [word.lower() for word in words]


def words_of(options: RecipeOptions, path: str) -> Sentences:
    """The words of a corpus in any format: CoNLL-U, or columns with numbers or language codes before words."""
    found = options.find(path)
    if ".conllu" in path:
        return [lowered(words) for doc in read(found) for words in _sentences(doc)]
    sentences: Sentences = [[]]
    column = 1 if path.endswith((".tsv.gz", ".iob2.gz")) else 0
    with gzip.open(found, "rt", encoding="utf-8") as file:
        for line in file:
            fields = line.split()
            if not fields:
                sentences.append([])
            elif not line.startswith(("#", "-DOCSTART-")) and len(fields) > column:
                word = fields[column]
                sentences[-1].append(re.sub(r"^(de|fr|en):", "", word).lower() if "wikiann" in path else word.lower())
    return [sentence for sentence in sentences if sentence]


def _sentences(doc: Doc) -> Iterator[list[str]]:
    forms = doc.column("form")
    yield from (forms[first:end] for first, end in pairwise(doc.sentence_offsets.tolist()))


@cache
def contractions(path: Path) -> dict[str, list[str]]:
    """The words that a treebank splits into several syntactic words: `im` into `in dem`."""
    found: dict[str, list[str]] = {}
    waiting, last = "", 0
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            number, _, rest = line.partition("\t")
            form = rest.partition("\t")[0].lower()
            if "-" in number and number.replace("-", "").isdigit():
                waiting, last = form, int(number.split("-")[1])
                if waiting in found:
                    waiting = ""
            elif waiting and number.isdigit():
                found.setdefault(waiting, []).append(form)
                if int(number) == last:
                    waiting = ""
    return found


def split(text: str, table: dict[str, list[str]]) -> list[str]:
    """The words of a raw sentence in lower case, with contractions split."""
    words = (text[a:b].lower() for a, b in word_spans(text))
    return [part for word in words for part in table.get(word, [word])]


def bitext(options: RecipeOptions, code: str, most: int) -> tuple[Sentences, Sentences]:
    """The sentence pairs of English and a language, at most `most` of each kind."""
    language = LANGUAGES[code]
    table = contractions(options.find(language.contractions)) if language.contractions else {}
    source: Sentences = []
    target: Sentences = []
    if "testament" in language.bitext:
        english, other = (_verses(options, name) for name in ("en", code))
        both = list(islice((verse for verse in english if verse in other), most))
        source += [split(english[verse], {}) for verse in both]
        target += [split(other[verse], table) for verse in both]
    if "captions" in language.bitext:
        for name, side, own in (("en", source, {}), (code, target, table)):
            with gzip.open(options.find(CAPTIONS.format(name)), "rt", encoding="utf-8") as file:
                side += [split(line, own) for line in islice(file, most)]
    if language.bitext == "LinES":
        target += words_of(options, "treebanks/ud/Swedish-LinES/dev.conllu.gz")
        source += words_of(options, "treebanks/ud/English-LinES/dev.conllu.gz")[: len(target)]
    if language.bitext == "PUD":
        source += words_of(options, "treebanks/pud/English-PUD/test.conllu.gz")
        target += words_of(options, f"treebanks/pud/{NAMES[code]}-PUD/test.conllu.gz")
    if language.bitext == "ParTUT":
        english, other = (
            _numbered(options, f"treebanks/ud/{name}-ParTUT/train.conllu.gz") for name in ("English", "Italian")
        )
        both = [number for number in english if number in other]
        source += [english[number].split(" ") for number in both]
        target += [other[number].split(" ") for number in both]
    return source, target


def _verses(options: RecipeOptions, code: str) -> dict[str, str]:
    with gzip.open(options.find(TESTAMENT.format(code)), "rt", encoding="utf-8") as file:
        return dict(line.rstrip("\n").split("\t", 1) for line in file if "\t" in line)


def _numbered(options: RecipeOptions, path: str) -> dict[str, str]:
    """The sentences of a treebank by the number at the end of their name, words separated by spaces."""
    found = {}
    for doc in read(options.find(path)):
        for sentence, words in zip(doc.sentences, _sentences(doc), strict=True):
            name = str(sentence.meta.get("sent_id", ""))
            found[name.rsplit("-", 1)[-1]] = " ".join(word.lower().replace(" ", "_") for word in words)
    return found


def linked(options: RecipeOptions, code: str, most: int, threshold: float) -> Bitext:
    """The bitext of a language, its words linked where both directions of the aligner are confident."""
    source, target = bitext(options, code, most)
    return Bitext(source, target, align(source, target, "intersection", settings=APART, threshold=threshold))


def pseudo_languages(options: RecipeOptions, n_classes: int, share: float = 0.2, halves: bool = False) -> float:
    """The fraction of word pairs that x-lingual clusters unite, for two renamed copies of a treebank's text.

    Part of the vocabulary is linked; with `halves` each language has one half of the text, and the linked sentences
    are the first tenth, which both have.
    """
    text = words_of(options, EWT)
    random = np.random.default_rng(0)
    types = sorted({word for sentence in text for word in sentence})
    known = set(np.array(types)[random.permutation(len(types))[: int(share * len(types))]].tolist())
    common = text[::10] if halves else text
    one, two = (text[0::2] + common, text[1::2] + common) if halves else (text, text)
    source, target, pairs, other = (
        [[f"{side}:{word}" for word in sentence] for sentence in sentences]
        for side, sentences in (("s", one), ("t", two), ("s", common), ("t", common))
    )
    links = Links.of([[(k, k) for k, word in enumerate(sentence) if word in known] for sentence in common])
    found = cross_clusters(source, target, Bitext(pairs, other, links), n_classes=n_classes, min_count=3)
    names, others = found.source.paths(), found.target.paths()
    shared = [
        names[f"s:{word}"] == others[f"t:{word}"] for word in types if f"s:{word}" in names and f"t:{word}" in others
    ]
    return float(np.mean(shared))
