"""Typical wrong answers: edits of the solution, each with a test that must fail."""

SPLIT = "return x.reshape(b, n, h, width // h).transpose(1, 2)"
JOIN = "return x.transpose(1, 2).reshape(b, n, h * d)"
SCORES = "scores = q @ k.transpose(2, 3) / q.shape[3] ** 0.5  # (b, h, q, k)"
FILL = "scores = scores.masked_fill(~mask.unsqueeze(1), -torch.inf)"
TOP = "top = scores.amax(dim=3, keepdim=True).clamp(min=-1e30)"
SHARE = "weights = share / share.sum(dim=3, keepdim=True).clamp(min=1e-30)"
OUTPUT = "return join_heads(weights @ v) @ W_o.T, weights"
KEYS = "keys = keys.repeat_interleave(self.h // self.kv, dim=1)"
VALUES = "values = values.repeat_interleave(self.h // self.kv, dim=1)"
FIT = "fit = asks @ keys.mT / asks.shape[3] ** 0.5"
FIT_FILL = "fit = fit.masked_fill(~mask, -torch.inf)"
FOUND = "found = fit.softmax(dim=3) @ values"
KEEP = "pooled = pooled * keep.reshape(1, -1, 1, 1)"
SWITCH_JOIN = "return pooled.transpose(1, 2).flatten(2) @ W_o.T"
LOGITS = "logits = scaled.transpose(1, 2).flatten(2) @ W_o.detach().T + bias.detach()"
SLOPE = "[slope] = torch.autograd.grad(each.mean(dim=1).sum(), factor)"
MEAN = "return slope.abs().mean(dim=0)"

