"""What classifiers of events and times see: words around them, tense, cues, sections, times near by.

The feature families are those of the paper's baseline (ClearTK-TimeML): character patterns, tokens, stems, parts of
speech, syntax where there is some, and a small gazetteer of time words; the details are reconstructed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.tasks.timelines.sections import section_titles
from weft.text.conventions.timeline import EVENT, Mention
from weft.text.doc import Doc

#: Time words by type.
_GAZETTEER = {
    "month": "january february march april may june july august september october november december "
    "jan feb mar apr jun jul aug sep sept oct nov dec",
    "weekday": "monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun",
    "unit": "second minute hour day night week month year decade century quarter season fortnight min mins hr hrs mo "
    "yr yrs h wk wks",
    "part": "morning noon afternoon evening tonight midnight dawn dusk overnight am pm a.m. p.m.",
    "season": "spring summer autumn fall winter",
    "relative": "today yesterday tomorrow now currently recently previously formerly soon later earlier then ago "
    "before after since until last next past previous following prior current present once former subsequently",
    "set": "daily weekly monthly yearly annually nightly hourly twice thrice every each per b.i.d. bid tid qid q.d. qd "
    "prn regularly",
    "prepost": "preoperative postoperative intraoperative perioperative preop postop preoperatively postoperatively "
    "intraoperatively prenatal postnatal antenatal postpartum",
    "number": "one two three four five six seven eight nine ten eleven twelve several few couple half",
}
TIME_WORDS = {word: kind for kind, words in _GAZETTEER.items() for word in words.split()}
_DIGITS = re.compile(r"\d")
_DATE = re.compile(r"\d{1,4}[-/]\d{1,2}([-/]\d{1,4})?$")
_CUES = {
    "neg": "no not n't without denies denied never none negative neither nor absent absence unremarkable",
    "hedge": "may might could possible possibly probable probably likely suspected suspicious suggest suggests "
    "suggested suggesting suggestive consistent appear appears appeared seems questionable presumed apparent",
    "if": "if should would unless whether recommend recommended consider considered plan planned will",
    "auxiliary": "is are was were be been being has have had will would shall should can could may might must do does "
    "did",
}
_WORDS_OF = {name: frozenset(words.split()) for name, words in _CUES.items()}
_AUXILIARIES = _WORDS_OF["auxiliary"]


def time_word(form: str) -> str:
    """The type of a time word, date or number; O for other words.

    >>> [time_word(form) for form in ("March", "weeks", "3", "19/12/2014", "1998", "dog")]
    ['month', 'unit', 'digits', 'date', 'year', 'O']
    """
    lower = form.lower()
    found = TIME_WORDS.get(lower) or (TIME_WORDS.get(lower[:-1]) if lower.endswith("s") else None)
    if found is None and _DIGITS.search(form):
        found = "year" if re.fullmatch(r"(19|20)\d\d", form) else "date" if _DATE.match(form) else "digits"
    return found or "O"


def stem(form: str) -> str:
    """A crude stem: the word without a common ending.

    >>> [stem(form) for form in ("Bleeding", "bled", "biopsies", "was")]
    ['bleed', 'bled', 'biops', 'was']
    """
    lower = form.lower()
    for ending in ("ations", "ation", "ings", "ing", "ies", "ied", "es", "ed", "s", "y", "e"):
        if lower.endswith(ending) and len(lower) - len(ending) >= 3:
            return lower[: -len(ending)]
    return lower


@dataclass
class Context:
    """A document as classifiers see it: lower-case words, tags, heads, sentences, sections."""

    forms: list[str]
    lower: list[str]
    stems: list[str]
    tags: list[str]
    heads: list[int]  #: the head of every word, -1 for a root; empty without trees
    bounds: list[int]
    titles: list[str]  #: the section of every sentence

    @classmethod
    def of(cls, doc: Doc, columns: Sequence[str] = ()) -> Context:
        """The context of a document, with tags and trees if `columns` names them."""
        forms = doc.column("form")
        tags = doc.column("upos") if "upos" in columns and doc.has("upos") else []
        bounds = doc.sentence_offsets.tolist()
        heads: list[int] = []
        if "head" in columns and doc.head is not None:
            firsts = np.repeat(doc.sentence_offsets[:-1], np.diff(doc.sentence_offsets))
            heads = np.where(doc.head > 0, firsts + doc.head - 1, -1).tolist()
        starts = [int(doc.word_start[first]) if first < len(forms) else 0 for first in bounds[:-1]]
        lower = [form.lower() for form in forms]
        return cls(forms, lower, [stem(form) for form in forms], tags, heads, bounds, section_titles(doc, starts))

    def sentence(self, word: int) -> int:
        return bisect_right(self.bounds, word) - 1

    def at(self, word: int, first: int, end: int) -> str:
        return self.lower[word] if first <= word < end else "|"

    def verbs(self, word: int, first: int, end: int) -> list[str]:
        """The auxiliaries and verbs that may govern a word: along the tree if there is one, else the nearest before."""
        if self.heads:
            found, at, steps = [], word, 0
            while at >= 0 and steps < 8:
                if not self.tags or self.tags[at] in ("VERB", "AUX"):
                    found.append(at)
                at, steps = self.heads[at], steps + 1
            found += [k for k in range(first, end) if self.heads[k] in found and self.lower[k] in _AUXILIARIES]
            return [self.lower[k] for k in found[:4]]
        before = [k for k in range(word, max(first, word - 8) - 1, -1) if self._verbal(k)]
        after = [k for k in range(word + 1, min(end, word + 8)) if self._verbal(k)]
        return [self.lower[k] for k in (before[:2] or after[:1])]

    def _verbal(self, word: int) -> bool:
        lower = self.lower[word]
        return lower in _AUXILIARIES or (self.tags[word] == "VERB" if self.tags else lower.endswith(("ed", "ing")))

    def tense(self, word: int, first: int, end: int) -> str:
        """The tense that the verbs near a word show."""
        verbs = self.verbs(word, first, end)
        if any(each in ("will", "shall") for each in verbs) or "going" in verbs:
            return "future"
        if any(each in ("would", "should", "may", "might", "could", "can", "must") for each in verbs):
            return "modal"
        if any(each in ("was", "were", "had", "did") or each.endswith("ed") for each in verbs):
            return "past"
        return "present" if any(each in ("is", "are", "has", "have", "does", "do") for each in verbs) else "none"


def mention_features(context: Context, mention: Mention, others: Sequence[Mention] = ()) -> list[str]:
    """The features of an event or a time for its attributes; `others` are the mentions of its sentence."""
    sentence = context.sentence(mention.start)
    first, end = context.bounds[sentence], context.bounds[sentence + 1]
    last = max(mention.start, mention.end - 1)
    word = context.lower[last]
    found = [
        f"w={word}", f"stem={context.stems[last]}", f"suffix={word[-3:]}", f"text={_text(context, mention)}",
        f"section={context.titles[sentence]}", f"place={min(9, 10 * first // max(1, context.bounds[-1]))}",
        f"shape={_shape(context.forms[last])}", f"tense={context.tense(last, first, end)}",
    ]  # fmt: skip
    found += [f"w{k:+d}={context.at(last + k, first, end)}" for k in (-3, -2, -1, 1, 2, 3)]
    found.append(f"w-1={context.at(last - 1, first, end)}|w={word}")
    if context.tags:
        found += [f"t={context.tags[last]}", f"t-1={context.tags[last - 1] if last > first else '|'}"]
    if context.heads:
        head = context.heads[last]
        found += [
            f"head={context.lower[head] if head >= 0 else '|'}",
            f"head|t={context.tags[head] if context.tags and head >= 0 else '|'}",
        ]
    found += [f"verb={each}" for each in context.verbs(last, first, end)]
    around = range(max(first, last - 6), min(end, last + 5))
    for name in ("neg", "hedge", "if"):
        near = [context.lower[k] for k in around if context.lower[k] in _WORDS_OF[name] and k <= last + 1]
        found += [f"{name}={each}" for each in near] or [f"{name}=none"]
    found += [f"inside={each}" for each in context.lower[mention.start : last]]
    found += [f"time={time_word(context.forms[k])}" for k in range(mention.start, last + 1)]
    times = [each for each in others if each.is_time and each.number != mention.number]
    found += [f"sentence time={time_word(context.forms[each.start])}" for each in times[:3]]
    return found


def pair_features(context: Context, first: Mention, second: Mention, between: int) -> list[str]:
    """The features of a pair of mentions, the first before the second in the text; `between` mentions lie between."""
    a, b = max(first.start, first.end - 1), max(second.start, second.end - 1)
    same = context.sentence(first.start) == context.sentence(second.start)
    kinds = f"{first.kind[0]}{second.kind[0]}"
    gap = context.lower[first.end : second.start]
    place = f"{kinds}{'' if same else '/'}"
    bucket = min(len(gap), 6) + (len(gap) > 10) + (len(gap) > 20)
    found = [
        place, f"{place}|gap={bucket}", f"{place}|between={min(between, 4)}", f"{place}|1={context.stems[a]}",
        f"{place}|2={context.stems[b]}", f"{place}|1={context.stems[a]}|2={context.stems[b]}",
        f"{place}|suffixes={context.lower[a][-3:]}|{context.lower[b][-3:]}",
        f"section={context.titles[context.sentence(a)]}",
    ]  # fmt: skip
    found += [
        f"{place}|{name}={first.get(name)}|{second.get(name)}" for name in ("DocTimeRel", "Class", "ContextualModality")
    ]
    found.append(f"{place}|polarity={first.get('Polarity')}|{second.get('Polarity')}")
    found += [f"{place}|{first.get('DocTimeRel')}{second.get('DocTimeRel')}|gap={bucket}|between={min(between, 2)}"]
    if same:
        found += [f"{place}|in={each}" for each in gap[:12]]
        if len(gap) <= 4:
            found.append(f"{place}|gap={' '.join(gap)}")
        found += [f"{place}|before 2={context.at(second.start - 1, 0, len(context.lower))}"]
        found += [
            f"{place}|before 1={context.at(first.start - 1, context.bounds[context.sentence(a)], len(context.lower))}"
        ]
        if context.heads:
            found += _path(context, a, b, place)
    else:
        ends = [context.bounds[context.sentence(each.start)] for each in (first, second)]
        found += [f"{place}|first in its sentence={first.start - ends[0] < 4}|{second.start - ends[1] < 4}"]
        found += [f"{place}|start 2={context.lower[ends[1]]}"]
    for name, mention in (("1", first), ("2", second)):
        if mention.kind != EVENT:
            found += [f"{place}|{name} time={time_word(context.forms[k])}" for k in range(mention.start, mention.end)]
            found.append(f"{place}|{name} prep={context.at(mention.start - 1, 0, len(context.lower))}")
    return found


def _path(context: Context, a: int, b: int, place: str) -> list[str]:
    """Who dominates whom in the tree, and the way between them."""
    above = {}
    at, steps = a, 0
    while at >= 0 and steps < 30:
        above[at] = steps
        at, steps = context.heads[at], steps + 1
    down, at = 0, b
    while at >= 0 and at not in above and down < 30:
        at, down = context.heads[at], down + 1
    if at not in above:
        return [f"{place}|path=none"]
    relation = "1 over 2" if at == a else "2 over 1" if at == b else "apart"
    return [f"{place}|{relation}", f"{place}|up={min(above[at], 4)}|down={min(down, 4)}"]


def _text(context: Context, mention: Mention) -> str:
    return " ".join(context.lower[mention.start : mention.end][:6])


def _shape(form: str) -> str:
    return re.sub(r"(.)\1{2,}", r"\1\1", re.sub(r"\d", "9", re.sub(r"[a-z]", "a", re.sub(r"[A-Z]", "A", form))))[:8]
