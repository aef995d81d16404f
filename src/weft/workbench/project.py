"""A project: a folder with its settings, its guidelines, its database and the models that were trained.

project.toml     task, labels, how many people answer each item, the model that proposes, when to train
guidelines.md    what annotators are told
answers.db       items, people and answers (`weft.workbench.store`)
answers.jsonl    the history of answers as plain lines, written while the workbench is open
models/          the model of the last round of training
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from weft.errors import ConfigError, DataError, FormatError, did_you_mean
from weft.workbench.answers import LONGEST_LABEL, Schema, check_kind
from weft.workbench.store import Store

SETTINGS, GUIDELINES, DATABASE, HISTORY, MODELS = (
    "project.toml", "guidelines.md", "answers.db", "answers.jsonl", "models",
)  # fmt: skip
#: The layers that kinds of task write.
LAYERS = {
    "spans": "entities", "relations": "entities", "questions": "entities", "tags": "upos", "trees": "deprel",
    "labels": "label",
}  # fmt: skip
_GUIDELINES = "# {task}\n\nSay here what each label is for, with an example.\n\n{labels}"


@dataclass(frozen=True)
class Settings:
    """What `project.toml` says."""

    task: str
    labels: list[str] = field(default_factory=list)
    relations: list[str] = field(default_factory=list)  # labels of relations
    layer: str = ""  # the span layer or column to write
    several: bool = False  # a text may have more or fewer than one label
    per_item: int = 1  # people who answer each item
    model: str = ""  # proposes until the first round of training
    retrain: int = 25  # answers between rounds of training; 0 never trains
    held_out: float = 0.2  # share of the items that models are scored on
    order: str = "given"  # of items: given, or unsure: what the model is least sure of first

    def schema(self) -> Schema:
        """What answers may say."""
        return Schema(self.task, tuple(self.labels), tuple(self.relations), self.several)

    def check(self) -> None:
        check_kind(self.task)
        if self.per_item < 1 or self.retrain < 0 or not 0 <= self.held_out < 1:
            raise ConfigError("per_item is at least 1, retrain at least 0, held_out from 0 to less than 1")
        if self.order not in ("given", "unsure"):
            raise ConfigError(f"order is given or unsure, not {self.order!r}")
        if not self.labels and self.task != "questions":
            raise ConfigError(f"the task {self.task} needs labels, such as --labels PER,ORG")
        if self.task == "relations" and not self.relations:
            raise ConfigError("relations need labels of their own, such as --relations works-for,lives-in")
        for name in ("labels", "relations"):
            given = getattr(self, name)
            if len(set(given)) != len(given) or not all(0 < len(label) <= LONGEST_LABEL for label in given):
                raise ConfigError(f"{name} are different names of 1 to {LONGEST_LABEL} letters, got {given}")


class Project:
    """An existing project in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings = read_settings(folder / SETTINGS)
        self.store = Store(folder / DATABASE)

    @property
    def name(self) -> str:
        return self.folder.resolve().name

    def guidelines(self) -> str:
        path = self.folder / GUIDELINES
        with suppress(OSError):
            return path.read_text(encoding="utf-8", errors="replace")
        return ""

    def model_file(self, number: int) -> Path:
        """Where the model of a round of training is kept."""
        return self.folder / MODELS / f"{number}.weft"

    def write_history(self) -> int:
        """Bring the plain history up to date and return how many lines were added."""
        return append_history(self.folder / HISTORY, self.store)

    def close(self) -> None:
        self.store.close()

    def __enter__(self) -> Project:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def create(folder: Path, settings: Settings, guidelines: str = "") -> Project:
    """Make the folder of a project without items."""
    settings.check()
    if (folder / DATABASE).exists() or (folder / SETTINGS).exists():
        raise ConfigError(f"{folder} holds a project already; open it with `weft label open {folder}`")
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(f"- `{label}`: \n" for label in [*settings.labels, *settings.relations])
    text = guidelines or _GUIDELINES.format(task=settings.task.capitalize(), labels=lines)
    (folder / GUIDELINES).write_text(text, encoding="utf-8")
    Store.create(folder / DATABASE).close()
    (folder / SETTINGS).write_text(settings_text(settings), encoding="utf-8")
    return Project(folder)


