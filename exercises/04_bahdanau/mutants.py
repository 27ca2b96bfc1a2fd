"""Typical wrong answers: edits of the solution, each with a test that must fail."""

TOTAL = 'total = F.cross_entropy(logits[valid], targets[valid], reduction="sum")'
MEAN = "return total / valid.sum().clamp(min=1)"
LINEAR_Q = "self.W_q = nn.Linear(query_size, hidden, bias=False)"
FEATURES = "features = self.W_q(query).unsqueeze(1) + projected"
SCORED = "return self.w_v(features.tanh()).squeeze(2)"
ASK = "scores = self.attention.score(state, projected)  # (b, k)"
TOKENS = "valid = torch.arange(memory.shape[1]) < lengths.unsqueeze(1)"
WEIGHTS = "weights = scores.masked_fill(~valid & some, -torch.inf).softmax(dim=1) * some"
CONTEXT = "context = (weights.unsqueeze(1) @ memory).squeeze(1)"
STATE = "state = self.cell(torch.cat((self.embedding(tokens), context), dim=1), state)"
LOGITS = "return self.output(torch.cat((state, context), dim=1)), state, weights"
FIRST = "tokens, words = torch.full((b,), bos), []"
WHILE = "while len(words) < max_len and not done.all():"
KEEP = "words.append(tokens.masked_fill(done, pad))"
FINISHED = "done = done | (tokens == eos)"
ROWS = "rows = weights[:t]"
LINKS = "links = (columns == rows.argmax(dim=1, keepdim=True))[:, :k]"
HITS = "hits = (links & sure).sum() + (links & possible).sum()"
RATE = "return 1 - hits / (links.sum() + sure.sum())"
ALL = 'F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none")'