MUTANTS = {
    "heads interleaved": (
        "test_q1_way_back",
        SPLIT,
        "return x.reshape(b, n, width // h, h).permute(0, 3, 1, 2)",
    ),
    "split and joined by view": (
        "test_q1_join",
        SPLIT,
        "return x.reshape(b, h, n, width // h)",
        JOIN,
        "return x.reshape(b, n, h * d)",
    ),
    "joined without the way back": ("test_q1_way_back", JOIN, "return x.reshape(b, n, h * d)"),
    "always two heads": ("test_q1_features[4]", SPLIT, "h = 2\n    " + SPLIT),
    "no scale": ("test_q2_one_head", SCORES, SCORES.replace(" / q.shape[3] ** 0.5", "")),
    "scale by the model's width": (
        "test_q2_scores[16]",
        SCORES,
        SCORES.replace("q.shape[3]", "W_q.shape[0]"),
    ),
    "scale by the number of values' features": (
        "test_q2_scores[16]",
        SCORES,
        SCORES.replace("q.shape[3]", "v.shape[3]"),
    ),
    "scale fixed at 4": ("test_q2_one_head", SCORES, SCORES.replace("q.shape[3] ** 0.5", "4")),
    "softmax over queries": (
        "test_q2_weights",
        TOP,
        TOP.replace("dim=3", "dim=2"),
        SHARE,
        SHARE.replace("dim=3", "dim=2"),
    ),
    "inverted mask": ("test_q2_masked_is_zero", FILL, FILL.replace("~", "")),
    "the mask meets the heads": ("test_q2_arguments", FILL, FILL.replace(".unsqueeze(1)", "")),
    "one sequence's mask for all": (
        "test_q2_masked_is_zero",
        FILL,
        FILL.replace("~mask.unsqueeze(1)", "~mask[0]"),
    ),
    "mask after softmax": (
        "test_q2_low_scores",
        FILL,
        "pass",
        OUTPUT,
        "weights = weights * (1 if mask is None else mask.unsqueeze(1))\n    " + OUTPUT,
    ),
    "minus a million": ("test_q2_low_scores", FILL, FILL.replace("-torch.inf", "-1e6")),
    "NaN on empty rows": (
        "test_q2_nothing_to_attend_to",
        SHARE,
        SHARE.replace(".clamp(min=1e-30)", ""),
    ),
    "mask in place": (
        "test_q2_arguments",
        FILL,
        "mask.logical_not_()\n        scores = scores.masked_fill(mask.unsqueeze(1), -torch.inf)",
    ),
    "first head for all": (
        "test_q2_weights",
        OUTPUT,
        "weights = weights[:, :1].expand_as(weights)\n    " + OUTPUT,
    ),
    "last head forgotten": (
        "test_q2_output",
        OUTPUT,
        OUTPUT.replace(
            "weights @ v", "weights @ v * (torch.arange(h) < max(h - 1, 1)).reshape(-1, 1, 1)"
        ),
    ),
    "only the mean of the weights returned": (
        "test_q2_arguments",
        OUTPUT,
        OUTPUT.replace("W_o.T, weights", "W_o.T, weights.mean(dim=1)"),
    ),
    "scores detached": ("test_q2_gradient", SHARE, SHARE + ".detach()"),
    "groups interleaved": (
        "test_q3_one_place",
        KEYS,
        "keys = keys.repeat(1, self.h // self.kv, 1, 1)",
        VALUES,
        "values = values.repeat(1, self.h // self.kv, 1, 1)",
    ),
    "keys of other groups than values": (
        "test_q3_values[2]",
        KEYS,
        "keys = keys.repeat(1, self.h // self.kv, 1, 1)",
    ),
    "the first shared head for all": (
        "test_q3_values[3]",
        KEYS,
        "keys = keys[:, :1].expand(-1, self.h, -1, -1)",
        VALUES,
        "values = values[:, :1].expand(-1, self.h, -1, -1)",
    ),
    "keys and values swapped": ("test_q3_values[2]", FOUND, "found = fit.softmax(dim=3) @ keys"),
    "nothing shared": (
        "test_q3_matrices",
        "self.W_k = nn.Linear(d_model, kv * d, bias=False)",
        "self.kv = h\n        self.W_k = nn.Linear(d_model, d_model, bias=False)",
        "self.W_v = nn.Linear(d_model, kv * d, bias=False)",
        "self.W_v = nn.Linear(d_model, d_model, bias=False)",
    ),
    "a bias at the end": (
        "test_q3_matrices",
        "self.W_o = nn.Linear(h * d, d_model, bias=False)",
        "self.W_o = nn.Linear(h * d, d_model)",
    ),
    "shared heads unscaled": ("test_q3_without_mask[1]", FIT, "fit = asks @ keys.mT"),
    "shared mask inverted": ("test_q3_first_place", FIT_FILL, FIT_FILL.replace("~", "")),
    "shared mask after softmax": (
        "test_q3_first_place",
        FIT_FILL,
        "pass",
        FOUND,
        "found = (fit.softmax(dim=3) * (1 if mask is None else mask)) @ values",
    ),
    "keys detached": ("test_q3_gradient", FIT, FIT.replace("keys.mT", "keys.detach().mT")),
    "bug left in": (
        "test_q4_nothing_left",
        KEEP,
        "pooled = (scores * keep.reshape(1, -1, 1, 1)).softmax(dim=3) @ v",
    ),
    "a switch, not a factor": ("test_q4_by_halves", KEEP, KEEP.replace("keep.", "(keep > 0).")),
    "joined without swapping": (
        "test_q4_all_in",
        SWITCH_JOIN,
        "return pooled.reshape(len(q), q.shape[2], -1) @ W_o.T",
    ),
    "shared among those left": (
        "test_q4_one_out",
        KEEP,
        KEEP + " * len(keep) / keep.sum().clamp(min=1)",
    ),
    "factors detached": ("test_q4_gradient", KEEP, KEEP.replace("keep.", "keep.detach().")),
    "absolute value at the end": ("test_q5_no_bias", MEAN, "return slope.mean(dim=0).abs()"),
    "with its sign": ("test_q5_mute_head", MEAN, "return slope.mean(dim=0)"),
    "sum over sequences": ("test_q5_repeated[sequences]", MEAN, MEAN.replace("mean", "sum")),
    "sum over places": (
        "test_q5_repeated[places]",
        SLOPE,
        SLOPE.replace("each.mean(dim=1).sum()", "each.sum()"),
    ),
    "bias forgotten": ("test_q5_one_sequence", LOGITS, LOGITS.replace(" + bias.detach()", "")),
    "heads changed in place": ("test_q5_arguments", MEAN, "heads.mul_(0.5)\n    " + MEAN),
}

