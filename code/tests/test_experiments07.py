"""Chapter 7's longer experiments: their tables are whole, and every way has one budget."""

from itertools import product

from torch import nn

from experiments import norm_warmup, position_lengths
from experiments import other_settings as other
from experiments.loop import POINTS
from experiments.stored import load_record, load_table


def test_every_norm_is_tried_at_every_rate_for_as_many_steps():
    rows = load_table("norm_warmup")
    found = [(row["seed"], row["norm"], row["warm-up"], row["rate"]) for row in rows]
    ways = [(norm, warmup, rate) for norm, warmup in norm_warmup.WAYS for rate in norm_warmup.RATES]
    assert found == [(seed, *way) for seed, way in product(norm_warmup.SEEDS, ways)]
    assert {row["steps"] for row in rows} == {norm_warmup.STEPS}
    assert all(len(row["loss by step"]) == POINTS for row in rows)


def test_the_other_settings_change_what_they_say_and_nothing_else():
    rows = load_table("other_settings")
    ways = [(row["seed"], row["warm-up"], row["rate"]) for row in rows if "warm-up" in row]
    grid = product(other.SEEDS, other.WARMUPS, other.RATES)
    assert ways == list(grid)
    begun = [(row["seed"], row["positions"]) for row in rows if "positions" in row]
    assert begun == list(product(other.SEEDS, other.KINDS))
    tuned = [(row["seed"], row["kind"]) for row in rows if row["result"] == "best rate"]
    assert tuned == list(product(other.SEEDS, other.TRIED["markov"]))
    tried = load_record("other_settings")["tried"]
    for kind in other.TRIED["markov"]:
        mine = [r for r in tried if (r["language"], r["positions"]) == ("markov", kind)]
        assert [r["rate"] for r in mine] == list(other.PEAKS)
        assert min(mine, key=lambda r: r["perplexity"])["rate"] == other.BEST
    ours, theirs = position_lengths.build("rotary", 0), other.usual("rotary", 0)
    changed = {
        name.rsplit(".", 1)[0]
        for name, weight in ours.named_parameters(remove_duplicate=False)
        if not weight.equal(theirs.get_parameter(name))
    }
    linear = {name for name, module in ours.named_modules() if isinstance(module, nn.Linear)}
    assert changed == linear | {"embedding.tokens"}  # tied to the output layer
