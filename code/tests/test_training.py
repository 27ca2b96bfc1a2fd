"""Training: the loss against a loop, the loop's promises one by one, and that it learns."""

import io
import json
import math
import sys
from dataclasses import asdict

import pytest
import torch
from attnbook_testing.translation import VOCAB, reversal
from hypothesis import given
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
    options = {"epochs": 2, "learning_rate": 1e-2} | options
    return model, ab.fit(model, batches, **options)


def weights(model):
    return [p.detach().clone() for p in model.parameters()]


def same(one, two):
    return all(torch.equal(a, b) for a, b in zip(one, two, strict=True))


# the loss


@given(
    b=st.integers(1, 4),
    q=st.integers(1, 5),
    smoothing=st.sampled_from([0.0, 0.1]),
    seed=st.integers(0, 999),
)
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
    got = ab.masked_cross_entropy(logits, targets, lengths, label_smoothing=smoothing)
    torch.testing.assert_close(got, torch.as_tensor(total / max(count, 1), dtype=torch.float64))
    (grad,) = torch.autograd.grad(got, logits)
    for i in range(b):
        assert not grad[i, lengths[i] :].any()


def test_the_loss_names_what_does_not_fit():
    logits, targets = torch.zeros(2, 3, 5), torch.zeros(2, 3, dtype=torch.int64)
    with pytest.raises(ValueError, match=r"logits must be \(b, q, vocabulary\)"):
        ab.masked_cross_entropy(logits, targets[:, :2], torch.tensor([1, 1]))
    with pytest.raises(ValueError, match=r"lengths must be \(2,\)"):
        ab.masked_cross_entropy(logits, targets, torch.tensor([1]))


def test_translation_loss_counts_the_valid_tokens():
    model, batch = translator(), BATCHES[0]
    loss, count = ab.translation_loss(model, batch)
    logits = model(batch.source, batch.source_lens, batch.inputs).logits
    kept = ab.length_mask(batch.target_lens, batch.targets.shape[1]).squeeze(1)
    torch.testing.assert_close(loss, nn.functional.cross_entropy(logits[kept], batch.targets[kept]))
    assert count == kept.sum()


# it learns


def accuracy(model, batch):
    found = ab.greedy(model, batch.source, batch.source_lens, max_len=8)
    t = min(found.tokens.shape[1], batch.targets.shape[1])
    right = (found.tokens[:, :t] == batch.targets[:, :t]).all(1)
    return (right & (found.lengths == batch.target_lens)).double().mean().item()


def test_it_learns_to_reverse_and_an_untrained_model_cannot():
    batches = [reversal(64, 4, seed) for seed in range(40)]
    held_out = reversal(64, 4, 999)
    model = translator(hidden_size=48, embed_size=16)
    assert accuracy(model.eval(), held_out) < 0.1
    history = ab.fit(model, batches, epochs=4, learning_rate=2e-2, validation=[held_out])
    assert accuracy(model, held_out) > 0.9
    losses = [row["validation"] for row in history.epochs]
    assert losses[-1] < min(0.3, losses[0])


# determinism


def test_the_same_seed_gives_the_same_weights_bit_by_bit_and_another_does_not():
    runs = [fit(translator(dropout=0.2), seed=seed) for seed in (3, 3, 4)]
    (one, first), (two, second), (three, third) = runs
    assert same(weights(one), weights(two)) and first == second
    assert not same(weights(one), weights(three)) and first != third


def test_training_leaves_the_random_generators_as_they_were():
    torch.manual_seed(5)
    wanted = torch.rand(3)
    model = translator(dropout=0.2)
    torch.manual_seed(5)
    fit(model)
    assert torch.equal(torch.rand(3), wanted)


def test_set_seed_seeds_every_generator():
    import random

    import numpy

    def draw():
        ab.set_seed(7)
        return random.random(), numpy.random.rand(), torch.rand(()).item()  # noqa: NPY002

    assert draw() == draw()
    with pytest.raises(ValueError, match="seed must be at least 0"):
        ab.set_seed(-1)


# history, schedule, clipping


def test_the_history_is_plain_data():
    model, history = fit(validation=HELD_OUT)
    assert json.loads(json.dumps(asdict(history))) == asdict(history)
    assert [row["step"] for row in history.steps] == list(range(1, 9))
    assert [row["epoch"] for row in history.steps] == [1] * 4 + [2] * 4
    assert [row["step"] for row in history.epochs] == [4, 8]
    assert history.stopped == "epochs" and len(history.seconds) == 2
    assert history.epochs[-1]["validation"] == pytest.approx(ab.mean_loss(model, HELD_OUT))
    again = fit(validation=HELD_OUT)[1]
    again.seconds[0] += 1
    assert again == history


