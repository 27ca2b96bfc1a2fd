"""Hidden tests. The first line of a docstring is the hint in the students' feedback."""

import math

import torch

from coursegrade.testing import allowed, cases, close, draw, each, normal, points, same, unit

STEEP = 1.0  # of sparsemax
SLOPE = 1.0  # of entmax
SOFT = 1.0  # of what passes through
GATE = 1.0  # of the gates
LOG = 1.0  # of the gates in the scores of Q5


def some_of(rng, *shape):
    """A mask that allows three keys or more to each query."""
    return unit(rng, *shape).argsort(dim=-1) < draw(rng, 3, shape[-1] - 2)


def by_rows(rule, scores, mask, *more):
    """Weights: a rule for a list of scores, applied to the allowed ones of each row."""
    weights = torch.zeros(scores.shape)
    for place in each(*scores.shape[:-1]):
        row, kept = scores[tuple(place)], mask[tuple(place)]
        if kept.any():
            shares = rule(row[kept].tolist(), *(x[place[0]].item() for x in more))
            weights[tuple(place)] = weights[tuple(place)].masked_scatter(kept, torch.tensor(shares))
    return weights


def slow_sparsemax(row):
    """The largest number of keys that are all above the threshold which they need."""
    row = [STEEP * (x - max(row)) for x in row]
    ordered = sorted(row, reverse=True)
    for m in range(len(row), 0, -1):
        t = (sum(ordered[:m]) - 1) / m
        if ordered[m - 1] > t:
            return [max(0.0, x - t) for x in row]


def slow_entmax(row, beta):
    """Newton's way would be faster; a hundred halvings leave no doubt."""
    row = [SLOPE * (beta - 1) * (x - max(row)) for x in row]
    low, high = -1.0, 0.0
    for _ in range(100):
        t = (low + high) / 2
        shares = [max(0.0, x - t) ** (1 / (beta - 1)) for x in row]
        low, high = (t, high) if sum(shares) >= 1 else (low, t)
    return shares


def slow_softmax(row):
    shares = [math.exp(x - max(row)) for x in row]
    return [x / sum(shares) for x in shares]


@points(1, "q1", value=True)
@cases(width=[0.3, 2.0])
def test_q1_values(student, rng, width):
    """Scores of this width, all keys allowed; what comes in stays as it is."""
    scores = width * normal(rng, 2, 3, 7)
    want = by_rows(slow_sparsemax, scores, allowed(*scores.shape))
    assert close(student.sparsemax(scores, allowed(*scores.shape)), want)
    assert same(student.last_args[0], scores)  # not changed


@points(1, "q1")
def test_q1_masked(student, rng):
    """Masked keys have high scores and no weight."""
    scores, mask = normal(rng, 2, 4, 7) - 3, some_of(rng, 2, 4, 7)
    scores[~mask] = 30000.0
    assert close(student.sparsemax(scores, mask), by_rows(slow_sparsemax, scores, mask))


@points(1, "q1")
def test_q1_nothing(student, rng):
    """A query that may attend to nothing has zeros only."""
    scores, mask = normal(rng, 2, 3, 5), allowed(2, 3, 5)
    mask[0, draw(rng, 0, 2)] = mask[1, draw(rng, 0, 2)] = False
    assert close(student.sparsemax(scores, mask), by_rows(slow_sparsemax, scores, mask))


@points(1, "q1")
def test_q1_many(student, rng):
    """Thousands of keys with large scores: no number is lost in a sum."""
    n = draw(rng, 2500, 3000)
    scores = torch.full((1, 2, n), 20000.0 + draw(rng, 0, 99))
    got = student.sparsemax(scores, allowed(*scores.shape))
    assert close(got, torch.full_like(scores, 1 / n), atol=1e-6, rtol=1e-2)


