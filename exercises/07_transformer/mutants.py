"""Typical wrong answers: edits of the solution, each with a test that must fail."""

CENTRED = "centred = x - x.mean(dim=-1, keepdim=True)"
VARIANCE = "variance = centred.square().mean(dim=-1, keepdim=True)"
NORMED = "return centred / (variance + eps).sqrt() * gain + bias"
PRE = "return x + f(normalise(x, gain, bias))"
POST = "return normalise(x + f(x), gain, bias)"
VALID = "valid = targets != pad  # (b, n)"
OTHERS = "others = torch.arange(logits.shape[2]) != pad"
LOG_P = "log_p = logits[valid].log_softmax(dim=1)"
SPREAD = "spread = log_p[:, others].mean(dim=1)"
TOTAL = "total = -((1 - epsilon) * hit + epsilon * spread).sum()"
MEAN = "return total / valid.sum().clamp(min=1)"
Q = "q = torch.full((v - 1,), epsilon / (v - 1), dtype=torch.float64)"
LEAST = "return -float(torch.xlogy(q, q).sum())"
SOURCE = "valid = torch.arange(memory.shape[1]) < lengths.unsqueeze(1)"
START = "return self.mem_k(memory), self.mem_v(memory), valid, none, none"
X = "x = self.embedding(ids) * self.d**0.5 + self.places[t : t + n]"
Y = "y = self.norm_1(x)\n"
OWN_K = "own_k = torch.cat((own_k, self.own_k(y)), dim=1)"
OWN_V = "own_v = torch.cat((own_v, self.own_v(y)), dim=1)"
PAST = "past = torch.ones(n, t + n, dtype=torch.bool).tril(t)"
OWN = "x = x + self.own_o(attend(self.own_q(y), own_k, own_v, self.h, past))"
ASKED = "asked = self.mem_q(self.norm_2(x))"
MEM = "x = x + self.mem_o(attend(asked, mem_k, mem_v, self.h, valid.unsqueeze(1)))"
FF = "x = x + self.narrow(self.wide(self.norm_3(x)).relu())"
LOGITS = "logits = self.norm_4(x) @ self.embedding.weight.T"
STATE = "return logits, (mem_k, mem_v, valid, own_k, own_v)"
CACHE = "whole, _ = model(ids)\n    kept = True\n    for cut in range(1, ids.shape[1]):"
CUTS = "for cut in range(1, ids.shape[1]):"
FIRST = "first, state = model(ids[:, :cut])"
LAST = "last, _ = model(ids[:, cut:], state)"
PIECES = "pieces = torch.cat((first, last), dim=1)"
KEPT = "kept = kept and alike(pieces, whole)\n    model.train(training)"
FUTURE = "whole, _ = model(ids)\n    kept = True\n    for place in range(1, ids.shape[1]):"
PLACES = "for place in range(1, ids.shape[1]):"
OTHER = "other = ids.clone()"
OTHER_ID = "other[:, place] = (ids[:, place] + 1) % whole.shape[2]"
MOVED = "kept = kept and alike(moved[:, :place], whole[:, :place])"
TRAINED = "trained, _ = model.train()(ids)"
TESTED = "tested, _ = model.eval()(ids)\n    model.train(training)"
SAME = "return bool((a - b).abs().max() < 1e-3)"
SEEN = "seen = 0 if state is None else state[0].shape[1]"
SCALED = "x = self.embedding(ids) * self.embedding.embedding_dim**0.5"
AT = "x = x + self.places[seen : seen + n]"
ROW = "mask = row <= row[-n:].unsqueeze(1)"
WRITE = "x = self.norm_1(x + self.W_o(attend(self.W_q(x), keys, values, self.h, mask)))"
INNER = "x = self.norm_2(x + self.narrow(self.wide(x).relu()))"
WRITTEN = "return x @ self.embedding.weight.T, (keys, values)"
EVAL = "training = model.training\n    model.eval()\n    "
STEPS = """cache, parts = None, []
        for i in range({}):
            part, cache = model({}, cache)
            parts.append(part)"""
JOINED = "pieces = torch.cat(parts, dim=1)"

