"""Recurrent translators: padding, order, steps, states; references by cells and slow loops."""

import copy
from functools import partial
from unittest import mock

import pytest
import torch
from attnbook_testing import references
from attnbook_testing.refusals import refuses
from attnbook_testing.translation import KINDS, SCORES, VOCAB, sources, targets_for, translators
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import attnbook as ab
from attnbook.cells import STEPS

EXACT = {"atol": 1e-12, "rtol": 1e-10}  # double precision
few = settings(max_examples=20)
CROSSED = [("before", "gru"), ("after", "lstm")]
every_kind = pytest.mark.parametrize("kind", KINDS)
ATTENDING = [kind for kind in KINDS if kind]


def close(a, b):
    torch.testing.assert_close(a, b, **EXACT)


def small(kind="before", seed=0, **options):
    ab.set_seed(seed)
    options = {"embed_size": 3, "hidden_size": 4} | options
    return ab.recurrent_translator(VOCAB, VOCAB, attention=kind, **options).double().eval()


def some_source():
    """Two sources of other lengths: ids (2, 5) and lengths (2,)."""
    return torch.randint(4, VOCAB, (2, 5)), torch.tensor([5, 3])


def gradients(model, output):
    weight = torch.arange(1.0, output.numel() + 1, dtype=output.dtype).view_as(output).cos()
    return torch.autograd.grad((output * weight).sum(), list(model.parameters()), allow_unused=True)


# padding, order, steps


@few
@given(model=translators(), source=sources(), more=st.integers(0, 5), seed=st.integers(0, 999))
def test_padding_of_any_amount_and_content_changes_no_output_and_no_gradient(
    model, source, more, seed
):
    ids, lens = source
    inputs = targets_for(ids)
    plain = model(ids, lens, inputs, need_weights=True)
    random = torch.Generator().manual_seed(seed)
    junk = torch.randint(-(2**40), 2**40, (len(ids), ids.shape[1] + more), generator=random)
    valid = ab.length_mask(lens, junk.shape[1]).squeeze(1)
    padded = junk.where(~valid, nn.functional.pad(ids, (0, more)))
    other = model(padded, lens, inputs, need_weights=True)
    close(other.logits, plain.logits)
    if plain.weights is not None:
        close(other.weights[..., : ids.shape[1]], plain.weights)
        assert not other.weights.masked_select(~valid.unsqueeze(1)).any()
    for one, two in zip(
        gradients(model, plain.logits), gradients(model, other.logits), strict=True
    ):
        assert (one is None) == (two is None)
        if one is not None:
            close(two, one)


@few
@given(model=translators(), source=sources(), valid=st.integers(1, 4), seed=st.integers(1, 99))
def test_padding_of_the_target_changes_nothing_before_it(model, source, valid, seed):
    inputs = targets_for(source[0])
    other = inputs.clone()
    other[:, valid:] = targets_for(source[0], seed=seed)[:, valid:]
    one, two = (model(*source, x, need_weights=True) for x in (inputs, other))
    close(two.logits[:, :valid], one.logits[:, :valid])
    if one.weights is not None:
        close(two.weights[:, :valid], one.weights[:, :valid])


@few
@given(model=translators(), source=sources(), seed=st.integers(0, 99))
def test_the_order_of_a_batch_and_its_company_do_not_matter(model, source, seed):
    ids, lens = source
    inputs = targets_for(ids)
    plain = model(ids, lens, inputs).logits
    order = torch.randperm(len(ids), generator=torch.Generator().manual_seed(seed))
    close(model(ids[order], lens[order], inputs[order]).logits, plain[order])
    for i in range(len(ids)):
        close(model(ids[i : i + 1], lens[i : i + 1], inputs[i : i + 1]).logits[0], plain[i])


@few
@given(model=translators(), source=sources(), cuts=st.sets(st.integers(1, 4)))
def test_steps_of_any_length_are_the_whole_target(model, source, cuts):
    inputs = targets_for(source[0], q=5)
    whole = model(*source, inputs, need_weights=True)
    state, parts = model.start(*source), []
    for piece in inputs.tensor_split(sorted(cuts), dim=1):
        parts.append(model.step(piece, state, need_weights=True))
        state = parts[-1].state
    close(torch.cat([p.logits for p in parts], dim=1), whole.logits)
    close(state.context, whole.state.context)
    for one, two in zip(state.hidden, whole.state.hidden, strict=True):
        close(one, two)
    if whole.weights is not None:
        close(torch.cat([p.weights for p in parts], dim=1), whole.weights)


