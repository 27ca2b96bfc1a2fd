"""Typical wrong answers: edits of the solution, each with a test that must fail."""

PLACES = "i, j = torch.arange(offset, offset + q)[:, None], torch.arange(k)"
UNMOVED = "i, j = torch.arange(q)[:, None], torch.arange(k)"
NEAR = "    near = (i - j).abs() <= far\n"
CAUSAL = "return near & (j <= i) if causal else near"
GAPS = "    return ((i - j) % dilation == 0) & ((i - j).abs() <= radius * dilation)"
BLOCK = "    return i // size == j // size"
CHOSEN = "    chosen = torch.tensor(places)"
GLOBAL = "return torch.isin(i, chosen) | torch.isin(j, chosen)"
JOIN = "mask = near | marked.unsqueeze(2) | marked.unsqueeze(1)"
PADDING = "mask = mask & (torch.arange(n) < lengths[:, None, None])  # & (b, 1, n)"
TRIL = "return mask.tril() if causal else mask"
DRAWN = "drawn = torch.zeros(n, n, dtype=torch.bool).scatter(1, chosen, True)"
BIG = "kept = window(n, n, width) | drawn | marked.unsqueeze(2) | marked.unsqueeze(1)"
BIG_PADDING = "kept = kept & (torch.arange(n) < lengths[:, None, None])"
BIG_TRIL = "return kept.tril() if causal else kept"
LEAST = "far = min(width - 1, n - 1)  # a wider window keeps no more"
OF_CAUSAL = "return n * (far + 1) - far * (far + 1) // 2"
OF_BOTH = "return n * (2 * far + 1) - far * (far + 1)"
ONE = "if n == 1:"
ROUNDED = "return -(-(n - 1) // far) if far else None  # rounded up"
EYE = "seen = torch.eye(masks.shape[1], dtype=torch.bool)"
LAYERS = "for mask in masks:"
PASSED = "passed = mask.float() @ seen.float() > 0"
SEEN = "seen = seen | passed"
SIZE = "size = far + 1  # of a block"
COUNT = "c = -(-n // size)  # blocks"
QUERIES = "queries = F.pad(Q, (0, 0, 0, rest)).reshape(b, c, size, d)"
BAND = "near = (i - j).abs() <= far  # (size"
AHEAD = "    if causal:\n        near = near & (j <= i)"
REAL = "real = (0 <= place) & (place < lengths[:, None, None])"
SOME = "some = mask.any(dim=3, keepdim=True)"
SCORES = "scores = queries @ around(K).mT / d**0.5"
WEIGHTS = "weights = scores.masked_fill(~mask & some, -torch.inf).softmax(dim=3) * some"
OUTPUT = "output = weights @ around(V)"
IN_SIGHT = "near = (0 <= j) & (j <= i) & (i - j <= far)  # (c, size, 2 size)"
SINKS = "sinks = torch.arange(g) < i - far"
OF_SINKS = "scores = queries @ keys.mT / d**0.5"

