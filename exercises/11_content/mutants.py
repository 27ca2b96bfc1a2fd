"""Typical wrong answers: edits of the solution, each with a test that must fail."""

OPEN = "a = scores.masked_fill(~mask & some, -torch.inf)\n    a = "
STEEPER = "a = a - a.amax(dim=2, keepdim=True)"
THRESHOLD = "t = (ordered.cumsum(dim=2) - 1) / rank"
SIZE = "size = (ordered > t).sum(dim=2, keepdim=True)"
CUT = "return (a - t.gather(2, size - 1)).clamp(min=0) * some"
KEPT = "kept = (weights > 0).to(u.dtype)"
NUMBER = "number = kept.sum(dim=2, keepdim=True).clamp(min=1)"
MEAN = "mean = (kept * u).sum(dim=2, keepdim=True) / number"
BACK = "return kept * (u - mean)"
BETA = "beta = beta[:, None, None]"
CLOSED = "a = scores.masked_fill(~mask & some, -torch.inf)\n    z = "
SCALED = "z = (beta - 1) * (a - a.amax(dim=2, keepdim=True))"
POWER = "power = 1 / (beta - 1)"
STEPS = "for _ in range(40):"
WEIGHTS = "return weights / weights.sum(dim=2, keepdim=True) * some"
REST = "rest = (1 - share) / (n - 1)"
SOFTMAX = "if beta == 1:"
CERTAIN = "if share == 1:"
GAP = "return gap / (beta - 1)"
RANKED = "ranked = scores.masked_fill(~mask, -torch.inf)"
BEST = "best = ranked.topk(min(k, scores.shape[2]), dim=2).indices"
CHOICE = "return torch.zeros_like(mask).scatter(2, best, True) & mask"
HARD = "hard = masked_softmax(scores, top_k_mask(scores, k, mask))"
SOFT = "soft = masked_softmax(scores, mask)"
THROUGH = "weights = hard.detach() + soft - soft.detach()"
ESTIMATE = "return (rewards - baseline).unsqueeze(1) * (picked - weights)"
ON_VALUES = "weights = masked_softmax(scores, mask) * logits.sigmoid()"
IN_SCORES = "weights = masked_softmax(scores + F.logsigmoid(logits), mask)"
PENALTY = "return logits.sigmoid()[mask].mean()"
BESIDE = "beside = sinks[:, None, None].expand(b, h, q, 1)"
NOT_ALLOWED = "open_ = scores.masked_fill(~mask, -torch.inf)"
SINK = "return torch.cat((open_, beside), dim=3).softmax(dim=3)[..., :k]"
BOTH = "both = (kept & needles).sum(dim=2)"
OF = "for of in (needles.sum(dim=2), kept.sum(dim=2)):"
SHARE = "share = both[of > 0] / of[of > 0]"
AVERAGE = "means.append(share.mean().item() if len(share) else None)"
RELEVANCE = "relevance = scan.gather(2, places)"
FITS = "scores = (keys @ Q.unsqueeze(3)).squeeze(3) / Q.shape[2] ** 0.5"
LOG_GATES = "weights = (scores + F.logsigmoid(relevance)).softmax(dim=2)"

