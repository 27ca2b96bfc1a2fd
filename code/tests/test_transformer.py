"""Transformers: equal to their equations; caches, padding, the future; dropout, dtypes, errors."""

from functools import partial
from unittest import mock

import pytest
import torch
from attnbook_testing.refusals import refuses
from attnbook_testing.transformers import (
    ARCHITECTURES,
    INPUTS,
    LENGTHS,
    SIZES,
    SOURCE,
    SOURCES,
    TARGETS,
    Architecture,
    Slow,
    normal,
    tokens,
    weights_of,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from attnbook._tree import map_tensors
from attnbook.multihead import KeyValues, MultiHeadAttention
from attnbook.transformer import (
    Classifier,
    DecoderBlock,
    Encoder,
    EncoderBlock,
    Encoding,
    FeedForward,
    LanguageModel,
    Stack,
    TokenEmbedding,
    Transformer,
    TransformerConfig,
)

NORMS = pytest.mark.parametrize("norm", ["pre", "post"])
one_of_each = pytest.mark.parametrize("architecture", ARCHITECTURES[3::4], ids=str)
K, Q = SOURCE.shape[1], INPUTS.shape[1]
SURE = 1 - 1e-7  # a dropout after which nothing is left, but once in a million


def of(*kinds):
    chosen = [a for a in ARCHITECTURES if a.kind in kinds]
    return pytest.mark.parametrize("architecture", chosen, ids=str)


every = of("encoder", "classifier", "translator", "language")
readers = of("encoder", "classifier", "translator")
translators, writers = of("translator"), of("translator", "language")


def close(x, y, atol=1e-6):
    torch.testing.assert_close(x, y, atol=atol, rtol=0)


def answer(architecture, model, *inputs):
    """Outputs of an encoder, logits of the others, with zeros where a source has ended."""
    output = model(*inputs)
    if architecture.kind != "encoder":
        return output.logits
    return output.outputs if output.mask is None else output.outputs * output.mask.mT


def differ(x, y):
    """The least that any row (and place) differs, over features."""
    return (x - y).abs().amax(dim=-1).min().item()


# equal to what is independent of it


@every
def test_a_model_is_its_equations(architecture):
    """A batch with padding, against each sentence alone: logits, and the weights of every head."""
    model, (source, lengths, *rest) = architecture.build(), architecture.inputs()
    answers, found = model(source, lengths, *rest)[0], weights_of(model, source, lengths, *rest)
    for row in range(len(source)):
        n = source.shape[1] if lengths is None else int(lengths[row])
        slow = Slow(model)
        wanted = slow.answer(model, source[row, :n], *(ids[row] for ids in rest))
        close(answers[row, :n] if architecture.kind == "encoder" else answers[row], wanted)
        assert slow.weights.keys() == found.keys()
        for name, weights in slow.weights.items():
            past = n if architecture.kind == "language" else 0  # the prompt was read before
            weights = weights[:, past:]
            q, k = weights.shape[1:]
            close(found[name][row, :, :q, :k], weights)
            assert not found[name][row, :, :q, k:].any()


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


# dropout, by what it does


def sublayers(norm):
    """Each sub-layer of a block with dropout, as a function of x (3, 5, 16)."""
    torch.manual_seed(0)
    block = DecoderBlock(16, 4, 24, norm=norm, dropout=0.3).double()
    memory = block.cross_attention.attention.project(normal(3, 6, 16, seed=1))
    return {
        block.self_attention: lambda x: block.self_attention(x)[0],
        block.cross_attention: lambda x: block.cross_attention(x, memory).output,
        block.feed_forward: block.feed_forward,
    }


@NORMS
def test_a_sublayer_drops_its_share_and_scales_the_rest(norm):
    """Without the norm after it, a sub-layer gives x, or x + f / (1 - p), feature by feature."""
    x = normal(3, 5, 16)
    for part, function in sublayers(norm).items():
        part.norm = nn.Identity()
        part.eval()
        f = function(x) - x
        part.train()
        added = torch.stack([function(x) - x for _ in range(60)])
        dropped = added.abs() < 1e-12
        close(added, f.expand_as(added).masked_fill(dropped, 0.0) / 0.7, atol=1e-10)
        assert dropped.double().mean().item() == pytest.approx(0.3, abs=0.02)
        assert dropped.double().mean(dim=0).std() < 0.1  # every place has its own chance


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "alibi"])
def test_an_embedding_drops_token_and_position_together(positions):
    torch.manual_seed(0)
    embedding = TokenEmbedding(40, TransformerConfig(positions=positions, dropout=0.3, d_model=64))
    ids = tokens(8, 60, 40)
    whole = embedding.eval()(ids)
    found = embedding.train()(ids)
    dropped = found == 0
    close(found, whole.masked_fill(dropped, 0.0) / 0.7)
    assert dropped.double().mean().item() == pytest.approx(0.3, abs=0.02)


