"""Hidden tests. The first line of a docstring is the hint in the students' feedback."""

import math

import torch

from coursegrade.testing import allowed, cases, close, draw, each, normal, points, same, unit

MEAN = 1.0  # pairs that a scored mean counts as
SIGN = 1  # of what stands first in a hash
APART = 0  # whether codes of different rounds differ
SCALE = 1.0  # of the scores of Q4, beside 1 / sqrt(d)
POWER = 0.5  # of d in the scores of Q4
FACTOR = 1.0  # of the scores of Q5


def slow_means(K, w, used):
    """Block by block."""
    rows = []
    for t in range(len(K)):
        for first in range(0, K.shape[1], w):
            own = [j for j in range(first, min(first + w, K.shape[1])) if used[t, j]]
            rows.append(sum((K[t, j] for j in own), torch.zeros(K.shape[2])) / max(1, len(own)))
    return torch.stack(rows).reshape(len(K), -1, K.shape[2])


@points(1, "q1", value=True)
def test_q1_means(student, rng):
    """All keys are used, and the last block is short."""
    K, w = 1 + normal(rng, 2, 11, 3), draw(rng, 3, 4)
    assert close(student.block_means(K, w, allowed(2, 11)), slow_means(K, w, allowed(2, 11)))


@points(1, "q1")
def test_q1_unused(student, rng):
    """Unused keys are large and in no mean; what comes in stays as it is."""
    K, used = normal(rng, 2, 11, 3), unit(rng, 2, 11) < 0.5
    used[:, ::4] = True  # one in each block
    used[0, 1] = False
    K[~used] = 30000.0
    assert close(student.block_means(K, 4, used), slow_means(K, 4, used))
    assert same(student.last_args[0], K)  # not changed


@points(1, "q1")
def test_q1_empty(student, rng):
    """The mean of a block without a used key is 0."""
    K, used, gone = normal(rng, 2, 9, 3), allowed(2, 9), 3 * draw(rng, 0, 2)
    used[0, gone : gone + 3] = False
    assert close(student.block_means(K, 3, used), slow_means(K, 3, used))


