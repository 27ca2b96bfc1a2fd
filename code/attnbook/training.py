"""Training: one loop for every model of the book, and what it has seen as plain data.

    set_seed(0)
    model = ...
    history = fit(model, batches, epochs=3, learning_rate=4e-3, validation=held_out)

On one machine the same seeds give the same weights, bit by bit.
"""

from __future__ import annotations

import copy
import math
import random
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ._checks import check_count, check_floating, check_ids, check_positive, shape
from ._tree import map_tensors
from .masks import length_mask
from .normalize import _wide

IGNORED = -100  # the target that `F.cross_entropy` passes over


class Event(NamedTuple):
    """What a callback is told, after each step (`kind` "step") and each epoch ("epoch").

    `step` and `epoch` count from 1. `loss` is per valid token, of the batch or of the epoch.
    `validation` is the held-out loss, None after a step and where there is none.
    """

    kind: str
    model: nn.Module
    step: int
    epoch: int
    loss: float
    learning_rate: float
    validation: float | None = None


@dataclass
class History:
    """What a training has seen.

    `steps`: {"step", "epoch", "loss", "learning_rate"} of each; `epochs`: {"epoch", "step",
    "loss", "validation"}, where losses are per valid token in nats and "validation" may be None.
    `best`: the row of `epochs` with the least held-out loss. `stopped`: "epochs", "patience" or
    "callback". `seconds` of each epoch, validation included: the one thing that differs from run
    to run, and left out of comparison.
    """

    steps: list[dict] = field(default_factory=list)
    epochs: list[dict] = field(default_factory=list)
    stopped: str = "epochs"
    seconds: list[float] = field(default_factory=list, compare=False)

    @property
    def best(self) -> dict | None:
        """The epoch with the least held-out loss, the first of equals; None without any."""
        judged = [row for row in self.epochs if row["validation"] is not None]
        return min(judged, key=lambda row: row["validation"], default=None)


def set_seed(seed: int) -> None:
    """Seed the generators of Python, NumPy and torch, on every device."""
    random.seed(check_count("seed", seed))
    numpy.random.seed(seed % 2**32)  # noqa: NPY002 - what other libraries draw from
    torch.manual_seed(seed)


def masked_cross_entropy(
    logits: Tensor, targets: Tensor, lengths: Tensor, *, label_smoothing: float = 0.0
) -> Tensor:
    """Mean cross-entropy per valid token, in nats; 0 if there is none.

    Args:
        logits: (b, q, vocabulary).
        targets: ids (b, q), of any integer type; -100 is no target and is left out, of the sum and
            of the mean, as `F.cross_entropy` does.
        lengths: valid tokens of each row, (b,). What stands beyond, NaN among the logits and ids
            outside the vocabulary included, reaches neither the loss nor a gradient.
        label_smoothing: share of the target's probability that is spread over the vocabulary.

    Returns:
        The loss, in single precision or better, as half precision cannot hold the sum.

    Raises:
        TypeError: logits are not floating point, or targets no integers.
        ValueError: shapes do not fit, or a target is outside the vocabulary.

    Source: label smoothing, Szegedy et al. 2016, section 7.
    """
    check_floating("logits", logits)
    if logits.dim() != 3 or logits.shape[:2] != targets.shape:
        raise ValueError(
            "logits must be (b, q, vocabulary) and targets (b, q), "
            f"got {shape(logits)} and {shape(targets)}"
        )
    if tuple(lengths.shape) != tuple(targets.shape[:1]):
        raise ValueError(
            f"lengths must be ({len(targets)},), one for each row, got {shape(lengths)}"
        )
    if targets.is_floating_point() or targets.dtype == torch.bool:
        raise TypeError(f"targets must be ids, of an integer type, got {targets.dtype}")
    targets, valid = targets.long(), _counted(targets, lengths)  # (b, q)
    targets = targets.masked_fill(~valid, IGNORED)
    # NaN times the 0 of a target that is left out would be NaN, in the gradient
    logits = _wide(torch.where(valid.unsqueeze(-1), logits, 0.0))
    try:
        total = F.cross_entropy(
            logits.flatten(0, 1),
            targets.flatten(),
            ignore_index=IGNORED,
            label_smoothing=label_smoothing,
            reduction="sum",
        )
    except IndexError:
        check_ids("targets", targets.masked_fill(~valid, 0), logits.shape[-1])
        raise
    return total / valid.sum().clamp(min=1)


