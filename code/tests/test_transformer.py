"""transformer: equal to torch's layers, its dtypes, transforms, dropout, sizes and errors."""

import math
from unittest import mock

import pytest
import torch
from torch import nn

import attnbook as ab
from attnbook import transformer
from attnbook.transformer import (
    Classifier,
    DecoderBlock,
    Encoder,
    EncoderBlock,
    EncoderStack,
    LanguageModel,
    TokenEmbedding,
    Transformer,
    TransformerConfig,
)

SIZES = {"d_model": 16, "num_heads": 4, "num_layers": 2, "d_ff": 24, "dropout": 0.0}
NORMS = pytest.mark.parametrize("norm", ["pre", "post"])
POSITIONS = ("sinusoidal", "learned", "rotary", "alibi", None)
every_position = pytest.mark.parametrize("positions", POSITIONS, ids=str)


def normal(*shape, seed=0, dtype=torch.float32):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def tokens(rows, n, size=11, seed=0):
    return torch.randint(size, (rows, n), generator=torch.Generator().manual_seed(seed))


def build(kind, *sizes, **options):
    torch.manual_seed(0)
    return kind(*sizes, **SIZES | options).eval()


SOURCE, LENGTHS, INPUTS = tokens(3, 6), torch.tensor([4, 6, 1]), tokens(3, 5, 13, seed=1)
CALLS = {
    "encoder": (lambda **o: build(Encoder, 11, **o), (SOURCE, LENGTHS)),
    "classifier": (lambda **o: build(Classifier, 11, 3, **o), (SOURCE, LENGTHS)),
    "translator": (lambda **o: build(Transformer, 11, 13, **o), (SOURCE, LENGTHS, INPUTS)),
    "language": (lambda **o: build(LanguageModel, 13, **o), (None, None, INPUTS)),
}
every_model = pytest.mark.parametrize("name", CALLS)


# blocks against torch's


def copy_attention(module, peer):
    """Our weights into an `nn.MultiheadAttention`."""
    ours = (module.W_q, module.W_k, module.W_v)
    with torch.no_grad():
        peer.in_proj_weight.copy_(torch.cat([W.weight for W in ours]))
        peer.in_proj_bias.copy_(torch.cat([W.bias for W in ours]))
    peer.out_proj.load_state_dict(module.W_o.state_dict())


def copy_block(block, peer):
    """Our weights into torch's encoder or decoder layer; its norms are numbered in order."""
    copy_attention(block.self_attention.attention, peer.self_attn)
    sublayers = [block.self_attention]
    if hasattr(block, "cross_attention"):
        copy_attention(block.cross_attention.attention, peer.multihead_attn)
        sublayers.append(block.cross_attention)
    for i, sublayer in enumerate([*sublayers, block.feed_forward], start=1):
        nn.init.normal_(sublayer.norm.weight)
        nn.init.normal_(sublayer.norm.bias)
        getattr(peer, f"norm{i}").load_state_dict(sublayer.norm.state_dict())
    peer.linear1.load_state_dict(block.feed_forward.layers[0].state_dict())
    peer.linear2.load_state_dict(block.feed_forward.layers[2].state_dict())
    return peer.eval()


def torchs(kind, norm):
    return kind(16, 4, 24, dropout=0.0, batch_first=True, norm_first=norm == "pre")


@NORMS
def test_encoder_block_equals_torchs(norm):
    torch.manual_seed(0)
    block = EncoderBlock(16, 4, 24, norm=norm)
    peer = copy_block(block, torchs(nn.TransformerEncoderLayer, norm))
    x, padding = normal(3, 6, 16), ab.length_mask(LENGTHS, 6)
    wanted = peer(x, src_key_padding_mask=~padding[:, 0])
    kept = padding.mT  # torch leaves padded rows out of its fast path
    torch.testing.assert_close(block(x, mask=padding).x * kept, wanted * kept, atol=1e-5, rtol=0)


@NORMS
def test_decoder_block_equals_torchs(norm):
    torch.manual_seed(0)
    block = DecoderBlock(16, 4, 24, norm=norm)
    peer = copy_block(block, torchs(nn.TransformerDecoderLayer, norm))
    x, source = normal(3, 5, 16), normal(3, 6, 16, seed=1)
    padding, causal = ab.length_mask(LENGTHS, 6), ab.causal_mask(5)
    wanted = peer(x, source, tgt_mask=~causal, memory_key_padding_mask=~padding[:, 0])
    memory = block.cross_attention.project(source)
    output = block(x, memory, mask=causal, memory_mask=padding)
    torch.testing.assert_close(output.x, wanted, atol=1e-5, rtol=0)


