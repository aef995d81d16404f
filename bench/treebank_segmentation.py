"""Words and sentences of raw text on every treebank with a training file, and UDPipe 1.2's published results.

One configuration for all treebanks: default settings, trained on train, with the bias of sentence ends chosen on dev
(without dev, on a tenth of train), scored on test (without test, on dev, and then nothing is chosen on dev). The raw
text is restored from CoNLL-U; the sentences of a paragraph are separated by a space. Files without information on
spaces, neither SpaceAfter nor `# text`, get conventional spacing by rule; the column `blanks` shows which. UDPipe's
results are for UD 2.5: other versions of the same treebanks.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from weft import data
from weft.evaluate.trees.ud import evaluate_ud
from weft.features.characters import IS_UNSPACED, CharacterTable, code_points
from weft.formats.conllu import files as conllu
from weft.tasks.segmentation.segmenter import Segmenter
from weft.text.doc import Doc

#: Words and sentences (F1) of UDPipe 1.2 on UD 2.5.
UDPIPE = {
    "Afrikaans-AfriBooms": (99.6, 98.2), "Basque-BDT": (99.9, 99.8), "Chinese-GSD": (90.3, 99.1),
    "Czech-CLTT": (99.7, 97.4), "Dutch-LassySmall": (99.8, 75.4), "English-EWT": (98.9, 77.4),
    "English-GUM": (99.7, 82.3), "English-LinES": (99.9, 87.5), "English-ParTUT": (99.7, 100.0),
    "Estonian-EWT": (99.1, 67.0), "French-ParTUT": (99.4, 100.0), "French-Sequoia": (99.1, 87.5),
    "Galician-TreeGal": (98.7, 88.0), "Gothic-PROIEL": (100.0, 31.1), "Greek-GDT": (99.9, 90.2),
    "Hungarian-Szeged": (99.8, 95.9), "Indonesian-GSD": (100.0, 94.1), "Irish-IDT": (99.7, 97.5),
    "Italian-ParTUT": (99.7, 100.0), "Italian-TWITTIRO": (99.1, 36.8), "Japanese-GSD": (90.6, 94.7),
    "Korean-GSD": (99.9, 93.9), "Latin-Perseus": (100.0, 98.5), "Maltese-MUDT": (99.8, 86.3),
    "Norwegian-NynorskLIA": (99.8, 99.5), "Portuguese-Bosque": (99.5, 87.8), "Russian-Taiga": (97.6, 76.0),
    "Slovenian-SST": (99.8, 23.1), "Tamil-TTB": (94.5, 97.5), "Telugu-MTG": (99.6, 96.6), "Turkish-IMST": (98.3, 97.0),
    "Uyghur-UDT": (99.5, 81.9), "Vietnamese-VTB": (85.4, 93.5), "Wolof-WTB": (99.2, 92.0),
}  # fmt: skip
METRICS = ("Words", "Sentences")
_NO_BLANK_BEFORE = frozenset(".,;:!?)]}%…»”’")
_NO_BLANK_AFTER = frozenset("([{¿¡«“‘„")
_UNSPACED_MARKS = frozenset("。，、！？：；「」『』（）《》・")


def run(names: Sequence[str] | None = None, on_dev: bool = False) -> dict[str, Any]:
    """Train and measure on the named treebanks, by default on all; `on_dev` leaves the test files alone."""
    return summary([row for name in names or treebanks() for row in _measure(name, on_dev)])


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The rows, and their means over the treebanks with published UDPipe results."""
    known = [row for row in rows if row["UDPipe words"] is not None]
    facts: dict[str, Any] = {"title": "Segmentation of raw text, F1", "rows": rows, "treebanks": len(rows)}
    for metric in METRICS:
        name = metric.lower()
        ours, theirs = ([row[column] for row in known] for column in (f"Weft {name}", f"UDPipe {name}"))
        if known:
            facts[f"mean {name} of Weft"] = round(mean(ours), 2)
            facts[f"mean {name} of UDPipe"] = round(mean(theirs), 2)
            pairs = list(zip(ours, theirs, strict=True))
            facts[f"{name}: above or equal"] = sum(round(one, 1) >= other for one, other in pairs)
            facts[f"{name}: compared"] = len(pairs)
    return facts


