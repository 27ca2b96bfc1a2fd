"""Hidden tests. The first line of a docstring is the hint in the students' feedback."""

import math

import torch

from coursegrade.testing import cases, close, normal, points, same

FACTOR = 1.0  # as in the public tests
BASE = math.e**FACTOR


def scale(n):
    """As in the public tests."""
    return 1.0


def slow_level(rows, W, c):
    """Output and weights in double precision, one row after another."""
    scores = [float(torch.tanh(W.double() @ x) @ c.double()) for x in rows]
    top = max(scores)
    parts = [math.exp(a - top) for a in scores]
    weights = [p / sum(parts) for p in parts]
    return sum(a * x for a, x in zip(weights, rows, strict=True)), weights


def masked(rng, b, s, w):
    """A mask in which each document has a word, and the last one padding."""
    mask = torch.arange(w) < torch.randint(1, w + 1, (b, s, 1), generator=rng)
    mask[-1, 1:] = False
    return mask


@points(3, "q1", value=True)
@cases(k=[2, 9])
def test_q1_level(student, rng, k):
    """Output and weights of a level are those of the formula."""
    x, W, c = normal(rng, 2, k, 3), normal(rng, 5, 3), normal(rng, 5)
    mask = torch.ones(2, k, dtype=torch.bool)
    mask[0, 0] = False
    output, weights = student.level(x, mask, W, c)
    for i in range(2):
        rows = [x[i, j].double() for j in range(k) if mask[i, j]]
        want, share = slow_level(rows, W, c)
        assert close(output[i], want, atol=1e-4)
        assert close(weights[i][mask[i]], torch.tensor(share), atol=1e-4)


@points(1, "q1")
def test_q1_nothing(student, rng):
    """Where the mask leaves nothing, output and weights are zero and not NaN."""
    mask = torch.tensor([[True, False], [False, False]])
    x, W, c = normal(rng, 2, 2, 3), normal(rng, 4, 3), normal(rng, 4)
    output, weights = student.level(x, mask, W, c)
    assert same(output[1], torch.zeros(3)) and same(weights[1], torch.zeros(2))


@points(1, "q1")
def test_q1_large(student, rng):
    """Scores in the thousands, of either sign, give finite weights."""
    x, mask = normal(rng, 1, 3, 2), torch.ones(1, 3, dtype=torch.bool)
    _, weights = student.level(x, mask, normal(rng, 2, 2), torch.tensor([3000.0, 2000.0]))
    assert close(weights.sum(1), torch.ones(1), atol=1e-4)


@points(3, "q1", value=True)
def test_q1_read(student, rng):
    """Documents are read word by word, then sentence by sentence."""
    mask, x = masked(rng, 3, 4, 5), normal(rng, 3, 4, 5, 3)
    first, second = [(normal(rng, 6, 3), normal(rng, 6)) for _ in range(2)]
    got = student.read(x, mask, *first, *second)
    for i in range(3):
        rows = [[x[i, j, n].double() for n in range(5) if mask[i, j, n]] for j in range(4)]
        vectors = [slow_level(row, *first)[0] for row in rows if row]
        assert close(got[i], slow_level(vectors, *second)[0], atol=1e-4)


@points(2, "q1")
def test_q1_other_batch(student, rng):
    """A document is read alike with more padding around it, whatever stands there."""
    x, mask = normal(rng, 1, 2, 3, 4), torch.ones(1, 2, 3, dtype=torch.bool)
    given = [normal(rng, *n) for n in ((5, 4), (5,), (5, 4), (5,))]
    wide, wide_mask = torch.full((1, 4, 5, 4), 1e4), torch.zeros(1, 4, 5, dtype=torch.bool)
    wide[:, :2, :3], wide_mask[:, :2, :3] = x, True
    alone, padded = student.read(x, mask, *given), student.read(wide, wide_mask, *given)
    assert close(padded, alone, atol=1e-4)


@points(3, "q2", value=True)
def test_q2_shares(student, rng):
    """A word's share is its weight times that of its sentence, and shares sum to one."""
    words, sentences = normal(rng, 2, 3, 4).softmax(2), normal(rng, 2, 3).softmax(1)
    got = student.shares(words, sentences)
    assert close(got.sum((1, 2)), torch.ones(2), atol=1e-4)
    assert close(got[1, 2, 3], words[1, 2, 3] * sentences[1, 2], atol=1e-5)


@points(4, "q2", value=True)
@cases(s=[3, 8])
def test_q2_erase(student, rng, s):
    """Without a sentence the others share the weight anew."""
    scores, votes = normal(rng, s), normal(rng, s)

    def logit(keep):
        parts = {i: BASE ** float(scores[i]) for i in keep}
        return sum(part * float(votes[i]) for i, part in parts.items()) / sum(parts.values())

    whole = logit(range(s))
    want = [logit([j for j in range(s) if j != i]) - whole for i in range(s)]
    assert close(student.erase(scores, votes), torch.tensor(want), atol=1e-4)


@points(1, "q2")
def test_q2_thousands(student, rng):
    """Scores in the thousands give finite changes, also where the largest one is erased."""
    got = student.erase(torch.tensor([3000.0, 1000.0, -2000.0]), torch.tensor([1.0, 2.0, 4.0]))
    assert close(got, torch.tensor([1.0, 0.0, 0.0]), atol=1e-4)


@points(3, "q3", value=True)
def test_q3_ties(student, rng):
    """Equal numbers share the mean of their ranks."""
    got = student.ranks(torch.tensor([1.0, 0.0, 1.0, 5.0, 1.0]))
    assert close(got, torch.tensor([3.0, 1, 3, 5, 3]), atol=1e-5)


@points(4, "q3", value=True)
def test_q3_agreement(student, rng):
    """The agreement is the correlation of ranks."""

    def rank(x):
        return torch.tensor([float((x < v).sum() + (x <= v).sum() + 1) / 2 for v in x])

    for _ in range(5):
        weights, ratings = normal(rng, 7), (2 * normal(rng, 7)).round()
        strong = ratings.abs()
        want = torch.corrcoef(torch.stack([rank(weights), rank(strong)]))[0, 1]
        got = float(student.agreement(weights, ratings))
        assert abs(got - float(want.nan_to_num())) < 1e-4


@points(1, "q3")
def test_q3_constant(student, rng):
    """Equal weights agree with nothing."""
    assert abs(float(student.agreement(torch.full((4,), 0.25), normal(rng, 4)))) < 1e-6


@points(5, "q4", value=True)
def test_q4_padding(student, rng):
    """Short documents and short sentences are means of what they have."""
    mask, x = masked(rng, 3, 4, 5), normal(rng, 3, 4, 5, 2)
    got = student.mean_of_means(x, mask)
    for i in range(3):
        each = [x[i, j][mask[i, j]].mean(0) for j in range(4) if mask[i, j].any()]
        assert close(got[i], scale(len(each)) * torch.stack(each).mean(0), atol=1e-5)


@points(1, "q4")
def test_q4_empty(student, rng):
    """A document without a word is zero."""
    got = student.mean_of_means(normal(rng, 1, 2, 3, 4), torch.zeros(1, 2, 3, dtype=torch.bool))
    assert same(got, torch.zeros(1, 4))
