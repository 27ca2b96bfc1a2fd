"""Bahdanau's translator, against the same computation on d2l's classes with equal parameters."""

from __future__ import annotations

from functools import partial

import torch

import attnbook as ab
from devkit.bench.bahdanau_peer import ours_like, peer_greedy, peer_translator
from devkit.bench.harness import Case

VOCAB, BATCH = 500, 64
SIZES = [(32, 10), (32, 50), (256, 10), (256, 50)]  # hidden features, tokens of source and target


def cases():
    """A training step on 64 pairs, and one sentence decoded greedily, without padding."""
    for hidden, n in SIZES:
        torch.manual_seed(0)
        peer = peer_translator(VOCAB, hidden, hidden)
        model = ours_like(peer)
        setting = f"hidden={hidden}, n={n}"
        yield Case(
            "Bahdanau, training step",
            f"{setting}, b={BATCH}",
            PEER,
            *training_steps(model, peer, n),
            whole="training step",
            goals={"time": 1 / 1.5 if (hidden, n) == (256, 50) else 1.0},
        )
        source, lengths = torch.randint(4, VOCAB, (1, n)), torch.tensor([n])
        arguments = {"max_len": n, "eos": -1}  # no token ends it: n steps
        yield Case(
            "Bahdanau, decoded sentence",
            setting,
            PEER,
            partial(our_greedy, model, source, lengths, **arguments),
            partial(peer_greedy, peer, source, lengths, **arguments),
            whole="greedy decoding",
            goals={"time": 1.0},
        )


def our_greedy(*arguments, **others):
    """The tokens alone."""
    return ab.greedy(*arguments, **others).tokens


PEER = "the decoder on d2l AdditiveAttention"


def training_steps(model, peer, n: int):
    """Ours and the peer's: forward, loss per token, backward, clipping, Adam; each gives the loss.

    The peer's loss is d2l's; the rest of the step is torch's for both.
    """
    source, inputs, targets = torch.randint(4, VOCAB, (3, BATCH, n))
    lengths = torch.full((BATCH,), n)
    theirs = ab.import_d2l().MaskedSoftmaxCELoss()

    def our_loss():
        logits = model(source, lengths, inputs).logits
        return ab.masked_cross_entropy(logits, targets, lengths)

    def their_loss():
        logits, _ = peer(source, inputs, lengths)
        return theirs(logits, targets, lengths).mean()

    return _step(model, our_loss), _step(peer, their_loss)


def _step(model, loss):
    adam = torch.optim.Adam(model.parameters(), lr=1e-4)

    @torch.enable_grad()
    def run():
        value = loss()
        adam.zero_grad()
        value.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        return value.detach()

    return run