MUTANTS = {
    "the two best are kept": (
        "test_q1_values[0.3]",
        SIZE,
        "size = torch.full_like(t[:, :, :1], 2, dtype=torch.long)",
    ),
    "all keys are kept": (
        "test_q1_three_scores",
        SIZE,
        "size = mask.sum(dim=2, keepdim=True).clamp(min=1)",
    ),
    "scores changed in place": (
        "test_q1_values[2.0]",
        OPEN,
        "scores -= scores.amax(dim=2, keepdim=True)\n    " + OPEN,
    ),
    "masked scores are zero": ("test_q1_masked", OPEN, OPEN.replace("-torch.inf", "0.0")),
    "a row that has nothing shares all": ("test_q1_nothing", CUT, CUT.replace(" * some", "")),
    "the best score is not taken away": (
        "test_q1_many",
        STEEPER,
        STEEPER.replace("a.amax(dim=2, keepdim=True)", "0.0"),
    ),
    "the mean over all keys": (
        "test_q1_no_weight",
        MEAN,
        "mean = u.mean(dim=2, keepdim=True)",
    ),
    "as a softmax sends back": (
        "test_q1_back_values",
        KEPT,
        "kept = weights",
        NUMBER,
        "number = 1",
    ),
    "0 / 0 of a row of zeros": (
        "test_q1_back_nothing",
        NUMBER,
        NUMBER.replace(".clamp(min=1)", ""),
    ),
    "keys without weight get a gradient": (
        "test_q1_no_weight",
        BACK,
        BACK.replace("kept *", "1 *"),
    ),
    "the exponent is the power": ("test_q2_values[1.2]", POWER, "power = 1 / beta"),
    "the first head's exponent": (
        "test_q2_own_exponents",
        BETA,
        "beta = beta[:1, None, None]",
    ),
    "halved eight times, and not divided": (
        "test_q2_sums",
        STEPS,
        "for _ in range(8):",
        WEIGHTS,
        "return weights * some",
    ),
    "halved six times": ("test_q2_values[1.9]", STEPS, "for _ in range(6):"),
    "high scores behind the mask": ("test_q2_masked", CLOSED, CLOSED.replace("-torch.inf", "0.0")),
    "a row without keys shares all": ("test_q2_nothing", WEIGHTS, WEIGHTS.replace(" * some", "")),
    "multiplied, then shifted": (
        "test_q2_added",
        SCALED,
        SCALED + "\n    z = (beta - 1) * a\n    z = z - z.amax(dim=2, keepdim=True)",
    ),
    "the best is among the others": ("test_q2_half", REST, "rest = (1 - share) / n"),
    "a softmax's lead for all": (
        "test_q2_lead[1.3]",
        SOFTMAX,
        "if True:",
    ),
    "divided by zero": ("test_q2_everything", CERTAIN, "if share > 1:"),
    "multiplied, not divided": ("test_q2_lead[1.3]", GAP, "return gap * (beta - 1)"),
    "what reaches the threshold": (
        "test_q3_equal",
        CHOICE,
        "return (ranked >= ranked.topk(min(k, scores.shape[2]), dim=2).values[:, :, -1:]) & mask",
    ),
    "masked after the choice": ("test_q3_chosen", RANKED, "ranked = scores"),
    "more than there are": ("test_q3_few", BEST, BEST.replace("min(k, scores.shape[2])", "k")),
    "masked keys fill up": ("test_q3_few", CHOICE, CHOICE.replace(" & mask", "")),
    "the least are kept": ("test_q3_chosen", BEST, BEST.replace("dim=2)", "dim=2, largest=False)")),
    "the gradient of the kept": ("test_q3_back", THROUGH, "weights = hard"),
    "soft in both directions": ("test_q3_best", THROUGH, "weights = soft"),
    "soft gradient for the values": (
        "test_q3_values_back",
        THROUGH,
        "return soft @ V + (hard @ V - soft @ V).detach()\n    " + THROUGH,
    ),
    "no key, no number": (
        "test_q3_nothing",
        SOFT,
        SOFT + "\n    soft = soft / soft.sum(dim=2, keepdim=True)",
    ),
    "the baseline is forgotten": (
        "test_q3_as_expected",
        ESTIMATE,
        ESTIMATE.replace("(rewards - baseline)", "rewards"),
    ),
    "the drawn key alone": (
        "test_q3_reinforce",
        ESTIMATE,
        ESTIMATE.replace("(picked - weights)", "picked"),
    ),
    "gates on the values are forgotten": (
        "test_q4_gated[values]",
        ON_VALUES,
        "weights = masked_softmax(scores, mask)",
    ),
    "gates in the scores without a logarithm": (
        "test_q4_gated[scores]",
        IN_SCORES,
        IN_SCORES.replace("F.logsigmoid(logits)", "logits.sigmoid()"),
    ),
    "the logarithm of zero": (
        "test_q4_shut",
        IN_SCORES,
        IN_SCORES.replace("F.logsigmoid(logits)", "logits.sigmoid().log()"),
    ),
    "the mean over what is masked, too": (
        "test_q4_penalty",
        PENALTY,
        "return (logits.sigmoid() * mask).mean()",
    ),
    "the first head's sink": ("test_q4_own_sinks", BESIDE, BESIDE.replace("sinks[:,", "sinks[:1,")),
    "the sink is added to the scores": (
        "test_q4_a_quarter",
        SINK,
        "return masked_softmax(open_ + beside, mask.expand_as(scores))",
    ),
    "masked keys beside the sink": ("test_q4_sink", NOT_ALLOWED, "open_ = scores"),
    "exponentials that overflow": (
        "test_q4_sink_alone",
        SINK,
        "e = open_.exp()\n    return e / (e.sum(dim=3, keepdim=True) + beside.exp())",
    ),
    "recall for precision": (
        "test_q4_judged",
        OF,
        "for of in (kept.sum(dim=2), needles.sum(dim=2)):",
    ),
    "of all keys": (
        "test_q4_perfect",
        BOTH,
        "both = (kept == needles).sum(dim=2)",
    ),
    "queries that have none count as zero": (
        "test_q4_some",
        SHARE,
        "share = both / of.clamp(min=1)",
    ),
    "none is not a number": ("test_q4_none", AVERAGE, "means.append(share.mean().item())"),
    "all queries in one pot": (
        "test_q4_judged",
        AVERAGE,
        "pot = both[of > 0].sum() / of.sum()\n"
        "        means.append(pot.item() if len(share) else None)",
    ),
    "bug left in": ("test_q5_rising", RELEVANCE, "relevance = best.values"),
    "padding keeps its relevance": (
        "test_q5_one",
        RELEVANCE,
        "relevance = logits.gather(2, places)",
    ),
    "the gates are not read": ("test_q5_rising", LOG_GATES, "weights = scores.softmax(dim=2)"),
    "products are not scaled": ("test_q5_all", FITS, "scores = (keys @ Q.unsqueeze(3)).squeeze(3)"),
}

