"""Typical wrong answers: edits of the solution, each with a test that must fail."""

CUE = "return (scores / temperature).softmax(dim=1)"
MISS = "return weights[:, 1:] @ values, weights[:, 0]"
ROWS = "e.sum(dim=1, keepdim=True)"
FILL = "scores.masked_fill(~mask, -torch.inf)"

MUTANTS = {
    "no half": (
        "test_q1_one_dimension",
        "-difference.square().sum(dim=2) / 2",
        "-difference.square().sum(dim=2)",
    ),
    "wrong sign": ("test_q1_one_dimension", "-difference.square()", "difference.square()"),
    "softmax over queries": ("test_q1_far_query", CUE, CUE.replace("dim=1", "dim=0")),
    "temperature multiplies": ("test_q1_nearest", CUE, CUE.replace("/", "*")),
    "temperature after softmax": (
        "test_q1_sums",
        CUE,
        "return scores.softmax(dim=1) / temperature",
    ),
    "only cold temperatures": (
        "test_q1_temperature[4.0]",
        CUE,
        CUE.replace("temperature", "min(temperature, 1.0)"),
    ),
    "only warm temperatures": (
        "test_q1_nearest",
        CUE,
        CUE.replace("temperature", "max(temperature, 1.0)"),
    ),
    "no maximum subtracted": (
        "test_q1_far_query",
        CUE,
        "e = (scores / temperature).exp()\n    return e / e.sum(dim=1, keepdim=True)",
    ),
    "in place": (
        "test_q1_arguments",
        "difference = queries",
        "queries /= temperature**0.5\n    keys /= temperature**0.5\n    difference = queries",
        CUE,
        CUE.replace(" / temperature", ""),
    ),
    "length of the key": ("test_q2_shift", "(keys - others).norm(dim=1)", "keys.norm(dim=1)"),
    "mean of all": ("test_q2_others", "(keys.sum(dim=0) - keys) / (n - 1)", "keys.mean(dim=0)"),
    "distance squared": ("test_q2_units", "others).norm(dim=1).", "others).square().sum(dim=1)."),
    "saliency not normalised": ("test_q2_sums", ".norm(dim=1).softmax(dim=0)", ".norm(dim=1)"),
    "bug left in": ("test_q3_sums", ROWS, ROWS.replace("dim=1", "dim=0")),
    "inverted mask": ("test_q3_full_mask", FILL, FILL.replace("~", "")),
    "mask ignored": ("test_q3_far_and_masked", FILL, "scores"),
    "mask after softmax": (
        "test_q3_far_and_masked",
        FILL,
        "scores",
        "return weights @ values, weights",
        "weights = weights * (1 if mask is None else mask)\n    return weights @ values, weights",
    ),
    "minus a million": ("test_q3_far_and_masked", FILL, FILL.replace("-torch.inf", "-1e6")),
    "NaN on empty rows": ("test_q3_nothing_to_attend_to", ".clamp(min=1e-30)", ""),
    "output of other weights": (
        "test_q3_output",
        "return weights @ values, weights",
        "return e @ values, weights",
    ),
    "miss kept in the sum": (
        "test_q4_output",
        MISS,
        MISS.replace("weights[:, 1:]", "weights[:, 1:] / weights[:, 1:].sum(1, keepdim=True)"),
    ),
    "threshold as a weight": (
        "test_q4_output",
        "torch.full_like(scores[:, :1], threshold)",
        "torch.full_like(scores[:, :1], threshold).exp()",
    ),
    "miss for all": ("test_q4_shapes", MISS, MISS.replace("weights[:, 0]", "weights[:, :1]")),
    "one minus miss": (
        "test_q4_miss[-2.0]",
        MISS,
        MISS.replace("weights[:, 0]", "1 - weights[:, 0]"),
    ),
    "detached": (
        "test_q4_gradient",
        MISS,
        MISS.replace("weights[:, 1:]", "weights[:, 1:].detach()"),
    ),
    "miss without maximum": (
        "test_q4_far",
        "torch.cat((extra, scores), dim=1).softmax(dim=1)",
        "torch.cat((extra, scores), dim=1).exp()\n    weights = weights / weights.sum(1, keepdim=True)",
    ),
}

