"""Hidden tests. The first line of a docstring is the hint in the students' feedback."""

import math

import torch

from coursegrade.testing import cases, close, draw, each, normal, points, same, unit

SHARP = 1.0  # what a score counts
SINK = 0.0  # its score
OWN = 0  # how many tokens a window has besides its width


def start(q, d):
    return torch.full((q,), -math.inf), torch.zeros(q), torch.zeros(q, d)


def all_read(student, scores, values, w):
    """Outputs and logarithms, read in blocks of w keys."""
    kept = start(len(scores), values.shape[1])
    for here in range(0, scores.shape[1], w):
        kept = student.read(*kept, scores[:, here : here + w], values[here : here + w])
    return student.finish(*kept)


def slow(scores, values):
    """Query by query, the keys that are not masked."""
    output, logs = torch.zeros(len(scores), values.shape[1]), torch.full((len(scores),), -math.inf)
    for i, row in enumerate(scores):
        on = row > -math.inf
        if on.any():
            a = SHARP * row[on].double()
            output[i], logs[i] = (a.softmax(0) @ values[on].double()).float(), a.logsumexp(0)
    return output, logs


def agrees(got, want, atol=1e-4):
    """Both outputs and logarithms."""
    finite = want[1] > -math.inf
    logs = torch.as_tensor(got[1]).double()
    return (
        close(got[0], want[0], atol=atol)
        and close(logs[finite], want[1][finite], atol=1e-3)
        and bool((logs[~finite] == -math.inf).all())
    )


@points(2, "q1", value=True)
@cases(w=[1, 3, 5])
def test_q1_blocks(student, rng, w):
    """The outputs and logarithms are those of attention over all keys, in blocks of"""
    scores, values = 2 * normal(rng, 4, 12), normal(rng, 12, 3)
    assert agrees(all_read(student, scores, values, w), slow(scores, values))


@points(2, "q1")
def test_q1_masked(student, rng):
    """Masked keys with large values, whole blocks of them, and a query that may see nothing."""
    scores, values = normal(rng, 4, 12), normal(rng, 12, 3)
    values[:3] = 30000.0
    scores[:, :3] = -math.inf
    scores[1, 5:9], scores[2] = -math.inf, -math.inf
    assert agrees(all_read(student, scores, values, 3), slow(scores, values))


@points(1, "q1")
def test_q1_large(student, rng):
    """Scores in the hundreds, of either sign."""
    values = normal(rng, 12, 3)
    for shift in (400.0, -400.0):
        scores = 5 * normal(rng, 4, 12) + shift
        assert agrees(all_read(student, scores, values, 5), slow(scores, values), atol=1e-3)


@points(1, "q1")
def test_q1_arguments(student, rng):
    """What was kept is not changed."""
    kept = normal(rng, 2), 1 + unit(rng, 2), normal(rng, 2, 3)
    student.read(*(x.clone() for x in kept), 9 + normal(rng, 2, 4), normal(rng, 4, 3))
    assert all(same(got, want) for got, want in zip(student.last_args[:3], kept, strict=True))


def slow_join(outputs, logs):
    """Report by report, in double precision."""
    largest = torch.cat((logs, torch.full_like(logs[:1], SINK))).double().amax(0)
    parts = (logs.double() - largest).exp()
    total = parts.sum(0) + (SINK - largest).exp()
    output = (parts[..., None] * outputs.double()).sum(0) / total[:, None]
    return output.float(), largest + total.log()


@points(3, "q2", value=True)
def test_q2_reports(student, rng):
    """Five machines with many keys each."""
    args = normal(rng, 5, 4, 3), 2 * normal(rng, 5, 4)
    assert agrees(student.join(*args), slow_join(*args))


@points(2, "q2")
def test_q2_nothing(student, rng):
    """Some machines had nothing for a query, and for one query no machine had."""
    outputs, logs = normal(rng, 5, 4, 3), normal(rng, 5, 4)
    for hole in ((slice(2), 1), (slice(None), 2)):
        outputs[hole], logs[hole] = 0.0, -math.inf
    assert agrees(student.join(outputs, logs), slow_join(outputs, logs))


@points(2, "q2")
def test_q2_large(student, rng):
    """Logarithms in the hundreds, of either sign."""
    outputs = normal(rng, 3, 4, 2)
    for shift in (300.0, -300.0):
        logs = 3 * normal(rng, 3, 4) + shift
        assert agrees(student.join(outputs, logs), slow_join(outputs, logs))


@points(2, "q3", value=True)
@cases(bits=[8, 3])
def test_q3_numbers(student, rng, bits):
    """Each number is off by half a step of its token at most, and the largest is kept; bits:"""
    held = normal(rng, 9, 6) * torch.tensor([0.01, 1, 100]).repeat(3)[:, None]
    whole, scale = (torch.as_tensor(x).double() for x in student.shorten(held, bits))
    most = 2 ** (bits - 1) - 1
    want = held.double().abs().amax(1, keepdim=True) / most
    assert close(scale / want, torch.ones(9, 1), atol=1e-4)
    assert close(whole, whole.round()) and bool((whole.abs().amax(1) == most).all())
    assert bool(((whole * scale - held).abs() <= 0.501 * want).all())


@points(1, "q3")
def test_q3_zeros(student, rng):
    """A token of zeros."""
    held = normal(rng, 3, 4)
    held[1] = 0.0
    whole, scale = student.shorten(held, 8)
    assert close(whole[1] * 1.0, torch.zeros(4)) and close(scale[1], torch.ones(1))


@points(3, "q3", value=True)
def test_q3_there(student, rng):
    """Windows and first tokens of many sizes."""
    n = draw(rng, 7, 9)
    for width, first in each(5, 4):
        reach = width + 1 + OWN
        want = [[j <= i and (i - j < reach or j < first) for j in range(n)] for i in range(n)]
        assert close(student.still_there(n, width + 1, first) * 1, torch.tensor(want) * 1)


def slow_gradient(Q, K, g):
    """By autograd, from all scores at once."""
    values = torch.zeros(len(K), g.shape[1], dtype=torch.float64, requires_grad=True)
    a = Q.double() @ K.double().T / math.sqrt(Q.shape[1])
    (grad,) = torch.autograd.grad((a.softmax(1) @ values * g.double()).sum(), values)
    return a.logsumexp(1).float(), grad.float()


@points(2, "q4", value=True)
@cases(w=[1, 3, 4])
def test_q4_blocks(student, rng, w):
    """The gradient is that of autograd, in blocks of"""
    Q, K, g = normal(rng, 5, 4), normal(rng, 9, 4), normal(rng, 5, 2)
    logs, want = slow_gradient(Q, K, g)
    assert close(student.value_gradient(Q, K, logs, g, w), want, atol=1e-4)
