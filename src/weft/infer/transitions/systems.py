"""All transition systems behind one number: the switch that the shared kernels (decoding, training) call.

A compiled kernel cannot be handed a function, so a system is a number, and every definition of a system's module is
reached by an `if` on it. The number is written in unary, as a tuple of so many zeros: Numba knows the length of a tuple
when it compiles, and leaves the branches of all other systems out. A parser of one system never compiles another.

    start(system, state, n)                   the configuration to begin with
    finished(system, state)                   whether it is a final one
    following(system, state, candidate)       the candidate after one, -1 after the last; the first is 0
    is_alone(system)                          whether a configuration has one candidate only
    legal(system, state, candidate, single_root)           the moves a candidate allows, as bits
    arc(system, state, candidate, move)       head and dependent of the arc that a move adds, -1 for none
    apply(system, state, candidate, move, label)
    cost(system, state, gold, candidate, move)             gold arcs that a move puts out of reach, labels aside
    price(system, state, gold, oracle)        cache all costs at once, where that is cheaper than one by one
    canonical(system, state, gold)            the move of the static oracle
    bases(system, state, candidate, out)      the nodes that feature templates start from

A *candidate* is a place where moves can be made, with features of its own: most systems have one per configuration,
easy-first one for every two neighbours, LR-spine one for every place on a spine. An *action* is a candidate, a move
and, for an arc, a label.
"""

from __future__ import annotations

from dataclasses import dataclass

from weft.errors import ConfigError
from weft.infer.transitions import arc_eager, arc_eager_edit, arc_hybrid, arc_standard, covington, easy_first, lr_spine
from weft.infer.transitions.plain import NODES, PlainSystem, plain_system, registered
from weft.infer.transitions.state import (
    EDIT,
    FRONT,
    G_HEAD,
    G_LABEL,
    LEFT,
    LENGTH,
    NEXT,
    PREV,
    REDUCE,
    RIGHT,
    SCALAR,
    SHIFT,
    STALE,
    Table,
    on_stack,
)
from weft.kernel import inlined, kernel

#: A system's number, in unary.
System = tuple[int, ...]

_EAGER, _HYBRID, _STANDARD, _EASY, _SPINE, _EDIT, _PAIRS, _CROSSING_PAIRS = range(1, 9)
ARC_EAGER, ARC_HYBRID, ARC_STANDARD, EASY_FIRST, LR_SPINE, ARC_EAGER_EDIT, COVINGTON_PROJECTIVE, COVINGTON = (
    (0,) * length for length in range(1, 9)
)
#: What a base is where there is no node: below the bottom of the stack, after the last word.
NOTHING = -1


@dataclass(frozen=True)
class TransitionSystem:
    """A transition system as seen outside compiled code."""

    name: str
    number: System
    moves: tuple[int, ...]
    bases: tuple[str, ...]  # names of the nodes that templates start from, in the order of the kernel `bases`
    arcs: tuple[int, ...] = (LEFT, RIGHT)
    stays: bool = False  # whether training repeats a configuration until its move is right, when it does not explore
    many: bool = False  # whether configurations have several candidates
    root_last: bool = False  # whether ROOT stands after the last word, so that its arcs are left arcs
    plain: PlainSystem | None = None  # what it does, if that is not compiled: the kernels below do not know it
    like: str = ""  # the system whose templates it uses, if not its own
    projective: bool = True  # whether it builds only trees without crossing arcs
    steps: tuple[int, int] = (2, 2)  # a computation over n words has at most steps[0] * n + steps[1] moves
    quadratic: bool = False  # whether computations grow with the square of the sentence; such systems take no beam

    def most_steps(self, n: int) -> int:
        """The most moves of a computation over n words."""
        return self.steps[0] * n + self.steps[1]


_STACK = ("S0", "S1", "S2", "S3", "N0", "N1", "N2", "N3")
_LISTS = (*_STACK, "C0", "C1")

