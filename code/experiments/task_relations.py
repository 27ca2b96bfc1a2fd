"""The relation between two people of a text: the query is made from both, the truth is one verb.

A text is two reports, so four people. Of two of them it is asked what the first did to the second
or had done by them: one of four kinds in two directions, or nothing, if they stand in different
reports. The answer is read from one context vector, so all that is said must come through the
weights. The verb of the report that both stand in is where it is written.
"""

from __future__ import annotations

import random

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnbook.data import UNK, Vocabulary
from attnbook.data.reports import VERBS, reports
from attnbook.attention import attention
from attnbook.masks import length_mask

from .loop import curve, learn, parameters

SEEDS = range(6)
READERS = ("both ways", "words alone")
QUERIES = ("both", "first", "none")
KINDS = sorted(set(VERBS.values()))
D, BATCH, N, STEPS = 48, 64, 3000, 800
NOTHING = 2 * len(KINDS)


class Texts:
    """tokens (n, longest), lengths (n,), people (n, 4), verbs (n, 2), passive (n, 2), kinds (n, 2)"""

    def __init__(self, n: int, seed: int, vocabulary: Vocabulary | None = None):
        found = reports(2 * n, seed=seed)
        self.words, people, verbs, kinds = [], [], [], []
        for one, two in zip(found[::2], found[1::2], strict=True):
            offset = len(one.tokens) + 1
            self.words.append([*one.tokens, "and", *two.tokens])
            people.append([r.spans[q][1] + o for r, o in ((one, 0), (two, offset)) for q in ("who", "whom")])
            verbs.append([one.verb, two.verb + offset])
            kinds.append([KINDS.index(VERBS[r.tokens[r.verb]]) for r in (one, two)])
        self.vocabulary = vocabulary or Vocabulary(self.words)
        rows = [torch.tensor(self.vocabulary.encode(words)) for words in self.words]
        self.tokens = nn.utils.rnn.pad_sequence(rows, batch_first=True)
        self.lengths = torch.tensor([len(row) for row in rows])
        self.people, self.verbs, self.kinds = map(torch.tensor, (people, verbs, kinds))

    def ask(self, rows: Tensor, generator: torch.Generator):
        """For each text two people (b, 2), the answer (b,), and the verb (b,), -1 for nothing."""
        b = len(rows)
        one = torch.randint(0, 4, (b,), generator=generator)
        near = one ^ 1
        far = (one + 2 + torch.randint(0, 2, (b,), generator=generator) * (1 - 2 * (one % 2))) % 4
        far = torch.where(one < 2, 2 + torch.randint(0, 2, (b,), generator=generator), torch.randint(0, 2, (b,), generator=generator))
        same = torch.rand(b, generator=generator) < 0.7
        two = torch.where(same, near, far)
        pair = self.people[rows[:, None], torch.stack([one, two], -1)]
        clause = one // 2
        answer = self.kinds[rows, clause] * 2 + one % 2
        return pair, torch.where(same, answer, NOTHING), torch.where(same, self.verbs[rows, clause], -1)


class Relation(nn.Module):
    """Attention whose query is made from two tokens; logits (b, 2 kinds + 1), weights (b, n)."""

    def __init__(self, reader: str, query: str, vocabulary: int):
        super().__init__()
        self.reader, self.query = reader, query
        self.token = nn.Embedding(vocabulary, D)
        self.both_ways = nn.GRU(D, D // 2, batch_first=True, bidirectional=True)
        self.W_q, self.W_k, self.W_v = nn.Linear(2 * D, D), nn.Linear(D, D), nn.Linear(D, D)
        self.output = nn.Linear(D, NOTHING + 1)

    def forward(self, tokens, lengths, pair, mask=None):
        words = self.token(tokens)
        packed = nn.utils.rnn.pack_padded_sequence(words, lengths, batch_first=True, enforce_sorted=False)
        keys = nn.utils.rnn.pad_packed_sequence(self.both_ways(packed)[0], batch_first=True, total_length=tokens.shape[1])[0]
        at = torch.arange(len(tokens))
        one, two = keys[at, pair[:, 0]], keys[at, pair[:, 1]]
        if self.query == "first":
            two = torch.zeros_like(two)
        if self.query == "none":
            one, two = torch.zeros_like(one), torch.zeros_like(two)
        query = self.W_q(torch.cat([one, two], -1))[:, None]
        values = self.W_v(keys if self.reader == "both ways" else words)
        seen = length_mask(lengths, tokens.shape[1])
        seen = seen if mask is None else seen & mask[:, None]
        context, weights = attention(query, self.W_k(keys), values, mask=seen)
        return self.output(context[:, 0]), weights[:, 0]


def train(reader, query, seed, *, rate, steps=STEPS, n=N):
    x = Texts(n, seed)
    torch.manual_seed(seed)
    model, random_ = Relation(reader, query, len(x.vocabulary)), torch.Generator().manual_seed(seed)

    def loss(step):
        rows = torch.randint(0, n, (BATCH,), generator=random_)
        pair, answer, _ = x.ask(rows, random_)
        return F.cross_entropy(model(x.tokens[rows], x.lengths[rows], pair)[0], answer)

    return model, x, learn(model, loss, steps=steps, rate=rate)


@torch.no_grad()
def judge(model, x, seed=10**6):
    test = Texts(1000, seed, x.vocabulary)
    rows = torch.arange(1000)
    pair, answer, verb = test.ask(rows, torch.Generator().manual_seed(seed))
    logits, weights = model(test.tokens, test.lengths, pair)
    right = logits.argmax(-1) == answer
    same = verb >= 0
    top = weights.argmax(-1)
    d = (top - verb)[same]
    hidden = torch.ones_like(test.tokens, dtype=torch.bool)
    hidden[rows[same], verb[same]] = False
    without = (model(test.tokens, test.lengths, pair, hidden)[0].argmax(-1) == answer)[same].float().mean()
    other = torch.ones_like(hidden)
    rnd = torch.where(torch.rand(1000, generator=torch.Generator().manual_seed(1)) < .5, verb + 4, verb - 4).clamp(min=0)
    rnd = torch.minimum(rnd, test.lengths - 1)
    other[rows[same], rnd[same]] = False
    control = (model(test.tokens, test.lengths, pair, other)[0].argmax(-1) == answer)[same].float().mean()
    return {"same": right[same].float().mean().item(), "nothing": right[~same].float().mean().item(),
            "verb, weight": weights[rows, verb.clamp(min=0)][same].mean().item(), "verb, top": (d == 0).float().mean().item(), "within 1": (d.abs() <= 1).float().mean().item(),
            "without verb": without.item(), "without another": control.item()}


if __name__ == "__main__":
    import time
    for reader in READERS:
        for query in QUERIES:
            for rate in (3e-3, 1e-2):
                t = time.time(); m, x, l = train(reader, query, 0, rate=rate)
                print(reader, query, rate, round(time.time() - t), round(sum(l[-20:]) / 20, 3), {k: round(v, 3) for k, v in judge(m, x).items()}, flush=True)
