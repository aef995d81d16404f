"""The parser on every UD treebank with a training file, gold words and tags: Weft and UDPipe 1.2 as published.

One configuration for all treebanks: the component's defaults, trained on the training file only. If a treebank has no
test file, its dev file is scored, and the row says so. UDPipe's results are those its authors published for its UD 2.5
models; our copies of the treebanks are other versions, so compare single rows with care. Finished rows are stored in a
folder (`WEFT_ROWS`, or a temporary one), so that an interrupted run resumes.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: UAS and LAS of UDPipe 1.2 on gold words and tags.
PUBLISHED: dict[str, tuple[float, float]] = {
    "Afrikaans-AfriBooms": (87.6, 85.0), "Basque-BDT": (82.1, 78.4), "Chinese-GSD": (82.6, 80.5),
    "Czech-CLTT": (82.7, 79.6), "Dutch-LassySmall": (87.6, 84.5), "English-EWT": (88.1, 86.2),
    "English-GUM": (86.5, 84.4), "English-LinES": (85.5, 82.3), "English-ParTUT": (86.8, 85.4),
    "Estonian-EWT": (74.1, 69.9), "French-ParTUT": (91.0, 89.0), "French-Sequoia": (89.7, 88.1),
    "Galician-TreeGal": (81.7, 77.5), "Gothic-PROIEL": (80.0, 76.0), "Greek-GDT": (89.7, 87.9),
    "Hungarian-Szeged": (80.5, 77.6), "Indonesian-GSD": (84.0, 79.8), "Irish-IDT": (80.9, 73.9),
    "Italian-ParTUT": (89.7, 87.6), "Italian-TWITTIRO": (84.1, 78.7), "Japanese-GSD": (94.8, 93.8),
    "Korean-GSD": (72.5, 65.5), "Latin-Perseus": (67.6, 61.8), "Maltese-MUDT": (82.2, 77.9),
    "Norwegian-NynorskLIA": (81.1, 76.8), "Portuguese-Bosque": (89.3, 86.3), "Russian-Taiga": (75.4, 70.7),
    "Slovenian-SST": (76.0, 70.7), "Tamil-TTB": (79.0, 73.1), "Telugu-MTG": (90.3, 81.5), "Turkish-IMST": (66.9, 61.4),
    "Uyghur-UDT": (74.4, 61.1), "Vietnamese-VTB": (69.4, 66.3), "Wolof-WTB": (87.1, 83.7),
}  # fmt: skip
FOLDER = "treebanks/ud"


def run() -> dict[str, Any]:
    """Train and score on every treebank, the smallest first."""
    found = [row(name) for name in treebanks()]
    rows = []
    for one in sorted(found, key=lambda one: one["treebank"]):
        peer = PUBLISHED.get(one["treebank"], (None, None))
        name = one["treebank"] + (" (dev)" if one["scored"] == "dev" else "")
        rows.append(
            {"treebank": name, "UAS": one["UAS"], "UDPipe UAS": peer[0], "LAS": one["LAS"], "UDPipe LAS": peer[1]}
        )
    beside = [(one, PUBLISHED[one["treebank"]]) for one in found if one["treebank"] in PUBLISHED]
    if beside:
        rows.append({
            "treebank": f"mean of the {len(beside)} that UDPipe has",
            "UAS": sum(one["UAS"] for one, _ in beside) / len(beside),
            "UDPipe UAS": sum(peer[0] for _, peer in beside) / len(beside),
            "LAS": sum(one["LAS"] for one, _ in beside) / len(beside),
            "UDPipe LAS": sum(peer[1] for _, peer in beside) / len(beside),
        })  # fmt: skip
    return {
        "title": "Trees of UD treebanks, gold words and tags: Weft and UDPipe 1.2 (published)",
        "rows": rows,
        "above": f"{sum(one['LAS'] >= peer[1] for one, peer in beside)} of {len(beside)} in LAS",
        "scores": found,
    }


def treebanks() -> list[str]:
    """The treebanks with a training file, by size, those with UDPipe scores first."""
    from weft import data

    home = data.find(FOLDER)
    sizes = {path.parent.name: path.stat().st_size for path in home.glob("*/train.conllu*")}
    return sorted(sizes, key=lambda name: (name not in PUBLISHED, sizes[name]))


def row(name: str) -> dict[str, Any]:
    """The scores of one treebank, from the folder of rows if present."""
    from weft.tasks.parsing.transitions import features as parse_features
    from weft.tasks.parsing.transitions import parser as parse

    settings = parse.ParserSettings()
    configuration = f"{settings}\n{parse_features.TEMPLATES[settings.system]}"
    return kept_row(name, "weft-treebank-parsing", configuration, parse.Parser)


def kept_row(name: str, folder: str, configuration: str, new_parser: Callable[[], Any]) -> dict[str, Any]:
    """A row of a configuration, from the folder of rows or computed and stored there; WEFT_ROWS overrides `folder`."""
    print_of_it = hashlib.sha256(configuration.encode()).hexdigest()[:12]
    home = Path(os.environ.get("WEFT_ROWS") or Path(tempfile.gettempdir()) / folder) / print_of_it
    kept = home / f"{name}.json"
    if not kept.exists():
        home.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(measure(name, new_parser())), encoding="utf-8")
    scores: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
    return scores


def measure(name: str, parser: Any) -> dict[str, Any]:
    """Train a parser on one treebank and score it."""
    from weft import data
    from weft.evaluate.trees.ud import evaluate_ud
    from weft.formats import read

    train = list(read(data.find(f"{FOLDER}/{name}/train.conllu.gz"), skip_bad=True))
    part = "test" if data.have(f"{FOLDER}/{name}/test.conllu.gz") else "dev"
    path = data.find(f"{FOLDER}/{name}/{part}.conllu.gz")
    gold, system = list(read(path)), list(read(path))
    for doc in system:
        doc.head = None
        doc.columns.pop("deprel", None)
    start = time.process_time()
    report = parser.fit(train)
    seconds = time.process_time() - start
    parser(system)
    scores = evaluate_ud(gold, system).scores
    return {
        "treebank": name,
        "scored": part,
        "train_words": report["training"]["words"],
        **{metric: round(100 * scores[metric].f1, 2) for metric in ("UAS", "LAS")},
        "cpu": round(seconds, 1),
    }


if __name__ == "__main__":
    for treebank in sys.argv[1:] or treebanks():
        print(json.dumps(row(treebank)), flush=True)
