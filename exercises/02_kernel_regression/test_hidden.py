"""Hidden tests. The first line of a docstring is the hint in the students' feedback."""

import math

import torch
from _coursegrade_public import series  # the self-checks' own

from coursegrade.testing import cases, close, normal, points, same, unit


def slow_fit(q, keys, values, w):
    """The formula for one query, one number at a time."""
    scores = [-(((q - k) * w) ** 2) / 2 for k in keys.tolist()]
    e = [math.exp(score - max(scores)) for score in scores] if scores else []
    return sum(a * y for a, y in zip(e, values.tolist(), strict=True)) / (sum(e) or 1)


def slow_loo(keys, values, w, group):
    errors = []
    for i, (q, y) in enumerate(zip(keys.tolist(), values.tolist(), strict=True)):
        other = group != group[i]
        errors.append((slow_fit(q, keys[other], values[other], w) - y) ** 2)
    return torch.tensor(sum(errors) / len(errors), dtype=values.dtype)


def slope(error, w, h=1e-4):
    """A difference quotient in double precision."""
    return (error(w + h) - error(w - h)) / (2 * h)


@points(1, "q1", value=True)
@cases(w=[0.7, 3.0])
def test_q1_formula(student, rng, w):
    """The fit is that of the formula."""
    keys, values = series(rng)
    queries = 4 * unit(rng, 5)
    want = torch.tensor([slow_fit(q, keys, values, w) for q in queries.tolist()])
    assert close(student.fit(queries, keys, values, w), want)


@points(1, "q1")
def test_q1_far_query(student, rng):
    """A query far from every key gets the nearest value, not NaN."""
    keys, values = series(rng)
    got = student.fit(torch.tensor([300.0]), keys, values, 1.0)
    assert close(got, values[keys.argmax()].unsqueeze(0), atol=1e-3, rtol=1e-3)


@points(1, "q1")
def test_q1_arguments(student, rng):
    """The arguments are not changed."""
    keys, values = series(rng)
    assert student.fit(keys, keys, values, 2.0).shape == (8,)
    assert all(map(same, student.last_args, (keys, keys, values)))


@points(2, "q2", value=True)
def test_q2_formula(student, rng):
    """The mean of the values in reach."""
    keys, values = series(rng)
    want = torch.stack([values[(q - keys).abs() <= 0.8].mean() for q in keys])
    assert close(student.boxcar_fit(keys, keys, values, 0.8), want)


@points(1, "q2")
def test_q2_edge(student, rng):
    """A key exactly `width` away is in reach."""
    values = unit(rng, 3) + 1
    got = student.boxcar_fit(torch.tensor([1.0]), torch.tensor([0.0, 1.0, 3.0]), values, 1.0)
    assert close(got, values[:2].mean().unsqueeze(0), atol=1e-5, rtol=1e-4)


@points(2, "q3", value=True)
def test_q3_formula(student, rng):
    """The mean of the squared errors, each point predicted from the others."""
    keys, values = series(rng)
    for w in (0.8, 1.5):
        want = slow_loo(keys, values, w, torch.arange(8))
        assert close(student.loo_error(keys, values, w), want)


@points(2, "q3", value=True)
def test_q3_group(student, rng):
    """Points of one group do not see each other: copies change nothing."""
    keys, values = series(rng)
    group = torch.arange(8).repeat(2)
    for w in (0.8, 1.5):
        got = student.loo_error(keys.repeat(2), values.repeat(2), w, group)
        assert close(got, slow_loo(keys, values, w, torch.arange(8)))


@points(1, "q3")
def test_q3_alone(student, rng):
    """A point with nobody to attend to is predicted as 0, not NaN."""
    keys, values = series(rng, 3)
    got = student.loo_error(keys, values, 1.0, torch.zeros(3, dtype=torch.long))
    assert close(got, values.square().mean(), atol=1e-5, rtol=1e-4)


@points(1, "q3")
def test_q3_far(student, rng):
    """Points far apart: the nearest other one predicts, nothing underflows."""
    keys, values = 1000 * torch.arange(4.0), normal(rng, 4)
    keys[1::2] -= 400  # each has one nearest neighbour
    want = slow_loo(keys, values, 1.0, torch.arange(4))
    assert close(student.loo_error(keys, values, 1.0), want)


@points(1, "q3")
def test_q3_gradient(student, rng):
    """The error has a gradient for w."""
    keys, values = series(rng)
    [got] = student.loo_error.grad(keys, values, torch.tensor(1.5), wrt=(2,))
    want = slope(lambda w: slow_loo(keys, values, w, torch.arange(8)).item(), 1.5, h=1e-2)
    assert abs(got - want) < 0.02 * abs(want) + 0.01


def follow(keys, values, w, rate, steps):
    """Gradient descent with torch's own optimiser."""
    w = torch.nn.Parameter(torch.tensor(w))
    optimiser, path = torch.optim.SGD([w], lr=rate), [w.item()]
    n, others = len(keys), ~torch.eye(len(keys), dtype=torch.bool)
    square = (keys - keys.unsqueeze(1)).square()[others].reshape(n, n - 1)
    rest = values.expand(n, n)[others].reshape(n, n - 1)
    for _ in range(steps):
        loss = (((-square * w**2 / 2).softmax(1) * rest).sum(1) - values).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        path.append(w.item())
    return torch.tensor(path)


@points(1, "q4")
def test_q4_first_step(student, rng):
    """The first step goes downhill, by the rate times the gradient of the mean."""
    keys, values = series(rng)
    got = student.train(keys, values, 1.0, 0.05, 1)
    assert close(got[-1], follow(keys, values, 1.0, 0.05, 1)[-1])


@points(1, "q4")
def test_q4_downhill(student, rng):
    """A small step makes the error smaller."""
    keys, values = series(rng)
    path = student.train(keys, values, 1.0, 0.01, 1)
    before, after = (
        slow_loo(keys.double(), values.double(), w, torch.arange(8)) for w in path.tolist()
    )
    assert after < before


@points(2, "q4", value=True)
def test_q4_later_steps(student, rng):
    """Each step uses its own gradient alone."""
    keys, values = series(rng)
    got, want = student.train(keys, values, 1.0, 0.3, 6), follow(keys, values, 1.0, 0.3, 6)
    steps, right = got.diff()[1:], want.diff()[1:]
    assert close(steps, right, atol=1e-4, rtol=1e-2)
