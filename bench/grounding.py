"""A round of EM for words in videos: clips of 100 frames with 8 detections each, by participants and hidden states.

The peer is one dense matrix of transitions per frame, which the product of small ones replaces; it is timed on a few
frames and scaled up.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from weft.infer.product_hmm import ProductHMM, WordChain

FRAMES, DETECTIONS = 100, 8
SENTENCES = {"a verb": (2, 1), "a verb and an adverb": (2, 2), "three participants, a verb": (3, 1)}


def run(clips: int = 20) -> dict[str, Any]:
    """CPU seconds of a round over 100 clips."""
    rows = []
    for name, (participants, hidden) in SENTENCES.items():
        lattice = _lattice(participants, hidden)
        lattice.marginals()
        start = time.process_time()
        for _ in range(clips):
            lattice.marginals()
        ours = (time.process_time() - start) * 100 / clips
        size = lattice.size
        step, alpha = np.random.default_rng(0).random((size, size)), np.ones(size)
        start = time.process_time()
        for _ in range(5):
            alpha = alpha @ step
            alpha /= alpha.sum()
        peer = (time.process_time() - start) / 5 * 2 * FRAMES * 100
        rows.append(
            {
                "sentence": name,
                "states": size,
                "Weft, CPU s": round(ours, 2),
                "dense steps alone, CPU s": round(peer, 1),
            }
        )
    title = f"A round of EM over 100 clips of {FRAMES} frames with {DETECTIONS} detections"
    return {"title": title, "rows": rows}


def _lattice(participants: int, hidden: int) -> ProductHMM:
    rng = np.random.default_rng(0)
    words = [
        WordChain((p,), np.ones(1), np.ones((1, 1)), rng.random((FRAMES, DETECTIONS, 1))) for p in range(participants)
    ]
    for number in range(hidden):
        own = (0, participants - 1) if number == 0 else (0,)
        outputs = rng.random((FRAMES, DETECTIONS ** len(own), 3))
        words.append(WordChain(own, rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(3), 3), outputs))
    unary, pair = rng.normal(size=(FRAMES, DETECTIONS)), rng.normal(size=(FRAMES - 1, DETECTIONS, DETECTIONS))
    return ProductHMM(unary, pair, participants, words)
