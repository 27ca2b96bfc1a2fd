"""Hidden tests. The first line of a docstring is the hint in the students' feedback."""

import torch
from _coursegrade_public import wide

from coursegrade.testing import allowed, cases, close, draw, each, normal, points, same


def table(rule, q, k):
    """A mask (q, k), one pair after the other."""
    rows = [[rule(i, j) for j in range(k)] for i in range(q)]
    return torch.tensor(rows, dtype=torch.bool).reshape(q, k)


def is_near(width, i, j):
    return abs(i - j) <= width - 1


def in_step(radius, dilation, i, j):
    return abs(i - j) in range(0, radius * dilation + 1, dilation)


def in_piece(size, i, j):
    return i // size == j // size


def is_global(places, i, j):
    return i in places or j in places


RULES = {
    **{"window": is_near, "dilated": in_step},
    **{"blocks": in_piece, "global_tokens": is_global},
}


def pattern(rng, name, n):
    """A pattern's numbers for n places."""
    return {
        "window": (wide(draw(rng, 1, 3)),),
        "dilated": (draw(rng, 1, 2), draw(rng, 2, 3)),
        "blocks": (draw(rng, 3, 4),),
        "global_tokens": ([0, n - 2],),
    }[name]


@points(1, "q1", value=True)
@cases(name=["window", "dilated", "blocks", "global_tokens"])
def test_q1_values(student, rng, name):
    """All pairs of the queries and keys of one sequence."""
    n = draw(rng, 12, 15)
    args = pattern(rng, name, n)
    want = table(lambda i, j: RULES[name](*args, i, j), n, n)
    assert same(getattr(student, name)(n, n, *args), want)


@points(1, "q1")
@cases(name=["window", "dilated", "blocks", "global_tokens"])
def test_q1_cache(student, rng, name):
    """The rows of a decoder's three new tokens."""
    n = draw(rng, 12, 15)
    args = pattern(rng, name, n)
    want = table(lambda i, j: RULES[name](*args, i + n - 3, j), 3, n)
    assert same(getattr(student, name)(3, n, *args, n - 3), want)


@points(1, "q1", value=True)
def test_q1_causal(student, rng):
    """A causal window ends at the query's own place, also with an offset."""
    width, n = wide(draw(rng, 2, 3)), draw(rng, 12, 15)
    want = table(lambda i, j: is_near(width, i + 5, j) and j <= i + 5, 4, n)
    assert same(student.window(4, n, width, 5, True), want)


def slow_joined(marked, lengths, width, chosen=None, causal=False):
    """One pair of each text after the other."""
    b, n = marked.shape
    mask = torch.zeros(b, n, n, dtype=torch.bool)
    for t, i, j in each(b, n, n):
        kept = abs(i - j) <= width - 1 or bool(marked[t, i] or marked[t, j])
        kept = kept or (chosen is not None and j in chosen[i].tolist())
        mask[t, i, j] = kept and j < int(lengths[t]) and (j <= i or not causal)
    return mask


def two_texts(rng, short=False, own=False):
    """Marked tokens, lengths and a width; `own`: in the texts other tokens are marked."""
    n = draw(rng, 10, 12)
    marked = torch.zeros(2, n, dtype=torch.bool)
    marked[:, draw(rng, 3, 4)] = True
    if own:
        marked[1] = marked[1].roll(3)
    return marked, torch.tensor([n, n - 3 if short else n]), wide(draw(rng, 1, 2))


def keys_of(rng, marked):
    """For each query a key five places away, and one that may lie anywhere, perhaps the same."""
    n = marked.shape[1]
    far = (torch.arange(n) + 5) % n
    return torch.stack((far, torch.randint(n, (n,), generator=rng)), dim=1)


def joined(student, rng, of, *args, causal=False):
    """What the student has, and what we have."""
    more = (keys_of(rng, args[0]),) if of == "bigbird" else ()
    want = slow_joined(*args, *(more or (None,)), causal)
    return getattr(student, of)(*args, *more, causal), want


@points(1, "q2", value=True)
@cases(of=["longformer", "bigbird"])
def test_q2_values(student, rng, of):
    """All pairs, in texts of unequal lengths whose marked tokens are the same."""
    got, want = joined(student, rng, of, *two_texts(rng, short=True))
    assert same(got, want)


@points(1, "q2")
def test_q2_own_marks(student, rng):
    """Each text has marked tokens of its own."""
    got, want = joined(student, rng, "longformer", *two_texts(rng, own=True))
    assert same(got, want)


@points(1, "q2", value=True)
@cases(of=["longformer", "bigbird"])
def test_q2_causal(student, rng, of):
    """The causal form of each, pair by pair."""
    got, want = joined(student, rng, of, *two_texts(rng), causal=True)
    assert same(got, want)


