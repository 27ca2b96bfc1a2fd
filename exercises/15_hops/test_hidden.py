"""Hidden tests. The first line of a docstring is the hint in the students' feedback."""

import math
from itertools import pairwise

import torch

from coursegrade.testing import allowed, cases, close, draw, each, normal, points, same, unit

YOUNGEST = 0  # age of the last fact
WHOLE = 1.0  # what is found if all is
SMOOTH = 0.5  # of how many passages have a word
KEPT = 1.0  # of the state, when a hop adds to it


def lengths(rng, b, n):
    """A mask of stories of at least one fact, one of them full and one short."""
    long = torch.randint(1, n + 1, (b, 1), generator=rng)
    long[0], long[1] = n, n - 2
    return torch.arange(n) < long


def slow_sentence(ids, table):
    """Word by word."""
    out, d = torch.zeros(*ids.shape[:2], table.shape[1]), table.shape[1]
    for t, i in each(*ids.shape[:2]):
        words = [x for x in ids[t, i].tolist() if x]
        for j, x in enumerate(words, start=1):
            share = j / len(words)
            for k in range(1, d + 1):
                out[t, i, k - 1] += table[x, k - 1] * (1 - share - k / d * (1 - 2 * share))
    return out


@points(2, "q1", value=True)
def test_q1_sentence(student, rng):
    """Facts of four words, more features than two."""
    ids, table = torch.randint(1, 9, (2, 5, 4), generator=rng), normal(rng, 9, 6)
    table[0] = 0.0
    assert close(student.sentence(ids, table), slow_sentence(ids, table), atol=1e-4)


@points(1, "q1")
def test_q1_short(student, rng):
    """Facts of fewer words: padding adds nothing, and does not count as a word."""
    ids, table = torch.randint(1, 9, (2, 5, 4), generator=rng), normal(rng, 9, 6)
    ids[:, ::2, 3:], ids[:, 1, 1:] = 0, 0
    ids[1, 4] = 0
    table[0] = 300.0
    assert close(student.sentence(ids, table), slow_sentence(ids, table), atol=1e-4)


@points(1, "q1", value=True)
def test_q1_ages(student, rng):
    """Stories of many lengths."""
    mask, want = lengths(rng, 5, 7), torch.zeros(5, 7)
    for t, i in mask.nonzero().tolist():
        want[t, i] = mask[t, i + 1 :].sum() + YOUNGEST
    assert close(student.ages(mask), want)


def slow_hop(u, keys, values, mask):
    """Story by story, the facts that are there."""
    state, weights = u.clone(), torch.zeros(mask.shape)
    for t in range(len(u)):
        on = mask[t]
        if on.any():
            weights[t, on] = (keys[t, on] @ u[t]).softmax(0)
            state[t] += weights[t, on] @ values[t, on]
    return state, weights


def agrees(got, want):
    """Both the state and the weights."""
    return all(close(x, y, atol=1e-4) for x, y in zip(got, want, strict=True))


@points(2, "q1", value=True)
def test_q1_hop(student, rng):
    """Other keys than values, and all facts are there."""
    args = normal(rng, 3, 4), normal(rng, 3, 6, 4), normal(rng, 3, 6, 4), allowed(3, 6)
    assert agrees(student.hop(*args), slow_hop(*args))


@points(1, "q1")
def test_q1_masked(student, rng):
    """At padding stand keys that fit best and large values; what comes in stays as it is."""
    u, mask = normal(rng, 3, 4), lengths(rng, 3, 6)
    keys, values = normal(rng, 3, 6, 4), normal(rng, 3, 6, 4)
    keys[~mask], values[~mask] = (3 * u[:, None]).expand(3, 6, 4)[~mask], 30000.0
    assert agrees(student.hop(u, keys, values, mask), slow_hop(u, keys, values, mask))
    assert same(student.last_args[2], values)  # not changed


@points(1, "q1")
def test_q1_nothing(student, rng):
    """A story without facts keeps its state."""
    u, mask = normal(rng, 3, 4), lengths(rng, 3, 6)
    mask[2] = False
    args = u, normal(rng, 3, 6, 4), normal(rng, 3, 6, 4), mask
    assert agrees(student.hop(*args), slow_hop(*args))