MUTANTS = {
    "padding counted": (
        "test_q1_padding",
        TOTAL,
        'total = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum")',
        MEAN,
        "return total / valid.numel()",
    ),
    "masked by a product": (
        "test_q1_anything[logits]",
        TOTAL,
        f"total = ({ALL} * valid.flatten()).sum()",
    ),
    "word 0 ignored": (
        "test_q1_word_zero",
        TOTAL,
        TOTAL.replace("reduction", "ignore_index=0, reduction"),
    ),
    "the first token skipped": (
        "test_q1_one_length",
        TOTAL,
        "valid = valid & (torch.arange(targets.shape[1]) > 0)\n    " + TOTAL,
    ),
    "mean of the sentences' means": (
        "test_q1_lengths",
        MEAN,
        "n = lengths.clamp(min=1)\n    share = (1 / n).repeat_interleave(lengths)\n    each = F.cross_entropy(logits[valid], targets[valid], reduction='none')\n    return (each * share).sum() / len(lengths)",
    ),
    "sum, not mean": ("test_q1_no_idea", MEAN, "return total"),
    "NaN for nothing": ("test_q1_nothing", MEAN, MEAN.replace(".clamp(min=1)", "")),
    "loss detached": ("test_q1_gradient", TOTAL, TOTAL + ".detach()"),
    "bias": ("test_q2_names", LINEAR_Q, "self.W_q = nn.Linear(query_size, hidden)"),
    "other names": (
        "test_q2_names",
        "self.w_v = nn.Linear(hidden, 1, bias=False)",
        "self.v = nn.Linear(hidden, 1, bias=False)",
        SCORED,
        SCORED.replace("self.w_v", "self.v"),
    ),
    "no tanh": ("test_q2_gradient", SCORED, SCORED.replace("features.tanh()", "features")),
    "sigmoid": ("test_q2_odd", SCORED, SCORED.replace("tanh", "sigmoid")),
    "keys projected at every step": (
        "test_q2_shapes",
        "return self.W_k(keys)",
        "return keys",
        FEATURES,
        FEATURES.replace("projected", "self.W_k(projected)"),
    ),
    "sentences and tokens mixed up": (
        "test_q2_shapes",
        FEATURES,
        FEATURES.replace("unsqueeze(1)", "unsqueeze(0)"),
    ),
    "query detached": (
        "test_q2_gradient",
        FEATURES,
        FEATURES.replace("(query)", "(query.detach())"),
    ),
    "asks after the step": (
        "test_q3_asks_first",
        ASK,
        "asking = self.cell(torch.cat((self.embedding(tokens), memory.mean(dim=1)), dim=1), state)\n        scores = self.attention.score(asking, projected)",
    ),
    "mask forgotten": ("test_q3_shapes", WEIGHTS, "weights = scores.softmax(dim=1) * some"),
    "mask inverted": ("test_q3_asks_first", WEIGHTS, WEIGHTS.replace("~valid", "valid")),
    "mask after softmax": ("test_q3_shapes", WEIGHTS, "weights = scores.softmax(dim=1) * valid"),
    "weights over sentences": ("test_q3_asks_first", WEIGHTS, WEIGHTS.replace("dim=1", "dim=0")),
    "one source token too many": ("test_q3_shapes", TOKENS, TOKENS.replace("<", "<=")),
    "NaN at an empty source": (
        "test_q3_empty_source",
        WEIGHTS,
        "weights = scores.masked_fill(~valid, -torch.inf).softmax(dim=1)",
    ),
    "context before the embedding": (
        "test_q3_empty_source",
        STATE,
        STATE.replace("self.embedding(tokens), context", "context, self.embedding(tokens)"),
    ),
    "context not in the step": (
        "test_q3_values[state]",
        STATE,
        STATE.replace("context", "0 * context"),
    ),
    "logits from the old state": (
        "test_q3_asks_first",
        STATE,
        "old, " + STATE.replace("= self", "= state, self"),
        LOGITS,
        LOGITS.replace("cat((state", "cat((old"),
    ),
    "old state handed on": (
        "test_q3_asks_first",
        STATE,
        "old, " + STATE.replace("= self", "= state, self"),
        LOGITS,
        LOGITS.replace("), state,", "), old,"),
    ),
    "context before the state": (
        "test_q3_empty_source",
        LOGITS,
        LOGITS.replace("(state, context)", "(context, state)"),
    ),
    "logits without context": (
        "test_q3_values[logits]",
        LOGITS,
        LOGITS.replace("(state, context)", "(state, 0 * context)"),
    ),
    "context is the mean": ("test_q3_padding[memory]", CONTEXT, "context = memory.mean(dim=1)"),
    "context detached": ("test_q3_gradient", CONTEXT, CONTEXT + ".detach()"),
    "memory cleaned in place": (
        "test_q3_arguments",
        CONTEXT,
        "memory.masked_fill_(~valid.unsqueeze(2), 0.0)\n        " + CONTEXT,
    ),
    "begins with 0": ("test_q4_own_words", FIRST, FIRST.replace("bos", "0")),
    "bos kept": ("test_q4_cut", WHILE, "words.append(tokens)\n    " + WHILE),
    "its own word not read": (
        "test_q4_own_words",
        KEEP,
        KEEP + "\n        tokens, said = torch.full((b,), bos), tokens",
        FINISHED,
        FINISHED.replace("tokens", "said"),
    ),
    "no padding": ("test_q4_padding", KEEP, "words.append(tokens)"),
    "padding is 0": ("test_q4_one_word_for_both", KEEP, KEEP.replace("pad", "0")),
    "eos becomes padding": (
        "test_q4_stops",
        KEEP,
        "words.append(tokens.masked_fill(done | (tokens == eos), pad))",
    ),
    "stops with the first": ("test_q4_one_word_for_both", WHILE, WHILE.replace("all", "any")),
    "goes on to the end": ("test_q4_stops", WHILE, "while len(words) < max_len:"),
    "one word too many": ("test_q4_cut", WHILE, WHILE.replace("<", "<=")),
    "wakes up again": ("test_q4_padding", FINISHED, "done = tokens == eos"),
    "a second end wakes it up": (
        "test_q4_still_finished",
        FINISHED,
        "done = done ^ (tokens == eos)",
    ),
    "bug left in": ("test_q5_perfect", ROWS, "rows = weights[1 : t + 1]"),
    "eos of the source left out": (
        "test_q5_beyond_the_source",
        LINKS,
        "links = (columns[:k] == rows[:, :k].argmax(dim=1, keepdim=True))",
    ),
    "only large weights": ("test_q5_weak", LINKS, "links = rows[:, :k] > 0.5"),
    "precision": ("test_q5_sure_links", RATE, "return 1 - (links & possible).sum() / links.sum()"),
    "sure links alone": ("test_q5_possible_found", HITS, "hits = 2 * (links & sure).sum()"),
    "divided by the possible": ("test_q5_possible_missed", RATE, RATE.replace("sure", "possible")),
}