@points(1, "q2")
@cases(of=["longformer", "bigbird"])
def test_q2_padding(student, rng, of):
    """Padding that is marked; the marks that come in stay as they are."""
    args = two_texts(rng, short=True)
    args[0][:, -2:] = True
    got, want = joined(student, rng, of, *args)
    assert same(got, want)
    assert same(student.last_args[0], args[0])  # not changed


def slow_pairs(n, width, causal):
    return sum(is_near(width, i, j) and (j <= i or not causal) for i, j in each(n, n))


@points(1, "q3", value=True)
@cases(causal=[False, True])
def test_q3_pairs(student, rng, causal):
    """The pairs of a window that is narrower than the text."""
    n, width = draw(rng, 14, 30), wide(draw(rng, 2, 6))
    assert student.pairs(n, width, causal) == slow_pairs(n, width, causal)


@points(1, "q3")
def test_q3_short_text(student, rng):
    """A text that is shorter than the window, and one of a single token."""
    n, width = draw(rng, 4, 7), wide(draw(rng, 9, 12))
    assert student.pairs(n, width) == slow_pairs(n, width, False)
    assert student.pairs(1, width, True) == slow_pairs(1, width, True)


@points(1, "q3", value=True)
def test_q3_layers(student, rng):
    """Layers until the last token can depend on the first."""
    far, full = draw(rng, 3, 9), draw(rng, 2, 9)
    n = far * full + 1 + draw(rng, 1, far - 1)  # the last layer goes a part of its way
    assert student.layers_needed(n, wide(far)) == full + 1


@points(1, "q3")
def test_q3_never(student, rng):
    """A window of its own place alone never gets further, and one token needs no layer."""
    assert student.layers_needed(draw(rng, 5, 9), wide(0)) is None
    assert student.layers_needed(1, wide(0)) == 0


def slow_reach(masks):
    """Sets of places, from layer to layer."""
    seen = [{i} for i in range(masks.shape[1])]
    for mask in masks.tolist():
        seen = [
            seen[i].union(*(seen[j] for j, kept in enumerate(row) if kept))
            for i, row in enumerate(mask)
        ]
    return table(lambda i, j: j in seen[i], len(seen), len(seen))


def jumps(rng, n=16):
    """Each token sees the places two and three before it, not itself; the order is drawn."""
    order = torch.randperm(n, generator=rng)
    return table(lambda i, j: i - j in (2, 3), n, n)[order][:, order]


@points(1, "q3", value=True)
def test_q3_reach(student, rng):
    """Three equal layers in which no token attends to itself."""
    masks = jumps(rng).expand(3, 16, 16)
    assert same(student.reach(masks), slow_reach(masks))


@points(1, "q3")
def test_q3_order(student, rng):
    """Layers whose masks differ: their order counts."""
    n, size = 12, draw(rng, 3, 4)
    first, second = table(lambda i, j: j == i + 3, n, n), table(lambda i, j: j < size, n, n)
    masks = torch.stack((first, second))
    assert same(student.reach(masks), slow_reach(masks))


@points(1, "q3")
def test_q3_no_layer(student, rng):
    """Before the first layer a token depends on itself."""
    n = draw(rng, 4, 6)
    assert same(student.reach(torch.zeros(0, n, n, dtype=torch.bool)), torch.eye(n) > 0)


@points(1, "q3")
def test_q3_deep(student, rng):
    """A thousand layers: the number of ways grows beyond every bound, what is reached does not."""
    mask = table(lambda i, j: 0 <= i - j <= 4, 9, 9)
    assert same(student.reach(mask.expand(1000, 9, 9)), allowed(9, 9).tril())


@points(1, "q3")
def test_q3_long_text(student, rng):
    """So many tokens that only a formula can count their pairs."""
    n, far = 10**14 + draw(rng, 1, 99), draw(rng, 5, 20)
    first = sum(far + 1 + min(i, far) for i in range(far))  # at each end
    assert student.pairs(n, wide(far)) == 2 * first + (n - 2 * far) * (2 * far + 1)


def slow_attention(Q, K, V, lengths, width, causal=False):
    """One query after the other, over its own keys alone."""
    outputs = []
    for t, i in each(*Q.shape[:2]):
        outputs.append(one_query(Q[t], K[t], V[t], int(lengths[t]), width, causal, i))
    return torch.stack(outputs).reshape(*Q.shape[:2], V.shape[2])


def one_query(Q, K, V, length, width, causal, i):
    places = range(max(0, i - 99), min(length, i + 100))
    seen = [j for j in places if is_near(width, i, j) and (j <= i or not causal)]
    if not seen:
        return 0 * V[i].detach()
    weights = (K[seen] @ Q[i] / Q.shape[1] ** 0.5).softmax(0)
    return weights @ V[seen]


def text(rng, n, b=2, d=4, e=3):
    """Queries, keys and values."""
    return normal(rng, b, n, d), normal(rng, b, n, d), normal(rng, b, n, e)


