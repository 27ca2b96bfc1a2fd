"""Hidden tests. The first line of a docstring is the hint in the students' feedback."""

import math

import torch
from torch.nn import functional as F

from coursegrade.testing import close, loaded, normal, points, same

FORBIDDEN = {"q3": ["F.scaled_dot_product_attention", "nn.MultiheadAttention"]}


def slow_softmax(scores, lengths):
    """One row at a time, over its valid keys alone."""
    weights = torch.zeros_like(scores)
    for b, length in enumerate(lengths.tolist()):
        for row, out in zip(scores[b], weights[b], strict=True):
            if length:
                out[:length] = row[:length].softmax(0)
    return weights


@points(1, "q1", value=True)
def test_q1_values(student, rng):
    """The weights are those of the valid keys alone."""
    scores, lengths = normal(rng, 3, 2, 5), torch.tensor([1, 3, 5])
    got = student.masked_softmax(scores, lengths)
    assert close(got, slow_softmax(scores, lengths), atol=1e-5, rtol=1e-4)


@points(2, "q1")
def test_q1_empty(student, rng):
    """A sequence of length 0 gets zeros: not NaN, not equal shares of padding."""
    scores, lengths = normal(rng, 2, 2, 3), torch.tensor([0, 2])
    assert (student.masked_softmax(scores, lengths)[0] == 0).all()


@points(1, "q1")
def test_q1_low_scores(student, rng):
    """Padding has no weight even where valid scores are very low."""
    scores = normal(rng, 1, 2, 4)
    scores[..., :2] -= 2e6
    got = student.masked_softmax(scores, torch.tensor([2]))
    assert close(got, slow_softmax(scores, torch.tensor([2])), atol=1e-5, rtol=1e-4)


@points(1, "q1")
def test_q1_high_scores(student, rng):
    """Very high scores do not overflow."""
    scores = 300 * normal(rng, 1, 3, 4) + 1000
    scores[..., 3] = 4000  # padding, and the highest of all
    got = student.masked_softmax(scores, torch.tensor([3]))
    assert close(got, slow_softmax(scores, torch.tensor([3])), atol=1e-5, rtol=1e-4)


@points(1, "q1")
def test_q1_half_precision(student, rng):
    """Half precision works, too."""
    scores = normal(rng, 1, 2, 4).half()
    got = student.masked_softmax(scores, torch.tensor([3]))
    assert close(got, slow_softmax(scores.float(), torch.tensor([3])), atol=5e-3, rtol=0)


@points(2, "q1")
def test_q1_arguments(student, rng):
    """The scores that came in are not changed."""
    scores = normal(rng, 2, 2, 3)
    assert student.masked_softmax(scores.clone(), torch.tensor([1, 2])).shape == (2, 2, 3)
    assert same(student.last_args[0], scores)


def additive(student, rng):
    """The student's module with weights of ours, and those weights."""
    shapes = {"W_q.weight": (4, 3), "W_k.weight": (4, 5), "w_v.weight": (1, 4)}
    score, weights = loaded(student.AdditiveScore(3, 5, 4), rng, shapes)
    return score, *weights.values()


def slow_additive(queries, keys, W_q, W_k, w_v):
    rows = [[w_v[0] @ (W_q @ q + W_k @ k).tanh() for k in keys] for q in queries]
    return torch.stack([torch.stack(row) for row in rows])


@points(2, "q2", value=True)
def test_q2_values(student, rng):
    """The scores are those of the formula."""
    score, *weights = additive(student, rng)
    q, k = normal(rng, 2, 2, 3), normal(rng, 2, 3, 5)
    want = torch.stack([slow_additive(q[b], k[b], *weights) for b in range(2)])
    assert close(score(q, k), want)


@points(1, "q2")
def test_q2_names(student, rng):
    """Three layers, W_q, W_k and w_v, and no bias."""
    parameters = student.AdditiveScore(2, 3, 4).state_dict()
    shapes = {name: tuple(tensor.shape) for name, tensor in parameters.items()}
    assert shapes == {"W_q.weight": (4, 2), "W_k.weight": (4, 3), "w_v.weight": (1, 4)}