SYSTEMS = {
    system.name: system
    for system in (
        TransitionSystem("arc-eager", ARC_EAGER, (SHIFT, LEFT, RIGHT, REDUCE), _STACK, root_last=True),
        TransitionSystem("arc-hybrid", ARC_HYBRID, (SHIFT, LEFT, RIGHT), _STACK),
        TransitionSystem("arc-standard", ARC_STANDARD, (SHIFT, LEFT, RIGHT), _STACK),
        TransitionSystem(
            "easy-first", EASY_FIRST, (LEFT, RIGHT), ("M2", "M1", "P0", "P1", "P2", "P3"), stays=True, many=True
        ),
        TransitionSystem(
            "lr-spine", LR_SPINE, (SHIFT, LEFT, RIGHT), ("S1", "S2", "S3", "Q1", "Q2", "GP", "GG"), many=True
        ),
        TransitionSystem(
            "covington-projective", COVINGTON_PROJECTIVE, (SHIFT, LEFT, RIGHT, REDUCE), _LISTS, root_last=True,
            quadratic=True,
        ),
        TransitionSystem(
            "covington", COVINGTON, (SHIFT, LEFT, RIGHT, REDUCE), _LISTS, root_last=True, projective=False,
            quadratic=True,
        ),
    )
}  # fmt: skip
#: Arc-eager that strikes out words. It stands apart, as the systems above give every word a head.
EDITING = TransitionSystem(
    "arc-eager-edit", ARC_EAGER_EDIT, (SHIFT, LEFT, RIGHT, REDUCE, EDIT), _STACK, root_last=True,
    steps=arc_eager_edit.STEPS,
)  # fmt: skip


def system_named(name: str) -> TransitionSystem:
    """The system of that name: a compiled one, or one that a package registers.

    >>> system_named("arc-hybrid").moves == (SHIFT, LEFT, RIGHT)
    True
    """
    known = {**SYSTEMS, EDITING.name: EDITING}
    if name in known:
        return known[name]
    own = registered()
    if name not in own:
        raise ConfigError(f"unknown transition system {name!r}; the systems are: {', '.join((*known, *own))}")
    plain = plain_system(own[name])
    numbers = plain.numbers()
    return TransitionSystem(
        name, ARC_HYBRID, tuple(sorted(numbers.values())), NODES, tuple(numbers[move] for move in plain.arcs),
        root_last=plain.root_last, plain=plain, like=plain.like, projective=plain.projective,
    )  # fmt: skip


@kernel
def start(system: System, state: Table, n: int) -> None:
    if len(system) == _EAGER or len(system) == _EDIT:
        arc_eager.start(state, n)
    elif len(system) == _EASY:
        easy_first.start(state, n)
    elif len(system) == _PAIRS or len(system) == _CROSSING_PAIRS:
        covington.start(state, n)
    else:
        arc_hybrid.start(state, n)


@kernel
def finished(system: System, state: Table) -> bool:
    if len(system) == _EAGER or len(system) == _EDIT:
        return arc_eager.finished(state)
    if len(system) == _EASY:
        return easy_first.finished(state)
    if len(system) == _PAIRS or len(system) == _CROSSING_PAIRS:
        return covington.finished(state)
    return arc_hybrid.finished(state)


@kernel
def following(system: System, state: Table, candidate: int) -> int:
    if len(system) == _EASY:
        return easy_first.following(state, candidate)
    if len(system) == _SPINE:
        return lr_spine.following(state, candidate)
    return -1


@inlined
def is_alone(system: System) -> bool:
    """Whether configurations have one candidate only."""
    return len(system) != _EASY and len(system) != _SPINE


@kernel
def legal(system: System, state: Table, candidate: int, single_root: bool) -> int:
    if len(system) == _EAGER:
        return arc_eager.legal(state, single_root)
    if len(system) == _HYBRID:
        return arc_hybrid.legal(state, single_root)
    if len(system) == _STANDARD:
        return arc_standard.legal(state, single_root)
    if len(system) == _SPINE:
        return lr_spine.legal(state, candidate, single_root)
    if len(system) == _EDIT:
        return arc_eager_edit.legal(state, single_root)
    if len(system) == _PAIRS or len(system) == _CROSSING_PAIRS:
        return covington.legal(state, len(system) == _PAIRS, single_root)
    return easy_first.legal(state, candidate, single_root)


@kernel
def arc(system: System, state: Table, candidate: int, move: int) -> tuple[int, int]:
    if len(system) == _EAGER or len(system) == _EDIT:
        return arc_eager.arc(state, move)
    if len(system) == _HYBRID:
        return arc_hybrid.arc(state, move)
    if len(system) == _STANDARD:
        return arc_standard.arc(state, move)
    if len(system) == _SPINE:
        return lr_spine.arc(state, candidate, move)
    if len(system) == _PAIRS or len(system) == _CROSSING_PAIRS:
        return covington.arc(state, move)
    return easy_first.arc(state, candidate, move)


