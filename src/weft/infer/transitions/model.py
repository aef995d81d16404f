"""A transition system with its templates, actions and weights, ready to parse batches of sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Keys
from weft.deadline import check
from weft.declared import Stored
from weft.errors import ConfigError, ModelError
from weft.headers import Many, Record, Row, Text, Whole
from weft.infer.transitions.beam import new_beam, parse_with_beam
from weft.infer.transitions.constraints import Constraints
from weft.infer.transitions.greedy import parse_greedily
from weft.infer.transitions.scoring import Model, Scratch, columns_of, new_scratch
from weft.infer.transitions.state import LEFT, MOVES, RIGHT, Table, new_state
from weft.infer.transitions.systems import system_named
from weft.infer.transitions.templates import compile_templates
from weft.infer.transitions.walk import parse_plainly
from weft.infer.transitions.weights import (
    NARROW,
    WIDEST,
    new_narrow,
    new_wide,
    unpack_narrow,
    unpack_wide,
)
from weft.storage import Arrays

#: Words that are parsed with a beam between two checks whether to stop.
BATCH = 2000
#: A move with the number of its label, -1 for moves without one.
Action = tuple[int, int]
HEADER = Record(
    system=Text(),
    templates=Text(),
    fields=Many(Text()),
    actions=Many(Row((Whole(0, len(MOVES) - 1), Whole(-1, 2**15))), least=1),
)


class TransitionParser:
    """Parses sentences whose words are rows of 64-bit values.

    >>> parser = TransitionParser("arc-hybrid", "S0.t|N0.t", ["t"], [(0, -1), (1, 0), (2, 0)])
    >>> words = np.ones((4, 1), dtype=np.uint64)  # ROOT and three words
    >>> heads, labels = parser.parse(words, np.array([0, 3]))
    >>> heads.tolist(), labels.tolist()  # without weights the first legal move wins
    ([0, 1, 2], [0, 0, 0])
    """

    def __init__(
        self,
        system: str,
        templates: str,
        fields: Sequence[str],
        actions: Sequence[Action],
        arrays: Arrays | None = None,
    ) -> None:
        self.system = system_named(system)
        self.templates, self.fields = templates, tuple(fields)
        self.actions = sorted(actions)
        unknown = sorted({MOVES[move] for move, _ in self.actions if move not in self.system.moves})
        if unknown:
            raise ConfigError(f"{system} has no move {', '.join(unknown)}; it has {', '.join(self._move_names())}")
        program = compile_templates(templates, self.system, self.fields)
        columns = columns_of(len(self.actions))
        if columns > WIDEST:
            raise ConfigError(f"{len(self.actions):,} actions are more than a parser can have: use fewer relations")
        moves, labels = new_narrow(), new_wide(columns)
        self.arrays = None
        if arrays is not None:
            stored = Stored.of(arrays)
            moves, labels = unpack_narrow(stored.under("moves/")), unpack_wide(stored.under("labels/"), columns)
            self.arrays = {name: array for name, array in arrays.items() if name.startswith(("moves/", "labels/"))}
        self.model = Model(
            program,
            moves,
            labels,
            np.array([move for move, _ in self.actions], dtype=np.int32),
            np.array([label for _, label in self.actions], dtype=np.int32),
            np.array([sum(own < move for own, _ in self.actions) for move in range(NARROW + 1)], dtype=np.int32),
        )

    def _move_names(self) -> list[str]:
        return [MOVES[move] for move in self.system.moves]

    def parse(
        self,
        words: Keys,
        sentences: NDArray[np.int64],
        single_root: bool = True,
        constraints: Constraints | None = None,
        beam: int = 1,
        by_mean: bool = False,
    ) -> tuple[Table, Table]:
        """Heads (counted inside the sentence, 0: ROOT) and numbers of labels of all words.

        `words` has a row for ROOT, then one per word; sentence s has the words `sentences[s]:sentences[s + 1]`. With a
        `beam` that many configurations are kept per step, ranked by their scores or by the mean score of their actions.
        """
        n = int(sentences[-1])
        heads, labels = np.full(n, -1, dtype=np.int32), np.full(n, -1, dtype=np.int32)
        if not n:
            return heads, labels
        longest = int(np.diff(sentences).max())
        room = self.new_scratch()
        if self.system.plain is not None:
            self.check_beam(beam)
            if constraints is not None:
                raise ConfigError(f"{self.system.name} is written in Python and takes no constraints")
            parse_plainly(self.model, self.system.plain, words, sentences, single_root, room, heads, labels)
            return heads, labels
        if beam > 1:
            self.check_beam(beam)
            offsets, kept = np.asarray(sentences, np.int64), new_beam(beam, longest, self.system.most_steps(longest))
            first = 0
            while first < len(offsets) - 1:
                check()
                end = max(first + 1, int(np.searchsorted(offsets, offsets[first] + BATCH, side="right")) - 1)
                parse_with_beam(
                    self.system.number, self.model, words, offsets[first : end + 1], single_root, by_mean, constraints,
                    room, kept, heads, labels,
                )  # fmt: skip
                first = end
            return heads, labels
        parse_greedily(
            self.system.number, self.model, words, np.asarray(sentences, dtype=np.int64), single_root, constraints,
            room, new_state(longest), self.new_cache(longest), np.zeros(longest + 2, dtype=np.int32), heads, labels,
        )  # fmt: skip
        return heads, labels

    def check_beam(self, beam: int) -> None:
        """Reject invalid beam widths."""
        if beam < 1:
            raise ConfigError(f"beam must be at least 1, got {beam}")
        if beam > 1 and self.system.plain is not None:
            raise ConfigError(
                f"{self.system.name} is written in Python and parses greedily: beam must be 1, got {beam}"
            )
        if beam > 1 and self.system.quadratic:
            raise ConfigError(
                f"{self.system.name} looks at all pairs of words and parses greedily: beam must be 1, got {beam}"
            )

    def new_scratch(self) -> Scratch:
        """Scratch space for scoring, one per thread."""
        return new_scratch(self.model.program, len(self.actions))

    def new_cache(self, longest: int) -> NDArray[np.int32]:
        """Room for the scores of all candidates of a sentence."""
        candidates = longest + 2 if self.system.many else 1
        return np.zeros((candidates, len(self.actions)), dtype=np.int32)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """What a model file keeps: a header and the packed weights."""
        if self.arrays is None:
            raise ModelError("this parser has no weights to save: train it first")
        header = {
            "system": self.system.name,
            "templates": self.templates,
            "fields": list(self.fields),
            "actions": [list(action) for action in self.actions],
        }
        return header, self.arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> TransitionParser:
        """The parser that a model file describes."""
        HEADER.check(header, "parser")
        actions = [(move, label) for move, label in header["actions"]]
        missing = set(system_named(header["system"]).moves) - {move for move, _ in actions}
        if missing or len(set(actions)) < len(actions):
            raise ModelError("the parser lacks moves of its system, or has some twice: the model file is damaged")
        return cls(header["system"], header["templates"], header["fields"], actions, arrays)

    def check_fits(self, system: str, fields: Iterable[str], labels: int) -> None:
        """Raise an error unless the parser, read from a file, fits the component that it is a part of."""
        if self.system.name != system or self.fields != tuple(fields):
            raise ModelError("the parser does not fit its settings: the model file is damaged")
        if max(label for _, label in self.actions) >= labels:
            raise ModelError(f"the parser's actions have more than {labels} labels: the model file is damaged")

    def with_weights(self, moves: Arrays, labels: Arrays) -> TransitionParser:
        """The same parser with other packed weights."""
        arrays = {f"moves/{name}": array for name, array in moves.items()}
        arrays |= {f"labels/{name}": array for name, array in labels.items()}
        return TransitionParser(self.system.name, self.templates, self.fields, self.actions, arrays)


def actions_of(system: str, heads: Table, labels: Table, positions: Table) -> list[Action]:
    """The actions that trees need: every move, arcs with the labels seen in their direction.

    `heads`, `labels` and `positions` (1 for the first word of a sentence) are those of all words; a word that is its
    own head is struck out.

    >>> actions_of("arc-hybrid", np.array([2, 0]), np.array([0, 1]), np.array([1, 2]))
    [(0, -1), (1, 0), (2, 1)]
    """
    chosen = system_named(system)
    to_left = (heads > positions) | (heads == 0) if chosen.root_last else heads > positions
    any_way = labels >= 0
    seen = dict.fromkeys(chosen.arcs, any_way)  # arcs of a system of one's own go in any direction
    if chosen.plain is None or chosen.projective:
        seen |= {LEFT: to_left, RIGHT: ~to_left & (heads >= 0) & (heads != positions)}
    found: list[Action] = []
    for move in chosen.moves:
        if move in seen:
            known = np.unique(labels[seen[move] & (labels >= 0)]).tolist()
            found += [(move, label) for label in known] or [(move, -1)]
        else:
            found.append((move, -1))
    return sorted(found)
