"""The segmenter: sentences, tokens and words of raw text, learned from annotated text.

    text -> labels of candidate boundaries -> tokens and sentences -> syntactic words

A conditional random field over the positions where a token or sentence may end predicts boundaries
(`weft.tasks.segmentation.boundary_model`); then multiword tokens are split into words
(`weft.tasks.segmentation.multiwords`). Offsets always refer to the original text. Without a trained segmenter, text is
split by rule (`weft.text.split`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Ids
from weft.declared import Stored
from weft.errors import ConfigError, DataError
from weft.features.characters import PARAGRAPH, code_points, types_of
from weft.features.weights import PRECISIONS
from weft.headers import Record, Table
from weft.pipeline.component import Asked, State, Stopwatch, Trainable
from weft.pipeline.settings import Settings, option
from weft.storage import Arrays
from weft.tasks.segmentation.boundaries import SENTENCE
from weft.tasks.segmentation.boundary_model import BoundaryModel, Trained, train, tune_bias
from weft.tasks.segmentation.layouts import with_line_ends
from weft.tasks.segmentation.multiwords import Multiwords, Split, Words
from weft.text.doc import Doc, Multiword
from weft.text.split import split_by_rule

__all__ = ["Segmenter", "SegmenterSettings", "split_by_rule"]

#: Characters per window; shorter documents are joined up to this size, longer ones are cut at sentences.
WINDOW = 1 << 16
#: Decisions in this many characters before the end of a window are left to the next window.
MARGIN = 1 << 10
_GLUE = "\u2029"  # a paragraph end: both sides of it are segmented independently


@dataclass
class SegmenterSettings(Settings):
    """Options of a segmenter."""

    sigma: float = option(1.0, "Standard deviation of the Gaussian prior.")
    iterations: int = option(80, "Maximum number of iterations of the optimizer.")
    min_count: int = option(2, "Leave out features that occur less often.")
    precision: str = option("int8", "Precision of the saved weights.", choices=PRECISIONS)
    prune: float = option(0.01, "Drop weights of at most this size from the saved model.")
    multiwords: bool = option(True, "Split tokens into syntactic words.")
    line_ends: float = option(0.0, "Share of the training text to repeat with generated line ends.")
    bias: bool = option(True, "Tune the score added to sentence ends on held-out text.")
    seed: int = option(0, "Random seed of the layouts of line ends.")
    workers: int = option(1, "Number of threads.")

    def check(self) -> None:
        """Check the values."""
        for name in ("sigma", "iterations", "min_count", "workers"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name} must be above 0, got {getattr(self, name)}")
        if not 0 <= self.line_ends <= 1:
            raise ConfigError(f"line_ends must be a share from 0 to 1, got {self.line_ends}")
        if self.precision not in PRECISIONS:
            raise ConfigError(f"precision must be one of {', '.join(PRECISIONS)}, got {self.precision!r}")


class Tokens(NamedTuple):
    """Tokens of a text: offsets, whether a sentence ends with each, and probabilities."""

    start: Ids
    end: Ids
    final: NDArray[np.bool_]
    confidence: NDArray[np.float32] | None


class Segmenter(Trainable):
    """Segments raw text into sentences, tokens and syntactic words.

    >>> words = ["Dogs", "bark", ".", "Cats", "don't", "."]
    >>> doc = Doc.from_words([words[:3], words[3:]], spaces=[[True, False, True], [True, False, True]])
    >>> segmenter = Segmenter()
    >>> report = segmenter.fit([doc] * 5)
    >>> new = Doc("Cats bark. Dogs don't.")
    >>> segmenter([new])
    >>> [[word.form for word in sentence.words] for sentence in new.sentences]
    [['Cats', 'bark', '.'], ['Dogs', "don't", '.']]
    """

    task = "segmenter"
    settings_class = SegmenterSettings
    settings: SegmenterSettings
    gives_probabilities = True
    requires = ("text",)
    provides = ("tokens", "sentences")

    def __init__(self, settings: SegmenterSettings | None = None) -> None:
        super().__init__(settings)
        self.boundaries: BoundaryModel | None = None
        self.multiwords = Multiwords({}, [], 0, None)

    def fit(self, train: Iterable[Doc], dev: Iterable[Doc] | None = None) -> dict[str, Any]:
        """Train on documents with tokens and sentences; offsets tell where whitespace is.

        The score added to sentence ends is tuned on the dev data or, without dev data, on the last tenth of the
        training data with a model trained on the rest.
        """
        watch = Stopwatch()
        docs = [doc for doc in train if doc.n_words and doc.n_sentences]
        if not docs:
            raise DataError("there is nothing to train on: the documents have no words in sentences")
        held_out = None if dev is None else [doc for doc in dev if doc.n_words and doc.n_sentences]
        if held_out is not None and not held_out:
            raise DataError("the dev set has no words")
        self.boundaries, trained = self._train(docs)
        if self.settings.bias:
            self._choose_bias(docs, held_out)
        if self.settings.multiwords:
            self.multiwords = Multiwords.learn(_splits(docs))
        report: dict[str, Any] = {
            "training": {
                "sentences": sum(doc.n_sentences for doc in docs),
                "words": sum(doc.n_words for doc in docs),
                "candidates": trained.candidates,
                "features": trained.features,
                "known tokens": len(self.boundaries.entries),
                "scripts of multiword tokens": len(self.multiwords.scripts),
                "sentence bias": self.boundaries.bias,
                "iterations": 0 if trained.result is None else trained.result.iterations,
                "stopped": "nothing to decide" if trained.result is None else trained.result.why,
                **watch.seconds(),
            }
        }
        if held_out is not None:
            report["scores"] = self._scores(held_out)
        return report

    def _train(self, docs: Sequence[Doc]) -> tuple[BoundaryModel, Trained]:
        chosen = self.settings
        laid_out = with_line_ends(docs, chosen.line_ends, chosen.seed)
        return train(
            laid_out, sigma=chosen.sigma, iterations=chosen.iterations, min_count=chosen.min_count,
            precision=chosen.precision, prune=chosen.prune, workers=chosen.workers,
        )  # fmt: skip

    def _choose_bias(self, docs: Sequence[Doc], held_out: Sequence[Doc] | None) -> None:
        assert self.boundaries is not None
        if held_out is not None:
            tune_bias(self.boundaries, held_out)
            return
        kept, last = _without_last_tenth(docs)
        if kept and last:
            trial, _ = self._train(kept)
            tune_bias(trial, last)
            self.boundaries.bias = trial.bias

    def _scores(self, docs: Sequence[Doc]) -> dict[str, float]:
        from weft.evaluate.trees.ud import evaluate_ud

        raw = [Doc(doc.text) for doc in docs]
        self(raw)
        scores = evaluate_ud(docs, raw).scores
        return {f"dev {name.lower()}": scores[name].f1 for name in ("Words", "Tokens", "Sentences")}

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        self.trained(self.boundaries)
        for group, text in _groups(docs):
            self._write(group, text, self.tokens(text, asked.probabilities))

    def tokens(self, text: str, probabilities: bool = False) -> Tokens:
        """The tokens of a text, predicted window by window; with `probabilities`, also the probability of each end."""
        if len(text) <= WINDOW:
            return self._window(text, probabilities)
        parts: list[Tokens] = []
        begin = 0
        while True:
            window = self._window(text[begin : begin + WINDOW], probabilities)
            last = begin + WINDOW >= len(text)
            count = len(window.end) if last else _settled(window)
            parts.append(_shifted(window, count, begin))
            if last:
                break
            # A window of whitespace has no tokens.
            begin += int(window.end[count - 1]) if count else WINDOW
        confidence = None
        if probabilities:
            confidence = np.concatenate([part.confidence for part in parts if part.confidence is not None])
        start, end, final = (np.concatenate([part[column] for part in parts]) for column in range(3))
        return Tokens(start, end, final, confidence)

    def _window(self, text: str, probabilities: bool) -> Tokens:
        assert self.boundaries is not None
        scored = self.boundaries.scored(text)
        labels = self.boundaries.decode(scored)
        squeezed = scored.text
        ends = np.flatnonzero(labels)
        starts = np.zeros(len(ends), dtype=np.int64)
        starts[1:] = ends[:-1] + 1
        starts[1:] += squeezed.classes[starts[1:]] <= PARAGRAPH
        confidence = None
        if probabilities:
            confidence = self.boundaries.confidence(scored, labels)[ends].astype(np.float32)
        return Tokens(squeezed.origin[starts], squeezed.origin[ends] + 1, labels[ends] == SENTENCE, confidence)

    def _write(self, docs: Sequence[Doc], text: str, tokens: Tokens) -> None:
        """Write the tokens of a joined text into its documents."""
        lengths = np.array([len(doc.text) for doc in docs], dtype=np.int64)
        begins = np.cumsum(lengths + 1) - lengths - 1  # of documents, in characters
        bounds = np.concatenate([[0], np.searchsorted(tokens.start, begins + lengths)])
        counts = np.diff(bounds)
        final = tokens.final.copy()
        final[bounds[1:][counts > 0] - 1] = True
        # Strings are processed once per type, because this holds Python's global lock.
        kinds, firsts = types_of(code_points(text), tokens.start, tokens.end)
        spans = zip(tokens.start[firsts].tolist(), tokens.end[firsts].tolist(), strict=True)
        types = [text[start:end] for start, end in spans]
        split = {} if self.multiwords.empty else self.multiwords.split_types(types, kinds, bounds.tolist())
        sizes = np.ones(len(kinds), dtype=np.int64)
        sizes[list(split)] = [len(parts) for parts in split.values()]
        word_ends = np.cumsum(sizes)
        word_bounds = np.concatenate([[0], word_ends])[bounds]
        shift = np.repeat(begins, counts)
        starts, ends = (tokens.start - shift).astype(np.int32), (tokens.end - shift).astype(np.int32)
        owners = np.arange(len(kinds), dtype=np.int32) - np.repeat(bounds[:-1], counts).astype(np.int32)
        lasts = np.flatnonzero(final)
        sentences, sentence_bounds = _offsets(word_ends[lasts], np.searchsorted(lasts, bounds), word_bounds)
        confidence, ids = tokens.confidence, _ids(docs, types, kinds, bounds)
        if split:
            owners = np.repeat(owners, sizes)
            confidence = None if confidence is None else np.repeat(confidence, sizes)
            ids = _with_parts(docs, ids, split, bounds, sizes, word_ends)
        own_tokens, own_words, own_sentences = (
            list(pairwise(array.tolist())) for array in (bounds, word_bounds, sentence_bounds)
        )
        for doc, (a, b), (first, end), (c, d) in zip(docs, own_tokens, own_words, own_sentences, strict=True):
            doc.token_start, doc.token_end = starts[a:b], ends[a:b]
            doc.word_token, doc.columns, doc.head, doc.multiwords = (
                owners[first:end],
                {"form": ids[first:end]},
                None,
                [],
            )
            doc.set_sentences(sentences[c:d])
            if confidence is not None:
                doc.confidence["form"] = confidence[first:end]
        from_doc = np.searchsorted(bounds, list(split), side="right") - 1
        for doc_number, (token, parts) in zip(from_doc.tolist(), split.items(), strict=True):
            end = int(word_ends[token] - word_bounds[doc_number])
            fields = (types[kinds[token]], *[""] * 8)
            docs[doc_number].multiwords.append(Multiword(end - len(parts), end, fields))

    def state(self) -> State:
        header, arrays = self.trained(self.boundaries).state()
        words, arrays_of_words = self.multiwords.state()
        arrays |= {f"multiwords/{name}": array for name, array in arrays_of_words.items()}
        return {"settings": self.saved_settings(), "boundaries": header, "multiwords": words}, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> Self:
        component = cls(SegmenterSettings.from_saved(header["settings"]))
        Record(boundaries=Table(), multiwords=Table()).check(header)
        stored = Stored.of(arrays)
        component.boundaries = BoundaryModel.from_state(header["boundaries"], stored)
        component.multiwords = Multiwords.from_state(header["multiwords"], stored.under("multiwords/"))
        return component


def _groups(docs: Sequence[Doc]) -> Iterator[tuple[list[Doc], str]]:
    """Groups of documents that fit into a window, longer documents alone, with their joined texts."""
    group: list[Doc] = []
    size = 0
    for doc in docs:
        if group and size + len(doc.text) >= WINDOW:
            yield group, _GLUE.join(each.text for each in group)
            group, size = [], 0
        group.append(doc)
        size += len(doc.text) + 1
    if group:
        yield group, _GLUE.join(each.text for each in group)


def _offsets(
    ends: NDArray[np.int64], bounds: NDArray[np.int64], begins: NDArray[np.int64]
) -> tuple[Ids, NDArray[np.int64]]:
    """Sentence offsets of all documents, starting with a 0 for each, and the range of each document among them.

    `ends` are the ends of sentences; document i has `bounds[i]` to `bounds[i + 1]` of them and starts at `begins[i]`.

    >>> _offsets(np.array([2, 5, 9]), np.array([0, 2, 2, 3]), np.array([0, 5, 5, 9]))[0].tolist()
    [0, 2, 5, 0, 0, 4]
    """
    counts = np.diff(bounds)
    offsets = np.zeros(len(ends) + len(counts), dtype=np.int32)
    document = np.repeat(np.arange(len(counts)), counts)
    offsets[np.arange(len(ends)) + document + 1] = ends - begins[document]
    return offsets, bounds + np.arange(len(bounds))


def _ids(docs: Sequence[Doc], types: list[str], kinds: Ids, bounds: NDArray[np.int64]) -> Ids:
    """The string ids of tokens, in the string table of their document."""
    parts, first = [], 0
    for table, run in groupby(range(len(docs)), key=lambda i: docs[i].strings):
        end = int(bounds[list(run)[-1] + 1])
        document_kinds = kinds[first:end]
        used = np.arange(len(types)) if end - first == len(kinds) else np.unique(document_kinds)
        numbers = np.zeros(len(types), dtype=np.int32)
        numbers[used] = table.ids([types[kind] for kind in used.tolist()])
        parts.append(numbers[document_kinds])
        first = end
    return np.concatenate(parts)


def _with_parts(
    docs: Sequence[Doc],
    ids: Ids,
    found: Mapping[int, Words],
    bounds: NDArray[np.int64],
    sizes: NDArray[np.int64],
    word_ends: NDArray[np.int64],
) -> Ids:
    """The string ids of words, given those of tokens and the words of multiword tokens."""
    ids = np.repeat(ids, sizes)
    from_doc = np.searchsorted(bounds, list(found), side="right") - 1
    for doc_number, (token, parts) in zip(from_doc.tolist(), found.items(), strict=True):
        end = int(word_ends[token])
        ids[end - len(parts) : end] = [docs[doc_number].strings[part] for part in parts]
    return ids


def _settled(found: Tokens) -> int:
    """How many tokens to keep of a window that is not the last: up to the last sentence end in its second half, else up
    to the last token before its margin, else all of them."""
    inside = int(np.searchsorted(found.end, WINDOW - MARGIN, side="right"))
    sentences = np.flatnonzero(found.final[:inside])
    if len(sentences) and found.end[sentences[-1]] > WINDOW // 2:
        return int(sentences[-1]) + 1
    return inside or len(found.end)


def _shifted(tokens: Tokens, count: int, shift: int) -> Tokens:
    """The first tokens, shifted; the end of a window is not necessarily the end of a sentence."""
    confidence = None if tokens.confidence is None else tokens.confidence[:count]
    moved = np.int32(shift)
    return Tokens(tokens.start[:count] + moved, tokens.end[:count] + moved, tokens.final[:count], confidence)


def _without_last_tenth(docs: Sequence[Doc]) -> tuple[list[Doc], list[Doc]]:
    """The documents without the last tenth of their sentences, and that tenth."""
    wanted = sum(doc.n_sentences for doc in docs) // 10
    kept, last = list(docs), list[Doc]()
    while wanted > 0 and kept:
        doc = kept.pop()
        cut = max(0, doc.n_sentences - wanted)
        if cut:
            kept.append(doc.subset(range(cut)))
            doc = doc.subset(range(cut, doc.n_sentences))
        last.append(doc)
        wanted -= doc.n_sentences
    return kept, last


def _splits(docs: Sequence[Doc]) -> Iterator[tuple[list[str], list[Split]]]:
    """The tokens of documents, and the words of multiword tokens."""
    for doc in docs:
        text = doc.text
        bounds = zip(doc.token_start.tolist(), doc.token_end.tolist(), strict=True)
        tokens = [text[start:end] for start, end in bounds]
        splits: list[Split] = [None] * len(tokens)
        forms = doc.column("form")
        for multiword in doc.multiwords:
            splits[int(doc.word_token[multiword.first])] = tuple(forms[multiword.first : multiword.end])
        yield tokens, splits
