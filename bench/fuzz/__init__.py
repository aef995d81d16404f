"""Bad input for minutes on end: random Unicode through the pipeline, random bytes through the command line."""

from __future__ import annotations

from typing import Any


def run() -> dict[str, Any]:
    """One minute, or the number in WEFT_BENCH_MINUTES."""
    from . import pipelines

    return pipelines.run()
