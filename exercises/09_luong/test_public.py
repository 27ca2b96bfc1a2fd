"""Self-checks: they travel in the students' notebook. Messages say what is probably wrong."""

import torch

from coursegrade.testing import close, normal, points, unit


@points(1, "q1")
def test_q1_unit_vectors(student, rng):
    """Encoder states that are unit vectors show the decoder's state; tanh keeps concat small."""
    s, units = normal(rng, 2, 3, 4), torch.eye(4).expand(2, 4, 4)
    for how, W, want in (("dot", None, s), ("general", 2 * torch.eye(4), 2 * s)):
        got = student.score(s, units, how, W)
        assert tuple(got.shape) == (2, 3, 4), f"{how} has shape {tuple(got.shape)}, not (b, q, k)"
        assert close(got, want, atol=1e-5), f"{how} is not the product: is it scaled?"
    got = student.score(s, units, "concat", 9 * normal(rng, 5, 8), torch.ones(5))
    assert tuple(got.shape) == (2, 3, 4), f"concat has shape {tuple(got.shape)}, not (b, q, k)"
    assert got.abs().max() <= 5, "concat exceeds the sum of w: is there a tanh?"
    assert got.std() > 0.01, "concat gives the same score to all pairs"


@points(1, "q2")
def test_q2_shapes(student, rng):
    """Logits, state, vector and weights in this order; weights sum to one over valid tokens."""
    step = student.LuongStep(9, 4, 6, True)
    given = torch.tensor([3, 8]), normal(rng, 2, 6), normal(rng, 2, 6)
    memory, lengths = normal(rng, 2, 4, 6), torch.tensor([4, 2])
    answer = step(*given, memory, lengths)
    shapes = tuple(tuple(part.shape) for part in answer)
    wanted = ((2, 9), (2, 6), (2, 6), (2, 4))
    assert shapes == wanted, f"logits, state, vector, weights have shapes {shapes}"
    assert step(*given, 50 * memory, lengths)[2].abs().max() <= 1, (
        "the attentional vector has features above 1: is there a tanh?"
    )
    assert (answer[3][1, 2:] == 0).all(), "padding has weight"
    assert close(answer[3].sum(1), torch.ones(2), atol=1e-4), (
        "weights do not sum to one over the source: another axis, or a mask after the softmax?"
    )


@points(1, "q2")
def test_q2_steps_first(student, rng):
    """The step comes before the look: the weights depend on the token."""
    step = student.LuongStep(9, 4, 6, False)
    given = normal(rng, 1, 6), normal(rng, 1, 6), 3 * normal(rng, 1, 4, 6), torch.tensor([4])
    one, two = (step(torch.tensor([word]), *given) for word in (2, 7))
    assert not close(one[1], two[1], atol=1e-5), "the new state does not know the token"
    assert not close(one[3], two[3], atol=1e-6), (
        "the weights do not depend on the token: the query is to be the new state"
    )


@points(1, "q2")
def test_q2_feeding(student, rng):
    """The vector that comes in reaches the new state with feeding, and nothing without."""
    words, memory = torch.tensor([2, 5]), normal(rng, 2, 4, 6)
    state, *vectors = (normal(rng, 2, 6) for _ in range(3))
    for feed in (True, False):
        step = student.LuongStep(9, 4, 6, feed)
        one, two = (step(words, state, x, memory, torch.tensor([4, 3])) for x in vectors)
        same = close(one[1], two[1], atol=1e-5)
        assert same is not feed, (
            "the new state does not know the vector that is fed"
            if feed
            else "without feeding the vector that came in changes something"
        )


@points(1, "q3")
def test_q3_ends(student, rng):
    """At both ends of a sentence a window is cut off."""
    got = student.window(torch.tensor([[0.0, 4.0]] * 2), torch.tensor([5, 4]), 5, 1)
    assert tuple(got.shape) == (2, 2, 5), f"shape {tuple(got.shape)}, not (b, q, k)"
    rows = ["".join(str(int(x)) for x in row) for row in got.flatten(0, 1)]
    wanted = ["11000", "00011", "11000", "00010"]
    assert rows == wanted, f"centres 0 and 4, radius 1, 5 and 4 tokens: {rows}, not {wanted}"


@points(1, "q3")
def test_q3_all_or_no_more(student, rng):
    """A wide window scores all pairs, and steps far behind the end score none."""
    got = student.scored_pairs(4, 6, 9)
    assert got == int(got), f"{got} is not a whole number"
    assert got == 24, f"4 steps, 6 places, radius 9: {got} pairs, not all 24"
    assert student.scored_pairs(50, 4, 2) == student.scored_pairs(20, 4, 2), (
        "30 more steps behind the end of the source change the number"
    )


@points(1, "q4")
def test_q4_middle(student, rng):
    """Where v is zero, each sentence's centre is its middle."""
    got = student.predict(
        normal(rng, 2, 3, 4), torch.tensor([7, 4]), normal(rng, 5, 4), 0 * normal(rng, 5)
    )
    assert tuple(got.shape) == (2, 3), f"shape {tuple(got.shape)}: a centre for each step is wanted"
    assert close(got[0], torch.full((3,), 3.5), atol=1e-5), (
        f"{got[0].tolist()}: with 7 tokens the middle is 3.5"
    )
    assert close(got[1], torch.full((3,), 2.0), atol=1e-5), (
        f"{got[1].tolist()}: with 4 tokens the middle is 2, whatever the longest sentence has"
    )


@points(1, "q4")
def test_q4_two_bells(student, rng):
    """A bell in the scores gives the paper's weights, divided by their sum."""
    args = normal(rng, 2, 3, 9), 8 * unit(rng, 2, 3), torch.tensor([9, 9]), 2
    plain, after, inside = (student.local_weights(*args, x) for x in (None, "weights", "scores"))
    assert close(plain.sum(2), torch.ones(2, 3), atol=1e-4), (
        "without a bell the rows do not sum to one: is the softmax over the window?"
    )
    assert (after.sum(2) < 0.99).all(), (
        "with the bell on the weights rows sum to one: do not divide again"
    )
    assert close(inside.sum(2), torch.ones(2, 3), atol=1e-4), (
        "with the bell in the scores the rows do not sum to one"
    )
    assert close(after / after.sum(2, keepdim=True), inside, atol=1e-4), (
        "the two bells differ by more than the sum of the row"
    )


@points(1, "q5")
def test_q5_beside_another(student, rng):
    """A sentence gets the same vectors and weights alone and beside a longer one."""
    model = student.PredictiveAttention(6, 3)
    s, memory = normal(rng, 2, 5, 6), normal(rng, 2, 9, 6)
    both, beside = model(s, memory, torch.tensor([9, 3]))
    vectors, weights = model(s[1:], memory[1:, :3], torch.tensor([3]))
    assert tuple(beside.shape) == (2, 5, 9), f"weights have shape {tuple(beside.shape)}"
    assert close(beside[1, :, :3], weights[0], atol=1e-5), (
        "beside a longer sentence a sentence has other weights"
    )
    assert close(both[1], vectors[0], atol=1e-5), "the vectors differ"