# Correct, and different: full marks.
CORRECT = {
    "other ways": """
def sparsemax(scores, mask):
    k = scores.size(-1)
    best = scores.masked_fill(~mask, -1e30).max(-1, keepdim=True).values
    fit = (scores - best).masked_fill(~mask, -2.0).clamp(min=-2)
    low, high = fit.new_full(best.shape, -1), fit.new_zeros(best.shape)
    for _ in range(30):
        middle = 0.5 * (low + high)
        full = (fit - middle).relu().sum(-1, keepdim=True) > 1
        low, high = middle.where(full, low), high.where(full, middle)
    alive = fit > high - 1e-7
    exact = ((fit * alive).sum(-1, keepdim=True) - 1) / alive.sum(-1, keepdim=True).clamp(min=1)
    return (fit - exact).relu().masked_fill(~mask, 0.0)


def sparsemax_back(weights, u):
    out = torch.zeros_like(u)
    for i in range(u.size(0)):
        for j in range(u.size(1)):
            alive = weights[i, j] != 0
            if alive.any():
                out[i, j, alive] = u[i, j, alive] - u[i, j, alive].mean()
    return out


def entmax(scores, beta, mask):
    weights = torch.zeros_like(scores)
    for head, exponent in enumerate(beta.double()):
        for i in range(scores.shape[1]):
            on = mask[head, i]
            if not on.any():
                continue
            row = scores[head, i, on].double()
            row = (row - row.max()) * (exponent - 1)
            ends = [-1.0, 0.0]
            while ends[1] - ends[0] > 1e-12:
                half = sum(ends) / 2
                ends[0 if row.sub(half).relu().pow(1 / (exponent - 1)).sum() > 1 else 1] = half
            weights[head, i, on] = row.sub(ends[0]).relu().pow(1 / (exponent - 1)).float()
    return weights


def lead(n, share, beta):
    import math
    if beta == 1:
        return math.log(share) + math.log(n - 1) - math.log1p(-share) if share < 1 else math.inf
    one, others = (x ** (beta - 1) / (beta - 1) for x in (share, (1 - share) / (n - 1)))
    return one - others


def top_k_mask(scores, k, mask):
    order = scores.masked_fill(~mask, -torch.inf).argsort(dim=-1, descending=True)
    return (order.argsort(dim=-1) < k) & mask


class Through(torch.autograd.Function):
    @staticmethod
    def forward(ctx, hard, soft):
        return hard.clone()

    @staticmethod
    def backward(ctx, slopes):
        return None, slopes


def pass_through(scores, V, k, mask):
    hard = masked_softmax(scores, top_k_mask(scores, k, mask))
    return torch.bmm(Through.apply(hard.detach(), masked_softmax(scores, mask)), V)


def reinforce(weights, drawn, rewards, baseline):
    logs = torch.log(weights).requires_grad_()
    picked = logs.log_softmax(1).gather(1, drawn.unsqueeze(1)).squeeze(1)
    return torch.autograd.grad((picked * (rewards - baseline)).sum(), logs)[0]


def gated(scores, logits, V, where, mask):
    if where == "scores":
        share = masked_softmax(scores - F.softplus(-logits), mask)
    else:
        share = masked_softmax(scores, mask).mul(torch.sigmoid(logits))
    return torch.bmm(share, V), share


def penalty(logits, mask):
    return torch.where(mask, torch.sigmoid(logits), 0.0).sum() / mask.sum()


def sink_softmax(scores, sinks, mask):
    sink = sinks.view(1, -1, 1, 1)
    most = torch.maximum(scores.masked_fill(~mask, -torch.inf).amax(-1, keepdim=True), sink)
    e = torch.exp(scores.masked_fill(~mask, -torch.inf) - most)
    return e / (e.sum(-1, keepdim=True) + torch.exp(sink - most))


def recall_precision(kept, needles):
    recalls, precisions = [], []
    for k, n in zip(kept.flatten(0, 1), needles.flatten(0, 1)):
        hits = int((k & n).sum())
        if n.any():
            recalls.append(hits / int(n.sum()))
        if k.any():
            precisions.append(hits / int(k.sum()))
    return [sum(x) / len(x) if x else None for x in (recalls, precisions)]


def scan_attention(Q, K, V, logits, lengths, keep):
    valid = (torch.arange(logits.shape[2]) < lengths[:, None, None]).expand_as(logits)
    kept = top_k_mask(logits, keep, valid)
    scores = Q @ K.mT / Q.shape[2] ** 0.5 + F.logsigmoid(logits)
    return masked_softmax(scores, kept) @ V
""",
    "by loops": """
def of_rows(rule, scores, mask):
    out = torch.zeros_like(scores)
    for place in torch.cartesian_prod(*[torch.arange(n) for n in scores.shape[:-1]]).tolist():
        place = tuple(place)
        on = mask[place]
        if on.any():
            out[place] = out[place].masked_scatter(on, rule(scores[place][on], place))
    return out


def sparse_row(a, place):
    a = a.double() - a.max()
    kept = torch.ones_like(a, dtype=torch.bool)
    while True:
        t = (a[kept].sum() - 1) / kept.sum()
        smaller = kept & (a > t)
        if smaller.equal(kept):
            return (a - t).clamp(min=0).float()
        kept = smaller


def sparsemax(scores, mask):
    return of_rows(sparse_row, scores, mask)


def sparsemax_back(weights, u):
    alive = weights > 0
    mean = u.where(alive, torch.nan).nanmean(2, keepdim=True)
    return (u - mean).where(alive, 0.0)


def entmax(scores, beta, mask):
    def rule(a, place):
        b = float(beta[place[0]]) - 1
        a = b * (a.double() - a.max())
        low, high = -1.0, 0.0
        for _ in range(60):
            t = (low + high) / 2
            if ((a - t).clamp(min=0) ** (1 / b)).sum() < 1:
                high = t
            else:
                low = t
        return ((a - low).clamp(min=0) ** (1 / b)).float()
    return of_rows(rule, scores, mask)


def lead(n, share, beta):
    low, high = 0.0, 1e4
    if beta == 1:
        if share == 1:
            return float("inf")
        return float(torch.tensor(share * (n - 1) / (1 - share), dtype=torch.float64).log())
    for _ in range(100):
        s = (low + high) / 2
        rest = max(0.0, share ** (beta - 1) - (beta - 1) * s) ** (1 / (beta - 1))
        low, high = (s, high) if share + (n - 1) * rest > 1 else (low, s)
    return high


def top_k_mask(scores, k, mask):
    out = torch.zeros_like(mask)
    for i in range(mask.shape[0]):
        for j in range(mask.shape[1]):
            own = [x for x in range(mask.shape[2]) if mask[i, j, x]]
            own.sort(key=lambda x: -float(scores[i, j, x].detach()))
            for x in own[:k]:
                out[i, j, x] = True
    return out


def pass_through(scores, V, k, mask):
    hard = masked_softmax(scores, top_k_mask(scores, k, mask)).detach()
    soft = masked_softmax(scores, mask)
    return hard @ V + (soft - soft.detach()) @ V.detach()


def reinforce(weights, drawn, rewards, baseline):
    out = torch.zeros_like(weights)
    for i in range(len(weights)):
        for j in range(weights.shape[1]):
            out[i, j] = (rewards[i] - baseline) * (float(j == drawn[i]) - weights[i, j])
    return out


def gated(scores, logits, V, where, mask):
    g = torch.sigmoid(logits.double())
    if where == "values":
        weights = masked_softmax(scores, mask) * g.float()
    else:
        weights = masked_softmax(scores.double() + g.log(), mask).float()
    return torch.einsum("bqk,bke->bqe", weights, V), weights


def penalty(logits, mask):
    return torch.stack([logits[place].sigmoid() for place in mask.nonzero(as_tuple=False).unbind() for place in [tuple(place)]]).mean()


def sink_softmax(scores, sinks, mask):
    out = torch.zeros_like(scores)
    for h, sink in enumerate(sinks):
        wide = F.pad(scores[:, h], (1, 0), value=float(sink))
        out[:, h] = masked_softmax(wide, F.pad(mask[:, 0], (1, 0), value=True))[:, :, 1:]
    return out


def recall_precision(kept, needles):
    def mean(of):
        shares = [(kept & needles)[p].sum() / of[p].sum() for p in map(tuple, of.any(2).nonzero().tolist())]
        return float(sum(shares) / len(shares)) if shares else None
    return mean(needles), mean(kept)


def scan_attention(Q, K, V, logits, lengths, keep):
    out = []
    for t, length in enumerate(lengths.tolist()):
        for i in range(Q.shape[1]):
            chosen = logits[t, i, :length].topk(min(keep, length)).indices
            fit = K[t, chosen] @ Q[t, i] / K.shape[2] ** 0.5 + F.logsigmoid(logits[t, i, chosen])
            out.append(fit.softmax(0) @ V[t, chosen])
    return torch.stack(out).reshape(Q.shape[0], Q.shape[1], -1)
""",
}

