"""Self-checks: they travel in the students' notebook. Messages say what is probably wrong."""

import torch

from coursegrade.testing import close, normal, points, weights_over_keys


@points(1, "q1")
def test_q1_sums(student, rng):
    """Weights sum to one over keys."""
    weights = student.masked_softmax(normal(rng, 2, 4, 4), torch.tensor([4, 4]))
    weights_over_keys(weights, (2, 4, 4))


@points(1, "q1")
def test_q1_padding(student, rng):
    """Padding has a weight of exactly 0, valid keys have more."""
    weights = student.masked_softmax(normal(rng, 2, 2, 4), torch.tensor([2, 3]))
    assert (weights[0, :, 2:] == 0).all() and (weights[1, :, 3:] == 0).all(), "padding has weight"
    assert (weights[0, :, :2] > 0).all(), "a valid key has no weight"
    weights_over_keys(weights, (2, 2, 4))


@points(1, "q2")
def test_q2_shape(student, rng):
    """Scores (b, q, k) for queries and keys of different sizes."""
    scores = student.AdditiveScore(3, 5, 7)(normal(rng, 2, 4, 3), normal(rng, 2, 6, 5))
    assert tuple(scores.shape) == (2, 4, 6), f"scores have shape {tuple(scores.shape)}"


@points(1, "q2")
def test_q2_odd(student, rng):
    """Without bias the score changes its sign with its arguments."""
    score = student.AdditiveScore(3, 5, 7)
    q, k = normal(rng, 1, 2, 3), normal(rng, 1, 2, 5)
    assert close(score(q, k), -score(-q, -k), atol=1e-5), "is there a bias, or no tanh?"


@points(1, "q3")
def test_q3_weights(student, rng):
    """Output and weights in this order, and weights that sum to one over keys."""
    q, k, v = normal(rng, 2, 3, 4), normal(rng, 2, 5, 4), normal(rng, 2, 5, 6)
    output, weights = student.attention(q, k, v, torch.tensor([5, 2]))
    assert tuple(output.shape) == (2, 3, 6), f"the output has shape {tuple(output.shape)}"
    weights_over_keys(weights, (2, 3, 5))
    assert (weights[1, :, 2:] == 0).all(), "padding has weight"


@points(1, "q3")
def test_q3_itself(student, rng):
    """In many dimensions a query finds the key that it equals."""
    x = normal(rng, 1, 5, 64)
    weights = student.attention(x, x, x, torch.tensor([5]))[1]
    own = weights.diagonal(dim1=1, dim2=2)
    assert (own > 0.8).all(), "the weights are too even: divided by d, not by its root?"


@points(1, "q4")
def test_q4_sums(student, rng):
    """Rows sum to one, also at the edges."""
    weights_over_keys(student.window_weights(normal(rng, 2, 5, 5), 1), (2, 5, 5))


@points(1, "q4")
def test_q4_inside(student, rng):
    """What is near has weight, what is far has none."""
    weights = student.window_weights(normal(rng, 1, 4, 4), 1)[0]
    near = (torch.arange(4).unsqueeze(1) - torch.arange(4)).abs() <= 1
    assert (weights[near] > 0).all(), "a key in the window has no weight"
    assert (weights[~near] == 0).all(), "a key outside the window has weight"
    assert close(weights.sum(1), torch.ones(4), atol=1e-4), "rows must sum to one"
