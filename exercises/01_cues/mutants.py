"""Typical wrong answers: edits of the solution, each with exactly the tests that must fail."""

CUE = "return (scores / temperature).softmax(dim=1)"
MISS = "return weights[:, 1:] @ values, weights[:, 0]"
ROWS = "e.sum(dim=1, keepdim=True)"
FILL = "scores.masked_fill(~mask, -torch.inf)"

MUTANTS = {
    "no half": (
        ("-difference.square().sum(dim=2) / 2", "-difference.square().sum(dim=2)"),
        {"test_q1_one_dimension", "test_q1_temperature[0.25]", "test_q1_temperature[4.0]"},
    ),
    "wrong sign": (
        ("-difference.square()", "difference.square()"),
        {
            "test_q1_nearest",
            "test_q1_one_dimension",
            "test_q1_temperature[0.25]",
            "test_q1_temperature[4.0]",
        },
    ),
    "softmax over queries": (
        (CUE, CUE.replace("dim=1", "dim=0")),
        {
            "test_q1_far_query",
            "test_q1_one_dimension",
            "test_q1_sums",
            "test_q1_temperature[0.25]",
            "test_q1_temperature[4.0]",
        },
    ),
    "temperature multiplies": (
        (CUE, CUE.replace("/", "*")),
        {"test_q1_nearest", "test_q1_temperature[0.25]", "test_q1_temperature[4.0]"},
    ),
    "temperature after softmax": (
        (CUE, "return scores.softmax(dim=1) / temperature"),
        {
            "test_q1_nearest",
            "test_q1_sums",
            "test_q1_temperature[0.25]",
            "test_q1_temperature[4.0]",
        },
    ),
    "only cold temperatures": (
        (CUE, CUE.replace("temperature", "min(temperature, 1.0)")),
        {"test_q1_temperature[4.0]"},
    ),
    "only warm temperatures": (
        (CUE, CUE.replace("temperature", "max(temperature, 1.0)")),
        {"test_q1_nearest", "test_q1_temperature[0.25]"},
    ),
    "no maximum subtracted": (
        (CUE, "e = (scores / temperature).exp()\n    return e / e.sum(dim=1, keepdim=True)"),
        {"test_q1_far_query"},
    ),
    "in place": (
        (
            "difference = queries",
            "queries /= temperature**0.5\n    keys /= temperature**0.5\n    difference = queries",
            CUE,
            CUE.replace(" / temperature", ""),
        ),
        {"test_q1_arguments"},
    ),
    "length of the key": (
        ("(keys - others).norm(dim=1)", "keys.norm(dim=1)"),
        {"test_q2_others", "test_q2_shift"},
    ),
    "mean of all": (("(keys.sum(dim=0) - keys) / (n - 1)", "keys.mean(dim=0)"), {"test_q2_others"}),
    "distance squared": (
        ("others).norm(dim=1).", "others).square().sum(dim=1)."),
        {"test_q2_others", "test_q2_units"},
    ),
    "saliency not normalised": (
        (".norm(dim=1).softmax(dim=0)", ".norm(dim=1)"),
        {"test_q2_others", "test_q2_sums", "test_q2_units"},
    ),
    "bug left in": (
        (ROWS, ROWS.replace("dim=1", "dim=0")),
        {"test_q3_mask", "test_q3_masked_is_zero", "test_q3_output", "test_q3_sums"},
    ),
    "inverted mask": (
        (FILL, FILL.replace("~", "")),
        {
            "test_q3_far_and_masked",
            "test_q3_full_mask",
            "test_q3_mask",
            "test_q3_masked_is_zero",
            "test_q3_nothing_to_attend_to",
        },
    ),
    "mask ignored": (
        (FILL, "scores"),
        {
            "test_q3_far_and_masked",
            "test_q3_mask",
            "test_q3_masked_is_zero",
            "test_q3_nothing_to_attend_to",
        },
    ),
    "mask after softmax": (
        (
            *(FILL, "scores"),
            *(
                "return weights @ values, weights",
                "weights = weights * (1 if mask is None else mask)\n    return weights @ values, weights",
            ),
        ),
        {"test_q3_far_and_masked", "test_q3_mask", "test_q3_masked_is_zero"},
    ),
    "minus a million": (
        (FILL, FILL.replace("-torch.inf", "-1e6")),
        {"test_q3_far_and_masked", "test_q3_nothing_to_attend_to"},
    ),
    "NaN on empty rows": ((".clamp(min=1e-30)", ""), {"test_q3_nothing_to_attend_to"}),
    "output of other weights": (
        ("return weights @ values, weights", "return e @ values, weights"),
        {"test_q3_mask", "test_q3_output"},
    ),
    "miss kept in the sum": (
        (
            MISS,
            MISS.replace("weights[:, 1:]", "weights[:, 1:] / weights[:, 1:].sum(1, keepdim=True)"),
        ),
        {"test_q4_far", "test_q4_gradient", "test_q4_output"},
    ),
    "threshold as a weight": (
        (
            "torch.full_like(scores[:, :1], threshold)",
            "torch.full_like(scores[:, :1], threshold).exp()",
        ),
        {"test_q4_gradient", "test_q4_miss[-2.0]", "test_q4_miss[0.5]", "test_q4_output"},
    ),
    "miss for all": (
        (MISS, MISS.replace("weights[:, 0]", "weights[:, :1]")),
        {"test_q4_far", "test_q4_miss[-2.0]", "test_q4_miss[0.5]", "test_q4_shapes"},
    ),
    "one minus miss": (
        (MISS, MISS.replace("weights[:, 0]", "1 - weights[:, 0]")),
        {"test_q4_far", "test_q4_miss[-2.0]", "test_q4_miss[0.5]"},
    ),
    "detached": (
        (MISS, MISS.replace("weights[:, 1:]", "weights[:, 1:].detach()")),
        {"test_q4_gradient"},
    ),
    "miss without maximum": (
        (
            "torch.cat((extra, scores), dim=1).softmax(dim=1)",
            "torch.cat((extra, scores), dim=1).exp()\n    weights = weights / weights.sum(1, keepdim=True)",
        ),
        {"test_q4_far"},
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
