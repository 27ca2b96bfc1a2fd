"""Self-checks: they travel in the students' notebook. Messages say what is probably wrong."""

import torch

from coursegrade.testing import close, normal, points

FACTOR = 1.0  # of the scores of sentences


def scale(n):
    """What the mean of n sentences is multiplied by."""
    return 1.0


@points(1, "q1")
def test_q1_sums(student, rng):
    """Weights sum to one over what the mask leaves."""
    mask = torch.tensor([[True, True, False, True]])
    _, weights = student.level(normal(rng, 1, 4, 3), mask, normal(rng, 2, 3), normal(rng, 2))
    assert tuple(weights.shape) == (1, 4), f"weights {tuple(weights.shape)}, not (b, k)"
    assert close(weights.sum(1), torch.ones(1), atol=1e-5), (
        f"they sum to {float(weights.sum()):.3f}"
    )
    assert float(weights[0, 2]) == 0, "a masked place has a weight"


@points(1, "q1")
def test_q1_one_word(student, rng):
    """A document of one word is that word."""
    x, mask = normal(rng, 1, 2, 3, 4), torch.zeros(1, 2, 3, dtype=torch.bool)
    mask[0, 1, 2] = True
    got = student.read(x, mask, *(normal(rng, *n) for n in ((5, 4), (5,), (5, 4), (5,))))
    assert tuple(got.shape) == (1, 4), f"shape {tuple(got.shape)}, not (b, d)"
    assert close(got[0], x[0, 1, 2], atol=1e-5), "a padding sentence has a weight"


@points(1, "q2")
def test_q2_chapter(student, rng):
    """The chapter's words: a quarter and three quarters of a fifth."""
    words = torch.tensor([[[0.25, 0.75], [1.0, 0.0]]])
    got = student.shares(words, torch.tensor([[0.2, 0.8]]))
    want = torch.tensor([[[0.05, 0.15], [0.8, 0.0]]])
    assert close(got, want, atol=1e-5), f"{got.tolist()}, not {want.tolist()}"


@points(1, "q2")
def test_q2_two(student, rng):
    """Of two sentences the one that is left decides."""
    scores, votes = normal(rng, 2), torch.tensor([1.0, 3.0])
    logit = float((FACTOR * scores).softmax(0) @ votes)
    got, want = student.erase(scores, votes), torch.tensor([3 - logit, 1 - logit])
    right = close(got, want, atol=1e-4)
    assert right or not close(got, -want, atol=1e-4), "the other way round: without minus with"
    assert right, f"{got.tolist()}, not {want.tolist()}"


@points(1, "q3")
def test_q3_ranks(student, rng):
    """The smallest has rank 1, the largest the last."""
    got = student.ranks(torch.tensor([0.3, -2.0, 9.0, 1.0]))
    assert got.tolist() == [2, 1, 4, 3], f"{got.tolist()}, not [2, 1, 4, 3]"


@points(1, "q3")
def test_q3_same_order(student, rng):
    """Weights in the order of the ratings agree fully."""
    ratings = torch.tensor([0.5, -3.0, 1.0, -0.2])
    strong = ratings.abs()
    got = float(student.agreement(strong**3, ratings))
    assert abs(got - 1) < 1e-5, f"{got:.3f}, not 1"


@points(1, "q4")
def test_q4_whole(student, rng):
    """Without padding it is the mean of all words."""
    x = normal(rng, 2, 3, 4, 5)
    got = student.mean_of_means(x, torch.ones(2, 3, 4, dtype=torch.bool))
    assert close(got, scale(3) * x.mean(dim=(1, 2)), atol=1e-5)
