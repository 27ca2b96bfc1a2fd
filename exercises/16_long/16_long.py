# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Exercises 16: long documents
#
# They belong to the chapter *Long documents*. You need Python with torch, here or on Colab, and about 120 minutes.
#
# | question | points | minutes | difficulty | deliverable |
# |---|---|---|---|---|
# | Q1 read a block | 12 | 30 | ★★☆ | `read`, `finish` |
# | Q2 join what several machines found | 8 | 20 | ★★☆ | `join` |
# | Q3 a cache that keeps less | 10 | 20 | ★★☆ | `shorten`, `still_there` |
# | Q4 find the bug | 8 | 20 | ★★★ | `value_gradient`, mended |
# | Q5 a written question | 4, by hand | 10 | ★★☆ | three to six sentences |
# | Q6 an experiment | 4, by hand | 20 | ★★☆ | a figure or a table, and what it shows |
#
# Shape letters: `q` queries, `k` keys, `w` keys of a block, `d` features, `d_v` features of a value, `n` tokens. A score of **minus infinity** is one that is masked; its value may be any finite number and has no effect. No argument may be changed, and no result may be NaN.
#
# Write your answers where it says so and keep the names. After each question stands a self-check. It says what is probably wrong; passing it is necessary, not sufficient: grading uses more tests and other numbers. Hand in this notebook.

# %%
STUDENT = "your name or number"  # it chooses the numbers of your self-checks

# %%
import math

import torch

# %%
### TOOLS

# %% [markdown]
# ## Q1. Read a block
#
# *12 points, 30 minutes, ★★☆.* Of the keys that were read, attention keeps for each query the largest score $A$, the sum $S$ of the exponentials $e^{a - A}$, and the sum $\mathbf{o}$ of values with the same factors. A score counts as it is. Before the first block, $A = -\infty$ and both sums are 0.
#
# - `read` takes what is kept and one block: its scores and its values. It gives what is kept afterwards. If everything so far is masked, $A$ stays minus infinity and the sums stay 0. Scores may be in the hundreds.
# - `finish` gives the outputs and, for each query, the natural logarithm of the sum of $e^{a}$ over all keys. A query that may attend to nothing has an output of zeros and minus infinity as its logarithm.
#
# *Deliverable:* the two functions.


# %%
def read(A, S, o, scores, values):
    """A (q,), S (q,) and o (q, d_v) after a block: scores (q, w), values (w, d_v)."""
    ### BEGIN SOLUTION
    a = 1.0 * scores
    new = torch.maximum(A, a.amax(dim=1))
    safe = new.clamp(min=-1e30)  # minus infinity less minus infinity is NaN
    old = (A - safe).exp()
    e = (a - safe[:, None]).exp()
    return new, old * S + e.sum(dim=1), old[:, None] * o + e @ values
    ### END SOLUTION


def finish(A, S, o):
    """Outputs (q, d_v) and logarithms (q,)."""
    ### BEGIN SOLUTION
    output = o / S.clamp(min=1e-30)[:, None]
    return output, A + S.log()
    ### END SOLUTION


# %%
### CHECK q1

# %% [markdown]
# ## Q2. Join what several machines found
#
# *8 points, 20 minutes, ★★☆.* The keys of a long text are spread over several machines. Each attends to its own keys, and reports outputs and logarithms as `finish` of Q1 gives them. `join` makes of all reports the outputs and logarithms of attention over all keys. Besides these keys there is one more, which is on no machine: a **sink** with the score 0 for every query, whose value is zeros. A machine that had nothing for a query reports zeros and minus infinity. Logarithms may be in the hundreds.
#
# *Deliverable:* `join`.


# %%
def join(outputs, logs):
    """Output (q, d_v) and logarithm (q,) of reports (machines, q, d_v) and (machines, q)."""
    ### BEGIN SOLUTION
    sink = torch.full_like(logs[:1], 0.0)
    total = torch.cat((logs, sink)).logsumexp(dim=0)
    shares = (logs - total).exp()  # (machines, q)
    return (shares[..., None] * outputs).sum(dim=0), total
    ### END SOLUTION


# %%
### CHECK q2

# %% [markdown]
# ## Q3. A cache that keeps less
#
# *10 points, 20 minutes, ★★☆.* Two ways to make a cache smaller.
#
# - `shorten` gives each number of a token so many bits: whole numbers from $-m$ to $m$, with $m = 2^{\text{bits} - 1} - 1$. Each token has a scale of its own, by which its numbers are divided before they are rounded to the nearest whole number. The scale is such that the largest absolute number of the token becomes $m$. It gives the whole numbers, as integers, and the scales. A token of zeros gets zeros, and the scale 1.
# - `still_there` says what a windowed cache still holds when token $i$ looks at token $j$: the last `width` tokens up to $i$, $i$ included, and the first `first` tokens of the text. Nothing after $i$ is there.
#
# *Deliverable:* the two functions.


# %%
def shorten(held, bits):
    """Integers (n, d) and scales (n, 1) of what is held (n, d)."""
    ### BEGIN SOLUTION
    most = 2 ** (bits - 1) - 1
    largest = held.abs().amax(dim=1, keepdim=True)
    scale = torch.where(largest > 0, largest / most, 1.0)
    return (held / scale).round().int(), scale
    ### END SOLUTION


