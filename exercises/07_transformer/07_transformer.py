# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Exercises 7: the Transformer
#
# They belong to the chapter *The Transformer*. You need Python with torch, here or on Colab, and about 135 minutes.
#
# | question | points | minutes | difficulty | deliverable |
# |---|---|---|---|---|
# | Q1 norm and residual | 11 | 20 | ★☆☆ | `normalise`, `sublayer` |
# | Q2 a softer target | 10 | 20 | ★★☆ | `smoothed_loss`, `least_loss` |
# | Q3 a decoder that keeps its keys | 17 | 35 | ★★★ | `Decoder` |
# | Q4 laws on logits | 19 | 25 | ★★★ | `keeps_cache`, `keeps_past`, `keeps_mode` |
# | Q5 find the bug | 5 | 10 | ★★☆ | `Writer`, mended |
# | Q6 a written question | 4, by hand | 10 | ★★☆ | three to five sentences |
# | Q7 an experiment | 4, by hand | 15 | ★★☆ | a figure or a table, and what it shows |
#
# Shape letters: `b` sentences, `n` tokens that are read now, `t` tokens read before, `k` tokens of the source, `d` features, `h` heads, `v` words. Write your answers where it says so and keep the names. After each question stands a self-check. It says what is probably wrong; passing it is necessary, not sufficient: grading uses more tests and other numbers. Hand in this notebook.

# %%
STUDENT = "your name or number"  # it chooses the numbers of your self-checks

# %%
import torch
from torch import nn
from torch.nn import functional as F

# %%
### TOOLS

# %% [markdown]
# ## Q1. Norm and residual
#
# *11 points, 20 minutes, ★☆☆.* Layer norm treats each token by itself: from its $d$ features it subtracts their mean, and it divides by their spread. With $\mu$ the mean and $\sigma^2$ the mean squared distance from it, both over the features,
#
# $$ \operatorname{norm}(\mathbf{x}) = \frac{\mathbf{x} - \mu}{\sqrt{\sigma^2 + \epsilon}} \odot \mathbf{g} + \mathbf{b}. $$
#
# `x` has any number of axes; the last one holds the features. A token may lie far from zero, and all its features may be equal. Write it yourself: torch's own layer norm is not allowed here.
#
# A sub-layer surrounds a function $f$ with a norm and a residual connection: $\mathbf{x} + f(\operatorname{norm}(\mathbf{x}))$ where `norm` is `"pre"`, and $\operatorname{norm}(\mathbf{x} + f(\mathbf{x}))$ where it is `"post"`. What comes in stays as it is, and gradients must flow to `x`. So that you can try it, `bend` makes such a function. **Leave it as it is.**
#
# *Deliverable:* `normalise` and `sublayer`.


# %%
def bend(W):
    """A function of tokens (..., d), with a matrix W (d, d)."""
    return lambda x: torch.tanh(x @ W.T)


# %%
def normalise(x, gain, bias, eps=1e-5):
    """Normalised tokens (..., d) of tokens x (..., d); gain and bias (d,)."""
    ### BEGIN SOLUTION
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt() * gain + bias
    ### END SOLUTION


def sublayer(x, f, gain, bias, norm):
    """What goes on from tokens x (..., d), for norm "pre" or "post"."""
    ### BEGIN SOLUTION
    if norm == "pre":
        return x + f(normalise(x, gain, bias))
    return normalise(x + f(x), gain, bias)
    ### END SOLUTION


# %%
### CHECK q1

