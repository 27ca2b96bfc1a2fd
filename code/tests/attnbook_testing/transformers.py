"""Small Transformers of every kind, and one sentence through the equations, slowly."""

import math
from typing import NamedTuple

import torch
from torch import nn

from attnbook.multihead import MultiHeadAttention
from attnbook.transformer import Classifier, Encoder, LanguageModel, Transformer

SOURCES, TARGETS, CLASSES = 11, 13, 3
SIZES = {"d_model": 16, "num_heads": 4, "num_layers": 2, "d_ff": 24, "dropout": 0.0}
MODELS = {
    "encoder": lambda **o: Encoder(SOURCES, **o),
    "classifier": lambda **o: Classifier(SOURCES, CLASSES, **o),
    "translator": lambda **o: Transformer(SOURCES, TARGETS, **o),
    "language": lambda **o: LanguageModel(TARGETS, **o),
}


def normal(*shape, seed=0):
    random = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=random, dtype=torch.float64)


def tokens(rows, n, size, seed=0):
    return torch.randint(size, (rows, n), generator=torch.Generator().manual_seed(seed))


SOURCE, LENGTHS = tokens(3, 6, SOURCES), torch.tensor([4, 6, 1])
INPUTS, PROMPT = tokens(3, 5, TARGETS, seed=1), tokens(3, 2, TARGETS)


class Architecture(NamedTuple):
    """A kind of model and its choices."""

    kind: str
    norm: str = "pre"
    positions: str | None = "sinusoidal"
    kv: int = 4
    other: tuple = ()

    def build(self, dtype=torch.float64, **changes):
        """The model, in evaluation mode; what begins as 0 or 1 is drawn, so that it counts."""
        torch.manual_seed(0)
        choices = {"norm": self.norm, "positions": self.positions, "num_kv_heads": self.kv}
        model = MODELS[self.kind](**SIZES | choices | dict(self.other) | changes)
        for name, parameter in model.named_parameters():
            if parameter.dim() == 1:
                nn.init.normal_(parameter, mean=float("norm.weight" in name), std=0.2)
        return model.eval().to(dtype)

    def inputs(self):
        """Arguments of a call: sources of unequal lengths, or prompts of one, and targets."""
        if self.kind == "language":
            return PROMPT, None, INPUTS
        return (SOURCE, LENGTHS, INPUTS) if self.kind == "translator" else (SOURCE, LENGTHS)

    def __str__(self):
        return "-".join(map(str, [*self[:3], f"kv{self.kv}", *(v for _, v in self.other)]))


ARCHITECTURES = [
    Architecture("encoder", "pre", "rotary", 2),
    Architecture("encoder", "post", "sinusoidal"),
    Architecture("classifier", "pre", "learned", 1),
    Architecture("classifier", "post", "alibi", other=(("pool", "first"),)),
    Architecture("translator", "pre", "sinusoidal"),
    Architecture("translator", "post", "learned", 2),
    Architecture("translator", "pre", "alibi", 2, (("tie", "none"),)),
    Architecture("translator", "post", "rotary", 1),
    Architecture("translator", "pre", None),
    Architecture("language", "pre", "rotary", 2),
    Architecture("language", "post", "alibi", 1),
    Architecture("language", "pre", "learned", other=(("tie", "none"),)),
]


def weights_of(model, *inputs):
    """Weights (b, h, q, k) of a call, by the name of the attention that they are of."""
    if isinstance(model, Transformer):
        encoder, own, cross = model.weights(*inputs)
    else:
        encoder = own = cross = model(*inputs, need_weights=True).weights
    found = {}
    for name, module in model.named_modules():
        if isinstance(module, MultiHeadAttention):
            whole = cross if "cross" in name else encoder if name.startswith("encoder") else own
            found[name] = whole[:, int(name.split("blocks.")[1][0])]
    return found


