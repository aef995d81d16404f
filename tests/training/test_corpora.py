"""Documents of corpora as a configuration asks for them."""

from __future__ import annotations

import tarfile
from pathlib import Path

from weft.pipeline.pipeline import Pipeline
from weft.training import PipelineConfig
from weft.training.config import ClusterSpec, CorpusSpec
from weft.training.corpora import CorpusReader


def reader(folder: Path, limit: int = 0, **options: object) -> CorpusReader:
    corpus = CorpusSpec("A corpus", "MIT", ["train.conll"], ["dev.conll"], read={"fields": "form entities"})
    for name, value in options.items():
        setattr(corpus, name, value)
    return CorpusReader(PipelineConfig("x", "X", "MIT", [], {"own": corpus}, path=folder / "x.toml"), limit)


def write(folder: Path) -> None:
    (folder / "train.conll").write_text("en:Ada B-person\nen:slept O\n\nen:Oslo B-place\n\nen:Bob B-person\n")
    (folder / "dev.conll").write_text("en:Os O\nen:lo O\n")


def test_labels_are_renamed_and_others_left_out(tmp_path: Path) -> None:
    write(tmp_path)
    docs = reader(tmp_path, labels={"person": "PER"}).docs(["own"])
    assert [(row.pieces, row.label) for doc in docs for row in doc.spans["entities"]] == [
        (((0, 1),), "PER"),
        (((3, 4),), "PER"),
    ]


def test_what_words_begin_with_is_taken_off_and_spans_stay(tmp_path: Path) -> None:
    write(tmp_path)
    doc = reader(tmp_path, strip="en:").docs(["own"])[0]
    assert doc.column("form") == ["Ada", "slept", "Oslo", "Bob"]
    assert doc.text == "Ada slept Oslo Bob"
    assert [span.text for span in doc.span_views("entities")] == ["Ada", "Oslo", "Bob"]


def test_training_sentences_that_stand_in_the_dev_set_are_left_out(tmp_path: Path) -> None:
    write(tmp_path)
    doc = reader(tmp_path, strip="en:", apart=True).docs(["own"])[0]
    assert doc.column("form") == ["Ada", "slept", "Bob"]


def test_features_are_dropped_by_part_of_speech(tmp_path: Path) -> None:
    rows = [("fast", "ADV", "Degree=Pos"), ("fast", "ADJ", "Degree=Pos"), ("so", "ADV", "Degree=Pos|PronType=Dem")]
    lines = [f"{i}\t{form}\t_\t{tag}\t_\t{feats}\t0\troot\t_\t_" for i, (form, tag, feats) in enumerate(rows, 1)]
    (tmp_path / "train.conllu").write_text("\n".join(lines) + "\n\n")
    (doc,) = reader(tmp_path, train=["train.conllu"], read={}, drop={"ADV": "Degree=Pos"}).docs(["own"])
    assert doc.column("feats") == ["", "Degree=Pos", "PronType=Dem"]


def test_columns_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "train.conllu").write_text("1\tfast\tfast\tADV\tRB\tDegree=Pos\t0\troot\t_\t_\n\n")
    (doc,) = reader(tmp_path, train=["train.conllu"], read={}, without=["xpos"]).docs(["own"])
    assert not doc.has("xpos")
    assert (doc.column("upos"), doc.column("feats")) == (["ADV"], ["Degree=Pos"])


def test_documents_without_names_in_a_file_of_names_have_none(tmp_path: Path) -> None:
    row = "1\t{}\t_\tPROPN\t_\t_\t0\troot\t_\t{}\n\n"
    text = "".join(f"# newdoc\n{row.format(form, misc)}" for form, misc in (("Ada", "NER=B-PER"), ("Rain", "_")))
    (tmp_path / "train.conllu").write_text(text)
    (tmp_path / "dev.conllu").write_text(text.replace("NER=B-PER", "_"))
    named = reader(tmp_path, train=["train.conllu"], dev=["dev.conllu"], read={})
    assert [len(doc.spans["entities"]) for doc in named.docs(["own"])] == [1, 0]
    assert all("entities" not in doc.spans for doc in named.docs(["own.dev"]))


