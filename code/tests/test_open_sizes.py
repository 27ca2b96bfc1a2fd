"""Sizes that torch.compile and torch.export leave open: few graphs for many lengths, one to ship.

No backend here asks a C++ compiler.
"""

import pytest
import torch
from attnbook_testing.transformers import ARCHITECTURES, LENGTHS, tokens
from torch import nn
from torch._dynamo.testing import CompileCounterWithBackend

import attnbook as ab
from attnbook._tree import map_tensors

NS = [2, 3, 5, 7, 8, 11, 13, 16, 17, 20, 29, 31]
writers = pytest.mark.parametrize(
    "architecture", [a for a in ARCHITECTURES if a.kind in ("translator", "language")], ids=str
)


def leaves(tree):
    found = []
    map_tensors(found.append, tree)
    return found


def same(got, wanted):
    for one, two in zip(leaves(got), leaves(wanted), strict=True):
        torch.testing.assert_close(one, two, atol=1e-6, rtol=1e-5)


def compiled(function, **options):
    """The function, compiled anew, and the counter of its graphs."""
    torch._dynamo.reset()
    counter = CompileCounterWithBackend("eager")
    return torch.compile(function, backend=counter, fullgraph=True, **options), counter


# Decoding


@writers
def test_a_compiled_step_has_at_most_three_graphs_for_12_lengths(architecture):
    """Nothing before, one token before, more: what a step sees is then left open."""
    model = architecture.build(num_layers=1)
    step, counter = compiled(model.step)
    source, lengths = tokens(3, 6, 11), LENGTHS
    if architecture.kind == "language":
        source, lengths = source[:, :0], None
    with torch.no_grad():
        state = wanted = model.start(source, lengths)
        for n in range(12):
            inputs = tokens(3, 1, 13, seed=n)
            output, slow = step(inputs, state), model.step(inputs, wanted)
            same(output.logits, slow.logits)
            state, wanted = output.state, slow.state
    assert 1 <= counter.frame_count <= 3


# Functions of a length


def heads(positions, **options):
    torch.manual_seed(0)
    return ab.MultiHeadAttention(8, 2, positions=positions, **options)


def masks(x):
    """Every mask of as many places as `x` (b, n, d) has."""
    n = x.shape[1]
    return (
        ab.causal_mask(n),
        ab.causal_mask(2, n, offset=n - 2),
        ab.window_mask(n, None, 3),
        ab.window_mask(n, n, 3, causal=True),
        ab.dilated_mask(n, radius=2, dilation=2),
        ab.block_mask(n, size=3),
        ab.global_mask(n, places=[0, 1]),
        ab.random_mask(n, count=2).sum(dim=-1),
        ab.length_mask(x[:, 0, 0].long().clamp(min=0), n),
    )


def attended(x):
    mask = ab.causal_mask(x.shape[1])
    fused = ab.attention(x, x, x, mask=mask, need_weights=False)[0]
    return *ab.attention(x, x, x, mask=mask), fused, ab.attention(x, x, x)[0]


def normalised(x):
    scores, mask = x @ x.mT, ab.causal_mask(x.shape[1])
    others = [ab.sink_softmax(scores, mask, sink=0.5), ab.top_k_softmax(scores, mask, k=2)]
    others += [ab.entmax(scores, mask, alpha=1.3)]
    return *(f(scores, mask) for f in (ab.masked_softmax, ab.sparsemax, ab.entmax15)), *others


def drawn(x):
    return ab.gumbel_softmax(x @ x.mT, ab.causal_mask(x.shape[1])).sum(-1)


def loss(x):
    n = x.shape[1]
    return ab.masked_cross_entropy(x, torch.arange(n).expand(len(x), n) % 8, torch.tensor([1, 2]))


class Causal(nn.Module):
    """Many heads under a causal mask."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        mask = ab.causal_mask(x.shape[1])
        return self.inner(x, mask=mask, need_weights=True), self.inner(x, mask=mask).output


class Of(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


FUNCTIONS = {
    **{f.__name__: Of(f) for f in (masks, attended, normalised, drawn)},
    "heads": Causal(heads(None)),
    "rotary, shared": Causal(heads(ab.RotaryPositions(4), num_kv_heads=1)),
    "alibi, shared": Causal(heads(ab.AlibiPositions(2), num_kv_heads=1)),
}
CHEAP = {
    "loss": Of(loss),
    "window": Of(lambda x: ab.window_attention(x, x, x, 4, causal=True)),
    "blocks": Of(lambda x: ab.mean_key_blocks(x, x, block=3, keep=2, causal=True)),
    "masked blocks": Of(
        lambda x: ab.mean_key_blocks(x, x, block=3, keep=2, mask=ab.causal_mask(x.shape[1]))
    ),
    "local": Of(lambda x: ab.local_attention(x, x, x, 1.5 * x[..., 0], radius=2, bell="scores")),
}


def of(functions):
    return pytest.mark.parametrize("function", functions.values(), ids=functions)


@of(FUNCTIONS | CHEAP)
def test_a_compiled_function_has_at_most_three_graphs_for_12_lengths(function):
    run, counter = compiled(function)
    with torch.no_grad():
        for n in NS:
            x = torch.randn(2, n, 8)
            same(run(x), function(x))
    assert counter.frame_count <= 3


@of(FUNCTIONS)
def test_a_function_is_exported_with_an_open_batch_and_length(function):
    sizes = {0: torch.export.Dim("b", max=64), 1: torch.export.Dim("n", min=3, max=512)}
    exported = torch.export.export(function, (torch.randn(3, 6, 8),), dynamic_shapes=(sizes,))
    run = exported.module()
    for b, n in ((3, 6), (2, 31), (5, 4)):
        x = torch.randn(b, n, 8)
        same(run(x), function(x))


# Models


@pytest.mark.parametrize(
    "architecture", [a for a in ARCHITECTURES if a.positions != "sinusoidal" or a.kv == 4], ids=str
)
def test_a_model_is_exported_with_an_open_batch_and_lengths(architecture):
    model = architecture.build(num_layers=1, max_len=64)
    b, k, q = (torch.export.Dim(name, max=32) for name in "bkq")
    shapes = {"source": {0: b, 1: k}, "source_lens": {0: b}, "inputs": {0: b, 1: q}}

    def given(b, k, q):
        source, lengths = tokens(b, k, 11), torch.arange(b) % k + 1
        if architecture.kind == "language":
            return source, None, tokens(b, q, 13)
        return (source, lengths, tokens(b, q, 13))[: 3 if architecture.kind == "translator" else 2]

    inputs = given(3, 6, 5)
    names = [name if x is not None else None for name, x in zip(shapes, inputs, strict=False)]
    dynamic = tuple(name and shapes[name] for name in names)
    run = torch.export.export(model, inputs, dynamic_shapes=dynamic).module()
    for sizes in ((3, 6, 5), (2, 9, 4), (5, 3, 13)):
        inputs = given(*sizes)
        same(run(*inputs)[0], model(*inputs)[0])
