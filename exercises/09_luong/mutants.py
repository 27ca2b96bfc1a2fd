"""Typical wrong answers: edits of the solution, each with a test that must fail."""

DOT = "return s @ h.mT  # (b, q, d) @ (b, d, k)"
GENERAL = "return s @ W @ h.mT"
HIDDEN = "hidden = (torch.cat((states, tokens), dim=3) @ W.T).tanh()"
CONCAT = "return hidden @ w"
JOIN = "self.join = nn.Linear(2 * d, d, bias=False)"
FEED = "x = torch.cat((x, vector), dim=1)  # (b, embed + d)"
FED = "if self.feed:"
CELL = "self.cell = nn.GRUCell(embed + d if feed else embed, d)"
STEP = "state = self.cell(x, state)"
LOOK = 'scores = score(state.unsqueeze(1), memory, "dot").squeeze(1)  # (b, k)'
SOFTMAX = "weights = scores.masked_fill(~valid, -torch.inf).softmax(dim=1)"
VECTOR = "vector = self.join(torch.cat((context, state), dim=1)).tanh()"
ANSWER = "return self.output(vector), state, vector, weights"
FAR = "far = torch.arange(k) - centres.unsqueeze(2)"
NEAR = "near = (-radius <= far) & (far <= radius)"
MASK = "return near & (torch.arange(k) < lengths[:, None, None])"
ENDS = "first, after = max(0, t - radius), min(k, t + radius + 1)"
PAIRS = "pairs += max(0, after - first)"
SHARE = "share = ((s @ W.T).tanh() @ v).sigmoid()"
CENTRES = "return lengths.unsqueeze(1) * share"
LOG_BELL = "log_bell = -((torch.arange(k) - centres.unsqueeze(2)) ** 2) / (2 * (radius / 2) ** 2)"
ADDED = "scores = scores + log_bell"
WEIGHTS = "weights = scores.masked_fill(~mask & some, -torch.inf).softmax(dim=2) * some"
AFTER = 'if bell == "weights":'
TIMES = "weights = weights * log_bell.exp()"
LENGTH = "(places < S)"
LOCAL = "weights = scores.masked_fill(~inside, -torch.inf).softmax(dim=2) * bell"
BOTH = "both = torch.cat((weights @ memory, s), dim=2)"

