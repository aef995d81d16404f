"""Inflected forms of English nouns and verbs, for what questions may say and suggestions do say."""

from __future__ import annotations

_PLURALS = {"person": "people", "child": "children", "man": "men", "woman": "women", "foot": "feet", "news": "news"}
_PASTS = {
    "be": ("was", "been"), "have": ("had", "had"), "do": ("did", "done"), "write": ("wrote", "written"),
    "know": ("knew", "known"), "take": ("took", "taken"), "teach": ("taught", "taught"), "go": ("went", "gone"),
    "lead": ("led", "led"), "win": ("won", "won"), "find": ("found", "found"), "speak": ("spoke", "spoken"),
    "make": ("made", "made"), "see": ("saw", "seen"), "hold": ("held", "held"), "buy": ("bought", "bought"),
    "come": ("came", "come"), "bear": ("bore", "born"), "run": ("ran", "run"), "meet": ("met", "met"),
    "begin": ("began", "begun"), "leave": ("left", "left"), "grow": ("grew", "grown"), "sell": ("sold", "sold"),
}  # fmt: skip
_VOWELS = "aeiou"


def plural(noun: str) -> str:
    """The plural of a noun phrase, whose last word is inflected.

    >>> plural("shipping company"), plural("person"), plural("boss")
    ('shipping companies', 'people', 'bosses')
    """
    front, _, last = noun.rpartition(" ")
    form = _PLURALS.get(last) or _with_s(last)
    return f"{front} {form}" if front else form


def _with_s(word: str) -> str:
    if word.endswith("y") and word[-2:-1] not in (*_VOWELS, ""):
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "z", "ch", "sh")) else "s")


def third(verb: str) -> str:
    """The third person singular of a verb.

    >>> third("study"), third("be"), third("have"), third("go")
    ('studies', 'is', 'has', 'goes')
    """
    return {"be": "is", "have": "has", "go": "goes", "do": "does"}.get(verb) or _with_s(verb)


def past(verb: str) -> str:
    """The past tense of a verb.

    >>> past("live"), past("study"), past("stop"), past("write")
    ('lived', 'studied', 'stopped', 'wrote')
    """
    return _PASTS[verb][0] if verb in _PASTS else _ed(verb)


def participle(verb: str) -> str:
    """The past participle of a verb.

    >>> participle("like"), participle("write")
    ('liked', 'written')
    """
    return _PASTS[verb][1] if verb in _PASTS else _ed(verb)


def _ed(verb: str) -> str:
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2:-1] not in _VOWELS:
        return verb[:-1] + "ied"
    return _doubled(verb) + "ed"


def _doubled(verb: str) -> str:
    short = len(verb) <= 4 and len(verb) > 2 and verb[-1] not in (*_VOWELS, "w", "x", "y") and verb[-2] in _VOWELS
    return verb + verb[-1] if short and verb[-3] not in _VOWELS else verb


def progressive(verb: str) -> str:
    """The -ing form of a verb.

    >>> progressive("live"), progressive("be"), progressive("stop")
    ('living', 'being', 'stopping')
    """
    if verb.endswith("e") and verb != "be" and not verb.endswith("ee"):
        return verb[:-1] + "ing"
    return _doubled(verb) + "ing"


def base(form: str) -> str:
    """The base form of a verb in the third person or the past, as far as spelling tells.

    >>> base("works"), base("studied"), base("lives"), base("is"), base("wrote")
    ('work', 'study', 'live', 'be', 'write')
    """
    known = {third(verb): verb for verb in _PASTS} | {forms[0]: verb for verb, forms in _PASTS.items()}
    if form in known or form in ("are", "am", "were"):
        return known.get(form, "be")
    if form.endswith("ied") or form.endswith("ies"):
        return form[:-3] + "y"
    for stem in (form.removesuffix("ed"), form.removesuffix("d"), form.removesuffix("s"), form.removesuffix("es")):
        if stem != form and (past(stem) == form or third(stem) == form) and _plausible(stem):
            return stem
    return form


def _plausible(stem: str) -> bool:
    """Whether a stem may end without an e: live and like do not."""
    return not (len(stem) > 2 and stem[-1] in "vkcs" and stem[-2] in _VOWELS and stem[-3] not in _VOWELS)


def forms(verb: str) -> dict[str, str]:
    """The forms of a verb phrase, whose first word is inflected: by person and number, negated, past and others.

    >>> forms("live in")["sg"], forms("be friends with")["pl-not"], forms("study in")["past-not"]
    ('lives in', 'are not friends with', 'did not study in')
    """
    head, _, rest = verb.partition(" ")
    rest = f" {rest}" if rest else ""
    if head == "be":
        return {
            "pl": f"are{rest}", "sg": f"is{rest}", "1sg": f"am{rest}", "pl-not": f"are not{rest}",
            "sg-not": f"is not{rest}", "1sg-not": f"am not{rest}", "past": f"were{rest}", "past-sg": f"was{rest}",
            "past-not": f"were not{rest}", "past-sg-not": f"was not{rest}", "ing": f"being{rest}", "bare": rest.strip(),
        }  # fmt: skip
    return {
        "pl": verb, "sg": third(head) + rest, "1sg": verb, "pl-not": f"do not {verb}", "sg-not": f"does not {verb}",
        "1sg-not": f"do not {verb}", "past": past(head) + rest, "past-sg": past(head) + rest,
        "past-not": f"did not {verb}", "past-sg-not": f"did not {verb}", "ing": progressive(head) + rest,
        "done": participle(head) + rest,
    }  # fmt: skip
