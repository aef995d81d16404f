"""The synchronous grammar of a schema: every rule says what is accepted, what is displayed and what it means.

    Rule  A -> < accepted symbols ; display ; meaning ; weight >
    VP:person -> < live-in NP:city ; live-in agrees with the subject, NP in the objective case ; sources(lives in, NP) >

Symbols carry types, so that every derivation has a meaning whose parts fit. A display is a tuple of texts and
(child, feature) pairs; a meaning is a term in which `Child(i)` stands for the meaning of child i.

    SET:T  a whole question about nodes of type T      NP:T   a noun phrase      BASE:T  a noun without filters
    FIL:T  with filters    PF:T  one filter    VP:T  a verb phrase    GEN:T  a possessor    ADJ:T  an adjective
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from weft.tasks.questions import words
from weft.tasks.questions.phrases import NEVER, Costs, WordClass, function, noun, verb
from weft.tasks.questions.schema import Attribute, NodeType, Relation, Schema

GOAL = "QUESTION"
COMPARISONS = {
    "=": ("is", "is in|is on|equals|is equal to|is exactly|in|on|being|of"),
    "!=": ("is not", "isn't|is other than|not|not in|is different from"),
    ">=": ("is at least", "at least|is no less than|is on or after|on or after|not before|no earlier than|minimum"),
    "<=": ("is at most", "at most|is no more than|is on or before|on or before|not after|no later than|maximum"),
    ">": ("is larger than", "larger than|is more than|is after|after|later than|greater than|over|since"),
    "<": ("is smaller than", "smaller than|is less than|is before|before|earlier than|less than|under"),
}  # fmt: skip
QUANTITIES = {
    ">=": ("at least", "no fewer than"), "<=": ("at most", "no more than"), "=": ("exactly", ""),
    ">": ("more than", "over"), "<": ("fewer than", "less than|under"),
}  # fmt: skip
EXTREMES = {"max": ("the most", "most|the largest number of|the highest number of"),
            "min": ("the fewest", "fewest|least|the least|the smallest number of|the lowest number of")}  # fmt: skip
#: How many entities a completion may offer for one slot.
OFFERED = 6


class Child(int):
    """The meaning of a child of a rule, in the rule's own."""


Piece = str | tuple[int, str]


@dataclass(frozen=True)
class SynchronousRule:
    """What is accepted, displayed and meant; the two symbols of a rule with a `swap` may change places."""

    left: str
    right: tuple[str, ...]
    display: tuple[Piece, ...]
    meaning: Any
    weight: float = 0.0
    swap: float = float("inf")


