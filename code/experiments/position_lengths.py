"""What position encodings do past the length they were trained on: three tasks, five models.

The tasks are made here, so that their truth is known. In `markov` a token depends on the two
before it: all that matters is near, in a sequence of any length. In `repeat` a sequence repeats
itself with a period of its own: what matters is further back, and never further than in training.
In `back` every place must name the token 20 places back, which only the offset tells from others.
Chapter 6 trains one seed of one; `make train` trains three of each and stores the table.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from attnbook.masks import causal_mask, window_mask
from attnbook.multihead import MultiHeadAttention
from attnbook.transformer import LanguageModel

from .loop import learn

SEEDS = range(3)
KINDS = ("none", "sinusoidal", "learned", "rotary", "alibi")
VOCAB = 8  # tokens of every task
SHARES = (0.55, 0.25, 0.15, 0.05)  # of the four tokens that may follow a pair
PERIODS = (4, 12)  # shortest and longest
TRAINED = 32  # tokens of a training sequence
LENGTHS = (32, 64, 128, 256)  # at which perplexity is taken
STEPS = 600  # of training
RATE = 3e-3  # the highest of a training
KNOWN = TRAINED - 1  # the largest offset that a model has been trained on
WINDOWS = (2, 16, 32)  # tokens that a model may look back on, its own included


def markov(b: int, n: int, generator: torch.Generator) -> Tensor:
    """Sequences (b, n) in which each pair of tokens has its own four successors."""
    fixed = torch.Generator().manual_seed(2017)  # the same language for every seed
    successors = torch.rand(VOCAB**2, VOCAB, generator=fixed).argsort(dim=-1)
    picks = torch.multinomial(torch.tensor(SHARES), b * n, replacement=True, generator=generator)
    picks = picks.reshape(b, n)
    x = torch.randint(VOCAB, (b, n), generator=generator)
    for t in range(2, n):
        pair = x[:, t - 2] * VOCAB + x[:, t - 1]
        x[:, t] = successors[pair, picks[:, t]]
    return x


def repeat(b: int, n: int, generator: torch.Generator) -> Tensor:
    """Random tokens that come again with a period of 4 to 12, each sequence its own, (b, n)."""
    least, most = PERIODS
    first = torch.randint(VOCAB, (b, most), generator=generator)
    period = torch.randint(least, most + 1, (b, 1), generator=generator)
    return first.gather(1, torch.arange(n) % period)


def noise(b: int, n: int, generator: torch.Generator) -> Tensor:
    """Random tokens (b, n); `targets` asks at every place for one further back."""
    return torch.randint(VOCAB, (b, n), generator=generator)


LANGUAGES = {"markov": markov, "repeat": repeat, "back": noise}
TRIED = {"markov": KINDS, "repeat": KINDS, "back": ("sinusoidal", "rotary", "alibi")}
BACK = 20  # places
DECIDED = {"markov": 2, "repeat": PERIODS[1], "back": BACK + 1}  # from here on the past decides


def targets(language: str, x: Tensor) -> Tensor:
    """What a model that has read x (b, n + 1) up to each place must say there, (b, n)."""
    return x[:, :-1].roll(BACK, dims=1) if language == "back" else x[:, 1:]


def best_perplexity(language: str) -> float:
    """What a model that knows the language reaches."""
    if language == "markov":
        return math.exp(-sum(share * math.log(share) for share in SHARES))
    return 1.0


def build(kind: str, seed: int) -> LanguageModel:
    """An untrained causal model of two blocks with positions of this kind."""
    torch.manual_seed(seed)
    return LanguageModel(
        VOCAB,
        d_model=64,
        num_heads=4,
        num_layers=2,
        d_ff=128,
        dropout=0.0,
        positions=None if kind == "none" else kind,
        max_len=TRAINED if kind == "learned" else LENGTHS[-1],
    )


def logits(
    model: LanguageModel,
    x: Tensor,
    *,
    mask: Tensor | None = None,
    clip: int | None = None,
    far: int | Tensor | None = None,
) -> Tensor:
    """Logits (b, n, vocabulary) for tokens x (b, n), each of which sees those before it.

    Args:
        mask: (n, n), which of those it may see; None is all.
        clip: rotary models score a key that is further away as if it stood `far` places away.
        far: None is `clip`; (p / 2,) gives each pair of features an offset of its own.
    """
    mask = causal_mask(x.shape[1]) if mask is None else mask & causal_mask(x.shape[1])
    if clip is None:
        return model.output(model.stack(model.embedding(x), mask=mask).x)
    far = clip if far is None else far
    h = model.embedding(x)
    for block in model.stack.blocks:
        layer = block.self_attention
        h = layer.after(h, clipped_attention(layer.attention, layer.before(h), mask, clip, far))
        h = block.feed_forward(h)
    return model.output(model.stack.norm(h))


def clipped_attention(
    layer: MultiHeadAttention, x: Tensor, mask: Tensor, clip: int, far: int | Tensor
) -> Tensor:
    """Rotary self-attention (b, n, d) -> (b, n, d) in which keys beyond `clip` stand at one offset.

    It is `far`, or, where this holds a number for each pair of features, (p / 2,), each pair's own.
    """
    turn, heads = layer.positions, (layer.num_heads, -1)
    matrices = layer.W_q, layer.W_k, layer.W_v
    q, k, v = (W(x).unflatten(-1, heads).transpose(1, 2) for W in matrices)
    p = q.shape[-1]  # q, k and v are (b, h, n, p)
    # a far key stands at 0, where nothing is turned, and its query at `far`
    angle = far * 10_000 ** (-torch.arange(0, p, 2) / p)  # (p / 2,): from fast to slow
    left, right, cos, sin = q[..., 0::2], q[..., 1::2], angle.cos(), angle.sin()
    moved = torch.stack((left * cos - right * sin, left * sin + right * cos), dim=-1)
    near = window_mask(x.shape[1], None, clip + 1)  # True where i - j <= clip
    a = torch.where(near, turn(q) @ turn(k).mT, moved.flatten(-2) @ k.mT) / math.sqrt(p)
    alpha = a.masked_fill(~mask, -torch.inf).softmax(dim=-1)
    return layer.W_o((alpha @ v).transpose(1, 2).flatten(2))


def losses(model: LanguageModel, language: str, x: Tensor, **sight) -> Tensor:
    """Cross-entropy at each of the n places of x (b, n + 1), (b, n); `sight` as in `logits`."""
    z = logits(model, x[:, :-1], **sight)
    return F.cross_entropy(z.mT, targets(language, x), reduction="none")


def train(
    model: LanguageModel, language: str, seed: int, steps: int = STEPS, rate: float = RATE
) -> list:
    """32 new sequences a step, of the trained length; the loss after each step."""
    generator = torch.Generator().manual_seed(1000 + seed)

    def loss(step: int) -> Tensor:
        x = LANGUAGES[language](32, TRAINED + 1, generator)
        return losses(model, language, x)[:, DECIDED[language] - 1 :].mean()

    return learn(model, loss, steps=steps, rate=rate, warmup=0.1, clip=1.0)


def trained(kind: str, language: str, seed: int, **options) -> LanguageModel:
    """A model trained from `seed`; options as in `train`."""
    model = build(kind, seed)
    train(model, language, seed, **options)
    return model


@torch.no_grad()
def by_place(model: LanguageModel, language: str, *, sequences: int = 256, **sight) -> Tensor:
    """Mean loss at places 1 to n of new sequences: (n,), n the longest the model can read."""
    learned = model.config.positions == "learned"
    n = model.config.max_len if learned else LENGTHS[-1]
    generator = torch.Generator().manual_seed(5000)
    x = LANGUAGES[language](sequences, LENGTHS[-1] + 1, generator)[:, : n + 1]
    return losses(model, language, x, **sight).mean(dim=0)


def ends(near: int, n: int = LENGTHS[-1]) -> Tensor:
    """A mask (n, n) that shows the `near` last tokens and the `near` first ones."""
    return window_mask(n, n, near) | (torch.arange(n) < near)


def perplexity(loss: Tensor, n: int) -> float | None:
    """exp of the mean loss over the last quarter of the first n places; None past the last."""
    return math.exp(loss[n - n // 4 : n].mean().item()) if n <= len(loss) else None


def perplexities(loss: Tensor) -> dict[str, float | None]:
    """At every length."""
    return {str(n): perplexity(loss, n) for n in LENGTHS}


def trace() -> dict[str, list[float]]:
    """Losses of a brief training with each kind on the first two tasks in turn, and of `back`."""
    pairs = zip((*KINDS, "rotary"), (*("markov", "repeat") * 2, "markov", "back"), strict=True)
    paths = [train(build(kind, 0), language, 0, steps=20) for kind, language in pairs]
    return dict(zip((*KINDS, "back"), paths, strict=True))


def run(seed: int) -> list[dict]:
    """A row for every task and the kinds that are tried on it."""
    return [row(seed, language, kind) for language in LANGUAGES for kind in TRIED[language]]


def row(seed: int, language: str, kind: str) -> dict:
    """Perplexity of a trained model at every length, and at the last with part of the keys."""
    model = trained(kind, language, seed)
    found = {"seed": seed, "language": language, "positions": kind}
    found |= perplexities(by_place(model, language))
    for name, sight in sights(language, kind).items():
        found[name] = perplexity(by_place(model, language, **sight), LENGTHS[-1])
    return found


def sights(language: str, kind: str) -> dict[str, dict]:
    """Which keys a model sees in further readings of the longest texts, and how."""
    n, seen = LENGTHS[-1], {}
    if language == "markov" and kind in ("sinusoidal", "rotary"):
        seen |= {f"window {w}": {"mask": window_mask(n, n, w)} for w in WINDOWS}
        seen["16 near, 16 far"] = {"mask": ends(16)}
    if language in ("markov", "back") and kind == "rotary":
        seen["clipped"] = {"clip": KNOWN}
    return seen