@every
def test_a_model_whose_every_dropout_drops_all_says_what_its_norms_and_output_say(architecture):
    """Nothing is left of token and place, nor of a sub-layer; nothing else is dropped."""
    model, inputs = architecture.build(dropout=SURE).train(), architecture.inputs()
    x = torch.zeros(16, dtype=torch.float64)
    stack = model.encoder.stack if architecture.kind == "classifier" else model.stack
    if architecture.norm == "post":
        for block in stack.blocks:
            for sublayer in block.children():
                x = sublayer.norm(x)
    x = stack.norm(x)
    wanted = x if architecture.kind == "encoder" else model.output(x)
    close(model(*inputs)[0], wanted.expand_as(model(*inputs)[0]), atol=1e-10)
    if architecture.kind == "translator":  # the encoder's own embeddings are dropped as well
        outputs = model.encoder(*inputs[:2]).outputs
        close(outputs, outputs[0, 0].expand_as(outputs), atol=1e-10)
    plain = architecture.build()
    close(model.eval()(*inputs)[0], plain(*inputs)[0], atol=0)  # evaluation drops nothing


# sizes at the start


def test_an_untrained_model_has_logits_of_unit_size_and_inner_layers_four_times_as_wide():
    for tie in ("none", "output"):
        torch.manual_seed(0)
        model = Transformer(11, 200, tie=tie, d_model=64, dropout=0.0)
        assert 0.5 < model(SOURCE, LENGTHS, INPUTS).logits.std().item() < 2.0
    assert FeedForward(16, dropout=0.0, norm="pre").layers[0].out_features == 64


def test_ties_share_a_matrix_and_keep_it_shared():
    counts = []
    for tie in ("none", "output", "all"):
        model = Transformer(13, 13, tie=tie, **SIZES)
        counts.append(sum(p.numel() for p in model.parameters()))
        for moved in (model, model.double()):
            target, source = moved.embedding.tokens.weight, moved.encoder.embedding.tokens.weight
            assert (moved.output.weight is target) == (tie != "none")
            assert (source is target) == (tie == "all")
    assert counts[0] - counts[1] == counts[1] - counts[2] == 13 * 16


@every
def test_every_parameter_learns_and_the_state_dict_carries_them(architecture):
    model, inputs = architecture.build(), architecture.inputs()
    wanted = model(*inputs)[0]
    wanted.square().sum().backward()
    for key, parameter in model.named_parameters():
        assert parameter.grad.isfinite().all(), key
        if not key.endswith("W_k.bias"):  # a softmax does not see what all keys share
            assert parameter.grad.abs().max() > 0, key
    other = architecture.build()
    for parameter in other.parameters():
        nn.init.ones_(parameter)
    other.load_state_dict(model.state_dict())
    assert torch.equal(other(*inputs)[0], wanted)
    stored = [key for key in model.state_dict() if "table" in key]
    assert bool(stored) == (architecture.positions == "learned")  # sinusoids need not be stored


# dtypes and torch's transforms