MUTANTS = {
    "a place too far": (
        "test_q1_keys",
        NEAR,
        "    near = (i - j).abs() <= far + 1\n",
    ),
    "a window ignores its offset": (
        "test_q1_cache[window]",
        PLACES + "  # (q, 1), (k,)\n    far",
        UNMOVED + "\n    far",
    ),
    "causal ignored": ("test_q1_causal", CAUSAL, "return near"),
    "the radius counts places": (
        "test_q1_values[dilated]",
        GAPS,
        GAPS.replace("radius * dilation", "radius"),
    ),
    "gaps from place 0 on": (
        "test_q1_cache[dilated]",
        PLACES + "\n" + GAPS,
        UNMOVED + "\n" + GAPS,
    ),
    "the number of blocks": (
        "test_q1_values[blocks]",
        BLOCK,
        "    size = k // size\n" + BLOCK,
    ),
    "blocks ignore the offset": (
        "test_q1_cache[blocks]",
        PLACES + "\n" + BLOCK,
        UNMOVED + "\n" + BLOCK,
    ),
    "global among themselves alone": (
        "test_q1_values[global_tokens]",
        GLOBAL,
        GLOBAL.replace("|", "&"),
    ),
    "global by the number of the row": (
        "test_q1_new_rows",
        PLACES + "\n" + CHOSEN,
        UNMOVED + "\n" + CHOSEN,
    ),
    "marked tokens are read, and read nothing": (
        "test_q2_values[longformer]",
        JOIN,
        "mask = near | marked.unsqueeze(1)",
    ),
    "the first text's marks": (
        "test_q2_own_marks",
        JOIN,
        JOIN.replace("marked", "marked[:1]"),
    ),
    "padding is seen": (
        "test_q2_padding_unseen",
        PADDING,
        "mask = mask.expand(len(lengths), n, n)",
    ),
    "causal before the marks": (
        "test_q2_brackets",
        JOIN,
        "near = near.tril() if causal else near\n    " + JOIN,
        TRIL,
        "return mask",
    ),
    "marks of padding taken out in place": (
        "test_q2_padding[longformer]",
        JOIN,
        "marked &= torch.arange(n) < lengths[:, None]\n    " + JOIN,
    ),
    "drawn keys forgotten": ("test_q2_values[bigbird]", BIG, BIG.replace("drawn | ", "")),
    "drawn keys are padding, too": (
        "test_q2_padding[bigbird]",
        BIG_PADDING,
        BIG_PADDING + " | drawn",
    ),
    "drawn keys lie ahead": (
        "test_q2_causal[bigbird]",
        BIG_TRIL,
        "return kept.tril() | kept & drawn if causal else kept",
    ),
    "full windows at the ends": ("test_q3_pairs[False]", OF_BOTH, "return n * (2 * far + 1)"),
    "the causal end counted twice": (
        "test_q3_pairs[True]",
        OF_CAUSAL,
        "return n * (far + 1) - far * (far + 1)",
    ),
    "wider than the text": ("test_q3_short_text", LEAST, "far = width - 1"),
    "a mask is counted": (
        "test_q3_long_text",
        OF_BOTH,
        "return int(((torch.arange(n)[:, None] - torch.arange(n)).abs() <= far).sum())",
    ),
    "the own place is a step": (
        "test_q3_steps",
        ROUNDED,
        "return -(-n // far) if far else None",
    ),
    "rounded down": ("test_q3_layers", ROUNDED, "return (n - 1) // far if far else None"),
    "a layer for one token": ("test_q3_never", ONE, "if n < 1:"),
    "no residual connection": ("test_q3_one_layer", SEEN, "seen = passed"),
    "a layer too few": ("test_q3_reach", LAYERS, "for mask in masks[: max(1, len(masks) - 1)]:"),
    "the last layer first": ("test_q3_order", LAYERS, "for mask in masks.flip(0):"),
    "the first layer for granted": (
        "test_q3_no_layer",
        EYE,
        "seen = torch.eye(masks.shape[1], dtype=torch.bool) | masks[0]",
        LAYERS,
        "for mask in masks[1:]:",
    ),
    "ways counted": (
        "test_q3_deep",
        EYE,
        "seen = torch.eye(masks.shape[1], dtype=torch.double)",
        PASSED,
        "passed = mask.double() @ seen",
        SEEN,
        "seen = seen + passed",
        "return seen\n",
        "return seen > 0\n",
    ),
    "zeros before the beginning": (
        "test_q4_first_token",
        REAL,
        "real = place < lengths[:, None, None]",
    ),
    "only the block before": (
        "test_q4_means",
        BAND,
        "near = (j < 2 * size) & ((i - j).abs() <= far)  # (size",
    ),
    "looks ahead": ("test_q4_values[True]", AHEAD, ""),
    "Q divided in place": (
        "test_q4_values[False]",
        QUERIES,
        "Q /= d**0.5\n    " + QUERIES,
        SCORES,
        "scores = queries @ around(K).mT",
    ),
    "the rest dropped": (
        "test_q4_uneven",
        COUNT,
        "c = max(1, n // size)  # blocks",
    ),
    "a short text sees all of itself": (
        "test_q4_short",
        AHEAD,
        "    if causal and n > size:\n        near = near & (j <= i)",
    ),
    "blocks of nothing": ("test_q4_uneven", SIZE, "size = far  # of a block"),
    "padding has weight": (
        "test_q4_padding",
        REAL,
        "real = ((0 <= place) & (place < n)).expand(b, -1, -1)",
    ),
    "NaN of an empty row": (
        "test_q4_nothing[outputs]",
        WEIGHTS,
        "weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=3)",
    ),
    "0 / 0 under a where": (
        "test_q4_nothing[gradient]",
        WEIGHTS,
        "e = (scores - scores.amax(dim=3, keepdim=True)).exp() * mask\n"
        "    weights = torch.where(some, e / e.sum(dim=3, keepdim=True), 0.0)",
    ),
    "a number that is added": (
        "test_q4_large",
        WEIGHTS,
        "weights = (scores - 300 * ~mask).softmax(dim=3) * mask",
    ),
    "exponentials without a maximum": (
        "test_q4_large",
        WEIGHTS,
        "e = scores.masked_fill(~mask, -1e9).exp()\n"
        "    weights = e / e.sum(dim=3, keepdim=True).clamp(min=1e-30)",
    ),
    "not scaled": ("test_q4_values[False]", SCORES, "scores = queries @ around(K).mT"),
    "keys detached": (
        "test_q4_gradient",
        SCORES,
        "scores = queries @ around(K).detach().mT / d**0.5",
    ),
    "each query beside each key": (  # so large that no machine begins with it
        "test_q4_long",
        OUTPUT,
        "scores = (Q[:, :, None] * K[:, None]).sum(dim=3) / d**0.5\n"
        "    mask = window(n, n, width, 0, causal)\n"
        "    mask = mask & (torch.arange(n) < lengths[:, None, None])\n"
        "    some = mask.any(2, keepdim=True)\n"
        "    scores = scores.masked_fill(~mask & some, -torch.inf)\n"
        "    return scores.softmax(2) * some @ V\n"
        "    " + OUTPUT,
    ),
    "bug left in": ("test_q5_means", SINKS, "sinks = torch.arange(g) <= i"),
    "sinks from the future": (
        "test_q5_many",
        SINKS,
        "sinks = (torch.arange(g) - i).abs() > far",
    ),
    "sinks that leave with the window": (
        "test_q5_late",
        SINKS,
        "sinks = (torch.arange(g) < i - far) & (i < far + g)",
    ),
    "sinks are not scaled": (
        "test_q5_values[2]",
        OF_SINKS,
        OF_SINKS + "\n    scores[..., 2 * size :] *= d**0.5",
    ),
}

