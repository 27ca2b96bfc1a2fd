"""Laws of the Transformer models: caches, padding, the future, and what an intervention does."""

from unittest import mock

import pytest
import torch
from attnbook_testing.transformers import (
    ARCHITECTURES,
    INPUTS,
    LENGTHS,
    SIZES,
    SOURCE,
    SOURCES,
    TARGETS,
    Architecture,
    normal,
    tokens,
    weights_of,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from attnbook._tree import map_tensors
from attnbook.multihead import KeyValues, MultiHeadAttention
from attnbook.transformer import EncoderBlock, Encoding, Stack, TransformerConfig

K, Q = SOURCE.shape[1], INPUTS.shape[1]


def of(*kinds):
    chosen = [a for a in ARCHITECTURES if a.kind in kinds]
    return pytest.mark.parametrize("architecture", chosen, ids=str)


every = of("encoder", "classifier", "translator", "language")
readers = of("encoder", "classifier", "translator")
translators, writers = of("translator"), of("translator", "language")


def answer(architecture, model, *inputs):
    """Outputs of an encoder, logits of the others, with zeros where a source has ended."""
    output = model(*inputs)
    if architecture.kind != "encoder":
        return output.logits
    return output.outputs if output.mask is None else output.outputs * output.mask.mT


def close(x, y, atol=1e-6):
    torch.testing.assert_close(x, y, atol=atol, rtol=0)


def differ(x, y):
    """The least that any row (and place) differs, over features."""
    return (x - y).abs().amax(dim=-1).min().item()


# caches and states


@writers
@pytest.mark.parametrize("grad", [True, False], ids=["grad", "no_grad"])
def test_cached_is_uncached(architecture, grad):
    """Token by token, in two parts cut anywhere, and at once: the same logits and weights."""
    model, (source, lengths, inputs) = architecture.build(), architecture.inputs()
    with torch.set_grad_enabled(grad):
        state = model.start(source, lengths)
        whole = model.step(inputs, state, need_weights=True)
        close(model(*architecture.inputs()).logits, whole.logits)
        for i in range(Q):
            output = model.step(inputs[:, i : i + 1], state, need_weights=True)
            state, seen = output.state, output.weights.shape[-1]
            close(output.logits, whole.logits[:, i : i + 1])
            close(output.weights, whole.weights[..., i : i + 1, :seen])
            rest = model.step(inputs[:, i + 1 :], state).logits
            close(rest, whole.logits[:, i + 1 :])


@writers
@pytest.mark.parametrize("grad", [True, False], ids=["grad", "no_grad"])
def test_states_can_be_branched(architecture, grad):
    """Two futures of one state, and of its rows taken, doubled, reordered; no state changes."""
    model, (source, lengths, inputs) = architecture.build(), architecture.inputs()
    with torch.set_grad_enabled(grad):
        state = model.start(source, lengths)
        for i in range(2):
            state = model.step(inputs[:, i : i + 1], state).state
        leaves, before = [], []
        map_tensors(leaves.append, state)
        before = [leaf.clone() for leaf in leaves]
        for rows in (torch.arange(3), torch.tensor([2, 0, 0, 1, 2])):
            branched = map_tensors(lambda leaf, rows=rows: leaf.index_select(0, rows), state)
            for begun in (branched, state)[: 1 + (len(rows) == 3)]:
                nexts = [tokens(len(rows), 1, TARGETS, seed=seed) for seed in (5, 6)]
                firsts = [model.step(t, begun) for t in nexts]
                seconds = [model.step(t, f.state) for t, f in zip(nexts, firsts, strict=True)]
                for t, first, second in zip(nexts, firsts, seconds, strict=True):
                    line = torch.cat((inputs[rows, :2], t, t), dim=1)
                    own = None if lengths is None else lengths[rows]
                    wanted = model(source[rows], own, line).logits[:, 2:]
                    close(torch.cat((first.logits, second.logits), dim=1), wanted)
        assert all(map(torch.equal, leaves, before))


# what reaches what


@writers
def test_a_token_reaches_its_own_place_and_all_later_ones_and_no_earlier(architecture):
    model, (source, lengths, inputs) = architecture.build(), architecture.inputs()
    for mode in (False, True):
        whole = model.train(mode)(source, lengths, inputs).logits
        for i in range(Q):
            other = inputs.clone()
            other[:, i] = (other[:, i] + 5) % TARGETS
            changed = model(source, lengths, other).logits
            close(changed[:, :i], whole[:, :i], atol=1e-12)
            assert differ(changed[:, i:], whole[:, i:]) > 1e-4


@readers
def test_padding_never_reaches_an_output_and_the_token_before_it_does(architecture):
    model, (source, lengths, *rest) = architecture.build(), architecture.inputs()
    whole = answer(architecture, model, source, lengths, *rest)
    for amount, junk in ((0, 7), (3, -1), (9, 2**62)):
        padded = torch.cat((source, torch.full((len(source), amount), junk)), dim=1)
        for row, length in enumerate(lengths.tolist()):
            padded[row, length:] = junk
        wider = answer(architecture, model, padded, lengths, *rest)
        close(wider[:, :K] if architecture.kind == "encoder" else wider, whole)
    other, rows = source.clone(), torch.arange(3)
    other[rows, lengths - 1] = (other[rows, lengths - 1] + 1) % SOURCES
    changed = answer(architecture, model, other, lengths, *rest)
    assert (changed - whole).flatten(1).abs().amax(dim=1).min() > 1e-4


def test_an_empty_source_is_no_nan():
    model, lengths = Architecture("translator").build(), torch.tensor([0, 6, 1])
    output = model(SOURCE, lengths, INPUTS, need_weights=True)
    assert output.logits.isfinite().all() and not output.weights[0].any()
    for first in (torch.tensor([0, 0, 0]), lengths):
        logits = Architecture("classifier").build()(SOURCE, first).logits
        assert logits.isfinite().all()


# weights and interventions


@every
def test_weights_that_are_returned_times_the_values_give_the_context(architecture):
    """Of every attention of the model, through its output layer, as in a pass without weights."""
    model, inputs = architecture.build(), architecture.inputs()
    attend, seen = MultiHeadAttention.attend, {}

    def watched(self, queries, memory, **options):
        attended = attend(self, queries, memory, **options)
        seen[self] = memory.values, attended.output  # the last, after the prompt
        return attended

    with mock.patch.object(MultiHeadAttention, "attend", watched):
        model(*inputs)
    attentions = dict(model.named_modules())
    returned = weights_of(model, *inputs)
    assert {attentions[name] for name in returned} == seen.keys()
    for name, weights in returned.items():
        attention = attentions[name]
        values, output = seen[attention]
        values = values.repeat_interleave(4 // architecture.kv, dim=1)  # (b, h, k, d)
        context = weights @ values  # (b, h, q, d)
        close(attention.W_o(context.transpose(1, 2).flatten(2)), output)
    if architecture.kind == "translator":
        cross = model(*inputs, need_weights=True).weights
        close(model.weights(*inputs).cross, cross)


@translators
@pytest.mark.parametrize("t", [0, 2])
def test_hiding_columns_is_cutting_them_from_the_memory(architecture, t):
    """Nothing but the mask says what of the source is attended, after any number of tokens."""
    model = architecture.build()
    encoding = model.encoder(SOURCE)
    state = model.begin(encoding)
    whole = model.step(INPUTS, state, need_weights=True)
    read = INPUTS[:, :t]
    for keep in (*([j] for j in range(K)), [0, 2, 5], [1, 2], list(range(K))):
        hidden = torch.zeros(3, 1, K, dtype=torch.bool)
        hidden[..., keep] = True
        one = state._replace(mask=hidden)
        two = model.begin(Encoding(encoding.outputs[:, keep], None, None))
        if t:
            one, two = (model.step(read, s).state for s in (one, two))
        one, two = (model.step(INPUTS[:, t:], s, need_weights=True) for s in (one, two))
        close(one.logits, two.logits)
        close(one.weights[..., keep], two.weights)
        assert not one.weights[..., [j for j in range(K) if j not in keep]].any()
        if len(keep) == 1:
            assert (one.weights[..., keep] == 1).all()
        if len(keep) < K:
            assert differ(one.logits, whole.logits[:, t:]) > 1e-4


@translators
def test_hiding_any_attended_column_changes_every_logit_and_another_none(architecture):
    model = architecture.build()
    state = model.start(SOURCE, LENGTHS)
    whole = model.step(INPUTS, state).logits
    for j in range(K):
        mask = state.mask.clone()
        mask[..., j] = False
        changed = model.step(INPUTS, state._replace(mask=mask)).logits
        attended = LENGTHS > j
        assert differ(changed[attended], whole[attended]) > 1e-4
        assert torch.equal(changed[~attended], whole[~attended])


@translators
def test_where_one_column_is_left_its_value_is_the_context_whatever_its_key(architecture):
    model = architecture.build()
    state = model.start(SOURCE, LENGTHS)
    for j in range(K):
        mask = torch.zeros(3, 1, K, dtype=torch.bool)
        mask[..., j] = True
        alone = state._replace(mask=mask)
        wanted = model.step(INPUTS, alone).logits
        for keys, same in ((normal(*state.memory[0].keys.shape), True), (None, False)):
            memory = tuple(
                KeyValues(m.keys, -m.values) if keys is None else KeyValues(keys, m.values)
                for m in state.memory
            )
            found = model.step(INPUTS, alone._replace(memory=memory)).logits
            assert (differ(found, wanted) < 1e-9) == same


@pytest.mark.parametrize(
    ("norm", "positions"), [("pre", "rotary"), ("post", "alibi"), ("pre", None)], ids=str
)
@settings(max_examples=10)
@given(junk=st.sampled_from([float("nan"), float("inf"), 3e38, -1.0]), data=st.data())
def test_what_a_stack_may_not_see_is_as_if_cut_away(norm, positions, junk, data):
    """Any columns where no place is told, and any interval where only distances are."""
    torch.manual_seed(0)
    config = TransformerConfig(**SIZES, norm=norm, positions=positions)
    stack, x = Stack(config, EncoderBlock).double().eval(), normal(3, 6, 16)
    first, last = sorted(data.draw(st.tuples(st.integers(0, 5), st.integers(0, 5))))
    keep = range(first, last + 1, 1 if positions else data.draw(st.integers(1, 3)))
    mask = torch.zeros(1, 6, dtype=torch.bool)
    mask[:, list(keep)] = True
    dirty = x.where(mask.mT, junk)
    wanted = stack(x[:, list(keep)]).x
    for need_weights in (True, False):
        output = stack(dirty, mask=mask, need_weights=need_weights)
        close(output.x[:, list(keep)], wanted)
