"""Self-checks: they travel in the students' notebook. Messages say what is probably wrong."""

import torch

from coursegrade.testing import allowed, close, normal, points


@points(1, "q1")
def test_q1_pair(student, rng):
    """Two words and two features, by hand."""
    table = torch.tensor([[9.0, 9], [1, 0], [0, 1], [1, 1]])
    got = student.sentence(torch.tensor([[[3, 3], [1, 2]]]), table)
    assert tuple(got.shape) == (1, 2, 2), f"shape {tuple(got.shape)}, not (b, n, d)"
    want = torch.tensor([[1.0, 1.5], [0.5, 1.0]])
    assert close(got[0], want, atol=1e-5), f"two facts of two words: {got[0].tolist()}"


@points(1, "q1")
def test_q1_four(student, rng):
    """A story of four facts, and one of two."""
    got = student.ages(torch.tensor([[True] * 4, [True, True, False, False]]))
    assert tuple(got.shape) == (2, 4), f"shape {tuple(got.shape)}, not (b, n)"
    want = [[3, 2, 1, 0], [1, 0, 0, 0]]
    assert close(got, torch.tensor(want)), f"four facts and two: {got.tolist()}, not {want}"


@points(1, "q1")
def test_q1_alike(student, rng):
    """Facts with equal scores have equal weights."""
    u, values = normal(rng, 2, 3), normal(rng, 2, 4, 3)
    got, weights = student.hop(u, torch.zeros(2, 4, 3), values, allowed(2, 4))
    assert tuple(got.shape) == (2, 3), f"the state is {tuple(got.shape)}, not (b, d)"
    assert tuple(weights.shape) == (2, 4), f"the weights are {tuple(weights.shape)}, not (b, n)"
    assert close(weights, torch.full((2, 4), 0.25)), "equal scores, and not equal weights"
    assert close(got, u + values.mean(1), atol=1e-5), "not the state plus what was read"


@points(1, "q2")
def test_q2_hand(student, rng):
    """Three hops and two supporting facts, of which one is read."""
    weights = torch.eye(5)[torch.tensor([[2, 4, 0]])]
    got, want = student.found(weights, torch.tensor([[0, 3]])), 0.5
    assert abs(float(got) - want) < 1e-3, f"reads 2, 4, 0; wanted 0, 3: {float(got)}, not {want}"


@points(1, "q2")
def test_q2_chain(student, rng):
    """One story is read in order, the other misses a fact."""
    weights = torch.eye(5)[torch.tensor([[2, 4], [2, 1]])]
    got = student.in_order(weights, torch.tensor([[2, 4], [2, 4]]))
    assert abs(float(got) - 0.5) < 1e-6, f"one story of two is in order, not {float(got)}"


@points(1, "q3")
def test_q3_hand(student, rng):
    """Two passages of two words, and a word that one of them has."""
    got = student.bm25(torch.tensor([[1, 1], [0, 2]]), [0], 1.0, 0.5)
    assert tuple(got.shape) == (2,), f"shape {tuple(got.shape)}, not (p,)"
    want = [0.6931, 0.0]
    assert close(got, torch.tensor(want), atol=1e-3), f"scores {got.tolist()}, not {want}"


@points(1, "q3")
def test_q3_second(student, rng):
    """The right passage is the second best."""
    scores, gold = torch.tensor([[0.1, 0.9, 0.5], [0.7, 0.2, 0.6]]), torch.tensor([2, 2])
    for k, want in ((1, 0.0), (2, 1.0)):
        got = float(student.recall_at(scores, gold, k))
        assert abs(got - want) < 1e-6, f"twice the second best, k = {k}: {got}, not {want}"


@points(2, "q4")
def test_q4_adds(student, rng):
    """Two hops over a single fact add both of its values."""
    u, memory = normal(rng, 2, 3), [normal(rng, 2, 1, 3) for _ in range(3)]
    got, weights = student.hops(u, memory, allowed(2, 1))
    assert tuple(weights.shape) == (2, 2, 1), f"weights {tuple(weights.shape)}, not (b, h, n)"
    want = u + memory[1][:, 0] + memory[2][:, 0]
    assert close(got, want, atol=1e-5), "one fact, two hops: not the question plus both values"
