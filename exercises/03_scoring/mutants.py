"""Typical wrong answers: edits of the solution, each with a test that must fail."""

FILL = "scores = scores.masked_fill(~valid, -torch.inf)"
TOP = "top.nan_to_num(neginf=0.0)"
NORMALISE = "return e / e.sum(dim=2, keepdim=True).clamp(min=0.5)"
SCORES = "scores = queries @ keys.transpose(1, 2) / queries.shape[2] ** 0.5"
CLEAN = "clean = values.masked_fill(padding.unsqueeze(2), 0.0)"
WINDOW = "return scores.masked_fill(~near, -torch.inf).softmax(dim=-1)"
NEAR = "near = (place.unsqueeze(1) - place).abs() <= width"

MUTANTS = {
    "softmax over queries": (
        "test_q1_sums",
        NORMALISE,
        NORMALISE.replace("dim=2", "dim=1"),
        "top = scores.amax(dim=2",
        "top = scores.amax(dim=1",
    ),
    "inverted mask": ("test_q1_sums", FILL, FILL.replace("~", "")),
    "one key too many": ("test_q1_padding", "< lengths.reshape", "<= lengths.reshape"),
    "mask after softmax": ("test_q1_padding", FILL, "", NORMALISE, NORMALISE + " * valid"),
    "minus a million": ("test_q1_half_precision", FILL, FILL.replace("-torch.inf", "-1e6")),
    "minus a thousand": ("test_q1_empty", FILL, FILL.replace("-torch.inf", "-1e3")),
    "NaN on empty rows": ("test_q1_empty", NORMALISE, NORMALISE.replace(".clamp(min=0.5)", "")),
    "no maximum subtracted": (
        "test_q1_high_scores",
        "(scores - " + TOP + ").exp()",
        "scores.exp()",
        ".clamp(min=0.5)",
        ".clamp(min=1e-7)",
    ),
    "in place": ("test_q1_arguments", FILL, "scores.masked_fill_(~valid, -torch.inf)"),
    "bias": (
        "test_q2_names",
        "self.W_q = nn.Linear(query_size, hidden, bias=False)",
        "self.W_q = nn.Linear(query_size, hidden)",
    ),
    "no tanh": ("test_q2_gradient", "features.tanh()", "features"),
    "sigmoid": ("test_q2_odd", "features.tanh()", "features.sigmoid()"),
    "queries and keys swapped": (
        "test_q2_shape",
        "self.W_q(queries).unsqueeze(2) + self.W_k(keys).unsqueeze(1)",
        "self.W_q(queries).unsqueeze(1) + self.W_k(keys).unsqueeze(2)",
    ),
    "other names": ("test_q2_names", "self.w_v = ", "self.out = ", "self.w_v(", "self.out("),
    "detached": ("test_q2_gradient", "self.W_q(queries)", "self.W_q(queries.detach())"),
    "no scale": ("test_q3_scale", SCORES, SCORES.replace(" / queries.shape[2] ** 0.5", "")),
    "scale by d": ("test_q3_itself", SCORES, SCORES.replace(" ** 0.5", "")),
    "padding leaks": ("test_q3_bad_padding", CLEAN, "clean = values"),
    "values cleaned in place": (
        "test_q3_values_arguments",
        CLEAN,
        "clean = values.masked_fill_(padding.unsqueeze(2), 0.0)",
    ),
    "lengths ignored": (
        "test_q3_mask",
        "weights = masked_softmax(scores, lengths)",
        "weights = scores.softmax(dim=2)",
    ),
    "weights first": (
        "test_q3_values_arguments",
        "return weights @ clean, weights",
        "return weights, weights @ clean",
    ),
    "scores returned": (
        "test_q3_weights",
        "return weights @ clean, weights",
        "return weights @ clean, scores",
    ),
    "bug left in": ("test_q4_sums", WINDOW, "return scores.softmax(dim=-1) * near"),
    "bug renormalised by n": (
        "test_q4_alone",
        WINDOW,
        "return (scores * near).softmax(dim=-1)",
    ),
    "window to the left": ("test_q4_far_keys", NEAR, NEAR.replace(".abs()", "")),
    "window too small": ("test_q4_inside", NEAR, NEAR.replace("<= width", "< max(width, 1)")),
    "window over queries": ("test_q4_sums", WINDOW, WINDOW.replace("dim=-1", "dim=-2")),
    "window inverted": ("test_q4_far_keys", WINDOW, WINDOW.replace("~", "")),
    "uniform in the window": (
        "test_q4_whole_window",
        WINDOW,
        "return near.expand_as(scores) / near.sum(1, keepdim=True)",
    ),
}

