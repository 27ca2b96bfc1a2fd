"""The relation between two people of a text: the query is made from both, the truth is one verb.

A text is two reports, so four people. Of two of them it is asked what the first did to the second
or had done by them: one of four kinds in two directions, or nothing, if they stand in different
reports. The answer is read from one context vector, a weighted mean of words, so all that is said
must come through the weights. The verb of the report in which both stand is where it is written.

Most pairs of the training stand in one report, or most do not: a reader that cannot tell the two
apart says what was more frequent.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnbook.attention import attention
from attnbook.data import Vocabulary
from attnbook.data.reports import VERBS, reports
from attnbook.masks import length_mask

from .loop import learn

SEEDS = range(6)
QUERIES = ("both", "first")  # of which people the query is made
MOST, FEW = 0.7, 0.3  # share of the pairs in training that stand in one report
KINDS = (("both", MOST), ("first", MOST), ("first", FEW))
BRIEF = range(3)  # seeds of the last kind
DEEDS = sorted(set(VERBS.values()))
NOTHING = 2 * len(DEEDS)  # the answer that there is no relation
D, BATCH, N, STEPS = 48, 64, 3000, 500
RATES = (3e-3, 1e-2, 3e-2)
RATE = 1e-2  # the best of them for both people; the control has the same


@dataclass
class Questions:
    """What is asked: people (b, 2), the answer (b,), the verb's place (b,), -1 for nothing."""

    people: Tensor
    answer: Tensor
    verb: Tensor


class Texts:
    """tokens (n, longest), lengths (n,); of each report verb and kind (n, 2); its people (n, 4)."""

    def __init__(self, n: int, seed: int, vocabulary: Vocabulary | None = None):
        drawn = reports(2 * n, seed=seed)
        words, people, verbs, kinds = [], [], [], []
        for one, two in zip(drawn[::2], drawn[1::2], strict=True):
            after = len(one.tokens) + 1
            words.append([*one.tokens, "and", *two.tokens])
            both = (one, 0), (two, after)
            people.append([x.spans[who][1] + at for x, at in both for who in ("who", "whom")])
            verbs.append([x.verb + at for x, at in both])
            kinds.append([DEEDS.index(VERBS[x.tokens[x.verb]]) for x, _ in both])
        self.vocabulary = vocabulary or Vocabulary(words)
        rows = [torch.tensor(self.vocabulary.encode(text)) for text in words]
        self.tokens = nn.utils.rnn.pad_sequence(rows, batch_first=True)
        self.lengths = torch.tensor([len(row) for row in rows])
        self.people, self.verbs, self.kinds = map(torch.tensor, (people, verbs, kinds))

    def ask(self, rows: Tensor, random: torch.Generator, share: float = MOST) -> Questions:
        """About two people of each of these texts, a share of them of one report."""
        shape = rows.shape
        one, two = (torch.randint(0, 2, shape, generator=random) for _ in range(2))
        report = torch.randint(0, 2, shape, generator=random)
        same = torch.rand(shape, generator=random) < share
        first = 2 * report + one
        second = torch.where(same, 2 * report + 1 - one, 2 * (1 - report) + two)
        people = self.people[rows[:, None], torch.stack([first, second], -1)]
        answer = torch.where(same, 2 * self.kinds[rows, report] + one, NOTHING)
        return Questions(people, answer, torch.where(same, self.verbs[rows, report], -1))


