"""The corpora of a configuration, prepared as documents for components and tests."""

from __future__ import annotations

import copy
import tarfile
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from weft import data
from weft.errors import DataError
from weft.formats import read
from weft.formats.streams import read_text
from weft.pipeline.pipeline import Pipeline
from weft.tasks.speech.generated import transcript_with_repairs
from weft.tasks.speech.switchboard import read_switchboard
from weft.text.conventions.misc_spans import spans_of_misc
from weft.text.doc import Doc
from weft.text.layers import SpanLayer
from weft.training.config import PARTS, ClusterSpec, CorpusSpec, PipelineConfig, split_reference
from weft.training.patterns import read_patterns
from weft.treebanks.join_roles import join_roles

ENTITIES = "entities"
#: Formats that only configurations support: transcripts for scoring repairs, and patterns to train a segmenter on.
SWITCHBOARD, PATTERNS = "switchboard", "patterns"


class CorpusReader:
    """Reads each part of a corpus once. `limit` is the number of sentences to take of each, for a trial.

    For corpora with `repairs`, speech repairs are sampled with the random seed, differently for every part.
    """

    def __init__(self, config: PipelineConfig, limit: int = 0, seed: int = 0) -> None:
        self.config, self.limit, self.seed = config, limit, seed
        self._read: dict[str, list[Doc]] = {}

    def docs(self, references: Sequence[str]) -> list[Doc]:
        """The documents of several parts of corpora, concatenated."""
        return [doc for reference in references for doc in self._part(reference)]

    def _part(self, reference: str) -> list[Doc]:
        name, part = split_reference(reference)
        key = f"{name}.{part}"
        if key not in self._read:
            corpus = self.config.corpora[name]
            found = self._files(corpus, part)
            if part == "train" and corpus.apart:
                held = {
                    text for other in PARTS[1:] for doc in self._files(corpus, other) for text in sentence_keys(doc)
                }
                found = [left for doc in found if (left := _without(doc, held)) is not None]
            limits = [each for each in (corpus.sentences, self.limit) if each]
            if limits:
                found = _first(found, min(limits))
            if corpus.repairs:
                found = [transcript_with_repairs(found, (self.seed, PARTS.index(part)))]
            self._read[key] = found
        return self._read[key]

    def _files(self, corpus: CorpusSpec, part: str) -> list[Doc]:
        paths = [self.find(path) for path in corpus.files(part)]
        if corpus.read.get("format") == SWITCHBOARD:
            return [read_switchboard(path) for path in paths]
        if corpus.read.get("format") == PATTERNS:
            return [doc for path in paths for doc in read_patterns(path, self.seed)]
        docs = [doc for path in paths for doc in _with_names(list(read(path, **corpus.read)))]
        if part in corpus.frames:
            docs = join_roles(docs, read(self.find(corpus.frames[part]), "roles")).docs
        docs = [_without_columns(_stripped(doc, corpus.strip), corpus.without) for doc in docs]
        return [_relabelled(_dropped(doc, corpus.drop), corpus.labels) for doc in docs]

    def find(self, path: str) -> Path:
        """Find a file of the configuration: next to it, or in the data folder."""
        beside = self.config.path.parent / path
        return beside if beside.exists() else data.find(path)

    def sentences(self, spec: ClusterSpec, segmenter: Pipeline) -> Iterator[list[str]]:
        """The words of every sentence to train clusters on; the pipeline segments plain text."""
        for source in spec.text:
            docs: Iterator[Doc] | list[Doc]
            if source in self.config.corpora:
                docs = self.docs([source])
            else:
                texts = _texts(self.find(source), spec.characters)
                docs = segmenter.pipe(texts)
            for doc in docs:
                forms = doc.column("form")
                yield from (forms[first:end] for first, end in pairwise(doc.sentence_offsets.tolist()))