def test_post_norm_encoder_block_equals_d2ls():
    torch.manual_seed(0)
    block = EncoderBlock(16, 4, 24, norm="post").eval()
    d2l = ab.import_d2l()
    peer = d2l.EncoderBlock(16, 16, 16, 16, [16], 16, 24, 4, 0.0, use_bias=True).eval()
    peer.attention.load_state_dict(block.self_attention.attention.state_dict())
    peer.addnorm1.ln.load_state_dict(block.self_attention.norm.state_dict())
    peer.addnorm2.ln.load_state_dict(block.feed_forward.norm.state_dict())
    peer.ffn.dense1.load_state_dict(block.feed_forward.layers[0].state_dict())
    peer.ffn.dense2.load_state_dict(block.feed_forward.layers[2].state_dict())
    x = normal(3, 6, 16)
    output = block(x, mask=ab.length_mask(LENGTHS, 6)).x
    torch.testing.assert_close(output, peer(x, LENGTHS), atol=1e-5, rtol=0)


# order and content


def test_without_positions_an_encoder_is_equivariant_and_with_them_it_is_not():
    order = torch.tensor([3, 0, 5, 1, 4, 2])
    for norm in ("pre", "post"):
        for kv in (1, 4):
            encoder = build(Encoder, 11, positions=None, norm=norm, num_kv_heads=kv)
            outputs = encoder(SOURCE).outputs
            permuted = encoder(SOURCE[:, order]).outputs
            torch.testing.assert_close(permuted, outputs[:, order], atol=1e-5, rtol=0)
    classifier = build(Classifier, 11, 3, positions=None)
    torch.testing.assert_close(classifier(SOURCE[:, order]).logits, classifier(SOURCE).logits)
    for positions in POSITIONS[:-1]:
        encoder = build(Encoder, 11, positions=positions)
        different = encoder(SOURCE[:, order]).outputs - encoder(SOURCE).outputs[:, order]
        assert different.abs().max() > 1e-2, positions


@NORMS
def test_nan_in_padding_of_a_stack_of_vectors_reaches_nothing(norm):
    torch.manual_seed(0)
    stack = EncoderStack(TransformerConfig(**SIZES, norm=norm)).eval()
    mask, x = ab.length_mask(LENGTHS, 6), normal(3, 6, 16)
    clean = x * mask.mT
    for junk in (math.nan, math.inf, 3e38):
        dirty = x.where(mask.mT, junk)
        for need_weights in (True, False):
            output = stack(dirty, mask=mask, need_weights=need_weights).x
            wanted = stack(clean, mask=mask).x
            for row, n in enumerate(LENGTHS.tolist()):
                torch.testing.assert_close(output[row, :n], wanted[row, :n], atol=1e-5, rtol=0)


@pytest.mark.parametrize("d_model", [16, 64, 512])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_positions_are_heard_beside_the_tokens(positions, d_model):
    torch.manual_seed(0)
    config = TransformerConfig(d_model=d_model, positions=positions, dropout=0.0)
    embedding, ids = TokenEmbedding(40, config), tokens(8, 60, 40)

    def loudness():
        together = embedding(ids)
        alone = embedding.tokens(ids) * embedding.scale
        return ((together - alone).square().mean() / alone.square().mean()).sqrt().item()

    assert 0.4 < loudness() < 1.0
    nn.init.normal_(embedding.tokens.weight)  # the famous mistake: unit variance, then sqrt(d)
    assert loudness() < 0.4


def test_an_empty_source_is_no_nan():
    model = build(Transformer, 11, 13)
    output = model(SOURCE, torch.tensor([0, 6, 1]), INPUTS, need_weights=True)
    assert output.logits.isfinite().all()
    assert (output.weights[0] == 0).all()
    classifier = build(Classifier, 11, 3)
    assert classifier(SOURCE, torch.tensor([0, 0, 0])).logits.isfinite().all()


def test_a_prompt_is_the_beginning_of_what_follows():
    model = build(LanguageModel, 13)
    whole = model(None, None, INPUTS).logits
    for k in range(5):
        output = model(INPUTS[:, :k], torch.full((3,), k), INPUTS[:, k:])
        torch.testing.assert_close(output.logits, whole[:, k:], atol=1e-5, rtol=0)


# weights


@every_position
def test_weights_have_layers_and_heads_and_change_nothing(positions):
    model = build(Transformer, 11, 13, positions=positions, num_kv_heads=2)
    plain = model(SOURCE, LENGTHS, INPUTS)
    output = model(SOURCE, LENGTHS, INPUTS, need_weights=True)
    torch.testing.assert_close(output.logits, plain.logits, atol=1e-5, rtol=0)
    assert plain.weights is None and output.weights.shape == (3, 2, 4, 5, 6)
    weights = model.weights(SOURCE, LENGTHS, INPUTS)
    torch.testing.assert_close(weights.cross, output.weights, atol=1e-6, rtol=0)
    assert weights.encoder.shape == (3, 2, 4, 6, 6) and weights.decoder.shape == (3, 2, 4, 5, 5)
    assert (weights.decoder.triu(1) == 0).all()
    padding = ab.length_mask(LENGTHS, 6)[:, None, None]
    for w in (weights.encoder, weights.cross):
        assert (w.masked_select(~padding) == 0).all()
    for w in weights:
        torch.testing.assert_close(w.sum(dim=-1), torch.ones(w.shape[:-1]))


