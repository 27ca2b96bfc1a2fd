"""Needles in haystacks: what each way of choosing by content keeps, and at what length.

A query looks for the two to four of 256 keys that carry its mark, and must give the mean of their
values (`attnbook.data.haystack`). Every way is trained on the same examples for as many steps, and
judged at that length and on haystacks eight times as large, with the same weights. The rate of
each is the best on validation examples of seed 0 (`tried`), where its neighbours are worse.

A query is a word: each of the marks has a vector of its own, learned, which nothing ties to the
mark that the keys carry. Where it is "tied", a query is the mark itself, and one matrix serves all.

What is not soft begins as a softmax for `WARM` steps, or is annealed over twice as many; what is
called "cold" does neither. A cold way is also trained "quiet", with words that begin at a hundredth
of their size, so that at first all scores are nearly alike, and "long", for five times the steps at
one rate. `make train` trains three seeds of each, and three more of those that begin cold (`MORE`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnbook.data import Haystack, haystack
from attnbook.metrics import selection
from attnbook.normalize import entmax15, masked_softmax, sparsemax, top_k_softmax
from attnbook.selective import Relevance, Selected, SelectiveNode

from .ladder import ladder
from .loop import aside, learn
from .stored import load_into

SEEDS = range(6)
OF_ALL = range(3)  # seeds of every way; the others are of `MORE` alone
MARKS = 32
TRAINED, LONGER = 256, 2048  # keys
STEPS, WARM, BATCH = 1000, 400, 32
RATES = (1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1)
RIGHT = 0.1  # an answer is right if its error is below this share of the answers' mean square
D, D_V, SIZE = 16, 8, 32  # features of a mark, of a value, of what is compared
RARE = 64.0  # how much more the label of a needle counts than that of another key
LIMIT = 4  # k of top-k, as many as there may be needles

Normalizer = Callable[[Tensor, Tensor | None], Tensor]


def at_temperature(normalize: Normalizer, temperature: float) -> Normalizer:
    """The same normaliser of scores divided by a temperature."""
    return lambda scores, mask=None: normalize(scores / temperature, mask)


def warmed(normalize: Normalizer) -> Callable[[int], Normalizer]:
    """A softmax first, then another normaliser."""
    return lambda step: masked_softmax if step < WARM else normalize


def cold(normalize: Normalizer) -> Callable[[int], Normalizer]:
    """The same normaliser from the first step on."""
    return lambda step: normalize


def fewer(step: int) -> Normalizer:
    """Top-k, whose k falls from all keys to `LIMIT` by the same factor each step."""
    share = min(step / (2 * WARM), 1.0)
    return partial(top_k_softmax, k=round(TRAINED ** (1 - share) * LIMIT**share))


def cooled(step: int) -> Normalizer:
    """Sparsemax at a temperature that falls from 32 to 1 by the same factor each step."""
    return at_temperature(sparsemax, 32.0 ** (1 - min(step / (2 * WARM), 1.0)))


class Way(NamedTuple):
    """A way of choosing: its normaliser at each step, its rate, the options of its gates."""

    normalize: Callable[[int], Normalizer]
    rate: float = 1e-2
    gates: dict | None = None  # of `gated_attention`; None: no predictor of relevance
    late: dict | None = None  # gates that are added after `WARM` steps
    tied: bool = False  # queries are marks, not words
    size: float = 1.0  # of the words at the beginning
    steps: int = STEPS
    penalty: float = 0.0  # on the mean gate, from the first step
    labels: float = 0.0  # how much a loss counts that tells the predictor where the needles are

    def options(self, step: int) -> dict:
        """The options of the gates at a step."""
        return {**(self.gates or {}), **((self.late or {}) if step >= WARM else {})}


VALUES, SCORES = {"gate": "values"}, {"gate": "scores"}
top_4 = partial(top_k_softmax, k=LIMIT)
WAYS = {
    "softmax": Way(cold(masked_softmax)),
    "entmax 1.5": Way(warmed(entmax15)),
    "sparsemax": Way(warmed(sparsemax)),
    "top-4": Way(warmed(top_4)),
    "sparsemax, cold": Way(cold(sparsemax), 3e-2),
    "top-4, cold": Way(cold(top_4), 1e-1),
    "sparsemax, cooled": Way(cooled, 3e-2),
    "top-4, k annealed": Way(fewer, 1e-1),
    "sparsemax, cold, quiet": Way(cold(sparsemax), size=0.01),
    "top-4, cold, quiet": Way(cold(top_4), size=0.01),
    "sparsemax, cold, long": Way(cold(sparsemax), steps=5 * STEPS),
    "top-4, cold, long": Way(cold(top_4), steps=5 * STEPS),
    "sparsemax, cold, tied": Way(cold(sparsemax), 3e-2, tied=True),
    "top-4, cold, tied": Way(cold(top_4), 3e-2, tied=True),
    "soft gates": Way(cold(masked_softmax), gates=VALUES),
    "hard gates": Way(cold(masked_softmax), gates=VALUES, late={"hard": True}, penalty=0.005),
    "hard gates, labels": Way(
        cold(masked_softmax), 3e-2, gates=VALUES, late={"hard": True}, labels=1.0
    ),
    "scan": Way(cold(masked_softmax), 3e-3, gates=SCORES, late={"keep": 16}),
    "scan, labels": Way(cold(masked_softmax), 1e-1, gates=SCORES, late={"keep": 16}, labels=1.0),
}

MORE = ["sparsemax, cold", "sparsemax, cold, quiet", "sparsemax, cold, long"]
MORE += ["top-4, cold", "top-4, cold, quiet"]
KEPT = {"softmax": "needles_softmax", "sparsemax": "needles_sparsemax"}  # of seed 0


class Words(nn.Module):
    """A learned vector for each mark, looked up: (..., d) -> (..., SIZE)."""

    def __init__(self):
        super().__init__()
        some = haystack(64 * MARKS, 4, generator=torch.Generator().manual_seed(0)).queries
        self.register_buffer("marks", torch.unique(some.flatten(0, 1), dim=0), persistent=False)
        self.vectors = nn.Embedding(MARKS, SIZE)

    def forward(self, queries: Tensor) -> Tensor:
        return self.vectors(torch.cdist(queries, self.marks).argmin(dim=-1))


class Finder(nn.Module):
    """One selective node between learned maps of queries, keys and values.

    Shapes: queries (b, 1, d), keys (b, k, d), values (b, k, d_v) -> `Selected`, (b, 1, d_v).
    """

    def __init__(self, gated: bool = False, tied: bool = False):
        super().__init__()
        self.W_q = nn.Linear(D, SIZE, bias=False) if tied else Words()
        self.W_k = nn.Linear(D, SIZE, bias=False)
        self.W_v = nn.Linear(D_V, D_V, bias=False)
        self.relevance = Relevance(SIZE, SIZE, SIZE // 4) if gated else None

    def forward(self, hay: Haystack, normalize: Normalizer, gates: dict) -> Selected:
        node = SelectiveNode(self.relevance, normalize=normalize, **gates)
        return node(self.W_q(hay.queries), self.W_k(hay.keys), self.W_v(hay.values))


def extra(way: Way, relevance: Tensor | None, hay: Haystack) -> Tensor | float:
    """What is added to the loss of the answers: a price of open gates, a loss of the labels."""
    if relevance is None:
        return 0.0
    told = F.binary_cross_entropy_with_logits(
        relevance, hay.needles.to(relevance.dtype), pos_weight=torch.tensor(RARE)
    )
    return way.penalty * relevance.sigmoid().mean() + way.labels * told


def train(way: Way, seed: int, steps: int | None = None, rate: float | None = None):
    """A finder trained from `seed`, and its loss after each step."""
    torch.manual_seed(seed)
    model, random = Finder(way.gates is not None, way.tied), torch.Generator().manual_seed(seed)
    if not way.tied:
        model.W_q.vectors.weight.data *= way.size

    def loss(step: int) -> Tensor:
        hay = haystack(BATCH, TRAINED, generator=random)
        found = model(hay, way.normalize(step), way.options(step))
        answers = F.mse_loss(found.output, hay.answers)
        return answers + aside(extra(way, found.relevance, hay))

    return model, learn(model, loss, steps=steps or way.steps, rate=rate or way.rate)


@torch.no_grad()
def judge(model: Finder, way: Way, n: int, *, examples: int = 500, seed: int = 10**6) -> dict:
    """What a trained finder does on new haystacks of `n` keys; a hundred are held at once."""
    random, parts = torch.Generator().manual_seed(seed), []
    for _ in range(examples // 100):
        hay = haystack(100, n, generator=random)
        found = model(hay, way.normalize(STEPS), way.options(STEPS))
        error = (found.output - hay.answers).square().mean(dim=(1, 2))
        mass = (found.weights * hay.needles).sum(dim=(1, 2)) / found.weights.sum(dim=(1, 2)).clamp(
            min=1e-9
        )
        parts.append((error, hay.answers.square().mean(dim=(1, 2)), mass, found.kept, hay.needles))
    error, power, mass, kept, needles = (torch.cat(part) for part in zip(*parts, strict=True))
    gold = [set(map(tuple, mask.nonzero().tolist())) for mask in needles]
    row = selection(list(kept), gold, samples=500) if kept.any() else None
    return {
        "n": n,
        "right": (error < RIGHT * power.mean()).float().mean().item(),
        "error": (error.mean() / power.mean()).item(),
        "mass": mass.mean().item(),
        "kept": kept.float().sum(dim=(1, 2)).mean().item(),
        "recall": list(row.recall) if row else [0.0] * 3,
        "precision": list(row.precision) if row else [0.0] * 3,
    }


def stored(name: str) -> Finder:
    """The stored model of a way, one of `KEPT`."""
    return load_into(Finder(), KEPT[name])


def reread() -> dict[str, dict[str, float]]:
    """What the stored weights do on a hundred haystacks."""
    found = {}
    for name, file in KEPT.items():
        judged = judge(stored(name), WAYS[name], TRAINED, examples=100)
        found[file] = {key: judged[key] for key in ("error", "mass", "kept")}
    return found


def tried() -> list[dict]:
    """The validation error of each way at some of the rates, seed 0; not of the long ones."""

    def trial(name: str, rate: float) -> dict:
        model, _ = train(WAYS[name], 0, rate=rate)
        error = judge(model, WAYS[name], TRAINED, seed=10**5)["error"]
        return {"way": name, "rate": rate, "error": error}

    climb = partial(ladder, rates=RATES[1:4], key="error", among=RATES)
    names = (name for name, way in WAYS.items() if way.steps == STEPS)
    return [row for name in names for row in climb(partial(trial, name))]


def trace() -> dict[str, list[float]]:
    """A brief training of each way, as at its first steps and as at its last."""
    found = {}
    for name, way in WAYS.items():
        late = way._replace(normalize=cold(way.normalize(STEPS)), gates=way.options(STEPS) or None)
        found |= {name: train(way, 0, steps=4)[1], f"{name}, late": train(late, 0, steps=4)[1]}
    return found


def run(seed: int, keep: Callable[[str, nn.Module], None]) -> list[dict]:
    """One seed of every way, at both lengths; the softmax's weights also with other choices."""
    rows = []
    for name, way in WAYS.items():
        if seed not in OF_ALL and name not in MORE:
            continue
        model, losses = train(way, seed)
        judged = {name: way}
        if name == "softmax":
            judged |= {f"{name}, then {other}": WAYS[other] for other in ("sparsemax", "top-4")}
        for title, other in judged.items():
            for n in (TRAINED, LONGER):
                row = {"seed": seed, "way": title, **judge(model, other, n)}
                rows.append({**row, "loss": sum(losses[-50:]) / 50})
        if name in KEPT and seed == SEEDS[0]:
            keep(KEPT[name], model)
    return rows
