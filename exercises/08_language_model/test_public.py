"""Self-checks: they travel in the students' notebook. Messages say what is probably wrong."""

import torch

from coursegrade.testing import allowed, close, normal, points


@points(1, "q1")
def test_q1_mean_square(student, rng):
    """Each token has mean square 1 when the gain changes nothing, and its mean is left."""
    x = 3 * normal(rng, 2, 5, 6) + 4
    got = student.rms_norm(x, torch.ones(6))
    assert tuple(got.shape) == (2, 5, 6), f"shape {tuple(got.shape)}: that of x is wanted"
    assert got.mean(2).abs().max() > 0.1, "the mean is taken away: that is layer norm"
    assert close(got.square().mean(2), torch.ones(2, 5), atol=1e-3), (
        "the mean square of a token is not 1: is it taken over the features?"
    )
    assert close(got / got[..., :1], x / x[..., :1], atol=1e-2), (
        "the features of a token are not all divided by the same number"
    )


@points(1, "q1")
def test_q1_distance(student, rng):
    """The score of two turned tokens depends on how far apart they are, not on where they stand."""
    x = normal(rng, 1, 8).expand(5, 8)
    at_0 = student.turn(x.clone(), 0)
    assert tuple(at_0.shape) == (5, 8), f"shape {tuple(at_0.shape)}: that of x is wanted"
    assert close(at_0[0], x[0], atol=1e-5), "the token at place 0 is not left as it is"
    assert not close(at_0[1], x[1], atol=1e-2), "the token at place 1 is not turned"
    lengths = at_0.square().sum(1)
    assert close(lengths, lengths[:1].expand(5), atol=1e-3), (
        "a turned token has another length: a sign is probably wrong"
    )
    at_3 = student.turn(x.clone(), 3)
    assert close(at_3[:2], at_0[3:], atol=1e-4), (
        "the tokens from place 3 on are not those that follow places 0, 1 and 2"
    )
    assert close(at_3 @ at_3.T, at_0 @ at_0.T, atol=1e-3), (
        "scores of equal distances differ when all places are 3 higher"
    )


@points(1, "q2")
def test_q2_who_reads_what(student, rng):
    """Every key may be read, and neighbours share a head of keys."""
    q, k, v = normal(rng, 2, 4, 3, 6), normal(rng, 2, 2, 5, 6), normal(rng, 2, 2, 5, 6)
    everything = allowed(3, 5)
    got = student.grouped(q, k, v, everything)
    assert tuple(got.shape) == (2, 4, 3, 6), f"shape {tuple(got.shape)}: that of q is wanted"
    other = v.clone()
    other[:, 1] = 0.0
    moved = student.grouped(q, k, other, everything)
    assert close(moved[:, :2], got[:, :2], atol=1e-5), (
        "heads 0 and 1 read the second head of values: neighbours are to share"
    )
    assert moved[:, 2:].abs().max() < 1e-5, "heads 2 and 3 do not read the second head of values"


@points(1, "q2")
def test_q2_nothing_to_read(student, rng):
    """A query that may attend to nothing gets zeros, and masked keys are not read."""
    q, k, v = normal(rng, 1, 2, 3, 4), normal(rng, 1, 1, 3, 4), normal(rng, 1, 1, 3, 4)
    mask = torch.tensor([[True, False, False], [False] * 3, [True, True, False]])
    got = student.grouped(q, k, v, mask)
    assert got.isfinite().all(), "NaN: the softmax of a row of -inf"
    assert got[:, :, 1].abs().max() == 0, "the query without a key does not get zeros"
    assert close(got[:, :, 0], v[:, :, 0].expand(1, 2, 4), atol=1e-5), (
        "a query with one key does not get its value: True means that it may attend"
    )


@points(1, "q2")
def test_q2_bytes(student, rng):
    """Twice as many tokens take twice the bytes, and one head of keys takes 1 / h of h heads."""
    one = student.cache_bytes(2, 32, 4, 4, 10)
    assert one == int(one), f"{one} is not a whole number"
    assert student.cache_bytes(2, 32, 4, 4, 20) == 2 * one, "tokens do not count"
    assert 4 * student.cache_bytes(2, 32, 4, 1, 10) == one, "heads of keys do not count"


@points(1, "q3")
def test_q3_four_tokens(student, rng):
    """Of 0.4, 0.3, 0.2 and 0.1, top-p at 0.6 keeps two and min-p at 0.45 three."""
    order = torch.randperm(4, generator=rng)
    logits = torch.tensor([0.4, 0.3, 0.2, 0.1])[order].log()
    got = student.top_p(logits, 0.6)
    assert not (got > 0).sum() == 1, "the token that completes the share is cut: it is to stay"
    want = torch.tensor([4 / 7, 3 / 7, 0.0, 0.0])[order]
    assert close(got.sum(), torch.tensor(1.0), atol=1e-5), "they do not sum to 1"
    assert close(got, want, atol=1e-4), f"{got.tolist()}, not {want.tolist()}"
    got = student.min_p(logits, 0.45)
    assert not (got > 0).sum() == 0, "none is kept: p is a part of a probability, not of 1"
    want = torch.tensor([4 / 9, 3 / 9, 2 / 9, 0.0])[order]
    assert close(got, want, atol=1e-4), f"by the ratio: {got.tolist()}, not {want.tolist()}"


@points(1, "q4")
def test_q4_padding(student, rng):
    """More padding changes nothing, and tokens that write more make the loss smaller."""
    logits = normal(rng, 2, 4, 5)
    targets = torch.randint(1, 5, (2, 4), generator=rng)
    one = torch.tensor([0, 1, 1, 1, 1])
    loss = student.per_character(logits, targets, one, 0)
    assert loss.dim() == 0, f"the loss has shape {tuple(loss.shape)}: one number is wanted"
    longer = torch.cat((targets, torch.zeros(2, 3, dtype=torch.int64)), dim=1)
    padded = student.per_character(torch.cat((logits, normal(rng, 2, 3, 5)), 1), longer, one, 0)
    assert close(padded, loss, atol=1e-5), "three more columns of padding change the loss"
    assert close(student.per_character(logits, targets, 2 * one, 0), loss / 2, atol=1e-5), (
        "tokens of two characters do not have half the loss of tokens of one"
    )


@points(1, "q5")
def test_q5_one_by_one(student, rng):
    """Token by token as all at once, also when the text is longer than the window."""
    model = student.CachedAttention(16, 4, 3)
    x = normal(rng, 2, 7, 16)
    whole, _ = model(x)
    assert tuple(whole.shape) == (2, 7, 16), f"the output has shape {tuple(whole.shape)}"
    state = None
    for i in range(7):
        got, state = model(x[:, i : i + 1], state)
        assert close(got[:, 0], whole[:, i], atol=1e-4), (
            f"token {i} comes out otherwise when it is read by itself"
        )
    assert all(part.shape[1] <= 3 for part in state if part.dim() > 1), (
        "the state holds more keys than the window"
    )
