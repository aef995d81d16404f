"""Tagger and lemmatizer on every UD treebank with a training file, gold words: Weft and UDPipe 1.2 as published.

One configuration for all treebanks: the components' defaults, trained on the training file only. The test file is
tagged from gold words, and lemmatized with the predicted tags. If a treebank has no test file, its dev file is used,
and the row says so. UDPipe's results are those its authors published for its UD 2.5 models; our copies of the
treebanks are other versions, so compare single rows with care. Finished rows are stored in a folder (`WEFT_ROWS`, or a
temporary one), so that an interrupted run resumes.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

#: UPOS, UFeats and lemmas of UDPipe 1.2 on gold words.
PUBLISHED: dict[str, tuple[float | None, float | None, float | None]] = {
    "Afrikaans-AfriBooms": (95.3, 94.9, 96.7), "Basque-BDT": (92.4, 87.4, 93.6), "Chinese-GSD": (92.2, 98.7, 100.0),
    "Czech-CLTT": (97.6, 87.7, 96.4), "Dutch-LassySmall": (94.2, 94.2, 95.7), "English-EWT": (94.4, 95.4, 96.4),
    "English-GUM": (94.1, 94.6, 95.2), "English-LinES": (95.0, 95.0, 97.1), "English-ParTUT": (93.8, 93.6, 97.0),
    "Estonian-EWT": (84.0, 80.2, 80.4), "French-ParTUT": (95.3, 92.6, 95.6), "French-Sequoia": (97.1, 95.9, 97.8),
    "Galician-TreeGal": (92.2, 90.4, 93.6), "Gothic-PROIEL": (94.8, 87.6, 92.7), "Greek-GDT": (95.9, 90.5, 94.7),
    "Hungarian-Szeged": (90.7, 88.2, 88.7), "Indonesian-GSD": (93.0, 93.9, 92.2), "Irish-IDT": (90.2, 78.0, 88.2),
    "Italian-ParTUT": (97.1, 96.5, 96.7), "Italian-TWITTIRO": (91.5, 91.0, 91.5), "Japanese-GSD": (96.9, 100.0, 99.1),
    "Korean-GSD": (93.7, 99.7, 87.2), "Latin-Perseus": (83.3, 72.1, 77.9), "Maltese-MUDT": (93.9, None, None),
    "Norwegian-NynorskLIA": (93.8, 93.3, 96.4), "Portuguese-Bosque": (96.4, 95.0, 97.2),
    "Russian-Taiga": (90.4, 79.2, 87.0), "Slovenian-SST": (88.7, 80.5, 91.1), "Tamil-TTB": (85.7, 84.7, 88.3),
    "Telugu-MTG": (90.6, 98.9, None), "Turkish-IMST": (93.0, 89.9, 91.4), "Uyghur-UDT": (88.2, 84.4, 92.2),
    "Vietnamese-VTB": (87.6, 99.5, 98.9), "Wolof-WTB": (92.6, 91.7, 93.9),
}  # fmt: skip
METRICS = ("UPOS", "UFeats", "Lemmas")
FOLDER = "treebanks/ud"


def run() -> dict[str, Any]:
    """Train and score on every treebank, the smallest first."""
    found = [row(name) for name in treebanks()]
    rows = [_shown(one) for one in sorted(found, key=lambda one: one["treebank"])]
    beside = [one for one in found if one["treebank"] in PUBLISHED]
    rows.append({"treebank": f"mean of the {len(beside)} that UDPipe has", **_means(beside)})
    return {
        "title": "UPOS, features and lemmas on UD treebanks, gold words: Weft and UDPipe 1.2 (published)",
        "rows": rows,
        "above": {metric: _above(beside, k) for k, metric in enumerate(METRICS)},
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
    from weft.tasks.tagging import lemmatize
    from weft.tasks.tagging import tagger as tag

    defaults = (tag.TaggerSettings(), lemmatize.LemmatizerSettings(), tag.SMALL)
    configuration = "\n".join((tag.TEMPLATES, tag.JOINT_TEMPLATES, *map(str, defaults)))
    print_of_it = hashlib.sha256(configuration.encode()).hexdigest()[:12]
    folder = Path(os.environ.get("WEFT_ROWS") or Path(tempfile.gettempdir()) / "weft-treebank-tagging") / print_of_it
    kept = folder / f"{name}.json"
    if not kept.exists():
        folder.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(measure(name)), encoding="utf-8")
    scores: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
    return scores


def measure(name: str) -> dict[str, Any]:
    """Train on one treebank and score."""
    from weft import data
    from weft.evaluate.trees.ud import evaluate_ud
    from weft.formats import read
    from weft.tasks.tagging.lemmatize import Lemmatizer
    from weft.tasks.tagging.tagger import Tagger, TaggerSettings

    train = list(read(data.find(f"{FOLDER}/{name}/train.conllu.gz"), skip_bad=True))
    part = "test" if data.have(f"{FOLDER}/{name}/test.conllu.gz") else "dev"
    path = data.find(f"{FOLDER}/{name}/{part}.conllu.gz")
    gold, system = list(read(path)), list(read(path))
    for doc in system:
        for column in ("lemma", "upos", "xpos", "feats"):
            doc.columns.pop(column, None)
    # Calibration affects probabilities only, not tags.
    tagger, lemmatizer = Tagger(TaggerSettings(calibrate=False)), Lemmatizer()
    start = time.process_time()
    tagger.fit(train)
    tagged = time.process_time()
    has_lemmas = any(doc.has("lemma") for doc in train)
    if has_lemmas:
        lemmatizer.fit(train)
    trained = time.process_time()
    tagger(system)
    if has_lemmas:
        lemmatizer(system)
    scores = evaluate_ud(gold, system).scores
    return {
        "treebank": name,
        "scored": part,
        "train_words": sum(doc.n_words for doc in train),
        **{metric: round(100 * scores[metric].f1, 2) for metric in ("UPOS", "XPOS", "UFeats", "AllTags")},
        "Lemmas": round(100 * scores["Lemmas"].f1, 2) if has_lemmas else None,
        "tagger_cpu": round(tagged - start, 1),
        "lemmatizer_cpu": round(trained - tagged, 1),
    }


def _shown(one: dict[str, Any]) -> dict[str, Any]:
    peer = PUBLISHED.get(one["treebank"], (None, None, None))
    name = one["treebank"] + (" (dev)" if one["scored"] == "dev" else "")
    shown: dict[str, Any] = {"treebank": name}
    for metric, published in zip(METRICS, peer, strict=True):
        shown[metric], shown[f"UDPipe {metric}"] = one[metric], published
    return shown


def _means(rows: list[dict[str, Any]]) -> dict[str, float | None]:
    """Means over the treebanks for which the metric is published."""
    found: dict[str, float | None] = {}
    for k, metric in enumerate(METRICS):
        pairs = _pairs(rows, k)
        found[metric] = sum(ours for ours, _ in pairs) / len(pairs) if pairs else None
        found[f"UDPipe {metric}"] = sum(peer for _, peer in pairs) / len(pairs) if pairs else None
    return found


def _pairs(rows: list[dict[str, Any]], k: int) -> list[tuple[float, float]]:
    """Our results and the published ones for a metric, where both exist."""
    found = ((one[METRICS[k]], PUBLISHED[one["treebank"]][k]) for one in rows)
    return [(ours, peer) for ours, peer in found if ours is not None and peer is not None]


def _above(rows: list[dict[str, Any]], k: int) -> str:
    pairs = _pairs(rows, k)
    return f"{sum(ours >= peer for ours, peer in pairs)} of {len(pairs)}"


if __name__ == "__main__":
    for treebank in sys.argv[1:] or treebanks():
        print(json.dumps(row(treebank)), flush=True)
