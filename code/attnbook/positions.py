"""Positions: four ways to tell attention where a token stands.

Sinusoidal and learned positions are added to the token vectors. Rotary positions turn queries and
keys, ALiBi adds a bias to their scores: both are given to `MultiHeadAttention(positions=...)`.

Every one takes an `offset`, the place of the first row: cached decoding starts later than 0.

Shape letters: `b` batch, `h` heads, `n` places, `q` queries, `k` keys, `d` features.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ._checks import check_choice, check_count, check_floating, shape

BASE = 10_000.0  # the slowest wavelength is about 2 pi times this


def sinusoid(n: int, d_model: int, *, offset: int = 0, base: float = BASE, device=None) -> Tensor:
    """Give each place a vector of sines and cosines of ever slower waves.

    Feature 2i is sin(p / base^(2i / d_model)) and feature 2i + 1 its cosine, p from `offset`. An
    odd `d_model` ends with a sine.

    Returns:
        (n, d_model), float32, computed in float64.

    Source: Vaswani et al. 2017, section 3.5.
    """
    d_model = check_count("d_model", d_model, least=1)
    angles = _angles(n, d_model, offset, base, device)  # (n, ceil(d_model / 2))
    waves = torch.stack((angles.sin(), angles.cos()), dim=-1)  # (n, ceil(d_model / 2), 2)
    return waves.flatten(-2)[:, :d_model].float()


class SinusoidalPositions(nn.Module):
    """Add to each token a fixed vector of sines and cosines of its place.

    Shapes: x (b, n, d_model) -> the same, in the dtype of x. The first `max_len` places are kept
    in a table; later ones are computed when they are asked for, so there is no last place.

    Source: Vaswani et al. 2017, section 3.5.
    """

    def __init__(self, d_model: int, *, max_len: int = 1024):
        super().__init__()
        self.d_model = check_count("d_model", d_model, least=1)
        self.max_len = check_count("max_len", max_len)
        self.register_buffer("table", sinusoid(max_len, d_model), persistent=False)

    def forward(self, x: Tensor, *, offset: int = 0) -> Tensor:
        n, offset = _check_rows(x, self.d_model, offset)
        if offset + n <= self.max_len:
            rows = self.table[offset : offset + n]  # (n, d_model)
        else:
            rows = sinusoid(n, self.d_model, offset=offset, device=x.device)
        return x + rows.to(x.dtype)


class LearnedPositions(nn.Module):
    """Add to each token a trained vector of its place.

    Shapes: x (b, n, d_model) -> the same, in the dtype of x. There are `max_len` places: a later
    one is a ValueError, for nothing was learned there.

    Args:
        std: spread of the vectors before training; token vectors of unit variance should neither
            drown them nor be drowned.

    Source: Gehring et al. 2017, section 3.1; Vaswani et al. 2017, table 3, row E.
    """

    def __init__(self, d_model: int, *, max_len: int = 1024, std: float = 0.5):
        super().__init__()
        self.d_model = check_count("d_model", d_model, least=1)
        self.max_len = check_count("max_len", max_len, least=1)
        self.table = nn.Parameter(torch.randn(max_len, d_model) * std)

    def forward(self, x: Tensor, *, offset: int = 0) -> Tensor:
        n, offset = _check_rows(x, self.d_model, offset)
        if offset + n > self.max_len:
            raise ValueError(
                f"learned positions end at max_len = {self.max_len}: {n} rows at offset {offset} "
                f"need {offset + n}"
            )
        return x + self.table[offset : offset + n].to(x.dtype)


class RotaryPositions(nn.Module):
    """Turn each pair of features by an angle that grows with the place.

    Turned queries and keys have q . k depend on their distance only, not on where they stand.

    Shapes: x (..., n, d), d even, for instance heads (b, h, n, d) -> the same, in the dtype of x.
    Features 2i and 2i + 1 turn by p / base^(2i / d). The first `max_len` places are kept in a
    table; later ones are computed when they are asked for.

    Source: Su et al. 2021 (RoFormer), equation 34.
    """

    def __init__(self, d: int, *, max_len: int = 1024, base: float = BASE):
        super().__init__()
        self.d = check_count("d", d, least=1)
        if d % 2:
            raise ValueError(f"d must be even, for rotary positions turn pairs; got {d}")
        self.base = base
        self.max_len = check_count("max_len", max_len)
        self.register_buffer("table", self._turns(max_len, 0, None), persistent=False)

    def _turns(self, n: int, offset: int, device) -> Tensor:
        """Cosine and sine of every angle, (2, n, d / 2)."""
        angles = _angles(n, self.d, offset, self.base, device)
        return torch.stack((angles.cos(), angles.sin())).float()

    def forward(self, x: Tensor, *, offset: int = 0) -> Tensor:
        n, offset = _check_rows(x, self.d, offset)
        if offset + n <= self.max_len:
            turns = [table[offset : offset + n] for table in self.table]
        else:
            turns = self._turns(n, offset, x.device)
        # half precision is turned in single: two products and a sum, rounded once
        wide = torch.promote_types(x.dtype, torch.float32)
        cos, sin = (turn.to(wide) for turn in turns)  # (n, d / 2) each
        left, right = x[..., 0::2], x[..., 1::2]  # (..., n, d / 2)
        turned = torch.stack((left * cos - right * sin, left * sin + right * cos), dim=-1)
        return turned.flatten(-2).to(x.dtype)  # (..., n, d / 2, 2) -> (..., n, d)


class StretchedRotary(RotaryPositions):
    """Rotary positions with frequencies of one's own, for texts longer than those of training.

    Put it in the place of a trained layer's `RotaryPositions`.

    Args:
        frequencies: (d / 2,), by how much each pair of features turns from place to place; as
            `stretched_frequencies` gives them.
        scale: queries and keys are multiplied by it, so scores by its square: above 1 the weights
            get sharper, a temperature of 1 / scale^2.

    Source: Peng et al. 2023 (YaRN), sections 3.2 and 3.4.
    """

    def __init__(self, frequencies: Tensor, *, scale: float = 1.0, max_len: int = 1024):
        check_floating("frequencies", frequencies)
        if frequencies.dim() != 1:
            raise ValueError(f"frequencies must be (d / 2,), got {shape(frequencies)}")
        if not scale > 0:
            raise ValueError(f"scale must be above 0, got {scale}")
        self.frequencies, self.scale = frequencies.detach().double(), float(scale)
        super().__init__(2 * len(frequencies), max_len=max_len)

    def _turns(self, n: int, offset: int, device) -> Tensor:
        places = torch.arange(offset, offset + n, dtype=torch.float64, device=device)
        angles = places.unsqueeze(1) * self.frequencies.to(places.device)
        return self.scale * torch.stack((angles.cos(), angles.sin())).float()


def stretched_frequencies(
    d: int,
    factor: float,
    way: str = "ramp",
    *,
    trained: int | None = None,
    turns: tuple[float, float] = (1.0, 32.0),
    base: float = BASE,
) -> Tensor:
    """Frequencies of rotary positions for texts `factor` times as long as those of training.

    Args:
        d: features of a head.
        factor: 1 leaves all frequencies as they are.
        way: "interpolation" divides all by `factor`; "ntk" enlarges the base, so that the fastest
            stays and the slowest is divided by `factor`; "ramp", that of YaRN, divides those that
            turn less than `turns[0]` times in `trained` places, leaves those that turn more than
            `turns[1]` times, and goes from one to the other in between.
        trained: places of the longest text of training, for "ramp".

    Returns:
        (d / 2,), float64, from the fastest to the slowest.

    Raises:
        ValueError: d is odd or below 4, the way unknown, a number not above 0, `trained` missing.

    Source: Chen et al. 2023 (interpolation), equation 4; Peng et al. 2023 (YaRN), section 3.1
    (NTK-aware) and definition 2 ("NTK-by-parts").
    """
    check_choice("way", way, ("interpolation", "ntk", "ramp"))
    d = check_count("d", d, least=4)
    if d % 2:
        raise ValueError(f"d must be even, for rotary positions turn pairs; got {d}")
    if not factor > 0:
        raise ValueError(f"factor must be above 0, got {factor}")
    exponents = -torch.arange(0, d, 2, dtype=torch.float64) / d
    plain = base**exponents
    if way == "interpolation":
        return plain / factor
    if way == "ntk":
        return (base * factor ** (d / (d - 2))) ** exponents
    if trained is None:
        raise ValueError('trained must be the longest text of training for the way "ramp"')
    few, many = turns
    if not 0 <= few < many:
        raise ValueError(f"turns must be two rising numbers, got {turns}")
    kept = ((trained * plain / (2 * torch.pi) - few) / (many - few)).clamp(0, 1)
    return kept * plain + (1 - kept) * plain / factor


class AlibiPositions(nn.Module):
    """Take from each score a penalty that grows with the distance, at a slope of its own per head.

    Shapes: (q, k) -> bias (h, q, k), -slope |i + offset - j| for query i and key j. Under a causal
    mask that is the paper's bias; without one it treats both sides alike. It stays in single
    precision in a model of half, where distances beyond 256 would run together.

    Source: Press et al. 2022 (ALiBi), section 3; slopes for any number of heads from their code.
    """

    def __init__(self, num_heads: int):
        super().__init__()
        self.num_heads = check_count("num_heads", num_heads, least=1)
        self.register_buffer("slopes", alibi_slopes(num_heads), persistent=False)

    def _apply(self, function, recurse=True):
        slopes = self.slopes
        super()._apply(function, recurse)
        if self.slopes.dtype.itemsize < 4:  # shortened by .half() or .to()
            self.slopes = slopes.to(self.slopes.device, torch.float32)
        return self

    def forward(self, q: int, k: int, *, offset: int = 0) -> Tensor:
        device = self.slopes.device
        i = torch.arange(offset, offset + q, device=device).unsqueeze(1)  # (q, 1)
        distance = (i - torch.arange(k, device=device)).abs()  # (q, k)
        return -self.slopes[:, None, None] * distance  # (h, 1, 1) * (q, k) -> (h, q, k)


def alibi_slopes(num_heads: int) -> Tensor:
    """Slopes of ALiBi, (h,): 2^(-8/h), 2^(-16/h), ..., 2^-8 where h is a power of two.

    Other h take the slopes of the power of two below, then every second one, from the steepest,
    of twice that power.

    Source: Press et al. 2022, section 3, and their code for other numbers of heads.
    """
    num_heads = check_count("num_heads", num_heads, least=1)
    below = 2 ** (num_heads.bit_length() - 1)
    slopes = [2 ** (-8 * (i + 1) / below) for i in range(below)]
    between = [2 ** (-4 * (i + 1) / below) for i in range(0, 2 * below, 2)]
    return torch.tensor((slopes + between)[:num_heads])


def _angles(n: int, d: int, offset: int, base: float, device) -> Tensor:
    """p / base^(2i / d) for places p from `offset`: (n, ceil(d / 2)), float64."""
    places = torch.arange(offset, offset + n, dtype=torch.float64, device=device)
    even = torch.arange(0, d, 2, dtype=torch.float64, device=device)
    return places.unsqueeze(1) * base ** (-even / d)


def _check_rows(x: Tensor, d: int, offset: int) -> tuple[int, int]:
    """Number of rows of x (..., n, d), and the offset, both checked."""
    check_floating("x", x)
    if x.dim() < 2 or x.shape[-1] != d:
        raise ValueError(f"x must be (..., n, {d}), got shape {shape(x)}")
    return x.shape[-2], check_count("offset", offset)
