"""The systems of the experiment: translators, with and without the memory, and what is pasted together."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from weft.arrays import Ints
from weft.errors import DataError
from weft.formats.memories.words import is_markup, marked_words
from weft.infer.decoding.options import Options
from weft.progress import progress
from weft.recipes.translation.translation_memory_smt.manual import Segments
from weft.tasks.memory.counterparts import MatchedSentence
from weft.tasks.memory.extension import MemoryExtension, matched
from weft.tasks.memory.memory import Match, TranslationMemory
from weft.tasks.memory.samples import samples_of
from weft.tasks.memory.tables import MemoryTables
from weft.tasks.translation.training import Material
from weft.tasks.translation.translator import Translator

Words = list[str]


def extended(translator: Translator, extension: MemoryExtension) -> Translator:
    """A translator that consults a memory as well, with the weights of one that does not."""
    return Translator(
        translator.table, translator.lm, translator.source_words, translator.target_words, dict(translator.weights),
        settings=translator.settings, extensions=[extension],
    )  # fmt: skip


def forced_samples(
    material: Material, memory: TranslationMemory, fold: Ints, rounds: int, most: int, seed: int
) -> tuple[list[list[int]], dict[str, float]]:
    """Samples from forced decoding, every sentence with the phrases of other folds, and what became of the sentences.

    The best match of a sentence is that among entries with another source side.
    """
    rng = np.random.default_rng(seed)
    samples: list[list[int]] = []
    reached = tried = phrases = short = 0
    with progress("forced decoding", rounds, "rounds") as bar:
        for k in range(rounds):
            translator = material.translator(fold != k, origins=1)
            translator.settings = replace(translator.settings, distortion_limit=-1)
            rows = np.sort(rng.permutation(np.flatnonzero(fold == k))[:most])
            for row in rows.tolist():
                tried += 1
                sentence = translator.sentence(material.source[row])
                graph = translator.force(sentence, material.target[row])
                if graph.is_empty:
                    continue
                reached += 1
                found = memory.matches(material.source[row], unlike=True)
                options = graph.options
                steps = [(int(options.start[o]), int(options.end[o]), options.target(o)) for o in graph.best().options]
                phrases += len(steps)
                short += sum(end - start < 5 for start, end, _ in steps)
                if found:
                    samples += samples_of(steps, matched(sentence, found[0], memory))
            bar.advance(1)
    facts = {"sentences": tried, "reached": 100 * reached / max(1, tried), "samples": len(samples),
             "phrases under 5 words": 100 * short / max(1, phrases)}  # fmt: skip
    return samples, facts


def translated(translator: Translator, segments: Segments) -> list[str]:
    """The translations of segments."""
    return [translator.translate(words).text for words in segments.source]


def pasted(
    translator: Translator, memory: TranslationMemory, segments: Segments, matches: Sequence[Match | None],
    paste: Callable[[Options, MatchedSentence], Options],
) -> list[str]:  # fmt: skip
    """Translations with parts of the best match pasted in ahead of the search."""
    found = []
    for words, match in zip(segments.source, matches, strict=True):
        sentence = translator.sentence(words)
        options = translator.options(sentence)
        if match is not None:
            options = paste(options, matched(sentence, match, memory))
        graph = translator.search(sentence, options)
        if graph.is_empty:  # a frame whose holes are too far apart
            graph = translator.search(sentence)
        found.append(" ".join(sentence.word(word) for word in graph.words(graph.best())))
    return found


def by_rules(texts: Sequence[str]) -> list[Words] | None:
    """Translations by Apertium, markup kept whole; None where it is not installed."""
    if shutil.which("apertium") is None:
        return None
    lines, kept = [], []
    for text in texts:
        spans: list[str] = []

        def held(word: str, spans: list[str] = spans) -> str:
            spans.append(word)
            return f"XQ{len(spans) - 1}X"

        lines.append(" ".join(held(word) if is_markup(word) else word for word in marked_words(text, False)))
        kept.append(spans)
    done = subprocess.run(
        ["apertium", "-u", "-f", "txt", "eng-spa"], input="\n\n".join(lines) + "\n", capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    out = done.stdout.strip("\n").split("\n\n")
    if len(out) != len(lines):
        raise DataError(f"Apertium gave {len(out):,} translations of {len(lines):,} segments")
    found = []
    for line, spans in zip(out, kept, strict=True):
        words: list[str] = []
        for word in marked_words(line.lower(), False):
            number = word[2:-1] if word.startswith("xq") and word.endswith("x") else ""
            words.append(spans[int(number)].lower() if number.isdigit() and int(number) < len(spans) else word)
        found.append(words)
    return found


def learned_tables(samples: Sequence[Sequence[int]]) -> MemoryTables:
    """The tables of all models."""
    return MemoryTables.learn(samples)


def facts_of(
    memory: TranslationMemory, copies: int, queries: Sequence[Words], slow: int, seed: int
) -> dict[str, Any]:  # fmt: skip
    """How fast a memory is searched that holds every entry several times, each copy with one word changed."""
    import time

    from weft.infer.fuzzy.index import FuzzyIndex

    rng = np.random.default_rng(seed)
    base = [memory.numbers(words) for words in memory.source]
    known = int(max(each.max(initial=0) for each in base)) + 1
    sequences = [each.tolist() for each in base]
    for _ in range(copies - 1):
        for each in base:
            changed = each.copy()
            changed[rng.integers(len(changed))] = rng.integers(known)
            sequences.append(changed.tolist())
    index = FuzzyIndex.of(sequences)
    asked = [memory.numbers(words) for words in queries]
    index.nearest(asked[0])
    slow_ones = asked[:: max(1, len(asked) // slow)]
    for bits in (False, True):
        index.compare_all(asked[0], bits)
    begin = time.process_time()
    best = [index.nearest(each)[1] for each in asked]
    quick = (time.process_time() - begin) / len(asked)
    begin = time.process_time()
    by_numbers = [float(index.compare_all(each).max()) for each in slow_ones]
    full = (time.process_time() - begin) / len(slow_ones)
    by_bits = [float(index.compare_all(each, bits=True).max()) for each in asked]
    assert by_numbers == [float(index.compare_all(each, bits=True).max()) for each in slow_ones]
    equal = sum(
        abs((float(one[0]) if len(one) else 0.0) - max(other, 0.0)) < 1e-9
        for one, other in zip(best, by_bits, strict=True)
    )
    return {
        "entries": len(index), "queries": len(asked), "same best score": equal, "index ms": 1000 * quick,
        "all ms": 1000 * full, "times faster": full / quick,
    }  # fmt: skip