def slow_back(weights, u):
    """Row by row, over the kept keys."""
    back = torch.zeros_like(u)
    rows = (x.flatten(0, 1) for x in (weights, u, back))
    for own, slopes, out in zip(*rows, strict=True):
        kept = own > 0
        out[kept] = STEEP * (slopes[kept] - slopes[kept].sum() / max(1, int(kept.sum())))
    return back


@points(1, "q1", value=True)
def test_q1_back_values(student, rng):
    """The gradient of rows of unequal weights."""
    scores, u = normal(rng, 2, 4, 6), 1 + normal(rng, 2, 4, 6)
    weights = by_rows(slow_sparsemax, scores, allowed(*scores.shape))
    assert close(student.sparsemax_back(weights, u), slow_back(weights, u))


@points(1, "q1")
def test_q1_back_nothing(student, rng):
    """Of a row of zeros nothing is sent back, and no NaN."""
    weights, u = normal(rng, 2, 3, 5).softmax(2), normal(rng, 2, 3, 5)
    weights[:, draw(rng, 0, 2)] = 0
    assert close(student.sparsemax_back(weights, u), slow_back(weights, u))


@points(1, "q2", value=True)
@cases(beta=[1.2, 1.5, 1.9])
def test_q2_values(student, rng, beta):
    """All heads have the same exponent; what comes in stays as it is."""
    scores, betas = 0.4 * normal(rng, 2, 4, 6), torch.full((2,), beta)
    want = by_rows(slow_entmax, scores, allowed(*scores.shape), betas)
    assert close(student.entmax(scores, betas, allowed(*scores.shape)), want)
    assert same(student.last_args[0], scores)  # not changed


@points(1, "q2")
def test_q2_own_exponents(student, rng):
    """Each head has an exponent of its own, one of them near 1."""
    scores, betas = normal(rng, 3, 2, 6), torch.tensor([2.0, 1.4, 1.06])
    want = by_rows(slow_entmax, scores, allowed(*scores.shape), betas)
    assert close(student.entmax(scores, betas, allowed(*scores.shape)), want)


@points(1, "q2")
def test_q2_masked(student, rng):
    """Keys that are masked have high scores and nothing of the weight."""
    scores, mask, betas = (
        0.4 * normal(rng, 2, 4, 7) - 3,
        some_of(rng, 2, 4, 7),
        torch.full((2,), 1.5),
    )
    scores[~mask] = 30000.0
    want = by_rows(slow_entmax, scores, mask, betas)
    assert close(student.entmax(scores, betas, mask), want)


@points(1, "q2")
def test_q2_nothing(student, rng):
    """For a query without any key all weights are zero."""
    scores, mask = 0.4 * normal(rng, 2, 3, 5), allowed(2, 3, 5)
    betas = torch.full((2,), 1.5)
    mask[0, draw(rng, 0, 2)] = mask[1, draw(rng, 0, 2)] = False
    want = by_rows(slow_entmax, scores, mask, betas)
    assert close(student.entmax(scores, betas, mask), want)


@points(1, "q2")
def test_q2_added(student, rng):
    """A large number is added to all scores."""
    steps = unit(rng, 2, 3, 12).argsort(dim=2) / 8  # no step is lost by adding
    scores, betas = 300000.0 + steps, torch.full((2,), 1.3)
    want = by_rows(slow_entmax, scores, allowed(*scores.shape), betas)
    assert close(student.entmax(scores, betas, allowed(*scores.shape)), want)


@points(1, "q2", value=True)
@cases(beta=[1.3, 1.7])
def test_q2_lead(student, rng, beta):
    """The lead gives the share that was wanted."""
    n, share = draw(rng, 4, 9), draw(rng, 50, 90) / 100
    got = student.lead(n, share, beta)
    assert abs(slow_entmax([got, *[0.0] * (n - 1)], beta)[0] - share) < 1e-4