@one_of_each
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_half_precision(architecture, dtype):
    model, inputs = architecture.build(torch.float32), architecture.inputs()
    wanted = model(*inputs)[0].detach()
    slack = (0.1 if dtype == torch.bfloat16 else 0.02) * wanted.abs().max().item()
    with torch.autocast("cpu", dtype=dtype):
        close(model(*inputs)[0].float(), wanted, slack)
    output = model.to(dtype)(*inputs)[0]
    assert output.dtype == dtype
    close(output.float(), wanted, slack)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_a_mean_in_half_precision_counts_all_tokens(dtype):
    """301 tokens, which bfloat16 would count as 300, and a sum that is not rounded on the way."""
    model, source = Classifier(11, 3, **SIZES).eval().to(dtype), tokens(2, 320, 11)
    lengths, model.output = torch.tensor([301, 7]), nn.Identity()
    outputs, found = model.encoder(source, lengths).outputs.double(), model(source, lengths).logits
    for row, n in enumerate(lengths):
        assert torch.equal(found[row], outputs[row, :n].mean(dim=0).to(dtype))


@pytest.mark.parametrize("autocast", [True, False])
def test_steps_in_half_precision_follow_the_whole(autocast):
    architecture = Architecture("translator", positions="rotary")
    model = architecture.build(torch.float32 if autocast else torch.bfloat16)
    source, lengths, inputs = architecture.inputs()
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
        whole, state = model(source, lengths, inputs).logits, model.start(source, lengths)
        for i in range(inputs.shape[1]):
            output = model.step(inputs[:, i : i + 1], state)
            state = output.state
            close(output.logits[:, 0].float(), whole[:, i].float(), 0.2)


# ids outside of the vocabulary


@every
@pytest.mark.parametrize("worst", [-1, 13, 2**40])
def test_an_id_outside_of_the_vocabulary_is_named(architecture, worst):
    """In each of the inputs, with its name; int32 ids inside are as good as int64."""
    model, inputs = architecture.build(), architecture.inputs()
    close(model(*(x if x is None else x.int() for x in inputs))[0], model(*inputs)[0], atol=0)
    names = {"encoder": ["source"], "classifier": ["source"], "language": ["source", "inputs"]}
    places = {"source": 0, "inputs": 2}
    for name in names.get(architecture.kind, places):
        given = list(inputs)
        given[places[name]] = given[places[name]].clone()
        given[places[name]][0, 1] = worst
        size = 11 if name == "source" and architecture.kind != "language" else 13
        said = f"{name} must hold ids from 0 to {size - 1}, got {worst}: outside a vocabulary of"
        refuses(ValueError, f"{said} {size}", model, *given)


# errors


def encoder(**options):
    return Encoder(11, **SIZES | options)


def test_what_does_not_fit_is_named():
    named = partial(refuses, ValueError)
    named("norm must be one of 'pre', 'post'", encoder, norm="middle")
    named("positions must be one of", encoder, positions="sine")
    named("num_layers must be at least 1", encoder, num_layers=0)
    named("dropout must be at least 0", encoder, dropout=1.0)
    named("d_ff must be at least 1", encoder, d_ff=0)
    named("vocab_size must be at least 1", Encoder, 0)
    refuses(TypeError, "unexpected keyword", encoder, heads=2)
    named("pool must be", Classifier, 11, 3, pool="max")
    named("num_classes must be at least 1", Classifier, 11, 0)
    named("tie must be one of", Transformer, 11, 13, tie="yes")
    named("tie must be one of", LanguageModel, 13, tie="all")
    named("one vocabulary", Transformer, 11, 13, tie="all")
    named(r"source must be \(b, n\)", encoder(), SOURCE[0])
    refuses(TypeError, "source must be token ids", encoder(), SOURCE.float())
    named(r"source_lens must be \(3,\)", encoder(), SOURCE, LENGTHS[:2])
    named("from 0 to 6, .* got 7", encoder(), SOURCE, LENGTHS + 1)
    named("from 0 to 6, .* got -1", encoder(), SOURCE, LENGTHS - 2)
    named("max_len = 4", encoder(positions="learned", max_len=4), SOURCE)
    model = Transformer(11, 13, **SIZES)
    named("inputs must have a row for each of the 3", model, SOURCE, LENGTHS, INPUTS[:2])
    named("batch prompts of one length", LanguageModel(13), SOURCE, LENGTHS, INPUTS)