def slow_keep(fits, keep, w, used):
    """Query by query."""
    kept = torch.zeros(*fits.shape[:2], fits.shape[1], dtype=torch.bool)
    for t, i in each(*fits.shape[:2]):
        before = [C for C in range(i // w) if used[t, C * w : C * w + w].any()]
        before.sort(key=lambda C, row=fits[t, i]: float(row[C]), reverse=True)
        for C in [i // w, *before[: keep - 1]]:
            for j in range(C * w, min(C * w + w, i + 1)):
                kept[t, i, j] = used[t, j]
    return kept


def sure(rng, n, w, own):
    """Fits with this one for each query's own block, and larger ones for the blocks after it."""
    place, number = torch.arange(n)[:, None] // w, torch.arange(-(-n // w))
    fits = normal(rng, 2, n, len(number)) + 20.0 * (number > place)
    return fits.masked_fill(number == place, own)


@points(1, "q1", value=True)
def test_q1_blocks(student, rng):
    """Two or three blocks are kept, and all keys are used."""
    keep, w = draw(rng, 2, 3), draw(rng, 3, 4)
    args = sure(rng, 14, w, -9.0), keep, w, allowed(2, 14)
    assert same(student.keep_blocks(*args), slow_keep(*args))


@points(1, "q1")
def test_q1_no_place(student, rng):
    """A block without a used key takes no place."""
    fits, used, gone = sure(rng, 15, 3, 9.0), allowed(2, 15), 3 * draw(rng, 0, 1)
    used[:, gone : gone + 3] = False
    fits[:, :, gone // 3] = 15.0
    got, want = student.keep_blocks(fits, 2, 3, used), slow_keep(fits, 2, 3, used)
    assert same(got[used], want[used])


@points(1, "q1")
def test_q1_padding(student, rng):
    """Unused keys are not kept, nor are later ones; all blocks are."""
    used = allowed(2, 11)
    used[0, draw(rng, 8, 9) :] = False
    used[1, :2] = False
    args = sure(rng, 11, 4, 1.0), 3, 4, used
    assert same(student.keep_blocks(*args)[used], slow_keep(*args)[used])


def slow_pairs(n, w, keep):
    """Keys are counted one by one."""
    total = 0
    for i in range(n):
        blocks = range(max(0, i // w - keep + 1), i // w + 1)  # any of them: as many
        total += MEAN * (i // w) + sum(j // w in blocks for j in range(i + 1))
    return total


@points(1, "q1", value=True)
def test_q1_pairs(student, rng):
    """More blocks than are kept, the last one short."""
    args = draw(rng, 25, 30), draw(rng, 3, 4), draw(rng, 2, 4)
    assert abs(student.pairs(*args) - slow_pairs(*args)) < 1e-6


@points(1, "q1")
def test_q1_one_block(student, rng):
    """There is one block, and nothing to choose."""
    args = draw(rng, 4, 8), draw(rng, 9, 12), draw(rng, 2, 3)
    assert abs(student.pairs(*args) - slow_pairs(*args)) < 1e-6


@points(1, "q2", value=True)
def test_q2_codes(student, rng):
    """Several rounds of six codes, vectors of all lengths."""
    x, H = 3 * normal(rng, 2, 9, 4), normal(rng, 3, 4, 3)
    got, rows = student.hash_codes(x, H), []
    for r, numbers in enumerate(H):
        both = [SIGN * (x @ numbers), -SIGN * (x @ numbers)]
        rows.append(torch.cat(both, dim=2).argmax(2) + 6 * r * APART)
    assert same(got, torch.stack(rows, dim=2))


def slow_buckets(one, other, mask):
    """Pair by pair."""
    kept = torch.zeros_like(mask)
    for t, i, j in mask.nonzero().tolist():
        kept[t, i, j] = any(x == y for x, y in zip(one[t, i], other[t, j], strict=True))
    return kept


@points(1, "q2", value=True)
def test_q2_buckets(student, rng):
    """Three rounds; half of the pairs are allowed."""
    one, other = (torch.randint(5, (2, n, 3), generator=rng) for n in (6, 7))
    other[0, 0], one[0, 0] = torch.tensor([0, 1, 2]), torch.tensor([1, 2, 0])
    other[0, 1] = torch.tensor([1, 3, 4])
    mask = unit(rng, 2, 6, 7) < 0.5
    mask[0, 0, :2] = True
    args = one, other, mask
    assert same(student.same_bucket(*args), slow_buckets(*args))


@points(1, "q2")
def test_q2_masked(student, rng):
    """One round, and pairs with equal codes that the mask forbids."""
    one, other = (torch.randint(2, (2, n, 1), generator=rng) for n in (5, 6))
    mask = unit(rng, 2, 5, 6) < 0.5
    one[0, 0], other[0, 0], mask[0, 0, 0] = 1, 1, False
    args = one, other, mask
    assert same(student.same_bucket(*args), slow_buckets(*args))


@points(1, "q2", value=True)
@cases(rounds=[2, 3])
def test_q2_share(student, rng, rounds):
    """Vectors of all lengths and at all angles."""
    Q, K = 3 * normal(rng, 2, 3, 4), 0.3 * normal(rng, 2, 5, 4)
    lengths = Q.norm(dim=2)[:, :, None] * K.norm(dim=2)[:, None]
    apart = torch.acos(Q @ K.mT / lengths) / math.pi
    assert close(student.kept_share(Q, K, rounds), 1 - apart**rounds)


@points(1, "q2")
def test_q2_alike(student, rng):
    """Equal vectors are always kept, opposite ones never, and nothing is NaN."""
    x = 10 * normal(rng, 1, 80, 7)
    assert close(student.kept_share(x, x, 1)[0].diagonal(), torch.ones(80), atol=0.01)
    assert close(student.kept_share(x, -x, 1)[0].diagonal(), torch.zeros(80), atol=0.01)


@points(1, "q2", value=True)
def test_q2_needed(student, rng):
    """The smallest number of rounds that is enough."""
    p, share = draw(rng, 21, 59) / 100 + 0.0031, draw(rng, 901, 989) / 1000 + 0.0004
    rounds = 1
    while 1 - (1 - p) ** rounds < share:
        rounds += 1
    assert student.rounds_needed(p, share) == rounds


@points(1, "q2")
def test_q2_rare(student, rng):
    """One round hardly ever keeps the pair."""
    p, share = draw(rng, 8, 13) / 7e12, draw(rng, 901, 989) / 1000
    want = -math.log(1 - share) * (1 / p - 0.5)
    assert abs(student.rounds_needed(p, share) / want - 1) < 1e-9


@points(1, "q2")
def test_q2_certain(student, rng):
    """One round always keeps the pair."""
    assert student.rounds_needed(1, draw(rng, 90, 99) / 100) == 1


def act(x):
    """What each product goes through."""
    return max(0.0, x)


@points(1, "q3", value=True)
def test_q3_scores(student, rng):
    """Three heads with weights of both signs; what comes in stays as it is."""
    Q, K, eta = normal(rng, 2, 3, 3, 4), normal(rng, 2, 5, 4), normal(rng, 2, 3, 3)
    want = torch.zeros(2, 3, 5)
    for t, i, j in each(*want.shape):
        heads = zip(eta[t, i].tolist(), Q[t, i], strict=True)
        want[t, i, j] = sum(weight * act(float(q @ K[t, j])) for weight, q in heads)
    assert close(student.indexer(Q, K, eta), want)
    assert same(student.last_args[0], Q)  # not changed


@points(1, "q3", value=True)
def test_q3_kept(student, rng):
    """The best of the allowed keys; masked ones have high scores."""
    scores, keep = normal(rng, 2, 4, 9), draw(rng, 2, 3)
    mask = unit(rng, 2, 4, 9).argsort(dim=2) < 5
    scores[~mask] = 30000.0
    want = mask & (scores >= scores.masked_fill(~mask, -9).sort(dim=2).values[:, :, -keep, None])
    assert same(student.keep_best(scores, keep, mask), want)


@points(1, "q3")
def test_q3_few(student, rng):
    """Fewer keys are allowed than are to be kept, or fewer are there."""
    keep, mask = draw(rng, 5, 8), unit(rng, 2, 6, 5) < 0.4
    mask[0, 0] = False
    assert same(student.keep_best(normal(rng, 2, 6, 5), keep, mask), mask)


def slow_divergence(scores, alpha, mask):
    """In double precision, query by query and key by key: the loss, and its slopes."""
    rows, back = [], torch.zeros(scores.shape)
    for t, i in mask.any(2).nonzero().tolist():
        own = mask[t, i].nonzero().flatten()
        s, a = scores[t, i, own].double(), alpha[t, :, i][:, own].double().sum(0) / alpha.shape[1]
        log = s - s.logsumexp(0)
        pairs = zip(a.tolist(), log.tolist(), strict=True)
        rows.append(sum(x * (math.log(x) - y) for x, y in pairs if x > 0))
        back[t, i, own] = (log.exp() - a).float()
    return torch.tensor(sum(rows) / len(rows)), back / len(rows)


def lesson(rng, h, mask):
    """Scores, and weights of dense attention."""
    b, q, k = mask.shape
    scores = torch.where(mask, 2 * normal(rng, b, q, k), 30000.0)
    fits = (2 * normal(rng, b, h, q, k)).masked_fill(~mask[:, None], -torch.inf)
    return scores, fits.softmax(3).nan_to_num(), mask


@points(1, "q3", value=True)
def test_q3_divergence(student, rng):
    """One head, and all keys allowed."""
    args = lesson(rng, 1, allowed(2, 3, 5))
    assert close(student.divergence(*args), slow_divergence(*args)[0])


@points(1, "q3")
def test_q3_heads(student, rng):
    """Several heads teach together."""
    args = lesson(rng, draw(rng, 2, 3), allowed(2, 3, 5))
    assert close(student.divergence(*args), slow_divergence(*args)[0])


@points(1, "q3")
def test_q3_zeros(student, rng):
    """Some weights of attention are exactly zero."""
    scores, alpha, mask = lesson(rng, 1, allowed(2, 3, 5))
    alpha[:, :, :, draw(rng, 0, 4)] = 0
    alpha = alpha / alpha.sum(3, keepdim=True)
    want = slow_divergence(scores, alpha, mask)[0]
    assert close(student.divergence(scores, alpha, mask), want)


@points(1, "q3")
def test_q3_large(student, rng):
    """Scores in the hundreds, where attention looks elsewhere."""
    scores, alpha, mask = lesson(rng, 1, allowed(2, 3, 5))
    scores[:, :, draw(rng, 0, 4)] += 400.0
    want = slow_divergence(scores, alpha, mask)[0]
    assert close(student.divergence(scores, alpha, mask), want)


def gaps(rng):
    """A mask with masked keys, and a query that has none."""
    mask = unit(rng, 2, 3, 6).argsort(dim=2) < 4
    mask[draw(rng, 0, 1), draw(rng, 0, 2)] = False
    return mask


@points(1, "q3")
def test_q3_nothing(student, rng):
    """Masked keys, and a query without any, which is not in the mean."""
    args = lesson(rng, 1, gaps(rng))
    assert close(student.divergence(*args), slow_divergence(*args)[0])


@points(1, "q3", value=True)
def test_q3_back(student, rng):
    """The gradient, with two heads and all keys allowed."""
    args = lesson(rng, 2, allowed(2, 3, 5))
    assert close(student.divergence_back(*args), slow_divergence(*args)[1])


@points(1, "q3")
def test_q3_back_nothing(student, rng):
    """Masked keys and a query without any have no gradient, and do not count."""
    args = lesson(rng, 2, gaps(rng))
    assert close(student.divergence_back(*args), slow_divergence(*args)[1])


def slow_part(Q, K, V, mask):
    """In double precision, query by query."""
    output, log = torch.zeros(*mask.shape[:2], V.shape[2]), torch.full(mask.shape[:2], -torch.inf)
    for t, i in mask.any(2).nonzero().tolist():
        own = mask[t, i].nonzero().flatten()
        fits = SCALE * (K[t, own].double() @ Q[t, i].double()) / Q.shape[2] ** POWER
        log[t, i] = fits.logsumexp(0)
        output[t, i] = ((fits - fits.logsumexp(0)).exp() @ V[t, own].double()).float()
    return output, log


def set_of_keys(rng):
    """Queries, keys, values and a mask that allows four of six keys."""
    mask = unit(rng, 2, 3, 6).argsort(dim=2) < 4
    return normal(rng, 2, 3, 4), normal(rng, 2, 6, 4), normal(rng, 2, 6, 5), mask


def both_close(got, want, at=...):
    for ours, theirs in zip(got, want, strict=True):
        assert close(ours[at], theirs[at])


@points(1, "q4", value=True)
def test_q4_part(student, rng):
    """Outputs and logarithms, with some keys masked."""
    args = set_of_keys(rng)
    both_close(student.part(*args), slow_part(*args))


@points(1, "q4")
def test_q4_nothing(student, rng):
    """A query that may attend to no key of the set."""
    args = set_of_keys(rng)
    args[3][:, draw(rng, 0, 2)] = False
    both_close(student.part(*args), slow_part(*args), ~args[3].any(2))


@points(1, "q4")
def test_q4_large(student, rng):
    """Scores in the hundreds, all keys allowed."""
    Q, K, V, mask = set_of_keys(rng)
    K = 0.1 * K
    K[:, :, 0] += 10.0
    Q[:, :, 0] = 40.0
    args = Q, K, V, allowed(mask.shape)
    assert close(student.part(*args), slow_part(*args), atol=1e-3)


def sets(rng, c=4):
    """Outputs and logarithms of some sets of keys."""
    return normal(rng, 2, 3, c, 5), 2 * normal(rng, 2, 3, c)


def slow_join(outputs, logs):
    """In double precision."""
    total = logs.double().logsumexp(2)
    shares = (logs.double() - total[:, :, None]).exp().nan_to_num()
    return torch.einsum("bqc,bqce->bqe", shares, outputs.double()).float(), total.float()


@points(1, "q4", value=True)
def test_q4_join(student, rng):
    """Outputs of several sets with unequal sums."""
    args = sets(rng, draw(rng, 3, 5))
    assert close(student.join(*args)[0], slow_join(*args)[0])


@points(1, "q4")
def test_q4_total(student, rng):
    """The logarithm of all sets together."""
    args = sets(rng)
    assert close(student.join(*args)[1], slow_join(*args)[1])


@points(1, "q4")
def test_q4_not_there(student, rng):
    """Sets of which a query saw nothing, all of them for one query."""
    outputs, logs = sets(rng)
    logs[:, 0, draw(rng, 0, 1)] = logs[1, 2, 2] = -torch.inf
    logs[draw(rng, 0, 1), 1] = -torch.inf
    outputs[logs == -torch.inf] = 3.0
    assert close(student.join(outputs, logs)[0], slow_join(outputs, logs)[0])


@points(1, "q4")
def test_q4_join_large(student, rng):
    """Logarithms in the hundreds."""
    outputs, logs = sets(rng)
    logs = logs + 100.0 * draw(rng, 3, 9)
    assert close(student.join(outputs, logs), slow_join(outputs, logs), atol=1e-3, rtol=1e-5)


@points(1, "q4")
def test_q4_back(student, rng):
    """No gradient is NaN where a query saw nothing."""
    args, (outputs, logs) = set_of_keys(rng), sets(rng)
    args[3][:, draw(rng, 0, 2)] = False
    logs[:, draw(rng, 0, 2)] = -torch.inf
    slopes = (
        *student.part.grad(*args, wrt=(0, 1, 2), of=0),
        *student.join.grad(outputs, logs, wrt=(0, 1), of=0),
    )
    assert all(x.isfinite().all() and (x != 0).any() for x in slopes)


def slow_blocks(Q, K, V, chosen, w):
    """Dense attention over the keys of the chosen blocks, query by query."""
    rows = []
    for i, numbers in enumerate(chosen.tolist()):
        own = [j for j in range(i + 1) if j // w in numbers]
        fits = FACTOR * (K[own] @ Q[i]) / K.shape[1] ** 0.5
        rows.append(fits.softmax(0) @ V[own])
    return torch.stack(rows)


def text(rng, n, w, keep):
    """A text whose queries chose so many blocks each, in any order, one of them their own."""
    own = torch.arange(n) // w
    order = unit(rng, n, -(-n // w))
    order[torch.arange(n), own] = 2.0
    early = (torch.arange(order.shape[1]) < own[:, None]).float()
    best = (order + early).argsort(dim=1, descending=True)[:, :keep]
    shuffled = best.gather(1, unit(rng, n, keep).argsort(dim=1))
    return *(1.5 * normal(rng, n, 4) for _ in "QKV"), shuffled, w


@points(1, "q5", value=True)
def test_q5_values(student, rng):
    """Each query chose its own block and another one."""
    args = text(rng, 12, 3, 2)
    assert close(student.block_attention(*args), slow_blocks(*args))


@points(1, "q5")
def test_q5_ends(student, rng):
    """The last query of each block."""
    w = draw(rng, 3, 4)
    args = text(rng, 12, w, 2)
    assert close(student.block_attention(*args)[w - 1 :: w], slow_blocks(*args)[w - 1 :: w])


@points(1, "q5")
def test_q5_short(student, rng):
    """The last block is short."""
    args = text(rng, draw(rng, 9, 11), 4, 2)
    assert close(student.block_attention(*args), slow_blocks(*args))


@points(1, "q5")
def test_q5_ahead(student, rng):
    """The first queries chose blocks that lie after them."""
    *args, chosen, w = text(rng, 12, 3, 2)
    chosen[: draw(rng, 1, 3)] = torch.tensor([2, 3])
    want = slow_blocks(*args, chosen, w)  # of no keys it is zero
    assert close(student.block_attention(*args, chosen, w), want)
