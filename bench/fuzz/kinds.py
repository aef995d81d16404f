"""Texts of every bad kind, drawn at random: any Unicode, controls, invisible and combining characters, links."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable
from functools import cache
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SCRIPTS = ((0x41, 0x7A), (0xC0, 0x24F), (0x370, 0x3FF), (0x400, 0x4FF), (0x590, 0x5FF), (0x600, 0x6FF), (0x900, 0x97F),
           (0xE00, 0xE7F), (0x1100, 0x11FF), (0x3040, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0x1D400, 0x1D7FF),
           (0x1F300, 0x1FAFF), (0x20000, 0x2A6DF), (0xE0001, 0xE007F))  # fmt: skip
CONTROLS = [chr(i) for i in (*range(32), 127, *range(128, 160))]
INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u034f\u180e\ufe0f\u2028\u2029\u0085"
BIDI = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
COMBINING = [chr(i) for i in (*range(0x300, 0x370), 0x20D0, 0x20DD, 0x483, 0x5B0, 0x64B, 0x93C)]
BLANKS = " \t\n\r\x0b\x0c\u00a0\u1680\u2000\u2003\u2007\u2009\u202f\u205f\u3000"
QUOTES = "\"'`´‘’“”„‚«»‹›「」『』()[]{}<>"


def any_letter(random: random.Random) -> str:
    """A character of any kind, never half of a surrogate pair."""
    while True:
        letter = chr(random.randrange(0x110000))
        if unicodedata.category(letter) != "Cs":
            return letter


def _letters(random: random.Random) -> str:
    return "".join(any_letter(random) for _ in range(random.randrange(200)))


def _scripts(random: random.Random) -> str:
    words = []
    for _ in range(random.randrange(60)):
        low, high = random.choice(SCRIPTS)
        words.append("".join(chr(random.randint(low, high)) for _ in range(random.randint(1, 8))))
    return random.choice(["", " ", "\n", ". "]).join(words)


def _of(letters: str | list[str], share: float = 0.5) -> Callable[[random.Random], str]:
    def make(random: random.Random) -> str:
        text = english(random)
        pieces = [letter + (random.choice(letters) if random.random() < share else "") for letter in text]
        return "".join(pieces)

    return make


def _nested_quotes(random: random.Random) -> str:
    depth = random.randint(1, 300)
    left = "".join(random.choice(QUOTES) for _ in range(depth))
    return left + english(random) + left[::-1] + random.choice([".", "!", "", "?!"])


def _zalgo(random: random.Random) -> str:
    return "".join(
        letter + "".join(random.choices(COMBINING, k=random.randrange(20))) for letter in english(random)[:80]
    )


def _repeated(random: random.Random) -> str:
    return random.choice(
        [any_letter(random), "a", ".", "-", "'", "\n", "👩‍👩‍👧", "don't ", "...", "e\u0301"]
    ) * random.randint(1, 3000)


def _blank(random: random.Random) -> str:
    return "".join(random.choices(BLANKS, k=random.randrange(30)))


def _links(random: random.Random) -> str:
    pieces = [
        "http://",
        "www.",
        "@",
        "#",
        "a.b",
        "/",
        "?q=",
        "%20",
        ":",
        "-",
        ".com",
        "1,000.5",
        "€",
        "e.g.",
        "U.S.",
        "n't",
    ]
    return "".join(random.choices(pieces, k=random.randrange(60)))


def english(random: random.Random) -> str:
    """Some words of the examples, cut anywhere."""
    text = _port()
    start = random.randrange(len(text))
    return text[start : start + random.randrange(300)]


@cache
def _port() -> str:
    return (EXAMPLES / "port.txt").read_text(encoding="utf-8")


KINDS: dict[str, Callable[[random.Random], str]] = {
    "any Unicode": _letters, "mixed scripts": _scripts, "control characters": _of(CONTROLS, 0.2),
    "zero width": _of(INVISIBLE, 0.4), "bidirectional": _of(BIDI, 0.3), "combining marks": _zalgo,
    "strange blanks": _of(BLANKS, 0.3), "only blanks": _blank, "nested quotes": _nested_quotes, "repeated": _repeated,
    "NUL": _of("\x00", 0.1), "links and numbers": _links, "English": english,
}  # fmt: skip