def test_an_epochs_loss_is_per_valid_token():
    """With steps next to nothing the model stands still; batches count by their tokens."""
    batches = [reversal(2, 2, 0), reversal(16, 6, 1)]
    model, history = fit(batches=batches, epochs=1, learning_rate=1e-12)
    assert history.epochs[0]["loss"] == pytest.approx(ab.mean_loss(model, batches), rel=1e-5)
    total = tokens = 0
    for batch in batches:
        loss, count = ab.translation_loss(model, batch)
        total, tokens = total + loss.item() * count, tokens + count
    assert history.epochs[0]["loss"] == pytest.approx(total / tokens, rel=1e-5)


@pytest.mark.parametrize("total", [20, 37, 200])
def test_one_cycle_is_torchs(total):
    parameter = nn.Parameter(torch.zeros(()))
    optimizer = torch.optim.SGD([parameter], lr=1.0)
    peer = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, 1.0, total_steps=total, pct_start=0.1, cycle_momentum=False
    )
    for step in range(total):
        assert one_cycle(step, total) == pytest.approx(peer.get_last_lr()[0], rel=1e-9)
        optimizer.step()
        if step < total - 1:
            peer.step()


@pytest.mark.parametrize("total", range(1, 13))
def test_one_cycle_stays_in_range_however_few_the_steps(total):
    shares = [one_cycle(step, total) for step in range(total)]
    assert all(4e-6 <= share <= 1 for share in shares)


def test_the_schedule_is_what_the_optimiser_gets():
    rates = {}
    for name, schedule in (
        ("cycle", "one_cycle"),
        ("none", None),
        ("own", lambda step, total: (step + 1) / total),
    ):
        history = fit(schedule=schedule)[1]
        rates[name] = [row["learning_rate"] for row in history.steps]
    assert rates["cycle"] == pytest.approx([1e-2 * one_cycle(s, 8) for s in range(8)])
    assert rates["none"] == pytest.approx([1e-2] * 8)
    assert rates["own"] == pytest.approx([1e-2 * (s + 1) / 8 for s in range(8)])


def test_gradients_are_clipped_to_the_norm():
    """Plain descent at rate 1: the step is the clipped gradient."""
    norms = {}
    for clip in (None, 0.01):
        model = translator()
        before = weights(model)
        fit(
            model,
            BATCHES[:1],
            epochs=1,
            learning_rate=1.0,
            schedule=None,
            clip=clip,
            optimizer=torch.optim.SGD,
        )
        moved = [b - a for a, b in zip(before, weights(model), strict=True)]
        norms[clip] = torch.cat([m.flatten() for m in moved]).norm().item()
    assert norms[0.01] == pytest.approx(0.01, rel=1e-3) and norms[None] > 0.02


# early stopping, callbacks


def test_early_stopping_goes_back_to_the_best_weights():
    seen = {}

    def remember(event):
        if event.kind == "epoch":
            seen[event.epoch] = (event.validation, weights(event.model))

    # one small batch to learn by heart, at a rate that soon hurts elsewhere
    model, history = fit(
        translator(hidden_size=32),
        [reversal(4, 4, 0)],
        epochs=200,
        learning_rate=3e-2,
        schedule=None,
        validation=HELD_OUT,
        patience=3,
        callbacks=[remember],
    )
    assert history.stopped == "patience" and len(history.epochs) < 200
    best = history.best["epoch"]
    assert len(history.epochs) == best + 3
    assert seen[best][0] == min(v for v, _ in seen.values()) == history.best["validation"]
    assert same(weights(model), seen[best][1])
    assert not same(weights(model), seen[len(seen)][1])
    assert ab.mean_loss(model, HELD_OUT) == pytest.approx(history.best["validation"])


def test_without_patience_the_last_weights_stay():
    last = {}
    model, history = fit(
        translator(hidden_size=32),
        [reversal(4, 4, 0)],
        epochs=30,
        learning_rate=3e-2,
        schedule=None,
        validation=HELD_OUT,
        callbacks=[lambda event: last.update(w=weights(event.model)) and None],
    )
    assert history.best["epoch"] < 30 and same(weights(model), last["w"])


def test_a_callback_is_told_everything_and_may_stop():
    events = []

    def stop_at_six(event):
        events.append(event)
        return event.step == 6

    _, history = fit(epochs=5, callbacks=[stop_at_six], validation=HELD_OUT)
    assert history.stopped == "callback" and len(history.steps) == 6
    kinds = [(e.kind, e.epoch, e.step) for e in events]
    assert kinds == [
        *[("step", 1, s) for s in (1, 2, 3, 4)],
        ("epoch", 1, 4),
        ("step", 2, 5),
        ("step", 2, 6),
        ("epoch", 2, 6),
    ]
    assert [e.validation is None for e in events] == [e.kind == "step" for e in events]


def test_a_callback_may_look_in_evaluation_mode():
    def peek(event):
        event.model.eval()

    model = translator(dropout=0.5)
    other = translator(dropout=0.5)
    fit(model, callbacks=[peek])
    fit(other)
    assert same(weights(model), weights(other))


