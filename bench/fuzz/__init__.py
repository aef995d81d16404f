"""Attacks on Weft for minutes or hours: bad text, damaged files, hostile models, bad requests, kills.

    python -m bench.fuzz                                 # every part in full: hours
    python -m bench.fuzz --minutes 60 --seed 1           # what an hour allows, for every part
    python -m bench.fuzz documents inputs --minutes 5    # some parts
    python -m bench.fuzz models --count 50 --keep kept   # few attacks; failing inputs go to the folder `kept`
    python -m bench.fuzz documents --repeat 8236451      # the attack of a failure, by its seed

Every module here that has `run(count, seed, minutes) -> Outcome` is a part (see `outcome.py`). Results go to
`results/bench-fuzz.json`, part by part: those of other parts stay. The exit code is 1 if an attack did not hold.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parents[2] / "results" / "bench-fuzz.json"


def run() -> dict[str, Any]:
    """All parts within the minutes of WEFT_BENCH_MINUTES, 60 if it is not set; for `bench/run.py`."""
    from weft.recipes import record

    from . import frame

    entries = frame.attack(frame.parts(), 0, None, float(os.environ.get("WEFT_BENCH_MINUTES", 60)))
    old = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    return frame.merged(old, frame.recorded(entries, record.commit(), record.now()))