# Correct, and different: full marks.
CORRECT = {
    "gathered": """
def window(q, k, width, offset=0, causal=False):
    away = torch.arange(k).view(1, k) - (offset + torch.arange(q)).view(q, 1)
    return (away > -width).logical_and(away < (1 if causal else width))


def dilated(q, k, radius, dilation, offset=0):
    away = offset + torch.arange(q)[:, None] - torch.arange(k)[None]
    return torch.isin(away, dilation * torch.arange(-radius, radius + 1))


def blocks(q, k, size, offset=0):
    piece = torch.div(torch.arange(max(k, q + offset)), size, rounding_mode="floor")
    return piece[offset : offset + q, None].eq(piece[None, :k])


def global_tokens(q, k, places, offset=0):
    here = torch.zeros(max(k, offset + q)).index_fill(0, torch.tensor(places), 1.0).bool()
    return torch.logical_or(here[offset : offset + q].view(-1, 1), here[:k].view(1, -1))


def longformer(marked, lengths, width, causal=False):
    n = marked.size(1)
    out = window(n, n, width).repeat(len(marked), 1, 1)
    for t in range(len(marked)):
        out[t, marked[t]] = True
        out[t, :, marked[t]] = True
        out[t, :, int(lengths[t]):] = False
    return out * torch.tril(torch.ones(n, n)).bool() if causal else out


def bigbird(marked, lengths, width, chosen, causal=False):
    n = marked.size(1)
    both = longformer(marked, lengths, width) | (F.one_hot(chosen, n).sum(1) > 0)
    both &= (torch.arange(n)[None] < lengths[:, None])[:, None]
    return both & ~torch.ones(n, n).triu(1).bool() if causal else both


def pairs(n, width, causal=False):
    if width >= n:
        return n * (n + 1) // 2 if causal else n * n
    one_side = (n - width) * (width - 1) + (width - 1) * width // 2
    return n + one_side * (1 if causal else 2)


def layers_needed(n, width):
    if n == 1 or width == 1:
        return 0 if n == 1 else None
    layers, place = 0, n - 1
    while place > 0:
        place, layers = place - (width - 1), layers + 1
    return layers


def reach(masks):
    one = torch.eye(masks.size(1))
    seen = one
    for mask in masks.float():
        seen = torch.matmul(one + mask, seen).clamp(max=1)
    return seen != 0


def window_attention(Q, K, V, lengths, width, causal=False):
    n, far = Q.size(1), width - 1
    places = torch.arange(n)[:, None] + torch.arange(-far, 1 if causal else far + 1)
    seen = places.clamp(0, n - 1)
    ok = ((places >= 0) & (places < n))[None] & (places[None] < lengths[:, None, None])
    fit = torch.einsum("bnd,bnwd->bnw", Q, K[:, seen]) * Q.size(2) ** -0.5
    share = fit.masked_fill(~ok, torch.finfo(fit.dtype).min).softmax(-1).masked_fill(~ok, 0.0)
    return torch.einsum("bnw,bnwe->bne", share, V[:, seen])


def sink_attention(Q, K, V, width, g):
    n = len(Q)
    i = torch.arange(n)[:, None]
    places = torch.cat(((i + torch.arange(1 - width, 1)), torch.arange(g).expand(n, g)), 1)
    ok = (places >= 0) & (places <= i)
    ok[:, width:] &= places[:, width:] <= i - width
    seen = places.clamp(0, n - 1)
    fit = (K[seen] @ Q[:, :, None]).squeeze(2) / Q.shape[1] ** 0.5
    return (fit.masked_fill(~ok, float("-inf")).softmax(1)[:, None] @ V[seen]).squeeze(1)
""",
    "by loops": """
def table_of(q, k, rule):
    return torch.tensor([[bool(rule(i, j)) for j in range(k)] for i in range(q)])


def window(q, k, width, offset=0, causal=False):
    return table_of(q, k, lambda i, j: -width < j - i - offset < (1 if causal else width))


def dilated(q, k, radius, dilation, offset=0):
    steps = {dilation * step for step in range(-radius, radius + 1)}
    return table_of(q, k, lambda i, j: j - i - offset in steps)


def blocks(q, k, size, offset=0):
    return table_of(q, k, lambda i, j: (i + offset) // size == j // size)


def global_tokens(q, k, places, offset=0):
    return table_of(q, k, lambda i, j: {i + offset, j} & set(places))


def bigbird(marked, lengths, width, chosen, causal=False):
    masks = []
    for marks, length in zip(marked.tolist(), lengths.tolist()):
        def rule(i, j):
            if j >= length or (causal and j > i):
                return False
            return abs(i - j) < width or marks[i] or marks[j] or j in chosen[i].tolist()
        masks.append(table_of(len(marks), len(marks), rule))
    return torch.stack(masks)


def longformer(marked, lengths, width, causal=False):
    nobody = torch.zeros(marked.shape[1], 0, dtype=torch.long)
    return bigbird(marked, lengths, width, nobody, causal)


def pairs(n, width, causal=False):
    ends = min(width - 1, n)
    lost = sum(max(0, width - 1 - place) for place in range(ends))
    one_side = n * (width - 1) - lost
    return n + one_side if causal else n + 2 * one_side


def layers_needed(n, width):
    if n > 1 and width < 2:
        return None
    return -((1 - n) // max(1, width - 1))


def reach(masks):
    seen = [{i} for i in range(masks.shape[1])]
    for mask in masks:
        seen = [own.union(*(seen[j] for j in row.nonzero().flatten().tolist())) for own, row in zip(seen, mask)]
    return table_of(len(seen), len(seen), lambda i, j: j in seen[i])


def window_attention(Q, K, V, lengths, width, causal=False):
    texts, n = [], Q.shape[1]
    for q, k, v, length in zip(Q, K, V, lengths.tolist()):
        pieces = []
        for start in range(0, n, 32):
            i = torch.arange(start, min(n, start + 32))[:, None]
            low, high = max(0, start - width + 1), max(0, min(length, start + 32 + width))
            j = torch.arange(low, max(low, high))
            near = ((i - j).abs() < width) & (j <= (i if causal else n))
            fit = q[i[:, 0]] @ k[j].T / q.shape[1] ** 0.5
            fit = torch.cat((fit.masked_fill(~near, -torch.inf), -1e30 * torch.ones(len(i), 1)), 1)
            pieces.append(fit.softmax(1)[:, :-1] * near @ v[j])
        texts.append(torch.cat(pieces))
    return torch.stack(texts)


def sink_attention(Q, K, V, width, g):
    rows = []
    for i in range(len(Q)):
        seen = sorted(set(range(max(0, i - width + 1), i + 1)) | set(range(min(g, i + 1))))
        rows.append(torch.softmax(K[seen] @ Q[i] / K.shape[1] ** 0.5, 0) @ V[seen])
    return torch.stack(rows)
""",
}

