"""Chapter 7's longer experiments: their tables are whole, and every way has one budget."""

from itertools import product

from experiments import norm_warmup
from experiments.stored import load_table


def test_every_norm_is_tried_at_every_rate_for_as_many_steps():
    rows = load_table("norm_warmup")
    found = [(row["seed"], row["norm"], row["warm-up"], row["rate"]) for row in rows]
    ways = [(norm, warmup, rate) for norm, warmup in norm_warmup.WAYS for rate in norm_warmup.RATES]
    assert found == [(seed, *way) for seed, way in product(norm_warmup.SEEDS, ways)]
    assert {row["steps"] for row in rows} == {norm_warmup.STEPS}
    assert all(len(row["loss by step"]) == norm_warmup.POINTS for row in rows)
