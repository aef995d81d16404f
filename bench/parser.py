"""The parser on English-EWT, gold words and tags: training time, speed and accuracy.

Speed is words a CPU second on one core, from documents of words with tags to documents with trees, the best of five
rounds over the dev file, the model in memory. With two threads it is words a second of wall time, beside that of one.
UDPipe's row was measured apart: its training takes an hour.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

FOLDER = "treebanks/ud/English-EWT"
#: Figures of peers measured apart, on a machine of the same kind: dev UAS, dev LAS, words/s.
UDPIPE = (87.7, 85.5, 8300.0)
CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "arc-eager, dynamic": {"system": "arc-eager"},
    "arc-hybrid, dynamic": {"system": "arc-hybrid"},
    "easy-first, dynamic": {"system": "easy-first"},
    "arc-eager, beam 16": {"system": "arc-eager", "oracle": "static", "beam": 16},
}


def run() -> dict[str, Any]:
    """Train every configuration and measure."""
    train, dev = docs("train"), docs("dev")
    rows = [measure(name, options, train, dev) for name, options in CONFIGURATIONS.items()]
    peer = dict(zip(("dev UAS", "dev LAS", "words/s"), UDPIPE, strict=True))
    rows.append({"parser": "UDPipe 1.4, beam 5 (measured apart)", **peer})
    return {"title": "Parsers, English-EWT dev, gold words and tags", "rows": rows}


def docs(part: str) -> list[Any]:
    """The documents of a file."""
    from weft import data
    from weft.formats import read

    return list(read(data.find(f"{FOLDER}/{part}.conllu.gz")))


def measure(name: str, options: dict[str, Any], train: Sequence[Any], dev: Sequence[Any]) -> dict[str, Any]:
    """Train a parser and measure it."""
    from weft.tasks.parse import Parser

    warm = Parser.of_options({**options, "epochs": 1})
    warm.fit(train[:3])
    warm(list(dev[:3]))
    parser = Parser.of_options(options)
    started = time.process_time()
    report = parser.fit(train)
    seconds = time.process_time() - started
    scores = parser.scores(dev)
    words = sum(doc.n_words for doc in dev)
    one = _shortest(lambda: parser(dev), time.process_time)
    return {
        "parser": name,
        "dev UAS": 100 * scores["UAS"],
        "dev LAS": 100 * scores["LAS"],
        "words/s": words / one,
        "two threads": _threads(parser, dev),
        "CPU s an epoch": seconds / report["training"]["epochs"],
        "MB": sum(array.nbytes for array in parser.state()[1].values()) / 1e6,
    }


def _shortest(work: Callable[[], None], clock: Callable[[], float], rounds: int = 5) -> float:
    seconds = []
    for _ in range(rounds):
        start = clock()
        work()
        seconds.append(clock() - start)
    return min(seconds)


def _threads(parser: Any, dev: Sequence[Any]) -> float:
    """How many times as fast two threads are as one, by wall time."""
    halves = [dev[0::2], dev[1::2]]

    def in_turn() -> None:
        for half in halves:
            parser(half)

    with ThreadPoolExecutor(2) as pool:
        return _shortest(in_turn, time.perf_counter) / _shortest(
            lambda: list(pool.map(parser, halves)) and None, time.perf_counter
        )


if __name__ == "__main__":
    for line in run()["rows"]:
        print(line)
