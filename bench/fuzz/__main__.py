"""The command line of the fuzzer: `python -m bench.fuzz`."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from weft.recipes import record

from . import RESULTS, __doc__, frame, journal


def main(words: Sequence[str] | None = None) -> int:
    """Attack, record, and tell how many attacks did not hold."""
    options = _options().parse_args(words)
    available = {part.name: part for part in frame.parts(options.folder)}
    unknown = [name for name in options.parts if name not in available]
    if unknown:
        print(f"fuzz: there is no part {unknown[0]!r}; there are {', '.join(available)}", file=sys.stderr)
        return 2
    chosen = [part for part in available.values() if not options.parts or part.name in options.parts]
    if options.repeat is not None:
        if len(chosen) != 1:
            print("fuzz: name the part whose attack to repeat", file=sys.stderr)
            return 2
        options.seed, options.count, options.dry = -options.repeat, chosen[0].batch, True
    if options.journal is not None:
        os.environ[journal.FOLDER] = str(options.journal.resolve())
    entries: list[frame.Entry] = []
    commit, date = record.commit(), record.now()

    def done(entry: frame.Entry) -> None:
        entries.append(entry)
        print(_line(entry), flush=True)
        if not options.dry:
            _record(entry, options.out, commit, date)

    interrupted = False
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends the parts' processes too
    try:
        frame.attack(chosen, options.seed, options.count, options.minutes, done)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        signal.signal(signal.SIGTERM, before)
    _tell(entries)
    if options.keep is not None and (kept := frame.keep(entries, options.keep)):
        print(f"{len(kept)} failures kept in {options.keep}")
    failed = sum(entry.outcome.failed for entry in entries if entry.outcome is not None)
    return 130 if interrupted else int(failed > 0)


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench.fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help="parts to run (default: all)")
    parser.add_argument("--minutes", type=float, help="time of the whole run (default: until every part is done)")
    parser.add_argument("--count", type=int, help="attacks per part (default: each part's own number)")
    parser.add_argument("--seed", type=int, default=0, help="the same seed makes the same attacks (default: 0)")
    parser.add_argument("--repeat", type=int, metavar="SEED", help="repeat the attack of a failure; records nothing")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where to write failures and their inputs")
    parser.add_argument("--journal", type=Path, metavar="FOLDER", help="where to note attacks one by one, to resume")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="FILE", help="where to record the results")
    parser.add_argument("--dry", action="store_true", help="record nothing")
    parser.add_argument("--folder", type=Path, default=frame.HERE, help="where the parts are (default: here)")
    return parser


def _line(entry: frame.Entry) -> str:
    if entry.outcome is None:
        return f"{entry.part.name:10} left out: it needs {entry.missing}"
    attempts, failed = entry.outcome.attempts, entry.outcome.failed
    return f"{entry.part.name:10} {attempts:>9,} attacks {failed:>5,} failures {entry.minutes:6.1f} minutes"


def _tell(entries: Sequence[frame.Entry]) -> None:
    for entry in entries:
        for failure in entry.outcome.failures if entry.outcome is not None else []:
            print(f"{entry.part.name}, {failure.what}, seed {failure.seed}: {failure.detail}")


def _record(entry: frame.Entry, path: Path, commit: str, date: str) -> None:
    """Put one part's results in place of its earlier ones."""
    old = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    facts = frame.merged(old, frame.recorded([entry], commit, date))
    whole = {"name": "fuzz", **facts, "machine": record.machine(), "commit": commit, "date": date}
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    part.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    part.replace(path)


if __name__ == "__main__":
    sys.exit(main())
