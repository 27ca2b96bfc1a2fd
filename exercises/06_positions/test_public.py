"""Self-checks: they travel in the students' notebook. Messages say what is probably wrong."""

import torch

from coursegrade.testing import close, normal, points


@points(1, "q1")
def test_q1_first_wave(student, rng):
    """The first two features are sine and cosine of the place itself."""
    n = int(torch.randint(5, 12, (), generator=rng))
    got, place = student.sinusoids(n, 6), torch.arange(n).float()
    assert tuple(got.shape) == (n, 6), f"shape {tuple(got.shape)}: (n, d) is wanted"
    assert not close(got[:, 0], place.cos(), atol=1e-4), "sine first, cosine second"
    assert close(got[:, 0], place.sin(), atol=1e-4), "feature 0 is not sin(p)"
    assert close(got[:, 1], place.cos(), atol=1e-4), (
        "feature 1 is not cos(p): sines and cosines stand side by side, of one speed each pair"
    )


@points(1, "q1")
def test_q1_odd(student, rng):
    """An odd size ends with a sine."""
    d = 2 * int(torch.randint(2, 6, (), generator=rng)) + 1
    got = student.sinusoids(4, d)
    assert tuple(got.shape) == (4, d), f"shape {tuple(got.shape)} for d = {d}: leave out a cosine"
    assert (got[0, ::2] == 0).all() and (got[0, 1::2] == 1).all(), (
        "at place 0 every sine is 0 and every cosine is 1"
    )


@points(1, "q2")
def test_q2_lengths(student, rng):
    """A turn leaves every pair as long as it was, and place 0 where it was."""
    x = normal(rng, 2, 3, 5, 6)
    got = student.turn(x.clone())
    assert tuple(got.shape) == (2, 3, 5, 6), f"shape {tuple(got.shape)}: that of x is wanted"
    assert close(got[:, :, 0], x[:, :, 0], atol=1e-5), "place 0 is not to be turned"
    assert not close(got[:, :, 1:], x[:, :, 1:], atol=1e-3), "nothing is turned"
    pairs, turned = x.unflatten(3, (3, 2)).norm(dim=4), got.unflatten(3, (3, 2)).norm(dim=4)
    assert close(pairs, turned, atol=1e-4), (
        "the pairs (2i, 2i + 1) change their lengths: other pairs, or no turn?"
    )


@points(1, "q2")
def test_q2_distance_alone(student, rng):
    """Moved together, a query and a key have the same score."""
    q, k = normal(rng, 1, 1, 1, 8), normal(rng, 1, 1, 1, 8)
    scores = [(student.turn(q, 3 + s) * student.turn(k, 1 + s)).sum() for s in (0, 1, 40)]
    assert close(scores[0], scores[1], atol=1e-3), "a score changes from place to place"
    assert close(scores[0], scores[2], atol=1e-3), "a score changes far away"
    back = (student.turn(q, 1) * student.turn(k, 3)).sum()
    assert not close(scores[0], back, atol=1e-5, rtol=0), "is the offset used? before = after"


@points(1, "q3")
def test_q3_four_heads(student, rng):
    """Four heads: a quarter, a sixteenth, and so on."""
    got = student.slopes(4)
    assert tuple(got.shape) == (4,), f"shape {tuple(got.shape)}: one slope a head is wanted"
    assert (got > 0).all(), "slopes are above 0: the minus belongs to the bias"
    assert close(got, torch.tensor([4.0, 16.0, 64.0, 256.0]).reciprocal()), (
        f"the slopes of 4 heads are {[round(s, 4) for s in got.tolist()]}"
    )


@points(1, "q3")
def test_q3_penalty(student, rng):
    """The further a key, the lower its bias, and none is above 0."""
    n = int(torch.randint(4, 8, (), generator=rng))
    got = student.alibi(2, n, n)
    assert tuple(got.shape) == (2, n, n), f"shape {tuple(got.shape)}: (h, q, k) is wanted"
    assert (got <= 0).all(), "a bias above 0: a penalty lowers the score, on both sides"
    assert (got.diagonal(dim1=1, dim2=2) == 0).all(), "a token pays for reading itself"
    assert (got[:, -1].diff() > 0).all(), "for the last query, nearer keys must pay less"


@points(1, "q4")
def test_q4_first_row(student, rng):
    """The first row reads itself alone, and without a query the next one the mean of both."""
    x, W = normal(rng, 2, 3, 4), [normal(rng, 4, 4) for _ in range(3)]
    output, _ = student.read_on(x, *W)
    assert tuple(output.shape) == (2, 3, 4), f"the output has shape {tuple(output.shape)}"
    assert close(output[:, 0], x[:, 0] @ W[2], atol=1e-4), (
        "row 0 may read nothing but its own value: x @ W_v, not turned, and nothing that is later"
    )
    _, cache = student.read_on(x[:, :1], *W)
    output, _ = student.read_on(x[:, 1:2], 0 * W[0], *W[1:], cache)
    assert close(output[:, 0], (x[:, :2] @ W[2]).mean(1), atol=1e-4), (
        "with equal scores row 1 is the mean of two values, one of them in the cache"
    )


@points(1, "q4")
def test_q4_two_pieces(student, rng):
    """In two pieces as in one."""
    x, W = normal(rng, 1, 4, 8), [normal(rng, 8, 8) / 2 for _ in range(3)]
    whole, _ = student.read_on(x, *W)
    first, cache = student.read_on(x[:, :3], *W)
    last, _ = student.read_on(x[:, 3:], *W, cache)
    assert close(first, whole[:, :3], atol=1e-4), "the first piece reads what comes later"
    assert close(last, whole[:, 3:], atol=1e-4), (
        "row 3 read by itself is not row 3 of the whole: which place does it think it has?"
    )


@points(1, "q5")
def test_q5_columns(student, rng):
    """Column c belongs to the distance c - r."""
    table = torch.arange(-2.0, 3.0).unsqueeze(0)  # each column holds its own distance
    got = student.distance_bias(table, 4, 4)
    assert tuple(got.shape) == (1, 4, 4), f"shape {tuple(got.shape)}: (h, q, k) is wanted"
    assert (got[0].diagonal() == 0).all(), "distance 0 does not find its column, the middle one"
    assert got[0, 0, 1] == 1 and got[0, 1, 0] == -1, "before and after are the wrong way round"
