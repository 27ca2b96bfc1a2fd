"""Self-checks: they travel in the students' notebook. Messages say what is probably wrong."""

import torch

from coursegrade.testing import close, normal, points, same, unit


def wide(far):
    """The width of a window that reaches so many places to either side."""
    return 1 + far


@points(1, "q1")
def test_q1_keys(student, rng):
    """A window that reaches two places has three keys at an end and five in the middle."""
    got = student.window(9, 9, wide(2))
    assert tuple(got.shape) == (9, 9), f"shape {tuple(got.shape)}, not (q, k)"
    counts = got.sum(1).tolist()
    assert counts[0] == counts[8] == 3, f"the tokens at the ends have {counts[0]}, {counts[8]} keys"
    assert counts[4] == 5, (
        f"the token in the middle has {counts[4]} keys: two on each side, or not?"
    )


@points(1, "q1")
def test_q1_new_rows(student, rng):
    """With an offset come the rows that the whole mask has from there on."""
    patterns = {
        **{"window": (wide(2),), "dilated": (2, 2)},
        **{"blocks": (4,), "global_tokens": ([0, 8],)},
    }
    for name, args in patterns.items():
        pattern = getattr(student, name)
        rows, whole = pattern(3, 10, *args, offset=7), pattern(10, 10, *args)
        assert tuple(rows.shape) == (3, 10), f"{name} has shape {tuple(rows.shape)}, not (q, k)"
        assert whole.any(), f"{name} keeps no pair"
        assert same(rows, whole[7:]), f"{name}: with an offset the queries stand elsewhere"


def texts(rng):
    """Marked tokens, lengths, a width and chosen keys."""
    marked = torch.zeros(2, 8, dtype=torch.bool)
    marked[0, 1] = marked[1, 4] = True
    chosen = torch.randint(8, (8, 2), generator=rng)
    return marked, torch.tensor([8, 5]), wide(1), chosen


@points(1, "q2")
def test_q2_padding_unseen(student, rng):
    """Nobody attends to padding, whoever is marked or drawn."""
    *args, chosen = texts(rng)
    for got in (student.longformer(*args), student.bigbird(*args, chosen)):
        assert tuple(got.shape) == (2, 8, 8), f"shape {tuple(got.shape)}, not (b, n, n)"
        assert got[1, :, :5].any(), "nobody attends to anything"
        assert not got[1, :, 5:].any(), "padding is attended to: is the restriction the last step?"


@points(1, "q2")
def test_q2_brackets(student, rng):
    """With causal nobody looks ahead, whatever the pattern."""
    *args, chosen = texts(rng)
    for got in (student.longformer(*args, True), student.bigbird(*args, chosen, True)):
        assert got[0].diagonal().all(), "a token is to see itself"
        assert not got.triu(1).any(), "somebody looks ahead: & binds more tightly than |"


@points(1, "q3")
def test_q3_all_pairs(student, rng):
    """A window that reaches to both ends keeps all pairs."""
    got = student.pairs(6, wide(5)), student.pairs(6, wide(5), True)
    assert got[0] == 36, f"6 tokens, D = 5: {got[0]} pairs, not 36"
    assert got[1] == 21, f"6 tokens, D = 5, causal: {got[1]} pairs, not 21"


@points(1, "q3")
def test_q3_steps(student, rng):
    """Four layers carry four times as far as one, and for one place more it takes a fifth."""
    got = student.layers_needed(41, wide(10)), student.layers_needed(42, wide(10))
    assert got[0] == 4, f"D = 10, from place 40 to place 0: {got[0]} layers, not 4"
    assert got[1] == 5, f"D = 10, from place 41 to place 0: {got[1]} layers, not 5"


@points(1, "q3")
def test_q3_one_layer(student, rng):
    """After one layer a token depends on what it attends to, and on itself."""
    mask = unit(rng, 6, 6) < 0.4
    got = student.reach(mask.unsqueeze(0))
    assert tuple(got.shape) == (6, 6), f"shape {tuple(got.shape)}, not (n, n)"
    assert got.diagonal().all(), "a token is to keep what it has: there is a residual connection"
    off = ~torch.eye(6, dtype=torch.bool)
    assert same(got * off, mask & off), "one layer is the mask, with the query in the row"


@points(1, "q4")
def test_q4_first_token(student, rng):
    """With a causal window the first token has its own value, in texts of any length."""
    for n in (1, 4, 7, 12):
        V = normal(rng, 2, n, 3)
        args = normal(rng, 2, n, 5), normal(rng, 2, n, 5), V, torch.tensor([n, n]), wide(3), True
        got = student.window_attention(*args)
        assert tuple(got.shape) == (2, n, 3), f"shape {tuple(got.shape)}, not (b, n, e)"
        assert close(got[:, 0], V[:, 0], atol=1e-5), (
            "the first output is not the first value: what else has weight there?"
        )


@points(1, "q4")
def test_q4_means(student, rng):
    """Where all scores are equal, each output is the mean of its window."""
    V, zeros = torch.arange(10.0).reshape(1, 10, 1), torch.zeros(1, 10, 2)
    got = student.window_attention(zeros, zeros, V, torch.tensor([10]), wide(2))[0, :, 0]
    want = torch.tensor([1.0, 1.5, *range(2, 8), 7.5, 8.0])
    assert close(got, want, atol=1e-4), (
        f"place j has the value j, D = 2, equal scores: {[round(x, 2) for x in got.tolist()]}"
    )


@points(1, "q5")
def test_q5_means(student, rng):
    """Where all scores are equal, each output is the mean over the keys that a token sees."""
    V, zeros = torch.tensor([8.0, 2.0, 0, 0, 0, 0, 0, 0]).unsqueeze(1), torch.zeros(8, 2)
    got = student.sink_attention(zeros, zeros, V, wide(2), 2)[:, 0]
    want = torch.tensor([8, 5, 10 / 3, 10 / 4, 10 / 5, 10 / 5, 10 / 5, 10 / 5])
    wrong = [i for i in range(8) if abs(float(got[i] - want[i])) > 1e-4]
    assert not wrong, f"8 tokens, D = 2, two sinks, equal scores: the means at {wrong} are wrong"
