"""Hidden tests. The first line of a docstring is the hint in the students' feedback."""

import torch

from coursegrade.testing import close, normal, points, same


@points(4, "q1", value=True)
def test_q1_many_keys(student, rng):
    """The weights are those of the formula, for more keys than features, too."""
    q, k = normal(rng, 3, 4), normal(rng, 9, 4)
    e = torch.stack([(3 * (k.double() * row).sum(1)).exp() for row in q.double()])
    assert close(student.sharp_weights(q, k), e / e.sum(1, keepdim=True), atol=1e-5)


@points(2, "q1")
def test_q1_large_scores(student, rng):
    """Scores in the hundreds give finite weights, nearly all for the best key."""
    got = student.sharp_weights(100 * torch.eye(3), 2 * torch.eye(3))
    assert close(got, torch.eye(3), atol=1e-4)


@points(1, "q1")
def test_q1_arguments(student, rng):
    """The arguments are not changed."""
    q, k = normal(rng, 3, 2), normal(rng, 3, 2)
    assert student.sharp_weights(q.clone(), k.clone()).shape == (3, 3)
    assert same(student.last_args[0], q) and same(student.last_args[1], k)
