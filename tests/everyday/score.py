"""Score a model on the everyday sentences: `python tests/everyday/score.py`.

Prints what is wrong, by category and sentence. With `--keep` the result goes to `results/everyday.json`, from which
`make render` writes docs/judge/everyday.md. `--held` scores the other half, for a model that is final; it tells only
how many sentences are right, so that nobody tunes a model to them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import weft
from everyday import FLOOR, HELD, SEEN, as_record, read_sentences, score
from weft.errors import ConfigError, WeftError
from weft.recipes import record
from weft.storage import digest

RESULTS = Path(__file__).resolve().parents[2] / "results" / "everyday.json"
#: The model of the package, which a model of that name in the user's folder does not replace here.
SHIPPED = Path(weft.__file__).parent / "models" / "en.weft"


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default=SHIPPED, help="a model by name or file (default: en of the package)")
    parser.add_argument("--held", action="store_true", help="score the half that tuning must not see")
    parser.add_argument("--keep", action="store_true", help="keep the result for the documentation")
    options = parser.parse_args(words)
    try:
        if options.keep and options.model != SHIPPED:
            raise ConfigError("the documentation shows the model en of the package; leave out --keep or --model")
        report = score(weft.load(options.model), read_sentences(HELD if options.held else SEEN))
        if options.keep:
            keep(RESULTS, "held" if options.held else "seen", as_record(report, with_failures=not options.held))
        print(f"{report.right} of {len(report.verdicts)} sentences are right" if options.held else report)
    except WeftError as error:
        print(f"score: {error}", file=sys.stderr)
        return 1
    return 0


def keep(path: Path, half: str, counts: dict[str, Any]) -> None:
    """Store the result of one half; the other half's stays if it is of the same model."""
    model = digest(SHIPPED)
    kept = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    halves = kept.get("halves", {}) if kept.get("digest") == model else {}
    halves[half] = counts
    about = {"model": "en", "digest": model, "floor": FLOOR, "date": record.now()}
    text = json.dumps({**about, "halves": halves}, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