# Correct, and different: full marks.
CORRECT = {
    "by torch": """
def token_loss(logits, targets, lengths):
    off = torch.arange(targets.size(1))[None] >= lengths[:, None]
    log_probs = logits.masked_fill(off[..., None], 0.0).log_softmax(-1)
    picked = log_probs.gather(2, targets.masked_fill(off, 0)[..., None])[..., 0]
    return -(picked * ~off).sum() / max(int(lengths.sum()), 1)


class AdditiveScore(nn.Module):
    def __init__(self, query_size, key_size, hidden):
        super().__init__()
        self.w_v = nn.Linear(hidden, 1, bias=False)
        self.W_k, self.W_q = (nn.Linear(n, hidden, bias=False) for n in (key_size, query_size))

    def project(self, keys):
        return torch.einsum("hc,bkc->bkh", self.W_k.weight, keys)

    def score(self, query, projected):
        return torch.tanh(projected + self.W_q(query)[:, None]) @ self.w_v.weight[0]


class DecoderStep(nn.Module):
    def __init__(self, v, embed, d, memory_size, hidden):
        super().__init__()
        self.output = nn.Linear(d + memory_size, v)
        self.cell = nn.GRUCell(embed + memory_size, d)
        self.attention = AdditiveScore(d, memory_size, hidden)
        self.embedding = nn.Embedding(v, embed)

    def forward(self, tokens, state, memory, projected, lengths):
        off = torch.arange(memory.size(1)) >= lengths[:, None]
        e = self.attention.score(state, projected).masked_fill(off, -1e30)
        w = e.softmax(-1).masked_fill(off, 0.0)
        c = torch.einsum("bk,bkm->bm", w, memory)
        new = self.cell(torch.hstack((self.embedding(tokens), c)), state)
        return self.output(torch.hstack((new, c))), new, w


def greedy(step, state, b, bos, eos, pad, max_len):
    out = torch.full((b, max_len), pad)
    last, alive = torch.full((b,), bos), torch.ones(b).bool()
    for i in range(max_len):
        scores, state = step(last, state)
        last = scores.max(-1).indices
        out[alive, i] = last[alive]
        alive = alive & last.ne(eos)
        if not alive.any():
            return out[:, : i + 1]
    return out


def error_rate(weights, sure, possible):
    t, k = sure.shape
    best = weights[:t].max(1).indices
    kept = best < k
    i, j = torch.arange(t)[kept], best[kept]
    a = len(j)
    return 1.0 - (sure[i, j].sum() + possible[i, j].sum()) / (a + sure.sum())
""",
    "by loops": """
def token_loss(logits, targets, lengths):
    total, n = torch.tensor(0.0), 0
    for row, words, length in zip(logits, targets, lengths.tolist()):
        for i in range(length):
            total = total + row[i].logsumexp(0) - row[i, words[i]]
            n += 1
    return total / max(n, 1)


class AdditiveScore(nn.Module):
    def __init__(self, query_size, key_size, hidden):
        super().__init__()
        for name, size in (("W_q", (query_size, hidden)), ("W_k", (key_size, hidden)), ("w_v", (hidden, 1))):
            setattr(self, name, nn.Linear(*size, bias=False))

    def project(self, keys):
        return torch.stack([self.W_k(key) for key in keys])

    def score(self, query, projected):
        moved = self.W_q(query)
        columns = [self.w_v(torch.tanh(moved + p))[:, 0] for p in projected.unbind(1)]
        return torch.stack(columns, 1)


class DecoderStep(nn.Module):
    def __init__(self, v, embed, d, memory_size, hidden):
        super().__init__()
        self.embedding, self.output = nn.Embedding(v, embed), nn.Linear(d + memory_size, v)
        self.attention = AdditiveScore(d, memory_size, hidden)
        self.cell = nn.GRUCell(embed + memory_size, d)

    def forward(self, tokens, state, memory, projected, lengths):
        scores = self.attention.score(state, projected)
        rows, contexts = [], []
        for s, m, n in zip(scores, memory, lengths.tolist()):
            w = torch.cat((s[:n].softmax(0), torch.zeros(len(s) - n)))
            rows.append(w)
            contexts.append((w[:n, None] * m[:n]).sum(0))
        context = torch.stack(contexts)
        after = self.cell(torch.cat((self.embedding(tokens), context), 1), state)
        return self.output(torch.cat((after, context), 1)), after, torch.stack(rows)


def greedy(step, state, b, bos, eos, pad, max_len):
    sentences = [[] for _ in range(b)]
    last = [bos] * b
    for _ in range(max_len):
        logits, state = step(torch.tensor(last), state)
        for i, row in enumerate(logits):
            ended = bool(sentences[i]) and sentences[i][-1] in (eos, None)
            last[i] = pad if ended else int(row.argmax())
            sentences[i].append(None if ended else last[i])
        if all(s[-1] in (eos, None) for s in sentences):
            break
    return torch.tensor([[pad if w is None else w for w in s] for s in sentences])


def error_rate(weights, sure, possible):
    found = on_sure = on_possible = 0
    for i in range(len(sure)):
        j = weights[i].tolist().index(max(weights[i].tolist()))
        if j < sure.shape[1]:
            found += 1
            on_sure += bool(sure[i, j])
            on_possible += bool(possible[i, j])
    return 1 - (on_sure + on_possible) / (found + int(sure.sum()))
""",
}

