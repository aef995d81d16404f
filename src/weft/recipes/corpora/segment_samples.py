"""Sentences with discontinuous, overlapping or nested segments, made from the available corpora.

No available corpus stores discontinuous mentions, so they come from coordination ellipsis, in two ways that are always
kept apart. *Natural*: a mention annotated as a whole, `heavy and light chain genes` or `heavy / light chain genes`,
becomes {heavy chain genes} and {light chain genes}. *Generated*: `kappa chain` in a sentence becomes `kappa and light
chain` (or has `/`, or a list with commas), with both mentions, where `light chain` is another mention with the same
type and last word elsewhere; or, mirrored, with the same first word. Both use the same conjunctions: a model could not
learn a `/` that joins mentions in one and is inside them in the other.
"""

from __future__ import annotations

import gzip
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from weft.formats.brat import files as brat
from weft.infer.chains.multilabel import pieces, positions
from weft.tasks.spans.gapped import sentence_segments, split_by_shape
from weft.text.doc import Doc
from weft.text.layers import Pieces, SpanLayer
from weft.text.schemes import decode
from weft.text.split import split_by_rule
from weft.text.strings import StringTable

LAYER = "segments"
CONJUNCTIONS = frozenset(("and", "or", "/"))
Labelled = tuple[Pieces, str]


@dataclass(frozen=True)
class Sample:
    """A sentence: words, part-of-speech tags if available, segments, and its source text."""

    words: tuple[str, ...]
    segments: tuple[Labelled, ...]
    tags: tuple[str, ...] = ()
    text: str = ""

    @property
    def flat(self) -> bool:
        """Whether one label per word can represent its segments."""
        return not split_by_shape([list(self.segments)])[1][0]


def document(samples: Sequence[Sample], strings: StringTable | None = None) -> Doc:
    """Samples as a document with the layer `segments`.

    >>> doc = document([Sample(("a", "b", "c"), ((((0, 1), (2, 3)), "X"),))])
    >>> doc.span_views("segments")
    [Span('a ... c', 'X')]
    """
    tags = {"xpos": [sample.tags for sample in samples]} if samples and samples[0].tags else {}
    doc = Doc.from_words([sample.words for sample in samples], None, strings, **tags)
    layer = doc.spans[LAYER] = SpanLayer(doc.strings)
    for first, sample in zip(doc.sentence_offsets.tolist(), samples, strict=False):
        for parts, label in sample.segments:
            layer.add([(first + start, first + end) for start, end in parts], label)
    return doc


def samples_of(docs: Iterable[Doc], layer: str, keep: Iterable[str] | None = None, text: str = "") -> Iterator[Sample]:
    """The sentences in documents with the spans of a layer, of some types or all."""
    wanted = None if keep is None else set(keep)
    for doc in docs:
        forms, tags = doc.column("form"), doc.column("xpos") if doc.has("xpos") else []
        offsets = doc.sentence_offsets.tolist()
        for first, end, found in zip(offsets[:-1], offsets[1:], sentence_segments(doc, layer), strict=True):
            segments = tuple(item for item in found if wanted is None or item[1] in wanted)
            yield Sample(tuple(forms[first:end]), segments, tuple(tags[first:end]), text or doc.id)


def stand_off(archive: Path) -> list[Sample]:
    """The sentences in a tar file of brat documents, split by rule."""
    found: list[Sample] = []
    with tarfile.open(archive) as tar:
        names = {member.name: member for member in tar.getmembers() if member.isfile()}
        for name in sorted(names):
            partner = name.removesuffix(".txt") + ".ann"
            if not name.endswith(".txt") or partner not in names:
                continue
            text, annotation = (_member(tar, names[each]) for each in (name, partner))
            doc = brat.parse(text, [(partner, annotation)], name.removesuffix(".txt"))
            split_by_rule(doc)
            found += samples_of([doc], "entities")
    return found


def layered_columns(path: Path, word: int = 0, layers: slice = slice(1, None)) -> list[Sample]:
    """Sentences in a file of columns, or a tar file of such files, with labels in several columns (nested spans)."""
    if path.name.endswith(".tar.gz"):
        with tarfile.open(path) as tar:
            members = sorted((member for member in tar.getmembers() if member.isfile()), key=lambda each: each.name)
            return [sample for each in members for sample in _layered(_member(tar, each), word, layers, each.name)]
    return list(_layered(gzip.decompress(path.read_bytes()).decode(), word, layers, path.name))


def _layered(text: str, word: int, layers: slice, name: str) -> Iterator[Sample]:
    for block in text.split("\n\n"):
        rows = [line.split("\t") for line in block.split("\n") if line.strip() and not line.startswith("#\t")]
        if not rows:
            continue
        segments: dict[Labelled, None] = {}
        width = min(map(len, rows))
        for column in range(*layers.indices(width)):
            labels = [row[column] or "O" for row in rows]
            segments.update({(((start, end),), label): None for start, end, label in decode(labels, strict=False)})
        yield Sample(tuple(row[word] for row in rows), tuple(segments), (), name)


def _member(tar: tarfile.TarFile, member: tarfile.TarInfo) -> str:
    file = tar.extractfile(member)
    assert file is not None
    return file.read().decode("utf-8")


