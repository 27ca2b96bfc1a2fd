"""Self-checks: they travel in the students' notebook. Messages say what is probably wrong."""

import torch

from coursegrade.testing import allowed, close, normal, points


@points(1, "q1")
def test_q1_pen(student, rng):
    """The chapter's six keys in blocks of two."""
    keys = torch.tensor([[[3.0, 0], [-3, 1], [1, 1], [1.5, 0], [0, 2], [0.5, 1]]])
    got = student.block_means(keys, 2, allowed(1, 6))
    assert tuple(got.shape) == (1, 3, 2), f"shape {tuple(got.shape)}, not (b, c, d)"
    want = torch.tensor([[0, 0.5], [1.25, 0.5], [0.25, 1.5]])
    assert close(got[0], want, atol=1e-5), (
        f"six keys in blocks of two: {got[0].tolist()}, not {want.tolist()}"
    )
    got = student.block_means(keys, 2, torch.arange(6)[None] < 5)
    assert close(got[0, 2], keys[0, 4]), "the last key is not used, and in the mean of its block"


@points(1, "q1")
def test_q1_own(student, rng):
    """With one block to keep, each query keeps its own up to itself."""
    fits = normal(rng, 1, 8, 3)
    fits[0, torch.arange(8), torch.arange(8) // 3] = 9.0
    got = student.keep_blocks(fits, 1, 3, allowed(1, 8))
    assert tuple(got.shape) == (1, 8, 8), f"shape {tuple(got.shape)}, not (b, n, n)"
    assert got[0].sum(1).tolist() == [1, 2, 3, 1, 2, 3, 1, 2], (
        f"keep = 1, blocks of 3: {got[0].sum(1).tolist()} keys are kept"
    )


@points(1, "q1")
def test_q1_six(student, rng):
    """Six queries in blocks of two, their own block alone kept."""
    got, want = student.pairs(6, 2, 1), 15
    assert abs(got - want) < 1e-6, f"6 queries, blocks of 2, one kept: {got} pairs, not {want}"


@points(1, "q2")
def test_q2_quarters(student, rng):
    """The identity cuts the plane into four quarters."""
    x = torch.tensor([[[3.0, 1], [1, 3], [-2, 1], [1, -5]]])
    got = student.hash_codes(x, torch.eye(2)[None])
    assert tuple(got.shape) == (1, 4, 1), f"shape {tuple(got.shape)}, not (b, n, rounds)"
    want = [0, 1, 2, 3]
    assert got[0, :, 0].tolist() == want, (
        f"right, up, left, down have the codes {got[0, :, 0].tolist()}, not {want}"
    )


@points(1, "q2")
def test_q2_any(student, rng):
    """One round that agrees is enough, if the mask allows the pair."""
    other, mask = torch.tensor([[[0, 1], [2, 3], [1, 2], [0, 3]]]), torch.arange(4) < 3
    got = student.same_bucket(torch.tensor([[[0, 3]]]), other, mask[None, None])
    assert tuple(got.shape) == (1, 1, 4), f"shape {tuple(got.shape)}, not (b, q, k)"
    assert got[0, 0].tolist() == [True, True, False, False], (
        f"codes 0, 3 beside 0, 1 and 2, 3 and 1, 2 and a masked 0, 3: {got[0, 0].tolist()}"
    )


@points(1, "q2")
def test_q2_right_angle(student, rng):
    """At a right angle two rounds keep three of four pairs."""
    got = student.kept_share(torch.tensor([[[2.0, 0]]]), torch.tensor([[[0, 5.0]]]), 2)
    assert tuple(got.shape) == (1, 1, 1), f"shape {tuple(got.shape)}, not (b, q, k)"
    assert abs(float(got) - 0.75) < 1e-4, f"90 degrees, two rounds: {float(got):.4f}, not 0.75"


@points(1, "q3")
def test_q3_two_heads(student, rng):
    """Two heads, one of them with a negative weight."""
    Q, K = torch.tensor([[[[2.0, 0], [0, 3.0]]]]), torch.tensor([[[1.0, 1.0]]])
    got = student.indexer(Q, K, torch.tensor([[[1.0, -1.0]]]))
    assert tuple(got.shape) == (1, 1, 1), f"shape {tuple(got.shape)}, not (b, q, k)"
    want = -1.0
    assert abs(float(got) - want) < 1e-5, (
        f"products 2 and 3, weights 1 and -1: {float(got):.3f}, not {want}"
    )


@points(1, "q3")
def test_q3_equal(student, rng):
    """Of equal scores exactly as many are kept as are to be kept."""
    got = student.keep_best(torch.zeros(1, 2, 7), 3, allowed(1, 2, 7))
    assert tuple(got.shape) == (1, 2, 7), f"shape {tuple(got.shape)}, not (b, q, k)"
    assert got.sum(2).tolist() == [[3, 3]], f"keep = 3 keeps {got.sum(2).tolist()[0]} of 7"


@points(1, "q3")
def test_q3_taught(student, rng):
    """Where the scores are the logarithms of attention's weights, nothing is left to learn."""
    alpha = normal(rng, 2, 1, 3, 5).softmax(3)
    args = alpha[:, 0].log() + 2, alpha, allowed(2, 3, 5)
    loss, slopes = student.divergence(*args), student.divergence_back(*args)
    assert loss.dim() == 0, f"the loss has the shape {tuple(loss.shape)}, not ()"
    assert tuple(slopes.shape) == (2, 3, 5), f"shape {tuple(slopes.shape)}, not (b, q, k)"
    assert abs(float(loss)) < 1e-4, f"the weights are equal, and the loss is {float(loss):.4f}"
    assert slopes.abs().max() < 1e-4, "the weights are equal, and there is a gradient"


@points(1, "q4")
def test_q4_three(student, rng):
    """Three keys whose scores are 0."""
    V = normal(rng, 2, 3, 4)
    got, log = student.part(torch.zeros(2, 1, 2), normal(rng, 2, 3, 2), V, allowed(2, 1, 3))
    assert tuple(got.shape) == (2, 1, 4), f"outputs {tuple(got.shape)}, not (b, q, e)"
    assert tuple(log.shape) == (2, 1), f"logarithms {tuple(log.shape)}, not (b, q)"
    assert close(got[:, 0], V.mean(1), atol=1e-5), "equal scores, and not the mean"
    assert close(log, torch.full((2, 1), 3.0).log(), atol=1e-5), (
        f"three scores of 0: the logarithm is {float(log[0, 0]):.4f}, not ln 3"
    )


@points(1, "q4")
def test_q4_equal(student, rng):
    """Four sets with equal sums have equal shares."""
    outputs = normal(rng, 1, 2, 4, 3)
    got, log = student.join(outputs, torch.full((1, 2, 4), 0.5))
    assert tuple(got.shape) == (1, 2, 3), f"outputs {tuple(got.shape)}, not (b, q, e)"
    assert tuple(log.shape) == (1, 2), f"logarithms {tuple(log.shape)}, not (b, q)"
    assert close(got, outputs.mean(2), atol=1e-5), "equal sums, and not equal shares"
    assert close(log, 0.5 + torch.full((1, 2), 4.0).log(), atol=1e-5), (
        f"four logarithms of 0.5 are together {float(log[0, 0]):.4f}, not 0.5 + ln 4"
    )


@points(1, "q5")
def test_q5_two_blocks(student, rng):
    """Four keys of equal scores in two blocks, and all are chosen."""
    V = torch.tensor([[1.0], [2.0], [6.0], [7.0]])
    chosen = torch.tensor([[0, 1]] * 4)
    got = student.block_attention(torch.zeros(4, 2), torch.zeros(4, 2), V, chosen, 2)
    assert tuple(got.shape) == (4, 1), f"outputs {tuple(got.shape)}, not (n, e)"
    got, want = [round(x, 3) for x in got[:, 0].tolist()], [1.0, 1.5, 3.0, 4.0]
    assert got == want, f"values 1, 2, 6, 7, equal scores: the outputs are {got}, not {want}"
