"""Questions that need one, two or three facts, and readers that look once, twice or three times.

Every reader has 5,000 stories of its task, and 1,000 others to be judged by, the same for all. It
is judged by its answers, and by whether the facts on which a hop puts the most weight are the
supporting ones. With `simpler`, three in ten of the training questions are of an earlier task:
"where is mary" among "where is milk". The stories to be judged by never hold those.

Two hops are trained without them, too, "alone": with the same number of steps and with three times
as many. Each of these ways has every rate of `RATES` with every seed, and its rate is the one with
the most right answers to `validation` stories, which are others than those that judge.
"""

from __future__ import annotations

from functools import cache, partial
from typing import NamedTuple

import torch
from torch.nn import functional as F

from attnbook.data import STORY_WORDS, Stories, Vocabulary, pack_stories, stories
from attnbook.hops import MemoryNetwork
from attnbook.metrics import selection

from .loop import learn, parameters

SEEDS = range(6)
TRAIN, TEST, LONGEST, BATCH = 5000, 1000, 12, 64
SHARE = 0.3  # of the training questions, those of an earlier task
STEPS = {1: 600, 2: 1000, 3: 1000}  # of each task
LONGER = 3  # times as many
RATES = (5e-3, 1e-2, 2e-2, 4e-2, 8e-2)
RATE = 1e-2
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
    longer: int = 1  # times as many steps


PLANS = {
    "1 fact, 1 hop": Plan(1, 1),
    "1 fact, 1 hop, no time": Plan(1, 1, time=False),
    "2 facts, 1 hop": Plan(2, 1, SHARE),
    "2 facts, 1 wide hop": Plan(2, 1, SHARE, d=80),
    "2 facts, 3 hops": Plan(2, 3, SHARE),
    "3 facts, 1 hop": Plan(3, 1, SHARE),
    "3 facts, 2 hops": Plan(3, 2, SHARE),
    "3 facts, 3 hops": Plan(3, 3, SHARE),
}
WAYS = {
    "2 facts, 2 hops": Plan(2, 2, SHARE),
    "2 facts, 2 hops, alone": Plan(2, 2),
    "2 facts, 2 hops, alone, longer": Plan(2, 2, longer=LONGER),
}
for way, plan in WAYS.items():
    PLANS |= {f"{way}, {rate:g}": plan._replace(rate=rate) for rate in RATES}
KEPT = {  # of seed 0, for the page
    "2 facts, 1 hop": "hops_one",
    "2 facts, 2 hops, 0.01": "hops_two",
    "2 facts, 3 hops": "hops_three",
    "2 facts, 2 hops, alone, 0.01": "hops_alone",
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
    steps = steps or STEPS[plan.task] * plan.longer
    model, epoch = build(plan), len(of.answers) // BATCH * BATCH
    rounds = -(-steps * BATCH // epoch)
    order = torch.cat([torch.randperm(len(of.answers))[:epoch] for _ in range(rounds)])
    batches = order.split(BATCH)

    def loss(step: int):
        facts, questions, answers, mask, _ = (part[batches[step]] for part in of)
        return F.cross_entropy(model(facts, questions, mask).logits, answers)

    return model, learn(model, loss, steps=steps, rate=plan.rate, warmup=0.2, clip=5.0, fused=True)


@torch.no_grad()
def judge(model: MemoryNetwork, of: Stories) -> dict:
    """Right answers; supporting facts found by some hop, each and all; found by which hop.

    `at_once`: stories in which some hop has them all among as many of its largest weights, which a
    single hop could. `kept`: recall and precision of the facts that some hop reads, with their
    intervals over stories.
    """
    read = model(of.facts, of.questions, of.mask)
    top = read.weights.argmax(-1)  # (b, h)
    hits = top[:, :, None] == of.support[:, None]  # (b, h, s)
    largest = read.weights.topk(of.support.shape[1]).indices  # (b, h, s)
    among = (largest.unsqueeze(-1) == of.support[:, None, None]).any(2)  # (b, h, s)
    kept = torch.zeros_like(of.mask).scatter(1, top, True)  # (b, n)
    gold = [{(0, i) for i in places} for places in of.support.tolist()]
    chosen = selection([row[None] for row in kept], gold, samples=200)
    return {
        "accuracy": (read.logits.argmax(-1) == of.answers).float().mean().item(),
        "found": hits.any(1).float().mean().item(),
        "all": hits.any(1).all(-1).float().mean().item(),
        "at_once": among.all(-1).any(1).float().mean().item(),
        "reads": hits.float().mean(0).tolist(),
        "kept": {"recall": list(chosen.recall), "precision": list(chosen.precision)},
    }


def tried() -> list[dict]:
    """Right answers on validation stories of one hop at several rates, seed 0."""
    plan, held = PLANS["2 facts, 1 hop"], fresh(2, VALIDATE)

    def trial(rate: float) -> dict:
        model, _ = train(plan._replace(rate=rate), 0)
        return {"rate": rate, "accuracy": judge(model, held)["accuracy"]}

    return [trial(rate) for rate in RATES]


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
        row |= {"rate": plan.rate, "steps": len(losses)}
        row["validation"] = judge(model, fresh(plan.task, VALIDATE))["accuracy"]
        rows.append(row | judge(model, fresh(plan.task)) | {"loss": sum(losses[-20:]) / 20})
    return rows
