"""Kill Weft while it writes, then look at what is left.

`run(rounds, seed)` repeats rounds of these kinds and gives the counts:

    annotate    `weft annotate` into a folder, stopped by KILL, TERM and INT at random times until it ends by itself:
                the folder is byte-identical to that of an undisturbed run, and files of others are unchanged
    train       `weft train` over an existing model, stopped at a random time: the file is the old model or the new one
    journal     decisions appended without pause, stopped by KILL: every confirmed decision is there
    full disk   the same commands with a limit on the size of files: a plain error, no half file, and a run without the
                limit resumes
    overlap     two runs into one folder at the same time: one works, the other waits for nothing and says so

Any traceback, half file or difference is a failure, and a failure names its round.
"""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
#: Files that a user keeps in the output folder; no run may touch them.
FOREIGN = {".download.part": b"mine", "notes.txt": b"mine too", ".notes.txt.abcdefgh.part": b"and mine"}
APPEND = """
import sys
from pathlib import Path
from weft.annotate.journal import Journal
with Journal(Path(sys.argv[1]), 100000, "x") as journal:
    for number in range(len(journal.decisions), 100000):
        journal.record(str(number), number % 3 == 0)
        print(number, flush=True)
"""


@dataclass
class Tally:
    """What was tried and what failed."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def check(self, holds: bool, name: str, message: str = "") -> None:
        """Count a check; note it if it fails."""
        self.counts[name] += 1
        if not holds:
            self.failures.append(f"{name} {self.counts[name]}: {message}"[:2000])

    def figures(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {**self.counts, "failures": len(self.failures), "failed": self.failures}


class Kills:
    """The rounds of one seed, in a folder of their own."""

    def __init__(self, folder: Path, seed: int, model: Path | None = None) -> None:
        self.folder, self.random, self.tally = folder, random.Random(seed), Tally()
        self.corpus, self.model = folder / "corpus", model or folder / "tagger.weft"
        self.corpus.mkdir(parents=True)
        paragraphs = [f"The ferry {i} left the harbour. A thin fog covered town {i % 7}!\n\n" for i in range(300)]
        (self.corpus / "large.txt").write_text("".join(paragraphs))
        for i in range(5):
            (self.corpus / f"{i}.txt").write_text("".join(paragraphs[i * 9 : i * 9 + 9]))
        if model is None:
            self._finish(self._train(self.model))
        begin = time.perf_counter()
        self._finish(self._annotate(folder / "whole", 1))
        self.seconds = time.perf_counter() - begin
        self.whole = contents(folder / "whole")

    def annotate(self, workers: int | None = None, kills: int | None = None) -> None:
        """Stop a run into a folder again and again, then let it end and compare."""
        out = self._fresh("out")
        out.mkdir()
        for name, data in FOREIGN.items():
            (out / name).write_bytes(data)
        workers = workers or self.random.choice((1, 1, 2))
        for _ in range(kills or self.random.randint(1, 3)):
            chosen = self.random.choice(SIGNALS)
            said = self._stop(self._annotate(out, workers), chosen, self.seconds)
            self.tally.counts[f"kills by {chosen.name}"] += 1
            self.tally.check("Traceback" not in said, "messages", said)
        self._finish(self._annotate(out, workers))
        self.tally.check(contents(out) == {**self.whole, **FOREIGN}, "annotate", str(sorted(contents(out))))

    def train(self) -> None:
        """Stop a training run that would replace a model."""
        model = self._fresh("model") / "m.weft"
        model.parent.mkdir()
        before = self.model.read_bytes()
        model.write_bytes(before)
        chosen = self.random.choice(SIGNALS)
        said = self._stop(self._train(model, seed=7), chosen, self.seconds)
        left = [path.name for path in model.parent.iterdir() if path != model]
        whole = model.read_bytes() == before or self._run("-m", "weft", "models", "info", str(model)).returncode == 0
        tidy = chosen != signal.SIGINT or not left
        self.tally.check(whole and tidy and "Traceback" not in said, "train", f"{chosen.name}: {left} {said}")

    def journal(self) -> None:
        """Stop a process that records decisions; all it confirmed must be there."""
        path = self._fresh("journal")
        confirmed = -1
        for _ in range(2):
            process = self._start("-c", APPEND, str(path))
            time.sleep(self.random.uniform(0, self.seconds))
            process.kill()
            numbers = process.communicate()[0].split()
            confirmed = max([confirmed, *map(int, numbers[:-1])])  # the last line may be cut
        names = self._run("-c", "import sys; from pathlib import Path; from weft.annotate.journal import Journal; "
                          "print(*Journal(Path(sys.argv[1]), 100000, 'x').decisions)", str(path))  # fmt: skip
        kept = set(names.stdout.split())
        good = names.returncode == 0 and {str(number) for number in range(confirmed + 1)} <= kept
        self.tally.check(good, "journal", f"{confirmed + 1} confirmed, {len(kept)} kept {names.stderr}")

    def full_disk(self) -> None:
        """Run out of space, then resume with enough."""
        out, model = self._fresh("out"), self._fresh("model.weft")
        most = max(map(len, self.whole.values()))
        limit = self.random.randint(100, most - 1)
        process = self._annotate(out, self.random.choice((1, 2)), limit)
        said = process.communicate()[1]
        plain = process.returncode not in (0, None) and "Traceback" not in said and "weft: " in said
        halves = [name for name, data in contents(out).items() if self.whole.get(name) != data]
        self.tally.check(plain and not halves, "full disk", f"limit {limit}: {halves} {said}")
        self._finish(self._annotate(out, 1))
        self.tally.check(contents(out) == self.whole, "full disk, resumed", f"limit {limit}")
        process = self._train(model, limit=self.random.randint(100, self.model.stat().st_size - 1))
        said = process.communicate()[1]
        good = process.returncode not in (0, None) and "Traceback" not in said and not model.exists()
        self.tally.check(good, "full disk, training", said)

    def overlap(self) -> None:
        """Start two runs into one folder."""
        out = self._fresh("out")
        runs = [self._annotate(out, 1)]
        time.sleep(self.random.uniform(0, self.seconds / 2))
        runs.append(self._annotate(out, 1))
        said = [run.communicate()[1] for run in runs]
        codes = sorted((run.returncode, "another run is writing" in text) for run, text in zip(runs, said, strict=True))
        good = codes in ([(0, False), (0, False)], [(0, False), (1, True)]) and contents(out) == self.whole
        self.tally.check(good, "overlap", f"{codes} {said}")

    def _fresh(self, name: str) -> Path:
        self.tally.counts["folders"] += 1
        return self.folder / f"{name}-{self.tally.counts['folders']}"

    def _annotate(self, out: Path, workers: int, limit: int | None = None) -> subprocess.Popen[str]:
        options = ["--to", "conllu", "--shard-size", "0.002", "--workers", str(workers)]
        words = ["annotate", str(self.corpus), "--model", str(self.model), "--out", f"{out}/", *options]
        return self._start("-m", "weft", *words, limit=limit)

    def _train(self, out: Path, limit: int | None = None, seed: int = 1) -> subprocess.Popen[str]:
        words = ["train", "tagger", str(EXAMPLES / "story.conllu"), "--epochs", "2", "--seed", str(seed)]
        return self._start("-m", "weft", *words, "--out", str(out), limit=limit)

    def _start(self, *words: str, limit: int | None = None) -> subprocess.Popen[str]:
        def prepare() -> None:
            signal.signal(signal.SIGINT, signal.default_int_handler)  # a background shell has it ignored
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        environment = {**os.environ, "WEFT_QUIET": "1", "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.Popen(
            [sys.executable, *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, preexec_fn=prepare,
        )  # fmt: skip

    def _run(self, *words: str) -> subprocess.CompletedProcess[str]:
        process = self._start(*words)
        out, said = process.communicate()
        return subprocess.CompletedProcess(process.args, process.returncode, out, said)

    def _stop(self, process: subprocess.Popen[str], chosen: signal.Signals, longest: float) -> str:
        """Send a signal after a random time; gives what the process said."""
        time.sleep(self.random.uniform(0.2, 1.1) * longest)
        process.send_signal(chosen)
        return process.communicate()[1]

    def _finish(self, process: subprocess.Popen[str]) -> None:
        said = process.communicate()[1]
        self.tally.check(process.returncode == 0, "undisturbed runs", said)


def contents(folder: Path) -> dict[str, bytes]:
    """All files of an output folder but the manifest, by name."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != "_weft.manifest"]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def run(rounds: int = 40, seed: int = 1) -> dict[str, Any]:
    """Rounds of killed annotation, and a quarter as many of each other kind; gives counts and failures."""
    with tempfile.TemporaryDirectory(prefix="weft-kills-") as folder:
        kills = Kills(Path(folder) / "rounds", seed)
        others: list[Callable[[], None]] = [kills.train, kills.journal, kills.full_disk, kills.overlap]
        for number in range(rounds):
            kills.annotate()
            others[number % len(others)]()
        return kills.tally.figures()