@every_kind
@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_an_empty_source_gives_zero_weights_zero_context_and_finite_gradients(kind, cell):
    model = small(kind, cell=cell)
    ids, lens = torch.randint(4, VOCAB, (3, 5)), torch.tensor([5, 0, 2])
    output = model(ids, lens, targets_for(ids), need_weights=True)
    assert output.logits.isfinite().all()
    if kind:
        assert not output.weights[1].any() and not output.state.context[1].any()
        close(output.weights[[0, 2]].sum(-1), torch.ones(2, 4, dtype=torch.float64))
    assert all(g is None or g.isfinite().all() for g in gradients(model, output.logits))
    encoded = model.encoder(ids, lens)
    assert not encoded.outputs[1].any() and not any(h[1].any() for h in encoded.hidden)


# independent references


@pytest.mark.parametrize(
    ("cell", "layers", "bidirectional"), [("gru", 1, False), ("gru", 2, True), ("lstm", 2, True)]
)
def test_the_encoder_is_torchs_on_each_source_alone(cell, layers, bidirectional):
    ab.set_seed(0)
    encoder = ab.RecurrentEncoder(
        VOCAB, 3, 4, cell=cell, num_layers=layers, bidirectional=bidirectional
    ).double()
    ids, lens = torch.randint(0, VOCAB, (4, 6)), torch.tensor([6, 1, 3, 5])
    encoded = encoder(ids, lens)
    make = {"gru": nn.GRU, "lstm": nn.LSTM}[cell]
    peer = make(3, 4, layers, batch_first=True, bidirectional=bidirectional).double()
    peer.load_state_dict(encoder.rnn.state_dict())
    directions = 1 + bidirectional
    for i, n in enumerate(lens.tolist()):
        outputs, last = peer(encoder.embedding.weight[ids[i, :n]].unsqueeze(0))
        close(encoded.outputs[i, :n], outputs[0])
        assert not encoded.outputs[i, n:].any()
        for ours, theirs in zip(encoded.hidden, last if cell == "lstm" else (last,), strict=True):
            for layer in range(layers):
                ends = [theirs[layer * directions + d, 0] for d in range(directions)]
                close(ours[i, layer], torch.cat(ends))


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_a_step_is_torchs_cell(cell):
    ab.set_seed(0)
    make = {"gru": nn.GRUCell, "lstm": nn.LSTMCell}[cell]
    peer = make(3, 4).double()
    x, h, c = (torch.randn(5, d, dtype=torch.float64) for d in (3, 4, 4))
    hidden = (h,) if cell == "gru" else (h, c)
    wanted = peer(x, h if cell == "gru" else (h, c))
    gates = x @ peer.weight_ih.T + peer.bias_ih
    got = STEPS[cell](gates, hidden, peer.weight_hh, peer.bias_hh)
    for one, two in zip(got, (wanted,) if cell == "gru" else wanted, strict=True):
        close(one, two)


def slow_score(decoder, name, query, key):
    """One score from one query (d,) and one key (d,)."""
    score = decoder.score
    if name == "additive":
        return score.w.weight[0] @ (score.W_q.weight @ query + score.W_k.weight @ key).tanh()
    if name == "concat":
        return score.v.weight[0] @ (score.W.weight @ torch.cat((query, key))).tanh()
    if name == "general":
        return query @ score.W.weight @ key
    return query @ key / (len(key) ** 0.5 if name == "scaled_dot" else 1)


