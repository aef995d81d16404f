"""The workbench behind its page: who asks, what they see, what they may store; and the work in the background."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from weft.errors import WeftError
from weft.workbench.agreement import by_item, decide
from weft.workbench.answers import checked
from weft.workbench.items import plain
from weft.workbench.models import Proposal, Proposer
from weft.workbench.progress import progress
from weft.workbench.project import Project
from weft.workbench.retrain import FAILED, LEAST
from weft.workbench.store import ADJUDICATOR, ANSWER, FINAL, SKIP, Answer, Item, Person

#: What the page makes of random bytes.
_ID = re.compile(r"[0-9A-Za-z_.-]{8,80}")
#: The longest note, the most items in one response, and the longest time for an item in seconds.
LONGEST_NOTE, MOST_ITEMS, LONGEST_TIME = 5000, 10, 3600.0
#: Seconds between looks at what is to be done in the background.
EVERY = 1.0
_log = logging.getLogger("weft.serve")


class Refused(WeftError):
    """A request that this person may not make."""


class Workbench:
    """A project that is open for people to work on.

    Without `tokens`, whoever reaches the page may enter under the name of any annotator, which suits one's own machine.
    """

    def __init__(self, project: Project, tokens: bool = False) -> None:
        self.project, self.tokens = project, tokens
        self.proposer = Proposer(project)
        self._trainer: subprocess.Popen[bytes] | None = None
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._board: tuple[int, int, dict[str, Any]] | None = None
        self._thread = threading.Thread(target=self._keep, daemon=True)

    def start(self) -> None:
        """Begin the work in the background: the plain history, and training."""
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(10)
        if self._trainer is not None and self._trainer.poll() is None:
            self._trainer.terminate()
            self._trainer.wait(10)
        self.project.write_history()

    # People

    def enter(self, values: Mapping[str, Any]) -> str | None:
        """The secret of a new session for a token, or a name if no token is needed; None if it is wrong."""
        store = self.project.store
        token, name = values.get("token"), values.get("name")
        if isinstance(token, str) and token:
            person = store.person_of_token(token)
        elif not self.tokens and isinstance(name, str) and name.strip():
            person = store.person(name.strip())
            if person is None and not any(each.name == name.strip() for each in store.people()):
                store.add_person(name.strip())
                person = store.person(name.strip())
        else:
            person = None
        return None if person is None else store.open_session(person.name)

    def door(self, person: Person | None) -> dict[str, Any]:
        """What the page needs to know first; who has not entered learns no more than how to."""
        if person is None:
            names = [] if self.tokens else [each.name for each in self.project.store.people() if each.active]
            return {"person": None, "tokens": self.tokens, "people": names}
        settings = self.project.settings
        return {
            "person": person.name, "role": person.role, "tokens": self.tokens, "project": self.project.name,
            "task": settings.task, "labels": settings.labels, "relations": settings.relations,
            "several": settings.several, "per_item": settings.per_item, "guidelines": self.project.guidelines(),
        }  # fmt: skip

    # Items and answers

    def next(self, person: Person, most: int = 2) -> dict[str, Any]:
        """The next items for a person with proposals."""
        items = self.project.store.next_items(
            person.name, max(1, min(most, MOST_ITEMS)), self.project.settings.per_item
        )
        return {"items": self._views(items), **self._counted(person)}

    def answer(self, person: Person, values: Mapping[str, Any]) -> dict[str, Any]:
        """Store an answer; it is on the disk when this returns. The response brings the next items."""
        kind = values.get("kind", ANSWER)
        if kind not in (ANSWER, FINAL, SKIP):
            raise WeftError("an answer is of the kind answer, final or skip")
        if kind == FINAL and person.role != ADJUDICATOR:
            raise Refused("only adjudicators decide between answers")
        item = self._item(values.get("item"))
        value = None if kind == SKIP else checked(self.project.settings.schema(), values.get("value"), item.words)
        note = values.get("note", "")
        if not isinstance(note, str) or len(note) > LONGEST_NOTE:
            raise WeftError(f"a note is a text of at most {LONGEST_NOTE:,} letters")
        proposed = self._proposed(values.get("proposed"))
        seq = self.project.store.add(
            Answer(
                _id(values), item.id, person.name, kind, value, _seconds(values.get("seconds")), plain(note), proposed
            )
        )
        return {"seq": seq, **(self.next(person) if kind != FINAL else {})}

    def undo(self, person: Person, values: Mapping[str, Any]) -> dict[str, Any]:
        """Undo a person's last answer and show its item again, with that answer."""
        undone = self.project.store.undo(_id(values), person.name)
        if undone is None:
            return {"item": None}
        (view,) = self._views([self._item(undone.item)])
        return {"item": view, "value": undone.value, "note": undone.note, "kind": undone.kind}

    def disputes(self, person: Person, most: int = 20) -> dict[str, Any]:
        """Items on which people differ and nobody has decided, with what each of them says."""
        if person.role != ADJUDICATOR:
            raise Refused("only adjudicators see the answers of others")
        schema, store = self.project.settings.schema(), self.project.store
        open_items = []
        for number, answers in by_item(store.standing()).items():
            decision = decide(schema, answers)
            if decision is not None and decision.disputed:
                open_items.append((number, answers, decision))
        views = []
        for number, answers, decision in open_items[:most]:
            (view,) = self._views([self._item(number)])
            said = [{"person": each.person, "value": each.value, "note": each.note} for each in answers]
            views.append({**view, "answers": said, "majority": decision.value})
        return {"items": views, "left": len(open_items)}

    def board(self) -> dict[str, Any]:
        """The progress of the project, computed anew when there are new answers."""
        key = (self.project.store.last(), len(self.project.store.rounds()))
        with self._lock:
            if self._board is None or self._board[:2] != key:
                self._board = (*key, progress(self.project))
            return {**self._board[2], "training": self._trainer is not None}

    def _counted(self, person: Person) -> dict[str, Any]:
        counts = self.project.store.counts()
        rounds = self.project.store.rounds()
        last = {name: rounds[-1].get(name) for name in ("number", "outcome", "score", "before")} if rounds else None
        own = self.project.store.answers_by(person.name)
        wanted = counts["items"] * self.project.settings.per_item
        return {"done": counts["answers"], "wanted": wanted, "own": own, "round": last}

    def _item(self, number: Any) -> Item:
        item = self.project.store.item(number) if _is_number(number) else None
        if item is None:
            raise WeftError("there is no such item in this project")
        return item

    def _views(self, items: Sequence[Item]) -> list[dict[str, Any]]:
        """Items as the page shows them. The model that held-out items are to score proposes nothing for them."""
        proposals = self.proposer.propose(items)
        views = []
        for item, proposal in zip(items, proposals, strict=True):
            shown: Proposal | None = proposal
            if item.held:
                shown = None if item.given is None else Proposal(item.given, [], 0)
            told = None if shown is None else {**shown._asdict(), "confidence": round(shown.confidence, 3)}
            views.append({"id": item.id, "name": item.name, **item.shown, "proposal": told, "held": item.held})
        return views

    def _proposed(self, given: Any) -> dict[str, Any] | None:
        """What the page says it had proposed: which round, how surely, and whether it was accepted as it was."""
        if not isinstance(given, Mapping):
            return None
        number, sure, kept = given.get("round"), given.get("confidence"), given.get("kept")
        if not _is_number(number) or not isinstance(sure, int | float) or sure != sure:
            return None
        return {"round": number, "confidence": float(min(max(sure, 0.0), 1.0)), "kept": bool(kept)}

    # In the background

    def _keep(self) -> None:
        while not self._stop.wait(EVERY):
            try:
                self.project.write_history()
                self._train()
            except Exception:
                _log.exception("the work in the background failed")

    def _train(self) -> None:
        """Start a round of training when it is due, and take up its model when it has ended."""
        if self._trainer is not None:
            if self._trainer.poll() is None:
                return
            if self._trainer.returncode:
                self._failed(self._trainer)
            self._trainer = None
            self.proposer.refresh()
            return
        if self.due():
            command = [sys.executable, "-m", "weft.workbench.retrain", os.fspath(self.project.folder.resolve())]
            one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
            self._trainer = subprocess.Popen(
                command, env={**os.environ, **one}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
            )

    def due(self) -> bool:
        """Whether there are enough new answers for a round of training."""
        every = self.project.settings.retrain
        rounds = self.project.store.rounds()
        last = rounds[-1].get("last", 0) if rounds else 0
        new = self.project.store.last() - last
        if not every or new < 1:
            return False
        counts = self.project.store.counts()
        finished = counts["answers"] >= counts["items"] * self.project.settings.per_item
        return new >= max(every, LEAST if not rounds else 1) or (finished and counts["answers"] >= LEAST)

    def _failed(self, trainer: subprocess.Popen[bytes]) -> None:
        told = trainer.stderr.read().decode("utf-8", "replace").strip().splitlines() if trainer.stderr else []
        store = self.project.store
        number = max((each["number"] for each in store.rounds()), default=0) + 1
        reason = told[-1][:300] if told else f"the process ended with {trainer.returncode}"
        with suppress(WeftError):
            store.add_round(number, {"outcome": FAILED, "reason": reason, "last": store.last(), "answers": 0})


def _id(values: Mapping[str, Any]) -> str:
    given = values.get("id")
    if not isinstance(given, str) or not _ID.fullmatch(given):
        raise WeftError("an answer needs an id of 8 to 80 letters and digits, so that it is stored once")
    return given


def _is_number(given: Any) -> bool:
    """Whether something is a number that the database can hold."""
    return isinstance(given, int) and not isinstance(given, bool) and 0 <= given < 1 << 62


def _seconds(given: Any) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or given != given:
        return 0.0
    return round(float(min(max(given, 0.0), LONGEST_TIME)), 2)