def test_a_trial_takes_the_first_sentences(tmp_path: Path) -> None:
    write(tmp_path)
    assert sum(doc.n_sentences for doc in reader(tmp_path, limit=2).docs(["own"])) == 2


def test_clusters_are_learned_from_corpora_and_from_archives_of_text(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "novel.txt").write_text("Dogs bark. Cats purr.")
    with tarfile.open(tmp_path / "novels.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "novel.txt", "novel.txt")
    spec = ClusterSpec(["own", "novels.tar.gz"], characters=11)
    words = list(reader(tmp_path, strip="en:").sentences(spec, Pipeline([])))
    assert words == [["Ada", "slept"], ["Oslo"], ["Bob"], ["Dogs", "bark", "."]]


def test_trees_become_transcripts_with_repairs_that_differ_by_seed_and_part(examples: Path, tmp_path: Path) -> None:
    story = (examples / "story.conllu").as_posix()
    corpus = CorpusSpec("A story", "MIT", [story], [story], repairs=True)
    config = PipelineConfig("x", "X", "MIT", [], {"own": corpus}, path=tmp_path / "x.toml")
    train, again, dev, other = (
        CorpusReader(config, seed=seed).docs([part])[0].column("form")
        for seed, part in ((1, "own"), (1, "own"), (1, "own.dev"), (2, "own"))
    )
    assert train == again
    assert train != dev
    assert train != other
    assert all(form == form.lower() for form in train)
    doc = CorpusReader(config, limit=30, seed=1).docs(["own"])[0]
    assert doc.n_sentences <= 30
    assert "reparandum" in doc.column("deprel")


def test_calls_of_switchboard_are_read_with_their_repairs(tmp_path: Path) -> None:
    (tmp_path / "calls.tsv").write_text(
        "1:A:0:sd\t(1)\twe\tPRP\t<rms/>\n\t(2)\twe\tPRP\t<f/>\n\t(3)\tsail\tVBP\t<f/>\n"
    )
    doc = reader(tmp_path, train=["calls.tsv"], read={"format": "switchboard"}).docs(["own"])[0]
    assert [span.text for span in doc.span_views("disfluencies")] == ["we"]


def test_frames_of_another_file_are_joined_by_words_whatever_their_order(tmp_path: Path) -> None:
    row = "{}\t{}\t_\t{}\t_\t_\t{}\t{}\t_\t_"
    trees = [[("Dogs", "NOUN", 2, "nsubj"), ("bark", "VERB", 0, "root")], [("Go", "VERB", 0, "root")],
             [("Cats", "NOUN", 2, "nsubj"), ("purr", "VERB", 0, "root")]]  # fmt: skip
    text = "".join("\n".join(row.format(i, *word) for i, word in enumerate(each, 1)) + "\n\n" for each in trees)
    (tmp_path / "train.conllu").write_text(text)
    roles = "1\t{}\t_\tX\t_\t_\t0\troot\t_\t_\tA0\n2\t{}\t_\tX\t_\t_\t0\troot\tY\t{}\t_\n\n"
    (tmp_path / "roles.tsv").write_text(
        roles.format("Cats", "purr", "purr.01") + roles.format("Dogs", "bark", "bark.01")
    )
    joined = reader(tmp_path, train=["train.conllu"], read={}, frames={"train": "roles.tsv"}).docs(["own"])
    assert [(frame.sense, frame.arguments[0].text) for doc in joined for frame in doc.frames] == [
        ("bark.01", "Dogs"),
        ("purr.01", "Cats"),
    ]
    assert [doc.column("form") for doc in joined] == [["Dogs", "bark", "Cats", "purr"]]
    assert [doc.column("deprel") for doc in joined] == [["nsubj", "root"] * 2]
