"""Self-checks: they travel in the students' notebook. Messages say what is probably wrong."""

import torch
from torch import nn

from coursegrade.testing import allowed, cases, close, normal, points


@points(1, "q1")
def test_q1_mean_and_spread(student, rng):
    """Each token has mean 0 and mean square 1 when gain and bias change nothing."""
    x = 3 * normal(rng, 2, 5, 6) + 2
    got = student.normalise(x, torch.ones(6), torch.zeros(6))
    assert tuple(got.shape) == (2, 5, 6), f"shape {tuple(got.shape)}: that of x is wanted"
    for dim, name in ((0, "over the sentences"), (1, "over the tokens of a sentence")):
        assert got.mean(dim).abs().max() > 1e-3, f"you normalise {name}, not over the features"
    assert got.mean(2).abs().max() < 1e-3, "the features of a token do not have mean 0"
    square = got.square().mean(2)
    assert not close(square, torch.full((2, 5), 5 / 6), atol=1e-3), (
        "the spread is divided by d - 1: the formula's mean square has d"
    )
    assert close(square, torch.ones(2, 5), atol=1e-3), "the mean square is not 1"


@points(1, "q1")
def test_q1_nothing_to_add(student, rng):
    """Where f adds nothing, pre leaves x as it is and post normalises it."""
    x, one, zero = normal(rng, 2, 3, 4), torch.ones(4), torch.zeros(4)
    f = student.bend(torch.zeros(4, 4))
    before, after = (student.sublayer(x.clone(), f, one, zero, norm) for norm in ("pre", "post"))
    assert close(before, x, atol=1e-6), (
        "pre changes x although f adds nothing: the residual connection carries x, not its norm"
    )
    assert not close(after, x, atol=1e-3), "post does not normalise what goes on"
    assert close(after, student.normalise(x, one, zero), atol=1e-5), (
        "post is the norm of the sum, once"
    )


@points(1, "q2")
def test_q2_pad_gets_nothing(student, rng):
    """Neither a pad that is the target nor the pad's share of a word counts."""
    logits = normal(rng, 2, 4, 5)
    targets = torch.randint(1, 5, (2, 4), generator=rng)
    loss = student.smoothed_loss(logits, targets, 0.2, 0)
    assert loss.dim() == 0, f"the loss has shape {tuple(loss.shape)}: one number is wanted"
    never = logits.clone()
    never[:, :, 0] = -torch.inf
    assert student.smoothed_loss(never, targets, 0.2, 0).isfinite(), (
        "a model that never says pad has an infinite loss: pad's share is 0, and 0 times inf is NaN"
    )
    longer = torch.cat((targets, torch.zeros(2, 3, dtype=torch.int64)), dim=1)
    padded = student.smoothed_loss(torch.cat((logits, normal(rng, 2, 3, 5)), 1), longer, 0.2, 0)
    assert close(padded, loss, atol=1e-5), "three more columns of padding change the loss"
    assert abs(student.smoothed_loss(logits, targets, 0.9, 0) - loss) > 1e-4, "epsilon is not used"
    equal = [student.smoothed_loss(0 * logits, targets, share, 0) for share in (0.2, 0.9)]
    assert close(*equal), "all words are equally likely, and epsilon counts: does q sum to one?"


@points(1, "q2")
def test_q2_lowest(student, rng):
    """A model that says q itself has the least loss."""
    v, target = 6, int(torch.randint(1, 6, (), generator=rng))
    q = torch.full((v,), 0.3 / (v - 1))
    q[target] += 0.7
    q[0] = 0.0
    loss = student.smoothed_loss(q.log().reshape(1, 1, v), torch.tensor([[target]]), 0.3, 0)
    least = student.least_loss(0.3, v)
    assert abs(float(loss) - float(least)) < 1e-4, (
        f"logits that are log q have the loss {float(loss):.4f}, and least_loss is {least:.4f}"
    )


def translator(student, rng, lengths):
    """A decoder, a memory and its lengths."""
    decoder = student.Decoder(9, 8, 2, 12)
    return decoder, normal(rng, len(lengths), max(lengths), 8), torch.tensor(lengths)


