"""Data for the cliper recipe: a pseudo-language with known names, and real translations with names on both sides.

*Pseudo-language*: CoNLL-2003 English. Sentences up to `SOURCE` train the source tagger (some of them) and measure its
confusions (others), those up to `PAIRS` become the bitext, the rest labelled target sentences; the dev file is split
into target dev and test sentences. The target language never contains an English word
(`weft.recipes.corpora.pseudo_language`).

*PUD*: 1,000 sentences in English and German with names annotated on both sides; an aligner that was also trained on the
New Testament and image captions links its words. Labelled German sentences come from GermEval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from weft.formats import read
from weft.recipes.corpora.clusters import bitext
from weft.recipes.corpora.pseudo_language import Noise, PseudoLanguage, pseudo_bitext
from weft.recipes.framework import RecipeOptions
from weft.tasks.bitext.align import APART, align
from weft.tasks.entities.projected import Bitext
from weft.text.bitext import Links
from weft.text.doc import Doc
from weft.text.layers import SpanLayer
from weft.text.schemes import decode, encode

TYPES = ("LOC", "ORG", "PER")
CONLL = "ner/conll2003-en/train.txt.gz", "ner/conll2003-en/dev.txt.gz"
CONLL_FIELDS = "form xpos chunks entities:IOB1"
UNER_FIELDS = "id form entities:IOB2 _ _"
GERMEVAL_FIELDS = "id form entities:IOB2 _"
SOURCE, PAIRS = 7000, 12_000
PUD = "ner/uner-English-PUD/test.iob2.gz", "ner/uner-German-PUD/test.iob2.gz"
GERMEVAL = "ner/germeval2014-de/dev.tsv.gz", "ner/germeval2014-de/test.tsv.gz"
EWT = "ner/uner-English-EWT/dev.iob2.gz"


@dataclass(frozen=True)
class Named:
    """Sentences with one label per word in the IO scheme."""

    words: list[list[str]]
    labels: list[list[str]]

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, part: slice) -> Named:
        return Named(self.words[part], self.labels[part])

    def __add__(self, other: Named) -> Named:
        return Named(self.words + other.words, self.labels + other.labels)

    def take(self, chosen: Sequence[int]) -> Named:
        """Some of the sentences, in the order given."""
        return Named([self.words[i] for i in chosen], [self.labels[i] for i in chosen])

    def doc(self) -> Doc:
        """The sentences as one document with the layer `entities`."""
        doc = Doc.from_words(self.words)
        spans, first = [], 0
        for labels in self.labels:
            spans += [(first + start, first + end, label) for start, end, label in decode(labels, "IO")]
            first += len(labels)
        doc.spans["entities"] = SpanLayer.of(doc.strings, spans)
        return doc

    def bare(self) -> Doc:
        """The words alone."""
        return Doc.from_words(self.words)


def read_named(path: Path, fields: str) -> Named:
    """The sentences in a file with the names of `TYPES`; other names are dropped, part by part."""
    words: list[list[str]] = []
    labels: list[list[str]] = []
    for doc in read(path, format="columns", fields=fields):
        spans = [(*pieces[0], label) for pieces, label in doc.spans["entities"] if label in TYPES]
        forms, flat = doc.column("form"), encode(spans, doc.n_words, "IO")
        for first, end in pairwise(doc.sentence_offsets.tolist()):
            words.append(forms[first:end])
            labels.append(flat[first:end])
    return Named(words, labels)


@dataclass(frozen=True)
class World:
    """A language pair: labelled source texts, a bitext, and labelled target texts."""

    source: Named  # trains the source tagger
    held_out: Named  # measures its confusions
    bitext: Bitext
    truth: Named  # the true labels of the target side of the bitext
    labelled: Named
    dev: Named
    test: Named


def pseudo_world(
    train: Named, other: Named, seed: int, source: int = 700, pairs: int = 2000, dev: int = 600, test: int = 1500,
    noise: Noise | None = None,
) -> World:  # fmt: skip
    """The pseudo-language of a seed: numbers of source-tagger sentences, pairs, dev and test sentences.

    `train` and `other` are the train and dev files of CoNLL-2003. Sentences for each purpose are sampled from its
    range.
    """
    random = np.random.default_rng(seed)
    language = PseudoLanguage(seed)
    own = train.take(random.permutation(SOURCE).tolist())
    english = train.take((SOURCE + random.permutation(PAIRS - SOURCE)[:pairs]).tolist())
    rest = train.take((PAIRS + random.permutation(len(train) - PAIRS)).tolist())
    outside = other.take(random.permutation(len(other)).tolist())

    def encoded(named: Named, number: int) -> tuple[Named, Bitext]:
        made = pseudo_bitext(named.words, language, seed + 1000 * number, noise, map(_together, named.labels))
        target = Named(made.words, made.carried(named.labels))
        return target, Bitext([named.bare()], [target.bare()], made.links)

    truth, bitext = encoded(english, 1)
    return World(
        own[:source], own[-1500:], bitext, truth, encoded(rest, 2)[0], encoded(outside[:dev], 3)[0],
        encoded(outside[dev : dev + test], 4)[0],
    )  # fmt: skip


def _together(labels: Sequence[str]) -> list[int]:
    """A number per word; the words of one name share theirs."""
    numbers, current, before = [], 0, "O"
    for label in labels:
        current += label == "O" or label != before
        numbers.append(current)
        before = label
    return numbers


def pud_links(options: RecipeOptions, english: Named, german: Named, more: int) -> Links:
    """Links for PUD, by an aligner trained on PUD and on pairs from the New Testament and captions.

    Names are rare, and mostly spelled alike: words that both sides of a pair share are added as extra pairs.
    """
    source, target = bitext(options, "de", more)
    alike = [
        [word] for one, other in zip(english.words, german.words, strict=True) for word in sorted({*one} & {*other})
    ]
    sides = [*english.words, *source, *alike], [*german.words, *target, *alike]
    return align(*sides, "grow-diag-final-and", settings=APART).take(0, len(english))


def pud_world(
    source: Named, held_out: Named, english: Named, german: Named, links: Links, germeval: tuple[Named, Named],
    dev: int = 400, fold: int | None = None, folds: int = 5,
) -> World:  # fmt: skip
    """The pairs of PUD as bitext and GermEval as test; with `fold`, a fold of PUD as test and the others as bitext.

    Dev and labelled sentences come from GermEval's dev file.
    """
    chosen = [i for i in range(len(english)) if fold is None or i % folds != fold]
    of_pair = links.pairs()
    pairs = Bitext([english.take(chosen).bare()], [german.take(chosen).bare()], Links.of(of_pair[i] for i in chosen))
    test = germeval[1] if fold is None else german.take(range(fold, len(german), folds))
    return World(source, held_out, pairs, german.take(chosen), germeval[0][dev:], germeval[0][:dev], test)
