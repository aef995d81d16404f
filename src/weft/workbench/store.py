"""The database of a project: items, people, and every answer that was ever given.

Answers are only ever added. What a person says of an item now is in `standing`: their last answer that they have not
undone. An answer replaces the one before (`replaces`), and undoing it brings that one back. The page makes the id of an
answer, so that one that is sent twice is stored once.

SQLite writes its log to the disk before a transaction ends (WAL with `synchronous=FULL`), so an answer that was
acknowledged outlives the process and the machine.

An item is wanted from `per_item` people. Showing it to somebody leases it for a while, so that others get other items;
an answer that comes after its lease has ended counts all the same.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from weft.errors import ConfigError, DataError
from weft.workbench.answers import Value

VERSION = 1
ANNOTATOR, ADJUDICATOR = ROLES = ("annotator", "adjudicator")
ANSWER, FINAL, SKIP, UNDO = "answer", "final", "skip", "undo"
#: Seconds for which an item that is shown to one person is kept from others.
LEASE = 15 * 60.0
#: Days for which a browser stays signed in.
DAYS = 90
_SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE people (name TEXT PRIMARY KEY, role TEXT NOT NULL, token TEXT NOT NULL, active INTEGER NOT NULL DEFAULT 1)
    WITHOUT ROWID;
CREATE TABLE sessions (hash TEXT PRIMARY KEY, person TEXT NOT NULL, made REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE docs (id INTEGER PRIMARY KEY, record TEXT NOT NULL);
CREATE TABLE items (
    id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, doc INTEGER NOT NULL REFERENCES docs, first INTEGER NOT NULL,
    end INTEGER NOT NULL, shown TEXT NOT NULL, given TEXT, held INTEGER NOT NULL, rank REAL NOT NULL,
    answered INTEGER NOT NULL DEFAULT 0);
CREATE INDEX items_by_rank ON items (rank, id);
CREATE TABLE answers (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE NOT NULL, item INTEGER NOT NULL REFERENCES items,
    person TEXT NOT NULL, kind TEXT NOT NULL, value TEXT, replaces INTEGER, seconds REAL NOT NULL, note TEXT NOT NULL,
    proposed TEXT, at REAL NOT NULL);
CREATE TABLE standing (item INTEGER NOT NULL, person TEXT NOT NULL, final INTEGER NOT NULL, seq INTEGER NOT NULL,
    PRIMARY KEY (item, person, final)) WITHOUT ROWID;
CREATE INDEX standing_by_person ON standing (person, seq);
CREATE TABLE skipped (person TEXT NOT NULL, item INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (person, item))
    WITHOUT ROWID;
CREATE TABLE leases (item INTEGER NOT NULL, person TEXT NOT NULL, until REAL NOT NULL, PRIMARY KEY (item, person))
    WITHOUT ROWID;
CREATE INDEX leases_by_person ON leases (person);
CREATE TABLE rounds (number INTEGER PRIMARY KEY, facts TEXT NOT NULL);
"""
#: Items that are open to a person: not answered by them, and wanted from more people than have them.
_OPEN = """
SELECT id FROM items WHERE answered < :wanted AND {which}
    AND NOT EXISTS (SELECT 1 FROM standing s WHERE s.item = items.id AND s.person = :person AND s.final = 0)
    AND answered + (SELECT count(*) FROM leases l WHERE l.item = items.id AND l.person <> :person AND l.until > :now
        AND NOT EXISTS (SELECT 1 FROM standing t WHERE t.item = l.item AND t.person = l.person AND t.final = 0))
        < :wanted
ORDER BY rank, id LIMIT :most
"""
_SKIPPED = "EXISTS (SELECT 1 FROM skipped k WHERE k.item = items.id AND k.person = :person)"
#: Those shown already come first, skipped ones last.
_ORDER = (
    f"id IN (SELECT item FROM leases WHERE person = :person AND until > :now) AND NOT {_SKIPPED}",
    f"NOT {_SKIPPED}",
    _SKIPPED,
)


