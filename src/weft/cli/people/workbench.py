"""`weft label new|open|people|status|export|backup|restore`: projects that people label in a browser."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.common import (
    DATA,
    RUNNING,
    SETTINGS,
    JsonFlag,
    counted,
    option,
    print_json,
    print_table,
    short_path,
)  # fmt: skip
from weft.cli.inputs import Reading, ToFormat, report_bad
from weft.errors import ConfigError

if TYPE_CHECKING:
    from weft.text import Doc
    from weft.workbench.project import Project

EXAMPLES = {
    "new": "weft label new names/ examples/port.txt --task entities --labels PER,ORG,LOC",
    "open": "weft label open names/",
    "people": "weft label people names/ --join ada --role adjudicator",
    "status": "weft label status names/",
    "export": "weft label export names/ --out names.conll",
    "backup": "weft label backup names/ --out names.tar.gz",
    "restore": "weft label restore names.tar.gz names-again/",
}
Folder = Annotated[Path, typer.Argument(metavar="PROJECT", help="Folder of the project.")]
Kind = Annotated[
    str,
    option("--task", metavar="spans|tags|trees|relations|questions|labels", panel=SETTINGS, help="What people say."),
]
Labels = Annotated[
    str,
    option("--labels", metavar="A,B,...", panel=SETTINGS, help="Labels to choose from.", shown="those of the files"),
]
Relations = Annotated[str, option("--relations", metavar="A,B,...", panel=SETTINGS, help="Labels of relations.")]
Layer = Annotated[str, option("--layer", panel=SETTINGS, help="Span layer or column to write.", shown="by the task")]
Several = Annotated[bool, option("--several", panel=SETTINGS, help="A text may have more than one label, or none.")]
Model = Annotated[
    str, option("--model", "-m", metavar="MODEL", panel=SETTINGS, help="Model to propose until one is trained.")
]
PerItem = Annotated[int, option("--per-item", panel=SETTINGS, min=1, help="People who answer each item.")]
Every = Annotated[int, option("--retrain", panel=SETTINGS, min=0, help="Answers between trainings; 0 never trains.")]
Held = Annotated[
    float, option("--held-out", panel=SETTINGS, min=0.0, max=0.9, help="Share of the items that models are scored on.")
]
Unsure = Annotated[
    bool, option("--unsure-first", panel=SETTINGS, help="Show first what the trained model is least sure of.")
]
Unit = Annotated[
    str, option("--unit", metavar="sentence|document", panel=DATA, help="What an item is.", shown="by the task")
]
Guidelines = Annotated[
    Path | None, option("--guidelines", metavar="FILE", panel=DATA, help="Text that is shown beside the items.")
]
Plan = Annotated[
    Path | None,
    option("--plan", metavar="FILE", panel=DATA, help="List of work for these files, by `weft label plan`."),
]
Answered = Annotated[
    Path | None, option("--journal", "-j", metavar="FILE", panel=DATA, help="Answers of `weft label review` to keep.")
]
Top = Annotated[int, option("--top", panel=SETTINGS, min=1, help="Best labellings per model that suggest spans.")]


def new(
    folder: Folder,
    texts: Annotated[list[Path], typer.Argument(metavar="TEXT...", help="Texts to label, in any format.")],
    kind: Kind = "spans",
    labels: Labels = "",
    relations: Relations = "",
    layer: Layer = "",
    several: Several = False,
    model: Model = "",
    per_item: PerItem = 1,
    retrain: Every = 25,
    held_out: Held = 0.2,
    unsure_first: Unsure = False,
    unit: Unit = "",
    guidelines: Guidelines = None,
    plan: Plan = None,
    journal: Answered = None,
    top: Top = 2,
    reading: Reading = Reading(),
) -> None:
    """Make a project of texts that people label in a browser."""
    from weft.text.split import with_words
    from weft.workbench import project
    from weft.workbench.answers import check_kind

    kind = check_kind(kind)
    layer = project.default_layer(kind, layer)
    inputs = reading.open(texts)
    docs = with_words(inputs.docs)
    report_bad(inputs)
    chosen = project.split_labels(labels) or _labels_of(docs, kind, layer)
    settings = project.Settings(
        kind,
        chosen,
        project.split_labels(relations),
        layer,
        several,
        per_item,
        _place(model, kind),
        retrain,
        held_out,
        "unsure" if unsure_first else "given",
    )
    told = guidelines.read_text(encoding="utf-8", errors="replace") if guidelines is not None else ""
    with _created(folder, settings, told, lambda made: _fill(made, docs, unit, plan, journal, model, top)) as made:
        typer.echo(f"{counted(made.store.counts()['items'], 'item')} in {short_path(folder)}", err=True)
        typer.echo(f"open it with: weft label open {short_path(folder)}", err=True)


def _created(folder: Path, settings: Any, guidelines: str, fill: Any) -> Project:
    """A new project with its items; nothing of it stays if they cannot be added."""
    import shutil

    from weft.workbench.project import DATABASE, GUIDELINES, SETTINGS, create

    existed = folder.exists()
    made = create(folder, settings, guidelines)
    try:
        fill(made)
    except BaseException:
        made.close()
        if existed:
            for name in (SETTINGS, GUIDELINES, DATABASE):
                (folder / name).unlink(missing_ok=True)
        else:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    return made


def _fill(
    made: Project, docs: list[Doc], unit: str, plan: Path | None, journal: Path | None, model: str, top: int
) -> None:
    from weft.cli.people.review import proposals
    from weft.workbench import items

    if (plan is not None or journal is not None) and made.settings.task != ("tags" if plan else "questions"):
        raise ConfigError("--plan is for --task tags, --journal for --task questions")
    if plan is not None:
        items.add_plan(made, docs, plan)
    elif made.settings.task == "questions":
        asked = proposals(docs, [Path(model)] if model else [], top, made.settings.layer)
        _, kept = items.add_questions(made, docs, asked, journal)
        if journal is not None:
            typer.echo(f"{counted(kept, 'answer')} of {short_path(journal)} kept", err=True)
    else:
        items.add_texts(made, docs, unit)


def _labels_of(docs: Sequence[Doc], kind: str, layer: str) -> list[str]:
    """The labels that the files have already."""
    from weft.workbench.layers import labels_of

    found: set[str] = set()
    for doc in docs:
        if kind in ("spans", "relations") and layer in doc.spans:
            found |= {label for _, label in doc.spans[layer]}
        elif kind in ("tags", "trees") and doc.has(layer):
            found |= set(doc.column(layer))
        elif kind == "labels":
            found |= set(labels_of(doc, layer))
    return sorted(found - {""})


def _place(model: str, kind: str) -> str:
    """The model of the settings, by a path that holds wherever the workbench is opened from."""
    return str(Path(model).resolve()) if model and Path(model).is_file() and kind != "questions" else model


def open_project(
    folder: Folder,
    host: Annotated[str, option("--host", help="Address to listen on.")] = "127.0.0.1",
    allow_host: Annotated[
        list[str] | None,
        option("--allow-host", metavar="NAME", help="Host name to answer for, beside the address; repeat."),
    ] = None,
    port: Annotated[int, option("--port", min=0, max=65535, help="Port to listen on; 0 takes any free one.")] = 8000,
    tokens: Annotated[bool, option("--tokens", help="Ask for tokens on this machine, too.")] = False,
) -> None:
    """Open a project in the browser, on this machine only unless --host says otherwise."""
    from weft.cli.apply.serve import is_local

    try:
        from weft.serve.hosts import Hosts
        from weft.serve.server import address, bind, serve_app
        from weft.workbench.app import create_app
        from weft.workbench.service import Workbench
    except ModuleNotFoundError as error:
        raise ConfigError(f"the workbench needs {error.name}; install the extra: pip install 'weft[serve]'") from None
    from weft.workbench.project import Project

    with Project(folder) as project:
        needs_tokens = tokens or bool(allow_host) or not is_local(host)
        if needs_tokens and not any(person.active for person in project.store.people()):
            hint = f"weft label people {folder} --join NAME"
            raise ConfigError(f"nobody could enter: add people first, each gets a token: {hint}")
        listening = bind(host, port)
        bench = Workbench(project, needs_tokens)
        bench.start()
        if not is_local(host):
            typer.echo("weft: texts and answers travel unencrypted; put a web server with TLS in front", err=True)
        typer.echo(f"{project.name} is at {address(listening)} (Ctrl-C ends it)", err=True)
        try:
            serve_app(create_app(bench, Hosts(listening.getsockname()[0], [host, *(allow_host or [])])), listening)
        finally:
            bench.close()


def people(
    folder: Folder,
    join: Annotated[str, option("--join", metavar="NAME", help="Add a person, or make a new token for one.")] = "",
    role: Annotated[
        str, option("--role", metavar="annotator|adjudicator", help="What the person may do.")
    ] = "annotator",
    leave: Annotated[str, option("--leave", metavar="NAME", help="Remove a person; the answers stay.")] = "",
    as_json: JsonFlag = False,
) -> None:
    """List, add and remove the people of a project."""
    from weft.workbench.project import Project

    with Project(folder) as project:
        token = project.store.add_person(join, role) if join else ""
        if leave:
            project.store.remove_person(leave)
        rows = [(each.name, each.role if each.active else "removed") for each in project.store.people()]
        if as_json:
            listed = [{"name": name, "role": now} for name, now in rows]
            print_json({"people": listed, **({"token": token} if token else {})})
            return
        print_table("People", ["name", "role"], rows)
        if token:
            print(f"the token of {join}: {token}")
            print(f"or a link, which enters at once: http://127.0.0.1:8000/#token={token}")


def status(folder: Folder, as_json: JsonFlag = False) -> None:
    """Tell how far a project is, how far people agree, and whether the model gets better."""
    from weft.workbench.progress import progress
    from weft.workbench.project import Project

    with Project(folder) as project:
        told = progress(project)
        if as_json:
            print_json(told)
            return
        agreed = told["agreement"]
        figures = [
            ("items", told["items"]), ("answers", f"{told['answers']:,} of {told['wanted']:,}"),
            ("hours left", told["hours left"]), ("in dispute", told["disputed"]), ("kappa", agreed["kappa"]),
            ("alpha", agreed["alpha"]), ("F1 between people", agreed["f1"]),
        ]  # fmt: skip
        print_table(project.name, ["", ""], [(name, "-" if x is None else f"{x}") for name, x in figures], figures=[1])
        rows = [
            (each["name"], each["role"], each["answers"], each["seconds per item"] or "-") for each in told["people"]
        ]
        print_table("People", ["name", "role", "answers", "seconds per item"], rows, figures=[2, 3])
        rounds = [
            (each["number"], each.get("trained on", "-"), each.get("score") or "-", each["outcome"])
            for each in told["rounds"]
        ]
        if rounds:
            print_table("Models", ["round", "items", "F1", "compared"], rounds, figures=[0, 1, 2])


def export(
    folder: Folder,
    out: Annotated[Path | None, option("--out", "-o", metavar="FILE", help="File for the labelled texts.")] = None,
    person: Annotated[
        str, option("--person", metavar="NAME", help="Answers of one person, not those that count.")
    ] = "",
    everything: Annotated[bool, option("--everything", help="Write sentences without answers, too.")] = False,
    history: Annotated[
        Path | None, option("--history", metavar="FILE", help="File for all answers ever given, as JSON Lines.")
    ] = None,
    times: Annotated[
        Path | None, option("--times", metavar="FILE", help="Table of recorded times: words, confidence, seconds.")
    ] = None,
    model: Annotated[
        Path | None, option("--model-out", metavar="MODEL", help="File for a copy of the trained model.")
    ] = None,
    to_format: ToFormat = None,
) -> None:
    """Write what was labelled, in any format; and the history, the times, the trained model."""
    from weft.workbench import export as leaving
    from weft.workbench.project import Project, history_line

    if not any((out, history, times, model)):
        raise ConfigError("say what to write: --out, --history, --times or --model-out")
    with Project(folder) as project:
        if out is not None:
            from weft.formats import write

            written = write(leaving.labelled(project, person, everything), out, to_format)
            typer.echo(f"{counted(written, 'document')} in {short_path(out)}", err=True)
        if history is not None:
            names = project.store.names()
            history.write_text("".join(history_line(row, names) for row in project.store.history()), encoding="utf-8")
        if times is not None:
            typer.echo(f"{counted(leaving.write_times(project, times), 'time')} in {short_path(times)}", err=True)
        if model is not None:
            leaving.copy_model(project, model)


def backup(
    folder: Folder,
    out: Annotated[Path, option("--out", "-o", metavar="FILE", panel=RUNNING, help="File to write, a .tar.gz.")],
) -> None:
    """Copy a project into one file, also while it is open."""
    from weft.workbench import export as leaving
    from weft.workbench.project import Project

    with Project(folder) as project:
        leaving.backup(project, out)
        typer.echo(f"{counted(project.store.last(), 'row')} of history in {short_path(out)}", err=True)


def restore(
    source: Annotated[Path, typer.Argument(metavar="BACKUP", help="File that `weft label backup` wrote.")],
    folder: Annotated[Path, typer.Argument(metavar="PROJECT", help="Folder to restore it in, new or empty.")],
) -> None:
    """Make a project from its backup."""
    from weft.workbench import export as leaving

    with leaving.restore(source, folder) as project:
        typer.echo(f"{counted(project.store.counts()['items'], 'item')} in {short_path(folder)}", err=True)
