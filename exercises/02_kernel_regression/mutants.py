"""Typical wrong answers: edits of the solution, each with a test that must fail."""

FIT = "weights = (-((distance * w) ** 2) / 2).softmax(dim=1)"
NEAR = "near = (queries.unsqueeze(1) - keys.unsqueeze(0)).abs() <= width"
OTHER = "other = group.unsqueeze(1) != group.unsqueeze(0)"
LOO = "return (weights @ values - values).square().mean()"

MUTANTS = {
    "no half": ("test_q1_formula[0.7]", FIT, FIT.replace(" / 2", "")),
    "not squared": (
        "test_q1_far_query",
        FIT,
        FIT.replace("((distance * w) ** 2)", "(distance * w).abs()"),
    ),
    "divides by w": ("test_q1_narrow", FIT, FIT.replace("* w", "/ w")),
    "softmax over queries": ("test_q1_wide", FIT, FIT.replace("dim=1", "dim=0")),
    "no maximum subtracted": (
        "test_q1_far_query",
        FIT,
        FIT.replace(
            "softmax(dim=1)", "exp()\n    weights = weights / weights.sum(1, keepdim=True)"
        ),
    ),
    "in place": (
        "test_q1_arguments",
        "distance = queries.uns",
        "queries *= w\n    keys *= w\n    w = 1\n    distance = queries.uns",
    ),
    "edge left out": ("test_q2_edge", NEAR, NEAR.replace("<=", "<")),
    "NaN where nothing is": ("test_q2_none_in_reach", "number.clamp(min=1)", "number"),
    "sum instead of mean": ("test_q2_formula", " / number.clamp(min=1)", ""),
    "one side only": ("test_q2_one_in_reach", NEAR, NEAR.replace(".abs()", "")),
    "no leave-one-out": (
        "test_q3_not_itself",
        OTHER,
        "other = torch.ones(len(keys), len(keys), dtype=torch.bool)",
    ),
    "groups ignored": ("test_q3_group", OTHER, "other = ~torch.eye(len(keys), dtype=torch.bool)"),
    "sum of the errors": ("test_q3_formula", LOO, LOO.replace("mean", "sum")),
    "detached": ("test_q3_gradient", LOO, LOO + ".detach()"),
    "NaN when alone": (
        "test_q3_alone",
        "e.sum(dim=1, keepdim=True).clamp(min=1e-30)",
        "e.sum(dim=1, keepdim=True)",
    ),
    "underflow": (
        "test_q3_far",
        "top = scores.amax(dim=1, keepdim=True).clamp(min=-1e30)",
        "top = 0",
    ),
    "bug left in": ("test_q4_later_steps", "        w.grad = None\n", ""),
    "uphill": ("test_q4_downhill", "w -= rate", "w += rate"),
    "loss is a sum": (
        "test_q4_first_step",
        "loss = (weights @ values - values).square().mean()",
        "loss = (weights @ values - values).square().sum()",
    ),
    "start forgotten": ("test_q4_path", "path = [w.item()]", "path = []"),
    "a step whatever the rate": (
        "test_q4_no_step",
        "w -= rate * w.grad",
        "w -= max(rate, 0.01) * w.grad",
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

# Answers without understanding: nearly none of the points of their question.
LAZY = {
    "width ignored": (
        "q1",
        """
def fit(queries, keys, values, w):
    return (-((queries[:, None] - keys) ** 2) / 2).softmax(1) @ values
""",
    ),
    "the nearest value": (
        "q1",
        """
def fit(queries, keys, values, w):
    return values[(queries[:, None] - keys).abs().argmin(1)]
""",
    ),
    "nearest in reach": (
        "q2",
        """
def boxcar_fit(queries, keys, values, width):
    distances, places = (queries[:, None] - keys).abs().min(1)
    return values[places] * (distances <= width)
""",
    ),
    "a softmax in reach": (
        "q2",
        """
def boxcar_fit(queries, keys, values, width):
    distances = (queries[:, None] - keys).abs()
    scores = (-distances).masked_fill(distances > width, -torch.inf)
    return scores.softmax(1).nan_to_num() @ values
""",
    ),
    "training error": (
        "q3",
        """
def loo_error(keys, values, w, group=None):
    return (fit(keys, keys, values, w) - values).square().mean()
""",
    ),
    "mean of the others": (
        "q3",
        """
def loo_error(keys, values, w, group=None):
    others = (values.sum() - values) / (len(keys) - 1)
    return (others - values).square().mean() + 0 * w
""",
    ),
    "zero after the softmax": (
        "q3",
        """
def loo_error(keys, values, w, group=None):
    group = torch.arange(len(keys)) if group is None else group
    weights = (-(((keys[:, None] - keys) * w) ** 2) / 2).softmax(1) * (group[:, None] != group)
    return (weights @ values - values).square().mean()
""",
    ),
    "the first step for all": (
        "q4",
        """
def train(keys, values, start, rate, steps):
    w = torch.tensor(float(start), requires_grad=True)
    loo_error(keys, values, w).backward()
    return (w - rate * w.grad * torch.arange(steps + 1)).detach()
""",
    ),
    "one step": (
        "q4",
        """
def train(keys, values, start, rate, steps):
    w = torch.tensor(float(start), requires_grad=True)
    loo_error(keys, values, w).backward()
    return (w - rate * w.grad * torch.arange(steps + 1).clamp(max=1)).detach()
""",
    ),
}
