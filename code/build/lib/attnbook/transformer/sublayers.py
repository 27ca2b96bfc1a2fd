"""The three sub-layers of a block, each with its residual connection, layer norm and dropout."""

from __future__ import annotations

from torch import Tensor, nn

from .._checks import check_count
from ..multihead import Attended, KeyValues, MultiHeadAttention
from .config import NORMS


class Sublayer(nn.Module):
    """What surrounds a function f: x + f(norm(x)) where "pre", norm(x + f(x)) where "post".

    Layer norm and not batch norm: each token is normalised by itself, so that neither padding
    nor the rest of a batch of unequal lengths has a say.

    Source: Vaswani et al. 2017, sections 3.1 and 5.4; "pre": Xiong et al. 2020, table 1.
    """

    def __init__(self, d_model: int, *, dropout: float, norm: str):
        super().__init__()
        if norm not in NORMS:
            raise ValueError(f"norm must be one of {NORMS}, got {norm!r}")
        if not 0.0 <= dropout < 1.0:
            raise ValueError(f"dropout must be at least 0 and below 1, got {dropout}")
        self.pre = norm == "pre"
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def before(self, x: Tensor) -> Tensor:
        """What f reads."""
        return self.norm(x) if self.pre else x

    def after(self, x: Tensor, y: Tensor) -> Tensor:
        """What goes on, from x and y = f(before(x))."""
        y = x + self.dropout(y)
        return y if self.pre else self.norm(y)


class SelfAttention(Sublayer):
    """Attend to one's own sequence, and to its past where there is one.

    Shapes: x (b, q, d) -> (b, q, d), weights (b, h, q, t + q) or None, keys and values of all
    t + q tokens, (b, h_kv, t + q, d).
    """

    def __init__(self, d_model: int, *, dropout: float, norm: str, **heads):
        super().__init__(d_model, dropout=dropout, norm=norm)
        self.attention = MultiHeadAttention(d_model, **heads)

    def forward(
        self,
        x: Tensor,
        *,
        mask: Tensor | None = None,
        past: KeyValues | None = None,
        need_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None, KeyValues]:
        read = self.before(x)
        offset = 0 if past is None else past.keys.shape[2]  # t
        own = self.attention.project(read, offset=offset)
        own = own if past is None else past.append(own)  # (b, h_kv, t + q, d)
        output, weights = self.attention.attend(
            read, own, mask=mask, offset=offset, need_weights=need_weights
        )
        return self.after(x, output), weights, own


class CrossAttention(Sublayer):
    """Attend to another sequence, whose keys and values were projected once.

    Shapes: x (b, q, d), memory (b, h_kv, k, d) -> (b, q, d), weights (b, h, q, k) or None.
    """

    def __init__(self, d_model: int, *, dropout: float, norm: str, **heads):
        super().__init__(d_model, dropout=dropout, norm=norm)
        self.attention = MultiHeadAttention(d_model, **heads)

    def project(self, outputs: Tensor) -> KeyValues:
        """Keys and values of an encoder's outputs, (b, k, d) -> (b, h_kv, k, d)."""
        return self.attention.project(outputs)

    def forward(
        self,
        x: Tensor,
        memory: KeyValues,
        *,
        mask: Tensor | None = None,
        need_weights: bool = False,
    ) -> Attended:
        output, weights = self.attention.attend(
            self.before(x), memory, mask=mask, need_weights=need_weights
        )
        return Attended(self.after(x, output), weights)


class FeedForward(Sublayer):
    """Two linear layers with a ReLU between, the same for each token by itself.

    Shapes: x (b, q, d) -> (b, q, d); `d_ff` features inside, 4 d if None.

    Source: Vaswani et al. 2017, equation 2.
    """

    def __init__(self, d_model: int, d_ff: int | None = None, *, dropout: float, norm: str):
        super().__init__(d_model, dropout=dropout, norm=norm)
        d_ff = 4 * d_model if d_ff is None else check_count("d_ff", d_ff, least=1)
        self.layers = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        for linear in (self.layers[0], self.layers[2]):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)

    def forward(self, x: Tensor) -> Tensor:
        return self.after(x, self.layers(self.before(x)))
