"""Decoders: the next token from the tokens so far and the source, with and without attention."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from .._checks import check_choice
from ..attention import attention
from ..normalize import masked_softmax
from ..scores import AdditiveScore, ConcatScore, GeneralScore, dot, scaled_dot
from .base import Decoder
from .states import Encoding, Memory, Output, RecurrentState
from .steps import STEPS

SCORES = ("additive", "concat", "dot", "general", "scaled_dot")
FINITE = (AdditiveScore, ConcatScore, GeneralScore)  # as `dot` is: they never score -inf
Score = Callable[[Tensor, Tensor], Tensor]


class PlainDecoder(Decoder):
    """Decode from one vector: all that is known of the source, read again at every step.

    The vector is the first hidden state of the top layer.

    Args:
        vocab_size: target ids run from 0 to `vocab_size` - 1; 0 is padding.
        embed_size: features of a token's embedding.
        hidden_size: features of a state.
        encoder_size: `output_size` of the encoder.
        cell: "gru" or "lstm", as the encoder's.
        num_layers: recurrent layers, as many as the encoder's.
        bridge: map the encoder's last state to the first one here; False hands it on as it is.
        dropout: probability on embeddings and between layers, in training only.

    Source: Cho et al. 2014, section 2.2; the output layer reads the state alone.
    """

    def __init__(
        self,
        vocab_size: int,
        embed_size: int,
        hidden_size: int,
        *,
        encoder_size: int,
        cell: str = "gru",
        num_layers: int = 1,
        bridge: bool = True,
        dropout: float = 0.0,
    ):
        super().__init__(
            vocab_size,
            embed_size,
            hidden_size,
            encoder_size=encoder_size,
            context_size=hidden_size,
            readout_size=hidden_size,
            cell=cell,
            num_layers=num_layers,
            bridge=bridge,
            dropout=dropout,
        )

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


class AttentionDecoder(Decoder):
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
        score_size: int | None = None,
        query: str = "before",
        readout: str = "both",
        cell: str = "gru",
        num_layers: int = 1,
        bridge: bool = True,
        dropout: float = 0.0,
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
            context_size=encoder_size if query == "before" else 0,
            readout_size=hidden_size + (encoder_size if readout == "both" else 0),
            cell=cell,
            num_layers=num_layers,
            bridge=bridge,
            dropout=dropout,
        )
        self.query, self.readout = query, readout
        self.score = make_score(score, hidden_size, encoder_size, score_size)
        self.finite = isinstance(self.score, FINITE) or self.score in (dot, scaled_dot)

    def start(self, encoding: Encoding) -> RecurrentState:
        """The state before the first target token; projects the source's keys."""
        outputs, mask = encoding.outputs, encoding.mask
        project = getattr(self.score, "project_keys", None)
        closed = mask < mask.any(dim=-1, keepdim=True)  # (b, 1, k)
        memory = Memory(outputs, project(outputs) if project else outputs, mask, closed)
        hidden = self.first_hidden(encoding)
        return RecurrentState(hidden, outputs.new_zeros(len(outputs), self.encoder_size), memory)

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

    def _match(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Scores from keys as the memory holds them."""
        return getattr(self.score, "from_projected", self.score)(queries, keys)

    def _after(self, embedded: Tensor, state: RecurrentState, need_weights: bool):
        top, hidden = self.run(embedded, state.hidden)
        memory = state.memory
        contexts, weights = attention(
            top,
            memory.keys,
            memory.outputs,
            score=scaled_dot if self.score is scaled_dot else self._match,
            mask=memory.mask,
            need_weights=need_weights,
        )
        return top, contexts, weights, hidden

    def _before(self, embedded: Tensor, state: RecurrentState, need_weights: bool):
        memory, step = state.memory, STEPS[self.cell]
        parameters = self.rnn.all_weights  # of each layer: weights and biases, _ih and _hh
        weight, _, bias, _ = parameters[0]
        # the first layer reads [embedding; context]: the embeddings' share for all steps at once
        from_token, from_context = weight.split((embedded.shape[-1], self.encoder_size), dim=1)
        gates = F.linear(embedded, from_token, bias)  # (b, q, e) -> (b, q, gates x d)
        layers = list(zip(*(h.unbind(1) for h in state.hidden), strict=True))  # (h[, c]) of each
        top, contexts, weights = [], [], []
        for x in gates.unbind(1):
            scores = self._match(layers[-1][0].unsqueeze(1), memory.keys)  # (b, 1, k)
            if self.finite:  # `masked_softmax`, with what is the same at every step left out
                w = scores.masked_fill(memory.closed, -torch.inf).softmax(dim=-1)
            else:
                w = masked_softmax(scores, memory.mask)
            context = torch.bmm(w, memory.outputs).squeeze(1)  # (b, 1, k) @ (b, k, d) -> (b, d)
            x = torch.addmm(x, context, from_context.T)
            for n, (hidden, (w_ih, w_hh, b_ih, b_hh)) in enumerate(
                zip(layers, parameters, strict=True)
            ):
                if n:
                    below = F.dropout(layers[n - 1][0], self.rnn.dropout, self.training)
                    x = F.linear(below, w_ih, b_ih)
                layers[n] = step(x, hidden, w_hh, b_hh)
            top.append(layers[-1][0])
            contexts.append(context)
            weights.append(w)
        hidden = tuple(_stack(part) for part in zip(*layers, strict=True))
        joined = None
        if need_weights:
            joined = torch.cat(weights, dim=1).masked_fill(~memory.mask, 0.0)  # (b, q, k)
        return _stack(top), _stack(contexts), joined, hidden


def _stack(tensors) -> Tensor:
    """Tensors (b, d) as (b, n, d); a single one, the rule when decoding, is not copied."""
    return tensors[0].unsqueeze(1) if len(tensors) == 1 else torch.stack(tensors, dim=1)


def make_score(
    score: str | Score, query_size: int, key_size: int, hidden_size: int | None = None
) -> Score:
    """The score of that name for queries and keys of these sizes; a callable is returned as it is.

    Raises:
        ValueError: an unknown name, or "dot" and "scaled_dot" for unequal sizes.
    """
    if callable(score):
        return score
    check_choice("score", score, SCORES)
    if score in ("additive", "concat"):
        make = AdditiveScore if score == "additive" else ConcatScore
        return make(query_size, key_size, query_size if hidden_size is None else hidden_size)
    if score == "general":
        return GeneralScore(query_size, key_size)
    if query_size != key_size:
        raise ValueError(
            f"score {score!r} needs states of the encoder and of the decoder of one size, got "
            f'{key_size} and {query_size}; "general" and "additive" take unequal ones'
        )
    return dot if score == "dot" else scaled_dot