class Slow:
    """One sentence through the equations, from a model's parameters alone.

    No batch, no padding, no cache: a causal sum goes over the tokens so far. Weights are
    collected by the name of their attention, (h, q, k) each.
    """

    def __init__(self, model):
        self.config = model.encoder.config if isinstance(model, Classifier) else model.config
        self.p = {name: tensor.double() for name, tensor in model.state_dict().items()}
        self.weights = {}

    def linear(self, name, x):
        return x @ self.p[f"{name}.weight"].T + self.p.get(f"{name}.bias", 0.0)

    def norm(self, name, x):
        y = x - x.mean(-1, keepdim=True)
        y = y / (y.square().mean(-1, keepdim=True) + 1e-5).sqrt()
        return y * self.p[f"{name}.weight"] + self.p[f"{name}.bias"]

    def embed(self, name, ids):
        d, x = self.config.d_model, self.p[f"{name}.tokens.weight"][ids]
        x = x * math.sqrt(d)
        if self.config.positions == "learned":
            return x + self.p[f"{name}.positions.table"][: len(ids)]
        if self.config.positions == "sinusoidal":
            angles = [[p / 10_000 ** ((i - i % 2) / d) for i in range(d)] for p in range(len(ids))]
            waves = [
                [math.cos(a) if i % 2 else math.sin(a) for i, a in enumerate(row)] for row in angles
            ]
            return x + torch.tensor(waves, dtype=torch.float64)
        return x

    def turned(self, x):
        """Rotary: pairs of features as complex numbers, (n, d)."""
        n, d = x.shape
        angles = [[p / 10_000 ** (2 * i / d) for i in range(d // 2)] for p in range(n)]
        angles = torch.tensor(angles, dtype=torch.float64)
        pairs = torch.view_as_complex(x.reshape(n, -1, 2).contiguous())
        return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(1)

    def attend(self, name, x, memory, causal):
        heads, kv = self.config.num_heads, self.config.num_kv_heads
        kind = None if "cross" in name else self.config.positions
        queries, keys, values = (
            self.linear(f"{name}.{w}", y).chunk(n, dim=-1)
            for w, y, n in (("W_q", x, heads), ("W_k", memory, kv), ("W_v", memory, kv))
        )
        found, outputs = [], []
        for h, q in enumerate(queries):
            k, v = keys[h * kv // heads], values[h * kv // heads]
            q, k = (self.turned(q), self.turned(k)) if kind == "rotary" else (q, k)
            rows = []
            for i in range(len(q)):
                scores = (k[: i + 1] if causal else k) @ q[i] / math.sqrt(len(q[i]))
                if kind == "alibi":  # slopes of four heads: 1/4, 1/16, 1/64, 1/256
                    scores = scores - 4.0 ** -(h + 1) * (torch.arange(len(scores)) - i).abs()
                weights = scores.softmax(-1)
                rows.append(nn.functional.pad(weights, (0, len(k) - len(weights))))
            found.append(torch.stack(rows))
            outputs.append(found[-1] @ v)
        self.weights[name] = torch.stack(found)
        return self.linear(f"{name}.W_o", torch.cat(outputs, dim=-1))

    def stack(self, name, x, memory=None, causal=False):
        pre = self.config.norm == "pre"
        for layer in range(self.config.num_layers):
            block = f"{name}.blocks.{layer}"

            def forward(y, block=block):
                inner = self.linear(f"{block}.feed_forward.layers.0", y).clamp(min=0)
                return self.linear(f"{block}.feed_forward.layers.2", inner)

            def itself(y, block=block):
                return self.attend(f"{block}.self_attention.attention", y, y, causal)

            def source(y, block=block):
                return self.attend(f"{block}.cross_attention.attention", y, memory, False)

            parts = {"self_attention": itself, "cross_attention": source, "feed_forward": forward}
            for part, f in parts.items():
                if f is not source or memory is not None:
                    norm = f"{block}.{part}.norm"
                    x = x + f(self.norm(norm, x)) if pre else self.norm(norm, x + f(x))
        return self.norm(f"{name}.norm", x) if pre else x

    def encode(self, ids, prefix=""):
        return self.stack(f"{prefix}stack", self.embed(f"{prefix}embedding", ids))

    def answer(self, model, source, inputs=None):
        """Outputs of an encoder, logits of the others, for ids (k,) and (q,)."""
        if isinstance(model, Encoder):
            return self.encode(source)
        if isinstance(model, Classifier):
            x = self.encode(source, "encoder.")
            return self.linear("output", x[0] if model.pool == "first" else x.mean(0))
        if isinstance(model, Transformer):
            memory = self.encode(source, "encoder.")
            x = self.stack("stack", self.embed("embedding", inputs), memory, causal=True)
            return self.linear("output", x)
        x = self.embed("embedding", torch.cat((source, inputs)))
        return self.linear("output", self.stack("stack", x, causal=True)[len(source) :])
