"""transformer: equal to the equations and to torch's layers; dropout, dtypes, sizes, errors."""

from functools import partial

import pytest
import torch
from attnbook_testing.refusals import refuses
from attnbook_testing.transformers import (
    ARCHITECTURES,
    INPUTS,
    LENGTHS,
    SIZES,
    SOURCE,
    Architecture,
    Slow,
    normal,
    tokens,
    weights_of,
)
from torch import nn

from attnbook.transformer import (
    Classifier,
    DecoderBlock,
    Encoder,
    FeedForward,
    LanguageModel,
    TokenEmbedding,
    Transformer,
    TransformerConfig,
)

NORMS = pytest.mark.parametrize("norm", ["pre", "post"])
every = pytest.mark.parametrize("architecture", ARCHITECTURES, ids=str)
one_of_each = pytest.mark.parametrize("architecture", ARCHITECTURES[3::4], ids=str)
SURE = 1 - 1e-7  # a dropout after which nothing is left, but once in a million


def close(x, y, atol=1e-5):
    torch.testing.assert_close(x, y, atol=atol, rtol=0)


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


@one_of_each
def test_compiles_in_one_graph(architecture):
    model, inputs = architecture.build(num_layers=1), architecture.inputs()
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    close(compiled(*inputs)[0], model(*inputs)[0])


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