# Correct, and different: full marks.
CORRECT = {
    "by torch": """
def masked_softmax(scores, lengths):
    valid = torch.arange(scores.size(-1))[None, None] < lengths[:, None, None]
    weights = torch.where(valid, scores, float("-inf")).softmax(-1)
    return torch.where(valid, weights, torch.zeros_like(weights))


class AdditiveScore(nn.Module):
    def __init__(self, query_size, key_size, hidden):
        super().__init__()
        self.w_v = nn.Linear(hidden, 1, bias=False)
        self.W_k, self.W_q = (nn.Linear(n, hidden, bias=False) for n in (key_size, query_size))

    def forward(self, queries, keys):
        a = torch.tanh(self.W_q(queries)[:, :, None] + self.W_k(keys)[:, None])
        return a @ self.w_v.weight[0]


def attention(queries, keys, values, lengths):
    scores = torch.einsum("bqd,bkd->bqk", queries, keys) * queries.size(-1) ** -0.5
    weights = masked_softmax(scores, lengths)
    valid = torch.arange(keys.size(1)) < lengths[:, None]
    return torch.bmm(weights, torch.where(valid[..., None], values, 0.0)), weights


def window_weights(scores, width):
    ones = torch.ones(scores.shape[-2:], dtype=torch.bool)
    weights = scores.softmax(-1) * (ones.tril(width) & ones.triu(-width))
    return weights / weights.sum(-1, keepdim=True)
""",
    "by loops": """
def masked_softmax(scores, lengths):
    rows = []
    for s, n in zip(scores, lengths.tolist()):
        n = min(n, s.shape[1])
        rows.append(torch.cat((s[:, :n].softmax(1), torch.zeros_like(s[:, n:])), dim=1))
    return torch.stack(rows)


class AdditiveScore(nn.Module):
    def __init__(self, query_size, key_size, hidden):
        super().__init__()
        self.W_q = nn.Linear(query_size, hidden, bias=False)
        self.W_k = nn.Linear(key_size, hidden, bias=False)
        self.w_v = nn.Linear(hidden, 1, bias=False)

    def forward(self, queries, keys):
        rows = [self.w_v(torch.tanh(self.W_q(q).unsqueeze(1) + self.W_k(keys)))[..., 0]
                for q in queries.unbind(1)]
        return torch.stack(rows, dim=1)


def attention(queries, keys, values, lengths):
    outputs, weights = [], []
    for q, k, v, n in zip(queries, keys, values, lengths.tolist()):
        w = (q @ k[:n].T / q.shape[-1] ** 0.5).softmax(1) if n else torch.zeros(len(q), 0)
        outputs.append(w @ v[:n])
        weights.append(torch.cat((w, torch.zeros(len(q), len(k) - n)), dim=1))
    return torch.stack(outputs), torch.stack(weights)


def window_weights(scores, width):
    weights = torch.zeros_like(scores)
    for i in range(scores.shape[1]):
        a, b = max(0, i - width), i + width + 1
        weights[:, i, a:b] = scores[:, i, a:b].softmax(1)
    return weights
""",
}

LAYERS = """
class AdditiveScore(AdditiveScore):
    def forward(self, queries, keys):
        q, k = self.W_q(queries), self.W_k(keys)
        return """

# Answers without understanding: nearly none of the points of their question.
LAZY = {
    "scores of padding 0": (
        "q1",
        """
def masked_softmax(scores, lengths):
    valid = torch.arange(scores.shape[2]) < lengths[:, None, None]
    return (scores * valid).softmax(2) * valid
""",
    ),
    "equal shares": (
        "q1",
        """
def masked_softmax(scores, lengths):
    valid = torch.arange(scores.shape[2]) < lengths[:, None, None]
    return (valid / lengths[:, None, None].clamp(min=1)).expand(scores.shape)
""",
    ),
    "a dot product": ("q2", LAYERS + "q @ k.transpose(1, 2)"),
    "a sum of two scores": (
        "q2",
        LAYERS + "self.w_v(q.tanh()) + self.w_v(k.tanh()).transpose(1, 2)",
    ),
    "lengths of no account": (
        "q3",
        """
def attention(queries, keys, values, lengths):
    weights = (queries @ keys.transpose(1, 2) / queries.shape[2] ** 0.5).softmax(2)
    return weights @ values.nan_to_num(), weights
""",
    ),
    "a scale for one size": (
        "q3",
        """
def attention(queries, keys, values, lengths):
    weights = masked_softmax(queries @ keys.transpose(1, 2) / 8, lengths)
    return weights @ values.nan_to_num(), weights
""",
    ),
    "window of equal shares": (
        "q4",
        """
def window_weights(scores, width):
    place = torch.arange(scores.shape[-1])
    near = ((place[:, None] - place).abs() <= width).float()
    return (near / near.sum(1, keepdim=True)).expand_as(scores)
""",
    ),
    "window of one": (
        "q4",
        """
def window_weights(scores, width):
    place = torch.arange(scores.shape[-1])
    return scores.masked_fill((place[:, None] - place).abs() > 1, -torch.inf).softmax(-1)
""",
    ),
}