def treebanks() -> list[str]:
    """The treebanks that have a train file and something to measure on."""
    return [
        entry.name
        for entry in data.catalog()
        if entry.folder.startswith("treebanks/ud/")
        and data.have(f"{entry.folder}/train.conllu.gz")
        and any(data.have(f"{entry.folder}/{part}.conllu.gz") for part in ("dev", "test"))
    ]


def load(name: str, part: str) -> tuple[list[Doc], bool]:
    """The documents of a part of a treebank, and whether their spaces come from the file."""
    path = data.find(f"treebanks/ud/{name}/{part}.conllu.gz")
    docs = list(conllu.read(str(path), check_trees=False))
    told = _tells_blanks(path)
    return (docs if told else [respaced(doc) for doc in docs]), told


def respaced(doc: Doc) -> Doc:
    """A document with conventional spacing.

    None before closing marks and after opening ones, none inside a pair of straight quotation marks, none beside
    characters of scripts that part words by nothing.
    """
    table = CharacterTable()
    forms = [form for sentence in doc.sentences for form in [word.form for word in sentence.words]]
    lengths = np.diff(doc.sentence_offsets).tolist()
    unspaced = [_is_unspaced(form, table) for form in forms]
    blanks: list[bool] = []
    quoted = False
    for i, form in enumerate(forms):
        behind = forms[i + 1] if i + 1 < len(forms) else ""
        opens = form == '"' and not quoted
        if form == '"':
            quoted = not quoted
        closes = behind == '"' and quoted
        glued = form in _NO_BLANK_AFTER or behind in _NO_BLANK_BEFORE or opens or closes
        blanks.append(not (glued or (unspaced[i] and i + 1 < len(forms) and unspaced[i + 1])))
    sentences: list[list[str]] = []
    spaces: list[list[bool]] = []
    first = 0
    for length in lengths:
        sentences.append(forms[first : first + length])
        spaces.append(blanks[first : first + length])
        first += length
    return Doc.from_words(sentences, spaces)


def _is_unspaced(form: str, table: CharacterTable) -> bool:
    """Whether a form is written without spaces next to others: every mark is where its neighbour is."""
    kinds = table.classes(code_points(form))
    return bool(IS_UNSPACED[kinds].any()) or form in _UNSPACED_MARKS or (len(form) == 1 and not form.isalnum())


def _tells_blanks(path: Path) -> bool:
    import gzip

    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as file:
        return any("SpaceAfter=No" in line or line.startswith("# text ") for line in file)


def _measure(name: str, on_dev: bool) -> Iterator[dict[str, Any]]:
    folder = f"treebanks/ud/{name}"
    train, told = load(name, "train")
    dev = load(name, "dev")[0] if data.have(f"{folder}/dev.conllu.gz") else None
    measured = "dev" if on_dev or not data.have(f"{folder}/test.conllu.gz") else "test"
    if measured == "dev" and dev is None:
        return
    gold = dev if measured == "dev" else load(name, "test")[0]
    assert gold is not None
    segmenter = Segmenter()
    start = time.process_time()
    segmenter.fit(train, dev if measured == "test" else None)
    seconds = time.process_time() - start
    system = [Doc(doc.text) for doc in gold]
    segmenter(system)
    scores = evaluate_ud(gold, system).scores
    theirs = UDPIPE.get(name, (None, None))
    row: dict[str, Any] = {"treebank": name, "measured on": measured, "blanks": "as told" if told else "by rule"}
    for metric, other in zip(METRICS, theirs, strict=True):
        row[f"Weft {metric.lower()}"] = round(100 * scores[metric].f1, 2)
        row[f"UDPipe {metric.lower()}"] = other
    yield row | {"training CPU s": round(seconds, 1)}
