"""Typical wrong answers: edits of the solution, each with a test that must fail."""

TOTAL = "total = keys.masked_fill(~on[:, :, None], 0.0).sum(dim=1)"
MEANS = "means.append(total / on.sum(dim=1, keepdim=True).clamp(min=1))"
EARLY = "early = (number < place // w) & full[:, None]"
OWN = "ranked = ranked.masked_fill(number == place // w, torch.inf)"
BEST = "best = ranked.topk(min(keep, c), dim=2).indices"
KEPT = "return kept & (torch.arange(n) <= place) & used[:, None]"
CHOICE = "total += before\n"
READ = "total += min(keep - 1, before) * w + i % w + 1"
CODES = "codes = torch.cat((turned, -turned), dim=3).argmax(dim=3)"
AGREE = "agree = one[:, :, None] == other[:, None]"
BUCKET = "return agree.any(dim=3) & mask"
COSINE = "cosine = F.normalize(Q, dim=2) @ F.normalize(K, dim=2).mT"
ANGLE = "angle = cosine.clamp(-1, 1).acos()"
SHARE = "return 1 - (angle / torch.pi) ** rounds"
LOST = "most, each = (-lost).log1p()"
NEEDED = "return max(1, int((most / each).ceil()))"
ACTIVE = "return (eta[:, :, :, None] * active).sum(dim=2)"
ALLOWED = "allowed = scores.masked_fill(~mask, -torch.inf)"
BACK_IN = "return torch.zeros_like(mask).scatter(2, best, True) & mask"
TARGET = "target, some = alpha.mean(dim=1), mask.any(dim=2)"
LOGS = "logs = scores.masked_fill(~mask, -torch.inf)[some].log_softmax(dim=1)"
ENTROPY = "entropy = torch.special.entr(target[some])"
LOSS = "return -(entropy + target[some] * logs).sum(dim=1).mean()"
SLOPES = "return (soft - alpha.mean(dim=1)) / mask.any(dim=2).sum()"
OUTPUT = "output = masked_softmax(scores, mask) @ V"
LOG = "return output, scores.masked_fill(~mask, -torch.inf).logsumexp(dim=2)"
SHARES = "shares = masked_softmax(logs.masked_fill(~there, 0.0), there)"
JOINED = "return (shares[:, :, :, None] * outputs).sum(dim=2), logs.logsumexp(dim=2)"
BLOCKS = "for number in range(-(-len(K) // w)):"
SEEN = "seen = first + torch.arange(len(keys)) <= i[:, None]"
SUMS = "sums[i, slot] = fit.masked_fill(~seen, -torch.inf).logsumexp(dim=1)"
PARTS = "joined = masked_softmax(sums.clamp(min=-1e9), sums > -torch.inf)"

