"""The alignment corpora with the Stanford parses shipped with them, and pairs with similarities."""

from __future__ import annotations

import difflib
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass

from weft.arrays import Floats
from weft.errors import DataError
from weft.evaluate.labels.word_alignment import AlignmentScore, score_alignment
from weft.formats.streams import numbered_lines
from weft.pipeline.pipeline import Pipeline
from weft.recipes.framework import RecipeOptions
from weft.tasks.similarity.aligner import SameLanguageAligner, SimilaritySettings, Unit
from weft.text.bitext import Links
from weft.text.doc import Doc
from weft.text.layers import SpanLayer

MSR, EDINBURGH = "alignment/msr-rte2", "alignment/edinburgh++"
_LINES = 5  # of a sentence in the files of parses


@dataclass(frozen=True)
class AlignedPairs:
    """Pairs of sentences in two annotations, with gold links."""

    stanford: list[tuple[Doc, Doc]]
    own: list[tuple[Doc, Doc]]
    gold: Links

    def units(self, aligner: SameLanguageAligner, own: bool = False) -> tuple[list[Unit], list[Unit]]:
        """Both sides as an aligner takes them."""
        docs = self.own if own else self.stanford
        return [aligner.unit(one) for one, _ in docs], [aligner.unit(other) for _, other in docs]

    def score(self, aligner: SameLanguageAligner, own: bool = False) -> AlignmentScore:
        """How well an aligner links them."""
        return score_alignment(aligner.align_units(*self.units(aligner, own)).links, self.gold)


def msr(options: RecipeOptions, part: str, nlp: Pipeline, limit: int | None = None) -> AlignedPairs:
    """Pairs of the RTE2 corpus; gold are the sure links of the majority of three annotators."""
    gold = []
    for number, line in numbered_lines(str(options.find(f"{MSR}/{part}.M.align.txt.gz"))):
        if line.startswith("NULL"):
            gold.append(_majority(line, number))
    return _pairs(options.find(f"{MSR}/{part}.M.stanford.mst.gz"), gold, nlp, limit)


def _majority(line: str, number: int) -> list[tuple[int, int]]:
    """The sure links of a line: `word ({ 4 p1 / / })`, source positions from 1, target words in order."""
    links = []
    for j, cell in enumerate(line.split(" / / })")[:-1]):
        words = cell.rpartition("({")
        if not words[1]:
            raise DataError(f"line {number} of the alignments has no links in {cell[:40]!r}")
        if j:
            links += [(int(place) - 1, j - 1) for place in words[2].split() if not place.startswith("p")]
    return sorted(set(links))


def edinburgh(options: RecipeOptions, part: str, nlp: Pipeline, limit: int | None = None) -> AlignedPairs:
    """Pairs of the Edinburgh++ corpus with its sure links."""
    name = f"{EDINBURGH}/{part}.sure.json" + (".gz" if part == "train" else "")
    path = options.find(name)
    text = gzip.decompress(path.read_bytes()) if part == "train" else path.read_bytes()
    gold = [
        sorted({(int(i), int(j)) for i, _, j in (link.partition("-") for link in row["sureAlign"].split())})
        for row in json.loads(text)
    ]
    return _pairs(options.find(f"{EDINBURGH}/{part}.stanford.mst.gz"), gold, nlp, limit)


def _pairs(path: object, gold: Sequence[list[tuple[int, int]]], nlp: Pipeline, limit: int | None) -> AlignedPairs:
    lines = [line for _, line in numbered_lines(str(path)) if line]
    rows = [[cell.split("\t") for cell in lines[k : k + _LINES]] for k in range(0, len(lines), _LINES)]
    if len(rows) != 2 * len(gold):
        raise DataError(f"{path} has {len(rows):,} sentences for {len(gold):,} pairs of gold links")
    rows, gold = rows[: 2 * limit] if limit else rows, list(gold[:limit] if limit else gold)
    own = list(nlp.pipe([Doc.from_words([row[0]]) for row in rows]))
    stanford = [_parsed(row, doc) for row, doc in zip(rows, own, strict=True)]
    return AlignedPairs(
        list(zip(stanford[::2], stanford[1::2], strict=True)), list(zip(own[::2], own[1::2], strict=True)),
        Links.of(gold),
    )  # fmt: skip


