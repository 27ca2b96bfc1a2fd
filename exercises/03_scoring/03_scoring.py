# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Exercises 3: scores and masks
#
# They belong to the chapter on scoring functions. You need Python with torch, here or on Colab, and about 120 minutes.
#
# | question | points | minutes | difficulty | deliverable |
# |---|---|---|---|---|
# | Q1 masked softmax | 10 | 25 | ★★☆ | `masked_softmax` |
# | Q2 additive scores | 6 | 20 | ★★☆ | `AdditiveScore` |
# | Q3 scaled dot-product attention | 9 | 25 | ★★★ | `attention` |
# | Q4 find the bug | 8 | 20 | ★★☆ | `window_weights`, mended |
# | Q5 a written question | 4, by hand | 10 | ★★☆ | three to five sentences |
# | Q6 an experiment | 4, by hand | 20 | ★★☆ | a figure or a table, and what it shows |
#
# Shape letters: `b` batch, `q` queries, `k` keys. Write your answers where it says so and keep the names. After each question stands a self-check. It says what is probably wrong; passing it is necessary, not sufficient: grading uses more tests and other numbers. Hand in this notebook.

# %%
STUDENT = "your name or number"  # it chooses the numbers of your self-checks

# %%
import torch
from torch import nn

# %%
### TOOLS

# %% [markdown]
# ## Q1. Masked softmax
#
# *10 points, 25 minutes, ★★☆.* Sequence `i` of the batch has `lengths[i]` valid keys; the rest is padding. Normalise the scores (b, q, k) **over the keys**. Padding gets a weight of exactly 0, whatever the scores are, in every floating-point type. A sequence of length 0 gets weights of zero, not NaN. The scores that came in stay as they are.
#
# *Deliverable:* `masked_softmax`.


# %%
def masked_softmax(scores, lengths):
    """Weights (b, q, k) of scores (b, q, k) and valid lengths (b,), integers."""
    ### BEGIN SOLUTION
    valid = torch.arange(scores.shape[2]) < lengths.reshape(-1, 1, 1)  # (b, 1, k)
    scores = scores.masked_fill(~valid, -torch.inf)
    top = scores.amax(dim=2, keepdim=True)
    e = (scores - top.nan_to_num(neginf=0.0)).exp()
    return e / e.sum(dim=2, keepdim=True).clamp(min=0.5)  # at least 1 where a key is valid
    ### END SOLUTION


# %%
### CHECK q1

# %% [markdown]
# ## Q2. Additive scores
#
# *6 points, 20 minutes, ★★☆.* Queries and keys of different sizes are scored by a small network $a(\mathbf{q}, \mathbf{k}) = \mathbf{w}_v^\top \tanh(\mathbf{W}_q \mathbf{q} + \mathbf{W}_k \mathbf{k})$. Write it as a module with three linear layers **without bias** that are called `W_q`, `W_k` and `w_v`, the last with one output. Gradients must flow to queries and keys.
#
# *Deliverable:* `AdditiveScore`.


# %%
class AdditiveScore(nn.Module):
    """Scores (b, q, k) of queries (b, q, query_size) and keys (b, k, key_size)."""

    def __init__(self, query_size, key_size, hidden):
        super().__init__()
        ### BEGIN SOLUTION
        self.W_q = nn.Linear(query_size, hidden, bias=False)
        self.W_k = nn.Linear(key_size, hidden, bias=False)
        self.w_v = nn.Linear(hidden, 1, bias=False)
        ### END SOLUTION

    def forward(self, queries, keys):
        ### BEGIN SOLUTION
        features = self.W_q(queries).unsqueeze(2) + self.W_k(keys).unsqueeze(1)  # (b, q, k, h)
        return self.w_v(features.tanh()).squeeze(3)
        ### END SOLUTION


# %%
### CHECK q2

# %% [markdown]
# ## Q3. Scaled dot-product attention
#
# *9 points, 25 minutes, ★★★.* Scores are dot products divided by the root of the number of features. Weights are their masked softmax (call Q1's, or write it again), and the output pools the values. Padding must not be able to do harm: values there may be NaN, and the output must not change by it. Write it yourself: torch's `scaled_dot_product_attention` and `MultiheadAttention` are not allowed here.
#
# *Deliverable:* `attention`.


