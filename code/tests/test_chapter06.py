"""Chapter 6: the three tasks, and controls that make claims of its two pages fail."""

import math
import statistics
from collections import Counter
from functools import partial
from types import SimpleNamespace

import pytest
import torch
from attnbook_testing.chapters import cell_runner, fails

import attnbook as ab
from attnbook.masks import causal_mask, window_mask
from experiments import other_settings
from experiments import position_lengths as pl
from experiments.stored import load_record, load_table

SEEN = {"position_lengths": pl, "other_settings": other_settings}
SEEN |= {"load_table": load_table, "load_record": load_record}
run_cell = partial(cell_runner("06_reach"), **SEEN)
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


def test_the_third_task_asks_for_the_token_20_places_back():
    x = draw("back", b=5, n=33)
    wanted = pl.targets("back", x)
    assert wanted.shape == (5, 32) and pl.DECIDED["back"] == 21
    for t in range(20, 32):  # a model has read x[:, : t + 1]
        assert torch.equal(wanted[:, t], x[:, t - 20])
    assert torch.equal(pl.targets("markov", x), x[:, 1:])


@pytest.mark.parametrize("language", pl.LANGUAGES)
def test_losses_are_those_of_the_target(language):
    model, x = pl.build("rotary", 0), draw(language, b=3, n=9)
    with torch.no_grad():
        loss, logits = pl.losses(model, language, x), model(None, None, x[:, :-1]).logits
    for b in range(3):
        for t in range(8):
            wanted = -logits[b, t].log_softmax(-1)[pl.targets(language, x)[b, t]]
            assert loss[b, t] == pytest.approx(wanted.item(), abs=1e-5)


@pytest.mark.parametrize("far", [None, 9])
@torch.no_grad()
def test_clipped_angles_are_the_known_ones(far):
    """Nothing changes within reach; beyond it the score is that of offset `clip`, or `far`."""
    model, x = pl.build("rotary", 0), draw("markov", b=3, n=40)
    plain = pl.logits(model, x)
    assert torch.allclose(pl.logits(model, x, clip=39), plain, atol=1e-5)
    clipped = pl.logits(model, x, clip=7)
    assert torch.allclose(clipped[:, :8], plain[:, :8], atol=1e-5)
    assert not torch.allclose(clipped[:, 9:], plain[:, 9:], atol=1e-3)
    near = window_mask(40, 40, 8)
    seen = [pl.logits(model, x, mask=near, clip=clip) for clip in (None, 7)]
    assert torch.allclose(*seen, atol=1e-5)

    layer, h = model.stack.blocks[0].self_attention.attention, torch.randn(1, 12, 64)
    q, k, v = (W(h).unflatten(-1, (4, 16))[0] for W in (layer.W_q, layer.W_k, layer.W_v))
    head, i = 2, 11
    places = [i - j if i - j <= 5 else far or 5 for j in range(i + 1)]
    a = [layer.positions(q[i, None, head], offset=n) @ k[j, head] for j, n in enumerate(places)]
    alpha = (torch.cat(a) / 4).softmax(dim=0)
    pooled = alpha @ v[: i + 1, head]
    unmixed = layer.W_o.weight[:, 16 * head : 16 * head + 16]
    ours = pl.clipped_attention(layer, h, causal_mask(12), 5, far or 5)[0, i]
    layer.W_v.weight.view(4, 16, 64)[head] = 0  # a second reading without this head
    layer.W_v.bias.view(4, 16)[head] = 0
    without = pl.clipped_attention(layer, h, causal_mask(12), 5, far or 5)[0, i]
    assert torch.allclose(ours - without, unmixed @ pooled, atol=1e-5)


@torch.no_grad()
def test_each_pair_of_features_can_have_a_far_offset_of_its_own():
    layer, h = (
        pl.build("rotary", 0).stack.blocks[0].self_attention.attention,
        torch.randn(1, 12, 64),
    )
    seen = [
        pl.clipped_attention(layer, h, causal_mask(12), 5, far)
        for far in (9, torch.full((8,), 9), torch.tensor([9, *[5] * 7]), torch.full((8,), 5))
    ]
    assert torch.allclose(seen[0], seen[1], atol=1e-6)
    assert all((seen[2] - other)[:, 6:].abs().max() > 1e-4 for other in (seen[0], seen[3]))
    keys = layer.W_k(h).view(1, 12, 4, 16)  # where the fastest pair reads nothing, it is not seen
    layer.W_k.weight.view(4, 16, 64)[:, :2] = 0
    layer.W_k.bias.view(4, 16)[:, :2] = 0
    assert (layer.W_k(h).view(1, 12, 4, 16) - keys)[..., 2:].abs().max() < 1e-5
    fastest, none = (
        pl.clipped_attention(layer, h, causal_mask(12), 5, far)
        for far in (torch.tensor([9, *[5] * 7]), 5)
    )
    assert torch.allclose(fastest, none, atol=1e-6)


def test_the_two_ends_are_shown():
    mask = pl.ends(4, 20) & causal_mask(20)
    assert mask[19].nonzero().flatten().tolist() == [0, 1, 2, 3, 16, 17, 18, 19]
    assert mask[3].sum() == 4


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


# the stored table, and controls of what the pages say


