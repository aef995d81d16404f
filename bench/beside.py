"""Loading and annotating with this code and with that of an earlier commit, in turns, on one core.

The commit is the last one before model files and texts were checked as `docs/judge/robustness.md` says (for another
one, set WEFT_BENCH_COMMIT). Both sides read the same model file, that of the earlier commit, and annotate English-EWT
dev from raw text. Each side runs in a process of its own, several times in turns; the least CPU seconds count. The same
texts come again and again, so that what a side remembers of words counts in its favour.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

COMMIT = os.environ.get("WEFT_BENCH_COMMIT", "b79981e6")
ROUNDS, REPEATS = 3, 7
ROOT = Path(__file__).parent.parent
SIDE = """
import json, sys, time
import weft
model, texts = sys.argv[1], json.loads(open(sys.argv[2], encoding="utf-8").read())

def least(work):
    seconds = []
    for _ in range(int(sys.argv[3])):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)

nlp = weft.load(model)
list(nlp.pipe(texts))
print(json.dumps({"loading": least(lambda: weft.load(model)), "annotating": least(lambda: list(nlp.pipe(texts)))}))
"""


def run() -> dict[str, Any]:
    """Measure both sides."""
    from weft import data
    from weft.formats import read

    with tempfile.TemporaryDirectory() as folder:
        before = Path(folder) / "before"
        subprocess.run(["git", "-C", ROOT, "worktree", "add", "--detach", "--quiet", before, COMMIT], check=True)
        try:
            texts = Path(folder) / "texts.json"
            docs = read(data.find("treebanks/ud/English-EWT/dev.conllu.gz"))
            texts.write_text(json.dumps([doc.text for doc in docs]), encoding="utf-8")
            model = before / "src/weft/models/en.weft"
            sides = {"before": before, "now": ROOT}
            measured: dict[str, list[dict[str, float]]] = {name: [] for name in sides}
            for _ in range(ROUNDS):
                for name, tree in sides.items():
                    measured[name].append(_side(tree, Path(folder) / f"kernels-{name}", model, texts))
        finally:
            subprocess.run(["git", "-C", ROOT, "worktree", "remove", "--force", before], check=False)
    rows = []
    for work in ("loading", "annotating"):
        seconds = {name: min(each[work] for each in found) for name, found in measured.items()}
        rows.append({"work": work, **seconds, "now / before": seconds["now"] / seconds["before"], "goal": 1.03})
    return {"title": f"CPU seconds of loading and annotating beside commit {COMMIT}", "rows": rows}


def _side(tree: Path, kernels: Path, model: Path, texts: Path) -> dict[str, float]:
    one_core = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    environment = {**os.environ, **one_core, "PYTHONPATH": str(tree / "src"), "NUMBA_CACHE_DIR": str(kernels)}
    done = subprocess.run(
        [sys.executable, "-c", SIDE, model, texts, str(REPEATS)],
        env=environment, check=True, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    seconds: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return seconds
