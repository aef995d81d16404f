"""Reading CoNLL-U into documents: words per second of CPU time, Weft and the `conllu` package in one run.

Both read the same gzipped file from disk into memory, alternately, several times; the best time of each counts.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from weft import data
from weft.formats.conllu import files as conllu

FILE = "treebanks/ud/English-EWT/train.conllu.gz"


def run(path: Path | None = None, rounds: int = 3) -> dict[str, Any]:
    """Measure both readers on one file."""
    file = path or data.find(FILE)
    words = sum(doc.n_words for doc in conllu.read(str(file)))
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(rounds):
        ours.append(_seconds(lambda: list(conllu.read(str(file)))))
        theirs.append(_seconds(lambda: _with_conllu_package(file)))
    speed, peer = words / min(ours), words / min(theirs)
    return {
        "title": f"Reading CoNLL-U, {words:,} words: Weft and the conllu package",
        "rows": [
            {"measured": "words a CPU second", "Weft": round(speed), "conllu": round(peer), "ratio": speed / peer},
        ],
        "words": words,
        "ratio": round(speed / peer, 2),
    }


def _with_conllu_package(file: Path) -> list[Any]:
    import conllu as package

    with gzip.open(file, "rt", encoding="utf-8") as stream:
        return list(package.parse_incr(stream))


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    print(json.dumps(run(Path(sys.argv[1]) if len(sys.argv) > 1 else None), indent=2))