def word_classes(schema: Schema, costs: Costs) -> Iterator[WordClass]:
    """All terminals but entities and values."""
    yield function("'who'", "who", "that|which|with|who also", 0.05, 0.02)
    yield function("'that'", "that", "which|where|whom|who", 0.1)
    yield function("'and'", "and", "and also", 0.15, 0.3)
    yield function("', and'", ", and", "", NEVER, NEVER)
    yield function("'or'", "or", "", NEVER, 0.6)
    yield function("'of'", "of", "for|from", 0.15)
    yield function("'s'", "'s", "", 0.3, 0.2)
    yield function("'are'", "are", "is|am|be|being|were|was|are the|is the", 0.05)
    yield WordClass("'not'", {"": "not"}, {
        "not": 0.0, "do not": 0.0, "does not": 0.0, "did not": 0.0, "don't": 0.0, "doesn't": 0.0, "didn't": 0.0,
        "are not": 0.0, "is not": 0.0, "aren't": 0.0, "isn't": 0.0, "never": 0.1, "were not": 0.05, "was not": 0.05,
    }, NEVER, 1.2)  # fmt: skip
    yield function("'whose'", "whose", "with|with a|who has a|who have a|that has|having", 0.15)
    yield function("'have'", "that have", "that has|who have|who has|with|having|have|has", 0.2)
    yield function("'the'", "with the", "that has the|that have the|who has the|who have the|with|having the", 0.3)
    yield function("'largest'", "largest", "highest|latest|greatest|biggest|most", NEVER, 0.8)
    yield function("'smallest'", "smallest", "lowest|earliest|least", NEVER, 0.8)
    yield function("'number of'", "number of", "how many|the number of|count of", NEVER, 1.0)
    yield function("'average'", "average", "mean|the average", NEVER, 1.0)
    yield function("'total'", "total", "sum of|the total", NEVER, 1.0)
    for op, (shown, others) in COMPARISONS.items():
        yield function(f"cmp{op}", shown, others, 0.3 if op == "=" else NEVER, 0.3 if op == "=" else 0.6)
    for op, (shown, others) in QUANTITIES.items():
        yield function(f"quant{op}", shown, others, 0.2 if op == "=" else NEVER, 0.6)
    for way, (shown, others) in EXTREMES.items():
        yield function(f"extreme-{way}", shown, others, NEVER, 0.7)
    for name, of in schema.types.items():
        yield noun(f"noun:{name}", of.singular, of.plural, of.synonyms, costs)
    if schema.me:
        yield WordClass("'me'", {"obj": "me", "nom": "I"}, {"me": 0.0, "i": 0.0, "myself": 0.1}, NEVER, 0.4, True)
        yield WordClass("'my'", {"": "my"}, {"my": 0.0, "mine": 0.2, "our": 0.2}, costs.my, 0.3)
    for relation in schema.relations.values():
        if relation.verb:
            past = relation.tense == "past"
            yield verb(f"verb:{relation.name}", relation.verb, relation.verbs, past, costs)
        if relation.passive:
            yield verb(f"passive:{relation.name}", f"be {relation.passive}", (), False, costs)
        for role, one, more in (("noun", relation.noun, relation.nouns), ("of", relation.of, relation.ofs)):
            if one:
                yield noun(f"{role}:{relation.name}", one, words.plural(one), more, costs, False)
    for each in schema.attributes.values():
        yield noun(f"attribute:{each.name}", each.noun, words.plural(each.noun), each.nouns, costs, False)
        for op, listed in ((">", each.larger), ("<", each.smaller)):
            if listed:
                yield function(f"{each.name}{op}", listed[0], "|".join(listed[1:]), NEVER, 0.6)
        for way, listed in (("max", each.largest), ("min", each.smallest)):
            if listed:
                yield function(f"{each.name}-{way}", listed[0], "|".join(listed[1:]), NEVER, 0.6)


def rules_of(schema: Schema, costs: Costs) -> Iterator[SynchronousRule]:
    """All rules."""
    for of in schema.types.values():
        yield from _type_rules(of, schema, costs)
    for relation in schema.relations.values():
        yield from _relation_rules(relation, schema, costs)
    for attribute in schema.attributes.values():
        yield from _attribute_rules(attribute, schema)
    for rank in range(OFFERED):
        yield SynchronousRule("NUMBER", (f"{{offer:number:{rank}}}",), ((0, ""),), Child(0))
    yield SynchronousRule("NUMBER", ("{number}",), ((0, ""),), Child(0))
    for kind in sorted({each.kind for each in schema.attributes.values()}):
        slot = "NUMBER" if kind == "number" else "DATE"
        for rank in range(OFFERED if kind == "date" else 0):
            yield SynchronousRule("DATE", (f"{{offer:date:{rank}}}",), ((0, ""),), Child(0))
        if kind == "date":
            yield SynchronousRule("DATE", ("{date}",), ((0, ""),), Child(0))
        yield SynchronousRule(f"VALUE:{kind}", (slot,), ((0, ""),), Child(0))
        yield SynchronousRule(
            f"VALUE:{kind}", (slot, "'or'", slot), ((0, ""), "or", (2, "")), ("either", Child(0), Child(2)), 0.5
        )


