"""positions: formulas against slow loops, the laws each kind promises, offsets and dtypes."""

import math

import pytest
import torch
from attnbook_testing.refusals import refuses
from attnbook_testing.strategies import DTYPES, tolerance
from hypothesis import given
from hypothesis import strategies as st

import attnbook as ab

sizes = st.integers(1, 9)
bases = st.sampled_from([10_000.0, 500_000.0, 100.0, 3.5])


def normal(*shape, seed=0, dtype=torch.float64):
    random = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=random, dtype=torch.float64).to(dtype)


# sinusoidal


@given(n=st.integers(0, 6), d=sizes, offset=st.integers(0, 3000), base=bases)
def test_sinusoid_equals_the_formula(n, d, offset, base):
    rows = ab.sinusoid(n, d, offset=offset, base=base)
    assert rows.shape == (n, d) and rows.dtype == torch.float32
    for p in range(n):
        for j in range(d):
            angle = (p + offset) / base ** (2 * (j // 2) / d)
            wanted = math.cos(angle) if j % 2 else math.sin(angle)
            assert rows[p, j].item() == pytest.approx(wanted, abs=1e-6)


def test_the_base_is_10_000_unless_another_is_asked_for():
    x = normal(1, 5, 6)
    assert torch.equal(ab.sinusoid(5, 6), ab.sinusoid(5, 6, base=10_000.0))
    assert torch.equal(ab.RotaryPositions(6)(x), ab.RotaryPositions(6, base=10_000.0)(x))


# every kind that is a module of x


KINDS = {
    "sinusoidal": ab.SinusoidalPositions,
    "learned": ab.LearnedPositions,
    "rotary": ab.RotaryPositions,
}


def make(kind, d=6, max_len=8):
    torch.manual_seed(0)
    return KINDS[kind](d, max_len=max_len)


every_kind = pytest.mark.parametrize("kind", KINDS)
fixed_kind = pytest.mark.parametrize("kind", ["sinusoidal", "rotary"])


@every_kind
@given(first=st.integers(0, 8), start=st.integers(0, 8))
def test_offset_continues_where_the_first_rows_stopped(kind, first, start):
    positions, x = make(kind, max_len=24), normal(2, 12, 6)
    whole = positions(x, offset=start)
    parts = positions(x[:, :first], offset=start), positions(x[:, first:], offset=start + first)
    assert torch.equal(torch.cat(parts, dim=1), whole)


@fixed_kind
@given(offset=st.integers(0, 20), n=st.integers(0, 12))
def test_past_the_table_nothing_changes(kind, offset, n):
    short, long = make(kind, max_len=5), make(kind, max_len=64)
    x = normal(1, n, 6)
    assert torch.equal(short(x, offset=offset), long(x, offset=offset))


def test_learned_positions_say_where_they_end():
    learned = ab.LearnedPositions(4, max_len=8)
    assert learned(normal(1, 3, 4), offset=5).shape == (1, 3, 4)
    with pytest.raises(ValueError, match=r"max_len = 8: 3 rows at offset 6 need 9"):
        learned(normal(1, 3, 4), offset=6)


@pytest.mark.parametrize("std", [0.02, 0.5, 3.0])
def test_learned_positions_start_with_the_spread_that_was_asked_for(std):
    torch.manual_seed(0)
    table = ab.LearnedPositions(100, max_len=400, std=std).table
    assert table.std().item() == pytest.approx(std, rel=0.02)  # 40,000 numbers: 0.4%
    assert table.mean().item() == pytest.approx(0, abs=0.03 * std)


@every_kind
def test_the_dtype_of_x_is_kept(kind):
    for dtype in DTYPES:
        positions, x = make(kind), normal(2, 3, 6, dtype=dtype)
        near = positions(x.double())
        for module in (positions, positions.to(dtype)):
            assert module(x).dtype == dtype
            torch.testing.assert_close(module(x).double(), near, atol=tolerance(dtype, 8), rtol=0)


@every_kind
def test_nothing_is_changed_and_tables_are_buffers_or_parameters(kind):
    positions, x = make(kind), normal(2, 3, 6)
    before = x.clone()
    positions(x)
    assert torch.equal(x, before)
    assert not any(isinstance(v, torch.Tensor) for v in vars(positions).values())
    tensors = {*dict(positions.named_buffers()), *dict(positions.named_parameters())}
    assert tensors == {"table"}
    assert set(positions.state_dict()) == ({"table"} if kind == "learned" else set())
    assert positions.to("meta").table.is_meta


@every_kind
def test_wrong_rows_are_refused(kind):
    positions, x, said = (
        make(kind),
        normal(2, 3, 6),
        r"x must be \(\.\.\., n, 6\), got shape \(2, 3",
    )
    refuses(ValueError, said, positions, x[..., :5])
    refuses(ValueError, "offset must be at least 0, got -1", positions, x, offset=-1)
    refuses(TypeError, "x must be floating point", positions, x.long())


# rotary


def complex_turns(x, offset, base):
    """x (..., n, d) turned as complex numbers, in double precision."""
    n, d = x.shape[-2:]
    pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
    places = torch.arange(offset, offset + n).double()
    angles = torch.outer(places, base ** (-torch.arange(0, d, 2).double() / d))
    turned = pairs * torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(turned).flatten(-2)


@given(n=sizes, half=st.integers(1, 4), offset=st.integers(0, 500), base=bases)
def test_rotary_equals_complex_multiplication(n, half, offset, base):
    d, x = 2 * half, normal(2, 3, n, 2 * half)
    turned = ab.RotaryPositions(d, max_len=16, base=base)(x, offset=offset)
    torch.testing.assert_close(turned, complex_turns(x, offset, base), atol=1e-5, rtol=0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_rotary_rounds_half_precision_once(dtype):
    """Half a unit in the last place, where two rounded products and a sum lose more."""
    x = normal(2, 3, 40, 8, dtype=dtype)
    turned = ab.RotaryPositions(8)(x, offset=7)
    once = torch.finfo(dtype).eps / 2
    wanted = complex_turns(x, 7, 10_000.0)
    torch.testing.assert_close(turned.double(), wanted, atol=2e-6, rtol=once)


def test_rotary_wants_pairs():
    with pytest.raises(ValueError, match="d must be even"):
        ab.RotaryPositions(5)


# ALiBi


def test_alibi_slopes_of_a_power_of_two_are_the_papers_geometric_sequence():
    assert ab.alibi_slopes(8).tolist() == [2.0**-i for i in range(1, 9)]
    for h in (1, 2, 4, 16, 32):
        ratio = 2 ** (-8 / h)  # both the first slope and the ratio
        wanted = torch.tensor([ratio ** (i + 1) for i in range(h)])
        torch.testing.assert_close(ab.alibi_slopes(h), wanted)


@pytest.mark.parametrize("h", [3, 7, 12])
def test_other_numbers_of_heads_fill_up_with_every_second_slope_of_the_double(h):
    below = max(p for p in (1, 2, 4, 8, 16) if p < h)
    slopes, double = ab.alibi_slopes(h), ab.alibi_slopes(2 * below)
    torch.testing.assert_close(slopes[:below], ab.alibi_slopes(below))
    torch.testing.assert_close(slopes[below:], double[0::2][: h - below])
    assert slopes.unique().numel() == h  # no two heads alike


@given(h=st.integers(1, 5), q=st.integers(0, 4), k=st.integers(0, 6), offset=st.integers(0, 5))
def test_alibi_bias_entry_by_entry(h, q, k, offset):
    bias, slopes = ab.AlibiPositions(h)(q, k, offset=offset), ab.alibi_slopes(h).tolist()
    assert bias.shape == (h, q, k)
    for a in range(h):
        rows = [[-slopes[a] * abs(i + offset - j) for j in range(k)] for i in range(q)]
        assert bias[a].tolist() == [pytest.approx(row, rel=1e-6) for row in rows]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize("h", [2, 3])
def test_alibi_tells_600_distances_apart_in_any_precision(dtype, h):
    """Alone, and in attention whose scores are the biases alone."""
    wanted = ab.AlibiPositions(h)(1, 600, offset=599)
    positions = ab.AlibiPositions(h).double().to(dtype)
    bias = positions(1, 600, offset=599)
    torch.testing.assert_close(bias.float(), wanted)
    assert all(len(row.unique()) == 600 for row in bias[:, 0])
    heads = ab.MultiHeadAttention(4 * h, h, positions=positions).to(dtype)
    torch.nn.init.zeros_(heads.W_q.weight)
    x = torch.randn(1, 600, 4 * h, dtype=dtype)
    weights = heads(x, need_weights=True).weights
    assert weights.dtype == dtype
    apart = (torch.arange(600)[:, None] - torch.arange(600)).abs()
    bias = -ab.alibi_slopes(h)[:, None, None] * apart
    torch.testing.assert_close(weights[0], bias.softmax(-1).to(dtype))


# stretched


@given(d=st.sampled_from([4, 8, 32]), factor=st.floats(1, 16), base=bases)
def test_stretched_frequencies_are_the_formulas(d, factor, base):
    plain = torch.tensor([base ** (-2 * i / d) for i in range(d // 2)], dtype=torch.float64)

    def near(frequencies, other):
        torch.testing.assert_close(frequencies, other, rtol=1e-9, atol=0)

    near(ab.stretched_frequencies(d, factor, "interpolation", base=base), plain / factor)
    ntk = ab.stretched_frequencies(d, factor, "ntk", base=base)
    near(ntk[0], plain[0])
    near(ntk[-1], plain[-1] / factor)
    ramp = ab.stretched_frequencies(d, factor, trained=100, turns=(1, 5), base=base)
    for frequency, found in zip(plain.tolist(), ramp.tolist(), strict=True):
        turns = 100 * frequency / (2 * math.pi)
        share = min(max((turns - 1) / 4, 0), 1)
        wanted = share * frequency + (1 - share) * frequency / factor
        assert found == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("way", ["interpolation", "ntk", "ramp"])
def test_stretched_by_one_is_rotary(way):
    frequencies = ab.stretched_frequencies(8, 1.0, way, trained=64)
    x = normal(2, 3, 5, 8, dtype=torch.float32)
    ours = ab.StretchedRotary(frequencies, max_len=4)
    torch.testing.assert_close(ours(x, offset=2), ab.RotaryPositions(8)(x, offset=2))


def test_interpolation_is_a_place_between_and_scale_multiplies():
    x = normal(1, 5, 8, dtype=torch.float32)
    half = ab.StretchedRotary(ab.stretched_frequencies(8, 2.0, "interpolation"), scale=1.5)
    torch.testing.assert_close(half(x[:, ::2], offset=0)[:, 0], 1.5 * x[:, 0])
    plain = ab.RotaryPositions(8)
    torch.testing.assert_close(half(x[:, :1], offset=6), 1.5 * plain(x[:, :1], offset=3))


def test_stretched_positions_take_the_place_of_rotary_ones():
    torch.manual_seed(0)
    layer = ab.MultiHeadAttention(8, 2, positions=ab.RotaryPositions(4))
    x = normal(1, 6, 8, dtype=torch.float32)
    before = layer(x).output
    layer.positions = ab.StretchedRotary(ab.stretched_frequencies(4, 1.0, "ntk"))
    torch.testing.assert_close(layer(x).output, before)
    layer.positions = ab.StretchedRotary(ab.stretched_frequencies(4, 4.0, "ntk"))
    assert not torch.allclose(layer(x).output, before)


def test_stretched_refusals():
    refuses(ValueError, "way", ab.stretched_frequencies, 8, 2.0, "none")
    refuses(ValueError, "d must be even", ab.stretched_frequencies, 7, 2.0)
    refuses(ValueError, "factor", ab.stretched_frequencies, 8, 0.0, "ntk")
    refuses(ValueError, "trained", ab.stretched_frequencies, 8, 2.0)
    refuses(ValueError, "turns", ab.stretched_frequencies, 8, 2.0, trained=9, turns=(2, 1))
    refuses(ValueError, "scale", ab.StretchedRotary, torch.ones(4), scale=0.0)
    refuses(ValueError, "frequencies", ab.StretchedRotary, torch.ones(4, 2))
    refuses(TypeError, "frequencies", ab.StretchedRotary, torch.ones(4, dtype=torch.long))
