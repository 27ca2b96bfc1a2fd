# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Exercises 8: a language model
#
# They belong to the chapter *The Transformer today: a language model*. You need Python with torch, here or on Colab, and about 130 minutes.
#
# | question | points | minutes | difficulty | deliverable |
# |---|---|---|---|---|
# | Q1 two parts of a block | 13 | 25 | ★★☆ | `rms_norm`, `turn` |
# | Q2 heads that share keys | 14 | 30 | ★★★ | `grouped`, `cache_bytes` |
# | Q3 what may be drawn | 10 | 25 | ★★☆ | `top_p`, `min_p` |
# | Q4 a loss for each character | 8 | 15 | ★★☆ | `per_character` |
# | Q5 find the bug | 5 | 10 | ★★☆ | `CachedAttention`, mended |
# | Q6 a written question | 4, by hand | 10 | ★★☆ | three to six sentences |
# | Q7 an experiment | 4, by hand | 15 | ★★☆ | a figure or a table, and what it shows |
#
# Shape letters: `b` sentences, `n` tokens that are read now, `t` tokens read before, `k` keys, `d` features, `h` heads of queries, `g` heads of keys and values, `p` features of a head, `v` tokens in the vocabulary. Write your answers where it says so and keep the names. After each question stands a self-check. It says what is probably wrong; passing it is necessary, not sufficient: grading uses more tests and other numbers. Hand in this notebook.

# %%
STUDENT = "your name or number"  # it chooses the numbers of your self-checks

# %%
import torch
from torch import nn

# %%
### TOOLS

# %% [markdown]
# ## Q1. Two parts of a block
#
# *13 points, 25 minutes, ★★☆.* RMS norm is layer norm without the mean: a token is divided by the root of the mean square of its $d$ features, and nothing is subtracted or added,
#
# $$ \operatorname{rms}(\mathbf{x}) = \frac{\mathbf{x}}{\sqrt{\tfrac1d \sum_i x_i^2 + \epsilon}} \odot \mathbf{g}. $$
#
# `x` has any number of axes; the last one holds the features. Gradients must flow to `x`. Write it yourself: torch's own is not allowed here.
#
# Rotary positions turn each pair of neighbouring features, $(x_{2f}, x_{2f+1})$ with $f = 0, 1, \dots$, by an angle that grows with the token's place $i$: the angle is $i \cdot 10000^{-2f/p}$ radians, and $(1, 0)$ becomes $(\cos, \sin)$ of it. `x` is `(..., n, p)`, $p$ is even, and its tokens stand at the places `first`, `first + 1`, and so on: a model that keeps its keys has read `first` tokens before.
#
# *Deliverable:* `rms_norm` and `turn`.


# %%
def rms_norm(x, gain, eps=1e-6):
    """Normalised tokens (..., d) of tokens x (..., d); gain (d,)."""
    ### BEGIN SOLUTION
    mean_square = x.square().mean(dim=-1, keepdim=True)
    return x / (mean_square + eps).sqrt() * gain
    ### END SOLUTION


def turn(x, first):
    """Tokens x (..., n, p) turned as at the places from `first` on."""
    ### BEGIN SOLUTION
    n, p = x.shape[-2:]
    places = torch.arange(first, first + n)
    speeds = 10_000.0 ** (-torch.arange(0, p, 2) / p)
    angles = places.unsqueeze(1) * speeds  # (n, p / 2)
    even, odd = x[..., 0::2], x[..., 1::2]
    first_of_pair = even * angles.cos() - odd * angles.sin()
    second_of_pair = even * angles.sin() + odd * angles.cos()
    return torch.stack((first_of_pair, second_of_pair), dim=-1).flatten(-2)
    ### END SOLUTION


# %%
### CHECK q1

