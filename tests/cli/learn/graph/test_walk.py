"""From text to answers: every command reads what the one before it wrote, and the answer is what the texts say."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from places import ROOT

Weft = Callable[..., subprocess.CompletedProcess[str]]
WALK = ROOT / "examples" / "walk"


def test_texts_become_answers(weft: Weft, tmp_path: Path) -> None:
    def run(*words: str) -> str:
        done = weft(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    annotated, kg, new, kinds = (str(tmp_path / name) for name in ("annotated", "kg", "new.tsv", "kinds.tsv"))
    staff, seeds, schema = (str(WALK / name) for name in ("staff.tsv", "seeds.tsv", "schema.toml"))
    models = ["--model", "en", "--model", "en-coref", "--model", "en-relations"]
    run("annotate", str(WALK / "news"), *models, "--to", "jsonl", "--out", annotated + "/")
    run("graph", "build", annotated, staff, "--out", kg)
    facts = json.loads(run("graph", "complete", kg, "--relation", "citizen of", "--out", new, "--json"))["facts"]
    sure = {(fact["source"], fact["target"]) for fact in facts if fact["probability"] > 0.9}
    assert sure == {("Mara Lind", "Norway"), ("Jens Krog", "Denmark"), ("Per Ny", "Sweden"), ("Anna Lie", "Norway")}
    business = ["--attributes", str(WALK / "business.tsv"), "--relation", "has attribute"]
    run("graph", "classes", kg, "--seeds", seeds, *business, "--edges", kinds)
    members = dict(line.split("\t")[::2] for line in Path(kinds).read_text(encoding="utf-8").splitlines())
    assert members["Fjord Lines"] == members["Skagerrak Lines"] == "shipping company"
    assert members["Forest Museum"] == "museum"
    run("graph", "build", annotated, staff, new, kinds, "--schema", schema, "--out", kg)
    ranked = json.loads(run("graph", "rank", kg, "--type", "PER", "--json"))
    assert ranked[0]["relative"] > 1
    people = json.loads(run("graph", "disambiguate", kg, "Mara Lind", "--people", "2", "--json"))
    papers = {frozenset(person["papers"]) for person in people}
    assert frozenset({"new-ferry", "closed-harbour", "crew-wanted"}) in papers
    topics = json.loads(run("graph", "topics", kg, "--topics", "2", "--type", "document", "--json"))
    words = [{row["name"] for row in topics if row["topic"] == n and row["type"] == "term"} for n in (1, 2)]
    assert sorted(({"ship", "crew"} <= each, {"painting", "forest"} <= each) for each in words) == [
        (False, True), (True, False),
    ]  # fmt: skip
    asked = json.loads(run("ask", kg, "people who studied in bergn and work for a shipping company", "--json"))
    assert asked["understood"] == "people who studied in Bergen and who work for shipping companies"
    assert [row["name"] for row in asked["answer"]] == ["Tor Vik"]
    assert len(json.loads(run("ask", kg, "citizens of norway", "--json"))["answer"]) == 7
