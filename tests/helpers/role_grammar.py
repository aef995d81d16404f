"""Sentences of a small grammar with known role rules, for tests of role labelling.

    AGENT VERB (PATIENT) (to RECIPIENT) (with TOOL) (in PLACE) (TIME)

The subject of an active verb is A0, of a passive one A1; the object A1; `to` A2; `with` A3; place AM-LOC; time AM-TMP;
"not" AM-NEG. The sense of *serve* is serve.01 with a recipient and serve.02 ("serve in the army") without an object;
that of *cut* is cut.01 with an object, cut.02 without. *Gift* and *delivery* are nominal predicates: the `of` phrase is
A1, the possessive A0.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from weft.text.doc import Doc
from weft.text.frames import FrameRow, Role, set_frames

AGENTS = ("cook", "baker", "guest", "waiter", "child", "gardener", "doctor", "student")
PATIENTS = ("bread", "soup", "cake", "apple", "cheese", "letter", "onion", "parcel")
VERBS = {"serve": ("serves", "served"), "cut": ("cuts", "cut"), "send": ("sends", "sent"), "eat": ("eats", "eaten"),
         "bring": ("brings", "brought")}  # fmt: skip
TOOLS, PLACES, TIMES = ("knife", "spoon", "hand"), ("kitchen", "garden", "army", "market"), ("today", "often", "early")
NOUNS = {"gift": "gift.01", "delivery": "delivery.01"}


@dataclass
class _Words:
    """A sentence under construction: rows of form, lemma, tag, head (a row), relation."""

    rows: list[list[object]] = field(default_factory=list)

    def add(self, form: str, lemma: str, tag: str, relation: str, feats: str = "") -> int:
        self.rows.append([form, lemma, tag, -1, relation, feats])
        return len(self.rows) - 1

    def noun(self, noun: str, relation: str, case: str = "") -> int:
        case_word = self.add(case, case, "ADP", "case") if case else -1
        determiner = self.add("the", "the", "DET", "det")
        place = self.add(noun, noun, "NOUN", relation, "Number=Sing")
        for word in (case_word, determiner):
            if word >= 0:
                self.rows[word][3] = place
        return place


def sentences(count: int, seed: int = 0) -> Doc:
    """A document of so many sentences with trees and frames.

    >>> doc = sentences(2)
    >>> doc.n_sentences, len(doc.frames) >= 2
    (2, True)
    """
    rng = random.Random(seed)
    made = [_sentence(rng) for _ in range(count)]
    columns = {
        name: [[row[at] for row in words.rows] for words, _ in made]
        for at, name in ((1, "lemma"), (2, "upos"), (4, "deprel"), (5, "feats"))
    }
    forms = [[str(row[0]) for row in words.rows] for words, _ in made]
    heads = [[int(str(row[3])) + 1 for row in words.rows] for words, _ in made]
    doc = Doc.from_words(forms, head=heads, **columns)
    frames = []
    for (_, own), first in zip(made, doc.sentence_offsets.tolist(), strict=False):
        for predicate, sense, roles in own:
            ordered = sorted(roles, key=lambda role: role[1])
            placed = tuple(Role(label, first + word, first + word + 1) for label, word in ordered)
            frames.append(FrameRow(first + predicate, sense, placed))
    set_frames(doc, frames)
    return doc


def _sentence(rng: random.Random) -> tuple[_Words, list[tuple[int, str, list[tuple[str, int]]]]]:
    words = _Words()
    roles: list[tuple[str, int]] = []
    verb = rng.choice(list(VERBS))
    passive = rng.random() < 0.25
    subject = words.noun(rng.choice(PATIENTS if passive else AGENTS), "nsubj:pass" if passive else "nsubj")
    roles.append(("A1" if passive else "A0", subject))
    children = [subject]
    if rng.random() < 0.2:
        negation = words.add("never", "never", "ADV", "advmod")
        roles.append(("AM-NEG", negation))
        children.append(negation)
    if passive:
        children.append(words.add("is", "be", "AUX", "aux:pass"))
    predicate = words.add(VERBS[verb][passive], verb, "VERB", "root", "Voice=Pass" if passive else "Voice=Act")
    has_object = not passive and rng.random() < 0.75
    frames: list[tuple[int, str, list[tuple[str, int]]]] = []
    if has_object and rng.random() < 0.2:
        name = rng.choice(list(NOUNS))
        noun = words.noun(name, "obj")
        complement = words.noun(rng.choice(PATIENTS), "nmod", "of")
        words.rows[complement][3] = noun
        frames.append((noun, NOUNS[name], [("A1", complement)]))
        roles.append(("A1", noun))
        children.append(noun)
    elif has_object:
        obj = words.noun(rng.choice(PATIENTS), "obj")
        roles.append(("A1", obj))
        children.append(obj)
    for label, share, nouns, relation, case in (
        ("A2", 0.5 if has_object else 0.0, AGENTS, "obl", "to"), ("A3", 0.3, TOOLS, "obl", "with"),
        ("AM-LOC", 0.4, PLACES, "obl", "in"),
    ):  # fmt: skip
        if rng.random() < share:
            place = words.noun(rng.choice(nouns), relation, case)
            roles.append((label, place))
            children.append(place)
    if rng.random() < 0.4:
        time = words.add(rng.choice(TIMES), "", "ADV", "advmod")
        words.rows[time][1] = words.rows[time][0]
        roles.append(("AM-TMP", time))
        children.append(time)
    for child in children:
        words.rows[child][3] = predicate
    other = verb in ("serve", "cut") and not has_object and not passive
    frames.append((predicate, f"{verb}.0{2 if other else 1}", roles))
    return words, frames
