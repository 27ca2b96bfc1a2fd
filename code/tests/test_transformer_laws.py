"""Laws of every architecture, on logits; and, with bugs put in, that each law can be broken."""

import dataclasses
from unittest import mock

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from attnbook import causal_mask, transformer
from attnbook._cache import Room
from attnbook.transformer import Classifier, Encoder, LanguageModel, Transformer

SOURCES, TARGETS, CLASSES = 11, 13, 3
K, Q = 6, 5  # source and target tokens
LENGTHS = (4, K, 1)
SIZES = {"d_model": 16, "num_heads": 4, "num_layers": 2, "d_ff": 24, "dropout": 0.0}
MODELS = {
    "encoder": lambda **o: Encoder(SOURCES, **o),
    "classifier": lambda **o: Classifier(SOURCES, CLASSES, **o),
    "translator": lambda **o: Transformer(SOURCES, TARGETS, **o),
    "language": lambda **o: LanguageModel(TARGETS, **o),
}
READERS, WRITERS = ("encoder", "classifier", "translator"), ("translator", "language")
POSITIONS = ("sinusoidal", "learned", "rotary", "alibi", None)


@dataclasses.dataclass(frozen=True)
class Architecture:
    """A kind of model and its choices."""

    kind: str
    norm: str = "pre"
    positions: str | None = "sinusoidal"
    kv: int = 4
    other: tuple = ()

    def build(self, **changes):
        torch.manual_seed(0)
        options = SIZES | dict(self.other) | changes
        options |= {"norm": self.norm, "positions": self.positions, "num_kv_heads": self.kv}
        model = MODELS[self.kind](**options).eval()
        for name, parameter in model.named_parameters():
            if name.endswith("bias"):
                torch.nn.init.normal_(parameter, std=0.1)
        return model

    def __str__(self):
        other = [f"{name}={value}" for name, value in self.other]
        return "-".join([self.kind, self.norm, str(self.positions), f"kv{self.kv}", *other])


ARCHITECTURES = [
    *(Architecture(k, n, p) for k in MODELS for n in ("pre", "post") for p in POSITIONS),
    *(Architecture(k, positions=p, kv=kv) for k in MODELS for p in ("rotary", "alibi")
      for kv in (1, 2)),
    Architecture("classifier", other=(("pool", "first"),)),
    *(Architecture(k, other=(("tie", "none"),)) for k in WRITERS),
]  # fmt: skip


def tokens(rows, n, size, seed=0):
    return torch.randint(size, (rows, n), generator=torch.Generator().manual_seed(seed))


def reads(model):
    return not isinstance(model, LanguageModel)


def writes(model):
    return isinstance(model, Transformer | LanguageModel)


def inputs_of(model):
    """Arguments of one call: sources of unequal lengths, or prompts of one, and targets."""
    rows = len(LENGTHS)
    if not reads(model):
        return tokens(rows, 2, TARGETS), None, tokens(rows, Q, TARGETS, seed=1)
    source = tokens(rows, K, SOURCES), torch.tensor(LENGTHS)
    return (*source, tokens(rows, Q, TARGETS, seed=1)) if writes(model) else source


def answer(model, *inputs) -> Tensor:
    """Outputs of an encoder, logits of the others, with zeros where a source has ended."""
    output = model(*inputs)
    if not isinstance(model, Encoder):
        return output.logits
    return output.outputs if output.mask is None else output.outputs * output.mask.mT


def close(x, y, atol=1e-5):
    torch.testing.assert_close(x, y, atol=atol, rtol=0)


def map_tensors(function, tree):
    """`function` of every tensor of nested tuples; whatever else stands there stays."""
    if isinstance(tree, Tensor):
        return function(tree)
    if not isinstance(tree, tuple):
        return tree
    parts = [map_tensors(function, part) for part in tree]
    return type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)


def leaves(tree):
    found = []
    map_tensors(found.append, tree)
    return found


# the laws: each takes a model and raises AssertionError where it does not hold