MUTANTS = {
    "scaled": ("test_q1_formula[dot]", DOT, "return s @ h.mT / s.shape[2] ** 0.5"),
    "W the other way round": (
        "test_q1_formula[general]",
        GENERAL,
        GENERAL.replace("@ W @", "@ W.T @"),
    ),
    "the encoder's state first": (
        "test_q1_formula[concat]",
        HIDDEN,
        HIDDEN.replace("(states, tokens)", "(tokens, states)"),
    ),
    "no tanh in concat": ("test_q1_unit_vectors", HIDDEN, HIDDEN.replace(".tanh()", "")),
    "W cut in halves": (
        "test_q1_sizes[concat]",
        HIDDEN,
        "half = W.shape[1] // 2\n"
        "    hidden = (states @ W[:, :half].T + tokens @ W[:, half:].T).tanh()",
    ),
    "squeezed": ("test_q1_one_of_each", CONCAT, "return (hidden @ w).squeeze()"),
    "states detached": (
        "test_q1_gradient",
        HIDDEN,
        HIDDEN.replace("states, tokens", "states.detach(), tokens"),
    ),
    "moved in place": (
        "test_q1_formula[dot]",
        DOT,
        "fit = s @ h.mT\n        s += 1e-3\n        return fit",
    ),
    "Bahdanau's order": (
        "test_q2_steps_first",
        STEP,
        "old, state = state, self.cell(x, state)",
        LOOK,
        LOOK.replace("state.unsq", "old.unsq"),
    ),
    "the old state goes on": (
        "test_q2_state",
        STEP,
        "old, state = state, self.cell(x, state)",
        ANSWER,
        ANSWER.replace("state, vector", "old, vector"),
    ),
    "state before context": (
        "test_q2_vector",
        VECTOR,
        VECTOR.replace("(context, state)", "(state, context)"),
    ),
    "no tanh on the vector": ("test_q2_shapes", VECTOR, VECTOR.replace(".tanh()", "")),
    "the logits read the state": (
        "test_q2_values[logits]",
        ANSWER,
        ANSWER.replace("output(vector)", "output(state)"),
    ),
    "the context is handed on": (
        "test_q2_two_steps",
        ANSWER,
        ANSWER.replace("state, vector", "state, context"),
    ),
    "nothing is fed": ("test_q2_feeding", FEED, FEED.replace("vector)", "0 * vector)")),
    "the vector before the token": (
        "test_q2_state",
        FEED,
        FEED.replace("(x, vector)", "(vector, x)"),
    ),
    "always fed": (
        "test_q2_without_feeding",
        FED,
        "if True:",
        CELL,
        "self.cell = nn.GRUCell(embed + d, d)",
    ),
    "masked by a number that is added": (
        "test_q2_padding",
        SOFTMAX,
        "weights = (scores - 200 * ~valid).softmax(dim=1)",
    ),
    "masked after the softmax": (
        "test_q2_shapes",
        SOFTMAX,
        "weights = scores.softmax(dim=1) * valid",
    ),
    "a bias in join": ("test_q2_names", JOIN, "self.join = nn.Linear(2 * d, d)"),
    "the fed vector detached": (
        "test_q2_gradient",
        FEED,
        FEED.replace("vector)", "vector.detach())"),
    ),
    "the state overwritten": (
        "test_q2_arguments",
        STEP,
        "new = self.cell(x, state)\n        state.data.copy_(new.data)\n        state = new",
    ),
    "open at its ends": (
        "test_q3_window",
        NEAR,
        "near = (-radius < far) & (far < radius)",
    ),
    "pushed inward": (
        "test_q3_ends",
        FAR,
        "far = torch.arange(k) - centres.clamp(radius, k - 1 - radius).unsqueeze(2)",
    ),
    "round the corner": (
        "test_q3_ends",
        FAR,
        FAR + "\n    far = (far + k / 2) % k - k / 2",
    ),
    "centres cut to a whole place": (
        "test_q3_between",
        FAR,
        FAR.replace("centres", "centres.floor()"),
    ),
    "centres kept in the sentence": (
        "test_q3_outside",
        FAR,
        FAR.replace("centres", "centres.clamp(0, k - 1)"),
    ),
    "centres moved in place": (
        "test_q3_window",
        MASK,
        "mask = near & (torch.arange(k) < lengths[:, None, None])\n    centres += 1\n    return mask",
    ),
    "padding may be seen": ("test_q3_lengths", MASK, "return near"),
    "at least one neighbour": (
        "test_q3_radius_zero",
        FAR,
        FAR + "\n    radius = max(radius, 1)",
    ),
    "every window full": (
        "test_q3_all_or_no_more",
        PAIRS,
        "pairs += 2 * radius + 1",
    ),
    "less than nothing past the end": (
        "test_q3_scored_pairs[target]",
        PAIRS,
        "pairs += after - first",
    ),
    "one place short": (
        "test_q3_diagonal",
        ENDS,
        ENDS.replace("radius + 1)", "radius)"),
    ),
    "cut at the end alone": (
        "test_q3_scored_pairs[source]",
        ENDS,
        ENDS.replace("max(0, t - radius)", "t - radius"),
    ),
    "no tanh before v": ("test_q4_predict", SHARE, SHARE.replace(".tanh()", "")),
    "the longest sentence's length": (
        "test_q4_own_length",
        CENTRES,
        "return lengths.max() * share",
    ),
    "from the first place to the last": (
        "test_q4_middle",
        CENTRES,
        "return (lengths.unsqueeze(1) - 1) * share",
    ),
    "the share detached": ("test_q4_predict_gradient", CENTRES, CENTRES + ".detach()"),
    "a bell of another width": (
        "test_q4_weights[weights]",
        LOG_BELL,
        LOG_BELL.replace("(radius / 2)", "(radius / 4)"),
    ),
    "the bell times the scores": (
        "test_q4_weights[scores]",
        ADDED,
        "scores = scores * log_bell.exp()",
    ),
    "scores moved in place": (
        "test_q4_weights[scores]",
        ADDED,
        "scores.data.add_(log_bell.data)",
    ),
    "divided again": (
        "test_q4_two_bells",
        TIMES,
        TIMES + "\n        weights = weights / weights.sum(dim=2, keepdim=True).clamp(min=1e-9)",
    ),
    "always a bell": ("test_q4_weights[None]", AFTER, 'if bell != "scores":'),
    "the window after the softmax": (
        "test_q4_large",
        WEIGHTS,
        "weights = scores.softmax(dim=2) * mask",
    ),
    "NaN of an empty window": (
        "test_q4_empty[rows]",
        WEIGHTS,
        "weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=2)",
    ),
    "0 / 0 under a where": (
        "test_q4_empty[gradient]",
        WEIGHTS,
        "e = (scores - scores.amax(dim=2, keepdim=True)).exp() * mask\n"
        "    weights = torch.where(some, e / e.sum(dim=2, keepdim=True), 0.0)",
    ),
    "exponentials overflow": (
        "test_q4_large",
        WEIGHTS,
        "weights = torch.where(mask, scores, 0.0).exp() * mask\n"
        "    weights = weights / weights.sum(dim=2, keepdim=True).clamp(min=1e-30)",
    ),
    "the centre detached": (
        "test_q4_gradient",
        LOG_BELL,
        LOG_BELL.replace("centres.", "centres.detach()."),
    ),
    "bug left in": (
        "test_q5_middle",
        LOCAL,
        "weights = scores.softmax(dim=2) * bell * inside",
    ),
    "a place of padding in sight": (
        "test_q5_padding",
        LENGTH,
        "(places <= S)",
    ),
    "rows divided by their sum": (
        "test_q5_values[weights]",
        LOCAL,
        LOCAL + "\n        weights = weights / weights.sum(dim=2, keepdim=True)",
    ),
    "the state before the context": (
        "test_q5_values[vectors]",
        BOTH,
        "both = torch.cat((s, weights @ memory), dim=2)",
    ),
}

