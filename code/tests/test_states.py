"""States: one step after the other, softmax-free attention, least squares, chunks, refusals."""

import pytest
import torch
from attnbook_testing.refusals import refuses
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

import attnbook as ab

few = settings(max_examples=40)
AXES, SIZES, SEEDS = st.sampled_from([(), (2,), (2, 3)]), st.integers(1, 4), st.integers(0, 99)


def drawn(axes, n, d, d_v, seed):
    """Queries, keys of length 1, values, write, log_decay, mask, state."""
    random = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(*axes, *shape, generator=random, dtype=torch.float64)

    write, decay = normal(n).sigmoid() * 2, F.logsigmoid(normal(n))
    mask = normal(n) > -0.5
    keys = F.normalize(normal(n, d), dim=-1)
    return normal(n, d), keys, normal(n, d_v), write, decay, mask, normal(d, d_v)


def slowly(queries, keys, values, write, decay, mask, state, *, erase):
    """One token after the other."""
    outputs = []
    for t in range(queries.shape[-2]):
        k, v = keys[..., t, :, None], values[..., t, None, :]
        there = mask[..., t, None, None].double()
        faded = (decay[..., t, None, None] * there).exp() * state
        step = write[..., t, None, None] * (v - k.mT @ faded) if erase else v
        state = faded + there * (k @ step)
        outputs.append((queries[..., t, None, :] @ state).squeeze(-2))
    return torch.stack(outputs, dim=-2), state


@few
@given(axes=AXES, n=st.integers(1, 9), d=SIZES, d_v=SIZES, seed=SEEDS, erase=st.booleans())
def test_all_places_together_are_one_after_the_other(axes, n, d, d_v, seed, erase):
    q, k, v, write, decay, mask, state = drawn(axes, n, d, d_v, seed)
    options = {"log_decay": decay, "mask": mask, "state": state}
    ours = ab.delta_rule(q, k, v, write, **options) if erase else None
    ours = ours or ab.linear_attention(q, k, v, **options)
    output, left = slowly(q, k, v, write, decay, mask, state, erase=erase)
    torch.testing.assert_close(ours.output, output)
    torch.testing.assert_close(ours.state, left)


@few
@given(n=st.integers(2, 12), cut=st.integers(0, 12), seed=SEEDS, erase=st.booleans())
def test_chunks_are_the_whole(n, cut, seed, erase):
    q, k, v, write, decay, mask, state = drawn((2,), n, 3, 2, seed)

    def read(at, state):
        options = {"log_decay": decay[:, at], "mask": mask[:, at], "state": state}
        if erase:
            return ab.delta_rule(q[:, at], k[:, at], v[:, at], write[:, at], **options)
        return ab.linear_attention(q[:, at], k[:, at], v[:, at], **options)

    whole, first = read(slice(None), state), read(slice(0, cut), state)
    rest = read(slice(cut, None), first.state)
    torch.testing.assert_close(torch.cat((first.output, rest.output), dim=-2), whole.output)
    torch.testing.assert_close(rest.state, whole.state)


def test_without_options_it_is_attention_without_a_softmax():
    q, k, v, *_ = drawn((2, 3), 7, 4, 5, 0)
    scores = (q @ k.mT).tril()
    torch.testing.assert_close(ab.linear_attention(q, k, v).output, scores @ v)
    positive = (q.exp() @ k.exp().mT).tril()
    ones = F.pad(v, (0, 1), value=1.0)
    read = ab.linear_attention(q.exp(), k.exp(), ones).output
    mean = positive / positive.sum(-1, keepdim=True) @ v
    torch.testing.assert_close(read[..., :-1] / read[..., -1:], mean)


def test_a_step_of_the_delta_rule_is_a_step_down_the_squared_error():
    q, k, v, write, _, _, state = drawn((2,), 1, 4, 3, 1)
    state.requires_grad_()
    loss = (k @ state - v).square().sum(dim=(1, 2)) / 2
    (gradient,) = torch.autograd.grad(loss.sum(), state)
    after = ab.delta_rule(q, k, v, write, state=state.detach()).state
    torch.testing.assert_close(after, state.detach() - write[..., None] * gradient)


def test_a_value_written_again_replaces_the_old_one():
    key = torch.tensor([[0.6, 0.8], [0.6, 0.8]])
    values = torch.tensor([[1.0, 2.0], [5.0, -1.0]])
    read = ab.delta_rule(key, key, values, torch.ones(2)).output
    torch.testing.assert_close(read, values)
    added = ab.linear_attention(key, key, values).output
    torch.testing.assert_close(added[1], values.sum(0))


def test_many_passes_go_to_least_squares():
    _, k, v, *_ = drawn((), 4, 6, 3, 2)
    state = None
    for _ in range(3000):
        state = ab.delta_rule(k, k, v, torch.ones(4, dtype=k.dtype), state=state).state
    torch.testing.assert_close(state, torch.linalg.pinv(k) @ v)


def test_no_token_and_only_padding_give_no_nan():
    q, k, v, write, decay, _, state = drawn((2,), 5, 3, 2, 3)
    none = torch.zeros(2, 5, dtype=torch.bool)
    for read in (
        ab.linear_attention(q, k, v, log_decay=decay, mask=none, state=state),
        ab.delta_rule(q, k, v, write, log_decay=decay, mask=none, state=state),
    ):
        torch.testing.assert_close(read.state, state)
        torch.testing.assert_close(read.output, q @ state)
    assert not ab.linear_attention(q, k, v, mask=none).output.any()
    empty = ab.delta_rule(q[:, :0], k[:, :0], v[:, :0], write[:, :0], state=state)
    assert empty.output.shape == (2, 0, 2) and torch.equal(empty.state, state)


def test_total_forgetting_leaves_the_last_token():
    q, k, v, *_ = drawn((), 5, 3, 2, 4)
    sharp = torch.full((5,), -1e3, dtype=q.dtype)
    last = (q * k).sum(-1, keepdim=True) * v
    torch.testing.assert_close(ab.linear_attention(q, k, v, log_decay=sharp).output, last)


def test_gradients_reach_everything():
    x = [t.requires_grad_() for t in drawn((), 4, 3, 2, 5)[:5]]
    assert torch.autograd.gradcheck(lambda *a: ab.delta_rule(*a[:4], log_decay=a[4]).output, x)


@pytest.mark.parametrize(
    ("change", "error", "named"),
    [
        ({"queries": torch.ones(4, 3, dtype=torch.long)}, TypeError, "queries"),
        ({"keys": torch.ones(5, 3)}, ValueError, "keys"),
        ({"values": torch.ones(3)}, ValueError, "values"),
        ({"log_decay": torch.full((4,), 0.1)}, ValueError, "log_decay"),
        ({"log_decay": torch.full((4,), -torch.inf)}, ValueError, "log_decay"),
        ({"log_decay": torch.zeros(3)}, ValueError, "log_decay"),
        ({"mask": torch.ones(4)}, TypeError, "mask"),
        ({"mask": torch.ones(3, dtype=torch.bool)}, ValueError, "mask"),
        ({"state": torch.zeros(2, 2)}, ValueError, "state"),
        ({"write": torch.ones(3)}, ValueError, "write"),
        ({"write": torch.ones(4, dtype=torch.long)}, TypeError, "write"),
    ],
)
def test_refusals(change, error, named):
    right = {"queries": torch.ones(4, 3), "keys": torch.ones(4, 3), "values": torch.ones(4, 2)}
    refuses(error, named, ab.delta_rule, **{**right, "write": torch.ones(4), **change})
    if "write" not in change:
        refuses(error, named, ab.linear_attention, **{**right, **change})
