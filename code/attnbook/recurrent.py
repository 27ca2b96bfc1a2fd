"""Recurrent models: an encoder, decoders with and without attention, a translator.

A translator is asked in two moves, which training, decoding and pictures share:

    state = model.start(source, source_lens)   # read the source, once
    output = model.step(inputs, state)         # any number of target tokens; output.state goes on

States and outputs are values: NamedTuples of tensors whose first axis is the batch. Nothing
changes them, so that a state can be kept, copied and branched; a module holds parameters only.
A copy of a state whose `memory` has another mask is how a column is hidden from the decoder.

Shape letters: `b` batch, `q` target tokens, `k` source tokens, `d` features, `l` layers.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ._checks import check_choice, check_sizes, look_up, shape
from .attention import attention
from .cells import STEPS, Bridge
from .normalize import _masked_softmax_of_few
from .recurrent_encoder import Encoding, Reader, RecurrentEncoder, encoder_for
from .scores import Score, _make_score, scaled_dot

__all__ = [
    "AttentionDecoder",
    "Encoding",
    "Memory",
    "Output",
    "PlainDecoder",
    "RecurrentEncoder",
    "RecurrentState",
    "RecurrentTranslator",
    "recurrent_translator",
]

# What the models pass on: values, never changed in place


class Memory(NamedTuple):
    """What attention may look at: depends on the source alone, and is made once for it.

    `outputs` (b, k, d): the values, the encoder's states. `keys` (b, k, d_k): the values as the
    score has projected them, or the values themselves. `mask` (b, 1, k): True where the decoder
    may attend; at first that is every token.
    """

    outputs: Tensor
    keys: Tensor
    mask: Tensor


class RecurrentState(NamedTuple):
    """Where a decoder stands after the target tokens it has read.

    `hidden`: (h,) of a GRU or (h, c) of an LSTM, each (b, l, d). `context` (b, d): what the last
    step read of the source: the last context of attention (zeros before the first step), or the
    fixed vector of the decoder without. `memory`: None without attention.
    """

    hidden: tuple[Tensor, ...]
    context: Tensor
    memory: Memory | None


class Output(NamedTuple):
    """What a model answers: `logits` (b, q, vocabulary), `weights` (b, q, k) or None, `state`."""

    logits: Tensor
    weights: Tensor | None
    state: RecurrentState


# Decoders


class Decoder(Reader):
    """What the decoders share: embedding, recurrent layers, first state, output layer."""

    def __init__(
        self,
        vocab_size: int,
        embed_size: int,
        hidden_size: int,
        *,
        encoder_size: int,
        context_size: int,
        readout_size: int,
        cell: str = "gru",
        num_layers: int = 1,
        bridge: bool = True,
        dropout: float = 0.0,
    ):
        super().__init__(vocab_size, hidden_size, cell=cell, num_layers=num_layers)
        (self.encoder_size,) = check_sizes(encoder_size=encoder_size)
        if not bridge and encoder_size != hidden_size:
            raise ValueError(
                "bridge=False hands the encoder's last state on as it is: encoder_size must equal "
                f"hidden_size, got {encoder_size} and {hidden_size}"
            )
        self.bridge = Bridge(encoder_size, hidden_size, num_layers, cell) if bridge else None
        self.make_layers(embed_size, dropout, beside=context_size)
        self.output = nn.Linear(readout_size, vocab_size)

    def first_hidden(self, encoding: Encoding) -> tuple[Tensor, ...]:
        """The hidden state before the first token, each (b, l, d)."""
        wanted = (2 if self.cell == "lstm" else 1, self.num_layers, self.encoder_size)
        got = (len(encoding.hidden), *encoding.hidden[0].shape[1:])
        if got != wanted:
            raise ValueError(
                "encoding must come from an encoder with this decoder's cell and num_layers, and "
                f"output_size {self.encoder_size}: (states, layers, features) must be {wanted}, "
                f"got {got}"
            )
        return self.bridge(encoding.hidden) if self.bridge else encoding.hidden

    def embed(self, inputs: Tensor, state: RecurrentState) -> Tensor:
        """Embeddings (b, q, e) of ids (b, q)."""
        embedded = look_up(self.embedding, "inputs", inputs)
        if len(inputs) != len(state.context):
            raise ValueError(
                f"inputs must have the {len(state.context)} rows of the state, "
                f"got shape {shape(inputs)}"
            )
        return self.dropout(embedded)

    def run(self, x: Tensor, hidden: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        """All steps in one call of torch's kernel: (b, q, ...) -> states (b, q, d), and last."""
        first = tuple(h.transpose(0, 1).contiguous() for h in hidden)  # (b, l, d) -> (l, b, d)
        top, last = self.rnn(x, first if self.cell == "lstm" else first[0])
        last = last if isinstance(last, tuple) else (last,)
        return top, tuple(h.transpose(0, 1) for h in last)