@pytest.mark.parametrize(
    ("kind", "cell", "name"),
    [("before", "lstm", "additive"), ("after", "gru", "additive")]
    + [(None, cell, "additive") for cell in ("gru", "lstm")]
    + [(kind, cell, name) for kind, cell in CROSSED for name in SCORES[1:]],
)
def test_a_decoder_is_a_slow_loop_over_cells(kind, cell, name):
    """By torch's cells, two layers, and weights and contexts of Python floats."""
    model = small(kind, cell=cell, score=name, num_layers=2)
    (ids, lens), rnn = some_source(), model.decoder.rnn
    inputs = targets_for(ids, q=3)
    output = model(ids, lens, inputs, need_weights=True)
    decoder, encoded, start = model.decoder, model.encoder(ids, lens), model.start(ids, lens)
    make = {"gru": nn.GRUCell, "lstm": nn.LSTMCell}[cell]
    cells = [make(d, 4).double() for d in (rnn.input_size, 4)]
    for n, one in enumerate(cells):
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        one.load_state_dict({p: getattr(rnn, f"{p}_l{n}") for p in names})
    maps = iter(decoder.bridge.maps)
    first = [[next(maps)(part[:, n]) for n in range(2)] for part in encoded.hidden]
    hidden = [
        first[0][n].tanh() if cell == "gru" else (first[0][n].tanh(), first[1][n]) for n in range(2)
    ]

    def top():
        return hidden[-1] if cell == "gru" else hidden[-1][0]

    def ask():
        scores = [
            [[slow_score(decoder, name, query, key).item() for key in keys]]
            for query, keys in zip(top(), encoded.outputs, strict=True)
        ]
        scores = torch.tensor(scores, dtype=torch.float64)
        weights = references.weights(scores, encoded.mask)
        return references.pool(weights, encoded.outputs)[:, 0], weights[:, 0]

    context, weights = top(), None  # a plain decoder reads its first state at every step
    close(start.context if kind is None else context, context)
    for t in range(3):
        x = decoder.embedding.weight[inputs[:, t]]
        if kind == "before":
            context, weights = ask()
        if kind != "after":
            x = torch.cat((x, context), dim=-1)
        for n in range(2):
            hidden[n] = cells[n](x, hidden[n])
            x = hidden[n] if cell == "gru" else hidden[n][0]
        if kind == "after":
            context, weights = ask()
        if kind is None:
            close(output.logits[:, t], decoder.output(top()))
        else:
            read = torch.cat((top(), context), dim=-1)
            close(output.weights[:, t], weights)
            close(output.logits[:, t], read @ decoder.output.weight.T + decoder.output.bias)


# states are values


@few
@given(model=translators(), source=sources(), data=st.data())
def test_a_branched_state_goes_on_as_its_row(model, source, data):
    state = model.step(targets_for(source[0], q=2), model.start(*source)).state
    b = len(source[0])
    rows = torch.tensor(data.draw(st.lists(st.integers(0, b - 1), min_size=1, max_size=5)))
    inputs = targets_for(source[0], q=2, seed=1)
    whole = model.step(inputs, state).logits
    close(model.step(inputs[rows], ab.branch(state, rows)).logits, whole[rows])


@every_kind
def test_nothing_is_changed_and_nothing_is_kept(kind):
    model = small(kind, cell="lstm")
    ids, lens = some_source()
    inputs, state = targets_for(ids), model.start(ids, lens)
    before = copy.deepcopy((ids, lens, inputs, [t.detach() for t in flat(state)]))
    held = [dict(vars(module)) for module in model.modules()]
    first = model.step(inputs, state, need_weights=True).logits
    assert [dict(vars(module)) for module in model.modules()] == held
    after = (ids, lens, inputs, flat(state))
    torch.testing.assert_close(flat(after), flat(before), rtol=0, atol=0)
    close(model.step(inputs, state).logits, first)


def flat(tree):
    if isinstance(tree, torch.Tensor):
        return [tree]
    return [] if tree is None else [x for part in tree for x in flat(part)]


@pytest.mark.parametrize("kind", ATTENDING)
@pytest.mark.parametrize("name", ["additive", "concat", "general"])
def test_keys_are_projected_once_for_a_source(kind, name):
    model, (ids, lens) = small(kind, score=name), some_source()
    score = model.decoder.score
    with mock.patch.object(score, "project_keys", wraps=score.project_keys) as project:
        state = model.start(ids, lens)
        for _ in range(3):
            state = model.step(targets_for(ids), state).state
    assert project.call_count == 1


# any score


class Bilinear(nn.Module):
    """A score that knows nothing of projected keys."""

    def __init__(self):
        super().__init__()
        self.W = nn.Parameter(torch.eye(4))

    def forward(self, queries, keys):
        return queries @ self.W @ keys.mT