def _type_rules(of: NodeType, schema: Schema, costs: Costs) -> Iterator[SynchronousRule]:
    t = of.name
    both = ((0, ""), (1, ""))
    joined = ((0, ""), (1, ""), (2, ""))
    yield SynchronousRule(f"BASE:{t}", (f"noun:{t}",), ((0, "pl"),), ("all", t))
    yield SynchronousRule(f"FIL:{t}", (f"BASE:{t}", f"PF:{t}"), both, ("and", Child(0), Child(1)), 0.0, costs.swapped)
    yield SynchronousRule(f"FIL:{t}", (f"FIL:{t}", "'and'", f"PF:{t}"), joined, ("and", Child(0), Child(2)), 0.1)
    yield SynchronousRule(f"TFIL:{t}", (f"FIL:{t}", "', and'", f"PF:{t}"), joined, ("and", Child(0), Child(2)), 0.1)
    yield SynchronousRule(f"CN:{t}", (f"BASE:{t}",), ((0, ""),), Child(0))
    yield SynchronousRule(f"CN:{t}", (f"FIL:{t}",), ((0, ""),), Child(0), 0.1)
    yield SynchronousRule(f"NP:{t}", (f"CN:{t}",), ((0, ""),), Child(0), 0.2)
    yield SynchronousRule(f"NP:{t}", (f"MOST:{t}",), ((0, ""),), Child(0), 0.6)
    adjective = ("who" if of.pronoun == "who" else of.pronoun,)
    if any(each.adjective and each.source == t for each in schema.relations.values()):
        yield SynchronousRule(
            f"BASE:{t}", (f"ADJ:{t}", f"BASE:{t}"), both, ("and", Child(1), Child(0)), 0.1, costs.swapped
        )
        yield SynchronousRule(f"PF:{t}", ("'who'", "'are'", f"ADJ:{t}"), (*adjective, "are", (2, "")), Child(2), 0.2)
        yield SynchronousRule(
            f"PF:{t}", ("'who'", "'not'", f"ADJ:{t}"), (*adjective, "are not", (2, "")), ("not", Child(2)), 0.3
        )
    yield SynchronousRule(f"PF:{t}", ("'who'", f"VP:{t}"), (*adjective, (1, "pl")), Child(1))
    yield SynchronousRule(f"PF:{t}", ("'who'", "'not'", f"VP:{t}"), (*adjective, (2, "pl-not")), ("not", Child(2)), 0.2)
    if of.role:
        role = schema.relations[of.role]
        person = role.target
        yield SynchronousRule(
            f"BASE:{t}", (f"noun:{t}", f"ENT:{person}"), ((0, "sg"), (1, "")), ("sources", of.role, Child(1)), 0.1
        )
        for inner in ("CN", "MOST", "TFIL"):
            yield SynchronousRule(
                f"{'SET' if inner == 'TFIL' else 'NP'}:{person}", (f"{inner}:{t}",), ((0, ""),),
                ("targets", of.role, Child(0)), 0.1,
            )  # fmt: skip
        return
    slot = f"{{entity:{t}}}"
    yield SynchronousRule(f"ENT:{t}", (slot,), ((0, ""),), Child(0))
    yield SynchronousRule(f"ENT:{t}", (slot, "'or'", slot), ((0, ""), "or", (2, "")), ("or", Child(0), Child(2)), 0.4)
    for rank in range(OFFERED):
        yield SynchronousRule(f"ENT:{t}", (f"{{offer:{t}:{rank}}}",), ((0, ""),), Child(0))
    yield SynchronousRule(f"NP:{t}", (f"ENT:{t}",), ((0, ""),), Child(0))
    yield SynchronousRule(f"GEN:{t}", (slot, "'s'"), ((0, "gen"),), Child(0))
    if t == schema.me:
        yield SynchronousRule(f"NP:{t}", ("'me'",), ((0, "^"),), ("me",))
        yield SynchronousRule(f"GEN:{t}", ("'my'",), ((0, ""),), ("me",))
    yield SynchronousRule(f"SET:{t}", (f"NP:{t}",), ((0, ""),), Child(0))
    yield SynchronousRule(f"SET:{t}", (f"TFIL:{t}",), ((0, ""),), Child(0), 0.1)
    yield SynchronousRule(GOAL, (f"SET:{t}",), ((0, ""),), Child(0))
    yield SynchronousRule(GOAL, ("'number of'", f"CN:{t}"), ("number of", (1, "")), ("size", Child(1)), 0.3)


