"""The two-stage parser on UD treebanks, gold words and tags: second order, our greedy parser and UDPipe 1.2.

One configuration for all treebanks, trained on the training file only: trees of any shape by second-order search
(`mst2`, `shape=nonprojective`), then relations as sequences over the children of every head. The treebanks are those
with published results of UDPipe 1.2 and at most `MOST` training words, smallest first. The results of the greedy
parser are those of `bench/run.py treebank_parsing`, which also explains how comparable UDPipe's are. Finished rows are
stored in a folder (`WEFT_ROWS`, or a temporary one), so that an interrupted run resumes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from treebank_parsing import PUBLISHED, kept_row, treebanks

#: Training words of the largest treebank.
MOST = 25_000
SETTINGS = {"system": "mst2", "shape": "nonprojective", "epochs": 6}
GREEDY = Path(__file__).resolve().parent.parent / "results" / "bench-treebank_parsing.json"


def run() -> dict[str, Any]:
    """Train and score on every treebank, the smallest first."""
    greedy = greedy_rows()
    names = [name for name in treebanks() if name in PUBLISHED and greedy[name]["train_words"] <= MOST]
    found = [row(name) for name in names]
    rows = []
    for one in sorted(found, key=lambda one: one["treebank"]):
        name, other, peer = one["treebank"], greedy[one["treebank"]], PUBLISHED[one["treebank"]]
        if other["scored"] != one["scored"]:
            raise SystemExit(f"{name}: the greedy parser was scored on {other['scored']}, this one on {one['scored']}")
        rows.append({
            "treebank": name + (" (dev)" if one["scored"] == "dev" else ""),
            "UAS": one["UAS"], "greedy UAS": other["UAS"], "UDPipe UAS": peer[0],
            "LAS": one["LAS"], "greedy LAS": other["LAS"], "UDPipe LAS": peer[1],
        })  # fmt: skip
    figures = [key for key in rows[0] if key != "treebank"]
    above = {who: sum(each["LAS"] > each[f"{who} LAS"] for each in rows) for who in ("greedy", "UDPipe")}
    rows.append({
        "treebank": f"mean of {len(found)}",
        **{key: round(sum(each[key] for each in rows) / len(found), 2) for key in figures},
    })  # fmt: skip
    return {
        "title": "Trees of UD treebanks, gold words and tags: two-stage parser, greedy parser, UDPipe 1.2 (published)",
        "rows": rows,
        "above": f"greedy in {above['greedy']} of {len(found)}, UDPipe in {above['UDPipe']} of {len(found)} (LAS)",
        "scores": found,
    }


def greedy_rows() -> dict[str, dict[str, Any]]:
    """The rows of the greedy parser, by treebank."""
    if not GREEDY.is_file():
        raise SystemExit(f"{GREEDY} is missing: run `python bench/run.py treebank_parsing` first")
    return {one["treebank"]: one for one in json.loads(GREEDY.read_text(encoding="utf-8"))["scores"]}


def row(name: str) -> dict[str, Any]:
    """The scores of one treebank, from the folder of rows if present."""
    from weft.tasks.parsing.mst.features import FILTER, templates_of
    from weft.tasks.parsing.mst.parser import MSTParser
    from weft.tasks.parsing.mst.settings import MSTSettings

    settings = MSTSettings.from_options(SETTINGS)
    configuration = f"{SETTINGS}\n{templates_of(settings.order, settings.morphology)}\n{FILTER}"
    return kept_row(name, "weft-treebank-graph-parsing", configuration, lambda: MSTParser(settings))


if __name__ == "__main__":
    for treebank in sys.argv[1:] or treebanks():
        print(json.dumps(row(treebank)), flush=True)
