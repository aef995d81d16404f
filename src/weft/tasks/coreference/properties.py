"""Properties of mentions: gender, number, animacy and the type of a name; and distributions over their values.

A pronoun has the gender and number of its morphological features. Of nouns and names, number comes from the features,
gender and animacy from lists of first names, if there are any, and from what training data say: how often a head word
shares its entity with a feminine, a masculine or a neuter pronoun. The counts of a training document leave out that
document itself, so that they are as sparse in training as they will be later.

The prior R of a property gives `sure` to the value that is determined and the rest to the others, in equal shares; if
none is determined, all are equal (Durrett, Hall and Klein 2013).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from weft.arrays import Floats, Ints
from weft.tasks.coreference.mentions import PRONOUN, PROPER, Mention, kind_of
from weft.text.doc import Doc

GENDERS = ("fem", "masc", "neut")
NUMBERS = ("sing", "plur")
ANIMACY = ("animate", "inanimate")
NAMES = ("PER", "ORG", "LOC", "other")
PROPERTIES = {"gender": GENDERS, "number": NUMBERS, "animacy": ANIMACY, "name": NAMES}
UNKNOWN = -1
_TYPES = {
    "PER": 0, "PERSON": 0, "person": 0, "ORG": 1, "organization": 1, "LOC": 2, "GPE": 2, "FAC": 2, "place": 2,
    "location": 2,
}  # fmt: skip
#: The prior of a value that is determined; the fraction is unreadable in the paper.
SURE = 0.75
#: A head word says nothing of its gender unless it was seen this often, mostly with one value.
_LEAST, _SHARE = 2, 0.75


@dataclass
class Genders:
    """How often a word shares its entity with pronouns of each gender, and lists of first names."""

    counts: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)  #: lower-case first name -> fem, masc or both
    words: Mapping[str, str] = field(default_factory=dict)  #: words whose gender counts have decided

    def of_head(self, form: str, without: Mapping[str, Sequence[int]] | None = None) -> int:
        """The gender of a noun or name by its counts, UNKNOWN if they are few or divided."""
        if form in self.words:
            return GENDERS.index(self.words[form])
        seen = np.array(self.counts.get(form, (0, 0, 0)))
        if without is not None and form in without:
            seen = seen - np.asarray(without[form])
        best = int(seen.argmax())
        return best if seen[best] >= _LEAST and seen[best] >= _SHARE * seen.sum() else UNKNOWN

    def decided(self) -> Genders:
        """The same without the counts: the words whose gender they decide.

        >>> Genders({"queen": (4, 0, 1), "cook": (1, 1, 0)}).decided().words
        {'queen': 'fem'}
        """
        known = {word: gender for word in sorted(self.counts) if (gender := self.of_head(word)) >= 0}
        return Genders({}, self.names, {word: GENDERS[gender] for word, gender in known.items()})

    def of_name(self, form: str) -> int:
        """The gender of a first name by the lists."""
        gender = self.names.get(form)
        return GENDERS.index(gender) if gender in GENDERS else UNKNOWN


def gender_counts(doc: Doc, mentions: Sequence[Mention], entity: Sequence[int]) -> dict[str, tuple[int, int, int]]:
    """Head words of the nouns and names of a document, with the genders of the pronouns of their entities."""
    tags, feats, forms = doc.column("upos"), doc.column("feats"), doc.column("form")
    groups: dict[int, list[Mention]] = {}
    for mention, number in zip(mentions, entity, strict=True):
        if number >= 0:
            groups.setdefault(number, []).append(mention)
    counts: dict[str, tuple[int, int, int]] = {}
    for group in groups.values():
        seen = [0, 0, 0]
        for mention in group:
            gender = _gender_feature(feats[mention.head]) if tags[mention.head] == "PRON" else UNKNOWN
            if gender >= 0:
                seen[gender] += 1
        if not any(seen):
            continue
        words = {forms[mention.head].lower() for mention in group if kind_of(tags[mention.head]) != PRONOUN}
        for word in words:
            old = counts.get(word, (0, 0, 0))
            counts[word] = (old[0] + (seen[0] > 0), old[1] + (seen[1] > 0), old[2] + (seen[2] > 0))
    return counts


def values_of(
    doc: Doc,
    mentions: Sequence[Mention],
    genders: Genders,
    without: Mapping[str, Sequence[int]] | None = None,
    entities: str = "entities",
) -> Ints:
    """The values of gender, number, animacy and name of every mention, UNKNOWN where none is determined.

    >>> doc = Doc.from_words([["She", "sings"]], upos=[["PRON", "VERB"]], feats=[["Gender=Fem|Number=Sing", ""]])
    >>> values_of(doc, [Mention(0, 1, 0)], Genders()).tolist()
    [[0, 0, 0, -1]]
    """
    tags, feats, forms = doc.column("upos"), doc.column("feats"), doc.column("form")
    relations, types = doc.column("deprel"), _types(doc, entities)
    values = np.full((len(mentions), len(PROPERTIES)), UNKNOWN, dtype=np.int64)
    for row, mention in enumerate(mentions):
        head, tag = mention.head, tags[mention.head]
        own = feats[head]
        form = forms[head].lower()
        kind = kind_of(tag)
        label = types.get(head, UNKNOWN)
        gender = _gender_feature(own)
        if kind != PRONOUN:
            if kind == PROPER:
                gender = next(
                    (
                        found
                        for word in range(mention.start, mention.end)
                        if tags[word] == "PROPN" and (found := genders.of_name(forms[word].lower())) >= 0
                    ),
                    UNKNOWN,
                )
            if gender == UNKNOWN:
                gender = genders.of_head(form, without)
        values[row, 0] = gender
        if "Number=Sing" in own:
            values[row, 1] = 0
        elif "Number=Plur" in own or _is_joined(mention, relations, tags):
            values[row, 1] = 1
        if gender in (0, 1) or label == 0 or "Person=1" in own or "Person=2" in own:
            values[row, 2] = 0
        elif gender == 2 or label in (1, 2):
            values[row, 2] = 1
        values[row, 3] = label
    return values


def prior_of(values: Ints, size: int, sure: float = SURE) -> Floats:
    """Distributions of a property from determined values: one row per mention, one column per value.

    >>> prior_of(np.array([1, -1]), 3).tolist()
    [[0.125, 0.75, 0.125], [0.3333333333333333, 0.3333333333333333, 0.3333333333333333]]
    """
    prior = np.full((len(values), size), 1.0 / size)
    known = values >= 0
    prior[known] = (1.0 - sure) / max(size - 1, 1)
    prior[np.flatnonzero(known), values[known]] = sure
    return prior


def phi_priors(values: Ints) -> list[Floats]:
    """The priors of gender, number, animacy and name."""
    return [prior_of(values[:, k], len(own)) for k, own in enumerate(PROPERTIES.values())]


def _gender_feature(feats: str) -> int:
    if "Gender=" not in feats:
        return UNKNOWN
    value = next(item for item in feats.split("|") if item.startswith("Gender="))[7:]
    return {"Fem": 0, "Masc": 1, "Neut": 2}.get(value, UNKNOWN)


def _is_joined(mention: Mention, relations: list[str], tags: list[str]) -> bool:
    """Whether a mention is a coordination: its head governs another noun of it by `conj`."""
    return any(
        relations[word].startswith("conj") and tags[word] in ("NOUN", "PROPN", "PRON")
        for word in range(mention.head + 1, mention.end)
    )


def _types(doc: Doc, entities: str) -> dict[int, int]:
    layer = doc.spans.get(entities)
    if layer is None or layer.unit != "words":
        return {}
    return {word: _TYPES.get(row.label, 3) for row in layer for start, end in row.pieces for word in range(start, end)}
