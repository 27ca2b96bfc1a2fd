"""Self-checks: they travel in the students' notebook. Messages say what is probably wrong."""

import torch

from coursegrade.testing import close, normal, points


@points(1, "q1")
def test_q1_pen(student, rng):
    """Two texts with two queries each, and the identity as the matrix."""
    x, t = torch.tensor([[[1.0, 0], [0, 1]], [[2, 0], [0, 2]]]), torch.tensor([[10.0, 0], [0, 10]])
    got = student.added(x, t, torch.eye(2))
    assert tuple(got.shape) == (2, 2, 2), f"shape {tuple(got.shape)}, not (b, q, d)"
    want = torch.tensor([[[11.0, 0], [10, 1]], [[2, 10], [0, 12]]])
    assert close(got, want, atol=1e-5), "does each text have its own task, for all its queries?"


@points(1, "q1")
def test_q1_open(student, rng):
    """A task of zeros changes nothing."""
    x, W = normal(rng, 2, 3, 4), normal(rng, 4, 4)
    got = student.gated(x, torch.zeros(2, 4), W)
    assert tuple(got.shape) == (2, 3, 4), f"shape {tuple(got.shape)}, not (b, q, d)"
    assert close(got, 1.0 * torch.einsum("de,bqe->bqd", W, x), atol=1e-4), "is the 1 there?"


@points(1, "q1")
def test_q1_right_angle(student, rng):
    """A query at a right angle to the task has no change."""
    got = student.key_shift(torch.tensor([[[3.0, 0], [0, 2]]]), torch.tensor([[0.0, 5]]))
    assert tuple(got.shape) == (1, 2), f"shape {tuple(got.shape)}, not (b, q)"
    assert abs(float(got[0, 0])) < 1e-6, "query (3, 0), task (0, 5): their product is 0"
    assert float(got[0, 1]) > 1, "query (0, 2), task (0, 5): all scores become larger"


@points(1, "q2")
def test_q2_equal(student, rng):
    """Equal scores, and the second text has two words."""
    got = student.pointer_weights(torch.zeros(2, 2, 4), torch.tensor([4, 2]))
    assert tuple(got.shape) == (2, 2, 4), f"shape {tuple(got.shape)}, not (b, 2, n)"
    assert close(got[0], torch.full((2, 4), 0.25)), "four equal scores, and not a quarter each"
    want = torch.tensor([[0.5, 0.5, 0, 0]] * 2)
    assert close(got[1], want), "two words and two places of padding: not a half each"


@points(1, "q2")
def test_q2_guess(student, rng):
    """The loss of a pure guess is the logarithm of how many words there are, twice."""
    lengths = torch.tensor([4, 4])
    got = student.span_loss(torch.zeros(2, 2, 6), torch.tensor([[0, 1], [2, 2]]), lengths)
    assert got.dim() == 0, f"the loss has the shape {tuple(got.shape)}, not ()"
    want = 2 * torch.tensor(4.0).log()
    assert close(got, want, atol=1e-5), f"four words: {float(got):.4f}, not 2 ln 4"


@points(1, "q2")
def test_q2_backwards(student, rng):
    """The best end stands before the best beginning."""
    S = torch.tensor([[[0.0, 1, 5], [5, 2, 0]]])
    got = student.best_span(S, torch.tensor([3]), 2)
    assert tuple(got.shape) == (1, 2), f"shape {tuple(got.shape)}, not (b, 2)"
    first, last = got[0].tolist()
    assert first <= last, f"the span begins at {first} and ends at {last}"
    assert [first, last] != [0, 2], "this span has three words, and two are allowed"


@points(1, "q3")
def test_q3_pen(student, rng):
    """Three words, and a matrix that takes the first of the two states."""
    states = torch.tensor([[[4.0, 0], [0, 4], [0, 0]]])
    got = student.pair_weights(states, torch.tensor([[0, 1]]), torch.eye(2, 4), torch.tensor([3]))
    assert tuple(got.shape) == (1, 3), f"shape {tuple(got.shape)}, not (b, n)"
    assert abs(float(got.sum()) - 1) < 1e-5, "the weights do not sum to one over the words"
    assert got[0].argmax() == 0, "is the first state of the pair the first half of what W_q reads?"


@points(1, "q3")
def test_q3_half(student, rng):
    """One text has a truth, and one has none."""
    weights = torch.tensor([[0.5, 0.5, 0], [0.2, 0.2, 0.6]])
    got = student.truth_share(weights, torch.tensor([1, -1]))
    assert abs(float(got) - 0.5) < 1e-5, f"the one truth has the weight 0.5, the share is {got}"


@points(1, "q4")
def test_q4_all_there(student, rng):
    """Two tasks, both in the batch."""
    got = student.mean_by_task(torch.tensor([1.0, 1, 1, 5]), torch.tensor([0, 0, 0, 1]), 2)
    assert got.dim() == 0, f"the loss has the shape {tuple(got.shape)}, not ()"
    want = 3.0
    assert close(got, torch.tensor(want), atol=1e-5), (
        f"means of 1 and 5 give {float(got):.3f}, not {want}"
    )
