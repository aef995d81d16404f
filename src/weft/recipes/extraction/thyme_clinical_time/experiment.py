"""Styler et al. (2014): annotation of clinical time, its agreement, and a baseline moved from news to clinical text.

The text of THYME needs an agreement with its owner; its annotation does not. So the tools run on THYME's annotation,
and the extractor on case reports annotated in the same scheme (E3C) and on the news of TempEval-3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.evaluate.counts import Counts, macro_f1
from weft.evaluate.semantics.timelines import (
    LinkScore,
    PlacedLink,
    evaluate_timelines,
    score_closure,
    score_plain,
)
from weft.infer.orders.intervals import THYME as RELATIONS
from weft.infer.orders.intervals import IntervalGraph, Link
from weft.recipes.claims import mean_of, measured, student_interval
from weft.recipes.extraction.thyme_clinical_time import annotation, corpora
from weft.recipes.extraction.thyme_clinical_time.notes import notes
from weft.recipes.framework import RecipeOptions, RecipeResult, Table
from weft.recipes.variation import Variation
from weft.tasks.timelines.extractor import TimelineExtractor, TimelineSettings
from weft.tasks.timelines.links import local_links
from weft.text.conventions.timeline import DOC_TIME_REL, EVENT, LAYER, TIMEX3, Mention, mentions_of, temporal_links
from weft.text.doc import Doc
from weft.text.layers import SpanLayer

#: The paper's distribution of links (per cent), agreement (F1, alpha) and baseline (F1).
PAPER_LINKS = {"CONTAINS": 64.4, "OVERLAP": 15.2, "BEFORE": 12.7, "BEGINS-ON": 6.2, "ENDS-ON": 1.6}
PAPER_BASELINE = {
    "news to news": {"EVENT": 78.8, "TIMEX3": 77.0},
    "news to clinical": {
        "EVENT": 36.6, "TIMEX3": 49.7, "DocTimeRel": 47.4, "CONTAINS event-time": 42.1, "CONTAINS event-event": 4.2,
    },
    "clinical to clinical": {"CONTAINS event-time": 73.7},
}  # fmt: skip
PARTS = ("train", "dev", "test")
KINDS = ("link participants", "links", "CONTAINS")
COLUMNS = (
    "EVENT", "TIMEX3", "DocTimeRel", "DocTimeRel macro", "CONTAINS event-time", "CONTAINS event-event",
)  # fmt: skip


@dataclass(frozen=True)
class Size:
    """Numbers of documents and splits."""

    splits: int = 5
    clinical: int = 30
    news: int = 200
    files: int = 10_000
    generated: int = 40
    iterations: int = 50


VARIATION = Variation((Size,), ("annotation", "transfer", "generated"))
QUICK = Size(splits=1, news=40, files=20, generated=25, iterations=40)


def run(options: RecipeOptions) -> RecipeResult:
    """All tables of the system page."""
    size = options.varied(QUICK if options.quick else Size())
    result = RecipeResult("thyme-clinical-time")
    if options.wants("annotation"):
        _annotation(result, options, size)
    if options.wants("transfer"):
        _transfer(result, options, size)
    if options.wants("generated"):
        _generated(result, size, options.seed)
    return result


def _annotation(result: RecipeResult, options: RecipeOptions, size: Size) -> None:
    """Files, links, contradictions and closures of THYME; agreement of the gold annotation with changed copies."""
    parts = {name: annotation.read_part(options.find(corpora.THYME.format(name)), size.files) for name in PARTS}
    columns = [
        "files",
        "identical",
        "notes",
        "contradictory",
        "with DocTimeRel",
        "cycle",
        "CONTAINS",
        "closed",
        "CPU s",
    ]
    table = Table("Annotation of THYME", columns, digits={**dict.fromkeys(columns, 0), "cycle": 1, "CPU s": 1})
    for name, part in parts.items():
        table.add(name, {
            "files": part.files, "identical": part.identical, "notes": len(part.notes),
            "contradictory": part.contradictory, "with DocTimeRel": part.contradictory_now,
            "cycle": float(np.mean(part.cycles)) if part.cycles else None,
            "CONTAINS": part.contains, "closed": part.closed, "CPU s": part.seconds,
        })  # fmt: skip
    table.note = (
        "identical: written back byte for byte; contradictory: notes whose links have a cycle, cycle: links in a "
        "minimal one, on average; CONTAINS: links of consistent notes as annotated, and in their closure; CPU s: all "
        "closures and cycles."
    )
    result.tables.append(table)
    shares = Table("Links of THYME, per cent", list(RELATIONS))
    for name, part in parts.items():
        total = sum(part.links.values())
        paper = PAPER_LINKS if name == "train" else {}
        shares.add(name, {each: 100 * part.links[each] / total for each in RELATIONS}, paper=paper)
    shares.note = "The paper's figures are of an earlier release of 107 notes."
    result.tables.append(shares)
    found = annotation.agreements(parts["dev"].notes, options.seed)
    columns = ["F1", "alpha", "alpha, all pairs"]
    together = Table("Agreement of dev notes with changed copies", columns, digits=dict.fromkeys(columns, 3))
    for how, kinds in found.items():
        for kind in KINDS:
            each = kinds[kind]
            together.add(f"{how}: {kind}", dict(zip(columns, each[:3], strict=True)))
    together.note = (
        "alpha over what either marked; all pairs: over all pairs of mentions, which explains why the paper's alphas "
        "are nearly its F1. Two annotators of the paper, F1/alpha: link participants .5012/.4999, links .4506/.4503, "
        "CONTAINS .5630/.5626."
    )
    result.tables.append(together)
    files, same = (sum(getattr(part, name) for part in parts.values()) for name in ("files", "identical"))
    result.own("every file is written back byte for byte", measured(files - same, "<=", 0))
    share = {name: 100 * part.links["CONTAINS"] / sum(part.links.values()) for name, part in parts.items()}
    result.claim(
        "the share of CONTAINS is within {bar} points of the paper's 64.4 %",
        *(measured(abs(value - PAPER_LINKS["CONTAINS"]), "<=", 3, name) for name, value in share.items()),
    )
    result.own(
        "inferred links that are added change no F1 of links",
        *(measured(abs(1 - found[annotation.PERTURBATIONS[1]][kind].f1), "<=", 0, kind) for kind in KINDS),
    )


def given(doc: Doc, attributes: bool = True) -> Doc:
    """A document with gold events and times but without links; without DocTimeRel too if `attributes` is false."""
    copy = TimelineExtractor().bare(doc)
    gold = doc.spans[LAYER]
    spans = copy.spans[LAYER] = SpanLayer(doc.strings, gold.unit)
    for number, row in enumerate(gold):
        own = dict(gold.attributes.get(number, {}))
        if not attributes:
            own.pop("DocTimeRel", None)
        spans.add(row.pieces, row.label, **own)
    return copy


def links_between(doc: Doc, kinds: Sequence[str], relations: Sequence[str]) -> list[PlacedLink]:
    """The links of some relations between an event and a time, or between two events."""
    mentions = {mention.number: mention for mention in mentions_of(doc)}
    ordered = list(mentions.values())
    found = []
    for link in local_links(ordered, temporal_links(doc)):
        ends = sorted(_kind(ordered[each]) for each in (link.first, link.second))
        if link.relation in relations and ends == sorted(kinds):
            found.append(PlacedLink(*link))
    return found


def _kind(mention: Mention) -> str:
    return TIMEX3 if mention.is_time else EVENT


def link_score(
    gold: Sequence[Doc], system: Sequence[Doc], kinds: Sequence[Sequence[str]], relations: Sequence[str], closed: bool
) -> LinkScore:
    """Links between mentions that are given, plain or by closure."""
    measure = score_closure if closed else score_plain
    total = LinkScore(0, 0, 0, 0)
    for one, other in zip(gold, system, strict=True):
        sides = [[link for pair in kinds for link in links_between(doc, pair, relations)] for doc in (one, other)]
        total += measure(*sides)
    return total


def macro_doc_time_rel(gold: Sequence[Doc], system: Sequence[Doc]) -> float:
    """The mean F1 of the values of DocTimeRel that gold events have, the events being given."""
    rows = np.zeros((len(DOC_TIME_REL), 3))
    for one, other in zip(gold, system, strict=True):
        for ours, theirs in zip(mentions_of(one), mentions_of(other), strict=True):
            if ours.kind == EVENT and ours.get("DocTimeRel") in DOC_TIME_REL:
                a, b = (DOC_TIME_REL.index(each.get("DocTimeRel")) for each in (ours, theirs))
                rows[a, 0] += 1
                rows[b, 1] += 1
                rows[a, 2] += a == b
    return 100 * float(macro_f1(rows[rows[:, 0] > 0]))


@dataclass
class Row:
    """The scores of one split, and the counts of events per document."""

    scores: dict[str, float]
    events: Counts


PAIRS = {"event-time": (EVENT, TIMEX3), "event-event": (EVENT, EVENT)}


def judged(model: TimelineExtractor, docs: Sequence[Doc]) -> Row:
    """All columns of the transfer table."""
    system = [model.bare(doc) for doc in docs]
    model(system)
    counts = evaluate_timelines(docs, system)
    values = {name: 100 * counts[name].total().f1 for name in (EVENT, TIMEX3, "DocTimeRel")}
    known = [given(doc) for doc in docs]
    model(known)
    for name, kinds in PAIRS.items():
        values[f"CONTAINS {name}"] = 100 * link_score(docs, known, [kinds], ("CONTAINS",), True).f1
    timed = [given(doc, attributes=False) for doc in docs]
    model(timed)
    values["DocTimeRel macro"] = macro_doc_time_rel(docs, timed)
    return Row(values, counts[EVENT])


def trained(docs: Sequence[Doc], size: Size, seed: int, **settings: Any) -> TimelineExtractor:
    """An extractor with the settings that were chosen on training documents of E3C."""
    extractor = TimelineExtractor(TimelineSettings(iterations=size.iterations, seed=seed, **settings))
    extractor.fit(docs)
    return extractor


def _transfer(result: RecipeResult, options: RecipeOptions, size: Size) -> None:
    """News and clinical text, each way, and both together; then containers against all links on given mentions."""
    clinical = corpora.clinical_reports(options.find(corpora.CLINICAL))
    news = corpora.news([options.find(name) for name in corpora.NEWS])
    rows: dict[str, list[Row]] = {}
    linking: dict[str, list[dict[str, float]]] = {}
    for seed in range(options.seed, options.seed + size.splits):
        random = np.random.default_rng(seed)
        at_clinic, at_press = random.permutation(len(clinical)), random.permutation(len(news))
        train = {
            "clinical": [clinical[i] for i in at_clinic[: size.clinical]],
            "news": [news[i] for i in at_press[: size.news]],
        }
        test = {
            "clinical": [clinical[i] for i in at_clinic[size.clinical :]],
            "news": [news[i] for i in at_press[max(size.news, 200) :]],
        }
        models = {name: trained(docs, size, seed) for name, docs in train.items()}
        models["both"] = trained([*train["news"], *train["clinical"]], size, seed)
        for source, target in (
            ("news", "news"), ("news", "clinical"), ("clinical", "clinical"), ("both", "clinical"), ("clinical", "news")
        ):  # fmt: skip
            rows.setdefault(f"{source} to {target}", []).append(judged(models[source], test[target]))
        for name, own in _linked(models["clinical"], train["clinical"], test["clinical"], size, seed).items():
            linking.setdefault(name, []).append(own)
    _show_transfer(result, rows, size)
    _show_linking(result, linking, size)


def _linked(
    containers: TimelineExtractor, train: Sequence[Doc], test: Sequence[Doc], size: Size, seed: int
) -> dict[str, dict[str, float]]:
    """Container-only linking and linking by all relations, on given events and times."""
    everything = trained(train, size, seed, links="all")
    with_inferred = trained(train, size, seed, inferred=True)
    pairs = [*PAIRS.values(), (TIMEX3, TIMEX3)]
    rows = {}
    for name, model, relations in (
        ("containers", containers, ("CONTAINS",)),
        ("containers, inferred ones trained on", with_inferred, ("CONTAINS",)),
        ("all relations", everything, (*RELATIONS, "SIMULTANEOUS")),
    ):
        known = [given(doc) for doc in test]
        model(known)
        values: dict[str, float] = {}
        for measure, closed in (("plain", False), ("closure", True)):
            score = link_score(test, known, pairs, relations, closed)
            values |= {f"{measure} P": score.precision, f"{measure} R": score.recall, f"{measure} F": score.f1}
        rows[name] = {key: 100 * value for key, value in values.items()}
        rows[name]["contradictions"] = sum(not _consistent(doc) for doc in known)
    return rows


def _consistent(doc: Doc) -> bool:
    """Whether the links of a document, with DocTimeRel, can all be true; dates, which are given, are left aside."""
    mentions = mentions_of(doc)
    links = local_links(mentions, temporal_links(doc))
    links += [Link(i, m.get("DocTimeRel"), len(mentions)) for i, m in enumerate(mentions) if m.get("DocTimeRel")]
    return IntervalGraph(len(mentions) + 1, links).consistent


def _show_transfer(result: RecipeResult, rows: Mapping[str, Sequence[Row]], size: Size) -> None:
    table = Table(f"Transfer, F1, means of {size.splits} splits", list(COLUMNS))
    for name, several in rows.items():
        values = {column: [row.scores[column] for row in several] for column in COLUMNS}
        intervals = {column: student_interval(each) for column, each in values.items()} if len(several) > 1 else {}
        means = {column: float(np.mean(each)) for column, each in values.items()}
        table.add(name, means, paper=PAPER_BASELINE.get(name, {}), interval=intervals)
    table.note = (
        f"{size.clinical} case reports of E3C to train on and 15 to test, {size.news} and 56 news articles, Student "
        "intervals over splits. EVENT and TIMEX3 by exact span; DocTimeRel with predicted events, macro with given "
        "ones; CONTAINS by closure, with given events and times. The paper tests on THYME."
    )
    result.tables.append(table)

    def gains(one: str, other: str, column: str, share: float = 1.0) -> dict[str, float]:
        pairs = zip(rows[one], rows[other], strict=True)
        return {f"split {k}": a.scores[column] - share * b.scores[column] for k, (a, b) in enumerate(pairs)}

    result.claim(
        "trained on news, EVENT loses more than {bar} F on clinical text (paper: 42.2)",
        mean_of(gains("news to news", "news to clinical", "EVENT"), sense=">", bar=20),
        required=True,
    )
    result.claim("TIMEX3 loses too (paper: 27.3)", mean_of(gains("news to news", "news to clinical", "TIMEX3")))
    recovered = {
        f"split {k}": own.scores["EVENT"] - (home.scores["EVENT"] + away.scores["EVENT"]) / 2
        for k, (own, home, away) in enumerate(
            zip(rows["clinical to clinical"], rows["news to news"], rows["news to clinical"], strict=True)
        )
    }
    result.own("training in the domain recovers more than half of the loss on EVENT", mean_of(recovered))
    result.own(
        "event-time containers are found better than event-event ones",
        mean_of(
            {
                f"split {k}": row.scores["CONTAINS event-time"] - row.scores["CONTAINS event-event"]
                for k, row in enumerate(rows["clinical to clinical"])
            }
        ),
        required=False,
    )


def _show_linking(result: RecipeResult, linking: Mapping[str, Sequence[dict[str, float]]], size: Size) -> None:
    columns = ["plain P", "plain R", "plain F", "closure P", "closure R", "closure F", "contradictions"]
    table = Table("Links of given events and times, E3C", columns)
    for name, several in linking.items():
        table.add(name, {key: float(np.mean([each[key] for each in several])) for key in columns})
    table.note = (
        "containers: CONTAINS alone is learned and scored; all relations: every relation is. contradictions: test "
        "documents whose predicted links, with DocTimeRel, have a cycle."
    )
    result.tables.append(table)

    def gains(measure: str) -> dict[str, float]:
        pairs = zip(linking["containers"], linking["all relations"], strict=True)
        return {f"split {k}": a[measure] - b[measure] for k, (a, b) in enumerate(pairs)}

    result.claim(
        "linking to containers alone beats linking by all relations in F",
        mean_of(gains("plain F"), "plain"),
        mean_of(gains("closure F"), "closure"),
        note="paper: agreement on CONTAINS .563 against .451 on all links",
    )
    most = max(each["contradictions"] for several in linking.values() for each in several)
    result.own("no predicted links contradict each other or DocTimeRel", measured(most, "<=", 0))


def _generated(result: RecipeResult, size: Size, seed: int) -> None:
    """Generated notes: sections decide DocTimeRel, and a news-like register does not carry over."""
    clinical, press = notes(2 * size.generated, seed), notes(2 * size.generated, seed + 1, "news")
    models = {
        "clinical": trained(clinical[: size.generated], size, seed),
        "news": trained(press[: size.generated], size, seed),
    }
    table = Table("Generated notes, F1", list(COLUMNS))
    rows = {}
    for source, target, docs in (
        ("clinical", "clinical", clinical), ("news", "clinical", clinical), ("news", "news", press)
    ):  # fmt: skip
        rows[source, target] = judged(models[source], docs[size.generated :])
        table.add(f"{source} to {target}", rows[source, target].scores)
    result.tables.append(table)
    lost = rows["news", "news"].scores["EVENT"] - rows["news", "clinical"].scores["EVENT"]
    result.own("on generated notes EVENT loses more than {bar} F between registers", measured(lost, ">", 20))
    result.own(
        "on generated notes DocTimeRel follows from sections: macro F of at least {bar}",
        measured(rows["clinical", "clinical"].scores["DocTimeRel macro"], ">=", 90),
    )
