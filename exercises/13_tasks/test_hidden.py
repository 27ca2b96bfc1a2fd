"""Hidden tests. The first line of a docstring is the hint in the students' feedback."""

import math

import torch

from coursegrade.testing import close, draw, each, normal, points, same

GATE = 1.0  # of a task of zeros
MORE = 0  # words that a span may have beyond `longest`
SCALE = 1.0  # of the scores of Q3, beside 1 / sqrt(d)
FACTOR = 1.0  # of the loss of Q4


def slow_map(W, x):
    """A matrix times a vector, one sum at a time."""
    return torch.stack([sum(W[i, j] * x[j] for j in range(len(x))) for i in range(len(W))])


@points(2, "q1", value=True)
def test_q1_added(student, rng):
    """As many queries as texts, so that a task can go to the wrong axis; nothing is changed."""
    x, t, W = normal(rng, 3, 3, 4), normal(rng, 3, 4), normal(rng, 4, 4)
    got = student.added(x.clone(), t.clone(), W)
    for b, q in each(3, 3):
        assert close(got[b, q], slow_map(W, x[b, q] + t[b]), atol=1e-4)
    assert same(student.last_args[0], x) and same(student.last_args[1], t)


@points(1, "q1")
def test_q1_matrix(student, rng):
    """The matrix is read in the right order, and maps the task too."""
    x, t = torch.zeros(1, 1, 3), normal(rng, 1, 3)
    W = torch.zeros(3, 3)
    W[0, 2] = 2.0
    got = student.added(x, t, W)[0, 0]
    assert close(got, torch.stack([2 * t[0, 2], 0 * t[0, 0], 0 * t[0, 0]]), atol=1e-5)


@points(2, "q1", value=True)
def test_q1_gated(student, rng):
    """Each feature has its own factor, and each text its own task."""
    x, t, W = normal(rng, 3, 3, 4), normal(rng, 3, 4), normal(rng, 4, 4)
    got = student.gated(x, t, W)
    for b, q in each(3, 3):
        assert close(got[b, q], (GATE + t[b]) * slow_map(W, x[b, q]), atol=1e-4)


@points(2, "q1", value=True)
def test_q1_shift(student, rng):
    """The change is that of every score, for four texts."""
    Q, t, K = normal(rng, 4, 2, 5), normal(rng, 4, 5), normal(rng, 4, 3, 5)
    got = student.key_shift(Q, t)
    for b, q, k in each(4, 2, 3):
        change = sum(Q[b, q, i] * ((K[b, k, i] + t[b, i]) - K[b, k, i]) for i in range(5))
        assert close(got[b, q], change / math.sqrt(5), atol=1e-4)


@points(2, "q1")
def test_q1_wide(student, rng):
    """With 64 features the change is divided by 8."""
    assert close(student.key_shift(torch.ones(1, 1, 64), torch.ones(1, 64)), torch.tensor([[8.0]]))


def slow_weights(scores, length):
    """One text and one pointer."""
    e = [math.exp(float(s - scores[:length].max())) for s in scores[:length]]
    return torch.tensor([x / sum(e) for x in e] + [0.0] * (len(scores) - length))


@points(2, "q2", value=True)
def test_q2_weights(student, rng):
    """Texts of three lengths, and padding with large scores."""
    S, lengths = normal(rng, 3, 2, 7), torch.tensor([7, draw(rng, 3, 5), 1])
    S[torch.arange(7).expand(3, 2, 7) >= lengths[:, None, None]] = 500.0
    got = student.pointer_weights(S, lengths)
    for b, p in each(3, 2):
        assert close(got[b, p], slow_weights(S[b, p], int(lengths[b])), atol=1e-5)


@points(1, "q2")
def test_q2_large(student, rng):
    """Scores in the hundreds give finite weights."""
    S = 600.0 * torch.eye(2)[None]
    assert close(student.pointer_weights(S, torch.tensor([2])), torch.eye(2)[None], atol=1e-5)


@points(2, "q2", value=True)
def test_q2_loss(student, rng):
    """The loss of three texts, with padding."""
    S, lengths = 2 * normal(rng, 3, 2, 6), torch.tensor([6, 4, 5])
    spans = torch.tensor([[draw(rng, 0, 2), draw(rng, 3, 5)], [1, 3], [2, 2]])
    total = 0.0
    for b, p in each(3, 2):
        total -= math.log(float(slow_weights(S[b, p], int(lengths[b]))[spans[b, p]]))
    assert close(student.span_loss(S, spans, lengths), torch.tensor(total / 3), atol=1e-4)


@points(1, "q2")
def test_q2_sure(student, rng):
    """A loss in the hundreds is finite."""
    S = torch.tensor([[[300.0, 0], [0, 0]]])
    got = student.span_loss(S, torch.tensor([[1, 1]]), torch.tensor([2]))
    assert close(got, torch.tensor(300 + math.log(2)), atol=1e-3)