@points(1, "q1")
def test_q1_large(student, rng):
    """Scores in the hundreds."""
    args = 30 * normal(rng, 3, 4), 9 * normal(rng, 3, 6, 4), normal(rng, 3, 6, 4), allowed(3, 6)
    assert agrees(student.hop(*args), slow_hop(*args))


def slow_reads(weights):
    """What each hop reads, story by story."""
    rows = []
    for story in weights.tolist():
        rows.append([max(range(len(row)), key=row.__getitem__) for row in story])
    return rows


def slow_found(weights, support):
    """Fact by fact."""
    hits = []
    for reads, places in zip(slow_reads(weights), support.tolist(), strict=True):
        hits += [place in reads for place in places if place >= 0]
    return WHOLE * sum(hits) / len(hits)


def supported(rng, b, s, n):
    """Places of supporting facts, no two of a story alike."""
    return torch.stack([torch.randperm(n, generator=rng)[:s] for _ in range(b)])


@points(2, "q2", value=True)
def test_q2_found(student, rng):
    """Many stories with two supporting facts each."""
    weights, support = unit(rng, 40, 3, 5), supported(rng, 40, 2, 5)
    got = float(student.found(weights, support))
    assert abs(got - slow_found(weights, support)) < 1e-4 * WHOLE


@points(1, "q2")
def test_q2_fewer(student, rng):
    """Some stories have a single supporting fact, and one has none."""
    weights, support = unit(rng, 40, 3, 5), supported(rng, 40, 2, 5)
    support[::3, 1], support[1] = -1, -1
    got = float(student.found(weights, support))
    assert abs(got - slow_found(weights, support)) < 1e-4 * WHOLE


@points(1, "q2")
def test_q2_each_fact(student, rng):
    """A story with three supporting facts counts three times."""
    weights, support = unit(rng, 2, 3, 6), torch.tensor([[0, 1, 2], [4, -1, -1]])
    weights[0, :, 3], weights[1, :, 4] = 2.0, 2.0
    got = float(student.found(weights, support))
    assert abs(got - 0.25 * WHOLE) < 1e-4 * WHOLE


def slow_order(weights, support):
    """Whether a story's places stand in its reads, story by story."""
    hits = []
    for reads, places in zip(slow_reads(weights), support.tolist(), strict=True):
        wanted, rest = [place for place in places if place >= 0], iter(reads)
        if wanted:
            hits.append(all(place in rest for place in wanted))
    return sum(hits) / len(hits)


@points(2, "q2", value=True)
def test_q2_in_order(student, rng):
    """Many stories of three facts, which two hops read."""
    weights, support = unit(rng, 60, 2, 3), supported(rng, 60, 2, 3)
    assert abs(float(student.in_order(weights, support)) - slow_order(weights, support)) < 1e-5


@points(1, "q2")
def test_q2_between(student, rng):
    """Other facts are read before and between those that matter."""
    reads = torch.tensor([[3, 0, 4, 1], [0, 0, 1, 1], [0, 3, 3, 4]])
    got = student.in_order(torch.eye(5)[reads], torch.tensor([[0, 1]] * 3))
    assert abs(float(got) - 2 / 3) < 1e-5


@points(1, "q2")
def test_q2_backwards(student, rng):
    """Both facts are read, the second one first."""
    reads = torch.tensor([[1, 0, 4], [0, 1, 4], [1, 0, 1]])
    got = student.in_order(torch.eye(5)[reads], torch.tensor([[0, 1]] * 3))
    assert abs(float(got) - 2 / 3) < 1e-5


@points(1, "q2")
def test_q2_unsupported(student, rng):
    """Stories without a supporting fact are not counted; one fact is an order."""
    reads = torch.tensor([[1, 0], [0, 1], [2, 4]])
    got = student.in_order(torch.eye(5)[reads], torch.tensor([[0, -1], [-1, -1], [3, -1]]))
    assert abs(float(got) - 0.5) < 1e-5


