from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from commands import exit_code, streams

import weft as package
from weft.errors import ConfigError
from weft.pipeline.component import Asked, Component, State
from weft.scale.job import output_format

Weft = Callable[..., "subprocess.CompletedProcess[str]"]
BAD = "1\tDogs\tdog\n\n"


def sentence(number: int) -> str:
    return f"# sent_id = s{number}\n1\tDogs\t_\t_\t_\t_\t_\t_\t_\t_\n2\tbark\t_\t_\t_\t_\t_\t_\t_\t_\n\n"


@pytest.fixture(scope="module")
def tagger(tmp_path_factory: pytest.TempPathFactory, examples: Path) -> Path:
    """A tagger trained on the story, by the command line."""
    path = tmp_path_factory.mktemp("models") / "tagger.weft"
    with streams() as (out, err):
        code = exit_code(["train", "tagger", str(examples / "story.conllu"), "--out", str(path), "--json"])
    assert code == 0, err()
    assert json.loads(out())["training"]["sentences"] == 40
    return path


def test_training_with_the_same_seed_gives_the_same_model(
    weft: Weft, tagger: Path, tmp_path: Path, examples: Path
) -> None:
    (tmp_path / "train.toml").write_text('seed = 0\nout = "again.weft"\n\n[train.tagger]\ncolumn = "upos"\n')
    done = weft("train", "tagger", examples / "story.conllu", "--config", "train.toml")
    assert done.returncode == 0, done.stderr
    assert "Trained tagger" in done.stdout
    text = "The ferry waits."
    one, other = (package.load(path)(text).column("upos") for path in (tagger, tmp_path / "again.weft"))
    assert one == other


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train", "xyzzy", "story.conllu", "--out", "a.weft"], "unknown task 'xyzzy'; the tasks are"),
        (["train", "tagger", "none.conllu", "--out", "a.weft"], "none.conllu"),
        (["train", "tagger", "STORY", "--out", "a.weft", "--raw", "x"], "--raw is an option of --method weak or flors"),
        (["train", "tagger", "STORY", "--out", "a.weft", "--method", "magic"], "unknown method 'magic'"),
        (["train", "tagger", "STORY", "--out", "a.weft", "--learner", "magic"], "learner must be one of"),
        (["annotate", "STORY", "--model", "none.weft"], "none.weft"),
        (["annotate", "STORY", "--model", "STORY"], "is not a model file"),
        (["models", "info", "none.weft"], "none.weft"),
        (["models", "list", "nowhere"], "is not a folder"),
    ],
)
def test_mistakes_are_told_in_one_line(arguments: list[str], said: str, weft: Weft, examples: Path) -> None:
    failed = weft(*(str(examples / "story.conllu") if word == "STORY" else word for word in arguments))
    assert failed.returncode == 1
    assert said in failed.stderr
    assert len(failed.stderr.strip().splitlines()) == 1


def test_a_model_can_be_looked_into(weft: Weft, tagger: Path) -> None:
    header = json.loads(weft("models", "info", tagger, "--json").stdout)
    assert header["version"] == 1
    assert header["components"][0]["task"] == "tagger"
    assert "tagger" in weft("models", "info", tagger).stdout
    (tagger.parent / "broken.weft").write_bytes(tagger.read_bytes()[:100])
    listed = json.loads(weft("models", "list", tagger.parent, "--json").stdout)
    assert [model["model"] for model in listed] == ["broken.weft", "tagger.weft"]
    assert "truncated" in listed[0]["fault"]
    assert listed[1]["bytes"] == tagger.stat().st_size


def test_standard_input_is_annotated_in_order_onto_standard_output(weft: Weft, tagger: Path) -> None:
    text = "".join(map(sentence, range(30)))
    done = weft("annotate", "-", "--from", "conllu", "--model", tagger, "--workers", "2", stdin=text)
    assert done.returncode == 0, done.stderr
    ids = [line for line in done.stdout.splitlines() if line.startswith("# sent_id")]
    assert ids == [f"# sent_id = s{i}" for i in range(30)]
    assert done.stdout.count("\tbark\t_\t") == 30
    assert "\tbark\t_\t_\t" not in done.stdout


