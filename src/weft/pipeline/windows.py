"""Sentences that are too long for a component, annotated in windows.

A component says how long sentences may be (`Component.longest`), and its work says before it takes memory if a sentence
turns out to be too large (`weft.budget`). Such sentences are cut into windows (`weft.text.windows`): all of the longest
allowed length, or half as long as what was too large, until they fit. `doc.meta["windows"]` says so in words, by task.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from weft.budget import TooLarge, limited
from weft.deadline import check
from weft.text.doc import Doc
from weft.text.windows import Windows, in_windows, join_windows

if TYPE_CHECKING:
    from weft.pipeline.component import Asked, Component

#: The name of the note in `doc.meta`.
KEY = "windows"
#: Windows are never cut further.
SHORTEST = 4


def annotate_within_limits(component: Component, docs: Sequence[Doc], asked: Asked) -> None:
    """Annotate documents in place; sentences that are too long for the component, or too large, in windows."""
    longest = component.longest(asked)
    check()
    long = [doc for doc in docs if longest and _longest(doc) > longest]
    whole = [doc for doc in docs if not any(doc is other for other in long)] if long else docs
    with limited():
        if whole:
            try:
                component.annotate(whole, asked)
            except TooLarge:
                long = list(docs)
        for doc in long:
            check()
            _annotate_in_windows(component, doc, asked, longest or _longest(doc))


def _longest(doc: Doc) -> int:
    return int(np.diff(doc.sentence_offsets).max(initial=0))


def _annotate_in_windows(component: Component, doc: Doc, asked: Asked, longest: int) -> None:
    size = longest
    while True:
        windows = in_windows(doc, longest, size, component.head_key)
        try:
            component.annotate([windows.doc if len(windows.cut) else doc], asked)
            break
        except TooLarge as error:
            if error.words <= SHORTEST:
                raise
            check()
            longest, size = error.words - 1, error.words // 2
    if len(windows.cut):
        join_windows(doc, windows)
        _note(component.task, doc, windows)


def _note(task: str, doc: Doc, windows: Windows) -> None:
    sentences = windows.cut
    words = int(np.diff(doc.sentence_offsets)[sentences].max())
    size = int(np.diff(windows.doc.sentence_offsets)[np.isin(windows.sentence, sentences)].max())
    if len(sentences) == 1:
        text = f"1 sentence of {words:,} words was annotated in windows of at most {size:,}"
    else:
        text = f"{len(sentences):,} sentences of up to {words:,} words were annotated in windows of at most {size:,}"
    doc.meta[KEY] = {**doc.meta.get(KEY, {}), task: text}
