"""Typical wrong answers: edits of the solution, each with exactly the tests that must fail."""

PLACE = "place = torch.arange(offset, offset + n, dtype=torch.float64)\n    speed"
SPEED = "speed = 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)"
WAVES = "waves = torch.stack((angles.sin(), angles.cos()), dim=2).flatten(1)"
TURN_PLACE = "place = torch.arange(offset, offset + n, dtype=torch.float64)\n    theta"
THETA = "theta = place.unsqueeze(1) / 10000 ** (torch.arange(0, d, 2) / d)"
EVEN = "even, odd = x[..., 0::2], x[..., 1::2]"
TURNED = "return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=4).flatten(3)"
MORE = "more = [2 ** (-8 * i / (2 * below)) for i in range(1, 2 * below, 2)]"
SLOPES = "return torch.tensor(first + more[: h - below])"
DISTANCE = "distance = (torch.arange(offset, offset + q).unsqueeze(1) - torch.arange(k)).abs()"
BIAS = "return -slopes(h).reshape(-1, 1, 1) * distance"
SEEN = "seen = 0 if cache is None else cache[0].shape[1]"
FRESH = "fresh = turn((x @ W_k).unsqueeze(1), seen).squeeze(1)"
KNOWN = "known, kept = fresh, x @ W_v"
FIT = "fit = asked @ known.mT / x.shape[2] ** 0.5"
PAST = "past = torch.ones(fit.shape[1:], dtype=torch.bool).tril(seen)"
READ = "return fit.masked_fill(~past, -torch.inf).softmax(dim=2) @ kept, (known, kept)"
AFTER = "after = torch.arange(k) - torch.arange(offset, offset + q).unsqueeze(1)"
COLUMN = "column = after.clamp(-r, r) + r"

