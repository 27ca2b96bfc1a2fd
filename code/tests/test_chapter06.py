"""Chapter 6: the two languages, and controls that make each claim of the notebook fail."""

import math
import types
from collections import Counter
from functools import partial

import pytest
import torch
from attnbook_testing.chapters import cell_runner, fails

import attnbook as ab
from experiments import position_lengths as pl
from experiments.stored import load_table

run_cell = partial(cell_runner("06_positions"), position_lengths=pl)
fails = partial(fails, run_cell)


def draw(language, b=64, n=40, seed=0):
    return pl.LANGUAGES[language](b, n, torch.Generator().manual_seed(seed))


# the languages


def test_a_pair_has_four_successors_in_the_stated_shares():
    x = draw("markov", b=2000, n=60)
    after = {}
    for row in x.tolist():
        for a, b, c in zip(row, row[1:], row[2:], strict=False):
            after.setdefault((a, b), Counter())[c] += 1
    assert len(after) == pl.VOCAB**2
    often = [counts for counts in after.values() if counts.total() > 1000]
    assert len(often) > 20
    for counts in often:
        shares = sorted((n / counts.total() for n in counts.values()), reverse=True)
        assert shares == pytest.approx(pl.SHARES, abs=0.05)
    # what one who knows the counts would reach is what the chapter calls best
    loss = [-math.log(c[t] / c.total()) for c in after.values() for t in c for _ in range(c[t])]
    assert math.exp(sum(loss) / len(loss)) == pytest.approx(pl.best_perplexity("markov"), rel=0.01)


def test_repeats_have_their_period():
    x = draw("repeat", b=300)
    periods = set()
    for row in x:
        fits = [p for p in range(1, 20) if torch.equal(row[p:], row[:-p])]
        periods.add(fits[0])
        assert fits[0] <= pl.PERIODS[1]
    assert max(periods) == pl.PERIODS[1]


def test_losses_are_those_of_the_next_token():
    model, x = pl.build("rotary", 0), draw("markov", b=3, n=9)
    with torch.no_grad():
        loss, logits = pl.losses(model, x), model(None, None, x[:, :-1]).logits
    for b in range(3):
        for t in range(8):
            wanted = -logits[b, t].log_softmax(-1)[x[b, t + 1]]
            assert loss[b, t] == pytest.approx(wanted.item(), abs=1e-5)


def test_perplexity_is_of_the_last_quarter():
    loss = torch.arange(64.0) / 100
    assert pl.perplexity(loss, 32) == pytest.approx(math.exp(0.275))
    assert pl.perplexity(loss, 64) == pytest.approx(math.exp(0.555))
    assert pl.perplexity(loss[:32], 64) is None


@pytest.mark.parametrize("language", pl.LANGUAGES)
@pytest.mark.parametrize("kind", ["alibi", "learned"])
def test_an_untrained_model_knows_nothing(language, kind):
    loss = pl.by_place(pl.build(kind, 0), language, sequences=32)
    assert len(loss) == (pl.TRAINED if kind == "learned" else pl.LENGTHS[-1])
    assert pl.perplexity(loss, 32) > 6


# the stored table


def test_the_table_is_whole():
    rows = load_table("position_lengths")
    found = [(row["seed"], row["language"], row["positions"]) for row in rows]
    assert found == [(s, g, k) for s in pl.SEEDS for g in pl.LANGUAGES for k in pl.KINDS]
    for row in rows:
        past = [row[str(n)] is None for n in pl.LENGTHS]
        assert past == [row["positions"] == "learned" and n > pl.TRAINED for n in pl.LENGTHS]
        assert all(row[str(n)] is None or row[str(n)] > 0.99 for n in pl.LENGTHS)


THREE_SEEDS = "three seeds, two languages"


def test_the_claim_over_seeds_holds_for_the_table_and_not_with_two_kinds_exchanged():
    rows = load_table("position_lengths")
    run_cell(THREE_SEEDS, rows=rows)
    for other in ("rotary", "sinusoidal"):
        swap = {"alibi": other, other: "alibi"}
        moved = [row | {"positions": swap.get(row["positions"], row["positions"])} for row in rows]
        fails(THREE_SEEDS, rows=moved)


# controls of what the notebook trains and measures

LENGTHS = "four times the trained length"


def stored_losses():
    """Losses by place that have the stored perplexities of seed 0."""
    losses = {}
    for row in load_table("position_lengths"):
        if row["seed"] == 0 and row["language"] == "markov" and row["positions"] != "learned":
            loss = torch.zeros(256)
            for n in pl.LENGTHS:
                loss[n - n // 4 : n] = math.log(row[str(n)])
            losses[row["positions"]] = loss
    return {kind: losses[kind] for kind in ("sinusoidal", "rotary", "alibi")}


def test_the_claim_about_lengths_fails_without_training_and_with_two_kinds_exchanged():
    losses = stored_losses()
    run_cell(LENGTHS, losses=losses)
    fails(LENGTHS, losses=losses | {"rotary": losses["alibi"], "alibi": losses["rotary"]})
    losses = {k: pl.by_place(pl.build(k, 0), "markov", sequences=16) for k in losses}
    fails(LENGTHS, losses=losses)


def test_the_claim_about_the_window_fails_without_training():
    models = {kind: pl.build(kind, 0) for kind in ("rotary", "sinusoidal")}
    losses = {kind: pl.by_place(models[kind], "markov", sequences=16) for kind in models}
    fails("no window helps", models=models, at=lambda kind, n: pl.perplexity(losses[kind], n))


def test_places_are_not_heard_where_there_are_none():
    run_cell("def places_heard")
    for nothing in (torch.zeros, lambda n, d: 0.7 * torch.ones(n, d)):
        fails("def places_heard", ab=types.SimpleNamespace(**{**vars(ab), "sinusoid": nothing}))


def test_equivariance_fails_with_positions():
    run_cell("20 orders, one average")

    def placed(d_model, num_heads):
        positions = ab.RotaryPositions(d_model // num_heads)
        return ab.MultiHeadAttention(d_model, num_heads, positions=positions)

    told = types.SimpleNamespace(**{**vars(ab), "MultiHeadAttention": placed})
    fails("20 orders, one average", ab=told)


def test_the_claim_about_time_fails_for_other_layers():
    sizes, d = [256, 512, 1024, 2048, 4096], 32
    times = {
        "convolution": [n * 1e-7 for n in sizes],
        "recurrent": [n * 4e-6 for n in sizes],
        "self-attention": [n * 5e-7 + n**2 * 4e-9 for n in sizes],
    }
    run_cell("def growth", times=times, sizes=sizes, d=d)
    for one, other in (("recurrent", "self-attention"), ("convolution", "self-attention")):
        swapped = {**times, one: times[other], other: times[one]}
        fails("def growth", times=swapped, sizes=sizes, d=d)