@kernel
def apply(system: System, state: Table, candidate: int, move: int, label: int) -> None:
    if len(system) == _EASY:
        easy_first.apply(state, candidate, move, label)
        return
    if len(system) == _SPINE:
        lr_spine.apply(state, candidate, move, label)
        return
    state[0, STALE] = 1
    if len(system) == _EAGER:
        arc_eager.apply(state, move, label)
    elif len(system) == _HYBRID:
        arc_hybrid.apply(state, move, label)
    elif len(system) == _EDIT:
        arc_eager_edit.apply(state, move, label)
    elif len(system) == _PAIRS or len(system) == _CROSSING_PAIRS:
        covington.apply(state, len(system) == _PAIRS, move, label)
    else:
        arc_standard.apply(state, move, label)


@kernel
def cost(system: System, state: Table, gold: Table, candidate: int, move: int) -> int:
    if len(system) == _EAGER:
        return arc_eager.cost(state, gold, move)
    if len(system) == _HYBRID:
        return arc_hybrid.cost(state, gold, move)
    if len(system) == _STANDARD:
        return arc_standard.cost(state, gold, move)
    if len(system) == _SPINE:
        return lr_spine.cost(state, gold, candidate, move)
    if len(system) == _EDIT:
        return arc_eager_edit.cost(state, gold, move)
    if len(system) == _PAIRS or len(system) == _CROSSING_PAIRS:
        return covington.cost(state, gold, len(system) == _PAIRS, move)
    return easy_first.cost(state, gold, candidate, move)


@kernel
def price(system: System, state: Table, gold: Table, oracle: int) -> None:
    """Cache each move's oracle cost; `cost` reads the cache until the next move.

    Other systems than those whose costs are looked up in tables are left alone: theirs are cheap.
    """
    if len(system) == _STANDARD:
        arc_standard.price(state, gold, oracle)
    elif len(system) == _SPINE:
        lr_spine.price(state, gold, oracle)


@kernel
def label_cost(system: System, state: Table, gold: Table, candidate: int, move: int, label: int) -> int:
    """What a wrong label adds to the cost of a move that builds a gold arc; other arcs take any label."""
    head, dependent = arc(system, state, candidate, move)
    if dependent > 0 and gold[dependent, G_HEAD] == head and gold[dependent, G_LABEL] >= 0:
        return 1 if gold[dependent, G_LABEL] != label else 0
    return 0


@kernel
def canonical(system: System, state: Table, gold: Table) -> int:
    """The static oracle's move; -1 for systems whose oracle leaves a choice even in the baseline."""
    if len(system) == _EAGER:
        return arc_eager.canonical(state, gold)
    if len(system) == _HYBRID:
        return arc_hybrid.canonical(state, gold)
    if len(system) == _STANDARD:
        return arc_standard.canonical(state, gold)
    if len(system) == _PAIRS or len(system) == _CROSSING_PAIRS:
        return covington.canonical(state, gold, len(system) == _PAIRS)
    return -1


@kernel
def bases(system: System, state: Table, candidate: int, out: Table) -> None:
    if len(system) == _SPINE:
        lr_spine.bases(state, candidate, out)
        return
    if len(system) == _EASY:
        out[2] = candidate
        out[1] = state[candidate, PREV]
        out[0] = state[out[1], PREV] if out[1] >= 0 else NOTHING
        for k in range(3, 6):
            out[k] = state[out[k - 1], NEXT] if out[k - 1] >= 0 else NOTHING
        return
    if len(system) == _PAIRS or len(system) == _CROSSING_PAIRS:
        covington.bases(state, out)
        return
    for depth in range(4):
        out[depth] = on_stack(state, depth)
    n = state[LENGTH, SCALAR]
    b = state[FRONT, SCALAR]
    for k in range(4):
        out[4 + k] = b + k if b + k <= n else NOTHING
    if (len(system) == _EAGER or len(system) == _EDIT) and b + 3 > n:
        out[4 + max(0, n + 1 - b)] = 0