# Correct, and different: full marks.
CORRECT = {
    "by einsum": """
def score(s, h, how, W=None, w=None):
    if how == "concat":
        d = s.size(-1)
        of_s, of_h = s @ W[:, :d].t(), h @ W[:, d:].t()
        return torch.einsum("bqka,a->bqk", torch.tanh(of_s[:, :, None] + of_h[:, None]), w)
    projected = h if how == "dot" else torch.einsum("de,bke->bkd", W, h)
    return torch.einsum("bqd,bkd->bqk", s, projected)


class LuongStep(nn.Module):
    def __init__(self, v, embed, d, feed):
        super().__init__()
        self.cell = nn.GRUCell(embed + d * bool(feed), d)
        self.embedding, self.output = nn.Embedding(v, embed), nn.Linear(d, v)
        self.join, self.feed = nn.Linear(d + d, d, False), feed

    def forward(self, tokens, state, vector, memory, lengths):
        read = [self.embedding(tokens)] + [vector] * bool(self.feed)
        new = self.cell(torch.hstack(read), state)
        fits = torch.einsum("bd,bkd->bk", new, memory)
        past_end = torch.arange(memory.size(1))[None] >= lengths[:, None]
        fits[past_end] = float("-inf")
        alpha = fits.softmax(-1)
        joined = torch.hstack((torch.einsum("bk,bkd->bd", alpha, memory), new))
        made = torch.tanh(self.join(joined))
        return self.output(made), new, made, alpha


def window(centres, lengths, k, radius):
    j = torch.arange(k).view(1, 1, k)
    middle = centres[..., None]
    return (j >= middle - radius).logical_and(j <= middle + radius).logical_and(j < lengths.view(-1, 1, 1))


def scored_pairs(q, k, radius):
    t, j = torch.arange(q)[:, None], torch.arange(k)
    return int(((t - j).abs() <= radius).sum())


def predict(s, lengths, W, v):
    inner = torch.tanh(torch.einsum("ad,bqd->bqa", W, s))
    return torch.sigmoid(torch.einsum("bqa,a->bq", inner, v)).mul(lengths[:, None])


def local_weights(scores, centres, lengths, radius, bell=None):
    seen = window(centres, lengths, scores.size(2), radius)
    z = (torch.arange(scores.size(2)) - centres[..., None]) * 2 / radius
    gauss = torch.exp(-0.5 * z * z)
    if bell == "scores":
        scores = scores - 0.5 * z * z
    weights = scores.masked_fill(~seen, torch.finfo(scores.dtype).min).softmax(2).masked_fill(~seen, 0.0)
    return gauss * weights if bell == "weights" else weights


class PredictiveAttention(PredictiveAttention):
    def forward(self, s, memory, lengths):
        mu = predict(s, lengths, self.W_p.weight, self.v_p.weight[0])
        fits = torch.einsum("bqd,bkd->bqk", s, memory)
        weights = local_weights(fits, mu, lengths, self.radius, "weights")
        read = torch.einsum("bqk,bkd->bqd", weights, memory)
        return self.W_c(torch.cat([read, s], -1)).tanh(), weights
""",
    "by loops": """
def score(s, h, how, W=None, w=None):
    sentences = []
    for states, tokens in zip(s, h):
        rows = []
        for state in states:
            if how == "dot":
                rows.append(tokens @ state)
            elif how == "general":
                rows.append(tokens @ (state @ W))
            else:
                rows.append(torch.stack([torch.dot(w, torch.tanh(W @ torch.cat([state, token]))) for token in tokens]))
        sentences.append(torch.stack(rows))
    return torch.stack(sentences)


class LuongStep(nn.Module):
    def __init__(self, v, embed, d, feed):
        super().__init__()
        self.embedding = nn.Embedding(v, embed)
        self.cell = nn.GRUCell(embed, d)
        if feed:
            self.cell = nn.GRUCell(embed + d, d)
        self.join = nn.Linear(2 * d, d, bias=False)
        self.output = nn.Linear(d, v)
        self.feed = feed

    def forward(self, tokens, state, vector, memory, lengths):
        word = self.embedding(tokens)
        h = self.cell(torch.cat([word, vector], -1), state) if self.feed else self.cell(word, state)
        contexts, all_weights = [], []
        for i in range(len(tokens)):
            n = int(lengths[i])
            row = (memory[i, :n] @ h[i]).softmax(0)
            contexts.append(row @ memory[i, :n])
            all_weights.append(nn.functional.pad(row, (0, memory.shape[1] - n)))
        att = torch.tanh(self.join(torch.cat([torch.stack(contexts), h], -1)))
        return self.output(att), h, att, torch.stack(all_weights)


def window(centres, lengths, k, radius):
    out = torch.zeros(len(centres), centres.shape[1], k).bool()
    for i, row in enumerate(centres.tolist()):
        for t, mu in enumerate(row):
            for j in range(min(k, int(lengths[i]))):
                out[i, t, j] = abs(j - mu) <= radius
    return out


def scored_pairs(q, k, radius):
    return sum(1 for t in range(q) for j in range(k) if t - radius <= j <= t + radius)


def predict(s, lengths, W, v):
    out = []
    for i in range(len(s)):
        out.append(torch.stack([int(lengths[i]) * torch.sigmoid(v @ torch.tanh(W @ x)) for x in s[i]]))
    return torch.stack(out)


def local_weights(scores, centres, lengths, radius, bell=None):
    b, q, k = scores.shape
    allowed = window(centres.detach(), lengths, k, radius)
    rows = []
    for i in range(b):
        for t in range(q):
            row, places = scores[i, t], allowed[i, t].nonzero()[:, 0]
            if len(places) == 0:
                rows.append(0 * row)
                continue
            penalty = (places - centres[i, t]) ** 2 / (radius * radius / 2)
            fit = row[places]
            if bell == "scores":
                fit = fit - penalty
            share = fit.softmax(0)
            if bell == "weights":
                share = share * torch.exp(-penalty)
            rows.append(torch.zeros(k).scatter(0, places, share))
    return torch.stack(rows).view(b, q, k)


class PredictiveAttention(PredictiveAttention):
    def forward(self, s, memory, lengths):
        vectors, weights = [], torch.zeros(s.shape[0], s.shape[1], memory.shape[1])
        for i, n in enumerate(lengths.tolist()):
            for t in range(s.shape[1]):
                mu = n * torch.sigmoid(self.v_p(torch.tanh(self.W_p(s[i, t]))))
                low, high = max(0, int((mu - self.radius).ceil())), min(n, int((mu + self.radius).floor()) + 1)
                near = memory[i, low:high]
                row = (memory[i, :n] @ s[i, t]).softmax(0)[low:high]  # of all tokens of the sentence
                row = row * torch.exp(-2 * ((torch.arange(low, high) - mu) / self.radius) ** 2)
                weights[i, t, low:high] = row
                vectors.append(torch.tanh(self.W_c(torch.cat([row @ near, s[i, t]]))))
        return torch.stack(vectors).view(s.shape), weights
""",
}

