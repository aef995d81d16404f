"""Transition systems: parsers that read a sentence once, in linear time, and the searches they share.

How it is built, so that the next system fits:

- A configuration is one int32 table (`state`), a row per node; beam search copies it whole. The gold tree is another
  one of the same kind.
- A system is one module of small kernels in the paper's terms (`arc_eager`, `arc_hybrid`, `arc_standard`,
  `easy_first`): `start`, `finished`, `legal`, `arc`, `apply`, `cost`, `canonical`. Compiled kernels cannot be handed
  functions, so a system also is a number, and `systems` switches on it. To add one: write the module, add its number, a
  `TransitionSystem` and a branch to each switch.
- Moves are made at *candidates*. Most systems have one per configuration; easy-first has one for every two neighbours,
  and a system whose moves are unbounded in number (the spines of LR-spine) has one for every place of attachment. Each
  candidate has its own nodes (`bases`) that templates start from, and is scored anew when `apply` marked it as stale.
- Features are templates written as data (`templates`) over those nodes and the partial trees below them; `comparisons`
  are those that ask whether words are said twice.
- `arc_eager_edit` stands apart from the systems that give every word a head: it strikes out repairs in speech.
- Scores are sums of whole numbers (`weights`): of the move, and of the move with its label (`scoring`).
- `constituents` (phrase-structure trees over characters or words) stands beside them with states, templates and a beam
  of its own (`constituent_templates`, `constituent_beam`), as its nodes are phrases; it shares the weights.
- `greedy` and `beam` search; `constraints` holds what is known beforehand. Training is in
  `weft.learn.transitions.training`, as it needs nothing but these kernels. `projectivity` prepares trees.

Numba keeps compiled code by the file that a kernel stands in, not by those of the kernels it calls: after a change to a
system, throw away the compiled code (`__pycache__/*.nb*` of this folder and of `weft.learn`), or work with
NUMBA_CACHE_DIR set to a new folder.
"""

from weft.infer.transitions.constraints import Constraints, constrain
from weft.infer.transitions.model import TransitionParser
from weft.infer.transitions.systems import SYSTEMS, TransitionSystem, system_named

__all__ = [
    "SYSTEMS",
    "Constraints",
    "TransitionParser",
    "TransitionSystem",
    "constrain",
    "system_named",
]