MUTANTS = {
    "divided by the size of a block": ("test_q1_means", MEANS, "means.append(total / w)"),
    "unused keys are in the mean": ("test_q1_unused", TOTAL, "total = keys.sum(dim=1)"),
    "0 / 0 of an empty block": ("test_q1_empty", MEANS, MEANS.replace(".clamp(min=1)", "")),
    "the sum of a block": ("test_q1_pen", MEANS, "means.append(total)"),
    "later blocks take places": ("test_q1_blocks", EARLY, "early = full[:, None]"),
    "the own block must win its place": (
        "test_q1_blocks",
        OWN,
        "ranked = ranked.where(number != place // w, fits)",
    ),
    "the own block is one more": ("test_q1_own", BEST, BEST.replace("min(keep,", "min(keep + 1,")),
    "the own block whole": ("test_q1_own", KEPT, "return kept & used[:, None]"),
    "empty blocks take places": ("test_q1_no_place", EARLY, "early = number < place // w"),
    "unused keys are kept": ("test_q1_padding", KEPT, "return kept & (torch.arange(n) <= place)"),
    "the choice costs nothing": ("test_q1_pairs", CHOICE, "total += 0\n"),
    "all places are always filled": (
        "test_q1_one_block",
        READ,
        READ.replace("min(keep - 1, before)", "(keep - 1)"),
    ),
    "one sign": ("test_q2_quarters", CODES, "codes = turned.argmax(dim=3)"),
    "all rounds must agree": ("test_q2_any", BUCKET, "return agree.all(dim=3) & mask"),
    "codes of other rounds agree": (
        "test_q2_buckets",
        AGREE,
        "agree = (one[:, :, None, :, None] == other[:, None, :, None]).any(dim=4)",
    ),
    "forbidden pairs": ("test_q2_masked", BUCKET, "return agree.any(dim=3)"),
    "lengths count": ("test_q2_share[2]", COSINE, "cosine = Q @ K.mT"),
    "a cosine above 1": ("test_q2_alike", ANGLE, "angle = cosine.acos()"),
    "kept in every round": (
        "test_q2_right_angle",
        SHARE,
        "return (1 - angle / torch.pi) ** rounds",
    ),
    "one round too few": ("test_q2_needed", NEEDED, NEEDED.replace("ceil", "floor")),
    "a probability lost in 1 - p": ("test_q2_rare", LOST, "most, each = (1 - lost).log()"),
    "no round at all": ("test_q2_certain", NEEDED, "return int((most / each).ceil())"),
    "no activation": ("test_q3_scores", ACTIVE, ACTIVE.replace("active", "products")),
    "activated after the sum": (
        "test_q3_two_heads",
        ACTIVE,
        "return (eta[:, :, :, None] * products).sum(dim=2).relu()",
    ),
    "what reaches the threshold": (
        "test_q3_equal",
        BACK_IN,
        "return (allowed >= allowed.gather(2, best[:, :, -1:])) & mask",
    ),
    "masked after the choice": ("test_q3_kept", ALLOWED, "allowed = scores"),
    "masked keys fill up": ("test_q3_few", BACK_IN, BACK_IN.replace(" & mask", "")),
    "the sum of the heads": ("test_q3_heads", TARGET, TARGET.replace("alpha.mean", "alpha.sum")),
    "0 times ln 0": ("test_q3_zeros", ENTROPY, "entropy = -target[some] * target[some].log()"),
    "the logarithm of a softmax": (
        "test_q3_large",
        LOGS,
        LOGS.replace("log_softmax(dim=1)", "softmax(dim=1).log()"),
    ),
    "the cross-entropy": ("test_q3_taught", LOSS, LOSS.replace("entropy + ", "")),
    "queries without keys count": (
        "test_q3_nothing",
        LOSS,
        LOSS.replace(".sum(dim=1).mean()", ".sum() / some.numel()"),
    ),
    "the gradient of the sum": ("test_q3_back", SLOPES, "return soft - alpha.mean(dim=1)"),
    "divided by all queries": (
        "test_q3_back_nothing",
        SLOPES,
        SLOPES.replace(".any(dim=2).sum()", "[:, :, 0].numel()"),
    ),
    "the sum, not its logarithm": (
        "test_q4_three",
        LOG,
        LOG.replace("logsumexp(dim=2)", "exp().sum(dim=2)"),
    ),
    "an exponential overflows": (
        "test_q4_large",
        LOG,
        LOG.replace("logsumexp(dim=2)", "exp().sum(dim=2).log()"),
    ),
    "no key, no number": (
        "test_q4_nothing",
        OUTPUT,
        "output = scores.masked_fill(~mask, -torch.inf).softmax(dim=2) @ V",
    ),
    "all sets share alike": (
        "test_q4_join",
        SHARES,
        "shares = there / there.sum(dim=2, keepdim=True).clamp(min=1)",
    ),
    "the largest logarithm": (
        "test_q4_total",
        JOINED,
        JOINED.replace("logs.logsumexp", "logs.amax"),
    ),
    "a softmax of nothing": ("test_q4_back", SHARES, "shares = logs.softmax(dim=2)"),
    "sums that overflow": (
        "test_q4_join_large",
        SHARES,
        "sums = logs.exp()\n    shares = sums / sums.sum(dim=2, keepdim=True).clamp(min=1e-30)",
    ),
    "bug left in": (
        "test_q5_two_blocks",
        SEEN,
        "seen = torch.arange(len(keys)) <= i[:, None] % w",
    ),
    "the best key for the sum": ("test_q5_ends", SUMS, SUMS.replace("logsumexp", "amax")),
    "the short block is left out": ("test_q5_short", BLOCKS, "for number in range(len(K) // w):"),
    "only blocks ahead": ("test_q5_ahead", PARTS, "joined = sums.softmax(dim=1)"),
}