def split_coordination(words: Sequence[str]) -> list[tuple[int, ...]] | None:
    """The mentions in a coordinated one, as positions: {L x R}, {L y R} of `L x and y R`; None if there are none.

    Conjuncts are single words (a hyphenated group counts as one), lists may have commas, and L or R must be nonempty.

    >>> split_coordination("heavy and light chain genes".split())
    [(0, 3, 4), (2, 3, 4)]
    >>> split_coordination("p 1 , 2 , and 3".split()), split_coordination("heavy and light".split())
    ([(0, 1), (0, 3), (0, 6)], None)
    >>> split_coordination("heavy / light chains".split()), split_coordination("alpha / - chain".split())
    ([(0, 3), (2, 3)], None)
    """
    at = next((i for i, word in enumerate(words) if word.lower() in CONJUNCTIONS and 0 < i < len(words) - 1), None)
    if at is None:
        return None
    last = at - 2 if words[at - 1] == "," and at >= 2 else at - 1
    conjuncts = [last, at + 1]
    while conjuncts[0] >= 2 and words[conjuncts[0] - 1] == ",":
        conjuncts.insert(0, conjuncts[0] - 2)
    if not all(_is_word(words[i]) for i in conjuncts):
        return None
    left, right = tuple(range(conjuncts[0])), tuple(range(at + 2, len(words)))
    if not left and not right:
        return None
    return [(*left, conjunct, *right) for conjunct in conjuncts]


def _is_word(word: str) -> bool:
    return any(map(str.isalnum, word)) and word.lower() not in CONJUNCTIONS


def natural(samples: Iterable[Sample]) -> list[Sample]:
    """Samples with every coordinated mention split into the mentions it expresses."""
    return [replace(sample, segments=tuple(_split(sample))) for sample in samples]


def _split(sample: Sample) -> Iterator[Labelled]:
    for parts, label in sample.segments:
        words = positions(parts)
        found = split_coordination([sample.words[word] for word in words])
        if found is None:
            yield parts, label
        else:
            for members in found:
                yield pieces([words[member] for member in members]), label


def generated(samples: Sequence[Sample], share: float = 0.06, seed: int = 0, longest: int = 1) -> list[Sample]:
    """Samples with a coordination inserted into a fraction of the sentences: `m h` becomes `m and m' h` or similar.

    Only mentions whose distinct part m has at most `longest` words are coordinated; one word, as in the split above.

    >>> sentences = [Sample(("kappa", "chain", "rose"), ((((0, 2),), "P"),)),
    ...              Sample(("light", "chain", "fell"), ((((0, 2),), "P"),))]
    >>> new = generated(sentences, share=1.0, seed=1)[0]
    >>> new.words, [positions(parts) for parts, _ in new.segments]
    (('kappa', 'and', 'light', 'chain', 'rose'), [(0, 3), (2, 3)])
    """
    by_last: dict[tuple[str, str], dict[tuple[str, ...], None]] = {}
    by_first: dict[tuple[str, str], dict[tuple[str, ...], None]] = {}
    for sample in samples:
        for parts, label in sample.segments:
            words = tuple(sample.words[word] for word in positions(parts))
            if len(parts) == 1 and 1 < len(words) <= longest + 1 and all(map(_is_word, words)):
                by_last.setdefault((label, words[-1]), {})[words[:-1]] = None
                by_first.setdefault((label, words[0]), {})[words[1:]] = None
    random = np.random.default_rng(seed)
    return [
        _coordinate(sample, by_last, by_first, random, longest) if random.random() < share else sample
        for sample in samples
    ]


def _coordinate(
    sample: Sample,
    by_last: dict[tuple[str, str], dict[tuple[str, ...], None]],
    by_first: dict[tuple[str, str], dict[tuple[str, ...], None]],
    random: np.random.Generator,
    longest: int,
) -> Sample:
    """The sample with one of its mentions coordinated with others that share its last (or first) word."""
    if not sample.flat:
        return sample
    mirrored = bool(random.random() < 0.3)
    choices = []
    for number, (parts, label) in enumerate(sample.segments):
        (start, end) = parts[0]
        words = sample.words[start:end]
        if not 1 < len(words) <= longest + 1 or not all(map(_is_word, words)):
            continue
        own, shared = (words[1:], words[0]) if mirrored else (words[:-1], words[-1])
        others = [each for each in (by_first if mirrored else by_last).get((label, shared), {}) if each != own]
        if others:
            choices.append((number, own, others))
    if not choices:
        return sample
    number, own, others = choices[int(random.integers(len(choices)))]
    form = ("and", "/", ",")[int(random.integers(3))]
    count = 2 if form == "," and len(others) > 1 else 1
    drawn = [others[int(i)] for i in random.choice(len(others), count, replace=False)]
    links = [[], [","], [",", "and"]] if count == 2 else [[], ["/" if form == "/" else "and"]]
    start, end = sample.segments[number][0][0]
    label = sample.segments[number][1]
    # The words of the coordination and which of them belong to each conjunct alone.
    row: list[str] = []
    places: list[range] = []
    for link, conjunct in zip(links, [own, *drawn], strict=True):
        row += link
        places.append(range(len(row), len(row) + len(conjunct)))
        row += conjunct
    # The shared word precedes or follows the conjuncts.
    common, shift = (start, start + 1) if mirrored else (start + len(row), start)
    whole = (sample.words[start], *row) if mirrored else (*row, sample.words[end - 1])
    grown = len(whole) - (end - start)
    moved = [
        (tuple((a + grown, b + grown) if a >= end else (a, b) for a, b in parts), kind)
        for other, (parts, kind) in enumerate(sample.segments)
        if other != number
    ]
    new = [(pieces(sorted([common, *(shift + place for place in own_places)])), label) for own_places in places]
    return replace(sample, words=(*sample.words[:start], *whole, *sample.words[end:]), segments=(*new, *moved), tags=())
