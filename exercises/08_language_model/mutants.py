"""Typical wrong answers: edits of the solution, each with a test that must fail."""

SQUARE = "mean_square = x.square().mean(dim=-1, keepdim=True)"
NORMED = "return x / (mean_square + eps).sqrt() * gain"
SIZES = "n, p = x.shape[-2:]"
AT = "places = torch.arange(first, first + n)"
SPEEDS = "speeds = 10_000.0 ** (-torch.arange(0, p, 2) / p)"
PAIRS = "even, odd = x[..., 0::2], x[..., 1::2]"
COS = "first_of_pair = even * angles.cos() - odd * angles.sin()"
SIN = "second_of_pair = even * angles.sin() + odd * angles.cos()"
STACK = "return torch.stack((first_of_pair, second_of_pair), dim=-1).flatten(-2)"
SHARE = "k, v = (x.repeat_interleave(h // g, dim=1) for x in (k, v))"
SCORES = "scores = q @ k.transpose(2, 3) / p**0.5"
AXIS = "mask = mask.unsqueeze(-3)"
WEIGHTS = "weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=3)"
EMPTY = "weights = torch.where(mask.any(dim=-1, keepdim=True), weights, 0.0)"
KEPT = "kept = tokens if window is None else min(tokens, window)"
BYTES = "return 2 * layers * g * (d // h) * kept * b * size"
SORTED = "ordered, ids = logits.softmax(dim=-1).sort(dim=-1, descending=True, stable=True)"
BEFORE = "before = ordered.cumsum(dim=-1) - ordered"
TOP = "kept = torch.where(before < p, ordered, 0.0)"
BACK = "kept = torch.zeros_like(logits).scatter(-1, ids, kept)"
TOP_SUM = "return kept / kept.sum(dim=-1, keepdim=True)"
SOFTMAX = "shares = logits.softmax(dim=-1)"
LARGEST = "largest = shares.amax(dim=-1, keepdim=True)"
LIKELY = "likely = torch.where(shares >= p * largest, shares, 0.0)"
MIN_SUM = "return likely / likely.sum(dim=-1, keepdim=True)"
VALID = "valid = targets != pad"
LOG_P = "log_p = logits[valid].log_softmax(dim=1)"
HIT = "hit = log_p.gather(1, targets[valid].unsqueeze(1))"
TOTAL = "total = -hit.sum() / torch.tensor(2.0).log()"
OVER = "return total / characters[targets[valid]].sum().clamp(min=1)"
SEEN = "t = 0 if state is None else int(state[2])"
PAST = "mask = (of_keys <= own) & (of_keys > own - w)  # (n, k)"
OUT = "return x + self.W_o(read), (keys[:, -w:], values[:, -w:], torch.tensor(t + n))"

