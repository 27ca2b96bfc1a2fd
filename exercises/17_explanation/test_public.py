"""Self-checks: they travel in the students' notebook. Messages say what is probably wrong."""

import torch

from coursegrade.testing import allowed, close, normal, points

HALF = 0.5  # of the absolute differences
OWN = 0.5  # of a layer, what is its own input
INPUT = 1.0  # of a layer's input, what it keeps


def force(weights):
    """The first head looks at the first place alone."""
    weights = weights.clone()
    weights[0] = 0.0
    weights[0, :, 0] = 1.0
    return weights


@points(1, "q1")
def test_q1_pen(student, rng):
    """The distance of two rows of four weights, by hand."""
    got = student.moved(torch.tensor([0.4, 0.3, 0.2, 0.1]), torch.tensor([0.1, 0.2, 0.3, 0.4]))
    assert close(got, torch.tensor(0.8 * HALF), atol=1e-5), f"{float(got)}, not {0.8 * HALF}"


@points(2, "q1")
def test_q1_exactly(student, rng):
    """One sentence votes exactly the answer."""
    weights, votes = torch.tensor([[0.5, 0.5, 0.0]]), torch.tensor([[1.0, -1.0, 0.0]])
    got, distance = student.farthest(weights, votes, allowed(1, 3))
    assert tuple(got.shape) == (1, 3), f"weights of shape {tuple(got.shape)}, not (b, k)"
    assert tuple(distance.shape) == (1,), f"distances of shape {tuple(distance.shape)}, not (b,)"
    want = torch.tensor([[0.0, 0.0, 1.0]])
    assert close(got, want, atol=1e-5), f"weights {got.tolist()}, not {want.tolist()}"
    assert close(distance, torch.tensor([2 * HALF]), atol=1e-5), "the distance is wrong"


@points(1, "q2")
def test_q2_one(student, rng):
    """One layer of one head, two places."""
    got = student.rollout(torch.tensor([[[[1.0, 0.0], [0.5, 0.5]]]]))
    assert tuple(got.shape) == (2, 2), f"shape {tuple(got.shape)}, not (n, n)"
    want = torch.tensor([[1.0, 0.0], [0.5 - 0.5 * OWN, 0.5 + 0.5 * OWN]])
    assert close(got, want, atol=1e-5), f"{got.tolist()}, not {want.tolist()}"


@points(1, "q2")
def test_q2_swap(student, rng):
    """One layer of two heads: one stays, one looks at the other place."""
    maps = torch.tensor([[[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]]])
    got = student.by_head(maps)
    assert tuple(got.shape) == (2, 2, 2), f"shape {tuple(got.shape)}, not (h, n, n)"
    swap = [[OWN, 1 - OWN], [1 - OWN, OWN]]
    want = torch.tensor([[[1.0, 0.0], [0.0, 1.0]], swap])
    assert close(got, want, atol=1e-5), f"{got.tolist()}, not {want.tolist()}"


@points(2, "q3")
def test_q3_force(student, rng):
    """A head that is forced to the first place pools the first value."""
    q, k, v = (normal(rng, 2, 4, 3) for _ in range(3))
    got, _ = student.attend(q, k, v, force)
    assert tuple(got.shape) == (2, 4, 3), f"pooled {tuple(got.shape)}, not (h, n, d)"
    assert close(got[0], v[0, :1].expand(4, 3), atol=1e-5), "forced, and not the first value"


@points(1, "q4")
def test_q4_nothing(student, rng):
    """A layer whose values are zero."""
    x, W = normal(rng, 4, 3), normal(rng, 3, 3, 3)
    W[2] = 0.0
    got = student.layer(x, W)
    assert tuple(got.shape) == (4, 3), f"shape {tuple(got.shape)}, not (n, d)"
    assert close(got, INPUT * x, atol=1e-5), "no values, and the output is not what is kept of x"


@points(1, "q4")
def test_q4_even(student, rng):
    """Equal scores and given values."""
    x, y, W = normal(rng, 4, 3), normal(rng, 4, 3), torch.zeros(3, 3, 3)
    W[2] = torch.eye(3)
    got = student.layer(x, W, values=y)
    mean = y.cumsum(0) / torch.arange(1, 5)[:, None]
    assert close(got, INPUT * x + mean, atol=1e-5), "not the mean of the values so far, added"