def test_validation_is_without_dropout_and_gradient_and_training_ends_in_evaluation_mode():
    modes = []

    def loss(model, batch):
        modes.append((model.training, torch.is_grad_enabled()))
        return ab.translation_loss(model, batch)

    model, _ = fit(loss=loss, validation=HELD_OUT, epochs=1)
    assert modes == [(True, True)] * 4 + [(False, False)] * 2
    assert not model.training


# anything that a loss can call


def test_another_model_with_another_loss():
    """A classifier on dictionaries: does a row's sum exceed 0?"""
    random = torch.Generator().manual_seed(0)
    batches = []
    for _ in range(20):
        x = torch.randn(32, 5, generator=random)
        batches.append({"x": x, "y": (x.sum(1) > 0).long()})

    def loss(model, batch):
        return nn.functional.cross_entropy(model(batch["x"]), batch["y"]), len(batch["y"])

    ab.set_seed(0)
    model = nn.Linear(5, 2)
    ab.fit(model, batches, epochs=5, learning_rate=0.1, loss=loss, device="cpu")
    right = torch.cat([model(b["x"]).argmax(1) == b["y"] for b in batches])
    assert right.double().mean() > 0.95


def test_batches_go_to_the_models_device():
    """The meta device computes shapes only: the loop gets as far as reading the loss."""
    model = nn.Linear(5, 2).to("meta")
    seen = []

    def loss(model, batch):
        seen.append([x.device.type for x in (batch[0], batch[1]["y"])])
        return model(batch[0]).sum(), 1

    batch = (torch.zeros(3, 5), {"y": torch.zeros(3)})
    with pytest.raises(RuntimeError):
        ab.fit(model, [batch], epochs=1, learning_rate=0.1, loss=loss)
    assert seen == [["meta", "meta"]]


# silence


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_nothing_is_written_where_it_would_be_saved(monkeypatch, capsys):
    stderr = io.StringIO()  # as a notebook's: no terminal
    monkeypatch.setattr(sys, "stderr", stderr)
    fit()
    assert stderr.getvalue() == "" and capsys.readouterr().out == ""


def test_a_terminal_sees_a_bar_and_keeps_nothing(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    fit(epochs=1)
    written = terminal.getvalue()
    assert "/4" in written and written.rsplit("\r", 1)[-1].strip() == ""
    monkeypatch.setattr(sys, "stderr", quiet := Terminal())
    fit(epochs=1, progress=False)
    assert quiet.getvalue() == ""


def test_another_bar_may_be_given():
    calls = []

    class Bar:
        def __init__(self, **options):
            calls.append(options)

        def __enter__(self):
            return self

        def __exit__(self, *error):
            calls.append("closed")

        def update(self):
            calls.append("update")

    fit(epochs=1, progress=Bar)
    assert calls == [{"total": 4, "leave": False}, *["update"] * 4, "closed"]


# errors


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"epochs": 0}, ValueError, "epochs must be at least 1"),
        ({"learning_rate": 0.0}, ValueError, "learning_rate must be positive"),
        ({"clip": 0.0}, ValueError, "clip must be positive"),
        ({"patience": 2}, ValueError, "patience needs validation"),
        ({"patience": 0, "validation": HELD_OUT}, ValueError, "patience must be at least 1"),
        ({"schedule": "cosine"}, ValueError, "schedule must be 'one_cycle'"),
        ({"batches": []}, ValueError, "batches must hold at least one batch"),
        ({"batches": iter(BATCHES)}, TypeError, "batches must have a length"),
        ({"validation": []}, ValueError, "batches must hold at least one valid token"),
    ],
)
def test_a_bad_argument_is_named(options, error, message):
    with pytest.raises(error, match=message):
        fit(**options)


def test_a_loss_that_is_not_finite_is_an_error_and_spoils_no_weights():
    def loss(model, batch):
        mean, count = ab.translation_loss(model, batch)
        return mean * math.inf, count

    model = translator()
    before = weights(model)
    with pytest.raises(FloatingPointError, match="the loss is inf: a lower learning_rate"):
        fit(model, loss=loss)
    assert same(weights(model), before)


def test_a_notebook_sees_a_bar_below_the_cell_and_keeps_nothing(monkeypatch, capsys):
    import IPython

    from attnbook import _progress

    seen = []

    class Shell:
        kernel = object()

    class Shown:
        def update(self, data, raw):
            seen.append(data)

    def display(data, raw, display_id):
        seen.append(data)
        return Shown()

    monkeypatch.setattr(IPython, "get_ipython", Shell)
    monkeypatch.setattr(IPython.display, "display", display)
    monkeypatch.delenv("ATTNBOOK_PROGRESS", raising=False)
    with _progress.progress_bar(3) as bar:
        bar.update(3)
    assert "0/3" in seen[0]["text/plain"] and seen[-1] == {}
    assert _progress.progress_bar(3, progress=False).disable
    monkeypatch.setenv("ATTNBOOK_PROGRESS", "0")  # a notebook that is run to be saved or tested
    assert _progress.progress_bar(3).disable
    assert capsys.readouterr() == ("", "")