@pytest.mark.parametrize("kind", ["before", "after"])
def test_a_module_of_ones_own_is_trained_along_and_equals_the_named_one(kind):
    ids, lens = some_source()
    mine, named = small(kind, score=Bilinear()), small(kind, score="dot")
    mine.load_state_dict(named.state_dict() | {"decoder.score.W": torch.eye(4).double()})
    inputs = targets_for(ids)
    got = mine(ids, lens, inputs, need_weights=True)
    wanted = named(ids, lens, inputs, need_weights=True)
    close(got.logits, wanted.logits)
    close(got.weights, wanted.weights)
    (grad,) = torch.autograd.grad(got.logits.sum(), [mine.decoder.score.W])
    assert grad.abs().sum() > 0


@pytest.mark.parametrize("kind", ["before", "after"])
def test_a_score_may_refuse_every_key(kind):
    model = small(kind, score=lambda q, k: ab.boxcar(q * 100, k * 100, width=1e-3))
    ids, lens = some_source()
    output = model(ids, lens, targets_for(ids), need_weights=True)
    assert not output.weights.any() and output.logits.isfinite().all()


# laws of attention, whatever the mask of the memory has been made


@st.composite
def attending(draw):
    """A model with attention, its state over a source, and target ids."""
    model, (ids, lens) = draw(translators(kinds=ATTENDING)), draw(sources())
    return model, model.start(ids, lens), targets_for(ids)


def hiding(state, mask):
    """The state, with a memory that may be read only where `mask` (b, 1, k) is True, too."""
    memory = state.memory
    return state._replace(memory=memory._replace(mask=memory.mask & mask))


@few
@given(case=attending(), seed=st.integers(0, 999))
def test_the_weights_times_the_values_are_the_context(case, seed):
    model, state, inputs = case
    random = torch.Generator().manual_seed(seed)
    for x in inputs.unbind(1):
        shown = torch.rand(state.memory.mask.shape, generator=random) < 0.6
        output = model.step(x.unsqueeze(1), hiding(state, shown), need_weights=True)
        weights, memory = output.weights, output.state.memory
        close(torch.bmm(weights, memory.outputs).squeeze(1), output.state.context)
        close(weights.sum(dim=-1), memory.mask.any(dim=-1).to(weights.dtype))
        assert not weights.masked_select(~memory.mask).any()
        state = output.state._replace(memory=state.memory)


@few
@given(case=attending())
def test_a_hidden_column_that_was_attended_to_changes_the_logits(case):
    model, state, inputs = case
    k = state.memory.mask.shape[-1]
    plain = model.step(inputs, state, need_weights=True)
    for column in range(k):
        logits = model.step(inputs, hiding(state, torch.arange(k) != column)).logits
        moved = (logits - plain.logits).abs().amax(dim=(1, 2))  # (b,)
        attended = plain.weights[..., column].amax(dim=-1) > 1e-3
        assert (moved[attended] > 1e-9).all()


@few
@given(case=attending(), column=st.integers(0, 9))
def test_all_but_one_column_hidden_every_context_is_that_column(case, column):
    model, state, inputs = case
    column %= state.memory.mask.shape[-1]
    places = torch.arange(state.memory.mask.shape[-1])
    output = model.step(inputs, hiding(state, places == column), need_weights=True)
    valid = state.memory.mask[..., column].squeeze(1)  # (b,)
    value = state.memory.outputs[:, column].where(valid.unsqueeze(-1), 0.0)
    close(output.state.context, value)
    close(output.weights[..., column], valid.double().unsqueeze(1).expand_as(inputs))
    # a source of this one state alone gives the same logits
    memory = state.memory
    only = memory._replace(
        outputs=memory.outputs[:, [column]],
        keys=memory.keys[:, [column]],
        mask=memory.mask[..., [column]],
    )
    close(model.step(inputs, state._replace(memory=only)).logits, output.logits)


# torch's conventions


NEARLY_ALL = 1 - 1e-9  # the largest dropout: nothing that it meets gets through


def knows(run, *choices):
    """Whether what `run` gives depends on its argument."""
    one, two = (run(choice) for choice in choices)
    return (one - two).abs().max().item() > 1e-6


