"""New facts as files: tables with one fact per row, or JSON Lines with all reasons.

source  relation  target  probability  because        .tsv and .csv; `because` has the strongest reason in words
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Sequence
from pathlib import Path

from weft.errors import DataError
from weft.tasks.knowledge.completion import NewFact

COLUMNS = ("source", "relation", "target", "probability", "because")


def write_facts(facts: Sequence[NewFact], path: str | os.PathLike[str]) -> None:
    """Write facts to a file, by its suffix.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_facts([NewFact("Mara", "citizen of", "Norway", 0.0)], f"{folder}/new.tsv")
    ...     Path(folder, "new.tsv").read_text().splitlines()[1].split("\\t")
    ['Mara', 'citizen of', 'Norway', '0.5000', '']
    """
    place = Path(path)
    if place.suffix not in (".tsv", ".csv", ".jsonl"):
        raise DataError(f"new facts are written as .tsv, .csv or .jsonl, not as {place.name}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with open(place, "w", encoding="utf-8", newline="") as file:
            if place.suffix == ".jsonl":
                file.writelines(json.dumps(fact.to_dict(), ensure_ascii=False) + "\n" for fact in facts)
                return
            out = csv.writer(file, delimiter="\t" if place.suffix == ".tsv" else ",", lineterminator="\n")
            out.writerow(COLUMNS)
            for fact in facts:
                because = fact.reasons[0].told if fact.reasons else ""
                out.writerow((fact.source, fact.relation, fact.target, f"{fact.probability:.4f}", because))
    except OSError as error:
        raise DataError(f"cannot write {place}: {error.strerror}") from None
