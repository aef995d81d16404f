"""Word alignment with fertilities: Weft, eflomal and sil-thot, time and F on English and French.

All train on the same text: the Hansards and the stories of Alibi that have gold links (up to 40 words), and units of
novels (up to 20). The settings of Weft were chosen on the first 100 pairs of the Hansards and the first story; figures
are for the others. Time is CPU time of both directions, from lists of words to links. eflomal has its own settings
(model 3, three samplers); fast_align and the HMM of sil-thot train for 5 iterations, the HMM after 5 of IBM-1. Links of
both directions are symmetrized by grow-diag-final-and.
"""

from __future__ import annotations

from typing import Any

from align import eflomal, timed

LONGEST, LONGEST_GOLD = 20, 40
WAY = "grow-diag-final-and"

Sentences = list[list[str]]


def run() -> dict[str, Any]:
    """Measure all aligners that are installed."""
    from weft.recipes.framework import RecipeOptions
    from weft.recipes.translation.nondeficient_ibm.corpora import bitext

    text = bitext(RecipeOptions(), LONGEST, LONGEST_GOLD)
    weft("ibm4-nd", text.source[:40], text.target[:40])  # compiles the kernels
    found = {
        "Weft, IBM-4 nd": timed(weft, "ibm4-nd", text.source, text.target),
        "Weft, HMM": timed(weft, "hmm", text.source, text.target),
        "eflomal": timed(eflomal, text.source, text.target),
        "thot, fast_align": timed(thot, "FastAlignModel", text.source, text.target),
        "thot, HMM": timed(thot, "HmmAlignmentModel", text.source, text.target),
    }
    rows: list[dict[str, Any]] = [
        {"measured": f"{len(text.source):,} pairs, CPU s", **{name: seconds for name, (_, seconds) in found.items()}}
    ]
    facts: dict[str, Any] = {}
    for corpus, gold in text.scored.items():
        scores = {name: None if links is None else _scores(links, gold) for name, (links, _) in found.items()}
        facts[corpus] = scores
        for title, key in (("F0.1 %", "f0.1"), ("AER %", "aer"), ("precision %", "precision"), ("recall %", "recall")):
            values = {name: None if each is None else 100 * each[key] for name, each in scores.items()}
            rows.append({"measured": f"{title}, {corpus}", **values})
    return {
        "title": "Word alignment with fertilities: Weft, eflomal and sil-thot",
        "rows": rows,
        "scores": facts,
        "peers": "eflomal 2.0.0, sil-thot 3.5.3; none: not installed",
    }


def weft(method: str, source: Sentences, target: Sentences) -> Any:
    """Both directions of Weft's links."""
    from weft.tasks.bitext.align import Aligner

    aligner = Aligner(method=method)
    aligner.fit(source, target)
    return tuple(aligner.align(source, target, side) for side in ("forward", "backward"))


def thot(name: str, source: Sentences, target: Sentences) -> Any:
    """Both directions of links of a model of sil-thot, none if it is not installed."""
    try:
        import thot.alignment as models  # type: ignore[import-not-found]
    except ImportError:
        return None
    from weft.text.bitext import Links

    found = []
    for one, other in ((source, target), (target, source)):
        first = models.Ibm1AlignmentModel() if name == "HmmAlignmentModel" else getattr(models, name)()
        for words, translation in zip(one, other, strict=True):
            first.add_sentence_pair(words, translation, 1)
        _train(first)
        model = first
        if name == "HmmAlignmentModel":
            model = models.HmmAlignmentModel(first)
            _train(model)
        links = []
        for words, translation in zip(one, other, strict=True):
            matrix = model.get_best_alignment(words, translation)[1]
            cells = [(i, j) for i in range(len(words)) for j in range(len(translation)) if matrix[i, j]]
            links.append(cells)
        found.append(Links.of(links))
    return found[0], found[1].flipped()


def _train(model: Any) -> None:
    model.start_training()
    for _ in range(5):
        model.train()
    model.end_training()


def _scores(links: Any, gold: Any) -> dict[str, Any]:
    """Scores of both directions made one."""
    from weft.evaluate.labels.word_alignment import score_alignment
    from weft.tasks.bitext.symmetrize import symmetrize

    both = symmetrize(gold.of(links[0]), gold.of(links[1]), WAY)
    return score_alignment(both, gold.sure, gold.possible).figures()
