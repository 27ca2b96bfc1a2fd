"""Questions that need one, two or three facts, and readers that look once, twice or three times.

Every reader has 5,000 stories of its task, and 1,000 others to be judged by, the same for all. It
is judged by its answers, and by whether the facts on which a hop puts the most weight are the
supporting ones. With `simpler`, three in ten of the training questions are of an earlier task:
"where is mary" among "where is milk". The stories to be judged by never hold those.

Two hops are trained without them, too, "alone": with the same number of steps and with three times
as many, each at several rates, of which the best is chosen by `validation`, the right answers to
other stories than those that judge. In the same number of questions, batches of 64 make twice as
many steps.
"""

from __future__ import annotations

from functools import cache, partial
from typing import NamedTuple

import torch
from torch.nn import functional as F

from attnbook.data import STORY_WORDS, Stories, Vocabulary, pack_stories, stories
from attnbook.hops import MemoryNetwork

from .ladder import ladder
from .loop import learn, parameters

SEEDS = range(6)
TRAIN, TEST, LONGEST, BATCH = 5000, 1000, 12, 128
SHARE = 0.3  # of the training questions, those of an earlier task
EPOCHS = {1: 8, 2: 12, 3: 12}
RATES = (5e-3, 1e-2, 2e-2, 4e-2, 8e-2)
RATE = 2e-2
LONGER = 3  # times as many epochs
VOCABULARY = Vocabulary([STORY_WORDS])
JUDGE, VALIDATE = 10**6, 10**5  # seeds of stories that no training has


class Plan(NamedTuple):
    """A reader and what it is trained on."""

    task: int
    hops: int
    simpler: float = 0.0
    time: bool = True
    d: int = 32
    rate: float = RATE
    longer: int = 1  # times as many epochs
    batch: int = BATCH


PLANS = {
    "1 fact, 1 hop": Plan(1, 1),
    "1 fact, 1 hop, no time": Plan(1, 1, time=False),
    "2 facts, 1 hop": Plan(2, 1, SHARE),
    "2 facts, 1 wide hop": Plan(2, 1, SHARE, d=80),
    "2 facts, 2 hops": Plan(2, 2, SHARE),
    "2 facts, 3 hops": Plan(2, 3, SHARE),
    "2 facts, 2 hops, alone, 0.005": Plan(2, 2, rate=5e-3),
    "2 facts, 2 hops, alone, 0.01": Plan(2, 2, rate=1e-2),
    "2 facts, 2 hops, alone, 0.02": Plan(2, 2),
    "2 facts, 2 hops, alone, longer, 0.005": Plan(2, 2, rate=5e-3, longer=LONGER),
    "2 facts, 2 hops, alone, longer, 0.01": Plan(2, 2, rate=1e-2, longer=LONGER),
    "2 facts, 2 hops, alone, longer, 0.02": Plan(2, 2, longer=LONGER),
    "2 facts, 2 hops, alone, longer, small batches, 0.01": Plan(
        2, 2, rate=1e-2, longer=LONGER, batch=64
    ),
    "3 facts, 1 hop": Plan(3, 1, SHARE),
    "3 facts, 2 hops": Plan(3, 2, SHARE),
    "3 facts, 3 hops": Plan(3, 3, SHARE),
}
KEPT = {  # of seed 0, for the page
    "2 facts, 1 hop": "hops_one",
    "2 facts, 2 hops": "hops_two",
    "2 facts, 3 hops": "hops_three",
    "2 facts, 2 hops, alone, 0.02": "hops_alone",
}


@cache
def drawn(task: int, simpler: float, seed: int) -> Stories:
    """Stories to train on."""
    made = stories(TRAIN, task=task, longest=LONGEST, simpler=simpler, seed=seed)
    return pack_stories(made, VOCABULARY)


@cache
def fresh(task: int, seed: int = JUDGE) -> Stories:
    """Stories to be judged by."""
    return pack_stories(stories(TEST, task=task, longest=LONGEST, seed=seed), VOCABULARY)