class PlainDecoder(Decoder):
    """Decode from one vector: all that is known of the source, read again at every step.

    The vector is the first hidden state of the top layer.

    Args:
        vocab_size, embed_size, dropout: as in `RecurrentEncoder`, of the target.
        hidden_size: features of a state.
        encoder_size, cell, num_layers: `output_size`, `cell`, `num_layers` of the encoder.
        bridge: map the encoder's last state to the first one here; False hands it on as it is.

    Source: Cho et al. 2014, section 2.2; the output layer reads the state alone.
    """

    def __init__(self, vocab_size: int, embed_size: int, hidden_size: int, **options):
        sizes = {"context_size": hidden_size, "readout_size": hidden_size}
        super().__init__(vocab_size, embed_size, hidden_size, **sizes, **options)

    def start(self, encoding: Encoding) -> RecurrentState:
        """The state before the first target token."""
        hidden = self.first_hidden(encoding)
        return RecurrentState(hidden, context=hidden[0][:, -1], memory=None)

    def forward(
        self, inputs: Tensor, state: RecurrentState, *, need_weights: bool = False
    ) -> Output:
        """Logits (b, q, vocab_size) after each of the ids (b, q); there are no weights."""
        embedded = self.embed(inputs, state)
        context = state.context.unsqueeze(1).expand(-1, inputs.shape[1], -1)  # (b, q, d)
        top, hidden = self.run(torch.cat((embedded, context), dim=-1), state.hidden)
        return Output(self.output(top), None, state._replace(hidden=hidden))