# Correct, and different: full marks.
CORRECT = {
    "by expansion": """
def cue_weights(queries, keys, temperature=1.0):
    # |q - k|^2 = |q|^2 - 2 q k + |k|^2, and |q|^2 is the same in a row
    scores = queries @ keys.T - (keys * keys).sum(-1) / 2
    return torch.nn.functional.softmax(scores / temperature, dim=-1)


def saliency(keys):
    n = keys.shape[0]
    distances = (keys - keys.mean(0)).norm(dim=-1) * n / (n - 1)
    return torch.softmax(distances, 0)


def attend(queries, keys, values, mask=None):
    scores = -(queries[:, None] - keys[None]).pow(2).sum(-1) / 2
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    weights = scores.masked_fill(~mask, float("-inf")).softmax(-1).nan_to_num()
    return weights @ values, weights


def attend_or_miss(queries, keys, values, threshold):
    scores = -(queries[:, None] - keys[None]).pow(2).sum(-1) / 2
    found = torch.sigmoid(scores.logsumexp(-1) - threshold)
    return found[:, None] * (scores.softmax(-1) @ values), 1 - found
""",
    "by loops": """
def cue_weights(queries, keys, temperature=1.0):
    rows = [torch.stack([-((q - k) ** 2).sum() / (2 * temperature) for k in keys]) for q in queries]
    return torch.stack([row.softmax(0) for row in rows])


def saliency(keys):
    scores = []
    for i in range(len(keys)):
        rest = torch.cat((keys[:i], keys[i + 1 :]))
        scores.append((keys[i] - rest.mean(0)).square().sum().sqrt())
    return torch.stack(scores).softmax(0)


def attend(queries, keys, values, mask=None):
    rows = []
    for i, q in enumerate(queries):
        scores = -(q - keys).square().sum(1) / 2
        row = torch.zeros(len(keys))
        on = torch.ones(len(keys), dtype=torch.bool) if mask is None else mask[i]
        if on.any():
            row[on] = scores[on].softmax(0)
        rows.append(row)
    weights = torch.stack(rows)
    return weights @ values, weights


def attend_or_miss(queries, keys, values, threshold):
    zero = torch.zeros(1, values.shape[1])
    outputs, misses = [], []
    for q in queries:
        scores = -(q - keys).square().sum(1) / 2
        w = torch.cat((scores, torch.tensor([threshold]))).softmax(0)
        outputs.append(w @ torch.cat((values, zero)))
        misses.append(w[-1])
    return torch.stack(outputs), torch.stack(misses)
""",
}

# Answers without understanding: nearly none of the points of their question.
LAZY = {
    "temperature ignored": (
        "q1",
        """
def cue_weights(queries, keys, temperature=1.0):
    return (-(torch.cdist(queries, keys) ** 2) / 2).softmax(1)
""",
    ),
    "dot products for distances": (
        "q1",
        """
def cue_weights(queries, keys, temperature=1.0):
    return (queries @ keys.T / temperature).softmax(1)
""",
    ),
    "the nearest takes all": (
        "q1",
        """
def cue_weights(queries, keys, temperature=1.0):
    return torch.eye(len(keys))[torch.cdist(queries, keys).argmin(1)]
""",
    ),
    "unlike the first": (
        "q2",
        """
def saliency(keys):
    return (keys - keys[0]).norm(dim=1).softmax(0)
""",
    ),
    "shares of the distance": (
        "q2",
        """
def saliency(keys):
    distances = (keys - keys.mean(0)).norm(dim=1)
    return distances / distances.sum()
""",
    ),
    "mask of no account": (
        "q3",
        """
def attend(queries, keys, values, mask=None):
    weights = cue_weights(queries, keys)
    return weights @ values, weights
""",
    ),
    "mask alone": (
        "q3",
        """
def attend(queries, keys, values, mask=None):
    on = torch.ones(len(queries), len(keys)) if mask is None else mask.float()
    weights = on / on.sum(1, keepdim=True).clamp(min=1)
    return weights @ values, weights
""",
    ),
    "refused below the threshold": (
        "q4",
        """
def attend_or_miss(queries, keys, values, threshold):
    scores = -(torch.cdist(queries, keys) ** 2) / 2
    miss = (scores.amax(1) < threshold).float()
    return (1 - miss)[:, None] * (scores.softmax(1) @ values), miss
""",
    ),
    "threshold ignored": (
        "q4",
        """
def attend_or_miss(queries, keys, values, threshold):
    scores = -(torch.cdist(queries, keys) ** 2) / 2
    weights = torch.cat((torch.zeros(len(scores), 1), scores), 1).softmax(1)
    return weights[:, 1:] @ values, weights[:, 0]
""",
    ),
}