# %% [markdown]
# ## Q2. Heads that share keys
#
# *14 points, 30 minutes, ★★★.* In grouped-query attention there are $h$ heads of queries and only $g$ of keys and values; $g$ divides $h$, and neighbours share: the first $h/g$ heads of queries read the first head of keys and values, and so on. Each head is scaled dot-product attention: the scores are divided by $\sqrt p$. The mask is boolean, `(n, k)` or `(b, n, k)`, and **True means that a query may attend to a key**. A query that may attend to nothing gets zeros, not NaN. What stands at masked keys and values is any finite number, and scores may be large. Gradients must flow to `q`, `k` and `v` without NaN. Write it yourself: torch's own attention is not allowed here.
#
# Fewer heads of keys are fewer numbers to keep while a model writes. `cache_bytes` is the number of bytes that the keys and values of all layers take, for a model of `layers` layers, `d` features and `h` heads of queries with $p = d/h$ features each, with `g` heads of keys, after `tokens` tokens of each of `b` sentences, where one number takes `size` bytes. With a `window`, no layer keeps more than that many of its last tokens.
#
# *Deliverable:* `grouped`, and `cache_bytes`, a whole number.


# %%
def grouped(q, k, v, mask):
    """Output (b, h, n, p) of queries (b, h, n, p), keys and values (b, g, k, p)."""
    ### BEGIN SOLUTION
    h, g, p = q.shape[1], k.shape[1], q.shape[3]
    k, v = (x.repeat_interleave(h // g, dim=1) for x in (k, v))  # (b, h, k, p)
    scores = q @ k.transpose(2, 3) / p**0.5  # (b, h, n, k)
    mask = mask.unsqueeze(-3)  # the heads' axis: (1, n, k) or (b, 1, n, k)
    weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=3)
    weights = torch.where(mask.any(dim=-1, keepdim=True), weights, 0.0)
    return weights @ v
    ### END SOLUTION


def cache_bytes(layers, d, h, g, tokens, b=1, size=2, window=None):
    """Bytes of all keys and values."""
    ### BEGIN SOLUTION
    kept = tokens if window is None else min(tokens, window)
    return 2 * layers * g * (d // h) * kept * b * size
    ### END SOLUTION


# %%
### CHECK q2

# %% [markdown]
# ## Q3. What may be drawn
#
# *10 points, 25 minutes, ★★☆.* A model's tail is long: thousands of tokens, each unlikely, together likely enough to spoil a text. Two rules cut it off. Both take logits `(..., v)` and a number `p`, and return probabilities: those of the tokens that stay, **divided by their sum**, and 0 for the others.
#
# - `top_p` keeps the **fewest** of the likeliest tokens that together have at least the share `p`, for $0 < p \le 1$. Of equally likely tokens at the edge the one with the smaller number stays.
# - `min_p` keeps every token whose probability is at least `p` times the largest probability, for $0 \le p \le 1$.
#
# So the likeliest token always stays. Logits may be large, and `-inf` for tokens that are impossible.
#
# *Deliverable:* `top_p` and `min_p`.


# %%
def top_p(logits, p):
    """Probabilities (..., v) of the fewest likeliest tokens with the share p."""
    ### BEGIN SOLUTION
    ordered, ids = logits.softmax(dim=-1).sort(dim=-1, descending=True, stable=True)
    before = ordered.cumsum(dim=-1) - ordered  # the share of all that are likelier
    kept = torch.where(before < p, ordered, 0.0)
    kept = torch.zeros_like(logits).scatter(-1, ids, kept)
    return kept / kept.sum(dim=-1, keepdim=True)
    ### END SOLUTION


def min_p(logits, p):
    """Probabilities (..., v) of the tokens that have at least p of the largest."""
    ### BEGIN SOLUTION
    shares = logits.softmax(dim=-1)
    largest = shares.amax(dim=-1, keepdim=True)
    likely = torch.where(shares >= p * largest, shares, 0.0)
    return likely / likely.sum(dim=-1, keepdim=True)
    ### END SOLUTION


# %%
### CHECK q3

# %% [markdown]
# ## Q4. A loss for each character
#
# *8 points, 15 minutes, ★★☆.* A loss for each token cannot be compared between models that cut a text into other tokens. A loss for each character can:
#
# $$ \frac{-\sum_{\text{valid}} \log_2 p(\text{target})}{\text{characters that the valid targets write}}, \text{ in bits.} $$
#
# A target is valid if it is not `pad`, which may be any token of the vocabulary. `characters[w]` says how many characters the token $w$ writes. A token may write none, such as the end of a text: it is to be predicted all the same. What stands where the target is `pad` counts nowhere, whatever the logits are there: a model that never says `pad` has `-inf` for it. If no target is valid the loss is 0. Gradients must flow to the logits.
#
# *Deliverable:* `per_character`, a tensor without axes.


# %%
def per_character(logits, targets, characters, pad):
    """Loss of logits (b, n, v) and targets (b, n), for characters (v,), whole numbers."""
    ### BEGIN SOLUTION
    valid = targets != pad  # (b, n)
    log_p = logits[valid].log_softmax(dim=1)  # (tokens, v)
    hit = log_p.gather(1, targets[valid].unsqueeze(1))
    total = -hit.sum() / torch.tensor(2.0).log()
    return total / characters[targets[valid]].sum().clamp(min=1)
    ### END SOLUTION


# %%
### CHECK q4

# %% [markdown]
# ## Q5. Find the bug
#
# *5 points, 10 minutes, ★★☆.* `CachedAttention` is the attention of a language model that looks at its own token and the `window - 1` before it, so its state keeps no more than `window` keys, however long the text grows, and it must stay so. All heads of queries share one head of keys and values, which `attend` does. It is asked with the next tokens, one or several, and the state that it gave before. It learned well, its loss was right to the last digit, and its first sentences were good. **One line is wrong**, and nothing is raised. However a text is cut into pieces, the output must be that of one piece, and a state that came in stays as it is: try it on `CachedAttention(16, 4, 3)` once you have removed the line that raises. Mend it.
#
# *Deliverable:* `CachedAttention`, with one line changed.


# %%
def attend(q, keys, values, mask):
    """Output (b, n, d) of queries (b, n, d), for one head of keys and values (b, k, p)."""
    q = q.unflatten(2, (-1, keys.shape[2])).transpose(1, 2)
    keys, values = (x.unsqueeze(1).expand(-1, q.shape[1], -1, -1) for x in (keys, values))
    read = nn.functional.scaled_dot_product_attention(q, keys, values, attn_mask=mask)
    return read.transpose(1, 2).flatten(2)


# %%
class CachedAttention(nn.Module):
    """Tokens (b, n, d) after attention to the last tokens, and the new state."""

    def __init__(self, d, h, window):
        super().__init__()
        self.window = window
        self.places = nn.Parameter(torch.randn(64, d))
        self.W_q = nn.Linear(d, d, bias=False)
        self.W_k = nn.Linear(d, d // h, bias=False)
        self.W_v = nn.Linear(d, d // h, bias=False)
        self.W_o = nn.Linear(d, d, bias=False)

    def forward(self, x, state=None):
        ### BEGIN SOLUTION
        n, w = x.shape[1], self.window
        t = 0 if state is None else int(state[2])
        y = x + self.places[t : t + n]
        keys, values = self.W_k(y), self.W_v(y)
        if state is not None:
            keys = torch.cat((state[0], keys), dim=1)
            values = torch.cat((state[1], values), dim=1)
        of_keys = torch.arange(t + n - keys.shape[1], t + n)
        own = torch.arange(t, t + n).unsqueeze(1)
        mask = (of_keys <= own) & (of_keys > own - w)  # (n, k)
        read = attend(self.W_q(y), keys, values, mask)
        return x + self.W_o(read), (keys[:, -w:], values[:, -w:], torch.tensor(t + n))
        ### END SOLUTION
        ### BEGIN RELEASED
        #| raise NotImplementedError  # remove this line when you have mended the model
        #| n, w = x.shape[1], self.window
        #| t = 0 if state is None else state[0].shape[1]
        #| y = x + self.places[t : t + n]
        #| keys, values = self.W_k(y), self.W_v(y)
        #| if state is not None:
        #|     keys = torch.cat((state[0], keys), dim=1)
        #|     values = torch.cat((state[1], values), dim=1)
        #| of_keys = torch.arange(t + n - keys.shape[1], t + n)
        #| own = torch.arange(t, t + n).unsqueeze(1)
        #| mask = (of_keys <= own) & (of_keys > own - w)  # (n, k)
        #| read = attend(self.W_q(y), keys, values, mask)
        #| return x + self.W_o(read), (keys[:, -w:], values[:, -w:], torch.tensor(t + n))
        ### END RELEASED


# %%
### CHECK q5

# %% [markdown]
# ## Q6. In words
#
# *4 points, 10 minutes, ★★☆.* "My model has a loss of 1.5 for each token, yours has 3.4: mine is better." The model with 1.5 reads characters, the other one pieces of words. The 1.5 is a mean over all places of a batch in which short texts are filled up with `pad`. And its validation texts were drawn at random, sentence by sentence, from a collection that holds many sentences several times. What is wrong with each of the three, which way does it move the number, and what should be reported instead?
#
# *Deliverable:* three to six sentences in the cell below, after the colon.

# %% [markdown]
# **Answer Q6:**
#
# ### BEGIN SOLUTION
# A piece of a word writes several characters, so a loss of 3.4 for a piece of four characters on average is less than 1 for a character, and the model that was called worse would be the better one: only losses for each character of the same text can be compared. Padding is easy to predict once it has begun, so counting it lowers the mean, the more the shorter the texts of a batch are; the number then depends on how batches are put together. A sentence that stands in training as well is known by heart, so it lowers the validation loss, and rewards the model that remembers most; sentences that occur several times must all go to one side. To be reported is, for both models on the same unseen text, the sum of the losses of all valid tokens, in bits, divided by the number of characters.
#
# *Rubric, 4 points:* tokens of two models differ in length, so losses are divided by characters, or an equivalent (1); padding counted lowers the mean, or makes it depend on the batches (1); sentences of the training text lower the loss, so equal sentences go to one side (1); what is reported instead: both on the same unseen text, valid tokens alone (1).
# ### END SOLUTION

# %% [markdown]
# ## Q7. An experiment of your own
#
# *4 points, 15 minutes, ★★☆.* Ask a question about norms, rotations, shared heads, cuts or losses that a run can answer, and answer it with your functions from above. Say beforehand what you expect, and what would show you wrong. Change one thing, keep something beside it to compare with, and repeat with three seeds what depends on chance. Take a question of your own, or one of these: how many tokens do the two rules of Q3 keep when the temperature rises? How far apart may a query and a key be until rotary positions no longer see that they are equal?
#
# *Deliverable:* a figure or a table from the code cell below, and after the colon your question, what you expected, what came out, and what that does not show.

# %%
### EXPERIMENT: a person reads this cell and its output; grading does not run it
### BEGIN SOLUTION
print("temperature  tokens kept by top_p(0.9), by min_p(0.1), of 1000")
for temperature in (0.5, 1.0, 1.5, 2.0, 3.0):
    row = []
    for rule, p in ((top_p, 0.9), (min_p, 0.1)):
        counts = []
        for seed in range(3):
            torch.manual_seed(seed)
            logits = 3 * torch.randn(50, 1000) / temperature
            counts.append((rule(logits, p) > 0).sum(dim=1).float().mean())
        row.append(f"{sum(counts) / 3:6.0f}")
    print(f"{temperature:11} ", *row)
### END SOLUTION

# %% [markdown]
# **Answer Q7:**
#
# ### BEGIN SOLUTION
# How many tokens do the two rules keep when the temperature rises? I expected that top-p keeps nearly all at a high temperature and that min-p grows more slowly; equal growth would have shown me wrong. The logits and seeds are the same in both columns. At temperature 3 top-p keeps most of the tokens, min-p a fraction of them, since a flat distribution needs many tokens for nine tenths of its mass while few are near its largest one. These logits are normal numbers; a trained model's are not, and how good the texts are was not asked.
#
# *Rubric, 4 points:* a question, and an expectation that the run could have refuted (1); one thing changed, something to compare with, and three seeds where there is chance (1); a figure or table that can be read without the text (1); a conclusion that says what was seen and no more, with one limit of it (1).
# ### END SOLUTION