MUTANTS = {
    "cosine first": (
        (WAVES, WAVES.replace("angles.sin(), angles.cos()", "angles.cos(), angles.sin()")),
        {
            "test_q1_far",
            "test_q1_first_wave",
            "test_q1_formula[16]",
            "test_q1_formula[2]",
            "test_q1_odd",
            "test_q1_odd_speeds",
            "test_q1_offset",
        },
    ),
    "cosines at the end": (
        (WAVES, "waves = torch.cat((angles.sin(), angles.cos()), dim=1)"),
        {
            "test_q1_far",
            "test_q1_first_wave",
            "test_q1_formula[16]",
            "test_q1_odd",
            "test_q1_odd_speeds",
            "test_q1_offset",
        },
    ),
    "a speed for each feature": (
        (
            SPEED,
            SPEED.replace("(0, d, 2,", "(d,"),
            WAVES,
            "waves = torch.where(torch.arange(d) % 2 == 0, angles.sin(), angles.cos())",
        ),
        {
            "test_q1_far",
            "test_q1_first_wave",
            "test_q1_formula[16]",
            "test_q1_formula[2]",
            "test_q1_odd_speeds",
            "test_q1_offset",
        },
    ),
    "d rounded up in the exponent": (
        (SPEED, SPEED.replace("/ d)", "/ (d + d % 2))")),
        {"test_q1_odd_speeds"},
    ),
    "the last cosine kept": (
        (("return waves[:, :d].float()"), "return waves.float()"),
        {"test_q1_odd", "test_q1_odd_speeds"},
    ),
    "base 1000": (
        (SPEED, SPEED.replace("10000.0", "1000.0")),
        {"test_q1_far", "test_q1_formula[16]", "test_q1_odd_speeds", "test_q1_offset"},
    ),
    "offset forgotten": (
        (PLACE, PLACE.replace("(offset, offset + n,", "(n,")),
        {"test_q1_far", "test_q1_offset"},
    ),
    "single precision": (
        (PLACE, PLACE.replace("float64", "float32"), SPEED, SPEED.replace("float64", "float32")),
        {"test_q1_far"},
    ),
    "turned the other way": (
        (TURNED, "sin = -sin\n    " + TURNED),
        {
            "test_q2_formula[2]",
            "test_q2_formula[8]",
            "test_q2_gradient",
            "test_q2_offset",
            "test_q4_going_back",
            "test_q4_gradient",
            "test_q4_long_pieces",
            "test_q4_one_by_one",
            "test_q4_whole",
        },
    ),
    "minus forgotten": (
        (TURNED, TURNED.replace("cos - odd", "cos + odd")),
        {
            "test_q2_distance_alone",
            "test_q2_formula[2]",
            "test_q2_formula[8]",
            "test_q2_gradient",
            "test_q2_lengths",
            "test_q2_offset",
            "test_q4_going_back",
            "test_q4_gradient",
            "test_q4_long_pieces",
            "test_q4_one_by_one",
            "test_q4_whole",
        },
    ),
    "halves paired": (
        (
            EVEN,
            "even, odd = x.chunk(2, dim=3)",
            TURNED,
            "return torch.cat((even * cos - odd * sin, even * sin + odd * cos), dim=3)",
        ),
        {
            "test_q2_formula[8]",
            "test_q2_gradient",
            "test_q2_lengths",
            "test_q2_offset",
            "test_q4_going_back",
            "test_q4_gradient",
            "test_q4_long_pieces",
            "test_q4_one_by_one",
            "test_q4_whole",
        },
    ),
    "halves put together": (
        (TURNED, "return torch.cat((even * cos - odd * sin, even * sin + odd * cos), dim=3)"),
        {"test_q2_formula[8]", "test_q2_lengths", "test_q2_offset"},
    ),
    "all pairs at one speed": (
        (THETA, THETA.replace("torch.arange(0, d, 2) / d", "torch.zeros(d // 2)")),
        {
            "test_q2_formula[8]",
            "test_q2_gradient",
            "test_q2_offset",
            "test_q4_going_back",
            "test_q4_gradient",
            "test_q4_long_pieces",
            "test_q4_one_by_one",
            "test_q4_whole",
        },
    ),
    "turn without offset": (
        (TURN_PLACE, TURN_PLACE.replace("(offset, offset + n,", "(n,")),
        {
            "test_q2_distance_alone",
            "test_q2_gradient",
            "test_q2_offset",
            "test_q4_going_back",
            "test_q4_long_pieces",
            "test_q4_one_by_one",
            "test_q4_two_pieces",
        },
    ),
    "turn from place 1": (
        (TURN_PLACE, TURN_PLACE.replace("(offset, offset + n,", "(offset + 1, offset + n + 1,")),
        {
            "test_q2_formula[2]",
            "test_q2_formula[8]",
            "test_q2_gradient",
            "test_q2_lengths",
            "test_q2_offset",
        },
    ),
    "heads counted as places": (
        (
            "n, d = x.shape[2:]",
            "n, d = x.shape[1], x.shape[3]",
            "theta.cos().to(x.dtype), theta.sin().to(x.dtype)",
            "theta.cos().to(x.dtype).unsqueeze(1), theta.sin().to(x.dtype).unsqueeze(1)",
        ),
        {
            "test_q2_formula[2]",
            "test_q2_formula[8]",
            "test_q2_gradient",
            "test_q2_lengths",
            "test_q2_offset",
            "test_q4_going_back",
            "test_q4_gradient",
            "test_q4_long_pieces",
            "test_q4_two_pieces",
            "test_q4_whole",
        },
    ),
    "turned in place": (
        (
            TURNED,
            "x[..., 0::2], x[..., 1::2] = even * cos - odd * sin, even * sin + odd * cos\n    return x",
        ),
        {"test_q2_arguments", "test_q2_gradient"},
    ),
    "detached": (
        (EVEN, EVEN + "\n    even = even.detach()"),
        {"test_q2_gradient", "test_q4_gradient"},
    ),
    "slopes by the formula": (
        (SLOPES, "return torch.tensor([2 ** (-8 * i / h) for i in range(1, h + 1)])"),
        {"test_q3_other_numbers[3]", "test_q3_other_numbers[6]"},
    ),
    "the next list from its start": (
        (MORE, MORE.replace(", 2)]", ")]")),
        {"test_q3_other_numbers[6]"},
    ),
    "slopes from 1": (
        (
            "first = [2 ** (-8 * i / below) for i in range(1, below + 1)]",
            "first = [2 ** (-8 * i / below) for i in range(below)]",
        ),
        {
            "test_q3_distance[1]",
            "test_q3_distance[2]",
            "test_q3_four_heads",
            "test_q3_offset",
            "test_q3_other_numbers[3]",
            "test_q3_other_numbers[6]",
            "test_q3_power_of_two[16]",
            "test_q3_power_of_two[1]",
        },
    ),
    "slopes below 0": (
        (
            SLOPES,
            SLOPES.replace("return torch", "return -torch"),
            BIAS,
            BIAS.replace("-slopes", "slopes"),
        ),
        {
            "test_q3_four_heads",
            "test_q3_other_numbers[3]",
            "test_q3_other_numbers[6]",
            "test_q3_power_of_two[16]",
            "test_q3_power_of_two[1]",
        },
    ),
    "a bonus": (
        (BIAS, BIAS.replace("-slopes", "slopes")),
        {"test_q3_distance[1]", "test_q3_distance[2]", "test_q3_offset", "test_q3_penalty"},
    ),
    "no absolute value": (
        (DISTANCE, DISTANCE.replace(".abs()", "")),
        {"test_q3_distance[1]", "test_q3_distance[2]", "test_q3_penalty"},
    ),
    "later keys for nothing": (
        (DISTANCE, DISTANCE.replace(".abs()", ".clamp(min=0)")),
        {"test_q3_distance[1]", "test_q3_distance[2]"},
    ),
    "bias without offset": (
        (DISTANCE, DISTANCE.replace("(offset, offset + q)", "(q)")),
        {"test_q3_offset"},
    ),
    "queries and keys swapped": (
        (BIAS, BIAS + ".mT"),
        {"test_q3_distance[1]", "test_q3_distance[2]", "test_q3_offset"},
    ),
    "one slope for all": (
        (BIAS, BIAS.replace("slopes(h)", "slopes(h)[:1].expand(h)")),
        {"test_q3_distance[2]", "test_q3_offset"},
    ),
    "always place 0": (
        (
            FRESH,
            FRESH.replace(", seen)", ", 0)"),
            "asked = turn((x @ W_q).unsqueeze(1), seen)",
            "asked = turn((x @ W_q).unsqueeze(1), 0)",
        ),
        {"test_q4_going_back", "test_q4_long_pieces", "test_q4_one_by_one", "test_q4_two_pieces"},
    ),
    "values turned, too": (
        (KNOWN, "known, kept = fresh, turn((x @ W_v).unsqueeze(1), seen).squeeze(1)"),
        {
            "test_q4_average",
            "test_q4_going_back",
            "test_q4_gradient",
            "test_q4_long_pieces",
            "test_q4_one_by_one",
            "test_q4_whole",
        },
    ),
    "no mask": (
        (PAST, PAST.replace(".tril(seen)", "")),
        {
            "test_q4_average",
            "test_q4_first_row",
            "test_q4_gradient",
            "test_q4_long_pieces",
            "test_q4_two_pieces",
            "test_q4_whole",
        },
    ),
    "no mask once there is a cache": (
        (PAST, PAST.replace("tril(seen)", "tril(seen + (cache is not None) * 9)")),
        {"test_q4_average", "test_q4_long_pieces"},
    ),
    "the mask's corner": (
        (PAST, PAST.replace("tril(seen)", "tril()")),
        {
            "test_q4_average",
            "test_q4_going_back",
            "test_q4_long_pieces",
            "test_q4_one_by_one",
            "test_q4_two_pieces",
        },
    ),
    "only the last piece kept": (
        (READ, READ.replace("(known, kept)", "(known[:, seen:], kept[:, seen:])")),
        {"test_q4_average", "test_q4_long_pieces", "test_q4_one_by_one"},
    ),
    "cache written over": (
        (
            SEEN,
            SEEN + "\n    mine = cache",
            READ,
            "if mine is not None:\n        mine[0].mul_(0), mine[1].mul_(0)\n    " + READ,
        ),
        {"test_q4_going_back"},
    ),
    "no scale": (
        (FIT, FIT.replace(" / x.shape[2] ** 0.5", "")),
        {
            "test_q4_going_back",
            "test_q4_gradient",
            "test_q4_long_pieces",
            "test_q4_one_by_one",
            "test_q4_whole",
        },
    ),
    "the cache without gradients": ((FRESH, FRESH + ".detach()"), {"test_q4_gradient"}),
    "bug left in": (
        (COLUMN, "column = after.clamp(-r, r)"),
        {"test_q5_columns", "test_q5_far", "test_q5_gradient", "test_q5_near", "test_q5_offset"},
    ),
    "the other direction": (
        (COLUMN, "column = (-after).clamp(-r, r) + r"),
        {"test_q5_columns", "test_q5_far", "test_q5_near", "test_q5_offset"},
    ),
    "clamped one too early": (
        (COLUMN, "column = after.clamp(1 - r, r - 1) + r"),
        {"test_q5_far", "test_q5_gradient", "test_q5_near", "test_q5_offset"},
    ),
    "only the near side clamped": (
        (COLUMN, "column = after.clamp(max=r) + r"),
        {"test_q5_far", "test_q5_gradient", "test_q5_offset"},
    ),
    "table without offset": (
        (AFTER, AFTER.replace("(offset, offset + q)", "(q)")),
        {"test_q5_offset"},
    ),
    "table detached": (
        ("return table[:, column]", "return table.detach()[:, column]"),
        {"test_q5_gradient"},
    ),
}

