"""Self-checks: they travel in the students' notebook. Messages say what is probably wrong."""

import math

import torch

from coursegrade.testing import close, normal, points


@points(1, "q1")
def test_q1_first(student, rng):
    """Two equal scores, read first."""
    start = torch.tensor([-math.inf]), torch.zeros(1), torch.zeros(1, 2)
    values = torch.tensor([[1.0, 0], [3, 4]])
    A, S, o = student.read(*start, torch.tensor([[5.0, 5.0]]), values)
    assert tuple(A.shape) == tuple(S.shape) == (1,), f"A and S are {tuple(S.shape)}, not (q,)"
    assert close(A, torch.tensor([5.0])), f"the largest score is 5, not {A.tolist()}"
    want = torch.tensor([[4.0, 4]])
    assert close(o, want, atol=1e-5), f"the first block: {o.tolist()}, not {want.tolist()}"
    output, logs = student.finish(A, S, o)
    assert close(output, want / 2, atol=1e-5), "two equal scores: the output is no mean"
    want = 5 + math.log(2)
    assert close(logs, torch.tensor([want]), atol=1e-4), "not the logarithm of the sum of e^a"


@points(1, "q1")
def test_q1_larger(student, rng):
    """A larger score comes second."""
    before = torch.tensor([0.0]), torch.tensor([2.0]), torch.tensor([[6.0]])
    _, S, o = student.read(*before, torch.tensor([[1.0]]), torch.tensor([[10.0]]))
    want = 2 / math.e + 1
    assert close(S, torch.tensor([want]), atol=1e-4), f"sum {S.tolist()}: are older parts rescaled?"
    want = 6 / math.e + 10
    assert close(o, torch.tensor([[want]]), atol=1e-3), "is the sum of values rescaled?"


@points(1, "q2")
def test_q2_equal(student, rng):
    """Two machines whose keys weigh as much as the sink."""
    got, logs = student.join(torch.tensor([[[3.0]], [[6.0]]]), torch.full((2, 1), 0.0))
    assert tuple(got.shape) == (1, 1) and tuple(logs.shape) == (1,), "wrong shapes"
    assert close(got, torch.tensor([[3.0]]), atol=1e-4), f"a third of 3 + 6, not {got.tolist()}"


@points(1, "q3")
def test_q3_hand(student, rng):
    """Four bits for three numbers."""
    whole, scale = student.shorten(torch.tensor([[1.4, -0.7, 0.12]]), 4)
    assert tuple(whole.shape) == (1, 3) and tuple(scale.shape) == (1, 1), "wrong shapes"
    assert close(scale, torch.tensor([[0.2]]), atol=1e-4), (
        f"the scale is 1.4 / 7, not {scale.tolist()}"
    )
    assert close(whole, torch.tensor([[7, -4, 1]])) or close(whole, torch.tensor([[7, -3, 1]]))


@points(1, "q3")
def test_q3_row(student, rng):
    """The last row of six tokens."""
    got = student.still_there(6, 2, 1)
    assert tuple(got.shape) == (6, 6), f"shape {tuple(got.shape)}, not (n, n)"
    want = torch.tensor([1, 0, 0, 0, 1, 1])
    assert close(got[5] * 1, want), f"token 5 sees {(got[5] * 1).tolist()}"
    assert not bool(got[2, 3]), "a token that comes later is there"


@points(2, "q4")
def test_q4_one_query(student, rng):
    """A query that scores all keys alike: each has the same share, in any blocks."""
    K, g = normal(rng, 4, 3), normal(rng, 1, 2)
    got = student.value_gradient(torch.zeros(1, 3), K, torch.tensor([math.log(4)]), g, 1)
    assert tuple(got.shape) == (4, 2), f"shape {tuple(got.shape)}, not (k, d_v)"
    assert close(got, g.expand(4, 2) / 4, atol=1e-5), "four keys alike: not a quarter of g each"
