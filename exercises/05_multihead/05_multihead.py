# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Exercises 5: multi-head attention
#
# They belong to the chapter *Multi-head attention*. You need Python with torch, here or on Colab, and about 130 minutes.
#
# | question | points | minutes | difficulty | deliverable |
# |---|---|---|---|---|
# | Q1 split and join | 5 | 10 | ★☆☆ | `split_heads`, `join_heads` |
# | Q2 attention in heads | 13 | 30 | ★★☆ | `multihead` |
# | Q3 shared keys and values | 10 | 25 | ★★★ | `GroupedAttention` |
# | Q4 find the bug | 6 | 15 | ★★☆ | `switched`, mended |
# | Q5 which head matters? | 8 | 25 | ★★★ | `importance` |
# | Q6 a written question | 4, by hand | 10 | ★★☆ | three to five sentences |
# | Q7 an experiment | 4, by hand | 15 | ★★☆ | a figure or a table, and what it shows |
#
# Shape letters: `b` batch, `h` heads, `q` queries, `k` keys, `n` places of self-attention, `d` features of one head. Write your answers where it says so and keep the names. After each question stands a self-check. It says what is probably wrong; passing it is necessary, not sufficient: grading uses more tests and other numbers. Hand in this notebook.

# %%
STUDENT = "your name or number"  # it chooses the numbers of your self-checks

# %%
import torch
from torch import nn
from torch.nn import functional as F

# %%
### TOOLS

# %% [markdown]
# ## Q1. Split and join
#
# *5 points, 10 minutes, ★☆☆.* The features of a token, `h` times `d` of them, are dealt out to the heads in one piece each: head 0 gets the first `d` features of **every** place, head 1 the next `d`, and so on. Joining is the way back.
#
# *Deliverable:* `split_heads` and `join_heads`.


