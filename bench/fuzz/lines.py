"""Lines of 10 MB through the command line: sentences, one word, one script, quotes, marks, NUL, blanks."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from weft.pipeline import models

from .outcome import Deadline, Outcome, attack_seed
from .pipelines import SMALL, small_pipeline

LONG = 10_000_000
LINES = {
    "sentences": "The ferry left the harbour at nine, and the fog came. ", "no full stop": "no end in sight ",
    "one word": "abcdefghij", "one script": "语", "combining marks": "\u0301", "NUL": "\x00",
    "blanks": " ", "quotes": "(\"'",
}  # fmt: skip
COUNT = 8
POLL = 0.2


def run(count: int, seed: int, minutes: float | None = None) -> Outcome:
    """One file per line; none is random."""
    outcome, deadline = Outcome("lines"), Deadline(minutes)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = [models.DEFAULT]
        if models.DEFAULT not in models.available():
            small_pipeline(folder)
            model = [str(folder / f"{task}.weft") for task in SMALL]
        for number, (kind, line) in enumerate(list(LINES.items())[:count]):
            if deadline.passed():
                break
            code, most = _annotate(folder / "line.txt", line, model, deadline)
            outcome.figures["most MB"] = max(most, outcome.figures.get("most MB", 0))
            if code:
                outcome.fail(kind, attack_seed(seed, number), f"exit code {code}")
            elif code == 0:
                outcome.hold(kind)
    return outcome


def _annotate(path: Path, line: str, model: list[str], deadline: Deadline) -> tuple[int | None, int]:
    """The exit code of `weft annotate` on a file of one line, None if time was up, and the memory it took, in MB."""
    path.write_text(line * (LONG // len(line.encode()) + 1), encoding="utf-8")
    command = [sys.executable, "-m", "weft", "annotate", str(path), "--to", "jsonl"]
    command += [word for name in model for word in ("--model", name)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "WEFT_QUIET": "1"})
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, round(usage.ru_maxrss / 1024)
        if deadline.passed():
            process.kill()
            process.wait()
            return None, 0
        time.sleep(POLL)