ROWS = load_table("position_lengths")


def test_the_table_is_whole():
    found = [(row["seed"], row["language"], row["positions"]) for row in ROWS]
    assert found == [(s, g, k) for s in pl.SEEDS for g in pl.LANGUAGES for k in pl.TRIED[g]]
    for row in ROWS:
        past = [row[str(n)] is None for n in pl.LENGTHS]
        assert past == [row["positions"] == "learned" and n > pl.TRAINED for n in pl.LENGTHS]
        assert all(row[str(n)] is None or row[str(n)] > 0.99 for n in pl.LENGTHS)
        assert set(pl.sights(row["language"], row["positions"])) <= row.keys()


def table(**swap):
    """The table as the page has it, with two kinds of positions exchanged."""
    rows = {(r["language"], swap.get(r["positions"], r["positions"]), r["seed"]): r for r in ROWS}

    def median(language, kind, column):
        return statistics.median(seeds(language, kind, column))

    def seeds(language, kind, column):
        return [rows[language, kind, seed][column] for seed in pl.SEEDS]

    return {"of": rows, "median": median, "seeds": seeds, "position_lengths": pl}


THREE_SEEDS = "three seeds of three"


@pytest.mark.parametrize("other", ["rotary", "sinusoidal"])
def test_the_claim_over_seeds_fails_with_two_kinds_exchanged(other):
    run_cell(THREE_SEEDS, **table())
    fails(THREE_SEEDS, **table(alibi=other) | table(**{"alibi": other, other: "alibi"}))


def loss_of(row):
    """A loss by place that has the perplexities of this row."""
    loss = torch.zeros(256)
    for n in pl.LENGTHS:
        loss[n - n // 4 : n] = math.log(row[str(n)])
    return loss


def test_the_claim_about_lengths_fails_without_training_and_with_two_kinds_exchanged():
    of, best = table()["of"], pl.best_perplexity("markov")
    rows = [row for row in ROWS if row["language"] == "markov"]
    swap = {"alibi": "rotary", "rotary": "alibi"}
    swapped = [row | {"positions": swap.get(row["positions"], row["positions"])} for row in rows]
    rotary, alibi = (loss_of(of["markov", kind, 0]) for kind in ("rotary", "alibi"))
    untrained = pl.by_place(pl.build("rotary", 0), "markov", sequences=16)
    cell = partial(run_cell, "four times the trained length", best=best)
    cell(loss=rotary, rows=rows)
    for loss, told in ((alibi, rows), (rotary, swapped), (untrained, rows)):
        with pytest.raises(AssertionError):
            cell(loss=loss, rows=told)


def test_the_claim_about_angles_fails_for_a_model_without_training():
    fails("nothing to clip: nothing changes", model=pl.build("rotary", 0), **table())


def test_the_claims_about_time_fail_for_other_layers():
    by_length = {
        "RNN": [n * 4e-6 for n in (64, 256, 1024, 4096)],
        "GRU": [n * 9e-6 for n in (64, 256, 1024, 4096)],
        "LSTM": [n * 1e-6 for n in (64, 256, 1024, 4096)],
        "self-attention": [n * 5e-7 + n**2 * 4e-9 for n in (64, 256, 1024, 4096)],
    }
    by_batch = {"RNN": [1e-3, 2e-3, 5e-3], "GRU": [3e-3, 5e-3, 1e-2], "LSTM": [3e-4, 1e-3, 5e-3]}
    by_batch["self-attention"] = [4e-4, 5e-3, 2e-2]
    names = {"shown": list(by_batch), "batches": [1, 16, 64], "by_length": by_length}
    names |= {"two_features": 9e-4, "fused": 1e-2, "step_by_step": 3e-3}
    names |= {"long_fused": [3e-3, 4.6e-2], "platform": SimpleNamespace(machine=lambda: "x86_64")}
    run_cell("def growth", by_batch=by_batch, **names)
    for times in (by_length, by_batch):
        swapped = times | {"RNN": times["self-attention"], "self-attention": times["RNN"]}
        wrong = {"by_length": by_length, "by_batch": by_batch}
        wrong |= {"by_length" if times is by_length else "by_batch": swapped}
        fails("def growth", **names | wrong)
    fails("def growth", by_batch=by_batch, **names | {"two_features": 1e-4})  # starts cost little
    fails("def growth", by_batch=by_batch, **names | {"fused": 2e-3})
    fails("def growth", by_batch=by_batch, **names | {"step_by_step": 4e-4})  # nothing gained
    fails("def growth", by_batch=by_batch, **names | {"long_fused": [3e-3, 6e-3]})


def test_equivariance_fails_with_positions():
    cell, one = "shuffled and not changed otherwise", cell_runner("06_positions")
    torch.manual_seed(0)
    names = {"tokens": torch.randn(1, 9, 16), "orders": [torch.randperm(9) for _ in range(20)]}
    names["different"] = {"self-attention": 0, "self-attention, causal": 19, "recurrent": 19}
    one(cell, layer=ab.MultiHeadAttention(16, 4), **names)
    told = ab.MultiHeadAttention(16, 4, positions=ab.RotaryPositions(4))
    with pytest.raises(AssertionError):
        one(cell, layer=told, **names)