def slow_bm25(counts, query, k1, beta):
    """Passage by passage, word by word."""
    rows, sizes = [], [sum(row) for row in counts.tolist()]
    mean = sum(sizes) / len(sizes)
    for row, size in zip(counts.tolist(), sizes, strict=True):
        total = 0.0
        for t in set(query):
            has, f = sum(other[t] > 0 for other in counts.tolist()), row[t]
            rare = math.log(1 + (len(sizes) - has + SMOOTH) / (has + SMOOTH))
            if f:
                total += rare * f * (k1 + 1) / (f + k1 * (1 - beta + beta * size / mean))
        rows.append(total)
    return torch.tensor(rows)


def corpus(rng, p, v):
    """Counts of words: passages of unlike sizes, some words common and some rare."""
    often = unit(rng, v) * (1 + 4 * unit(rng, p, 1))
    return (often * unit(rng, p, v) * 2).long()


@points(3, "q3", value=True)
def test_q3_scores(student, rng):
    """Passages of many sizes, and three words."""
    counts = corpus(rng, 9, 12)
    args = counts, [1, 4, 7], 1.0 + float(unit(rng, 1)), 0.75
    assert close(student.bm25(*args), slow_bm25(*args), atol=1e-4)


@points(1, "q3")
def test_q3_twice(student, rng):
    """A query that has a word three times."""
    args = corpus(rng, 9, 12) + 1, [2, 5, 2, 2], 1.2, 0.5
    assert close(student.bm25(*args), slow_bm25(*args), atol=1e-4)


@points(1, "q3")
@cases(beta=[0.0, 1.0])
def test_q3_size(student, rng, beta):
    """The size of a passage counts as much as it should, with β ="""
    args = corpus(rng, 8, 10) + 1, [0, 3], 1.5, beta
    assert close(student.bm25(*args), slow_bm25(*args), atol=1e-4)


@points(1, "q3")
def test_q3_empty(student, rng):
    """A passage is empty, and β is 1."""
    counts = corpus(rng, 8, 10) + 1
    counts[draw(rng, 1, 6)] = 0
    args = counts, [0, 3], 1.5, 1.0
    assert close(student.bm25(*args), slow_bm25(*args), atol=1e-4)


def slow_recall(scores, gold, k):
    """Query by query, passages before the right one."""
    hits = []
    for row, right in zip(scores.tolist(), gold.tolist(), strict=True):
        better = sum(x > row[right] or (x == row[right] and i < right) for i, x in enumerate(row))
        hits.append(better < k)
    return sum(hits) / len(hits)


@points(2, "q3", value=True)
def test_q3_recall(student, rng):
    """Many queries, a few of the best."""
    args = normal(rng, 50, 9), torch.randint(9, (50,), generator=rng), draw(rng, 3, 4)
    assert abs(float(student.recall_at(*args)) - slow_recall(*args)) < 1e-5


@points(1, "q3")
def test_q3_equal(student, rng):
    """Of equal scores the first is better, and k may be large."""
    scores = torch.zeros(50, 9)
    scores[:, 4] = -1.0
    gold = torch.randint(9, (50,), generator=rng)
    for k in (3, 12):
        got = float(student.recall_at(scores, gold, k))
        assert abs(got - slow_recall(scores, gold, k)) < 1e-5


def slow_hops(question, memory, mask):
    """Hop by hop."""
    u, weights = question, []
    for keys, values in pairwise(memory):
        state, alpha = slow_hop(u, keys, values, mask)
        u = KEPT * u + (state - u)
        weights.append(alpha)
    return u, torch.stack(weights, 1)


@points(2, "q4", value=True)
def test_q4_three(student, rng):
    """Three hops over six facts."""
    args = normal(rng, 3, 4), [normal(rng, 3, 6, 4) for _ in range(4)], allowed(3, 6)
    assert agrees(student.hops(*args), slow_hops(*args))


@points(1, "q4")
def test_q4_padding(student, rng):
    """Two hops over stories with padding, whose keys fit best."""
    u, mask = normal(rng, 3, 4), lengths(rng, 3, 6)
    memory = [normal(rng, 3, 6, 4) for _ in range(3)]
    for part in memory:
        part[~mask] = (3 * u[:, None]).expand(3, 6, 4)[~mask]
    assert agrees(student.hops(u, memory, mask), slow_hops(u, memory, mask))