class AttendingDecoder(Decoder):
    """What decoders with attention share: a score, and what they remember of a source."""

    def __init__(self, *sizes: int, score: str | Score, score_size: int | None = None, **options):
        super().__init__(*sizes, **options)
        self.score = _make_score(score, self.hidden_size, self.encoder_size, score_size)

    def remember(self, encoding: Encoding) -> Memory:
        """The source, its keys projected once."""
        outputs, project = encoding.outputs, getattr(self.score, "project_keys", None)
        return Memory(outputs, project(outputs) if project else outputs, encoding.mask)

    def match(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Scores from keys as the memory holds them."""
        return getattr(self.score, "from_projected", self.score)(queries, keys)


class AttentionDecoder(AttendingDecoder):
    """Decode with attention over the encoder's states.

    With ``query="before"`` the state before a step asks, and the answer (the context) enters the
    step: Bahdanau's decoder, a loop. With ``query="after"`` the state after the step asks, and
    the context joins only the output layer: Luong's order. Then no step waits for an answer, and
    a given target runs through torch's kernel and one call of `attention`.

    Args:
        vocab_size, embed_size, hidden_size, encoder_size, cell, num_layers, bridge, dropout: as
            in `PlainDecoder`.
        score: "additive", "concat", "dot", "general", "scaled_dot", or any score: a callable
            (queries (b, q, d), keys (b, k, d_k)) -> (b, q, k). A module is trained along. A
            score with `project_keys` and `from_projected` projects a source's keys once.
        score_size: hidden features of a score named "additive" or "concat", `hidden_size` if None.
        query: "before" or "after".
        readout: "both" if the output layer reads state and context, "state" if the state alone
            (only with ``query="before"``, where the state has seen the context).

    Source: Bahdanau et al. 2015, section 3.1 and appendix A.2.2 (without its maxout output layer);
    Luong et al. 2015, section 3 (without the tanh layer of equation 5).
    """

    def __init__(
        self,
        vocab_size: int,
        embed_size: int,
        hidden_size: int,
        *,
        encoder_size: int,
        score: str | Score = "additive",
        query: str = "before",
        readout: str = "both",
        **options,
    ):
        check_choice("query", query, ("before", "after"))
        check_choice("readout", readout, ("both", "state"))
        if (query, readout) == ("after", "state"):
            raise ValueError(
                'readout="state" needs query="before": after the step the context reaches nothing '
                "but the output layer"
            )
        super().__init__(
            vocab_size,
            embed_size,
            hidden_size,
            encoder_size=encoder_size,
            score=score,
            context_size=encoder_size if query == "before" else 0,
            readout_size=hidden_size + (encoder_size if readout == "both" else 0),
            **options,
        )
        self.query, self.readout = query, readout

    def start(self, encoding: Encoding) -> RecurrentState:
        """The state before the first target token; projects the source's keys."""
        nothing = encoding.outputs.new_zeros(len(encoding.outputs), self.encoder_size)
        return RecurrentState(self.first_hidden(encoding), nothing, self.remember(encoding))

    def forward(
        self, inputs: Tensor, state: RecurrentState, *, need_weights: bool = False
    ) -> Output:
        """Logits (b, q, vocab_size) after each of the ids (b, q), and weights (b, q, k)."""
        embedded = self.embed(inputs, state)
        steps = self._before if self.query == "before" else self._after
        top, contexts, weights, hidden = steps(embedded, state, need_weights)
        read = torch.cat((top, contexts), dim=-1) if self.readout == "both" else top
        state = RecurrentState(hidden, contexts.select(1, -1), state.memory)
        return Output(self.output(read), weights, state)  # one output layer for all steps

    def _after(self, embedded: Tensor, state: RecurrentState, need_weights: bool):
        top, hidden = self.run(embedded, state.hidden)
        memory = state.memory
        contexts, weights = attention(
            top,
            memory.keys,
            memory.outputs,
            score=scaled_dot if self.score is scaled_dot else self.match,
            mask=memory.mask,
            need_weights=need_weights,
        )
        return top, contexts, weights, hidden

    def _before(self, embedded: Tensor, state: RecurrentState, need_weights: bool):
        memory, step = state.memory, STEPS[self.cell]
        first, *above = self.rnn.all_weights  # of each layer: W_ih, W_hh, b_ih, b_hh
        w_ih, w_hh, b_ih, b_hh = first
        # the first layer reads [embedding; context]: the embeddings' share for all steps at once
        from_token, from_context = w_ih.split((embedded.shape[-1], self.encoder_size), dim=1)
        gates = F.linear(embedded, from_token, b_ih)  # (b, q, e) -> (b, q, gates x d)
        layers = list(zip(*(h.unbind(1) for h in state.hidden), strict=True))  # (h[, c]) of each
        top, contexts, weights = [], [], []
        for x in gates.unbind(1):
            query = layers[-1][0].unsqueeze(1)  # (b, 1, d): the state before the step
            scores = self.match(query, memory.keys)  # (b, 1, k)
            alpha = _masked_softmax_of_few(scores, memory.mask)
            context = torch.bmm(alpha, memory.outputs).squeeze(1)  # (b, 1, k) @ (b, k, d) -> (b, d)
            x = torch.addmm(x, context, from_context.T)
            layers[0] = step(x, layers[0], w_hh, b_hh)
            for n, (w_up, w_on, b_up, b_on) in enumerate(above, start=1):
                below = F.dropout(layers[n - 1][0], self.rnn.dropout, self.training)
                layers[n] = step(F.linear(below, w_up, b_up), layers[n], w_on, b_on)
            top.append(layers[-1][0])
            contexts.append(context)
            weights.append(alpha)
        hidden = tuple(_stack(part) for part in zip(*layers, strict=True))
        joined = torch.cat(weights, dim=1) if need_weights else None  # (b, q, k)
        return _stack(top), _stack(contexts), joined, hidden


def _stack(tensors) -> Tensor:
    """Tensors (b, d) as (b, n, d); a single one, the rule when decoding, is not copied."""
    return tensors[0].unsqueeze(1) if len(tensors) == 1 else torch.stack(tensors, dim=1)


# Both as one model


class RecurrentTranslator(nn.Module):
    """Translate: an encoder, and a decoder that starts from what the encoder has read.

    Raises:
        ValueError: encoder and decoder differ in cell or layers, or do not fit in size.
    """

    def __init__(self, encoder: RecurrentEncoder, decoder: PlainDecoder | AttentionDecoder):
        super().__init__()
        for name, theirs in (
            ("cell", decoder.cell),
            ("num_layers", decoder.num_layers),
            ("output_size", decoder.encoder_size),
        ):
            if getattr(encoder, name) != theirs:
                raise ValueError(
                    f"encoder must have the {name} that the decoder expects, {theirs!r}, "
                    f"got {getattr(encoder, name)!r}"
                )
        self.encoder, self.decoder = encoder, decoder

    def start(self, source: Tensor, source_lens: Tensor) -> RecurrentState:
        """Read sources (b, k), of which the first `source_lens` (b,) ids of each row count."""
        return self.decoder.start(self.encoder(source, source_lens))

    def step(self, inputs: Tensor, state: RecurrentState, need_weights: bool = False) -> Output:
        """Read target ids (b, q), one or many: logits for the token after each."""
        return self.decoder(inputs, state, need_weights=need_weights)

    def forward(
        self,
        source: Tensor,
        source_lens: Tensor,
        inputs: Tensor,
        target_lens: Tensor | None = None,
        *,
        need_weights: bool = False,
    ) -> Output:
        """Teacher forcing: logits (b, q, vocabulary) after each of the target ids (b, q).

        A position sees no later one, so that padding at the end of a target needs no lengths:
        `target_lens` is taken for models that want it, and not used.
        """
        return self.step(inputs, self.start(source, source_lens), need_weights)


def recurrent_translator(
    source_size: int,
    target_size: int,
    *,
    attention: str | None = None,
    score: str | Score = "additive",
    score_size: int | None = None,
    cell: str = "gru",
    embed_size: int = 64,
    hidden_size: int = 128,
    num_layers: int = 1,
    bidirectional: bool = True,
    dropout: float = 0.0,
) -> RecurrentTranslator:
    """A translator whose encoder gives as many features as its decoder has.

    Args:
        source_size, target_size: sizes of the two vocabularies.
        attention: None for `PlainDecoder`; "before" or "after", the query of `AttentionDecoder`.
        score, score_size: as in `AttentionDecoder`; not used without attention.
        hidden_size: of the decoder; the encoder has half of it in each direction, or all of it
            in its only one.
        cell, embed_size, num_layers, dropout: of both.
        bidirectional: whether the encoder reads from both ends.
    """
    check_choice("attention", attention, (None, "before", "after"))
    shared = {"cell": cell, "num_layers": num_layers, "dropout": dropout}
    encoder = encoder_for(hidden_size, source_size, embed_size, bidirectional, **shared)
    sizes = (target_size, embed_size, hidden_size)
    shared["encoder_size"] = encoder.output_size
    if attention is None:
        return RecurrentTranslator(encoder, PlainDecoder(*sizes, **shared))
    choices = {"score": score, "score_size": score_size, "query": attention}
    return RecurrentTranslator(encoder, AttentionDecoder(*sizes, **choices, **shared))