# %%
def attention(queries, keys, values, lengths):
    """Output (b, q, e) and weights (b, q, k) of values (b, k, e)."""
    ### BEGIN SOLUTION
    scores = queries @ keys.transpose(1, 2) / queries.shape[2] ** 0.5  # (b, q, k)
    weights = masked_softmax(scores, lengths)
    padding = torch.arange(keys.shape[1]) >= lengths.unsqueeze(1)  # (b, k)
    clean = values.masked_fill(padding.unsqueeze(2), 0.0)  # 0 times NaN is NaN
    return weights @ clean, weights
    ### END SOLUTION


# %%
### CHECK q3

# %% [markdown]
# ## Q4. Find the bug
#
# *8 points, 20 minutes, ★★☆.* In local attention a query may attend to keys that are at most `width` places away: its weights are the softmax of their scores alone, and 0 everywhere else. `window_weights` gets that wrong: look at the sums of its rows, and at what a far key can still do. Mend it, and remove the line that raises.
#
# *Deliverable:* `window_weights`, mended.


# %%
def window_weights(scores, width):
    """Weights (b, n, n) of self-attention scores (b, n, n), within a window."""
    ### BEGIN SOLUTION
    place = torch.arange(scores.shape[-1])
    near = (place.unsqueeze(1) - place).abs() <= width  # (n, n)
    return scores.masked_fill(~near, -torch.inf).softmax(dim=-1)
    ### END SOLUTION
    ### BEGIN RELEASED
    #| raise NotImplementedError  # remove this line when you have mended the function
    #| place = torch.arange(scores.shape[-1])
    #| near = (place.unsqueeze(1) - place).abs() <= width  # (n, n)
    #| return scores.softmax(dim=-1) * near
    ### END RELEASED


# %%
### CHECK q4

# %% [markdown]
# ## Q5. In words
#
# *4 points, 10 minutes, ★★☆.* Queries and keys have independent entries with mean 0 and variance 1. What happens to the scores, to the softmax and to its gradient when the number of features grows from 16 to 1024 and nothing is divided? Why is $\sqrt{d}$ the right divisor, and not $d$?
#
# *Deliverable:* three to five sentences in the cell below, after the colon.

# %% [markdown]
# **Answer Q5:**
#
# ### BEGIN SOLUTION
# A dot product of d such pairs has mean 0 and variance d, so its spread grows from 4 to 32. Differences of scores of that size leave the softmax with nearly all weight on one key, whoever is right, and there its gradient vanishes: nothing is learned. Divided by the root of d the spread is 1 for every d. Divided by d it would be one over the root of d, and the weights of a large model would start nearly uniform.
#
# *Rubric, 4 points:* variance d, spread root of d (1); the softmax saturates (1); its gradient vanishes (1); the root brings the spread to 1, d would make it vanish (1).
# ### END SOLUTION

# %% [markdown]
# ## Q6. An experiment of your own
#
# *4 points, 20 minutes, ★★☆.* Ask a question about scores, masks or windows that a run can answer, and answer it with your functions from above. Say beforehand what you expect, and what would show you wrong. Change one thing, keep something beside it to compare with, and repeat with three seeds what depends on chance. Take a question of your own, or one of these: what does the divisor do to the entropy of the weights as the number of features grows? How much of the attention lies outside a window when there is none?
#
# *Deliverable:* a figure or a table from the code cell below, and after the colon your question, what you expected, what came out, and what that does not show.

# %%
### EXPERIMENT: a person reads this cell and its output; grading does not run it
### BEGIN SOLUTION
print("features  entropy with the root, without")
for d in (4, 16, 64, 256):
    row = []
    for factor in (1.0, d**0.5):  # the second undoes the division
        entropies = []
        for seed in range(3):
            torch.manual_seed(seed)
            q, k = torch.randn(1, 50, d), torch.randn(1, 20, d)
            _, weights = attention(factor * q, k, k, torch.tensor([20]))
            entropies.append(-torch.xlogy(weights, weights).sum(dim=2).mean())
        row.append(f"{sum(entropies) / 3:.2f}")
    print(f"{d:8} ", *row)
### END SOLUTION

# %% [markdown]
# **Answer Q6:**
#
# ### BEGIN SOLUTION
# Does the divisor keep the weights as even in 256 features as in 4? If so, the entropy with the root must stay where it is and fall without it. Both columns of the table use the same numbers, three seeds each. With the root the entropy hardly moves, while without it it falls with every row, as the weight gathers on one key. Queries and keys are independent here; after training they are not, and the entropy may be anything.
#
# *Rubric, 4 points:* a question, and an expectation that the run could have refuted (1); one thing changed, something to compare with, and three seeds where there is chance (1); a figure or table that can be read without the text (1); a conclusion that says what was seen and no more, with one limit of it (1).
# ### END SOLUTION
