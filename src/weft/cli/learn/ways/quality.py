"""`weft train quality`: a table of labels becomes a model of its annotators, and of what each would say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.cli.common import console, flat, print_json, print_table
from weft.cli.learn.training import Training
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.text import Doc

_SCALES = 8  #: features that the report shows


def train(training: Training) -> None:
    """Learn from tables with a row per label; predict the rows of another table if there is one."""
    from weft.formats.csv.named import read_labels
    from weft.formats.csv.plain_rows import check_rows_path
    from weft.pipeline.registry import check_place, keep, new_component

    data = training.data
    if (data["predict"] is None) != (data["predictions"] is None):
        raise ConfigError("--predict FILE names the rows to predict, --predictions FILE where to write them: give both")
    if data["predictions"] is not None:
        check_rows_path(data["predictions"])
    if data["picture"] is not None and data["picture"].suffix != ".svg":
        raise ConfigError(f"{data['picture']}: a picture is written to a file that ends in .svg")
    check_place(training.out)
    component: Any = new_component(training.task, training.options, training.method)

    def rows(files: list[Path]) -> list[Doc]:
        return [doc for file in files for doc in read_labels(file, encoding=training.reading.encoding)]

    dev = None if training.dev is None else rows([training.dev])
    report = component.fit(rows(training.files), dev)
    if data["predict"] is not None:
        _predict(component, rows([data["predict"]]), data["predictions"])
    if data["picture"] is not None:
        data["picture"].write_text(picture(component), encoding="utf-8")
    keep(component, report, training.out, **training.card(training.files))
    if training.as_json:
        print_json(report)
        return
    _show(report)


def picture(component: Any) -> str:
    """Two tables as SVG: how much annotators agree, and how telling every feature is."""
    from weft.pictures import draw_heat, stacked

    names, share = component.values[0], component.process.covariance.shares[0]
    agree = draw_heat(names, names, share.correlations().tolist(), "Agreement", digits=2, styled=False)
    scales = component.length_scales()
    inverse = [[1 / value] for value in scales.values()]
    telling = draw_heat(list(scales), ["1 / scale"], inverse, "Features", digits=2, styled=False)
    return stacked([agree, telling], "Annotators", "correlations of opinions, and inverse length-scales")


def _predict(component: Any, docs: list[Doc], out: Path) -> None:
    """Write what is expected of every row, and what each annotator would say."""
    from weft.formats.csv.plain_rows import write_rows

    component(docs)
    names = component.values[0]
    found = []
    for doc in docs:
        said = doc.meta["quality"]
        row = {"id": doc.id, **{name: doc.meta.get(name, "") for name in component.settings.descriptors}}
        row |= {name: said[name] for name in ("expected", "low", "high", "mean")}
        found.append(row | {f"says {name}": said["annotators"][name][0] for name in names})
    columns = ["id", *component.settings.descriptors, "expected", "low", "high", "mean"]
    write_rows(found, out, [*columns, *(f"says {name}" for name in names)])


def _show(report: dict[str, Any]) -> None:
    annotators, scales = report.pop("annotators"), report.pop("length-scales")
    print_table("Trained quality", ["", ""], flat(report), figures=[1])
    rows = [
        [each["name"], str(each["labels"]), f"{each['mean']:.3f}", f"{each['own']:.3f}", f"{each['agreement']:.2f}",
         f"{each['noise']:.3f}", "outlier" if each["outlier"] else ""]
        for each in annotators
    ]  # fmt: skip
    print_table("Annotators", ["", "labels", "mean", "own", "agreement", "noise", ""], rows, figures=[1, 2, 3, 4, 5])
    shown = [[name, f"{scale:,.2f}"] for name, scale in list(scales.items())[:_SCALES]]
    print_table("Features, the most telling first", ["feature", "length-scale"], shown, figures=[1])
    if any(each["outlier"] for each in annotators):
        names = ", ".join(each["name"] for each in annotators if each["outlier"])
        console(stderr=True).print(f"Unlike the others: {names}. What they say tells little of what others say.")