# Without understanding: functions of the solution redefined, with next to no points.
LAZY = {
    "everything, and next to nothing": (
        "q1",
        """
def window(q, k, width, offset=0, causal=False): return torch.ones(q, k, dtype=torch.bool).tril()
def dilated(q, k, radius, dilation, offset=0): return torch.ones(q, k, dtype=torch.bool)
def blocks(q, k, size, offset=0): return torch.ones(q, k, dtype=torch.bool)
def global_tokens(q, k, places, offset=0): return torch.zeros(q, k, dtype=torch.bool)
""",
    ),
    "windows whatever is asked": (
        "q1",
        """
def near(q, k, far): return (torch.arange(q)[:, None] - torch.arange(k)).abs() <= far
def window(q, k, width, offset=0, causal=False): return near(q, k, width)
def dilated(q, k, radius, dilation, offset=0): return near(q, k, radius * dilation)
def blocks(q, k, size, offset=0): return near(q, k, size)
def global_tokens(q, k, places, offset=0): return torch.isin(torch.arange(k), torch.tensor(places)).expand(q, k)
""",
    ),
    "the window alone": (
        "q2",
        """
def longformer(marked, lengths, width, causal=False):
    n = marked.shape[1]
    return window(n, n, width, 0, causal) & (torch.arange(n) < lengths[:, None, None])
def bigbird(marked, lengths, width, chosen, causal=False): return longformer(marked, lengths, width, causal)
""",
    ),
    "no restriction": (
        "q2",
        """
def longformer(marked, lengths, width, causal=False):
    n = marked.shape[1]
    return window(n, n, width) | marked[:, :, None] | marked[:, None]
def bigbird(marked, lengths, width, chosen, causal=False):
    n = marked.shape[1]
    return longformer(marked, lengths, width) | torch.zeros(n, n, dtype=torch.bool).scatter(1, chosen, True)
""",
    ),
    "the simplest counts": (
        "q3",
        """
def pairs(n, width, causal=False): return n * width if causal else n * (2 * width - 1)
def layers_needed(n, width): return n // width
def reach(masks): return masks.any(dim=0)
""",
    ),
    "all pairs, and all layers together": (
        "q3",
        """
def pairs(n, width, causal=False): return n * (n + 1) // 2 if causal else n * n
def layers_needed(n, width): return 1 if n > 1 else 0
def reach(masks): return masks.any(dim=0) | torch.eye(masks.shape[1], dtype=torch.bool)
""",
    ),
    "means of windows": (
        "q4",
        """
def window_attention(Q, K, V, lengths, width, causal=False):
    places = torch.arange(V.shape[1])[:, None] + torch.arange(1 - width, 1 if causal else width)
    seen = ((places >= 0) & (places < lengths[:, None, None])).float()
    weights = seen / seen.sum(2, keepdim=True).clamp(min=1)
    return (weights[..., None] * V[:, places.clamp(0, V.shape[1] - 1)]).sum(2)
""",
    ),
    "the value": ("q4", "def window_attention(Q, K, V, lengths, width, causal=False): return V"),
    "all of the past": (
        "q5",
        """
def sink_attention(Q, K, V, width, g):
    past = torch.ones(len(Q), len(K)).tril() == 0
    return (Q @ K.T / Q.shape[1] ** 0.5).masked_fill(past, -torch.inf).softmax(1) @ V
""",
    ),
    "no sinks": (
        "q5",
        "def sink_attention(Q, K, V, width, g):\n"
        "    return window_attention(Q[None], K[None], V[None], torch.tensor([len(Q)]), width, True)[0]",
    ),
}