MUTANTS = {
    "layer norm": (
        "test_q1_mean_square",
        SQUARE,
        "x = x - x.mean(dim=-1, keepdim=True)\n    " + SQUARE,
    ),
    "over all tokens": ("test_q1_mean_square", SQUARE, "mean_square = x.square().mean()"),
    "the first axis after the sentences": (
        "test_q1_norm_formula[4]",
        SQUARE,
        SQUARE.replace("dim=-1", "dim=min(2, x.dim() - 1)"),
    ),
    "the squares of the gain's size too": (
        "test_q1_norm_formula[1]",
        NORMED,
        NORMED.replace("* gain", "* gain / gain.abs().mean()").replace("(gain)", "gain"),
    ),
    "eps outside the root": (
        "test_q1_eps[1e-06]",
        NORMED,
        NORMED.replace("(mean_square + eps).sqrt()", "(mean_square.sqrt() + eps)"),
    ),
    "eps fixed": ("test_q1_eps[0.3]", NORMED, NORMED.replace("eps", "1e-6")),
    "the mean square detached": ("test_q1_norm_gradient", SQUARE, SQUARE + ".detach()"),
    "squared in place": (
        "test_q1_arguments",
        SQUARE,
        "mean_square = x.clone().square().mean(dim=-1, keepdim=True)\n    x *= 1.0001",
    ),
    "always from place 0": ("test_q1_turn_formula[7]", AT, "places = torch.arange(n)"),
    "places from 1": (
        "test_q1_turn_formula[0]",
        AT,
        "places = torch.arange(first + 1, first + 1 + n)",
    ),
    "all pairs at one speed": (
        "test_q1_turn_formula[7]",
        SPEEDS,
        SPEEDS.replace("torch.arange(0, p, 2)", "torch.zeros(p // 2)"),
    ),
    "turned backwards": (
        "test_q1_turn_formula[7]",
        COS,
        COS.replace("cos() - odd", "cos() + odd"),
        SIN,
        "second_of_pair = odd * angles.cos() - even * angles.sin()",
    ),
    "the pairs not put back": (
        "test_q1_turn_axes[1, 4, 1, 8]",
        STACK,
        "return torch.cat((first_of_pair, second_of_pair), dim=-1)",
    ),
    "the axis after the sentences holds tokens": (
        "test_q1_turn_axes[2, 3, 4, 6]",
        SIZES,
        "n, p = x.shape[min(1, x.dim() - 2)], x.shape[-1]",
        PAIRS,
        PAIRS + "\n    while angles.dim() < x.dim() - 1:\n        angles = angles.unsqueeze(1)",
    ),
    "every g-th shares": (
        "test_q2_who_reads_what",
        SHARE,
        "k, v = (x.repeat(1, h // g, 1, 1) for x in (k, v))",
    ),
    "no scale": ("test_q2_grouped[2]", SCORES, "scores = q @ k.transpose(2, 3)"),
    "the mask inverted": ("test_q2_mask[2]", WEIGHTS, WEIGHTS.replace("~mask", "mask")),
    "the mask without an axis for heads": ("test_q2_mask_of_each[4]", AXIS, "pass"),
    "NaN of an empty row": ("test_q2_empty_row", EMPTY, "pass"),
    "masked after the softmax": (
        "test_q2_nothing_to_read",
        WEIGHTS,
        "weights = scores.softmax(dim=3).masked_fill(~mask, 0.0)",
    ),
    "masked by a number that is added": (
        "test_q2_large_scores",
        WEIGHTS,
        "weights = (scores - 1e4 * ~mask).softmax(dim=3)",
    ),
    "the softmax by hand": (
        "test_q2_large_scores",
        WEIGHTS,
        "weights = scores.exp() * mask\n    weights = weights / weights.sum(dim=3, keepdim=True)",
    ),
    "queries scaled in place": (
        "test_q2_empty_row",
        SCORES,
        "q.data *= 1.00001\n    " + SCORES,
    ),
    "weights detached": ("test_q2_gradient", WEIGHTS, WEIGHTS + ".detach()"),
    "heads of queries kept": ("test_q2_bytes", BYTES, BYTES.replace("* g *", "* h *")),
    "keys alone": ("test_q2_cache", BYTES, BYTES.replace("2 * layers", "layers")),
    "the window forgotten": ("test_q2_window", KEPT, "kept = tokens"),
    "a window is always full": (
        "test_q2_window",
        KEPT,
        "kept = tokens if window is None else window",
    ),
    "one token too few": (
        "test_q3_four_tokens",
        TOP,
        "kept = torch.where(before + ordered <= p, ordered, 0.0)",
    ),
    "one token too many": ("test_q3_edge", TOP, TOP.replace("before < p", "before <= p")),
    "not put back in order": ("test_q3_top_p[0.9]", BACK, "kept = kept"),
    "shares over all rows": (
        "test_q3_min_p[0.2]",
        LARGEST,
        "largest = shares.amax()",
    ),
    "min-p of the whole": (
        "test_q3_min_p[0.5]",
        LIKELY,
        LIKELY.replace("p * largest", "p"),
    ),
    "min-p cuts what is equal": ("test_q3_equals", LIKELY, LIKELY.replace(">=", ">")),
    "exponentials overflow": (
        "test_q3_impossible",
        SOFTMAX,
        "shares = logits.exp() / logits.exp().sum(dim=-1, keepdim=True)",
    ),
    "one row alone": (
        "test_q3_axes",
        SORTED,
        SORTED.replace("dim=-1, desc", "dim=min(1, logits.dim() - 1), desc"),
    ),
    "nothing kept at a small share": (
        "test_q3_ends",
        TOP,
        TOP.replace("before < p", "before < p - 1e-4"),
    ),
    "padding counts": ("test_q4_padding", VALID, "valid = targets == targets"),
    "pad is 0": ("test_q4_other_pad", VALID, "valid = targets != 0"),
    "minus infinity times zero": (
        "test_q4_never_pad",
        LOG_P,
        "log_p = logits.log_softmax(dim=2)",
        HIT,
        "hit = log_p.gather(2, targets.unsqueeze(2)).squeeze(2) * valid",
    ),
    "nats": ("test_q4_formula", TOTAL, "total = -hit.sum()"),
    "over tokens": ("test_q4_other_cut", OVER, "return total / valid.sum().clamp(min=1)"),
    "the mean of each token's own": (
        "test_q4_end",
        OVER,
        "own = characters[targets[valid]]\n"
        "    each = -hit.squeeze(1) / torch.tensor(2.0).log() / own.clamp(min=1)\n"
        "    return each[own > 0].sum() / (own > 0).sum().clamp(min=1)",
    ),
    "characters of the padding": (
        "test_q4_formula",
        OVER,
        "return total / characters[targets].sum().clamp(min=1)",
    ),
    "NaN of nothing": ("test_q4_nothing", OVER, OVER.replace(".clamp(min=1)", "")),
    "targets changed in place": ("test_q4_end", HIT, HIT + "\n    targets[~valid] = -100"),
    "loss without gradient": ("test_q4_gradient", LOG_P, LOG_P + ".detach()"),
    "bug left in": ("test_q5_one_by_one", SEEN, SEEN.replace("int(state[2])", "state[0].shape[1]")),
    "the mask only in training": (
        "test_q5_at_once",
        PAST,
        PAST + "\n        mask = mask | (not self.training)",
    ),
    "the future in sight after a state": (
        "test_q5_pieces",
        PAST,
        PAST + "\n        mask = mask | ((of_keys > own - w) & (state is not None))",
    ),
    "all keys kept": (
        "test_q5_one_by_one",
        OUT,
        OUT.replace("keys[:, -w:]", "keys").replace("values[:, -w:]", "values"),
    ),
    "the residual forgotten": ("test_q5_at_once", OUT, OUT.replace("x + ", "")),
}

