"""Associative recall by smaller and larger states, by longer trainings, and by a mix of layers.

The task and the models are those of `recall`. A plan is trained at two of its rates, or, where it
only shows whether a training had come to its end or what a stack of four layers does, at one.
"""

from __future__ import annotations

from itertools import product

from .recall import RATES, SOFTMAX, STEPS, Plan, rows, train

SEEDS = range(3)
SIZES = (4, 16)
PLANS = {
    f"{mixer}, {d}": Plan((mixer,), d, RATES[1:])
    for mixer, d in product(("sum", "delta", "gated delta"), SIZES)
}
PLANS |= {
    f"{mixer}, longer": Plan((mixer,), rates=RATES[1:2], steps=2 * STEPS)
    for mixer in ("sum", "delta")
}
STACKS = {
    "four states": 4 * ("gated delta",),
    "three and one": (*3 * ("gated delta",), SOFTMAX),
    "four softmax": 4 * (SOFTMAX,),
}
PLANS |= {name: Plan(layers, 2, RATES[1:2], STEPS // 2) for name, layers in STACKS.items()}


def trace() -> dict[str, list[float]]:
    """The first steps of each plan."""
    return {name: train(plan, plan.rates[-1], 0, steps=4)[1] for name, plan in PLANS.items()}


def run(seed: int) -> list[dict]:
    """One seed of every plan, at each of its rates."""
    return [row for name, plan in PLANS.items() for row in rows(name, plan, seed)]
