"""Self-checks: they travel in the students' notebook. Messages say what is probably wrong."""

import torch

from coursegrade.testing import allowed, close, normal, points, same, unit, weights_over_keys


@points(1, "q1")
def test_q1_split(student, rng):
    """Head 0 has the first features of every place."""
    x = normal(rng, 1, 3, 4)
    got = student.split_heads(x, 2)
    assert tuple(got.shape) == (1, 2, 3, 2), f"shape {tuple(got.shape)}: (b, h, n, d) is wanted"
    assert not same(got, x.reshape(1, 2, 3, 2)), (
        "head 0 has all features of the early places: the axes must be swapped, not just renamed"
    )
    assert not same(got[0, 0], x[0, :, ::2]), (
        "head 0 has every second feature: a head's features stand next to each other"
    )
    assert same(got[0, 0], x[0, :, :2]), "head 0 has not the first two features"


@points(1, "q1")
def test_q1_way_back(student, rng):
    """Joining what was split gives the features back."""
    x = normal(rng, 2, 5, 6)
    got = student.join_heads(student.split_heads(x, 3))
    assert tuple(got.shape) == (2, 5, 6), f"joined heads have shape {tuple(got.shape)}"
    assert same(got, x), "split and joined, the features are not where they were"


def layer(rng, h=2, d=3, e=4, o=6):
    """Matrices for queries of 5, keys of 4 and values of 7 features."""
    sizes = {"W_q": (h * d, 5), "W_k": (h * d, 4), "W_v": (h * e, 7), "W_o": (o, h * e)}
    return {name: normal(rng, *size) / 2 for name, size in sizes.items()}


@points(1, "q2")
def test_q2_weights(student, rng):
    """Output and weights in this order, and weights that sum to one over keys."""
    q, k, v = normal(rng, 2, 3, 5), normal(rng, 2, 4, 4), normal(rng, 2, 4, 7)
    output, weights = student.multihead(q, k, v, **layer(rng), h=2)
    assert tuple(output.shape) == (2, 3, 6), f"the output has shape {tuple(output.shape)}"
    weights_over_keys(weights, (2, 2, 3, 4))
    assert not close(weights[:, 0], weights[:, 1], atol=1e-3), "all heads do the same"


@points(1, "q2")
def test_q2_masked_is_zero(student, rng):
    """In every head masked keys get a weight of exactly 0, the others do not."""
    q, k, v = normal(rng, 3, 2, 5), normal(rng, 3, 4, 4), normal(rng, 3, 4, 7)
    mask = unit(rng, 3, 2, 4) > 0.4
    mask[:, :, 0] = True
    _, weights = student.multihead(q, k, v, **layer(rng), h=2, mask=mask)
    every = mask.unsqueeze(1).expand_as(weights)
    assert (weights[~every] == 0).all(), "a masked key has weight: True means may attend"
    assert (weights[every] > 0).all(), "a key that may be attended to has no weight"


@points(1, "q3")
def test_q3_matrices(student, rng):
    """Four matrices, those of keys and values smaller, no bias."""
    parameters = student.GroupedAttention(12, 6, 2).state_dict()
    shapes = {name: tuple(tensor.shape) for name, tensor in parameters.items()}
    assert not any("bias" in name for name in shapes), "there is a bias"
    wanted = {"W_q.weight": (12, 12), "W_k.weight": (4, 12)}
    wanted |= {"W_v.weight": (4, 12), "W_o.weight": (12, 12)}
    assert shapes == wanted, f"the parameters are {shapes}: 6 heads of 2 features ask 2 heads"


@points(1, "q3")
def test_q3_first_place(student, rng):
    """Under a causal mask the first place reads itself alone."""
    x, causal = normal(rng, 2, 4, 8), allowed(4, 4).tril()
    attend = student.GroupedAttention(8, 4, 2)
    output, alone = attend(x, causal), attend(x[:, :1])
    assert tuple(output.shape) == (2, 4, 8), f"the output has shape {tuple(output.shape)}"
    assert close(output[:, :1], alone, atol=1e-5), (
        "place 0 reads later places: True means may attend"
    )


@points(1, "q4")
def test_q4_nothing_left(student, rng):
    """With all heads out nothing is left."""
    q, k, v = normal(rng, 2, 3, 4, 5), normal(rng, 2, 3, 6, 5), normal(rng, 2, 3, 6, 2)
    got = student.switched(q, k, v, normal(rng, 4, 6), torch.zeros(3))
    assert tuple(got.shape) == (2, 4, 4), f"the output has shape {tuple(got.shape)}"
    assert close(got, torch.zeros(2, 4, 4), atol=1e-6), (
        "all heads are out, and still something is read: equal scores are not no weights"
    )


@points(1, "q5")
def test_q5_mute_head(student, rng):
    """One number a head, and a head that the logits do not read has importance 0."""
    heads, W_o, bias = normal(rng, 2, 3, 4, 2), normal(rng, 5, 6), normal(rng, 5)
    W_o[:, 2:4] = 0
    heads[:, 2], W_o[:, 4:] = -heads[:, 0], W_o[:, :2]  # head 2 undoes what head 0 does
    got = student.importance(heads, W_o, bias, torch.randint(5, (2, 4), generator=rng))
    assert tuple(got.shape) == (3,), f"shape {tuple(got.shape)}: one number a head is wanted"
    assert (got >= 0).all(), "an importance below 0: it is the absolute derivative that counts"
    assert got[1] == 0, "head 1 changes nothing and has an importance: are the heads joined right?"
    assert got[0] > 0 and got[2] > 0, "a head that is read has no importance"
