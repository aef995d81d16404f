"""A pipeline for a language with 300 annotated sentences: Wolof, from one command, beside UDPipe 1.4.

The first 300 sentences of the train file of UD Wolof-WTB, the first 150 of its dev file and the whole test file:

    weft train pipeline --train a.conllu --dev b.conllu --test c.conllu --out wo.weft

UDPipe 1.4 was trained on the same sentences (15 epochs of its tokenizer, 10 of its parser, default settings otherwise)
on a machine of the same kind; it is not run here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from weft import data
from weft.formats import read, write

TREEBANK = "treebanks/ud/Wolof-WTB/{}.conllu.gz"
#: Sentences to take of each part; 0: all.
SENTENCES = {"train": 300, "dev": 150, "test": 0}
#: F1 of UDPipe 1.4 from raw text, and its CPU time of training.
UDPIPE = {"Sentences": 90.5, "Words": 98.1, "UPOS": 85.0, "Lemmas": 88.4, "UAS": 64.4, "LAS": 56.8}
UDPIPE_SECONDS = 162


def run() -> dict[str, Any]:
    """Train the pipeline with the command and compare its scores."""
    with tempfile.TemporaryDirectory() as folder:
        for part, count in SENTENCES.items():
            docs = read(data.find(TREEBANK.format(part)))
            write(docs.take_sentences(count) if count else docs, str(Path(folder, f"{part}.conllu")))
        parts = [word for part in SENTENCES for word in (f"--{part}", f"{part}.conllu")]
        command = [str(Path(sys.executable).parent / "weft"), "train", "pipeline", *parts, "--out", "wo.weft"]
        done = subprocess.run(
            [*command, "--results", "wo.json"],
            cwd=folder, env={**os.environ, "WEFT_QUIET": "1"}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        report = json.loads(Path(folder, "wo.json").read_text(encoding="utf-8"))
        size = Path(folder, "wo.weft").stat().st_size
    (scores,) = (row["scores"] for row in report["tests"] if (row["set"], row["from"]) == ("test", "raw text"))
    rows = [
        {"from raw text, F1": name, "Weft": round(scores[name], 2), "UDPipe 1.4": theirs}
        for name, theirs in UDPIPE.items()
    ]
    return {
        "title": "A pipeline from 300 sentences of Wolof",
        "rows": rows,
        "training and scoring, CPU seconds": report["cpu_seconds"],
        "training of UDPipe, CPU seconds": UDPIPE_SECONDS,
        "model_bytes": size,
    }