SCORES = """
class AdditiveScore(AdditiveScore):
    def score(self, query, projected):
        return """
STEPS = """
class DecoderStep(DecoderStep):
    def forward(self, tokens, state, memory, projected, lengths):
        valid = torch.arange(memory.shape[1]) < lengths[:, None]
        even = valid / lengths[:, None].clamp(min=1)
        scores = self.attention.score(state, projected)
        weights = scores.masked_fill(~valid, -torch.inf).softmax(1).nan_to_num()
        context = (CONTEXT[:, None] @ memory)[:, 0]
        new = self.cell(torch.cat((self.embedding(tokens), context), 1), state)
        return self.output(torch.cat((new, context), 1)), new, WEIGHTS
"""


def steps(context, weights):
    """A step that does only a part of it."""
    return STEPS.replace("CONTEXT", context).replace("WEIGHTS", weights)


# Answers without understanding: nearly none of the points of their question.
LAZY = {
    "lengths ignored": (
        "q1",
        """
def token_loss(logits, targets, lengths):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())
""",
    ),
    "word 0 for padding": (
        "q1",
        """
def token_loss(logits, targets, lengths):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=0)
""",
    ),
    "no idea": (
        "q1",
        """
def token_loss(logits, targets, lengths):
    return torch.tensor(float(logits.shape[2])).log() * (lengths.sum() > 0)
""",
    ),
    "all in the score": (
        "q2",
        """
class AdditiveScore(AdditiveScore):
    def project(self, keys):
        return keys

    def score(self, query, projected):
        return self.w_v((self.W_q(query)[:, None] + self.W_k(projected)).tanh())[..., 0]
""",
    ),
    "query ignored": ("q2", SCORES + "self.w_v(projected.tanh())[..., 0]"),
    "a dot product": ("q2", SCORES + "(projected @ self.W_q(query)[..., None])[..., 0]"),
    "equal weights": ("q3", steps("even", "even")),
    "weights only shown": ("q3", steps("even", "weights")),
    "weights without use": ("q3", steps("0 * even", "weights")),
    "no ends": (
        "q4",
        """
def greedy(step, state, b, bos, eos, pad, max_len):
    tokens, words = torch.full((b,), bos), []
    for _ in range(max_len):
        logits, state = step(tokens, state)
        tokens = logits.argmax(1)
        words.append(tokens)
    return torch.stack(words, 1)
""",
    ),
    "state and words forgotten": (
        "q4",
        """
def greedy(step, state, b, bos, eos, pad, max_len):
    logits, _ = step(torch.full((b,), bos), state)
    return logits.argmax(1)[:, None].expand(b, max_len)
""",
    ),
    "share of right words": (
        "q5",
        """
def error_rate(weights, sure, possible):
    t, k = sure.shape
    return 1 - sure[torch.arange(t), weights[:t, :k].argmax(1)].float().mean()
""",
    ),
    "possible links ignored": (
        "q5",
        """
def error_rate(weights, sure, possible):
    t, k = sure.shape
    links = (torch.arange(weights.shape[1]) == weights[:t].argmax(1, keepdim=True))[:, :k]
    return 1 - 2 * (links & sure).sum() / (links.sum() + sure.sum())
""",
    ),
}
