"""What leaves a project: labelled documents, recorded times, and a copy of everything."""

from __future__ import annotations

import csv
import os
import shutil
import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from weft.errors import ConfigError, DataError
from weft.text.doc import Doc
from weft.text.record import from_record
from weft.workbench.agreement import Decision, by_item, decide
from weft.workbench.layers import prepare, write_value
from weft.workbench.project import DATABASE, GUIDELINES, HISTORY, MODELS, SETTINGS, Project, kept_models, newest
from weft.workbench.store import FINAL, Item


def labelled(project: Project, person: str = "", everything: bool = False) -> Iterator[Doc]:
    """The documents with the answers that count, or with those of one person.

    Only sentences with answers are part of them, unless `everything` is asked for. Of a question whose answer is yes,
    the suggested span is written.
    """
    schema, layer = project.settings.schema(), project.settings.layer
    chosen = _chosen(project, person)
    per_doc: dict[int, list[Item]] = defaultdict(list)
    for item in project.store.items():
        per_doc[item.doc].append(item)
    for number, record in project.store.docs().items():
        items = [item for item in per_doc[number] if item.id in chosen]
        if not items and not everything:
            continue
        doc = from_record(record)
        if schema.kind != "labels" or items:
            prepare(schema, doc, layer)
        covered = [0] * doc.n_words
        if schema.kind == "labels" and any(item.words < doc.n_words for item in items):
            for item in items:  # each labelled sentence is a text of its own
                own = doc.subset(_sentences(doc, item))
                write_value(schema, own, layer, 0, chosen[item.id].value)
                own.id = item.name
                yield own
            continue
        for item in sorted(items, key=lambda each: each.first):
            covered[item.first : item.end] = [1] * item.words
            value = chosen[item.id].value
            if schema.kind != "questions":
                write_value(schema, doc, layer, item.first, value)
            elif value["accept"]:
                ((start, end),) = item.shown["question"]["pieces"]
                doc.spans[layer].add([(item.first + start, item.first + end)], item.shown["question"]["label"])
        offsets = doc.sentence_offsets.tolist()
        whole = [n for n in range(doc.n_sentences) if any(covered[offsets[n] : offsets[n + 1]])]
        yield doc if everything or len(whole) == doc.n_sentences else doc.subset(whole)


def _sentences(doc: Doc, item: Item) -> list[int]:
    offsets = doc.sentence_offsets.tolist()
    return [n for n in range(doc.n_sentences) if offsets[n] < item.end and offsets[n + 1] > item.first]


def _chosen(project: Project, person: str) -> dict[int, Decision]:
    schema = project.settings.schema()
    found = {}
    for item, answers in by_item(project.store.standing()).items():
        own = [each for each in answers if each.person == person and each.kind != FINAL] if person else answers
        decision = decide(schema, own)
        if decision is not None:
            found[item] = decision
    if person and not found:
        raise DataError(f"{person} has not answered anything")
    return found


def write_times(project: Project, path: Path) -> int:
    """Write the recorded times as a table that `weft label plan --times` reads."""
    items = {item.id: item for item in project.store.items()}
    rows: list[tuple[int, float, float]] = []
    for answer in project.store.standing():
        if answer.seconds > 0:
            sure = (answer.proposed or {}).get("confidence", 0.5)
            rows.append((items[answer.item].words, round(float(sure), 3), round(answer.seconds, 2)))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("words", "confidence", "seconds"))
        writer.writerows(rows)
    return len(rows)


def backup(project: Project, target: Path) -> None:
    """Pack a project into one file, while the workbench may be open."""
    if not target.name.endswith((".tar.gz", ".tgz")):
        raise ConfigError(f"a backup is a file such as {project.name}.tar.gz, not {target}")
    if target.exists():
        raise ConfigError(f"{target} exists already; name another file")
    part = target.with_name(f"{target.name}.part")
    try:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / DATABASE
            project.store.backup(copy)
            with tarfile.open(part, "w:gz") as packed:
                packed.add(copy, DATABASE)
                for name in (SETTINGS, GUIDELINES):
                    if (project.folder / name).is_file():
                        packed.add(project.folder / name, name)
                for path in sorted((project.folder / MODELS).glob("*.weft")):
                    packed.add(path, f"{MODELS}/{path.name}")
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def restore(source: Path, folder: Path) -> Project:
    """Unpack a backup into a new folder; nothing outside it is written, whatever the file says."""
    if folder.exists() and any(folder.iterdir()):
        raise ConfigError(f"{folder} is not empty; restore into a new folder")
    if not source.is_file():
        raise DataError(f"no file {source}")
    made = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tarfile.open(source, "r:gz") as packed:
            for member in packed:
                _unpack(packed, member, folder)
        return Project(folder)
    except (tarfile.TarError, EOFError, OSError, DataError) as error:
        if made:
            shutil.rmtree(folder, ignore_errors=True)
        raise DataError(f"{source} is not a whole backup of a project: {error}") from None


def _unpack(packed: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    parts = Path(member.name).parts
    known = member.name in (DATABASE, SETTINGS, GUIDELINES, HISTORY) or (
        len(parts) == 2 and parts[0] == MODELS and parts[1].endswith(".weft") and parts[1] != ".weft"
    )
    source = packed.extractfile(member) if member.isreg() and known else None
    if source is None:
        raise DataError(f"it holds {member.name[:100]!r}")
    target = folder.joinpath(*parts)
    target.parent.mkdir(exist_ok=True)
    with source, target.open("wb") as file:
        shutil.copyfileobj(source, file)


def copy_model(project: Project, target: Path) -> None:
    """Copy the model of the last round of training."""
    number = newest(kept_models(project.folder))
    if not number:
        raise DataError("no model has been trained in this project yet")
    shutil.copyfile(project.model_file(number), target)
