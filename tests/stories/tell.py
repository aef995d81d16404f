"""Run the stories of users in processes of their own.

python tests/stories/tell.py wheels FOLDER     in a fresh environment, from the wheels in a folder: no checkout, no network
python tests/stories/tell.py here              with the interpreter and the packages that run this file
"""  # noqa: E501

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

from stories import STORIES, Step

#: Python imports this before anything else: a story that reaches for the network fails.
NO_NETWORK = """
import socket

def _refuse(self, address, *rest):
    if self.family != getattr(socket, "AF_UNIX", None) and address[0] not in ("127.0.0.1", "localhost", "::1"):
        raise OSError(f"a story reached for the network: {address}")
    return _connect(self, address, *rest)

_connect, socket.socket.connect = socket.socket.connect, _refuse
"""


def run_step(python: Path, step: Step, folder: Path, environment: dict[str, str]) -> str:
    """Run a step; gives what is wrong with it, or nothing."""
    words = ["-c", step.code] if step.code else ["-m", "weft", *shlex.split(step.command)]
    done = subprocess.run(
        [str(python), *words], cwd=folder, env=environment, input=step.stdin, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    return faults(step, done.returncode, done.stdout + done.stderr, folder)


def faults(step: Step, code: int, printed: str, folder: Path) -> str:
    """What is wrong with a step that has run."""
    flat = " ".join(printed.replace("│", " ").split())
    wrong = [f"exit code {code}"] if code != step.exit_code else []
    wrong += [f"does not print {text!r}" for text in step.prints if text not in printed and text not in flat]
    wrong += [f"does not write {name}" for name in step.writes if not (folder / name).exists()]
    return f"{', '.join(wrong)}\n{printed[-2000:]}" if wrong else ""


def run_stories(python: Path, environment: dict[str, str]) -> int:
    """Run all stories in a new folder; the number of steps that fail."""
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        for number, story in enumerate(STORIES, 1):
            start = time.perf_counter()
            wrong = [(step, run_step(python, step, Path(name), environment)) for step in story.steps]
            wrong = [(step, fault) for step, fault in wrong if fault]
            failures += len(wrong)
            seconds = time.perf_counter() - start
            print(f"{'FAILED' if wrong else 'ok    '} {number:2d}. {story.name} ({seconds:.0f} s)", flush=True)
            for step, fault in wrong:
                print(f"       {step.command or step.code!r}: {fault}", flush=True)
    return failures


def from_wheels(wheels: Path) -> int:
    """Install Weft from a folder of wheels into a fresh environment and run the stories there."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        venv.create(home / "venv", with_pip=True)
        python = home / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
        install = ["-m", "pip", "install", "--quiet", "--no-index", "--find-links", str(wheels.absolute()), "weft"]
        subprocess.run([str(python), *install], cwd=home, check=True)
        packages = sum(path.stat().st_size for path in (home / "venv").rglob("*") if path.is_file())
        print(f"the environment takes {packages / 1e6:,.0f} MB", flush=True)
        (home / "sitecustomize.py").write_text(NO_NETWORK, encoding="utf-8")
        kept = {key: value for key, value in os.environ.items() if key in ("PATH", "HOME", "LANG", "SYSTEMROOT")}
        own = {"PYTHONPATH": name, "XDG_DATA_HOME": name, "COLUMNS": "120", "NO_COLOR": "1"}
        return run_stories(python, {**kept, **own})


def main() -> None:
    match sys.argv[1:]:
        case ["wheels", folder]:
            sys.exit(1 if from_wheels(Path(folder)) else 0)
        case ["here"]:
            sys.exit(1 if run_stories(Path(sys.executable), dict(os.environ)) else 0)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