def cached_is_uncached(model):
    """Token by token, in two parts cut anywhere, and at once: the same logits."""
    source, lengths, inputs = inputs_of(model)
    whole = answer(model, source, lengths, inputs)
    state, logits = model.start(source, lengths), []
    for i in range(Q):
        output = model.step(inputs[:, i : i + 1], state)
        logits.append(output.logits)
        state = output.state
        prefix = answer(model, source, lengths, inputs[:, : i + 1])
        close(torch.cat(logits, dim=1), prefix)
        close(prefix, whole[:, : i + 1])
        rest = model.step(inputs[:, i + 1 :], state) if i + 1 < Q else None
        close(torch.cat([*logits, *([rest.logits] if rest else [])], dim=1), whole)


def evaluation_is_training(model):
    """Without dropout, both modes give the same."""
    inputs = inputs_of(model)
    quiet = answer(model, *inputs)
    close(answer(model.train(), *inputs), quiet, atol=1e-6)


def the_future_never_reaches_the_past(model):
    """In either mode, other tokens after place i change nothing up to i, and something after."""
    source, lengths, inputs = inputs_of(model)
    for mode in (False, True):
        model.train(mode)
        whole = answer(model, source, lengths, inputs)
        for i in range(Q - 1):
            other = inputs.clone()
            other[:, i + 1 :] = (other[:, i + 1 :] + 5) % TARGETS
            changed = answer(model, source, lengths, other)
            close(changed[:, : i + 1], whole[:, : i + 1], atol=1e-6)
            assert (changed[:, i + 1 :] - whole[:, i + 1 :]).abs().amax(dim=(1, 2)).min() > 1e-3


def padding_never_reaches_an_output(model, amount=3, junk=10**6):
    """Longer rows and other ids at padding change nothing; the token before it does."""
    source, lengths, *rest = inputs_of(model)
    whole = answer(model, source, lengths, *rest)
    for ids in (0, 7, junk, -1):
        padded = torch.cat((source, torch.full((len(source), amount), ids)), dim=1)
        for row, length in enumerate(lengths.tolist()):
            padded[row, length:] = ids
        wider = answer(model, padded, lengths, *rest)
        n = whole.shape[1] if whole.dim() == 3 else None
        close(wider[:, :n], whole, atol=1e-5)
    for row, length in enumerate(lengths.tolist()):
        alone = source[row : row + 1, :length], None, *(r[row : row + 1] for r in rest)
        own = answer(model, *alone)
        n = length if isinstance(model, Encoder) else None
        close(whole[row : row + 1, :n], own, atol=1e-5)
        before = source.clone()
        before[row, length - 1] = (before[row, length - 1] + 1) % SOURCES
        assert (answer(model, before, lengths, *rest)[row] - whole[row]).abs().max() > 1e-4


def states_can_be_branched(model):
    """Two futures of one state, and of its rows taken, doubled, reordered; no state changes."""
    source, lengths, inputs = inputs_of(model)
    state = model.start(source, lengths)
    for i in range(2):
        state = model.step(inputs[:, i : i + 1], state).state
    before = [leaf.clone() for leaf in leaves(state)]
    assert all(leaf.shape[0] == len(source) for leaf in leaves(state))
    for rows in (torch.arange(len(source)), torch.tensor([2, 0, 0, 1, 2])):
        branched = map_tensors(lambda leaf, rows=rows: leaf.index_select(0, rows), state)
        for begun in (branched, state) if len(rows) == len(source) else (branched,):
            nexts = [tokens(len(rows), 1, TARGETS, seed=seed) for seed in (5, 6)]
            firsts = [model.step(t, begun) for t in nexts]
            seconds = [model.step(t, f.state) for t, f in zip(nexts, firsts, strict=True)]
            assert torch.equal(model.step(nexts[0], begun).logits, firsts[0].logits)
            for t, *outputs in zip(nexts, firsts, seconds, strict=True):
                line = torch.cat((inputs[rows, :2], t, t), dim=1)
                own = None if lengths is None else lengths[rows]
                wanted = answer(model, source[rows], own, line)[:, 2:]
                close(torch.cat([o.logits for o in outputs], dim=1), wanted)
    assert all(map(torch.equal, leaves(state), before))


