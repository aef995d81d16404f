"""Learning weights: any signal (kind of supervision) with any learner, over any structure of `weft.infer`."""

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
    "chains.label_targets": ("LabelExpectations", "LabelTargets"),
    "batch.objective": ("Objective", "TotalObjective"),
    "batch.optimize": ("minimize",),
    "batch.lbfgs": ("LBFGS",),
    "batch.conjugate": ("ConjugateGradient", "MixedCG", "PreconditionedCG"),
    "batch.scaling": ("IterativeScaling",),
    "online.perceptron": ("Perceptron",),
    "online.mira": ("MIRA",),
    "online.demands": ("BeatGold", "Pairwise", "Separate"),
    "online.sgd": ("SGD",),
    "online.adagrad": ("AdaGrad",),
    "online.margin": ("MaxMargin",),
    "online.history_margin": ("HistoryMargin",),
    "generative.em": ("expectation_maximization",),
    "adaptor.mcmc": ("Schedule", "run_chains"),
    "adaptor.grammar": ("AdaptorGrammar", "AdaptorSettings"),
    "generative.posterior_regularization": ("project_posterior",),
    "batch.simplex": ("project_simplex",),
    "self_training": ("self_train", "self_train_weights"),
    "linear.choice": ("ChoiceModel",),
    "linear.huber": ("fit_huber", "huber_loss"),
    "linear.classifiers": ("linear_svm", "logistic_regression"),
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