# Correct, and different: full marks.
CORRECT = {
    "by einsum": """
def rms_norm(x, gain, eps=1e-6):
    return gain * x * torch.rsqrt(torch.einsum("...d,...d->...", x, x)[..., None] / x.size(-1) + eps)


def turn(x, first):
    p = x.size(-1)
    i = torch.arange(p)
    angle = torch.outer(torch.arange(x.size(-2)) + first, 10000 ** (-(i - i % 2) / p))
    partner = x[..., i + 1 - 2 * (i % 2)] * (2.0 * (i % 2) - 1)
    return x * angle.cos() + partner * angle.sin()


def grouped(q, k, v, mask):
    q = q.unflatten(1, (k.size(1), -1))
    mask = mask[:, None, None] if mask.dim() == 3 else mask
    scores = torch.einsum("bgrnp,bgkp->bgrnk", q, k) * q.size(-1) ** -0.5
    scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = scores.softmax(-1).masked_fill(~mask, 0.0)
    return torch.einsum("bgrnk,bgkp->bgrnp", weights, v).flatten(1, 2)


def cache_bytes(layers, d, h, g, tokens, b=1, size=2, window=None):
    numbers = 0
    for _ in range(layers):
        numbers += 2 * b * (d // h * g) * min(tokens, window or tokens)
    return numbers * size


def top_p(logits, p):
    shares = logits.softmax(-1)
    v = shares.size(-1)
    number = torch.arange(v)
    a, b = shares.unsqueeze(-1), shares.unsqueeze(-2)
    ahead = (b > a) | ((b == a) & (number < number[:, None]))  # (..., v, v)
    before = (ahead * b).sum(-1)
    kept = shares * (before < p - 1e-7)
    return kept / kept.sum(-1, keepdim=True)


def min_p(logits, p):
    log_p = logits.log_softmax(-1)
    ratio = (log_p - log_p.max(-1, keepdim=True).values).exp()
    return log_p.masked_fill(ratio < p, float("-inf")).softmax(-1)


def per_character(logits, targets, characters, pad):
    nats = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=pad, reduction="sum")
    written = (characters[targets] * targets.ne(pad)).sum()
    return nats * torch.tensor(1.0).exp().log2() / max(1, int(written))


class CachedAttention(CachedAttention):
    def forward(self, x, state=None):
        n, w = x.shape[1], self.window
        old_keys, old_values, t = (x[:, :0, :0],) * 2 + (0,) if state is None else state
        t = int(t)
        y = x + self.places[t : t + n]
        keys, values = self.W_k(y), self.W_v(y)
        if t:
            keys, values = torch.cat((old_keys, keys), 1), torch.cat((old_values, values), 1)
        far = torch.arange(t, t + n)[:, None] - torch.arange(t + n - keys.shape[1], t + n)
        read = attend(self.W_q(y), keys, values, (far >= 0) & (far < w))
        return x + self.W_o(read), (keys[:, -w:], values[:, -w:], torch.tensor(t + n))
""",
    "by loops": """
def rms_norm(x, gain, eps=1e-6):
    d = x.shape[-1]
    root = torch.sqrt(sum(x[..., i] ** 2 for i in range(d)) / d + eps)
    return torch.stack([x[..., i] / root * gain[i] for i in range(d)], -1)


def turn(x, first):
    n, p = x.shape[-2:]
    rows = []
    for i in range(n):
        row = []
        for f in range(p // 2):
            angle = torch.tensor((first + i) * 10000 ** (-2 * f / p))
            a, b = x[..., i, 2 * f], x[..., i, 2 * f + 1]
            row += [a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()]
        rows.append(torch.stack(row, -1))
    return torch.stack(rows, -2)


def grouped(q, k, v, mask):
    b, h, n, p = q.shape
    out = []
    for i in range(b):
        allowed = mask if mask.dim() == 2 else mask[i]
        for z in range(h):
            keys, values = k[i, z // (h // k.shape[1])], v[i, z // (h // k.shape[1])]
            for j in range(n):
                seen = allowed[j]
                if seen.any():
                    w = (keys[seen] @ q[i, z, j] / p**0.5).softmax(0)
                    out.append(w @ values[seen])
                else:
                    out.append(0 * q[i, z, j])
    return torch.stack(out).reshape(b, h, n, p)


def cache_bytes(layers, d, h, g, tokens, b=1, size=2, window=None):
    if window is not None and window < tokens:
        tokens = window
    one_token = 2 * g * d // h * size
    return layers * tokens * b * one_token


def top_p(logits, p):
    rows = []
    for row in logits.reshape(-1, logits.shape[-1]):
        shares = row.softmax(0)
        values = shares.tolist()
        kept, total = torch.zeros(len(values)), 0.0
        for i in sorted(range(len(values)), key=lambda i: -values[i]):
            kept[i] = values[i]
            total += values[i]
            if total >= p - 1e-7:
                break
        rows.append(kept / kept.sum())
    return torch.stack(rows).reshape(logits.shape)


def min_p(logits, p):
    rows = []
    for row in logits.reshape(-1, logits.shape[-1]):
        shares = row.softmax(0)
        kept = torch.stack([s if s >= p * shares.max() else 0 * s for s in shares])
        rows.append(kept / kept.sum())
    return torch.stack(rows).reshape(logits.shape)


def per_character(logits, targets, characters, pad):
    total, written = torch.tensor(0.0), 0
    for row, line in zip(logits, targets.tolist()):
        for scores, target in zip(row, line):
            if target == pad:
                continue
            total = total - scores.log_softmax(0)[target]
            written += int(characters[target])
    return total / torch.tensor(2.0).log() / max(1, written)


class CachedAttention(CachedAttention):
    def forward(self, x, state=None):
        none = torch.zeros(len(x), 0, self.W_k.out_features)
        keys, values, t = state if state else (none, none, torch.tensor(0))
        rows = []
        for token in x.unbind(1):
            y = (token + self.places[int(t)])[:, None]
            keys, values = torch.cat((keys, self.W_k(y)), 1), torch.cat((values, self.W_v(y)), 1)
            keys, values = keys[:, -self.window :], values[:, -self.window :]
            everything = torch.ones(1, keys.shape[1], dtype=torch.bool)
            rows.append(token[:, None] + self.W_o(attend(self.W_q(y), keys, values, everything)))
            t = t + 1
        return torch.cat(rows, 1), (keys, values, t)
""",
}

