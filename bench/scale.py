"""Annotating large amounts of text into a folder: speed with one and two processes, and constant memory.

The text repeats the examples of the repository in one file, every paragraph with a word never seen before. Each `weft
annotate FILE --to conllu` runs in a separate process, whose resident memory (including its workers) is sampled twice a
second: a million words into a folder with one and with two processes, and into one file with one and two threads; then
a long run of two million words, or the number in WEFT_BENCH_WORDS. The model is the English one of the package or, if
it is missing, a small pipeline trained on the examples: segmenter, tagger, lemmatizer, parser.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

SHORT, LONG = 1_000_000, int(os.environ.get("WEFT_BENCH_WORDS", 2_000_000))
EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
SMALL = ("segmenter", "tagger", "lemmatizer", "parser")
TARGETS = {
    "folder/, 1 process": ("--out", "many/", "--workers", "1"),
    "folder/, 2 processes": ("--out", "both/", "--workers", "2"),
    "one file, 1 thread": ("--out", "one.conllu", "--workers", "1"),
    "one file, 2 threads": ("--out", "two.conllu", "--workers", "2"),
}


def run() -> dict[str, Any]:
    """Annotate the text in all ways and report speed and memory of each."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kind, models = _models(folder)
        _annotate(folder, models, EXAMPLES / "note.txt", ("--out", "warm.conllu"))
        rows, samples = [], {}
        runs = [(target, SHORT, options) for target, options in TARGETS.items()]
        for target, size, options in [*runs, (f"folder/, {LONG:,} words", LONG, ("--out", "long/"))]:
            words = write_text(folder / "text.txt", size)
            before = _cpu_of_children()
            seconds, memory = _annotate(folder, models, folder / "text.txt", options)
            cpu_seconds = _cpu_of_children() - before
            samples[target] = memory
            half = len(memory) // 2
            rows.append({
                "into": target,
                "words/s": words / seconds,
                "words/CPU s": words / cpu_seconds,
                "most MB, first half": max(memory[: half + 1]),
                "most MB, second half": max(memory[half:]),
            })  # fmt: skip
    for row in rows[: len(TARGETS)]:
        alone = next(other for other in rows if other["into"].split(",")[0] == row["into"].split(",")[0])
        row["speed-up"] = row["words/s"] / alone["words/s"]
    return {"title": f"Annotating {SHORT:,} words with {kind}, and {LONG:,}", "rows": rows, "rss_mb": samples}


def write_text(path: Path, words: int) -> int:
    """Paragraphs of the examples, each with a new word; returns the number of space-separated words."""
    paragraphs = [
        paragraph.replace("\n", " ")
        for name in ("note.txt", "port.txt", "report.txt")
        for paragraph in (EXAMPLES / name).read_text(encoding="utf-8").strip().split("\n\n")
    ]
    written = number = 0
    with path.open("w", encoding="utf-8") as file:
        while written < words:
            paragraph = f"{paragraphs[number % len(paragraphs)]} They called it the word{number}ish one."
            file.write(paragraph + "\n\n")
            written += len(paragraph.split())
            number += 1
    return written


def _models(folder: Path) -> tuple[str, list[str]]:
    """The English model, or a small one that is trained here."""
    from weft import read
    from weft.pipeline import models
    from weft.pipeline.registry import train

    if "en" in models.available():
        return "the English model", ["en"]
    for task in SMALL:
        train(task, read(EXAMPLES / "story.conllu"), None, folder / f"{task}.weft", {})
    return "a small model", [str(folder / f"{task}.weft") for task in SMALL]


def _annotate(folder: Path, models: list[str], text: Path, options: tuple[str, ...]) -> tuple[float, list[float]]:
    """The seconds of a run, and the memory of its processes over time."""
    chosen = [word for model in models for word in ("--model", model)]
    command = [sys.executable, "-m", "weft", "annotate", str(text), *chosen, "--to", "conllu", *options]
    environment = {**os.environ, "WEFT_QUIET": "1", "OPENBLAS_NUM_THREADS": "1"}
    start = time.perf_counter()
    with subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.DEVNULL) as process:
        memory = [0.0]
        while process.poll() is None:
            memory.append(round(_resident(process.pid), 1))
            time.sleep(0.5)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return time.perf_counter() - start, memory


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _resident(pid: int) -> float:
    """Megabytes of a process and its children."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:  # it has just ended
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6 + sum(_resident(int(child)) for child in children)