# %%
def split_heads(x, h):
    """Heads (b, h, n, d) of x (b, n, h d)."""
    ### BEGIN SOLUTION
    b, n, width = x.shape
    return x.reshape(b, n, h, width // h).transpose(1, 2)
    ### END SOLUTION


def join_heads(x):
    """Features (b, n, h d) of heads (b, h, n, d)."""
    ### BEGIN SOLUTION
    b, h, n, d = x.shape
    return x.transpose(1, 2).reshape(b, n, h * d)
    ### END SOLUTION


# %%
### CHECK q1

# %% [markdown]
# ## Q2. Attention in heads
#
# *13 points, 30 minutes, ★★☆.* Project queries, keys and values by one matrix each, split what comes out into `h` heads, let each head attend, join, and project once more. A matrix has a row for each **output** feature, as in `nn.Linear`: `W_q` (h d, query size), `W_k` (h d, key size), `W_v` (h e, value size), `W_o` (output size, h e). A head's values may have another size `e` than its keys. The scores of a head are scaled dot products.
#
# `mask` (b, q, k) is True where a query **of that sequence** may attend to a key, in every head. Masked keys get a weight of exactly 0, whatever their scores are; scores may be very high or very low. A query that may attend to nothing gets zero weights, and what it reads is zero. Gradients must flow from the output to all that comes in, and an empty row must not make them NaN. Write it yourself: torch's `scaled_dot_product_attention` and `MultiheadAttention` are not allowed here.
#
# *Deliverable:* `multihead`.


# %%
def multihead(queries, keys, values, W_q, W_k, W_v, W_o, h, mask=None):
    """Output (b, q, o) and weights (b, h, q, k)."""
    ### BEGIN SOLUTION
    q = split_heads(queries @ W_q.T, h)  # (b, h, q, d)
    k = split_heads(keys @ W_k.T, h)  # (b, h, k, d)
    v = split_heads(values @ W_v.T, h)  # (b, h, k, e)
    scores = q @ k.transpose(2, 3) / q.shape[3] ** 0.5  # (b, h, q, k)
    if mask is not None:
        scores = scores.masked_fill(~mask.unsqueeze(1), -torch.inf)
    top = scores.amax(dim=3, keepdim=True).clamp(min=-1e30)  # finite, also in an empty row
    share = (scores - top).exp()
    weights = share / share.sum(dim=3, keepdim=True).clamp(min=1e-30)
    return join_heads(weights @ v) @ W_o.T, weights
    ### END SOLUTION


# %%
### CHECK q2

# %% [markdown]
# ## Q3. Shared keys and values
#
# *10 points, 25 minutes, ★★★.* Self-attention with `h` heads of queries and only `kv` heads of keys and values, `kv` a divisor of `h`. All heads have `d_model / h` features. **Neighbouring** heads share: the first `h / kv` heads of queries ask the first head of keys and values, the next ones the second. Four linear layers **without bias**, `W_q`, `W_k`, `W_v` and `W_o`, and none larger than it must be. `mask` (n, n) is True where a query may attend to a key; each query may attend to something. Gradients must flow to `x`.
#
# *Deliverable:* `GroupedAttention`.


# %%
class GroupedAttention(nn.Module):
    """Output (b, n, d_model) of tokens x (b, n, d_model)."""

    def __init__(self, d_model, h, kv):
        super().__init__()
        ### BEGIN SOLUTION
        d = d_model // h
        self.h, self.kv = h, kv
        self.W_q = nn.Linear(d_model, h * d, bias=False)
        self.W_k = nn.Linear(d_model, kv * d, bias=False)
        self.W_v = nn.Linear(d_model, kv * d, bias=False)
        self.W_o = nn.Linear(h * d, d_model, bias=False)
        ### END SOLUTION

    def forward(self, x, mask=None):
        ### BEGIN SOLUTION
        asks = self.W_q(x).unflatten(2, (self.h, -1)).transpose(1, 2)  # (b, h, n, d)
        keys = self.W_k(x).unflatten(2, (self.kv, -1)).transpose(1, 2)  # (b, kv, n, d)
        values = self.W_v(x).unflatten(2, (self.kv, -1)).transpose(1, 2)
        keys = keys.repeat_interleave(self.h // self.kv, dim=1)  # (b, h, n, d)
        values = values.repeat_interleave(self.h // self.kv, dim=1)
        fit = asks @ keys.mT / asks.shape[3] ** 0.5
        if mask is not None:
            fit = fit.masked_fill(~mask, -torch.inf)
        found = fit.softmax(dim=3) @ values
        return self.W_o(found.transpose(1, 2).flatten(2))
        ### END SOLUTION


# %%
### CHECK q3

# %% [markdown]
# ## Q4. Find the bug
#
# *6 points, 15 minutes, ★★☆.* To see what a head is for, one takes it out. `switched` attends with heads that are split already, and multiplies what head `i` contributes to the output by `keep[i]`: 1 leaves it in, 0 takes it out, one half halves it. Gradients must flow to `keep`, too. Somebody wrote it and drew wrong conclusions, because **one line does its work in the wrong place**. Ask yourself what a head that is "out" still adds. Mend it, and remove the line that raises.
#
# *Deliverable:* `switched`, mended.


# %%
def switched(q, k, v, W_o, keep):
    """Output (b, q, o) of heads q (b, h, q, d), k (b, h, k, d), v (b, h, k, e), keep (h,)."""
    ### BEGIN SOLUTION
    scores = q @ k.transpose(2, 3) / q.shape[3] ** 0.5
    pooled = scores.softmax(dim=3) @ v  # (b, h, q, e)
    pooled = pooled * keep.reshape(1, -1, 1, 1)
    return pooled.transpose(1, 2).flatten(2) @ W_o.T
    ### END SOLUTION
    ### BEGIN RELEASED
    #| raise NotImplementedError  # remove this line when you have mended the function
    #| scores = q @ k.transpose(2, 3) / q.shape[3] ** 0.5
    #| scores = scores * keep.reshape(1, -1, 1, 1)
    #| pooled = scores.softmax(dim=3) @ v  # (b, h, q, e)
    #| return pooled.transpose(1, 2).flatten(2) @ W_o.T
    ### END RELEASED


# %%
### CHECK q4

# %% [markdown]
# ## Q5. Which head matters?
#
# *8 points, 25 minutes, ★★★.* Taking heads out one by one needs a run for each. A gradient needs one run for all. Put a factor $\xi_{si} = 1$ on what head $i$ has pooled for sequence $s$. The logits are the joined heads times $\mathbf{W}_o^\top$, plus a bias. Let $L_s$ be the cross-entropy of sequence $s$, the mean over its places. A head's importance is how strongly the loss reacts to its factor, the **mean over sequences of the absolute** derivative:
#
# $$ I_i = \frac1b \sum_{s=1}^{b} \left| \frac{\partial L_s}{\partial \xi_{si}} \right|. $$
#
# *Deliverable:* `importance`. The derivative is torch's business, not yours.


# %%
def importance(heads, W_o, bias, labels):
    """Importance (h,) of heads (b, h, n, d); W_o (m, h d), bias (m,), labels (b, n) below m."""
    ### BEGIN SOLUTION
    factor = torch.ones(heads.shape[:2], requires_grad=True)  # (b, h)
    scaled = heads.detach() * factor.unsqueeze(2).unsqueeze(3)
    logits = scaled.transpose(1, 2).flatten(2) @ W_o.detach().T + bias.detach()  # (b, n, m)
    each = F.cross_entropy(logits.transpose(1, 2), labels, reduction="none")  # (b, n)
    [slope] = torch.autograd.grad(each.mean(dim=1).sum(), factor)
    return slope.abs().mean(dim=0)
    ### END SOLUTION


# %%
### CHECK q5

# %% [markdown]
# ## Q6. In words
#
# *4 points, 10 minutes, ★★☆.* A model has a width of 512 and 8 heads. Somebody proposes 512 heads, "since each head sees something else, and they cost nothing". What does stay the same? What grows, and how much? What can the score of such a head still tell, and what not? How would you settle the question?
#
# *Deliverable:* three to five sentences in the cell below, after the colon.

# %% [markdown]
# **Answer Q6:**
#
# ### BEGIN SOLUTION
# The four matrices stay 512 by 512, so parameters and multiplications do not change. But each head has a table of weights of its own, queries times keys, and there are now 64 times as many of them to store and to normalise. A head of one feature scores by a product of two numbers: it can prefer large keys or small ones, and say nothing about direction, so all its queries rank the keys in the same order or in the opposite one. Train both, with the same steps and several seeds, and compare them on held-out data.
#
# *Rubric, 4 points:* parameters and multiplications stay (1); the weights take 64 times the memory (1); one feature is a product of two numbers, which ranks keys in one order or its reverse (1); a fair comparison, with seeds and held-out data (1).
# ### END SOLUTION

# %% [markdown]
# ## Q7. An experiment of your own
#
# *4 points, 15 minutes, ★★☆.* Ask a question about heads, shared keys or importance that a run can answer, and answer it with your functions from above. Say beforehand what you expect, and what would show you wrong. Change one thing, keep something beside it to compare with, and repeat with three seeds what depends on chance. Take a question of your own, or one of these: does the gradient's importance name the head whose removal changes the loss most? How much do heads differ in what they attend to before training?
#
# *Deliverable:* a figure or a table from the code cell below, and after the colon your question, what you expected, what came out, and what that does not show.

# %%
### EXPERIMENT: a person reads this cell and its output; grading does not run it
### BEGIN SOLUTION
print("of each seed: the loss changed by each head's removal, then its importance")
for seed in range(3):
    torch.manual_seed(seed)
    heads, W_o, bias = torch.randn(8, 4, 5, 2), torch.randn(3, 8), torch.zeros(3)
    labels = torch.randint(3, (8, 5))
    losses = []
    for out in (None, 0, 1, 2, 3):
        left = heads.clone()
        if out is not None:
            left[:, out] = 0
        logits = join_heads(left) @ W_o.T
        losses.append(F.cross_entropy(logits.flatten(0, 1), labels.flatten()))
    changed = (torch.stack(losses[1:]) - losses[0]).abs()
    for numbers in (changed, importance(heads, W_o, bias, labels)):
        print(seed, *(f"{x:.2f}" for x in numbers))
### END SOLUTION

# %% [markdown]
# **Answer Q7:**
#
# ### BEGIN SOLUTION
# Does the importance name the head whose removal changes the loss most? I expected it to, and a seed in which another head is named would refute it. The same four random heads are taken out one by one, and asked for their gradient, with three seeds. In all three the largest numbers of both rows stand at the same head, so my expectation holds so far. The rest of the order does not agree: in the second seed the first two heads have the same importance, and their removals change the loss very differently. A derivative is about a small step, with an absolute value for each sequence, while a removal is a large step whose effects on sequences can cancel. Three seeds of untrained heads do not tell how it is after training.
#
# *Rubric, 4 points:* a question, and an expectation that the run could have refuted (1); one thing changed, something to compare with, and three seeds where there is chance (1); a figure or table that can be read without the text (1); a conclusion that says what was seen and no more, with one limit of it (1).
# ### END SOLUTION
