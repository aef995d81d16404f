"""200 requests at once are answered without error, bad ones refused, and the service goes on: a short benchmark."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import ModuleType

from weft.pipeline.pipeline import Pipeline


def test_the_service_holds_200_requests_at_once_and_goes_on_after_bad_ones(
    bench: ModuleType, nlp: Pipeline, tmp_path: Path
) -> None:
    nlp.save(tmp_path / "small.weft")
    with bench.service(str(tmp_path / "small.weft")) as (address, process):
        figures = asyncio.run(bench.measure(address, process.pid, clients=200, each=1))
        assert process.poll() is None
    for load in (*figures["loads"].values(), figures["after"]):
        assert (load["requests"], load["errors"]) == (200, 0), load["first_errors"]
        assert load["words_per_second"] > 0
    assert (figures["bad"], figures["bad_not_refused"]) == (101, 0)
    assert figures["rss_mb_last"] < figures["rss_mb_first"] + 150