@points(1, "q2")
def test_q2_gradient(student, rng):
    """Gradients flow to the queries."""
    score, *weights = additive(student, rng)
    q, k = normal(rng, 1, 2, 3), normal(rng, 1, 3, 5)
    [got] = score.forward.grad(q, k)
    q.requires_grad_()
    [want] = torch.autograd.grad(slow_additive(q[0], k[0], *weights).sum(), q)
    assert close(got, want)


@points(2, "q3", value=True)
def test_q3_scale(student, rng):
    """The scores are divided by the root of the number of features."""
    lengths = torch.tensor([3, 5])
    mask = (torch.arange(5) < lengths.unsqueeze(1)).unsqueeze(1)
    for d in (4, 64):
        q, k, v = normal(rng, 2, 3, d), normal(rng, 2, 5, d), normal(rng, 2, 5, 6)
        want = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        assert close(student.attention(q, k, v, lengths)[0], want)


@points(2, "q3", value=True)
def test_q3_mask(student, rng):
    """Only valid keys take part, and the weights made the output."""
    q, k, v = normal(rng, 2, 3, 8), normal(rng, 2, 5, 8), normal(rng, 2, 5, 4)
    lengths = torch.tensor([2, 4])
    output, weights = student.attention(q, k, v, lengths)
    mask = (torch.arange(5) < lengths.unsqueeze(1)).unsqueeze(1)
    want = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    assert close(output, want)
    assert close(weights @ v, want)


@points(2, "q3")
def test_q3_bad_padding(student, rng):
    """NaN in padded values does not reach the output."""
    q, k, v = normal(rng, 2, 3, 4), normal(rng, 2, 5, 4), normal(rng, 2, 5, 4)
    lengths = torch.tensor([2, 3])
    want, _ = student.attention(q, k, v, lengths)
    bad = v.clone()
    bad[0, 2:] = math.nan
    got, _ = student.attention(q, k, bad, lengths)
    assert close(got, want, atol=1e-5, rtol=1e-4)


@points(1, "q3")
def test_q3_values_arguments(student, rng):
    """The arguments are not changed."""
    q, k, v = normal(rng, 1, 2, 4), normal(rng, 1, 3, 4), normal(rng, 1, 3, 2)
    output, _ = student.attention(q, k, v, torch.tensor([2]))
    assert output.shape == v[:, :2].shape
    assert all(map(same, student.last_args, (q, k, v)))


@points(2, "q4", value=True)
def test_q4_values(student, rng):
    """Within the window the weights are a softmax of the scores."""
    scores, width = normal(rng, 2, 6, 6), 2
    want = torch.zeros_like(scores)
    for i in range(6):
        reach = slice(max(0, i - width), i + width + 1)
        want[:, i, reach] = scores[:, i, reach].softmax(-1)
    assert close(student.window_weights(scores, width), want, atol=1e-5, rtol=1e-4)


@points(2, "q4")
def test_q4_alone(student, rng):
    """In a window of width 0 each key stands alone."""
    got = student.window_weights(normal(rng, 2, 6, 6), 0)
    assert close(got, torch.eye(6).expand(2, 6, 6))


@points(1, "q4")
def test_q4_far_keys(student, rng):
    """The score of a far key changes nothing."""
    scores = normal(rng, 1, 6, 6)
    told = scores.clone()
    told[0, 0, 5] += 5
    before, after = student.window_weights(scores, 2), student.window_weights(told, 2)
    assert close(after[0, 0], before[0, 0], atol=1e-6, rtol=1e-5)


@points(1, "q4")
def test_q4_whole_window(student, rng):
    """A window as wide as the sequence is no window."""
    scores = normal(rng, 2, 4, 4)
    assert close(student.window_weights(scores, 4), scores.softmax(-1), atol=1e-5, rtol=1e-4)
