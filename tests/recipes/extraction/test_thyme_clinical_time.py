"""The recipe of thyme-clinical-time: its readers, its changed copies, and the smallest run."""

from __future__ import annotations

import numpy as np
import pytest

from weft.errors import FormatError
from weft.evaluate.semantics.timelines import agreement
from weft.formats import anafora
from weft.recipes.extraction.thyme_clinical_time import annotation, experiment
from weft.recipes.extraction.thyme_clinical_time.corpora import time_ml
from weft.recipes.extraction.thyme_clinical_time.notes import CLINICAL, NEWS, notes
from weft.recipes.framework import RecipeResult
from weft.text.conventions.timeline import mentions_of, temporal_links

NEWS_TEXT = b"""<?xml version="1.0" ?><TimeML><DOCID>d1</DOCID>
<DCT><TIMEX3 tid="t0" type="DATE" value="1999-10-30" functionInDocument="CREATION_TIME">10/30</TIMEX3></DCT>
<TEXT>The firm <EVENT eid="e1">sold</EVENT> &amp; <EVENT eid="e2">bought</EVENT> shops in
<TIMEX3 tid="t1" type="DATE" value="1998">1998</TIMEX3> and may <EVENT eid="e3">stop</EVENT>.</TEXT>
<MAKEINSTANCE eventID="e1" eiid="i1"/><MAKEINSTANCE eventID="e2" eiid="i2"/><MAKEINSTANCE eventID="e3" eiid="i3"/>
<TLINK relType="INCLUDES" timeID="t1" relatedToEventInstance="i1"/>
<TLINK relType="IS_INCLUDED" eventInstanceID="i2" relatedToTime="t1"/>
<TLINK relType="BEFORE" eventInstanceID="i1" relatedToTime="t0"/>
<TLINK relType="INCLUDES" eventInstanceID="i2" relatedToTime="t0"/>
<TLINK relType="AFTER" eventInstanceID="i3" relatedToTime="t0"/></TimeML>"""


def test_news_are_mapped_to_the_terms_of_thyme():
    doc = time_ml(NEWS_TEXT)
    assert doc.text.startswith("The firm sold & bought shops")
    assert (doc.id, doc.meta["date"]) == ("d1", "1999-10-30")
    events = [mention for mention in mentions_of(doc) if mention.kind == "EVENT"]
    assert [mention.attributes["DocTimeRel"] for mention in events] == ["BEFORE", "OVERLAP", "AFTER"]
    assert [(x, relation, y) for x, relation, y, _ in temporal_links(doc)] == [
        (2, "CONTAINS", 0),
        (1, "IS_INCLUDED", 2),
    ]
    both = experiment.links_between(doc, ("EVENT", "TIMEX3"), ("CONTAINS",))
    assert [link[::2] for link in both] == [(2, 0), (2, 1)]
    with pytest.raises(FormatError, match="well-formed"):
        time_ml(b"<TimeML><TEXT>")


def test_generated_notes_are_consistent_and_have_all_sections():
    docs = notes(20, seed=4)
    assert all(doc.timeline().consistent for doc in docs)
    assert all(title in doc.text for doc in docs for title in CLINICAL)
    assert not any(title in doc.text for doc in notes(5, register="news") for title in CLINICAL)
    assert list(NEWS) == [""]
    for doc in docs:
        for span in doc.span_views("timeline"):
            assert span.text == span.text.strip() != ""


def test_changed_copies_agree_as_much_as_they_should():
    docs = notes(12, seed=2)
    random = np.random.default_rng(0)
    f1 = {}
    for how in annotation.PERTURBATIONS:
        copies = [annotation.perturbed(doc, how, random) for doc in docs]
        f1[how] = agreement(docs, copies)["links"].f1
    same, added, dropped, retyped = (f1[how] for how in annotation.PERTURBATIONS)
    assert same == added == 1
    assert 0.7 < dropped < 0.97
    assert 0.75 < retyped < 1


def test_a_part_counts_files_links_and_contradictions(tmp_path):
    import tarfile

    doc = notes(1, seed=1)[0]
    (tmp_path / "a.Temporal-Relation.gold.completed.xml").write_text(anafora.to_text(doc))
    relations = doc.relations["timeline"]
    for first, second, label in list(relations):
        relations.add(second, first, label)
    (tmp_path / "b.Temporal-Relation.gold.completed.xml").write_text(anafora.to_text(doc))
    with tarfile.open(tmp_path / "part.tar.gz", "w:gz") as tar:
        for path in sorted(tmp_path.glob("*.xml")):
            tar.add(path, path.name)
    part = annotation.read_part(tmp_path / "part.tar.gz")
    assert (part.files, part.identical, len(part.notes), part.contradictory) == (2, 2, 2, 1)
    assert part.cycles == [2]


def test_generated_notes_show_the_loss_between_registers():
    result = RecipeResult("thyme-clinical-time")
    experiment._generated(result, experiment.Size(generated=15, iterations=30), 0)
    assert [claim.outcome for claim in result.claims] == ["yes", "yes"]
    assert len(result.tables[0].rows) == 3


def test_given_documents_keep_mentions_and_lose_links():
    [doc] = notes(1, seed=1)
    assert len(experiment.given(doc).spans["timeline"]) == len(doc.spans["timeline"])
    assert not any(mention.get("DocTimeRel") for mention in mentions_of(experiment.given(doc, attributes=False)))
    assert experiment.macro_doc_time_rel([doc], [doc]) == 100
    assert experiment.link_score([doc], [doc], experiment.PAIRS.values(), ("CONTAINS",), True).f1 == 1
