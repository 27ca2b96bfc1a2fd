"""Hidden tests. The first line of a docstring is the hint in the students' feedback."""

import math
from copy import deepcopy

import torch

from coursegrade.testing import allowed, cases, close, in_pieces, loaded, normal, points, same, some

FORBIDDEN = {
    "q1": ["F.rms_norm", "torch.rms_norm", "nn.RMSNorm"],
    "q2": ["F.scaled_dot_product_attention", "nn.MultiheadAttention"],
}


def slow_norm(x, gain, eps=1e-6):
    """One token after the other, in double precision."""
    rows = []
    for token in x.double().reshape(-1, x.shape[-1]):
        size = math.sqrt(sum(value**2 for value in token.tolist()) / len(token) + eps)
        rows.append(token / size * gain)
    return torch.stack(rows).reshape(x.shape).float()


@points(1, "q1", value=True)
@cases(axes=[1, 4])
def test_q1_norm_formula(student, rng, axes):
    """The root of the mean square over the last axis, and the gain, for any number of axes."""
    x, gain = 2 * normal(rng, *(2, 3, 4, 8)[4 - axes :]) + 1, 1 + normal(rng, 8) / 2
    assert close(student.rms_norm(x, gain), slow_norm(x, gain))


@points(1, "q1")
@cases(eps=[1e-6, 0.3])
def test_q1_eps(student, rng, eps):
    """The epsilon that is given counts, and stands inside the root."""
    x, gain = normal(rng, 3, 8) * eps**0.5, 1 + normal(rng, 8) / 2
    assert close(student.rms_norm(x, gain, eps), slow_norm(x, gain, eps))
    assert student.rms_norm(torch.zeros(2, 8), gain, eps).abs().max() == 0


@points(1, "q1")
def test_q1_norm_gradient(student, rng):
    """Gradients flow through the mean square as well."""
    x, gain = normal(rng, 2, 6), 1 + normal(rng, 6) / 2
    [got] = student.rms_norm.grad(x, gain)
    x.requires_grad_()
    size = (x.square().mean(1, keepdim=True) + 1e-6).sqrt()
    [want] = torch.autograd.grad((x / size * gain).sum(), x)
    assert close(got, want)


