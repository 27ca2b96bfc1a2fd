"""Hidden tests. The first line of a docstring is the hint in the students' feedback."""

import torch
from _coursegrade_public import HALF, INPUT, OWN, force

from coursegrade.testing import allowed, close, normal, points, same, some

SCALED = 0.5  # the power of d by which scores are divided


@points(1, "q1", value=True)
def test_q1_rows(student, rng):
    """Distances of many rows at the same time."""
    one, other = normal(rng, 2, 3, 5).softmax(-1), normal(rng, 2, 3, 5).softmax(-1)
    want = torch.zeros(2, 3)
    for i in range(5):
        want += HALF * (one[..., i] - other[..., i]).abs()
    assert close(student.moved(one, other), want, atol=1e-5)


def slow_farthest(weights, votes, mask):
    """Pair by pair, from lists of numbers."""
    found, distances = weights.clone().double(), torch.zeros(len(weights)).double()
    for b in range(len(weights)):
        w, v = weights[b].double(), votes[b].double()
        keys = [i for i in range(len(w)) if mask[b, i]]
        z = sum(w[i] * v[i] for i in keys)
        for i in keys:
            for j in keys:
                if not v[j] <= z <= v[i] or v[i] == v[j]:
                    continue
                t = (z - v[j]) / (v[i] - v[j])
                away = torch.zeros(len(w)).double()
                away[i], away[j] = t, 1 - t
                distance = HALF * (away - w).abs().sum()
                if distance > distances[b]:
                    found[b], distances[b] = away, distance
    return found, distances


def alike(got, want):
    """Both the weights and the distances."""
    return all(close(x, y, atol=1e-4) for x, y in zip(got, want, strict=True))


@points(3, "q1", value=True)
def test_q1_farthest(student, rng):
    """Rows of six keys, all of which may be attended to."""
    args = normal(rng, 5, 6).softmax(1), normal(rng, 5, 6), allowed(5, 6)
    assert alike(student.farthest(*args), slow_farthest(*args))


@points(3, "q1")
def test_q1_masked(student, rng):
    """Masked keys have large votes; what comes in stays as it is."""
    mask, scores = some(rng, 6, 9), normal(rng, 6, 9)
    mask[:, 3:8] = True
    weights = scores.masked_fill(~mask, -torch.inf).softmax(1)
    votes = normal(rng, 6, 9).masked_fill(~mask, 300.0)
    assert alike(student.farthest(weights, votes, mask), slow_farthest(weights, votes, mask))
    assert same(student.last_args[0], weights) and same(student.last_args[1], votes)


@points(1, "q1")
def test_q1_none(student, rng):
    """Where all votes are alike there is no counterfeit."""
    weights = normal(rng, 2, 4).softmax(1)
    got, distance = student.farthest(weights, torch.full((2, 4), 2.0), allowed(2, 4))
    assert close(got, weights) and close(distance, torch.zeros(2))


def slow_rollout(maps):
    """From the top down, in double precision."""
    through = torch.eye(maps.shape[-1]).double()
    for A in maps.double().flip(0):
        through = through @ ((1 - OWN) * A.mean(0) + OWN * torch.eye(A.shape[-1]))
    return through


@points(3, "q2", value=True)
def test_q2_layers(student, rng):
    """Three layers of two heads."""
    maps = normal(rng, 3, 2, 4, 4).softmax(-1)
    assert close(student.rollout(maps), slow_rollout(maps), atol=1e-5)


@points(3, "q2", value=True)
def test_q2_heads(student, rng):
    """Two layers of three heads, one head of the last at a time."""
    maps = normal(rng, 2, 3, 4, 4).softmax(-1)
    below = slow_rollout(maps[:1])
    own = torch.eye(4).double()
    want = [((1 - OWN) * head.double() + OWN * own) @ below for head in maps[1]]
    assert close(student.by_head(maps), torch.stack(want), atol=1e-5)


def slow_attend(q, k, v):
    """Head by head and place by place, nothing changed."""
    h, n, d = q.shape
    pooled, weights = torch.zeros(h, n, d), torch.zeros(h, n, n)
    for a in range(h):
        for i in range(n):
            scores = torch.stack([q[a, i] @ k[a, j] / d**SCALED for j in range(i + 1)])
            weights[a, i, : i + 1] = scores.softmax(0)
            pooled[a, i] = weights[a, i] @ v[a]
    return pooled, weights


@points(1, "q3", value=True)
def test_q3_plain(student, rng):
    """Nothing is changed: causal attention; and after it a head is forced."""
    q, k, v = (normal(rng, 2, 5, 3) for _ in range(3))
    assert alike(student.attend(q, k, v), slow_attend(q, k, v))
    assert close(student.attend(q, k, v, force)[0][0], v[0, :1].expand(5, 3), atol=1e-4)


@points(2, "q3", value=True)
def test_q3_used(student, rng):
    """One head is forced, the other stays: what is pooled follows from the changed weights."""
    q, k, v = (normal(rng, 2, 5, 3) for _ in range(3))
    got, _ = student.attend(q, k, v, force)
    assert close(got, force(slow_attend(q, k, v)[1]) @ v, atol=1e-4)


@points(1, "q3")
def test_q3_map(student, rng):
    """The map that comes back is the one that was used, also where a head is forced."""
    q, k, v = (normal(rng, 2, 5, 3) for _ in range(3))
    pooled, got = student.attend(q, k, v, force)
    assert close(got @ v, pooled, atol=1e-4)
    assert close(got[0], force(torch.zeros(2, 5, 5))[0])


def slow_layer(x, W, q, k, v):
    """Place by place."""
    rows = []
    for i in range(len(x)):
        share = torch.stack([(q[i] @ W[0]) @ (k[j] @ W[1]) for j in range(i + 1)]).softmax(0)
        rows.append(INPUT * x[i] + share @ (v[: i + 1] @ W[2]))
    return torch.stack(rows)


@points(2, "q4", value=True)
def test_q4_layer(student, rng):
    """All streams are x."""
    x, W = normal(rng, 5, 4), normal(rng, 3, 4, 4) / 2
    assert close(student.layer(x, W), slow_layer(x, W, x, x, x), atol=1e-4)


@points(2, "q4", value=True)
def test_q4_given(student, rng):
    """Queries and keys are given, each on its own."""
    x, y, W = normal(rng, 5, 4), normal(rng, 5, 4), normal(rng, 3, 4, 4) / 2
    assert close(student.layer(x, W, queries=y), slow_layer(x, W, y, x, x), atol=1e-4)
    assert close(student.layer(x, W, keys=y), slow_layer(x, W, x, y, x), atol=1e-4)


@points(3, "q4", value=True)
def test_q4_inside(student, rng):
    """The first three outputs: one of queries, keys and values comes from the other stream."""
    x, y, W = normal(rng, 5, 4), normal(rng, 5, 4), normal(rng, 3, 4, 4) / 2
    want = [slow_layer(x, W, y, x, x), slow_layer(x, W, x, y, x), slow_layer(x, W, x, x, y)]
    assert close(student.paths(x, y, W)[:3], torch.stack(want), atol=1e-4)


@points(2, "q4", value=True)
def test_q4_past(student, rng):
    """The fourth output: the other stream goes past the layer and into nothing else."""
    x, y, W = normal(rng, 5, 4), normal(rng, 5, 4), normal(rng, 3, 4, 4) / 2
    got = student.paths(x, y, W)
    assert tuple(got.shape) == (4, 5, 4)
    assert close(got[3], slow_layer(y, W, x, x, x), atol=1e-4)
