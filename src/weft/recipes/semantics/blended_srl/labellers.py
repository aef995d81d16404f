"""The committee of role labellers: machines in many and in few bins, the joint labeller, and their vote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from weft.arrays import Floats
from weft.evaluate.semantics.frames import FrameReport, evaluate_frames
from weft.tasks.roles.bins import BinnedLabeller, BinSettings, without_frames
from weft.tasks.roles.joint import JointLabeller, JointSettings
from weft.tasks.roles.votes import repeated_labels, vote_documents, without_repetitions
from weft.text.doc import Doc
from weft.text.frames import FrameRow, frame_rows, set_frames

MANY, FEW, JOINT, VOTE = "pipeline, many bins", "pipeline, few bins", "joint", "vote of three"


@dataclass
class Labellers:
    """The three labellers, trained on gold trees and predicates."""

    many: BinnedLabeller
    few: BinnedLabeller
    joint: JointLabeller
    docs: dict[str, list[Doc]] = field(default_factory=dict)

    @classmethod
    def train(cls, docs: Sequence[Doc], lexicon: Sequence[tuple[str, str]], epochs: int, seed: int = 0) -> Labellers:
        """Train all; predicates whose lemma is in no lexicon and not in training are taken back."""
        many, few = (BinnedLabeller(BinSettings(bins=bins)) for bins in ("many", "few"))
        for labeller in (many, few):
            labeller.fit(docs)
            if lexicon:
                labeller.restrict(lexicon, docs)
        joint = JointLabeller(JointSettings(epochs=epochs, seed=seed))
        joint.fit(docs)
        return cls(many, few, joint)

    def label(self, trees: Sequence[Doc]) -> dict[str, list[Doc]]:
        """Documents with the frames of every labeller, and of the vote; predicates are hidden from all.

        The joint labeller gets the predicates that the labeller with few bins finds.
        """
        found: dict[str, list[Doc]] = {}
        for name, labeller in ((MANY, self.many), (FEW, self.few)):
            found[name] = [without_frames(doc) for doc in trees]
            labeller(found[name])
        found[JOINT] = []
        for doc in found[FEW]:
            copy = doc.subset(range(doc.n_sentences))
            set_frames(copy, [frame._replace(roles=()) for frame in frame_rows(doc)])
            found[JOINT].append(copy)
        self.joint(found[JOINT])
        found[VOTE] = vote_documents([found[MANY], found[FEW], found[JOINT]])
        return found

    def joint_parses(self, docs: Sequence[Doc]) -> tuple[list[Doc], Floats]:
        """The merged parses of the joint labeller for documents with predicates, and the confidence of every word."""
        parses, sure = [], [np.zeros(0)]
        for doc in docs:
            copy = doc.subset(range(doc.n_sentences))
            if doc.n_words:
                _, heads, relations, confidences = self.joint.parse(doc)
                copy.head = heads
                copy.set_column("deprel", relations)
                sure.append(confidences)
            parses.append(copy)
        return parses, np.concatenate(sure)


def scored(gold: Sequence[Doc], system: Sequence[Doc]) -> FrameReport:
    """Semantic dependencies, as in the shared task; arguments stand at their heads in gold trees."""
    return evaluate_frames(gold, system)


def rows_of(docs: Sequence[Doc]) -> list[FrameRow]:
    return [frame for doc in docs for frame in frame_rows(doc)]


def repeated(docs: Sequence[Doc]) -> float:
    """The percentage of frames that have a core label twice."""
    twice, frames = repeated_labels(rows_of(docs))
    return 100 * twice / max(frames, 1)


def repaired(docs: Sequence[Doc]) -> list[Doc]:
    """Documents whose frames have each core label once."""
    found = []
    for doc in docs:
        copy = doc.subset(range(doc.n_sentences))
        set_frames(copy, without_repetitions(frame_rows(doc)))
        found.append(copy)
    return found
