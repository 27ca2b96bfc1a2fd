"""Self-checks: they travel in the students' notebook. Messages say what is probably wrong."""

import torch

from coursegrade.testing import close, normal, points


@points(1, "q1")
def test_q1_no_idea(student, rng):
    """Equal logits for all words cost log v a token."""
    v = int(torch.randint(5, 20, (), generator=rng))
    targets = torch.randint(1, v, (2, 4), generator=rng)
    got = student.token_loss(torch.zeros(2, 4, v), targets, torch.tensor([4, 2]))
    want = torch.tensor(float(v)).log()
    assert got.dim() == 0, f"a tensor without axes is wanted, this has shape {tuple(got.shape)}"
    assert not close(got, want * 0.75), "divided by all tokens, padding included"
    assert not close(got, want * 6), "divide by the number of valid tokens"
    assert close(got, want), f"{got:.3f} where log {v} = {want:.3f} is right"


@points(1, "q1")
def test_q1_padding(student, rng):
    """What the model says at padding changes nothing."""
    logits, lengths = normal(rng, 2, 4, 6), torch.tensor([1, 3])
    targets = torch.randint(6, (2, 4), generator=rng)
    other = logits.clone()
    other[0, 1:], other[1, 3:] = normal(rng, 3, 6), normal(rng, 1, 6)
    a, b = (student.token_loss(x, targets, lengths) for x in (logits, other))
    assert close(a, b, atol=1e-5), "padding has a part in the loss"


@points(1, "q2")
def test_q2_shapes(student, rng):
    """Projected keys (b, k, hidden), scores (b, k)."""
    score = student.AdditiveScore(3, 5, 7)
    projected = score.project(normal(rng, 2, 4, 5))
    assert tuple(projected.shape) == (2, 4, 7), (
        f"projected keys have shape {tuple(projected.shape)}: W_k makes {7} features of {5}"
    )
    scores = score.score(normal(rng, 2, 3), projected)
    assert tuple(scores.shape) == (2, 4), f"scores have shape {tuple(scores.shape)}"


@points(1, "q2")
def test_q2_odd(student, rng):
    """Without bias the score changes its sign with its arguments."""
    score = student.AdditiveScore(3, 5, 7)
    q, keys = normal(rng, 2, 3), normal(rng, 2, 4, 5)
    there, back = (score.score(s * q, score.project(s * keys)) for s in (1, -1))
    assert close(there, -back, atol=1e-5), "is there a bias, or no tanh?"


@points(1, "q3")
def test_q3_shapes(student, rng):
    """Logits, state and weights in this order, and weights that sum to one over valid tokens."""
    step = student.DecoderStep(9, 4, 6, 5, 3)
    memory = normal(rng, 2, 4, 5)
    answer = step(
        *(torch.tensor([3, 8]), normal(rng, 2, 6), memory),
        *(normal(rng, 2, 4, 3), torch.tensor([4, 2])),
    )
    shapes = tuple(tuple(part.shape) for part in answer)
    assert shapes == ((2, 9), (2, 6), (2, 4)), f"logits, state, weights have shapes {shapes}"
    weights = answer[2]
    assert (weights[1, 2:] == 0).all(), "padding has weight"
    assert close(weights.sum(1), torch.ones(2), atol=1e-4), (
        "weights do not sum to one over the source: another axis, or a mask after the softmax?"
    )


@points(1, "q3")
def test_q3_asks_first(student, rng):
    """The state asks before the step: the weights cannot depend on the token."""
    step = student.DecoderStep(9, 4, 6, 5, 3)
    given = normal(rng, 1, 6), normal(rng, 1, 4, 5), normal(rng, 1, 4, 3), torch.tensor([4])
    one, two = (step(torch.tensor([word]), *given) for word in (2, 7))
    assert not close(one[1], two[1], atol=1e-5), "the new state does not know the token"
    assert not close(one[0], two[0], atol=1e-5), (
        "the logits do not know the token: they read the new state"
    )
    assert close(one[2], two[2], atol=1e-6), (
        "the weights depend on the token: the query is the state as it came in"
    )
    assert close(one[2].sum(1), torch.ones(1), atol=1e-4), (
        "the weights of one sentence do not sum to one over its tokens"
    )


def recite(table):
    """A step of a model that knows a table (b, t, v, v) by heart; its state counts the steps."""

    def step(tokens, state):
        return table[torch.arange(len(table)), state, tokens], state + 1

    return step


def told(*sentences):
    """A table that makes `recite` say these words, whatever it has in the hand; word 0 is bos."""
    table = torch.zeros(len(sentences), len(sentences[0]), 6, 6)
    for row, words in zip(table, sentences, strict=True):
        for logits, word in zip(row, words, strict=True):
            logits[:, word] = 5.0
    return table


@points(1, "q4")
def test_q4_padding(student, rng):
    """After its end a sentence holds padding, and the other goes on."""
    words = 2 + torch.randint(4, (3,), generator=rng)
    step = recite(told([*words.tolist(), 1], [2, 1, 3, 4]))
    got = student.greedy(step, 0, 2, 0, 1, 5, 4)
    assert tuple(got.shape) == (2, 4), f"shape {tuple(got.shape)}: two sentences of 4 words"
    assert got[0].tolist() == [*words.tolist(), 1], f"sentence 0 is {got[0].tolist()}"
    assert got[1, :2].tolist() == [2, 1], "the end word belongs to the sentence"
    assert got[1, 2:].tolist() == [5, 5], "after its end a sentence holds pad, whatever is said"


@points(1, "q4")
def test_q4_cut(student, rng):
    """A sentence without an end has max_len words."""
    words = 2 + torch.randint(4, (1, 5), generator=rng)
    got = student.greedy(recite(told(*words.tolist())), 0, 1, 0, 1, 5, 3)
    assert tuple(got.shape) == (1, 3), f"shape {tuple(got.shape)}: max_len is 3"
    assert got[0].tolist() == words[0, :3].tolist(), "the words are not the likeliest ones"


@points(1, "q5")
def test_q5_perfect(student, rng):
    """Weights that are the gold alignment have no error."""
    order = torch.randperm(5, generator=rng)
    weights = torch.zeros(6, 6)
    weights[torch.arange(5), order], weights[5, 5] = 1.0, 1.0  # the last row and column: <eos>
    gold = weights[:5, :5] > 0
    got = float(student.error_rate(weights, gold, gold))
    assert abs(got - 1) > 1e-5, "the share that is right, or nothing is: the best rate is 0"
    assert abs(got) < 1e-5, f"error rate {got:.2f} for perfect weights: which row wrote which word?"
