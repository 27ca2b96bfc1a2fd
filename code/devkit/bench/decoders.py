"""Decoders to race: greedy loops over ours, and over peers with the same weights.

d2l 0.17.0 ships encoder blocks and the parts of a decoder, but no decoder. `D2lDecoder` puts its
parts together in the way of its chapter: the state holds each block's *inputs*, so that every step
projects all of them, and the source, again. The chapter adds position 0 at every step; here the
place goes on, so that both sides write the same tokens.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

import attnbook as ab
from attnbook.transformer import Encoding, Transformer

VOCABULARY, D_MODEL, HEADS, LAYERS, D_FF = 1000, 256, 8, 2, 1024
BOS = 1


def ours() -> Transformer:
    """The base model's shape, smaller: post-norm and sinusoids, as the peers have them."""
    torch.manual_seed(0)
    options = {"d_model": D_MODEL, "num_heads": HEADS, "num_layers": LAYERS, "d_ff": D_FF}
    return Transformer(
        VOCABULARY, VOCABULARY, tie="none", norm="post", dropout=0.0, **options
    ).eval()


@torch.no_grad()
def greedy(model: Transformer, encoding: Encoding, steps: int) -> Tensor:
    """Logits (b, steps, vocabulary) of greedy decoding that never stops early."""
    state = model.begin(encoding)
    token = torch.full((len(encoding.outputs), 1), BOS)
    logits = []
    for _ in range(steps):
        output = model.step(token, state)
        state = output.state
        logits.append(output.logits)
        token = output.logits[:, -1:].argmax(dim=-1)
    return torch.cat(logits, dim=1)


class D2lBlock(nn.Module):
    """A decoder block from d2l's attention, norm and feed-forward, with our weights."""

    def __init__(self, block):
        super().__init__()
        d2l = ab.import_d2l()
        sizes = (D_MODEL, D_MODEL, D_MODEL, D_MODEL, HEADS, 0.0, True)
        self.attention1, self.attention2 = (d2l.MultiHeadAttention(*sizes) for _ in range(2))
        self.norm1, self.norm2, self.norm3 = (d2l.AddNorm([D_MODEL], 0.0) for _ in range(3))
        self.ffn = d2l.PositionWiseFFN(D_MODEL, D_FF, D_MODEL)
        for theirs, mine in (
            (self.attention1, block.self_attention.attention),
            (self.attention2, block.cross_attention.attention),
            (self.norm1.ln, block.self_attention.norm),
            (self.norm2.ln, block.cross_attention.norm),
            (self.norm3.ln, block.feed_forward.norm),
            (self.ffn.dense1, block.feed_forward.layers[0]),
            (self.ffn.dense2, block.feed_forward.layers[2]),
        ):
            theirs.load_state_dict(mine.state_dict())

    def forward(self, x, past, source, lengths):
        past = torch.cat((past, x), dim=1)  # inputs, (b, t + 1, d)
        x = self.norm1(x, self.attention1(x, past, past, None))
        x = self.norm2(x, self.attention2(x, source, source, lengths))
        return self.norm3(x, self.ffn(x)), past


class D2lDecoder(nn.Module):
    """The decoder of d2l's chapter after our encoder, one token a step."""

    def __init__(self, model: Transformer):
        super().__init__()
        self.tokens = model.embedding.tokens
        self.blocks = nn.ModuleList(D2lBlock(block) for block in model.stack.blocks)
        self.positions = ab.import_d2l().PositionalEncoding(D_MODEL, 0.0)
        self.dense = model.output

    @torch.no_grad()
    def greedy(self, encoding: Encoding, lengths: Tensor, steps: int) -> Tensor:
        """As `greedy` above; lengths (b,) of the sources."""
        outputs = encoding.outputs
        pasts = [outputs[:, :0] for _ in self.blocks]
        token = torch.full((len(outputs), 1), BOS)
        logits = []
        for i in range(steps):
            x = self.tokens(token) * math.sqrt(D_MODEL) + self.positions.P[:, i : i + 1]
            for j, block in enumerate(self.blocks):
                x, pasts[j] = block(x, pasts[j], outputs, lengths)
            logits.append(self.dense(x))
            token = logits[-1].argmax(dim=-1)
        return torch.cat(logits, dim=1)


class TorchDecoder(nn.Module):
    """torch's decoder layers after our encoder; they have no cache, so each step reads it all."""

    def __init__(self, model: Transformer):
        super().__init__()
        self.embedding, self.output = model.embedding, model.output
        layer = nn.TransformerDecoderLayer(D_MODEL, HEADS, D_FF, 0.0, batch_first=True)
        self.decoder = nn.TransformerDecoder(layer, LAYERS).eval()
        for theirs, block in zip(self.decoder.layers, model.stack.blocks, strict=True):
            for attention, mine in (
                (theirs.self_attn, block.self_attention.attention),
                (theirs.multihead_attn, block.cross_attention.attention),
            ):
                projections = (mine.W_q, mine.W_k, mine.W_v)
                attention.load_state_dict(
                    {
                        "in_proj_weight": torch.cat([W.weight for W in projections]),
                        "in_proj_bias": torch.cat([W.bias for W in projections]),
                        "out_proj.weight": mine.W_o.weight,
                        "out_proj.bias": mine.W_o.bias,
                    }
                )
            theirs.norm1.load_state_dict(block.self_attention.norm.state_dict())
            theirs.norm2.load_state_dict(block.cross_attention.norm.state_dict())
            theirs.norm3.load_state_dict(block.feed_forward.norm.state_dict())
            theirs.linear1.load_state_dict(block.feed_forward.layers[0].state_dict())
            theirs.linear2.load_state_dict(block.feed_forward.layers[2].state_dict())

    @torch.no_grad()
    def greedy(self, encoding: Encoding, steps: int) -> Tensor:
        """As `greedy` above."""
        padding = ~encoding.mask[:, 0]
        tokens = torch.full((len(padding), 1), BOS)
        logits = []
        for i in range(steps):
            future = nn.Transformer.generate_square_subsequent_mask(i + 1)
            x = self.decoder(
                self.embedding(tokens),
                encoding.outputs,
                tgt_mask=future,
                tgt_is_causal=True,
                memory_key_padding_mask=padding.float().masked_fill(padding, -torch.inf),
            )
            logits.append(self.output(x[:, -1:]))
            tokens = torch.cat((tokens, logits[-1].argmax(dim=-1)), dim=1)
        return torch.cat(logits, dim=1)
