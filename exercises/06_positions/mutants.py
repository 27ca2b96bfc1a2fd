"""Typical wrong answers: edits of the solution, each with a test that must fail."""

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
        "test_q1_two_features",
        WAVES,
        WAVES.replace("angles.sin(), angles.cos()", "angles.cos(), angles.sin()"),
    ),
    "cosines at the end": (
        "test_q1_first_wave",
        WAVES,
        "waves = torch.cat((angles.sin(), angles.cos()), dim=1)",
    ),
    "a speed for each feature": (
        "test_q1_formula",
        SPEED,
        SPEED.replace("(0, d, 2,", "(d,"),
        WAVES,
        "waves = torch.where(torch.arange(d) % 2 == 0, angles.sin(), angles.cos())",
    ),
    "d rounded up in the exponent": (
        "test_q1_odd_speeds",
        SPEED,
        SPEED.replace("/ d)", "/ (d + d % 2))"),
    ),
    "the last cosine kept": ("test_q1_odd", "return waves[:, :d].float()", "return waves.float()"),
    "base 1000": ("test_q1_formula", SPEED, SPEED.replace("10000.0", "1000.0")),
    "offset forgotten": ("test_q1_offset", PLACE, PLACE.replace("(offset, offset + n,", "(n,")),
    "single precision": (
        "test_q1_far",
        PLACE,
        PLACE.replace("float64", "float32"),
        SPEED,
        SPEED.replace("float64", "float32"),
    ),
    "turned the other way": ("test_q2_one_pair", TURNED, "sin = -sin\n    " + TURNED),
    "minus forgotten": ("test_q2_distance_alone", TURNED, TURNED.replace("cos - odd", "cos + odd")),
    "halves paired": (
        "test_q2_lengths",
        EVEN,
        "even, odd = x.chunk(2, dim=3)",
        TURNED,
        "return torch.cat((even * cos - odd * sin, even * sin + odd * cos), dim=3)",
    ),
    "halves put together": (
        "test_q2_lengths",
        TURNED,
        "return torch.cat((even * cos - odd * sin, even * sin + odd * cos), dim=3)",
    ),
    "all pairs at one speed": (
        "test_q2_formula",
        THETA,
        THETA.replace("torch.arange(0, d, 2) / d", "torch.zeros(d // 2)"),
    ),
    "turn without offset": (
        "test_q2_distance_alone",
        TURN_PLACE,
        TURN_PLACE.replace("(offset, offset + n,", "(n,"),
    ),
    "turn from place 1": (
        "test_q2_one_pair",
        TURN_PLACE,
        TURN_PLACE.replace("(offset, offset + n,", "(offset + 1, offset + n + 1,"),
    ),
    "turned in place": (
        "test_q2_arguments",
        TURNED,
        "x[..., 0::2], x[..., 1::2] = even * cos - odd * sin, even * sin + odd * cos\n    return x",
    ),
    "detached": ("test_q2_gradient", EVEN, EVEN + "\n    even = even.detach()"),
    "slopes by the formula": (
        "test_q3_other_numbers[3]",
        SLOPES,
        "return torch.tensor([2 ** (-8 * i / h) for i in range(1, h + 1)])",
    ),
    "the next list from its start": ("test_q3_other_numbers[6]", MORE, MORE.replace(", 2)]", ")]")),
    "slopes from 1": (
        "test_q3_four_heads",
        "first = [2 ** (-8 * i / below) for i in range(1, below + 1)]",
        "first = [2 ** (-8 * i / below) for i in range(below)]",
    ),
    "slopes below 0": (
        "test_q3_four_heads",
        SLOPES,
        SLOPES.replace("return torch", "return -torch"),
        BIAS,
        BIAS.replace("-slopes(", "slopes("),
    ),
    "a bonus": ("test_q3_penalty", BIAS, BIAS.replace("-slopes(", "slopes(")),
    "no absolute value": ("test_q3_penalty", DISTANCE, DISTANCE.replace(".abs()", "")),
    "later keys for nothing": (
        "test_q3_one_head",
        DISTANCE,
        DISTANCE.replace(".abs()", ".clamp(min=0)"),
    ),
    "bias without offset": (
        "test_q3_offset",
        DISTANCE,
        DISTANCE.replace("(offset, offset + q)", "(q)"),
    ),
    "queries and keys swapped": ("test_q3_one_head", BIAS, BIAS + ".mT"),
    "one slope for all": (
        "test_q3_offset",
        BIAS,
        BIAS.replace("slopes(h)", "slopes(h)[:1].expand(h)"),
    ),
    "always place 0": (
        "test_q4_two_pieces",
        FRESH,
        FRESH.replace(", seen)", ", 0)"),
        "asked = turn((x @ W_q).unsqueeze(1), seen)",
        "asked = turn((x @ W_q).unsqueeze(1), 0)",
    ),
    "values turned, too": (
        "test_q4_average",
        KNOWN,
        "known, kept = fresh, turn((x @ W_v).unsqueeze(1), seen).squeeze(1)",
    ),
    "no mask": ("test_q4_first_row", PAST, PAST.replace(".tril(seen)", "")),
    "no mask once there is a cache": (
        "test_q4_average",
        PAST,
        PAST.replace("tril(seen)", "tril(seen + (cache is not None) * 9)"),
    ),
    "the mask's corner": ("test_q4_average", PAST, PAST.replace("tril(seen)", "tril()")),
    "only the last piece kept": (
        "test_q4_average",
        READ,
        READ.replace("(known, kept)", "(known[:, seen:], kept[:, seen:])"),
    ),
    "cache written over": (
        "test_q4_going_back",
        SEEN,
        SEEN + "\n    mine = cache",
        READ,
        "if mine is not None:\n        mine[0].mul_(0), mine[1].mul_(0)\n    " + READ,
    ),
    "no scale": ("test_q4_whole", FIT, FIT.replace(" / x.shape[2] ** 0.5", "")),
    "the cache without gradients": ("test_q4_gradient", FRESH, FRESH + ".detach()"),
    "bug left in": ("test_q5_columns", COLUMN, "column = after.clamp(-r, r)"),
    "the other direction": ("test_q5_columns", COLUMN, "column = (-after).clamp(-r, r) + r"),
    "clamped one too early": ("test_q5_near", COLUMN, "column = after.clamp(1 - r, r - 1) + r"),
    "only the near side clamped": ("test_q5_far", COLUMN, "column = after.clamp(max=r) + r"),
    "table without offset": ("test_q5_offset", AFTER, AFTER.replace("(offset, offset + q)", "(q)")),
    "table detached": (
        "test_q5_gradient",
        "return table[:, column]",
        "return table.detach()[:, column]",
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

# What somebody writes who has not understood: 15 % of the question's points at most.
READ_ON = """
def read_on(x, W_q, W_k, W_v, cache=None):
    {}
"""
WHOLE = """q, k = (turn((x @ W)[:, None])[:, 0] for W in (W_q, W_k))
    fit = (q @ k.mT / x.shape[2] ** 0.5).masked_fill(torch.ones(x.shape[1], x.shape[1]).triu(1).bool(), -torch.inf)
    return fit.softmax(2) @ x @ W_v, """
LAZY = {
    "one wave for all": (
        "q1",
        """
def sinusoids(n, d, offset=0):
    p = torch.arange(offset, offset + n).double().unsqueeze(1)
    return torch.where(torch.arange(d) % 2 == 0, p.sin(), p.cos())
""",
    ),
    "sines alone": (
        "q1",
        """
def sinusoids(n, d, offset=0):
    return (torch.arange(offset, offset + n).double()[:, None] * 10000.0 ** (-torch.arange(d) / d)).sin()
""",
    ),
    "place 0 everywhere": (
        "q1",
        "def sinusoids(n, d, offset=0): return (torch.arange(d) % 2).float().repeat(n, 1)",
    ),
    "nothing is turned": ("q2", "def turn(x, offset=0): return x.clone()"),
    "one angle for all": (
        "q2",
        """
def turn(x, offset=0):
    a = torch.arange(offset, offset + x.shape[2]).unsqueeze(1)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * a.cos() - odd * a.sin(), even * a.sin() + odd * a.cos()), 4).flatten(3)
""",
    ),
    "sinusoids added": (
        "q2",
        "def turn(x, offset=0): return x + sinusoids(x.shape[2], x.shape[3], offset)",
    ),
    "the formula of powers of two, no bias": (
        "q3",
        """
def slopes(h): return 2.0 ** (-8 * torch.arange(1, h + 1) / h)
def alibi(h, q, k, offset=0): return torch.zeros(h, q, k)
""",
    ),
    "the distance for all heads": (
        "q3",
        """
def slopes(h): return torch.full((h,), 2.0**-8)
def alibi(h, q, k, offset=0):
    return -((torch.arange(q) + offset)[:, None] - torch.arange(k)).abs().expand(h, q, k) * 2.0**-8
""",
    ),
    "the cache ignored": ("q4", READ_ON.format(WHOLE + "(x,)")),
    "places ignored": (
        "q4",
        READ_ON.format(
            """turn, n = lambda y: y, x.shape[1]
    x = x if cache is None else torch.cat((cache[0], x), 1)
    """
            + WHOLE.replace("W_v, ", "W_v").replace("return fit", "output = fit")
            + "\n    return output[:, -n:], (x,)"
        ),
    ),
    "averages": (
        "q4",
        READ_ON.format(
            """v = x @ W_v if cache is None else torch.cat((cache[0], x @ W_v), 1)
    return (v.cumsum(1) / torch.arange(1, v.shape[1] + 1)[:, None])[:, -x.shape[1] :], (v,)"""
        ),
    ),
    "the middle column": (
        "q5",
        "def distance_bias(table, q, k, offset=0): return table[:, table.shape[1] // 2, None, None].expand(-1, q, k)",
    ),
    "reach ignored": (
        "q5",
        """
def distance_bias(table, q, k, offset=0):
    return table[:, torch.arange(k) - torch.arange(offset, offset + q)[:, None] + table.shape[1] // 2]
""",
    ),
    "the direction ignored": (
        "q5",
        """
def distance_bias(table, q, k, offset=0):
    r = table.shape[1] // 2
    return table[:, (torch.arange(k) - torch.arange(offset, offset + q)[:, None]).abs().clamp(max=r) + r]
""",
    ),
}