# Correct, and different: full marks.
CORRECT = {
    "other ways": """
import math


def block_means(K, w, used):
    b, k, d = K.shape
    home = torch.arange(k).div(w, rounding_mode="floor")
    weight = F.one_hot(home, -(-k // w)).to(K.dtype).T[None] * used[:, None]
    clean = torch.where(used[:, :, None], K, torch.zeros(()))
    return torch.bmm(weight, clean) / weight.sum(2, keepdim=True).clamp_min(1.0)


def keep_blocks(fits, keep, w, used):
    size = fits.size(1)
    home = torch.arange(size) // w
    member = home[:, None] == torch.arange(fits.size(2))
    alive = (used[:, :, None] & member).any(1, keepdim=True)
    older = torch.arange(fits.size(2))[None] < home[:, None]
    good = torch.where(older & alive, fits, torch.full_like(fits, -1e30))
    rank = (good[..., None, :] > good[..., None]).sum(-1)
    picked = (rank < keep - 1) & older & alive | member
    return picked[:, :, home] & used[:, None, :] & torch.ones(size, size).tril().bool()


def pairs(n, w, keep):
    before = torch.arange(n) // w
    inside = torch.arange(n) - before * w + 1
    return int((before + inside + w * before.clamp(max=keep - 1)).sum())


def hash_codes(x, H):
    turned = torch.stack([x @ one for one in H], dim=2)
    best = turned.abs().argmax(3, keepdim=True)
    minus = turned.gather(3, best) < 0
    return (best + minus * H.size(2)).squeeze(3)


def same_bucket(one, other, mask):
    apart = (one.unsqueeze(2) - other.unsqueeze(1)).abs().amin(-1)
    return mask & apart.eq(0)


def kept_share(Q, K, rounds):
    q, k = (x / x.square().sum(-1, keepdim=True).sqrt() for x in (Q, K))
    plus = (q[:, :, None] + k[:, None]).norm(dim=-1)
    minus = (q[:, :, None] - k[:, None]).norm(dim=-1)
    return 1 - (2 * torch.atan2(minus, plus) / torch.pi).pow(rounds)


def rounds_needed(p, share):
    low, high = 0, 1
    def enough(rounds):
        return p == 1 or -math.expm1(rounds * math.log1p(-p)) >= share
    while not enough(high):
        high *= 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def indexer(Q, K, eta):
    fit = (Q @ K.mT.unsqueeze(1)).clamp_min(0)
    return torch.einsum("bqh,bqhk->bqk", eta, fit)


def keep_best(scores, keep, mask):
    order = torch.where(mask, scores, torch.full_like(scores, -torch.inf)).argsort(-1, descending=True)
    return mask & (order.argsort(-1) < keep)


def divergence(scores, alpha, mask):
    teacher = alpha.sum(1) / alpha.size(1)
    known = torch.where(mask, scores, torch.full_like(scores, -1e30)).log_softmax(-1)
    each = F.kl_div(known, teacher, reduction="none")
    each = each.where(mask, torch.zeros_like(each)).sum(-1)
    return each.sum() / mask.any(-1).sum()


def divergence_back(scores, alpha, mask):
    with torch.enable_grad():
        own = scores.clone().requires_grad_()
        return torch.autograd.grad(divergence(own, alpha, mask), own)[0]


def part(Q, K, V, mask):
    fit = torch.einsum("bqd,bkd->bqk", Q, K).div(math.sqrt(K.size(-1)))
    top = fit.where(mask, torch.full_like(fit, -1e30)).amax(-1, keepdim=True).detach()
    e = torch.exp((fit - top).clamp(max=0)) * mask
    total = e.sum(-1, keepdim=True)
    log = torch.where(total > 0, total.clamp_min(1e-30).log() + top, -torch.inf)
    return e @ V / total.clamp_min(1e-30), log.squeeze(-1)


def join(outputs, logs):
    top = logs.amax(-1, keepdim=True).clamp_min(-1e30).detach()
    e = torch.exp(logs - top)
    total = e.sum(-1, keepdim=True)
    pooled = torch.einsum("bqc,bqce->bqe", e / total.clamp_min(1e-30), outputs)
    return pooled, (total.log() + top).squeeze(-1)


def block_attention(Q, K, V, chosen, w):
    home = torch.arange(K.size(0)) // w
    sees = (chosen[:, :, None] == home).any(1) & torch.ones(len(Q), len(K)).tril().bool()
    return masked_softmax(Q @ K.T / math.sqrt(K.size(1)), sees) @ V
""",
    "by loops": """
import math


def block_means(K, w, used):
    k = K.shape[1]
    out = torch.zeros(K.shape[0], (k + w - 1) // w, K.shape[2])
    for t in range(K.shape[0]):
        for C in range(out.shape[1]):
            inside = [K[t, j] for j in range(C * w, min((C + 1) * w, k)) if bool(used[t, j])]
            if inside:
                out[t, C] = torch.stack(inside).mean(dim=0)
    return out


def keep_blocks(fits, keep, w, used):
    b, n, c = fits.shape
    out = torch.zeros(b, n, n, dtype=torch.bool)
    for t in range(b):
        for i in range(n):
            ranked = sorted((-float(fits[t, i, C]), C) for C in range(i // w) if used[t, C * w : C * w + w].any())
            for _, C in ranked[: keep - 1] + [(0.0, i // w)]:
                out[t, i, C * w : (C + 1) * w] = used[t, C * w : (C + 1) * w]
            out[t, i, i + 1 :] = False
    return out


def pairs(n, w, keep):
    count, start = 0, 0
    while start < n:
        rows, blocks = min(w, n - start), start // w
        count += rows * blocks + rows * w * min(blocks, keep - 1) + rows * (rows + 1) // 2
        start += w
    return count


def hash_codes(x, H):
    out = torch.zeros(*x.shape[:2], len(H), dtype=torch.long)
    for r in range(len(H)):
        for t in range(x.shape[0]):
            for i in range(x.shape[1]):
                row = [float(x[t, i] @ column) for column in H[r].T]
                row += [-value for value in row]
                out[t, i, r] = row.index(max(row))
    return out


def same_bucket(one, other, mask):
    out = torch.zeros_like(mask)
    for r in range(one.shape[2]):
        out |= one[:, :, r].unsqueeze(2) == other[:, :, r].unsqueeze(1)
    return torch.logical_and(out, mask)


def kept_share(Q, K, rounds):
    lost = torch.ones(len(Q), Q.shape[1], K.shape[1])
    cosines = torch.stack([F.cosine_similarity(Q, K[:, j : j + 1], dim=2) for j in range(K.shape[1])], 2)
    for _ in range(rounds):
        lost = lost * cosines.clamp(min=-1.0, max=1.0).arccos() / torch.pi
    return 1 - lost


def rounds_needed(p, share):
    guess = 1 if p >= 1 else int(math.log1p(-share) / math.log1p(-p))
    while p < 1 and (guess < 1 or guess * math.log1p(-p) > math.log1p(-share)):
        guess += 1
    return guess


def indexer(Q, K, eta):
    out = 0
    for z in range(Q.shape[2]):
        out = out + eta[:, :, z, None] * F.relu(torch.bmm(Q[:, :, z], K.transpose(1, 2)))
    return out


def keep_best(scores, keep, mask):
    left, out = mask.clone(), torch.zeros_like(mask)
    for _ in range(min(keep, mask.shape[2])):
        first = scores.masked_fill(~left, -torch.inf).argmax(dim=2, keepdim=True)
        out |= torch.zeros_like(out).scatter(2, first, True) & left
        left &= ~out
    return out


def divergence(scores, alpha, mask):
    losses = []
    for t in range(scores.shape[0]):
        for i in range(scores.shape[1]):
            on = mask[t, i]
            if on.any():
                fits = scores[t, i][on]
                mean = alpha[t, :, i].mean(0)[on]
                logs = fits - torch.logsumexp(fits, 0)
                losses.append(sum(m * (m.log() - x) for m, x in zip(mean, logs) if m > 0))
    return torch.stack(losses).mean()


def divergence_back(scores, alpha, mask):
    out, count = torch.zeros_like(scores), 0
    for t in range(scores.shape[0]):
        for i in range(scores.shape[1]):
            on = mask[t, i]
            if on.any():
                count += 1
                out[t, i, on] = F.softmax(scores[t, i, on], dim=0) - alpha[t, :, i].mean(0)[on]
    return out / count


def part(Q, K, V, mask):
    outs, logs = [], []
    for t in range(len(Q)):
        for i in range(Q.shape[1]):
            on = mask[t, i]
            fits = (K[t][on] * Q[t, i]).sum(1) / Q.shape[2] ** 0.5
            outs.append((F.softmax(fits, 0)[:, None] * V[t][on]).sum(0))
            logs.append(fits.logsumexp(0) if on.any() else torch.tensor(-torch.inf))
    return torch.stack(outs).view(len(Q), Q.shape[1], -1), torch.stack(logs).view(len(Q), -1)


def join(outputs, logs):
    out, log = torch.zeros_like(outputs[:, :, 0]), torch.full_like(logs[:, :, 0], -torch.inf)
    for C in range(logs.shape[2]):
        gone = torch.isinf(logs[:, :, C])
        new = torch.logaddexp(log, logs[:, :, C].masked_fill(gone, -1e9)).masked_fill(gone & torch.isinf(log), -torch.inf)
        finite = new.masked_fill(torch.isinf(new), 0.0)
        own = (logs[:, :, C].masked_fill(gone, -1e9) - finite).exp().masked_fill(gone, 0.0).unsqueeze(2)
        out = out * (1 - own) + own * outputs[:, :, C]
        log = new
    return out, log


def block_attention(Q, K, V, chosen, w):
    rows = []
    for i in range(len(Q)):
        own = sorted(j for C in chosen[i].tolist() for j in range(C * w, min((C + 1) * w, i + 1)))
        fits = K[own] @ Q[i] / Q.shape[1] ** 0.5
        rows.append(F.softmax(fits, dim=0) @ V[own])
    return torch.stack(rows)
""",
}

