"""A decoder-only language model whose parts can be those of 2017, of today, or some of each.

One model of today's parts in the size of nanoGPT's small run learns tiny Shakespeare in batches of
the same size, for as many steps, and its weights are kept. Its learning rate is the best of `RATES`
after shorter trainings, on one half of the held-out text. The variants are in `language_parts`.

Sources: RMSNorm, Zhang and Sennrich 2019; SwiGLU, Shazeer 2020; rotary positions, Su et al. 2021;
shared keys and values, Shazeer 2019 and Ainslie et al. 2023; all of them together, Touvron et al.
2023, section 2.2. The sizes: karpathy/nanoGPT, README.
"""

from __future__ import annotations

import hashlib
import math
from functools import cache, partial
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnbook.data import shakespeare
from attnbook.masks import causal_mask
from attnbook.multihead import KeyValues, MultiHeadAttention
from attnbook.positions import RotaryPositions, SinusoidalPositions
from attnbook.training import History, fit, mean_loss, set_seed
from attnbook.transformer import Output, TransformerState

from .ladder import ladder
from .loop import curve, losses, parameters
from .stored import load_into

SEEDS = (0,)
RATES = 2e-3, 4e-3, 8e-3
RATE = 4e-3  # the best of them after TRIED steps of the seed TRIAL
TRIAL, TRIED = 100, 400
CHARACTERS = (
    "\n !$&',-.3:;?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # of tiny Shakespeare
)
BLOCK, BATCH = 64, 12  # characters that are predicted at once, and how often


class Parts(NamedTuple):
    """The choices of a model; `kv_heads` None is as many as heads."""

    norm: str = "rms"
    network: str = "swiglu"
    positions: str = "rotary"
    bias: bool = False
    kv_heads: int | None = 2
    tied: bool = True


class Size(NamedTuple):
    """How large a model is, and how many steps it learns."""

    d: int
    heads: int
    layers: int
    steps: int


TODAY = Parts()
OF_2017 = Parts("layer", "relu", "sinusoidal", True, None, True)
LARGE = Size(d=128, heads=4, layers=4, steps=2_000)  # nanoGPT's small run


class Network(nn.Module):
    """The feed-forward network: a ReLU between two layers, or a gate, W_2(silu(W_1 x) * W_3 x).

    Source: Vaswani et al. 2017, equation 2; Shazeer 2020, equation 6.
    """

    def __init__(self, parts: Parts, d: int, d_ff: int):
        super().__init__()
        self.W_1, self.W_2 = _linear(d, d_ff, parts.bias), _linear(d_ff, d, parts.bias)
        self.W_3 = _linear(d, d_ff, parts.bias) if parts.network == "swiglu" else None

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.W_1(x)  # (b, q, d) -> (b, q, d_ff)
        hidden = hidden.relu() if self.W_3 is None else F.silu(hidden) * self.W_3(x)
        return self.W_2(hidden)


class Block(nn.Module):
    """Attention to oneself and what is past, then the network; each normalised before."""

    def __init__(self, parts: Parts, d: int, heads: int, d_ff: int, positions: nn.Module | None):
        super().__init__()
        options = {"num_kv_heads": parts.kv_heads, "bias": parts.bias, "positions": positions}
        self.norm_1, self.attention = _norm(parts, d), MultiHeadAttention(d, heads, **options)
        self.norm_2, self.network = _norm(parts, d), Network(parts, d, d_ff)

    def forward(self, x: Tensor, mask: Tensor | None, past: KeyValues, need_weights: bool):
        """x (b, q, d) -> the same; keys and values of all t + q tokens; weights or None."""
        read, offset = self.norm_1(x), past.keys.shape[2]
        own = past.append(self.attention.project(read, offset=offset))
        options = {"mask": mask, "offset": offset, "need_weights": need_weights}
        output, weights = self.attention.attend(read, own, **options)
        x = x + output
        return x + self.network(self.norm_2(x)), own, weights