def test_folders_are_annotated_whole_into_one_gzipped_file(weft: Weft, tagger: Path, tmp_path: Path) -> None:
    for i in range(3):
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / f"{i}.conllu").write_text(sentence(i))
    done = weft("annotate", "in", "--model", tagger, "--out", "out.jsonl.gz", "--json")
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["documents"] == 3
    assert figures["words"] == 6
    with gzip.open(tmp_path / "out.jsonl.gz", "rt") as lines:
        assert len(list(lines)) == 3


def test_plain_text_is_split_and_shown_for_the_eye(weft: Weft, tagger: Path, examples: Path) -> None:
    done = weft("annotate", examples / "note.txt", "--model", tagger, "--to", "show")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("The/DET ferry/")


def test_text_annotated_as_conllu_gets_its_comments_and_conllu_keeps_its_own(
    weft: Weft, tagger: Path, tmp_path: Path, examples: Path
) -> None:
    lines = weft("annotate", examples / "note.txt", "--model", tagger, "--to", "conllu").stdout.splitlines()
    assert lines[:2] == ["# newdoc id = note", "# sent_id = note-1"]
    assert lines[2].startswith("# text = The ferry")
    (tmp_path / "bare.conllu").write_text(sentence(0).partition("\n")[2])
    assert weft("annotate", "bare.conllu", "--model", tagger, "--to", "conllu").stdout.startswith("1\tDogs\t")


def test_several_models_are_one_pipeline_in_the_order_given(weft: Weft, tmp_path: Path, examples: Path) -> None:
    chunks = examples / "chunks.conll"
    weft("train", "tagger", chunks, "--column", "xpos", "--out", "new/folder/tagger.weft")
    weft("train", "chunker", chunks, "--out", "chunker.weft")
    both = ["new/folder/tagger.weft", "chunker.weft"]
    done = weft("annotate", examples / "note.txt", "-m", both[0], "-m", both[1], "--to", "show")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("chunks: [NP The ferry]")
    (tmp_path / "several.toml").write_text(f"model = {json.dumps(both)}\n")
    assert weft("annotate", examples / "note.txt", "--to", "show", "--config", "several.toml").stdout == done.stdout
    (tmp_path / "one.toml").write_text(f"model = {json.dumps(both[0])}\n")
    assert "/DT" in weft("annotate", examples / "note.txt", "--to", "show", "--config", "one.toml").stdout
    failed = weft("annotate", examples / "note.txt", "-m", both[1], "-m", both[0], "--to", "show")
    assert failed.returncode == 1
    assert "'chunker' requires xpos, which a later component provides" in failed.stderr


def test_every_command_that_reads_files_takes_their_encoding(weft: Weft, tagger: Path, tmp_path: Path) -> None:
    text = "1\tcafé\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n"
    (tmp_path / "latin.conllu").write_bytes(text.encode("latin-1"))
    for command in (
        ["annotate", "latin.conllu", "--model", str(tagger), "--to", "conllu"],
        ["train", "tagger", "latin.conllu", "--out", "latin.weft"],
        ["evaluate", "latin.conllu", "latin.conllu"],
        ["compare", "latin.conllu", "latin.conllu", "latin.conllu"],
        ["convert", "latin.conllu", "new/folder/utf8.conllu"],
    ):
        failed = weft(*command)
        assert failed.returncode == 1
        assert "name it: --encoding latin-1" in failed.stderr
        done = weft(*command, "--encoding", "latin-1")
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "new" / "folder" / "utf8.conllu").read_text(encoding="utf-8") == text


def test_a_format_that_loses_the_annotation_is_refused(weft: Weft, tagger: Path, examples: Path) -> None:
    failed = weft("annotate", examples / "note.txt", "--model", tagger, "--out", "out.txt")
    assert failed.returncode == 1
    assert "the format plain cannot hold upos" in failed.stderr
    done = weft("annotate", examples / "note.txt", "--model", tagger)
    assert done.stdout.startswith("# newdoc id = note\n# sent_id = note-1\n# text = The ferry")
    assert "\tferry\t_\tNOUN\t" in done.stdout


