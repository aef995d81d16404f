"""Word alignment: Weft and eflomal, training time and error rate on Hansards.

Of the Hansards only the 447 sentence pairs with gold links are available: both aligners train on these pairs together
with French captions (Multi30k) and verses of the New Testament, whose language differs from that of parliament. The
settings of Weft were chosen on the first 100 pairs; results are for the others, with 95% intervals over sentence
pairs.

Time is the CPU time to train both directions and link the words, starting from lists of words, split by rule. For Weft
it is also measured on all English and German captions, and on 100,000 sentence pairs: the captions, repeated. Kernels
are compiled before the clock starts. eflomal runs with its default settings (model 3, three samplers) and writes files
of links, which Weft reads and symmetrizes in the same way.
"""

from __future__ import annotations

import gzip
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

CAPTIONS = "parallel/multi30k/task1/train.{}.gz"
VERSES = "parallel/new-testament/{}.tsv.gz"
GOLD = "parallel/gold-alignments/enfr"
MANY = 100_000
N_CAPTIONS, N_VERSES = 10_000, 4_000  # of the text in addition to the Hansards
N_CHOSEN_ON = 100
WAYS = ("intersection", "grow-diag-final-and")

Sentences = list[list[str]]


def run() -> dict[str, Any]:
    """Measure both aligners."""
    from weft.formats.bitext import read_bitext
    from weft.formats.pharaoh import read_gold_links
    from weft.learn.bitext.word_alignment import AlignmentSettings

    pairs = list(read_bitext(find(f"{GOLD}.src-tgt")))
    sure, possible = read_gold_links(find(f"{GOLD}.gold"), first=1)
    one, other = [source for source, _ in pairs], [target for _, target in pairs]
    more = verses("en", "fr", N_VERSES)
    source = one + captions("en", N_CAPTIONS) + more[0]
    target = other + captions("fr", N_CAPTIONS) + more[1]
    learn_and_align(one[:50], other[:50])  # compiles the kernels
    rows: list[dict[str, Any]] = []
    (_, ours), (peer, theirs) = timed(learn_and_align, source, target), timed(eflomal, source, target)
    rows.append(row(f"{len(source):,} English-French pairs, CPU s", ours, theirs))
    english, german = captions("en"), captions("de")
    _, ours = timed(learn_and_align, english, german)
    rows.append(row(f"{len(english):,} English-German captions, CPU s", ours, None))
    times = MANY // len(english) + 1
    _, ours = timed(learn_and_align, (english * times)[:MANY], (german * times)[:MANY])
    rows.append(row(f"{MANY:,} pairs, CPU s", ours, None))
    settings = {
        "": AlignmentSettings(),
        "directions apart": AlignmentSettings(agreement=False),
        "no prior": AlignmentSettings(alpha=0.0),
        "model 1 only": AlignmentSettings(hmm_iterations=0),
    }
    facts: dict[str, Any] = {}
    for name, chosen in settings.items():
        aligner, _ = timed(learn, source, target, chosen)
        for way in WAYS:
            mine = figures(aligner.align(one, other, way), sure, possible)
            found = None if name or peer is None else figures(joined(*peer, way, len(pairs)), sure, possible)
            facts[f"{way}, {name}" if name else way] = {"Weft": mine, "eflomal": found}
            title = f"AER %, {way}" + (f", {name}" if name else "")
            rows.append(row(title, 100 * mine["aer"], None if found is None else 100 * found["aer"]))
    return {
        "title": "Word alignment: Weft and eflomal",
        "rows": rows,
        "hansards": facts,
        "eflomal": "not installed" if peer is None else "2.0.0, its own settings",
        "pairs learned from for the error rates": len(source),
    }


def row(measured: str, ours: float | None, theirs: float | None) -> dict[str, Any]:
    ratio = None if ours is None or theirs is None else ours / theirs
    return {"measured": measured, "Weft": ours, "eflomal": theirs, "ratio": ratio, "": "lower is better"}


def find(relative: str) -> Path:
    from weft import data

    return data.find(relative)


def words(line: str) -> list[str]:
    """Split a line into words by rule."""
    from weft.text.words import word_spans

    return [line[start:end] for start, end in word_spans(line)]


def captions(language: str, n: int | None = None) -> Sentences:
    """The first captions of a language."""
    with gzip.open(find(CAPTIONS.format(language)), "rt", encoding="utf-8") as lines:
        return [words(line) for number, line in enumerate(lines) if n is None or number < n]


def verses(source: str, target: str, n: int) -> tuple[Sentences, Sentences]:
    """The verses present in both languages."""
    held = []
    for language in (source, target):
        with gzip.open(find(VERSES.format(language)), "rt", encoding="utf-8") as lines:
            held.append(dict(line.rstrip("\n").split("\t", 1) for line in lines))
    both = [verse for verse in held[0] if verse in held[1]][:n]
    return [words(held[0][verse]) for verse in both], [words(held[1][verse]) for verse in both]


def learn(source: Sentences, target: Sentences, settings: Any = None) -> Any:
    """An aligner trained on a bitext."""
    from weft.tasks.bitext.align import Aligner

    aligner = Aligner(settings)
    aligner.fit(source, target)
    return aligner


def learn_and_align(source: Sentences, target: Sentences) -> Any:
    """Train, then link the words of the bitext."""
    return learn(source, target).align(source, target)


def eflomal(source: Sentences, target: Sentences) -> Any:
    """Both directions of eflomal's links, None if it is not installed."""
    try:
        from eflomal import Aligner as Peer  # type: ignore[import-not-found]
    except ImportError:
        return None
    from weft.formats.pharaoh import read_links

    with tempfile.TemporaryDirectory() as folder:
        files = f"{folder}/forward", f"{folder}/backward"
        lines = [[" ".join(sentence) + "\n" for sentence in side] for side in (source, target)]
        Peer().align(*lines, links_filename_fwd=files[0], links_filename_rev=files[1])
        return read_links(files[0]), read_links(files[1])


def joined(forward: Any, backward: Any, way: str, n: int) -> Any:
    """The links of the first sentence pairs, symmetrized."""
    from weft.tasks.bitext.symmetrize import symmetrize

    return symmetrize(forward.take(0, n), backward.take(0, n), way)


def figures(links: Any, sure: Any, possible: Any) -> dict[str, Any]:
    """Precision, recall and error rate on the pairs that were not used for model selection."""
    from weft.evaluate.labels.word_alignment import score_alignment

    held = (given.take(N_CHOSEN_ON) for given in (links, sure, possible))
    score = score_alignment(*held)
    return {**score.figures(), "interval": score.interval()}


def timed(work: Callable[..., Any], *given: Any) -> tuple[Any, float | None]:
    """The result of a function, and its CPU time including child processes; no time if there is no result."""
    before = _cpu()
    found = work(*given)
    return found, None if found is None else _cpu() - before


def _cpu() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
