"""Features of the joint speech parser: templates in addition to those of the arc-eager parser (Honnibal & Johnson
2014).

    labels              the tag of S0 with two or three relations of its children
    clusters            word clusters of S0 and N0, full paths and prefixes of six and four bits, with tags and children
    rough copies        how far the spans S0le..S0 and N0le..N0 agree in words and tags
    matches             which two of 18 nodes have the same word or tag, and which it is
    edited neighbours   whether words next to N0 and S0 are edited

The last three are the disfluency features. Repeated words also affect relations, and in the plain parser a reparandum
is a relation: all but the last group therefore score moves with their labels.
"""

from __future__ import annotations

from itertools import combinations

from weft.tasks.parsing.transitions.features import FIELDS, TEMPLATES

#: Fields of templates: those of the parser, and cluster paths with their prefixes.
FIELDS = {**FIELDS, "c": "cluster", "b": "cluster.prefix6", "a": "cluster.prefix4"}

LABELS = (
    "S0.t|S0l.Lt S0.t|S0l.L|S0l2.L S0.t|S0r.Lt S0.t|S0r.L|S0r2.L S0.t|S0l.L|S0r.L S0.t|S0l.L|S0l2.L|S0l0.L "
    "S0.t|S0r.L|S0r2.L|S0r0.L S1.t|S0.L|S0r.L S1.t|S0.L|S0l.L"
)
#: Koo & Collins (2010), with S0 as the head and N0 as the dependent.
CLUSTERS = "S0.a|N0.a S0.b|N0.b S0.c|N0.c S0.t|N0.a S0.t|N0.b S0.t|N0.c S0.a|N0.t S0.b|N0.t S0.c|N0.t " + " ".join(
    f"S0.a|{x}.a|N0.a S0.b|{x}.b|N0.b S0.t|{x}.a|N0.a S0.a|{x}.t|N0.a S0.a|{x}.a|N0.t"
    for x in ("S0r", "N0l", "S0h", "S0l")
)
COPIES = "S0^N0.w S0^N0.t S0==N0.w S0==N0.t"
_CONTEXT = (
    "S0", "S0h", "S0h2", "S0l", "S0l2", "S0l0", "S0r", "S0r2", "S0r0", "N0", "N1", "N2", "N0l", "N0l2", "N0l0",
    "S0le", "S0re", "N0le",
)  # fmt: skip
MATCHES = " ".join(
    f"{one}={other}.{field} {one}={other}.{field}|{one}.{field}"
    for one, other in combinations(_CONTEXT, 2)
    for field in "wt"
)
NEIGHBOURS = "N0.El,EEl S0.Er,EEr"

#: Templates without disfluency features, with them for the plain system, and with them for the system with Edit.
PLAIN = f"{TEMPLATES['arc-eager']}\nmoves: {LABELS}\nboth: {CLUSTERS}"
WITH_LABELS = f"{PLAIN}\nboth: {COPIES} {MATCHES}"
WITH_EDIT = f"{WITH_LABELS}\nmoves: {NEIGHBOURS}"