def build(plan: Plan) -> MemoryNetwork:
    """A reader that has learned nothing."""
    options = {"hops": plan.hops, "longest": LONGEST, "time": plan.time}
    return MemoryNetwork(len(VOCABULARY), plan.d, **options)


def train(plan: Plan, seed: int, *, of: Stories | None = None, steps: int | None = None):
    """A trained reader, and the loss after each step."""
    of = drawn(plan.task, plan.simpler, seed) if of is None else of
    torch.manual_seed(seed)
    model, each = build(plan), len(of.answers) // plan.batch
    kept = each * plan.batch
    order = torch.cat([torch.randperm(len(of.answers))[:kept] for _ in range(EPOCHS[1])])
    batches = order.split(plan.batch)  # gone through again where there are more epochs

    def loss(step: int):
        rows = batches[step % len(batches)]
        facts, questions, answers, mask, _ = (part[rows] for part in of)
        return F.cross_entropy(model(facts, questions, mask).logits, answers)

    steps = steps or EPOCHS[plan.task] * plan.longer * each
    return model, learn(model, loss, steps=steps, rate=plan.rate, warmup=0.2, clip=5.0, fused=True)


@torch.no_grad()
def judge(model: MemoryNetwork, of: Stories) -> dict:
    """Right answers; supporting facts found by some hop, each and all; found by which hop.

    `at_once`: stories in which some hop has them all among as many of its largest weights, which a
    single hop could.
    """
    read = model(of.facts, of.questions, of.mask)
    top = read.weights.argmax(-1)  # (b, h)
    hits = top[:, :, None] == of.support[:, None]  # (b, h, s)
    largest = read.weights.topk(of.support.shape[1]).indices  # (b, h, s)
    among = (largest.unsqueeze(-1) == of.support[:, None, None]).any(2)  # (b, h, s)
    return {
        "accuracy": (read.logits.argmax(-1) == of.answers).float().mean().item(),
        "found": hits.any(1).float().mean().item(),
        "all": hits.any(1).all(-1).float().mean().item(),
        "at_once": among.all(-1).any(1).float().mean().item(),
        "reads": hits.float().mean(0).tolist(),
    }


def tried() -> list[dict]:
    """Right answers on validation stories of two hops at several rates, seed 0."""
    plan = PLANS["2 facts, 2 hops"]
    held = fresh(2, VALIDATE)

    def trial(rate: float) -> dict:
        model, _ = train(plan._replace(rate=rate), 0)
        return {"rate": rate, "accuracy": judge(model, held)["accuracy"]}

    return ladder(trial, RATES[1:4], key="accuracy", among=RATES, best=max)


def trace() -> dict[str, list[float]]:
    """The first steps of each kind of training."""
    of = {}
    for plan in PLANS.values():
        if (plan.task, plan.simpler) not in of:
            made = stories(320, task=plan.task, simpler=plan.simpler, seed=0)
            of[plan.task, plan.simpler] = pack_stories(made, VOCABULARY)
    brief = partial(train, seed=0, steps=8)
    return {name: brief(p, of=of[p.task, p.simpler])[1] for name, p in PLANS.items()}


def reread() -> dict[str, dict]:
    """What the kept readers do on fresh stories."""
    from .stored import load_weights

    found = {}
    for name, file in KEPT.items():
        model = build(PLANS[name])
        model.load_state_dict(load_weights(file))
        row = judge(model, fresh(PLANS[name].task))
        found[file] = {key: row[key] for key in ("accuracy", "found", "all")}
    return found


def run(seed: int, keep) -> list[dict]:
    """One seed of every plan."""
    rows = []
    for name, plan in PLANS.items():
        model, losses = train(plan, seed)
        if seed == SEEDS[0] and name in KEPT:
            keep(KEPT[name], model)
        row = {"seed": seed, "plan": name, "parameters": parameters(model)}
        row |= {"rate": plan.rate, "steps": len(losses), "batch": plan.batch}
        row["validation"] = judge(model, fresh(plan.task, VALIDATE))["accuracy"]
        rows.append(row | judge(model, fresh(plan.task)) | {"loss": sum(losses[-20:]) / 20})
    return rows
