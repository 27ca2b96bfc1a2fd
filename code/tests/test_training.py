"""Training: the loss against a loop, the loop's promises one by one, and that it learns."""

import io
import json
import math
import sys
from dataclasses import asdict
from functools import partial
from unittest import mock

import pytest
import torch
from attnbook_testing.refusals import refuses
from attnbook_testing.translation import VOCAB, reversal
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import attnbook as ab
from attnbook.training import one_cycle


def translator(seed=0, **options):
    ab.set_seed(seed)
    options = {"attention": "after", "score": "dot", "hidden_size": 8, "embed_size": 6} | options
    return ab.recurrent_translator(VOCAB, VOCAB, **options)


BATCHES = [reversal(8, 4, seed) for seed in range(4)]
HELD_OUT = [reversal(8, 4, seed) for seed in (90, 91)]


def fit(model=None, batches=BATCHES, **options):
    model = translator() if model is None else model
    return model, ab.fit(model, batches, **{"epochs": 2, "learning_rate": 1e-2} | options)


def weights(model):
    return [p.detach().clone() for p in model.parameters()]


def same(one, two):
    return all(torch.equal(a, b) for a, b in zip(one, two, strict=True))


# the loss


@given(st.integers(1, 4), st.integers(1, 5), st.sampled_from([0.0, 0.1]), st.integers(0, 999))
def test_the_loss_is_the_mean_over_valid_tokens(b, q, smoothing, seed):
    random = torch.Generator().manual_seed(seed)
    logits = torch.randn(b, q, 5, generator=random, dtype=torch.float64, requires_grad=True)
    targets = torch.randint(0, 5, (b, q), generator=random)
    lengths = torch.randint(0, q + 1, (b,), generator=random)
    total = count = 0
    for i in range(b):
        for t in range(lengths[i]):
            p = logits[i, t].log_softmax(-1)
            total = total - (1 - smoothing) * p[targets[i, t]] - smoothing * p.mean()
            count += 1
    for j in range(b):
        targets[j, lengths[j] :] = 10**9 * (-1) ** j  # whatever stands at padding
    dirty = logits.detach().clone()
    for j in range(b):
        dirty[j, lengths[j] :] = math.nan
    for given_, kind in ((logits, torch.int64), (dirty.requires_grad_(), torch.int32)):
        options = {"label_smoothing": smoothing}
        got = ab.masked_cross_entropy(given_, targets.to(kind), lengths, **options)
        torch.testing.assert_close(got, torch.as_tensor(total / max(count, 1), dtype=torch.float64))
        (grad,) = torch.autograd.grad(got, given_)
        assert grad.isfinite().all() and not any(grad[i, lengths[i] :].any() for i in range(b))


def test_a_target_of_minus_100_is_left_out_of_the_mean_and_of_the_count():
    batch, model = reversal(8, 4, 0), translator()
    targets = batch.targets.clone()
    targets[::2, 1] = -100  # within the lengths
    loss, count = ab.translation_loss(model, batch._replace(targets=targets))
    logits = model(batch.source, batch.source_lens, batch.inputs).logits
    inside = ab.length_mask(batch.target_lens, targets.shape[1]).squeeze(1)
    wanted = nn.functional.cross_entropy(logits[inside], targets[inside])  # torch's own rule
    torch.testing.assert_close(loss, wanted)
    assert count == (inside & (targets != -100)).sum()
    nothing = ab.masked_cross_entropy(logits, torch.full_like(targets, -100), batch.target_lens)
    assert nothing == 0


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_the_loss_of_half_precision_is_summed_in_single(dtype):
    logits = torch.randn(40, 300, 9, generator=torch.Generator().manual_seed(0)).to(dtype) * 9
    targets = torch.zeros(40, 300, dtype=torch.uint8)
    lengths = torch.full((40,), 300)
    loss = ab.masked_cross_entropy(logits, targets, lengths)  # the sum is above 65,504
    wanted = nn.functional.cross_entropy(logits.double().flatten(0, 1), targets.long().flatten())
    torch.testing.assert_close(loss, wanted.float())


def test_a_target_that_is_no_id_is_named():
    logits, lengths = torch.zeros(2, 3, 5), torch.tensor([3, 1])
    for worst in (5, 99, -1):
        targets = torch.tensor([[0, worst, 4], [1, 1000, -1000]])
        said = f"targets must hold ids from 0 to 4, got {worst}: outside a vocabulary of 5"
        refuses(ValueError, said, ab.masked_cross_entropy, logits, targets, lengths)
    for dtype in (torch.float32, torch.bool):
        targets = torch.zeros(2, 3).to(dtype)
        said = f"targets must be ids, of an integer type, got {dtype}"
        refuses(TypeError, said, ab.masked_cross_entropy, logits, targets, lengths)


