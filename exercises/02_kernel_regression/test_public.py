"""Self-checks: they travel in the students' notebook. Messages say what is probably wrong."""

import torch

from coursegrade.testing import close, normal, points, unit


def series(rng, n=8):
    """Your own points: places at least a tenth apart, in any order, and values."""
    places = torch.arange(n) * 0.5 + 0.4 * unit(rng, n)
    return places[torch.randperm(n, generator=rng)], normal(rng, n)


@points(1, "q1")
def test_q1_wide(student, rng):
    """A very wide kernel averages."""
    keys, values = series(rng)
    got = student.fit(keys[:3], keys, values, 1e-4)
    assert tuple(got.shape) == (3,), f"shape {tuple(got.shape)}: one number a query is wanted"
    assert close(got, values.mean().expand(3), atol=1e-3), "w near 0 must give the plain average"


@points(1, "q1")
def test_q1_narrow(student, rng):
    """A very narrow kernel gives the nearest value."""
    keys, values = series(rng)
    got = student.fit(keys + 0.01, keys, values, 1e3)
    assert got.isfinite().all(), "the fit holds NaN: let a softmax do the division"
    assert close(got, values, atol=1e-3), "a large w must give the nearest key's value"


@points(1, "q2")
def test_q2_one_in_reach(student, rng):
    """One key in reach: its value."""
    keys, values = torch.arange(8.0), series(rng)[1]
    got = student.boxcar_fit(keys + 0.1, keys, values, 0.3)
    assert close(got, values, atol=1e-5), "with one key in reach, the fit is its value"


@points(1, "q2")
def test_q2_none_in_reach(student, rng):
    """No key in reach: 0, not NaN."""
    keys, values = series(rng)
    got = student.boxcar_fit(torch.tensor([100.0]), keys, values, 1.0)
    assert not got.isnan().any(), "0 / 0: no key is in reach there"
    assert (got == 0).all(), "where no key is in reach the fit is 0"


@points(1, "q3")
def test_q3_not_itself(student, rng):
    """A narrow kernel has no error of zero: no point attends to itself."""
    keys, values = series(rng)
    got = student.loo_error(keys, values, 50.0)
    assert got.dim() == 0, f"a tensor without axes is wanted, this has shape {tuple(got.shape)}"
    assert got > 1e-3, "the error vanishes: a point still attends to itself"


@points(1, "q4")
def test_q4_path(student, rng):
    """The path has steps + 1 numbers, the start first."""
    path = student.train(*series(rng), 1.5, 0.1, 4)
    assert tuple(path.shape) == (5,), f"shape {tuple(path.shape)}: steps + 1 numbers are wanted"
    assert abs(path[0] - 1.5) < 1e-6, "the path begins with the start"


@points(1, "q4")
def test_q4_no_step(student, rng):
    """With a rate of 0 nothing moves."""
    path = student.train(*series(rng), 0.7, 0.0, 2)
    assert close(path, torch.tensor(0.7).expand(3)), "a rate of 0 must not move w"