def _relation_rules(relation: Relation, schema: Schema, costs: Costs) -> Iterator[SynchronousRule]:
    r, s, t = relation.name, relation.source, relation.target
    to_person, from_person = f"NP:{t}", f"NP:{s}"
    that = "whom" if schema.types[t].pronoun == "who" else "that"
    role = schema.types[s].role == r
    if relation.verb and not role:
        v = f"verb:{r}"
        yield SynchronousRule(
            f"VP:{s}", (v, to_person), ((0, "^"), (1, "obj")), ("sources", r, Child(1)), 0.0, costs.swapped
        )
        yield SynchronousRule(
            f"PF:{t}", ("'that'", from_person, v), (that, (1, "nom"), (2, "agree:1")), ("targets", r, Child(1)), 0.2
        )
        yield SynchronousRule(
            f"PF:{t}", ("'that'", from_person, "'not'", v), (that, (1, "nom"), (3, "agree-not:1")),
            ("not", ("targets", r, Child(1))), 0.4,
        )  # fmt: skip
        for op, quantity in ((op, f"quant{op}") for op in QUANTITIES):
            yield SynchronousRule(
                f"VP:{s}", (v, quantity, "NUMBER", f"noun:{t}"), ((0, "^"), (1, ""), (2, ""), (3, "pl")),
                ("count", r, "out", op, Child(2)), 0.6,
            )  # fmt: skip
            yield SynchronousRule(
                f"PF:{t}", ("'that'", quantity, "NUMBER", f"noun:{s}", v),
                (that, (1, ""), (2, ""), (3, "pl"), (4, "pl")), ("count", r, "in", op, Child(2)), 0.7,
            )  # fmt: skip
        for way in EXTREMES:
            yield SynchronousRule(
                f"MOST:{s}", (f"CN:{s}", "'who'", v, f"extreme-{way}", f"noun:{t}"),
                ((0, ""), schema.types[s].pronoun, (2, "pl"), (3, ""), (4, "pl")),
                ("most", Child(0), ("count", r, "out"), way), 0.8,
            )  # fmt: skip
            yield SynchronousRule(
                f"MOST:{t}", (f"CN:{t}", "'that'", f"extreme-{way}", f"noun:{s}", v),
                ((0, ""), that, (2, ""), (3, "pl"), (4, "pl")), ("most", Child(0), ("count", r, "in"), way), 0.9,
            )  # fmt: skip
    if relation.passive:
        yield SynchronousRule(
            f"VP:{t}", (f"passive:{r}", from_person), ((0, "^"), (1, "obj")), ("targets", r, Child(1)), 0.1
        )
    for word, owner, base, op in (("noun", t, s, "sources"), ("of", s, t, "targets")):
        if not (relation.noun if word == "noun" else relation.of):
            continue
        named = f"{word}:{r}"
        yield SynchronousRule(f"BASE:{base}", (named, "'of'", f"NP:{owner}"), ((0, "pl"), "of", (2, "obj")),
                              (op, r, Child(2)), 0.1)  # fmt: skip
        if not schema.types[owner].role:
            yield SynchronousRule(f"BASE:{base}", (f"GEN:{owner}", named), ((0, ""), (1, "pl")), (op, r, Child(0)), 0.0)
    if relation.of and not role:
        yield from _property_rules(relation, schema)
    if relation.adjective:
        yield SynchronousRule(f"ADJ:{s}", (f"ENT:{t}",), ((0, "lower"),), ("sources", r, Child(0)))
    if relation.instance:
        yield SynchronousRule(f"BASE:{s}", (f"{{entity:{t}}}",), ((0, "plural"),), ("sources", r, Child(0)), 0.05)


