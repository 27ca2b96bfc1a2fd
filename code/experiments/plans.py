"""What a plan is: all of one translator and its training, in one row of named values."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from functools import partial

import torch
from torch import nn

from attnbook.training import translation_loss

TRAINING = {
    "split": "random",  # of the corpus, where it has several
    "epochs": 10,
    "learning_rate": 4e-3,
    "dropout": 0.0,
    "label_smoothing": 0.0,
    "betas": (0.9, 0.999),  # of Adam
    "batch_size": 64,
    "size": None,  # how many of the training pairs, None: all
    "schedule": "one_cycle",
    "keep": "",  # the name under which seed 0 is stored, "" if it is not
}


def plan_of(make: Callable[..., nn.Module], **defaults) -> type:
    """The class of the plans for one kind of model, a named tuple.

    Args:
        make: the model, from the sizes of two vocabularies, `dropout`, and arguments of its own.
        defaults: the values of its own arguments, and those of `TRAINING` that are others here;
            the fields of a plan are in this order.
    """
    own = ["dropout", *(name for name in defaults if name not in TRAINING)]
    fields = {**defaults, **TRAINING, **defaults}

    class Plan(namedtuple("Plan", fields, defaults=fields.values())):
        __slots__ = ()

        def model(self, source_size: int, target_size: int) -> nn.Module:
            """An untrained one for vocabularies of these sizes."""
            return make(source_size, target_size, **{name: getattr(self, name) for name in own})

        def options(self) -> dict:
            """What `fit` is told."""
            return {
                "epochs": self.epochs,
                "learning_rate": self.learning_rate,
                "loss": partial(translation_loss, label_smoothing=self.label_smoothing),
                "optimizer": partial(torch.optim.Adam, betas=self.betas),
                "schedule": self.schedule,
            }

    return Plan