class NewItem(NamedTuple):
    """An item to add: its words `first:end` of a document, what the page shows, and what is proposed already."""

    name: str
    doc: int
    first: int
    end: int
    shown: dict[str, Any]
    given: Value | None = None
    held: bool = False
    rank: float = 0.0


class Item(NamedTuple):
    """An item of the project."""

    id: int
    name: str
    doc: int
    first: int
    end: int
    shown: dict[str, Any]
    given: Value | None
    held: bool

    @property
    def words(self) -> int:
        return self.end - self.first


class Answer(NamedTuple):
    """A row of the history, or one to store (`seq` 0)."""

    id: str
    item: int
    person: str
    kind: str
    value: Value | None
    seconds: float = 0.0
    note: str = ""
    proposed: Value | None = None
    at: float = 0.0
    seq: int = 0


class Person(NamedTuple):
    """Somebody who answers."""

    name: str
    role: str
    active: bool = True


_ITEM = "id, name, doc, first, end, shown, given, held"
_ANSWER = "a.id, a.item, a.person, a.kind, a.value, a.seconds, a.note, a.proposed, a.at, a.seq"


class Store:
    """The database; all threads of a process may share one, and other processes may open the same file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Store.create(Path(folder) / "project.db") as store:
    ...     _ = store.add_person("ada")
    ...     store.add_items([{"text": "Hi"}], [NewItem("hi", 0, 0, 1, {})])
    ...     (item,) = store.next_items("ada", 1, wanted=1)
    ...     first = store.add(Answer("a1", item.id, "ada", ANSWER, {"labels": ["x"]}))
    ...     first == store.add(Answer("a1", item.id, "ada", ANSWER, {"labels": ["x"]})), store.next_items("ada", 1, 1)
    (True, [])
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        if not path.is_file():
            raise DataError(f"{path} is missing; make a project with `weft label new`")
        self.path, self.clock = path, clock
        self._lock = threading.RLock()
        self._base = sqlite3.connect(path, timeout=30.0, isolation_level=None, check_same_thread=False)
        try:
            self._base.execute("PRAGMA journal_mode = WAL")
            self._base.execute("PRAGMA synchronous = FULL")
            self._base.execute("PRAGMA foreign_keys = ON")
            version = self._base.execute("PRAGMA user_version").fetchone()[0]
        except sqlite3.DatabaseError as error:
            self._base.close()
            raise DataError(f"{path} is not the database of a project: {error}; restore a backup") from None
        if version > VERSION:
            self._base.close()
            raise DataError(f"{path} was written by a newer Weft (version {version}); update Weft")

    @classmethod
    def create(cls, path: Path, clock: Callable[[], float] = time.time) -> Store:
        """An empty database in a new file."""
        if path.exists():
            raise ConfigError(f"{path} exists already; open it with `weft label open`, or choose another folder")
        base = sqlite3.connect(path)
        base.executescript(f"{_SCHEMA}PRAGMA user_version = {VERSION};")
        base.close()
        return cls(path, clock)

    def close(self) -> None:
        with self._lock:
            self._base.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction; what was written is on the disk when the block has ended."""
        with self._lock:
            self._base.execute("BEGIN IMMEDIATE")
            try:
                yield self._base
            except BaseException:
                self._base.execute("ROLLBACK")
                raise
            self._base.execute("COMMIT")

    def _rows(self, query: str, values: Sequence[Any] | dict[str, Any] = ()) -> list[Any]:
        with self._lock:
            return self._base.execute(query, values).fetchall()

    # People

    def add_person(self, name: str, role: str = ANNOTATOR) -> str:
        """Add a person, or give one a new token and role; returns the token, of which only a hash is kept."""
        if not name.strip() or len(name) > 100 or not name.isprintable():
            raise ConfigError(f"a person needs a name of at most 100 letters, got {name[:100]!r}")
        if role not in ROLES:
            raise ConfigError(f"a person is {' or '.join(ROLES)}, not {role!r}")
        token = secrets.token_urlsafe(18)
        with self._writing() as base:
            base.execute("INSERT OR REPLACE INTO people VALUES (?, ?, ?, 1)", (name, role, _hash(token)))
            base.execute("DELETE FROM sessions WHERE person = ?", (name,))
        return token

    def remove_person(self, name: str) -> None:
        """Sign a person out for good; their answers stay."""
        with self._writing() as base:
            if not base.execute("UPDATE people SET active = 0, token = '' WHERE name = ?", (name,)).rowcount:
                known = ", ".join(row[0] for row in base.execute("SELECT name FROM people ORDER BY name"))
                raise ConfigError(f"nobody is called {name!r} here; the people are {known or 'not named yet'}")
            for table in ("sessions", "leases"):
                base.execute(f"DELETE FROM {table} WHERE person = ?", (name,))

    def people(self) -> list[Person]:
        """Everybody, also those who were removed."""
        rows = self._rows("SELECT name, role, active FROM people ORDER BY name")
        return [Person(name, role, bool(active)) for name, role, active in rows]

    def person(self, name: str) -> Person | None:
        """An active person by name."""
        rows = self._rows("SELECT name, role FROM people WHERE name = ? AND active", (name,))
        return Person(*rows[0]) if rows else None

    def person_of_token(self, token: str) -> Person | None:
        rows = self._rows("SELECT name, role FROM people WHERE token = ? AND active", (_hash(token),))
        return Person(*rows[0]) if rows else None

    def open_session(self, person: str) -> str:
        """A secret for the cookie of a browser."""
        secret = secrets.token_urlsafe(24)
        with self._writing() as base:
            base.execute("DELETE FROM sessions WHERE made < ?", (self.clock() - DAYS * 86400,))
            base.execute("INSERT INTO sessions VALUES (?, ?, ?)", (_hash(secret), person, self.clock()))
        return secret

    def close_session(self, secret: str) -> None:
        with self._writing() as base:
            base.execute("DELETE FROM sessions WHERE hash = ?", (_hash(secret),))

    def person_of_session(self, secret: str) -> Person | None:
        rows = self._rows(
            "SELECT p.name, p.role FROM sessions s JOIN people p ON p.name = s.person "
            "WHERE s.hash = ? AND s.made > ? AND p.active",
            (_hash(secret), self.clock() - DAYS * 86400),
        )
        return Person(*rows[0]) if rows else None

    # Items

    def add_items(self, records: Iterable[dict[str, Any]], items: Iterable[NewItem]) -> None:
        """Add documents, and items whose `doc` counts these documents from 0."""
        with self._writing() as base:
            ids = []
            for record in records:
                row = base.execute("INSERT INTO docs (record) VALUES (?)", (_dumped(record),))
                ids.append(row.lastrowid)
            base.executemany(
                "INSERT INTO items (name, doc, first, end, shown, given, held, rank) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    (each.name, ids[each.doc], each.first, each.end, _dumped(each.shown),
                     None if each.given is None else _dumped(each.given), int(each.held), each.rank)
                    for each in items
                ),
            )  # fmt: skip

    def item(self, number: int) -> Item | None:
        rows = self._rows(f"SELECT {_ITEM} FROM items WHERE id = ?", (number,))
        return _item(rows[0]) if rows else None

    def items(self, only_open: bool = False) -> list[Item]:
        """All items, or those that nobody has answered, in the order in which they are shown."""
        return [
            _item(row)
            for row in self._rows(f"SELECT {_ITEM} FROM items {'WHERE answered = 0' * only_open} ORDER BY rank, id")
        ]

    def names(self) -> dict[int, str]:
        """The names of all items."""
        return dict(self._rows("SELECT id, name FROM items"))

    def docs(self, numbers: Iterable[int] | None = None) -> dict[int, dict[str, Any]]:
        """The records of documents by their numbers."""
        if numbers is None:
            return {number: json.loads(record) for number, record in self._rows("SELECT id, record FROM docs")}
        found = {}
        for number in dict.fromkeys(numbers):
            for (record,) in self._rows("SELECT record FROM docs WHERE id = ?", (number,)):
                found[number] = json.loads(record)
        return found

    def next_items(self, person: str, most: int, wanted: int) -> list[Item]:
        """The next items for a person, leased to them; skipped ones come when there are no others."""
        now = self.clock()
        ids: list[int] = []
        with self._writing() as base:
            for which in _ORDER:
                values = {"person": person, "wanted": wanted, "now": now, "most": most}
                found = [row[0] for row in base.execute(_OPEN.format(which=which), values)] if len(ids) < most else []
                ids = list(dict.fromkeys([*ids, *found]))[:most]
            base.execute("DELETE FROM leases WHERE person = ? OR until < ?", (person, now))
            base.executemany("INSERT INTO leases VALUES (?, ?, ?)", [(each, person, now + LEASE) for each in ids])
            rows = [base.execute(f"SELECT {_ITEM} FROM items WHERE id = ?", (each,)).fetchone() for each in ids]
        return [_item(row) for row in rows]

    def set_ranks(self, ranks: dict[int, float]) -> None:
        """Show items in another order."""
        with self._writing() as base:
            base.executemany("UPDATE items SET rank = ? WHERE id = ?", [(rank, item) for item, rank in ranks.items()])

    # Answers

    def add(self, answer: Answer) -> int:
        """Store an answer, final answer or skip and return its number; one that is stored already is not added."""
        with self._writing() as base:
            known = _known(base, answer)
            if known is not None:
                return known
            final = int(answer.kind == FINAL)
            before = _standing(base, answer.item, answer.person, final) if answer.kind != SKIP else None
            seq = self._insert(base, answer, before)
            if answer.kind == SKIP:
                base.execute("INSERT OR REPLACE INTO skipped VALUES (?, ?, ?)", (answer.person, answer.item, seq))
            else:
                base.execute(
                    "INSERT OR REPLACE INTO standing VALUES (?, ?, ?, ?)", (answer.item, answer.person, final, seq)
                )
                _count(base, answer.item)
            base.execute("DELETE FROM leases WHERE item = ? AND person = ?", (answer.item, answer.person))
            return seq

    def undo(self, id: str, person: str) -> Answer | None:
        """Undo a person's last answer and return it; the one before it stands again. None if there is none.

        Sent twice with one id, it undoes one answer and returns the same.
        """
        with self._writing() as base:
            row = base.execute("SELECT replaces, person, kind FROM answers WHERE id = ?", (id,)).fetchone()
            if row is not None:
                if row[1:] != (person, UNDO):
                    raise DataError("another answer has this id")
                return _answer_of(base, row[0])
            last = base.execute(
                "SELECT item, final, seq FROM standing WHERE person = ? ORDER BY seq DESC LIMIT 1", (person,)
            ).fetchone()
            if last is None:
                return None
            item, final, seq = last
            undone = _answer_of(base, seq)
            (before,) = base.execute("SELECT replaces FROM answers WHERE seq = ?", (seq,)).fetchone()
            self._insert(base, Answer(id, item, person, UNDO, None), seq)
            if before is None:
                base.execute("DELETE FROM standing WHERE item = ? AND person = ? AND final = ?", (item, person, final))
            else:
                base.execute("INSERT OR REPLACE INTO standing VALUES (?, ?, ?, ?)", (item, person, final, before))
            _count(base, item)
            if not final:
                base.execute("INSERT OR REPLACE INTO leases VALUES (?, ?, ?)", (item, person, self.clock() + LEASE))
            return undone

    def _insert(self, base: sqlite3.Connection, answer: Answer, replaces: int | None) -> int:
        row = base.execute(
            "INSERT INTO answers (id, item, person, kind, value, replaces, seconds, note, proposed, at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                answer.id, answer.item, answer.person, answer.kind,
                None if answer.value is None else _dumped(answer.value), replaces, answer.seconds, answer.note,
                None if answer.proposed is None else _dumped(answer.proposed), answer.at or self.clock(),
            ),
        )  # fmt: skip
        return int(row.lastrowid or 0)

    def history(self, after: int = 0) -> list[Answer]:
        """All rows after a number, in the order in which they were stored."""
        return [
            _answer(row) for row in self._rows(f"SELECT {_ANSWER} FROM answers a WHERE seq > ? ORDER BY seq", (after,))
        ]

    def standing(self) -> list[Answer]:
        """What everybody says now, in the order in which they said it."""
        return [
            _answer(row)
            for row in self._rows(f"SELECT {_ANSWER} FROM standing s JOIN answers a ON a.seq = s.seq ORDER BY a.seq")
        ]

    def answers_of(self, item: int) -> list[Answer]:
        """What everybody says of an item now."""
        rows = self._rows(
            f"SELECT {_ANSWER} FROM standing s JOIN answers a ON a.seq = s.seq WHERE s.item = ? ORDER BY a.seq", (item,)
        )
        return [_answer(row) for row in rows]

    def last(self) -> int:
        """The number of the last row of the history."""
        return int(self._rows("SELECT coalesce(max(seq), 0) FROM answers")[0][0])

    def counts(self) -> dict[str, int]:
        """How many items there are, and how many answers stand."""
        items = self._rows("SELECT count(*) FROM items")[0][0]
        answers = self._rows("SELECT count(*) FROM standing WHERE final = 0")[0][0]
        return {"items": items, "answers": answers}

    def answers_by(self, person: str) -> int:
        """How many items a person has answered."""
        rows = self._rows("SELECT count(*) FROM standing WHERE person = ? AND final = 0", (person,))
        return int(rows[0][0])

    # Facts and rounds of training

    def fact(self, name: str, default: str = "") -> str:
        rows = self._rows("SELECT value FROM facts WHERE name = ?", (name,))
        return str(rows[0][0]) if rows else default

    def set_fact(self, name: str, value: str) -> None:
        with self._writing() as base:
            base.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    def rounds(self) -> list[dict[str, Any]]:
        """The facts of every round of training."""
        rows = self._rows("SELECT number, facts FROM rounds ORDER BY number")
        return [{"number": number, **json.loads(facts)} for number, facts in rows]

    def add_round(self, number: int, facts: dict[str, Any]) -> None:
        with self._writing() as base:
            base.execute("INSERT OR REPLACE INTO rounds VALUES (?, ?)", (number, _dumped(facts)))

    def backup(self, target: Path) -> None:
        """Copy the database while it is in use."""
        copy = sqlite3.connect(target)
        with self._lock:
            self._base.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
        copy.close()


