"""Room 8, sampling: draw from what a model expects, over the protocol of `decoding`.

    drawn = sample(model, source, source_lens, max_len=60, temperature=0.7, top_p=0.9)

Temperature, top-k and top-p change the distribution before a token is drawn.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ._checks import check_count, check_positive
from .decoding import Decoded, walk


def truncate(
    log_probs: Tensor, *, temperature: float = 1.0, top_k: int | None = None, top_p: float = 1.0
) -> Tensor:
    """Sharpen a distribution and cut its tail off: log-probabilities (..., v) to the same shape.

    Args:
        log_probs: normalised or not, in nats.
        temperature: divides them, above 0; below 1 the likely tokens gain.
        top_k: keep so many of the likeliest tokens, None keeps all.
        top_p: then keep the fewest of the likeliest that have this share together, in (0, 1].

    A token that is cut off has minus infinity; the likeliest always stays, and of equals at the
    edge the one with the smaller id.

    Source: top-k, Fan et al. 2018, section 5; top-p (nucleus), Holtzman et al. 2020, section 3.1.
    """
    check_positive("temperature", temperature)
    if not 0 < top_p <= 1:
        raise ValueError(f"top_p must be above 0 and at most 1, got {top_p}")
    v = log_probs.shape[-1]
    k = v if top_k is None else min(check_count("top_k", top_k, least=1), v)
    ordered, ids = (log_probs / temperature).sort(dim=-1, descending=True, stable=True)
    ordered = ordered[..., :k].log_softmax(dim=-1)
    before = ordered.exp().cumsum(dim=-1) - ordered.exp()  # the share of those likelier, (..., k)
    cut = before >= top_p
    cut[..., 0] = False
    ordered = ordered.masked_fill(cut, -torch.inf).log_softmax(dim=-1)
    kept = torch.full_like(log_probs, -torch.inf)
    return kept.scatter(-1, ids[..., :k], ordered)


@torch.no_grad()
def sample(
    model,
    source: Tensor,
    source_lens: Tensor,
    *,
    max_len: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float = 1.0,
    generator: torch.Generator | None = None,
    bos: int = 1,
    eos: int = 2,
    pad: int = 0,
    need_weights: bool = False,
) -> Decoded:
    """Draw every token from the model's distribution, sharpened and cut as in `truncate`.

    `log_probs` of the result are the model's own, whatever was cut. The same generator state
    draws the same tokens.

    Args:
        generator: where the chance comes from, on the device of `source`; None: torch's own.
        others: as in `decoding.greedy` and in `truncate`.
    """

    def draw(logits: Tensor) -> tuple[Tensor, Tensor]:
        expected = logits.log_softmax(dim=-1)  # (b, v)
        cut = truncate(expected, temperature=temperature, top_k=top_k, top_p=top_p)
        token = cut.exp().multinomial(1, generator=generator)  # (b, 1)
        return expected.gather(1, token).squeeze(1), token.squeeze(1)

    options = {"max_len": max_len, "bos": bos, "eos": eos, "pad": pad}
    return walk(model, source, source_lens, draw, need_weights=need_weights, **options)
