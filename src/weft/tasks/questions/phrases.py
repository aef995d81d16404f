"""Word classes: what may be written for one terminal of the grammar, at which cost, and what is displayed for it.

canonical words 0, synonyms, wrong forms and spelling mistakes more; see `Costs`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from weft.tasks.questions import words

NEVER = float("inf")


@dataclass(frozen=True)
class Costs:
    """The costs of edits by hand; learned ones may replace those of rules."""

    synonym: float = 0.3
    wrong_form: float = 0.4
    misspelt: float = 0.6
    swapped: float = 1.0
    stop_word: float = 0.2
    word: float = 3.0
    function: float = 0.1
    noun: float = 0.9
    property: float = 2.0
    verb: float = 1.4
    my: float = 0.4
    completed: float = 0.35
    entity: float = 0.25
    completed_entity: float = 0.5


@dataclass(frozen=True)
class WordClass:
    """A terminal: its displayed forms by feature, accepted texts with their costs, and what its insertion costs."""

    symbol: str
    forms: Mapping[str, str]
    accepted: Mapping[str, float] = field(default_factory=dict)
    inserted: float = NEVER
    ended: float = NEVER
    content: bool = False

    def shown(self, feature: str) -> str:
        """The form of a feature, or the first one."""
        return self.forms.get(feature, next(iter(self.forms.values())))


def function(symbol: str, shown: str, others: str = "", inserted: float = 0.1, ended: float = 0.05) -> WordClass:
    """A class of function words; `others` are accepted besides, divided by bars.

    >>> function("'who'", "who", "that|which").accepted
    {'who': 0.0, 'that': 0.02, 'which': 0.02}
    """
    accepted = {shown: 0.0} | {each: 0.02 for each in others.split("|") if each}
    return WordClass(symbol, {"": shown}, accepted, inserted, ended)


def noun(
    symbol: str, singular: str, plural: str, synonyms: tuple[str, ...], costs: Costs, head: bool = True
) -> WordClass:
    """The class of a noun and its synonyms, in both numbers."""
    accepted = {plural: 0.0, singular: 0.02}
    for other in synonyms:
        for form in (words.plural(other), other):
            accepted.setdefault(form, costs.synonym)
    return WordClass(
        symbol, {"pl": plural, "sg": singular}, accepted, costs.noun if head else costs.property, costs.completed, True
    )


def verb(symbol: str, base: str, synonyms: tuple[str, ...], past: bool, costs: Costs) -> WordClass:
    """The class of a verb phrase; other tenses and participles are wrong forms, and so is another preposition."""
    table = words.forms(base)
    shown = {"pl": table["past" if past else "pl"], "sg": table["past-sg" if past else "sg"]}
    shown["1sg"] = table["past-sg" if past else "1sg"]
    for feature in ("pl-not", "sg-not", "1sg-not"):
        past_feature = "past-sg-not" if feature != "pl-not" else "past-not"
        shown[feature] = table[past_feature if past else feature]
    accepted = {shown["pl"]: 0.0, shown["sg"]: 0.0, shown["1sg"]: 0.0, base: 0.05}
    for form in table.values():
        if not form.startswith(("do ", "does ", "did ", "are not", "is not", "am not", "were not", "was not")):
            accepted.setdefault(form, costs.wrong_form / 2)
    for other in synonyms:
        for form in words.forms(other).values():
            accepted.setdefault(form, costs.synonym)
        accepted.setdefault(other, costs.synonym)
    for form, cost in list(accepted.items()):
        head, _, preposition = form.rpartition(" ")
        if head and preposition in ("in", "at", "for", "of", "on", "with", "to", "by"):
            for wrong in ("in", "at", "for", "on", "of"):
                accepted.setdefault(f"{head} {wrong}", cost + costs.wrong_form)
            if head not in ("are", "is", "be", "am", "were", "was"):
                accepted.setdefault(head, cost + costs.wrong_form + 0.1)
    return WordClass(symbol, shown, accepted, costs.verb, costs.completed + 0.1, True)