LAWS = {
    cached_is_uncached: writes,
    evaluation_is_training: lambda model: True,
    the_future_never_reaches_the_past: writes,
    padding_never_reaches_an_output: reads,
    states_can_be_branched: writes,
}


def cases():
    for law, concerns in LAWS.items():
        for architecture in ARCHITECTURES:
            if concerns(architecture.build()):
                yield pytest.param(law, architecture, id=f"{law.__name__}-{architecture}")


@pytest.mark.parametrize("grad", [True, False], ids=["grad", "no_grad"])
@pytest.mark.parametrize(("law", "architecture"), list(cases()))
def test_law(law, architecture, grad):
    with torch.set_grad_enabled(grad):
        law(architecture.build())


@given(amount=st.integers(0, 9), junk=st.integers(-(2**62), 2**62))
def test_any_amount_of_any_padding(amount, junk):
    padding_never_reaches_an_output(Architecture("translator").build(), amount, junk)


# bugs that the laws must find


def position_zero_at_each_step(model):
    embed = transformer.TokenEmbedding.forward
    broken = lambda self, ids, offset=0: embed(self, ids, offset=0)  # noqa: E731
    return mock.patch.object(transformer.TokenEmbedding, "forward", broken)


def rotary_without_its_offset(model):
    turn = transformer.sublayers.MultiHeadAttention._turn
    broken = lambda self, heads, offset: turn(self, heads, 0)  # noqa: E731
    return mock.patch.object(transformer.sublayers.MultiHeadAttention, "_turn", broken)


def causal_in_training_only(model):
    def broken(x, past):
        q, t = x.shape[1], past[0].keys.shape[2]
        return causal_mask(q, t + q, offset=t) if stack.training else None

    stack = model.stack
    patches = [
        mock.patch.object(module, "future_mask", broken)
        for module in (transformer.stacks, transformer.models)
    ]
    return Together(patches)


def no_mask_of_the_source(model):
    return mock.patch.object(transformer.models, "padding_mask", lambda source, lengths: None)


def a_cache_written_in_place(model):
    def broken(self, later):
        if self.keys.shape[2] == 0:
            return later
        for mine, theirs in zip(self[:2], later[:2], strict=True):
            mine[:, :, -1:] = theirs[:, :, -1:]
        return real(self, later)

    real = transformer.states.KeyValues.append
    return mock.patch.object(transformer.states.KeyValues, "append", broken)


def a_cache_that_writes_over_what_others_read(model):
    """Its room does not know who has written there first."""
    real = Room.fits

    def broken(self, held, n):
        self.used = held.keys.shape[2]
        return real(self, held, n)

    return mock.patch.object(Room, "fits", broken)


class Together:
    """Several patches as one context."""

    def __init__(self, patches):
        self.patches = patches

    def __enter__(self):
        for patch in self.patches:
            patch.start()

    def __exit__(self, *_):
        for patch in self.patches:
            patch.stop()


@pytest.mark.parametrize(
    ("bug", "law", "architecture"),
    [
        (position_zero_at_each_step, cached_is_uncached, Architecture("translator")),
        (position_zero_at_each_step, cached_is_uncached, Architecture("language")),
        (rotary_without_its_offset, cached_is_uncached, Architecture("language", "pre", "rotary")),
        (causal_in_training_only, the_future_never_reaches_the_past, Architecture("translator")),
        (causal_in_training_only, evaluation_is_training, Architecture("language")),
        (causal_in_training_only, cached_is_uncached, Architecture("language")),
        (no_mask_of_the_source, padding_never_reaches_an_output, Architecture("translator")),
        (no_mask_of_the_source, padding_never_reaches_an_output, Architecture("classifier")),
        (
            a_cache_that_writes_over_what_others_read,
            states_can_be_branched,
            Architecture("language"),
        ),
        (a_cache_written_in_place, states_can_be_branched, Architecture("language")),
    ],
    ids=lambda part: getattr(part, "__name__", str(part)),
)
def test_a_law_finds_the_bug(bug, law, architecture):
    model = architecture.build()
    with torch.no_grad():
        law(model)
        model.eval()
        with pytest.raises(AssertionError), bug(model):
            law(model)