@points(1, "q4", value=True)
@cases(causal=[False, True])
def test_q4_values(student, rng, causal):
    """Twelve tokens, D = 2; what comes in stays as it is."""
    args = *text(rng, 12), torch.tensor([12, 12]), wide(2), causal
    assert close(student.window_attention(*args), slow_attention(*args))
    assert all(map(same, student.last_args[:4], args))  # not changed


@points(1, "q4", value=True)
def test_q4_middle(student, rng):
    """Tokens whose whole window lies in the text."""
    far = draw(rng, 2, 3)
    args = *text(rng, 16), torch.tensor([16, 16]), wide(far)
    got, want = student.window_attention(*args), slow_attention(*args)
    assert close(got[:, far:-far], want[:, far:-far])


@points(1, "q4")
def test_q4_uneven(student, rng):
    """Numbers of tokens that are multiples of nothing, and with D = 0 their own values."""
    for n, far in ((7, 2), (11, 2), (13, 2), (draw(rng, 5, 9), 0)):
        args = *text(rng, n), torch.tensor([n, n]), wide(far)
        assert close(student.window_attention(*args), slow_attention(*args))


@points(1, "q4")
def test_q4_short(student, rng):
    """A text that is shorter than the window."""
    n = draw(rng, 3, 5)
    args = *text(rng, n), torch.tensor([n, n - 1]), wide(draw(rng, 7, 9)), True
    assert close(student.window_attention(*args), slow_attention(*args))


@points(1, "q4")
def test_q4_padding(student, rng):
    """Padding has no weight, whatever stands there."""
    args = *text(rng, 13), torch.tensor([12, 10]), wide(3)
    for x in args[1:3]:
        x[0, 12:], x[1, 10:] = 30000.0, -20000.0
    assert close(student.window_attention(*args), slow_attention(*args), atol=1e-3)


@points(1, "q4")
@cases(what=["outputs", "gradient"])
def test_q4_nothing(student, rng, what):
    """Where no key is left the output is zero, and no gradient is NaN."""
    args = *text(rng, 13), torch.tensor([5, 0]), wide(2)
    if what == "outputs":
        got, want = student.window_attention(*args), slow_attention(*args)
    else:
        [got] = student.window_attention.grad(*args, wrt=(1,))
        args[1].requires_grad_()
        [want] = torch.autograd.grad(slow_attention(*args).sum(), args[1])
    assert close(got, want)


@points(1, "q4")
def test_q4_large(student, rng):
    """Large scores overflow nowhere, and those outside the window do not matter."""
    Q, K, V = text(rng, 14)
    args = 20 * Q, 20 * K, V, torch.tensor([14, 14]), wide(2)
    assert close(student.window_attention(*args), slow_attention(*args), atol=1e-3)


@points(1, "q4")
def test_q4_gradient(student, rng):
    """Gradients flow to queries, keys and values."""
    args = *text(rng, 9), torch.tensor([9, 9]), wide(2)
    got = student.window_attention.grad(*args, wrt=(0, 1, 2))
    inputs = [x.requires_grad_() for x in args[:3]]
    assert close(got, torch.autograd.grad(slow_attention(*args).sum(), inputs))


@points(3, "q4")
def test_q4_long(student, rng):
    """Thirty-six thousand tokens: memory that grows with their square is not there."""
    n = 36_000
    Q, K, V = text(rng, n, 1, 16, 1)
    got = student.window_attention(Q, K, V, torch.tensor([n]), wide(15))
    assert tuple(got.shape) == (1, n, 1)
    for i in (16, *(draw(rng, 20, n - 20) for _ in range(4)), n - 17):
        want = one_query(Q[0], K[0], V[0], n, wide(15), False, i)
        assert close(got[0, i], want)


def slow_sinks(Q, K, V, width, g):
    """One token after the other, over the keys that it sees."""
    rows = []
    for i in range(len(Q)):
        seen = [j for j in range(i + 1) if i - j <= width - 1 or j < g]
        rows.append((K[seen] @ Q[i] / Q.shape[1] ** 0.5).softmax(0) @ V[seen])
    return torch.stack(rows)


def one_text(rng, n):
    return [x[0] for x in text(rng, n, b=1)]


@points(1, "q5", value=True)
@cases(g=[2, 3])
def test_q5_values(student, rng, g):
    """All tokens of a text, with sinks that lie in one window."""
    args = *one_text(rng, 15), wide(2), g
    assert close(student.sink_attention(*args), slow_sinks(*args))


@points(1, "q5")
def test_q5_late(student, rng):
    """Tokens whose window has left the sinks behind."""
    args = *one_text(rng, 14), wide(3), 2
    assert close(student.sink_attention(*args)[6:], slow_sinks(*args)[6:])


@points(1, "q5")
def test_q5_many(student, rng):
    """More sinks than a window has keys: those behind a token stay out of its sight."""
    args = *one_text(rng, 12), wide(1), 6
    assert close(student.sink_attention(*args), slow_sinks(*args))