def test_weights_of_a_language_model_grow_with_its_past():
    model = build(LanguageModel, 13)
    whole = model(None, None, INPUTS, need_weights=True).weights
    state = model.start(INPUTS[:, :2])
    for i in range(2, 5):
        output = model.step(INPUTS[:, i : i + 1], state, need_weights=True)
        state = output.state
        assert output.weights.shape == (3, 2, 4, 1, i + 1)
        torch.testing.assert_close(output.weights[..., 0, :], whole[..., i, : i + 1])


# dropout


@every_model
@NORMS
def test_dropout_stands_where_the_paper_has_it(name, norm):
    """One on each sum of token and position, one on each sub-layer's output, and no other."""
    inputs = CALLS[name][1]
    rates = []

    def spy(x, p, *rest):
        rates.append(p)
        return x

    with mock.patch.object(nn.functional, "dropout", spy):
        CALLS[name][0](dropout=0.25, norm=norm).train()(*inputs)
    sublayers = 10 if name == "translator" else 4  # two layers: 2 x 2 + 2 x 3, or 2 x 2
    embeddings = 2 if name == "translator" else 1
    assert rates == [0.25] * (sublayers + embeddings)
    torch.manual_seed(0)
    model = CALLS[name][0](dropout=0.25)
    assert torch.equal(model(*inputs)[0], model(*inputs)[0])  # evaluation is sure
    model.train()
    assert not torch.equal(model(*inputs)[0], model(*inputs)[0])


# dtypes and torch's transforms


@every_model
@every_position
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_half_precision(name, positions, dtype):
    make, inputs = CALLS[name]
    model = make(positions=positions, num_kv_heads=2)
    wanted = model(*inputs)[0].detach()
    scale = wanted.abs().max().item()
    slack = (0.1 if dtype == torch.bfloat16 else 0.02) * scale
    with torch.autocast("cpu", dtype=dtype):
        mixed = model(*inputs)[0].float()
    output = model.to(dtype)(*inputs)[0]
    assert output.dtype == dtype
    for close in (output.float(), mixed):
        torch.testing.assert_close(close, wanted, atol=slack, rtol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("autocast", [True, False])
@pytest.mark.parametrize("name", ["translator", "language"])
def test_steps_in_half_precision_follow_the_whole(name, autocast, dtype):
    make, (source, lengths, inputs) = CALLS[name]
    model = make(positions="rotary")
    model = model if autocast else model.to(dtype)
    with torch.autocast("cpu", dtype=dtype, enabled=autocast and dtype != torch.float32):
        whole = model(source, lengths, inputs).logits.float()
        state = model.start(inputs[:, :0] if source is None else source, lengths)
        for i in range(inputs.shape[1]):
            output = model.step(inputs[:, i : i + 1], state)
            state = output.state
            slack = {torch.float32: 1e-5, torch.bfloat16: 0.2, torch.float16: 0.02}[dtype]
            difference = output.logits[:, 0].float() - whole[:, i]
            assert difference.abs().max() <= slack


@pytest.mark.parametrize(
    ("name", "positions"),
    [
        ("encoder", "alibi"),
        ("classifier", "learned"),
        ("translator", "sinusoidal"),
        ("language", "rotary"),
    ],
)
def test_compiles_in_one_graph(name, positions):
    make, inputs = CALLS[name]
    model = make(positions=positions, num_layers=1)
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(*inputs)[0], model(*inputs)[0], atol=1e-5, rtol=0)


@every_position
def test_the_encoder_exports_with_free_sizes(positions):
    encoder = build(Encoder, 11, positions=positions, num_layers=1, max_len=64)
    b, k = torch.export.Dim("b"), torch.export.Dim("k", max=64)
    exported = torch.export.export(
        encoder, (SOURCE, LENGTHS), dynamic_shapes=({0: b, 1: k}, {0: b})
    ).module()
    for source, lengths in ((SOURCE, LENGTHS), (tokens(2, 9, seed=3), torch.tensor([9, 2]))):
        wanted = encoder(source, lengths).outputs
        torch.testing.assert_close(exported(source, lengths).outputs, wanted, atol=1e-5, rtol=0)


@every_model
def test_a_state_dict_carries_the_model(name):
    make, inputs = CALLS[name]
    first, second = make(), make()
    for parameter in second.parameters():
        nn.init.ones_(parameter)
    second.load_state_dict(first.state_dict())
    assert torch.equal(first(*inputs)[0], second(*inputs)[0])
    assert not any("table" in key for key in first.state_dict())  # sinusoids need not be stored