def _counted(targets: Tensor, lengths: Tensor) -> Tensor:
    """Which targets the loss is the mean over, (b, q)."""
    inside = length_mask(lengths.to(targets.device), targets.shape[1]).squeeze(1)
    return inside & (targets.long() != IGNORED)


def translation_loss(
    model: nn.Module, batch, *, label_smoothing: float = 0.0
) -> tuple[Tensor, int]:
    """Teacher-forced loss of a batch: mean per valid target token, and how many there are.

    `batch` has `source`, `source_lens`, `inputs`, `targets` and `target_lens`.
    """
    logits = model(batch.source, batch.source_lens, batch.inputs).logits
    loss = masked_cross_entropy(
        logits, batch.targets, batch.target_lens, label_smoothing=label_smoothing
    )
    return loss, int(_counted(batch.targets, batch.target_lens).sum())


def one_cycle(step: int, total: int, *, warmup: float = 0.1) -> float:
    """The learning rate's share of its peak at `step`, counted from 0, of `total` steps.

    Half a cosine up from 1/25 in the first share `warmup` of the steps, half a cosine down to
    1/250,000 in the rest.

    Source: Smith and Topin 2018; the constants are those of `torch.optim.lr_scheduler.OneCycleLR`.
    """
    top = max(0.0, warmup * total - 1)  # where the peak is, between steps as it may be
    rising = step < top
    first, last = (1 / 25, 1.0) if rising else (1.0, 4e-6)
    done = step / top if rising else (step - top) / max(total - 1 - top, 1e-9)
    return last + (first - last) * (1 + math.cos(math.pi * done)) / 2


def fit(
    model: nn.Module,
    batches: Iterable,
    *,
    epochs: int,
    learning_rate: float,
    loss: Callable[[nn.Module, object], tuple[Tensor, int]] = translation_loss,
    validation: Iterable | None = None,
    clip: float | None = 1.0,
    schedule: str | Callable[[int, int], float] | None = "one_cycle",
    optimizer: Callable = torch.optim.Adam,
    patience: int | None = None,
    seed: int = 0,
    device: torch.device | str | None = None,
    callbacks: Iterable[Callable[[Event], bool | None]] = (),
    progress: bool | Callable = True,
) -> History:
    """Train `model` in place, and leave it in evaluation mode.

    Args:
        model: any module that `loss` can call.
        batches: with a length, and iterated anew each epoch: a list, `data.length_batches`. Each
            batch is nested tuples, lists or dictionaries of tensors.
        epochs: times through the batches.
        learning_rate: the peak, where a schedule varies it.
        loss: callable (model, batch) -> (mean loss, number of items that the mean is over).
        validation: held-out batches; their loss is taken after each epoch, without dropout.
        clip: largest norm of all gradients together, or None.
        schedule: "one_cycle", a callable (step from 0, steps in all) -> share of `learning_rate`,
            or None: the rate is the optimizer's, constant unless a hook of it changes it.
        optimizer: callable (parameters, lr=...) -> optimizer, ``partial(Adam, betas=(.9, .98))``.
        patience: stop after so many epochs without a lower held-out loss, and go back to the
            weights of the best; needs `validation`. None trains all epochs and keeps the last.
        seed: of dropout, or whatever else draws random numbers while training. The generators of
            torch are put back afterwards. The weights the model comes with are the caller's:
            `set_seed` before making it.
        device: where to train, the model is moved there; None: where it is.
        callbacks: each is called with an `Event`; a true answer ends the training.
        progress: show a bar on a terminal and below the cell of a notebook, gone when it is done,
            so that saved outputs stay clean. A callable, such as `tqdm.tqdm`, makes another bar
            from ``total=`` and ``leave=``.

    Raises:
        ValueError: an argument is out of its range, or there are no batches.
        FloatingPointError: the loss is NaN or infinite.
    """
    check_count("epochs", epochs, least=1)
    check_positive("learning_rate", learning_rate)
    if clip is not None:
        check_positive("clip", clip)
    if patience is not None:
        check_count("patience", patience, least=1)
        if validation is None:
            raise ValueError("patience needs validation: there is no held-out loss to watch")
    share, total = _schedule(schedule), epochs * _count("batches", batches)
    if device is not None:
        model.to(device)
    place = _device(model)
    optimizer = optimizer(model.parameters(), lr=learning_rate)
    peaks = [group["lr"] for group in optimizer.param_groups]
    history, best, waited, step, callbacks = History(), None, 0, 0, tuple(callbacks)
    with _seeded(seed, place), _bar(progress, total) as bar:
        for epoch in range(1, epochs + 1):
            begin, summed, items = time.perf_counter(), 0.0, 0
            for batch in batches:
                if share is not None:
                    for group, peak in zip(optimizer.param_groups, peaks, strict=True):
                        group["lr"] = peak * share(step, total)
                step += 1
                rate = optimizer.param_groups[0]["lr"]
                value, count = _update(model, _move(batch, place), loss, optimizer, clip)
                summed, items = summed + value * count, items + count
                history.steps.append(
                    {"step": step, "epoch": epoch, "loss": value, "learning_rate": rate}
                )
                bar.update()
                if _tell(callbacks, Event("step", model, step, epoch, value, rate)):
                    history.stopped = "callback"
                    break
            value = summed / max(items, 1)
            held_out = None if validation is None else mean_loss(model, validation, loss=loss)
            history.epochs.append(
                {"epoch": epoch, "step": step, "loss": value, "validation": held_out}
            )
            history.seconds.append(time.perf_counter() - begin)
            event = Event("epoch", model, step, epoch, value, rate, held_out)
            if _tell(callbacks, event):
                history.stopped = "callback"
            if patience is not None:
                waited += 1
                if history.best["epoch"] == epoch:
                    best, waited = copy.deepcopy(model.state_dict()), 0
                elif waited == patience and history.stopped == "epochs":
                    history.stopped = "patience"
            if history.stopped != "epochs":
                break
    if best is not None:
        model.load_state_dict(best)
    model.eval()
    return history


