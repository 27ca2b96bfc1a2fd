"""Hidden tests. The first line of a docstring is the hint in the students' feedback."""

import torch
from _coursegrade_public import layer  # the self-checks' own
from torch.nn import functional as F

from coursegrade.testing import allowed, cases, close, loaded, normal, points, same, some, unit

FORBIDDEN = {"q2": ["F.scaled_dot_product_attention", "nn.MultiheadAttention"]}


@points(1, "q1", value=True)
@cases(h=[2, 4])
def test_q1_features(student, rng, h):
    """Head i has the features from i d to (i + 1) d of every place."""
    x = normal(rng, 2, 3, 8)
    want = torch.stack([x[:, :, i * 8 // h : (i + 1) * 8 // h] for i in range(h)], dim=1)
    assert same(student.split_heads(x, h), want)


@points(1, "q1", value=True)
def test_q1_join(student, rng):
    """Joined, the heads of one place stand side by side."""
    x = normal(rng, 2, 3, 3, 2)
    assert same(student.join_heads(x), torch.cat(x.unbind(1), dim=-1))


def slow_heads(queries, keys, values, W_q, W_k, W_v, W_o, h, mask=None):
    """One head at a time, by torch's own attention; an empty row by its definition."""
    output, weights = 0, []
    parts = zip(*(W.chunk(h) for W in (W_q, W_k, W_v)), W_o.chunk(h, dim=1), strict=True)
    for w_q, w_k, w_v, w_o in parts:
        q, k, v = queries @ w_q.T, keys @ w_k.T, values @ w_v.T
        one = torch.eye(k.shape[1]).expand(len(k), -1, -1)
        w = F.scaled_dot_product_attention(q, k, one, attn_mask=mask)
        w = w if mask is None else w.where(mask.any(-1, keepdim=True), 0.0)
        weights.append(w)
        output = output + w @ v @ w_o.T
    return output, torch.stack(weights, dim=1)


def inputs(rng, b=3):
    return normal(rng, b, 4, 5), normal(rng, b, 6, 4), normal(rng, b, 6, 7)


@points(1, "q2", value=True)
@cases(d=[2, 16])
def test_q2_scores(student, rng, d):
    """The scores of a head are divided by the root of its own number of features."""
    args, matrices, mask = inputs(rng), layer(rng, d=d), some(rng, 3, 4, 6)
    _, weights = student.multihead(*args, **matrices, h=2, mask=mask)
    _, want = slow_heads(*args, **matrices, h=2, mask=mask)
    assert close(weights, want)


@points(2, "q2", value=True)
def test_q2_output(student, rng):
    """The output joins what the heads have pooled, head after head, and projects it."""
    args, matrices, mask = inputs(rng), layer(rng, h=3, d=4), some(rng, 3, 4, 6)
    output, _ = student.multihead(*args, **matrices, h=3, mask=mask)
    want, _ = slow_heads(*args, **matrices, h=3, mask=mask)
    assert close(output, want)


@points(2, "q2")
def test_q2_as_many_heads_as_sequences(student, rng):
    """The mask belongs to sequences, also when there are as many of them as heads."""
    args, matrices = inputs(rng, b=2), layer(rng)
    mask = (torch.arange(6) < torch.tensor([[2], [5]])).unsqueeze(1).expand(2, 4, 6)
    output, weights = student.multihead(*args, **matrices, h=2, mask=mask)
    want = slow_heads(*args, **matrices, h=2, mask=mask)
    assert close(weights, want[1])
    assert close(output, want[0])


@points(1, "q2")
def test_q2_nothing_to_attend_to(student, rng):
    """A query that may attend to nothing reads zeros, not NaN and not the average."""
    args, matrices = inputs(rng), layer(rng)
    mask = allowed(3, 4, 6)
    mask[1, 2] = False
    output, weights = student.multihead(*args, **matrices, h=2, mask=mask)
    assert (weights[1, :, 2] == 0).all() and (output[1, 2] == 0).all()


@points(1, "q2")
def test_q2_one_head(student, rng):
    """One head over the whole width is plain scaled dot-product attention."""
    q, k, v = normal(rng, 2, 3, 4), normal(rng, 2, 5, 4), normal(rng, 2, 5, 4)
    output, _ = student.multihead(q, k, v, *[torch.eye(4)] * 4, 1)
    assert close(output, F.scaled_dot_product_attention(q, k, v))


@points(1, "q2")
def test_q2_low_scores(student, rng):
    """Masked keys stay at 0 in every head where the scores of the others are very low."""
    q, k = torch.full((1, 1, 2), -4000.0), 1000 + 500 * unit(rng, 1, 3, 2)
    k[0, 2] = 0.0  # masked, and its score is the highest by far
    twice, mask = torch.eye(2).repeat(2, 1), torch.tensor([[[True, True, False]]])
    _, weights = student.multihead(q, k, k, twice, twice, twice, twice.T, 2, mask)
    assert (weights[..., 2] == 0).all()
    assert close(weights.sum(3), torch.ones(1, 2, 1), atol=1e-4, rtol=0)


@points(1, "q2")
def test_q2_arguments(student, rng):
    """The arguments are not changed."""
    args, matrices = inputs(rng), list(layer(rng).values())
    mask = unit(rng, 3, 4, 6) > 0.2
    args = *args, *matrices, 2, mask
    assert student.multihead(*args)[1].shape == (3, 2, 4, 6)
    assert all(map(same, student.last_args, args))


@points(1, "q2")
def test_q2_gradient(student, rng):
    """Gradients reach the matrices of queries and keys, and stay finite at an empty row."""
    args, matrices = inputs(rng), list(layer(rng).values())
    mask = allowed(3, 4, 6)
    mask[0, 1], mask[2, :, 3:] = False, False
    got = student.multihead.grad(*args, *matrices, 2, mask, wrt=(3, 4), of=0)
    some = mask.any(-1, keepdim=True)  # by torch: an empty row is open, and then taken out

    def filled(W_q, W_k):
        heads = [slow_heads(*args, W_q, W_k, *matrices[2:], 2, mask | ~some)[0]]
        return (heads[0] * some).sum()

    want = torch.autograd.functional.jacobian(filled, tuple(matrices[:2]))
    assert close(got, want, atol=1e-3, rtol=1e-3)


def grouped(student, rng, d_model, h, kv):
    """The student's module with weights of ours, and those weights."""
    rows = {"W_q": d_model, "W_k": kv * d_model // h, "W_v": kv * d_model // h, "W_o": d_model}
    shapes = {f"{name}.weight": (n, d_model) for name, n in rows.items()}
    attend, weights = loaded(student.GroupedAttention(d_model, h, kv), rng, shapes, 0.5)
    return attend, *weights.values()


def slow_grouped(x, W_q, W_k, W_v, W_o, h, kv, mask=None):
    """Ordinary heads, in which the rows of shared matrices are written out."""
    g = h // kv
    W_k, W_v = (torch.cat([w for w in W.chunk(kv) for _ in range(g)]) for W in (W_k, W_v))
    return slow_heads(x, x, x, W_q, W_k, W_v, W_o, h, mask)[0]


@points(1, "q3", value=True)
@cases(kv=[2, 3, 6])
def test_q3_values(student, rng, kv):
    """Neighbouring heads share keys and values, and only what the mask allows is read."""
    attend, *weights = grouped(student, rng, 12, 6, kv)
    x, mask = normal(rng, 2, 5, 12), some(rng, 5, 5)
    assert close(attend(x, mask), slow_grouped(x, *weights, 6, kv, mask.expand(2, 5, 5)))


@points(1, "q3")
@cases(kv=[1, 4])
def test_q3_without_mask(student, rng, kv):
    """Without a mask everything is read, by one head of keys or by one for each query head."""
    attend, *weights = grouped(student, rng, 8, 4, kv)
    x = normal(rng, 2, 5, 8)
    assert close(attend(x), slow_grouped(x, *weights, 4, kv))


@points(2, "q3")
def test_q3_one_place(student, rng):
    """A single place reads itself: its own shared values, projected."""
    attend, _, _, W_v, W_o = grouped(student, rng, 8, 4, 2)
    x = normal(rng, 3, 1, 8)
    first, second = (x @ W_v.T).chunk(2, dim=-1)
    want = torch.cat((first, first, second, second), dim=-1) @ W_o.T
    assert close(attend(x, allowed(1, 1)), want)


@points(1, "q3")
def test_q3_gradient(student, rng):
    """Gradients flow back through queries, keys and values."""
    attend, *weights = grouped(student, rng, 8, 4, 2)
    x = normal(rng, 1, 4, 8)
    [got] = attend.forward.grad(x)
    x.requires_grad_()
    [want] = torch.autograd.grad(slow_grouped(x, *weights, 4, 2).sum(), x)
    assert close(got, want, atol=1e-3, rtol=1e-3)


def slow_switched(q, k, v, W_o, keep):
    parts = zip(q.unbind(1), k.unbind(1), v.unbind(1), W_o.chunk(len(keep), 1), keep, strict=True)
    return sum(f * F.scaled_dot_product_attention(*qkv) @ w.T for *qkv, w, f in parts)


def ready(rng, b=2, h=3):
    q, k, v = normal(rng, b, h, 3, 5), normal(rng, b, h, 6, 5), normal(rng, b, h, 6, 2)
    return q, k, v, normal(rng, 4, 2 * h)


@points(1, "q4")
def test_q4_all_in(student, rng):
    """With all heads in it is plain attention."""
    args = ready(rng)
    want = slow_switched(*args, torch.ones(3))
    assert close(student.switched(*args, torch.ones(3)), want)


@points(2, "q4", value=True)
def test_q4_one_out(student, rng):
    """A head taken out leaves exactly what the others contribute."""
    args, keep = ready(rng), torch.tensor([1.0, 0.0, 1.0])
    assert close(student.switched(*args, keep), slow_switched(*args, keep))


@points(1, "q4", value=True)
def test_q4_by_halves(student, rng):
    """A factor scales what a head contributes."""
    args, keep = ready(rng), torch.tensor([0.5, 1.0, 2.0])
    assert close(student.switched(*args, keep), slow_switched(*args, keep))


@points(1, "q4")
def test_q4_gradient(student, rng):
    """The gradient of the output for a factor is that head's contribution."""
    args = ready(rng)
    [got] = student.switched.grad(*args, torch.tensor([1.0, 0.0, 0.5]), wrt=(4,))
    want = torch.stack([slow_switched(*args, one).sum() for one in torch.eye(3)])
    assert close(got, want, atol=1e-3, rtol=1e-3)


def slow_importance(heads, W_o, bias, labels, h=1e-3):
    """Difference quotients, in double precision, one sequence and one head at a time."""
    heads, W_o, bias = heads.double(), W_o.double(), bias.double()
    total = torch.zeros(heads.shape[1], dtype=torch.float64)
    for x, y in zip(heads, labels, strict=True):
        for i in range(len(x)):
            loss = []
            for step in (-h, h):
                moved = x.clone()
                moved[i] *= 1 + step
                logits = torch.cat(moved.unbind(0), dim=-1) @ W_o.T + bias
                loss.append(F.cross_entropy(logits, y))
            total[i] += ((loss[1] - loss[0]) / (2 * h)).abs()
    return (total / len(heads)).float()


def labelled(rng, b=3):
    heads, W_o, bias = normal(rng, b, 4, 5, 2), normal(rng, 3, 8), 2 * normal(rng, 3)
    return heads, W_o, bias, torch.randint(3, (b, 5), generator=rng)


@points(1, "q5", value=True)
def test_q5_one_sequence(student, rng):
    """For one sequence: the absolute derivative of its mean cross-entropy."""
    heads, W_o, bias, labels = labelled(rng, b=1)
    heads[:, 1], W_o[:, 2:4] = -heads[:, 0], W_o[:, :2]  # their derivatives have opposite signs
    got, want = (f(heads, W_o, bias, labels) for f in (student.importance, slow_importance))
    assert close(got, want)


@points(2, "q5", value=True)
def test_q5_several(student, rng):
    """For several: first the absolute value for each sequence, then the mean."""
    args = labelled(rng)
    assert close(student.importance(*args), slow_importance(*args))


@points(1, "q5")
def test_q5_no_bias(student, rng):
    """With a bias of zero as well."""
    heads, W_o, bias, labels = labelled(rng)
    args = heads, W_o, 0 * bias, labels
    assert close(student.importance(*args), slow_importance(*args))


@points(1, "q5")
@cases(of=["sequences", "places"])
def test_q5_repeated(student, rng, of):
    """All sequences twice, or all places twice, change nothing: both are means."""
    heads, W_o, bias, labels = labelled(rng)
    rule = slow_importance if of == "places" else student.importance
    once = rule(heads, W_o, bias, labels)
    heads = torch.cat((heads, heads), dim=0 if of == "sequences" else 2)
    labels = torch.cat((labels, labels), dim=0 if of == "sequences" else 1)
    assert once.abs().sum() > 1e-3
    assert close(student.importance(heads, W_o, bias, labels), once, atol=1e-5, rtol=1e-3)


@points(1, "q5")
def test_q5_arguments(student, rng):
    """The arguments are not changed."""
    args = labelled(rng)
    assert student.importance(*args).shape == (4,)
    assert all(map(same, student.last_args, args))