@points(1, "q2")
def test_q2_everything(student, rng):
    """The lead of a softmax, and the one at which the others have nothing."""
    n, share = draw(rng, 10**11, 10**12), draw(rng, 10, 40) / 100
    assert abs(student.lead(n, share, 1) - math.log(share * (n - 1) / (1 - share)) / SLOPE) < 1e-4
    assert student.lead(n, 1, 1) == math.inf
    assert abs(student.lead(n, 1, 2) - 1 / SLOPE) < 1e-6


@points(2, "q3", value=True)
def test_q3_chosen(student, rng):
    """The best keys that each query may attend to; those that it may not take nobody's place."""
    scores, mask = normal(rng, 2, 4, 9), some_of(rng, 2, 4, 9)
    scores[~mask] = 30000.0
    want = mask & (scores >= scores.masked_fill(~mask, -9).sort(dim=2).values[:, :, -2, None])
    assert same(student.top_k_mask(scores, 2, mask), want)


@points(1, "q3")
def test_q3_few(student, rng):
    """Fewer keys are allowed than are to be kept, or fewer are there."""
    k, mask = draw(rng, 6, 9), unit(rng, 2, 6, 5) < 0.4
    mask[0, 0] = False
    assert same(student.top_k_mask(normal(rng, 2, 6, 5), k, mask), mask)


def choice(rng):
    """Scores, values, how many keys are kept, and a mask."""
    mask = some_of(rng, 2, 3, 7)
    return normal(rng, 2, 3, 7), 1 + normal(rng, 2, 7, 4), 2, mask


def reference(scores, V, k, mask):
    """Hard weights and soft ones, without a choice that is learned."""
    best = scores.masked_fill(~mask, -9).sort(dim=2).values[:, :, -k, None]
    hard = scores.masked_fill(~mask | (scores < best), -torch.inf).softmax(dim=2)
    soft = (SOFT * scores).masked_fill(~mask, -torch.inf).softmax(dim=2)
    return hard, soft


@points(1, "q3", value=True)
def test_q3_output(student, rng):
    """The outputs of a softmax over the kept keys."""
    args = choice(rng)
    hard, _ = reference(*args)
    assert close(student.pass_through(*args), hard @ args[1])


@points(2, "q3", value=True)
def test_q3_back(student, rng):
    """The outputs again, and the scores get the gradient of the soft weights, all of them."""
    scores, V, k, mask = choice(rng)
    output = student.pass_through(scores, V, k, mask)
    [got] = student.pass_through.grad(scores, V, k, mask)
    hard, soft = reference(scores.requires_grad_(), V, k, mask)
    [want] = torch.autograd.grad((soft @ V).sum(), scores)
    assert close(output, hard @ V) and close(got, want)


@points(1, "q3")
def test_q3_values_back(student, rng):
    """The values get the gradient of the weights that were used."""
    args = choice(rng)
    [got] = student.pass_through.grad(*args, wrt=(1,))
    assert close(got, reference(*args)[0].sum(1).unsqueeze(2).expand(2, 7, 4))


@points(1, "q3")
def test_q3_nothing(student, rng):
    """Where no key is allowed the output is zero, and no gradient is NaN."""
    (scores, V, _, mask), k = choice(rng), 7
    mask[:, draw(rng, 0, 2)] = False
    got = student.pass_through(scores, V, k, mask)
    gone = ~mask.any(2)
    assert got.isfinite().all() and (got[gone] == 0).all() and (got[~gone] != 0).all()
    for slopes in student.pass_through.grad(scores, V, k, mask, wrt=(0, 1)):
        assert slopes.isfinite().all() and (slopes != 0).any()


@points(1, "q3", value=True)
def test_q3_reinforce(student, rng):
    """Estimates of rows with rewards and drawn keys of their own."""
    b, k = draw(rng, 4, 6), draw(rng, 3, 5)
    weights, rewards = normal(rng, b, k).softmax(1), normal(rng, b)
    drawn = torch.randint(k, (b,), generator=rng)
    want = -weights * (rewards - 0.7)[:, None]
    for i, j in enumerate(drawn.tolist()):
        want[i, j] += rewards[i] - 0.7
    assert close(student.reinforce(weights, drawn, rewards, 0.7), want)