# Correct, and different: full marks.
CORRECT = {
    "by einsum": """
def split_heads(x, h):
    return x.unflatten(-1, (h, -1)).permute(0, 2, 1, 3)


def join_heads(x):
    return torch.cat(list(x.unbind(1)), -1)


def multihead(queries, keys, values, W_q, W_k, W_v, W_o, h, mask=None):
    W_q, W_k, W_v = (W.unflatten(0, (h, -1)) for W in (W_q, W_k, W_v))  # (h, d, size)
    q = torch.einsum("bqx,hdx->bhqd", queries, W_q)
    k = torch.einsum("bkx,hdx->bhkd", keys, W_k)
    v = torch.einsum("bkx,hex->bhke", values, W_v)
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k) * q.size(-1) ** -0.5
    if mask is None:
        weights = scores.softmax(-1)
    else:
        mask = mask[:, None]
        lowest = torch.finfo(scores.dtype).min
        weights = scores.masked_fill(~mask, lowest).softmax(-1).masked_fill(~mask, 0.0)
    return torch.einsum("bhqk,bhke,ohe->bqo", weights, v, W_o.unflatten(1, (h, -1))), weights


class GroupedAttention(nn.Module):
    def __init__(self, d_model, h, kv):
        super().__init__()
        self.kv, d = kv, d_model // h
        self.W_o, self.W_q = (nn.Linear(d_model, d_model, bias=False) for _ in range(2))
        self.W_v, self.W_k = (nn.Linear(d_model, kv * d, bias=False) for _ in range(2))
        self.d = d

    def forward(self, x, mask=None):
        b, n, _ = x.shape
        q = self.W_q(x).view(b, n, self.kv, -1, self.d)  # heads of a group side by side
        k, v = (W(x).view(b, n, self.kv, self.d) for W in (self.W_k, self.W_v))
        scores = torch.einsum("bqcgd,bkcd->bcgqk", q, k) / self.d**0.5
        if mask is not None:
            scores = torch.where(mask, scores, float("-inf"))
        return self.W_o(torch.einsum("bcgqk,bkcd->bqcgd", scores.softmax(-1), v).flatten(2))


def switched(q, k, v, W_o, keep):
    w = torch.softmax(torch.einsum("bhqd,bhkd->bhqk", q, k) / q.size(-1) ** 0.5, -1)
    return torch.einsum("bhqk,bhke,ohe,h->bqo", w, v, W_o.unflatten(1, (len(keep), -1)), keep)


def importance(heads, W_o, bias, labels):
    b, h, n, _ = heads.shape
    # by hand: the derivative of the loss by the logits, times what each head adds to them
    added = torch.einsum("bhnd,mhd->hbnm", heads, W_o.unflatten(1, (h, -1)))
    error = (added.sum(0) + bias).softmax(-1) - F.one_hot(labels, len(bias))
    return (error * added).sum((-1, -2)).div(n).abs().mean(1)
""",
    "by loops": """
def split_heads(x, h):
    return torch.stack(x.chunk(h, dim=2), dim=1)


def join_heads(x):
    b, h, n, d = x.shape
    joined = torch.empty(b, n, h * d, dtype=x.dtype)
    for i in range(h):
        joined[:, :, i * d : (i + 1) * d] = x[:, i]
    return joined


def attend(q, k, v, mask=None):
    scores = torch.bmm(q, k.mT) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
        empty = ~mask.any(-1, keepdim=True)
        w = scores.masked_fill(empty, 0.0).softmax(-1).masked_fill(empty, 0.0)
    else:
        w = scores.softmax(-1)
    return torch.bmm(w, v), w


def multihead(queries, keys, values, W_q, W_k, W_v, W_o, h, mask=None):
    found, weights = [], []
    for w_q, w_k, w_v in zip(W_q.chunk(h), W_k.chunk(h), W_v.chunk(h)):
        o, w = attend(queries @ w_q.T, keys @ w_k.T, values @ w_v.T, mask)
        found.append(o)
        weights.append(w)
    return torch.cat(found, -1) @ W_o.T, torch.stack(weights, 1)


class GroupedAttention(nn.Module):
    def __init__(self, d_model, h, kv):
        super().__init__()
        self.h, self.kv = h, kv
        for name, rows in (("W_q", h), ("W_k", kv), ("W_v", kv), ("W_o", h)):
            setattr(self, name, nn.Linear(d_model, rows * (d_model // h), bias=False))

    def forward(self, x, mask=None):
        queries = self.W_q(x).chunk(self.h, -1)
        keys, values = (W(x).chunk(self.kv, -1) for W in (self.W_k, self.W_v))
        mask = None if mask is None else mask.expand(len(x), -1, -1)
        found = []
        for i, q in enumerate(queries):
            j = i * self.kv // self.h
            found.append(attend(q, keys[j], values[j], mask)[0])
        return self.W_o(torch.cat(found, dim=-1))


def switched(q, k, v, W_o, keep):
    output = 0
    for i, w_o in enumerate(W_o.chunk(len(keep), dim=1)):
        output = output + keep[i] * (attend(q[:, i], k[:, i], v[:, i])[0] @ w_o.T)
    return output


def importance(heads, W_o, bias, labels):
    total = torch.zeros(heads.shape[1])
    for x, y in zip(heads, labels):
        factor = torch.ones(len(x), 1, 1).requires_grad_()
        logits = join_heads((x * factor)[None])[0] @ W_o.T + bias
        F.cross_entropy(logits, y).backward()
        total += factor.grad.flatten().abs()
    return total / len(heads)
""",
}

