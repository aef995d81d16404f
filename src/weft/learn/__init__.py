"""Where weights come from: signals (kinds of supervision) times learners, over any structure of `weft.infer`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "cost": ("ConfusionCost", "Cost"),
    "signals": (
        "Expectations",
        "Gold",
        "Likelihood",
        "Margin",
        "Mixture",
        "Partial",
        "PartsConstraints",
        "SelfLabelled",
    ),
    "label_targets": ("LabelExpectations", "LabelTargets"),
    "objective": ("Objective", "TotalObjective"),
    "optimise": ("minimise",),
    "lbfgs": ("LBFGS",),
    "conjugate": ("ConjugateGradient", "MixedCG", "PreconditionedCG"),
    "scaling": ("IterativeScaling",),
    "perceptron": ("Perceptron",),
    "mira": ("MIRA",),
    "demands": ("BeatGold", "Pairwise", "Separate"),
    "sgd": ("SGD",),
    "adagrad": ("AdaGrad",),
    "margin": ("MaxMargin",),
    "history_margin": ("HistoryMargin",),
    "em": ("expectation_maximisation",),
    "mcmc": ("Schedule", "run_chains"),
    "adaptor_grammar": ("AdaptorGrammar", "AdaptorSettings"),
    "posterior_regularisation": ("project_posterior",),
    "simplex": ("project_simplex",),
    "self_training": ("self_train", "self_train_weights"),
    "choice": ("ChoiceModel",),
    "huber": ("fit_huber", "huber_loss"),
    "linear": ("linear_svm", "logistic_regression"),
    "selection": ("forward_selection",),
    "training": ("Checkpoint", "EarlyStopping", "Result"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    """Import a public name on its first use: compiled code stays out of programs that do not train."""
    if name not in _HOME:
        raise AttributeError(f"module 'weft.learn' has no attribute {name!r}")
    return getattr(import_module(f"weft.learn.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
