"""Bahdanau's translator on d2l's classes, and how its parameters become ours.

d2l 0.17 ships the encoder, the attention and the base class of the decoder. The decoder here is
the book's computation on them: at every step the last state asks, the answer and the token's
embedding enter a GRU, and one dense layer reads all the states at the end.
"""

from __future__ import annotations

import torch
from torch import nn

import attnbook as ab


def peer_translator(vocab_size: int, embed_size: int, hidden_size: int, num_layers: int = 1):
    """An untrained `d2l.EncoderDecoder`; its encoder reads in one direction, without a bridge."""
    d2l = ab.import_d2l()

    class Decoder(d2l.AttentionDecoder):
        def __init__(self):
            super().__init__()
            self.attention = d2l.AdditiveAttention(hidden_size, hidden_size, hidden_size, 0.0)
            self.embedding = nn.Embedding(vocab_size, embed_size)
            self.rnn = nn.GRU(embed_size + hidden_size, hidden_size, num_layers)
            self.dense = nn.Linear(hidden_size, vocab_size)

        def init_state(self, encoded, source_lens):
            outputs, hidden = encoded
            return outputs.permute(1, 0, 2), hidden, source_lens  # (k, b, d) -> (b, k, d)

        def forward(self, inputs, state):
            outputs, hidden, source_lens = state
            tops, self.weights = [], []
            for x in self.embedding(inputs).permute(1, 0, 2):  # (b, e) of every step
                query = hidden[-1].unsqueeze(1)
                context = self.attention(query, outputs, outputs, source_lens)  # (b, 1, d)
                x = torch.cat((context, x.unsqueeze(1)), dim=-1)
                top, hidden = self.rnn(x.permute(1, 0, 2), hidden)
                tops.append(top)
                self.weights.append(self.attention.attention_weights)
            logits = self.dense(torch.cat(tops, dim=0)).permute(1, 0, 2)
            return logits, (outputs, hidden, source_lens)

    encoder = d2l.Seq2SeqEncoder(vocab_size, embed_size, hidden_size, num_layers)
    return d2l.EncoderDecoder(encoder, Decoder())


@torch.no_grad()
def peer_greedy(peer, source, source_lens, *, max_len: int, bos: int = 1, eos: int = 2):
    """The likeliest token at every step, for one sentence, as the book predicts: (1, t)."""
    state = peer.decoder.init_state(peer.encoder(source, source_lens), source_lens)
    token, tokens = torch.tensor([[bos]]), []
    for _ in range(max_len):
        logits, state = peer.decoder(token, state)
        token = logits.argmax(dim=2)
        tokens.append(token.item())
        if tokens[-1] == eos:
            break
    return torch.tensor([tokens])


def ours_like(peer) -> ab.RecurrentTranslator:
    """Our translator with the peer's parameters."""
    vocab_size, embed_size = peer.encoder.embedding.weight.shape
    hidden_size, num_layers = peer.encoder.rnn.hidden_size, peer.encoder.rnn.num_layers
    model = ab.RecurrentTranslator(
        ab.RecurrentEncoder(
            vocab_size, embed_size, hidden_size, num_layers=num_layers, bidirectional=False
        ),
        ab.AttentionDecoder(
            vocab_size,
            embed_size,
            hidden_size,
            encoder_size=hidden_size,
            num_layers=num_layers,
            readout="state",
            bridge=False,
        ),
    )
    theirs = {name: value.clone() for name, value in peer.state_dict().items()}
    renamed = {
        "decoder.attention.W_q": "decoder.score.W_q",
        "decoder.attention.W_k": "decoder.score.W_k",
        "decoder.attention.w_v": "decoder.score.w",
        "decoder.dense": "decoder.output",
    }
    for old, new in renamed.items():
        for name in [name for name in theirs if name.startswith(old)]:
            theirs[name.replace(old, new)] = theirs.pop(name)
    # their cell reads [context; embedding], ours [embedding; context]
    first = "decoder.rnn.weight_ih_l0"
    theirs[first] = theirs[first].roll(embed_size, dims=1)
    model.load_state_dict(theirs)
    return model