# %% [markdown]
# ## Q2. A softer target
#
# *10 points, 20 minutes, ★★☆.* Label smoothing takes the share $\epsilon$ from the target and spreads it evenly over **all words that can be a target**. That is every word but `pad`, the target itself included:
#
# $$ q(w) = (1 - \epsilon)\,[w = \text{target}] + \frac{\epsilon}{v - 1} \quad\text{for } w \ne \text{pad}, \qquad q(\text{pad}) = 0. $$
#
# The loss of a token is $-\sum_w q(w) \log p(w)$ in nats. `smoothed_loss` is its mean over all tokens of the batch whose target is not `pad`, and 0 if there is none. `pad` is some word of the vocabulary, not always the word 0. A model may have learned never to say it, so its logit may be as low as `-inf`; the loss is finite nevertheless. Gradients must flow to the logits.
#
# Such a loss never falls to 0. How low can it get, if the model gives each token the best $p$ there is? That is `least_loss`, for $0 \le \epsilon < 1$ and `v` words with `pad`, at least three.
#
# *Deliverable:* `smoothed_loss`, a tensor without axes, and `least_loss`, a number.


# %%
def smoothed_loss(logits, targets, epsilon, pad):
    """Mean smoothed cross-entropy of logits (b, n, v) and targets (b, n)."""
    ### BEGIN SOLUTION
    valid = targets != pad  # (b, n)
    others = torch.arange(logits.shape[2]) != pad  # (v,)
    log_p = logits[valid].log_softmax(dim=1)  # (tokens, v)
    hit = log_p.gather(1, targets[valid].unsqueeze(1)).squeeze(1)
    spread = log_p[:, others].mean(dim=1)
    total = -((1 - epsilon) * hit + epsilon * spread).sum()
    return total / valid.sum().clamp(min=1)
    ### END SOLUTION


def least_loss(epsilon, v):
    """The lowest value that `smoothed_loss` can have, for any targets."""
    ### BEGIN SOLUTION
    q = torch.full((v - 1,), epsilon / (v - 1), dtype=torch.float64)
    q[0] += 1 - epsilon
    return -float(torch.xlogy(q, q).sum())  # 0 log 0 is 0 here
    ### END SOLUTION


# %%
### CHECK q2

# %% [markdown]
# ## Q3. A decoder that keeps its keys
#
# *17 points, 35 minutes, ★★★.* A translator's decoder, with one pre-norm block. It is asked in two moves. `start` looks at the `memory`, the encoder's output, and gives the state before the first token; `step` reads the **next** tokens, one or several, and gives the logits of the word after each of them, and the next state:
#
# 1. `x`: the tokens' embedding, times $\sqrt d$, plus the rows of `places` for **where they stand** in the sentence, counted from 0;
# 2. `norm_1`, then attention to the token itself and all before it (`own_q`, `own_k`, `own_v`, and `own_o` for what comes out), added to `x`;
# 3. `norm_2`, then attention to the `lengths[i]` valid tokens of the memory (`mem_q`, `mem_k`, `mem_v`, `mem_o`), added to `x`; the memory itself is normalised already;
# 4. `norm_3`, then `wide`, a ReLU and `narrow`, added to `x`;
# 5. `norm_4`, then the logits, by the embedding's own matrix.
#
# All heads of one attention are done by `attend`, which is given, and so are the layers.
#
# The law: **however a sentence is cut into steps, the logits are those of one step.** And nothing is projected twice: the memory's keys and values are computed in `start`, a token's in the step that reads it. A state is a tuple of tensors whose contents are your choice. A state that came in stays as it is: a beam search goes back to it. Padding of the memory may hold any finite numbers; every source has at least one token. Gradients must flow from the logits to the memory.
#
# *Deliverable:* `start` and `step` of `Decoder`.


# %%
def attend(q, k, v, h, mask):
    """Output (b, q, d) of h heads; mask (q, k) or (b, q, k), True where a query may attend."""
    q, k, v = (x.unflatten(2, (h, -1)).transpose(1, 2) for x in (q, k, v))
    read = F.scaled_dot_product_attention(q, k, v, attn_mask=mask.unsqueeze(-3))
    return read.transpose(1, 2).flatten(2)