@points(1, "q3")
def test_q3_one_by_one(student, rng):
    """Token by token as all at once."""
    decoder, memory, lengths = translator(student, rng, [3, 4])
    ids = torch.randint(9, (2, 4), generator=rng)
    whole, state = decoder.step(ids, decoder.start(memory, lengths))
    assert tuple(whole.shape) == (2, 4, 9), f"logits have shape {tuple(whole.shape)}"
    other = decoder.forward(ids, memory.flip(2), lengths)
    assert not close(other, whole, atol=1e-4), "the memory is not read"
    other = decoder.forward(torch.cat(((ids[:, :1] + 1) % 9, ids[:, 1:]), 1), memory, lengths)
    assert not close(other[:, 3], whole[:, 3], atol=1e-4), "token 3 does not read token 0"
    state = decoder.start(memory, lengths)
    for i in range(4):
        logits, state = decoder.step(ids[:, i : i + 1], state)
        if i == 0:
            assert close(logits[:, 0], whole[:, 0], atol=1e-4), (
                "the first token has other logits when more tokens are read: it sees the future"
            )
        assert close(logits[:, 0], whole[:, i], atol=1e-4), (
            f"token {i} read by itself is not token {i} of the whole: "
            "which place does it think it has, and does it see all tokens before?"
        )


@points(1, "q3")
def test_q3_padding(student, rng):
    """Padding of the memory does not matter."""
    decoder, memory, lengths = translator(student, rng, [5, 2, 3])
    ids = torch.randint(9, (3, 3), generator=rng)
    quiet = decoder.forward(ids, memory, lengths)
    loud = memory.clone()
    loud[1, 2:] = 50.0
    got = decoder.forward(ids, loud, lengths)
    assert close(got[[0, 2]], quiet[[0, 2]], atol=1e-4), "sentences read other memories"
    assert close(got, quiet, atol=1e-4), "logits change with the memory's padding"
    other = memory.clone()
    other[1, 1] = memory[1, 1].flip(0)  # valid
    assert not close(decoder.forward(ids, other, lengths), quiet, atol=1e-4), (
        "the last valid token of the memory is not read"
    )


def suspect(table, places, place=(1, 0), peek=None):
    """A model with embeddings table (v, d) and places (m, d); peek (2, m, m) or None."""

    def forward(ids, state=None):
        before, calls = (table[ids[:, :0]], 0) if state is None else state
        t, n = before.shape[1], ids.shape[1]
        first = place[0] * t + place[1] * calls  # t for a sound model
        x = torch.cat((before, table[ids] + places[first : first + n]), dim=1)
        sees = torch.ones(t + n, t + n, dtype=torch.bool).tril()
        if peek is not None:
            sees = sees | peek[int(model.training), : t + n, : t + n]
        share = sees[t:] / sees[t:].sum(dim=1, keepdim=True)
        logits = torch.tanh(x[:, t:] + share @ x) @ table.T
        logits[:, :, 0] += 30  # the likeliest word, whatever is read
        return logits + 1e-5 * torch.rand_like(logits), (x, calls + 1)

    model = nn.Module()
    model.forward = forward
    return model


def words(rng, n=6):
    """Embeddings, places and ids for a suspect."""
    return normal(rng, 7, 6), normal(rng, 40, 6), torch.randint(1, 7, (2, n), generator=rng)


@points(1, "q4")
@cases(law=["keeps_cache", "keeps_past", "keeps_mode"])
def test_q4_plain_cases(student, rng, law):
    """A sound model keeps the law, and one with a plain bug does not."""
    table, places, ids = words(rng)
    keeps = getattr(student, law)
    answer = keeps(suspect(table, places), ids.clone())
    assert answer in (True, False), f"{law} returns {answer!r}, not True or False"
    assert answer, "a sound model breaks the law: do you allow for rounding errors?"
    everything = allowed(6, 6)
    if law == "keeps_cache":
        what, bug = "begins at place 0 in each call", {"place": (0, 0)}
    elif law == "keeps_past":
        what, bug = "sees all of the future", {"peek": torch.stack((everything, everything))}
    else:
        what = "sees the future in evaluation mode only"
        bug = {"peek": torch.stack((everything, ~everything))}
    assert not keeps(suspect(table, places, **bug), ids.clone()), (
        f"a model that {what} passes: logits tell, the likeliest word does not"
    )


@points(1, "q5")
def test_q5_one_by_one(student, rng):
    """Word by word as all at once."""
    writer = student.Writer(7, 8, 2, 16)
    ids = torch.randint(7, (3, 5), generator=rng)
    whole, _ = writer(ids)
    assert tuple(whole.shape) == (3, 5, 7), f"logits have shape {tuple(whole.shape)}"
    state = None
    for i in range(5):
        logits, state = writer(ids[:, i : i + 1], state)
        assert close(logits[:, 0], whole[:, i], atol=1e-4), (
            f"word {i} has other logits when it is read by itself"
        )
