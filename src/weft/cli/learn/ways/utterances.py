"""`weft train segmenter --method adaptor`: words of utterances without boundaries."""

from __future__ import annotations

from typing import Any

from weft.cli.common import print_json, print_table
from weft.cli.learn.training import Training
from weft.cli.utterances import plain_utterances, read_files, scores_of, table_rows, write_utterances


def train(training: Training) -> None:
    """Learn words with an adaptor grammar; chains run in `--workers` processes."""
    from weft.formats.phonemes import sounds_of
    from weft.pipeline.registry import check_place
    from weft.tasks.segmentation.induce_words import UtteranceSettings, find_grammar, has_stress, learn_words

    check_place(training.out)
    chosen = UtteranceSettings.from_options(training.options)
    settings = chosen.word_settings()
    said = read_files(training.files, training.data["style"])
    grammar = find_grammar(settings.grammar, [sounds_of(utterance) for utterance in said], settings.vowels)
    gold = plain_utterances(said, has_stress(grammar))
    model, run = learn_words([sounds_of(utterance) for utterance in gold], settings)
    model.save(training.out)
    if training.data["segmented"] is not None:
        write_utterances(model.training_words(), training.data["segmented"])
    if training.data["plot"] is not None:
        from weft.pictures import draw_lines

        picture = draw_lines(
            f"log joint, R-hat {run.r_hat('log joint'):.2f}", "iteration", "log joint", run.lines("log joint")
        )
        training.data["plot"].write_text(picture, encoding="utf-8")
    report = {"utterances": len(gold), "chains": chosen.chains, "iterations": chosen.iterations, **_facts(model, run)}
    scores = scores_of(gold, model.training_words())
    if scores is not None:
        report["scores"] = scores.as_dict()
    if training.as_json:
        print_json(report)
    else:
        print_table("Words", ["", ""], table_rows(report), figures=[1])


def _facts(model: Any, run: Any) -> dict[str, Any]:
    """Statistics of the chains, and the words they found."""
    words = {tuple(word) for utterance in model.training_words() for word in utterance}
    facts: dict[str, Any] = {
        "log joint": [chain.trace[-1]["log joint"] for chain in run.chains],
        "R-hat": run.r_hat("log joint"),
        "accepted": sum(chain.trace[-1]["accepted"] for chain in run.chains) / len(run.chains),
        "distinct words": len(words),
        "most frequent": [" ".join(word) for word in list(model.lexicon())[:8]],
    }
    patterns = model.stress_patterns()
    return facts | ({"stress patterns": patterns} if patterns else {})
