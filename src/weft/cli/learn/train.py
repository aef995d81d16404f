"""`weft train TASK FILE... --out MODEL [--method M]`: a group of tasks whose options come from their settings.

The command of a task is built on demand: its arguments `--method`, or `--system` for parsers, decide whose settings
become its options. Listing the tasks imports none of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core

from weft.cli import common
from weft.cli.common import option
from weft.cli.config import add_config_option, word_of
from weft.cli.generated import READ, annotation, described, parameter, starting, value_of
from weft.cli.learn.methods import DEFAULTS, EXAMPLES, OPTIONS, way_of
from weft.cli.learn.training import Training
from weft.errors import ConfigError
from weft.pipeline.registry import TASKS, Method, find_task, method_name
from weft.pipeline.settings import Option

#: The argument that stands in for a task to train a whole pipeline.
PIPELINE = "pipeline"
PIPELINE_HELP = "A whole pipeline, from a treebank or a configuration file."
TRANSLATION = "translation"
TRANSLATION_HELP = "A phrase-based translator, from a bitext."
_OF_SETTINGS, _OF_DATA = "set_", "data_"
MaybeModelFile = Annotated[
    Path | None,
    option("--out", "-o", metavar="MODEL", panel=common.MODEL, help="Model file to write.", show_default=False),
]
Folds = Annotated[
    int | None,
    option(
        "--folds", metavar="N", panel=common.RUNNING, min=2,
        help="Cross-validate in N folds; a model is only written if --out is given, too.",
    ),
]  # fmt: skip


class TrainGroup(typer.core.TyperGroup):
    """The tasks of the registry, `translation` and `pipeline`."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        helps = {
            **{name: task.help for name, task in TASKS.items()},
            TRANSLATION: TRANSLATION_HELP,
            PIPELINE: PIPELINE_HELP,
        }
        for name, text in helps.items():
            self.commands[name] = typer.core.TyperCommand(name=name, help=text)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command of a task with the options of the method in its arguments."""
        if args and args[0] not in (TRANSLATION, PIPELINE) and not args[0].startswith("-"):
            find_task(args[0])
        name, stand_in, rest = super().resolve_command(ctx, args)
        return name, stand_in if name is None else load_task(name, rest), rest


class TaskCommand(typer.core.TyperCommand):
    """The command of a task; for an option of another method, the error names that method."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        own = {spelling for param in self.get_params(ctx) for spelling in (*param.opts, *param.secondary_opts)}
        for word in args:
            flag = word.partition("=")[0]
            if flag.startswith("--") and len(flag) > 2 and flag not in own and self.name in TASKS:
                _check_flag(self.name, flag)
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=TrainGroup, no_args_is_help=True, add_completion=False, rich_markup_mode="rich",
    help="Train a model for a task, or a whole pipeline.",
)  # fmt: skip


@app.callback()
def _train() -> None:
    """Train a model for a task, or a whole pipeline.

    `weft train TASK --help` shows the options of the default method, `weft train TASK --method NAME --help` those of
    another one.
    """


def load_task(task: str, words: Sequence[str] = ()) -> Any:
    """The command of a task, ready to run.

    >>> {"--epochs", "--learner"} <= {flag for param in load_task("tagger").params for flag in param.opts}
    True
    """
    holder = typer.Typer(add_completion=False, rich_markup_mode="rich")
    if task in (TRANSLATION, PIPELINE):
        from weft.cli.learn import train_pipeline, translation

        chosen = translation if task == TRANSLATION else train_pipeline
        holder.command(task)(getattr(chosen, task))
        command = typer.main.get_command(holder)
        command.epilog = f"Example: {chosen.EXAMPLE}"
    else:
        method = method_name(task, *(word_of(flag, ["train", task], words) for flag in ("--method", "--system")))
        holder.command(task, cls=TaskCommand)(_function(task, method))
        command = typer.main.get_command(holder)
        plain = EXAMPLES.get(task, f"weft train {task} FILE --out {task}.weft")
        command.epilog = f"Example: {EXAMPLES.get(f'{task} {method}', plain)}"
    command.name = task
    add_config_option(command)
    return command


def _function(task: str, method: str) -> Callable[..., None]:
    """The function of a task's command; its signature combines shared options and those of the settings."""
    way, chosen = way_of(task, method), TASKS[task].methods[method]
    settings = {f"{_OF_SETTINGS}{each.name}": each for each in chosen.settings_class().options()}

    def run(**values: Any) -> None:
        if values["out"] is None and values["folds"] is None:
            raise typer.BadParameter("give the model to write, or --folds N to cross-validate", param_hint="--out")
        options = {
            each.name: value_of(each, values[name]) for name, each in settings.items() if values[name] not in (None, [])
        }
        data = {name: values[f"{_OF_DATA}{name}"] for name in way.options}
        training = Training.of(task, method, values, options, data)
        module, name = way.run.split(":")
        getattr(import_module(module), name)(training)

    return described(run, _parameters(task, method, settings), f"{TASKS[task].help}\n\n{_methods_line(task, method)}")


def _methods_line(task: str, method: str) -> str:
    """The method that the options belong to, and the others."""
    own, *others = sorted(TASKS[task].methods.items(), key=lambda item: item[0] != method)
    shown = f"Method {own[0]}: {own[1].help}."
    return shown + "".join(f"\n\n--method {name}: {other.help}." for name, other in others)


def _parameters(task: str, method: str, settings: dict[str, Option]) -> list[inspect.Parameter]:
    way = way_of(task, method)
    found: list[tuple[str, Any, Any]] = []
    if way.files:
        files = typer.Argument(metavar="FILE", help=way.files)
        kind, default = (list[Path], inspect.Parameter.empty) if way.needed else (list[Path] | None, None)
        found.append(("files", Annotated[kind, files], default))
    else:
        found.append(("files", Annotated[list[Path] | None, typer.Argument(metavar="", hidden=True)], None))
    methods = "|".join(TASKS[task].methods)
    info = option(
        "--method", metavar=methods, help="How to learn.", shown=next(iter(TASKS[task].methods)),
        autocompletion=starting(TASKS[task].methods),
    )  # fmt: skip
    found.append(("method", Annotated[str | None, info], None))
    if way.folds:
        found += [("out", MaybeModelFile, None), ("folds", Folds, None)]
    else:
        found.append(("out", common.ModelFile, inspect.Parameter.empty))
    if way.dev:
        found.append(("dev", common.DevFile, None))
    found += [(f"{_OF_DATA}{name}", OPTIONS[name], DEFAULTS.get(name)) for name in way.options]
    found += [(name, annotation(each), None) for name, each in settings.items()]
    found += [("name", common.ModelName, ""), ("corpus", common.CorpusNames, None), ("licence", common.Licence, "")]
    found += [*READ.values(), ("as_json", common.JsonFlag, False)]
    return [parameter(name, kind, default) for name, kind, default in found]


def flags_of(task: str, method: str) -> set[str]:
    """The options that belong to a method: those of its settings and its data."""
    chosen: Method = TASKS[task].methods[method]
    found = {each.flag for each in chosen.settings_class().options()}
    return found | {f"--{name.replace('_', '-')}" for name in way_of(task, method).options}


def _check_flag(task: str, flag: str) -> None:
    """Raise an error for an option that only other methods of the task have."""
    users = [name for name in TASKS[task].methods if flag in flags_of(task, name)]
    if users:
        raise ConfigError(f"{flag} is an option of --method {' or '.join(users)}")
