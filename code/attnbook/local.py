"""Local attention: Luong's decoder, over the whole source or through a window on it.

The window is a mask: it allows the places within `radius` (the paper's D) of a centre. The centre
of a target token is its own place (local-m), or is predicted from the decoder's state (local-p).
Nothing here scores fewer pairs than attention under a mask does; a decoder that knows its centre
before the scores may slice the source instead, and gets the same.

Shape letters as in `recurrent`: `b` batch, `q` target tokens, `k` source tokens, `d` features.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from ._checks import align_mask, check_choice, check_count, check_floating, check_sizes, shape
from .attention import attention
from .normalize import _wide, masked_softmax
from .recurrent import AttendingDecoder, Memory, RecurrentTranslator
from .recurrent_encoder import Encoding, encoder_for
from .scores import Score, gaussian, scaled_dot

__all__ = [
    "LuongDecoder",
    "LuongOutput",
    "LuongState",
    "PredictedCentre",
    "local_attention",
    "local_window",
    "luong_translator",
]

GAUSSIANS = (None, "weights", "scores")


def local_window(centres: Tensor, k: int, *, radius: int) -> Tensor:
    """Allow the places at most `radius` away from each query's centre.

    Args:
        centres: (..., q), whole numbers or not; the first of the `k` places is 0.
        k: places. What of a window lies outside them is lost, and a window may be empty.
        radius: the paper's D, at least 1.

    Returns:
        Boolean mask (..., q, k), True where |j - centre| <= radius.

    Source: Luong et al. 2015, section 3.2.
    """
    radius = check_count("radius", radius, least=1)
    places = torch.arange(check_count("k", k), device=centres.device)
    if centres.is_floating_point():
        centres = _wide(centres)  # half precision cannot count beyond 256, or 2,048
    return (places - centres.unsqueeze(-1)).abs() <= radius  # (..., q, 1) -> (..., q, k)


def local_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    centres: Tensor,
    *,
    radius: int,
    bell: str | None = None,
    score: Score = scaled_dot,
    mask: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Attention through a window around a centre for each query.

    Args:
        queries, keys, values, score, mask: as in `attention`.
        centres: (..., q), floating point, one for each query; (q,) serves all sequences.
        radius: how many places on either side of its centre a query may attend to.
        bell: how a Gaussian around the centre, of width radius / 2, takes part. None: not at
            all. "weights": the weights are multiplied by it after the softmax, as in the paper;
            a row then sums to less than one. "scores": its logarithm is added to the scores
            before the softmax, and a row sums to one.

    Returns:
        Output (..., q, d_v) and weights (..., q, k), zero outside the windows. A query whose
        window is empty gets zero weights and a zero output.

    Raises:
        TypeError: as `attention`, or centres are not floating point.
        ValueError: as `attention`; centres do not fit the queries, `radius` is below 1, or
            another word for `bell`.

    Source: Luong et al. 2015, section 3.2, equation 10; the bell in the scores is ours.
    """
    check_choice("bell", bell, GAUSSIANS)
    check_floating("centres", centres)
    wanted = tuple(queries.shape[:-1])
    if tuple(centres.shape) not in (wanted, wanted[-1:]):
        raise ValueError(
            f"centres must be {wanted}, one for each query, or {wanted[-1:]}, "
            f"got shape {shape(centres)}"
        )
    k = keys.shape[-2]
    centres = _wide(centres.expand(wanted))
    allowed = local_window(centres, k, radius=radius)  # (..., q, k)
    if mask is not None:
        allowed = allowed & align_mask(mask, tuple(allowed.shape))

    def normalize(scores: Tensor, mask: Tensor) -> Tensor:
        if bell is None:
            return masked_softmax(scores, mask)
        places = torch.arange(k, dtype=centres.dtype, device=centres.device).unsqueeze(-1)
        places = places.expand(*centres.shape[:-1], k, 1)
        log_bell = gaussian(centres.unsqueeze(-1), places, width=radius / 2)  # (..., q, k)
        if bell == "scores":
            return masked_softmax(scores + log_bell, mask).to(scores.dtype)
        return masked_softmax(scores, mask) * log_bell.exp().to(scores.dtype)

    return attention(queries, keys, values, score=score, mask=allowed, normalize=normalize)