def test_the_loss_of_a_batch_and_the_mean_of_batches_count_by_valid_tokens():
    """Batches of unlike sizes, with steps next to nothing, so that the model stands still."""
    batches, total, tokens = [reversal(2, 2, 0), reversal(16, 6, 1)], 0.0, 0
    model, history = fit(batches=batches, epochs=1, learning_rate=1e-12, validation=HELD_OUT)
    for batch in batches:
        loss, count = ab.translation_loss(model, batch)
        logits = model(batch.source, batch.source_lens, batch.inputs).logits
        kept = ab.length_mask(batch.target_lens, batch.targets.shape[1]).squeeze(1)
        own = nn.functional.cross_entropy(logits[kept], batch.targets[kept])
        torch.testing.assert_close(loss, own)
        assert count == kept.sum()
        total, tokens = total + own.item() * count, tokens + count
    assert history.epochs[0]["loss"] == pytest.approx(total / tokens, rel=1e-5)
    assert ab.mean_loss(model, batches) == pytest.approx(total / tokens, rel=1e-5)
    assert history.epochs[0]["validation"] == pytest.approx(ab.mean_loss(model, HELD_OUT))


# it learns


def test_it_learns_to_reverse_and_an_untrained_model_cannot():
    held_out, model = reversal(64, 4, 999), translator(hidden_size=48, embed_size=16)

    def accuracy():
        found = ab.greedy(model, held_out.source, held_out.source_lens, max_len=5)
        tokens = nn.functional.pad(found.tokens, (0, 5 - found.tokens.shape[1]))
        return (tokens == held_out.targets).all(1).double().mean().item()

    assert accuracy() < 0.1
    batches = [reversal(64, 4, seed) for seed in range(40)]
    ab.fit(model, batches, epochs=4, learning_rate=2e-2)
    assert accuracy() > 0.9


def test_anything_that_a_loss_can_call_is_trained_on_nested_batches():
    """A classifier on dictionaries: does a row's sum exceed 0?"""
    random = torch.Generator().manual_seed(0)
    batches = [{"x": [torch.randn(32, 5, generator=random)]} for _ in range(20)]

    def loss(model, batch):
        (x,) = batch["x"]
        return nn.functional.cross_entropy(model(x), (x.sum(1) > 0).long()), len(x)

    ab.set_seed(0)
    model = nn.Linear(5, 2)
    history = ab.fit(model, batches, epochs=5, learning_rate=0.1, loss=loss, device="cpu")
    assert history.epochs[-1]["loss"] < 0.2 < history.epochs[0]["loss"]


def test_batches_go_to_the_models_device():
    """The meta device computes shapes only: the loop gets as far as reading the loss."""
    model, seen = nn.Linear(5, 2).to("meta"), []

    def loss(model, batch):
        seen.append([x.device.type for x in (batch[0], batch[1]["y"])])
        return model(batch[0]).sum(), 1

    with pytest.raises(RuntimeError):
        fit(model, [(torch.zeros(3, 5), {"y": torch.zeros(3)})], loss=loss)
    assert seen == [["meta", "meta"]]


# chance


def test_the_same_seed_gives_the_same_weights_bit_by_bit_and_the_generators_are_put_back():
    runs = []
    for seed in (3, 3, 4):
        model = translator(dropout=0.2)
        torch.manual_seed(5)
        runs.append(fit(model, seed=seed))
        drawn = torch.rand(3)
        torch.manual_seed(5)
        assert torch.equal(drawn, torch.rand(3))
    (one, first), (two, second), (three, third) = runs
    assert same(weights(one), weights(two)) and first == second
    assert not same(weights(one), weights(three)) and first != third
    second.seconds[0] += 1  # the one thing that differs from run to run
    assert first == second


def test_set_seed_seeds_every_generator():
    import random

    import numpy

    def draw():
        ab.set_seed(7)
        return random.random(), numpy.random.rand(), torch.rand(()).item()  # noqa: NPY002

    assert draw() == draw()


# schedule, steps, clipping


@settings(max_examples=10)
@given(st.integers(20, 300))
def test_one_cycle_is_torchs_and_stays_in_range_however_few_the_steps(total):
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(()))], lr=1.0)
    peer = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, 1.0, total_steps=total, pct_start=0.1, cycle_momentum=False
    )
    for step in range(total):
        assert one_cycle(step, total) == pytest.approx(peer.get_last_lr()[0], rel=1e-9)
        optimizer.step()
        if step < total - 1:
            peer.step()
    assert all(4e-6 <= one_cycle(step, n) <= 1 for n in range(1, 13) for step in range(n))