def _property_rules(relation: Relation, schema: Schema) -> Iterator[SynchronousRule]:
    """Whose employer is Nordvik, with at least two employers, with the most employers."""
    r, s, t = relation.name, relation.source, relation.target
    named = f"of:{r}"
    yield SynchronousRule(f"PF:{s}", ("'whose'", named, "cmp=", f"NP:{t}"), ("whose", (1, "sg"), "is", (3, "obj")),
                          ("sources", r, Child(3)), 0.2)  # fmt: skip
    yield SynchronousRule(f"PF:{s}", ("'whose'", named, "cmp!=", f"NP:{t}"), ("whose", (1, "sg"), "is not", (3, "obj")),
                          ("not", ("sources", r, Child(3))), 0.3)  # fmt: skip
    for op in QUANTITIES:
        yield SynchronousRule(
            f"PF:{s}", ("'have'", f"quant{op}", "NUMBER", named), ("that have", (1, ""), (2, ""), (3, "pl")),
            ("count", r, "out", op, Child(2)), 0.6,
        )  # fmt: skip
        yield SynchronousRule(
            f"PF:{t}", ("'that'", "'are'", named, "'of'", f"quant{op}", "NUMBER", f"noun:{s}"),
            ("that are the", (2, "sg"), "of", (4, ""), (5, ""), (6, "pl")), ("count", r, "in", op, Child(5)), 0.7,
        )  # fmt: skip
    for way in EXTREMES:
        yield SynchronousRule(
            f"MOST:{t}", (f"CN:{t}", "'that'", "'are'", named, "'of'", f"extreme-{way}", f"noun:{s}"),
            ((0, ""), "that are the", (3, "sg"), "of", (5, ""), (6, "pl")),
            ("most", Child(0), ("count", r, "in"), way), 0.9,
        )  # fmt: skip
        yield SynchronousRule(
            f"MOST:{s}", (f"CN:{s}", "'who'", f"extreme-{way}", named), ((0, ""), "with", (2, ""), (3, "pl")),
            ("most", Child(0), ("count", r, "out"), way), 0.8,
        )  # fmt: skip


def _attribute_rules(attribute: Attribute, schema: Schema) -> Iterator[SynchronousRule]:
    a, t, kind = attribute.name, attribute.type, attribute.kind
    named, value = f"attribute:{a}", f"VALUE:{kind}"
    for op, shown in ((op, shown) for op, (shown, _) in COMPARISONS.items()):
        meaning: Any = ("value", a, op, Child(3))
        yield SynchronousRule(f"PF:{t}", ("'whose'", named, f"cmp{op}", value), ("whose", (1, "sg"), shown, (3, "")),
                              meaning, 0.2)  # fmt: skip
        if (op == ">" and attribute.larger) or (op == "<" and attribute.smaller):
            yield SynchronousRule(
                f"PF:{t}", ("'who'", "'are'", f"{a}{op}", value),
                (schema.types[t].pronoun, "are", (2, ""), (3, "")), meaning, 0.2,
            )  # fmt: skip
    yield SynchronousRule(f"VALUE:{kind}", (named, "'of'", f"NP:{t}"), ((0, "sg"), "of", (2, "obj")),
                          ("attribute", a, Child(2)), 0.4)  # fmt: skip
    yield SynchronousRule(GOAL, (named, "'of'", f"NP:{t}"), ((0, "sg"), "of", (2, "obj")),
                          ("attribute", a, Child(2)), 0.3)  # fmt: skip
    if not schema.types[t].role:
        yield SynchronousRule(f"VALUE:{kind}", (f"GEN:{t}", named), ((0, ""), (1, "sg")),
                              ("attribute", a, Child(0)), 0.4)  # fmt: skip
        yield SynchronousRule(GOAL, (f"GEN:{t}", named), ((0, ""), (1, "sg")), ("attribute", a, Child(0)), 0.3)
    for way, word in (("max", "largest"), ("min", "smallest")):
        meaning = ("most", Child(0), ("value", a), way)
        yield SynchronousRule(f"MOST:{t}", (f"CN:{t}", "'the'", f"'{word}'", named),
                              ((0, ""), "with the", (2, ""), (3, "sg")), meaning, 0.8)  # fmt: skip
        if attribute.largest if way == "max" else attribute.smallest:
            yield SynchronousRule(f"MOST:{t}", (f"{a}-{way}", f"CN:{t}"), ((0, ""), (1, "")),
                                  ("most", Child(1), ("value", a), way), 0.7)  # fmt: skip
    for op in ("average", "total") if kind == "number" else ():
        yield SynchronousRule(GOAL, (f"'{op}'", named, "'of'", f"NP:{t}"), (op, (1, "sg"), "of", (3, "obj")),
                              (op, a, Child(3)), 0.6)  # fmt: skip