def _known(base: sqlite3.Connection, answer: Answer) -> int | None:
    row = base.execute("SELECT seq, item, person, kind FROM answers WHERE id = ?", (answer.id,)).fetchone()
    if row is None:
        return None
    if row[1:] != (answer.item, answer.person, answer.kind):
        raise DataError("another answer has this id")
    return int(row[0])


def _standing(base: sqlite3.Connection, item: int, person: str, final: int) -> int | None:
    row = base.execute(
        "SELECT seq FROM standing WHERE item = ? AND person = ? AND final = ?", (item, person, final)
    ).fetchone()
    return None if row is None else int(row[0])


def _count(base: sqlite3.Connection, item: int) -> None:
    base.execute(
        "UPDATE items SET answered = (SELECT count(*) FROM standing WHERE item = ?1 AND final = 0) WHERE id = ?1",
        (item,),
    )


def _answer_of(base: sqlite3.Connection, seq: int) -> Answer:
    return _answer(base.execute(f"SELECT {_ANSWER} FROM answers a WHERE seq = ?", (seq,)).fetchone())


def _item(row: Any) -> Item:
    id, name, doc, first, end, shown, given, held = row
    return Item(id, name, doc, first, end, json.loads(shown), given and json.loads(given), bool(held))


def _answer(row: Any) -> Answer:
    id, item, person, kind, value, seconds, note, proposed, at, seq = row
    return Answer(
        id, item, person, kind, value and json.loads(value), seconds, note, proposed and json.loads(proposed), at, seq
    )


def _dumped(value: Any) -> str:
    # Lone surrogates, which come from file names, cannot be stored in UTF-8.
    return json.dumps(value, ensure_ascii=True, allow_nan=False)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
