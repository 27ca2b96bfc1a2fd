"""Typical wrong answers: edits of the solution, each with exactly the tests that must fail."""

VALID = "valid = torch.arange(targets.shape[1]) < lengths.unsqueeze(1)"
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
STEP = "logits, state = step(tokens, state)"
KEEP = "words.append(tokens.masked_fill(done, pad))"
FINISHED = "done = done | (tokens == eos)"
ROWS = "rows = weights[:t]"
LINKS = "links = (columns == rows.argmax(dim=1, keepdim=True))[:, :k]"
HITS = "hits = (links & sure).sum() + (links & possible).sum()"
RATE = "return 1 - hits / (links.sum() + sure.sum())"
ALL = 'F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none")'

MUTANTS = {
    "padding counted": (
        (
            TOTAL,
            'total = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum")',
            MEAN,
            "return total / valid.numel()",
        ),
        {
            "test_q1_anything[logits]",
            "test_q1_anything[targets]",
            "test_q1_gradient",
            "test_q1_lengths",
            "test_q1_nothing",
            "test_q1_padding",
            "test_q1_word_zero",
        },
    ),
    "padding in the number": (
        (MEAN, "return total / valid.numel()"),
        {
            "test_q1_anything[logits]",
            "test_q1_anything[targets]",
            "test_q1_gradient",
            "test_q1_lengths",
            "test_q1_no_idea",
            "test_q1_word_zero",
        },
    ),
    "masked by a product": (
        (TOTAL, f"total = ({ALL} * valid.flatten()).sum()"),
        {"test_q1_anything[logits]", "test_q1_anything[targets]"},
    ),
    "padding found by word 0": (
        (VALID, "valid = targets != 0"),
        {"test_q1_anything[targets]", "test_q1_nothing", "test_q1_padding", "test_q1_word_zero"},
    ),
    "word 0 ignored": (
        (TOTAL, TOTAL.replace("reduction", "ignore_index=0, reduction")),
        {"test_q1_word_zero"},
    ),
    "the first token skipped": (
        (TOTAL, "valid = valid & (torch.arange(targets.shape[1]) > 0)\n    " + TOTAL),
        {
            "test_q1_anything[logits]",
            "test_q1_anything[targets]",
            "test_q1_gradient",
            "test_q1_lengths",
            "test_q1_one_length",
            "test_q1_word_zero",
        },
    ),
    "mean of the sentences' means": (
        (
            MEAN,
            "n = lengths.clamp(min=1)\n    share = (1 / n).repeat_interleave(lengths)\n    each = F.cross_entropy(logits[valid], targets[valid], reduction='none')\n    return (each * share).sum() / len(lengths)",
        ),
        {
            "test_q1_anything[logits]",
            "test_q1_anything[targets]",
            "test_q1_gradient",
            "test_q1_lengths",
            "test_q1_word_zero",
        },
    ),
    "sum, not mean": (
        (MEAN, "return total"),
        {
            "test_q1_anything[logits]",
            "test_q1_anything[targets]",
            "test_q1_gradient",
            "test_q1_lengths",
            "test_q1_no_idea",
            "test_q1_one_length",
            "test_q1_word_zero",
        },
    ),
    "NaN for nothing": ((MEAN, MEAN.replace(".clamp(min=1)", "")), {"test_q1_nothing"}),
    "loss detached": ((TOTAL, TOTAL + ".detach()"), {"test_q1_gradient"}),
    "bias": (
        (LINEAR_Q, "self.W_q = nn.Linear(query_size, hidden)"),
        {
            "test_q2_gradient",
            "test_q2_names",
            "test_q2_odd",
            "test_q2_once",
            "test_q2_values",
            "test_q3_arguments",
            "test_q3_empty_source",
            "test_q3_gradient",
            "test_q3_padding[memory]",
            "test_q3_padding[projected]",
            "test_q3_two_steps",
            "test_q3_values[logits]",
            "test_q3_values[state]",
            "test_q3_values[weights]",
        },
    ),
    "other names": (
        (
            "self.w_v = nn.Linear(hidden, 1, bias=False)",
            "self.v = nn.Linear(hidden, 1, bias=False)",
            SCORED,
            SCORED.replace("self.w_v", "self.v"),
        ),
        {
            "test_q2_gradient",
            "test_q2_names",
            "test_q2_once",
            "test_q2_values",
            "test_q3_arguments",
            "test_q3_empty_source",
            "test_q3_gradient",
            "test_q3_padding[memory]",
            "test_q3_padding[projected]",
            "test_q3_two_steps",
            "test_q3_values[logits]",
            "test_q3_values[state]",
            "test_q3_values[weights]",
        },
    ),
    "no tanh": (
        (SCORED, SCORED.replace("features.tanh()", "features")),
        {
            "test_q2_gradient",
            "test_q2_values",
            "test_q3_gradient",
            "test_q3_two_steps",
            "test_q3_values[logits]",
            "test_q3_values[state]",
            "test_q3_values[weights]",
        },
    ),
    "sigmoid": (
        (SCORED, SCORED.replace("tanh", "sigmoid")),
        {
            "test_q2_gradient",
            "test_q2_odd",
            "test_q2_values",
            "test_q3_gradient",
            "test_q3_two_steps",
            "test_q3_values[logits]",
            "test_q3_values[state]",
            "test_q3_values[weights]",
        },
    ),
    "keys projected at every step": (
        (
            "return self.W_k(keys)",
            "return keys",
            FEATURES,
            FEATURES.replace("projected", "self.W_k(projected)"),
        ),
        {
            "test_q2_once",
            "test_q2_shapes",
            "test_q3_arguments",
            "test_q3_asks_first",
            "test_q3_empty_source",
            "test_q3_gradient",
            "test_q3_padding[memory]",
            "test_q3_padding[projected]",
            "test_q3_shapes",
            "test_q3_two_steps",
            "test_q3_values[logits]",
            "test_q3_values[state]",
            "test_q3_values[weights]",
        },
    ),
    "sentences and tokens mixed up": (
        (FEATURES, FEATURES.replace("unsqueeze(1)", "unsqueeze(0)")),
        {
            "test_q2_odd",
            "test_q2_once",
            "test_q2_shapes",
            "test_q2_values",
            "test_q3_arguments",
            "test_q3_empty_source",
            "test_q3_gradient",
            "test_q3_padding[memory]",
            "test_q3_padding[projected]",
            "test_q3_shapes",
            "test_q3_two_steps",
            "test_q3_values[logits]",
            "test_q3_values[state]",
            "test_q3_values[weights]",
        },
    ),
    "query detached": (
        (FEATURES, FEATURES.replace("(query)", "(query.detach())")),
        {"test_q2_gradient"},
    ),
    "asks after the step": (
        (
            ASK,
            "asking = self.cell(torch.cat((self.embedding(tokens), memory.mean(dim=1)), dim=1), state)\n        scores = self.attention.score(asking, projected)",
        ),
        {
            "test_q3_asks_first",
            "test_q3_gradient",
            "test_q3_padding[memory]",
            "test_q3_two_steps",
            "test_q3_values[logits]",
            "test_q3_values[state]",
            "test_q3_values[weights]",
        },
    ),
    "mask forgotten": (
        (WEIGHTS, "weights = scores.softmax(dim=1) * some"),
        {
            "test_q3_gradient",
            "test_q3_padding[memory]",
            "test_q3_padding[projected]",
            "test_q3_shapes",
            "test_q3_two_steps",
            "test_q3_values[logits]",
            "test_q3_values[state]",
            "test_q3_values[weights]",
        },
    ),
    "mask inverted": (
        (WEIGHTS, WEIGHTS.replace("~valid", "valid")),
        {
            "test_q3_asks_first",
            "test_q3_gradient",
            "test_q3_padding[memory]",
            "test_q3_padding[projected]",
            "test_q3_shapes",
            "test_q3_two_steps",
            "test_q3_values[logits]",
            "test_q3_values[state]",
            "test_q3_values[weights]",
        },
    ),
    "mask after softmax": (
        (WEIGHTS, "weights = scores.softmax(dim=1) * valid"),
        {
            "test_q3_gradient",
            "test_q3_padding[projected]",
            "test_q3_shapes",
            "test_q3_two_steps",
            "test_q3_values[logits]",
            "test_q3_values[state]",
            "test_q3_values[weights]",
        },
    ),
    "weights over sentences": (
        (WEIGHTS, WEIGHTS.replace("dim=1", "dim=0")),
        {
            "test_q3_asks_first",
            "test_q3_gradient",
            "test_q3_shapes",
            "test_q3_two_steps",
            "test_q3_values[logits]",
            "test_q3_values[state]",
            "test_q3_values[weights]",
        },
    ),
    "one source token too many": (
        (TOKENS, TOKENS.replace("<", "<=")),
        {
            "test_q3_empty_source",
            "test_q3_gradient",
            "test_q3_padding[memory]",
            "test_q3_padding[projected]",
            "test_q3_shapes",
            "test_q3_two_steps",
            "test_q3_values[logits]",
            "test_q3_values[state]",
            "test_q3_values[weights]",
        },
    ),
    "NaN at an empty source": (
        (WEIGHTS, "weights = scores.masked_fill(~valid, -torch.inf).softmax(dim=1)"),
        {"test_q3_empty_source"},
    ),
    "context before the embedding": (
        (
            STATE,
            STATE.replace("self.embedding(tokens), context", "context, self.embedding(tokens)"),
        ),
        {
            "test_q3_empty_source",
            "test_q3_gradient",
            "test_q3_two_steps",
            "test_q3_values[logits]",
            "test_q3_values[state]",
        },
    ),
    "context not in the step": (
        (STATE, STATE.replace("context", "0 * context")),
        {
            "test_q3_gradient",
            "test_q3_two_steps",
            "test_q3_values[logits]",
            "test_q3_values[state]",
        },
    ),
    "logits from the old state": (
        (
            STATE,
            "old, " + STATE.replace("= self", "= state, self"),
            LOGITS,
            LOGITS.replace("cat((state", "cat((old"),
        ),
        {
            "test_q3_asks_first",
            "test_q3_empty_source",
            "test_q3_gradient",
            "test_q3_two_steps",
            "test_q3_values[logits]",
        },
    ),
    "old state handed on": (
        (
            STATE,
            "old, " + STATE.replace("= self", "= state, self"),
            LOGITS,
            LOGITS.replace("), state,", "), old,"),
        ),
        {"test_q3_asks_first", "test_q3_two_steps", "test_q3_values[state]"},
    ),
    "context before the state": (
        (LOGITS, LOGITS.replace("(state, context)", "(context, state)")),
        {"test_q3_empty_source", "test_q3_gradient", "test_q3_two_steps", "test_q3_values[logits]"},
    ),
    "logits without context": (
        (LOGITS, LOGITS.replace("(state, context)", "(state, 0 * context)")),
        {"test_q3_gradient", "test_q3_two_steps", "test_q3_values[logits]"},
    ),
    "context is the mean": (
        (CONTEXT, "context = memory.mean(dim=1)"),
        {
            "test_q3_empty_source",
            "test_q3_gradient",
            "test_q3_padding[memory]",
            "test_q3_two_steps",
            "test_q3_values[logits]",
            "test_q3_values[state]",
        },
    ),
    "context detached": ((CONTEXT, CONTEXT + ".detach()"), {"test_q3_gradient"}),
    "memory cleaned in place": (
        (CONTEXT, "memory.masked_fill_(~valid.unsqueeze(2), 0.0)\n        " + CONTEXT),
        {"test_q3_arguments", "test_q3_gradient"},
    ),
    "begins with 0": (
        (FIRST, FIRST.replace("bos", "0")),
        {"test_q4_cut_and_ended", "test_q4_ends", "test_q4_own_words", "test_q4_stops"},
    ),
    "bos kept": (
        (WHILE, "words.append(tokens)\n    " + WHILE),
        {
            "test_q4_cut",
            "test_q4_cut_and_ended",
            "test_q4_ends",
            "test_q4_one_word_for_both",
            "test_q4_own_words",
            "test_q4_padding",
            "test_q4_state",
            "test_q4_still_finished",
            "test_q4_stops",
        },
    ),
    "its own word not read": (
        (
            KEEP,
            KEEP + "\n        tokens, said = torch.full((b,), bos), tokens",
            FINISHED,
            FINISHED.replace("tokens", "said"),
        ),
        {
            "test_q4_cut_and_ended",
            "test_q4_ends",
            "test_q4_one_word_for_both",
            "test_q4_own_words",
            "test_q4_still_finished",
            "test_q4_stops",
        },
    ),
    "state forgotten": (
        (STEP, STEP.replace("logits, state", "logits, _")),
        {
            "test_q4_cut",
            "test_q4_cut_and_ended",
            "test_q4_ends",
            "test_q4_one_word_for_both",
            "test_q4_padding",
            "test_q4_state",
            "test_q4_still_finished",
            "test_q4_stops",
        },
    ),
    "no padding": (
        (KEEP, "words.append(tokens)"),
        {"test_q4_cut_and_ended", "test_q4_ends", "test_q4_padding", "test_q4_still_finished"},
    ),
    "padding is 0": (
        (KEEP, KEEP.replace("pad", "0")),
        {"test_q4_ends", "test_q4_one_word_for_both", "test_q4_padding", "test_q4_still_finished"},
    ),
    "eos becomes padding": (
        (KEEP, "words.append(tokens.masked_fill(done | (tokens == eos), pad))"),
        {
            "test_q4_cut_and_ended",
            "test_q4_ends",
            "test_q4_padding",
            "test_q4_still_finished",
            "test_q4_stops",
        },
    ),
    "stops with the first": (
        (WHILE, WHILE.replace("all", "any")),
        {
            "test_q4_cut_and_ended",
            "test_q4_ends",
            "test_q4_one_word_for_both",
            "test_q4_padding",
            "test_q4_still_finished",
        },
    ),
    "goes on to the end": ((WHILE, "while len(words) < max_len:"), {"test_q4_stops"}),
    "one word too many": (
        (WHILE, WHILE.replace("<", "<=")),
        {"test_q4_cut", "test_q4_cut_and_ended", "test_q4_own_words", "test_q4_state"},
    ),
    "wakes up again": (
        (FINISHED, "done = tokens == eos"),
        {"test_q4_ends", "test_q4_padding", "test_q4_still_finished"},
    ),
    "a second end wakes it up": (
        (FINISHED, "done = done ^ (tokens == eos)"),
        {"test_q4_still_finished"},
    ),
    "bug left in": (
        (ROWS, "rows = weights[1 : t + 1]"),
        {
            "test_q5_beyond_the_source",
            "test_q5_perfect",
            "test_q5_possible_found",
            "test_q5_possible_missed",
            "test_q5_sure_links",
            "test_q5_weak",
        },
    ),
    "eos of the source left out": (
        (LINKS, "links = (columns[:k] == rows[:, :k].argmax(dim=1, keepdim=True))"),
        {"test_q5_beyond_the_source"},
    ),
    "only large weights": (
        (LINKS, "links = rows[:, :k] > 0.5"),
        {"test_q5_beyond_the_source", "test_q5_weak"},
    ),
    "precision": (
        (RATE, "return 1 - (links & possible).sum() / links.sum()"),
        {
            "test_q5_beyond_the_source",
            "test_q5_possible_found",
            "test_q5_possible_missed",
            "test_q5_sure_links",
            "test_q5_weak",
        },
    ),
    "sure links alone": ((HITS, "hits = 2 * (links & sure).sum()"), {"test_q5_possible_found"}),
    "divided by the possible": (
        (RATE, RATE.replace("sure", "possible")),
        {"test_q5_possible_found", "test_q5_possible_missed"},
    ),
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