@every_model
@NORMS
@every_position
def test_every_parameter_learns(name, norm, positions):
    make, inputs = CALLS[name]
    model = make(norm=norm, positions=positions, num_kv_heads=2)
    model(*inputs)[0].square().sum().backward()
    for key, parameter in model.named_parameters():
        gradient = parameter.grad
        assert gradient is not None and gradient.isfinite().all(), key
        if not key.endswith("W_k.bias"):  # a softmax does not see what all keys share
            assert gradient.abs().max() > 0, key


# ties, sizes, errors


def test_ties_share_a_matrix_and_keep_it_shared():
    for tie in ("none", "output", "all"):
        model = build(Transformer, 13, 13, tie=tie)
        for moved in (model, model.double()):
            target, source = moved.embedding.tokens.weight, moved.encoder.embedding.tokens.weight
            assert (moved.output.weight is target) == (tie != "none")
            assert (source is target) == (tie == "all")
    counts = [
        sum(p.numel() for p in build(Transformer, 13, 13, tie=tie).parameters())
        for tie in ("none", "output", "all")
    ]
    assert counts[0] - counts[1] == counts[1] - counts[2] == 13 * 16


def test_logits_of_an_untrained_model_are_of_unit_size():
    for tie in ("none", "output"):
        model = build(Transformer, 11, 200, tie=tie, d_model=64, d_ff=128)
        assert 0.5 < model(SOURCE, LENGTHS, INPUTS).logits.std().item() < 2.0


def test_parameters_are_counted_by_hand():
    d, ff, vocabulary = 16, 24, 13
    attention, forward, norm = 4 * d * d + 4 * d, 2 * d * ff + d + ff, 2 * d
    count = sum(p.numel() for p in build(LanguageModel, vocabulary).parameters())
    assert count == vocabulary * d + 2 * (attention + forward + 2 * norm) + norm
    count = sum(p.numel() for p in build(LanguageModel, vocabulary, norm="post").parameters())
    assert count == vocabulary * d + 2 * (attention + forward + 2 * norm)


@pytest.mark.parametrize(
    ("error", "match", "run"),
    [
        (ValueError, "norm must be one of", lambda: build(Encoder, 11, norm="middle")),
        (ValueError, "positions must be one of", lambda: build(Encoder, 11, positions="sine")),
        (ValueError, "num_heads must divide", lambda: build(Encoder, 11, num_heads=3)),
        (ValueError, "num_layers must be at least 1", lambda: build(Encoder, 11, num_layers=0)),
        (ValueError, "dropout must be", lambda: build(Encoder, 11, dropout=1.0)),
        (ValueError, "d_ff must be at least 1", lambda: build(Encoder, 11, d_ff=0)),
        (ValueError, "vocab_size must be at least 1", lambda: build(Encoder, 0)),
        (TypeError, "unexpected keyword", lambda: build(Encoder, 11, heads=2)),
        (ValueError, "pool must be", lambda: build(Classifier, 11, 3, pool="max")),
        (ValueError, "tie must be one of", lambda: build(Transformer, 11, 13, tie="yes")),
        (ValueError, "tie must be one of", lambda: build(LanguageModel, 13, tie="all")),
        (ValueError, "one vocabulary", lambda: build(Transformer, 11, 13, tie="all")),
        (ValueError, r"source must be \(b, n\)", lambda: build(Encoder, 11)(SOURCE[0])),
        (TypeError, "source must be token ids", lambda: build(Encoder, 11)(SOURCE.float())),
        (ValueError, r"lengths must be \(3,\)", lambda: build(Encoder, 11)(SOURCE, LENGTHS[:2])),
        (ValueError, "at most 6", lambda: build(Encoder, 11)(SOURCE, LENGTHS + 1)),
        (ValueError, "at least 0", lambda: build(Encoder, 11)(SOURCE, LENGTHS - 2)),
        (
            ValueError,
            "max_len = 4",
            lambda: build(Encoder, 11, positions="learned", max_len=4)(SOURCE),
        ),
        (
            ValueError,
            "inputs must have a row for each of the 3",
            lambda: build(Transformer, 11, 13)(SOURCE, LENGTHS, INPUTS[:2]),
        ),
        (
            ValueError,
            "batch prompts of one length",
            lambda: build(LanguageModel, 13)(SOURCE, LENGTHS, INPUTS),
        ),
    ],
)
def test_what_does_not_fit_is_named(error, match, run):
    with pytest.raises(error, match=match):
        run()


def test_every_public_name_has_its_docstring():
    for name in transformer.__all__:
        text = getattr(transformer, name).__doc__
        assert text and text.splitlines()[0].endswith("."), name
