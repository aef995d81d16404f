"""Generated notes with exact timelines: a sampled order of dates, and what happened on each, told in sections.

Every sentence is made from a pattern whose events, times and links are known, so that DocTimeRel and containers are
gold by construction. The register `news` tells of companies in the same way, for tests of transfer.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

import numpy as np

from weft.text.conventions.timeline import LAYER
from weft.text.doc import Doc
from weft.text.layers import RelationLayer, SpanLayer
from weft.text.split import split_by_rule

_WORDS = {
    "procedure": "colonoscopy surgery biopsy resection MRI EKG endoscopy transfusion colectomy ultrasound mammogram "
    "angiography dialysis intubation chemotherapy radiotherapy",
    "symptom": "pain fever nausea bleeding tachycardia dizziness vomiting cough fatigue swelling rash chills dyspnea "
    "weakness headache constipation",
    "disorder": "hypertension diabetes anemia asthma arthritis hypothyroidism gout migraine osteoporosis psoriasis",
    "drug": "aspirin metformin lisinopril warfarin omeprazole prednisone furosemide insulin atorvastatin levothyroxine",
    "often": "daily weekly nightly hourly monthly",
    "pre": "preoperatively preop",
    "post": "postoperatively postop",
    "deed": "announced bought sold closed opened merged launched cut raised delayed settled acquired",
    "thing": "plant contract stake factory network store bank fund office mine refinery shipyard",
    "firm": "Alder Birch Cedar Dalton Elmsford Fairmont Granger Hollis Ivory Juniper",
}
WORDS = {kind: words.split() for kind, words in _WORDS.items()}
#: Patterns: `<kind:attributes>` marks a mention, `name=` names it; links follow after the bar.
#: A date is `date` (in the past), `then` (the same date again) or `later` (in the future); `pre` and `post` are spans
#: that a procedure borders, linked to it where it is named.
CLINICAL = {
    "HISTORY OF PRESENT ILLNESS:": (
        "On {t=date} the patient underwent {a=procedure B}. | t CONTAINS a",
        "On {t=date} she had {a=procedure B} and {b=procedure B}. | t CONTAINS a; t CONTAINS b",
        "On {t=date} she underwent {a=procedure B}. During the {c=same a B} she experienced {b=symptom B}. "
        "| t CONTAINS a; t CONTAINS c; c CONTAINS b",
        "She has had {a=disorder BO} since {t=date}. | t BEGINS-ON a",
        "She denied {a=symptom B NEG}. |",
        "Before the {a=procedure B} she had {b=symptom B}. | b BEFORE a",
        "{t=pre} she had {a=symptom B}. | t CONTAINS a",
        "She underwent {a=procedure B} and {t=post} had {b=symptom B}. | a BEFORE t; t CONTAINS b",
    ),
    "MEDICATIONS:": ("{a=drug O} {t=often}. | a OVERLAP t", "{a=drug O}. |"),
    "PHYSICAL EXAMINATION:": (
        "{a=symptom O} was noted. |",
        "No {a=symptom O NEG}. |",
        "Possible {a=disorder O HEDGED}. |",
    ),
    "ONGOING CARE ORDERS:": (
        "{a=procedure A} on {t=later}. | t CONTAINS a",
        "If {a=symptom A HYPOTHETICAL} recurs, {b=procedure A HYPOTHETICAL}. |",
        "{a=drug A} {t=often}. | a OVERLAP t",
    ),
}
NEWS = {
    "": (
        "{!firm} {a=deed B} its {!thing} on {t=date}. | t CONTAINS a",
        "{!firm} said it {a=deed B} a {!thing}. |",
        "On {t=later} {!firm} will {a=base A} the {!thing}. | t CONTAINS a",
        "The {!thing} was {a=deed B} before {!firm} {b=deed B} another {!thing}. | a BEFORE b",
    )
}
_RELATIONS = {"B": "BEFORE", "BO": "BEFORE/OVERLAP", "O": "OVERLAP", "A": "AFTER"}


def notes(count: int, seed: int = 0, register: str = "clinical", sentences: int = 4) -> list[Doc]:
    """Notes with events, times and links; `sentences` of them per section at most.

    >>> doc = notes(1, seed=3)[0]
    >>> doc.meta["date"][:2], sorted({span.label for span in doc.span_views("timeline")})
    ('20', ['EVENT', 'TIMEX3'])
    >>> doc.timeline().consistent
    True
    """
    random = np.random.default_rng(seed)
    return [_note(random, register, sentences, f"{register}-{number:04d}") for number in range(count)]


def _note(random: np.random.Generator, register: str, sentences: int, name: str) -> Doc:
    today = date(2010, 1, 1) + timedelta(days=int(random.integers(0, 4000)))
    parts: list[str] = []
    length = 0
    found: list[tuple[int, int, str, dict[str, str]]] = []
    links: list[tuple[int, str, int]] = []

    def say(text: str) -> None:
        nonlocal length
        parts.append(text)
        length += len(text)

    for title, patterns in (CLINICAL if register == "clinical" else NEWS).items():
        say(f"{title}\n" if title else "")
        for _ in range(int(random.integers(1, sentences + 1))):
            pattern, _, wanted = str(random.choice(np.array(patterns, dtype=object))).partition("|")
            names: dict[str, int] = {}
            texts: dict[str, str] = {}
            for number, piece in enumerate(_pieces(pattern.strip())):
                word, key, kind, attributes = _filled(piece, random, today, texts)
                word = word[:1].upper() + word[1:] if number == 0 else word
                if kind:
                    names[key] = len(found)
                    found.append((length, length + len(word), kind, attributes))
                say(word)
            for link in filter(None, (each.split() for each in wanted.split(";"))):
                links.append((names[link[0]], link[1], names[link[2]]))
            say("\n")
        say("\n")
    doc = Doc("".join(parts), meta={"id": name, "date": today.isoformat()})
    split_by_rule(doc)
    spans = doc.spans[LAYER] = SpanLayer(doc.strings, "chars")
    relations = doc.relations[LAYER] = RelationLayer(doc.strings, LAYER)
    for start, end, kind, attributes in found:
        spans.add([(start, end)], kind, **attributes)
    for first, relation, second in links:
        relations.add(first, second, relation)
    return doc


def _pieces(pattern: str) -> Iterator[str]:
    """Text and gaps, which keep their braces."""
    for k, part in enumerate(pattern.replace("}", "{").split("{")):
        if part:
            yield f"{{{part}}}" if k % 2 else part


def _filled(
    piece: str, random: np.random.Generator, today: date, texts: dict[str, str]
) -> tuple[str, str, str, dict[str, str]]:
    """The text of a piece, its name, its kind ("" for plain text) and its attributes."""
    if not piece.startswith("{"):
        return piece, "", "", {}
    gap = piece[1:-1]
    if gap.startswith("!"):
        return str(random.choice(WORDS[gap[1:]])), "", "", {}
    key, _, rest = gap.partition("=")
    kind, *marks = rest.split()
    if kind in ("date", "later"):
        days = int(random.integers(2, 900)) * (1 if kind == "later" else -1)
        day = today + timedelta(days=days)
        return f"{day:%B} {day.day}, {day.year}", key, "TIMEX3", {"Class": "DATE", "value": day.isoformat()}
    if kind == "often":
        return str(random.choice(WORDS[kind])), key, "TIMEX3", {"Class": "SET"}
    if kind in ("pre", "post"):
        return str(random.choice(WORDS[kind])), key, "TIMEX3", {"Class": "PREPOSTEXP"}
    if kind == "same":
        word = texts[marks.pop(0)]
    elif kind == "base":
        word = str(random.choice(["announce", "buy", "sell", "close", "open", "merge", "launch", "settle"]))
    else:
        word = str(random.choice(WORDS[kind]))
    texts[key] = word
    modality = next((mark for mark in marks if mark in ("HEDGED", "HYPOTHETICAL", "GENERIC")), "ACTUAL")
    attributes = {
        "DocTimeRel": _RELATIONS[marks[0]],
        "ContextualModality": modality,
        "Polarity": "NEG" if "NEG" in marks else "POS",
    }
    return word, key, "EVENT", attributes
