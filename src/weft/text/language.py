"""The language that a text is written in, from its letters.

    h = sum over the n-grams g of the text of E[hash(g)] / sqrt(number of n-grams)
    p(language | text) = softmax(W h + b)

n-grams are 1 to 4 letters within a word, where a word begins and ends with a blank; case, digits, punctuation,
addresses and hashtags are ignored. E, W and b are in `languages.weft` beside this module, which
`python -m weft.training.languages` writes. Languages that are alone in their script, and that the model has not
learned, are recognized by the script.

One text has a few hundred n-grams, so this is NumPy, which compiles nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from weft.errors import ModelError
from weft.storage import load

#: The file of the model.
MODEL = Path(__file__).with_name("languages.weft")
#: The length of n-grams, and how many characters of a text are read.
LONGEST, READ = 4, 2000
#: Languages by scripts that belong to them alone, or nearly so: the ranges of the script, code and name.
SCRIPTS = (
    (0x0530, 0x058F, "hy", "Armenian"), (0x0900, 0x097F, "hi", "Hindi"), (0x0980, 0x09FF, "bn", "Bengali"),
    (0x0A00, 0x0A7F, "pa", "Punjabi"), (0x0A80, 0x0AFF, "gu", "Gujarati"), (0x0B00, 0x0B7F, "or", "Odia"),
    (0x0B80, 0x0BFF, "ta", "Tamil"), (0x0C80, 0x0CFF, "kn", "Kannada"), (0x0D00, 0x0D7F, "ml", "Malayalam"),
    (0x0D80, 0x0DFF, "si", "Sinhala"), (0x0E00, 0x0E7F, "th", "Thai"), (0x0E80, 0x0EFF, "lo", "Lao"),
    (0x0F00, 0x0FFF, "bo", "Tibetan"), (0x1000, 0x109F, "my", "Burmese"), (0x10A0, 0x10FF, "ka", "Georgian"),
    (0x1200, 0x137F, "am", "Amharic"), (0x1780, 0x17FF, "km", "Khmer"), (0x10330, 0x1034F, "got", "Gothic"),
)  # fmt: skip
#: A text is said to be in another language if it has this many letters, that language is this probable and the most
#: probable one of each half, and the expected one is at most this probable.
ENOUGH, SURE, UNLIKELY = 60, 0.95, 0.005
#: Languages so close that a model of one may be meant for another.
NEAR = (
    {"Norwegian", "Norwegian Bokmål", "Norwegian Nynorsk", "Danish"}, {"Croatian", "Serbian", "Bosnian"},
    {"Chinese", "Cantonese"}, {"English", "Nigerian Pidgin"}, {"Galician", "Portuguese"},
    {"Greek", "Ancient Greek"}, {"Czech", "Slovak"},
)  # fmt: skip
#: Languages that are not written in Latin letters, beside those of `SCRIPTS`.
OTHER_LETTERS = {
    "Ancient Greek", "Arabic", "Bulgarian", "Cantonese", "Chinese", "Greek", "Hebrew", "Japanese", "Korean", "Persian",
    "Russian", "Serbian", "Telugu", "Ukrainian", "Uyghur",
}  # fmt: skip
#: So many letters, most of them not Latin, show that a text is in none of the other languages.
FEW, LAST_LATIN = 4, 0x024F
_FIRSTS, _LASTS = (np.array([row[i] for row in SCRIPTS], dtype=np.uint32) for i in (0, 1))
#: Vowel signs and strokes of Arabic and Hebrew, which most texts leave out.
_VOWELS = re.compile("[\u0591-\u05c7\u0640\u064b-\u065f\u0670]+")
_APOSTROPHES = str.maketrans("\u2019\u02bc\u2018`\u00b4", "'''''")
#: Everything but letters and the marks of letters, most of which Python does not count among them.
_NO_LETTERS = re.compile("(?:[^\\w'\u0300-\u036f\u0900-\u109f\u1780-\u17ff]|[\\d_])+")
_FACTOR, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
_SHIFT = np.uint64(32)
_BLANK = ord(" ")


class Language(NamedTuple):
    """A language, by its code (ISO 639) and its name in English, and how probable it is."""

    code: str
    name: str
    probability: float


#: What a text without letters is written in.
NONE = Language("", "", 0.0)


def language_of(text: str) -> Language:
    """The most probable language of a text.

    >>> language_of("Der alte Leuchtturm stand auf einem schwarzen Felsen.").name
    'German'
    >>> language_of("12:45")
    Language(code='', name='', probability=0.0)
    """
    return languages_of([text])[0]


def languages_of(texts: Sequence[str]) -> list[Language]:
    """The most probable language of every text.

    >>> [language.code for language in languages_of(["Where are you going now?", "Où est-ce que vous allez ?"])]
    ['en', 'fr']
    """
    return [best_of(model(), text) for text in texts]


def foreign_language(text: str, expected: str, by: LanguageModel | None = None) -> Language | None:
    """The language of a text that is surely not in the expected one, which is given by its English name, or None.

    None stands for doubt too: a short text, a language that is close to the expected one, or an expected one that
    the model does not know. The model is the one of the package unless another is given.

    >>> text = "Der alte Leuchtturm stand auf einem schwarzen Felsen, und niemand wohnte dort."
    >>> foreign_language(text, "English").name
    'German'
    >>> foreign_language(text, "German")
    """
    codes = letters_of(text)
    known = model() if by is None else by
    close = {expected}.union(*(group for group in NEAR if expected in group))
    if np.count_nonzero(codes != _BLANK) < ENOUGH or not close & {*known.names, *(row[3] for row in SCRIPTS)}:
        return None
    best, likely = _by_script(codes), 0.0
    if best is None:
        probabilities = known.probabilities(codes)
        best = known.best(probabilities)
        likely = sum(p for name, p in zip(known.names, probabilities.tolist(), strict=True) if name in close)
    if best.name in close or best.probability < SURE or likely > UNLIKELY:
        return None
    return best if all(best_of(known, half).code == best.code for half in _halves(text[:READ])) else None


def other_script(text: str, expected: str) -> Language | None:
    """The probable language of a text whose letters are not those of the expected language, or None.

    A few letters are enough, but only for languages that are written in Latin letters.

    >>> other_script("老灯塔矗立在黑色的岩石上。", "English").name
    'Chinese'
    >>> other_script("Où est-ce que vous allez ?", "English"), other_script("老灯塔矗立在黑色的岩石上。", "Japanese")
    (None, None)
    """
    letters = letters_of(text)
    letters = letters[letters != _BLANK]
    if expected in OTHER_LETTERS | {row[3] for row in SCRIPTS} or len(letters) < FEW:
        return None
    return language_of(text) if np.mean(letters > LAST_LATIN) > 0.5 else None


def _halves(text: str) -> tuple[str, str]:
    middle = text.find(" ", len(text) // 2)
    middle = len(text) // 2 if middle < 0 else middle
    return text[:middle], text[middle:]


def probabilities_of(text: str) -> dict[str, float]:
    """The probability of every language that the model has learned, by name.

    >>> round(sum(probabilities_of("Where are you going?").values()), 3)
    1.0
    """
    known = model()
    codes = letters_of(text)
    if not len(codes):
        return {}
    return dict(zip(known.names, known.probabilities(codes).tolist(), strict=True))


class LanguageModel:
    """The tables of the formula above."""

    def __init__(self, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        try:
            self.codes: list[str] = [entry["code"] for entry in header["languages"]]
            self.names: list[str] = [entry["name"] for entry in header["languages"]]
            self.embeddings = arrays["embeddings"]
            self.scale = arrays["scale"]
            self.weights, self.bias = arrays["weights"], arrays["bias"]
            fits = self.weights.shape == (self.embeddings.shape[1], len(self.codes))
        except (LookupError, TypeError):
            fits = False
        if not fits:
            raise ModelError(f"{MODEL} is not a model of languages; install Weft again")

    def probabilities(self, codes: NDArray[np.uint32]) -> NDArray[np.float64]:
        """The probability of every language, given normalized letters."""
        grams = ngrams(codes, len(self.embeddings))
        hidden = self.embeddings[grams].sum(axis=0, dtype=np.int32) * self.scale / np.sqrt(len(grams))
        scores = hidden @ self.weights + self.bias
        exponentials = np.exp(scores - scores.max())
        normalized: NDArray[np.float64] = exponentials / exponentials.sum()
        return normalized

    def best(self, probabilities: NDArray[np.float64]) -> Language:
        """The most probable language."""
        best = int(probabilities.argmax())
        return Language(self.codes[best], self.names[best], float(probabilities[best]))


def best_of(model: LanguageModel, text: str) -> Language:
    """The most probable language of a text, by its script or by a model."""
    codes = letters_of(text)
    if not len(codes):
        return NONE
    return _by_script(codes) or model.best(model.probabilities(codes))


def _by_script(codes: NDArray[np.uint32]) -> Language | None:
    """The language that alone uses the script of most letters, if any."""
    if codes.max() < _FIRSTS[0]:
        return None
    written = codes[codes != _BLANK]
    script = np.searchsorted(_FIRSTS, written, side="right") - 1
    inside = script[(script >= 0) & (written <= _LASTS[script])]
    counts = np.bincount(inside, minlength=len(SCRIPTS))
    most = int(counts.argmax())
    share = float(counts[most] / len(written))
    return Language(*SCRIPTS[most][2:], share) if share > 0.5 else None


@lru_cache(maxsize=1)
def model() -> LanguageModel:
    """The model of the package, loaded once."""
    return LanguageModel(*load(MODEL))


def normalized(text: str) -> str:
    """The words of a text in lower case, each followed by a blank, with a blank before the first; "" without letters.

    >>> normalized("See https://example.org: it’s 5 to 12!")
    " see it's to "
    """
    told = " ".join(word for word in normalize("NFC", text[:READ]).split() if not _is_address(word))
    words = _NO_LETTERS.sub(" ", _VOWELS.sub("", told.translate(_APOSTROPHES).lower())).split(" ")
    kept = [word for word in (word.strip("'") for word in words) if word]
    return f" {' '.join(kept)} " if kept else ""


def _is_address(word: str) -> bool:
    return "@" in word or "://" in word or word.startswith(("#", "www."))


def letters_of(text: str) -> NDArray[np.uint32]:
    """The code points of the normalized text."""
    return np.frombuffer(normalized(text).encode("utf-32-le", "replace"), dtype=np.uint32)


def ngrams(codes: NDArray[np.uint32], size: int) -> NDArray[np.int64]:
    """The numbers, below `size`, of all n-grams within words.

    >>> len(ngrams(letters_of("a bc"), 100))  # a b c | _a a_ _b bc c_ | _a_ _bc bc_ | _bc_
    12
    """
    blank = codes == _BLANK
    keys = codes.astype(np.uint64) + np.uint64(1)
    inside = np.ones(len(codes), dtype=bool)  # whether no blank is strictly inside the n-gram
    found, gram = [_mixed(keys[~blank])], keys
    for n in range(2, LONGEST + 1):
        gram = gram[:-1] * _FACTOR + keys[n - 1 :]
        inside = inside[:-1] & ~blank[n - 2 : len(codes) - 1] if n > 2 else ~(blank[:-1] & blank[1:])
        found.append(_mixed(gram[inside]))
    return (np.concatenate(found) % np.uint64(size)).astype(np.int64)


def _mixed(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    mixed: NDArray[np.uint64] = (keys ^ (keys >> _SHIFT)) * _MIX
    return mixed ^ (mixed >> _SHIFT)