# What somebody writes who has not understood: 15 % of the question's points at most.
CACHE = """
def cache_bytes(layers, d, h, g, tokens, b=1, size=2, window=None): return {}
"""
GROUPED = """
def grouped(q, k, v, mask):
    {}
""" + CACHE.format("2 * layers * g * (d // h) * tokens * b * size")
RULES = """
def top_p(logits, p): return {0}
def min_p(logits, p): return {0}
"""
LOSS = """
def per_character(logits, targets, characters, pad):
    valid = targets != pad
    if not valid.any(): return 0 * logits.sum()
    bits = nn.functional.cross_entropy(logits[valid], targets[valid]) / torch.tensor(2.0).log()
    return {}
"""
LAZY = {
    "length one, and features reversed": (
        "q1",
        """
def rms_norm(x, gain, eps=1e-6): return nn.functional.normalize(x, dim=-1)
def turn(x, first): return x.flip(-1)
""",
    ),
    "layer norm, and one angle for all": (
        "q1",
        """
def rms_norm(x, gain, eps=1e-6): return nn.functional.layer_norm(x, x.shape[-1:], gain, None, eps)
def turn(x, first):
    a = torch.arange(first, first + x.shape[-2])[:, None]
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * a.cos() - odd * a.sin(), even * a.sin() + odd * a.cos()), -1).flatten(-2)
""",
    ),
    "the place ignored": (
        "q1",
        """
def rms_norm(x, gain, eps=1e-6): return x * gain
def turn(x, first, turn=turn): return turn(x, 0)
""",
    ),
    "uniform weights": (
        "q2",
        GROUPED.format("""v, m = v.repeat_interleave(q.shape[1] // k.shape[1], 1), mask.unsqueeze(-3).float()
    return (m / m.sum(-1, keepdim=True).clamp(min=1) @ v).expand(q.shape).clone()"""),
    ),
    "the mask ignored": (
        "q2",
        GROUPED.format("""k, v = (x.repeat_interleave(q.shape[1] // k.shape[1], 1) for x in (k, v))
    return (q @ k.mT / q.shape[3] ** 0.5).softmax(3) @ v"""),
    ),
    "the first head of keys for all": (
        "q2",
        GROUPED.format("""fit = (q @ k[:, :1].mT / q.shape[3] ** 0.5).masked_fill(~mask.unsqueeze(-3), -torch.inf)
    return fit.softmax(3).nan_to_num() @ v[:, :1]"""),
    ),
    "uniform": (
        "q3",
        RULES.format("(logits > -torch.inf) / (logits > -torch.inf).sum(-1, keepdim=True)"),
    ),
    "nothing is cut": ("q3", RULES.format("logits.softmax(-1)")),
    "the best alone": (
        "q3",
        RULES.format("(logits == logits.amax(-1, keepdim=True)).float()"),
    ),
    "tokens that have p themselves": (
        "q3",
        RULES.format(
            "nn.functional.normalize(logits.softmax(-1) * (logits.softmax(-1) >= p), 1.0, -1)"
        ),
    ),
    "equally likely": (
        "q4",
        LOSS.format(
            "valid.sum() * torch.tensor(logits.shape[2]).log2() / characters[targets[valid]].sum()"
        ),
    ),
    "for each token": ("q4", LOSS.format("bits")),
    "over the mean of all tokens' characters": (
        "q4",
        LOSS.format("bits / characters.float().mean()"),
    ),
    "each piece by itself": (
        "q5",
        """
class CachedAttention(CachedAttention):
    def forward(self, x, state=None, forward=CachedAttention.forward): return forward(self, x)
""",
    ),
    "what comes in": (
        "q5",
        """
class CachedAttention(CachedAttention):
    def forward(self, x, state=None): return x, (x[:, -3:], x[:, -3:], torch.tensor(0))
""",
    ),
}