# Correct, and different: full marks.
CORRECT = {
    "by complex numbers": """
def angles_of(n, d, offset):
    p = torch.arange(offset, offset + n).double()
    i = torch.arange((d + 1) // 2).double()
    return torch.outer(p, torch.exp(-2 * i / d * torch.log(torch.tensor(1e4).double())))


def sinusoids(n, d, offset=0):
    table = torch.empty(n, d, dtype=torch.float64)
    a = angles_of(n, d, offset)
    table[:, 0::2] = a.sin()
    table[:, 1::2] = a[:, : d // 2].cos()
    return table.to(torch.float32)


def turn(x, offset=0):
    a = angles_of(x.size(-2), x.size(-1), offset).to(x.dtype)
    z = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(z * torch.polar(torch.ones_like(a), a)).flatten(-2)


def slopes(h):
    if h & (h - 1) == 0:
        return 2.0 ** (-8 * torch.arange(1, h + 1) / h)
    low = 1 << (h.bit_length() - 1)
    return torch.cat((slopes(low), slopes(2 * low)[0::2][: h - low]))


def alibi(h, q, k, offset=0):
    i, j = offset + torch.arange(q)[:, None], torch.arange(k)[None]
    return torch.einsum("h,qk->hqk", slopes(h), -(i - j).abs().float())


def read_on(x, W_q, W_k, W_v, cache=None):
    # keeps the inputs, and turns all keys each time
    rows = x if cache is None else torch.cat((cache[0], x), 1)
    n, new = rows.shape[1], x.shape[1]
    q, k = (turn((rows @ W)[:, None])[:, 0] for W in (W_q, W_k))
    scores = torch.bmm(q, k.transpose(1, 2)) * rows.shape[-1] ** -0.5
    later = torch.ones(n, n).triu(1).bool()
    y = torch.softmax(scores.masked_fill(later, float("-inf")), -1) @ (rows @ W_v)
    return y[:, -new:], (rows,)


def distance_bias(table, q, k, offset=0):
    r = (table.shape[1] - 1) // 2
    i, j = torch.meshgrid(torch.arange(q) + offset, torch.arange(k), indexing="ij")
    column = torch.clamp(j - i + r, 0, 2 * r)
    return table.index_select(1, column.flatten()).unflatten(1, (q, k))
""",
    "by loops": """
def sinusoids(n, d, offset=0):
    columns = []
    p = offset + torch.arange(n).to(torch.float64)
    for j in range(d):
        a = p / 10000 ** ((j - j % 2) / d)
        columns.append(a.cos() if j % 2 else a.sin())
    return torch.stack(columns, 1).float()


def turn(x, offset=0):
    rows = []
    for p, row in enumerate(x.unbind(2), start=offset):
        R = torch.zeros(x.shape[3], x.shape[3], dtype=torch.float64)
        for i in range(0, x.shape[3], 2):
            a = torch.tensor(p / 10000 ** (i / x.shape[3]), dtype=torch.float64)
            c, s = a.cos(), a.sin()
            R[i, i], R[i, i + 1], R[i + 1, i], R[i + 1, i + 1] = c, -s, s, c
        rows.append(row @ R.T.to(x.dtype))
    return torch.stack(rows, 2)


def slopes(h):
    power = 1
    while power * 2 <= h:
        power = power * 2
    found = []
    ratio = 2 ** (-8 / power)
    for i in range(power):
        found.append(ratio ** (i + 1))
    for i in range(h - power):
        found.append((2 ** (-4 / power)) ** (2 * i + 1))
    return torch.tensor(found)


def alibi(h, q, k, offset=0):
    bias = torch.zeros(h, q, k)
    for head, m in enumerate(slopes(h).tolist()):
        for i in range(q):
            for j in range(k):
                bias[head, i, j] = -m * abs(i + offset - j)
    return bias


def read_on(x, W_q, W_k, W_v, cache=None):
    keys = [] if cache is None else list(cache[0].unbind(1))
    values = [] if cache is None else list(cache[1].unbind(1))
    outputs = []
    for row in x.unbind(1):
        place = len(keys)
        q = turn((row @ W_q)[:, None, None], place)[:, 0, 0]
        keys.append(turn((row @ W_k)[:, None, None], place)[:, 0, 0])
        values.append(row @ W_v)
        w = torch.stack([(q * k).sum(1) for k in keys], 1).div(x.shape[2] ** 0.5).softmax(1)
        outputs.append((w[:, :, None] * torch.stack(values, 1)).sum(1))
    return torch.stack(outputs, 1), (torch.stack(keys, 1), torch.stack(values, 1))


def distance_bias(table, q, k, offset=0):
    r = table.shape[1] // 2
    rows = []
    for i in range(offset, offset + q):
        rows.append(torch.stack([table[:, r + max(-r, min(r, j - i))] for j in range(k)], 1))
    return torch.stack(rows, 1)
""",
}
