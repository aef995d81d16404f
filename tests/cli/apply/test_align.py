"""`weft align` and `weft project` on the example bitext."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from weft.formats import read
from weft.formats.pharaoh import read_links

Weft = Callable[..., "subprocess.CompletedProcess[str]"]


def test_a_bitext_is_aligned_and_its_aligner_gives_the_same_links_again(
    weft: Weft, tmp_path: Path, examples: Path
) -> None:
    sides = examples / "bitext" / "garden.en.conllu", examples / "bitext" / "garden.de.txt"
    done = weft("align", *sides, "--out", tmp_path / "a", "--save", tmp_path / "a.weft", "--posteriors", "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    links = read_links(tmp_path / "a")
    assert (facts["pairs"], facts["links"]) == (links.n_pairs, len(links)) == (18, len(links))
    assert {(0, 0), (1, 1), (3, 3)} <= set(links.pairs()[1])
    assert links.score.min() < 1
    again = weft("align", *sides, "--aligner", tmp_path / "a.weft", "--posteriors")
    assert again.returncode == 0, again.stderr
    assert again.stdout == (tmp_path / "a").read_text()


def test_links_of_another_aligner_are_symmetrized_and_scored(weft: Weft, tmp_path: Path) -> None:
    for name, text in (("b", "a b ||| c d\n"), ("f", "0-0 1-1\n"), ("r", "0-0\n"), ("gold", "1-1 2p2\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = weft(
        "align", tmp_path / "b", "--links", tmp_path / "f", tmp_path / "r", "--symmetrize", "intersection",
        "--gold", tmp_path / "gold", "--first", "1", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["links"] == [[[0, 0, 1.0]]]
    assert facts["scores"]["aer"] == 0


def test_what_does_not_go_together_is_refused_in_plain_words(weft: Weft, tmp_path: Path, examples: Path) -> None:
    sides = examples / "bitext" / "garden.en.conllu", examples / "bitext" / "garden.de.txt"
    done = weft("align", *sides, "--symmetrize", "grow")
    assert done.returncode == 1
    assert "got 'grow'" in done.stderr
    done = weft("align", *sides, "--alfa", "1")
    assert done.returncode == 2
    assert "--alfa" in done.stderr
    (tmp_path / "short").write_text("Eins .\n", encoding="utf-8")
    done = weft("project", sides[0], tmp_path / "short", "--out", tmp_path / "x.conllu")
    assert done.returncode == 1
    assert "18 source and 1 target sentences" in done.stderr or "sentence" in done.stderr


def test_tags_names_and_a_dictionary_are_projected(weft: Weft, tmp_path: Path, examples: Path) -> None:
    sides = examples / "bitext" / "garden.en.conllu", examples / "bitext" / "garden.de.txt"
    out = tmp_path / "garden.conllu"
    done = weft("project", *sides, "--out", out, "--json")
    assert done.returncode == 0, done.stderr
    assert 0.5 < json.loads(done.stdout)["words with a value"] <= 1
    tags = {word.form: word.upos for doc in read(out) for word in doc.words if word.upos}
    assert (tags["Anna"], tags["Garten"], tags["singt"]) == ("PROPN", "NOUN", "VERB")
    assert "UPOSProb=" in out.read_text(encoding="utf-8")
    assert "UPOSProb=0\n" not in out.read_text(encoding="utf-8")
    done = weft("project", *sides, "--layer", "entities", "--out", out, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["entities"] > 10
    assert "NER=B-LOC" in out.read_text(encoding="utf-8")
    done = weft("project", *sides, "--dictionary", "--universal", "--out", tmp_path / "garden.dic", "--json")
    assert done.returncode == 0, done.stderr
    assert "Garten\tNOUN\n" in (tmp_path / "garden.dic").read_text(encoding="utf-8")


def test_texts_of_one_language_are_compared_drawn_and_scored(weft: Weft, tmp_path: Path, examples: Path) -> None:
    one, other = examples / "similarity" / "a.txt", examples / "similarity" / "b.txt"
    pairs = examples / "similarity" / "pairs.tsv"
    done = weft("align", "--same-language", one, other, "--paraphrases", pairs)
    assert done.returncode == 0, done.stderr
    assert "The council [approved] the [new] bridge" in done.stdout
    done = weft("align", "--same-language", one, other, "--json")
    record = json.loads(done.stdout.splitlines()[0])
    assert [1, 5, "sequences"] in record["links"]
    for name in ("s.tsv", "s.jsonl", "s.html", "s.links"):
        done = weft("align", "--same-language", one, other, "--out", tmp_path / name, "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["pairs"] == 4
    assert "<svg" in (tmp_path / "s.html").read_text(encoding="utf-8")
    assert read_links(tmp_path / "s.links").n_pairs == 4
    for system in ("s.tsv", "s.jsonl"):
        done = weft(
            "evaluate", examples / "similarity" / "people.tsv", tmp_path / system, "--layer", "similarity", "--json"
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["pearson"] > 0.9
    done = weft("draw", tmp_path / "s.jsonl", "--what", "pairs", "--sentence", "2", "--out", tmp_path / "two.svg")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "two.svg").read_text(encoding="utf-8").count('class="line"') > 3


def test_bad_pairs_of_texts_are_told_in_plain_words(weft: Weft, tmp_path: Path, examples: Path) -> None:
    one = examples / "similarity" / "a.txt"
    (tmp_path / "short").write_text("One line.\n", encoding="utf-8")
    done = weft("align", "--same-language", one, tmp_path / "short")
    assert done.returncode == 1
    assert "ends after 1 texts" in done.stderr
    (tmp_path / "bad.tsv").write_text("car auto\n", encoding="utf-8")
    done = weft("align", "--same-language", one, one, "--paraphrases", tmp_path / "bad.tsv")
    assert done.returncode == 1
    assert "bad.tsv, line 1" in done.stderr
    (tmp_path / "bad.jsonl").write_text('{"source": ["a"], "target": [], "links": [[0, 3, "x"]], "similarity": 1}\n')
    done = weft("draw", tmp_path / "bad.jsonl", "--what", "pairs", "--out", tmp_path / "x.html")
    assert done.returncode == 1
    assert "bad.jsonl, line 1" in done.stderr
    done = weft("align", "--same-language", one, one, "--window", "0")
    assert done.returncode == 1
    assert "window" in done.stderr


def test_a_model_with_fertilities_is_chosen_by_its_name(weft: Weft, tmp_path: Path, examples: Path) -> None:
    sides = examples / "bitext" / "garden.en.conllu", examples / "bitext" / "garden.de.txt"
    model = tmp_path / "a.weft"
    options = ("--method", "ibm4-nd", "--word-classes", "3", "--out", tmp_path / "a", "--save", model, "--json")
    done = weft("align", *sides, *options)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert list(facts["p0"]) == ["ibm3-nd", "ibm4-nd"]
    assert {(1, 1), (3, 3)} <= set(read_links(tmp_path / "a").pairs()[1])
    again = weft("align", *sides, "--aligner", model)
    assert again.stdout == (tmp_path / "a").read_text()
    done = weft("align", *sides, "--method", "ibm2")
    assert done.returncode == 1
    done = weft("align", *sides, "--word-classes", "3")
    assert done.returncode == 1
    assert "the HMM has no fertilities" in done.stderr
