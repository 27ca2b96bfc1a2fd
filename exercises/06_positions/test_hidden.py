"""Hidden tests. The first line of a docstring is the hint in the students' feedback."""

import math
from copy import deepcopy

import torch
from torch.nn import functional as F

from coursegrade.testing import cases, close, in_pieces, normal, points, same


def slow_sinusoids(n, d, offset=0):
    """One number at a time."""
    rows = []
    for p in range(offset, offset + n):
        angles = [p / 10000 ** (2 * (j // 2) / d) for j in range(d)]
        rows.append([math.cos(a) if j % 2 else math.sin(a) for j, a in enumerate(angles)])
    return torch.tensor(rows)


@points(1, "q1", value=True)
def test_q1_formula(student, rng):
    """Sines and cosines of every speed, side by side."""
    n = int(torch.randint(20, 30, (), generator=rng))
    assert close(student.sinusoids(n, 16), slow_sinusoids(n, 16), atol=1e-4, rtol=0)


@points(1, "q1")
def test_q1_two_features(student, rng):
    """With two features: sine and cosine of the place itself."""
    assert close(student.sinusoids(20, 2), slow_sinusoids(20, 2), atol=1e-4, rtol=0)


@points(1, "q1")
def test_q1_odd_speeds(student, rng):
    """With an odd d the speeds are those of the formula, with this d."""
    assert close(student.sinusoids(25, 7), slow_sinusoids(25, 7), atol=1e-4, rtol=0)


@points(1, "q1")
def test_q1_offset(student, rng):
    """The first row is the place `offset`."""
    start = int(torch.randint(3, 50, (), generator=rng))
    got = student.sinusoids(4, 8, start)
    assert close(got, slow_sinusoids(4, 8, start), atol=1e-4, rtol=0)


@points(1, "q1")
def test_q1_far(student, rng):
    """Far places are as exact as near ones: the angles are in double precision."""
    start = 900_000 + int(torch.randint(1000, (), generator=rng))
    assert close(student.sinusoids(50, 8, start), slow_sinusoids(50, 8, start), atol=1e-3, rtol=0)


def slow_turn(x, offset=0):
    """A product of complex numbers."""
    n, d = x.shape[-2:]
    angles = torch.tensor(
        [[p / 10000 ** (2 * i / d) for i in range(d // 2)] for p in range(offset, offset + n)],
        dtype=torch.float64,
    )
    pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
    turned = pairs * torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(turned).flatten(-2).to(x.dtype)


@points(3, "q2", value=True)
def test_q2_formula(student, rng):
    """Each pair is turned by its own angle, in the direction of the formula."""
    x = normal(rng, 2, 3, 20, 8)
    assert close(student.turn(x), slow_turn(x))


@points(1, "q2")
def test_q2_one_pair(student, rng):
    """A single pair is turned by the place itself."""
    x = normal(rng, 2, 3, 20, 2)
    assert close(student.turn(x), slow_turn(x))


@points(1, "q2")
def test_q2_offset(student, rng):
    """The first row stands at place `offset`."""
    x = normal(rng, 1, 3, 4, 6)
    assert close(student.turn(x, 17), slow_turn(x, 17))


@points(1, "q2")
def test_q2_arguments(student, rng):
    """What comes in stays as it is."""
    x = normal(rng, 1, 2, 3, 4)
    assert student.turn(x.clone(), 2).shape == x.shape
    assert same(student.last_args[0], x)


@points(1, "q2")
def test_q2_gradient(student, rng):
    """Gradients flow, turned back."""
    x = normal(rng, 2, 1, 5, 4)
    [got] = student.turn.grad(x, 3)
    x.requires_grad_()
    [want] = torch.autograd.grad(slow_turn(x, 3).sum(), x)
    assert close(got, want)


@points(1, "q3")
@cases(h=[1, 16])
def test_q3_power_of_two(student, rng, h):
    """A power of two: the slopes fall by the same factor, down to 2 to the -8."""
    want = torch.tensor([2.0 ** (-8 * (i + 1) / h) for i in range(h)])
    assert close(student.slopes(h), want, atol=1e-6, rtol=1e-4)


@points(1, "q3", value=True)
@cases(h=[3, 6])
def test_q3_other_numbers(student, rng, h):
    """No power of two: the list for the power below, then every second one of the next list."""
    exponents = {3: (4, 8, 2), 6: (2, 4, 6, 8, 1, 3)}
    want = torch.tensor([2.0**-e for e in exponents[h]])
    assert close(student.slopes(h), want, atol=1e-6, rtol=1e-4)


def slow_alibi(h, q, k):
    """The bias of `h` heads, a power of two."""
    steps = [2 ** (-8 * (i + 1) / h) for i in range(h)]
    return torch.tensor([[[-m * abs(i - j) for j in range(k)] for i in range(q)] for m in steps])


@points(1, "q3", value=True)
def test_q3_distance(student, rng):
    """The bias is minus slope times distance, also for keys after the query."""
    assert close(student.alibi(8, 5, 7), slow_alibi(8, 5, 7), atol=1e-6, rtol=1e-4)


@points(1, "q3")
def test_q3_one_head(student, rng):
    """A single head has a single slope."""
    assert close(student.alibi(1, 5, 7), slow_alibi(1, 5, 7), atol=1e-6, rtol=1e-4)


@points(1, "q3")
def test_q3_offset(student, rng):
    """Query 0 stands at place `offset`, key 0 at place 0."""
    start = int(torch.randint(3, 9, (), generator=rng))
    got = student.alibi(4, 1, start + 1, start)
    want = [[[-(4.0**-m) * (start - j) for j in range(start + 1)]] for m in range(1, 5)]
    assert close(got, torch.tensor(want), atol=1e-6, rtol=1e-4)


def slow_read(x, W_q, W_k, W_v):
    """The whole text at once, by torch's own attention."""
    q, k = slow_turn(x @ W_q), slow_turn(x @ W_k)
    return F.scaled_dot_product_attention(q, k, x @ W_v, is_causal=True)


def text(rng, n=6, d=8, b=2):
    return normal(rng, b, n, d), *(normal(rng, d, d) / 2 for _ in range(3))


def in_pieces_of(student, x, W, lengths):
    return in_pieces(lambda piece, cache: student.read_on(piece, *W, cache), x, lengths)


@points(1, "q4", value=True)
def test_q4_whole(student, rng):
    """In one piece: causal attention with turned queries and keys."""
    x, *W = text(rng)
    assert close(student.read_on(x, *W)[0], slow_read(x, *W))


@points(2, "q4", value=True)
def test_q4_one_by_one(student, rng):
    """Row after row: each has its own place."""
    x, *W = text(rng)
    assert close(in_pieces_of(student, x, W, [1] * 6), slow_read(x, *W))


@points(2, "q4", value=True)
def test_q4_long_pieces(student, rng):
    """A later piece of several rows: all of the cache, and of the piece what is not later."""
    x, *W = text(rng)
    assert close(in_pieces_of(student, x, W, [2, 3, 1]), slow_read(x, *W))


@points(1, "q4")
def test_q4_average(student, rng):
    """Without queries each row averages its own value and all before it, in the cache or not."""
    x, W_q, W_k, W_v = text(rng)
    want = (x @ W_v).cumsum(1) / torch.arange(1, 7).reshape(1, 6, 1)
    assert close(in_pieces_of(student, x, [0 * W_q, W_k, W_v], [2, 3, 1]), want)


@points(1, "q4")
def test_q4_going_back(student, rng):
    """One can go back to a cache: it stays as it was."""
    x, *W = text(rng)
    _, cache = student.read_on(x[:, :4], *W)
    kept = deepcopy(cache)
    student.read_on(x[:, 4:5], *W, cache)
    assert same(student.last_args[4], kept)
    other = torch.cat((x[:, :4], normal(rng, 2, 1, 8)), dim=1)
    got, _ = student.read_on(other[:, 4:], *W, cache)
    assert close(got, slow_read(other, *W)[:, 4:])


@points(1, "q4")
def test_q4_gradient(student, rng):
    """Gradients flow to the matrix of keys, and the numbers are right in pieces, too."""
    x, *W = text(rng)
    assert close(in_pieces_of(student, x, W, [5, 1]), slow_read(x, *W))
    [got] = student.read_on.grad(x, *W, wrt=(2,), of=0)
    W[1].requires_grad_()
    [want] = torch.autograd.grad(slow_read(x, *W).sum(), W[1])
    assert close(got, want, atol=1e-3, rtol=1e-3)


def slow_bias(table, q, k, offset=0):
    r = table.shape[1] // 2
    rows = [[min(max(j - i - offset, -r), r) + r for j in range(k)] for i in range(q)]
    return torch.stack([torch.stack([table[:, c] for c in row], dim=1) for row in rows], dim=1)


@points(1, "q5")
def test_q5_near(student, rng):
    """Distances within reach have a column each."""
    table = normal(rng, 2, 9)
    assert same(student.distance_bias(table, 4, 5), slow_bias(table, 4, 5))


@points(1, "q5", value=True)
def test_q5_far(student, rng):
    """Keys further away share the outermost columns."""
    table = normal(rng, 3, 5)
    assert same(student.distance_bias(table, 7, 8), slow_bias(table, 7, 8))


@points(1, "q5")
def test_q5_offset(student, rng):
    """The first query stands at place `offset`."""
    table = normal(rng, 2, 7)
    assert same(student.distance_bias(table, 2, 8, 6), slow_bias(table, 2, 8, 6))


@points(1, "q5")
def test_q5_gradient(student, rng):
    """The table is learned: each column's gradient is how often it is used."""
    table = normal(rng, 2, 5)
    [got] = student.distance_bias.grad(table, 4, 4)
    counts = torch.tensor([3.0, 3.0, 4.0, 3.0, 3.0])  # of 16 pairs; the outer ones: 2 + 1
    assert close(got, counts.expand(2, 5))