# %%
class Decoder(nn.Module):
    """Logits (b, n, v) after each of the tokens ids (b, n), for a memory (b, k, d)."""

    def __init__(self, v, d, h, f):
        super().__init__()
        self.d, self.h = d, h
        self.embedding = nn.Embedding(v, d)
        self.places = nn.Parameter(torch.randn(64, d))
        for name in ("own_q", "own_k", "own_v", "own_o", "mem_q", "mem_k", "mem_v", "mem_o"):
            setattr(self, name, nn.Linear(d, d, bias=False))
        self.norm_1, self.norm_2, self.norm_3, self.norm_4 = (nn.LayerNorm(d) for _ in range(4))
        self.wide, self.narrow = nn.Linear(d, f), nn.Linear(f, d)

    def start(self, memory, lengths):
        """The state before the first token, for memory (b, k, d) and lengths (b,)."""
        ### BEGIN SOLUTION
        valid = torch.arange(memory.shape[1]) < lengths.unsqueeze(1)  # (b, k)
        none = memory[:, :0]  # (b, 0, d): no token has been read
        return self.mem_k(memory), self.mem_v(memory), valid, none, none
        ### END SOLUTION

    def step(self, ids, state):
        """Logits (b, n, v) and the new state."""
        ### BEGIN SOLUTION
        mem_k, mem_v, valid, own_k, own_v = state
        t, n = own_k.shape[1], ids.shape[1]
        x = self.embedding(ids) * self.d**0.5 + self.places[t : t + n]
        y = self.norm_1(x)
        own_k = torch.cat((own_k, self.own_k(y)), dim=1)  # (b, t + n, d)
        own_v = torch.cat((own_v, self.own_v(y)), dim=1)
        past = torch.ones(n, t + n, dtype=torch.bool).tril(t)
        x = x + self.own_o(attend(self.own_q(y), own_k, own_v, self.h, past))
        asked = self.mem_q(self.norm_2(x))
        x = x + self.mem_o(attend(asked, mem_k, mem_v, self.h, valid.unsqueeze(1)))
        x = x + self.narrow(self.wide(self.norm_3(x)).relu())
        logits = self.norm_4(x) @ self.embedding.weight.T
        return logits, (mem_k, mem_v, valid, own_k, own_v)
        ### END SOLUTION

    def forward(self, ids, memory, lengths):
        """All tokens in one step, as in training."""
        return self.step(ids, self.start(memory, lengths))[0]


# %%
### CHECK q3

# %% [markdown]
# ## Q4. Laws on logits
#
# *19 points, 25 minutes, ★★★.* A bug that raises nothing can live for years, since a network learns to live with it. But there are laws that every trained or untrained decoder keeps. `model(ids, state)` gives logits (b, n, v) and the next state; without a state it starts. It has no dropout. Write a function for each law, True where the model keeps it, as far as these `ids` (b, n) can show:
#
# - `keeps_cache`: in evaluation mode, the ids read in pieces have the logits of the ids read at once, **however** they are cut;
# - `keeps_past`: in evaluation mode, the ids read at once: an id that is changed changes no logits **before** it, wherever it stands;
# - `keeps_mode`: the ids read at once have the same logits in training mode and in evaluation mode.
#
# The models here have rounding errors of some $10^{-5}$, and each of their bugs moves some logit by more than $10^{-2}$. You need not try every cut of a sentence, but think about which bug would hide from the cuts that you try. **Leave the model in the mode in which you found it.**
#
# So that you can try it, `suspect`, which stands with the tools above, makes such models, sound ones and others: tokens read their average. `place` decides which places tokens get that come after a state (t tokens were read before, in so many calls); `peek` says who sees what besides the past, in evaluation (first table) and in training (second table). You cannot look into a model, only ask it.
#
# *Deliverable:* `keeps_cache`, `keeps_past` and `keeps_mode`.