# Without understanding: functions of the solution redefined, with next to no points.
LAZY = {
    "a softmax": (
        "q1",
        """
def sparsemax(scores, mask): return masked_softmax(scores, mask)
def sparsemax_back(weights, u): return weights * (u - (weights * u).sum(2, keepdim=True))
""",
    ),
    "cut at zero": (
        "q1",
        """
def sparsemax(scores, mask):
    a = scores.clamp(min=0) * mask
    return a / a.sum(2, keepdim=True).clamp(min=1e-9)
def sparsemax_back(weights, u): return (weights > 0) * u
""",
    ),
    "all keys are kept": (
        "q1",
        """
def sparsemax(scores, mask):
    number = mask.sum(2, keepdim=True).clamp(min=1)
    return (scores - ((scores * mask).sum(2, keepdim=True) - 1) / number).clamp(min=0) * mask
def sparsemax_back(weights, u): return u - u.mean(2, keepdim=True)
""",
    ),
    "a softmax, and equal shares": (
        "q2",
        """
def entmax(scores, beta, mask): return masked_softmax(scores * beta[:, None, None], mask)
def lead(n, share, beta): return torch.tensor(n - 1.0).log().item()
""",
    ),
    "always sparsemax, and a softmax's lead": (
        "q2",
        """
def entmax(scores, beta, mask): return sparsemax(scores, mask)
def lead(n, share, beta):
    return torch.tensor(share * (n - 1) / (1 - share)).log().item() if share < 1 else float("inf")
""",
    ),
    "soft, and only what was drawn": (
        "q3",
        """
def top_k_mask(scores, k, mask): return mask & (mask.cumsum(2) <= k)
def pass_through(scores, V, k, mask): return masked_softmax(scores, mask) @ V
def reinforce(weights, drawn, rewards, baseline):
    return (rewards - baseline)[:, None] * F.one_hot(drawn, weights.shape[1])
""",
    ),
    "whatever the mask": (
        "q3",
        """
def top_k_mask(scores, k, mask):
    best = scores.topk(min(k, scores.shape[2]), dim=2).indices
    return torch.zeros_like(mask).scatter(2, best, True)
def pass_through(scores, V, k, mask): return scores.softmax(2) @ V
def reinforce(weights, drawn, rewards, baseline): return -weights * (rewards - baseline)[:, None]
""",
    ),
    "no gates, no sink, one pot": (
        "q4",
        """
def gated(scores, logits, V, where, mask):
    weights = masked_softmax(scores, mask)
    return weights @ V, weights
def penalty(logits, mask): return logits.sigmoid().mean()
def sink_softmax(scores, sinks, mask): return masked_softmax(scores, mask.expand_as(scores))
def recall_precision(kept, needles):
    both = float((kept & needles).sum())
    return both / max(1, int(needles.sum())), both / max(1, int(kept.sum()))
""",
    ),
    "gates for scores": (
        "q4",
        """
def gated(scores, logits, V, where, mask):
    weights = logits.sigmoid() * mask
    return weights @ V, weights
def penalty(logits, mask): return (logits.sigmoid() * mask).sum() / len(mask)
def sink_softmax(scores, sinks, mask):
    return masked_softmax(scores + sinks[:, None, None], mask.expand_as(scores))
def recall_precision(kept, needles):
    share = float((kept & needles).sum() / kept.numel())
    return share, share
""",
    ),
    "dense, with gates": (
        "q5",
        """
def scan_attention(Q, K, V, logits, lengths, keep):
    real = (torch.arange(K.shape[1]) < lengths[:, None, None]).expand_as(logits)
    return masked_softmax(Q @ K.mT / Q.shape[2] ** 0.5 + F.logsigmoid(logits), real) @ V
""",
    ),
    "gates alone": (
        "q5",
        """
def scan_attention(Q, K, V, logits, lengths, keep):
    real = (torch.arange(K.shape[1]) < lengths[:, None, None]).expand_as(logits)
    return masked_softmax(F.logsigmoid(logits), top_k_mask(logits, keep, real)) @ V
""",
    ),
}
