"""Tags from a dictionary: time and memory of minimum label cover and EM on 1 and 8 million words.

The text is the Brown corpus, repeated; the dictionary is that of the corpus itself (164 tags without the marks of
titles and headlines). Times are CPU seconds on one core, except in the row of shards, which has wall-clock seconds for
two processes. Kernels are compiled before the clock starts. `memory` is the growth of the process's peak memory.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.data import root
from weft.infer.chains.label_lists import LabelLists
from weft.learn.generative.hmm import expected_counts, uniform_hmm
from weft.learn.label_cover.cluster import cover_labels_in_shards
from weft.learn.label_cover.cover import cover_labels
from weft.recipes.framework import RecipeOptions
from weft.recipes.sequences.dmlc_unsupervised_tagging import data as material
from weft.recipes.sequences.dmlc_unsupervised_tagging.experiment import Problem

MILLION = 1_000_000


def run(sizes: tuple[int, ...] = (MILLION, 8 * MILLION)) -> dict[str, Any]:
    """Measure each step."""
    options = RecipeOptions(data=root())
    text = material.brown(options)
    problem = Problem.of(text, material.dictionary_of(text))
    cover_labels(problem.lists)  # compiles
    expected_counts(problem.lists, uniform_hmm(problem.lists))
    rows: list[dict[str, Any]] = []
    seconds: dict[int, float] = {}
    for size in sizes:
        lists = repeated(problem.lists, size)
        found, seconds[size], memory = timed(lambda lists=lists: cover_labels(lists))
        rows.append({"measured": f"label cover, {len(lists):,} words", "seconds": seconds[size], "memory MB": memory,
                     "rate": f"{len(lists) / seconds[size]:,.0f} words/s", "labels": len(found)})  # fmt: skip
    lists = repeated(problem.lists, sizes[0])
    started = time.perf_counter()
    sharded = cover_labels_in_shards(lists, 2)
    clock = time.perf_counter() - started
    whole = cover_labels(lists)
    rows.append({"measured": f"label cover, {len(lists):,} words, 2 shards, by the clock", "seconds": clock,
                 "rate": f"{len(lists) / clock:,.0f} words/s", "labels": len(sharded)})  # fmt: skip
    plain, own, _ = timed(lambda: cover_labels(problem.lists, "plain"))
    rows.append({"measured": f"label cover, plain search, {len(problem.lists):,} words", "seconds": own,
                 "rate": f"{len(problem.lists) / own:,.0f} words/s", "labels": len(plain)})  # fmt: skip
    _, own, memory = timed(lambda: expected_counts(lists, uniform_hmm(lists)))
    rows.append({"measured": f"a round of EM, {len(lists):,} words", "seconds": own, "memory MB": memory,
                 "rate": f"{len(lists) / own:,.0f} words/s"})  # fmt: skip
    for row in rows:
        row["seconds"] = round(row["seconds"], 2)
    return {
        "title": f"Tags from a dictionary: {problem.lists.n_labels} tags, {text.n_words:,} words again and again",
        "rows": rows,
        "8 million words take this many times the seconds of 1 million": round(
            seconds[sizes[-1]] / seconds[sizes[0]], 2
        ),
        "shards choose the labels of one process": sharded.chosen == whole.chosen,
    }


def repeated(lists: LabelLists, n_words: int) -> LabelLists:
    """Repeat the sentences of a text until there are this many words."""
    times = -(-n_words // len(lists))
    size = len(lists)
    offsets = np.concatenate([[0], *(lists.offsets[1:] + k * size for k in range(times))])
    end = int(np.searchsorted(offsets, n_words))
    types = np.tile(lists.types, times)[: offsets[end]]
    return LabelLists(lists.begin, lists.listed, types, offsets[: end + 1], lists.n_labels)


def timed(work: Callable[[], Any]) -> tuple[Any, float, int]:
    """The result, the CPU seconds (the better of two rounds), and the growth of peak memory in megabytes."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = float("inf")
    for _ in range(2):
        started = time.process_time()
        found = work()
        seconds = min(seconds, time.process_time() - started)
    return found, seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
