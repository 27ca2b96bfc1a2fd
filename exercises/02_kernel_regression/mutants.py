"""Typical wrong answers: edits of the solution, each with exactly the tests that must fail."""

FIT = "weights = (-((distance * w) ** 2) / 2).softmax(dim=1)"
NEAR = "near = (queries.unsqueeze(1) - keys.unsqueeze(0)).abs() <= width"
OTHER = "other = group.unsqueeze(1) != group.unsqueeze(0)"
LOO = "return (weights @ values - values).square().mean()"

MUTANTS = {
    "no half": ((FIT, FIT.replace(" / 2", "")), {"test_q1_formula[0.7]", "test_q1_formula[3.0]"}),
    "not squared": (
        (FIT, FIT.replace("((distance * w) ** 2)", "(distance * w).abs()")),
        {"test_q1_far_query", "test_q1_formula[0.7]", "test_q1_formula[3.0]"},
    ),
    "divides by w": (
        (FIT, FIT.replace("* w", "/ w")),
        {"test_q1_formula[0.7]", "test_q1_formula[3.0]", "test_q1_narrow", "test_q1_wide"},
    ),
    "softmax over queries": (
        (FIT, FIT.replace("dim=1", "dim=0")),
        {"test_q1_far_query", "test_q1_formula[0.7]", "test_q1_formula[3.0]", "test_q1_wide"},
    ),
    "no maximum subtracted": (
        (
            FIT,
            FIT.replace(
                "softmax(dim=1)", "exp()\n    weights = weights / weights.sum(1, keepdim=True)"
            ),
        ),
        {"test_q1_far_query"},
    ),
    "in place": (
        (
            "distance = queries.uns",
            "queries *= w\n    keys *= w\n    w = 1\n    distance = queries.uns",
        ),
        {"test_q1_arguments"},
    ),
    "edge left out": ((NEAR, NEAR.replace("<=", "<")), {"test_q2_edge"}),
    "NaN where nothing is": (("number.clamp(min=1)", "number"), {"test_q2_none_in_reach"}),
    "sum instead of mean": ((" / number.clamp(min=1)", ""), {"test_q2_edge", "test_q2_formula"}),
    "one side only": (
        (NEAR, NEAR.replace(".abs()", "")),
        {"test_q2_edge", "test_q2_formula", "test_q2_one_in_reach"},
    ),
    "no leave-one-out": (
        (OTHER, "other = torch.ones(len(keys), len(keys), dtype=torch.bool)"),
        {
            "test_q3_alone",
            "test_q3_far",
            "test_q3_formula",
            "test_q3_gradient",
            "test_q3_group",
            "test_q3_not_itself",
        },
    ),
    "groups ignored": (
        (OTHER, "other = ~torch.eye(len(keys), dtype=torch.bool)"),
        {"test_q3_alone", "test_q3_group"},
    ),
    "sum of the errors": (
        (LOO, LOO.replace("mean", "sum")),
        {"test_q3_alone", "test_q3_far", "test_q3_formula", "test_q3_gradient", "test_q3_group"},
    ),
    "detached": ((LOO, LOO + ".detach()"), {"test_q3_gradient"}),
    "NaN when alone": (
        ("e.sum(dim=1, keepdim=True).clamp(min=1e-30)", "e.sum(dim=1, keepdim=True)"),
        {"test_q3_alone"},
    ),
    "underflow": (
        ("top = scores.amax(dim=1, keepdim=True).clamp(min=-1e30)", "top = 0"),
        {"test_q3_far"},
    ),
    "bug left in": (("        w.grad = None\n", ""), {"test_q4_later_steps"}),
    "uphill": (
        ("w -= rate", "w += rate"),
        {"test_q4_downhill", "test_q4_first_step", "test_q4_later_steps"},
    ),
    "loss is a sum": (
        (
            "loss = (weights @ values - values).square().mean()",
            "loss = (weights @ values - values).square().sum()",
        ),
        {"test_q4_first_step", "test_q4_later_steps"},
    ),
    "start forgotten": (
        ("path = [w.item()]", "path = []"),
        {"test_q4_downhill", "test_q4_later_steps", "test_q4_path"},
    ),
    "a step whatever the rate": (
        ("w -= rate * w.grad", "w -= max(rate, 0.01) * w.grad"),
        {"test_q4_no_step"},
    ),
}

# Correct, and different: full marks.
CORRECT = {
    "by masks": """
def fit(queries, keys, values, w):
    kernel = -0.5 * (queries[:, None] * w - keys[None] * w) ** 2
    kernel = (kernel - kernel.max(dim=1, keepdim=True).values).exp()
    return (kernel * values).sum(1) / kernel.sum(1)


def boxcar_fit(queries, keys, values, width):
    near = (queries[:, None] - keys[None]).abs() <= width
    mean = torch.where(near, values, 0.0).sum(1) / near.sum(1)
    return mean.nan_to_num()


def loo_error(keys, values, w, group=None):
    n = len(keys)
    same = torch.eye(n, dtype=torch.bool) if group is None else group[:, None] == group[None]
    scores = (-0.5 * ((keys[:, None] - keys) * w) ** 2).masked_fill(same, float("-inf"))
    lonely = same.all(dim=1)
    weights = scores.masked_fill(lonely[:, None], 0.0).softmax(1)
    guess = torch.where(lonely, torch.zeros(n), weights @ values)
    return torch.nn.functional.mse_loss(guess, values)


def train(keys, values, start, rate, steps):
    w = torch.nn.Parameter(torch.tensor(float(start)))
    sgd = torch.optim.SGD([w], lr=rate)
    path = [float(start)]
    for _ in range(steps):
        sgd.zero_grad()
        loo_error(keys, values, w).backward()
        sgd.step()
        path.append(float(w.detach()))
    return torch.tensor(path)
""",
    "by loops": """
def fit(queries, keys, values, w):
    return torch.stack([torch.softmax(-(((q - keys) * w) ** 2) / 2, 0) @ values for q in queries])


def boxcar_fit(queries, keys, values, width):
    rows = []
    for q in queries:
        on = (q - keys).abs() <= width
        rows.append(values[on].mean() if on.any() else torch.tensor(0.0))
    return torch.stack(rows)


def loo_error(keys, values, w, group=None):
    group = torch.arange(len(keys)) if group is None else group
    total = 0 * torch.as_tensor(w, dtype=keys.dtype)
    for i in range(len(keys)):
        on = group != group[i]
        guess = fit(keys[i : i + 1], keys[on], values[on], w)[0] if on.any() else 0.0
        total = total + (guess - values[i]) ** 2
    return total / len(keys)


def train(keys, values, start, rate, steps):
    path = [torch.tensor(float(start))]
    for _ in range(steps):
        w = path[-1].clone().requires_grad_()
        [gradient] = torch.autograd.grad(loo_error(keys, values, w), w)
        path.append((w - rate * gradient).detach())
    return torch.stack(path)
""",
}
