"""Conversations that stand in for the paper's support group: chat rooms, support chats and negotiations.

| corpus | instance | POS | NEG |
|---|---|---|---|
| NPS | ten posts of a user in a session | accepting, or answering yes | rejecting, or answering no (wins) |
| ESConv | supporter's lines in ten turns | self-disclosure | giving information |
| CaSiNo | all lines of a speaker | showing empathy | undervaluing the partner |
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator, Mapping
from pathlib import Path

from weft.tasks.phenomena.instances import Instance, instances_of
from weft.text.conventions.conversations import Turn, set_turns
from weft.text.doc import Doc

#: The files of the corpora.
FILES = {
    "NPS": "dialogue/nps-chat/posts.tsv.gz",
    "ESConv": "dialogue/esconv/conversations.tsv.gz",
    "CaSiNo": "dialogue/casino/annotated.tsv.gz",
}
LABELS = ("NA", "NEG", "POS")
_ORDER = {"NEG": 0, "POS": 1, "NA": 2}
_NPS = {"Accept": "POS", "yAnswer": "POS", "Reject": "NEG", "nAnswer": "NEG"}
_ESCONV = {"Self-disclosure": "POS", "Information": "NEG"}
_CASINO = {"showing-empathy": "POS", "uv-part": "NEG"}


def read_chats(corpus: str, path: Path) -> list[Instance]:
    """The instances of a corpus."""
    if corpus == "NPS":
        return instances_of(_docs(_rows(path), "session", "user", "act", _NPS, skip="System"), 10, _ORDER)
    if corpus == "ESConv":
        return instances_of(_windows(_rows(path)), 0, _ORDER)
    return instances_of(_docs(_rows(path), "dialogue", "speaker", "strategies", _CASINO, skip="_"), 0, _ORDER)


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)


def _docs(
    rows: Iterator[dict[str, str]], conversation: str, speaker: str, act: str, labels: Mapping[str, str], skip: str
) -> Iterator[Doc]:
    found: dict[str, list[Turn]] = {}
    for row in rows:
        acts = row[act].split(",")
        if acts == [skip]:
            continue
        own = [labels[each.strip()] for each in acts if each.strip() in labels]
        label = min(own, key=_ORDER.__getitem__) if own else "NA"
        found.setdefault(row[conversation], []).append(Turn(row[speaker], row["text"], "", label))
    yield from map(_doc, found.items())


def _windows(rows: Iterator[dict[str, str]]) -> Iterator[Doc]:
    """Supporter lines, with a thread for every ten turns of the conversation."""
    found: dict[str, list[Turn]] = {}
    for row in rows:
        if row["speaker"] == "supporter":
            label = _ESCONV.get(row["strategy"], "NA")
            thread = str(int(row["line"]) // 10)
            found.setdefault(row["conversation"], []).append(Turn("supporter", row["text"], thread, label))
    yield from map(_doc, found.items())


def _doc(named: tuple[str, list[Turn]]) -> Doc:
    doc = Doc("", meta={"id": named[0]})
    set_turns(doc, named[1])
    return doc