@pytest.mark.parametrize(
    ("schedule", "share", "clip"),
    [
        ("one_cycle", lambda step: one_cycle(step, 8), 0.01),
        (None, lambda step: 1.0, None),
        (lambda step, total: (step + 1) / total, lambda step: (step + 1) / 8, None),
    ],
    ids=["cycle", "none", "own"],
)
def test_a_step_is_the_clipped_gradient_at_the_schedules_rate(schedule, share, clip):
    """Plain descent, step by step against the gradients of a copy; losses are those before it."""
    moving = translator()
    wanted = weights(moving)
    shadow = translator()
    losses = []
    for step in range(8):
        for p, w in zip(shadow.parameters(), wanted, strict=True):
            p.data, p.grad = w.clone(), None
        loss, _ = ab.translation_loss(shadow, BATCHES[step % 4])
        loss.backward()
        losses.append(loss.item())
        grads = [p.grad for p in shadow.parameters()]
        norm = torch.cat([g.flatten() for g in grads]).norm().item()
        scale = 1.0 if clip is None else min(1.0, clip / norm)
        assert clip is None or scale < 1
        wanted = [w - 0.5 * share(step) * scale * g for w, g in zip(wanted, grads, strict=True)]
    options = {"schedule": schedule, "clip": clip, "optimizer": torch.optim.SGD}
    _, history = fit(moving, learning_rate=0.5, **options)
    for found, own in zip(weights(moving), wanted, strict=True):
        torch.testing.assert_close(found, own, atol=1e-5, rtol=1e-4)
    rows = [(row["step"], row["epoch"], row["learning_rate"]) for row in history.steps]
    assert rows == [(s + 1, 1 + s // 4, pytest.approx(0.5 * share(s))) for s in range(8)]
    assert [row["loss"] for row in history.steps] == pytest.approx(losses, rel=1e-4)
    assert [(row["step"], row["epoch"]) for row in history.epochs] == [(4, 1), (8, 2)]
    assert history.best is None and history.stopped == "epochs" and len(history.seconds) == 2
    assert json.loads(json.dumps(asdict(history))) == asdict(history)


def test_without_a_schedule_a_hook_of_the_optimizer_may_change_its_rate():
    def halved(optimizer, *_):
        optimizer.param_groups[0]["lr"] /= 2

    def sgd(parameters, lr):
        optimizer = torch.optim.SGD(parameters, lr)
        optimizer.register_step_post_hook(halved)
        return optimizer

    _, history = fit(learning_rate=0.5, schedule=None, optimizer=sgd)
    assert [row["learning_rate"] for row in history.steps] == [0.5 / 2**s for s in range(8)]


def test_a_loss_that_is_not_finite_is_an_error_and_spoils_no_weights():
    def loss(model, batch):
        mean, count = ab.translation_loss(model, batch)
        return mean * math.inf, count

    model = translator()
    before = weights(model)
    with pytest.raises(FloatingPointError, match="the loss is inf: a lower learning_rate"):
        fit(model, loss=loss)
    assert same(weights(model), before)


# modes, early stopping, callbacks


def test_dropout_is_at_work_in_training_alone():
    """Whatever a callback leaves; held-out losses are without it and without a gradient."""

    def stray(event):
        event.model.eval()

    modes = []

    def loss(model, batch):
        modes.append((model.training, torch.is_grad_enabled()))
        return ab.translation_loss(model, batch)

    one, two, three = (translator(dropout=p) for p in (0.5, 0.5, 0.0))
    fit(one, callbacks=[stray])
    _, history = fit(two, epochs=2, loss=loss, validation=HELD_OUT)
    fit(three)
    assert same(weights(one), weights(two)) and not same(weights(one), weights(three))
    assert modes == 2 * ([(True, True)] * 4 + [(False, False)] * 2)
    assert not two.training
    assert ab.mean_loss(two.train(), HELD_OUT) == pytest.approx(history.epochs[1]["validation"])
    assert two.training


@pytest.mark.parametrize("patience", [None, 3])
def test_early_stopping_goes_back_to_the_best_weights(patience):
    """One small batch to learn by heart, at a rate that soon hurts elsewhere."""
    seen = {}

    def remember(event):
        if event.kind == "epoch":
            seen[event.epoch] = (event.validation, weights(event.model))

    options = {"learning_rate": 3e-2, "schedule": None, "validation": HELD_OUT}
    options |= {"epochs": 30 if patience is None else 200, "callbacks": [remember]}
    model = translator(hidden_size=32)
    _, history = fit(model, [reversal(4, 4, 0)], patience=patience, **options)
    best, last = history.best["epoch"], len(history.epochs)
    assert seen[best][0] == min(v for v, _ in seen.values()) == history.best["validation"]
    assert not same(seen[best][1], seen[last][1])
    assert same(weights(model), seen[last if patience is None else best][1])
    if patience is None:
        assert history.stopped == "epochs" and last == 30
    else:
        assert history.stopped == "patience" and last == best + patience


def test_a_callback_is_told_everything_and_may_stop():
    events, others = [], []

    def stop_at_six(event):
        events.append(event)
        return event.step == 6

    callbacks = [stop_at_six, others.append]
    model, history = fit(epochs=5, callbacks=callbacks, validation=HELD_OUT)
    assert history.stopped == "callback" and len(history.steps) == 6 and events == others
    steps = [("step", 1, s) for s in (1, 2, 3, 4)], [("step", 2, s) for s in (5, 6)]
    kinds = [(e.kind, e.epoch, e.step) for e in events]
    assert kinds == [*steps[0], ("epoch", 1, 4), *steps[1], ("epoch", 2, 6)]
    told = [e for e in events if e.kind == "step"]
    rows = [(e.loss, e.learning_rate, None) for e in told]
    assert rows == [(r["loss"], r["learning_rate"], e.validation)
                    for r, e in zip(history.steps, told, strict=True)]  # fmt: skip
    epochs = [(e.loss, e.validation) for e in events if e.kind == "epoch"]
    assert epochs == [(row["loss"], row["validation"]) for row in history.epochs]
    assert all(e.model is model for e in events)


# silence


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "options", "shown"),
    [(io.StringIO, {}, False), (Terminal, {}, True), (Terminal, {"progress": False}, False)],
    ids=["notebook", "terminal", "silent"],
)
def test_a_bar_is_shown_on_a_terminal_and_nothing_is_kept(
    monkeypatch, capsys, stream, options, shown
):
    monkeypatch.setattr(sys, "stderr", written := stream())
    fit(epochs=1, **options)
    assert ("/4" in written.getvalue()) == shown
    assert written.getvalue().rsplit("\r", 1)[-1].strip() == "" == capsys.readouterr().out
    other = mock.MagicMock()  # another bar may be given
    fit(epochs=1, progress=other)
    other.assert_called_once_with(total=4, leave=False)
    assert other.return_value.__enter__.return_value.update.call_count == 4


