"""Self-checks: they travel in the students' notebook. Messages say what is probably wrong."""

import torch

from coursegrade.testing import allowed, close, normal, points, weights_over_keys


@points(1, "q1")
def test_q1_sums(student, rng):
    """Weights have shape (queries, keys) and sum to one over keys."""
    weights_over_keys(student.cue_weights(normal(rng, 3, 2), normal(rng, 4, 2), 2.0), (3, 4))


@points(1, "q1")
def test_q1_one_dimension(student, rng):
    """In one dimension the weights are those of the formula."""
    q, k = normal(rng, 1, 1), normal(rng, 2, 1)
    got = student.cue_weights(q, k)
    odds = (got[0, 0] / got[0, 1]).log()
    want = ((q - k[1]) ** 2 - (q - k[0]) ** 2).sum() / 2
    right = close(odds, want)
    assert right or not close(odds, 2 * want), "is the factor one half there?"
    assert right or not close(odds, -want), "near keys must weigh more: check the sign"
    assert right, "the odds of two keys differ from the formula's"


@points(1, "q1")
def test_q1_nearest(student, rng):
    """Cold, a query finds the key that it equals."""
    keys = 3 * torch.randperm(5, generator=rng).float().unsqueeze(1)
    got = student.cue_weights(keys, keys, 0.01)
    assert close(got, torch.eye(5), atol=1e-4), "at temperature 0.01 a key finds not itself"


@points(1, "q2")
def test_q2_sums(student, rng):
    """One weight a key, and they sum to one."""
    got = student.saliency(normal(rng, 5, 3))
    assert tuple(got.shape) == (5,), f"shape {tuple(got.shape)}: one weight a key is wanted"
    assert close(got.sum(), 1.0), "the weights must sum to one"


@points(1, "q2")
def test_q2_shift(student, rng):
    """Only differences count: moving all keys changes nothing."""
    keys = normal(rng, 5, 3)
    a, b = student.saliency(keys), student.saliency(keys + 3)
    assert close(a, b, atol=1e-4), "the length of a key is not how unlike the others it is"


@points(1, "q3")
def test_q3_sums(student, rng):
    """Weights sum to one over keys."""
    q, k, v = normal(rng, 4, 2), normal(rng, 4, 2), normal(rng, 4, 3)
    weights_over_keys(student.attend(q, k, v)[1], (4, 4))


@points(1, "q3")
def test_q3_masked_is_zero(student, rng):
    """Masked keys get a weight of exactly 0, the others do not."""
    q, k, v = normal(rng, 2, 2), normal(rng, 3, 2), normal(rng, 3, 1)
    mask = torch.tensor([[True, False, True], [True, True, False]])
    weights = student.attend(q, k, v, mask)[1]
    assert (weights[~mask] == 0).all(), "a masked key has weight: True means may attend"
    weights_over_keys(weights, (2, 3))


@points(1, "q3")
def test_q3_full_mask(student, rng):
    """A mask that allows everything is as good as none."""
    q, k, v = normal(rng, 2, 2), normal(rng, 3, 2), normal(rng, 3, 2)
    with_mask, without = student.attend(q, k, v, allowed(2, 3))[1], student.attend(q, k, v)[1]
    assert close(with_mask, without, atol=1e-5), "True means that a key may be attended to"


@points(1, "q4")
def test_q4_shapes(student, rng):
    """Output (q, e) and miss (q,), between 0 and 1."""
    answer = student.attend_or_miss(normal(rng, 3, 2), normal(rng, 4, 2), normal(rng, 4, 5), -1.0)
    output, miss = answer
    assert tuple(output.shape) == (3, 5), f"the output has shape {tuple(output.shape)}"
    assert tuple(miss.shape) == (3,), f"miss has shape {tuple(miss.shape)}: one number a query"
    assert ((miss > 0) & (miss < 1)).all(), "miss is a weight: between 0 and 1"