def slow_turn(x, first):
    """Pairs as complex numbers."""
    p = x.shape[-1]
    speeds = torch.tensor([10_000.0 ** (-2 * f / p) for f in range(p // 2)], dtype=torch.float64)
    places = torch.arange(first, first + x.shape[-2], dtype=torch.float64)
    by = torch.polar(torch.ones(len(places), p // 2).double(), places.unsqueeze(1) * speeds)
    pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * by).flatten(-2).float()


@points(1, "q1", value=True)
@cases(first=[0, 7])
def test_q1_turn_formula(student, rng, first):
    """Each pair of neighbours is turned by its own angle at its own place."""
    x = normal(rng, 6, 8)
    assert close(student.turn(x, first), slow_turn(x, first))


@points(1, "q1")
@cases(shape=["5, 2", "2, 3, 4, 6", "1, 4, 1, 8"])
def test_q1_turn_axes(student, rng, shape):
    """Any axes before those of tokens and features, any even number of features."""
    x = normal(rng, *map(int, shape.split(",")))
    assert close(student.turn(x, 2), slow_turn(x, 2))


@points(1, "q1")
def test_q1_arguments(student, rng):
    """What comes in stays as it is."""
    x, gain = normal(rng, 2, 4, 6), 1 + normal(rng, 6) / 2
    assert not same(student.rms_norm(x.clone(), gain), x)
    assert same(student.last_args[0], x)
    assert not same(student.turn(x.clone(), 1), x)
    assert same(student.last_args[0], x)


def slow_grouped(q, k, v, mask):
    """One query of one head after the other; rows without a key are zero."""
    (b, h, n, p), g = q.shape, k.shape[1]
    out = torch.zeros(b, h, n, p, dtype=torch.float64)
    for i in range(b):
        allowed = mask if mask.dim() == 2 else mask[i]
        for z in range(h):
            keys, values = (x[i, z * g // h].double() for x in (k, v))
            for j in range(n):
                seen = allowed[j].nonzero().flatten()
                if len(seen):
                    scores = keys[seen] @ q[i, z, j].double() / p**0.5
                    out[i, z, j] = scores.softmax(0) @ values[seen]
    return out.float()


def heads(rng, b=2, h=4, g=2, n=3, k=5, p=6):
    q, keys, values = normal(rng, b, h, n, p), normal(rng, b, g, k, p), normal(rng, b, g, k, p)
    return 2 * q, keys, values


@points(1, "q2")
@cases(g=[1, 2])
def test_q2_grouped(student, rng, g):
    """Heads of queries in groups, scaled scores, with nothing masked."""
    q, k, v = heads(rng, g=g)
    mask = allowed(3, 5)
    assert close(student.grouped(q, k, v, mask), slow_grouped(q, k, v, mask))


@points(1, "q2", value=True)
@cases(g=[2, 4])
def test_q2_mask(student, rng, g):
    """True means that a query may attend to a key, with one mask for all."""
    q, k, v = heads(rng, g=g)
    mask = some(rng, 3, 5)
    assert close(student.grouped(q, k, v, mask), slow_grouped(q, k, v, mask))


@points(1, "q2")
@cases(h=[2, 4])
def test_q2_mask_of_each(student, rng, h):
    """A mask (b, n, k) is one for each sentence, also where there are as many heads."""
    q, k, v = heads(rng, b=4, h=h)
    mask = some(rng, 4, 3, 5)
    assert close(student.grouped(q, k, v, mask), slow_grouped(q, k, v, mask))


@points(1, "q2")
def test_q2_empty_row(student, rng):
    """A query without a key gets zeros and leaves the others alone, in one sentence of several."""
    q, k, v = heads(rng, b=3)
    mask = some(rng, 3, 3, 5)
    mask[1, 2] = False
    assert close(student.grouped(q, k, v, mask), slow_grouped(q, k, v, mask))
    assert all(map(same, student.last_args, (q, k, v, mask)))  # not changed


@points(1, "q2")
def test_q2_large_scores(student, rng):
    """Large scores give neither infinity nor NaN, and masked ones do not matter however large."""
    q, k, v = heads(rng)
    k = k + 200  # all scores of a query are moved by the same amount
    mask = some(rng, 3, 5)
    loud = k.clone()
    loud[:, :, 1] = 1e4  # masked for every query
    want = slow_grouped(q, k, v, mask)
    assert close(student.grouped(q, loud, v, mask), want, atol=5e-3, rtol=5e-3)


@points(1, "q2")
def test_q2_gradient(student, rng):
    """Gradients flow to the queries, and are zero, not NaN, where there is no key."""
    q, k, v = heads(rng)
    mask = some(rng, 3, 5)
    mask[1] = False
    [got] = student.grouped.grad(q, k, v, mask)
    q.requires_grad_()
    [want] = torch.autograd.grad(slow_grouped(q, k, v, mask).sum(), q)
    assert close(got, want)


@points(1, "q2", value=True)
def test_q2_cache(student, rng):
    """Keys and values, layers, heads of keys, features of a head, tokens kept, sentences, bytes."""
    layers, g, b = (int(x) for x in torch.randint(2, 6, (3,), generator=rng))
    want = 2 * layers * g * 16 * 30 * b * 4
    assert student.cache_bytes(layers, 64 * g, 4 * g, g, 100, b, 4, 30) == want


@points(1, "q2")
def test_q2_window(student, rng):
    """A window keeps at most its own tokens, and no more than there are."""
    whole = student.cache_bytes(3, 32, 4, 2, 50)
    assert whole > 0
    assert student.cache_bytes(3, 32, 4, 2, 200, window=50) == whole
    assert student.cache_bytes(3, 32, 4, 2, 50, window=200) == whole


def slow_top_p(row, p):
    """One row, token by token."""
    shares = row.double().softmax(0).tolist()
    order = sorted(range(len(shares)), key=lambda i: -shares[i])
    kept, total = [], 0.0
    while total < p - 1e-9 and len(kept) < len(order):
        kept.append(order[len(kept)])
        total += shares[kept[-1]]
    return torch.tensor([shares[i] / total if i in kept else 0.0 for i in range(len(shares))])


def slow_min_p(row, p):
    shares = row.double().softmax(0)
    edge = p * float(shares.max())
    kept = [x if x >= edge else 0.0 for x in shares.tolist()]
    return torch.tensor([x / sum(kept) for x in kept])


def each_row(rule, logits, p):
    rows = [rule(row, p) for row in logits.reshape(-1, logits.shape[-1])]
    return torch.stack(rows).reshape(logits.shape)


@points(1, "q3", value=True)
@cases(p=[0.6, 0.9])
def test_q3_top_p(student, rng, p):
    """The fewest of the likeliest that have the share, with their own numbers."""
    logits = 2 * normal(rng, 24, 9)
    assert close(student.top_p(logits, p), each_row(slow_top_p, logits, p))


@points(1, "q3", value=True)
@cases(p=[0.2, 0.5])
def test_q3_min_p(student, rng, p):
    """A part of the largest probability is enough, and what stays sums to one."""
    logits = 1.5 * normal(rng, 24, 9)
    assert close(student.min_p(logits, p), each_row(slow_min_p, logits, p))


@points(1, "q3")
def test_q3_axes(student, rng):
    """One row and many rows, each cut by itself; the logits stay as they are."""
    for shape in ((9,), (2, 3, 9)):
        logits = 2 * normal(rng, *shape)
        for cut, rule in ((student.top_p, slow_top_p), (student.min_p, slow_min_p)):
            want = each_row(rule, logits, 0.5)
            assert close(cut(logits.clone(), 0.5), want)
            assert same(student.last_args[0], logits)


@points(1, "q3")
def test_q3_edge(student, rng):
    """A share that is just enough is enough, and of equals the smaller numbers stay."""
    equal = torch.zeros(4)
    half = torch.tensor([0.5, 0.5, 0.0, 0.0])
    assert close(student.top_p(equal, 0.5), half, atol=1e-5, rtol=0)
    quarters = torch.tensor([1 / 3, 1 / 3, 1 / 3, 0.0])
    assert close(student.top_p(equal, 0.7), quarters, atol=1e-5, rtol=0)


@points(1, "q3")
def test_q3_equals(student, rng):
    """All of several likeliest tokens stay by min-p at 1."""
    got = student.min_p(torch.tensor([3.0, 1.0, 3.0, 0.0]), 1.0)
    assert close(got, torch.tensor([0.5, 0.0, 0.5, 0.0]), atol=1e-5, rtol=0)


@points(1, "q3")
def test_q3_ends(student, rng):
    """The likeliest stays at the smallest share, and all stay where nothing is asked."""
    logits = 2 * normal(rng, 7)
    best = torch.zeros(7)
    best[logits.argmax()] = 1.0
    assert close(student.top_p(logits, 1e-6), best, atol=1e-6, rtol=0)
    assert close(student.top_p(logits, 1.0), logits.softmax(0))
    assert close(student.min_p(logits, 0.0), logits.softmax(0))


@points(1, "q3")
def test_q3_impossible(student, rng):
    """Large logits overflow nowhere, and impossible tokens have the probability 0."""
    logits = 200 + 2 * normal(rng, 5, 9)
    logits[:, 2] = -torch.inf
    for cut, rule in ((student.top_p, slow_top_p), (student.min_p, slow_min_p)):
        assert close(cut(logits, 0.4), each_row(rule, logits, 0.4))


def slow_loss(logits, targets, characters, pad):
    """One token at a time, in double precision."""
    total, written = 0.0, 0
    for row, target in zip(logits.flatten(0, 1), targets.flatten().tolist(), strict=True):
        if target != pad:
            total -= float(row.double().log_softmax(0)[target]) / math.log(2)
            written += int(characters[target])
    return torch.tensor(total / written)


def batch(rng, pad=0, v=7):
    """Logits, targets of which some are `pad`, and characters; one token writes none."""
    targets = torch.randint(v - 1, (3, 5), generator=rng)
    targets += targets >= pad
    targets[0, 3:], targets[2, 1:] = pad, pad
    targets[1, 4] = (pad + 1) % v
    characters = torch.randint(1, 6, (v,), generator=rng)
    characters[(pad + 1) % v] = 0  # the end
    characters[pad] = 3  # a pad that is shown would be seen
    logits = 2 * normal(rng, 3, 5, v)
    logits[2, 0, targets[2, 0]] -= 10  # the one token of the short text is a surprise
    logits[targets == pad, pad] -= 10  # padding would be costly
    return logits, targets, characters


@points(1, "q4", value=True)
def test_q4_formula(student, rng):
    """The bits of all valid tokens over the characters that they write."""
    given = batch(rng)
    want = slow_loss(*given, 0)
    assert close(student.per_character(*given, 0), want, atol=1e-4, rtol=1e-4)


@points(1, "q4")
def test_q4_other_cut(student, rng):
    """Equally likely tokens: a text in long tokens and in short ones, each by its characters."""
    for n, long in ((6, 1), (3, 2), (2, 3)):
        got = student.per_character(
            torch.zeros(1, n, 8), torch.ones(1, n, dtype=torch.int64), torch.full((8,), long), 0
        )
        assert close(got, torch.tensor(n * math.log(8) / math.log(2) / 6), atol=1e-4, rtol=1e-4)


@points(1, "q4")
def test_q4_other_pad(student, rng):
    """Any token may be the pad, and then the token 0 is one like others."""
    logits, targets, characters = batch(rng, pad=4)
    targets[1, :2] = 0
    want = slow_loss(logits, targets, characters, 4)
    assert close(student.per_character(logits, targets, characters, 4), want, atol=1e-4, rtol=1e-4)


@points(1, "q4")
def test_q4_never_pad(student, rng):
    """A model that never says pad has a finite loss."""
    logits, targets, characters = batch(rng)
    logits[:, :, 0] = -torch.inf
    want = slow_loss(logits, targets, characters, 0)
    assert close(student.per_character(logits, targets, characters, 0), want, atol=1e-4, rtol=1e-4)


@points(1, "q4")
def test_q4_end(student, rng):
    """A token that writes nothing is to be predicted all the same."""
    logits, targets, characters = batch(rng)
    before = student.per_character(logits, targets, characters, 0)
    assert all(map(same, student.last_args[:3], (logits, targets, characters)))  # not changed
    logits[1, 4, 1] -= 20.0  # the end comes as a surprise
    assert student.per_character(logits, targets, characters, 0) > before + 0.1


@points(1, "q4")
def test_q4_nothing(student, rng):
    """Without any valid target the loss is 0, not NaN."""
    logits, targets, characters = batch(rng)
    assert student.per_character(logits, targets, characters, 0) > 0
    assert student.per_character(logits, 0 * targets, characters, 0) == 0


@points(1, "q4")
def test_q4_gradient(student, rng):
    """The gradient at a valid token is p - q over log 2 and the characters, and 0 at padding."""
    logits, targets, characters = batch(rng)
    [got] = student.per_character.grad(logits, targets, characters, 0)
    valid = (targets != 0).unsqueeze(2)
    written = characters[targets[targets != 0]].sum()
    want = (logits.softmax(2) - torch.eye(7)[targets]) * valid / written / math.log(2)
    assert close(got, want, atol=1e-5, rtol=1e-3)


def cached(student, rng):
    rows = {"W_q.weight": 16, "W_k.weight": 4, "W_v.weight": 4, "W_o.weight": 16, "places": 64}
    shapes = {name: (n, 16) for name, n in rows.items()}
    return loaded(student.CachedAttention(16, 4, 3), rng, shapes, 0.5)


def slow_attention(p, x, window=3):
    """All tokens at once, one head after the other."""
    y = x + p["places"][: x.shape[1]]
    q, k, v = (y @ p[f"W_{name}.weight"].T for name in "qkv")
    far = torch.arange(x.shape[1]).unsqueeze(1) - torch.arange(x.shape[1])
    seen = (far >= 0) & (far < window)
    heads_of = [
        torch.where(seen, part @ k.mT / 2, -torch.inf).softmax(2) @ v for part in q.chunk(4, 2)
    ]
    read = torch.cat(heads_of, dim=2)
    return x + read @ p["W_o.weight"].T


@points(1, "q5")
def test_q5_at_once(student, rng):
    """All at once, in evaluation mode and in training mode: what was right stays right."""
    model, p = cached(student, rng)
    x = normal(rng, 2, 8, 16)
    for mode in (model.train, model.eval):
        mode()
        assert close(model(x)[0], slow_attention(p, x), atol=1e-3, rtol=1e-3)


@points(1, "q5", value=True)
@cases(b=[1, 3])
def test_q5_after_a_prompt(student, rng, b):
    """A prompt longer than the window, then token by token: each at its own place."""
    model, p = cached(student, rng)
    x = normal(rng, b, 8, 16)
    assert close(in_pieces(model, x, [5, 1, 1, 1]), slow_attention(p, x), atol=1e-3, rtol=1e-3)
    _, state = model(x[:, :5])
    kept = deepcopy(state)
    model(x[:, 5:], state)
    assert same(student.last_args[1], kept)


@points(1, "q5")
def test_q5_pieces(student, rng):
    """In pieces of several tokens, none of which sees a later one."""
    model, p = cached(student, rng)
    x = normal(rng, 2, 8, 16)
    assert close(in_pieces(model, x, [2, 4, 2]), slow_attention(p, x), atol=1e-3, rtol=1e-3)