def slow_span(S, length, longest):
    """All spans of a text, one by one."""
    spans = [(i, j) for i in range(length) for j in range(i, min(length, i + longest + MORE))]
    return max(spans, key=lambda s: float(S[0, s[0]] + S[1, s[1]]))


@points(3, "q2", value=True)
def test_q2_spans(student, rng):
    """Forty texts, each span at most as long as is allowed."""
    S, lengths, longest = normal(rng, 40, 2, 9), torch.full((40,), 9), draw(rng, 3, 4)
    got = student.best_span(S, lengths, longest)
    assert got.tolist() == [list(slow_span(s, 9, longest)) for s in S]


@points(1, "q2")
def test_q2_inside(student, rng):
    """Padding has the best scores, and no span."""
    S = normal(rng, 2, 2, 8)
    S[:, :, 5:] = 50.0
    got = student.best_span(S, torch.tensor([5, 5]), 8)
    assert got.tolist() == [list(slow_span(s, 5, 8)) for s in S]


def slow_pair(states, pair, W_q, length):
    """One text."""
    d = states.shape[1]
    query = slow_map(W_q, torch.cat([states[pair[0]], states[pair[1]]]))
    scores = [SCALE * float((states[j] * query).sum()) / math.sqrt(d) for j in range(length)]
    return slow_weights(torch.tensor(scores + [0.0] * (len(states) - length)), length)


@points(3, "q3", value=True)
def test_q3_weights(student, rng):
    """Texts of equal length."""
    states, W_q = normal(rng, 3, 5, 4), normal(rng, 4, 8)
    pairs = torch.tensor([[0, 3], [4, 1], [2, draw(rng, 3, 4)]])
    got = student.pair_weights(states, pairs, W_q, torch.full((3,), 5))
    for b in range(3):
        assert close(got[b], slow_pair(states[b], pairs[b], W_q, 5), atol=1e-4)


@points(1, "q3")
def test_q3_padding(student, rng):
    """Padding has no weight."""
    states, W_q = normal(rng, 2, 6, 4), normal(rng, 4, 8)
    states[1, 4], states[1, 5] = 9.0, -9.0
    pairs, lengths = torch.tensor([[5, 0], [1, 3]]), torch.tensor([6, 4])
    got = student.pair_weights(states, pairs, W_q, lengths)
    for b in range(2):
        assert close(got[b], slow_pair(states[b], pairs[b], W_q, int(lengths[b])), atol=1e-4)


@points(1, "q3")
def test_q3_scale(student, rng):
    """The scores are divided by the root of the features, and no more than once."""
    states = torch.zeros(1, 2, 16)
    states[0, 0, 0] = 2.0
    W_q = torch.zeros(16, 32)
    W_q[0, 0] = W_q[0, 16] = 2.0  # a query of 4, whichever state comes first
    got = student.pair_weights(states, torch.tensor([[0, 1]]), W_q, torch.tensor([2]))
    assert close(got[0], (SCALE * torch.tensor([2.0, 0.0])).softmax(0), atol=1e-4)


@points(3, "q3", value=True)
def test_q3_share(student, rng):
    """Some texts have a truth and some have none."""
    weights, places = normal(rng, 6, 5).softmax(1), torch.tensor([3, -1, 0, -1, 4, 1])
    want = sum(weights[i, places[i]] for i in (0, 2, 4, 5)) / 4
    assert close(student.truth_share(weights, places), want, atol=1e-5)


@points(1, "q3")
def test_q3_last(student, rng):
    """A text without a truth does not count, though its last word has all the weight."""
    weights = torch.tensor([[0.0, 0, 1], [0.3, 0.3, 0.4], [0.1, 0.8, 0.1]])
    got = student.truth_share(weights, torch.tensor([-1, 0, 1]))
    assert close(got, torch.tensor(0.55), atol=1e-5)


def slow_mean(losses, task, tasks):
    """Task by task."""
    of = [[float(x) for x, t in zip(losses, task, strict=True) if t == k] for k in range(tasks)]
    means = [sum(x) / len(x) for x in of if x]
    return torch.tensor(FACTOR * sum(means) / len(means))


@points(2, "q4", value=True)
def test_q4_missing(student, rng):
    """A task does not occur in the batch."""
    losses, task = normal(rng, 9) + 3, torch.tensor([0, 0, 0, 0, 0, 3, 3, 1, 1])
    assert close(student.mean_by_task(losses, task, 4), slow_mean(losses, task, 4), atol=1e-4)


@points(2, "q4")
def test_q4_uneven(student, rng):
    """All tasks occur, one of them often."""
    losses, task = normal(rng, 9), torch.tensor([2, 0, 0, 0, 0, 0, 1, 0, 0])
    assert close(student.mean_by_task(losses, task, 3), slow_mean(losses, task, 3), atol=1e-4)


@points(1, "q4")
def test_q4_one(student, rng):
    """Only the last of five tasks occurs."""
    losses = normal(rng, 4)
    got = student.mean_by_task(losses, torch.full((4,), 4), 5)
    assert close(got, FACTOR * losses.mean(), atol=1e-5)
