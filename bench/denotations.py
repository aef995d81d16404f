"""Denotation graphs of 29,000 images with five captions each: minutes and memory, from captions to pairs.

`WEFT_BENCH_IMAGES` takes fewer images. Half of them come first, in a process of their own, so that growth is seen.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from typing import Any

IMAGES = int(os.environ.get("WEFT_BENCH_IMAGES", "29000"))


def run(images: int = IMAGES) -> dict[str, Any]:
    """Seconds, sizes and memory of both sizes."""
    rows = []
    for count in (images // 2, images):
        out = subprocess.run([sys.executable, __file__, str(count)], capture_output=True, text=True, check=True)
        rows.append(json.loads(out.stdout.splitlines()[-1]))
    growth = rows[1]["CPU s, graph"] / rows[0]["CPU s, graph"]
    return {"title": f"A denotation graph of {images:,} images", "rows": rows, "growth": round(growth, 2)}


def one(images: int) -> dict[str, Any]:
    """One graph: CPU seconds by step."""
    from weft.recipes.grounding.visual_denotations.corpora import multi30k
    from weft.tasks.denotations.captions import CaptionParser
    from weft.tasks.denotations.graph import DenotationGraph
    from weft.tasks.denotations.lexicon import learned
    from weft.tasks.denotations.phrases import Heads

    captions = multi30k(images)
    seconds, start = {}, time.process_time()
    wall = time.time()

    def took(name: str) -> None:
        nonlocal start
        seconds[f"CPU s, {name}"] = round(time.process_time() - start, 1)
        start = time.process_time()

    parses = CaptionParser().parse(caption.text for caption in captions)
    took("parsing")
    hypernyms = learned(parses, [caption.image for caption in captions])
    took("lexicon")
    graph = DenotationGraph.of_parses(captions, parses, Heads(hypernyms))
    sizes = graph.sets.sizes
    took("graph")
    pairs = sum(len(part.a) for part in graph.sets.pairs())
    took("pairs")
    return {
        "images": images, "captions": len(captions), **seconds, "wall minutes": round((time.time() - wall) / 60, 1),
        "nodes": graph.n_nodes, "of 2 images": int((sizes >= 2).sum()), "of 10 images": int((sizes >= 10).sum()),
        "edges": len(graph.edges()[0]), "pairs": pairs,
        "memory, GB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2),
    }  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(one(int(sys.argv[1]))))
