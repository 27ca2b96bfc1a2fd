"""Greedy decoding after the source is read: our cache, d2l's, and none."""

from __future__ import annotations

from functools import partial

import torch

from devkit.bench import decoders
from devkit.bench.harness import Case
from devkit.bench.inputs import padding

SOURCES, K = 8, 32  # sentences at once, and the longest
GOALS = {32: 0.5, 128: 0.5, 512: 0.25}  # steps: largest ratio to d2l


def cases():
    """One model, one batch of sources, ever longer targets."""
    model = decoders.ours()
    d2l, torchs = decoders.D2lDecoder(model).eval(), decoders.TorchDecoder(model).eval()
    random = torch.Generator().manual_seed(0)
    source = torch.randint(4, decoders.VOCABULARY, (SOURCES, K), generator=random)
    lengths, _ = padding(SOURCES, K)
    with torch.no_grad():
        encoding = model.encoder(source, lengths)
    for steps, goal in GOALS.items():
        setting = f"{steps} tokens, b={SOURCES}, k={K}, d={decoders.D_MODEL}, 2 layers"
        ours = partial(decoders.greedy, model, encoding, steps)
        peers = {
            "d2l decoder, positions mended": (partial(d2l.greedy, encoding, lengths, steps), goal)
        }
        if steps < 512:  # 512 re-runs take a minute
            peers["torch nn.TransformerDecoder, re-run"] = (
                partial(torchs.greedy, encoding, steps),
                1.0,
            )
        for name, (peer, limit) in peers.items():
            yield Case("greedy decoding", setting, name, ours, peer, [], goals={"time": limit})
