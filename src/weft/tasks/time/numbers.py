"""Numbers in time phrases: the only part of the parser that knows a language.

A recognizer reads the longest number from a place in a list of tokens, in digits or words, and says whether it is an
ordinal. There are tables for English, Spanish, Italian, French, Chinese and Korean; every other language has digits.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import NamedTuple

from weft.errors import ConfigError, did_you_mean

LANGUAGES = ("en", "es", "it", "fr", "zh", "ko", "other")


class Number(NamedTuple):
    """A number: its value, whether it is an ordinal, and how many digits it was written with (0 for words)."""

    value: int
    ordinal: bool = False
    digits: int = 0


class Words(NamedTuple):
    """Number words of a language: cardinals that add up, multipliers, ordinals, joints, and suffixes of digits."""

    cardinals: dict[str, int]
    powers: dict[str, int]
    ordinals: dict[str, int]
    joints: frozenset[str] = frozenset()
    suffixes: frozenset[str] = frozenset()


def _listed(text: str, start: int = 0, step: int = 1) -> dict[str, int]:
    """Words of consecutive numbers; alternatives stand between slashes."""
    return {word: start + step * place for place, words in enumerate(text.split()) for word in words.split("/") if word}


def _english() -> Words:
    cardinals = _listed(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen"
    ) | _listed("twenty thirty forty/fourty fifty sixty seventy eighty ninety", 20, 10)
    plurals = _listed("twenties thirties forties fifties sixties seventies eighties nineties", 20, 10)
    ordinals = _listed(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
        "fifteenth sixteenth seventeenth eighteenth nineteenth", 1
    ) | _listed("twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth", 20, 10)  # fmt: skip
    powers = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
    return Words(
        cardinals | plurals, powers, ordinals | {"hundredth": 100}, frozenset({"and"}),
        frozenset({"st", "nd", "rd", "th"}),
    )  # fmt: skip


def _spanish() -> Words:
    cardinals = _listed(
        "cero uno/un/una dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciseis "
        "diecisiete dieciocho diecinueve veinte veintiuno/veintiun veintidos veintitres veinticuatro veinticinco "
        "veintiseis veintisiete veintiocho veintinueve"
    ) | _listed("treinta cuarenta cincuenta sesenta setenta ochenta noventa cien/ciento", 30, 10)
    cardinals |= _listed(
        "doscientos/doscientas trescientos/trescientas cuatrocientos/cuatrocientas quinientos/quinientas "
        "seiscientos/seiscientas setecientos/setecientas ochocientos/ochocientas novecientos/novecientas", 200, 100
    )  # fmt: skip
    ordinals = _listed(
        "primero/primer/primera/primeros/primeras segundo/segunda tercero/tercer/tercera cuarto/cuarta quinto/quinta "
        "sexto/sexta septimo/septima octavo/octava noveno/novena decimo/decima", 1
    )  # fmt: skip
    return Words(cardinals, {"mil": 1000, "millon": 1_000_000, "millones": 1_000_000}, ordinals, frozenset({"y"}),
                 frozenset({"º", "ª", "o", "a"}))  # fmt: skip


def _italian() -> Words:
    units = ["uno", "due", "tre", "quattro", "cinque", "sei", "sette", "otto", "nove"]
    cardinals = {"zero": 0, "un": 1, "una": 1} | _listed(
        "uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici "
        "diciassette diciotto diciannove", 1
    )  # fmt: skip
    for tens, value in _listed("venti trenta quaranta cinquanta sessanta settanta ottanta novanta", 20, 10).items():
        cardinals[tens] = value
        for unit, word in enumerate(units, 1):
            cardinals[(tens[:-1] if word[0] in "uo" else tens) + word] = value + unit
    small = dict(cardinals)
    for count in range(1, 10):
        hundred = ("" if count == 1 else units[count - 1]) + "cento"
        cardinals[hundred] = count * 100
        cardinals |= {hundred + word: count * 100 + value for word, value in small.items() if 0 < value < 100}
    thousands = {"mille": 1000} | {f"{word}mila": value * 1000 for word, value in small.items() if 1 < value < 20}
    cardinals |= thousands | {"mille" + word: 1000 + value for word, value in cardinals.items() if 0 < value < 1000}
    ordinals = {
        f"{stem}{end}": value
        for stem, value in _listed("prim second terz quart quint sest settim ottav non decim", 1).items()
        for end in "oaie"
    }
    return Words(cardinals, {}, ordinals, frozenset(), frozenset({"º", "ª", "°"}))


def _french() -> Words:
    cardinals = _listed(
        "zero un/une deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize"
    ) | _listed("vingt/vingts trente quarante cinquante soixante", 20, 10)
    cardinals |= {"septante": 70, "huitante": 80, "nonante": 90}
    ordinals = {"premier": 1, "premiere": 1, "premiers": 1, "premieres": 1, "second": 2, "seconde": 2} | _listed(
        "deuxieme troisieme quatrieme cinquieme sixieme septieme huitieme neuvieme dixieme onzieme douzieme", 2
    )
    return Words(cardinals, {"cent": 100, "cents": 100, "mille": 1000}, ordinals, frozenset({"et", "-"}),
                 frozenset({"er", "ere", "e", "eme", "nd"}))  # fmt: skip


_TABLES = {"en": _english, "es": _spanish, "it": _italian, "fr": _french}
_HAN = {char: value for value, char in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "○": 0,
    "Ｏ": 0,
    "两": 2,
    "０": 0,
}
_HAN_POWERS = {"十": 10, "百": 100, "千": 1000, "万": 10_000}
_KOREAN = _listed("하나/한 둘/두 셋/세/석 넷/네/넉 다섯 여섯 일곱 여덟 아홉 열 열한 열두", 1)
_ROMAN = re.compile(r"(x{0,2})(ix|iv|v?i{0,3})")


@cache
def words_of(language: str) -> Words:
    """The number words of a language.

    >>> words_of("it").cardinals["millenovecentonovantaquattro"], words_of("xx").cardinals
    (1994, {})
    """
    return _TABLES[language]() if language in _TABLES else Words({}, {}, {})


def check_language(language: str) -> str:
    """The language of a number recognizer; one without number words reads digits.

    >>> check_language("uk")
    'other'
    """
    if language in LANGUAGES:
        return language
    if not re.fullmatch(r"[a-z]{2,3}", language):
        raise ConfigError(
            f"unknown language {language!r}; {did_you_mean(language, LANGUAGES, 'give a code such as en, es or it')}"
        )
    return "other"


def plain(word: str) -> str:
    """A word without case and accents."""
    parts = unicodedata.normalize("NFD", word.casefold())
    return unicodedata.normalize("NFC", "".join(char for char in parts if unicodedata.category(char) != "Mn"))


def read_number(tokens: list[str], start: int, language: str) -> tuple[Number, int] | None:
    """The longest number from a place on, and the place after it; tokens are lower-cased.

    >>> read_number(["twenty", "-", "five", "years"], 0, "en")
    (Number(value=25, ordinal=False, digits=0), 3)
    >>> read_number(["12", "th"], 0, "en"), read_number(["nineteen", "ninety", "six"], 0, "en")
    ((Number(value=12, ordinal=True, digits=2), 2), (Number(value=1996, ordinal=False, digits=0), 3))
    >>> read_number(list("一九九三年"), 0, "zh"), read_number(list("三十日"), 0, "zh")
    ((Number(value=1993, ordinal=False, digits=4), 4), (Number(value=30, ordinal=False, digits=0), 2))
    """
    token = tokens[start]
    if token.isdecimal():
        if len(token) > 6:
            return None
        words, end = words_of(language), start + 1
        ordinal = end < len(tokens) and plain(tokens[end]) in words.suffixes
        return Number(int(token), ordinal, len(token)), end + ordinal
    if language == "zh":
        return _han(tokens, start)
    if language == "ko":
        return (Number(_KOREAN[token]), start + 1) if token in _KOREAN else None
    return _spelled(tokens, start, words_of(language))


def _spelled(tokens: list[str], start: int, words: Words) -> tuple[Number, int] | None:
    """A number in words: what follows a larger round number adds, powers multiply."""
    total = part = 0
    seen, end, place, last = False, start, start, 10**9
    while place < len(tokens):
        word = plain(tokens[place])
        if seen and (word in words.joints or word == "-") and place + 1 < len(tokens):
            following = plain(tokens[place + 1])
            if following not in words.cardinals and following not in words.ordinals:
                break
            if word in words.joints and word != "-" and part < 20:
                break
            place += 1
            continue
        if word in words.ordinals:
            value = words.ordinals[word]
            if not seen or (part and part % 10 == 0 and value < 10 and part % 100):
                return Number(total + part + value, True), place + 1
            break
        if word in words.cardinals:
            value = words.cardinals[word]
            if not seen or (value < last and part % _round(value) == 0 and part):
                part += value
            elif total == 0 and 10 <= part < 100 and 10 <= value < 100 and part < 22:
                part = part * 100 + value  # nineteen ninety
            elif total and part == 0:
                part = value
            elif part == 4 and value == 20:
                part = 80  # quatre-vingts
            elif part in (60, 80) and 10 <= value < 20:
                part += value
            else:
                break
            last = value if value % 10 == 0 else 1
        elif word in words.powers and (seen or word not in ("million", "millon", "millones")):
            power = words.powers[word]
            if power == 100:
                part = (part or 1) * 100
                last = 100
            else:
                total, part, last = total + (part or 1) * power, 0, power
        else:
            break
        seen, place = True, place + 1
        end = place
    return (Number(total + part), end) if seen else None


def _round(value: int) -> int:
    return 10 if value < 10 else 100 if value < 100 else 1000


def _han(tokens: list[str], start: int) -> tuple[Number, int] | None:
    end = start
    while end < len(tokens) and (tokens[end] in _HAN or tokens[end] in _HAN_POWERS):
        end += 1
    if end == start:
        return None
    chars = tokens[start:end]
    ordinal = start > 0 and tokens[start - 1] == "第"
    if not any(char in _HAN_POWERS for char in chars):
        if len(chars) > 6:
            return None
        return Number(int("".join(str(_HAN[char]) for char in chars)), ordinal, len(chars)), end
    total = digit = 0
    for char in chars:
        if char in _HAN:
            digit = _HAN[char]
        else:
            power = _HAN_POWERS[char]
            total = (total + digit) * power if power == 10_000 else total + (digit or 1) * power
            digit = 0
    return Number(total + digit, ordinal), end
