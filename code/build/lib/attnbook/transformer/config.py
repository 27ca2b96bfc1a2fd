"""The sizes and choices that all parts of one model share."""

from __future__ import annotations

from dataclasses import dataclass

from torch import nn

from .._checks import check_count
from ..positions import AlibiPositions, LearnedPositions, RotaryPositions, SinusoidalPositions

NORMS = ("pre", "post")
POSITIONS = ("sinusoidal", "learned", "rotary", "alibi", None)


@dataclass(frozen=True)
class TransformerConfig:
    """Sizes and choices of a Transformer.

    Args:
        d_model: features of a token.
        num_heads, num_kv_heads: as in `MultiHeadAttention`.
        num_layers: blocks, in the encoder and in the decoder.
        d_ff: features inside the feed-forward layers, 4 `d_model` if None.
        dropout: probability, in training, on the output of each sub-layer before it is added, and
            on the sum of token and position (Vaswani et al. 2017, section 5.4).
        norm: "pre" normalises what a sub-layer reads (Xiong et al. 2020), "post" the sum after
            it, as Vaswani et al. 2017.
        positions: "sinusoidal" or "learned", added to the tokens; "rotary" or "alibi", inside
            self-attention; or None.
        max_len: places that tables hold; only learned positions end there.

    Raises:
        ValueError: a name is unknown, a size does not fit.
    """

    d_model: int = 128
    num_heads: int = 4
    num_layers: int = 2
    d_ff: int | None = None
    dropout: float = 0.1
    norm: str = "pre"
    positions: str | None = "sinusoidal"
    num_kv_heads: int | None = None
    max_len: int = 1024

    def __post_init__(self):
        check_count("num_layers", self.num_layers, least=1)
        if self.positions not in POSITIONS:
            raise ValueError(f"positions must be one of {POSITIONS}, got {self.positions!r}")

    def block(self) -> dict:
        """Arguments of a block."""
        return {
            "d_model": self.d_model,
            "num_heads": self.num_heads,
            "d_ff": self.d_ff,
            "num_kv_heads": self.num_kv_heads,
            "dropout": self.dropout,
            "norm": self.norm,
            "positions": self.relative_positions(),
        }

    def absolute_positions(self) -> nn.Module | None:
        """What is added to the tokens, a new module or None."""
        kinds = {"sinusoidal": SinusoidalPositions, "learned": LearnedPositions}
        kind = kinds.get(self.positions)
        return kind and kind(self.d_model, max_len=self.max_len)

    def relative_positions(self) -> nn.Module | None:
        """What works inside self-attention, a new module or None."""
        if self.positions == "rotary":
            return RotaryPositions(self.d_model // self.num_heads, max_len=self.max_len)
        return AlibiPositions(self.num_heads) if self.positions == "alibi" else None
