"""Parity with Bahdanau's decoder on d2l's classes: equal logits given equal weights."""

import sys
from pathlib import Path

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

from bahdanau_peer import ours_like, peer_translator

VOCAB = 11


def close(a, b):
    torch.testing.assert_close(a, b, atol=1e-12, rtol=1e-10)


@st.composite
def pairs(draw):
    """Both models in double precision, and a batch without padding."""
    torch.manual_seed(draw(st.integers(0, 2**31)))
    embed, hidden, layers = (draw(st.integers(1, n)) for n in (4, 5, 2))
    peer = peer_translator(VOCAB, embed, hidden, layers).double()
    b, k, q = (draw(st.integers(1, n)) for n in (3, 6, 5))
    source, inputs = torch.randint(4, VOCAB, (b, k)), torch.randint(4, VOCAB, (b, q))
    return peer, ours_like(peer).double(), source, inputs


@settings(max_examples=20)
@given(pair=pairs())
def test_logits_weights_and_gradients_are_equal(pair):
    peer, ours, source, inputs = pair
    lengths = torch.full((len(source),), source.shape[1])
    wanted, _ = peer(source, inputs, lengths)
    got = ours(source, lengths, inputs, need_weights=True)
    close(got.logits, wanted)
    close(got.weights, torch.cat(peer.decoder.weights, dim=1))
    wanted.square().sum().backward()
    got.logits.square().sum().backward()
    theirs = {name: p.grad for name, p in peer.named_parameters()}
    close(ours.encoder.rnn.weight_ih_l0.grad, theirs["encoder.rnn.weight_ih_l0"])
    close(ours.encoder.embedding.weight.grad, theirs["encoder.embedding.weight"])
    close(ours.decoder.score.W_k.weight.grad, theirs["decoder.attention.W_k.weight"])
    close(ours.decoder.score.w.weight.grad, theirs["decoder.attention.w_v.weight"])
    embed = ours.decoder.embedding.embedding_dim
    close(
        ours.decoder.rnn.weight_ih_l0.grad, theirs["decoder.rnn.weight_ih_l0"].roll(embed, dims=1)
    )


@settings(max_examples=20)
@given(pair=pairs(), seed=st.integers(0, 99))
def test_the_decoders_are_equal_over_padded_sources_too(pair, seed):
    """From our encoder's states: d2l's encoder reads the padding and ends elsewhere."""
    peer, ours, source, inputs = pair
    random = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, source.shape[1] + 1, (len(source),), generator=random)
    encoding = ours.encoder(source, lengths)
    state = (encoding.outputs, encoding.hidden[0].transpose(0, 1).contiguous(), lengths)
    wanted, _ = peer.decoder(inputs, state)
    got = ours.decoder(inputs, ours.decoder.start(encoding), need_weights=True)
    close(got.logits, wanted)
    close(got.weights, torch.cat(peer.decoder.weights, dim=1))