# %%
def keeps_cache(model, ids):
    """True if ids (b, n) in pieces have the logits of ids at once."""
    ### BEGIN SOLUTION
    training = model.training
    model.eval()
    whole, _ = model(ids)
    kept = True
    for cut in range(1, ids.shape[1]):
        first, state = model(ids[:, :cut])
        last, _ = model(ids[:, cut:], state)
        pieces = torch.cat((first, last), dim=1)
        kept = kept and alike(pieces, whole)
    model.train(training)
    return kept
    ### END SOLUTION


def keeps_past(model, ids):
    """True if an id changes no logits before it."""
    ### BEGIN SOLUTION
    training = model.training
    model.eval()
    whole, _ = model(ids)
    kept = True
    for place in range(1, ids.shape[1]):
        other = ids.clone()
        other[:, place] = (ids[:, place] + 1) % whole.shape[2]
        moved, _ = model(other)
        kept = kept and alike(moved[:, :place], whole[:, :place])
    model.train(training)
    return kept
    ### END SOLUTION


def keeps_mode(model, ids):
    """True if training and evaluation have the same logits."""
    ### BEGIN SOLUTION
    training = model.training
    trained, _ = model.train()(ids)
    tested, _ = model.eval()(ids)
    model.train(training)
    return alike(trained, tested)


def alike(a, b):
    """True if logits differ by rounding errors at most."""
    return bool((a - b).abs().max() < 1e-3)
    ### END SOLUTION


# %%
### CHECK q4

# %% [markdown]
# ## Q5. Find the bug
#
# *5 points, 10 minutes, ★★☆.* `Writer` is a language model of one post-norm block, and it is asked as the models of Q4 are. It learned well, its loss was right to the last digit, and what it wrote was disappointing. **One line is wrong**, and nothing is raised. Your laws say where to look: try them on `Writer(7, 8, 2, 16)` once you have removed the line that raises. Mend it. A state that came in stays as it is.
#
# *Deliverable:* `Writer`, with one line changed.


# %%
class Writer(nn.Module):
    """Logits (b, n, v) after each of the tokens ids (b, n), and the new state."""

    def __init__(self, v, d, h, f):
        super().__init__()
        self.h = h
        self.embedding = nn.Embedding(v, d)
        self.places = nn.Parameter(torch.randn(64, d))
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d, d, bias=False))
        self.norm_1, self.norm_2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.wide, self.narrow = nn.Linear(d, f), nn.Linear(f, d)

    def forward(self, ids, state=None):
        ### BEGIN SOLUTION
        n = ids.shape[1]
        seen = 0 if state is None else state[0].shape[1]
        x = self.embedding(ids) * self.embedding.embedding_dim**0.5
        x = x + self.places[seen : seen + n]
        keys, values = self.W_k(x), self.W_v(x)
        if state is not None:
            keys = torch.cat((state[0], keys), dim=1)
            values = torch.cat((state[1], values), dim=1)
        row = torch.arange(keys.shape[1])
        mask = row <= row[-n:].unsqueeze(1)  # the last n rows are those of ids
        x = self.norm_1(x + self.W_o(attend(self.W_q(x), keys, values, self.h, mask)))
        x = self.norm_2(x + self.narrow(self.wide(x).relu()))
        return x @ self.embedding.weight.T, (keys, values)
        ### END SOLUTION
        ### BEGIN RELEASED
        #| raise NotImplementedError  # remove this line when you have mended the model
        #| n = ids.shape[1]
        #| seen = 0 if state is None else len(state[0])
        #| x = self.embedding(ids) * self.embedding.embedding_dim**0.5
        #| x = x + self.places[seen : seen + n]
        #| keys, values = self.W_k(x), self.W_v(x)
        #| if state is not None:
        #|     keys = torch.cat((state[0], keys), dim=1)
        #|     values = torch.cat((state[1], values), dim=1)
        #| row = torch.arange(keys.shape[1])
        #| mask = row <= row[-n:].unsqueeze(1)  # the last n rows are those of ids
        #| x = self.norm_1(x + self.W_o(attend(self.W_q(x), keys, values, self.h, mask)))
        #| x = self.norm_2(x + self.narrow(self.wide(x).relu()))
        #| return x @ self.embedding.weight.T, (keys, values)
        ### END RELEASED


