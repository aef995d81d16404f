"""Language models beside KenLM and IRSTLM: training, queries from Python, and ten million n-grams in memory.

All measure CPU seconds on the litbank novels. Training: a 4-gram Witten-Bell model of 60,000 sentences from a file of
words to a file, by `weft lm train` and by IRSTLM's `tlm`, whose folder of programs the variable IRSTLM names. Queries:
sentences as strings in, one score per sentence out, best of three; KenLM reads the same ARPA file into its own
structure, and its scores must be ours. Memory: all novels, counted, smoothed and saved in one process of its own.
Without a peer, its cells are empty.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from weft import data
from weft.recipes.translation.marginal_constraint_lm.novels import novels
from weft.tasks.language_models import lm

try:
    import kenlm  # type: ignore[import-not-found, unused-ignore]
except ImportError:
    kenlm = None

CORPUS = "raw/litbank-novels.txt.tar.gz"
GOAL_QUERIES, GOAL_MEGABYTES, GOAL_NGRAMS = 0.5, 1000, 10_000_000
TRAIN = """
import resource, sys
from weft.tasks.language_models import lm
model = lm.train(lm.of_lines([sys.argv[1]]), order=4, min_count=2, method="witten-bell", memory=int(sys.argv[3]))
lm.save(model, sys.argv[2])
print(sum(model.counts()), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
QUERY = """
import resource, sys
from weft.tasks.language_models import lm
model = lm.load(sys.argv[1])
print(model.perplexity(lm.of_lines([sys.argv[2]])).all, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def run() -> dict[str, Any]:
    """All measures."""
    path = data.find(CORPUS)
    with tempfile.TemporaryDirectory(prefix="weft-lm-") as folder:
        some, every = novels(path, 60_000), novels(path, 10**9)
        train, test, whole = (Path(folder, name) for name in ("train.txt", "test.txt", "all.txt"))
        tests = [sentence for novel in some.test.values() for sentence in novel]
        for file, text in ((train, some.train), (test, tests), (whole, [*every.train, *every.dev, *tests])):
            file.write_text("".join(" ".join(words) + "\n" for words in text), encoding="utf-8")
        del every
        rows = [
            _training(train, Path(folder)),
            _queries(train, test, Path(folder)),
            *_memory(whole, test, Path(folder)),
        ]
    return {
        "title": "Language models of order 4",
        "rows": rows,
        "goals": f"queries at least {GOAL_QUERIES} of KenLM's speed, training at least as fast as IRSTLM, "
        f"{GOAL_NGRAMS:,} n-grams within {GOAL_MEGABYTES} MB",
    }


def _row(what: str, weft: float, peer: float | None, better: str, note: str) -> dict[str, Any]:
    ratio = None if peer is None else (weft / peer if better == "more" else peer / weft)
    return {"what": what, "weft": weft, "peer": peer, "ratio": ratio, "note": note}


def _spent(words: Sequence[str | Path]) -> tuple[str, float]:
    """What a process prints, and the CPU seconds that it and its own take."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _training(train: Path, folder: Path) -> dict[str, Any]:
    out = folder / "trained.lm"
    printed, ours = min((_spent([sys.executable, "-c", TRAIN, train, out, "400"]) for _ in range(2)), key=_second)
    note = f"{int(printed.split()[0]):,} n-grams"
    theirs = None
    if programs := os.environ.get("IRSTLM"):
        # The program takes marks of sentences as words.
        marked = folder / "marked.txt"
        marked.write_text("".join(f"<s> {line.rstrip()} </s>\n" for line in train.open(encoding="utf-8")), "utf-8")
        arpa = folder / "theirs.arpa"
        options = [f"-tr={marked}", "-n=4", "-lm=wb", "-ps=no", f"-oarpa={arpa}"]
        theirs = _spent([str(Path(programs, "tlm")), *options])[1]
        with arpa.open(encoding="utf-8", errors="replace") as file:
            sizes = [int(line.rpartition("=")[2]) for line, _ in zip(file, range(8), strict=False) if "=" in line]
        note += f"; IRSTLM {sum(sizes):,}, its words without a threshold"
    return _row("training, CPU s", ours, theirs, "less", note)


def _second(pair: tuple[str, float]) -> float:
    return pair[1]


def _best(act: Callable[[], Any]) -> tuple[Any, float]:
    times, found = [], None
    for _ in range(3):
        start = time.process_time()
        found = act()
        times.append(time.process_time() - start)
    return found, min(times)


def _queries(train: Path, test: Path, folder: Path) -> dict[str, Any]:
    model = lm.load(folder / "trained.lm")
    lines = test.read_text(encoding="utf-8").splitlines()
    n_words = sum(len(line.split()) + 1 for line in lines)
    model.score(["warm", "up"])
    ours, spent = _best(lambda: list(model.score_each(line.split() for line in lines)))
    note, theirs = f"{n_words:,} words and ends", None
    if kenlm is not None:
        lm.save(model, folder / "trained.arpa")
        other = kenlm.Model(str(folder / "trained.arpa"))
        scores, seconds = _best(lambda: [other.score(line) for line in lines])
        theirs = n_words / seconds
        note += f"; largest difference {max(abs(a - b) for a, b in zip(ours, scores, strict=True)):.5f}"
    return _row("queries from Python, words per CPU s", n_words / spent, theirs, "more", note)


def _memory(whole: Path, test: Path, folder: Path) -> list[dict[str, Any]]:
    out = folder / "whole.lm"
    printed, spent = _spent([sys.executable, "-c", TRAIN, whole, out, "200"])
    n, kilobytes = (int(part) for part in printed.split())
    loaded = _spent([sys.executable, "-c", QUERY, out, test])[0].split()
    note = f"{n:,} n-grams, {spent:.0f} CPU s"
    size = out.stat().st_size / 1e6
    return [
        _row("training on all novels, peak MB", kilobytes / 1024, None, "less", note),
        _row("mapped and queried, peak MB", int(loaded[1]) / 1024, None, "less", f"a file of {size:.0f} MB"),
    ]
