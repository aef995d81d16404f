"""A tagger trained for recall: k-best MIRA whose margin is a loss over mentions.

    w <- argmin ||w' - w||^2   with   w'.[f(x, y(x)) - f(x, y)] >= a * false alarms(y) + b * misses(y)

for the k best y of the sentence under w. The loss counts mentions, not words, and accepts alternative boundaries; the
higher b / a, the more is proposed. `propose` unites the mentions in the k best labellings of several taggers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.annotate.mentions import Mention, MentionLoss, Proposal, Reference, references_of, right_sets
from weft.errors import ConfigError
from weft.learn.chains.model import ChainBatch
from weft.learn.online.demands import BeatGold, Demand
from weft.learn.training import Checkpoint, EarlyStopping, Result
from weft.pipeline.settings import option
from weft.tasks.labelling.chain_data import ChainData
from weft.tasks.labelling.labeller import LabellerSettings
from weft.tasks.spans.chunker import Chunker, ChunkerSettings
from weft.text.doc import Doc
from weft.text.schemes import decode, encode

#: Words, spelling and letter groups; `m` contains the marks of a word (see `marks`).
FEATURES = (
    "true w[-2..2] w[-1..1].lower w[0].prefix2..4 w[0].suffix2..4 w[-1..1].shape w[-1..1].brief w[0].length m[0] "
    "w[-1].lower|w[0].lower w[0].lower|w[1].lower y[-1] y[-1]|w[0] y[-1]|w[0].brief"
)
_GREEK = re.compile(r"alpha|beta|gamma|delta|epsilon|zeta|theta|kappa|lambda|sigma|omega|[α-ω]", re.IGNORECASE)
_ROMAN = re.compile(r"^[IVX]+$")
_TESTS = {
    "digit": re.compile(r"\d"),
    "hyphen": re.compile(r"-"),
    "slash": re.compile(r"/"),
    "greek": _GREEK,
    "roman": _ROMAN,
    "capitals": re.compile(r"^[^a-zA-Z]*[A-Z][^a-z]*$"),
    "mixed": re.compile(r"(?m)^[^a-z\n]*[a-z][^A-Z\n]*[A-Z]"),
}


def marks(form: str) -> str:
    """Marks of gene names: flags, and letter groups of 2 to 4, as one set for a column.

    >>> marks("IL-2")
    'digit|hyphen|capitals|~il|~il-|~il-2|~l-|~l-2|~-2'
    """
    flags = [name for name, test in _TESTS.items() if test.search(form)]
    lower = form.lower().replace("|", "!")
    groups = {lower[i : i + n]: None for i in range(len(lower)) for n in (2, 3, 4) if i + n <= len(lower)}
    return "|".join([*flags, *(f"~{group}" for group in groups)])


@dataclass
class ProposerSettings(ChunkerSettings):
    """Settings of a proposer."""

    layer: str = option("entities", "Span layer to learn and to write.")
    learner: str = "mira"
    alternatives: str = option(
        "alternatives", "Span layer with other boundaries that count as correct.", metavar="LAYER"
    )
    miss: float = option(1.0, "Cost of a missed mention.")
    false_alarm: float = option(1.0, "Cost of a wrong mention.")
    target: str = option(
        "gold",
        "What must score highest: the gold labelling, or the best correct one.",
        choices=("gold", "best"),
        flag="--update-to",
    )
    epochs: int = 5
    calibrate: bool = option(False, "Fit the temperature of the probabilities, which favour recall here.")

    def check(self) -> None:
        super().check()
        if self.learner != "mira":
            raise ConfigError(f"a proposer is trained by mira, got learner={self.learner!r}; see `weft train chunker`")
        if self.target not in ("gold", "best"):
            raise ConfigError(f"target must be gold or best, got {self.target!r}")
        if self.miss < 0 or self.false_alarm < 0 or self.miss + self.false_alarm == 0:
            raise ConfigError(
                f"miss and false_alarm must be at least 0 and not both 0, got {self.miss}, {self.false_alarm}"
            )


@dataclass(frozen=True)
class MentionBatch(ChainBatch):
    """One sentence with its references; `names` and `scheme` decode label numbers."""

    references: tuple[Reference, ...] = ()
    names: tuple[str, ...] = ()
    scheme: str = "IOB2"

    def mentions(self, solution: NDArray[np.int32]) -> list[Mention]:
        """The mentions of a labelling."""
        return decode([self.names[state] for state in solution.tolist()], self.scheme, strict=False)


@dataclass(frozen=True)
class BeatReferences:
    """Gold, or the best-scoring correct labelling, ahead of the k best by the loss of their mentions."""

    loss: MentionLoss
    target: str = "gold"

    def __call__(self, structure: Any, batch: MentionBatch, k: int) -> Demand:
        if self.target == "best" and any(reference.alternatives for reference in batch.references):
            number = {name: i for i, name in enumerate(batch.names)}
            choices = [batch.gold]
            for mentions in right_sets(batch.references):
                labels = encode(mentions, batch.n_words, batch.scheme)
                if all(label in number for label in labels):
                    choices.append(np.array([number[label] for label in labels], dtype=np.int32))
            best = max(choices, key=lambda labelling: float(structure.score(labelling)[0]))
            batch = replace(batch, gold=best)
        return BeatGold(loss=self.loss)(structure, batch, k)


class Proposer(Chunker):
    """A chunker that prefers false alarms to misses.

    >>> from weft.text.layers import SpanLayer
    >>> doc = Doc.from_words([["StAR", "binds", "SREBP-1a"], ["It", "rose"]])
    >>> doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "GENE"), (2, 3, "GENE")])
    >>> proposer = Proposer(ProposerSettings(miss=5.0))
    >>> report = proposer.fit([doc])
    >>> new = Doc.from_words([["SREBP-2", "rose"]])
    >>> [(proposal.start, proposal.end) for proposal in propose([proposer], new, top=1)[0]]
    [(0, 1)]
    """

    task = "proposer"
    settings_class = ProposerSettings
    settings: ProposerSettings

    def __init__(self, settings: LabellerSettings | None = None) -> None:
        super().__init__(settings)
        if self.settings.order != 1:
            raise ConfigError("a proposer has order 1: its loss is defined on labels, not on label pairs")

    def default_features(self, docs: Sequence[Doc]) -> tuple[str, dict[str, str]]:
        tags = next((column for column in ("xpos", "upos") if all(doc.has(column) for doc in docs)), None)
        fields = {"w": "form", "m": "marks:set", **({"t": tags} if tags else {})}
        return FEATURES + (" t[-1..1]" if tags else ""), fields

    def observed(self, docs: Sequence[Doc], training: bool = False) -> Sequence[Doc]:
        return [_with_marks(doc) for doc in docs]

    def _required(self) -> tuple[str, ...]:
        return tuple(layer for layer in super()._required() if layer != "marks")

    def learn(self, data: ChainData, docs: Sequence[Doc], early: EarlyStopping | None) -> Result:
        from weft.learn import MIRA

        settings = self.settings
        references = [
            sentence for doc in docs for sentence in references_of(doc, settings.layer, settings.alternatives)
        ]
        names, scheme = tuple(data.model.space.labels), settings.scheme or "IOB2"
        batches = [
            MentionBatch(**vars(batch), references=tuple(sentence), names=names, scheme=scheme)
            for batch, sentence in zip(data.batch.batches(1), references, strict=True)
        ]
        demands = BeatReferences(MentionLoss(settings.miss, settings.false_alarm), settings.target)
        learner = MIRA(epochs=settings.epochs, k=settings.k, seed=settings.seed, demands=demands)
        checkpoint = Checkpoint(settings.checkpoint) if settings.checkpoint else None
        return learner.fit(data.model, batches, early=early, checkpoint=checkpoint)


def propose(taggers: Iterable[Chunker], doc: Doc, top: int = 2) -> list[list[Proposal]]:
    """For every sentence, the distinct mentions in the `top` best labellings of all taggers, in text order."""
    votes: list[dict[Mention, tuple[int, int]]] = [{} for _ in range(doc.n_sentences)]
    for tagger in taggers:
        scheme = tagger.settings.scheme or "IOB2"
        for number, labellings in enumerate(tagger.kbest(doc, top)):
            for rank, (labels, _) in enumerate(labellings, start=1):
                for mention in decode(labels, scheme, strict=False):
                    count, best = votes[number].get(mention, (0, rank))
                    votes[number][mention] = (count + 1, min(best, rank))
    return [
        [Proposal(*mention, count, rank) for mention, (count, rank) in sorted(sentence.items())] for sentence in votes
    ]


def _with_marks(doc: Doc) -> Doc:
    """A document over the same words with an additional column of marks."""
    types, inverse = np.unique(doc.columns["form"], return_inverse=True)
    ids = doc.strings.ids([marks(form) for form in doc.strings.strings(types)])
    shown = Doc(doc.text, doc.strings)
    shown.token_start, shown.token_end, shown.word_token = doc.token_start, doc.token_end, doc.word_token
    shown.sentence_offsets, shown.columns = doc.sentence_offsets, {**doc.columns, "marks": ids[inverse]}
    return shown