@pytest.mark.parametrize(
    ("format", "layer", "held"),
    [
        ("streusle", "spans/mwe", True),
        ("streusle", "spans/chunks", False),
        ("streusle", "xpos", False),
        ("conllu", "xpos", True),
        ("conllu", "spans/mwe", True),
        ("conllu", "spans/segments", False),
        ("columns", "spans/chunks", True),
    ],
)
def test_what_a_format_holds_is_known_before_anything_is_annotated(format: str, layer: str, held: bool) -> None:
    class Finder(Component):
        task = "finder"
        provides = (layer,)

        def annotate(self, docs: Sequence[package.Doc], asked: Asked) -> None: ...

        def state(self) -> State:
            return {}, {}

        @classmethod
        def from_state(cls, header: dict[str, object], arrays: object) -> Finder:
            return cls()

    nlp = package.Pipeline([Finder()])
    if held:
        assert output_format(nlp, "jsonl", None, format) == format
    else:
        with pytest.raises(ConfigError, match=f"the format {format} cannot hold {layer}"):
            output_format(nlp, "jsonl", None, format)


def test_bad_input_ends_the_run_and_standard_output_keeps_what_was_annotated(
    weft: Weft, tagger: Path, tmp_path: Path
) -> None:
    (tmp_path / "a.conllu").write_text("# newdoc\n" + sentence(0) + "# newdoc\n" + sentence(1))
    (tmp_path / "b.conllu").write_text(BAD)
    failed = weft("annotate", "a.conllu", "b.conllu", "--model", tagger, "--to", "conllu")
    assert failed.returncode == 1
    assert "b.conllu, line 1: expected 10" in failed.stderr
    assert "# sent_id = s1" in failed.stdout