# %%
### CHECK q5

# %% [markdown]
# ## Q6. In words
#
# *4 points, 10 minutes, ★★☆.* A much-read implementation of the Transformer had three bugs for years: embeddings drawn from N(0, 1) and multiplied by $\sqrt d$, so that they drown the sinusoids added to them; the position 0 for every token when it decodes step by step; the future masked in training mode only. After long training it translates its examples without a mistake. "Then they don't matter", says a colleague. Why do such scores hide the bugs? Which law or measurement, without any training, shows each of the three? And which number that is reported beside the scores is wrong, however good the translations are?
#
# *Deliverable:* three to five sentences in the cell below, after the colon.

# %% [markdown]
# **Answer Q6:**
#
# ### BEGIN SOLUTION
# A score of the task looks at the likeliest word alone, so logits may be far off as long as the same word wins; and training works around a bug that it meets, for instance by taking the order of words from the source instead of from the positions. Reading one by one and at once must give the same logits, which position 0 breaks; a later token must change no earlier logits in evaluation mode (and both modes must agree without dropout), which the missing mask breaks. For the embeddings compare the two summands before training: with $d = 256$ a sinusoid's mean square is 1/2 beside 256, so a token's vector is nearly the same wherever it stands. The validation loss is wrong: in evaluation mode each place looks at the very words that it is to predict, so it is not the loss of a model that writes from left to right, and neither a stopping time nor a choice between models may rest on it.
#
# *Rubric, 4 points:* scores see only the winner of the argmax, or training adapts to the bug (1); cached = uncached for the positions, and no future in the past, or evaluation = training, for the mask (1); a measurement for the embeddings, such as the mean squares of both summands (1); the validation loss, since it is computed with the future in sight (1).
# ### END SOLUTION

# %% [markdown]
# ## Q7. An experiment of your own
#
# *4 points, 15 minutes, ★★☆.* Ask a question about norms, smoothing or laws that a run can answer, and answer it with your functions from above. Say beforehand what you expect, and what would show you wrong. Change one thing, keep something beside it to compare with, and repeat with three seeds what depends on chance. Take a question of your own, or one of these: what happens to the size of the tokens in a deep stack with norms before, and with norms after? How does the least loss grow with the share that is smoothed?
#
# *Deliverable:* a figure or a table from the code cell below, and after the colon your question, what you expected, what came out, and what that does not show.

# %%
### EXPERIMENT: a person reads this cell and its output; grading does not run it
### BEGIN SOLUTION
print("layers  mean square with pre, with post")
for layers in (1, 4, 16, 64):
    row = []
    for norm in ("pre", "post"):
        squares = []
        for seed in range(3):
            torch.manual_seed(seed)
            x, one, zero = torch.randn(10, 32), torch.ones(32), torch.zeros(32)
            for _ in range(layers):
                x = sublayer(x, bend(torch.randn(32, 32) / 32**0.5), one, zero, norm)
            squares.append(x.square().mean())
        row.append(f"{sum(squares) / 3:6.1f}")
    print(f"{layers:6} ", *row)
### END SOLUTION

# %% [markdown]
# **Answer Q7:**
#
# ### BEGIN SOLUTION
# What does a deep stack do to the size of its tokens? I expected growth with the number of layers where the norm comes before, and none where it comes after. Everything else is the same in both columns, three seeds each. Pre grows about in proportion to the number of layers, since each adds something of the same size that nothing takes away; post has a mean square of 1 at every depth, as its last step says. The layers are random, and nothing here tells which of the two trains better.
#
# *Rubric, 4 points:* a question, and an expectation that the run could have refuted (1); one thing changed, something to compare with, and three seeds where there is chance (1); a figure or table that can be read without the text (1); a conclusion that says what was seen and no more, with one limit of it (1).
# ### END SOLUTION