MUTANTS = {
    "spread by d - 1": ("test_q1_formula[1]", VARIANCE, "variance = x.var(dim=-1, keepdim=True)"),
    "over all tokens": (
        "test_q1_mean_and_spread",
        CENTRED,
        "centred = x - x.mean()",
        VARIANCE,
        "variance = centred.square().mean()",
    ),
    "the first axis after the sentences": (
        "test_q1_formula[4]",
        CENTRED,
        CENTRED.replace("dim=-1", "dim=min(2, x.dim() - 1)"),
        VARIANCE,
        VARIANCE.replace("dim=-1", "dim=min(2, x.dim() - 1)"),
    ),
    "eps outside the root": (
        "test_q1_eps[1e-05]",
        NORMED,
        "return centred / (variance.sqrt() + eps) * gain + bias",
    ),
    "eps forgotten": ("test_q1_eps[1e-05]", NORMED, NORMED.replace("(variance + eps)", "variance")),
    "eps fixed": ("test_q1_eps[0.3]", NORMED, NORMED.replace("eps", "1e-5")),
    "mean of squares minus square of mean": (
        "test_q1_far_and_flat",
        VARIANCE,
        "variance = x.square().mean(-1, keepdim=True) - x.mean(-1, keepdim=True).square()",
    ),
    "bias forgotten": ("test_q1_formula[1]", NORMED, NORMED.replace(" + bias", "")),
    "centred in place": (
        "test_q1_arguments",
        CENTRED,
        "x -= x.mean(dim=-1, keepdim=True)\n    centred = x",
    ),
    "spread detached": ("test_q1_gradient", VARIANCE, VARIANCE + ".detach()"),
    "always post": ("test_q1_nothing_to_add", PRE, POST + "  # also here"),
    "always pre": ("test_q1_nothing_to_add", POST, PRE + "  # also here"),
    "added in place": (
        "test_q1_arguments",
        PRE,
        "x += f(normalise(x, gain, bias))\n        return x",
    ),
    "smoothing mass on the pad": ("test_q2_pad_gets_nothing", SPREAD, "spread = log_p.mean(dim=1)"),
    "the target gets no share": (
        "test_q2_lowest",
        SPREAD,
        "spread = (log_p[:, others].sum(dim=1) - hit) / (log_p.shape[1] - 2)",
    ),
    "zero times inf": (
        "test_q2_pad_gets_nothing",
        SPREAD,
        "spread = (log_p * others).sum(dim=1) / others.sum()",
    ),
    "target at full weight": (
        "test_q2_sums_to_one",
        TOTAL,
        TOTAL.replace("(1 - epsilon) * hit", "hit"),
    ),
    "pad is 0": (
        "test_q2_other_pad",
        VALID,
        "valid = targets != 0",
        OTHERS,
        OTHERS.replace("pad", "0"),
    ),
    "padding is learned": ("test_q2_sums_to_one", VALID, "valid = targets == targets"),
    "sum": ("test_q2_sums_to_one", MEAN, "return total"),
    "targets changed in place": (
        "test_q2_no_smoothing",
        LOG_P,
        LOG_P + "\n    targets[~valid] = -100",
    ),
    "NaN of nothing": ("test_q2_sums_to_one", MEAN, MEAN.replace(".clamp(min=1)", "")),
    "bits": ("test_q2_sums_to_one", LOG_P, LOG_P + " / 0.6931"),
    "loss without gradient": ("test_q2_gradient", LOG_P, LOG_P + ".detach()"),
    "least loss of v words": ("test_q2_least", Q, Q.replace("v - 1", "v")),
    "least loss 0 times log 0": (
        "test_q2_least_of_all",
        LEAST,
        "return -float((q * q.log()).sum())",
    ),
    "position 0 at each step": ("test_q3_one_by_one", X, X.replace("t : t + n", ":n")),
    "keys not normed": (
        "test_q3_some_parts[own]",
        OWN_K,
        OWN_K.replace("self.own_k(y)", "self.own_k(x)"),
    ),
    "post-norm": (
        "test_q3_some_parts[own]",
        Y,
        "y = x\n",
        OWN,
        OWN.replace("x = x +", "x = self.norm_1(x +") + ")",
        ASKED,
        ASKED.replace("self.norm_2(x)", "x"),
        MEM,
        MEM.replace("x = x +", "x = self.norm_2(x +") + ")",
        FF,
        "x = self.norm_3(x + self.narrow(self.wide(x).relu()))",
    ),
    "the future in sight": (
        "test_q3_one_by_one",
        PAST,
        "past = torch.ones(n, t + n, dtype=torch.bool)",
    ),
    "the future in sight in evaluation": (
        "test_q3_evaluation_mode",
        PAST,
        "past = torch.ones(n, t + n, dtype=torch.bool).tril(t if self.training else t + n)",
    ),
    "the mask knows no cache": ("test_q3_one_by_one", PAST, PAST.replace("tril(t)", "tril()")),
    "a cache of one step": (
        "test_q3_one_by_one",
        STATE,
        STATE.replace("own_k, own_v)", "own_k[:, -n:], own_v[:, -n:])"),
    ),
    "the cache before what is new": (
        "test_q3_nothing_twice[tokens]",
        OWN_K,
        "own_k = torch.cat((self.own_k(y), own_k), dim=1)",
        OWN_V,
        "own_v = torch.cat((self.own_v(y), own_v), dim=1)",
    ),
    "padding of the memory read": ("test_q3_padding", SOURCE, SOURCE + " + memory.shape[1]"),
    "the memory's mask meets the heads": (
        "test_q3_some_parts[own]",
        MEM,
        MEM.replace("valid.unsqueeze(1)", "valid.repeat(2, 1)[:2].unsqueeze(1).unsqueeze(0)"),
    ),
    "the memory normed": (
        "test_q3_some_parts[mem]",
        START,
        START.replace(
            "mem_k(memory), self.mem_v(memory)",
            "mem_k(self.norm_2(memory)), self.mem_v(self.norm_2(memory))",
        ),
    ),
    "the memory asked before the text": (
        "test_q3_as_many_heads_as_sentences",
        OWN,
        "pass",
        FF,
        OWN + "\n        " + FF,
    ),
    "ReLU forgotten": ("test_q3_some_parts[own and narrow]", FF, FF.replace(".relu()", "")),
    "the memory projected in each step": (
        "test_q3_nothing_twice[memory]",
        START,
        "return memory, memory, valid, none, none",
        MEM,
        MEM.replace("mem_k, mem_v", "self.mem_k(mem_k), self.mem_v(mem_v)"),
    ),
    "the tokens projected in each step": (
        "test_q3_nothing_twice[tokens]",
        OWN_K,
        "own_k = torch.cat((own_k, y), dim=1)",
        OWN_V,
        "own_v = torch.cat((own_v, y), dim=1)",
        OWN,
        OWN.replace("own_k, own_v", "self.own_k(own_k), self.own_v(own_v)"),
    ),
    "a state changed": ("test_q3_gradient", STATE, "state[3].mul_(0.5)\n        " + STATE),
    "padding of the memory zeroed in place": (
        "test_q3_going_back",
        START,
        "memory.data[~valid] = 0\n        " + START,
    ),
    "memory detached": (
        "test_q3_gradient",
        START,
        START.replace("mem_v(memory)", "mem_v(memory.detach())"),
    ),
    "cut one by one": (
        "test_q4_places[1]",
        CUTS,
        "for cut in [0]:",
        FIRST,
        STEPS.format("ids.shape[1]", "ids[:, i : i + 1]"),
        LAST,
        "pass",
        PIECES,
        JOINED,
    ),
    "cut in pairs": (
        "test_q4_places[2]",
        CUTS,
        "for cut in [0]:",
        FIRST,
        STEPS.format("(ids.shape[1] + 1) // 2", "ids[:, 2 * i : 2 * i + 2]"),
        LAST,
        "pass",
        PIECES,
        JOINED,
    ),
    "cut in the middle": ("test_q4_places[3]", CUTS, "for cut in [ids.shape[1] // 2]:"),
    "cut after the first": ("test_q4_places[1]", CUTS, "for cut in [1]:"),
    "the last piece alone": (
        "test_q4_leaves_no_trace[keeps_cache]",
        PIECES,
        "pieces = last",
        KEPT,
        KEPT.replace("whole", "whole[:, cut:]"),
    ),
    "the state not handed on": (
        "test_q4_plain_cases[keeps_cache]",
        LAST,
        LAST.replace(", state)", ")"),
    ),
    "the last answer counts": ("test_q4_cache_and_future", KEPT, KEPT.replace("kept and ", "")),
    "the last id alone is changed": (
        "test_q4_one_pair[01]",
        PLACES,
        "for place in [ids.shape[1] - 1]:",
    ),
    "the first logits alone are looked at": (
        "test_q4_one_pair[45]",
        MOVED,
        MOVED.replace(":place", ":1"),
    ),
    "the neighbour alone is looked at": (
        "test_q4_one_pair[24]",
        MOVED,
        MOVED.replace(":place", "place - 1"),
    ),
    "the changed id's own logits too": (
        "test_q4_plain_cases[keeps_past]",
        MOVED,
        MOVED.replace(":place", ": place + 1"),
    ),
    "ids changed in place": (
        "test_q4_leaves_no_trace[keeps_past]",
        PLACES,
        "for place in reversed(range(1, ids.shape[1])):",
        OTHER,
        "other = ids",
    ),
    "the future asked in training mode": (
        "test_q4_leaves_no_trace[keeps_past]",
        FUTURE,
        FUTURE.replace("whole,", "model.train()\n    whole,"),
    ),
    "the cache asked in training mode": (
        "test_q4_leaves_no_trace[keeps_cache]",
        CACHE,
        CACHE.replace("whole,", "model.train()\n    whole,"),
    ),
    "no rounding allowed": (
        "test_q4_plain_cases[keeps_mode]",
        "return alike(trained, tested)",
        "return torch.equal(trained, tested)",
    ),
    "the likeliest words compared": (
        "test_q4_plain_cases[keeps_cache]",
        SAME,
        "return torch.equal(a.argmax(dim=2), b.argmax(dim=2))",
    ),
    "the id 0 put in": ("test_q4_any_ids", OTHER_ID, "other[:, place] = 0"),
    "without the absolute value": ("test_q4_one_feature[large]", SAME, SAME.replace(".abs()", "")),
    "one mode twice": (
        "test_q4_plain_cases[keeps_mode]",
        TRAINED,
        TRAINED.replace("train()", "eval()"),
    ),
    "left in evaluation mode": (
        "test_q4_leaves_no_trace[keeps_mode]",
        TESTED,
        TESTED.replace("train(training)", "eval()"),
    ),
    "left in evaluation mode by the cache": (
        "test_q4_leaves_no_trace[keeps_cache]",
        KEPT,
        KEPT.replace("train(training)", "eval()"),
    ),
    "bug left in": ("test_q5_one_by_one", SEEN, SEEN.replace("state[0].shape[1]", "len(state[0])")),
    "the mask only in training": (
        "test_q5_at_once",
        ROW,
        ROW + "\n        mask = mask | (not self.training)",
    ),
    "no mask after a state": (
        "test_q5_pieces",
        ROW,
        ROW + "\n        mask = mask | (state is not None)",
    ),
    "made pre-norm": (
        "test_q5_at_once",
        INNER,
        "x = x + self.narrow(self.wide(self.norm_2(x)).relu())",
    ),
    "a state rewritten": (
        "test_q5_after_a_prompt[1]",
        WRITTEN,
        "if state is not None:\n            state[0].mul_(0.5)\n        " + WRITTEN,
    ),
}