def pairs(rng):
    """Scores, relevance, values and a mask."""
    scores, logits, V = normal(rng, 2, 3, 6), 2 * normal(rng, 2, 3, 6), normal(rng, 2, 6, 4)
    return scores, logits, V, some_of(rng, 2, 3, 6)


def slow_gated(scores, logits, V, where, mask):
    """In double precision, the logarithm of each gate by itself."""
    log_gates = -torch.logaddexp(torch.zeros(()).double(), -GATE * logits.double())
    if where == "scores":
        weights = by_rows(slow_softmax, scores + log_gates, mask)
    else:
        weights = by_rows(slow_softmax, scores, mask) * log_gates.exp().float()
    return weights @ V, weights


@points(1, "q4", value=True)
@cases(where=["values", "scores"])
def test_q4_gated(student, rng, where):
    """Outputs and weights, with some keys masked and one query that has none."""
    scores, logits, V, mask = pairs(rng)
    mask[0, draw(rng, 0, 2)] = False
    got = student.gated(scores, logits, V, where, mask)
    assert close(got, slow_gated(scores, logits, V, where, mask))


@points(1, "q4")
def test_q4_shut(student, rng):
    """Gates that are almost shut, all of them, in either place."""
    scores, logits, V, mask = pairs(rng)
    for where in ("values", "scores"):
        args = scores, logits - 400, V, where, mask
        assert close(student.gated(*args), slow_gated(*args), atol=1e-3, rtol=1e-2)


@points(1, "q4", value=True)
def test_q4_penalty(student, rng):
    """The mean gate of all allowed pairs, of which rows have unequal numbers."""
    _, logits, _, mask = pairs(rng)
    mask[0, 0] = False
    mask[1, 1] = torch.arange(6) == draw(rng, 0, 5)
    logits[~mask] = -20000.0
    of = [1 / (1 + math.exp(-GATE * x)) for x in logits[mask].tolist()]
    assert close(
        student.penalty(logits, mask), torch.tensor(sum(of) / len(of)), atol=1e-5, rtol=1e-4
    )


def slow_sinks(scores, sinks, mask):
    """One more key for each row, taken away afterwards."""
    b, h, q, _ = scores.shape
    more = torch.cat((scores, sinks[:, None, None].expand(b, h, q, 1)), dim=3)
    on = torch.cat((mask, allowed(b, 1, q, 1)), dim=3)
    return by_rows(slow_softmax, more, on.expand_as(more))[..., :-1]


@points(1, "q4", value=True)
def test_q4_sink(student, rng):
    """Weights of two heads whose sinks are alike, with masked keys."""
    scores, mask = normal(rng, 2, 2, 3, 6), some_of(rng, 2, 1, 3, 6)
    scores.masked_fill_(~mask, 30000.0)
    sinks = torch.full((2,), 0.5 + draw(rng, 1, 9) / 10)
    assert close(student.sink_softmax(scores, sinks, mask), slow_sinks(scores, sinks, mask))


@points(1, "q4")
def test_q4_own_sinks(student, rng):
    """Each head has a sink of its own."""
    scores, sinks = normal(rng, 2, 3, 3, 5), torch.tensor([-1.0, 0.5, 2.0])
    mask = allowed(2, 1, 3, 5)
    assert close(student.sink_softmax(scores, sinks, mask), slow_sinks(scores, sinks, mask))


@points(1, "q4")
def test_q4_sink_alone(student, rng):
    """Large scores, and a query for which the sink is all there is."""
    scores, mask = 200 + 50 * normal(rng, 1, 2, 3, 5), allowed(1, 1, 3, 5)
    mask[:, :, draw(rng, 0, 2)] = False
    sinks = torch.full((2,), 200.0)
    want = slow_sinks(scores, sinks, mask)
    assert close(student.sink_softmax(scores, sinks, mask), want, atol=1e-3, rtol=1e-2)


