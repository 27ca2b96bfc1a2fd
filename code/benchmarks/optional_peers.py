"""Race peers that the project does not require, where they are installed; store nothing.

pip install --no-deps labml-nn==0.5.1 labml==0.4.168 labml-helpers
pip install x-transformers
python code/benchmarks/optional_peers.py
"""

from __future__ import annotations

import argparse
import os
import sys
from functools import partial

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch wakes

import harness
import torch
from decoders import BOS, D_FF, D_MODEL, HEADS, LAYERS, VOCABULARY, greedy, ours
from harness import Case
from inputs import normal, padding
from multihead_joined import SIZES
from torch import Tensor, nn

import attnbook as ab


def labml_cases():
    """Multi-head self-attention of labml-nn with our weights."""
    try:
        from labml_nn.transformers.mha import MultiHeadAttention
    except ImportError:
        print("labml-nn is not installed: left out", file=sys.stderr)
        return
    torch.manual_seed(0)
    mine = ab.MultiHeadAttention(D_MODEL, HEADS).eval()
    peer = MultiHeadAttention(HEADS, D_MODEL, dropout_prob=0.0)
    peer.query.linear.load_state_dict(mine.W_q.state_dict())
    peer.key.linear.load_state_dict(mine.W_k.state_dict())
    peer.value.linear.load_state_dict(mine.W_v.state_dict())
    peer.output.load_state_dict(mine.W_o.state_dict())
    peer = SequenceFirst(peer)
    parameters = [*mine.parameters()], [*peer.parameters()]
    for n, b in SIZES.items():
        x = normal(b, n, D_MODEL)
        for need in (False, True):
            yield Case(
                f"multi-head {'with' if need else 'without'} weights",
                f"n={n}, b={b}, d={D_MODEL}, h={HEADS}, no mask",
                "labml-nn",
                partial(mine, x, need_weights=need),
                partial(peer, x),
                [x],
                parameters,
            )


class SequenceFirst(nn.Module):
    """labml-nn wants (n, b, d)."""

    def __init__(self, peer):
        super().__init__()
        self.peer = peer.eval()

    def forward(self, x):
        x = x.transpose(0, 1)
        return self.peer(query=x, key=x, value=x).transpose(0, 1)


def x_cases():
    """Greedy decoding of x-transformers with its cache, the encoder included on both sides."""
    try:
        peer = _x_model()
    except ImportError:
        print("x-transformers is not installed: left out", file=sys.stderr)
        return
    model, random = ours(), torch.Generator().manual_seed(0)
    source = torch.randint(4, VOCABULARY, (8, 32), generator=random)
    lengths, mask = padding(8, 32)
    for steps in (32, 128, 512):
        yield Case(
            "greedy decoding",
            f"{steps} tokens, b=8, k=32, d={D_MODEL}, {LAYERS} layers",
            "x-transformers with its cache",
            lambda steps=steps: greedy(model, model.encoder(source, lengths), steps),
            partial(_x_greedy, peer, source, mask.squeeze(1), steps),
            [],
        )


def _x_model():
    """The encoder and decoder of x-transformers at equal size; the weights are its own."""
    from x_transformers import XTransformer

    sides = {
        f"{side}_{name}": value
        for side in ("enc", "dec")
        for name, value in {
            "num_tokens": VOCABULARY,
            "depth": LAYERS,
            "heads": HEADS,
            "attn_dim_head": D_MODEL // HEADS,
            "ff_mult": D_FF // D_MODEL,
            "max_seq_len": 1024,
            "attn_flash": True,
        }.items()
    }
    return XTransformer(dim=D_MODEL, **sides).eval()


@torch.no_grad()
def _x_greedy(model, source: Tensor, mask: Tensor, steps: int) -> Tensor:
    """Greedy decoding by x-transformers: tokens (b, steps); mask (b, k)."""
    start = torch.full((len(source), 1), BOS)
    return model.generate(source, start, steps, mask=mask, temperature=0.0)


def main(argv=None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2.0, help="for each race")
    seconds = parser.parse_args(argv).seconds
    torch.set_num_threads(1)
    harness.settle()
    for cases in (labml_cases, x_cases):
        for case in cases():
            for name, pair in case.passes():
                result = harness.race(*pair, seconds=seconds)
                print(
                    f"{case.subject}, {case.setting}, {name}: {case.peer_name} "
                    f"{result['ours_ms']:.3g} / {result['peer_ms']:.3g} ms, "
                    f"ratio {result['ratio']:.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