class PredictedCentre(nn.Module):
    """Where in its source a query looks: S sigmoid(v^T tanh(W q)), from 0 to the length S.

    Shapes: queries (b, q, query_size), lengths (b,) -> (b, q).

    Source: Luong et al. 2015, equation 9; W is square there.
    """

    def __init__(self, query_size: int, hidden_size: int | None = None):
        super().__init__()
        hidden_size = query_size if hidden_size is None else hidden_size
        check_sizes(query_size=query_size, hidden_size=hidden_size)
        self.W = nn.Linear(query_size, hidden_size, bias=False)
        self.v = nn.Linear(hidden_size, 1, bias=False)

    def forward(self, queries: Tensor, lengths: Tensor) -> Tensor:
        """The centre of each query in a source of `lengths` (b,) tokens."""
        if queries.dim() != 3 or tuple(lengths.shape) != tuple(queries.shape[:1]):
            raise ValueError(
                "queries must be (b, q, d) and lengths (b,), got shapes "
                f"{shape(queries)} and {shape(lengths)}"
            )
        share = _wide(self.v(self.W(queries).tanh())).squeeze(-1).sigmoid()  # (b, q), 0 to 1
        return lengths.unsqueeze(-1) * share


class LuongState(NamedTuple):
    """Where a Luong decoder stands after the target tokens it has read.

    `hidden`, `memory`: as in `RecurrentState`. `context` (b, d): the last attentional vector,
    zeros before the first step. `place` (b,): target tokens read. `lengths` (b,): source tokens.
    """

    hidden: tuple[Tensor, ...]
    context: Tensor
    memory: Memory
    place: Tensor
    lengths: Tensor


class LuongOutput(NamedTuple):
    """As `Output`, and `centres` (b, q), where the windows stood; None without a window.

    Centres are of single precision or better, for they count.
    """

    logits: Tensor
    weights: Tensor | None
    state: LuongState
    centres: Tensor | None


def _check_window(window: str | None, bell: str | None) -> None:
    check_choice("window", window, (None, "monotone", "predicted"))
    check_choice("bell", bell, GAUSSIANS)
    if window is None and bell is not None:
        raise ValueError(f"bell must be None without a window, got {bell!r}")
    if window == "predicted" and bell is None:
        raise ValueError(
            'bell must be "weights" or "scores" with window="predicted", got None: through '
            "the window alone no gradient reaches the centre"
        )


class _LookingDecoder(AttendingDecoder):
    """How a Luong decoder looks at the source: at all of it, or through windows; no step yet."""

    def __init__(
        self,
        *sizes: int,
        score: str | Score = "general",
        window: str | None = None,
        radius: int = 10,
        bell: str | None = None,
        **options,
    ):
        _check_window(window, bell)
        super().__init__(*sizes, score=score, **options)
        self.window, self.bell = window, bell
        (self.radius,) = check_sizes(radius=radius)
        self.centre = PredictedCentre(self.hidden_size) if window == "predicted" else None

    def start(self, encoding: Encoding) -> LuongState:
        """The state before the first target token; projects the source's keys."""
        hidden, memory = self.first_hidden(encoding), self.remember(encoding)
        lengths = memory.mask.squeeze(1).sum(dim=-1)  # (b, 1, k) -> (b,)
        nothing = memory.outputs.new_zeros(len(lengths), self.hidden_size)
        return LuongState(hidden, nothing, memory, torch.zeros_like(lengths), lengths)

    def look(self, top: Tensor, state: LuongState) -> tuple[Tensor, Tensor, Tensor | None]:
        """What the states (b, q, d) after the steps find: contexts, weights (b, q, k), centres."""
        memory, centres = state.memory, self.centres(top, state)
        source = (top, memory.keys, memory.outputs)
        options = {"score": self.match, "mask": memory.mask}
        if centres is None:
            return *attention(*source, **options), None
        options |= {"radius": self.radius, "bell": self.bell}
        return *local_attention(*source, centres, **options), centres

    def centres(self, top: Tensor, state: LuongState) -> Tensor | None:
        """Where the windows of the states (b, q, d) after the steps are centred: (b, q)."""
        if self.window is None:
            return None
        if self.centre is not None:
            return self.centre(top, state.lengths)
        steps = torch.arange(top.shape[1], device=top.device)
        return (state.place.unsqueeze(-1) + steps).to(_wide(top).dtype)


