"""What is counted in text: isA pairs, similes, copulas, and verbs with their subjects and objects.

A harvest grows document by document, in bounded memory (`weft.lexical.harvest.counts`). Harvests of parts of a text,
made by other processes or on other machines, are merged into that of the whole; a folder of five tables keeps one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from weft.errors import DataError, FormatError
from weft.lexical.harvest.clauses import OBJECT, SUBJECT, clauses, trees_of
from weft.lexical.harvest.counts import MOST, PairCounts, Row, read_counts, write_counts
from weft.lexical.harvest.patterns import Patterns
from weft.lexical.harvest.phrases import tagged_sentences
from weft.text.doc import Doc

ISA, SIMILE, COPULA = "isa", "simile", "copula"
#: What is counted: the pairs (instance, concept), (target, source) twice, and (noun, verb) twice.
KINDS = (ISA, SIMILE, COPULA, SUBJECT, OBJECT)
#: Columns that documents must have; trees give verbs their nouns and may be missing.
NEEDED = ("lemma", "upos")


class Harvest:
    """Counts of the pairs of all documents that were added.

    >>> doc = Doc.from_words([["Life", "is", "like", "a", "journey"]], lemma=[["life", "be", "like", "a", "journey"]],
    ...     upos=[["NOUN", "AUX", "ADP", "DET", "NOUN"]])
    >>> harvest = Harvest()
    >>> harvest.add(doc)
    >>> list(harvest.counts["simile"]), harvest
    ([('life', 'journey', 1)], Harvest(1 sentences: isa 0, simile 1, copula 0, subject 0, object 0))
    """

    def __init__(self, most: int = MOST) -> None:
        self.counts = {kind: PairCounts(most) for kind in KINDS}
        self.sentences = 0

    def add(self, doc: Doc) -> None:
        """Count the pairs of a document with lemmas and tags."""
        missing = [layer for layer in NEEDED if not doc.has(layer)]
        if missing:
            raise DataError(
                f"{doc.id or 'a document'} has no {' and no '.join(missing)}; annotate it before it is harvested"
            )
        trees = trees_of(doc)
        for number, sentence in enumerate(tagged_sentences(doc)):
            found = Patterns(sentence)
            if not found.phrases:
                continue
            for kind, matches in ((ISA, found.isa()), (SIMILE, found.similes()), (COPULA, found.copulas())):
                for left, right in matches:
                    self.counts[kind].add(left.name, right.name)
            if trees is not None:
                for clause in clauses(sentence, found.phrases, *trees[number]):
                    self.counts[clause.relation].add(clause.phrase.name, sentence.lemmas[clause.verb])
        self.sentences += doc.n_sentences

    def add_isa(self, rows: Iterable[Row]) -> None:
        """Add isA pairs from elsewhere: instance, concept, count."""
        self.counts[ISA].merge(rows)

    def merge(self, other: Harvest) -> None:
        """Add the counts of another part of the text."""
        for kind, counts in other.counts.items():
            self.counts[kind].merge(counts)
        self.sentences += other.sentences

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the five tables and the number of sentences into a folder."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        for kind, counts in self.counts.items():
            write_counts(counts, place / f"{kind}.tsv.gz")
        (place / "sentences.txt").write_text(f"{self.sentences}\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: str | os.PathLike[str], most: int = MOST) -> Harvest:
        """Read the tables of a folder; a damaged one is an error that names the file and line."""
        place, harvest = Path(folder), cls(most)
        if not place.is_dir():
            raise DataError(f"there is no folder {folder} of counts; `weft train metaphor --save-counts` writes one")
        for kind in KINDS:
            tables = [path for suffix in ("tsv.gz", "tsv") if (path := place / f"{kind}.{suffix}").is_file()]
            if not tables:
                raise DataError(f"no file {kind}.tsv.gz in {folder}: it is not a folder of harvested counts")
            harvest.counts[kind].merge(read_counts(tables[0]))
        told = place / "sentences.txt"
        text = told.read_text(encoding="utf-8", errors="replace").strip() if told.is_file() else ""
        if not (text.isascii() and text.isdigit() and len(text) < 20):
            raise FormatError(str(told), 1, "a number of sentences", repr(text[:40]))
        harvest.sentences = int(text)
        return harvest

    def close(self) -> None:
        """Remove what is on disk; the counts are gone."""
        for counts in self.counts.values():
            counts.close()

    def __repr__(self) -> str:
        told = ", ".join(f"{kind} {counts.total}" for kind, counts in self.counts.items())
        return f"Harvest({self.sentences} sentences: {told})"