def _parsed(row: Sequence[Sequence[str]], own: Doc) -> Doc:
    """A sentence with its Stanford parse; lemmas and names, which the files lack, are our own model's."""
    words, tags, labels, heads, _ = row
    # Some sentences were cut out of longer ones: a head outside is none.
    inside = [int(head) if int(head) <= len(words) else 0 for head in heads]
    doc = Doc.from_words([words], lemma=[own.column("lemma")], xpos=[tags], deprel=[labels], head=[inside])
    doc.spans["entities"] = SpanLayer.of(doc.strings, own.spans["entities"].flat())
    return doc


def equal_words(pairs: AlignedPairs) -> Links:
    """The baseline that links equal words, each with the nearest one that is free."""
    rows = []
    for one, other in pairs.own:
        a, b = ([form.lower() for form in doc.column("form")] for doc in (one, other))
        links: list[tuple[int, int]] = []
        free = set(range(len(b)))
        for i, word in enumerate(a):
            places = [j for j in free if b[j] == word]
            if places:
                j = min(places, key=lambda j: (abs(i / len(a) - j / len(b)), j))
                free.discard(j)
                links.append((i, j))
        rows.append(links)
    return Links.of(rows)


def longest_matches(pairs: AlignedPairs) -> Links:
    """The baseline of Python's difflib: matching blocks."""
    rows = []
    for one, other in pairs.own:
        a, b = ([form.lower() for form in doc.column("form")] for doc in (one, other))
        blocks = difflib.SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
        rows.append([(block.a + k, block.b + k) for block in blocks for k in range(block.size)])
    return Links.of(rows)


def scored_texts(options: RecipeOptions, name: str, limit: int | None = None) -> tuple[list[float], list[str]]:
    """Gold scores and texts (first and second in turn) of a set of the shared tasks, without unscored pairs."""
    scores: list[float] = []
    texts: list[str] = []
    for _, line in numbered_lines(str(options.find(f"similarity/{name}"))):
        cells = line.rstrip("\r").split("\t")
        if len(cells) >= 3 and cells[0].strip() and (limit is None or len(scores) < limit):
            scores.append(float(cells[0]))
            texts += [cells[1].strip(), cells[2].strip()]
    return scores, texts


def paraphrase_pairs(options: RecipeOptions, part: str, limit: int | None = None) -> tuple[list[int], list[str]]:
    """Labels and texts of the Microsoft Research paraphrase corpus."""
    labels: list[int] = []
    texts: list[str] = []
    for number, line in numbered_lines(str(options.find(f"similarity/msr-paraphrase/{part}.tsv.gz"))):
        cells = line.rstrip("\r").split("\t")
        if number > 1 and len(cells) >= 5 and (limit is None or len(labels) < limit):
            labels.append(int(cells[0]))
            texts += [cells[3], cells[4]]
    return labels, texts


def lemma_overlap(docs: Sequence[Doc], aligner: SameLanguageAligner) -> Floats:
    """The baseline of similarity: mean share of content lemmas that the other text has, too."""
    import numpy as np

    found = []
    for one, other in zip(docs[::2], docs[1::2], strict=True):
        a, b = (_content(aligner.unit(doc), aligner) for doc in (one, other))
        common = len(a & b)
        found.append((common / max(len(a), 1) + common / max(len(b), 1)) / 2)
    return np.array(found)


def _content(unit: Unit, aligner: SameLanguageAligner) -> set[str]:
    numbers = aligner.words.numbers(unit.forms, unit.lemmas)
    aligner.words.settle()
    kinds = aligner.words.kinds[numbers]
    return {lemma.lower() for lemma, kind in zip(unit.lemmas, kinds.tolist(), strict=True) if kind == 0}


#: The rows of the ablation, as the paper names them.
ABLATIONS = {
    "full": SimilaritySettings(),
    "- word similarity": SimilaritySettings(paraphrases=False),
    "- context": SimilaritySettings(dependencies=False, neighbours=False),
    "- dependencies": SimilaritySettings(dependencies=False),
    "- text neighbourhood": SimilaritySettings(neighbours=False),
    "- stop words": SimilaritySettings(functions=False),
    "- names": SimilaritySettings(names=False),
}