def test_a_run_that_fails_leaves_an_older_file_as_it_was(weft: Weft, tagger: Path, tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text("# newdoc\n" + sentence(0))
    (tmp_path / "b.conllu").write_text(BAD)
    (tmp_path / "out.conllu").write_text("older\n")
    command = ["annotate", "a.conllu", "b.conllu", "--model", tagger, "--out"]
    failed = weft(*command, "out.conllu")
    assert failed.returncode == 1
    assert "nothing was written to out.conllu; a run into a folder" in failed.stderr
    assert (tmp_path / "out.conllu").read_text() == "older\n"
    assert weft(*command, "new.jsonl.gz").returncode == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.conllu", "b.conllu", "out.conllu"]


def test_bad_input_is_left_out_and_counted_if_asked_for(weft: Weft, tagger: Path, tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(sentence(0) + BAD + sentence(1))
    done = weft("annotate", "a.conllu", "--model", tagger, "--skip-bad", "--out", "out.conllu", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["left_out"] == 1
    assert "1 piece left out" in done.stderr
    assert "# sent_id = s1" in (tmp_path / "out.conllu").read_text()


@pytest.mark.parametrize("whole", [True, False])
def test_an_interruption_leaves_a_file_as_it_was_and_keeps_what_was_on_standard_output(
    tagger: Path, tmp_path: Path, whole: bool
) -> None:
    out = tmp_path / "out.conllu"
    out.write_text("older\n")
    command = [sys.executable, "-m", "weft", "annotate", "-", "--from", "conllu", "--model", tagger]
    command += ["--out", out] if whole else ["--to", "conllu"]
    stdout = (tmp_path / "stdout").open("wb")
    process = subprocess.Popen(
        list(map(str, command)), stdin=subprocess.PIPE, stdout=stdout, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    assert process.stdin is not None
    block = "".join("# newdoc\n" + sentence(i) for i in range(8_000))
    process.stdin.write(block)
    process.stdin.flush()  # a pipe holds less than the block: the run is well on its way when it is written
    time.sleep(0.2)
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(block)
    assert process.returncode == 130
    assert said.splitlines()[-1] == "weft: interrupted; what was finished is in place"
    assert out.read_text() == "older\n"
    assert not list(tmp_path.glob(".*.part"))
    assert whole or 0 < (tmp_path / "stdout").read_text().count("# sent_id") < 16_000


def test_a_folder_that_was_interrupted_is_gone_on_with(weft: Weft, tagger: Path, tmp_path: Path) -> None:
    text = "".join(f"The ferry {i} left the harbour. A fog came.\n\n" for i in range(8_000))
    (tmp_path / "a.txt").write_text(text)
    words = ["annotate", "a.txt", "--model", tagger, "--to", "conllu", "--shard-size", "0.02"]
    command = [sys.executable, "-m", "weft", *words, "--out", "out/", "--workers", "2"]
    environment = {**os.environ, "WEFT_QUIET": "1"}
    process = subprocess.Popen(
        list(map(str, command)), stderr=subprocess.PIPE, text=True, start_new_session=True, cwd=tmp_path,
        env=environment,
    )  # fmt: skip
    while len(list((tmp_path / "out").glob("*.conllu"))) < 3:
        assert process.poll() is None
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers too
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.splitlines() == ["weft: interrupted; what was finished is in place"]
    assert not list((tmp_path / "out").glob(".*"))
    done = weft(*words, "--out", "out/", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["finished_before"] > 0
    assert weft(*words, "--out", "whole/").returncode == 0
    names = {path.name for path in (tmp_path / "whole").iterdir()} - {"_weft.manifest"}
    assert len(names) > 10
    assert all((tmp_path / "out" / n).read_bytes() == (tmp_path / "whole" / n).read_bytes() for n in names)


PEAK = """
import resource, sys
from weft.cli import main
try:
    main()
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


def test_memory_does_not_grow_with_the_length_of_the_stream(tagger: Path) -> None:
    peaks = []
    for repeats in (4, 40):
        text = "".join(map(sentence, range(1000))) * repeats
        command = [sys.executable, "-c", PEAK, "annotate", "-", "--from", "conllu", "--to", "conllu", "--model", tagger]
        done = subprocess.run(list(map(str, command)), input=text, capture_output=True, text=True, check=True)
        assert done.stdout.count("# sent_id") == 1000 * repeats
        peaks.append(int(done.stderr.splitlines()[-1]) / 1024)
    assert peaks[1] - peaks[0] < 30


def test_chunks_are_learnt_found_and_scored(weft: Weft, tmp_path: Path, examples: Path) -> None:
    done = weft("train", "chunker", examples / "chunks.conll", "--out", "chunker.weft", "--seed", "1", "--workers", "2")
    assert done.returncode == 0, done.stderr
    shown = weft("annotate", examples / "unseen.conll", "--model", "chunker.weft", "--to", "show")
    assert len(shown.stdout.splitlines()) == 10
    assert shown.stdout.startswith("chunks: [NP The captain] [PP of] [NP the old ferry]")
    found = weft("annotate", examples / "unseen.conll", "--model", "chunker.weft", "--out", "found.conll")
    assert found.returncode == 0, found.stderr
    gold = next(iter(package.read(examples / "unseen.conll"))).spans["chunks"]
    system = next(iter(package.read(tmp_path / "found.conll"))).spans["chunks"]
    right = len(set(gold) & set(system))
    assert right / len(gold) > 0.8
    written = weft("annotate", examples / "unseen.conll", "--model", "chunker.weft", "--to", "conllu")
    assert "Chunk=B-NP" in written.stdout, written.stderr
    lost = weft("annotate", examples / "unseen.conll", "--model", "chunker.weft", "--to", "streusle")
    assert "cannot hold spans/chunks" in lost.stderr


def test_probabilities_are_added_if_asked_for(weft: Weft, tagger: Path, examples: Path) -> None:
    plain, with_probabilities = (
        json.loads(
            weft("annotate", examples / "note.txt", "--model", tagger, "--to", "jsonl", *more).stdout.splitlines()[0]
        )
        for more in ([], ["--probabilities"])
    )
    assert "confidence" not in plain or not plain["confidence"]
    assert with_probabilities["confidence"]["upos"]


def test_a_folder_is_annotated_in_shards_and_gone_on_with(
    weft: Weft, tagger: Path, tmp_path: Path, examples: Path
) -> None:
    (tmp_path / "in").mkdir()
    for i in range(3):
        (tmp_path / "in" / f"{i}.conllu").write_text(sentence(i))
    command = ["annotate", "in", "--model", str(tagger), "--out", "out/", "--to", "jsonl"]
    done = weft(*command, "--workers", "2")
    assert done.returncode == 0, done.stderr
    assert "3 files written: 6 words" in done.stderr
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "0.jsonl", "1.jsonl", "2.jsonl", "_weft.manifest",
    ]  # fmt: skip
    (tmp_path / "in" / "3.conllu").write_text(sentence(3))
    again = weft(*command, "--json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["finished_before"] == 3
    assert json.loads(again.stdout)["documents"] == 1
    other = weft(*command, "--probabilities")
    assert other.returncode == 1
    assert "made with probabilities False, now it is True" in other.stderr


def test_bad_documents_do_not_stop_a_folder_and_are_told_by_the_exit_code(
    weft: Weft, tagger: Path, tmp_path: Path
) -> None:
    (tmp_path / "a.conllu").write_text(sentence(0) + BAD + sentence(1))
    (tmp_path / "b.conllu").write_bytes(b"\xff\xfe nonsense")
    (tmp_path / "c.conllu").write_text(sentence(2))
    command = ["annotate", "a.conllu", "b.conllu", "c.conllu", "--model", str(tagger), "--to", "conllu"]
    failed = weft(*command, "--out", "out/")
    assert failed.returncode == 3
    assert "left out: a.conllu, line 5: expected 10" in failed.stderr
    assert failed.stderr.strip().endswith("2 pieces left out; listed in out/_weft.manifest")
    assert "# sent_id = s2" in (tmp_path / "out" / "c.conllu").read_text()
    assert weft(*command, "--out", "out/").returncode == 3
    assert weft(*command, "--out", "out/", "--skip-bad").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-", "--from", "plain", "--out", "out/"], "standard input cannot be annotated into a folder"),
        (["STORY", "--scheduler", "tcp://localhost:1"], "--scheduler writes one file per shard: give a folder"),
        (["STORY", "--to", "parquet"], "Parquet cannot be written to standard output"),
        (["nowhere", "--out", "out/"], "no file nowhere"),
    ],
)
def test_what_cannot_be_annotated_at_scale_is_told(
    arguments: list[str], said: str, weft: Weft, tagger: Path, tmp_path: Path, examples: Path
) -> None:
    words = [str(examples / "story.conllu") if word == "STORY" else word for word in arguments]
    failed = weft("annotate", *words, "--model", tagger)
    assert failed.returncode == 1
    assert said in failed.stderr
    assert not (tmp_path / "out").exists()


def test_a_terminal_shows_trees_and_a_pipe_gets_conllu(weft: Weft, examples: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "weft", "annotate", str(examples / "note.txt"), "--model", "en"]
    environment = {**os.environ, "WEFT_QUIET": "1", "NO_COLOR": "1", "COLUMNS": "120", "TERM": "dumb"}
    master, terminal = os.openpty()
    running = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=terminal, env=environment, cwd=tmp_path)
    os.close(terminal)
    shown = b""
    while True:
        try:
            part = os.read(master, 4096)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        shown += part
    os.close(master)
    assert running.wait(timeout=120) == 0
    assert b"[NP The ferry]" in shown
    assert b"leave VERB root" in shown
    piped = weft(*command[3:])
    assert piped.returncode == 0, piped.stderr
    assert piped.stdout.startswith("# newdoc id = note\n")
    assert "\tleave\tleave\tVERB\t" in piped.stdout


# The language of the text.

GERMAN = "Der alte Leuchtturm stand auf einem schwarzen Felsen. Seit vielen Jahren wohnte niemand mehr dort. " * 2
NOTICE = "weft: the text looks like German; the model en is English; see `weft models list`\n"


def test_a_text_in_another_language_is_told_once_and_annotated_all_the_same(weft: Weft, tmp_path: Path) -> None:
    read = ("-", "--from", "plain", "--to", "conllu")
    told = weft("annotate", *read, stdin=GERMAN, WEFT_QUIET="")
    quiet = weft("annotate", *read, stdin=GERMAN, WEFT_QUIET="1")
    assert told.stderr.count(NOTICE) == 1
    assert NOTICE not in quiet.stderr
    assert told.stdout == quiet.stdout
    assert told.returncode == 0
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text(GERMAN * 20)
    many = weft("annotate", "a.txt", "b.txt", "--to", "conllu", "--out", "x.conllu", WEFT_QUIET="")
    assert many.stderr.count(NOTICE) == 1


def test_a_folder_tells_it_too_and_english_is_not_told(weft: Weft, tmp_path: Path, examples: Path) -> None:
    (tmp_path / "a.txt").write_text(GERMAN)
    assert NOTICE in weft("annotate", "a.txt", "--out", "done/", WEFT_QUIET="").stderr
    assert "looks like" not in weft("annotate", examples / "note.txt", "--to", "conllu", WEFT_QUIET="").stderr


def test_several_models_of_one_language_are_named(weft: Weft) -> None:
    names = ("-m", "en", "-m", "en-speech")
    done = weft("annotate", "-", *names, "--from", "plain", "--to", "conllu", stdin=GERMAN, WEFT_QUIET="")
    assert "the model en+en-speech is English" in done.stderr