def test_a_notebook_sees_a_bar_below_the_cell_and_keeps_nothing(monkeypatch, capsys):
    import IPython

    from attnbook import _progress

    shown = mock.Mock()
    monkeypatch.setattr(IPython, "get_ipython", lambda: mock.Mock(kernel=object()))
    monkeypatch.setattr(IPython.display, "display", shown)
    monkeypatch.delenv("ATTNBOOK_PROGRESS", raising=False)
    with _progress.progress_bar(3) as bar:
        bar.update(3)
    assert "0/3" in shown.call_args.args[0]["text/plain"]
    assert shown.return_value.update.call_args.args == ({},)
    assert _progress.progress_bar(3, progress=False).disable
    monkeypatch.setenv("ATTNBOOK_PROGRESS", "0")  # a notebook that is run to be saved or tested
    assert _progress.progress_bar(3).disable
    assert capsys.readouterr() == ("", "")


# errors


def test_a_bad_argument_is_named():
    named = partial(refuses, ValueError)
    named("epochs must be at least 1", fit, epochs=0)
    named("learning_rate must be positive", fit, learning_rate=0.0)
    named("clip must be positive", fit, clip=0.0)
    named("patience needs validation", fit, patience=2)
    named("patience must be at least 1", fit, patience=0, validation=HELD_OUT)
    named("schedule must be 'one_cycle'", fit, schedule="cosine")
    named("batches must hold at least one batch", fit, batches=[])
    refuses(TypeError, "batches must have a length", fit, batches=iter(BATCHES))
    named("batches must hold at least one valid token", fit, validation=[])
    named("seed must be at least 0", ab.set_seed, -1)
    loss, logits, targets = ab.masked_cross_entropy, torch.zeros(2, 3, 5), torch.zeros(2, 3).long()
    lengths = torch.tensor([1, 1])
    named(r"logits must be \(b, q, vocabulary\)", loss, logits, targets[:, :2], lengths)
    named(r"lengths must be \(2,\)", loss, logits, targets, lengths[:1])
