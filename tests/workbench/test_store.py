"""The store: answers are only added, sent twice stored once, undone one by one, and shared out among people."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, DataError
from weft.workbench.store import ANSWER, FINAL, LEASE, SKIP, Answer, NewItem, Store


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    with filled(tmp_path / "project.db", 6, clock) as found:
        yield found


def filled(path: Path, n_items: int, clock: Clock | None = None) -> Store:
    store = Store.create(path, clock) if clock else Store.create(path)
    for name in ("ada", "bea", "cleo"):
        store.add_person(name)
    store.add_items([{"text": "x"}], [NewItem(f"i{n}", 0, 0, 1, {}, rank=n) for n in range(n_items)])
    return store


def say(store: Store, id: str, item: int, person: str, label: str, kind: str = ANSWER) -> int:
    return store.add(Answer(id, item, person, kind, {"labels": [label]} if kind != SKIP else None))


def now(store: Store) -> dict[tuple[int, str, bool], str]:
    return {
        (each.item, each.person, each.kind == FINAL): each.value["labels"][0] for each in store.standing() if each.value
    }


def ids(store: Store, person: str, most: int, wanted: int = 1) -> list[str]:
    return [item.name for item in store.next_items(person, most, wanted)]


def test_an_answer_sent_twice_is_stored_once(store: Store) -> None:
    assert say(store, "a", 1, "ada", "x") == say(store, "a", 1, "ada", "x")
    assert len(store.history()) == 1


def test_an_id_that_another_answer_has_is_refused(store: Store) -> None:
    say(store, "a", 1, "ada", "x")
    for item, person in ((2, "ada"), (1, "bea")):
        with pytest.raises(DataError, match="another answer has this id"):
            say(store, "a", item, person, "x")


def test_a_new_answer_replaces_the_old_one_and_the_history_keeps_both(store: Store) -> None:
    say(store, "a", 1, "ada", "x")
    say(store, "b", 1, "ada", "y")
    assert now(store) == {(1, "ada", False): "y"}
    assert [each.value["labels"] for each in store.history() if each.value] == [["x"], ["y"]]


def test_undo_brings_back_what_was_said_before(store: Store) -> None:
    say(store, "a", 1, "ada", "x")
    say(store, "b", 1, "ada", "y")
    say(store, "c", 2, "bea", "z")
    undone = store.undo("u1", "ada")
    assert undone is not None
    assert undone.value == {"labels": ["y"]}
    assert now(store) == {(1, "ada", False): "x", (2, "bea", False): "z"}
    store.undo("u2", "ada")
    assert now(store) == {(2, "bea", False): "z"}
    assert store.undo("u3", "ada") is None
    assert [each.kind for each in store.history()] == ["answer", "answer", "answer", "undo", "undo"]


def test_an_undo_sent_twice_undoes_once(store: Store) -> None:
    say(store, "a", 1, "ada", "x")
    say(store, "b", 2, "ada", "y")
    assert store.undo("u", "ada") == store.undo("u", "ada")
    assert now(store) == {(1, "ada", False): "x"}


@given(steps=st.lists(st.tuples(st.integers(0, 2), st.sampled_from("xyz"), st.booleans()), max_size=12))
@settings(max_examples=60, deadline=None)
def test_undo_is_that_of_a_stack_of_answers_for_each_person(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, str, bool]]
) -> None:
    """The twin: a plain list of what a person said, from which undo takes the last answer that still stands."""
    with filled(tmp_path_factory.mktemp("twin") / "p.db", 3) as store:
        said: dict[int, list[tuple[int, str]]] = {1: [], 2: [], 3: []}
        for number, (item, label, undo) in enumerate(steps):
            if not undo:
                say(store, str(number), item + 1, "ada", label)
                said[item + 1].append((number, label))
                continue
            store.undo(str(number), "ada")
            tops = [(rows[-1][0], place) for place, rows in said.items() if rows]
            if tops:
                said[max(tops)[1]].pop()
        assert now(store) == {(place, "ada", False): rows[-1][1] for place, rows in said.items() if rows}


def test_an_item_is_shown_to_one_person_at_a_time_until_the_lease_ends(store: Store, clock: Clock) -> None:
    assert ids(store, "ada", 2) == ["i0", "i1"]
    assert ids(store, "bea", 2) == ["i2", "i3"]
    assert ids(store, "ada", 2) == ["i0", "i1"]  # again, after a reload
    clock.now += LEASE + 1
    assert ids(store, "bea", 2) == ["i0", "i1"]


def test_an_answer_after_the_lease_is_kept_all_the_same(store: Store, clock: Clock) -> None:
    ids(store, "ada", 1)
    clock.now += LEASE + 1
    ids(store, "bea", 1)
    say(store, "b", 1, "bea", "y")
    say(store, "a", 1, "ada", "x")
    assert now(store) == {(1, "ada", False): "x", (1, "bea", False): "y"}


def test_an_item_is_shown_to_as_many_people_as_wanted(store: Store) -> None:
    for person in ("ada", "bea"):
        assert ids(store, person, 1, wanted=2) == ["i0"]
    assert ids(store, "cleo", 1, wanted=2) == ["i1"]
    say(store, "a", 1, "ada", "x")
    say(store, "b", 1, "bea", "x")
    assert ids(store, "ada", 1, wanted=2) == ["i1"]
    assert ids(store, "cleo", 6, wanted=2)[0] == "i1"


def test_skipped_items_come_last(store: Store) -> None:
    assert ids(store, "ada", 1) == ["i0"]
    say(store, "s", 1, "ada", "", SKIP)
    assert ids(store, "ada", 6) == ["i1", "i2", "i3", "i4", "i5", "i0"]


def test_a_final_answer_stands_beside_those_of_annotators(store: Store) -> None:
    say(store, "a", 1, "ada", "x")
    say(store, "f", 1, "ada", "y", FINAL)
    assert now(store) == {(1, "ada", False): "x", (1, "ada", True): "y"}
    store.undo("u", "ada")
    assert now(store) == {(1, "ada", False): "x"}


def test_tokens_sign_in_until_the_person_is_removed(store: Store) -> None:
    token = store.add_person("dora", "adjudicator")
    found = store.person_of_token(token)
    assert found is not None
    assert (found.name, found.role) == ("dora", "adjudicator")
    secret = store.open_session("dora")
    assert store.person_of_session(secret) == found
    assert store.person_of_token(token[:-1]) is None
    assert store.person_of_token("") is None
    store.remove_person("dora")
    assert store.person_of_token(token) is None
    assert store.person_of_token("") is None
    assert store.person_of_session(secret) is None
    with pytest.raises(ConfigError, match="nobody is called 'eve' here; the people are ada"):
        store.remove_person("eve")


def test_neither_tokens_nor_secrets_are_in_the_file(store: Store) -> None:
    token, secret = store.add_person("dora"), store.open_session("dora")
    store.backup(store.path.with_name("copy.db"))
    data = store.path.with_name("copy.db").read_bytes()
    assert token.encode() not in data
    assert secret.encode() not in data


def test_people_who_answer_at_once_lose_no_answer(tmp_path: Path) -> None:
    with filled(tmp_path / "many.db", 60) as store:
        names = [f"p{n}" for n in range(6)]
        for name in names:
            store.add_person(name)

        def work(name: str, own: Store) -> None:
            while items := own.next_items(name, 2, 2):
                for item in items:
                    say(own, f"{name}-{item.id}", item.id, name, "x")

        others = [store, store, Store(store.path), Store(store.path), Store(store.path), store]
        threads = [threading.Thread(target=work, args=pair) for pair in zip(names, others, strict=True)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        per_item: dict[int, set[str]] = {}
        for each in store.standing():
            per_item.setdefault(each.item, set()).add(each.person)
        assert {len(people) for people in per_item.values()} == {2}
        assert len(per_item) == 60
        assert len(store.history()) == 120


def test_every_commit_is_on_the_disk_before_it_is_acknowledged(store: Store) -> None:
    modes = [store._rows(f"PRAGMA {name}")[0][0] for name in ("journal_mode", "synchronous")]
    assert modes == ["wal", 2]  # 2: FULL, the log is synced before a transaction ends


def test_files_that_are_no_project_are_refused_in_plain_words(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="weft label new"):
        Store(tmp_path / "none.db")
    (tmp_path / "bad.db").write_text("not a database, but long enough to look at")
    with pytest.raises(DataError, match="not the database of a project"):
        Store(tmp_path / "bad.db")
    base = sqlite3.connect(tmp_path / "new.db")
    base.execute("PRAGMA user_version = 99")
    base.close()
    with pytest.raises(DataError, match="newer Weft"):
        Store(tmp_path / "new.db")