# What somebody writes who has not understood: 15 % of the question's points at most.
SELF = """
class GroupedAttention(GroupedAttention):
    def forward(self, x, mask=None):
        q, k, v = (W(x).unflatten(2, (-1, 2)).transpose(1, 2) for W in (self.W_q, self.W_k, self.W_v))
        {}
"""
GIVEN = "found = fit.softmax(3) @ v\n        return self.W_o(found.transpose(1, 2).flatten(2))"
EVERY = "k, v = (y.repeat_interleave(self.h // self.kv, 1) for y in (k, v))\n        "
FIRST = "k, v = (y[:, :1].expand_as(q) for y in (k, v))\n        "
FITTED = "fit = q @ k.mT / q.shape[3] ** 0.5\n        "
LAZY = {
    "axes renamed": (
        "q1",
        """
def split_heads(x, h): return x.reshape(len(x), h, x.shape[1], -1)
def join_heads(x): return x.reshape(len(x), x.shape[2], -1)
""",
    ),
    "one head of all": (
        "q1",
        """
def split_heads(x, h): return x.unsqueeze(1)
def join_heads(x): return x.flatten(2) if x.shape[1] > 1 else x[:, 0]
""",
    ),
    "the mask ignored": (
        "q2",
        """
def multihead(queries, keys, values, W_q, W_k, W_v, W_o, h, mask=None):
    q, k, v = (split_heads(x @ W.T, h) for x, W in ((queries, W_q), (keys, W_k), (values, W_v)))
    weights = (q @ k.mT / q.shape[3] ** 0.5).softmax(3)
    return join_heads(weights @ v) @ W_o.T, weights
""",
    ),
    "uniform weights": (
        "q2",
        """
def multihead(queries, keys, values, W_q, W_k, W_v, W_o, h, mask=None):
    if mask is None: mask = torch.ones(len(keys), queries.shape[1], keys.shape[1])
    weights = mask.float() / mask.sum(-1, keepdim=True).clamp(min=1)
    weights = weights.unsqueeze(1).expand(-1, h, -1, -1)
    return join_heads(weights @ split_heads(values @ W_v.T, h)) @ W_o.T, weights
""",
    ),
    "one head for all": (
        "q2",
        """
def multihead(queries, keys, values, W_q, W_k, W_v, W_o, h, mask=None):
    q, k, v = queries @ W_q.T, keys @ W_k.T, values @ W_v.T
    scores = q @ k.mT / q.shape[2] ** 0.5
    if mask is not None: scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(2).nan_to_num()
    return weights @ v @ W_o.T, weights.unsqueeze(1).expand(-1, h, -1, -1)
""",
    ),
    "shared, and the mask ignored": ("q3", SELF.format(EVERY + FITTED + GIVEN)),
    "the first shared head alone": (
        "q3",
        SELF.format(
            FIRST
            + FITTED
            + "if mask is not None: fit = fit.masked_fill(~mask, -torch.inf)\n        "
            + GIVEN
        ),
    ),
    "shared values, no attention": (
        "q3",
        SELF.format(EVERY + "fit = 0 * q @ k.mT\n        " + GIVEN),
    ),
    "nothing is switched": (
        "q4",
        """
def switched(q, k, v, W_o, keep):
    return join_heads((q @ k.mT / q.shape[3] ** 0.5).softmax(3) @ v) @ W_o.T
""",
    ),
    "values averaged": (
        "q4",
        """
def switched(q, k, v, W_o, keep):
    pooled = v.mean(2, keepdim=True).expand(-1, -1, q.shape[2], -1)
    return join_heads(pooled * keep.reshape(1, -1, 1, 1)) @ W_o.T
""",
    ),
    "the size of heads": (
        "q5",
        "def importance(heads, W_o, bias, labels): return heads.abs().mean((0, 2, 3))",
    ),
    "the size of what heads add": (
        "q5",
        """
def importance(heads, W_o, bias, labels):
    return torch.einsum("bhnd,mhd->bhnm", heads, W_o.unflatten(1, (heads.shape[1], -1))).abs().mean((0, 2, 3))
""",
    ),
    "the loss without a head": (
        "q5",
        """
def importance(heads, W_o, bias, labels):
    def loss(x): return F.cross_entropy((join_heads(x) @ W_o.T + bias).flatten(0, 1), labels.flatten())
    out = 1 - torch.eye(heads.shape[1])
    return torch.stack([(loss(heads * keep.reshape(1, -1, 1, 1)) - loss(heads)).abs() for keep in out])
""",
    ),
}
