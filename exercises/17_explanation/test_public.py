"""Self-checks: they travel in the students' notebook. Messages say what is probably wrong."""

from coursegrade.testing import close, normal, points, weights_over_keys


@points(1, "q1")
def test_q1_sums(student, rng):
    """Weights have shape (queries, keys) and sum to one over keys."""
    weights_over_keys(student.sharp_weights(normal(rng, 3, 2), normal(rng, 4, 2)), (3, 4))


@points(2, "q1")
def test_q1_two_keys(student, rng):
    """The odds of two keys are those of the formula."""
    q, k = normal(rng, 1, 2), normal(rng, 2, 2)
    got = student.sharp_weights(q, k)
    odds, want = (got[0, 0] / got[0, 1]).log(), 3 * (q @ (k[0] - k[1])).sum()
    right = close(odds, want, atol=1e-4)
    assert right or not close(odds, want / 3, atol=1e-4), "is the factor there?"
    assert right, "the odds of two keys differ from the formula's"