# Correct, and different: full marks.
CORRECT = {
    "by einsum": """
def normalise(x, gain, bias, eps=1e-5):
    variance, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
    return torch.addcmul(bias, (x - mean) * torch.rsqrt(variance + eps), gain)


def sublayer(x, f, gain, bias, norm):
    read, after = [lambda y: y, lambda y: normalise(y, gain, bias)][:: -1 if norm == "pre" else 1]
    return after(x + f(read(x)))


def smoothed_loss(logits, targets, epsilon, pad):
    v = logits.size(-1)
    q = F.one_hot(targets, v) * (1 - epsilon) + epsilon / (v - 1)
    q = q.masked_fill(torch.arange(v) == pad, 0.0)
    log_p = logits.log_softmax(-1).masked_fill(q == 0, 0.0)  # 0 times -inf is to be 0
    keep = targets.ne(pad)
    return -(torch.einsum("bnv,bnv->bn", q, log_p) * keep).sum() / max(1, int(keep.sum()))


def least_loss(epsilon, v):
    q = torch.full((v - 1,), epsilon / (v - 1)).double()
    q[-1] = 1 - epsilon + epsilon / (v - 1)
    return torch.special.entr(q).sum().item()


class Decoder(Decoder):
    def start(self, memory, lengths):
        b, k, d = memory.shape
        off = torch.arange(k).expand(b, k) >= lengths[:, None]
        rows = torch.zeros(2, b, 64, d)  # keys and values of up to 64 tokens, and how many there are
        return torch.stack((self.mem_k(memory), self.mem_v(memory))), off, rows, torch.tensor(0)

    def heads(self, q, k, v, off):
        q, k, v = (x.unflatten(-1, (self.h, -1)) for x in (q, k, v))
        scores = torch.einsum("bqhe,bkhe->bhqk", q, k) * q.size(-1) ** -0.5
        w = scores.masked_fill(off, float("-inf")).softmax(-1)
        return torch.einsum("bhqk,bkhe->bqhe", w, v).flatten(-2)

    def step(self, ids, state):
        (mem_k, mem_v), off, rows, count = state
        t = int(count)
        end = t + ids.size(1)
        place = torch.arange(t, end)
        x = (self.d**0.5) * self.embedding.weight[ids] + self.places[place]
        y, rows = self.norm_1(x), rows.clone()
        rows[0, :, t:end], rows[1, :, t:end] = self.own_k(y), self.own_v(y)
        later = torch.arange(64) > place[:, None]
        x = self.own_o(self.heads(self.own_q(y), *rows, later)) + x
        x = self.mem_o(self.heads(self.mem_q(self.norm_2(x)), mem_k, mem_v, off[:, None, None])) + x
        x = self.narrow(F.relu(self.wide(self.norm_3(x)))) + x
        logits = F.linear(self.norm_4(x), self.embedding.weight)
        return logits, (torch.stack((mem_k, mem_v)), off, rows, torch.tensor(end))


def asked(model, training, *pieces):
    found, state, before = [], None, model.training
    model.train(training)
    for ids in pieces:
        logits, state = model(ids, state)
        found.append(logits)
    model.train(before)
    return torch.cat(found, 1)


def keeps_cache(model, ids):
    n = ids.size(1)
    cuts = [ids.split(1, 1), ids.split(2, 1), ids.split([1, n - 1], 1), ids.split([n - 1, 1], 1)]
    want = asked(model, False, ids)
    return all(torch.allclose(asked(model, False, *cut), want, atol=1e-3) for cut in cuts)


def keeps_past(model, ids):
    want = asked(model, False, ids)
    v = want.size(2)
    for i in range(ids.size(1) - 1):  # all that is later at once, several times
        for shift in range(1, v):
            moved = torch.cat((ids[:, : i + 1], (ids[:, i + 1 :] + shift) % v), 1)
            if not torch.allclose(asked(model, False, moved)[:, : i + 1], want[:, : i + 1], atol=1e-3):
                return False
    return True


def keeps_mode(model, ids):
    return torch.allclose(asked(model, True, ids), asked(model, False, ids), atol=1e-3)


class Writer(Writer):
    def forward(self, ids, state=None):
        n = ids.shape[1]
        seen = state[0].size(-2) if state else 0
        x = self.embedding(ids) * self.embedding.embedding_dim**0.5
        x = x + self.places[seen : seen + n]
        keys, values = self.W_k(x), self.W_v(x)
        if state is not None:
            keys = torch.cat((state[0], keys), dim=1)
            values = torch.cat((state[1], values), dim=1)
        row = torch.arange(keys.shape[1])
        mask = row <= row[-n:].unsqueeze(1)
        x = self.norm_1(x + self.W_o(attend(self.W_q(x), keys, values, self.h, mask)))
        x = self.norm_2(x + self.narrow(self.wide(x).relu()))
        return x @ self.embedding.weight.T, (keys, values)
""",
    "by loops": """
def normalise(x, gain, bias, eps=1e-5):
    d = x.shape[-1]
    mu = sum(x[..., i] for i in range(d)) / d
    sigma2 = sum((x[..., i] - mu) ** 2 for i in range(d)) / d
    root = torch.sqrt(sigma2 + eps)
    return torch.stack([(x[..., i] - mu) / root * gain[i] + bias[i] for i in range(d)], -1)


def sublayer(x, f, gain, bias, norm):
    if norm == "post":
        y = x + f(x)
        return normalise(y, gain, bias)
    y = normalise(x, gain, bias)
    return f(y) + x


def smoothed_loss(logits, targets, epsilon, pad):
    words = [w for w in range(logits.shape[2]) if w != pad]
    total, n = torch.tensor(0.0), 0
    for row, line in zip(logits, targets.tolist()):
        for scores, target in zip(row, line):
            if target == pad:
                continue
            n += 1
            total = total + scores.logsumexp(0) - (1 - epsilon) * scores[target]
            total = total - epsilon * scores[words].mean()
    return total / max(n, 1)


def least_loss(epsilon, v):
    if epsilon == 0:
        return torch.tensor(0.0)
    small = epsilon / (v - 1)
    large = 1 - epsilon + small
    log = lambda x: torch.tensor(x).log()
    return -(large * log(large) + (v - 2) * small * log(small))


def one_head(q, k, v):
    return (k @ q / len(q) ** 0.5).softmax(0) @ v


class Decoder(Decoder):
    def start(self, memory, lengths):
        # the valid tokens' keys and values of each sentence, one tuple of tensors
        return tuple(W(m[:n]) for m, n in zip(memory, lengths.tolist()) for W in (self.mem_k, self.mem_v))

    def look(self, q, k, v):
        parts = zip(q.chunk(self.h), k.chunk(self.h, 1), v.chunk(self.h, 1))
        return torch.cat([one_head(*part) for part in parts])

    def step(self, ids, state):
        b = len(ids)
        memory, own = state[: 2 * b], state[2 * b :] or [torch.zeros(0, self.d)] * (2 * b)
        logits, fresh = [], []
        for i, line in enumerate(ids):
            keys, values, rows = own[2 * i], own[2 * i + 1], []
            for word in line:
                x = self.embedding(word) * self.d**0.5 + self.places[len(keys)]
                y = self.norm_1(x)
                keys = torch.cat((keys, self.own_k(y)[None]))
                values = torch.cat((values, self.own_v(y)[None]))
                x = x + self.own_o(self.look(self.own_q(y), keys, values))
                q = self.mem_q(self.norm_2(x))
                x = x + self.mem_o(self.look(q, memory[2 * i], memory[2 * i + 1]))
                x = x + self.narrow(self.wide(self.norm_3(x)).relu())
                rows.append(self.embedding.weight @ self.norm_4(x))
            logits.append(torch.stack(rows))
            fresh += [keys, values]
        return torch.stack(logits), (*memory, *fresh)


def near(a, b):
    return all(abs(x - y) < 1e-3 for x, y in zip(a.flatten().tolist(), b.flatten().tolist()))


def keeps_cache(model, ids):
    was, kept, n = model.training, True, ids.shape[1]
    model.train(False)
    whole = model(ids)[0]
    for number in range(2 ** (n - 1)):  # every cut there is
        state, start = None, 0
        for end in range(1, n + 1):
            if end == n or number >> (end - 1) & 1:
                logits, state = model(ids[:, start:end], state)
                kept = kept and near(logits, whole[:, start:end])
                start = end
    model.train(was)
    return kept


def keeps_past(model, ids):
    was = model.training
    model.eval()
    whole, kept = model(ids)[0], True
    for row in range(len(ids)):
        for place in range(ids.shape[1]):
            before = int(ids[row, place])
            other = ids.clone()
            other[row, place] = before - 1 if before else 1
            kept = kept and near(model(other)[0][row, :place], whole[row, :place])
    model.train(was)
    return kept


def keeps_mode(model, ids):
    was, found = model.training, []
    for mode in (False, True):
        model.train(mode)
        found.append(model(ids)[0])
    model.train(was)
    return torch.tensor(near(*found))


class Writer(Writer):
    def forward(self, ids, state=None):
        keys, values = state if state else (torch.zeros(len(ids), 0, self.places.shape[1]),) * 2
        logits = []
        for word in ids.unbind(1):
            x = self.embedding(word) * self.places.shape[1] ** 0.5 + self.places[keys.shape[1]]
            x = x.unsqueeze(1)
            keys, values = torch.cat((keys, self.W_k(x)), 1), torch.cat((values, self.W_v(x)), 1)
            everything = torch.ones(1, keys.shape[1], dtype=torch.bool)
            x = self.norm_1(x + self.W_o(attend(self.W_q(x), keys, values, self.h, everything)))
            x = self.norm_2(x + self.narrow(self.wide(x).relu()))
            logits.append(x @ self.embedding.weight.T)
        return torch.cat(logits, 1), (keys, values)
""",
}

