"""Clips, features, sentences, and the grounder that learns from them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from weft.errors import ConfigError, DataError, FormatError
from weft.formats.detections import Detections
from weft.infer.product_hmm import ProductHMM
from weft.learn.generative.word_hmms import Occurrence, WordModel
from weft.pipeline.registry import keep
from weft.tasks.grounding import Clip, Grammar, Grounder, GroundingSettings, read_clips
from weft.tasks.grounding.features import Bins, kmeans_edges, steps
from weft.tasks.grounding.sentences import every_sentence, read_sentences

EXAMPLES = Path(__file__).parents[3] / "examples" / "clips"
PAIRS = [(clip, sentence) for _, clip, sentence in read_sentences(EXAMPLES / "sentences.tsv")]


@pytest.fixture(scope="module")
def grounder() -> Grounder:
    found = Grounder(GroundingSettings(starts=8, finalists=2, iterations=8))
    found.report = found.learn(read_clips(EXAMPLES), PAIRS)
    return found


def two_objects() -> Clip:
    """A ball that jumps beside a person who stands, and a false box: eight frames."""
    heights = np.array([0, 30, 60, 90, 60, 30, 0, 0.0])
    boxes = np.zeros((8, 3, 4))
    boxes[:, 0] = [100, 200, 160, 360]
    boxes[:, 1] = [300, 330, 330, 360]
    boxes[:, 1, [1, 3]] -= heights[:, None]
    boxes[:, 2] = [500, 100, 530, 130]
    moves = np.zeros((8, 3, 2))
    moves[:-1, 1, 1] = -np.diff(heights)
    return Clip.from_boxes("park", boxes, [["person", "ball", "ball"]] * 8, np.tile([1.0, 1.0, 0.2], (8, 1)), moves)


def jumping() -> tuple[Bins, list[WordModel]]:
    """Models written by hand of person, ball and jumped."""
    edges = {"speed": np.array([5.0, 10, 15, 20]), "distance": np.array([100.0, 200]), "size": np.zeros(1)}
    bins = Bins({**edges, "x": np.zeros(1)}, 2)
    still, fast = [0.92, 0.02, 0.02, 0.02, 0.02], [0.04, 0.04, 0.04, 0.04, 0.84]
    up, down = [0.05, 0.85, 0.05, 0.05], [0.05, 0.05, 0.05, 0.85]
    jump = WordModel(
        np.array([0.9, 0.05, 0.05]), np.array([[0.6, 0.4, 0.0], [0.0, 0.6, 0.4], [0.0, 0.0, 1.0]]),
        (np.array([fast, fast, still]), np.array([up, down, [0.25] * 4])),
    )  # fmt: skip
    ball, person = ([0.9, 0.1], [0.1, 0.9])  # kinds are in the order of the alphabet
    one = np.ones(1), np.ones((1, 1))
    return bins, [WordModel(*one, (np.array([ball]),)), WordModel(*one, (np.array([person]),)), jump]


@pytest.mark.must_show("video-grounded-words", 3)
def test_ball_jumped_and_person_jumped_choose_different_tracks():
    bins, models = jumping()
    scene, kinds = bins.scene(two_objects()), bins.classes()
    classes = [kinds["N"], kinds["N"], kinds["VI"]]

    def jumped(noun: int) -> ProductHMM:
        return scene.lattice([Occurrence(noun, (0,)), Occurrence(2, (0,))], 1, models, classes)

    ball, person = jumped(0).best(), jumped(1).best()
    assert ball.picks[:, 0].tolist() == [1] * 8
    assert person.picks[:, 0].tolist() == [0] * 8
    assert jumped(0).log_likelihood() > jumped(1).log_likelihood()
    assert ball.states[:, 1].tolist() == sorted(ball.states[:, 1].tolist())


def test_features_are_what_the_boxes_do():
    bins, _ = jumping()
    clip = two_objects()
    binned = bins.binned(clip)
    assert binned["speed"][0].tolist() == [0, 4, 0]
    assert binned["direction"][0, 1] == 1  # up
    assert binned["direction"][4, 1] == 3  # down
    assert binned["x"][0, 0, 1] == 0
    assert binned["x"][0, 1, 0] == 1
    assert binned["distance"][0].tolist() == [[0, 1, 2], [1, 0, 2], [2, 2, 0]]
    assert binned["size"][0, 0, 1] == 1
    scene = bins.scene(clip)
    verb = bins.classes()["V"].features(scene.codes["V"][0, 1 * 3 + 0])
    assert [int(v) for v in verb] == [4, 1, 0, 2, 1, 0]


def test_steps_are_dear_if_the_velocity_foretold_another_place():
    found = steps(two_objects())
    assert found[0, 1, 1] == 0  # the ball goes where its velocity takes it
    assert found[0, 0, 1] == found.min()
    assert found.min() >= -4


def test_edges_are_those_of_clusters():
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(m, 0.1, 200) for m in (0.0, 3.0, 7.0)])
    assert np.allclose(kmeans_edges(values, 3), [1.5, 5.0], atol=0.1)


def test_the_strongest_of_every_kind_are_kept_and_gaps_filled_up():
    frames = np.array([1, 1, 1, 1, 2, 3, 3])
    boxes = np.array([[10.0 * k, 0, 8, 8] for k in (0, 2, 4, 6, 0, 0, 2)])
    scores = np.array([0.9, 0.8, 0.7, 0.1, 0.9, 0.9, 0.6])
    kinds = ["cup", "cup", "cup", "pot", "cup", "cup", "pot"]
    found = Detections(frames, np.full(7, -1), boxes, scores, kinds, np.full((7, 2), np.nan))
    clip = Clip.from_detections("table", found, most=2, per_kind=1)
    assert clip.kinds[0].tolist() == [0, 1]
    assert clip.frames == 3
    assert clip.scores[0].tolist() == [0.9, 0.1]
    assert clip.scores[1].tolist() == pytest.approx([0.9, -0.4])  # the pot of the frame before
    assert clip.boxes[1, 1].tolist() == clip.boxes[0, 1].tolist()


def test_velocities_come_from_the_next_box_of_the_kind():
    boxes = np.array([[[0.0, 0, 10, 10], [100, 0, 120, 10]], [[3.0, 1, 13, 11], [400, 0, 420, 10]]])
    clip = Clip.from_boxes("a", boxes, [["cup", "pot"], ["cup", "pot"]])
    assert clip.velocities[0].tolist() == [[3, 1], [0, 0]]
    assert clip.velocities[1].tolist() == [[3, 1], [0, 0]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The person", "expected a verb at the end"),
        ("The person carried", "expected a noun at the end"),
        ("The person carried the chair away", "expected the end of the sentence at 'away'"),
        ("quickly", "expected a noun at 'quickly'"),
        ("The cow carried the chair", "'cow carried the chair'; no word of the lexicon"),
    ],
)
def test_what_is_no_sentence_is_named(text, said):
    with pytest.raises(DataError, match=said):
        Grammar().parse(text)


def test_arguments_are_linked():
    found = Grammar().parse(
        "The chair to the right of the person picked up the backpack quickly away from the trash-can."
    )
    assert str(found) == (
        "chair(p0), to the right of(p0, p1), person(p1), picked up(p0, p2), backpack(p2), quickly(p0), "
        "away from(p0, p3), trash-can(p3)"
    )
    assert found.participants == 4
    grammar = Grammar()
    assert all(grammar.parse(sentence).participants <= 3 for sentence in every_sentence(grammar))


def test_lexicons_and_sentences_are_read_and_checked(tmp_path):
    (tmp_path / "words.tsv").write_text("ball\tN\njumped\tVI\n")
    assert str(Grammar.read(tmp_path / "words.tsv").parse("A ball jumped")) == "ball(p0), jumped(p0)"
    (tmp_path / "bad.tsv").write_text("ball\tNN\n")
    with pytest.raises(FormatError, match=r"bad.tsv, line 1: expected a word, a tab and a part of speech"):
        Grammar.read(tmp_path / "bad.tsv")
    (tmp_path / "s.tsv").write_text("a.mot\tA ball jumped\nno tab\n")
    with pytest.raises(FormatError, match=r"s.tsv, line 2: expected the name of a clip, a tab and a sentence"):
        list(read_sentences(tmp_path / "s.tsv"))


def test_the_examples_teach_all_nouns(grounder):
    assert {word: kind.split()[0] for word, kind in grounder.meanings().items()} == {
        name: name for name in ("backpack", "chair", "person", "trash-can")
    }
    scores = grounder.report["scores"]
    assert scores["true sentences above it"] > scores["sentences of other clips above it"] + 0.5


def test_tracks_are_of_different_detections_and_search_ranks(grounder):
    clips = read_clips(EXAMPLES)
    name, sentence = PAIRS[0]
    tracks = grounder.tracks(clips[name], sentence)
    assert (tracks.picks[:, 0] != tracks.picks[:, 1]).all()
    assert len(tracks.names) == tracks.sentence.participants
    ranked = grounder.search(clips.values(), sentence)
    assert [score for score, _ in ranked] == sorted((score for score, _ in ranked), reverse=True)
    assert ranked[0][0] == grounder.score(ranked[0][1], sentence)


def test_a_description_is_the_best_of_the_sentences_tried(grounder):
    clip = read_clips(EXAMPLES)[PAIRS[0][0]]
    found = grounder.describe(clip, 2)
    assert len(found) == 2
    assert found[0][0] >= found[1][0]
    assert found[0][0] == grounder.score(clip, found[0][1])
    assert found[0][0] >= max(grounder.score(clip, s) for s in every_sentence(grounder.grammar, ("N", "V")))


def test_a_model_file_scores_the_same(grounder, tmp_path):
    keep(grounder, {"training": {}, "scores": {}}, tmp_path / "g.weft")
    again, clips = Grounder.load(tmp_path / "g.weft"), read_clips(EXAMPLES)
    assert again.threshold == grounder.threshold
    for name, sentence in PAIRS[:3]:
        assert again.score(clips[name], sentence) == grounder.score(clips[name], sentence)
    assert again.meanings() == grounder.meanings()


def test_what_cannot_be_learned_is_refused():
    grounder = Grounder()
    with pytest.raises(ConfigError, match="words are grounded in clips"):
        grounder.fit([])
    with pytest.raises(DataError, match="about the clip 'nowhere'"):
        grounder.learn(read_clips(EXAMPLES), [("nowhere", "The person carried the chair")])
    with pytest.raises(DataError, match="no sentences"):
        grounder.learn({}, [])
