"""Decoding and training translators: Multi30k, German to English, sentences per CPU second on one core.

The translator is made of all 29,000 training pairs, with phrases of up to five words, twenty translations per phrase, a
language model of 4-grams and lexicalised reordering; the search has a beam of 100 hypotheses per stack, 200 expansions
per stack, and a distortion limit of 6. Options are looked up and scored within the time. No other decoder is at hand.
"""

from __future__ import annotations

import gzip
import re
import tempfile
import time
from pathlib import Path
from typing import Any

from weft import data
from weft.tasks.translation.kbest import KBest, pairs_of
from weft.tasks.translation.training import Material, TrainSettings
from weft.tasks.translation.translator import Translator

FOLDER = "parallel/multi30k/task1/"
GOAL, SENTENCES = 30, 300


def run() -> dict[str, Any]:
    """All measures."""
    german, english = (_lines(f"train.{language}.gz") for language in ("de", "en"))
    start = time.process_time()
    material = Material.of(german, english, TrainSettings())
    aligned = time.process_time() - start
    start = time.process_time()
    made = material.translator()
    made_in = time.process_time() - start
    dev = [_lines(f"val.{language}")[:SENTENCES] for language in ("de", "en")]
    with tempfile.TemporaryDirectory(prefix="weft-decoder-") as folder:
        path = Path(folder, "de-en.weft")
        made.save(path)
        start = time.process_time()
        translator = Translator.load(path)
        loaded = time.process_time() - start
        translator.translate(dev[0][0])
        rows = [_row("load the translator, CPU s", loaded, f"{path.stat().st_size / 1e6:.0f} MB, mapped")]
        for beam in (100, 30):
            translator.set_beam(beam)
            rows.append(_row(f"beam {beam}, sentences/s", *_speed(translator, dev[0])))
        translator.set_beam(100)
        start = time.process_time()
        KBest([translator], 100)(pairs_of(dev[0][:100], dev[1][:100]))
        rows.append(_row("beam 100, lists of 100 best, sentences/s", 100 / (time.process_time() - start), "with BLEU"))
    rows.append(_row("align and extract, CPU s", aligned, f"{material.extraction.n_pairs:,} phrase pairs"))
    rows.append(_row("table and language model, CPU s", made_in, f"{len(made.table):,} phrase pairs stay"))
    return {
        "title": "Translation of captions",
        "rows": rows,
        "goals": f"at least {GOAL} sentences per second and core at beam 100, 100 are the aim",
    }


def _speed(translator: Translator, sentences: list[list[str]]) -> tuple[float, str]:
    start = time.process_time()
    words = sum(len(translator.translate(sentence).source) for sentence in sentences)
    spent = time.process_time() - start
    return len(sentences) / spent, f"{words / len(sentences):.1f} words per sentence"


def _row(what: str, weft: float, note: str) -> dict[str, Any]:
    return {"what": what, "weft": weft, "peer": None, "ratio": None, "note": note}


def _lines(name: str) -> list[list[str]]:
    raw = data.find(FOLDER + name).read_bytes()
    text = (gzip.decompress(raw) if name.endswith(".gz") else raw).decode("utf-8")
    return [re.findall(r"\w+|[^\w\s]", line.lower()) for line in text.split("\n")[:-1]]