# Without understanding: functions of the solution redefined, with next to no points.
LAZY = {
    "dot whatever is asked": ("q1", "def score(s, h, how, W=None, w=None): return s @ h.mT"),
    "no product": (
        "q1",
        "def score(s, h, how, W=None, w=None): return s.sum(2, keepdim=True) + h.sum(2)[:, None]",
    ),
    "a decoder that looks nowhere": (
        "q2",
        """
class LuongStep(LuongStep):
    def forward(self, tokens, state, vector, memory, lengths):
        x = self.embedding(tokens)
        state = self.cell(torch.cat((x, vector), dim=1) if self.feed else x, state)
        weights = (torch.arange(memory.shape[1]) < lengths[:, None]) / lengths[:, None]
        context = (weights[:, None] @ memory).squeeze(1)
        vector = self.join(torch.cat((context, state), dim=1)).tanh()
        return self.output(vector), state, vector, weights
""",
    ),
    "a decoder that looks wherever memory is large": (
        "q2",
        """
class LuongStep(LuongStep):
    def forward(self, tokens, state, vector, memory, lengths):
        x = self.embedding(tokens)
        state = self.cell(torch.cat((x, vector), dim=1) if self.feed else x, state)
        hidden = torch.arange(memory.shape[1]) >= lengths[:, None]
        weights = (memory.sum(2) + state.sum(1, True) * memory[:, :, 0]).masked_fill(hidden, -1e9).softmax(1)
        return self.output(state), state, state.tanh(), weights
""",
    ),
    "all tokens are near": (
        "q3",
        """
def window(centres, lengths, k, radius):
    return (torch.arange(k) < lengths[:, None, None]).expand(*centres.shape, k)
def scored_pairs(q, k, radius): return min(q, k) * min(k, 2 * radius + 1)
""",
    ),
    "no end": (
        "q3",
        """
def window(centres, lengths, k, radius):
    return (torch.arange(k) - centres[:, :, None]).abs() <= radius
def scored_pairs(q, k, radius): return min(q * k, q * (2 * radius + 1))
""",
    ),
    "the middle, and a plain softmax": (
        "q4",
        """
def predict(s, lengths, W, v): return (lengths / 2)[:, None].expand(s.shape[:2])
def local_weights(scores, centres, lengths, radius, bell=None):
    return scores.masked_fill(torch.arange(scores.shape[2]) >= lengths[:, None, None], -1e9).softmax(2)
""",
    ),
    "no tanh, and equal shares": (
        "q4",
        """
def predict(s, lengths, W, v): return lengths[:, None] * (s @ W.T @ v).sigmoid()
def local_weights(scores, centres, lengths, radius, bell=None):
    mask = window(centres, lengths, scores.shape[2], radius)
    return mask / mask.sum(2, keepdim=True).clamp(min=1)
""",
    ),
    "weights of nothing": (
        "q5",
        """
class PredictiveAttention(PredictiveAttention):
    def forward(self, s, memory, lengths):
        weights = torch.zeros(*s.shape[:2], memory.shape[1])
        return self.W_c(torch.cat((weights @ memory, s), dim=2)).tanh(), weights
""",
    ),
    "the bell alone": (
        "q5",
        """
class PredictiveAttention(PredictiveAttention):
    def forward(self, s, memory, lengths):
        places, S = torch.arange(memory.shape[1]), lengths[:, None, None]
        far = places - S * self.v_p(self.W_p(s).tanh()).sigmoid()
        weights = (-2 * (far / self.radius) ** 2).exp() * (far.abs() <= self.radius) * (places < S)
        return self.W_c(torch.cat((weights @ memory, s), dim=2)).tanh(), weights
""",
    ),
}