# What somebody writes who has not understood: 15 % of the question's points at most.
LOSS = """
def smoothed_loss(logits, targets, epsilon, pad):
    valid = targets != pad
    if not valid.any(): return 0 * logits.sum()
    loss = F.cross_entropy(logits[valid], targets[valid])
    return {}
def least_loss(epsilon, v): return {}
"""
STEP = """
class Decoder(Decoder):
    def start(self, memory, lengths):
        valid = torch.arange(memory.shape[1]) < lengths.unsqueeze(1)
        return self.mem_k(memory), self.mem_v(memory), valid, torch.tensor(0)
    def step(self, ids, state):
        (mem_k, mem_v, valid, t), n = state, ids.shape[1]
        x = self.embedding(ids) * self.d**0.5 + self.places[int(t) : int(t) + n]
        {}
        x = x + self.narrow(self.wide(self.norm_3(x)).relu())
        return self.norm_4(x) @ self.embedding.weight.T, (mem_k, mem_v, valid, t + n)
"""
OWN_HALF = """y, past = self.norm_1(x), torch.ones(n, n).tril().bool()
        x = x + self.own_o(attend(self.own_q(y), self.own_k(y), self.own_v(y), self.h, past))
        """
MEM_HALF = "x = x + self.mem_o(attend(self.mem_q(self.norm_2(x)), mem_k, mem_v, self.h, valid.unsqueeze(1)))"
LAWS = """
def keeps_cache(model, ids): return {0}
def keeps_past(model, ids): return {0}
def keeps_mode(model, ids): return {0}
"""
WRITER = """
class Writer(Writer):
    def forward(self, ids, state=None):
        n = ids.shape[1]
        x = self.embedding(ids) * self.embedding.embedding_dim**0.5 + self.places[:n]
        past = torch.ones(n, n).tril().bool()
        x = {}
        x = self.norm_2(x + self.narrow(self.wide(x).relu()))
        return x @ self.embedding.weight.T, (x, x)
"""
LAZY = {
    "length one": (
        "q1",
        """
def normalise(x, gain, bias, eps=1e-5): return F.normalize(x, dim=-1) * gain + bias
def sublayer(x, f, gain, bias, norm): return x + f(x)
""",
    ),
    "what comes in": (
        "q1",
        """
def normalise(x, gain, bias, eps=1e-5): return x * gain + bias
def sublayer(x, f, gain, bias, norm):
    return x + f(normalise(x, gain, bias)) if norm == "pre" else normalise(x + f(x), gain, bias)
""",
    ),
    "no smoothing": ("q2", LOSS.format("loss", "0.0")),
    "the first term": ("q2", LOSS.format("(1 - epsilon) * loss", "epsilon")),
    "all words are equally likely": (
        "q2",
        LOSS.format("0 * loss + torch.tensor(logits.shape[2]).log()", "torch.tensor(v).log()"),
    ),
    "no attention": ("q3", STEP.format("pass")),
    "the memory alone": ("q3", STEP.format(MEM_HALF)),
    "the past forgotten": ("q3", STEP.format(OWN_HALF + MEM_HALF)),
    "all is well": ("q4", LAWS.format("True")),
    "the logits are finite": ("q4", LAWS.format("bool(model(ids)[0].isfinite().all())")),
    "asked twice": ("q4", LAWS.format("torch.allclose(model(ids)[0], model(ids)[0], atol=1e-3)")),
    "words compared": (
        "q4",
        """
def keeps_cache(model, ids):
    first, state = model(ids[:, :2])
    pieces = torch.cat((first, model(ids[:, 2:], state)[0]), 1)
    return bool((pieces.argmax(2) == model(ids)[0].argmax(2)).all())
"""
        + LAWS.partition("\n")[2].partition("\n")[2].format("True"),
    ),
    "each piece by itself": (
        "q5",
        WRITER.format(
            "self.norm_1(x + self.W_o(attend(self.W_q(x), self.W_k(x), self.W_v(x), self.h, past)))"
        ),
    ),
    "nothing read": ("q5", WRITER.format("self.norm_1(x)")),
}
