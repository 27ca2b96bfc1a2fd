"""Typical wrong answers: edits of the solution, each with exactly the tests that must fail."""

FILL = "scores = scores.masked_fill(~valid, -torch.inf)"
TOP = "top.nan_to_num(neginf=0.0)"
NORMALISE = "return e / e.sum(dim=2, keepdim=True).clamp(min=0.5)"
SCORES = "scores = queries @ keys.transpose(1, 2) / queries.shape[2] ** 0.5"
CLEAN = "clean = values.masked_fill(padding.unsqueeze(2), 0.0)"
WINDOW = "return scores.masked_fill(~near, -torch.inf).softmax(dim=-1)"
NEAR = "near = (place.unsqueeze(1) - place).abs() <= width"

MUTANTS = {
    "softmax over queries": (
        (
            NORMALISE,
            NORMALISE.replace("dim=2", "dim=1"),
            "top = scores.amax(dim=2",
            "top = scores.amax(dim=1",
        ),
        {
            "test_q1_half_precision",
            "test_q1_high_scores",
            "test_q1_low_scores",
            "test_q1_padding",
            "test_q1_sums",
            "test_q1_values",
            "test_q3_mask",
            "test_q3_scale[4]",
            "test_q3_scale[64]",
            "test_q3_weights",
        },
    ),
    "inverted mask": (
        (FILL, FILL.replace("~", "")),
        {
            "test_q1_empty",
            "test_q1_half_precision",
            "test_q1_high_scores",
            "test_q1_low_scores",
            "test_q1_padding",
            "test_q1_sums",
            "test_q1_values",
            "test_q3_itself",
            "test_q3_mask",
            "test_q3_scale[4]",
            "test_q3_scale[64]",
            "test_q3_weights",
        },
    ),
    "one key too many": (
        ("< lengths.reshape", "<= lengths.reshape"),
        {
            "test_q1_empty",
            "test_q1_half_precision",
            "test_q1_high_scores",
            "test_q1_low_scores",
            "test_q1_padding",
            "test_q1_values",
            "test_q3_mask",
        },
    ),
    "mask after softmax": (
        (FILL, "", NORMALISE, NORMALISE + " * valid"),
        {
            "test_q1_half_precision",
            "test_q1_high_scores",
            "test_q1_low_scores",
            "test_q1_padding",
            "test_q1_values",
            "test_q3_mask",
            "test_q3_weights",
        },
    ),
    "minus a million": (
        (FILL, FILL.replace("-torch.inf", "-1e6")),
        {"test_q1_empty", "test_q1_half_precision", "test_q1_low_scores"},
    ),
    "minus a thousand": (
        (FILL, FILL.replace("-torch.inf", "-1e3")),
        {"test_q1_empty", "test_q1_low_scores"},
    ),
    "NaN on empty rows": ((NORMALISE, NORMALISE.replace(".clamp(min=0.5)", "")), {"test_q1_empty"}),
    "no maximum subtracted": (
        ("(scores - " + TOP + ").exp()", "scores.exp()", ".clamp(min=0.5)", ".clamp(min=1e-7)"),
        {"test_q1_high_scores", "test_q1_low_scores"},
    ),
    "always single precision": (
        (FILL, FILL.replace("scores.masked", "scores.float().masked")),
        {"test_q1_half_precision"},
    ),
    "in place": ((FILL, "scores.masked_fill_(~valid, -torch.inf)"), {"test_q1_arguments"}),
    "bias": (
        (
            "self.W_q = nn.Linear(query_size, hidden, bias=False)",
            "self.W_q = nn.Linear(query_size, hidden)",
        ),
        {"test_q2_gradient", "test_q2_names", "test_q2_odd", "test_q2_values"},
    ),
    "no tanh": (("features.tanh()", "features"), {"test_q2_gradient", "test_q2_values"}),
    "sigmoid": (
        ("features.tanh()", "features.sigmoid()"),
        {"test_q2_gradient", "test_q2_odd", "test_q2_values"},
    ),
    "queries and keys swapped": (
        (
            "self.W_q(queries).unsqueeze(2) + self.W_k(keys).unsqueeze(1)",
            "self.W_q(queries).unsqueeze(1) + self.W_k(keys).unsqueeze(2)",
        ),
        {"test_q2_shape", "test_q2_values"},
    ),
    "other names": (
        ("self.w_v = ", "self.out = ", "self.w_v(", "self.out("),
        {"test_q2_gradient", "test_q2_names", "test_q2_values"},
    ),
    "detached": (("self.W_q(queries)", "self.W_q(queries.detach())"), {"test_q2_gradient"}),
    "no scale": (
        (SCORES, SCORES.replace(" / queries.shape[2] ** 0.5", "")),
        {"test_q3_mask", "test_q3_scale[4]", "test_q3_scale[64]"},
    ),
    "scale by d": (
        (SCORES, SCORES.replace(" ** 0.5", "")),
        {"test_q3_itself", "test_q3_mask", "test_q3_scale[4]", "test_q3_scale[64]"},
    ),
    "scale fixed at 8": (
        (SCORES, SCORES.replace("queries.shape[2] ** 0.5", "8")),
        {"test_q3_mask", "test_q3_scale[4]"},
    ),
    "scale fixed at 2": (
        (SCORES, SCORES.replace("queries.shape[2] ** 0.5", "2")),
        {"test_q3_mask", "test_q3_scale[64]"},
    ),
    "padding leaks": ((CLEAN, "clean = values"), {"test_q3_bad_padding"}),
    "values cleaned in place": (
        (CLEAN, "clean = values.masked_fill_(padding.unsqueeze(2), 0.0)"),
        {"test_q3_values_arguments"},
    ),
    "lengths ignored": (
        ("weights = masked_softmax(scores, lengths)", "weights = scores.softmax(dim=2)"),
        {"test_q3_mask"},
    ),
    "weights first": (
        ("return weights @ clean, weights", "return weights, weights @ clean"),
        {
            "test_q3_itself",
            "test_q3_mask",
            "test_q3_scale[4]",
            "test_q3_scale[64]",
            "test_q3_values_arguments",
            "test_q3_weights",
        },
    ),
    "scores returned": (
        ("return weights @ clean, weights", "return weights @ clean, scores"),
        {"test_q3_mask", "test_q3_weights"},
    ),
    "bug left in": (
        (WINDOW, "return scores.softmax(dim=-1) * near"),
        {
            "test_q4_far_keys",
            "test_q4_inside",
            "test_q4_sums",
            "test_q4_values[0]",
            "test_q4_values[2]",
        },
    ),
    "bug renormalised by n": (
        (WINDOW, "return (scores * near).softmax(dim=-1)"),
        {"test_q4_inside", "test_q4_values[0]", "test_q4_values[2]"},
    ),
    "window to the left": (
        (NEAR, NEAR.replace(".abs()", "")),
        {"test_q4_far_keys", "test_q4_inside", "test_q4_values[0]", "test_q4_values[2]"},
    ),
    "window too small": (
        (NEAR, NEAR.replace("<= width", "< max(width, 1)")),
        {"test_q4_inside", "test_q4_values[2]"},
    ),
    "window over queries": (
        (WINDOW, WINDOW.replace("dim=-1", "dim=-2")),
        {"test_q4_inside", "test_q4_sums", "test_q4_values[2]", "test_q4_whole_window"},
    ),
    "window inverted": (
        (WINDOW, WINDOW.replace("~", "")),
        {
            "test_q4_far_keys",
            "test_q4_inside",
            "test_q4_values[0]",
            "test_q4_values[2]",
            "test_q4_whole_window",
        },
    ),
    "uniform in the window": (
        (WINDOW, "return near.expand_as(scores) / near.sum(1, keepdim=True)"),
        {"test_q4_values[2]", "test_q4_whole_window"},
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
    near = ones.tril(width) & ones.triu(-width)
    return scores.where(near, float("-inf")).softmax(-1)
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