class LuongDecoder(_LookingDecoder):
    """Decode as Luong et al. do: step, attend with the new state, join, predict.

    The state h of the step is the query; the context c that attention returns and h make the
    attentional vector tanh(W [c; h]), and the output layer reads this alone. Without `feed` no
    step waits for it, and a given target takes one call of torch's kernel and one of attention.

    Args:
        vocab_size, embed_size, hidden_size, encoder_size, and the options score ("general" if
            not given), score_size, cell, num_layers, bridge, dropout: as in `AttentionDecoder`.
        window: None attends to the whole source (global); "monotone" through a window around the
            token's own place (local-m); "predicted" around `PredictedCentre` (local-p).
        radius: of the window, the paper's D; 10 if not given.
        bell: the Gaussian in the window, as in `local_attention`. The paper has none with
            "monotone" and "weights" with "predicted".
        feed: hand the attentional vector to the next step, beside its token ("input feeding").

    Raises:
        ValueError: an option has another value; a bell without a window; a predicted centre
            without a bell, which no gradient would reach.

    Source: Luong et al. 2015, section 3, equations 5 to 10; one GRU or LSTM with a bridge.
    """

    def __init__(
        self,
        vocab_size: int,
        embed_size: int,
        hidden_size: int,
        *,
        encoder_size: int,
        feed: bool = False,
        **options,
    ):
        super().__init__(
            vocab_size,
            embed_size,
            hidden_size,
            encoder_size=encoder_size,
            context_size=hidden_size if feed else 0,
            readout_size=hidden_size,
            **options,
        )
        self.feed = feed
        self.join = nn.Linear(encoder_size + hidden_size, hidden_size, bias=False)

    def forward(
        self, inputs: Tensor, state: LuongState, *, need_weights: bool = False
    ) -> LuongOutput:
        """Logits (b, q, vocab_size) after each of the ids (b, q), weights (b, q, k), centres."""
        steps = self._fed_steps if self.feed else self._steps
        vectors, weights, centres, state = steps(self.embed(inputs, state), state)
        return LuongOutput(self.output(vectors), weights if need_weights else None, state, centres)

    def _steps(self, x: Tensor, state: LuongState):
        """Steps that read x (b, q, ...): attentional vectors, weights, centres, next state."""
        top, hidden = self.run(x, state.hidden)
        contexts, weights, centres = self.look(top, state)
        vectors = self.join(torch.cat((contexts, top), dim=-1)).tanh()  # (b, q, d)
        place = state.place + x.shape[1]
        state = state._replace(hidden=hidden, context=vectors[:, -1], place=place)
        return vectors, weights, centres, state

    def _fed_steps(self, embedded: Tensor, state: LuongState):
        """The same one by one: each reads the attentional vector of the one before, too."""
        steps = []
        for x in embedded.split(1, dim=1):
            fed = torch.cat((x, state.context.unsqueeze(1)), dim=-1)  # (b, 1, e + d)
            *step, state = self._steps(fed, state)
            steps.append(step)
        parts = zip(*steps, strict=True)
        return *(None if one[0] is None else torch.cat(one, dim=1) for one in parts), state


def luong_translator(
    source_size: int,
    target_size: int,
    *,
    cell: str = "gru",
    embed_size: int = 64,
    hidden_size: int = 128,
    num_layers: int = 1,
    dropout: float = 0.0,
    **options,
) -> RecurrentTranslator:
    """A translator with a `LuongDecoder`, whose encoder reads from both ends.

    Args:
        source_size, target_size: sizes of the two vocabularies.
        hidden_size: of the decoder, even; the encoder has half of it in each direction.
        cell, embed_size, num_layers, dropout: of both.
        options: score, score_size, window, radius, bell and feed, as in `LuongDecoder`.
    """
    shared = {"cell": cell, "num_layers": num_layers, "dropout": dropout}
    encoder = encoder_for(hidden_size, source_size, embed_size, **shared)
    options |= {"encoder_size": encoder.output_size, **shared}
    decoder = LuongDecoder(target_size, embed_size, hidden_size, **options)
    return RecurrentTranslator(encoder, decoder)