class Model(nn.Module):
    """A decoder-only model, which `attnbook.decoding` can ask: `start` and `step`.

    Shapes: ids (b, q) -> logits (b, q, vocab_size).

    Args:
        vocab_size: token ids run from 0 to `vocab_size` - 1.
        d, heads, layers: sizes.
        d_ff: hidden units of a network; None: so many that the model has as many parameters as
            that of 2017 with 4 d.
        parts: which part is of which kind.
    """

    def __init__(
        self,
        vocab_size: int,
        d: int,
        heads: int,
        layers: int,
        d_ff: int | None = None,
        parts: Parts = TODAY,
    ):
        super().__init__()
        d_ff = equal_width(vocab_size, d, heads, layers, parts) if d_ff is None else d_ff
        self.tokens = nn.Embedding(vocab_size, d)
        nn.init.normal_(self.tokens.weight, std=d**-0.5)
        self.scale = math.sqrt(d)
        rotary = parts.positions == "rotary"
        self.places = None if rotary else SinusoidalPositions(d)
        turns = RotaryPositions(d // heads) if rotary else None
        self.blocks = nn.ModuleList(Block(parts, d, heads, d_ff, turns) for _ in range(layers))
        self.norm, self.output = _norm(parts, d), nn.Linear(d, vocab_size, bias=False)
        nn.init.normal_(self.output.weight, std=d**-0.5)
        if parts.tied:
            self.output.weight = self.tokens.weight

    def start(self, source: Tensor, source_lens: Tensor | None = None) -> TransformerState:
        """Read prompts (b, k) of one length, k = 0 for none."""
        attentions = (block.attention for block in self.blocks)
        sizes = ((len(source), a.num_kv_heads, 0, a.d_model // a.num_heads) for a in attentions)
        empty = (self.tokens.weight.new_empty(size) for size in sizes)
        state = TransformerState(tuple(KeyValues(e, e) for e in empty))
        return self.step(source, state).state if source.shape[1] else state

    def step(self, inputs: Tensor, state: TransformerState, need_weights: bool = False) -> Output:
        """Read ids (b, q) after t others: logits for the token after each."""
        t, q = state.past[0].keys.shape[2], inputs.shape[1]
        mask = None if q == 1 else causal_mask(q, t + q, offset=t, device=inputs.device)
        return self.read(inputs, mask, state, need_weights)

    def read(
        self, inputs: Tensor, mask: Tensor | None, state: TransformerState, need_weights: bool
    ) -> Output:
        """A step under any mask of queries and all keys, (q, t + q) or (b, q, t + q)."""
        x, weights, past = self.features(inputs, mask, state, need_weights)
        return Output(self.output(x), weights, TransformerState(past))

    def features(
        self, inputs: Tensor, mask: Tensor | None, state: TransformerState, need_weights: bool
    ) -> tuple[Tensor, Tensor | None, tuple[KeyValues, ...]]:
        """What the output layer reads, (b, q, d), weights (b, l, h, q, t + q), keys and values."""
        x = self.tokens(inputs) * self.scale  # (b, q) -> (b, q, d)
        if self.places is not None:
            x = self.places(x, offset=state.past[0].keys.shape[2])
        past, weights = [], []
        for block, before in zip(self.blocks, state.past, strict=True):
            x, own, w = block(x, mask, before, need_weights)
            past.append(own)
            weights.append(w)
        return self.norm(x), torch.stack(weights, dim=1) if need_weights else None, tuple(past)

    def forward(self, ids: Tensor) -> Tensor:
        return self.step(ids, self.start(ids[:, :0])).logits


def _norm(parts: Parts, d: int) -> nn.Module:
    return nn.RMSNorm(d, eps=1e-6) if parts.norm == "rms" else nn.LayerNorm(d, bias=parts.bias)


def _linear(inputs: int, outputs: int, bias: bool) -> nn.Linear:
    linear = nn.Linear(inputs, outputs, bias=bias)
    nn.init.xavier_uniform_(linear.weight)
    if bias:
        nn.init.zeros_(linear.bias)
    return linear


@cache
def equal_width(vocab_size: int, d: int, heads: int, layers: int, parts: Parts) -> int:
    """The `d_ff` with which a model has as many parameters as that of 2017, as nearly as can be."""

    def size(d_ff: int, parts: Parts) -> int:
        with torch.device("meta"):  # shapes without numbers
            return parameters(Model(vocab_size, d, heads, layers, d_ff, parts))

    wanted, one, two = size(4 * d, OF_2017), size(1, parts), size(2, parts)
    return 1 + round((wanted - one) / (two - one))


def encode(text: str) -> Tensor:
    """The numbers of the characters of a text; ValueError where one is not in `CHARACTERS`."""
    if strange := set(text) - set(CHARACTERS):
        raise ValueError(f"text must hold characters of tiny Shakespeare, got {sorted(strange)}")
    return torch.tensor([CHARACTERS.index(c) for c in text])


def decode(ids: Tensor) -> str:
    """The text of numbers (n,)."""
    return "".join(CHARACTERS[i] for i in ids.tolist())


@cache
def parts_of_text() -> tuple[Tensor, Tensor, Tensor]:
    """To learn from (90%, as nanoGPT), to choose by, to judge on (5% each): numbers (n,)."""
    lookup = torch.zeros(128, dtype=torch.long)
    lookup[[ord(c) for c in CHARACTERS]] = torch.arange(len(CHARACTERS))
    ids = lookup[torch.tensor(list(shakespeare().encode("ascii")))]
    first, second = int(0.9 * len(ids)), int(0.95 * len(ids))
    return ids[:first], ids[first:second], ids[second:]


def drawn(
    ids: Tensor, steps: int, seed: int, block: int = BLOCK, batch: int = BATCH
) -> list[Tensor]:
    """So many batches of pieces of a text from random places, each (batch, block + 1)."""
    chance = torch.Generator().manual_seed(seed)
    starts = torch.randint(len(ids) - block, (steps, batch, 1), generator=chance)
    return [ids[at + torch.arange(block + 1)] for at in starts]


def pieces(ids: Tensor, block: int = BLOCK, batch: int = 100) -> list[Tensor]:
    """All of a text, piece after piece; each character but the first is predicted once."""
    whole = ids[: (len(ids) - 1) // block * block + 1]
    return list(whole.unfold(0, block + 1, block).split(batch))


def loss(model: nn.Module, batch: Tensor) -> tuple[Tensor, int]:
    """Cross-entropy per character of pieces (b, n + 1), in nats."""
    inputs, targets = batch[:, :-1], batch[:, 1:]
    return F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten()), targets.numel()


def train(
    parts: Parts, size: Size, rate: float, seed: int, steps: int | None = None
) -> tuple[Model, History]:
    """The trained model, and what its training saw."""
    batches = drawn(parts_of_text()[0], steps or size.steps, seed)
    set_seed(seed)
    model = Model(len(CHARACTERS), size.d, size.heads, size.layers, parts=parts)
    adam = partial(torch.optim.Adam, betas=(0.9, 0.99))
    return model, fit(model, batches, epochs=1, learning_rate=rate, loss=loss, optimizer=adam)


def row(name: str, parts: Parts, size: Size, rate: float, seed: int) -> tuple[dict, Model]:
    """What is stored of one training, and its model."""
    model, history = train(parts, size, rate, seed)
    _, chosen, judged = map(pieces, parts_of_text())
    return {
        "seed": seed,
        "text": "tiny Shakespeare",
        "name": name,
        "d": size.d,
        "steps": len(history.steps),
        "rate": rate,
        "parameters": parameters(model),
        "d_ff": model.blocks[0].network.W_1.out_features,
        "loss by step": curve(losses(history)),
        "validation": mean_loss(model, chosen, loss=loss),
        "test": mean_loss(model, judged, loss=loss),
    }, model


def large() -> Model:
    """The larger model, untrained."""
    return Model(len(CHARACTERS), LARGE.d, LARGE.heads, LARGE.layers)


def run(seed: int, keep) -> dict:
    """The larger model: its row, its weights."""
    found, model = row("large", TODAY, LARGE, RATE, seed)
    keep("language_model", model)
    return found


def tried() -> list[dict]:
    """The rows by which the rate was chosen: shorter trainings, and the text to choose by."""
    size = LARGE._replace(steps=TRIED)
    return ladder(lambda rate: row("large", TODAY, size, rate, TRIAL)[0], RATES)


def trace() -> dict[str, list[float]]:
    """The first steps."""
    return {"large": losses(train(TODAY, LARGE, RATE, 0, steps=20)[1])}


def reread() -> dict[str, dict[str, float]]:
    """The loss of the stored model on the first pieces of the text to judge on."""
    model, few = load_into(large(), "language_model"), pieces(parts_of_text()[2])[:2]
    return {"language_model": {"loss": mean_loss(model, few, loss=loss)}}


def corpus() -> str:
    """The hash of the text."""
    return hashlib.sha256(shakespeare().encode()).hexdigest()
