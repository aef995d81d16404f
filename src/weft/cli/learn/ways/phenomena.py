"""`weft train phenomena`: the report shows the cue rules that were learned."""

from __future__ import annotations

from weft.cli.common import flat, print_json, print_table
from weft.cli.learn.training import Training


def train(training: Training) -> None:
    """Train on conversations; tables with other suffixes are read as conversations too."""
    if training.reading.format is None and all(
        str(file).removesuffix(".gz").endswith((".tsv", ".csv")) for file in training.files
    ):
        training.reading = training.reading._replace(format="conversations")
    inputs, dev = training.reading.open(training.files), training.open_dev()
    report = training.fit(inputs.docs, dev, training.files, [inputs])
    if training.as_json:
        print_json(report)
        return
    rules = report.pop("rules")
    print_table("Trained phenomena", ["", ""], flat(report), figures=[1])
    if rules:
        rows = [[row["cue"], row["rule"], str(row["members"]), f"{row['gain']:+.3f}"] for row in rules]
        print_table("Cue rules", ["cue", "rule", "members", "gain"], rows, figures=[2, 3])
