"""The frame of the fuzzer: finds the parts, runs each in a process of its own, and records what they return.

A run of M minutes divides them by the parts' `SHARE`; time that a part leaves over goes to those after it. Parts that
last the whole run (`BESIDE`) run beside the others. A part that dies, hangs or raises an exception is a failure. A part
whose packages are not installed is left out, and said so.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .adapters import ADAPTERS
from .outcome import Failure, Outcome
from .part import loads

HERE = Path(__file__).resolve().parent
#: A part may take this many times its minutes, and ten minutes more, before it counts as hanging.
PATIENCE = 1.5
GRACE = 600.0


@dataclass(frozen=True)
class Part:
    """A module of attacks, described without being imported."""

    name: str
    path: Path
    title: str
    count: int = 1_000
    share: float = 1.0
    beside: bool = False
    batch: int = 1


def parts(folder: Path = HERE) -> list[Part]:
    """The parts of a folder, in the order in which they run."""
    return [part for path in sorted(folder.glob("*.py")) if (part := _describe(path)) is not None]


def _describe(path: Path) -> Part | None:
    """A part by its source: a function `run` of a count and a seed, and constants; or a module with an adapter."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    arguments = next(
        (
            [one.arg for one in node.args.args]
            for node in tree.body
            if isinstance(node, ast.FunctionDef) and node.name == "run"
        ),
        [],
    )
    title = (ast.get_docstring(tree) or path.stem).split("\n", 1)[0]
    if path.parent == HERE and path.stem in ADAPTERS and arguments[:1] != ["count"]:
        adapter = ADAPTERS[path.stem]
        return Part(path.stem, path, title, adapter.count, adapter.share)
    if len(arguments) < 2 or path.stem.startswith("_"):
        return None
    constants: dict[str, Any] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name) and target.id in ("COUNT", "SHARE", "BESIDE", "BATCH"):
                constants[target.id.lower()] = _constant(node.value)
    return Part(path.stem, path, title, **{name: value for name, value in constants.items() if value is not None})


