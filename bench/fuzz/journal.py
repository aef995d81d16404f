"""What a part has done so far, noted attack by attack, so that an interrupted run resumes.

The folder comes from `--journal`, through the environment. Its files are named after part, seed and commit, so that a
run never takes over what another one did with other code.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from weft.recipes import record

#: The variable that names the folder; without it nothing is noted.
FOLDER = "WEFT_FUZZ_JOURNAL"


class Journal:
    """One line of JSON per attack, by its seed.

    >>> import tempfile, unittest.mock
    >>> with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(os.environ, {FOLDER: folder}):
    ...     with Journal("texts", 7) as journal:
    ...         journal.note(11, {"fault": ""})
    ...     with Journal("texts", 7) as journal:
    ...         print(journal.get(11), journal.get(12))
    {'seed': 11, 'fault': ''} None
    """

    def __init__(self, part: str, seed: int) -> None:
        folder = os.environ.get(FOLDER)
        self.path = Path(folder, f"{part}-{seed}-{record.commit()}.jsonl") if folder else None
        self._rows: dict[int, dict[str, Any]] = {}
        self._file: IO[str] | None = None

    def __enter__(self) -> Journal:
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            whole = self.path.read_bytes().rpartition(b"\n") if self.path.is_file() else (b"", b"", b"")
            for line in whole[0].splitlines():
                row = json.loads(line)
                self._rows[row["seed"]] = row
            self._file = self.path.open("a", encoding="utf-8")
            self._file.truncate(len(whole[0] + whole[1]))  # a line that was cut off when the run was killed
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def get(self, seed: int) -> dict[str, Any] | None:
        """What was noted of an attack, None if it has not been made."""
        return self._rows.get(seed)

    def note(self, seed: int, facts: Mapping[str, Any]) -> None:
        """Note an attack at once."""
        if self._file is not None:
            self._file.write(json.dumps({"seed": seed, **facts}, ensure_ascii=False) + "\n")
            self._file.flush()
