"""Frames in the MISC column of CoNLL-U: `Frame=give.01` and `Roles=A0:1,A1:3-4` at the predicate.

Numbers are those of words in the sentence; an argument of several words is a range. A frame without a known sense is
`Frame=_`. Reading a file that has them gives the layer back (`weft.formats.roles`).
"""

from __future__ import annotations

from itertools import pairwise

from weft.errors import WeftError
from weft.text.conventions.misc_spans import set_attribute
from weft.text.doc import Doc
from weft.text.frames import LAYER, frame_rows, frames_by_sentence


def misc_of_frames(doc: Doc, layer: str = LAYER) -> None:
    """Write frames into the MISC column, in place of those that stand there.

    >>> from weft.text.frames import FrameRow, Role, set_frames
    >>> doc = Doc.from_words([["Dogs", "bark"]])
    >>> set_frames(doc, [FrameRow(1, "bark.01", (Role("A0", 0, 1),))])
    >>> misc_of_frames(doc)
    >>> doc.column("misc")
    ['', 'Frame=bark.01|Roles=A0:1']
    """
    senses: dict[int, str] = {}
    roles: dict[int, str] = {}
    bounds = pairwise(doc.sentence_offsets.tolist())
    for (first, end), frames in zip(bounds, frames_by_sentence(doc, frame_rows(doc, layer)), strict=True):
        for frame in frames:
            if frame.predicate in senses:
                raise WeftError(f"{doc!r} has a word with two frames, which MISC cannot represent; write JSON Lines")
            if any(not first <= role.start < role.end <= end for role in frame.roles):
                raise WeftError(f"{doc!r} has a frame with an argument in another sentence; write JSON Lines")
            senses[frame.predicate] = frame.sense or "_"
            roles[frame.predicate] = ",".join(
                f"{label}:{start - first + 1}" + (f"-{stop - first}" if stop - start > 1 else "")
                for label, start, stop in frame.roles
            )
    set_attribute(doc, "Frame", senses)
    set_attribute(doc, "Roles", roles)