def _with_names(docs: list[Doc]) -> list[Doc]:
    """Read the names that MISC spells: where a file spells names, a document without any has no names."""
    layers = [None if ENTITIES in doc.spans else spans_of_misc(doc) for doc in docs]
    if any(layer is not None for layer in layers):
        for doc, layer in zip(docs, layers, strict=True):
            doc.spans.setdefault(ENTITIES, layer if layer is not None else SpanLayer(doc.strings))
    return docs


def sentence_keys(doc: Doc) -> list[str]:
    """The characters of every sentence without spaces, to compare sentences across corpora.

    >>> sentence_keys(Doc.from_words([["Dogs", "bark"], ["Cats", "purr"]]))
    ['Dogsbark', 'Catspurr']
    """
    starts, ends = doc.word_start.tolist(), doc.word_end.tolist()
    return [
        "".join(doc.text[starts[first] : ends[end - 1]].split()) if first < end else ""
        for first, end in pairwise(doc.sentence_offsets.tolist())
    ]


def _without(doc: Doc, held: set[str]) -> Doc | None:
    """The document without the sentences that are held out."""
    kept = [i for i, key in enumerate(sentence_keys(doc)) if key not in held]
    return doc if len(kept) == doc.n_sentences else doc.subset(kept) if kept else None


def _first(docs: Sequence[Doc], sentences: int) -> list[Doc]:
    found: list[Doc] = []
    for doc in docs:
        if sentences <= 0:
            break
        found.append(doc if doc.n_sentences <= sentences else doc.subset(range(sentences)))
        sentences -= doc.n_sentences
    return found


def _stripped(doc: Doc, beginning: str) -> Doc:
    """Remove a prefix from the words of a document."""
    if not beginning:
        return doc
    forms = [form.removeprefix(beginning) or form for form in doc.column("form")]
    new = Doc.from_words(
        [forms[first:end] for first, end in pairwise(doc.sentence_offsets.tolist())], strings=doc.strings
    )
    new.columns.update({name: ids for name, ids in doc.columns.items() if name != "form"})
    new.comments, new.spans, new.meta = doc.comments, doc.spans, doc.meta
    return new


def _without_columns(doc: Doc, columns: Sequence[str]) -> Doc:
    """Leave out columns of annotation, where only a part of the corpus has them."""
    if not columns:
        return doc
    new = copy.copy(doc)
    new.columns = {name: ids for name, ids in doc.columns.items() if name not in columns}
    return new


def _dropped(doc: Doc, features: dict[str, str]) -> Doc:
    """Remove morphological features from words by their part of speech, where corpora differ in conventions."""
    if not features:
        return doc
    new = copy.copy(doc)
    new.columns = dict(doc.columns)
    kept = [
        "|".join(part for part in feats.split("|") if part != features.get(tag))
        for tag, feats in zip(doc.column("upos"), doc.column("feats"), strict=True)
    ]
    new.set_column("feats", kept)
    return new


def _relabelled(doc: Doc, labels: dict[str, str]) -> Doc:
    """Rename the span labels of a document; spans without a new label are dropped."""
    if not labels:
        return doc
    new = copy.copy(doc)
    new.spans = {}
    for name, layer in doc.spans.items():
        new.spans[name] = SpanLayer(doc.strings, layer.unit)
        for pieces, label in layer:
            if label in labels:
                new.spans[name].add(pieces, labels[label])
    return new


def _texts(path: Path, characters: int) -> Iterator[str]:
    """The plain texts of a file or an archive, each up to a number of characters."""
    if not tarfile.is_tarfile(path):
        yield _beginning(read_text(str(path)), characters)
        return
    with tarfile.open(path) as archive:
        for member in sorted(archive.getmembers(), key=lambda each: each.name):
            file = archive.extractfile(member) if member.isfile() else None
            if file is not None:
                yield _beginning(file.read().decode("utf-8", "replace"), characters)


def _beginning(text: str, characters: int) -> str:
    return text[:characters] if characters else text


def check_words(docs: Sequence[Doc], references: Sequence[str]) -> None:
    """Raise an error before a long training if corpora have no words."""
    if not any(doc.n_words for doc in docs):
        raise DataError(f"there are no words in {', '.join(references)}; check the paths and the key `read`")