def still_there(n, width, first):
    """Boolean (n, n): rows are the tokens that look."""
    ### BEGIN SOLUTION
    i, j = torch.arange(n)[:, None], torch.arange(n)
    near = i - j < width
    return (near | (j < first)) & (j <= i)
    ### END SOLUTION


# %%
### CHECK q3

# %% [markdown]
# ## Q4. Find the bug
#
# *8 points, 20 minutes, ★★★.* `value_gradient` computes the gradient of the values in blocks of `w` keys. It gets queries and keys, for each query the natural logarithm `logs` of the sum of the exponentials of its scores, and the gradient `g` of the outputs. A score is the dot product divided by the square root of the number of features. With a single block the function is right. With more it is not, although the shapes are right and nothing is raised. **One line is wrong.** Mend it, and remove the line that raises.
#
# *Deliverable:* `value_gradient`, with one line changed.


# %%
def value_gradient(Q, K, logs, g, w):
    """The gradient (k, d_v) of queries (q, d), keys (k, d), logs (q,), g (q, d_v)."""
    ### BEGIN SOLUTION
    parts = []
    for keys in K.split(w):
        scores = Q @ keys.T / math.sqrt(Q.shape[1])
        weights = (scores - logs[:, None]).exp()
        parts.append(weights.T @ g)
    return torch.cat(parts)
    ### END SOLUTION
    ### BEGIN RELEASED
    #| raise NotImplementedError  # remove this line when you have mended the function
    #| parts = []
    #| for keys in K.split(w):
    #|     scores = Q @ keys.T / math.sqrt(Q.shape[1])
    #|     weights = (scores - scores.logsumexp(dim=1, keepdim=True)).exp()
    #|     parts.append(weights.T @ g)
    #| return torch.cat(parts)
    ### END RELEASED


# %%
### CHECK q4

# %% [markdown]
# ## Q5. In words
#
# *4 points, 10 minutes, ★★☆.* Somebody reports: "We replaced dense attention by a fused kernel. It works block by block, so its output is an approximation, and the model has to be trained again. It needs no $n^2$ memory, so it also needs no $n^2$ time. And since we ask for dropout on the weights in training, we save memory there as well." What is wrong with each of the three, and how would you check?
#
# *Deliverable:* three to six sentences in the cell below, after the colon.

# %% [markdown]
# **Answer Q5:**
#
# ### BEGIN SOLUTION
# The output is the same sum in another order: it differs by rounding only, which a comparison with dense attention in double precision shows, so nothing has to be trained again. Every score is still computed, forward once and backward once more, so the time grows with $n^2$; measure it at $n$ and $2n$. Torch's fused implementation on a CPU takes no dropout, and the plain one is then used without a word, which holds all scores. Ask for the implementation by name, so that a call it cannot serve raises, or measure the memory.
#
# *Rubric, 4 points:* exact up to rounding (1), with a way to check (half of it); all pairs are still scored, so time is quadratic (1); the fall-back and that it is silent (1); a way to notice it (1).
# ### END SOLUTION

# %% [markdown]
# ## Q6. An experiment of your own
#
# *4 points, 20 minutes, ★★☆.* Ask a question about rounding or about smaller caches that a run can answer, and answer it with your functions from above. Say beforehand what you expect, and what would show you wrong. Change one thing, keep something beside it to compare with, and repeat with three seeds what depends on chance.
#
# *Deliverable:* a figure or a table from the code cell below, and after the colon your question, what you expected, what came out, and what that does not show.

# %%
### EXPERIMENT: a person reads this cell and its output; grading does not run it
### BEGIN SOLUTION
print("bits   random keys, three seeds   one feature 30 times as large")
for bits in (8, 6, 4):
    row = []
    for factor in (1.0, 30.0):
        agree = []
        for seed in range(3):
            random = torch.Generator().manual_seed(seed)
            keys, queries = (torch.randn(200, 16, generator=random) for _ in range(2))
            keys[:, 0] *= factor
            queries[:, 0] /= factor
            whole, scale = shorten(keys, bits)
            same = (queries @ keys.T).argmax(1) == (queries @ (whole * scale).T).argmax(1)
            agree.append(f"{same.float().mean():.2f}")
        row.append(" ".join(agree))
    print(f"{bits:4}   {row[0]:26} {row[1]}")
### END SOLUTION

# %% [markdown]
# **Answer Q6:**
#
# ### BEGIN SOLUTION
# Does one large feature spoil a cache whose tokens have one scale each? I expected so: it takes the scale for itself, and the small features are rounded away. Equal columns would have shown me wrong. In every seed and at each number of bits the best key is found less often with the large feature, although all exact scores are the same. The keys are random, so it does not say how large features of a real model are.
#
# *Rubric, 4 points:* a question, and an expectation that the run could have refuted (1); one thing changed, something to compare with, and three seeds where there is chance (1); a figure or table that can be read without the text (1); a conclusion that says what was seen and no more, with one limit of it (1).
# ### END SOLUTION