@torch.no_grad()
def mean_loss(model: nn.Module, batches: Iterable, *, loss: Callable = translation_loss) -> float:
    """Loss per valid token over all batches, without dropout; the model keeps its mode."""
    was_training, place, summed, items = model.training, _device(model), 0.0, 0
    model.eval()
    try:
        for batch in batches:
            value, count = loss(model, _move(batch, place))
            summed, items = summed + float(value) * count, items + count
    finally:
        model.train(was_training)
    if not items:
        raise ValueError("batches must hold at least one valid token, got none")
    return summed / items


def _update(model, batch, loss, optimizer, clip: float | None) -> tuple[float, int]:
    """One step of the optimiser: the batch's loss before it, and its number of items."""
    if not model.training:  # a callback may have looked at it in evaluation mode
        model.train()
    mean, count = loss(model, batch)
    value = mean.item()
    if not math.isfinite(value):
        raise FloatingPointError(
            f"the loss is {value}: a lower learning_rate or clip may keep it finite"
        )
    optimizer.zero_grad()
    mean.backward()
    if clip is not None:
        nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.step()
    return value, count


def _tell(callbacks, event: Event) -> bool:
    """Call every callback, and say whether any wants to stop."""
    return any([bool(callback(event)) for callback in callbacks])


def _schedule(schedule) -> Callable[[int, int], float] | None:
    if schedule is None or callable(schedule):
        return schedule
    if schedule != "one_cycle":
        raise ValueError(f"schedule must be 'one_cycle', a callable or None, got {schedule!r}")
    return one_cycle


def _count(name: str, batches) -> int:
    try:
        n = len(batches)
    except TypeError:
        raise TypeError(
            f"{name} must have a length and be iterable again each epoch, as a list is; "
            f"got {type(batches).__name__}"
        ) from None
    if n == 0:
        raise ValueError(f"{name} must hold at least one batch, got none")
    return n


def _device(model: nn.Module) -> torch.device:
    return next((p.device for p in model.parameters()), torch.device("cpu"))


def _move(batch, device: torch.device):
    return map_tensors(lambda tensor: tensor.to(device), batch)


@contextmanager
def _seeded(seed: int, device: torch.device):
    """Draw from `seed` inside, and go on outside as if nothing had been drawn."""
    with torch.random.fork_rng([device] if device.type == "cuda" else []):  # and the CPU's
        torch.manual_seed(check_count("seed", seed))
        yield


def _bar(progress: bool | Callable, total: int):
    from ._progress import progress_bar

    return progress_bar(total, progress, terminal=sys.stderr)