def read_settings(path: Path) -> Settings:
    """The settings of a project, which people may have edited."""
    if not path.is_file():
        raise DataError(f"{path.parent} is not a project: it has no {path.name}; make one with `weft label new`")
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FormatError(str(path), None, "TOML", str(error)) from None
    known = {each.name: each for each in fields(Settings)}
    for name, value in given.items():
        if name not in known:
            raise ConfigError(f"{path}: there is no setting {name!r}; {did_you_mean(name, known, ', '.join(known))}")
        kinds: Any = {"labels": list, "relations": list, "several": bool, "held_out": (int, float)}.get(name)
        kinds = kinds or (int if name in ("per_item", "retrain") else str)
        if not isinstance(value, kinds) or (kinds is int and isinstance(value, bool)):
            raise ConfigError(f"{path}: {name} has the wrong kind of value: {value!r}")
        if kinds is list and not all(isinstance(label, str) for label in value):
            raise ConfigError(f"{path}: {name} is a list of texts")
    if "task" not in given:
        raise ConfigError(f"{path}: the task is missing")
    settings = Settings(**given)
    settings.check()
    return settings


def settings_text(settings: Settings) -> str:
    """The settings as TOML, each with a comment.

    >>> print(settings_text(Settings("labels", ["spam", "ham"])).splitlines()[2])
    labels = ["spam", "ham"]
    """
    told = {
        "task": "spans, tags, trees, relations, questions or labels",
        "per_item": "people who answer each item",
        "model": "proposes until the first round of training",
        "retrain": "answers between rounds of training; 0 never trains",
        "held_out": "share of the items that models are scored on; it never trains them",
        "order": "given, or unsure: what the model is least sure of comes first",
    }
    lines = ["# The settings of this project; restart the workbench after a change."]
    for name, value in asdict(settings).items():
        comment = f"  # {told[name]}" if name in told else ""
        lines.append(f"{name} = {_toml(value)}{comment}")
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str):
        # JSON escapes what TOML forbids, but for this one letter.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


def is_held_out(name: str, text: str, share: float) -> bool:
    """Whether an item is kept for scoring: decided by its name and text alone, so it stays so for ever.

    >>> sum(is_held_out(str(number), "", 0.2) for number in range(1000))
    204
    """
    digest = hashlib.sha256(f"{name}\t{text}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") < share * 2**64


def append_history(path: Path, store: Store) -> int:
    """Append the rows of the history that a file of lines does not have yet."""
    last = _last_line(path)
    rows = store.history(last)
    if rows:
        names = store.names()
        with path.open("a", encoding="utf-8") as file:
            file.writelines(history_line(row, names) for row in rows)
    return len(rows)


def history_line(row: Any, names: dict[int, str]) -> str:
    """A row of the history as a line of JSON, with the name of its item."""
    return json.dumps({**row._asdict(), "item": names.get(row.item, row.item)}, ensure_ascii=True) + "\n"


_SEQ = re.compile(rb'"seq": (\d{1,18})\}\Z')


def _last_line(path: Path) -> int:
    """The number of the last whole line; what follows it, from a killed process, is cut off."""
    if not path.exists():
        return 0
    with path.open("rb+") as file:
        size = file.seek(0, 2)
        tail, start = b"", size
        while start and tail.count(b"\n") < 2:
            start = max(0, start - 65536)
            file.seek(start)
            tail = file.read(size - start)
        whole, sign, rest = tail.rpartition(b"\n")
        if rest or (tail and not sign):
            file.truncate(size - len(rest) if sign else start)
        match = _SEQ.search(whole.rpartition(b"\n")[2])
        if whole and match is None:
            raise DataError(f"{path} is not the history of a project: move it away, and it is written anew")
        return int(match[1]) if match else 0


def split_labels(text: str) -> list[str]:
    """Labels in one option, with commas between them.

    >>> split_labels("PER, ORG,LOC")
    ['PER', 'ORG', 'LOC']
    """
    return [label.strip() for label in text.split(",") if label.strip()]


def default_layer(kind: str, layer: str = "") -> str:
    """The layer that a task writes unless another one is named."""
    return layer or LAYERS.get(kind, "")


def newest(numbers: Iterable[int]) -> int:
    """The last round of training whose model is kept, 0 for none.

    >>> newest([]), newest([1, 3])
    (0, 3)
    """
    return max(numbers, default=0)


def kept_models(folder: Path) -> Sequence[int]:
    """The rounds of training whose models are on the disk."""
    return sorted(int(path.stem) for path in (folder / MODELS).glob("*.weft") if path.stem.isdecimal())
