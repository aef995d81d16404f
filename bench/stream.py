"""A stream of a million sentences, annotated in constant memory.

Sentences take their tags from the examples of the repository; each has at least one word never seen before, so that
anything that stores words shows up. They are processed as in `weft annotate`: a file of columns is read, the chunker
annotates documents on one thread, columns are written. The resident memory of the process is recorded every 10,000
sentences: after the warm-up, it must not grow.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weft.text import Doc

SENTENCES = 1_000_000
EVERY = 10_000
#: Tables of words are dropped when they hold 30,000, those of files at 200,000, so memory rises and falls with these
#: periods: what must not grow is its height, compared here between two parts of the stream, each of several periods.
WARM, MIDDLE = 200_000, 600_000
EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "chunks.conll"


def run() -> dict[str, Any]:
    """Annotate the stream and report memory and speed."""
    with tempfile.TemporaryDirectory() as folder:
        figures = in_a_process(Path(folder), SENTENCES, EVERY)
    samples: list[dict[str, float]] = figures["samples"]

    def most(low: int, high: int) -> float:
        return max(sample["rss_mb"] for sample in samples if low < sample["sentences"] <= high)

    earlier, later = most(WARM, MIDDLE), most(MIDDLE, SENTENCES)
    return {
        "title": f"Annotating a stream of {SENTENCES:,} sentences",
        "rows": [
            {"measured": "words", "Weft": figures["words"]},
            {"measured": "words never seen before", "Weft": SENTENCES},
            {"measured": "words a second, from file to file", "Weft": figures["words_per_second"]},
            {"measured": "words a CPU second", "Weft": figures["words_per_cpu_second"]},
            {"measured": f"most memory up to {WARM:,} sentences, MB", "Weft": most(0, WARM)},
            {"measured": f"most memory from there to {MIDDLE:,}, MB", "Weft": earlier},
            {"measured": f"most memory from there to {SENTENCES:,}, MB", "Weft": later},
            {"measured": "growth once warm, MB", "Weft": round(later - earlier, 1)},
        ],
        **figures,
    }


def in_a_process(folder: Path, sentences: int, every: int) -> dict[str, Any]:
    """Train the chunker, write the stream, and annotate it in a fresh process."""
    from weft.formats import read
    from weft.pipeline.registry import train

    model, stream = folder / "chunker.weft", folder / "stream.conll"
    train("chunker", read(EXAMPLES), None, model, {})
    write_stream(stream, sentences)
    command = [sys.executable, __file__, str(model), str(stream), str(every)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    figures: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return figures


def write_stream(path: Path, sentences: int, suffix: str = "") -> None:
    """Sentences of the examples, over and over, each time with a new noun, verb or adjective."""
    frames = [
        [line.split()[:2] for line in lines.split("\n")]
        for lines in EXAMPLES.read_text(encoding="utf-8").strip().split("\n\n")
    ]
    with path.open("w", encoding="utf-8") as file:
        for number in range(sentences):
            frame = frames[number % len(frames)]
            open_class = [i for i, (_, tag) in enumerate(frame) if tag[:2] in ("NN", "VB", "JJ")] or [0]
            new = open_class[number // len(frames) % len(open_class)]
            for i, (form, tag) in enumerate(frame):
                file.write(f"{form}{number}{suffix} {tag}\n" if i == new else f"{form} {tag}\n")
            file.write("\n")


def annotate(model: Path, stream: Path, every: int) -> dict[str, Any]:
    """Annotate the stream as the command does, and sample the memory of the process."""
    import weft

    nlp = weft.load(model)
    samples: list[dict[str, float]] = []
    words = 0

    def watched(docs: Iterable[Doc]) -> Iterator[Doc]:
        nonlocal words
        sentences = 0
        for doc in docs:
            yield doc
            words += doc.n_words
            sentences += doc.n_sentences
            if sentences >= every * (len(samples) + 1):
                seconds = round(time.perf_counter() - start, 2)
                samples.append({"sentences": sentences, "seconds": seconds, "rss_mb": round(resident(), 1)})

    start, cpu = time.perf_counter(), time.process_time()
    documents = weft.read(stream, fields="form xpos")
    weft.write(watched(nlp.pipe(documents)), os.devnull, "columns")
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu
    speeds = {"words_per_second": words / seconds, "words_per_cpu_second": words / cpu_seconds}
    return {"words": words, **speeds, "samples": samples}


def resident() -> float:
    """Megabytes of memory that the process holds now."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    print(json.dumps(annotate(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))))