# Without understanding: functions of the solution redefined, with next to no points.
LAZY = {
    "whatever is used": (
        "q1",
        """
def block_means(K, w, used): return torch.stack([x.mean(dim=1) for x in K.split(w, dim=1)], dim=1)
def keep_blocks(fits, keep, w, used):
    n = fits.shape[1]
    place = torch.arange(n)
    return ((place[:, None] // w == place // w) & (place <= place[:, None]) & used[:, None])
def pairs(n, w, keep): return n * keep * w
""",
    ),
    "zeros, the latest blocks, and all pairs": (
        "q1",
        """
def block_means(K, w, used): return torch.zeros(len(K), -(-K.shape[1] // w), K.shape[2])
def keep_blocks(fits, keep, w, used):
    place = torch.arange(fits.shape[1])
    before = place[:, None] // w - place // w
    return (0 <= before) & (before < keep) & (place <= place[:, None]) & used[:, None]
def pairs(n, w, keep): return n * (n + 1) // 2
""",
    ),
    "one sign, whatever the mask, one round": (
        "q2",
        """
def hash_codes(x, H): return torch.einsum("bnd,rdc->bnrc", x, H).argmax(dim=3)
def same_bucket(one, other, mask): return (one[:, :, None] == other[:, None]).any(dim=3)
def kept_share(Q, K, rounds):
    cosine = F.normalize(Q, dim=2) @ F.normalize(K, dim=2).mT
    return 1 - cosine.clamp(-1, 1).acos() / torch.pi
def rounds_needed(p, share): return int(-(-share // p))
""",
    ),
    "by the cosine": (
        "q2",
        """
def hash_codes(x, H): return (torch.einsum("bnd,rdc->bnrc", x, H) > 0).sum(dim=3)
def same_bucket(one, other, mask): return (one[:, :, None] == other[:, None]).all(dim=3) & mask
def kept_share(Q, K, rounds):
    cosine = F.normalize(Q, dim=2) @ F.normalize(K, dim=2).mT
    return 1 - ((1 - cosine) / 2) ** rounds
def rounds_needed(p, share): return 1
""",
    ),
    "no activation, whatever the mask, squares": (
        "q3",
        """
def indexer(Q, K, eta): return torch.einsum("bqhd,bkd,bqh->bqk", Q, K, eta)
def keep_best(scores, keep, mask):
    best = scores.topk(min(keep, scores.shape[2]), dim=2).indices
    return torch.zeros_like(mask).scatter(2, best, True)
def divergence(scores, alpha, mask):
    return ((masked_softmax(scores, mask) - alpha.mean(1)) ** 2).mean()
def divergence_back(scores, alpha, mask): return masked_softmax(scores, mask) - alpha.mean(dim=1)
""",
    ),
    "no weights, the first keys, the cross-entropy": (
        "q3",
        """
def indexer(Q, K, eta): return torch.einsum("bqhd,bkd->bqhk", Q, K).relu().mean(dim=2)
def keep_best(scores, keep, mask): return mask & (mask.cumsum(dim=2) <= keep)
def divergence(scores, alpha, mask):
    logs = scores.masked_fill(~mask, -1e9).log_softmax(dim=2)
    return -(alpha.mean(1) * logs).sum(2).mean()
def divergence_back(scores, alpha, mask): return torch.zeros_like(scores)
""",
    ),
    "means, and a sum": (
        "q4",
        """
def part(Q, K, V, mask):
    weights = mask / mask.sum(2, keepdim=True).clamp(min=1)
    return weights @ V, mask.sum(2).log()
def join(outputs, logs): return outputs.mean(dim=2), logs.sum(dim=2)
""",
    ),
    "not scaled, and the best set": (
        "q4",
        """
def part(Q, K, V, mask):
    scores = Q @ K.mT
    return masked_softmax(scores, mask) @ V, scores.masked_fill(~mask, -torch.inf).amax(dim=2)
def join(outputs, logs):
    best = logs.argmax(dim=2)[:, :, None, None].expand_as(outputs[:, :, :1])
    return outputs.gather(2, best).squeeze(2), logs.amax(dim=2)
""",
    ),
    "all blocks": (
        "q5",
        """
def block_attention(Q, K, V, chosen, w):
    past = torch.ones(len(Q), len(K)).tril() > 0
    return masked_softmax(Q @ K.T / K.shape[1] ** 0.5, past) @ V
""",
    ),
    "means of blocks": (
        "q5",
        """
def block_attention(Q, K, V, chosen, w):
    places = torch.arange(len(K))
    seen = (chosen[:, :, None] == places // w).any(1) & (places <= places[:, None])
    return seen / seen.sum(1, keepdim=True).clamp(min=1) @ V
""",
    ),
}