def _constant(node: ast.expr) -> Any:
    """A number written as such or as a product; None if it is anything else."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        left, right = _constant(node.left), _constant(node.right)
        return None if left is None or right is None else left * right
    return node.value if isinstance(node, ast.Constant) else None


@dataclass
class Entry:
    """What one part did in a run."""

    part: Part
    outcome: Outcome | None  # None: its packages are not installed
    seed: int
    minutes: float
    missing: str = ""


def attack(
    chosen: Sequence[Part],
    seed: int = 0,
    count: int | None = None,
    minutes: float | None = None,
    done: Callable[[Entry], None] = lambda entry: None,
) -> list[Entry]:
    """Run parts; `done` is told of each as soon as it ends, so that an interrupted run keeps what it has."""
    entries: list[Entry] = []
    end = None if minutes is None else time.monotonic() + 60 * minutes
    waiting = [part for part in chosen if not part.beside]
    running: list[_Process] = []

    def start(part: Part, left: float | None, quiet: bool = False) -> None:
        running.append(_Process(part, seed, count, left, quiet))

    def finish(process: _Process) -> None:
        entry = process.result()
        running.remove(process)
        entries.append(entry)
        done(entry)

    try:
        for part in chosen:
            if part.beside:
                start(part, minutes, quiet=bool(waiting or running))  # one progress bar at a time
        while waiting:
            part, shares = waiting[0], sum(part.share for part in waiting)
            start(part, None if end is None else max(end - time.monotonic(), 0.0) / 60 * part.share / shares)
            finish(running[-1])
            waiting.pop(0)
        while running:
            finish(running[0])
    finally:
        for process in running:
            process.stop()
    return entries


class _Process:
    """A part at work in a process of its own."""

    def __init__(self, part: Part, seed: int, count: int | None, minutes: float | None, quiet: bool) -> None:
        self.part, self.seed, self.minutes = part, seed, minutes
        self.started = time.monotonic()
        self.folder = Path(tempfile.mkdtemp(prefix="weft-fuzz-"))
        task = {
            "path": str(part.path), "count": part.count if count is None else count, "seed": seed, "minutes": minutes,
        }  # fmt: skip
        (self.folder / "task.json").write_text(json.dumps(task), encoding="utf-8")
        silence = {"WEFT_QUIET": "1"} if quiet else {}
        paths = [str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        self.process = subprocess.Popen(
            [sys.executable, "-m", f"{HERE.name}.part", str(self.folder)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "TMPDIR": str(self.folder), **silence},
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )

    def result(self) -> Entry:
        """Wait for the part and read what it found."""
        limit = None if self.minutes is None else PATIENCE * 60 * self.minutes + GRACE
        missing = ""
        try:
            self.process.wait(None if limit is None else max(limit - (time.monotonic() - self.started), 1.0))
            values = self._read()
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGABRT)  # has it say where it is
            time.sleep(1.0)
            self._kill()
            outcome: Outcome | None = self._dead(f"it still ran after {limit or 0:,.0f} seconds")
        else:
            missing = values.get("missing", "")
            outcome = None if missing else loads(values) if values else self._dead(_ending(self.process.returncode))
        taken = (time.monotonic() - self.started) / 60
        self.stop()
        return Entry(self.part, outcome, self.seed, taken, missing)

    def stop(self) -> None:
        """End the process and everything it started, and remove its folder."""
        self._kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def _read(self) -> dict[str, Any]:
        """What the process left, nothing if it died."""
        path = self.folder / "outcome.json"
        return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}

    def _dead(self, what: str) -> Outcome:
        log = self.folder / "faults.txt"
        said = log.read_text(encoding="utf-8", errors="replace").strip() if log.is_file() else ""
        failure = Failure("the part itself", self.seed, f"{what}\n{said}".strip())
        return Outcome(self.part.name, 1, 0, [failure], {}, {"the part itself": [1, 1]})


def _ending(code: int) -> str:
    return f"it died of signal {-code}" if code < 0 else f"it ended with exit code {code}"


def recorded(entries: Sequence[Entry], commit: str, date: str) -> dict[str, Any]:
    """The record of each part, with nothing that names a machine, a user or a path."""
    return {
        entry.part.name: {
            "title": entry.part.title.rstrip("."),
            "attempts": entry.outcome.attempts,
            "failures": entry.outcome.failed,
            "seed": entry.seed,
            "date": date,
            "commit": commit,
            "minutes": round(entry.minutes, 1),
            "kinds": {kind: list(row) for kind, row in sorted(entry.outcome.kinds.items())},
            "figures": entry.outcome.figures,
            "failed": [
                {"what": failure.what, "seed": failure.seed, "detail": _without_paths(failure.detail)}
                for failure in entry.outcome.failures
            ],
        }
        for entry in entries
        if entry.outcome is not None
    }


def merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """The facts of all parts, those of the last run in place of earlier ones, with one row each for the table."""
    both = {**old.get("parts", {}), **new}
    every = {name: both[name] for name in sorted(both)}
    rows = [
        {
            "part": name, "attacks": facts["attempts"], "failures": facts["failures"], "seed": facts["seed"],
            "minutes": facts["minutes"], "commit": facts["commit"], "date": facts["date"][:10],
        }
        for name, facts in every.items()
    ]  # fmt: skip
    attempts, failures = (sum(facts[key] for facts in every.values()) for key in ("attempts", "failures"))
    return {
        "title": "Attacks on Weft", "rows": rows, "attempts": attempts, "failures": failures, "parts": every,
    }  # fmt: skip


def keep(entries: Sequence[Entry], folder: Path) -> list[Path]:
    """Write every failure and its input into a folder, to be repeated."""
    written = []
    for entry in entries:
        for number, failure in enumerate(entry.outcome.failures if entry.outcome is not None else [], start=1):
            folder.mkdir(parents=True, exist_ok=True)
            stem = f"{entry.part.name}-{number:03}-{failure.seed}"
            facts = {"part": entry.part.name, "what": failure.what, "seed": failure.seed, "detail": failure.detail}
            path = folder / f"{stem}.json"
            path.write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            written.append(path)
            if failure.case is not None:
                case = failure.case
                data = case.encode("utf-8", "surrogatepass") if isinstance(case, str) else case
                (folder / f"{stem}.case").write_bytes(data)
    return written


def _without_paths(text: str) -> str:
    """A description in which folders of this machine are only dots."""
    return re.sub(r"(?<![\w.])/(?:[^\s/'\"<>]+/)+", ".../", text)
