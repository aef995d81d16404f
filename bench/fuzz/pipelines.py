"""Bad input for minutes on end: random Unicode through the pipeline, random bytes through the command line.

`python bench/fuzz.py --minutes 5 --seed 1` generates texts of all the kinds below, annotates them in batches, checks
every document (`weft.text.validity`: offsets, forms, sentences, trees, spans), writes it as CoNLL-U and JSON Lines and
reads it again. A text that fails is printed with its random seed, and the run ends with exit code 1. `bench/run.py
fuzz` also sends lines of 10 MB through `weft annotate` and reports the memory used.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import weft
from weft.pipeline.pipeline import Pipeline
from weft.text.validity import check_doc

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
MINUTES = float(os.environ.get("WEFT_BENCH_MINUTES", 1))
SMALL = ("segmenter", "tagger", "lemmatizer", "parser")
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
    text = (EXAMPLES / "port.txt").read_text(encoding="utf-8")
    start = random.randrange(len(text))
    return text[start : start + random.randrange(300)]


LONG = 10_000_000
LINES = {
    "sentences": "The ferry left the harbour at nine, and the fog came. ", "no full stop": "no end in sight ",
    "one word": "abcdefghij", "one script": "语", "quotes": "(\"'", "combining marks": "\u0301", "NUL": "\x00",
    "blanks": " ",
}  # fmt: skip
KINDS: dict[str, Callable[[random.Random], str]] = {
    "any Unicode": _letters, "mixed scripts": _scripts, "control characters": _of(CONTROLS, 0.2),
    "zero width": _of(INVISIBLE, 0.4), "bidirectional": _of(BIDI, 0.3), "combining marks": _zalgo,
    "strange blanks": _of(BLANKS, 0.3), "only blanks": _blank, "nested quotes": _nested_quotes, "repeated": _repeated,
    "NUL": _of("\x00", 0.1), "links and numbers": _links, "English": english,
}  # fmt: skip


def small_pipeline(folder: Path) -> Pipeline:
    """A pipeline trained on the examples."""
    from weft.pipeline.registry import train

    components = []
    for task in SMALL:
        train(task, weft.read(EXAMPLES / "story.conllu"), None, folder / f"{task}.weft", {})
        components += weft.load(folder / f"{task}.weft").components
    return Pipeline(components)


def check(nlp: Pipeline, texts: list[str], folder: Path) -> None:
    """Annotate texts and check the results, in memory and through files."""
    docs = list(nlp.pipe(texts))
    for text, doc in zip(texts, docs, strict=True):
        if doc.text != text:
            raise AssertionError("the text was changed")
        check_doc(doc)
        if doc.text.strip() and not doc.n_words and any(unicodedata.category(c)[0] in "LNPS" for c in doc.text):
            raise AssertionError("no words were found")
    weft.write(docs, folder / "a.jsonl")
    for doc, again in zip(docs, weft.read(folder / "a.jsonl"), strict=True):
        if not doc.same(again):
            raise AssertionError("JSON Lines lose something")
    for doc in docs:
        if doc.n_words:
            weft.write([doc], folder / "a.conllu", comments="add")
            read = list(weft.read(folder / "a.conllu"))
            if [word for part in read for word in part.column("form")] != doc.column("form"):
                raise AssertionError("CoNLL-U changes words")
            if len(read) == 1 and read[0].text != doc.text:
                raise AssertionError("CoNLL-U changes the text")


def fuzz(nlp: Pipeline, seed: int, minutes: float, batch: int = 30) -> dict[str, Any]:
    """Generate and check texts until the time is up; failures are reported with their random seed."""
    end = time.monotonic() + 60 * minutes
    counts = dict.fromkeys(KINDS, 0)
    failures: list[dict[str, Any]] = []
    characters = 0
    with tempfile.TemporaryDirectory() as name:
        while time.monotonic() < end and len(failures) < 20:
            source = random.Random(seed)
            kinds = [source.choice(list(KINDS)) for _ in range(batch)]
            texts = [KINDS[kind](source) for kind in kinds]
            try:
                check(nlp, texts, Path(name))
            except Exception:
                for kind, text in zip(kinds, texts, strict=True):
                    try:
                        check(nlp, [text], Path(name))
                    except Exception as error:
                        failures.append({"seed": seed, "kind": kind, "text": text, "error": repr(error)})
            for kind, text in zip(kinds, texts, strict=True):
                counts[kind] += 1
                characters += len(text)
            seed += 1
    return {"texts": counts, "characters": characters, "failures": failures}


def long_lines(folder: Path, model: list[str]) -> list[dict[str, Any]]:
    """Files of one line of 10 MB through the command line."""
    rows = []
    for name, line in LINES.items():
        path = folder / "line.txt"
        path.write_text((line * (LONG // len(line.encode()) + 1)), encoding="utf-8")
        command = [sys.executable, "-m", "weft", "annotate", str(path), *model, "--to", "jsonl"]
        before = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "WEFT_QUIET": "1"}) as process:
            _, status, usage = os.wait4(process.pid, 0)
        rows.append({
            "line": name, "exit code": os.waitstatus_to_exitcode(status), "most MB": round(usage.ru_maxrss / 1024),
            "seconds": round(time.perf_counter() - before, 1),
        })  # fmt: skip
    return rows


def run() -> dict[str, Any]:
    """One minute, or the number in WEFT_BENCH_MINUTES."""
    from weft.pipeline import models

    with tempfile.TemporaryDirectory() as folder:
        named = {"small": small_pipeline(Path(folder))}
        if "en" in models.available():
            named["en"] = weft.load("en")
        found = {name: fuzz(nlp, 1, MINUTES / len(named)) for name, nlp in named.items()}
        chosen = ["en"] if "en" in named else [f"{folder}/{task}.weft" for task in SMALL]
        lines = long_lines(Path(folder), [word for model in chosen for word in ("--model", model)])
    rows = [
        {
            "input": f"{kind}, model {name}",
            "texts": count,
            "failures": sum(f["kind"] == kind for f in facts["failures"]),
        }
        for name, facts in found.items()
        for kind, count in facts["texts"].items()
    ]
    rows += [
        {"input": f"a line of 10 MB: {row['line']}", "texts": 1, "failures": int(row["exit code"] != 0)}
        | {"most MB": row["most MB"]}
        for row in lines
    ]
    return {"title": f"Fuzzing for {MINUTES:g} minutes", "rows": rows, "found": found, "lines": lines}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=MINUTES)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--model", help="a model to use instead of a small one trained here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        nlp = weft.load(options.model) if options.model else small_pipeline(Path(folder))
        found = fuzz(nlp, options.seed, options.minutes)
    print(f"{sum(found['texts'].values()):,} texts, {found['characters']:,} characters")
    for failure in found["failures"]:
        print(f"seed {failure['seed']}, {failure['kind']}: {failure['error'][:300]}\n    {failure['text'][:200]!r}")
    sys.exit(bool(found["failures"]))


if __name__ == "__main__":
    main()