class Relation(nn.Module):
    """Attention whose query is made from two tokens.

    Shapes: tokens (b, n), lengths (b,), people (b, 2) -> logits (b, NOTHING + 1), weights (b, n).
    """

    def __init__(self, query: str, vocabulary: int):
        super().__init__()
        self.query = query
        self.token = nn.Embedding(vocabulary, D)
        self.both_ways = nn.GRU(D, D // 2, batch_first=True, bidirectional=True)
        self.W_q, self.W_k, self.W_v = nn.Linear(2 * D, D), nn.Linear(D, D), nn.Linear(D, D)
        self.output = nn.Linear(D, NOTHING + 1)

    def forward(self, tokens: Tensor, lengths: Tensor, people: Tensor, seen: Tensor | None = None):
        words, n = self.token(tokens), tokens.shape[1]
        packed = nn.utils.rnn.pack_padded_sequence(
            words, lengths, batch_first=True, enforce_sorted=False
        )
        states = self.both_ways(packed)[0]
        states = nn.utils.rnn.pad_packed_sequence(states, batch_first=True, total_length=n)[0]
        pair = states[torch.arange(len(tokens))[:, None], people]  # (b, 2, d)
        told = torch.tensor([1, int(self.query == "both")])
        query = self.W_q((pair * told[:, None]).flatten(1))[:, None]
        mask = length_mask(lengths, n)
        mask = mask if seen is None else mask & seen[:, None]
        context, weights = attention(query, self.W_k(states), self.W_v(words), mask=mask)
        return self.output(context[:, 0]), weights[:, 0]


def train(query: str, seed: int, *, share: float = MOST, rate: float = RATE, steps: int = STEPS):
    """A layer trained from `seed`, its texts, and its loss after each step."""
    x = Texts(N, seed)
    torch.manual_seed(seed)
    model = Relation(query, len(x.vocabulary))
    random = torch.Generator().manual_seed(seed)

    def loss(step: int) -> Tensor:
        rows = torch.randint(0, N, (BATCH,), generator=random)
        asked = x.ask(rows, random, share)
        logits, _ = model(x.tokens[rows], x.lengths[rows], asked.people)
        return F.cross_entropy(logits, asked.answer)

    return model, x, learn(model, loss, steps=steps, rate=rate)


@torch.no_grad()
def judge(model: Relation, vocabulary: Vocabulary, seed: int = 10**6) -> dict[str, float]:
    """Right answers; the weight on the verb; right answers when it, or another token, is hidden."""
    test = Texts(1000, seed, vocabulary)
    rows = torch.arange(len(test.tokens))
    asked = test.ask(rows, torch.Generator().manual_seed(seed))
    related = asked.verb >= 0

    def right(seen: Tensor | None = None) -> Tensor:
        logits, _ = model(test.tokens, test.lengths, asked.people, seen)
        return logits.argmax(-1) == asked.answer

    logits, weights = model(test.tokens, test.lengths, asked.people)
    place = torch.arange(test.tokens.shape[1])
    verb = asked.verb[:, None]
    token = torch.rand(weights.shape, generator=torch.Generator().manual_seed(0))
    token = token.masked_fill((place >= test.lengths[:, None]) | (place == verb), -1).argmax(-1)
    found = {
        "loss": F.cross_entropy(logits, asked.answer),
        "related": right()[related],
        "nothing": right()[~related],
        "weight on the verb": weights[rows, asked.verb.clamp(min=0)][related],
        "most on the verb": (weights.argmax(-1) == asked.verb)[related],
        "beside it": ((weights.argmax(-1) - asked.verb).abs() <= 1)[related],
        "verb hidden": right(place != verb)[related],
        "another hidden": right(place != token[:, None])[related],
    }
    return {name: value.float().mean().item() for name, value in found.items()}


def tried() -> list[dict]:
    """The validation loss with the query from both people at each rate, seed 0."""
    rows = []
    for rate in RATES:
        model, x, _ = train("both", 0, rate=rate)
        rows.append({"rate": rate, "loss": judge(model, x.vocabulary, seed=10**5)["loss"]})
    return rows


def trace() -> dict[str, list[float]]:
    """A brief training of each kind."""
    found = {query: train(query, 0, steps=10)[2] for query in QUERIES}
    return found | {"first, few": train("first", 0, share=FEW, steps=10)[2]}


def run(seed: int) -> list[dict]:
    """One seed of each kind."""
    rows = []
    for query, share in KINDS if seed in BRIEF else KINDS[:-1]:
        model, x, _ = train(query, seed, share=share)
        said = {"seed": seed, "query": query, "share": share}
        rows.append(said | judge(model, x.vocabulary))
    return rows