@every_kind
@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_dropout_in_training_cuts_what_it_stands_between(kind, cell):
    """On both sides: between an embedding and its first layer, and between two layers."""
    ids, lens = some_source()
    other, inputs = 4 + (ids - 3) % (VOCAB - 4), targets_for(ids, seed=0)
    model = small(kind, cell=cell, num_layers=2, dropout=NEARLY_ALL)
    start = model.start(ids, lens)

    def encoded(source):
        return model.encoder(source, lens).outputs

    def decoded(tokens):
        return model.step(tokens, start).logits

    reads = (encoded, ids, other), (decoded, inputs, targets_for(ids, seed=1))
    assert all(knows(*read) for read in reads)
    model.train()
    parts = model.encoder, model.decoder
    places = [(part, *at) for part in parts for at in ((part.dropout, "p"), (part.rnn, "dropout"))]
    as_built = [getattr(module, name) for _, module, name in places]
    for _, module, name in places:
        setattr(module, name, 0.0)
    assert all(knows(*read) for read in reads)
    for (part, module, name), value in zip(places, as_built, strict=True):  # each alone
        setattr(module, name, value)
        assert [knows(*read) for read in reads] == [part is not one for one in parts]
        setattr(module, name, 0.0)


# errors


def test_a_bad_source_is_named():
    for source, lens, error, message in (
        ([[1.0, 2.0]], [2], TypeError, "source must be token ids"),
        ([[1, VOCAB]], [2], ValueError, f"source must hold ids from 0 to 11, got {VOCAB}"),
        ([[1, -1]], [2], ValueError, "source must hold ids from 0 to 11, got -1"),
        ([1, 2], [2], ValueError, r"source must be \(b, n\)"),
        ([[1, 2]], [3], ValueError, "source_lens must be from 0 to 2, the columns, got 3"),
        ([[1, 2]], [-1], ValueError, "source_lens must be from 0 to 2"),
        ([[1, 2]], [1, 2], ValueError, r"source_lens must be \(1,\)"),
        ([[1, 2]], [1.0], TypeError, "source_lens must be of an integer type"),
    ):
        refuses(error, message, small().start, torch.tensor(source), torch.tensor(lens))


@every_kind
def test_bad_inputs_are_named(kind):
    model, named = small(kind), partial(refuses, ValueError)
    state = model.start(torch.tensor([[5, 6]]), torch.tensor([2]))
    ids = torch.tensor([[12]])
    named("inputs must hold ids from 0 to 11, got 12", model.step, ids, state)
    named("inputs must have the 1 rows of the state", model.step, torch.ones(2, 1).long(), state)
    named(r"inputs must be \(b, n\)", model.step, torch.zeros(1, 0).long(), state)


def test_a_bad_option_and_parts_that_do_not_fit_are_named():
    named = partial(refuses, ValueError)
    named("cell must be one of 'gru', 'lstm', got 'rnn'", small, cell="rnn")
    named("attention must be one of None", small, kind="during")
    named("score must be one of 'additive'", small, score="cosine")
    named("hidden_size must be even", small, hidden_size=5)
    named("dropout must be at least 0 and below 1", small, dropout=1.0)
    named("num_layers must be at least 1", small, num_layers=0)
    encoder, sizes = ab.RecurrentEncoder(VOCAB, 3, 4), (VOCAB, 3, 4)  # two directions: 8 features
    decoder = ab.PlainDecoder(*sizes, encoder_size=4)
    named("that the decoder expects, 4, got 8", ab.RecurrentTranslator, encoder, decoder)
    wide = {"encoder_size": 8}
    named("bridge=False", ab.PlainDecoder, *sizes, **wide, bridge=False)
    named(r"'dot' needs states .* got 8 and 4", ab.AttentionDecoder, *sizes, **wide, score="dot")
    said, late = 'readout="state" needs query="before"', {"query": "after", "readout": "state"}
    named(said, ab.AttentionDecoder, *sizes, **wide, **late)
    lstm, decoder = ab.RecurrentEncoder(*sizes, cell="lstm"), ab.PlainDecoder(*sizes, **wide)
    encoding = lstm(torch.tensor([[5]]), torch.tensor([1]))
    named("encoding must come from an encoder with this decoder", decoder.start, encoding)