def slow_judged(kept, needles):
    """Query by query."""
    recalls, precisions = [], []
    rows = (x.flatten(0, 1).tolist() for x in (kept, needles))
    for k, n in zip(*rows, strict=True):
        both = sum(x and y for x, y in zip(k, n, strict=True))
        recalls += [both / sum(n)] if sum(n) else []
        precisions += [both / sum(k)] if sum(k) else []
    return [sum(x) / len(x) if x else None for x in (recalls, precisions)]


@points(1, "q4", value=True)
def test_q4_judged(student, rng):
    """Recall and precision on haystacks; all queries have needles, of unequal numbers."""
    order = unit(rng, 2, 4, 12).argsort(dim=2)
    needles = order < torch.tensor([2, 3, 4, 4])[:, None]
    kept = (order > 0) & (order < torch.tensor([7, 9, 4, 5])[:, None])
    for ours, theirs in zip(
        student.recall_precision(kept, needles), slow_judged(kept, needles), strict=True
    ):
        assert abs(ours - theirs) < 1e-5


@points(1, "q4")
def test_q4_some(student, rng):
    """Queries without needles, and queries that keep nothing."""
    order = unit(rng, 2, 3, 8).argsort(dim=2)
    needles = order < torch.tensor([0, 2, 3])[:, None]
    kept = (order > 0) & (order < torch.tensor([5, 0, 5])[:, None])
    got, want = student.recall_precision(kept, needles), slow_judged(kept, needles)
    assert abs(got[0] - want[0]) < 1e-5 and abs(got[1] - want[1]) < 1e-5


@points(1, "q4")
def test_q4_none(student, rng):
    """A batch where nothing is kept, and one without needles."""
    needles = unit(rng, 2, 3, 8).argsort(dim=2) < draw(rng, 1, 3)
    kept, nothing = ~needles, torch.zeros_like(needles)
    assert tuple(student.recall_precision(nothing, needles)) == (0, None)
    assert tuple(student.recall_precision(kept, nothing)) == (None, 0)


def slow_scan(Q, K, V, logits, lengths, keep):
    """One query after the other, over its own keys alone."""
    rows = []
    for t, i in each(*Q.shape[:2]):
        own = logits[t, i, : lengths[t]].tolist()
        best = sorted(range(len(own)), key=lambda j: own[j], reverse=True)[:keep]
        fits = [float(Q[t, i] @ K[t, j]) / Q.shape[2] ** 0.5 for j in best]
        gates = [-LOG * math.log(1 + math.exp(-own[j])) for j in best]
        weights = slow_softmax([x + y for x, y in zip(fits, gates, strict=True)])
        rows.append(torch.tensor(weights) @ V[t, best])
    return torch.stack(rows).reshape(*Q.shape[:2], V.shape[2])


def texts(rng, short):
    """Two texts, one of them with so many tokens."""
    args = [normal(rng, 2, n, 4) for n in (5, 8, 8)]
    return *args, 3 * normal(rng, 2, 5, 8), torch.tensor([8, short])


@points(1, "q5", value=True)
@cases(keep=[3, 4])
def test_q5_values(student, rng, keep):
    """All queries of a long text and of a short one."""
    args = *texts(rng, 2), keep
    assert close(student.scan_attention(*args), slow_scan(*args))


@points(1, "q5")
def test_q5_one(student, rng):
    """A text of a single token beside a long one."""
    args = *texts(rng, 1), draw(rng, 2, 3)
    args[2][1, 1:] = 30000.0
    assert close(student.scan_attention(*args)[1], slow_scan(*args)[1])


@points(1, "q5")
def test_q5_all(student, rng):
    """All keys are kept, and no relevance is alike."""
    args = *texts(rng, 8), 8
    assert close(student.scan_attention(*args), slow_scan(*args))
