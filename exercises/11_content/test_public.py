"""Self-checks: they travel in the students' notebook. Messages say what is probably wrong."""

import torch

from coursegrade.testing import allowed, close, normal, points, unit


@points(1, "q1")
def test_q1_three_scores(student, rng):
    """The chapter's three scores, shared with a pen."""
    got = student.sparsemax(torch.tensor([[[1.0, 0.6, -0.8]]]), allowed(1, 1, 3))
    assert tuple(got.shape) == (1, 1, 3), f"shape {tuple(got.shape)}, not (b, q, k)"
    want = [0.7, 0.3, 0.0]
    assert close(got[0, 0], torch.tensor(want), atol=1e-5), (
        f"the scores 1, 0.6 and -0.8 get {[round(x, 3) for x in got[0, 0].tolist()]}, not {want}"
    )


@points(1, "q1")
def test_q1_no_weight(student, rng):
    """A key without weight gets no gradient, and the gradient of a row sums to zero."""
    weights = torch.tensor([[[0.7, 0.3, 0.0, 0.0], [0.5, 0.0, 0.25, 0.25]]])
    got = student.sparsemax_back(weights, 2 + normal(rng, 1, 2, 4))
    assert tuple(got.shape) == (1, 2, 4), f"shape {tuple(got.shape)}, not (b, q, k)"
    assert (got[weights == 0] == 0).all(), "a key without weight gets a gradient"
    assert got.sum(2).abs().max() < 1e-5, (
        "a row's gradient does not sum to zero: which keys is the mean over?"
    )


@points(1, "q2")
def test_q2_sums(student, rng):
    """Rows of weights sum to one, nothing is negative, and masked keys have nothing."""
    mask = allowed(2, 3, 5)
    mask[:, 1, 2:] = False
    got = student.entmax(normal(rng, 2, 3, 5) - 3, torch.tensor([1.5, 1.5]), mask)
    assert tuple(got.shape) == (2, 3, 5), f"shape {tuple(got.shape)}, not (h, q, k)"
    assert (got >= 0).all() and (got[~mask] == 0).all(), "weights are negative, or at masked keys"
    sums = got.sum(2)
    assert (sums - 1).abs().max() < 1e-4, (
        f"rows sum to {sums.min():.4f} to {sums.max():.4f}: is the threshold found yet?"
    )


@points(1, "q2")
def test_q2_half(student, rng):
    """One of 257 keys is to have half of a softmax's weight."""
    got = student.lead(257, 0.5, 1.0)
    want = 5.5452
    assert abs(got - want) < 1e-3, (
        f"257 keys, one has half of the weight, beta = 1: {got:.4f}, not {want}"
    )


@points(1, "q3")
def test_q3_equal(student, rng):
    """Where all scores are equal, exactly k keys are kept."""
    got = student.top_k_mask(torch.ones(1, 2, 8), 4, allowed(1, 2, 8))
    assert tuple(got.shape) == (1, 2, 8), f"shape {tuple(got.shape)}, not (b, q, k)"
    assert got.sum(2).tolist() == [[4, 4]], f"top-4 keeps {got.sum(2).tolist()[0]} of 8 equal keys"


@points(1, "q3")
def test_q3_best(student, rng):
    """With k = 1 the output is the value of the best key."""
    scores, V = normal(rng, 2, 3, 6), normal(rng, 2, 6, 4)
    got = student.pass_through(scores, V, 1, allowed(2, 3, 6))
    assert tuple(got.shape) == (2, 3, 4), f"shape {tuple(got.shape)}, not (b, q, e)"
    want = V[torch.arange(2)[:, None], scores.argmax(2)]
    assert close(got, want, atol=1e-5), "k = 1, and the output is not the best key's value"


@points(1, "q3")
def test_q3_as_expected(student, rng):
    """A reward that equals the baseline teaches nothing."""
    got = student.reinforce(
        normal(rng, 4, 3).softmax(1), torch.tensor([0, 1, 2, 0]), torch.full((4,), 1.5), 1.5
    )
    assert tuple(got.shape) == (4, 3), f"shape {tuple(got.shape)}, not (b, k)"
    assert (got == 0).all(), "the reward is as expected, and yet something is learned"


@points(1, "q4")
def test_q4_half_open(student, rng):
    """With a relevance of 0 a gate is half open; the first key's is shut."""
    scores, V, relevance = normal(rng, 2, 3, 5), normal(rng, 2, 5, 4), torch.zeros(2, 3, 5)
    relevance[:, :, 0] = -60.0
    others = scores[:, :, 1:].softmax(2)
    for where, shares in (("values", scores.softmax(2)[:, :, 1:] / 2), ("scores", others)):
        output, weights = student.gated(scores, relevance, V, where, allowed(2, 3, 5))
        assert tuple(output.shape) == (2, 3, 4), f"outputs {tuple(output.shape)}, not (b, q, e)"
        assert tuple(weights.shape) == (2, 3, 5), f"weights {tuple(weights.shape)}, not (b, q, k)"
        assert close(output, shares @ V[:, 1:], atol=1e-5), (
            f"all gates 1/2 but the first, which is shut, in the {where}: the output is wrong"
        )


@points(1, "q4")
def test_q4_a_quarter(student, rng):
    """Three keys and a sink of the same score have a quarter each."""
    got = student.sink_softmax(
        torch.full((1, 2, 1, 3), 0.7), torch.full((2,), 0.7), allowed(1, 1, 1, 3)
    )
    assert tuple(got.shape) == (1, 2, 1, 3), f"shape {tuple(got.shape)}, not (b, h, q, k)"
    assert close(got, torch.full_like(got, 0.25), atol=1e-5), (
        f"three keys and a sink, all of one score: weights {got[0, 0, 0].tolist()}"
    )


@points(1, "q4")
def test_q4_perfect(student, rng):
    """What keeps the needles and nothing else has recall and precision 1."""
    needles = unit(rng, 2, 3, 9) < 0.3
    needles[:, :, 0] = True
    got = student.recall_precision(needles, needles)
    assert got[0] == 1, f"exactly the needles are kept, and recall is {got[0]}"
    assert got[1] == 1, f"exactly the needles are kept, and precision is {got[1]}"


@points(1, "q5")
def test_q5_rising(student, rng):
    """Where all scores are equal, the gates of the kept keys decide their shares."""
    gates, V = torch.tensor([0.2, 0.1, 0.4, 0.8]), torch.tensor([1.0, 2.0, 3.0, 4.0])
    args = torch.zeros(1, 1, 2), torch.zeros(1, 4, 2), V.reshape(1, 4, 1)
    got = float(student.scan_attention(*args, gates.logit()[None, None], torch.tensor([4]), 2))
    share = gates[2:]
    want = round(float(share @ V[2:] / share.sum()), 3)
    assert abs(got - want) < 2e-3, (
        f"kept: value 3 with gate 0.4, value 4 with gate 0.8. The output is {got:.3f}, not {want}"
    )
