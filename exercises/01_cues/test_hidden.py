"""Hidden tests. The first line of a docstring is the hint in the students' feedback."""

import math

import torch

from coursegrade.testing import cases, close, normal, points, same, unit


def slow_weights(queries, keys, temperature=1.0, mask=None):
    """The formula in double precision, one number at a time."""
    rows = []
    for i, q in enumerate(queries.double()):
        scores = [-sum((q - k) ** 2).item() / 2 / temperature for k in keys.double()]
        keep = [mask is None or bool(mask[i, j]) for j in range(len(scores))]
        top = max((s for s, on in zip(scores, keep, strict=True) if on), default=0.0)
        e = [math.exp(s - top) if on else 0.0 for s, on in zip(scores, keep, strict=True)]
        rows.append([x / (sum(e) or 1.0) for x in e])
    return torch.tensor(rows)


@points(1, "q1", value=True)
@cases(temperature=[0.25, 4.0])
def test_q1_temperature(student, rng, temperature):
    """The scores are divided by the temperature before the softmax."""
    q, k = normal(rng, 3, 4), normal(rng, 5, 4)
    assert close(student.cue_weights(q, k, temperature), slow_weights(q, k, temperature))


@points(1, "q1")
def test_q1_far_query(student, rng):
    """A query far from every key still gets weights that sum to one."""
    q, k = normal(rng, 2, 1) + 60, normal(rng, 4, 1)
    got = student.cue_weights(q, k)
    assert got.isfinite().all()
    assert close(got.sum(1), torch.ones(2), atol=1e-3, rtol=0)


@points(1, "q1")
def test_q1_arguments(student, rng):
    """The arguments are not changed."""
    q, k = normal(rng, 3, 2), normal(rng, 3, 2)
    assert student.cue_weights(q.clone(), k.clone(), 2.0).shape == (3, 3)
    assert same(student.last_args[0], q) and same(student.last_args[1], k)


@points(2, "q2", value=True)
def test_q2_others(student, rng):
    """The mean is over the other keys, without the key itself."""
    keys = normal(rng, 4, 3)
    scores = [(keys[i] - keys[torch.arange(4) != i].mean(0)).norm() for i in range(4)]
    assert close(student.saliency(keys), torch.stack(scores).softmax(0), atol=1e-5, rtol=1e-3)


@points(1, "q2")
def test_q2_units(student, rng):
    """The distance is not squared: doubling the keys doubles the scores."""
    keys = normal(rng, 4, 3)
    once, twice = student.saliency(keys).log(), student.saliency(2 * keys).log()
    assert close(twice - twice[0], 2 * (once - once[0]), atol=1e-3, rtol=1e-3)


@points(2, "q3")
def test_q3_output(student, rng):
    """Without a mask: output and weights of the formula."""
    q, k, v = normal(rng, 3, 2), normal(rng, 5, 2), normal(rng, 5, 4)
    output, weights = student.attend(q, k, v)
    assert close(weights, slow_weights(q, k))
    assert close(output, slow_weights(q, k) @ v)


@points(2, "q3", value=True)
def test_q3_mask(student, rng):
    """The mask acts before the softmax: the weights that are left sum to one."""
    q, k, v = normal(rng, 3, 2), normal(rng, 5, 2), normal(rng, 5, 4)
    mask = unit(rng, 3, 5) > 0.4
    mask[:, 0], mask[0, 1] = True, False
    output, weights = student.attend(q, k, v, mask)
    assert close(weights, slow_weights(q, k, mask=mask))
    assert close(output, weights @ v)


@points(1, "q3")
def test_q3_nothing_to_attend_to(student, rng):
    """A query that may attend to nothing gets zeros, not NaN."""
    mask = torch.tensor([[False, False], [True, True]])
    output, weights = student.attend(normal(rng, 2, 2), normal(rng, 2, 2), normal(rng, 2, 3), mask)
    assert (output[0] == 0).all() and (weights[0] == 0).all()


@points(1, "q3")
def test_q3_far_and_masked(student, rng):
    """A masked key stays at 0, however low the scores of the others are."""
    q, k, v = normal(rng, 1, 2) + 3000, normal(rng, 3, 2), normal(rng, 3, 2)
    k[2] += 10  # the masked key is the nearest by far
    _, weights = student.attend(q, k, v, torch.tensor([[True, True, False]]))
    assert weights[0, 2] == 0 and abs(weights.sum() - 1) < 1e-4


def slow_miss(q, k, v, threshold):
    """The extra key as a plain fifth term in numerator and denominator."""
    e = (-(q.unsqueeze(1) - k).square().sum(2) / 2).exp()
    total = e.sum(1, keepdim=True) + math.exp(threshold)
    return e @ v / total, math.exp(threshold) / total[:, 0]


@points(2, "q4", value=True)
def test_q4_output(student, rng):
    """The output: the extra key takes weight and gives nothing."""
    q, k, v = normal(rng, 3, 2), normal(rng, 4, 2), normal(rng, 4, 5)
    output, _ = student.attend_or_miss(q, k, v, -1.0)
    assert close(output, slow_miss(q, k, v, -1.0)[0])


@points(1, "q4", value=True)
@cases(threshold=[-2.0, 0.5])
def test_q4_miss(student, rng, threshold):
    """The weight of the extra key."""
    q, k, v = normal(rng, 3, 2), normal(rng, 4, 2), normal(rng, 4, 5)
    _, miss = student.attend_or_miss(q, k, v, threshold)
    assert close(miss, slow_miss(q, k, v, threshold)[1])


@points(1, "q4")
def test_q4_far(student, rng):
    """A query far from every key finds nothing: miss 1, output 0, whatever the threshold."""
    q, k, v = normal(rng, 2, 2) + 500, normal(rng, 3, 2), normal(rng, 3, 2)
    output, miss = student.attend_or_miss(q, k, v, -300.0)
    assert close(miss, torch.ones(2), atol=1e-4, rtol=0)
    assert close(output, torch.zeros(2, 2), atol=1e-4, rtol=0)


@points(1, "q4")
def test_q4_gradient(student, rng):
    """Gradients flow from the output to the queries."""
    q, k, v = normal(rng, 3, 2), normal(rng, 4, 2), normal(rng, 4, 5)
    [got] = student.attend_or_miss.grad(q, k, v, -1.0, of=0)
    q.requires_grad_()
    [want] = torch.autograd.grad(slow_miss(q, k, v, -1.0)[0].sum(), q)
    assert close(got, want)
