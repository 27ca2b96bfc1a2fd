"""Tasks: each form equals its formula, number by number; what it refuses."""

import pytest
import torch
from attnbook_testing.refusals import refuses

import attnbook as ab
from attnbook.tasks import FORMS


def made(form):
    torch.manual_seed(0)
    return ab.TaskQuery(form, 3, 2)


def line(layer, x):
    """A linear layer, one sum at a time."""
    rows = zip(layer.weight.tolist(), layer.bias.tolist(), strict=True)
    return [sum(a * b for a, b in zip(row, x, strict=True)) + bias for row, bias in rows]


def by_hand(query, x, task):
    if query.form == "none":
        return line(query.W, x)
    t = query.task.weight[task].tolist()
    if query.form == "task":
        return t
    if query.form == "added":
        return line(query.W, [a + b for a, b in zip(x, t, strict=True)])
    if query.form == "gate":
        return [(1 + a) * b for a, b in zip(t, line(query.W, x), strict=True)]
    both = x + t
    if query.form == "hidden layer":
        both = [max(0.0, a) for a in line(query.hidden, both)]
    return line(query.W, both)


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_its_formula(form):
    query, x = made(form), torch.randn(4, 5, 3)
    task = torch.randint(0, 2, (4, 5))
    got = query(x, task)
    want = [by_hand(query, x[i, j].tolist(), task[i, j]) for i in range(4) for j in range(5)]
    torch.testing.assert_close(got.flatten(0, 1), torch.tensor(want))


@pytest.mark.parametrize("form", FORMS)
def test_the_task_matters_in_every_form_but_one(form):
    query, x = made(form), torch.randn(4, 3)
    one, other = (query(x, torch.full((4,), t)) for t in (0, 1))
    assert torch.equal(one, other) == (form == "none")


@pytest.mark.parametrize("form", FORMS)
def test_every_parameter_learns(form):
    query = made(form)
    query(torch.randn(8, 3), torch.arange(8) % 2).square().sum().backward()
    assert all(p.grad is not None and p.grad.any() for p in query.parameters())


def test_what_it_refuses():
    refuses(ValueError, "form must be one of 'none', 'added'", ab.TaskQuery, "sum", 3, 2)
    refuses(ValueError, "tasks must be at least 1", ab.TaskQuery, "added", 3, 0)
    query, x, task = made("added"), torch.zeros(4, 3), torch.zeros(4, dtype=torch.long)
    refuses(TypeError, "x must be", query, x.long(), task)
    refuses(ValueError, "x must have 3 features", query, torch.zeros(4, 5), task)
    refuses(TypeError, "task must hold integers", query, x, task.float())
    refuses(ValueError, "task must be one number for each x", query, x[None], task)
    refuses(ValueError, "task must be 0 to 1, got 0 to 2", query, x, torch.tensor([0, 1, 2, 0]))
    refuses(ValueError, "task must be 0 to 1, got -1", query, x, task - 1)
    assert query(x[:0], task[:0]).shape == (0, 3)
